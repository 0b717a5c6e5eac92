/* SPDX-License-Identifier: Apache-2.0 */
/* icmp.h - ICMP for IPv4: echo, errors out, errors in */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/mono.h"
#include "ns/addr.h"

struct icmp6_hdr;
struct icmp_err;
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
/* ---- icmp_common.c: of both families ---- */

enum { ICMP_QUOTE_MIN = 8 }; /* octets of transport an error must quote, RFC 792 */

void icmp_send_error(struct net *n, const struct pkt *p, uint32_t len, const struct ip_rx *ip,
		     const struct icmp6_hdr *h, uint8_t tos, struct mono now);
ns_must_check enum drop icmp_echo_reply(struct net *n, const struct pkt *p, uint8_t type,
					const struct ip_rx *ip, struct mono now);
ns_must_check enum drop icmp_heard(struct net *n, struct pkt *p, const struct ip_rx *ip,
				   struct mono now);
ns_must_check bool icmp_quote_ports(struct icmp_err *e, uint8_t proto,
				    const uint8_t l4[ICMP_QUOTE_MIN]);

/* ---- icmp.c ---- */

ns_must_check enum drop icmp_input(struct net *n, struct pkt *p, const struct ip_rx *ip,
				   struct mono now);
void icmp_error(struct net *n, const struct pkt *p, const struct ip_rx *ip, uint8_t type,
		uint8_t code, struct mono now);
void icmp_unreachable(struct net *n, const struct pkt *p, const struct ip_rx *ip, uint8_t code,
		      struct mono now);
void icmp_report(struct net *n, const struct pkt *p, int err, struct mono now);
