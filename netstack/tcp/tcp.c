/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.c - one stack's TCP: made, freed, told of ICMP errors, listed */
#include "tcp/tcp.h"

#include <errno.h>
#include <stdlib.h>

#include "tcp/tcp_int.h"

enum {
	KEEP = 1024, /* free objects of each kind kept for reuse */
};

static void pools_init(struct tcp *t, const struct ns_limits *lim)
{
	uint32_t conns = lim->sockets;

	pool_init(&t->conn_pool, "tcp_conn", sizeof(struct tcp_conn), conns, KEEP);
	pool_init(&t->listener_pool, "tcp_listener", sizeof(struct tcp_listener), conns, KEEP);
	pool_init(&t->halfopen_pool, "tcp_halfopen", sizeof(struct tcp_halfopen), TCP_HALFOPEN_POOL,
		  KEEP);
	pool_init(&t->tw_pool, "tcp_tw", sizeof(struct tcp_tw), lim->timewait, KEEP);
	pool_init(&t->rec_pool, "tcp_rec", sizeof(struct tcp_rec), TCP_REC_POOL, KEEP);
	pool_init(&t->ooo_pool, "tcp_ooo", sizeof(struct tcp_ooo), TCP_OOO_POOL, KEEP);
	pool_init(&t->tfo_reset_pool, "tcp_tfo_reset", sizeof(struct tcp_tfo_reset), TCP_TFO_RESETS,
		  KEEP);
}

static void pools_done(struct tcp *t)
{
	pool_done(&t->conn_pool);
	pool_done(&t->listener_pool);
	pool_done(&t->halfopen_pool);
	pool_done(&t->tw_pool);
	pool_done(&t->rec_pool);
	pool_done(&t->ooo_pool);
	pool_done(&t->tfo_reset_pool);
}

struct tcp *tcp_new(struct ns_core *core, struct net *net, const struct user_ops *users)
{
	const struct ns_limits *lim = &core->limits;
	struct tcp *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->core = core;
	t->net = net;
	t->users = *users;
	t->demux = demux_new(&core->key, lim->sockets + lim->timewait + TCP_HALFOPEN_POOL,
			     lim->sockets);
	if (!t->demux) {
		free(t);
		return NULL;
	}
	demux_follow_knobs(t->demux, core);
	pools_init(t, lim);
	list_init(&t->conns);
	list_init(&t->dirty);
	tcp_timewait_init(t);
	tcp_isn_init(t);
	tcp_cookie_init(t);
	tcp_fastopen_init(t);
	t->orphan_max = ns_max_u(lim->sockets / 4, 64);
	return t;
}

void tcp_free(struct tcp *t)
{
	struct list *n;

	if (!t)
		return;
	/* listeners free what waits in their queues, so the list is read anew each time */
	while ((n = t->conns.next) != &t->conns)
		tcp_conn_free(list_entry(n, struct tcp_conn, all_node));
	tcp_timewait_clear(t);
	demux_free(t->demux);
	pools_done(t);
	free(t);
}

/* RFC 5927 4.1: an error about something that is not outstanding is forged or late. */
static bool is_about_flight(const struct tcp_conn *c, const struct icmp_err *e)
{
	return e->has_seq && seq_le(c->snd_una, seq(e->seq)) && seq_lt(seq(e->seq), c->snd_nxt);
}

/* RFC 1191, RFC 5927 7: the path takes less */
static void frag_needed(struct tcp_conn *c, const struct icmp_err *e, struct mono now)
{
	uint32_t before = c->pmtu;

	if (e->mtu >= before || !TCP_IN(c->state, TCPF_SYNCHRONISED))
		return;
	net_pmtu_learn(c->t->net, &tcp_remote(c)->addr, e->mtu, now);
	tcp_pmtu_sync(c, now);
	if (c->pmtu == before)
		return;
	tcp_recovery_on_mtu(c);
	tcp_conn_dirty(c);
}

/**
 * tcp_error() - proto_ops.error: an ICMP error about one of our segments
 *
 * RFC 5461, RFC 9293 MUST-54, SHLD-25, MUST-56: it ends an attempt to connect when it is hard, and is
 * only remembered by a connection that works.
 */
static void tcp_error(void *self, const struct icmp_err *e, struct mono now)
{
	struct tcp *t = self;
	struct demux_key k = { .local = e->local, .remote = e->remote };
	struct demux_conn *dc = demux_find_conn(t->demux, &k);
	struct tcp_conn *c;

	if (!dc) {
		drop_count(tcp_stats(t), DROP_ICMP_NO_MATCH);
		return;
	}
	if (dc->kind == TCP_KIND_HALFOPEN) {
		tcp_halfopen_error(t, dc, e); /* it may be gone now */
		return;
	}
	if (dc->kind != TCP_KIND_CONN)
		return;
	c = container_of(dc, struct tcp_conn, dc);
	/* what our own host says (no neighbour, no route) quotes no sequence number and needs none */
	if (e->has_seq && !is_about_flight(c, e)) {
		drop_count(tcp_stats(t), DROP_ICMP_NO_MATCH);
		return;
	}
	if (e->is_frag_needed) {
		frag_needed(c, e, now);
		return;
	}
	c->soft_err = e->err;
	if (c->state == TCP_SYN_SENT && e->is_hard)
		tcp_conn_fail(c, e->err, "ICMP error");
	tcp_conn_reap(c);
}

const struct proto_ops tcp_proto_ops = {
	.input = tcp_input,
	.error = tcp_error,
};

static void row(const struct tcp_conn *c, void (*fn)(void *ctx, const struct ns_sock_row *row),
		void *ctx)
{
	bool is_listener = c->state == TCP_LISTEN;
	struct ns_sock_row r = {
		.local = tcp_local(c)->port ? *tcp_local(c) : c->bind.local,
		.remote = *tcp_remote(c),
		.state = tcp_state_name(c->state),
		.sndq_len = is_listener ? c->listener->backlog : bytes_len(&c->sndq),
		.rcvq_len = is_listener ? c->listener->accept_cnt : bytes_len(&c->rcvq),
		.sock = c->user ? c->t->users.handle(c->user) : 0,
	};

	fn(ctx, &r);
}

/** tcp_rows() - transport_ops.rows: connections, listeners, half-open and TIME-WAIT; queues of a listener as ss(8) shows them */
void tcp_rows(void *self, void (*fn)(void *ctx, const struct ns_sock_row *row), void *ctx)
{
	struct tcp *t = self;

	list_for_each (n, &t->conns) {
		const struct tcp_conn *c = list_entry(n, struct tcp_conn, all_node);

		row(c, fn, ctx);
		if (!c->listener)
			continue;
		list_for_each (m, &c->listener->syn_q) {
			const struct tcp_halfopen *h = list_entry(m, struct tcp_halfopen, node);
			struct ns_sock_row r = {
				.local = h->dc.key.local,
				.remote = h->dc.key.remote,
				.state = tcp_state_name(TCP_SYN_RCVD),
			};

			fn(ctx, &r);
		}
	}
	list_for_each (n, &t->tws) {
		const struct tcp_tw *tw = list_entry(n, struct tcp_tw, node);
		struct ns_sock_row r = {
			.local = tw->dc.key.local,
			.remote = tw->dc.key.remote,
			.state = tcp_state_name(TCP_TIME_WAIT),
		};

		fn(ctx, &r);
	}
}
