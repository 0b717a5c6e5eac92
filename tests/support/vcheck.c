/* SPDX-License-Identifier: Apache-2.0 */
/* vcheck.c - what must hold of every segment on a wire; see vcheck.h */
#include "support/vcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TABLE = 65536, /* connections: by the larger port */
};

#define CLOCK_NS (UINT64_C(20) * 86400 * NS_PER_SEC)

/* One side of a connection, as its own segments show it. */
struct side {
	bool is_known, has_acked, has_ts;
	uint32_t seq_end; /* one past the furthest sequence number sent */
	uint32_t ack;     /* last acknowledgement sent */
	uint32_t edge;    /* furthest right edge offered */
	uint32_t ts_val;
	struct mono ts_at;
	uint8_t scale;
	bool has_scale;
};

struct conn {
	uint32_t hosts; /* addresses of both ends, mixed */
	uint16_t low, high;
	struct side side[2]; /* by the smaller port first */
};

struct vcheck {
	struct vnet *v;
	struct conn conns[TABLE];
	uint64_t faults[VCHECK_FAULTS];
};

static const char *const fault_names[VCHECK_FAULTS] = {
	[VCHECK_BEYOND] = "octets beyond every edge offered",
	[VCHECK_UNSENT] = "acknowledgement of what was never sent",
	[VCHECK_BACK] = "acknowledgement that goes back",
	[VCHECK_SHRUNK] = "window edge moved left",
	[VCHECK_CLOCK] = "timestamp that goes back",
};

static void fault(struct vcheck *k, enum vcheck_fault f, const struct seen *s, uint32_t limit)
{
	if (!k->faults[f]++)
		fprintf(stderr,
			"vcheck: %s: port %u to %u, seq %u len %u ack %u wnd %u ts %u, limit %u (at %.6f s, seed %llu)\n",
			fault_names[f], s->way.sport, s->way.dport, s->seq, s->data_len, s->ack,
			s->wnd, s->ts_val, limit, (double)k->v->now.ns / 1e9,
			(unsigned long long)k->v->seed);
}

static bool is_after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

static struct conn *conn_of(struct vcheck *k, const struct seen *s)
{
	uint16_t low = s->way.sport < s->way.dport ? s->way.sport : s->way.dport;
	uint16_t high = s->way.sport < s->way.dport ? s->way.dport : s->way.sport;
	uint32_t hosts = s->way.src ^ s->way.dst;
	struct conn *c = &k->conns[high];

	if (c->low != low || c->high != high || c->hosts != hosts)
		*c = (struct conn){ .hosts = hosts, .low = low, .high = high };
	return c;
}

static void check_sent(struct vcheck *k, struct side *me, const struct side *peer,
		       const struct seen *s)
{
	uint32_t end =
		s->seq + s->data_len + ((s->flags & FL_SYN) != 0) + ((s->flags & FL_FIN) != 0);

	if (!me->is_known || is_after(end, me->seq_end))
		me->seq_end = end;
	if (s->data_len && peer->has_acked && is_after(s->seq + s->data_len, peer->edge + 1))
		fault(k, VCHECK_BEYOND, s, peer->edge);
	/* after 24 days half of the clock's range has passed and no order is left */
	if (s->has_ts && me->has_ts && is_after(me->ts_val, s->ts_val) &&
	    mono_since(k->v->now, me->ts_at) < CLOCK_NS)
		fault(k, VCHECK_CLOCK, s, me->ts_val);
	if (s->has_ts) {
		me->has_ts = true;
		me->ts_val = s->ts_val;
		me->ts_at = k->v->now;
	}
	if (s->flags & FL_SYN) {
		me->has_scale = s->has_wscale;
		me->scale = s->wscale;
	}
	me->is_known = true;
}

static void check_ack(struct vcheck *k, struct side *me, const struct side *peer,
		      const struct seen *s)
{
	uint8_t scale = !(s->flags & FL_SYN) && me->has_scale && peer->has_scale ? me->scale : 0;
	uint32_t edge = s->ack + ((uint32_t)s->wnd << scale);

	if (peer->is_known && is_after(s->ack, peer->seq_end))
		fault(k, VCHECK_UNSENT, s, peer->seq_end);
	if (me->has_acked && is_after(me->ack, s->ack))
		fault(k, VCHECK_BACK, s, me->ack);
	if (me->has_acked && is_after(me->edge, edge + (1u << scale)))
		fault(k, VCHECK_SHRUNK, s, me->edge);
	if (!me->has_acked || is_after(edge, me->edge))
		me->edge = edge;
	me->ack = s->ack;
	me->has_acked = true;
}

static void watch(struct vhost *from, const struct vframe *vf)
{
	struct vcheck *k = from->net->hook_ctx;
	static struct frame f; /* headers are enough; the payload is not looked at */
	struct seen s;

	f.len = vf->len;
	f.csum = vf->csum;
	f.gso_size = vf->gso_size;
	f.csum_start = vf->csum_start;
	f.csum_off = vf->csum_off;
	memcpy(f.b, vf->b, vf->len);
	frame_read(&f, &s);
	if (s.is_bad) {
		fprintf(stderr, "vcheck: a frame with a wrong length or checksum was sent\n");
		abort();
	}
	if (s.kind != SEEN_TCP || (s.flags & FL_RST))
		return;
	struct conn *c = conn_of(k, &s);

	if ((s.flags & (FL_SYN | FL_ACK)) == FL_SYN) /* a new life of the port pair */
		memset(c->side, 0, sizeof(c->side));
	struct side *me = &c->side[s.way.sport > s.way.dport];
	struct side *peer = &c->side[s.way.sport <= s.way.dport];

	check_sent(k, me, peer, &s);
	if (s.flags & FL_ACK)
		check_ack(k, me, peer, &s);
}

struct vcheck *vcheck_new(struct vnet *v)
{
	struct vcheck *k = calloc(1, sizeof(*k));

	if (!k)
		abort();
	k->v = v;
	v->tap = watch;
	v->hook_ctx = k;
	return k;
}

void vcheck_free(struct vcheck *k)
{
	free(k);
}

uint64_t vcheck_faults(const struct vcheck *k)
{
	uint64_t sum = 0;

	for (int i = 0; i < VCHECK_FAULTS; i++)
		sum += k->faults[i];
	return sum;
}
