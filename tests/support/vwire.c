/* SPDX-License-Identifier: Apache-2.0 */
/* vwire.c - stacks in virtual time; see vwire.h */
#include "support/vwire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf/pkt.h"
#include "wire/vnet.h"

enum {
	SMALL_FRAME = 2048,     /* octets: kept for reuse */
	RING_CNT = 4096,        /* frames of the pcap */
	RING_SNAP = 160,        /* octets of each */
	BLOCK_NS_MAX = 2000000, /* a driver that said -EAGAIN has room after at most this */
	RX_TURN_MAX = 256,      /* frames a turn, as a driver reads at most */
};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* --- frames ---------------------------------------------------------------------------------- */

static struct vframe *vframe_new(struct vnet *v, uint32_t len)
{
	struct vframe *f = v->spare;

	if (len <= SMALL_FRAME && f) {
		v->spare = f->next;
	} else {
		uint32_t cap = len <= SMALL_FRAME ? SMALL_FRAME : len;

		f = must(malloc(sizeof(*f) + cap));
		f->cap = cap;
	}
	f->next = NULL;
	f->len = len;
	return f;
}

static void vframe_free(struct vnet *v, struct vframe *f)
{
	if (f->cap != SMALL_FRAME) {
		free(f);
		return;
	}
	f->next = v->spare;
	v->spare = f;
}

static bool is_before(const struct vframe *a, const struct vframe *b)
{
	return a->at.ns != b->at.ns ? a->at.ns < b->at.ns : a->order < b->order;
}

static void heap_push(struct vnet *v, struct vframe *f)
{
	uint32_t i = v->heap_cnt++;

	if (v->heap_cnt > v->heap_cap) {
		v->heap_cap = v->heap_cap ? v->heap_cap * 2 : 256;
		v->heap = must(realloc(v->heap, v->heap_cap * sizeof(struct vframe *)));
	}
	f->order = v->order++;
	for (; i && is_before(f, v->heap[(i - 1) / 2]); i = (i - 1) / 2)
		v->heap[i] = v->heap[(i - 1) / 2];
	v->heap[i] = f;
}

static struct vframe *heap_pop(struct vnet *v)
{
	struct vframe *top = v->heap[0], *last = v->heap[--v->heap_cnt];
	uint32_t i = 0;

	for (;;) {
		uint32_t kid = 2 * i + 1;

		if (kid >= v->heap_cnt)
			break;
		if (kid + 1 < v->heap_cnt && is_before(v->heap[kid + 1], v->heap[kid]))
			kid++;
		if (!is_before(v->heap[kid], last))
			break;
		v->heap[i] = v->heap[kid];
		i = kid;
	}
	v->heap[i] = last;
	return top;
}

/* --- the wire -------------------------------------------------------------------------------- */

/* One frame enters the wire: the rate limit, then the faults, then its arrival. Consumes @f. */
static void wire_send(struct vhost *h, struct vframe *f)
{
	struct vnet *v = h->net;
	const struct vwire_dir *d = &h->tx;
	struct mono leave = v->now;

	if (d->rate_Bps) {
		uint64_t one_ns = f->len * NS_PER_SEC / d->rate_Bps;
		uint32_t limit = d->queue_cnt ? d->queue_cnt : 1000;

		if (mono_lt(leave, h->tx_free))
			leave = h->tx_free;
		if (mono_since(leave, v->now) > limit * (1514 * NS_PER_SEC / d->rate_Bps)) {
			h->lost++;
			vframe_free(v, f);
			return;
		}
		h->tx_free = leave = mono_add(leave, one_ns);
	}
	if ((d->hole_len && f->len > d->hole_len) || prng_hit(&v->random, d->loss_ppm) ||
	    (v->mangle && !v->mangle(h, f))) {
		h->lost++;
		vframe_free(v, f);
		return;
	}
	if (prng_hit(&v->random, d->corrupt_ppm) && f->csum != PKT_CSUM_PARTIAL) {
		f->b[prng_below(&v->random, f->len)] ^= (uint8_t)(1u << prng_below(&v->random, 8));
		h->damaged++;
	}
	f->to = h->peer;
	f->at = mono_add(leave, d->delay_ns + prng_below(&v->random, d->jitter_ns + 1));
	if (prng_hit(&v->random, d->reorder_ppm)) {
		f->at = mono_add(f->at, d->late_ns + prng_below(&v->random, d->reorder_ns + 1));
	} else { /* jitter alone keeps the order */
		if (mono_lt(f->at, h->last_arrival))
			f->at = h->last_arrival;
		h->last_arrival = f->at;
	}
	if (prng_hit(&v->random, d->dup_ppm)) {
		struct vframe *twin = vframe_new(v, f->len);
		uint32_t cap = twin->cap;

		memcpy(twin, f, sizeof(*f) + f->len);
		twin->cap = cap;
		twin->next = NULL;
		twin->at = mono_add(f->at, prng_below(&v->random, d->reorder_ns + 1));
		heap_push(v, twin);
	}
	heap_push(v, f);
}

/* What a device does with a frame it may not pass on as it is. Consumes @f. */
static void wire_cut(struct vhost *h, struct vframe *f)
{
	static struct frame whole, part;
	struct vnet *v = h->net;

	whole.len = f->len;
	whole.csum = f->csum;
	whole.gso_size = f->gso_size;
	memcpy(whole.b, f->b, f->len);
	vframe_free(v, f);
	if (!whole.gso_size) {
		frame_fix_tcp_csum(&whole);
		f = vframe_new(v, whole.len);
		memcpy(f->b, whole.b, whole.len);
		f->gso_type = PKT_GSO_NONE;
		f->gso_size = f->csum_start = f->csum_off = 0;
		f->csum = PKT_CSUM_UNKNOWN;
		wire_send(h, f);
		return;
	}
	for (uint32_t i = 0; frame_cut(&whole, i, &part); i++) {
		f = vframe_new(v, part.len);
		memcpy(f->b, part.b, part.len);
		f->gso_type = PKT_GSO_NONE;
		f->gso_size = f->csum_start = f->csum_off = 0;
		f->csum = PKT_CSUM_UNKNOWN;
		wire_send(h, f);
	}
}

static struct vframe *flatten(struct vnet *v, const struct pkt *p)
{
	struct vframe *f = vframe_new(v, pkt_len(p));

	if (!pkt_copy_out(p, 0, f->b, f->len))
		abort();
	f->gso_type = p->gso_segs > 1 ? p->gso_type : (uint8_t)PKT_GSO_NONE;
	f->gso_size = p->gso_segs > 1 ? p->gso_size : 0;
	f->csum = p->csum == PKT_CSUM_PARTIAL ? PKT_CSUM_PARTIAL : PKT_CSUM_UNKNOWN;
	f->csum_start = p->csum == PKT_CSUM_PARTIAL ? p->csum_start : 0;
	f->csum_off = p->csum == PKT_CSUM_PARTIAL ? p->csum_off : 0;
	return f;
}

static int wire_xmit(void *drv, struct pkt *const *pkts, uint32_t cnt)
{
	struct vhost *h = drv;
	struct vnet *v = h->net;
	uint32_t i;

	if (h->tx.is_down)
		return -ENETDOWN;
	if (prng_hit(&v->random, h->tx.eagain_ppm)) {
		h->eagain++;
		h->blocked_until = mono_add(v->now, prng_between(&v->random, 1, BLOCK_NS_MAX));
		return -EAGAIN;
	}
	if (h->tx.eagain_ppm && cnt > 1)
		cnt = (uint32_t)prng_between(&v->random, 1, cnt);
	for (i = 0; i < cnt; i++) {
		if (pkts[i]->gso_segs > 1 && h->tx.refuses_gso) {
			h->refused++;
			return i ? (int)i : -EINVAL;
		}
		struct vframe *f = flatten(v, pkts[i]);

		h->tx_frames++;
		h->tx_v6 += f->b[12] == 0x86 && f->b[13] == 0xdd;
		h->tx_gso += f->gso_size != 0;
		pcapring_add(v->ring, v->now, f->b, f->len);
		if (v->tap)
			v->tap(h, f);
		if ((h->tx.is_cut || h->tx.corrupt_ppm) && f->csum == PKT_CSUM_PARTIAL)
			wire_cut(h, f);
		else
			wire_send(h, f);
	}
	return (int)i;
}

static const struct ns_link_ops wire_ops = { .xmit = wire_xmit };

/* --- hosts ----------------------------------------------------------------------------------- */

static void host_random(void *ctx, void *buf, size_t len)
{
	struct vhost *h = ctx;

	prng_fill(&h->random, buf, len);
}

static void host_link(struct vhost *h, const struct vhost_config *c)
{
	struct ns_link_config link = {
		.name = "eth0",
		.ifindex = 2,
		.mtu = c->mtu ? c->mtu : 1500,
		.is_up = true,
		.gso = c->gso,
		.gso_max_size = c->gso_max_size ? c->gso_max_size : 65536,
		.gso_max_segs = 65535,
		.ops = &wire_ops,
		.drv = h,
	};
	struct ns_addr addr = ns_addr_v4(h->addr), peer = ns_addr_v4(h->peer->addr);
	struct ns_addr local = { { 0xfe, 0x80, [15] = h->mac[5] } };
	struct ns_route route = { .dst = ns_addr_v4(h->addr & 0xffffff00), .prefix_len = 24 };

	memcpy(link.mac, h->mac, 6);
	if (ns_stack_add_link(h->stack, &link, &h->link_id) ||
	    ns_stack_add_addr(h->stack, h->link_id, &addr, 24))
		abort();
	if (link.mtu >= 1280 && (ns_stack_add_addr(h->stack, h->link_id, &h->addr6, 64) ||
				 ns_stack_add_addr(h->stack, h->link_id, &local, 64)))
		abort();
	route.link_id = h->link_id;
	int r = ns_stack_add_route(h->stack, &route);

	if (r && r != -EEXIST)
		abort();
	if (!c->has_no_neigh &&
	    (ns_stack_add_neigh(h->stack, h->link_id, &peer, h->peer->mac) ||
	     ns_stack_add_neigh(h->stack, h->link_id, &h->peer->addr6, h->peer->mac)))
		abort();
}

static void host_start(struct vhost *h, const struct vhost_config *c)
{
	struct vnet *v = h->net;

	h->random.state = c->random_seed ? c->random_seed
					 : prng_mix(v->seed + 977 * (uint64_t)(h - v->host + 1));
	h->env = (struct ns_env){ .ctx = h, .random = host_random };
	h->blocked_until = h->app_wake = MONO_NEVER;
	h->rx_last = &h->rx_first;
	h->is_v6 = c->is_v6;
	h->stack = must(ns_stack_new(&h->env, &c->limits));
	host_link(h, c);
}

struct vhost *vnet_add_pair(struct vnet *v, const struct vhost_config *a,
			    const struct vhost_config *b, const struct vwire_dir *a_dir,
			    const struct vwire_dir *b_dir)
{
	struct vhost *h = &v->host[v->host_cnt];
	uint32_t wire = v->host_cnt / 2;

	if (v->host_cnt + 2 > VNET_HOSTS)
		abort();
	v->host_cnt += 2;
	for (uint32_t i = 0; i < 2; i++) {
		h[i] = (struct vhost){ .net = v, .peer = &h[1 - i] };
		h[i].addr = 0x0a000001 + (wire << 8) + i;
		h[i].addr6 =
			(struct ns_addr){ { 0x20, 1, 0x0d,
					    0xb8, [5] = (uint8_t)wire, [15] = (uint8_t)(i + 1) } };
		memcpy(h[i].mac, (uint8_t[]){ 2, 0, 0, 0, (uint8_t)wire, (uint8_t)(i + 1) }, 6);
	}
	h[0].tx = *a_dir;
	h[1].tx = *b_dir;
	host_start(&h[0], a);
	host_start(&h[1], b);
	return h;
}

static void host_input(struct vhost *h)
{
	struct vnet *v = h->net;

	for (struct vframe *f = h->rx_first, *next; f; f = next) {
		struct pkt *p = ns_stack_rx_alloc(h->stack);
		uint8_t *to = p ? pkt_put(p, VNET_HDR_LEN + f->len) : NULL;

		next = f->next;
		if (to) {
			const struct vnet_meta head = { .gso_type = f->gso_type,
							.csum = f->csum,
							.gso_size = f->gso_size,
							.csum_start = f->csum_start,
							.csum_off = f->csum_off };

			frame_vnet(&head, to);
			memcpy(to + VNET_HDR_LEN, f->b, f->len);
			if (v->on_rx)
				v->on_rx(p);
		}
		if (to && vnet_pull(p, VNET_LEN) == DROP_NONE) {
			(void)ns_stack_input(h->stack, h->link_id, p, v->now);
		} else {
			pkt_free(p);
			h->lost++;
		}
		vframe_free(v, f);
	}
	h->rx_first = NULL;
	h->rx_last = &h->rx_first;
}

/* One turn of the embedder's loop, as ns/stack.h has it. */
static void host_turn(struct vhost *h)
{
	struct vnet *v = h->net;
	struct ns_event e;

	h->is_due = false;
	ns_stack_advance(h->stack, v->now);
	if (mono_le(h->blocked_until, v->now)) {
		h->blocked_until = MONO_NEVER;
		ns_link_writable(h->stack, h->link_id);
	}
	host_input(h);
	while (ns_stack_next_event(h->stack, &e))
		if (h->app && h->app->event)
			h->app->event(h, &e);
	if (mono_le(h->app_wake, v->now)) {
		h->app_wake = MONO_NEVER;
		if (h->app && h->app->wake)
			h->app->wake(h);
	}
	ns_stack_output(h->stack, v->now);
}

void vhost_kick(struct vhost *h)
{
	h->is_due = true;
}

/* --- the clock ------------------------------------------------------------------------------- */

static struct mono host_next(const struct vhost *h)
{
	if (h->is_due)
		return h->net->now;
	return mono_min(ns_stack_deadline(h->stack), mono_min(h->blocked_until, h->app_wake));
}

struct mono vnet_next(struct vnet *v)
{
	struct mono next = v->heap_cnt ? v->heap[0]->at : MONO_NEVER;

	for (uint32_t i = 0; i < v->host_cnt; i++)
		next = mono_min(next, host_next(&v->host[i]));
	return next;
}

bool vnet_step(struct vnet *v, struct mono until)
{
	struct mono next = vnet_next(v);

	if (v->is_livelock)
		return false;
	if (mono_lt(until, next)) {
		v->now = until;
		return false;
	}
	v->still_cnt = mono_lt(v->now, next) ? 0 : v->still_cnt + 1;
	if (v->still_cnt > VNET_LIVELOCK_STEPS) {
		fprintf(stderr, "vnet: no time passed in %u steps at %llu ns (seed %llu)\n",
			v->still_cnt, (unsigned long long)v->now.ns, (unsigned long long)v->seed);
		v->is_livelock = true;
		return false;
	}
	if (mono_lt(v->now, next))
		v->now = next;
	v->step_cnt++;
	for (uint32_t n = 0; v->heap_cnt && mono_le(v->heap[0]->at, v->now) && n < RX_TURN_MAX;
	     n++) {
		struct vframe *f = heap_pop(v);

		f->next = NULL;
		*f->to->rx_last = f;
		f->to->rx_last = &f->next;
		f->to->is_due = true;
	}
	for (uint32_t i = 0; i < v->host_cnt; i++)
		if (mono_le(host_next(&v->host[i]), v->now))
			host_turn(&v->host[i]);
	return true;
}

bool vnet_run(struct vnet *v, uint64_t for_ns, bool (*done)(void *ctx), void *ctx)
{
	struct mono until = mono_add(v->now, for_ns);

	do {
		if (done && done(ctx))
			return true;
	} while (vnet_step(v, until));
	return done && done(ctx);
}

void vnet_init(struct vnet *v, uint64_t seed, struct mono start)
{
	vnet_init_no_pcap(v, seed, start);
	v->ring = pcapring_new(RING_CNT, RING_SNAP);
}

void vnet_init_no_pcap(struct vnet *v, uint64_t seed, struct mono start)
{
	*v = (struct vnet){ .now = start, .seed = seed };
	v->random.state = prng_mix(seed);
}

void vnet_done(struct vnet *v)
{
	for (uint32_t i = 0; i < v->host_cnt; i++) {
		for (struct vframe *f; (f = v->host[i].rx_first);) {
			v->host[i].rx_first = f->next;
			vframe_free(v, f);
		}
		ns_stack_free(v->host[i].stack);
	}
	while (v->heap_cnt)
		vframe_free(v, heap_pop(v));
	for (struct vframe *f; (f = v->spare);) {
		v->spare = f->next;
		free(f);
	}
	free(v->heap);
	pcapring_free(v->ring);
	*v = (struct vnet){ 0 };
}

void vnet_write_pcap(const struct vnet *v, const char *name)
{
	const char *folder = getenv("SLUICE_TEST_OUT");
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.pcap", folder ? folder : ".", name);
	if (!v->ring || pcapring_write(v->ring, path))
		fprintf(stderr, "vnet: cannot write %s\n", path);
	else
		fprintf(stderr, "vnet: the last frames are in %s\n", path);
}

bool stat_find(const char *name, uint32_t *ret_i)
{
	for (uint32_t i = 0; i < ns_stack_stat_cnt(); i++) {
		const char *full = ns_stack_stat_name(i);

		if (!strcmp(full, name) ||
		    (!strncmp(full, "DROP_", 5) && !strcmp(full + 5, name))) {
			*ret_i = i;
			return true;
		}
	}
	return false;
}

uint64_t stack_stat(const struct ns_stack *s, const char *name)
{
	uint32_t i;

	if (stat_find(name, &i))
		return ns_stack_stat(s, i);
	fprintf(stderr, "no counter is called %s\n", name);
	abort();
}

uint64_t vhost_stat(const struct vhost *h, const char *name)
{
	return stack_stat(h->stack, name);
}
