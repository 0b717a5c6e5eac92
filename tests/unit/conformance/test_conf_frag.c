/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_frag.c - fragments in and out: RFC 791 3.2, RFC 815, RFC 1858, RFC 3128, RFC 5722, RFC 1122 3.3.2 */
#include "conformance.h"

static struct frame f;
static uint8_t data[65536 + 1480]; /* an echo request, header first */

#define MF 0x2000

/* An echo request of @len octets, checksummed, as the packet that the fragments make up. */
static void ping_build(uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		data[i] = (uint8_t)(i * 7 + i / 251);
	data[0] = 8;
	data[1] = data[2] = data[3] = 0;
	uint16_t sum = (uint16_t)~frame_sum(data, len, 0);

	data[2] = (uint8_t)(sum >> 8);
	data[3] = (uint8_t)sum;
}

/* Octets @off..@off+@len of the packet as a fragment. */
static void piece(uint32_t off, uint32_t len, bool is_more, uint16_t id)
{
	struct way w = rp_way(0, 0);

	frame_ip4(&f, &w,
		  &(struct ip4_in){ .proto = 1,
				    .id = id,
				    .frag = (uint16_t)(off / 8 | (is_more ? MF : 0)),
				    .is_fragment = true },
		  data + off, len);
}

static void put(uint32_t off, uint32_t len, bool is_more, uint16_t id)
{
	piece(off, len, is_more, id);
	rp_inject(&rp, &f);
}

/* The stack's answer, put together again; octets, 0: none. */
static uint32_t answer(uint8_t *to)
{
	uint32_t got = 0, total = 0;
	struct seen s;

	while (rp_take(&rp, &s)) {
		uint32_t off;

		if (s.kind == SEEN_ICMP) { /* in one piece: its header is read already */
			to[0] = s.icmp_type;
			memcpy(to + 8, s.data, s.data_len);
			return s.data_len + 8;
		}
		expect(s.kind == SEEN_IP4 && s.proto == 1);
		off = (s.frag & 0x1fffu) * 8;
		expect(off + s.data_len <= 65536);
		memcpy(to + off, s.data, s.data_len);
		got += s.data_len;
		if (!(s.frag & MF))
			total = off + s.data_len;
	}
	expect(got == total);
	return total;
}

static void expect_pong(uint32_t len)
{
	static uint8_t got[65536];

	expect(answer(got) == len);
	expect(got[0] == 0 && memcmp(got + 8, data + 8, len - 8) == 0);
}

START_TEST(rfc791_s3_2_fragments_are_put_together_in_any_order)
{
	static const uint8_t orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	ping_build(3500);
	for (uint16_t o = 0; o < 6; o++) {
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t k = orders[o][i];

			expect_silence();
			put(k * 1480, k == 2 ? 3500 - 2960 : 1480, k < 2, (uint16_t)(100 + o));
		}
		expect_pong(3500);
	}
	expect(moved("IP_REASSEMBLED") == 6 && drops() == 0);
	expect(moved("IP_FRAGMENTED") == 6 && moved("IP_FRAGS_OUT") == 18);
}
END_TEST

START_TEST(rfc791_s3_2_the_longest_packet_goes_in_and_out)
{
	uint32_t len = 65515;

	ping_build(len);
	for (uint32_t off = 0; off < len; off += 1480)
		put(off, len - off < 1480 ? len - off : 1480, off + 1480 < len, 7);
	expect_pong(len);
}
END_TEST

START_TEST(rfc791_s3_2_smallest_fragments)
{
	ping_build(256);
	for (uint32_t off = 0; off < 256; off += 8)
		put(248 - off, 8, off != 0, 9);
	expect_pong(256);
}
END_TEST

START_TEST(a_duplicate_is_ignored)
{
	ping_build(2000);
	put(0, 1480, true, 5);
	piece(0, 1480, true, 5);
	expect(dropped_silently(&f, "FRAG_DUPLICATE"));
	put(1480, 520, false, 5);
	expect_pong(2000);
	put(1480, 520, false, 5); /* begins a set of its own: nothing comes of it */
	expect_silence();
}
END_TEST

START_TEST(rfc5722_s4_an_overlap_kills_the_whole_packet)
{
	ping_build(3000);
	put(0, 1480, true, 6);
	piece(1472, 1000, true, 6);
	expect(dropped_silently(&f, "FRAG_OVERLAP"));
	/* with all that comes later, the missing piece too */
	piece(1480, 1520, false, 6);
	expect(dropped_silently(&f, "FRAG_OVERLAP"));
	piece(0, 1480, true, 6);
	expect(dropped_silently(&f, "FRAG_OVERLAP"));
	/* the same place, other octets */
	put(0, 1480, true, 8);
	data[100] ^= 1;
	piece(0, 1480, true, 8);
	expect(dropped_silently(&f, "FRAG_OVERLAP"));
	data[100] ^= 1;
	/* a part of what is there, and one that takes it in */
	put(0, 1480, true, 11);
	piece(8, 16, true, 11);
	expect(dropped_silently(&f, "FRAG_OVERLAP"));
	piece(1480, 1520, false, 11);
	expect(dropped_silently(&f, "FRAG_OVERLAP"));
	put(1480, 8, true, 12);
	piece(1472, 24, true, 12);
	expect(dropped_silently(&f, "FRAG_OVERLAP"));
	/* another identification is not touched */
	put(0, 1480, true, 10);
	put(1480, 1520, false, 10);
	expect_pong(3000);
}
END_TEST

START_TEST(a_packet_beyond_65535_octets_is_killed)
{
	ping_build(65000);
	put(0, 1480, true, 1);
	piece(65528 - 8, 400, false, 1); /* ping of death */
	expect(dropped_silently(&f, "IP4_FRAGMENT"));
	piece(1480, 1480, true, 1);
	expect(dropped_silently(&f, "FRAG_OVERLAP"));
}
END_TEST

START_TEST(two_ends_that_differ_kill_the_packet)
{
	ping_build(4000);
	put(1480, 520, false, 2);
	piece(2960, 400, false, 2);
	expect(dropped_silently(&f, "IP4_FRAGMENT"));
	put(2960, 400, true, 3);
	piece(1480, 520, false, 3);
	expect(dropped_silently(&f, "IP4_FRAGMENT"));
	put(1480, 520, false, 4);
	piece(2000, 400, true, 4);
	expect(dropped_silently(&f, "IP4_FRAGMENT"));
}
END_TEST

START_TEST(fragments_without_content_or_of_odd_length_are_dropped)
{
	ping_build(1000);
	piece(0, 0, true, 2);
	expect(dropped_silently(&f, "IP4_FRAGMENT"));
	piece(800, 0, false, 2);
	expect(dropped_silently(&f, "IP4_FRAGMENT"));
	piece(0, 13, true, 2);
	expect(dropped_silently(&f, "IP4_FRAGMENT"));
}
END_TEST

START_TEST(rfc3128_s2_a_tcp_header_in_two_fragments_is_refused)
{
	struct way w = rp_way(1, PORT);

	frame_ip4(&f, &w, &(struct ip4_in){ .id = 1, .frag = MF }, data, 16);
	expect(dropped_silently(&f, "IP4_FRAGMENT"));
	frame_ip4(&f, &w, &(struct ip4_in){ .id = 2, .frag = 1 }, data, 16);
	expect(dropped_silently(&f, "IP4_FRAGMENT"));
}
END_TEST

START_TEST(rfc1122_s3_3_2_an_incomplete_packet_times_out_with_an_answer)
{
	struct seen s;

	ping_build(3000);
	put(0, 1480, true, 1);
	put(1480, 8, true, 2); /* without the first fragment nothing is to be quoted */
	rp_wait(&rp, 29 * NS_PER_SEC);
	expect_silence();
	rp_wait(&rp, 2 * NS_PER_SEC);
	expect(rp_take(&rp, &s) && s.kind == SEEN_ICMP && s.icmp_type == 11 && s.icmp_code == 1);
	/* the quoted header is the first fragment's, its payload follows */
	expect(s.data_len >= 28 && memcmp(s.data + 20, data, 8) == 0);
	expect_silence();
	expect(moved("FRAG_TIMEOUT") == 2);
	put(1480, 1520, false, 1);
	expect_silence();
}
END_TEST

START_TEST(a_flood_of_beginnings_is_bounded_and_others_pass)
{
	struct way w = rp_way(1, PORT);

	ping_build(2000);
	for (uint32_t i = 0; i < 10000; i++) {
		w.src = 0x0a000003 + i % 200;
		frame_ip4(&f, &w, &(struct ip4_in){ .proto = 17, .frag = MF, .id = (uint16_t)i },
			  "12345678", 8);
		rp_inject(&rp, &f);
		if (i % 1000 == 999) {
			put(0, 1480, true, (uint16_t)i);
			put(1480, 520, false, (uint16_t)i);
			expect_pong(2000);
		}
	}
	expect(moved("FRAG_LIMIT") >= 10000 - 64);
	expect_silence();
}
END_TEST

START_TEST(one_source_takes_no_more_than_its_part)
{
	ping_build(2000);
	for (uint16_t i = 0; i < 40; i++)
		put(0, 1480, true, i);
	expect(moved("FRAG_LIMIT") == 40 - 16);
	put(1480, 520, false, 39);
	expect_pong(2000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("conformance.frag");
	TCase *tc = conf_case(s, "frag");

	tcase_add_test(tc, rfc791_s3_2_fragments_are_put_together_in_any_order);
	tcase_add_test(tc, rfc791_s3_2_the_longest_packet_goes_in_and_out);
	tcase_add_test(tc, rfc791_s3_2_smallest_fragments);
	tcase_add_test(tc, a_duplicate_is_ignored);
	tcase_add_test(tc, rfc5722_s4_an_overlap_kills_the_whole_packet);
	tcase_add_test(tc, a_packet_beyond_65535_octets_is_killed);
	tcase_add_test(tc, two_ends_that_differ_kill_the_packet);
	tcase_add_test(tc, fragments_without_content_or_of_odd_length_are_dropped);
	tcase_add_test(tc, rfc3128_s2_a_tcp_header_in_two_fragments_is_refused);
	tcase_add_test(tc, rfc1122_s3_3_2_an_incomplete_packet_times_out_with_an_answer);
	tcase_add_test(tc, a_flood_of_beginnings_is_bounded_and_others_pass);
	tcase_add_test(tc, one_source_takes_no_more_than_its_part);
	return conf_run(s);
}
