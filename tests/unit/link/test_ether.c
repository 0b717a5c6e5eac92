/* SPDX-License-Identifier: Apache-2.0 */
/* test_ether.c - link/ether.c: what of a frame's header lets it in */
#include <string.h>

#include "link/ether.h"
#include "rig.h"
#include "suites.h"

static struct rig rig;

static void setup(void)
{
	rig_init(&rig, NS_GSO_HW);
}

static void teardown(void)
{
	rig_done(&rig);
}

static const uint8_t ours[6] = { 2, 0, 0, 0, 0, 1 }, other[6] = { 2, 0, 0, 0, 0, 2 };

static struct pkt *frame(const uint8_t dst[6], const uint8_t src[6], uint16_t type, uint32_t len)
{
	struct pkt *p = pkt_new_rx(&rig.pkts, &rig.chunks, 16);
	struct eth_hdr h = { .type = be16(type) };
	uint8_t *at;

	ck_assert_ptr_nonnull(p);
	memcpy(h.dst, dst, 6);
	memcpy(h.src, src, 6);
	at = pkt_put(p, len);
	ck_assert_ptr_nonnull(at);
	memset(at, 0, len);
	memcpy(at, &h, len < sizeof(h) ? len : sizeof(h));
	return p;
}

static enum drop pull(const uint8_t dst[6], const uint8_t src[6], uint32_t len, bool *bcast)
{
	auto_free(pkt) p = frame(dst, src, ETH_TYPE_IP4, len);
	uint16_t type = 0;
	enum drop why = ether_pull(rig.link, p, &type, bcast);

	if (why == DROP_NONE)
		ck_assert_uint_eq(type, ETH_TYPE_IP4);
	return why;
}

START_TEST(a_frame_shorter_than_its_header_is_dropped)
{
	bool bcast = false;

	for (uint32_t len = 0; len < ETH_HDR_LEN; len++)
		ck_assert_int_eq(pull(ours, other, len, &bcast), DROP_TOO_SHORT);
	ck_assert_int_eq(pull(ours, other, ETH_HDR_LEN, &bcast), DROP_NONE);
}
END_TEST

START_TEST(a_frame_for_another_mac_is_not_ours)
{
	static const uint8_t mcast[6] = { 1, 0, 0x5e, 0, 0, 1 };
	bool bcast = true;

	ck_assert_int_eq(pull(other, other, 60, &bcast), DROP_ETH_NOT_US);
	ck_assert_int_eq(pull(ours, other, 60, &bcast), DROP_NONE);
	ck_assert(!bcast);
	ck_assert_int_eq(pull(ether_broadcast, other, 60, &bcast), DROP_NONE);
	ck_assert(bcast);
	ck_assert_int_eq(pull(mcast, other, 60, &bcast), DROP_NONE);
	ck_assert(bcast);
}
END_TEST

START_TEST(rfc2464_s7_groups_of_ipv6_that_nobody_hears_stay_out)
{
	static const uint8_t all_nodes[6] = { 0x33, 0x33, 0, 0, 0, 1 };
	static const uint8_t joined[6] = { 0x33, 0x33, 0xff, 0, 0, 7 };
	bool bcast = false;

	ck_assert_int_eq(pull(all_nodes, other, 60, &bcast), DROP_NONE);
	ck_assert(bcast);
	ck_assert_int_eq(pull(joined, other, 60, &bcast), DROP_ETH_NOT_US);
	link_hear6(rig.link, joined);
	ck_assert_int_eq(pull(joined, other, 60, &bcast), DROP_NONE);
}
END_TEST

START_TEST(a_group_address_is_no_source)
{
	bool bcast = false;

	ck_assert_int_eq(pull(ours, ether_broadcast, 60, &bcast), DROP_ETH_SRC_MCAST);
}
END_TEST

START_TEST(push_then_pull_gives_the_packet_back)
{
	auto_free(pkt) p = pkt_new_tx(&rig.pkts);
	static const uint8_t want[] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x06, 'x' };
	uint8_t got[sizeof(want)];

	*(uint8_t *)pkt_push(p, 1) = 'x';
	ether_push(rig.link, p, other, ETH_TYPE_ARP);
	ck_assert_uint_eq(pkt_len(p), sizeof(want));
	ck_assert(pkt_copy_out(p, 0, got, sizeof(got)));
	ck_assert_mem_eq(got, want, sizeof(want));
}
END_TEST

Suite *ether_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("link/ether", setup, teardown, &s);

	tcase_add_test(t, a_frame_shorter_than_its_header_is_dropped);
	tcase_add_test(t, a_frame_for_another_mac_is_not_ours);
	tcase_add_test(t, rfc2464_s7_groups_of_ipv6_that_nobody_hears_stay_out);
	tcase_add_test(t, a_group_address_is_no_source);
	tcase_add_test(t, push_then_pull_gives_the_packet_back);
	return s;
}
