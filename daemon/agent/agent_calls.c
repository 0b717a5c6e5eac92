/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_calls.c - what each trapped call means for a socket
 *
 * Theory of operation
 *
 * A handler returns the call's value or a negative errno at once, or holds it. What the program sees
 * of a socket between calls is the state of its pair's end, so the handlers shape that:
 *
 *   listening               stuffing: octets in the direction of the agent until poll() no longer
 *                           says writable (a quarter of SO_SNDBUF)
 *   connecting              likewise until SO_SNDBUF, which is small meanwhile, is full: send() waits, or says -EAGAIN
 *   connection waiting      tokens: one octet for each, in the direction of the program, so that
 *                           poll, epoll with EPOLLET or EPOLLEXCLUSIVE count as they would natively
 *   reset                   an octet unread in our end when it is closed
 *
 * IPv6: the stack has both families in one address type, IPv4 as mapped (RFC 3493 3.7), so a socket
 * of AF_INET6 needs no second path: what differs is how addresses are laid out, and IPV6_V6ONLY,
 * which the stack is told of with every bind, listen and connect (sock_opts()).
 *
 * Deviations: a program that reads or writes a socket it never connected meets the pair, not -ENOTCONN.
 */
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/sockios.h>

#include <linux/tcp.h>

#include "daemon/agent/agent_group.h"
#include "daemon/agent/agent_int.h"
#include "daemon/common/log.h"

/* net.core.somaxconn */
#define BACKLOG_MAX 4096
/* A blocking send to a full pair is tried again after this (only calls with an address are trapped). */
#define RETRY_NS (5 * NS_PER_MS)
/* Octets that a trapped send takes at once: more is a short write, as on any stream. */
#define SEND_MAX 65536u

bool is_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && flags & O_NONBLOCK;
}

static int arg_int(const struct call *c, int i)
{
	return call_arg_int(c, i);
}

int64_t hold(struct agent *a, struct asock *s, const struct call *c, enum held_kind kind,
	     uint64_t timeout_ns)
{
	return call_hold(a, s, c, kind, timeout_ns) ? CALL_LATER : -ENOBUFS;
}

int64_t op_begin(struct agent *a, struct call *c, struct asock *s, enum asock_op op,
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

/* ---- stuffing and tokens ---- */

void stuff(struct agent *a, struct asock *s, int program_fd)
{
	static const uint8_t zeros[AGENT_STUFFING];
	ssize_t n;

	if (s->stuffed_len || a->stuffed_cnt >= AGENT_STUFFED_MAX)
		return;
	n = send(program_fd, zeros, sizeof(zeros), MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n <= 0)
		return;
	s->stuffed_len = (uint32_t)n;
	a->stuffed_cnt++;
}

void stuff_full(struct agent *a, struct asock *s, int program_fd)
{
	int sndbuf = AGENT_SNDBUF_CONNECTING;

	if (a->stuffed_cnt < AGENT_STUFFED_MAX)
		(void)setsockopt(program_fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
	stuff(a, s, program_fd);
}

void unstuff(struct agent *a, struct asock *s)
{
	uint8_t buf[AGENT_STUFFING];

	if (!s->stuffed_len)
		return;
	a->stuffed_cnt--;
	while (s->stuffed_len > 0) {
		ssize_t n = recv(s->fd, buf, s->stuffed_len, MSG_DONTWAIT);

		if (n <= 0)
			break;
		s->stuffed_len -= (uint32_t)n;
	}
	s->stuffed_len = 0;
}

void tokens_fill(struct asock *s)
{
	while (s->token_cnt < s->accept_cnt) {
		/* full: some hundreds are enough to be readable, more follow as they are taken */
		if (send(s->fd, "t", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
			return;
		s->token_cnt++;
	}
}

/* ---- socket() ---- */

/** is_ping() - an echo socket of its family: linux net/ipv4/af_inet.c, net/ipv6/ping.c */
static bool is_ping(int family, int protocol)
{
	return protocol == (family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
}

/** socket_check() - what socket() may ask for. Return: 0, or negative errno in Linux's order */
static int socket_check(int family, int type, int protocol)
{
	if (type & ~(0xf | SOCK_NONBLOCK | SOCK_CLOEXEC))
		return -EINVAL;
	if (family != AF_INET && family != AF_INET6)
		return -EAFNOSUPPORT;
	switch (type & 0xf) {
	case SOCK_STREAM:
		if (protocol < 0 || protocol >= 256 + 7)
			return -EINVAL;
		return protocol == 0 || protocol == IPPROTO_TCP ? 0 : -EPROTONOSUPPORT;
	case SOCK_DGRAM:
		/* as if net.ipv4.ping_group_range held every group, which is what engines set */
		if (is_ping(family, protocol))
			return 0;
		return protocol == 0 || protocol == IPPROTO_UDP ? 0 : -EPROTONOSUPPORT;
	case SOCK_RAW:
		return -EPERM;
	default:
		return -ESOCKTNOSUPPORT;
	}
}

int64_t call_socket(struct agent *a, struct call *c)
{
	int family = arg_int(c, 0), type = arg_int(c, 1);
	bool is_dgram = (type & 0xf) == SOCK_DGRAM;
	struct asock *s;
	struct pair p;
	int r;

	if (family == AF_UNIX || family == AF_NETLINK)
		return CALL_CONTINUE;
	r = socket_check(family, type, arg_int(c, 2));
	if (r < 0)
		return r;
	r = is_dgram ? dgram_pair(&p) : agent_pair_take(a, &p);
	if (r < 0)
		return -ENFILE;
	s = asock_new(&a->socks, p.ino, p.ours, family);
	if (!s) {
		close(p.program);
		close(p.ours);
		return -ENFILE;
	}
	if (family == AF_INET6)
		s->local.addr = s->remote.addr = (struct ns_addr){ 0 };
	s->opts.uid = cred_uid(a, c);
	if (!(type & SOCK_NONBLOCK))
		(void)fcntl(p.program, F_SETFL, 0);
	/* of a datagram socket the worker watches the pair from the start */
	r = is_dgram ? dgram_new(a, s, is_ping(family, arg_int(c, 2))) : agent_watch(a, s);
	if (r == 0)
		r = call_add_fd(a, c, p.program, type & SOCK_CLOEXEC);
	close(p.program);
	if (r < 0) {
		asock_free(&a->socks, s);
		return r == -ENOENT ? CALL_LATER : r;
	}
	s->tid = c->tid;
	s->program_fd = r;
	s->is_cloexec = type & SOCK_CLOEXEC;
	return CALL_LATER;
}

/* ---- bind(), listen(), connect() ---- */

bool call_is_v6only(const struct asock *s)
{
	return s->family == AF_INET6 && aopt_value(&s->opts, IPPROTO_IPV6, IPV6_V6ONLY);
}

static int64_t call_bind(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	struct args_addr addr;
	int r;

	(void)fd;
	r = args_addr_in(&mem, s->family, ARGS_BIND, c->args[1], c->args[2], &addr);
	if (r < 0)
		return r;
	if (s->state != ASOCK_IDLE)
		return -EINVAL;
	/* linux v6.1 __inet6_bind() */
	if (s->family == AF_INET6 &&
	    (ns_addr_is_v4(&addr.ep.addr) ? call_is_v6only(s)
					  : ns_addr_is_multicast(&addr.ep.addr)))
		return -EINVAL;
	if (!cred_may_take_port(a, c, addr.ep.port))
		return -EACCES;
	s->op_ep = addr.ep;
	return op_begin(a, c, s, ASOCK_OP_BIND, HELD_OP);
}

static int64_t call_listen(struct agent *a, struct call *c, struct asock *s, int fd)
{
	int backlog = arg_int(c, 1);

	(void)fd;
	if ((unsigned int)backlog > BACKLOG_MAX)
		backlog = BACKLOG_MAX;
	if (s->state == ASOCK_LISTEN) {
		s->backlog = backlog;
		op_send(a, s);
		return 0;
	}
	if (s->state != ASOCK_IDLE && s->state != ASOCK_BOUND)
		return -EINVAL;
	s->backlog = backlog;
	return op_begin(a, c, s, ASOCK_OP_LISTEN, HELD_OP);
}

/** connect_again() - connect() on a socket that is no longer idle */
static int64_t connect_again(struct agent *a, struct call *c, struct asock *s, int fd)
{
	int err;

	switch (s->state) {
	case ASOCK_LISTEN:
		return -EISCONN;
	case ASOCK_CONNECTING:
		if (is_nonblocking(fd))
			return -EALREADY;
		return hold(a, s, c, HELD_CONNECT, s->opts.snd_timeout_ns);
	case ASOCK_ESTABLISHED:
		if (s->is_connect_reported)
			return -EISCONN;
		s->is_connect_reported = true;
		return 0;
	case ASOCK_DEAD:
		if (s->is_connect_reported)
			return -EISCONN;
		err = s->so_error;
		s->so_error = 0;
		s->is_free = true;
		return err ? err : -ECONNABORTED;
	case ASOCK_IDLE:
	case ASOCK_BOUND:
	case ASOCK_STATE_COUNT:
		break;
	}
	NS_BUG_ON(true);
	return -EINVAL;
}

/** connect_to() - to the address of @len octets at @at; @is_fast: of a send with MSG_FASTOPEN */
static int64_t connect_to(struct agent *a, struct call *c, struct asock *s, int fd, uint64_t at,
			  uint64_t len, bool is_fast)
{
	struct args_mem mem = call_mem(c);
	struct args_addr addr;
	int r = args_addr_in(&mem, s->family, ARGS_CONNECT, at, len, &addr);

	if (r < 0)
		return r;
	if (addr.is_unspec)
		return again_disconnect(a, s);
	if (s->state == ASOCK_DEAD && s->is_free) {
		r = again_revive(a, c, s, fd);
		if (r < 0)
			return r;
	}
	if (s->state != ASOCK_IDLE && s->state != ASOCK_BOUND)
		return connect_again(a, c, s, fd);
	if (ns_addr_is_v4(&addr.ep.addr) ? call_is_v6only(s) : ns_addr_is_multicast(&addr.ep.addr))
		return -ENETUNREACH;
	/* INADDR_ANY and :: mean this host: linux v6.1 ip_route_output_key_hash_rcu(), tcp_v6_connect() */
	if (ns_addr_is_any(&addr.ep.addr))
		addr.ep.addr = ns_addr_is_v4(&addr.ep.addr) || ns_addr_is_v4(&s->local.addr)
				       ? ns_addr_v4(INADDR_LOOPBACK)
				       : (struct ns_addr){ { [15] = 1 } };
	s->op_ep = addr.ep;
	s->so_error = 0;
	s->is_connect_reported = false;
	s->is_fast = is_fast;
	return op_begin(a, c, s, ASOCK_OP_CONNECT, HELD_OP);
}

static int64_t call_connect(struct agent *a, struct call *c, struct asock *s, int fd)
{
	return connect_to(a, c, s, fd, c->args[1], c->args[2], false);
}

/* ---- accept() ---- */

void pair_inherit(int fd, const struct aopt_values *opts)
{
	int oob_inline = aopt_value(opts, SOL_SOCKET, SO_OOBINLINE);
	int lowat = aopt_value(opts, SOL_SOCKET, SO_RCVLOWAT);

	if (oob_inline)
		(void)setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &oob_inline, sizeof(oob_inline));
	if (lowat != 1)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat));
}

int64_t accept_deliver(struct agent *a, struct asock *s, struct call *c, int fd)
{
	struct args_mem mem = call_mem(c);
	struct asock_conn *conn = asock_queue_first(s);
	int flags = c->nr == SYS_accept4 ? arg_int(c, 3) : 0;
	struct asock *n;
	struct pair p;
	char token;
	int r;

	if (c->args[1]) {
		r = args_addr_out(&mem, s->family, &conn->remote, c->args[1], c->args[2]);
		if (r < 0)
			return r;
	}
	if (agent_pair_take(a, &p) < 0)
		return -ENFILE;
	n = asock_new(&a->socks, p.ino, p.ours, s->family);
	if (!n) {
		close(p.program);
		close(p.ours);
		return -ENFILE;
	}
	n->tid = c->tid;
	n->local = conn->local;
	n->remote = conn->remote;
	n->is_connect_reported = true;
	aopt_inherit(&n->opts, &s->opts);
	n->bound_ifindex = s->bound_ifindex;
	asock_set_state(&a->socks, n, ASOCK_ESTABLISHED);
	if (!(flags & SOCK_NONBLOCK))
		(void)fcntl(p.program, F_SETFL, 0);
	pair_widen(p.program, aopt_value(&n->opts, IPPROTO_TCP, TCP_NOTSENT_LOWAT));
	pair_inherit(p.program, &n->opts);
	/* before the answer: the program must not find the listener readable by a connection that it has */
	if (s->token_cnt >= s->accept_cnt && recv(fd, &token, 1, MSG_DONTWAIT) == 1)
		s->token_cnt--;
	r = call_add_fd(a, c, p.program, flags & SOCK_CLOEXEC);
	close(p.program);
	if (r < 0) {
		/* the connection stays in the queue, and the listener readable */
		asock_free(&a->socks, n);
		tokens_fill(s);
		return r == -ENOENT ? CALL_LATER : r;
	}
	n->program_fd = r;
	agent_attach(a, n, conn->conn);
	asock_queue_pop(s);
	tokens_fill(s);
	return CALL_LATER;
}

static int64_t call_accept(struct agent *a, struct call *c, struct asock *s, int fd)
{
	if (c->nr == SYS_accept4 && arg_int(c, 3) & ~(SOCK_NONBLOCK | SOCK_CLOEXEC))
		return -EINVAL;
	if (s->state != ASOCK_LISTEN)
		return -EINVAL;
	if (asock_queue_first(s))
		return accept_deliver(a, s, c, fd);
	if (is_nonblocking(fd))
		return -EAGAIN;
	return hold(a, s, c, HELD_ACCEPT, s->opts.rcv_timeout_ns);
}

/* ---- names ---- */

int64_t call_getsockname(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);

	(void)a;
	(void)fd;
	return args_addr_out(&mem, s->family, &s->local, c->args[1], c->args[2]);
}

static int64_t call_getpeername(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);

	(void)a;
	(void)fd;
	if (s->state != ASOCK_ESTABLISHED)
		return -ENOTCONN;
	return args_addr_out(&mem, s->family, &s->remote, c->args[1], c->args[2]);
}

/* ---- options ---- */

/** is_known_to_worker() - there is something in the stack that an option can act on */
static bool is_known_to_worker(const struct asock *s)
{
	return s->state != ASOCK_IDLE && s->state != ASOCK_DEAD;
}

int64_t call_setsockopt(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	uint8_t val[AOPT_VALUE_MAX];
	struct aopt_result res;
	int level = arg_int(c, 1), name = arg_int(c, 2);
	int len = args_opt_in(&mem, c->args[3], c->args[4], val, sizeof(val));
	int r;

	if (len < 0)
		return len;
	if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && s->state != ASOCK_IDLE && !s->dg)
		return s->family == AF_INET6 ? -EINVAL : -ENOPROTOOPT;
	if (level == SOL_SOCKET && name == SO_BINDTODEVICE)
		return device_set_name(a, c, s, val, len);
	if (level == SOL_SOCKET && name == SO_BINDTOIFINDEX)
		return device_set_ifindex(a, c, s, val, len);
	r = s->dg ? 0 : group_opt_of_stream(s->family, level, name, (size_t)len);
	if (r < 0)
		return r;
	if (!cred_may_set(a, c, level, name, val, len))
		return -EPERM;
	r = level == IPPROTO_TCP ? fastopen_may_set(a, s, name, val, len) : 0;
	if (level == IPPROTO_IPV6 && name == IPV6_PKTINFO)
		r = device_may_set_pktinfo(s, val, len);
	if (r < 0)
		return r;
	r = aopt_set(&s->opts, s->family, level, name, val, len, &res);
	if (r < 0)
		return r;
	if (level == IPPROTO_TCP && name == TCP_NOTSENT_LOWAT && s->state == ASOCK_ESTABLISHED)
		pair_widen(fd, res.value);
	if (level == IPPROTO_TCP && name == TCP_FASTOPEN_KEY && is_known_to_worker(s))
		fastopen_tell_keys(a, s);
	if (res.is_for_stack && is_known_to_worker(s))
		agent_send(a, IPC_SETOPT,
			   &(struct ipc_sockopt_set){ s->handle, res.option, res.value });
	return res.todo == AOPT_TO_KERNEL ? CALL_CONTINUE : 0;
}

int64_t ask_worker(struct agent *a, struct call *c, struct asock *s, enum ipc_type type,
		   enum ns_sockopt option)
{
	struct ipc_getopt q = { .sock = s->handle, .option = option };
	struct held *h;

	if (!a->is_worker_up)
		return -ENOTCONN;
	h = call_hold(a, s, c, HELD_QUERY, 0);
	if (!h)
		return -ENOBUFS;
	h->token = q.token = ++a->next_token;
	h->level = arg_int(c, 1);
	h->name = arg_int(c, 2);
	agent_send(a, type, &q);
	return CALL_LATER;
}

/** get_state() - options that are the socket's state. Return: as a handler, value in @res */
static int64_t get_state(struct agent *a, struct call *c, struct asock *s, struct aopt_result *res)
{
	uint64_t cookie = s->handle;
	struct ns_tcp_info info = { .state = s->state == ASOCK_LISTEN ? 10 : 7,
				    .pacing_rate = UINT64_MAX,
				    .max_pacing_rate = UINT64_MAX };
	int32_t val = 0;

	if (res->level == IPPROTO_TCP) { /* TCP_INFO, TCP_CC_INFO */
		if (s->state == ASOCK_ESTABLISHED || s->state == ASOCK_CONNECTING)
			return ask_worker(a, c, s, IPC_GETINFO, (enum ns_sockopt)0);
		res->len = res->name == TCP_CC_INFO ? aopt_cc_info(&info, res->buf)
						    : aopt_tcp_info(&info, res->buf);
		return 0;
	}
	switch (res->name) {
	case SO_COOKIE:
		memcpy(res->buf, &cookie, sizeof(cookie));
		res->len = sizeof(cookie);
		return 0;
	case SO_ERROR:
		if (s->is_kernel_err)
			return CALL_CONTINUE;
		val = -s->so_error;
		s->so_error = 0;
		break;
	case SO_ACCEPTCONN:
		val = s->state == ASOCK_LISTEN;
		break;
	case SO_DOMAIN:
		val = s->family;
		break;
	case SO_BINDTOIFINDEX:
		val = (int32_t)s->bound_ifindex;
		break;
	default:
		return -ENOPROTOOPT;
	}
	memcpy(res->buf, &val, sizeof(val));
	res->len = sizeof(val);
	return 0;
}

/** is_multicast_if() - by which link to groups: asked of a stream, of none */
static bool is_multicast_if(const struct asock *s, int level, int name)
{
	return (level == IPPROTO_IP && name == IP_MULTICAST_IF) ||
	       (level == IPPROTO_IPV6 && name == IPV6_MULTICAST_IF && s->family == AF_INET6);
}

/** has_path() - there is one in the stack, which knows the options that are its own */
static bool has_path(const struct asock *s)
{
	return s->state == ASOCK_ESTABLISHED || s->state == ASOCK_CONNECTING ||
	       dgram_is_connected(s);
}

int64_t call_getsockopt(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	struct aopt_result res;
	int room = args_opt_len_in(&mem, c->args[4]);
	int64_t r;

	(void)fd;
	if (arg_int(c, 1) == IPPROTO_IPV6 && s->family == AF_INET) /* linux do_ip_getsockopt() */
		return -EOPNOTSUPP;
	if (room < 0)
		return room;
	if (!s->dg && is_multicast_if(s, arg_int(c, 1), arg_int(c, 2)))
		return args_opt_out(&mem, c->args[3], c->args[4], room, &(struct in_addr){ 0 },
				    sizeof(struct in_addr));
	if (arg_int(c, 1) == SOL_SOCKET && arg_int(c, 2) == SO_BINDTODEVICE)
		return device_get_name(a, s, &mem, c->args[3], c->args[4]);
	r = aopt_get(&s->opts, s->family, arg_int(c, 1), arg_int(c, 2), room, has_path(s), &res);
	if (r == 0 && res.todo == AOPT_TO_STATE)
		r = get_state(a, c, s, &res);
	if (r != 0)
		return r;
	if (res.todo == AOPT_TO_KERNEL)
		return CALL_CONTINUE;
	if (res.todo == AOPT_TO_STACK)
		return ask_worker(a, c, s, IPC_GETOPT, res.option);
	return args_opt_out(&mem, c->args[3], c->args[4], room, res.buf, res.len);
}

/* ---- send and receive with an address, which a stream ignores ---- */

/** not_connected() - what a send says in this state; 0 when it may go on */
static int not_connected(const struct asock *s)
{
	if (s->state == ASOCK_ESTABLISHED)
		return 0;
	return s->state == ASOCK_CONNECTING ? -EAGAIN : -EPIPE;
}

/** send_copy() - @len octets on behalf of the program; the pair takes what it has room for */
static int64_t send_copy(struct agent *a, struct call *c, struct asock *s, int fd, const void *buf,
			 int len, int flags)
{
	ssize_t n;

	if (len < 0)
		return len;
	if (flags & MSG_OOB)
		return urgent_send(a, c, s, fd, buf, len, flags);
	n = send(fd, buf, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n >= 0)
		return n;
	if (errno == EAGAIN && !(flags & MSG_DONTWAIT) && !is_nonblocking(fd))
		return hold(a, s, c, HELD_RETRY, RETRY_NS);
	return -errno;
}

/**
 * connect_fast() - RFC 7413 3: connect() and send() in one
 *
 * The call is run again, as a send, when the stack says "connected": at once when the server's cookie is
 * known. Without one that is a round trip later; who does not want to wait is told -EINPROGRESS, and that
 * none of the octets was taken.
 */
static int64_t connect_fast(struct agent *a, struct call *c, struct asock *s, int fd, uint64_t at,
			    uint64_t len)
{
	if (!fastopen_is_client(a))
		return -EOPNOTSUPP;
	if (s->state == ASOCK_ESTABLISHED)
		return -EISCONN;
	if (at == 0)
		return -EINVAL;
	if (s->op != ASOCK_OP_NONE || s->state == ASOCK_CONNECTING)
		return -EALREADY;
	if (s->state != ASOCK_IDLE && s->state != ASOCK_BOUND)
		return -EPIPE;
	return connect_to(a, c, s, fd, at, len, true);
}

/** is_fast_send() - a send with MSG_FASTOPEN that has to connect first; the one that has done so comes back as a send */
static bool is_fast_send(struct asock *s, int flags)
{
	bool is_done = s->is_fast && s->state == ASOCK_ESTABLISHED;

	if (!(flags & MSG_FASTOPEN))
		return false;
	s->is_fast = false;
	return !is_done;
}

static int64_t call_sendto(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	uint8_t buf[SEND_MAX];
	size_t len = c->args[2] < sizeof(buf) ? (size_t)c->args[2] : sizeof(buf);
	int flags = arg_int(c, 3);
	int r = not_connected(s);

	if (is_fast_send(s, flags))
		return connect_fast(a, c, s, fd, c->args[4], c->args[5]);
	if (c->args[4] == 0 && !(flags & MSG_OOB)) /* a profile that traps more than ours does */
		return CALL_CONTINUE;
	if (r < 0)
		return r;
	if (len > 0 && mem.read(mem.ctx, c->args[1], buf, len) < 0)
		return -EFAULT;
	return send_copy(a, c, s, fd, buf, (int)len, flags);
}

static int64_t call_sendmsg(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	uint8_t buf[SEND_MAX];
	struct args_msg msg;
	int flags = arg_int(c, 2), r = not_connected(s);
	bool is_fast = is_fast_send(s, flags);

	if (r < 0 && !is_fast)
		return r;
	r = args_msg_in(&mem, c->args[1], &msg);
	if (r < 0)
		return r;
	if (is_fast)
		return connect_fast(a, c, s, fd, msg.name, msg.name_len);
	if (msg.name == 0 && !(flags & MSG_OOB))
		return CALL_CONTINUE; /* the octets are the program's own business */
	return send_copy(a, c, s, fd, buf,
			 args_gather(&mem, msg.iov, msg.iov_cnt, buf, sizeof(buf)), flags);
}

/** call_recv() - recvfrom(), recvmsg(), recvmmsg(): the pair has no address to give, as a TCP socket */
static int64_t call_recv(struct agent *a, struct call *c, struct asock *s, int fd)
{
	(void)a;
	if (s->state == ASOCK_CONNECTING)
		return CALL_CONTINUE; /* the pair is empty: -EAGAIN, or it waits, as in SYN-SENT */
	if (s->state != ASOCK_ESTABLISHED && s->state != ASOCK_DEAD)
		return -ENOTCONN;
	return inq_recvmsg(c, s, fd);
}

/** call_sendmmsg() - the kernel's own loop; a message with a name is refused there (-EISCONN) */
static int64_t call_sendmmsg(struct agent *a, struct call *c, struct asock *s, int fd)
{
	int r = not_connected(s);

	(void)a;
	(void)c;
	(void)fd;
	return r < 0 ? r : CALL_CONTINUE;
}

/* ---- dispatch ---- */

static const struct call_row calls[] = {
	{ SYS_setsockopt, false, call_setsockopt },  { SYS_getsockopt, false, call_getsockopt },
	{ SYS_accept4, true, call_accept },          { SYS_accept, true, call_accept },
	{ SYS_connect, true, call_connect },         { SYS_getsockname, true, call_getsockname },
	{ SYS_getpeername, true, call_getpeername }, { SYS_bind, true, call_bind },
	{ SYS_listen, true, call_listen },           { SYS_sendto, false, call_sendto },
	{ SYS_recvfrom, false, call_recv },          { SYS_sendmsg, false, call_sendmsg },
	{ SYS_recvmsg, false, call_recv },           { SYS_sendmmsg, false, call_sendmmsg },
	{ SYS_recvmmsg, false, call_recv },          { SYS_ioctl, false, inq_ioctl },
	{ SYS_shutdown, true, again_shutdown },
};

int64_t call_dispatch(const struct call_row *rows, size_t cnt, struct agent *a, struct call *c,
		      struct asock *s, int fd)
{
	for (size_t i = 0; i < cnt; i++) {
		if (rows[i].nr != c->nr)
			continue;
		if (rows[i].waits_for_op && s->op != ASOCK_OP_NONE)
			return hold(a, s, c, HELD_DEFERRED, 0);
		return rows[i].fn(a, c, s, fd);
	}
	return -ENOSYS; /* a profile that traps what we do not know; never the kernel's own way */
}

int64_t call_handle(struct agent *a, struct call *c, struct asock *s, int fd)
{
	if (s->dg)
		return dgram_handle(a, c, s, fd);
	if (s->is_narrow) { /* nobody knew where the program's end was when it connected */
		s->is_narrow = false;
		pair_widen(fd, aopt_value(&s->opts, IPPROTO_TCP, TCP_NOTSENT_LOWAT));
	}
	return call_dispatch(calls, NS_ARRAY_LEN(calls), a, c, s, fd);
}

void held_timeout(struct held *h)
{
	struct agent *a = h->agent;
	struct asock *s = asock_find_handle(&a->socks, h->sock);
	struct call c = h->call;
	enum held_kind kind = h->kind;
	int fd;

	held_free(h);
	if (!s)
		return;
	switch (kind) {
	case HELD_ACCEPT:
		call_answer(a, &c, -EAGAIN);
		break;
	case HELD_CONNECT:
		/* from here on as if it had been non-blocking: inet_wait_for_connect() */
		fd = call_program_fd(a, &c, s);
		if (fd >= 0) {
			stuff_full(a, s, fd);
			close(fd);
		}
		call_answer(a, &c, -EINPROGRESS);
		break;
	case HELD_RETRY:
		if (call_is_waiting(&c))
			call_run(a, &c);
		break;
	case HELD_RECV:
		call_answer(a, &c, -EAGAIN);
		break;
	case HELD_OP:
	case HELD_DEFERRED:
	case HELD_QUERY:
		break; /* have no timer */
	}
}
