/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_group.c - multicast memberships, RFC 1112 7.1
 *
 * A membership is a group and a link, kept by the socket that joined. What comes to a group that no
 * socket joined on that link is dropped; else sockets hear it that joined, and those that did not say
 * otherwise (IP_MULTICAST_ALL). Copies of what this host sends come by the loop link and count for
 * members on any link.
 *
 * Routers and snooping switches are not told: there is no IGMP yet. On a bridge that does not snoop, or
 * with a querier that floods, groups are heard.
 */
#include <errno.h>

#include "udp/udp_int.h"

enum { LOOP_IFINDEX = 1 };

#define ALL_HOSTS 0xe0000001 /* 224.0.0.1, RFC 1112 4: always joined */

bool udp_sock_hears(const struct udp_sock *s, const struct ns_addr *group, uint32_t ifindex)
{
	for (uint32_t i = 0; i < s->group_cnt; i++) {
		const struct udp_group *g = &s->groups[i];

		if (ns_addr_eq(&g->addr, group) &&
		    (g->ifindex == ifindex || ifindex == LOOP_IFINDEX))
			return true;
	}
	return s->hears_all_groups;
}

static bool has_joined(const struct udp_sock *s, const struct ns_addr *group, uint32_t ifindex)
{
	for (uint32_t i = 0; i < s->group_cnt; i++)
		if (ns_addr_eq(&s->groups[i].addr, group) &&
		    (s->groups[i].ifindex == ifindex || ifindex == LOOP_IFINDEX))
			return true;
	return false;
}

bool udp_hears(const struct udp *u, const struct ns_addr *group, uint32_t ifindex)
{
	if (ns_addr_to_v4(group) == ALL_HOSTS)
		return true;
	list_for_each (it, &u->socks)
		if (has_joined(list_entry(it, struct udp_sock, all), group, ifindex))
			return true;
	return false;
}

/* linux v6.1 net/ipv4/igmp.c ip_mc_find_dev() */
static int find_ifindex(const struct udp *u, const struct ns_addr *group,
			const struct ns_addr *local, uint32_t ifindex, uint32_t *ret_ifindex)
{
	if (ifindex == 0)
		ifindex = net_ifindex_of(u->net, ns_addr_is_any(local) ? group : local);
	if (ifindex == 0 || !net_has_link(u->net, ifindex))
		return -ENODEV;
	*ret_ifindex = ifindex;
	return 0;
}

/** udp_group() - dgram_ops.group */
int udp_group(void *c, const struct ns_addr *group, const struct ns_addr *local, uint32_t ifindex,
	      bool is_join)
{
	struct udp_sock *s = c;
	int r;

	if (!ns_addr_is_v4(group) || !ns_addr_is_multicast(group))
		return -EINVAL;
	r = find_ifindex(s->udp, group, local, ifindex, &ifindex);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < s->group_cnt; i++) {
		if (!ns_addr_eq(&s->groups[i].addr, group) || s->groups[i].ifindex != ifindex)
			continue;
		if (is_join)
			return -EADDRINUSE;
		s->groups[i] = s->groups[--s->group_cnt];
		return 0;
	}
	if (!is_join)
		return -EADDRNOTAVAIL;
	if (s->group_cnt == UDP_GROUPS_MAX)
		return -ENOBUFS;
	s->groups[s->group_cnt++] = (struct udp_group){ .addr = *group, .ifindex = ifindex };
	return 0;
}

/** udp_multicast_if() - dgram_ops.multicast_if */
int udp_multicast_if(void *c, const struct ns_addr *local, uint32_t ifindex)
{
	struct udp_sock *s = c;

	if (ifindex == 0 && !ns_addr_is_any(local)) {
		if (!net_is_local(s->udp->net, local))
			return -EADDRNOTAVAIL;
		ifindex = net_ifindex_of(s->udp->net, local);
	}
	if (ifindex && !net_has_link(s->udp->net, ifindex))
		return -EADDRNOTAVAIL;
	s->mcast_src = *local;
	s->mcast_ifindex = ifindex;
	return 0;
}
