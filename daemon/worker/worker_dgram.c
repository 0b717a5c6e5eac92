/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_dgram.c - datagrams between a program's pair, the agent and the stack
 *
 * Theory of operation
 *
 * A socket of datagrams is one SOCK_SEQPACKET pair from socket() to the last close(); the worker has its
 * other end from the start. A datagram in the pair is payload and nothing else, so that read(), recv()
 * and send() of a connected socket are the kernel's own and nobody traps.
 *
 *   program ==== pair ====> send to the connected peer -------------------------> stack
 *   program -- sendto() --> agent == channel, {where to} + payload ==> worker --> stack
 *   program <=== pair ===== payload <------------------------------------------- stack
 *   program -- recvfrom() > agent: takes the payload out of the pair, knows the sender by
 *                           <-- DGRAM_INFO, sent before the payload is put into the pair
 *
 * Who sent it does not travel with the payload. An AF_UNIX message has room for it in its credentials
 * only, and to write numbers of one's choice there needs CAP_SETUID; descriptors as marks would count
 * against the user's limit of descriptors in flight. So the agent is told by DGRAM_INFO: address, length
 * and a sum of the first octets of each datagram, in the order of the pair, and always before the
 * payload is there. What a native recv() takes out is a row that the agent skips, since length or sum
 * of the next payload it sees are another's. Two datagrams in a row of equal length and beginning, one
 * taken natively and one by recvfrom(), is the one case in which the senders can be confused. MSG_PEEK,
 * several threads, dup() and fork() change nothing: the pair is one, and the agent takes out for all.
 *
 * A connected socket has one sender, which the agent knows: no DGRAM_INFO, unless the program asked for
 * IP_PKTINFO and the like (NS_DGRAM_INFO).
 *
 * An ICMP error is told by DGRAM_ERR and, so that poll() wakes, an empty datagram in the pair: the
 * token. A trapped receive takes it out and fails with the error; a native one reads an empty datagram.
 *
 * Backpressure: what the pair does not take stays in the stack's queue, which drops when it is full, as
 * a socket's buffer does. What the link does not take is kept here (unsent), at most a batch a
 * socket, and the pair or the channel is not read until it is gone.
 *
 * End: the pair reads as empty without credentials (SO_PASSCRED is set on our end, and real
 * datagrams have them), and takes nothing. What the agent sent before is taken out of both channels first: a program may
 * send and exit. After shutdown(SHUT_WR) the pair reads as empty, too, but takes datagrams; SHUT_RDWR looks like the
 * end, and the agent keeps what is left of the socket.
 *
 * Limits: BATCH datagrams a call, RX_BATCHES of them a turn; UNSENT_MAX kept in all before the channel
 * is not read; PAIR_BATCH handed to a program in one call.
 *
 * Syscalls: #syscalls worker: recvmmsg sendmmsg close epoll_ctl
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/worker/worker_int.h"

enum {
	BATCH = 16,
	RX_BATCHES = 4,
	PAIR_BATCH = 16,
	UNSENT_MAX = 64,
	SETTLE_ROUNDS = 16,
	CHANNEL_BUDGET = 256,
};

/** struct wdgram - a datagram that the link had no room for */
struct wdgram {
	struct list node;
	struct ns_dgram_tx tx;
	size_t len;
	uint8_t data[];
};

/* A batch being received: one at a time, nothing of it outlives the call. */
static struct {
	struct mmsghdr v[BATCH];
	struct iovec iov[BATCH][2];
	struct ipc_dgram_frame frame[BATCH];
	uint8_t data[BATCH][NS_DGRAM_MAX + 1];
	union {
		struct cmsghdr align;
		uint8_t buf[CMSG_SPACE(sizeof(struct ucred))];
	} control[BATCH];
} rx;

struct ns_dgram_tx wdgram_tx(const struct ipc_dgram_to *to)
{
	return (struct ns_dgram_tx){ .has_to = to->has_to,
				     .to = ipc_endpoint_to(&to->to),
				     .from = to->from,
				     .ifindex = to->ifindex,
				     .ttl = to->ttl,
				     .tos = to->tos,
				     .dontfrag = to->dontfrag,
				     .more = to->more,
				     .has_gso = to->has_gso,
				     .gso_size = to->gso_size,
				     .has_stamp = (to->stamp & IPC_STAMP_SAID) != 0,
				     .stamp = to->stamp };
}

static void channel_wanted(struct worker *w, bool is_wanted)
{
	if (w->dgram_fd < 0 || w->is_dgram_rd_added == is_wanted)
		return;
	w->is_dgram_rd_added = is_wanted;
	if (is_wanted)
		event_add(&w->dgram_rd, NULL);
	else
		event_del(&w->dgram_rd);
}

static void unsent_pop(struct wsock *s)
{
	free(list_entry(list_pop(&s->unsent), struct wdgram, node));
	s->unsent_cnt--;
	s->worker->unsent_cnt--;
}

void wdgram_free(struct wsock *s)
{
	while (!list_is_empty(&s->unsent))
		unsent_pop(s);
	channel_wanted(s->worker, s->worker->unsent_cnt < UNSENT_MAX);
}

/* ---- program -> stack ---- */

/** tell_error() - an error of a datagram; @has_token: an empty one follows in the pair */
static void tell_error(struct wsock *s, const struct ns_dgram_err *e, bool has_token)
{
	struct ipc_dgram_err_quote body = { .e = { .sock = s->handle,
						   .err = e->err,
						   .to = ipc_endpoint_from(&e->to),
						   .offender = e->offender,
						   .local = e->local,
						   .info = e->info,
						   .data = e->data,
						   .ifindex = e->ifindex,
						   .ttl = e->ttl,
						   .tos = e->tos,
						   .time_ns = e->time.ns,
						   .quote_len = e->quote_len,
						   .ext_off = e->ext_off,
						   .is_ext_bad = e->is_ext_bad,
						   .origin = e->origin,
						   .type = e->type,
						   .code = e->code,
						   .is_fatal = e->is_fatal,
						   .is_queued = e->is_queued,
						   .is_path_mtu = e->is_path_mtu,
						   .has_token = has_token } };

	memcpy(body.quote, e->quote, e->quote_len);
	worker_tell(s->worker, IPC_DGRAM_ERR, &body);
}

static void unsent_push(struct wsock *s, const struct ns_dgram_tx *tx, const void *data, size_t len)
{
	struct wdgram *d = malloc(sizeof(*d) + len);

	if (!d)
		return; /* lost, as a datagram may be */
	d->tx = *tx;
	d->len = len;
	if (len)
		memcpy(d->data, data, len);
	list_push(&s->unsent, &d->node);
	s->unsent_cnt++;
	if (++s->worker->unsent_cnt >= UNSENT_MAX)
		channel_wanted(s->worker, false);
	wsock_rd_wanted(s, false);
}

static int send_one(struct wsock *s, const struct ns_dgram_tx *tx, const void *data, size_t len)
{
	struct ns_iov iov = { (void *)(uintptr_t)data, len };

	return ns_dgram_send(s->worker->stack, s->sock, tx, &iov, len ? 1 : 0, s->worker->now);
}

/** send_or_keep() - the program has its answer already: what fails now fails its next call */
static void send_or_keep(struct wsock *s, const struct ns_dgram_tx *tx, const void *data,
			 size_t len)
{
	int r = list_is_empty(&s->unsent) ? send_one(s, tx, data, len) : -EAGAIN;
	struct ns_dgram_err e = {
		.err = r, .origin = NS_ERR_LOCAL, .is_fatal = true, .to = tx->to
	};

	if (r == -EAGAIN)
		unsent_push(s, tx, data, len);
	else if (r < 0)
		tell_error(s, &e, false);
}

/** unsent_retry() - Return: whether all of it is gone */
static bool unsent_retry(struct wsock *s)
{
	while (!list_is_empty(&s->unsent)) {
		struct wdgram *d = list_entry(s->unsent.next, struct wdgram, node);

		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) - unsent_pop() took the one before out of the list */
		if (send_one(s, &d->tx, d->data, d->len) == -EAGAIN)
			return false;
		unsent_pop(s);
	}
	wsock_rd_wanted(s, true);
	channel_wanted(s->worker, s->worker->unsent_cnt < UNSENT_MAX);
	return true;
}

/** closed() - no program has the socket any more */
static void closed(struct wsock *s)
{
	struct worker *w = s->worker;
	uint32_t handle = s->handle;

	ns_sock_close(w->stack, s->sock);
	s->sock = 0;
	wsock_pair_close(s);
	worker_tell(w, IPC_CLOSED, &(struct ipc_closed){ .sock = handle });
	wsock_free(s);
}

/**
 * is_program_gone() - no program has the other end, or it is shut in both directions
 *
 * The kernel says so before it looks at what is to be sent; an octet that cannot be read says that the end is there,
 * and nothing is sent by that.
 */
static bool is_program_gone(const struct wsock *s)
{
	struct iovec nowhere = { NULL, 1 };
	struct mmsghdr m = { .msg_hdr = { .msg_iov = &nowhere, .msg_iovlen = 1 } };

	return sendmmsg(s->fd, &m, 1, MSG_DONTWAIT) < 0 && (errno == EPIPE || errno == ECONNRESET);
}

/** is_end() - message @i of a pair is not one, but says that there will be no more */
static bool is_end(int i)
{
	return rx.v[i].msg_len == 0 && rx.v[i].msg_hdr.msg_controllen == 0;
}

/** rx_prepare() - @has_frame: from the channel, else from a pair */
static void rx_prepare(bool has_frame)
{
	for (uint32_t i = 0; i < BATCH; i++) {
		struct msghdr *m = &rx.v[i].msg_hdr;

		rx.iov[i][0] = (struct iovec){ &rx.frame[i], sizeof(rx.frame[i]) };
		rx.iov[i][1] = (struct iovec){ rx.data[i], sizeof(rx.data[i]) };
		*m = (struct msghdr){ .msg_iov = has_frame ? &rx.iov[i][0] : &rx.iov[i][1],
				      .msg_iovlen = has_frame ? 2 : 1 };
		if (!has_frame) {
			m->msg_control = &rx.control[i];
			m->msg_controllen = sizeof(rx.control[i]);
		}
	}
}

/** program_done() - it was shut for sending, and only its close is waited for; what comes in still goes there */
static void program_done(struct wsock *s)
{
	s->is_readable = false;
	if (s->is_program_done)
		return;
	s->is_program_done = true;
	/* the pair cannot wait for the program and for room at once by edges and levels */
	if (s->is_wr_added) {
		event_del(&s->wr);
		s->is_wr_added = false;
		wsock_mark_ready(s);
	}
	wsock_watch_hangup(s);
}

/* The agent's messages and datagrams that are on their way: they were sent before the close we see. */
static int drain_agent(struct worker *w);
static void drain_channel(struct worker *w);

/** pump_up() - Return: false when @s is gone */
static bool pump_up(struct wsock *s)
{
	const struct ns_dgram_tx tx = { .ttl = -1, .tos = -1 };
	struct worker *w = s->worker;

	if (s->gathers)
		drain_channel(w); /* by it came the send that began the datagram */
	for (uint32_t n = 0; n < RX_BATCHES && list_is_empty(&s->unsent); n++) {
		int cnt;

		rx_prepare(false);
		cnt = recvmmsg(s->fd, rx.v, BATCH, MSG_DONTWAIT, NULL);
		if (cnt < 0 && errno == ECONNRESET)
			continue; /* closed with datagrams unread: the next read says that it is closed */
		for (int i = 0; i < cnt; i++) {
			if (is_end(i) && !is_program_gone(s)) {
				program_done(s);
				return true;
			}
			if (is_end(i)) {
				uint32_t handle = s->handle;

				if (drain_agent(w) < 0)
					return false;
				s = wsock_find(w, handle);
				if (s && s->fd >= 0)
					closed(s);
				return false;
			}
			if (rx.v[i].msg_len <= NS_DGRAM_MAX)
				send_or_keep(s, &tx, rx.data[i], rx.v[i].msg_len);
		}
		if (cnt < BATCH) {
			s->is_readable = false;
			return true;
		}
	}
	return true;
}

/* ---- agent's channel -> stack ---- */

/** channel_read() - one batch. Return: datagrams received */
static int channel_read(struct worker *w)
{
	int cnt;

	rx_prepare(true);
	cnt = recvmmsg(w->dgram_fd, rx.v, BATCH, MSG_DONTWAIT, NULL);
	for (int i = 0; i < cnt; i++) {
		const struct ipc_dgram_frame *f = &rx.frame[i];
		struct ns_dgram_tx tx;
		struct wsock *s;
		size_t len;

		if (rx.v[i].msg_len < sizeof(*f))
			return 0; /* the agent is gone: its other channel tells */
		if (!ipc_dgram_frame_check(f)) {
			log_errx("cannot go on: the agent's channel of datagrams is broken");
			worker_stop(w, EXIT_FAILURE);
			return 0;
		}
		len = rx.v[i].msg_len - sizeof(*f);
		s = wsock_find(w, f->sock);
		if (!s || s->kind != WSOCK_DGRAM || !s->sock || len > NS_DGRAM_MAX)
			continue;
		tx = wdgram_tx(&f->to);
		send_or_keep(s, &tx, rx.data[i], len);
	}
	return cnt;
}

static void drain_channel(struct worker *w)
{
	if (w->dgram_fd >= 0)
		while (w->unsent_cnt < UNSENT_MAX && channel_read(w) == BATCH)
			;
}

static int drain_agent(struct worker *w)
{
	int r = ipc_dispatch(&w->agent, worker_agent_handlers, w, CHANNEL_BUDGET);

	if (r < 0) {
		worker_stop(w, EXIT_FAILURE);
		return r;
	}
	drain_channel(w);
	return 0;
}

static void on_channel(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	int r;

	(void)fd;
	(void)what;
	worker_begin_turn(w);
	/* the socket of a first datagram may still be in the other channel */
	r = ipc_dispatch(&w->agent, worker_agent_handlers, w, CHANNEL_BUDGET);
	if (r < 0) {
		worker_stop(w, EXIT_FAILURE);
		return;
	}
	for (uint32_t n = 0; n < RX_BATCHES && w->unsent_cnt < UNSENT_MAX; n++)
		if (channel_read(w) < BATCH)
			break;
}

int wdgram_channel(struct worker *w, int fd)
{
	if (w->dgram_fd >= 0) {
		close(fd);
		return -EPROTO;
	}
	w->dgram_fd = fd;
	event_assign(&w->dgram_rd, w->base, fd, EV_READ | EV_PERSIST, on_channel, w);
	channel_wanted(w, true);
	return w->is_dgram_rd_added ? 0 : -ENOMEM;
}

bool wdgram_settle(struct wsock *s)
{
	struct worker *w = s->worker;
	uint32_t handle = s->handle;

	s->gathers = true;
	if (s->fd < 0)
		return true;
	s->is_readable = true;
	for (uint32_t n = 0; n < SETTLE_ROUNDS && s->is_readable; n++)
		if (!pump_up(s) || wsock_find(w, handle) != s)
			return false;
	if (s->is_readable) /* the rest stays in turn */
		wsock_mark_ready(s);
	return true;
}

void wdgram_cork(struct wsock *s, bool is_on)
{
	struct worker *w = s->worker;

	if (!wdgram_settle(s))
		return;
	(void)!ns_sock_setopt(w->stack, s->sock, NS_UDP_CORK, is_on);
	if (!is_on)
		ns_dgram_flush(w->stack, s->sock, w->now);
}

/* ---- stack -> program ---- */

static void row_fill(struct ipc_dgram_row *row, const struct ns_dgram_rx *d,
		     const struct ns_iov *iov)
{
	uint32_t summed = d->len < IPC_DGRAM_SUM_LEN ? d->len : IPC_DGRAM_SUM_LEN;

	*row = (struct ipc_dgram_row){ .from = ipc_endpoint_from(&d->from),
				       .to = ipc_endpoint_from(&d->to),
				       .len = d->len,
				       .sum = ipc_dgram_sum(IPC_DGRAM_SUM_INIT, iov[0].base,
							    summed),
				       .ifindex = d->ifindex,
				       .ttl = d->ttl,
				       .tos = d->tos,
				       .gso_size = d->gso_size,
				       .frag_len = d->frag_len,
				       .time_ns = d->time.ns };
}

/** tell() - rows of those of the first @cnt datagrams that were not told */
static void tell(struct wsock *s, uint32_t cnt)
{
	struct worker *w = s->worker;
	struct ipc_dgram_info body = { .sock = s->handle };

	while (s->told_cnt < cnt) {
		struct ns_dgram_rx d;
		struct ns_iov iov[NS_DGRAM_IOVS] = { { 0 } };

		if (ns_dgram_peek(w->stack, s->sock, s->told_cnt, &d, iov) < 0)
			break;
		row_fill(&body.row[body.cnt++], &d, iov);
		s->told_cnt++;
		if (body.cnt == IPC_DGRAM_ROWS || s->told_cnt == cnt) {
			worker_tell(w, IPC_DGRAM_INFO, &body);
			body = (struct ipc_dgram_info){ .sock = s->handle };
		}
	}
	if (body.cnt)
		worker_tell(w, IPC_DGRAM_INFO, &body);
}

/** flush_told() - what was told must be there before the payload. Return: false: try again later */
static bool flush_told(struct wsock *s)
{
	struct worker *w = s->worker;

	if (ipc_uncork(&w->agent) < 0)
		worker_stop(w, EXIT_FAILURE);
	ipc_cork(&w->agent);
	if (!ipc_is_waiting(&w->agent))
		return true;
	list_del(&s->ready_node);
	list_push(&w->untold, &s->ready_node);
	return false;
}

void wdgram_channel_writable(struct worker *w)
{
	if (list_is_empty(&w->untold))
		return;
	worker_begin_turn(w);
	list_splice(&w->ready, &w->untold);
}

/** pair_write() - Return: datagrams the pair took, or negative errno */
static int pair_write(struct wsock *s, struct mmsghdr *v, uint32_t cnt)
{
	int n = sendmmsg(s->fd, v, cnt, MSG_DONTWAIT);

	if (n >= 0)
		return n;
	if (errno == EAGAIN) {
		wsock_wait_writable(s);
		return -EAGAIN;
	}
	return -errno;
}

static void pump_down(struct wsock *s)
{
	struct ns_stack *st = s->worker->stack;
	bool is_named = !s->is_connected || s->has_info;

	while (!s->is_wr_added) {
		struct mmsghdr v[PAIR_BATCH];
		struct ns_iov iov[PAIR_BATCH][NS_DGRAM_IOVS];
		uint32_t cnt = 0;
		int n;

		for (; cnt < PAIR_BATCH; cnt++) {
			struct ns_dgram_rx d;

			n = ns_dgram_peek(st, s->sock, cnt, &d, iov[cnt]);
			if (n < 0)
				break;
			v[cnt].msg_hdr = (struct msghdr){
				.msg_iov = (struct iovec *)(void *)iov[cnt],
				.msg_iovlen = (size_t)n,
			};
		}
		if (cnt == 0)
			return;
		if (is_named) {
			tell(s, cnt);
			if (!flush_told(s))
				return;
		}
		n = pair_write(s, v, cnt);
		if (n == -EAGAIN)
			return;
		if (n < 0)
			n = (int)cnt; /* nobody takes them: closed, or shut for reading */
		ns_dgram_consume(st, s->sock, (uint32_t)n);
		s->told_cnt = s->told_cnt > (uint32_t)n ? s->told_cnt - (uint32_t)n : 0;
	}
}

/** errors_down() - told, and a token for each that fails a call */
static void errors_down(struct wsock *s)
{
	struct ns_dgram_err e;

	while (ns_dgram_take_error(s->worker->stack, s->sock, &e)) {
		struct mmsghdr v = { .msg_len = 0 };

		tell_error(s, &e, e.is_fatal);
		if (!e.is_fatal)
			continue;
		if (!flush_told(s))
			return; /* the error is on its way; without a token */
		(void)sendmmsg(s->fd, &v, 1, MSG_DONTWAIT);
	}
}

int wdgram_check(struct wsock *s, const struct ns_dgram_tx *tx, uint32_t len)
{
	int r = ns_dgram_check(s->worker->stack, s->sock, tx, len, s->worker->now);

	if (r < 0)
		errors_down(s);
	return r;
}

void wdgram_pump(struct wsock *s)
{
	if (s->fd < 0)
		return;
	if (!unsent_retry(s) && !s->is_readable) {
		pump_down(s);
		return;
	}
	pump_down(s);
	if (s->is_readable && list_is_empty(&s->unsent) && !pump_up(s))
		return;
	if (s->is_readable && list_is_empty(&s->unsent))
		wsock_mark_ready(s);
}

void wdgram_event(struct wsock *s, const struct ns_event *ev)
{
	if (s->fd < 0)
		return;
	if (ev->mask & NS_EV_ERR)
		errors_down(s);
	if (list_is_empty(&s->ready_node))
		wsock_mark_ready(s);
}

/* ---- from the agent ---- */

static int open_kind(struct worker *w, uint32_t kind, ns_sock *ret_sock)
{
	if (kind == IPC_DGRAM_UDP)
		return ns_dgram_open(w->stack, ret_sock);
	return ns_ping_open(w->stack, kind == IPC_DGRAM_PING6, ret_sock);
}

void wdgram_open(struct worker *w, const struct ipc_dgram_open *b, int fd)
{
	struct wsock *s = wsock_new(w, WSOCK_DGRAM);
	const struct ipc_opts *opts = &b->opts;

	if (!s || open_kind(w, b->kind, &s->sock) < 0) {
		if (s) {
			s->sock = 0;
			wsock_free(s);
		}
		close(fd);
		worker_tell(w, IPC_CLOSED, &(struct ipc_closed){ .sock = b->sock });
		return;
	}
	ns_sock_set_user(w->stack, s->sock, s);
	wsock_name(s, b->sock);
	worker_set_opts(w, s->sock, opts);
	s->has_info = ipc_opts_is_on(opts, NS_DGRAM_INFO);
	s->gathers = ipc_opts_is_on(opts, NS_UDP_CORK);
	s->fd = fd;
	event_assign(&s->rd, w->base, fd, EV_READ | EV_PERSIST, wsock_on_readable, s);
	wsock_rd_wanted(s, true);
}

/** reap() - sockets on @port whose program has closed them, of which the loop did not hear yet */
static bool reap(struct worker *w, uint16_t port)
{
	bool is_any = false;

	list_for_each_safe (it, &w->socks) {
		struct wsock *s = list_entry(it, struct wsock, node);
		struct ns_endpoint local;

		if (s->kind != WSOCK_DGRAM || s->fd < 0 ||
		    ns_sock_local(w->stack, s->sock, &local) < 0 || local.port != port)
			continue;
		rx_prepare(false);
		if (recvmmsg(s->fd, rx.v, 1, MSG_DONTWAIT | MSG_PEEK, NULL) != 1 || !is_end(0) ||
		    !is_program_gone(s))
			continue;
		closed(s);
		is_any = true;
	}
	return is_any;
}

int wdgram_bind(struct wsock *s, const struct ns_endpoint *local)
{
	struct worker *w = s->worker;
	int r = ns_sock_bind(w->stack, s->sock, local);

	if (r == -EADDRINUSE && reap(w, local->port))
		r = ns_sock_bind(w->stack, s->sock, local);
	return r;
}

int wdgram_connect(struct wsock *s, const struct ns_endpoint *remote)
{
	struct worker *w = s->worker;
	uint32_t handle = s->handle;
	int r;

	/* what the program wrote before goes to the old peer */
	if (s->fd < 0 || !pump_up(s) || wsock_find(w, handle) != s)
		return -EINVAL;
	r = ns_dgram_connect(w->stack, s->sock, remote);
	if (r == 0)
		s->is_connected = remote != NULL;
	return r;
}
