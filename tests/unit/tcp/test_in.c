/* SPDX-License-Identifier: Apache-2.0 */
/* test_in.c - tcp_in.c: the checks of RFC 9293 3.10.7.3 and 3.10.7.4, RFC 7323 5, RFC 5961 */
#include <errno.h>

#include "rig.h"
#include "suites.h"

static struct rig *t;

static void setup(void)
{
	t = rig_established(&(struct rig_opts){ .has_sack = true, .has_ts = true });
}

static void teardown(void)
{
	rig_free(t);
}

#define TS(...) S(.has_ts = true, .ts_val = 2, __VA_ARGS__)

START_TEST(rfc9293_s3_10_7_4_first_below_the_window_gets_an_ack_and_a_dsack)
{
	struct sent *o;

	seg_in_turn(t, TS(.seq = 1, .ack = 1, .len = 100));
	expect_out(t, S(.seq = 1, .ack = 101));
	ck_assert_int_eq(seg_in_turn(t, TS(.seq = 1, .ack = 1, .len = 100)), DROP_TCP_DUPLICATE);
	o = expect_out(t, S(.seq = 1, .ack = 101));
	ck_assert_uint_eq(o->opt.sack_cnt, 1); /* RFC 2883 4.1.1 */
	ck_assert_uint_eq(o->opt.sack[0].start.v, RIG_ISN + 1);
	ck_assert_uint_eq(o->opt.sack[0].end.v, RIG_ISN + 101);
	ck_assert_uint_eq(rig_read(t, 1000), 100);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_first_window_edges)
{
	uint32_t wnd = tcp_rcv_wnd(conn(t));

	ck_assert_int_eq(seg_in_turn(t, TS(.seq = 1 + wnd, .ack = 1)), DROP_NONE);
	expect_nothing(t); /* an empty segment may stand at the edge, as Linux has it */
	ck_assert_int_eq(seg_in_turn(t, TS(.seq = 1 + wnd, .ack = 1, .len = 1)), DROP_TCP_SEQ);
	expect_out(t, S(.seq = 1, .ack = 1));
	ck_assert_int_eq(seg_in_turn(t, TS(.seq = 2 + wnd, .ack = 1)), DROP_TCP_SEQ);
	expect_out(t, S(.seq = 1, .ack = 1));
	ck_assert_int_eq(seg_in_turn(t, TS(.seq = wnd - 5, .ack = 1, .len = 100)), DROP_TCP_WINDOW);
	ck_assert_uint_eq(expect_out(t, S(.seq = 1, .ack = 1))->opt.sack[0].end.v,
			  RIG_ISN + 1 + wnd);
}
END_TEST

START_TEST(linux_unacceptable_empty_segments_are_answered_twice_a_second)
{
	for (int i = 0; i < 20; i++) {
		seg_in_turn(t, TS(.seq = 500000, .ack = 1));
		after_ms(t, 100);
	}
	ck_assert_uint_eq(t->out_in - t->out_at, 4);
}
END_TEST

START_TEST(rfc7323_s5_3_r1_older_timestamp_is_dropped_with_an_ack)
{
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10, .has_ts = true, .ts_val = 50));
	ck_assert_uint_eq(expect_out(t, S(.seq = 1, .ack = 11))->opt.ts_ecr, 50);
	ck_assert_int_eq(
		seg_in_turn(t, S(.seq = 11, .ack = 1, .len = 10, .has_ts = true, .ts_val = 49)),
		DROP_TCP_PAWS);
	ck_assert_uint_eq(expect_out(t, S(.seq = 1, .ack = 11))->opt.ts_ecr, 50);
	ck_assert_int_eq(
		seg_in_turn(t, S(.seq = 11, .ack = 1, .len = 10, .has_ts = true, .ts_val = 50)),
		DROP_NONE);
}
END_TEST

START_TEST(rfc7323_s5_3_r3_a_segment_beyond_a_hole_does_not_move_the_echo)
{
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10, .has_ts = true, .ts_val = 10));
	forget_out(t);
	seg_in_turn(t, S(.seq = 21, .ack = 1, .len = 10, .has_ts = true, .ts_val = 30));
	ck_assert_uint_eq(expect_out(t, S(.seq = 1, .ack = 11))->opt.ts_ecr, 10);
	seg_in_turn(t, S(.seq = 11, .ack = 1, .len = 10, .has_ts = true, .ts_val = 20));
	ck_assert_uint_eq(expect_out(t, S(.seq = 1, .ack = 31))->opt.ts_ecr, 20);
}
END_TEST

START_TEST(rfc7323_s5_5_timestamp_is_void_after_24_days)
{
	at_ms(t, UINT64_C(25) * 86400 * 1000);
	ck_assert_int_eq(
		seg_in(t, S(.seq = 1, .ack = 1, .len = 1, .has_ts = true, .ts_val = 0x90000000)),
		DROP_NONE);
	turn(t);
	ck_assert_uint_eq(rig_read(t, 10), 1);
}
END_TEST

START_TEST(rfc7323_s3_2_missing_timestamp_knob)
{
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 1)), DROP_NONE);
	t->tcp->drop_missing_ts = true;
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 2, .ack = 1, .len = 1)), DROP_TCP_PAWS);
	ck_assert_uint_eq(rig_read(t, 10), 1);
}
END_TEST

START_TEST(rfc5961_s3_2_rst_only_at_rcv_nxt)
{
	ck_assert_int_eq(seg_in(t, S(.seq = 2, .flags = TCP_RST, .no_ack = true)), DROP_TCP_RST);
	expect_out(t, S(.seq = 1, .ack = 1));
	ck_assert_int_eq(seg_in(t, S(.seq = 100000, .flags = TCP_RST, .no_ack = true)),
			 DROP_TCP_SEQ);
	turn(t);
	expect_nothing(t);
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .flags = TCP_RST, .no_ack = true)), DROP_NONE);
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
	ck_assert_int_eq(t->told_err, -ECONNRESET);
	expect_nothing(t);
}
END_TEST

START_TEST(rfc5961_s3_2_rst_at_the_window_edge_is_outside)
{
	uint32_t wnd = tcp_rcv_wnd(conn(t));

	ck_assert_int_eq(seg_in(t, S(.seq = 1 + wnd, .flags = TCP_RST, .no_ack = true)),
			 DROP_TCP_SEQ);
	turn(t);
	expect_nothing(t);
	ck_assert_int_eq(seg_in(t, S(.seq = wnd, .flags = TCP_RST, .no_ack = true)), DROP_TCP_RST);
	expect_out(t, S(.seq = 1, .ack = 1));
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
}
END_TEST

/* A program that shut down and still holds the socket learns that its last octets were refused. */
START_TEST(rfc9293_s3_10_7_4_second_reset_in_last_ack_and_closing_is_told)
{
	tcp_transport_ops.shutdown_send(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	seg_in_turn(t, TS(.seq = 1, .ack = 1, .flags = TCP_FIN));
	expect_out(t, S(.seq = 2, .ack = 2));
	ck_assert_int_eq(state_of(t), TCP_CLOSING);
	seg_in_turn(t, S(.seq = 2, .flags = TCP_RST, .no_ack = true));
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
	ck_assert_int_eq(t->told_err, -ECONNRESET);
	rig_free(t);

	setup();
	seg_in_turn(t, TS(.seq = 1, .ack = 1, .flags = TCP_FIN));
	forget_out(t);
	tcp_transport_ops.shutdown_send(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 2, .flags = TCP_FIN));
	ck_assert_int_eq(state_of(t), TCP_LAST_ACK);
	seg_in_turn(t, S(.seq = 2, .flags = TCP_RST, .no_ack = true));
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
	ck_assert_int_eq(t->told_err, -ECONNRESET);
}
END_TEST

START_TEST(rfc5961_s4_2_syn_gets_a_challenge_wherever_it_is)
{
	ck_assert_int_eq(seg_in(t, TS(.seq = 5, .flags = TCP_SYN, .no_ack = true)), DROP_TCP_SYN);
	expect_out(t, S(.seq = 1, .ack = 1));
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	ck_assert_int_eq(seg_in(t, TS(.seq = 6, .flags = TCP_SYN, .no_ack = true)), DROP_TCP_SYN);
	expect_nothing(t); /* rate limited for half a second */
	after_ms(t, 501);
	seg_in(t, TS(.seq = 6, .flags = TCP_SYN, .no_ack = true));
	expect_out(t, S(.seq = 1, .ack = 1));
}
END_TEST

START_TEST(rfc5961_s5_2_old_and_future_acks_get_a_challenge)
{
	ck_assert_int_eq(seg_in(t, TS(.seq = 1, .ack = 2, .len = 5)), DROP_TCP_ACK);
	expect_out(t, S(.seq = 1, .ack = 1));
	after_ms(t, 600);
	ck_assert_int_eq(seg_in(t, TS(.seq = 1, .ack = 1 - 70000u, .len = 5)), DROP_TCP_ACK);
	expect_out(t, S(.seq = 1, .ack = 1));
	turn(t);
	ck_assert_uint_eq(rig_read(t, 10), 0);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_fifth_no_ack_bit_is_dropped_in_silence)
{
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .len = 5, .no_ack = true)), DROP_TCP_NO_ACK);
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .flags = TCP_FIN, .no_ack = true)),
			 DROP_TCP_NO_ACK);
	expect_nothing(t);
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_seventh_ack_is_used_at_a_zero_window)
{
	struct tcp_conn *c = conn(t);

	rig_write(t, 100, false);
	turn(t);
	forget_out(t);
	for (uint32_t at = 1; tcp_rcv_wnd(c) > 0; at += 1000) {
		seg_in_turn(t, TS(.seq = at, .ack = 1, .len = ns_min_u(1000, tcp_rcv_wnd(c))));
		forget_out(t);
	}
	seg_in(t, TS(.seq = (uint32_t)seq_diff(c->rcv_nxt, c->irs), .ack = 101, .len = 10));
	ck_assert_uint_eq(tcp_flight(c), 0);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_eighth_fin_waits_for_the_hole)
{
	seg_in_turn(t, TS(.seq = 101, .ack = 1, .len = 100, .flags = TCP_FIN));
	expect_out(t, S(.seq = 1, .ack = 1));
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	seg_in_turn(t, TS(.seq = 1, .ack = 1, .len = 100));
	expect_out(t, S(.seq = 1, .ack = 202));
	ck_assert_int_eq(state_of(t), TCP_CLOSE_WAIT);
	ck_assert(t->told & NS_EV_EOF);
	ck_assert_int_eq(seg_in_turn(t, TS(.seq = 202, .ack = 1, .len = 5)), DROP_TCP_AFTER_FIN);
	ck_assert_uint_eq(rig_read(t, 1000), 200);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_data_beyond_a_known_fin_is_dropped)
{
	seg_in_turn(t, TS(.seq = 11, .ack = 1, .flags = TCP_FIN));
	seg_in_turn(t, TS(.seq = 6, .ack = 1, .len = 20));
	seg_in_turn(t, TS(.seq = 1, .ack = 1, .len = 5));
	ck_assert_uint_eq(rig_read(t, 100), 10);
	ck_assert_int_eq(state_of(t), TCP_CLOSE_WAIT);
}
END_TEST

START_TEST(tcp_retransmitted_fin_is_acknowledged_each_time)
{
	for (int i = 0; i < 3; i++) {
		seg_in_turn(t, TS(.seq = 1, .ack = 1, .flags = TCP_FIN));
		expect_out(t, S(.seq = 1, .ack = 2));
	}
}
END_TEST

START_TEST(tcp_fin_is_taken_at_a_zero_window)
{
	struct tcp_conn *c = conn(t);
	uint32_t at;

	for (at = 1; tcp_rcv_wnd(c) > 0;) {
		uint32_t len = ns_min_u(1000, tcp_rcv_wnd(c));

		seg_in_turn(t, TS(.seq = at, .ack = 1, .len = len));
		at += len;
	}
	ck_assert_int_eq(seg_in_turn(t, TS(.seq = at, .ack = 1, .flags = TCP_FIN)), DROP_NONE);
	ck_assert_int_eq(state_of(t), TCP_CLOSE_WAIT);
}
END_TEST

/* --- SYN-SENT ---------------------------------------------------------------------------------- */

static struct rig *connecting(void)
{
	const struct transport_ops *ops = &tcp_transport_ops;
	struct ns_endpoint at = { ns_addr_v4(RIG_LOCAL), RIG_PORT };
	struct ns_endpoint peer = { ns_addr_v4(RIG_PEER), RIG_PEER_PORT };

	teardown();
	t = rig_new();
	ck_assert_int_eq(ops->open(t->tcp, t, &t->c), 0);
	ck_assert_int_eq(ops->bind(t->c, &at), 0);
	ck_assert_int_eq(ops->connect(t->c, &peer, t->now), -EINPROGRESS);
	ck_assert_int_eq(ops->connect(t->c, &peer, t->now), -EALREADY);
	turn(t);
	return t;
}

START_TEST(rfc9293_s3_10_7_3_syn_ack_establishes_with_what_both_offered)
{
	struct sent *o;

	connecting();
	o = expect_out(t, S(.flags = TCP_SYN, .no_ack = true));
	ck_assert(o->opt.has_ts && o->opt.sack_ok && o->opt.has_wscale);
	ck_assert_uint_eq(o->opt.mss, RIG_MSS);
	ck_assert_uint_eq(o->opt.wscale, 7);
	ck_assert_uint_eq(o->wnd, 65535);
	at_ms(t, 30);
	seg_in_turn(t, S(.ack = 1, .flags = TCP_SYN, .is_syn_opts = true, .mss = 1000,
			 .sack_ok = true));
	expect_out(t, S(.seq = 1, .ack = 1));
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	ck_assert(t->told & NS_EV_CONNECTED);
	ck_assert_uint_eq(conn(t)->flags & (TCP_F_SACK | TCP_F_TS | TCP_F_WSCALE), TCP_F_SACK);
	ck_assert_uint_eq(conn(t)->mss, 1000);
	ck_assert_uint_eq(conn(t)->srtt_ns, 30 * NS_PER_MS);
}
END_TEST

START_TEST(rfc9293_s3_10_7_3_unacceptable_acks_are_reset)
{
	connecting();
	expect_out(t, S(.flags = TCP_SYN, .no_ack = true));
	for (uint32_t ack = 0; ack <= 2; ack += 2) {
		ck_assert_int_eq(seg_in(t, S(.ack = ack, .flags = TCP_SYN)), DROP_TCP_ACK);
		expect_out(t, S(.seq = ack, .flags = TCP_RST, .no_ack = true));
	}
	ck_assert_int_eq(seg_in(t, S(.ack = 2, .flags = TCP_RST)), DROP_TCP_ACK);
	ck_assert_int_eq(seg_in(t, S(.flags = TCP_RST, .no_ack = true)), DROP_TCP_RST);
	expect_nothing(t);
	ck_assert_int_eq(state_of(t), TCP_SYN_SENT);
	ck_assert_int_eq(seg_in(t, S(.ack = 1, .flags = TCP_RST)), DROP_NONE);
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
	ck_assert_int_eq(t->told_err, -ECONNREFUSED);
}
END_TEST

START_TEST(rfc9293_s3_5_simultaneous_open)
{
	connecting();
	expect_out(t, S(.flags = TCP_SYN, .no_ack = true));
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = 1460));
	expect_out(t, S(.ack = 1, .flags = TCP_SYN));
	ck_assert_int_eq(state_of(t), TCP_SYN_RCVD);
	seg_in_turn(t, S(.ack = 1, .flags = TCP_SYN));
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	ck_assert(t->told & NS_EV_CONNECTED);
	rig_write(t, 10, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 10));
}
END_TEST

START_TEST(rfc9293_s3_5_reset_in_simultaneous_open_refuses)
{
	connecting();
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true));
	seg_in_turn(t, S(.seq = 1, .flags = TCP_RST, .no_ack = true));
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
	ck_assert_int_eq(t->told_err, -ECONNREFUSED);
}
END_TEST

START_TEST(rfc5461_s4_1_icmp_in_syn_sent_and_after)
{
	struct icmp_err e = { .local = { ns_addr_v4(RIG_LOCAL), RIG_PORT },
			      .remote = { ns_addr_v4(RIG_PEER), RIG_PEER_PORT },
			      .err = -EHOSTUNREACH,
			      .has_seq = true,
			      .is_hard = true };

	e.seq = conn(t)->snd_nxt.v; /* nothing is outstanding: forged (RFC 5927 4.1) */
	tcp_proto_ops.error(t->tcp, &e, t->now);
	ck_assert_int_eq(conn(t)->soft_err, 0);
	rig_write(t, 10, false);
	turn(t);
	tcp_proto_ops.error(t->tcp, &e, t->now);
	ck_assert_int_eq(conn(t)->soft_err, -EHOSTUNREACH);
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	connecting();
	e.seq = conn(t)->iss.v;
	tcp_proto_ops.error(t->tcp, &e, t->now);
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
	ck_assert_int_eq(t->told_err, -EHOSTUNREACH);
}
END_TEST

START_TEST(rfc1191_frag_needed_sends_again_smaller)
{
	struct icmp_err e = { .local = { ns_addr_v4(RIG_LOCAL), RIG_PORT },
			      .remote = { ns_addr_v4(RIG_PEER), RIG_PEER_PORT },
			      .err = -EMSGSIZE,
			      .has_seq = true,
			      .is_frag_needed = true,
			      .mtu = 1000 };
	uint32_t cwnd;
	int mtu = 0;

	rig_write(t, 1448, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 1448));
	cwnd = conn(t)->cc.cwnd;
	e.seq = conn(t)->snd_una.v;
	tcp_proto_ops.error(t->tcp, &e, t->now);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 948));
	expect_out(t, S(.seq = 949, .ack = 1, .len = 500));
	/* as many segments as before, no fewer and no more: RFC 5681 3.1 */
	ck_assert_uint_eq(conn(t)->cc.cwnd, cwnd / 1448 * 948);
	e.mtu = 68; /* never below the floor */
	tcp_proto_ops.error(t->tcp, &e, t->now);
	ck_assert_uint_eq(conn(t)->mss, 552 - 40 - 12);
	ck_assert_int_eq(tcp_transport_ops.getopt(conn(t), NS_IP_MTU, &mtu), 0);
	ck_assert_int_eq(mtu, 552);
	e.mtu = 9000; /* nor up */
	tcp_proto_ops.error(t->tcp, &e, t->now);
	ck_assert_uint_eq(conn(t)->mss, 552 - 40 - 12);
	/* until it is forgotten, RFC 1191 6.3: the next turn has whole segments again */
	t->pmtu = 0;
	rig_write(t, 1448, false);
	turn(t);
	ck_assert_uint_eq(conn(t)->mss, 1448);
}
END_TEST

Suite *in_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("in", setup, teardown, &s);

	tcase_add_test(tc, rfc9293_s3_10_7_4_first_below_the_window_gets_an_ack_and_a_dsack);
	tcase_add_test(tc, rfc9293_s3_10_7_4_first_window_edges);
	tcase_add_test(tc, linux_unacceptable_empty_segments_are_answered_twice_a_second);
	tcase_add_test(tc, rfc7323_s5_3_r1_older_timestamp_is_dropped_with_an_ack);
	tcase_add_test(tc, rfc7323_s5_3_r3_a_segment_beyond_a_hole_does_not_move_the_echo);
	tcase_add_test(tc, rfc7323_s5_5_timestamp_is_void_after_24_days);
	tcase_add_test(tc, rfc7323_s3_2_missing_timestamp_knob);
	tcase_add_test(tc, rfc5961_s3_2_rst_only_at_rcv_nxt);
	tcase_add_test(tc, rfc5961_s3_2_rst_at_the_window_edge_is_outside);
	tcase_add_test(tc, rfc9293_s3_10_7_4_second_reset_in_last_ack_and_closing_is_told);
	tcase_add_test(tc, rfc5961_s4_2_syn_gets_a_challenge_wherever_it_is);
	tcase_add_test(tc, rfc5961_s5_2_old_and_future_acks_get_a_challenge);
	tcase_add_test(tc, rfc9293_s3_10_7_4_fifth_no_ack_bit_is_dropped_in_silence);
	tcase_add_test(tc, rfc9293_s3_10_7_4_seventh_ack_is_used_at_a_zero_window);
	tcase_add_test(tc, rfc9293_s3_10_7_4_eighth_fin_waits_for_the_hole);
	tcase_add_test(tc, rfc9293_s3_10_7_4_data_beyond_a_known_fin_is_dropped);
	tcase_add_test(tc, tcp_retransmitted_fin_is_acknowledged_each_time);
	tcase_add_test(tc, tcp_fin_is_taken_at_a_zero_window);
	tcase_add_test(tc, rfc9293_s3_10_7_3_syn_ack_establishes_with_what_both_offered);
	tcase_add_test(tc, rfc9293_s3_10_7_3_unacceptable_acks_are_reset);
	tcase_add_test(tc, rfc9293_s3_5_simultaneous_open);
	tcase_add_test(tc, rfc9293_s3_5_reset_in_simultaneous_open_refuses);
	tcase_add_test(tc, rfc5461_s4_1_icmp_in_syn_sent_and_after);
	tcase_add_test(tc, rfc1191_frag_needed_sends_again_smaller);
	return s;
}
