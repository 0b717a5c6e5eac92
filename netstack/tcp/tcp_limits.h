/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_limits.h - sizes, counts and durations of TCP, with where they come from; this folder only */
#pragma once

#include "base/mono.h"

/* Sizes: octets. */
enum {
	TCP_MSS_DEFAULT4 = 536,  /* RFC 9293 3.7.1 */
	TCP_MSS_DEFAULT6 = 1220, /* RFC 9293 3.7.1 */
	TCP_MSS_MIN =
		88, /* a peer's smaller wish is not obeyed: its price is ours (CVE-2019-11479) */
	TCP_SACK_HEAD = 4,   /* octets of a SACK option before its blocks, padding too */
	TCP_MTU_MIN4 = 68,   /* octets; RFC 791 3.2: the least that a link carries whole */
	TCP_MTU_MIN6 = 1280, /* octets; RFC 8200 5 */
	TCP_SNDBUF_START = 256 << 10,
	TCP_BUF_MIN = 4096,        /* linux SOCK_MIN_*BUF in spirit */
	TCP_OOO_SLACK = 256 << 10, /* memory the islands may hold beyond twice the receive buffer */
	TCP_EOR_MAX = 16,          /* ends of records among what was not sent yet */
	TCP_REF_MIN = 16384,       /* an island takes larger payload by reference, copies smaller */
	TCP_SUPER_MAX = 65536,     /* octets one transmission record grows to */
	TCP_HASH_MORE = 8,         /* hashed behind a four-tuple at most */
};

/* Counts. */
enum {
	TCP_DUPTHRESH = 3,        /* RFC 5681 3.2, RFC 6675 2 */
	TCP_REORDERING_MAX = 300, /* segments: linux net.ipv4.tcp_max_reordering */
	TCP_REC_MAX = 4096, /* transmission records of one connection: bounds the work of an ACK */
	TCP_REC_POOL = 1 << 18,   /* of one stack */
	TCP_OOO_MAX = 512,        /* islands of one connection */
	TCP_OOO_POOL = 1 << 16,   /* of one stack */
	TCP_HALFOPEN_POOL = 8192, /* of one stack */
	TCP_TFO_SERVERS = 256,    /* of one stack, whose cookies are remembered */
	TCP_TFO_RESETS = 4096,    /* of one stack, that still count for their listeners */
	TCP_SYNQ_MIN = 128,       /* half-open of one listener, however small its backlog */
	TCP_ORPHAN_RETRIES = 8,   /* linux tcp_orphan_retries() */
	TCP_QUICK_ACKS = 16,      /* linux TCP_MAX_QUICKACKS */
	TCP_CEP_INIT = 5,         /* packets marked CE, the first number: RFC 9768 3.2.1 */
	TCP_INIT_CWND = 10,       /* segments: linux TCP_INIT_CWND, RFC 6928 2 */
	TCP_OUT_BUDGET = 4, /* super-segments a connection sends before the next has its turn */
};

/* Durations: nanoseconds. */
#define TCP_RTO_INITIAL_NS   (1 * NS_PER_SEC) /* RFC 6298 2.1 */
#define TCP_RTO_AFTER_SYN_NS (3 * NS_PER_SEC) /* RFC 6298 5.7 */
#define TCP_PTO_INITIAL_NS   (1 * NS_PER_SEC) /* RFC 8985 7.2: no round trip was measured */
#define TCP_TIMEOUT_MIN_NS   (2 * NS_PER_MS)  /* linux TCP_TIMEOUT_MIN: what a timer is late by */
#define TCP_PTO_DELACK_NS    (200 * NS_PER_MS) /* RFC 8985 7.2 TLP.max_ack_delay; linux TCP_RTO_MIN */
#define TCP_RTO_MAX_NS       (120 * NS_PER_SEC) /* linux TCP_RTO_MAX */
#define TCP_DELACK_NS        (40 * NS_PER_MS) /* linux TCP_DELACK_MIN; RFC 9293 MUST-40 asks < 500 ms */
#define TCP_CORK_NS          (200 * NS_PER_MS)  /* tcp(7): ceiling of TCP_CORK */
#define TCP_2MSL_NS          (60 * NS_PER_SEC)  /* linux TCP_TIMEWAIT_LEN */
#define TCP_COOKIE_NS        (120 * NS_PER_SEC) /* linux TCP_SYNCOOKIE_VALID: two cookie minutes */
#define TCP_PAWS_IDLE_NS     (UINT64_C(24) * 86400 * NS_PER_SEC) /* RFC 7323 5.5 */

#define TCP_PACE_UNLIMITED UINT64_MAX /* octets a second */
