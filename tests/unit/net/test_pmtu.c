/* SPDX-License-Identifier: Apache-2.0 */
/* test_pmtu.c - net/pmtu.c: RFC 1191, RFC 8201 */
#include <string.h>

#include "net/net_int.h"
#include "rig6.h"
#include "suites.h"

static struct rig rig;

static void setup(void)
{
	r6_init(&rig);
}

static void teardown(void)
{
	rig_done(&rig);
}

static uint32_t pmtu(struct ns_addr to)
{
	struct dst d;

	ck_assert_int_eq(net_route(rig.net, &to, NULL, &d), 0);
	return net_pmtu(rig.net, &d, &to, rig.now);
}

static void learn(struct ns_addr to, uint32_t mtu)
{
	net_pmtu_learn(rig.net, &to, mtu, rig.now);
}

START_TEST(rfc1191_s6_3_what_a_router_said_counts_for_ten_minutes)
{
	struct ns_addr peer = ns_addr_v4(RIG_PEER), other = ns_addr_v4(RIG_PEER + 7);

	ck_assert_uint_eq(pmtu(peer), 1500);
	learn(peer, 1400);
	ck_assert_uint_eq(pmtu(peer), 1400);
	ck_assert_uint_eq(pmtu(other), 1500);
	rig_pass(&rig, 300 * NS_PER_SEC);
	learn(peer, 1450); /* larger: not believed, and no reason to keep the other longer */
	ck_assert_uint_eq(pmtu(peer), 1400);
	rig_pass(&rig, 300 * NS_PER_SEC - 1);
	ck_assert_uint_eq(pmtu(peer), 1400);
	rig_pass(&rig, 1);
	ck_assert_uint_eq(pmtu(peer), 1500);
	/* said again, it counts from then on */
	learn(peer, 1400);
	rig_pass(&rig, 599 * NS_PER_SEC);
	learn(peer, 1400);
	rig_pass(&rig, 599 * NS_PER_SEC);
	ck_assert_uint_eq(pmtu(peer), 1400);
	learn(peer, 1000);
	ck_assert_uint_eq(pmtu(peer), 1000);
	ck_assert_uint_eq(rig.stats.stat[STAT_IP_PMTU_LEARNED], 4);
}
END_TEST

START_TEST(rfc8201_s4_no_path_of_ipv6_is_below_1280)
{
	learn(r6_peer, 1400);
	ck_assert_uint_eq(pmtu(r6_peer), 1400);
	learn(r6_peer, 68);
	ck_assert_uint_eq(pmtu(r6_peer), 1280);
	learn(ns_addr_v4(RIG_PEER), 68);
	ck_assert_uint_eq(pmtu(ns_addr_v4(RIG_PEER)), 552);
	rig.core.knobs[NS_KNOB_route_min_pmtu] = 68;
	learn(ns_addr_v4(RIG_PEER), 68);
	ck_assert_uint_eq(pmtu(ns_addr_v4(RIG_PEER)), 68);
}
END_TEST

START_TEST(the_mtu_of_the_route_is_the_most)
{
	struct ns_addr far = ns_addr_v4(0xc6336407);
	struct ns_route r = { .dst = far,
			      .prefix_len = 24,
			      .gateway = ns_addr_v4(RIG_PEER),
			      .link_id = 1,
			      .table = 254,
			      .type = NS_ROUTE_UNICAST,
			      .mtu = 1300 };

	ck_assert_int_eq(net_add_route(rig.net, &r), 0);
	ck_assert_uint_eq(pmtu(far), 1300);
	learn(far, 1400);
	ck_assert_uint_eq(pmtu(far), 1300);
	learn(far, 1200);
	ck_assert_uint_eq(pmtu(far), 1200);
}
END_TEST

START_TEST(another_route_is_another_path)
{
	struct ns_route r = { .dst = ns_addr_v4(0xc6336400),
			      .prefix_len = 24,
			      .gateway = ns_addr_v4(RIG_PEER),
			      .link_id = 1,
			      .table = 254,
			      .type = NS_ROUTE_UNICAST };

	learn(r6_peer, 1400);
	ck_assert_int_eq(net_add_route(rig.net, &r), 0);
	ck_assert_uint_eq(pmtu(r6_peer), 1500);
	learn(r6_peer, 1450);
	ck_assert_uint_eq(pmtu(r6_peer), 1450);
}
END_TEST

START_TEST(many_paths_are_bounded_and_the_latest_are_kept)
{
	struct ns_addr to = r6_peer;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < 10000; i++) {
		to.b[8] = (uint8_t)(i >> 8);
		to.b[9] = (uint8_t)i;
		learn(to, 1400);
		ck_assert_uint_eq(pmtu(to), 1400);
		rig.now.ns++;
	}
	for (uint32_t i = 0; i < 10000; i++) {
		to.b[8] = (uint8_t)(i >> 8);
		to.b[9] = (uint8_t)i;
		kept += pmtu(to) == 1400;
	}
	ck_assert_uint_eq(kept, PMTU_SETS * PMTU_WAYS);
}
END_TEST

Suite *pmtu_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/pmtu", setup, teardown, &s);

	tcase_add_test(c, rfc1191_s6_3_what_a_router_said_counts_for_ten_minutes);
	tcase_add_test(c, rfc8201_s4_no_path_of_ipv6_is_below_1280);
	tcase_add_test(c, the_mtu_of_the_route_is_the_most);
	tcase_add_test(c, another_route_is_another_path);
	tcase_add_test(c, many_paths_are_bounded_and_the_latest_are_kept);
	return s;
}
