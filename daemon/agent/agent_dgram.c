/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_dgram.c - trapped calls on datagram sockets: the socket itself, bind(), connect()
 *
 * Theory of operation
 *
 * worker_dgram.c has the picture. The worker has the stack's end of the pair from socket() on; the
 * agent keeps a copy, for a new worker after the first has died: bound and connected sockets go on,
 * only what was in the stack is lost.
 *
 * bind() and connect() are questions to the worker, as for a stream, and answered at once. A link-local address,
 * and a group of that scope, name their link: as in Linux (sk_bound_dev_if) the socket is then bound to it.
 *
 *   agent_dgram_opt.c   options, groups
 *   agent_dgram_send.c  sendto(), sendmsg(), sendmmsg()
 *   agent_dgram_recv.c  recvfrom(), recvmsg(), recvmmsg(), MSG_ERRQUEUE
 *
 * shutdown() of a connected socket shuts the pair as well, for what does not trap. When both directions are, the worker
 * cannot tell that from close(): its socket is gone, and ours is DEAD while the program has it.
 */
#include "daemon/agent/agent_dgram.h"

#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "seccomp/uapi.h"

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

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	(void)setsockopt(fds[1], SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
	/* the worker tells an empty datagram, which has credentials, from the end, which has none */
	return pair_set(ret_pair, fds,
			setsockopt(fds[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ? -errno
											 : 0);
}

/** open_send() - DGRAM_OPEN with a copy of our end. Return: 0 or negative errno */
static int open_send(struct agent *a, struct asock *s)
{
	struct ipc_dgram_open body = { .sock = s->handle,
				       .kind = !s->dg->is_ping        ? IPC_DGRAM_UDP
					       : s->family == AF_INET ? IPC_DGRAM_PING4
								      : IPC_DGRAM_PING6 };
	int fd, r;

	if (!a->is_worker_up)
		return 0; /* the next one is told */
	sock_opts(s, &body.opts);
	if (s->dg->has_info)
		ipc_opts_set(&body.opts, NS_DGRAM_INFO, 1);
	fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = ipc_send(&a->worker, IPC_DGRAM_OPEN, &body, &fd, 1);
	if (r < 0)
		agent_worker_lost(a, r);
	return 0;
}

int dgram_new(struct agent *a, struct asock *s, bool is_ping)
{
	struct adgram *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	list_init(&d->names);
	list_init(&d->errors);
	d->is_ping = is_ping;
	d->watch_fd = -1;
	d->mcast_if = ns_addr_v4(INADDR_ANY);
	s->dg = d;
	s->agent = a;
	aopt_init_dgram(&s->opts, !is_ping               ? IPPROTO_UDP
				  : s->family == AF_INET ? IPPROTO_ICMP
							 : IPPROTO_ICMPV6);
	asock_set_state(&a->socks, s, ASOCK_BOUND);
	return open_send(a, s);
}

struct dgram_error *dgram_error_pop(struct agent *a, struct adgram *d)
{
	struct list *n = list_pop(&d->errors);
	struct dgram_error *x = n ? list_entry(n, struct dgram_error, node) : NULL;

	if (x) {
		d->error_cnt--;
		a->quotes_len -= x->e.quote_len;
	}
	return x;
}

void dgram_free(struct asock *s)
{
	struct adgram *d = s->dg;

	if (!d)
		return;
	while (!list_is_empty(&d->names))
		free(list_entry(list_pop(&d->names), struct dgram_name, node));
	while (!list_is_empty(&d->errors))
		free(dgram_error_pop(s->agent, d));
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

	if (s->state == ASOCK_DEAD)
		return;
	(void)!open_send(a, s);
	sock_opts(s, &b.opts);
	c.opts = b.opts;
	if (!s->is_user_bound)
		b.local.addr = sock_any(s);
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

bool dgram_is_connected(const struct asock *s)
{
	return s->dg && s->dg->is_connected;
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
		s->remote = (struct ns_endpoint){ .addr = sock_any(s) };
		s->bound_ifindex = 0; /* linux __udp_disconnect() */
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
	const struct ipc_dgram_err *b = &IPC_BODY(m, ipc_dgram_err_quote)->e;
	struct asock *s = asock_find_handle(&a->socks, b->sock);
	struct dgram_error *x;
	uint16_t quote_len;

	if (!s || !s->dg)
		return 0;
	if (b->has_token)
		s->dg->token_cnt++;
	if (b->is_fatal)
		s->so_error = b->err;
	if (b->err == -EMSGSIZE)
		s->dg->ok_len = 0; /* the path is not what it was */
	if (b->is_path_mtu) {
		s->dg->path_to = b->to.addr;
		s->dg->path_mtu = b->info;
		s->dg->path_ifindex = b->ifindex;
		return 0;
	}
	if (!b->is_queued || s->dg->error_cnt >= DGRAM_ERRORS_MAX)
		return 0;
	quote_len = a->quotes_len + b->quote_len <= DGRAM_QUOTES_MAX ? b->quote_len : 0;
	x = malloc(sizeof(*x) + quote_len);
	if (!x)
		return 0;
	x->e = *b;
	x->e.quote_len = quote_len;
	memcpy(x->quote, IPC_BODY(m, ipc_dgram_err_quote)->quote, quote_len);
	a->quotes_len += quote_len;
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

void dgram_closed(struct agent *a, struct asock *s)
{
	if (s->dg->is_mute && s->dg->is_deaf && program_end_is_at(a, s))
		sock_tombstone(a, s, 0, false);
	else
		asock_free(&a->socks, s);
}

/* ---- bind(), connect() ---- */

/* linux v6.1 ip_route_output_key_hash_rcu(), udpv6_sendmsg(), __ip6_datagram_connect() */
void dgram_any_is_here(const struct asock *s, struct ns_addr *addr)
{
	bool is_mapped = s->dg->is_bound && s->is_user_bound && ns_addr_is_v4(&s->local.addr) &&
			 !ns_addr_is_any(&s->local.addr);

	if (ns_addr_is_any(addr))
		*addr = s->family == AF_INET || ns_addr_is_v4(addr) || is_mapped
				? ns_addr_v4(INADDR_LOOPBACK)
				: (struct ns_addr){ { [15] = 1 } };
}

/** scope_bind() - a scope in an address binds the socket to that link. Return: 0, -EINVAL (it is bound to another, or has none) */
static int scope_bind(struct agent *a, struct asock *s, const struct args_addr *addr)
{
	if (!addr->needs_scope)
		return 0;
	if (addr->scope && s->bound_ifindex && addr->scope != s->bound_ifindex)
		return -EINVAL;
	if (addr->scope && !s->bound_ifindex)
		device_bind(a, s, addr->scope);
	return s->bound_ifindex ? 0 : -EINVAL;
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
	if (!s->dg->is_ping && !cred_may_take_port(a, c, addr.ep.port))
		return -EACCES;
	r = scope_bind(a, s, &addr);
	if (r < 0)
		return r;
	s->op_ep = addr.ep;
	return op_begin(a, c, s, ASOCK_OP_BIND, HELD_OP);
}

static int64_t dgram_connect(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	struct args_addr addr;
	int r = args_addr_in(&mem, s->family, s->dg->is_ping ? ARGS_CONNECT : ARGS_CONNECT_DGRAM,
			     c->args[1], c->args[2], &addr);

	(void)fd;
	if (r < 0)
		return r;
	if (addr.is_in4 && call_is_v6only(s))
		return -EAFNOSUPPORT;
	if (addr.is_unspec && s->state == ASOCK_DEAD) {
		s->remote = (struct ns_endpoint){ .addr = sock_any(s) };
		s->dg->is_connected = false;
		return 0;
	}
	if (addr.is_unspec) {
		s->dg->is_unconnecting = true;
		return op_begin(a, c, s, ASOCK_OP_CONNECT, HELD_OP);
	}
	r = scope_bind(a, s, &addr);
	if (r < 0)
		return r;
	dgram_any_is_here(s, &addr.ep.addr);
	if (s->state == ASOCK_DEAD) { /* another peer to whom nothing is sent */
		s->remote = addr.ep;
		return 0;
	}
	s->op_ep = addr.ep;
	return op_begin(a, c, s, ASOCK_OP_CONNECT, HELD_OP);
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

static int64_t dgram_ioctl(struct agent *a, struct call *c, struct asock *s, int fd)
{
	(void)a;
	(void)s;
	return inq_ioctl_dgram(c, fd);
}

/** dgram_shutdown() - linux inet_shutdown(): without a peer it is an error, and wakes who waits all the same */
static int64_t dgram_shutdown(struct agent *a, struct call *c, struct asock *s, int fd)
{
	int how = call_arg_int(c, 1);

	(void)fd;
	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	s->dg->is_mute = s->dg->is_mute || how != SHUT_RD;
	s->dg->is_deaf = s->dg->is_deaf || how != SHUT_WR;
	if (s->dg->is_connected)
		return s->state == ASOCK_DEAD ? 0 : CALL_CONTINUE;
	if (how != SHUT_WR)
		held_answer_all(a, s, HELD_RECV, 0);
	return -ENOTCONN;
}

/* ---- dispatch ---- */

static const struct call_row calls[] = {
	{ SYS_recvfrom, false, dgram_recv },          { SYS_sendto, true, dgram_sendto },
	{ SYS_recvmsg, false, dgram_recv },           { SYS_sendmsg, true, dgram_sendmsg },
	{ SYS_recvmmsg, false, dgram_recv },          { SYS_sendmmsg, true, dgram_sendmmsg },
	{ SYS_setsockopt, false, dgram_setsockopt },  { SYS_getsockopt, false, dgram_getsockopt },
	{ SYS_connect, true, dgram_connect },         { SYS_getsockname, true, call_getsockname },
	{ SYS_getpeername, true, dgram_getpeername }, { SYS_bind, true, dgram_bind },
	{ SYS_listen, false, not_for_datagrams },     { SYS_accept, false, not_for_datagrams },
	{ SYS_accept4, false, not_for_datagrams },    { SYS_ioctl, false, dgram_ioctl },
	{ SYS_shutdown, true, dgram_shutdown },
};

int64_t dgram_handle(struct agent *a, struct call *c, struct asock *s, int fd)
{
	return call_dispatch(calls, NS_ARRAY_LEN(calls), a, c, s, fd);
}
