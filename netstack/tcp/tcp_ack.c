/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ack.c - RFC 9293 3.10.7.4 fifth check: the ACK field
 *
 * Theory of operation
 *
 * What is acknowledged leaves the send queue and the transmission records; SACK blocks update the
 * scoreboard; the send window follows; the recovery machine is told what was delivered; timers start
 * again. Nothing is sent here: the connection is marked, and the end of the turn sends what the
 * window then allows.
 *
 * References: RFC 9293 3.10.7.4; RFC 5961 5.2; RFC 6298 5; RFC 5681 2 (duplicate ACK).
 */
#include <errno.h>

#include "tcp/tcp_int.h"

enum {
	ECHO_MAX_MS = 600000, /* what is older was never ours */
};

/** tcp_window_in() - SND.WND from a segment, with SND.WL1 and SND.WL2 */
void tcp_window_in(struct tcp_conn *c, const struct tcp_seg *s)
{
	uint8_t shift = s->flags & TCP_SYN ? 0 : c->snd_wscale;

	c->snd_wnd = (uint32_t)s->wnd << shift;
	c->snd_wnd_max = ns_max_u(c->snd_wnd_max, c->snd_wnd);
	c->snd_wl1 = s->seq;
	c->snd_wl2 = s->ack;
}

/* linux tcp_may_update_window(): as the RFC, and never smaller by an old segment */
static bool is_window_newer(const struct tcp_conn *c, const struct tcp_seg *s, struct seq una)
{
	uint32_t wnd = (uint32_t)s->wnd << c->snd_wscale;

	return seq_lt(una, s->ack) || seq_lt(c->snd_wl1, s->seq) ||
	       (seq_eq(c->snd_wl1, s->seq) && (wnd > c->snd_wnd || wnd == 0));
}

/* linux tcp_sndbuf_expand(): twice the window, so that the next one is there when this is acknowledged */
static void grow_sndbuf(struct tcp_conn *c)
{
	uint32_t want = ns_min_u(c->cc.cwnd, TCP_CWND_MAX) * 2;

	if (!tcp_has(c, TCP_F_SNDBUF_FIXED) && want > c->sndbuf)
		c->sndbuf = ns_min_u(want, tcp_knob_u(c->t, NS_KNOB_tcp_wmem_max));
}

/**
 * tcp_wake_writer() - tell the program of room worth a wake-up, if it waits for some
 *
 * A third of the buffer (linux sk_stream_write_space()), and with TCP_NOTSENT_LOWAT less than half of
 * it unsent (linux tcp_stream_memory_free()).
 */
void tcp_wake_writer(struct tcp_conn *c)
{
	if (!tcp_has(c, TCP_F_NOSPACE) || tcp_send_space(c) < ns_max_u(c->sndbuf / 3, 1) ||
	    (uint64_t)tcp_unsent(c) * 2 >= c->notsent_lowat)
		return;
	c->flags &= ~TCP_F_NOSPACE;
	tcp_conn_tell(c, NS_EV_OUT, 0);
}

/* Octets before @ack are the peer's. */
static void advance_una(struct tcp_conn *c, struct seq ack, struct tcp_delivered *d,
			struct mono now)
{
	uint32_t len = (uint32_t)seq_diff(ack, c->snd_una);

	tcp_rtx_ack(c, ack, d, now);
	/* the FIN has no octet in the queue; bytes_consume() stops at its end */
	bytes_consume(&c->sndq, len);
	c->snd_una = ack;
	if (seq_lt(c->snd_sml, ack))
		c->snd_sml = ack; /* keeps it near: old ones must not come round */
	tcp_urg_acked(c);
	tcp_mtup_on_ack(c, now);
	d->is_una_moved = true;
	c->meter.bytes_acked += len;
	c->progress = now;
	c->retries = 0;
	tcp_rto_series_end(c, now);
	c->soft_err = 0;
	c->flags &=
		~TCP_F_MORE; /* "at once" is over (linux tcp_data_snd_check() asks tp->nonagle alone) */
	net_confirm(c->t->net, &c->dst, now);
}

/** struct silence - the timeouts that an acknowledgement ends */
struct silence {
	uint16_t cnt;
	struct mono since; /* the first */
};

/*
 * An echo that was ours before the first of several timeouts. The answer to the original may have been so late; or
 * it got lost, and this is the answer to a copy, which is a duplicate and so leaves TS.Recent alone (RFC 7323 4.3).
 * Then the echo is as old as the silence was long, and says nothing of the path.
 */
static bool is_relic(const struct tcp_conn *c, const struct tcp_seg *s, const struct silence *q)
{
	return q->cnt > 1 && (int32_t)(s->opt.ts_ecr - tcp_ts_now(c->ts_off, q->since)) < 0;
}

/* RFC 6298 3, 5.7; RFC 7323 4.1: with timestamps an echo measures what was sent again, too. */
static void measure(struct tcp_conn *c, const struct tcp_seg *s, const struct tcp_delivered *d,
		    const struct silence *q, struct mono now)
{
	bool has_echo = d->is_una_moved && tcp_has(c, TCP_F_TS) && s->opt.ts_ecr != 0;
	uint32_t ms = tcp_ts_now(c->ts_off, now) - s->opt.ts_ecr;

	if (d->rtt_ns)
		tcp_rtt_sample(c, d->rtt_ns);
	else if (has_echo && is_relic(c, s, q))
		tcp_rtt_forget(c);
	else if (has_echo && ms < ECHO_MAX_MS)
		tcp_rtt_sample(c, ms * NS_PER_MS + 1);
	else
		return;
	c->backoff = 0;
}

/* RFC 6298 5.2, 5.3; RFC 9293 3.8.6.1 */
static void restart_timers(struct tcp_conn *c, bool is_una_moved, struct mono now)
{
	if (tcp_flight(c) == 0)
		tcp_timer_stop(c, &c->rto_timer);
	else if (is_una_moved)
		tcp_rto_arm(c, now);
	if (tcp_has(c, TCP_F_SACK) && (is_una_moved || c->ca != TCP_CA_OPEN || c->sacked_len))
		tcp_tlp_schedule(c, now);
	c->probe_cnt = 0;
	if (tcp_unsent(c) == 0 || c->snd_wnd > tcp_flight(c)) {
		c->probe_backoff = 0;
		tcp_timer_stop(c, &c->persist_timer);
	}
}

/* An acceptable acknowledgement, new or duplicate, in a state that may have octets outstanding. */
static void ack_octets(struct tcp_conn *c, const struct tcp_seg *s, bool is_later, struct mono now)
{
	struct tcp_delivered d = { .has_ecr = tcp_has(c, TCP_F_TS) && s->opt.has_ts,
				   .ts_ecr = s->opt.ts_ecr,
				   .fack = c->rack.fack,
				   .is_ece = tcp_ecn_is_echo(c, s) };
	struct seq una = c->snd_una;
	uint32_t flight = tcp_flight(c), wnd = c->snd_wnd, delivered = c->meter.delivered;
	struct silence silence = { c->retries, c->meter.rto_at };
	uint32_t ce;

	/* "If SND.UNA =< SEG.ACK =< SND.NXT, the send window should be updated": an overtaken one is no news */
	if (seq_le(una, s->ack) && is_window_newer(c, s, una))
		tcp_window_in(c, s);
	/* RFC 5681 2, all five conditions */
	d.is_dup = flight > 0 && s->len == 0 && !(s->flags & (TCP_SYN | TCP_FIN)) &&
		   seq_eq(s->ack, una) && (uint32_t)s->wnd << c->snd_wscale == wnd;
	if (seq_lt(una, s->ack))
		advance_una(c, s->ack, &d, now);
	if (tcp_has(c, TCP_F_SACK))
		tcp_sack_in(c, s, &d, now);
	if (d.has_reord)
		tcp_sack_reordered(c, &d);
	if (d.is_ece)
		c->meter.delivered_ce += c->meter.delivered - delivered;
	ce = tcp_accecn_ack(c, s, c->meter.delivered - delivered, is_later);
	c->meter.delivered_ce += ce;
	d.is_ece |= ce > 0;
	measure(c, s, &d, &silence, now);
	tcp_tlp_on_ack(c, &d, flight, now);
	tcp_recovery_on_ack(c, &d, flight, now);
	restart_timers(c, d.is_una_moved, now);
	if (d.is_una_moved) {
		grow_sndbuf(c);
		tcp_wake_writer(c);
	}
	tcp_chrono_update(c, now);
	if (tcp_unsent(c) || c->lost_len || tcp_has(c, TCP_F_FIN_QUEUED))
		tcp_conn_dirty(c);
}

/* Fifth, SYN-RECEIVED. RFC 9293: "If SND.UNA < SEG.ACK =< SND.NXT, enter ESTABLISHED" */
static enum step ack_syn(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;
	struct tcp_seg *s = a->s;

	if (!seq_lt(c->snd_una, s->ack) || seq_lt(c->snd_nxt, s->ack)) {
		tcp_reply_rst(c->t, c, s, a->now);
		a->drop = DROP_TCP_ACK;
		return STEP_STOP;
	}
	c->snd_una = seq_add(c->iss, 1);
	if (c->syn_retries == 0 && c->syn_at.ns) /* a cookie's is not known */
		tcp_rtt_sample(c, mono_since(a->now, c->syn_at));
	tcp_window_in(c, s);
	if (a->was_synack)
		tcp_accecn_crossed(c, s);
	else
		tcp_accecn_third(c, s);
	tcp_set_state(c, TCP_ESTABLISHED, "ACK of our SYN");
	tcp_conn_established(c, a->now);
	return STEP_NEXT;
}

/* What the acknowledgement of our FIN means, by state. */
static enum step ack_fin(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;

	switch (c->state) {
	case TCP_FIN_WAIT_1:
		tcp_set_state(c, TCP_FIN_WAIT_2, "ACK of our FIN");
		if (!tcp_has(c, TCP_F_ORPHAN))
			return STEP_NEXT;
		if (c->linger2_ns == 0) {
			tcp_conn_reset(c, -ETIMEDOUT, "TCP_LINGER2 below zero", a->now);
			return STEP_STOP;
		}
		tcp_timer_set(c, &c->life_timer, mono_add(a->now, c->linger2_ns));
		return STEP_NEXT;
	case TCP_CLOSING:
		tcp_timewait_enter(c, a->now);
		return STEP_STOP;
	case TCP_LAST_ACK:
		tcp_set_state(c, TCP_CLOSED, "ACK of our FIN");
		return STEP_STOP;
	case TCP_CLOSED:
	case TCP_LISTEN:
	case TCP_SYN_SENT:
	case TCP_SYN_RCVD:
	case TCP_ESTABLISHED:
	case TCP_FIN_WAIT_2:
	case TCP_CLOSE_WAIT:
	case TCP_TIME_WAIT:
	case TCP_STATE_COUNT:
		break;
	}
	return STEP_NEXT;
}

/**
 * tcp_ack_in() - RFC 9293 3.10.7.4 fifth check: the ACK field
 * @a:		Arrival; the segment has ACK
 *
 * RFC 5961 5.2 narrows the acceptable range to SND.UNA - MAX.SND.WND ... SND.NXT; outside of it a
 * challenge ACK and nothing else, whatever the segment carries.
 *
 * Return: STEP_NEXT to go on with the segment
 */
enum step tcp_ack_in(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;
	struct tcp_seg *s = a->s;
	bool is_later = tcp_has(c, TCP_F_TS) && s->opt.has_ts &&
			(int32_t)(s->opt.ts_val - c->ts_recent) > 0;

	if (c->state == TCP_SYN_RCVD && ack_syn(a) == STEP_STOP)
		return STEP_STOP;
	if (seq_lt(c->snd_nxt, s->ack) ||
	    seq_diff(c->snd_una, s->ack) > (int64_t)ns_min_u(c->snd_wnd_max, INT32_MAX)) {
		tcp_challenge_ack(c, a->now);
		a->drop = DROP_TCP_ACK;
		return STEP_STOP;
	}
	/* who guesses only a sequence number must not move TS.Recent: PAWS would drop the true peer (linux tcp_ack()) */
	if (a->is_ts_news) {
		c->ts_recent = s->opt.ts_val;
		c->ts_recent_at = a->now;
	}
	tcp_accecn_packet(c, s,
			  a->len); /* RFC 9768 1.3: acceptable is what RFC 5961 lets through */
	c->ack_rx_at = a->now;
	if (c->tfo.is_pending)
		tcp_fastopen_acked(c, s, a->now);
	ack_octets(c, s, is_later, a->now);
	return tcp_fin_acked(c) ? ack_fin(a) : STEP_NEXT;
}
