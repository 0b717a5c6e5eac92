/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_tcp_ts.c - timestamps on the wire: RFC 7323 3, 4 and 5 */
#include "conformance.h"

static uint8_t data[65536], got[65536];

/* One piece of a stream that starts at the peer's next octet. */
static void piece(struct rp_conn *c, uint32_t off, uint32_t len)
{
	rp_seg(c, &(struct tcp_in){
			  .flags = FL_ACK, .seq = off, .data = data + off, .data_len = len });
}

START_TEST(rfc7323_s3_2_every_segment_carries_timestamps_once_agreed)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_ts = true });
	struct seen s;
	uint32_t last = c.ts_recent;

	for (int i = 0; i < 10; i++) {
		c.ts_val += 7;
		rp_data(&c, "x", 1);
		rp_wait(&rp, 300 * NS_PER_MS);
		expect(expect_tcp(&c, FL_ACK, &s));
		expect(s.has_ts && s.ts_ecr == c.ts_val);
		expect((int32_t)(s.ts_val - last) >= 0);
		last = s.ts_val;
		rp_drop_out(&rp);
	}
	expect(rp_recv(&c, got, sizeof(got)) == 10);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc7323_s4_3_tsecr_is_of_the_segment_at_the_left_edge)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_ts = true, .has_sack = true });
	struct seen s;
	uint32_t base = c.ts_val;

	/* a hole: the stamp of what is beyond it is not echoed */
	c.ts_val = base + 100;
	piece(&c, 1000, 100);
	expect(expect_tcp(&c, FL_ACK, &s) && s.ts_ecr == base);
	/* the hole is filled: its stamp is echoed */
	c.ts_val = base + 200;
	piece(&c, 0, 1000);
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd + 1100 && s.ts_ecr == base + 200);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* The clock of a delayed acknowledgement is that of the earliest segment it answers, RFC 7323 4.2 and 4.3 (1). */
START_TEST(rfc7323_s4_3_delayed_ack_echoes_the_earliest_segment)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_ts = true });
	struct seen s;

	/* a conversation: acknowledgements ride on answers, and wait for them */
	for (int i = 0; i < 20; i++) {
		rp_data(&c, data, 100);
		expect(rp_recv(&c, got, sizeof(got)) == 100);
		rp_send(&c, data, 100);
		rp_wait(&rp, 50 * NS_PER_MS);
		while (rp_expect(&c, &s))
			;
		rp_ack(&c);
		rp_drop_out(&rp);
	}
	c.ts_val += 1000;
	rp_data(&c, data, 10);
	expect_silence();
	c.ts_val += 7;
	rp_data(&c, data, 10);
	expect_silence();
	rp_wait(&rp, 100 * NS_PER_MS);
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd && s.ts_ecr == c.ts_val - 7);
	rp_wait(&rp, NS_PER_SEC);
	expect_silence();
	expect(rp_recv(&c, got, sizeof(got)) == 20);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* RFC 7323 3.2: "TSopt MUST be sent in every non-<RST> segment"; in a reset that has an ACK field it may be. */
START_TEST(rfc7323_s3_2_every_kind_of_segment_carries_timestamps)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_ts = true, .wnd = 3000 });
	struct seen s;

	/* octets, and the same again */
	rp_send(&c, data, 100);
	expect(rp_expect(&c, &s) && s.data_len == 100 && s.has_ts && s.ts_ecr == c.ts_val);
	rp_wait(&rp, NS_PER_SEC);
	expect(rp_take(&rp, &s) && s.data_len == 100 && s.has_ts);
	rp_drop_out(&rp);
	rp_ack(&c);
	/* a duplicate acknowledgement, a challenge */
	piece(&c, 1000, 10);
	expect(expect_tcp(&c, FL_ACK, &s) && s.has_ts);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_RST, .seq = 5 });
	expect(expect_tcp(&c, FL_ACK, &s) && s.has_ts);
	rp_data(&c, data, 1000);
	c.snd += 10;
	rp_drop_out(&rp);
	/* a window probe, a keepalive probe */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .is_wnd_zero = true });
	rp_send(&c, data, 100);
	expect_silence();
	rp_wait(&rp, 2 * NS_PER_SEC);
	expect(rp_take(&rp, &s) && s.seq == c.rcv - 1 && s.has_ts);
	rp_drop_out(&rp);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .wnd = 3000 });
	expect(rp_expect(&c, &s) && s.data_len == 100 && s.has_ts);
	rp_ack(&c);
	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_KEEPIDLE, 10) == 0);
	expect(ns_sock_setopt(rp.stack, c.sock, NS_SO_KEEPALIVE, 1) == 0);
	rp_wait(&rp, 11 * NS_PER_SEC);
	expect(rp_take(&rp, &s) && s.seq == c.rcv - 1 && s.has_ts);
	rp_drop_out(&rp);
	rp_ack(&c);
	/* the FIN, and a reset with an ACK field */
	ns_sock_shutdown_send(rp.stack, c.sock);
	rp_turn(&rp);
	expect(expect_tcp(&c, FL_FIN | FL_ACK, &s) && s.has_ts);
	ns_sock_abort(rp.stack, c.sock);
	rp_turn(&rp);
	expect(expect_tcp(&c, FL_RST | FL_ACK, &s) && s.has_ts);
}
END_TEST

START_TEST(rfc7323_s5_3_paws_drops_an_old_timestamp_and_acks)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_ts = true });
	static const uint32_t backs[] = { 1, 1000, 0x7fffffff };
	struct seen s;
	uint32_t newest;

	c.ts_val += 1000;
	rp_data(&c, "x", 1);
	newest = c.ts_val;
	expect(rp_recv(&c, got, 8) == 1);
	for (size_t i = 0; i < 3; i++) {
		rp_wait(&rp, NS_PER_SEC);
		rp_drop_out(&rp);
		c.ts_val = newest - backs[i];
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .data = "y", .data_len = 1 });
		expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd && s.ts_ecr == newest);
		expect(rp_recv(&c, got, 8) == 0);
	}
	expect(moved("TCP_PAWS") == 3);
	/* equal is fine */
	c.ts_val = newest;
	rp_data(&c, "z", 1);
	expect(rp_recv(&c, got, 8) == 1 && got[0] == 'z');
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc7323_s5_3_timestamp_of_an_unacceptable_ack_is_not_kept)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_ts = true });
	struct opts o = { 0 };
	struct seen s;

	opts_ts(&o, c.ts_val + 200000, c.ts_recent);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN, .ack = 9999, .opts = &o });
	expect(expect_tcp(&c, FL_ACK, &s) && s.ts_ecr == c.ts_val); /* RFC 5961 5.2: a challenge */
	c.ts_val++;
	rp_data(&c, "x", 1); /* PAWS would drop it */
	rp_wait(&rp, 300 * NS_PER_MS);
	expect(rp_recv(&c, got, sizeof(got)) == 1);
	expect(expect_tcp(&c, FL_ACK, &s) && s.ts_ecr == c.ts_val);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* RFC 7323 3.2: "MUST be ignored and the packet processed normally", however old it seems; nothing is echoed. */
START_TEST(rfc7323_s3_2_timestamps_that_were_not_agreed_are_ignored)
{
	static const uint32_t vals[] = { 5000, 4000, 0, 0x80000000, 1 };
	struct rp_conn c = accepted();
	struct seen s;

	for (size_t i = 0; i < sizeof(vals) / sizeof(vals[0]); i++) {
		struct opts o = { 0 };

		opts_ts(&o, vals[i], 77);
		rp_seg(&c,
		       &(struct tcp_in){ .flags = FL_ACK, .opts = &o, .data = "x", .data_len = 1 });
		c.snd++;
		expect(rp_recv(&c, got, 8) == 1);
		rp_wait(&rp, 300 * NS_PER_MS);
		expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd && !s.has_ts);
	}
	expect(drops() == 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc7323_s5_3_paws_spares_resets)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_ts = true });

	c.ts_val += 1000;
	rp_data(&c, "x", 1);
	expect(rp_recv(&c, got, 8) == 1);
	c.ts_val -= 900;
	rp_seg(&c, &(struct tcp_in){ .flags = FL_RST });
	expect(!strcmp(state_of(&c), "CLOSED"));
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc7323_s5_5_timestamp_is_forgotten_after_24_idle_days)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_ts = true });

	rp_wait(&rp, UINT64_C(25) * 86400 * NS_PER_SEC);
	rp_drop_out(&rp);
	c.ts_val -= 0x10000000; /* older by modulo arithmetic */
	rp_data(&c, "x", 1);
	expect(rp_recv(&c, got, 8) == 1);
	ns_sock_abort(rp.stack, c.sock);
	rp_turn(&rp);
	/* @other slept as long: its next stamp is as the peer's clock then is */
	other.ts_val += 100;
}
END_TEST

START_TEST(rfc7323_s3_2_timestamp_value_wraps)
{
	struct rp_conn c;

	expect(rp_half_open(&rp, PORT, &(struct rp_syn){ .has_ts = true }, &c));
	c.ts_val = 0xfffffff0;
	/* the SYN said 5000: 0xfffffff0 is older, so a new connection whose clock is near the end */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_RST });
	rp_drop_out(&rp);
	struct opts o = { 0 };
	static struct frame f;
	struct seen s;

	c = (struct rp_conn){ .rp = &rp, .wnd = 65535, .snd = 1001, .has_ts = true };
	c.way = rp_way(4500, PORT);
	opts_mss(&o, 1460);
	opts_ts(&o, 0xfffffff0, 0);
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_SYN, .seq = 1000, .wnd = 65535, .opts = &o });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && s.has_ts);
	c.rcv = s.seq + 1;
	c.ts_recent = s.ts_val;
	c.ts_val = 0xfffffff8;
	rp_ack(&c);
	expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
	for (uint32_t i = 0; i < 4; i++) {
		c.ts_val += 8; /* over 0 */
		rp_data(&c, "x", 1);
		expect(rp_recv(&c, got, 8) == 1);
	}
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc7323_s3_2_segment_without_agreed_timestamps)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_ts = true });
	struct opts none = { 4, { 1, 1, 1, 1 } };

	/* SHOULD be dropped; Linux takes it: either, but the stream goes on */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .opts = &none, .data = "x", .data_len = 1 });
	if (rp_recv(&c, got, 8) == 1)
		c.snd++;
	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_ts");
	TCase *tc = conf_case(s, "timestamps");

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 31 + (i >> 8));
	tcase_add_test(tc, rfc7323_s3_2_every_segment_carries_timestamps_once_agreed);
	tcase_add_test(tc, rfc7323_s4_3_tsecr_is_of_the_segment_at_the_left_edge);
	tcase_add_test(tc, rfc7323_s4_3_delayed_ack_echoes_the_earliest_segment);
	tcase_add_test(tc, rfc7323_s3_2_every_kind_of_segment_carries_timestamps);
	tcase_add_test(tc, rfc7323_s5_3_paws_drops_an_old_timestamp_and_acks);
	tcase_add_test(tc, rfc7323_s5_3_timestamp_of_an_unacceptable_ack_is_not_kept);
	tcase_add_test(tc, rfc7323_s3_2_timestamps_that_were_not_agreed_are_ignored);
	tcase_add_test(tc, rfc7323_s5_3_paws_spares_resets);
	tcase_add_test(tc, rfc7323_s5_5_timestamp_is_forgotten_after_24_idle_days);
	tcase_add_test(tc, rfc7323_s3_2_timestamp_value_wraps);
	tcase_add_test(tc, rfc7323_s3_2_segment_without_agreed_timestamps);
	return conf_run(s);
}
