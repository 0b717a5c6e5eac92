/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_tcp_open.c - handshakes, listeners and the resets around them: RFC 9293 3.5 and 3.10.7, RFC 6528, RFC 6056 */
#include <malloc.h>

#include "conformance.h"

static struct frame f;

START_TEST(rfc9293_s3_5_active_open)
{
	struct rp_conn c;

	expect(rp_connected(&rp, 2000, &(struct rp_syn){ .has_ts = true, .has_sack = true }, &c));
	expect(!strcmp(state_of(&c), "ESTABLISHED"));
	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_5_passive_open)
{
	struct rp_conn c;

	expect(rp_half_open(&rp, PORT, &(struct rp_syn){ 0 }, &c));
	expect(!c.syn.has_ts && !c.syn.has_sack_ok &&
	       !c.syn.has_wscale); /* nobody asked for them */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
	expect_silence();
	expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_5_simultaneous_open)
{
	struct rp_conn c;
	struct opts o = { 0 };
	struct seen s;

	expect(rp_connect_begin(&rp, 2000, &c));
	opts_mss(&o, 1460);
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_SYN, .seq = c.iss, .wnd = 65535, .opts = &o });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == (FL_SYN | FL_ACK));
	expect(s.seq == c.irs && s.ack == c.iss + 1);
	c.snd = c.iss + 1;
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_SYN | FL_ACK,
				    .seq = c.iss,
				    .ack = c.irs + 1,
				    .wnd = 65535,
				    .opts = &o });
	rp_inject(&rp, &f);
	rp_drop_out(&rp);
	expect(!strcmp(state_of(&c), "ESTABLISHED"));
	expect(rp_event(&rp, c.sock, NS_EV_CONNECTED, NULL));
	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* SEG.LEN: octets, and one each for SYN and FIN */
static const struct {
	uint8_t flags, len;
	uint32_t takes;
} closed_rows[] = {
	{ FL_SYN, 0, 1 }, { FL_SYN, 3, 4 },          { FL_FIN, 0, 1 },
	{ FL_PSH, 3, 3 }, { FL_SYN | FL_FIN, 3, 5 }, { 0, 0, 0 },
};

START_TEST(rfc9293_s3_10_7_1_closed_port_resets)
{
	struct way w = rp_way(1000, 81);
	struct seen s;

	/* without ACK: sequence 0, ACK of all that the segment takes */
	frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_SYN, .seq = 500, .wnd = 9 });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == (FL_RST | FL_ACK));
	expect(s.seq == 0 && s.ack == 501 && s.way.sport == 81 && s.way.dport == 1000);
	EACH(i, closed_rows)
	{
		frame_tcp(&f, &w,
			  &(struct tcp_in){ .flags = closed_rows[i].flags,
					    .seq = 500,
					    .data = "abc",
					    .data_len = closed_rows[i].len });
		rp_inject(&rp, &f);
		expect(rp_take(&rp, &s) && (s.flags & 0x3f) == (FL_RST | FL_ACK));
		expect(s.seq == 0 && s.ack == 500 + closed_rows[i].takes);
	}
	/* with ACK: sequence of that ACK, no ACK */
	frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_ACK, .seq = 500, .ack = 7777, .wnd = 9 });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST && s.seq == 7777);
	/* a reset is never answered */
	frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_RST, .seq = 500 });
	rp_inject(&rp, &f);
	frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_RST | FL_ACK, .seq = 500, .ack = 1 });
	rp_inject(&rp, &f);
	expect_silence();
	expect(moved("TCP_NO_CONN") >= 4);
}
END_TEST

START_TEST(rfc9293_s3_10_7_2_listen_resets_a_stray_ack)
{
	struct way w = rp_way(1000, PORT);
	struct seen s;

	frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_ACK, .seq = 1, .ack = 4242, .wnd = 9 });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST && s.seq == 4242);
	frame_tcp(&f, &w,
		  &(struct tcp_in){ .flags = FL_SYN | FL_ACK, .seq = 1, .ack = 4243, .wnd = 9 });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST && s.seq == 4243);
	frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_RST, .seq = 1 });
	rp_inject(&rp, &f);
	expect_silence();
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_syn_received_resets_a_bad_ack)
{
	static const int32_t offs[] = { -1, 1, 1000, -1000 };
	struct seen s;

	for (size_t i = 0; i < 4; i++) {
		struct rp_conn c;

		expect(rp_half_open(&rp, PORT, &(struct rp_syn){ 0 }, &c));
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .ack = (uint32_t)offs[i] });
		expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST);
		expect(s.seq == c.rcv + (uint32_t)offs[i]);
		/* the right one still works */
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
		expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
		expect(is_flow_alive(&c));
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

START_TEST(rfc9293_s3_10_7_3_syn_sent_resets_a_bad_ack)
{
	static const int32_t offs[] = { -1, 1, 100000 };
	struct rp_conn c;
	struct seen s;

	expect(rp_connect_begin(&rp, 2000, &c));
	for (size_t i = 0; i < 3; i++) {
		uint32_t ack = c.irs + 1 + (uint32_t)offs[i];

		frame_tcp(&f, &c.way,
			  &(struct tcp_in){
				  .flags = FL_SYN | FL_ACK, .seq = 1, .ack = ack, .wnd = 9 });
		rp_inject(&rp, &f);
		expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST && s.seq == ack);
		/* with RST: silence, and still SYN-SENT */
		frame_tcp(&f, &c.way,
			  &(struct tcp_in){ .flags = FL_RST | FL_ACK, .seq = 1, .ack = ack });
		rp_inject(&rp, &f);
		expect_silence();
		expect(!strcmp(state_of(&c), "SYN-SENT"));
	}
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_3_syn_sent_reset_refuses)
{
	struct rp_conn c;
	int err = 0;

	expect(rp_connect_begin(&rp, 2000, &c));
	/* without ACK it is not ours */
	frame_tcp(&f, &c.way, &(struct tcp_in){ .flags = FL_RST, .seq = 1 });
	rp_inject(&rp, &f);
	expect(!rp_event(&rp, c.sock, NS_EV_ERR, NULL));
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_RST | FL_ACK, .seq = 0, .ack = c.irs + 1 });
	rp_inject(&rp, &f);
	expect(rp_event(&rp, c.sock, NS_EV_ERR, &err) && err == -ECONNREFUSED);
	expect_silence();
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_reset_in_syn_received_returns_to_listen)
{
	struct rp_conn c;
	struct seen s;
	ns_sock sock;

	expect(rp_half_open(&rp, PORT, &(struct rp_syn){ 0 }, &c));
	rp_seg(&c, &(struct tcp_in){ .flags = FL_RST });
	expect_silence();
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST && s.seq == c.rcv);
	expect(ns_sock_accept(rp.stack, listener, &sock) == -EAGAIN);
}
END_TEST

START_TEST(rfc9293_s3_5_3_syn_ack_with_data_or_fin)
{
	struct rp_conn c;
	char got[16];
	uint32_t len;

	expect(rp_connect_begin(&rp, 2000, &c));
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_SYN | FL_ACK,
				    .seq = 1000,
				    .ack = c.irs + 1,
				    .wnd = 65535,
				    .data = "early",
				    .data_len = 5 });
	rp_inject(&rp, &f);
	c.snd = 1001;
	rp_drop_out(&rp);
	expect(rp_event(&rp, c.sock, NS_EV_CONNECTED, NULL));
	len = rp_recv(&c, got, sizeof(got));
	expect(len == 0 || (len == 5 && !memcmp(got, "early", 5))); /* kept or asked for again */
	if (!len) {
		rp_data(&c, "early", 5);
		expect(rp_recv(&c, got, sizeof(got)) == 5);
	} else {
		c.snd += 5;
	}
	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_2_data_in_a_syn_is_not_lost)
{
	struct rp_conn c = { .rp = &rp, .wnd = 65535, .snd = 1001 };
	char got[16];
	struct seen s;

	c.way = rp_way(3000, PORT);
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_SYN,
				    .seq = 1000,
				    .wnd = 65535,
				    .data = "soon",
				    .data_len = 4 });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == (FL_SYN | FL_ACK));
	expect(s.ack == 1001 || s.ack == 1005);
	c.rcv = s.seq + 1;
	if (s.ack == 1005)
		c.snd = 1005;
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
	expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
	if (s.ack == 1001)
		rp_data(&c, "soon", 4);
	expect(rp_recv(&c, got, sizeof(got)) == 4 && !memcmp(got, "soon", 4));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_5_ack_of_the_handshake_may_carry_data_and_fin)
{
	struct rp_conn c;
	char got[16];

	expect(rp_half_open(&rp, PORT, &(struct rp_syn){ 0 }, &c));
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN, .data = "all", .data_len = 3 });
	expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
	expect(rp_recv(&c, got, sizeof(got)) == 3 && !memcmp(got, "all", 3));
	expect(ns_sock_is_eof(rp.stack, c.sock));
	expect(!strcmp(state_of(&c), "CLOSE-WAIT"));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* Moments at which SYNs leave until connect() gives up, the moment of that as the last. Return: how many */
static uint32_t syns_until_given_up(struct mono *at, uint32_t most)
{
	struct rp_conn c;
	uint32_t cnt = 0;
	struct seen s;
	int err = 0;

	expect(rp_connect_begin(&rp, 2000, &c));
	at[cnt++] = rp.now;
	for (int i = 0; i < 4000 && !rp_event(&rp, c.sock, NS_EV_ERR, NULL); i++) {
		while (rp_take(&rp, &s)) {
			expect((s.flags & 0x3f) == FL_SYN && s.seq == c.irs && cnt + 1 < most);
			at[cnt++] = rp.now;
		}
		rp_wait(&rp, 50 * NS_PER_MS);
	}
	expect(rp_event(&rp, c.sock, NS_EV_ERR, &err) && err == -ETIMEDOUT);
	at[cnt] = rp.now;
	ns_sock_close(rp.stack, c.sock);
	return cnt;
}

/* @gaps: seconds from each of @cnt SYNs to the next, and from the last to the end */
static void check_syns(const uint8_t *gaps, uint32_t cnt)
{
	struct mono at[32];

	expect(syns_until_given_up(at, 32) == cnt);
	for (uint32_t i = 0; i < cnt; i++) {
		uint64_t gap = mono_since(at[i + 1], at[i]);

		expect(gap >= gaps[i] * NS_PER_SEC - 100 * NS_PER_MS &&
		       gap <= gaps[i] * NS_PER_SEC + 100 * NS_PER_MS);
	}
}

/* linux: four without back-off, and until 127 s are over, which are tcp_syn_retries 6; RFC 1122 4.2.3.5 asks for 3 minutes */
START_TEST(rfc9293_s3_8_1_syn_is_retransmitted_and_given_up)
{
	check_syns((const uint8_t[]){ 1, 1, 1, 1, 1, 2, 4, 8, 16, 32, 64 }, 11);
}
END_TEST

/* linux tcp_model_timeout(): TCP_SYNCNT is the time that it takes with back-off; the moments are a kernel's (6.18) */
START_TEST(tcp_syncnt_is_a_time_and_not_a_number_of_syns)
{
	static const struct {
		int syncnt;
		uint32_t cnt;
		uint8_t gaps[8];
	} rows[] = {
		{ 1, 3, { 1, 1, 1 } },
		{ 2, 6, { 1, 1, 1, 1, 1, 2 } },
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		expect(ns_stack_set_knob(rp.stack, NS_KNOB_tcp_syn_retries, rows[i].syncnt) == 0);
		check_syns(rows[i].gaps, rows[i].cnt);
	}
}
END_TEST

START_TEST(rfc6298_s5_5_backoff_of_syns_doubles_at_once_without_linear_timeouts)
{
	expect(ns_stack_set_knob(rp.stack, NS_KNOB_tcp_syn_linear_timeouts, 0) == 0);
	check_syns((const uint8_t[]){ 1, 2, 4, 8, 16, 32, 64 }, 7);
}
END_TEST

START_TEST(rfc9293_s3_8_1_syn_ack_is_retransmitted)
{
	struct rp_conn c;
	struct seen s;
	uint32_t cnt = 0;

	expect(rp_half_open(&rp, PORT, &(struct rp_syn){ 0 }, &c));
	for (int i = 0; i < 200; i++) {
		rp_wait(&rp, NS_PER_SEC);
		while (rp_take(&rp, &s)) {
			expect((s.flags & 0x3f) == (FL_SYN | FL_ACK) && s.seq == c.irs &&
			       s.ack == c.snd);
			cnt++;
		}
	}
	expect(cnt >= 3 && cnt <= 7);
	expect(!strcmp(state_of(&c), "CLOSED"));
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_repeated_syn_gets_the_same_syn_ack)
{
	struct rp_conn c;
	struct seen s;

	expect(rp_half_open(&rp, PORT, &(struct rp_syn){ 0 }, &c));
	frame_tcp(&f, &c.way, &(struct tcp_in){ .flags = FL_SYN, .seq = c.iss, .wnd = 65535 });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == (FL_SYN | FL_ACK));
	expect(s.seq == c.irs && s.ack == c.iss + 1);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
	expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_accept_queue_full_holds_back_and_drains)
{
	ns_sock small = rp_listen(&rp, 8080, 1), sock;
	uint32_t established = 0;
	struct rp_conn c[6];
	struct seen s;

	for (uint32_t i = 0; i < 6; i++) {
		if (!rp_half_open(&rp, 8080, &(struct rp_syn){ 0 }, &c[i])) {
			c[i].rcv = 0;
			continue;
		}
		rp_seg(&c[i], &(struct tcp_in){ .flags = FL_ACK });
		while (rp_take(&rp, &s)) /* no reset: the peer shall try again */
			expect(!(s.flags & FL_RST));
	}
	while (ns_sock_accept(rp.stack, small, &sock) == 0) {
		established++;
		ns_sock_abort(rp.stack, sock);
	}
	rp_turn(&rp);
	expect(established >= 1 && established <= 2); /* linux: backlog + 1 */
	/* those that were held back complete by the SYN-ACK sent again */
	rp_drop_out(&rp);
	rp_wait(&rp, 3 * NS_PER_SEC);
	for (uint32_t i = 0; i < 6; i++)
		if (c[i].rcv && strcmp(state_of(&c[i]), "CLOSED") != 0)
			rp_seg(&c[i], &(struct tcp_in){ .flags = FL_ACK });
	rp_drop_out(&rp);
	established = 0;
	while (ns_sock_accept(rp.stack, small, &sock) == 0) {
		established++;
		ns_sock_abort(rp.stack, sock);
	}
	rp_turn(&rp);
	rp_drop_out(&rp);
	/* and the queue is usable */
	struct rp_conn last;

	expect(rp_accepted(&rp, small, 8080, &(struct rp_syn){ 0 }, &last) || established);
	ns_sock_close(rp.stack, small);
}
END_TEST

START_TEST(tcp_closing_a_listener_resets_what_nobody_accepted)
{
	ns_sock l = rp_listen(&rp, 8080, 4);
	struct rp_conn c;
	struct seen s;

	expect(rp_half_open(&rp, 8080, &(struct rp_syn){ 0 }, &c));
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
	rp_drop_out(&rp);
	ns_sock_close(rp.stack, l);
	rp_turn(&rp);
	expect(rp_take(&rp, &s) && s.kind == SEEN_TCP && (s.flags & FL_RST));
	expect(s.seq == c.rcv);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST);
}
END_TEST

/* One SYN of the flood: 200 hosts of this network, any port, any number. */
static void flood_syn(uint32_t i)
{
	struct way w = rp_way(1, PORT);

	w.src = 0x0a000014 + i % 200;
	w.sport = (uint16_t)(1024 + i / 200);
	frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_SYN, .seq = i * 2654435761u, .wnd = 100 });
	rp_inject(&rp, &f);
	rp_drop_out(&rp);
}

/*
 * 100 000 SYNs in a second, as many as fit between: a flow that was there goes on, clients come in, with all
 * they offered, and memory stays where the first third of them put it.
 */
START_TEST(rfc4987_s3_6_flood_of_100k_syns_keeps_nobody_out)
{
	struct rp_syn syn = { .has_ts = true, .has_sack = true, .has_wscale = true, .wscale = 7 };
	struct ns_tcp_info info;
	size_t at_start = 0;
	struct rp_conn c;

	for (uint32_t i = 0; i < 100000; i++) {
		flood_syn(i);
		if (i % 100 == 0)
			rp_wait(&rp, NS_PER_MS);
		if (i == 30000)
			at_start = mallinfo2().uordblks;
		if (i % 10000 != 9999)
			continue;
		rp_drop_out(&rp);
		expect(is_flow_alive(&other));
		expect(rp_accepted(&rp, listener, PORT, &syn, &c));
		expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
		expect(info.has_ts && info.has_sack && info.has_wscale && info.snd_wscale == 7);
		expect(is_flow_alive(&c));
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
	expect(mallinfo2().uordblks < at_start + (256 << 10));
	expect(moved("TCP_COOKIES_SENT") > 99000 && moved("TCP_COOKIES_OK") == 10);
}
END_TEST

START_TEST(rfc4987_s3_6_client_without_timestamps_gets_in_by_a_cookie)
{
	struct ns_tcp_info info;
	struct rp_conn c;

	for (uint32_t i = 0; i < 10000; i++)
		flood_syn(i);
	expect(rp_accepted(
		&rp, listener, PORT,
		&(struct rp_syn){ .mss = 1452, .has_sack = true, .has_wscale = true, .wscale = 3 },
		&c));
	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0);
	expect(!info.has_ts && !info.has_sack && !info.has_wscale && info.snd_mss == 1452);
	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* Of what a peer may send after a cookie, ACK, ACK with data and ACK with FIN complete the handshake. */
START_TEST(rfc4987_s3_6_what_completes_a_cookie)
{
	static const uint8_t rows[] = { FL_ACK,          FL_ACK | FL_PSH, FL_ACK | FL_FIN,
					FL_SYN | FL_ACK, FL_RST,          FL_RST | FL_ACK };
	struct rp_conn c;
	struct seen s;

	for (uint32_t i = 0; i < 10000; i++)
		flood_syn(i);
	for (uint32_t i = 0; i < sizeof(rows); i++) {
		uint64_t was = moved("TCP_COOKIES_OK");
		bool has_data = rows[i] & FL_PSH;

		expect(rp_half_open(&rp, PORT, &(struct rp_syn){ 0 }, &c));
		rp_drop_out(&rp);
		rp_seg(&c, &(struct tcp_in){
				   .flags = rows[i], .data = "abc", .data_len = has_data ? 3 : 0 });
		expect(moved("TCP_COOKIES_OK") - was == (i < 3));
		if (i == 3)
			expect(rp_take(&rp, &s) && (s.flags & FL_RST));
		if (i >= 3)
			continue;
		expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
		if (has_data) {
			uint8_t got[4];

			expect(rp_recv(&c, got, 4) == 3 && !memcmp(got, "abc", 3));
		}
		expect(ns_sock_is_eof(rp.stack, c.sock) == (i == 2));
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
	/* no SYN-ACK is repeated for what is not remembered, but those of the queue are */
	rp_wait(&rp, 2 * NS_PER_SEC);
	while (rp_take(&rp, &s))
		expect(s.way.dport != c.way.sport);
}
END_TEST

START_TEST(rfc6528_isn_moves_with_the_clock_and_differs_by_connection)
{
	uint32_t isn[64];
	struct rp_conn c;

	/* the same four-tuple a second later: larger by about 250 000 (4 us) or the clock in use */
	for (uint32_t i = 0; i < 64; i++) {
		expect(rp_half_open(&rp, PORT, &(struct rp_syn){ 0 }, &c));
		isn[i] = c.irs;
		rp_seg(&c, &(struct tcp_in){ .flags = FL_RST });
	}
	uint32_t high = 0;

	for (uint32_t i = 0; i < 64; i++)
		for (uint32_t j = 0; j < i; j++) {
			uint32_t diff = isn[i] - isn[j];

			expect(diff != 0);
			high += diff > 1 << 24 && diff < UINT32_MAX - (1 << 24);
		}
	expect(high > 64 * 63 / 2 * 9 / 10); /* neighbours in port space are far apart */
}
END_TEST

START_TEST(rfc6528_isn_of_one_four_tuple_grows)
{
	struct way w = rp_way(7000, PORT);
	struct seen s;
	uint32_t last = 0;

	for (uint32_t i = 0; i < 10; i++) {
		frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_SYN, .seq = 9, .wnd = 100 });
		rp_inject(&rp, &f);
		expect(rp_take(&rp, &s) && (s.flags & FL_SYN));
		if (i)
			expect(s.seq - last > 0 && s.seq - last < UINT32_C(1) << 31);
		last = s.seq;
		frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_RST, .seq = 10 });
		rp_inject(&rp, &f);
		rp_wait(&rp, 10 * NS_PER_MS);
		rp_drop_out(&rp);
	}
}
END_TEST

START_TEST(rfc6056_s3_3_3_ephemeral_ports_are_unpredictable_and_distinct)
{
	struct rp_conn c[50];
	uint32_t steps = 0;

	for (uint32_t i = 0; i < 50; i++) {
		expect(rp_connect_begin(&rp, (uint16_t)(2000 + i / 2), &c[i]));
		expect(c[i].way.dport >= 1024);
		if (i)
			steps += c[i].way.dport == c[i - 1].way.dport + 1;
		for (uint32_t j = 0; j < i; j++)
			expect(c[i].way.dport != c[j].way.dport ||
			       c[i].way.sport != c[j].way.sport);
	}
	expect(steps < 40);
	for (uint32_t i = 0; i < 50; i++)
		ns_sock_abort(rp.stack, c[i].sock);
}
END_TEST

/* RFC 9293 3.9.1.1: an error, and nothing on the wire. */
START_TEST(rfc9293_must_46_no_connection_to_a_group_or_broadcast_address)
{
	static const struct ns_addr group6 = { { 0xff, 2, [15] = 1 } };
	const struct ns_addr to[] = { ns_addr_v4(0xffffffff), ns_addr_v4(0x0a0000ff),
				      ns_addr_v4(0xe0000001), group6 };

	EACH(i, to)
	{
		struct ns_endpoint at = { to[i], 80 };
		ns_sock sock;

		expect(ns_sock_open(rp.stack, &sock) == 0);
		if (!ns_addr_is_v4(&to[i]))
			expect(ns_sock_setopt(rp.stack, sock, NS_SO_V6ONLY, 0) == 0);
		expect(ns_sock_connect(rp.stack, sock, &at, rp.now) == -ENETUNREACH);
		rp_turn(&rp);
		expect_silence();
		ns_sock_close(rp.stack, sock);
	}
}
END_TEST

/* RFC 9293 3.9.1.1: "LISTEN on a port while a connection block with the same local port is in SYN-SENT or SYN-RECEIVED". */
START_TEST(rfc9293_must_42_listening_beside_a_connection_that_opens)
{
	struct ns_endpoint at = { ns_addr_v4(0), 5000 }, to = { ns_addr_v4(RP_PEER), 7 };
	struct rp_conn c, in;
	ns_sock l;
	struct seen s;

	c = (struct rp_conn){ .rp = &rp };
	expect(ns_sock_open(rp.stack, &c.sock) == 0 && ns_sock_open(rp.stack, &l) == 0);
	expect(ns_sock_setopt(rp.stack, c.sock, NS_SO_REUSEADDR, 1) == 0);
	expect(ns_sock_setopt(rp.stack, l, NS_SO_REUSEADDR, 1) == 0);
	expect(ns_sock_bind(rp.stack, c.sock, &at) == 0);
	expect(ns_sock_connect(rp.stack, c.sock, &to, rp.now) == -EINPROGRESS);
	rp_turn(&rp);
	expect(rp_take(&rp, &s) && s.flags == FL_SYN && s.way.sport == 5000);
	expect(ns_sock_bind(rp.stack, l, &at) == 0 && ns_sock_listen(rp.stack, l, 4) == 0);
	/* MUST-41: the one that opens is not touched */
	expect(rp_accepted(&rp, l, 5000, &(struct rp_syn){ 0 }, &in));
	c.way = rp_way(7, 5000);
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){
			  .flags = FL_SYN | FL_ACK, .seq = 1000, .ack = s.seq + 1, .wnd = 65535 });
	rp_inject(&rp, &f);
	expect(rp_event(&rp, c.sock, NS_EV_CONNECTED, NULL));
	rp_drop_out(&rp);
	expect(is_flow_alive(&in));
	ns_sock_abort(rp.stack, in.sock);
	ns_sock_abort(rp.stack, c.sock);
	ns_sock_close(rp.stack, l);
}
END_TEST

/* RFC 5681 3.1, RFC 6928 2: one segment when the handshake was lost; linux tcp_init_transfer(): more than once. */
START_TEST(rfc6928_s2_one_segment_after_a_handshake_that_was_lost)
{
	static uint8_t data[20000];

	for (uint32_t lost = 0; lost <= 2; lost++) {
		struct rp_conn c;
		struct seen s;
		uint32_t cnt = 0;

		expect(rp_half_open(&rp, PORT, &(struct rp_syn){ 0 }, &c));
		for (uint32_t i = 0; i < lost; i++) {
			rp_wait(&rp, (1200 * NS_PER_MS) << i);
			expect(rp_take(&rp, &s) && (s.flags & 0x3f) == (FL_SYN | FL_ACK));
		}
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
		expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
		rp_send(&c, data, sizeof(data));
		while (rp_expect(&c, &s))
			cnt += s.data_len == 1460;
		expect(cnt == (lost < 2 ? 10 : 1));
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

START_TEST(tcp_connect_to_self_port_pair_is_no_trap)
{
	struct ns_endpoint at = { ns_addr_v4(RP_STACK), 9999 };
	ns_sock sock;
	int r;

	expect(ns_sock_open(rp.stack, &sock) == 0);
	expect(ns_sock_bind(rp.stack, sock, &at) == 0);
	r = ns_sock_connect(rp.stack, sock, &at, rp.now);
	expect(r == -EINPROGRESS || r < 0);
	rp_wait(&rp, 100 * NS_PER_MS);
	expect_silence(); /* loop link: nothing of it on the wire */
	ns_sock_abort(rp.stack, sock);
}
END_TEST

START_TEST(tcp_loop_link_carries_a_connection_and_nothing_leaves)
{
	static const uint32_t addrs[] = { 0x7f000001, 0x7f010203, RP_STACK };
	struct ns_iov iov[4];
	ns_sock server;

	for (size_t i = 0; i < 3; i++) {
		struct ns_endpoint to = { ns_addr_v4(addrs[i]), PORT }, from;
		struct rp_conn c = { .rp = &rp };
		char got[8];

		expect(ns_sock_open(rp.stack, &c.sock) == 0);
		expect(ns_sock_connect(rp.stack, c.sock, &to, rp.now) == -EINPROGRESS);
		rp_turn(&rp);
		rp_wait(&rp, 50 * NS_PER_MS);
		expect(rp_event(&rp, c.sock, NS_EV_CONNECTED, NULL));
		expect(ns_sock_accept(rp.stack, listener, &server) == 0);
		expect(ns_sock_local(rp.stack, server, &from) == 0 &&
		       ns_addr_eq(&from.addr, &to.addr));
		expect(rp_send(&c, "inside", 6) == 6);
		rp_wait(&rp, 50 * NS_PER_MS);
		expect(ns_sock_recv_peek(rp.stack, server, iov, 4) == 1 && iov[0].len == 6);
		memcpy(got, iov[0].base, 6);
		expect(!memcmp(got, "inside", 6));
		ns_sock_recv_consume(rp.stack, server, 6);
		ns_sock_close(rp.stack, c.sock);
		rp_turn(&rp);
		rp_wait(&rp, 50 * NS_PER_MS);
		expect(ns_sock_is_eof(rp.stack, server));
		ns_sock_close(rp.stack, server);
		rp_turn(&rp);
		rp_wait(&rp, 50 * NS_PER_MS);
		expect_silence();
	}
}
END_TEST

START_TEST(rfc7323_s5_4_timestamp_clocks_differ_by_connection)
{
	struct rp_conn c;
	uint32_t vals[32], far = 0;

	for (uint32_t i = 0; i < 32; i++) {
		expect(rp_half_open(&rp, PORT, &(struct rp_syn){ .has_ts = true }, &c));
		vals[i] = c.syn.ts_val;
		expect(c.syn.ts_ecr == c.ts_val);
		rp_seg(&c, &(struct tcp_in){ .flags = FL_RST });
		for (uint32_t j = 0; j < i; j++)
			far += vals[i] - vals[j] > 1000000 && vals[j] - vals[i] > 1000000;
	}
	expect(far > 32 * 31 / 2 * 9 / 10);
}
END_TEST

/* linux inet_csk_bind_conflict() over what __inet_inherit_port() left */
START_TEST(linux_accepted_connection_holds_the_port)
{
	struct ns_endpoint at = { ns_addr_v4(0), 81 };
	ns_sock first = rp_listen(&rp, 81, 5), sock;
	struct rp_conn c;

	expect(rp_accepted(&rp, first, 81, &(struct rp_syn){ 0 }, &c));
	ns_sock_close(rp.stack, first);
	rp_turn(&rp);
	expect(ns_sock_open(rp.stack, &sock) == 0);
	expect(ns_sock_bind(rp.stack, sock, &at) == -EADDRINUSE);
	expect(ns_sock_setopt(rp.stack, sock, NS_SO_REUSEADDR, 1) == 0);
	expect(ns_sock_bind(rp.stack, sock, &at) == 0);
	ns_sock_close(rp.stack, sock);
	ns_sock_abort(rp.stack, c.sock);
	rp_turn(&rp);
	expect(ns_sock_open(rp.stack, &sock) == 0);
	expect(ns_sock_bind(rp.stack, sock, &at) == 0); /* nobody has it any more */
	ns_sock_close(rp.stack, sock);
}
END_TEST

/* linux inet_twsk_hashdance(): TIME-WAIT stays among those that have the port */
START_TEST(linux_time_wait_holds_the_port)
{
	struct ns_endpoint at = { ns_addr_v4(0), 81 }, elsewhere = { ns_addr_v4(0x7f000001), 81 };
	ns_sock first = rp_listen(&rp, 81, 5), sock;
	struct rp_conn c;
	struct seen fin;

	expect(rp_accepted(&rp, first, 81, &(struct rp_syn){ 0 }, &c));
	ns_sock_close(rp.stack, first);
	ns_sock_close(rp.stack, c.sock); /* we are the first */
	rp_turn(&rp);
	expect(rp_expect(&c, &fin) && fin.flags & FL_FIN);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_FIN | FL_ACK });
	expect(ns_sock_open(rp.stack, &sock) == 0);
	expect(ns_sock_bind(rp.stack, sock, &at) == -EADDRINUSE);
	expect(ns_sock_bind(rp.stack, sock, &elsewhere) == 0);
	ns_sock_close(rp.stack, sock);
	expect(ns_sock_open(rp.stack, &sock) == 0);
	rp_wait(&rp, 61 * NS_PER_SEC);
	expect(ns_sock_bind(rp.stack, sock, &at) == 0);
	ns_sock_close(rp.stack, sock);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_open");
	TCase *tc = conf_case(s, "open");

	tcase_add_test(tc, rfc9293_s3_5_active_open);
	tcase_add_test(tc, rfc9293_s3_5_passive_open);
	tcase_add_test(tc, rfc9293_s3_5_simultaneous_open);
	tcase_add_test(tc, rfc9293_s3_10_7_1_closed_port_resets);
	tcase_add_test(tc, rfc9293_s3_10_7_2_listen_resets_a_stray_ack);
	tcase_add_test(tc, rfc9293_s3_10_7_4_syn_received_resets_a_bad_ack);
	tcase_add_test(tc, rfc9293_s3_10_7_3_syn_sent_resets_a_bad_ack);
	tcase_add_test(tc, rfc9293_s3_10_7_3_syn_sent_reset_refuses);
	tcase_add_test(tc, rfc9293_s3_10_7_4_reset_in_syn_received_returns_to_listen);
	tcase_add_test(tc, rfc9293_s3_5_3_syn_ack_with_data_or_fin);
	tcase_add_test(tc, rfc9293_s3_10_7_2_data_in_a_syn_is_not_lost);
	tcase_add_test(tc, rfc9293_s3_5_ack_of_the_handshake_may_carry_data_and_fin);
	tcase_add_test(tc, rfc9293_s3_8_1_syn_is_retransmitted_and_given_up);
	tcase_add_test(tc, tcp_syncnt_is_a_time_and_not_a_number_of_syns);
	tcase_add_test(tc, rfc6298_s5_5_backoff_of_syns_doubles_at_once_without_linear_timeouts);
	tcase_add_test(tc, rfc9293_s3_8_1_syn_ack_is_retransmitted);
	tcase_add_test(tc, rfc9293_s3_10_7_4_repeated_syn_gets_the_same_syn_ack);
	tcase_add_test(tc, tcp_accept_queue_full_holds_back_and_drains);
	tcase_add_test(tc, tcp_closing_a_listener_resets_what_nobody_accepted);
	tcase_add_test(tc, rfc4987_s3_6_flood_of_100k_syns_keeps_nobody_out);
	tcase_add_test(tc, rfc4987_s3_6_client_without_timestamps_gets_in_by_a_cookie);
	tcase_add_test(tc, rfc4987_s3_6_what_completes_a_cookie);
	tcase_add_test(tc, rfc6528_isn_moves_with_the_clock_and_differs_by_connection);
	tcase_add_test(tc, rfc6528_isn_of_one_four_tuple_grows);
	tcase_add_test(tc, rfc6056_s3_3_3_ephemeral_ports_are_unpredictable_and_distinct);
	tcase_add_test(tc, rfc9293_must_46_no_connection_to_a_group_or_broadcast_address);
	tcase_add_test(tc, rfc9293_must_42_listening_beside_a_connection_that_opens);
	tcase_add_test(tc, rfc6928_s2_one_segment_after_a_handshake_that_was_lost);
	tcase_add_test(tc, tcp_connect_to_self_port_pair_is_no_trap);
	tcase_add_test(tc, tcp_loop_link_carries_a_connection_and_nothing_leaves);
	tcase_add_test(tc, rfc7323_s5_4_timestamp_clocks_differ_by_connection);
	tcase_add_test(tc, linux_accepted_connection_holds_the_port);
	tcase_add_test(tc, linux_time_wait_holds_the_port);
	return conf_run(s);
}
