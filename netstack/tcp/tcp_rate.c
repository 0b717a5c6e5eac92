/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rate.c - how fast the path delivers: one sample an acknowledgement
 *
 * Theory of operation
 *
 * When octets are sent their record notes how many octets had been delivered by then, when the last of
 * these were, and when the octet whose delivery that told of was sent. When they are acknowledged,
 * cumulatively or by SACK, the difference to what is delivered now is what the path carried in between:
 *
 *   rate = delivered since / max(time it took to send that, time it took to be acknowledged)
 *
 * The longer of the two times, because acknowledgements that were held up on their way arrive in a
 * bunch and would show a rate that no link has. Of several records that one acknowledgement covers the
 * one that was sent last counts. A sample over less than the least round trip ever seen is none.
 *
 * A program that had nothing to send while it could have is the limit itself: what is in the network at
 * that moment is marked, and samples of what was sent while the mark stands say so. They are a lower
 * bound of the rate and nothing more.
 *
 * References: draft-cheng-iccrg-delivery-rate-estimation-02 3; linux v6.1 net/ipv4/tcp_rate.c.
 */
#include "tcp/tcp_int.h"

/** tcp_rate_start() - nothing was sent yet; until the first acknowledgement the path is not full (linux tcp_init_sock()) */
void tcp_rate_start(struct tcp_conn *c)
{
	c->rate = (struct tcp_rate){ .end = c->iss, .app_limited = 1 };
}

/**
 * tcp_rate_sent() - draft 3.2: @r has just been sent, for the first time or again
 * @c:		Connection; SND.NXT has not moved yet when @r is new
 * @r:		Record, r->tx set
 */
void tcp_rate_sent(struct tcp_conn *c, struct tcp_rec *r)
{
	struct tcp_rate *k = &c->rate;

	if (tcp_flight(c) == 0) /* the clock starts with the first octet after silence */
		k->first_tx = k->delivered_at = r->tx;
	r->delivered = k->delivered;
	r->delivered_at = k->delivered_at;
	r->first_tx = k->first_tx;
	r->flags &= (uint8_t)~TCP_REC_APP_LIMITED;
	if (k->app_limited)
		r->flags |= TCP_REC_APP_LIMITED;
}

/**
 * tcp_rate_delivered() - draft 3.3 UpdateRateSample(): one record, or its beginning, is with the peer
 * @c:		Connection
 * @r:		Record as it was while it was outstanding
 * @end:	Where what was delivered of it ends
 * @d:		The acknowledgement that says so; its sample is of what was sent last
 * @now:	Time of arrival
 */
void tcp_rate_delivered(struct tcp_conn *c, const struct tcp_rec *r, struct seq end,
			struct tcp_delivered *d, struct mono now)
{
	struct tcp_rate *k = &c->rate;
	struct tcp_rate_sample *s = &d->rate;

	if (s->has_prior && !tcp_is_sent_after(r->tx, end, k->first_tx, k->end))
		return;
	s->has_prior = true;
	s->prior = r->delivered;
	s->prior_at = r->delivered_at;
	s->is_app_limited = r->flags & TCP_REC_APP_LIMITED;
	s->rtt_ns = r->flags & TCP_REC_EVER ? 0 : mono_since(now, r->tx) + 1;
	s->ns = mono_since(r->tx, r->first_tx);
	k->first_tx = r->tx;
	k->end = end;
}

/* The last sample the network set, or the highest the program did: what TCP_INFO tells. */
static void keep(struct tcp_rate *k, const struct tcp_rate_sample *s)
{
	if (s->is_app_limited && s->len * k->sample_ns < k->sample_len * s->ns)
		return;
	k->sample_len = s->len;
	k->sample_ns = s->ns;
	k->is_sample_app_limited = s->is_app_limited;
}

/**
 * tcp_rate_sample() - draft 3.3 GenerateRateSample(): the acknowledgement is counted in full
 * @c:		Connection
 * @s:		Sample begun by tcp_rate_delivered(); @s->ns is 0 when there is none
 * @delivered:	Octets newly delivered
 * @now:	Time of arrival
 */
void tcp_rate_sample(struct tcp_conn *c, struct tcp_rate_sample *s, uint32_t delivered,
		     struct mono now)
{
	struct tcp_rate *k = &c->rate;
	uint64_t ack_ns = mono_since(now, s->prior_at);

	k->delivered += delivered;
	if (k->app_limited && k->delivered > k->app_limited)
		k->app_limited = 0;
	if (delivered)
		k->delivered_at = now;
	if (!s->has_prior || s->prior_at.ns == 0) {
		s->ns = 0;
		return;
	}
	s->len = k->delivered - s->prior;
	if (ack_ns > s->ns)
		s->ns = ack_ns;
	if (s->ns + 1 < c->min_rtt_ns) { /* round trips are a nanosecond up, 0 is none */
		s->ns = 0;
		return;
	}
	keep(k, s);
}

/** tcp_rate_mark_app_limited() - what is in the network now was not all that it would have taken */
void tcp_rate_mark_app_limited(struct tcp_conn *c)
{
	uint64_t end = c->rate.delivered + tcp_pipe(c);

	c->rate.app_limited = end ? end : 1;
}

/**
 * tcp_rate_check_app_limited() - draft 3.4: the program is about to queue octets; did the path wait for them?
 *
 * It did when less than a segment was queued, the congestion window had room and nothing lost waited.
 */
void tcp_rate_check_app_limited(struct tcp_conn *c)
{
	if (tcp_unsent(c) < c->mss && tcp_pipe(c) < c->cc.cwnd && c->lost_len <= c->retrans_len)
		tcp_rate_mark_app_limited(c);
}
