/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rawpeer.h - one stack and a peer made by hand, for tests in sentences
 *
 * Theory of operation
 *
 * The stack is 10.0.0.1 (02:00:00:00:00:01) on one link without GSO; the peer is 10.0.0.2
 * (02:00:00:00:00:02) on the same wire. Nothing happens but what the test says: rp_inject*() gives
 * one frame and one turn of the loop, rp_wait() lets virtual time pass, rp_take() yields the frames
 * that came out, oldest first. Every frame that comes out is checked for lengths and checksums.
 *
 * A struct rp_conn is the peer's half of one connection: it knows the numbers so that a test writes
 * only what it is about.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/drop.h"
#include "ns/sock.h"
#include "ns/stack.h"
#include "support/frame.h"
#include "support/pcapfile.h"
#include "support/prng.h"

#define RP_STACK UINT32_C(0x0a000001)
#define RP_PEER  UINT32_C(0x0a000002)
#define RP_STACK_MAC                                                                               \
	{                                                                                          \
		2, 0, 0, 0, 0, 1                                                                   \
	}
#define RP_PEER_MAC                                                                                \
	{                                                                                          \
		2, 0, 0, 0, 0, 2                                                                   \
	}

struct pkt;

struct rp_out {
	struct rp_out *next;
	struct mono at;
	struct frame f;
};

struct rawpeer {
	struct ns_stack *stack;
	struct ns_env env;
	struct prng random;
	uint32_t link_id;
	struct mono now;
	struct rp_out *out_first, **out_last;
	uint32_t out_cnt;   /* frames not taken yet */
	uint32_t total_cnt; /* frames ever sent by the stack */
	int xmit_err;       /* negative: what xmit() answers */
	struct pcapring *ring;
	uint16_t next_port;
	struct rp_out *last;          /* what rp_take() lent */
	void (*on_rx)(struct pkt *p); /* sees each frame right before the stack does; or NULL */
	struct ns_event ev[64];       /* events of all turns, newest last */
	uint32_t ev_cnt;
};

/** struct rp_config - zero: as described above */
struct rp_config {
	uint32_t mtu;
	enum ns_gso_mode gso;
	struct ns_limits limits;
	bool has_no_neigh;          /* the peer's MAC is not given: ARP */
	bool has_no_pcap;           /* fuzzers: no ring of frames */
	bool is_multicast, has_uso; /* of ns_link_config */
	uint64_t seed;
	void (*on_rx)(struct pkt *p); /* of struct rawpeer */
	struct mono start;            /* zero: 1000 s */
};

void rp_init(struct rawpeer *rp, const struct rp_config *c);
/** rp_done() - free the stack; its pools trap when something is still out */
void rp_done(struct rawpeer *rp);
/** rp_way() - from peer to stack with these ports */
static inline struct way rp_way(uint16_t peer_port, uint16_t stack_port)
{
	return (struct way){ .src_mac = RP_PEER_MAC,
			     .dst_mac = RP_STACK_MAC,
			     .src = RP_PEER,
			     .dst = RP_STACK,
			     .sport = peer_port,
			     .dport = stack_port };
}

/** rp_turn() - one turn of the loop without input */
void rp_turn(struct rawpeer *rp);
/** rp_inject() - one frame and one turn */
void rp_inject(struct rawpeer *rp, const struct frame *f);
/** rp_feed() - one frame, no output yet; rp_turn() ends the turn */
void rp_feed(struct rawpeer *rp, const struct frame *f);
/** rp_wait() - time passes, timers run when they are due */
void rp_wait(struct rawpeer *rp, uint64_t for_ns);
/** rp_take() - the oldest frame not looked at; false: none. @ret_seen is valid until the next call */
bool rp_take(struct rawpeer *rp, struct seen *ret_seen);
/** rp_take_raw() - the same as octets */
const struct frame *rp_take_raw(struct rawpeer *rp);
/** rp_drop_out() - forget what came out so far */
void rp_drop_out(struct rawpeer *rp);
/** rp_event() - was there an event with all bits of @mask for @sock? Its errno in @ret_err unless NULL */
bool rp_event(const struct rawpeer *rp, ns_sock sock, uint32_t mask, int *ret_err);

/** struct rp_conn - a connection as its peer has it */
struct rp_conn {
	struct rawpeer *rp;
	ns_sock sock;   /* the stack's end, 0 until accepted */
	struct way way; /* peer to stack */
	uint32_t iss;   /* the peer's */
	uint32_t irs;   /* the stack's */
	uint32_t snd;   /* next to send by the peer */
	uint32_t rcv;   /* next expected from the stack */
	uint16_t wnd;   /* what segments carry */
	bool has_ts, has_sack, has_wscale;
	uint8_t wscale;     /* the stack's */
	uint32_t ts_val;    /* of the next segment */
	uint32_t ts_recent; /* the stack's last */
	struct seen syn;    /* the stack's SYN or SYN-ACK; its data is dead */
};

/** struct rp_syn - what the peer's SYN or SYN-ACK offers; zero: MSS 1460 alone, window 65535 */
struct rp_syn {
	uint16_t mss;
	bool has_no_mss, has_ts, has_sack, has_wscale;
	uint8_t wscale;
	uint16_t wnd;
	uint32_t iss;  /* 0: 1000 */
	uint8_t flags; /* enum fl: more of them, ECE and CWR */
	bool has_ae;
};

/** rp_listen() - a listening socket on @port */
ns_sock rp_listen(struct rawpeer *rp, uint16_t port, int backlog);
/** rp_accepted() - passive open by the stack: SYN, SYN-ACK, ACK, accept; false when it did not come about */
bool rp_accepted(struct rawpeer *rp, ns_sock listener, uint16_t port, const struct rp_syn *syn,
		 struct rp_conn *ret_c);
/** rp_half_open() - SYN and SYN-ACK only */
bool rp_half_open(struct rawpeer *rp, uint16_t port, const struct rp_syn *syn,
		  struct rp_conn *ret_c);
/** rp_connect_begin() - active open by the stack up to its SYN (taken into @ret_c->syn) */
bool rp_connect_begin(struct rawpeer *rp, uint16_t peer_port, struct rp_conn *ret_c);
/** rp_connected() - active open, answered and completed */
bool rp_connected(struct rawpeer *rp, uint16_t peer_port, const struct rp_syn *syn,
		  struct rp_conn *ret_c);

/** rp_build() - a segment of @c: flags, numbers and options filled where @t leaves them zero (@t->seq, @t->ack are offsets from snd and rcv) */
void rp_build(struct rp_conn *c, const struct tcp_in *t, struct frame *ret_f);
/** rp_seg() - build, inject; the peer's numbers do not move */
void rp_seg(struct rp_conn *c, const struct tcp_in *t);
/** rp_data() - @len octets in order with ACK|PSH; the peer's numbers move */
void rp_data(struct rp_conn *c, const void *data, uint32_t len);
/** rp_ack() - acknowledge everything the stack sent as far as taken */
void rp_ack(struct rp_conn *c);
/** rp_expect() - take the next frame: a TCP segment of @c; moves rcv over its data and FIN when in order */
bool rp_expect(struct rp_conn *c, struct seen *ret_seen);
/** rp_send() - the program of @c's stack end writes @len octets and a turn passes; octets taken */
uint32_t rp_send(struct rp_conn *c, const void *data, uint32_t len);
/** rp_recv() - the program reads; octets */
uint32_t rp_recv(struct rp_conn *c, void *to, uint32_t len);
