/* SPDX-License-Identifier: Apache-2.0 */
/* route_select.h - which route, and which of its next hops, a packet takes */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "net/route_table.h"
#include "net/rule.h"

struct net;

/** struct route_hit - borrowed until routes change */
struct route_hit {
	const struct route *route;
	const struct ns_nexthop *hop;
};

ns_must_check int route_select(const struct net *n, const struct route_flow *f,
			       struct route_hit *ret_hit);
