/* SPDX-License-Identifier: Apache-2.0 */
/* test_net.c - net/net.c: the path a transport is given: link, source, next hop, MTU */
#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "rig.h"
#include "suites.h"

static struct rig rig;

static void setup(void)
{
	rig_init(&rig);
}

static void teardown(void)
{
	rig_done(&rig);
}

static int route(uint32_t dst, uint32_t src, struct dst *ret)
{
	struct ns_addr d = ns_addr_v4(dst), s = ns_addr_v4(src);

	return net_route(rig.net, &d, src ? &s : NULL, ret);
}

static void add_route(const struct ns_route *r)
{
	ck_assert_int_eq(net_add_route(rig.net, r), 0);
}

START_TEST(a_host_of_the_subnet_is_its_own_next_hop)
{
	struct dst d;

	ck_assert_int_eq(route(RIG_PEER, 0, &d), 0);
	ck_assert_uint_eq(d.link->id, 1);
	ck_assert_uint_eq(ns_addr_to_v4(&d.nexthop), RIG_PEER);
	ck_assert_uint_eq(ns_addr_to_v4(&d.src), RIG_US);
	ck_assert_uint_eq(d.mtu, 1500);
	ck_assert_int_eq(route(0x08080808, 0, &d), -ENETUNREACH);
}
END_TEST

START_TEST(a_gateway_is_the_next_hop_and_chooses_the_source)
{
	struct ns_route r = { .gateway = ns_addr_v4(0x0a080001), .link_id = 2, .mtu = 1400 };
	struct dst d;

	add_route(&r);
	ck_assert_int_eq(route(0x08080808, 0, &d), 0);
	ck_assert_uint_eq(ns_addr_to_v4(&d.nexthop), 0x0a080001);
	ck_assert_uint_eq(ns_addr_to_v4(&d.src), 0x0a080002);
	ck_assert_uint_eq(d.mtu, 1400);
	/* a bound source stays */
	ck_assert_int_eq(route(0x08080808, RIG_US, &d), 0);
	ck_assert_uint_eq(ns_addr_to_v4(&d.src), RIG_US);
	ck_assert_uint_eq(d.link->id, 2);
}
END_TEST

START_TEST(an_onlink_gateway_outside_of_every_subnet_is_resolved_there)
{
	struct ns_route r = { .gateway = ns_addr_v4(0xa9fe0101), .link_id = 1, .is_onlink = true };

	add_route(&r);
	ck_assert_int_eq(rig_send(&rig, 0x08080808, 10, 1), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_mem_eq(rig.sent[0].data + 38, "\xa9\xfe\x01\x01", 4); /* asked for by ARP */
	ck_assert_mem_eq(rig.sent[0].data + 28, "\x0a\x09\x00\x02", 4);
}
END_TEST

START_TEST(a_default_without_gateway_asks_for_the_host_itself)
{
	struct ns_route r = { .dst = ns_addr_v4(0), .link_id = 1 };
	struct dst d;

	add_route(&r);
	ck_assert_int_eq(route(0x08080808, 0, &d), 0);
	ck_assert_uint_eq(ns_addr_to_v4(&d.nexthop), 0x08080808);
}
END_TEST

START_TEST(the_routes_own_source_is_preferred)
{
	struct ns_route r = { .dst = ns_addr_v4(0x08000000), .prefix_len = 8, .link_id = 1 };
	struct dst d;

	r.prefsrc = ns_addr_v4(0x0a080002);
	add_route(&r);
	ck_assert_int_eq(route(0x08080808, 0, &d), 0);
	ck_assert_uint_eq(ns_addr_to_v4(&d.src), 0x0a080002);
}
END_TEST

START_TEST(kept_paths_learn_of_changes)
{
	struct ns_route r = { .gateway = ns_addr_v4(0x0a080001), .link_id = 2, .metric = 100 };
	struct ns_route r2 = { .gateway = ns_addr_v4(RIG_PEER), .link_id = 1, .metric = 200 };
	struct dst d;

	add_route(&r);
	add_route(&r2);
	ck_assert_int_eq(route(0x08080808, 0, &d), 0);
	ck_assert_uint_eq(d.link->id, 2);
	ck_assert(net_dst_is_current(rig.net, &d));
	ck_assert_int_eq(net_set_link_up(rig.net, 2, false), 0);
	ck_assert(!net_dst_is_current(rig.net, &d));
	ck_assert_int_eq(route(0x08080808, 0, &d), 0);
	ck_assert_uint_eq(d.link->id, 1);
	ck_assert_int_eq(net_set_link_up(rig.net, 2, true), 0);
	ck_assert_int_eq(route(0x08080808, 0, &d), 0);
	ck_assert_uint_eq(d.link->id, 2);
}
END_TEST

START_TEST(route_types_and_groups_refuse_as_linux_does)
{
	struct ns_route r = { .dst = ns_addr_v4(0x0a630000),
			      .prefix_len = 16,
			      .type = NS_ROUTE_BLACKHOLE };
	struct dst d;

	add_route(&r);
	ck_assert_int_eq(route(0x0a630001, 0, &d), -EINVAL);
	ck_assert_int_eq(route(0xffffffff, 0, &d), -ENETUNREACH);
	ck_assert_int_eq(route(0xe0000001, 0, &d), -ENETUNREACH);
	ck_assert_int_eq(route(0x0a0900ff, 0, &d), -ENETUNREACH);
}
END_TEST

START_TEST(loopback_is_never_a_source_on_the_wire)
{
	struct dst d;

	ck_assert_int_eq(route(RIG_PEER, 0x7f000001, &d), -EINVAL);
	ck_assert_int_eq(route(RIG_US, 0x7f000001, &d), 0);
	ck_assert_uint_eq(d.link->id, LINK_LOOP_ID);
}
END_TEST

START_TEST(no_address_at_all_means_this_host)
{
	struct dst d;

	ck_assert_int_eq(route(0, 0, &d), 0);
	ck_assert_uint_eq(d.link->id, LINK_LOOP_ID);
	ck_assert_uint_eq(ns_addr_to_v4(&d.nexthop), 0x7f000001);
	ck_assert_int_eq(route(0, RIG_US, &d), 0);
	ck_assert_uint_eq(ns_addr_to_v4(&d.nexthop), RIG_US);
}
END_TEST

START_TEST(local_routes_are_addresses_too)
{
	struct ns_route r = { .dst = ns_addr_v4(0xc0000200),
			      .prefix_len = 24,
			      .link_id = 1,
			      .table = NS_TABLE_LOCAL,
			      .type = NS_ROUTE_LOCAL };
	struct ns_addr a = ns_addr_v4(0xc0000207), us = ns_addr_v4(RIG_US),
		       peer = ns_addr_v4(RIG_PEER), lo = ns_addr_v4(0x7f000033),
		       bcast = ns_addr_v4(0x0a0900ff);

	ck_assert(!net_is_local(rig.net, &a));
	add_route(&r);
	ck_assert(net_is_local(rig.net, &a));
	ck_assert(net_is_local(rig.net, &us));
	ck_assert(net_is_local(rig.net, &lo));
	ck_assert(!net_is_local(rig.net, &peer));
	ck_assert(!net_is_local(rig.net, &bcast));
}
END_TEST

START_TEST(what_the_kernel_had_may_be_told_twice)
{
	struct ns_addr a = ns_addr_v4(RIG_US);
	struct ns_route r = {
		.dst = ns_addr_v4(0x0a090000), .prefix_len = 24, .link_id = 1, .table = 254
	};
	uint32_t cnt = rig.net->routes.cnt;

	r.prefsrc = a;
	ck_assert_int_eq(net_add_addr(rig.net, 1, &a, 24), 0);
	add_route(&r);
	ck_assert_uint_eq(rig.net->routes.cnt, cnt);
	ck_assert_uint_eq(rig.net->addrs4.cnt, 2);
}
END_TEST

START_TEST(nonsense_in_the_configuration_is_refused)
{
	static const uint8_t group[6] = { 1, 0, 0, 0, 0, 1 };
	struct ns_addr any = ns_addr_v4(0), mcast = ns_addr_v4(0xe0000001),
		       ok = ns_addr_v4(0x0a070001);
	struct ns_link_config c = { .mtu = 0 };
	struct ns_route r = { .dst = ok, .prefix_len = 24, .link_id = 9 };
	uint32_t id = 0;

	ck_assert_int_eq(net_add_addr(rig.net, 9, &ok, 24), -ENODEV);
	ck_assert_int_eq(net_add_addr(rig.net, 1, &ok, 33), -EINVAL);
	ck_assert_int_eq(net_add_addr(rig.net, 1, &any, 24), -EINVAL);
	ck_assert_int_eq(net_add_addr(rig.net, 1, &mcast, 24), -EINVAL);
	ck_assert_int_eq(net_add_route(rig.net, &r), -ENODEV);
	ck_assert_int_eq(net_add_neigh(rig.net, 1, &ok, group), -EINVAL);
	ck_assert_int_eq(net_add_neigh(rig.net, 0, &ok, rig_peer_mac), -ENODEV);
	ck_assert_int_eq(net_add_link(rig.net, &c, &id), -EINVAL);
	ck_assert_int_eq(net_set_link_up(rig.net, 0, false), -ENODEV);
}
END_TEST

START_TEST(an_mtu_out_of_range_is_brought_into_it)
{
	static const uint32_t given[] = { 0, 1, 67, 68, 1500, 65535, 65536, UINT32_MAX };
	static const uint32_t want[] = { 68, 68, 68, 68, 1500, 65535, 65535, 65535 };
	struct ns_link_config c = net_link(rig.net, 1)->config;

	for (size_t i = 0; i < NS_ARRAY_LEN(given); i++) {
		uint32_t id = 0;

		c.mtu = given[i];
		ck_assert_int_eq(net_add_link(rig.net, &c, &id), 0);
		ck_assert_uint_eq(net_link(rig.net, id)->config.mtu, want[i]);
	}
}
END_TEST

START_TEST(a_link_without_arp_sends_at_once)
{
	struct ns_link_config c = net_link(rig.net, 1)->config;
	struct ns_addr a = ns_addr_v4(0x0a070001);
	uint32_t id = 0;

	c.is_noarp = true;
	ck_assert_int_eq(net_add_link(rig.net, &c, &id), 0);
	ck_assert_int_eq(net_add_addr(rig.net, id, &a, 24), 0);
	ck_assert_int_eq(rig_send(&rig, 0x0a070002, 10, 1), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.stats.stat[STAT_ARP_REQUESTS], 0);
}
END_TEST

START_TEST(a_frame_on_a_link_that_is_down_is_dropped)
{
	uint8_t f[128] = { 0 };

	ck_assert_int_eq(net_set_link_up(rig.net, 1, false), 0);
	rig_ip4(f, RIG_PEER, RIG_US, RIG_PROTO, 40);
	rig_in(&rig, f, 74);
	ck_assert_uint_eq(rig_drops(&rig, DROP_LINK_DOWN), 1);
	ck_assert_int_eq(net_set_link_up(rig.net, 1, true), 0);
	rig_in(&rig, f, 74);
	ck_assert_uint_eq(rig.input_cnt, 1);
}
END_TEST

Suite *net_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/net", setup, teardown, &s);

	tcase_add_test(c, a_host_of_the_subnet_is_its_own_next_hop);
	tcase_add_test(c, a_gateway_is_the_next_hop_and_chooses_the_source);
	tcase_add_test(c, an_onlink_gateway_outside_of_every_subnet_is_resolved_there);
	tcase_add_test(c, a_default_without_gateway_asks_for_the_host_itself);
	tcase_add_test(c, the_routes_own_source_is_preferred);
	tcase_add_test(c, kept_paths_learn_of_changes);
	tcase_add_test(c, route_types_and_groups_refuse_as_linux_does);
	tcase_add_test(c, loopback_is_never_a_source_on_the_wire);
	tcase_add_test(c, no_address_at_all_means_this_host);
	tcase_add_test(c, local_routes_are_addresses_too);
	tcase_add_test(c, what_the_kernel_had_may_be_told_twice);
	tcase_add_test(c, nonsense_in_the_configuration_is_refused);
	tcase_add_test(c, an_mtu_out_of_range_is_brought_into_it);
	tcase_add_test(c, a_link_without_arp_sends_at_once);
	tcase_add_test(c, a_frame_on_a_link_that_is_down_is_dropped);
	return s;
}
