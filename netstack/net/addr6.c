/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr6.c - our IPv6 addresses, the source of a packet, its path
 *
 * Theory of operation
 *
 * Addresses come from the configuration and stay until it takes them away: nothing on the wire adds,
 * changes or removes one. Duplicate address detection is not done here: who configured them did it.
 *
 * addr6_src_for() compares candidates pairwise by the rules of RFC 6724 5, first difference wins:
 *
 *   1    the destination itself
 *   2    the smallest scope that reaches it
 *   3    not deprecated
 *   5    on the link the packet leaves by
 *   6    same label (the default policy table of RFC 6724 2.1)
 *   7    not temporary (linux with use_tempaddr 0)
 *   8    longest common prefix, no longer than the source's own
 *
 * Rule 4 (mobile home) has no meaning here, 5.5 neither since no router is learned from the wire. Between
 * equals the order decides: by link, the newer first. Candidates are the addresses of all links, as in
 * Linux; link-local ones only of the link itself.
 *
 * Limits: ADDRS_MAX addresses, then -ENOSPC.
 *
 * References: RFC 6724 2.1, 3.1, 5; RFC 4291 2.7.1; RFC 4007 6; linux v6.1 net/ipv6/addrconf.c
 * ipv6_get_saddr_eval().
 */
#include "net/addr6.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "link/link.h"
#include "net/net_int.h"
#include "wire/ip6.h"

enum {
	ADDRS_MAX = 4096,
	SCOPE_LINK = 2, /* RFC 4291 2.7 */
	SCOPE_SITE = 5,
	SCOPE_GLOBAL = 14,
	ADDR_BITS = 128,
	SOLICITED_BITS = 104, /* of ff02::1:ff00:0/104 */
};

static const struct ns_addr all_nodes = { { 0xff, 2, [15] = 1 } };
static const struct ns_addr solicited_prefix = { { 0xff, 2, [11] = 1, [12] = 0xff } };

/** addr6_done() - forget all */
void addr6_done(struct addr6_list *l)
{
	free(l->v);
	*l = (struct addr6_list){ 0 };
}

/** addr6_solicited_node() - RFC 4291 2.7.1: the group that is asked for @a's MAC */
struct ns_addr addr6_solicited_node(const struct ns_addr *a)
{
	struct ns_addr g = solicited_prefix;

	memcpy(g.b + SOLICITED_BITS / 8, a->b + SOLICITED_BITS / 8,
	       sizeof(g.b) - SOLICITED_BITS / 8);
	return g;
}

static struct addr6 *find(const struct net *n, uint32_t link_id, const struct ns_addr *a)
{
	for (uint32_t i = 0; i < n->addrs6.cnt; i++)
		if (n->addrs6.v[i].link_id == link_id && ns_addr_eq(&n->addrs6.v[i].addr, a))
			return &n->addrs6.v[i];
	return NULL;
}

/** addr6_find() - @a (zoned) as an address of @l, borrowed until addresses change, or NULL */
const struct addr6 *addr6_find(const struct net *n, const struct link *l, const struct ns_addr *a)
{
	return find(n, l->id, a);
}

/** addr6_link_local() - the first link-local address of @l that may be used, borrowed, or NULL */
const struct addr6 *addr6_link_local(const struct net *n, const struct link *l)
{
	for (uint32_t i = 0; i < n->addrs6.cnt; i++) {
		const struct addr6 *a = &n->addrs6.v[i];

		if (a->link_id == l->id && !a->is_unusable && ns_addr_is_link_local(&a->addr))
			return a;
	}
	return NULL;
}

/** addr6_solicits() - is @group the solicited-node group of an address of @l? RFC 4291 2.8 */
bool addr6_solicits(const struct net *n, const struct link *l, const struct ns_addr *group)
{
	if (memcmp(group->b, solicited_prefix.b, SOLICITED_BITS / 8) != 0)
		return false;
	for (uint32_t i = 0; i < n->addrs6.cnt; i++) {
		const struct addr6 *a = &n->addrs6.v[i];

		if (a->link_id == l->id &&
		    memcmp(a->addr.b + SOLICITED_BITS / 8, group->b + SOLICITED_BITS / 8,
			   sizeof(group->b) - SOLICITED_BITS / 8) == 0)
			return true;
	}
	return false;
}

/** addr6_is_group() - RFC 4291 2.8: does a host with our addresses hear @group on @l? */
bool addr6_is_group(const struct net *n, const struct link *l, const struct ns_addr *group)
{
	return ns_addr_eq(group, &all_nodes) || group_is_joined(n, l, group) ||
	       addr6_solicits(n, l, group);
}

/** addr6_hears() - likewise of what @src sends to it */
bool addr6_hears(const struct net *n, const struct link *l, const struct ns_addr *group,
		 const struct ns_addr *src)
{
	return ns_addr_eq(group, &all_nodes) || group_hears(n, l, group, src) ||
	       addr6_solicits(n, l, group);
}

/** addr6_rezone() - a packet of ours came back by the loop: which of our links is @a of? */
struct ns_addr addr6_rezone(const struct net *n, struct ns_addr a)
{
	if (!ns_addr_is_link_local(&a))
		return a;
	for (uint32_t i = 0; i < n->addrs6.cnt; i++) {
		struct ns_addr ours = ns_addr_zoned(n->addrs6.v[i].addr, 0);

		if (ns_addr_eq(&ours, &a))
			return n->addrs6.v[i].addr;
	}
	return a;
}

struct ns_addr net_zone(const struct net *n, struct ns_addr a, uint32_t ifindex)
{
	const struct link *l = net_link_by_ifindex(n, ifindex);

	if (!ns_addr_is_link_local(&a) || ns_addr_zone(&a) != 0)
		return a;
	if (!l && ifindex == 0)
		l = addr6_link_of(n, &all_nodes);
	return l ? ns_addr_zoned(a, link_zone(l)) : a;
}

/* RFC 6724 3.1 */
static int scope_of(const struct ns_addr *a)
{
	if (ns_addr_is_multicast(a))
		return a->b[1] & 0x0f;
	if (ns_addr_is_link_local(a) || ns_addr_is_loopback(a))
		return SCOPE_LINK;
	if (a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0xc0)
		return SCOPE_SITE;
	return SCOPE_GLOBAL;
}

/* Linux' order decides between equals: by link, the wider scope first, the newer first (ipv6_link_dev_addr()). */
static uint32_t place_of(const struct addr6_list *l, const struct addr6 *a)
{
	uint32_t place = 0;

	while (place < l->cnt && l->v[place].link_id < a->link_id)
		place++;
	while (place < l->cnt && l->v[place].link_id == a->link_id &&
	       scope_of(&l->v[place].addr) > scope_of(&a->addr))
		place++;
	return place;
}

static int insert(struct addr6_list *l, const struct addr6 *a)
{
	struct addr6 *v;

	if (l->cnt >= ADDRS_MAX)
		return -ENOSPC;
	v = vec_insert(l->v, &l->cnt, &l->cap, sizeof(*v), place_of(l, a), a);
	if (!v)
		return -ENOMEM;
	l->v = v;
	return 0;
}

/* linux v6.1 net/ipv6/addrconf.c: the address itself, and its prefix on the link; @fn adds or takes each */
static int each_route(struct net *n, const struct addr6 *a,
		      int (*fn)(struct route_table *t, const struct ns_route *r))
{
	struct ns_route r = {
		.dst = a->addr,
		.prefix_len = ADDR_BITS,
		.link_id = a->link_id,
		.table = NS_TABLE_LOCAL,
		.type = NS_ROUTE_LOCAL,
		.is_v6 = true,
	};
	int err = fn(&n->routes, &r);

	if (err < 0 || a->is_routes_given || a->prefix_len == ADDR_BITS || a->prefix_len == 0)
		return err;
	r.dst = ns_addr_is_any(&a->peer) ? a->addr : a->peer;
	r.prefix_len = a->prefix_len;
	r.table = NS_TABLE_MAIN;
	r.type = NS_ROUTE_UNICAST;
	return fn(&n->routes, &r);
}

static void list_cut(struct addr6_list *l, struct addr6 *a)
{
	uint32_t i = (uint32_t)(a - l->v);

	memmove(a, a + 1, (--l->cnt - i) * sizeof(*a));
}

/**
 * addr6_set() - net_set_addr() for IPv6
 * @n:		IP layer
 * @link_id:	Link it is on, one that exists
 * @a:		Address; zoned here. A prefix of 128 bits: no route but to itself
 *
 * Return: 0, -EINVAL, -ENOSPC, -ENOMEM
 */
int addr6_set(struct net *n, uint32_t link_id, const struct ns_ifaddr *a)
{
	struct addr6 entry = { .addr = ns_addr_zoned(a->addr, link_zone(n->links[link_id])),
			       .peer = a->peer,
			       .link_id = link_id,
			       .prefix_len = a->prefix_len,
			       .is_deprecated = a->is_deprecated,
			       .is_temporary = a->is_temporary,
			       .is_unusable = a->is_unusable,
			       .is_routes_given = a->is_routes_given };
	const uint8_t *b = entry.addr.b;
	struct ns_addr group = addr6_solicited_node(&entry.addr);
	struct addr6 *old;
	int err = 0;

	if (a->prefix_len > ADDR_BITS || ns_addr_is_any(&a->addr) ||
	    ns_addr_is_multicast(&a->addr) ||
	    (ns_addr_is_loopback(&a->addr) && link_id != LINK_LOOP_ID))
		return -EINVAL;
	old = find(n, link_id, &entry.addr);
	if (old)
		*old = entry; /* keeps its place */
	else
		err = insert(&n->addrs6, &entry);
	link_hear6(n->links[link_id], (const uint8_t[]){ 0x33, 0x33, 0xff, b[13], b[14], b[15] });
	if (err == 0)
		report_change(n, n->links[link_id], &group);
	return err < 0 ? err : each_route(n, &entry, route_add);
}

/* -ESRCH: somebody has taken it away by itself, which is as good. */
static int route_take(struct route_table *t, const struct ns_route *r)
{
	int err = route_del(t, r);

	return err == -ESRCH ? 0 : err;
}

/** addr6_del() - ns_stack_del_addr() for IPv6: 0, -EADDRNOTAVAIL, -ENOMEM */
int addr6_del(struct net *n, uint32_t link_id, const struct ns_addr *a)
{
	struct ns_addr zoned = ns_addr_zoned(*a, link_zone(n->links[link_id]));
	struct addr6 *old = find(n, link_id, &zoned);
	struct ns_addr group;
	struct addr6 gone;

	if (!old)
		return -EADDRNOTAVAIL;
	gone = *old;
	list_cut(&n->addrs6, old);
	group = addr6_solicited_node(&zoned);
	report_change(n, n->links[link_id], &group);
	route_forget_src(&n->routes, &zoned); /* linux rt6_remove_prefsrc() */
	return each_route(n, &gone, route_take);
}

/** addr6_del_link() - all of a link that is gone */
void addr6_del_link(struct net *n, uint32_t link_id)
{
	for (uint32_t i = 0; i < n->addrs6.cnt;) {
		struct ns_addr a = n->addrs6.v[i].addr;

		if (n->addrs6.v[i].link_id == link_id)
			(void)!addr6_del(n, link_id, &a); /* routes go with the link anyway */
		else
			i++;
	}
}

/** addr6_deprecate() - the preferred lifetime is over (or not): 0, -EADDRNOTAVAIL */
int addr6_deprecate(struct net *n, uint32_t link_id, const struct ns_addr *a, bool is_deprecated)
{
	struct ns_addr zoned = ns_addr_zoned(*a, link_zone(n->links[link_id]));
	struct addr6 *entry = find(n, link_id, &zoned);

	if (!entry)
		return -EADDRNOTAVAIL;
	entry->is_deprecated = is_deprecated;
	return 0;
}

static uint32_t common_bits(const struct ns_addr *a, const struct ns_addr *b)
{
	for (uint32_t i = 0; i < sizeof(a->b); i++) {
		uint32_t diff = a->b[i] ^ b->b[i];

		if (diff)
			return i * 8 + (uint32_t)__builtin_clz(diff) - 24;
	}
	return ADDR_BITS;
}

/* RFC 6724 2.1, without IPv4-mapped, which is another family here. */
static int label_of(const struct ns_addr *a)
{
	static const struct {
		struct ns_addr prefix;
		uint8_t bits, label;
	} policy[] = {
		{ { { [15] = 1 } }, 128, 0 },        /* ::1 */
		{ { { 0 } }, 96, 3 },                /* IPv4-compatible */
		{ { { 0x20, 1 } }, 32, 5 },          /* Teredo */
		{ { { 0x20, 2 } }, 16, 2 },          /* 6to4 */
		{ { { 0x3f, 0xfe } }, 16, 12 },      /* 6bone */
		{ { { 0xfe, 0xc0 } }, 10, 11 },      /* site-local */
		{ { { 0x20, 1, 0, 0x10 } }, 28, 7 }, /* ORCHID, linux addrlabel.c */
		{ { { 0xfc } }, 7, 13 },             /* unique local */
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(policy); i++)
		if (common_bits(a, &policy[i].prefix) >= policy[i].bits)
			return policy[i].label;
	return 1;
}

static uint32_t prefix_match(const struct addr6 *a, const struct ns_addr *dst)
{
	return ns_min_u(common_bits(&a->addr, dst), a->prefix_len);
}

/* RFC 6724 5: is @a the better source for @dst out of @l? */
static bool is_better(const struct addr6 *a, const struct addr6 *b, const struct link *l,
		      const struct ns_addr *dst)
{
	int scope_a = scope_of(&a->addr), scope_b = scope_of(&b->addr), to = scope_of(dst);
	bool is_a, is_b;

	is_a = ns_addr_eq(&a->addr, dst); /* 1 */
	is_b = ns_addr_eq(&b->addr, dst);
	if (is_a != is_b)
		return is_a;
	if (scope_a != scope_b) /* 2 */
		return scope_a < scope_b ? scope_a >= to : scope_b < to;
	if (a->is_deprecated != b->is_deprecated) /* 3 */
		return b->is_deprecated;
	is_a = a->link_id == l->id; /* 5 */
	is_b = b->link_id == l->id;
	if (is_a != is_b)
		return is_a;
	is_a = label_of(&a->addr) == label_of(dst); /* 6 */
	is_b = label_of(&b->addr) == label_of(dst);
	if (is_a != is_b)
		return is_a;
	if (a->is_temporary != b->is_temporary) /* 7, with linux use_tempaddr 0 */
		return b->is_temporary;
	return prefix_match(a, dst) > prefix_match(b, dst); /* 8 */
}

/* RFC 6724 4. What an IPv6 address is good for does not depend on whether its link is up: Linux takes it away then. */
static bool is_candidate(const struct addr6 *a, const struct link *l)
{
	if (a->is_unusable)
		return false;
	if (ns_addr_is_loopback(&a->addr))
		return l->is_loop;
	return a->link_id == l->id || !ns_addr_is_link_local(&a->addr);
}

/**
 * addr6_src_for() - the source address for a packet
 * @n:		IP layer
 * @l:		Link it leaves by
 * @dst:	Its destination, zoned; may be a group
 * @ret_src:	Zoned
 *
 * Return: false when no address of ours can be it
 */
bool addr6_src_for(const struct net *n, const struct link *l, const struct ns_addr *dst,
		   struct ns_addr *ret_src)
{
	const struct addr6 *best = NULL;
	bool is_link_only = scope_of(dst) <= SCOPE_LINK;

	for (uint32_t i = 0; i < n->addrs6.cnt; i++) {
		const struct addr6 *a = &n->addrs6.v[i];

		if (!is_candidate(a, l) || (is_link_only && a->link_id != l->id))
			continue;
		if (!best || is_better(a, best, l, dst))
			best = a;
	}
	if (best)
		*ret_src = best->addr;
	return best != NULL;
}

/**
 * addr6_link_of() - the link of one of our addresses; of a group: the one it is joined and sent on when
 * nobody says which (linux: the first link with a route to ff00::/8)
 * @n:	IP layer
 * @a:	Zoned
 *
 * Return: NULL when there is none
 */
struct link *addr6_link_of(const struct net *n, const struct ns_addr *a)
{
	bool is_group = ns_addr_is_multicast(a);
	struct link *first = NULL;

	for (uint32_t i = 0; i < n->addrs6.cnt; i++) {
		struct link *l = n->links[n->addrs6.v[i].link_id];

		if (is_group) {
			if (!l->is_loop && l->config.is_up && (!first || l->id < first->id))
				first = l;
		} else if (ns_addr_eq(&n->addrs6.v[i].addr, a)) {
			return l;
		}
	}
	return first;
}

/**
 * addr6_route_group() - the path to a group
 * @n:		IP layer
 * @dst:	Group
 * @ifindex:	Link to leave by, 0: that of the source, else addr6_link_of(); never the loopback link
 * @d:		src is set or any; the rest is filled in
 *
 * Return: 0, -ENODEV, -ENETUNREACH, -EADDRNOTAVAIL without an address to send from
 */
int addr6_route_group(const struct net *n, const struct ns_addr *dst, uint32_t ifindex,
		      struct dst *d)
{
	struct link *l = net_link_by_ifindex(n, ifindex);

	if (!l && ifindex)
		return -ENODEV;
	if (!l && !ns_addr_is_any(&d->src) && !ns_addr_is_loopback(&d->src))
		l = addr6_link_of(n, &d->src);
	if (!l)
		l = addr6_link_of(n, dst);
	/* linux has no route to ff00::/8 by the loopback link */
	if (!l || l->is_loop || !l->config.is_up || l->config.mtu < IP6_MTU_MIN)
		return -ENETUNREACH;
	d->link = l;
	d->mtu = l->config.mtu;
	d->nexthop = *dst;
	if (ns_addr_is_any(&d->src) && !addr6_src_for(n, l, dst, &d->src))
		return -EADDRNOTAVAIL;
	return 0;
}
