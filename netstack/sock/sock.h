/* SPDX-License-Identifier: Apache-2.0 */
/* sock.h - the table of sockets behind ns/sock.h; what stack.c may see of it */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "net/proto.h"

struct socks;

/**
 * socks_new() - the socket table of one stack
 * @core:	Limits and counters; outlives the table
 *
 * Return: the table, or NULL without memory
 */
ns_must_check struct socks *socks_new(struct ns_core *core);
/** socks_free() - every socket is gone; the transport must have been freed before; NULL is fine */
void socks_free(struct socks *st);

/** socks_user_ops() - how a transport tells this table; the same for every table */
const struct user_ops *socks_user_ops(void);

/** socks_set_stream() - the transport of stream sockets; borrowed as long as the table */
void socks_set_stream(struct socks *st, const struct transport_ops *ops, void *transport);

/** socks_of() - the table of a stack; defined by stack.c, the only one who knows the stack's struct */
struct socks *socks_of(struct ns_stack *s);
