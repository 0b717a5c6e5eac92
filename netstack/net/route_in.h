/* SPDX-License-Identifier: Apache-2.0 */
/* route_in.h - is a received packet for this host? */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"

struct ip_rx;
struct net;
struct pkt;
struct route_flow;
struct route_hit;

ns_must_check enum drop route_input4(const struct net *n, const struct pkt *p, struct ip_rx *ip);
ns_must_check enum drop route_input6(const struct net *n, const struct pkt *p, struct ip_rx *ip,
				     int *ret_err);
ns_must_check int route_input_get(const struct net *n, const struct route_flow *f,
				  struct route_hit *ret_hit);
