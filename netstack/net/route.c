/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.c - the routing table
 *
 * Theory of operation
 *
 * One hash table holds every route, keyed by (rank of its table, prefix length, prefix). A lookup
 * walks the lengths that exist, longest first, and probes the hash once for each: containers have
 * few lengths, whatever the number of routes. Routes of one key are sorted by metric, the older
 * first among equals, so the first one whose link is up is the answer.
 *
 * Both families share the table: an IPv4 prefix of n bits is an IPv6-mapped one of 96 + n, and a
 * lookup for an IPv4 address never looks at fewer than 96.
 *
 * The hash is not keyed: routes come from the configuration, not from the network.
 *
 * Limits: ROUTE_MAX routes, then -ENOSPC.
 *
 * References: linux v6.1 net/ipv4/fib_trie.c fib_table_lookup(), fib_semantics.c fib_props[].
 */
#include "net/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	BUCKETS_MIN = 64,
	V4_BITS = 96, /* of an IPv4 address' prefix in front of the address */
	ADDR_BITS = 128,
};

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t key_hash(const struct ns_addr *prefix, uint32_t prefix_bits, uint32_t rank)
{
	uint64_t h = load64(prefix->b) * UINT64_C(0x9e3779b97f4a7c15);

	h ^= (load64(prefix->b + 8) ^ (prefix_bits << 8 | rank)) * UINT64_C(0xc2b2ae3d27d4eb4f);
	return (uint32_t)((h ^ h >> 29) >> 16);
}

static struct list *bucket_of(const struct route_table *t, const struct ns_addr *prefix,
			      uint32_t prefix_bits, uint32_t rank)
{
	return &t->buckets[key_hash(prefix, prefix_bits, rank) & (t->bucket_cnt - 1)];
}

static struct list *buckets_new(uint32_t cnt)
{
	struct list *l = malloc(cnt * sizeof(*l));

	for (uint32_t i = 0; l && i < cnt; i++)
		list_init(&l[i]);
	return l;
}

/** route_init() - an empty table, all links down; 0 or -ENOMEM */
int route_init(struct route_table *t)
{
	struct list *buckets = buckets_new(BUCKETS_MIN);

	if (!buckets)
		return -ENOMEM;
	*t = (struct route_table){ .buckets = buckets, .bucket_cnt = BUCKETS_MIN, .generation = 1 };
	return 0;
}

/** route_done() - free every route */
void route_done(struct route_table *t)
{
	for (uint32_t i = 0; i < t->bucket_cnt; i++) {
		struct list *n;

		while ((n = list_pop(&t->buckets[i])) != NULL)
			free(list_entry(n, struct route, hash));
	}
	free(t->buckets);
	*t = (struct route_table){ 0 };
}

static struct ns_addr addr_mask(const struct ns_addr *a, uint32_t bits)
{
	struct ns_addr m = { { 0 } };

	memcpy(m.b, a->b, bits / 8);
	if (bits % 8)
		m.b[bits / 8] = a->b[bits / 8] & (uint8_t)(0xff00u >> (bits % 8));
	return m;
}

/* "Any" of no family is a default route's destination: the other addresses tell which, then is_v6. */
static bool is_route_v4(const struct ns_route *r)
{
	static const struct ns_addr zero;

	if (!ns_addr_eq(&r->dst, &zero))
		return ns_addr_is_v4(&r->dst);
	if (!ns_addr_eq(&r->gateway, &zero))
		return ns_addr_is_v4(&r->gateway);
	if (!ns_addr_eq(&r->prefsrc, &zero))
		return ns_addr_is_v4(&r->prefsrc);
	return !r->is_v6;
}

static enum route_rank rank_of(const struct ns_route *r)
{
	bool is_ours = r->type == NS_ROUTE_LOCAL || r->type == NS_ROUTE_BROADCAST;

	switch (r->table) {
	case ROUTE_TABLE_LOCAL:
		return ROUTE_RANK_LOCAL;
	case ROUTE_TABLE_MAIN:
		return ROUTE_RANK_MAIN;
	case ROUTE_TABLE_DEFAULT:
		return ROUTE_RANK_DEFAULT;
	case 0:
		return is_ours ? ROUTE_RANK_LOCAL : ROUTE_RANK_MAIN;
	default:
		return ROUTE_RANK_OTHER;
	}
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
		while ((n = list_pop(&old[i])) != NULL) {
			const struct route *r = list_entry(n, struct route, hash);

			list_push(bucket_of(t, &r->r.dst, r->prefix_bits, r->rank), n);
		}
	}
	free(old);
}

static bool is_same_key(const struct route *a, const struct ns_addr *prefix, uint32_t bits,
			uint32_t rank)
{
	return a->prefix_bits == bits && a->rank == rank && ns_addr_eq(&a->r.dst, prefix);
}

/* The route that @r would repeat: "file exists" is no error for a configuration that is read twice. */
static struct route *find_same(struct list *bucket, const struct route *r)
{
	list_for_each (n, bucket) {
		struct route *o = list_entry(n, struct route, hash);

		if (is_same_key(o, &r->r.dst, r->prefix_bits, r->rank) &&
		    o->r.metric == r->r.metric && o->r.type == r->r.type &&
		    o->r.link_id == r->r.link_id && o->r.table == r->r.table &&
		    ns_addr_eq(&o->r.gateway, &r->r.gateway))
			return o;
	}
	return NULL;
}

static void insert_sorted(struct list *bucket, struct route *r)
{
	list_for_each (n, bucket) {
		const struct route *o = list_entry(n, struct route, hash);

		if (is_same_key(o, &r->r.dst, r->prefix_bits, r->rank) &&
		    o->r.metric > r->r.metric) {
			list_push(n, &r->hash); /* in front of @o */
			return;
		}
	}
	list_push(bucket, &r->hash);
}

/**
 * route_add() - add a route, or give an equal one new MTU and preferred source
 * @t:	Table
 * @r:	Copied. Its prefix is cut to its length; @r->link_id is not checked here
 *
 * A gateway needs no route of its own (onlink): the kernel the route was read from has judged it.
 *
 * Return: 0, -EINVAL for a prefix length, type or link out of range, -ENOSPC at ROUTE_MAX, -ENOMEM
 */
int route_add(struct route_table *t, const struct ns_route *r)
{
	bool is_v4 = is_route_v4(r);
	struct route *n, *same, key = { .r = *r, .rank = (uint8_t)rank_of(r) };
	struct list *bucket;
	struct ns_addr dst = r->dst;

	if (r->prefix_len > (is_v4 ? 32 : ADDR_BITS) || r->type > NS_ROUTE_PROHIBIT ||
	    r->link_id >= ROUTE_LINKS_MAX)
		return -EINVAL;
	if (is_v4)
		dst = ns_addr_v4(ns_addr_to_v4(&dst));
	key.prefix_bits = (uint8_t)(r->prefix_len + (is_v4 ? V4_BITS : 0));
	key.r.dst = addr_mask(&dst, key.prefix_bits);
	bucket = bucket_of(t, &key.r.dst, key.prefix_bits, key.rank);
	same = find_same(bucket, &key);
	if (same) {
		same->r = key.r;
		t->generation++;
		return 0;
	}
	if (t->cnt >= ROUTE_MAX)
		return -ENOSPC;
	n = malloc(sizeof(*n));
	if (!n)
		return -ENOMEM;
	*n = key;
	insert_sorted(bucket, n);
	t->lengths[n->rank][n->prefix_bits / 64] |= UINT64_C(1) << (n->prefix_bits % 64);
	t->generation++;
	if (++t->cnt > t->bucket_cnt)
		table_grow(t);
	return 0;
}

/** route_set_link_up() - routes over a link that is down are not there */
void route_set_link_up(struct route_table *t, uint32_t link_id, bool is_up)
{
	NS_BUG_ON(link_id >= ROUTE_LINKS_MAX);
	if (t->is_link_up[link_id] == is_up)
		return;
	t->is_link_up[link_id] = is_up;
	t->generation++;
}

static bool needs_link(const struct ns_route *r)
{
	return r->type == NS_ROUTE_UNICAST || r->type == NS_ROUTE_LOCAL ||
	       r->type == NS_ROUTE_BROADCAST;
}

static const struct ns_route *find_key(const struct route_table *t, const struct ns_addr *prefix,
				       uint32_t bits, uint32_t rank)
{
	list_for_each (n, bucket_of(t, prefix, bits, rank)) {
		const struct route *r = list_entry(n, struct route, hash);

		if (is_same_key(r, prefix, bits, rank) &&
		    (!needs_link(&r->r) || t->is_link_up[r->r.link_id]))
			return &r->r;
	}
	return NULL;
}

/* The longest length of table @rank below @bits + 1, or -1. */
static int next_length(const struct route_table *t, uint32_t rank, int bits)
{
	for (int word = bits / 64; bits >= 0 && word >= 0; word--) {
		uint64_t set = t->lengths[rank][word];

		if (word == bits / 64 && bits % 64 != 63)
			set &= (UINT64_C(1) << (bits % 64 + 1)) - 1;
		if (set)
			return word * 64 + 63 - __builtin_clzll(set);
	}
	return -1;
}

static const struct ns_route *find_in_table(const struct route_table *t, const struct ns_addr *dst,
					    uint32_t rank)
{
	int least = ns_addr_is_v4(dst) ? V4_BITS : 0;

	for (int bits = next_length(t, rank, ADDR_BITS); bits >= least;
	     bits = next_length(t, rank, bits - 1)) {
		struct ns_addr prefix = addr_mask(dst, (uint32_t)bits);
		const struct ns_route *r = find_key(t, &prefix, (uint32_t)bits, rank);

		if (r)
			return r;
	}
	return NULL;
}

/**
 * route_find() - the route to @dst
 * @t:		Table
 * @dst:	Destination
 * @ret_route:	Borrowed until the table changes; unicast, local or broadcast
 *
 * Return: 0, -ENETUNREACH without a route, or what the route's type says: -EINVAL (blackhole),
 * -EHOSTUNREACH (unreachable), -EACCES (prohibit)
 */
int route_find(const struct route_table *t, const struct ns_addr *dst,
	       const struct ns_route **ret_route)
{
	const struct ns_route *r = NULL;

	for (uint32_t rank = 0; rank < ROUTE_RANK_OTHER && !r; rank++)
		r = find_in_table(t, dst, rank);
	if (!r)
		return -ENETUNREACH;
	switch ((enum ns_route_type)r->type) {
	case NS_ROUTE_UNICAST:
	case NS_ROUTE_LOCAL:
	case NS_ROUTE_BROADCAST:
		*ret_route = r;
		return 0;
	case NS_ROUTE_BLACKHOLE:
		return -EINVAL;
	case NS_ROUTE_UNREACHABLE:
		return -EHOSTUNREACH;
	case NS_ROUTE_PROHIBIT:
		return -EACCES;
	}
	return -ENETUNREACH;
}

/** route_find_local() - what the local table says of @a (LOCAL: ours, BROADCAST), or NULL: not ours */
const struct ns_route *route_find_local(const struct route_table *t, const struct ns_addr *a)
{
	return find_in_table(t, a, ROUTE_RANK_LOCAL);
}
