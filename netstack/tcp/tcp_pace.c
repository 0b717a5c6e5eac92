/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_pace.c - octets leave no faster than at a rate
 *
 * Theory of operation
 *
 * A paced connection has a moment before which nothing more leaves (pace.next). Every super-segment moves
 * it by its length over the rate; who comes late is forgiven up to half of that, so that a clock which
 * is late now and then does not cost throughput. The timer of the connection stands for that moment
 * and only marks it for the output.
 *
 * A super-segment carries a millisecond of the rate, two segments at least and what the path takes at most:
 * slow flows leave evenly, fast ones still in large pieces. Round trips below half a millisecond make pieces
 * larger, as there is nobody whose queue would gain. Beyond what that makes, up to BURST_NS worth of octets
 * leave ahead of their moment: so that a flow of 10 Gbit/s wakes the loop 4000 times a second rather
 * than 20000.
 *
 * Who is paced: a connection whose congestion control says so (BBR; the rate is its), one with
 * SO_MAX_PACING_RATE, all when the knob tcp_pacing is set. With an algorithm that has only a window the rate is
 * window / smoothed round trip * 1.2, or twice it in slow start, so that the window is still what limits
 * it. Probes, bare acknowledgements and the first TCP_PACE_FREE_SEGS segments are not held back.
 *
 * Time: pace_timer. Retransmission and loss probe timers are moved by what pacing holds back.
 *
 * References: draft-cardwell-iccrg-bbr-congestion-control-00 4.2.1, 4.2.2; RFC 9002 7.7 (why); linux v6.1
 * net/ipv4/tcp_output.c tcp_update_skb_after_send(), tcp_tso_autosize(), tcp_input.c tcp_update_pacing_rate().
 */
#include "tcp/tcp_int.h"

enum {
	FREE_SEGS = 10,     /* linux: as many as sch_fq lets a new flow send */
	QUANTUM_SHIFT = 10, /* linux sk_pacing_shift: rate >> 10 is about a millisecond's worth */
	RTT_SHIFT = 9 + 10, /* linux tcp_tso_rtt_log 9, of microseconds */
	SLOW_Bps = 150000,  /* 1.2 Mbit/s: below, single segments (draft 4.2.2) */
};

#define BURST_NS (250 * NS_PER_US)

static bool is_paced(const struct tcp_conn *c)
{
	return c->cc.ops &&
	       (c->cc.ops->on_sample || c->pace.max_rate != TCP_PACE_UNLIMITED ||
		tcp_knob(c->t, NS_KNOB_tcp_pacing)) &&
	       c->pace.rate != TCP_PACE_UNLIMITED && c->pace.rate != 0;
}

/* linux tcp_update_pacing_rate() */
static uint64_t rate_of_window(const struct tcp_conn *c)
{
	const struct tcp_cc *cc = &c->cc;
	bool is_early = cc->cwnd < cc->ssthresh / 2;
	int percent = tcp_knob(c->t, is_early ? NS_KNOB_tcp_pacing_ss_ratio
					      : NS_KNOB_tcp_pacing_ca_ratio);
	uint64_t wnd = ns_max_u(cc->cwnd, tcp_flight(c));

	if (!tcp_has(c, TCP_F_RTT_SEEN) || c->srtt_ns == 0)
		return TCP_PACE_UNLIMITED;
	return wnd * (uint64_t)percent / 100 * NS_PER_MS / (c->srtt_ns / NS_PER_US + 1);
}

/** tcp_pace_start() - a new opening; what the program set stays */
void tcp_pace_start(struct tcp_conn *c)
{
	c->pace.rate = c->pace.max_rate;
	c->pace.next = (struct mono){ 0 };
}

/** tcp_pace_update() - the rate after an acknowledgement, octets a second; SO_MAX_PACING_RATE is the ceiling */
void tcp_pace_update(struct tcp_conn *c)
{
	uint64_t rate = c->cc.pacing_rate ? c->cc.pacing_rate : rate_of_window(c);

	c->pace.rate = rate < c->pace.max_rate ? rate : c->pace.max_rate;
}

/** tcp_pace_set_max() - SO_MAX_PACING_RATE, octets a second; takes effect at once */
void tcp_pace_set_max(struct tcp_conn *c, uint64_t rate)
{
	c->pace.max_rate = rate;
	if (c->cc.ops)
		tcp_pace_update(c);
	else
		c->pace.rate = rate;
	tcp_conn_dirty(c); /* what waits may wait less now */
}

/** tcp_pace_delay_ns() - until something may leave; 0: now */
uint64_t tcp_pace_delay_ns(const struct tcp_conn *c, struct mono now)
{
	return is_paced(c) ? mono_since(c->pace.next, now) : 0;
}

/** tcp_pace_holds() - nothing may leave yet; the timer is set for when it may */
bool tcp_pace_holds(struct tcp_conn *c, struct mono now)
{
	if (tcp_pace_delay_ns(c, now) <= BURST_NS)
		return false;
	tcp_timer_set(c, &c->pace_timer, c->pace.next);
	return true;
}

/** tcp_pace_quantum() - draft 4.2.2: octets of the next super-segment, a multiple of MSS; @gso: what the path takes */
uint32_t tcp_pace_quantum(const struct tcp_conn *c, uint32_t gso)
{
	uint32_t least = c->pace.rate < SLOW_Bps ? 1 : 2;
	uint64_t len;

	if (!is_paced(c))
		return gso;
	len = c->pace.rate >> QUANTUM_SHIFT;
	if (c->min_rtt_ns >> RTT_SHIFT < 16)
		len += gso >> (c->min_rtt_ns >> RTT_SHIFT);
	if (len >= gso)
		return gso;
	return ns_min_u(ns_max_u((uint32_t)len / c->mss, least) * c->mss, gso);
}

/** tcp_pace_sent() - @len octets of payload have left */
void tcp_pace_sent(struct tcp_conn *c, uint32_t len, struct mono now)
{
	uint64_t late_ns = mono_since(now, c->pace.next);
	struct mono from = late_ns ? now : c->pace.next;
	uint64_t len_ns;

	if (!is_paced(c) || c->meter.data_segs_out < FREE_SEGS) {
		c->pace.next = from;
		return;
	}
	len_ns = len * NS_PER_SEC / c->pace.rate;
	len_ns -= late_ns < len_ns / 2 ? late_ns : len_ns / 2;
	c->pace.next = mono_add(from, len_ns);
}
