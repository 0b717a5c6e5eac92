/* SPDX-License-Identifier: Apache-2.0 */
/* mono.h - instants on a monotonic clock that the caller owns; durations are uint64_t x_ns */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** struct mono - an instant, nanoseconds since an epoch of the caller's; 64 bits last 584 years */
struct mono {
	uint64_t ns;
};

#define NS_PER_US  UINT64_C(1000)
#define NS_PER_MS  UINT64_C(1000000)
#define NS_PER_SEC UINT64_C(1000000000)

/** MONO_NEVER - the deadline of nothing */
#define MONO_NEVER ((struct mono){ UINT64_MAX })

static inline struct mono mono_add(struct mono t, uint64_t delta_ns)
{
	return (struct mono){ t.ns + delta_ns < t.ns ? UINT64_MAX : t.ns + delta_ns };
}

/** mono_since() - nanoseconds from @then to @now, 0 when @then is later */
static inline uint64_t mono_since(struct mono now, struct mono then)
{
	return now.ns > then.ns ? now.ns - then.ns : 0;
}

static inline bool mono_lt(struct mono a, struct mono b)
{
	return a.ns < b.ns;
}

static inline bool mono_le(struct mono a, struct mono b)
{
	return a.ns <= b.ns;
}

static inline struct mono mono_min(struct mono a, struct mono b)
{
	return a.ns < b.ns ? a : b;
}
