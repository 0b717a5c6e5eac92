/* SPDX-License-Identifier: Apache-2.0 */
/* prng.h - a deterministic random source for tests: a seed gives the same run everywhere */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct prng - splitmix64 (Steele, Lea, Flood 2014); any seed is fine */
struct prng {
	uint64_t state;
};

/** prng_mix() - one value from another, well spread; a pure function */
static inline uint64_t prng_mix(uint64_t z)
{
	z += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline uint64_t prng_next(struct prng *p)
{
	uint64_t v = prng_mix(p->state);

	p->state += UINT64_C(0x9e3779b97f4a7c15);
	return v;
}

/** prng_below() - uniform in [0, @n), 0 when @n is 0 */
static inline uint64_t prng_below(struct prng *p, uint64_t n)
{
	return n ? prng_next(p) % n : 0;
}

/** prng_between() - uniform in [@lo, @hi] */
static inline uint64_t prng_between(struct prng *p, uint64_t lo, uint64_t hi)
{
	return lo + prng_below(p, hi - lo + 1);
}

/** prng_hit() - true with a probability of @ppm in a million */
static inline bool prng_hit(struct prng *p, uint32_t ppm)
{
	return ppm && prng_below(p, 1000000) < ppm;
}

/** prng_fill() - @len octets */
static inline void prng_fill(struct prng *p, void *buf, size_t len)
{
	uint8_t *to = buf;

	for (uint64_t v = 0; len; len--, v >>= 8) {
		if (!v)
			v = prng_next(p);
		*to++ = (uint8_t)v;
	}
}
