/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - capped pools of equal objects: no malloc on the data path once warm */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/** struct pool - objects of @size octets, at most @cap out at a time; freed ones are kept for reuse */
struct pool {
	const char *name;
	size_t size;       /* octets */
	uint32_t cap;      /* objects */
	uint32_t out_cnt;  /* handed out now */
	uint32_t peak_cnt; /* most ever out */
	uint32_t keep_cnt; /* objects on the free list at most; the rest goes back to the heap */
	uint32_t free_cnt;
	uint64_t refused; /* pool_get() calls that met the cap or no memory */
	void *free_list;
};

void pool_init(struct pool *p, const char *name, size_t size, uint32_t cap, uint32_t keep_cnt);
/** pool_done() - give all memory back; traps when an object is still out (a leak is our bug) */
void pool_done(struct pool *p);
/** pool_get() - an object, contents undefined, or NULL at the cap or without memory */
ns_must_check void *pool_get(struct pool *p);
/** pool_put() - give back; NULL is fine */
void pool_put(struct pool *p, void *obj);
/** pool_trim() - of what is kept for reuse, give all but @keep_cnt objects back to the heap */
void pool_trim(struct pool *p, uint32_t keep_cnt);
