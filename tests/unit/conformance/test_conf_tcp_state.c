/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_tcp_state.c - segments that lie, closes and TIME-WAIT: RFC 9293 3.6 and 3.10.7.4, RFC 5961, RFC 1122 4.2.2.13 */
#include "conformance.h"

static struct frame f;

static const char *const synchronised[] = { "ESTABLISHED", "FIN-WAIT-1", "FIN-WAIT-2",
					    "CLOSE-WAIT",  "CLOSING",    "LAST-ACK" };

START_TEST(rfc5961_s3_2_rst_exact_resets_in_every_state)
{
	EACH(i, synchronised)
	{
		struct rp_conn c = conf_in_state(synchronised[i]);

		rp_seg(&c, &(struct tcp_in){ .flags = FL_RST });
		expect_silence();
		expect(!strcmp(state_of(&c), "CLOSED"));
		ns_sock_close(rp.stack, c.sock);
	}
}
END_TEST

/* RFC 9293 3.5.3, 3.8.6 MUST-66: why it came, in words; and with a window that is shut. */
START_TEST(rfc9293_shld_2_a_reset_may_carry_octets)
{
	static uint8_t data[1000];
	struct rp_conn c = accepted();
	struct seen s;
	uint32_t wnd;

	rp_seg(&c, &(struct tcp_in){ .flags = FL_RST, .data = "too busy", .data_len = 8 });
	expect_silence();
	expect(!strcmp(state_of(&c), "CLOSED"));
	ns_sock_close(rp.stack, c.sock);

	expect(ns_sock_setopt(rp.stack, listener, NS_SO_RCVBUF, 8192) == 0);
	c = accepted();
	for (wnd = c.syn.wnd; wnd;) {
		rp_data(&c, data, wnd < 1000 ? wnd : 1000);
		rp_wait(&rp, NS_PER_SEC);
		rp_drop_out(&rp);
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .seq = UINT32_MAX });
		expect(rp_expect(&c, &s));
		wnd = s.wnd;
	}
	rp_seg(&c, &(struct tcp_in){ .flags = FL_RST });
	expect(!strcmp(state_of(&c), "CLOSED"));
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5961_s3_2_rst_in_window_challenge_ack)
{
	static const uint32_t offs[] = { 1, 2, 1000, 20000 };
	struct seen s;

	EACH(i, synchronised)
	{
		struct rp_conn c = conf_in_state(synchronised[i]);

		EACH(j, offs)
		{
			rp_wait(&rp, NS_PER_SEC + NS_PER_MS); /* challenge ACKs are rationed */
			rp_drop_out(&rp);
			rp_seg(&c, &(struct tcp_in){ .flags = FL_RST, .seq = offs[j] });
			expect(expect_tcp(&c, FL_ACK, &s));
			expect(s.ack == c.snd);
			expect(!strcmp(state_of(&c), synchronised[i]));
		}
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

START_TEST(rfc5961_s3_2_rst_outside_window_is_dropped)
{
	static const uint32_t offs[] = { UINT32_MAX, UINT32_MAX - 1000, 100000000, 0x7fffffff,
					 0x80000001 };

	EACH(i, synchronised)
	{
		struct rp_conn c = conf_in_state(synchronised[i]);

		EACH(j, offs)
		{
			rp_seg(&c, &(struct tcp_in){ .flags = FL_RST, .seq = offs[j] });
			expect_silence();
			expect(!strcmp(state_of(&c), synchronised[i]));
		}
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
	expect(moved("TCP_RST") + moved("TCP_SEQ") + moved("TCP_DUPLICATE") >= 5);
}
END_TEST

START_TEST(rfc5961_s4_2_syn_in_synchronised_state_challenge_ack)
{
	static const uint32_t offs[] = { 0, UINT32_MAX, 1, 5000, 0x40000000, 0xc0000000 };
	struct seen s;

	EACH(i, synchronised)
	{
		struct rp_conn c = conf_in_state(synchronised[i]);

		EACH(j, offs)
		{
			rp_wait(&rp, NS_PER_SEC + NS_PER_MS);
			rp_drop_out(&rp);
			rp_seg(&c, &(struct tcp_in){ .flags = FL_SYN, .seq = offs[j] });
			expect(expect_tcp(&c, FL_ACK, &s));
			expect(s.ack == c.snd);
			expect(!strcmp(state_of(&c), synchronised[i]));
		}
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

START_TEST(rfc5961_s7_challenge_acks_are_rationed)
{
	struct rp_conn c = accepted();
	uint32_t cnt = 0;

	for (int i = 0; i < 2000; i++) {
		rp_seg(&c, &(struct tcp_in){ .flags = FL_SYN });
		rp_seg(&c, &(struct tcp_in){ .flags = FL_RST, .seq = 5 });
	}
	cnt = rp.out_cnt;
	expect(cnt >= 1 && cnt <= 200);
	rp_drop_out(&rp);
	rp_wait(&rp, 2 * NS_PER_SEC);
	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5961_s5_2_ack_outside_the_range_is_not_accepted)
{
	/* beyond SND.NXT; far before SND.UNA */
	static const uint32_t acks[] = { 1, 1000, 0x7fffffff, UINT32_MAX - 2000000, 0x80000000 };
	char got[8];

	EACH(i, synchronised)
	{
		struct rp_conn c = conf_in_state(synchronised[i]);
		bool takes_data = !strncmp(synchronised[i], "EST", 3);

		EACH(j, acks)
		{
			rp_wait(&rp, NS_PER_SEC + NS_PER_MS);
			rp_drop_out(&rp);
			rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK,
						     .ack = acks[j],
						     .data = "x",
						     .data_len = 1 });
			expect(!strcmp(state_of(&c), synchronised[i]));
			if (takes_data)
				expect(rp_recv(&c, got, 1) == 0); /* blind data injection */
		}
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
	expect(moved("TCP_ACK") >= 1);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_segment_outside_the_window_gets_an_ack)
{
	struct rp_conn c = accepted();
	struct seen s;

	/* one octet before, all before, right behind the window, far away */
	static const uint32_t offs[] = { UINT32_MAX, UINT32_MAX - 5000, 8 * 1024 * 1024,
					 0x40000000 };

	EACH(i, offs)
	{
		rp_wait(&rp, NS_PER_SEC);
		rp_drop_out(&rp);
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_PSH,
					     .seq = offs[i],
					     .data = "x",
					     .data_len = 1 });
		expect(expect_tcp(&c, FL_ACK, &s));
		expect(s.seq == c.rcv && s.ack == c.snd && !s.data_len);
		expect_silence();
	}
	expect(is_flow_alive(&c));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_no_dialogue_of_acks_between_two_stacks)
{
	struct rp_conn c = accepted();

	/* a segment without data at the right place is never answered, so two stacks cannot ping-pong */
	for (int i = 0; i < 10; i++)
		rp_ack(&c);
	expect_silence();
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .ack = UINT32_MAX }); /* old ACK */
	expect_silence();
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_6_active_close)
{
	struct rp_conn c = accepted();
	struct seen s;

	ns_sock_close(rp.stack, c.sock);
	rp_turn(&rp);
	expect(expect_tcp(&c, FL_FIN | FL_ACK, &s));
	expect(!strcmp(state_of(&c), "FIN-WAIT-1"));
	rp_ack(&c);
	expect(!strcmp(state_of(&c), "FIN-WAIT-2"));
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN });
	c.snd++;
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd);
	expect(!strcmp(state_of(&c), "TIME-WAIT"));
}
END_TEST

START_TEST(rfc9293_s3_6_passive_close)
{
	struct rp_conn c = accepted();
	struct seen s;

	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN });
	c.snd++;
	expect(rp_event(&rp, c.sock, NS_EV_EOF, NULL) || ns_sock_is_eof(rp.stack, c.sock));
	rp_wait(&rp, 300 * NS_PER_MS);
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd);
	expect(!strcmp(state_of(&c), "CLOSE-WAIT"));
	ns_sock_close(rp.stack, c.sock);
	rp_turn(&rp);
	expect(expect_tcp(&c, FL_FIN | FL_ACK, &s));
	expect(!strcmp(state_of(&c), "LAST-ACK"));
	rp_ack(&c);
	expect(!strcmp(state_of(&c), "CLOSED"));
	expect_silence();
}
END_TEST

START_TEST(rfc9293_s3_6_simultaneous_close)
{
	struct rp_conn c = accepted();
	struct seen s;

	ns_sock_close(rp.stack, c.sock);
	rp_turn(&rp);
	expect(expect_tcp(&c, FL_FIN | FL_ACK, &s));
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN, .ack = UINT32_MAX });
	c.snd++;
	expect(!strcmp(state_of(&c), "CLOSING"));
	expect(expect_tcp(&c, FL_ACK, &s) || (s.flags & FL_FIN));
	rp_ack(&c);
	expect(!strcmp(state_of(&c), "TIME-WAIT"));
}
END_TEST

START_TEST(rfc9293_s3_6_fin_that_acknowledges_ours_enters_time_wait)
{
	struct rp_conn c = conf_in_state("FIN-WAIT-1");
	struct seen s;

	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN });
	c.snd++;
	expect(expect_tcp(&c, FL_ACK, &s) && s.ack == c.snd);
	expect(!strcmp(state_of(&c), "TIME-WAIT"));
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_6_half_close_still_receives)
{
	struct rp_conn c = conf_in_state("FIN-WAIT-2");
	char got[16];

	rp_data(&c, "after", 5);
	expect(rp_recv(&c, got, sizeof(got)) == 5 && !memcmp(got, "after", 5));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_6_half_close_by_the_peer_still_sends)
{
	struct rp_conn c = conf_in_state("CLOSE-WAIT");
	struct seen s;

	expect(rp_send(&c, "after", 5) == 5);
	expect(rp_expect(&c, &s) && s.data_len == 5 && !memcmp(s.data, "after", 5));
	rp_ack(&c);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* RFC 9293 3.10.2 SEND: "connection closing" once the program has closed its side; EPIPE here, and SIGPIPE of the daemon's. */
START_TEST(rfc9293_s3_10_2_sending_after_shutdown_is_refused)
{
	static const char *const states[] = { "FIN-WAIT-1", "FIN-WAIT-2", "CLOSING", "LAST-ACK" };

	EACH(i, states)
	{
		struct rp_conn c = conf_in_state(states[i]);
		struct ns_iov iov;

		expect(ns_sock_send_room(rp.stack, c.sock) == 0);
		expect(ns_sock_send_reserve(rp.stack, c.sock, 1, &iov, 1) == -EPIPE);
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

START_TEST(rfc9293_s3_8_1_fin_is_retransmitted)
{
	static const char *const states[] = { "FIN-WAIT-1", "CLOSING", "LAST-ACK" };
	struct seen s;

	EACH(i, states)
	{
		struct rp_conn c = conf_in_state(states[i]);
		uint32_t cnt = 0;

		for (int k = 0; k < 50; k++) {
			rp_wait(&rp, 100 * NS_PER_MS);
			while (rp_take(&rp, &s))
				cnt += s.way.dport == c.way.sport && (s.flags & FL_FIN) &&
				       s.seq == c.rcv - 1;
		}
		expect(cnt >= 2);
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_time_wait_acknowledges_a_repeated_fin)
{
	struct rp_conn c = conf_in_state("TIME-WAIT");
	struct seen s;

	ns_sock_close(rp.stack, c.sock);
	rp_wait(&rp, 10 * NS_PER_SEC);
	rp_drop_out(&rp);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN, .seq = UINT32_MAX });
	expect(rp_expect(&c, &s) && (s.flags & 0x3f) == FL_ACK);
	expect(s.seq == c.rcv && s.ack == c.snd);
}
END_TEST

START_TEST(rfc9293_must_13_time_wait_ends_after_60_s)
{
	struct rp_conn c = conf_in_state("TIME-WAIT");

	ns_sock_close(rp.stack, c.sock);
	rp_wait(&rp, 50 * NS_PER_SEC);
	expect(!strcmp(state_of(&c), "TIME-WAIT"));
	rp_wait(&rp, 15 * NS_PER_SEC);
	expect(!strcmp(state_of(&c), "CLOSED"));
}
END_TEST

START_TEST(rfc1337_rst_in_time_wait)
{
	struct rp_conn c = conf_in_state("TIME-WAIT");

	/* as Linux with tcp_rfc1337 off: an exact RST ends it; one that is elsewhere does not */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_RST, .seq = 100000000 });
	expect(!strcmp(state_of(&c), "TIME-WAIT"));
	rp_seg(&c, &(struct tcp_in){ .flags = FL_RST });
	expect_silence();
	expect(!strcmp(state_of(&c), "CLOSED"));
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_6_1_new_syn_reopens_time_wait)
{
	struct rp_conn c = conf_in_state("TIME-WAIT");
	struct seen s;

	ns_sock_close(rp.stack, c.sock);
	rp_wait(&rp, 5 * NS_PER_SEC);
	rp_drop_out(&rp);
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_SYN, .seq = c.snd + 100000, .wnd = 65535 });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == (FL_SYN | FL_ACK));
	expect(s.ack == c.snd + 100001);
	expect(s.seq - c.rcv < UINT32_C(1) << 31); /* beyond all that the old incarnation used */
}
END_TEST

START_TEST(tcp_old_syn_does_not_reopen_time_wait)
{
	struct rp_conn c = conf_in_state("TIME-WAIT");
	struct seen s;

	ns_sock_close(rp.stack, c.sock);
	rp_wait(&rp, 5 * NS_PER_SEC);
	rp_drop_out(&rp);
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_SYN, .seq = c.iss - 5000, .wnd = 65535 });
	rp_inject(&rp, &f);
	while (rp_take(&rp, &s))
		expect(!(s.flags & FL_SYN));
	expect(!strcmp(state_of(&c), "TIME-WAIT"));
}
END_TEST

START_TEST(tcp_fin_wait_2_without_a_program_times_out)
{
	struct rp_conn c = accepted();
	struct seen s;

	ns_sock_close(rp.stack, c.sock);
	rp_turn(&rp);
	expect(expect_tcp(&c, FL_FIN | FL_ACK, &s));
	rp_ack(&c);
	/* the peer may ask for a quarter of a minute and longer */
	for (int i = 0; i < 59; i++) {
		rp_wait(&rp, NS_PER_SEC);
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
		expect_silence();
		expect(!strcmp(state_of(&c), "FIN-WAIT-2"));
	}
	rp_wait(&rp, 61 * NS_PER_SEC);
	expect_silence();
	expect(!strcmp(state_of(&c), "CLOSED"));
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST);
}
END_TEST

START_TEST(tcp_linger2_shortens_fin_wait_2)
{
	struct rp_conn c = accepted();
	struct seen s;

	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_LINGER2, 1) == 0);
	ns_sock_close(rp.stack, c.sock);
	rp_turn(&rp);
	expect(expect_tcp(&c, FL_FIN | FL_ACK, &s));
	rp_ack(&c);
	rp_wait(&rp, 900 * NS_PER_MS);
	expect(!strcmp(state_of(&c), "FIN-WAIT-2"));
	rp_wait(&rp, 200 * NS_PER_MS);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST && s.seq == c.rcv);
}
END_TEST

START_TEST(rfc1122_s4_2_2_13_close_with_unread_data_resets)
{
	struct rp_conn c = accepted();
	struct seen s;

	rp_data(&c, "unread", 6);
	rp_wait(&rp, 300 * NS_PER_MS);
	rp_drop_out(&rp);
	ns_sock_close(rp.stack, c.sock);
	rp_turn(&rp);
	expect(rp_take(&rp, &s) && (s.flags & FL_RST) && s.seq == c.rcv);
	expect(!strcmp(state_of(&c), "CLOSED"));
}
END_TEST

START_TEST(rfc1122_s4_2_2_13_data_after_close_resets)
{
	struct rp_conn c = accepted();
	struct seen s;

	ns_sock_close(rp.stack, c.sock);
	rp_turn(&rp);
	expect(expect_tcp(&c, FL_FIN | FL_ACK, &s));
	rp_ack(&c);
	rp_drop_out(&rp);
	rp_data(&c, "too late", 8);
	expect(rp_take(&rp, &s) && (s.flags & FL_RST));
	expect(moved("TCP_CLOSED_DATA") == 1);
	expect(!strcmp(state_of(&c), "CLOSED"));
}
END_TEST

START_TEST(tcp_linger_0_resets)
{
	struct rp_conn c = accepted();
	struct seen s;

	expect(ns_sock_setopt(rp.stack, c.sock, NS_SO_LINGER, 0) == 0);
	rp_send(&c, "pending", 7);
	rp_drop_out(&rp);
	ns_sock_close(rp.stack, c.sock);
	rp_turn(&rp);
	expect(rp_take(&rp, &s) && (s.flags & FL_RST) && (s.flags & FL_ACK));
	expect(!strcmp(state_of(&c), "CLOSED"));
}
END_TEST

START_TEST(rfc9293_s3_10_5_abort_resets)
{
	static const char *const states[] = { "ESTABLISHED", "FIN-WAIT-1", "FIN-WAIT-2",
					      "CLOSE-WAIT" };
	struct seen s;

	EACH(i, states)
	{
		struct rp_conn c = conf_in_state(states[i]);

		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		expect(rp_take(&rp, &s) && (s.flags & FL_RST));
		expect(s.seq == c.rcv);
		expect(!strcmp(state_of(&c), "CLOSED"));
	}
}
END_TEST

START_TEST(tcp_reset_reports_to_the_program_after_its_data)
{
	struct rp_conn c = accepted();
	int err = 0;

	rp_seg(&c, &(struct tcp_in){ .flags = FL_RST });
	rp_turn(&rp);
	expect(rp_event(&rp, c.sock, NS_EV_ERR, &err) && err == -ECONNRESET);
	expect(moved("TCP_CONN_RESETS") == 1);
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_fin_after_a_gap_waits_for_it)
{
	struct rp_conn c = accepted();
	char got[16];

	rp_seg(&c, &(struct tcp_in){
			   .flags = FL_ACK | FL_FIN, .seq = 3, .data = "def", .data_len = 3 });
	expect(!ns_sock_is_eof(rp.stack, c.sock));
	expect(!strcmp(state_of(&c), "ESTABLISHED"));
	rp_data(&c, "abc", 3);
	expect(rp_recv(&c, got, sizeof(got)) == 6 && !memcmp(got, "abcdef", 6));
	expect(ns_sock_is_eof(rp.stack, c.sock));
	expect(!strcmp(state_of(&c), "CLOSE-WAIT"));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_data_beyond_the_fin_is_dropped)
{
	struct rp_conn c = accepted();
	char got[16];

	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN, .data = "end", .data_len = 3 });
	rp_drop_out(&rp);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .seq = 4, .data = "more", .data_len = 4 });
	expect(rp_recv(&c, got, sizeof(got)) == 3);
	expect(ns_sock_is_eof(rp.stack, c.sock));
	expect(moved("TCP_AFTER_FIN") + moved("TCP_SEQ") == 1);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_segment_without_ack_is_dropped)
{
	char got[8];

	EACH(i, synchronised)
	{
		struct rp_conn c = conf_in_state(synchronised[i]);

		rp_seg(&c, &(struct tcp_in){ .flags = FL_PSH, .data = "x", .data_len = 1 });
		if (!strcmp(synchronised[i], "ESTABLISHED"))
			expect(rp_recv(&c, got, 1) == 0);
		expect(!strcmp(state_of(&c), synchronised[i]));
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
	expect(moved("TCP_NO_ACK") >= 1);
}
END_TEST

START_TEST(tcp_unacceptable_segment_in_closing_states_keeps_the_state)
{
	static const char *const states[] = { "CLOSING", "LAST-ACK", "FIN-WAIT-1", "FIN-WAIT-2" };

	EACH(i, states)
	{
		struct rp_conn c = conf_in_state(states[i]);

		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK,
					     .ack = conf_acked(states[i]),
					     .seq = 100000000,
					     .data = "x",
					     .data_len = 1 });
		rp_drop_out(&rp);
		expect(!strcmp(state_of(&c), states[i]));
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

START_TEST(tcp_second_segment_outside_the_window_is_rationed)
{
	struct rp_conn c = accepted();

	/* linux tcp_invalid_ratelimit: half a second, for segments without data, which may be a loop of ACKs */
	for (int i = 0; i < 5; i++) {
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .seq = 0x40000000 });
		rp_wait(&rp, 10 * NS_PER_MS);
	}
	expect(rp.out_cnt == 1);
	rp_wait(&rp, 600 * NS_PER_MS);
	rp_drop_out(&rp);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .seq = 0x40000000 });
	expect(rp.out_cnt == 1);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_reset_after_simultaneous_open)
{
	struct rp_conn c;
	struct seen s;
	int err = 0;

	expect(rp_connect_begin(&rp, 2000, &c));
	frame_tcp(&f, &c.way, &(struct tcp_in){ .flags = FL_SYN, .seq = c.iss, .wnd = 65535 });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == (FL_SYN | FL_ACK));
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_RST | FL_ACK, .seq = c.iss + 1, .ack = c.irs + 1 });
	rp_inject(&rp, &f);
	expect_silence();
	expect(!strcmp(state_of(&c), "CLOSED"));
	expect(rp_event(&rp, c.sock, NS_EV_ERR, &err) && err == -ECONNREFUSED);
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_segment_after_a_failed_connect_is_reset)
{
	struct rp_conn c;
	struct seen s;

	expect(rp_connect_begin(&rp, 2000, &c));
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_RST | FL_ACK, .seq = 0, .ack = c.irs + 1 });
	rp_inject(&rp, &f);
	expect(rp_event(&rp, c.sock, NS_EV_ERR, NULL));
	ns_sock_close(rp.stack, c.sock);
	frame_tcp(&f, &c.way,
		  &(struct tcp_in){ .flags = FL_ACK, .seq = 1, .ack = c.irs + 1, .wnd = 9 });
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST && s.seq == c.irs + 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_state");
	TCase *tc = conf_case(s, "blind attacks");

	tcase_add_test(tc, rfc5961_s3_2_rst_exact_resets_in_every_state);
	tcase_add_test(tc, rfc9293_shld_2_a_reset_may_carry_octets);
	tcase_add_test(tc, rfc5961_s3_2_rst_in_window_challenge_ack);
	tcase_add_test(tc, rfc5961_s3_2_rst_outside_window_is_dropped);
	tcase_add_test(tc, rfc5961_s4_2_syn_in_synchronised_state_challenge_ack);
	tcase_add_test(tc, rfc5961_s7_challenge_acks_are_rationed);
	tcase_add_test(tc, rfc5961_s5_2_ack_outside_the_range_is_not_accepted);
	tcase_add_test(tc, rfc9293_s3_10_7_4_segment_outside_the_window_gets_an_ack);
	tcase_add_test(tc, tcp_no_dialogue_of_acks_between_two_stacks);
	tcase_add_test(tc, rfc9293_s3_10_7_4_segment_without_ack_is_dropped);
	tcase_add_test(tc, tcp_unacceptable_segment_in_closing_states_keeps_the_state);
	tcase_add_test(tc, tcp_second_segment_outside_the_window_is_rationed);
	tcase_add_test(tc, rfc9293_s3_10_7_4_reset_after_simultaneous_open);
	tcase_add_test(tc, tcp_segment_after_a_failed_connect_is_reset);

	tc = conf_case(s, "close");
	tcase_add_test(tc, rfc9293_s3_6_active_close);
	tcase_add_test(tc, rfc9293_s3_6_passive_close);
	tcase_add_test(tc, rfc9293_s3_6_simultaneous_close);
	tcase_add_test(tc, rfc9293_s3_6_fin_that_acknowledges_ours_enters_time_wait);
	tcase_add_test(tc, rfc9293_s3_6_half_close_still_receives);
	tcase_add_test(tc, rfc9293_s3_6_half_close_by_the_peer_still_sends);
	tcase_add_test(tc, rfc9293_s3_10_2_sending_after_shutdown_is_refused);
	tcase_add_test(tc, rfc9293_s3_8_1_fin_is_retransmitted);
	tcase_add_test(tc, rfc9293_s3_10_7_4_time_wait_acknowledges_a_repeated_fin);
	tcase_add_test(tc, rfc9293_must_13_time_wait_ends_after_60_s);
	tcase_add_test(tc, rfc1337_rst_in_time_wait);
	tcase_add_test(tc, rfc9293_s3_6_1_new_syn_reopens_time_wait);
	tcase_add_test(tc, tcp_old_syn_does_not_reopen_time_wait);
	tcase_add_test(tc, tcp_fin_wait_2_without_a_program_times_out);
	tcase_add_test(tc, tcp_linger2_shortens_fin_wait_2);
	tcase_add_test(tc, rfc1122_s4_2_2_13_close_with_unread_data_resets);
	tcase_add_test(tc, rfc1122_s4_2_2_13_data_after_close_resets);
	tcase_add_test(tc, tcp_linger_0_resets);
	tcase_add_test(tc, rfc9293_s3_10_5_abort_resets);
	tcase_add_test(tc, tcp_reset_reports_to_the_program_after_its_data);
	tcase_add_test(tc, rfc9293_s3_10_7_4_fin_after_a_gap_waits_for_it);
	tcase_add_test(tc, rfc9293_s3_10_7_4_data_beyond_the_fin_is_dropped);
	return conf_run(s);
}
