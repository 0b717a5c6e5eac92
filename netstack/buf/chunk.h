/* SPDX-License-Identifier: Apache-2.0 */
/* chunk.h - reference-counted memory that payload lives in, from the wire to the program */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/pool.h"

enum {
	CHUNK_SMALL = 4096 - 64,     /* octets: a connection's first few bytes */
	CHUNK_LARGE = 65536,         /* octets: bulk data */
	CHUNK_RX = 65536 + 64 + 128, /* octets: one received super-frame with its headers */
};

/** struct chunk - @size octets of memory shared by @ref holders; freed to @pool by the last */
struct chunk {
	struct pool *pool;
	uint32_t ref;
	uint32_t size; /* octets in @data */
	uint8_t data[] __attribute__((aligned(16)));
};

/** struct chunk_pools - where chunks come from; one per stack */
struct chunk_pools {
	struct pool small, large, rx;
};

void chunk_pools_init(struct chunk_pools *cp, uint32_t small_cap, uint32_t large_cap,
		      uint32_t rx_cap);
void chunk_pools_done(struct chunk_pools *cp);
void chunk_pools_trim(struct chunk_pools *cp);
/** chunk_new() - a chunk with one reference, or NULL at the pool's cap; @size one of CHUNK_* */
ns_must_check struct chunk *chunk_new(struct chunk_pools *cp, uint32_t size);

static inline struct chunk *chunk_ref(struct chunk *c)
{
	c->ref++;
	return c;
}

/** chunk_unref() - drop one reference; NULL is fine */
void chunk_unref(struct chunk *c);
