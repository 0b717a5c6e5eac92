/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_dgram.c - trapped calls on datagram sockets, but for receiving
 *
 * Theory of operation
 *
 * worker_dgram.c has the picture. The worker has the stack's end of the pair from socket() on; the
 * agent keeps a copy, for a new worker after the first has died: bound and connected sockets go on,
 * only what was in the stack is lost.
 *
 * bind() and connect() are questions to the worker, as for a stream, and answered at once. sendto() with
 * an address and sendmsg() with an address or control data go through the channel of datagrams, one
 * for the container, as {where to} + payload. The program has its answer before the stack has the
 * datagram, so that it can say "unreachable" and not merely lose it, the first datagram to each
 * destination is preceded by a question (DGRAM_CHECK). Answers to who spoke last need none.
 *
 * A send without address on a connected socket is the kernel's own on the pair (send(), write(), and
 * sendmsg(), which traps and is continued).
 *
 * Deviations: errors of untrapped sends fail the next trapped call; a send on an unconnected socket by
 * write() or send() says -EDESTADDRREQ only then; shutdown(SHUT_WR) ends the socket; MSG_MORE
 * and UDP_CORK are not known; IPv6 as in agent_calls.c.
 */
#include "daemon/agent_dgram.h"

#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/log.h"
#include "seccomp/uapi.h"

/* Between two looks at a full channel. */
#define RETRY_NS (5 * NS_PER_MS)
/* Octets that may wait in the channel; net.core.wmem_max cuts it. */
#define CHANNEL_BUF (1 << 20)

/* ---- sockets ---- */

int dgram_channel(struct agent *a)
{
	const struct ipc_empty none = { 0 };
	int fds[2], buf = CHANNEL_BUF, r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		return log_err(-errno, "cannot make the channel of datagrams");
	(void)setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &buf, sizeof(buf));
	a->dgram_fd = fds[0];
	r = ipc_send(&a->worker, IPC_DGRAM_CHANNEL, &none, &fds[1], 1);
	return r < 0 ? log_err(r, "cannot give the worker the channel of datagrams") : 0;
}

int dgram_pair(struct pair *ret_pair)
{
	int fds[2], off = 0, on = 1;
	struct stat st;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	(void)setsockopt(fds[1], SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
	/* the worker tells an empty datagram, which has credentials, from the end, which has none */
	if (setsockopt(fds[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	    fstat(fds[0], &st) < 0) {
		int r = -errno;

		close(fds[0]);
		close(fds[1]);
		return r;
	}
	*ret_pair = (struct pair){ .program = fds[0], .ours = fds[1], .ino = st.st_ino };
	return 0;
}

/** open_send() - DGRAM_OPEN with a copy of our end. Return: 0 or negative errno */
static int open_send(struct agent *a, struct asock *s)
{
	struct ipc_dgram_open body = { .sock = s->handle };
	int fd, r;

	if (!a->is_worker_up)
		return 0; /* the next one is told */
	aopt_opts(&s->opts, &body.opts);
	if (s->dg->has_info) {
		body.opts.mask |= UINT64_C(1) << NS_DGRAM_INFO;
		body.opts.value[NS_DGRAM_INFO] = 1;
	}
	fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = ipc_send(&a->worker, IPC_DGRAM_OPEN, &body, &fd, 1);
	if (r < 0)
		agent_worker_lost(a, r);
	return 0;
}

int dgram_new(struct agent *a, struct asock *s)
{
	struct adgram *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	list_init(&d->names);
	list_init(&d->errors);
	d->watch_fd = -1;
	d->mcast_if = ns_addr_v4(0);
	s->dg = d;
	s->agent = a;
	aopt_init_dgram(&s->opts);
	asock_set_state(&a->socks, s, ASOCK_BOUND);
	return open_send(a, s);
}

void dgram_free(struct asock *s)
{
	struct adgram *d = s->dg;

	if (!d)
		return;
	while (!list_is_empty(&d->names))
		free(list_entry(list_pop(&d->names), struct dgram_name, node));
	while (!list_is_empty(&d->errors))
		free(list_entry(list_pop(&d->errors), struct dgram_error, node));
	if (d->watch)
		event_free(d->watch);
	if (d->watch_fd >= 0)
		close(d->watch_fd);
	free(d);
	s->dg = NULL;
}

void dgram_replay(struct agent *a, struct asock *s)
{
	struct adgram *d = s->dg;
	struct ipc_bind b = { .sock = s->handle, .local = ipc_endpoint_from(&s->local) };
	struct ipc_connect c = { .sock = s->handle, .remote = ipc_endpoint_from(&s->remote) };

	(void)!open_send(a, s);
	aopt_opts(&s->opts, &b.opts);
	c.opts = b.opts;
	if (!s->is_user_bound || ns_addr_is_any(&b.local.addr))
		b.local.addr = ns_addr_v4(INADDR_ANY);
	if (d->is_bound)
		agent_send(a, IPC_BIND, &b);
	if (d->is_connected)
		agent_send(a, IPC_CONNECT, &c);
	if (s->op != ASOCK_OP_NONE)
		op_send(a, s);
}

/* ---- what the worker tells ---- */

void dgram_bound(struct asock *s)
{
	s->dg->is_bound = true;
}

bool dgram_is_unconnect(const struct asock *s)
{
	return s->dg && s->dg->is_unconnecting;
}

void dgram_connected(struct agent *a, struct asock *s, int err)
{
	struct adgram *d = s->dg;
	bool was_undo = d->is_unconnecting;

	(void)a;
	d->is_unconnecting = false;
	if (err < 0)
		return;
	d->is_connected = !was_undo;
	s->so_error = 0;
	if (was_undo) {
		s->remote = (struct ns_endpoint){ .addr = ns_addr_v4(0) };
		d->is_bound = s->local.port != 0;
		return;
	}
	d->is_bound = true;
	s->remote = s->op_ep;
}

int dgram_on_info(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_dgram_info *b = IPC_BODY(m, ipc_dgram_info);
	struct asock *s = asock_find_handle(&a->socks, b->sock);

	if (!s || !s->dg)
		return 0;
	for (uint32_t i = 0; i < b->cnt; i++) {
		struct dgram_name *n;

		/* a program that reads natively lets them pile up: what is oldest is long gone */
		if (s->dg->name_cnt >= DGRAM_NAMES_MAX) {
			n = list_entry(list_pop(&s->dg->names), struct dgram_name, node);
			s->dg->name_cnt--;
		} else {
			n = malloc(sizeof(*n));
		}
		if (!n)
			return 0;
		n->row = b->row[i];
		list_push(&s->dg->names, &n->node);
		s->dg->name_cnt++;
	}
	return 0;
}

int dgram_on_err(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_dgram_err *b = IPC_BODY(m, ipc_dgram_err);
	struct asock *s = asock_find_handle(&a->socks, b->sock);
	struct dgram_error *x;

	if (!s || !s->dg)
		return 0;
	if (b->has_token)
		s->dg->token_cnt++;
	if (b->is_fatal)
		s->so_error = b->err;
	if (!aopt_value(&s->opts, IPPROTO_IP, IP_RECVERR) || s->dg->error_cnt >= DGRAM_ERRORS_MAX ||
	    b->origin != NS_ERR_ICMP)
		return 0;
	x = malloc(sizeof(*x));
	if (!x)
		return 0;
	x->e = *b;
	list_push(&s->dg->errors, &x->node);
	s->dg->error_cnt++;
	return 0;
}

int dgram_take_error(struct asock *s)
{
	int err = s->so_error;

	s->so_error = 0;
	return err;
}

/* ---- bind(), connect() ---- */

static int64_t begin_op(struct agent *a, struct call *c, struct asock *s, enum asock_op op,
			enum held_kind kind)
{
	s->op = op;
	if (!call_hold(a, s, c, kind, 0)) {
		s->op = ASOCK_OP_NONE;
		return -ENOBUFS;
	}
	op_send(a, s);
	return CALL_LATER;
}

static int64_t dgram_bind(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	struct args_addr addr;
	int r = args_addr_in(&mem, s->family, ARGS_BIND, c->args[1], c->args[2], &addr);

	(void)fd;
	if (r < 0)
		return r;
	if (s->dg->is_bound)
		return -EINVAL;
	if (has_no_wire(s, &addr.ep.addr))
		return -EADDRNOTAVAIL;
	if (s->family == AF_INET6 && aopt_value(&s->opts, IPPROTO_IPV6, IPV6_V6ONLY)) {
		/* nobody can reach it: a port of its own, known here alone */
		s->local = addr.ep;
		if (s->local.port == 0)
			s->local.port = (uint16_t)(32768 + s->handle % 28232);
		s->dg->is_bound = s->is_v6only = true;
		return 0;
	}
	s->op_ep = addr.ep;
	return begin_op(a, c, s, ASOCK_OP_BIND, HELD_OP);
}

static int64_t dgram_connect(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	struct args_addr addr;
	int r = args_addr_in(&mem, s->family, ARGS_CONNECT, c->args[1], c->args[2], &addr);

	(void)fd;
	if (r < 0)
		return r;
	if (addr.is_unspec) {
		s->dg->is_unconnecting = true;
		return begin_op(a, c, s, ASOCK_OP_CONNECT, HELD_OP);
	}
	if (has_no_wire(s, &addr.ep.addr) || s->is_v6only)
		return -ENETUNREACH;
	if (ns_addr_is_any(&addr.ep.addr))
		addr.ep.addr = ns_addr_v4(INADDR_LOOPBACK);
	s->op_ep = addr.ep;
	return begin_op(a, c, s, ASOCK_OP_CONNECT, HELD_OP);
}

static int64_t dgram_getpeername(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);

	(void)a;
	(void)fd;
	if (!s->dg->is_connected)
		return -ENOTCONN;
	return args_addr_out(&mem, s->family, &s->remote, c->args[1], c->args[2]);
}

static int64_t not_for_datagrams(struct agent *a, struct call *c, struct asock *s, int fd)
{
	(void)a;
	(void)c;
	(void)s;
	(void)fd;
	return -EOPNOTSUPP;
}

/* ---- options ---- */

/** ask() - hold the call for an answer of the worker. Return: NULL at the cap, or without worker */
static struct held *ask(struct agent *a, struct call *c, struct asock *s)
{
	struct held *h = a->is_worker_up ? call_hold(a, s, c, HELD_QUERY, 0) : NULL;

	if (h)
		h->token = ++a->next_token;
	return h;
}

/** group_in() - struct ip_mreq, ip_mreqn or group_req. Return: false: too short */
static bool group_in(int name, const uint8_t *val, int len, struct ipc_dgram_group *g)
{
	struct ip_mreqn m;
	struct sockaddr_in sin;

	g->group = g->local = ns_addr_v4(0);
	if (name == MCAST_JOIN_GROUP || name == MCAST_LEAVE_GROUP) {
		struct group_req q;

		if (len < (int)sizeof(q))
			return false;
		memcpy(&q, val, sizeof(q));
		memcpy(&sin, &q.gr_group, sizeof(sin));
		g->ifindex = q.gr_interface;
		g->group = ns_addr_v4(ntohl(sin.sin_addr.s_addr));
		return sin.sin_family == AF_INET;
	}
	memset(&m, 0, sizeof(m));
	if (name == IP_MULTICAST_IF && len < (int)sizeof(struct ip_mreq)) {
		if (len < (int)sizeof(struct in_addr))
			return false;
		memcpy(&m.imr_address, val, sizeof(m.imr_address));
	} else {
		if (len < (int)sizeof(struct ip_mreq))
			return false;
		memcpy(&m, val, len < (int)sizeof(m) ? sizeof(struct ip_mreq) : sizeof(m));
	}
	g->group = ns_addr_v4(ntohl(m.imr_multiaddr.s_addr));
	g->local = ns_addr_v4(ntohl(m.imr_address.s_addr));
	g->ifindex = (uint32_t)m.imr_ifindex;
	return true;
}

static int64_t set_group(struct agent *a, struct call *c, struct asock *s, int name,
			 const uint8_t *val, int len)
{
	struct ipc_dgram_group g = { .sock = s->handle, .what = IPC_GROUP_JOIN };
	struct held *h;

	if (!group_in(name, val, len, &g))
		return -EINVAL;
	if (name == IP_DROP_MEMBERSHIP || name == MCAST_LEAVE_GROUP)
		g.what = IPC_GROUP_LEAVE;
	if (name == IP_MULTICAST_IF) {
		g.what = IPC_GROUP_IF;
		s->dg->mcast_if = g.local;
	}
	h = ask(a, c, s);
	if (!h)
		return -ENOBUFS;
	g.token = h->token;
	agent_send(a, IPC_DGRAM_GROUP, &g);
	return CALL_LATER;
}

/** wants_info() - options that need to know more of a datagram than its payload */
static bool wants_info(const struct asock *s)
{
	return aopt_value(&s->opts, IPPROTO_IP, IP_PKTINFO) ||
	       aopt_value(&s->opts, IPPROTO_IP, IP_RECVTTL) ||
	       aopt_value(&s->opts, IPPROTO_IP, IP_RECVTOS) ||
	       aopt_value(&s->opts, SOL_SOCKET, SO_TIMESTAMP) ||
	       aopt_value(&s->opts, SOL_SOCKET, SO_TIMESTAMPNS) ||
	       aopt_value(&s->opts, IPPROTO_IPV6, IPV6_RECVPKTINFO);
}

static int64_t dgram_setsockopt(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	int level = call_arg_int(c, 1), name = call_arg_int(c, 2), len;
	uint8_t val[AOPT_VALUE_MAX];
	int64_t r;

	if (level == IPPROTO_IP &&
	    (name == IP_ADD_MEMBERSHIP || name == IP_DROP_MEMBERSHIP || name == IP_MULTICAST_IF ||
	     name == MCAST_JOIN_GROUP || name == MCAST_LEAVE_GROUP)) {
		len = args_opt_in(&mem, c->args[3], c->args[4], val, sizeof(val));
		return len < 0 ? len : set_group(a, c, s, name, val, len);
	}
	if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && s->dg->is_bound)
		return -EINVAL;
	r = call_setsockopt(a, c, s, fd);
	if (r == 0 && !s->dg->has_info && wants_info(s)) {
		s->dg->has_info = true;
		agent_send(a, IPC_SETOPT, &(struct ipc_sockopt_set){ s->handle, NS_DGRAM_INFO, 1 });
	}
	return r;
}

static int64_t dgram_getsockopt(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	struct in_addr in = { .s_addr = htonl(ns_addr_to_v4(&s->dg->mcast_if)) };
	int room;

	if (call_arg_int(c, 1) != IPPROTO_IP || call_arg_int(c, 2) != IP_MULTICAST_IF)
		return call_getsockopt(a, c, s, fd);
	room = args_opt_len_in(&mem, c->args[4]);
	return room < 0 ? room : args_opt_out(&mem, c->args[3], c->args[4], room, &in, sizeof(in));
}

/* ---- sending ---- */

/** struct dgram_out - a datagram of a trapped send */
struct dgram_out {
	struct ipc_dgram_frame frame;
	bool has_name;
	size_t len;
	uint8_t data[NS_DGRAM_MAX + 1];
};

/** needs_check() - is it not known that datagrams can go there? */
static bool needs_check(const struct asock *s, const struct dgram_out *o)
{
	struct ns_endpoint to = ipc_endpoint_to(&o->frame.to.to);
	int mtu_discover = aopt_value(&s->opts, IPPROTO_IP, IP_MTU_DISCOVER);

	/* IP_PMTUDISC_DO and PROBE: longer than the path takes is an error of the call */
	if (mtu_discover >= 2 && mtu_discover <= 3 && o->len > s->dg->ok_len)
		return true;
	return o->has_name &&
	       (!ns_addr_eq(&to.addr, &s->dg->ok_to.addr) || to.port != s->dg->ok_to.port);
}

/** len_max() - octets of the longest payload to @to */
static size_t len_max(const struct ns_addr *to)
{
	return ns_addr_is_v4(to) ? NS_DGRAM_MAX4 : NS_DGRAM_MAX;
}

/** out_check() - may it be sent there? Return: 0, CALL_LATER (asked), or negative errno */
static int64_t out_check(struct agent *a, struct call *c, struct asock *s,
			 const struct dgram_out *o)
{
	struct ipc_dgram_check q = { .sock = s->handle,
				     .len = (uint32_t)o->len,
				     .to = o->frame.to };
	struct held *h;
	struct ns_endpoint to = ipc_endpoint_to(&o->frame.to.to);

	if (!o->has_name && !s->dg->is_connected)
		return -EDESTADDRREQ;
	if (s->is_v6only || (o->has_name && has_no_wire(s, &to.addr)))
		return -ENETUNREACH;
	if (o->has_name && to.port == 0)
		return -EINVAL;
	if (o->len > len_max(o->has_name ? &to.addr : &s->remote.addr))
		return -EMSGSIZE;
	if (!s->dg->is_bound && s->so_error) /* the port that was asked for below */
		return dgram_take_error(s);
	if (!s->dg->is_bound) {
		/* a port, by which getsockname() and the other end know us; the call is tried again */
		s->op_ep = (struct ns_endpoint){ .addr = ns_addr_v4(INADDR_ANY) };
		return begin_op(a, c, s, ASOCK_OP_BIND, HELD_DEFERRED);
	}
	if (!needs_check(s, o))
		return 0;
	h = ask(a, c, s);
	if (!h)
		return -ENOBUFS;
	h->is_check = true;
	h->asked_to = to;
	h->asked_len = q.len;
	q.token = h->token;
	agent_send(a, IPC_DGRAM_CHECK, &q);
	return CALL_LATER;
}

void dgram_checked(struct asock *s, const struct held *h)
{
	if (!s->dg)
		return;
	s->dg->ok_to = h->asked_to;
	s->dg->ok_len = h->asked_len;
}

/** out_send() - into the channel. Return: octets, CALL_LATER, or negative errno */
static int64_t out_send(struct agent *a, struct call *c, struct asock *s, int fd,
			struct dgram_out *o, int flags)
{
	struct iovec iov[2] = { { &o->frame, sizeof(o->frame) }, { o->data, o->len } };
	struct mmsghdr v = { .msg_hdr = { .msg_iov = iov, .msg_iovlen = 2 } };
	int64_t r = out_check(a, c, s, o);
	int err;

	if (r != 0)
		return r;
	err = dgram_take_error(s);
	if (err)
		return err;
	if (a->dgram_fd < 0)
		return -ENETDOWN;
	if (sendmmsg(a->dgram_fd, &v, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		return (int64_t)o->len;
	if (errno != EAGAIN)
		return -ENOBUFS;
	return flags & MSG_DONTWAIT || is_nonblocking(fd) ? -EAGAIN
							  : hold(a, s, c, HELD_RETRY, RETRY_NS);
}

/** out_name() - the destination. Return: 0 or negative errno */
static int out_name(struct asock *s, const struct args_mem *mem, uint64_t name, uint64_t name_len,
		    struct dgram_out *o)
{
	struct args_addr addr;
	int r = args_addr_in(mem, s->family, ARGS_CONNECT, name, name_len, &addr);

	if (r < 0)
		return r;
	if (addr.is_unspec)
		return s->family == AF_INET ? -EAFNOSUPPORT : -EINVAL;
	if (ns_addr_is_any(&addr.ep.addr))
		addr.ep.addr = ns_addr_v4(INADDR_LOOPBACK);
	o->has_name = true;
	o->frame.to.has_to = 1;
	o->frame.to.to = ipc_endpoint_from(&addr.ep);
	return 0;
}

static void out_init(struct asock *s, struct dgram_out *o)
{
	o->frame = (struct ipc_dgram_frame){ .sock = s->handle, .to = { .ttl = -1, .tos = -1 } };
	o->has_name = false;
	o->len = 0;
}

/* One at a time: the agent has one thread, and nothing of it outlives the call. */
static struct dgram_out out;

static int64_t dgram_sendto(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	int flags = call_arg_int(c, 3), r;

	if (c->args[4] == 0)
		return s->dg->is_connected ? CALL_CONTINUE : -EDESTADDRREQ;
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (c->args[2] > NS_DGRAM_MAX)
		return -EMSGSIZE;
	out_init(s, &out);
	r = out_name(s, &mem, c->args[4], c->args[5], &out);
	if (r < 0)
		return r;
	out.len = (size_t)c->args[2];
	if (out.len && mem.read(mem.ctx, c->args[1], out.data, out.len) < 0)
		return -EFAULT;
	return out_send(a, c, s, fd, &out, flags);
}

/** msg_gather() - the message at @addr into @out. Return: 0, CALL_CONTINUE (the kernel can do it), or negative errno */
static int64_t msg_gather(struct asock *s, const struct args_mem *mem, uint64_t addr)
{
	uint8_t control[ARGS_CONTROL_MAX];
	struct args_msg msg;
	struct args_tx tx;
	int r = args_msg_in(mem, addr, &msg);

	if (r < 0)
		return r;
	out_init(s, &out);
	if (msg.name && msg.name_len) {
		r = out_name(s, mem, msg.name, msg.name_len, &out);
		if (r < 0)
			return r;
	}
	if (!out.has_name && msg.control_len == 0)
		return s->dg->is_connected ? CALL_CONTINUE : -EDESTADDRREQ;
	if (msg.control_len > sizeof(control))
		return -ENOBUFS;
	if (msg.control_len && mem->read(mem->ctx, msg.control, control, msg.control_len) < 0)
		return -EFAULT;
	r = args_control_in(control, msg.control_len, &tx);
	if (r < 0)
		return r;
	out.frame.to.from = tx.from;
	out.frame.to.ifindex = tx.ifindex;
	out.frame.to.ttl = tx.ttl;
	out.frame.to.tos = tx.tos;
	r = args_gather(mem, msg.iov, msg.iov_cnt, out.data, sizeof(out.data));
	if (r < 0)
		return r;
	out.len = (size_t)r;
	return 0;
}

/** native_or_error() - a send that the kernel carries out fails with what is pending */
static int64_t native_or_error(struct asock *s)
{
	int err = dgram_take_error(s);

	return err ? err : CALL_CONTINUE;
}

static int64_t dgram_sendmsg(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	int64_t r = msg_gather(s, &mem, c->args[1]);

	if (r == CALL_CONTINUE)
		return native_or_error(s);
	return r != 0 ? r : out_send(a, c, s, fd, &out, call_arg_int(c, 2));
}

/** dgram_sendmmsg() - as many as go at once; one that must wait ends the call unless it is the first */
static int64_t dgram_sendmmsg(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	uint32_t cnt = (uint32_t)c->args[2], done = 0;
	int flags = call_arg_int(c, 3);

	if (cnt > 1024)
		cnt = 1024;
	for (; done < cnt; done++) {
		uint64_t addr = c->args[1] + done * sizeof(struct mmsghdr);
		int64_t r = msg_gather(s, &mem, addr);
		uint32_t len;

		if (r == CALL_CONTINUE && done == 0)
			return native_or_error(s); /* the resolver's two questions */
		if (done > 0 && (r != 0 || needs_check(s, &out)))
			return done; /* the program comes back with the rest */
		if (r == 0)
			r = out_send(a, c, s, fd, &out, done ? flags | MSG_DONTWAIT : flags);
		if (r < 0)
			return done ? (int64_t)done : r;
		len = (uint32_t)r;
		if (mem.write(mem.ctx, addr + offsetof(struct mmsghdr, msg_len), &len,
			      sizeof(len)) < 0)
			return done ? (int64_t)done : -EFAULT;
	}
	return done;
}

/* ---- dispatch ---- */

typedef int64_t (*dgram_fn)(struct agent *a, struct call *c, struct asock *s, int fd);

static const struct {
	int32_t nr;
	bool waits_for_op;
	dgram_fn fn;
} calls[] = {
	{ SYS_recvfrom, false, dgram_recv },          { SYS_sendto, true, dgram_sendto },
	{ SYS_recvmsg, false, dgram_recv },           { SYS_sendmsg, true, dgram_sendmsg },
	{ SYS_recvmmsg, false, dgram_recv },          { SYS_sendmmsg, true, dgram_sendmmsg },
	{ SYS_setsockopt, false, dgram_setsockopt },  { SYS_getsockopt, false, dgram_getsockopt },
	{ SYS_connect, true, dgram_connect },         { SYS_getsockname, true, call_getsockname },
	{ SYS_getpeername, true, dgram_getpeername }, { SYS_bind, true, dgram_bind },
	{ SYS_listen, false, not_for_datagrams },     { SYS_accept, false, not_for_datagrams },
	{ SYS_accept4, false, not_for_datagrams },
};

int64_t dgram_handle(struct agent *a, struct call *c, struct asock *s, int fd)
{
	for (size_t i = 0; i < NS_ARRAY_LEN(calls); i++) {
		if (calls[i].nr != c->nr)
			continue;
		if (calls[i].waits_for_op && s->op != ASOCK_OP_NONE)
			return hold(a, s, c, HELD_DEFERRED, 0);
		return calls[i].fn(a, c, s, fd);
	}
	return -ENOSYS;
}
