/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - what a stack counts */
#pragma once

#include <stdint.h>

#include "base/drop.h"

enum stat {
#define STAT(name_, text_) STAT_##name_,
#include "base/stats.def"
#undef STAT
	STAT_COUNT
};

/** struct ns_stats - one per stack; counters only ever grow */
struct ns_stats {
	uint64_t drop[DROP_COUNT];
	uint64_t stat[STAT_COUNT];
};

static inline void stat_inc(struct ns_stats *s, enum stat i)
{
	s->stat[i]++;
}

static inline void stat_add(struct ns_stats *s, enum stat i, uint64_t n)
{
	s->stat[i] += n;
}

static inline void drop_count(struct ns_stats *s, enum drop d)
{
	s->drop[d]++;
}

const char *stat_name(enum stat i);
const char *stat_text(enum stat i);
