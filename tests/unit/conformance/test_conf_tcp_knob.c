/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_tcp_knob.c - what the knobs of ns/knobs.def change on the wire */
#include "conformance.h"

static uint8_t data[16384];

static void turn_knob(enum ns_knob knob, int value)
{
	expect(ns_stack_set_knob(rp.stack, knob, value) == 0);
	expect(ns_stack_knob(rp.stack, knob) == value);
}

START_TEST(tcp_knobs_have_names_and_ranges)
{
	enum ns_knob k;

	expect(ns_knob_find("tcp_timestamps", &k) == 0 && k == NS_KNOB_tcp_timestamps);
	expect(ns_knob_find("tcp_no_such_thing", &k) == -ENOENT);
	expect(ns_stack_knob(rp.stack, NS_KNOB_tcp_timestamps) == 1);
	expect(ns_stack_set_knob(rp.stack, NS_KNOB_tcp_timestamps, 3) == -EINVAL);
	expect(ns_stack_set_knob(rp.stack, NS_KNOB_tcp_sack, -1) == -EINVAL);
	expect(ns_stack_set_knob(rp.stack, NS_KNOB_COUNT, 0) == -EINVAL);
}
END_TEST

static const struct rp_syn everything = {
	.has_ts = true, .has_sack = true, .has_wscale = true, .wscale = 7
};

START_TEST(rfc7323_s3_2_timestamps_can_be_switched_off)
{
	struct rp_conn c;

	turn_knob(NS_KNOB_tcp_timestamps, 0);
	expect(rp_connect_begin(&rp, 9000, &c));
	expect(!c.syn.has_ts && c.syn.has_sack_ok && c.syn.has_wscale);
	c = accepted_with(&everything);
	expect(!c.syn.has_ts && c.syn.has_sack_ok && c.syn.has_wscale);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc2018_s2_sack_can_be_switched_off)
{
	struct rp_conn c;

	turn_knob(NS_KNOB_tcp_sack, 0);
	expect(rp_connect_begin(&rp, 9000, &c));
	expect(c.syn.has_ts && !c.syn.has_sack_ok && c.syn.has_wscale);
	c = accepted_with(&everything);
	expect(c.syn.has_ts && !c.syn.has_sack_ok && c.syn.has_wscale);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc7323_s2_2_window_scale_can_be_switched_off)
{
	struct rp_conn c;

	turn_knob(NS_KNOB_tcp_window_scaling, 0);
	expect(rp_connect_begin(&rp, 9000, &c));
	expect(c.syn.has_ts && c.syn.has_sack_ok && !c.syn.has_wscale);
	c = accepted_with(&everything);
	expect(c.syn.has_ts && c.syn.has_sack_ok && !c.syn.has_wscale);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5681_s4_1_restart_after_idle_can_be_switched_off)
{
	struct rp_conn c = accepted();
	struct seen s;
	uint32_t cnt = 0;

	turn_knob(NS_KNOB_tcp_slow_start_after_idle, 0);
	rp_send(&c, data, 10 * 1460);
	while (rp_expect(&c, &s))
		;
	rp_ack(&c);
	rp_wait(&rp, 60 * NS_PER_SEC);
	rp_send(&c, data, 11 * 1460);
	while (rp_expect(&c, &s))
		cnt++;
	expect(cnt == 11); /* the initial window is 10 */
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_knobs_know_their_sysctl)
{
	const struct ns_knob_info *k = ns_knob_info(NS_KNOB_tcp_rmem_max);

	expect(strcmp(k->sysctl, "net.ipv4.tcp_rmem") == 0 && k->word == 2);
	expect(strcmp(ns_knob_info(NS_KNOB_tcp_sack)->sysctl, "net.ipv4.tcp_sack") == 0);
	expect(!ns_knob_info(NS_KNOB_COUNT));
	for (int i = 0; i < NS_KNOB_COUNT; i++) {
		k = ns_knob_info((enum ns_knob)i);
		expect(k->least <= k->initial && k->initial <= k->most);
		expect(k->text[0] != '\0');
	}
}
END_TEST

START_TEST(tcp_knob_of_ports_bounds_what_is_chosen)
{
	struct ns_endpoint to = { ns_addr_v4(RP_PEER), 9000 };
	struct rp_conn c;
	ns_sock sock;

	turn_knob(NS_KNOB_port_first, 40000);
	turn_knob(NS_KNOB_port_last, 40001);
	for (int i = 0; i < 2; i++) {
		expect(rp_connect_begin(&rp, 9000, &c));
		expect(c.syn.way.sport == 40000 || c.syn.way.sport == 40001);
	}
	expect(ns_sock_open(rp.stack, &sock) == 0); /* both are taken towards this peer */
	expect(ns_sock_connect(rp.stack, sock, &to, rp.now) == -EADDRNOTAVAIL);
	ns_sock_close(rp.stack, sock);
	expect(rp_connect_begin(&rp, 9001, &c));
}
END_TEST

START_TEST(tcp_knob_of_syn_retries_says_when_to_give_up)
{
	struct rp_conn c;

	turn_knob(NS_KNOB_tcp_syn_retries, 1);
	turn_knob(NS_KNOB_tcp_syn_linear_timeouts, 1);
	expect(rp_connect_begin(&rp, 9000, &c));
	rp_wait(&rp, 3 * NS_PER_SEC);
	expect(!rp_event(&rp, c.sock, NS_EV_ERR, NULL));
	rp_wait(&rp, 2 * NS_PER_SEC); /* 3 s are over 2 s after the third SYN */
	expect(rp_event(&rp, c.sock, NS_EV_ERR, NULL));
}
END_TEST

START_TEST(tcp_knob_of_ttl_is_what_packets_carry)
{
	struct rp_conn c;
	int ttl = 0;

	turn_knob(NS_KNOB_ip_default_ttl, 7);
	expect(rp_connect_begin(&rp, 9000, &c));
	expect(c.syn.ttl == 7);
	expect(ns_sock_getopt(rp.stack, c.sock, NS_SO_TTL, &ttl) == 0 && ttl == 7);
}
END_TEST

START_TEST(tcp_knob_of_rmem_scales_the_window)
{
	struct rp_conn c;

	turn_knob(NS_KNOB_tcp_rmem_max, 64 << 20);
	expect(rp_connect_begin(&rp, 9000, &c));
	expect(c.syn.wscale == 10); /* 32 MiB of window: 65535 << 9 is just less */
	turn_knob(NS_KNOB_tcp_rmem_max, 131072);
	expect(rp_connect_begin(&rp, 9000, &c));
	expect(c.syn.wscale == 1);
}
END_TEST

START_TEST(rfc4987_s3_6_cookies_always)
{
	struct rp_conn c;

	snap();
	turn_knob(NS_KNOB_tcp_syncookies, 2);
	expect(rp_half_open(&rp, PORT, &everything, &c));
	expect(moved("TCP_COOKIES_SENT") == 1);
	expect(strcmp(state_of(&c), "CLOSED") == 0); /* nothing is kept */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("knobs");
	TCase *tc = conf_case(s, "knobs");

	tcase_add_test(tc, tcp_knobs_have_names_and_ranges);
	tcase_add_test(tc, rfc7323_s3_2_timestamps_can_be_switched_off);
	tcase_add_test(tc, rfc2018_s2_sack_can_be_switched_off);
	tcase_add_test(tc, rfc7323_s2_2_window_scale_can_be_switched_off);
	tcase_add_test(tc, rfc5681_s4_1_restart_after_idle_can_be_switched_off);
	tcase_add_test(tc, tcp_knobs_know_their_sysctl);
	tcase_add_test(tc, tcp_knob_of_ports_bounds_what_is_chosen);
	tcase_add_test(tc, tcp_knob_of_syn_retries_says_when_to_give_up);
	tcase_add_test(tc, tcp_knob_of_ttl_is_what_packets_carry);
	tcase_add_test(tc, tcp_knob_of_rmem_scales_the_window);
	tcase_add_test(tc, rfc4987_s3_6_cookies_always);
	return conf_run(s);
}
