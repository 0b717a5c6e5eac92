/* SPDX-License-Identifier: Apache-2.0 */
/* ip4.h - IPv4 header and options, RFC 791 3.1 */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "base/byteorder.h"

enum {
	IP4_HDR_LEN = 20,
	IP4_HDR_MAX = 60,
	IP4_LEN_MAX = 65535,
	IP4_DF = 0x4000,
	IP4_MF = 0x2000,
	IP4_OFF_MASK = 0x1fff,
};

enum ip_proto {
	IP_PROTO_ICMP = 1,
	IP_PROTO_IGMP = 2,
	IP_PROTO_TCP = 6,
	IP_PROTO_UDP = 17,
	IP_PROTO_ICMP6 = 58,
};

enum ip4_opt {
	IP4_OPT_END = 0,
	IP4_OPT_NOP = 1,
	IP4_OPT_LSRR = 131,
	IP4_OPT_SSRR = 137,
	IP4_OPT_ROUTER_ALERT = 148, /* RFC 2113 */
};

struct ip4_hdr {
	uint8_t vhl; /* version, header length in 32-bit words */
	uint8_t tos;
	struct be16 len; /* octets of header and payload */
	struct be16 id;
	struct be16 frag; /* DF, MF, offset in 8 octets */
	uint8_t ttl;
	uint8_t proto;
	struct be16 csum;
	struct be32 src, dst;
};
static_assert(sizeof(struct ip4_hdr) == IP4_HDR_LEN && _Alignof(struct ip4_hdr) == 1,
	      "RFC 791 3.1");

/** ip4_hdr_len() - octets the header says it has; the caller checks that they are there */
static inline uint32_t ip4_hdr_len(const struct ip4_hdr *h)
{
	return (h->vhl & 0x0fu) * 4;
}

static inline uint32_t ip4_version(const struct ip4_hdr *h)
{
	return h->vhl >> 4;
}
