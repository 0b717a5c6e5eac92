/* SPDX-License-Identifier: Apache-2.0 */
/* pmtu.h - what routers said of the MTU of paths, by destination; transports ask net_pmtu() (net/proto.h) */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "ns/addr.h"

enum {
	PMTU_SETS = 64,
	PMTU_WAYS = 4,
};

/** struct pmtu - one path */
struct pmtu {
	struct ns_addr dst;
	uint32_t mtu;        /* octets of IP packet, 0: free */
	uint32_t generation; /* of the routing table when it was learned */
	struct mono expires;
};

/** struct pmtu_cache - of all destinations; zeroed: empty */
struct pmtu_cache {
	struct mono until; /* nothing here is younger: no look-up needed from then on */
	struct pmtu v[PMTU_SETS][PMTU_WAYS];
};
