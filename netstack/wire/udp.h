/* SPDX-License-Identifier: Apache-2.0 */
/* udp.h - UDP header, RFC 768 */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "base/byteorder.h"

enum {
	UDP_HDR_LEN = 8,
	UDP_CSUM_OFF = 6, /* octets from the header's start to the checksum */
};

struct udp_hdr {
	struct be16 sport, dport;
	struct be16 len;
	struct be16 csum;
};
static_assert(sizeof(struct udp_hdr) == UDP_HDR_LEN && _Alignof(struct udp_hdr) == 1, "RFC 768");
