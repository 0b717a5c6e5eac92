/* SPDX-License-Identifier: Apache-2.0 */
/* test_accecn.c - tcp_accecn.c, tcp_ecn.c: RFC 9768 */
#include <errno.h>

#include "rig.h"
#include "suites.h"

enum {
	ASK = 7,
	NOT_ECT = 0,
	ECT1 = 1,
	ECT0 = 2,
	CE = 3,
};

#define ORDER0(...) ((struct tcp_accecn_opt){ .has = true, .cnt = 3, .v = { __VA_ARGS__ } })

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;

static void teardown(void)
{
	rig_free(t);
}

static void listening(int knob)
{
	t = rig_listening(8);
	t->core.knobs[NS_KNOB_tcp_ecn] = knob;
}

/* A SYN with the bits @ace and the code point @ecn; the SYN-ACK's bits. */
static uint8_t syn(uint8_t ace, uint8_t ecn)
{
	const struct sent *o;

	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = RIG_MSS,
			 .sack_ok = true, .ace = ace, .ecn = ecn));
	o = take_out(t);
	ck_assert_ptr_nonnull(o);
	ck_assert_uint_eq(o->flags & (TCP_SYN | TCP_ACK), TCP_SYN | TCP_ACK);
	ck_assert_uint_eq(o->tos & 3, NOT_ECT);
	return o->ace;
}

static void take_conn(void)
{
	ck_assert_int_eq(ops->accept(t->lc, &t->c), 0);
	ops->set_user(t->c, t);
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
}

/* A server's connection, nothing unusual on the way. */
static void server(void)
{
	listening(3);
	ck_assert_uint_eq(syn(ASK, NOT_ECT), 2);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2, .accecn = ORDER0(1, 0, 1)));
	take_conn();
	forget_out(t);
	conn(t)->quick_cnt = 0;
}

static void connecting(int knob)
{
	struct ns_endpoint local = { ns_addr_v4(RIG_LOCAL), RIG_PORT };
	struct ns_endpoint remote = { ns_addr_v4(RIG_PEER), RIG_PEER_PORT };

	t = rig_new();
	t->core.knobs[NS_KNOB_tcp_ecn] = knob;
	ck_assert_int_eq(ops->open(t->tcp, t, &t->c), 0);
	ck_assert_int_eq(ops->bind(t->c, &local), 0);
	ck_assert_int_eq(ops->connect(t->c, &remote, t->now), -EINPROGRESS);
	turn(t);
}

/* The SYN-ACK with the bits @ace and code point @ecn. */
static void synack(uint8_t ace, uint8_t ecn)
{
	seg_in_turn(t, S(.ack = 1, .flags = TCP_SYN, .is_syn_opts = true, .mss = RIG_MSS,
			 .sack_ok = true, .ace = ace, .ecn = ecn, .accecn = ORDER0(1, 0, 1)));
}

/* The peer's SYN with the bits @ace and code point @ecn, while ours is under way. */
static void cross(uint8_t ace, uint8_t ecn)
{
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = RIG_MSS,
			 .ace = ace, .ecn = ecn));
}

/* Octets from the peer, the answer at once. */
static struct sent *data_in(uint32_t seq, uint8_t ecn)
{
	seg_in_turn(t, S(.seq = seq, .ack = 1, .len = 1000, .ecn = ecn, .ace = 5));
	return take_out(t);
}

static void send_segs(uint32_t n)
{
	conn(t)->cc.cwnd = 1 << 20;
	conn(t)->snd_wnd = 1 << 20;
	rig_write(t, n * RIG_MSS, false);
	turn(t);
	forget_out(t);
}

START_TEST(rfc9768_s3_1_1_synack_tells_the_code_point_of_the_syn)
{
	static const uint8_t want[] = { [NOT_ECT] = 2, [ECT1] = 3, [ECT0] = 4, [CE] = 6 };

	listening(3);
	ck_assert_uint_eq(syn(ASK, (uint8_t)_i), want[_i]);
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

	listening(_i / 8);
	ck_assert_uint_eq(syn((uint8_t)(_i % 8), NOT_ECT), want[_i / 8][_i % 8]);
}
END_TEST

START_TEST(rfc9768_s3_1_1_syn_asks_by_knob)
{
	static const uint8_t want[] = { 0, 3, 0, 7, 3, 0 };

	connecting(_i);
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

	connecting(3);
	forget_out(t);
	synack((uint8_t)_i, NOT_ECT);
	ck_assert_int_eq(conn(t)->ecn.mode, want[_i]);
}
END_TEST

START_TEST(rfc9768_s3_1_4_1_syn_asks_once_more_then_no_more)
{
	connecting(3);
	ck_assert_uint_eq(take_out(t)->ace, 7);
	at_ms(t, 1000);
	ck_assert_uint_eq(take_out(t)->ace, 7);
	at_ms(t, 3000);
	ck_assert_uint_eq(take_out(t)->ace, 0);
	synack(2, NOT_ECT); /* the answer to an earlier one counts all the same */
	ck_assert_int_eq(conn(t)->ecn.mode, TCP_ECN_ACCURATE);
}
END_TEST

START_TEST(rfc9768_s3_2_3_2_2_synack_falls_back_in_steps)
{
	const struct sent *o;

	listening(3);
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
	take_conn();
	ck_assert_int_eq(conn(t)->ecn.mode, TCP_ECN_ACCURATE);
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, NOT_ECT);
}
END_TEST

START_TEST(rfc9768_s3_1_5_plain_syn_after_an_accurate_one)
{
	listening(3);
	ck_assert_uint_eq(syn(ASK, NOT_ECT), 2);
	after_ms(t, 600);
	ck_assert_uint_eq(syn(0, NOT_ECT), 2);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2));
	take_conn();
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, NOT_ECT);
}
END_TEST

START_TEST(rfc9768_s3_1_5_both_kinds_in_one_handshake_are_reset)
{
	listening(3);
	ck_assert_uint_eq(syn(ASK, NOT_ECT), 2);
	ck_assert_int_eq(seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .ace = 3)),
			 DROP_TCP_SYN);
	ck_assert_uint_eq(take_out(t)->flags & TCP_RST, TCP_RST);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 0);
}
END_TEST

START_TEST(rfc9768_s3_1_5_latest_syn_is_told)
{
	listening(3);
	ck_assert_uint_eq(syn(ASK, NOT_ECT), 2);
	after_ms(t, 600);
	ck_assert_uint_eq(syn(ASK, CE), 6);
}
END_TEST

START_TEST(rfc9768_s3_2_2_1_ack_of_the_synack_tells_its_code_point)
{
	static const uint8_t want[] = { [NOT_ECT] = 2, [ECT1] = 3, [ECT0] = 4, [CE] = 6 };
	const struct sent *o;

	connecting(3);
	forget_out(t);
	synack(2, (uint8_t)_i);
	o = take_out(t);
	ck_assert_uint_eq(o->ace, want[_i]);
	ck_assert(o->opt.accecn.has);
	/* table 3: CE counts, once however often */
	synack(2, (uint8_t)_i);
	ck_assert_uint_eq(take_out(t)->ace, want[_i]);
	ck_assert_uint_eq(conn(t)->ecn.acc.r_cep, _i == CE ? 6 : 5);
}
END_TEST

START_TEST(rfc9768_s3_2_2_1_bare_ack_goes_before_octets)
{
	const struct sent *o;

	connecting(3);
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
	listening(3);
	syn(ASK, NOT_ECT);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = (uint8_t)_i));
	take_conn();
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, _i == 6 ? 6 : 5);
	ck_assert_int_eq(conn(t)->ecn.acc.no_response, _i == 0);
	/* 3.2.2.3: our SYN-ACK was not ECN-capable, anything else was made on the way */
	ck_assert_int_eq(conn(t)->ecn.no_ect, _i == 0 || _i == 3 || _i == 4 || _i == 6);
	ck_assert_int_eq(conn(t)->ecn.mode, TCP_ECN_ACCURATE);
}
END_TEST

START_TEST(rfc9768_s3_2_2_3_syn_that_was_changed_stops_marking)
{
	connecting(3);
	forget_out(t);
	synack(4, NOT_ECT); /* our SYN arrived as ECT(0), it says */
	forget_out(t);
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, NOT_ECT);
}
END_TEST

START_TEST(rfc9768_s3_2_2_every_mark_is_counted_and_told)
{
	const struct sent *o;

	server();
	o = data_in(1, CE);
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
	server();
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 5, .ecn = CE));
	ck_assert_uint_eq(conn(t)->ecn.acc.r_cep, 6);
	ck_assert_uint_eq(conn(t)->ecn.acc.r.ce, 0);
	expect_nothing(t);
}
END_TEST

START_TEST(rfc9768_s3_2_2_5_1_a_first_mark_is_acknowledged_at_once)
{
	server();
	ck_assert_ptr_null(data_in(1, ECT0)); /* delayed */
	ck_assert_ptr_nonnull(data_in(1001, CE));
	ck_assert_ptr_null(data_in(2001, CE));    /* no change, one mark */
	ck_assert_ptr_nonnull(data_in(3001, CE)); /* the second since */
}
END_TEST

START_TEST(rfc9768_s3_2_2_2_sender_follows_the_number)
{
	struct ns_tcp_info info;

	server();
	send_segs(1);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 6));
	ck_assert_int_eq(tcp_info(t->c, t->now, &info), 0);
	ck_assert_uint_eq(info.delivered_ce, 1);
	ck_assert(info.has_ecn);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_CWR);
	send_segs(2);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 3 * RIG_MSS, .ace = 0)); /* 6 to 8: two more */
	ck_assert_int_eq(tcp_info(t->c, t->now, &info), 0);
	ck_assert_uint_eq(info.delivered_ce, 3);
}
END_TEST

START_TEST(rfc9768_s3_2_2_2_overtaken_acknowledgement_tells_nothing)
{
	server();
	send_segs(1);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 6));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 5);
	ck_assert_int_eq(conn(t)->ca, TCP_CA_OPEN);
}
END_TEST

/* Appendix A.2.1: more than seven segments at once */
START_TEST(rfc9768_s3_2_2_5_2_the_number_may_have_gone_round)
{
	server();
	send_segs(10);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 5)); /* one at a time is usual */
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 10 * RIG_MSS, .ace = 5));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 5 + 8);
}
END_TEST

START_TEST(rfc9768_s3_2_2_5_2_large_acknowledgements_are_usual_for_some)
{
	server();
	send_segs(10);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 10 * RIG_MSS, .ace = 6));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 6);
}
END_TEST

/* Appendix A.2.2 */
START_TEST(rfc9768_s3_2_3_option_says_whether_it_went_round)
{
	server();
	send_segs(10);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 5, .accecn = ORDER0(1461, 0, 1)));
	seg_in_turn(t,
		    S(.seq = 1, .ack = 1 + 10 * RIG_MSS, .ace = 5, .accecn = ORDER0(14601, 0, 1)));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 5);
	ck_assert_uint_eq(conn(t)->ecn.acc.s.e0, 14601);
	send_segs(10);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 20 * RIG_MSS, .ace = 5,
			 .accecn = ORDER0(14601, 14600, 1)));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 5 + 8);
}
END_TEST

START_TEST(rfc9768_s3_2_3_1_fields_go_round_at_24_bits)
{
	server();
	conn(t)->ecn.acc.s.e0 = 0xfffff0;
	send_segs(1);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 5, .accecn = ORDER0(0x10, 0, 1)));
	ck_assert_uint_eq(conn(t)->ecn.acc.s.e0, 0x1000010);
}
END_TEST

START_TEST(rfc9768_s3_2_3_2_4_cleared_counters_are_ignored)
{
	listening(3);
	syn(ASK, NOT_ECT);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2, .accecn = ORDER0(0, 0, 0)));
	take_conn();
	send_segs(1);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 5, .accecn = ORDER0(77, 77, 77)));
	ck_assert_uint_eq(conn(t)->ecn.acc.s.ce, 0);
	ck_assert(!conn(t)->ecn.no_ect);
}
END_TEST

START_TEST(rfc9768_s3_2_3_2_5_marks_in_octets_alone_stop_marking)
{
	server();
	send_segs(1);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 5, .accecn = ORDER0(1, 1460, 1)));
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, NOT_ECT);
}
END_TEST

START_TEST(rfc9768_s3_2_3_3_order_and_length_follow_what_came)
{
	struct sent *o;

	server();
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 2920, .ecn = ECT1, .ace = 5));
	o = take_out(t);
	ck_assert(o->opt.accecn.is_order1);
	ck_assert_uint_eq(o->opt.accecn.cnt, 1);
	ck_assert_uint_eq(o->opt.accecn.v[0], 2921);
	seg_in_turn(t, S(.seq = 2921, .ack = 1, .len = 2920, .ecn = ECT0, .ace = 5));
	o = take_out(t);
	ck_assert(!o->opt.accecn.is_order1);
	ck_assert_uint_eq(o->opt.accecn.cnt, 3);
	ck_assert_uint_eq(o->opt.accecn.v[0], 2921);
	ck_assert_uint_eq(o->opt.accecn.v[2], 2921);
	/* nothing new to tell */
	seg_in_turn(t, S(.seq = 5841, .ack = 1, .len = 2920, .ace = 5));
	ck_assert(!take_out(t)->opt.accecn.has);
}
END_TEST

/* Both directions are full: the option would have no room for as long as that lasts. */
START_TEST(rfc9768_s3_2_3_3_marks_are_told_before_full_segments)
{
	struct sent *o;

	server();
	conn(t)->cc.cwnd = conn(t)->snd_wnd = 1 << 20;
	rig_write(t, 4 * RIG_MSS, false);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = RIG_MSS, .ecn = ECT0, .ace = 5));
	o = take_out(t);
	ck_assert_uint_gt(o->len, 0); /* ECT(0) alone can wait */
	ck_assert(!o->opt.accecn.has);
	forget_out(t);
	rig_write(t, 4 * RIG_MSS, false);
	seg_in_turn(t, S(.seq = 1461, .ack = 1, .len = RIG_MSS, .ecn = CE, .ace = 5));
	o = take_out(t);
	ck_assert_uint_eq(o->len, 0);
	ck_assert_uint_eq(o->ack, 2921);
	ck_assert_uint_eq(o->opt.accecn.v[1], RIG_MSS);
	o = take_out(t);
	ck_assert_uint_gt(o->len, 0);
	ck_assert(!o->opt.accecn.has);
	ck_assert_uint_eq(o->ace, 6);
	forget_out(t);
}
END_TEST

START_TEST(rfc9768_s3_2_3_2_1_syn_ack_of_a_simultaneous_open_has_the_option)
{
	const struct sent *o;

	connecting(3);
	ck_assert_uint_eq(take_out(t)->ace, ASK);
	cross(ASK, ECT0);
	o = take_out(t);
	ck_assert_uint_eq(o->flags & (TCP_SYN | TCP_ACK), TCP_SYN | TCP_ACK);
	ck_assert_uint_eq(o->ace, 4); /* the SYN came as ECT(0) */
	ck_assert_uint_eq(o->opt.accecn.cnt, 3);
	ck_assert_uint_eq(o->opt.accecn.v[0], 1);
	forget_out(t);
	after_ms(t, 1000);
	ck_assert(!take_out(t)->opt.accecn.has);
	after_ms(t, 2000);
	ck_assert_uint_eq(take_out(t)->ace, 0); /* 3.2.3.2.2 */
	ck_assert(conn(t)->ecn.no_ect);
}
END_TEST

START_TEST(rfc9768_s3_2_3_3_two_sack_blocks_come_first)
{
	struct sent *o = NULL;

	server();
	for (uint32_t i = 0; i < 4; i++) {
		seg_in_turn(t,
			    S(.seq = 1001 + i * 2000, .ack = 1, .len = 1000, .ecn = CE, .ace = 5));
		o = take_out(t);
		ck_assert_ptr_nonnull(o);
		ck_assert_uint_eq(o->opt.sack_cnt, i < 3 ? i + 1 : 3);
		ck_assert(o->opt.accecn.has);
		forget_out(t);
	}
}
END_TEST

START_TEST(rfc9768_s3_2_3_2_2_option_that_gets_lost_stops)
{
	server();
	ck_assert_ptr_null(data_in(1, ECT0));
	ck_assert(data_in(1001, ECT0)->opt.accecn.has);
	ck_assert(data_in(1001, ECT0)->opt.accecn.has); /* our answer got lost, once */
	ck_assert(!data_in(1001, ECT0)->opt.accecn.has);
	ck_assert_uint_eq(conn(t)->ecn.acc.r.e0, 4001);
}
END_TEST

START_TEST(rfc9768_knob_without_option)
{
	struct sent *o;

	listening(3);
	t->core.knobs[NS_KNOB_tcp_ecn_option] = 0;
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .ace = ASK));
	ck_assert(!take_out(t)->opt.accecn.has);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2));
	take_conn();
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 2920, .ecn = CE, .ace = 5));
	o = take_out(t);
	ck_assert(!o->opt.accecn.has);
	ck_assert_uint_eq(o->ace, 6);
}
END_TEST

START_TEST(rfc9768_s3_2_2_number_survives_segmentation)
{
	struct sent *o;

	server();
	t->gso = 65535;
	conn(t)->cc.cwnd = conn(t)->snd_wnd = 1 << 20;
	rig_write(t, 10 * RIG_MSS, false);
	turn(t);
	o = take_out(t);
	ck_assert_uint_eq(o->len, 10 * RIG_MSS); /* 5: the middle bit is clear */
	ck_assert_uint_eq(o->ace, 5);
	(void)data_in(1, CE);
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
	listening(3);
	t->core.knobs[NS_KNOB_tcp_syncookies] = 2;
	ck_assert_uint_eq(syn(ASK, NOT_ECT), 2);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 0);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2));
	take_conn();
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

	connecting(rows[_i].knob);
	forget_out(t);
	cross(rows[_i].ace, ECT0);
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

	connecting(3);
	at_ms(t, 1000);
	at_ms(t, 3000);
	forget_out(t);
	cross(ASK, NOT_ECT);
	o = take_out(t);
	ck_assert_uint_eq(o->ace, 2);
	ck_assert(o->opt.accecn.has);
	ck_assert(conn(t)->ecn.no_ect);
}
END_TEST

/* Its bits tell of our SYN, as those of any SYN-ACK. */
START_TEST(rfc9768_s3_2_2_synack_of_a_simultaneous_open_is_no_number)
{
	connecting(3);
	forget_out(t);
	cross(ASK, NOT_ECT);
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
	connecting(3);
	forget_out(t);
	cross(ASK, NOT_ECT);
	ck_assert_uint_eq(take_out(t)->ace, 2);
	cross(0, CE);
	ck_assert_uint_eq(take_out(t)->flags & TCP_SYN, 0); /* RFC 5961 4.2 */
	after_ms(t, 1000);
	ck_assert_uint_eq(take_out(t)->ace, 6);
	ck_assert(conn(t)->ecn.no_ect);
	cross(3, NOT_ECT);
	ck_assert_uint_eq(take_out(t)->flags & TCP_RST, TCP_RST);
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
}
END_TEST

START_TEST(rfc9768_s3_1_5_kinds_are_told_apart_behind_a_plain_syn)
{
	listening(3);
	ck_assert_uint_eq(syn(0, NOT_ECT), 0);
	after_ms(t, 600);
	ck_assert_uint_eq(syn(ASK, NOT_ECT), 0); /* the mode stays */
	after_ms(t, 600);
	forget_out(t);
	ck_assert_int_eq(seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .ace = 3)),
			 DROP_TCP_SYN);
	ck_assert_uint_eq(take_out(t)->flags & TCP_RST, TCP_RST);
}
END_TEST

START_TEST(rfc3168_s6_1_1_plain_syn_in_the_same_handshake_stops_marking)
{
	listening(2);
	ck_assert_uint_eq(syn(3, NOT_ECT), 1);
	after_ms(t, 600);
	ck_assert_uint_eq(syn(0, NOT_ECT), 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1));
	take_conn();
	ck_assert_int_eq(conn(t)->ecn.mode, TCP_ECN_CLASSIC);
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, NOT_ECT);
}
END_TEST

START_TEST(rfc9768_s3_2_2_answer_of_a_half_open_object_has_the_number)
{
	const struct sent *o;

	listening(3);
	syn(ASK, CE); /* 3.2.2.2: a SYN's mark is not counted */
	seg_in_turn(t, S(.seq = 1 << 20, .ack = 1, .len = 1, .ace = 5));
	o = take_out(t);
	ck_assert_uint_eq(o->flags, TCP_ACK | TCP_ECE);
	ck_assert_uint_eq(o->ace, 5);
}
END_TEST

START_TEST(rfc9768_s3_2_2_1_code_counts_while_octets_are_waited_for)
{
	listening(3);
	ck_assert_int_eq(ops->setopt(t->lc, NS_TCP_DEFER_ACCEPT, 10), 0);
	syn(ASK, NOT_ECT);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = (uint8_t)_i));
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10, .ace = 5));
	take_conn();
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

	connecting(3);
	forget_out(t);
	synack(2, NOT_ECT);
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
		connecting(3);
		forget_out(t);
		synack(6, NOT_ECT);
		ck_assert_uint_eq(conn(t)->ecn.acc.s_cep,
				  5); /* the peer's number does not count it */
	} else {
		listening(3);
		syn(ASK, NOT_ECT);
		seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 6));
		take_conn();
		ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 6);
	}
	ck_assert_uint_eq(conn(t)->cc.cwnd, RIG_MSS);
}
END_TEST

/* The SYN-ACK and octets beyond a hole come at once. */
START_TEST(rfc9768_s3_2_2_1_answer_is_bare_and_islands_are_told_behind_it)
{
	const struct sent *o;

	connecting(3);
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
	tcase_add_test(tc, rfc9768_s3_2_3_option_says_whether_it_went_round);
	tcase_add_test(tc, rfc9768_s3_2_3_1_fields_go_round_at_24_bits);
	tcase_add_test(tc, rfc9768_s3_2_3_2_4_cleared_counters_are_ignored);
	tcase_add_test(tc, rfc9768_s3_2_3_2_5_marks_in_octets_alone_stop_marking);
	tcase_add_test(tc, rfc9768_s3_2_3_3_order_and_length_follow_what_came);
	tcase_add_test(tc, rfc9768_s3_2_3_3_marks_are_told_before_full_segments);
	tcase_add_test(tc, rfc9768_s3_2_3_2_1_syn_ack_of_a_simultaneous_open_has_the_option);
	tcase_add_test(tc, rfc9768_s3_2_3_3_two_sack_blocks_come_first);
	tcase_add_test(tc, rfc9768_s3_2_3_2_2_option_that_gets_lost_stops);
	tcase_add_test(tc, rfc9768_knob_without_option);
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
	return s;
}
