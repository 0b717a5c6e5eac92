/* SPDX-License-Identifier: Apache-2.0 */
/* slowsum.h - the Internet checksum as RFC 1071 1 words it, an octet at a time: what others are measured by */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** slowsum() - ones' complement sum of @len octets, @sum carried in, folded, not inverted */
static inline uint16_t slowsum(uint16_t sum, const uint8_t *data, size_t len)
{
	uint32_t acc = sum;

	for (size_t i = 0; i < len; i++) {
		acc += i % 2 ? data[i] : (uint32_t)data[i] << 8;
		acc = (acc & 0xffff) + (acc >> 16);
	}
	return (uint16_t)acc;
}
