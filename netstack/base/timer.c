/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.c - deadline queue
 *
 * Theory of operation
 *
 * A 4-ary heap of pointers, sorted by @key. A timer that is moved later keeps its place: only @when
 * changes, and the heap finds out when the old key reaches the top (settle()). So a retransmission
 * timer pushed back by every acknowledgement costs one store a time. A timer armed for
 * MONO_NEVER stays in the heap in the same way and falls out when its key comes up; only
 * timer_cancel() takes it out at once, as the owner needs before it goes away.
 *
 * Invariants
 *
 * key <= when for every timer in the heap; heap[t->idx - 1] == t.
 */
#include "base/timer.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

enum {
	ARITY = 4,
	RUN_SLACK = 64, /* timers beyond twice the armed ones that one turn runs */
};

void timers_init(struct timers *ts)
{
	*ts = (struct timers){ 0 };
}

void timers_done(struct timers *ts)
{
	NS_BUG_ON(ts->cnt != 0);
	free(ts->heap);
	*ts = (struct timers){ 0 };
}

void timer_init(struct timer *t, timer_fn fn)
{
	*t = (struct timer){ .when = MONO_NEVER, .key = MONO_NEVER, .fn = fn };
}

static void place(struct timers *ts, uint32_t slot, struct timer *t)
{
	ts->heap[slot] = t;
	t->idx = slot + 1;
}

static void sift_up(struct timers *ts, uint32_t slot, struct timer *t)
{
	while (slot > 0) {
		uint32_t parent = (slot - 1) / ARITY;

		if (mono_le(ts->heap[parent]->key, t->key))
			break;
		place(ts, slot, ts->heap[parent]);
		slot = parent;
	}
	place(ts, slot, t);
}

static void sift_down(struct timers *ts, uint32_t slot, struct timer *t)
{
	for (;;) {
		uint32_t first = slot * ARITY + 1;
		uint32_t end = ns_min_u(first + ARITY, ts->cnt);
		uint32_t least = first;

		if (first >= ts->cnt)
			break;
		for (uint32_t i = first + 1; i < end; i++)
			if (mono_lt(ts->heap[i]->key, ts->heap[least]->key))
				least = i;
		if (mono_le(t->key, ts->heap[least]->key))
			break;
		place(ts, slot, ts->heap[least]);
		slot = least;
	}
	place(ts, slot, t);
}

static void heap_del(struct timers *ts, struct timer *t)
{
	uint32_t slot = t->idx - 1;
	struct timer *last = ts->heap[--ts->cnt];

	t->idx = 0;
	if (last == t)
		return;
	if (mono_lt(last->key, t->key))
		sift_up(ts, slot, last);
	else
		sift_down(ts, slot, last);
}

int timer_arm(struct timers *ts, struct timer *t, struct mono when)
{
	struct timer **heap;

	if (t->idx == 0) {
		if (!timer_is_armed(&(struct timer){ .when = when })) {
			t->when = when;
			return 0;
		}
		heap = vec_room(ts->heap, ts->cnt, &ts->cap, sizeof(*heap));
		if (!heap)
			return -ENOMEM;
		ts->heap = heap;
		t->when = t->key = when;
		sift_up(ts, ts->cnt++, t);
		return 0;
	}
	t->when = when;
	if (mono_lt(when, t->key)) {
		t->key = when;
		sift_up(ts, t->idx - 1, t);
	}
	return 0;
}

void timer_cancel(struct timers *ts, struct timer *t)
{
	t->when = MONO_NEVER;
	if (t->idx)
		heap_del(ts, t);
}

/* The top of the heap with key == when, or NULL: timers that were moved later go where they belong. */
static struct timer *settle(struct timers *ts)
{
	while (ts->cnt) {
		struct timer *t = ts->heap[0];

		if (!mono_lt(t->key, t->when))
			return t;
		if (!timer_is_armed(t)) {
			heap_del(ts, t);
			continue;
		}
		t->key = t->when;
		sift_down(ts, 0, t);
	}
	return NULL;
}

struct mono timers_next(struct timers *ts)
{
	const struct timer *t = settle(ts);

	return t ? t->when : MONO_NEVER;
}

void timers_run(struct timers *ts, struct mono now)
{
	/* A function that always arms for a time that is over must not hold the loop: it goes on next turn. */
	uint64_t budget = (uint64_t)ts->cnt * 2 + RUN_SLACK;
	struct timer *t;

	while (budget-- > 0 && (t = settle(ts)) != NULL && mono_le(t->when, now)) {
		t->when = MONO_NEVER;
		heap_del(ts, t);
		t->fn(t, now);
	}
}
