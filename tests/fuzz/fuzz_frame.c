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
 * Its top bit says that a second one follows, which chooses how they were negotiated (see enum more).
 */
#include "fuzz/frame_fuzz.h"

/* The first octet of an input. */
enum how {
	HOW_NO_NEIGH = 8,
	HOW_MISSING = 0x30, /* so many connections less */
	HOW_BIG = 0x40,     /* large chunks for everybody */
	HOW_MORE = 0x80,
};

/* The second. */
enum more {
	MORE_ECN = 3,   /* 1: RFC 3168, 2: RFC 9768 without its option, 3: with it */
	MORE_CC = 0x0c, /* enum ns_congestion of all connections */
	MORE_FASTOPEN = 0x10,
	MORE_COOKIES = 0x20, /* RFC 4987: every SYN is answered with one */
	MORE_ECHO = 0x40,    /* echo sockets */
	MORE_LINK = 0x80,    /* multicast is told of, datagrams are cut by the device */
};

enum {
	STEPS_MAX = 64,
};

struct board board;

static void step(struct input *in)
{
	uint8_t octet = input_u8(in);
	enum step_op op = (enum step_op)((octet & 0x3f) % OP_COUNT);

	if (!frame_wire_step(op, in, octet >> 6))
		frame_call_step(op, in, octet >> 6);
	frame_drain();
}

static void knob(enum ns_knob k, int value)
{
	must_hold(!ns_stack_set_knob(board.rp.stack, k, value));
}

static void turn_knobs(uint8_t more)
{
	if (more & MORE_ECN)
		knob(NS_KNOB_tcp_ecn, (more & MORE_ECN) == 1 ? 1 : 3);
	if ((more & MORE_ECN) == 2)
		knob(NS_KNOB_tcp_ecn_option, 0);
	if (more & MORE_CC)
		knob(NS_KNOB_tcp_congestion_control, (more & MORE_CC) / 4 % NS_CC_COUNT);
	if (more & MORE_FASTOPEN)
		knob(NS_KNOB_tcp_fastopen, 0x407);
	if (more & MORE_COOKIES)
		knob(NS_KNOB_tcp_syncookies, 2);
}

static void open_sockets(bool has_echo)
{
	struct ns_stack *s = board.rp.stack;
	ns_sock *l = &board.listener[1];

	board.listener[0] = rp_listen(&board.rp, PORT, 4);
	must_hold(!ns_sock_open(s, l) &&
		  !ns_sock_bind(s, *l, &(struct ns_endpoint){ .port = PORT + 1 }) &&
		  !ns_sock_listen(s, *l, 4));
	for (uint32_t i = 0; i < (has_echo ? DGRAMS : 2); i++)
		frame_open_dgram(i);
}

/* Connections from the peer, of several kinds. */
static void make_connections(uint32_t missing, uint8_t more)
{
	static const struct rp_syn syns[CONNS] = {
		{ .has_ts = true, .has_sack = true, .has_wscale = true, .wscale = 7 },
		{ .has_sack = true },
		{ .mss = 100 },
	};

	for (uint32_t i = 0; i < CONNS; i++) {
		struct rp_conn *c = &board.conn[i];
		struct rp_syn syn = syns[i];

		if (i < missing)
			continue;
		if (more & MORE_ECN)
			syn.flags = FL_ECE | FL_CWR;
		syn.has_ae = more & 2;
		if (i < CONNS - 1) {
			must_hold(rp_accepted(&board.rp, board.listener[0], PORT, &syn, c));
			continue;
		}
		frame_accept6(i);
		must_hold(!ns_sock_accept(board.rp.stack, board.listener[1], &c->sock));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t how = input_u8(&in), more = how & HOW_MORE ? input_u8(&in) : 0;
	uint32_t missing = (how & HOW_MISSING) / (HOW_MISSING & -HOW_MISSING);
	struct rawpeer *rp = &board.rp;

	memset(&board, 0, sizeof(board));
	rp_init(rp, &(struct rp_config){ .gso = (enum ns_gso_mode)((how & 7) % 3),
					 .has_no_neigh = how & HOW_NO_NEIGH,
					 .has_no_pcap = true,
					 .is_multicast = more & MORE_LINK,
					 .has_uso = more & MORE_LINK,
					 .on_rx = fuzz_fence,
					 .limits = { .sockets = 64,
						     .timewait = 16,
						     .rx_frames = 64,
						     .chunks_large = how & HOW_BIG ? 64 : 2,
						     .chunks_small = 256,
						     .neighbours = 16 } });
	turn_knobs(more);
	open_sockets(more & MORE_ECHO);
	if (!(how & HOW_NO_NEIGH))
		must_hold(!ns_stack_add_neigh(rp->stack, rp->link_id, &peer6,
					      (const uint8_t[6])RP_PEER_MAC));
	for (uint32_t i = 0; i < CONNS; i++) {
		board.conn[i].rp = rp;
		board.conn[i].way = rp_way((uint16_t)(100 + i), PORT);
		board.is_v6[i] = i == CONNS - 1;
	}
	if (!(how & HOW_NO_NEIGH))
		make_connections(missing, more);
	frame_drain();
	for (int n = 0; n < STEPS_MAX && in.left; n++)
		step(&in);
	rp->xmit_err = 0;
	rp_done(rp);
	return 0;
}
