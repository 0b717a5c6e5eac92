/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_frame.c - frames, time and a program's calls against one stack with a listener and connections
 *
 * The input is a program of steps, one octet of operation each (see enum step_op): raw frames behind
 * a vnet header, the same with MACs, lengths and checksums made right so that the layers above are
 * reached, segments relative to an established connection, time steps, and calls of the program. What
 * the stack sends must always be well formed (rp_take() aborts), and at the end all pools are empty.
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
	OP_COUNT
};

enum {
	PORT = 80,
	CONNS = 4,
	STEPS_MAX = 64,
};

static struct rawpeer rp;
static struct rp_conn conn[CONNS];
static ns_sock listener, listener6;
static struct frame f;

static void feed_with_vnet(const uint8_t *octets, size_t len)
{
	struct pkt *p = ns_stack_rx_alloc(rp.stack);
	void *to = p ? pkt_put(p, (uint32_t)len) : NULL;

	if (!to) {
		pkt_free(p);
		return;
	}
	memcpy(to, octets, len);
	if (vnet_pull(p, VNET_LEN) != DROP_NONE)
		pkt_free(p);
	else
		ns_stack_input(rp.stack, rp.link_id, p, rp.now);
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
	rp_seg(c, &t);
	if (how & 16) {
		c->snd += t.data_len;
		if (t.flags & FL_FIN)
			c->snd++;
	}
}

static void drain(void)
{
	struct seen s;

	while (rp_take(&rp, &s))
		for (uint32_t i = 0; i < CONNS; i++)
			if (s.kind == SEEN_TCP && s.way.dport == conn[i].way.sport &&
			    s.way.sport == conn[i].way.dport && s.seq == conn[i].rcv &&
			    !(s.flags & FL_RST)) {
				conn[i].rcv += s.data_len + (s.flags & FL_FIN ? 1 : 0);
				conn[i].ts_recent = s.ts_val;
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
		if (!ns_sock_open(rp.stack, &c->sock) &&
		    !ns_sock_connect(rp.stack, c->sock, &to, rp.now)) {
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
	case OP_RAW:
	case OP_FIXED:
	case OP_SEGMENT:
	case OP_TIME:
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
	} else if (op == OP_TIME) {
		uint16_t t = input_u16(in);

		rp_wait(&rp, t & 0x8000 ? (t & 0x7fu) * NS_PER_SEC : t * NS_PER_MS);
	} else {
		step_call(op, in, c);
	}
	drain();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rp_syn syns[CONNS] = {
		{ .has_ts = true, .has_sack = true, .has_wscale = true, .wscale = 7 },
		{ .has_sack = true },
		{ .mss = 100 },
		{ .has_ts = true },
	};
	struct input in = { data, size };
	uint8_t how = input_u8(&in);

	rp_init(&rp, &(struct rp_config){ .gso = (enum ns_gso_mode)(how % 3),
					  .has_no_neigh = how & 8,
					  .has_no_pcap = true,
					  .limits = { .sockets = 64,
						      .timewait = 16,
						      .rx_frames = 64,
						      .chunks_large = 64,
						      .chunks_small = 256,
						      .neighbours = 16 } });
	memset(conn, 0, sizeof(conn));
	listener = rp_listen(&rp, PORT, 4);
	must_hold(!ns_sock_open(rp.stack, &listener6) &&
		  !ns_sock_bind(rp.stack, listener6, &(struct ns_endpoint){ .port = PORT + 1 }) &&
		  !ns_sock_listen(rp.stack, listener6, 4));
	for (uint32_t i = 0; i < CONNS; i++) {
		conn[i].rp = &rp;
		conn[i].way = rp_way((uint16_t)(100 + i), PORT);
		if (how & 8)
			continue;
		must_hold(rp_accepted(&rp, listener, PORT, &syns[i], &conn[i]));
	}
	drain();
	for (int n = 0; n < STEPS_MAX && in.left; n++)
		step(&in);
	rp.xmit_err = 0;
	rp_done(&rp);
	return 0;
}
