/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_tcp_hold.c - what holds octets back and what lets them go: cork, MSG_MORE, records, idleness, duplicates */
#include "conformance.h"

static uint8_t data[32768];

/* write() with MSG_MORE or without, and a turn */
static void put(struct rp_conn *c, uint32_t len, bool more)
{
	struct ns_iov iov[8];
	uint32_t done = 0;
	int cnt = ns_sock_send_reserve(rp.stack, c->sock, len, iov, 8);

	expect(cnt > 0);
	for (int i = 0; i < cnt && done < len; i++) {
		uint32_t n = len - done < iov[i].len ? len - done : (uint32_t)iov[i].len;

		memset(iov[i].base, 'x', n);
		done += n;
	}
	expect(done == len);
	ns_sock_send_commit(rp.stack, c->sock, len, more);
	rp_turn(&rp);
}

START_TEST(tcp_nodelay_flushes_what_a_cork_holds)
{
	struct rp_conn c = accepted();
	struct seen s;

	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_CORK, 1) == 0);
	rp_send(&c, data, 80);
	expect_silence();
	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_NODELAY, 1) == 0);
	rp_turn(&rp);
	expect(rp_expect(&c, &s) && s.data_len == 80);
	rp_ack(&c);
	rp_send(&c, data, 80); /* the cork is in again for what comes after */
	expect_silence();
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* gVisor's case: small writes make up a segment exactly, the rest waits; a window below a segment does not hold for ever. */
START_TEST(tcp_cork_makes_full_segments_and_yields_to_a_small_window)
{
	struct rp_conn c = accepted();
	struct seen s;

	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_CORK, 1) == 0);
	put(&c, 11, false);
	put(&c, 11, false);
	expect_silence();
	put(&c, 1461, false);
	expect(rp_expect(&c, &s) && s.data_len == 1460);
	expect_silence();
	rp_ack(&c);
	rp_wait(&rp, 250 * NS_PER_MS);
	expect(rp_expect(&c, &s) && s.data_len == 23);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .wnd = 22 });
	put(&c, 11, false);
	put(&c, 11, false);
	rp_wait(&rp, 250 * NS_PER_MS);
	expect(rp_expect(&c, &s) && s.data_len == 22);
	expect_silence();
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_msg_more_holds_until_an_acknowledgement)
{
	struct rp_conn c = accepted();
	struct seen s;

	put(&c, 1500, true);
	expect(rp_expect(&c, &s) && s.data_len == 1460);
	expect_silence();
	rp_ack(&c);
	expect(rp_expect(&c, &s) && s.data_len == 40);
	rp_ack(&c);
	put(&c, 40, true); /* nothing in flight: nobody will acknowledge, the timer lets it go */
	expect_silence();
	rp_wait(&rp, 250 * NS_PER_MS);
	expect(rp_expect(&c, &s) && s.data_len == 40);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_msg_eor_keeps_records_apart)
{
	struct rp_conn c = accepted();
	struct seen s;
	uint32_t last;

	put(&c, 10 * 1460 + 400, false);
	for (int i = 0; i < 10; i++)
		expect(rp_expect(&c, &s) && s.data_len == 1460);
	put(&c, 400, false);
	ns_sock_send_eor(rp.stack, c.sock);
	put(&c, 3000, false);
	expect_silence();
	rp_ack(&c);
	expect(rp_expect(&c, &s) && s.data_len == 800);
	last = s.seq;
	expect(rp_expect(&c, &s) && s.data_len == 1460);
	expect(rp_expect(&c, &s) && s.data_len == 1460);
	rp_drop_out(&rp);
	rp_wait(&rp, 2 * NS_PER_SEC); /* lost: sent again as it was */
	for (bool is_seen = false; !is_seen;) {
		expect(rp_take(&rp, &s));
		is_seen = s.seq == last;
	}
	expect(s.data_len == 800);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_msg_eor_of_many_small_records_is_bounded)
{
	struct rp_conn c = accepted();
	struct seen s;
	uint32_t got = 0;

	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_CORK, 1) == 0);
	for (int i = 0; i < 100; i++) {
		put(&c, 10, true);
		ns_sock_send_eor(rp.stack, c.sock);
	}
	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_CORK, 0) == 0);
	rp_turn(&rp);
	for (int i = 0; i < 200 && got < 1000; i++) {
		if (!rp_expect(&c, &s)) {
			rp_ack(&c);
			continue;
		}
		got += s.data_len;
	}
	expect(got == 1000);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5681_s4_1_idle_restart_is_for_what_can_be_sent)
{
	struct rp_conn c = accepted();
	struct ns_tcp_info info;
	struct seen s;
	uint32_t before;

	for (int i = 0; i < 3; i++) {
		rp_send(&c, data, 10 * 1460);
		while (rp_expect(&c, &s))
			;
		rp_wait(&rp, 10 * NS_PER_MS);
		if (i == 2) {
			c.wnd = 0;
			rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .is_wnd_zero = true });
		} else {
			rp_ack(&c);
		}
	}
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	before = info.snd_cwnd;
	expect(before > 10);
	rp_send(&c, data, 1460);
	rp_wait(&rp, 5 * NS_PER_SEC);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.snd_cwnd == before); /* window probes went out, no data was held by cwnd */
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc3042_s2_octets_let_go_by_duplicates_count_once)
{
	struct rp_conn c = accepted(); /* without SACK */
	struct ns_tcp_info info;
	struct seen s;
	uint32_t acked;

	rp_send(&c, data, 15 * 1460);
	for (int i = 0; i < 10; i++)
		expect(rp_expect(&c, &s) && s.data_len == 1460);
	expect_silence();
	acked = c.rcv - 10 * 1460;
	for (int i = 0; i < 2; i++) {
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .ack = acked - c.rcv });
		expect(rp_expect(&c, &s) && s.data_len == 1460);
		expect_silence();
	}
	/* three segments arrive, two of which the duplicates told of: the window grows by one */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .ack = acked + 3 * 1460 - c.rcv });
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.snd_cwnd == 11);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5681_s3_1_acknowledgement_that_ends_a_timeout_counts)
{
	struct rp_conn c = accepted();
	struct ns_tcp_info info;
	struct seen s;

	rp_send(&c, data, 1460);
	expect(rp_expect(&c, &s) && s.data_len == 1460);
	rp_wait(&rp, 3 * NS_PER_SEC);
	rp_drop_out(&rp);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.snd_cwnd == 1 && info.ca_state == 4);
	rp_ack(&c);
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.snd_cwnd == 2 && info.ca_state == 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc6675_s5_sack_of_an_overtaken_acknowledgement_counts)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_sack = true });
	struct opts o = { 0 };
	struct ns_tcp_info info;
	struct seen s;
	uint32_t first = c.rcv;

	rp_send(&c, data, 10 * 1460);
	while (rp_expect(&c, &s))
		;
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .ack = first + 4 * 1460 - c.rcv });
	opts_sack(&o, (const uint32_t[][2]){ { first + 6 * 1460, first + 8 * 1460 } }, 1);
	/* sent before the last one, arrives behind it */
	rp_seg(&c,
	       &(struct tcp_in){ .flags = FL_ACK, .ack = first + 2 * 1460 - c.rcv, .opts = &o });
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(info.sacked == 2);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("holding back");
	TCase *tc = conf_case(s, "cork and more");

	tcase_add_test(tc, tcp_nodelay_flushes_what_a_cork_holds);
	tcase_add_test(tc, tcp_cork_makes_full_segments_and_yields_to_a_small_window);
	tcase_add_test(tc, tcp_msg_more_holds_until_an_acknowledgement);
	tcase_add_test(tc, tcp_msg_eor_keeps_records_apart);
	tcase_add_test(tc, tcp_msg_eor_of_many_small_records_is_bounded);

	tc = conf_case(s, "windows");
	tcase_add_test(tc, rfc5681_s4_1_idle_restart_is_for_what_can_be_sent);
	tcase_add_test(tc, rfc5681_s3_1_acknowledgement_that_ends_a_timeout_counts);
	tcase_add_test(tc, rfc6675_s5_sack_of_an_overtaken_acknowledgement_counts);
	tcase_add_test(tc, rfc3042_s2_octets_let_go_by_duplicates_count_once);
	return conf_run(s);
}
