/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_random.c - link/: frames of every shape, a driver of every mood, and what is on the wire in the end
 *
 * Theory of operation
 *
 * A shape is drawn at random: lengths of IPv4 and TCP options, segment size, payload, flags, where the
 * payload is split into frags. A slow segmenter, which knows a frame as a flat array only and sums
 * every octet again, says what the wire must carry for it. The device of these tests puts what it
 * is given through the same segmenter when it is a super-frame, so that whatever mode the link is in
 * the wire has to be the same: every frame once, in the order of link_output().
 */
#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "link/link.h"
#include "link/offload.h"
#include "slowsum.h"
#include "suites.h"
#include "wire/tcp.h"

enum {
	L3 = 14,
	HDR_MAX = 14 + 60 + 60,
	FLAT_MAX = 14 + 65535,
	WIRE_MAX = 20000, /* frames of one test */
};

struct shape {
	uint32_t l4;      /* octets from the frame's start to TCP */
	uint32_t hdr_len; /* octets of all headers */
	uint32_t mss, payload_len;
	uint8_t flags;
};

static struct chunk_pools chunks;
static struct pool pkts;
static struct ns_stats stats;
static struct prng rnd;
static uint8_t flat[FLAT_MAX], cut[FLAT_MAX];
static uint64_t want[WIRE_MAX], got[WIRE_MAX]; /* hashes of frames */
static uint32_t want_cnt, got_cnt;

static void setup(void)
{
	chunk_pools_init(&chunks, 8192, 16, 16);
	pool_init(&pkts, "pkt", sizeof(struct pkt), 4096, 64);
	stats = (struct ns_stats){ 0 };
	want_cnt = got_cnt = 0;
}

static void teardown(void)
{
	pool_done(&pkts);
	chunk_pools_done(&chunks);
}

static void put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static uint16_t tcp_sum(const uint8_t *frame, uint32_t l4, uint32_t len)
{
	uint16_t pseudo = slowsum((uint16_t)(6 + len - l4), frame + L3 + 12, 8);

	return slowsum(pseudo, frame + l4, len - l4);
}

/* Frame @i that a device makes of the flat super-frame @super; its length. */
static uint32_t slow_cut(const struct shape *s, const uint8_t *super, uint32_t i, uint8_t *out)
{
	uint32_t from = i * s->mss, left = s->payload_len - from;
	uint32_t n = left < s->mss ? left : s->mss, len = s->hdr_len + n;
	uint8_t *ip = out + L3, *tcp = out + s->l4;
	uint32_t seq = (get16(super + s->l4 + 4) << 16 | get16(super + s->l4 + 6)) + from;

	memcpy(out, super, s->hdr_len);
	memcpy(out + s->hdr_len, super + s->hdr_len + from, n);
	put16(ip + 2, len - L3);
	put16(ip + 4, get16(super + L3 + 4) + i);
	put16(ip + 10, 0);
	put16(ip + 10, (uint16_t)~slowsum(0, ip, s->l4 - L3));
	put16(tcp + 4, seq >> 16);
	put16(tcp + 6, seq);
	if (n < left)
		tcp[13] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
	if (i > 0)
		tcp[13] &= (uint8_t)~TCP_CWR;
	put16(tcp + 16, 0);
	put16(tcp + 16, (uint16_t)~tcp_sum(out, s->l4, len));
	return len;
}

static uint32_t segments(const struct shape *s)
{
	return s->payload_len ? (s->payload_len + s->mss - 1) / s->mss : 1;
}

static struct shape random_shape(uint32_t segs_max)
{
	static const uint32_t sizes[] = { 1, 2, 3, 536, 1447, 1448, 8948, 40000 };
	struct shape s = { .flags = (uint8_t)prng_next(&rnd) };
	uint32_t most;

	s.flags = (uint8_t)((s.flags | TCP_ACK) & ~(uint32_t)(TCP_SYN | TCP_RST));
	s.l4 = L3 + 20 + 4 * (uint32_t)prng_below(&rnd, 11);
	s.hdr_len = s.l4 + 20 + 4 * (uint32_t)prng_below(&rnd, 11);
	s.mss = sizes[prng_below(&rnd, NS_ARRAY_LEN(sizes))];
	most = 65535 - (s.hdr_len - L3);
	most = s.mss * segs_max < most ? s.mss * segs_max : most;
	s.payload_len = (uint32_t)prng_below(&rnd, most + 1);
	if (prng_hit(&rnd, 300000)) /* whole segments, the last one too */
		s.payload_len -= s.payload_len % s.mss;
	return s;
}

/* The flat frame of @s with random octets, right checksums in IPv4, a pseudo-header's in TCP. */
static void flat_frame(const struct shape *s)
{
	uint32_t len = s->hdr_len + s->payload_len;
	uint8_t *ip = flat + L3, *tcp = flat + s->l4;

	prng_fill(&rnd, flat, len);
	put16(flat + 12, 0x0800);
	ip[0] = (uint8_t)(0x40 + (s->l4 - L3) / 4);
	put16(ip + 2, len - L3);
	put16(ip + 6, 0x4000);
	ip[9] = 6;
	put16(ip + 10, 0);
	put16(ip + 10, (uint16_t)~slowsum(0, ip, s->l4 - L3));
	tcp[12] = (uint8_t)((s->hdr_len - s->l4) / 4 << 4);
	tcp[13] = s->flags;
	put16(tcp + 16, slowsum((uint16_t)(6 + len - s->l4), ip + 12, 8));
}

/* @flat as a packet: headers linear, payload in up to PKT_FRAG_MAX pieces. */
static struct pkt *packet(const struct shape *s)
{
	struct pkt *p = pkt_new_tx(&pkts);
	uint32_t off = s->hdr_len, left = s->payload_len;

	ck_assert_ptr_nonnull(p);
	while (left > 0) {
		bool is_last = p->frag_cnt == PKT_FRAG_MAX - 1;
		uint32_t n = left < CHUNK_SMALL ? left : CHUNK_SMALL, at;
		struct chunk *c;

		/* what is left must still fit into the pieces that are left */
		if (!is_last && left <= CHUNK_SMALL * (PKT_FRAG_MAX - 1u - p->frag_cnt))
			n = (uint32_t)prng_below(&rnd, n + 1);
		c = chunk_new(&chunks, CHUNK_SMALL);
		ck_assert_ptr_nonnull(c);
		at = (uint32_t)prng_below(&rnd, CHUNK_SMALL - n + 1);
		memcpy(c->data + at, flat + off, n);
		ck_assert_int_eq(pkt_add_frag(p, c, at, n), 0);
		chunk_unref(c);
		off += n;
		left -= n;
	}
	memcpy(pkt_push(p, s->hdr_len), flat, s->hdr_len);
	p->l2_off = (uint16_t)p->head;
	p->l3_off = (uint16_t)(p->head + L3);
	p->l4_off = (uint16_t)(p->head + s->l4);
	p->csum = PKT_CSUM_PARTIAL;
	p->csum_start = (uint16_t)s->l4;
	p->csum_off = TCP_CSUM_OFF;
	if (segments(s) > 1) {
		p->gso_type = PKT_GSO_TCP4;
		p->gso_size = (uint16_t)s->mss;
		p->gso_segs = (uint16_t)segments(s);
	}
	return p;
}

START_TEST(frames_of_any_shape_are_cut_as_the_slow_segmenter_cuts_them)
{
	rnd.state = 500 + (uint64_t)_i;
	for (int round = 0; round < 60; round++) {
		struct shape s = random_shape(500);
		struct pktq q;
		struct pkt *super;

		flat_frame(&s);
		super = packet(&s);
		pktq_init(&q);
		super->gso_type = PKT_GSO_TCP4; /* one segment is cut too: into itself */
		super->gso_size = (uint16_t)s.mss;
		ck_assert_int_eq(offload_cut(super, &pkts, &q), 0);
		ck_assert_uint_eq(q.cnt, s.payload_len ? segments(&s) : 0);
		for (uint32_t i = 0; q.cnt > 0; i++) {
			auto_free(pkt) p = pktq_pop(&q);
			static uint8_t out[FLAT_MAX];
			uint32_t len = slow_cut(&s, flat, i, cut);

			ck_assert_uint_eq(pkt_len(p), len);
			ck_assert(pkt_copy_out(p, 0, out, len));
			ck_assert_mem_eq(out, cut, len);
			ck_assert_int_eq(p->csum, PKT_CSUM_FULL);
			ck_assert_uint_eq(p->l2_off, p->head);
			ck_assert_uint_eq(p->l4_off - p->l2_off, s.l4);
		}
		pkt_free(super);
	}
}
END_TEST

/* RFC 768: a UDP checksum of zero means none, so a sum that comes out as zero is sent as all ones. */
START_TEST(checksum_of_zero_is_all_ones_in_udp_and_zero_in_tcp)
{
	static const struct {
		uint16_t csum_off;
		uint8_t want;
	} rows[] = { { 6, 0xff }, { TCP_CSUM_OFF, 0x00 } };

	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		auto_free(pkt) p = pkt_new_tx(&pkts);
		uint8_t *frame = pkt_push(p, L3 + 20 + 20), *field;

		memset(frame, 0, L3 + 20 + 20);
		field = frame + L3 + 20 + rows[i].csum_off;
		put16(field, 0xffff); /* a pseudo-header's sum that the zeros leave as it is */
		p->csum = PKT_CSUM_PARTIAL;
		p->csum_start = L3 + 20;
		p->csum_off = rows[i].csum_off;
		offload_fill_csum(p);
		ck_assert_uint_eq(field[0], rows[i].want);
		ck_assert_uint_eq(field[1], rows[i].want);
	}
}
END_TEST

/* --- a link and its device --------------------------------------------------------------------- */

static uint64_t frame_hash(const uint8_t *frame, uint32_t len)
{
	static const struct hash_key key = { { 1, 2 } };

	return hash_sip(&key, frame, len);
}

static void on_wire(uint64_t *frames, uint32_t *cnt, const struct shape *s, const uint8_t *super)
{
	for (uint32_t i = 0; i < segments(s); i++) {
		ck_assert_uint_lt(*cnt, WIRE_MAX);
		frames[(*cnt)++] = frame_hash(cut, slow_cut(s, super, i, cut));
	}
}

/* What a device does: it cuts super-frames and completes sums, and sends what is complete as it is. */
static void device_take(const struct pkt *p)
{
	static uint8_t frame[FLAT_MAX];
	uint32_t len = pkt_len(p);
	struct shape s = { .l4 = p->csum_start, .mss = p->gso_size };

	ck_assert_uint_ge(p->head, 16);
	ck_assert(pkt_copy_out(p, 0, frame, len));
	if (p->csum == PKT_CSUM_FULL) {
		ck_assert_uint_le(p->gso_segs, 1);
		ck_assert_uint_lt(got_cnt, WIRE_MAX);
		got[got_cnt++] = frame_hash(frame, len);
		return;
	}
	ck_assert_int_eq(p->csum, PKT_CSUM_PARTIAL);
	s.hdr_len = s.l4 + (uint32_t)(frame[s.l4 + 12] >> 4) * 4;
	s.payload_len = len - s.hdr_len;
	if (p->gso_segs > 1)
		ck_assert_uint_eq(p->gso_segs, segments(&s));
	else
		s.mss = s.payload_len;
	on_wire(got, &got_cnt, &s, frame);
}

/* struct mood - how likely it is in a million that the device says... */
static struct mood {
	uint32_t blocked; /* ... -EAGAIN */
	uint32_t refuses; /* ... -EINVAL or -ENOBUFS to what needs it */
	uint32_t takes_part;
} mood;

static int device_xmit(void *drv, struct pkt *const *p, uint32_t cnt)
{
	bool asks = p[0]->gso_segs > 1 || p[0]->csum == PKT_CSUM_PARTIAL;

	(void)drv;
	ck_assert_uint_gt(cnt, 0);
	if (prng_hit(&rnd, mood.blocked))
		return -EAGAIN;
	if (asks && prng_hit(&rnd, mood.refuses))
		return prng_hit(&rnd, 500000) ? -EINVAL : -ENOBUFS;
	if (prng_hit(&rnd, mood.takes_part))
		cnt = (uint32_t)prng_between(&rnd, 1, cnt);
	for (uint32_t i = 0; i < cnt; i++)
		device_take(p[i]);
	return (int)cnt;
}

static struct link *new_link(enum ns_gso_mode mode)
{
	static const struct ns_link_ops ops = { .xmit = device_xmit };
	struct ns_link_config c = { .mtu = 1500, .is_up = true, .gso = mode, .ops = &ops };

	c.tx_batch = (uint32_t)prng_below(&rnd, 65);
	return link_new(1, &c, &pkts, &stats);
}

static const struct link_row {
	enum ns_gso_mode mode;
	struct mood mood;
	uint32_t segs_max;
} link_rows[] = {
	{ NS_GSO_HW, { 0, 0, 0 }, 60 },
	{ NS_GSO_HW, { 300000, 0, 500000 }, 60 },
	{ NS_GSO_HW, { 300000, 20000, 500000 }, 60 }, /* refuses late: half of it is out */
	{ NS_GSO_HW, { 0, 1000000, 0 }, 60 },         /* refuses from the start */
	{ NS_GSO_SW, { 0, 0, 0 }, 60 },
	{ NS_GSO_SW, { 300000, 0, 700000 }, 60 },
	{ NS_GSO_NONE, { 400000, 0, 0 }, 1 },
};

START_TEST(wire_carries_every_frame_once_and_in_order_in_any_mode_and_mood)
{
	const struct link_row *row = &link_rows[_i % (int)NS_ARRAY_LEN(link_rows)];
	struct link *l;

	rnd.state = 900 + (uint64_t)_i;
	l = new_link(row->mode);
	mood = row->mood;
	for (int turn = 0; turn < 100; turn++) {
		for (uint64_t n = prng_below(&rnd, 6); n > 0; n--) {
			struct shape s = random_shape(row->segs_max);

			if (want_cnt + segments(&s) > WIRE_MAX - 1 || link_room(l) == 0)
				continue;
			flat_frame(&s);
			on_wire(want, &want_cnt, &s, flat);
			ck_assert_int_eq(link_output(l, packet(&s)), 0);
		}
		link_flush(l);
		if (prng_hit(&rnd, 600000))
			link_writable(l);
	}
	mood.blocked = 0;
	link_writable(l);
	link_flush(l);
	ck_assert(!link_has_work(l));
	ck_assert_uint_eq(l->txq_len, 0);
	ck_assert_uint_eq(got_cnt, want_cnt);
	ck_assert_mem_eq(got, want, want_cnt * sizeof(want[0]));
	ck_assert_uint_eq(pkts.out_cnt, 0);
	ck_assert_uint_eq(stats.drop[DROP_LINK_REFUSED] + stats.drop[DROP_LINK_TOO_LONG] +
				  stats.drop[DROP_LINK_DOWN] + stats.drop[DROP_NO_MEMORY],
			  0);
	ck_assert_uint_le(stats.stat[STAT_LINK_GSO_FALLBACK],
			  row->mood.refuses ? 1 + stats.stat[STAT_LINK_GSO_AGAIN] : 0);
	ck_assert_int_eq(l->mode,
			 stats.stat[STAT_LINK_GSO_FALLBACK] > stats.stat[STAT_LINK_GSO_AGAIN]
				 ? NS_GSO_SW
				 : row->mode);
	link_free(l);
}
END_TEST

Suite *random_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("link/random", setup, teardown, &s);

	tcase_add_loop_test(t, frames_of_any_shape_are_cut_as_the_slow_segmenter_cuts_them, 0, 6);
	tcase_add_test(t, checksum_of_zero_is_all_ones_in_udp_and_zero_in_tcp);
	tcase_add_loop_test(t, wire_carries_every_frame_once_and_in_order_in_any_mode_and_mood, 0,
			    2 * (int)NS_ARRAY_LEN(link_rows));
	return s;
}
