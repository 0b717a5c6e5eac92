/* SPDX-License-Identifier: Apache-2.0 */
/* test_bbr.c - cc_bbr.c: draft-cardwell-iccrg-bbr-congestion-control-00, section by section */
#include <string.h>

#include "rig.h"
#include "suites.h"

enum {
	MSS = 1000,
	G1 = 256,
	G_HIGH = 739,
	G_DRAIN = 88,
	G_UP = 320,
	G_DOWN = 192,
};

#define RTT (100 * NS_PER_MS)
#define MB  UINT64_C(1000000)

static struct tcp_cc cc;
static struct mono now;
static uint64_t delivered;

static void setup(void)
{
	now = (struct mono){ NS_PER_SEC };
	delivered = 0;
	tcp_cc_init(&cc, &tcp_cc_bbr, MSS);
	cc.random = 1;
}

/* A sample of @rate octets a second over a round trip; of @acked octets, the newest sent a round trip ago. */
static struct tcp_cc_sample sample(uint64_t rate, uint64_t rtt_ns, uint32_t acked)
{
	struct tcp_cc_sample s = {
		.prior_delivered = delivered,
		.ns = rtt_ns,
		.rtt_ns = rtt_ns,
		.srtt_ns = rtt_ns,
		.acked = acked,
		.flight = cc.cwnd - ns_min_u(cc.cwnd, acked),
		.prior_flight = cc.cwnd,
	};

	s.len = rate * rtt_ns / NS_PER_SEC;
	delivered += acked;
	s.delivered = delivered;
	return s;
}

static bool give(const struct tcp_cc_sample *s)
{
	return cc.ops->on_sample(&cc, s, now);
}

/* A round: one acknowledgement that ends it, a round trip after the last. */
static void round_of(uint64_t rate, uint64_t rtt_ns)
{
	struct tcp_cc_sample s = sample(rate, rtt_ns, 10 * MSS);

	s.flight = s.prior_flight = 400 * MSS; /* a queue */
	now = mono_add(now, rtt_ns);
	give(&s);
}

/* Acknowledgements within a round, nothing new of the rate. */
static void within(uint64_t rate, uint32_t acked, uint32_t flight)
{
	struct tcp_cc_sample s = sample(rate, RTT, acked);

	s.prior_delivered = 0;
	s.flight = flight;
	s.prior_flight = flight + acked;
	now = mono_add(now, acked * NS_PER_SEC / rate); /* as fast as the path is */
	give(&s);
}

static struct ns_bbr_info info(void)
{
	struct ns_bbr_info i;

	ck_assert(tcp_cc_bbr_info(&cc, &i));
	return i;
}

/* The product of @rate and RTT, and the quanta at both ends (4.2.3.2). */
static uint32_t product(uint64_t rate)
{
	return (uint32_t)(rate * RTT / NS_PER_SEC);
}

/* Through startup and drain at 1 MB/s: the product is 100 segments. */
static void reach_probe_bw(void)
{
	for (int i = 0; i < 5; i++)
		round_of(MB, RTT);
	within(MB, MSS, product(MB));
	ck_assert_uint_eq(info().cwnd_gain, 2 * G1);
}

START_TEST(bbr_s4_2_1_first_rate_is_the_window_over_the_round_trip)
{
	struct tcp_cc_sample s = sample(0, RTT, MSS);

	s.ns = 0; /* nothing was measured yet */
	give(&s);
	ck_assert_uint_eq(cc.pacing_rate, 10 * MSS * 10 * G_HIGH / G1);
}
END_TEST

START_TEST(bbr_s4_2_1_rate_only_rises_until_the_pipe_was_full)
{
	uint64_t before;

	round_of(MB, RTT);
	before = cc.pacing_rate;
	ck_assert_uint_eq(before, MB * G_HIGH / G1 * 99 / 100);
	round_of(MB / 2, RTT);
	ck_assert_uint_eq(cc.pacing_rate, before);
}
END_TEST

START_TEST(bbr_s4_1_1_2_bandwidth_is_the_highest_of_ten_rounds)
{
	round_of(5 * MB, RTT);
	for (int i = 0; i < 9; i++) {
		round_of(MB, RTT);
		ck_assert_uint_eq(info().bw, 5 * MB);
	}
	round_of(MB, RTT);
	ck_assert_uint_eq(info().bw, MB);
}
END_TEST

START_TEST(bbr_s4_1_1_3_a_round_ends_with_what_was_sent_in_it)
{
	round_of(MB, RTT);

	uint32_t round = cc.bbr.round_cnt;
	struct tcp_cc_sample s = sample(MB, RTT, MSS);

	s.prior_delivered -= 1; /* sent before the round began */
	give(&s);
	ck_assert_uint_eq(cc.bbr.round_cnt, round);
	s = sample(MB, RTT, MSS);
	give(&s);
	ck_assert_uint_eq(cc.bbr.round_cnt, round + 1);
}
END_TEST

START_TEST(bbr_s4_1_1_4_samples_of_a_quiet_program_only_raise)
{
	struct tcp_cc_sample s;

	round_of(MB, RTT);
	for (int i = 0; i < 20; i++) {
		s = sample(MB / 10, RTT, MSS);
		s.is_app_limited = true;
		now = mono_add(now, RTT);
		give(&s);
		ck_assert_uint_eq(info().bw, MB);
	}
	s = sample(2 * MB, RTT, MSS);
	s.is_app_limited = true;
	give(&s);
	ck_assert_uint_eq(info().bw, 2 * MB);
}
END_TEST

START_TEST(bbr_s4_1_2_2_round_trip_is_the_least_of_ten_seconds)
{
	round_of(MB, RTT);
	round_of(MB, RTT / 2);
	ck_assert_uint_eq(info().min_rtt_us, 50000);
	for (int i = 0; i < 99; i++)
		round_of(MB, RTT);
	ck_assert_uint_eq(info().min_rtt_us, 50000);
	round_of(MB, RTT);
	round_of(MB, RTT);
	ck_assert_uint_eq(info().min_rtt_us, 100000);
}
END_TEST

START_TEST(bbr_s4_3_2_1_startup_doubles)
{
	round_of(MB, RTT);
	ck_assert_uint_eq(info().pacing_gain, G_HIGH);
	ck_assert_uint_eq(info().cwnd_gain, G_HIGH);
}
END_TEST

START_TEST(bbr_s4_3_2_2_three_rounds_without_a_quarter_more_fill_the_pipe)
{
	round_of(MB, RTT);
	round_of(MB * 5 / 4, RTT); /* a quarter: still growing */
	round_of(MB * 5 / 4, RTT);
	round_of(MB * 3 / 2, RTT);
	ck_assert_uint_eq(info().pacing_gain, G_HIGH);
	round_of(MB * 5 / 4, RTT);
	ck_assert_uint_eq(info().pacing_gain, G_DRAIN);
	ck_assert_uint_eq(info().cwnd_gain, G_HIGH);
}
END_TEST

START_TEST(bbr_s4_3_2_2_rounds_of_a_quiet_program_do_not_count)
{
	round_of(MB, RTT);
	for (int i = 0; i < 10; i++) {
		struct tcp_cc_sample s = sample(MB, RTT, MSS);

		s.is_app_limited = true;
		now = mono_add(now, RTT);
		give(&s);
	}
	ck_assert_uint_eq(info().pacing_gain, G_HIGH);
}
END_TEST

START_TEST(bbr_s4_3_3_drain_lasts_until_the_queue_is_gone)
{
	uint32_t full;

	for (int i = 0; i < 4; i++)
		round_of(MB, RTT);
	ck_assert_uint_eq(info().pacing_gain, G_DRAIN);
	full = product(MB) + 3 * 2 * MSS; /* drain paces at 0.34 MB/s: quanta of two segments */
	within(MB, MSS, full + MSS);
	ck_assert_uint_eq(info().pacing_gain, G_DRAIN);
	within(MB, MSS, product(MB));
	ck_assert_uint_eq(info().cwnd_gain, 2 * G1);
	ck_assert_uint_ne(info().pacing_gain, G_DRAIN);
}
END_TEST

START_TEST(bbr_s4_3_4_2_cycle_never_begins_with_three_quarters)
{
	uint32_t seen = 0;

	for (uint32_t i = 0; i < 200; i++) {
		setup();
		cc.random = i * 2654435761u;
		reach_probe_bw();
		ck_assert_uint_ne(info().pacing_gain, G_DOWN);
		seen |= 1u << cc.bbr.cycle_idx;
	}
	ck_assert_uint_eq(seen, 0xfd); /* all others */
}
END_TEST

/* What the window has besides in the phase of 5/4 (linux bbr_quantization_budget()). */
static uint32_t probe_octets(void)
{
	return info().pacing_gain == G_UP ? 2 * MSS : 0;
}

/* To the phase of 5/4. */
static void reach_up(void)
{
	reach_probe_bw();
	for (int i = 0; i < 8 && info().pacing_gain != G_UP; i++) {
		now = mono_add(now, RTT + 1);
		within(MB, MSS, product(MB) / 2);
	}
	ck_assert_uint_eq(info().pacing_gain, G_UP);
}

START_TEST(bbr_s4_3_4_3_up_lasts_until_a_quarter_more_is_in_flight)
{
	reach_up();
	now = mono_add(now, 5 * RTT);
	within(MB, MSS, product(MB));
	ck_assert_uint_eq(info().pacing_gain, G_UP);
	/* with the quanta, made even, and the two segments of this phase; one segment was acknowledged */
	within(MB, MSS, product(MB) * 5 / 4 + (6 + 1 + 2 - 2) * MSS);
	ck_assert_uint_eq(info().pacing_gain, G_UP);
	within(MB, MSS, product(MB) * 5 / 4 + (6 + 1 + 2 - 1) * MSS);
	ck_assert_uint_eq(info().pacing_gain, G_DOWN);
}
END_TEST

START_TEST(bbr_s4_3_4_3_up_lasts_a_round_trip_at_least)
{
	reach_up();
	within(MB, MSS, product(MB) * 2);
	ck_assert_uint_eq(info().pacing_gain, G_UP);
	now = mono_add(now, RTT + 1);
	within(MB, MSS, product(MB) * 2);
	ck_assert_uint_eq(info().pacing_gain, G_DOWN);
}
END_TEST

START_TEST(bbr_s4_3_4_3_up_ends_with_a_loss)
{
	struct tcp_cc_sample s;

	reach_up();
	now = mono_add(now, RTT + 1);
	s = sample(MB, RTT, MSS);
	s.prior_delivered = 0;
	s.prior_flight = s.flight = product(MB);
	s.lost = MSS;
	give(&s);
	ck_assert_uint_eq(info().pacing_gain, G_DOWN);
}
END_TEST

START_TEST(bbr_s4_3_4_3_down_ends_early_when_the_queue_is_gone)
{
	reach_up();
	now = mono_add(now, RTT + 1);
	within(MB, MSS, product(MB) * 2);
	ck_assert_uint_eq(info().pacing_gain, G_DOWN);
	within(MB, MSS, product(MB) * 2);
	ck_assert_uint_eq(info().pacing_gain, G_DOWN);
	within(MB, MSS, product(MB) / 2);
	ck_assert_uint_eq(info().pacing_gain, G1);
}
END_TEST

START_TEST(bbr_s4_3_4_1_six_phases_cruise)
{
	reach_up();
	now = mono_add(now, RTT + 1);
	within(MB, MSS, product(MB) * 2);
	for (int i = 0; i < 6; i++) {
		now = mono_add(now, RTT + 1);
		within(MB, MSS, product(MB));
		ck_assert_uint_eq(info().pacing_gain, G1);
	}
	now = mono_add(now, RTT + 1);
	within(MB, MSS, product(MB));
	ck_assert_uint_eq(info().pacing_gain, G_UP);
}
END_TEST

START_TEST(bbr_s4_3_4_4_after_idleness_it_paces_at_the_bandwidth)
{
	struct tcp_cc_sample s;
	uint32_t cwnd;

	reach_up();
	cwnd = cc.cwnd;
	now = mono_add(now, 30 * NS_PER_SEC);
	cc.ops->on_restart(&cc, true, now);
	ck_assert_uint_eq(cc.pacing_rate, MB * 99 / 100);
	ck_assert_uint_eq(cc.cwnd, cwnd);
	/* the idle time has drained the queue: no probe for it */
	now = mono_add(now, 2 * RTT);
	s = sample(MB, 2 * RTT, MSS);
	s.is_app_limited = true;
	ck_assert(!give(&s));
	ck_assert_uint_eq(info().min_rtt_us, 200000);
	ck_assert_uint_eq(info().cwnd_gain, 2 * G1);
}
END_TEST

/* Ten seconds without a lower round trip. */
static void reach_probe_rtt(void)
{
	struct tcp_cc_sample s;

	reach_probe_bw();
	now = mono_add(now, 10 * NS_PER_SEC + 1);
	s = sample(MB, 2 * RTT, MSS);
	ck_assert(give(&s));
	ck_assert_uint_eq(cc.cwnd, 4 * MSS);
	ck_assert_uint_eq(info().pacing_gain, G1);
}

START_TEST(bbr_s4_3_5_probe_rtt_lasts_200_ms_and_a_round)
{
	struct tcp_cc_sample s;
	uint32_t cwnd;

	reach_probe_bw();
	cwnd = cc.cwnd;
	setup();
	reach_probe_rtt();
	now = mono_add(now, RTT);
	within(MB, MSS, 5 * MSS); /* not there yet: no clock runs */
	ck_assert_uint_eq(cc.bbr.probe_end.ns, 0);
	now = mono_add(now, RTT);
	within(MB, MSS, 4 * MSS);
	ck_assert_uint_eq(mono_since(cc.bbr.probe_end, now), 200 * NS_PER_MS);
	now = mono_add(now, 201 * NS_PER_MS);
	within(MB, MSS, 3 * MSS); /* long enough, but what was sent meanwhile is not back */
	ck_assert_uint_eq(cc.cwnd, 4 * MSS);
	s = sample(MB / 100, RTT, MSS);
	s.is_app_limited = true;
	ck_assert(give(&s));
	ck_assert_uint_eq(info().cwnd_gain, 2 * G1);
	ck_assert_uint_ge(cc.cwnd, cwnd); /* 4.2.3.4: the last good one */
	s = sample(MB, RTT, MSS);
	ck_assert(!give(&s));
}
END_TEST

START_TEST(bbr_s4_3_5_probe_rtt_before_the_pipe_was_full_returns_to_startup)
{
	struct tcp_cc_sample s;

	round_of(MB, RTT);
	now = mono_add(now, 10 * NS_PER_SEC + 1);
	s = sample(MB, 2 * RTT, MSS);
	s.flight = MSS;
	ck_assert(give(&s));
	now = mono_add(now, 201 * NS_PER_MS);
	s = sample(MB, RTT, MSS);
	give(&s);
	ck_assert_uint_eq(info().pacing_gain, G_HIGH);
}
END_TEST

/* And one acknowledgement's worth, as acknowledgements come in bunches of ten segments here. */
START_TEST(bbr_s4_2_3_2_window_is_twice_the_product_and_the_quanta)
{
	const uint32_t window = 2 * product(MB) + 3 * 2 * MSS + 10 * MSS;

	reach_probe_bw();
	for (int i = 0; i < 60; i++)
		within(MB, 10 * MSS, product(MB));
	ck_assert_uint_eq(cc.cwnd, window + probe_octets());
}
END_TEST

/* linux bbr_quantization_budget(): a receiver acknowledges every other segment, and what is rounded down is lost for good */
START_TEST(bbr_s4_2_3_2_window_is_an_even_number_of_segments_rounded_up)
{
	/* 100 octets more than 110 segments: twice that are 221, 10 of a bunch of acknowledgements, 3 * 2 of quanta, and one to be even */
	for (int i = 0; i < 5; i++)
		round_of(MB * 11 / 10 + 1000, RTT);
	within(MB * 11 / 10 + 1000, MSS, MSS);
	cc.cwnd = 300 * MSS;
	within(MB * 11 / 10 + 1000, MSS, product(MB));
	ck_assert_uint_eq(cc.cwnd, (221 + 10 + 6 + 1) * MSS + probe_octets());
}
END_TEST

START_TEST(bbr_s4_2_2_quanta_follow_the_rate)
{
	/* 100 kB/s: one segment; 10 MB/s: a millisecond */
	for (int i = 0; i < 5; i++)
		round_of(MB / 20, RTT);
	within(MB / 20, MSS, MSS);
	for (int i = 0; i < 60; i++)
		within(MB / 20, 10 * MSS, MSS);
	ck_assert_uint_eq(cc.cwnd,
			  2 * product(MB / 20) + 3 * MSS + product(MB / 20) + probe_octets());
	setup();
	for (int i = 0; i < 5; i++)
		round_of(10 * MB, RTT);
	within(10 * MB, MSS, MSS);
	cc.cwnd = 1 << 29;
	within(10 * MB, MSS, MSS);
	ck_assert_uint_ge(cc.cwnd, 2 * product(10 * MB) + (3 * 7 + 10) * MSS);
	ck_assert_uint_le(cc.cwnd, 2 * product(10 * MB) + (3 * 13 + 10) * MSS);
}
END_TEST

START_TEST(bbr_bunches_of_acknowledgements_widen_the_window)
{
	struct tcp_cc_sample s;
	uint32_t cwnd;

	reach_probe_bw();
	for (int i = 0; i < 60; i++)
		within(MB, 10 * MSS, product(MB));
	cwnd = cc.cwnd - probe_octets();
	now = mono_add(now, 50 * NS_PER_MS);
	for (int i = 0; i < 5; i++) { /* 50 segments at one moment */
		s = sample(MB, RTT, 10 * MSS);
		s.prior_delivered = 0;
		s.flight = product(MB);
		give(&s);
	}
	ck_assert_uint_eq(cc.cwnd - probe_octets(), cwnd + 40 * MSS);
	/* forgotten after ten rounds */
	for (int i = 0; i < 11; i++) {
		now = mono_add(now, RTT);
		s = sample(MB, RTT, 10 * MSS);
		s.flight = product(MB);
		give(&s);
	}
	ck_assert_uint_eq(cc.cwnd - probe_octets(), cwnd);
}
END_TEST

START_TEST(bbr_s4_2_3_3_four_segments_are_the_least)
{
	for (int i = 0; i < 5; i++)
		round_of(1000, RTT);
	within(1000, MSS, MSS);
	within(1000, MSS, MSS);
	ck_assert_uint_eq(cc.cwnd, 4 * MSS);
}
END_TEST

START_TEST(bbr_s4_2_3_4_first_round_of_recovery_conserves_then_restores)
{
	struct tcp_cc_sample s;
	uint32_t good;

	reach_probe_bw();
	for (int i = 0; i < 60; i++)
		within(MB, 10 * MSS, product(MB));
	good = cc.cwnd;
	cc.ops->on_loss(&cc, good, now);
	s = sample(MB, RTT, 2 * MSS);
	s.prior_delivered = 0;
	s.ca = TCP_CA_RECOVERY;
	s.lost = 3 * MSS;
	s.flight = 50 * MSS;
	give(&s);
	ck_assert_uint_eq(cc.cwnd, 52 * MSS); /* as much leaves as arrived */
	s.acked = MSS;
	s.lost = 0;
	s.flight = 51 * MSS;
	give(&s);
	ck_assert_uint_eq(cc.cwnd, 52 * MSS);
	s = sample(MB, RTT, MSS); /* a round later it grows again */
	s.ca = TCP_CA_RECOVERY;
	s.flight = 51 * MSS;
	give(&s);
	ck_assert_uint_eq(cc.cwnd, 53 * MSS);
	s = sample(MB, RTT, MSS);
	s.flight = 51 * MSS;
	give(&s);
	ck_assert_uint_ge(cc.cwnd, good); /* the segments of this moment are a bunch */
	ck_assert_uint_le(cc.cwnd, good + 2 * MSS);
}
END_TEST

START_TEST(bbr_s4_2_3_4_window_before_a_timeout_comes_back)
{
	struct tcp_cc_sample s;
	uint32_t good;

	reach_probe_bw();
	for (int i = 0; i < 60; i++)
		within(MB, 10 * MSS, product(MB));
	good = cc.cwnd;
	cc.ops->on_rto(&cc, good, now);
	cc.cwnd = MSS;
	s = sample(MB, RTT, MSS);
	s.ca = TCP_CA_LOSS;
	s.flight = 0;
	give(&s);
	ck_assert_uint_eq(cc.cwnd, 4 * MSS);
	s = sample(MB, RTT, MSS);
	s.flight = MSS;
	give(&s);
	ck_assert_uint_eq(cc.cwnd, good);
}
END_TEST

/* A round in which a path of @rate brought @acked and lost @lost; its least round trip was @rtt_ns. */
static void lossy_round_at(uint64_t rate, uint32_t acked, uint32_t lost, uint64_t rtt_ns)
{
	struct tcp_cc_sample s = sample(rate, rtt_ns, acked);

	s.lost = lost;
	s.flight = s.prior_flight = 150 * MSS;
	now = mono_add(now, rtt_ns);
	give(&s);
}

static void lossy_round(uint32_t acked, uint32_t lost, uint64_t rtt_ns)
{
	lossy_round_at(MB, acked, lost, rtt_ns);
}

/* Into the phases in which what a probe has lost is known. */
static void reach_cruise(void)
{
	reach_probe_bw();
	while (cc.bbr.cycle_idx != 0)
		round_of(MB, RTT);
	for (int i = 0; i < 20 && cc.bbr.cycle_idx != 3; i++)
		round_of(MB, RTT);
	ck_assert_uint_eq(cc.bbr.cycle_idx, 3);
	for (int i = 0; i < 30; i++)
		within(MB, 10 * MSS, product(MB));
	while (cc.bbr.cycle_idx < 3)
		round_of(MB, RTT);
	lossy_round(100 * MSS, 0, RTT); /* what was counted until here is over */
}

START_TEST(bbr_losses_beside_a_short_queue_put_a_ceiling_on_the_window)
{
	reach_cruise();
	lossy_round(100 * MSS, 4 * MSS, RTT + RTT / 5);
	ck_assert_uint_le(cc.cwnd, 108 * MSS); /* 0.9 of what the path and its queue held */
	ck_assert_uint_eq(info().bw, MB);      /* the model is what it was */
}
END_TEST

START_TEST(bbr_losses_without_a_queue_put_none)
{
	uint32_t before;

	reach_cruise();
	before = cc.cwnd;
	lossy_round(100 * MSS, 10 * MSS, RTT);
	ck_assert_uint_eq(cc.bbr.ceiling, 0);
	lossy_round(100 * MSS, 0, RTT);
	ck_assert_uint_ge(cc.cwnd, before);
}
END_TEST

START_TEST(bbr_losses_beside_a_long_queue_put_none)
{
	reach_cruise();
	lossy_round(100 * MSS, 10 * MSS, RTT + RTT / 2);
	ck_assert_uint_eq(cc.bbr.ceiling, 0);
}
END_TEST

START_TEST(bbr_few_losses_put_no_ceiling)
{
	reach_cruise();
	lossy_round(80 * MSS, 2 * MSS, RTT + RTT / 5);
	ck_assert_uint_eq(cc.bbr.ceiling, 0);
	lossy_round(1000 * MSS, 20 * MSS, RTT + RTT / 5);
	ck_assert_uint_eq(cc.bbr.ceiling, 0);
}
END_TEST

START_TEST(bbr_what_a_probe_lost_puts_no_ceiling)
{
	reach_cruise();
	while (cc.bbr.cycle_idx != 0)
		lossy_round(100 * MSS, 0, RTT + 1);
	lossy_round(100 * MSS, 20 * MSS, RTT + RTT / 5);
	ck_assert_uint_lt(cc.bbr.cycle_idx, 3);
	ck_assert_uint_eq(cc.bbr.ceiling, 0);
}
END_TEST

/* What startup left in the queue is drained by rounds that bring little. */
START_TEST(bbr_what_startup_lost_puts_no_ceiling)
{
	reach_probe_bw();
	while (cc.bbr.cycle_idx < 3)
		round_of(MB, RTT);
	lossy_round(20 * MSS, 20 * MSS, RTT + RTT / 5);
	ck_assert_uint_eq(cc.bbr.ceiling, 0);
}
END_TEST

START_TEST(bbr_ceiling_rises_with_clean_rounds_and_goes_away)
{
	uint32_t was, rise, last_rise = 0;

	reach_cruise();
	lossy_round(100 * MSS, 4 * MSS, RTT + RTT / 5);
	was = cc.bbr.ceiling;
	ck_assert_uint_eq(was, 108 * MSS);
	for (int i = 0; i < 30 && cc.bbr.ceiling; i++) {
		lossy_round(100 * MSS, 0, RTT);
		if (!cc.bbr.ceiling)
			break;
		rise = cc.bbr.ceiling - was;
		ck_assert_uint_ge(rise, i < 2 ? MSS : last_rise);
		was = cc.bbr.ceiling;
		last_rise = rise;
	}
	ck_assert_uint_eq(cc.bbr.ceiling, 0);
	for (int i = 0; i < 30; i++)
		within(MB, 10 * MSS, product(MB));
	ck_assert_uint_gt(cc.cwnd, 180 * MSS);
}
END_TEST

/* In a recovery a round may be a segment long; such count together. */
START_TEST(bbr_rounds_that_bring_little_count_as_one)
{
	reach_cruise();
	lossy_round(10 * MSS, 4 * MSS, RTT + RTT / 5);
	ck_assert_uint_eq(cc.bbr.ceiling, 0);
	ck_assert_uint_eq(cc.bbr.round_lost, 4 * MSS);
	lossy_round(90 * MSS, 0, RTT + RTT / 5);
	ck_assert_uint_eq(cc.bbr.ceiling, 108 * MSS);
	ck_assert_uint_eq(cc.bbr.round_lost, 0);
}
END_TEST

/* A window below a segment would never let another out. */
START_TEST(bbr_ceiling_of_small_segments_has_room_for_large_ones)
{
	reach_cruise();
	tcp_cc_set_mss(&cc, MSS / 8);
	for (int i = 0; i < 2; i++) /* what a round brought shows when the next one begins */
		lossy_round_at(MB / 50, MSS, MSS, RTT + RTT / 5);
	ck_assert_uint_gt(cc.bbr.ceiling, 0);
	ck_assert_uint_lt(cc.bbr.ceiling, 4 * MSS);
	tcp_cc_set_mss(&cc, MSS);
	lossy_round(MSS, 0, RTT);
	ck_assert_uint_ge(cc.cwnd, 4 * MSS);
}
END_TEST

START_TEST(bbr_undo_keeps_the_model_and_looks_for_the_pipe_anew)
{
	struct tcp_cc was = cc;

	round_of(MB, RTT);
	round_of(MB, RTT);
	tcp_cc_undo(&cc, &was);
	ck_assert_uint_eq(info().bw, MB);
	round_of(MB, RTT);
	round_of(MB, RTT);
	round_of(MB, RTT);
	ck_assert_uint_eq(info().pacing_gain, G_HIGH);
	round_of(MB, RTT);
	ck_assert_uint_eq(info().pacing_gain, G_DRAIN);
}
END_TEST

START_TEST(bbr_switch_leaves_nothing_behind)
{
	reach_probe_bw();
	tcp_cc_switch(&cc, &tcp_cc_cubic);
	ck_assert_uint_eq(cc.pacing_rate, 0);

	struct ns_bbr_info i;

	ck_assert(!tcp_cc_bbr_info(&cc, &i));
	cc.ssthresh = 10 * MSS;
	tcp_cc_switch(&cc, &tcp_cc_bbr);
	ck_assert_uint_eq(cc.ssthresh, TCP_SSTHRESH_INFINITE);
	ck_assert_uint_eq(info().bw, 0);
	ck_assert_uint_eq(info().min_rtt_us, UINT32_MAX);
}
END_TEST

START_TEST(bbr_connection_is_paced_and_tells_its_model)
{
	struct rig *t = rig_established(&(struct rig_opts){ .has_sack = true, .wscale = 8 });
	const struct transport_ops *ops = &tcp_transport_ops;
	struct ns_tcp_info ti;
	int v = 0;

	ck_assert_int_eq(ops->setopt(t->c, NS_TCP_CONGESTION, NS_CC_BBR), 0);
	ck_assert_int_eq(ops->getopt(t->c, NS_TCP_CONGESTION, &v), 0);
	ck_assert_int_eq(v, NS_CC_BBR);
	conn(t)->srtt_ns = conn(t)->min_rtt_ns = RTT;
	rig_write(t, 100 * RIG_MSS, false);
	turn(t);
	forget_out(t);
	at_ms(t, 100);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 10 * RIG_MSS, .wnd = 65535));
	ck_assert_int_eq(tcp_info(t->c, t->now, &ti), 0);
	ck_assert(ti.has_bbr);
	ck_assert_uint_eq(ti.bbr.bw, 10 * RIG_MSS * 10);
	ck_assert_uint_eq(ti.bbr.pacing_gain, G_HIGH);
	/* what is paced does not leave in this turn, though the window would take it */
	ck_assert_uint_gt(tcp_unsent(conn(t)), 0);
	ck_assert_uint_gt(conn(t)->cc.cwnd, tcp_pipe(conn(t)) + RIG_MSS);
	ck_assert(timer_is_armed(&conn(t)->pace_timer));
	rig_free(t);
}
END_TEST

Suite *bbr_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("bbr", setup, NULL, &s);

	tcase_add_test(t, bbr_s4_2_1_first_rate_is_the_window_over_the_round_trip);
	tcase_add_test(t, bbr_s4_2_1_rate_only_rises_until_the_pipe_was_full);
	tcase_add_test(t, bbr_s4_1_1_2_bandwidth_is_the_highest_of_ten_rounds);
	tcase_add_test(t, bbr_s4_1_1_3_a_round_ends_with_what_was_sent_in_it);
	tcase_add_test(t, bbr_s4_1_1_4_samples_of_a_quiet_program_only_raise);
	tcase_add_test(t, bbr_s4_1_2_2_round_trip_is_the_least_of_ten_seconds);
	tcase_add_test(t, bbr_s4_3_2_1_startup_doubles);
	tcase_add_test(t, bbr_s4_3_2_2_three_rounds_without_a_quarter_more_fill_the_pipe);
	tcase_add_test(t, bbr_s4_3_2_2_rounds_of_a_quiet_program_do_not_count);
	tcase_add_test(t, bbr_s4_3_3_drain_lasts_until_the_queue_is_gone);
	tcase_add_test(t, bbr_s4_3_4_2_cycle_never_begins_with_three_quarters);
	tcase_add_test(t, bbr_s4_3_4_3_up_lasts_until_a_quarter_more_is_in_flight);
	tcase_add_test(t, bbr_s4_3_4_3_up_lasts_a_round_trip_at_least);
	tcase_add_test(t, bbr_s4_3_4_3_up_ends_with_a_loss);
	tcase_add_test(t, bbr_s4_3_4_3_down_ends_early_when_the_queue_is_gone);
	tcase_add_test(t, bbr_s4_3_4_1_six_phases_cruise);
	tcase_add_test(t, bbr_s4_3_4_4_after_idleness_it_paces_at_the_bandwidth);
	tcase_add_test(t, bbr_s4_3_5_probe_rtt_lasts_200_ms_and_a_round);
	tcase_add_test(t, bbr_s4_3_5_probe_rtt_before_the_pipe_was_full_returns_to_startup);
	tcase_add_test(t, bbr_s4_2_3_2_window_is_twice_the_product_and_the_quanta);
	tcase_add_test(t, bbr_s4_2_3_2_window_is_an_even_number_of_segments_rounded_up);
	tcase_add_test(t, bbr_s4_2_2_quanta_follow_the_rate);
	tcase_add_test(t, bbr_bunches_of_acknowledgements_widen_the_window);
	tcase_add_test(t, bbr_s4_2_3_3_four_segments_are_the_least);
	tcase_add_test(t, bbr_s4_2_3_4_first_round_of_recovery_conserves_then_restores);
	tcase_add_test(t, bbr_s4_2_3_4_window_before_a_timeout_comes_back);
	tcase_add_test(t, bbr_losses_beside_a_short_queue_put_a_ceiling_on_the_window);
	tcase_add_test(t, bbr_losses_without_a_queue_put_none);
	tcase_add_test(t, bbr_losses_beside_a_long_queue_put_none);
	tcase_add_test(t, bbr_few_losses_put_no_ceiling);
	tcase_add_test(t, bbr_what_a_probe_lost_puts_no_ceiling);
	tcase_add_test(t, bbr_what_startup_lost_puts_no_ceiling);
	tcase_add_test(t, bbr_ceiling_rises_with_clean_rounds_and_goes_away);
	tcase_add_test(t, bbr_rounds_that_bring_little_count_as_one);
	tcase_add_test(t, bbr_ceiling_of_small_segments_has_room_for_large_ones);
	tcase_add_test(t, bbr_undo_keeps_the_model_and_looks_for_the_pipe_anew);
	tcase_add_test(t, bbr_switch_leaves_nothing_behind);
	tcase_add_test(t, bbr_connection_is_paced_and_tells_its_model);
	return s;
}
