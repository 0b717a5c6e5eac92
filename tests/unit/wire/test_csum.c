/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csum.c - wire/csum.c against a sum that takes an octet at a time
 *
 * Theory of operation
 *
 * Two ones' complement sums are the same when they are equal or both are a zero: 0x0000 and 0xffff
 * mean the same, and which of them comes out depends on the order of additions. The stack's field
 * values are compared as they are written; where the whole is zero is a test of its own.
 */
#include <string.h>

#include "buf/chunk.h"
#include "buf/pkt.h"
#include "slowsum.h"
#include "suites.h"
#include "wire/csum.h"

static struct chunk_pools chunks;
static struct pool pkts;

static void setup(void)
{
	chunk_pools_init(&chunks, 64, 64, 8);
	pool_init(&pkts, "pkt", sizeof(struct pkt), 8, 8);
}

static void teardown(void)
{
	pool_done(&pkts);
	chunk_pools_done(&chunks);
}

START_TEST(rfc1071_s3_example_comes_out)
{
	static const uint8_t data[] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 };

	ck_assert_uint_eq(csum_fold(csum_add(0, data, sizeof(data))), 0xddf2);
	ck_assert_uint_eq(csum_finish(csum_add(0, data, sizeof(data))), 0x220d);
}
END_TEST

/* The IPv4 header everybody knows: 192.168.0.1 to 192.168.0.199, checksum b861. */
START_TEST(known_ipv4_header_comes_out)
{
	static const uint8_t hdr[] = { 0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
				       0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7 };

	ck_assert_uint_eq(csum_finish(csum_add(0, hdr, sizeof(hdr))), 0xb861);
}
END_TEST

static void fill(uint8_t *buf, size_t len, struct prng *rnd, int kind)
{
	if (kind == 0)
		prng_fill(rnd, buf, len);
	else
		memset(buf, kind == 1 ? 0xff : 0x00, len);
}

START_TEST(sum_is_the_slow_sum_at_every_alignment_and_length)
{
	static const uint16_t seeds[] = { 0, 1, 0xfffe, 0xffff };
	uint8_t *buf = malloc(4096 + 32);
	struct prng rnd = { 7 };

	fill(buf, 4096 + 32, &rnd, _i);
	for (size_t shift = 0; shift < 32; shift++)
		for (size_t len = 0; len <= 4096; len += len < 300 ? 1 : 131) {
			uint16_t seed = seeds[(shift + len) % NS_ARRAY_LEN(seeds)];

			ck_assert_uint_eq(csum_fold(csum_add(seed, buf + shift, len)),
					  slowsum(seed, buf + shift, len));
		}
	free(buf);
}
END_TEST

/* An exact copy on the heap: AddressSanitizer sees a read beyond either end. */
START_TEST(sum_reads_nothing_but_its_octets)
{
	struct prng rnd = { 8 };

	for (size_t len = 0; len < 200; len++) {
		uint8_t *buf = malloc(len ? len : 1);

		prng_fill(&rnd, buf, len);
		ck_assert_uint_eq(csum_fold(csum_add(0, buf, len)), slowsum(0, buf, len));
		free(buf);
	}
}
END_TEST

START_TEST(rfc1071_s2_sum_from_an_odd_place_is_turned)
{
	uint8_t buf[257];
	struct prng rnd = { 9 };

	prng_fill(&rnd, buf, sizeof(buf));
	for (uint32_t split = 1; split < sizeof(buf); split += 2) {
		uint32_t sum = csum_add(0, buf, split);

		sum = csum_add_odd(sum, buf + split, sizeof(buf) - split);
		ck_assert_uint_eq(csum_fold(sum), slowsum(0, buf, sizeof(buf)));
	}
}
END_TEST

/* The longest frame, all ones: no carry is lost in the lanes and none in the running sum. */
START_TEST(sum_of_the_longest_frame_of_ones_does_not_overflow)
{
	uint8_t *buf = malloc(CHUNK_RX);
	uint32_t sum = 0;

	memset(buf, 0xff, CHUNK_RX);
	ck_assert_uint_eq(csum_fold(csum_add(0xffff, buf, CHUNK_RX)), 0xffff);
	for (uint32_t i = 0; i + 2 <= CHUNK_RX; i += 2)
		sum = csum_add(sum, buf + i, 2);
	ck_assert_uint_eq(csum_fold(sum), 0xffff);
	free(buf);
}
END_TEST

START_TEST(sum_over_any_split_into_frags_is_the_sum_of_the_whole)
{
	struct prng rnd = { 100 + (uint64_t)_i };
	uint8_t flat[PKT_INLINE_SIZE + PKT_FRAG_MAX * 64];

	for (int round = 0; round < 200; round++) {
		struct pkt *p = pkt_new_tx(&pkts);
		uint32_t linear_len = (uint32_t)prng_below(&rnd, 70), len = linear_len;
		uint32_t frag_cnt = (uint32_t)prng_below(&rnd, PKT_FRAG_MAX + 1);

		prng_fill(&rnd, pkt_push(p, linear_len), linear_len);
		for (uint32_t i = 0; i < frag_cnt; i++) {
			struct chunk *c = chunk_new(&chunks, CHUNK_SMALL);
			uint32_t off = (uint32_t)prng_below(&rnd, 40);
			uint32_t n = (uint32_t)prng_below(&rnd, 64);

			prng_fill(&rnd, c->data, CHUNK_SMALL);
			ck_assert_int_eq(pkt_add_frag(p, c, off, n), 0);
			chunk_unref(c);
			len += n;
		}
		ck_assert_uint_eq(pkt_len(p), len);
		ck_assert(pkt_copy_out(p, 0, flat, len));
		for (int part = 0; part < 8; part++) {
			uint32_t off = (uint32_t)prng_below(&rnd, len + 1);
			uint32_t n = (uint32_t)prng_below(&rnd, len - off + 1);

			ck_assert_uint_eq(csum_fold(csum_pkt(0x1234, p, off, n)),
					  slowsum(0x1234, flat + off, n));
		}
		pkt_free(p);
	}
}
END_TEST

START_TEST(sum_beyond_the_frame_traps)
{
	struct pkt *p = pkt_new_tx(&pkts);

	pkt_push(p, 20);
	(void)csum_pkt(0, p, 10, 11);
}
END_TEST

START_TEST(rfc1624_s4_example_and_random_words_update_the_field)
{
	struct prng rnd = { 11 };
	uint8_t hdr[20];

	ck_assert_uint_eq(csum_replace(0xdd2f, 0x5555, 0x3285), 0x0000);
	for (int round = 0; round < 10000; round++) {
		size_t at = prng_below(&rnd, 10) * 2;
		uint16_t from, to = (uint16_t)prng_next(&rnd), old;

		prng_fill(&rnd, hdr, sizeof(hdr));
		hdr[0] |= 1; /* never all zero: then 0x0000 is no sum of it */
		at = at ? at : 2;
		from = (uint16_t)(hdr[at] << 8 | hdr[at + 1]);
		old = csum_finish(csum_add(0, hdr, sizeof(hdr)));
		hdr[at] = (uint8_t)(to >> 8);
		hdr[at + 1] = (uint8_t)to;
		ck_assert_uint_eq(csum_replace(old, from, to),
				  csum_finish(csum_add(0, hdr, sizeof(hdr))));
	}
}
END_TEST

START_TEST(rfc9293_s3_1_pseudo_header_of_ipv4_is_summed)
{
	struct ns_addr src = ns_addr_v4(0xc0a80001), dst = ns_addr_v4(0xfffefdfc);
	static const uint8_t pseudo[] = { 0xc0, 0xa8, 0x00, 0x01, 0xff, 0xfe,
					  0xfd, 0xfc, 0x00, 0x06, 0xab, 0xcd };

	ck_assert_uint_eq(csum_fold(csum_pseudo(&src, &dst, 6, 0xabcd)),
			  slowsum(0, pseudo, sizeof(pseudo)));
}
END_TEST

START_TEST(rfc8200_s8_1_pseudo_header_of_ipv6_is_summed)
{
	uint8_t pseudo[40];
	struct ns_addr src, dst;
	struct prng rnd = { 12 };

	prng_fill(&rnd, pseudo, 32);
	memcpy(src.b, pseudo, 16);
	memcpy(dst.b, pseudo + 16, 16);
	memcpy(pseudo + 32, (const uint8_t[]){ 0x00, 0x01, 0x23, 0x45, 0, 0, 0, 17 }, 8);
	ck_assert_uint_eq(csum_fold(csum_pseudo(&src, &dst, 17, 0x12345)),
			  slowsum(0, pseudo, sizeof(pseudo)));
}
END_TEST

Suite *csum_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("csum", setup, teardown, &s);

	tcase_add_test(t, rfc1071_s3_example_comes_out);
	tcase_add_test(t, known_ipv4_header_comes_out);
	tcase_add_loop_test(t, sum_is_the_slow_sum_at_every_alignment_and_length, 0, 3);
	tcase_add_test(t, sum_reads_nothing_but_its_octets);
	tcase_add_test(t, rfc1071_s2_sum_from_an_odd_place_is_turned);
	tcase_add_test(t, sum_of_the_longest_frame_of_ones_does_not_overflow);
	tcase_add_loop_test(t, sum_over_any_split_into_frags_is_the_sum_of_the_whole, 0, 5);
	tcase_add_test_raise_signal(t, sum_beyond_the_frame_traps, UNIT_TRAP);
	tcase_add_test(t, rfc1624_s4_example_and_random_words_update_the_field);
	tcase_add_test(t, rfc9293_s3_1_pseudo_header_of_ipv4_is_summed);
	tcase_add_test(t, rfc8200_s8_1_pseudo_header_of_ipv6_is_summed);
	return s;
}
