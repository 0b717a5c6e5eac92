/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_rtt.c - RFC 6298: round-trip time and the retransmission timeout, in nanoseconds */
#include "tcp/tcp_int.h"

static uint64_t max_ns(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t rto_min_ns(const struct tcp_conn *c)
{
	return tcp_knob_u(c->t, NS_KNOB_tcp_rto_min_us) * NS_PER_US;
}

/** tcp_rtt_init() - RFC 6298 2.1: no sample yet */
void tcp_rtt_init(struct tcp_conn *c)
{
	c->srtt_ns = c->rttvar_ns = c->min_rtt_ns = 0;
	c->rto_ns = TCP_RTO_INITIAL_NS;
	c->backoff = 0;
	c->flags &= ~TCP_F_RTT_SEEN;
}

/**
 * tcp_rtt_sample() - RFC 6298 2.2, 2.3
 * @c:		Connection
 * @rtt_ns:	Time from sending to acknowledgement of octets that were sent once only (Karn)
 *
 * The timeout is SRTT + max(tcp_rto_min_us, 4 * RTTVAR), Linux's floor of 200 ms (deviates from RFC 6298
 * 2.4, which says 1 s in all). A valid sample ends the backoff (5.7 by way of the caller's restart of the timer).
 */
void tcp_rtt_sample(struct tcp_conn *c, uint64_t rtt_ns)
{
	if (rtt_ns == 0)
		rtt_ns = 1;
	if (c->min_rtt_ns == 0 || rtt_ns < c->min_rtt_ns)
		c->min_rtt_ns = rtt_ns;
	if (!tcp_has(c, TCP_F_RTT_SEEN)) {
		c->srtt_ns = rtt_ns;
		c->rttvar_ns = rtt_ns / 2;
		c->flags |= TCP_F_RTT_SEEN;
	} else {
		uint64_t err = rtt_ns > c->srtt_ns ? rtt_ns - c->srtt_ns : c->srtt_ns - rtt_ns;

		c->rttvar_ns = c->rttvar_ns - c->rttvar_ns / 4 + err / 4;
		c->srtt_ns = c->srtt_ns - c->srtt_ns / 8 + rtt_ns / 8;
	}
	c->rto_ns = min_ns(c->srtt_ns + max_ns(rto_min_ns(c), 4 * c->rttvar_ns), TCP_RTO_MAX_NS);
}

/**
 * tcp_rtt_forget() - RFC 6298 5: after several timeouts SRTT and RTTVAR "are bogus"
 *
 * The next sample is a first one (2.2), and until then the timeout is a first one's, too (2.1), unless it was more.
 */
void tcp_rtt_forget(struct tcp_conn *c)
{
	c->flags &= ~TCP_F_RTT_SEEN;
	c->rto_ns = max_ns(c->rto_ns, TCP_RTO_INITIAL_NS);
}

/** tcp_rto_ns() - the timeout with its backoff (RFC 6298 5.5), at most 120 s (2.5) */
uint64_t tcp_rto_ns(const struct tcp_conn *c)
{
	uint8_t shift = c->backoff < 16 ? c->backoff : 16;

	return min_ns(c->rto_ns << shift, TCP_RTO_MAX_NS);
}
