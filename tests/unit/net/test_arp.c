/* SPDX-License-Identifier: Apache-2.0 */
/* test_arp.c - net/arp.c: what is answered, what is learned, what is refused (RFC 826, RFC 5227) */
#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "rig.h"
#include "suites.h"

static struct rig rig;
static const uint8_t none[6];

static void setup(void)
{
	rig_init(&rig);
}

static void teardown(void)
{
	rig_done(&rig);
}

static const struct neigh *peer(uint32_t v4)
{
	struct ns_addr a = ns_addr_v4(v4);

	return neigh_find(rig.net->neighs, net_link(rig.net, 1), &a);
}

static void hear(uint16_t op, uint32_t spa, const uint8_t tha[6], uint32_t tpa)
{
	uint8_t f[64];

	rig_in(&rig, f, rig_arp(f, op, rig_peer_mac, spa, tha, tpa));
}

START_TEST(a_request_for_us_is_answered_and_the_asker_learned)
{
	uint8_t want[64];

	hear(1, RIG_PEER, none, RIG_US);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	rig_arp(want, 2, rig_mac[1], RIG_US, rig_peer_mac, RIG_PEER);
	memcpy(want, rig_peer_mac, 6);
	ck_assert_uint_eq(rig.sent[0].len, 42);
	ck_assert_mem_eq(rig.sent[0].data, want, 42);
	ck_assert_ptr_nonnull(peer(RIG_PEER));
	ck_assert_uint_eq(peer(RIG_PEER)->state, NEIGH_STALE);
}
END_TEST

START_TEST(any_address_of_ours_is_answered_on_any_link)
{
	hear(1, RIG_PEER, none, 0x0a080002);
	ck_assert_uint_eq(rig.sent_cnt, 1);
}
END_TEST

START_TEST(requests_for_others_loopback_and_broadcast_are_not_answered)
{
	hear(1, RIG_PEER, none, RIG_PEER + 5);
	hear(1, RIG_PEER, none, 0x7f000001);
	hear(1, RIG_PEER, none, 0x0a0900ff);
	hear(1, RIG_PEER, none, 0xffffffff);
	ck_assert_uint_eq(rig.sent_cnt, 0);
	ck_assert_ptr_null(peer(RIG_PEER));
}
END_TEST

START_TEST(a_probe_for_our_address_is_answered_and_not_learned)
{
	hear(1, 0, none, RIG_US);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_ptr_null(peer(0));
}
END_TEST

START_TEST(an_announcement_makes_no_entry_but_refreshes_one)
{
	hear(1, RIG_PEER, none, RIG_PEER);
	ck_assert_ptr_null(peer(RIG_PEER));
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 10, 1), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1); /* the request */
	hear(1, RIG_PEER, none, RIG_PEER);
	ck_assert_uint_eq(peer(RIG_PEER)->state, NEIGH_STALE);
	ck_assert_uint_eq(rig.sent_cnt, 2);
}
END_TEST

START_TEST(a_claim_of_our_address_is_counted_and_changes_nothing)
{
	hear(1, RIG_US, none, RIG_US);
	hear(2, RIG_US, rig_mac[1], RIG_US);
	hear(1, RIG_US, none, RIG_PEER);
	ck_assert_uint_eq(rig_drops(&rig, DROP_ARP_OURS), 3);
	ck_assert_uint_eq(rig.sent_cnt, 1); /* it is defended, once */
	ck_assert_ptr_null(peer(RIG_US));
}
END_TEST

START_TEST(a_request_of_ours_is_by_the_book_and_its_answer_sends_what_waits)
{
	uint8_t want[64];

	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 10, 1), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	rig_arp(want, 1, rig_mac[1], RIG_US, none, RIG_PEER);
	ck_assert_mem_eq(rig.sent[0].data, want, 42);
	hear(2, RIG_PEER, rig_mac[1], RIG_US);
	ck_assert_uint_eq(peer(RIG_PEER)->state, NEIGH_REACHABLE);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	ck_assert_mem_eq(rig.sent[1].data, rig_peer_mac, 6);
	ck_assert_mem_eq(rig.sent[1].data + 6, rig_mac[1], 6);
}
END_TEST

START_TEST(no_answer_is_told_to_the_transport_as_host_unreachable)
{
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 10, 1), 0);
	rig_pass(&rig, 3 * NS_PER_SEC);
	ck_assert_uint_eq(rig.stats.stat[STAT_ARP_REQUESTS], 3);
	ck_assert_uint_eq(rig.error_cnt, 1);
	ck_assert_int_eq(rig.last_err.err, -EHOSTUNREACH);
	ck_assert(rig.last_err.is_hard);
	ck_assert_uint_eq(ns_addr_to_v4(&rig.last_err.local.addr), RIG_US);
	ck_assert_uint_eq(ns_addr_to_v4(&rig.last_err.remote.addr), RIG_PEER);
	ck_assert_uint_eq(rig.last_err.local.port, 0x1234);
	ck_assert_uint_eq(rig.last_err.remote.port, 0x5678);
	ck_assert(rig.last_err.has_seq);
	ck_assert_uint_eq(rig.last_err.seq, 0xdeadbeef);
}
END_TEST

START_TEST(a_configured_neighbour_is_never_asked_for)
{
	struct ns_addr a = ns_addr_v4(RIG_PEER);

	ck_assert_int_eq(net_add_neigh(rig.net, 1, &a, rig_peer_mac), 0);
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 10, 1), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].data[13], 0); /* IPv4 */
	ck_assert_mem_eq(rig.sent[0].data, rig_peer_mac, 6);
}
END_TEST

START_TEST(malformed_messages_are_dropped_whatever_their_length)
{
	/* offset and value of one octet each */
	static const uint8_t bad[][2] = { { 15, 6 }, { 14, 1 },   { 16, 0x86 }, { 17, 1 },
					  { 18, 5 }, { 18, 0 },   { 19, 16 },   { 19, 0 },
					  { 21, 0 }, { 21, 3 },   { 21, 4 },    { 20, 1 },
					  { 22, 1 }, { 28, 127 }, { 28, 224 } };
	uint8_t f[64];
	uint64_t cnt = 0;

	for (uint32_t len = 14; len < 42; len++, cnt++) {
		rig_arp(f, 1, rig_peer_mac, RIG_PEER, none, RIG_US);
		rig_in(&rig, f, len);
	}
	for (size_t i = 0; i < NS_ARRAY_LEN(bad); i++, cnt++) {
		rig_arp(f, 1, rig_peer_mac, RIG_PEER, none, RIG_US);
		f[bad[i][0]] = bad[i][1];
		rig_in(&rig, f, 42);
	}
	rig_arp(f, 1, rig_peer_mac, 0xffffffff, none, RIG_US);
	rig_in(&rig, f, 42);
	ck_assert_uint_eq(rig_drops(&rig, DROP_ARP_BAD), cnt + 1);
	ck_assert_uint_eq(rig.sent_cnt, 0);
	ck_assert_ptr_null(peer(RIG_PEER));
}
END_TEST

START_TEST(padding_behind_a_message_is_no_matter)
{
	uint8_t f[64] = { 0 };

	rig_arp(f, 1, rig_peer_mac, RIG_PEER, none, RIG_US);
	rig_in(&rig, f, 60);
	ck_assert_uint_eq(rig.sent_cnt, 1);
}
END_TEST

Suite *arp_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/arp", setup, teardown, &s);

	tcase_add_test(c, a_request_for_us_is_answered_and_the_asker_learned);
	tcase_add_test(c, any_address_of_ours_is_answered_on_any_link);
	tcase_add_test(c, requests_for_others_loopback_and_broadcast_are_not_answered);
	tcase_add_test(c, a_probe_for_our_address_is_answered_and_not_learned);
	tcase_add_test(c, an_announcement_makes_no_entry_but_refreshes_one);
	tcase_add_test(c, a_claim_of_our_address_is_counted_and_changes_nothing);
	tcase_add_test(c, a_request_of_ours_is_by_the_book_and_its_answer_sends_what_waits);
	tcase_add_test(c, no_answer_is_told_to_the_transport_as_host_unreachable);
	tcase_add_test(c, a_configured_neighbour_is_never_asked_for);
	tcase_add_test(c, malformed_messages_are_dropped_whatever_their_length);
	tcase_add_test(c, padding_behind_a_message_is_no_matter);
	return s;
}
