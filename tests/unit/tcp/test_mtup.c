/* SPDX-License-Identifier: Apache-2.0 */
/* test_mtup.c - tcp_mtup.c: black holes, and the search for what a path takes */
#include "rig.h"
#include "suites.h"

enum {
	HDRS = 40,
	BASE = 1024, /* tcp_base_mss */
};

static struct rig *t;

static void setup(void)
{
	t = rig_established(&(struct rig_opts){ .has_sack = true, .wscale = 8, .wnd = 65535 });
	t->gso = 65535;
	tcp_cc_switch(&conn(t)->cc, &tcp_cc_reno);
}

static void teardown(void)
{
	rig_free(t);
}

static void knob(enum ns_knob k, int v)
{
	t->core.knobs[k] = v;
}

/* Everything that was sent up to now is acknowledged. */
static void ack_all(void)
{
	forget_out(t);
	seg_in_turn(t, S(.seq = 1, .ack = conn(t)->snd_nxt.v - t->iss));
}

/* Three timeouts of full segments, then an acknowledgement: small segments pass. */
static void fall_into_black_hole(void)
{
	rig_write(t, 2 * RIG_MSS, false);
	turn(t);
	while (conn(t)->retries < 3)
		after_ms(t, 10);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_BLACK_HOLES), 1);
	ack_all();
}

START_TEST(rfc4821_s7_7_full_stop_timeouts_make_segments_small)
{
	rig_write(t, 2 * RIG_MSS, false);
	turn(t);
	forget_out(t);
	after_ms(t, 250); /* first timeout: 200 ms and no round trip worth speaking of */
	ck_assert_uint_eq(conn(t)->retries, 1);
	after_ms(t, 450);
	ck_assert_uint_eq(conn(t)->retries, 2);
	ck_assert_uint_eq(conn(t)->mss, RIG_MSS);
	forget_out(t);
	after_ms(t, 850);
	ck_assert_uint_eq(conn(t)->retries, 3); /* tcp_retries1 */
	ck_assert_uint_eq(conn(t)->mss, BASE);
	expect_out(t, S(.seq = 1, .ack = 1, .len = BASE));
	/* and smaller with each that follows */
	forget_out(t);
	after_ms(t, 1700);
	ck_assert_uint_eq(conn(t)->mss, BASE / 2);
	expect_out(t, S(.seq = 1, .ack = 1, .len = BASE / 2));
	forget_out(t);
	after_ms(t, 60000);
	ck_assert_uint_eq(conn(t)->mss,
			  TCP_MSS_MIN + TCP_TS_LEN); /* the floor, whatever the knob says */
	forget_out(t);
}
END_TEST

START_TEST(linux_mtu_probing_0_knows_no_black_holes)
{
	knob(NS_KNOB_tcp_mtu_probing, 0);
	rig_write(t, RIG_MSS, false);
	turn(t);
	after_ms(t, 60000);
	ck_assert_uint_gt(conn(t)->retries, 5);
	ck_assert_uint_eq(conn(t)->mss, RIG_MSS);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_BLACK_HOLES), 0);
	forget_out(t);
}
END_TEST

START_TEST(tcp_small_segments_that_vanish_are_no_black_hole)
{
	rig_write(t, 100, false);
	turn(t);
	after_ms(t, 60000);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_BLACK_HOLES), 0);
	ck_assert_uint_eq(conn(t)->mss, RIG_MSS);
	forget_out(t);
}
END_TEST

/* Grows the window to what a probe needs, then writes enough for one. Returns the probe, which is taken off. */
static struct sent *next_probe(uint32_t len)
{
	conn(t)->cc.cwnd = 40 * RIG_MSS;
	after_ms(t, 1); /* a round trip is nothing here, but it is */
	rig_write(t, 20 * RIG_MSS, false);
	turn(t);
	return expect_out(t, S(.seq = conn(t)->snd_una.v - t->iss, .ack = 1, .len = len));
}

START_TEST(rfc4821_s7_3_search_goes_up_by_halves_until_it_is_not_worth_it)
{
	uint32_t low = BASE + HDRS, high = RIG_MSS + HDRS, probes = 0;

	fall_into_black_hole();
	ck_assert_uint_eq(conn(t)->mss, BASE);
	while (high >= low + 8) { /* tcp_probe_threshold */
		uint32_t probe = (high + low) / 2;
		struct sent *s = next_probe(probe - HDRS);

		ck_assert_uint_eq(s->gso_size, 0); /* whole, not cut by a device */
		ack_all();
		low = probe;
		probes++;
		ck_assert_uint_eq(conn(t)->mss, low - HDRS);
	}
	ck_assert_uint_eq(stat_of(t, STAT_TCP_MTU_PROBES), probes);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_MTU_PROBES_OK), probes);
	/* then it rests, and searches anew after tcp_probe_interval */
	rig_write(t, 20 * RIG_MSS, false);
	turn(t);
	ack_all();
	ck_assert_uint_eq(stat_of(t, STAT_TCP_MTU_PROBES), probes);
}
END_TEST

START_TEST(rfc4821_s7_6_2_loss_of_a_probe_is_no_congestion)
{
	uint32_t probe = (BASE + RIG_MSS + 2 * HDRS) / 2, cwnd, end;

	fall_into_black_hole();
	next_probe(probe - HDRS);
	cwnd = conn(t)->cc.cwnd;
	end = conn(t)->snd_nxt.v - t->iss;
	forget_out(t);
	/* all behind it has arrived: it is lost, and sent again in segments that pass */
	seg_in_turn(t, S(.seq = 1, .ack = conn(t)->snd_una.v - t->iss, .sack_cnt = 1,
			 .sack = { { conn(t)->snd_una.v - t->iss + probe - HDRS, end } }));
	ck_assert_uint_eq(conn(t)->cc.cwnd, cwnd);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_FAST_RECOVERIES), 0);
	ck_assert_uint_eq(conn(t)->mss, BASE);
	ck_assert_uint_eq(conn(t)->mtup.high, probe - 1);
	{
		struct sent *s = take_out(t);

		ck_assert_ptr_nonnull(s);
		ck_assert_uint_eq(s->seq, conn(t)->snd_una.v - t->iss);
		ck_assert(s->gso_size == BASE || s->len <= BASE);
	}
	forget_out(t);
	seg_in_turn(t, S(.seq = 1, .ack = end));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	ck_assert_uint_ge(conn(t)->cc.cwnd, cwnd);
	/* the next one is between what passes and what did not */
	next_probe((BASE + HDRS + probe - 1) / 2 - HDRS);
	ack_all();
}
END_TEST

/* As many round trips as the window has segments: then losses of probes are rarer than those of congestion. */
START_TEST(rfc4821_s7_6_2_no_probe_soon_after_one_that_was_lost)
{
	uint32_t probe = (BASE + RIG_MSS + 2 * HDRS) / 2, una, end, rounds;
	uint64_t rest;

	fall_into_black_hole();
	next_probe(probe - HDRS);
	conn(t)->srtt_ns = 10 * NS_PER_MS;
	una = conn(t)->snd_una.v - t->iss;
	end = conn(t)->snd_nxt.v - t->iss;
	seg_in_turn(
		t, S(.seq = 1, .ack = una, .sack_cnt = 1, .sack = { { una + probe - HDRS, end } }));
	ck_assert_uint_eq(conn(t)->mtup.high, probe - 1);
	rounds = conn(t)->cc.cwnd / BASE;
	ck_assert_uint_ge(rounds, 20);
	rest = mono_since(conn(t)->mtup.rest, t->now);
	ck_assert_uint_eq(rest, rounds * conn(t)->srtt_ns);
	ack_all();
	after_ms(t, rest / NS_PER_MS);
	conn(t)->cc.cwnd = 40 * RIG_MSS;
	rig_write(t, 20 * RIG_MSS, false);
	turn(t);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_MTU_PROBES), 1);
	ack_all();
	after_ms(t, 1);
	rig_write(t, 20 * RIG_MSS, false);
	turn(t);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_MTU_PROBES), 2);
	ack_all();
}
END_TEST

/* RFC 4821 7.6.3: five times as long when a timeout was needed to find out. */
START_TEST(rfc4821_s7_6_3_timeout_makes_the_wait_longer)
{
	uint32_t probe = (BASE + RIG_MSS + 2 * HDRS) / 2;

	fall_into_black_hole();
	next_probe(probe - HDRS);
	conn(t)->srtt_ns = 10 * NS_PER_MS;
	conn(t)->cc.cwnd = 20 * BASE;
	tcp_mtup_on_rto(conn(t), t->now);
	ck_assert_uint_eq(conn(t)->mtup.probe, 0);
	ck_assert_uint_eq(mono_since(conn(t)->mtup.rest, t->now), 5 * 20 * 10 * NS_PER_MS);
	forget_out(t);
}
END_TEST

/* A path of 1400 octets: what the search ends with is for others to that destination, too. */
START_TEST(rfc4821_s5_2_what_is_found_is_remembered_for_the_destination)
{
	uint32_t low = BASE + HDRS, high = RIG_MSS + HDRS, una, end;

	fall_into_black_hole();
	while (high >= low + 8) {
		uint32_t probe = (high + low) / 2;

		ck_assert_uint_eq(t->pmtu, 0);
		next_probe(probe - HDRS);
		una = conn(t)->snd_una.v - t->iss;
		end = conn(t)->snd_nxt.v - t->iss;
		if (probe <= 1400) {
			low = probe;
		} else {
			high = probe - 1;
			seg_in_turn(t, S(.seq = 1, .ack = una, .sack_cnt = 1,
					 .sack = { { una + probe - HDRS, end } }));
		}
		ack_all();
	}
	ck_assert_uint_eq(t->pmtu, low);
	ck_assert_uint_gt(low, 1400 - 8);
	ck_assert_uint_eq(conn(t)->pmtu, low);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_FAST_RECOVERIES), 0);
}
END_TEST

START_TEST(rfc4821_s7_6_4_timeout_says_nothing_of_a_probe)
{
	fall_into_black_hole();
	next_probe((BASE + RIG_MSS + 2 * HDRS) / 2 - HDRS);
	while (stat_of(t, STAT_TCP_RTOS) < 4)
		after_ms(t, 10);
	ck_assert_uint_eq(conn(t)->mtup.probe, 0);
	ck_assert_uint_eq(conn(t)->mtup.high, RIG_MSS + HDRS);
	ck_assert_uint_eq(conn(t)->mss, BASE);
	ack_all();
	forget_out(t);
}
END_TEST

START_TEST(rfc4821_s7_4_no_probe_without_enough_behind_it)
{
	fall_into_black_hole();
	conn(t)->cc.cwnd = 40 * RIG_MSS;
	rig_write(t, 3 * RIG_MSS, false);
	turn(t);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_MTU_PROBES), 0);
	ack_all();
	conn(t)->cc.cwnd = 5 * RIG_MSS; /* too few to survive a loss without a timeout */
	rig_write(t, 20 * RIG_MSS, false);
	turn(t);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_MTU_PROBES), 0);
	forget_out(t);
}
END_TEST

START_TEST(linux_mtu_probing_2_begins_at_the_base)
{
	knob(NS_KNOB_tcp_mtu_probing, 2);
	knob(NS_KNOB_tcp_base_mss, 512);
	tcp_mtup_start(conn(t), t->now);
	tcp_mss_sync(conn(t));
	ck_assert_uint_eq(conn(t)->mss, 512);
	next_probe((512 + RIG_MSS) / 2);
	ack_all();
	ck_assert_uint_eq(conn(t)->mss, (512 + RIG_MSS) / 2);
}
END_TEST

Suite *mtup_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("mtup", NULL, NULL, &s);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rfc4821_s7_7_full_stop_timeouts_make_segments_small);
	tcase_add_test(tc, linux_mtu_probing_0_knows_no_black_holes);
	tcase_add_test(tc, tcp_small_segments_that_vanish_are_no_black_hole);
	tcase_add_test(tc, rfc4821_s7_3_search_goes_up_by_halves_until_it_is_not_worth_it);
	tcase_add_test(tc, rfc4821_s7_6_2_loss_of_a_probe_is_no_congestion);
	tcase_add_test(tc, rfc4821_s7_6_2_no_probe_soon_after_one_that_was_lost);
	tcase_add_test(tc, rfc4821_s7_6_3_timeout_makes_the_wait_longer);
	tcase_add_test(tc, rfc4821_s5_2_what_is_found_is_remembered_for_the_destination);
	tcase_add_test(tc, rfc4821_s7_6_4_timeout_says_nothing_of_a_probe);
	tcase_add_test(tc, rfc4821_s7_4_no_probe_without_enough_behind_it);
	tcase_add_test(tc, linux_mtu_probing_2_begins_at_the_base);
	return s;
}
