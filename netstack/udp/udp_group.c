/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_group.c - multicast memberships of sockets, RFC 1112 7.1, RFC 3493 5.2
 *
 * A membership is a group and a link, kept by the socket that joined; net/group.c counts them. What comes
 * to a group that no socket joined on that link is dropped; else sockets hear it that joined, and those
 * that did not say otherwise (IP_MULTICAST_ALL). Copies of what this host sends come by the loop link,
 * and count as if they had come by the link that the original left by.
 */
#include <errno.h>

#include "udp/udp_int.h"

#define ALL_HOSTS 0xe0000001 /* 224.0.0.1, RFC 1112 4: always joined */

/* RFC 4291 2.7.1, RFC 1112 4 */
static bool is_always_joined(const struct ns_addr *group)
{
	static const struct ns_addr all_nodes = { { 0xff, 2, [15] = 1 } };

	return ns_addr_is_v4(group) ? ns_addr_to_v4(group) == ALL_HOSTS
				    : ns_addr_eq(group, &all_nodes);
}

bool udp_sock_hears(const struct udp_sock *s, const struct ns_addr *group, uint32_t ifindex)
{
	for (uint32_t i = 0; i < s->group_cnt; i++)
		if (ns_addr_eq(&s->groups[i].addr, group) && s->groups[i].ifindex == ifindex)
			return true;
	return s->fam[!ns_addr_is_v4(group)].hears_all_groups;
}

bool udp_hears(const struct udp *u, const struct ns_addr *group, uint32_t ifindex)
{
	return is_always_joined(group) || net_group_has(u->net, group, ifindex);
}

/* linux v6.1 net/ipv4/igmp.c ip_mc_find_dev(), net/ipv6/mcast.c ipv6_sock_mc_join() */
static int find_ifindex(const struct udp_sock *s, const struct ns_addr *group,
			const struct ns_addr *local, uint32_t ifindex, uint32_t *ret_ifindex)
{
	struct net *net = s->udp->net;

	if (ifindex == 0)
		ifindex = net_ifindex_of(net, ns_addr_is_any(local) ? group : local);
	if (ifindex == 0 || !net_has_link(net, ifindex))
		return -ENODEV;
	*ret_ifindex = ifindex;
	return 0;
}

static int join(struct udp_sock *s, const struct ns_addr *group, uint32_t ifindex)
{
	int r;

	if (s->group_cnt == UDP_GROUPS_MAX)
		return -ENOBUFS;
	r = net_group_join(s->udp->net, group, ifindex);
	if (r == 0)
		s->groups[s->group_cnt++] =
			(struct udp_group){ .addr = *group, .ifindex = ifindex };
	return r;
}

static void leave(struct udp_sock *s, uint32_t i)
{
	net_group_leave(s->udp->net, &s->groups[i].addr, s->groups[i].ifindex);
	s->groups[i] = s->groups[--s->group_cnt];
}

void udp_groups_leave(struct udp_sock *s)
{
	while (s->group_cnt)
		leave(s, s->group_cnt - 1);
}

/** udp_group() - dgram_ops.group */
int udp_group(void *c, const struct ns_addr *group, const struct ns_addr *local, uint32_t ifindex,
	      bool is_join)
{
	struct udp_sock *s = c;
	int r;

	if (!ns_addr_is_multicast(group) || (!ns_addr_is_v4(group) && !s->bind.is_v6))
		return -EINVAL;
	r = find_ifindex(s, group, local, ifindex, &ifindex);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < s->group_cnt; i++) {
		if (!ns_addr_eq(&s->groups[i].addr, group) || s->groups[i].ifindex != ifindex)
			continue;
		if (is_join)
			return -EADDRINUSE;
		leave(s, i);
		return 0;
	}
	return is_join ? join(s, group, ifindex) : -EADDRNOTAVAIL;
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
