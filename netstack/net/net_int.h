/* SPDX-License-Identifier: Apache-2.0 */
/* net_int.h - the IP layer's own struct; not for other folders */
#pragma once

#include "link/link.h"
#include "net/addr4.h"
#include "net/addr6.h"
#include "net/frag.h"
#include "net/group.h"
#include "net/icmp.h"
#include "net/ip4.h"
#include "net/ip6.h"
#include "net/neigh.h"
#include "net/pmtu.h"
#include "net/proto.h"
#include "net/report.h"
#include "net/route_select.h"
#include "net/route_table.h"
#include "net/rule.h"

struct net_proto {
	const struct proto_ops *ops; /* NULL: no such transport */
	void *self;
};

struct net {
	struct ns_core *core;
	struct link *links[ROUTE_LINKS_MAX]; /* [LINK_LOOP_ID] is the loop */
	uint32_t link_cnt;
	struct addr4_list addrs4;
	struct route_table routes;
	struct rules rules;
	struct neigh_table *neighs;
	struct ip4_ids ids;
	struct addr6_list addrs6;
	struct group_list groups;
	struct neigh_table *neighs6;
	struct ip6_flow flow6;
	struct icmp_limit icmp_limit;
	struct frags frags;
	struct mono arp_defended; /* when an address of ours was last defended, 0: never */
	struct pmtu_cache pmtus;
	struct reports reports;
	struct net_proto protos[256];
};

/** net_is_csum_trusted() - the sender's word for the checksum counts when it is about the transport's own field */
static inline bool net_is_csum_trusted(const struct pkt *p)
{
	return p->csum == PKT_CSUM_VALID ||
	       (p->csum == PKT_CSUM_PARTIAL && p->csum_start == p->l4_off - p->l2_off);
}

/** net_link_by_ifindex() - the container's number of it; NULL: there is none, or 0 was asked for */
struct link *net_link_by_ifindex(const struct net *n, uint32_t ifindex);
