/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_in.c - RFC 9293 3.10.7: SEGMENT ARRIVES
 *
 * Theory of operation
 *
 * A packet is parsed once and given to what its four-tuple finds: a connection, a half-open object, a
 * TIME-WAIT entry, else the listener of its port, else nobody (3.10.7.1). A connection in SYN-SENT has
 * its own five checks (3.10.7.3); every other one runs the eight of 3.10.7.4 by the table below. Each
 * is a function named after it; each says whether the segment goes on.
 *
 * Where Linux is more lenient than the RFC it is because real peers need it, and said at the place.
 *
 * References: RFC 9293 3.10.7; RFC 7323 5; RFC 5961 3, 4, 5, 7; linux v6.1 net/ipv4/tcp_input.c
 * tcp_validate_incoming(), tcp_rcv_synsent_state_process().
 */
#include <errno.h>

#include "tcp/tcp_int.h"

/**
 * tcp_oow_allows() - may an unacceptable segment be answered? (linux tcp_oow_rate_limited())
 * @t:		Instance
 * @at:		When one was answered last; set when allowed
 * @s:		Segment: octets or FIN without SYN cannot be part of a loop and are always answered
 * @now:	Time of arrival
 */
bool tcp_oow_allows(const struct tcp *t, struct mono *at, const struct tcp_seg *s, struct mono now)
{
	if ((s->len > 0 || (s->flags & TCP_FIN)) && !(s->flags & TCP_SYN))
		return true;
	if (at->ns &&
	    mono_since(now, *at) < tcp_knob_u(t, NS_KNOB_tcp_invalid_ratelimit) * NS_PER_MS)
		return false;
	at->ns = now.ns ? now.ns : 1;
	return true;
}

/* RFC 5961 7, with a limit that cannot be counted from outside (CVE-2016-5696). */
static bool challenge_allowed(struct tcp *t, struct mono now)
{
	if (mono_since(now, t->challenge_second) >= NS_PER_SEC || t->challenge_second.ns == 0) {
		const struct ns_env *env = t->core->env;
		uint32_t max = tcp_knob_u(t, NS_KNOB_tcp_challenge_ack_limit);
		uint32_t rnd;

		env->random(env->ctx, &rnd, sizeof(rnd));
		t->challenge_second = now;
		t->challenge_left = (max + 1) / 2 + rnd % max;
	}
	if (t->challenge_left == 0)
		return false;
	t->challenge_left--;
	return true;
}

/** tcp_challenge_ack() - RFC 5961: tell the peer where we are and let it decide; rate limited */
void tcp_challenge_ack(struct tcp_conn *c, struct mono now)
{
	static const struct tcp_seg no_octets;

	if (!tcp_oow_allows(c->t, &c->oow_at, &no_octets, now) || !challenge_allowed(c->t, now))
		return;
	stat_inc(tcp_stats(c->t), STAT_TCP_CHALLENGE_ACKS);
	(void)tcp_send_ack(c, now);
}

/* RFC 9293: "If an incoming segment is not acceptable, an acknowledgment should be sent in reply" */
static enum step not_acceptable(struct tcp_arrival *a, enum drop why)
{
	struct tcp_conn *c = a->c;
	struct tcp_seg *s = a->s;

	a->drop = why;
	if (s->flags & TCP_RST)
		return STEP_STOP;
	if (s->len && seq_lt(s->seq, c->rcv_nxt)) {
		tcp_rcv_quickack(c); /* our acknowledgement was lost, or the peer is too eager */
		tcp_reasm_dsack(c, s->seq, seq_min(seq_add(s->seq, s->len), c->rcv_nxt));
	}
	if (tcp_oow_allows(c->t, &c->oow_at, s, a->now)) {
		c->flags |= TCP_F_ACK_NOW;
		tcp_conn_dirty(c);
	}
	return STEP_STOP;
}

/* RFC 7323 5.3 R1. An idle time of 24 days says nothing any more (5.5). */
static bool paws_rejects(const struct tcp_conn *c, const struct tcp_seg *s, struct mono now)
{
	return tcp_has(c, TCP_F_TS) && s->opt.has_ts && !(s->flags & TCP_RST) &&
	       (int32_t)(s->opt.ts_val - c->ts_recent) < 0 &&
	       mono_since(now, c->ts_recent_at) < TCP_PAWS_IDLE_NS;
}

/* RFC 7323 5.3 R3: the segment spans what we acknowledged last, so its clock is the one to echo. */
static bool is_ts_news(const struct tcp_conn *c, const struct tcp_seg *s)
{
	return tcp_has(c, TCP_F_TS) && s->opt.has_ts && seq_le(s->seq, c->rcv_acked) &&
	       (int32_t)(s->opt.ts_val - c->ts_recent) >= 0;
}

/*
 * The four cases of RFC 9293 3.10.7.4, as lenient as linux tcp_sequence(): what begins before RCV.NXT
 * is fine when it does not end before the acknowledgement sent last (its ACK field is still news); a
 * segment without octets may stand at the window's very edge, but a reset there is outside (RFC 5961 3.2).
 */
static bool is_acceptable(const struct tcp_conn *c, const struct tcp_seg *s)
{
	uint32_t span = tcp_seg_span(s);
	struct seq edge = seq_add(c->rcv_nxt, tcp_rcv_wnd(c));

	if (seq_lt(seq_add(s->seq, span), c->rcv_acked))
		return false;
	if (seq_eq(s->seq, c->rcv_nxt) || (s->len == 0 && !(s->flags & TCP_RST)))
		return seq_le(s->seq, edge);
	return seq_lt(s->seq, edge);
}

/* Self-connect and simultaneous open: the SYN-ACK repeats the SYN we know (RFC 9293 figure 8). */
static void strip_known_syn(struct tcp_arrival *a)
{
	const struct tcp_conn *c = a->c;
	struct tcp_seg *s = a->s;

	if (c->state != TCP_SYN_RCVD || !(s->flags & TCP_SYN) || !(s->flags & TCP_ACK) ||
	    !seq_eq(s->seq, c->irs))
		return;
	tcp_seg_trim_front(s, 1);
	a->was_synack = true;
}

/* What was received before goes; when nothing is left the peer missed our acknowledgement. */
static void trim_old(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;
	struct tcp_seg *s = a->s;
	uint32_t span = tcp_seg_span(s);
	uint32_t old = ns_min_u((uint32_t)seq_diff(c->rcv_nxt, s->seq), span);
	bool had_text = s->len > 0;

	tcp_reasm_dsack(c, s->seq, seq_min(seq_add(s->seq, s->len), c->rcv_nxt));
	tcp_seg_trim_front(s, old);
	if (span == 0 || old < span)
		return;
	a->drop = DROP_TCP_DUPLICATE;
	if (had_text)
		tcp_accecn_duplicate(c);
	tcp_rcv_quickack(c);
	c->flags |= TCP_F_ACK_NOW;
	tcp_conn_dirty(c);
}

/* "trim off any portions that lie outside the window" */
static void trim_new(struct tcp_arrival *a, uint32_t over)
{
	struct tcp_seg *s = a->s;

	s->flags &= (uint8_t)~TCP_FIN;
	tcp_seg_trim_back(s, ns_min_u(over, s->len));
	a->drop = DROP_TCP_WINDOW;
	a->c->flags |= TCP_F_ACK_NOW;
	tcp_conn_dirty(a->c);
}

/* First: sequence number. */
static enum step check_sequence(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;
	struct tcp_seg *s = a->s;
	int32_t over;

	strip_known_syn(a);
	if (paws_rejects(c, s, a->now))
		return not_acceptable(a, DROP_TCP_PAWS);
	if (c->t->drop_missing_ts && tcp_has(c, TCP_F_TS) && !s->opt.has_ts &&
	    !(s->flags & TCP_RST)) {
		a->drop = DROP_TCP_PAWS;
		return STEP_STOP;
	}
	if (!is_acceptable(c, s)) {
		bool is_old = seq_le(tcp_seg_end(s), c->rcv_nxt);

		return not_acceptable(a, is_old ? DROP_TCP_DUPLICATE : DROP_TCP_SEQ);
	}
	if (s->flags & (TCP_RST | TCP_SYN))
		return STEP_NEXT; /* judged by where they are, not by what is left of them */
	a->len = s->len;
	a->is_ts_news = is_ts_news(c, s); /* taken when the ACK field is believed, too */
	if (seq_lt(s->seq, c->rcv_nxt))
		trim_old(a);
	over = seq_diff(seq_add(s->seq, s->len), seq_add(c->rcv_nxt, tcp_rcv_wnd(c)));
	if (over > 0)
		trim_new(a, (uint32_t)over);
	return STEP_NEXT;
}

/* What a reset that is believed does, by state. */
static enum step reset_in(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;

	stat_inc(tcp_stats(c->t), STAT_TCP_CONN_RESETS);
	tcp_fastopen_reset(c, a->now);
	switch (c->state) {
	case TCP_SYN_RCVD:
		tcp_conn_fail(c, -ECONNREFUSED, "RST");
		break;
	case TCP_ESTABLISHED:
	case TCP_FIN_WAIT_1:
	case TCP_FIN_WAIT_2:
	case TCP_CLOSING: /* RFC 9293 says nothing to the user here; a program that only shut down asks */
	case TCP_LAST_ACK: /* whether its last octets arrived: they did not (linux tcp_reset()) */
		tcp_conn_fail(c, -ECONNRESET, "RST");
		break;
	case TCP_CLOSE_WAIT:
		tcp_conn_fail(c, -EPIPE, "RST");
		break;
	case TCP_CLOSED:
	case TCP_LISTEN:
	case TCP_SYN_SENT:
	case TCP_TIME_WAIT:
	case TCP_STATE_COUNT:
		break;
	}
	return STEP_STOP;
}

/* Second: RST, believed only at the very sequence number expected (RFC 5961 3.2). */
static enum step check_rst(struct tcp_arrival *a)
{
	if (!(a->s->flags & TCP_RST))
		return STEP_NEXT;
	if (seq_eq(a->s->seq, a->c->rcv_nxt))
		return reset_in(a);
	tcp_challenge_ack(a->c, a->now);
	a->drop = DROP_TCP_RST;
	return STEP_STOP;
}

/* Third: security. RFC 9293 A.1: compartments are of multilevel networks; nobody's are here. */
static enum step check_security(struct tcp_arrival *a)
{
	(void)a;
	return STEP_NEXT;
}

/* The peer's SYN, which is known, once more. Is it an answer to one kind of ECN? */
static bool syn_again(struct tcp_conn *c, const struct tcp_seg *s, struct mono now)
{
	if (tcp_ecn_syn_again(c, s))
		return true;
	tcp_conn_reset(c, -ECONNRESET, "SYNs ask for both kinds of ECN", now);
	return false;
}

/* Fourth: SYN. In a synchronised state a challenge, wherever it is (RFC 5961 4.2). */
static enum step check_syn(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;
	const struct tcp_seg *s = a->s;

	if (!(s->flags & TCP_SYN))
		return STEP_NEXT;
	a->drop = DROP_TCP_SYN;
	if (s->flags & TCP_ACK)
		tcp_accecn_synack_again(c, s);
	else if (c->state == TCP_SYN_RCVD && seq_eq(s->seq, c->irs) && !syn_again(c, s, a->now))
		return STEP_STOP;
	tcp_challenge_ack(c, a->now);
	return STEP_STOP;
}

static const struct {
	const char *clause;
	step_fn fn;
} arrival[] = {
	{ "first: sequence number", check_sequence },
	{ "second: RST", check_rst },
	{ "third: security", check_security },
	{ "fourth: SYN", check_syn },
	{ "fifth: ACK", tcp_ack_in },
	{ "sixth: URG", tcp_urg_in },
	{ "seventh: segment text", tcp_text_in },
	{ "eighth: FIN", tcp_fin_in },
};

/* The options of a SYN: what both sides offer is in force (RFC 7323 2.5, 3.2; RFC 2018 2). */
static void negotiate(struct tcp_conn *c, const struct tcp_seg *s, struct mono now)
{
	const struct tcp_opts *o = &s->opt;

	if (o->mss)
		c->peer_mss = (uint16_t)ns_max_u(o->mss, TCP_MSS_MIN);
	if (o->has_ts && tcp_knob(c->t, NS_KNOB_tcp_timestamps)) {
		c->flags |= TCP_F_TS;
		c->ts_recent = o->ts_val;
		c->ts_recent_at = now;
	}
	if (o->sack_ok && tcp_knob(c->t, NS_KNOB_tcp_sack))
		c->flags |= TCP_F_SACK;
	if (o->has_wscale && tcp_knob(c->t, NS_KNOB_tcp_window_scaling)) {
		c->flags |= TCP_F_WSCALE;
		c->snd_wscale = o->wscale;
	} else {
		c->rcv_wscale = 0;
		c->snd_wscale = 0;
	}
}

/* Fourth of SYN-SENT: the SYN is ours or crosses ours. */
static void syn_sent_syn(struct tcp_conn *c, struct tcp_seg *s, struct mono now)
{
	negotiate(c, s, now);
	c->irs = s->seq;
	c->rcv_nxt = seq_add(s->seq, 1);
	c->rcv_adv = seq_add(c->rcv_nxt, ns_min_u(c->rcvbuf, UINT16_MAX));
	c->rcv_acked = c->rcv_nxt;
	tcp_window_in(c, s);
	if (!(s->flags & TCP_ACK)) {
		tcp_ecn_crossed(c, s);
		c->snd_nxt = seq_add(c->iss, 1); /* octets of our SYN go again */
		tcp_set_state(c, TCP_SYN_RCVD, "SYN crossed ours");
		c->flags |= TCP_F_SYN_DUE;
		tcp_conn_dirty(c);
		return;
	}
	tcp_ecn_answered(c, s);
	tcp_fastopen_answered(c, s);
	if (c->syn_retries == 0)
		tcp_rtt_sample(c, mono_since(now, c->syn_at));
	tcp_set_state(c, TCP_ESTABLISHED, "SYN-ACK");
	c->flags |= TCP_F_ACK_NOW;
	tcp_conn_dirty(c);
	tcp_conn_established(c, now);
	/* text and FIN of a SYN-ACK are not kept: the peer sends them again */
}

/* 3.10.7.3 SYN-SENT: first ACK, second RST, third security, fourth SYN, fifth neither. */
static enum drop syn_sent_input(struct tcp_conn *c, struct tcp_seg *s, struct mono now)
{
	bool is_acked =
		(s->flags & TCP_ACK) && seq_lt(c->iss, s->ack) && seq_le(s->ack, c->snd_nxt);

	if ((s->flags & TCP_ACK) && !is_acked) {
		tcp_reply_rst(c->t, c, s, now);
		return DROP_TCP_ACK;
	}
	if (s->flags & TCP_RST) {
		if (!is_acked)
			return DROP_TCP_RST;
		stat_inc(tcp_stats(c->t), STAT_TCP_CONN_RESETS);
		tcp_conn_fail(c, -ECONNREFUSED, "RST");
		return DROP_NONE;
	}
	if (!(s->flags & TCP_SYN))
		return DROP_TCP_BAD_FLAGS;
	if (s->flags & TCP_FIN)
		return DROP_TCP_BAD_FLAGS; /* linux: SYN-FIN in SYN-SENT is no answer */
	/* RFC 7323 3.2: an echo that is none of ours belongs to another connection */
	if (is_acked && s->opt.has_ts && s->opt.ts_ecr &&
	    (int32_t)(tcp_ts_now(c->ts_off, now) - s->opt.ts_ecr) < 0) {
		tcp_reply_rst(c->t, c, s, now);
		return DROP_TCP_PAWS;
	}
	syn_sent_syn(c, s, now);
	return DROP_NONE;
}

/**
 * tcp_conn_input() - a segment for a connection
 * @c:		Connection, found by four-tuple; may be freed here
 * @s:		Segment
 * @now:	Time of arrival
 *
 * Return: DROP_NONE, or why it or a part of it was dropped
 */
enum drop tcp_conn_input(struct tcp_conn *c, struct tcp_seg *s, struct mono now)
{
	struct tcp_arrival a = { .c = c, .s = s, .now = now, .drop = DROP_NONE };

	if (c->pend)
		tcp_user_flush(c, now);
	if (!TCP_IN(c->state, TCPF_SYNCHRONISED | TCPF_OPENING)) {
		tcp_reply_rst(c->t, c, s, now);
		tcp_conn_reap(c);
		return DROP_TCP_NO_CONN;
	}
	c->meter.segs_in += s->seg_cnt;
	if (c->tfo.is_pending && (s->flags & (TCP_SYN | TCP_ACK | TCP_RST)) == TCP_SYN &&
	    seq_eq(s->seq, c->irs)) { /* the peer missed our SYN-ACK */
		c->flags |= TCP_F_SYN_DUE;
		tcp_conn_dirty(c);
		a.drop = syn_again(c, s, now) ? DROP_NONE : DROP_TCP_SYN;
		tcp_conn_reap(c);
		return a.drop;
	}
	if (c->state == TCP_SYN_SENT) {
		a.drop = syn_sent_input(c, s, now);
		tcp_conn_reap(c);
		return a.drop;
	}
	/* the fifth check's "if the ACK bit is off, drop the segment", early: nothing of it is an answer's worth */
	if (!(s->flags & (TCP_ACK | TCP_RST | TCP_SYN)))
		return DROP_TCP_NO_ACK;
	for (size_t i = 0; i < NS_ARRAY_LEN(arrival); i++)
		if (arrival[i].fn(&a) == STEP_STOP)
			break;
	if (a.drop == DROP_NONE && TCP_IN(c->state, TCPF_SYNCHRONISED)) {
		c->rx_at = now;
		if (tcp_has(c, TCP_F_KEEPALIVE))
			tcp_keep_restart(c, now);
	}
	tcp_conn_reap(c);
	return a.drop;
}

/* 3.10.7.1: nobody is here. */
static enum drop nobody_input(struct tcp *t, const struct tcp_seg *s, struct mono now)
{
	tcp_reply_rst(t, NULL, s, now);
	return DROP_TCP_NO_CONN;
}

/* SO_BINDTODEVICE: such a connection hears by its link alone (linux inet_match()). */
static bool is_of_other_link(struct demux_conn *dc, const struct tcp_seg *s)
{
	uint32_t ifindex;

	if (dc->kind != TCP_KIND_CONN)
		return false;
	ifindex = container_of(dc, struct tcp_conn, dc)->bind.ifindex;
	return ns_unlikely(ifindex && ifindex != s->ifindex);
}

/**
 * tcp_input() - proto_ops.input: one packet for TCP
 * @self:	struct tcp
 * @p:		From the TCP header on; Consumes @p
 * @ip:		What IP knows of it
 * @now:	Time of arrival
 *
 * Return: DROP_NONE, or why it or a part of it was dropped
 */
enum drop tcp_input(void *self, struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	struct tcp *t = self;
	auto_free(pkt) own = p;
	struct tcp_seg s;
	struct demux_key k;
	struct demux_conn *dc;
	struct demux_bind *b;
	enum drop d = tcp_seg_parse(own, ip, &s);

	if (d != DROP_NONE)
		return d;
	stat_inc(tcp_stats(t), STAT_TCP_SEGS_IN);
	s.ifindex = net_rx_ifindex(t->net, ip);
	k = (struct demux_key){ .local = s.local, .remote = s.remote };
	dc = demux_find_conn(t->demux, &k);
	if (dc) {
		/* nor is it a listener's: the four-tuple is taken, and can be found but once */
		if (is_of_other_link(dc, &s))
			return DROP_TCP_OTHER_LINK;
		switch ((enum tcp_kind)dc->kind) {
		case TCP_KIND_CONN:
			return tcp_conn_input(container_of(dc, struct tcp_conn, dc), &s, now);
		case TCP_KIND_HALFOPEN:
			return tcp_halfopen_input(t, dc, &s, now);
		case TCP_KIND_TIMEWAIT:
			return tcp_timewait_input(t, dc, &s, now);
		}
	}
	b = demux_find_listener(t->demux, &k, s.ifindex);
	if (b)
		return tcp_listen_input(container_of(b, struct tcp_conn, bind), &s, NULL, now);
	return nobody_input(t, &s, now);
}
