/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - the multicast groups that this host has joined, by link */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "ns/addr.h"

struct link;
struct net;

/** struct group - a group on a link, and how many sockets joined it there */
struct group {
	struct ns_addr addr;
	uint32_t link_id;
	uint32_t members;
};

/** struct group_list - all of them; the caller of net_new() has none */
struct group_list {
	struct group *v;
	uint32_t cnt, cap;
};

void group_done(struct group_list *l);
bool group_is_joined(const struct net *n, const struct link *l, const struct ns_addr *a);
