/* SPDX-License-Identifier: Apache-2.0 */
/* addr4.h - our IPv4 addresses, and which of them is the source */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "ns/route.h"

struct link;
struct net;

/** struct addr4 - one of our addresses */
struct addr4 {
	struct ns_ifaddr a; /* peer is addr itself when there is none */
	uint32_t link_id;
};

/** struct addr4_list - sorted by link, then as Linux keeps them */
struct addr4_list {
	struct addr4 *v;
	uint32_t cnt, cap;
};

void addr4_done(struct addr4_list *l);
ns_must_check int addr4_set(struct net *n, uint32_t link_id, const struct ns_ifaddr *a);
ns_must_check int addr4_del(struct net *n, uint32_t link_id, const struct ns_addr *a);
void addr4_del_link(struct net *n, uint32_t link_id);
bool addr4_is_subnet_known(const struct net *n, uint32_t link_id, const struct ns_ifaddr *a);
const struct addr4 *addr4_find(const struct net *n, const struct ns_addr *a);
ns_must_check bool addr4_select(const struct net *n, const struct link *l,
				const struct ns_addr *dst, uint8_t scope, struct ns_addr *ret_src);
