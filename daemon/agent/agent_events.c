/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_events.c - what the worker tells, and what a program's close means
 *
 * Theory of operation
 *
 * bind(), listen() and connect() are one question to the worker each (asock.op); other calls on the
 * socket wait meanwhile. The answer is found by the socket's handle: a socket that is gone has none,
 * so late answers meet nobody. The worker is trusted less than the agent: an answer that nobody asked
 * for is ignored, a message about a socket in the wrong state too.
 */
#include <event2/event.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/agent/agent_int.h"
#include "daemon/common/log.h"

/* ---- questions ---- */

struct ns_addr sock_any(const struct asock *s)
{
	return s->family == AF_INET6 ? (struct ns_addr){ { 0 } } : ns_addr_v4(INADDR_ANY);
}

/** local_set() - what the stack chose */
static void local_set(struct asock *s, const struct ipc_endpoint *local)
{
	s->local = ipc_endpoint_to(local);
}

void sock_opts(const struct asock *s, struct ipc_opts *ret_opts)
{
	aopt_opts(&s->opts, ret_opts);
	if (s->bound_ifindex)
		ipc_opts_set(ret_opts, NS_SO_BINDTOIFINDEX, (int32_t)s->bound_ifindex);
	if (s->family == AF_INET6)
		ipc_opts_set(ret_opts, NS_SO_V6ONLY,
			     aopt_value(&s->opts, IPPROTO_IPV6, IPV6_V6ONLY) != 0);
}

void op_send(struct agent *a, struct asock *s)
{
	struct ipc_bind b = { .sock = s->handle };
	struct ipc_listen l = { .sock = s->handle, .backlog = s->backlog };
	struct ipc_connect c = { .sock = s->handle };

	switch (s->op) {
	case ASOCK_OP_BIND:
		b.local = ipc_endpoint_from(&s->op_ep);
		sock_opts(s, &b.opts);
		agent_send(a, IPC_BIND, &b);
		fastopen_tell_keys(a, s);
		break;
	case ASOCK_OP_NONE: /* listen() again: another backlog */
	case ASOCK_OP_LISTEN:
		sock_opts(s, &l.opts);
		agent_send(a, IPC_LISTEN, &l);
		fastopen_tell_keys(a, s);
		break;
	case ASOCK_OP_CONNECT:
		if (dgram_is_unconnect(s)) {
			agent_send(a, IPC_DGRAM_UNCONNECT, &(struct ipc_dgram_sock){ s->handle });
			break;
		}
		c.remote = ipc_endpoint_from(&s->op_ep);
		sock_opts(s, &c.opts);
		if (s->is_fast)
			ipc_opts_set(&c.opts, NS_TCP_FASTOPEN_CONNECT, 1);
		agent_send(a, IPC_CONNECT, &c);
		break;
	}
}

/** held_take() - the oldest held call of @kind, taken out; false when there is none */
static bool held_take(struct asock *s, struct list *head, enum held_kind kind,
		      struct call *ret_call)
{
	(void)s;
	list_for_each (it, head) {
		struct held *h = list_entry(it, struct held, node);

		if (h->kind != kind)
			continue;
		*ret_call = h->call;
		held_free(h);
		return true;
	}
	return false;
}

/** answer_kept() - answer and remember: a signal may take the answer away */
static void answer_kept(struct agent *a, struct asock *s, const struct call *c, int64_t answer)
{
	/* a datagram socket may be connected again at once, elsewhere, by the same call */
	if ((answer == 0 || answer == -EINPROGRESS) && !(s->dg && c->nr == SYS_connect))
		asock_memo_set(s, c->tid, c->nr, c->ip, c->args, answer, agent_now());
	call_answer(a, c, answer);
}

void op_done(struct agent *a, struct asock *s)
{
	uint32_t handle = s->handle;
	struct call c;

	s->op = ASOCK_OP_NONE;
	/* any of them may begin the next op, or end the socket */
	while (s && s->op == ASOCK_OP_NONE && held_take(s, &s->deferred, HELD_DEFERRED, &c)) {
		struct asock_memo memo = s->memo;

		if (!call_is_waiting(&c))
			continue;
		call_run(a, &c);
		s = asock_find_handle(&a->socks, handle);
		if (s && !s->memo.is_set)
			s->memo = memo; /* others of the same moment may still have lost theirs */
	}
}

/** op_answer() - tell the call that began the op */
static void op_answer(struct agent *a, struct asock *s, int64_t answer)
{
	struct call c;

	if (held_take(s, &s->held, HELD_OP, &c))
		answer_kept(a, s, &c, answer);
}

/* ---- answers ---- */

/** sock_of() - the socket an answer is about, when it waits for just that */
static struct asock *sock_of(struct agent *a, uint32_t handle, enum asock_op op)
{
	struct asock *s = asock_find_handle(&a->socks, handle);

	return s && s->op == op ? s : NULL;
}

static int on_bind_r(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_sock_result *b = IPC_BODY(m, ipc_sock_result);
	struct asock *s = sock_of(a, b->sock, ASOCK_OP_BIND);

	if (!s) {
		if (b->err < 0 && asock_find_handle(&a->socks, b->sock))
			log_warn(b->err, "cannot bind a port of the container anew");
		return 0;
	}
	if (b->err == 0) {
		s->is_user_bound = true;
		local_set(s, &b->local);
		if (s->dg)
			dgram_bound(s);
		else
			asock_set_state(&a->socks, s, ASOCK_BOUND);
	}
	if (s->dg && b->err < 0 && list_is_empty(&s->held))
		s->so_error = b->err; /* of a send that wanted a port, and is tried again now */
	op_answer(a, s, b->err);
	op_done(a, s);
	return 0;
}

/** op_stuff() - stuff the pair of the socket whose call waits; without success the program only sees "writable" too early */
static void op_stuff(struct agent *a, struct asock *s)
{
	list_for_each (it, &s->held) {
		struct held *h = list_entry(it, struct held, node);
		int fd;

		if (h->kind != HELD_OP)
			continue;
		fd = call_program_fd(a, &h->call, s);
		if (fd < 0)
			return;
		stuff(a, s, fd);
		close(fd);
		return;
	}
}

static int on_listen_r(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_sock_result *b = IPC_BODY(m, ipc_sock_result);
	struct asock *s = sock_of(a, b->sock, ASOCK_OP_LISTEN);

	if (!s) {
		if (b->err < 0 && asock_find_handle(&a->socks, b->sock))
			log_warn(b->err, "cannot listen on a port of the container anew");
		return 0;
	}
	if (b->err == 0) {
		local_set(s, &b->local);
		op_stuff(a, s);
		asock_set_state(&a->socks, s, ASOCK_LISTEN);
	}
	op_answer(a, s, b->err);
	op_done(a, s);
	return 0;
}

/**
 * connect_begun() - the SYN is on its way: a blocking connect() goes on waiting, another one returns
 * @is_told:	CONNECTED follows: it waits for its octets (RFC 7413), and the call is told so
 */
static void connect_begun(struct agent *a, struct asock *s, bool is_told)
{
	struct call c;
	int fd, flags;

	if (!held_take(s, &s->held, HELD_OP, &c))
		return; /* interrupted by a signal: goes on in the background */
	fd = call_program_fd(a, &c, s);
	flags = fd >= 0 ? fcntl(fd, F_GETFL) : O_NONBLOCK;
	if (((flags & O_NONBLOCK) || fastopen_is_dontwait(&c)) && !is_told) {
		if (fd >= 0)
			stuff_full(a, s, fd);
		answer_kept(a, s, &c, -EINPROGRESS);
	} else if (!call_hold(a, s, &c, HELD_CONNECT, s->opts.snd_timeout_ns)) {
		answer_kept(a, s, &c, -EINPROGRESS);
	}
	if (fd >= 0)
		close(fd);
}

static int on_connect_r(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_sock_result *b = IPC_BODY(m, ipc_sock_result);
	struct asock *s = sock_of(a, b->sock, ASOCK_OP_CONNECT);

	if (!s)
		return 0;
	if (s->dg) {
		if (b->err == 0)
			local_set(s, &b->local);
		dgram_connected(a, s, b->err);
		op_answer(a, s, b->err);
	} else if (b->err == -EINPROGRESS || b->err == 0) {
		local_set(s, &b->local);
		s->remote = s->op_ep;
		asock_set_state(&a->socks, s, ASOCK_CONNECTING);
		connect_begun(a, s, b->err == 0);
	} else {
		op_answer(a, s, b->err < 0 ? b->err : -EINVAL);
	}
	op_done(a, s);
	return 0;
}

static int on_connected(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_connected *b = IPC_BODY(m, ipc_connected);
	struct asock *s = asock_find_handle(&a->socks, b->sock);
	struct call c;
	int fd;

	if (!s || s->state != ASOCK_CONNECTING)
		return 0;
	s->local = ipc_endpoint_to(&b->local);
	s->remote = ipc_endpoint_to(&b->remote);
	asock_set_state(&a->socks, s, ASOCK_ESTABLISHED);
	/* the worker watches from here on; its descriptor must be there before the program's octets */
	agent_unwatch(s);
	unstuff(a, s);
	fd = program_end_find(a, s);
	if (fd >= 0) {
		pair_widen(fd, aopt_value(&s->opts, IPPROTO_TCP, TCP_NOTSENT_LOWAT));
		close(fd);
	}
	s->is_narrow = fd < 0;
	agent_attach(a, s, 0);
	s = asock_find_handle(&a->socks, b->sock);
	while (s && held_take(s, &s->held, HELD_CONNECT, &c)) {
		s->is_connect_reported = true;
		if (c.nr == SYS_connect) {
			answer_kept(a, s, &c, 0);
		} else if (call_is_waiting(&c)) {
			call_run(a, &c); /* MSG_FASTOPEN: now the octets */
			s = asock_find_handle(&a->socks, b->sock);
		}
	}
	return 0;
}

void sock_unname(struct asock *s)
{
	memset(&s->local, 0, sizeof(s->local));
	if (s->family == AF_INET)
		s->local.addr = ns_addr_v4(0);
}

void sock_rebind(struct agent *a, struct asock *s)
{
	struct ipc_bind b = { .sock = s->handle, .local = ipc_endpoint_from(&s->local) };

	sock_opts(s, &b.opts);
	agent_send(a, IPC_BIND, &b);
}

static int on_failed(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_sock_err *b = IPC_BODY(m, ipc_sock_err);
	struct asock *s = asock_find_handle(&a->socks, b->sock);
	struct call c;
	bool is_told = false;

	if (!s || s->state != ASOCK_CONNECTING)
		return 0;
	while (held_take(s, &s->held, HELD_CONNECT, &c)) {
		is_told |= call_is_waiting(&c);
		answer_kept(a, s, &c, b->err);
	}
	if (s->stuffed_len) {
		sock_tombstone(a, s, is_told ? 0 : b->err, false);
		s->is_free = is_told;
		return 0;
	}
	/* the pair is as new: a program that waited may try again on the same socket */
	s->so_error = is_told ? 0 : b->err;
	again_unbind(a, s);
	return 0;
}

static int on_acceptable(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_acceptable *b = IPC_BODY(m, ipc_acceptable);
	struct asock *s = asock_find_handle(&a->socks, b->listener);
	struct ns_endpoint local = ipc_endpoint_to(&b->local);
	struct ns_endpoint remote = ipc_endpoint_to(&b->remote);
	struct call c;
	int r;

	if (!s)
		return 0; /* closed meanwhile: the worker learns it by CLOSE */
	r = asock_queue_push(s, b->conn, &local, &remote);
	if (r == -ENOSPC)
		return -EPROTO; /* the worker knows the backlog */
	if (r < 0)
		return 0;
	while (asock_queue_first(s) && held_take(s, &s->held, HELD_ACCEPT, &c)) {
		int64_t answer = call_is_waiting(&c) ? accept_deliver(a, s, &c, -1) : CALL_LATER;

		if (answer != CALL_LATER)
			call_answer(a, &c, answer);
	}
	tokens_fill(s);
	return 0;
}

static int on_detached(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_sock_err *b = IPC_BODY(m, ipc_sock_err);
	struct asock *s = asock_find_handle(&a->socks, b->sock);

	if (s && s->state == ASOCK_ESTABLISHED)
		sock_tombstone(a, s, b->err, true);
	return 0;
}

static int on_closed(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_closed *b = IPC_BODY(m, ipc_closed);
	struct asock *s = asock_find_handle(&a->socks, b->sock);

	if (s && s->dg) {
		dgram_closed(a, s);
		return 0;
	}
	if (!s || s->state != ASOCK_ESTABLISHED)
		return 0;
	/* worth an entry only while the thread that called last has it still */
	if (b->is_shut && program_end_is_at(a, s))
		sock_tombstone(a, s, 0, false);
	else
		asock_free(&a->socks, s);
	return 0;
}

bool query_take(struct agent *a, uint32_t token, struct held *ret_held)
{
	list_for_each (it, &a->held) {
		struct held *h = list_entry(it, struct held, all_node);

		if (h->kind != HELD_QUERY || h->token != token)
			continue;
		*ret_held = *h;
		held_free(h);
		return true;
	}
	return false;
}

/** query_answer() - @err, or the value into the program's buffer */
static void query_answer(struct agent *a, struct held *h, int err, const void *val, size_t len)
{
	struct call *c = &h->call;
	struct asock *s = asock_find_handle(&a->socks, h->sock);
	struct args_mem mem = call_mem(c);
	int room;

	if (h->is_check && err == 0 && s) {
		dgram_checked(s, h);
		if (call_is_waiting(c))
			call_run(a, c);
		return;
	}
	if (h->is_urgent) {
		urgent_answer(a, s, h, err);
		return;
	}
	if (err == 0 && c->nr == SYS_getsockopt) {
		room = args_opt_len_in(&mem, c->args[4]);
		err = room < 0 ? room : args_opt_out(&mem, c->args[3], c->args[4], room, val, len);
	}
	if (c->nr == SYS_ioctl) {
		int32_t n = 0; /* a connection that ended meanwhile has nothing left to send */
		int fd = (int)c->args[1] == FIONREAD && s ? call_program_fd(a, c, s) : -1;

		if (err == 0)
			memcpy(&n, val, sizeof(n));
		if (fd >= 0) {
			n += inq_of_pair(fd);
			close(fd);
		}
		err = mem.write(mem.ctx, c->args[2], &n, sizeof(n)) < 0 ? -EFAULT : 0;
	}
	call_answer(a, c, err);
}

static int on_getopt_r(void *ctx, struct ipc_msg *m)
{
	const struct ipc_getopt_result *b = IPC_BODY(m, ipc_getopt_result);
	int err = b->err < 0 ? b->err : 0;
	struct held h;

	if (!query_take(ctx, b->token, &h))
		return 0;
	if (h.call.nr == SYS_getsockopt && h.level == IPPROTO_IPV6 && h.name == IPV6_PATHMTU) {
		/* linux v6.1 do_ipv6_getsockopt() has no address in it */
		struct ip6_mtuinfo info = { .ip6m_mtu = (uint32_t)b->value };

		query_answer(ctx, &h, err, &info, sizeof(info));
	} else {
		query_answer(ctx, &h, err, &b->value, sizeof(b->value));
	}
	return 0;
}

static int on_getinfo_r(void *ctx, struct ipc_msg *m)
{
	const struct ipc_getinfo_result *b = IPC_BODY(m, ipc_getinfo_result);
	uint8_t buf[AOPT_VALUE_MAX];
	struct held h;
	size_t len;

	if (!query_take(ctx, b->token, &h))
		return 0;
	len = h.name == TCP_CC_INFO ? aopt_cc_info(&b->info, buf) : aopt_tcp_info(&b->info, buf);
	query_answer(ctx, &h, b->err < 0 ? b->err : 0, buf, len);
	return 0;
}

const ipc_handler_fn agent_worker_handlers[IPC_TYPE_COUNT] = {
	[IPC_BIND_R] = on_bind_r,
	[IPC_LISTEN_R] = on_listen_r,
	[IPC_CONNECT_R] = on_connect_r,
	[IPC_CONNECTED] = on_connected,
	[IPC_FAILED] = on_failed,
	[IPC_ACCEPTABLE] = on_acceptable,
	[IPC_DETACHED] = on_detached,
	[IPC_CLOSED] = on_closed,
	[IPC_GETOPT_R] = on_getopt_r,
	[IPC_GETINFO_R] = on_getinfo_r,
	[IPC_DGRAM_INFO] = dgram_on_info,
	[IPC_DGRAM_ERR] = dgram_on_err,
	[IPC_DGRAM_FILTER_R] = dgram_on_filter,
	[IPC_URGENT_IN] = urgent_on_in,
};

/* ---- ends ---- */

void sock_tombstone(struct agent *a, struct asock *s, int err, bool is_reset)
{
	int fd;

	agent_unwatch(s);
	s->so_error = err;
	if (is_reset) {
		fd = program_end_find(a, s);
		if (fd >= 0) {
			/* full is as good: then octets of the program lie there already */
			(void)send(fd, "r", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
			close(fd);
			a->reset_cnt++;
			s->is_kernel_err = err == -ECONNRESET;
		} else {
			a->reset_unseen_cnt++;
		}
	}
	held_answer_all(a, s, HELD_CONNECT, err ? err : -ECONNABORTED);
	held_answer_all(a, s, HELD_QUERY, -ENOTCONN);
	if (s->stuffed_len)
		a->stuffed_cnt--;
	s->stuffed_len = 0;
	close(s->fd);
	s->fd = -1;
	asock_set_state(&a->socks, s, ASOCK_DEAD);
}

/** listener_was_shut() - shutdown() of a listener looks like close(), but the program has it still */
static bool listener_was_shut(struct agent *a, struct asock *s)
{
	int fd = s->state == ASOCK_LISTEN ? program_end_find(a, s) : -1;

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

void sock_program_closed(struct agent *a, struct asock *s)
{
	bool is_known = s->state != ASOCK_IDLE || s->op != ASOCK_OP_NONE;

	if (is_known)
		agent_send(a, IPC_CLOSE, &(struct ipc_close){ s->handle, IPC_CLOSE_GRACEFUL });
	if (listener_was_shut(a, s)) {
		held_answer_all(a, s, HELD_ACCEPT, -EINVAL);
		asock_queue_clear(s);
		sock_tombstone(a, s, 0, false);
		return;
	}
	asock_free(&a->socks, s);
}
