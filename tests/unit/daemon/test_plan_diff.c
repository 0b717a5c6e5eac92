/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_diff.c - the steps between two plans: each kind of change, order, and random plans */
#include <arpa/inet.h>
#include <check.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/common/plan_diff.h"
#include "support/prng.h"

#define ROUNDS 3000

static struct plan old, new;
static struct plan_diff d;

static struct plan_ip ip4(uint8_t last)
{
	return (struct plan_ip){ .family = AF_INET, .b = { 10, 0, 0, last } };
}

static struct plan_link *link_add(struct plan *p, const char *name, uint32_t ifindex)
{
	struct plan_link *l = plan_add_link(p);

	(void)snprintf(l->name, sizeof(l->name), "%s", name);
	l->ifindex = ifindex;
	l->mtu = 1500;
	l->flags = IFF_UP;
	l->driver = PLAN_DRIVER_PACKET;
	l->vnet_hdr_len = 10;
	return l;
}

static struct plan_addr *addr_add(struct plan *p, uint32_t link_idx, uint8_t last)
{
	struct plan_addr *a = plan_add_addr(p);

	a->link_idx = link_idx;
	a->local = ip4(last);
	a->prefix_len = 24;
	return a;
}

static struct plan_route *route_add(struct plan *p, uint32_t link_idx, uint8_t last)
{
	struct plan_route *r = plan_add_route(p);

	r->family = AF_INET;
	r->type = RTN_UNICAST;
	r->table = RT_TABLE_MAIN;
	r->link_idx = link_idx;
	r->dst_len = 32;
	r->dst = ip4(last);
	return r;
}

/* A plan with one row of everything about one link. */
static void small_plan(struct plan *p)
{
	struct plan_rule *rule;
	struct plan_neigh *n;

	plan_init(p);
	p->options.channel_cnt = 1;
	(void)link_add(p, "eth0", 7);
	(void)addr_add(p, 0, 1);
	(void)route_add(p, 0, 2);
	rule = plan_add_rule(p);
	rule->family = AF_INET;
	rule->priority = 100;
	n = plan_add_neigh(p);
	n->addr = ip4(3);
	n->state = 0x80;
}

static void setup(void)
{
	small_plan(&old);
	small_plan(&new);
}

static void teardown(void)
{
	plan_diff_done(&d);
	plan_done(&old);
	plan_done(&new);
}

static void diff(void)
{
	char why[128];

	ck_assert_int_eq(plan_check(&old, why, sizeof(why)), 0);
	ck_assert_int_eq(plan_check(&new, why, sizeof(why)), 0);
	plan_diff_done(&d);
	ck_assert_int_eq(plan_diff(&old, &new, &d), 0);
}

/* The diff is exactly these: table, operation, row, rows. */
#define expect(...)                                                                                \
	do {                                                                                       \
		static const struct plan_change want_[] = { __VA_ARGS__ };                         \
		size_t cnt_ = sizeof(want_) / sizeof(want_[0]);                                    \
                                                                                                   \
		diff();                                                                            \
		ck_assert_uint_eq(d.cnt, cnt_);                                                    \
		for (size_t i_ = 0; i_ < cnt_; i_++) {                                             \
			ck_assert_int_eq(d.rows[i_].table, want_[i_].table);                       \
			ck_assert_int_eq(d.rows[i_].op, want_[i_].op);                             \
			ck_assert_uint_eq(d.rows[i_].idx, want_[i_].idx);                          \
			ck_assert_uint_eq(d.rows[i_].cnt, want_[i_].cnt);                          \
		}                                                                                  \
	} while (0)

START_TEST(equal_plans_need_nothing)
{
	diff();
	ck_assert_uint_eq(d.cnt, 0);
}
END_TEST

START_TEST(the_start_is_the_difference_to_nothing)
{
	plan_done(&old);
	old.options.channel_cnt = 1;
	expect({ PLAN_LINK, PLAN_ADD, 0, 1 }, { PLAN_ROUTE, PLAN_ADD, 0, 1 },
	       { PLAN_NEIGH, PLAN_ADD, 0, 1 }, { PLAN_ADDR, PLAN_ADD, 0, 1 },
	       { PLAN_RULE, PLAN_ADD, 0, 1 });
}
END_TEST

START_TEST(what_refers_to_others_goes_first)
{
	plan_done(&new);
	new.options.channel_cnt = 1;
	expect({ PLAN_RULE, PLAN_DEL, 0, 1 }, { PLAN_ADDR, PLAN_DEL, 0, 1 },
	       { PLAN_NEIGH, PLAN_DEL, 0, 1 }, { PLAN_ROUTE, PLAN_DEL, 0, 1 },
	       { PLAN_LINK, PLAN_DEL, 0, 1 });
}
END_TEST

START_TEST(a_link_with_other_values_is_set)
{
	for (int i = 0; i < 6; i++) {
		struct plan_link *l = &new.links[0];
		struct plan_link was = *l;

		switch (i) {
		case 0:
			l->mtu = 1400;
			break;
		case 1:
			l->mac[5] = 9;
			break;
		case 2:
			l->flags = 0;
			break;
		case 3:
			l->gso_max_size = 1;
			break;
		case 4:
			l->gso_max_segs = 3;
			break;
		default:
			l->name[3] = '1';
		}
		expect({ PLAN_LINK, PLAN_SET, 0, 1 });
		*l = was;
	}
	new.links[0].flags |= IFF_RUNNING; /* the carrier is no wish */
	diff();
	ck_assert_uint_eq(d.cnt, 0);
}
END_TEST

START_TEST(a_link_in_front_moves_rows_but_changes_nothing_else)
{
	struct plan_link *l = link_add(&new, "eth1", 3);
	struct plan_link first = new.links[0];

	new.links[0] = *l;
	new.links[1] = first;
	new.addrs[0].link_idx = new.routes[0].link_idx = new.neighs[0].link_idx = 1;
	expect({ PLAN_LINK, PLAN_ADD, 0, 1 });
}
END_TEST

START_TEST(an_address_with_other_flags_is_set_and_keeps_its_routes)
{
	new.addrs[0].flags = 0x20;
	expect({ PLAN_ADDR, PLAN_SET, 0, 1 });
	new.addrs[0].prefix_len = 25; /* another one for the kernel */
	expect({ PLAN_ADDR, PLAN_DEL, 0, 1 }, { PLAN_ADDR, PLAN_ADD, 0, 1 });
}
END_TEST

START_TEST(a_route_that_changed_is_another)
{
	new.routes[0].mtu = 1300;
	expect({ PLAN_ROUTE, PLAN_DEL, 0, 1 }, { PLAN_ROUTE, PLAN_ADD, 0, 1 });
}
END_TEST

START_TEST(order_is_the_kernels_and_ipv6_addresses_are_told_backwards)
{
	struct plan_addr *a;

	for (uint8_t i = 1; i <= 3; i++) {
		a = plan_add_addr(&new);
		a->local = (struct plan_ip){ .family = i == 2 ? AF_INET : AF_INET6, .b = { i } };
		a->prefix_len = 32;
	}
	expect({ PLAN_ADDR, PLAN_ADD, 2, 1 }, { PLAN_ADDR, PLAN_ADD, 3, 1 },
	       { PLAN_ADDR, PLAN_ADD, 1, 1 });
}
END_TEST

START_TEST(next_hops_of_one_route_are_one_step)
{
	for (int i = 0; i < 3; i++) {
		struct plan_route *r = route_add(&new, 0, 9);

		r->weight = 1 + (uint32_t)i;
		r->gateway = ip4((uint8_t)(20 + i));
	}
	expect({ PLAN_ROUTE, PLAN_ADD, 1, 3 });
	for (int i = 0; i < 2; i++) {
		struct plan_route *r = route_add(&old, 0, 9);

		r->weight = 1 + (uint32_t)i;
		r->gateway = ip4((uint8_t)(20 + i));
	}
	expect({ PLAN_ROUTE, PLAN_DEL, 1, 2 }, { PLAN_ROUTE, PLAN_ADD, 1, 3 });
}
END_TEST

START_TEST(a_link_carried_in_another_way_takes_its_rows_along)
{
	new.links[0].driver = PLAN_DRIVER_TAP;
	expect({ PLAN_ADDR, PLAN_DEL, 0, 1 }, { PLAN_NEIGH, PLAN_DEL, 0, 1 },
	       { PLAN_ROUTE, PLAN_DEL, 0, 1 }, { PLAN_LINK, PLAN_DEL, 0, 1 },
	       { PLAN_LINK, PLAN_ADD, 0, 1 }, { PLAN_ROUTE, PLAN_ADD, 0, 1 },
	       { PLAN_NEIGH, PLAN_ADD, 0, 1 }, { PLAN_ADDR, PLAN_ADD, 0, 1 });
}
END_TEST

/* ---- random plans ---- */

static struct prng rnd;

static uint32_t below(uint32_t n)
{
	return (uint32_t)prng_below(&rnd, n);
}

static void random_plan(struct plan *p)
{
	uint32_t links = 1 + below(3);

	plan_init(p);
	p->options.channel_cnt = 1;
	for (uint32_t i = 0; i < links; i++)
		link_add(p, "x", 1 + i * 2 + below(2))->mtu = 1000 + below(2);
	for (uint32_t i = below(6); i > 0; i--)
		addr_add(p, below(links), (uint8_t)below(4))->flags = below(2);
	for (uint32_t i = below(12); i > 0; i--) {
		struct plan_route *r = route_add(p, below(links), (uint8_t)below(4));

		r->weight = below(3);
		r->metric = below(2);
	}
}

/* Takes the rows away that @d deletes, and counts those that stay. */
static size_t rows_left(enum plan_table t, size_t old_cnt, size_t *ret_added)
{
	size_t left = old_cnt;

	*ret_added = 0;
	for (size_t i = 0; i < d.cnt; i++) {
		if (d.rows[i].table != t)
			continue;
		if (d.rows[i].op == PLAN_DEL)
			left -= d.rows[i].cnt;
		else if (d.rows[i].op == PLAN_ADD)
			*ret_added += d.rows[i].cnt;
	}
	return left;
}

START_TEST(random_plans_come_out_with_the_right_number_of_rows)
{
	rnd.state = 42;
	plan_done(&old);
	plan_done(&new);
	for (int i = 0; i < ROUNDS; i++) {
		size_t added, left;

		random_plan(&old);
		random_plan(&new);
		diff();
		left = rows_left(PLAN_LINK, old.link_cnt, &added);
		ck_assert_uint_eq(left + added, new.link_cnt);
		left = rows_left(PLAN_ROUTE, old.route_cnt, &added);
		ck_assert_uint_eq(left + added, new.route_cnt);
		left = rows_left(PLAN_ADDR, old.addr_cnt, &added);
		ck_assert_uint_eq(left + added, new.addr_cnt);
		for (size_t k = 1; k < d.cnt; k++) /* deletions, links, then the rest */
			ck_assert(d.rows[k - 1].op == PLAN_DEL || d.rows[k].op != PLAN_DEL);
		plan_done(&old);
		old = new;
		plan_diff_done(&d);
		ck_assert_int_eq(plan_diff(&old, &new, &d), 0);
		ck_assert_uint_eq(d.cnt, 0);
		plan_init(&new);
		plan_done(&old);
	}
}
END_TEST

START_TEST(many_routes_are_sorted_in_time)
{
	plan_done(&old);
	plan_done(&new);
	old.options.channel_cnt = new.options.channel_cnt = 1;
	(void)link_add(&old, "eth0", 7);
	(void)link_add(&new, "eth0", 7);
	for (uint32_t i = 0; i < 50000; i++) {
		struct plan_route *a = route_add(&old, 0, 1), *b = route_add(&new, 0, 1);

		a->metric = i;
		b->metric = 49999 - i;
	}
	new.routes[17].metric = 50000;
	expect({ PLAN_ROUTE, PLAN_DEL, 49982, 1 }, { PLAN_ROUTE, PLAN_ADD, 17, 1 });
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan_diff");
	TCase *tc = tcase_create("plan_diff");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, equal_plans_need_nothing);
	tcase_add_test(tc, the_start_is_the_difference_to_nothing);
	tcase_add_test(tc, what_refers_to_others_goes_first);
	tcase_add_test(tc, a_link_with_other_values_is_set);
	tcase_add_test(tc, a_link_in_front_moves_rows_but_changes_nothing_else);
	tcase_add_test(tc, an_address_with_other_flags_is_set_and_keeps_its_routes);
	tcase_add_test(tc, a_route_that_changed_is_another);
	tcase_add_test(tc, order_is_the_kernels_and_ipv6_addresses_are_told_backwards);
	tcase_add_test(tc, next_hops_of_one_route_are_one_step);
	tcase_add_test(tc, a_link_carried_in_another_way_takes_its_rows_along);
	tcase_add_test(tc, random_plans_come_out_with_the_right_number_of_rows);
	tcase_add_test(tc, many_routes_are_sorted_in_time);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
