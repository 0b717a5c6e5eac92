/* SPDX-License-Identifier: Apache-2.0 */
/* test_accecn.c - tcp_accecn.c, tcp_ecn.c: RFC 9768, the handshake and the number */
#include "ecn_rig.h"
#include "suites.h"

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;

static void teardown(void)
{
	rig_free(t);
}

START_TEST(rfc9768_s3_1_1_synack_tells_the_code_point_of_the_syn)
{
	static const uint8_t want[] = { [NOT_ECT] = 2, [ECT1] = 3, [ECT0] = 4, [CE] = 6 };

	t = ecn_listening(3);
	ck_assert_uint_eq(ecn_syn(t, ASK, (uint8_t)_i), want[_i]);
}
END_TEST

/* Table 2, and the knob's values: what SYNs with 0 to 7 are answered with */
START_TEST(rfc9768_s3_1_2_answer_by_what_is_asked_and_wanted)
{
	static const uint8_t want[6][8] = {
		{ 0, 0, 0, 0, 0, 0, 0, 0 }, { 0, 0, 0, 1, 0, 0, 0, 1 }, { 0, 0, 0, 1, 0, 0, 0, 1 },
		{ 0, 2, 2, 1, 2, 2, 2, 2 }, /* 3.1.3: unknown ones, too */
		{ 0, 2, 2, 1, 2, 2, 2, 2 }, { 0, 2, 2, 1, 2, 2, 2, 2 },
	};

	t = ecn_listening(_i / 8);
	ck_assert_uint_eq(ecn_syn(t, (uint8_t)(_i % 8), NOT_ECT), want[_i / 8][_i % 8]);
}
END_TEST

START_TEST(rfc9768_s3_1_1_syn_asks_by_knob)
{
	static const uint8_t want[] = { 0, 3, 0, 7, 3, 0 };

	t = ecn_connecting(_i);
	ck_assert_uint_eq(take_out(t)->ace, want[_i]);
}
END_TEST

/* Table 2 from the client's side */
START_TEST(rfc9768_s3_1_2_client_enters_what_the_server_answers)
{
	static const enum tcp_ecn_mode want[] = {
		TCP_ECN_OFF,      TCP_ECN_CLASSIC,  TCP_ECN_ACCURATE, TCP_ECN_ACCURATE,
		TCP_ECN_ACCURATE, TCP_ECN_ACCURATE, TCP_ECN_ACCURATE, TCP_ECN_OFF,
	};

	t = ecn_connecting(3);
	forget_out(t);
	ecn_synack(t, (uint8_t)_i, NOT_ECT);
	ck_assert_int_eq(conn(t)->ecn.mode, want[_i]);
}
END_TEST

START_TEST(rfc9768_s3_1_4_1_syn_asks_once_more_then_no_more)
{
	t = ecn_connecting(3);
	ck_assert_uint_eq(take_out(t)->ace, 7);
	at_ms(t, 1000);
	ck_assert_uint_eq(take_out(t)->ace, 7);
	at_ms(t, 3000);
	ck_assert_uint_eq(take_out(t)->ace, 0);
	ecn_synack(t, 2, NOT_ECT); /* the answer to an earlier one counts all the same */
	ck_assert_int_eq(conn(t)->ecn.mode, TCP_ECN_ACCURATE);
}
END_TEST

START_TEST(rfc9768_s3_2_3_2_2_synack_falls_back_in_steps)
{
	const struct sent *o;

	t = ecn_listening(3);
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .ace = ASK));
	o = take_out(t);
	ck_assert(o->opt.accecn.has);
	ck_assert_uint_eq(o->opt.accecn.cnt, 3);
	at_ms(t, 1000);
	o = take_out(t);
	ck_assert(!o->opt.accecn.has);
	ck_assert_uint_eq(o->ace, 2);
	at_ms(t, 3000);
	ck_assert_uint_eq(take_out(t)->ace, 0);
	/* still accurate, but nothing is marked: the peer may not know */
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2));
	ecn_take_conn(t);
	ck_assert_int_eq(conn(t)->ecn.mode, TCP_ECN_ACCURATE);
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, NOT_ECT);
}
END_TEST

START_TEST(rfc9768_s3_1_5_plain_syn_after_an_accurate_one)
{
	t = ecn_listening(3);
	ck_assert_uint_eq(ecn_syn(t, ASK, NOT_ECT), 2);
	after_ms(t, 600);
	ck_assert_uint_eq(ecn_syn(t, 0, NOT_ECT), 2);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2));
	ecn_take_conn(t);
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, NOT_ECT);
}
END_TEST

START_TEST(rfc9768_s3_1_5_both_kinds_in_one_handshake_are_reset)
{
	t = ecn_listening(3);
	ck_assert_uint_eq(ecn_syn(t, ASK, NOT_ECT), 2);
	ck_assert_int_eq(seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .ace = 3)),
			 DROP_TCP_SYN);
	ck_assert_uint_eq(take_out(t)->flags & TCP_RST, TCP_RST);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 0);
}
END_TEST

START_TEST(rfc9768_s3_1_5_latest_syn_is_told)
{
	t = ecn_listening(3);
	ck_assert_uint_eq(ecn_syn(t, ASK, NOT_ECT), 2);
	after_ms(t, 600);
	ck_assert_uint_eq(ecn_syn(t, ASK, CE), 6);
}
END_TEST

START_TEST(rfc9768_s3_2_2_1_ack_of_the_synack_tells_its_code_point)
{
	static const uint8_t want[] = { [NOT_ECT] = 2, [ECT1] = 3, [ECT0] = 4, [CE] = 6 };
	const struct sent *o;

	t = ecn_connecting(3);
	forget_out(t);
	ecn_synack(t, 2, (uint8_t)_i);
	o = take_out(t);
	ck_assert_uint_eq(o->ace, want[_i]);
	ck_assert(o->opt.accecn.has);
	/* table 3: CE counts, once however often */
	ecn_synack(t, 2, (uint8_t)_i);
	ck_assert_uint_eq(take_out(t)->ace, want[_i]);
	ck_assert_uint_eq(conn(t)->ecn.acc.r_cep, _i == CE ? 6 : 5);
}
END_TEST

START_TEST(rfc9768_s3_2_2_1_bare_ack_goes_before_octets)
{
	const struct sent *o;

	t = ecn_connecting(3);
	forget_out(t);
	seg_in(t, S(.ack = 1, .flags = TCP_SYN, .is_syn_opts = true, .mss = RIG_MSS, .ace = 2,
		    .ecn = ECT0));
	rig_write(t, 100, false);
	turn(t);
	o = take_out(t);
	ck_assert_uint_eq(o->len, 0);
	ck_assert_uint_eq(o->ace, 4);
	o = take_out(t);
	ck_assert_uint_eq(o->len, 100);
	ck_assert_uint_eq(o->ace, 5);
	ck_assert_uint_eq(o->tos & 3, ECT0);
	ck_assert(o->opt.accecn.has); /* 3.2.3.2.1: the first octets carry it, too */
}
END_TEST

/* Table 4: what the third segment of the handshake means */
START_TEST(rfc9768_s3_2_2_1_server_reads_the_code_of_the_third_segment)
{
	t = ecn_listening(3);
	ecn_syn(t, ASK, NOT_ECT);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = (uint8_t)_i));
	ecn_take_conn(t);
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, _i == 6 ? 6 : 5);
	ck_assert_int_eq(conn(t)->ecn.acc.no_response, _i == 0);
	/* 3.2.2.3: our SYN-ACK was not ECN-capable, anything else was made on the way */
	ck_assert_int_eq(conn(t)->ecn.no_ect, _i == 0 || _i == 3 || _i == 4 || _i == 6);
	ck_assert_int_eq(conn(t)->ecn.mode, TCP_ECN_ACCURATE);
}
END_TEST

START_TEST(rfc9768_s3_2_2_3_syn_that_was_changed_stops_marking)
{
	t = ecn_connecting(3);
	forget_out(t);
	ecn_synack(t, 4, NOT_ECT); /* our SYN arrived as ECT(0), it says */
	forget_out(t);
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, NOT_ECT);
}
END_TEST

START_TEST(rfc9768_s3_2_2_every_mark_is_counted_and_told)
{
	const struct sent *o;

	t = ecn_server();
	o = ecn_data_in(t, 1, CE);
	ck_assert_uint_eq(o->ace, 6);
	ck_assert_uint_eq(o->opt.accecn.cnt, 2); /* ECT(1) never came */
	ck_assert_uint_eq(o->opt.accecn.v[0], 1);
	ck_assert_uint_eq(o->opt.accecn.v[1], 1000);
	for (uint32_t i = 1; i < 5; i++) {
		seg_in(t, S(.seq = 1 + i * 1000, .ack = 1, .len = 1000, .ecn = CE, .ace = 5));
		turn(t);
	}
	forget_out(t);
	ck_assert_uint_eq(conn(t)->ecn.acc.r_cep, 10);
	seg_in_turn(t, S(.seq = 5001, .ack = 1, .len = 2920, .ecn = NOT_ECT, .ace = 5));
	ck_assert_uint_eq(take_out(t)->ace, 10 & 7);
	ck_assert_uint_eq(conn(t)->ecn.acc.r.ce, 5000);
}
END_TEST

START_TEST(rfc9768_s3_2_marks_of_bare_acknowledgements_count_without_octets)
{
	t = ecn_server();
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 5, .ecn = CE));
	ck_assert_uint_eq(conn(t)->ecn.acc.r_cep, 6);
	ck_assert_uint_eq(conn(t)->ecn.acc.r.ce, 0);
	expect_nothing(t);
}
END_TEST

START_TEST(rfc9768_s3_2_2_5_1_a_first_mark_is_acknowledged_at_once)
{
	t = ecn_server();
	ck_assert_ptr_null(ecn_data_in(t, 1, ECT0)); /* delayed */
	ck_assert_ptr_nonnull(ecn_data_in(t, 1001, CE));
	ck_assert_ptr_null(ecn_data_in(t, 2001, CE));    /* no change, one mark */
	ck_assert_ptr_nonnull(ecn_data_in(t, 3001, CE)); /* the second since */
}
END_TEST

START_TEST(rfc9768_s3_2_2_2_sender_follows_the_number)
{
	struct ns_tcp_info info;

	t = ecn_server();
	ecn_send_segs(t, 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 6));
	ck_assert_int_eq(tcp_info(t->c, t->now, &info), 0);
	ck_assert_uint_eq(info.delivered_ce, 1);
	ck_assert(info.has_ecn);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_CWR);
	ecn_send_segs(t, 2);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 3 * RIG_MSS, .ace = 0)); /* 6 to 8: two more */
	ck_assert_int_eq(tcp_info(t->c, t->now, &info), 0);
	ck_assert_uint_eq(info.delivered_ce, 3);
}
END_TEST

START_TEST(rfc9768_s3_2_2_2_overtaken_acknowledgement_tells_nothing)
{
	t = ecn_server();
	ecn_send_segs(t, 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 6));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 5);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
}
END_TEST

/* Appendix A.2.1: more than seven segments at once */
START_TEST(rfc9768_s3_2_2_5_2_the_number_may_have_gone_round)
{
	t = ecn_server();
	ecn_send_segs(t, 10);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 5)); /* one at a time is usual */
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 10 * RIG_MSS, .ace = 5));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 5 + 8);
}
END_TEST

START_TEST(rfc9768_s3_2_2_5_2_large_acknowledgements_are_usual_for_some)
{
	t = ecn_server();
	ecn_send_segs(t, 10);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 10 * RIG_MSS, .ace = 6));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 6);
}
END_TEST

START_TEST(rfc9768_s3_2_2_number_survives_segmentation)
{
	struct sent *o;

	t = ecn_server();
	t->gso = 65535;
	conn(t)->cc.cwnd = conn(t)->snd_wnd = 1 << 20;
	rig_write(t, 10 * RIG_MSS, false);
	turn(t);
	o = take_out(t);
	ck_assert_uint_eq(o->len, 10 * RIG_MSS); /* 5: the middle bit is clear */
	ck_assert_uint_eq(o->ace, 5);
	(void)ecn_data_in(t, 1, CE);
	forget_out(t);
	rig_write(t, 10 * RIG_MSS, false);
	turn(t);
	o = take_out(t);
	ck_assert_uint_eq(o->len, RIG_MSS); /* 6: cutting would clear it as CWR */
	ck_assert_uint_eq(o->ace, 6);
}
END_TEST

START_TEST(rfc9768_s5_1_cookie_remembers_by_the_number)
{
	t = ecn_listening(3);
	t->core.knobs[NS_KNOB_tcp_syncookies] = 2;
	ck_assert_uint_eq(ecn_syn(t, ASK, NOT_ECT), 2);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 0);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2));
	ecn_take_conn(t);
	ck_assert_int_eq(conn(t)->ecn.mode, TCP_ECN_ACCURATE);
}
END_TEST

/* The opens cross: what both ask for, which may be nothing. */
START_TEST(rfc9768_s3_1_2_crossed_syns_agree_on_the_lesser)
{
	static const struct {
		int knob;
		uint8_t ace; /* of the peer's SYN */
		enum tcp_ecn_mode mode;
		uint8_t answer;
	} rows[] = {
		{ 3, 7, TCP_ECN_ACCURATE, 4 }, { 3, 3, TCP_ECN_CLASSIC, 1 },
		{ 3, 0, TCP_ECN_OFF, 0 },      { 4, 7, TCP_ECN_CLASSIC, 1 },
		{ 4, 0, TCP_ECN_OFF, 0 },      { 5, 7, TCP_ECN_OFF, 0 },
		{ 1, 7, TCP_ECN_CLASSIC, 1 },  { 2, 3, TCP_ECN_OFF, 0 },
	};
	const struct sent *o;

	t = ecn_connecting(rows[_i].knob);
	forget_out(t);
	ecn_cross(t, rows[_i].ace, ECT0);
	ck_assert_int_eq(conn(t)->ecn.mode, rows[_i].mode);
	o = take_out(t);
	ck_assert_uint_eq(o->flags & (TCP_SYN | TCP_ACK), TCP_SYN | TCP_ACK);
	ck_assert_uint_eq(o->ace, rows[_i].answer);
}
END_TEST

/* The peer may have seen the one that did not ask; what we answer is as if we had only been asked. */
START_TEST(rfc9768_s3_1_5_crossed_syn_after_a_plain_one_marks_nothing)
{
	const struct sent *o;

	t = ecn_connecting(3);
	at_ms(t, 1000);
	at_ms(t, 3000);
	forget_out(t);
	ecn_cross(t, ASK, NOT_ECT);
	o = take_out(t);
	ck_assert_uint_eq(o->ace, 2);
	ck_assert(o->opt.accecn.has);
	ck_assert(conn(t)->ecn.no_ect);
}
END_TEST

/* Its bits tell of our SYN, as those of any SYN-ACK. */
START_TEST(rfc9768_s3_2_2_synack_of_a_simultaneous_open_is_no_number)
{
	t = ecn_connecting(3);
	forget_out(t);
	ecn_cross(t, ASK, NOT_ECT);
	forget_out(t);
	seg_in_turn(t, S(.ack = 1, .flags = TCP_SYN, .is_syn_opts = true, .mss = RIG_MSS,
			 .ace = (uint8_t)_i, .ecn = CE));
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 5);
	ck_assert_uint_eq(conn(t)->ecn.acc.r_cep, 6);
	ck_assert_int_eq(conn(t)->ecn.no_ect, _i != 2 && _i != 5);
	ck_assert(!conn(t)->ecn.acc.no_response);
	ck_assert_uint_eq(conn(t)->cc.cwnd, _i == 6 ? RIG_MSS : 10 * RIG_MSS);
}
END_TEST

START_TEST(rfc9768_s3_1_5_latest_syn_of_a_simultaneous_open_is_told)
{
	t = ecn_connecting(3);
	forget_out(t);
	ecn_cross(t, ASK, NOT_ECT);
	ck_assert_uint_eq(take_out(t)->ace, 2);
	ecn_cross(t, 0, CE);
	ck_assert_uint_eq(take_out(t)->flags & TCP_SYN, 0); /* RFC 5961 4.2 */
	after_ms(t, 1000);
	ck_assert_uint_eq(take_out(t)->ace, 6);
	ck_assert(conn(t)->ecn.no_ect);
	ecn_cross(t, 3, NOT_ECT);
	ck_assert_uint_eq(take_out(t)->flags & TCP_RST, TCP_RST);
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
}
END_TEST

START_TEST(rfc9768_s3_1_5_kinds_are_told_apart_behind_a_plain_syn)
{
	t = ecn_listening(3);
	ck_assert_uint_eq(ecn_syn(t, 0, NOT_ECT), 0);
	after_ms(t, 600);
	ck_assert_uint_eq(ecn_syn(t, ASK, NOT_ECT), 0); /* the mode stays */
	after_ms(t, 600);
	forget_out(t);
	ck_assert_int_eq(seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .ace = 3)),
			 DROP_TCP_SYN);
	ck_assert_uint_eq(take_out(t)->flags & TCP_RST, TCP_RST);
}
END_TEST

START_TEST(rfc3168_s6_1_1_plain_syn_in_the_same_handshake_stops_marking)
{
	t = ecn_listening(2);
	ck_assert_uint_eq(ecn_syn(t, 3, NOT_ECT), 1);
	after_ms(t, 600);
	ck_assert_uint_eq(ecn_syn(t, 0, NOT_ECT), 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1));
	ecn_take_conn(t);
	ck_assert_int_eq(conn(t)->ecn.mode, TCP_ECN_CLASSIC);
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, NOT_ECT);
}
END_TEST

START_TEST(rfc9768_s3_2_2_answer_of_a_half_open_object_has_the_number)
{
	const struct sent *o;

	t = ecn_listening(3);
	ecn_syn(t, ASK, CE); /* 3.2.2.2: a SYN's mark is not counted */
	seg_in_turn(t, S(.seq = 1 << 20, .ack = 1, .len = 1, .ace = 5));
	o = take_out(t);
	ck_assert_uint_eq(o->flags, TCP_ACK | TCP_ECE);
	ck_assert_uint_eq(o->ace, 5);
}
END_TEST

START_TEST(rfc9768_s3_2_2_1_code_counts_while_octets_are_waited_for)
{
	t = ecn_listening(3);
	ck_assert_int_eq(ops->setopt(t->lc, NS_TCP_DEFER_ACCEPT, 10), 0);
	ecn_syn(t, ASK, NOT_ECT);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = (uint8_t)_i));
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10, .ace = 5));
	ecn_take_conn(t);
	ck_assert_int_eq(conn(t)->ecn.acc.no_response, _i == 0);
	ck_assert_int_eq(conn(t)->ecn.no_ect, _i == 0 || _i == 3 || _i == 4 || _i == 6);
}
END_TEST

START_TEST(rfc9768_s3_2_2_1_only_the_synack_is_answered_with_a_code)
{
	/* what is none: another number, another acknowledgement, bits that do not agree */
	static const struct say others[] = {
		{ .seq = 5, .ack = 1, .ace = 2 },
		{ .ack = 2, .ace = 2 },
		{ .ack = 1, .ace = 0 },
		{ .ack = 1, .ace = 1 },
	};
	struct say s = others[_i];

	t = ecn_connecting(3);
	forget_out(t);
	ecn_synack(t, 2, NOT_ECT);
	forget_out(t);
	s.flags = TCP_SYN;
	s.ecn = CE;
	seg_in_turn(t, &s);
	ck_assert_uint_eq(take_out(t)->ace, 5);
	ck_assert_uint_eq(conn(t)->ecn.acc.r_cep, 5);
}
END_TEST

START_TEST(rfc9768_s3_2_2_2_marked_handshake_leaves_a_window_of_a_segment)
{
	if (_i) {
		t = ecn_connecting(3);
		forget_out(t);
		ecn_synack(t, 6, NOT_ECT);
		ck_assert_uint_eq(conn(t)->ecn.acc.s_cep,
				  5); /* the peer's number does not count it */
	} else {
		t = ecn_listening(3);
		ecn_syn(t, ASK, NOT_ECT);
		seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 6));
		ecn_take_conn(t);
		ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 6);
	}
	ck_assert_uint_eq(conn(t)->cc.cwnd, RIG_MSS);
}
END_TEST

/* The SYN-ACK and octets beyond a hole come at once. */
START_TEST(rfc9768_s3_2_2_1_answer_is_bare_and_islands_are_told_behind_it)
{
	const struct sent *o;

	t = ecn_connecting(3);
	forget_out(t);
	seg_in(t, S(.ack = 1, .flags = TCP_SYN, .is_syn_opts = true, .mss = RIG_MSS,
		    .sack_ok = true, .ace = 2, .ecn = ECT0));
	seg_in_turn(t, S(.seq = 1001, .ack = 1, .len = 1000, .ace = 5));
	o = take_out(t);
	ck_assert_uint_eq(o->ace, 4);
	ck_assert_uint_eq(o->opt.sack_cnt, 0);
	o = take_out(t);
	ck_assert_uint_eq(o->ace, 5);
	ck_assert_uint_eq(o->opt.sack_cnt, 1);
	expect_nothing(t);
}
END_TEST

START_TEST(rfc9768_s3_2_what_rfc_5961_refuses_is_not_counted)
{
	t = ecn_server();
	/* a blind guess: in the window, but it acknowledges what was never sent */
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 77, .len = 100, .ecn = CE, .ace = 5)),
			 DROP_TCP_ACK);
	ck_assert_uint_eq(conn(t)->ecn.acc.r_cep, 5);
	ck_assert_uint_eq(conn(t)->ecn.acc.r.ce, 0);
}
END_TEST

START_TEST(rfc9768_s3_2_2_4_first_number_that_is_cleared_is_not_believed)
{
	t = ecn_server();
	ecn_send_segs(t, 3);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + (uint32_t)_i * RIG_MSS, .ace = 0));
	ck_assert_int_eq(conn(t)->ecn.acc.no_response, _i < 3); /* three marks would make it zero */
	ck_assert_int_eq(conn(t)->ecn.no_ect, _i < 3);
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, _i < 3 ? 5 : 8);
	/* 3.2.2: ours goes on all the same */
	ck_assert_uint_eq(ecn_data_in(t, 1, CE)->ace, 6);
}
END_TEST

/* Four segments a round trip, all of them marked but, in the round @_i, one. */
START_TEST(rfc9768_s3_2_2_3_path_that_marks_everything_is_not_believed)
{
	uint32_t acked = 1, cep = 5;

	t = ecn_server();
	for (int round = 0; round < 5; round++) {
		ck_assert(!conn(t)->ecn.no_ect || round == 4);
		ecn_send_segs(t, 4);
		for (int i = 0; i < 4; i++) {
			acked += RIG_MSS;
			cep += round != _i || i;
			seg_in_turn(t, S(.seq = 1, .ack = acked, .ace = cep & 7));
		}
	}
	ck_assert_int_eq(conn(t)->ecn.no_ect, _i == 4);
	ck_assert_int_eq(conn(t)->ecn.acc.no_response, _i == 4);
}
END_TEST

/* Else the peer would take it for one of the duplicates that RFC 5681 counts. */
START_TEST(rfc9768_s3_2_2_5_1_answer_to_acknowledgements_has_no_sack)
{
	const struct sent *o;

	t = ecn_server();
	ck_assert_uint_eq(ecn_data_in(t, 2001, NOT_ECT)->opt.sack_cnt, 1);
	for (int i = 0; i < 3; i++) {
		expect_nothing(t);
		seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 5, .ecn = CE));
	}
	o = take_out(t);
	ck_assert_uint_eq(o->ace, 0);
	ck_assert_uint_eq(o->opt.sack_cnt, 0);
	ck_assert_uint_eq(ecn_data_in(t, 4001, NOT_ECT)->opt.sack_cnt, 2);
}
END_TEST

Suite *accecn_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("accecn", NULL, teardown, &s);

	tcase_add_loop_test(tc, rfc9768_s3_1_1_synack_tells_the_code_point_of_the_syn, 0, 4);
	tcase_add_loop_test(tc, rfc9768_s3_1_2_answer_by_what_is_asked_and_wanted, 0, 48);
	tcase_add_loop_test(tc, rfc9768_s3_1_1_syn_asks_by_knob, 0, 6);
	tcase_add_loop_test(tc, rfc9768_s3_1_2_client_enters_what_the_server_answers, 0, 8);
	tcase_add_test(tc, rfc9768_s3_1_4_1_syn_asks_once_more_then_no_more);
	tcase_add_test(tc, rfc9768_s3_2_3_2_2_synack_falls_back_in_steps);
	tcase_add_test(tc, rfc9768_s3_1_5_plain_syn_after_an_accurate_one);
	tcase_add_test(tc, rfc9768_s3_1_5_both_kinds_in_one_handshake_are_reset);
	tcase_add_test(tc, rfc9768_s3_1_5_latest_syn_is_told);
	tcase_add_loop_test(tc, rfc9768_s3_2_2_1_ack_of_the_synack_tells_its_code_point, 0, 4);
	tcase_add_test(tc, rfc9768_s3_2_2_1_bare_ack_goes_before_octets);
	tcase_add_loop_test(tc, rfc9768_s3_2_2_1_server_reads_the_code_of_the_third_segment, 0, 8);
	tcase_add_test(tc, rfc9768_s3_2_2_3_syn_that_was_changed_stops_marking);
	tcase_add_test(tc, rfc9768_s3_2_2_every_mark_is_counted_and_told);
	tcase_add_test(tc, rfc9768_s3_2_marks_of_bare_acknowledgements_count_without_octets);
	tcase_add_test(tc, rfc9768_s3_2_2_5_1_a_first_mark_is_acknowledged_at_once);
	tcase_add_test(tc, rfc9768_s3_2_2_2_sender_follows_the_number);
	tcase_add_test(tc, rfc9768_s3_2_2_2_overtaken_acknowledgement_tells_nothing);
	tcase_add_test(tc, rfc9768_s3_2_2_5_2_the_number_may_have_gone_round);
	tcase_add_test(tc, rfc9768_s3_2_2_5_2_large_acknowledgements_are_usual_for_some);
	tcase_add_test(tc, rfc9768_s3_2_2_number_survives_segmentation);
	tcase_add_test(tc, rfc9768_s5_1_cookie_remembers_by_the_number);
	tcase_add_loop_test(tc, rfc9768_s3_1_2_crossed_syns_agree_on_the_lesser, 0, 8);
	tcase_add_test(tc, rfc9768_s3_1_5_crossed_syn_after_a_plain_one_marks_nothing);
	tcase_add_loop_test(tc, rfc9768_s3_2_2_synack_of_a_simultaneous_open_is_no_number, 0, 8);
	tcase_add_test(tc, rfc9768_s3_1_5_latest_syn_of_a_simultaneous_open_is_told);
	tcase_add_test(tc, rfc9768_s3_1_5_kinds_are_told_apart_behind_a_plain_syn);
	tcase_add_test(tc, rfc3168_s6_1_1_plain_syn_in_the_same_handshake_stops_marking);
	tcase_add_test(tc, rfc9768_s3_2_2_answer_of_a_half_open_object_has_the_number);
	tcase_add_loop_test(tc, rfc9768_s3_2_2_1_code_counts_while_octets_are_waited_for, 0, 8);
	tcase_add_loop_test(tc, rfc9768_s3_2_2_1_only_the_synack_is_answered_with_a_code, 0, 4);
	tcase_add_loop_test(tc, rfc9768_s3_2_2_2_marked_handshake_leaves_a_window_of_a_segment, 0,
			    2);
	tcase_add_test(tc, rfc9768_s3_2_2_1_answer_is_bare_and_islands_are_told_behind_it);
	tcase_add_test(tc, rfc9768_s3_2_what_rfc_5961_refuses_is_not_counted);
	tcase_add_loop_test(tc, rfc9768_s3_2_2_4_first_number_that_is_cleared_is_not_believed, 1,
			    4);
	tcase_add_loop_test(tc, rfc9768_s3_2_2_3_path_that_marks_everything_is_not_believed, 0, 5);
	tcase_add_test(tc, rfc9768_s3_2_2_5_1_answer_to_acknowledgements_has_no_sack);
	return s;
}
