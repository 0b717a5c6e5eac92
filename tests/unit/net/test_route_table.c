/* SPDX-License-Identifier: Apache-2.0 */
/* test_route_table.c - net/route_table.c: longest prefix, order in a prefix, names of routes */
#include <errno.h>

#include "net/route_table.h"
#include "suites.h"
#include "support/prng.h"

static struct route_table t;

static void setup(void)
{
	ck_assert_int_eq(route_table_init(&t), 0);
}

static void teardown(void)
{
	route_table_done(&t);
}

static void add(uint32_t dst, uint8_t len, uint32_t link_id, uint32_t metric)
{
	struct ns_route r = {
		.dst = ns_addr_v4(dst), .prefix_len = len, .link_id = link_id, .metric = metric
	};

	ck_assert_int_eq(route_add(&t, &r), 0);
}

/* The first route of table main to @a, or an empty one. */
static const struct ns_route *first_to(const struct ns_addr *a)
{
	static const struct ns_route none;
	struct route_walk w;
	const struct route *r;

	r = route_walk_begin(&w, &t, a, NS_TABLE_MAIN) ? route_walk_prefix(&w) : NULL;
	return r ? &r->r : &none;
}

/* Link of that route to @dst, 0 without one. */
static uint32_t find(uint32_t dst)
{
	struct ns_addr a = ns_addr_v4(dst);

	return first_to(&a)->link_id;
}

START_TEST(longest_prefix_wins_whatever_the_metric)
{
	add(0, 0, 1, 0);
	add(0x0a000000, 8, 2, 0);
	add(0x0a090000, 16, 3, 900);
	ck_assert_uint_eq(find(0x0a090001), 3);
	ck_assert_uint_eq(find(0x0a080001), 2);
	ck_assert_uint_eq(find(0x0b000001), 1);
}
END_TEST

START_TEST(equal_metric_the_older_route_wins)
{
	add(0, 0, 2, 0);
	add(0, 0, 1, 0);
	ck_assert_uint_eq(find(0x01010101), 2);
}
END_TEST

START_TEST(the_same_route_twice_is_one_and_takes_the_newer_mtu)
{
	struct ns_route r = { .dst = ns_addr_v4(0x0a000000), .prefix_len = 8, .link_id = 1 };
	struct ns_addr a = ns_addr_v4(0x0a000001);
	uint32_t generation;

	ck_assert_int_eq(route_add(&t, &r), 0);
	generation = t.generation;
	r.mtu = 1400;
	ck_assert_int_eq(route_add(&t, &r), 0);
	ck_assert_uint_eq(t.cnt, 1);
	ck_assert_uint_ne(t.generation, generation);
	ck_assert_uint_eq(first_to(&a)->mtu, 1400);
}
END_TEST

START_TEST(host_bits_of_a_prefix_are_cut)
{
	add(0x0a090007, 24, 1, 0);
	ck_assert_uint_eq(find(0x0a0900ff), 1);
}
END_TEST

START_TEST(a_default_of_no_family_goes_by_its_gateway)
{
	struct ns_route r = { .gateway = ns_addr_v4(0x0a090001), .link_id = 2 };

	ck_assert_int_eq(route_add(&t, &r), 0);
	ck_assert_uint_eq(find(0x01010101), 2);
}
END_TEST

START_TEST(families_do_not_meet)
{
	struct ns_addr v6 = { { 0x20, 1, [15] = 1 } };
	struct ns_route r = { .gateway = v6, .link_id = 2 };

	ck_assert_int_eq(route_add(&t, &r), 0);
	ck_assert_uint_eq(find(0x01010101), 0);
	add(0, 0, 1, 0);
	ck_assert_uint_eq(find(0x01010101), 1);
	ck_assert_uint_eq(first_to(&v6)->link_id, 2);
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
	r.type = NS_ROUTE_TYPE_COUNT;
	ck_assert_int_eq(route_add(&t, &r), -EINVAL);
	ck_assert_uint_eq(t.cnt, 0);
}
END_TEST

START_TEST(of_one_prefix_the_lower_metric_stands_in_front)
{
	struct ns_addr a = ns_addr_v4(0x01010101);
	struct route_walk w;
	const struct route *r;

	add(0, 0, 2, 200);
	add(0, 0, 1, 100);
	add(0, 0, 3, 300);
	ck_assert(route_walk_begin(&w, &t, &a, NS_TABLE_MAIN));
	r = route_walk_prefix(&w);
	for (uint32_t i = 1; i <= 3; i++) {
		ck_assert_ptr_nonnull(r);
		ck_assert_uint_eq(r->hops[0].link_id, i);
		r = route_walk_same(&w, r);
	}
	ck_assert_ptr_null(r);
	ck_assert_ptr_null(route_walk_prefix(&w));
}
END_TEST

START_TEST(replace_takes_the_place_of_the_same_name_alone)
{
	struct ns_route r = { .dst = ns_addr_v4(0x0a000000), .prefix_len = 8, .link_id = 2 };

	add(0x0a000000, 8, 1, 0);
	ck_assert_int_eq(route_replace(&t, &r), 0);
	ck_assert_uint_eq(t.cnt, 1);
	ck_assert_uint_eq(find(0x0a000001), 2);
	r.metric = 5; /* another name: added */
	r.link_id = 3;
	ck_assert_int_eq(route_replace(&t, &r), 0);
	ck_assert_uint_eq(t.cnt, 2);
	ck_assert_uint_eq(find(0x0a000001), 2);
}
END_TEST

START_TEST(del_goes_by_name_and_next_hop)
{
	struct ns_route r = { .dst = ns_addr_v4(0), .metric = 7 };
	struct ns_nexthop hops[2] = { { .link_id = 1 }, { .link_id = 2 } };

	ck_assert_int_eq(route_del(&t, &r), -ESRCH);
	add(0, 0, 1, 7);
	add(0, 0, 2, 7);
	r.link_id = 2;
	ck_assert_int_eq(route_del(&t, &r), 0);
	ck_assert_uint_eq(find(0x01010101), 1);
	ck_assert_int_eq(route_del(&t, &r), -ESRCH);
	r.link_id = 0; /* whatever its next hop */
	ck_assert_int_eq(route_del(&t, &r), 0);
	ck_assert_uint_eq(t.cnt, 0);
	r.nexthops = hops;
	r.nexthop_cnt = 2;
	ck_assert_int_eq(route_add(&t, &r), 0);
	r.nexthop_cnt = 1;
	ck_assert_int_eq(route_del(&t, &r), -ESRCH);
	r.nexthop_cnt = 2;
	ck_assert_int_eq(route_del(&t, &r), 0);
	ck_assert_uint_eq(find(0x01010101), 0);
}
END_TEST

START_TEST(a_link_that_goes_takes_its_next_hops_along)
{
	struct ns_nexthop hops[2] = { { .link_id = 1 }, { .link_id = 2 } };
	struct ns_route r = { .dst = ns_addr_v4(0), .nexthops = hops, .nexthop_cnt = 2 };
	struct ns_route hole = { .dst = ns_addr_v4(0x0a000000),
				 .prefix_len = 8,
				 .type = NS_ROUTE_BLACKHOLE };

	ck_assert_int_eq(route_add(&t, &r), 0);
	ck_assert_int_eq(route_add(&t, &hole), 0);
	route_del_link(&t, 1);
	ck_assert_uint_eq(find(0x01010101), 2);
	route_del_link(&t, 2);
	ck_assert_uint_eq(find(0x01010101), 0);
	ck_assert_uint_eq(t.cnt, 1); /* the blackhole needs no link */
}
END_TEST

enum {
	MANY = 5000,
	LOOKUPS = 4000,
};

/* The table's answer the slow way: look at every route. */
static uint32_t slow_find(const struct ns_route *all, uint32_t dst)
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
	return best ? best->link_id : 0;
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

		ck_assert_uint_eq(find(dst), slow_find(all, dst));
	}
}
END_TEST

Suite *route_table_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/route_table", setup, teardown, &s);

	tcase_add_test(c, longest_prefix_wins_whatever_the_metric);
	tcase_add_test(c, equal_metric_the_older_route_wins);
	tcase_add_test(c, of_one_prefix_the_lower_metric_stands_in_front);
	tcase_add_test(c, replace_takes_the_place_of_the_same_name_alone);
	tcase_add_test(c, del_goes_by_name_and_next_hop);
	tcase_add_test(c, a_link_that_goes_takes_its_next_hops_along);
	tcase_add_test(c, the_same_route_twice_is_one_and_takes_the_newer_mtu);
	tcase_add_test(c, host_bits_of_a_prefix_are_cut);
	tcase_add_test(c, a_default_of_no_family_goes_by_its_gateway);
	tcase_add_test(c, families_do_not_meet);
	tcase_add_test(c, values_out_of_range_are_refused);
	tcase_add_test(c, five_thousand_routes_answer_as_a_linear_search_does);
	return s;
}
