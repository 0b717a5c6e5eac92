/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_timer.c - one function for each timer, named after what it means
 *
 * Theory of operation
 *
 *   rto      something is outstanding: RFC 6298 5. Also repeats SYN and SYN-ACK.
 *   pto      RFC 8985 7.3: it is time for a tail loss probe; never later than rto, which starts again
 *   reo      RFC 8985 6.2: what may have been reordered is lost
 *   persist  nothing is outstanding and what is queued may not go: the peer's window is closed
 *            (RFC 9293 3.8.6.1) or too small (3.8.6.2.1 override), or TCP_CORK holds it
 *   delack   RFC 9293 3.8.6.3
 *   keep     RFC 9293 3.8.4
 *   pace     RFC 9002 7.7: what the rate held back may leave
 *   life     an orphan in FIN-WAIT-2 waits for a FIN no longer than this
 *
 * A timer's function changes state and marks the connection; tcp_output() sends later in the same turn.
 * Only a reset leaves from here, because there is no later for it. A function re-arms before it returns
 * when the event may repeat, so that a blocked link cannot stop the clock.
 */
#include "tcp/tcp_int.h"

#include <errno.h>

/** tcp_timer_set() - (re)arm; without memory the connection ends rather than hang for ever */
void tcp_timer_set(struct tcp_conn *c, struct timer *t, struct mono when)
{
	if (ns_unlikely(timer_arm(&c->t->core->timers, t, when) < 0)) {
		c->pend |= TCP_PEND_ABORT;
		tcp_conn_dirty(c);
	}
}

/** tcp_timer_stop() - disarm; it may stay in the heap until it is due, which costs nothing */
void tcp_timer_stop(struct tcp_conn *c, struct timer *t)
{
	if (timer_is_armed(t))
		tcp_timer_set(c, t, MONO_NEVER);
}

/** tcp_keep_restart() - RFC 9293 3.8.4: something was heard, the idle time starts again */
void tcp_keep_restart(struct tcp_conn *c, struct mono now)
{
	c->keep_cnt = 0;
	if (tcp_has(c, TCP_F_KEEPALIVE))
		tcp_timer_set(c, &c->keep_timer, mono_add(now, c->keepidle_ns));
}

/* Not later than TCP_USER_TIMEOUT after @since: it is kept to the time, not to the next backoff. */
static struct mono clamp(const struct tcp_conn *c, struct mono since, struct mono now,
			 uint64_t delay_ns)
{
	struct mono when = mono_add(now, delay_ns);
	struct mono end = mono_add(since, c->user_timeout_ns);

	return c->user_timeout_ns && mono_lt(now, end) ? mono_min(when, end) : when;
}

/** tcp_rto_arm() - RFC 6298 5.1, 5.3: one timeout from now, or from when pacing lets something leave */
void tcp_rto_arm(struct tcp_conn *c, struct mono now)
{
	tcp_timer_set(c, &c->rto_timer,
		      clamp(c, c->progress, now, tcp_rto_ns(c) + tcp_pace_delay_ns(c, now)));
}

/** tcp_persist_arm() - RFC 9293 3.8.6.1: one probe interval from now, @delay_ns unless there was a backoff */
void tcp_persist_arm(struct tcp_conn *c, uint64_t delay_ns, struct mono now)
{
	uint64_t wait = delay_ns << c->probe_backoff;

	if (wait > TCP_RTO_MAX_NS)
		wait = TCP_RTO_MAX_NS;
	if (!timer_is_armed(&c->persist_timer) && c->probe_backoff == 0)
		c->probe_since = now;
	tcp_timer_set(c, &c->persist_timer, clamp(c, c->probe_since, now, wait));
}

static bool is_user_timeout(const struct tcp_conn *c, struct mono since, struct mono now)
{
	return c->user_timeout_ns && mono_since(now, since) >= c->user_timeout_ns;
}

/* RFC 5482, RFC 9293 MUST-20: has the peer been silent for too long? */
static bool is_given_up(const struct tcp_conn *c, struct mono since, uint16_t tries,
			struct mono now)
{
	uint32_t max = tcp_knob_u(c->t, NS_KNOB_tcp_retries2);

	if (is_user_timeout(c, since, now))
		return true;
	if (c->user_timeout_ns && !tcp_has(c, TCP_F_ORPHAN))
		return false;
	if (tcp_has(c, TCP_F_ORPHAN)) {
		max = tcp_knob_u(c->t, NS_KNOB_tcp_orphan_retries);
		max = max ? max : TCP_ORPHAN_RETRIES;
	}
	return tries >= max;
}

static void time_out(struct tcp_conn *c, const char *why)
{
	stat_inc(tcp_stats(c->t), STAT_TCP_CONN_TIMEOUTS);
	/* RFC 9293 3.9.2.2: the last word of the network about it is a better reason than silence */
	tcp_conn_fail(c, c->soft_err ? c->soft_err : -ETIMEDOUT, why);
}

/* For TCP_INFO: a timeout, the first of a series when no octet was acknowledged since one. */
static void count_rto(struct tcp_conn *c, struct mono now)
{
	struct tcp_meter *m = &c->meter;

	if (m->rto_at.ns == 0) {
		m->rto_recoveries++;
		m->rto_at = now;
	}
	m->rto_cnt++;
}

/** tcp_rto_series_end() - something was acknowledged: timeouts from here on are another matter */
void tcp_rto_series_end(struct tcp_conn *c, struct mono now)
{
	struct tcp_meter *m = &c->meter;

	if (m->rto_at.ns == 0)
		return;
	m->rto_ns += mono_since(now, m->rto_at);
	m->rto_at.ns = 0;
}

/*
 * How long connect() tries: as long as the first SYN and @retries more take with RFC 6298's back-off, whatever the
 * intervals really are (linux tcp_model_timeout()).
 */
static uint64_t syn_patience_ns(uint32_t retries)
{
	uint64_t sum = 0, wait = TCP_RTO_INITIAL_NS;

	for (uint32_t i = 0; i <= retries; i++) {
		sum += wait;
		wait = 2 * wait < TCP_RTO_MAX_NS ? 2 * wait : TCP_RTO_MAX_NS;
	}
	return sum;
}

static bool is_syn_given_up(const struct tcp_conn *c, struct mono now)
{
	if (is_user_timeout(c, c->progress, now))
		return true;
	if (c->state == TCP_SYN_SENT)
		return mono_since(now, c->progress) >= syn_patience_ns(c->syncnt);
	return c->syn_retries >= tcp_knob_u(c->t, NS_KNOB_tcp_synack_retries);
}

/*
 * RFC 9293 MUST-23, RFC 6298 5.5, 5.7. The first few SYNs are repeated without back-off (linux
 * tcp_syn_linear_timeouts): a first packet is lost for many reasons that have nothing to do with congestion, and
 * whoever connects waits for it.
 */
static void on_syn_timeout(struct tcp_conn *c, struct mono now)
{
	bool is_active = c->state == TCP_SYN_SENT, is_last = is_syn_given_up(c, now);
	uint32_t linear = is_active ? tcp_knob_u(c->t, NS_KNOB_tcp_syn_linear_timeouts) : 0;

	tcp_fastopen_timeout(c, c->syn_retries, is_last, now);
	if (is_last) {
		time_out(c, "no answer to SYN");
		return;
	}
	count_rto(c, now);
	if (is_active)
		tcp_fastopen_lost(c, now);
	c->syn_retries++;
	c->meter.total_retrans++;
	if (c->syn_retries > linear)
		c->backoff++;
	stat_inc(tcp_stats(c->t), STAT_TCP_RETRANS_SEGS);
	c->flags |= TCP_F_SYN_DUE;
	tcp_rto_arm(c, now);
	tcp_conn_dirty(c);
}

/* RFC 6298 5.4 to 5.6 */
static void on_data_timeout(struct tcp_conn *c, struct mono now)
{
	uint32_t retries1 = tcp_knob_u(c->t, NS_KNOB_tcp_retries1);
	bool is_last = is_given_up(c, c->progress, c->retries, now);

	if (tcp_flight(c) == 0)
		return;
	tcp_fastopen_timeout(c, c->retries, is_last, now);
	if (is_last) {
		time_out(c, "retransmissions without answer");
		return;
	}
	stat_inc(tcp_stats(c->t), STAT_TCP_RTOS);
	count_rto(c, now);
	if (c->retries + 1u >= retries1)
		tcp_mtup_black_hole(c, now);
	tcp_recovery_on_rto(c, now);
	c->retries++;
	c->backoff++;
	if (c->retries == retries1)
		c->dst.generation--; /* R1: ask for the route again (RFC 1122 4.2.3.5) */
	tcp_rto_arm(c, now);
	tcp_conn_dirty(c);
}

/*
 * RFC 8985 7.3: "the sender MUST re-arm the RTO timer, not the PTO timer", whether or not the probe can
 * be sent.
 */
static void tcp_on_pto(struct timer *t, struct mono now)
{
	struct tcp_conn *c = container_of(t, struct tcp_conn, pto_timer);

	if (tcp_flight(c) == 0 || c->ca != TCP_CA_OPEN || c->sacked_len)
		return;
	c->tlp.is_due = true;
	tcp_rto_arm(c, now);
	tcp_conn_dirty(c);
}

static void tcp_on_reo(struct timer *t, struct mono now)
{
	struct tcp_conn *c = container_of(t, struct tcp_conn, reo_timer);

	if (tcp_flight(c) == 0)
		return;
	tcp_recovery_on_reo(c, now);
	tcp_timer_stop(c, &c->pto_timer);
	tcp_conn_dirty(c);
}

static void tcp_on_rto(struct timer *t, struct mono now)
{
	struct tcp_conn *c = container_of(t, struct tcp_conn, rto_timer);

	/* both at the same moment: the probe stands in for the timeout */
	if (mono_le(c->pto_timer.when, now) && !is_user_timeout(c, c->progress, now)) {
		tcp_rto_arm(c, now);
		return;
	}
	tcp_timer_stop(c, &c->pto_timer);
	if (TCP_IN(c->state, TCPF_OPENING) || c->tfo.is_pending)
		on_syn_timeout(c, now);
	else
		on_data_timeout(c, now);
	tcp_conn_reap(c);
}

/* RFC 9293 3.8.6.1: probe with exponential intervals, for as long as the peer answers */
static void tcp_on_persist(struct timer *t, struct mono now)
{
	struct tcp_conn *c = container_of(t, struct tcp_conn, persist_timer);

	if (is_given_up(c, c->probe_since, c->probe_cnt, now)) {
		time_out(c, "window probes without answer");
		tcp_conn_reap(c);
		return;
	}
	if (c->probe_backoff < 16)
		c->probe_backoff++;
	c->flags |= TCP_F_PROBE_DUE;
	tcp_conn_dirty(c);
}

static void tcp_on_pace(struct timer *t, struct mono now)
{
	(void)now;
	tcp_conn_dirty(container_of(t, struct tcp_conn, pace_timer));
}

static void tcp_on_delack(struct timer *t, struct mono now)
{
	struct tcp_conn *c = container_of(t, struct tcp_conn, delack_timer);

	(void)now;
	stat_inc(tcp_stats(c->t), STAT_TCP_DELAYED_ACKS);
	c->flags |= TCP_F_ACK_NOW;
	c->flags &=
		~TCP_F_PINGPONG; /* no answer came to ride on (linux tcp_delack_timer_handler()) */
	tcp_conn_dirty(c);
}

/* RFC 9293 3.8.4; with outstanding octets the retransmission timer finds out sooner */
static void tcp_on_keepalive(struct timer *t, struct mono now)
{
	struct tcp_conn *c = container_of(t, struct tcp_conn, keep_timer);
	uint64_t idle = mono_since(now, c->rx_at);

	if (!tcp_has(c, TCP_F_KEEPALIVE) || !TCP_IN(c->state, TCPF_SYNCHRONISED))
		return;
	if (tcp_flight(c) || tcp_unsent(c) || idle < c->keepidle_ns) {
		struct mono from = tcp_flight(c) || tcp_unsent(c) ? now : c->rx_at;

		c->keep_cnt = 0;
		tcp_timer_set(c, &c->keep_timer, mono_add(from, c->keepidle_ns));
		return;
	}
	if (c->user_timeout_ns ? c->keep_cnt > 0 && is_user_timeout(c, c->rx_at, now)
			       : c->keep_cnt >= c->keepcnt) {
		stat_inc(tcp_stats(c->t), STAT_TCP_CONN_TIMEOUTS);
		tcp_conn_reset(c, c->soft_err ? c->soft_err : -ETIMEDOUT,
			       "keepalive without answer", now);
		tcp_conn_reap(c);
		return;
	}
	c->keep_cnt++;
	stat_inc(tcp_stats(c->t), STAT_TCP_KEEPALIVES);
	c->flags |= TCP_F_PROBE_DUE;
	tcp_conn_dirty(c);
	tcp_timer_set(c, &c->keep_timer, mono_add(now, c->keepintvl_ns));
}

/* linux tcp_fin_timeout: deviates from RFC 9293 3.6, which would wait for ever */
static void tcp_on_fin_wait_2(struct timer *t, struct mono now)
{
	struct tcp_conn *c = container_of(t, struct tcp_conn, life_timer);

	(void)now;
	stat_inc(tcp_stats(c->t), STAT_TCP_CONN_TIMEOUTS);
	stat_inc(tcp_stats(c->t), STAT_TCP_FIN_WAIT_2_ENDS);
	tcp_conn_fail(c, -ETIMEDOUT, "no FIN came");
	tcp_conn_reap(c);
}

/** tcp_timers_init() - all disarmed */
void tcp_timers_init(struct tcp_conn *c)
{
	timer_init(&c->rto_timer, tcp_on_rto);
	timer_init(&c->reo_timer, tcp_on_reo);
	timer_init(&c->pto_timer, tcp_on_pto);
	timer_init(&c->pace_timer, tcp_on_pace);
	timer_init(&c->persist_timer, tcp_on_persist);
	timer_init(&c->delack_timer, tcp_on_delack);
	timer_init(&c->keep_timer, tcp_on_keepalive);
	timer_init(&c->life_timer, tcp_on_fin_wait_2);
}

/** tcp_timers_cancel() - none is in the heap any more: the object may be freed */
void tcp_timers_cancel(struct tcp_conn *c)
{
	struct timers *ts = &c->t->core->timers;

	timer_cancel(ts, &c->rto_timer);
	timer_cancel(ts, &c->reo_timer);
	timer_cancel(ts, &c->pto_timer);
	timer_cancel(ts, &c->pace_timer);
	timer_cancel(ts, &c->persist_timer);
	timer_cancel(ts, &c->delack_timer);
	timer_cancel(ts, &c->keep_timer);
	timer_cancel(ts, &c->life_timer);
}
