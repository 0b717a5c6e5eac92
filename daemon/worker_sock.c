/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_sock.c - a connection of the stack and the AF_UNIX pair whose other end the program has
 *
 * Theory of operation
 *
 *   program --write()--> pair --readv()--> send queue of the stack --> wire
 *   program <--read()--- pair <-sendmmsg()-- receive queue <---------- wire
 *
 * Octets are read straight into the send queue's memory, only while it has room, and written
 * straight from the frames they arrived in. What does not fit waits where it is: the pair fills and
 * the program blocks; the receive queue fills and the window closes.
 *
 * The pair is watched for reading as long as the send queue has room, and for writing only while a
 * write has failed: else each read of the program would wake us. A read or write that moved less
 * than it could ends the pump without another call; the level tells if there is more.
 *
 * Ends
 *
 *   program shuts or closes   readv() gives 0: FIN. Was it close()? Then the pair takes nothing any
 *                             more (EPIPE), and the socket is freed: the stack finishes by itself
 *   program closed with       readv() gives ECONNRESET: RST (RFC 2525 2.17)
 *     octets unread
 *   peer's FIN                shutdown(SHUT_WR) after the last octet
 *   both                      nothing more can flow: close, CLOSED
 *   RST, timeout              DETACHED: the agent, which may touch the program's end, makes it say
 *                             ECONNRESET
 *
 * Limits: WORKER_PENDING_MAX connections of a listener wait for a pair; the stack's accept queue,
 * which has the program's backlog, holds the rest.
 *
 * Syscalls: #syscalls worker: readv sendmmsg shutdown close
 */
#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/worker_int.h"

enum {
	READ_WANT = 256 * 1024, /* octets asked of the send queue at once */
	PUMP_BUDGET = 1 << 20,  /* octets a socket may move in one turn, each way */
	PUMP_IOV = 64,
	SOCK_INDEX_MASK = 0xffff,
};

static_assert(sizeof(struct ns_iov) == sizeof(struct iovec), "the stack's iovecs go to the kernel");
static_assert(offsetof(struct ns_iov, base) == offsetof(struct iovec, iov_base), "likewise");
static_assert(offsetof(struct ns_iov, len) == offsetof(struct iovec, iov_len), "likewise");

static struct iovec *as_iovec(struct ns_iov *iov)
{
	return (struct iovec *)(void *)iov;
}

/* --- the table ------------------------------------------------------------------------------ */

struct wsock *wsock_find(struct worker *w, uint32_t sock)
{
	struct wsock *k = w->socks[sock & SOCK_INDEX_MASK];

	return k && k->sock == sock ? k : NULL;
}

struct wsock *wsock_find_pending(struct worker *w, uint32_t conn)
{
	struct wsock *k = ns_sock_user(w->stack, conn);

	return k && k->state == WSOCK_PENDING ? k : NULL;
}

static struct wsock *wsock_alloc(struct worker *w, ns_sock h, enum wsock_state state)
{
	struct wsock *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	list_init(&k->pending_node);
	list_init(&k->dirty_node);
	list_init(&k->pending);
	k->worker = w;
	k->h = h;
	k->state = state;
	k->fd = -1;
	ns_sock_set_user(w->stack, h, k);
	w->sock_cnt++;
	return k;
}

/** wsock_name() - enter @k under its S */
static int wsock_name(struct wsock *k, uint32_t sock)
{
	struct wsock **slot = &k->worker->socks[sock & SOCK_INDEX_MASK];

	if (*slot)
		return -EEXIST;
	*slot = k;
	k->sock = sock;
	return 0;
}

int wsock_new(struct worker *w, uint32_t sock, struct wsock **ret_sock)
{
	ns_sock h;
	int r = ns_sock_open(w->stack, &h);

	if (r < 0)
		return r;

	struct wsock *k = wsock_alloc(w, h, WSOCK_BOUND);

	if (!k) {
		ns_sock_abort(w->stack, h);
		return -ENOMEM;
	}
	r = wsock_name(k, sock);
	if (r < 0) {
		wsock_free(k, true);
		return r;
	}
	*ret_sock = k;
	return 0;
}

int wsock_adopt(struct wsock *k, uint32_t sock)
{
	int r = wsock_name(k, sock);

	if (r < 0)
		return r;
	if (k->listener) {
		struct wsock *l = k->listener;

		list_del(&k->pending_node);
		k->listener = NULL;
		l->pending_cnt--;
		if (l->is_starved)
			wsock_accept(l);
	}
	return 0;
}

/** wsock_close_pair() - the program's end sees end of file, or has gone before */
static void wsock_close_pair(struct wsock *k)
{
	if (k->rd)
		event_free(k->rd);
	if (k->wr)
		event_free(k->wr);
	k->rd = k->wr = NULL;
	if (k->fd >= 0)
		(void)close(k->fd);
	k->fd = -1;
}

void wsock_free(struct wsock *k, bool is_reset)
{
	struct worker *w = k->worker;

	list_for_each_safe (n, &k->pending) {
		struct wsock *c = list_entry(n, struct wsock, pending_node);

		c->listener = NULL;
		list_del(&c->pending_node);
		wsock_free(c, true);
	}
	if (k->listener) {
		list_del(&k->pending_node);
		k->listener->pending_cnt--;
	}
	list_del(&k->dirty_node);
	wsock_close_pair(k);
	if (is_reset)
		ns_sock_abort(w->stack, k->h);
	else
		ns_sock_close(w->stack, k->h);
	if (k->sock)
		w->socks[k->sock & SOCK_INDEX_MASK] = NULL;
	w->sock_cnt--;
	free(k);
}

int wsock_opts(struct wsock *k, const struct ipc_opts *o)
{
	int first = 0;

	for (unsigned i = 0; i < NS_SOCKOPT_COUNT; i++) {
		if (!(o->mask & 1u << i))
			continue;

		int r = ns_sock_setopt(k->worker->stack, k->h, (enum ns_sockopt)i, o->value[i]);

		if (r < 0 && first == 0)
			first = r;
	}
	return first;
}

static void on_readable(evutil_socket_t fd, short what, void *arg);

/* --- octets --------------------------------------------------------------------------------- */

static void wsock_dirty(struct wsock *k)
{
	if (list_is_empty(&k->dirty_node))
		list_push(&k->worker->dirty, &k->dirty_node);
}

/** wsock_gone() - the program has closed every copy of its end */
static void wsock_gone(struct wsock *k, bool is_reset)
{
	struct ipc_closed body = { .sock = k->sock };

	worker_tell_agent(k->worker, IPC_CLOSED, &body);
	wsock_free(k, is_reset);
}

/** wsock_detach() - the connection ended by @err; the agent shows it to the program */
static void wsock_detach(struct wsock *k, int err)
{
	struct ipc_sock_err body = { .sock = k->sock, .err = err };

	worker_tell_agent(k->worker, IPC_DETACHED, &body);
	wsock_free(k, true);
}

/** pair_is_closed() - does the pair take nothing any more though we did not shut it? Nothing is sent. */
static bool pair_is_closed(const struct wsock *k)
{
	struct mmsghdr m = { .msg_hdr = { .msg_iovlen = 0 } };

	return sendmmsg(k->fd, &m, 1, MSG_DONTWAIT) < 0 && errno == EPIPE;
}

/** watch_read() - should the loop say when the program wrote? */
static void watch_read(struct wsock *k, bool is_wanted)
{
	if (k->is_read_watched == is_wanted)
		return;
	k->is_read_watched = is_wanted;
	if (is_wanted)
		(void)event_add(k->rd, NULL);
	else
		(void)event_del(k->rd);
}

/**
 * program_eof() - the program will write no more: queue a FIN; true: it has closed, the socket is gone
 *
 * If it only shut its side, its close() is the next edge; the level would wake us for ever.
 */
static bool program_eof(struct wsock *k)
{
	k->can_read = false;
	if (!k->is_program_eof) {
		k->is_program_eof = true;
		ns_sock_shutdown_send(k->worker->stack, k->h);
		watch_read(k, false);
		(void)event_assign(k->rd, k->worker->base, k->fd, EV_READ | EV_ET | EV_PERSIST,
				   on_readable, k);
		watch_read(k, true);
	}
	if (k->is_peer_eof || pair_is_closed(k)) {
		wsock_gone(k, false);
		return true;
	}
	return false;
}

/** pump_end() - an edge after the program's FIN: has it closed, and did it leave octets unread? */
static bool pump_end(struct wsock *k)
{
	uint8_t octet;
	struct iovec iov = { &octet, sizeof(octet) };

	if (readv(k->fd, &iov, 1) == 0)
		return program_eof(k);
	wsock_gone(k, errno == ECONNRESET);
	return true;
}

/** pump_out() - program to stack; true: the socket is gone */
static bool pump_out(struct wsock *k)
{
	struct worker *w = k->worker;
	size_t moved = 0;

	if (k->is_program_eof && k->can_read)
		return pump_end(k);
	while (k->can_read && moved < PUMP_BUDGET) {
		struct ns_iov iov[PUMP_IOV];
		int cnt = ns_sock_send_reserve(w->stack, k->h, READ_WANT, iov, PUMP_IOV);
		size_t room = 0;

		if (cnt <= 0) {
			watch_read(k, false); /* NS_EV_OUT comes, or NS_EV_ERR */
			return false;
		}
		for (int i = 0; i < cnt; i++)
			room += iov[i].len;

		ssize_t n = readv(k->fd, as_iovec(iov), cnt);
		int err = errno;

		ns_sock_send_commit(w->stack, k->h, n > 0 ? (uint32_t)n : 0, false);
		if (n == 0)
			return program_eof(k);
		if (n < 0 && err != EAGAIN && err != EINTR) {
			/* Closed with octets unread: a reset, as a kernel sends one. */
			wsock_gone(k, true);
			return true;
		}
		if (n > 0) {
			w->bytes_from_program += (uint64_t)n;
			moved += (size_t)n;
		}
		if (n < (ssize_t)room) {
			k->can_read = false;
			watch_read(k, true);
		}
	}
	if (k->can_read)
		wsock_dirty(k);
	return false;
}

/** pump_in() - stack to program; true: the socket is gone */
static bool pump_in(struct wsock *k)
{
	struct worker *w = k->worker;
	size_t moved = 0;

	while (k->can_write && moved < PUMP_BUDGET) {
		struct ns_iov iov[PUMP_IOV];
		int cnt = ns_sock_recv_peek(w->stack, k->h, iov, PUMP_IOV);

		if (cnt <= 0)
			break;

		struct mmsghdr m = { .msg_hdr = { .msg_iov = as_iovec(iov),
						  .msg_iovlen = (size_t)cnt } };
		size_t want = 0;

		for (int i = 0; i < cnt; i++)
			want += iov[i].len;
		if (sendmmsg(k->fd, &m, 1, MSG_DONTWAIT) < 0) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN) {
				k->can_write = false;
				(void)event_add(k->wr, NULL);
				return false;
			}
			/* The program is gone, and there are octets it will never read. */
			wsock_gone(k, true);
			return true;
		}
		ns_sock_recv_consume(w->stack, k->h, m.msg_len);
		w->bytes_to_program += m.msg_len;
		moved += m.msg_len;
		if (m.msg_len < want) {
			k->can_write = false;
			(void)event_add(k->wr, NULL);
			return false;
		}
	}
	if (moved >= PUMP_BUDGET) {
		wsock_dirty(k);
		return false;
	}
	if (!k->is_peer_eof && ns_sock_is_eof(w->stack, k->h)) {
		k->is_peer_eof = true;
		(void)shutdown(k->fd, SHUT_WR);
		if (k->is_program_eof) {
			wsock_gone(k, false);
			return true;
		}
	}
	return false;
}

/** wsock_pump() - move what can be moved; the socket may be gone afterwards */
static void wsock_pump(struct wsock *k)
{
	/* In first: an acknowledgement of what arrived may ride on what leaves. */
	if (pump_in(k))
		return;
	if (k->err) {
		/* Only when the program has all that came before. */
		struct ns_iov iov;

		if (ns_sock_recv_peek(k->worker->stack, k->h, &iov, 1) <= 0)
			wsock_detach(k, k->err);
		return;
	}
	(void)pump_out(k);
}

void wsock_pump_dirty(struct worker *w)
{
	/* Those that become dirty on the way wait for the next turn. */
	struct list now;

	list_init(&now);
	list_splice(&now, &w->dirty);
	for (struct list *n; (n = list_pop(&now));) {
		struct wsock *k = list_entry(n, struct wsock, dirty_node);

		if (k->state == WSOCK_ATTACHED)
			wsock_pump(k);
	}
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct wsock *k = arg;

	(void)fd;
	(void)what;
	k->can_read = true;
	wsock_dirty(k);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct wsock *k = arg;

	(void)fd;
	(void)what;
	k->can_write = true;
	wsock_dirty(k);
}

void wsock_attach(struct wsock *k, int fd)
{
	struct worker *w = k->worker;

	k->fd = fd;
	k->state = WSOCK_ATTACHED;
	k->can_read = k->can_write = true;
	k->rd = event_new(w->base, fd, EV_READ | EV_PERSIST, on_readable, k);
	k->wr = event_new(w->base, fd, EV_WRITE, on_writable, k);
	if (!k->rd || !k->wr) {
		log_warnx(
			"cannot watch a socket of the container: no memory; its connection is reset");
		wsock_detach(k, -ENOMEM);
		return;
	}
	wsock_dirty(k);
}

/* --- news of the stack ---------------------------------------------------------------------- */

void wsock_accept(struct wsock *l)
{
	struct worker *w = l->worker;

	l->is_starved = false;
	for (;;) {
		ns_sock h;

		if (l->pending_cnt >= WORKER_PENDING_MAX) {
			l->is_starved = true;
			return;
		}
		if (ns_sock_accept(w->stack, l->h, &h) < 0)
			return;

		struct wsock *k = wsock_alloc(w, h, WSOCK_PENDING);

		if (!k) {
			ns_sock_abort(w->stack, h);
			return;
		}

		struct ns_endpoint local = { 0 }, remote = { 0 };

		(void)!ns_sock_local(w->stack, h, &local);
		(void)!ns_sock_remote(w->stack, h, &remote);
		k->listener = l;
		list_push(&l->pending, &k->pending_node);
		l->pending_cnt++;

		struct ipc_acceptable body = {
			.listener = l->sock,
			.conn = h,
			.local = ipc_endpoint_from(&local),
			.remote = ipc_endpoint_from(&remote),
		};

		worker_tell_agent(w, IPC_ACCEPTABLE, &body);
	}
}

/** on_connected() - the agent takes the stuffing out and sends the pair */
static void on_connected(struct wsock *k)
{
	struct worker *w = k->worker;
	struct ns_endpoint local = { 0 }, remote = { 0 };

	(void)!ns_sock_local(w->stack, k->h, &local);
	(void)!ns_sock_remote(w->stack, k->h, &remote);
	k->state = WSOCK_CONNECTED;

	struct ipc_connected body = {
		.sock = k->sock,
		.local = ipc_endpoint_from(&local),
		.remote = ipc_endpoint_from(&remote),
	};

	worker_tell_agent(w, IPC_CONNECTED, &body);
}

/** on_error() - the connection has ended; what the agent hears depends on how far it had come */
static void on_error(struct wsock *k, int err)
{
	k->err = err < 0 ? err : -ECONNRESET;
	switch (k->state) {
	case WSOCK_CONNECTING: {
		struct ipc_sock_err body = { .sock = k->sock, .err = k->err };

		worker_tell_agent(k->worker, IPC_FAILED, &body);
		wsock_free(k, true);
		return;
	}
	case WSOCK_ATTACHED:
		wsock_dirty(k);
		return;
	case WSOCK_PENDING:
	case WSOCK_CONNECTED:
		/* The pair is not here yet: ATTACH meets k->err. accept() on Linux gives such a connection too. */
		return;
	case WSOCK_BOUND:
	case WSOCK_LISTEN:
		return;
	}
}

void wsock_event(struct worker *w, const struct ns_event *ev)
{
	struct wsock *k = ev->user;

	(void)w;
	if (!k)
		return;
	if (ev->mask & NS_EV_ACCEPT && k->state == WSOCK_LISTEN)
		wsock_accept(k);
	if (ev->mask & NS_EV_CONNECTED && k->state == WSOCK_CONNECTING)
		on_connected(k);
	if (ev->mask & (NS_EV_IN | NS_EV_OUT | NS_EV_EOF) && k->state == WSOCK_ATTACHED)
		wsock_dirty(k);
	if (ev->mask & NS_EV_ERR)
		on_error(k, ev->err);
}
