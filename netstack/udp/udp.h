/* SPDX-License-Identifier: Apache-2.0 */
/* udp.h - UDP as stack.c builds it; sockets meet it by the ops of net/proto.h */
#pragma once

#include "base/attr.h"
#include "net/proto.h"

struct udp;

ns_must_check struct udp *udp_new(struct ns_core *core, struct net *net,
				  const struct user_ops *users, bool is_ping);
void udp_free(struct udp *u);

extern const struct proto_ops udp_proto_ops;  /* self: struct udp */
extern const struct proto_ops ping_proto_ops; /* likewise, of one with is_ping: of both ICMPs */
extern const struct transport_ops udp_transport_ops; /* self: struct udp */
