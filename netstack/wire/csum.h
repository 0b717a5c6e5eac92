/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csum.h - the Internet checksum, RFC 1071
 *
 * A running sum is a uint32_t in host order that csum_fold() turns into the field's value; as many as
 * 2^16 additions fit before it would wrap, which no frame reaches.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "ns/addr.h"

struct pkt;

/** csum_add() - add @len octets to @sum; the data begins at an even place of what is summed */
uint32_t csum_add(uint32_t sum, const void *data, size_t len);
/** csum_add_odd() - the same for data that begins at an odd place (RFC 1071 2, byte order independence) */
uint32_t csum_add_odd(uint32_t sum, const void *data, size_t len);

/** csum_fold() - the ones' complement sum in 16 bits, not inverted */
static inline uint16_t csum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)(sum + (sum >> 16));
}

/** csum_finish() - the value of the checksum field */
static inline uint16_t csum_finish(uint32_t sum)
{
	return (uint16_t)~csum_fold(sum);
}

/** csum_replace() - RFC 1624 eqn 3: the field @old after a 16-bit word changed @from -> @to */
static inline uint16_t csum_replace(uint16_t old, uint16_t from, uint16_t to)
{
	return csum_finish((uint32_t)(uint16_t)~old + (uint16_t)~from + to);
}

/**
 * csum_pseudo() - sum of the pseudo-header (RFC 9293 3.1; RFC 8200 8.1)
 * @src:	Addresses, both of one family
 * @dst:	See @src
 * @proto:	Transport's protocol number
 * @len:	Octets of transport header and payload
 */
uint32_t csum_pseudo(const struct ns_addr *src, const struct ns_addr *dst, uint8_t proto,
		     uint32_t len);

/** csum_pkt() - add @len octets of @p from @off (octets from its head) on, over fragments; traps beyond the end */
uint32_t csum_pkt(uint32_t sum, const struct pkt *p, uint32_t off, uint32_t len);
