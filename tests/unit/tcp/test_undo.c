/* SPDX-License-Identifier: Apache-2.0 */
/* test_undo.c - tcp_undo.c: recoveries and timeouts that were in vain, and those that were not */
#include "rig.h"
#include "suites.h"

enum {
	RTT_MS = 40,
};

static struct rig *t;
static uint32_t M; /* payload octets of a full segment */

static void teardown(void)
{
	rig_free(t);
}

/* A connection with a round trip of 40 ms, @segs segments outstanding since 0 ms, @more behind the window. Reno. */
static void flying(const struct rig_opts *o, uint32_t segs, uint32_t more)
{
	t = rig_established(o);
	M = conn(t)->mss;
	tcp_cc_switch(&conn(t)->cc, &tcp_cc_reno);
	conn(t)->min_rtt_ns = 0;
	conn(t)->flags &= ~TCP_F_RTT_SEEN;
	tcp_rtt_sample(conn(t), RTT_MS * NS_PER_MS);
	conn(t)->cc.cwnd = segs * M;
	rig_write(t, (segs + more) * M, false);
	turn(t);
	ck_assert_uint_eq(tcp_flight(conn(t)), segs * M);
	forget_out(t);
}

static const struct rig_opts sack = { .has_sack = true };
static const struct rig_opts sack_ts = { .has_sack = true, .has_ts = true };

/* Our timestamp clock as it was @ms into the test. */
static uint32_t clock_at(uint64_t ms)
{
	return tcp_ts_now(conn(t)->ts_off, (struct mono){ 1000 * NS_PER_SEC + ms * NS_PER_MS });
}

static void acked(uint32_t segs, uint32_t ecr)
{
	seg_in_turn(t, S(.seq = 1, .ack = 1 + segs * M, .has_ts = ecr != 0, .ts_val = 2,
			 .ts_ecr = ecr));
}

static void sacked(uint32_t una, uint32_t from, uint32_t to, uint32_t ecr)
{
	seg_in_turn(t, S(.seq = 1, .ack = 1 + una * M, .sack_cnt = 1,
			 .sack = { { 1 + from * M, 1 + to * M } }, .has_ts = ecr != 0, .ts_val = 2,
			 .ts_ecr = ecr));
}

START_TEST(rfc2883_s4_dsack_of_every_retransmission_restores_the_window)
{
	flying(&sack, 10, 0);
	at_ms(t, RTT_MS);
	sacked(0, 1, 4, 0);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
	acked(10, 0); /* the first was only late */
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	ck_assert_uint_eq(conn(t)->cc.cwnd, 5 * M);
	at_ms(t, 2 * RTT_MS);
	sacked(10, 0, 1, 0); /* what was sent again is here a second time */
	ck_assert_uint_eq(stat_of(t, STAT_TCP_UNDO_DSACK), 1);
	ck_assert_uint_eq(conn(t)->cc.cwnd, 10 * M);
	ck_assert_uint_ge(conn(t)->cc.ssthresh, 10 * M);
}
END_TEST

/* RFC 3708 2: one of two retransmissions was needed, so the window stays cut. */
START_TEST(rfc3708_s2_one_duplicate_of_two_restores_nothing)
{
	flying(&sack, 10, 10);
	at_ms(t, RTT_MS);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 2,
			 .sack = { { 1 + 3 * M, 1 + 10 * M }, { 1 + M, 1 + 2 * M } }));
	forget_out(t);
	at_ms(t, RTT_MS + 1);
	sacked(1, 3, 10, 0);
	forget_out(t);
	at_ms(t, 2 * RTT_MS);
	ck_assert_uint_eq(conn(t)->undo.again_len, 2 * M);
	acked(10, 0);
	sacked(10, 0, 1, 0);
	ck_assert_uint_eq(conn(t)->undo.again_len, M);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_UNDO_DSACK), 0);
	ck_assert_uint_lt(conn(t)->cc.cwnd, 10 * M);
	forget_out(t);
}
END_TEST

START_TEST(rfc3522_s3_2_echo_of_the_original_ends_fast_recovery)
{
	flying(&sack_ts, 10, 0);
	at_ms(t, RTT_MS);
	sacked(0, 1, 4, clock_at(0));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_RECOVERY);
	forget_out(t);
	at_ms(t, RTT_MS + 5);
	acked(4, clock_at(0)); /* older than the retransmission */
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	ck_assert_uint_eq(conn(t)->cc.cwnd, 11 * M); /* and it grows by what was acknowledged */
	ck_assert_uint_eq(stat_of(t, STAT_TCP_UNDO_TS), 1);
	ck_assert(conn(t)->rack.is_reordered);
	ck_assert_uint_eq(conn(t)->lost_len, 0);
	ck_assert_uint_eq(tcp_pipe(conn(t)), 6 * M);
}
END_TEST

START_TEST(rfc3522_s3_2_echo_of_the_retransmission_proves_the_loss)
{
	flying(&sack_ts, 10, 0);
	at_ms(t, RTT_MS);
	sacked(0, 1, 10, clock_at(0));
	forget_out(t);
	at_ms(t, 2 * RTT_MS);
	acked(10, clock_at(RTT_MS));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	ck_assert_uint_eq(conn(t)->cc.cwnd, 5 * M);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_UNDO_TS), 0);
}
END_TEST

/* The timer of @segs outstanding segments runs out, their acknowledgements come @late ms afterwards. */
static void timed_out(const struct rig_opts *o, uint32_t segs, uint32_t more)
{
	flying(o, segs, more);
	tcp_timer_stop(conn(t), &conn(t)->pto_timer);
	at_ms(t, 300);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_LOSS);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 1);
	expect_out(t, S(.seq = 1, .ack = 1, .len = M));
	expect_nothing(t);
}

START_TEST(rfc4015_s3_2_spurious_timeout_restores_window_and_threshold)
{
	timed_out(&sack_ts, 10, 0);
	acked(2, clock_at(0));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	ck_assert_uint_eq(conn(t)->cc.cwnd, 12 * M); /* and it grows by what was acknowledged */
	ck_assert_uint_eq(conn(t)->cc.ssthresh, TCP_SSTHRESH_INFINITE);
	ck_assert_uint_eq(conn(t)->lost_len, 0);
	expect_nothing(t); /* no go-back-N */
	at_ms(t, 310);
	acked(10, clock_at(0));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RETRANS_SEGS), 1);
}
END_TEST

START_TEST(rfc5682_s3_1_second_answer_from_before_the_timeout_undoes_it)
{
	timed_out(&sack, 10, 10);
	acked(2, 0); /* step 2b: new octets, nothing again */
	expect_out(t, S(.seq = 1 + 10 * M, .ack = 1, .len = M));
	expect_out(t, S(.seq = 1 + 11 * M, .ack = 1, .len = M));
	expect_nothing(t);
	at_ms(t, 305);
	acked(4, 0); /* step 3b: sent once, and from before the timeout */
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_UNDO_FRTO), 1);
	ck_assert_uint_ge(conn(t)->cc.cwnd, 10 * M);
	ck_assert_uint_eq(conn(t)->lost_len, 0);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RETRANS_SEGS), 1);
	forget_out(t);
}
END_TEST

START_TEST(rfc5682_s2_1_works_without_sack)
{
	timed_out(&(struct rig_opts){ 0 }, 10, 10);
	acked(2, 0);
	forget_out(t);
	at_ms(t, 305);
	acked(4, 0);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_UNDO_FRTO), 1);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	forget_out(t);
}
END_TEST

/* Step 3a: the second answer is about the new octets, what came before the timeout is lost indeed. */
START_TEST(rfc5682_s3_1_answer_to_new_octets_proves_the_loss)
{
	timed_out(&sack, 10, 10);
	acked(1, 0);
	forget_out(t);
	at_ms(t, 300 + RTT_MS);
	sacked(1, 10, 11, 0);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_LOSS);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_UNDO_FRTO), 0);
	expect_out(t, S(.seq = 1 + M, .ack = 1, .len = M)); /* the conventional way */
	forget_out(t);
}
END_TEST

START_TEST(rfc5682_s2_1_nothing_new_to_send_is_the_conventional_way)
{
	timed_out(&sack, 10, 0);
	acked(1, 0);
	expect_out(t, S(.seq = 1 + M, .ack = 1, .len = M));
	forget_out(t);
	acked(2, 0);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_LOSS);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_UNDO_FRTO), 0);
	forget_out(t);
}
END_TEST

/* An acknowledgement of everything may mean that the first segment alone was lost. */
START_TEST(rfc5682_s2_1_acknowledgement_of_everything_undoes_nothing)
{
	timed_out(&sack, 10, 10);
	acked(10, 0);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_UNDO_FRTO), 0);
	ck_assert_uint_eq(conn(t)->cc.ssthresh, 5 * M);
	forget_out(t);
}
END_TEST

/* What was marked lost is back in the list by the time of sending. */
START_TEST(tcp_undo_keeps_the_order_of_sending)
{
	struct mono last = { 0 };
	uint32_t len = 0;

	flying(&sack_ts, 4, 0);
	conn(t)->cc.cwnd = 20 * M;
	for (uint32_t i = 0; i < 4; i++) {
		after_ms(t, 1);
		rig_write(t, M, false);
		turn(t);
	}
	tcp_timer_stop(conn(t), &conn(t)->pto_timer);
	at_ms(t, 300);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_LOSS);
	acked(1, clock_at(0));
	for (struct list *n = conn(t)->by_tx.next; n != &conn(t)->by_tx; n = n->next) {
		const struct tcp_rec *r = list_entry(n, struct tcp_rec, tx_node);

		ck_assert(mono_le(last, r->tx));
		last = r->tx;
		len += r->len;
	}
	ck_assert_uint_eq(len, 7 * M);
	ck_assert_uint_eq(tcp_pipe(conn(t)), 7 * M);
	forget_out(t);
}
END_TEST

/* Nine timeouts, and then the answer to a copy, which echoes what came before them all. */
START_TEST(rfc6298_s5_echo_from_before_several_timeouts_is_no_sample)
{
	uint64_t srtt;

	flying(&sack_ts, 1, 10);
	t->core.knobs[NS_KNOB_tcp_mtu_probing] = 0;
	tcp_timer_stop(conn(t), &conn(t)->pto_timer);
	srtt = conn(t)->srtt_ns;
	for (uint64_t ms = 100; stat_of(t, STAT_TCP_RTOS) < 9; ms += 100)
		at_ms(t, ms);
	forget_out(t);
	after_ms(t, 20);
	acked(1, clock_at(0));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_UNDO_TS), 1);
	ck_assert_uint_eq(conn(t)->srtt_ns, srtt);
	ck_assert_uint_eq(tcp_rto_ns(conn(t)), NS_PER_SEC);
	expect_out(t, S(.seq = 1 + M, .ack = 1, .len = M));
	forget_out(t);
	after_ms(t, 100);
	acked(2, clock_at(0));
	ck_assert_uint_eq(conn(t)->srtt_ns,
			  100 * NS_PER_MS + 1); /* RFC 6298 2.2, as the first of all */
	ck_assert_uint_eq(conn(t)->rttvar_ns, (100 * NS_PER_MS + 1) / 2);
	forget_out(t);
}
END_TEST

/* One timeout is a delay as any other: its echo counts. */
START_TEST(rfc7323_s4_1_echo_from_before_one_timeout_is_a_sample)
{
	timed_out(&sack_ts, 1, 0);
	at_ms(t, 400);
	acked(1, clock_at(0));
	ck_assert_uint_eq(conn(t)->srtt_ns, 35 * NS_PER_MS + (400 * NS_PER_MS + 1) / 8);
}
END_TEST

Suite *undo_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("undo", NULL, NULL, &s);

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, rfc2883_s4_dsack_of_every_retransmission_restores_the_window);
	tcase_add_test(tc, rfc3708_s2_one_duplicate_of_two_restores_nothing);
	tcase_add_test(tc, rfc3522_s3_2_echo_of_the_original_ends_fast_recovery);
	tcase_add_test(tc, rfc3522_s3_2_echo_of_the_retransmission_proves_the_loss);
	tcase_add_test(tc, rfc4015_s3_2_spurious_timeout_restores_window_and_threshold);
	tcase_add_test(tc, rfc5682_s3_1_second_answer_from_before_the_timeout_undoes_it);
	tcase_add_test(tc, rfc5682_s2_1_works_without_sack);
	tcase_add_test(tc, rfc5682_s3_1_answer_to_new_octets_proves_the_loss);
	tcase_add_test(tc, rfc5682_s2_1_nothing_new_to_send_is_the_conventional_way);
	tcase_add_test(tc, rfc5682_s2_1_acknowledgement_of_everything_undoes_nothing);
	tcase_add_test(tc, tcp_undo_keeps_the_order_of_sending);
	tcase_add_test(tc, rfc6298_s5_echo_from_before_several_timeouts_is_no_sample);
	tcase_add_test(tc, rfc7323_s4_1_echo_from_before_one_timeout_is_a_sample);
	return s;
}
