/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rcv.c - receiving: text, FIN, the window we offer, when to acknowledge
 *
 * Theory of operation
 *
 * Window. RCV.NXT plus what the receive buffer has room for, never moved left (RFC 9293 SHLD-14), moved
 * right only by at least a segment or half the buffer (3.8.6.2.2). The buffer starts at 64 KiB and
 * doubles, up to the limit, whenever one window's worth arrives within two round trips (or 4 ms,
 * whatever the round trip seems to be) and the program has kept up: so the window stays ahead of a sender
 * in slow start and a fast link is not held back by the first guess. As linux tcp_rcv_space_adjust(), but
 * by windows rather than by timed samples.
 *
 * Memory. In-order payload is referenced, not copied. A frame that carries little holds its whole chunk, so
 * when the true charge runs far ahead of the octets the queue is compacted.
 *
 * Acknowledgements leave at the end of the turn. At once: for more than one full segment, for
 * anything out of order or received twice, for a filled hole, while the connection is young
 * (quick_cnt: the sender is in slow start), when the window has opened by much. Otherwise after 40 ms
 * or on the next octets of ours.
 *
 * References: RFC 9293 3.8.6, 3.10.7.4 seventh and eighth; RFC 5681 4.2; linux v6.1
 * net/ipv4/tcp_input.c __tcp_ack_snd_check(), tcp_event_data_recv().
 */
#include <errno.h>

#include "tcp/tcp_int.h"

enum {
	ROUND_FAST_NS =
		4 * 1000 * 1000,  /* a window within this time: fast, whatever the RTT says */
	CHARGE_FACTOR = 2,        /* true memory per octet of buffer before compaction */
	CHARGE_SLACK = 512 << 10, /* octets: a few frames may always be held */
};

/** tcp_rcv_wscale_for() - the shift at which 16 bits can say @max_len octets (RFC 7323 2.2) */
uint8_t tcp_rcv_wscale_for(uint32_t max_len)
{
	uint8_t shift = 0;

	while (shift < TCP_WSCALE_MAX && ((uint64_t)UINT16_MAX << shift) < max_len)
		shift++;
	return shift;
}

/** tcp_rcv_start() - the receive side of a connection about to open; irs comes later */
void tcp_rcv_start(struct tcp_conn *c)
{
	uint32_t max = tcp_has(c, TCP_F_RCVBUF_FIXED) ? c->rcvbuf : tcp_window_max(c->t);

	c->rcv_wscale = tcp_rcv_wscale_for(max);
	c->rcv_nxt = c->rcv_adv = c->rcv_acked = c->irs = seq(0);
	c->rcv_rtt_ns = 0;
	c->sack_news = 0;
}

static uint32_t rcv_space(const struct tcp_conn *c)
{
	uint64_t used = bytes_len(&c->rcvq);
	uint64_t room = used < c->rcvbuf ? c->rcvbuf - used : 0;

	return (uint32_t)(room < c->wnd_clamp ? room : c->wnd_clamp);
}

/* RFC 9293 3.8.6.2.2: the least by which the window's edge moves */
static uint32_t least_move(const struct tcp_conn *c)
{
	return ns_max_u(ns_min_u(c->rcv_mss, c->rcvbuf / 2), 1);
}

/* The right edge to offer now, before scaling. */
static struct seq next_edge(const struct tcp_conn *c)
{
	struct seq edge = seq_add(c->rcv_nxt, rcv_space(c));

	if (seq_diff(edge, c->rcv_adv) < (int32_t)least_move(c))
		return seq_max(c->rcv_adv, c->rcv_nxt);
	return edge;
}

/**
 * tcp_rcv_offer() - the window field of a segment that leaves now
 * @c:		Connection; rcv_adv moves to what is said
 * @is_syn:	The field of a SYN is not scaled (RFC 7323 2.2)
 *
 * What was offered stays acceptable. The field is rounded up to the scale's unit so that the edge does
 * not seem to move left, unless the buffer is full: rounding up each time would let it creep on.
 *
 * Return: the field, host order
 */
uint16_t tcp_rcv_offer(struct tcp_conn *c, bool is_syn)
{
	uint8_t shift = tcp_has(c, TCP_F_WSCALE) && !is_syn ? c->rcv_wscale : 0;
	uint32_t wnd = (uint32_t)seq_diff(next_edge(c), c->rcv_nxt);
	uint32_t unit = 1u << shift;
	uint32_t field = (wnd + unit - 1) >> shift;

	if (bytes_len(&c->rcvq) + ((uint64_t)field << shift) > (uint64_t)c->rcvbuf + unit)
		field = wnd >> shift;
	field = ns_min_u(field, UINT16_MAX);
	c->rcv_adv = seq_max(c->rcv_adv, seq_add(c->rcv_nxt, field << shift));
	return (uint16_t)field;
}

/**
 * tcp_rcv_update_due() - did the program's reading open the window by so much that the peer should hear of it?
 *
 * Not while half of the buffer is open anyway: the next acknowledgement will tell (linux tcp_cleanup_rbuf()).
 */
bool tcp_rcv_update_due(const struct tcp_conn *c)
{
	struct seq edge = seq_add(c->rcv_nxt, rcv_space(c));
	int32_t gain = seq_diff(edge, c->rcv_adv);
	uint32_t open = tcp_rcv_wnd(c);

	if (gain < (int32_t)least_move(c))
		return false;
	return open < c->rcv_mss || (open <= c->rcvbuf / 2 && (uint32_t)gain >= c->rcvbuf / 4);
}

/** tcp_rcv_acked() - a segment with the current RCV.NXT has left */
void tcp_rcv_acked(struct tcp_conn *c)
{
	if (c->quick_cnt && !seq_eq(c->rcv_acked, c->rcv_nxt))
		c->quick_cnt--;
	c->rcv_acked = c->rcv_nxt;
	c->flags &= ~(TCP_F_ACK_NOW | TCP_F_DSACK);
	c->sack_news = 0;
	tcp_timer_stop(c, &c->delack_timer);
}

/** tcp_rcv_quickack() - acknowledge at once for a while: the sender needs it (linux tcp_enter_quickack_mode()) */
void tcp_rcv_quickack(struct tcp_conn *c)
{
	c->quick_cnt = TCP_QUICK_ACKS;
	c->flags &= ~TCP_F_PINGPONG;
}

/* linux tcp_measure_rcv_mss(): what the peer's full segments carry */
static void measure_mss(struct tcp_conn *c, const struct tcp_seg *s)
{
	uint16_t seen = s->mss_seen;

	if (seen >= c->rcv_mss)
		c->rcv_mss = (uint16_t)ns_min_u(seen, c->adv_mss);
}

/* One window's worth is in: was that fast, and does the program keep up? Then double the buffer. */
static void autotune(struct tcp_conn *c, struct mono now)
{
	uint64_t took, rtt = c->srtt_ns > c->rcv_rtt_ns ? c->srtt_ns : c->rcv_rtt_ns;
	uint32_t max = tcp_window_max(c->t);

	if (seq_lt(c->rcv_nxt, c->round_edge))
		return;
	took = mono_since(now, c->round_start);
	c->round_edge = seq_add(c->rcv_nxt, ns_max_u(rcv_space(c), c->rcv_mss));
	c->round_start = now;
	if (tcp_has(c, TCP_F_RCVBUF_FIXED) || c->rcvbuf >= max ||
	    bytes_len(&c->rcvq) > c->rcvbuf / 2)
		return;
	if (took <= 2 * rtt || took <= ROUND_FAST_NS)
		c->rcvbuf = ns_min_u(c->rcvbuf * 2, max);
}

/* linux tcp_rcv_space_adjust(), at the next arrival rather than in recv(): for TCP_INFO */
static void measure_taken(struct tcp_conn *c, struct mono now)
{
	uint64_t rtt = c->rcv_rtt_ns ? c->rcv_rtt_ns : c->srtt_ns;
	struct seq taken = seq(c->rcv_nxt.v - (uint32_t)bytes_len(&c->rcvq));

	if (rtt == 0 || mono_since(now, c->took_at) < rtt)
		return;
	c->took_max = ns_max_u(c->took_max, (uint32_t)seq_diff(taken, c->took_seq));
	c->took_seq = taken;
	c->took_at = now;
}

/* linux tcp_rcv_rtt_measure_ts(): a receiver that sends nothing learns the round trip from echoes */
static void measure_rtt(struct tcp_conn *c, const struct tcp_seg *s, struct mono now)
{
	uint32_t ms;

	if (!s->opt.has_ts || s->opt.ts_ecr == 0 || s->len < c->rcv_mss)
		return;
	ms = tcp_ts_now(c->ts_off, now) - s->opt.ts_ecr;
	if (ms < 60000) /* an echo older than that is no echo of ours */
		c->rcv_rtt_ns = c->rcv_rtt_ns - c->rcv_rtt_ns / 8 + ms * NS_PER_MS / 8;
}

/* Should what is in order now be acknowledged at the end of the turn, or may it wait? */
static void schedule_ack(struct tcp_conn *c, struct mono now)
{
	uint32_t unacked = (uint32_t)seq_diff(c->rcv_nxt, c->rcv_acked);
	bool is_quick = c->quick_cnt && !tcp_has(c, TCP_F_PINGPONG | TCP_F_NO_QUICKACK);

	tcp_conn_dirty(c);
	if (unacked > c->rcv_mss || is_quick || !list_is_empty(&c->islands) ||
	    tcp_has(c, TCP_F_DSACK))
		c->flags |= TCP_F_ACK_NOW;
	else if (!timer_is_armed(&c->delack_timer))
		tcp_timer_set(c, &c->delack_timer, mono_add(now, TCP_DELACK_NS));
}

/* Payload at RCV.NXT into the receive queue. */
static enum drop append(struct tcp_conn *c, const struct tcp_seg *s)
{
	if (c->rcvq.charge > (uint64_t)CHARGE_FACTOR * c->rcvbuf + CHARGE_SLACK)
		bytes_compact(&c->rcvq);
	if (bytes_append_pkt(&c->rcvq, s->p) < 0)
		return DROP_NO_MEMORY;
	c->rcv_nxt = seq_add(c->rcv_nxt, s->len);
	return DROP_NONE;
}

static void in_order(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;
	struct seq before = c->rcv_nxt;
	bool had_islands = !list_is_empty(&c->islands);
	enum drop d;
	uint32_t len;

	/* a long silence: the sender starts slowly again, and so do we (linux tcp_event_data_recv()) */
	if (mono_since(a->now, c->data_rx_at) > c->rto_ns)
		tcp_rcv_quickack(c);
	measure_mss(c, a->s);
	measure_rtt(c, a->s, a->now);
	d = append(c, a->s);
	if (d != DROP_NONE) {
		a->drop = d;
		return;
	}
	tcp_reasm_pull(c);
	len = (uint32_t)seq_diff(c->rcv_nxt, before);
	stat_add(tcp_stats(c->t), STAT_TCP_OCTETS_IN, len);
	c->meter.bytes_received += len;
	c->meter.data_segs_in += a->s->seg_cnt;
	c->data_rx_at = a->now;
	if (had_islands)
		c->flags |= TCP_F_ACK_NOW; /* RFC 5681 4.2: fills all or part of a gap */
	autotune(c, a->now);
	measure_taken(c, a->now);
	schedule_ack(c, a->now);
	tcp_conn_tell(c, NS_EV_IN | tcp_urg_news(c), 0);
}

/** tcp_rcv_syn_text() - RFC 7413 4.2.2: the octets of a SYN whose cookie was right; beyond the window they come again */
void tcp_rcv_syn_text(struct tcp_conn *c, const struct tcp_seg *syn, struct mono now)
{
	struct tcp_seg text = *syn;
	struct tcp_arrival a = { .c = c, .s = &text, .now = now };
	uint32_t wnd = tcp_rcv_wnd(c);

	text.seq = c->rcv_nxt;
	text.flags &= (uint8_t) ~(TCP_SYN | TCP_FIN);
	if (text.len > wnd)
		tcp_seg_trim_back(&text, text.len - wnd);
	if (text.len == 0)
		return;
	in_order(&a);
	c->tfo.is_data_acked = true;
}

static void out_of_order(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;
	enum drop d = tcp_reasm_add(c, a->s);

	if (d != DROP_NONE)
		a->drop = d;
	c->meter.data_segs_in += a->s->seg_cnt;
	c->meter.ooo_segs += a->s->seg_cnt;
	tcp_rcv_quickack(c);
	c->flags |= TCP_F_ACK_NOW; /* RFC 5681 4.2: a duplicate ACK at once */
	tcp_conn_dirty(c);
	/*
	 * Without SACK the sender counts duplicates, with it a block is only reported while it is
	 * among the newest: those do not wait for the end of the turn.
	 */
	if (!tcp_has(c, TCP_F_SACK) || c->sack_news >= TCP_SACK_MAX - 1)
		(void)tcp_send_ack(c, a->now);
}

/**
 * tcp_text_in() - RFC 9293 3.10.7.4 seventh: segment text
 * @a:		Arrival; trimmed to the window
 *
 * RFC 9293 MUST-57 and RFC 1122 4.2.2.13: octets for a program that is gone are answered with RST.
 *
 * Return: STEP_NEXT, also when the text was not taken; a->drop says so
 */
enum step tcp_text_in(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;
	struct tcp_seg *s = a->s;

	if (s->len == 0)
		return STEP_NEXT;
	if (!TCP_IN(c->state, TCPF_CAN_RECV)) {
		a->drop =
			DROP_TCP_AFTER_FIN; /* "should not occur, since a FIN has been received" */
		return STEP_NEXT;
	}
	if (tcp_has(c, TCP_F_SHUT_RECV)) {
		a->drop = DROP_TCP_CLOSED_DATA;
		/* as if nobody were here: at SEG.ACK, where the peer takes it even if our FIN is still on its way */
		tcp_reply_rst(c->t, c, s, a->now);
		tcp_conn_fail(c, -ECONNABORTED, "octets for a program that is gone");
		return STEP_STOP;
	}
	if (tcp_has(c, TCP_F_FIN_KNOWN) && seq_lt(c->rcv_fin, seq_add(s->seq, s->len))) {
		if (seq_le(c->rcv_fin, s->seq)) {
			a->drop = DROP_TCP_AFTER_FIN;
			return STEP_STOP;
		}
		s->flags &= (uint8_t)~TCP_FIN;
		tcp_seg_trim_back(s, (uint32_t)seq_diff(seq_add(s->seq, s->len), c->rcv_fin));
	}
	tcp_ecn_text(c, s);
	if (seq_eq(s->seq, c->rcv_nxt)) {
		in_order(a);
	} else {
		struct tcp_seg text = *s;

		text.flags &= (uint8_t)~TCP_FIN; /* the eighth check's business */
		a->s = &text;
		out_of_order(a);
		a->s = s;
	}
	return STEP_NEXT;
}

/* The peer is done sending and everything it sent is in. */
static void fin_done(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;

	c->flags |= TCP_F_FIN_RCVD | TCP_F_ACK_NOW;
	c->rcv_nxt = seq_add(c->rcv_nxt, 1);
	c->rcv_adv = seq_max(c->rcv_adv, c->rcv_nxt);
	tcp_conn_dirty(c);
	switch (c->state) {
	case TCP_ESTABLISHED:
		tcp_set_state(c, TCP_CLOSE_WAIT, "FIN");
		break;
	case TCP_FIN_WAIT_1:
		tcp_set_state(c, TCP_CLOSING, "FIN, ours not acknowledged");
		break;
	case TCP_FIN_WAIT_2:
		tcp_conn_tell(c, NS_EV_EOF, 0);
		tcp_timewait_enter(c, a->now);
		return;
	case TCP_CLOSED:
	case TCP_LISTEN:
	case TCP_SYN_SENT:
	case TCP_SYN_RCVD:
	case TCP_CLOSE_WAIT:
	case TCP_CLOSING:
	case TCP_LAST_ACK:
	case TCP_TIME_WAIT:
	case TCP_STATE_COUNT:
		break;
	}
	tcp_conn_tell(c, NS_EV_EOF, 0);
}

/**
 * tcp_fin_in() - RFC 9293 3.10.7.4 eighth: FIN, perhaps one that waited for a hole to close
 *
 * The fifth check has already moved FIN-WAIT-1 whose FIN this segment acknowledges to FIN-WAIT-2.
 *
 * Return: STEP_NEXT, STEP_STOP when the connection went to TIME-WAIT
 */
enum step tcp_fin_in(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;
	struct tcp_seg *s = a->s;

	if ((s->flags & TCP_FIN) && TCP_IN(c->state, TCPF_CAN_RECV) &&
	    !tcp_has(c, TCP_F_FIN_KNOWN)) {
		c->rcv_fin = seq_add(s->seq, s->len);
		c->flags |= TCP_F_FIN_KNOWN;
	}
	if (!tcp_has(c, TCP_F_FIN_KNOWN) || tcp_has(c, TCP_F_FIN_RCVD))
		return STEP_NEXT;
	if (!seq_eq(c->rcv_fin, c->rcv_nxt)) {
		if (s->flags & TCP_FIN) { /* beyond a hole: a duplicate ACK tells where it is */
			c->flags |= TCP_F_ACK_NOW;
			tcp_conn_dirty(c);
		}
		return STEP_NEXT;
	}
	fin_done(a);
	return c->state == TCP_CLOSED ? STEP_STOP : STEP_NEXT;
}
