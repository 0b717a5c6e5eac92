/* SPDX-License-Identifier: Apache-2.0 */
/* chunk.c - reference-counted payload memory */
#include "buf/chunk.h"

/*
 * How many free ones stay with the pool: enough that busy connections with full buffers never meet
 * malloc() and its page faults. After a pause only the lower counts stay (chunk_pools_trim()).
 */
enum {
	KEEP_SMALL = 4096, /* 16 MiB */
	KEEP_LARGE = 1024, /* 64 MiB */
	KEEP_RX = 512,     /* 32 MiB at most; small frames touch a page of each */
	KEEP_SMALL_IDLE = 32,
	KEEP_LARGE_IDLE = 4,
	KEEP_RX_IDLE = 4,
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

/** chunk_pools_trim() - the stack had nothing to do for a while: most of what is kept goes back to the heap */
void chunk_pools_trim(struct chunk_pools *cp)
{
	pool_trim(&cp->small, KEEP_SMALL_IDLE);
	pool_trim(&cp->large, KEEP_LARGE_IDLE);
	pool_trim(&cp->rx, KEEP_RX_IDLE);
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
