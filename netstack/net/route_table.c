/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_table.c - all routes of all tables: longest prefix first
 *
 * Theory of operation
 *
 * One hash table holds every route, keyed by (table, prefix length, prefix). A walk goes through
 * the lengths that exist in a table, longest first, and probes the hash once for each: containers
 * have few lengths, whatever the number of routes. Routes of one key are sorted as Linux keeps
 * them: IPv6 by the length of their source prefix, IPv4 by TOS, both longest or largest first; then
 * by metric; the older first among equals. Which of them a packet takes is for route_select.c.
 *
 * Both families share the hash: an IPv4 prefix of n bits is an IPv6-mapped one of 96 + n, and a
 * walk for an IPv4 address never looks at fewer than 96.
 *
 * The hash is not keyed: routes come from the configuration, not from the network.
 *
 * Invariants: every route has at least one next hop, if only an empty one (blackhole). A table that
 * has lost its last route keeps its place: indices stay good.
 *
 * Limits: ROUTE_MAX routes, ROUTE_TABLES_MAX tables, ROUTE_HOPS_MAX next hops; then -ENOSPC.
 *
 * References: linux v6.1 net/ipv4/fib_trie.c fib_table_insert(), net/ipv6/ip6_fib.c
 * fib6_add_rt2node().
 */
#include "net/route_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
enum {
	BUCKETS_MIN = 64,
	V4_BITS = 96, /* of an IPv4 address' prefix in front of the address */
	ADDR_BITS = 128,
	WEIGHT_MAX = 256,
};

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t key_hash(const struct ns_addr *prefix, uint32_t prefix_bits, uint32_t table_idx)
{
	uint64_t h = load64(prefix->b) * UINT64_C(0x9e3779b97f4a7c15);

	h ^= (load64(prefix->b + 8) ^ (prefix_bits << 8 | table_idx)) *
	     UINT64_C(0xc2b2ae3d27d4eb4f);
	return (uint32_t)((h ^ h >> 29) >> 16);
}

static struct list *bucket_of(const struct route_table *t, const struct ns_addr *prefix,
			      uint32_t prefix_bits, uint32_t table_idx)
{
	return &t->buckets[key_hash(prefix, prefix_bits, table_idx) & (t->bucket_cnt - 1)];
}

static struct list *bucket_of_route(const struct route_table *t, const struct route *r)
{
	return bucket_of(t, &r->r.dst, r->prefix_bits, r->table_idx);
}

static struct list *buckets_new(uint32_t cnt)
{
	struct list *l = malloc(cnt * sizeof(*l));

	for (uint32_t i = 0; l && i < cnt; i++)
		list_init(&l[i]);
	return l;
}

/** route_table_init() - no routes, all links down; 0 or -ENOMEM */
int route_table_init(struct route_table *t)
{
	struct list *buckets = buckets_new(BUCKETS_MIN);

	if (!buckets)
		return -ENOMEM;
	*t = (struct route_table){ .buckets = buckets, .bucket_cnt = BUCKETS_MIN, .generation = 1 };
	return 0;
}

/** route_table_done() - free every route; a table that was never initialised is fine */
void route_table_done(struct route_table *t)
{
	for (uint32_t i = 0; i < t->bucket_cnt; i++) {
		struct list *n;

		while ((n = list_pop(&t->buckets[i])) != NULL)
			free(list_entry(n, struct route, hash));
	}
	free(t->buckets);
	free(t->tables);
	*t = (struct route_table){ 0 };
}

static void table_grow(struct route_table *t)
{
	struct list *old = t->buckets, *buckets = buckets_new(t->bucket_cnt * 2);
	uint32_t old_cnt = t->bucket_cnt;

	if (!buckets)
		return;
	t->buckets = buckets;
	t->bucket_cnt = old_cnt * 2;
	for (uint32_t i = 0; i < old_cnt; i++) {
		struct list *n;

		/* in order, so that routes of one key stay sorted */
		while ((n = list_pop(&old[i])) != NULL)
			list_push(bucket_of_route(t, list_entry(n, struct route, hash)), n);
	}
	free(old);
}

/* ---- tables ---- */

static bool table_find(const struct route_table *t, uint32_t id, uint32_t *ret_idx)
{
	for (uint32_t i = 0; i < t->table_cnt; i++) {
		if (t->tables[i].id == id) {
			*ret_idx = i;
			return true;
		}
	}
	return false;
}

static int table_make(struct route_table *t, uint32_t id, uint32_t *ret_idx)
{
	struct route_lengths *tables;

	if (table_find(t, id, ret_idx))
		return 0;
	if (t->table_cnt == ROUTE_TABLES_MAX)
		return -ENOSPC;
	tables = vec_room(t->tables, t->table_cnt, &t->table_cap, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	t->tables = tables;
	memset(&t->tables[t->table_cnt], 0, sizeof(*t->tables));
	t->tables[t->table_cnt].id = id;
	*ret_idx = t->table_cnt++;
	return 0;
}

static bool is_odd(const struct ns_route *r)
{
	return !r->is_v6 && r->table != NS_TABLE_LOCAL && r->type != NS_ROUTE_UNICAST &&
	       route_needs_link(r);
}

static void lengths_count(struct route_table *t, const struct route *r, bool is_more)
{
	struct route_lengths *l = &t->tables[r->table_idx];
	uint64_t bit = UINT64_C(1) << (r->prefix_bits % 64);

	t->odd_cnt += is_odd(&r->r) ? is_more ? 1 : UINT32_MAX : 0;
	l->cnt[r->prefix_bits] += is_more ? 1 : UINT32_MAX;
	if (l->cnt[r->prefix_bits])
		l->set[r->prefix_bits / 64] |= bit;
	else
		l->set[r->prefix_bits / 64] &= ~bit;
}

/* ---- one route ---- */

static struct ns_addr addr_mask(const struct ns_addr *a, uint32_t bits)
{
	struct ns_addr m = { { 0 } };

	memcpy(m.b, a->b, bits / 8);
	if (bits % 8)
		m.b[bits / 8] = a->b[bits / 8] & (uint8_t)(0xff00u >> (bits % 8));
	return m;
}

static bool is_zero(const struct ns_addr *a)
{
	static const struct ns_addr zero;

	return ns_addr_eq(a, &zero);
}

/* "Any" of no family is a default route's destination: the other addresses tell which, then is_v6. */
static bool is_route_v4(const struct ns_route *r)
{
	if (!is_zero(&r->dst))
		return ns_addr_is_v4(&r->dst);
	if (!is_zero(&r->gateway) && !r->nexthop_cnt)
		return ns_addr_is_v4(&r->gateway);
	if (!is_zero(&r->prefsrc))
		return ns_addr_is_v4(&r->prefsrc);
	return !r->is_v6;
}

static uint32_t table_of(const struct ns_route *r)
{
	bool is_ours = r->type == NS_ROUTE_LOCAL || r->type == NS_ROUTE_BROADCAST;

	if (r->table)
		return r->table;
	return is_ours ? NS_TABLE_LOCAL : NS_TABLE_MAIN;
}

static bool is_hop_sane(const struct ns_nexthop *h)
{
	return h->link_id < ROUTE_LINKS_MAX && h->weight <= WEIGHT_MAX;
}

static bool is_route_sane(const struct ns_route *r, bool is_v4)
{
	uint32_t bits = is_v4 ? 32 : ADDR_BITS;

	if (r->prefix_len > bits || r->from_len > ADDR_BITS || (is_v4 && r->from_len) ||
	    r->type >= NS_ROUTE_TYPE_COUNT || r->link_id >= ROUTE_LINKS_MAX ||
	    r->nexthop_cnt > ROUTE_HOPS_MAX)
		return false;
	for (uint32_t i = 0; i < r->nexthop_cnt; i++)
		if (!is_hop_sane(&r->nexthops[i]))
			return false;
	return true;
}

/* The fields of a single next hop say what the first of several is. */
static void show_first_hop(struct ns_route *r)
{
	r->gateway = r->nexthops[0].gateway;
	r->link_id = r->nexthops[0].link_id;
	r->is_onlink = r->nexthops[0].is_onlink;
}

static void hops_copy(struct route *n, const struct ns_route *r)
{
	const struct ns_nexthop one = {
		.gateway = r->gateway, .link_id = r->link_id, .weight = 1, .is_onlink = r->is_onlink
	};

	n->r.nexthop_cnt = r->nexthop_cnt ? r->nexthop_cnt : 1;
	memcpy(n->hops, r->nexthop_cnt ? r->nexthops : &one, n->r.nexthop_cnt * sizeof(one));
	for (uint32_t i = 0; i < n->r.nexthop_cnt; i++)
		if (n->hops[i].weight == 0)
			n->hops[i].weight = 1;
	n->r.nexthops = n->hops;
	show_first_hop(&n->r);
}

/* A copy of @r in the form the table keeps; not in it yet. */
static int route_new(struct route_table *t, const struct ns_route *r, struct route **ret_route)
{
	bool is_v4 = is_route_v4(r);
	struct ns_addr dst = is_v4 ? ns_addr_v4(ns_addr_to_v4(&r->dst)) : r->dst;
	uint32_t table_idx;
	struct route *n;
	int err;

	if (!is_route_sane(r, is_v4))
		return -EINVAL;
	err = table_make(t, table_of(r), &table_idx);
	if (err < 0)
		return err;
	n = malloc(sizeof(*n) + (r->nexthop_cnt ? r->nexthop_cnt : 1) * sizeof(n->hops[0]));
	if (!n)
		return -ENOMEM;
	*n = (struct route){ .r = *r, .table_idx = table_idx };
	hops_copy(n, r);
	n->prefix_bits = (uint8_t)(r->prefix_len + (is_v4 ? V4_BITS : 0));
	n->r.is_v6 = !is_v4;
	n->r.table = table_of(r);
	n->r.dst = addr_mask(&dst, n->prefix_bits);
	n->r.from = addr_mask(&r->from, r->from_len);
	*ret_route = n;
	return 0;
}

static bool is_same_key(const struct route *a, const struct ns_addr *prefix, uint32_t bits,
			uint32_t table_idx)
{
	return a->prefix_bits == bits && a->table_idx == table_idx && ns_addr_eq(&a->r.dst, prefix);
}

/* Linux' name of a route. */
static bool is_same_name(const struct route *a, const struct route *b)
{
	return is_same_key(a, &b->r.dst, b->prefix_bits, b->table_idx) && a->r.tos == b->r.tos &&
	       a->r.metric == b->r.metric && a->r.from_len == b->r.from_len &&
	       ns_addr_eq(&a->r.from, &b->r.from);
}

static bool are_hops_same(const struct route *a, const struct route *b)
{
	if (a->r.nexthop_cnt != b->r.nexthop_cnt)
		return false;
	for (uint32_t i = 0; i < a->r.nexthop_cnt; i++)
		if (a->hops[i].link_id != b->hops[i].link_id ||
		    !ns_addr_eq(&a->hops[i].gateway, &b->hops[i].gateway))
			return false;
	return true;
}

/* ---- changing the table ---- */

/* Does @r belong in front of @o, which has the same key? */
static bool is_before(const struct route *r, const struct route *o)
{
	if (r->r.from_len != o->r.from_len)
		return r->r.from_len > o->r.from_len;
	if (r->r.tos != o->r.tos)
		return r->r.tos > o->r.tos;
	return r->r.metric < o->r.metric;
}

static void unlink_free(struct route_table *t, struct route *r)
{
	lengths_count(t, r, false);
	list_del(&r->hash);
	free(r);
	t->cnt--;
	t->generation++;
}

/* In @old's place, or where it belongs; -ENOSPC frees @r. */
static int insert(struct route_table *t, struct route *r, struct route *old)
{
	struct list *bucket = bucket_of_route(t, r);
	struct list *behind = bucket; /* list_push() puts in front of it: at the end */

	if (old) {
		list_push(&old->hash, &r->hash);
		unlink_free(t, old);
	} else {
		if (t->cnt >= ROUTE_MAX) {
			free(r);
			return -ENOSPC;
		}
		list_for_each (n, bucket) {
			const struct route *o = list_entry(n, struct route, hash);

			if (is_same_key(o, &r->r.dst, r->prefix_bits, r->table_idx) &&
			    is_before(r, o)) {
				behind = n;
				break;
			}
		}
		list_push(behind, &r->hash);
	}
	lengths_count(t, r, true);
	t->generation++;
	if (++t->cnt > t->bucket_cnt)
		table_grow(t);
	return 0;
}

static int add(struct route_table *t, const struct ns_route *r, bool is_replace)
{
	struct route *n, *old = NULL;
	int err = route_new(t, r, &n);

	if (err < 0)
		return err;
	list_for_each (it, bucket_of_route(t, n)) {
		struct route *o = list_entry(it, struct route, hash);

		if (is_same_name(o, n) &&
		    (is_replace || (o->r.type == n->r.type && are_hops_same(o, n) &&
				    ns_addr_eq(&o->r.prefsrc, &n->r.prefsrc)))) {
			old = o;
			break;
		}
	}
	return insert(t, n, old);
}

/**
 * route_add() - ns_stack_add_route(): add a route, or give an equal one a new MTU
 * @t:	Table
 * @r:	Copied. Its prefixes are cut to their lengths; links are not checked here
 *
 * A gateway needs no route of its own (onlink): the kernel the route was read from has judged it.
 *
 * Return: 0, -EINVAL for a prefix length, type, link or weight out of range, -ENOSPC, -ENOMEM
 */
int route_add(struct route_table *t, const struct ns_route *r)
{
	return add(t, r, false);
}

/** route_replace() - ns_stack_replace_route(); errors as route_add() */
int route_replace(struct route_table *t, const struct ns_route *r)
{
	return add(t, r, true);
}

/** route_del() - ns_stack_del_route(): 0, -ESRCH, -EINVAL, -ENOMEM */
int route_del(struct route_table *t, const struct ns_route *r)
{
	bool is_any_hop = !r->nexthop_cnt && !r->link_id && ns_addr_is_any(&r->gateway);
	struct route *key;
	int err = route_new(t, r, &key);

	if (err < 0)
		return err;
	err = -ESRCH;
	list_for_each (n, bucket_of_route(t, key)) {
		struct route *o = list_entry(n, struct route, hash);

		if (is_same_name(o, key) && o->r.type == key->r.type &&
		    (is_any_hop || are_hops_same(o, key))) {
			unlink_free(t, o);
			err = 0;
			break;
		}
	}
	free(key);
	return err;
}

/** route_del_if() - every route @is_to_go says yes to */
void route_del_if(struct route_table *t, bool (*is_to_go)(const struct route *r, const void *ctx),
		  const void *ctx)
{
	for (uint32_t i = 0; i < t->bucket_cnt; i++) {
		list_for_each_safe (n, &t->buckets[i]) {
			struct route *r = list_entry(n, struct route, hash);

			if (is_to_go(r, ctx))
				unlink_free(t, r);
		}
	}
}

static bool has_no_hop_left(const struct route *r, const void *ctx)
{
	(void)ctx;
	return r->r.nexthop_cnt == 0;
}

/** route_del_link() - the next hops over a link that is gone, and routes that had no other */
void route_del_link(struct route_table *t, uint32_t link_id)
{
	for (uint32_t i = 0; i < t->bucket_cnt; i++) {
		list_for_each (n, &t->buckets[i]) {
			struct route *r = list_entry(n, struct route, hash);
			uint32_t kept = 0;

			if (!route_needs_link(&r->r))
				continue;
			for (uint32_t h = 0; h < r->r.nexthop_cnt; h++)
				if (r->hops[h].link_id != link_id)
					r->hops[kept++] = r->hops[h];
			r->r.nexthop_cnt = kept;
			if (kept)
				show_first_hop(&r->r);
		}
	}
	route_del_if(t, has_no_hop_left, NULL);
	t->is_link_up[link_id] = false;
	t->generation++;
}

/** route_forget_src() - routes that prefer @src prefer none from here on */
void route_forget_src(struct route_table *t, const struct ns_addr *src)
{
	for (uint32_t i = 0; i < t->bucket_cnt; i++) {
		list_for_each (n, &t->buckets[i]) {
			struct ns_route *r = &list_entry(n, struct route, hash)->r;

			if (ns_addr_eq(&r->prefsrc, src))
				r->prefsrc = (struct ns_addr){ { 0 } };
		}
	}
	t->generation++;
}

/** route_each() - every route, in no order; @fn changes nothing */
void route_each(const struct route_table *t, void (*fn)(void *ctx, const struct ns_route *r),
		void *ctx)
{
	for (uint32_t i = 0; i < t->bucket_cnt; i++)
		list_for_each (n, &t->buckets[i])
			fn(ctx, &list_entry(n, struct route, hash)->r);
}

/** route_set_link_up() - next hops over a link that is down are not there */
void route_set_link_up(struct route_table *t, uint32_t link_id, bool is_up)
{
	NS_BUG_ON(link_id >= ROUTE_LINKS_MAX);
	if (t->is_link_up[link_id] == is_up)
		return;
	t->is_link_up[link_id] = is_up;
	t->generation++;
}

/* ---- looking up ---- */

/* The longest length of a table below @bits + 1, or -1. */
static int next_length(const struct route_lengths *l, int bits)
{
	for (int word = bits / 64; bits >= 0 && word >= 0; word--) {
		uint64_t set = l->set[word];

		if (word == bits / 64 && bits % 64 != 63)
			set &= (UINT64_C(1) << (bits % 64 + 1)) - 1;
		if (set)
			return word * 64 + 63 - __builtin_clzll(set);
	}
	return -1;
}

static const struct route *next_of_key(const struct list *head, struct list *n,
				       const struct ns_addr *prefix, uint32_t bits,
				       uint32_t table_idx)
{
	for (; n != head; n = n->next) {
		const struct route *r = list_entry(n, const struct route, hash);

		if (is_same_key(r, prefix, bits, table_idx))
			return r;
	}
	return NULL;
}

/** route_walk_begin() - the routes of table @table_id that cover @dst; false: there is no such table */
bool route_walk_begin(struct route_walk *w, const struct route_table *t, const struct ns_addr *dst,
		      uint32_t table_id)
{
	*w = (struct route_walk){ .t = t, .dst = *dst, .bits = ADDR_BITS + 1 };
	return table_find(t, table_id, &w->table_idx);
}

/** route_walk_prefix() - the first route of the next shorter prefix, or NULL */
const struct route *route_walk_prefix(struct route_walk *w)
{
	int least = ns_addr_is_v4(&w->dst) ? V4_BITS : 0;

	for (;;) {
		const struct list *bucket;
		const struct route *r;
		struct ns_addr prefix;

		w->bits = next_length(&w->t->tables[w->table_idx], w->bits - 1);
		if (w->bits < least)
			return NULL;
		prefix = addr_mask(&w->dst, (uint32_t)w->bits);
		bucket = bucket_of(w->t, &prefix, (uint32_t)w->bits, w->table_idx);
		r = next_of_key(bucket, bucket->next, &prefix, (uint32_t)w->bits, w->table_idx);
		if (r)
			return r;
	}
}

/** route_walk_same() - the route behind @r that has the same prefix, or NULL */
const struct route *route_walk_same(const struct route_walk *w, const struct route *r)
{
	return next_of_key(bucket_of_route(w->t, r), r->hash.next, &r->r.dst, r->prefix_bits,
			   r->table_idx);
}

/** route_find_local() - what the local table says of @a (LOCAL: ours, BROADCAST ...), or NULL: not ours */
const struct ns_route *route_find_local(const struct route_table *t, const struct ns_addr *a)
{
	struct route_walk w;
	const struct route *r;

	if (!route_walk_begin(&w, t, a, NS_TABLE_LOCAL))
		return NULL;
	r = route_walk_prefix(&w);
	return r ? &r->r : NULL;
}
