/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_frame.c - frames, time, a program's calls and an operator's against one stack with listeners and connections
 *
 * Theory of operation
 *
 * The input is a program of steps, one octet of operation each (see enum step_op): raw frames behind
 * a vnet header, the same with MACs, lengths and checksums made right so that the layers above are
 * reached, segments relative to an established connection, SYNs and what completes them, datagrams, time
 * steps, calls of the program, and what the operator changes at run time. What the stack sends must
 * always be well formed (rp_take() aborts), and at the end all pools are empty.
 *
 * Of the connections the last speaks IPv6. The first octet of the input chooses the GSO mode, whether the
 * peer's MAC is known, and how few of the connections there are: a handshake costs as much as ten steps.
 */
#include <stdlib.h>

#include "buf/pkt.h"
#include "fuzz/fuzz.h"
#include "support/rawpeer.h"
#include "wire/vnet.h"

enum step_op {
	OP_RAW,     /* u16 length, octets: vnet header (10) and frame */
	OP_FIXED,   /* u16 length, octets: frame, made right in its outer layers */
	OP_SEGMENT, /* flags, seq, ack, wnd, options, data: of connection n */
	OP_TIME,    /* u16: milliseconds, or seconds with the top bit */
	OP_SEND,
	OP_READ,
	OP_CLOSE,
	OP_SHUTDOWN,
	OP_ACCEPT,
	OP_SETOPT,
	OP_CONNECT,
	OP_ABORT,
	OP_XMIT_ERR,
	OP_INFO,
	OP_SYN,    /* port, flags, options: a SYN from a new port, to both listeners */
	OP_FINISH, /* how: the ACK of the last SYN-ACK that no connection of ours asked for */
	OP_DATAGRAM,
	OP_DGRAM, /* calls on a socket of UDP */
	OP_KNOB,
	OP_CONFIG,
	OP_COUNT
};

/* The first octet of an input. */
enum how {
	HOW_NO_NEIGH = 8,
	HOW_MISSING = 0x30, /* so many connections less */
	HOW_BIG = 0x40,     /* large chunks for everybody */
};

enum {
	PORT = 80,
	DNS = 53,
	CONNS = 4,
	STEPS_MAX = 64,
	IP6_MORE = 20, /* octets that an IPv6 header is longer */
};

static const struct ns_addr own6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 2 } };
static const struct ns_addr peer6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 1 } };

static struct rawpeer rp;
static struct rp_conn conn[CONNS];
static ns_sock listener, listener6, dgram[2];
static struct frame f;
static struct seen half; /* the last SYN-ACK that was for no connection of ours */

static void feed_with_vnet(const uint8_t *octets, size_t len)
{
	struct pkt *p = ns_stack_rx_alloc(rp.stack);
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
		(void)ns_stack_input(rp.stack, rp.link_id, p, rp.now);
}

static void step_raw(struct input *in)
{
	size_t len;
	const uint8_t *octets = input_take(in, input_u16(in) & 0x7ff, &len);

	ns_stack_advance(rp.stack, rp.now);
	feed_with_vnet(octets, len);
	rp_turn(&rp);
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
		memcpy(fr->b + 38, (const uint8_t[16]){ 0x20, 1, 0x0d, 0xb8, [15] = 2 }, 16);
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
	rp_inject(&rp, &f);
}

/* A frame of IPv4 without options becomes one of IPv6 with the same payload. */
static void as_ip6(struct frame *fr)
{
	uint8_t proto = fr->b[23], hops = fr->b[22];

	memmove(fr->b + 54, fr->b + 34, fr->len - 34);
	fr->len += IP6_MORE;
	memset(fr->b + 14, 0, 8);
	fr->b[12] = 0x86;
	fr->b[13] = 0xdd;
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
	rp_inject(&rp, &f);
}

static bool is_conn6(const struct rp_conn *c)
{
	return c == &conn[CONNS - 1];
}

static uint32_t small_or_wild(struct input *in)
{
	uint8_t how = input_u8(in);

	switch (how & 3) {
	case 0:
		return how >> 2;
	case 1:
		return (uint32_t) - (how >> 2);
	case 2:
		return (uint32_t)(int32_t)(int16_t)input_u16(in);
	default:
		return input_u32(in);
	}
}

static void step_segment(struct input *in, struct rp_conn *c)
{
	static const uint8_t pattern[1500] = "payload of the peer";
	struct tcp_in t = { .flags = input_u8(in) };
	struct opts o = { 0 };
	uint8_t how = input_u8(in);
	size_t len;

	t.seq = small_or_wild(in);
	t.ack = small_or_wild(in);
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
	rp_build(c, &t, &f);
	inject(is_conn6(c));
	if (how & 16) {
		c->snd += t.data_len;
		if (t.flags & FL_FIN)
			c->snd++;
	}
}

/* What came out belongs to a connection of ours, or is the answer to a SYN. */
static void note(const struct seen *s)
{
	for (uint32_t i = 0; i < CONNS; i++) {
		if (s->way.dport != conn[i].way.sport || s->way.sport != conn[i].way.dport)
			continue;
		if (s->seq == conn[i].rcv && !(s->flags & FL_RST)) {
			conn[i].rcv += s->data_len + (s->flags & FL_FIN ? 1 : 0);
			conn[i].ts_recent = s->ts_val;
		}
		return;
	}
	if ((s->flags & (FL_SYN | FL_ACK | FL_RST)) == (FL_SYN | FL_ACK))
		half = *s;
}

static void drain(void)
{
	struct seen s;

	while (rp_take(&rp, &s))
		if (s.kind == SEEN_TCP)
			note(&s);
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

static void step_syn(struct input *in)
{
	uint8_t port = input_u8(in), flags = input_u8(in), which = input_u8(in);
	bool is_v6 = port & 1;
	struct opts o = { 0 };
	struct tcp_in t = { .flags = (uint8_t)(FL_SYN | flags), .seq = 77, .wnd = 5000 };
	struct way w = rp_way((uint16_t)(2000 + port), is_v6 ? PORT + 1 : PORT);

	syn_opts(&o, which);
	t.opts = &o;
	frame_tcp(&f, &w, &t);
	inject(is_v6);
}

static void step_finish(struct input *in)
{
	uint8_t how = input_u8(in);
	struct opts o = { 0 };
	struct tcp_in t = { .flags = FL_ACK,
			    .seq = half.ack + (how >> 6),
			    .ack = half.seq + 1 + (how >> 4 & 1),
			    .wnd = 5000 };
	struct way w = rp_way(half.way.dport, half.way.sport);

	if (half.has_ts && !(how & 1))
		opts_ts(&o, 7778, half.ts_val);
	if (how & 2) {
		t.data = "early";
		t.data_len = 5;
	}
	if (how & 4)
		t.flags |= FL_FIN;
	t.opts = &o;
	frame_tcp(&f, &w, &t);
	inject(half.is_v6);
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

static void call_dgram(struct input *in)
{
	static uint8_t octets[16384];
	uint8_t how = input_u8(in);
	ns_sock s = dgram[how & 1];
	struct ns_dgram_tx tx = { .has_to = how & 16, .ttl = -1, .tos = -1 };
	struct ns_endpoint to = { how & 1 ? peer6 : ns_addr_v4(RP_PEER), 4000 };
	struct ns_iov iov[NS_DGRAM_IOVS] = { { octets, 0 } };
	struct ns_dgram_rx rx;
	struct ns_dgram_err e;
	struct ns_addr group = ns_addr_v4(0xe0000001 + (how >> 3 & 1)), any = { { 0 } };

	switch (how >> 5) {
	case 0:
		(void)!ns_dgram_connect(rp.stack, s, how & 2 ? NULL : &to);
		break;
	case 1:
		(void)!ns_dgram_group(rp.stack, s, &group, &any, 0, how & 2);
		break;
	case 2:
		while (ns_dgram_take_error(rp.stack, s, &e))
			must_hold(e.err < 0 && e.err > -4096);
		break;
	case 3:
		while (ns_dgram_peek(rp.stack, s, 0, &rx, iov) >= 0)
			ns_dgram_consume(rp.stack, s, 1);
		break;
	default:
		iov[0].len = input_u16(in) % sizeof(octets);
		tx.to = to;
		if (how & 8)
			tx.to.addr = ns_addr_v4(how & 2 ? 0xe0000001 : RP_STACK);
		if (how & 4)
			tx.to.port = DNS;
		(void)!ns_dgram_send(rp.stack, s, &tx, iov, 1, rp.now);
	}
}

/* What netlink and the operator change while connections live. */
static void call_config(struct input *in)
{
	uint8_t how = input_u8(in), low = input_u8(in);
	bool is_v6 = how & 16;
	struct ns_addr a = is_v6 ? own6 : ns_addr_v4(0x0a000000);
	struct ns_route r = { .link_id = rp.link_id, .metric = how >> 5, .is_v6 = is_v6 };
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 9 };

	a.b[15] = low;
	switch (how & 7) {
	case 0:
		(void)!ns_stack_add_addr(rp.stack, rp.link_id, &a, is_v6 ? 64 : 24);
		break;
	case 1:
		(void)!ns_stack_add_neigh(rp.stack, rp.link_id, &a, mac);
		break;
	case 2:
		r.dst = a;
		r.prefix_len = (uint8_t)(low % (is_v6 ? 129 : 33));
		r.type = input_u8(in) % (NS_ROUTE_PROHIBIT + 1);
		r.mtu = input_u16(in);
		(void)!ns_stack_add_route(rp.stack, &r);
		break;
	case 3:
		(void)!ns_stack_deprecate_addr(rp.stack, rp.link_id, &own6, low & 1);
		break;
	default:
		(void)!ns_stack_set_link_up(rp.stack, rp.link_id, low & 1);
		break;
	}
}

static void step_call(enum step_op op, struct input *in, struct rp_conn *c)
{
	static uint8_t octets[65536];
	struct ns_endpoint to = { ns_addr_v4(RP_PEER), 0 };
	struct ns_tcp_info info;
	int value;

	switch (op) {
	case OP_SEND:
		rp_send(c, octets, input_u16(in));
		break;
	case OP_READ:
		rp_recv(c, octets, input_u16(in));
		break;
	case OP_CLOSE:
		ns_sock_close(rp.stack, c->sock);
		break;
	case OP_SHUTDOWN:
		ns_sock_shutdown_send(rp.stack, c->sock);
		break;
	case OP_ABORT:
		ns_sock_abort(rp.stack, c->sock);
		break;
	case OP_ACCEPT:
		if (ns_sock_accept(rp.stack, listener, &c->sock))
			c->sock = 0;
		break;
	case OP_SETOPT:
		value = (int)(input_u8(in) % NS_SOCKOPT_COUNT);
		(void)!ns_sock_setopt(rp.stack, c->sock, (enum ns_sockopt)value,
				      (int)small_or_wild(in));
		(void)!ns_sock_getopt(rp.stack, c->sock, (enum ns_sockopt)value, &value);
		break;
	case OP_CONNECT:
		to.port = input_u16(in);
		if (to.port & 0x8000) /* ourselves, or IPv6 */
			to.addr = to.port & 0x4000   ? ns_addr_v4(RP_STACK)
				  : to.port & 0x2000 ? own6
						     : peer6;
		if (!ns_sock_open(rp.stack, &c->sock)) {
			if (to.port & 0x8000 && !(to.port & 0x4000))
				(void)!ns_sock_setopt(rp.stack, c->sock, NS_SO_V6ONLY, 0);
			to.port = to.port & 0x8000 ? (to.port & 0x3f) + PORT : to.port;
			(void)!ns_sock_connect(rp.stack, c->sock, &to, rp.now);
		}
		break;
	case OP_INFO:
		(void)!ns_sock_tcp_info(rp.stack, c->sock, rp.now, &info);
		break;
	case OP_XMIT_ERR: {
		static const int errs[] = { 0, -11, -22, -90, -100, -105 };

		rp.xmit_err = errs[input_u8(in) % 6];
		if (!rp.xmit_err)
			ns_link_writable(rp.stack, rp.link_id);
		break;
	}
	case OP_DGRAM:
		call_dgram(in);
		break;
	case OP_KNOB:
		value = input_u8(in) % NS_KNOB_COUNT;
		(void)!ns_stack_set_knob(rp.stack, (enum ns_knob)value, (int)small_or_wild(in));
		break;
	case OP_CONFIG:
		call_config(in);
		break;
	case OP_RAW:
	case OP_FIXED:
	case OP_SEGMENT:
	case OP_TIME:
	case OP_SYN:
	case OP_FINISH:
	case OP_DATAGRAM:
	case OP_COUNT:
		break;
	}
	rp_turn(&rp);
}

static void step(struct input *in)
{
	uint8_t octet = input_u8(in);
	enum step_op op = (enum step_op)((octet & 0x3f) % OP_COUNT);
	struct rp_conn *c = &conn[octet >> 6];

	if (op == OP_RAW) {
		step_raw(in);
	} else if (op == OP_FIXED) {
		step_fixed(in);
	} else if (op == OP_SEGMENT) {
		step_segment(in, c);
	} else if (op == OP_SYN) {
		step_syn(in);
	} else if (op == OP_FINISH) {
		step_finish(in);
	} else if (op == OP_DATAGRAM) {
		step_datagram(in);
	} else if (op == OP_TIME) {
		uint16_t t = input_u16(in);

		rp_wait(&rp, t & 0x8000 ? (t & 0x7fu) * NS_PER_SEC : t * NS_PER_MS);
	} else {
		step_call(op, in, c);
	}
	drain();
}

/* A connection over IPv6 from the peer, made by hand as rp_accepted() does for IPv4. */
static void accept6(struct rp_conn *c)
{
	c->way = rp_way(103, PORT + 1);
	c->way.src = 1; /* the last 32 bits of both addresses */
	c->way.dst = 2;
	c->iss = 1000;
	c->snd = c->iss + 1;
	c->wnd = 65535;
	frame_tcp(&f, &c->way, &(struct tcp_in){ .flags = FL_SYN, .seq = c->iss, .wnd = c->wnd });
	c->way.dport = 0; /* so that the answer is not ours yet */
	inject(true);
	drain();
	c->way.dport = PORT + 1;
	c->rcv = half.seq + 1;
	rp_build(c, &(struct tcp_in){ .flags = FL_ACK }, &f);
	inject(true);
	must_hold(!ns_sock_accept(rp.stack, listener6, &c->sock));
}

static void open_sockets(void)
{
	static const struct ns_endpoint any[2] = { { { { [10] = 0xff, 0xff } }, DNS },
						   { { { 0 } }, DNS + 1 } };

	listener = rp_listen(&rp, PORT, 4);
	must_hold(!ns_sock_open(rp.stack, &listener6) &&
		  !ns_sock_bind(rp.stack, listener6, &(struct ns_endpoint){ .port = PORT + 1 }) &&
		  !ns_sock_listen(rp.stack, listener6, 4));
	for (int i = 0; i < 2; i++)
		must_hold(!ns_dgram_open(rp.stack, &dgram[i]) &&
			  !ns_sock_bind(rp.stack, dgram[i], &any[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rp_syn syns[CONNS] = {
		{ .has_ts = true, .has_sack = true, .has_wscale = true, .wscale = 7 },
		{ .has_sack = true },
		{ .mss = 100 },
	};
	struct input in = { data, size };
	uint8_t how = input_u8(&in);
	uint32_t missing = (how & HOW_MISSING) / (HOW_MISSING & -HOW_MISSING);

	rp_init(&rp, &(struct rp_config){ .gso = (enum ns_gso_mode)((how & 7) % 3),
					  .has_no_neigh = how & HOW_NO_NEIGH,
					  .has_no_pcap = true,
					  .on_rx = fuzz_fence,
					  .limits = { .sockets = 64,
						      .timewait = 16,
						      .rx_frames = 64,
						      .chunks_large = how & HOW_BIG ? 64 : 2,
						      .chunks_small = 256,
						      .neighbours = 16 } });
	memset(conn, 0, sizeof(conn));
	memset(&half, 0, sizeof(half));
	open_sockets();
	if (!(how & HOW_NO_NEIGH))
		must_hold(!ns_stack_add_neigh(rp.stack, rp.link_id, &peer6,
					      (const uint8_t[6])RP_PEER_MAC));
	for (uint32_t i = 0; i < CONNS; i++) {
		conn[i].rp = &rp;
		conn[i].way = rp_way((uint16_t)(100 + i), PORT);
		if (how & HOW_NO_NEIGH || i < missing)
			continue;
		if (i == CONNS - 1)
			accept6(&conn[i]);
		else
			must_hold(rp_accepted(&rp, listener, PORT, &syns[i], &conn[i]));
	}
	drain();
	for (int n = 0; n < STEPS_MAX && in.left; n++)
		step(&in);
	rp.xmit_err = 0;
	rp_done(&rp);
	return 0;
}
