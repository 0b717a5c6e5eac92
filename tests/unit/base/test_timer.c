/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_timer.c - base/timer.c: order, deadlines that move, callbacks that arm and cancel
 *
 * Theory of operation
 *
 * Every timer of the tests is a struct alarm, which notes when it ran and then does what its test
 * told it to. The last test drives many of them at random beside a model without a heap: an array
 * of deadlines that is searched from end to end.
 */
#include <string.h>

#include "base/timer.h"
#include "suites.h"

enum {
	ALARM_CNT = 500,
};

struct alarm {
	struct timer timer;
	uint32_t ran_cnt;
	struct mono deadline; /* as the test knows it */
	struct mono rearm;    /* not 0: arm itself for then when it runs */
	struct alarm *cancel; /* cancelled when this one runs */
};

static struct timers timers;
static struct alarm alarms[ALARM_CNT];
static uint32_t order[ALARM_CNT * 4]; /* indices into alarms as they ran */
static uint32_t order_cnt;

static struct mono at(uint64_t ns)
{
	return (struct mono){ ns };
}

static void on_alarm(struct timer *t, struct mono now)
{
	struct alarm *a = container_of(t, struct alarm, timer);

	ck_assert(!timer_is_armed(t));
	ck_assert(mono_le(a->deadline, now));
	a->ran_cnt++;
	ck_assert_uint_lt(order_cnt, NS_ARRAY_LEN(order));
	order[order_cnt++] = (uint32_t)(a - alarms);
	if (a->cancel)
		timer_cancel(&timers, &a->cancel->timer);
	if (a->rearm.ns) {
		a->deadline = a->rearm;
		ck_assert_int_eq(timer_arm(&timers, t, a->rearm), 0);
	}
}

static void arm(uint32_t i, uint64_t ns)
{
	alarms[i].deadline = at(ns);
	ck_assert_int_eq(timer_arm(&timers, &alarms[i].timer, at(ns)), 0);
}

static void setup(void)
{
	timers_init(&timers);
	memset(alarms, 0, sizeof(alarms));
	for (int i = 0; i < ALARM_CNT; i++)
		timer_init(&alarms[i].timer, on_alarm);
	order_cnt = 0;
}

static void teardown(void)
{
	for (int i = 0; i < ALARM_CNT; i++)
		timer_cancel(&timers, &alarms[i].timer);
	timers_done(&timers);
}

static void assert_ran(const uint32_t *want, uint32_t cnt)
{
	ck_assert_uint_eq(order_cnt, cnt);
	for (uint32_t i = 0; i < cnt; i++)
		ck_assert_uint_eq(order[i], want[i]);
	order_cnt = 0;
}
#define ASSERT_RAN(...)                                                                            \
	assert_ran((const uint32_t[]){ __VA_ARGS__ },                                              \
		   sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

START_TEST(nothing_armed_has_no_deadline)
{
	ck_assert_uint_eq(timers_next(&timers).ns, UINT64_MAX);
	timers_run(&timers, at(UINT64_MAX - 1));
	ck_assert_uint_eq(order_cnt, 0);
	ck_assert(!timer_is_armed(&alarms[0].timer));
	timer_cancel(&timers, &alarms[0].timer);
}
END_TEST

START_TEST(due_timers_run_in_order_of_deadline_and_the_others_stay)
{
	arm(0, 30);
	arm(1, 10);
	arm(2, 20);
	arm(3, 41);
	ck_assert_uint_eq(timers_next(&timers).ns, 10);
	timers_run(&timers, at(9));
	ck_assert_uint_eq(order_cnt, 0);
	timers_run(&timers, at(40));
	ASSERT_RAN(1, 2, 0);
	ck_assert_uint_eq(timers_next(&timers).ns, 41);
	ck_assert(!timer_is_armed(&alarms[0].timer));
	ck_assert(timer_is_armed(&alarms[3].timer));
	timers_run(&timers, at(41));
	ASSERT_RAN(3);
}
END_TEST

START_TEST(timer_moved_later_runs_once_at_its_new_time)
{
	arm(0, 10);
	arm(1, 20);
	for (uint64_t ns = 11; ns <= 100; ns++)
		arm(0, ns);
	ck_assert_uint_eq(timers_next(&timers).ns, 20);
	timers_run(&timers, at(99));
	ASSERT_RAN(1);
	ck_assert_uint_eq(timers_next(&timers).ns, 100);
	timers_run(&timers, at(1000));
	ASSERT_RAN(0);
	timers_run(&timers, at(2000));
	ck_assert_uint_eq(alarms[0].ran_cnt, 1);
}
END_TEST

START_TEST(timer_moved_earlier_runs_at_its_new_time)
{
	arm(0, 100);
	arm(1, 50);
	arm(0, 10);
	ck_assert_uint_eq(timers_next(&timers).ns, 10);
	timers_run(&timers, at(10));
	ASSERT_RAN(0);
	arm(0, 200); /* later, then earlier than before */
	arm(0, 300);
	arm(0, 60);
	timers_run(&timers, at(1000));
	ASSERT_RAN(1, 0);
}
END_TEST

START_TEST(cancelled_timer_does_not_run_and_may_be_armed_again)
{
	arm(0, 10);
	arm(1, 20);
	arm(2, 30);
	timer_cancel(&timers, &alarms[1].timer);
	timer_cancel(&timers, &alarms[1].timer);
	ck_assert(!timer_is_armed(&alarms[1].timer));
	timers_run(&timers, at(25));
	ASSERT_RAN(0);
	arm(1, 26);
	timers_run(&timers, at(30));
	ASSERT_RAN(1, 2);
}
END_TEST

START_TEST(armed_for_never_is_not_armed)
{
	arm(0, 10);
	arm(0, UINT64_MAX);
	ck_assert(!timer_is_armed(&alarms[0].timer));
	arm(1, UINT64_MAX);
	ck_assert_uint_eq(timers_next(&timers).ns, UINT64_MAX);
	timers_run(&timers, at(UINT64_MAX - 1));
	ck_assert_uint_eq(order_cnt, 0);
	arm(0, 5); /* the lazy place in the heap is no obstacle */
	timers_run(&timers, at(5));
	ASSERT_RAN(0);
}
END_TEST

START_TEST(callback_may_cancel_one_that_is_due_too)
{
	arm(0, 10);
	arm(1, 11);
	arm(2, 12);
	alarms[0].cancel = &alarms[1];
	alarms[2].cancel = &alarms[2]; /* itself: not armed any more, harmless */
	timers_run(&timers, at(100));
	ASSERT_RAN(0, 2);
	ck_assert_uint_eq(timers_next(&timers).ns, UINT64_MAX);
}
END_TEST

START_TEST(callback_may_arm_itself_and_a_due_one_runs_in_the_same_turn)
{
	arm(0, 10);
	alarms[0].rearm = at(50);
	timers_run(&timers, at(49));
	ASSERT_RAN(0);
	ck_assert_uint_eq(timers_next(&timers).ns, 50);
	alarms[0].rearm = at(0);
	timers_run(&timers, at(50));
	ASSERT_RAN(0);
}
END_TEST

START_TEST(callback_that_always_arms_for_the_past_does_not_hold_the_loop)
{
	arm(0, 10);
	alarms[0].rearm = at(10);
	timers_run(&timers, at(100));
	ck_assert_uint_gt(alarms[0].ran_cnt, 0);
	ck_assert(timer_is_armed(&alarms[0].timer));
}
END_TEST

START_TEST(done_with_a_timer_armed_traps)
{
	arm(0, 10);
	timers_done(&timers);
}
END_TEST

/* The earliest deadline of the model, and whose it is. */
static struct mono model_next(uint32_t *ret_i)
{
	struct mono least = MONO_NEVER;

	for (uint32_t i = 0; i < ALARM_CNT; i++)
		if (mono_lt(alarms[i].deadline, least)) {
			least = alarms[i].deadline;
			*ret_i = i;
		}
	return least;
}

static void model_run(struct mono now)
{
	uint32_t first = 0;
	struct mono last = { 0 };

	timers_run(&timers, now);
	for (uint32_t i = 0; i < order_cnt; i++) {
		struct alarm *a = &alarms[order[i]];

		ck_assert(mono_le(last, a->deadline)); /* in order */
		ck_assert(mono_le(a->deadline, now));
		last = a->deadline;
		a->deadline = MONO_NEVER; /* once */
	}
	order_cnt = 0;
	ck_assert(mono_lt(now, model_next(&first))); /* all of them */
}

START_TEST(many_timers_at_random_run_as_the_model_says)
{
	struct prng rnd = { (uint64_t)_i + 1 };
	struct mono now = { 1000 };
	uint32_t first = 0;

	for (uint32_t i = 0; i < ALARM_CNT; i++)
		alarms[i].deadline = MONO_NEVER;
	for (int step = 0; step < 3000; step++) {
		uint32_t i = (uint32_t)prng_below(&rnd, ALARM_CNT);

		switch (prng_below(&rnd, 8)) {
		case 0:
			timer_cancel(&timers, &alarms[i].timer);
			alarms[i].deadline = MONO_NEVER;
			break;
		case 1:
			now = mono_add(now, prng_below(&rnd, 40));
			model_run(now);
			break;
		case 2: /* a little later than it was: what an acknowledgement does */
			if (timer_is_armed(&alarms[i].timer))
				arm(i, alarms[i].deadline.ns + prng_below(&rnd, 100));
			break;
		case 3:
			arm(i, UINT64_MAX);
			break;
		default:
			arm(i, now.ns + 1 + prng_below(&rnd, 500));
			break;
		}
		if (step % 16 == 0)
			ck_assert_uint_eq(timers_next(&timers).ns, model_next(&first).ns);
	}
	model_run(at(UINT64_MAX - 1));
	ck_assert_uint_eq(timers_next(&timers).ns, UINT64_MAX);
	ck_assert_uint_eq(timers.cnt, 0);
}
END_TEST

Suite *timer_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("timer", setup, teardown, &s);

	tcase_add_test(t, nothing_armed_has_no_deadline);
	tcase_add_test(t, due_timers_run_in_order_of_deadline_and_the_others_stay);
	tcase_add_test(t, timer_moved_later_runs_once_at_its_new_time);
	tcase_add_test(t, timer_moved_earlier_runs_at_its_new_time);
	tcase_add_test(t, cancelled_timer_does_not_run_and_may_be_armed_again);
	tcase_add_test(t, armed_for_never_is_not_armed);
	tcase_add_test(t, callback_may_cancel_one_that_is_due_too);
	tcase_add_test(t, callback_may_arm_itself_and_a_due_one_runs_in_the_same_turn);
	tcase_add_test(t, callback_that_always_arms_for_the_past_does_not_hold_the_loop);
	tcase_add_test_raise_signal(t, done_with_a_timer_armed_traps, UNIT_TRAP);
	tcase_add_loop_test(t, many_timers_at_random_run_as_the_model_says, 0, 8);
	return s;
}
