/* SPDX-License-Identifier: Apache-2.0 */
/* arp.h - ARP for IPv4 over Ethernet, RFC 826 */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "base/byteorder.h"

enum {
	ARP_HRD_ETHER = 1,
	ARP_OP_REQUEST = 1,
	ARP_OP_REPLY = 2,
};

struct arp_hdr {
	struct be16 hrd, pro;
	uint8_t hln, pln;
	struct be16 op;
	uint8_t sha[6];
	struct be32 spa;
	uint8_t tha[6];
	struct be32 tpa;
};
static_assert(sizeof(struct arp_hdr) == 28 && _Alignof(struct arp_hdr) == 1, "RFC 826");
