/* SPDX-License-Identifier: Apache-2.0 */
/* frag_out.h - a packet sent in fragments, of either family */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

struct dst;
struct ip_tx;
struct net;
struct pkt;

/** struct frag_job - a packet on its way out in pieces */
struct frag_job {
	const struct dst *d;    /* mtu: octets of each piece, headers included */
	const struct ip_tx *ip; /* what goes into the header of each */
	uint32_t id;            /* the same for all of them */
	uint32_t label;         /* flow label of IPv6 */
};

/** struct frag_out_ops - where the families differ */
struct frag_out_ops {
	uint32_t hdr_len; /* octets in front of each piece's payload */
	/** the headers in front of @q, whose payload is @off octets into the packet's */
	void (*push_header)(struct pkt *q, const struct frag_job *j, uint32_t off, bool is_last);
	int (*xmit)(struct net *n, const struct dst *d, struct pkt *q, struct mono now);
};

int frag_output(struct net *n, const struct frag_out_ops *ops, const struct frag_job *j,
		struct pkt *p, struct mono now);
