/* SPDX-License-Identifier: Apache-2.0 */
/* test_cubic.c - cc_cubic.c: RFC 9438, RFC 9406, against the formulas in floating point */
#include <math.h>

#include "rig.h"
#include "suites.h"

enum { MSS = 1000 };

static struct tcp_cc cc;
static struct mono now;

static void setup(void)
{
	now = (struct mono){ NS_PER_SEC };
	tcp_cc_init(&cc, &tcp_cc_cubic, MSS);
}

/** round_trip() - a whole window is acknowledged, a segment at a time, over @rtt_ns */
static void round_trip(uint64_t rtt_ns)
{
	uint32_t segs = cc.cwnd / MSS;

	for (uint32_t i = 0; i < segs; i++) {
		struct tcp_cc_ack a = { .acked = MSS,
					.flight = cc.cwnd,
					.rtt_ns = rtt_ns,
					.srtt_ns = rtt_ns,
					.is_cwnd_limited = true };

		now = mono_add(now, rtt_ns / segs);
		cc.ops->on_ack(&cc, &a, now);
	}
}

/** lose() - a loss at @cwnd, found and recovered at once */
static void lose(uint32_t cwnd)
{
	cc.cwnd = cwnd;
	cc.ops->on_loss(&cc, cwnd, now);
	cc.cwnd = cc.ssthresh;
	cc.ops->on_recovered(&cc, now);
}

START_TEST(rfc9438_s4_6_loss_leaves_seven_tenths)
{
	lose(1000 * MSS);
	ck_assert_uint_eq(cc.ssthresh, 700 * MSS);
	lose(2 * MSS);
	ck_assert_uint_eq(cc.ssthresh, 2 * MSS);
}
END_TEST

START_TEST(rfc9438_s4_2_window_follows_the_cubic_curve)
{
	const uint64_t rtt = 100 * NS_PER_MS;
	const double w_max = 1000, k = cbrt(w_max * 0.3 / 0.4);

	lose(1000 * MSS);

	struct mono start = now;

	/* 20 s: through the plateau at K = 9.1 s and well beyond it */
	for (int i = 0; i < 200; i++) {
		round_trip(rtt);

		double t = (double)mono_since(now, start) / 1e9;
		double want = 0.4 * pow(t - k, 3) + w_max;

		ck_assert_double_ge((double)cc.cwnd / MSS, want * 0.97);
		ck_assert_double_le((double)cc.cwnd / MSS, want * 1.03 + 1);
	}
}
END_TEST

START_TEST(rfc9438_s4_3_short_round_trips_do_as_well_as_reno)
{
	/* 1 ms: the cubic curve would gain nothing in a second, Reno gains a segment a round trip */
	lose(20 * MSS);
	for (int i = 0; i < 1000; i++)
		round_trip(NS_PER_MS);
	/* 9/17 segment a round trip up to 20 segments, one from there on */
	ck_assert_uint_ge(cc.cwnd, 900 * MSS);
	ck_assert_uint_le(cc.cwnd, 1020 * MSS);
}
END_TEST

/* Equation 4 divides by cwnd: where the curve leads, the estimate gains no more than alpha a round trip. */
START_TEST(rfc9438_s4_3_estimate_gains_alpha_a_round_trip)
{
	lose(100 * MSS);
	cc.cwnd = 200 * MSS; /* the curve is far ahead */

	uint32_t before = cc.cubic.w_est;

	for (int i = 0; i < 200; i++) {
		struct tcp_cc_ack a = { .acked = MSS, .is_cwnd_limited = true };

		cc.cwnd = 200 * MSS;
		cc.ops->on_ack(&cc, &a, now);
	}
	ck_assert_uint_eq(cc.cubic.w_est, before + MSS * 9 / 17);
}
END_TEST

/* cwnd_prior and not W_max, which fast convergence made less, says from where on alpha is 1. */
START_TEST(rfc9438_s4_3_alpha_is_one_from_the_window_before_the_loss)
{
	lose(1000 * MSS);
	lose(800 * MSS);
	ck_assert_uint_eq(cc.cubic.w_max, 680 * MSS);
	ck_assert_uint_eq(cc.cubic.cwnd_prior, 800 * MSS);
	for (uint32_t from = 700; from <= 800; from += 100) {
		struct tcp_cc_ack a = { .acked = cc.cwnd, .is_cwnd_limited = true };

		cc.cubic.w_est = from * MSS;
		cc.cubic.est_acked = 0;
		cc.ops->on_ack(&cc, &a, now);
		ck_assert_uint_eq(cc.cubic.w_est, from * MSS + (from < 800 ? MSS * 9 / 17 : MSS));
	}
}
END_TEST

START_TEST(rfc9438_s4_8_after_a_timeout_the_curve_begins_flat)
{
	cc.cwnd = 1000 * MSS;
	cc.ops->on_rto(&cc, cc.cwnd, now);
	ck_assert_uint_eq(cc.ssthresh, 700 * MSS);
	cc.cwnd = MSS;
	while (tcp_cc_in_slow_start(&cc))
		round_trip(100 * NS_PER_MS);
	ck_assert_uint_eq(cc.cubic.k_ms, 0);
	ck_assert_uint_eq(cc.cubic.w_max, 700 * MSS);

	struct mono start = cc.cubic.epoch;

	/* as steep as before the timeout it would be at 940 after 4 s */
	while (mono_since(now, start) < 4 * NS_PER_SEC)
		round_trip(100 * NS_PER_MS);

	double want = 700 + 0.4 * pow((double)mono_since(now, start) / 1e9, 3);

	ck_assert_double_le((double)cc.cwnd / MSS, want * 1.03 + 1);
	ck_assert_double_ge((double)cc.cwnd / MSS, want * 0.97);
}
END_TEST

START_TEST(rfc9438_s4_9_2_undo_keeps_what_is_newer)
{
	lose(1000 * MSS);

	struct tcp_cc was = cc; /* 700 */

	lose(700 * MSS);
	tcp_cc_undo(&cc, &was);
	ck_assert_uint_eq(cc.cwnd, 700 * MSS);
	ck_assert_uint_eq(cc.cubic.w_max, 1000 * MSS);
	ck_assert_uint_eq(cc.cubic.k_ms, was.cubic.k_ms);

	was = cc;
	lose(700 * MSS);
	cc.cwnd = 710 * MSS;

	uint32_t w_max = cc.cubic.w_max;

	tcp_cc_undo(&cc, &was);
	ck_assert_uint_eq(cc.cwnd, 710 * MSS);
	ck_assert_uint_eq(cc.cubic.w_max, w_max);
}
END_TEST

START_TEST(rfc9438_s4_7_fast_convergence_gives_way)
{
	lose(1000 * MSS);
	lose(800 * MSS); /* below the last maximum: another flow wants room */
	ck_assert_uint_eq(cc.cubic.w_max, 680 * MSS);
	lose(900 * MSS);
	ck_assert_uint_eq(cc.cubic.w_max, 900 * MSS);
}
END_TEST

START_TEST(rfc9438_s5_8_idle_time_is_not_time_since_the_loss)
{
	lose(1000 * MSS);
	round_trip(100 * NS_PER_MS);

	struct tcp_cc_ack idle = { .acked = MSS, .is_cwnd_limited = false };
	uint32_t before = cc.cwnd;

	cc.ops->on_ack(&cc, &idle, now);
	now = mono_add(now, 60 * NS_PER_SEC);
	round_trip(100 * NS_PER_MS);
	ck_assert_uint_ge(cc.cwnd, before);
	ck_assert_uint_le(cc.cwnd, before + before / 20);
}
END_TEST

START_TEST(rfc9438_target_grows_by_half_at_most)
{
	lose(10 * MSS);
	now = mono_add(now, 3600 * NS_PER_SEC);

	uint32_t before = cc.cwnd;

	round_trip(100 * NS_PER_MS);
	ck_assert_uint_le(cc.cwnd, before + before / 2 + MSS);
}
END_TEST

START_TEST(rfc9406_s4_2_growing_round_trips_end_slow_start)
{
	uint64_t rtt = 40 * NS_PER_MS;
	int rounds = 0;

	while (tcp_cc_in_slow_start(&cc) && rounds < 40) {
		round_trip(rtt);
		rtt += rtt / 6; /* over an eighth a round: a queue builds */
		rounds++;
	}
	ck_assert(!tcp_cc_in_slow_start(&cc));
	ck_assert_int_ge(rounds, 5); /* conservative slow start lasts five rounds */
	ck_assert_int_lt(rounds, 10);
}
END_TEST

/* RFC 9406 4.3: an eighth of the last round's least, but 4 ms at least and 16 ms at most; of eight samples. */
START_TEST(rfc9406_s4_3_how_much_a_round_trip_must_grow)
{
	static const struct {
		uint64_t was_us, grown_us;
	} rows[] = { { 16000, 4000 },   { 24000, 4000 },   { 40000, 5000 },
		     { 100000, 12500 }, { 128000, 16000 }, { 400000, 16000 } };

	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		uint64_t was = rows[i].was_us * NS_PER_US, grown = rows[i].grown_us * NS_PER_US;
		struct tcp_cc_ack a = { .acked = MSS, .is_cwnd_limited = true };

		setup();
		round_trip(was);
		round_trip(was + grown - 1);
		ck_assert(!cc.cubic.is_css);
		setup();
		round_trip(was);
		a.rtt_ns = a.srtt_ns = was + grown;
		a.flight = cc.cwnd;
		for (int k = 1; k <= 8; k++) {
			ck_assert(!cc.cubic.is_css);
			cc.ops->on_ack(&cc, &a, now);
		}
		ck_assert(cc.cubic.is_css);
	}
}
END_TEST

/* RFC 9406 4.3: a quarter of the growth, five rounds of it, then ssthresh is where the window is. */
START_TEST(rfc9406_s4_3_conservative_slow_start_lasts_five_rounds)
{
	uint32_t before;

	round_trip(40 * NS_PER_MS);
	round_trip(60 * NS_PER_MS);
	ck_assert(cc.cubic.is_css);
	for (int round = 2; round <= 4; round++) { /* the one in which it began counts */
		before = cc.cwnd;
		round_trip(60 * NS_PER_MS);
		ck_assert(tcp_cc_in_slow_start(&cc));
		ck_assert_uint_ge(cc.cwnd, before + before / 5);
		ck_assert_uint_le(cc.cwnd, before + before / 4);
	}
	round_trip(60 * NS_PER_MS);
	ck_assert(!tcp_cc_in_slow_start(&cc));
	ck_assert_uint_le(cc.ssthresh, cc.cwnd);
}
END_TEST

/* RFC 9438 4.2: "when cwnd is limited"; a program that sends less gains nothing, in no phase. */
START_TEST(rfc9438_s5_8_no_growth_while_the_program_is_the_limit)
{
	struct tcp_cc_ack a = { .acked = MSS, .rtt_ns = 40 * NS_PER_MS, .srtt_ns = 40 * NS_PER_MS };

	for (int phase = 0; phase < 2; phase++) {
		uint32_t before = cc.cwnd;

		for (int i = 0; i < 1000; i++) {
			now = mono_add(now, NS_PER_MS);
			cc.ops->on_ack(&cc, &a, now);
		}
		ck_assert_uint_eq(cc.cwnd, before);
		lose(100 * MSS);
	}
}
END_TEST

START_TEST(rfc9406_s4_2_noise_returns_to_slow_start)
{
	round_trip(40 * NS_PER_MS);
	round_trip(60 * NS_PER_MS);
	ck_assert(cc.cubic.is_css);
	round_trip(40 * NS_PER_MS);
	ck_assert(!cc.cubic.is_css);
	ck_assert(tcp_cc_in_slow_start(&cc));
}
END_TEST

/* A slow start after a timeout knows its end; longer round trips on the way there are its own. */
START_TEST(rfc9406_s4_3_only_the_first_slow_start)
{
	cc.cwnd = 1000 * MSS;
	cc.ops->on_rto(&cc, cc.cwnd, now);
	cc.cwnd = 16 * MSS;
	round_trip(40 * NS_PER_MS);
	round_trip(60 * NS_PER_MS);
	ck_assert(!cc.cubic.is_css);
	ck_assert_uint_eq(cc.cwnd, 64 * MSS);
}
END_TEST

START_TEST(rfc9406_steady_round_trips_keep_slow_start)
{
	for (int i = 0; i < 12; i++)
		round_trip(40 * NS_PER_MS);
	ck_assert(tcp_cc_in_slow_start(&cc));
	ck_assert_uint_ge(cc.cwnd, 10u * MSS << 11);
}
END_TEST

Suite *cubic_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("cubic", setup, NULL, &s);

	tcase_add_test(t, rfc9438_s4_6_loss_leaves_seven_tenths);
	tcase_add_test(t, rfc9438_s4_2_window_follows_the_cubic_curve);
	tcase_add_test(t, rfc9438_s4_3_short_round_trips_do_as_well_as_reno);
	tcase_add_test(t, rfc9438_s4_3_estimate_gains_alpha_a_round_trip);
	tcase_add_test(t, rfc9438_s4_3_alpha_is_one_from_the_window_before_the_loss);
	tcase_add_test(t, rfc9438_s4_8_after_a_timeout_the_curve_begins_flat);
	tcase_add_test(t, rfc9438_s4_9_2_undo_keeps_what_is_newer);
	tcase_add_test(t, rfc9438_s4_7_fast_convergence_gives_way);
	tcase_add_test(t, rfc9438_s5_8_idle_time_is_not_time_since_the_loss);
	tcase_add_test(t, rfc9438_target_grows_by_half_at_most);
	tcase_add_test(t, rfc9406_s4_2_growing_round_trips_end_slow_start);
	tcase_add_test(t, rfc9406_s4_3_how_much_a_round_trip_must_grow);
	tcase_add_test(t, rfc9406_s4_3_conservative_slow_start_lasts_five_rounds);
	tcase_add_test(t, rfc9438_s5_8_no_growth_while_the_program_is_the_limit);
	tcase_add_test(t, rfc9406_s4_2_noise_returns_to_slow_start);
	tcase_add_test(t, rfc9406_s4_3_only_the_first_slow_start);
	tcase_add_test(t, rfc9406_steady_round_trips_keep_slow_start);
	return s;
}
