/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr4.c - our IPv4 addresses, and which of them is the source
 *
 * Theory of operation
 *
 * The order is Linux's, because it decides: of each link first the primary addresses, the nearest
 * scope first and the older first among equals, then the secondary ones. addr4_select() takes the
 * first primary address whose subnet has the next hop, else the first of the link, else the first of
 * any link; never one of a scope nearer than the packet's way needs.
 *
 * An address brings the routes that Linux makes for it: itself (always), its subnet and broadcasts
 * (unless the embedder gives them). Taking it away takes them away, and the routes that prefer it as
 * their source.
 *
 * Limits: ADDRS_MAX addresses, then -ENOSPC.
 *
 * References: linux v6.1 net/ipv4/devinet.c __inet_insert_ifa(), inet_select_addr(); fib_frontend.c
 * fib_add_ifaddr(), fib_del_ifaddr().
 */
#include "net/addr4.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "link/link.h"
#include "net/net_int.h"

enum { ADDRS_MAX = 4096, ADDR_BITS = 32 };

/** addr4_done() - forget all */
void addr4_done(struct addr4_list *l)
{
	free(l->v);
	*l = (struct addr4_list){ 0 };
}

/* Linux lets a link have an address several times, with subnets of different lengths; -1: any of them. */
static struct addr4 *find_on(const struct net *n, uint32_t link_id, const struct ns_addr *a,
			     int prefix_len)
{
	for (uint32_t i = 0; i < n->addrs4.cnt; i++) {
		struct addr4 *o = &n->addrs4.v[i];

		if (o->link_id == link_id && ns_addr_eq(&o->a.addr, a) &&
		    (prefix_len < 0 || o->a.prefix_len == prefix_len))
			return o;
	}
	return NULL;
}

/** addr4_find() - @a as an address of any link, borrowed until addresses change, or NULL */
const struct addr4 *addr4_find(const struct net *n, const struct ns_addr *a)
{
	for (uint32_t i = 0; i < n->addrs4.cnt; i++)
		if (ns_addr_eq(&n->addrs4.v[i].a.addr, a))
			return &n->addrs4.v[i];
	return NULL;
}

static bool shares_prefix(const struct ns_ifaddr *a, const struct ns_addr *b)
{
	uint32_t diff = ns_addr_to_v4(&a->peer) ^ ns_addr_to_v4(b);

	return a->prefix_len == 0 || diff >> (ADDR_BITS - a->prefix_len) == 0;
}

/** addr4_is_subnet_known() - has the link an address in the subnet of @a already? Then @a is secondary */
bool addr4_is_subnet_known(const struct net *n, uint32_t link_id, const struct ns_ifaddr *a)
{
	for (uint32_t i = 0; i < n->addrs4.cnt; i++) {
		const struct addr4 *o = &n->addrs4.v[i];

		if (o->link_id == link_id && o->a.prefix_len == a->prefix_len &&
		    shares_prefix(&o->a, &a->addr) && !ns_addr_eq(&o->a.addr, &a->addr))
			return true;
	}
	return false;
}

/* Where __inet_insert_ifa() puts it. */
static uint32_t place_of(const struct addr4_list *l, const struct addr4 *a)
{
	uint32_t i = 0, place;

	while (i < l->cnt && l->v[i].link_id < a->link_id)
		i++;
	place = i;
	for (; i < l->cnt && l->v[i].link_id == a->link_id; i++)
		if (a->a.is_secondary || (!l->v[i].a.is_secondary && a->a.scope <= l->v[i].a.scope))
			place = i + 1;
	return place;
}

static int insert(struct addr4_list *l, const struct addr4 *a)
{
	struct addr4 *v;

	if (l->cnt >= ADDRS_MAX)
		return -ENOSPC;
	v = vec_insert(l->v, &l->cnt, &l->cap, sizeof(*v), place_of(l, a), a);
	if (!v)
		return -ENOMEM;
	l->v = v;
	return 0;
}

static bool is_subnet(const struct ns_ifaddr *a)
{
	return a->prefix_len > 0 && a->prefix_len < ADDR_BITS;
}

/* What fib_add_ifaddr() makes; @fn adds or takes away each. */
static int each_route(struct net *n, const struct addr4 *a,
		      int (*fn)(struct route_table *t, const struct ns_route *r))
{
	const struct ns_ifaddr *i = &a->a;
	struct ns_route r = {
		.dst = i->addr,
		.prefix_len = ADDR_BITS,
		.prefsrc = i->addr,
		.link_id = a->link_id,
		.table = NS_TABLE_LOCAL,
		.type = NS_ROUTE_LOCAL,
		.scope = NS_SCOPE_HOST,
	};
	int err = fn(&n->routes, &r);

	if (i->is_routes_given || (!is_subnet(i) && ns_addr_eq(&i->peer, &i->addr)))
		return err;
	r.dst = i->peer;
	r.scope = NS_SCOPE_LINK;
	if (i->prefix_len < ADDR_BITS - 1 && is_subnet(i) && err == 0) {
		r.dst = ns_addr_v4(ns_addr_to_v4(&i->peer) | UINT32_MAX >> i->prefix_len);
		r.type = NS_ROUTE_BROADCAST;
		err = fn(&n->routes, &r);
		r.dst = i->peer;
	}
	if (i->is_secondary || err < 0)
		return err;
	r.prefix_len = i->prefix_len;
	r.table = NS_TABLE_MAIN;
	r.type = NS_ROUTE_UNICAST;
	return fn(&n->routes, &r);
}

/**
 * addr4_set() - ns_stack_set_addr() for IPv4
 * @n:		IP layer
 * @link_id:	One that exists
 * @a:		Address; its own subnet when it has no peer
 *
 * Return: 0, -EINVAL, -ENOSPC, -ENOMEM
 */
int addr4_set(struct net *n, uint32_t link_id, const struct ns_ifaddr *a)
{
	struct addr4 entry = { .a = *a, .link_id = link_id };
	struct addr4 *old = find_on(n, link_id, &a->addr, a->prefix_len);
	int err;

	if (a->prefix_len > ADDR_BITS || ns_addr_is_any(&a->addr) ||
	    ns_addr_is_multicast(&a->addr) || ns_addr_to_v4(&a->addr) == UINT32_MAX)
		return -EINVAL;
	if (ns_addr_is_any(&a->peer))
		entry.a.peer = a->addr;
	else if (!ns_addr_is_v4(&a->peer))
		return -EINVAL;
	if (old) { /* its place may be another now */
		uint32_t i = (uint32_t)(old - n->addrs4.v);

		memmove(old, old + 1, (--n->addrs4.cnt - i) * sizeof(*old));
	}
	err = insert(&n->addrs4, &entry);
	return err < 0 ? err : each_route(n, &entry, route_add);
}

/* -ESRCH: somebody has taken it away by itself, which is as good. */
static int route_take(struct route_table *t, const struct ns_route *r)
{
	int err = route_del(t, r);

	return err == -ESRCH ? 0 : err;
}

static bool prefers(const struct route *r, const void *ctx)
{
	return ns_addr_eq(&r->r.prefsrc, ctx);
}

/** addr4_del() - ns_stack_del_addr() for IPv4: 0, -EADDRNOTAVAIL, -ENOMEM */
int addr4_del(struct net *n, uint32_t link_id, const struct ns_addr *a)
{
	struct addr4 *old = find_on(n, link_id, a, -1);
	const struct addr4 *other;
	struct addr4 gone;
	uint32_t i;
	int err;

	if (!old)
		return -EADDRNOTAVAIL;
	gone = *old;
	i = (uint32_t)(old - n->addrs4.v);
	memmove(old, old + 1, (--n->addrs4.cnt - i) * sizeof(*old));
	if (!addr4_find(n, &gone.a.addr)) /* linux fib_sync_down_addr(): nothing may prefer it */
		route_del_if(&n->routes, prefers, &gone.a.addr);
	err = each_route(n, &gone, route_take);
	other = find_on(n, link_id, &gone.a.addr, -1);
	return err < 0 || !other ? err : each_route(n, other, route_add);
}

/** addr4_del_link() - all of a link that is gone */
void addr4_del_link(struct net *n, uint32_t link_id)
{
	for (uint32_t i = 0; i < n->addrs4.cnt;) {
		struct ns_addr a = n->addrs4.v[i].a.addr;

		/* out of memory for a key to search with: the link's routes go with the link anyway */
		if (n->addrs4.v[i].link_id == link_id)
			(void)!addr4_del(n, link_id, &a);
		else
			i++;
	}
}

/* A link's part of inet_select_addr(). */
static bool select_on(const struct net *n, uint32_t link_id, const struct ns_addr *dst,
		      uint8_t scope, struct ns_addr *ret_src)
{
	const struct ns_ifaddr *first = NULL;

	for (uint32_t i = 0; i < n->addrs4.cnt; i++) {
		const struct ns_ifaddr *a = &n->addrs4.v[i].a;

		if (n->addrs4.v[i].link_id != link_id || a->is_secondary || a->scope > scope)
			continue;
		if (!dst || shares_prefix(a, dst)) {
			*ret_src = a->addr;
			return true;
		}
		if (!first)
			first = a;
	}
	if (first)
		*ret_src = first->addr;
	return first != NULL;
}

/**
 * addr4_select() - the source Linux would choose (inet_select_addr())
 * @n:		IP layer
 * @l:		Link the packet leaves by
 * @dst:	Next hop, or NULL: any subnet will do
 * @scope:	NS_SCOPE_*: no address nearer than this
 * @ret_src:	An address of @l in @dst's subnet, else @l's first, else the first of any link
 *
 * Return: false when there is none
 */
bool addr4_select(const struct net *n, const struct link *l, const struct ns_addr *dst,
		  uint8_t scope, struct ns_addr *ret_src)
{
	if (dst && (ns_addr_is_any(dst) || !ns_addr_is_v4(dst)))
		dst = NULL;
	if (select_on(n, l->id, dst, scope, ret_src))
		return true;
	for (uint32_t i = 0; i < n->addrs4.cnt; i++) {
		const struct ns_ifaddr *a = &n->addrs4.v[i].a;

		if (a->is_secondary || a->scope == NS_SCOPE_LINK || a->scope > scope)
			continue;
		*ret_src = a->addr;
		return true;
	}
	return false;
}
