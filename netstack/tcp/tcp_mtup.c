/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_mtup.c - what a path takes, found out by sending (RFC 4821)
 *
 * Theory of operation
 *
 * A router that drops what is too long and says nothing, or whose message is filtered, is a black hole: the
 * handshake passes, full segments vanish, nothing but timeouts tells. After tcp_retries1 of them in a row the
 * segments become as small as tcp_base_mss, and half as long with each further timeout, down to
 * tcp_mtu_probe_floor. From there the search goes up again: between @low, which passed, and @high, which
 * may, a segment of the size in the middle is sent as a probe, with enough behind it to tell by their
 * acknowledgements whether it was lost. A probe that arrives becomes @low, one that is lost ends @high; that
 * loss is no congestion, and the next probe waits for as long as another loss would take to come. When the two
 * have met the search rests for tcp_probe_interval, and net/pmtu.c is told.
 *
 * tcp_mtu_probing 2 searches from the handshake on, from tcp_base_mss; 0 never, a black hole is one then.
 *
 * Deviates from linux: the default is 1, theirs 0; a probe waits for what it needs while other segments go;
 * IPv6 begins no lower than 1280 octets, which every path takes (RFC 8200 5).
 *
 * Units: sizes of packets are octets from the IP header on; MSS values and payload say so.
 *
 * References: RFC 4821 7.2 to 7.7; RFC 8201 4; linux v6.1 net/ipv4/tcp_output.c tcp_mtu_probe(), tcp_timer.c
 * tcp_mtu_probing().
 */
#include "tcp/tcp_int.h"
#include "wire/ip6.h"

enum {
	REST_AFTER_RTO = 5, /* times what a loss that was found sooner costs, RFC 4821 7.6.3 */
	CWND_MIN_SEGS =
		11, /* linux tcp_mtu_probe(): a window that survives a loss without a timeout */
};

static uint32_t hdrs_of(const struct tcp_conn *c)
{
	return (ns_addr_is_v4(&tcp_remote(c)->addr) ? 20u : 40u) + TCP_HDR_LEN;
}

static uint32_t opts_len(const struct tcp_conn *c)
{
	return tcp_has(c, TCP_F_TS) ? TCP_TS_LEN : 0u;
}

/* What the routes and routers say the path takes. */
static uint32_t path_mtu(const struct tcp_conn *c)
{
	return c->pmtu ? ns_min_u(c->pmtu, c->dst.mtu) : c->dst.mtu;
}

static uint32_t base_mtu(const struct tcp_conn *c)
{
	uint32_t mtu = (uint32_t)tcp_knob(c->t, NS_KNOB_tcp_base_mss) + hdrs_of(c);

	return ns_addr_is_v4(&tcp_remote(c)->addr) ? mtu : ns_max_u(mtu, IP6_MTU_MIN);
}

static uint32_t floor_mtu(const struct tcp_conn *c)
{
	uint32_t mss = (uint32_t)tcp_knob(c->t, NS_KNOB_tcp_mtu_probe_floor);

	if (!ns_addr_is_v4(&tcp_remote(c)->addr))
		return IP6_MTU_MIN;
	return ns_max_u(mss, TCP_MSS_MIN + TCP_TS_LEN) + hdrs_of(c);
}

static void search_from(struct tcp_conn *c, uint32_t low, struct mono now)
{
	c->mtup.is_on = true;
	c->mtup.low = low;
	c->mtup.high = c->peer_mss + hdrs_of(c);
	c->mtup.probe = 0;
	c->mtup.since = now;
}

/* The search is over and found less than what the path should take: others to there need not search (RFC 4821 5.2). */
static void tell_if_found(struct tcp_conn *c, struct mono now)
{
	struct tcp_mtup *m = &c->mtup;

	if (m->high >= path_mtu(c) ||
	    m->high >= m->low + (uint32_t)tcp_knob(c->t, NS_KNOB_tcp_probe_threshold))
		return;
	net_pmtu_learn(c->t->net, &tcp_remote(c)->addr, m->low, now);
	tcp_pmtu_sync(c, now);
}

/** tcp_mtup_start() - the handshake is done */
void tcp_mtup_start(struct tcp_conn *c, struct mono now)
{
	c->mtup = (struct tcp_mtup){ 0 };
	if (tcp_knob(c->t, NS_KNOB_tcp_mtu_probing) == 2)
		search_from(c, base_mtu(c), now);
}

/** tcp_mtup_limit() - octets of packet that are known to pass, of @mtu that should */
uint32_t tcp_mtup_limit(const struct tcp_conn *c, uint32_t mtu)
{
	return c->mtup.is_on ? ns_min_u(mtu, c->mtup.low) : mtu;
}

/**
 * tcp_mtup_black_hole() - RFC 4821 7.7: timeouts in a row; it may be the size
 * @c:		Connection whose outstanding octets will be sent again
 * @now:	Time
 */
void tcp_mtup_black_hole(struct tcp_conn *c, struct mono now)
{
	const struct tcp_rec *r = tcp_rec_first(c);
	uint32_t hdrs = hdrs_of(c), low = base_mtu(c);

	if (tcp_knob(c->t, NS_KNOB_tcp_mtu_probing) == 0 || !r)
		return;
	if (c->mtup.is_on)
		low = ns_max_u(ns_min_u((c->mtup.low - hdrs) / 2 + hdrs, low), floor_mtu(c));
	/* what is that small already vanishes for another reason */
	if (ns_min_u(r->len, c->mss) + hdrs + opts_len(c) <= low)
		return;
	stat_inc(tcp_stats(c->t), STAT_TCP_BLACK_HOLES);
	search_from(c, low, now);
	tcp_mss_sync(c);
}

/**
 * tcp_mtup_len() - RFC 4821 7.3, 7.4: is it time for a probe?
 * @c:		Connection
 * @wnd:	Octets that the peer's window takes now
 * @cwnd:	Octets that the congestion window takes now
 * @now:	Time
 *
 * Return: octets of payload for it, 0: no
 */
uint32_t tcp_mtup_len(struct tcp_conn *c, uint32_t wnd, uint32_t cwnd, struct mono now)
{
	struct tcp_mtup *m = &c->mtup;
	uint32_t high = ns_min_u(m->high, path_mtu(c));
	uint64_t rest_ns = (uint64_t)tcp_knob(c->t, NS_KNOB_tcp_probe_interval) * NS_PER_SEC;
	uint32_t len, need;

	if (!m->is_on || m->probe || c->ca != TCP_CA_OPEN || c->sacked_len || c->urg.has_snd ||
	    mono_lt(now, m->rest))
		return 0;
	if (high < m->low + (uint32_t)tcp_knob(c->t, NS_KNOB_tcp_probe_threshold)) {
		if (mono_since(now, m->since) >= rest_ns)
			search_from(c, m->low, now);
		return 0;
	}
	len = (high + m->low) / 2 - hdrs_of(c) - opts_len(c);
	need = len + (c->reordering + 1) * c->mss; /* so many behind it find out that it is lost */
	if (c->cc.cwnd < CWND_MIN_SEGS * c->mss || len <= c->mss)
		return 0;
	return need <= wnd && need <= cwnd && need <= tcp_unsent(c) ? len : 0;
}

/** tcp_mtup_sent() - the probe [@seq, @seq + @len) has left */
void tcp_mtup_sent(struct tcp_conn *c, struct seq seq, uint32_t len)
{
	c->mtup.probe = len + hdrs_of(c) + opts_len(c);
	c->mtup.start = seq;
	c->mtup.end = seq_add(seq, len);
	stat_inc(tcp_stats(c->t), STAT_TCP_MTU_PROBES);
}

/** tcp_mtup_on_ack() - RFC 4821 7.6.1: SND.UNA moved, perhaps over the probe */
void tcp_mtup_on_ack(struct tcp_conn *c, struct mono now)
{
	struct tcp_mtup *m = &c->mtup;

	if (m->probe == 0 || seq_lt(c->snd_una, m->end))
		return;
	m->low = m->probe;
	m->probe = 0;
	stat_inc(tcp_stats(c->t), STAT_TCP_MTU_PROBES_OK);
	tcp_mss_sync(c);
	tell_if_found(c, now);
}

/*
 * A lost probe that was no congestion is rarer than congestion would be: RFC 4821 7.6.2 takes a round trip for
 * each segment of the window for the time between losses.
 */
static void take_rest(struct tcp_conn *c, uint32_t times, struct mono now)
{
	uint64_t rounds = ns_max_u(c->cc.cwnd / c->mss, 1);

	c->mtup.rest = mono_add(now, times * rounds * c->srtt_ns);
}

/** tcp_mtup_on_rto() - RFC 4821 7.6.4: a timeout says nothing of a probe; 7.6.3: but it was dear */
void tcp_mtup_on_rto(struct tcp_conn *c, struct mono now)
{
	if (c->mtup.probe)
		take_rest(c, REST_AFTER_RTO, now);
	c->mtup.probe = 0;
}

/**
 * tcp_mtup_on_loss() - RFC 4821 7.6.2: was it the probe that was found lost, and nothing else?
 * @c:		Connection with a loss just found
 * @now:	Time
 *
 * Return: true: the size is to blame and no one else; all of the probe is marked lost
 */
bool tcp_mtup_on_loss(struct tcp_conn *c, struct mono now)
{
	struct tcp_mtup *m = &c->mtup;
	struct tcp_rec *r = tcp_rec_first(c);

	if (m->probe == 0 || !seq_eq(c->snd_una, m->start) ||
	    c->lost_len > (uint32_t)seq_diff(m->end, m->start))
		return false;
	for (; r && seq_lt(r->seq, m->end); r = tcp_rec_next(c, r))
		if (!(r->flags & TCP_REC_LOST))
			tcp_rtx_mark_lost(c, r);
	m->high = m->probe - 1;
	m->probe = 0;
	take_rest(c, 1, now);
	tell_if_found(c, now);
	return true;
}
