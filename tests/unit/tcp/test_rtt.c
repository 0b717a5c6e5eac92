/* SPDX-License-Identifier: Apache-2.0 */
/* test_rtt.c - tcp_rtt.c: RFC 6298's arithmetic, to the nanosecond */
#include "rig.h"
#include "suites.h"

static struct ns_core core;
static struct tcp tcp = { .core = &core };
static struct tcp_conn c;

static void setup(void)
{
	core_knobs_init(&core);
	c = (struct tcp_conn){ .t = &tcp };
	tcp_rtt_init(&c);
}

START_TEST(rfc6298_s2_1_initial_rto_is_one_second)
{
	ck_assert_uint_eq(tcp_rto_ns(&c), NS_PER_SEC);
}
END_TEST

START_TEST(rfc6298_s2_2_first_sample)
{
	tcp_rtt_sample(&c, 100 * NS_PER_MS);
	ck_assert_uint_eq(c.srtt_ns, 100 * NS_PER_MS);
	ck_assert_uint_eq(c.rttvar_ns, 50 * NS_PER_MS);
	ck_assert_uint_eq(tcp_rto_ns(&c), 300 * NS_PER_MS); /* 100 + max(200, 4 * 50) */
}
END_TEST

START_TEST(rfc6298_s2_3_further_samples)
{
	tcp_rtt_sample(&c, 800 * NS_PER_MS);
	tcp_rtt_sample(&c, 1600 * NS_PER_MS);
	ck_assert_uint_eq(c.rttvar_ns,
			  300 * NS_PER_MS + 200 * NS_PER_MS); /* 3/4 * 400 + 1/4 * 800 */
	ck_assert_uint_eq(c.srtt_ns, 900 * NS_PER_MS);        /* 7/8 * 800 + 1/8 * 1600 */
	ck_assert_uint_eq(tcp_rto_ns(&c), 2900 * NS_PER_MS);
}
END_TEST

START_TEST(rfc6298_s2_4_floor_is_200_ms_above_srtt)
{
	for (int i = 0; i < 100; i++)
		tcp_rtt_sample(&c, 50 * NS_PER_US);
	ck_assert_uint_ge(tcp_rto_ns(&c), 200 * NS_PER_MS);
	ck_assert_uint_le(tcp_rto_ns(&c), 201 * NS_PER_MS);
	ck_assert_uint_eq(c.min_rtt_ns, 50 * NS_PER_US);
	core.knobs[NS_KNOB_tcp_rto_min_us] = 1000000; /* as the RFC has it */
	tcp_rtt_sample(&c, 50 * NS_PER_US);
	ck_assert_uint_ge(tcp_rto_ns(&c), NS_PER_SEC);
	ck_assert_uint_le(tcp_rto_ns(&c), NS_PER_SEC + NS_PER_MS);
}
END_TEST

START_TEST(rfc6298_s2_5_ceiling_is_120_s)
{
	tcp_rtt_sample(&c, 100 * NS_PER_SEC);
	ck_assert_uint_eq(tcp_rto_ns(&c), 120 * NS_PER_SEC);
	c.rto_ns = NS_PER_SEC;
	for (c.backoff = 0; c.backoff < 200; c.backoff++)
		ck_assert_uint_le(tcp_rto_ns(&c), 120 * NS_PER_SEC);
}
END_TEST

START_TEST(rfc6298_s5_5_backoff_doubles)
{
	for (c.backoff = 0; c.backoff < 6; c.backoff++)
		ck_assert_uint_eq(tcp_rto_ns(&c), NS_PER_SEC << c.backoff);
}
END_TEST

Suite *rtt_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("rtt", setup, NULL, &s);

	tcase_add_test(t, rfc6298_s2_1_initial_rto_is_one_second);
	tcase_add_test(t, rfc6298_s2_2_first_sample);
	tcase_add_test(t, rfc6298_s2_3_further_samples);
	tcase_add_test(t, rfc6298_s2_4_floor_is_200_ms_above_srtt);
	tcase_add_test(t, rfc6298_s2_5_ceiling_is_120_s);
	tcase_add_test(t, rfc6298_s5_5_backoff_doubles);
	return s;
}
