/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_group.c - multicast memberships of sockets and their source filters, RFC 1112 7.1, RFC 3493 5.2, RFC 3678
 *
 * Theory of operation
 *
 * A membership is a group, a link and a filter, kept by the socket that joined; net/group.c sums them up for the
 * link. What comes to a group that no socket joined on that link is dropped, and so is what the sum lets nobody
 * hear; else sockets hear it that joined and whose filter lets it through, and those that did not join and
 * did not say otherwise (IP_MULTICAST_ALL). Copies of what this host sends come by the loop link,
 * and count as if they had come by the link that the original left by.
 *
 * A filter has a mode and, once a source was named, a list. Calls that name a source belong to one mode: JOIN_SOURCE
 * and LEAVE_SOURCE to INCLUDE, BLOCK and UNBLOCK to EXCLUDE. Without a list the mode is whatever such a
 * call makes it, even one that fails; with one, emptied or not, it stays. INCLUDE without sources ends the membership
 * when it is asked for, but a call of the other mode can leave one behind. All of that is Linux's.
 *
 * Limits: net.ipv4.igmp_max_memberships groups of IPv4; igmp_max_msf and mld_max_msf sources, at most NS_FILTER_MAX;
 * what Linux would count against net.core.optmem_max: NS_OPTMEM_MAX octets a socket.
 *
 * References: linux v6.1 net/ipv4/igmp.c, net/ipv6/mcast.c
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "udp/udp_int.h"

enum {
	/* what linux allocates: ip_mc_socklist, ipv6_mc_socklist; ip_sf_socklist, and how that grows */
	MEMBER4_LEN = 48,
	MEMBER6_LEN = 56,
	LIST_LEN = 24,
	LIST_STEP = 10,
};

#define ALL_HOSTS 0xe0000001 /* 224.0.0.1, RFC 1112 4: always joined */

/* RFC 4291 2.7.1, RFC 1112 4 */
static bool is_always_joined(const struct ns_addr *group)
{
	static const struct ns_addr all_nodes = { { 0xff, 2, [15] = 1 } };

	return ns_addr_is_v4(group) ? ns_addr_to_v4(group) == ALL_HOSTS
				    : ns_addr_eq(group, &all_nodes);
}

/* ---- who hears what ---- */

/* @ifindex 0: on any link */
static struct udp_group *find(const struct udp_sock *s, const struct ns_addr *group,
			      uint32_t ifindex)
{
	for (uint32_t i = 0; i < s->group_cnt; i++)
		if (ns_addr_eq(&s->groups[i].addr, group) &&
		    (ifindex == 0 || s->groups[i].ifindex == ifindex))
			return &s->groups[i];
	return NULL;
}

static struct ns_addr *find_source(const struct udp_group *g, const struct ns_addr *a)
{
	for (uint32_t i = 0; i < g->source_cnt; i++)
		if (ns_addr_eq(&g->sources[i], a))
			return &g->sources[i];
	return NULL;
}

bool udp_sock_hears(const struct udp_sock *s, const struct ns_addr *group,
		    const struct ns_addr *src, uint32_t ifindex)
{
	const struct udp_group *g = ifindex ? find(s, group, ifindex) : NULL;

	if (!g)
		return s->fam[!ns_addr_is_v4(group)].hears_all_groups;
	return g->is_exclude == (find_source(g, src) == NULL);
}

enum drop udp_hears(const struct udp *u, const struct ns_addr *group, const struct ns_addr *src,
		    uint32_t ifindex)
{
	if (is_always_joined(group))
		return DROP_NONE;
	if (!net_group_has(u->net, group, ifindex))
		return DROP_UDP_NO_MEMBER;
	return net_group_hears(u->net, group, src, ifindex) ? DROP_NONE : DROP_GROUP_FILTERED;
}

/* ---- memberships ---- */

static struct net_filter filter_of(const struct udp_group *g)
{
	return (struct net_filter){ g->is_exclude, g->source_cnt, g->sources };
}

static uint32_t list_len(const struct udp_group *g, uint32_t cnt)
{
	uint32_t addr_len = ns_addr_is_v4(&g->addr) ? 4 : 16;

	return LIST_LEN + (cnt + LIST_STEP - 1) / LIST_STEP * LIST_STEP * addr_len;
}

static uint32_t member_len(const struct udp_group *g)
{
	return (ns_addr_is_v4(&g->addr) ? MEMBER4_LEN : MEMBER6_LEN) +
	       (g->has_list ? list_len(g, g->source_cnt) : 0);
}

static bool has_room(const struct udp_sock *s, uint32_t more)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < s->group_cnt; i++)
		used += member_len(&s->groups[i]);
	return used + more < NS_OPTMEM_MAX;
}

static uint32_t sources_max(const struct udp_sock *s, const struct ns_addr *group)
{
	int knob = core_knob(s->udp->core,
			     ns_addr_is_v4(group) ? NS_KNOB_igmp_max_msf : NS_KNOB_mld_max_msf);

	return ns_min_u((uint32_t)knob, NS_FILTER_MAX);
}

/* linux v6.1 net/ipv4/igmp.c ip_mc_find_dev(), net/ipv6/mcast.c __ipv6_sock_mc_join() */
static int find_ifindex(const struct udp_sock *s, const struct ns_group_req *q,
			uint32_t *ret_ifindex)
{
	struct net *net = s->udp->net;
	uint32_t ifindex = q->ifindex;

	if (ifindex == 0 && !ns_addr_is_any(&q->local) && !net_is_local(net, &q->local))
		return -ENODEV;
	if (ifindex == 0)
		ifindex = net_ifindex_of(net, ns_addr_is_any(&q->local) ? &q->group : &q->local);
	if (ifindex == 0 || !net_has_link(net, ifindex))
		return -ENODEV;
	*ret_ifindex = ifindex;
	return 0;
}

static int add(struct udp_sock *s, const struct ns_group_req *q, uint32_t ifindex, bool is_exclude)
{
	struct udp_group fresh = {
		.addr = q->group, .local = q->local, .ifindex = ifindex, .is_exclude = is_exclude
	};
	const struct net_filter is = filter_of(&fresh);
	void *v = vec_room(s->groups, s->group_cnt, &s->group_cap, sizeof(fresh));
	int r;

	if (!v)
		return -ENOBUFS;
	s->groups = v;
	r = net_group_set(s->udp->net, &q->group, ifindex, NULL, &is);
	if (r == 0)
		s->groups[s->group_cnt++] = fresh;
	return r;
}

/* linux v6.1 __ip_mc_join_group() */
static int join4(struct udp_sock *s, const struct ns_group_req *q, bool is_exclude)
{
	uint32_t max = (uint32_t)core_knob(s->udp->core, NS_KNOB_igmp_max_memberships);
	uint32_t cnt = 0, ifindex;
	int r = find_ifindex(s, q, &ifindex);

	if (r < 0)
		return r;
	if (find(s, &q->group, ifindex))
		return -EADDRINUSE;
	for (uint32_t i = 0; i < s->group_cnt; i++)
		cnt += ns_addr_is_v4(&s->groups[i].addr);
	return cnt < max && has_room(s, MEMBER4_LEN) ? add(s, q, ifindex, is_exclude) : -ENOBUFS;
}

/* linux v6.1 __ipv6_sock_mc_join() */
static int join6(struct udp_sock *s, const struct ns_group_req *q, bool is_exclude)
{
	uint32_t ifindex;
	int r;

	if (find(s, &q->group, q->ifindex))
		return -EADDRINUSE;
	if (!has_room(s, MEMBER6_LEN))
		return -ENOMEM;
	r = find_ifindex(s, q, &ifindex);
	return r < 0 ? r : add(s, q, ifindex, is_exclude);
}

static int join(struct udp_sock *s, const struct ns_group_req *q, bool is_exclude)
{
	return ns_addr_is_v4(&q->group) ? join4(s, q, is_exclude) : join6(s, q, is_exclude);
}

static void drop(struct udp_sock *s, struct udp_group *g)
{
	const struct net_filter was = filter_of(g);

	(void)!net_group_set(s->udp->net, &g->addr, g->ifindex, &was, NULL);
	free(g->sources);
	*g = s->groups[--s->group_cnt];
}

void udp_groups_leave(struct udp_sock *s)
{
	while (s->group_cnt)
		drop(s, &s->groups[s->group_cnt - 1]);
	free(s->groups);
	s->groups = NULL;
	s->group_cap = 0;
}

/* linux v6.1 ip_mc_leave_group(): where the address is no more of any link, the one that it was joined by */
static int leave4(struct udp_sock *s, const struct ns_group_req *q)
{
	uint32_t ifindex = q->ifindex;

	if (find_ifindex(s, q, &ifindex) < 0 && ifindex == 0 && ns_addr_is_any(&q->local))
		return -ENODEV;
	for (uint32_t i = 0; i < s->group_cnt; i++) {
		struct udp_group *g = &s->groups[i];

		if (!ns_addr_eq(&g->addr, &q->group) ||
		    (ifindex ? g->ifindex != ifindex : !ns_addr_eq(&g->local, &q->local)))
			continue;
		drop(s, g);
		return 0;
	}
	return -EADDRNOTAVAIL;
}

static int leave(struct udp_sock *s, const struct ns_group_req *q)
{
	struct udp_group *g;

	if (ns_addr_is_v4(&q->group))
		return leave4(s, q);
	if (!ns_addr_is_multicast(&q->group))
		return -EINVAL;
	g = find(s, &q->group, q->ifindex);
	if (!g)
		return -EADDRNOTAVAIL;
	drop(s, g);
	return 0;
}

/* ---- sources ---- */

static int set_mode(struct udp_sock *s, struct udp_group *g, bool is_exclude)
{
	const struct net_filter was = filter_of(g);
	struct net_filter is = was;
	int r;

	if (g->is_exclude == is_exclude)
		return 0;
	if (g->has_list)
		return -EINVAL;
	is.is_exclude = is_exclude;
	r = net_group_set(s->udp->net, &g->addr, g->ifindex, &was, &is);
	if (r == 0)
		g->is_exclude = is_exclude;
	return r;
}

static int source_add(struct udp_sock *s, struct udp_group *g, const struct ns_addr *a)
{
	struct net_filter was, is;
	void *v;
	int r;

	if (g->has_list && g->source_cnt >= sources_max(s, &g->addr))
		return -ENOBUFS;
	if (!has_room(s, list_len(g, g->source_cnt + 1)))
		return -ENOBUFS;
	v = vec_room(g->sources, g->source_cnt, &g->source_cap, sizeof(*a));
	if (!v)
		return -ENOBUFS;
	g->sources = v;
	g->has_list = true;
	if (find_source(g, a))
		return -EADDRNOTAVAIL;
	g->sources[g->source_cnt] = *a;
	was = is = filter_of(g);
	is.cnt++;
	r = net_group_set(s->udp->net, &g->addr, g->ifindex, &was, &is);
	if (r == 0)
		g->source_cnt++;
	return r;
}

static int source_del(struct udp_sock *s, struct udp_group *g, const struct ns_addr *a)
{
	struct ns_addr *at = find_source(g, a);
	struct net_filter was, is;
	uint32_t behind;
	int r;

	if (!at)
		return -EADDRNOTAVAIL;
	if (g->source_cnt == 1 && !g->is_exclude) {
		drop(s, g);
		return 0;
	}
	behind = g->source_cnt - (uint32_t)(at - g->sources) - 1;
	memmove(at, at + 1, behind * sizeof(*at));
	at[behind] = *a;
	was = is = filter_of(g);
	is.cnt--;
	r = net_group_set(s->udp->net, &g->addr, g->ifindex, &was, &is);
	if (r == 0)
		g->source_cnt--;
	return r;
}

/* linux v6.1 ip_mc_source(), ip6_mc_source() */
static int source(struct udp_sock *s, const struct ns_group_req *q, bool is_exclude, bool is_add)
{
	bool is_v4 = ns_addr_is_v4(&q->group);
	struct udp_group *g;
	struct ns_addr a;
	uint32_t ifindex;
	int r = find_ifindex(s, q, &ifindex);

	if (r < 0)
		return r;
	g = find(s, &q->group, is_v4 ? ifindex : q->ifindex);
	if (!g)
		return -EINVAL;
	r = set_mode(s, g, is_exclude);
	if (r < 0)
		return r;
	a = net_zone(s->udp->net, q->source, g->ifindex);
	return is_add ? source_add(s, g, &a) : source_del(s, g, &a);
}

static bool is_sane(const struct udp_sock *s, const struct ns_addr *group)
{
	return ns_addr_is_multicast(group) && (ns_addr_is_v4(group) || s->bind.is_v6);
}

/** udp_group() - dgram_ops.group */
int udp_group(void *c, enum ns_group_what what, const struct ns_group_req *q)
{
	struct udp_sock *s = c;
	int r;

	if (what == NS_GROUP_LEAVE && (ns_addr_is_v4(&q->group) || s->bind.is_v6))
		return leave(s, q);
	if (!is_sane(s, &q->group))
		return -EINVAL;
	if (what == NS_GROUP_JOIN)
		return join(s, q, true);
	if (what == NS_GROUP_JOIN_SOURCE) {
		r = join(s, q, false);
		if (r < 0 && r != -EADDRINUSE)
			return r;
	}
	return source(s, q, what == NS_GROUP_BLOCK_SOURCE || what == NS_GROUP_UNBLOCK_SOURCE,
		      what == NS_GROUP_JOIN_SOURCE || what == NS_GROUP_BLOCK_SOURCE);
}

/* ---- whole filters ---- */

static int replace(struct udp_sock *s, struct udp_group *g, const struct ns_filter *f)
{
	const struct net_filter was = filter_of(g);
	struct net_filter is = { .is_exclude = f->is_exclude, .cnt = f->cnt };
	struct ns_addr *v = NULL;
	int r;

	if (f->cnt > 0) {
		if (!has_room(s, list_len(g, f->cnt)) || !(v = malloc(f->cnt * sizeof(*v))))
			return -ENOBUFS;
		for (uint32_t i = 0; i < f->cnt; i++)
			v[i] = net_zone(s->udp->net, f->source[i], g->ifindex);
		is.sources = v;
	}
	r = net_group_set(s->udp->net, &g->addr, g->ifindex, &was, &is);
	if (r < 0) {
		free(v);
		return r;
	}
	free(g->sources);
	g->sources = v;
	g->source_cnt = g->source_cap = f->cnt;
	g->is_exclude = f->is_exclude;
	g->has_list = f->cnt > 0;
	return 0;
}

/** udp_set_filter() - dgram_ops.set_filter; linux v6.1 ip_mc_msfilter(), ip6_mc_msfilter() */
int udp_set_filter(void *c, const struct ns_group_req *q, const struct ns_filter *f)
{
	struct udp_sock *s = c;
	struct udp_group *g = NULL;
	uint32_t ifindex;
	int r;

	if (f->cnt > sources_max(s, &q->group))
		return -ENOBUFS;
	if (!is_sane(s, &q->group))
		return -EINVAL;
	r = find_ifindex(s, q, &ifindex);
	if (r < 0)
		return r;
	if (!f->is_exclude && f->cnt == 0)
		return leave(s, q);
	if (!ns_addr_is_v4(&q->group))
		ifindex = q->ifindex;
	if (ifindex)
		g = find(s, &q->group, ifindex);
	return g ? replace(s, g, f) : -EINVAL;
}

/** udp_get_filter() - dgram_ops.get_filter; linux v6.1 ip_mc_msfget(), ip_mc_gsfget(), ip6_mc_msfget() */
int udp_get_filter(void *c, const struct ns_group_req *q, struct ns_filter *ret_filter)
{
	struct udp_sock *s = c;
	const struct udp_group *g = NULL;
	uint32_t ifindex = q->ifindex;
	int r;

	if (!is_sane(s, &q->group))
		return -EINVAL;
	if (!q->is_exact) {
		r = find_ifindex(s, q, &ifindex);
		if (r < 0)
			return r;
	}
	if (ifindex)
		g = find(s, &q->group, ifindex);
	if (!g)
		return -EADDRNOTAVAIL;
	*ret_filter = (struct ns_filter){ .is_exclude = g->is_exclude, .cnt = g->source_cnt };
	for (uint32_t i = 0; i < g->source_cnt; i++)
		ret_filter->source[i] = ns_addr_zoned(g->sources[i], 0);
	return 0;
}

/** udp_multicast_if() - dgram_ops.multicast_if */
int udp_multicast_if(void *c, const struct ns_addr *local, uint32_t ifindex)
{
	struct udp_sock *s = c;
	bool is_v6 = !ns_addr_is_v4(local);

	if (ifindex == 0 && !ns_addr_is_any(local)) {
		if (!net_is_local(s->udp->net, local))
			return -EADDRNOTAVAIL;
		ifindex = net_ifindex_of(s->udp->net, local);
	}
	if (ifindex && !net_has_link(s->udp->net, ifindex))
		return is_v6 ? -ENODEV : -EADDRNOTAVAIL;
	if (s->bind.ifindex && ifindex && s->bind.ifindex != ifindex)
		return -EINVAL;
	s->fam[is_v6].mcast_src = *local;
	s->fam[is_v6].mcast_ifindex = ifindex;
	return 0;
}
