/* SPDX-License-Identifier: Apache-2.0 */
/* test_reasm.c - tcp_reasm.c: islands, what is reported of them, what they may cost */
#include "rig.h"
#include "suites.h"

static struct rig *t;

static void setup(void)
{
	t = rig_established(&(struct rig_opts){ .has_sack = true });
}

static void teardown(void)
{
	rig_free(t);
}

static void expect_block(const struct sent *o, uint32_t i, uint32_t start, uint32_t end)
{
	ck_assert_uint_gt(o->opt.sack_cnt, i);
	ck_assert_uint_eq(o->opt.sack[i].start.v - RIG_ISN, start);
	ck_assert_uint_eq(o->opt.sack[i].end.v - RIG_ISN, end);
}

START_TEST(rfc2018_s4_newest_block_first)
{
	struct sent *o;

	seg_in_turn(t, S(.seq = 101, .ack = 1, .len = 100));
	expect_block(expect_out(t, S(.seq = 1, .ack = 1)), 0, 101, 201);
	seg_in_turn(t, S(.seq = 301, .ack = 1, .len = 100));
	o = expect_out(t, S(.seq = 1, .ack = 1));
	expect_block(o, 0, 301, 401);
	expect_block(o, 1, 101, 201);
	seg_in_turn(t, S(.seq = 201, .ack = 1, .len = 50));
	o = expect_out(t, S(.seq = 1, .ack = 1));
	expect_block(o, 0, 101, 251);
	expect_block(o, 1, 301, 401);
	seg_in_turn(t, S(.seq = 251, .ack = 1, .len = 50)); /* the two are one run now */
	o = expect_out(t, S(.seq = 1, .ack = 1));
	ck_assert_uint_eq(o->opt.sack_cnt, 1);
	expect_block(o, 0, 101, 401);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 100));
	ck_assert_uint_eq(expect_out(t, S(.seq = 1, .ack = 401))->opt.sack_cnt, 0);
	ck_assert_uint_eq(rig_read(t, 1000), 400);
}
END_TEST

START_TEST(rfc2883_s4_duplicate_beyond_the_hole_is_reported_first)
{
	struct sent *o;

	seg_in_turn(t, S(.seq = 101, .ack = 1, .len = 100));
	forget_out(t);
	seg_in_turn(t, S(.seq = 151, .ack = 1, .len = 100));
	o = expect_out(t, S(.seq = 1, .ack = 1));
	expect_block(o, 0, 151, 201);
	expect_block(o, 1, 101, 251);
}
END_TEST

/* Three islands; a duplicate inside the oldest of them is reported, and right behind it the island it is of. */
START_TEST(rfc2883_s4_second_block_is_what_holds_the_duplicate)
{
	struct sent *o;

	for (uint32_t at = 101; at <= 501; at += 200)
		seg_in_turn(t, S(.seq = at, .ack = 1, .len = 100));
	forget_out(t);
	seg_in_turn(t, S(.seq = 151, .ack = 1, .len = 25));
	o = expect_out(t, S(.seq = 1, .ack = 1));
	expect_block(o, 0, 151, 176);
	expect_block(o, 1, 101, 201);
	expect_block(o, 2, 501, 601);
	expect_block(o, 3, 301, 401);
}
END_TEST

START_TEST(rfc2883_s4_2_3_first_of_two_duplicates_in_a_segment_is_reported)
{
	struct sent *o;

	seg_in_turn(t, S(.seq = 101, .ack = 1, .len = 100));
	seg_in_turn(t, S(.seq = 301, .ack = 1, .len = 100));
	forget_out(t);
	seg_in_turn(t, S(.seq = 51, .ack = 1, .len = 400));
	o = expect_out(t, S(.seq = 1, .ack = 1));
	ck_assert_uint_eq(o->opt.sack_cnt, 2);
	expect_block(o, 0, 101, 201);
	expect_block(o, 1, 51, 451);
}
END_TEST

/* What fills the hole repeats the beginning of an island: the acknowledgement says so, though it is beyond it. */
START_TEST(rfc2883_s4_duplicate_in_what_fills_the_hole_is_reported)
{
	struct sent *o;

	seg_in_turn(t, S(.seq = 101, .ack = 1, .len = 100));
	seg_in_turn(t, S(.seq = 201, .ack = 1, .len = 100)); /* an island beside it: one run */
	seg_in_turn(t, S(.seq = 401, .ack = 1, .len = 100));
	forget_out(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 250));
	o = expect_out(t, S(.seq = 1, .ack = 301));
	ck_assert_uint_eq(o->opt.sack_cnt, 2);
	expect_block(o, 0, 101, 251);
	expect_block(o, 1, 401, 501);
	ck_assert_uint_eq(rig_read(t, 1000), 300);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_any_order_any_overlap_is_the_stream)
{
	struct prng rnd = { (uint64_t)_i + 1 };
	uint32_t sum = 0;

	for (int i = 0; i < 2000 && sum < 30000; i++) {
		uint32_t nxt = (uint32_t)seq_diff(conn(t)->rcv_nxt, conn(t)->irs);
		uint32_t at = nxt + (uint32_t)prng_below(&rnd, 4000);
		uint32_t len = 1 + (uint32_t)prng_below(&rnd, 1500);

		at = at > 500 ? at - 500 : 1;
		seg_in(t, S(.seq = at, .ack = 1, .len = len));
		if (prng_below(&rnd, 3) == 0) {
			turn(t);
			sum += rig_read(t, (uint32_t)prng_below(&rnd, 3000));
		}
		forget_out(t);
	}
	ck_assert_uint_ge(sum, 30000);
}
END_TEST

START_TEST(tcp_every_island_is_reported_before_the_turn_ends)
{
	uint32_t seen = 0;
	struct sent *o;

	for (uint32_t i = 0; i < 20; i++)
		seg_in(t, S(.seq = 101 + i * 200, .ack = 1, .len = 100));
	turn(t);
	while ((o = take_out(t)) != NULL)
		for (uint32_t i = 0; i < o->opt.sack_cnt; i++)
			seen |= 1u << (o->opt.sack[i].start.v - RIG_ISN - 101) / 200;
	ck_assert_uint_eq(seen, (1u << 20) - 1);
}
END_TEST

START_TEST(rfc5681_s4_2_without_sack_every_segment_is_a_duplicate_ack)
{
	teardown();
	t = rig_established(&(struct rig_opts){ 0 });
	for (uint32_t i = 0; i < 5; i++)
		seg_in(t, S(.seq = 101 + i * 100, .ack = 1, .len = 100));
	turn(t);
	for (int i = 0; i < 5; i++)
		expect_out(t, S(.seq = 1, .ack = 1));
	expect_nothing(t);
}
END_TEST

/* CVE-2018-5390: one-octet islands cost what they weigh, and there is an end to them. */
START_TEST(tcp_islands_are_bounded_in_number_and_memory)
{
	struct tcp_conn *c = conn(t);

	for (uint32_t i = 0; i < 5000; i++) {
		seg_in(t, S(.seq = 3 + i * 2, .ack = 1, .len = 1));
		forget_out(t);
		ck_assert_uint_le(c->island_cnt, TCP_OOO_MAX);
		ck_assert_uint_le(c->island_charge,
				  2 * (uint64_t)c->rcvbuf + TCP_OOO_SLACK + CHUNK_LARGE);
	}
	ck_assert_int_eq(seg_in(t, S(.seq = 60001, .ack = 1, .len = 1)), DROP_TCP_OOO_LIMIT);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 1, .len = 3)),
			 DROP_NONE); /* the flow goes on */
	ck_assert_uint_eq(rig_read(t, 10), 3);
}
END_TEST

START_TEST(tcp_reversed_burst_is_whole)
{
	for (uint32_t i = 60; i-- > 0;)
		seg_in(t, S(.seq = 1 + i * 1000, .ack = 1, .len = 1000));
	turn(t);
	ck_assert_uint_eq(rig_read(t, 100000), 60000);
	ck_assert_uint_eq(conn(t)->island_cnt, 0);
	ck_assert_uint_eq(conn(t)->island_charge, 0);
}
END_TEST

START_TEST(tcp_super_frames_out_of_order_are_taken_by_reference)
{
	uint64_t charge;

	seg_in(t, S(.seq = 1461, .ack = 1, .len = 20 * 1460, .segs = 20));
	charge = conn(t)->island_charge;
	ck_assert_uint_eq(charge, CHUNK_RX);
	seg_in(t, S(.seq = 1, .ack = 1, .len = 1460));
	turn(t);
	ck_assert_uint_eq(rig_read(t, 100000), 21 * 1460);
}
END_TEST

Suite *reasm_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("reasm", setup, teardown, &s);

	tcase_add_test(tc, rfc2018_s4_newest_block_first);
	tcase_add_test(tc, rfc2883_s4_duplicate_beyond_the_hole_is_reported_first);
	tcase_add_test(tc, rfc2883_s4_second_block_is_what_holds_the_duplicate);
	tcase_add_test(tc, rfc2883_s4_2_3_first_of_two_duplicates_in_a_segment_is_reported);
	tcase_add_test(tc, rfc2883_s4_duplicate_in_what_fills_the_hole_is_reported);
	tcase_add_loop_test(tc, rfc9293_s3_10_7_4_any_order_any_overlap_is_the_stream, 0, 10);
	tcase_add_test(tc, tcp_every_island_is_reported_before_the_turn_ends);
	tcase_add_test(tc, rfc5681_s4_2_without_sack_every_segment_is_a_duplicate_ack);
	tcase_add_test(tc, tcp_islands_are_bounded_in_number_and_memory);
	tcase_add_test(tc, tcp_reversed_burst_is_whole);
	tcase_add_test(tc, tcp_super_frames_out_of_order_are_taken_by_reference);
	return s;
}
