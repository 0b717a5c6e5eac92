/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.h - TCP header, RFC 9293 3.1; options are netstack/tcp/'s */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "base/byteorder.h"

enum {
	TCP_HDR_LEN = 20,
	TCP_HDR_MAX = 60,
	TCP_CSUM_OFF = 16, /* octets from the header's start to the checksum */
};

enum {
	TCP_OFF_AE = 1, /* in struct tcp_hdr.off */
};

enum tcp_flag {
	TCP_FIN = 1u << 0,
	TCP_SYN = 1u << 1,
	TCP_RST = 1u << 2,
	TCP_PSH = 1u << 3,
	TCP_ACK = 1u << 4,
	TCP_URG = 1u << 5,
	TCP_ECE = 1u << 6,
	TCP_CWR = 1u << 7,
};

struct tcp_hdr {
	struct be16 sport, dport;
	struct be32 seq, ack;
	uint8_t off; /* high four bits: header length in 32-bit words; lowest: AE (RFC 9768) */
	uint8_t flags;
	struct be16 wnd;
	struct be16 csum;
	struct be16 urg;
};
static_assert(sizeof(struct tcp_hdr) == TCP_HDR_LEN && _Alignof(struct tcp_hdr) == 1,
	      "RFC 9293 3.1");

/** tcp_hdr_len() - octets the header says it has, options included; the caller checks that they are there */
static inline uint32_t tcp_hdr_len(const struct tcp_hdr *h)
{
	return (h->off >> 4) * 4u;
}
