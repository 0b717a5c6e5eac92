/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_tcp_ecn.c - RFC 3168: agreed, marked, echoed, obeyed */
#include "conformance.h"

enum {
	ASK = FL_ECE | FL_CWR,
	ECN_BITS = 3,
	ECT0 = 2,
	CE = 3,
	MSS = 1460,
};

static uint8_t data[32768];

static void set_ecn(int value)
{
	expect(ns_stack_set_knob(rp.stack, NS_KNOB_tcp_ecn, value) == 0);
}

/* A connection the peer opened and ECN was agreed for */
static struct rp_conn agreed(void)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .flags = ASK });

	expect((c.syn.flags & ASK) == FL_ECE);
	return c;
}

START_TEST(rfc3168_s6_1_1_listener_agrees_when_asked)
{
	struct rp_conn c = agreed();
	struct ns_tcp_info info;
	struct seen s;

	expect(ns_sock_tcp_info(rp.stack, c.sock, rp.now, &info) == 0 && info.has_ecn);
	rp_send(&c, data, 100);
	expect(rp_expect(&c, &s) && (s.tos & ECN_BITS) == ECT0 && !(s.flags & ASK));
	ns_sock_abort(rp.stack, c.sock);

	c = accepted(); /* not asked */
	expect(!(c.syn.flags & ASK));
	rp_send(&c, data, 100);
	expect(rp_expect(&c, &s) && !(s.tos & ECN_BITS));
	ns_sock_abort(rp.stack, c.sock);

	c = accepted_with(&(struct rp_syn){ .flags = FL_ECE }); /* half a question */
	expect(!(c.syn.flags & ASK));
	ns_sock_abort(rp.stack, c.sock);

	set_ecn(0);
	c = accepted_with(&(struct rp_syn){ .flags = ASK });
	expect(!(c.syn.flags & ASK));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc3168_s6_1_1_syn_asks_and_the_answer_decides)
{
	static const struct {
		uint8_t answer;
		bool is_on;
	} row[] = { { FL_ECE, true }, { 0, false }, { ASK, false }, { FL_CWR, false } };
	struct rp_conn c;
	struct seen s;

	expect(rp_connect_begin(&rp, 8000, &c));
	expect(!(c.syn.flags & ASK)); /* the default only agrees */
	ns_sock_abort(rp.stack, c.sock);
	rp_turn(&rp);
	set_ecn(1);
	for (uint32_t i = 0; i < 4; i++) {
		expect(rp_connected(&rp, (uint16_t)(9000 + i),
				    &(struct rp_syn){ .flags = row[i].answer }, &c));
		rp_send(&c, data, 100);
		expect(rp_expect(&c, &s));
		expect((s.tos & ECN_BITS) == (row[i].is_on ? ECT0 : 0));
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp); /* the reset goes before the next one begins */
	}
	expect(rp_connect_begin(&rp, 9100, &c));
	expect((c.syn.flags & ASK) == ASK && !(c.syn.tos & ECN_BITS));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc3168_s6_1_1_1_repeated_syn_does_not_ask)
{
	struct rp_conn c;
	struct seen s;

	set_ecn(1);
	expect(rp_connect_begin(&rp, 9000, &c));
	rp_wait(&rp, 1100 * NS_PER_MS);
	expect(rp_take(&rp, &s) && (s.flags & FL_SYN) && !(s.flags & ASK));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc3168_s6_1_3_ce_is_echoed_until_cwr)
{
	struct rp_conn c = agreed();
	struct seen s;

	for (int i = 0; i < 4; i++) { /* marked once, echoed on */
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK,
					     .data = "x",
					     .data_len = 1,
					     .ip.tos = i == 0 ? CE : ECT0 });
		c.snd++;
		rp_wait(&rp, 300 * NS_PER_MS);
		expect(rp_expect(&c, &s) && (s.flags & ASK) == FL_ECE && !(s.tos & ECN_BITS));
	}
	rp_seg(&c, &(struct tcp_in){
			   .flags = FL_ACK | FL_CWR, .data = "x", .data_len = 1, .ip.tos = ECT0 });
	c.snd++;
	rp_wait(&rp, 300 * NS_PER_MS);
	expect(rp_expect(&c, &s) && !(s.flags & ASK));
	ns_sock_abort(rp.stack, c.sock);

	c = accepted(); /* not agreed: a mark means nothing */
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .data = "x", .data_len = 1, .ip.tos = CE });
	c.snd++;
	rp_wait(&rp, 300 * NS_PER_MS);
	expect(rp_expect(&c, &s) && !(s.flags & ASK));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

static struct ns_tcp_info info_of(const struct rp_conn *c)
{
	struct ns_tcp_info info;

	expect(ns_sock_tcp_info(rp.stack, c->sock, rp.now, &info) == 0);
	return info;
}

START_TEST(rfc3168_s6_1_2_one_reduction_a_window_and_cwr_says_so)
{
	struct rp_conn c = agreed();
	struct seen s;
	uint32_t first, cwr_cnt = 0;

	rp_send(&c, data, 20 * MSS);
	for (int i = 0; i < 10; i++)
		expect(rp_expect(&c, &s) && !(s.flags & FL_CWR));
	first = c.rcv - 10 * MSS;
	for (uint32_t i = 1; i <= 10; i++) { /* every acknowledgement of the window echoes */
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_ECE,
					     .ack = first + i * MSS - c.rcv });
		expect(info_of(&c).snd_ssthresh == 7); /* RFC 9438 4.6: seven tenths, once */
	}
	while (rp_expect(&c, &s)) {
		expect(s.data_len > 0 && !(s.tos & ECN_BITS) == !s.data_len);
		cwr_cnt += (s.flags & FL_CWR) != 0;
	}
	expect(cwr_cnt >= 1);
	expect(info_of(&c).snd_cwnd == 7);
	expect(info_of(&c).total_retrans == 0);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_ECE }); /* of the next window */
	expect(info_of(&c).snd_ssthresh < 7);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc3168_s6_1_5_what_is_sent_again_is_not_ect)
{
	struct rp_conn c = agreed();
	struct seen s;

	rp_send(&c, data, 100);
	expect(rp_expect(&c, &s) && (s.tos & ECN_BITS) == ECT0);
	rp_wait(&rp, 3 * NS_PER_SEC);
	expect(rp_take(&rp, &s) && s.data_len == 100 && !(s.tos & ECN_BITS));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc3168_s6_1_4_acknowledgements_and_fins_are_not_ect)
{
	struct rp_conn c = agreed();
	struct seen s;

	rp_data(&c, "x", 1);
	rp_wait(&rp, 300 * NS_PER_MS);
	expect(rp_expect(&c, &s) && s.data_len == 0 && !(s.tos & ECN_BITS));
	ns_sock_shutdown_send(rp.stack, c.sock);
	rp_turn(&rp);
	expect(rp_expect(&c, &s) && (s.flags & FL_FIN) && !(s.tos & ECN_BITS));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc3168_s6_1_2_loss_in_the_same_window_costs_no_second_reduction)
{
	struct rp_conn c = agreed();
	struct seen s;
	uint32_t first;

	rp_send(&c, data, 20 * MSS);
	for (int i = 0; i < 10; i++)
		expect(rp_expect(&c, &s));
	first = c.rcv - 10 * MSS;
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_ECE, .ack = first + MSS - c.rcv });
	expect(info_of(&c).snd_ssthresh == 7);
	for (int i = 0; i < 3; i++)
		rp_seg(&c,
		       &(struct tcp_in){ .flags = FL_ACK | FL_ECE, .ack = first + MSS - c.rcv });
	expect(info_of(&c).total_retrans == 1);
	expect(info_of(&c).snd_ssthresh == 7);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* Nothing would come back to open a window of less, least of all for an algorithm that takes over from there. */
START_TEST(tcp_echo_with_nothing_outstanding_leaves_a_segment)
{
	struct rp_conn c = agreed();
	struct seen s;

	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_ECE, .data = "x", .data_len = 1 });
	c.snd++;
	while (rp_expect(&c, &s))
		continue;
	expect(info_of(&c).snd_cwnd >= 1);
	expect(ns_sock_setopt(rp.stack, c.sock, NS_TCP_CONGESTION, NS_CC_BBR) == 0);
	rp_send(&c, data, MSS);
	expect(rp_expect(&c, &s) && s.data_len == MSS);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ecn");
	TCase *tc = conf_case(s, "handshake");

	tcase_add_test(tc, rfc3168_s6_1_1_listener_agrees_when_asked);
	tcase_add_test(tc, rfc3168_s6_1_1_syn_asks_and_the_answer_decides);
	tcase_add_test(tc, rfc3168_s6_1_1_1_repeated_syn_does_not_ask);

	tc = conf_case(s, "marks");
	tcase_add_test(tc, rfc3168_s6_1_3_ce_is_echoed_until_cwr);
	tcase_add_test(tc, rfc3168_s6_1_2_one_reduction_a_window_and_cwr_says_so);
	tcase_add_test(tc, rfc3168_s6_1_2_loss_in_the_same_window_costs_no_second_reduction);
	tcase_add_test(tc, rfc3168_s6_1_4_acknowledgements_and_fins_are_not_ect);
	tcase_add_test(tc, rfc3168_s6_1_5_what_is_sent_again_is_not_ect);
	tcase_add_test(tc, tcp_echo_with_nothing_outstanding_leaves_a_segment);
	return conf_run(s);
}
