/* SPDX-License-Identifier: Apache-2.0 */
/* test_rtx.c - tcp_rtx.c, tcp_sack.c: the scoreboard against a model that knows every octet */
#include "rig.h"
#include "suites.h"

enum {
	LEN = 20000, /* octets outstanding */
	MSS = 100,
};

static struct rig *t;
static struct tcp_conn *c;

static void setup(void)
{
	t = rig_established(&(struct rig_opts){ .has_sack = true });
	c = conn(t);
	c->mss = MSS;
	c->snd_wnd = c->snd_wnd_max = 1 << 20;
	c->srtt_ns = c->min_rtt_ns = 40 * NS_PER_MS;
}

static void teardown(void)
{
	tcp_rtx_clear(c);
	c->snd_nxt = c->snd_una;
	rig_free(t);
}

static void sent(uint32_t len, uint64_t at)
{
	tcp_rtx_add(c, c->snd_nxt, len, (struct mono){ at });
	c->snd_nxt = seq_add(c->snd_nxt, len);
}

static uint32_t rel(struct seq s)
{
	return (uint32_t)seq_diff(s, c->iss) - 1;
}

/* The records cover everything outstanding without a gap, and the sums are theirs. */
static void check_whole(void)
{
	struct seq at = c->snd_una;
	uint32_t sacked = 0, lost = 0, retrans = 0, cnt = 0;

	for (struct tcp_rec *r = tcp_rec_first(c); r; r = tcp_rec_next(c, r)) {
		ck_assert_uint_eq(r->seq.v, at.v);
		ck_assert_uint_gt(r->len, 0);
		at = seq_add(at, r->len);
		sacked += r->flags & TCP_REC_SACKED ? r->len : 0;
		lost += r->flags & TCP_REC_LOST ? r->len : 0;
		retrans += r->flags & TCP_REC_RETRANS ? r->len : 0;
		ck_assert(!(r->flags & TCP_REC_SACKED) ||
			  !(r->flags & (TCP_REC_LOST | TCP_REC_RETRANS)));
		cnt++;
	}
	ck_assert_uint_eq(at.v, c->snd_nxt.v);
	ck_assert_uint_eq(sacked, c->sacked_len);
	ck_assert_uint_eq(lost, c->lost_len);
	ck_assert_uint_eq(retrans, c->retrans_len);
	ck_assert_uint_eq(cnt, c->rec_cnt);
	ck_assert_uint_le(tcp_pipe(c), tcp_flight(c));
}

static void sack(uint32_t start, uint32_t end, struct tcp_delivered *d)
{
	struct tcp_seg s = { .ack = c->snd_una };

	s.opt.sack_cnt = 1;
	s.opt.sack[0] =
		(struct tcp_sack_block){ seq_add(c->iss, 1 + start), seq_add(c->iss, 1 + end) };
	tcp_sack_in(c, &s, d, t->now);
}

static void detect(void)
{
	bool is_found = tcp_rack_detect(c, t->now);

	ck_assert(!is_found || c->lost_len > 0);
}

START_TEST(tcp_one_turn_is_one_record)
{
	sent(1000, 5);
	sent(500, 5);
	ck_assert_uint_eq(c->rec_cnt, 1);
	sent(500, 6);
	ck_assert_uint_eq(c->rec_cnt, 2);
	check_whole();
}
END_TEST

START_TEST(rfc6675_s4_lost_is_what_has_three_segments_sacked_above)
{
	struct tcp_delivered d = { 0 };

	sent(1000, 5);
	sack(100, 300, &d);
	detect();
	ck_assert_uint_eq(c->lost_len, 0); /* two: perhaps they overtook it */
	sack(100, 400, &d);
	detect();
	ck_assert_uint_eq(c->lost_len, 100);
	ck_assert_uint_eq(d.sacked, 300);
	ck_assert_uint_eq(tcp_pipe(c), 600);
	check_whole();
}
END_TEST

START_TEST(rfc8985_s6_2_three_small_segments_are_enough)
{
	struct tcp_delivered d = { 0 };

	sent(5000, 5);
	c->mss = 1000; /* three runs of 100 octets are far below two segments */
	sack(100, 200, &d);
	sack(300, 400, &d);
	sack(500, 600, &d);
	detect();
	ck_assert_uint_eq(c->lost_len, 300); /* all that was sent before the last that arrived */
	check_whole();
}
END_TEST

START_TEST(rfc6675_s5_next_segment_is_the_first_lost_once)
{
	struct tcp_delivered d = { 0 };
	struct tcp_rec *r;

	sent(2000, 5);
	sack(100, 200, &d);
	sack(300, 2000, &d);
	detect();
	r = tcp_rtx_next(c);
	ck_assert_uint_eq(rel(r->seq), 0);
	tcp_rtx_sent(c, r, t->now);
	r = tcp_rtx_next(c);
	ck_assert_uint_eq(rel(r->seq), 200);
	tcp_rtx_sent(c, r, t->now);
	ck_assert_ptr_null(tcp_rtx_next(c));
	check_whole();
	tcp_rtx_lose_all(c, true, MONO_NEVER);
	ck_assert_uint_eq(c->sacked_len, 1800);
	ck_assert_uint_eq(rel(tcp_rtx_next(c)->seq), 0);
	check_whole();
}
END_TEST

START_TEST(tcp_sack_inside_a_segment_splits_nothing)
{
	struct tcp_delivered d = { 0 };

	sent(1000, 5);
	sack(110, 190, &d);
	ck_assert_uint_eq(c->rec_cnt, 1);
	ck_assert_uint_eq(d.sacked, 0);
	sack(110, 350, &d); /* only the segment that is in it whole */
	ck_assert_uint_eq(d.sacked, 100);
	check_whole();
}
END_TEST

START_TEST(tcp_sack_runs_merge)
{
	struct tcp_delivered d = { 0 };

	sent(1000, 5);
	sack(100, 200, &d);
	sack(300, 400, &d);
	sack(200, 300, &d);
	ck_assert_uint_eq(c->rec_cnt, 3);
	ck_assert_uint_eq(c->sacked_len, 300);
	check_whole();
}
END_TEST

START_TEST(tcp_sack_of_nonsense_is_ignored)
{
	struct tcp_delivered d = { 0 };

	sent(1000, 5);
	sack(500, 500, &d);
	sack(600, 500, &d);
	sack(900, 1100, &d);
	sack(2000, 3000, &d);
	sack(0x7fffffff, 0x80000005, &d);
	ck_assert_uint_eq(d.sacked, 0);
	ck_assert_uint_eq(c->sacked_len, 0);
	check_whole();
}
END_TEST

START_TEST(rfc2018_s8_reneging_forgets_all_sacks)
{
	struct tcp_delivered d = { 0 };

	sent(1000, 5);
	sack(0, 300, &d);
	tcp_rtx_lose_all(c, true, MONO_NEVER);
	ck_assert_uint_eq(c->sacked_len, 0);
	ck_assert_uint_eq(c->lost_len, 1000);
	check_whole();
}
END_TEST

START_TEST(rfc6298_s3_karn_no_sample_from_what_was_sent_twice)
{
	struct tcp_delivered d = { 0 };

	sent(1000, 5);
	tcp_rtx_lose_all(c, true, MONO_NEVER);
	tcp_rtx_sent(c, tcp_rtx_next(c), t->now);
	tcp_rtx_ack(c, seq_add(c->snd_una, 1000), &d, t->now);
	c->snd_una = seq_add(c->snd_una, 1000);
	ck_assert_uint_eq(d.rtt_ns, 0);
	ck_assert(d.has_retrans);
	sent(1000, t->now.ns - 1000);
	d = (struct tcp_delivered){ 0 };
	tcp_rtx_ack(c, seq_add(c->snd_una, 100), &d, t->now);
	c->snd_una = seq_add(c->snd_una, 100);
	ck_assert_uint_eq(d.rtt_ns, 1001);
	check_whole();
}
END_TEST

/* CVE-2019-11478: a record for each octet is never made, whatever is SACKed. */
START_TEST(tcp_records_are_bounded)
{
	struct tcp_delivered d = { 0 };

	c->mss = 1;
	sent(20000, 5);
	for (uint32_t i = 0; i < 20000; i += 2)
		sack(i, i + 1, &d);
	ck_assert_uint_le(c->rec_cnt, TCP_REC_MAX);
	check_whole();
	for (uint64_t at = 6; at < 6000; at++)
		if (tcp_rtx_can_add(c, (struct mono){ at }))
			sent(1, at);
	ck_assert_uint_le(c->rec_cnt, TCP_REC_MAX);
	check_whole();
}
END_TEST

/* Random sends, SACKs, losses, retransmissions and ACKs: an octet is SACKed in the records only if the model says so. */
START_TEST(tcp_scoreboard_agrees_with_a_model)
{
	static bool model[LEN];
	struct prng rnd = { (uint64_t)_i + 1 };
	uint32_t una = 0;

	for (uint32_t i = 0; i < LEN; i += 500)
		sent(500, 5 + i / 2000);
	for (int step = 0; step < 400 && una < LEN; step++) {
		uint32_t a = una / MSS + (uint32_t)prng_below(&rnd, (LEN - una) / MSS);
		uint32_t b = a + 1 + (uint32_t)prng_below(&rnd, 6);
		struct tcp_delivered d = { 0 };
		struct tcp_rec *r;

		b = b > LEN / MSS ? LEN / MSS : b;
		switch (prng_below(&rnd, 6)) {
		case 0:
		case 1:
		case 2:
			sack(a * MSS, b * MSS, &d);
			for (uint32_t o = a * MSS; a * MSS >= una && o < b * MSS; o++)
				model[o] = true;
			break;
		case 3:
			detect();
			break;
		case 4:
			r = tcp_rtx_next(c);
			if (r)
				tcp_rtx_sent(c, r, t->now);
			break;
		case 5:
			if (prng_below(&rnd, 8))
				break;
			una = a * MSS;
			tcp_rtx_ack(c, seq_add(c->iss, 1 + una), &d, t->now);
			c->snd_una = seq_add(c->iss, 1 + una);
			break;
		}
		check_whole();
		for (r = tcp_rec_first(c); r; r = tcp_rec_next(c, r))
			for (uint32_t o = rel(r->seq); o < rel(r->seq) + r->len; o += MSS)
				ck_assert_int_eq(model[o], (r->flags & TCP_REC_SACKED) != 0);
	}
}
END_TEST

Suite *rtx_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("rtx", setup, teardown, &s);

	tcase_add_test(tc, tcp_one_turn_is_one_record);
	tcase_add_test(tc, rfc6675_s4_lost_is_what_has_three_segments_sacked_above);
	tcase_add_test(tc, rfc8985_s6_2_three_small_segments_are_enough);
	tcase_add_test(tc, rfc6675_s5_next_segment_is_the_first_lost_once);
	tcase_add_test(tc, tcp_sack_inside_a_segment_splits_nothing);
	tcase_add_test(tc, tcp_sack_runs_merge);
	tcase_add_test(tc, tcp_sack_of_nonsense_is_ignored);
	tcase_add_test(tc, rfc2018_s8_reneging_forgets_all_sacks);
	tcase_add_test(tc, rfc6298_s3_karn_no_sample_from_what_was_sent_twice);
	tcase_add_test(tc, tcp_records_are_bounded);
	tcase_add_loop_test(tc, tcp_scoreboard_agrees_with_a_model, 0, 20);
	return s;
}
