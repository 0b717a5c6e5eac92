/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pkt.c - the verbs that touch a frame's bounds
 *
 * Theory of operation: see pkt.h. Everything a peer can cause is answered with NULL, false or an
 * errno; what only our own arithmetic can cause traps.
 */
#include "buf/pkt.h"

#include <errno.h>
#include <string.h>

/* All but the frags and the inline area, which are only read up to frag_cnt and len. */
static struct pkt *pkt_new(struct pool *pkts)
{
	struct pkt *p = pool_get(pkts);

	if (!p)
		return NULL;
	memset(p, 0, offsetof(struct pkt, frag));
	list_init(&p->node);
	p->pool = pkts;
	return p;
}

struct pkt *pkt_new_tx(struct pool *pkts)
{
	struct pkt *p = pkt_new(pkts);

	if (!p)
		return NULL;
	p->buf = p->inl;
	p->cap = p->head = PKT_INLINE_SIZE;
	return p;
}

struct pkt *pkt_new_rx(struct pool *pkts, struct chunk_pools *cp, uint32_t headroom)
{
	struct pkt *p;

	NS_BUG_ON(headroom > CHUNK_RX);
	p = pkt_new(pkts);
	if (!p)
		return NULL;
	p->lin = chunk_new(cp, CHUNK_RX);
	if (!p->lin) {
		pool_put(pkts, p);
		return NULL;
	}
	p->buf = p->lin->data;
	p->cap = CHUNK_RX;
	p->head = headroom;
	return p;
}

void pkt_free(struct pkt *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->frag_cnt; i++)
		chunk_unref(p->frag[i].chunk);
	chunk_unref(p->lin);
	pool_put(p->pool, p);
}

void *pkt_push(struct pkt *p, uint32_t len)
{
	NS_BUG_ON(len > p->head);
	p->head -= len;
	p->len += len;
	return p->buf + p->head;
}

void *pkt_pull(struct pkt *p, uint32_t len)
{
	uint8_t *at = pkt_data(p);

	if (ns_unlikely(len > p->len))
		return NULL;
	p->head += len;
	p->len -= len;
	return at;
}

void *pkt_put(struct pkt *p, uint32_t len)
{
	uint32_t end = p->head + p->len;

	if (len > p->cap - end)
		return NULL;
	p->len += len;
	return p->buf + end;
}

void pkt_trim(struct pkt *p, uint32_t len)
{
	while (p->frag_cnt && pkt_len(p) > len) {
		struct pkt_frag *f = &p->frag[p->frag_cnt - 1];
		uint32_t over = pkt_len(p) - len;

		if (over < f->len) {
			f->len -= over;
			p->frag_len -= over;
			return;
		}
		p->frag_len -= f->len;
		p->frag_cnt--;
		chunk_unref(f->chunk);
	}
	if (p->len > len)
		p->len = len;
}

void pkt_trim_front(struct pkt *p, uint32_t len)
{
	uint32_t n = ns_min_u(len, p->len);
	uint32_t gone = 0;

	p->head += n;
	p->len -= n;
	len -= n;
	for (; len > 0 && gone < p->frag_cnt; gone++) {
		struct pkt_frag *f = &p->frag[gone];

		n = ns_min_u(len, f->len);
		f->off += n;
		f->len -= n;
		p->frag_len -= n;
		len -= n;
		if (f->len > 0)
			break;
		chunk_unref(f->chunk);
	}
	if (gone) {
		p->frag_cnt = (uint8_t)(p->frag_cnt - gone);
		memmove(p->frag, p->frag + gone, p->frag_cnt * sizeof(p->frag[0]));
	}
}

int pkt_add_frag(struct pkt *p, struct chunk *c, uint32_t off, uint32_t len)
{
	NS_BUG_ON(off > c->size || len > c->size - off);
	if (p->frag_cnt == PKT_FRAG_MAX)
		return -ENOSPC;
	p->frag[p->frag_cnt++] = (struct pkt_frag){ .chunk = chunk_ref(c), .off = off, .len = len };
	p->frag_len += len;
	return 0;
}

bool pkt_copy_out(const struct pkt *p, uint32_t off, void *to, uint32_t len)
{
	uint8_t *out = to;

	if (off > pkt_len(p) || len > pkt_len(p) - off)
		return false;
	if (off < p->len) {
		uint32_t n = ns_min_u(len, p->len - off);

		memcpy(out, pkt_data(p) + off, n);
		out += n;
		len -= n;
		off = 0;
	} else {
		off -= p->len;
	}
	for (uint32_t i = 0; len > 0; i++) {
		const struct pkt_frag *f = &p->frag[i];
		uint32_t n;

		if (off >= f->len) {
			off -= f->len;
			continue;
		}
		n = ns_min_u(len, f->len - off);
		memcpy(out, f->chunk->data + f->off + off, n);
		out += n;
		len -= n;
		off = 0;
	}
	return true;
}

/** pktq_init() - an empty queue */
void pktq_init(struct pktq *q)
{
	list_init(&q->head);
	q->cnt = 0;
}

void pktq_push(struct pktq *q, struct pkt *p)
{
	list_push(&q->head, &p->node);
	q->cnt++;
}

/** pktq_pop() - the oldest packet, now the caller's, or NULL */
struct pkt *pktq_pop(struct pktq *q)
{
	struct list *n = list_pop(&q->head);

	if (!n)
		return NULL;
	q->cnt--;
	return list_entry(n, struct pkt, node);
}

/** pktq_clear() - free every packet */
void pktq_clear(struct pktq *q)
{
	struct pkt *p;

	while ((p = pktq_pop(q)) != NULL)
		pkt_free(p);
}
