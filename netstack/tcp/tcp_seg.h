/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_seg.h - a segment in host order: parsed once when it arrives, emitted once when it leaves */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/seq.h"
#include "buf/pkt.h"
#include "ns/addr.h"
#include "wire/tcp.h"

struct ip_rx;

enum {
	TCP_OPT_MAX = 40,    /* octets of options: data offset 15 */
	TCP_TS_LEN = 12,     /* octets: timestamp option with its padding */
	TCP_SACK_MAX = 4,    /* blocks that fit one header without timestamps */
	TCP_WSCALE_MAX = 14, /* RFC 7323 2.3 */
	TCP_TFO_MAX = 16,    /* octets of a cookie, RFC 7413 4.1.1 */
};

/** struct tcp_sack_block - octets [start, end) */
struct tcp_sack_block {
	struct seq start, end;
};

/** struct tcp_accecn_opt - RFC 9768 3.2.3: counters of octets by code point, 24 bits each */
struct tcp_accecn_opt {
	bool has;
	bool is_order1; /* ECT(1), CE, ECT(0); else ECT(0), CE, ECT(1) */
	uint8_t cnt;    /* how many are there */
	uint32_t v[3];
};

/** struct tcp_tfo_opt - RFC 7413 4.1.1: a cookie, or with @len 0 the wish for one */
struct tcp_tfo_opt {
	bool has;
	bool is_exp; /* in the experimental option of before the RFC (RFC 7413 appendix A, RFC 6994) */
	uint8_t len; /* octets */
	uint8_t v[TCP_TFO_MAX];
};

/** struct tcp_opts - decoded options; absent ones are zero or false */
struct tcp_opts {
	bool has_ts, has_wscale, sack_ok;
	uint8_t wscale;   /* shift, clamped to 14 */
	uint8_t sack_cnt; /* blocks in @sack */
	uint16_t mss;     /* octets, 0: not there */
	uint32_t ts_val;  /* sender's clock */
	uint32_t ts_ecr;  /* our clock, echoed; meaningful with ACK */
	struct tcp_sack_block sack[TCP_SACK_MAX];
	struct tcp_accecn_opt accecn;
	struct tcp_tfo_opt tfo; /* only in SYNs */
};

/** struct tcp_seg - one received segment, or what is left of it after trimming */
struct tcp_seg {
	struct ns_endpoint local, remote;
	struct seq seq, ack;
	struct seq urg;    /* of the urgent octet, with TCP_URG: before where the pointer points */
	uint32_t len;      /* octets of payload in @p from its head on */
	uint16_t wnd;      /* as on the wire, not scaled */
	uint16_t mss_seen; /* payload octets of one wire segment in it */
	uint16_t seg_cnt;  /* wire segments it stands for, at least 1 */
	uint8_t flags;     /* enum tcp_flag */
	bool ae;           /* RFC 9768 3.1.1: the flag that was NS */
	uint8_t ecn;       /* code point of the IP header (RFC 3168 5) */
	uint32_t ifindex;  /* link it came by, net_rx_ifindex(); tcp_input() sets it */
	struct tcp_opts opt;
	struct pkt *p; /* borrowed; linear area or frags start with the payload */
};

/** tcp_seg_span() - sequence numbers the segment occupies: payload, SYN and FIN (SEG.LEN) */
static inline uint32_t tcp_seg_span(const struct tcp_seg *s)
{
	return s->len + ((s->flags & TCP_SYN) != 0) + ((s->flags & TCP_FIN) != 0);
}

/** tcp_seg_end() - the sequence number behind the segment */
static inline struct seq tcp_seg_end(const struct tcp_seg *s)
{
	return seq_add(s->seq, tcp_seg_span(s));
}

ns_must_check enum drop tcp_seg_parse(struct pkt *p, const struct ip_rx *ip, struct tcp_seg *ret_s);
bool tcp_opts_parse(const uint8_t *at, uint32_t len, struct tcp_opts *ret_o);
void tcp_seg_trim_front(struct tcp_seg *s, uint32_t len);
void tcp_seg_trim_back(struct tcp_seg *s, uint32_t len);

/** struct tcp_emit - a header to write, host order */
struct tcp_emit {
	struct ns_endpoint local, remote;
	struct seq seq, ack;
	uint16_t wnd; /* as on the wire */
	uint16_t urg; /* urgent pointer, with TCP_URG */
	uint8_t flags;
	bool ae;             /* RFC 9768 3.1.1 */
	struct tcp_opts opt; /* SYN options are only written with @is_syn_opts */
	bool is_syn_opts;
	uint32_t mark, uid,
		ifindex; /* of the socket it is for: nothing on the wire, tcp_reply() routes by them */
};

/** tcp_seg_ace() - AE, CWR and ECE as a number (RFC 9768 3.2.2) */
static inline uint8_t tcp_seg_ace(const struct tcp_seg *s)
{
	return (uint8_t)((s->ae ? 4u : 0u) | (s->flags & TCP_CWR ? 2u : 0u) |
			 (s->flags & TCP_ECE ? 1u : 0u));
}

/** tcp_emit_ace() - the same number into a header, of which it has said nothing before */
static inline void tcp_emit_ace(struct tcp_emit *e, uint32_t ace)
{
	e->ae = ace & 4;
	e->flags |= (uint8_t)((ace & 2 ? TCP_CWR : 0u) | (ace & 1 ? TCP_ECE : 0u));
}

uint32_t tcp_opts_len(const struct tcp_emit *e);
void tcp_hdr_emit(struct pkt *p, const struct tcp_emit *e);
