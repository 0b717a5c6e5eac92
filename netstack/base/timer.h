/* SPDX-License-Identifier: Apache-2.0 */
/* timer.h - deadlines in a heap: arm, cancel, next, run up to now */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/mono.h"

struct timer;
typedef void (*timer_fn)(struct timer *t, struct mono now);

/**
 * struct timer - one deadline, embedded in its owner; timer_init() before use
 *
 * Moving a deadline later is free: the heap is only touched when it becomes due (@when is the truth,
 * @key the lower bound under which the heap sorts it).
 */
struct timer {
	struct mono when; /* MONO_NEVER: not armed */
	struct mono key;
	uint32_t idx; /* place in the heap + 1, 0: not there */
	timer_fn fn;
};

/** struct timers - the heap; grows by doubling, never shrinks, one slot a timer */
struct timers {
	struct timer **heap;
	uint32_t cnt, cap;
};

void timers_init(struct timers *ts);
/** timers_done() - free the heap; every timer must have been cancelled (NS_BUG_ON) */
void timers_done(struct timers *ts);

void timer_init(struct timer *t, timer_fn fn);
/** timer_arm() - (re)set the deadline; 0 or -ENOMEM when the heap cannot grow */
ns_must_check int timer_arm(struct timers *ts, struct timer *t, struct mono when);
void timer_cancel(struct timers *ts, struct timer *t);
static inline bool timer_is_armed(const struct timer *t)
{
	return t->when.ns != UINT64_MAX;
}

/** timers_next() - the earliest deadline, MONO_NEVER when there is none */
struct mono timers_next(struct timers *ts);
/** timers_run() - call the function of every timer due at @now, in order of deadline; a function may arm or cancel any timer */
void timers_run(struct timers *ts, struct mono now);
