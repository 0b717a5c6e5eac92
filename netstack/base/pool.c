/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - capped pools of equal objects */
#include "base/pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define POOL_KEEPS false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_KEEPS false
#endif
#endif
#ifndef POOL_KEEPS
#define POOL_KEEPS true
#endif

/* A free object's first word is the link; memcpy because an object has no declared type here. */
static void *free_next(const void *obj)
{
	void *next;

	memcpy(&next, obj, sizeof(next));
	return next;
}

void pool_init(struct pool *p, const char *name, size_t size, uint32_t cap, uint32_t keep_cnt)
{
	*p = (struct pool){
		.name = name,
		.size = size < sizeof(void *) ? sizeof(void *) : size,
		.cap = cap,
		/* AddressSanitizer sees a use after pool_put() only when the memory really goes */
		.keep_cnt = POOL_KEEPS ? keep_cnt : 0,
	};
}

void pool_done(struct pool *p)
{
	NS_BUG_ON(p->out_cnt != 0);
	pool_trim(p, 0);
}

void pool_trim(struct pool *p, uint32_t keep_cnt)
{
	while (p->free_cnt > keep_cnt) {
		void *obj = p->free_list;

		p->free_list = free_next(obj);
		p->free_cnt--;
		free(obj);
	}
}

void *pool_get(struct pool *p)
{
	void *obj = p->free_list;

	if (ns_unlikely(p->out_cnt >= p->cap)) {
		p->refused++;
		return NULL;
	}
	if (ns_likely(obj != NULL)) {
		p->free_list = free_next(obj);
		p->free_cnt--;
	} else {
		obj = malloc(p->size);
		if (!obj) {
			p->refused++;
			return NULL;
		}
	}
	if (++p->out_cnt > p->peak_cnt)
		p->peak_cnt = p->out_cnt;
	return obj;
}

void pool_put(struct pool *p, void *obj)
{
	if (!obj)
		return;
	NS_BUG_ON(p->out_cnt == 0);
	p->out_cnt--;
	if (p->free_cnt >= p->keep_cnt) {
		free(obj);
		return;
	}
	memcpy(obj, &p->free_list, sizeof(p->free_list));
	p->free_list = obj;
	p->free_cnt++;
}
