/* SPDX-License-Identifier: Apache-2.0 */
/* test_isn.c - tcp_isn.c: RFC 6528, RFC 7323 5.4 */
#include "rig.h"
#include "suites.h"

static struct demux_key key(uint32_t remote, uint16_t port)
{
	return (struct demux_key){ .local = { ns_addr_v4(1), 80 },
				   .remote = { ns_addr_v4(remote), port } };
}

START_TEST(rfc6528_s3_clock_ticks_every_4_us)
{
	struct rig *t = rig_new();
	struct demux_key k = key(2, 3);
	struct mono later = mono_add(t->now, 4 * NS_PER_SEC);

	ck_assert_uint_eq(tcp_isn(t->tcp, &k, later).v - tcp_isn(t->tcp, &k, t->now).v, 1000000);
	rig_free(t);
}
END_TEST

/* Neighbouring four-tuples differ in about half of the bits, in no fixed step. */
START_TEST(rfc6528_s3_tuples_are_unrelated)
{
	struct rig *t = rig_new();
	uint32_t bits = 0, same_step = 0, last = 0, step = 0;

	for (uint16_t port = 1; port <= 2000; port++) {
		struct demux_key k = key(2, port);
		uint32_t isn = tcp_isn(t->tcp, &k, t->now).v;

		bits += (uint32_t)__builtin_popcount(isn ^ last);
		same_step += isn - last == step;
		step = isn - last;
		last = isn;
	}
	ck_assert_uint_gt(bits, 2000 * 15);
	ck_assert_uint_lt(bits, 2000 * 17);
	ck_assert_uint_le(same_step, 1);
	rig_free(t);
}
END_TEST

START_TEST(rfc6528_s3_secret_differs_between_stacks_and_from_the_timestamps)
{
	struct rig *a = rig_new(), *b = rig_new();
	struct demux_key k = key(2, 3);

	b->rnd = 99;
	tcp_isn_init(b->tcp);
	ck_assert_uint_ne(tcp_isn(a->tcp, &k, a->now).v, tcp_isn(b->tcp, &k, a->now).v);
	ck_assert_uint_ne(tcp_isn(a->tcp, &k, (struct mono){ 0 }).v, tcp_ts_offset(a->tcp, &k));
	ck_assert_uint_ne(tcp_ts_offset(a->tcp, &k), tcp_ts_offset(b->tcp, &k));
	rig_free(a);
	rig_free(b);
}
END_TEST

START_TEST(rfc7323_s5_4_offset_of_a_four_tuple_stays)
{
	struct rig *t = rig_new();
	struct demux_key k = key(2, 3), l = key(2, 4);

	ck_assert_uint_eq(tcp_ts_offset(t->tcp, &k), tcp_ts_offset(t->tcp, &k));
	ck_assert_uint_ne(tcp_ts_offset(t->tcp, &k), tcp_ts_offset(t->tcp, &l));
	rig_free(t);
}
END_TEST

Suite *isn_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("isn", NULL, NULL, &s);

	tcase_add_test(t, rfc6528_s3_clock_ticks_every_4_us);
	tcase_add_test(t, rfc6528_s3_tuples_are_unrelated);
	tcase_add_test(t, rfc6528_s3_secret_differs_between_stacks_and_from_the_timestamps);
	tcase_add_test(t, rfc7323_s5_4_offset_of_a_four_tuple_stays);
	return s;
}
