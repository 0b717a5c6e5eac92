/* SPDX-License-Identifier: Apache-2.0 */
/* vec.c - arrays that grow */
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 16u

void *vec_room(void *v, uint32_t cnt, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : FIRST_CAP;
	void *grown;

	if (cnt < *cap)
		return v;
	grown = malloc(more * size);
	if (!grown)
		return NULL;
	if (cnt)
		memcpy(grown, v, cnt * size);
	free(v);
	*cap = more;
	return grown;
}

void *vec_insert(void *v, uint32_t *cnt, uint32_t *cap, size_t size, uint32_t place,
		 const void *elem)
{
	uint8_t *grown = vec_room(v, *cnt, cap, size);

	if (!grown)
		return NULL;
	memmove(grown + (place + 1) * size, grown + place * size, (*cnt - place) * size);
	memcpy(grown + place * size, elem, size);
	(*cnt)++;
	return grown;
}

uint32_t vec_place(const void *v, uint32_t cnt, size_t size, const void *key, size_t key_len)
{
	uint32_t low = 0, high = cnt;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (memcmp((const uint8_t *)v + mid * size, key, key_len) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
