/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_timewait.c - TIME-WAIT in a compact entry
 *
 * Theory of operation
 *
 * When both FINs are done the connection object is CLOSED and, if the program is gone, freed; what the
 * protocol still owes is kept in an entry of an eighth of its size: who, which sequence numbers, which
 * timestamps. It answers old segments, repeats the last ACK, and gives way to a new connection when that
 * is safe (RFC 6191, RFC 9293 MUST-13's exception): a SYN with a newer timestamp or a higher sequence number.
 * The new connection then starts beyond everything the old one sent. As in Linux the port is held meanwhile: nobody
 * binds to it without SO_REUSEADDR (inet_twsk_hashdance()).
 *
 * Time: all entries live 2 MSL, so a list in order of expiry and one timer do.
 *
 * Limits: ns_limits.timewait entries; beyond, the oldest goes, which has kept its promise longest.
 *
 * References: RFC 9293 3.6, 3.10.7.4; RFC 6191 2; RFC 1337; linux v6.1 net/ipv4/tcp_minisocks.c
 * tcp_timewait_state_process().
 */
#include <errno.h>

#include "tcp/tcp_int.h"

enum {
	ISS_GAP = 65535 + 2, /* linux: beyond everything an unscaled window could still hold */
};

static struct tcp_tw *tw_of(struct list *n)
{
	return list_entry(n, struct tcp_tw, node);
}

static void tw_free(struct tcp *t, struct tcp_tw *tw)
{
	demux_del_conn(t->demux, &tw->dc);
	demux_unbind(t->demux, &tw->bind);
	list_del(&tw->node);
	pool_put(&t->tw_pool, tw);
}

/* The timer follows the first entry; a failure to arm costs delay until the next entry, not correctness. */
static void tw_arm(struct tcp *t)
{
	struct mono when = list_is_empty(&t->tws) ? MONO_NEVER : tw_of(t->tws.next)->expires;

	if (timer_arm(&t->core->timers, &t->tw_timer, when) < 0)
		t->tw_timer.when = MONO_NEVER;
}

static void tcp_on_2msl(struct timer *timer, struct mono now)
{
	struct tcp *t = container_of(timer, struct tcp, tw_timer);

	while (!list_is_empty(&t->tws) && mono_le(tw_of(t->tws.next)->expires, now))
		tw_free(t, tw_of(t->tws.next));
	tw_arm(t);
}

/** tcp_timewait_init() - no entries */
void tcp_timewait_init(struct tcp *t)
{
	list_init(&t->tws);
	timer_init(&t->tw_timer, tcp_on_2msl);
}

/** tcp_timewait_clear() - forget all entries */
void tcp_timewait_clear(struct tcp *t)
{
	while (!list_is_empty(&t->tws))
		tw_free(t, tw_of(t->tws.next));
	timer_cancel(&t->core->timers, &t->tw_timer);
}

/* (Re)start the 2 MSL of @tw. */
static void tw_restart(struct tcp *t, struct tcp_tw *tw, struct mono now)
{
	bool is_first = t->tws.next == &tw->node;

	list_del(&tw->node);
	tw->expires = mono_add(now, TCP_2MSL_NS);
	list_push(&t->tws, &tw->node);
	if (is_first || t->tws.next == &tw->node)
		tw_arm(t);
}

/**
 * tcp_timewait_enter() - RFC 9293: "start the time-wait timer, turn off the other timers"
 * @c:		Connection whose FIN is acknowledged and that has the peer's; CLOSED afterwards
 * @now:	Time
 */
void tcp_timewait_enter(struct tcp_conn *c, struct mono now)
{
	struct tcp *t = c->t;
	struct tcp_tw *tw;
	uint32_t cap;

	if (!seq_eq(c->rcv_acked, c->rcv_nxt))
		(void)tcp_send_ack(c,
				   now); /* of the peer's FIN; there is no end of the turn for it */
	cap = ns_min_u(t->tw_pool.cap, tcp_knob_u(t, NS_KNOB_tcp_max_tw_buckets));
	while (t->tw_pool.out_cnt >= ns_max_u(cap, 1) && !list_is_empty(&t->tws)) {
		stat_inc(tcp_stats(t), STAT_TCP_TIMEWAIT_EVICTED);
		tw_free(t, tw_of(t->tws.next));
	}
	tw = cap ? pool_get(&t->tw_pool) : NULL;
	tcp_set_state(c, TCP_TIME_WAIT, "both FINs");
	if (tw) {
		*tw = (struct tcp_tw){
			.dc = { .kind = TCP_KIND_TIMEWAIT, .key = c->dc.key },
			.snd_nxt = c->snd_nxt,
			.rcv_nxt = c->rcv_nxt,
			.rcv_wnd = tcp_rcv_wnd(c),
			.mark = c->mark,
			.uid = c->uid,
			.ts_recent = c->ts_recent,
			.ts_recent_at = c->ts_recent_at,
			.ts_off = c->ts_off,
			.rcv_wscale = c->rcv_wscale,
			.tos = tcp_ip_opts_of(c, &tcp_remote(c)->addr)->tos,
			.has_ts = tcp_has(c, TCP_F_TS),
		};
		list_init(&tw->dc.hash);
		list_init(&tw->node);
	}
	tcp_set_state(c, TCP_CLOSED, "a compact entry stands in");
	if (!tw)
		return;
	if (demux_add_conn(t->demux, &tw->dc) < 0) {
		pool_put(&t->tw_pool, tw);
		return;
	}
	demux_share_port(t->demux, &tw->bind, &c->bind, &tw->dc.key.local);
	tw_restart(t, tw, now);
}

static void send_ack(struct tcp *t, const struct tcp_tw *tw, struct mono now)
{
	struct tcp_emit e = {
		.local = tw->dc.key.local,
		.remote = tw->dc.key.remote,
		.seq = tw->snd_nxt,
		.ack = tw->rcv_nxt,
		.wnd = (uint16_t)ns_min_u(tw->rcv_wnd >> tw->rcv_wscale, UINT16_MAX),
		.flags = TCP_ACK,
		.mark = tw->mark,
		.ifindex = tw->bind.ifindex,
		.uid = tw->uid,
		.opt = {
			.has_ts = tw->has_ts,
			.ts_val = tcp_ts_now(tw->ts_off, now),
			.ts_ecr = tw->ts_recent,
		},
	};

	tcp_reply(t, &e, tw->tos, now);
}

/* RFC 6191 2, RFC 9293 MUST-13: may this SYN open the four-tuple anew? */
static bool is_newer_syn(const struct tcp_tw *tw, const struct tcp_seg *s)
{
	if ((s->flags & (TCP_SYN | TCP_ACK | TCP_RST | TCP_FIN)) != TCP_SYN)
		return false;
	if (tw->has_ts && s->opt.has_ts && (int32_t)(s->opt.ts_val - tw->ts_recent) > 0)
		return true;
	return seq_lt(tw->rcv_nxt, s->seq);
}

/* The entry gives way: the listener sees the SYN as if it were the first. */
static enum drop reopen(struct tcp *t, struct tcp_tw *tw, struct tcp_seg *s, struct mono now)
{
	struct demux_key k = tw->dc.key;
	struct seq iss = seq_add(tw->snd_nxt, ISS_GAP);
	struct demux_bind *b = demux_find_listener(t->demux, &k, s->ifindex);

	if (!b) {
		tcp_reply_rst(t, NULL, s, now);
		return DROP_TCP_NO_CONN;
	}
	stat_inc(tcp_stats(t), STAT_TCP_TIMEWAIT_REUSED);
	tw_free(t, tw);
	return tcp_listen_input(container_of(b, struct tcp_conn, bind), s, &iss, now);
}

/**
 * tcp_timewait_input() - RFC 9293 3.10.7.4 in TIME-WAIT
 * @t:		TCP
 * @dc:		Of the entry; may be freed here
 * @s:		Segment
 * @now:	Time of arrival
 *
 * Return: DROP_NONE, or why it was dropped
 */
enum drop tcp_timewait_input(struct tcp *t, struct demux_conn *dc, struct tcp_seg *s,
			     struct mono now)
{
	struct tcp_tw *tw = container_of(dc, struct tcp_tw, dc);
	bool is_old = tw->has_ts && s->opt.has_ts && (int32_t)(s->opt.ts_val - tw->ts_recent) < 0 &&
		      mono_since(now, tw->ts_recent_at) < TCP_PAWS_IDLE_NS;

	if (s->flags & TCP_RST) {
		/* RFC 1337 would ignore it; Linux by default does not, and RFC 5961 3.2 makes it safe */
		if (tcp_knob(t, NS_KNOB_tcp_rfc1337) || !seq_eq(s->seq, tw->rcv_nxt))
			return DROP_TCP_RST;
		tw_free(t, tw);
		return DROP_NONE;
	}
	if (!is_old && is_newer_syn(tw, s))
		return reopen(t, tw, s, now);
	if ((s->flags & TCP_FIN) && seq_eq(tcp_seg_end(s), tw->rcv_nxt) && !is_old) {
		tw_restart(t, tw, now); /* eighth: "Restart the 2 MSL time-wait timeout" */
		if (s->opt.has_ts && tw->has_ts) {
			tw->ts_recent = s->opt.ts_val;
			tw->ts_recent_at = now;
		}
		send_ack(t, tw, now);
		return DROP_NONE;
	}
	if (tcp_seg_span(s) == 0 && seq_eq(s->seq, tw->rcv_nxt) && !is_old)
		return DROP_NONE; /* a plain ACK has nothing to tell */
	if (tcp_oow_allows(t, &tw->oow_at, s, now))
		send_ack(t, tw, now);
	return is_old ? DROP_TCP_PAWS : DROP_TCP_SEQ;
}
