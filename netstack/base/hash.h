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
