/* SPDX-License-Identifier: Apache-2.0 */
/* test_timer.c - tcp_timer.c: when what happens, and when it is over */
#include <errno.h>

#include "rig.h"
#include "suites.h"

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;

static void teardown(void)
{
	rig_free(t);
}

/* SRTT is that of a handshake in no time: the timeout is its floor, 200 ms. */
static void fresh(uint32_t wnd)
{
	t = rig_established(&(struct rig_opts){ .wnd = wnd });
}

START_TEST(rfc6298_s5_5_retransmissions_double)
{
	uint64_t at = 200, step = 200;

	fresh(0);
	rig_write(t, 100, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 100));
	for (int i = 0; i < 8; i++) {
		at_ms(t, at - 1);
		expect_nothing(t);
		at_ms(t, at + 1);
		expect_out(t, S(.seq = 1, .ack = 1, .len = 100));
		step *= 2;
		at += step;
	}
}
END_TEST

/* RFC 6298 5.2, 5.3: begun anew by what is news, off when nothing is outstanding. */
START_TEST(rfc6298_s5_3_acknowledgement_begins_it_anew)
{
	fresh(0);
	rig_write(t, 2920, false);
	turn(t);
	forget_out(t);
	at_ms(t, 150);
	seg_in_turn(t, S(.seq = 1, .ack = 1461));
	ck_assert_uint_ge(conn(t)->rto_timer.when.ns - t->now.ns, 200 * NS_PER_MS);
	at_ms(t, 349);
	expect_nothing(t);
	seg_in_turn(t, S(.seq = 1, .ack = 2921));
	at_ms(t, 100000);
	expect_nothing(t);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_RTOS), 0);
}
END_TEST

START_TEST(rfc9293_must_20_r2_gives_up_after_15)
{
	fresh(0);
	rig_write(t, 100, false);
	turn(t);
	at_ms(t, 900 * 1000);
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	at_ms(t, 1300 * 1000);
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
	ck_assert_int_eq(t->told_err, -ETIMEDOUT);
	ck_assert_uint_eq(t->out_in - t->out_at, 16);
}
END_TEST

/* RFC 9293 3.8.3 (b): at R1 the network layer is told that the path may be none; it is looked up again. */
START_TEST(rfc9293_must_20_r1_asks_for_the_route_again)
{
	fresh(0);
	t->core.knobs[NS_KNOB_tcp_mtu_probing] = 0;
	rig_write(t, 1460, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 1460));
	t->mtu = 1000;                     /* nobody says that it is another route now */
	for (uint32_t i = 1; i < 3; i++) { /* tcp_retries1 */
		while (conn(t)->retries < i)
			after_ms(t, 10);
		expect_out(t, S(.seq = 1, .ack = 1, .len = 1460));
	}
	while (conn(t)->retries < 3)
		after_ms(t, 10);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 960));
	forget_out(t);
}
END_TEST

START_TEST(rfc5482_user_timeout_is_kept_to_the_time)
{
	fresh(0);
	ops->setopt(t->c, NS_TCP_USER_TIMEOUT, 5000);
	rig_write(t, 100, false);
	turn(t);
	at_ms(t, 4999);
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	at_ms(t, 5000);
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
	ck_assert_int_eq(t->told_err, -ETIMEDOUT);
}
END_TEST

START_TEST(rfc5461_s4_2_the_reason_is_the_last_icmp_error)
{
	fresh(0);
	ops->setopt(t->c, NS_TCP_USER_TIMEOUT, 1000);
	rig_write(t, 100, false);
	turn(t);
	conn(t)->soft_err = -EHOSTUNREACH;
	at_ms(t, 2000);
	ck_assert_int_eq(t->told_err, -EHOSTUNREACH);
}
END_TEST

START_TEST(rfc9293_s3_8_6_1_zero_window_probes)
{
	uint64_t at = 200, step = 200;

	fresh(1000);
	rig_write(t, 3000, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 1000));
	seg_in_turn(t, S(.seq = 1, .ack = 1001, .is_wnd_0 = true));
	for (int i = 0; i < 5; i++) {
		at_ms(t, at - 1);
		expect_nothing(t);
		at_ms(t, at + 1);
		expect_out(t, S(.seq = 1000, .ack = 1)); /* SND.UNA - 1, as Linux */
		seg_in_turn(t, S(.seq = 1, .ack = 1001, .is_wnd_0 = true));
		step *= 2;
		at += step;
	}
	seg_in_turn(t, S(.seq = 1, .ack = 1001, .wnd = 10000));
	expect_out(t, S(.seq = 1001, .ack = 1, .len = 1460));
	expect_out(t, S(.seq = 2461, .ack = 1, .len = 540));
}
END_TEST

START_TEST(rfc9293_must_36_probing_goes_on_while_the_peer_answers)
{
	fresh(1000);
	rig_write(t, 3000, false);
	turn(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1001, .is_wnd_0 = true));
	forget_out(t);
	for (uint64_t minute = 1; minute < 100; minute++) {
		at_ms(t, minute * 60 * 1000);
		while (take_out(t))
			seg_in_turn(t, S(.seq = 1, .ack = 1001, .is_wnd_0 = true));
	}
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	at_ms(t, 200 * 60 * 1000); /* and ends when it does not */
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
}
END_TEST

START_TEST(tcp_user_timeout_ends_a_window_shut_for_ever)
{
	fresh(1000);
	ops->setopt(t->c, NS_TCP_USER_TIMEOUT, 30000);
	rig_write(t, 3000, false);
	turn(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1001, .is_wnd_0 = true));
	for (uint64_t ms = 0; ms < 29900; ms += 100) {
		at_ms(t, ms);
		while (take_out(t))
			seg_in_turn(t, S(.seq = 1, .ack = 1001, .is_wnd_0 = true));
	}
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	at_ms(t, 30100);
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
}
END_TEST

START_TEST(gvisor_13393_orphan_at_a_zero_window_ends)
{
	fresh(1000);
	rig_write(t, 3000, false);
	turn(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1001, .is_wnd_0 = true));
	ops->close(t->c);
	turn(t);
	ck_assert_uint_eq(t->tcp->orphan_cnt, 1);
	at_ms(t, 300 * 1000);
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 1);
	ck_assert_uint_eq(t->tcp->orphan_cnt, 0);
}
END_TEST

START_TEST(rfc9293_s3_8_4_keepalive)
{
	fresh(0);
	ops->setopt(t->c, NS_TCP_KEEPIDLE, 10);
	ops->setopt(t->c, NS_TCP_KEEPINTVL, 2);
	ops->setopt(t->c, NS_TCP_KEEPCNT, 3);
	at_ms(t, 60000);
	expect_nothing(t); /* MUST-24: off until asked for */
	seg_in_turn(t, S(.seq = 1, .ack = 1));
	ops->setopt(t->c, NS_SO_KEEPALIVE, 1);
	at_ms(t, 69999);
	expect_nothing(t);
	at_ms(t, 70000);
	expect_out(t, S(.seq = 0, .ack = 1));
	seg_in_turn(t, S(.seq = 1, .ack = 1)); /* alive: the idle time starts again */
	at_ms(t, 79999);
	expect_nothing(t);
	at_ms(t, 80000);
	expect_out(t, S(.seq = 0, .ack = 1));
	at_ms(t, 84000);
	expect_out(t, S(.seq = 0, .ack = 1));
	expect_out(t, S(.seq = 0, .ack = 1));
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	at_ms(t, 86000);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_RST));
	ck_assert_int_eq(t->told_err, -ETIMEDOUT);
}
END_TEST

START_TEST(rfc9293_must_23_syn_is_repeated_and_given_up)
{
	static const uint32_t at[] = { 1000, 2000,  3000,  4000,  5000,
				       7000, 11000, 19000, 35000, 67000 };
	struct ns_endpoint peer = { ns_addr_v4(RIG_PEER), RIG_PEER_PORT };

	t = rig_new();
	ck_assert_int_eq(ops->open(t->tcp, t, &t->c), 0);
	ck_assert_int_eq(ops->connect(t->c, &peer, t->now), -EINPROGRESS);
	turn(t);
	expect_out(t, S(.flags = TCP_SYN, .no_ack = true));
	for (size_t i = 0; i < NS_ARRAY_LEN(at); i++) {
		at_ms(t, at[i] - 1);
		expect_nothing(t);
		at_ms(t, at[i]);
		expect_out(t, S(.flags = TCP_SYN, .no_ack = true));
	}
	at_ms(t, 131000);
	ck_assert_int_eq(t->told_err, -ETIMEDOUT);
	expect_nothing(t);
	ck_assert_int_eq(ops->connect(t->c, &peer, t->now),
			 -EINPROGRESS); /* the object may try again */
	turn(t);
	ck_assert_ptr_nonnull(take_out(t));
}
END_TEST

START_TEST(rfc6298_s5_7_lost_syn_makes_the_timeout_three_seconds)
{
	struct ns_endpoint at = { ns_addr_v4(RIG_LOCAL), RIG_PORT };
	struct ns_endpoint peer = { ns_addr_v4(RIG_PEER), RIG_PEER_PORT };

	t = rig_new();
	ck_assert_int_eq(ops->open(t->tcp, t, &t->c), 0);
	ck_assert_int_eq(ops->bind(t->c, &at), 0);
	ck_assert_int_eq(ops->connect(t->c, &peer, t->now), -EINPROGRESS);
	turn(t);
	at_ms(t, 1500);
	forget_out(t);
	seg_in_turn(t, S(.ack = 1, .flags = TCP_SYN));
	ck_assert_uint_eq(tcp_rto_ns(conn(t)), 3 * NS_PER_SEC);
	ck_assert_uint_eq(conn(t)->srtt_ns, 0); /* Karn */
}
END_TEST

START_TEST(linux_fin_wait_2_of_an_orphan_ends_after_60_s)
{
	fresh(0);
	ops->close(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	seg_in_turn(t, S(.seq = 1, .ack = 2));
	at_ms(t, 59999);
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 2);
	at_ms(t, 60000);
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 1);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 2)), DROP_TCP_NO_CONN);
	expect_out(t, S(.seq = 2, .flags = TCP_RST, .no_ack = true));
}
END_TEST

START_TEST(rfc9293_s3_6_fin_wait_2_of_a_half_closed_program_does_not_end)
{
	fresh(0);
	ops->shutdown_send(t->c);
	turn(t);
	seg_in_turn(t, S(.seq = 1, .ack = 2));
	at_ms(t, 3600 * 1000);
	ck_assert_int_eq(state_of(t), TCP_FIN_WAIT_2);
	seg_in_turn(t, S(.seq = 1, .ack = 2, .len = 100));
	ck_assert_uint_eq(rig_read(t, 1000), 100);
}
END_TEST

START_TEST(tcp_fin_is_retransmitted_in_fin_wait_1_and_closing)
{
	fresh(0);
	ops->shutdown_send(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	at_ms(t, 201);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	seg_in_turn(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	ck_assert_int_eq(state_of(t), TCP_CLOSING);
	expect_out(t, S(.seq = 2, .ack = 2));
	at_ms(t, 700);
	expect_out(t, S(.seq = 1, .ack = 2, .flags = TCP_FIN));
	seg_in_turn(t, S(.seq = 2, .ack = 2));
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
	ck_assert_uint_eq(t->tcp->tw_pool.out_cnt, 1);
}
END_TEST

Suite *timer_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("timer", NULL, NULL, &s);

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, rfc6298_s5_5_retransmissions_double);
	tcase_add_test(tc, rfc6298_s5_3_acknowledgement_begins_it_anew);
	tcase_add_test(tc, rfc9293_must_20_r2_gives_up_after_15);
	tcase_add_test(tc, rfc9293_must_20_r1_asks_for_the_route_again);
	tcase_add_test(tc, rfc5482_user_timeout_is_kept_to_the_time);
	tcase_add_test(tc, rfc5461_s4_2_the_reason_is_the_last_icmp_error);
	tcase_add_test(tc, rfc9293_s3_8_6_1_zero_window_probes);
	tcase_add_test(tc, rfc9293_must_36_probing_goes_on_while_the_peer_answers);
	tcase_add_test(tc, tcp_user_timeout_ends_a_window_shut_for_ever);
	tcase_add_test(tc, gvisor_13393_orphan_at_a_zero_window_ends);
	tcase_add_test(tc, rfc9293_s3_8_4_keepalive);
	tcase_add_test(tc, rfc9293_must_23_syn_is_repeated_and_given_up);
	tcase_add_test(tc, rfc6298_s5_7_lost_syn_makes_the_timeout_three_seconds);
	tcase_add_test(tc, linux_fin_wait_2_of_an_orphan_ends_after_60_s);
	tcase_add_test(tc, rfc9293_s3_6_fin_wait_2_of_a_half_closed_program_does_not_end);
	tcase_add_test(tc, tcp_fin_is_retransmitted_in_fin_wait_1_and_closing);
	return s;
}
