/* SPDX-License-Identifier: Apache-2.0 */
/* eth.h - Ethernet II header, IEEE 802.3 3.1.1 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/byteorder.h"

enum {
	ETH_ADDR_LEN = 6,
	ETH_HDR_LEN = 14,
	ETH_TYPE_IP4 = 0x0800,
	ETH_TYPE_ARP = 0x0806,
	ETH_TYPE_VLAN = 0x8100,
	ETH_TYPE_IP6 = 0x86dd,
	ETH_TYPE_MIN = 0x0600, /* below: an IEEE 802.3 length */
};

struct eth_hdr {
	uint8_t dst[ETH_ADDR_LEN];
	uint8_t src[ETH_ADDR_LEN];
	struct be16 type;
};
static_assert(sizeof(struct eth_hdr) == ETH_HDR_LEN && _Alignof(struct eth_hdr) == 1,
	      "IEEE 802.3 3.1.1");

/** eth_is_multicast() - a group address, broadcast included */
static inline bool eth_is_multicast(const uint8_t mac[ETH_ADDR_LEN])
{
	return mac[0] & 1;
}

static inline bool eth_addr_eq(const uint8_t a[ETH_ADDR_LEN], const uint8_t b[ETH_ADDR_LEN])
{
	return memcmp(a, b, ETH_ADDR_LEN) == 0;
}
