/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - the IP layer as stack.c builds and drives it; transports see net/proto.h only */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/mono.h"
#include "ns/stack.h"

struct link;
struct net;
struct ns_core;
struct proto_ops;

ns_must_check struct net *net_new(struct ns_core *core);
void net_free(struct net *n);

void net_register(struct net *n, uint8_t proto, const struct proto_ops *ops, void *self);
ns_must_check int net_add_link(struct net *n, const struct ns_link_config *c,
			       uint32_t *ret_link_id);
ns_must_check int net_set_link(struct net *n, uint32_t link_id, const struct ns_link_config *c);
ns_must_check int net_set_link_up(struct net *n, uint32_t link_id, bool is_up);
ns_must_check int net_del_link(struct net *n, uint32_t link_id);
ns_must_check int net_add_addr(struct net *n, uint32_t link_id, const struct ns_addr *a,
			       uint8_t prefix_len);
ns_must_check int net_set_addr(struct net *n, uint32_t link_id, const struct ns_ifaddr *a);
ns_must_check int net_del_addr(struct net *n, uint32_t link_id, const struct ns_addr *a);
ns_must_check int net_deprecate_addr(struct net *n, uint32_t link_id, const struct ns_addr *a,
				     bool is_deprecated);
ns_must_check int net_add_route(struct net *n, const struct ns_route *r);
ns_must_check int net_replace_route(struct net *n, const struct ns_route *r);
ns_must_check int net_del_route(struct net *n, const struct ns_route *r);
ns_must_check int net_add_rule(struct net *n, const struct ns_rule *r);
ns_must_check int net_del_rule(struct net *n, const struct ns_rule *r);
void net_flush_rules(struct net *n, bool is_v6);
void net_each_route(const struct net *n, void (*fn)(void *ctx, const struct ns_route *r),
		    void *ctx);
void net_each_rule(const struct net *n, void (*fn)(void *ctx, const struct ns_rule *r), void *ctx);
ns_must_check int net_find_route(const struct net *n, const struct ns_flow *f,
				 struct ns_route_answer *ret_answer);
ns_must_check int net_add_neigh(struct net *n, uint32_t link_id, const struct ns_addr *a,
				const uint8_t mac[6]);
ns_must_check int net_del_neigh(struct net *n, uint32_t link_id, const struct ns_addr *a);
struct link *net_link(const struct net *n, uint32_t link_id);

enum drop net_input(struct net *n, uint32_t link_id, struct pkt *p, struct mono now);
ns_must_check uint32_t net_run_loop(struct net *n, uint32_t budget, struct mono now);
void net_flush(struct net *n);
bool net_link_writable(struct net *n, uint32_t link_id);
bool net_take_starved(struct net *n);
bool net_has_work(const struct net *n);
