/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_get.c - what an operator asks: where would this packet go?
 *
 * The answer is that of `ip route get`: of the path a socket's packet takes (net_path()), or, with a
 * link it came by, whether it is for us. Nothing is remembered.
 *
 * References: linux v6.1 net/ipv4/route.c inet_rtm_getroute(), net/ipv6/route.c inet6_rtm_getroute().
 */
#include <errno.h>

#include "net/net.h"
#include "net/net_int.h"

static void fill(const struct net *n, const struct route_hit *hit, const struct dst *d,
		 struct ns_route_answer *ret)
{
	const struct ns_route *r = &hit->route->r;

	*ret = (struct ns_route_answer){
		.type = r->type,
		.has_gateway = !ns_addr_is_any(&hit->hop->gateway),
		.gateway = hit->hop->gateway,
		.src = d->src,
		.has_src = !ns_addr_is_any(&d->src),
		.link_id = d->link ? d->link->id : hit->hop->link_id,
		.table = r->table,
		.mtu = d->link ? d->mtu : n->links[hit->hop->link_id]->config.mtu,
		.metric = r->metric,
		.nexthop_cnt = r->nexthop_cnt,
	};
}

/* A received packet: ours, or nobody's, since this host passes nothing on. */
static int find_input(const struct net *n, const struct route_flow *f,
		      struct ns_route_answer *ret_answer)
{
	struct dst d = { 0 };
	struct route_hit hit;
	int err = route_select(n, f, &hit);

	if (err < 0)
		return ns_addr_is_v4(&f->dst) ? -EHOSTUNREACH : err;
	if (ns_addr_is_v4(&f->dst) && hit.route->r.type == NS_ROUTE_UNICAST)
		return -EHOSTUNREACH;
	if (hit.route->r.type == NS_ROUTE_LOCAL)
		d.link = n->links[LINK_LOOP_ID];
	fill(n, &hit, &d, ret_answer);
	return 0;
}

/** net_find_route() - ns_stack_find_route() */
int net_find_route(const struct net *n, const struct ns_flow *flow,
		   struct ns_route_answer *ret_answer)
{
	struct route_flow f;
	struct dst d = { 0 };
	struct route_hit hit = { 0 };
	int err = net_flow(n, flow, &f);

	if (err < 0)
		return err;
	if (f.iif != LINK_LOOP_ID)
		return find_input(n, &f, ret_answer);
	err = net_path(n, &f, &d, &hit);
	if (err == -EADDRNOTAVAIL && hit.route)
		err = 0; /* there is a way, only nobody to send from */
	if (err == 0)
		fill(n, &hit, &d, ret_answer);
	return err;
}
