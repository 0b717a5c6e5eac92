/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_cork.c - one datagram of several sends: UDP_CORK and MSG_MORE
 *
 * The first send says where to and how, the others add octets alone; the one that neither has MSG_MORE nor finds the
 * socket corked, or udp_flush(), lets the datagram go. What makes it too long is refused with -EMSGSIZE,
 * and what was gathered before is lost with it. An echo socket knows none of this.
 *
 * References: linux v6.1 net/ipv4/udp.c udp_sendmsg(), net/ipv4/ip_output.c __ip_append_data()
 */
#include <errno.h>
#include <string.h>

#include "udp/udp_int.h"

/** udp_gathered_drop() - nothing waits for more any longer */
void udp_gathered_drop(struct udp_sock *s)
{
	struct udp_gathered *g = &s->gathered;

	for (uint32_t i = 0; i < g->chunk_cnt; i++)
		chunk_unref(g->chunks[i]);
	s->udp->chunk_cnt -= g->chunk_cnt;
	memset(g, 0, sizeof(*g));
}

/* @v behind what is there. Return: 0 or -ENOBUFS */
static int append(struct udp_sock *s, struct ns_iov v)
{
	struct udp_gathered *g = &s->gathered;
	struct udp *u = s->udp;

	while (v.len) {
		uint32_t idx = g->len / CHUNK_SMALL, at = g->len % CHUNK_SMALL;
		uint32_t room = CHUNK_SMALL - at;
		uint32_t n = v.len < room ? (uint32_t)v.len : room;

		if (idx == g->chunk_cnt) {
			struct chunk *c = u->chunk_cnt < u->chunk_cap
						  ? chunk_new(&u->core->chunks, CHUNK_SMALL)
						  : NULL;

			if (!c)
				return -ENOBUFS;
			g->chunks[g->chunk_cnt++] = c;
			u->chunk_cnt++;
		}
		memcpy(g->chunks[idx]->data + at, v.base, n);
		v = (struct ns_iov){ (uint8_t *)v.base + n, v.len - n };
		g->len += n;
	}
	return 0;
}

static int push(struct udp_sock *s, struct mono now)
{
	struct udp_gathered *g = &s->gathered;
	struct ns_iov iov[UDP_CHUNKS];
	uint32_t cnt = 0;

	for (uint32_t off = 0; off < g->len; off += CHUNK_SMALL, cnt++)
		iov[cnt] = (struct ns_iov){ g->chunks[cnt]->data,
					    ns_min_u(g->len - off, CHUNK_SMALL) };
	return udp_send_one(s, &g->tx, iov, cnt, now);
}

/** udp_check() - dgram_ops.check; as a send, it ends what is gathered when it refuses more of it */
int udp_check(void *c, const struct ns_dgram_tx *tx, uint32_t len, struct mono now)
{
	struct udp_sock *s = c;
	struct udp_gathered *g = &s->gathered;
	int r;

	if (!g->is_pending)
		return udp_check_one(s, tx, len, now);
	if (len > UINT16_MAX)
		return -EMSGSIZE;
	r = udp_check_one(s, &g->tx, g->len + len, now);
	if (r < 0)
		udp_gathered_drop(s);
	return r;
}

/** udp_send() - dgram_ops.send */
int udp_send(void *c, const struct ns_dgram_tx *tx, const struct ns_iov *iov, uint32_t iov_cnt,
	     struct mono now)
{
	struct udp_sock *s = c;
	struct udp_gathered *g = &s->gathered;
	bool has_more = tx->more || s->is_corked;
	uint32_t before = g->len;
	size_t total = 0;
	int r;

	if (s->udp->is_ping || (!has_more && !g->is_pending))
		return udp_send_one(s, tx, iov, iov_cnt, now);
	for (uint32_t i = 0; i < iov_cnt; i++)
		total += iov[i].len;
	if (total > UINT16_MAX)
		return -EMSGSIZE;
	r = udp_check(s, tx, (uint32_t)total, now);
	if (r < 0)
		return r;
	if (!g->is_pending) {
		g->is_pending = true;
		g->tx = *tx;
		if (!tx->has_to) /* the peer of now, whom connect() may change */
			g->tx.to = s->remote;
		g->tx.has_to = true;
	}
	for (uint32_t i = 0; r == 0 && i < iov_cnt; i++)
		r = append(s, iov[i]);
	if (r == 0 && has_more)
		return 0;
	if (r == 0)
		r = push(s, now);
	if (r == -EAGAIN)
		g->len = before; /* the caller comes again with its octets */
	else
		udp_gathered_drop(s);
	return r;
}

/** udp_flush() - dgram_ops.flush: what the link has no room for is lost, as at any full queue */
void udp_flush(void *c, struct mono now)
{
	struct udp_sock *s = c;

	if (!s->gathered.is_pending)
		return;
	(void)!push(s, now);
	list_del(&s->starved);
	udp_gathered_drop(s);
}
