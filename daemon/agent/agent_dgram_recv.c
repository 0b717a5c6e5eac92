/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_dgram_recv.c - recvfrom(), recvmsg() and recvmmsg() on datagram sockets
 *
 * Theory of operation
 *
 * The agent takes the datagram out of the program's end of the pair, by a copy of the descriptor, as
 * the kernel would for the program, and then looks for its row among those the worker told
 * (DGRAM_INFO, worker_dgram.c): the first with its length and sum; rows before it belong to datagrams
 * that were read natively. A row is always told before its datagram is put into the pair; it may still
 * lie in the channel, which is then read here. A socket that is connected needs no row: its peer is the
 * sender. What has no row, which takes thousands of unread datagrams or a worker that died in
 * between, comes from nobody: address 0.0.0.0, counted.
 *
 * A call that must wait is held, and a copy of the program's end watched meanwhile. That copy would keep
 * the socket open after the program is gone, so every WATCH_SEC it is asked whether somebody still
 * waits.
 *
 * Deviations: recvmmsg() returns what is there once there is something, with and without
 * MSG_WAITFORONE, and knows no timeout of its own; a signal that meets the answer on its way loses the
 * datagram, as the network may.
 */
#include "daemon/agent/agent_dgram.h"

#include <event2/event.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

#define WATCH_SEC 1
/* Messages of the worker that are read to find a row. */
#define DRAIN_BUDGET 4096u
/* Datagrams of one recvmmsg(). */
#define RECV_MANY 64u

/** struct dgram_in - a datagram that was taken out, and where the program wants it */
struct dgram_in {
	int flags;  /* MSG_* of the call */
	size_t len; /* octets: of the whole datagram */
	bool has_row;
	bool is_stamp; /* it is none, but tells when one was sent, from @own */
	struct ns_addr own;
	uint32_t path_mtu; /* it is none, but what the path to row.from takes; 0: it is one */
	struct ipc_dgram_row row;
	uint8_t data[NS_DGRAM_MAX + 1];
};

/* One at a time: the agent has one thread, and nothing of it outlives the call. */
static struct dgram_in in;

/** struct control - control data in the making */
struct control {
	size_t len, room; /* octets */
	bool is_cut;
	uint8_t buf[512];
};

/* ---- waiting ---- */

static void watch_stop(struct adgram *d)
{
	if (d->watch)
		event_free(d->watch);
	if (d->watch_fd >= 0)
		close(d->watch_fd);
	d->watch = NULL;
	d->watch_fd = -1;
}

/** waiting_first() - the oldest call that waits for a datagram and is still there; NULL: none */
static struct held *waiting_first(struct asock *s)
{
	list_for_each_safe (it, &s->held) {
		struct held *h = list_entry(it, struct held, node);

		if (h->kind != HELD_RECV)
			continue;
		if (call_is_waiting(&h->call))
			return h;
		held_free(h);
	}
	return NULL;
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct asock *s = arg;
	struct agent *a = s->agent;
	struct held *h = waiting_first(s);
	uint32_t handle = s->handle;
	struct call c;

	(void)fd;
	if (!h) {
		watch_stop(s->dg);
		return;
	}
	if (!(what & EV_READ))
		return;
	c = h->call;
	held_free(h);
	call_run(a, &c);
	s = asock_find_handle(&a->socks, handle);
	if (s && !waiting_first(s))
		watch_stop(s->dg);
}

static int64_t wait_for_one(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct timeval tv = { .tv_sec = WATCH_SEC };
	struct adgram *d = s->dg;
	int64_t r;

	if (in.flags & MSG_DONTWAIT || is_nonblocking(fd))
		return -EAGAIN;
	if (d->is_deaf)
		return 0;
	r = hold(a, s, c, HELD_RECV, s->opts.rcv_timeout_ns);
	if (r != CALL_LATER || d->watch)
		return r;
	d->watch_fd = call_program_fd(a, c, s);
	if (d->watch_fd < 0)
		return r; /* gone meanwhile: the call is, too */
	d->watch = event_new(a->base, d->watch_fd, EV_READ | EV_PERSIST, on_watch, s);
	if (!d->watch || event_add(d->watch, &tv) < 0)
		watch_stop(d);
	return r;
}

/* ---- rows ---- */

static void name_drop(struct adgram *d)
{
	free(list_entry(list_pop(&d->names), struct dgram_name, node));
	d->name_cnt--;
}

/** row_find() - the row of what is in @in; rows before it are gone, and it too unless the program only peeks */
static bool row_find(struct adgram *d)
{
	size_t summed = in.len < IPC_DGRAM_SUM_LEN ? in.len : IPC_DGRAM_SUM_LEN;
	uint32_t sum = ipc_dgram_sum(IPC_DGRAM_SUM_INIT, in.data, summed), skip = 0;

	list_for_each (it, &d->names) {
		const struct dgram_name *n = list_entry(it, struct dgram_name, node);

		if (n->row.len != in.len || n->row.sum != sum) {
			skip++;
			continue;
		}
		in.row = n->row;
		in.has_row = true;
		if (!(in.flags & MSG_PEEK))
			skip++;
		while (skip-- > 0)
			name_drop(d);
		return true;
	}
	return false;
}

/** worker_drain() - what the worker told up to now. Return: @s, or NULL when it is gone by that */
static struct asock *worker_drain(struct agent *a, struct asock *s)
{
	uint32_t handle = s->handle;
	int r = a->is_worker_up ? ipc_dispatch(&a->worker, agent_worker_handlers, a, DRAIN_BUDGET)
				: 0;

	if (r < 0)
		agent_worker_lost(a, r);
	return asock_find_handle(&a->socks, handle);
}

/* ---- one datagram ---- */

/** take_one() - Return: octets of the whole datagram, or negative errno */
static int take_one(int fd, int flags)
{
	struct iovec iov = { in.data, sizeof(in.data) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | (flags & MSG_PEEK));

	return n < 0 ? -errno : (int)n;
}

/**
 * path_mtu_take() - what a path takes, before any datagram: linux v6.1 ipv6_recv_rxpmtu(), which a peek takes, too
 *
 * Only calls that trap get it; read() and recv() find the next datagram.
 */
static bool path_mtu_take(struct asock *s)
{
	struct adgram *d = s->dg;

	in.path_mtu = 0;
	in.is_stamp = false;
	if (!d->path_mtu || d->is_ping || !aopt_value(&s->opts, IPPROTO_IPV6, IPV6_RECVPATHMTU))
		return false;
	in.path_mtu = d->path_mtu;
	in.len = 0;
	in.has_row = false;
	in.row = (struct ipc_dgram_row){ .from = { .addr = d->path_to },
					 .ifindex = d->path_ifindex,
					 .time_ns = agent_now().ns };
	d->path_mtu = 0;
	return true;
}

/**
 * recv_one() - a datagram into @in
 *
 * Return: 0, negative errno (-EAGAIN: none is there)
 */
static int recv_one(struct agent *a, struct asock *s, int fd)
{
	if (path_mtu_take(s))
		return 0;
	for (;;) {
		struct adgram *d = s->dg;
		int err = dgram_take_error(s), n;

		if (err)
			return err;
		n = take_one(fd, in.flags);
		if (n < 0)
			return n;
		in.len = (size_t)n;
		in.has_row = false;
		if (row_find(d))
			break;
		if (!d->is_connected || d->has_info || n == 0) {
			s = worker_drain(a, s);
			if (!s)
				return -EBADF;
			d = s->dg;
			if (row_find(d))
				break;
		}
		if (n == 0 && d->token_cnt == 0 && d->is_deaf)
			return -EAGAIN; /* the end of the pair: linux has none there */
		if (n > 0 || d->token_cnt == 0)
			break;
		/* an empty one without a row: the token of an error */
		d->token_cnt--;
		if (in.flags & MSG_PEEK)
			(void)take_one(fd, 0);
	}
	if (!in.has_row) {
		in.row = (struct ipc_dgram_row){ .from = ipc_endpoint_from(&s->remote) };
		if (!s->dg->is_connected) {
			in.row.from = (struct ipc_endpoint){ .addr = sock_any(s) };
			a->nameless_cnt += in.len > 0;
		}
	} else {
		s->dg->ok_to = ipc_endpoint_to(&in.row.from);
	}
	return 0;
}

/* ---- control data ---- */

/** control_put() - linux put_cmsg(): what there is room for, if it is a header at least */
static void control_put(struct control *c, int level, int type, const void *data, size_t len)
{
	struct cmsghdr h = { .cmsg_level = level, .cmsg_type = type };
	size_t left = c->room - c->len;

	if (left < CMSG_LEN(len))
		c->is_cut = true;
	if (left < sizeof(h) || c->len + CMSG_SPACE(len) > sizeof(c->buf)) {
		c->is_cut = true;
		return;
	}
	h.cmsg_len = left < CMSG_LEN(len) ? left : CMSG_LEN(len);
	memset(c->buf + c->len, 0, CMSG_SPACE(len));
	memcpy(c->buf + c->len, &h, sizeof(h));
	memcpy(c->buf + c->len + CMSG_LEN(0), data, len);
	c->len += CMSG_SPACE(len);
	if (c->len > c->room)
		c->len = c->room;
}

/** wall_time() - of a time of the worker's clock */
static struct timespec wall_time(uint64_t mono_ns)
{
	struct timespec now;
	uint64_t ago = mono_since(agent_now(), (struct mono){ mono_ns }), wall;

	clock_gettime(CLOCK_REALTIME, &now);
	wall = (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec - ago;
	return (struct timespec){ (time_t)(wall / NS_PER_SEC), (long)(wall % NS_PER_SEC) };
}

/* linux __sock_recv_timestamp() */
static void control_time(struct control *c, const struct asock *s)
{
	struct timespec ts[3] = { wall_time(in.row.time_ns) }; /* software; old; of the device */
	struct timeval tv = { ts[0].tv_sec, ts[0].tv_nsec / 1000 };
	const uint32_t wanted =
		SOF_TIMESTAMPING_SOFTWARE | (in.is_stamp ? 0 : SOF_TIMESTAMPING_RX_SOFTWARE);

	_Static_assert(sizeof(ts[0]) == 16 && sizeof(tv) == 16, "old and new are laid out alike");
	for (size_t i = 0; i < 2; i++) {
		int opt = i ? SO_TIMESTAMP_NEW : SO_TIMESTAMP_OLD;
		int opt_ns = i ? SO_TIMESTAMPNS_NEW : SO_TIMESTAMPNS_OLD;

		if (aopt_value(&s->opts, SOL_SOCKET, opt_ns))
			control_put(c, SOL_SOCKET, opt_ns, &ts[0], sizeof(ts[0]));
		if (aopt_value(&s->opts, SOL_SOCKET, opt))
			control_put(c, SOL_SOCKET, opt, &tv, sizeof(tv));
	}
	if (((uint32_t)aopt_value(&s->opts, SOL_SOCKET, SO_TIMESTAMPING_OLD) & wanted) == wanted)
		control_put(c, SOL_SOCKET,
			    s->opts.is_tstamping_new ? SO_TIMESTAMPING_NEW : SO_TIMESTAMPING_OLD,
			    ts, sizeof(ts));
}

static void control_int(struct control *c, int level, int type, int value)
{
	control_put(c, level, type, &value, sizeof(value));
}

/** control_dst4(), control_dst6() - whom the datagram was to, as a socket address (IP_RECVORIGDSTADDR) */
static void control_dst4(struct control *c)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(in.row.to.port) };

	sin.sin_addr.s_addr = htonl(ns_addr_to_v4(&in.row.to.addr));
	control_put(c, IPPROTO_IP, IP_ORIGDSTADDR, &sin, sizeof(sin));
}

static void control_dst6(struct control *c)
{
	struct ns_addr to = ns_addr_zoned(in.row.to.addr, 0);
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = htons(in.row.to.port) };

	memcpy(&sin6.sin6_addr, to.b, sizeof(sin6.sin6_addr));
	if (ns_addr_is_link_local(&to))
		sin6.sin6_scope_id = in.row.ifindex;
	control_put(c, IPPROTO_IPV6, IPV6_ORIGDSTADDR, &sin6, sizeof(sin6));
}

/** control_v6() - linux ip6_datagram_recv_common_ctl(), and _specific_ctl() of a datagram of IPv6 */
static void control_v6(struct control *c, const struct asock *s, bool is_v4)
{
	struct ns_addr to = ns_addr_zoned(in.row.to.addr, 0);
	struct in6_pktinfo info = { .ipi6_ifindex = in.row.ifindex };

	memcpy(&info.ipi6_addr, to.b, sizeof(info.ipi6_addr));
	if (aopt_value(&s->opts, IPPROTO_IPV6, IPV6_RECVPKTINFO))
		control_put(c, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	if (is_v4)
		return;
	if (aopt_value(&s->opts, IPPROTO_IPV6, IPV6_RECVHOPLIMIT))
		control_int(c, IPPROTO_IPV6, IPV6_HOPLIMIT, in.row.ttl);
	if (aopt_value(&s->opts, IPPROTO_IPV6, IPV6_RECVTCLASS))
		control_int(c, IPPROTO_IPV6, IPV6_TCLASS, in.row.tos);
	if (aopt_value(&s->opts, IPPROTO_IPV6, IPV6_2292PKTINFO))
		control_put(c, IPPROTO_IPV6, IPV6_2292PKTINFO, &info, sizeof(info));
	if (aopt_value(&s->opts, IPPROTO_IPV6, IPV6_2292HOPLIMIT))
		control_int(c, IPPROTO_IPV6, IPV6_2292HOPLIMIT, in.row.ttl);
	if (aopt_value(&s->opts, IPPROTO_IPV6, IPV6_RECVORIGDSTADDR) && !(in.flags & MSG_ERRQUEUE))
		control_dst6(c);
	if (in.row.frag_len && aopt_value(&s->opts, IPPROTO_IPV6, IPV6_RECVFRAGSIZE))
		control_int(c, IPPROTO_IPV6, IPV6_RECVFRAGSIZE, in.row.frag_len);
}

/** control_v4() - linux ip_cmsg_recv_offset() */
static void control_v4(struct control *c, const struct asock *s)
{
	struct in_pktinfo info = { .ipi_ifindex = (int)in.row.ifindex };

	if (aopt_value(&s->opts, IPPROTO_IP, IP_PKTINFO)) {
		info.ipi_addr.s_addr = htonl(ns_addr_to_v4(&in.row.to.addr));
		if (!(in.flags & MSG_ERRQUEUE)) /* ipv4_pktinfo_prepare() has not seen those */
			info.ipi_spec_dst = info.ipi_addr;
		if (ns_addr_is_multicast(&in.row.to.addr) || info.ipi_addr.s_addr == INADDR_NONE)
			info.ipi_spec_dst.s_addr = htonl(ns_addr_to_v4(&s->local.addr));
		if (in.is_stamp)
			info.ipi_spec_dst.s_addr = htonl(ns_addr_to_v4(&in.own));
		control_put(c, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	}
	if (aopt_value(&s->opts, IPPROTO_IP, IP_RECVTTL))
		control_int(c, IPPROTO_IP, IP_TTL, in.row.ttl);
	if (aopt_value(&s->opts, IPPROTO_IP, IP_RECVTOS))
		control_put(c, IPPROTO_IP, IP_TOS, &in.row.tos, sizeof(in.row.tos));
	if (aopt_value(&s->opts, IPPROTO_IP, IP_RECVORIGDSTADDR) && !(in.flags & MSG_ERRQUEUE))
		control_dst4(c);
	if (in.row.frag_len && aopt_value(&s->opts, IPPROTO_IP, IP_RECVFRAGSIZE))
		control_int(c, IPPROTO_IP, IP_RECVFRAGSIZE, in.row.frag_len);
}

/** control_ip() - what the program asked to hear of the packet */
static void control_ip(struct control *c, const struct asock *s)
{
	bool is_v4 = ns_addr_is_v4(&in.row.from.addr);

	if (s->family == AF_INET6)
		control_v6(c, s, is_v4);
	if (is_v4)
		control_v4(c, s);
}

/** control_path_mtu() - RFC 3542 11.3 */
static void control_path_mtu(struct control *c, const struct asock *s)
{
	struct ns_addr to = ns_addr_zoned(in.row.from.addr, 0);
	struct ip6_mtuinfo info = { .ip6m_addr = { .sin6_family = AF_INET6,
						   .sin6_scope_id = in.row.ifindex },
				    .ip6m_mtu = in.path_mtu };

	memcpy(&info.ip6m_addr.sin6_addr, to.b, sizeof(to.b));
	control_time(c, s);
	control_put(c, IPPROTO_IPV6, IPV6_PATHMTU, &info, sizeof(info));
}

/** control_fill() - what the program asked to hear of a datagram with a row; order as Linux's */
static void control_fill(struct control *c, const struct asock *s)
{
	control_time(c, s);
	if (in.row.gso_size) /* linux udp_cmsg_recv() */
		control_int(c, IPPROTO_UDP, UDP_GRO, in.row.gso_size);
	control_ip(c, s);
}

/* ---- MSG_ERRQUEUE ---- */

/** is_told_of_packet() - linux v6.1 ipv4_datagram_support_cmsg(), ip6_datagram_support_cmsg(): of an ICMP message, or what was sent */
static bool is_told_of_packet(const struct asock *s, const struct ipc_dgram_err *e)
{
	if (e->origin != NS_ERR_TIMESTAMPING)
		return e->origin == NS_ERR_ICMP || e->origin == NS_ERR_ICMP6;
	return e->quote_len &&
	       (s->family == AF_INET6 ||
		aopt_value(&s->opts, SOL_SOCKET, SO_TIMESTAMPING_OLD) & SOF_TIMESTAMPING_OPT_CMSG);
}

/** err_put() - linux v6.1 ip_recv_error(), ipv6_recv_error(): the error and who sent it, by the socket's family */
static void err_put(struct asock *s, struct control *c, const struct ipc_dgram_err *e)
{
	struct {
		struct sock_extended_err ee;
		union {
			struct sockaddr_in in;
			struct sockaddr_in6 in6;
		} offender;
	} v;
	bool has_packet = is_told_of_packet(s, e);
	const struct ns_addr *who = e->origin == NS_ERR_TIMESTAMPING ? &e->local : &e->offender;
	struct ns_addr from = ns_addr_zoned(*who, 0);

	memset(&v, 0, sizeof(v));
	v.ee.ee_errno = (uint32_t)-e->err;
	v.ee.ee_origin = e->origin;
	v.ee.ee_type = e->type;
	v.ee.ee_code = e->code;
	v.ee.ee_info = e->info;
	v.ee.ee_data = e->data;
	if (e->ext_off &&
	    aopt_value(&s->opts, e->origin == NS_ERR_ICMP6 ? IPPROTO_IPV6 : IPPROTO_IP,
		       e->origin == NS_ERR_ICMP6 ? IPV6_RECVERR_RFC4884 : IP_RECVERR_RFC4884)) {
		v.ee.ee_rfc4884.len = e->ext_off;
		v.ee.ee_rfc4884.flags = e->is_ext_bad ? SO_EE_RFC4884_FLAG_INVALID : 0;
	}
	if (s->family == AF_INET6 && has_packet) {
		v.offender.in6.sin6_family = AF_INET6;
		memcpy(&v.offender.in6.sin6_addr, from.b, sizeof(from.b));
		v.offender.in6.sin6_scope_id = ns_addr_zone(who);
	} else if (has_packet) {
		v.offender.in.sin_family = AF_INET;
		v.offender.in.sin_addr.s_addr = htonl(ns_addr_to_v4(&from));
	}
	if (s->family == AF_INET6)
		control_put(c, IPPROTO_IPV6, IPV6_RECVERR, &v,
			    sizeof(v.ee) + sizeof(v.offender.in6));
	else
		control_put(c, IPPROTO_IP, IP_RECVERR, &v, sizeof(v.ee) + sizeof(v.offender.in));
}

/**
 * err_take() - the oldest error, its quote in place of a payload
 *
 * What woke the program may be here before the error, which then lies in the worker's channel.
 *
 * Return: 0, -EAGAIN when there is none, -EBADF when the socket is gone by what the channel had
 */
static int err_take(struct agent *a, struct asock *s, struct control *c)
{
	struct dgram_error *x = dgram_error_pop(a, s->dg);
	struct ipc_endpoint to_us;
	bool has_time;

	if (!x) {
		s = worker_drain(a, s);
		if (!s)
			return -EBADF;
		x = dgram_error_pop(a, s->dg);
	}
	if (!x)
		return -EAGAIN;
	to_us = (struct ipc_endpoint){ .addr = x->e.local };
	in.is_stamp = x->e.origin == NS_ERR_TIMESTAMPING;
	in.own = x->e.local;
	has_time = in.is_stamp || x->e.origin == NS_ERR_ICMP || x->e.origin == NS_ERR_ICMP6;
	in.path_mtu = 0;
	in.row = (struct ipc_dgram_row){ .from = x->e.to,
					 .to = in.is_stamp ? x->e.to : to_us,
					 .ifindex = x->e.ifindex,
					 .ttl = x->e.ttl,
					 .tos = x->e.tos,
					 .time_ns = has_time ? x->e.time_ns : agent_now().ns };
	in.has_row = false;
	in.len = x->e.quote_len;
	memcpy(in.data, x->quote, in.len);
	control_time(c, s);
	if (is_told_of_packet(s, &x->e))
		control_ip(c, s);
	err_put(s, c, &x->e);
	if (s->dg->is_ping)
		in.row.from.port = 0;
	s->so_error = 0; /* the queue has told it: sock_dequeue_err_skb() */
	free(x);
	return 0;
}

/* ---- the calls ---- */

/** deliver_msg() - @in into the struct msghdr at @addr. Return: octets or negative errno */
static int64_t deliver_msg(struct asock *s, const struct args_mem *mem, uint64_t addr,
			   const struct args_msg *msg, struct control *c)
{
	struct ns_endpoint from = ipc_endpoint_to(&in.row.from);
	uint32_t flags = in.flags & MSG_ERRQUEUE ? MSG_ERRQUEUE : 0;
	int name_len = 0, n;

	n = args_scatter(mem, msg->iov, msg->iov_cnt, in.data, in.len);
	if (n < 0)
		return n;
	if (msg->name && !in.is_stamp) {
		name_len = args_name_out(mem, s->family, &from, msg->name, msg->name_len);
		if (name_len < 0)
			return name_len;
	}
	if (c->len && mem->write(mem->ctx, msg->control, c->buf, c->len) < 0)
		return -EFAULT;
	if ((size_t)n < in.len)
		flags |= MSG_TRUNC;
	if (c->is_cut)
		flags |= MSG_CTRUNC;
	if (args_msg_out(mem, addr, (uint32_t)name_len, c->len, flags) < 0)
		return -EFAULT;
	return in.flags & MSG_TRUNC ? (int64_t)in.len : n;
}

/** recv_msg() - one message into the struct msghdr at @addr */
static int64_t recv_msg(struct agent *a, struct asock *s, const struct args_mem *mem, int fd,
			uint64_t addr)
{
	static struct control c;
	struct args_msg msg;
	int r = args_msg_in(mem, addr, &msg);

	if (r < 0)
		return r;
	c.len = 0;
	c.room = msg.control ? (size_t)msg.control_len : 0;
	c.is_cut = false;
	r = in.flags & MSG_ERRQUEUE ? err_take(a, s, &c) : recv_one(a, s, fd);
	if (r < 0)
		return r;
	if (in.has_row)
		control_fill(&c, s);
	else if (in.path_mtu)
		control_path_mtu(&c, s);
	return deliver_msg(s, mem, addr, &msg, &c);
}

static int64_t recv_from(struct agent *a, struct call *c, struct asock *s,
			 const struct args_mem *mem, int fd)
{
	static struct control none;
	struct ns_endpoint from;
	uint64_t room = c->args[2];
	size_t n;
	int r;

	none.room = 0;
	r = in.flags & MSG_ERRQUEUE ? err_take(a, s, &none) : recv_one(a, s, fd);
	if (r < 0)
		return r;
	n = in.len < room ? in.len : (size_t)room;
	if (n && mem->write(mem->ctx, c->args[1], in.data, n) < 0)
		return -EFAULT;
	from = ipc_endpoint_to(&in.row.from);
	if (in.is_stamp) { /* from nobody */
		if (c->args[4] && mem->write(mem->ctx, c->args[5], &(int32_t){ 0 }, 4) < 0)
			return -EFAULT;
	} else if (c->args[4]) {
		r = args_addr_out(mem, s->family, &from, c->args[4], c->args[5]);
		if (r < 0)
			return r;
	}
	return in.flags & MSG_TRUNC ? (int64_t)in.len : (int64_t)n;
}

static int64_t recv_many(struct agent *a, struct call *c, struct asock *s,
			 const struct args_mem *mem, int fd)
{
	uint32_t cnt = (uint32_t)c->args[2], done = 0, handle = s->handle;

	if (cnt > RECV_MANY)
		cnt = RECV_MANY;
	for (; done < cnt && s; done++) {
		uint64_t addr = c->args[1] + done * sizeof(struct mmsghdr);
		int64_t r = recv_msg(a, s, mem, fd, addr);
		uint32_t len = (uint32_t)r;

		s = asock_find_handle(&a->socks, handle);
		if (r >= 0 && mem->write(mem->ctx, addr + offsetof(struct mmsghdr, msg_len), &len,
					 sizeof(len)) < 0)
			r = -EFAULT;
		if (r < 0)
			return done ? (int64_t)done : r;
	}
	return done;
}

int64_t dgram_recv(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	uint32_t handle = s->handle;
	int64_t r;

	if (!call_is_waiting(c))
		return CALL_LATER; /* nothing is taken out for a thread that is gone */
	switch (c->nr) {
	case SYS_recvmsg:
		in.flags = call_arg_int(c, 2);
		break;
	default:
		in.flags = call_arg_int(c, 3); /* recvfrom() and recvmmsg() alike */
	}
	if (in.flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (c->nr == SYS_recvfrom)
		r = recv_from(a, c, s, &mem, fd);
	else if (c->nr == SYS_recvmsg)
		r = recv_msg(a, s, &mem, fd, c->args[1]);
	else
		r = recv_many(a, c, s, &mem, fd);
	s = asock_find_handle(&a->socks, handle);
	if (r == -EAGAIN && s && !(in.flags & MSG_ERRQUEUE))
		return wait_for_one(a, c, s, fd);
	return r;
}
