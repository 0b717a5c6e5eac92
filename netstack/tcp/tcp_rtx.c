/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rtx.c - transmission records: what was sent when, and what is known about it
 *
 * Theory of operation
 *
 * The octets [SND.UNA, SND.NXT) are covered without a gap by a list of records, one for what a turn
 * sent in one piece, however many wire segments that was. Acknowledgements take records off the
 * front; SACK blocks and losses split them at segment boundaries; neighbours that are SACKed
 * merge again, so a healthy connection has a handful of records and a lossy one a few for each hole.
 *
 * Three sums follow the flags: sacked_len, lost_len, retrans_len. RFC 6675's pipe is then
 * FlightSize - sacked - lost + retransmitted, without a walk.
 *
 * Two hints make the usual steps O(1): rtx_next (nothing before it waits to be sent again; NULL: nothing
 * at all), sack_hint (where the last SACK block ended). A record that goes away hands them to its
 * neighbour.
 *
 * What is in the network, that is neither SACKed nor lost and waiting to be sent again, is also in a list
 * by the time it was sent last (by_tx): RACK looks at its head and stops at the first that is too young.
 *
 * Invariants
 *
 * A record is never SACKED together with LOST or RETRANS; RETRANS only with LOST. sum of len == SND.NXT - SND.UNA.
 *
 * Limits
 *
 * TCP_REC_MAX records a connection. At the cap nothing is split any more: a SACK block that would need
 * it is forgotten, new octets join the last record. So an acknowledgement never walks further than
 * that, whatever the peer says (CVE-2019-11478).
 *
 * References: RFC 6675 3, 4; RFC 6298 3 (Karn).
 */
#include <errno.h>

#include "tcp/tcp_int.h"

static struct tcp_rec *rec_of(struct list *n)
{
	return list_entry(n, struct tcp_rec, node);
}

/** tcp_rec_next() - the record behind @r, or NULL */
struct tcp_rec *tcp_rec_next(const struct tcp_conn *c, const struct tcp_rec *r)
{
	return r->node.next == &c->recs ? NULL : rec_of(r->node.next);
}

/** tcp_rec_prev() - the record before @r, or NULL */
struct tcp_rec *tcp_rec_prev(const struct tcp_conn *c, const struct tcp_rec *r)
{
	return r->node.prev == &c->recs ? NULL : rec_of(r->node.prev);
}

/** tcp_rec_first() - the record at SND.UNA, or NULL when nothing is outstanding */
struct tcp_rec *tcp_rec_first(const struct tcp_conn *c)
{
	return list_is_empty(&c->recs) ? NULL : rec_of(c->recs.next);
}

/** tcp_rec_last() - the record that ends at SND.NXT, or NULL when nothing is outstanding */
struct tcp_rec *tcp_rec_last(const struct tcp_conn *c)
{
	return list_is_empty(&c->recs) ? NULL : rec_of(c->recs.prev);
}

/* Take @len octets of @r out of the sums its flags put them into. */
static void sums_sub(struct tcp_conn *c, const struct tcp_rec *r, uint32_t len)
{
	if (r->flags & TCP_REC_SACKED)
		c->sacked_len -= len;
	if (r->flags & TCP_REC_LOST)
		c->lost_len -= len;
	if (r->flags & TCP_REC_RETRANS)
		c->retrans_len -= len;
}

static uint32_t segs_of(const struct tcp_rec *r)
{
	return (r->len + r->mss - 1) / r->mss;
}

/* @r is in the network, sent at @now. */
static void enter_network(struct tcp_conn *c, struct tcp_rec *r, struct mono now)
{
	r->tx = now;
	list_del(&r->tx_node);
	list_push(&c->by_tx, &r->tx_node);
}

/* What a record keeps, whatever becomes of it. */
static uint8_t lasting(const struct tcp_rec *r)
{
	return r->flags & (TCP_REC_EVER | TCP_REC_APP_LIMITED);
}

/* The hints leave @r for its neighbours, then it is gone; its sums were settled by the caller. */
static void rec_del(struct tcp_conn *c, struct tcp_rec *r)
{
	struct tcp_rec *next = tcp_rec_next(c, r);
	struct tcp_rec *prev = tcp_rec_prev(c, r);

	if (c->rtx_next == r)
		c->rtx_next = next;
	if (c->sack_hint == r)
		c->sack_hint = prev;
	list_del(&r->node);
	list_del(&r->tx_node);
	c->rec_cnt--;
	pool_put(&c->t->rec_pool, r);
}

/* May @len more octets sent now go into the last record? Same moment, nothing known of it yet. */
static bool can_extend(const struct tcp_conn *c, uint32_t len, struct mono now)
{
	const struct tcp_rec *last = tcp_rec_last(c);

	if (!last || (last->flags & ~TCP_REC_APP_LIMITED) || c->mtup.is_sending)
		return false;
	if (c->rec_cnt >= TCP_REC_MAX)
		return last->len <= INT32_MAX - len;
	return last->tx.ns == now.ns && last->mss == c->mss && last->len % last->mss == 0 &&
	       last->len + len <= TCP_SUPER_MAX;
}

/**
 * tcp_rtx_can_add() - is there room to record another transmission?
 * @c:		Connection
 * @now:	Time of the transmission
 *
 * Return: false when neither a record nor the last one can take it: then nothing may be sent now
 */
bool tcp_rtx_can_add(struct tcp_conn *c, struct mono now)
{
	const struct pool *p = &c->t->rec_pool;

	(void)now;
	if (c->rec_cnt < TCP_REC_MAX && p->out_cnt < p->cap)
		return true;
	return c->rec_cnt >= TCP_REC_MAX && can_extend(c, TCP_SUPER_MAX, now);
}

/**
 * tcp_rtx_add() - octets [@seq, @seq + @len) behind SND.NXT have just been sent for the first time
 * @c:		Connection; SND.NXT is the caller's to move
 * @seq:	First octet, where the last record ends
 * @len:	Octets, FIN included
 * @now:	Time of sending
 *
 * Without memory for a record the octets join the last one; tcp_rtx_can_add() was asked before.
 */
void tcp_rtx_add(struct tcp_conn *c, struct seq seq, uint32_t len, struct mono now)
{
	struct tcp_rec *r;

	if (can_extend(c, len, now)) {
		r = tcp_rec_last(c);
		r->len += len;
		enter_network(c, r, now);
		return;
	}
	r = pool_get(&c->t->rec_pool);
	if (!r) {
		/* malloc failed behind the pool's back: keep the cover whole, lose the timing */
		r = tcp_rec_last(c);
		NS_BUG_ON(!r);
		r->len += len;
		if (r->flags & TCP_REC_SACKED)
			c->sacked_len += len;
		if (r->flags & TCP_REC_LOST)
			c->lost_len += len;
		if (r->flags & TCP_REC_RETRANS)
			c->retrans_len += len;
		return;
	}
	*r = (struct tcp_rec){ .seq = seq,
			       .len = len,
			       .mss = (uint16_t)(c->mtup.is_sending ? len : c->mss) };
	list_push(&c->recs, &r->node);
	list_init(&r->tx_node);
	enter_network(c, r, now);
	tcp_rate_sent(c, r);
	c->rec_cnt++;
}

/**
 * tcp_rtx_split() - cut @r so that it keeps its first @len octets
 * @c:		Connection
 * @r:		Record
 * @len:	Octets, less than it has, more than none
 *
 * Return: false at the cap, @r as it was
 */
bool tcp_rtx_split(struct tcp_conn *c, struct tcp_rec *r, uint32_t len)
{
	struct tcp_rec *n;

	NS_BUG_ON(len == 0 || len >= r->len);
	if (c->rec_cnt >= TCP_REC_MAX)
		return false;
	n = pool_get(&c->t->rec_pool);
	if (!n)
		return false;
	*n = *r;
	n->seq = seq_add(r->seq, len);
	n->len = r->len - len;
	r->len = len;
	list_add_between(&n->node, &r->node, r->node.next);
	list_init(&n->tx_node);
	if (!list_is_empty(&r->tx_node))
		list_add_between(&n->tx_node, &r->tx_node, r->tx_node.next);
	c->rec_cnt++;
	return true;
}

/** tcp_rtx_merge_prev() - a SACKed record joins SACKed neighbours; @r may be gone afterwards */
void tcp_rtx_merge_prev(struct tcp_conn *c, struct tcp_rec *r)
{
	struct tcp_rec *prev = tcp_rec_prev(c, r);

	if (!prev || !(prev->flags & TCP_REC_SACKED) || !(r->flags & TCP_REC_SACKED) ||
	    prev->len > INT32_MAX - r->len)
		return;
	prev->len += r->len;
	prev->segs += r->segs;
	prev->flags |= r->flags & TCP_REC_EVER;
	rec_del(c, r);
}

/* A sample from octets that were sent once: the oldest of them, so that delayed ACKs count in full. */
static void sample(const struct tcp_rec *r, struct tcp_delivered *d, struct mono now)
{
	if (r->flags & TCP_REC_EVER)
		d->has_retrans = true;
	else if (!(r->flags & TCP_REC_SACKED) && d->rtt_ns == 0)
		d->rtt_ns = mono_since(now, r->tx) + 1;
}

/**
 * tcp_rtx_ack() - everything before @ack is with the peer
 * @c:		Connection; SND.UNA is the caller's to move
 * @ack:	New SND.UNA
 * @d:		Adds what was delivered, and a round-trip sample
 * @now:	Time of arrival
 */
void tcp_rtx_ack(struct tcp_conn *c, struct seq ack, struct tcp_delivered *d, struct mono now)
{
	struct tcp_rec *r;

	while ((r = tcp_rec_first(c)) != NULL && seq_lt(r->seq, ack)) {
		uint32_t len = (uint32_t)seq_diff(ack, r->seq);

		sample(r, d, now);
		if (len > r->len)
			len = r->len;
		if (!(r->flags & TCP_REC_SACKED)) {
			d->acked += len;
			c->meter.delivered += (len + r->mss - 1) / r->mss;
			tcp_rack_delivered(c, r, seq_add(r->seq, len), d, now);
			tcp_rate_delivered(c, r, seq_add(r->seq, len), d, now);
		}
		sums_sub(c, r, len);
		if (len == r->len) {
			c->sacked_segs -= r->segs;
			rec_del(c, r);
			continue;
		}
		r->seq = seq_add(r->seq, len);
		r->len -= len;
	}
	if (d->has_retrans) /* Karn: what filled a hole may have been waiting for it */
		d->rtt_ns = 0;
}

/**
 * tcp_rtx_next() - RFC 6675 5 NextSeg() rule 1: the first record that is lost and not sent again
 *
 * Return: the record, or NULL
 */
struct tcp_rec *tcp_rtx_next(struct tcp_conn *c)
{
	struct tcp_rec *r = c->rtx_next;

	if (c->lost_len == c->retrans_len) /* only what is lost is sent again */
		return NULL;
	while (r && (r->flags & (TCP_REC_LOST | TCP_REC_RETRANS)) != TCP_REC_LOST)
		r = tcp_rec_next(c, r);
	c->rtx_next = r;
	return r;
}

/** tcp_rtx_sent() - @r has just been sent again, whole */
void tcp_rtx_sent(struct tcp_conn *c, struct tcp_rec *r, struct mono now)
{
	if (!(r->flags & TCP_REC_RETRANS))
		c->retrans_len += r->len;
	r->flags |= TCP_REC_RETRANS | TCP_REC_EVER;
	enter_network(c, r, now);
	tcp_rate_sent(c, r);
	if (c->rtx_next == r)
		c->rtx_next = tcp_rec_next(c, r);
}

/** tcp_rtx_probed() - @r, not lost, has just been sent again as a tail loss probe: one copy counts in the pipe */
void tcp_rtx_probed(struct tcp_conn *c, struct tcp_rec *r, struct mono now)
{
	r->flags |= TCP_REC_EVER;
	enter_network(c, r, now);
	tcp_rate_sent(c, r);
}

/** tcp_rtx_mark_sacked() - the peer holds all of @r */
void tcp_rtx_mark_sacked(struct tcp_conn *c, struct tcp_rec *r)
{
	if (r->flags & TCP_REC_SACKED)
		return;
	sums_sub(c, r, r->len);
	r->flags = lasting(r) | TCP_REC_SACKED;
	c->sacked_len += r->len;
	r->segs = segs_of(r);
	c->sacked_segs += r->segs;
	c->meter.delivered += r->segs;
	list_del(&r->tx_node);
}

/** tcp_rtx_mark_lost() - @r has to be sent again, even if it already was */
void tcp_rtx_mark_lost(struct tcp_conn *c, struct tcp_rec *r)
{
	if (r->flags & TCP_REC_SACKED)
		return;
	if ((r->flags & (TCP_REC_LOST | TCP_REC_RETRANS)) != TCP_REC_LOST)
		c->rate.lost += r->len;
	sums_sub(c, r, r->len);
	r->flags = lasting(r) | TCP_REC_LOST;
	c->lost_len += r->len;
	list_del(&r->tx_node);
	if (!c->rtx_next || seq_lt(r->seq, c->rtx_next->seq))
		c->rtx_next = r;
}

/**
 * tcp_rtx_lose_all() - everything the peer has not SACKed is lost, retransmissions too
 * @c:		Connection
 * @is_timeout:	RFC 6675 5.1 / RFC 2018 8: when the first record was SACKed and yet not
 *		acknowledged the peer has reneged, and nothing it said counts any more
 * @since:	What was sent after this, the first record excepted, may still arrive (RFC 8985 6.3)
 */
void tcp_rtx_lose_all(struct tcp_conn *c, bool is_timeout, struct mono since)
{
	struct tcp_rec *first = tcp_rec_first(c);
	bool is_reneged = is_timeout && first && (first->flags & TCP_REC_SACKED);

	if (!tcp_has(c, TCP_F_SACK))
		c->sacked_len = 0;
	for (struct tcp_rec *r = first; r; r = tcp_rec_next(c, r)) {
		if (is_reneged && (r->flags & TCP_REC_SACKED)) {
			sums_sub(c, r, r->len);
			c->sacked_segs -= r->segs;
			r->segs = 0;
			r->flags &= (uint8_t)~TCP_REC_SACKED;
		} else if (r != first && mono_lt(since, r->tx)) {
			continue;
		}
		tcp_rtx_mark_lost(c, r);
	}
	c->rtx_next = first;
	if (is_reneged)
		c->sack_hint = NULL;
}

/** tcp_rtx_lose_head() - RFC 6582: the first segment is lost, no more is known without SACK */
void tcp_rtx_lose_head(struct tcp_conn *c)
{
	struct tcp_rec *r = tcp_rec_first(c);

	if (!r || (r->flags & (TCP_REC_LOST | TCP_REC_SACKED)))
		return;
	/* at the cap the whole record is sent again: wasteful, not wrong */
	if (r->len > c->mss)
		(void)tcp_rtx_split(c, r, c->mss);
	tcp_rtx_mark_lost(c, r);
	/* duplicates may have counted all of the flight as delivered: what is lost was not (linux tcp_limit_reno_sacked()) */
	if (!tcp_has(c, TCP_F_SACK))
		c->sacked_len = ns_min_u(c->sacked_len, tcp_flight(c) - c->lost_len);
}

/* Back among what is in the network, by its time of sending; @at: where the one before went. */
static void reenter_network(struct tcp_conn *c, struct tcp_rec *r, struct list **at)
{
	struct list *n = *at;

	while (n != &c->by_tx && mono_le(list_entry(n, struct tcp_rec, tx_node)->tx, r->tx))
		n = n->next;
	while (n->prev != &c->by_tx &&
	       mono_lt(r->tx, list_entry(n->prev, struct tcp_rec, tx_node)->tx))
		n = n->prev;
	list_add_between(&r->tx_node, n->prev, n);
	*at = &r->tx_node;
}

/** tcp_rtx_unmark_lost() - nothing was lost after all (RFC 4015): both copies of what was sent again are one in the pipe */
void tcp_rtx_unmark_lost(struct tcp_conn *c)
{
	struct list *at = c->by_tx.next;

	for (struct tcp_rec *r = tcp_rec_first(c); r && c->lost_len; r = tcp_rec_next(c, r)) {
		if (!(r->flags & TCP_REC_LOST))
			continue;
		sums_sub(c, r, r->len);
		r->flags &= (uint8_t) ~(TCP_REC_LOST | TCP_REC_RETRANS);
		if (list_is_empty(&r->tx_node))
			reenter_network(c, r, &at);
	}
	c->rtx_next = NULL;
}

/** tcp_rtx_clear() - forget everything that was sent */
void tcp_rtx_clear(struct tcp_conn *c)
{
	struct tcp_rec *r;

	while ((r = tcp_rec_first(c)) != NULL)
		rec_del(c, r);
	c->sacked_len = c->lost_len = c->retrans_len = c->sacked_segs = 0;
	c->rtx_next = c->sack_hint = NULL;
}
