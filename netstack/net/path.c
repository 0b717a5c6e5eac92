/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.c - the way of a packet: link, next hop, MTU, source
 *
 * Theory of operation
 *
 * route_select() says which route; here it becomes a way. What is ours goes by the loop. Without a
 * source the route's preferred one is taken, else IPv4 asks for an address of the link that has the
 * next hop in its subnet (addr4_select()), IPv6 asks RFC 6724 (addr6_src_for()).
 *
 * A connection is routed twice when it has no source: the second time with the one that was found,
 * so that rules by source and several next hops have their say, as in Linux; from then on its
 * packets go where the second answer says, whenever they are asked for again.
 *
 * IPv4 on a socket that is bound to a link needs no route: the destination is taken to be on it.
 *
 * References: linux v6.1 net/ipv4/route.c ip_route_output_key_hash_rcu(), __mkroute_output(),
 * include/net/route.h ip_route_connect(); net/ipv6/route.c ip6_route_output_flags(), ip6_output.c
 * ip6_dst_lookup_tail().
 */
#include "net/path.h"

#include <errno.h>

#include "net/net_int.h"
#include "wire/ip6.h"

enum { MTU_MIN = 68 /* octets, RFC 791 */ };

/* ---- IPv4 ---- */

static bool is_lbcast(const struct ns_addr *a)
{
	return ns_addr_to_v4(a) == UINT32_MAX;
}

/* Linux inet_addr_type(): an address, or what a local route covers. */
static bool is_ours(const struct net *n, const struct ns_addr *a)
{
	const struct ns_route *r = route_find_local(&n->routes, a);

	return addr4_find(n, a) || (r && r->type == NS_ROUTE_LOCAL);
}

static int check_source4(const struct net *n, const struct route_flow *f)
{
	if (ns_addr_is_any(&f->src))
		return 0;
	if (ns_addr_is_multicast(&f->src) || is_lbcast(&f->src))
		return -EINVAL;
	return is_ours(n, &f->src) ? 0 : -ENETUNREACH;
}

static void to_self(const struct net *n, const struct ns_addr *dst, struct dst *d)
{
	d->link = n->links[LINK_LOOP_ID];
	d->nexthop = *dst;
	d->mtu = LINK_LOOP_MTU;
}

/* No route, but a link was asked for. */
static void on_link4(const struct net *n, const struct route_flow *f, struct path *p)
{
	struct link *l = n->links[f->oif];

	p->hit = (struct route_hit){ 0 };
	p->type = NS_ROUTE_UNICAST;
	p->d.link = l;
	p->d.nexthop = f->dst;
	p->d.mtu = l->config.mtu;
	if (ns_addr_is_any(&p->d.src))
		(void)!addr4_select(n, l, NULL, NS_SCOPE_LINK, &p->d.src);
}

static void by_route4(const struct net *n, const struct ns_addr *dst, struct path *p)
{
	const struct ns_route *r = &p->hit.route->r;
	const struct ns_nexthop *h = p->hit.hop;
	struct dst *d = &p->d;

	p->type = r->type;
	if (r->type == NS_ROUTE_LOCAL) {
		to_self(n, dst, d);
		if (ns_addr_is_any(&d->src))
			d->src = ns_addr_is_any(&r->prefsrc) ? *dst : r->prefsrc;
		return;
	}
	d->link = n->links[h->link_id];
	d->nexthop = ns_addr_is_any(&h->gateway) ? *dst : h->gateway;
	d->mtu = d->link->config.mtu;
	if (r->mtu && r->mtu < d->mtu)
		d->mtu = ns_max_u(r->mtu, MTU_MIN);
	if (ns_addr_is_any(&d->src))
		d->src = r->prefsrc;
	/* by the gateway's subnet, not by the destination's: linux fib_info_update_nhc_saddr() */
	if (ns_addr_is_any(&d->src))
		(void)!addr4_select(n, d->link, &h->gateway, r->scope, &d->src);
}

/* linux __mkroute_output() */
static int check4(const struct ns_addr *dst, struct path *p)
{
	if (ns_addr_is_loopback(&p->d.src) && !p->d.link->is_loop)
		return -EINVAL;
	if (is_lbcast(dst))
		p->type = NS_ROUTE_BROADCAST;
	else if (ns_addr_is_multicast(dst))
		p->type = NS_ROUTE_MULTICAST;
	else if (ns_addr_to_v4(dst) >> 24 == 0)
		return -EINVAL;
	return 0;
}

static int path4(const struct net *n, const struct route_flow *f, struct path *p)
{
	int err = check_source4(n, f);

	if (err < 0)
		return err;
	p->d.src = f->src;
	if (f->oif != RULE_NO_LINK && !n->links[f->oif]->config.is_up)
		return -ENETUNREACH;
	err = route_select(n, f, &p->hit);
	if (err < 0 && f->oif != RULE_NO_LINK) {
		on_link4(n, f, p);
		err = 0;
	} else if (err == 0) {
		by_route4(n, &f->dst, p);
	}
	return err < 0 ? err : check4(&f->dst, p);
}

/* ---- IPv6 ---- */

static int by_route6(const struct net *n, const struct ns_addr *dst, struct path *p)
{
	const struct ns_route *r = &p->hit.route->r;
	const struct ns_nexthop *h = p->hit.hop;
	struct dst *d = &p->d;

	p->type = r->type;
	if (r->type == NS_ROUTE_LOCAL || r->type == NS_ROUTE_ANYCAST) {
		to_self(n, dst, d);
		return 0;
	}
	d->link = n->links[h->link_id];
	d->nexthop = ns_addr_is_any(&h->gateway) ? *dst : h->gateway;
	d->mtu = d->link->config.mtu;
	if (d->mtu < IP6_MTU_MIN) /* RFC 8200 5: no IPv6 on such a link */
		return -ENETUNREACH;
	if (r->mtu && r->mtu < d->mtu)
		d->mtu = ns_max_u(r->mtu, IP6_MTU_MIN);
	return 0;
}

static int path6(const struct net *n, struct route_flow *f, struct path *p)
{
	const struct ns_route *r;
	int err;

	if (f->oif != RULE_NO_LINK && ns_addr_is_any(&f->src))
		f->is_oif_strict = true; /* linux ip6_route_output_flags() */
	err = route_select(n, f, &p->hit);
	if (err < 0)
		return err;
	r = &p->hit.route->r;
	/* without a route of its zone it has no link: no gateway may pass it on (RFC 4291 2.5.6) */
	if (ns_addr_is_link_local(&f->dst) && !ns_addr_is_link_local(&r->dst))
		return -ENETUNREACH;
	err = by_route6(n, &f->dst, p);
	p->d.src = r->prefsrc;
	if (err == 0 && ns_addr_is_any(&p->d.src))
		(void)!addr6_src_for(n, n->links[p->hit.hop->link_id], &f->dst, &p->d.src);
	return err;
}

/* ---- both ---- */

/**
 * path_find() - where a packet goes
 * @n:		IP layer
 * @f:		dst not any, zoned. is_oif_strict may be set here
 * @ret_path:	Set on success. d.src: IPv4: @f's, or the one that is chosen; IPv6: the one that would be chosen
 *
 * Return: 0, or the errno of route_select(); IPv4: -ENETUNREACH for a source that is not ours
 */
int path_find(const struct net *n, struct route_flow *f, struct path *ret_path)
{
	struct path p = { .d = { .generation = n->routes.generation } };
	int err = ns_addr_is_v4(&f->dst) ? path4(n, f, &p) : path6(n, f, &p);

	if (err == 0)
		*ret_path = p;
	return err;
}

struct link *net_link_by_ifindex(const struct net *n, uint32_t ifindex)
{
	for (uint32_t i = 0; ifindex && i < n->link_cnt; i++)
		if (n->links[i]->config.ifindex == ifindex)
			return n->links[i];
	return NULL;
}

static int link_id_of(const struct net *n, uint32_t ifindex, uint32_t *ret_id)
{
	const struct link *l = net_link_by_ifindex(n, ifindex);

	if (!l && ifindex)
		return -ENODEV;
	if (l)
		*ret_id = l->id;
	return 0;
}

/** path_flow() - @flow with links by id and zones, "any" as this host; -ENODEV for a link that is not there */
int path_flow(const struct net *n, const struct ns_flow *flow, struct route_flow *ret_flow)
{
	static const struct ns_addr one = { { [15] = 1 } };
	struct route_flow f = { .dst = flow->dst,
				.src = flow->src,
				.oif = RULE_NO_LINK,
				.iif = LINK_LOOP_ID,
				.mark = flow->mark,
				.uid = flow->uid,
				.sport = flow->sport,
				.dport = flow->dport,
				.tos = flow->tos,
				.proto = flow->proto };
	int err = link_id_of(n, flow->oif, &f.oif);

	if (err == 0)
		err = link_id_of(n, flow->iif, &f.iif);
	if (err < 0)
		return err;
	if (f.oif != RULE_NO_LINK && ns_addr_zone(&f.dst) == 0)
		f.dst = ns_addr_zoned(f.dst, link_zone(n->links[f.oif]));
	if (ns_addr_is_any(&f.dst) && !ns_addr_is_any(&f.src))
		f.dst = f.src;
	else if (ns_addr_is_any(&f.dst))
		f.dst = ns_addr_is_v4(&f.dst) ? ns_addr_v4(0x7f000001) : one;
	*ret_flow = f;
	return 0;
}

/* What a socket may not do though a route says so. */
static int check_socket(const struct route_flow *f, struct path *p)
{
	if (p->type == NS_ROUTE_BROADCAST || p->type == NS_ROUTE_MULTICAST)
		return -ENETUNREACH;
	if (!ns_addr_is_any(&f->src))
		p->d.src = f->src;
	if (ns_addr_is_any(&p->d.src)) /* linux ip6_dst_lookup_tail() */
		return ns_addr_is_v4(&f->dst) ? -ENETUNREACH : -EADDRNOTAVAIL;
	return ns_addr_is_loopback(&p->d.src) && !p->d.link->is_loop ? -EINVAL : 0;
}

/* @is_kept: for a connection, whose later packets have the source from the start (linux ip_route_connect()) */
static int route_socket(const struct net *n, const struct ns_flow *flow, bool is_kept,
			struct dst *ret_dst)
{
	struct route_flow f;
	struct path p;
	bool is_v4;
	int err = path_flow(n, flow, &f);

	if (err < 0)
		return err;
	f.is_oif_strict = flow->oif != 0;
	is_v4 = ns_addr_is_v4(&f.dst);
	if (!ns_addr_is_any(&f.src) && ns_addr_is_v4(&f.src) != is_v4)
		return is_v4 ? -EINVAL : -EAFNOSUPPORT; /* linux ip6_dst_lookup_tail() */
	err = path_find(n, &f, &p);
	if (err == 0 && is_v4 && is_kept && ns_addr_is_any(&f.src)) {
		f.src = p.d.src;
		err = path_find(n, &f, &p);
	}
	if (err == 0)
		err = check_socket(&f, &p);
	if (err == 0)
		*ret_dst = p.d;
	return err;
}

int net_route_flow(struct net *n, const struct ns_flow *flow, struct dst *ret_dst)
{
	return route_socket(n, flow, true, ret_dst);
}

int net_route(struct net *n, const struct ns_addr *dst, const struct ns_addr *src,
	      struct dst *ret_dst)
{
	struct ns_flow f = { .dst = *dst };

	if (src)
		f.src = *src;
	return net_route_flow(n, &f, ret_dst);
}

/* ---- groups ---- */

/*
 * To a group: by the link that was asked for, else by that of the source address, else by a route
 * (linux v6.1 net/ipv4/route.c ip_route_output_key_hash_rcu()).
 */
static int route_group4(const struct net *n, const struct route_flow *f, struct dst *d)
{
	const struct addr4 *mine = ns_addr_is_any(&d->src) ? NULL : addr4_find(n, &d->src);
	const struct ns_addr *dst = &f->dst;
	struct route_hit hit;
	struct link *l = f->oif != RULE_NO_LINK ? n->links[f->oif]
			 : mine                 ? n->links[mine->link_id]
						: NULL;
	int err;

	if (!l) {
		err = route_select(n, f, &hit);
		if (err < 0)
			return err;
		l = n->links[hit.hop->link_id];
		if (ns_addr_is_any(&d->src))
			d->src = hit.route->r.prefsrc;
	}
	d->link = l;
	d->mtu = l->config.mtu;
	d->nexthop = ns_addr_is_multicast(dst) ? *dst : ns_addr_v4(UINT32_MAX);
	if (ns_addr_is_any(&d->src) && l->is_loop)
		d->src = ns_addr_v4(0x7f000001);
	if (ns_addr_is_any(&d->src) && !addr4_select(n, l, NULL, NS_SCOPE_LINK, &d->src))
		return -ENETUNREACH;
	return 0;
}

int net_route_dgram(struct net *n, const struct ns_flow *flow, struct dst *ret_dst,
		    bool *ret_is_group, bool *ret_is_bcast)
{
	const struct ns_route *local = route_find_local(&n->routes, &flow->dst);
	struct dst d = { .generation = n->routes.generation, .src = flow->src };
	bool is_v4 = ns_addr_is_v4(&flow->dst);
	struct ns_flow by = *flow;
	struct route_flow f;
	int err;

	*ret_is_bcast =
		(is_v4 && is_lbcast(&flow->dst)) || (local && local->type == NS_ROUTE_BROADCAST);
	*ret_is_group = *ret_is_bcast || ns_addr_is_multicast(&flow->dst);
	if (!*ret_is_group)
		return route_socket(n, flow, false, ret_dst);
	if (is_v4 && local && by.oif == 0)
		by.oif = n->links[local->link_id]->config.ifindex;
	err = path_flow(n, &by, &f);
	if (err == 0)
		err = is_v4 ? route_group4(n, &f, &d)
			    : addr6_route_group(n, &flow->dst, by.oif, &d);
	if (err == 0)
		*ret_dst = d;
	return err;
}
