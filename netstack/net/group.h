/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - the multicast groups that this host has joined, by link, and from whom it hears them */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "ns/addr.h"

struct link;
struct net;

/** struct group_source - a source that filters name, and how many do: [0] of mode INCLUDE, [1] EXCLUDE */
struct group_source {
	struct ns_addr addr;
	uint32_t cnt[2];
};

/** struct group - a group on the link of that number: what all sockets together want of it */
struct group {
	struct ns_addr addr;
	uint32_t ifindex;
	uint32_t cnt[2];              /* sockets in it, by mode, as above */
	struct group_source *sources; /* by address */
	uint32_t source_cnt, source_cap;
};

/** struct group_list - all of them; the caller of net_new() has none */
struct group_list {
	struct group *v;
	uint32_t cnt, cap;
	uint32_t source_cnt; /* of all groups */
};

void group_done(struct group_list *l);
void group_add_link(struct net *n, struct link *l);
/** group_find() - borrowed until one is joined or left; NULL: no socket is in it there */
const struct group *group_find(const struct net *n, const struct link *l, const struct ns_addr *a);
bool group_is_joined(const struct net *n, const struct link *l, const struct ns_addr *a);
bool group_hears(const struct net *n, const struct link *l, const struct ns_addr *a,
		 const struct ns_addr *src);
/** group_lists() - is this source in the list of the link's state, RFC 9776 3.2? */
bool group_lists(const struct group *g, const struct group_source *s);
