/* SPDX-License-Identifier: Apache-2.0 */
/* test_recovery.c - tcp_recovery.c, tcp_ack.c: from the first duplicate to the end of recovery */
#include "rig.h"
#include "suites.h"

enum {
	M = RIG_MSS,
};

static struct rig *t;

static void teardown(void)
{
	rig_free(t);
}

/* @segs full segments outstanding, more queued behind, all of it caught and forgotten. Reno: half is easy to tell. */
static void in_flight(const struct rig_opts *o, uint32_t segs, uint32_t more)
{
	t = rig_established(o);
	tcp_cc_switch(&conn(t)->cc, &tcp_cc_reno);
	conn(t)->cc.cwnd = segs * M;
	conn(t)->srtt_ns = conn(t)->min_rtt_ns = 10 * NS_PER_MS;
	rig_write(t, (segs + more) * M, false);
	turn(t);
	ck_assert_uint_eq(tcp_flight(conn(t)), segs * M);
	forget_out(t);
	after_ms(t, 10);
}

START_TEST(rfc3042_limited_transmit)
{
	in_flight(&(struct rig_opts){ 0 }, 10, 10);
	seg_in_turn(t, S(.seq = 1, .ack = 1));
	expect_out(t, S(.seq = 1 + 10 * M, .ack = 1, .len = M));
	seg_in_turn(t, S(.seq = 1, .ack = 1));
	expect_out(t, S(.seq = 1 + 11 * M, .ack = 1, .len = M));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_DISORDER);
	seg_in_turn(t, S(.seq = 1, .ack = 1));
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
}
END_TEST

/* Half of what met the loss: of a full window of ten, although two acknowledgements of the same turn await their answer. */
START_TEST(rfc5681_s3_2_acks_of_one_turn_do_not_shrink_the_flight_that_is_halved)
{
	in_flight(&(struct rig_opts){ .has_sack = true }, 10, 20);
	ck_assert(conn(t)->flags & TCP_F_CWND_LIMITED);
	conn(t)->cc.ssthresh = 10 * M;
	seg_in(t, S(.seq = 1, .ack = 1 + 4 * M));
	for (uint32_t i = 6; i <= 8; i++)
		seg_in(t, S(.seq = 1, .ack = 1 + 4 * M, .sack_cnt = 1,
			    .sack = { { 1 + 5 * M, 1 + i * M } }));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
	ck_assert_uint_ge(conn(t)->cc.ssthresh, 5 * M);
	ck_assert_uint_lt(conn(t)->cc.ssthresh, 6 * M);
	forget_out(t);
}
END_TEST

START_TEST(rfc5681_s2_what_is_no_duplicate_ack)
{
	in_flight(&(struct rig_opts){ 0 }, 10, 0);
	for (uint32_t i = 0; i < 10; i++) {
		seg_in_turn(t, S(.seq = 1, .ack = 1, .wnd = 60000 + i)); /* the window changes */
		seg_in_turn(t, S(.seq = 1 + i, .ack = 1, .len = 1));     /* it carries an octet */
	}
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RETRANS_SEGS), 0);
}
END_TEST

START_TEST(rfc6675_s5_recovery_fills_the_holes_and_ends_at_ssthresh)
{
	struct rig_opts o = { .has_sack = true };
	struct sent *out;
	uint32_t again = 0;

	in_flight(&o, 20, 40);
	/* segments 0 and 3 are lost: SACKs come in one by one */
	for (uint32_t i = 1; i < 20; i++) {
		if (i == 3)
			continue;
		if (i < 3)
			seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1,
					 .sack = { { 1 + M, 1 + (i + 1) * M } }));
		else
			seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 2,
					 .sack = { { 1 + 4 * M, 1 + (i + 1) * M },
						   { 1 + M, 1 + 3 * M } }));
		ck_assert_uint_le(tcp_pipe(conn(t)), 20 * M);
	}
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
	ck_assert_uint_eq(conn(t)->cc.ssthresh, 10 * M);
	while ((out = take_out(t)) != NULL) {
		if (out->seq <= 20 * M) {
			ck_assert(out->seq == 1 || out->seq == 1 + 3 * M);
			again += out->len;
		}
	}
	ck_assert_uint_eq(again, 2 * M);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 3 * M));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
	seg_in_turn(t, S(.seq = 1, .ack = (uint32_t)seq_diff(conn(t)->snd_nxt, conn(t)->iss)));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	ck_assert_uint_eq(conn(t)->cc.cwnd, 10 * M);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 0);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_FAST_RECOVERIES), 1);
}
END_TEST

/* @segs SACKed one by one behind the first, which is late; whether or not the window grew is left to the caller. */
static void overtaken_by(uint32_t segs)
{
	for (uint32_t i = 1; i <= segs; i++)
		seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1,
				 .sack = { { 1 + M, 1 + (i + 1) * M } }));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_DISORDER);
}

/* Where segments overtake each other all the time, little is acknowledged in order (linux tcp_may_raise_cwnd()). */
START_TEST(linux_tcp_window_grows_by_what_is_delivered_on_a_path_that_reorders)
{
	in_flight(&(struct rig_opts){ .has_sack = true }, 20, 60);
	conn(t)->reordering = 8;
	conn(t)->rack.is_reordered = true;
	overtaken_by(10);
	ck_assert_uint_eq(conn(t)->cc.cwnd, 30 * M); /* slow start */
	forget_out(t);
}
END_TEST

START_TEST(rfc5681_s3_1_window_grows_in_order_only_where_nothing_was_reordered)
{
	in_flight(&(struct rig_opts){ .has_sack = true }, 20, 60);
	overtaken_by(2);
	ck_assert_uint_eq(conn(t)->cc.cwnd, 20 * M);
	forget_out(t);
}
END_TEST

/* RFC 6937 3: over the whole recovery no more is sent than ssthresh / RecoverFS of what is delivered. */
START_TEST(rfc6937_s3_sending_is_in_proportion)
{
	struct rig_opts o = { .has_sack = true, .wscale = 5 };
	uint32_t sent = 0;
	struct sent *out;

	in_flight(&o, 40, 100);
	for (uint32_t i = 1; i < 40; i++) {
		seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1,
				 .sack = { { 1 + M, 1 + (i + 1) * M } }));
		while ((out = take_out(t)) != NULL)
			sent += out->len;
		if (conn(t)->ca == TCP_CA_RECOVERY)
			ck_assert_uint_le(conn(t)->prr_out, conn(t)->prr_delivered / 2 + 2 * M);
	}
	ck_assert_uint_ge(sent, 15 * M);
	ck_assert_uint_le(sent, 25 * M);
}
END_TEST

/* What was SACKed before cannot be delivered any more, what the acknowledgement brings that begins it was. */
START_TEST(rfc9937_s6_1_recover_fs_is_what_may_be_delivered)
{
	in_flight(&(struct rig_opts){ .has_sack = true }, 10, 0);
	for (uint32_t i = 3; i <= 5; i++)
		seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1,
				 .sack = { { 1 + 2 * M, 1 + i * M } }));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
	ck_assert_uint_eq(conn(t)->recover_fs, 8 * M);
	ck_assert_uint_eq(conn(t)->prr_delivered, M);
	ck_assert_uint_eq(conn(t)->prr_out, M);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 5 * M));
	ck_assert_uint_eq(conn(t)->recover_fs, 8 * M); /* the same for the whole episode */
	forget_out(t);
}
END_TEST

/* Six of ten are lost, the pipe is below ssthresh: a segment more when SND.UNA moves and nothing else is found lost. */
START_TEST(rfc9937_s6_2_acknowledgement_that_is_safe_is_worth_a_segment)
{
	in_flight(&(struct rig_opts){ .has_sack = true }, 10, 0);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1, .sack = { { 1 + 6 * M, 1 + 10 * M } }));
	ck_assert_uint_eq(conn(t)->cc.ssthresh, 5 * M);
	ck_assert_uint_eq(conn(t)->lost_len, 6 * M);
	ck_assert_uint_eq(conn(t)->prr_out, 4 * M); /* as much as was delivered */
	forget_out(t);
	after_ms(t, 10);
	if (_i) { /* the second retransmission is lost, the third has come */
		seg_in(t, S(.seq = 1, .ack = 1 + M, .sack_cnt = 2,
			    .sack = { { 1 + 2 * M, 1 + 3 * M }, { 1 + 6 * M, 1 + 10 * M } }));
		ck_assert_uint_eq(conn(t)->cc.cwnd, M + 2 * M);
	} else {
		seg_in(t, S(.seq = 1, .ack = 1 + M, .sack_cnt = 1,
			    .sack = { { 1 + 6 * M, 1 + 10 * M } }));
		ck_assert_uint_eq(conn(t)->cc.cwnd, 3 * M + 2 * M);
	}
}
END_TEST

START_TEST(rfc9937_s6_2_without_sack_no_more_is_delivered_than_was_out)
{
	in_flight(&(struct rig_opts){ 0 }, 10, 100);
	for (int i = 0; i < 50; i++)
		seg_in_turn(t, S(.seq = 1, .ack = 1));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
	ck_assert_uint_eq(conn(t)->recover_fs, 12 * M); /* two by limited transmit */
	ck_assert_uint_eq(conn(t)->prr_delivered, 12 * M);
	forget_out(t);
}
END_TEST

START_TEST(rfc6582_s3_2_newreno_one_hole_a_round_trip)
{
	in_flight(&(struct rig_opts){ 0 }, 10, 0);
	for (int i = 0; i < 7; i++)
		seg_in_turn(t, S(.seq = 1, .ack = 1));
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	expect_nothing(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * M));
	expect_out(t, S(.seq = 1 + 4 * M, .ack = 1, .len = M));
	expect_nothing(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 10 * M));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	ck_assert_uint_eq(conn(t)->cc.cwnd, 5 * M);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_FAST_RECOVERIES), 1);
}
END_TEST

START_TEST(rfc6582_s3_2_duplicates_of_the_last_recovery_start_no_other)
{
	in_flight(&(struct rig_opts){ 0 }, 10, 20);
	at_ms(t, 1300); /* timeout: everything goes again */
	ck_assert_int_eq(conn(t)->ca, TCP_CA_LOSS);
	forget_out(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 10 * M));
	forget_out(t);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	for (int i = 0; i < 5; i++)
		seg_in_turn(t, S(.seq = 1, .ack = 1 + 10 * M));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_FAST_RECOVERIES), 0);
}
END_TEST

START_TEST(rfc5681_s3_1_timeout_then_slow_start)
{
	in_flight(&(struct rig_opts){ .has_sack = true }, 10, 0);
	at_ms(t, 300);
	expect_out(t, S(.seq = 1 + 9 * M, .ack = 1, .len = M)); /* the tail loss probe */
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	expect_nothing(t);
	ck_assert_uint_eq(conn(t)->cc.ssthresh, 5 * M);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + M));
	expect_out(t, S(.seq = 1 + M, .ack = 1, .len = M));
	expect_out(t, S(.seq = 1 + 2 * M, .ack = 1, .len = M));
	expect_nothing(t);
}
END_TEST

/* What was SACKed has let others go; together they are more than the window that fell. */
START_TEST(rfc5681_s3_1_timeout_in_recovery_does_not_count_what_was_sacked)
{
	in_flight(&(struct rig_opts){ .has_sack = true }, 10, 10);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1, .sack = { { 1 + M, 1 + 10 * M } }));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
	ck_assert_uint_eq(conn(t)->cc.ssthresh, 5 * M);
	ck_assert_uint_eq(tcp_flight(conn(t)), 14 * M);
	at_ms(t, 300); /* what was sent again is lost, too: 1 and 4 are not SACKed */
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 1);
	ck_assert_uint_eq(conn(t)->cc.ssthresh, 5 * M / 2);
	forget_out(t);
}
END_TEST

/* Of several round trips of disorder no more than what was SACKed is limited transmit's. */
START_TEST(rfc6675_s5_long_disorder_leaves_half_of_the_flight)
{
	struct tcp_conn *c;

	in_flight(&(struct rig_opts){ .has_sack = true }, 20, 40);
	c = conn(t);
	c->rack.is_reordered = true;
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1, .sack = { { 1 + M, 1 + 2 * M } }));
	ck_assert_int_eq(c->ca, TCP_CA_DISORDER);
	c->cc.cwnd = 60 * M;
	tcp_conn_dirty(c);
	turn(t); /* 40 more: the program is the limit now */
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 20 * M, .sack_cnt = 1,
			 .sack = { { 1 + 21 * M, 1 + 22 * M } }));
	ck_assert_int_eq(c->ca, TCP_CA_DISORDER);
	c->flags &=
		~TCP_F_CWND_LIMITED; /* as the next output would find: the window counts no more */
	after_ms(t, 30);
	ck_assert_int_eq(c->ca, TCP_CA_RECOVERY);
	ck_assert_uint_eq(c->cc.ssthresh, (40 - 1) * M / 2);
	forget_out(t);
}
END_TEST

START_TEST(rfc5681_s3_1_a_second_timeout_keeps_ssthresh)
{
	in_flight(&(struct rig_opts){ .has_sack = true }, 10, 0);
	at_ms(t, 5000);
	ck_assert_uint_ge(stat_of(t, STAT_TCP_RTOS), 3);
	ck_assert_uint_eq(conn(t)->cc.ssthresh, 5 * M);
}
END_TEST

START_TEST(rfc6298_s3_sack_gives_a_sample_and_the_hole_does_not)
{
	in_flight(&(struct rig_opts){ .has_sack = true }, 4, 0);
	at_ms(t, 50);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1, .sack = { { 1 + M, 1 + 4 * M } }));
	ck_assert_uint_gt(conn(t)->srtt_ns, 0);
	ck_assert_uint_lt(conn(t)->srtt_ns, 51 * NS_PER_MS);
	uint64_t srtt = conn(t)->srtt_ns;

	at_ms(t, 150);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * M));
	ck_assert_uint_eq(conn(t)->srtt_ns, srtt);
}
END_TEST

START_TEST(rfc7323_s4_1_echo_measures_a_retransmission)
{
	struct sent *o;

	t = rig_established(&(struct rig_opts){ .has_ts = true });
	rig_write(t, 100, false);
	turn(t);
	forget_out(t);
	at_ms(t, 400);
	o = expect_out(t, S(.seq = 1, .ack = 1, .len = 100));
	uint32_t val = o->opt.ts_val;

	at_ms(t, 430);
	conn(t)->flags &= ~TCP_F_RTT_SEEN;
	seg_in_turn(t, S(.seq = 1, .ack = 101, .has_ts = true, .ts_val = 2, .ts_ecr = val));
	ck_assert_uint_ge(conn(t)->srtt_ns, 30 * NS_PER_MS);
	ck_assert_uint_le(conn(t)->srtt_ns, 231 * NS_PER_MS);
	ck_assert_uint_eq(conn(t)->backoff, 0);
}
END_TEST

START_TEST(rfc9293_must_34_a_window_taken_back_is_probed)
{
	in_flight(&(struct rig_opts){ .has_sack = true }, 10, 0);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + M, .is_wnd_0 = true));
	forget_out(t);
	at_ms(t, 1000);
	expect_out(t, S(.seq = 1 + M, .ack = 1, .len = M)); /* one segment at the window's start */
	seg_in_turn(t, S(.seq = 1, .ack = 1 + M, .wnd = 65535));
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 10 * M));
	ck_assert_uint_eq(tcp_flight(conn(t)), 0);
}
END_TEST

Suite *recovery_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("recovery", NULL, NULL, &s);

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, rfc3042_limited_transmit);
	tcase_add_test(tc, rfc5681_s3_2_acks_of_one_turn_do_not_shrink_the_flight_that_is_halved);
	tcase_add_test(tc, rfc5681_s2_what_is_no_duplicate_ack);
	tcase_add_test(tc, rfc6675_s5_recovery_fills_the_holes_and_ends_at_ssthresh);
	tcase_add_test(tc, linux_tcp_window_grows_by_what_is_delivered_on_a_path_that_reorders);
	tcase_add_test(tc, rfc5681_s3_1_window_grows_in_order_only_where_nothing_was_reordered);
	tcase_add_test(tc, rfc6937_s3_sending_is_in_proportion);
	tcase_add_test(tc, rfc9937_s6_1_recover_fs_is_what_may_be_delivered);
	tcase_add_loop_test(tc, rfc9937_s6_2_acknowledgement_that_is_safe_is_worth_a_segment, 0, 2);
	tcase_add_test(tc, rfc9937_s6_2_without_sack_no_more_is_delivered_than_was_out);
	tcase_add_test(tc, rfc6582_s3_2_newreno_one_hole_a_round_trip);
	tcase_add_test(tc, rfc6582_s3_2_duplicates_of_the_last_recovery_start_no_other);
	tcase_add_test(tc, rfc5681_s3_1_timeout_then_slow_start);
	tcase_add_test(tc, rfc5681_s3_1_timeout_in_recovery_does_not_count_what_was_sacked);
	tcase_add_test(tc, rfc6675_s5_long_disorder_leaves_half_of_the_flight);
	tcase_add_test(tc, rfc5681_s3_1_a_second_timeout_keeps_ssthresh);
	tcase_add_test(tc, rfc6298_s3_sack_gives_a_sample_and_the_hole_does_not);
	tcase_add_test(tc, rfc7323_s4_1_echo_measures_a_retransmission);
	tcase_add_test(tc, rfc9293_must_34_a_window_taken_back_is_probed);
	return s;
}
