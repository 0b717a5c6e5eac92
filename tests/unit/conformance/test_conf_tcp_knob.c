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

int main(void)
{
	Suite *s = suite_create("knobs");
	TCase *tc = conf_case(s, "knobs");

	tcase_add_test(tc, tcp_knobs_have_names_and_ranges);
	tcase_add_test(tc, rfc7323_s3_2_timestamps_can_be_switched_off);
	tcase_add_test(tc, rfc2018_s2_sack_can_be_switched_off);
	tcase_add_test(tc, rfc7323_s2_2_window_scale_can_be_switched_off);
	tcase_add_test(tc, rfc5681_s4_1_restart_after_idle_can_be_switched_off);
	return conf_run(s);
}
