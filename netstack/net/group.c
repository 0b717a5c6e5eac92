/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c - memberships of this host, RFC 1112 7.1, RFC 9776 3.2, RFC 9777 4.2
 *
 * Theory of operation
 *
 * A socket that joined a group on a link has a filter there: INCLUDE these sources, or EXCLUDE those; who
 * joined without naming one excludes nobody. What the link hears is the sum of them:
 *
 *   any EXCLUDE   EXCLUDE those that each such filter has and no INCLUDE names
 *   none          INCLUDE those that any filter has
 *
 * Both can be read off counters: how many filters of each mode there are, and how many name a source. A
 * change of a filter is: the new one is counted, the old one is not any more, and what that makes of the sum is
 * told to routers and switches (report.c) as one step. The first join lets the group's frames in. Links are
 * known by their numbers, so that a membership outlasts a link that goes and comes back.
 *
 * Copies of what this host sends come by the loop link and count for members on any link: which socket
 * hears them is for the transport, as is which socket hears what the link heard for another.
 *
 * Limits: GROUPS_MAX groups, GROUP_SOURCES_MAX sources of all of them together. How many a socket may have is
 * the transport's to say.
 */
#include "net/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "net/net_int.h"

enum {
	GROUPS_MAX = 4096,
	GROUP_SOURCES_MAX = 65536,
};

/** group_done() - forget all */
void group_done(struct group_list *l)
{
	for (uint32_t i = 0; i < l->cnt; i++)
		free(l->v[i].sources);
	free(l->v);
	*l = (struct group_list){ 0 };
}

static struct group *find(const struct net *n, uint32_t ifindex, const struct ns_addr *a)
{
	for (uint32_t i = 0; i < n->groups.cnt; i++)
		if (n->groups.v[i].ifindex == ifindex && ns_addr_eq(&n->groups.v[i].addr, a))
			return &n->groups.v[i];
	return NULL;
}

const struct group *group_find(const struct net *n, const struct link *l, const struct ns_addr *a)
{
	return find(n, l->config.ifindex, a);
}

/* Where @a is among the sources, or would be. */
static uint32_t place_of(const struct group *g, const struct ns_addr *a)
{
	return vec_place(g->sources, g->source_cnt, sizeof(g->sources[0]), a, sizeof(*a));
}

static struct group_source *find_source(const struct group *g, const struct ns_addr *a)
{
	uint32_t i = place_of(g, a);

	return i < g->source_cnt && ns_addr_eq(&g->sources[i].addr, a) ? &g->sources[i] : NULL;
}

bool group_lists(const struct group *g, const struct group_source *s)
{
	return g->cnt[1] ? s->cnt[1] == g->cnt[1] && s->cnt[0] == 0 : s->cnt[0] > 0;
}

static bool hears(const struct group *g, const struct ns_addr *src)
{
	const struct group_source *s = find_source(g, src);

	return (s && group_lists(g, s)) == (g->cnt[1] == 0);
}

/** group_is_joined() - did a socket of this host join @a on @l? On the loop link: on any */
bool group_is_joined(const struct net *n, const struct link *l, const struct ns_addr *a)
{
	if (!l->is_loop)
		return find(n, l->config.ifindex, a) != NULL;
	for (uint32_t i = 0; i < n->groups.cnt; i++)
		if (ns_addr_eq(&n->groups.v[i].addr, a))
			return true;
	return false;
}

/** group_hears() - does @l hear @src, where a socket of this host joined @a? On the loop link: does any */
bool group_hears(const struct net *n, const struct link *l, const struct ns_addr *a,
		 const struct ns_addr *src)
{
	const struct group *g = l->is_loop ? NULL : find(n, l->config.ifindex, a);

	if (!l->is_loop)
		return g && hears(g, src);
	for (uint32_t i = 0; i < n->groups.cnt; i++)
		if (ns_addr_eq(&n->groups.v[i].addr, a) && hears(&n->groups.v[i], src))
			return true;
	return false;
}

/* ---- counters ---- */

/* A filter that names a source twice means it once. */
static bool is_repeated(const struct net_filter *f, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (ns_addr_eq(&f->sources[k], &f->sources[i]))
			return true;
	return false;
}

static struct group_source *get_source(struct net *n, struct group *g, const struct ns_addr *a)
{
	const struct group_source fresh = { .addr = *a };
	uint32_t i = place_of(g, a);
	void *v;

	if (i < g->source_cnt && ns_addr_eq(&g->sources[i].addr, a))
		return &g->sources[i];
	if (n->groups.source_cnt >= GROUP_SOURCES_MAX)
		return NULL;
	v = vec_insert(g->sources, &g->source_cnt, &g->source_cap, sizeof(fresh), i, &fresh);
	if (!v)
		return NULL;
	g->sources = v;
	n->groups.source_cnt++;
	return &g->sources[i];
}

static void sources_uncount(struct net *n, struct group *g, const struct net_filter *f,
			    uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		struct group_source *s = is_repeated(f, i) ? NULL : find_source(g, &f->sources[i]);
		uint32_t at;

		if (!s || --s->cnt[f->is_exclude] > 0 || s->cnt[!f->is_exclude] > 0)
			continue;
		at = (uint32_t)(s - g->sources);
		g->source_cnt--;
		n->groups.source_cnt--;
		memmove(s, s + 1, (g->source_cnt - at) * sizeof(*s));
	}
}

/* All or nothing: 0, -ENOBUFS */
static int count(struct net *n, struct group *g, const struct net_filter *f)
{
	for (uint32_t i = 0; i < f->cnt; i++) {
		struct group_source *s;

		if (is_repeated(f, i))
			continue;
		s = get_source(n, g, &f->sources[i]);
		if (!s) {
			sources_uncount(n, g, f, i);
			return -ENOBUFS;
		}
		s->cnt[f->is_exclude]++;
	}
	g->cnt[f->is_exclude]++;
	return 0;
}

static void uncount(struct net *n, struct group *g, const struct net_filter *f)
{
	sources_uncount(n, g, f, f->cnt);
	g->cnt[f->is_exclude]--;
}

/* ---- joined and left ---- */

static void let_in(struct link *l, const struct ns_addr *group)
{
	if (!ns_addr_is_v4(group))
		link_hear6(l, (const uint8_t[]){ 0x33, 0x33, group->b[12], group->b[13],
						 group->b[14], group->b[15] });
}

/** group_add_link() - @l is new; its number may have been another's, of whose groups sockets are members still */
void group_add_link(struct net *n, struct link *l)
{
	for (uint32_t i = 0; i < n->groups.cnt; i++) {
		if (n->groups.v[i].ifindex != l->config.ifindex)
			continue;
		let_in(l, &n->groups.v[i].addr);
		report_change(n, l, &n->groups.v[i].addr);
	}
}

static struct group *get(struct net *n, struct link *l, const struct ns_addr *group)
{
	struct group_list *list = &n->groups;
	struct group *g = find(n, l->config.ifindex, group), *v;

	if (g || list->cnt >= GROUPS_MAX)
		return g;
	v = vec_room(list->v, list->cnt, &list->cap, sizeof(*v));
	if (!v)
		return NULL;
	list->v = v;
	v[list->cnt] = (struct group){ .addr = *group, .ifindex = l->config.ifindex };
	let_in(l, group);
	return &v[list->cnt++];
}

static void forget_unused(struct net *n, struct group *g)
{
	if (g->cnt[0] || g->cnt[1])
		return;
	free(g->sources);
	*g = n->groups.v[--n->groups.cnt];
}

int net_group_set(struct net *n, const struct ns_addr *group, uint32_t ifindex,
		  const struct net_filter *was, const struct net_filter *is)
{
	struct link *l = net_link_by_ifindex(n, ifindex);
	struct group *g;
	int r = 0;

	if (!l && is)
		return -ENODEV;
	g = is ? get(n, l, group) : find(n, ifindex, group);
	if (!g)
		return is ? -ENOBUFS : 0;
	if (is)
		r = count(n, g, is);
	if (was && r == 0)
		uncount(n, g, was);
	forget_unused(n, g);
	if (l && r == 0)
		report_change(n, l, group);
	return r;
}

bool net_group_has(const struct net *n, const struct ns_addr *group, uint32_t ifindex)
{
	const struct link *l = net_link_by_ifindex(n, ifindex);

	return l && group_is_joined(n, l, group);
}

bool net_group_hears(const struct net *n, const struct ns_addr *group, const struct ns_addr *src,
		     uint32_t ifindex)
{
	const struct link *l = net_link_by_ifindex(n, ifindex);

	return l && group_hears(n, l, group, src);
}
