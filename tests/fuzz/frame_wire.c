/* SPDX-License-Identifier: Apache-2.0 */
/* frame_wire.c - fuzz_frame: what the peer sends, and what it learns from what it gets */
#include "base/byteorder.h"
#include "buf/pkt.h"
#include "fuzz/frame_fuzz.h"
#include "wire/csum.h"
#include "wire/vnet.h"

enum {
	IP6_MORE = 20, /* octets that an IPv6 header is longer */
	OPT_TFO = 34,  /* RFC 7413 4.1.1 */
};

const struct ns_addr own6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 2 } };
const struct ns_addr peer6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 1 } };
const struct ns_addr group6 = { { 0xff, 2, [15] = 0x77 } };

static struct frame f;

static void feed_with_vnet(const uint8_t *octets, size_t len)
{
	struct rawpeer *rp = &board.rp;
	struct pkt *p = ns_stack_rx_alloc(rp->stack);
	void *to = p ? pkt_put(p, (uint32_t)len) : NULL;

	if (!to) {
		pkt_free(p);
		return;
	}
	memcpy(to, octets, len);
	fuzz_fence(p);
	if (vnet_pull(p, VNET_LEN) != DROP_NONE)
		pkt_free(p);
	else
		(void)ns_stack_input(rp->stack, rp->link_id, p, rp->now);
}

static void step_raw(struct input *in)
{
	size_t len;
	const uint8_t *octets = input_take(in, input_u16(in) & 0x7ff, &len);

	ns_stack_advance(board.rp.stack, board.rp.now);
	feed_with_vnet(octets, len);
	rp_turn(&board.rp);
}

/* An IPv6 frame: a payload length and a checksum that are right, wherever the headers lead. */
static void fix_ip6(struct frame *fr)
{
	uint32_t len = fr->len - 54, at = 54, sum;
	uint8_t next = fr->b[20];

	fr->b[14] = (uint8_t)(0x60 | (fr->b[14] & 15));
	fr->b[18] = (uint8_t)(len >> 8);
	fr->b[19] = (uint8_t)len;
	if (fr->b[38] != 0xff) /* to us, or to the group it is for */
		memcpy(fr->b + 38, own6.b, 16);
	for (uint32_t i = 0;
	     i < 16 && (next == 0 || next == 43 || next == 44 || next == 60) && at + 8 <= fr->len;
	     i++) {
		uint32_t one = next == 44 ? 8 : (fr->b[at + 1] + 1u) * 8;

		next = fr->b[at];
		at += one;
	}
	if (next == 58 && at + 8 <= fr->len) {
		len = fr->len - at;
		fr->b[at + 2] = fr->b[at + 3] = 0;
		sum = ~frame_sum(fr->b + at, len, frame_sum(fr->b + 22, 32, 58 + len)) & 0xffff;
		fr->b[at + 2] = (uint8_t)(sum >> 8);
		fr->b[at + 3] = (uint8_t)sum;
	}
	frame_fix_tcp_csum(fr);
}

/* The frame's addresses, header and transport checksums become what the stack would take. */
static void step_fixed(struct input *in)
{
	struct way w = rp_way(0, 0);
	size_t len;
	const uint8_t *octets = input_take(in, input_u16(in) & 0x7ff, &len);

	memset(&f, 0, sizeof(f) - FRAME_MAX);
	f.len = (uint32_t)len;
	memcpy(f.b, octets, len);
	if (len >= 14) {
		memcpy(f.b, w.dst_mac, 6);
		f.b[6] &= 0xfe;
	}
	if (len >= 34 && f.b[12] == 8 && f.b[13] == 0) {
		uint32_t ihl = (f.b[14] & 15u) * 4, sum;

		f.b[24] = f.b[25] = 0;
		if (ihl <= len - 14) {
			sum = ~frame_sum(f.b + 14, ihl, 0) & 0xffff;
			f.b[24] = (uint8_t)(sum >> 8);
			f.b[25] = (uint8_t)sum;
		}
		if (f.b[23] == 6)
			frame_fix_tcp_csum(&f);
		if (f.b[23] == 1 && len >= 14 + ihl + 8) {
			f.b[16 + ihl] = f.b[17 + ihl] = 0;
			sum = ~frame_sum(f.b + 14 + ihl, (uint32_t)len - 14 - ihl, 0) & 0xffff;
			f.b[16 + ihl] = (uint8_t)(sum >> 8);
			f.b[17 + ihl] = (uint8_t)sum;
		}
	}
	if (len >= 54 && f.b[12] == 0x86 && f.b[13] == 0xdd)
		fix_ip6(&f);
	rp_inject(&board.rp, &f);
}

/* A frame of IPv4 without options becomes one of IPv6 with the same payload. */
static void as_ip6(struct frame *fr)
{
	uint8_t proto = fr->b[23], hops = fr->b[22], tos = fr->b[15];

	memmove(fr->b + 54, fr->b + 34, fr->len - 34);
	fr->len += IP6_MORE;
	memset(fr->b + 14, 0, 8);
	fr->b[12] = 0x86;
	fr->b[13] = 0xdd;
	fr->b[14] = (uint8_t)(tos >> 4);
	fr->b[15] = (uint8_t)(tos << 4);
	fr->b[20] = proto;
	fr->b[21] = hops;
	memcpy(fr->b + 22, peer6.b, 16);
	memcpy(fr->b + 38, own6.b, 16);
	fix_ip6(fr);
}

static void inject(bool is_v6)
{
	if (is_v6)
		as_ip6(&f);
	rp_inject(&board.rp, &f);
}

static void step_segment(struct input *in, uint32_t n)
{
	static const uint8_t pattern[1500] = "payload of the peer";
	struct rp_conn *c = &board.conn[n];
	struct tcp_in t = { .flags = input_u8(in) };
	struct opts o = { 0 };
	uint8_t how = input_u8(in);
	size_t len;

	t.seq = input_number(in);
	t.ack = input_number(in);
	t.wnd = input_u16(in);
	t.is_wnd_zero = true;
	if (how & 1) { /* options of the input's own */
		const uint8_t *raw = input_take(in, input_u8(in) & 0x27, &len);

		opts_raw(&o, raw, (uint8_t)len);
		t.opts = &o;
	}
	t.data = pattern;
	t.data_len = how & 2 ? input_u16(in) % 1461 : 0;
	t.urg = how & 4 ? input_u16(in) : 0;
	if (how & 8)
		c->ts_val += input_u16(in);
	if (how & 32)
		t.ip.tos = input_u8(in);
	t.has_ae = how & 64;
	rp_build(c, &t, &f);
	inject(board.is_v6[n]);
	if (how & 16) {
		c->snd += t.data_len;
		if (t.flags & FL_FIN)
			c->snd++;
	}
}

/* RFC 7413: the cookie that a SYN-ACK brings. */
static void note_cookie(const struct frame *fr, bool is_v6)
{
	const uint8_t *tcp = fr->b + ETH_LEN + (is_v6 ? IP6_LEN : (fr->b[ETH_LEN] & 15u) * 4);
	uint32_t end = (tcp[12] >> 4) * 4u;

	for (uint32_t at = TCP_LEN; at + 1 < end && tcp[at];) {
		if (tcp[at] == OPT_TFO && tcp[at + 1] >= 2 && tcp[at + 1] <= 2 + COOKIE_MAX) {
			board.cookie_len = (uint8_t)(tcp[at + 1] - 2);
			memcpy(board.cookie, tcp + at + 2, board.cookie_len);
		}
		at += tcp[at] == 1 ? 1u : tcp[at + 1];
	}
}

/* What came out belongs to a connection of ours, or it begins one. */
static void note_tcp(const struct seen *s, const struct frame *fr)
{
	for (uint32_t i = 0; i < CONNS; i++) {
		struct rp_conn *c = &board.conn[i];

		if (s->way.dport != c->way.sport || s->way.sport != c->way.dport)
			continue;
		if (s->seq == c->rcv && !(s->flags & FL_RST)) {
			c->rcv += s->data_len + (s->flags & FL_FIN ? 1 : 0);
			c->ts_recent = s->ts_val;
		}
		return;
	}
	if (s->flags & FL_RST || !(s->flags & FL_SYN))
		return;
	if (s->flags & FL_ACK) {
		board.half = *s;
		note_cookie(fr, s->is_v6);
	} else {
		board.asked = *s;
	}
}

static void note_quote(const struct frame *fr, bool is_v6)
{
	board.is_quote6 = is_v6;
	board.quote_len = fr->len - ETH_LEN < QUOTE_MAX ? fr->len - ETH_LEN : QUOTE_MAX;
	memcpy(board.quote, fr->b + ETH_LEN, board.quote_len);
}

void frame_drain(void)
{
	struct seen s;

	while (rp_take(&board.rp, &s)) {
		const struct frame *fr = &board.rp.last->f;

		if (s.kind == SEEN_TCP)
			note_tcp(&s, fr);
		if (s.kind != SEEN_ARP && s.kind != SEEN_OTHER)
			note_quote(fr, s.is_v6);
	}
}

static void syn_opts(struct opts *o, uint8_t which)
{
	if (which & 1)
		opts_mss(o, which & 2 ? 1460 : 100);
	if (which & 4)
		opts_sack_ok(o);
	if (which & 8)
		opts_ts(o, 7777, 0);
	if (which & 16)
		opts_wscale(o, which >> 5);
}

static void tfo_opt(struct opts *o, const uint8_t *cookie, uint8_t len)
{
	uint8_t b[2 + COOKIE_MAX] = { OPT_TFO, (uint8_t)(2 + len) };

	if (len)
		memcpy(b + 2, cookie, len);
	opts_raw(o, b, (uint8_t)(2 + len));
}

static void step_syn(struct input *in, bool has_more)
{
	static const uint8_t early[255] = "octets of the SYN";
	static const uint8_t wrong[8] = "a cookie";
	uint8_t port = input_u8(in), flags = input_u8(in), which = input_u8(in);
	uint8_t more = has_more ? input_u8(in) : 0;
	bool is_v6 = port & 1;
	struct opts o = { 0 };
	struct tcp_in t = { .flags = (uint8_t)(FL_SYN | flags), .seq = 77, .wnd = 5000 };
	struct way w = rp_way((uint16_t)(2000 + port), is_v6 ? PORT + 1 : PORT);

	syn_opts(&o, which);
	t.opts = &o;
	if ((more & 3) == 1)
		tfo_opt(&o, NULL, 0);
	else if ((more & 3) == 2)
		tfo_opt(&o, board.cookie, board.cookie_len);
	else if ((more & 3) == 3)
		tfo_opt(&o, wrong, sizeof(wrong));
	if (more & 4) {
		t.data = early;
		t.data_len = input_u8(in);
	}
	t.has_ae = more & 8;
	t.ip.tos = more >> 4 & 3;
	frame_tcp(&f, &w, &t);
	inject(is_v6);
}

static void step_finish(struct input *in)
{
	const struct seen *half = &board.half;
	uint8_t how = input_u8(in);
	struct opts o = { 0 };
	struct tcp_in t = { .flags = FL_ACK,
			    .seq = half->ack + (how >> 6),
			    .ack = half->seq + 1 + (how >> 4 & 1),
			    .wnd = 5000 };
	struct way w = rp_way(half->way.dport, half->way.sport);

	if (half->has_ts && !(how & 1))
		opts_ts(&o, 7778, half->ts_val);
	if (how & 2) {
		t.data = "early";
		t.data_len = 5;
	}
	if (how & 4)
		t.flags |= FL_FIN;
	t.opts = &o;
	frame_tcp(&f, &w, &t);
	inject(half->is_v6);
}

static void step_answer(struct input *in, uint32_t n)
{
	struct rp_conn *c = &board.conn[n];
	const struct seen *syn = &board.asked;
	uint8_t how = input_u8(in), more = input_u8(in);
	struct opts o = { 0 };

	*c = (struct rp_conn){ .rp = &board.rp,
			       .sock = c->sock,
			       .way = rp_way(syn->way.dport, syn->way.sport),
			       .iss = 7000,
			       .irs = syn->seq,
			       .snd = 7001,
			       .rcv = syn->seq + 1 + (how & 16 ? syn->data_len : 0),
			       .wnd = 65535,
			       .has_ts = syn->has_ts && how & 1,
			       .ts_val = 5000,
			       .ts_recent = syn->ts_val };
	board.is_v6[n] = syn->is_v6;
	opts_mss(&o, more & 1 ? 100 : 1460);
	if (how & 1)
		opts_ts(&o, c->ts_val++, syn->ts_val);
	if (how & 2)
		opts_sack_ok(&o);
	if (how & 4)
		opts_wscale(&o, 7);
	if (how & 8)
		tfo_opt(&o, (const uint8_t *)"a cookie", 8);
	frame_tcp(&f, &c->way,
		  &(struct tcp_in){ .flags = (uint8_t)(FL_SYN | (more & 2 ? 0 : FL_ACK) |
						       (how & 32 ? FL_ECE : 0) |
						       (how & 64 ? FL_CWR : 0)),
				    .has_ae = how & 128,
				    .seq = c->iss,
				    .ack = more & 2 ? 0 : c->rcv,
				    .wnd = c->wnd,
				    .opts = &o,
				    .ip.tos = more >> 2 & 3,
				    .data = "with the SYN-ACK",
				    .data_len = more & 16 ? 16 : 0 });
	inject(syn->is_v6);
}

static void step_datagram(struct input *in)
{
	uint8_t how = input_u8(in);
	uint16_t frag = how & 2 ? input_u16(in) : 0;
	struct way w = rp_way(4000, 0);
	uint8_t b[8 + 256] = { 0x0f, 0xa0, 0, DNS };
	size_t len;
	const uint8_t *data = input_take(in, input_u8(in), &len);

	b[5] = (uint8_t)(8 + len);
	b[4] = (uint8_t)((8 + len) >> 8);
	if (how & 4)
		b[5] = input_u8(in);
	if (len)
		memcpy(b + 8, data, len);
	if (how & 8)
		w.dst = how & 16 ? 0xe0000001 : 0x0a0000ff;
	frame_ip4(&f, &w,
		  &(struct ip4_in){ .proto = 17,
				    .frag = how & 2 ? frag : 0x4000,
				    .id = how >> 6,
				    .is_fragment = how & 2 },
		  how & 32 ? b + 8 : b, (uint32_t)(how & 32 ? len : 8 + len));
	inject(how & 1);
}

/* A query of groups from a router of the link: IGMP or MLD, of old versions without what is behind the group. */
static void step_query(struct input *in, uint8_t how)
{
	static uint8_t b[1500];
	static const uint8_t alert4[4] = { 0x94, 4 }, alert6[8] = { 58, 0, 5, 2, 0, 0, 1 };
	uint8_t code = input_u8(in), qrv = input_u8(in), interval = input_u8(in);
	uint32_t cnt = input_u8(in), said = how & 8 ? cnt + 1 : cnt, addr = how & 1 ? 16 : 4;
	uint32_t at = how & 1 ? 8 : 0, len = at + (how & 1 ? 24 : 8);
	struct way w = rp_way(0, 0);
	struct ip6_in ip = { .hop_limit = 1, .src = { 0xfe, 0x80, [15] = 1 } };

	memset(b, 0, sizeof(b));
	if (how & 1)
		memcpy(b, alert6, sizeof(alert6));
	b[at] = how & 1 ? 130 : 0x11;
	b[at + (how & 1 ? 4 : 1)] = code;
	if (how & 2) /* of one group */
		memcpy(b + len - addr, how & 1 ? group6.b : (const uint8_t *)"\xe0\0\0\2", addr);
	if (how & 4) {
		b[len++] = qrv;
		b[len++] = interval;
		b[len++] = (uint8_t)(said >> 8);
		b[len++] = (uint8_t)said;
		for (uint32_t i = 0; i < cnt && len + addr <= sizeof(b); i++, len += addr) {
			memcpy(b + len, how & 1 ? peer6.b : (const uint8_t *)"\12\0\0\1", addr);
			b[len + addr - 1] = (uint8_t)(i + (how >> 4));
		}
	}
	if (how & 1) {
		uint32_t sum;

		memcpy(ip.dst, how & 2 ? group6.b : (const uint8_t[16]){ 0xff, 2, [15] = 1 }, 16);
		sum = csum_add(0, ip.src, 32) + len - at + 58;
		sum = csum_add(sum, b + at, len - at);
		*(struct be16 *)(void *)(b + at + 2) = be16(csum_finish(sum));
		frame_ip6(&f, &w, &ip, b, len);
		f.b[20] = 0; /* hop-by-hop */
	} else {
		*(struct be16 *)(void *)(b + 2) = be16(csum_finish(csum_add(0, b, len)));
		w.dst = 0xe0000001;
		frame_ip4(&f, &w,
			  &(struct ip4_in){ .proto = 2, .ttl = 1, .opt = alert4, .opt_len = 4 }, b,
			  len);
	}
	rp_inject(&board.rp, &f);
}

/* Datagrams of both families for all sockets, echo replies among them; queries of groups. */
static void step_hear(struct input *in)
{
	static const uint8_t all_nodes[16] = { 0xff, 2, [15] = 1 };
	uint8_t how = input_u8(in), tos = input_u8(in);
	struct way w = rp_way(4000, (how & 0x20 ? DNS : DNS + 1));
	struct ip6_in ip = { .tclass = tos };
	size_t len;
	const uint8_t *data;
	uint32_t id = (uint32_t)ECHO_ID << 16 | (how & 0x20);

	if (how & 0x40) {
		step_query(in, how & 0x80 ? tos | 4 : tos);
		return;
	}
	data = input_take(in, input_u8(in), &len);

	memcpy(ip.src, peer6.b, 16);
	memcpy(ip.dst,
	       (how >> 2 & 3) == 1   ? all_nodes
	       : (how >> 2 & 3) == 2 ? group6.b
				     : own6.b,
	       16);
	switch (how & 3) {
	case 0:
		frame_udp6(&f, &w, &ip, data, (uint32_t)len, how & 0x10 ? tos : -1);
		break;
	case 1:
		frame_icmp(&f, &w, 0, 0, id, data, (uint32_t)len);
		break;
	case 2:
		frame_icmp6(&f, &w, &ip, 129, 0, id, data, (uint32_t)len);
		break;
	default: { /* a group of IPv4, or us; the socket of both families hears both */
		uint8_t b[8 + 255] = { 0x0f, 0xa0, 0, (uint8_t)w.dport, 0, (uint8_t)(8 + len) };

		b[4] = (uint8_t)((8 + len) >> 8);
		memcpy(b + 8, len ? data : b, len);
		w.dst = how & 8 ? 0xe0000001 : w.dst;
		frame_ip4(&f, &w, &(struct ip4_in){ .proto = 17, .tos = tos }, b,
			  (uint32_t)(8 + len));
		break;
	}
	}
	rp_inject(&board.rp, &f);
}

static void step_icmp(struct input *in)
{
	uint8_t type = input_u8(in), code = input_u8(in);
	uint32_t rest = input_number(in);
	struct way w = rp_way(0, 0);
	struct ip6_in ip = { .hop_limit = 60 };

	memcpy(ip.src, peer6.b, 16);
	memcpy(ip.dst, own6.b, 16);
	if (board.is_quote6)
		frame_icmp6(&f, &w, &ip, type, code, rest, board.quote, board.quote_len);
	else
		frame_icmp(&f, &w, type, code, rest, board.quote, board.quote_len);
	rp_inject(&board.rp, &f);
}

static void step_time(struct input *in)
{
	uint16_t t = input_u16(in);

	rp_wait(&board.rp, t & 0x8000 ? (t & 0x7fu) * NS_PER_SEC : t * NS_PER_MS);
}

bool frame_wire_step(enum step_op op, struct input *in, uint32_t n)
{
	switch ((int)op) {
	case OP_RAW:
		step_raw(in);
		return true;
	case OP_FIXED:
		step_fixed(in);
		return true;
	case OP_SEGMENT:
		step_segment(in, n);
		return true;
	case OP_SYN:
	case OP_SYN_MORE:
		step_syn(in, op == OP_SYN_MORE);
		return true;
	case OP_FINISH:
		step_finish(in);
		return true;
	case OP_ANSWER:
		step_answer(in, n);
		return true;
	case OP_DATAGRAM:
		step_datagram(in);
		return true;
	case OP_HEAR:
		step_hear(in);
		return true;
	case OP_ICMP:
		step_icmp(in);
		return true;
	case OP_TIME:
		step_time(in);
		return true;
	default:
		return false;
	}
}

void frame_accept6(uint32_t n)
{
	struct rp_conn *c = &board.conn[n];

	c->way = rp_way((uint16_t)(100 + n), PORT + 1);
	c->way.src = 1; /* the last 32 bits of both addresses */
	c->way.dst = 2;
	c->iss = 1000;
	c->snd = c->iss + 1;
	c->wnd = 65535;
	frame_tcp(&f, &c->way, &(struct tcp_in){ .flags = FL_SYN, .seq = c->iss, .wnd = c->wnd });
	c->way.dport = 0; /* so that the answer is not ours yet */
	inject(true);
	frame_drain();
	c->way.dport = PORT + 1;
	c->rcv = board.half.seq + 1;
	rp_build(c, &(struct tcp_in){ .flags = FL_ACK }, &f);
	inject(true);
}
