/* SPDX-License-Identifier: Apache-2.0 */
/* test_route_select.c - rules, tables, metrics, next hops and sources, asked as an operator asks */
#include <errno.h>
#include <string.h>

#include "ns/stack.h"
#include "suites.h"

enum { LINKS = 3, FLOWS = 3000 };

static struct ns_stack *s;

static void no_random(void *ctx, void *buf, size_t len)
{
	(void)ctx;
	memset(buf, 1, len);
}

static int no_xmit(void *drv, struct pkt *const *pkts, uint32_t cnt)
{
	(void)drv;
	(void)pkts;
	return (int)cnt;
}

/* Links 1 to 3 are e1 to e3 with ifindex 11 to 13; 10.0.N.2/24 is on link N. */
static void setup(void)
{
	static const struct ns_env env = { .random = no_random };
	static const struct ns_link_ops ops = { .xmit = no_xmit };

	s = ns_stack_new(&env, NULL);
	ck_assert_ptr_nonnull(s);
	for (uint32_t i = 1; i <= LINKS; i++) {
		struct ns_link_config c = { .name = { 'e', (char)('0' + i) },
					    .ifindex = 10 + i,
					    .mtu = 1500,
					    .mac = { 2, [5] = (uint8_t)i },
					    .is_up = true,
					    .ops = &ops };
		struct ns_addr a = ns_addr_v4(0x0a000002 | i << 8);
		uint32_t id;

		ck_assert_int_eq(ns_stack_add_link(s, &c, &id), 0);
		ck_assert_uint_eq(id, i);
		ck_assert_int_eq(ns_stack_add_addr(s, id, &a, 24), 0);
	}
}

static void teardown(void)
{
	ns_stack_free(s);
}

static struct ns_route route(uint32_t dst, uint8_t len, uint32_t link_id)
{
	return (struct ns_route){ .dst = ns_addr_v4(dst),
				  .prefix_len = len,
				  .gateway = ns_addr_v4(0x0a000001 | link_id << 8),
				  .link_id = link_id };
}

static void add(struct ns_route r)
{
	ck_assert_int_eq(ns_stack_add_route(s, &r), 0);
}

static void rule(struct ns_rule r)
{
	r.table = r.table ? r.table : 100;
	ck_assert_int_eq(ns_stack_add_rule(s, &r), 0);
}

/* Link the flow leaves by, or the negative errno. */
static int ask(struct ns_flow f)
{
	struct ns_route_answer a;
	int err = ns_stack_find_route(s, &f, &a);

	return err < 0 ? err : (int)a.link_id;
}

static int find(uint32_t dst)
{
	return ask((struct ns_flow){ .dst = ns_addr_v4(dst) });
}

START_TEST(of_several_defaults_the_lowest_metric_and_the_next_when_its_link_is_down)
{
	for (uint32_t i = 1; i <= LINKS; i++) {
		struct ns_route r = route(0, 0, i);

		r.metric = 100 * (LINKS + 1 - i);
		add(r);
	}
	ck_assert_int_eq(find(0x01010101), 3);
	ck_assert_int_eq(ns_stack_set_link_up(s, 3, false), 0);
	ck_assert_int_eq(find(0x01010101), 2);
	ck_assert_int_eq(ns_stack_set_link_up(s, 2, false), 0);
	ck_assert_int_eq(find(0x01010101), 1);
	ck_assert_int_eq(ns_stack_set_link_up(s, 3, true), 0);
	ck_assert_int_eq(find(0x01010101), 3);
	ck_assert_int_eq(ns_stack_del_link(s, 3), 0);
	ck_assert_int_eq(find(0x01010101), 1);
}
END_TEST

START_TEST(types_answer_with_linux_errnos_and_throw_goes_on)
{
	static const struct {
		uint8_t type;
		int err;
	} rows[] = { { NS_ROUTE_BLACKHOLE, -EINVAL },
		     { NS_ROUTE_UNREACHABLE, -EHOSTUNREACH },
		     { NS_ROUTE_PROHIBIT, -EACCES },
		     { NS_ROUTE_THROW, 1 } };

	ck_assert_int_eq(find(0x01010101), -ENETUNREACH);
	add(route(0, 0, 1));
	rule((struct ns_rule){ .priority = 10 });
	for (uint32_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		add((struct ns_route){ .dst = ns_addr_v4(0x0a630000 + (i << 8)),
				       .prefix_len = 24,
				       .table = 100,
				       .type = rows[i].type });
		ck_assert_int_eq(find(0x0a630001 + (i << 8)), rows[i].err);
	}
}
END_TEST

START_TEST(rules_say_which_table_by_what_the_packet_is)
{
	struct ns_route other = route(0, 0, 2);
	struct ns_flow f = { .dst = ns_addr_v4(0x01010101) };

	other.table = 100;
	add(route(0, 0, 1));
	add(other);
	ck_assert_int_eq(ask(f), 1); /* nobody asks table 100 */
	rule((struct ns_rule){ .priority = 10, .fwmark = 1, .fwmask = 0xff });
	rule((struct ns_rule){ .priority = 11, .from = ns_addr_v4(0x0a000302), .from_len = 32 });
	rule((struct ns_rule){ .priority = 12, .to = ns_addr_v4(0x02000000), .to_len = 8 });
	rule((struct ns_rule){ .priority = 13, .proto = 17, .dport_min = 53, .dport_max = 53 });
	rule((struct ns_rule){ .priority = 14, .tos = 0x10 });
	rule((struct ns_rule){ .priority = 15, .oif = "e2" });
	rule((struct ns_rule){ .priority = 16, .iif = "e2" });
	ck_assert_int_eq(ask(f), 1);
	f.mark = 0x101;
	ck_assert_int_eq(ask(f), 2);
	f.mark = 2;
	ck_assert_int_eq(ask(f), 1);
	f.src = ns_addr_v4(0x0a000302);
	ck_assert_int_eq(ask(f), 2);
	f.src = ns_addr_v4(0);
	f.proto = 17;
	f.dport = 53;
	ck_assert_int_eq(ask(f), 2);
	f.dport = 54;
	ck_assert_int_eq(ask(f), 1);
	f.tos = 0x10;
	ck_assert_int_eq(ask(f), 2);
	f.tos = 0;
	f.oif = 12;
	ck_assert_int_eq(ask(f), 2);
	ck_assert_int_eq(find(0x02010101), 2);
}
END_TEST

START_TEST(rules_refuse_jump_and_suppress)
{
	struct ns_rule no = { .priority = 30, .action = NS_RULE_PROHIBIT };

	add(route(0, 0, 1));
	rule((struct ns_rule){ .priority = 20, .table = NS_TABLE_MAIN, .has_suppress_len = true });
	rule(no);
	ck_assert_int_eq(find(0x01010101), -EACCES); /* the default does not count */
	ck_assert_int_eq(find(0x0a000207), 2);
	rule((struct ns_rule){ .priority = 10, .action = NS_RULE_GOTO, .target = 32766 });
	ck_assert_int_eq(find(0x01010101), 1);
	no.table = 100;
	ck_assert_int_eq(ns_stack_del_rule(s, &no), 0);
	ck_assert_int_eq(ns_stack_del_rule(s, &no), -ENOENT);
	no = (struct ns_rule){ .priority = 9, .action = NS_RULE_GOTO, .target = 8 };
	ck_assert_int_eq(ns_stack_add_rule(s, &no), -EINVAL);
	ns_stack_flush_rules(s, false);
	ck_assert_int_eq(find(0x0a000207), -ENETUNREACH);
}
END_TEST

static int by_user(uint32_t dst, uint32_t uid, uint8_t tos)
{
	const struct ns_flow f = { .dst = ns_addr_v4(dst), .uid = uid, .tos = tos };
	struct ns_route_answer a;
	int r = ns_stack_find_route(s, &f, &a);

	return r < 0 ? r : (int)a.link_id;
}

START_TEST(rules_by_user_dscp_and_group_of_the_link)
{
	struct ns_route by2 = route(0, 0, 2), by3 = route(0, 0, 3);
	struct ns_rule wrong = { .priority = 1, .has_uid = true, .uid_min = 2, .uid_max = 1 };

	by2.table = 100;
	by3.table = 101;
	add(route(0, 0, 1));
	add(by2);
	add(by3);
	rule((struct ns_rule){
		.priority = 10, .table = 100, .has_uid = true, .uid_min = 1000, .uid_max = 1001 });
	rule((struct ns_rule){
		.priority = 20, .table = 101, .has_dscp = true, .dscp = 46, .dscp_mask = 63 });
	rule((struct ns_rule){
		.priority = 30, .table = 101, .has_dscp = true, .dscp = 8, .dscp_mask = 0x38 });
	ck_assert_int_eq(by_user(0x01010101, 0, 0), 1);
	ck_assert_int_eq(by_user(0x01010101, 999, 0), 1);
	ck_assert_int_eq(by_user(0x01010101, 1000, 0), 2);
	ck_assert_int_eq(by_user(0x01010101, 1001, 0), 2);
	ck_assert_int_eq(by_user(0x01010101, 1002, 0), 1);
	ck_assert_int_eq(by_user(0x01010101, 0, 46 << 2 | 3), 3);
	ck_assert_int_eq(by_user(0x01010101, 0, 47 << 2), 1);
	ck_assert_int_eq(by_user(0x01010101, 0, 15 << 2), 3);
	ck_assert_int_eq(ns_stack_add_rule(s, &wrong), -EINVAL);
	/* wg-quick: the main table, but for its default and what leaves by links of that group */
	rule((struct ns_rule){ .priority = 5, .table = NS_TABLE_MAIN, .has_suppress_len = true });
	ck_assert_int_eq(by_user(0x0a000107, 1000, 0), 1);
	ck_assert_int_eq(by_user(0x01010101, 1000, 0), 2);
	rule((struct ns_rule){ .priority = 4, .table = 100, .has_suppress_group = true });
	ck_assert_int_eq(by_user(0x01010101, 0, 0), 1); /* all links are in group 0 */
	rule((struct ns_rule){
		.priority = 3, .table = 100, .has_suppress_group = true, .suppress_group = 7 });
	ck_assert_int_eq(by_user(0x01010101, 0, 0), 2);
}
END_TEST

START_TEST(next_hops_share_flows_by_weight_and_a_flow_stays)
{
	struct ns_nexthop hops[2] = {
		{ .gateway = ns_addr_v4(0x0a000101), .link_id = 1, .weight = 3 },
		{ .gateway = ns_addr_v4(0x0a000201), .link_id = 2, .weight = 1 }
	};
	struct ns_route r = { .dst = ns_addr_v4(0), .nexthops = hops, .nexthop_cnt = 2 };
	uint32_t first = 0;
	int way[FLOWS];

	add(r);
	for (uint32_t i = 0; i < FLOWS; i++) {
		way[i] = find(0x01000000 + i * 7919);
		first += way[i] == 1;
	}
	ck_assert_uint_ge(first, FLOWS * 70 / 100);
	ck_assert_uint_le(first, FLOWS * 80 / 100);
	ck_assert_int_eq(ns_stack_set_link_up(s, 1, false), 0);
	for (uint32_t i = 0; i < FLOWS; i++)
		ck_assert_int_eq(find(0x01000000 + i * 7919), 2);
	ck_assert_int_eq(ns_stack_set_link_up(s, 1, true), 0);
	for (uint32_t i = 0; i < FLOWS; i++)
		ck_assert_int_eq(find(0x01000000 + i * 7919), way[i]);
}
END_TEST

START_TEST(local_routes_are_ours_and_an_ipv6_router_serves_ipv4)
{
	static const struct ns_addr router = { { 0x20, 1, 0x0d, 0xb8, [15] = 1 } };
	struct ns_flow f = { .dst = ns_addr_v4(0x0a550007) };
	struct ns_route_answer a;

	add((struct ns_route){
		.dst = ns_addr_v4(0x0a550000), .prefix_len = 24, .type = NS_ROUTE_LOCAL });
	ck_assert_int_eq(ns_stack_find_route(s, &f, &a), 0);
	ck_assert_int_eq(a.type, NS_ROUTE_LOCAL);
	ck_assert(ns_addr_eq(&a.src, &f.dst));
	add((struct ns_route){
		.dst = ns_addr_v4(0x0a660000), .prefix_len = 16, .gateway = router, .link_id = 3 });
	f.dst = ns_addr_v4(0x0a660001);
	ck_assert_int_eq(ns_stack_find_route(s, &f, &a), 0);
	ck_assert_uint_eq(a.link_id, 3);
	ck_assert(ns_addr_eq(&a.gateway, &router));
	ck_assert_uint_eq(ns_addr_to_v4(&a.src), 0x0a000302);
}
END_TEST

START_TEST(the_source_is_primary_of_the_right_scope_and_goes_with_its_address)
{
	struct ns_ifaddr near = { .addr = ns_addr_v4(0x0a010002),
				  .prefix_len = 24,
				  .scope = NS_SCOPE_LINK };
	struct ns_addr first = ns_addr_v4(0x0a000102), more = ns_addr_v4(0x0a000103);
	struct ns_flow f = { .dst = ns_addr_v4(0x01010101) };
	struct ns_route_answer a;

	ck_assert_int_eq(ns_stack_set_addr(s, 1, &near),
			 0); /* stands in front, but is no source for far away */
	ck_assert_int_eq(ns_stack_add_addr(s, 1, &more, 24), 0);
	add(route(0, 0, 1));
	ck_assert_int_eq(ns_stack_find_route(s, &f, &a), 0);
	ck_assert(ns_addr_eq(&a.src, &first));
	f.src = first;
	ck_assert_int_eq(ask(f), 1);
	ck_assert_int_eq(ns_stack_del_addr(s, 1, &first), 0);
	ck_assert_int_eq(ask(f), -ENETUNREACH); /* not ours any more */
	ck_assert_int_eq(ns_stack_del_addr(s, 1, &first), -EADDRNOTAVAIL);
}
END_TEST

Suite *route_select_suite(void)
{
	Suite *suite;
	TCase *c = unit_suite("net/route_select", setup, teardown, &suite);

	tcase_add_test(c, of_several_defaults_the_lowest_metric_and_the_next_when_its_link_is_down);
	tcase_add_test(c, types_answer_with_linux_errnos_and_throw_goes_on);
	tcase_add_test(c, rules_say_which_table_by_what_the_packet_is);
	tcase_add_test(c, rules_refuse_jump_and_suppress);
	tcase_add_test(c, rules_by_user_dscp_and_group_of_the_link);
	tcase_add_test(c, next_hops_share_flows_by_weight_and_a_flow_stays);
	tcase_add_test(c, local_routes_are_ours_and_an_ipv6_router_serves_ipv4);
	tcase_add_test(c, the_source_is_primary_of_the_right_scope_and_goes_with_its_address);
	return suite;
}
