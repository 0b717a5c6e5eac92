/* SPDX-License-Identifier: Apache-2.0 */
/* icmp6.h - ICMPv6: echo, errors out, errors in */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/mono.h"

struct ip_rx;
struct link;
struct net;
struct pkt;

/** struct icmp6_say - an error to send */
struct icmp6_say {
	uint8_t type, code;
	bool is_for_groups; /* also about a packet to a group, RFC 4443 2.4 (e.3) */
	uint32_t arg;       /* pointer or MTU */
};

ns_must_check enum drop icmp6_input(struct net *n, struct pkt *p, const struct ip_rx *ip,
				    bool is_fragment, struct mono now);
bool icmp6_is_error_inside(const struct pkt *p);
void icmp6_error(struct net *n, const struct pkt *p, const struct ip_rx *ip,
		 const struct icmp6_say *say, struct mono now);
void icmp6_report(struct net *n, const struct link *l, const struct pkt *p, int err,
		  struct mono now);
