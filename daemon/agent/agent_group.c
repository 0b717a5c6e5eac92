/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_group.c - see agent_group.h
 *
 * Theory of operation
 *
 * A row says what an option wants and how its value is laid out. Those of a whole filter are laid out alike, but
 * for where mode and number are and how long a source is.
 *
 * What is wrong with a value is said in Linux's order: its length, the number of sources, the families of the
 * addresses. Whether the group is one, is joined and so on is for the worker.
 *
 * References: linux v6.1 net/ipv4/ip_sockglue.c, net/ipv6/ipv6_sockglue.c
 */
#include "daemon/agent/agent_group.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

_Static_assert(sizeof(struct group_filter) - sizeof(struct sockaddr_storage) == 144, "gf_slist");
_Static_assert(sizeof(struct ip_msfilter) - sizeof(struct in_addr) == 16, "imsf_slist");

static struct ns_addr addr4_from(uint32_t wire)
{
	return ns_addr_v4(ntohl(wire));
}

/* An address in a struct sockaddr_storage. Return: 0, -EADDRNOTAVAIL when it is of another family */
static int addr_from(int family, const void *ss, struct ns_addr *ret_addr)
{
	struct sockaddr_in6 sin6;
	struct sockaddr_in sin;

	if (family == AF_INET) {
		memcpy(&sin, ss, sizeof(sin));
		*ret_addr = addr4_from(sin.sin_addr.s_addr);
		return sin.sin_family == AF_INET ? 0 : -EADDRNOTAVAIL;
	}
	memcpy(&sin6, ss, sizeof(sin6));
	memcpy(ret_addr->b, &sin6.sin6_addr, sizeof(ret_addr->b));
	return sin6.sin6_family == AF_INET6 ? 0 : -EADDRNOTAVAIL;
}

/* struct ip_mreq or ip_mreqn */
static int parse_mreq(const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	struct ip_mreqn m = { 0 };

	if (len < sizeof(struct ip_mreq))
		return -EINVAL;
	memcpy(&m, val, len < sizeof(m) ? sizeof(struct ip_mreq) : sizeof(m));
	g->group = addr4_from(m.imr_multiaddr.s_addr);
	g->local = addr4_from(m.imr_address.s_addr);
	g->ifindex = (uint32_t)m.imr_ifindex;
	return 0;
}

/* likewise, or an address alone */
static int parse_mreq_if(const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	struct in_addr in;

	if (len >= sizeof(struct ip_mreq))
		return parse_mreq(val, len, g);
	if (len < sizeof(in))
		return -EINVAL;
	memcpy(&in, val, sizeof(in));
	g->local = addr4_from(in.s_addr);
	return 0;
}

static int parse_mreq_source(const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	struct ip_mreq_source m;

	if (len != sizeof(m))
		return -EINVAL;
	memcpy(&m, val, sizeof(m));
	g->group = addr4_from(m.imr_multiaddr.s_addr);
	g->local = addr4_from(m.imr_interface.s_addr);
	g->source = addr4_from(m.imr_sourceaddr.s_addr);
	return 0;
}

static int group_req(int family, const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	struct group_req q;

	if (len < sizeof(q))
		return -EINVAL;
	memcpy(&q, val, sizeof(q));
	g->ifindex = q.gr_interface;
	if (addr_from(family, &q.gr_group, &g->group) == 0)
		return 0;
	return family == AF_INET ? -EINVAL : -EADDRNOTAVAIL;
}

static int parse_group_req(const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	return group_req(AF_INET, val, len, g);
}

static int parse_group_req6(const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	return group_req(AF_INET6, val, len, g);
}

static int group_source_req(int family, const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	struct group_source_req q;
	int r;

	if (len < sizeof(q) || (family == AF_INET && len > sizeof(q)))
		return -EINVAL;
	memcpy(&q, val, sizeof(q));
	g->ifindex = q.gsr_interface;
	r = addr_from(family, &q.gsr_group, &g->group);
	return r < 0 ? r : addr_from(family, &q.gsr_source, &g->source);
}

static int parse_source_req(const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	return group_source_req(AF_INET, val, len, g);
}

static int parse_source_req6(const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	return group_source_req(AF_INET6, val, len, g);
}

static int parse_mreq6(const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	struct ipv6_mreq m;

	if (len < sizeof(m))
		return -EINVAL;
	memcpy(&m, val, sizeof(m));
	memcpy(g->group.b, &m.ipv6mr_multiaddr, sizeof(g->group.b));
	g->ifindex = m.ipv6mr_interface;
	return 0;
}

static int parse_if6(const uint8_t *val, size_t len, struct ipc_dgram_group *g)
{
	int32_t ifindex;

	if (len < sizeof(ifindex))
		return -EINVAL;
	memcpy(&ifindex, val, sizeof(ifindex));
	g->ifindex = (uint32_t)ifindex;
	return ifindex < 0 ? -EINVAL : 0;
}

static const struct group_opt group_opts[] = {
	{ IPPROTO_IP, IP_ADD_MEMBERSHIP, NS_GROUP_JOIN, parse_mreq },
	{ IPPROTO_IP, IP_DROP_MEMBERSHIP, NS_GROUP_LEAVE, parse_mreq },
	{ IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP, NS_GROUP_JOIN_SOURCE, parse_mreq_source },
	{ IPPROTO_IP, IP_DROP_SOURCE_MEMBERSHIP, NS_GROUP_LEAVE_SOURCE, parse_mreq_source },
	{ IPPROTO_IP, IP_BLOCK_SOURCE, NS_GROUP_BLOCK_SOURCE, parse_mreq_source },
	{ IPPROTO_IP, IP_UNBLOCK_SOURCE, NS_GROUP_UNBLOCK_SOURCE, parse_mreq_source },
	{ IPPROTO_IP, MCAST_JOIN_GROUP, NS_GROUP_JOIN, parse_group_req },
	{ IPPROTO_IP, MCAST_LEAVE_GROUP, NS_GROUP_LEAVE, parse_group_req },
	{ IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP, NS_GROUP_JOIN_SOURCE, parse_source_req },
	{ IPPROTO_IP, MCAST_LEAVE_SOURCE_GROUP, NS_GROUP_LEAVE_SOURCE, parse_source_req },
	{ IPPROTO_IP, MCAST_BLOCK_SOURCE, NS_GROUP_BLOCK_SOURCE, parse_source_req },
	{ IPPROTO_IP, MCAST_UNBLOCK_SOURCE, NS_GROUP_UNBLOCK_SOURCE, parse_source_req },
	{ IPPROTO_IP, IP_MULTICAST_IF, IPC_GROUP_IF, parse_mreq_if },
	{ IPPROTO_IPV6, IPV6_JOIN_GROUP, NS_GROUP_JOIN, parse_mreq6 },
	{ IPPROTO_IPV6, IPV6_LEAVE_GROUP, NS_GROUP_LEAVE, parse_mreq6 },
	{ IPPROTO_IPV6, MCAST_JOIN_GROUP, NS_GROUP_JOIN, parse_group_req6 },
	{ IPPROTO_IPV6, MCAST_LEAVE_GROUP, NS_GROUP_LEAVE, parse_group_req6 },
	{ IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP, NS_GROUP_JOIN_SOURCE, parse_source_req6 },
	{ IPPROTO_IPV6, MCAST_LEAVE_SOURCE_GROUP, NS_GROUP_LEAVE_SOURCE, parse_source_req6 },
	{ IPPROTO_IPV6, MCAST_BLOCK_SOURCE, NS_GROUP_BLOCK_SOURCE, parse_source_req6 },
	{ IPPROTO_IPV6, MCAST_UNBLOCK_SOURCE, NS_GROUP_UNBLOCK_SOURCE, parse_source_req6 },
	{ IPPROTO_IPV6, IPV6_MULTICAST_IF, IPC_GROUP_IF, parse_if6 },
};

static bool is_level_of(int family, int level)
{
	return level == IPPROTO_IP || family == AF_INET6;
}

const struct group_opt *group_opt_find(int family, int level, int name)
{
	for (size_t i = 0; i < NS_ARRAY_LEN(group_opts); i++)
		if (group_opts[i].level == level && group_opts[i].name == name &&
		    is_level_of(family, level))
			return &group_opts[i];
	return NULL;
}

int group_opt_of_stream(int family, int level, int name, size_t len)
{
	if (level == IPPROTO_IP && name == IP_MULTICAST_IF)
		return -EINVAL;
	if (level == IPPROTO_IP && (name == IP_ADD_MEMBERSHIP || name == IP_DROP_MEMBERSHIP))
		return -EPROTO;
	if (level == IPPROTO_IPV6 && family == AF_INET6 &&
	    (name == IPV6_JOIN_GROUP || name == IPV6_LEAVE_GROUP))
		return len < sizeof(struct ipv6_mreq) ? -EINVAL : -EPROTO;
	return 0;
}

int group_opt_parse(const struct group_opt *o, const uint8_t *val, size_t len,
		    struct ipc_dgram_group *g)
{
	bool is_v4 = o->level == IPPROTO_IP;
	int r;

	g->what = o->what;
	g->group = g->local = g->source =
		is_v4 ? ns_addr_v4(INADDR_ANY) : (struct ns_addr){ { 0 } };
	r = o->parse(val, len, g);
	/* a mapped address is no group of IPv6: linux ipv6_addr_is_multicast() */
	return r == 0 && !is_v4 && ns_addr_is_v4(&g->group) ? -EINVAL : r;
}

/* ---- whole filters ---- */

static const struct filter_opt filter_opts[] = {
	{ IPPROTO_IP, IP_MSFILTER, 8, 16, 4 },
	{ IPPROTO_IP, MCAST_MSFILTER, 136, 144, 128 },
	{ IPPROTO_IPV6, MCAST_MSFILTER, 136, 144, 128 },
};

const struct filter_opt *filter_opt_find(int family, int level, int name)
{
	for (size_t i = 0; i < NS_ARRAY_LEN(filter_opts); i++)
		if (filter_opts[i].level == level && filter_opts[i].name == name &&
		    is_level_of(family, level))
			return &filter_opts[i];
	return NULL;
}

static uint32_t u32_at(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* Of the whole of it, whose sources are of the family; that of IPv6 does not look at that in setsockopt(). */
static int parse_sources(const struct filter_opt *o, const uint8_t *val, struct ipc_dgram_filter *f)
{
	int family = o->level == IPPROTO_IP ? AF_INET : AF_INET6;

	for (uint32_t i = 0; i < f->cnt; i++) {
		const uint8_t *at = val + o->head_len + i * o->addr_len;

		if (o->name == IP_MSFILTER)
			f->source[i] = addr4_from(u32_at(at));
		else if (addr_from(family, at, &f->source[i]) < 0 && family == AF_INET)
			return -EADDRNOTAVAIL;
	}
	return 0;
}

int filter_opt_parse(const struct filter_opt *o, const uint8_t *val, size_t len, uint32_t max,
		     struct ipc_dgram_filter *f)
{
	int family = o->level == IPPROTO_IP ? AF_INET : AF_INET6, r = 0;
	bool is_get = max == UINT32_MAX;
	uint32_t mode, cnt;

	if (len < o->head_len)
		return -EINVAL;
	mode = u32_at(val + o->mode_off);
	cnt = u32_at(val + o->mode_off + sizeof(mode));
	if (!is_get && (len > NS_OPTMEM_MAX || cnt > max || cnt > NS_FILTER_MAX))
		return -ENOBUFS;
	if (!is_get && o->head_len + (size_t)cnt * o->addr_len > len)
		return -EINVAL;
	f->local = family == AF_INET ? ns_addr_v4(INADDR_ANY) : (struct ns_addr){ { 0 } };
	if (o->name == IP_MSFILTER) {
		f->group = addr4_from(u32_at(val));
		f->local = addr4_from(u32_at(val + 4));
	} else {
		f->ifindex = u32_at(val);
		r = addr_from(family, val + 8, &f->group);
	}
	if (r < 0 && (is_get || family == AF_INET))
		return is_get && family == AF_INET ? -EINVAL : r;
	if (family == AF_INET6 && ns_addr_is_v4(&f->group))
		return -EINVAL;
	f->is_exact = o->name != IP_MSFILTER;
	if (is_get)
		return 0;
	f->cnt = cnt;
	f->is_exclude = mode == MCAST_EXCLUDE;
	r = parse_sources(o, val, f);
	if (r == 0 && mode != MCAST_EXCLUDE && mode != MCAST_INCLUDE)
		r = -EINVAL;
	return r;
}

size_t filter_opt_sources(const struct filter_opt *o, const struct ns_addr *from, uint32_t cnt,
			  uint8_t *to)
{
	memset(to, 0, (size_t)cnt * o->addr_len);
	for (uint32_t i = 0; i < cnt; i++) {
		struct in_addr in = { .s_addr = htonl(ns_addr_to_v4(&from[i])) };
		struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr = in };
		struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };
		uint8_t *at = to + (size_t)i * o->addr_len;

		memcpy(&sin6.sin6_addr, from[i].b, sizeof(sin6.sin6_addr));
		if (o->name == IP_MSFILTER)
			memcpy(at, &in, sizeof(in));
		else if (o->level == IPPROTO_IP)
			memcpy(at, &sin, sizeof(sin));
		else
			memcpy(at, &sin6, sizeof(sin6));
	}
	return (size_t)cnt * o->addr_len;
}
