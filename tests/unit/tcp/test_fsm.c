/* SPDX-License-Identifier: Apache-2.0 */
/* test_fsm.c - tcp_fsm.c: figure 5 of RFC 9293, and that every state is reached */
#include <string.h>

#include "rig.h"
#include "suites.h"

START_TEST(rfc9293_s3_3_2_figure_5_arrows_are_legal)
{
	static const enum tcp_state arrows[][2] = {
		{ TCP_CLOSED, TCP_LISTEN },          { TCP_CLOSED, TCP_SYN_SENT },
		{ TCP_SYN_SENT, TCP_SYN_RCVD },      { TCP_SYN_SENT, TCP_ESTABLISHED },
		{ TCP_SYN_SENT, TCP_CLOSED },        { TCP_SYN_RCVD, TCP_ESTABLISHED },
		{ TCP_SYN_RCVD, TCP_FIN_WAIT_1 },    { TCP_ESTABLISHED, TCP_FIN_WAIT_1 },
		{ TCP_ESTABLISHED, TCP_CLOSE_WAIT }, { TCP_FIN_WAIT_1, TCP_FIN_WAIT_2 },
		{ TCP_FIN_WAIT_1, TCP_CLOSING },     { TCP_FIN_WAIT_2, TCP_TIME_WAIT },
		{ TCP_CLOSING, TCP_TIME_WAIT },      { TCP_CLOSE_WAIT, TCP_LAST_ACK },
		{ TCP_LAST_ACK, TCP_CLOSED },        { TCP_TIME_WAIT, TCP_CLOSED },
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(arrows); i++)
		ck_assert_msg(tcp_state_is_legal(arrows[i][0], arrows[i][1]), "%s to %s",
			      tcp_state_name(arrows[i][0]), tcp_state_name(arrows[i][1]));
}
END_TEST

START_TEST(rfc9293_s3_3_2_nothing_else_is)
{
	uint32_t legal = 0;

	for (int from = 0; from < TCP_STATE_COUNT; from++) {
		for (int to = 0; to < TCP_STATE_COUNT; to++)
			legal += tcp_state_is_legal((enum tcp_state)from, (enum tcp_state)to);
		ck_assert(!tcp_state_is_legal((enum tcp_state)from, (enum tcp_state)from));
		if (from != TCP_CLOSED)
			ck_assert(tcp_state_is_legal((enum tcp_state)from, TCP_CLOSED));
	}
	ck_assert_uint_eq(legal, 25);
	ck_assert(!tcp_state_is_legal(TCP_CLOSED, TCP_ESTABLISHED));
	ck_assert(!tcp_state_is_legal(TCP_FIN_WAIT_2, TCP_CLOSING));
	ck_assert(!tcp_state_is_legal(TCP_CLOSE_WAIT, TCP_TIME_WAIT));
}
END_TEST

START_TEST(tcp_illegal_move_traps)
{
	struct rig *t = rig_established(&(struct rig_opts){ 0 });

	tcp_set_state(conn(t), TCP_LAST_ACK, "no such arrow");
	rig_free(t);
}
END_TEST

START_TEST(tcp_state_numbers_are_those_of_linux)
{
	ck_assert_uint_eq(tcp_state_linux(TCP_ESTABLISHED), 1);
	ck_assert_uint_eq(tcp_state_linux(TCP_CLOSED), 7);
	ck_assert_uint_eq(tcp_state_linux(TCP_CLOSING), 11);
	ck_assert_str_eq(tcp_state_name(TCP_SYN_RCVD), "SYN-RECEIVED");
}
END_TEST

static uint32_t visited;

static void on_trace(void *ctx, const char *event, uint64_t a, uint64_t b)
{
	(void)ctx;
	(void)b;
	ck_assert_ptr_nonnull(event);
	visited |= 1u << (a & 0xff);
}

static void watch(struct rig *t)
{
	t->env.trace = on_trace;
	visited |= 1u << state_of(t);
}

/* Four ways to close and one to open cover all eleven states, each told to the trace. */
START_TEST(rfc9293_s3_3_2_all_states_are_reached)
{
	const struct transport_ops *ops = &tcp_transport_ops;
	struct ns_endpoint peer = { ns_addr_v4(RIG_PEER), RIG_PEER_PORT };
	struct rig *t = rig_established(&(struct rig_opts){ 0 });

	visited = 1u << TCP_CLOSED | 1u << ((struct tcp_conn *)t->lc)->state;
	watch(t);
	ops->shutdown_send(t->c); /* FIN-WAIT-1, CLOSING, TIME-WAIT */
	turn(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	seg_in_turn(t, S(.seq = 2, .ack = 2));
	rig_free(t);
	t = rig_established(&(struct rig_opts){ 0 });
	watch(t);
	ops->shutdown_send(t->c); /* FIN-WAIT-2 */
	turn(t);
	seg_in_turn(t, S(.seq = 1, .ack = 2));
	rig_free(t);
	t = rig_established(&(struct rig_opts){ 0 });
	watch(t);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN)); /* CLOSE-WAIT, LAST-ACK */
	ops->shutdown_send(t->c);
	turn(t);
	rig_free(t);
	t = rig_new();
	t->env.trace = on_trace;
	ck_assert_int_eq(ops->open(t->tcp, t, &t->c), 0);
	ck_assert_int_eq(ops->connect(t->c, &peer, t->now), -115);
	rig_free(t);
	t = rig_listening(1); /* SYN-RECEIVED passes when the half-open object grows up */
	t->env.trace = on_trace;
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = 1460));
	expect_out(t, S(.ack = 1, .flags = TCP_SYN));
	seg_in_turn(t, S(.seq = 1, .ack = 1));
	rig_free(t);
	ck_assert_uint_eq(visited, (1u << TCP_STATE_COUNT) - 1);
}
END_TEST

Suite *fsm_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("fsm", NULL, NULL, &s);

	tcase_add_test(t, rfc9293_s3_3_2_figure_5_arrows_are_legal);
	tcase_add_test(t, rfc9293_s3_3_2_nothing_else_is);
	tcase_add_test_raise_signal(t, tcp_illegal_move_traps, UNIT_TRAP);
	tcase_add_test(t, tcp_state_numbers_are_those_of_linux);
	tcase_add_test(t, rfc9293_s3_3_2_all_states_are_reached);
	return s;
}
