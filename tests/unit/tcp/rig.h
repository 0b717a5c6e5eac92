/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig.h - TCP alone, over an IP layer that the test is
 *
 * Theory of operation
 *
 * The net_*() functions are this rig's: there is one path whose MTU, room and super-segment size the test
 * sets; what TCP sends is caught as struct sent. Sequence numbers in tests are relative: of the peer's
 * segments seq counts from its ISN and ack from ours, of ours the other way round. Time stands still
 * unless at() moves it; at() runs timers, turn() runs the output.
 *
 *	struct rig *t = rig_established(&(struct rig_opts){ .has_sack = true });
 *
 *	at_ms(t, 1000);
 *	seg_in(t, S(.seq = 1, .ack = 1, .len = 100));
 *	turn(t);
 *	expect_out(t, S(.seq = 1, .ack = 101));
 *	expect_nothing(t);
 */
#pragma once

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include "tcp/tcp_int.h"

enum {
	RIG_ISN = 0x80001000u, /* of the peer */
	RIG_PORT = 80,         /* ours */
	RIG_PEER_PORT = 40000,
	RIG_MSS = 1460,
	RIG_IFINDEX = 2, /* of the only link */
	RIG_LOCAL = 0x0a000001,
	RIG_PEER = 0x0a000002,
};

/** struct say - a segment in a test's words; flags 0: ACK */
struct say {
	uint32_t seq, ack;
	uint32_t len;
	uint32_t flags;
	uint32_t wnd; /* as on the wire; 0: 65535 unless is_wnd_0 */
	bool is_wnd_0;
	bool no_ack;             /* flags as they are, not even ACK */
	uint32_t ts_val, ts_ecr; /* with has_ts */
	bool has_ts;
	uint32_t segs; /* super-frame of so many segments of RIG_MSS octets at most */
	uint16_t mss;
	int wscale; /* -1 in struct rig_opts: none */
	bool sack_ok, is_syn_opts;
	struct {
		uint32_t start, end; /* relative to the stream of the one who is told */
	} sack[4];
	uint32_t sack_cnt;
	uint16_t peer_port; /* 0: RIG_PEER_PORT */
	uint8_t ecn;        /* code point of the IP header */
	uint8_t ace;        /* AE, CWR, ECE as a number */
	struct tcp_accecn_opt accecn;
	struct tcp_tfo_opt tfo;
	uint16_t urg; /* with TCP_URG */
};

#define S(...) (&(struct say){ __VA_ARGS__ })

/** struct sent - a segment of ours, relative numbers */
struct sent {
	uint32_t seq, ack, len;
	uint8_t flags;
	uint16_t wnd;
	uint16_t gso_segs, gso_size, urg;
	uint8_t tos, ace;
	struct tcp_opts opt;
	uint8_t data[65536];
};

struct rig_opts {
	bool has_sack, has_ts;
	int wscale; /* 0: none, else shift + 1 of the peer */
	uint16_t mss;
	uint32_t wnd;
};

struct rig {
	struct ns_env env;
	struct ns_core core;
	struct ns_stats stats;
	struct tcp *tcp;
	struct mono now;
	void *lc, *c; /* listener and connection */
	uint32_t iss;
	/* the path */
	uint32_t room, gso, mtu, generation;
	uint32_t pmtu; /* what net_pmtu_learn() was told, 0: nothing; the test forgets it */
	int route_err, confirms;
	struct ns_flow asked; /* the last way that was looked for */
	/* what the program was told */
	uint32_t told;
	int told_err;
	uint32_t rnd;
	struct sent *out[4096];
	uint32_t out_in, out_at;
};

struct rig *rig_new(void);
void rig_free(struct rig *t); /* asserts that nothing is left */
struct rig *rig_established(const struct rig_opts *o);
struct rig *rig_listening(int backlog);

void at_ms(struct rig *t, uint64_t ms); /* absolute, from the rig's start */
void after_ms(struct rig *t, uint64_t ms);
void turn(struct rig *t);
enum drop seg_in(struct rig *t, const struct say *s);
enum drop seg_in_turn(struct rig *t, const struct say *s);
struct sent *take_out(struct rig *t); /* NULL: nothing more */
struct sent *expect_out_(struct rig *t, const struct say *s, const char *file, int line);
void expect_nothing_(struct rig *t, const char *file, int line);
void forget_out(struct rig *t);
#define expect_out(t_, s_) expect_out_((t_), (s_), __FILE__, __LINE__)
#define expect_nothing(t_) expect_nothing_((t_), __FILE__, __LINE__)

void rig_write(struct rig *t, uint32_t len, bool more);
uint32_t rig_read(struct rig *t, uint32_t max);
uint8_t rig_octet(uint64_t off); /* what octet @off of any stream is */
struct tcp_conn *conn(struct rig *t);
enum tcp_state state_of(struct rig *t);
uint64_t stat_of(const struct rig *t, enum stat s);
