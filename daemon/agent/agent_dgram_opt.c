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
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/agent/agent_group.h"

static int64_t set_group(struct agent *a, struct call *c, struct asock *s,
			 const struct group_opt *o, const uint8_t *val, int len)
{
	struct ipc_dgram_group g = { .sock = s->handle };
	struct held *h;
	int r = group_opt_parse(o, val, (size_t)len, &g);

	if (r < 0)
		return r;
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

/** ask_filter() - set it or ask for it, when its value was read. Return: as a handler */
static int64_t ask_filter(struct agent *a, struct call *c, struct asock *s,
			  struct ipc_dgram_filter *f, uint32_t room)
{
	struct held *h = dgram_ask(a, c, s);

	if (!h)
		return -ENOBUFS;
	h->level = call_arg_int(c, 1);
	h->name = call_arg_int(c, 2);
	h->asked_len = room;
	f->sock = s->handle;
	f->token = h->token;
	agent_send(a, IPC_DGRAM_FILTER, f);
	return CALL_LATER;
}

static int64_t set_filter(struct agent *a, struct call *c, struct asock *s,
			  const struct filter_opt *o)
{
	struct args_mem mem = call_mem(c);
	struct ipc_dgram_filter f = { .is_set = 1 };
	uint8_t *val = malloc(GROUP_VALUE_MAX);
	int r;

	if (!val)
		return -ENOBUFS;
	r = args_opt_in(&mem, c->args[3], c->args[4], val, GROUP_VALUE_MAX);
	if (r >= 0)
		r = filter_opt_parse(o, val, (size_t)r,
				     o->level == IPPROTO_IP ? a->igmp_max_msf : a->mld_max_msf, &f);
	free(val);
	return r < 0 ? r : ask_filter(a, c, s, &f, 0);
}

/* The program's buffer says of which group, and how many sources there is room for. */
static int64_t get_filter(struct agent *a, struct call *c, struct asock *s,
			  const struct filter_opt *o)
{
	struct args_mem mem = call_mem(c);
	struct ipc_dgram_filter f = { 0 };
	uint8_t head[AOPT_VALUE_MAX];
	uint32_t room;
	int r = args_opt_len_in(&mem, c->args[4]);

	if (r < 0)
		return r;
	r = args_opt_in(&mem, c->args[3], (uint32_t)r, head, o->head_len);
	if (r >= 0)
		r = filter_opt_parse(o, head, (size_t)r, UINT32_MAX, &f);
	if (r < 0)
		return r;
	memcpy(&room, head + o->mode_off + sizeof(uint32_t), sizeof(room));
	return ask_filter(a, c, s, &f, room);
}

/** filter_answer() - linux v6.1 ip_mc_msfget(), ip_mc_gsfget(), ip6_mc_msfget() */
static int filter_answer(struct call *c, const struct held *h, const struct ipc_dgram_filter_r *b)
{
	const struct filter_opt *o = filter_opt_find(AF_INET6, h->level, h->name);
	struct args_mem mem = call_mem(c);
	uint32_t mode[2] = { b->is_exclude ? MCAST_EXCLUDE : MCAST_INCLUDE, b->cnt };
	uint32_t cnt = b->cnt < h->asked_len ? b->cnt : h->asked_len;
	uint8_t *val = malloc(GROUP_VALUE_MAX);
	int32_t len;
	int r = 0;

	if (!val)
		return -ENOBUFS;
	len = (int32_t)(o->head_len + filter_opt_sources(o, b->source, cnt, val));
	if (mem.write(mem.ctx, c->args[4], &len, sizeof(len)) < 0 ||
	    mem.write(mem.ctx, c->args[3] + o->mode_off, mode, sizeof(mode)) < 0 ||
	    (cnt &&
	     mem.write(mem.ctx, c->args[3] + o->head_len, val, (size_t)len - o->head_len) < 0))
		r = -EFAULT;
	free(val);
	return r;
}

int dgram_on_filter(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_dgram_filter_r *b = IPC_BODY(m, ipc_dgram_filter_r);
	struct held h;

	if (query_take(a, b->token, &h))
		call_answer(a, &h.call, b->err < 0 ? b->err : filter_answer(&h.call, &h, b));
	return 0;
}

/** wants_info() - options that need to know more of a datagram than its payload */
static bool wants_info(const struct asock *s)
{
	static const int options[][2] = {
		{ IPPROTO_IP, IP_PKTINFO },
		{ IPPROTO_IP, IP_RECVTTL },
		{ IPPROTO_IP, IP_RECVTOS },
		{ IPPROTO_IP, IP_RECVFRAGSIZE },
		{ SOL_SOCKET, SO_TIMESTAMP },
		{ SOL_SOCKET, SO_TIMESTAMPNS },
		{ SOL_SOCKET, SO_TIMESTAMP_NEW },
		{ SOL_SOCKET, SO_TIMESTAMPNS_NEW },
		{ SOL_SOCKET, SO_TIMESTAMPING_OLD },
		{ SOL_SOCKET, SO_TIMESTAMPING_NEW },
		{ IPPROTO_IPV6, IPV6_RECVPKTINFO },
		{ IPPROTO_IPV6, IPV6_RECVHOPLIMIT },
		{ IPPROTO_IPV6, IPV6_RECVTCLASS },
		{ IPPROTO_IPV6, IPV6_RECVFRAGSIZE },
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

/** settled() - answered when the worker has done it: the program's next write goes another way */
static int64_t settled(struct agent *a, struct call *c, struct asock *s, enum ns_sockopt option)
{
	struct ipc_getopt q = { .sock = s->handle, .option = option };
	struct held *h = dgram_ask(a, c, s);

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
	const struct group_opt *o = group_opt_find(s->family, level, name);
	const struct filter_opt *f = filter_opt_find(s->family, level, name);
	uint8_t val[AOPT_VALUE_MAX];
	int64_t r;

	if (f)
		return set_filter(a, c, s, f);
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
	if (r == 0 && level == IPPROTO_UDP && name == UDP_CORK) {
		s->dg->gathers = true;
		return settled(a, c, s, NS_UDP_CORK);
	}
	if (r == 0 && !s->dg->has_info && wants_info(s)) {
		s->dg->has_info = true;
		agent_send(a, IPC_SETOPT, &(struct ipc_sockopt_set){ s->handle, NS_DGRAM_INFO, 1 });
	}
	if (r == 0 && level == SOL_SOCKET &&
	    (name == SO_TIMESTAMPING_OLD || name == SO_TIMESTAMPING_NEW))
		return settled(a, c, s, NS_SO_TIMESTAMPING);
	return r;
}

int64_t dgram_getsockopt(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	struct in_addr in = { .s_addr = htonl(ns_addr_to_v4(&s->dg->mcast_if)) };
	int level = call_arg_int(c, 1), name = call_arg_int(c, 2), room;
	const struct filter_opt *f = filter_opt_find(s->family, level, name);
	const void *val = &in;

	if (f)
		return get_filter(a, c, s, f);
	if (level == IPPROTO_IPV6 && name == IPV6_MULTICAST_IF && s->family == AF_INET6)
		val = &s->dg->mcast_ifindex6;
	else if (level != IPPROTO_IP || name != IP_MULTICAST_IF)
		return call_getsockopt(a, c, s, fd);
	room = args_opt_len_in(&mem, c->args[4]);
	return room < 0 ? room : args_opt_out(&mem, c->args[3], c->args[4], room, val, sizeof(in));
}
