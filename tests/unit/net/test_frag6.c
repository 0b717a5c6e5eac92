/* SPDX-License-Identifier: Apache-2.0 */
/* test_frag6.c - fragments of IPv6, out and in: RFC 8200 4.5, RFC 5722, RFC 6946, RFC 7739, RFC 8021 */
#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "rig6.h"
#include "suites.h"
#include "wire/ip6.h"

enum {
	FRAG = R6_BODY,     /* offset of the fragment header in a frame */
	DATA = R6_BODY + 8, /* and of what follows it */
	MAX_DATA = 1500 - 48,
};

static struct rig rig;

static void setup(void)
{
	r6_init(&rig);
	r6_peer_known(&rig);
}

static void teardown(void)
{
	rig_done(&rig);
}

static uint32_t off_of(uint32_t i)
{
	return ((uint32_t)rig.sent[i].data[FRAG + 2] << 8 | rig.sent[i].data[FRAG + 3]) & 0xfff8u;
}

static bool is_more(uint32_t i)
{
	return rig.sent[i].data[FRAG + 3] & 1;
}

static uint32_t id_of(uint32_t i)
{
	struct be32 id;

	memcpy(&id, rig.sent[i].data + FRAG + 4, sizeof(id));
	return be32_get(id);
}

START_TEST(rfc8200_s4_5_a_long_packet_leaves_in_fragments)
{
	uint32_t at = 0;

	ck_assert_int_eq(r6_send_as(&rig, r6_peer, 4000 - 8, false), 0);
	ck_assert_uint_eq(rig.sent_cnt, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct rig_frame *s = &rig.sent[i];

		ck_assert(r6_is_good(&rig, i));
		ck_assert_mem_eq(s->data, rig_peer_mac, 6);
		/* all but "next header", length and offset alike, the flow label too */
		ck_assert_mem_eq(s->data + 14, rig.sent[0].data + 14, 4);
		ck_assert_mem_eq(s->data + 22, rig.sent[0].data + 22, 32);
		ck_assert_uint_eq(s->data[R6_NEXT], IP6_NEXT_FRAGMENT);
		ck_assert_uint_eq(s->data[FRAG], RIG_PROTO);
		ck_assert_uint_eq(s->data[FRAG + 1], 0);
		ck_assert_uint_eq(id_of(i), id_of(0));
		ck_assert_uint_eq(off_of(i), at);
		ck_assert_int_eq(is_more(i), i < 2);
		for (uint32_t k = DATA; k < s->len; k++, at++)
			ck_assert(at < 8 || s->data[k] == r6_octet(at));
		ck_assert(i == 2 || (s->len - DATA) % 8 == 0);
		ck_assert_uint_le(s->len, 14 + 1500);
	}
	ck_assert_uint_eq(at, 4000);
	ck_assert_uint_eq(rig.stats.stat[STAT_IP_FRAGMENTED], 1);
	ck_assert_uint_eq(rig.stats.stat[STAT_IP_FRAGS_OUT], 3);
}
END_TEST

START_TEST(rfc8021_s4_a_packet_that_fits_is_never_a_fragment)
{
	ck_assert_int_eq(r6_send_as(&rig, r6_peer, 1460 - 8, false), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].data[R6_NEXT], RIG_PROTO);
	/* one octet more takes two, and the first is as long as the path takes, in units of eight */
	rig.sent_cnt = 0;
	ck_assert_int_eq(r6_send_as(&rig, r6_peer, 1461 - 8, false), 0);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	ck_assert_uint_eq(rig.sent[0].len, DATA + MAX_DATA / 8 * 8);
	ck_assert(is_more(0) && !is_more(1));
}
END_TEST

START_TEST(rfc7739_s5_2_identifications_are_not_to_be_guessed)
{
	uint32_t seen[32];

	for (uint32_t i = 0; i < 32; i++) {
		rig.sent_cnt = 0;
		ck_assert_int_eq(r6_send_as(&rig, r6_peer, 2000, false), 0);
		ck_assert_uint_eq(rig.sent_cnt, 2);
		seen[i] = id_of(0);
		ck_assert_uint_ne(seen[i], 0);
		for (uint32_t k = 0; k < i; k++)
			ck_assert_uint_ne(seen[i], seen[k]);
		/* no counter: neither the next one nor the same distance twice */
		if (i >= 2)
			ck_assert_uint_ne(seen[i] - seen[i - 1], seen[i - 1] - seen[i - 2]);
	}
}
END_TEST

START_TEST(what_may_not_be_fragmented_is_refused)
{
	ck_assert_int_eq(r6_send_as(&rig, r6_peer, 1461 - 8, true), -EMSGSIZE);
	/* the longest that a payload length can say, in fragments; beyond it nothing */
	ck_assert_int_eq(r6_send_as(&rig, r6_peer, 65535 - 8, false), 0);
	ck_assert_uint_eq(rig.sent_cnt, (65535 + MAX_DATA / 8 * 8 - 1) / (MAX_DATA / 8 * 8));
	ck_assert_int_eq(r6_send_as(&rig, r6_peer, 65536 - 8, false), -EMSGSIZE);
	ck_assert_uint_eq(rig.stats.stat[STAT_LINK_TX_TOO_LONG], 2);
}
END_TEST

START_TEST(all_fragments_wait_for_the_neighbour)
{
	struct ns_addr other = r6_peer;
	uint8_t f[256];
	uint32_t len;

	other.b[15] = 7;
	ck_assert_int_eq(r6_send_as(&rig, other, 4000 - 8, false), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1); /* a solicitation */
	rig.sent_cnt = 0;
	len = r6_nd(f, other, r6_us, 136, 0x60000000, other, 2, rig_peer_mac);
	r6_in(&rig, f, len);
	ck_assert_uint_eq(rig.sent_cnt, 3);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(rig.sent[i].data[R6_NEXT], IP6_NEXT_FRAGMENT);
}
END_TEST

Suite *frag6_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/frag6", setup, teardown, &s);

	tcase_add_test(c, rfc8200_s4_5_a_long_packet_leaves_in_fragments);
	tcase_add_test(c, rfc8021_s4_a_packet_that_fits_is_never_a_fragment);
	tcase_add_test(c, rfc7739_s5_2_identifications_are_not_to_be_guessed);
	tcase_add_test(c, what_may_not_be_fragmented_is_refused);
	tcase_add_test(c, all_fragments_wait_for_the_neighbour);
	return s;
}
