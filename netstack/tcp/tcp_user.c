/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_user.c - what the program wants: transport_ops
 *
 * Theory of operation
 *
 * Calls that carry no time only change state and mark the connection; close, abort and shutdown are
 * noted in @pend and take effect in tcp_user_flush(), at the end of the turn or before the next segment,
 * whichever is first. After close the pointer is dead for the caller, the object lives as long as the
 * protocol needs it.
 *
 * References: RFC 9293 3.10.1 to 3.10.6; RFC 2525 2.17; linux v6.1 net/ipv4/tcp.c __tcp_close().
 */
#include <errno.h>
#include <string.h>

#include "tcp/tcp_int.h"

static int user_open(void *self, void *user, void **ret_c)
{
	struct tcp_conn *c = tcp_conn_new(self);

	if (!c)
		return -ENOMEM;
	c->user = user;
	c->flags |= TCP_F_OWNED;
	*ret_c = c;
	return 0;
}

/* What happened before there was anybody to tell is told now. */
static void user_set_user(void *conn, void *user)
{
	struct tcp_conn *c = conn;
	uint32_t mask = 0;

	c->user = user;
	if (bytes_len(&c->rcvq))
		mask |= NS_EV_IN;
	if (tcp_urg_off(c) != NS_NO_URGENT)
		mask |= NS_EV_URG;
	if (tcp_has(c, TCP_F_FIN_RCVD))
		mask |= NS_EV_EOF;
	if (c->err)
		mask |= NS_EV_ERR;
	if (mask)
		tcp_conn_tell(c, mask, c->err);
}

static uint32_t random32(const struct tcp *t)
{
	uint32_t v;

	t->core->env->random(t->core->env->ctx, &v, sizeof(v));
	return v;
}

static int user_bind(void *conn, const struct ns_endpoint *local)
{
	struct tcp_conn *c = conn;

	if (c->state != TCP_CLOSED || c->bind.is_bound)
		return -EINVAL;
	if (!ns_addr_is_any(&local->addr) && !net_is_local(c->t->net, &local->addr))
		return -EADDRNOTAVAIL;
	return demux_bind_port(c->t->demux, &c->bind, local, random32(c->t));
}

static int user_listen(void *conn, int backlog)
{
	struct tcp_conn *c = conn;

	if (!TCP_IN(c->state, TCPF(CLOSED) | TCPF(LISTEN)))
		return -EINVAL;
	if (!c->bind.is_bound) {
		struct ns_endpoint any = { .addr = ns_addr_v4(0) };
		int r;

		if (c->bind.is_v6)
			any.addr = (struct ns_addr){ { 0 } };
		r = demux_bind_port(c->t->demux, &c->bind, &any, random32(c->t));

		if (r < 0)
			return r;
	}
	return tcp_listen_start(c, backlog);
}

/* The four-tuple of a connect: the path chooses the address, the demultiplexer the port. */
static int connect_key(struct tcp_conn *c, const struct ns_endpoint *remote)
{
	struct tcp *t = c->t;
	struct demux_key *k = &c->dc.key;
	static const struct ns_addr any;
	bool is_bound = c->bind.is_bound;
	const struct ns_addr *from =
		is_bound && !ns_addr_is_any(&c->bind.local.addr) ? &c->bind.local.addr : &any;
	int r;

	k->remote = *remote;
	if (ns_addr_is_any(&k->remote.addr)) /* linux: this host */
		k->remote.addr = ns_addr_is_v4(&k->remote.addr) || ns_addr_is_v4(from)
					 ? ns_addr_v4(0x7f000001)
					 : (struct ns_addr){ { [15] = 1 } };
	k->local.port = is_bound ? c->bind.local.port : 0;
	r = tcp_route_from(c, from);
	if (r < 0)
		return r;
	k->local.addr = ns_addr_is_any(from) ? c->dst.src : *from;
	if (!is_bound) {
		r = demux_bind_ephemeral(t->demux, &c->bind, &k->local.addr, &k->remote,
					 random32(t));
		if (r < 0)
			return r;
	}
	k->local.port = c->bind.local.port;
	r = tcp_conn_hash(c);
	if (r < 0 && !is_bound)
		demux_unbind(t->demux, &c->bind);
	return r < 0 ? -EADDRNOTAVAIL : 0;
}

/* RFC 9293 3.10.1 OPEN, active */
static int user_connect(void *conn, const struct ns_endpoint *remote, struct mono now)
{
	struct tcp_conn *c = conn;
	int r;

	if (TCP_IN(c->state, TCPF_OPENING))
		return -EALREADY;
	if (c->state != TCP_CLOSED || bytes_len(&c->rcvq) || tcp_has(c, TCP_F_FIN_RCVD))
		return -EISCONN;
	r = connect_key(c, remote);
	if (r < 0)
		return r;
	c->iss = tcp_isn(c->t, &c->dc.key, now);
	tcp_conn_start(c, now);
	c->snd_nxt = seq_add(c->iss, 1);
	c->snd_wnd = c->snd_wnd_max = 0;
	c->flags |= TCP_F_ACTIVE | TCP_F_SYN_DUE;
	tcp_set_state(c, TCP_SYN_SENT, "connect");
	stat_inc(tcp_stats(c->t), STAT_TCP_ACTIVE_OPENS);
	if (c->tfo.is_asked_for)
		tcp_fastopen_connect(c, now);
	tcp_conn_dirty(c);
	return c->tfo.is_early ? 0 : -EINPROGRESS;
}

static int user_accept(void *conn, void **ret_c)
{
	struct tcp_conn *c = conn, *child;

	if (!c->listener)
		return -EINVAL;
	child = tcp_listen_take(c);
	if (!child)
		return -EAGAIN;
	child->flags |= TCP_F_OWNED;
	*ret_c = child;
	return 0;
}

static int user_local(void *conn, struct ns_endpoint *ret_local)
{
	const struct tcp_conn *c = conn;

	if (tcp_local(c)->port)
		*ret_local = *tcp_local(c);
	else
		*ret_local = c->bind.local;
	return 0;
}

/* RFC 7413: the program was told that it is connected, and the SYN-ACK has not come. */
static bool is_early(const struct tcp_conn *c)
{
	return c->state == TCP_SYN_SENT && c->tfo.is_early;
}

static bool can_send(const struct tcp_conn *c)
{
	return TCP_IN(c->state, TCPF_CAN_SEND) || (is_early(c) && c->tfo.is_deferred);
}

static int user_remote(void *conn, struct ns_endpoint *ret_remote)
{
	const struct tcp_conn *c = conn;

	if (!TCP_IN(c->state, TCPF_SYNCHRONISED) && !is_early(c))
		return -ENOTCONN;
	*ret_remote = *tcp_remote(c);
	return 0;
}

/** tcp_send_space() - octets the send queue takes now */
uint32_t tcp_send_space(const struct tcp_conn *c)
{
	uint64_t len = bytes_len(&c->sndq);

	if (!can_send(c) || tcp_has(c, TCP_F_FIN_QUEUED) || c->pend || len >= c->sndbuf ||
	    tcp_unsent(c) >= c->notsent_lowat)
		return 0;
	return c->sndbuf - (uint32_t)len;
}

static uint32_t user_send_room(void *conn)
{
	struct tcp_conn *c = conn;
	uint32_t room = tcp_send_space(c);

	if (room == 0) {
		c->flags |= TCP_F_NOSPACE;
		return 0;
	}
	/* no more than a super-segment too much (linux tcp_sendmsg_locked() asks again for each) */
	return ns_min_u(room, ns_max_u(c->notsent_lowat - tcp_unsent(c), TCP_SUPER_MAX));
}

static int user_send_reserve(void *conn, uint32_t want, struct ns_iov *iov, uint32_t iov_cnt)
{
	struct tcp_conn *c = conn;
	uint32_t room, n;

	if (TCP_IN(c->state, TCPF_OPENING | TCPF(LISTEN)) && !can_send(c)) {
		c->flags |= TCP_F_NOSPACE;
		return is_early(c) ? -EAGAIN : -ENOTCONN;
	}
	if (!can_send(c) || tcp_has(c, TCP_F_FIN_QUEUED) || c->pend)
		return c->state == TCP_CLOSED && !c->err &&
				       c->meter.bytes_sent + c->meter.segs_in == 0
			       ? -ENOTCONN
			       : -EPIPE;
	room = user_send_room(c);
	if (room == 0)
		return -EAGAIN;
	n = bytes_reserve(&c->sndq, ns_min_u(want, room), iov, iov_cnt);
	if (n == 0) {
		c->flags |= TCP_F_NOSPACE;
		return -ENOMEM;
	}
	return (int)n;
}

static void user_send_commit(void *conn, uint32_t len, bool more)
{
	struct tcp_conn *c = conn;

	if (!can_send(c))
		return;
	tcp_rate_check_app_limited(c);
	bytes_commit(&c->sndq, len);
	if (is_early(c) && bytes_len(&c->sndq))
		c->flags |= TCP_F_SYN_DUE;
	c->is_flushing = false;
	c->flags &= ~TCP_F_MORE;
	if (more)
		c->flags |= TCP_F_MORE;
	if (tcp_send_space(c) == 0)
		c->flags |= TCP_F_NOSPACE;
	tcp_conn_dirty(c);
}

/* Where the queue ends now a record ends. */
static void user_send_eor(void *conn)
{
	struct tcp_conn *c = conn;
	struct seq end = seq_add(c->snd_una, (uint32_t)bytes_len(&c->sndq));

	if (!TCP_IN(c->state, TCPF_CAN_SEND) || tcp_unsent(c) == 0)
		return;
	if (c->eor_cnt == TCP_EOR_MAX)
		c->eor_cnt--;
	c->eor[c->eor_cnt++] = end;
}

static int user_recv_peek(void *conn, struct ns_iov *iov, uint32_t iov_cnt)
{
	struct tcp_conn *c = conn;

	return (int)bytes_peek(&c->rcvq, iov, iov_cnt);
}

static void user_recv_consume(void *conn, uint32_t len)
{
	struct tcp_conn *c = conn;

	bytes_consume(&c->rcvq, len);
	if (TCP_IN(c->state, TCPF_CAN_RECV) && tcp_rcv_update_due(c))
		tcp_conn_dirty(c);
}

static bool user_is_eof(void *conn)
{
	const struct tcp_conn *c = conn;

	return tcp_has(c, TCP_F_FIN_RCVD) && bytes_len(&c->rcvq) == 0;
}

static void pend(struct tcp_conn *c, enum tcp_pend what)
{
	c->pend |= (uint8_t)what;
	tcp_conn_dirty(c);
}

static void user_shutdown_send(void *conn)
{
	pend(conn, TCP_PEND_SHUT);
}

/* The caller is gone; an object that never had a peer goes at once. */
static void leave(struct tcp_conn *c, enum tcp_pend what)
{
	c->user = NULL;
	c->flags &= ~TCP_F_OWNED;
	if (c->state == TCP_CLOSED && !c->parent) {
		tcp_conn_free(c);
		return;
	}
	if (c->state == TCP_LISTEN) /* the port is free for the next listener at once */
		demux_unbind(c->t->demux, &c->bind);
	pend(c, what);
}

static void user_close(void *conn)
{
	leave(conn, TCP_PEND_CLOSE);
}

static void user_abort(void *conn)
{
	leave(conn, TCP_PEND_ABORT);
}

/* RFC 9293 3.10.4 CLOSE: our FIN follows what is queued; the state moves now, whatever the window says. */
static void on_shutdown(struct tcp_conn *c)
{
	if (tcp_has(c, TCP_F_FIN_QUEUED))
		return;
	switch (c->state) {
	case TCP_SYN_SENT: /* linux tcp_disconnect(): the attempt ends */
		if (is_early(c) && bytes_len(&c->sndq))
			break; /* as far as the program knows it is connected */
		tcp_conn_fail(c, -ECONNRESET, "shutdown");
		return;
	case TCP_SYN_RCVD: /* "queue until ESTABLISHED": tcp_conn_established() goes on */
		break;
	case TCP_ESTABLISHED:
		tcp_set_state(c, TCP_FIN_WAIT_1, "program is done");
		break;
	case TCP_CLOSE_WAIT:
		tcp_set_state(c, TCP_LAST_ACK, "program is done");
		break;
	case TCP_CLOSED:
	case TCP_LISTEN:
	case TCP_FIN_WAIT_1:
	case TCP_FIN_WAIT_2:
	case TCP_CLOSING:
	case TCP_LAST_ACK:
	case TCP_TIME_WAIT:
	case TCP_STATE_COUNT:
		return;
	}
	c->flags |= TCP_F_FIN_QUEUED;
	tcp_conn_dirty(c);
}

/* The program closed. */
static void on_close(struct tcp_conn *c, struct mono now)
{
	if (c->state == TCP_LISTEN) {
		tcp_listen_stop(c, now, false);
		tcp_set_state(c, TCP_CLOSED, "close");
		return;
	}
	if (c->state == TCP_SYN_SENT && !(is_early(c) && bytes_len(&c->sndq))) {
		tcp_set_state(c, TCP_CLOSED, "close");
		return;
	}
	/* RFC 2525 2.17: octets nobody will read must not look delivered; SO_LINGER 0 asks for it */
	if (bytes_len(&c->rcvq) || tcp_has(c, TCP_F_LINGER0)) {
		tcp_conn_reset(c, -ECONNRESET, "closed with octets unread, or SO_LINGER 0", now);
		return;
	}
	c->flags |= TCP_F_SHUT_RECV;
	on_shutdown(c);
	tcp_conn_orphan(c, now);
	if (c->state != TCP_FIN_WAIT_2)
		return;
	if (c->linger2_ns == 0)
		tcp_conn_reset(c, -ETIMEDOUT, "TCP_LINGER2 below zero", now);
	else
		tcp_timer_set(c, &c->life_timer, mono_add(now, c->linger2_ns));
}

/**
 * tcp_user_flush() - let take effect what the program asked for without a time
 * @c:		Connection with something in @pend; not freed here
 * @now:	Time
 */
void tcp_user_flush(struct tcp_conn *c, struct mono now)
{
	uint8_t what = c->pend;

	c->pend = 0;
	if (c->state == TCP_CLOSED)
		return;
	if (what & TCP_PEND_ABORT) {
		if (c->state == TCP_LISTEN)
			tcp_listen_stop(c, now, false);
		tcp_conn_reset(c, -ECONNABORTED, "abort", now);
		return;
	}
	if (what & TCP_PEND_CLOSE)
		on_close(c, now);
	else if (what & TCP_PEND_SHUT)
		on_shutdown(c);
}

const struct transport_ops tcp_transport_ops = {
	.open = user_open,
	.set_user = user_set_user,
	.bind = user_bind,
	.listen = user_listen,
	.connect = user_connect,
	.accept = user_accept,
	.local = user_local,
	.remote = user_remote,
	.send_room = user_send_room,
	.send_reserve = user_send_reserve,
	.send_commit = user_send_commit,
	.send_eor = user_send_eor,
	.send_urgent = tcp_urg_mark,
	.recv_urgent = tcp_urg_off,
	.recv_peek = user_recv_peek,
	.recv_consume = user_recv_consume,
	.is_eof = user_is_eof,
	.shutdown_send = user_shutdown_send,
	.close = user_close,
	.abort = user_abort,
	.setopt = tcp_setopt,
	.getopt = tcp_getopt,
	.set_fastopen_keys = tcp_fastopen_set_keys,
	.fastopen_keys = tcp_fastopen_keys,
	.info = tcp_info,
	.output = tcp_output,
	.rows = tcp_rows,
};
