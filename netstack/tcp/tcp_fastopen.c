/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_fastopen.c - octets in the SYN (RFC 7413): cookies of the server, memory of the client
 *
 * Theory of operation
 *
 * A client that has spoken with a server before has a cookie from it, and sends its first octets with the SYN. The
 * cookie proves that its address is its own; so the server may give the octets to its program at once.
 *
 *   server  The cookie is a keyed hash of both addresses. A SYN that asks for one, or has a wrong one, is an ordinary
 *           one whose SYN-ACK brings the right one. A right one makes a connection at once (tcp_listen.c), in the
 *           accept queue, its octets in the receive queue. It is in ESTABLISHED although its SYN-ACK is not
 *           acknowledged (tfo.is_pending): program and sending octets know no difference, but the retransmission
 *           timer repeats the SYN-ACK and nothing else, and so does the peer's SYN when it comes again. At most
 *           TCP_FASTOPEN of a listener are in that state; beyond it SYNs are ordinary.
 *   client  connect() with TCP_FASTOPEN_CONNECT and a cookie says "connected" and sends nothing until there are
 *           octets; then the SYN takes as many as one segment holds. What the SYN-ACK does not acknowledge was
 *           never sent, as far as the connection knows. Without a cookie the SYN asks for one.
 *
 * A SYN that is repeated has neither octets nor option: somebody on the way may drop those. The server is then not
 * tried again for a minute, twice that the next time, and so on (4.1.3).
 *
 * Knob tcp_fastopen as Linux's, bits: 1 client, 2 server, 4 client sends octets without a cookie, 0x200 server
 * takes them without one, 0x400 every listener is one without TCP_FASTOPEN.
 *
 * Limits: SERVERS cookies are remembered, one for each place of a hash table; another server takes the place.
 *
 * References: RFC 7413 4; linux v6.1 net/ipv4/tcp_fastopen.c. Deviates from RFC 7413 2: only one key, no
 * experimental option.
 */
#include <string.h>

#include "tcp/tcp_int.h"

enum {
	KNOB_CLIENT = 1,
	KNOB_SERVER = 2,
	KNOB_CLIENT_NO_COOKIE = 4,
	KNOB_SERVER_NO_COOKIE = 0x200,
	KNOB_ALL_LISTENERS = 0x400,

	COOKIE_LEN = 8, /* octets of ours */
	LOSS_SHIFT_MAX = 6,
};

#define LOSS_NS (60 * NS_PER_SEC)

/** tcp_fastopen_init() - draw the keys; once for a stack */
void tcp_fastopen_init(struct tcp *t)
{
	const struct ns_env *env = t->core->env;

	env->random(env->ctx, t->tfo_key, sizeof(t->tfo_key));
}

/* --- server ---------------------------------------------------------------------------------- */

/* RFC 7413 4.1.2: of addresses, not of ports */
static void make_cookie(const struct tcp *t, const struct tcp_seg *s, uint8_t cookie[COOKIE_LEN])
{
	struct ns_addr pair[2] = { s->remote.addr, s->local.addr };
	uint64_t h = hash_sip(&t->tfo_key[0], pair, sizeof(pair));

	memcpy(cookie, &h, COOKIE_LEN);
}

/** tcp_fastopen_grant() - the cookie of who sent @s, for the SYN-ACK */
void tcp_fastopen_grant(const struct tcp *t, const struct tcp_seg *s, struct tcp_tfo_opt *ret_o)
{
	*ret_o = (struct tcp_tfo_opt){ .has = true, .len = COOKIE_LEN };
	make_cookie(t, s, ret_o->v);
}

static uint32_t queue_max(const struct tcp_conn *lc)
{
	if (lc->tfo.queue_max)
		return lc->tfo.queue_max;
	return tcp_knob(lc->t, NS_KNOB_tcp_fastopen) & KNOB_ALL_LISTENERS ? lc->listener->backlog
									  : 0;
}

/* RFC 7413 4.2.2 step 1 */
static bool is_ours(const struct tcp *t, const struct tcp_seg *s)
{
	const struct tcp_tfo_opt *o = &s->opt.tfo;
	uint8_t cookie[COOKIE_LEN], diff = 0;

	if (o->len != COOKIE_LEN)
		return false;
	make_cookie(t, s, cookie);
	for (uint32_t i = 0; i < COOKIE_LEN; i++)
		diff |= cookie[i] ^ o->v[i];
	return diff == 0;
}

/** tcp_fastopen_judge() - what a SYN for the listener @lc is worth (RFC 7413 4.2.2) */
enum tcp_tfo_verdict tcp_fastopen_judge(const struct tcp_conn *lc, const struct tcp_seg *s)
{
	int knob = tcp_knob(lc->t, NS_KNOB_tcp_fastopen);
	bool is_free = (knob & KNOB_SERVER_NO_COOKIE) && s->len;
	uint32_t max = queue_max(lc);

	if (!(knob & KNOB_SERVER) || max == 0 || (!s->opt.tfo.has && !is_free))
		return TCP_TFO_NONE;
	if (!is_free && !is_ours(lc->t, s))
		return TCP_TFO_GRANT;
	if (lc->listener->tfo_cnt >= max) {
		stat_inc(tcp_stats(lc->t), STAT_TCP_TFO_OVERFLOWS);
		return TCP_TFO_NONE;
	}
	return TCP_TFO_OPEN;
}

/** tcp_fastopen_begin() - @c, of the listener @l, is open before its handshake is over */
void tcp_fastopen_begin(struct tcp_conn *c, struct tcp_listener *l)
{
	c->tfo.is_pending = true;
	c->tfo.l = l;
	list_push(&l->tfo_q, &c->tfo.node);
	l->tfo_cnt++;
	stat_inc(tcp_stats(c->t), STAT_TCP_TFO_PASSIVE);
}

/** tcp_fastopen_end() - its handshake is over, or it is */
void tcp_fastopen_end(struct tcp_conn *c)
{
	c->tfo.is_pending = false;
	if (!c->tfo.l)
		return;
	list_del(&c->tfo.node);
	c->tfo.l->tfo_cnt--;
	c->tfo.l = NULL;
}

/** tcp_fastopen_acked() - an acknowledgement that is believed: our SYN-ACK has arrived */
void tcp_fastopen_acked(struct tcp_conn *c, const struct tcp_seg *s, struct mono now)
{
	tcp_fastopen_end(c);
	c->flags &= ~TCP_F_SYN_DUE;
	if (c->syn_retries == 0)
		tcp_rtt_sample(c, mono_since(now, c->syn_at));
	tcp_accecn_third(c, s);
	c->backoff = 0;
	c->retries = 0;
	tcp_timer_stop(c, &c->rto_timer);
	if (tcp_flight(c))
		tcp_rto_arm(c, now);
}

/* --- client ---------------------------------------------------------------------------------- */

static struct tcp_tfo_server *place_of(struct tcp_conn *c)
{
	struct tcp *t = c->t;
	const struct ns_addr *a = &tcp_remote(c)->addr;

	return &t->tfo_servers[hash_sip(&t->tfo_key[1], a, sizeof(*a)) %
			       NS_ARRAY_LEN(t->tfo_servers)];
}

/* What is remembered of the peer, or NULL. */
static struct tcp_tfo_server *known(struct tcp_conn *c)
{
	struct tcp_tfo_server *p = place_of(c);

	return memcmp(&p->addr, &tcp_remote(c)->addr, sizeof(p->addr)) == 0 ? p : NULL;
}

/* RFC 7413 4.1.3: octets in a SYN got lost not long ago */
static bool is_avoided(const struct tcp_tfo_server *p, struct mono now)
{
	return p && p->loss_cnt &&
	       mono_since(now, p->lost_at) < LOSS_NS << ns_min_u(p->loss_cnt - 1u, LOSS_SHIFT_MAX);
}

/**
 * tcp_fastopen_connect() - RFC 7413 4.2.1: a connection that may send octets with its SYN
 * @c:		In SYN-SENT, nothing sent yet; with TCP_FASTOPEN_CONNECT
 * @now:	Time
 *
 * With a cookie nothing is sent before there are octets, and the program is told that it is connected.
 */
void tcp_fastopen_connect(struct tcp_conn *c, struct mono now)
{
	int knob = tcp_knob(c->t, NS_KNOB_tcp_fastopen);
	const struct tcp_tfo_server *p = known(c);
	struct tcp_tfo_opt *o = &c->tfo.opt;

	c->tfo.may_ask = knob & KNOB_CLIENT;
	if (!c->tfo.may_ask || is_avoided(p, now))
		return;
	*o = (struct tcp_tfo_opt){ .has = true };
	if (p && p->cookie_len) {
		o->len = p->cookie_len;
		memcpy(o->v, p->cookie, sizeof(o->v));
	} else if (knob & KNOB_CLIENT_NO_COOKIE) {
		o->has = false;
	} else {
		return; /* the SYN asks for one */
	}
	c->mss = ns_min_u(tcp_mss_for(&c->dst, &tcp_remote(c)->addr, c->user_mss),
			  p && p->mss ? p->mss : c->peer_mss) -
		 TCP_OPT_MAX;
	c->snd_nxt = c->iss;
	c->flags &= ~TCP_F_SYN_DUE;
	c->tfo.is_deferred = c->tfo.is_early = true;
	tcp_conn_tell(c, NS_EV_CONNECTED | NS_EV_OUT, 0);
}

/** tcp_fastopen_len() - octets for the SYN that leaves now */
uint32_t tcp_fastopen_len(const struct tcp_conn *c)
{
	if (!c->tfo.is_deferred || c->syn_retries)
		return 0;
	return ns_min_u((uint32_t)bytes_len(&c->sndq), c->mss);
}

/** tcp_fastopen_sent() - the SYN has left, with @len octets */
void tcp_fastopen_sent(struct tcp_conn *c, uint32_t len)
{
	if (!c->tfo.is_deferred)
		return;
	c->tfo.is_deferred = false;
	c->tfo.sent_len = len;
	c->snd_nxt = seq_add(c->iss, 1 + len);
}

/** tcp_fastopen_lost() - no answer to the SYN: the next one is plain; was it the octets? */
void tcp_fastopen_lost(struct tcp_conn *c, struct mono now)
{
	struct tcp_tfo_server *p = known(c);

	c->tfo.opt.has = false;
	if (c->syn_retries || c->tfo.sent_len == 0)
		return;
	if (!p) {
		p = place_of(c);
		*p = (struct tcp_tfo_server){ .addr = tcp_remote(c)->addr };
	}
	if (p->loss_cnt < UINT8_MAX)
		p->loss_cnt++;
	p->lost_at = now;
}

/**
 * tcp_fastopen_answered() - RFC 7413 4.2.1: the SYN-ACK
 * @c:		Connection in SYN-SENT; SND.UNA and SND.NXT become the acknowledgement
 * @s:		SYN-ACK, its acknowledgement is acceptable
 *
 * A cookie is remembered with the peer's MSS; octets that it does not acknowledge will be sent as new ones.
 */
void tcp_fastopen_answered(struct tcp_conn *c, const struct tcp_seg *s)
{
	const struct tcp_tfo_opt *o = &s->opt.tfo;
	uint32_t acked = (uint32_t)seq_diff(s->ack, seq_add(c->iss, 1));
	struct tcp_tfo_server *p = place_of(c);

	c->tfo.is_deferred = false;
	if (o->has && o->len && c->tfo.may_ask) {
		*p = (struct tcp_tfo_server){ .addr = tcp_remote(c)->addr,
					      .cookie_len = o->len,
					      .mss = s->opt.mss };
		memcpy(p->cookie, o->v, sizeof(p->cookie));
	}
	c->snd_una = c->snd_nxt = s->ack;
	if (acked == 0)
		return;
	bytes_consume(&c->sndq, acked);
	c->meter.bytes_acked += acked;
	c->tfo.is_data_acked = true;
	stat_inc(tcp_stats(c->t), STAT_TCP_TFO_ACTIVE);
	p = known(c);
	if (p)
		p->loss_cnt = 0;
}
