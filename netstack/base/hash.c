/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - SipHash-2-4 */
#include "base/hash.h"

struct sip {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotl(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v1 = rotl(s->v1, 13) ^ s->v0;
	s->v0 = rotl(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotl(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotl(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotl(s->v1, 17) ^ s->v2;
	s->v2 = rotl(s->v2, 32);
}

/* Eight octets as one load: written out, every compiler sees it. */
static inline uint64_t load_le64(const uint8_t *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
	       (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
	       (uint64_t)p[7] << 56;
}

static inline uint64_t load_le(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static inline void sip_block(struct sip *s, uint64_t m)
{
	s->v3 ^= m;
	sip_round(s);
	sip_round(s);
	s->v0 ^= m;
}

uint64_t hash_sip(const struct hash_key *key, const void *data, size_t len)
{
	const uint8_t *p = data;
	struct sip s = {
		.v0 = key->k[0] ^ UINT64_C(0x736f6d6570736575),
		.v1 = key->k[1] ^ UINT64_C(0x646f72616e646f6d),
		.v2 = key->k[0] ^ UINT64_C(0x6c7967656e657261),
		.v3 = key->k[1] ^ UINT64_C(0x7465646279746573),
	};
	size_t left = len;

	for (; left >= 8; left -= 8, p += 8)
		sip_block(&s, load_le64(p));
	sip_block(&s, load_le(p, left) | (uint64_t)len << 56);
	s.v2 ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
