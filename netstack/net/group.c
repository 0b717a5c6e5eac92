/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c - memberships of this host, RFC 1112 7.1, RFC 3810 2
 *
 * A group is joined on a link, as often as sockets ask for it; the first join lets its frames in and is
 * told to routers and switches (report.c), the last leave forgets it and is told. Copies of what this host sends come by the loop link and count for members on
 * any link: which socket hears them is for the transport.
 */
#include "net/group.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "net/net_int.h"

enum { GROUPS_MAX = 4096 };

/** group_done() - forget all */
void group_done(struct group_list *l)
{
	free(l->v);
	*l = (struct group_list){ 0 };
}

static struct group *find(const struct net *n, uint32_t link_id, const struct ns_addr *a)
{
	for (uint32_t i = 0; i < n->groups.cnt; i++)
		if (n->groups.v[i].link_id == link_id && ns_addr_eq(&n->groups.v[i].addr, a))
			return &n->groups.v[i];
	return NULL;
}

/** group_is_joined() - did a socket of this host join @a on @l? On the loop link: on any */
bool group_is_joined(const struct net *n, const struct link *l, const struct ns_addr *a)
{
	if (!l->is_loop)
		return find(n, l->id, a) != NULL;
	for (uint32_t i = 0; i < n->groups.cnt; i++)
		if (ns_addr_eq(&n->groups.v[i].addr, a))
			return true;
	return false;
}

static int remember(struct group_list *l, const struct group *g)
{
	struct group *v;

	if (l->cnt >= GROUPS_MAX)
		return -ENOBUFS;
	v = vec_room(l->v, l->cnt, &l->cap, sizeof(*v));
	if (!v)
		return -ENOBUFS;
	l->v = v;
	l->v[l->cnt++] = *g;
	return 0;
}

int net_group_join(struct net *n, const struct ns_addr *group, uint32_t ifindex)
{
	struct link *l = net_link_by_ifindex(n, ifindex);
	struct group *g;
	int r;

	if (!l)
		return -ENODEV;
	g = find(n, l->id, group);
	if (g) {
		g->members++;
		return 0;
	}
	r = remember(&n->groups, &(struct group){ *group, l->id, 1 });
	if (r < 0)
		return r;
	report_join(n, l, group);
	if (!ns_addr_is_v4(group))
		link_hear6(l, (const uint8_t[]){ 0x33, 0x33, group->b[12], group->b[13],
						 group->b[14], group->b[15] });
	return 0;
}

void net_group_leave(struct net *n, const struct ns_addr *group, uint32_t ifindex)
{
	struct link *l = net_link_by_ifindex(n, ifindex);
	struct group *g = l ? find(n, l->id, group) : NULL;

	if (!g || --g->members > 0)
		return;
	*g = n->groups.v[--n->groups.cnt];
	if (ns_addr_is_v4(group) ||
	    !addr6_is_group(n, l, group)) /* else an address of ours is in it */
		report_leave(n, l, group);
}

bool net_group_has(const struct net *n, const struct ns_addr *group, uint32_t ifindex)
{
	const struct link *l = net_link_by_ifindex(n, ifindex);

	return l && group_is_joined(n, l, group);
}
