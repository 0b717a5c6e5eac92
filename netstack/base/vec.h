/* SPDX-License-Identifier: Apache-2.0 */
/* vec.h - arrays that grow */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/**
 * vec_room() - room for one more element behind @cnt of them
 * @v:		From this function, or NULL with @cnt and *@cap 0; Consumes @v unless NULL is returned
 * @cap:	Elements there is room for; doubled when they are used up
 * @size:	Octets of an element
 *
 * Return: where the elements are now, the caller's to free; NULL without memory, then all is as it was
 */
ns_must_check void *vec_room(void *v, uint32_t cnt, uint32_t *cap, size_t size);

/**
 * vec_insert() - a copy of @elem before the element @place (*@cnt: behind the last)
 * @cnt:	Elements, one more afterwards
 *
 * The others and the result as for vec_room().
 */
ns_must_check void *vec_insert(void *v, uint32_t *cnt, uint32_t *cap, size_t size, uint32_t place,
			       const void *elem);

/** vec_place() - where in @v, ordered by the first @key_len octets of its elements, @key is, or would be */
uint32_t vec_place(const void *v, uint32_t cnt, size_t size, const void *key, size_t key_len);
