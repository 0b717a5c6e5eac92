/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_vnet.c - wire/vnet.c: who is believed about what
 *
 * Theory of operation
 *
 * A frame is built octet by octet, behind a header written as virtio 1.2 5.1.6 lays it out, on
 * memory of exactly its length: AddressSanitizer sees any read beyond the frame. hostile tables list
 * what a peer of the link may write; each row is refused, with the reason it names.
 */
#include <string.h>

#include "buf/chunk.h"
#include "buf/pkt.h"
#include "slowsum.h"
#include "suites.h"
#include "wire/csum.h"
#include "wire/vnet.h"

enum {
	NEEDS_CSUM = 1,
	DATA_VALID = 2,
	TCPV4 = 1,
	UDP = 3, /* UFO, obsolete */
	TCPV6 = 4,
	UDP_L4 = 5,
	ECN = 0x80,
	FRAME_MAX = 4096,
	L3 = 14,
};

/* The header's fields, host order. */
struct vnet {
	uint8_t flags, gso_type;
	uint16_t hdr_len, gso_size, csum_start, csum_off;
};

static struct pool pkts;
static uint8_t frame[FRAME_MAX];
static uint32_t frame_len;

static void setup(void)
{
	pool_init(&pkts, "pkt", sizeof(struct pkt), 4, 4);
	memset(frame, 0, sizeof(frame));
	frame_len = 0;
}

static void teardown(void)
{
	pool_done(&pkts);
}

static void put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static void eth(uint16_t type)
{
	memset(frame, 0x02, 12);
	put16(frame + 12, type);
}

/* Ethernet, IPv4 with @opt_len octets of options, @proto with a header of @l4_len, @payload_len octets. */
static void ip4_frame(uint8_t proto, uint32_t opt_len, uint32_t l4_len, uint32_t payload_len)
{
	uint8_t *ip = frame + L3, *l4 = ip + 20 + opt_len;

	eth(0x0800);
	ip[0] = (uint8_t)(0x45 + opt_len / 4);
	put16(ip + 2, 20 + opt_len + l4_len + payload_len);
	ip[8] = 64;
	ip[9] = proto;
	memcpy(ip + 12, (const uint8_t[]){ 10, 0, 0, 1, 10, 0, 0, 2 }, 8);
	memset(ip + 20, 1, opt_len);
	if (proto == 6)
		l4[12] = (uint8_t)(l4_len / 4 << 4);
	for (uint32_t i = 0; i < payload_len; i++)
		l4[l4_len + i] = (uint8_t)(i * 31);
	frame_len = L3 + 20 + opt_len + l4_len + payload_len;
}

static void ip6_frame(uint8_t next, uint32_t l4_len, uint32_t payload_len)
{
	uint8_t *ip = frame + L3;

	eth(0x86dd);
	ip[0] = 0x60;
	put16(ip + 4, l4_len + payload_len);
	ip[6] = next;
	ip[7] = 64;
	if (next == 6)
		ip[40 + 12] = (uint8_t)(l4_len / 4 << 4);
	frame_len = L3 + 40 + l4_len + payload_len;
}

/* A received packet over exactly @vnet_len + @len octets; give_back() frees it. */
static struct pkt *receive(const struct vnet *v, uint32_t vnet_len, uint32_t len)
{
	struct pkt *p = pkt_new_tx(&pkts);
	uint8_t raw[12] = { v->flags, v->gso_type };

	memcpy(raw + 2, &v->hdr_len, 2);
	memcpy(raw + 4, &v->gso_size, 2);
	memcpy(raw + 6, &v->csum_start, 2);
	memcpy(raw + 8, &v->csum_off, 2);
	p->buf = malloc(vnet_len + len ? vnet_len + len : 1);
	p->cap = p->len = vnet_len + len;
	p->head = 0;
	memcpy(p->buf, raw, vnet_len);
	memcpy(p->buf + vnet_len, frame, len);
	return p;
}

static void give_back(struct pkt *p)
{
	free(p->buf);
	pkt_free(p);
}

static enum drop pulled(const struct vnet *v)
{
	struct pkt *p = receive(v, VNET_LEN, frame_len);
	enum drop d = vnet_pull(p, VNET_LEN);

	give_back(p);
	return d;
}

/* --- what the flags say of the checksum ------------------------------------------------------- */

/* The transport's sum, pseudo-header and all: 0xffff when the field is right. */
static uint16_t tcp_verdict(const struct pkt *p)
{
	struct ns_addr src = ns_addr_v4(0x0a000001), dst = ns_addr_v4(0x0a000002);
	uint32_t l4 = L3 + 20, len = pkt_len(p) - l4;

	return csum_fold(csum_pkt(csum_pseudo(&src, &dst, 6, len), p, l4, len));
}

static const struct {
	uint8_t flags;
	enum pkt_csum state;
} flag_rows[] = {
	{ NEEDS_CSUM, PKT_CSUM_PARTIAL },
	{ DATA_VALID, PKT_CSUM_VALID },
	{ 0, PKT_CSUM_UNKNOWN },
	{ NEEDS_CSUM | DATA_VALID, PKT_CSUM_PARTIAL },
	{ 4 /* RSC_INFO, unknown to us */, PKT_CSUM_UNKNOWN },
};

/* Flags times {right, wrong} field: the state is the flags' alone, and UNKNOWN lets the two be told apart. */
START_TEST(flags_and_nothing_else_decide_who_vouches)
{
	struct vnet v = { .flags = flag_rows[_i / 2].flags, .csum_start = L3 + 20, .csum_off = 16 };
	bool is_right = _i % 2;
	static const uint8_t pseudo[] = { 10, 0, 0, 1, 10, 0, 0, 2, 0, 6, 0, 20 + 33 };
	uint16_t sum;
	struct pkt *p;

	ip4_frame(6, 0, 20, 33);
	sum = slowsum(slowsum(0, pseudo, sizeof(pseudo)), frame + L3 + 20, 20 + 33);
	put16(frame + L3 + 20 + 16, (uint16_t)(is_right ? ~sum : ~sum ^ 0x0100));
	p = receive(&v, VNET_LEN, frame_len);
	ck_assert_int_eq(vnet_pull(p, VNET_LEN), DROP_NONE);
	ck_assert_int_eq(p->csum, flag_rows[_i / 2].state);
	ck_assert_int_eq(p->gso_type, PKT_GSO_NONE);
	ck_assert_uint_eq(p->gso_segs, 0);
	ck_assert_uint_eq(p->l2_off, VNET_LEN);
	ck_assert_uint_eq(pkt_len(p), frame_len);
	if (p->csum == PKT_CSUM_PARTIAL) {
		ck_assert_uint_eq(p->csum_start, L3 + 20);
		ck_assert_uint_eq(p->csum_off, 16);
	}
	ck_assert(is_right ? tcp_verdict(p) == 0xffff : tcp_verdict(p) != 0xffff);
	give_back(p);
}
END_TEST

/* hostile: csum_start beyond the frame, field beyond the frame, both at the edge. */
START_TEST(partial_checksum_must_lie_within_the_frame)
{
	struct vnet v = { .flags = NEEDS_CSUM };

	ip4_frame(6, 0, 20, 10);
	for (uint32_t start = 0; start < frame_len + 8; start++)
		for (uint32_t off = 0; off < frame_len + 8; off++) {
			bool is_good = start >= 14 && start + off + 2 <= frame_len;

			v.csum_start = (uint16_t)start;
			v.csum_off = (uint16_t)off;
			ck_assert_int_eq(pulled(&v), is_good ? DROP_NONE : DROP_VNET_BAD);
		}
	v.csum_start = v.csum_off = 0xffff;
	ck_assert_int_eq(pulled(&v), DROP_VNET_BAD);
	v.csum_start = 34;
	v.csum_off = 0xfffe; /* wraps in 16 bits */
	ck_assert_int_eq(pulled(&v), DROP_VNET_BAD);
	v.flags = DATA_VALID; /* not asked for: not looked at */
	ck_assert_int_eq(pulled(&v), DROP_NONE);
}
END_TEST

/* --- frames that end too soon ------------------------------------------------------------------ */

START_TEST(frame_shorter_than_ethernet_is_dropped_whatever_the_header_says)
{
	static const struct vnet rows[] = {
		{ 0 },
		{ .flags = NEEDS_CSUM, .csum_start = 14, .csum_off = 0 },
		{ .gso_type = TCPV4, .gso_size = 1448 },
		{ .flags = NEEDS_CSUM,
		  .gso_type = TCPV4,
		  .gso_size = 1,
		  .csum_start = 34,
		  .csum_off = 16 },
	};

	ip4_frame(6, 0, 20, 100);
	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++)
		for (uint32_t len = 0; len < 14; len++)
			for (uint32_t vnet_len = VNET_LEN; vnet_len <= VNET_MRG_LEN;
			     vnet_len += 2) {
				struct pkt *p = receive(&rows[i], vnet_len, len);

				ck_assert_int_eq(vnet_pull(p, vnet_len), DROP_TOO_SHORT);
				give_back(p);
			}
}
END_TEST

START_TEST(frame_shorter_than_the_vnet_header_is_dropped)
{
	struct vnet v = { 0 };

	for (uint32_t vnet_len = VNET_LEN; vnet_len <= VNET_MRG_LEN; vnet_len += 2)
		for (uint32_t len = 0; len < vnet_len; len++) {
			struct pkt *p = receive(&v, len, 0);

			ck_assert_int_eq(vnet_pull(p, vnet_len), DROP_TOO_SHORT);
			give_back(p);
		}
}
END_TEST

/* A super-frame cut at every length: only whole headers make one, and no octet beyond is read. */
START_TEST(super_frame_without_whole_headers_is_refused)
{
	struct vnet v = { .gso_type = TCPV4, .gso_size = 100 };
	uint32_t hdr_len = 14 + 24 + 32;

	ip4_frame(6, 4, 32, 1000);
	for (uint32_t len = 14; len < frame_len; len++) {
		struct pkt *p = receive(&v, VNET_LEN, len);
		enum drop d = vnet_pull(p, VNET_LEN);

		ck_assert_int_eq(d, len < hdr_len ? DROP_VNET_BAD : DROP_NONE);
		if (d == DROP_NONE)
			ck_assert_uint_eq(p->gso_segs, (len - hdr_len + 99) / 100);
		give_back(p);
	}
}
END_TEST

/* Headers alone, to the octet, are whole headers: a super-frame of no payload. */
START_TEST(super_frame_that_ends_with_its_headers_is_taken)
{
	static const struct vnet tcp = { .gso_type = TCPV4, .gso_size = 100 };
	static const struct vnet udp = { .gso_type = UDP_L4, .gso_size = 100 };

	ip4_frame(6, 0, 20, 0);
	ck_assert_int_eq(pulled(&tcp), DROP_NONE);
	frame_len--;
	ck_assert_int_eq(pulled(&tcp), DROP_VNET_BAD);
	ip4_frame(17, 0, 8, 0);
	ck_assert_int_eq(pulled(&udp), DROP_NONE);
	frame_len--;
	ck_assert_int_eq(pulled(&udp), DROP_VNET_BAD);
}
END_TEST

/* A packet's metadata is this header's alone, whatever it carried before. */
START_TEST(plain_header_leaves_nothing_of_earlier_metadata)
{
	static const struct vnet v = { 0 };
	struct pkt *p;

	ip4_frame(6, 0, 20, 100);
	p = receive(&v, VNET_LEN, frame_len);
	p->gso_type = PKT_GSO_TCP4;
	p->gso_size = p->gso_segs = 7;
	p->ecn = true;
	p->csum = PKT_CSUM_PARTIAL;
	ck_assert_int_eq(vnet_pull(p, VNET_LEN), DROP_NONE);
	ck_assert_int_eq(p->gso_type, PKT_GSO_NONE);
	ck_assert_uint_eq(p->gso_size, 0);
	ck_assert_uint_eq(p->gso_segs, 0);
	ck_assert(!p->ecn);
	ck_assert_int_eq(p->csum, PKT_CSUM_UNKNOWN);
	give_back(p);
}
END_TEST

/* --- segmentation types against frames ----------------------------------------------------------- */

enum frame_kind { TCP4, TCP4_OPTIONS, UDP4, TCP6, UDP6, ARP, ICMP4, VLAN, FRAME_KIND_COUNT };

static void make_frame(enum frame_kind kind)
{
	setup();
	switch (kind) {
	case TCP4:
		ip4_frame(6, 0, 20, 300);
		break;
	case TCP4_OPTIONS:
		ip4_frame(6, 40, 60, 300);
		break;
	case UDP4:
		ip4_frame(17, 0, 8, 300);
		break;
	case TCP6:
		ip6_frame(6, 32, 300);
		break;
	case UDP6:
		ip6_frame(17, 8, 300);
		break;
	case ICMP4:
		ip4_frame(1, 0, 8, 300);
		break;
	case ARP:
	case VLAN:
		ip4_frame(6, 0, 20, 300);
		put16(frame + 12, kind == ARP ? 0x0806 : 0x8100);
		break;
	case FRAME_KIND_COUNT:
		break;
	}
}

/* What each type of segmentation may stand in front of. */
static enum pkt_gso gso_of(uint32_t type, enum frame_kind kind)
{
	if (type == TCPV4 && (kind == TCP4 || kind == TCP4_OPTIONS))
		return PKT_GSO_TCP4;
	if (type == TCPV6 && kind == TCP6)
		return PKT_GSO_TCP6;
	if (type == UDP_L4 && (kind == UDP4 || kind == UDP6))
		return PKT_GSO_UDP_L4;
	return PKT_GSO_NONE;
}

/* Every type there could be, with and without ECN, in front of every kind of frame. */
START_TEST(segmentation_type_must_be_what_the_frame_is)
{
	make_frame((enum frame_kind)_i);
	for (uint32_t type = 0; type < 256; type++) {
		struct vnet v = { .gso_type = (uint8_t)type, .gso_size = 100 };
		struct pkt *p = receive(&v, VNET_LEN, frame_len);
		enum pkt_gso want = gso_of(type & ~(uint32_t)ECN, (enum frame_kind)_i);
		enum drop d = vnet_pull(p, VNET_LEN);

		if (type == 0) {
			ck_assert_int_eq(d, DROP_NONE);
			ck_assert_int_eq(p->gso_type, PKT_GSO_NONE);
			ck_assert_uint_eq(p->gso_segs, 0);
		} else if (want == PKT_GSO_NONE) {
			ck_assert_int_eq(d, DROP_VNET_BAD);
		} else {
			ck_assert_int_eq(d, DROP_NONE);
			ck_assert_int_eq(p->gso_type, want);
			ck_assert_uint_eq(p->gso_size, 100);
			ck_assert_uint_eq(p->gso_segs, 3);
			ck_assert(p->ecn == !!(type & ECN));
		}
		give_back(p);
	}
}
END_TEST

START_TEST(segment_size_of_zero_is_refused)
{
	struct vnet v = { .gso_type = TCPV4 };

	ip4_frame(6, 0, 20, 300);
	ck_assert_int_eq(pulled(&v), DROP_VNET_BAD);
	v.gso_size = 1;
	ck_assert_int_eq(pulled(&v), DROP_NONE);
	v.gso_size = 0xffff;
	ck_assert_int_eq(pulled(&v), DROP_NONE);
}
END_TEST

/* Fields of the frame itself that make a super-frame a lie. */
START_TEST(super_frame_with_a_broken_header_is_refused)
{
	static const struct {
		uint32_t at;
		uint8_t value;
	} rows[] = {
		{ L3, 0x44 },      /* header length below 20 */
		{ L3, 0x65 },      /* version 6 under ethertype IPv4 */
		{ L3, 0x05 },      /* version 0 */
		{ L3 + 6, 0x20 },  /* more fragments */
		{ L3 + 7, 0x01 },  /* not the first fragment */
		{ L3 + 32, 0x00 }, /* TCP data offset 0 */
		{ L3 + 32, 0x40 }, /* below 20 */
		{ L3 + 9, 47 },    /* GRE */
		{ L3 + 32, 0xf0 }, /* 60 octets, of which the frame has 30: see below */
		{ L3, 0x4f },      /* 60 octets of IPv4 header, then no TCP fits */
	};
	struct vnet v = { .gso_type = TCPV4, .gso_size = 10 };

	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		setup();
		ip4_frame(6, 0, 20, 10);
		ck_assert_int_eq(pulled(&v), DROP_NONE);
		frame[rows[i].at] = rows[i].value;
		ck_assert_int_eq(pulled(&v), DROP_VNET_BAD);
	}
}
END_TEST

/* The header's own hint about lengths is not believed, whatever it says. */
START_TEST(header_length_hint_changes_nothing)
{
	static const uint16_t hints[] = { 0, 1, 14, 54, 55, 0xffff };

	ip4_frame(6, 0, 20, 300);
	for (size_t i = 0; i < NS_ARRAY_LEN(hints); i++) {
		struct vnet v = { .gso_type = TCPV4, .gso_size = 100, .hdr_len = hints[i] };
		struct pkt *p = receive(&v, VNET_LEN, frame_len);

		ck_assert_int_eq(vnet_pull(p, VNET_LEN), DROP_NONE);
		ck_assert_uint_eq(p->gso_segs, 3);
		give_back(p);
	}
}
END_TEST

/* The longest frame in segments of an octet each: the count does not wrap into a small one. */
START_TEST(segment_count_of_the_longest_frame_does_not_wrap)
{
	uint32_t len = 65536 + 100;
	struct pkt *p = pkt_new_tx(&pkts);
	const struct vnet v = { .gso_type = TCPV4, .gso_size = 1 };

	ip4_frame(6, 0, 20, 0);
	p->buf = calloc(1, VNET_LEN + len);
	p->cap = p->len = VNET_LEN + len;
	p->head = 0;
	p->buf[1] = v.gso_type;
	memcpy(p->buf + 4, &v.gso_size, 2);
	memcpy(p->buf + VNET_LEN, frame, frame_len);
	if (vnet_pull(p, VNET_LEN) == DROP_NONE)
		ck_assert_uint_ge(p->gso_segs, 65535);
	give_back(p);
}
END_TEST

START_TEST(random_headers_and_frames_do_no_harm)
{
	struct prng rnd = { 55 + (uint64_t)_i };

	for (int round = 0; round < 20000; round++) {
		struct vnet v;
		struct pkt *p;
		uint32_t len;

		make_frame((enum frame_kind)prng_below(&rnd, FRAME_KIND_COUNT));
		prng_fill(&rnd, &v, sizeof(v));
		v.gso_type &= prng_hit(&rnd, 500000) ? 0x85 : 0xff;
		for (uint64_t i = prng_below(&rnd, 4); i > 0; i--)
			frame[prng_below(&rnd, 60)] = (uint8_t)prng_next(&rnd);
		len = (uint32_t)prng_below(&rnd, frame_len + 1);
		p = receive(&v, VNET_MRG_LEN, len);
		if (vnet_pull(p, VNET_MRG_LEN) == DROP_NONE) {
			ck_assert_uint_ge(pkt_len(p), 14);
			if (p->csum == PKT_CSUM_PARTIAL)
				ck_assert_uint_le(p->csum_start + p->csum_off + 2u, pkt_len(p));
			if (p->gso_type != PKT_GSO_NONE)
				ck_assert_uint_gt(p->gso_size, 0);
		}
		give_back(p);
	}
}
END_TEST

/* --- the way out ----------------------------------------------------------------------------- */

START_TEST(pushed_header_is_what_virtio_lays_out)
{
	for (uint32_t vnet_len = VNET_LEN; vnet_len <= VNET_MRG_LEN; vnet_len += 2) {
		struct pkt *p = pkt_new_tx(&pkts);
		uint8_t want[12] = { NEEDS_CSUM, TCPV4 | ECN };
		uint16_t field[4] = { 54, 1448, 34, 16 };

		memcpy(want + 2, field, sizeof(field));
		pkt_push(p, 54);
		p->csum = PKT_CSUM_PARTIAL;
		p->csum_start = 34;
		p->csum_off = 16;
		p->gso_type = PKT_GSO_TCP4;
		p->gso_size = 1448;
		p->gso_segs = 3;
		p->ecn = true;
		vnet_push(p, vnet_len);
		ck_assert_uint_eq(p->len, 54 + vnet_len);
		ck_assert_mem_eq(pkt_data(p), want, vnet_len);
		pkt_free(p);
	}
}
END_TEST

START_TEST(pushed_header_of_datagrams_is_gso_udp_l4)
{
	struct pkt *p = pkt_new_tx(&pkts);
	uint8_t want[VNET_LEN] = { NEEDS_CSUM, 5 };
	uint16_t field[4] = { 42, 1200, 34, 6 };

	memcpy(want + 2, field, sizeof(field));
	pkt_push(p, 42);
	p->csum = PKT_CSUM_PARTIAL;
	p->csum_start = 34;
	p->csum_off = 6;
	p->gso_type = PKT_GSO_UDP_L4;
	p->gso_size = 1200;
	p->gso_segs = 5;
	vnet_push(p, VNET_LEN);
	ck_assert_mem_eq(pkt_data(p), want, VNET_LEN);
	pkt_free(p);
}
END_TEST

START_TEST(pushed_header_of_a_complete_frame_is_all_zero)
{
	static const uint8_t zero[VNET_LEN];
	struct pkt *p = pkt_new_tx(&pkts);

	pkt_push(p, 54);
	p->csum = PKT_CSUM_FULL;
	p->gso_type = PKT_GSO_TCP4;
	p->gso_size = 1448;
	p->gso_segs = 1; /* one segment is no super-frame */
	vnet_push(p, VNET_LEN);
	ck_assert_mem_eq(pkt_data(p), zero, VNET_LEN);
	pkt_free(p);
}
END_TEST

START_TEST(other_header_length_traps)
{
	struct vnet v = { 0 };

	ip4_frame(6, 0, 20, 0);
	ck_assert_int_eq(vnet_pull(receive(&v, 12, frame_len), 11), DROP_NONE); /* not reached */
}
END_TEST

Suite *vnet_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("vnet", setup, teardown, &s);

	tcase_add_loop_test(t, flags_and_nothing_else_decide_who_vouches, 0,
			    2 * (int)NS_ARRAY_LEN(flag_rows));
	tcase_add_test(t, partial_checksum_must_lie_within_the_frame);
	tcase_add_test(t, frame_shorter_than_ethernet_is_dropped_whatever_the_header_says);
	tcase_add_test(t, frame_shorter_than_the_vnet_header_is_dropped);
	tcase_add_test(t, super_frame_without_whole_headers_is_refused);
	tcase_add_test(t, super_frame_that_ends_with_its_headers_is_taken);
	tcase_add_test(t, plain_header_leaves_nothing_of_earlier_metadata);
	tcase_add_loop_test(t, segmentation_type_must_be_what_the_frame_is, 0, FRAME_KIND_COUNT);
	tcase_add_test(t, segment_size_of_zero_is_refused);
	tcase_add_test(t, super_frame_with_a_broken_header_is_refused);
	tcase_add_test(t, header_length_hint_changes_nothing);
	tcase_add_test(t, segment_count_of_the_longest_frame_does_not_wrap);
	tcase_add_loop_test(t, random_headers_and_frames_do_no_harm, 0, 4);
	tcase_add_test(t, pushed_header_is_what_virtio_lays_out);
	tcase_add_test(t, pushed_header_of_datagrams_is_gso_udp_l4);
	tcase_add_test(t, pushed_header_of_a_complete_frame_is_all_zero);
	tcase_add_test_raise_signal(t, other_header_length_traps, UNIT_TRAP);
	return s;
}
