/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_fuzz.h - the parts of fuzz_frame: its steps, and the stack they are taken on
 *
 *   fuzz_frame.c   which step comes next, and how a run begins
 *   frame_wire.c   steps of the peer: frames, segments, answers
 *   frame_calls.c  steps of the program and the operator
 */
#pragma once

#include "fuzz/fuzz.h"
#include "support/rawpeer.h"

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
	OP_SYN_MORE, /* as OP_SYN, with octets, a cookie, a code point of ECN */
	OP_OPEN,     /* connect() of connection n in all its ways */
	OP_ANSWER, /* how: the SYN-ACK for the last SYN of the stack; it is connection n from now on */
	OP_HEAR, /* a datagram of IPv6, the reply to an echo request */
	OP_ICMP, /* type, code, rest: an error about the last packet that the stack sent */
	OP_CALL, /* more calls on a stream and on listeners */
	OP_TALK, /* more calls on a socket of datagrams */
	OP_COUNT
};

enum {
	PORT = 80, /* the listener of IPv4, and the next of both families */
	DNS = 53,  /* likewise the sockets of UDP */
	CONNS = 4,
	DGRAMS = 4, /* UDP of IPv4, of both families, echo of ICMP, of ICMPv6 */
	ECHO_ID = 77,
	QUOTE_MAX = 128,
	COOKIE_MAX = 16,
};

/** struct board - the stack, and what its peer remembers */
struct board {
	struct rawpeer rp;
	struct rp_conn conn[CONNS];
	bool is_v6[CONNS];
	ns_sock listener[2], dgram[DGRAMS];
	struct seen half;  /* the last SYN-ACK that was for no connection of ours */
	struct seen asked; /* the last SYN of the stack */
	uint8_t cookie_len, cookie[COOKIE_MAX]; /* of RFC 7413, the last that was given */
	uint32_t quote_len;
	uint8_t quote[QUOTE_MAX]; /* the begin of the last packet that the stack sent */
	bool is_quote6;
};

extern struct board board;
extern const struct ns_addr own6, peer6, group6;

/** frame_wire_step() - the peer acts; false: @op is not one of the peer's */
bool frame_wire_step(enum step_op op, struct input *in, uint32_t n);
/** frame_call_step() - the program or the operator acts */
void frame_call_step(enum step_op op, struct input *in, uint32_t n);
/** frame_drain() - look at all that the stack sent */
void frame_drain(void);
/** frame_accept6() - connection @n is one over IPv6 from the peer, as rp_accepted() does for IPv4 */
void frame_accept6(uint32_t n);
/** frame_open_dgram() - socket @i of board.dgram, anew */
void frame_open_dgram(uint32_t i);
