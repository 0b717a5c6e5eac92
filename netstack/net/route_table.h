/* SPDX-License-Identifier: Apache-2.0 */
/* route_table.h - all routes of all tables: longest prefix first */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "ns/addr.h"
#include "ns/route.h"

enum {
	ROUTE_LINKS_MAX = 256,
	ROUTE_MAX = 65536,
	ROUTE_TABLES_MAX = 4096,
	ROUTE_HOPS_MAX = 256, /* next hops of one route */
	ROUTE_LENGTHS = 129,  /* prefix lengths of 0 to 128 bits */
};

/** struct route - one of them; borrowed until the table changes */
struct route {
	struct list hash;
	struct ns_route r;        /* dst and from masked, table not 0, nexthops point to @hops */
	uint32_t table_idx;       /* into route_table.tables */
	uint8_t prefix_bits;      /* of 128: IPv4 prefixes lie under ::ffff:0:0/96 */
	struct ns_nexthop hops[]; /* r.nexthop_cnt, at least one */
};

/** struct route_lengths - the prefix lengths of one table */
struct route_lengths {
	uint32_t id;                 /* RT_TABLE_* or any number */
	uint32_t cnt[ROUTE_LENGTHS]; /* routes of that many prefix bits */
	uint64_t set[3];             /* bit n: cnt[n] is not 0 */
};

struct route_table {
	struct list *buckets;
	uint32_t bucket_cnt; /* a power of two */
	uint32_t cnt;
	uint32_t odd_cnt; /* of IPv4, to something that is no other host, and not in table local */
	uint32_t generation; /* moves with every change: who keeps an answer compares */
	struct route_lengths *tables;
	uint32_t table_cnt, table_cap;
	bool is_link_up[ROUTE_LINKS_MAX];
};

/** struct route_walk - the routes of a table that cover an address, longest prefix first */
struct route_walk {
	const struct route_table *t;
	struct ns_addr dst;
	uint32_t table_idx;
	int bits; /* of the prefix reached, of 128 */
};

ns_must_check int route_table_init(struct route_table *t);
void route_table_done(struct route_table *t);
ns_must_check int route_add(struct route_table *t, const struct ns_route *r);
ns_must_check int route_replace(struct route_table *t, const struct ns_route *r);
ns_must_check int route_del(struct route_table *t, const struct ns_route *r);
void route_del_if(struct route_table *t, bool (*is_to_go)(const struct route *r, const void *ctx),
		  const void *ctx);
void route_del_link(struct route_table *t, uint32_t link_id);
void route_forget_src(struct route_table *t, const struct ns_addr *src);
void route_each(const struct route_table *t, void (*fn)(void *ctx, const struct ns_route *r),
		void *ctx);
void route_set_link_up(struct route_table *t, uint32_t link_id, bool is_up);

ns_must_check bool route_walk_begin(struct route_walk *w, const struct route_table *t,
				    const struct ns_addr *dst, uint32_t table_id);
const struct route *route_walk_prefix(struct route_walk *w);
const struct route *route_walk_same(const struct route_walk *w, const struct route *r);
const struct ns_route *route_find_local(const struct route_table *t, const struct ns_addr *a);

/** route_needs_link() - of this type: nothing leaves without a next hop */
static inline bool route_needs_link(const struct ns_route *r)
{
	return r->type <= NS_ROUTE_MULTICAST;
}
