/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_feed.c - a step between two plans, told to a stack
 *
 * Theory of operation
 *
 * The kernel's own routes (local, subnet, broadcast) are in the plan like any other, so addresses
 * bring none but their local one. That one the stack makes even when the plan lacks it: of an IPv6
 * address that is still being checked for duplicates the kernel has no local route yet.
 *
 * What the stack cannot use (proxies, links that are not carried, rules by tunnel ...) is refused here;
 * the plan keeps it for the container's namespace.
 */
#include "daemon/worker/plan_feed.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

enum { HOPS_MAX = 256 /* next hops of one route */ };

struct ns_addr plan_feed_ip(const struct plan_ip *ip)
{
	struct ns_addr a = { { 0 } };

	if (ip->family == AF_INET)
		return ns_addr_v4((uint32_t)ip->b[0] << 24 | (uint32_t)ip->b[1] << 16 |
				  (uint32_t)ip->b[2] << 8 | ip->b[3]);
	memcpy(a.b, ip->b, sizeof(a.b));
	return a;
}

static uint32_t id_of(const struct plan_feed *f, const struct plan *p, uint32_t link_idx)
{
	if (link_idx >= p->link_cnt)
		return PLAN_FEED_NO_LINK;
	if (p->links[link_idx].flags & IFF_LOOPBACK)
		return 0; /* the stack's */
	return f->link_id(f->ctx, &p->links[link_idx]);
}

/* ---- addresses ---- */

static struct ns_ifaddr ifaddr_of(const struct plan *p, const struct plan_addr *a)
{
	bool is_v6 = a->local.family == AF_INET6;
	bool is_up = p->links[a->link_idx].flags & IFF_UP;

	return (struct ns_ifaddr){
		.addr = plan_feed_ip(&a->local),
		.peer = plan_feed_ip(&a->peer),
		.prefix_len = a->prefix_len,
		.scope = a->scope,
		.is_secondary = !is_v6 && (a->flags & IFA_F_SECONDARY),
		.is_temporary = is_v6 && (a->flags & IFA_F_TEMPORARY),
		.is_deprecated = is_v6 && (a->flags & IFA_F_DEPRECATED),
		/*
		 * One that another host has, too, was never the container's to use. On a link that is up
		 * the check for that is over in a second, and then the address is the container's.
		 */
		.is_unusable = is_v6 && ((a->flags & IFA_F_DADFAILED) ||
					 ((a->flags & IFA_F_TENTATIVE) && !is_up)),
		.is_routes_given = true,
	};
}

static int feed_addr(const struct plan_feed *f, const struct plan *p, uint32_t idx, bool is_del)
{
	struct ns_ifaddr i = ifaddr_of(p, &p->addrs[idx]);
	uint32_t id = id_of(f, p, p->addrs[idx].link_idx);

	if (id == PLAN_FEED_NO_LINK)
		return -ENODEV;
	return is_del ? ns_stack_del_addr(f->stack, id, &i.addr)
		      : ns_stack_set_addr(f->stack, id, &i);
}

/* ---- rules ---- */

static bool rule_action(uint8_t fr_act, uint8_t *ret_action)
{
	static const struct {
		uint8_t fr_act, action;
	} map[] = {
		{ FR_ACT_TO_TBL, NS_RULE_LOOKUP },
		{ FR_ACT_GOTO, NS_RULE_GOTO },
		{ FR_ACT_NOP, NS_RULE_NOP },
		{ FR_ACT_BLACKHOLE, NS_RULE_BLACKHOLE },
		{ FR_ACT_UNREACHABLE, NS_RULE_UNREACHABLE },
		{ FR_ACT_PROHIBIT, NS_RULE_PROHIBIT },
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(map); i++) {
		if (map[i].fr_act == fr_act) {
			*ret_action = map[i].action;
			return true;
		}
	}
	return false;
}

static int feed_rule(const struct plan_feed *f, const struct plan *p, uint32_t idx, bool is_del)
{
	const struct plan_rule *pr = &p->rules[idx];
	struct ns_rule r = {
		.priority = pr->priority,
		.is_v6 = pr->family == AF_INET6,
		.is_inverted = pr->is_inverted,
		.table = pr->table,
		.target = pr->target,
		.to = plan_feed_ip(&pr->dst),
		.from = plan_feed_ip(&pr->src),
		.to_len = pr->dst_len,
		.from_len = pr->src_len,
		.tos = pr->tos,
		.proto = pr->ip_proto,
		.fwmark = pr->fwmark,
		.fwmask = pr->fwmask,
		.sport_min = (uint16_t)pr->sport_min,
		.sport_max = (uint16_t)pr->sport_max,
		.dport_min = (uint16_t)pr->dport_min,
		.dport_max = (uint16_t)pr->dport_max,
		.has_suppress_len = pr->has_suppress_len,
		.suppress_len = pr->suppress_len,
		.has_suppress_group = pr->has_suppress_group,
		.suppress_group = pr->suppress_group,
		.has_dscp = pr->has_dscp,
		.dscp = pr->dscp,
		.dscp_mask = pr->dscp_mask,
		.has_uid = pr->has_uid,
		.uid_min = pr->uid_min,
		.uid_max = pr->uid_max,
	};

	if (pr->is_partial || !rule_action(pr->action, &r.action))
		return -EOPNOTSUPP;
	memcpy(r.iif, pr->iif, sizeof(r.iif));
	memcpy(r.oif, pr->oif, sizeof(r.oif));
	return is_del ? ns_stack_del_rule(f->stack, &r) : ns_stack_add_rule(f->stack, &r);
}

/* ---- routes ---- */

/* false for types the stack does not have. */
static bool route_type(uint8_t rtn, uint8_t *ret_type)
{
	static const uint8_t types[] = {
		[RTN_UNICAST] = NS_ROUTE_UNICAST,     [RTN_LOCAL] = NS_ROUTE_LOCAL,
		[RTN_BROADCAST] = NS_ROUTE_BROADCAST, [RTN_ANYCAST] = NS_ROUTE_ANYCAST,
		[RTN_MULTICAST] = NS_ROUTE_MULTICAST, [RTN_BLACKHOLE] = NS_ROUTE_BLACKHOLE,
		[RTN_PROHIBIT] = NS_ROUTE_PROHIBIT,   [RTN_UNREACHABLE] = NS_ROUTE_UNREACHABLE,
		[RTN_THROW] = NS_ROUTE_THROW,
	};

	if (rtn == RTN_UNSPEC || rtn >= NS_ARRAY_LEN(types))
		return false;
	*ret_type = types[rtn];
	return true;
}

static int hop_of(const struct plan_feed *f, const struct plan *p, const struct plan_route *pr,
		  struct ns_nexthop *hop)
{
	*hop = (struct ns_nexthop){ .gateway = plan_feed_ip(&pr->gateway),
				    .weight = pr->weight ? (uint16_t)pr->weight : 1,
				    .is_onlink = pr->is_onlink,
				    .is_dead = pr->is_dead };
	if (pr->link_idx == PLAN_NO_LINK)
		return 0;
	hop->link_id = id_of(f, p, pr->link_idx);
	return hop->link_id == PLAN_FEED_NO_LINK ? -ENODEV : 0;
}

/* @cnt rows, one a next hop. A way by a link that is not carried is no way; the others stay. */
static int feed_route(const struct plan_feed *f, const struct plan *p, uint32_t idx, uint32_t cnt,
		      bool is_del)
{
	struct ns_nexthop hops[HOPS_MAX];
	const struct plan_route *pr = &p->routes[idx];
	struct ns_route r = { .dst = plan_feed_ip(&pr->dst),
			      .prefix_len = pr->dst_len,
			      .from = plan_feed_ip(&pr->from),
			      .from_len = pr->from_len,
			      .prefsrc = plan_feed_ip(&pr->prefsrc),
			      .metric = pr->metric,
			      .mtu = pr->mtu,
			      .table = pr->table,
			      .tos = pr->tos,
			      .scope = pr->scope,
			      .is_v6 = pr->family == AF_INET6,
			      .nexthops = hops };

	if (!route_type(pr->type, &r.type))
		return -EOPNOTSUPP;
	for (uint32_t i = 0; i < cnt && r.nexthop_cnt < HOPS_MAX; i++)
		if (hop_of(f, p, &pr[i], &hops[r.nexthop_cnt]) == 0)
			r.nexthop_cnt++;
	if (r.nexthop_cnt == 0)
		return -ENODEV;
	if (pr->dst.family == 0 && !r.is_v6)
		r.dst = ns_addr_v4(0);
	return is_del ? ns_stack_del_route(f->stack, &r) : ns_stack_add_route(f->stack, &r);
}

/* ---- neighbours ---- */

static int feed_neigh(const struct plan_feed *f, const struct plan *p, uint32_t idx, bool is_del)
{
	const struct plan_neigh *pn = &p->neighs[idx];
	struct ns_addr a = plan_feed_ip(&pn->addr);
	uint32_t id = id_of(f, p, pn->link_idx);

	if (id == PLAN_FEED_NO_LINK || pn->is_proxy)
		return -EOPNOTSUPP;
	return is_del ? ns_stack_del_neigh(f->stack, id, &a)
		      : ns_stack_add_neigh(f->stack, id, &a, pn->mac);
}

int plan_feed_change(const struct plan_feed *f, const struct plan *p, const struct plan_change *ch)
{
	bool is_del = ch->op == PLAN_DEL;

	switch ((enum plan_table)ch->table) {
	case PLAN_ADDR:
		return feed_addr(f, p, ch->idx, is_del);
	case PLAN_ROUTE:
		return feed_route(f, p, ch->idx, ch->cnt, is_del);
	case PLAN_RULE:
		return feed_rule(f, p, ch->idx, is_del);
	case PLAN_NEIGH:
		return feed_neigh(f, p, ch->idx, is_del);
	case PLAN_LINK:
	case PLAN_TABLE_COUNT:
		break;
	}
	return -EINVAL;
}
