/* SPDX-License-Identifier: Apache-2.0 */
/* test_ndp.c - net/ndp.c and neigh_advertise(): who is asked, answered and believed (RFC 4861) */
#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "rig6.h"
#include "suites.h"

enum {
	NS = 135,
	NA = 136,
	SLLA = 1,
	TLLA = 2,
};

#define SOLICITED UINT32_C(0x40000000)
#define OVERRIDE  UINT32_C(0x20000000)

static struct rig rig;
static uint8_t f[2048];
static const uint8_t evil_mac[6] = { 2, 0xee, 0, 0, 0, 1 };

static void setup(void)
{
	r6_init(&rig);
}

static void teardown(void)
{
	rig_done(&rig);
}

static const struct neigh *entry(struct ns_addr a)
{
	return neigh_find(rig.net->neighs6, net_link(rig.net, 1), &a);
}

static void dies(uint32_t len, enum drop why)
{
	uint64_t before = rig_drops(&rig, why);
	uint32_t sent = rig.sent_cnt;

	r6_in(&rig, f, len);
	ck_assert_msg(rig_drops(&rig, why) == before + 1, "%s did not count", drop_name(why));
	ck_assert_uint_eq(rig.sent_cnt, sent);
}

static uint32_t ns_from(struct ns_addr src, struct ns_addr target)
{
	return r6_nd(f, src, r6_group(target), NS, 0, target, SLLA, rig_peer_mac);
}

static void hear_na(uint32_t flags, const uint8_t *mac)
{
	r6_in(&rig, f, r6_nd(f, r6_peer, r6_us, NA, flags, r6_peer, mac ? TLLA : 0, mac));
}

/* Send to the peer and let it answer: its entry is REACHABLE, nothing is in @sent. */
static void make_reachable(void)
{
	ck_assert_int_eq(r6_send(&rig, r6_peer, 10), 0);
	hear_na(SOLICITED | OVERRIDE, rig_peer_mac);
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_REACHABLE);
	rig.sent_cnt = 0;
}

START_TEST(rfc4861_s7_2_2_a_solicitation_is_by_the_book)
{
	const uint8_t *e = rig.sent[0].data;
	struct ns_addr group = r6_group(r6_peer);

	ck_assert_int_eq(r6_send(&rig, r6_peer, 10), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].len, R6_BODY + 32);
	ck_assert(r6_is_good(&rig, 0));
	ck_assert_mem_eq(e, "\x33\x33\xff\0\0\1", 6);
	ck_assert_uint_eq(e[R6_HOPS], 255);
	ck_assert_mem_eq(e + 22, r6_us.b, 16);
	ck_assert_mem_eq(e + 38, group.b, 16);
	ck_assert_uint_eq(e[R6_BODY], NS);
	ck_assert_mem_eq(e + R6_BODY + 8, r6_peer.b, 16);
	ck_assert_mem_eq(e + R6_BODY + 24, "\1\1\2\0\0\0\0\1", 8);
	hear_na(SOLICITED | OVERRIDE, rig_peer_mac);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	ck_assert_mem_eq(rig.sent[1].data, rig_peer_mac, 6);
	ck_assert_uint_eq(rig.sent[1].data[R6_NEXT], RIG_PROTO);
}
END_TEST

START_TEST(rfc4861_s7_2_4_a_solicitation_for_us_is_answered_and_the_asker_learned)
{
	const uint8_t *e = rig.sent[0].data;

	r6_in(&rig, f, ns_from(r6_peer, r6_us));
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert(r6_is_good(&rig, 0));
	ck_assert_mem_eq(e, rig_peer_mac, 6);
	ck_assert_uint_eq(e[R6_HOPS], 255);
	ck_assert_mem_eq(e + 22, r6_us.b, 16);
	ck_assert_mem_eq(e + 38, r6_peer.b, 16);
	ck_assert_uint_eq(e[R6_BODY], NA);
	ck_assert_uint_eq(e[R6_BODY + 4], 0x60); /* solicited, override, no router */
	ck_assert_mem_eq(e + R6_BODY + 8, r6_us.b, 16);
	ck_assert_mem_eq(e + R6_BODY + 24, "\2\1\2\0\0\0\0\1", 8);
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_STALE);
}
END_TEST

START_TEST(link_local_neighbours_are_told_from_those_of_other_links)
{
	r6_in(&rig, f, ns_from(r6_peer_ll, r6_us_ll));
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_mem_eq(rig.sent[0].data + 22, r6_us_ll.b, 16);
	ck_assert_mem_eq(rig.sent[0].data + 38, r6_peer_ll.b, 16);
	ck_assert_mem_eq(rig.sent[0].data + R6_BODY + 8, r6_us_ll.b, 16);
	ck_assert_ptr_nonnull(entry(r6_zoned(r6_peer_ll)));
	ck_assert_ptr_null(entry(r6_peer_ll));
}
END_TEST

START_TEST(rfc4862_s5_4_3_duplicate_address_detection_is_answered_to_all)
{
	uint32_t len = r6_nd(f, r6_any, r6_group(r6_us), NS, 0, r6_us, 0, NULL);

	r6_in(&rig, f, len);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_mem_eq(rig.sent[0].data, "\x33\x33\0\0\0\1", 6);
	ck_assert_mem_eq(rig.sent[0].data + 38, r6_all_nodes.b, 16);
	ck_assert_uint_eq(rig.sent[0].data[R6_BODY + 4], 0x20); /* override, not solicited */
	ck_assert_ptr_null(entry(r6_any));
	/* from :: with a MAC, or not to the group: RFC 4861 7.1.1 */
	dies(r6_nd(f, r6_any, r6_group(r6_us), NS, 0, r6_us, SLLA, rig_peer_mac), DROP_ND_BAD);
	dies(r6_nd(f, r6_any, r6_us, NS, 0, r6_us, 0, NULL), DROP_ND_BAD);
}
END_TEST

START_TEST(rfc4861_s7_1_messages_that_crossed_a_router_or_are_malformed_are_refused)
{
	static const uint8_t hops[] = { 0, 1, 64, 254 };
	static const uint8_t types[] = { NS, NA };
	struct ns_addr group = r6_group(r6_us);

	make_reachable();
	for (size_t t = 0; t < 2; t++) {
		uint8_t type = types[t], opt = t ? TLLA : SLLA;
		uint32_t flags = t ? OVERRIDE : 0, len;
		struct ns_addr target = t ? r6_peer : r6_us;

		for (size_t i = 0; i < sizeof(hops); i++) {
			len = r6_nd(f, r6_peer, r6_us, type, flags, target, opt, evil_mac);
			f[R6_HOPS] = hops[i];
			dies(len, DROP_ND_BAD);
		}
		len = r6_nd(f, r6_peer, r6_us, type, flags, target, opt, evil_mac);
		f[R6_BODY + 1] = 1; /* code */
		r6_fix(f, len, R6_BODY);
		dies(len, DROP_ND_BAD);
		for (uint32_t body = 0; body < 16; body++) /* shorter than a target */
			dies(r6_icmp(f, r6_peer, r6_us, type, 0, flags, target.b, body),
			     DROP_ND_BAD);
		dies(r6_nd(f, r6_peer, r6_us, type, flags, group, opt, evil_mac), DROP_ND_BAD);
		dies(r6_nd(f, r6_peer, r6_us, type, flags, target, opt,
			   (const uint8_t[]){ 3, 0, 0, 0, 0, 1 }),
		     DROP_ND_BAD);
	}
	/* solicited, but to a group: RFC 4861 7.1.2 */
	dies(r6_nd(f, r6_peer, r6_all_nodes, NA, SOLICITED | OVERRIDE, r6_peer, TLLA, evil_mac),
	     DROP_ND_BAD);
	dies(r6_nd(f, r6_peer, group, NS, 0, r6_us, 0, NULL), DROP_ND_BAD);
	ck_assert_mem_eq(entry(r6_peer)->mac, rig_peer_mac, 6);
}
END_TEST

START_TEST(rfc4861_s4_6_options_of_length_zero_or_beyond_the_message_are_refused)
{
	/* target and one option that is not what it says */
	for (uint32_t opt_len = 0; opt_len < 256; opt_len++) {
		uint8_t body[40];

		memcpy(body, r6_us.b, 16);
		memset(body + 16, 0, 24);
		body[16] = 200; /* unknown */
		body[17] = (uint8_t)opt_len;
		if (opt_len == 0 || opt_len > 3)
			dies(r6_icmp(f, r6_peer, r6_us, NS, 0, 0, body, 40), DROP_ND_BAD);
	}
	/* one octet alone is none */
	{
		uint8_t body[17] = { 0 };

		memcpy(body, r6_us.b, 16);
		dies(r6_icmp(f, r6_peer, r6_us, NS, 0, 0, body, 17), DROP_ND_BAD);
	}
	ck_assert_ptr_null(entry(r6_peer));
}
END_TEST

START_TEST(rfc6980_s5_discovery_in_fragments_is_refused)
{
	uint8_t body[64] = { R6_ICMP, 0, 0, 0, 1, 2, 3, 4 };
	uint32_t len = ns_from(r6_peer, r6_us);

	/* the checksum does not cover extension headers */
	memcpy(body + 8, f + R6_BODY, len - R6_BODY);
	dies(r6_frame(f, r6_peer, r6_group(r6_us), 44, body, len - R6_BODY + 8), DROP_ND_BAD);
}
END_TEST

START_TEST(solicitations_for_others_are_not_answered)
{
	struct ns_addr other = r6_other, third = r6_us;

	third.b[15] = 7;
	dies(r6_nd(f, r6_peer, r6_us, NS, 0, other, SLLA, rig_peer_mac), DROP_ND_NOT_US);
	dies(r6_nd(f, r6_peer, r6_us, NS, 0, third, SLLA, rig_peer_mac), DROP_ND_NOT_US);
	ck_assert_ptr_null(entry(r6_peer));
}
END_TEST

START_TEST(rfc4861_s7_2_5_an_advertisement_nobody_waits_for_makes_no_entry)
{
	dies(r6_nd(f, r6_peer, r6_us, NA, SOLICITED | OVERRIDE, r6_peer, TLLA, evil_mac),
	     DROP_ND_NO_ENTRY);
	ck_assert_ptr_null(entry(r6_peer));
}
END_TEST

START_TEST(a_claim_of_our_address_is_counted_and_changes_nothing)
{
	dies(r6_nd(f, r6_peer, r6_all_nodes, NA, OVERRIDE, r6_us, TLLA, evil_mac), DROP_ND_OURS);
	dies(r6_nd(f, r6_us, r6_all_nodes, NA, OVERRIDE, r6_us, TLLA, evil_mac), DROP_IP6_BAD_SRC);
	r6_in(&rig, f, ns_from(r6_peer, r6_us));
	ck_assert_uint_eq(rig.sent_cnt, 1);
}
END_TEST

START_TEST(rfc4861_s7_2_5_incomplete_takes_the_first_mac_it_hears)
{
	ck_assert_int_eq(r6_send(&rig, r6_peer, 10), 0);
	hear_na(SOLICITED, NULL); /* without a MAC it is no answer */
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_INCOMPLETE);
	hear_na(0, rig_peer_mac);
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_STALE);
	ck_assert_mem_eq(entry(r6_peer)->mac, rig_peer_mac, 6);
	ck_assert_uint_eq(rig.sent_cnt, 2); /* what waited has left */
}
END_TEST

START_TEST(rfc4861_s7_2_5_without_override_a_new_mac_only_casts_doubt)
{
	make_reachable();
	hear_na(SOLICITED, evil_mac);
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_STALE);
	ck_assert_mem_eq(entry(r6_peer)->mac, rig_peer_mac, 6);
	hear_na(SOLICITED, evil_mac); /* STALE: no change at all */
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_STALE);
	ck_assert_mem_eq(entry(r6_peer)->mac, rig_peer_mac, 6);
}
END_TEST

START_TEST(rfc4861_s7_2_5_with_override_a_new_mac_counts)
{
	make_reachable();
	hear_na(OVERRIDE, evil_mac);
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_STALE);
	ck_assert_mem_eq(entry(r6_peer)->mac, evil_mac, 6);
	hear_na(OVERRIDE | SOLICITED, rig_peer_mac);
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_REACHABLE);
	ck_assert_mem_eq(entry(r6_peer)->mac, rig_peer_mac, 6);
	hear_na(0, rig_peer_mac); /* nothing new, not asked for */
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_REACHABLE);
}
END_TEST

START_TEST(rfc4861_s7_2_3_a_solicitation_with_another_mac_makes_the_entry_stale)
{
	make_reachable();
	r6_in(&rig, f, r6_nd(f, r6_peer, r6_us, NS, 0, r6_us, SLLA, evil_mac));
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_STALE);
	ck_assert_mem_eq(entry(r6_peer)->mac, evil_mac, 6);
	make_reachable();
	r6_in(&rig, f, ns_from(r6_peer, r6_us)); /* nothing new */
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_REACHABLE);
}
END_TEST

START_TEST(rfc4861_s7_3_3_stale_is_used_then_probed_by_unicast_then_given_up)
{
	const uint8_t *e;

	make_reachable();
	rig_pass(&rig, 46 * NS_PER_SEC); /* longer than any reachable time */
	ck_assert_int_eq(r6_send(&rig, r6_peer, 10), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_DELAY);
	rig_pass(&rig, 5 * NS_PER_SEC);
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_PROBE);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	e = rig.sent[1].data;
	ck_assert_mem_eq(e, rig_peer_mac, 6);
	ck_assert_mem_eq(e + 38, r6_peer.b, 16);
	ck_assert_uint_eq(e[R6_BODY], NS);
	rig_pass(&rig, 2 * NS_PER_SEC);
	ck_assert_uint_eq(rig.sent_cnt, 4);
	rig_pass(&rig, NS_PER_SEC);
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_FAILED);
	ck_assert_uint_eq(rig.sent_cnt, 4);
	/* the next packet asks the group again */
	ck_assert_int_eq(r6_send(&rig, r6_peer, 10), 0);
	ck_assert_mem_eq(rig.sent[4].data, "\x33\x33\xff\0\0\1", 6);
}
END_TEST

START_TEST(rfc4861_s7_3_1_progress_of_a_transport_confirms)
{
	struct dst d;

	make_reachable();
	rig_pass(&rig, 46 * NS_PER_SEC);
	ck_assert_int_eq(r6_send(&rig, r6_peer, 10), 0);
	ck_assert_int_eq(net_route(rig.net, &r6_peer, NULL, &d), 0);
	net_confirm(rig.net, &d, rig.now);
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_REACHABLE);
	rig_pass(&rig, 10 * NS_PER_SEC);
	ck_assert_uint_eq(rig.sent_cnt, 1); /* no probe */
}
END_TEST

START_TEST(rfc4861_s7_2_2_no_answer_is_told_to_the_transport_after_three)
{
	ck_assert_int_eq(r6_send(&rig, r6_peer, 10), 0);
	rig_pass(&rig, 3 * NS_PER_SEC);
	ck_assert_uint_eq(rig.stats.stat[STAT_ND_SOLICITATIONS], 3);
	ck_assert_uint_eq(rig.error_cnt, 1);
	ck_assert_int_eq(rig.last_err.err, -EHOSTUNREACH);
	ck_assert(ns_addr_eq(&rig.last_err.local.addr, &r6_us));
	ck_assert(ns_addr_eq(&rig.last_err.remote.addr, &r6_peer));
	ck_assert_uint_eq(rig.last_err.seq, 0xdeadbeef);
}
END_TEST

START_TEST(a_configured_neighbour_is_changed_by_nothing)
{
	ck_assert_int_eq(net_add_neigh(rig.net, 1, &r6_peer, rig_peer_mac), 0);
	hear_na(SOLICITED | OVERRIDE, evil_mac);
	r6_in(&rig, f, r6_nd(f, r6_peer, r6_us, NS, 0, r6_us, SLLA, evil_mac));
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_PERMANENT);
	ck_assert_mem_eq(entry(r6_peer)->mac, rig_peer_mac, 6);
}
END_TEST

START_TEST(rfc4861_s6_3_router_advertisements_and_redirects_change_nothing)
{
	static uint8_t ra[1024];
	struct ns_addr far = { { 0x20, 1, 0x0d, 0xb9, [15] = 1 } };
	struct dst d;

	ra[8] = 3; /* the first of as many prefix options as fit */
	ra[9] = 4;
	for (uint32_t i = 0; i < 1000; i++)
		dies(r6_icmp(f, r6_peer_ll, r6_all_nodes, 134, 0, 0x4000ffff, ra, sizeof(ra)),
		     DROP_ND_IGNORED);
	dies(r6_icmp(f, r6_peer, r6_us, 134, 0, 0x4000ffff, ra, 8), DROP_ND_IGNORED);
	dies(r6_icmp(f, r6_peer_ll, r6_us, 137, 0, 0, ra, 32), DROP_ND_IGNORED);
	dies(r6_icmp(f, r6_peer_ll, r6_all_nodes, 133, 0, 0, ra, 8), DROP_ND_IGNORED);
	ck_assert_int_eq(net_route(rig.net, &far, NULL, &d), -ENETUNREACH);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(a_flood_of_askers_displaces_only_itself)
{
	make_reachable();
	for (uint32_t i = 0; i < 1000; i++) {
		struct ns_addr src = r6_peer;

		src.b[8] = (uint8_t)(i >> 8);
		src.b[9] = (uint8_t)i;
		src.b[15] = 0x77;
		r6_in(&rig, f, ns_from(src, r6_us));
	}
	ck_assert_ptr_nonnull(entry(r6_peer));
	ck_assert_uint_eq(entry(r6_peer)->state, NEIGH_REACHABLE);
}
END_TEST

Suite *ndp_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/ndp", setup, teardown, &s);

	tcase_add_test(c, rfc4861_s7_2_2_a_solicitation_is_by_the_book);
	tcase_add_test(c, rfc4861_s7_2_4_a_solicitation_for_us_is_answered_and_the_asker_learned);
	tcase_add_test(c, link_local_neighbours_are_told_from_those_of_other_links);
	tcase_add_test(c, rfc4862_s5_4_3_duplicate_address_detection_is_answered_to_all);
	tcase_add_test(c, rfc4861_s7_1_messages_that_crossed_a_router_or_are_malformed_are_refused);
	tcase_add_test(c, rfc4861_s4_6_options_of_length_zero_or_beyond_the_message_are_refused);
	tcase_add_test(c, rfc6980_s5_discovery_in_fragments_is_refused);
	tcase_add_test(c, solicitations_for_others_are_not_answered);
	tcase_add_test(c, rfc4861_s7_2_5_an_advertisement_nobody_waits_for_makes_no_entry);
	tcase_add_test(c, a_claim_of_our_address_is_counted_and_changes_nothing);
	tcase_add_test(c, rfc4861_s7_2_5_incomplete_takes_the_first_mac_it_hears);
	tcase_add_test(c, rfc4861_s7_2_5_without_override_a_new_mac_only_casts_doubt);
	tcase_add_test(c, rfc4861_s7_2_5_with_override_a_new_mac_counts);
	tcase_add_test(c, rfc4861_s7_2_3_a_solicitation_with_another_mac_makes_the_entry_stale);
	tcase_add_test(c, rfc4861_s7_3_3_stale_is_used_then_probed_by_unicast_then_given_up);
	tcase_add_test(c, rfc4861_s7_3_1_progress_of_a_transport_confirms);
	tcase_add_test(c, rfc4861_s7_2_2_no_answer_is_told_to_the_transport_after_three);
	tcase_add_test(c, a_configured_neighbour_is_changed_by_nothing);
	tcase_add_test(c, rfc4861_s6_3_router_advertisements_and_redirects_change_nothing);
	tcase_add_test(c, a_flood_of_askers_displaces_only_itself);
	return s;
}
