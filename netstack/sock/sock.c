/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sock.c - sockets by handle, and their news
 *
 * Theory of operation
 *
 * A handle is an index into a table of slots and the slot's generation, which moves on when a socket
 * goes: a handle kept too long is answered -EBADF. Free slots are reused oldest first, so that it
 * takes the whole table times the generations before a handle could come back.
 *
 * The layer knows no protocol: each call looks the handle up and passes on to the transport by its
 * ops. What the transport tells (sock_user_ops.event) is gathered in the socket, which then waits in
 * the list of those with news; ns_stack_next_event() hands out each once with all of it.
 *
 * Ownership: a socket is in its slot from open or accept until close or abort; the connection is
 * the transport's and may live longer, without a user.
 *
 * Limits: limits.sockets handles, then -ENFILE; a completed connection then stays in its listener's
 * accept queue, where the peer's data waits in its window.
 */
#include "sock/sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	IDX_BITS = 20,
	IDX_MASK = (1 << IDX_BITS) - 1,
	GEN_MAX = (1 << (32 - IDX_BITS)) - 1,
	SLOTS_MIN = 64,
	KEEP = 1024,
};

#define NO_SLOT UINT32_MAX /* beyond every index */

struct sock {
	struct list event; /* in socks.events while @mask is not 0 */
	struct socks *table;
	const struct transport_ops *ops;
	void *conn; /* the transport's */
	void *user; /* the embedder's */
	ns_sock handle;
	uint32_t mask; /* enum ns_event_mask not told yet */
	int err;
};

struct slot {
	struct sock *sock; /* NULL: free */
	uint32_t next_free;
	uint32_t gen; /* 1..GEN_MAX, of the socket that is or will be here */
};

struct socks {
	struct ns_core *core;
	const struct transport_ops *ops; /* of streams */
	void *transport;
	const struct transport_ops *dgram_ops;
	void *dgram_transport;
	void *ping_transport;
	struct pool pool;
	struct list events;
	struct slot *slots;
	uint32_t slot_cnt;
	uint32_t slot_cap; /* limits.sockets */
	uint32_t free_first, free_last;
};

static ns_sock handle_of(const void *user)
{
	return ((const struct sock *)user)->handle;
}

static void on_event(void *user, uint32_t mask, int err)
{
	struct sock *so = user;

	if (!so || mask == 0)
		return;
	if (so->mask == 0)
		list_push(&so->table->events, &so->event);
	so->mask |= mask;
	if (err && !so->err)
		so->err = err;
}

const struct user_ops sock_user_ops = { .event = on_event, .handle = handle_of };

/** socks_new() - an empty table; @core outlives it; NULL without memory */
struct socks *socks_new(struct ns_core *core)
{
	struct socks *ss = calloc(1, sizeof(*ss));

	if (!ss)
		return NULL;
	ss->core = core;
	ss->slot_cap = ns_min_u(core->limits.sockets, IDX_MASK + 1);
	ss->free_first = ss->free_last = NO_SLOT;
	pool_init(&ss->pool, "sock", sizeof(struct sock), ss->slot_cap, KEEP);
	list_init(&ss->events);
	return ss;
}

/** socks_free() - the transport is gone already, its connections with it; NULL is fine */
void socks_free(struct socks *ss)
{
	if (!ss)
		return;
	for (uint32_t i = 0; i < ss->slot_cnt; i++)
		pool_put(&ss->pool, ss->slots[i].sock);
	pool_done(&ss->pool);
	free(ss->slots);
	free(ss);
}

/** socks_set_transport() - whose connections the sockets are; @ops and @self outlive the table's use */
void socks_set_transport(struct socks *ss, const struct transport_ops *ops, void *self)
{
	ss->ops = ops;
	ss->transport = self;
}

/** socks_set_dgram() - likewise for datagrams, @self of UDP and @ping of echo requests */
void socks_set_dgram(struct socks *ss, const struct transport_ops *ops, void *self, void *ping)
{
	ss->ping_transport = ping;
	ss->dgram_ops = ops;
	ss->dgram_transport = self;
}

/** socks_have_events() - ns_stack_next_event() has something to tell */
bool socks_have_events(const struct socks *ss)
{
	return !list_is_empty(&ss->events);
}

static void slot_free(struct socks *ss, uint32_t idx)
{
	ss->slots[idx].sock = NULL;
	ss->slots[idx].next_free = NO_SLOT;
	if (ss->free_first == NO_SLOT)
		ss->free_first = idx;
	else
		ss->slots[ss->free_last].next_free = idx;
	ss->free_last = idx;
}

static int slots_grow(struct socks *ss)
{
	uint32_t cnt = ns_min_u(ss->slot_cnt ? ss->slot_cnt * 2 : SLOTS_MIN, ss->slot_cap);
	struct slot *slots;

	if (cnt == ss->slot_cnt)
		return -ENFILE;
	slots = calloc(cnt, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	if (ss->slot_cnt)
		memcpy(slots, ss->slots, ss->slot_cnt * sizeof(*slots));
	free(ss->slots);
	ss->slots = slots;
	for (; ss->slot_cnt < cnt; ss->slot_cnt++) {
		ss->slots[ss->slot_cnt].gen = 1;
		slot_free(ss, ss->slot_cnt);
	}
	return 0;
}

/* A socket without a connection yet. */
static int sock_new(struct socks *ss, const struct transport_ops *ops, struct sock **ret_sock)
{
	int r = ss->free_first == NO_SLOT ? slots_grow(ss) : 0;
	struct sock *so = r == 0 ? pool_get(&ss->pool) : NULL;
	uint32_t idx = ss->free_first;

	if (!so) {
		stat_inc(ss->core->stats, STAT_SOCK_REFUSED);
		return r < 0 ? r : -ENOMEM;
	}
	ss->free_first = ss->slots[idx].next_free;
	ss->slots[idx].sock = so;
	*so = (struct sock){ .table = ss,
			     .ops = ops,
			     .handle = ss->slots[idx].gen << IDX_BITS | idx };
	list_init(&so->event);
	stat_inc(ss->core->stats, STAT_SOCK_OPEN);
	*ret_sock = so;
	return 0;
}

static void sock_del(struct sock *so)
{
	struct socks *ss = so->table;
	uint32_t idx = so->handle & IDX_MASK;
	struct slot *slot = &ss->slots[idx];

	list_del(&so->event);
	slot->gen = slot->gen == GEN_MAX ? 1 : slot->gen + 1;
	slot_free(ss, idx);
	pool_put(&ss->pool, so);
}

static struct sock *find(struct ns_stack *s, ns_sock h)
{
	struct socks *ss = ns_stack_socks(s);
	uint32_t idx = h & IDX_MASK;
	struct sock *so = idx < ss->slot_cnt ? ss->slots[idx].sock : NULL;

	return so && so->handle == h ? so : NULL;
}

static const struct transport_ops *ops_of(const struct sock *so)
{
	return so->ops;
}

static int open_with(struct socks *ss, const struct transport_ops *ops, void *transport,
		     ns_sock *ret_sock)
{
	struct sock *so = NULL;
	int r = sock_new(ss, ops, &so);

	if (r < 0)
		return r;
	r = ops->open(transport, so, &so->conn);
	if (r < 0) {
		sock_del(so);
		return r;
	}
	*ret_sock = so->handle;
	return 0;
}

int ns_sock_open(struct ns_stack *s, ns_sock *ret_sock)
{
	struct socks *ss = ns_stack_socks(s);

	return open_with(ss, ss->ops, ss->transport, ret_sock);
}

int ns_dgram_open(struct ns_stack *s, ns_sock *ret_sock)
{
	struct socks *ss = ns_stack_socks(s);

	return ss->dgram_ops ? open_with(ss, ss->dgram_ops, ss->dgram_transport, ret_sock)
			     : -EPROTONOSUPPORT;
}

int ns_ping_open(struct ns_stack *s, bool is_v6, ns_sock *ret_sock)
{
	struct socks *ss = ns_stack_socks(s);
	int r;

	if (!ss->ping_transport)
		return -EPROTONOSUPPORT;
	r = open_with(ss, ss->dgram_ops, ss->ping_transport, ret_sock);
	if (r == 0 && is_v6)
		r = ns_sock_setopt(s, *ret_sock, NS_SO_V6ONLY, 1);
	return r;
}

void ns_sock_set_user(struct ns_stack *s, ns_sock h, void *user)
{
	struct sock *so = find(s, h);

	if (so)
		so->user = user;
}

void *ns_sock_user(struct ns_stack *s, ns_sock h)
{
	const struct sock *so = find(s, h);

	return so ? so->user : NULL;
}

int ns_sock_bind(struct ns_stack *s, ns_sock h, const struct ns_endpoint *local)
{
	struct sock *so = find(s, h);

	return so ? ops_of(so)->bind(so->conn, local) : -EBADF;
}

int ns_sock_listen(struct ns_stack *s, ns_sock h, int backlog)
{
	struct sock *so = find(s, h);

	return so ? ops_of(so)->listen(so->conn, backlog) : -EBADF;
}

int ns_sock_connect(struct ns_stack *s, ns_sock h, const struct ns_endpoint *remote,
		    struct mono now)
{
	struct sock *so = find(s, h);

	return so ? ops_of(so)->connect(so->conn, remote, now) : -EBADF;
}

int ns_sock_accept(struct ns_stack *s, ns_sock h, ns_sock *ret_sock)
{
	struct sock *so = find(s, h), *child = NULL;
	int r;

	if (!so)
		return -EBADF;
	r = sock_new(so->table, so->ops, &child);
	if (r < 0)
		return r;
	r = ops_of(so)->accept(so->conn, &child->conn);
	if (r < 0) {
		sock_del(child);
		return r;
	}
	ops_of(so)->set_user(child->conn, child);
	/* what happened before there was a user: it looks once itself */
	on_event(child, NS_EV_IN | NS_EV_OUT | (ops_of(so)->is_eof(child->conn) ? NS_EV_EOF : 0u),
		 0);
	*ret_sock = child->handle;
	return 0;
}

int ns_sock_local(struct ns_stack *s, ns_sock h, struct ns_endpoint *ret_local)
{
	struct sock *so = find(s, h);

	return so ? ops_of(so)->local(so->conn, ret_local) : -EBADF;
}

int ns_sock_remote(struct ns_stack *s, ns_sock h, struct ns_endpoint *ret_remote)
{
	struct sock *so = find(s, h);

	return so ? ops_of(so)->remote(so->conn, ret_remote) : -EBADF;
}

uint32_t ns_sock_send_room(struct ns_stack *s, ns_sock h)
{
	struct sock *so = find(s, h);

	return so ? ops_of(so)->send_room(so->conn) : 0;
}

int ns_sock_send_reserve(struct ns_stack *s, ns_sock h, uint32_t want, struct ns_iov *iov,
			 uint32_t iov_cnt)
{
	struct sock *so = find(s, h);

	return so ? ops_of(so)->send_reserve(so->conn, want, iov, iov_cnt) : -EBADF;
}

void ns_sock_send_eor(struct ns_stack *s, ns_sock h)
{
	struct sock *so = find(s, h);

	if (so && ops_of(so)->send_eor)
		ops_of(so)->send_eor(so->conn);
}

void ns_sock_send_urgent(struct ns_stack *s, ns_sock h)
{
	struct sock *so = find(s, h);

	if (so && ops_of(so)->send_urgent)
		ops_of(so)->send_urgent(so->conn);
}

uint32_t ns_sock_recv_urgent(struct ns_stack *s, ns_sock h)
{
	struct sock *so = find(s, h);

	return so && ops_of(so)->recv_urgent ? ops_of(so)->recv_urgent(so->conn) : NS_NO_URGENT;
}

void ns_sock_send_commit(struct ns_stack *s, ns_sock h, uint32_t len, bool more)
{
	struct sock *so = find(s, h);

	if (so)
		ops_of(so)->send_commit(so->conn, len, more);
}

int ns_sock_recv_peek(struct ns_stack *s, ns_sock h, struct ns_iov *iov, uint32_t iov_cnt)
{
	struct sock *so = find(s, h);

	return so ? ops_of(so)->recv_peek(so->conn, iov, iov_cnt) : -EBADF;
}

void ns_sock_recv_consume(struct ns_stack *s, ns_sock h, uint32_t len)
{
	struct sock *so = find(s, h);

	if (so)
		ops_of(so)->recv_consume(so->conn, len);
}

bool ns_sock_is_eof(struct ns_stack *s, ns_sock h)
{
	struct sock *so = find(s, h);

	return so && ops_of(so)->is_eof(so->conn);
}

void ns_sock_shutdown_send(struct ns_stack *s, ns_sock h)
{
	struct sock *so = find(s, h);

	if (so)
		ops_of(so)->shutdown_send(so->conn);
}

/* The connection goes on without a user, the handle is gone. */
static void let_go(struct ns_stack *s, ns_sock h, bool is_abort)
{
	struct sock *so = find(s, h);

	if (!so)
		return;
	ops_of(so)->set_user(so->conn, NULL);
	if (is_abort)
		ops_of(so)->abort(so->conn);
	else
		ops_of(so)->close(so->conn);
	sock_del(so);
}

void ns_sock_close(struct ns_stack *s, ns_sock h)
{
	let_go(s, h, false);
}

void ns_sock_abort(struct ns_stack *s, ns_sock h)
{
	let_go(s, h, true);
}

int ns_sock_setopt(struct ns_stack *s, ns_sock h, enum ns_sockopt opt, int value)
{
	struct sock *so = find(s, h);

	if ((unsigned)opt >= NS_SOCKOPT_COUNT)
		return -ENOPROTOOPT;
	return so ? ops_of(so)->setopt(so->conn, opt, value) : -EBADF;
}

int ns_sock_getopt(struct ns_stack *s, ns_sock h, enum ns_sockopt opt, int *ret_value)
{
	struct sock *so = find(s, h);

	if ((unsigned)opt >= NS_SOCKOPT_COUNT)
		return -ENOPROTOOPT;
	return so ? ops_of(so)->getopt(so->conn, opt, ret_value) : -EBADF;
}

int ns_sock_set_fastopen_keys(struct ns_stack *s, ns_sock h, const uint8_t *keys, uint32_t len)
{
	struct sock *so = find(s, h);

	if (!so)
		return -EBADF;
	return so->ops->set_fastopen_keys ? so->ops->set_fastopen_keys(so->conn, keys, len)
					  : -ENOPROTOOPT;
}

uint32_t ns_sock_fastopen_keys(struct ns_stack *s, ns_sock h, uint8_t keys[NS_FASTOPEN_KEYS_LEN])
{
	const struct sock *so = find(s, h);

	return so && so->ops->fastopen_keys ? so->ops->fastopen_keys(so->conn, keys) : 0;
}

int ns_sock_tcp_info(struct ns_stack *s, ns_sock h, struct mono now, struct ns_tcp_info *ret_info)
{
	struct sock *so = find(s, h);

	return so ? ops_of(so)->info(so->conn, now, ret_info) : -EBADF;
}

/* ---- datagrams ---- */

/* The socket of @h, when it is one of datagrams. */
static struct sock *find_dgram(struct ns_stack *s, ns_sock h)
{
	struct sock *so = find(s, h);

	return so && so->ops->dgram ? so : NULL;
}

int ns_dgram_connect(struct ns_stack *s, ns_sock h, const struct ns_endpoint *remote)
{
	struct sock *so = find_dgram(s, h);

	return so ? so->ops->dgram->connect(so->conn, remote) : -EBADF;
}

int ns_dgram_send(struct ns_stack *s, ns_sock h, const struct ns_dgram_tx *tx,
		  const struct ns_iov *iov, uint32_t iov_cnt, struct mono now)
{
	struct sock *so = find_dgram(s, h);

	return so ? so->ops->dgram->send(so->conn, tx, iov, iov_cnt, now) : -EBADF;
}

int ns_dgram_check(struct ns_stack *s, ns_sock h, const struct ns_dgram_tx *tx, uint32_t len,
		   struct mono now)
{
	struct sock *so = find_dgram(s, h);

	return so ? so->ops->dgram->check(so->conn, tx, len, now) : -EBADF;
}

void ns_dgram_flush(struct ns_stack *s, ns_sock h, struct mono now)
{
	struct sock *so = find_dgram(s, h);

	if (so)
		so->ops->dgram->flush(so->conn, now);
}

int ns_dgram_peek(struct ns_stack *s, ns_sock h, uint32_t idx, struct ns_dgram_rx *ret_rx,
		  struct ns_iov *iov)
{
	struct sock *so = find_dgram(s, h);

	return so ? so->ops->dgram->peek(so->conn, idx, ret_rx, iov) : -EBADF;
}

void ns_dgram_consume(struct ns_stack *s, ns_sock h, uint32_t cnt)
{
	struct sock *so = find_dgram(s, h);

	if (so)
		so->ops->dgram->consume(so->conn, cnt);
}

bool ns_dgram_take_error(struct ns_stack *s, ns_sock h, struct ns_dgram_err *ret_err)
{
	struct sock *so = find_dgram(s, h);

	return so && so->ops->dgram->take_error(so->conn, ret_err);
}

int ns_dgram_group(struct ns_stack *s, ns_sock h, enum ns_group_what what,
		   const struct ns_group_req *q)
{
	struct sock *so = find_dgram(s, h);

	return so ? so->ops->dgram->group(so->conn, what, q) : -EBADF;
}

int ns_dgram_set_filter(struct ns_stack *s, ns_sock h, const struct ns_group_req *q,
			const struct ns_filter *f)
{
	struct sock *so = find_dgram(s, h);

	return so ? so->ops->dgram->set_filter(so->conn, q, f) : -EBADF;
}

int ns_dgram_get_filter(struct ns_stack *s, ns_sock h, const struct ns_group_req *q,
			struct ns_filter *ret_filter)
{
	struct sock *so = find_dgram(s, h);

	return so ? so->ops->dgram->get_filter(so->conn, q, ret_filter) : -EBADF;
}

int ns_dgram_multicast_if(struct ns_stack *s, ns_sock h, const struct ns_addr *local,
			  uint32_t ifindex)
{
	struct sock *so = find_dgram(s, h);

	return so ? so->ops->dgram->multicast_if(so->conn, local, ifindex) : -EBADF;
}

uint64_t ns_dgram_dropped(struct ns_stack *s, ns_sock h)
{
	struct sock *so = find_dgram(s, h);

	return so ? so->ops->dgram->dropped(so->conn) : 0;
}

bool ns_stack_next_event(struct ns_stack *s, struct ns_event *ret_event)
{
	struct list *n = list_pop(&ns_stack_socks(s)->events);
	struct sock *so;

	if (!n)
		return false;
	so = list_entry(n, struct sock, event);
	*ret_event = (struct ns_event){
		.sock = so->handle, .mask = so->mask, .err = so->err, .user = so->user
	};
	so->mask = 0;
	so->err = 0;
	return true;
}

void ns_stack_sockets(struct ns_stack *s, void (*fn)(void *ctx, const struct ns_sock_row *row),
		      void *ctx)
{
	const struct socks *ss = ns_stack_socks(s);

	ss->ops->rows(ss->transport, fn, ctx);
	if (ss->dgram_ops)
		ss->dgram_ops->rows(ss->dgram_transport, fn, ctx);
	if (ss->ping_transport)
		ss->dgram_ops->rows(ss->ping_transport, fn, ctx);
}
