/* SPDX-License-Identifier: Apache-2.0 */
/* test_out.c - tcp_out.c, tcp_xmit.c: what leaves, how large, and what waits */
#include <errno.h>

#include "rig.h"
#include "suites.h"

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;

static void teardown(void)
{
	rig_free(t);
}

static void fresh(const struct rig_opts *o)
{
	t = rig_established(o);
}

START_TEST(tcp_bulk_leaves_in_super_segments_of_the_path)
{
	struct sent *o;

	fresh(&(struct rig_opts){ .has_ts = true, .wscale = 8 });
	t->gso = 65535;
	conn(t)->cc.cwnd = 1 << 20;
	seg_in(t, S(.seq = 1, .ack = 1, .wnd = 65535, .has_ts = true, .ts_val = 2));
	rig_write(t, 200000, false);
	turn(t);
	for (int i = 0; i < 3; i++) {
		o = expect_out(t, S(.seq = 1 + (uint32_t)i * 65160, .ack = 1, .len = 65160));
		ck_assert_uint_eq(o->gso_size, 1448);
		ck_assert_uint_eq(o->gso_segs, 45);
	}
	o = expect_out(t, S(.seq = 195481, .ack = 1, .len = 3 * 1448 + 176));
	ck_assert_uint_eq(o->gso_segs, 4); /* a rest only at the end of the queue */
	ck_assert(o->flags & TCP_PSH);
	expect_nothing(t);
}
END_TEST

START_TEST(rfc6928_s2_initial_flight)
{
	fresh(&(struct rig_opts){ 0 });
	rig_write(t, 100000, false);
	turn(t);
	for (uint32_t i = 0; i < 10; i++)
		expect_out(t, S(.seq = 1 + i * 1460, .ack = 1, .len = 1460));
	expect_nothing(t);
}
END_TEST

START_TEST(rfc9293_s3_8_6_no_octet_beyond_the_window)
{
	fresh(&(struct rig_opts){ .wnd = 5000 });
	rig_write(t, 100000, false);
	turn(t);
	for (uint32_t i = 0; i < 3; i++)
		expect_out(t, S(.seq = 1 + i * 1460, .ack = 1, .len = 1460));
	expect_nothing(t); /* 620 octets of window are left: silly */
}
END_TEST

START_TEST(rfc9293_s3_8_6_2_1_half_the_largest_window_is_worth_a_segment)
{
	fresh(&(struct rig_opts){ .wnd = 1000 });
	rig_write(t, 3000, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 1000));
	seg_in_turn(t, S(.seq = 1, .ack = 1001, .wnd = 400));
	expect_nothing(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1001, .wnd = 600));
	expect_out(t, S(.seq = 1001, .ack = 1, .len = 600));
}
END_TEST

START_TEST(rfc9293_s3_7_4_nagle_holds_a_second_small_segment)
{
	fresh(&(struct rig_opts){ 0 });
	rig_write(t, 10, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 10));
	rig_write(t, 10, false);
	turn(t);
	expect_nothing(t);
	seg_in_turn(t, S(.seq = 1, .ack = 11));
	expect_out(t, S(.seq = 11, .ack = 1, .len = 10));
	rig_write(t, 1460, false); /* a full segment never waits */
	turn(t);
	expect_out(t, S(.seq = 21, .ack = 1, .len = 1460));
	ops->setopt(t->c, NS_TCP_NODELAY, 1);
	rig_write(t, 5, false);
	turn(t);
	expect_out(t, S(.seq = 1481, .ack = 1, .len = 5));
}
END_TEST

START_TEST(linux_minshall_only_small_segments_hold_small_ones)
{
	fresh(&(struct rig_opts){ 0 });
	rig_write(t, 1460 + 10, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 1460));
	expect_out(t, S(.seq = 1461, .ack = 1, .len = 10)); /* only a full one is outstanding */
}
END_TEST

START_TEST(linux_cork_and_more_hold_a_rest_for_200_ms)
{
	fresh(&(struct rig_opts){ 0 });
	rig_write(t, 100, true);
	turn(t);
	expect_nothing(t);
	at_ms(t, 199);
	expect_nothing(t);
	at_ms(t, 200);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 100));
	seg_in_turn(t, S(.seq = 1, .ack = 101));
	ops->setopt(t->c, NS_TCP_CORK, 1);
	rig_write(t, 2000, false);
	turn(t);
	expect_out(t, S(.seq = 101, .ack = 1, .len = 1460));
	expect_nothing(t);
	ops->setopt(t->c, NS_TCP_CORK, 0);
	turn(t);
	expect_out(t, S(.seq = 1561, .ack = 1, .len = 540));
}
END_TEST

START_TEST(tcp_fin_rides_on_the_last_octets)
{
	struct sent *o;

	fresh(&(struct rig_opts){ 0 });
	rig_write(t, 100, true);
	ops->shutdown_send(t->c);
	ck_assert_uint_eq(ops->send_room(t->c), 0);
	turn(t);
	o = expect_out(t, S(.seq = 1, .ack = 1, .len = 100, .flags = TCP_FIN));
	ck_assert(o->flags & TCP_PSH);
	ck_assert_int_eq(state_of(t), TCP_FIN_WAIT_1);
	seg_in_turn(t, S(.seq = 1, .ack = 102));
	ck_assert_int_eq(state_of(t), TCP_FIN_WAIT_2);
}
END_TEST

START_TEST(gvisor_13393_close_at_a_zero_window_is_fin_wait_1_at_once)
{
	fresh(&(struct rig_opts){ .wnd = 1000 });
	rig_write(t, 5000, false);
	turn(t);
	forget_out(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1001, .is_wnd_0 = true));
	ops->shutdown_send(t->c);
	turn(t);
	ck_assert_int_eq(state_of(t), TCP_FIN_WAIT_1);
	expect_nothing(t); /* octets are in front of the FIN */
	seg_in_turn(t, S(.seq = 1, .ack = 1001, .wnd = 60000));
	expect_out(t, S(.seq = 1001, .ack = 1, .len = 1460));
	expect_out(t, S(.seq = 2461, .ack = 1, .len = 1460));
	expect_out(t, S(.seq = 3921, .ack = 1, .len = 1080, .flags = TCP_FIN));
}
END_TEST

START_TEST(tcp_link_without_room_waits_and_loses_nothing)
{
	fresh(&(struct rig_opts){ 0 });
	t->room = 0;
	rig_write(t, 2000, false);
	seg_in(t, S(.seq = 1, .ack = 1, .len = 5000));
	turn(t);
	turn(t);
	expect_nothing(t);
	at_ms(t, 10000); /* no timer makes up for it: nothing was sent */
	expect_nothing(t);
	t->room = 1;
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 5001, .len = 1460));
	expect_out(t, S(.seq = 1461, .ack = 5001, .len = 540));
	expect_nothing(t);
}
END_TEST

START_TEST(tcp_connections_share_a_link_in_rounds)
{
	struct tcp_conn *c;
	void *a, *b;

	fresh(&(struct rig_opts){ .wscale = 8 });
	a = t->c;
	t->iss = 0;
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = 1460,
			 .wscale = 8, .peer_port = 7));
	take_out(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = 7));
	ck_assert_int_eq(ops->accept(t->lc, &b), 0);
	for (int i = 0; i < 2; i++) {
		t->c = i ? b : a;
		c = t->c;
		c->cc.cwnd = 1 << 20;
		c->snd_wnd = 1 << 20;
		rig_write(t, 20 * 1460, false);
	}
	turn(t);
	for (uint32_t i = 0; i < 40; i++) {
		struct sent *o = take_out(t);

		ck_assert_ptr_nonnull(o);
		/* four of one, four of the other */
		ck_assert_int_eq(o->ack == 1 && o->seq < 100000, i / 4 % 2);
	}
	expect_nothing(t);
}
END_TEST

START_TEST(tcp_new_route_brings_a_new_mss)
{
	fresh(&(struct rig_opts){ 0 });
	t->mtu = 1000;
	t->generation++;
	rig_write(t, 2000, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 960));
	t->route_err = -ENETUNREACH;
	t->generation++;
	forget_out(t);
	at_ms(t, 1000);
	expect_nothing(t);
	t->route_err = 0;
	at_ms(t, 10000);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 960)); /* the timer went on */
}
END_TEST

START_TEST(tcp_send_queue_grows_with_the_window)
{
	uint32_t una = 1;

	fresh(&(struct rig_opts){ .wscale = 8 });
	ck_assert_uint_eq(ops->send_room(t->c), TCP_SNDBUF_START);
	for (int round = 0; round < 8; round++) {
		struct sent *o;
		uint32_t end = una;

		while (ops->send_room(t->c) > 0)
			rig_write(t, ops->send_room(t->c), false);
		turn(t);
		while ((o = take_out(t)) != NULL)
			end = o->seq + o->len;
		after_ms(t, 10);
		seg_in(t, S(.seq = 1, .ack = end, .wnd = 65535));
		una = end;
	}
	ck_assert_uint_gt(conn(t)->sndbuf, 1 << 20);
	ck_assert(t->told & NS_EV_OUT);
}
END_TEST

START_TEST(rfc9293_must_58_delayed_ack)
{
	fresh(&(struct rig_opts){ 0 });
	conn(t)->quick_cnt = 0;
	conn(t)->rcv_mss = 1460;
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 1000));
	expect_nothing(t);
	at_ms(t, 39);
	expect_nothing(t);
	at_ms(t, 40);
	expect_out(t, S(.seq = 1, .ack = 1001));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_DELAYED_ACKS), 1);
	seg_in_turn(t, S(.seq = 1001, .ack = 1, .len = 1460));
	expect_nothing(t);
	seg_in_turn(t, S(.seq = 2461, .ack = 1, .len = 1460));
	expect_out(t, S(.seq = 1, .ack = 3921)); /* every second full segment */
}
END_TEST

START_TEST(tcp_one_ack_a_turn_for_a_burst_and_for_a_super_frame)
{
	fresh(&(struct rig_opts){ 0 });
	for (uint32_t i = 0; i < 20; i++)
		seg_in(t, S(.seq = 1 + i * 1000, .ack = 1, .len = 1000));
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 20001));
	conn(t)->quick_cnt = 0;
	ck_assert_uint_eq(rig_read(t, 100000), 20000);
	turn(t);
	forget_out(t);
	seg_in_turn(t, S(.seq = 20001, .ack = 1, .len = 30 * 1460, .segs = 30));
	expect_out(t, S(.seq = 1, .ack = 20001 + 30 * 1460));
	expect_nothing(t);
}
END_TEST

START_TEST(linux_first_segments_are_acknowledged_at_once)
{
	fresh(&(struct rig_opts){ 0 });
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10));
	expect_out(t, S(.seq = 1, .ack = 11));
	rig_write(t, 5, false); /* an answer: from now on acknowledgements ride on answers */
	seg_in_turn(t, S(.seq = 11, .ack = 1, .len = 10));
	expect_out(t, S(.seq = 1, .ack = 21, .len = 5));
	seg_in_turn(t, S(.seq = 21, .ack = 6, .len = 10));
	expect_nothing(t);
	ops->setopt(t->c, NS_TCP_QUICKACK, 1);
	turn(t);
	expect_out(t, S(.seq = 6, .ack = 31));
}
END_TEST

START_TEST(rfc9293_s3_8_6_2_2_window_moves_by_a_segment_or_not_at_all)
{
	struct tcp_conn *c;
	uint32_t at = 1;

	fresh(&(struct rig_opts){ .wscale = 1 });
	c = conn(t);
	c->rcv_mss = 1460;
	while (tcp_rcv_wnd(c) > 0) {
		uint32_t len = ns_min_u(1460, tcp_rcv_wnd(c));

		seg_in_turn(t, S(.seq = at, .ack = 1, .len = len));
		at += len;
	}
	forget_out(t);
	rig_read(t, 1000);
	turn(t);
	expect_nothing(t);
	rig_read(t, 1000);
	turn(t);
	ck_assert_uint_ge(expect_out(t, S(.seq = 1, .ack = at))->wnd, 1460 >> 7);
}
END_TEST

START_TEST(tcp_window_doubles_while_the_program_keeps_up)
{
	struct tcp_conn *c;
	uint32_t at = 1;

	fresh(&(struct rig_opts){ .wscale = 1 });
	c = conn(t);
	for (int rtt = 0; rtt < 8; rtt++) {
		uint32_t end = at + tcp_rcv_wnd(c);

		after_ms(t, 1);
		while (at < end) {
			uint32_t len = ns_min_u(60000, end - at);

			seg_in(t, S(.seq = at, .ack = 1, .len = len, .segs = 45));
			rig_read(t, len);
			at += len;
		}
		turn(t);
	}
	ck_assert_uint_ge(tcp_rcv_wnd(c), 4 << 20);
	ck_assert_uint_le(tcp_rcv_wnd(c), (4 << 20) + 128);
}
END_TEST

START_TEST(tcp_window_stays_when_the_program_does_not_read)
{
	struct tcp_conn *c;
	uint32_t at = 1;

	fresh(&(struct rig_opts){ .wscale = 1 });
	c = conn(t);
	while (tcp_rcv_wnd(c) > 0) {
		uint32_t len = ns_min_u(1460, tcp_rcv_wnd(c));

		seg_in_turn(t, S(.seq = at, .ack = 1, .len = len));
		at += len;
	}
	ck_assert_uint_eq(c->rcvbuf, 65536u);
	ck_assert_uint_le(bytes_len(&c->rcvq), 65536u + 128);
}
END_TEST

Suite *out_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("out", NULL, NULL, &s);

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, tcp_bulk_leaves_in_super_segments_of_the_path);
	tcase_add_test(tc, rfc6928_s2_initial_flight);
	tcase_add_test(tc, rfc9293_s3_8_6_no_octet_beyond_the_window);
	tcase_add_test(tc, rfc9293_s3_8_6_2_1_half_the_largest_window_is_worth_a_segment);
	tcase_add_test(tc, rfc9293_s3_7_4_nagle_holds_a_second_small_segment);
	tcase_add_test(tc, linux_minshall_only_small_segments_hold_small_ones);
	tcase_add_test(tc, linux_cork_and_more_hold_a_rest_for_200_ms);
	tcase_add_test(tc, tcp_fin_rides_on_the_last_octets);
	tcase_add_test(tc, gvisor_13393_close_at_a_zero_window_is_fin_wait_1_at_once);
	tcase_add_test(tc, tcp_link_without_room_waits_and_loses_nothing);
	tcase_add_test(tc, tcp_connections_share_a_link_in_rounds);
	tcase_add_test(tc, tcp_new_route_brings_a_new_mss);
	tcase_add_test(tc, tcp_send_queue_grows_with_the_window);
	tcase_add_test(tc, rfc9293_must_58_delayed_ack);
	tcase_add_test(tc, tcp_one_ack_a_turn_for_a_burst_and_for_a_super_frame);
	tcase_add_test(tc, linux_first_segments_are_acknowledged_at_once);
	tcase_add_test(tc, rfc9293_s3_8_6_2_2_window_moves_by_a_segment_or_not_at_all);
	tcase_add_test(tc, tcp_window_doubles_while_the_program_keeps_up);
	tcase_add_test(tc, tcp_window_stays_when_the_program_does_not_read);
	return s;
}
