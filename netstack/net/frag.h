/* SPDX-License-Identifier: Apache-2.0 */
/* frag.h - packets put together from fragments, of either family */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/list.h"
#include "base/mono.h"

struct ip6_walk;
struct ip_rx;
struct net;
struct pkt;

enum {
	FRAG_LEN_MAX = 65535, /* octets of a whole packet, as its length field counts */
	FRAG_HDR_MAX = 176,   /* octets in front of a fragment's payload */
};

/** struct frags - incomplete packets of a stack */
struct frags {
	struct list sets; /* oldest first */
	uint32_t cnt;
};

/** struct frag_piece - a fragment, as its headers say */
struct frag_piece {
	uint32_t id;
	uint8_t proto;     /* as far as it tells packets of one id apart */
	uint32_t off, len; /* octets of payload */
	uint32_t hdr_len;  /* octets in front of it */
	uint32_t
		next_at; /* IPv6: octets from its header to the field that names the fragment header */
	bool is_last;
	bool is_bad; /* no packet has such a fragment: what belongs to it is not wanted either */
};

/** struct frag_family - where the families differ */
struct frag_family {
	uint64_t timeout_ns; /* after the fragment that came first */
	uint32_t
		hdr_free; /* octets of headers that the whole packet's length field does not count */
	enum drop bad;    /* what a malformed fragment is counted as */
	/** @p, its head at the first fragment's headers, gets the header of a whole packet */
	void (*finish)(struct pkt *p, const struct frag_piece *first);
	/** tell its sender; @p is the first fragment from its IP header on, as it came; borrowed */
	void (*expired)(struct net *n, struct pkt *p, const struct ip_rx *ip, struct mono now);
};

void frags_init(struct frags *f);
void frags_done(struct net *n);
ns_must_check enum drop frag_input(struct net *n, const struct frag_family *family, struct pkt *p,
				   const struct frag_piece *f, struct ip_rx *ip, struct mono now,
				   struct pkt **ret_whole);

ns_must_check enum drop frag4_input(struct net *n, struct pkt *p, struct ip_rx *ip, struct mono now,
				    struct pkt **ret_whole);
ns_must_check enum drop frag6_input(struct net *n, struct pkt *p, const struct ip6_walk *w,
				    struct ip_rx *ip, struct mono now, struct pkt **ret_whole);
