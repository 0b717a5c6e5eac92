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
	ck_assert_uint_eq(rig.stats.drop[DROP_LINK_TOO_LONG], 2);
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

/* ---- in ---- */

static uint8_t f[2048];

/* Octets @off to @off + @len of a packet of the transport with identification @id, from @src. */
static uint32_t piece_of(struct ns_addr src, uint32_t id, uint32_t off, uint32_t len, bool more)
{
	uint8_t body[1600] = {
		RIG_PROTO,
		0xff, /* reserved, ignored */
		(uint8_t)(off >> 8),
		(uint8_t)(off | 6u | (more ? 1u : 0u)), /* the two bits between, too */
		(uint8_t)(id >> 24),
		(uint8_t)(id >> 16),
		(uint8_t)(id >> 8),
		(uint8_t)id
	};

	for (uint32_t i = 0; i < len; i++)
		body[8 + i] = r6_octet(off + i);
	return r6_frame(f, src, r6_us, IP6_NEXT_FRAGMENT, body, 8 + len);
}

static void put(uint32_t id, uint32_t off, uint32_t len, bool more)
{
	r6_in(&rig, f, piece_of(r6_peer, id, off, len, more));
}

/* A packet of @len octets has come up, for the @cnt-th time. */
static void expect_whole(uint32_t cnt, uint32_t len)
{
	ck_assert_uint_eq(rig.input_cnt, cnt);
	ck_assert_uint_eq(rig.last_len, len);
	for (uint32_t i = 0; i < len; i++)
		ck_assert_uint_eq(rig.last_data[i], r6_octet(i));
}

static void dies(uint32_t len, enum drop why)
{
	uint64_t before = rig_drops(&rig, why);
	uint32_t input = rig.input_cnt;

	r6_in(&rig, f, len);
	ck_assert_msg(rig_drops(&rig, why) == before + 1, "%s did not count", drop_name(why));
	ck_assert_uint_eq(rig.input_cnt, input);
}

/* The only frame that left is this error, about the frame @f; @quoted octets of it are there. */
static void is_told(uint8_t type, uint8_t code, uint32_t arg, uint32_t quoted)
{
	const uint8_t *e = rig.sent[0].data;

	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert(r6_is_good(&rig, 0));
	ck_assert_uint_eq(e[R6_NEXT], R6_ICMP);
	ck_assert_mem_eq(e + 38, r6_peer.b, 16);
	ck_assert_uint_eq(e[R6_BODY], type);
	ck_assert_uint_eq(e[R6_BODY + 1], code);
	ck_assert_uint_eq(e[R6_BODY + 7], arg);
	ck_assert_uint_eq(e[R6_BODY + 4] | e[R6_BODY + 5] | e[R6_BODY + 6], 0);
	ck_assert_uint_eq(rig.sent[0].len, R6_BODY + 8 + quoted);
	ck_assert_mem_eq(e + R6_BODY + 8, f + 14, quoted);
	rig.sent_cnt = 0;
}

START_TEST(rfc8200_s4_5_fragments_are_put_together_in_any_order)
{
	static const uint8_t orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (uint32_t o = 0; o < 6; o++) {
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t k = orders[o][i];

			ck_assert_uint_eq(rig.input_cnt, o);
			put(o, k * 800, k == 2 ? 103 : 800, k < 2);
		}
		expect_whole(o + 1, 1703);
		ck_assert_uint_eq(rig.last_ip.proto, RIG_PROTO);
		ck_assert(ns_addr_eq(&rig.last_ip.src, &r6_peer));
		ck_assert(!rig.last_ip.csum_ok);
	}
	ck_assert_uint_eq(rig.stats.stat[STAT_IP_REASSEMBLED], 6);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(rfc8200_s4_5_headers_before_and_behind_the_cut_are_kept)
{
	/* hop-by-hop, fragment; behind it destination options, then the transport */
	uint8_t body[80] = { IP6_NEXT_FRAGMENT, 0, 1, 4, 0, 0, 0, 0,
			     IP6_NEXT_DST,      0, 0, 1, 0, 0, 0, 9,
			     RIG_PROTO,         0, 1, 4, 0, 0, 0, 0 };

	for (uint32_t i = 0; i < 40; i++)
		body[24 + i] = r6_octet(i);
	r6_in(&rig, f, r6_frame(f, r6_peer, r6_us, IP6_NEXT_HOP, body, 64));
	ck_assert_uint_eq(rig.input_cnt, 0);
	/* the later one has no hop-by-hop header, and another "next header": the first one's count */
	memcpy(body, (const uint8_t[]){ 17, 0, 0, 48, 0, 0, 0, 9 }, 8);
	for (uint32_t i = 0; i < 24; i++)
		body[8 + i] = r6_octet(40 + i);
	r6_in(&rig, f, r6_frame(f, r6_peer, r6_us, IP6_NEXT_FRAGMENT, body, 32));
	expect_whole(1, 64);
}
END_TEST

START_TEST(rfc8200_s4_5_the_longest_packet_goes_in)
{
	for (uint32_t off = 0; off < 65535; off += 1440)
		put(1, off, 65535 - off < 1440 ? 65535 - off : 1440, off + 1440 < 65535);
	ck_assert_uint_eq(rig.input_cnt, 1);
	ck_assert_uint_eq(rig.stats.stat[STAT_IP_REASSEMBLED], 1);
	/* an octet beyond is told, its pointer at the offset */
	dies(piece_of(r6_peer, 2, 65528, 8, false), DROP_IP6_FRAGMENT);
	is_told(4, 0, 42, 56);
	/* and so is a piece of odd length that is not the last, its pointer at the length */
	dies(piece_of(r6_peer, 3, 0, 23, true), DROP_IP6_FRAGMENT);
	is_told(4, 0, 4, 48 + 23);
	dies(piece_of(r6_peer, 3, 8, 0, true), DROP_IP6_FRAGMENT);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(rfc8200_s4_5_a_duplicate_is_ignored)
{
	put(1, 0, 800, true);
	dies(piece_of(r6_peer, 1, 0, 800, true), DROP_FRAG_DUPLICATE);
	put(1, 800, 8, false);
	expect_whole(1, 808);
	put(2, 80, 80, true);
	put(2, 160, 80, true);
	put(2, 0, 80, true);
	dies(piece_of(r6_peer, 2, 80, 80, true), DROP_FRAG_DUPLICATE);
}
END_TEST

START_TEST(rfc5722_s4_an_overlap_of_ipv6_kills_the_whole_packet)
{
	put(1, 0, 800, true);
	dies(piece_of(r6_peer, 1, 792, 80, true), DROP_FRAG_OVERLAP);
	/* what comes later is of that packet, too */
	dies(piece_of(r6_peer, 1, 800, 80, false), DROP_FRAG_OVERLAP);
	dies(piece_of(r6_peer, 1, 0, 800, true), DROP_FRAG_OVERLAP);
	/* the same place with other octets */
	put(2, 0, 800, true);
	piece_of(r6_peer, 2, 0, 800, true);
	f[DATA + 5] ^= 1;
	dies(DATA + 800, DROP_FRAG_OVERLAP);
	/* no exact duplicates, though every octet is there already: a part of one, two in one */
	put(4, 0, 800, true);
	dies(piece_of(r6_peer, 4, 80, 80, true), DROP_FRAG_OVERLAP);
	put(5, 0, 80, true);
	put(5, 80, 80, true);
	dies(piece_of(r6_peer, 5, 0, 160, true), DROP_FRAG_OVERLAP);
	/* nobody is told, not even when time is over */
	rig_pass(&rig, 61 * NS_PER_SEC);
	ck_assert_uint_eq(rig.sent_cnt, 0);
	ck_assert_uint_eq(rig_drops(&rig, DROP_FRAG_TIMEOUT), 0);
	/* another identification, or another source, is another packet */
	put(3, 0, 800, true);
	r6_in(&rig, f, piece_of(r6_peer_ll, 3, 0, 800, true));
	put(3, 800, 8, false);
	expect_whole(1, 808);
}
END_TEST

START_TEST(rfc6946_s4_an_atomic_fragment_stands_alone)
{
	put(1, 0, 800, true);
	put(1, 0, 40, false); /* the same identification: no part of it, and no overlap */
	expect_whole(1, 40);
	put(1, 800, 8, false);
	expect_whole(2, 808);
	ck_assert_uint_eq(rig_drops(&rig, DROP_FRAG_OVERLAP), 0);
}
END_TEST

START_TEST(rfc8200_s4_5_after_60_s_the_sender_hears_if_the_first_came)
{
	put(1, 800, 8, false); /* without the first fragment nothing is told */
	put(2, 0, 800, true);
	rig_pass(&rig, 59 * NS_PER_SEC + NS_PER_SEC * 9 / 10);
	ck_assert_uint_eq(rig.sent_cnt, 0);
	put(2, 800, 800, true); /* the first one counts, not the latest */
	rig_pass(&rig, NS_PER_SEC / 10);
	piece_of(r6_peer, 2, 0, 800, true);
	is_told(3, 1, 0, 848);
	ck_assert_uint_eq(rig_drops(&rig, DROP_FRAG_TIMEOUT), 2);
	put(2, 1600, 8, false);
	ck_assert_uint_eq(rig.input_cnt, 0);
	/* an error is not answered by another (RFC 4443 2.4 (e.1)) */
	piece_of(r6_peer, 4, 0, 800, true);
	f[FRAG] = R6_ICMP;
	f[DATA] = 1;
	r6_in(&rig, f, DATA + 800);
	rig_pass(&rig, 61 * NS_PER_SEC);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(rfc7112_s5_all_headers_are_in_the_first_fragment)
{
	/* destination options that go on in the second */
	uint8_t body[32] = { IP6_NEXT_DST, 0, 0, 1, 0, 0, 0, 7, RIG_PROTO, 2, 1, 4 };
	uint32_t len;

	dies(r6_frame(f, r6_peer, r6_us, IP6_NEXT_FRAGMENT, body, 24), DROP_IP6_FRAG_CHAIN);
	is_told(4, 3, 0, 64);
	/* no set was begun */
	len = piece_of(r6_peer, 7, 16, 8, false);
	r6_in(&rig, f, len);
	ck_assert_uint_eq(rig.input_cnt, 0);
	/* the transport's own header counts */
	dies(piece_of(r6_peer, 8, 0, 16, true), DROP_IP6_FRAG_CHAIN);
	is_told(4, 3, 0, 64);
	put(9, 0, 24, true);
	put(9, 24, 8, false);
	expect_whole(1, 32);
}
END_TEST

START_TEST(rfc3168_s5_3_congestion_of_one_fragment_is_the_packets)
{
	static const struct {
		uint8_t ecn[2], want;
		enum drop why;
	} rows[] = {
		{ { 2, 3 }, 3, DROP_NONE },     { { 3, 2 }, 3, DROP_NONE },
		{ { 1, 3 }, 3, DROP_NONE },     { { 2, 2 }, 2, DROP_NONE },
		{ { 0, 0 }, 0, DROP_NONE },     { { 0, 3 }, 0, DROP_FRAG_ECN },
		{ { 2, 0 }, 0, DROP_FRAG_ECN }, { { 0, 1 }, 0, DROP_FRAG_ECN },
	};

	for (uint32_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		uint32_t len = piece_of(r6_peer, i, 0, 80, true);

		f[15] = (uint8_t)(rows[i].ecn[0] << 4);
		r6_in(&rig, f, len);
		len = piece_of(r6_peer, i, 80, 8, false);
		f[15] = (uint8_t)(rows[i].ecn[1] << 4);
		if (rows[i].why != DROP_NONE) {
			dies(len, rows[i].why);
			continue;
		}
		r6_in(&rig, f, len);
		expect_whole(rig.input_cnt, 88);
		ck_assert_uint_eq(rig.last_ip.tos, rows[i].want);
	}
	ck_assert_uint_eq(rig.input_cnt, 5);
}
END_TEST

START_TEST(a_flood_of_ipv6_beginnings_is_bounded_and_others_pass)
{
	struct ns_addr from = { { 0x20, 1, 0x0d, 0xb8, 0, 0x66, 0, 1 } };

	/* all of one /64: they share its part, so nobody else's set has to go */
	put(7, 0, 80, true);
	for (uint32_t i = 0; i < 1000; i++) {
		from.b[14] = (uint8_t)(i >> 8);
		from.b[15] = (uint8_t)i;
		r6_in(&rig, f, piece_of(from, i, 0, 80, true));
	}
	ck_assert_uint_eq(rig_drops(&rig, DROP_FRAG_LIMIT), 1000 - 16);
	put(7, 80, 8, false);
	expect_whole(1, 88);
	/* of many: the oldest goes */
	for (uint32_t i = 0; i < 1000; i++) {
		from.b[6] = (uint8_t)(i >> 8);
		from.b[7] = (uint8_t)i;
		r6_in(&rig, f, piece_of(from, i, 0, 80, true));
		if (i % 100 == 99) {
			put(8 + i, 0, 80, true);
			put(8 + i, 80, 8, false);
		}
	}
	ck_assert_uint_eq(rig.input_cnt, 11);
	rig.sent_cnt = 0;
}
END_TEST

START_TEST(headers_in_front_of_a_fragment_are_bounded)
{
	uint8_t body[300] = { IP6_NEXT_FRAGMENT, 16 };

	/* 136 octets of routing header that say nothing */
	memcpy(body + 136, (const uint8_t[]){ RIG_PROTO, 0, 0, 1, 0, 0, 0, 7 }, 8);
	dies(r6_frame(f, r6_peer, r6_us, IP6_NEXT_ROUTING, body, 136 + 8 + 80), DROP_IP6_EXT_LIMIT);
	/* a fragment of a fragment is none */
	memset(body, 0, sizeof(body));
	memcpy(body, (const uint8_t[]){ 44, 0, 0, 1, 0, 0, 0, 8, RIG_PROTO, 0, 0, 1, 0, 0, 0, 9 },
	       16);
	r6_in(&rig, f, r6_frame(f, r6_peer, r6_us, IP6_NEXT_FRAGMENT, body, 48));
	memcpy(body, (const uint8_t[]){ 44, 0, 0, 40, 0, 0, 0, 8 }, 8);
	dies(r6_frame(f, r6_peer, r6_us, IP6_NEXT_FRAGMENT, body, 16), DROP_IP6_FRAGMENT);
}
END_TEST

START_TEST(a_long_packet_to_ourselves_is_cut_and_put_together)
{
	/* longer than the loop takes in one piece */
	ck_assert_int_eq(r6_send_as(&rig, r6_us, 65535 - 8, false), 0);
	ck_assert_uint_eq(net_run_loop(rig.net, 8, rig.now), 2);
	ck_assert_uint_eq(rig.input_cnt, 1);
	ck_assert_uint_eq(rig.stats.stat[STAT_IP_REASSEMBLED], 1);
	ck_assert_uint_eq(rig.sent_cnt, 0);
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
	tcase_add_test(c, rfc8200_s4_5_fragments_are_put_together_in_any_order);
	tcase_add_test(c, rfc8200_s4_5_headers_before_and_behind_the_cut_are_kept);
	tcase_add_test(c, rfc8200_s4_5_the_longest_packet_goes_in);
	tcase_add_test(c, rfc8200_s4_5_a_duplicate_is_ignored);
	tcase_add_test(c, rfc5722_s4_an_overlap_of_ipv6_kills_the_whole_packet);
	tcase_add_test(c, rfc6946_s4_an_atomic_fragment_stands_alone);
	tcase_add_test(c, rfc8200_s4_5_after_60_s_the_sender_hears_if_the_first_came);
	tcase_add_test(c, rfc7112_s5_all_headers_are_in_the_first_fragment);
	tcase_add_test(c, rfc3168_s5_3_congestion_of_one_fragment_is_the_packets);
	tcase_add_test(c, a_flood_of_ipv6_beginnings_is_bounded_and_others_pass);
	tcase_add_test(c, headers_in_front_of_a_fragment_are_bounded);
	tcase_add_test(c, a_long_packet_to_ourselves_is_cut_and_put_together);
	return s;
}
