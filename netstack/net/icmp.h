/* SPDX-License-Identifier: Apache-2.0 */
/* icmp.h - ICMP for IPv4: echo, errors out, errors in */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/mono.h"
#include "ns/addr.h"

struct ip_rx;
struct net;
struct pkt;

enum {
	ICMP_LIMIT_PEERS = 256,
};

/** struct icmp_bucket - credit in nanoseconds; every message costs its interval */
struct icmp_bucket {
	struct mono last;
	uint64_t credit_ns;
};

/** struct icmp_limit - how many errors may leave: over all, and to a hash of each destination */
struct icmp_limit {
	struct icmp_bucket all;
	struct icmp_bucket peer[ICMP_LIMIT_PEERS];
};

void icmp_limit_init(struct icmp_limit *lim);
ns_must_check bool icmp_may_send(struct net *n, const struct ns_addr *to, struct mono now);
ns_must_check enum drop icmp_input(struct net *n, struct pkt *p, const struct ip_rx *ip,
				   struct mono now);
void icmp_error(struct net *n, const struct pkt *p, const struct ip_rx *ip, uint8_t type,
		uint8_t code, struct mono now);
void icmp_unreachable(struct net *n, const struct pkt *p, const struct ip_rx *ip, uint8_t code,
		      struct mono now);
void icmp_report(struct net *n, const struct pkt *p, int err, struct mono now);
