/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.c - the IP layer put together: links, addresses, routes, neighbours
 *
 * Theory of operation
 *
 *   frame -> net_input() -> ether -> arp, ip4 or ip6 -> proto_ops.input
 *   transport -> net_route() once, kept in its struct dst
 *             -> net_output() -> ip4 or ip6 -> neigh (resolve) -> ether -> link queue -> net_flush()
 *
 * IPv6 is a sibling: where the family decides (net_output, net_route, net_input, add_addr) there is
 * one switch on the address. Each family has its own neighbours; routes and transports are shared.
 *
 * What is ours is what the local routing table says, so `ip route add local` works as an address
 * does. An address brings the routes that Linux makes for it: itself, its subnet's broadcast, and
 * the subnet; the same routes read from the kernel are then no news.
 */
#include "net/net.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link/ether.h"
#include "link/loop.h"
#include "net/arp.h"
#include "net/icmp6.h"
#include "net/ndp.h"
#include "net/net_int.h"
#include "wire/icmp4.h"
#include "wire/icmp6.h"
#include "wire/ip6.h"

enum {
	MTU_MIN = 68,    /* octets, RFC 791 */
	MTU_MAX = 65535, /* octets */
	ADDR_MAX = 4096,
};

static void on_solicit(void *ctx, const struct neigh *ne, bool is_unicast, struct mono now)
{
	(void)now;
	arp_solicit(ctx, ne, is_unicast);
}

static void on_failed(void *ctx, const struct link *l, const struct pkt *p, struct mono now)
{
	(void)l;
	icmp_report(ctx, p, -EHOSTUNREACH, now);
}

static int on_xmit(void *ctx, struct link *l, const uint8_t mac[ETH_ADDR_LEN], struct pkt *p)
{
	(void)ctx;
	ether_push(l, p, mac, ETH_TYPE_IP4);
	return link_output(l, p);
}

static void on_solicit6(void *ctx, const struct neigh *ne, bool is_unicast, struct mono now)
{
	ndp_solicit(ctx, ne, is_unicast, now);
}

static void on_failed6(void *ctx, const struct link *l, const struct pkt *p, struct mono now)
{
	icmp6_report(ctx, l, p, -EHOSTUNREACH, now);
}

static int on_xmit6(void *ctx, struct link *l, const uint8_t mac[ETH_ADDR_LEN], struct pkt *p)
{
	(void)ctx;
	ether_push(l, p, mac, ETH_TYPE_IP6);
	return link_output(l, p);
}

/* 127.0.0.0/8 and ::1 are ours and stay inside. */
static int add_loopback(struct net *n)
{
	const struct ns_route r = {
		.dst = ns_addr_v4(0x7f000000),
		.prefix_len = 8,
		.prefsrc = ns_addr_v4(0x7f000001),
		.link_id = LINK_LOOP_ID,
		.table = ROUTE_TABLE_LOCAL,
		.type = NS_ROUTE_LOCAL,
	};
	const struct ns_addr one = { { [15] = 1 } };
	int err;

	n->links[LINK_LOOP_ID] = loop_new(&n->core->pkts, n->core->stats);
	if (!n->links[LINK_LOOP_ID])
		return -ENOMEM;
	n->link_cnt = 1;
	route_set_link_up(&n->routes, LINK_LOOP_ID, true);
	err = route_add(&n->routes, &r);
	return err < 0 ? err : addr6_add(n, LINK_LOOP_ID, &one, 128);
}

/** net_new() - an IP layer with the loop link only; @core outlives it; NULL without memory */
struct net *net_new(struct ns_core *core)
{
	static const struct neigh_ops ops = { .solicit = on_solicit,
					      .failed = on_failed,
					      .xmit = on_xmit };
	static const struct neigh_ops ops6 = { .solicit = on_solicit6,
					       .failed = on_failed6,
					       .xmit = on_xmit6 };
	struct net *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->core = core;
	ip4_ids_init(&n->ids, core->env);
	icmp_limit_init(&n->icmp_limit);
	frags_init(&n->frags);
	n->neighs = neigh_table_new(core, &ops, n);
	n->neighs6 = neigh_table_new(core, &ops6, n);
	if (!n->neighs || !n->neighs6 || route_init(&n->routes) < 0 || add_loopback(n) < 0) {
		net_free(n);
		return NULL;
	}
	return n;
}

/** net_free() - with all that waits anywhere; NULL is fine */
void net_free(struct net *n)
{
	if (!n)
		return;
	frags_done(n);
	neigh_table_free(n->neighs);
	neigh_table_free(n->neighs6);
	for (uint32_t i = 0; i < n->link_cnt; i++)
		link_free(n->links[i]);
	route_done(&n->routes);
	free(n->addrs);
	addr6_done(&n->addrs6);
	free(n);
}

/** net_register() - @proto of the IP header belongs to a transport from now on; ops are kept by pointer */
void net_register(struct net *n, uint8_t proto, const struct proto_ops *ops, void *self)
{
	n->protos[proto] = (struct net_proto){ .ops = ops, .self = self };
}

/** net_link() - a link by its number, or NULL */
struct link *net_link(const struct net *n, uint32_t link_id)
{
	return link_id < n->link_cnt ? n->links[link_id] : NULL;
}

/**
 * net_add_link() - ns_stack_add_link()
 * @n:			IP layer
 * @c:			Copied; an MTU out of range is brought into it
 * @ret_link_id:	Its number, from 1 on
 *
 * Return: 0, -EINVAL without a way to send or with a group address as its MAC, -ENOSPC, -ENOMEM
 */
int net_add_link(struct net *n, const struct ns_link_config *c, uint32_t *ret_link_id)
{
	struct ns_link_config config = *c;
	struct link *l;

	if (!c->ops || !c->ops->xmit || eth_is_multicast(c->mac))
		return -EINVAL;
	if (n->link_cnt == ROUTE_LINKS_MAX)
		return -ENOSPC;
	config.mtu = ns_max_u(MTU_MIN, ns_min_u(config.mtu, MTU_MAX));
	l = link_new(n->link_cnt, &config, &n->core->pkts, n->core->stats);
	if (!l)
		return -ENOMEM;
	n->links[n->link_cnt] = l;
	route_set_link_up(&n->routes, n->link_cnt, c->is_up);
	*ret_link_id = n->link_cnt++;
	return 0;
}

/** net_set_link_up() - ns_stack_set_link_up(): its routes come and go with it; -ENODEV */
int net_set_link_up(struct net *n, uint32_t link_id, bool is_up)
{
	struct link *l = net_link(n, link_id);

	if (!l || l->is_loop)
		return -ENODEV;
	route_set_link_up(&n->routes, link_id, is_up);
	link_set_up(l, is_up);
	if (!is_up) {
		neigh_flush_link(n->neighs, l);
		neigh_flush_link(n->neighs6, l);
	}
	return 0;
}

static int remember_addr(struct net *n, const struct net_addr *a)
{
	for (uint32_t i = 0; i < n->addr_cnt; i++)
		if (ns_addr_eq(&n->addrs[i].addr, &a->addr) && n->addrs[i].link_id == a->link_id)
			return 0;
	if (n->addr_cnt == n->addr_cap) {
		uint32_t cap = n->addr_cap ? n->addr_cap * 2 : 16;
		struct net_addr *addrs = malloc(cap * sizeof(*addrs));

		if (!addrs)
			return -ENOMEM;
		if (n->addr_cnt)
			memcpy(addrs, n->addrs, n->addr_cnt * sizeof(*addrs));
		free(n->addrs);
		n->addrs = addrs;
		n->addr_cap = cap;
	}
	n->addrs[n->addr_cnt++] = *a;
	return 0;
}

/* linux v6.1 net/ipv4/fib_frontend.c fib_add_ifaddr() */
static int add_addr_routes(struct net *n, const struct net_addr *a)
{
	uint32_t v4 = ns_addr_to_v4(&a->addr);
	struct ns_route r = {
		.dst = a->addr,
		.prefix_len = 32,
		.prefsrc = a->addr,
		.link_id = a->link_id,
		.table = ROUTE_TABLE_LOCAL,
		.type = NS_ROUTE_LOCAL,
	};
	int err = route_add(&n->routes, &r);

	if (err < 0 || a->prefix_len == 32 || a->prefix_len == 0)
		return err;
	if (a->prefix_len < 31) {
		r.dst = ns_addr_v4(v4 | UINT32_MAX >> a->prefix_len);
		r.type = NS_ROUTE_BROADCAST;
		err = route_add(&n->routes, &r);
		if (err < 0)
			return err;
	}
	r.dst = a->addr;
	r.prefix_len = a->prefix_len;
	r.table = ROUTE_TABLE_MAIN;
	r.type = NS_ROUTE_UNICAST;
	return route_add(&n->routes, &r);
}

/**
 * net_add_addr() - ns_stack_add_addr(): an address and the routes it implies
 * @n:		IP layer
 * @link_id:	Link it is on
 * @a:		Address
 * @prefix_len:	Bits of its subnet; 32 (IPv6: 128): no subnet, so no route but to itself
 *
 * Return: 0 (also when it is there), -ENODEV, -EINVAL, -ENOSPC, -ENOMEM
 */
int net_add_addr(struct net *n, uint32_t link_id, const struct ns_addr *a, uint8_t prefix_len)
{
	struct net_addr entry = { .addr = *a, .prefix_len = prefix_len, .link_id = link_id };
	int err;

	if (!net_link(n, link_id))
		return -ENODEV;
	if (!ns_addr_is_v4(a))
		return addr6_add(n, link_id, a, prefix_len);
	if (prefix_len > 32 || ns_addr_is_any(a) || ns_addr_is_multicast(a) ||
	    ns_addr_to_v4(a) == UINT32_MAX)
		return -EINVAL;
	if (n->addr_cnt >= ADDR_MAX)
		return -ENOSPC;
	err = remember_addr(n, &entry);
	return err < 0 ? err : add_addr_routes(n, &entry);
}

/** net_deprecate_addr() - ns_stack_deprecate_addr(): 0, -ENODEV, -EADDRNOTAVAIL for one that is not there */
int net_deprecate_addr(struct net *n, uint32_t link_id, const struct ns_addr *a, bool is_deprecated)
{
	if (!net_link(n, link_id))
		return -ENODEV;
	return addr6_deprecate(n, link_id, a, is_deprecated);
}

/** net_add_route() - ns_stack_add_route(): 0, -ENODEV for a link that is not there, or what route_add() says */
int net_add_route(struct net *n, const struct ns_route *r)
{
	const struct link *l = net_link(n, r->link_id);
	struct ns_route zoned = *r;

	if (!l)
		return -ENODEV;
	zoned.dst = ns_addr_zoned(r->dst, link_zone(l));
	zoned.gateway = ns_addr_zoned(r->gateway, link_zone(l));
	zoned.prefsrc = ns_addr_zoned(r->prefsrc, link_zone(l));
	return route_add(&n->routes, &zoned);
}

/** net_add_neigh() - ns_stack_add_neigh(): 0, -ENODEV, -EINVAL for a group address as MAC, -ENOMEM */
int net_add_neigh(struct net *n, uint32_t link_id, const struct ns_addr *a, const uint8_t mac[6])
{
	struct link *l = net_link(n, link_id);

	if (!l || l->is_loop)
		return -ENODEV;
	if (eth_is_multicast(mac))
		return -EINVAL;
	if (!ns_addr_is_v4(a)) {
		struct ns_addr zoned = ns_addr_zoned(*a, link_zone(l));

		return neigh_add_permanent(n->neighs6, l, &zoned, mac);
	}
	return neigh_add_permanent(n->neighs, l, a, mac);
}

static bool shares_prefix(const struct net_addr *a, const struct ns_addr *b)
{
	uint32_t diff = ns_addr_to_v4(&a->addr) ^ ns_addr_to_v4(b);

	return a->prefix_len == 0 || diff >> (32 - a->prefix_len) == 0;
}

/**
 * net_src_for() - the source Linux would choose (inet_select_addr())
 * @n:		IP layer
 * @l:		Link the packet leaves by
 * @nexthop:	Where it goes
 * @ret_src:	An address of @l in @nexthop's subnet, else @l's first, else the first of any link
 *
 * Return: false when we have no address at all
 */
bool net_src_for(const struct net *n, const struct link *l, const struct ns_addr *nexthop,
		 struct ns_addr *ret_src)
{
	const struct net_addr *of_link = NULL, *of_any = NULL;

	for (uint32_t i = 0; i < n->addr_cnt; i++) {
		const struct net_addr *a = &n->addrs[i];

		if (a->link_id == l->id && shares_prefix(a, nexthop)) {
			*ret_src = a->addr;
			return true;
		}
		if (!of_link && a->link_id == l->id)
			of_link = a;
		if (!of_any && a->link_id != LINK_LOOP_ID)
			of_any = a;
	}
	if (!of_link)
		of_link = of_any;
	if (of_link)
		*ret_src = of_link->addr;
	return of_link != NULL;
}

/* To ourselves: @dst itself is the source, unless the route prefers another (127.0.0.1 for 127/8). */
static void route_to_self(const struct net *n, const struct ns_route *r, const struct ns_addr *dst,
			  struct dst *d)
{
	d->link = n->links[LINK_LOOP_ID];
	d->nexthop = *dst;
	d->mtu = LINK_LOOP_MTU;
	if (ns_addr_is_any(&d->src))
		d->src = ns_addr_is_any(&r->prefsrc) ? *dst : r->prefsrc;
}

static int route_out(const struct net *n, const struct ns_route *r, const struct ns_addr *dst,
		     struct dst *d)
{
	d->link = n->links[r->link_id];
	d->nexthop = ns_addr_is_any(&r->gateway) ? *dst : r->gateway;
	d->mtu = d->link->config.mtu;
	if (r->mtu && r->mtu < d->mtu)
		d->mtu = ns_max_u(r->mtu, MTU_MIN);
	if (ns_addr_is_loopback(&d->src) && !d->link->is_loop)
		return -EINVAL;
	if (!ns_addr_is_any(&d->src))
		return 0;
	d->src = r->prefsrc;
	if (ns_addr_is_any(&d->src) && !net_src_for(n, d->link, &d->nexthop, &d->src))
		return -ENETUNREACH;
	return 0;
}

static int route4(const struct net *n, const struct ns_addr *dst, struct dst *d)
{
	const struct ns_route *r = NULL;
	int err;

	if (ns_addr_is_multicast(dst) || ns_addr_to_v4(dst) == UINT32_MAX)
		return -ENETUNREACH;
	err = route_find(&n->routes, dst, &r);
	if (err < 0)
		return err;
	if (r->type == NS_ROUTE_LOCAL) {
		route_to_self(n, r, dst, d);
		return 0;
	}
	if (r->type == NS_ROUTE_BROADCAST)
		return -ENETUNREACH;
	return route_out(n, r, dst, d);
}

int net_route(struct net *n, const struct ns_addr *dst, const struct ns_addr *src,
	      struct dst *ret_dst)
{
	struct ns_addr self = ns_addr_v4(0x7f000001);
	struct dst d = { .generation = n->routes.generation };
	bool is_v4;
	int err;

	if (src)
		d.src = *src;
	if (ns_addr_is_any(dst)) {
		if (!ns_addr_is_v4(dst))
			self = (struct ns_addr){ { [15] = 1 } };
		dst = ns_addr_is_any(&d.src) ? &self : &d.src;
	}
	is_v4 = ns_addr_is_v4(dst);
	if (!ns_addr_is_any(&d.src) && ns_addr_is_v4(&d.src) != is_v4)
		return is_v4 ? -EINVAL : -EAFNOSUPPORT; /* linux ip6_dst_lookup_tail() */
	err = is_v4 ? route4(n, dst, &d) : addr6_route(n, dst, &d);
	if (err < 0)
		return err;
	*ret_dst = d;
	return 0;
}

static struct link *link_by_ifindex(const struct net *n, uint32_t ifindex)
{
	for (uint32_t i = 0; i < n->link_cnt; i++)
		if (n->links[i]->config.ifindex == ifindex)
			return n->links[i];
	return NULL;
}

static struct link *link_of_addr(const struct net *n, const struct ns_addr *a)
{
	for (uint32_t i = 0; i < n->addr_cnt; i++)
		if (ns_addr_eq(&n->addrs[i].addr, a))
			return n->links[n->addrs[i].link_id];
	return NULL;
}

bool net_has_link(const struct net *n, uint32_t ifindex)
{
	return link_by_ifindex(n, ifindex) != NULL;
}

uint32_t net_link_ifindex(const struct link *l)
{
	return l->config.ifindex;
}

uint32_t net_ifindex_of(const struct net *n, const struct ns_addr *a)
{
	const struct link *l = link_of_addr(n, a);
	const struct ns_route *r;

	if (l)
		return l->config.ifindex;
	if (ns_addr_is_loopback(a))
		return n->links[LINK_LOOP_ID]->config.ifindex;
	return route_find(&n->routes, a, &r) == 0 ? n->links[r->link_id]->config.ifindex : 0;
}

void net_loop_dst(const struct net *n, const struct ns_addr *dst, struct dst *ret_dst)
{
	*ret_dst = (struct dst){ .link = n->links[LINK_LOOP_ID],
				 .nexthop = *dst,
				 .mtu = LINK_LOOP_MTU,
				 .generation = n->routes.generation };
}

/*
 * To a group: by the link that was asked for, else by that of the source address, else by a route
 * (linux v6.1 net/ipv4/route.c ip_route_output_key_hash_rcu()).
 */
static int route_group(const struct net *n, const struct ns_addr *dst, uint32_t ifindex,
		       struct dst *d)
{
	const struct ns_route *r = NULL;
	struct link *l = ifindex                   ? link_by_ifindex(n, ifindex)
			 : ns_addr_is_any(&d->src) ? NULL
						   : link_of_addr(n, &d->src);
	int err;

	if (!l && ifindex)
		return -ENODEV;
	if (!l) {
		err = route_find(&n->routes, dst, &r);
		if (err < 0)
			return err;
		l = n->links[r->link_id];
		if (ns_addr_is_any(&d->src))
			d->src = r->prefsrc;
	}
	d->link = l;
	d->mtu = l->config.mtu;
	d->nexthop = ns_addr_is_multicast(dst) ? *dst : ns_addr_v4(UINT32_MAX);
	if (ns_addr_is_any(&d->src) && l->is_loop)
		d->src = ns_addr_v4(0x7f000001);
	if (ns_addr_is_any(&d->src) && !net_src_for(n, l, dst, &d->src))
		return -ENETUNREACH;
	return 0;
}

int net_route_dgram(struct net *n, const struct ns_addr *dst, const struct ns_addr *src,
		    uint32_t ifindex, struct dst *ret_dst, bool *ret_is_group, bool *ret_is_bcast)
{
	struct dst d = { .generation = n->routes.generation };
	const struct ns_route *local = route_find_local(&n->routes, dst);
	bool is_bcast =
		ns_addr_to_v4(dst) == UINT32_MAX || (local && local->type == NS_ROUTE_BROADCAST);
	int err;

	if (!ns_addr_is_v4(dst) && !ns_addr_is_any(dst))
		return -EAFNOSUPPORT;
	*ret_is_bcast = is_bcast;
	*ret_is_group = is_bcast || ns_addr_is_multicast(dst);
	if (!*ret_is_group) {
		err = net_route(n, dst, src, &d);
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) - a route that was found has a link */
		if (err == 0 && ifindex && !d.link->is_loop && d.link->config.ifindex != ifindex)
			err = -ENETUNREACH;
	} else {
		if (src)
			d.src = *src;
		if (local && ifindex == 0)
			ifindex = n->links[local->link_id]->config.ifindex;
		err = route_group(n, dst, ifindex, &d);
	}
	if (err == 0)
		*ret_dst = d;
	return err;
}

bool net_dst_is_current(const struct net *n, const struct dst *d)
{
	return d->generation == n->routes.generation;
}

uint32_t net_dst_room(const struct net *n, const struct dst *d)
{
	(void)n;
	return link_room(d->link);
}

uint32_t net_dst_gso(const struct net *n, const struct dst *d, uint32_t mss, uint32_t hdr_len)
{
	(void)n;
	return link_gso_max(d->link, mss, hdr_len);
}

bool net_is_local(const struct net *n, const struct ns_addr *a)
{
	const struct ns_route *r = route_find_local(&n->routes, a);

	return r && r->type == NS_ROUTE_LOCAL;
}

int net_output(struct net *n, const struct dst *d, const struct ip_tx *ip, struct pkt *p,
	       struct mono now)
{
	if (ns_addr_is_v4(&ip->dst))
		return ip4_output(n, d, ip, p, now);
	return ip6_output(n, d, ip, p, now);
}

void net_port_unreachable(struct net *n, const struct pkt *p, const struct ip_rx *ip,
			  struct mono now)
{
	static const struct icmp6_say say = { .type = ICMP6_UNREACH, .code = ICMP6_UNREACH_PORT };

	if (ns_addr_is_v4(&ip->dst))
		icmp_unreachable(n, p, ip, ICMP4_UNREACH_PORT, now);
	else
		icmp6_error(n, p, ip, &say, now);
}

void net_confirm(struct net *n, const struct dst *d, struct mono now)
{
	if (!d->link->is_loop)
		neigh_confirm(ns_addr_is_v4(&d->nexthop) ? n->neighs : n->neighs6, d->link,
			      &d->nexthop, now);
}

static void count(struct net *n, enum drop why)
{
	const struct ns_env *env = n->core->env;

	if (why == DROP_NONE)
		return;
	drop_count(n->core->stats, why);
	if (env->trace)
		env->trace(env->ctx, "net.drop", why, 0);
}

static enum drop input(struct net *n, struct link *l, struct pkt *p, struct mono now)
{
	auto_free(pkt) mine = p;
	bool is_bcast = false;
	uint16_t type = 0;
	enum drop why;

	if (!l->config.is_up)
		return DROP_LINK_DOWN;
	why = ether_pull(l, p, &type, &is_bcast);
	if (why != DROP_NONE)
		return why;
	p->rx_time = now;
	switch (type) {
	case ETH_TYPE_IP4:
		return ip4_input(n, l, take(mine), is_bcast, now);
	case ETH_TYPE_IP6:
		return ip6_input(n, l, take(mine), is_bcast, now);
	case ETH_TYPE_ARP:
		return arp_input(n, l, take(mine), now);
	default:
		return DROP_ETH_TYPE;
	}
}

/**
 * net_input() - one received frame
 * @n:		IP layer
 * @link_id:	Link it came by, one that exists
 * @p:		Frame, its head at the Ethernet header; Consumes @p
 * @now:	Time
 */
void net_input(struct net *n, uint32_t link_id, struct pkt *p, struct mono now)
{
	struct link *l = net_link(n, link_id);

	NS_BUG_ON(!l || l->is_loop);
	stat_inc(n->core->stats, STAT_LINK_RX_FRAMES);
	stat_add(n->core->stats, STAT_LINK_RX_OCTETS, pkt_len(p));
	if (p->gso_size)
		stat_inc(n->core->stats, STAT_LINK_RX_GSO);
	count(n, input(n, l, p, now));
}

/**
 * net_run_loop() - deliver what we sent to ourselves
 * @n:		IP layer
 * @budget:	Packets at most
 * @now:	Time
 *
 * What arrives may send again; that is queued, and delivered if the budget lasts.
 *
 * Return: packets delivered
 */
uint32_t net_run_loop(struct net *n, uint32_t budget, struct mono now)
{
	struct link *l = n->links[LINK_LOOP_ID];
	uint32_t cnt = 0;
	struct pkt *p;

	while (cnt < budget && (p = loop_take(l, now)) != NULL) {
		/* no Ethernet header here; the first octet of either family says which */
		count(n, *pkt_data(p) >> 4 == 6 ? ip6_input(n, l, p, false, now)
						: ip4_input(n, l, p, false, now));
		cnt++;
	}
	return cnt;
}

/** net_flush() - hand the queued frames of every link to its driver */
void net_flush(struct net *n)
{
	for (uint32_t i = LINK_LOOP_ID + 1; i < n->link_cnt; i++)
		if (link_has_work(n->links[i]))
			link_flush(n->links[i]);
}

/** net_link_writable() - its driver has room again; false: no such link */
bool net_link_writable(struct net *n, uint32_t link_id)
{
	struct link *l = net_link(n, link_id);

	if (l)
		link_writable(l);
	return l != NULL;
}

/** net_take_starved() - has a link room again that told a transport it had none? Asked once, answered once */
bool net_take_starved(struct net *n)
{
	bool is_starved = false;

	for (uint32_t i = 0; i < n->link_cnt; i++) {
		struct link *l = n->links[i];

		if (!l->is_starved || link_room(l) == 0)
			continue;
		l->is_starved = false;
		is_starved = true;
	}
	return is_starved;
}

/** net_has_work() - something is left that needs neither a timer nor a driver to go on */
bool net_has_work(const struct net *n)
{
	for (uint32_t i = 0; i < n->link_cnt; i++)
		if (link_has_work(n->links[i]))
			return true;
	return false;
}
