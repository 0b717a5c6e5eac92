/* SPDX-License-Identifier: Apache-2.0 */
/* frag_out.c - a packet sent in fragments: RFC 791 3.2, RFC 8200 4.5 */
#include "net/frag_out.h"

#include <errno.h>
#include <string.h>

#include "net/net_int.h"

enum {
	UNIT = 8, /* octets: all pieces but the last are a multiple */
};

/* Append @len octets of @from from @off (octets from its head) on; payload by reference. */
static int add_slice(struct pkt *to, const struct pkt *from, uint32_t off, uint32_t len)
{
	uint32_t at = 0, n;
	int r = 0;

	if (off < from->len) {
		n = ns_min_u(len, from->len - off);
		if (from->lin)
			r = pkt_add_frag(to, from->lin, from->head + off, n);
		else
			memcpy(pkt_push(to, n), pkt_data(from) + off, n);
		off += n;
		len -= n;
	}
	at = from->len;
	for (uint32_t i = 0; r == 0 && len > 0 && i < from->frag_cnt; i++) {
		const struct pkt_frag *f = &from->frag[i];

		if (off < at + f->len) {
			n = ns_min_u(len, at + f->len - off);
			r = pkt_add_frag(to, f->chunk, f->off + (off - at), n);
			off += n;
			len -= n;
		}
		at += f->len;
	}
	return r;
}

/* Octets @off to @off + @len of @p as one piece, or NULL. */
static struct pkt *piece_new(struct net *n, const struct pkt *p, uint32_t off, uint32_t len)
{
	struct pkt *q = pkt_new_tx(&n->core->pkts);

	if (q && add_slice(q, p, off, len) < 0) {
		pkt_free(q);
		return NULL;
	}
	if (q)
		q->csum = PKT_CSUM_FULL;
	return q;
}

/**
 * frag_output() - send @p in as many pieces as its path wants
 * @n:		IP layer
 * @ops:	Family
 * @j:		Headers and path
 * @p:		Packet, its head at the transport header, longer than the path takes in one piece; its
 *		checksum complete: no device can do it over several packets. Consumes @p
 * @now:	Time
 *
 * Return: 0, -ENOBUFS, or what the neighbour table or the link say; the rest is not sent then
 */
int frag_output(struct net *n, const struct frag_out_ops *ops, const struct frag_job *j,
		struct pkt *p, struct mono now)
{
	auto_free(pkt) mine = p;
	uint32_t len = pkt_len(mine), step = (j->d->mtu - ops->hdr_len) & ~(UNIT - 1u);
	int r = 0;

	NS_BUG_ON(mine->csum == PKT_CSUM_PARTIAL || step == 0);
	stat_inc(n->core->stats, STAT_IP_FRAGMENTED);
	for (uint32_t off = 0; r == 0 && off < len; off += step) {
		uint32_t part = ns_min_u(step, len - off);
		struct pkt *q = piece_new(n, mine, off, part);

		if (!q)
			return -ENOBUFS;
		ops->push_header(q, j, off, off + part == len);
		stat_inc(n->core->stats, STAT_IP_FRAGS_OUT);
		r = ops->xmit(n, j->d, q, now);
	}
	return r;
}
