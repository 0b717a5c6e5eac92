/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_listen.c - passive open: half-open objects and the accept queue
 *
 * Theory of operation
 *
 * A SYN for a listener makes a half-open object, a tenth of a connection's size, that answers
 * with SYN-ACK and repeats it. The ACK that completes the handshake turns it into a connection,
 * which goes through the checks of 3.10.7.4 with that segment and waits in the accept queue.
 *
 * Linux's rules for the queues: a SYN is dropped when the accept queue holds more than the backlog; one
 * that finds the SYN queue full is answered with a cookie (tcp_cookie.c) and forgotten; an ACK that finds
 * the accept queue full is dropped, the half-open object goes on repeating its SYN-ACK, so that the peer's data
 * waits rather than be reset.
 *
 * Nothing is sent by tcp_output() here: SYN-ACKs leave at once.
 *
 * Time: one timer each, 1 s doubling, tcp_synack_retries times.
 *
 * Limits: backlog (at least TCP_SYNQ_MIN) half-open objects a listener, TCP_HALFOPEN_POOL a stack.
 *
 * References: RFC 9293 3.10.7.2, 3.10.7.4; RFC 4987 3.1, 3.6; linux v6.1 net/ipv4/tcp_minisocks.c
 * tcp_check_req(), tcp_input.c tcp_conn_request().
 */
#include <errno.h>

#include "tcp/tcp_int.h"

enum {
	ACCURATE_KNOB = 3, /* tcp_ecn: from here on accurate ECN */
};

static struct tcp_halfopen *halfopen_of(struct demux_conn *dc)
{
	return container_of(dc, struct tcp_halfopen, dc);
}

static void halfopen_free(struct tcp *t, struct tcp_halfopen *h)
{
	timer_cancel(&t->core->timers, &h->timer);
	demux_del_conn(t->demux, &h->dc);
	list_del(&h->node);
	h->l->syn_cnt--;
	pool_put(&t->halfopen_pool, h);
}

static struct tcp *tcp_of(const struct tcp_halfopen *h)
{
	return h->l->c->t;
}

static void send_synack_at(struct tcp_halfopen *h, uint32_t ts_val, struct mono now)
{
	struct tcp_emit e = {
		.local = h->dc.key.local,
		.remote = h->dc.key.remote,
		.seq = h->iss,
		.ack = seq_add(h->irs, 1),
		.wnd = (uint16_t)ns_min_u(h->wnd_edge, UINT16_MAX),
		.flags = TCP_SYN | TCP_ACK,
		.is_syn_opts = true,
		.mark = h->l->c->mark,
		.ifindex = h->l->c->bind.ifindex,
		.uid = h->l->c->uid,
		.opt = {
			.mss = h->adv_mss,
			.has_ts = h->has_ts,
			.ts_val = ts_val,
			.ts_ecr = h->ts_recent,
			.sack_ok = h->has_sack,
			.has_wscale = h->has_wscale,
			.wscale = h->rcv_wscale,
			.tfo = h->tfo,
		},
	};

	tcp_ecn_synack_out(tcp_of(h), h->ecn_mode, h->retries, &h->ecn, &e);
	h->sent_at = now;
	tcp_reply(tcp_of(h), &e, tcp_ip_opts_of(h->l->c, &e.remote.addr)->tos, now);
}

static void send_synack(struct tcp_halfopen *h, struct mono now)
{
	send_synack_at(h, tcp_ts_now(h->ts_off, now), now);
}

/* A plain acknowledgement of the half-open object: an unacceptable segment came. */
static void send_ack(struct tcp_halfopen *h, const struct tcp_seg *s, struct mono now)
{
	struct tcp_emit e = {
		.local = h->dc.key.local,
		.remote = h->dc.key.remote,
		.seq = seq_add(h->iss, 1),
		.ack = seq_add(h->irs, 1),
		.wnd = (uint16_t)ns_min_u(h->wnd_edge >> h->rcv_wscale, UINT16_MAX),
		.flags = TCP_ACK,
		.mark = h->l->c->mark,
		.ifindex = h->l->c->bind.ifindex,
		.uid = h->l->c->uid,
		.opt = {
			.has_ts = h->has_ts,
			.ts_val = tcp_ts_now(h->ts_off, now),
			.ts_ecr = h->ts_recent,
		},
	};

	if (h->ecn_mode == TCP_ECN_ACCURATE) /* RFC 9768 3.2.2: as every segment without SYN */
		tcp_emit_ace(&e, TCP_CEP_INIT);
	if (tcp_oow_allows(tcp_of(h), &h->oow_at, s, now))
		tcp_reply(tcp_of(h), &e, tcp_ip_opts_of(h->l->c, &e.remote.addr)->tos, now);
}

static bool halfopen_arm(struct tcp_halfopen *h, struct mono now)
{
	uint64_t wait = TCP_RTO_INITIAL_NS << h->retries;

	return timer_arm(&tcp_of(h)->core->timers, &h->timer, mono_add(now, wait)) == 0;
}

/* RFC 9293 MUST-23 for the SYN-ACK */
static void tcp_on_synack_timeout(struct timer *t, struct mono now)
{
	struct tcp_halfopen *h = container_of(t, struct tcp_halfopen, timer);
	struct tcp *tcp = tcp_of(h);

	if (h->retries >= tcp_knob(tcp, NS_KNOB_tcp_synack_retries)) {
		stat_inc(tcp_stats(tcp), STAT_TCP_CONN_TIMEOUTS);
		halfopen_free(tcp, h);
		return;
	}
	h->retries++;
	/* an acknowledged one waits for octets; its last repetition asks for the ACK again */
	if (!h->is_acked || mono_since(now, h->since) >= h->l->c->defer_ns) {
		stat_inc(tcp_stats(tcp), STAT_TCP_RETRANS_SEGS);
		send_synack(h, now);
	}
	if (!halfopen_arm(h, now))
		halfopen_free(tcp, h);
}

/* What the peer's SYN and our listener agree on. */
static void halfopen_init(struct tcp_halfopen *h, struct tcp_conn *lc, const struct tcp_seg *s,
			  const struct dst *d)
{
	const struct tcp_opts *o = &s->opt;
	uint32_t buf_max = tcp_has(lc, TCP_F_RCVBUF_FIXED) ? lc->rcvbuf : tcp_window_max(lc->t);
	bool is_v4 = ns_addr_is_v4(&s->remote.addr);
	bool has_wscale = o->has_wscale && tcp_knob(lc->t, NS_KNOB_tcp_window_scaling);

	*h = (struct tcp_halfopen){
		.dc = { .kind = TCP_KIND_HALFOPEN, .key = { s->local, s->remote } },
		.l = lc->listener,
		.irs = s->seq,
		.peer_wnd = s->wnd,
		.peer_mss = is_v4 ? TCP_MSS_DEFAULT4 : TCP_MSS_DEFAULT6,
		.adv_mss = tcp_mss_for(d, &s->remote.addr, lc->user_mss),
		.ts_off = tcp_ts_offset(lc->t, &(struct demux_key){ s->local, s->remote }),
		.wnd_edge = ns_min_u(ns_min_u(lc->rcvbuf, lc->wnd_clamp), UINT16_MAX),
		.has_ts = o->has_ts && tcp_knob(lc->t, NS_KNOB_tcp_timestamps),
		.ts_recent = o->ts_val,
		.has_sack = o->sack_ok && tcp_knob(lc->t, NS_KNOB_tcp_sack),
		.has_wscale = has_wscale,
		.ecn_mode = (uint8_t)tcp_ecn_agree(lc->t, tcp_seg_ace(s)),
		.snd_wscale = has_wscale ? o->wscale : 0,
		.rcv_wscale = has_wscale ? tcp_rcv_wscale_for(buf_max) : 0,
	};
	(void)tcp_ecn_syn_in(lc->t, s, &h->ecn);
	if (o->mss)
		h->peer_mss = (uint16_t)ns_max_u(o->mss, TCP_MSS_MIN);
	list_init(&h->dc.hash);
	list_init(&h->node);
	timer_init(&h->timer, tcp_on_synack_timeout);
}

/* The way to the peer of a connection to @lc. */
static int route(const struct tcp_conn *lc, const struct ns_endpoint *local,
		 const struct ns_endpoint *remote, struct dst *ret_d)
{
	const struct ns_flow f = tcp_flow(lc, &local->addr, local->port, remote);

	return net_route_flow(lc->t->net, &f, ret_d);
}

/* A new half-open object for the SYN @s. */
static enum drop halfopen_new(struct tcp_conn *lc, const struct tcp_seg *s, const struct seq *iss,
			      bool is_granted, struct mono now)
{
	struct tcp *t = lc->t;
	struct tcp_halfopen *h;
	struct dst d;

	if (route(lc, &s->local, &s->remote, &d) < 0)
		return DROP_IP_NO_ROUTE;
	h = pool_get(&t->halfopen_pool);
	if (!h)
		return DROP_TCP_SYN_QUEUE;
	halfopen_init(h, lc, s, &d);
	h->iss = iss ? *iss : tcp_isn(t, &h->dc.key, now);
	if (is_granted)
		tcp_fastopen_grant(lc, s, &h->tfo);
	h->since = now;
	if (demux_add_conn(t->demux, &h->dc) < 0) {
		pool_put(&t->halfopen_pool, h);
		return DROP_NO_MEMORY;
	}
	list_push(&h->l->syn_q, &h->node);
	h->l->syn_cnt++;
	if (!halfopen_arm(h, now)) {
		halfopen_free(t, h);
		return DROP_NO_MEMORY;
	}
	send_synack(h, now);
	return DROP_NONE;
}

/*
 * RFC 4987 3.6: the queue is full. The SYN-ACK holds everything; what needs the timestamps for that is
 * only agreed to when there are some.
 */
static enum drop send_cookie(struct tcp_conn *lc, const struct tcp_seg *s, struct mono now)
{
	struct tcp *t = lc->t;
	struct tcp_halfopen h;
	struct dst d;

	if (!tcp_knob(t, NS_KNOB_tcp_syncookies))
		return DROP_TCP_SYN_QUEUE;
	if (route(lc, &s->local, &s->remote, &d) < 0)
		return DROP_IP_NO_ROUTE;
	halfopen_init(&h, lc, s, &d);
	h.has_sack &= h.has_ts;
	h.has_wscale &= h.has_ts;
	if (h.ecn_mode == TCP_ECN_CLASSIC) /* nothing of the acknowledgement would tell */
		h.ecn_mode = TCP_ECN_OFF;
	h.iss = tcp_cookie_make(t, &h.dc.key, h.irs, h.peer_mss, now);
	lc->listener->cookies_until = mono_add(now, TCP_COOKIE_NS);
	stat_inc(tcp_stats(t), STAT_TCP_COOKIES_SENT);
	send_synack_at(&h, tcp_cookie_ts(&s->opt, h.ts_off, now), now);
	return DROP_NONE;
}

/* linux tcp_conn_request(): without cookies the last quarter is for peers that are known, and we know none. */
static bool has_syn_room(const struct tcp_listener *l)
{
	const struct tcp *t = l->c->t;
	uint32_t most = tcp_knob_u(t, NS_KNOB_tcp_max_syn_backlog);
	int cookies = tcp_knob(t, NS_KNOB_tcp_syncookies);

	return l->syn_cnt < ns_max_u(l->backlog, TCP_SYNQ_MIN) && cookies < 2 &&
	       (cookies || l->syn_cnt < most - most / 4);
}

static bool is_accept_queue_full(const struct tcp_listener *l)
{
	return l->accept_cnt > l->backlog;
}

/* What a connection has from its listener (linux: everything sk_clone() copies). */
static void inherit(struct tcp_conn *c, const struct tcp_conn *lc)
{
	uint32_t flags = TCP_F_NODELAY | TCP_F_CORK | TCP_F_KEEPALIVE | TCP_F_SNDBUF_FIXED |
			 TCP_F_RCVBUF_FIXED | TCP_F_NO_QUICKACK | TCP_F_LINGER0;

	c->flags |= lc->flags & flags;
	c->congestion = lc->congestion;
	c->bind.ifindex = lc->bind.ifindex;
	c->sndbuf = lc->sndbuf;
	c->rcvbuf = lc->rcvbuf;
	c->wnd_clamp = lc->wnd_clamp;
	c->notsent_lowat = lc->notsent_lowat;
	c->pace.max_rate = lc->pace.max_rate;
	c->user_mss = lc->user_mss;
	c->mark = lc->mark;
	c->uid = lc->uid;
	memcpy(c->ip_opts, lc->ip_opts, sizeof(c->ip_opts));
	c->keepidle_ns = lc->keepidle_ns;
	c->keepintvl_ns = lc->keepintvl_ns;
	c->keepcnt = lc->keepcnt;
	c->user_timeout_ns = lc->user_timeout_ns;
	c->linger2_ns = lc->linger2_ns;
	c->syncnt = lc->syncnt;
}

/* The connection that @h becomes, not found by anyone yet. NULL: no memory. */
static struct tcp_conn *grow_up(const struct tcp_halfopen *h, struct mono now)
{
	struct tcp_listener *l = h->l;
	struct tcp *t = l->c->t;
	struct tcp_conn *c;
	struct dst d;

	if (route(l->c, &h->dc.key.local, &h->dc.key.remote, &d) < 0)
		return NULL;
	c = tcp_conn_new(t);
	if (!c)
		return NULL;
	inherit(c, l->c);
	c->dc.key = h->dc.key;
	demux_share_port(t->demux, &c->bind, &l->c->bind, &h->dc.key.local);
	c->dst = d;
	c->iss = h->iss;
	tcp_conn_start(c, now);
	c->flags |= (h->has_ts ? TCP_F_TS : 0u) | (h->has_sack ? TCP_F_SACK : 0u) |
		    (h->has_wscale ? TCP_F_WSCALE : 0u);
	tcp_ecn_enter(c, h->ecn_mode, &h->ecn);
	c->ts_recent = h->ts_recent;
	c->ts_recent_at = h->since;
	c->peer_mss = h->peer_mss;
	c->adv_mss = h->adv_mss;
	c->snd_wscale = h->snd_wscale;
	c->rcv_wscale = h->rcv_wscale;
	c->snd_wnd = c->snd_wnd_max = h->peer_wnd;
	c->snd_nxt = seq_add(h->iss, 1);
	c->irs = h->irs;
	c->rcv_nxt = c->rcv_acked = seq_add(h->irs, 1);
	c->rcv_adv = seq_add(c->rcv_nxt, h->wnd_edge);
	c->syn_retries = h->retries;
	c->meter.total_retrans = h->retries;
	c->syn_at = h->sent_at;
	return c;
}

/* @c goes to SYN-RECEIVED, into the accept queue, and through the checks with its first segment. */
static enum drop enqueue(struct tcp_listener *l, struct tcp_conn *c, struct tcp_seg *s,
			 struct mono now)
{
	enum drop d;

	NS_BUG_ON(tcp_conn_hash(c) < 0);
	tcp_set_state(c, TCP_SYN_RCVD, "half-open grew up");
	c->parent = l;
	list_push(&l->accept_q, &c->accept_node);
	l->accept_cnt++;
	d = tcp_conn_input(c, s, now);
	if (c->state == TCP_SYN_RCVD) /* no check let it through: it was none of ours */
		tcp_conn_free(c);
	return d;
}

/* RFC 7413 4.2.2 step 2: the octets of a SYN are the program's before the handshake is over. */
static enum drop open_fast(struct tcp_conn *lc, const struct tcp_seg *s, const struct seq *iss,
			   bool is_granted, struct mono now)
{
	struct tcp_listener *l = lc->listener;
	struct tcp *t = lc->t;
	struct tcp_halfopen h;
	struct tcp_conn *c;
	struct dst d;

	if (route(lc, &s->local, &s->remote, &d) < 0)
		return DROP_IP_NO_ROUTE;
	halfopen_init(&h, lc, s, &d);
	h.iss = iss ? *iss : tcp_isn(t, &h.dc.key, now);
	h.since = now;
	c = grow_up(&h, now);
	if (!c)
		return DROP_NO_MEMORY;
	NS_BUG_ON(tcp_conn_hash(c) < 0);
	tcp_set_state(c, TCP_SYN_RCVD, "SYN with a cookie");
	c->parent = l;
	list_push(&l->accept_q, &c->accept_node);
	l->accept_cnt++;
	c->snd_una = c->snd_nxt;
	c->snd_wl1 = s->seq;
	c->snd_wl2 = c->snd_una;
	tcp_set_state(c, TCP_ESTABLISHED, "fast open");
	tcp_conn_established(c, now);
	tcp_fastopen_begin(c, l);
	if (is_granted)
		tcp_fastopen_grant(lc, s, &c->tfo.opt);
	tcp_rcv_syn_text(c, s, now);
	c->flags |= TCP_F_SYN_DUE;
	tcp_conn_dirty(c);
	return DROP_NONE;
}

/* An ACK that belongs to nothing, after cookies were sent: is it the answer to one? */
static enum drop cookie_in(struct tcp_conn *lc, struct tcp_seg *s, struct mono now)
{
	struct demux_key k = { s->local, s->remote };
	struct tcp_seg syn = *s;
	struct seq iss = seq_add(s->ack, UINT32_MAX);
	struct tcp *t = lc->t;
	struct tcp_halfopen h;
	struct tcp_conn *c;
	struct dst d;

	syn.seq = seq_add(s->seq, UINT32_MAX);
	tcp_cookie_ts_read(s, tcp_ts_offset(t, &k), &syn.opt);
	syn.opt.mss = tcp_cookie_check(t, &k, syn.seq, iss, now);
	if (!syn.opt.mss) {
		stat_inc(tcp_stats(t), STAT_TCP_COOKIES_BAD);
		tcp_reply_rst(t, lc, s, now);
		return DROP_TCP_NO_CONN;
	}
	if (is_accept_queue_full(lc->listener))
		return DROP_TCP_ACCEPT_QUEUE;
	if (route(lc, &k.local, &k.remote, &d) < 0)
		return DROP_IP_NO_ROUTE;
	halfopen_init(&h, lc, &syn, &d);
	/* RFC 9768 5.1: a bare acknowledgement tells what was agreed on */
	h.ecn_mode =
		tcp_knob(t, NS_KNOB_tcp_ecn) >= ACCURATE_KNOB && s->len == 0 && tcp_seg_ace(s) > 1
			? TCP_ECN_ACCURATE
			: TCP_ECN_OFF;
	h.ecn = (struct tcp_ecn_hs){ .kinds = (uint8_t)(1u << h.ecn_mode) };
	h.iss = iss;
	h.since = now;
	c = grow_up(&h, now);
	if (!c)
		return DROP_NO_MEMORY;
	stat_inc(tcp_stats(t), STAT_TCP_COOKIES_OK);
	return enqueue(lc->listener, c, s, now);
}

/**
 * tcp_listen_input() - RFC 9293 3.10.7.2: a segment for a listener
 * @lc:		Connection object in LISTEN
 * @s:		Segment that no four-tuple claims
 * @iss:	Sequence number to start from (TIME-WAIT reuse), NULL: choose
 * @now:	Time of arrival
 *
 * Octets of a SYN are kept when its cookie is right (RFC 7413), else the peer sends them again.
 *
 * Return: DROP_NONE, or why it was dropped
 */
enum drop tcp_listen_input(struct tcp_conn *lc, struct tcp_seg *s, const struct seq *iss,
			   struct mono now)
{
	const struct tcp_listener *l = lc->listener;
	enum tcp_tfo_verdict verdict;
	enum drop d;

	if (s->flags & TCP_RST) /* first */
		return DROP_TCP_RST;
	if (s->flags & TCP_ACK) { /* second */
		if (mono_lt(now, l->cookies_until) && !(s->flags & TCP_SYN))
			return cookie_in(lc, s, now);
		tcp_reply_rst(lc->t, lc, s, now);
		return DROP_TCP_NO_CONN;
	}
	if (!(s->flags & TCP_SYN) || (s->flags & TCP_FIN)) /* third, fourth; SYN-FIN as Linux */
		return DROP_TCP_BAD_FLAGS;
	if (is_accept_queue_full(l))
		return DROP_TCP_ACCEPT_QUEUE;
	verdict = tcp_fastopen_judge(lc, s, now);
	if (verdict == TCP_TFO_OPEN || verdict == TCP_TFO_RENEW)
		return open_fast(lc, s, iss, verdict == TCP_TFO_RENEW, now);
	d = DROP_TCP_SYN_QUEUE;
	if (has_syn_room(l))
		d = halfopen_new(lc, s, iss, verdict == TCP_TFO_GRANT, now);
	/* a four-tuple in TIME-WAIT needs a number beyond its last one: a cookie is none */
	return d == DROP_TCP_SYN_QUEUE && !iss ? send_cookie(lc, s, now) : d;
}

/* The ACK that completes the handshake, already checked. */
static enum drop complete(struct tcp_halfopen *h, struct tcp_seg *s, struct mono now)
{
	struct tcp_listener *l = h->l;
	struct tcp_conn *c;

	if (is_accept_queue_full(l)) {
		if (tcp_knob(tcp_of(h), NS_KNOB_tcp_abort_on_overflow)) {
			stat_inc(tcp_stats(tcp_of(h)), STAT_TCP_OVERFLOW_RESETS);
			tcp_reply_rst(tcp_of(h), h->l->c, s, now);
			halfopen_free(tcp_of(h), h);
		}
		return DROP_TCP_ACCEPT_QUEUE;
	}
	if (h->l->c->defer_ns && s->len == 0 && !(s->flags & TCP_FIN) &&
	    mono_since(now, h->since) < h->l->c->defer_ns) {
		h->is_acked = true;
		if (s->opt.sack_cnt == 0) {
			h->ecn.ace = tcp_seg_ace(s);
			h->ecn.has_ace = true;
		}
		return DROP_NONE;
	}
	c = grow_up(h, now);
	if (!c)
		return DROP_NO_MEMORY;
	halfopen_free(l->c->t, h);
	return enqueue(l, c, s, now);
}

/* The peer missed our SYN-ACK. */
static enum drop syn_again(struct tcp_halfopen *h, const struct tcp_seg *s, struct mono now)
{
	if (!tcp_ecn_syn_in(tcp_of(h), s, &h->ecn)) {
		tcp_reply_rst(tcp_of(h), h->l->c, s, now);
		halfopen_free(tcp_of(h), h);
		return DROP_TCP_SYN;
	}
	if (tcp_oow_allows(tcp_of(h), &h->oow_at, s, now))
		send_synack(h, now);
	return DROP_NONE;
}

/**
 * tcp_halfopen_input() - RFC 9293 3.10.7.4 in SYN-RECEIVED after a passive open
 * @t:		TCP
 * @dc:		Of the half-open object; may be freed here
 * @s:		Segment
 * @now:	Time of arrival
 *
 * Return: DROP_NONE, or why it was dropped
 */
enum drop tcp_halfopen_input(struct tcp *t, struct demux_conn *dc, struct tcp_seg *s,
			     struct mono now)
{
	struct tcp_halfopen *h = halfopen_of(dc);
	struct seq rcv_nxt = seq_add(h->irs, 1);

	if (h->has_ts && s->opt.has_ts && !(s->flags & TCP_RST) &&
	    (int32_t)(s->opt.ts_val - h->ts_recent) < 0) {
		send_ack(h, s, now);
		return DROP_TCP_PAWS;
	}
	if ((s->flags & (TCP_SYN | TCP_ACK | TCP_RST)) == TCP_SYN && seq_eq(s->seq, h->irs)) {
		return syn_again(h, s, now);
	}
	/* first */
	if (!seq_in(s->seq, rcv_nxt, ns_max_u(h->wnd_edge, 1))) {
		if (!(s->flags & TCP_RST))
			send_ack(h, s, now);
		return DROP_TCP_SEQ;
	}
	/* second */
	if (s->flags & TCP_RST) {
		if (!seq_eq(s->seq, rcv_nxt)) {
			send_ack(h, s, now);
			return DROP_TCP_RST;
		}
		stat_inc(tcp_stats(t), STAT_TCP_CONN_RESETS);
		halfopen_free(t, h);
		return DROP_NONE;
	}
	/* fourth */
	if (s->flags & TCP_SYN) {
		send_ack(h, s, now);
		return DROP_TCP_SYN;
	}
	/* fifth */
	if (!(s->flags & TCP_ACK))
		return DROP_TCP_NO_ACK;
	if (!seq_eq(s->ack, seq_add(h->iss, 1))) {
		tcp_reply_rst(t, h->l->c, s, now);
		return DROP_TCP_ACK;
	}
	return complete(h, s, now);
}

/** tcp_halfopen_error() - ICMP about our SYN-ACK: nobody is there (linux inet_csk_reqsk_queue_drop()) */
void tcp_halfopen_error(struct tcp *t, struct demux_conn *dc, const struct icmp_err *e)
{
	struct tcp_halfopen *h = halfopen_of(dc);

	if (e->has_seq && e->seq == h->iss.v && e->is_hard && !e->is_frag_needed)
		halfopen_free(t, h);
}

/**
 * tcp_listen_start() - CLOSED to LISTEN, or another backlog
 * @c:		Bound connection object
 * @backlog:	As of listen(2); negative or huge: net.core.somaxconn
 *
 * Return: 0, -EADDRINUSE, -ENOMEM
 */
int tcp_listen_start(struct tcp_conn *c, int backlog)
{
	struct tcp *t = c->t;
	struct tcp_listener *l = c->listener;
	int r;

	if (!l) {
		l = pool_get(&t->listener_pool);
		if (!l)
			return -ENOMEM;
		r = demux_listen(t->demux, &c->bind);
		if (r < 0) {
			pool_put(&t->listener_pool, l);
			return r;
		}
		*l = (struct tcp_listener){ .c = c };
		list_init(&l->accept_q);
		list_init(&l->syn_q);
		list_init(&l->tfo_q);
		list_init(&l->tfo_resets);
		c->listener = l;
		tcp_set_state(c, TCP_LISTEN, "listen");
	}
	l->backlog = ns_min_u((unsigned)backlog, tcp_knob_u(t, NS_KNOB_somaxconn));
	return 0;
}

/**
 * tcp_listen_stop() - the listener goes; who was not accepted is reset (linux inet_csk_listen_stop())
 * @c:		Connection object in LISTEN
 * @now:	Time
 * @is_quiet:	The whole stack goes: nothing is sent
 */
void tcp_listen_stop(struct tcp_conn *c, struct mono now, bool is_quiet)
{
	struct tcp_listener *l = c->listener;
	struct list *n;

	while ((n = list_pop(&l->accept_q)) != NULL) {
		struct tcp_conn *child = list_entry(n, struct tcp_conn, accept_node);

		child->parent = NULL;
		if (!is_quiet && child->state != TCP_CLOSED)
			tcp_conn_reset(child, -ECONNABORTED, "listener closed", now);
		tcp_conn_free(child);
	}
	tcp_fastopen_forget(l);
	while (!list_is_empty(&l->syn_q))
		halfopen_free(c->t, list_entry(l->syn_q.next, struct tcp_halfopen, node));
	c->listener = NULL;
	pool_put(&c->t->listener_pool, l);
}

/** tcp_listen_ready() - @c of an accept queue is established: its listener's program may have it */
void tcp_listen_ready(struct tcp_conn *c)
{
	stat_inc(tcp_stats(c->t), STAT_TCP_PASSIVE_OPENS);
	tcp_conn_tell(c->parent->c, NS_EV_ACCEPT, 0);
}

/** tcp_listen_take() - the oldest of the accept queue, out of it, or NULL */
struct tcp_conn *tcp_listen_take(struct tcp_conn *c)
{
	struct list *n = list_pop(&c->listener->accept_q);
	struct tcp_conn *child;

	if (!n)
		return NULL;
	child = list_entry(n, struct tcp_conn, accept_node);
	child->parent = NULL;
	c->listener->accept_cnt--;
	return child;
}
