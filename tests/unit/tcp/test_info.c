/* SPDX-License-Identifier: Apache-2.0 */
/* test_info.c - tcp_info.c: what TCP_INFO tells is what happened */
#include "rig.h"
#include "suites.h"

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;

static void setup(void)
{
	t = rig_established(&(struct rig_opts){ .has_sack = true });
}

static void teardown(void)
{
	rig_free(t);
}

static struct ns_tcp_info info(void)
{
	struct ns_tcp_info i;

	ck_assert_int_eq(ops->info(t->c, t->now, &i), 0);
	return i;
}

START_TEST(linux_tcp_info_measures_reordering_in_segments)
{
	ck_assert_uint_eq(info().reordering, 3);
	conn(t)->min_rtt_ns = 0; /* of the rig's handshake, which took no time */
	conn(t)->flags &= ~TCP_F_RTT_SEEN;
	tcp_rtt_sample(conn(t), 100 * NS_PER_MS);
	rig_write(t, 10 * RIG_MSS, false);
	turn(t);
	forget_out(t);
	after_ms(t, 100);
	/* the sixth segment overtakes, the first of the five before it comes late: five segments out of order */
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1,
			 .sack = { { 1 + 5 * RIG_MSS, 1 + 6 * RIG_MSS } }));
	ck_assert_uint_eq(info().reord_seen, 0);
	ck_assert_uint_eq(info().delivered, 1 + 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 2,
			 .sack = { { 1 + RIG_MSS, 1 + 2 * RIG_MSS },
				   { 1 + 5 * RIG_MSS, 1 + 6 * RIG_MSS } }));
	ck_assert_uint_eq(info().reordering, 5);
	ck_assert_uint_eq(info().reord_seen, 1);
	/* what is nearer does not take it back */
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 3,
			 .sack = { { 1 + 4 * RIG_MSS, 1 + 5 * RIG_MSS },
				   { 1 + RIG_MSS, 1 + 2 * RIG_MSS },
				   { 1 + 5 * RIG_MSS, 1 + 6 * RIG_MSS } }));
	ck_assert_uint_eq(info().reordering, 5);
	ck_assert_uint_eq(info().reord_seen, 2);
	/* a hole filled by acknowledgement counts from its beginning */
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 6 * RIG_MSS));
	ck_assert_uint_eq(info().reordering, 6);
	ck_assert_uint_eq(info().delivered, 1 + 6);
}
END_TEST

START_TEST(linux_tcp_info_does_not_call_a_retransmission_reordering)
{
	rig_write(t, 10 * RIG_MSS, false);
	turn(t);
	forget_out(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1,
			 .sack = { { 1 + RIG_MSS, 1 + 4 * RIG_MSS } }));
	expect_out(t, S(.seq = 1, .ack = 1, .len = RIG_MSS));
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * RIG_MSS));
	ck_assert_uint_eq(info().reord_seen, 0);
	ck_assert_uint_eq(info().reordering, 3);
	ck_assert_uint_eq(info().total_retrans, 1);
	ck_assert_uint_eq(info().bytes_retrans, RIG_MSS);
}
END_TEST

START_TEST(rfc2883_s4_duplicates_are_counted_for_tcp_info)
{
	rig_write(t, 10 * RIG_MSS, false);
	turn(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .sack_cnt = 1,
			 .sack = { { 1 + RIG_MSS, 1 + 4 * RIG_MSS } }));
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * RIG_MSS, .sack_cnt = 1,
			 .sack = { { 1, 1 + RIG_MSS } }));
	ck_assert_uint_eq(info().dsack_dups, 1);
	/* the four and the copy */
	ck_assert_uint_eq(info().delivered, 1 + 5);
	/* more duplicates than were sent twice deliver nothing */
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * RIG_MSS, .sack_cnt = 1,
			 .sack = { { 1, 1 + 3 * RIG_MSS } }));
	ck_assert_uint_eq(info().dsack_dups, 4);
	ck_assert_uint_eq(info().delivered, 1 + 5);
}
END_TEST

START_TEST(linux_tcp_info_times_the_peers_window)
{
	uint64_t busy = info().busy_us;

	ck_assert_uint_eq(busy, 0);
	at_ms(t, 1000);
	rig_write(t, 4 * RIG_MSS, false);
	turn(t);
	at_ms(t, 1100); /* outstanding for 100 ms */
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 2 * RIG_MSS, .wnd = 2 * RIG_MSS));
	rig_write(t, RIG_MSS, false);
	turn(t);
	at_ms(t, 1130); /* for 30 ms the window is what holds the fifth segment back */
	ck_assert_uint_eq(info().busy_us, 130000);
	ck_assert_uint_eq(info().rwnd_limited_us, 30000);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * RIG_MSS));
	at_ms(t, 1150);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 5 * RIG_MSS));
	at_ms(t, 9000); /* idle */
	ck_assert_uint_eq(info().busy_us, 150000);
	ck_assert_uint_eq(info().rwnd_limited_us, 30000);
	ck_assert_uint_eq(info().sndbuf_limited_us, 0);
}
END_TEST

START_TEST(linux_tcp_info_times_a_send_buffer_that_is_too_small)
{
	ops->setopt(t->c, NS_SO_SNDBUF, 4 * RIG_MSS);
	at_ms(t, 1000);
	rig_write(t, 4 * RIG_MSS, false);
	ck_assert_uint_eq(ops->send_room(t->c), 0);
	turn(t);
	at_ms(t, 1080);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 4 * RIG_MSS));
	at_ms(t, 1200);
	ck_assert_uint_eq(info().sndbuf_limited_us, 80000);
	ck_assert_uint_eq(info().busy_us, 80000);
}
END_TEST

START_TEST(linux_tcp_info_counts_timeouts_and_their_time)
{
	rig_write(t, RIG_MSS, false);
	turn(t);
	at_ms(t, 60000); /* many timeouts, one series */
	turn(t);
	ck_assert_uint_gt(info().total_rto, 3);
	ck_assert_uint_eq(info().total_rto_recoveries, 1);
	ck_assert_uint_eq(info().ca_state, 4);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + RIG_MSS));
	ck_assert_uint_ge(info().total_rto_ms, 58000);
	ck_assert_uint_le(info().total_rto_ms, 60000);
	at_ms(t, 90000);
	ck_assert_uint_le(info().total_rto_ms, 60000);
}
END_TEST

START_TEST(linux_tcp_info_counts_what_came_out_of_order)
{
	seg_in_turn(t, S(.seq = 101, .ack = 1, .len = 100));
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 100));
	ck_assert_uint_eq(info().rcv_ooopack, 1);
	ck_assert_uint_eq(info().data_segs_in, 2);
	ck_assert_uint_eq(info().bytes_received, 200);
}
END_TEST

START_TEST(linux_tcp_info_window_is_what_was_said_last)
{
	uint32_t wnd = info().rcv_wnd;

	ops->setopt(t->c, NS_TCP_QUICKACK, 0);
	seg_in(t, S(.seq = 1, .ack = 1, .len = 100)); /* not acknowledged yet */
	ck_assert_uint_eq(info().rcv_wnd, wnd);
}
END_TEST

Suite *info_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("info", NULL, NULL, &s);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, linux_tcp_info_measures_reordering_in_segments);
	tcase_add_test(tc, linux_tcp_info_does_not_call_a_retransmission_reordering);
	tcase_add_test(tc, rfc2883_s4_duplicates_are_counted_for_tcp_info);
	tcase_add_test(tc, linux_tcp_info_times_the_peers_window);
	tcase_add_test(tc, linux_tcp_info_times_a_send_buffer_that_is_too_small);
	tcase_add_test(tc, linux_tcp_info_counts_timeouts_and_their_time);
	tcase_add_test(tc, linux_tcp_info_counts_what_came_out_of_order);
	tcase_add_test(tc, linux_tcp_info_window_is_what_was_said_last);
	return s;
}
