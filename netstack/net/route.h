/* SPDX-License-Identifier: Apache-2.0 */
/* route.h - where packets go: longest prefix, then metric */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "ns/addr.h"
#include "ns/stack.h"

enum {
	ROUTE_LINKS_MAX = 256,
	ROUTE_MAX = 65536,
	ROUTE_TABLE_DEFAULT = 253, /* linux RT_TABLE_* */
	ROUTE_TABLE_MAIN = 254,
	ROUTE_TABLE_LOCAL = 255,
};

/** enum route_rank - the order in which tables are asked: ip rule as Linux has it unless told otherwise */
enum route_rank {
	ROUTE_RANK_LOCAL,
	ROUTE_RANK_MAIN,
	ROUTE_RANK_DEFAULT,
	ROUTE_RANK_OTHER, /* kept, asked by nobody until there are rules */
	ROUTE_RANK_COUNT
};

struct route {
	struct list hash;
	struct ns_route r;   /* dst masked to its prefix */
	uint8_t prefix_bits; /* of 128: IPv4 prefixes lie under ::ffff:0:0/96 */
	uint8_t rank;        /* enum route_rank */
};

struct route_table {
	struct list *buckets;
	uint32_t bucket_cnt; /* a power of two */
	uint32_t cnt;
	uint32_t generation; /* moves with every change: who keeps an answer compares */
	uint64_t lengths[ROUTE_RANK_COUNT][3]; /* bit n: some route has n prefix bits */
	bool is_link_up[ROUTE_LINKS_MAX];
};

ns_must_check int route_init(struct route_table *t);
void route_done(struct route_table *t);
ns_must_check int route_add(struct route_table *t, const struct ns_route *r);
void route_set_link_up(struct route_table *t, uint32_t link_id, bool is_up);
ns_must_check int route_find(const struct route_table *t, const struct ns_addr *dst,
			     const struct ns_route **ret_route);
const struct ns_route *route_find_local(const struct route_table *t, const struct ns_addr *a);
