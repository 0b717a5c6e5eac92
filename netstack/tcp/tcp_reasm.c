/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_reasm.c - octets beyond a hole
 *
 * Theory of operation
 *
 * What arrives behind a hole is kept in islands, ordered by sequence number, never overlapping. Small
 * payload is copied into dense memory of the island's own, so that a flood of one-octet segments costs
 * what it weighs; payload of a super-frame is taken by reference. A segment that touches the end of
 * an island joins it; one that touches only its beginning stays an island beside it. When the hole
 * closes, the islands' memory moves to the receive queue by reference.
 *
 * The islands that grew last are what the next acknowledgement reports first (RFC 2018 4), after a
 * duplicate if there was one (RFC 2883 4).
 *
 * Limits
 *
 * TCP_OOO_MAX islands and twice the receive buffer (plus a slack for chunk sizes) of true memory. At
 * the cap islands at the far end go (RFC 2018 8 allows to renege) unless the newcomer is the
 * farthest: then it is dropped.
 */
#include <errno.h>

#include "tcp/tcp_int.h"

static struct tcp_ooo *ooo_of(struct list *n)
{
	return list_entry(n, struct tcp_ooo, node);
}

static void recent_del(struct tcp_conn *c, const struct tcp_ooo *o)
{
	uint32_t to = 0;

	for (uint32_t i = 0; i < TCP_SACK_MAX; i++)
		if (c->recent[i] != o)
			c->recent[to++] = c->recent[i];
	while (to < TCP_SACK_MAX)
		c->recent[to++] = NULL;
}

static void recent_add(struct tcp_conn *c, struct tcp_ooo *o)
{
	if (c->recent[0] == o)
		return;
	recent_del(c, o);
	for (uint32_t i = TCP_SACK_MAX - 1; i > 0; i--)
		c->recent[i] = c->recent[i - 1];
	c->recent[0] = o;
	if (c->sack_news < UINT8_MAX)
		c->sack_news++;
}

static void island_free(struct tcp_conn *c, struct tcp_ooo *o)
{
	recent_del(c, o);
	c->island_charge -= o->b.charge;
	c->island_cnt--;
	bytes_clear(&o->b);
	list_del(&o->node);
	pool_put(&c->t->ooo_pool, o);
}

/* An empty island at @start behind @prev in the list, or NULL. */
static struct tcp_ooo *island_new(struct tcp_conn *c, struct seq start, struct list *prev)
{
	struct ns_core *core = c->t->core;
	struct tcp_ooo *o = pool_get(&c->t->ooo_pool);

	if (!o)
		return NULL;
	o->start = o->end = start;
	bytes_init(&o->b, &core->chunks, &core->slices);
	list_add_between(&o->node, prev, prev->next);
	c->island_cnt++;
	return o;
}

static int append_copy(struct bytes *b, const struct pkt *p)
{
	int r = p->len ? bytes_append(b, pkt_data(p), p->len) : 0;

	for (uint32_t i = 0; r == 0 && i < p->frag_cnt; i++)
		r = bytes_append(b, p->frag[i].chunk->data + p->frag[i].off, p->frag[i].len);
	return r;
}

/* All payload of @s to the end of @o; what found no memory is not in, and the peer will send it again. */
static bool island_append(struct tcp_conn *c, struct tcp_ooo *o, const struct tcp_seg *s)
{
	uint64_t charge = o->b.charge;
	int r = s->len < TCP_REF_MIN ? append_copy(&o->b, s->p) : bytes_append_pkt(&o->b, s->p);

	c->island_charge += o->b.charge - charge;
	o->end = seq_add(o->start, (uint32_t)bytes_len(&o->b));
	recent_add(c, o);
	return r == 0;
}

static uint64_t charge_max(const struct tcp_conn *c)
{
	return 2 * (uint64_t)c->rcvbuf + TCP_OOO_SLACK;
}

/* Room for one more piece at @start: far islands go first. */
static bool make_room(struct tcp_conn *c, struct seq start)
{
	while (c->island_cnt >= TCP_OOO_MAX || c->island_charge > charge_max(c)) {
		struct tcp_ooo *far = ooo_of(c->islands.prev);

		if (seq_le(far->start, start))
			return false;
		island_free(c, far);
	}
	return true;
}

/* The last island that begins at or before @x, or NULL: from the far end, where news usually is. */
static struct tcp_ooo *island_before(const struct tcp_conn *c, struct seq x)
{
	for (struct list *n = c->islands.prev; n != &c->islands; n = n->prev)
		if (seq_le(ooo_of(n)->start, x))
			return ooo_of(n);
	return NULL;
}

/**
 * tcp_reasm_dsack() - RFC 2883 4: report octets [@start, @end) as received twice
 *
 * An acknowledgement has one block for that: what adjoins the duplicate it reports already makes it longer, of
 * two that lie apart the first is reported (RFC 2883 4.2.3, linux tcp_dsack_extend()).
 */
void tcp_reasm_dsack(struct tcp_conn *c, struct seq start, struct seq end)
{
	struct tcp_sack_block *d = &c->dsack;

	if (!tcp_has(c, TCP_F_SACK) || !seq_lt(start, end))
		return;
	if (!tcp_has(c, TCP_F_DSACK))
		*d = (struct tcp_sack_block){ start, end };
	else if (seq_le(start, d->end) && seq_le(d->start, end))
		*d = (struct tcp_sack_block){ seq_min(d->start, start), seq_max(d->end, end) };
	c->flags |= TCP_F_DSACK;
}

/* Cut from @s what the islands around it hold. False: nothing is left. */
static bool cut_overlap(struct tcp_conn *c, struct tcp_seg *s, struct tcp_ooo *prev)
{
	struct list *n = prev ? prev->node.next : c->islands.next;
	struct seq end = seq_add(s->seq, s->len);

	if (prev && seq_lt(s->seq, prev->end)) {
		tcp_reasm_dsack(c, s->seq, seq_min(end, prev->end));
		if (seq_le(end, prev->end)) {
			recent_add(
				c,
				prev); /* RFC 2883 4: the second block has what the first is part of */
			return false;
		}
		tcp_seg_trim_front(s, (uint32_t)seq_diff(prev->end, s->seq));
	}
	while (n != &c->islands && seq_le(ooo_of(n)->end, end)) {
		struct tcp_ooo *o = ooo_of(n);

		n = n->next;
		tcp_reasm_dsack(c, o->start, o->end);
		island_free(c, o);
	}
	if (n != &c->islands && seq_lt(ooo_of(n)->start, end)) {
		tcp_reasm_dsack(c, ooo_of(n)->start, end);
		tcp_seg_trim_back(s, (uint32_t)seq_diff(end, ooo_of(n)->start));
	}
	return s->len > 0;
}

/**
 * tcp_reasm_add() - keep the payload of a segment that begins beyond RCV.NXT
 * @c:		Connection
 * @s:		Segment inside the window, without FIN; trimmed
 *
 * Return: DROP_NONE, or why it was not kept
 */
enum drop tcp_reasm_add(struct tcp_conn *c, struct tcp_seg *s)
{
	struct tcp_ooo *prev, *o;

	if (!make_room(c, s->seq))
		return DROP_TCP_OOO_LIMIT;
	prev = island_before(c, s->seq);
	if (!cut_overlap(c, s, prev))
		return DROP_TCP_DUPLICATE;
	o = prev;
	if (!prev || !seq_eq(prev->end, s->seq))
		o = island_new(c, s->seq, prev ? &prev->node : &c->islands);
	if (!o)
		return DROP_NO_MEMORY;
	stat_inc(tcp_stats(c->t), STAT_TCP_OOO_SEGS);
	if (island_append(c, o, s))
		return DROP_NONE;
	if (seq_eq(o->start, o->end))
		island_free(c, o);
	return DROP_NO_MEMORY;
}

/* Move what @o holds from RCV.NXT on to the receive queue. False: no memory, the rest stays. */
static bool island_pull(struct tcp_conn *c, struct tcp_ooo *o)
{
	uint64_t charge = o->b.charge;
	bool is_done = true;

	bytes_consume(&o->b, (uint64_t)seq_diff(c->rcv_nxt, o->start));
	list_for_each (n, &o->b.slices) {
		const struct bytes_slice *sl = list_entry(n, struct bytes_slice, node);

		if (bytes_append_ref(&c->rcvq, sl->chunk, sl->off, sl->len) < 0) {
			is_done = false;
			break;
		}
		c->rcv_nxt = seq_add(c->rcv_nxt, sl->len);
	}
	if (!is_done) {
		uint64_t gone = bytes_len(&o->b) - (uint64_t)seq_diff(o->end, c->rcv_nxt);

		bytes_consume(&o->b, gone);
		o->start = c->rcv_nxt;
		c->island_charge -= charge - o->b.charge;
		return false;
	}
	c->island_charge -= charge - o->b.charge;
	return true;
}

/** tcp_reasm_pull() - RCV.NXT moved: islands it reached join the receive queue, what it went over came twice */
void tcp_reasm_pull(struct tcp_conn *c)
{
	const struct seq reached = c->rcv_nxt;

	while (!list_is_empty(&c->islands)) {
		struct tcp_ooo *o = ooo_of(c->islands.next);

		if (seq_lt(c->rcv_nxt, o->start))
			return;
		tcp_reasm_dsack(c, o->start, seq_min(o->end, reached));
		if (seq_lt(c->rcv_nxt, o->end) && !island_pull(c, o))
			return;
		island_free(c, o);
	}
}

/** tcp_reasm_clear() - forget all islands */
void tcp_reasm_clear(struct tcp_conn *c)
{
	while (!list_is_empty(&c->islands))
		island_free(c, ooo_of(c->islands.next));
}

/* One run of octets may be several islands side by side: report it whole. */
static struct tcp_sack_block run_of(const struct tcp_conn *c, const struct tcp_ooo *o)
{
	const struct tcp_ooo *first = o, *last = o;

	while (first->node.prev != &c->islands &&
	       seq_eq(ooo_of(first->node.prev)->end, first->start))
		first = ooo_of(first->node.prev);
	while (last->node.next != &c->islands && seq_eq(ooo_of(last->node.next)->start, last->end))
		last = ooo_of(last->node.next);
	return (struct tcp_sack_block){ first->start, last->end };
}

static bool has_block(const struct tcp_opts *o, uint32_t from, const struct tcp_sack_block *b)
{
	for (uint32_t i = from; i < o->sack_cnt; i++)
		if (seq_eq(o->sack[i].start, b->start))
			return true;
	return false;
}

/**
 * tcp_reasm_blocks() - RFC 2018 4, RFC 2883 4: the SACK option of an acknowledgement
 * @c:		Connection with SACK
 * @o:		Options; blocks are added: a duplicate first, then the newest island, then older ones
 */
void tcp_reasm_blocks(struct tcp_conn *c, struct tcp_opts *o)
{
	uint32_t max = o->has_ts ? TCP_SACK_MAX - 1 : TCP_SACK_MAX;
	uint32_t first;

	if (tcp_has(c, TCP_F_DSACK))
		o->sack[o->sack_cnt++] = c->dsack;
	first = o->sack_cnt;
	for (uint32_t i = 0; i < TCP_SACK_MAX && c->recent[i] && o->sack_cnt < max; i++) {
		struct tcp_sack_block b = run_of(c, c->recent[i]);

		if (!has_block(o, first, &b))
			o->sack[o->sack_cnt++] = b;
	}
}
