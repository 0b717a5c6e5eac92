/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_dgram_opt.c - options of datagram sockets that are no plain values: groups, and what they imply
 *
 * A membership is a question to the worker, who knows the links. Options that let the program hear of
 * more than payload make the worker tell of every datagram (NS_DGRAM_INFO).
 *
 * References: linux v6.1 net/ipv4/ip_sockglue.c, net/ipv6/ipv6_sockglue.c
 */
#include "daemon/agent/agent_dgram.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>

static void addr6_from(struct ns_addr *to, const struct in6_addr *from)
{
	memcpy(to->b, from, sizeof(to->b));
}

/* struct ip_mreq or ip_mreqn */
static bool parse_mreq(const uint8_t *val, int len, struct ipc_dgram_group *g)
{
	struct ip_mreqn m = { 0 };

	if (len < (int)sizeof(struct ip_mreq))
		return false;
	memcpy(&m, val, len < (int)sizeof(m) ? sizeof(struct ip_mreq) : sizeof(m));
	g->group = ns_addr_v4(ntohl(m.imr_multiaddr.s_addr));
	g->local = ns_addr_v4(ntohl(m.imr_address.s_addr));
	g->ifindex = (uint32_t)m.imr_ifindex;
	return true;
}

/* likewise, or an address alone */
static bool parse_mreq_if(const uint8_t *val, int len, struct ipc_dgram_group *g)
{
	struct in_addr in;

	if (len >= (int)sizeof(struct ip_mreq))
		return parse_mreq(val, len, g);
	if (len < (int)sizeof(in))
		return false;
	memcpy(&in, val, sizeof(in));
	g->local = ns_addr_v4(ntohl(in.s_addr));
	return true;
}

static bool parse_group_req(const uint8_t *val, int len, struct ipc_dgram_group *g)
{
	struct sockaddr_in sin;
	struct group_req q;

	if (len < (int)sizeof(q))
		return false;
	memcpy(&q, val, sizeof(q));
	memcpy(&sin, &q.gr_group, sizeof(sin));
	g->ifindex = q.gr_interface;
	g->group = ns_addr_v4(ntohl(sin.sin_addr.s_addr));
	return sin.sin_family == AF_INET;
}

static bool parse_mreq6(const uint8_t *val, int len, struct ipc_dgram_group *g)
{
	struct ipv6_mreq m;

	if (len < (int)sizeof(m))
		return false;
	memcpy(&m, val, sizeof(m));
	addr6_from(&g->group, &m.ipv6mr_multiaddr);
	g->ifindex = m.ipv6mr_interface;
	/* linux ipv6_sock_mc_join(): of IPv4 it is none */
	return !ns_addr_is_v4(&g->group);
}

static bool parse_group_req6(const uint8_t *val, int len, struct ipc_dgram_group *g)
{
	struct sockaddr_in6 sin6;
	struct group_req q;

	if (len < (int)sizeof(q))
		return false;
	memcpy(&q, val, sizeof(q));
	memcpy(&sin6, &q.gr_group, sizeof(sin6));
	g->ifindex = q.gr_interface;
	addr6_from(&g->group, &sin6.sin6_addr);
	return sin6.sin6_family == AF_INET6 && !ns_addr_is_v4(&g->group);
}

static bool parse_if6(const uint8_t *val, int len, struct ipc_dgram_group *g)
{
	int32_t ifindex;

	if (len < (int)sizeof(ifindex))
		return false;
	memcpy(&ifindex, val, sizeof(ifindex));
	g->ifindex = (uint32_t)ifindex;
	return ifindex >= 0;
}

/** struct group_opt - options that name a group or a link */
static const struct group_opt {
	int level, name;
	enum ipc_group_what what;
	/** Return: false: too short, or of another family */
	bool (*parse)(const uint8_t *val, int len, struct ipc_dgram_group *g);
} group_opts[] = {
	{ IPPROTO_IP, IP_ADD_MEMBERSHIP, IPC_GROUP_JOIN, parse_mreq },
	{ IPPROTO_IP, IP_DROP_MEMBERSHIP, IPC_GROUP_LEAVE, parse_mreq },
	{ IPPROTO_IP, MCAST_JOIN_GROUP, IPC_GROUP_JOIN, parse_group_req },
	{ IPPROTO_IP, MCAST_LEAVE_GROUP, IPC_GROUP_LEAVE, parse_group_req },
	{ IPPROTO_IP, IP_MULTICAST_IF, IPC_GROUP_IF, parse_mreq_if },
	{ IPPROTO_IPV6, IPV6_JOIN_GROUP, IPC_GROUP_JOIN, parse_mreq6 },
	{ IPPROTO_IPV6, IPV6_LEAVE_GROUP, IPC_GROUP_LEAVE, parse_mreq6 },
	{ IPPROTO_IPV6, MCAST_JOIN_GROUP, IPC_GROUP_JOIN, parse_group_req6 },
	{ IPPROTO_IPV6, MCAST_LEAVE_GROUP, IPC_GROUP_LEAVE, parse_group_req6 },
	{ IPPROTO_IPV6, IPV6_MULTICAST_IF, IPC_GROUP_IF, parse_if6 },
};

static const struct group_opt *group_opt_find(const struct asock *s, int level, int name)
{
	for (size_t i = 0; i < NS_ARRAY_LEN(group_opts); i++)
		if (group_opts[i].level == level && group_opts[i].name == name &&
		    (level == IPPROTO_IP || s->family == AF_INET6))
			return &group_opts[i];
	return NULL;
}

static int64_t set_group(struct agent *a, struct call *c, struct asock *s,
			 const struct group_opt *o, const uint8_t *val, int len)
{
	struct ipc_dgram_group g = { .sock = s->handle, .what = o->what };
	struct held *h;

	g.group = g.local =
		o->level == IPPROTO_IP ? ns_addr_v4(INADDR_ANY) : (struct ns_addr){ { 0 } };
	if (!o->parse(val, len, &g))
		return -EINVAL;
	h = dgram_ask(a, c, s);
	if (!h)
		return -ENOBUFS;
	if (o->what == IPC_GROUP_IF && o->level == IPPROTO_IP)
		s->dg->mcast_if = g.local;
	else if (o->what == IPC_GROUP_IF)
		s->dg->mcast_ifindex6 = g.ifindex;
	g.token = h->token;
	agent_send(a, IPC_DGRAM_GROUP, &g);
	return CALL_LATER;
}

/** wants_info() - options that need to know more of a datagram than its payload */
static bool wants_info(const struct asock *s)
{
	static const int options[][2] = {
		{ IPPROTO_IP, IP_PKTINFO },
		{ IPPROTO_IP, IP_RECVTTL },
		{ IPPROTO_IP, IP_RECVTOS },
		{ SOL_SOCKET, SO_TIMESTAMP },
		{ SOL_SOCKET, SO_TIMESTAMPNS },
		{ SOL_SOCKET, SO_TIMESTAMP_NEW },
		{ SOL_SOCKET, SO_TIMESTAMPNS_NEW },
		{ SOL_SOCKET, SO_TIMESTAMPING_OLD },
		{ SOL_SOCKET, SO_TIMESTAMPING_NEW },
		{ IPPROTO_IPV6, IPV6_RECVPKTINFO },
		{ IPPROTO_IPV6, IPV6_RECVHOPLIMIT },
		{ IPPROTO_IPV6, IPV6_RECVTCLASS },
		{ IPPROTO_IPV6, IPV6_2292PKTINFO },
		{ IPPROTO_IPV6, IPV6_2292HOPLIMIT },
		{ IPPROTO_UDP, UDP_GRO },
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(options); i++)
		if (aopt_value(&s->opts, options[i][0], options[i][1]))
			return true;
	return false;
}

/** is_link_opt() - IP_UNICAST_IF and IPV6_UNICAST_IF: a link by its number in network byte order */
static bool is_link_opt(int level, int name)
{
	return (level == IPPROTO_IP && name == IP_UNICAST_IF) ||
	       (level == IPPROTO_IPV6 && name == IPV6_UNICAST_IF);
}

/** check_link() - Return: 0, or what linux says of such an option */
static int check_link(const struct agent *a, const struct asock *s, const uint8_t *val, int len)
{
	uint32_t wire, ifindex;

	if (len != (int)sizeof(wire))
		return -EINVAL;
	memcpy(&wire, val, sizeof(wire));
	ifindex = ntohl(wire);
	if (ifindex && !device_is_there(a, ifindex))
		return -EADDRNOTAVAIL;
	return ifindex && s->bound_ifindex && s->bound_ifindex != ifindex ? -EINVAL : 0;
}

/** cork_settled() - answered when the worker has done it: the program's next write goes another way */
static int64_t cork_settled(struct agent *a, struct call *c, struct asock *s)
{
	struct ipc_getopt q = { .sock = s->handle, .option = NS_UDP_CORK };
	struct held *h = dgram_ask(a, c, s);

	s->dg->gathers = true;
	if (!h)
		return 0; /* no worker: the next one is told */
	q.token = h->token;
	agent_send(a, IPC_GETOPT, &q);
	return CALL_LATER;
}

int64_t dgram_setsockopt(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	int level = call_arg_int(c, 1), name = call_arg_int(c, 2), len;
	const struct group_opt *o = group_opt_find(s, level, name);
	uint8_t val[AOPT_VALUE_MAX];
	int64_t r;

	len = args_opt_in(&mem, c->args[3], c->args[4], val, sizeof(val));
	if (len < 0)
		return len;
	if (o)
		return set_group(a, c, s, o, val, len);
	if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && s->dg->is_bound)
		return -EINVAL;
	if (is_link_opt(level, name)) {
		r = check_link(a, s, val, len);
		if (r < 0)
			return r;
	}
	r = call_setsockopt(a, c, s, fd);
	if (r == 0 && level == IPPROTO_UDP && name == UDP_CORK)
		return cork_settled(a, c, s);
	if (r == 0 && !s->dg->has_info && wants_info(s)) {
		s->dg->has_info = true;
		agent_send(a, IPC_SETOPT, &(struct ipc_sockopt_set){ s->handle, NS_DGRAM_INFO, 1 });
	}
	return r;
}

int64_t dgram_getsockopt(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	struct in_addr in = { .s_addr = htonl(ns_addr_to_v4(&s->dg->mcast_if)) };
	int level = call_arg_int(c, 1), name = call_arg_int(c, 2), room;
	const void *val = &in;

	if (level == IPPROTO_IPV6 && name == IPV6_MULTICAST_IF && s->family == AF_INET6)
		val = &s->dg->mcast_ifindex6;
	else if (level != IPPROTO_IP || name != IP_MULTICAST_IF)
		return call_getsockopt(a, c, s, fd);
	room = args_opt_len_in(&mem, c->args[4]);
	return room < 0 ? room : args_opt_out(&mem, c->args[3], c->args[4], room, val, sizeof(in));
}
