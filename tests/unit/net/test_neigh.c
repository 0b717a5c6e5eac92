/* SPDX-License-Identifier: Apache-2.0 */
/* test_neigh.c - net/neigh.c: the states of a neighbour in virtual time, its queue, floods */
#include <string.h>

#include "link/link.h"
#include "net/neigh.h"
#include "net/proto.h"
#include "suites.h"

enum {
	CAP = 8,
};

static struct ns_env env;
static struct ns_core core;
static struct ns_stats stats;
static struct neigh_table *t;
static struct link link_1 = { .id = 1, .stats = &stats }, *const l1 = &link_1;
static uint32_t lost[DROP_COUNT];
static struct mono now;
static uint32_t asked_all, asked_one, failed, sent_cnt;
static uint32_t sent_len[64];
static uint8_t sent_mac[6];

static const uint8_t mac_a[6] = { 2, 0xa }, mac_b[6] = { 2, 0xb };

static void zero_random(void *ctx, void *buf, size_t len)
{
	(void)ctx;
	memset(buf, 0x80, len); /* reachable time: 30 s */
}

static void on_solicit(void *ctx, const struct neigh *n, bool is_unicast, struct mono at)
{
	(void)ctx;
	(void)at;
	(void)n;
	asked_all += !is_unicast;
	asked_one += is_unicast;
}

static void on_failed(void *ctx, const struct link *l, const struct pkt *p, struct mono at)
{
	(void)l;
	(void)ctx;
	ck_assert_uint_gt(pkt_len(p), 0);
	ck_assert_uint_eq(at.ns, now.ns);
	failed++;
}

static int on_xmit(void *ctx, struct link *l, const uint8_t mac[6], struct pkt *p)
{
	(void)ctx;
	ck_assert_ptr_eq(l, l1);
	memcpy(sent_mac, mac, 6);
	sent_len[sent_cnt++ % NS_ARRAY_LEN(sent_len)] = pkt_len(p);
	pkt_free(p);
	return 0;
}

static void on_lost(void *drv, const struct pkt *p, enum drop why)
{
	(void)drv;
	ck_assert_uint_gt(pkt_len(p), 14); /* with an Ethernet header, as a capture wants it */
	lost[why]++;
}

static void setup(void)
{
	static const struct ns_link_ops link_ops = { .lost = on_lost };
	static const struct neigh_ops ops = { .solicit = on_solicit,
					      .failed = on_failed,
					      .xmit = on_xmit };

	memset(&core, 0, sizeof(core));
	memset(&stats, 0, sizeof(stats));
	memset(lost, 0, sizeof(lost));
	link_1.config.ops = &link_ops;
	env.random = zero_random;
	core.env = &env;
	core.stats = &stats;
	core.limits.neighbours = CAP;
	timers_init(&core.timers);
	pool_init(&core.pkts, "pkt", sizeof(struct pkt), 128, 4);
	chunk_pools_init(&core.chunks, 4, 128, 4);
	t = neigh_table_new(&core, &ops, NULL);
	ck_assert_ptr_nonnull(t);
	now.ns = 100 * NS_PER_SEC;
	asked_all = asked_one = failed = sent_cnt = 0;
}

static void teardown(void)
{
	neigh_table_free(t);
	timers_done(&core.timers);
	pool_done(&core.pkts);
	chunk_pools_done(&core.chunks);
}

static struct ns_addr addr(uint32_t i)
{
	return ns_addr_v4(0x0a090000 + i);
}

static void send(uint32_t i, uint32_t len)
{
	struct ns_addr a = addr(i);
	struct pkt *p = pkt_new_tx(&core.pkts);
	struct chunk *c = chunk_new(&core.chunks, CHUNK_LARGE);

	ck_assert_ptr_nonnull(p);
	ck_assert_ptr_nonnull(c);
	*(uint8_t *)pkt_push(p, 1) = 0x45; /* as much of an IP header as the link looks at */
	if (len > 1)
		ck_assert_int_eq(pkt_add_frag(p, c, 0, len - 1), 0);
	chunk_unref(c);
	ck_assert_int_eq(neigh_output(t, l1, &a, p, now), 0);
}

static void hear(uint32_t i, const uint8_t mac[6], uint32_t flags)
{
	struct ns_addr a = addr(i);

	neigh_update(t, l1, &a, mac, flags, now);
}

static const struct neigh *entry(uint32_t i)
{
	struct ns_addr a = addr(i);

	return neigh_find(t, l1, &a);
}

static void expect_state(uint32_t i, enum neigh_state s)
{
	const struct neigh *n = entry(i);

	ck_assert_ptr_nonnull(n);
	ck_assert_str_eq(neigh_state_name((enum neigh_state)n->state), neigh_state_name(s));
}

static void pass(uint64_t ns)
{
	struct mono end = mono_add(now, ns);

	while (mono_le(timers_next(&core.timers), end)) {
		now = timers_next(&core.timers);
		timers_run(&core.timers, now);
	}
	now = end;
}

START_TEST(the_first_packet_asks_once_and_waits_for_the_answer)
{
	send(1, 10);
	send(1, 20);
	send(1, 30);
	ck_assert_uint_eq(asked_all, 1);
	ck_assert_uint_eq(sent_cnt, 0);
	expect_state(1, NEIGH_INCOMPLETE);
	hear(1, mac_a, NEIGH_UPD_SOLICITED);
	ck_assert_uint_eq(sent_cnt, 3);
	ck_assert_uint_eq(sent_len[0], 10);
	ck_assert_uint_eq(sent_len[1], 20);
	ck_assert_uint_eq(sent_len[2], 30);
	ck_assert_mem_eq(sent_mac, mac_a, 6);
	expect_state(1, NEIGH_REACHABLE);
	pass(20 * NS_PER_SEC);
	ck_assert_uint_eq(asked_all + asked_one, 1);
}
END_TEST

START_TEST(three_requests_a_second_apart_then_every_packet_fails)
{
	send(1, 10);
	send(1, 10);
	pass(NS_PER_SEC - 1);
	ck_assert_uint_eq(asked_all, 1);
	pass(1);
	ck_assert_uint_eq(asked_all, 2);
	pass(NS_PER_SEC);
	ck_assert_uint_eq(asked_all, 3);
	pass(NS_PER_SEC - 1);
	ck_assert_uint_eq(failed, 0);
	pass(1);
	ck_assert_uint_eq(failed, 2);
	ck_assert_uint_eq(stats.drop[DROP_NEIGH_FAILED], 2);
	ck_assert_uint_eq(lost[DROP_NEIGH_FAILED], 2);
	expect_state(1, NEIGH_FAILED);
	pass(60 * NS_PER_SEC);
	ck_assert_uint_eq(asked_all, 3);
	/* the next packet asks anew, and may be answered */
	send(1, 10);
	ck_assert_uint_eq(asked_all, 4);
	expect_state(1, NEIGH_INCOMPLETE);
	hear(1, mac_a, NEIGH_UPD_SOLICITED);
	ck_assert_uint_eq(sent_cnt, 1);
}
END_TEST

START_TEST(a_late_answer_stops_the_requests)
{
	send(1, 10);
	pass(NS_PER_SEC + 1);
	hear(1, mac_a, NEIGH_UPD_SOLICITED);
	ck_assert_uint_eq(sent_cnt, 1);
	pass(10 * NS_PER_SEC);
	ck_assert_uint_eq(asked_all, 2);
	ck_assert_uint_eq(failed, 0);
}
END_TEST

START_TEST(the_queue_keeps_the_newest_sixty_four)
{
	for (uint32_t i = 1; i <= 68; i++)
		send(1, i);
	ck_assert_uint_eq(stats.drop[DROP_NEIGH_QUEUE], 4);
	ck_assert_uint_eq(lost[DROP_NEIGH_QUEUE], 4);
	hear(1, mac_a, NEIGH_UPD_SOLICITED);
	ck_assert_uint_eq(sent_cnt, 64);
	ck_assert_uint_eq(sent_len[0], 5);
	ck_assert_uint_eq(sent_len[63], 68);
}
END_TEST

START_TEST(the_queue_keeps_128_kibioctets)
{
	for (uint32_t i = 0; i < 4; i++)
		send(1, 60000 + i);
	ck_assert_uint_eq(stats.drop[DROP_NEIGH_QUEUE], 2);
	hear(1, mac_a, NEIGH_UPD_SOLICITED);
	ck_assert_uint_eq(sent_cnt, 2);
	ck_assert_uint_eq(sent_len[0], 60002);
}
END_TEST

static void make_reachable(uint32_t i)
{
	send(i, 1);
	hear(i, mac_a, NEIGH_UPD_SOLICITED);
	asked_all = asked_one = sent_cnt = 0;
}

START_TEST(after_reachable_time_it_is_used_delayed_probed_and_given_up)
{
	make_reachable(1);
	pass(29 * NS_PER_SEC);
	send(1, 1);
	expect_state(1, NEIGH_REACHABLE);
	pass(2 * NS_PER_SEC);
	send(1, 1);
	expect_state(1, NEIGH_DELAY);
	ck_assert_uint_eq(sent_cnt, 2); /* used as it is */
	pass(5 * NS_PER_SEC);
	expect_state(1, NEIGH_PROBE);
	ck_assert_uint_eq(asked_one, 1);
	send(1, 1);
	ck_assert_uint_eq(sent_cnt, 3);
	pass(2 * NS_PER_SEC);
	ck_assert_uint_eq(asked_one, 3);
	ck_assert_uint_eq(asked_all, 0);
	pass(NS_PER_SEC);
	expect_state(1, NEIGH_FAILED);
	ck_assert_uint_eq(failed, 0);
}
END_TEST

START_TEST(an_answer_to_a_probe_makes_it_reachable)
{
	make_reachable(1);
	pass(31 * NS_PER_SEC);
	send(1, 1);
	pass(5 * NS_PER_SEC);
	expect_state(1, NEIGH_PROBE);
	hear(1, mac_a, NEIGH_UPD_SOLICITED);
	expect_state(1, NEIGH_REACHABLE);
	pass(20 * NS_PER_SEC);
	ck_assert_uint_eq(asked_one, 1);
}
END_TEST

START_TEST(progress_of_a_transport_spares_the_probe)
{
	struct ns_addr a = addr(1);

	make_reachable(1);
	pass(31 * NS_PER_SEC);
	send(1, 1);
	expect_state(1, NEIGH_DELAY);
	neigh_confirm(t, l1, &a, now);
	expect_state(1, NEIGH_REACHABLE);
	for (int i = 0; i < 10; i++) {
		pass(20 * NS_PER_SEC);
		send(1, 1);
		neigh_confirm(t, l1, &a, now);
		expect_state(1, NEIGH_REACHABLE);
	}
	ck_assert_uint_eq(asked_one + asked_all, 0);
}
END_TEST

START_TEST(a_claim_nobody_asked_for_makes_no_entry)
{
	hear(1, mac_a, 0);
	hear(2, mac_a, NEIGH_UPD_SOLICITED);
	ck_assert_ptr_null(entry(1));
	ck_assert_ptr_null(entry(2));
}
END_TEST

START_TEST(an_asker_is_remembered_stale_and_checked_when_used)
{
	hear(1, mac_a, NEIGH_UPD_CREATE);
	expect_state(1, NEIGH_STALE);
	send(1, 1);
	ck_assert_uint_eq(sent_cnt, 1);
	expect_state(1, NEIGH_DELAY);
}
END_TEST

START_TEST(a_new_mac_is_taken_only_after_a_second)
{
	make_reachable(1);
	hear(1, mac_b, NEIGH_UPD_SOLICITED); /* the second answer to one request */
	ck_assert_mem_eq(entry(1)->mac, mac_a, 6);
	expect_state(1, NEIGH_REACHABLE);
	pass(NS_PER_SEC);
	hear(1, mac_b, 0);
	ck_assert_mem_eq(entry(1)->mac, mac_b, 6);
	expect_state(1, NEIGH_STALE);
}
END_TEST

START_TEST(the_same_mac_again_changes_no_state)
{
	make_reachable(1);
	pass(10 * NS_PER_SEC);
	hear(1, mac_a, 0);
	expect_state(1, NEIGH_REACHABLE);
}
END_TEST

START_TEST(a_permanent_entry_changes_by_nothing)
{
	struct ns_addr a = addr(1);

	ck_assert_int_eq(neigh_add_permanent(t, l1, &a, mac_a), 0);
	pass(3600 * NS_PER_SEC);
	hear(1, mac_b, NEIGH_UPD_SOLICITED);
	hear(1, mac_b, NEIGH_UPD_CREATE);
	neigh_flush_link(t, l1, false);
	send(1, 1);
	expect_state(1, NEIGH_PERMANENT);
	ck_assert_mem_eq(sent_mac, mac_a, 6);
	ck_assert_uint_eq(asked_all + asked_one, 0);
}
END_TEST

START_TEST(a_permanent_entry_takes_the_place_of_a_learned_one_and_sends_what_waits)
{
	struct ns_addr a = addr(1);

	send(1, 7);
	ck_assert_int_eq(neigh_add_permanent(t, l1, &a, mac_b), 0);
	ck_assert_uint_eq(sent_cnt, 1);
	ck_assert_mem_eq(sent_mac, mac_b, 6);
	pass(10 * NS_PER_SEC);
	ck_assert_uint_eq(failed, 0);
}
END_TEST

START_TEST(a_flood_of_claims_displaces_only_its_own)
{
	struct ns_addr perm = addr(0xfff);

	ck_assert_int_eq(neigh_add_permanent(t, l1, &perm, mac_b), 0);
	for (uint32_t i = 1; i < CAP; i++)
		make_reachable(i);
	for (uint32_t i = 0; i < 100000; i++) {
		struct ns_addr a = ns_addr_v4(0x0b000000 + i);

		neigh_update(t, l1, &a, mac_b, NEIGH_UPD_CREATE, now);
	}
	for (uint32_t i = 1; i < CAP; i++)
		expect_state(i, NEIGH_REACHABLE);
	expect_state(0xfff, NEIGH_PERMANENT);
}
END_TEST

START_TEST(at_the_cap_the_least_recently_used_goes)
{
	for (uint32_t i = 1; i <= CAP; i++)
		make_reachable(i);
	send(1, 1); /* the oldest, used again */
	make_reachable(CAP + 1);
	ck_assert_ptr_nonnull(entry(1));
	ck_assert_ptr_null(entry(2));
	ck_assert_ptr_nonnull(entry(3));
}
END_TEST

START_TEST(an_entry_displaced_while_asking_takes_its_packets_along)
{
	for (uint32_t i = 1; i <= CAP + 1; i++)
		send(i, 1);
	ck_assert_ptr_null(entry(1));
	ck_assert_uint_eq(stats.drop[DROP_NEIGH_QUEUE], 1);
	pass(10 * NS_PER_SEC);
	ck_assert_uint_eq(failed, CAP);
}
END_TEST

START_TEST(a_link_that_goes_down_forgets_its_neighbours)
{
	make_reachable(1);
	send(2, 1);
	neigh_flush_link(t, l1, false);
	ck_assert_ptr_null(entry(1));
	ck_assert_ptr_null(entry(2));
	pass(10 * NS_PER_SEC);
	ck_assert_uint_eq(failed, 0);
}
END_TEST

Suite *neigh_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/neigh", setup, teardown, &s);

	tcase_add_test(c, the_first_packet_asks_once_and_waits_for_the_answer);
	tcase_add_test(c, three_requests_a_second_apart_then_every_packet_fails);
	tcase_add_test(c, a_late_answer_stops_the_requests);
	tcase_add_test(c, the_queue_keeps_the_newest_sixty_four);
	tcase_add_test(c, the_queue_keeps_128_kibioctets);
	tcase_add_test(c, after_reachable_time_it_is_used_delayed_probed_and_given_up);
	tcase_add_test(c, an_answer_to_a_probe_makes_it_reachable);
	tcase_add_test(c, progress_of_a_transport_spares_the_probe);
	tcase_add_test(c, a_claim_nobody_asked_for_makes_no_entry);
	tcase_add_test(c, an_asker_is_remembered_stale_and_checked_when_used);
	tcase_add_test(c, a_new_mac_is_taken_only_after_a_second);
	tcase_add_test(c, the_same_mac_again_changes_no_state);
	tcase_add_test(c, a_permanent_entry_changes_by_nothing);
	tcase_add_test(c, a_permanent_entry_takes_the_place_of_a_learned_one_and_sends_what_waits);
	tcase_add_test(c, a_flood_of_claims_displaces_only_its_own);
	tcase_add_test(c, at_the_cap_the_least_recently_used_goes);
	tcase_add_test(c, an_entry_displaced_while_asking_takes_its_packets_along);
	tcase_add_test(c, a_link_that_goes_down_forgets_its_neighbours);
	return s;
}
