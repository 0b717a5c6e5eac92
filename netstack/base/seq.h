/* SPDX-License-Identifier: Apache-2.0 */
/* seq.h - TCP sequence numbers, RFC 9293 3.4: arithmetic modulo 2^32, a type of its own */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct seq {
	uint32_t v;
};

static inline struct seq seq(uint32_t v)
{
	return (struct seq){ v };
}

static inline struct seq seq_add(struct seq a, uint32_t len)
{
	return (struct seq){ a.v + len };
}

/** seq_diff() - octets from @b to @a; meaningful when they are less than 2^31 apart */
static inline int32_t seq_diff(struct seq a, struct seq b)
{
	return (int32_t)(a.v - b.v);
}

static inline bool seq_eq(struct seq a, struct seq b)
{
	return a.v == b.v;
}

static inline bool seq_lt(struct seq a, struct seq b)
{
	return seq_diff(a, b) < 0;
}

static inline bool seq_le(struct seq a, struct seq b)
{
	return seq_diff(a, b) <= 0;
}

static inline struct seq seq_max(struct seq a, struct seq b)
{
	return seq_lt(a, b) ? b : a;
}

static inline struct seq seq_min(struct seq a, struct seq b)
{
	return seq_lt(a, b) ? a : b;
}

/** seq_in() - RFC 9293 3.4: is @x in the @len octets from @start on */
static inline bool seq_in(struct seq x, struct seq start, uint32_t len)
{
	return x.v - start.v < len;
}
