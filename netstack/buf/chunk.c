/* SPDX-License-Identifier: Apache-2.0 */
/* chunk.c - reference-counted payload memory */
#include "buf/chunk.h"

/*
 * How many free ones stay with the pool: enough that a busy stack never meets malloc(), few enough
 * that an idle one gives its memory back.
 */
enum {
	KEEP_SMALL = 1024, /* 4 MiB */
	KEEP_LARGE = 192,  /* 12 MiB */
	KEEP_RX = 128,     /* 8 MiB at most; small frames touch a page of each */
};

static void one_init(struct pool *p, const char *name, size_t size, uint32_t cap, uint32_t keep_cnt)
{
	pool_init(p, name, sizeof(struct chunk) + size, cap, keep_cnt);
}

/** chunk_pools_init() - caps are counts of chunks */
void chunk_pools_init(struct chunk_pools *cp, uint32_t small_cap, uint32_t large_cap,
		      uint32_t rx_cap)
{
	one_init(&cp->small, "chunk-small", CHUNK_SMALL, small_cap, KEEP_SMALL);
	one_init(&cp->large, "chunk-large", CHUNK_LARGE, large_cap, KEEP_LARGE);
	one_init(&cp->rx, "chunk-rx", CHUNK_RX, rx_cap, KEEP_RX);
}

/** chunk_pools_done() - traps when a chunk is still out */
void chunk_pools_done(struct chunk_pools *cp)
{
	pool_done(&cp->small);
	pool_done(&cp->large);
	pool_done(&cp->rx);
}

struct chunk *chunk_new(struct chunk_pools *cp, uint32_t size)
{
	struct pool *p = size == CHUNK_SMALL   ? &cp->small
			 : size == CHUNK_LARGE ? &cp->large
					       : &cp->rx;
	struct chunk *c;

	NS_BUG_ON(size > p->size - sizeof(*c));
	c = pool_get(p);
	if (!c)
		return NULL;
	c->pool = p;
	c->ref = 1;
	c->size = size;
	return c;
}

void chunk_unref(struct chunk *c)
{
	if (!c)
		return;
	NS_BUG_ON(c->ref == 0);
	if (--c->ref == 0)
		pool_put(c->pool, c);
}
