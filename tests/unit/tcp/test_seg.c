/* SPDX-License-Identifier: Apache-2.0 */
/* test_seg.c - tcp_seg.c: options in and out, trimming, what no peer may make us read */
#include <string.h>

#include "rig.h"
#include "suites.h"

static struct tcp_opts parsed(const uint8_t *b, uint32_t len, bool expect_good)
{
	/* exactly as long as said, so that the sanitizer sees one octet too many */
	uint8_t *copy = malloc(len ? len : 1);
	struct tcp_opts o;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, b, len);
	ck_assert_int_eq(tcp_opts_parse(copy, len, &o), expect_good);
	free(copy);
	return o;
}

#define PARSE(good_, ...)                                                                          \
	parsed((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), (good_))

START_TEST(rfc9293_s3_2_known_options_are_decoded)
{
	struct tcp_opts o =
		PARSE(true, 2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7);

	ck_assert_uint_eq(o.mss, 1460);
	ck_assert(o.sack_ok && o.has_ts && o.has_wscale);
	ck_assert_uint_eq(o.ts_val, 1);
	ck_assert_uint_eq(o.ts_ecr, 2);
	ck_assert_uint_eq(o.wscale, 7);
}
END_TEST

START_TEST(rfc9293_must_7_unknown_options_are_skipped_by_length)
{
	struct tcp_opts o = PARSE(true, 254, 4, 1, 2, 253, 2, 2, 4, 2, 0);

	ck_assert_uint_eq(o.mss, 512);
}
END_TEST

START_TEST(rfc9293_s3_2_length_zero_one_or_beyond_ends_the_parsing)
{
	ck_assert_uint_eq(PARSE(false, 2, 4, 2, 0, 8, 0, 1, 1).mss, 512);
	ck_assert(!PARSE(false, 8, 1).has_ts);
	ck_assert(!PARSE(false, 8, 10, 0, 0).has_ts);
	ck_assert_uint_eq(PARSE(false, 2).mss, 0);
	ck_assert_uint_eq(PARSE(false, 2, 255, 1, 1).mss, 0);
}
END_TEST

START_TEST(rfc9293_s3_2_wrong_length_of_a_known_option_voids_it)
{
	ck_assert_uint_eq(PARSE(true, 2, 3, 5).mss, 0);
	ck_assert(!PARSE(true, 8, 9, 0, 0, 0, 0, 0, 0, 0).has_ts);
	ck_assert_uint_eq(PARSE(true, 5, 9, 0, 0, 0, 1, 0, 0, 0).sack_cnt, 0);
}
END_TEST

START_TEST(tcp_repeated_options_the_first_counts)
{
	struct tcp_opts o = PARSE(true, 2, 4, 1, 0, 2, 4, 2, 0, 3, 3, 1, 3, 3, 2);

	ck_assert_uint_eq(o.mss, 256);
	ck_assert_uint_eq(o.wscale, 1);
}
END_TEST

START_TEST(rfc7323_s2_3_shift_is_clamped_to_14)
{
	ck_assert_uint_eq(PARSE(true, 3, 3, 255).wscale, 14);
}
END_TEST

START_TEST(rfc9293_s3_2_end_of_options_hides_the_rest)
{
	ck_assert_uint_eq(PARSE(true, 0, 2, 4, 2, 0).mss, 0);
}
END_TEST

START_TEST(tcp_every_pair_of_octets_is_survived)
{
	for (uint32_t kind = 0; kind < 256; kind++)
		for (uint32_t len = 0; len < 256; len++) {
			uint8_t b[40] = { (uint8_t)kind, (uint8_t)len };
			struct tcp_opts o;

			for (uint32_t n = 0; n <= sizeof(b); n++)
				(void)tcp_opts_parse(b, n, &o);
			ck_assert_uint_le(o.sack_cnt, TCP_SACK_MAX);
		}
}
END_TEST

static void check_same(const struct tcp_opts *a, const struct tcp_opts *b)
{
	ck_assert_int_eq(a->has_ts, b->has_ts);
	ck_assert_int_eq(a->has_wscale, b->has_wscale);
	ck_assert_int_eq(a->sack_ok, b->sack_ok);
	ck_assert_uint_eq(a->wscale, b->wscale);
	ck_assert_uint_eq(a->mss, b->mss);
	ck_assert_uint_eq(a->ts_val, b->ts_val);
	ck_assert_uint_eq(a->ts_ecr, b->ts_ecr);
	ck_assert_uint_eq(a->sack_cnt, b->sack_cnt);
	for (uint32_t i = 0; i < a->sack_cnt; i++) {
		ck_assert_uint_eq(a->sack[i].start.v, b->sack[i].start.v);
		ck_assert_uint_eq(a->sack[i].end.v, b->sack[i].end.v);
	}
}

/* What is emitted is parsed to the same, for every combination of options. */
START_TEST(tcp_emit_and_parse_are_inverse)
{
	struct rig *t = rig_new();

	for (uint32_t mix = 0; mix < 16 * 5; mix++) {
		struct tcp_emit e = { .local = { ns_addr_v4(1), 1 },
				      .remote = { ns_addr_v4(2), 2 },
				      .seq = seq(3),
				      .ack = seq(4),
				      .flags = TCP_ACK,
				      .wnd = 5 };
		struct pkt *p = pkt_new_tx(&t->core.pkts);
		const struct tcp_hdr *h;
		struct tcp_opts o;

		e.is_syn_opts = mix & 1;
		e.opt.has_ts = mix & 2;
		e.opt.ts_val = 0xdeadbeef;
		e.opt.ts_ecr = 77;
		if (e.is_syn_opts) {
			e.opt.mss = 1460;
			e.opt.sack_ok = mix & 4;
			e.opt.has_wscale = mix & 8;
			e.opt.wscale = e.opt.has_wscale ? 9 : 0;
		} else {
			e.opt.sack_cnt = (uint8_t)ns_min_u(mix / 16, e.opt.has_ts ? 3 : 4);
		}
		for (uint32_t i = 0; i < e.opt.sack_cnt; i++)
			e.opt.sack[i] = (struct tcp_sack_block){ seq(i * 100), seq(i * 100 + 50) };
		if (!e.opt.has_ts)
			e.opt.ts_val = e.opt.ts_ecr = 0;
		tcp_hdr_emit(p, &e);
		h = (const struct tcp_hdr *)pkt_data(p);
		ck_assert_uint_eq(tcp_hdr_len(h), p->len);
		ck_assert_uint_eq(tcp_hdr_len(h) % 4, 0);
		ck_assert(tcp_opts_parse(pkt_data(p) + TCP_HDR_LEN, p->len - TCP_HDR_LEN, &o));
		check_same(&o, &e.opt);
		ck_assert_uint_eq(be32_get(h->seq), 3);
		pkt_free(p);
	}
	rig_free(t);
}
END_TEST

static struct tcp_seg seg_of(struct rig *t, uint32_t len, uint8_t flags)
{
	struct tcp_seg s = { .seq = seq(100), .len = len, .flags = flags };
	uint8_t *at;

	s.p = pkt_new_rx(&t->core.pkts, &t->core.chunks, 0);
	at = pkt_put(s.p, len);
	for (uint32_t i = 0; i < len; i++)
		at[i] = (uint8_t)i;
	return s;
}

START_TEST(rfc9293_s3_10_7_4_trimming_takes_syn_first_and_fin_first)
{
	struct rig *t = rig_new();
	struct tcp_seg s = seg_of(t, 10, TCP_SYN | TCP_FIN);

	ck_assert_uint_eq(tcp_seg_span(&s), 12);
	tcp_seg_trim_front(&s, 1);
	ck_assert_uint_eq(s.flags, TCP_FIN);
	ck_assert_uint_eq(s.len, 10);
	tcp_seg_trim_front(&s, 3);
	ck_assert_uint_eq(s.seq.v, 104);
	ck_assert_uint_eq(pkt_data(s.p)[0], 3);
	tcp_seg_trim_back(&s, 2);
	ck_assert_uint_eq(s.flags, 0);
	ck_assert_uint_eq(s.len, 6);
	ck_assert_uint_eq(pkt_len(s.p), 6);
	s.flags = TCP_FIN;
	tcp_seg_trim_front(&s, 7);
	ck_assert_uint_eq(s.len, 0);
	ck_assert_uint_eq(s.flags, 0);
	pkt_free(s.p);
	rig_free(t);
}
END_TEST

START_TEST(tcp_parse_refuses_what_is_no_segment)
{
	static const struct {
		uint8_t doff;
		uint32_t len;
		enum drop drop;
	} cases[] = {
		{ 0x50, 19, DROP_TOO_SHORT },      { 0x40, 20, DROP_TCP_BAD_HEADER },
		{ 0x60, 20, DROP_TCP_BAD_HEADER }, { 0xf0, 59, DROP_TCP_BAD_HEADER },
		{ 0x50, 20, DROP_NONE },           { 0xf0, 60, DROP_NONE },
	};
	struct ip_rx ip = { .src = ns_addr_v4(1), .dst = ns_addr_v4(2), .csum_ok = true };
	struct rig *t = rig_new();

	for (size_t i = 0; i < NS_ARRAY_LEN(cases); i++) {
		struct pkt *p = pkt_new_rx(&t->core.pkts, &t->core.chunks, 0);
		uint8_t *at = pkt_put(p, cases[i].len);
		struct tcp_seg s;

		memset(at, 0, cases[i].len);
		at[12] = cases[i].doff;
		ck_assert_int_eq(tcp_seg_parse(p, &ip, &s), cases[i].drop);
		pkt_free(p);
	}
	rig_free(t);
}
END_TEST

START_TEST(rfc9293_must_3_checksum_covers_header_payload_and_addresses)
{
	struct rig *t = rig_new();
	struct ip_rx ip = { .src = ns_addr_v4(0x01020304), .dst = ns_addr_v4(0x05060708) };
	uint8_t seg[20 + 5] = { 0, 1, 0, 2, [12] = 0x50, [20] = 'h', 'e', 'l', 'l', 'o' };
	uint32_t sum = 0x0102 + 0x0304 + 0x0506 + 0x0708 + 6 + sizeof(seg);

	for (size_t i = 0; i < sizeof(seg); i++)
		sum += i % 2 ? seg[i] : (uint32_t)seg[i] << 8;
	sum = (sum & 0xffff) + (sum >> 16);
	seg[16] = (uint8_t)(~sum >> 8);
	seg[17] = (uint8_t)~sum;
	for (uint32_t bit = 0; bit <= sizeof(seg) * 8; bit++) {
		struct pkt *p = pkt_new_rx(&t->core.pkts, &t->core.chunks, 0);
		uint8_t *at = pkt_put(p, sizeof(seg));
		struct tcp_seg s;
		enum drop d;

		memcpy(at, seg, sizeof(seg));
		if (bit < sizeof(seg) * 8)
			at[bit / 8] ^= (uint8_t)(1u << bit % 8);
		d = tcp_seg_parse(p, &ip, &s);
		if (bit == sizeof(seg) * 8)
			ck_assert_int_eq(d, DROP_NONE);
		else
			ck_assert_int_ne(d, DROP_NONE);
		pkt_free(p);
	}
	rig_free(t);
}
END_TEST

Suite *seg_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("seg", NULL, NULL, &s);

	tcase_add_test(t, rfc9293_s3_2_known_options_are_decoded);
	tcase_add_test(t, rfc9293_must_7_unknown_options_are_skipped_by_length);
	tcase_add_test(t, rfc9293_s3_2_length_zero_one_or_beyond_ends_the_parsing);
	tcase_add_test(t, rfc9293_s3_2_wrong_length_of_a_known_option_voids_it);
	tcase_add_test(t, tcp_repeated_options_the_first_counts);
	tcase_add_test(t, rfc7323_s2_3_shift_is_clamped_to_14);
	tcase_add_test(t, rfc9293_s3_2_end_of_options_hides_the_rest);
	tcase_add_test(t, tcp_every_pair_of_octets_is_survived);
	tcase_add_test(t, tcp_emit_and_parse_are_inverse);
	tcase_add_test(t, rfc9293_s3_10_7_4_trimming_takes_syn_first_and_fin_first);
	tcase_add_test(t, tcp_parse_refuses_what_is_no_segment);
	tcase_add_test(t, rfc9293_must_3_checksum_covers_header_payload_and_addresses);
	return s;
}
