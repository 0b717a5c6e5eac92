/* SPDX-License-Identifier: Apache-2.0 */
/* test_route.c - net/route.c: longest prefix, metric, types, links that are down */
#include <errno.h>

#include "net/route.h"
#include "suites.h"
#include "support/prng.h"

static struct route_table t;

static void setup(void)
{
	ck_assert_int_eq(route_init(&t), 0);
	for (uint32_t i = 1; i <= 3; i++)
		route_set_link_up(&t, i, true);
}

static void teardown(void)
{
	route_done(&t);
}

static void add(uint32_t dst, uint8_t len, uint32_t link_id, uint32_t metric)
{
	struct ns_route r = {
		.dst = ns_addr_v4(dst), .prefix_len = len, .link_id = link_id, .metric = metric
	};

	ck_assert_int_eq(route_add(&t, &r), 0);
}

/* Link of the route to @dst, or the negative errno. */
static int find(uint32_t dst)
{
	struct ns_addr a = ns_addr_v4(dst);
	const struct ns_route *r = NULL;
	int err = route_find(&t, &a, &r);

	return err < 0 ? err : (int)r->link_id;
}

START_TEST(longest_prefix_wins_whatever_the_metric)
{
	add(0, 0, 1, 0);
	add(0x0a000000, 8, 2, 0);
	add(0x0a090000, 16, 3, 900);
	ck_assert_int_eq(find(0x0a090001), 3);
	ck_assert_int_eq(find(0x0a080001), 2);
	ck_assert_int_eq(find(0x0b000001), 1);
}
END_TEST

START_TEST(of_one_prefix_the_lowest_metric_wins_and_the_next_takes_over)
{
	add(0, 0, 2, 200);
	add(0, 0, 1, 100);
	add(0, 0, 3, 300);
	ck_assert_int_eq(find(0x01010101), 1);
	route_set_link_up(&t, 1, false);
	ck_assert_int_eq(find(0x01010101), 2);
	route_set_link_up(&t, 2, false);
	ck_assert_int_eq(find(0x01010101), 3);
	route_set_link_up(&t, 3, false);
	ck_assert_int_eq(find(0x01010101), -ENETUNREACH);
	route_set_link_up(&t, 1, true);
	ck_assert_int_eq(find(0x01010101), 1);
}
END_TEST

START_TEST(equal_metric_the_older_route_wins)
{
	add(0, 0, 2, 0);
	add(0, 0, 1, 0);
	ck_assert_int_eq(find(0x01010101), 2);
}
END_TEST

START_TEST(a_longer_prefix_over_a_link_that_is_down_is_not_there)
{
	add(0, 0, 1, 0);
	add(0x0a000000, 8, 2, 0);
	route_set_link_up(&t, 2, false);
	ck_assert_int_eq(find(0x0a000001), 1);
}
END_TEST

START_TEST(types_answer_with_their_errno)
{
	static const struct {
		uint8_t type;
		int err;
	} rows[] = {
		{ NS_ROUTE_BLACKHOLE, -EINVAL },
		{ NS_ROUTE_UNREACHABLE, -EHOSTUNREACH },
		{ NS_ROUTE_PROHIBIT, -EACCES },
	};

	add(0, 0, 1, 0);
	for (uint32_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		struct ns_route r = { .dst = ns_addr_v4(0x0a630000 + (i << 8)),
				      .prefix_len = 24,
				      .type = rows[i].type };

		ck_assert_int_eq(route_add(&t, &r), 0);
		ck_assert_int_eq(find(0x0a630001 + (i << 8)), rows[i].err);
	}
	ck_assert_int_eq(find(0x0a640001), 1);
}
END_TEST

START_TEST(no_route_at_all_is_unreachable)
{
	ck_assert_int_eq(find(0x01010101), -ENETUNREACH);
}
END_TEST

START_TEST(the_same_route_twice_is_one_and_takes_the_newer_mtu)
{
	struct ns_route r = { .dst = ns_addr_v4(0x0a000000), .prefix_len = 8, .link_id = 1 };
	struct ns_addr a = ns_addr_v4(0x0a000001);
	const struct ns_route *got = NULL;
	uint32_t generation;

	ck_assert_int_eq(route_add(&t, &r), 0);
	generation = t.generation;
	r.mtu = 1400;
	ck_assert_int_eq(route_add(&t, &r), 0);
	ck_assert_uint_eq(t.cnt, 1);
	ck_assert_uint_ne(t.generation, generation);
	ck_assert_int_eq(route_find(&t, &a, &got), 0);
	ck_assert_uint_eq(got->mtu, 1400);
}
END_TEST

START_TEST(host_bits_of_a_prefix_are_cut)
{
	add(0x0a090007, 24, 1, 0);
	ck_assert_int_eq(find(0x0a0900ff), 1);
}
END_TEST

START_TEST(local_is_asked_before_main_and_default_last)
{
	struct ns_route r = { .dst = ns_addr_v4(0x0a000001), .prefix_len = 32, .link_id = 3 };

	r.table = ROUTE_TABLE_DEFAULT;
	ck_assert_int_eq(route_add(&t, &r), 0);
	ck_assert_int_eq(find(0x0a000001), 3);
	add(0, 0, 1, 0);
	ck_assert_int_eq(find(0x0a000001), 1); /* a match in main ends the search */
	r.table = ROUTE_TABLE_LOCAL;
	r.link_id = 2;
	r.type = NS_ROUTE_LOCAL;
	ck_assert_int_eq(route_add(&t, &r), 0);
	ck_assert_int_eq(find(0x0a000001), 2);
}
END_TEST

START_TEST(other_tables_are_kept_and_not_asked)
{
	struct ns_route r = { .dst = ns_addr_v4(0), .link_id = 1, .table = 20 };

	ck_assert_int_eq(route_add(&t, &r), 0);
	ck_assert_uint_eq(t.cnt, 1);
	ck_assert_int_eq(find(0x01010101), -ENETUNREACH);
}
END_TEST

START_TEST(a_default_of_no_family_goes_by_its_gateway)
{
	struct ns_route r = { .gateway = ns_addr_v4(0x0a090001), .link_id = 2 };

	ck_assert_int_eq(route_add(&t, &r), 0);
	ck_assert_int_eq(find(0x01010101), 2);
}
END_TEST

START_TEST(families_do_not_meet)
{
	struct ns_addr v6 = { { 0x20, 1, [15] = 1 } };
	struct ns_route r = { .gateway = v6, .link_id = 2 };
	const struct ns_route *got = NULL;

	ck_assert_int_eq(route_add(&t, &r), 0);
	ck_assert_int_eq(find(0x01010101), -ENETUNREACH);
	ck_assert_int_eq(route_find(&t, &v6, &got), 0);
	add(0, 0, 1, 0);
	ck_assert_int_eq(find(0x01010101), 1);
	ck_assert_int_eq(route_find(&t, &v6, &got), 0);
	ck_assert_uint_eq(got->link_id, 2);
}
END_TEST

START_TEST(values_out_of_range_are_refused)
{
	struct ns_route r = { .dst = ns_addr_v4(0x0a000000), .prefix_len = 33 };

	ck_assert_int_eq(route_add(&t, &r), -EINVAL);
	r.prefix_len = 8;
	r.link_id = ROUTE_LINKS_MAX;
	ck_assert_int_eq(route_add(&t, &r), -EINVAL);
	r.link_id = 1;
	r.type = NS_ROUTE_PROHIBIT + 1;
	ck_assert_int_eq(route_add(&t, &r), -EINVAL);
	ck_assert_uint_eq(t.cnt, 0);
}
END_TEST

enum {
	MANY = 5000,
	LOOKUPS = 4000,
};

/* The table's answer the slow way: look at every route. */
static int slow_find(const struct ns_route *all, uint32_t dst)
{
	const struct ns_route *best = NULL;

	for (uint32_t i = 0; i < MANY; i++) {
		const struct ns_route *r = &all[i];
		uint32_t diff = ns_addr_to_v4(&r->dst) ^ dst;

		if (r->prefix_len && diff >> (32 - r->prefix_len))
			continue;
		if (!best || r->prefix_len > best->prefix_len ||
		    (r->prefix_len == best->prefix_len && r->metric < best->metric))
			best = r;
	}
	return best ? (int)best->link_id : -ENETUNREACH;
}

START_TEST(five_thousand_routes_answer_as_a_linear_search_does)
{
	static struct ns_route all[MANY];
	struct prng prng = { 7 };

	for (uint32_t i = 0; i < MANY; i++) {
		all[i] = (struct ns_route){
			.dst = ns_addr_v4(0x0a000000 | (uint32_t)prng_below(&prng, 1u << 20)),
			.prefix_len = (uint8_t)prng_between(&prng, 8, 32),
			.link_id = (uint32_t)prng_between(&prng, 1, 3),
			.metric = i, /* no two alike: one right answer */
		};
		ck_assert_int_eq(route_add(&t, &all[i]), 0);
	}
	ck_assert_uint_eq(t.cnt, MANY);
	for (uint32_t i = 0; i < LOOKUPS; i++) {
		uint32_t dst = 0x0a000000 | (uint32_t)prng_below(&prng, 1u << 21);

		ck_assert_int_eq(find(dst), slow_find(all, dst));
	}
}
END_TEST

Suite *route_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/route", setup, teardown, &s);

	tcase_add_test(c, longest_prefix_wins_whatever_the_metric);
	tcase_add_test(c, of_one_prefix_the_lowest_metric_wins_and_the_next_takes_over);
	tcase_add_test(c, equal_metric_the_older_route_wins);
	tcase_add_test(c, a_longer_prefix_over_a_link_that_is_down_is_not_there);
	tcase_add_test(c, types_answer_with_their_errno);
	tcase_add_test(c, no_route_at_all_is_unreachable);
	tcase_add_test(c, the_same_route_twice_is_one_and_takes_the_newer_mtu);
	tcase_add_test(c, host_bits_of_a_prefix_are_cut);
	tcase_add_test(c, local_is_asked_before_main_and_default_last);
	tcase_add_test(c, other_tables_are_kept_and_not_asked);
	tcase_add_test(c, a_default_of_no_family_goes_by_its_gateway);
	tcase_add_test(c, families_do_not_meet);
	tcase_add_test(c, values_out_of_range_are_refused);
	tcase_add_test(c, five_thousand_routes_answer_as_a_linear_search_does);
	return s;
}
