/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sock.c - sockets by handle, news by event list
 *
 * Theory of operation
 *
 * A socket is a slot of one table: a transport's connection, the embedder's word for it, and the
 * news that nobody has fetched yet. A handle is the slot's index and a generation that changes
 * whenever the slot is reused, so a handle kept too long is answered -EBADF instead of meeting a
 * stranger's connection.
 *
 * The table knows transports only as struct transport_ops. Everything that is about bytes, states
 * or options is one call through it; what is ours is the handle, the event list and the cap.
 *
 *   transport --user_ops.event(mask)--> slot.mask |= mask, slot joins the list
 *   embedder  --ns_stack_next_event()-> slot leaves the list, mask is handed over once
 *
 * Invariants: a slot is in the event list if and only if its mask is not empty. A free slot has no
 * connection and is in the free list.
 *
 * Ownership: an open socket owns its connection until ns_sock_close() or ns_sock_abort(); from then
 * on the transport owns it, and has no user to tell.
 *
 * Limits: ns_limits.sockets slots. At the cap ns_sock_open() is -ENFILE and a completed connection
 * stays in its listener's accept queue, where the peer's data waits in its window.
 */
#include "sock/sock.h"

#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/stats.h"

enum {
	HANDLE_INDEX_BITS = 20,
	SLOTS_FIRST = 64, /* slots allocated at once, doubled on demand */
};

#define HANDLE_INDEX_MASK ((1u << HANDLE_INDEX_BITS) - 1)
#define HANDLE_GEN_MASK   ((1u << (32 - HANDLE_INDEX_BITS)) - 1)

struct sock {
	struct list node; /* of the free list, or of the event list */
	struct socks *table;
	void *conn; /* of the transport; NULL: free slot */
	void *user; /* of the embedder */
	uint32_t idx;
	uint32_t gen;
	uint32_t mask; /* news not fetched yet */
	int err;
};

struct socks {
	struct ns_core *core;
	const struct transport_ops *ops;
	void *transport;
	struct sock **slots; /* stable addresses: transports keep them as user */
	uint32_t slot_cnt;
	struct list free;
	struct list events;
};

struct socks *socks_new(struct ns_core *core)
{
	struct socks *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	st->core = core;
	list_init(&st->free);
	list_init(&st->events);
	return st;
}

void socks_free(struct socks *st)
{
	if (!st)
		return;
	for (uint32_t i = 0; i < st->slot_cnt; i++)
		free(st->slots[i]);
	free(st->slots);
	free(st);
}

void socks_set_stream(struct socks *st, const struct transport_ops *ops, void *transport)
{
	st->ops = ops;
	st->transport = transport;
}

static ns_sock handle_of(const struct sock *k)
{
	/* Index + 1, so that no handle is 0. */
	return k->gen << HANDLE_INDEX_BITS | (k->idx + 1);
}

/** sock_find() - the open socket behind @h, or NULL for a handle that is stale or made up */
static struct sock *sock_find(struct socks *st, ns_sock h)
{
	uint32_t idx = (h & HANDLE_INDEX_MASK) - 1;

	if (idx >= st->slot_cnt)
		return NULL;

	struct sock *k = st->slots[idx];

	return k->conn && k->gen == h >> HANDLE_INDEX_BITS ? k : NULL;
}

/** slots_grow() - double the table, within the cap */
static int slots_grow(struct socks *st)
{
	uint32_t cap = ns_min_u(st->core->limits.sockets, HANDLE_INDEX_MASK - 1);
	uint32_t want = st->slot_cnt ? st->slot_cnt * 2 : SLOTS_FIRST;

	want = ns_min_u(want, cap);
	if (want <= st->slot_cnt)
		return -ENFILE;

	struct sock **slots = realloc(st->slots, want * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	st->slots = slots;
	for (; st->slot_cnt < want; st->slot_cnt++) {
		struct sock *k = calloc(1, sizeof(*k));

		if (!k)
			return -ENOMEM;
		k->table = st;
		k->idx = st->slot_cnt;
		st->slots[st->slot_cnt] = k;
		list_push(&st->free, &k->node);
	}
	return 0;
}

/** slot_get() - a free slot, out of every list; 0, -ENFILE at the cap, -ENOMEM */
static int slot_get(struct socks *st, struct sock **ret_sock)
{
	if (list_is_empty(&st->free)) {
		int r = slots_grow(st);

		if (list_is_empty(&st->free)) {
			stat_inc(st->core->stats, STAT_SOCK_REFUSED);
			return r;
		}
	}
	*ret_sock = list_entry(list_pop(&st->free), struct sock, node);
	return 0;
}

/** slot_put() - the socket is gone; its handle is stale from here on */
static void slot_put(struct sock *k)
{
	list_del(&k->node);
	k->conn = NULL;
	k->user = NULL;
	k->mask = 0;
	k->err = 0;
	k->gen = (k->gen + 1) & HANDLE_GEN_MASK;
	list_push(&k->table->free, &k->node);
}

/** sock_event() - user_ops.event: remember the news until the embedder asks */
static void sock_event(void *user, uint32_t mask, int err)
{
	struct sock *k = user;

	if (!k || !mask)
		return;
	if (!k->mask)
		list_push(&k->table->events, &k->node);
	k->mask |= mask;
	if (mask & NS_EV_ERR)
		k->err = err;
}

const struct user_ops *socks_user_ops(void)
{
	static const struct user_ops ops = { .event = sock_event };

	return &ops;
}

bool ns_stack_next_event(struct ns_stack *s, struct ns_event *ret_event)
{
	struct list *n = list_pop(&socks_of(s)->events);

	if (!n)
		return false;

	struct sock *k = list_entry(n, struct sock, node);

	*ret_event = (struct ns_event){
		.sock = handle_of(k),
		.mask = k->mask,
		.err = k->err,
		.user = k->user,
	};
	k->mask = 0;
	return true;
}

int ns_sock_open(struct ns_stack *s, ns_sock *ret_sock)
{
	struct socks *st = socks_of(s);
	struct sock *k;
	int r = slot_get(st, &k);

	if (r < 0)
		return r;
	r = st->ops->open(st->transport, k, &k->conn);
	if (r < 0) {
		slot_put(k);
		return r;
	}
	stat_inc(st->core->stats, STAT_SOCK_OPEN);
	*ret_sock = handle_of(k);
	return 0;
}

int ns_sock_accept(struct ns_stack *s, ns_sock h, ns_sock *ret_sock)
{
	struct socks *st = socks_of(s);
	struct sock *l = sock_find(st, h);
	struct sock *k;

	if (!l)
		return -EBADF;

	int r = slot_get(st, &k);

	if (r < 0)
		return r;
	r = st->ops->accept(l->conn, &k->conn);
	if (r < 0) {
		slot_put(k);
		return r;
	}
	/* From here on its news has somewhere to go; the transport repeats what it already has. */
	st->ops->set_user(k->conn, k);
	stat_inc(st->core->stats, STAT_SOCK_OPEN);
	*ret_sock = handle_of(k);
	return 0;
}

void ns_sock_set_user(struct ns_stack *s, ns_sock h, void *user)
{
	struct sock *k = sock_find(socks_of(s), h);

	if (k)
		k->user = user;
}

/** sock_end() - give the connection back to the transport by @how, and the slot to the table */
static void sock_end(struct ns_stack *s, ns_sock h, bool is_abort)
{
	struct socks *st = socks_of(s);
	struct sock *k = sock_find(st, h);

	if (!k)
		return;
	st->ops->set_user(k->conn, NULL);
	if (is_abort)
		st->ops->abort(k->conn);
	else
		st->ops->close(k->conn);
	slot_put(k);
}

void ns_sock_close(struct ns_stack *s, ns_sock h)
{
	sock_end(s, h, false);
}

void ns_sock_abort(struct ns_stack *s, ns_sock h)
{
	sock_end(s, h, true);
}

/* What follows is one transport call each, for a handle that is good. */

#define SOCK_CALL(op_, ...)                                                                        \
	do {                                                                                       \
		struct socks *st_ = socks_of(s);                                                   \
		struct sock *k_ = sock_find(st_, h);                                               \
                                                                                                   \
		return k_ ? st_->ops->op_(k_->conn, ##__VA_ARGS__) : -EBADF;                       \
	} while (0)

#define SOCK_TELL(op_, ...)                                                                        \
	do {                                                                                       \
		struct socks *st_ = socks_of(s);                                                   \
		struct sock *k_ = sock_find(st_, h);                                               \
                                                                                                   \
		if (k_)                                                                            \
			st_->ops->op_(k_->conn, ##__VA_ARGS__);                                    \
	} while (0)

int ns_sock_bind(struct ns_stack *s, ns_sock h, const struct ns_endpoint *local)
{
	SOCK_CALL(bind, local);
}

int ns_sock_listen(struct ns_stack *s, ns_sock h, int backlog)
{
	SOCK_CALL(listen, backlog);
}

int ns_sock_connect(struct ns_stack *s, ns_sock h, const struct ns_endpoint *remote,
		    struct mono now)
{
	SOCK_CALL(connect, remote, now);
}

int ns_sock_local(struct ns_stack *s, ns_sock h, struct ns_endpoint *ret_local)
{
	SOCK_CALL(local, ret_local);
}

int ns_sock_remote(struct ns_stack *s, ns_sock h, struct ns_endpoint *ret_remote)
{
	SOCK_CALL(remote, ret_remote);
}

uint32_t ns_sock_send_room(struct ns_stack *s, ns_sock h)
{
	struct socks *st = socks_of(s);
	struct sock *k = sock_find(st, h);

	return k ? st->ops->send_room(k->conn) : 0;
}

int ns_sock_send_reserve(struct ns_stack *s, ns_sock h, uint32_t want, struct ns_iov *iov,
			 uint32_t iov_cnt)
{
	SOCK_CALL(send_reserve, want, iov, iov_cnt);
}

void ns_sock_send_commit(struct ns_stack *s, ns_sock h, uint32_t len, bool more)
{
	SOCK_TELL(send_commit, len, more);
}

int ns_sock_recv_peek(struct ns_stack *s, ns_sock h, struct ns_iov *iov, uint32_t iov_cnt)
{
	SOCK_CALL(recv_peek, iov, iov_cnt);
}

void ns_sock_recv_consume(struct ns_stack *s, ns_sock h, uint32_t len)
{
	SOCK_TELL(recv_consume, len);
}

bool ns_sock_is_eof(struct ns_stack *s, ns_sock h)
{
	struct socks *st = socks_of(s);
	struct sock *k = sock_find(st, h);

	return k && st->ops->is_eof(k->conn);
}

void ns_sock_shutdown_send(struct ns_stack *s, ns_sock h)
{
	SOCK_TELL(shutdown_send);
}

int ns_sock_setopt(struct ns_stack *s, ns_sock h, enum ns_sockopt opt, int value)
{
	if ((unsigned)opt >= NS_SOCKOPT_COUNT)
		return -ENOPROTOOPT;
	SOCK_CALL(setopt, opt, value);
}

int ns_sock_getopt(struct ns_stack *s, ns_sock h, enum ns_sockopt opt, int *ret_value)
{
	if ((unsigned)opt >= NS_SOCKOPT_COUNT)
		return -ENOPROTOOPT;
	SOCK_CALL(getopt, opt, ret_value);
}

int ns_sock_tcp_info(struct ns_stack *s, ns_sock h, struct mono now, struct ns_tcp_info *ret_info)
{
	SOCK_CALL(info, now, ret_info);
}

void ns_stack_sockets(struct ns_stack *s, void (*fn)(void *ctx, const struct ns_sock_row *row),
		      void *ctx)
{
	struct socks *st = socks_of(s);

	st->ops->rows(st->transport, fn, ctx);
}
