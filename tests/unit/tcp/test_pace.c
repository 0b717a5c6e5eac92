/* SPDX-License-Identifier: Apache-2.0 */
/* test_pace.c - tcp_pace.c: when octets may leave, and in how large pieces */
#include "rig.h"
#include "suites.h"

enum { MSS = RIG_MSS };

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;

static void teardown(void)
{
	rig_free(t);
}

/* 20 segments sent and acknowledged a millisecond later: beyond the free ones, the round trip is 1 ms. */
static void fresh(void)
{
	t = rig_established(&(struct rig_opts){ .has_sack = true, .wscale = 8 });
	at_ms(t, 0);
	conn(t)->cc.cwnd = 1 << 20;
	seg_in(t, S(.seq = 1, .ack = 1));
	rig_write(t, 20 * MSS, false);
	turn(t);
	forget_out(t);
	at_ms(t, 1);
	seg_in(t, S(.seq = 1, .ack = 1 + 20 * MSS));
	turn(t);
	conn(t)->min_rtt_ns = 100 * NS_PER_MS; /* no larger pieces for a short way */
}

static uint32_t octets_out(void)
{
	const struct sent *o;
	uint32_t sum = 0;

	while ((o = take_out(t)) != NULL)
		sum += o->len;
	return sum;
}

START_TEST(pace_is_off_without_knob_or_option)
{
	fresh();
	rig_write(t, 100 * MSS, false);
	turn(t);
	ck_assert_uint_eq(octets_out(), 100 * MSS);
}
END_TEST

START_TEST(pace_max_rate_spaces_segments)
{
	fresh();
	/* a segment every 10 ms */
	ck_assert_int_eq(ops->setopt(t->c, NS_SO_MAX_PACING_RATE, 100 * MSS), 0);
	rig_write(t, 100 * MSS, false);
	turn(t);
	ck_assert_uint_eq(octets_out(), MSS);
	turn(t);
	ck_assert_uint_eq(octets_out(), 0);
	at_ms(t, 11);
	ck_assert_uint_eq(octets_out(), MSS);
	at_ms(t, 110); /* by the timer alone */
	ck_assert_uint_ge(octets_out(), 9 * MSS);
	ck_assert_uint_le(conn(t)->snd_nxt.v - t->iss, 1 + 32 * MSS);
}
END_TEST

START_TEST(pace_does_not_hold_the_first_ten_segments)
{
	t = rig_established(&(struct rig_opts){ .has_sack = true });
	ck_assert_int_eq(ops->setopt(t->c, NS_SO_MAX_PACING_RATE, 1000), 0);
	rig_write(t, 100 * MSS, false);
	turn(t);
	ck_assert_uint_eq(octets_out(), 10 * MSS);
}
END_TEST

START_TEST(pace_pieces_hold_a_millisecond_and_no_more_than_the_path_takes)
{
	struct sent *o;

	fresh();
	t->gso = 65535;
	ck_assert_int_eq(ops->setopt(t->c, NS_SO_MAX_PACING_RATE, 20 * 1024 * MSS), 0);
	rig_write(t, 200 * MSS, false);
	turn(t);
	o = take_out(t);
	ck_assert_uint_eq(o->len, 20 * MSS);
	forget_out(t);
	ck_assert_int_eq(ops->setopt(t->c, NS_SO_MAX_PACING_RATE, 1000 * 1024 * MSS), 0);
	at_ms(t, 3);
	o = take_out(t);
	ck_assert_ptr_nonnull(o);
	o = take_out(t);
	ck_assert_uint_eq(o->len, 65495 / MSS * MSS);
}
END_TEST

START_TEST(pace_comes_late_catches_up_by_half)
{
	fresh();
	ck_assert_int_eq(ops->setopt(t->c, NS_SO_MAX_PACING_RATE, 100 * MSS), 0);
	rig_write(t, 100 * MSS, false);
	turn(t); /* the next one in 10 ms */
	t->now = mono_add(t->now, 18 * NS_PER_MS);
	timers_run(&t->core.timers, t->now);
	turn(t);
	ck_assert_uint_eq(tcp_pace_delay_ns(conn(t), t->now), 5 * NS_PER_MS);
}
END_TEST

START_TEST(pace_knob_paces_the_window_over_the_round_trip)
{
	fresh();
	t->core.knobs[NS_KNOB_tcp_pacing] = 1;
	conn(t)->srtt_ns = 100 * NS_PER_MS - NS_PER_US;
	conn(t)->cc.cwnd = 100 * MSS;
	conn(t)->cc.ssthresh = 100 * MSS;
	tcp_pace_update(conn(t));
	ck_assert_uint_eq(conn(t)->pace.rate, 1200 * MSS);
	conn(t)->cc.ssthresh = 300 * MSS; /* the window is below half of it */
	tcp_pace_update(conn(t));
	ck_assert_uint_eq(conn(t)->pace.rate, 2000 * MSS);
}
END_TEST

START_TEST(pace_held_octets_are_not_probed_for)
{
	fresh();
	ck_assert_int_eq(ops->setopt(t->c, NS_SO_MAX_PACING_RATE, MSS), 0); /* one a second */
	rig_write(t, MSS, false);
	turn(t);
	ck_assert_uint_eq(octets_out(), MSS);
	at_ms(t, 2);
	seg_in(t, S(.seq = 1, .ack = 1 + 21 * MSS)); /* nothing is outstanding */
	rig_write(t, 2 * MSS, false);
	turn(t);
	at_ms(t, 990);
	ck_assert_uint_eq(octets_out(), 0);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_PROBES), 0);
	at_ms(t, 1010);
	ck_assert_uint_eq(octets_out(), MSS);
}
END_TEST

START_TEST(pace_delays_the_retransmission_timer_as_well)
{
	fresh();
	ck_assert_int_eq(ops->setopt(t->c, NS_SO_MAX_PACING_RATE, MSS), 0);
	rig_write(t, MSS, false);
	turn(t);
	ck_assert_uint_eq(mono_since(conn(t)->rto_timer.when, t->now),
			  tcp_rto_ns(conn(t)) + tcp_pace_delay_ns(conn(t), t->now));
	ck_assert_uint_ge(tcp_pace_delay_ns(conn(t), t->now), 999 * NS_PER_MS);
}
END_TEST

START_TEST(pace_option_reads_as_it_was_set_and_is_told)
{
	struct ns_tcp_info info;
	int v = 0;

	fresh();
	ck_assert_int_eq(ops->getopt(t->c, NS_SO_MAX_PACING_RATE, &v), 0);
	ck_assert_int_eq(v, -1);
	ck_assert_int_eq(ops->setopt(t->c, NS_SO_MAX_PACING_RATE, 5000), 0);
	ck_assert_int_eq(ops->getopt(t->c, NS_SO_MAX_PACING_RATE, &v), 0);
	ck_assert_int_eq(v, 5000);
	ck_assert_int_eq(tcp_info(t->c, t->now, &info), 0);
	ck_assert_uint_eq(info.max_pacing_rate, 5000);
	ck_assert_uint_eq(info.pacing_rate, 5000);
}
END_TEST

Suite *pace_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("pace", NULL, teardown, &s);

	tcase_add_test(tc, pace_is_off_without_knob_or_option);
	tcase_add_test(tc, pace_max_rate_spaces_segments);
	tcase_add_test(tc, pace_does_not_hold_the_first_ten_segments);
	tcase_add_test(tc, pace_pieces_hold_a_millisecond_and_no_more_than_the_path_takes);
	tcase_add_test(tc, pace_comes_late_catches_up_by_half);
	tcase_add_test(tc, pace_knob_paces_the_window_over_the_round_trip);
	tcase_add_test(tc, pace_held_octets_are_not_probed_for);
	tcase_add_test(tc, pace_delays_the_retransmission_timer_as_well);
	tcase_add_test(tc, pace_option_reads_as_it_was_set_and_is_told);
	return s;
}
