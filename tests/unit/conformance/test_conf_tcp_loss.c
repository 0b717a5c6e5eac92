/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_tcp_loss.c - what a sender does when segments are lost: RFC 6298, RFC 5681, RFC 2018, RFC 6675, RFC 6582, RFC 6928 */
#include "conformance.h"

enum {
	MSS = 1460,
};

static uint8_t data[400000];

/* A connection with @cnt segments in flight, none acknowledged; rcv stays at the first. */
static struct rp_conn in_flight(uint32_t cnt, const struct rp_syn *syn)
{
	struct rp_conn c = accepted_with(syn);
	struct seen s;
	uint32_t start = c.rcv, sum = 0;

	rp_send(&c, data, cnt * MSS);
	while (rp_expect(&c, &s))
		sum += s.data_len;
	expect(sum == cnt * MSS);
	c.rcv = start;
	return c;
}

/* An ACK of @cum octets with SACK blocks given as octets from rcv; cnt 0: none. */
static void ack_sack(struct rp_conn *c, uint32_t cum, const uint32_t (*blocks)[2], uint32_t cnt)
{
	struct opts o = { 0 };
	uint32_t abs[4][2];

	for (uint32_t i = 0; i < cnt; i++) {
		abs[i][0] = c->rcv + blocks[i][0];
		abs[i][1] = c->rcv + blocks[i][1];
	}
	if (cnt)
		opts_sack(&o, (const uint32_t(*)[2])abs, cnt);
	rp_seg(c, &(struct tcp_in){ .flags = FL_ACK, .ack = cum, .opts = cnt ? &o : NULL });
}

START_TEST(rfc6928_s2_initial_window_is_ten_segments)
{
	struct rp_conn c = accepted();
	struct seen s;
	uint32_t sum = 0;

	rp_send(&c, data, 100 * MSS);
	while (rp_take(&rp, &s))
		sum += s.data_len;
	expect(sum == 10 * MSS);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5681_s3_1_slow_start_doubles_at_most)
{
	struct rp_conn c = accepted();
	struct seen s;
	uint32_t window = 10 * MSS;

	rp_send(&c, data, 200 * MSS);
	for (int round = 0; round < 3; round++) {
		uint32_t sum = 0;

		while (rp_expect(&c, &s))
			sum += s.data_len;
		expect(sum <= 2 * window);
		expect(round == 0 || sum > 0);
		window = sum ? sum : window;
		rp_wait(&rp, 10 * NS_PER_MS);
		rp_ack(&c);
	}
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc6298_s2_first_rto_is_one_second)
{
	struct rp_conn c;
	struct seen s;

	expect(rp_connect_begin(&rp, 2000, &c));
	rp_wait(&rp, 900 * NS_PER_MS);
	expect_silence();
	rp_wait(&rp, 200 * NS_PER_MS);
	expect(rp_take(&rp, &s) && (s.flags & FL_SYN));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc6298_s5_5_backoff_doubles)
{
	struct rp_conn c = in_flight(1, &(struct rp_syn){ 0 });
	struct mono at[9];
	uint32_t cnt = 0;
	struct seen s;

	at[cnt++] = rp.now;
	for (int i = 0; i < 4000 && cnt < 9; i++) {
		rp_wait(&rp, 20 * NS_PER_MS);
		while (cnt < 9 && rp_take(&rp, &s)) {
			expect(s.seq == c.rcv);
			expect(cnt < 3 ? s.data_len == MSS : s.data_len < MSS); /* RFC 4821 7.7 */
			at[cnt++] = rp.now;
		}
	}
	expect(cnt == 9);
	expect(mono_since(at[1], at[0]) >= 180 * NS_PER_MS);
	for (uint32_t i = 3; i < 9; i++) {
		uint64_t was = mono_since(at[i - 1], at[i - 2]), is = mono_since(at[i], at[i - 1]);

		expect(is + 100 * NS_PER_MS >= 2 * was && is <= 2 * was + 100 * NS_PER_MS);
	}
	expect(moved("TCP_RTOS") >= 8 && moved("TCP_RETRANS_SEGS") >= 8);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc6298_s3_karn_a_retransmitted_segment_gives_no_sample)
{
	struct rp_conn c = in_flight(1, &(struct rp_syn){ 0 });
	struct ns_tcp_info before, after;

	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &before) == 0);
	rp_wait(&rp, 5 * NS_PER_SEC);
	rp_drop_out(&rp);
	c.rcv += MSS;
	rp_ack(&c);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &after) == 0);
	expect(after.rtt_us <= before.rtt_us + 1000); /* not 5 s */
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc6298_s2_4_rto_is_at_least_200_ms)
{
	struct rp_conn c = accepted();
	struct ns_tcp_info info;
	struct seen s;

	for (int i = 0; i < 20; i++) {
		rp_send(&c, "x", 1);
		expect(rp_expect(&c, &s));
		rp_wait(&rp, NS_PER_MS);
		rp_ack(&c);
	}
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.rto_us >= 200000 && info.rto_us <= 250000);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5681_s3_1_timeout_leaves_one_segment_of_window)
{
	struct rp_conn c = in_flight(10, &(struct rp_syn){ 0 });
	struct ns_tcp_info info;
	struct seen s;
	uint32_t sum = 0;

	rp_wait(&rp, 1100 * NS_PER_MS);
	while (rp_take(&rp, &s)) {
		expect(s.seq == c.rcv); /* the first, no burst */
		sum++;
	}
	expect(sum >= 1 && sum <= 3);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.snd_cwnd == 1);
	expect(info.snd_ssthresh == 7); /* CUBIC: seven tenths */
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5681_s3_2_three_duplicate_acks_retransmit)
{
	struct rp_conn c = in_flight(10, &(struct rp_syn){ 0 });
	struct ns_tcp_info info;
	struct seen s;

	ack_sack(&c, 0, NULL, 0);
	ack_sack(&c, 0, NULL, 0);
	while (rp_take(&rp, &s))
		expect(s.seq != c.rcv); /* limited transmit at most */
	ack_sack(&c, 0, NULL, 0);
	expect(rp_take(&rp, &s) && s.seq == c.rcv && s.data_len == MSS);
	expect(moved("TCP_FAST_RECOVERIES") == 1 && moved("TCP_RTOS") == 0);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.snd_ssthresh >= 4 && info.snd_ssthresh <= 7);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc6582_s3_2_partial_ack_retransmits_the_next_hole)
{
	struct rp_conn c = in_flight(10, &(struct rp_syn){ 0 });
	struct seen s;
	bool seen = false;

	for (int i = 0; i < 3; i++)
		ack_sack(&c, 0, NULL, 0);
	rp_drop_out(&rp);
	/* at once by RFC 6582; PRR (RFC 9937), as Linux, may hold it for the next acknowledgement */
	for (int i = 0; i < 3; i++)
		ack_sack(&c, 3 * MSS, NULL, 0);
	while (rp_take(&rp, &s))
		seen |= s.seq == c.rcv + 3 * MSS;
	expect(seen);
	expect(moved("TCP_FAST_RECOVERIES") == 1 && moved("TCP_RTOS") == 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc6675_s5_sacked_octets_are_not_sent_again)
{
	static const uint32_t b1[][2] = { { 1 * MSS, 2 * MSS } };
	static const uint32_t b2[][2] = { { 3 * MSS, 4 * MSS }, { 1 * MSS, 2 * MSS } };
	static const uint32_t b3[][2] = { { 5 * MSS, 10 * MSS },
					  { 3 * MSS, 4 * MSS },
					  { 1 * MSS, 2 * MSS } };
	struct rp_conn c = in_flight(10, &(struct rp_syn){ .has_sack = true });
	uint32_t again[10] = { 0 };
	struct seen s;

	rp_wait(&rp, NS_PER_MS); /* a retransmission is never as old as the original */
	ack_sack(&c, 0, b1, 1);
	ack_sack(&c, 0, b2, 2);
	ack_sack(&c, 0, b3, 3);
	rp_wait(&rp, 10 * NS_PER_MS);
	ack_sack(&c, MSS * 2, b3, 2);
	rp_wait(&rp, 10 * NS_PER_MS);
	while (rp_take(&rp, &s)) {
		uint32_t from = (s.seq - c.rcv) / MSS, to = from + s.data_len / MSS;

		for (uint32_t i = from; i < to && i < 10; i++)
			again[i]++;
	}
	/* holes are 0, 2 and 4 */
	expect(again[0] == 1 && again[2] == 1 && again[4] == 1);
	expect(!again[1] && !again[3]);
	for (uint32_t i = 5; i < 10; i++)
		expect(!again[i]);
	expect(moved("TCP_RTOS") == 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc2018_s8_reneging_is_survived)
{
	static const uint32_t all[][2] = { { 1 * MSS, 10 * MSS } };
	struct rp_conn c = in_flight(10, &(struct rp_syn){ .has_sack = true });
	uint32_t sum = 0;
	struct seen s;

	for (int i = 0; i < 4; i++)
		ack_sack(&c, 0, all, 1);
	rp_drop_out(&rp);
	/* the first is in now, and the receiver has thrown away the rest */
	for (int i = 0; i < 300 && sum < 10; i++) {
		rp_wait(&rp, 100 * NS_PER_MS);
		while (rp_take(&rp, &s))
			if (s.seq == c.rcv && s.data_len)
				c.rcv += s.data_len;
		ack_sack(&c, 0, NULL, 0);
		sum = (c.rcv - (c.irs + 1)) / MSS;
	}
	expect(sum == 10);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_sack_blocks_that_lie_are_ignored)
{
	/* beyond what was sent, before what is acknowledged, empty, backwards, half right */
	static const uint32_t rows[][1][2] = {
		{ { 20 * MSS, 30 * MSS } },
		{ { (uint32_t)-5000, (uint32_t)-100 } },
		{ { MSS, MSS } },
		{ { 3 * MSS, 2 * MSS } },
		{ { 5 * MSS, 50 * MSS } },
		{ { 0x80000000, 0x90000000 } },
		{ { (uint32_t)-5000, 5 * MSS } },
	};
	struct rp_conn c = in_flight(10, &(struct rp_syn){ .has_sack = true });
	struct seen s;

	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			ack_sack(&c, 0, rows[i], 1);
	rp_drop_out(&rp);
	c.rcv += 10 * MSS;
	rp_ack(&c);
	rp_drop_out(&rp);
	rp_send(&c, data, 100);
	expect(rp_expect(&c, &s) && s.data_len == 100);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_sack_flood_with_tiny_holes_is_bounded)
{
	struct rp_conn c = in_flight(10, &(struct rp_syn){ .has_sack = true });

	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t at = (i * 7) % (10 * MSS - 8);
		uint32_t blocks[4][2];

		for (uint32_t k = 0; k < 4; k++) {
			blocks[k][0] = 1 + (at + k * 3001) % (10 * MSS - 8);
			blocks[k][1] = blocks[k][0] + 1;
		}
		ack_sack(&c, 0, (const uint32_t(*)[2])blocks, 4);
		if (i % 100 == 0)
			rp_drop_out(&rp);
	}
	rp_drop_out(&rp);
	c.rcv += 10 * MSS;
	rp_ack(&c);
	expect(!strcmp(state_of(&c), "ESTABLISHED"));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc3465_ack_splitting_does_not_inflate_the_window)
{
	struct rp_conn c = in_flight(10, &(struct rp_syn){ 0 });
	struct ns_tcp_info info;

	/* one segment acknowledged octet by octet: counts as one */
	for (uint32_t i = 1; i <= MSS; i++)
		ack_sack(&c, i, NULL, 0);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.snd_cwnd <= 12);
	/* optimistic: acknowledging what was never sent changes nothing */
	uint32_t cwnd = info.snd_cwnd;

	ack_sack(&c, 1000 * MSS, NULL, 0);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.snd_cwnd == cwnd);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_duplicate_ack_flood_does_not_inflate_the_window)
{
	struct rp_conn c = in_flight(10, &(struct rp_syn){ 0 });
	struct ns_tcp_info info;
	struct seen s;
	uint32_t sum = 0;

	rp_send(&c, data, 200000);
	rp_drop_out(&rp);
	for (uint32_t i = 0; i < 1000; i++)
		ack_sack(&c, 0, NULL, 0);
	while (rp_take(&rp, &s))
		sum += s.data_len;
	/* inflation ends at what the peer's window (65535) allows: never a burst beyond it */
	expect(sum <= 65535 + 2 * MSS);
	c.rcv += 10 * MSS;
	rp_ack(&c);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.snd_cwnd <= 50);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_must_20_retransmission_gives_up)
{
	struct rp_conn c = in_flight(1, &(struct rp_syn){ 0 });
	int err = 0, minutes = 0;

	for (; minutes < 60 && !rp_event(&rp, c.sock, NS_EV_ERR, NULL); minutes++)
		rp_wait(&rp, 60 * NS_PER_SEC);
	expect(rp_event(&rp, c.sock, NS_EV_ERR, &err) && err == -ETIMEDOUT);
	expect(minutes >= 2); /* RFC 1122 4.2.3.5: R2 at least 100 s; Linux 13 to 30 minutes */
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_must_21_user_timeout_is_settable)
{
	struct rp_conn c = accepted();
	struct seen s;
	int err = 0;

	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_USER_TIMEOUT, 5000) == 0);
	rp_send(&c, "x", 1);
	expect(rp_expect(&c, &s));
	rp_wait(&rp, 4 * NS_PER_SEC);
	expect(!rp_event(&rp, c.sock, NS_EV_ERR, NULL));
	rp_wait(&rp, 4 * NS_PER_SEC);
	expect(rp_event(&rp, c.sock, NS_EV_ERR, &err) && err == -ETIMEDOUT);
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_user_timeout_ends_a_window_shut_for_ever)
{
	struct rp_conn c = accepted();
	struct seen s;
	int err = 0;

	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_USER_TIMEOUT, 20000) == 0);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .is_wnd_zero = true });
	rp_send(&c, data, 5000);
	/* the peer answers no probe */
	for (int i = 0; i < 600 && !rp_event(&rp, c.sock, NS_EV_ERR, NULL); i++) {
		rp_wait(&rp, 100 * NS_PER_MS);
		while (rp_take(&rp, &s))
			;
	}
	expect(rp_event(&rp, c.sock, NS_EV_ERR, &err) && err == -ETIMEDOUT);
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_8_1_retransmission_acknowledges_what_has_come)
{
	struct rp_conn c = in_flight(1, &(struct rp_syn){ 0 });
	uint8_t got[4];
	struct seen s;

	rp_data(&c, "abc", 3);
	expect(rp_recv(&c, got, 4) == 3);
	rp_drop_out(&rp);
	rp_wait(&rp, 1200 * NS_PER_MS);
	bool found = false;

	while (rp_take(&rp, &s))
		found |= s.data_len == MSS && s.ack == c.snd;
	expect(found);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc3042_s2_first_two_duplicates_release_new_segments)
{
	struct rp_conn c = in_flight(10, &(struct rp_syn){ 0 });
	struct seen s;

	rp_send(&c, data, 20 * MSS);
	expect_silence(); /* the window is full */
	for (uint32_t i = 0; i < 2; i++) {
		ack_sack(&c, 0, NULL, 0);
		expect(rp_take(&rp, &s) && s.seq == c.rcv + (10 + i) * MSS && s.data_len == MSS);
		expect_silence();
	}
	expect(moved("TCP_FAST_RECOVERIES") == 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc2883_s4_duplicate_is_reported_in_the_first_block)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_sack = true });
	uint8_t got[64];
	struct seen s;

	rp_data(&c, data, 50);
	expect(rp_recv(&c, got, sizeof(got)) == 50);
	rp_wait(&rp, NS_PER_SEC);
	rp_drop_out(&rp);
	rp_seg(&c, &(struct tcp_in){
			   .flags = FL_ACK, .seq = (uint32_t)-50, .data = data, .data_len = 50 });
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd);
	expect(s.sack_cnt == 1 && s.sack[0][0] == c.snd - 50 && s.sack[0][1] == c.snd);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5681_s4_1_idle_connection_starts_slowly)
{
	struct rp_conn c = accepted();
	struct seen s;
	uint32_t sum = 0;

	for (int round = 0; round < 3; round++) { /* 10, 20, 40 segments */
		rp_send(&c, data, 44 * MSS);
		for (int i = 0; i < 6; i++) {
			while (rp_expect(&c, &s))
				;
			rp_wait(&rp, 10 * NS_PER_MS);
			rp_ack(&c);
		}
	}
	rp_wait(&rp, 30 * NS_PER_SEC);
	rp_drop_out(&rp);
	rp_send(&c, data, 44 * MSS);
	while (rp_take(&rp, &s))
		sum += s.data_len;
	expect(sum > 0 && sum <= 10 * MSS);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc6298_s5_7_lost_syn_means_three_seconds)
{
	struct rp_conn c;
	struct frame f;
	struct opts o = { 0 };
	struct seen s;

	expect(rp_connect_begin(&rp, 2000, &c));
	rp_wait(&rp, 1100 * NS_PER_MS);
	expect(rp_take(&rp, &s) && (s.flags & FL_SYN)); /* the second SYN */
	opts_mss(&o, 1460);
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_SYN | FL_ACK,
				    .seq = 1000,
				    .ack = c.irs + 1,
				    .wnd = 65535,
				    .opts = &o });
	rp_inject(&rp, &f);
	c.snd = 1001;
	rp_drop_out(&rp);
	rp_send(&c, data, MSS);
	expect(rp_take(&rp, &s) && s.data_len == MSS);
	rp_wait(&rp, 2900 * NS_PER_MS);
	expect_silence();
	rp_wait(&rp, 200 * NS_PER_MS);
	expect(rp_take(&rp, &s) && s.data_len == MSS);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9937_s6_recovery_ends_at_ssthresh)
{
	static const uint32_t rest[][2] = { { 1 * MSS, 10 * MSS } };
	struct rp_conn c = in_flight(10, &(struct rp_syn){ .has_sack = true });
	struct ns_tcp_info info;
	struct seen s;

	ack_sack(&c, 0, rest, 1);
	expect(rp_take(&rp, &s) && s.seq == c.rcv);
	c.rcv += 10 * MSS;
	rp_ack(&c);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.snd_ssthresh == 7 && info.snd_cwnd >= 7 && info.snd_cwnd <= 8);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_loss");
	TCase *tc = conf_case(s, "loss");

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 13 + (i >> 10));
	tcase_add_test(tc, rfc6928_s2_initial_window_is_ten_segments);
	tcase_add_test(tc, rfc5681_s3_1_slow_start_doubles_at_most);
	tcase_add_test(tc, rfc6298_s2_first_rto_is_one_second);
	tcase_add_test(tc, rfc6298_s5_5_backoff_doubles);
	tcase_add_test(tc, rfc6298_s3_karn_a_retransmitted_segment_gives_no_sample);
	tcase_add_test(tc, rfc6298_s2_4_rto_is_at_least_200_ms);
	tcase_add_test(tc, rfc5681_s3_1_timeout_leaves_one_segment_of_window);
	tcase_add_test(tc, rfc5681_s3_2_three_duplicate_acks_retransmit);
	tcase_add_test(tc, rfc6582_s3_2_partial_ack_retransmits_the_next_hole);
	tcase_add_test(tc, rfc6675_s5_sacked_octets_are_not_sent_again);
	tcase_add_test(tc, rfc2018_s8_reneging_is_survived);
	tcase_add_test(tc, tcp_sack_blocks_that_lie_are_ignored);
	tcase_add_test(tc, tcp_sack_flood_with_tiny_holes_is_bounded);
	tcase_add_test(tc, rfc3465_ack_splitting_does_not_inflate_the_window);
	tcase_add_test(tc, tcp_duplicate_ack_flood_does_not_inflate_the_window);
	tcase_add_test(tc, rfc9293_must_20_retransmission_gives_up);
	tcase_add_test(tc, rfc9293_must_21_user_timeout_is_settable);
	tcase_add_test(tc, tcp_user_timeout_ends_a_window_shut_for_ever);
	tcase_add_test(tc, rfc9293_s3_8_1_retransmission_acknowledges_what_has_come);
	tcase_add_test(tc, rfc3042_s2_first_two_duplicates_release_new_segments);
	tcase_add_test(tc, rfc2883_s4_duplicate_is_reported_in_the_first_block);
	tcase_add_test(tc, rfc5681_s4_1_idle_connection_starts_slowly);
	tcase_add_test(tc, rfc6298_s5_7_lost_syn_means_three_seconds);
	tcase_add_test(tc, rfc9937_s6_recovery_ends_at_ssthresh);
	return conf_run(s);
}
