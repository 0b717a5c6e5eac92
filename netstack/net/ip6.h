/* SPDX-License-Identifier: Apache-2.0 */
/* ip6.h - IPv6 in and out */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/mono.h"
#include "ns/addr.h"

struct dst;
struct ip_tx;
struct link;
struct net;
struct pkt;

/** struct ip6_flow - the flow of the last packet and its label: no hash for a train of them */
struct ip6_flow {
	struct ns_addr src, dst;
	uint32_t ports; /* the first four octets of the transport header */
	uint32_t label;
	uint8_t proto;
};

ns_must_check enum drop ip6_input(struct net *n, struct link *l, struct pkt *p, bool is_mcast,
				  struct mono now);
int ip6_output(struct net *n, const struct dst *d, const struct ip_tx *ip, struct pkt *p,
	       struct mono now);
int ip6_output_to(struct net *n, const struct dst *d, const struct ip_tx *ip, struct pkt *p,
		  const uint8_t mac[6]);
