/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_get.c - what an operator asks: where would this packet go?
 *
 * The answer is that of `ip route get`: of the path a socket's packet takes (path_find()), or, with a
 * link it came by, whether it is for us. Nothing is remembered.
 *
 * References: linux v6.1 net/ipv4/route.c inet_rtm_getroute(), net/ipv6/route.c inet6_rtm_getroute().
 */
#include <errno.h>

#include "net/net.h"
#include "net/net_int.h"
#include "net/path.h"
#include "net/route_in.h"
#include "wire/ip4.h"

static void fill(const struct net *n, const struct path *p, struct ns_route_answer *ret)
{
	const struct ns_route *r = p->hit.route ? &p->hit.route->r : NULL;
	const struct ns_nexthop *h = p->hit.hop;

	*ret = (struct ns_route_answer){
		.type = p->type,
		.src = p->d.src,
		.has_src = !ns_addr_is_any(&p->d.src),
		.link_id = p->d.link ? p->d.link->id
			   : h       ? h->link_id
				     : LINK_LOOP_ID,
		.mtu = p->d.mtu,
	};
	if (p->d.link)
		ret->ifindex = p->d.link->config.ifindex;
	else if (h)
		ret->ifindex = n->links[h->link_id]->config.ifindex;
	if (!r)
		return;
	ret->gateway = h->gateway;
	ret->has_gateway = !ns_addr_is_any(&h->gateway);
	ret->table = r->table;
	ret->metric = r->metric;
	ret->nexthop_cnt = r->nexthop_cnt;
}

/* A received packet: ours, or nobody's, since this host passes nothing on. */
static int find_input(const struct net *n, const struct route_flow *f,
		      struct ns_route_answer *ret_answer)
{
	struct path p = { 0 };
	int err = route_input_get(n, f, &p.hit);

	if (err < 0)
		return err;
	p.type = p.hit.route->r.type;
	if (!ns_addr_is_v4(&f->dst))
		p.d.src = p.hit.route->r.prefsrc; /* of IPv4 the kernel tells no source here */
	if (p.type == NS_ROUTE_LOCAL || p.type == NS_ROUTE_BROADCAST)
		p.d.link = n->links[LINK_LOOP_ID];
	fill(n, &p, ret_answer);
	return 0;
}

/** net_find_route() - ns_stack_find_route() */
int net_find_route(const struct net *n, const struct ns_flow *flow,
		   struct ns_route_answer *ret_answer)
{
	struct route_flow f;
	struct path p;
	int err = path_flow(n, flow, &f);

	if (err < 0)
		return err;
	if (f.iif != LINK_LOOP_ID && !ns_addr_is_v4(&f.dst))
		f.uid = UINT32_MAX; /* the kernel's question has no user; a packet's is 0 */
	if (f.proto == 0 && ns_addr_is_v4(&f.dst))
		f.proto = IP_PROTO_UDP; /* linux inet_rtm_getroute(): when nothing else was asked */
	if (f.iif != LINK_LOOP_ID)
		return find_input(n, &f, ret_answer);
	err = path_find(n, &f, &p);
	if (err == 0)
		fill(n, &p, ret_answer);
	return err;
}
