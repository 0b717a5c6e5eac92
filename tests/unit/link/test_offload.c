/* SPDX-License-Identifier: Apache-2.0 */
/* test_offload.c - link/offload.c: cut frames against a segmenter that is written the slow way */
#include <errno.h>
#include <string.h>

#include "link/offload.h"
#include "rig.h"
#include "slowsum.h"
#include "suites.h"
#include "wire/tcp.h"

static struct rig rig;

static void setup(void)
{
	rig_init(&rig, NS_GSO_SW);
}

static void teardown(void)
{
	rig_done(&rig);
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint32_t get16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* Checksum of the TCP segment in an Ethernet frame of @len octets, field as it is. */
static uint16_t tcp_sum(const uint8_t *f, uint32_t len)
{
	uint16_t pseudo = slowsum((uint16_t)(6 + (len - 34)), f + 26, 8);

	return slowsum(pseudo, f + 34, len - 34);
}

/* Frame @i as a device would make it from the super-frame @s of @s_len octets. Returns its length. */
static uint32_t reference(const uint8_t *s, uint32_t s_len, uint32_t i, uint8_t *out)
{
	uint32_t payload = s_len - RIG_HDR_LEN, from = i * RIG_MSS;
	uint32_t n = payload - from < RIG_MSS ? payload - from : RIG_MSS;
	bool is_last = from + n == payload;
	uint32_t seq = get16(s + 38) << 16 | get16(s + 40);

	memcpy(out, s, RIG_HDR_LEN);
	memcpy(out + RIG_HDR_LEN, s + RIG_HDR_LEN + from, n);
	put16(out + 16, RIG_HDR_LEN - 14 + n);
	put16(out + 18, get16(s + 18) + i);
	put16(out + 24, 0);
	put16(out + 24, (uint16_t)~slowsum(0, out + 14, 20));
	seq += from;
	put16(out + 38, seq >> 16);
	put16(out + 40, seq);
	if (!is_last)
		out[47] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
	if (i > 0)
		out[47] &= (uint8_t)~TCP_CWR;
	put16(out + 50, 0);
	put16(out + 50, (uint16_t)~tcp_sum(out, RIG_HDR_LEN + n));
	return RIG_HDR_LEN + n;
}

static void cut_and_compare(uint32_t len, uint8_t flags)
{
	auto_free(pkt) super = rig_super(&rig, len, flags);
	static uint8_t whole[RIG_FRAME_MAX], want[RIG_FRAME_MAX], got[RIG_FRAME_MAX];
	uint32_t want_cnt = (len + RIG_MSS - 1) / RIG_MSS;
	struct pktq q;

	super->gso_type = PKT_GSO_TCP4;
	ck_assert(pkt_copy_out(super, 0, whole, pkt_len(super)));
	pktq_init(&q);
	ck_assert_int_eq(offload_cut(super, &rig.pkts, &q), 0);
	ck_assert_uint_eq(q.cnt, want_cnt);
	for (uint32_t i = 0; i < want_cnt; i++) {
		auto_free(pkt) p = pktq_pop(&q);
		uint32_t want_len = reference(whole, pkt_len(super), i, want);

		ck_assert_uint_eq(pkt_len(p), want_len);
		ck_assert(pkt_copy_out(p, 0, got, want_len));
		ck_assert_mem_eq(got, want, want_len);
		ck_assert_uint_eq(p->csum, PKT_CSUM_FULL);
		ck_assert_uint_eq(p->gso_segs, 0);
		ck_assert_uint_eq(p->l4_off - p->l2_off, 34);
	}
}

/* The super-frame of rig_super() over IPv6: another header between Ethernet and TCP. */
static struct pkt *super6(uint32_t len, uint8_t flags)
{
	struct pkt *p = rig_super(&rig, len, flags);
	uint32_t l4_len = pkt_len(p) - 34;
	uint8_t *h;

	ck_assert_ptr_nonnull(pkt_pull(p, 34));
	h = pkt_push(p, 54);
	memset(h, 0, 54);
	h[12] = 0x86;
	h[13] = 0xdd;
	h[14] = 0x60;
	put16(h + 18, l4_len);
	h[20] = 6;
	h[21] = 64;
	h[22] = 0x20;
	h[37] = 1;
	h[38] = 0x20;
	h[53] = 2;
	p->l2_off = (uint16_t)p->head;
	p->l3_off = (uint16_t)(p->l2_off + 14);
	p->l4_off = (uint16_t)(p->l2_off + 54);
	p->gso_type = PKT_GSO_TCP6;
	return p;
}

START_TEST(frames_of_ipv6_are_cut_with_right_lengths_and_checksums)
{
	static const uint32_t lens[] = { 1, RIG_MSS, RIG_MSS + 1, 10000, 65463 };
	static uint8_t whole[RIG_FRAME_MAX], got[RIG_FRAME_MAX];
	const uint32_t hdr_len = RIG_HDR_LEN + 20;

	for (size_t k = 0; k < NS_ARRAY_LEN(lens); k++) {
		auto_free(pkt) super = super6(lens[k], TCP_ACK | TCP_FIN | TCP_CWR);
		uint32_t left = lens[k], seq = 0xfffffff0;
		struct pktq q;

		ck_assert(pkt_copy_out(super, 0, whole, pkt_len(super)));
		pktq_init(&q);
		ck_assert_int_eq(offload_cut(super, &rig.pkts, &q), 0);
		for (uint32_t i = 0; left > 0; i++) {
			auto_free(pkt) p = pktq_pop(&q);
			uint32_t n = left < RIG_MSS ? left : RIG_MSS;
			uint8_t flags = TCP_ACK;
			uint16_t pseudo;

			flags |= i == 0 ? TCP_CWR : 0;
			flags |= n == left ? TCP_FIN : 0;
			ck_assert_ptr_nonnull(p);
			ck_assert_uint_eq(pkt_len(p), hdr_len + n);
			ck_assert(pkt_copy_out(p, 0, got, hdr_len + n));
			ck_assert_mem_eq(got, whole, 18);
			ck_assert_mem_eq(got + 20, whole + 20, 38);
			ck_assert_uint_eq(get16(got + 18), hdr_len - 54 + n);
			ck_assert_uint_eq(get16(got + 58) << 16 | get16(got + 60), seq);
			ck_assert_uint_eq(got[67], flags);
			ck_assert_mem_eq(got + hdr_len, whole + hdr_len + lens[k] - left, n);
			pseudo = slowsum((uint16_t)(6 + hdr_len - 54 + n), got + 22, 32);
			ck_assert_uint_eq(slowsum(pseudo, got + 54, hdr_len - 54 + n), 0xffff);
			seq += n;
			left -= n;
		}
		ck_assert_uint_eq(q.cnt, 0);
	}
}
END_TEST

/* Frame @p: datagram of @len octets at @data, the super-frame's number @i. */
static void check_datagram(const struct pkt *p, const uint8_t *data, uint32_t len, uint32_t i,
			   bool is_v6)
{
	static uint8_t got[RIG_FRAME_MAX];
	uint32_t l4 = is_v6 ? 54 : 34;
	uint16_t pseudo;

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(pkt_len(p), l4 + 8 + len);
	ck_assert(pkt_copy_out(p, 0, got, l4 + 8 + len));
	if (is_v6) {
		ck_assert_uint_eq(get16(got + 18), 8 + len);
	} else {
		ck_assert_uint_eq(get16(got + 16), 28 + len);
		ck_assert_uint_eq(get16(got + 18), (0xfffe + i) & 0xffff);
		ck_assert_uint_eq(slowsum(0, got + 14, 20), 0xffff);
	}
	ck_assert_uint_eq(get16(got + l4), 4000);
	ck_assert_uint_eq(get16(got + l4 + 2), 4001);
	ck_assert_uint_eq(get16(got + l4 + 4), 8 + len);
	pseudo = slowsum((uint16_t)(17 + 8 + len), is_v6 ? got + 22 : got + 26, is_v6 ? 32 : 8);
	ck_assert_uint_eq(slowsum(pseudo, got + l4, 8 + len), 0xffff);
	ck_assert_uint_ne(get16(got + l4 + 6), 0);
	ck_assert_mem_eq(got + l4 + 8, data, len);
	ck_assert_uint_eq(p->csum, PKT_CSUM_FULL);
	ck_assert_uint_eq(p->gso_segs, 0);
}

START_TEST(datagrams_are_cut_with_right_lengths_and_checksums)
{
	static const uint32_t lens[] = { RIG_MSS + 1, 2 * RIG_MSS, 10001, 65400 };
	static uint8_t whole[RIG_FRAME_MAX];

	for (size_t k = 0; k < 2 * NS_ARRAY_LEN(lens); k++) {
		uint32_t len = lens[k / 2], done = 0;
		bool is_v6 = k & 1;
		auto_free(pkt) super = rig_super_udp(&rig, len, is_v6);
		struct pktq q;

		ck_assert(pkt_copy_out(super, super->len, whole, len));
		pktq_init(&q);
		ck_assert_int_eq(offload_cut(super, &rig.pkts, &q), 0);
		for (uint32_t i = 0; done < len; i++) {
			uint32_t n = len - done < RIG_MSS ? len - done : RIG_MSS;
			auto_free(pkt) p = pktq_pop(&q);

			check_datagram(p, whole + done, n, i, is_v6);
			done += n;
		}
		ck_assert_uint_eq(q.cnt, 0);
	}
}
END_TEST

/* RFC 768: "If the computed checksum is zero, it is transmitted as all ones" */
START_TEST(a_datagram_whose_checksum_is_zero_says_all_ones)
{
	auto_free(pkt) super = rig_super_udp(&rig, RIG_MSS + 1, false);
	uint8_t *payload = super->frag[0].chunk->data + super->frag[0].off;
	uint8_t field[2];

	super->gso_size = 2;
	memset(payload, 0, 2);
	for (int turn = 0; turn < 2; turn++) {
		struct pktq q;

		pktq_init(&q);
		ck_assert_int_eq(offload_cut(super, &rig.pkts, &q), 0);
		ck_assert(pkt_copy_out(list_entry(q.head.next, struct pkt, node), 40, field, 2));
		pktq_clear(&q);
		/* what is missing to all ones, so that the next sum's complement is zero */
		if (turn == 0)
			memcpy(payload, field, 2);
	}
	ck_assert_uint_eq(get16(field), 0xffff);
}
END_TEST

START_TEST(cut_frames_are_byte_exact_at_every_edge_of_the_mss)
{
	static const uint32_t lens[] = { 1,
					 2,
					 RIG_MSS - 1,
					 RIG_MSS,
					 RIG_MSS + 1,
					 2 * RIG_MSS,
					 2 * RIG_MSS + 3,
					 10000,
					 44 * RIG_MSS,
					 65483 };

	for (size_t i = 0; i < NS_ARRAY_LEN(lens); i++)
		cut_and_compare(lens[i], TCP_ACK);
}
END_TEST

START_TEST(psh_and_fin_stay_on_the_last_and_cwr_on_the_first)
{
	cut_and_compare(5 * RIG_MSS, TCP_ACK | TCP_PSH | TCP_FIN | TCP_CWR | TCP_ECE);
}
END_TEST

START_TEST(cut_refers_to_the_payload_and_copies_nothing)
{
	auto_free(pkt) super = rig_super(&rig, 3 * RIG_MSS, TCP_ACK);
	uint32_t chunks = rig.chunks.large.out_cnt;
	struct pktq q;

	pktq_init(&q);
	ck_assert_int_eq(offload_cut(super, &rig.pkts, &q), 0);
	ck_assert_uint_eq(rig.chunks.large.out_cnt, chunks);
	ck_assert_uint_eq(rig.chunks.small.out_cnt, 0);
	pktq_clear(&q);
}
END_TEST

START_TEST(cut_without_packets_leaves_the_queue_as_it_was)
{
	auto_free(pkt) super = rig_super(&rig, 10 * RIG_MSS, TCP_ACK);
	struct pktq q;

	pktq_init(&q);
	rig.pkts.cap = rig.pkts.out_cnt + 5;
	ck_assert_int_eq(offload_cut(super, &rig.pkts, &q), -ENOMEM);
	ck_assert_uint_eq(q.cnt, 0);
	ck_assert_uint_eq(rig.pkts.out_cnt, 1);
}
END_TEST

START_TEST(cut_of_another_type_is_refused)
{
	auto_free(pkt) super = rig_super(&rig, 3 * RIG_MSS, TCP_ACK);
	struct pktq q;

	pktq_init(&q);
	super->gso_type = PKT_GSO_NONE;
	ck_assert_int_eq(offload_cut(super, &rig.pkts, &q), -EOPNOTSUPP);
	ck_assert_uint_eq(q.cnt, 0);
}
END_TEST

START_TEST(a_partial_checksum_is_completed)
{
	static uint8_t f[RIG_FRAME_MAX];

	for (uint32_t len = 0; len < 40; len++) {
		auto_free(pkt) p = rig_super(&rig, len, TCP_ACK);

		offload_fill_csum(p);
		ck_assert_uint_eq(p->csum, PKT_CSUM_FULL);
		ck_assert(pkt_copy_out(p, 0, f, pkt_len(p)));
		ck_assert_uint_eq(tcp_sum(f, pkt_len(p)), 0xffff);
	}
}
END_TEST

Suite *offload_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("link/offload", setup, teardown, &s);

	tcase_add_test(t, frames_of_ipv6_are_cut_with_right_lengths_and_checksums);
	tcase_add_test(t, datagrams_are_cut_with_right_lengths_and_checksums);
	tcase_add_test(t, a_datagram_whose_checksum_is_zero_says_all_ones);
	tcase_add_test(t, cut_frames_are_byte_exact_at_every_edge_of_the_mss);
	tcase_add_test(t, psh_and_fin_stay_on_the_last_and_cwr_on_the_first);
	tcase_add_test(t, cut_refers_to_the_payload_and_copies_nothing);
	tcase_add_test(t, cut_without_packets_leaves_the_queue_as_it_was);
	tcase_add_test(t, cut_of_another_type_is_refused);
	tcase_add_test(t, a_partial_checksum_is_completed);
	return s;
}
