/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_fastopen_client.c - octets in the SYN (RFC 7413): the client, its cookies and whom it does not try
 *
 * Theory of operation
 *
 * connect() with TCP_FASTOPEN_CONNECT and a cookie says "connected" and sends nothing until there are octets; then
 * the SYN takes as many as one segment holds. What the SYN-ACK does not acknowledge was never sent, as far as the
 * connection knows. Without a cookie the SYN asks for one; a server that gives none is asked by the option of before
 * the RFC the next time.
 *
 * A SYN that is repeated has neither octets nor option: somebody on the way may drop those. The server is then not
 * tried again for a minute, twice that the next time, and so on (4.1.3).
 *
 * Others let the handshake through and swallow what follows (4.1.3.1). With the knob
 * tcp_fastopen_blackhole_timeout_sec the third timeout in a row of a connection that began fast, or a FIN whose
 * octets never came, stops the client for all servers: for as many seconds, twice that the next time, 64 times at
 * most. The first connection after it that hears octets ends the series.
 *
 * Limits: TCP_TFO_SERVERS servers are remembered, one for each place of a hash table; another takes the place.
 *
 * References: RFC 7413 4.1.3, 4.2.1, appendix A; linux v6.1 net/ipv4/tcp_fastopen.c tcp_fastopen_cookie_check(),
 * tcp_fastopen_active_should_disable().
 */
#include <string.h>

#include "tcp/tcp_int.h"

enum {
	LOSS_SHIFT_MAX = 6,
	TIMEOUTS_MAX = 2, /* timeouts before the one that stops the client */
};

#define LOSS_NS (60 * NS_PER_SEC)

static struct tcp_tfo_server *place_of(struct tcp_conn *c)
{
	struct tcp *t = c->t;
	const struct ns_addr *a = &tcp_remote(c)->addr;

	return &t->tfo_servers[hash_sip(&t->tfo_table_key, a, sizeof(*a)) %
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

/* --- something on the way swallows them ------------------------------------------------------- */

static bool is_paused(struct tcp_conn *c, struct mono now)
{
	const struct tcp_tfo_pause *p = &c->t->tfo_pause;
	uint64_t first_s = tcp_knob_u(c->t, NS_KNOB_tcp_fastopen_blackhole_timeout_sec);

	if (first_s == 0 || p->cnt == 0)
		return false;
	if (mono_since(now, p->at) / NS_PER_SEC < first_s << ns_min_u(p->cnt - 1u, LOSS_SHIFT_MAX))
		return true;
	c->tfo.is_trial = true;
	return false;
}

static void pause_all(struct tcp_conn *c, struct mono now)
{
	struct tcp_tfo_pause *p = &c->t->tfo_pause;

	if (tcp_knob(c->t, NS_KNOB_tcp_fastopen_blackhole_timeout_sec) == 0)
		return;
	p->cnt++;
	p->at = now;
	stat_inc(tcp_stats(c->t), STAT_TCP_TFO_PAUSES);
}

/**
 * tcp_fastopen_timeout() - RFC 7413 4.1.3.1: the retransmission timer of any connection has gone off
 * @before:	How often it did already since something was acknowledged
 * @is_last:	The connection ends with it
 * @now:	Time
 */
void tcp_fastopen_timeout(struct tcp_conn *c, uint32_t before, bool is_last, struct mono now)
{
	if (c->tfo.is_fast && (before == TIMEOUTS_MAX || (before < TIMEOUTS_MAX && is_last)))
		pause_all(c, now);
}

/** tcp_fastopen_over() - the connection ends: did it hear anything? (linux tcp_fastopen_active_disable_ofo_check()) */
void tcp_fastopen_over(struct tcp_conn *c)
{
	bool is_fin_alone = tcp_has(c, TCP_F_FIN_KNOWN) && !tcp_has(c, TCP_F_FIN_RCVD);

	if (!c->tfo.is_fast)
		return;
	c->tfo.is_fast = false;
	if (c->meter.data_segs_in == 0 && is_fin_alone)
		pause_all(c, c->rx_at);
	else if (c->meter.data_segs_in && c->tfo.is_trial &&
		 !ns_addr_is_loopback(&tcp_remote(c)->addr))
		c->t->tfo_pause.cnt = 0;
}

/* --- connect() -------------------------------------------------------------------------------- */

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

	c->tfo.may_ask = knob & TCP_TFO_CLIENT;
	if (!c->tfo.may_ask || is_avoided(p, now) || is_paused(c, now))
		return;
	if (!(knob & TCP_TFO_CLIENT_NO_COOKIE) && !c->tfo.no_cookie) {
		c->tfo.is_fast = true;
		if (p && p->cookie.has) {
			*o = p->cookie;
		} else { /* the SYN asks for one */
			*o = (struct tcp_tfo_opt){ .has = true, .is_exp = p && p->try_exp == 1 };
			c->tfo.fail = TCP_TFO_FAIL_COOKIE;
			return;
		}
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
	c->tfo.is_fast |= len != 0;
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

/* What the SYN-ACK says about cookies is remembered (linux tcp_rcv_fastopen_synack()). */
static void remember(struct tcp_conn *c, const struct tcp_seg *s)
{
	const struct tcp_tfo_opt *o = &s->opt.tfo;
	struct tcp_tfo_server *p = place_of(c);
	bool was_asked = c->tfo.opt.has && c->tfo.opt.len == 0;

	if (!c->tfo.may_ask)
		return;
	if (o->has && o->len) {
		*p = (struct tcp_tfo_server){ .addr = tcp_remote(c)->addr,
					      .cookie = *o,
					      .mss = s->opt.mss };
	} else if (was_asked) {
		uint8_t tried = c->tfo.opt.is_exp ? 2 : 1;

		if (!known(c))
			*p = (struct tcp_tfo_server){ .addr = tcp_remote(c)->addr };
		if (!p->cookie.has && tried > p->try_exp)
			p->try_exp = tried;
	}
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
	uint32_t acked = (uint32_t)seq_diff(s->ack, seq_add(c->iss, 1));
	struct tcp_tfo_server *p;

	c->tfo.is_deferred = false;
	remember(c, s);
	c->snd_una = c->snd_nxt = s->ack;
	if (acked < c->tfo.sent_len) {
		c->tfo.fail = c->syn_retries ? TCP_TFO_FAIL_RETRANS : TCP_TFO_FAIL_DATA;
		stat_inc(tcp_stats(c->t), STAT_TCP_TFO_ACTIVE_FAILS);
	}
	if (acked == 0)
		return;
	bytes_consume(&c->sndq, acked);
	c->meter.bytes_acked += acked;
	c->tfo.is_data_acked = acked == c->tfo.sent_len;
	stat_inc(tcp_stats(c->t), STAT_TCP_TFO_ACTIVE);
	p = known(c);
	if (p)
		p->loss_cnt = 0;
}
