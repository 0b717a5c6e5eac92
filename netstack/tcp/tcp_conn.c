/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_conn.c - the connection object: made, started, failed, freed
 *
 * Theory of operation
 *
 * An object is made by open() or by a half-open one that grew up. tcp_conn_start() gives it what every
 * opening needs once the four-tuple is known. tcp_conn_fail() ends it with an errno for the program;
 * the FSM's fall to CLOSED detaches it from the wire (tcp_conn_detach()). What was received stays
 * until the program has read or closed; then tcp_conn_reap() frees it.
 */
#include "tcp/tcp_int.h"

#include <errno.h>
#include <string.h>

/**
 * tcp_conn_new() - an object in CLOSED with Linux's defaults
 *
 * Return: the connection, or NULL at the cap
 */
struct tcp_conn *tcp_conn_new(struct tcp *t)
{
	struct tcp_conn *c = pool_get(&t->conn_pool);
	struct ns_core *core = t->core;

	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	c->t = t;
	c->id = ++t->next_id;
	c->dc.kind = TCP_KIND_CONN;
	list_init(&c->dc.hash);
	list_init(&c->bind.hash);
	list_init(&c->bind.conn_hash);
	list_init(&c->dirty_node);
	list_init(&c->accept_node);
	list_init(&c->tfo.node);
	list_init(&c->recs);
	list_init(&c->by_tx);
	list_init(&c->islands);
	bytes_init(&c->sndq, &core->chunks, &core->slices);
	bytes_init(&c->rcvq, &core->chunks, &core->slices);
	tcp_timers_init(c);
	c->ip_opts[0].mtu_discover = PMTUDISC_WANT;
	c->pace.max_rate = TCP_PACE_UNLIMITED;
	c->sndbuf = ns_min_u(TCP_SNDBUF_START, tcp_knob_u(t, NS_KNOB_tcp_wmem_max));
	c->rcvbuf = ns_min_u(tcp_knob_u(t, NS_KNOB_tcp_rmem_default) / 2, tcp_window_max(t));
	c->wnd_clamp = UINT32_MAX;
	c->notsent_lowat = UINT32_MAX;
	c->keepidle_ns = tcp_knob_seconds(t, NS_KNOB_tcp_keepalive_time);
	c->keepintvl_ns = tcp_knob_seconds(t, NS_KNOB_tcp_keepalive_intvl);
	c->keepcnt = (uint16_t)tcp_knob(t, NS_KNOB_tcp_keepalive_probes);
	c->linger2_ns = tcp_knob_seconds(t, NS_KNOB_tcp_fin_timeout);
	c->syncnt = (uint8_t)tcp_knob(t, NS_KNOB_tcp_syn_retries);
	c->congestion = (uint8_t)tcp_knob(t, NS_KNOB_tcp_congestion_control);
	tcp_rtt_init(c);
	list_push(&t->conns, &c->all_node);
	return c;
}

/** tcp_conn_free() - everything of it, whatever its state; nothing is sent */
void tcp_conn_free(struct tcp_conn *c)
{
	struct tcp *t = c->t;

	if (c->listener)
		tcp_listen_stop(c, (struct mono){ 0 }, true);
	if (c->parent) {
		c->parent->accept_cnt--;
		list_del(&c->accept_node);
	}
	tcp_conn_detach(c);
	demux_unbind(t->demux, &c->bind);
	bytes_clear(&c->rcvq);
	list_del(&c->dirty_node);
	list_del(&c->all_node);
	pool_put(&t->conn_pool, c);
}

/** tcp_conn_detach() - off the wire: no timers, no four-tuple, nothing to send or to reassemble */
void tcp_conn_detach(struct tcp_conn *c)
{
	tcp_fastopen_end(c);
	tcp_fastopen_over(c);
	tcp_timers_cancel(c);
	if (tcp_has(c, TCP_F_HASHED))
		demux_del_conn(c->t->demux, &c->dc);
	if (tcp_has(c, TCP_F_ORPHAN))
		c->t->orphan_cnt--;
	c->flags &= ~(TCP_F_HASHED | TCP_F_ORPHAN | TCP_F_ACK_NOW | TCP_F_SYN_DUE |
		      TCP_F_PROBE_DUE | TCP_F_PUSH);
	/* a port the program named stays its own until it closes (linux SOCK_BINDPORT_LOCK) */
	if (c->bind.is_bound && c->bind.is_ephemeral)
		demux_unbind(c->t->demux, &c->bind);
	tcp_rtx_clear(c);
	tcp_reasm_clear(c);
	bytes_clear(&c->sndq);
}

/** tcp_conn_reap() - free @c when it is CLOSED and nobody's; the last thing every entry point does */
void tcp_conn_reap(struct tcp_conn *c)
{
	if (c->state == TCP_CLOSED && !tcp_has(c, TCP_F_OWNED) && !c->parent)
		tcp_conn_free(c);
}

/** tcp_conn_dirty() - tcp_output() will look at it this turn */
void tcp_conn_dirty(struct tcp_conn *c)
{
	if (tcp_has(c, TCP_F_DIRTY))
		return;
	c->flags |= TCP_F_DIRTY;
	list_push(&c->t->dirty, &c->dirty_node);
}

/** tcp_conn_tell() - news for the program, if there is one; @mask of enum ns_event_mask */
void tcp_conn_tell(struct tcp_conn *c, uint32_t mask, int err)
{
	if (c->user)
		c->t->users.event(c->user, mask, err);
}

/**
 * tcp_conn_fail() - it is over: @err for the program, nothing for the peer
 * @c:		Connection, not CLOSED; afterwards it is
 * @err:	Negative errno
 * @why:	Static string for the trace
 */
void tcp_conn_fail(struct tcp_conn *c, int err, const char *why)
{
	c->err = err;
	tcp_set_state(c, TCP_CLOSED, why);
	tcp_conn_tell(c, NS_EV_ERR, err);
}

/** tcp_conn_reset() - like tcp_conn_fail(), and the peer hears of it when it knows us */
void tcp_conn_reset(struct tcp_conn *c, int err, const char *why, struct mono now)
{
	if (TCP_IN(c->state, TCPF_SYNCHRONISED | TCPF(SYN_RCVD)))
		tcp_send_rst(c, now);
	tcp_conn_fail(c, err, why);
}

/**
 * tcp_conn_hash() - be found by four-tuple
 *
 * Return: 0, -EEXIST when the four-tuple is taken
 */
int tcp_conn_hash(struct tcp_conn *c)
{
	int r = demux_add_conn(c->t->demux, &c->dc);

	if (r == 0)
		c->flags |= TCP_F_HASHED;
	return r;
}

/**
 * tcp_conn_orphan() - the program is gone, the protocol goes on
 * @c:		Connection
 * @now:	Time
 *
 * Limits: beyond orphan_max or tcp_max_orphans the youngest orphan is reset at once (linux tcp_max_orphans).
 */
void tcp_conn_orphan(struct tcp_conn *c, struct mono now)
{
	if (c->state == TCP_CLOSED || tcp_has(c, TCP_F_ORPHAN))
		return;
	c->flags |= TCP_F_ORPHAN;
	if (++c->t->orphan_cnt <=
	    ns_min_u(c->t->orphan_max, tcp_knob_u(c->t, NS_KNOB_tcp_max_orphans)))
		return;
	stat_inc(tcp_stats(c->t), STAT_TCP_ORPHAN_RESETS);
	tcp_conn_reset(c, -ENOBUFS, "too many orphans", now);
}

/**
 * tcp_conn_start() - what every opening needs: route known, four-tuple set
 * @c:		Connection in CLOSED
 * @now:	Time
 *
 * Return: through the fields: iss, timestamp offset, receive window, congestion control
 */
void tcp_conn_start(struct tcp_conn *c, struct mono now)
{
	c->ts_off = tcp_ts_offset(c->t, &c->dc.key);
	c->snd_una = c->snd_nxt = c->iss;
	c->snd_sml = c->cwnd_seq = c->iss;
	c->flags &= ~(TCP_F_TS | TCP_F_SACK | TCP_F_WSCALE | TCP_F_FIN_QUEUED | TCP_F_FIN_SENT |
		      TCP_F_FIN_KNOWN | TCP_F_FIN_RCVD | TCP_F_HAD_LOSS | TCP_F_CWND_LIMITED);
	c->ca = TCP_CA_OPEN;
	c->undo.is_open = c->undo.is_frto = c->undo.is_testing = false;
	c->dupack_cnt = 0;
	c->reordering = TCP_DUPTHRESH;
	c->meter = (struct tcp_meter){ .chrono_at = now };
	c->err = c->soft_err = 0;
	c->pmtu = net_pmtu(c->t->net, &c->dst, &tcp_remote(c)->addr, now);
	c->retries = c->probe_cnt = c->syn_retries = 0;
	c->eor_cnt = 0;
	c->urg.has_rcv = c->urg.has_snd = false;
	c->ecn = (struct tcp_ecn){ .mode = TCP_ECN_OFF };
	c->tfo.is_early = c->tfo.is_deferred = c->tfo.is_data_acked = c->tfo.may_ask = false;
	c->tfo.is_fast = c->tfo.is_trial = false;
	c->tfo.fail = TCP_TFO_FAIL_NONE;
	c->tfo.sent_len = 0;
	c->tfo.opt.has = false;
	c->probe_backoff = 0;
	c->progress = c->rx_at = c->data_rx_at = c->ack_rx_at = c->data_tx_at = now;
	tcp_rtt_init(c);
	tcp_rack_start(c);
	tcp_rate_start(c);
	tcp_pace_start(c);
	c->adv_mss = tcp_mss_for(&c->dst, &tcp_remote(c)->addr, c->user_mss);
	c->peer_mss = ns_addr_is_v4(&tcp_remote(c)->addr) ? TCP_MSS_DEFAULT4 : TCP_MSS_DEFAULT6;
	c->rcv_mss = (uint16_t)ns_min_u(c->adv_mss, TCP_MSS_DEFAULT4);
	tcp_rcv_start(c);
}

/**
 * tcp_conn_established() - RFC 9293 3.10.7.4 fifth, SYN-RECEIVED; 3.10.7.3 fourth: the handshake is done
 * @c:		Connection, already moved to ESTABLISHED, options negotiated
 * @now:	Time
 */
void tcp_conn_established(struct tcp_conn *c, struct mono now)
{
	/* RFC 5681 3.1: the handshake was lost; RFC 9768 3.2.2.2: or marked, which is no better */
	bool is_slow = c->meter.total_retrans > 1 || c->ecn.hs.is_marked;

	tcp_timer_stop(c, &c->rto_timer);
	tcp_rto_series_end(c, now);
	c->meter.delivered++; /* the handshake's own (linux tcp_rcv_state_process()) */
	c->backoff = 0;
	c->retries = 0;
	if (c->syn_retries && !tcp_has(c, TCP_F_RTT_SEEN))
		c->rto_ns = TCP_RTO_AFTER_SYN_NS; /* RFC 6298 5.7 */
	tcp_mtup_start(c, now);
	tcp_mss_sync(c);
	tcp_cc_init(&c->cc, tcp_cc_get(c->congestion), c->mss);
	c->cc.random = c->iss.v ^ c->irs.v;
	if (is_slow)
		c->cc.cwnd = c->mss;
	tcp_pace_update(c);
	c->flight_max = 0;
	c->progress = c->data_rx_at = now;
	c->round_edge = c->rcv_adv;
	c->round_start = c->took_at = now;
	c->took_seq = c->rcv_nxt;
	/* linux tcp_init_buffer_space() */
	c->took_max = ns_min_u(ns_min_u(c->rcvbuf, c->wnd_clamp),
			       ns_min_u((uint32_t)seq_diff(c->rcv_adv, c->rcv_nxt),
					TCP_INIT_CWND * (uint32_t)c->adv_mss));
	c->quick_cnt = TCP_QUICK_ACKS;
	net_confirm(c->t->net, &c->dst, now);
	tcp_keep_restart(c, now);
	if (c->parent)
		tcp_listen_ready(c);
	else if (tcp_has(c, TCP_F_ACTIVE))
		tcp_conn_tell(c, NS_EV_CONNECTED | NS_EV_OUT, 0);
	if (tcp_has(c, TCP_F_FIN_QUEUED)) {
		tcp_set_state(c, TCP_FIN_WAIT_1, "program was done before");
		tcp_conn_dirty(c);
	}
}
