/* SPDX-License-Identifier: Apache-2.0 */
/* arp.h - ARP messages in and out; what they mean for the table is net/neigh.h's */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/mono.h"

struct link;
struct neigh;
struct net;
struct pkt;

ns_must_check enum drop arp_input(struct net *n, struct link *l, struct pkt *p, struct mono now);
void arp_solicit(struct net *n, const struct neigh *ne, bool is_unicast);
