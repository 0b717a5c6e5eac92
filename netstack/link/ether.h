/* SPDX-License-Identifier: Apache-2.0 */
/* ether.h - the Ethernet header on and off */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/drop.h"
#include "buf/pkt.h"
#include "wire/eth.h"

struct link;

extern const uint8_t ether_broadcast[ETH_ADDR_LEN];

void ether_push(const struct link *l, struct pkt *p, const uint8_t dst[ETH_ADDR_LEN],
		uint16_t type);
ns_must_check bool ether_is_ip6(const struct pkt *p);
void ether_push_ip(const struct link *l, struct pkt *p, const uint8_t dst[ETH_ADDR_LEN]);
ns_must_check enum drop ether_pull(const struct link *l, struct pkt *p, uint16_t *ret_type,
				   bool *ret_is_bcast);
