/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - links, addresses, routes, rules and neighbours come, change and go
 *
 * Theory of operation
 *
 * Each function here is the ns_stack_ function of its name. What changes a path moves the generation
 * of the routing table on; transports compare it before they send. Rules name links, so after every
 * change of links or rules the names are looked up again.
 *
 * A link that is gone leaves its struct behind, down and without a name, because paths that nobody
 * has looked up again still point at it; the next link takes it over.
 *
 * Limits: ROUTE_LINKS_MAX links, then -ENOSPC.
 */
#include <errno.h>
#include <string.h>

#include "net/net.h"
#include "net/net_int.h"
#include "wire/eth.h"

enum {
	MTU_MIN = 68,    /* octets, RFC 791 */
	MTU_MAX = 65535, /* octets */
};

static uint32_t id_by_name(const void *ctx, const char *name)
{
	const struct net *n = ctx;

	for (uint32_t i = 0; i < n->link_cnt; i++)
		if (memcmp(n->links[i]->config.name, name, NS_LINK_NAME_LEN) == 0)
			return i;
	return RULE_NO_LINK;
}

static void rules_changed(struct net *n)
{
	rules_resolve(&n->rules, id_by_name, n);
	n->routes.generation++;
}

/* ---- links ---- */

static struct ns_link_config config_of(const struct ns_link_config *c)
{
	struct ns_link_config config = *c;

	rule_clean_name(config.name);
	config.mtu = ns_max_u(MTU_MIN, ns_min_u(config.mtu, MTU_MAX));
	return config;
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
	struct ns_link_config config = config_of(c);
	uint32_t id = LINK_LOOP_ID + 1;

	if (!c->ops || !c->ops->xmit || eth_is_multicast(c->mac))
		return -EINVAL;
	while (id < n->link_cnt && !n->links[id]->is_gone)
		id++;
	if (id == ROUTE_LINKS_MAX)
		return -ENOSPC;
	if (id < n->link_cnt) {
		link_renew(n->links[id], id, &config);
	} else {
		n->links[id] = link_new(id, &config, &n->core->pkts, n->core->stats);
		if (!n->links[id])
			return -ENOMEM;
		n->link_cnt++;
	}
	route_set_link_up(&n->routes, id, c->is_up);
	rules_changed(n);
	group_add_link(n, n->links[id]);
	*ret_link_id = id;
	return 0;
}

/** net_set_link() - ns_stack_set_link() */
int net_set_link(struct net *n, uint32_t link_id, const struct ns_link_config *c)
{
	struct ns_link_config config = config_of(c);
	struct link *l = net_link(n, link_id);

	if (!l || l->is_loop || l->is_gone)
		return -ENODEV;
	if (eth_is_multicast(c->mac))
		return -EINVAL;
	link_set_config(l, &config);
	rules_changed(n);
	return 0;
}

/** net_set_link_up() - ns_stack_set_link_up(): its routes come and go with it; -ENODEV */
int net_set_link_up(struct net *n, uint32_t link_id, bool is_up)
{
	struct link *l = net_link(n, link_id);

	if (!l || l->is_loop || l->is_gone)
		return -ENODEV;
	route_set_link_up(&n->routes, link_id, is_up);
	link_set_up(l, is_up);
	if (is_up)
		report_link_up(n, l);
	if (!is_up) {
		neigh_flush_link(n->neighs, l, false);
		neigh_flush_link(n->neighs6, l, false);
	}
	return 0;
}

/** net_del_link() - ns_stack_del_link(): 0, -ENODEV */
int net_del_link(struct net *n, uint32_t link_id)
{
	struct link *l = net_link(n, link_id);

	if (!l || l->is_loop || l->is_gone)
		return -ENODEV;
	addr4_del_link(n, link_id);
	addr6_del_link(n, link_id);
	report_del_link(n, l);
	route_del_link(&n->routes, link_id);
	neigh_flush_link(n->neighs, l, true);
	neigh_flush_link(n->neighs6, l, true);
	link_retire(l);
	rules_changed(n);
	return 0;
}

/* ---- addresses ---- */

static bool is_link_there(const struct net *n, uint32_t link_id)
{
	const struct link *l = net_link(n, link_id);

	return l && !l->is_gone;
}

/** net_set_addr() - ns_stack_set_addr() */
int net_set_addr(struct net *n, uint32_t link_id, const struct ns_ifaddr *a)
{
	int err;

	if (!is_link_there(n, link_id))
		return -ENODEV;
	err = ns_addr_is_v4(&a->addr) ? addr4_set(n, link_id, a) : addr6_set(n, link_id, a);
	n->routes.generation++;
	return err;
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
	struct ns_ifaddr i = { .addr = *a, .peer = *a, .prefix_len = prefix_len };

	if (ns_addr_is_v4(a))
		i.is_secondary = prefix_len <= 32 && addr4_is_subnet_known(n, link_id, &i);
	else
		i.peer = (struct ns_addr){ { 0 } };
	return net_set_addr(n, link_id, &i);
}

/** net_del_addr() - ns_stack_del_addr() */
int net_del_addr(struct net *n, uint32_t link_id, const struct ns_addr *a)
{
	if (!is_link_there(n, link_id))
		return -ENODEV;
	n->routes.generation++;
	return ns_addr_is_v4(a) ? addr4_del(n, link_id, a) : addr6_del(n, link_id, a);
}

/** net_deprecate_addr() - ns_stack_deprecate_addr(): 0, -ENODEV, -EADDRNOTAVAIL for one that is not there */
int net_deprecate_addr(struct net *n, uint32_t link_id, const struct ns_addr *a, bool is_deprecated)
{
	if (!is_link_there(n, link_id))
		return -ENODEV;
	return addr6_deprecate(n, link_id, a, is_deprecated);
}

/* ---- routes and rules ---- */

/* Addresses as the stack has them: link-local ones with the zone of the link. */
static int route_call(struct net *n, const struct ns_route *r,
		      int (*fn)(struct route_table *t, const struct ns_route *r))
{
	struct ns_nexthop hops[ROUTE_HOPS_MAX];
	struct ns_route zoned = *r;
	uint16_t zone;

	if (r->nexthop_cnt > ROUTE_HOPS_MAX)
		return -EINVAL;
	if (!is_link_there(n, r->nexthop_cnt ? r->nexthops[0].link_id : r->link_id))
		return -ENODEV;
	for (uint32_t i = 0; i < r->nexthop_cnt; i++) {
		hops[i] = r->nexthops[i];
		if (!is_link_there(n, hops[i].link_id))
			return -ENODEV;
		hops[i].gateway =
			ns_addr_zoned(hops[i].gateway, link_zone(n->links[hops[i].link_id]));
	}
	zoned.nexthops = hops;
	zone = link_zone(n->links[r->nexthop_cnt ? hops[0].link_id : r->link_id]);
	zoned.dst = ns_addr_zoned(r->dst, zone);
	zoned.from = ns_addr_zoned(r->from, zone);
	zoned.gateway = ns_addr_zoned(r->gateway, zone);
	zoned.prefsrc = ns_addr_zoned(r->prefsrc, zone);
	return fn(&n->routes, &zoned);
}

/** net_add_route() - ns_stack_add_route(): 0, -ENODEV for a link that is not there, or what route_add() says */
int net_add_route(struct net *n, const struct ns_route *r)
{
	return route_call(n, r, route_add);
}

/** net_replace_route() - ns_stack_replace_route() */
int net_replace_route(struct net *n, const struct ns_route *r)
{
	return route_call(n, r, route_replace);
}

/** net_del_route() - ns_stack_del_route(); a route over a link that is gone went with it: -ESRCH */
int net_del_route(struct net *n, const struct ns_route *r)
{
	int err = route_call(n, r, route_del);

	return err == -ENODEV ? -ESRCH : err;
}

/** net_add_rule() - ns_stack_add_rule() */
int net_add_rule(struct net *n, const struct ns_rule *r)
{
	int err = rule_add(&n->rules, r);

	rules_changed(n);
	return err;
}

/** net_del_rule() - ns_stack_del_rule() */
int net_del_rule(struct net *n, const struct ns_rule *r)
{
	int err = rule_del(&n->rules, r);

	rules_changed(n);
	return err;
}

/** net_flush_rules() - ns_stack_flush_rules() */
void net_flush_rules(struct net *n, bool is_v6)
{
	rules_flush(&n->rules, is_v6);
	rules_changed(n);
}

/** net_each_route() - ns_stack_each_route() */
void net_each_route(const struct net *n, void (*fn)(void *ctx, const struct ns_route *r), void *ctx)
{
	route_each(&n->routes, fn, ctx);
}

/** net_each_rule() - ns_stack_each_rule() */
void net_each_rule(const struct net *n, void (*fn)(void *ctx, const struct ns_rule *r), void *ctx)
{
	rules_each(&n->rules, fn, ctx);
}

/* ---- neighbours ---- */

static struct neigh_table *neighs_of(struct net *n, const struct ns_addr *a)
{
	return ns_addr_is_v4(a) ? n->neighs : n->neighs6;
}

/** net_add_neigh() - ns_stack_add_neigh(): 0, -ENODEV, -EINVAL for a group address as MAC, -ENOMEM */
int net_add_neigh(struct net *n, uint32_t link_id, const struct ns_addr *a, const uint8_t mac[6])
{
	struct ns_addr zoned;

	if (!is_link_there(n, link_id) || link_id == LINK_LOOP_ID)
		return -ENODEV;
	if (eth_is_multicast(mac))
		return -EINVAL;
	zoned = ns_addr_zoned(*a, link_zone(n->links[link_id]));
	return neigh_add_permanent(neighs_of(n, a), n->links[link_id], &zoned, mac);
}

/** net_del_neigh() - ns_stack_del_neigh(): 0, -ENODEV, -ENOENT */
int net_del_neigh(struct net *n, uint32_t link_id, const struct ns_addr *a)
{
	struct ns_addr zoned;

	if (!is_link_there(n, link_id))
		return -ENODEV;
	zoned = ns_addr_zoned(*a, link_zone(n->links[link_id]));
	return neigh_forget(neighs_of(n, a), n->links[link_id], &zoned);
}
