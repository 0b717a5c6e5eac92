/* SPDX-License-Identifier: Apache-2.0 */
/* addr6.h - our IPv6 addresses, and which of them is the source: RFC 6724 5 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "ns/addr.h"
#include "ns/route.h"

struct dst;
struct link;
struct net;

/** struct addr6 - one of our addresses */
struct addr6 {
	struct ns_addr addr; /* zoned */
	struct ns_addr peer; /* other end, any: none */
	uint32_t link_id;
	uint8_t prefix_len; /* bits */
	bool is_deprecated; /* RFC 4862 5.5.4: not for new connections if there is another */
	bool is_temporary;  /* RFC 8981 */
	bool is_unusable;   /* tentative: never chosen */
	bool is_routes_given;
};

/** struct addr6_list - all of them; the caller of net_new() has none */
struct addr6_list {
	struct addr6 *v;
	uint32_t cnt, cap;
};

void addr6_done(struct addr6_list *l);
ns_must_check int addr6_set(struct net *n, uint32_t link_id, const struct ns_ifaddr *a);
ns_must_check int addr6_del(struct net *n, uint32_t link_id, const struct ns_addr *a);
void addr6_del_link(struct net *n, uint32_t link_id);
ns_must_check int addr6_deprecate(struct net *n, uint32_t link_id, const struct ns_addr *a,
				  bool is_deprecated);
const struct addr6 *addr6_find(const struct net *n, const struct link *l, const struct ns_addr *a);
bool addr6_solicits(const struct net *n, const struct link *l, const struct ns_addr *group);
bool addr6_is_group(const struct net *n, const struct link *l, const struct ns_addr *group);
bool addr6_hears(const struct net *n, const struct link *l, const struct ns_addr *group,
		 const struct ns_addr *src);
struct ns_addr addr6_rezone(const struct net *n, struct ns_addr a);
const struct addr6 *addr6_link_local(const struct net *n, const struct link *l);
struct ns_addr addr6_solicited_node(const struct ns_addr *a);
ns_must_check bool addr6_src_for(const struct net *n, const struct link *l,
				 const struct ns_addr *dst, struct ns_addr *ret_src);
ns_must_check int addr6_route_group(const struct net *n, const struct ns_addr *dst,
				    uint32_t ifindex, struct dst *d);
struct link *addr6_link_of(const struct net *n, const struct ns_addr *a);
