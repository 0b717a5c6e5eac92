/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_messages.h - the bodies of the messages between monitor, agent and worker
 *
 * Theory of operation
 *
 * Fixed size, no pointers, no padding that is not named: what a compromised peer can send is bounded
 * by the type. Both ends are the same binary, so integers are in host byte order; ipc_header.version
 * only catches a binary that was replaced while a child lives on.
 *
 * Two sorts of handles travel: S, a socket of the agent's table (index | generation, chosen by the
 * agent), and C, a connection that the stack accepted and that has no S yet (the stack's handle).
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ns/addr.h"
#include "ns/sock.h"

#define IPC_VERSION  1
#define IPC_BODY_MAX 4096u /* octets of a body */
#define IPC_FDS_MAX  136u /* descriptors of one message: INIT carries two per link and a few more */

/** struct ipc_header - in front of every message */
struct ipc_header {
	uint16_t version; /* IPC_VERSION */
	uint16_t type;    /* enum ipc_type */
	uint32_t len;     /* octets that follow: the size of the type's struct, exactly */
};

/** struct ipc_empty - body of messages that say nothing but their type */
struct ipc_empty {
	uint32_t reserved; /* zero */
};

/** enum ipc_init_flag - which optional descriptors INIT carries */
enum ipc_init_flag {
	IPC_INIT_NETNS = 1u << 0, /* agent: the container's network namespace */
	IPC_INIT_PIDFD = 1u << 1, /* agent: the container's first process */
	IPC_INIT_PCAP = 1u << 2,  /* worker: memfd of the capture ring */
};

/**
 * struct ipc_init - monitor -> child, the first message
 *
 * Descriptors in this order: sealed memfd with the plan's text, agent<->worker channel, then for the
 * worker plan_link_fd_cnt() per link, for the agent those that @flags names.
 */
struct ipc_init {
	uint32_t plan_len;    /* octets of text in the memfd */
	uint32_t link_fd_cnt; /* worker: descriptors of links; agent: 0 */
	uint32_t flags;       /* enum ipc_init_flag */
	uint32_t log_level;   /* enum log_level */
};

/** struct ipc_ready - child -> monitor: locked, in its loop from now on */
struct ipc_ready {
	uint32_t socket_cap; /* agent: sockets per container; worker: connections */
};

/** struct ipc_notify_fd - monitor -> agent, fd: a seccomp notify descriptor */
struct ipc_notify_fd {
	char container_id[64]; /* NUL-terminated, for the log */
};

/** struct ipc_log - child -> monitor: one line; @text is not trusted */
struct ipc_log {
	uint32_t level; /* enum log_level */
	uint32_t len;   /* octets of @text */
	char text[1024];
};

/**
 * struct ipc_plan - monitor -> worker: the configuration is another one from now on
 *
 * Descriptors: sealed memfd with the plan's text, its offset 0, then plan_link_fd_cnt() for each link that the
 * plan before did not have, in the order of the new one.
 */
struct ipc_plan {
	uint32_t plan_len;    /* octets of text in the memfd */
	uint32_t link_fd_cnt; /* descriptors of links */
};

/** struct ipc_knobs - monitor -> worker: all of them; the agent needs those that calls ask for */
struct ipc_knobs {
	int32_t value[NS_KNOB_COUNT]; /* enum ns_knob */
	uint32_t fastopen_keys_len;   /* octets; 0: the stack's own choice stays */
	uint8_t fastopen_keys[NS_FASTOPEN_KEYS_LEN];
};

/** struct ipc_worker_channel - monitor -> agent, fd: channel to a new worker; the old one is gone */
struct ipc_worker_channel {
	uint32_t generation; /* counts workers from 1 */
};

/** struct ipc_worker_bad - agent -> monitor: the worker broke the protocol, replace it */
struct ipc_worker_bad {
	int32_t err; /* negative errno */
};

/** enum ipc_stats_kind - what the operator wants to see */
enum ipc_stats_kind {
	IPC_STATS_COUNTERS, /* "name value" a line */
	IPC_STATS_SOCKETS,  /* "state local remote sendq recvq" a line */
	IPC_STATS_LINKS,    /* "name mode tx rx ..." a line */
	IPC_STATS_ROUTES,   /* rules and routes, a line each; with @text: one answer, a line */
	IPC_STATS_KIND_COUNT
};

#define IPC_STATS_TEXT_MAX 192u /* octets, with the NUL */

/** struct ipc_stats_req - monitor -> child */
struct ipc_stats_req {
	uint32_t token; /* returned in every answer */
	uint32_t kind;  /* enum ipc_stats_kind */
	char text
		[IPC_STATS_TEXT_MAX]; /* of IPC_STATS_ROUTES: ADDR [from ADDR] [iif DEV] [oif DEV] [mark N] [tos N] */
};

/** struct ipc_stats - child -> monitor: whole lines of text; the last one of a token has @is_last */
struct ipc_stats {
	uint32_t token;
	uint32_t is_last; /* 0, 1 */
	uint32_t len;     /* octets of @text */
	char text[3072];
};

/** IPC_OPTS_WORDS - of 32 options each */
#define IPC_OPTS_WORDS 3u

/** struct ipc_opts - socket options that differ from the stack's defaults */
struct ipc_opts {
	uint32_t mask[IPC_OPTS_WORDS]; /* ipc_opts_has() */
	int32_t value[NS_SOCKOPT_COUNT];
};

static_assert(NS_SOCKOPT_COUNT <= IPC_OPTS_WORDS * 32, "a bit for each option of the stack");

/** ipc_opts_has() - is it among them? Then its value counts */
static inline bool ipc_opts_has(const struct ipc_opts *o, enum ns_sockopt opt)
{
	return o->mask[opt / 32] >> opt % 32 & 1;
}

static inline void ipc_opts_set(struct ipc_opts *o, enum ns_sockopt opt, int32_t value)
{
	o->mask[opt / 32] |= UINT32_C(1) << opt % 32;
	o->value[opt] = value;
}

static inline void ipc_opts_unset(struct ipc_opts *o, enum ns_sockopt opt)
{
	o->mask[opt / 32] &= ~(UINT32_C(1) << opt % 32);
}

/** ipc_opts_is_on() - an option that is off unless it was set */
static inline bool ipc_opts_is_on(const struct ipc_opts *o, enum ns_sockopt opt)
{
	return ipc_opts_has(o, opt) && o->value[opt];
}

/** struct ipc_endpoint - address and port (host byte order) */
struct ipc_endpoint {
	struct ns_addr addr;
	uint16_t port;
	uint16_t reserved; /* zero */
};

/** struct ipc_bind - agent -> worker: make @sock and bind it */
struct ipc_bind {
	uint32_t sock; /* S */
	struct ipc_endpoint local;
	struct ipc_opts opts;
};

/** struct ipc_listen - agent -> worker: listen, binding to a chosen port when BIND did not come before */
struct ipc_listen {
	uint32_t sock; /* S */
	int32_t backlog;
	struct ipc_opts opts;
};

/** struct ipc_connect - agent -> worker */
struct ipc_connect {
	uint32_t sock; /* S */
	struct ipc_endpoint remote;
	struct ipc_opts opts;
};

/** struct ipc_sock_result - worker -> agent: answer to BIND, LISTEN and CONNECT, in order per S */
struct ipc_sock_result {
	uint32_t sock; /* S */
	int32_t err; /* 0 or negative errno; CONNECT: -EINPROGRESS when it has begun, of a stream 0 when CONNECTED follows at once */
	struct ipc_endpoint local;
};

/** struct ipc_connected - worker -> agent: the handshake is done; the agent answers with ATTACH */
struct ipc_connected {
	uint32_t sock; /* S */
	struct ipc_endpoint local;
	struct ipc_endpoint remote;
};

/** struct ipc_sock_err - worker -> agent: FAILED (connecting) and DETACHED (established) */
struct ipc_sock_err {
	uint32_t sock; /* S */
	int32_t err;   /* negative errno */
};

/** struct ipc_acceptable - worker -> agent: a listener has one more connection */
struct ipc_acceptable {
	uint32_t listener; /* S */
	uint32_t conn;     /* C */
	struct ipc_endpoint local;
	struct ipc_endpoint remote;
};

/** struct ipc_attach - agent -> worker, fd: the stack's end of the program's pair */
struct ipc_attach {
	uint32_t sock;        /* S */
	uint32_t conn;        /* C of an accepted connection, 0: @sock has connected */
	struct ipc_opts opts; /* what differs from the listener's */
};

/** struct ipc_sockopt_set - agent -> worker: one option, already checked by the agent */
struct ipc_sockopt_set {
	uint32_t sock;   /* S */
	uint32_t option; /* enum ns_sockopt */
	int32_t value;
};

/** struct ipc_fastopen_key - agent -> worker: TCP_FASTOPEN_KEY */
struct ipc_fastopen_key {
	uint32_t sock; /* S */
	uint32_t len;  /* octets: one key, or two */
	uint8_t keys[NS_FASTOPEN_KEYS_LEN];
};

/** struct ipc_getopt - agent -> worker: GETOPT and GETINFO */
struct ipc_getopt {
	uint32_t sock;   /* S */
	uint32_t token;  /* returned in the answer */
	uint32_t option; /* enum ns_sockopt; 0 for GETINFO */
};

/**
 * struct ipc_urgent - URGENT, agent -> worker: send @octet as urgent, behind what is in the pair; answered by GETOPT_R.
 * URGENT_IN, worker -> agent: put it into the pair as urgent; answered by URGENT_DONE
 */
struct ipc_urgent {
	uint32_t sock;  /* S */
	uint32_t token; /* URGENT: returned in the answer; URGENT_IN: 0 */
	uint32_t octet; /* 0 to 255 */
};

/** struct ipc_urgent_done - agent -> worker: the octet of URGENT_IN is in the pair, or why not */
struct ipc_urgent_done {
	uint32_t sock; /* S */
	int32_t err; /* 0, -EAGAIN (the pair is full), another negative errno: the program takes no more */
};

/** struct ipc_getopt_result - worker -> agent */
struct ipc_getopt_result {
	uint32_t token;
	int32_t err; /* 0 or negative errno */
	int32_t value;
};

/** struct ipc_getinfo_result - worker -> agent; the agent lays it out as Linux's struct tcp_info */
struct ipc_getinfo_result {
	uint32_t token;
	int32_t err; /* 0 or negative errno */
	struct ns_tcp_info info;
};

/** enum ipc_close_how - how a socket without a pair in the worker ends */
enum ipc_close_how {
	IPC_CLOSE_GRACEFUL, /* FIN when there is a connection */
	IPC_CLOSE_RESET,    /* RST */
	IPC_CLOSE_HOW_COUNT
};

/** struct ipc_close - agent -> worker: S is gone; a listener's unaccepted connections are reset */
struct ipc_close {
	uint32_t sock; /* S */
	uint32_t how;  /* enum ipc_close_how */
};

/**
 * struct ipc_closed - worker -> agent: the connection is no longer the worker's
 *
 * @is_shut 0: every copy of the program's end is closed, S may be reused. 1: both directions have
 * ended in order, which a pair cannot tell from a close: the program may have the descriptor still.
 */
struct ipc_closed {
	uint32_t sock;    /* S */
	uint32_t is_shut; /* 0, 1 */
};

/* ---- datagrams: worker_dgram.c has the picture ---- */

/** enum ipc_dgram_kind - what a datagram socket carries */
enum ipc_dgram_kind {
	IPC_DGRAM_UDP,
	IPC_DGRAM_PING4, /* echo requests of ICMP */
	IPC_DGRAM_PING6,
	IPC_DGRAM_KINDS
};

/** struct ipc_dgram_open - agent -> worker, fd: the stack's end of the program's pair */
struct ipc_dgram_open {
	uint32_t sock; /* S */
	uint32_t kind; /* enum ipc_dgram_kind */
	struct ipc_opts opts;
};

/** struct ipc_dgram_sock - agent -> worker: about @sock alone */
struct ipc_dgram_sock {
	uint32_t sock; /* S */
};

/** struct ipc_dgram_to - where a datagram goes, ns_dgram_tx */
struct ipc_dgram_to {
	struct ipc_endpoint to;
	struct ns_addr from;
	uint32_t ifindex;
	int16_t ttl, tos; /* -1: the socket's */
	uint8_t has_to;   /* 0, 1 */
	int8_t dontfrag;  /* 1, -1 no; 0: the socket's */
	uint8_t has_gso;  /* 0, 1 */
	uint8_t more;     /* 0, 1 */
	uint16_t gso_size;
	uint16_t stamp; /* NS_STAMP_TX_*, and IPC_STAMP_SAID; 0: the socket's */
};

/** IPC_STAMP_SAID - the call says when to tell of it, if at all */
#define IPC_STAMP_SAID 0x8000u

/** struct ipc_dgram_check - agent -> worker: could a datagram go there? Answered by GETOPT_R */
struct ipc_dgram_check {
	uint32_t sock;  /* S */
	uint32_t token; /* returned in the answer */
	uint32_t len;   /* octets of the datagram */
	uint32_t reserved;
	struct ipc_dgram_to to;
};

/** struct ipc_dgram_frame - in front of each datagram in the channel of DGRAM_CHANNEL */
struct ipc_dgram_frame {
	uint32_t sock; /* S */
	uint32_t reserved;
	struct ipc_dgram_to to;
};

/** enum ipc_group_what - what DGRAM_GROUP asks for, besides enum ns_group_what */
enum ipc_group_what {
	IPC_GROUP_IF = NS_GROUP_WHAT_COUNT, /* IP_MULTICAST_IF: @group is not looked at */
	IPC_GROUP_WHAT_COUNT
};

/** struct ipc_dgram_group - agent -> worker, answered by GETOPT_R */
struct ipc_dgram_group {
	uint32_t sock;  /* S */
	uint32_t token; /* returned in the answer */
	uint32_t what;  /* enum ns_group_what, ipc_group_what */
	uint32_t ifindex;
	struct ns_addr group, local, source;
};

/** struct ipc_dgram_filter - agent -> worker: set it, answered by GETOPT_R, or tell it, by DGRAM_FILTER_R */
struct ipc_dgram_filter {
	uint32_t sock;  /* S */
	uint32_t token; /* returned in the answer */
	uint32_t ifindex;
	uint32_t cnt;                         /* sources */
	uint8_t is_set, is_exclude, is_exact; /* 0, 1 */
	uint8_t reserved[5];
	struct ns_addr group, local;
	struct ns_addr source[NS_FILTER_MAX];
};

/** struct ipc_dgram_filter_r - worker -> agent */
struct ipc_dgram_filter_r {
	uint32_t token;
	int32_t err;         /* 0 or negative errno */
	uint32_t is_exclude; /* 0, 1 */
	uint32_t cnt;        /* sources */
	struct ns_addr source[NS_FILTER_MAX];
};

/** struct ipc_dgram_row - what the program may ask of a datagram in its pair */
struct ipc_dgram_row {
	struct ipc_endpoint from, to;
	uint32_t len; /* octets */
	uint32_t sum; /* ipc_dgram_sum() of the payload */
	uint32_t ifindex;
	uint8_t ttl, tos;
	uint16_t gso_size;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint16_t frag_len;
	uint8_t reserved[6];
};

/** IPC_DGRAM_ROWS - rows of one message */
#define IPC_DGRAM_ROWS 8u

/** struct ipc_dgram_info - worker -> agent: the next @cnt datagrams of the pair, before they are there */
struct ipc_dgram_info {
	uint32_t sock; /* S */
	uint32_t cnt;
	struct ipc_dgram_row row[IPC_DGRAM_ROWS];
};

/** struct ipc_dgram_err - ns_dgram_err, and whether an empty datagram is in the pair for it */
struct ipc_dgram_err {
	uint32_t sock; /* S */
	int32_t err;   /* negative errno */
	struct ipc_endpoint to;
	struct ns_addr offender;
	struct ns_addr local;
	uint32_t info, ifindex;
	uint8_t origin, type, code;
	uint8_t ttl, tos;
	uint8_t is_fatal, has_token, is_queued, is_ext_bad, is_path_mtu; /* 0, 1 */
	uint8_t reserved[2];
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint16_t quote_len, ext_off;
	uint32_t data;
};

/** struct ipc_dgram_err_quote - worker -> agent: it, and what was quoted */
struct ipc_dgram_err_quote {
	struct ipc_dgram_err e;
	uint8_t quote[NS_DGRAM_QUOTE_MAX]; /* @e.quote_len octets count */
};

/** ipc_dgram_sum() - tells datagrams of one length apart: FNV-1a of the first octets */
static inline uint32_t ipc_dgram_sum(uint32_t sum, const void *octets, size_t len)
{
	const uint8_t *b = octets;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ b[i]) * 16777619u;
	return sum;
}

#define IPC_DGRAM_SUM_INIT 2166136261u
#define IPC_DGRAM_SUM_LEN                                                                          \
	64u /* octets that are summed: they hold identifiers and sequence numbers */
