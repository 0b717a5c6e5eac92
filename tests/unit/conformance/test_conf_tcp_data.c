/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_tcp_data.c - octets in order, windows, acknowledgements: RFC 9293 3.8, RFC 1122 4.2.3, RFC 2018 */
#include "conformance.h"

static uint8_t data[65536], got[65536];

static void fill(void)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 31 + (i >> 8));
}

/* One piece of a stream that starts at the peer's next octet. */
static void piece(struct rp_conn *c, uint32_t off, uint32_t len)
{
	rp_seg(c, &(struct tcp_in){
			  .flags = FL_ACK, .seq = off, .data = data + off, .data_len = len });
}

START_TEST(rfc9293_s3_10_7_4_all_orders_of_five_segments)
{
	struct rp_conn c = accepted();

	fill();
	for (uint32_t n = 0; n < 120; n++) {
		uint32_t left[5] = { 0, 1, 2, 3, 4 }, cnt = 5, code = n;

		for (; cnt; cnt--) {
			uint32_t i = code % cnt;

			code /= cnt;
			piece(&c, left[i] * 100, 100);
			memmove(left + i, left + i + 1, (cnt - i - 1) * sizeof(left[0]));
		}
		c.snd += 500;
		expect(rp_recv(&c, got, sizeof(got)) == 500 && !memcmp(got, data, 500));
		rp_drop_out(&rp);
	}
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_overlaps_deliver_each_octet_once)
{
	/* off and length of pieces; the stream is complete after the last row */
	static const uint16_t rows[][2] = { { 100, 100 }, { 50, 100 },  { 150, 100 }, { 120, 20 },
					    { 300, 50 },  { 260, 200 }, { 0, 60 },    { 0, 10 },
					    { 40, 500 },  { 200, 100 }, { 0, 540 } };
	struct rp_conn c = accepted();

	fill();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		piece(&c, rows[i][0], rows[i][1]);
	c.snd += 540;
	expect(rp_recv(&c, got, sizeof(got)) == 540 && !memcmp(got, data, 540));
	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_one_octet_segments_out_of_order_are_bounded)
{
	struct rp_conn c = accepted();
	uint32_t sum = 0;

	fill();
	/* every other octet of the window, from behind */
	for (uint32_t off = 60000; off > 1; off -= 2)
		piece(&c, off, 1);
	rp_drop_out(&rp);
	/* the gap is filled by one who sends everything again */
	for (uint32_t off = 0; off < 61440; off += 1024)
		piece(&c, off, 1024);
	for (uint32_t n; (n = rp_recv(&c, got, sizeof(got)));) {
		expect(!memcmp(got, data + sum, n));
		sum += n;
	}
	expect(sum >= 30000);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_duplicate_gets_an_ack)
{
	struct rp_conn c = accepted();
	struct seen s;

	fill();
	piece(&c, 0, 100);
	c.snd += 100;
	expect(rp_recv(&c, got, sizeof(got)) == 100);
	rp_wait(&rp, NS_PER_SEC);
	rp_drop_out(&rp);
	rp_seg(&c, &(struct tcp_in){
			   .flags = FL_ACK, .seq = (uint32_t)-100, .data = data, .data_len = 100 });
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd);
	expect(moved("TCP_DUPLICATE") + moved("TCP_SEQ") == 1);
	expect(rp_recv(&c, got, sizeof(got)) == 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_data_beyond_the_window_is_not_kept)
{
	struct rp_conn c;
	uint32_t sum = 0;
	struct seen s;

	expect(ns_sock_setopt(rp.stack, listener, NS_SO_RCVBUF, 8192) == 0);
	c = accepted();
	fill();
	/* the window is what the last ACK said; the sender does not care */
	for (uint32_t off = 0; off < 65000; off += 1000) {
		piece(&c, off, 1000);
		rp_drop_out(&rp);
	}
	for (uint32_t n; (n = rp_recv(&c, got, sizeof(got)));) {
		expect(!memcmp(got, data + sum, n));
		sum += n;
	}
	expect(sum > 0 && sum < 40000);
	/* the rest, sent again, is taken: nothing was acknowledged that was not kept */
	rp_drop_out(&rp);
	for (uint32_t guard = 0; sum < 65000 && guard < 500; guard++) {
		piece(&c, sum, 65000 - sum < 1000 ? 65000 - sum : 1000);
		uint32_t n = rp_recv(&c, got, sizeof(got));

		expect(!memcmp(got, data + sum, n));
		sum += n;
	}
	expect(sum == 65000);
	c.snd += 65000;
	rp_wait(&rp, NS_PER_SEC);
	uint32_t last_ack = 0;

	while (rp_take(&rp, &s))
		last_ack = s.ack;
	expect(last_ack == c.snd);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc1122_s4_2_3_2_ack_is_delayed_by_at_most_500_ms)
{
	struct rp_conn c = accepted();
	struct seen s;

	fill();
	/* the first segments may be acknowledged at once (quick ACK); after some exchange it is delayed */
	for (int i = 0; i < 40; i++) {
		rp_data(&c, data, 100);
		rp_wait(&rp, 500 * NS_PER_MS);
		expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd);
		expect(rp_recv(&c, got, sizeof(got)) == 100);
		rp_drop_out(&rp);
	}
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_must_58_ack_every_second_full_segment)
{
	struct rp_conn c = accepted();
	struct seen s;

	fill();
	for (int i = 0; i < 20; i++) {
		piece(&c, 0, 1460);
		c.snd += 1460;
		piece(&c, 0, 1460);
		c.snd += 1460;
		uint32_t acked = 0;

		while (rp_take(&rp, &s))
			acked = s.ack;
		expect(acked == c.snd);
		expect(rp_recv(&c, got, sizeof(got)) == 2920);
		rp_drop_out(&rp);
	}
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5681_s4_2_out_of_order_is_acknowledged_at_once)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_sack = true });
	struct seen s;

	fill();
	piece(&c, 1000, 500);
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd);
	expect(s.sack_cnt == 1 && s.sack[0][0] == c.snd + 1000 && s.sack[0][1] == c.snd + 1500);
	piece(&c, 2000, 500);
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd);
	/* RFC 2018 4: the newest block first */
	expect(s.sack_cnt == 2 && s.sack[0][0] == c.snd + 2000 && s.sack[1][0] == c.snd + 1000);
	/* filling the gap: at once too */
	piece(&c, 0, 1000);
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd + 1500);
	piece(&c, 1500, 500);
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd + 2500 && !s.sack_cnt);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc2018_s3_three_blocks_with_timestamps_and_each_is_true)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_sack = true, .has_ts = true });
	struct seen s;

	fill();
	for (uint32_t i = 1; i <= 6; i++)
		piece(&c, i * 2000, 1000);
	s.sack_cnt = 0;
	while (rp_expect(&c, &s))
		;
	expect(s.sack_cnt == 3);
	for (uint32_t i = 0; i < 3; i++) {
		expect((s.sack[i][0] - c.snd) % 2000 == 0);
		expect(s.sack[i][1] == s.sack[i][0] + 1000);
	}
	expect(s.sack[0][0] == c.snd + 12000);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* RFC 2018 3: "a SACK option that specifies n blocks will have a length of 8*n+2 bytes, so the 40 bytes can specify 4". */
START_TEST(rfc2018_s3_four_blocks_without_timestamps)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_sack = true });
	struct seen s;

	fill();
	for (uint32_t i = 1; i <= 6; i++) {
		piece(&c, i * 2000, 1000);
		expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd);
		expect(s.sack_cnt == (i < 4 ? i : 4));
		/* the newest, and the three before it: each was in three acknowledgements at least (RFC 2018 4) */
		for (uint32_t k = 0; k < s.sack_cnt; k++) {
			expect(s.sack[k][0] == c.snd + (i - k) * 2000);
			expect(s.sack[k][1] == s.sack[k][0] + 1000);
		}
	}
	/* a block that grows is the newest again, whole */
	piece(&c, 3 * 2000 + 1000, 500);
	expect(expect_tcp(&c, FL_ACK, &s) && s.sack_cnt == 4);
	expect(s.sack[0][0] == c.snd + 6000 && s.sack[0][1] == c.snd + 7500);
	expect(s.sack[1][0] == c.snd + 12000 && s.sack[2][0] == c.snd + 10000);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc2018_s2_no_sack_when_it_was_not_agreed)
{
	struct rp_conn c = accepted();
	struct seen s;

	fill();
	piece(&c, 1000, 500);
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd && !s.sack_cnt);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* --- windows --------------------------------------------------------------------------------- */

START_TEST(rfc9293_s3_8_6_window_is_respected)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .wnd = 3000 });
	struct seen s;
	uint32_t sum = 0;

	fill();
	rp_send(&c, data, 20000);
	while (rp_expect(&c, &s))
		sum += s.data_len;
	expect(sum >= 2920 && sum <= 3000);
	c.wnd = 5000;
	rp_ack(&c);
	sum = 0;
	while (rp_expect(&c, &s))
		sum += s.data_len;
	expect(sum > 0 && sum <= 5000);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_old_ack_opens_no_window)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .wnd = 3000 });
	uint32_t sum = 0;
	struct seen s;

	fill();
	rp_send(&c, data, 2920);
	while (rp_expect(&c, &s))
		;
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .wnd = 100 });
	/* overtaken by that one: acknowledges less, had more room */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .ack = (uint32_t)-1460, .wnd = 3000 });
	rp_send(&c, data, 5000);
	rp_wait(&rp, 150 * NS_PER_MS);
	while (rp_take(&rp, &s))
		sum += s.data_len;
	expect(sum <= 100);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_must_36_zero_window_is_probed_for_ever_with_back_off)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .wnd = 1460 });
	struct mono last = { 0 };
	uint64_t gap = 0;
	uint32_t probes = 0;
	struct seen s;

	fill();
	rp_send(&c, data, 5000);
	while (rp_expect(&c, &s))
		;
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .is_wnd_zero = true });
	expect_silence();
	for (int i = 0; i < 6000; i++) { /* 10 minutes */
		rp_wait(&rp, 100 * NS_PER_MS);
		while (rp_take(&rp, &s)) {
			expect(s.data_len <= 1);
			expect(s.seq == c.rcv - 1 || s.seq == c.rcv);
			if (last.ns) {
				uint64_t now_gap = mono_since(rp.now, last);

				expect(now_gap + 200 * NS_PER_MS >= gap); /* never shorter */
				expect(now_gap <= 125 * NS_PER_SEC);
				gap = now_gap;
			}
			last = rp.now;
			probes++;
			/* the answer: still shut */
			rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .is_wnd_zero = true });
		}
	}
	expect(probes >= 6 && probes < 60);
	expect(moved("TCP_PROBES") >= probes - 1);
	/* the window opens: data flows at once */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .wnd = 8000 });
	uint32_t sum = 0;

	while (rp_take(&rp, &s))
		sum += s.data_len;
	expect(sum >= 1460);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_no_probe_without_data)
{
	struct rp_conn c = accepted();

	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .is_wnd_zero = true });
	rp_wait(&rp, 60 * NS_PER_SEC);
	expect_silence();
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_must_34_window_that_shrinks_is_survived)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .wnd = 20000 });
	struct seen s;

	fill();
	rp_send(&c, data, 10000);
	uint32_t sum = 0;

	while (rp_take(&rp, &s))
		sum += s.data_len;
	expect(sum >= 2920);
	/* all is in flight, and the peer takes the window back before acknowledging anything */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .is_wnd_zero = true });
	/* probed with what was sent already (RFC 9293 3.8.6: "should not shrink the sender's window" it began with) */
	rp_wait(&rp, 30 * NS_PER_SEC);
	expect(!strcmp(state_of(&c), "ESTABLISHED"));
	expect(rp.out_cnt >= 4);
	while (rp_take(&rp, &s))
		expect(s.seq == c.rcv && s.data_len > 0 && s.data_len <= 1460);
	/* all of it arrives, the window stays shut, more is queued: the probe is one before SND.UNA */
	c.rcv += 10000;
	rp_send(&c, data + 10000, 5000);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .is_wnd_zero = true });
	expect_silence();
	rp_wait(&rp, 3 * NS_PER_SEC);
	expect(rp.out_cnt >= 2);
	while (rp_take(&rp, &s))
		expect(s.seq == c.rcv - 1 && s.data_len == 0);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .wnd = 20000 });
	sum = 0;
	for (int i = 0; i < 10; i++) {
		while (rp_expect(&c, &s)) {
			expect(!memcmp(s.data, data + 10000 + sum, s.data_len));
			sum += s.data_len;
		}
		rp_ack(&c);
	}
	expect(sum == 5000);
	expect(!strcmp(state_of(&c), "ESTABLISHED"));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_zero_window_in_syn_then_open)
{
	static struct frame f;
	struct opts o = { 0 };
	struct rp_conn c;
	struct seen s;

	fill();
	c = (struct rp_conn){ .rp = &rp, .wnd = 32768, .snd = 1001, .iss = 1000 };
	c.way = rp_way(3500, PORT);
	opts_mss(&o, 1460);
	frame_tcp(&f, &c.way, &(struct tcp_in){ .flags = FL_SYN, .seq = 1000, .opts = &o });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == (FL_SYN | FL_ACK));
	c.irs = s.seq;
	c.rcv = s.seq + 1;
	/* the most significant bit of the field is a bit like the others */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .wnd = 32768 });
	expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
	rp_drop_out(&rp);
	rp_send(&c, data, 1000);
	expect(rp_expect(&c, &s) && s.data_len == 1000 && !memcmp(s.data, data, 1000));
	expect_silence();
	rp_ack(&c);
	rp_wait(&rp, 60 * NS_PER_SEC);
	expect_silence();
	expect(moved("TCP_PROBES") == 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_8_6_2_2_receiver_opens_no_silly_window)
{
	struct rp_conn c;
	struct seen s;
	uint32_t wnd = 0xffff, off = 0;

	expect(ns_sock_setopt(rp.stack, listener, NS_SO_RCVBUF, 16384) == 0);
	c = accepted();
	fill();
	/* fill the window until it is shut */
	for (int i = 0; i < 100 && wnd; i++) {
		uint32_t len = wnd < 1000 ? wnd : 1000;

		rp_data(&c, data + off, len);
		off = (off + len) % 32768;
		rp_wait(&rp, 300 * NS_PER_MS);
		while (rp_expect(&c, &s))
			if (s.ack == c.snd)
				wnd = s.wnd;
	}
	expect(wnd == 0);
	/* a small read opens nothing, or at least a full segment's worth */
	expect(rp_recv(&c, got, 100) == 100);
	rp_wait(&rp, 300 * NS_PER_MS);
	while (rp_take(&rp, &s))
		expect(s.wnd == 0 || s.wnd >= 1460);
	/* reading everything opens it, without being asked */
	while (rp_recv(&c, got, sizeof(got)))
		;
	rp_wait(&rp, 300 * NS_PER_MS);
	wnd = 0;
	while (rp_expect(&c, &s))
		wnd = s.wnd;
	expect(wnd >= 1460);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc1122_s4_2_3_4_nagle_holds_back_a_small_segment)
{
	struct rp_conn c = accepted();
	struct seen s;

	expect(rp_send(&c, "a", 1) == 1);
	expect(rp_expect(&c, &s) && s.data_len == 1);
	rp_send(&c, "b", 1);
	rp_send(&c, "c", 1);
	expect_silence();
	rp_ack(&c);
	expect(rp_expect(&c, &s) && s.data_len == 2 && !memcmp(s.data, "bc", 2));
	rp_ack(&c);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_must_17_nodelay_disables_nagle)
{
	struct rp_conn c = accepted();
	struct seen s;

	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_NODELAY, 1) == 0);
	for (uint32_t i = 0; i < 5; i++) {
		rp_send(&c, "a", 1);
		expect(rp_expect(&c, &s) && s.data_len == 1);
	}
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_cork_waits_for_a_full_segment)
{
	struct rp_conn c = accepted();
	struct seen s;

	fill();
	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_CORK, 1) == 0);
	rp_send(&c, data, 700);
	expect_silence();
	rp_send(&c, data + 700, 1000);
	expect(rp_expect(&c, &s) && s.data_len == 1460);
	expect_silence();
	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_CORK, 0) == 0);
	rp_turn(&rp);
	expect(rp_expect(&c, &s) && s.data_len == 240);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_sequence_numbers_wrap_in_both_directions)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .iss = 0xffffffff });

	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
	rp_turn(&rp);
	c = accepted_with(&(struct rp_syn){ .iss = 0xfffffff8, .has_sack = true });
	fill();
	piece(&c, 20, 20); /* out of order, beyond the wrap */
	piece(&c, 0, 20);
	c.snd += 40;
	expect(rp_recv(&c, got, sizeof(got)) == 40 && !memcmp(got, data, 40));
	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc1122_s4_2_3_6_keepalive)
{
	struct rp_conn c = accepted();
	struct seen s;
	uint32_t probes = 0;
	int err = 0;

	/* off by default */
	rp_wait(&rp, UINT64_C(3) * 3600 * NS_PER_SEC);
	expect_silence();
	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_KEEPIDLE, 10) == 0);
	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_KEEPINTVL, 5) == 0);
	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_KEEPCNT, 3) == 0);
	expect(ns_sock_setopt(rp.stack, c.sock, NS_SO_KEEPALIVE, 1) == 0);
	rp_turn(&rp);
	rp_wait(&rp, 11 * NS_PER_SEC);
	expect(rp_take(&rp, &s) && s.seq == c.rcv - 1 && s.data_len <= 1 && s.ack == c.snd);
	rp_drop_out(&rp);
	rp_ack(&c); /* alive */
	for (int i = 0; i < 600 && !rp_event(&rp, c.sock, NS_EV_ERR, NULL); i++) {
		rp_wait(&rp, 100 * NS_PER_MS);
		while (rp_take(&rp, &s))
			probes += s.seq == c.rcv - 1 && !(s.flags & FL_RST);
	}
	expect(probes == 3);
	expect(rp_event(&rp, c.sock, NS_EV_ERR, &err) && err == -ETIMEDOUT);
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_info_tells_what_happened)
{
	struct rp_conn c = accepted();
	struct ns_tcp_info info;
	struct seen s;

	for (int i = 0; i < 40; i++) { /* long enough to forget that the handshake took no time */
		rp_send(&c, "hello", 5);
		expect(rp_expect(&c, &s));
		rp_wait(&rp, 20 * NS_PER_MS);
		rp_ack(&c);
	}
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.state == 1 && info.snd_mss == 1460 && info.snd_cwnd >= 10);
	expect(info.rtt_us >= 15000 && info.rtt_us <= 25000 && info.rto_us >= 200000);
	expect(info.bytes_acked >= 5 && info.bytes_sent >= 5 && !info.unacked);
	expect(info.rttvar_us > 0 && info.ca_state == 0 && info.retransmits == 0);
	/* no answer: timeout, one segment of window */
	rp_send(&c, "hello", 5);
	rp_wait(&rp, 2 * NS_PER_SEC);
	rp_drop_out(&rp);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.state == 1 && info.ca_state == 4 && info.snd_cwnd == 1 && info.retransmits > 0);
	expect(info.unacked == 1 && info.total_retrans > 0 && info.backoff > 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_data");
	TCase *tc = conf_case(s, "receive");

	tcase_add_test(tc, rfc9293_s3_10_7_4_all_orders_of_five_segments);
	tcase_add_test(tc, rfc9293_s3_10_7_4_overlaps_deliver_each_octet_once);
	tcase_add_test(tc, tcp_one_octet_segments_out_of_order_are_bounded);
	tcase_add_test(tc, rfc9293_s3_10_7_4_duplicate_gets_an_ack);
	tcase_add_test(tc, rfc9293_s3_10_7_4_data_beyond_the_window_is_not_kept);
	tcase_add_test(tc, rfc1122_s4_2_3_2_ack_is_delayed_by_at_most_500_ms);
	tcase_add_test(tc, rfc9293_must_58_ack_every_second_full_segment);
	tcase_add_test(tc, rfc5681_s4_2_out_of_order_is_acknowledged_at_once);
	tcase_add_test(tc, rfc2018_s3_three_blocks_with_timestamps_and_each_is_true);
	tcase_add_test(tc, rfc2018_s3_four_blocks_without_timestamps);
	tcase_add_test(tc, rfc2018_s2_no_sack_when_it_was_not_agreed);

	tc = conf_case(s, "windows");
	tcase_add_test(tc, rfc9293_s3_8_6_window_is_respected);
	tcase_add_test(tc, rfc9293_s3_10_7_4_old_ack_opens_no_window);
	tcase_add_test(tc, rfc9293_must_36_zero_window_is_probed_for_ever_with_back_off);
	tcase_add_test(tc, tcp_no_probe_without_data);
	tcase_add_test(tc, rfc9293_must_34_window_that_shrinks_is_survived);
	tcase_add_test(tc, tcp_zero_window_in_syn_then_open);
	tcase_add_test(tc, rfc9293_s3_8_6_2_2_receiver_opens_no_silly_window);
	tcase_add_test(tc, rfc1122_s4_2_3_4_nagle_holds_back_a_small_segment);
	tcase_add_test(tc, rfc9293_must_17_nodelay_disables_nagle);
	tcase_add_test(tc, tcp_cork_waits_for_a_full_segment);

	tc = conf_case(s, "the rest");
	tcase_add_test(tc, tcp_sequence_numbers_wrap_in_both_directions);
	tcase_add_test(tc, rfc1122_s4_2_3_6_keepalive);
	tcase_add_test(tc, tcp_info_tells_what_happened);
	return conf_run(s);
}
