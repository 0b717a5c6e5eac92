/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - SipHash-2-4, keyed, for tables an outsider fills and for RFC 6528 / RFC 6056 secrets */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t k[2];
};

/** hash_sip() - SipHash-2-4 of @len octets (Aumasson, Bernstein 2012) */
uint64_t hash_sip(const struct hash_key *key, const void *data, size_t len);

/** hash_bucket_cnt() - buckets of a table for @cap entries: a power of two, 16 at least, @most (one, too) at most */
static inline uint32_t hash_bucket_cnt(uint32_t cap, uint32_t most)
{
	uint32_t cnt = 16;

	while (cnt < cap && cnt < most)
		cnt *= 2;
	return cnt;
}
