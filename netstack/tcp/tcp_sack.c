/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_sack.c - the sender's side of SACK: blocks into records
 *
 * Theory of operation
 *
 * A block marks the records it covers whole; a record it covers in part is split at the boundaries of its
 * wire segments, never inside one: a peer that SACKs odd octets gains nothing and costs nothing.
 * Blocks that were in the last acknowledgement too are skipped, which is most of them.
 *
 * What that says about the rest, whether it is lost, is for tcp_rack.c. D-SACK (RFC 2883) is no news
 * of this kind; it tells that something was sent again in vain.
 *
 * Limits: at most four blocks, each walks from a hint; see tcp_rtx.c for the cap of the walk.
 *
 * References: RFC 2018 4, 5; RFC 2883 4; RFC 6675 5.
 */
#include "tcp/tcp_int.h"

/* RFC 2883 4: the first block tells of a duplicate when it is below the ACK or inside the second. */
static bool is_dsack(const struct tcp_seg *s)
{
	const struct tcp_sack_block *b = s->opt.sack;

	if (seq_lt(b[0].start, s->ack))
		return true;
	return s->opt.sack_cnt > 1 && seq_le(b[1].start, b[0].start) && seq_le(b[0].end, b[1].end);
}

/* Plausible: not empty, not acknowledged, nothing we have not sent. */
static bool is_sane(const struct tcp_conn *c, const struct tcp_sack_block *b)
{
	return seq_lt(b->start, b->end) && seq_le(c->snd_una, b->start) &&
	       seq_lt(c->snd_una, b->end) && seq_le(b->end, c->snd_nxt);
}

static bool was_seen(const struct tcp_conn *c, const struct tcp_sack_block *b)
{
	for (uint32_t i = 0; i < TCP_SACK_MAX; i++)
		if (seq_eq(c->sack_seen[i].start, b->start) && seq_eq(c->sack_seen[i].end, b->end))
			return true;
	return false;
}

/* The record that holds @x: from the hint, which is where the last block ended. */
static struct tcp_rec *rec_at(struct tcp_conn *c, struct seq x)
{
	struct tcp_rec *r = c->sack_hint ? c->sack_hint : tcp_rec_first(c);

	while (r && seq_lt(x, r->seq))
		r = tcp_rec_prev(c, r);
	while (r && seq_le(seq_add(r->seq, r->len), x))
		r = tcp_rec_next(c, r);
	return r;
}

/*
 * The part of @r inside @b, cut out at segment boundaries. NULL: no whole segment of it is, or it
 * could not be split.
 */
static struct tcp_rec *carve(struct tcp_conn *c, struct tcp_rec *r, const struct tcp_sack_block *b)
{
	uint32_t from = seq_lt(r->seq, b->start) ? (uint32_t)seq_diff(b->start, r->seq) : 0;
	uint32_t to = (uint32_t)seq_diff(b->end, r->seq);

	from = (from + r->mss - 1) / r->mss * r->mss;
	to = to >= r->len ? r->len : to / r->mss * r->mss;
	if (from >= to)
		return NULL;
	if (to < r->len && !tcp_rtx_split(c, r, to))
		return NULL;
	if (from == 0)
		return r;
	return tcp_rtx_split(c, r, from) ? tcp_rec_next(c, r) : NULL;
}

static void block_in(struct tcp_conn *c, const struct tcp_sack_block *b, struct tcp_delivered *d,
		     struct mono now)
{
	struct tcp_rec *r = rec_at(c, b->start);

	while (r && seq_lt(r->seq, b->end)) {
		struct tcp_rec *next, *part = NULL;

		if (!(r->flags & TCP_REC_SACKED))
			part = carve(c, r, b);
		if (part) {
			d->sacked += part->len;
			tcp_rack_delivered(c, part, seq_add(part->seq, part->len), d, now);
			tcp_rate_delivered(c, part, seq_add(part->seq, part->len), d, now);
			if (!(part->flags & TCP_REC_EVER) && d->rtt_ns == 0 && !d->is_una_moved)
				d->rtt_ns = mono_since(now, part->tx) + 1;
			tcp_rtx_mark_sacked(c, part);
			r = part;
		}
		c->sack_hint = r;
		next = tcp_rec_next(c, r);
		tcp_rtx_merge_prev(c, r);
		r = next;
	}
	/* the record behind may be SACKed as well: one run, one record */
	if (r && (r->flags & TCP_REC_SACKED))
		tcp_rtx_merge_prev(c, r);
}

/*
 * RFC 2883 4: the peer has a segment twice. Only what we did send twice counts: a peer cannot say more (RFC 3708 3).
 * What was SACKed before the second copy left was late, not lost: reordering.
 */
static void dsack_in(struct tcp_conn *c, struct tcp_delivered *d)
{
	const struct tcp_sack_block *b = &d->dsack;
	const struct tcp_rec *r;
	uint32_t len, segs;

	if (!seq_lt(b->start, b->end))
		return;
	len = (uint32_t)seq_diff(b->end, b->start);
	if (len > c->snd_wnd_max) /* linux tcp_dsack_seen(): more than was ever in flight */
		return;
	segs = len > c->mss ? (len + c->mss - 1) / c->mss : 1;
	c->meter.dsack_dups += segs;
	if (c->meter.dsack_dups <= c->meter.total_retrans)
		c->meter.delivered += segs;
	if (!is_sane(c, b))
		return;
	r = rec_at(c, b->start);
	if (r && (r->flags & TCP_REC_SACKED) && (r->flags & TCP_REC_EVER) &&
	    seq_lt(b->start, c->rack.fack)) {
		d->reord = d->has_reord ? seq_min(d->reord, b->start) : b->start;
		d->has_reord = true;
	}
}

/**
 * tcp_sack_reordered() - how far out of order did octets arrive?
 * @c:		Connection with SACK; the scoreboard is up to date
 * @d:		An acknowledgement that filled a hole with what was sent once only
 *
 * Linux's metric: segments from there to the highest octet delivered (tcp_check_sack_reordering()).
 */
void tcp_sack_reordered(struct tcp_conn *c, const struct tcp_delivered *d)
{
	uint32_t segs;

	if (!seq_lt(d->reord, c->rack.fack))
		return;
	segs = ((uint32_t)seq_diff(c->rack.fack, d->reord) + c->mss - 1) / c->mss;
	c->reordering = ns_max_u(c->reordering, ns_min_u(segs, TCP_REORDERING_MAX));
	c->meter.reord_seen++;
}

/**
 * tcp_sack_in() - RFC 6675 5 (A): update the scoreboard
 * @c:		Connection with SACK; SND.UNA is already the segment's, or beyond it
 * @s:		Segment; one that was overtaken tells of octets all the same
 * @d:		Adds what was delivered
 * @now:	Time of arrival
 */
void tcp_sack_in(struct tcp_conn *c, const struct tcp_seg *s, struct tcp_delivered *d,
		 struct mono now)
{
	uint32_t first = 0;

	if (s->opt.sack_cnt == 0)
		return;
	stat_inc(tcp_stats(c->t), STAT_TCP_SACK_RECV);
	d->has_sack = true;
	if (is_dsack(s)) {
		d->has_dsack = true;
		d->dsack = s->opt.sack[0];
		first = 1;
		dsack_in(c, d);
	}
	for (uint32_t i = first; i < s->opt.sack_cnt; i++)
		if (is_sane(c, &s->opt.sack[i]) && !was_seen(c, &s->opt.sack[i]))
			block_in(c, &s->opt.sack[i], d, now);
	for (uint32_t i = 0; i < TCP_SACK_MAX; i++)
		c->sack_seen[i] = i < s->opt.sack_cnt ? s->opt.sack[i]
						      : (struct tcp_sack_block){ { 0 }, { 0 } };
}
