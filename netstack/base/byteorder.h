/* SPDX-License-Identifier: Apache-2.0 */
/* byteorder.h - wire integers as structs of bytes: no alignment, no forgotten ntohl() */
#pragma once

#include <stdint.h>

struct be16 {
	uint8_t b[2];
};

struct be32 {
	uint8_t b[4];
};

static inline uint16_t be16_get(struct be16 v)
{
	return (uint16_t)((v.b[0] << 8) | v.b[1]);
}

static inline struct be16 be16(uint16_t v)
{
	return (struct be16){ { (uint8_t)(v >> 8), (uint8_t)v } };
}

static inline uint32_t be32_get(struct be32 v)
{
	return (uint32_t)v.b[0] << 24 | (uint32_t)v.b[1] << 16 | (uint32_t)v.b[2] << 8 | v.b[3];
}

static inline struct be32 be32(uint32_t v)
{
	return (struct be32){ { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
				(uint8_t)v } };
}
