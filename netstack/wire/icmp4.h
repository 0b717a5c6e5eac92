/* SPDX-License-Identifier: Apache-2.0 */
/* icmp4.h - ICMP, RFC 792 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/byteorder.h"

enum icmp4_type {
	ICMP4_ECHO_REPLY = 0,
	ICMP4_UNREACH = 3,
	ICMP4_SOURCE_QUENCH = 4,
	ICMP4_REDIRECT = 5,
	ICMP4_ECHO = 8,
	ICMP4_TIME_EXCEEDED = 11,
	ICMP4_PARAM_PROBLEM = 12,
};

enum icmp4_unreach {
	ICMP4_UNREACH_NET = 0,
	ICMP4_UNREACH_HOST = 1,
	ICMP4_UNREACH_PROTO = 2,
	ICMP4_UNREACH_PORT = 3,
	ICMP4_UNREACH_FRAG_NEEDED = 4,
	ICMP4_UNREACH_MAX = 15, /* RFC 1812 5.2.7.1 */
};

enum icmp4_exceeded {
	ICMP4_EXCEEDED_TTL = 0,
	ICMP4_EXCEEDED_REASSEMBLY = 1,
};

struct icmp4_hdr {
	uint8_t type, code;
	struct be16 csum;
	struct be16 unused; /* echo: identifier */
	struct be16 mtu;    /* RFC 1191 4; echo: sequence */
};
static_assert(sizeof(struct icmp4_hdr) == 8 && _Alignof(struct icmp4_hdr) == 1, "RFC 792");

/** icmp4_is_error() - RFC 1122 3.2.2: an error message, never to be answered with another; unknown types count */
static inline bool icmp4_is_error(uint8_t type)
{
	switch (type) {
	case ICMP4_ECHO_REPLY:
	case ICMP4_ECHO:
	case 9:  /* router advertisement */
	case 10: /* router solicitation */
	case 13: /* timestamp, reply */
	case 14:
	case 15: /* information request, reply */
	case 16:
	case 17: /* address mask, reply */
	case 18:
		return false;
	default:
		return true;
	}
}
