/* SPDX-License-Identifier: Apache-2.0 */
/* ip6.h - IPv6 header and extension headers, RFC 8200 3 and 4 */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "base/byteorder.h"

enum {
	IP6_HDR_LEN = 40,
	IP6_LEN_MAX = 65535, /* octets behind the header */
	IP6_MTU_MIN = 1280,  /* octets, RFC 8200 5 */
	IP6_LEN_OFF = 4,     /* octets from the header's start to its payload length */
	IP6_NEXT_OFF = 6,    /* octets from the header's start to its next header field */
	IP6_SEGMENT_OFF = 2, /* octets from a routing header's start to its type */
};

/** enum ip6_next - next header values that are no transports (RFC 8200 4.1) */
enum ip6_next {
	IP6_NEXT_HOP = 0,
	IP6_NEXT_ROUTING = 43,
	IP6_NEXT_FRAGMENT = 44,
	IP6_NEXT_NONE = 59,
	IP6_NEXT_DST = 60,
};

enum ip6_opt {
	IP6_OPT_PAD1 = 0,
	IP6_OPT_PADN = 1,
	IP6_OPT_ROUTER_ALERT = 5, /* RFC 2711 */
};

/** enum ip6_opt_action - the high two bits of an option's type, RFC 8200 4.2 */
enum ip6_opt_action {
	IP6_OPT_SKIP = 0,
	IP6_OPT_DISCARD = 1,
	IP6_OPT_TELL = 2,         /* discard and say so, whatever the destination */
	IP6_OPT_TELL_UNICAST = 3, /* say so unless it was sent to a group */
};

struct ip6_hdr {
	struct be32 vtf;         /* version, traffic class, flow label */
	struct be16 payload_len; /* octets behind this header */
	uint8_t next;
	uint8_t hop_limit;
	uint8_t src[16], dst[16];
};
static_assert(sizeof(struct ip6_hdr) == IP6_HDR_LEN && _Alignof(struct ip6_hdr) == 1, "RFC 8200 3");

/** struct ip6_ext - what hop-by-hop, destination and routing headers begin with */
struct ip6_ext {
	uint8_t next;
	uint8_t len;                 /* in 8 octets, the first 8 not counted */
	uint8_t type, segments_left; /* routing header, RFC 8200 4.4 */
};
static_assert(sizeof(struct ip6_ext) == 4 && _Alignof(struct ip6_ext) == 1, "RFC 8200 4.3, 4.4");

enum {
	IP6_FRAG_MORE = 0x0001,
	IP6_FRAG_OFF_MASK = 0xfff8, /* the field as it is: octets */
};

struct ip6_frag {
	uint8_t next;
	uint8_t reserved;
	struct be16 off; /* offset, two reserved bits, "more fragments" */
	struct be32 id;
};
static_assert(sizeof(struct ip6_frag) == 8 && _Alignof(struct ip6_frag) == 1, "RFC 8200 4.5");

static inline uint32_t ip6_version(const struct ip6_hdr *h)
{
	return h->vtf.b[0] >> 4;
}

/** ip6_traffic_class() - DSCP and ECN, as the TOS octet of IPv4 */
static inline uint8_t ip6_traffic_class(const struct ip6_hdr *h)
{
	return (uint8_t)(h->vtf.b[0] << 4 | h->vtf.b[1] >> 4);
}
