/* SPDX-License-Identifier: Apache-2.0 */
/* test_rate.c - tcp_rate.c: draft-cheng-iccrg-delivery-rate-estimation-02 */
#include "rig.h"
#include "suites.h"

enum { MSS = RIG_MSS };

static struct rig *t;

static void teardown(void)
{
	rig_free(t);
}

static void fresh(bool has_sack)
{
	t = rig_established(&(struct rig_opts){ .has_sack = has_sack, .wscale = 8 });
	at_ms(t, 0);
	conn(t)->cc.cwnd = 1 << 20;
	conn(t)->srtt_ns = 100 * NS_PER_MS; /* not the handshake's, which took no time: no probes */
	seg_in(t, S(.seq = 1, .ack = 1));   /* the window opens to its scaled value */
}

static void send_segs(uint32_t n)
{
	rig_write(t, n * MSS, false);
	turn(t);
	forget_out(t);
}

static void ack_segs(uint32_t n)
{
	seg_in(t, S(.seq = 1, .ack = 1 + n * MSS));
}

START_TEST(delivery_rate_s3_1_what_was_delivered_over_the_time_it_took)
{
	fresh(true);
	send_segs(10);
	at_ms(t, 100);
	ack_segs(10);
	ck_assert_uint_eq(conn(t)->rate.delivered, 10 * MSS);
	ck_assert_uint_eq(conn(t)->rate.sample_len, 10 * MSS);
	ck_assert_uint_eq(conn(t)->rate.sample_ns, 100 * NS_PER_MS);
}
END_TEST

START_TEST(delivery_rate_s3_3_sacked_octets_are_delivered)
{
	fresh(true);
	send_segs(10);
	at_ms(t, 100);
	seg_in(t, S(.seq = 1, .ack = 1, .sack_cnt = 1, .sack = { { 1 + 5 * MSS, 1 + 10 * MSS } }));
	ck_assert_uint_eq(conn(t)->rate.delivered, 5 * MSS);
	ck_assert_uint_eq(conn(t)->rate.sample_len, 5 * MSS);
}
END_TEST

START_TEST(delivery_rate_s3_3_without_sack_duplicates_count_a_segment)
{
	fresh(false);
	send_segs(10);
	at_ms(t, 100);
	seg_in(t, S(.seq = 1, .ack = 1));
	ck_assert_uint_eq(conn(t)->rate.delivered, MSS);
}
END_TEST

START_TEST(delivery_rate_s2_2_compressed_acknowledgements_show_the_rate_of_sending)
{
	fresh(true);
	send_segs(1);
	for (uint64_t i = 1; i <= 10; i++) {
		at_ms(t, i * 10);
		send_segs(1);
	}
	at_ms(t, 100);
	ack_segs(1); /* what follows was sent over the 100 ms before, from here on it counts */
	for (uint64_t i = 11; i <= 20; i++) {
		at_ms(t, i * 10);
		send_segs(1);
	}
	at_ms(t, 210);
	ack_segs(11);
	at_ms(t, 211);
	ack_segs(21); /* a millisecond later, but they left over 100 */
	ck_assert_uint_ge(conn(t)->rate.sample_ns, 100 * NS_PER_MS);
}
END_TEST

START_TEST(delivery_rate_s3_3_a_sample_below_the_least_round_trip_is_none)
{
	struct tcp_rate_sample r = { .has_prior = true };

	fresh(true);
	at_ms(t, 100);
	conn(t)->min_rtt_ns = 50 * NS_PER_MS;
	r.prior_at = (struct mono){ t->now.ns - 49 * NS_PER_MS };
	tcp_rate_sample(conn(t), &r, MSS, t->now);
	ck_assert_uint_eq(r.ns, 0);
	r.prior_at = (struct mono){ t->now.ns - 50 * NS_PER_MS };
	tcp_rate_sample(conn(t), &r, MSS, t->now);
	ck_assert_uint_eq(r.ns, 50 * NS_PER_MS);
}
END_TEST

START_TEST(delivery_rate_s3_4_a_program_with_nothing_to_send_is_the_limit)
{
	fresh(true);
	send_segs(4);
	at_ms(t, 50);
	ack_segs(2);
	send_segs(2); /* the queue was empty and the window open */
	ck_assert_uint_ne(conn(t)->rate.app_limited, 0);
	at_ms(t, 100);
	ack_segs(6);
	ck_assert(conn(t)->rate.is_sample_app_limited);
	ck_assert_uint_eq(conn(t)->rate.app_limited, 0); /* the bubble has left the pipe */
}
END_TEST

START_TEST(delivery_rate_s3_4_a_full_window_is_the_limit_of_the_path)
{
	fresh(true);
	send_segs(10);
	at_ms(t, 50);
	ack_segs(10);
	conn(t)->cc.cwnd = 10 * MSS;
	send_segs(30);
	at_ms(t, 100);
	ack_segs(20);
	turn(t);
	forget_out(t);
	at_ms(t, 150);
	ack_segs(30);
	ck_assert(!conn(t)->rate.is_sample_app_limited);
	ck_assert_uint_eq(conn(t)->rate.sample_len, 10 * MSS);
	ck_assert_uint_eq(conn(t)->rate.sample_ns, 50 * NS_PER_MS);
}
END_TEST

START_TEST(delivery_rate_tcp_info_tells_it)
{
	struct ns_tcp_info info;

	fresh(true);
	send_segs(10);
	at_ms(t, 100);
	ack_segs(10);
	ck_assert_int_eq(tcp_info(t->c, t->now, &info), 0);
	ck_assert_uint_eq(info.delivery_rate, 10 * MSS * 10);
	ck_assert(!info.has_bbr);
}
END_TEST

Suite *rate_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("rate", NULL, teardown, &s);

	tcase_add_test(tc, delivery_rate_s3_1_what_was_delivered_over_the_time_it_took);
	tcase_add_test(tc, delivery_rate_s3_3_sacked_octets_are_delivered);
	tcase_add_test(tc, delivery_rate_s3_3_without_sack_duplicates_count_a_segment);
	tcase_add_test(tc, delivery_rate_s2_2_compressed_acknowledgements_show_the_rate_of_sending);
	tcase_add_test(tc, delivery_rate_s3_3_a_sample_below_the_least_round_trip_is_none);
	tcase_add_test(tc, delivery_rate_s3_4_a_program_with_nothing_to_send_is_the_limit);
	tcase_add_test(tc, delivery_rate_s3_4_a_full_window_is_the_limit_of_the_path);
	tcase_add_test(tc, delivery_rate_tcp_info_tells_it);
	return s;
}
