/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_out.c - what to send now
 *
 * Theory of operation
 *
 * Once a turn tcp_output() visits the connections that were marked dirty, in rounds: a few
 * super-segments each, so that no one fills the link alone. A visit does, in this order: what the program
 * asked for without a time (close, abort), the handshake, an acknowledgement that has to carry SACK
 * blocks, what is lost, what is new, a probe that is due, an acknowledgement that found nothing to ride
 * on. At the end the timers are set by what is outstanding and what is held back.
 *
 * New octets leave in the largest super-segment that the peer's window, the congestion window and the
 * path allow, in full segments. A rest below one segment leaves when it is the end of the queue and
 * Nagle in Minshall's form (RFC 9293 3.8.6.2.1, linux tcp_nagle_check()), TCP_CORK and MSG_MORE let it, or
 * when it is half of the largest window the peer ever had (silly window avoidance).
 *
 * A link without room or an empty pool leaves the connection dirty: the next call, which a writable
 * link brings about, goes on. Nothing is dropped.
 *
 * Time: sets rto and persist; see tcp_timer.c.
 *
 * References: RFC 9293 3.8.6, 3.7.4; RFC 6675 5 (C); RFC 5681 4.1; linux v6.1 net/ipv4/tcp_output.c
 * tcp_write_xmit().
 */
#include <errno.h>
#include <string.h>

#include "tcp/tcp_int.h"

/** enum visit - how a visit ended */
enum visit {
	VISIT_DONE,    /* nothing more to send now */
	VISIT_AGAIN,   /* budget used, more is ready */
	VISIT_BLOCKED, /* link or memory: come back with the next call */
};

/** struct room - what may leave now, octets */
struct room {
	uint32_t wnd;  /* of the peer's window */
	uint32_t cwnd; /* of the congestion window */
	uint32_t gso;  /* in one super-segment, a multiple of mss */
};

static uint32_t hdr_len(const struct tcp_conn *c)
{
	uint32_t ip = ns_addr_is_v4(&tcp_remote(c)->addr) ? 20 : 40;

	return ip + TCP_HDR_LEN + (tcp_has(c, TCP_F_TS) ? TCP_TS_LEN : 0u);
}

static struct room room_of(const struct tcp_conn *c, struct seq from)
{
	int32_t wnd = seq_diff(seq_add(c->snd_una, c->snd_wnd), from);
	uint32_t pipe = tcp_pipe(c);

	return (struct room){
		.wnd = wnd > 0 ? (uint32_t)wnd : 0,
		.cwnd = c->cc.cwnd > pipe ? c->cc.cwnd - pipe : 0,
		.gso = c->urg.has_snd || tcp_accecn_is_single(c)
			       ? c->mss
			       : tcp_pace_quantum(
					 c, net_dst_gso(c->t->net, &c->dst, c->mss, hdr_len(c))),
	};
}

/*
 * The first @len octets of @r once more. What is left of it becomes a record of its own, unless that
 * is impossible. Octets sent (FIN counts), -EAGAIN.
 */
static int send_again(struct tcp_conn *c, struct tcp_rec *r, uint32_t len, struct mono now)
{
	uint32_t payload = len;
	uint8_t flags = TCP_ACK;
	int n;

	if (tcp_has(c, TCP_F_FIN_SENT) && seq_lt(c->snd_fin, seq_add(r->seq, len))) {
		payload--;
		flags |= TCP_FIN;
	}
	if (seq_eq(seq_add(r->seq, payload), seq_add(c->snd_una, (uint32_t)bytes_len(&c->sndq))))
		flags |= TCP_PSH;
	n = tcp_xmit(c, r->seq, payload, flags, now);
	if (n < 0)
		return n;
	if ((uint32_t)n < payload)
		len = (uint32_t)n;
	stat_add(tcp_stats(c->t), STAT_TCP_RETRANS_SEGS, (len + c->mss - 1) / c->mss);
	c->meter.total_retrans += (len + c->mss - 1) / c->mss;
	c->meter.bytes_retrans += ns_min_u(payload, len);
	return (int)len;
}

/* RFC 6675 5 (C) for what is lost. Octets sent, 0: nothing to send or not allowed, -EAGAIN. */
static int send_lost(struct tcp_conn *c, struct mono now)
{
	struct tcp_rec *r = tcp_rtx_next(c);
	struct room room;
	uint32_t len;
	int n;

	if (!r || c->undo.is_testing) /* RFC 5682 2.1 step 2b: new octets instead */
		return 0;
	room = room_of(c, r->seq);
	len = r->len;
	if (room.cwnd < ns_min_u(len, c->mss))
		return 0;
	/* a peer that took its window back gets one segment at the window's start, as a probe */
	if (room.wnd < ns_min_u(len, c->mss) && !seq_eq(r->seq, c->snd_una))
		return 0;
	if (len > c->mss)
		len = ns_min_u(len, ns_max_u(ns_min_u(room.cwnd, ns_min_u(room.wnd, room.gso)) /
						     c->mss * c->mss,
					     c->mss));
	if (len < r->len && !tcp_rtx_split(c, r, len))
		len = ns_min_u(r->len, room.gso);
	n = send_again(c, r, len, now);
	if (n < 0 || ((uint32_t)n < len && !tcp_rtx_split(c, r, (uint32_t)n)))
		return n; /* at the cap: it goes again whole, later */
	tcp_pace_sent(c, (uint32_t)n, now);
	tcp_rtx_sent(c, r, now);
	tcp_undo_sent_again(c, (uint32_t)n, now);
	c->prr_out += (uint32_t)n;
	/* RFC 6675 6: the timeout is of this copy, which may have waited long for RACK's word (linux tcp_xmit_retransmit_queue()) */
	if (r == tcp_rec_first(c))
		tcp_rto_arm(c, now);
	return n;
}

/* RFC 8985 7.3: the last segment once more, to see what comes back. As send_lost(). */
static int send_last_again(struct tcp_conn *c, struct mono now)
{
	struct tcp_rec *r = tcp_rec_last(c);
	uint32_t len;
	int n;

	if (!r || (r->flags & (TCP_REC_SACKED | TCP_REC_LOST)) || c->snd_wnd < tcp_flight(c))
		return 0; /* a window that was taken back is the timeout's to probe */
	len = (r->len - 1) % c->mss + 1;
	if (len < r->len) {
		if (!tcp_rtx_split(c, r, r->len - len))
			return 0;
		r = tcp_rec_next(c, r);
	}
	n = send_again(c, r, len, now);
	if (n > 0)
		tcp_rtx_probed(c, r, now);
	return n;
}

/* May a rest below one segment at the end of the queue leave? */
static bool may_send_rest(const struct tcp_conn *c)
{
	if (tcp_has(c, TCP_F_FIN_QUEUED | TCP_F_PUSH) || c->is_flushing || c->urg.has_snd)
		return true;
	if (tcp_has(c, TCP_F_CORK | TCP_F_MORE))
		return false;
	return tcp_has(c, TCP_F_NODELAY) || tcp_flight(c) == 0 || seq_le(c->snd_sml, c->snd_una);
}

/* Octets of @unsent up to where the next record ends; marks that were passed are forgotten. */
static uint32_t record_left(struct tcp_conn *c, uint32_t unsent)
{
	uint8_t passed = 0;

	while (passed < c->eor_cnt && seq_le(c->eor[passed], c->snd_nxt))
		passed++;
	c->eor_cnt = (uint8_t)(c->eor_cnt - passed);
	memmove(c->eor, c->eor + passed, c->eor_cnt * sizeof(c->eor[0]));
	return c->eor_cnt ? ns_min_u((uint32_t)seq_diff(c->eor[0], c->snd_nxt), unsent) : unsent;
}

/* Octets of @unsent that leave in the next segment; sets whether the congestion window was the limit. */
static uint32_t sendable(struct tcp_conn *c, uint32_t unsent, const struct room *room,
			 bool *ret_is_limited)
{
	uint32_t record = record_left(c, unsent);
	uint32_t len = ns_min_u(record, room->wnd);
	uint32_t rest;

	if (len > room->cwnd) {
		len = room->cwnd - room->cwnd % c->mss; /* full segments only (linux counts them) */
		*ret_is_limited = true;
	}
	len = ns_min_u(len, room->gso);
	rest = len % c->mss;
	if (rest == 0)
		return len;
	if (len == unsent ? may_send_rest(c) : len == record || tcp_has(c, TCP_F_PUSH))
		return len; /* more is behind the record: it will not grow (linux tcp_skb_is_last()) */
	if (len == rest && rest >= c->snd_wnd_max / 2 && c->snd_wnd_max)
		return len; /* RFC 9293 3.8.6.2.1 (3): all that this peer will ever take at once */
	return len - rest;
}

/* The FIN may go with the octets that end the queue, or alone; neither window is asked (a FIN at a zero window is taken). */
static bool fin_goes(const struct tcp_conn *c, uint32_t unsent, uint32_t len)
{
	return tcp_has(c, TCP_F_FIN_QUEUED) && !tcp_has(c, TCP_F_FIN_SENT) && len == unsent;
}

/* RFC 5681 4.1: what was learned of the path long ago is not for a burst now. Did it change the window? */
static bool restart_after_idle(struct tcp_conn *c, struct mono now)
{
	uint64_t idle = mono_since(now, c->data_tx_at);

	if (tcp_flight(c) || !c->meter.bytes_sent || idle <= c->rto_ns || c->cc.ops->on_sample ||
	    !tcp_knob(c->t, NS_KNOB_tcp_slow_start_after_idle))
		return false;
	tcp_cc_restart(&c->cc, idle, c->rto_ns);
	return true;
}

/* [SND.NXT, SND.NXT + @n) has just left for the first time; the FIN, when it is among them, is not of the @len octets. */
static void sent_new(struct tcp_conn *c, uint32_t n, uint32_t len, struct mono now)
{
	tcp_rtx_add(c, c->snd_nxt, n, now);
	c->snd_nxt = seq_add(c->snd_nxt, n);
	if (!c->tlp.is_due)
		tcp_tlp_schedule(c, now);
	stat_add(tcp_stats(c->t), STAT_TCP_OCTETS_OUT, len);
	if (TCP_IN(c->ca, 1u << TCP_CA_RECOVERY | 1u << TCP_CA_CWR))
		c->prr_out += n;
}

/* RFC 4821 7.5: one segment that is longer than what is known to pass, if it is time for it. As send_new(). */
static int send_mtu_probe(struct tcp_conn *c, struct mono now)
{
	struct room room;
	uint32_t len;
	int n;

	if (!c->mtup.is_on || tcp_unsent(c) == 0 || !tcp_rtx_can_add(c, now))
		return 0;
	room = room_of(c, c->snd_nxt);
	len = tcp_mtup_len(c, room.wnd, room.cwnd, now);
	if (len == 0)
		return 0;
	c->mtup.is_sending = true;
	n = tcp_xmit(c, c->snd_nxt, len, TCP_ACK, now);
	if (n > 0) {
		tcp_pace_sent(c, (uint32_t)n, now);
		if ((uint32_t)n > c->mss)
			tcp_mtup_sent(c, c->snd_nxt, (uint32_t)n);
		sent_new(c, (uint32_t)n, (uint32_t)n, now);
	}
	c->mtup.is_sending = false;
	return n;
}

/* Octets that never left. Octets sent (FIN counts), 0: nothing to send or not allowed, -EAGAIN. */
static int send_new(struct tcp_conn *c, bool *ret_is_limited, struct mono now)
{
	uint32_t unsent = tcp_unsent(c);
	uint8_t flags = TCP_ACK;
	struct room room;
	uint32_t len, first;
	bool has_fin;
	int n;

	if (unsent == 0 && !fin_goes(c, 0, 0))
		return 0;
	room = room_of(c, c->snd_nxt);
	if (room.wnd && restart_after_idle(c, now))
		room = room_of(c, c->snd_nxt);
	if (c->tlp.is_due) { /* one segment, whatever the congestion window says */
		room.cwnd = ns_max_u(room.cwnd, c->mss);
		room.gso = c->mss;
	}
	first = tcp_accecn_room(c);
	len = ns_min_u(sendable(c, unsent, &room, ret_is_limited), first);
	has_fin = fin_goes(c, unsent, len);
	if (len == 0 && !has_fin)
		return 0;
	if (!tcp_rtx_can_add(c, now))
		return -EAGAIN;
	if (len == unsent)
		flags |= TCP_PSH;
	if (has_fin)
		flags |= TCP_FIN;
	if (unsent == 0)
		flags &= (uint8_t)~TCP_PSH;
	if (tcp_pipe(c) == 0 && c->cc.ops->on_restart) {
		c->cc.ops->on_restart(&c->cc, c->rate.app_limited != 0, now);
		tcp_pace_update(c);
	}
	n = tcp_xmit(c, c->snd_nxt, len, flags, now);
	if (n < 0)
		return n;
	tcp_pace_sent(c, (uint32_t)n, now);
	if (tcp_flight(c) == 0)
		c->progress = now;
	if ((uint32_t)n < len) {
		has_fin = false;
		len = (uint32_t)n;
	}
	if (len % c->mss && len != first)
		c->snd_sml = seq_add(c->snd_nxt, len);
	if (has_fin) {
		c->snd_fin = seq_add(c->snd_nxt, len);
		c->flags |= TCP_F_FIN_SENT;
		n++;
	}
	sent_new(c, (uint32_t)n, len, now);
	return n;
}

/* SYN, or SYN-ACK when the opens crossed. */
static enum visit send_syn(struct tcp_conn *c, struct mono now)
{
	uint8_t flags = c->state == TCP_SYN_SENT ? TCP_SYN : TCP_SYN | TCP_ACK;
	int n;

	if (!tcp_has(c, TCP_F_SYN_DUE)) {
		if (tcp_has(c, TCP_F_ACK_NOW) && c->state == TCP_SYN_RCVD)
			(void)tcp_send_ack(c, now);
		return VISIT_DONE;
	}
	n = tcp_xmit(c, c->iss, c->state == TCP_SYN_SENT ? tcp_fastopen_len(c) : 0, flags, now);
	if (n < 0)
		return VISIT_BLOCKED;
	tcp_fastopen_sent(c, (uint32_t)n);
	c->flags &= ~TCP_F_SYN_DUE;
	c->syn_at = now;
	if (!timer_is_armed(&c->rto_timer))
		tcp_rto_arm(c, now);
	return VISIT_DONE;
}

/* RFC 9293 3.8.6.1, 3.8.4: an empty segment the peer must answer, at a sequence number it has. */
static int send_probe(struct tcp_conn *c, struct mono now)
{
	int n = 0;

	/* RFC 9293 MUST-66: a peer without room still hears of urgent data, where its window is */
	if (c->urg.has_snd)
		n = tcp_xmit(c, c->snd_una, 0, TCP_ACK, now);
	if (n == 0)
		n = tcp_xmit(c, seq_add(c->snd_una, UINT32_MAX), 0, TCP_ACK, now);
	if (n < 0)
		return n;
	stat_inc(tcp_stats(c->t), STAT_TCP_PROBES);
	return 0;
}

/*
 * A probe is due. When the window is open and only too small (or a cork held the rest back) octets
 * are the better probe: they leave now, once, however few.
 */
static int serve_probe(struct tcp_conn *c, bool *ret_is_limited, struct mono now)
{
	int n = 0;

	c->flags |= TCP_F_PUSH;
	if (c->snd_wnd > tcp_flight(c))
		n = send_new(c, ret_is_limited, now);
	c->flags &= ~TCP_F_PUSH;
	if (n == 0)
		n = send_probe(c, now);
	if (n < 0)
		return n;
	if (tcp_unsent(c))
		c->probe_cnt++;
	c->flags &= ~TCP_F_PROBE_DUE;
	return 0;
}

/* RFC 8985 7.3: a new segment if there is one and the peer takes it, else the last one again */
static int serve_tlp(struct tcp_conn *c, bool *ret_is_limited, struct mono now)
{
	bool is_again = false;
	int n;

	c->flags |= TCP_F_PUSH;
	n = send_new(c, ret_is_limited, now);
	c->flags &= ~TCP_F_PUSH;
	if (n == 0) {
		n = send_last_again(c, now);
		is_again = true;
	}
	if (n < 0)
		return n;
	c->tlp.is_due = false;
	if (n > 0)
		tcp_tlp_sent(c, is_again);
	return 0;
}

/* Timers by what is outstanding and what is held back. */
static void set_timers(struct tcp_conn *c, bool is_blocked, struct mono now)
{
	bool is_held = tcp_flight(c) == 0 && tcp_unsent(c) > 0 && !is_blocked &&
		       !timer_is_armed(&c->pace_timer);

	if (tcp_flight(c) && !timer_is_armed(&c->rto_timer))
		tcp_rto_arm(c, now);
	if (!is_held) {
		tcp_timer_stop(c, &c->persist_timer);
		return;
	}
	if (!timer_is_armed(&c->persist_timer)) {
		bool is_corked = c->snd_wnd > 0 && tcp_has(c, TCP_F_CORK | TCP_F_MORE);

		tcp_persist_arm(c, is_corked ? TCP_CORK_NS : c->rto_ns, now);
	}
}

/* Octets wait for their moment. Was the window the limit all the same? */
static bool is_held_back(struct tcp_conn *c, bool *ret_is_limited, struct mono now)
{
	if ((tcp_unsent(c) == 0 && c->lost_len <= c->retrans_len) || !tcp_pace_holds(c, now))
		return false;
	if (tcp_pipe(c) + c->mss > c->cc.cwnd)
		*ret_is_limited = true;
	return true;
}

/* Lost first, then new, up to the budget. */
static enum visit send_octets(struct tcp_conn *c, bool *ret_is_limited, struct mono now)
{
	for (uint32_t i = 0; i < TCP_OUT_BUDGET; i++) {
		int n;

		if (is_held_back(c, ret_is_limited, now))
			return VISIT_DONE;
		n = send_lost(c, now);
		if (n == 0)
			n = send_mtu_probe(c, now);
		if (n == 0)
			n = send_new(c, ret_is_limited, now);
		if (n < 0)
			return VISIT_BLOCKED;
		if (n == 0)
			return VISIT_DONE;
	}
	return VISIT_AGAIN;
}

/* An acknowledgement that says more than octets on their way have room for. */
static bool has_bare_ack(const struct tcp_conn *c)
{
	return (tcp_has(c, TCP_F_ACK_NOW) &&
		(!list_is_empty(&c->islands) || tcp_has(c, TCP_F_DSACK) ||
		 c->ecn.acc.is_answer_due)) ||
	       tcp_accecn_wants_ack(c);
}

/* It goes; behind a bare answer to a SYN-ACK what came out of order is told, too. As tcp_send_ack(). */
static int send_bare_ack(struct tcp_conn *c, struct mono now)
{
	bool is_twice = c->ecn.acc.is_answer_due && !list_is_empty(&c->islands);
	int r = tcp_send_ack(c, now);

	return r == 0 && is_twice ? tcp_send_ack(c, now) : r;
}

static enum visit visit_open(struct tcp_conn *c, struct mono now)
{
	enum visit v = VISIT_DONE;
	bool is_limited = false;

	if (has_bare_ack(c) && send_bare_ack(c, now) < 0)
		return VISIT_BLOCKED;
	if (TCP_IN(c->state, TCPF_CAN_XMIT)) {
		if (c->tlp.is_due && serve_tlp(c, &is_limited, now) < 0)
			return VISIT_BLOCKED;
		v = send_octets(c, &is_limited, now);
		tcp_recovery_sent(c, is_limited);
		if (c->notsent_lowat != UINT32_MAX)
			tcp_wake_writer(c);
		tcp_chrono_update(c, now);
	}
	if (tcp_has(c, TCP_F_PROBE_DUE) && v != VISIT_BLOCKED &&
	    serve_probe(c, &is_limited, now) < 0)
		v = VISIT_BLOCKED;
	if (tcp_rcv_update_due(c) && !tcp_has(c, TCP_F_FIN_RCVD))
		c->flags |= TCP_F_ACK_NOW;
	if (tcp_has(c, TCP_F_ACK_NOW) && tcp_send_ack(c, now) < 0)
		v = VISIT_BLOCKED;
	if (v != VISIT_AGAIN)
		set_timers(c, v == VISIT_BLOCKED, now);
	return v;
}

static enum visit visit(struct tcp_conn *c, struct mono now)
{
	int r;

	if (c->pend)
		tcp_user_flush(c, now);
	if (!TCP_IN(c->state, TCPF_SYNCHRONISED | TCPF_OPENING))
		return VISIT_DONE;
	r = tcp_route(c);
	if (r < 0) {
		if (c->state == TCP_SYN_SENT)
			tcp_conn_fail(c, r, "no route any more");
		else
			c->soft_err = r; /* the timers go on: a route may come back */
		return VISIT_DONE;
	}
	if (TCP_IN(c->state, TCPF_OPENING))
		return send_syn(c, now);
	if (tcp_has(c, TCP_F_SYN_DUE) && send_syn(c, now) == VISIT_BLOCKED)
		return VISIT_BLOCKED; /* open by RFC 7413: its SYN-ACK goes first */
	tcp_pmtu_sync(c, now);
	return visit_open(c, now);
}

static struct tcp_conn *dirty_pop(struct list *l)
{
	struct list *n = list_pop(l);
	struct tcp_conn *c;

	if (!n)
		return NULL;
	c = list_entry(n, struct tcp_conn, dirty_node);
	c->flags &= ~TCP_F_DIRTY;
	return c;
}

static void dirty_push(struct list *l, struct tcp_conn *c)
{
	if (tcp_has(c, TCP_F_DIRTY)) /* marked itself again during the visit */
		list_del(&c->dirty_node);
	c->flags |= TCP_F_DIRTY;
	list_push(l, &c->dirty_node);
}

/** tcp_output() - transport_ops.output: send what this turn made due */
void tcp_output(void *self, struct mono now)
{
	struct tcp *t = self;
	struct tcp_conn *c;
	struct list work, blocked;

	list_init(&work);
	list_init(&blocked);
	list_splice(&work, &t->dirty);
	while ((c = dirty_pop(&work)) != NULL) {
		enum visit v = visit(c, now);

		if (c->state != TCP_CLOSED && v == VISIT_AGAIN)
			dirty_push(&work, c);
		else if (c->state != TCP_CLOSED && v == VISIT_BLOCKED)
			dirty_push(&blocked, c);
		tcp_conn_reap(c);
	}
	list_splice(&t->dirty, &blocked);
}
