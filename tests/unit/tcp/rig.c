/* SPDX-License-Identifier: Apache-2.0 */
/* rig.c - TCP alone: an IP layer of paper, and sentences about segments */
#include "rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct rig *the; /* net_*() carry no context of ours; one rig a process (check forks) */

static void fill_random(void *ctx, void *buf, size_t len)
{
	struct rig *t = ctx;
	uint8_t *at = buf;

	for (size_t i = 0; i < len; i++) {
		t->rnd = t->rnd * 1664525 + 1013904223;
		at[i] = (uint8_t)(t->rnd >> 24);
	}
}

/* --- the IP layer ----------------------------------------------------------------------------- */

int net_route_flow(struct net *n, const struct ns_flow *flow, struct dst *ret_dst)
{
	(void)n;
	the->asked = *flow;
	if (the->route_err)
		return the->route_err;
	*ret_dst = (struct dst){ .src = ns_addr_v4(RIG_LOCAL),
				 .mtu = the->mtu,
				 .generation = the->generation };
	return 0;
}

int net_route(struct net *n, const struct ns_addr *dst, const struct ns_addr *src,
	      struct dst *ret_dst)
{
	const struct ns_flow flow = { .dst = *dst, .src = *src };

	return net_route_flow(n, &flow, ret_dst);
}

uint32_t net_pmtu(struct net *n, const struct dst *d, const struct ns_addr *to, struct mono now)
{
	(void)n;
	(void)to;
	(void)now;
	return the->pmtu && the->pmtu < d->mtu ? the->pmtu : d->mtu;
}

void net_pmtu_learn(struct net *n, const struct ns_addr *to, uint32_t mtu, struct mono now)
{
	(void)n;
	(void)to;
	(void)now;
	the->pmtu = mtu < 552 ? 552 : mtu;
}

bool net_has_link(const struct net *n, uint32_t ifindex)
{
	(void)n;
	return ifindex == RIG_IFINDEX;
}

uint32_t net_rx_ifindex(const struct net *n, const struct ip_rx *ip)
{
	(void)n;
	(void)ip;
	return RIG_IFINDEX;
}

bool net_dst_is_current(const struct net *n, const struct dst *d)
{
	(void)n;
	return d->generation == the->generation;
}

uint32_t net_dst_room(const struct net *n, const struct dst *d)
{
	(void)n;
	(void)d;
	return the->room;
}

uint32_t net_dst_gso(const struct net *n, const struct dst *d, uint32_t mss, uint32_t hdr_len)
{
	uint32_t max = the->gso > hdr_len ? the->gso - hdr_len : 0;

	(void)n;
	(void)d;
	return max < mss || mss == 0 ? mss : max / mss * mss;
}

bool net_is_local(const struct net *n, const struct ns_addr *a)
{
	(void)n;
	return ns_addr_to_v4(a) == RIG_LOCAL;
}

void net_confirm(struct net *n, const struct dst *d, struct mono now)
{
	(void)n;
	(void)d;
	(void)now;
	the->confirms++;
}

int net_output(struct net *n, const struct dst *d, const struct ip_tx *ip, struct pkt *p,
	       struct mono now)
{
	struct sent *s = calloc(1, sizeof(*s));
	const struct tcp_hdr *h = (const struct tcp_hdr *)pkt_data(p);
	uint32_t hdr_len = tcp_hdr_len(h);
	bool is_known = ns_addr_to_v4(&ip->dst) == RIG_PEER;

	(void)n;
	(void)d;
	(void)now;
	ck_assert_ptr_nonnull(s);
	ck_assert(is_known);
	ck_assert_int_eq(p->csum, PKT_CSUM_PARTIAL);
	ck_assert_uint_eq(p->csum_off, TCP_CSUM_OFF);
	ck_assert_uint_eq(p->l4_off, p->head);
	s->flags = h->flags;
	s->tos = ip->tos;
	s->ace = (uint8_t)((h->off & TCP_OFF_AE) << 2 | (h->flags & TCP_CWR) >> 6 |
			   (h->flags & TCP_ECE) >> 6);
	s->wnd = be16_get(h->wnd);
	s->urg = be16_get(h->urg);
	s->seq = be32_get(h->seq);
	s->ack = be32_get(h->ack) - RIG_ISN;
	s->len = pkt_len(p) - hdr_len;
	s->gso_segs = p->gso_segs;
	s->gso_size = p->gso_size;
	ck_assert(tcp_opts_parse(pkt_data(p) + TCP_HDR_LEN, hdr_len - TCP_HDR_LEN, &s->opt));
	ck_assert(pkt_copy_out(p, hdr_len, s->data, s->len));
	if (p->gso_segs > 1) {
		ck_assert_int_eq(p->gso_type, PKT_GSO_TCP4);
		ck_assert_uint_eq(p->gso_segs, (s->len + p->gso_size - 1) / p->gso_size);
	}
	ck_assert_uint_lt(the->out_in - the->out_at, NS_ARRAY_LEN(the->out));
	the->out[the->out_in++ % NS_ARRAY_LEN(the->out)] = s;
	pkt_free(p);
	return 0;
}

/* --- the program ------------------------------------------------------------------------------ */

static void on_event(void *user, uint32_t mask, int err)
{
	struct rig *t = user;

	t->told |= mask;
	if (err)
		t->told_err = err;
}

static ns_sock on_handle(const void *user)
{
	(void)user;
	return 7;
}

uint8_t rig_octet(uint64_t off)
{
	return (uint8_t)(off * 7 + (off >> 8) * 13 + (off >> 16));
}

void rig_write(struct rig *t, uint32_t len, bool more)
{
	const struct transport_ops *ops = &tcp_transport_ops;

	while (len > 0) {
		struct ns_iov iov[4];
		int n = ops->send_reserve(t->c, len, iov, 4);
		uint64_t off = conn(t)->sndq.tail;
		uint32_t got = 0;

		ck_assert_int_gt(n, 0);
		for (int i = 0; i < n; i++)
			for (size_t j = 0; j < iov[i].len; j++, got++)
				((uint8_t *)iov[i].base)[j] = rig_octet(off + got);
		ops->send_commit(t->c, got, more);
		len -= got;
	}
}

uint32_t rig_read(struct rig *t, uint32_t max)
{
	const struct transport_ops *ops = &tcp_transport_ops;
	uint32_t sum = 0;

	while (sum < max) {
		uint64_t off = conn(t)->rcvq.head;
		struct ns_iov iov;
		uint32_t n;

		if (ops->recv_peek(t->c, &iov, 1) != 1)
			break;
		n = ns_min_u((unsigned)iov.len, max - sum);
		for (uint32_t i = 0; i < n; i++)
			if (((uint8_t *)iov.base)[i] != rig_octet(off + i))
				ck_abort_msg("octet %u of the stream is wrong", (unsigned)off + i);
		ops->recv_consume(t->c, n);
		sum += n;
	}
	return sum;
}

/* --- the rig ---------------------------------------------------------------------------------- */

struct rig *rig_new(void)
{
	static const struct user_ops users = { .event = on_event, .handle = on_handle };
	struct rig *t = calloc(1, sizeof(*t));
	struct ns_core *c;

	ck_assert_ptr_nonnull(t);
	the = t;
	c = &t->core;
	t->env = (struct ns_env){ .ctx = t, .random = fill_random };
	t->rnd = 1;
	t->room = 1000;
	t->gso = t->mtu = 1500;
	t->now.ns = 1000 * NS_PER_SEC;
	c->env = &t->env;
	c->stats = &t->stats;
	c->limits = (struct ns_limits){ .sockets = 1024,
					.timewait = 16,
					.chunks_large = 1024,
					.chunks_small = 4096,
					.rx_frames = 1024,
					.neighbours = 16,
					.sndbuf_max = 6 << 20,
					.rcvbuf_max = 4 << 20 };
	core_knobs_init(c);
	c->knobs[NS_KNOB_tcp_ecn] = 0;
	timers_init(&c->timers);
	pool_init(&c->pkts, "pkt", sizeof(struct pkt), 4096, 64);
	pool_init(&c->slices, "slice", sizeof(struct bytes_slice), 1 << 16, 64);
	chunk_pools_init(&c->chunks, c->limits.chunks_small, c->limits.chunks_large,
			 c->limits.rx_frames);
	t->tcp = tcp_new(c, NULL, &users);
	ck_assert_ptr_nonnull(t->tcp);
	return t;
}

/* The pools trap when something is still out, the timers when one is armed. */
void rig_free(struct rig *t)
{
	forget_out(t);
	tcp_free(t->tcp);
	timers_done(&t->core.timers);
	pool_done(&t->core.slices);
	pool_done(&t->core.pkts);
	chunk_pools_done(&t->core.chunks);
	free(t);
	the = NULL;
}

struct tcp_conn *conn(struct rig *t)
{
	return t->c;
}

enum tcp_state state_of(struct rig *t)
{
	return conn(t)->state;
}

uint64_t stat_of(const struct rig *t, enum stat s)
{
	return t->stats.stat[s];
}

void at_ms(struct rig *t, uint64_t ms)
{
	struct mono to = { (1000 * NS_PER_SEC) + ms * NS_PER_MS };

	ck_assert(mono_le(t->now, to));
	for (;;) {
		struct mono next = timers_next(&t->core.timers);

		if (mono_lt(to, next))
			break;
		t->now = mono_lt(t->now, next) ? next : t->now;
		timers_run(&t->core.timers, t->now);
		tcp_transport_ops.output(t->tcp, t->now);
	}
	t->now = to;
}

void after_ms(struct rig *t, uint64_t ms)
{
	at_ms(t, (t->now.ns - 1000 * NS_PER_SEC) / NS_PER_MS + ms);
}

void turn(struct rig *t)
{
	tcp_transport_ops.output(t->tcp, t->now);
}

enum drop seg_in(struct rig *t, const struct say *s)
{
	struct pkt *p = pkt_new_rx(&t->core.pkts, &t->core.chunks, 128);
	struct ip_rx ip = { .src = ns_addr_v4(RIG_PEER),
			    .dst = ns_addr_v4(RIG_LOCAL),
			    .proto = 6,
			    .ttl = 64,
			    .tos = s->ecn,
			    .csum_ok = true };
	struct tcp_emit e = { .local = { ip.src, s->peer_port ? s->peer_port : RIG_PEER_PORT },
			      .remote = { ip.dst, RIG_PORT } };
	uint32_t hdr_len;
	uint8_t *at;

	ck_assert_ptr_nonnull(p);
	e.seq = seq(RIG_ISN + s->seq);
	e.ack = seq(t->iss + s->ack);
	e.flags = (uint8_t)(s->flags | (s->no_ack ? 0u : TCP_ACK));
	e.wnd = (uint16_t)(s->is_wnd_0 ? 0 : s->wnd ? s->wnd : 65535);
	e.urg = s->urg;
	tcp_emit_ace(&e, s->ace);
	e.is_syn_opts = s->is_syn_opts;
	e.opt = (struct tcp_opts){ .has_ts = s->has_ts,
				   .ts_val = s->ts_val,
				   .ts_ecr = s->ts_ecr,
				   .mss = s->mss,
				   .sack_ok = s->sack_ok,
				   .has_wscale = s->wscale > 0,
				   .wscale = (uint8_t)(s->wscale > 0 ? s->wscale - 1 : 0),
				   .sack_cnt = (uint8_t)s->sack_cnt,
				   .accecn = s->accecn,
				   .tfo = s->tfo };
	for (uint32_t i = 0; i < s->sack_cnt; i++)
		e.opt.sack[i] = (struct tcp_sack_block){ seq(t->iss + s->sack[i].start),
							 seq(t->iss + s->sack[i].end) };
	hdr_len = TCP_HDR_LEN + tcp_opts_len(&e);
	at = pkt_put(p, s->len);
	ck_assert_ptr_nonnull(at);
	for (uint32_t i = 0; i < s->len; i++)
		at[i] = rig_octet((uint64_t)s->seq + i - (s->flags & TCP_SYN ? 0 : 1));
	tcp_hdr_emit(p, &e);
	ck_assert_uint_eq(pkt_len(p), hdr_len + s->len);
	p->gso_segs = (uint16_t)s->segs;
	p->gso_size = s->segs ? (uint16_t)((s->len + s->segs - 1) / s->segs) : 0;
	return tcp_proto_ops.input(t->tcp, p, &ip, t->now);
}

enum drop seg_in_turn(struct rig *t, const struct say *s)
{
	enum drop d = seg_in(t, s);

	turn(t);
	return d;
}

struct sent *take_out(struct rig *t)
{
	static struct sent last;
	struct sent *s;

	if (t->out_at == t->out_in)
		return NULL;
	s = t->out[t->out_at++ % NS_ARRAY_LEN(t->out)];
	last = *s;
	free(s);
	if (last.flags & TCP_SYN && !t->iss)
		t->iss = last.seq;
	last.seq -= t->iss;
	return &last;
}

void forget_out(struct rig *t)
{
	while (take_out(t))
		;
}

/* Of @s: seq, ack, len and flags (0: ACK, PSH not compared); data must be the stream's. */
struct sent *expect_out_(struct rig *t, const struct say *s, const char *file, int line)
{
	struct sent *o = take_out(t);
	uint32_t flags = s->flags | (s->no_ack ? 0u : TCP_ACK);

	if (!o)
		ck_abort_msg("%s:%d: nothing was sent", file, line);
	if (o->seq != s->seq || o->len != s->len || (!s->no_ack && o->ack != s->ack) ||
	    (o->flags & ~(unsigned)TCP_PSH) != flags)
		ck_abort_msg("%s:%d: sent seq %u ack %u len %u flags %#x, expected %u %u %u %#x",
			     file, line, o->seq, o->ack, o->len, o->flags, s->seq, s->ack, s->len,
			     flags);
	for (uint32_t i = 0; i < o->len; i++)
		if (o->data[i] != rig_octet((uint64_t)o->seq - 1 + i))
			ck_abort_msg("%s:%d: octet %u of the payload is wrong", file, line, i);
	return o;
}

void expect_nothing_(struct rig *t, const char *file, int line)
{
	const struct sent *o = take_out(t);

	if (o)
		ck_abort_msg("%s:%d: sent seq %u ack %u len %u flags %#x", file, line, o->seq,
			     o->ack, o->len, o->flags);
}

struct rig *rig_listening(int backlog)
{
	const struct transport_ops *ops = &tcp_transport_ops;
	struct ns_endpoint at = { ns_addr_v4(RIG_LOCAL), RIG_PORT };
	struct rig *t = rig_new();

	ck_assert_int_eq(ops->open(t->tcp, t, &t->lc), 0);
	ck_assert_int_eq(ops->bind(t->lc, &at), 0);
	ck_assert_int_eq(ops->listen(t->lc, backlog), 0);
	return t;
}

/* The handshake as a peer would; timestamps of the peer are its milliseconds from 1 on. */
struct rig *rig_established(const struct rig_opts *o)
{
	const struct transport_ops *ops = &tcp_transport_ops;
	struct rig *t = rig_listening(8);
	uint16_t mss = o->mss ? o->mss : RIG_MSS;
	uint32_t wnd = o->wnd ? o->wnd : 65535;
	uint32_t ecr;

	ck_assert_int_eq(seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true,
					  .mss = mss, .has_ts = o->has_ts, .ts_val = 1,
					  .sack_ok = o->has_sack, .wscale = o->wscale, .wnd = wnd)),
			 DROP_NONE);
	ecr = expect_out(t, S(.ack = 1, .flags = TCP_SYN))->opt.ts_val;
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .has_ts = o->has_ts, .ts_val = 1,
					  .ts_ecr = ecr, .wnd = wnd)),
			 DROP_NONE);
	expect_nothing(t);
	ck_assert_int_eq(ops->accept(t->lc, &t->c), 0);
	ops->set_user(t->c, t);
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	t->told = 0;
	return t;
}
