/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - routers and switches are told which groups we hear, and from whom: IGMP and MLD */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/list.h"
#include "base/mono.h"
#include "ns/addr.h"

struct ip_rx;
struct link;
struct net;
struct pkt;

/** struct reports - of a stack */
struct reports {
	struct list links; /* struct report_link, one per link and family */
	uint32_t group_cnt;
	uint32_t
		source_cnt; /* of all groups: those that are told of, and those that a query named */
};

void reports_init(struct reports *r);
void reports_done(struct net *n);
void report_change(struct net *n, struct link *l, const struct ns_addr *group);
void report_link_up(struct net *n, const struct link *l);
void report_del_link(struct net *n, const struct link *l);
ns_must_check enum drop report_input4(struct net *n, struct pkt *p, const struct ip_rx *ip,
				      struct mono now);
ns_must_check enum drop report_input6(struct net *n, const struct pkt *p, const struct ip_rx *ip,
				      struct mono now);
bool report_is_mld(uint8_t icmp6_type);
