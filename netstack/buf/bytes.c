/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - a stream of octets as slices of chunks
 *
 * Theory of operation
 *
 * The slices lie in the list in stream order without gaps: each begins where the one before ends, the
 * first at or before @head (it is cut to @head), the last ends at @tail. Between a reservation and
 * its commit there are empty slices behind them, the room promised to the caller.
 *
 * A chunk that this stream allocated may be read by packets in flight, but only this stream appends
 * to it, so the room behind its last slice may be filled while others hold references. A chunk taken
 * by reference (a received frame, the loop link's sender) is never written.
 *
 * A stream that runs empty gives all its memory back: the pool's free list hands the same warm
 * chunk out again, so the next octets start at the beginning of one without being kept for it.
 *
 * Ownership: a slice holds one reference to its chunk.
 *
 * Limits: none of its own; chunks and slices come from capped pools, and running out is -ENOMEM (or
 * no iovec) with the stream as it was.
 */
#include "buf/bytes.h"

#include <errno.h>
#include <string.h>

enum {
	COPY_BREAK = 512, /* octets: below it a copy is cheaper than to hold a frame */
};

static struct bytes_slice *slice_of(struct list *n)
{
	return list_entry(n, struct bytes_slice, node);
}

static uint64_t slice_end(const struct bytes_slice *s)
{
	return s->start + s->len;
}

static struct bytes_slice *last_slice(const struct bytes *b)
{
	return list_is_empty(&b->slices) ? NULL : slice_of(b->slices.prev);
}

static uint32_t slice_room(const struct bytes_slice *s)
{
	return s->is_own ? s->chunk->size - s->off - s->len : 0;
}

/* Takes over the caller's reference to @c, on failure too. */
static struct bytes_slice *slice_add(struct bytes *b, struct chunk *c, uint32_t off, uint32_t len,
				     bool is_own)
{
	struct bytes_slice *s = pool_get(b->slice_pool);

	if (!s) {
		chunk_unref(c);
		return NULL;
	}
	*s = (struct bytes_slice){
		.chunk = c, .off = off, .len = len, .start = b->tail, .is_own = is_own
	};
	list_push(&b->slices, &s->node);
	b->charge += c->size;
	return s;
}

static void slice_del(struct bytes *b, struct bytes_slice *s)
{
	if (b->cursor == s)
		b->cursor = NULL;
	list_del(&s->node);
	b->charge -= s->chunk->size;
	chunk_unref(s->chunk);
	pool_put(b->slice_pool, s);
}

/** bytes_init() - an empty stream at offset 0; the pools outlive it */
void bytes_init(struct bytes *b, struct chunk_pools *chunks, struct pool *slice_pool)
{
	*b = (struct bytes){ .chunks = chunks, .slice_pool = slice_pool };
	list_init(&b->slices);
}

/** bytes_clear() - drop every octet; offsets go on from @tail */
void bytes_clear(struct bytes *b)
{
	list_for_each_safe (n, &b->slices)
		slice_del(b, slice_of(n));
	b->head = b->tail;
}

/* Slices behind @tail hold nothing: an unused reservation, or what a failed append had added. */
static void drop_behind(struct bytes *b, uint64_t tail)
{
	struct bytes_slice *s;

	while ((s = last_slice(b)) != NULL && (s->len == 0 || s->start >= tail))
		slice_del(b, s);
	if (s && slice_end(s) > tail)
		s->len = (uint32_t)(tail - s->start);
	b->tail = tail;
}

/* A fresh chunk as an empty slice: a small one for the first octets, large ones once there is a stream. */
static struct bytes_slice *slice_grow(struct bytes *b, bool is_first)
{
	struct chunk *c = NULL;

	if (!is_first)
		c = chunk_new(b->chunks, CHUNK_LARGE);
	if (!c)
		c = chunk_new(b->chunks, CHUNK_SMALL);
	return c ? slice_add(b, c, 0, 0, true) : NULL;
}

uint32_t bytes_reserve(struct bytes *b, uint32_t want, struct ns_iov *iov, uint32_t iov_cnt)
{
	struct bytes_slice *s;
	uint32_t n = 0;

	drop_behind(b, b->tail);
	s = last_slice(b);
	if (s && slice_room(s) == 0)
		s = NULL;
	while (n < iov_cnt && want > 0) {
		uint32_t len;

		if (!s)
			s = slice_grow(b, list_is_empty(&b->slices));
		if (!s)
			break;
		len = ns_min_u(want, slice_room(s));
		iov[n++] = (struct ns_iov){ s->chunk->data + s->off + s->len, len };
		want -= len;
		s = NULL;
	}
	return n;
}

void bytes_commit(struct bytes *b, uint32_t len)
{
	struct list *n = &b->slices;

	/* The first slice with a promise is the last filled one, or the first empty one. */
	while (n->prev != &b->slices && slice_of(n->prev)->len == 0)
		n = n->prev;
	if (n->prev != &b->slices && slice_room(slice_of(n->prev)) > 0)
		n = n->prev;
	for (; len > 0; n = n->next) {
		struct bytes_slice *s;
		uint32_t used;

		NS_BUG_ON(n == &b->slices); /* more than was reserved */
		s = slice_of(n);
		used = ns_min_u(len, slice_room(s));
		if (s->len == 0)
			s->start = b->tail;
		s->len += used;
		b->tail += used;
		len -= used;
	}
	drop_behind(b, b->tail);
}

int bytes_append(struct bytes *b, const void *data, uint32_t len)
{
	const uint8_t *from = data;
	uint64_t tail = b->tail;

	drop_behind(b, tail);
	while (len > 0) {
		struct bytes_slice *s = last_slice(b);
		uint32_t n;

		if (!s || slice_room(s) == 0)
			s = slice_grow(b, len <= CHUNK_SMALL);
		if (!s) {
			drop_behind(b, tail);
			return -ENOMEM;
		}
		n = ns_min_u(len, slice_room(s));
		memcpy(s->chunk->data + s->off + s->len, from, n);
		s->len += n;
		b->tail += n;
		from += n;
		len -= n;
	}
	return 0;
}

int bytes_append_ref(struct bytes *b, struct chunk *c, uint32_t off, uint32_t len)
{
	struct bytes_slice *s;

	NS_BUG_ON(off > c->size || len > c->size - off);
	if (len == 0)
		return 0;
	drop_behind(b, b->tail);
	s = last_slice(b);
	if (s && s->chunk == c && !s->is_own && s->off + s->len == off) {
		s->len += len;
	} else if (!slice_add(b, chunk_ref(c), off, len, false)) {
		return -ENOMEM;
	}
	b->tail += len;
	return 0;
}

static int append_all(struct bytes *b, const struct pkt *p)
{
	int r = 0;

	if (p->len && p->lin)
		r = bytes_append_ref(b, p->lin, p->head, p->len);
	else if (p->len)
		r = bytes_append(b, pkt_data(p), p->len);
	for (uint32_t i = 0; r == 0 && i < p->frag_cnt; i++)
		r = bytes_append_ref(b, p->frag[i].chunk, p->frag[i].off, p->frag[i].len);
	return r;
}

int bytes_append_pkt(struct bytes *b, const struct pkt *p)
{
	uint64_t tail = b->tail;
	uint8_t small[COPY_BREAK];
	int r;

	/*
	 * What finds the stream empty is read at once and needs no copy. What has to wait behind
	 * other octets would hold a whole frame's memory for a few octets.
	 */
	if (pkt_len(p) <= sizeof(small) && bytes_len(b) > 0) {
		NS_BUG_ON(!pkt_copy_out(p, 0, small, pkt_len(p)));
		return bytes_append(b, small, pkt_len(p));
	}
	r = append_all(b, p);
	if (r < 0)
		drop_behind(b, tail);
	return r;
}

/* The slice that holds @off (head <= off < tail), from the nearest known place. */
static struct bytes_slice *slice_at(struct bytes *b, uint64_t off)
{
	struct bytes_slice *s = b->cursor;

	if (!s) {
		bool is_near_head = off - b->head < b->tail - off;

		s = slice_of(is_near_head ? b->slices.next : b->slices.prev);
	}
	while (off < s->start)
		s = slice_of(s->node.prev);
	while (off >= slice_end(s))
		s = slice_of(s->node.next);
	b->cursor = s;
	return s;
}

uint32_t bytes_to_pkt(struct bytes *b, uint64_t off, uint32_t len, struct pkt *p)
{
	uint32_t done = 0;

	NS_BUG_ON(off < b->head || off > b->tail || len > b->tail - off);
	while (done < len) {
		struct bytes_slice *s = slice_at(b, off + done);
		uint32_t skip = (uint32_t)(off + done - s->start);
		uint32_t n = ns_min_u(len - done, s->len - skip);

		if (pkt_add_frag(p, s->chunk, s->off + skip, n) < 0)
			break;
		done += n;
	}
	return done;
}

uint32_t bytes_peek(const struct bytes *b, struct ns_iov *iov, uint32_t iov_cnt)
{
	uint32_t n = 0;

	list_for_each (it, &b->slices) {
		const struct bytes_slice *s = slice_of(it);

		if (n == iov_cnt || s->start >= b->tail)
			break;
		iov[n++] = (struct ns_iov){ s->chunk->data + s->off, s->len };
	}
	return n;
}

void bytes_consume(struct bytes *b, uint64_t len)
{
	if (len > bytes_len(b))
		len = bytes_len(b);
	b->head += len;
	while (!list_is_empty(&b->slices)) {
		struct bytes_slice *s = slice_of(b->slices.next);
		uint32_t cut;

		if (slice_end(s) <= b->head) {
			slice_del(b, s);
			continue;
		}
		if (s->start >= b->head)
			break;
		cut = (uint32_t)(b->head - s->start);
		s->off += cut;
		s->len -= cut;
		s->start = b->head;
		break;
	}
}

static bool is_sparse(const struct bytes_slice *s)
{
	return s->len < s->chunk->size / 2;
}

/* Move @s's octets behind those of @to, an own slice just before it. False: no room for all of them. */
static bool slice_merge(struct bytes *b, struct bytes_slice *to, struct bytes_slice *s)
{
	if (slice_room(to) < s->len)
		return false;
	memcpy(to->chunk->data + to->off + to->len, s->chunk->data + s->off, s->len);
	to->len += s->len;
	slice_del(b, s);
	return true;
}

/* Put the octets of the sparse slice @s into a fresh chunk; it stays where it was in the list. */
static bool slice_move(struct bytes *b, struct bytes_slice *s)
{
	struct chunk *c = chunk_new(b->chunks, CHUNK_LARGE);

	if (!c)
		return false;
	memcpy(c->data, s->chunk->data + s->off, s->len);
	b->charge = b->charge - s->chunk->size + c->size;
	chunk_unref(s->chunk);
	s->chunk = c;
	s->off = 0;
	s->is_own = true;
	return true;
}

void bytes_compact(struct bytes *b)
{
	struct bytes_slice *dense = NULL;

	if (bytes_len(b) == 0)
		return;
	if (b->dense_until < b->head)
		b->dense_until = b->head;
	if (b->dense_until >= b->tail)
		return;
	for (struct list *n = &slice_at(b, b->dense_until)->node, *next; n != &b->slices;
	     n = next) {
		struct bytes_slice *s = slice_of(n);

		next = n->next;
		if (is_sparse(s) && dense && slice_merge(b, dense, s)) {
			b->dense_until = dense->start;
			continue;
		}
		b->dense_until = s->start; /* what may still grow is looked at again next time */
		/* a lone sparse slice gains nothing by moving: only a run of them does */
		if (is_sparse(s) && !s->is_own && next != &b->slices && is_sparse(slice_of(next)) &&
		    !slice_move(b, s))
			return;
		dense = s->is_own ? s : NULL;
	}
}
