/* SPDX-License-Identifier: Apache-2.0 */
/* test_rack.c - tcp_rack.c: loss by time, the reordering window, tail loss probes */
#include "rig.h"
#include "suites.h"

enum {
	M = RIG_MSS,
	RTT_MS = 40,
	PTO_MS = 2 * RTT_MS + 2,
};

static struct rig *t;

static void teardown(void)
{
	rig_free(t);
}

/* A connection with SACK and a round trip of 40 ms, @segs segments sent a millisecond apart, @more queued. */
static void spaced(const struct rig_opts *o, uint32_t segs, uint32_t more)
{
	t = rig_established(o);
	tcp_cc_switch(&conn(t)->cc, &tcp_cc_reno);
	conn(t)->min_rtt_ns = 0;
	conn(t)->flags &= ~TCP_F_RTT_SEEN;
	tcp_rtt_sample(conn(t), RTT_MS * NS_PER_MS);
	for (uint32_t i = 0; i < segs; i++) {
		rig_write(t, M, false);
		turn(t);
		after_ms(t, 1);
	}
	conn(t)->cc.cwnd = segs ? segs * M : 10 * M;
	rig_write(t, more * M, false);
	ck_assert_uint_eq(tcp_flight(conn(t)), segs * M);
	forget_out(t);
}

static const struct rig_opts sack = { .has_sack = true };

static void sacked(uint32_t from, uint32_t to)
{
	seg_in_turn(t,
		    S(.seq = 1, .ack = 1, .sack_cnt = 1, .sack = { { 1 + from * M, 1 + to * M } }));
}

START_TEST(rfc8985_s6_2_two_sacks_and_a_quarter_round_trip_are_a_loss)
{
	spaced(&sack, 5, 0);
	at_ms(t, RTT_MS + 2);
	sacked(1, 3);
	expect_nothing(t); /* two may have overtaken the first */
	ck_assert_int_eq(conn(t)->ca, TCP_CA_DISORDER);
	at_ms(t, RTT_MS + 2 + 10);
	expect_nothing(t); /* the timer runs two milliseconds over */
	at_ms(t, RTT_MS + 2 + 12);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 0);
}
END_TEST

START_TEST(rfc8985_s6_2_three_sacks_are_a_loss_at_once)
{
	spaced(&sack, 5, 0);
	at_ms(t, RTT_MS + 3);
	sacked(1, 4);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
}
END_TEST

START_TEST(rfc8985_s6_2_reordering_within_the_window_sends_nothing_again)
{
	spaced(&sack, 5, 0);
	at_ms(t, RTT_MS + 2);
	sacked(1, 3);
	at_ms(t, RTT_MS + 8);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 3 * M)); /* the first arrives late */
	ck_assert(conn(t)->rack.is_reordered);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 5 * M));
	at_ms(t, 1000);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RETRANS_SEGS), 0);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
}
END_TEST

/* Once reordering was seen, three SACKs are no proof any more. */
START_TEST(rfc8985_s6_2_after_reordering_three_sacks_wait_as_well)
{
	spaced(&sack, 6, 0);
	conn(t)->rack.is_reordered = true;
	at_ms(t, RTT_MS + 4);
	sacked(1, 5);
	expect_nothing(t);
	at_ms(t, RTT_MS + 4 + 12);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
}
END_TEST

START_TEST(rfc8985_s6_2_dsack_widens_the_window_once_a_round_trip)
{
	struct tcp_rack *k;

	spaced(&sack, 6, 0);
	k = &conn(t)->rack;
	seg_in_turn(t, S(.seq = 1, .ack = 1 + M));
	for (int i = 0; i < 3; i++)
		seg_in_turn(t, S(.seq = 1, .ack = 1 + M, .sack_cnt = 1, .sack = { { 1, 1 + M } }));
	ck_assert_uint_eq(k->wnd_mult, 2);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 6 * M));
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 6 * M, .sack_cnt = 1, .sack = { { 1, 1 + M } }));
	ck_assert_uint_eq(k->wnd_mult, 3);
	for (int i = 0; i < 15; i++)
		tcp_rack_recovered(conn(t));
	ck_assert_uint_eq(k->wnd_mult, 3);
	tcp_rack_recovered(conn(t)); /* the sixteenth without a D-SACK */
	ck_assert_uint_eq(k->wnd_mult, 1);
}
END_TEST

/* However much was reordered before: "MUST be bounded, and this bound SHOULD be SRTT". */
START_TEST(rfc8985_s3_3_2_reordering_window_is_a_round_trip_at_most)
{
	spaced(&sack, 5, 0);
	conn(t)->rack.is_reordered = true;
	conn(t)->rack.wnd_mult = UINT8_MAX;
	at_ms(t, RTT_MS + 2);
	sacked(1, 3);
	at_ms(t, 2 * RTT_MS - 2);
	expect_nothing(t);
	at_ms(t, 2 * RTT_MS + 10);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 0);
}
END_TEST

/* A copy that left late is not overtaken by the timeout of the first: it has a whole one of its own. */
START_TEST(rfc6675_s6_timeout_begins_anew_when_the_first_segment_is_sent_again)
{
	uint64_t end_ms;

	spaced(&sack, 5, 0);
	conn(t)->rack.is_reordered = true;
	conn(t)->rack.wnd_mult = UINT8_MAX;
	at_ms(t, RTT_MS + 3);
	sacked(1, 4);
	expect_nothing(t); /* RACK waits for another round trip */
	at_ms(t, 2 * RTT_MS + 6);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	end_ms = 2 * RTT_MS + 6 + conn(t)->rto_ns / NS_PER_MS;
	at_ms(t, end_ms - 1);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 0);
	at_ms(t, end_ms + 1);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 1);
}
END_TEST

START_TEST(rfc6675_s6_timeout_goes_on_when_a_later_segment_is_sent_again)
{
	struct mono when;

	spaced(&sack, 6, 0);
	at_ms(t, RTT_MS + 3);
	sacked(1, 4);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	when = conn(t)->rto_timer.when;
	at_ms(t, RTT_MS + 6);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 2,
			 .sack = { { 1 + 5 * M, 1 + 6 * M }, { 1 + M, 1 + 4 * M } }));
	expect_out(t, S(.seq = 1 + 4 * M, .ack = 1, .len = M));
	ck_assert_uint_eq(conn(t)->rto_timer.when.ns, when.ns);
}
END_TEST

START_TEST(rfc8985_s6_2_lost_retransmission_is_found_without_a_timeout)
{
	spaced(&sack, 6, 6);
	at_ms(t, RTT_MS + 3);
	sacked(1, 4);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M)); /* lost again */
	at_ms(t, RTT_MS + 5);
	sacked(1, 6);
	expect_out(t, S(.seq = 1 + 6 * M, .ack = 1, .len = M));
	forget_out(t);
	at_ms(t, 2 * RTT_MS + 6);
	sacked(1, 7); /* sent after the retransmission, and it is here */
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 0);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_FAST_RECOVERIES), 1);
}
END_TEST

/* The echo says that the answer is to the first copy: it is no measure for what was sent after it. */
START_TEST(rfc8985_s6_2_answer_to_the_first_copy_measures_nothing)
{
	struct mono xmit;
	struct sent *o;
	uint32_t val;

	spaced(&(struct rig_opts){ .has_sack = true, .has_ts = true }, 0, 0);
	rig_write(t, 4 * (M - 12), false);
	turn(t);
	o = take_out(t);
	val = o->opt.ts_val;
	forget_out(t);
	at_ms(t, PTO_MS); /* the probe repeats the last segment */
	ck_assert_ptr_nonnull(take_out(t));
	xmit = conn(t)->rack.xmit;
	at_ms(t, PTO_MS + RTT_MS / 2 + RTT_MS);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * (M - 12), .has_ts = true, .ts_val = 2,
			 .ts_ecr = val));
	ck_assert(mono_lt(xmit, conn(t)->rack.xmit));
	ck_assert_uint_eq(conn(t)->rack.xmit.ns, 1000 * NS_PER_SEC); /* that of the first copies */
}
END_TEST

START_TEST(rfc8985_s6_3_timeout_spares_what_was_just_sent)
{
	spaced(&sack, 4, 4);
	at_ms(t, RTT_MS);
	sacked(0, 0);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + M));
	forget_out(t);
	tcp_timer_stop(conn(t), &conn(t)->pto_timer);
	at_ms(t, RTT_MS + 230);
	conn(t)->tlp.is_due = true; /* new octets, 10 ms before the timeout */
	tcp_conn_dirty(conn(t));
	turn(t);
	forget_out(t);
	at_ms(t, RTT_MS + 245);
	ck_assert_uint_ge(stat_of(t, STAT_TCP_RTOS), 1);
	ck_assert(!(tcp_rec_last(conn(t))->flags & TCP_REC_LOST));
	ck_assert(tcp_rec_first(conn(t))->flags & TCP_REC_LOST);
}
END_TEST

START_TEST(rfc8985_s7_2_probe_after_two_round_trips_repeats_the_last_segment)
{
	spaced(&sack, 4, 0);
	at_ms(t, 3 + PTO_MS - 1);
	expect_nothing(t);
	at_ms(t, 3 + PTO_MS);
	expect_out(t, S(.seq = 1 + 3 * M, .ack = 1, .len = M));
	expect_nothing(t);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TLPS), 1);
	at_ms(t, 3 + 2 * PTO_MS + 1); /* one probe, no second */
	expect_nothing(t);
}
END_TEST

START_TEST(rfc8985_s7_2_lone_segment_waits_for_a_delayed_ack)
{
	spaced(&sack, 1, 0);
	conn(t)->rttvar_ns = 60 * NS_PER_MS; /* a timeout far enough not to be the limit */
	tcp_rtt_sample(conn(t), RTT_MS * NS_PER_MS);
	conn(t)->rto_ns = NS_PER_SEC;
	tcp_rto_arm(conn(t), t->now);
	tcp_tlp_schedule(conn(t), t->now);
	at_ms(t, 2 * RTT_MS + 200);
	expect_nothing(t);
	at_ms(t, 1 + 2 * RTT_MS + 200);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 0);
}
END_TEST

START_TEST(rfc8985_s7_3_probe_prefers_a_new_segment)
{
	spaced(&sack, 4, 4); /* the window is full */
	at_ms(t, 3 + PTO_MS);
	expect_out(t, S(.seq = 1 + 4 * M, .ack = 1, .len = M));
	expect_nothing(t);
}
END_TEST

/* RFC 8985 7.3: the timeout starts again with the probe; then it is the last resort. */
START_TEST(rfc8985_s7_3_unanswered_probe_is_followed_by_the_timeout)
{
	spaced(&sack, 4, 0);
	at_ms(t, 3 + PTO_MS);
	forget_out(t);
	at_ms(t, 3 + PTO_MS + RTT_MS + 200 + 45);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 1);
}
END_TEST

/* The last three of six are lost: the probe's SACK shows it, no timeout. */
START_TEST(rfc8985_s7_4_1_lost_tail_is_repaired_within_three_round_trips)
{
	spaced(&sack, 6, 0);
	at_ms(t, RTT_MS + 3);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 3 * M));
	at_ms(t, RTT_MS + 4 + PTO_MS);
	expect_out(t, S(.seq = 1 + 5 * M, .ack = 1, .len = M));
	at_ms(t, 2 * RTT_MS + 4 + PTO_MS);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 3 * M, .sack_cnt = 1,
			 .sack = { { 1 + 5 * M, 1 + 6 * M } }));
	expect_out(t, S(.seq = 1 + 3 * M, .ack = 1, .len = M));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
	at_ms(t, 3 * RTT_MS + 4 + PTO_MS);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * M, .sack_cnt = 1,
			 .sack = { { 1 + 5 * M, 1 + 6 * M } }));
	expect_out(t, S(.seq = 1 + 4 * M, .ack = 1, .len = M));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 0);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 6 * M));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
}
END_TEST

/* A repeated last segment was acknowledged, and later octets too, without a D-SACK: the original was lost. */
START_TEST(rfc8985_s7_4_2_loss_that_the_probe_repaired_is_congestion)
{
	spaced(&sack, 4, 0);
	at_ms(t, 3 + PTO_MS);
	forget_out(t);
	at_ms(t, 3 + PTO_MS + RTT_MS);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * M));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TLP_RECOVERIES), 0);
	rig_write(t, 4 * M, false);
	turn(t);
	forget_out(t);
	after_ms(t, RTT_MS);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 8 * M));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TLP_RECOVERIES), 1);
	ck_assert_uint_eq(conn(t)->cc.cwnd, 2 * M);
}
END_TEST

START_TEST(rfc8985_s7_4_2_probe_that_was_not_needed_costs_nothing)
{
	uint32_t cwnd;

	spaced(&sack, 4, 0);
	cwnd = conn(t)->cc.cwnd;
	at_ms(t, 3 + PTO_MS);
	forget_out(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * M)); /* late, for the originals */
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * M, .sack_cnt = 1,
			 .sack = { { 1 + 3 * M, 1 + 4 * M } }));
	ck_assert(!conn(t)->tlp.is_out);
	ck_assert_uint_eq(conn(t)->rack.wnd_mult, 1); /* nothing was reordered */
	rig_write(t, 4 * M, false);
	turn(t);
	after_ms(t, RTT_MS);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 8 * M));
	ck_assert_uint_ge(conn(t)->cc.cwnd, cwnd);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TLP_RECOVERIES), 0);
	forget_out(t);
}
END_TEST

START_TEST(rfc8985_s7_no_probe_without_sack)
{
	spaced(&(struct rig_opts){ 0 }, 4, 0);
	at_ms(t, 3 + PTO_MS + 50);
	expect_nothing(t);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TLPS), 0);
}
END_TEST

/* CVE-2019-11478: an acknowledgement looks at what it marks and at no more. */
START_TEST(tcp_rack_walks_only_what_is_due)
{
	uint32_t cnt = 0;

	spaced(&(struct rig_opts){ .has_sack = true, .wscale = 8 }, 4, 0);
	conn(t)->rack.is_reordered = true;
	at_ms(t, RTT_MS + 2);
	sacked(1, 3);
	for (struct list *n = conn(t)->by_tx.next; n != &conn(t)->by_tx; n = n->next)
		cnt++;
	ck_assert_uint_eq(cnt, 2); /* what is SACKed is not in the list */
	at_ms(t, RTT_MS + 14);
	ck_assert(tcp_rec_first(conn(t))->flags & TCP_REC_LOST);
	forget_out(t);
}
END_TEST

Suite *rack_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("rack", NULL, NULL, &s);

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, rfc8985_s6_2_two_sacks_and_a_quarter_round_trip_are_a_loss);
	tcase_add_test(tc, rfc8985_s6_2_three_sacks_are_a_loss_at_once);
	tcase_add_test(tc, rfc8985_s6_2_reordering_within_the_window_sends_nothing_again);
	tcase_add_test(tc, rfc8985_s6_2_after_reordering_three_sacks_wait_as_well);
	tcase_add_test(tc, rfc8985_s6_2_dsack_widens_the_window_once_a_round_trip);
	tcase_add_test(tc, rfc8985_s3_3_2_reordering_window_is_a_round_trip_at_most);
	tcase_add_test(tc, rfc6675_s6_timeout_begins_anew_when_the_first_segment_is_sent_again);
	tcase_add_test(tc, rfc6675_s6_timeout_goes_on_when_a_later_segment_is_sent_again);
	tcase_add_test(tc, rfc8985_s6_2_lost_retransmission_is_found_without_a_timeout);
	tcase_add_test(tc, rfc8985_s6_2_answer_to_the_first_copy_measures_nothing);
	tcase_add_test(tc, rfc8985_s6_3_timeout_spares_what_was_just_sent);
	tcase_add_test(tc, rfc8985_s7_2_probe_after_two_round_trips_repeats_the_last_segment);
	tcase_add_test(tc, rfc8985_s7_2_lone_segment_waits_for_a_delayed_ack);
	tcase_add_test(tc, rfc8985_s7_3_probe_prefers_a_new_segment);
	tcase_add_test(tc, rfc8985_s7_3_unanswered_probe_is_followed_by_the_timeout);
	tcase_add_test(tc, rfc8985_s7_4_1_lost_tail_is_repaired_within_three_round_trips);
	tcase_add_test(tc, rfc8985_s7_4_2_loss_that_the_probe_repaired_is_congestion);
	tcase_add_test(tc, rfc8985_s7_4_2_probe_that_was_not_needed_costs_nothing);
	tcase_add_test(tc, rfc8985_s7_no_probe_without_sack);
	tcase_add_test(tc, tcp_rack_walks_only_what_is_due);
	return s;
}
