/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sock.h - stream sockets of the stack, by handle
 *
 * A handle is index and generation: a stale one is answered -EBADF, never mistaken for another.
 * Handles of accepted connections come from ns_sock_accept().
 *
 * Readiness is edge-like: ns_stack_next_event() gives each socket with news once, with all its
 * news in one mask; the embedder then acts until it would block.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "ns/addr.h"
#include "ns/iov.h"
#include "ns/stack.h"

typedef uint32_t ns_sock; /* 0: no socket */

enum ns_event_mask {
	NS_EV_CONNECTED = 1u << 0, /* connect() succeeded */
	NS_EV_ACCEPT = 1u << 1,    /* a listener has connections to accept */
	NS_EV_IN = 1u << 2,        /* octets to read */
	NS_EV_OUT = 1u << 3,       /* send room where there was none (or too little) */
	NS_EV_EOF = 1u << 4, /* the peer's FIN is the next thing to read once octets are drained */
	NS_EV_ERR =
		1u
		<< 5, /* connection failed or was reset: ns_event.err; nothing more comes but what is queued */
};

struct ns_event {
	ns_sock sock;
	uint32_t mask; /* enum ns_event_mask */
	int err; /* negative errno with NS_EV_ERR: -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EHOSTUNREACH, ... */
	void *user; /* as set by ns_sock_set_user() */
};

enum ns_sockopt {
	NS_SO_REUSEADDR,    /* bool */
	NS_SO_REUSEPORT,    /* bool */
	NS_SO_KEEPALIVE,    /* bool */
	NS_SO_LINGER,       /* seconds, -1: off; 0: ns_sock_close() resets */
	NS_SO_SNDBUF,       /* octets; fixes the size, no autotuning */
	NS_SO_RCVBUF,       /* octets */
	NS_SO_PRIORITY_TOS, /* IP_TOS octet */
	NS_SO_TTL,
	NS_TCP_NODELAY,   /* bool */
	NS_TCP_CORK,      /* bool */
	NS_TCP_QUICKACK,  /* bool */
	NS_TCP_MAXSEG,    /* octets; get: current MSS */
	NS_TCP_KEEPIDLE,  /* seconds */
	NS_TCP_KEEPINTVL, /* seconds */
	NS_TCP_KEEPCNT,
	NS_TCP_USER_TIMEOUT, /* milliseconds */
	NS_TCP_SYNCNT,
	NS_TCP_LINGER2,       /* seconds */
	NS_TCP_DEFER_ACCEPT,  /* seconds */
	NS_TCP_WINDOW_CLAMP,  /* octets */
	NS_TCP_NOTSENT_LOWAT, /* octets */
	NS_TCP_CONGESTION,    /* enum ns_congestion */
	NS_SOCKOPT_COUNT
};

/** enum ns_congestion - values of NS_TCP_CONGESTION; the first is the default */
enum ns_congestion {
	NS_CC_CUBIC, /* RFC 9438 with RFC 9406 */
	NS_CC_RENO,  /* RFC 5681 */
	NS_CC_COUNT
};

ns_must_check int ns_sock_open(struct ns_stack *s, ns_sock *ret_sock);
void ns_sock_set_user(struct ns_stack *s, ns_sock h, void *user);
/** ns_sock_user() - as set; NULL for a handle that is stale or made up */
void *ns_sock_user(struct ns_stack *s, ns_sock h);
/** ns_sock_bind() - port 0: chosen (RFC 6056); -EADDRINUSE, -EADDRNOTAVAIL, -EINVAL already bound */
ns_must_check int ns_sock_bind(struct ns_stack *s, ns_sock h, const struct ns_endpoint *local);
ns_must_check int ns_sock_listen(struct ns_stack *s, ns_sock h, int backlog);
/** ns_sock_connect() - starts; -EINPROGRESS, or at once -ENETUNREACH -EADDRNOTAVAIL -EISCONN -EALREADY ...; the result is NS_EV_CONNECTED or NS_EV_ERR */
ns_must_check int ns_sock_connect(struct ns_stack *s, ns_sock h, const struct ns_endpoint *remote,
				  struct mono now);
/** ns_sock_accept() - the oldest completed connection of a listener, -EAGAIN when there is none */
ns_must_check int ns_sock_accept(struct ns_stack *s, ns_sock h, ns_sock *ret_sock);
ns_must_check int ns_sock_local(struct ns_stack *s, ns_sock h, struct ns_endpoint *ret_local);
ns_must_check int ns_sock_remote(struct ns_stack *s, ns_sock h, struct ns_endpoint *ret_remote);

/** ns_sock_send_room() - octets the send queue would take now; 0 also after a FIN was queued or the connection ended */
uint32_t ns_sock_send_room(struct ns_stack *s, ns_sock h);
/**
 * ns_sock_send_reserve() - writable memory of the send queue for up to @want octets (the embedder reads into it)
 * Return: iovecs set, or -ENOTCONN -EPIPE -EAGAIN (no room) -ENOMEM
 */
ns_must_check int ns_sock_send_reserve(struct ns_stack *s, ns_sock h, uint32_t want,
				       struct ns_iov *iov, uint32_t iov_cnt);
/** ns_sock_send_commit() - @len octets of the reservation are there; @more: more follow at once (MSG_MORE) */
void ns_sock_send_commit(struct ns_stack *s, ns_sock h, uint32_t len, bool more);
/** ns_sock_recv_peek() - received octets in order, valid until the next call on this stack; iovecs set, 0: none */
ns_must_check int ns_sock_recv_peek(struct ns_stack *s, ns_sock h, struct ns_iov *iov,
				    uint32_t iov_cnt);
/** ns_sock_recv_consume() - the program has @len octets; opens the window */
void ns_sock_recv_consume(struct ns_stack *s, ns_sock h, uint32_t len);
/** ns_sock_is_eof() - the peer's FIN is in and all octets are consumed */
bool ns_sock_is_eof(struct ns_stack *s, ns_sock h);
/** ns_sock_shutdown_send() - FIN after what is queued */
void ns_sock_shutdown_send(struct ns_stack *s, ns_sock h);
/** ns_sock_close() - the handle is gone; the connection finishes by itself (FIN, TIME-WAIT), or by RST when unread octets are queued (RFC 2525 2.17) or LINGER is 0 */
void ns_sock_close(struct ns_stack *s, ns_sock h);
/** ns_sock_abort() - RST (when the state has one to send) and gone */
void ns_sock_abort(struct ns_stack *s, ns_sock h);
ns_must_check int ns_sock_setopt(struct ns_stack *s, ns_sock h, enum ns_sockopt opt, int value);
ns_must_check int ns_sock_getopt(struct ns_stack *s, ns_sock h, enum ns_sockopt opt,
				 int *ret_value);

/** struct ns_tcp_info - what TCP_INFO tells; the embedder lays it out for Linux */
struct ns_tcp_info {
	uint8_t state; /* Linux numbering: 1 ESTABLISHED ... 11 CLOSING */
	uint8_t ca_state, retransmits, probes, backoff;
	bool has_ts, has_sack, has_wscale, has_ecn;
	uint8_t snd_wscale, rcv_wscale;
	uint32_t rto_us, ato_us, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
	uint32_t last_data_sent_ms, last_data_recv_ms, last_ack_recv_ms;
	uint32_t pmtu, rcv_ssthresh, rtt_us, rttvar_us, snd_ssthresh, snd_cwnd, advmss, reordering;
	uint32_t rcv_rtt_us, rcv_space, total_retrans, snd_wnd, rcv_wnd, min_rtt_us, notsent_bytes;
	uint64_t bytes_acked, bytes_received, bytes_sent, bytes_retrans;
	uint32_t segs_out, segs_in, data_segs_in, data_segs_out;
};

ns_must_check int ns_sock_tcp_info(struct ns_stack *s, ns_sock h, struct mono now,
				   struct ns_tcp_info *ret_info);

/** ns_stack_next_event() - the next socket with news; false when there is none */
bool ns_stack_next_event(struct ns_stack *s, struct ns_event *ret_event);

/** ns_stack_sockets() - for the operator: @fn for every connection and listener, also those without a handle */
struct ns_sock_row {
	struct ns_endpoint local, remote;
	const char *state;
	uint64_t sndq_len, rcvq_len; /* octets */
	ns_sock sock;
};
void ns_stack_sockets(struct ns_stack *s, void (*fn)(void *ctx, const struct ns_sock_row *row),
		      void *ctx);
