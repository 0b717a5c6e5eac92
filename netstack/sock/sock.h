/* SPDX-License-Identifier: Apache-2.0 */
/* sock.h - the socket table as stack.c builds it; embedders see ns/sock.h */
#pragma once

#include <stdbool.h>

#include "net/proto.h"
#include "ns/sock.h"

struct socks;

extern const struct user_ops sock_user_ops; /* user: what transport_ops.open() was given */

ns_must_check struct socks *socks_new(struct ns_core *core);
void socks_free(struct socks *ss);
void socks_set_transport(struct socks *ss, const struct transport_ops *ops, void *self);
void socks_set_dgram(struct socks *ss, const struct transport_ops *ops, void *self, void *ping);
bool socks_have_events(const struct socks *ss);

/** ns_stack_socks() - the table of a stack; stack.c has it */
struct socks *ns_stack_socks(struct ns_stack *s);
