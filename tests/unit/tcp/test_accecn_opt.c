/* SPDX-License-Identifier: Apache-2.0 */
/* test_accecn_opt.c - tcp_accecn.c: RFC 9768 3.2.3, the option */
#include "ecn_rig.h"
#include "suites.h"

static struct rig *t;

static void teardown(void)
{
	rig_free(t);
}

/* Appendix A.2.2 */
START_TEST(rfc9768_s3_2_3_option_says_whether_it_went_round)
{
	t = ecn_server();
	ecn_send_segs(t, 10);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 5, .accecn = ORDER0(1461, 0, 1)));
	seg_in_turn(t,
		    S(.seq = 1, .ack = 1 + 10 * RIG_MSS, .ace = 5, .accecn = ORDER0(14601, 0, 1)));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 5);
	ck_assert_uint_eq(conn(t)->ecn.acc.s.e0, 14601);
	ecn_send_segs(t, 10);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 20 * RIG_MSS, .ace = 5,
			 .accecn = ORDER0(14601, 14600, 1)));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 5 + 8);
}
END_TEST

START_TEST(rfc9768_s3_2_3_1_fields_go_round_at_24_bits)
{
	t = ecn_server();
	conn(t)->ecn.acc.s.e0 = 0xfffff0;
	ecn_send_segs(t, 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 5, .accecn = ORDER0(0x10, 0, 1)));
	ck_assert_uint_eq(conn(t)->ecn.acc.s.e0, 0x1000010);
}
END_TEST

START_TEST(rfc9768_s3_2_3_2_4_cleared_counters_are_ignored)
{
	t = ecn_listening(3);
	ecn_syn(t, ASK, NOT_ECT);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2, .accecn = ORDER0(0, 0, 0)));
	ecn_take_conn(t);
	ecn_send_segs(t, 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 5, .accecn = ORDER0(77, 77, 77)));
	ck_assert_uint_eq(conn(t)->ecn.acc.s.ce, 0);
	ck_assert(!conn(t)->ecn.no_ect);
}
END_TEST

START_TEST(rfc9768_s3_2_3_2_5_marks_in_octets_alone_stop_marking)
{
	t = ecn_server();
	ecn_send_segs(t, 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 5, .accecn = ORDER0(1, 1460, 1)));
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, NOT_ECT);
}
END_TEST

START_TEST(rfc9768_s3_2_3_3_order_and_length_follow_what_came)
{
	struct sent *o;

	t = ecn_server();
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

	t = ecn_server();
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

	t = ecn_connecting(3);
	ck_assert_uint_eq(take_out(t)->ace, ASK);
	ecn_cross(t, ASK, ECT0);
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

	t = ecn_server();
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
	t = ecn_server();
	ck_assert_ptr_null(ecn_data_in(t, 1, ECT0));
	ck_assert(ecn_data_in(t, 1001, ECT0)->opt.accecn.has);
	ck_assert(ecn_data_in(t, 1001, ECT0)->opt.accecn.has); /* our answer got lost, once */
	ck_assert(!ecn_data_in(t, 1001, ECT0)->opt.accecn.has);
	ck_assert_uint_eq(conn(t)->ecn.acc.r.e0, 4001);
}
END_TEST

START_TEST(rfc9768_knob_without_option)
{
	struct sent *o;

	t = ecn_listening(3);
	t->core.knobs[NS_KNOB_tcp_ecn_option] = 0;
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .ace = ASK));
	ck_assert(!take_out(t)->opt.accecn.has);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2));
	ecn_take_conn(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 2920, .ecn = CE, .ace = 5));
	o = take_out(t);
	ck_assert(!o->opt.accecn.has);
	ck_assert_uint_eq(o->ace, 6);
}
END_TEST

/* The number came in a segment that had no room for the option. */
START_TEST(rfc9768_s3_2_3_2_5_marks_that_the_number_told_before_are_no_contradiction)
{
	t = ecn_server();
	ecn_send_segs(t, 2);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = 6));
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 2 * RIG_MSS, .ace = 6,
			 .accecn = ORDER0(1 + RIG_MSS, RIG_MSS, 1)));
	ck_assert(!conn(t)->ecn.no_ect);
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 6);
}
END_TEST

/* 3.2.3.3: marked octets SHOULD always be told of; the last option told of some, or of none */
START_TEST(rfc9768_s3_2_2_5_2_option_that_is_missing_had_nothing_to_tell)
{
	t = ecn_server();
	ecn_send_segs(t, 12);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS, .ace = (uint8_t)(5 + _i),
			 .accecn = ORDER0(1, _i ? RIG_MSS : 0, 1)));
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 11 * RIG_MSS, .ace = (uint8_t)(5 + _i)));
	ck_assert_uint_eq(conn(t)->ecn.acc.s_cep, 5 + (_i ? 1 + 8 : 0));
}
END_TEST

/* An acknowledgement that got lost by chance is not the option's fault. */
START_TEST(rfc9768_s3_2_3_2_2_duplicates_now_and_then_do_not_stop_the_option)
{
	t = ecn_server();
	ck_assert_ptr_null(ecn_data_in(t, 1, ECT0));
	ck_assert(ecn_data_in(t, 1001, ECT0)->opt.accecn.has);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert(ecn_data_in(t, 1001 + i * 2000, ECT0)->opt.accecn.has);
		ck_assert(ecn_data_in(t, 2001 + i * 2000, ECT0)->opt.accecn.has);
		forget_out(t);
		ck_assert(ecn_data_in(t, 3001 + i * 2000, ECT0)->opt.accecn.has);
		forget_out(t);
	}
	ck_assert(!conn(t)->ecn.acc.no_option);
}
END_TEST

START_TEST(rfc9768_s3_2_3_2_1_first_octets_of_a_client_leave_room_for_the_option)
{
	const struct sent *o;

	t = ecn_connecting(3);
	forget_out(t);
	ecn_synack(t, 2, NOT_ECT);
	forget_out(t);
	rig_write(t, RIG_MSS + 500, false);
	turn(t);
	o = take_out(t);
	ck_assert_uint_eq(o->len, RIG_MSS - 12);
	ck_assert_uint_eq(o->opt.accecn.cnt, 3);
	o = take_out(t);
	ck_assert_uint_eq(o->len, 512); /* and Nagle does not take the first for a small one */
	ck_assert(!o->opt.accecn.has);
	/* 3.2.3.2.2: lost; it may be that somebody drops the option */
	after_ms(t, 3000);
	do
		o = take_out(t);
	while (o->seq != 1);
	ck_assert(!o->opt.accecn.has);
	forget_out(t);
}
END_TEST

/* Timestamps, two blocks, and all three counters were told before: what changed since is what has room. */
START_TEST(rfc9768_s3_2_3_3_option_is_cut_to_what_changed)
{
	static const uint8_t came[] = { CE, ECT1, ECT0 };
	struct sent *o;

	t = ecn_listening(3);
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = RIG_MSS,
			 .sack_ok = true, .has_ts = true, .ts_val = 1, .ace = ASK));
	ck_assert_uint_eq(take_out(t)->opt.accecn.cnt, 3);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2, .has_ts = true, .ts_val = 1));
	ecn_take_conn(t);
	for (uint32_t i = 0; i < 3; i++)
		seg_in_turn(t, S(.seq = 1 + i * 1000, .ack = 1, .len = 1000, .ecn = came[i],
				 .ace = 5, .has_ts = true, .ts_val = 1));
	forget_out(t);
	seg_in_turn(t,
		    S(.seq = 5001, .ack = 1, .len = 1000, .ace = 5, .has_ts = true, .ts_val = 1));
	forget_out(t);
	seg_in_turn(t, S(.seq = 7001, .ack = 1, .len = 1000, .ecn = came[_i], .ace = 5,
			 .has_ts = true, .ts_val = 1));
	o = take_out(t);
	ck_assert_uint_eq(o->opt.sack_cnt, 2);
	ck_assert(o->opt.accecn.has);
	ck_assert_int_eq(o->opt.accecn.is_order1, came[_i] == ECT1);
	ck_assert_uint_eq(o->opt.accecn.cnt, came[_i] == CE ? 2 : 1);
	ck_assert_uint_eq(o->opt.accecn.v[came[_i] == CE], came[_i] == CE ? 2000 : 2001);
}
END_TEST

Suite *accecn_opt_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("accecn_opt", NULL, teardown, &s);

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
	tcase_add_test(tc,
		       rfc9768_s3_2_3_2_5_marks_that_the_number_told_before_are_no_contradiction);
	tcase_add_loop_test(tc, rfc9768_s3_2_2_5_2_option_that_is_missing_had_nothing_to_tell, 0,
			    2);
	tcase_add_test(tc, rfc9768_s3_2_3_2_2_duplicates_now_and_then_do_not_stop_the_option);
	tcase_add_test(tc, rfc9768_s3_2_3_2_1_first_octets_of_a_client_leave_room_for_the_option);
	tcase_add_loop_test(tc, rfc9768_s3_2_3_3_option_is_cut_to_what_changed, 0, 3);
	return s;
}
