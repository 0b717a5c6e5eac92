/* SPDX-License-Identifier: Apache-2.0 */
/* ip6_ext.h - extension headers of a received packet, RFC 8200 4 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "wire/ip6.h"

struct pkt;

/** struct ip6_walk - a walk over the headers; begins at the IPv6 header, ends at the transport's */
struct ip6_walk {
	uint32_t off;     /* octets from the IPv6 header to the header that @next names */
	uint32_t next_at; /* octets from the IPv6 header to the field that @next was read from */
	uint8_t next;
	bool is_fragment; /* there was a fragment header, of a packet that is whole (RFC 6946) */
	bool has_router_alert;
	bool is_piece; /* the walk ended at the fragment header of a piece */
	/* why the walk ended, for a parameter problem (RFC 4443 3.4) */
	bool is_told;
	bool is_told_to_groups; /* also when the packet was sent to a group */
	uint8_t code;           /* enum icmp6_param */
	uint32_t pointer;       /* octets from the IPv6 header */
};

/** ip6_is_ext() - is @next a header that ip6_ext_walk() goes over? */
static inline bool ip6_is_ext(uint8_t next)
{
	return next == IP6_NEXT_HOP || next == IP6_NEXT_ROUTING || next == IP6_NEXT_FRAGMENT ||
	       next == IP6_NEXT_DST;
}

ns_must_check enum drop ip6_ext_walk(const struct pkt *p, struct ip6_walk *w);
ns_must_check bool ip6_ext_find_l4(const struct pkt *p, uint32_t *ret_off, uint8_t *ret_proto);
