/* SPDX-License-Identifier: Apache-2.0 */
/* icmp6.h - ICMPv6 (RFC 4443) and the messages of neighbour discovery (RFC 4861 4) */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/byteorder.h"

enum icmp6_type {
	ICMP6_UNREACH = 1,
	ICMP6_TOO_BIG = 2,
	ICMP6_TIME_EXCEEDED = 3,
	ICMP6_PARAM_PROBLEM = 4,
	ICMP6_ECHO = 128,
	ICMP6_ECHO_REPLY = 129,
	ICMP6_ND_RS = 133,
	ICMP6_ND_RA = 134,
	ICMP6_ND_NS = 135,
	ICMP6_ND_NA = 136,
	ICMP6_ND_REDIRECT = 137,
};

enum icmp6_unreach {
	ICMP6_UNREACH_NOROUTE = 0,
	ICMP6_UNREACH_ADMIN = 1,
	ICMP6_UNREACH_ADDR = 3,
	ICMP6_UNREACH_PORT = 4,
	ICMP6_UNREACH_MAX = 6,
};

enum icmp6_param {
	ICMP6_PARAM_FIELD = 0,
	ICMP6_PARAM_NEXT = 1,
	ICMP6_PARAM_OPTION = 2,
	ICMP6_PARAM_CHAIN = 3, /* RFC 7112 6 */
};

enum icmp6_exceeded {
	ICMP6_EXCEEDED_HOPS = 0,
	ICMP6_EXCEEDED_REASSEMBLY = 1,
};

struct icmp6_hdr {
	uint8_t type, code;
	struct be16 csum;
	struct be32 arg; /* by type: unused, MTU, pointer, identifier and sequence, NA flags */
};
static_assert(sizeof(struct icmp6_hdr) == 8 && _Alignof(struct icmp6_hdr) == 1, "RFC 4443 2.1");

/** icmp6_is_error() - RFC 4443 2.1: the high bit of the type says so */
static inline bool icmp6_is_error(uint8_t type)
{
	return type < 128;
}

enum {
	ND_ADDR_LEN = 16,
	ND_NA_SOLICITED = 0x40000000,
	ND_NA_OVERRIDE = 0x20000000,
	ND_HOP_LIMIT = 255, /* RFC 4861 7.1: crossed no router */
};

enum nd_opt_type {
	ND_OPT_SRC_LLA = 1,
	ND_OPT_DST_LLA = 2,
};

/** struct nd_msg - neighbour solicitation and advertisement, RFC 4861 4.3, 4.4 */
struct nd_msg {
	struct icmp6_hdr icmp;
	uint8_t target[ND_ADDR_LEN];
};
static_assert(sizeof(struct nd_msg) == 24 && _Alignof(struct nd_msg) == 1, "RFC 4861 4.3");

/** struct nd_opt_lla - link-layer address of Ethernet, RFC 4861 4.6.1, RFC 2464 6 */
struct nd_opt_lla {
	uint8_t type;
	uint8_t len; /* in 8 octets: 1 */
	uint8_t mac[6];
};
static_assert(sizeof(struct nd_opt_lla) == 8 && _Alignof(struct nd_opt_lla) == 1, "RFC 2464 6");
