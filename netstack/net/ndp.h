/* SPDX-License-Identifier: Apache-2.0 */
/* ndp.h - neighbour discovery messages in and out; what they mean for the table is net/neigh.h's */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/mono.h"

struct icmp6_hdr;
struct ip_rx;
struct neigh;
struct net;
struct pkt;

ns_must_check enum drop ndp_input(struct net *n, const struct pkt *p, const struct icmp6_hdr *h,
				  const struct ip_rx *ip, struct mono now);
void ndp_solicit(struct net *n, const struct neigh *ne, bool is_unicast, struct mono now);
