/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - the way of a packet: link, next hop, MTU, source */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "net/proto.h"
#include "net/route_select.h"

/** struct path - borrowed until routes or addresses change */
struct path {
	struct dst d;         /* src any: there is none to send from */
	struct route_hit hit; /* route NULL: no table was asked */
	uint8_t type;         /* enum ns_route_type */
};

ns_must_check int path_flow(const struct net *n, const struct ns_flow *flow,
			    struct route_flow *ret_flow);
ns_must_check int path_find(const struct net *n, struct route_flow *f, struct path *ret_path);
