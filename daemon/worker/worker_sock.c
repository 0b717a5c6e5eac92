/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_sock.c - the pump between a program's pair and its connection in the stack
 *
 * Theory of operation
 *
 *             pair                                       stack
 *   program ======= fd --- readv() into ns_sock_send_reserve() ---> send queue ---> wire
 *           <====== fd <-- sendmmsg() from ns_sock_recv_peek() <--- receive queue <---
 *
 * Octets are copied once in each direction, by the kernel. Nothing is kept here: what the stack has no
 * room for stays in the pair (the program's poll() says "not writable"), what the pair has no room
 * for stays in the stack (the peer's window closes).
 *
 *   pair -> stack  Level-triggered: a read that gave less than was asked emptied the pair, and if it
 *                  did not, the loop says so again. Read as much at once as there is room for. When
 *                  the send queue is full the event leaves the loop until NS_EV_OUT.
 *   stack -> pair  Tried at once; what does not fit waits for the write event.
 *
 * The ends of a connection:
 *
 *   program shut its sending side   read() = 0                    -> FIN after what is queued
 *   program closed                  read() = 0, then an empty send says -EPIPE -> ns_sock_close()
 *   program closed, octets unread   read() = -ECONNRESET          -> ns_sock_abort(): RST
 *   peer's FIN                      octets delivered, then shutdown(SHUT_WR)
 *   RST, timeout, ICMP              octets delivered, then the pair is closed here and DETACHED tells
 *                                   the agent to show the error
 *   both sides done in order        the pair is closed here; CLOSED with is_shut, since a pair whose
 *                                   directions are both shut cannot tell a close any more
 *
 * Urgent data (netstack/tcp/tcp_urg.c) is the agent's to put into the pair, by MSG_OOB: then the kernel does for the
 * program what it does for a TCP socket (POLLPRI, SIGURG, SIOCATMARK, SO_OOBINLINE, recv(MSG_OOB)), only that it all
 * comes with the octet and not with the announcement. Nothing goes into the pair meanwhile. The other way the
 * agent brings the octet in a message, and what is in the pair goes before it.
 *
 * A connection whose program is gone lives on in the stack (FIN-WAIT, TIME-WAIT) without a wsock.
 *
 * An empty send is the one way to ask a stream pair whether the other end is still open without taking
 * or giving an octet: linux v6.1 net/unix/af_unix.c unix_stream_sendmsg() looks at SEND_SHUTDOWN
 * first, which unix_release_sock() of the other end sets.
 *
 * Limits: RX_MAX octets a connection and turn from the program, so that one does not starve others.
 *
 * Syscalls: #syscalls worker: readv recvmsg sendmmsg shutdown getsockopt close epoll_ctl
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/sock_diag.h>

#include "daemon/common/log.h"
#include "daemon/worker/worker_int.h"

#define RX_MAX  (512u << 10) /* octets taken from one program in one turn */
#define RX_READ (256u << 10) /* octets asked for in one call */
#define IOVS    64

_Static_assert(sizeof(struct ns_iov) == sizeof(struct iovec) &&
		       offsetof(struct ns_iov, base) == offsetof(struct iovec, iov_base) &&
		       offsetof(struct ns_iov, len) == offsetof(struct iovec, iov_len),
	       "ns/iov.h says it is laid out as struct iovec");

#define INDEX_MASK (WORKER_SOCKS - 1)

/* ---- table ---- */

void wsock_mark_ready(struct wsock *s)
{
	if (list_is_empty(&s->ready_node))
		list_push(&s->worker->ready, &s->ready_node);
}

struct wsock *wsock_new(struct worker *w, enum wsock_kind kind)
{
	struct wsock *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->worker = w;
	s->kind = kind;
	s->fd = -1;
	list_init(&s->ready_node);
	list_init(&s->unsent);
	list_init(&s->pending);
	list_init(&s->pending_node);
	list_push(&w->socks, &s->node);
	w->sock_cnt++;
	return s;
}

/** wsock_pair_close() - our descriptor of the pair; the agent has its own */
void wsock_pair_close(struct wsock *s)
{
	if (s->fd < 0)
		return;
	/* before close(): the agent's descriptor keeps the file, and with it our place in epoll */
	if (s->is_rd_added)
		event_del(&s->rd);
	if (s->is_wr_added)
		event_del(&s->wr);
	s->is_rd_added = s->is_wr_added = false;
	close(s->fd);
	s->fd = -1;
}

/**
 * wsock_backlog() - the stack's part of a listener's backlog
 *
 * Connections that the agent was told of wait outside the stack, so its part gets smaller by them:
 * together as many wait as Linux lets, backlog + 1 (sk_acceptq_is_full()).
 */
void wsock_backlog(struct wsock *l)
{
	int rest = l->backlog - (int)l->pending_cnt;

	if (l->sock)
		(void)!ns_sock_listen(l->worker->stack, l->sock, rest < 0 ? 0 : rest);
}

/** pending_del() - not waiting for ATTACH any more */
static void pending_del(struct wsock *s)
{
	struct worker *w = s->worker;

	if (s->listener) {
		list_del(&s->pending_node);
		s->listener->pending_cnt--;
		wsock_backlog(s->listener);
		s->listener = NULL;
	}
	if (s->conn)
		w->by_conn[s->conn & INDEX_MASK] = NULL;
	s->conn = 0;
}

void wsock_free(struct wsock *s)
{
	struct worker *w = s->worker;

	NS_BUG_ON(s->sock != 0 || s->pending_cnt != 0);
	wdgram_free(s);
	wsock_pair_close(s);
	pending_del(s);
	if (s->handle)
		w->by_handle[s->handle & INDEX_MASK] = NULL;
	list_del(&s->ready_node);
	list_del(&s->node);
	w->sock_cnt--;
	free(s);
}

struct wsock *wsock_find(struct worker *w, uint32_t handle)
{
	struct wsock *s = w->by_handle[handle & INDEX_MASK];

	return s && s->handle == handle ? s : NULL;
}

struct wsock *wsock_find_conn(struct worker *w, uint32_t conn)
{
	struct wsock *s = w->by_conn[conn & INDEX_MASK];

	return s && s->conn == conn ? s : NULL;
}

void wsock_name(struct wsock *s, uint32_t handle)
{
	struct worker *w = s->worker;
	struct wsock *old = w->by_handle[handle & INDEX_MASK];

	/* the agent reuses an index only after CLOSE, CLOSED or DETACHED: it is wrong, but not worth
	 * more than the old connection */
	if (old && old != s)
		wsock_close(old, true);
	s->handle = handle;
	w->by_handle[handle & INDEX_MASK] = s;
}

/** conn_name() - a C for a connection that has no S yet. Return: false when 65535 of them wait */
static bool conn_name(struct wsock *s)
{
	struct worker *w = s->worker;

	for (uint32_t i = 0; i < WORKER_SOCKS; i++) {
		uint32_t index = w->next_conn++ & INDEX_MASK;

		if (w->by_conn[index])
			continue;
		if (++w->conn_generations[index] == 0)
			w->conn_generations[index] = 1;
		s->conn = (uint32_t)w->conn_generations[index] << 16 | index;
		w->by_conn[index] = s;
		return true;
	}
	return false;
}

/* ---- ends ---- */

/** give_back() - the stack finishes the connection by itself, or resets it */
static void give_back(struct wsock *s, bool is_reset)
{
	if (!s->sock)
		return;
	if (is_reset)
		ns_sock_abort(s->worker->stack, s->sock);
	else
		ns_sock_close(s->worker->stack, s->sock);
	s->sock = 0;
}

/** end_closed() - nothing more will come from or go to the program */
static void end_closed(struct wsock *s, bool is_reset, bool is_shut)
{
	struct ipc_closed body = { .sock = s->handle, .is_shut = is_shut };

	give_back(s, is_reset);
	wsock_pair_close(s);
	worker_tell(s->worker, IPC_CLOSED, &body);
	wsock_free(s);
}

/** end_detached() - the connection is no more; the agent shows the program why */
static void end_detached(struct wsock *s)
{
	struct ipc_sock_err body = { .sock = s->handle, .err = s->err };

	give_back(s, true);
	wsock_pair_close(s); /* first: the agent's descriptor must be the last one */
	worker_tell(s->worker, IPC_DETACHED, &body);
	wsock_free(s);
}

void wsock_close(struct wsock *s, bool is_reset)
{
	struct list *n;

	/* connections that no accept() took: linux v6.1 inet_csk_listen_stop() resets them */
	give_back(s, is_reset);
	while ((n = list_pop(&s->pending)) != NULL) {
		struct wsock *p = list_entry(n, struct wsock, pending_node);

		give_back(p, true);
		wsock_free(p);
	}
	wsock_free(s);
}

/* ---- program -> stack ---- */

void wsock_rd_wanted(struct wsock *s, bool is_wanted)
{
	if (s->is_rd_added == is_wanted)
		return;
	s->is_rd_added = is_wanted;
	if (is_wanted)
		event_add(&s->rd, NULL);
	else
		event_del(&s->rd);
}

/** is_program_gone() - no descriptor of the program's end is open, or it has shut both directions */
static bool is_program_gone(const struct wsock *s)
{
	struct mmsghdr m = { .msg_len = 0 };

	return sendmmsg(s->fd, &m, 1, MSG_DONTWAIT) < 0 && (errno == EPIPE || errno == ECONNRESET);
}

void wsock_on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct wsock *s = arg;

	(void)fd;
	(void)what;
	worker_begin_turn(s->worker);
	s->is_readable = true;
	wsock_mark_ready(s);
}

/* Adding the event tells once what is the case already, then each change. */
void wsock_watch_hangup(struct wsock *s)
{
	wsock_rd_wanted(s, false);
	event_assign(&s->rd, s->worker->base, s->fd, EV_READ | EV_CLOSED | EV_ET | EV_PERSIST,
		     wsock_on_readable, s);
	wsock_rd_wanted(s, true);
}

/** program_done() - read() said 0. Return: false when @s is gone */
static bool program_done(struct wsock *s)
{
	s->is_readable = false;
	if (!s->is_peer_done && is_program_gone(s)) {
		/* a FIN, or a RST when octets for the program are left (RFC 2525 2.17) */
		end_closed(s, false, false);
		return false;
	}
	if (!s->is_program_done) {
		s->is_program_done = true;
		ns_sock_shutdown_send(s->worker->stack, s->sock);
		/* the pair cannot wait for the program and for room at once by edges and levels */
		if (s->is_wr_added)
			event_del(&s->wr);
		s->is_wr_added = false;
		wsock_watch_hangup(s);
	}
	return true;
}

/** read_once() - one readv(). Return: octets, 0 at EOF, -EAGAIN (pair empty), -ENOSPC (queue full), or why not */
static int read_once(struct wsock *s, uint32_t *ret_asked)
{
	struct ns_stack *st = s->worker->stack;
	struct ns_iov iov[IOVS];
	uint32_t room = ns_sock_send_room(st, s->sock);
	ssize_t got;
	int n;

	if (room == 0)
		return -ENOSPC;
	n = ns_sock_send_reserve(st, s->sock, room < RX_READ ? room : RX_READ, iov, IOVS);
	if (n == -EAGAIN || n == -ENOMEM)
		return -ENOSPC;
	if (n < 0)
		return n;
	*ret_asked = 0;
	for (int i = 0; i < n; i++)
		*ret_asked += (uint32_t)iov[i].len;
	got = readv(s->fd, (const struct iovec *)(const void *)iov, n);
	if (got < 0)
		got = -errno;
	ns_sock_send_commit(st, s->sock, got > 0 ? (uint32_t)got : 0, false);
	return (int)got;
}

/** pump_up() - Return: false when @s is gone */
static bool pump_up(struct wsock *s)
{
	uint32_t done = 0, asked = 0;

	while (s->is_readable && !s->is_program_done) {
		int n = read_once(s, &asked);

		if (n > 0) {
			done += (uint32_t)n;
			if ((uint32_t)n < asked)
				s->is_readable = false;
			else if (done >= RX_MAX)
				break; /* still ready: goes on in the next turn */
			continue;
		}
		switch (n) {
		case 0:
			return program_done(s);
		case -EAGAIN:
		case -EINTR:
			s->is_readable = false;
			break;
		case -ENOSPC:
		case -EPIPE:
		case -ENOTCONN:
			/* no room: NS_EV_OUT brings it back. The connection has ended: NS_EV_ERR says
			 * how, or it was in order and the program writes into nothing */
			s->is_readable = false;
			wsock_rd_wanted(s, false);
			break;
		case -ECONNRESET:
			end_closed(s, true, false);
			return false;
		default:
			log_warn(n, "cannot read from a program's socket, its connection is reset");
			end_closed(s, true, false);
			return false;
		}
	}
	/* edges only, after EOF: a change may have been the program's close */
	if (s->is_readable && s->is_program_done) {
		s->is_readable = false;
		if (!s->is_peer_done && is_program_gone(s)) {
			end_closed(s, false, false);
			return false;
		}
	}
	return true;
}

int wsock_unread(const struct wsock *s)
{
	static uint8_t scratch[16384]; /* written over and over: only the count matters */
	struct iovec iov[IOVS];
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = IOVS };
	ssize_t n;

	if (s->fd < 0 || s->is_program_done)
		return 0;
	for (int i = 0; i < IOVS; i++)
		iov[i] = (struct iovec){ scratch, sizeof(scratch) };
	n = recvmsg(s->fd, &m, MSG_DONTWAIT | MSG_PEEK);
	if (n == 0)
		return 1; /* the program shut its side: a FIN that waits */
	return n < 0 ? 0 : (int)n;
}

int wsock_send_urgent(struct wsock *s, uint8_t octet)
{
	struct ns_stack *st = s->worker->stack;
	struct ns_iov iov;
	uint32_t asked = 0;
	int n;

	if (s->kind != WSOCK_OPEN || s->fd < 0 || s->is_program_done)
		return -EPIPE;
	do
		n = read_once(s, &asked);
	while (n > 0 || n == -EINTR);
	s->is_readable = true; /* whatever it was: the pump has a look */
	wsock_mark_ready(s);
	if (n != -EAGAIN)
		return n == -ENOSPC ? -EAGAIN : -EPIPE;
	n = ns_sock_send_reserve(st, s->sock, 1, &iov, 1);
	if (n < 1)
		return n == -ENOMEM ? -EAGAIN : n;
	*(uint8_t *)iov.base = octet;
	ns_sock_send_commit(st, s->sock, 1, false);
	ns_sock_send_urgent(st, s->sock);
	return 0;
}

/* ---- stack -> program ---- */

static void on_pair_writable(evutil_socket_t fd, short what, void *arg)
{
	struct wsock *s = arg;

	(void)fd;
	(void)what;
	worker_begin_turn(s->worker);
	s->is_wr_added = false;
	wsock_mark_ready(s);
}

void wsock_wait_writable(struct wsock *s)
{
	short how = s->is_program_done ? EV_WRITE | EV_ET : EV_WRITE;

	if (s->is_wr_added)
		return;
	/* libevent wants all events of a descriptor to be of one sort */
	event_assign(&s->wr, s->worker->base, s->fd, how, on_pair_writable, s);
	s->is_wr_added = event_add(&s->wr, NULL) == 0;
}

/** cut() - @iov to its first @len octets. Return: how many entries these are */
static int cut(struct ns_iov *iov, int n, size_t len)
{
	int i = 0;

	for (; i < n && len > 0; i++) {
		if (iov[i].len > len)
			iov[i].len = len;
		len -= iov[i].len;
	}
	return i;
}

/** to_urgent() - what goes before the urgent octet, if it has come. Return: entries of @iov; 0: it is next, the agent was asked */
static int to_urgent(struct wsock *s, struct ns_iov *iov, int n)
{
	uint32_t off = ns_sock_recv_urgent(s->worker->stack, s->sock);
	struct ipc_urgent q = { .sock = s->handle };

	if (off == NS_NO_URGENT) {
		s->has_urgent = false;
		return n;
	}
	if (off > 0)
		return cut(iov, n, off);
	q.octet = *(const uint8_t *)iov[0].base;
	s->is_urgent_asked = true;
	worker_tell(s->worker, IPC_URGENT_IN, &q);
	return 0;
}

void wsock_urgent_done(struct wsock *s, int err)
{
	if (!s->is_urgent_asked)
		return;
	s->is_urgent_asked = false;
	if (err == 0)
		ns_sock_recv_consume(s->worker->stack, s->sock, 1);
	else if (err == -EAGAIN)
		wsock_wait_writable(s);
	else
		s->is_deaf = true;
	wsock_mark_ready(s);
}

/** is_pair_empty() - the program has read all that it was given */
static bool is_pair_empty(const struct wsock *s)
{
	uint32_t mem[SK_MEMINFO_WMEM_ALLOC + 1];
	socklen_t len = sizeof(mem);

	return getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, mem, &len) == 0 && len == sizeof(mem) &&
	       mem[SK_MEMINFO_WMEM_ALLOC] == 0;
}

/**
 * is_held_back() - SO_RCVLOWAT: there is less than the program wants to be woken for
 *
 * AF_UNIX heeds it in recv(), but not in poll(). What is in the pair counts, too, and cannot be counted from
 * here: so only an empty one holds back.
 */
static bool is_held_back(const struct wsock *s)
{
	int is_enough = 1;

	return !s->has_urgent &&
	       ns_sock_getopt(s->worker->stack, s->sock, NS_SO_RCVLOWAT, &is_enough) == 0 &&
	       !is_enough && is_pair_empty(s);
}

void wsock_lowat(struct wsock *s, int32_t octets)
{
	s->has_lowat = octets > 1;
	wsock_mark_ready(s);
}

/** pump_down() - what the stack has, as far as the pair takes it */
static void pump_down(struct wsock *s)
{
	struct ns_stack *st = s->worker->stack;
	struct ns_iov iov[IOVS];
	int n;

	if (ns_unlikely(s->has_lowat) && is_held_back(s))
		return;
	while (!s->is_wr_added && !s->is_deaf && !s->is_urgent_asked &&
	       (n = ns_sock_recv_peek(st, s->sock, iov, IOVS)) > 0) {
		struct mmsghdr m = { .msg_hdr = { .msg_iov = (struct iovec *)(void *)iov } };
		size_t total = 0;

		if (ns_unlikely(s->has_urgent))
			n = to_urgent(s, iov, n);
		if (n == 0)
			break;
		m.msg_hdr.msg_iovlen = (size_t)n;
		for (int i = 0; i < n; i++)
			total += iov[i].len;
		if (sendmmsg(s->fd, &m, 1, MSG_DONTWAIT) < 0) {
			if (errno == EAGAIN)
				wsock_wait_writable(s);
			else if (errno != EINTR)
				s->is_deaf = true; /* closed or shut: the reading side will tell */
			continue;
		}
		ns_sock_recv_consume(st, s->sock, m.msg_len);
		if (m.msg_len < total)
			wsock_wait_writable(s);
	}
}

void wsock_settle(struct wsock *s)
{
	if (s->fd >= 0 && s->kind == WSOCK_OPEN)
		pump_down(s);
}

/** is_drained() - the program has all that was received, or will take no more */
static bool is_drained(const struct wsock *s)
{
	struct ns_iov iov;

	return s->is_deaf || ns_sock_recv_peek(s->worker->stack, s->sock, &iov, 1) <= 0;
}

/** pump() - both ways, as far as it goes, and the ends that follow */
static void pump(struct wsock *s)
{
	if (s->fd < 0 || s->kind != WSOCK_OPEN)
		return;
	pump_down(s);
	if (!s->err && !pump_up(s))
		return;
	if (s->err) {
		if (is_drained(s))
			end_detached(s);
		return;
	}
	if (!s->is_peer_done && is_drained(s) && ns_sock_is_eof(s->worker->stack, s->sock)) {
		s->is_peer_done = true;
		(void)shutdown(s->fd, SHUT_WR);
	}
	if (s->is_peer_done && s->is_program_done) {
		end_closed(s, false, true);
		return;
	}
	if (s->is_readable)
		wsock_mark_ready(s);
}

bool wsock_pump_all(struct worker *w)
{
	struct list now;
	bool is_any = !list_is_empty(&w->ready);

	list_init(&now);
	list_splice(&now, &w->ready);
	while (!list_is_empty(&now)) {
		struct wsock *s = list_entry(list_pop(&now), struct wsock, ready_node);

		if (s->kind == WSOCK_DGRAM)
			wdgram_pump(s);
		else
			pump(s);
	}
	return is_any;
}

/* ---- what the stack says ---- */

/** accepted() - a connection of listener @l: known as a C until somebody accepts it */
static void accepted(struct wsock *l, ns_sock sock)
{
	struct worker *w = l->worker;
	struct wsock *s = wsock_new(w, WSOCK_OPEN);
	struct ipc_acceptable body = { .listener = l->handle };
	struct ns_endpoint local, remote;

	if (!s || !conn_name(s) || ns_sock_local(w->stack, sock, &local) < 0 ||
	    ns_sock_remote(w->stack, sock, &remote) < 0) {
		ns_sock_abort(w->stack, sock);
		if (s)
			wsock_free(s);
		return;
	}
	s->sock = sock;
	s->listener = l;
	list_push(&l->pending, &s->pending_node);
	l->pending_cnt++;
	wsock_backlog(l);
	ns_sock_set_user(w->stack, sock, s);
	body.conn = s->conn;
	body.local = ipc_endpoint_from(&local);
	body.remote = ipc_endpoint_from(&remote);
	worker_tell(w, IPC_ACCEPTABLE, &body);
}

/** accept_all() - as many as the backlog allows; the rest waits in the stack */
static void accept_all(struct wsock *l)
{
	ns_sock sock;

	while ((int)l->pending_cnt < (l->backlog > 1 ? l->backlog : 1) &&
	       ns_sock_accept(l->worker->stack, l->sock, &sock) == 0)
		accepted(l, sock);
}

void wsock_attach(struct wsock *s, int fd)
{
	struct wsock *listener = s->listener;

	s->fd = fd;
	pending_del(s);
	event_assign(&s->rd, s->worker->base, fd, EV_READ | EV_PERSIST, wsock_on_readable, s);
	wsock_rd_wanted(s, true);
	wsock_mark_ready(s);
	if (listener)
		accept_all(listener);
}

static void connected(struct wsock *s)
{
	struct worker *w = s->worker;
	struct ipc_connected body = { .sock = s->handle };
	struct ns_endpoint local, remote;

	if (ns_sock_local(w->stack, s->sock, &local) < 0 ||
	    ns_sock_remote(w->stack, s->sock, &remote) < 0)
		return; /* it ended meanwhile: NS_EV_ERR */
	s->kind = WSOCK_OPEN;
	body.local = ipc_endpoint_from(&local);
	body.remote = ipc_endpoint_from(&remote);
	worker_tell(w, IPC_CONNECTED, &body);
}

static void failed(struct wsock *s, int err)
{
	struct ipc_sock_err body = { .sock = s->handle, .err = err };

	give_back(s, true);
	worker_tell(s->worker, IPC_FAILED, &body);
	wsock_free(s);
}

static void on_event(struct wsock *s, const struct ns_event *ev)
{
	int err = ev->err < 0 ? ev->err : -ECONNRESET;

	if (s->kind == WSOCK_DGRAM) {
		wdgram_event(s, ev);
		return;
	}
	if (ev->mask & NS_EV_ACCEPT && s->kind == WSOCK_LISTEN) {
		accept_all(s);
		return;
	}
	if (ev->mask & NS_EV_CONNECTED && s->kind == WSOCK_CONNECTING)
		connected(s);
	if (ev->mask & NS_EV_ERR) {
		if (s->kind == WSOCK_CONNECTING) {
			failed(s, err);
			return;
		}
		s->err = err;
	}
	if (ev->mask & NS_EV_URG)
		s->has_urgent = true;
	if (ev->mask & NS_EV_OUT && s->fd >= 0 && !s->is_program_done) {
		s->is_readable = true; /* it was when the room ran out */
		wsock_rd_wanted(s, true);
	}
	wsock_mark_ready(s);
}

bool wsock_events(struct worker *w)
{
	struct ns_event ev;
	bool is_any = false;

	while (ns_stack_next_event(w->stack, &ev)) {
		is_any = true;
		if (ev.user)
			on_event(ev.user, &ev);
	}
	return is_any;
}
