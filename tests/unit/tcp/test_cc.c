/* SPDX-License-Identifier: Apache-2.0 */
/* test_cc.c - tcp_cc.c, cc_reno.c: RFC 5681, 6928, 3465 */
#include <string.h>

#include "rig.h"
#include "suites.h"

static struct tcp_cc cc;
static const struct mono now = { 1 };

static void setup(void)
{
	tcp_cc_init(&cc, &tcp_cc_reno, 1000);
}

static void ack(uint32_t octets, bool is_limited)
{
	struct tcp_cc_ack a = { .acked = octets, .is_cwnd_limited = is_limited };

	cc.ops->on_ack(&cc, &a, now);
}

START_TEST(rfc6928_s2_initial_window)
{
	ck_assert_uint_eq(tcp_cc_initial_window(1460), 14600);
	ck_assert_uint_eq(tcp_cc_initial_window(1000), 10000);
	ck_assert_uint_eq(tcp_cc_initial_window(3000), 14600);
	ck_assert_uint_eq(tcp_cc_initial_window(9000), 18000);
}
END_TEST

START_TEST(rfc5681_s3_1_slow_start_grows_by_what_is_acknowledged)
{
	ack(1000, true);
	ck_assert_uint_eq(cc.cwnd, 11000);
	ack(11000, true); /* one stretch ACK for the whole window: twice, not more (RFC 3465) */
	ck_assert_uint_eq(cc.cwnd, 22000);
}
END_TEST

START_TEST(rfc5681_s3_1_congestion_avoidance_grows_one_segment_a_window)
{
	cc.ssthresh = cc.cwnd;
	for (int i = 0; i < 9; i++)
		ack(1000, true);
	ck_assert_uint_eq(cc.cwnd, 10000);
	ack(1000, true);
	ck_assert_uint_eq(cc.cwnd, 11000);
}
END_TEST

START_TEST(rfc3465_ack_splitting_gains_nothing)
{
	cc.ssthresh = cc.cwnd;
	for (int i = 0; i < 10000; i++)
		ack(1, true);
	ck_assert_uint_eq(cc.cwnd, 11000);
}
END_TEST

/* RFC 5681 3.1: by the ratio of the sizes; RFC 4821 4: raising it raises no window in octets. */
START_TEST(rfc5681_s3_1_smaller_segments_are_no_more_of_them)
{
	cc.cwnd = 20000;
	tcp_cc_set_mss(&cc, 600);
	ck_assert_uint_eq(cc.cwnd, 12000);
	tcp_cc_set_mss(&cc, 1200);
	ck_assert_uint_eq(cc.cwnd, 12000);
	cc.cwnd = 1200;
	tcp_cc_set_mss(&cc, 1460); /* but one segment always */
	ck_assert_uint_eq(cc.cwnd, 1460);
	cc.cwnd = UINT32_C(0xf0000000);
	tcp_cc_set_mss(&cc, 730);
	ck_assert_uint_eq(cc.cwnd, UINT32_C(0x78000000));
}
END_TEST

START_TEST(rfc5681_eq4_loss_halves_what_is_outstanding)
{
	cc.ops->on_loss(&cc, 10000, now);
	ck_assert_uint_eq(cc.ssthresh, 5000);
	cc.ops->on_loss(&cc, 1000, now);
	ck_assert_uint_eq(cc.ssthresh, 2000);
}
END_TEST

START_TEST(rfc7661_no_growth_while_the_program_is_the_limit)
{
	ack(1000, false);
	ck_assert_uint_eq(cc.cwnd, 10000);
}
END_TEST

START_TEST(rfc5681_s4_1_idle_window_shrinks_to_the_restart_window)
{
	cc.cwnd = 80000;
	tcp_cc_restart(&cc, 250 * NS_PER_MS, 200 * NS_PER_MS);
	ck_assert_uint_eq(cc.cwnd, 40000);
	tcp_cc_restart(&cc, 10 * NS_PER_SEC, 200 * NS_PER_MS);
	ck_assert_uint_eq(cc.cwnd, 10000);
}
END_TEST

START_TEST(tcp_window_has_a_ceiling_and_never_falls_under_a_segment)
{
	cc.cwnd = TCP_CWND_MAX - 500;
	ack(UINT32_MAX / 2, true);
	ck_assert_uint_le(cc.cwnd, TCP_CWND_MAX);
	cc.cwnd = 10;
	tcp_cc_set_mss(&cc, 1400);
	ck_assert_uint_eq(cc.cwnd, 1400);
}
END_TEST

START_TEST(tcp_algorithms_have_numbers)
{
	ck_assert_ptr_eq(tcp_cc_get(NS_CC_CUBIC), &tcp_cc_cubic);
	ck_assert_ptr_eq(tcp_cc_get(NS_CC_RENO), &tcp_cc_reno);
	ck_assert_ptr_null(tcp_cc_get(NS_CC_COUNT));
	ck_assert_ptr_null(tcp_cc_get(-1));
}
END_TEST

START_TEST(tcp_switch_keeps_window_and_threshold)
{
	cc.cwnd = 50000;
	cc.ssthresh = 40000;
	tcp_cc_switch(&cc, &tcp_cc_cubic);
	ck_assert_ptr_eq(cc.ops, &tcp_cc_cubic);
	ck_assert_uint_eq(cc.cwnd, 50000);
	ck_assert_uint_eq(cc.ssthresh, 40000);
}
END_TEST

Suite *cc_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("cc", setup, NULL, &s);

	tcase_add_test(t, rfc6928_s2_initial_window);
	tcase_add_test(t, rfc5681_s3_1_slow_start_grows_by_what_is_acknowledged);
	tcase_add_test(t, rfc5681_s3_1_congestion_avoidance_grows_one_segment_a_window);
	tcase_add_test(t, rfc3465_ack_splitting_gains_nothing);
	tcase_add_test(t, rfc5681_s3_1_smaller_segments_are_no_more_of_them);
	tcase_add_test(t, rfc5681_eq4_loss_halves_what_is_outstanding);
	tcase_add_test(t, rfc7661_no_growth_while_the_program_is_the_limit);
	tcase_add_test(t, rfc5681_s4_1_idle_window_shrinks_to_the_restart_window);
	tcase_add_test(t, tcp_window_has_a_ceiling_and_never_falls_under_a_segment);
	tcase_add_test(t, tcp_algorithms_have_numbers);
	tcase_add_test(t, tcp_switch_keeps_window_and_threshold);
	return s;
}
