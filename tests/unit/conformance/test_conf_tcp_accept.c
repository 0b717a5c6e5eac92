/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_conf_tcp_accept.c - which segment is acceptable in which state, and what it is answered with
 *
 * RFC 9293 3.10.7.4 first and fifth, RFC 5961 4 and 5, as tables: state, place, kind of segment, answer.
 */
#include "conformance.h"

static uint8_t data[65536], got[65536];

enum {
	RATION_NS = 500000000, /* linux tcp_invalid_ratelimit */
};

/* Time enough for answers that are rationed; what the stack repeats meanwhile is forgotten. */
static void pass_ration(void)
{
	rp_wait(&rp, RATION_NS + NS_PER_MS);
	rp_drop_out(&rp);
}

/* What came out for @c: one bare acknowledgement with SND.NXT and RCV.NXT, or nothing (false). */
static bool is_answered(struct rp_conn *c)
{
	struct seen s;

	if (!rp.out_cnt)
		return false;
	expect(expect_tcp(c, FL_ACK, &s));
	expect(s.seq == c->rcv && s.ack == c->snd && s.data_len == 0);
	expect_silence();
	return true;
}

/* --- the right edge ---------------------------------------------------------------------------- */

/*
 * gVisor's matrix. RFC 9293 3.10.7.4 has an empty segment at RCV.NXT + RCV.WND outside; linux tcp_sequence() lets it
 * pass (its ACK may be news), and so do we: nothing is answered there.
 */
static const struct {
	const char *what;
	uint8_t flags;
	uint8_t len;
	bool answered[3]; /* at the edge, one and two octets beyond it */
} edge_rows[] = {
	{ "SYN", FL_SYN, 0, { true, true, true } },
	{ "SYN-ACK", FL_SYN | FL_ACK, 0, { true, true, true } },
	{ "ACK", FL_ACK, 0, { false, true, true } },
	{ "FIN without ACK", FL_FIN, 0, { false, false, false } },
	{ "octets", FL_ACK | FL_PSH, 11, { true, true, true } },
};

START_TEST(rfc9293_s3_10_7_4_right_edge_of_the_window_by_kind_of_segment)
{
	static const char *const states[] = { "ESTABLISHED", "CLOSING" };
	const char *state = states[_i];
	struct rp_conn c = conf_in_state(state);
	uint32_t edge = c.iss + 1 + c.syn.wnd;

	EACH(i, edge_rows)
	{
		for (uint32_t beyond = 0; beyond < 3; beyond++) {
			struct tcp_in in = { .flags = edge_rows[i].flags,
					     .seq = edge + beyond - c.snd,
					     .ack = conf_acked(state),
					     .data = "Sample Data",
					     .data_len = edge_rows[i].len };

			pass_ration();
			rp_seg(&c, &in);
			expect(is_answered(&c) == edge_rows[i].answered[beyond]);
			/* at once again: what could be a loop of two is rationed, octets are not (linux) */
			rp_seg(&c, &in);
			expect(is_answered(&c) ==
			       (edge_rows[i].answered[beyond] && edge_rows[i].len));
			rp_wait(&rp, RATION_NS - 100 * NS_PER_MS);
			rp_drop_out(&rp);
			rp_seg(&c, &in);
			expect(is_answered(&c) ==
			       (edge_rows[i].answered[beyond] && edge_rows[i].len));
			expect(!strcmp(state_of(&c), state));
		}
	}
	expect(rp_recv(&c, got, sizeof(got)) == 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* --- the four cases ---------------------------------------------------------------------------- */

enum verdict { TAKEN, ANSWERED, DUPLICATE_ACK };

struct place {
	int32_t at; /* from RCV.NXT; with is_edge from RCV.NXT + RCV.WND */
	bool is_edge;
	uint8_t len;
	enum verdict verdict;
};

static void try_places(struct rp_conn *c, uint32_t wnd, const struct place *p, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		uint64_t died = drops();

		pass_ration();
		rp_seg(c, &(struct tcp_in){ .flags = FL_ACK,
					    .seq = (uint32_t)p[i].at + (p[i].is_edge ? wnd : 0),
					    .data = data,
					    .data_len = p[i].len });
		expect(is_answered(c) == (p[i].verdict != TAKEN));
		expect(drops() == died + (p[i].verdict == ANSWERED));
	}
}

START_TEST(rfc9293_s3_10_7_4_four_cases_of_length_and_window)
{
	static const struct place open[] = {
		{ 0, false, 0, TAKEN },         { -1, false, 0, ANSWERED },
		{ -1, true, 0, TAKEN },         { 1, true, 0, ANSWERED },
		{ -1, false, 1, ANSWERED },     { -5, false, 5, ANSWERED },
		{ 0, true, 1, ANSWERED },       { 7, true, 3, ANSWERED },
		{ -1, true, 1, DUPLICATE_ACK }, /* the last octet of the window, beyond a hole */
	};
	static const struct place shut[] = {
		{ 0, false, 0, TAKEN },    { 1, false, 0, ANSWERED },   { -1, false, 0, ANSWERED },
		{ 0, false, 1, ANSWERED }, { 0, false, 100, ANSWERED }, { -1, false, 1, ANSWERED },
		{ 1, false, 1, ANSWERED },
	};
	struct rp_conn c = accepted();
	uint32_t wnd = c.syn.wnd;
	struct seen s;

	rp_data(&c, data, 100);
	expect(rp_recv(&c, got, sizeof(got)) == 100);
	pass_ration();
	try_places(&c, wnd - 100, open, NS_ARRAY_LEN(open));
	ns_sock_abort(rp.stack, c.sock);
	rp_turn(&rp);

	expect(ns_sock_setopt(rp.stack, listener, NS_SO_RCVBUF, 8192) == 0);
	c = accepted();
	for (wnd = c.syn.wnd; wnd;) {
		rp_data(&c, data, wnd < 1000 ? wnd : 1000);
		pass_ration();
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .seq = UINT32_MAX });
		expect(rp_expect(&c, &s));
		wnd = s.wnd;
	}
	try_places(&c, 0, shut, NS_ARRAY_LEN(shut));
	/* nothing of all that was kept */
	for (uint32_t n; (n = rp_recv(&c, got, sizeof(got)));)
		wnd += n;
	expect(wnd == c.snd - c.iss - 1);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* --- wrong numbers in every state --------------------------------------------------------------- */

static const char *const synchronised[] = { "ESTABLISHED", "FIN-WAIT-1", "FIN-WAIT-2",
					    "CLOSE-WAIT",  "CLOSING",    "LAST-ACK" };

/* Octets of the peer are taken in these; in CLOSE-WAIT ours still leave, the rest only ends. */
static void goes_on(struct rp_conn *c, const char *state)
{
	struct seen s;

	rp_drop_out(&rp);
	if (!strcmp(state, "CLOSE-WAIT")) {
		expect(rp_send(c, "after all", 9) == 9);
		expect(rp_expect(c, &s) && s.data_len == 9 && !memcmp(s.data, "after all", 9));
		rp_ack(c);
	} else if (!strcmp(state, "CLOSING") || !strcmp(state, "LAST-ACK")) {
		rp_ack(c);
		expect(!strcmp(state_of(c), !strcmp(state, "CLOSING") ? "TIME-WAIT" : "CLOSED"));
	} else {
		rp_seg(c, &(struct tcp_in){ .flags = FL_ACK | FL_PSH,
					    .ack = conf_acked(state),
					    .data = "after all",
					    .data_len = 9 });
		c->snd += 9;
		expect(rp_recv(c, got, sizeof(got)) == 9 && !memcmp(got, "after all", 9));
	}
}

START_TEST(rfc9293_s3_10_7_4_wrong_sequence_is_answered_and_changes_nothing)
{
	static const uint32_t offs[] = { 1000000, 0x40000000, UINT32_MAX - 70000, 0x80000000 };
	const char *state = synchronised[_i];
	struct rp_conn c = conf_in_state(state);

	EACH(i, offs)
	{
		pass_ration();
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_PSH,
					     .seq = offs[i],
					     .ack = conf_acked(state),
					     .data = "wrong",
					     .data_len = 5 });
		expect(is_answered(&c));
		expect(!strcmp(state_of(&c), state));
	}
	pass_ration();
	goes_on(&c, state);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* RFC 5961 5.2: beyond SND.NXT, and older than the largest window: a challenge. */
START_TEST(rfc5961_s5_2_wrong_acknowledgement_is_challenged_and_changes_nothing)
{
	static const uint32_t acks[] = { 1, 1000, 0x7fffffff, UINT32_MAX - 70000, 0x80000001 };
	const char *state = synchronised[_i];
	struct rp_conn c = conf_in_state(state);

	EACH(i, acks)
	{
		uint64_t was = moved("TCP_CHALLENGE_ACKS");

		rp_wait(&rp, NS_PER_SEC);
		rp_drop_out(&rp);
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_PSH,
					     .ack = acks[i],
					     .data = "wrong",
					     .data_len = 5 });
		expect(is_answered(&c));
		expect(moved("TCP_CHALLENGE_ACKS") == was + 1);
		expect(!strcmp(state_of(&c), state));
	}
	pass_ration();
	goes_on(&c, state);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* --- the time a program gives its peer ---------------------------------------------------------- */

/* gVisor's table: the option, when the peer answers, whether it is alive then; after octets and after a FIN. */
static const struct {
	int timeout_ms;
	uint32_t answer_ms;
	bool is_reset;
} patience_rows[] = {
	{ 0, 3000, false },
	{ 5000, 4000, false },
	{ 5000, 7000, true },
};

START_TEST(rfc5482_answer_within_the_user_timeout_keeps_the_connection)
{
	for (int has_fin = 0; has_fin < 2; has_fin++) {
		struct rp_conn c = accepted();
		struct seen s;

		if (patience_rows[_i].timeout_ms)
			expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_USER_TIMEOUT,
					      patience_rows[_i].timeout_ms) == 0);
		if (has_fin)
			ns_sock_close(rp.stack, c.sock);
		else
			rp_send(&c, "Sample Data", 11);
		rp_turn(&rp);
		expect(rp_expect(&c, &s) && s.data_len == (has_fin ? 0 : 11));
		rp_wait(&rp, patience_rows[_i].answer_ms * NS_PER_MS);
		rp_drop_out(&rp);
		rp_ack(&c);
		if (!patience_rows[_i].is_reset) {
			rp_wait(&rp, 5 * NS_PER_SEC);
			expect_silence();
			expect(!strcmp(state_of(&c), has_fin ? "FIN-WAIT-2" : "ESTABLISHED"));
		} else {
			expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST && s.seq == c.rcv);
			expect(!strcmp(state_of(&c), "CLOSED"));
		}
		if (!has_fin)
			ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_accept");
	TCase *tc = conf_case(s, "acceptable");

	tcase_add_loop_test(tc, rfc9293_s3_10_7_4_right_edge_of_the_window_by_kind_of_segment, 0,
			    2);
	tcase_add_test(tc, rfc9293_s3_10_7_4_four_cases_of_length_and_window);
	tcase_add_loop_test(tc, rfc9293_s3_10_7_4_wrong_sequence_is_answered_and_changes_nothing, 0,
			    NS_ARRAY_LEN(synchronised));
	tcase_add_loop_test(tc,
			    rfc5961_s5_2_wrong_acknowledgement_is_challenged_and_changes_nothing, 0,
			    NS_ARRAY_LEN(synchronised));
	tcase_add_loop_test(tc, rfc5482_answer_within_the_user_timeout_keeps_the_connection, 0,
			    NS_ARRAY_LEN(patience_rows));
	return conf_run(s);
}
