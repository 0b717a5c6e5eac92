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

static void on_solicit(void *ctx, const struct neigh *ne, bool is_unicast, struct mono now)
{
	(void)now;
	arp_solicit(ctx, ne, is_unicast);
}

static void on_failed(void *ctx, const struct link *l, const struct pkt *p, struct mono now)
{
	if (ether_is_ip6(p))
		icmp6_report(ctx, l, p, -EHOSTUNREACH, now);
	else
		icmp_report(ctx, p, -EHOSTUNREACH, now);
}

static int on_xmit(void *ctx, struct link *l, const uint8_t mac[ETH_ADDR_LEN], struct pkt *p)
{
	(void)ctx;
	ether_push_ip(l, p, mac);
	return link_output(l, p);
}

static void on_solicit6(void *ctx, const struct neigh *ne, bool is_unicast, struct mono now)
{
	ndp_solicit(ctx, ne, is_unicast, now);
}

/* 127.0.0.0/8 and ::1 are ours and stay inside. */
static int add_loopback(struct net *n)
{
	const struct ns_route r = {
		.dst = ns_addr_v4(0x7f000000),
		.prefix_len = 8,
		.prefsrc = ns_addr_v4(0x7f000001),
		.link_id = LINK_LOOP_ID,
		.table = NS_TABLE_LOCAL,
		.type = NS_ROUTE_LOCAL,
		.scope = NS_SCOPE_HOST,
	};
	const struct ns_ifaddr one = { .addr = { { [15] = 1 } }, .prefix_len = 128 };
	int err;

	n->links[LINK_LOOP_ID] = loop_new(&n->core->pkts, n->core->stats);
	if (!n->links[LINK_LOOP_ID])
		return -ENOMEM;
	n->link_cnt = 1;
	route_set_link_up(&n->routes, LINK_LOOP_ID, true);
	err = route_add(&n->routes, &r);
	return err < 0 ? err : addr6_set(n, LINK_LOOP_ID, &one);
}

/** net_new() - an IP layer with the loop link only; @core outlives it; NULL without memory */
struct net *net_new(struct ns_core *core)
{
	static const struct neigh_ops ops = { .solicit = on_solicit,
					      .failed = on_failed,
					      .xmit = on_xmit };
	static const struct neigh_ops ops6 = { .solicit = on_solicit6,
					       .failed = on_failed,
					       .xmit = on_xmit };
	struct net *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->core = core;
	ip4_ids_init(&n->ids, core->env);
	icmp_limit_init(&n->icmp_limit);
	frags_init(&n->frags);
	reports_init(&n->reports);
	list_init(&n->rules.v4);
	list_init(&n->rules.v6);
	n->neighs = neigh_table_new(core, &ops, n);
	n->neighs6 = neigh_table_new(core, &ops6, n);
	if (!n->neighs || !n->neighs6 || route_table_init(&n->routes) < 0 ||
	    rules_init(&n->rules) < 0 || add_loopback(n) < 0) {
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
	reports_done(n);
	neigh_table_free(n->neighs);
	neigh_table_free(n->neighs6);
	for (uint32_t i = 0; i < n->link_cnt; i++)
		link_free(n->links[i]);
	route_table_done(&n->routes);
	rules_done(&n->rules);
	addr4_done(&n->addrs4);
	addr6_done(&n->addrs6);
	group_done(&n->groups);
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

static struct link *link_of_addr(const struct net *n, const struct ns_addr *a)
{
	const struct addr4 *mine = addr4_find(n, a);

	return mine ? n->links[mine->link_id] : NULL;
}

bool net_has_link(const struct net *n, uint32_t ifindex)
{
	return net_link_by_ifindex(n, ifindex) != NULL;
}

uint32_t net_link_ifindex(const struct link *l)
{
	return l->config.ifindex;
}

uint32_t net_rx_ifindex(const struct net *n, const struct ip_rx *ip)
{
	if (ip->link->is_loop && !ns_addr_is_v4(&ip->dst))
		return net_ifindex_of(n, &ip->dst);
	return ip->link->config.ifindex;
}

uint32_t net_ifindex_of(const struct net *n, const struct ns_addr *a)
{
	const struct link *l = ns_addr_is_v4(a) ? link_of_addr(n, a) : addr6_link_of(n, a);
	const struct route_flow f = { .dst = *a, .oif = RULE_NO_LINK, .iif = LINK_LOOP_ID };
	struct route_hit hit;

	if (l)
		return l->config.ifindex;
	if (!ns_addr_is_v4(a) && ns_addr_is_multicast(a))
		return 0;
	if (ns_addr_is_loopback(a))
		return n->links[LINK_LOOP_ID]->config.ifindex;
	return route_select(n, &f, &hit) == 0 ? n->links[hit.hop->link_id]->config.ifindex : 0;
}

void net_loop_dst(const struct net *n, const struct ns_addr *dst, struct dst *ret_dst)
{
	*ret_dst = (struct dst){ .link = n->links[LINK_LOOP_ID],
				 .nexthop = *dst,
				 .mtu = LINK_LOOP_MTU,
				 .generation = n->routes.generation };
}

bool net_dst_is_loop(const struct dst *d)
{
	return d->link->is_loop;
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

bool net_dst_takes_uso(const struct net *n, const struct dst *d, uint32_t len, uint32_t segs)
{
	(void)n;
	return link_takes_uso(d->link, len, segs);
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

static enum drop count(struct net *n, enum drop why)
{
	const struct ns_env *env = n->core->env;

	if (why == DROP_NONE)
		return why;
	drop_count(n->core->stats, why);
	if (env->trace)
		env->trace(env->ctx, "net.drop", why, 0);
	return why;
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
 *
 * Return: DROP_NONE, or why the frame died, counted
 */
enum drop net_input(struct net *n, uint32_t link_id, struct pkt *p, struct mono now)
{
	struct link *l = net_link(n, link_id);

	NS_BUG_ON(!l || l->is_loop);
	stat_inc(n->core->stats, STAT_LINK_RX_FRAMES);
	stat_add(n->core->stats, STAT_LINK_RX_OCTETS, pkt_len(p));
	if (p->gso_size)
		stat_inc(n->core->stats, STAT_LINK_RX_GSO);
	return count(n, input(n, l, p, now));
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
		(void)count(n, ether_is_ip6(p) ? ip6_input(n, l, p, false, now)
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
