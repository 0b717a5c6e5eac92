/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.h - what stack.c may see of TCP */
#pragma once

#include "net/proto.h"

struct tcp;

extern const struct proto_ops tcp_proto_ops;         /* self: struct tcp */
extern const struct transport_ops tcp_transport_ops; /* self: struct tcp */

/**
 * tcp_new() - the TCP of one stack
 * @core:	Shared pools, timers, limits, key; outlives the TCP
 * @net:	IP layer; outlives the TCP
 * @users:	How to tell the socket layer; copied
 *
 * Return: the TCP, or NULL without memory
 */
ns_must_check struct tcp *tcp_new(struct ns_core *core, struct net *net,
				  const struct user_ops *users);
/**
 * tcp_set_fastopen_keys() - RFC 7413 4.1.2: keys of all listeners that have none of their own
 * @keys:	@len octets
 * @len:	NS_FASTOPEN_KEY_LEN or NS_FASTOPEN_KEYS_LEN
 *
 * Return: 0 or -EINVAL (another length)
 */
ns_must_check int tcp_set_fastopen_keys(struct tcp *t, const uint8_t *keys, uint32_t len);
/** tcp_free() - every connection is dropped in silence; NULL is fine */
void tcp_free(struct tcp *t);
