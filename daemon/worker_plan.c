/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_plan.c - the plan becomes a stack
 *
 * What the stack cannot use yet (IPv6, rules, tables other than main and local, multipath) stays in
 * the plan and is logged once, by kind and number; it is no reason not to start.
 */
#include "daemon/worker_plan.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/log.h"

/** struct plan_build - on the way: which link of the stack is which of the plan, what was left out */
struct plan_build {
	struct ns_stack *stack;
	const struct plan *plan;
	uint32_t link_id[PLAN_LINKS_MAX]; /* 0: not carried */
	uint32_t ipv6_cnt, table_cnt, multipath_cnt, type_cnt;
};

static struct ns_addr addr_of(const struct plan_ip *ip)
{
	struct ns_addr a = { { 0 } };

	if (ip->family == AF_INET)
		a = ns_addr_v4((uint32_t)ip->b[0] << 24 | (uint32_t)ip->b[1] << 16 |
			       (uint32_t)ip->b[2] << 8 | ip->b[3]);
	else if (ip->family == AF_INET6)
		memcpy(a.b, ip->b, sizeof(a.b));
	return a;
}

static enum ns_gso_mode gso_of(const struct plan_link *l)
{
	switch ((enum plan_gso)l->gso) {
	case PLAN_GSO_HW:
		return NS_GSO_HW;
	case PLAN_GSO_SW:
		return NS_GSO_SW;
	case PLAN_GSO_NONE:
	case PLAN_GSO_COUNT:
		break;
	}
	return NS_GSO_NONE;
}

static int add_links(struct plan_build *b, const struct worker_plan_link *links)
{
	uint32_t carried = 0;

	for (size_t i = 0; i < b->plan->link_cnt; i++) {
		const struct plan_link *l = &b->plan->links[i];

		if (l->driver == PLAN_DRIVER_NONE)
			continue;

		struct ns_link_config c = {
			.ifindex = l->ifindex,
			.mtu = l->mtu,
			.is_up = true,
			.is_noarp = l->flags & IFF_NOARP,
			.gso = gso_of(l),
			.is_sw_gso_off = !l->has_software_gso,
			.gso_max_size =
				l->gso_ipv4_max_size ? l->gso_ipv4_max_size : l->gso_max_size,
			.gso_max_segs = l->gso_max_segs,
			.ops = links[carried].ops,
			.drv = links[carried].drv,
		};

		memcpy(c.name, l->name, sizeof(c.name));
		memcpy(c.mac, l->mac, sizeof(c.mac));

		int r = ns_stack_add_link(b->stack, &c, &b->link_id[i]);

		if (r < 0)
			return log_err(r, "cannot add link %s to the stack", l->name);
		links[carried].set_id(links[carried].ctx, b->link_id[i]);
		carried++;
	}
	return 0;
}

static int add_addrs(struct plan_build *b)
{
	for (size_t i = 0; i < b->plan->addr_cnt; i++) {
		const struct plan_addr *a = &b->plan->addrs[i];
		struct ns_addr addr = addr_of(&a->local);

		if (a->local.family != AF_INET) {
			b->ipv6_cnt++;
			continue;
		}
		if (!b->link_id[a->link_idx])
			continue; /* loopback's addresses are the stack's own */

		int r = ns_stack_add_addr(b->stack, b->link_id[a->link_idx], &addr, a->prefix_len);

		if (r < 0)
			return log_err(r, "cannot add an address of link %s to the stack",
				       b->plan->links[a->link_idx].name);
	}
	return 0;
}

/** route_type() - the stack's word for RTN_*, or -1 for a kind it makes itself or has not */
static int route_type(uint8_t rtn)
{
	switch (rtn) {
	case RTN_UNICAST:
		return NS_ROUTE_UNICAST;
	case RTN_LOCAL:
		return NS_ROUTE_LOCAL;
	case RTN_BROADCAST:
		return NS_ROUTE_BROADCAST;
	case RTN_BLACKHOLE:
		return NS_ROUTE_BLACKHOLE;
	case RTN_UNREACHABLE:
		return NS_ROUTE_UNREACHABLE;
	case RTN_PROHIBIT:
		return NS_ROUTE_PROHIBIT;
	default:
		return -1;
	}
}

/** route_is_usable() - count and leave out what the stack cannot do yet */
static bool route_is_usable(struct plan_build *b, const struct plan_route *r)
{
	if (r->family != AF_INET) {
		b->ipv6_cnt++;
		return false;
	}
	if (r->table != RT_TABLE_MAIN && r->table != RT_TABLE_LOCAL &&
	    r->table != RT_TABLE_DEFAULT) {
		b->table_cnt++;
		return false;
	}
	if (r->gateway.family && r->gateway.family != AF_INET) {
		b->ipv6_cnt++;
		return false;
	}
	if (route_type(r->type) < 0) {
		b->type_cnt++;
		return false;
	}
	return true;
}

static int add_routes(struct plan_build *b)
{
	for (size_t i = 0; i < b->plan->route_cnt; i++) {
		const struct plan_route *r = &b->plan->routes[i];
		bool has_link = r->link_idx != PLAN_NO_LINK;

		if (!route_is_usable(b, r))
			continue;
		if (has_link && !b->link_id[r->link_idx])
			continue; /* through loopback: the stack has those by itself */
		if (r->weight && i > 0 && b->plan->routes[i - 1].weight &&
		    !memcmp(&b->plan->routes[i - 1].dst, &r->dst, sizeof(r->dst)) &&
		    b->plan->routes[i - 1].dst_len == r->dst_len) {
			b->multipath_cnt++; /* the first next hop stands for all */
			continue;
		}

		struct ns_route n = {
			.dst = addr_of(&r->dst),
			.prefix_len = r->dst_len,
			.gateway = addr_of(&r->gateway),
			.prefsrc = addr_of(&r->prefsrc),
			.link_id = has_link ? b->link_id[r->link_idx] : 0,
			.metric = r->metric,
			.mtu = r->mtu,
			.table = r->table,
			.type = (uint8_t)route_type(r->type),
			.is_onlink = r->is_onlink,
		};

		if (r->dst_len == 0)
			n.dst = ns_addr_v4(0);

		int e = ns_stack_add_route(b->stack, &n);

		if (e < 0 && e != -EEXIST)
			return log_err(e, "cannot add route %zu of the plan to the stack", i);
	}
	return 0;
}

static int add_neighs(struct plan_build *b)
{
	for (size_t i = 0; i < b->plan->neigh_cnt; i++) {
		const struct plan_neigh *n = &b->plan->neighs[i];
		struct ns_addr addr = addr_of(&n->addr);

		if (n->addr.family != AF_INET) {
			b->ipv6_cnt++;
			continue;
		}
		if (!b->link_id[n->link_idx] || n->is_proxy)
			continue;

		int r = ns_stack_add_neigh(b->stack, b->link_id[n->link_idx], &addr, n->mac);

		if (r < 0)
			return log_err(r, "cannot add neighbour %zu of the plan to the stack", i);
	}
	return 0;
}

static void tell_left_out(const struct plan_build *b)
{
	if (b->ipv6_cnt)
		log_info(
			"the stack has no IPv6 yet: %u addresses, routes and neighbours wait in the plan",
			b->ipv6_cnt);
	if (b->table_cnt)
		log_warnx(
			"%u routes are in tables of their own; the stack uses main, local and default only",
			b->table_cnt);
	if (b->multipath_cnt)
		log_warnx("multipath routes: the first next hop is used, %u others are not",
			  b->multipath_cnt);
	if (b->type_cnt)
		log_info("%u routes are of a type the stack does not use (multicast, throw, nat)",
			 b->type_cnt);
}

int worker_plan_apply(const struct plan *p, struct ns_stack *s,
		      const struct worker_plan_link *links)
{
	struct plan_build b = { .stack = s, .plan = p };
	int r = add_links(&b, links);

	if (r == 0)
		r = add_addrs(&b);
	if (r == 0)
		r = add_routes(&b);
	if (r == 0)
		r = add_neighs(&b);
	if (r == 0)
		tell_left_out(&b);
	return r;
}
