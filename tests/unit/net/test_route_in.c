/* SPDX-License-Identifier: Apache-2.0 */
/* test_route_in.c - net/route_in.c: what is ours by rules and routes, and the way back (RFC 3704) */
#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "rig.h"
#include "rig6.h"
#include "suites.h"
#include "wire/icmp6.h"

#define FAR   0x08080808u
#define ANYIP 0xc6336401u /* 198.51.100.1 */

static struct rig rig;
static uint8_t f[2048];

static void name(uint32_t link_id, const char *text)
{
	struct ns_link_config c = rig.net->links[link_id]->config;

	memset(c.name, 0, sizeof(c.name));
	memcpy(c.name, text, strlen(text));
	ck_assert_int_eq(net_set_link(rig.net, link_id, &c), 0);
}

static void setup(void)
{
	r6_init(&rig);
	memset(f, 0, sizeof(f));
	name(1, "e1");
	name(2, "e2");
	rig.sent_cnt = 0;
}

static void teardown(void)
{
	rig_done(&rig);
}

static void add_route(uint32_t dst, uint8_t len, uint8_t type, uint32_t table, uint32_t link_id)
{
	const struct ns_route r = { .dst = ns_addr_v4(dst),
				    .prefix_len = len,
				    .link_id = link_id,
				    .table = table,
				    .type = type };

	ck_assert_int_eq(net_add_route(rig.net, &r), 0);
}

static void add_rule(struct ns_rule r)
{
	ck_assert_int_eq(net_add_rule(rig.net, &r), 0);
}

static struct ns_rule by_iif(const char *iif, uint32_t table)
{
	struct ns_rule r = { .priority = 100, .table = table };

	memcpy(r.iif, iif, strlen(iif));
	return r;
}

/* A packet by link 1: taken? */
static bool is_taken(uint32_t src, uint32_t dst)
{
	uint32_t before = rig.input_cnt;

	rig_in(&rig, f, rig_ip4(f, src, dst, RIG_PROTO, 40) + 40);
	return rig.input_cnt == before + 1;
}

/* It must die for @why. */
static void dies(uint32_t src, uint32_t dst, enum drop why)
{
	uint64_t before = rig_drops(&rig, why);

	ck_assert(!is_taken(src, dst));
	ck_assert_msg(rig_drops(&rig, why) == before + 1, "not dropped as %s", drop_name(why));
	ck_assert_uint_eq(rig.sent_cnt,
			  0); /* nobody is told: linux ip_error() without forwarding */
}

START_TEST(a_local_route_of_another_table_is_ours_where_a_rule_leads_there)
{
	dies(RIG_PEER, ANYIP, DROP_IP4_NOT_US);
	add_route(ANYIP, 24, NS_ROUTE_LOCAL, 100, LINK_LOOP_ID);
	dies(RIG_PEER, ANYIP, DROP_IP4_NOT_US);
	add_rule(by_iif("e2", 100));
	dies(RIG_PEER, ANYIP, DROP_IP4_NOT_US);
	add_rule(by_iif("e1", 100));
	ck_assert(is_taken(RIG_PEER, ANYIP));
	ck_assert(!rig.last_ip.is_bcast);
	ck_assert(is_taken(RIG_PEER, ANYIP + 77));
}
END_TEST

START_TEST(a_local_route_of_the_main_table_is_ours_by_the_rules_of_a_new_stack)
{
	add_route(ANYIP, 32, NS_ROUTE_LOCAL, NS_TABLE_MAIN, LINK_LOOP_ID);
	ck_assert(is_taken(RIG_PEER, ANYIP));
}
END_TEST

START_TEST(rules_and_routes_that_refuse_end_a_packet_in_silence)
{
	static const uint8_t actions[] = { NS_RULE_BLACKHOLE, NS_RULE_UNREACHABLE,
					   NS_RULE_PROHIBIT };
	static const uint8_t types[] = { NS_ROUTE_BLACKHOLE, NS_ROUTE_UNREACHABLE,
					 NS_ROUTE_PROHIBIT, NS_ROUTE_THROW };
	struct ns_rule r = by_iif("e1", 0);

	for (size_t i = 0; i < NS_ARRAY_LEN(types); i++) {
		add_route(ANYIP, 32 - (uint8_t)i, types[i], NS_TABLE_MAIN, LINK_LOOP_ID);
		dies(RIG_PEER, ANYIP, DROP_IP4_NOT_US);
	}
	/* the local table comes first, unless it is asked later: then the rule has our own address */
	for (size_t i = 0; i < NS_ARRAY_LEN(actions); i++) {
		r.action = actions[i];
		add_rule(r);
		ck_assert(is_taken(RIG_PEER, RIG_US));
		ck_assert_int_eq(net_del_rule(rig.net, &r), 0);
	}
	net_flush_rules(rig.net, false);
	add_rule((struct ns_rule){ .priority = 200, .table = NS_TABLE_LOCAL });
	ck_assert(is_taken(RIG_PEER, RIG_US));
	for (size_t i = 0; i < NS_ARRAY_LEN(actions); i++) {
		r.action = actions[i];
		add_rule(r);
		dies(RIG_PEER, RIG_US, DROP_IP4_NOT_US);
		ck_assert_int_eq(net_del_rule(rig.net, &r), 0);
	}
	ck_assert(is_taken(RIG_PEER, RIG_US));
}
END_TEST

START_TEST(rules_by_ports_look_into_the_packet_but_not_into_later_fragments)
{
	struct ns_rule r = by_iif("e1", 100);

	r.proto = RIG_PROTO;
	r.dport_min = r.dport_max = 443;
	add_route(ANYIP, 32, NS_ROUTE_LOCAL, 100, LINK_LOOP_ID);
	add_rule(r);
	f[36] = 443 >> 8;
	f[37] = 443 & 0xff;
	ck_assert(is_taken(RIG_PEER, ANYIP));
	f[37]++;
	dies(RIG_PEER, ANYIP, DROP_IP4_NOT_US);
	f[37]--;
	rig_ip4(f, RIG_PEER, ANYIP, RIG_PROTO, 40);
	f[20] = 0x20; /* more fragments */
	rig_ip4_fix(f);
	rig_in(&rig, f, 34 + 40);
	ck_assert_uint_eq(rig_drops(&rig, DROP_IP4_NOT_US), 2);
}
END_TEST

START_TEST(rfc3704_2_2_strict_a_source_must_be_reached_by_the_link_it_came_by)
{
	add_route(0x08000000, 8, NS_ROUTE_UNICAST, NS_TABLE_MAIN, 2);
	ck_assert(is_taken(FAR, RIG_US));
	rig.core.knobs[NS_KNOB_rp_filter] = 1;
	dies(FAR, RIG_US, DROP_IP4_RP_FILTER);
	dies(0x09090909, RIG_US, DROP_IP4_RP_FILTER); /* no way at all */
	ck_assert(is_taken(RIG_PEER, RIG_US));
	add_route(0x08080000, 16, NS_ROUTE_UNICAST, NS_TABLE_MAIN, 1);
	ck_assert(is_taken(FAR, RIG_US));
}
END_TEST

START_TEST(rfc3704_2_2_one_of_several_next_hops_by_that_link_is_enough)
{
	const struct ns_nexthop hops[] = { { .gateway = ns_addr_v4(0x0a080001), .link_id = 2 },
					   { .gateway = ns_addr_v4(RIG_PEER), .link_id = 1 } };
	const struct ns_route r = {
		.dst = ns_addr_v4(0x08000000), .prefix_len = 8, .nexthops = hops, .nexthop_cnt = 2
	};

	rig.core.knobs[NS_KNOB_rp_filter] = 1;
	ck_assert_int_eq(net_add_route(rig.net, &r), 0);
	ck_assert(is_taken(FAR, RIG_US));
}
END_TEST

START_TEST(rfc3704_2_4_loose_a_source_must_be_reached_by_any_link)
{
	rig.core.knobs[NS_KNOB_rp_filter] = 2;
	dies(FAR, RIG_US, DROP_IP4_RP_FILTER);
	add_route(0x08000000, 8, NS_ROUTE_UNICAST, NS_TABLE_MAIN, 2);
	ck_assert(is_taken(FAR, RIG_US));
	add_route(0x08080000, 16, NS_ROUTE_BLACKHOLE, NS_TABLE_MAIN, LINK_LOOP_ID);
	dies(FAR, RIG_US, DROP_IP4_RP_FILTER);
}
END_TEST

START_TEST(the_larger_of_the_two_rp_filters_counts)
{
	struct ns_link_config c = rig.net->links[1]->config;

	add_route(0x08000000, 8, NS_ROUTE_UNICAST, NS_TABLE_MAIN, 2);
	c.rp_filter = 1;
	ck_assert_int_eq(net_set_link(rig.net, 1, &c), 0);
	dies(FAR, RIG_US, DROP_IP4_RP_FILTER);
	rig.core.knobs[NS_KNOB_rp_filter] =
		2; /* linux IN_DEV_RPFILTER(): the larger, which is loose */
	ck_assert(is_taken(FAR, RIG_US));
}
END_TEST

START_TEST(the_way_back_is_looked_for_by_rules_as_the_answer_would_go)
{
	struct ns_rule r = {
		.priority = 50, .table = 100, .from = ns_addr_v4(RIG_US), .from_len = 32
	};

	rig.core.knobs[NS_KNOB_rp_filter] = 1;
	add_route(0x08000000, 8, NS_ROUTE_UNICAST, NS_TABLE_MAIN, 2);
	add_route(0x08000000, 8, NS_ROUTE_UNICAST, 100, 1);
	dies(FAR, RIG_US, DROP_IP4_RP_FILTER);
	add_rule(r);
	ck_assert(is_taken(FAR, RIG_US));
}
END_TEST

START_TEST(with_rules_of_ones_own_a_source_that_is_no_host_is_refused_without_a_filter)
{
	add_route(0x08000000, 8, NS_ROUTE_LOCAL, 100, LINK_LOOP_ID);
	ck_assert(is_taken(FAR, RIG_US));
	add_rule((struct ns_rule){ .priority = 100, .table = 100 });
	dies(FAR, RIG_US, DROP_IP4_BAD_SRC);
	ck_assert(is_taken(0x09090909, RIG_US)); /* without a way, but nobody asked for one */
}
END_TEST

START_TEST(rfc1122_3_2_1_3_the_source_0_is_a_host_without_address_and_heard_where_nobody_answers)
{
	rig.core.knobs[NS_KNOB_rp_filter] = 1;
	ck_assert(is_taken(0, 0xffffffff));
	ck_assert(rig.last_ip.is_bcast);
	ck_assert(is_taken(0, 0xe0000016));
	dies(0, 0xe1000001, DROP_IP4_BAD_SRC);
	dies(0, RIG_US, DROP_IP4_BAD_SRC);
	dies(0, 0x0a0900ff, DROP_IP4_BAD_SRC);
}
END_TEST

START_TEST(groups_are_filtered_by_where_they_come_from_too)
{
	rig.core.knobs[NS_KNOB_rp_filter] = 1;
	ck_assert(is_taken(RIG_PEER, 0xe0000001));
	dies(FAR, 0xe0000001, DROP_IP4_RP_FILTER);
	dies(FAR, 0xffffffff, DROP_IP4_RP_FILTER);
}
END_TEST

/* ---- IPv6 ---- */

static const struct ns_addr anyip6 = { { 0x20, 1, 0x0d, 0xb8, 0, 0x77, [15] = 1 } };

static bool is_taken6(struct ns_addr dst)
{
	static const uint8_t body[40];
	uint32_t before = rig.input_cnt;

	r6_in(&rig, f, r6_frame(f, r6_peer, dst, RIG_PROTO, body, sizeof(body)));
	return rig.input_cnt == before + 1;
}

static struct ns_rule rule6(uint8_t action, uint32_t table)
{
	return (struct ns_rule){ .priority = 100,
				 .is_v6 = true,
				 .action = action,
				 .table = table,
				 .iif = "e1",
				 .to = anyip6,
				 .to_len = 128 };
}

/* What the sender of a packet to an address that is not ours is told: the code, or -1. */
static int told6(void)
{
	rig.sent_cnt = 0;
	ck_assert(!is_taken6(anyip6));
	if (rig.sent_cnt == 0)
		return -1;
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert(r6_is_good(&rig, 0));
	ck_assert_uint_eq(rig.sent[0].data[R6_BODY], ICMP6_UNREACH);
	ck_assert_mem_eq(rig.sent[0].data + 22, r6_us.b,
			 16); /* not from the address it was sent to */
	return rig.sent[0].data[R6_BODY + 1];
}

START_TEST(anyip_of_another_table_in_ipv6)
{
	struct ns_route r = {
		.dst = anyip6, .prefix_len = 64, .is_v6 = true, .table = 100, .type = NS_ROUTE_LOCAL
	};

	ck_assert(!is_taken6(anyip6));
	ck_assert_int_eq(net_add_route(rig.net, &r), 0);
	add_rule(rule6(NS_RULE_LOOKUP, 100));
	ck_assert(is_taken6(anyip6));
}
END_TEST

START_TEST(rfc4443_3_1_without_a_way_the_sender_is_told_as_the_route_says)
{
	static const struct {
		uint8_t type;
		int code;
	} types[] = { { NS_ROUTE_UNREACHABLE, ICMP6_UNREACH_NOROUTE },
		      { NS_ROUTE_PROHIBIT, ICMP6_UNREACH_ADMIN },
		      { NS_ROUTE_BLACKHOLE, -1 } };
	static const struct {
		uint8_t action;
		int code;
	} actions[] = { { NS_RULE_UNREACHABLE, ICMP6_UNREACH_NOROUTE },
			{ NS_RULE_PROHIBIT, ICMP6_UNREACH_ADMIN },
			{ NS_RULE_BLACKHOLE, -1 } };

	r6_peer_known(&rig);
	ck_assert_int_eq(told6(), ICMP6_UNREACH_NOROUTE);
	for (size_t i = 0; i < NS_ARRAY_LEN(types); i++) {
		struct ns_route r = {
			.dst = anyip6, .prefix_len = 64, .is_v6 = true, .type = types[i].type
		};

		rig_pass(&rig, 10 * NS_PER_SEC);
		ck_assert_int_eq(net_add_route(rig.net, &r), 0);
		ck_assert_int_eq(told6(), types[i].code);
		ck_assert_int_eq(net_del_route(rig.net, &r), 0);
	}
	for (size_t i = 0; i < NS_ARRAY_LEN(actions); i++) {
		struct ns_rule r = rule6(actions[i].action, 0);

		rig_pass(&rig, 10 * NS_PER_SEC);
		add_rule(r);
		ck_assert_int_eq(told6(), actions[i].code);
		ck_assert_int_eq(net_del_rule(rig.net, &r), 0);
	}
	ck_assert_uint_eq(rig_drops(&rig, DROP_IP6_NO_ROUTE), 7);
}
END_TEST

START_TEST(what_would_be_passed_on_by_a_router_ends_in_silence)
{
	struct ns_route r = { .dst = anyip6, .prefix_len = 64, .is_v6 = true, .link_id = 2 };

	r6_peer_known(&rig);
	ck_assert_int_eq(net_add_route(rig.net, &r), 0);
	ck_assert_int_eq(told6(), -1);
	ck_assert_uint_eq(rig_drops(&rig, DROP_IP6_NOT_US), 1);
}
END_TEST

Suite *route_in_suite(void)
{
	Suite *s = suite_create("net/route_in");
	TCase *t4 = tcase_create("ipv4"), *t6 = tcase_create("ipv6");

	tcase_add_checked_fixture(t4, setup, teardown);
	tcase_add_checked_fixture(t6, setup, teardown);
	tcase_add_test(t4, a_local_route_of_another_table_is_ours_where_a_rule_leads_there);
	tcase_add_test(t4, a_local_route_of_the_main_table_is_ours_by_the_rules_of_a_new_stack);
	tcase_add_test(t4, rules_and_routes_that_refuse_end_a_packet_in_silence);
	tcase_add_test(t4, rules_by_ports_look_into_the_packet_but_not_into_later_fragments);
	tcase_add_test(t4, rfc3704_2_2_strict_a_source_must_be_reached_by_the_link_it_came_by);
	tcase_add_test(t4, rfc3704_2_2_one_of_several_next_hops_by_that_link_is_enough);
	tcase_add_test(t4, rfc3704_2_4_loose_a_source_must_be_reached_by_any_link);
	tcase_add_test(t4, the_larger_of_the_two_rp_filters_counts);
	tcase_add_test(t4, the_way_back_is_looked_for_by_rules_as_the_answer_would_go);
	tcase_add_test(t4,
		       with_rules_of_ones_own_a_source_that_is_no_host_is_refused_without_a_filter);
	tcase_add_test(
		t4,
		rfc1122_3_2_1_3_the_source_0_is_a_host_without_address_and_heard_where_nobody_answers);
	tcase_add_test(t4, groups_are_filtered_by_where_they_come_from_too);
	tcase_add_test(t6, anyip_of_another_table_in_ipv6);
	tcase_add_test(t6, rfc4443_3_1_without_a_way_the_sender_is_told_as_the_route_says);
	tcase_add_test(t6, what_would_be_passed_on_by_a_router_ends_in_silence);
	suite_add_tcase(s, t4);
	suite_add_tcase(s, t6);
	return s;
}
