/* SPDX-License-Identifier: Apache-2.0 */
/* rawpeer.c - one stack and a peer made by hand; see rawpeer.h */
#include "support/rawpeer.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf/pkt.h"
#include "wire/vnet.h"

static const uint8_t stack_mac[6] = RP_STACK_MAC;
static const uint8_t peer_mac[6] = RP_PEER_MAC;

static int raw_xmit(void *drv, struct pkt *const *pkts, uint32_t cnt)
{
	struct rawpeer *rp = drv;

	if (rp->xmit_err)
		return rp->xmit_err;
	for (uint32_t i = 0; i < cnt; i++) {
		const struct pkt *p = pkts[i];
		/* as much of the struct as the frame needs: b is its last member */
		struct rp_out *o = malloc(offsetof(struct rp_out, f.b) + pkt_len(p));

		if (!o || pkt_len(p) > FRAME_MAX || !pkt_copy_out(p, 0, o->f.b, pkt_len(p)))
			abort();
		o->next = NULL;
		o->at = rp->now;
		o->f.len = pkt_len(p);
		o->f.gso_type = p->gso_type;
		o->f.gso_size = p->gso_segs > 1 ? p->gso_size : 0;
		o->f.csum = p->csum;
		o->f.csum_start = p->csum_start;
		o->f.csum_off = p->csum_off;
		pcapring_add(rp->ring, rp->now, o->f.b, o->f.len);
		*rp->out_last = o;
		rp->out_last = &o->next;
		rp->out_cnt++;
		rp->total_cnt++;
	}
	return (int)cnt;
}

static const struct ns_link_ops raw_ops = { .xmit = raw_xmit };

static void raw_random(void *ctx, void *buf, size_t len)
{
	struct rawpeer *rp = ctx;

	prng_fill(&rp->random, buf, len);
}

void rp_init(struct rawpeer *rp, const struct rp_config *c)
{
	struct ns_link_config link = {
		.name = "eth0",
		.ifindex = 2,
		.mtu = c->mtu ? c->mtu : 1500,
		.is_up = true,
		.is_multicast = c->is_multicast,
		.has_uso = c->has_uso,
		.gso = c->gso,
		.gso_max_size = 65536,
		.gso_max_segs = 65535,
		.ops = &raw_ops,
		.drv = rp,
	};
	struct ns_addr own = ns_addr_v4(RP_STACK), peer = ns_addr_v4(RP_PEER);
	struct ns_addr own6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 2 } },
		       local = { { 0xfe, 0x80, [15] = 2 } };
	struct ns_route route = { .dst = ns_addr_v4(0x0a000000), .prefix_len = 24 };
	struct ns_route all = { .dst = ns_addr_v4(0), .gateway = ns_addr_v4(RP_PEER) };

	*rp = (struct rawpeer){ .now = c->start.ns ? c->start
						   : (struct mono){ 1000 * NS_PER_SEC } };
	rp->random.state = prng_mix(c->seed + 1);
	rp->on_rx = c->on_rx;
	rp->out_last = &rp->out_first;
	rp->next_port = 40000;
	rp->env = (struct ns_env){ .ctx = rp, .random = raw_random };
	rp->ring = c->has_no_pcap ? NULL : pcapring_new(1024, 200);
	rp->stack = ns_stack_new(&rp->env, &c->limits);
	memcpy(link.mac, stack_mac, 6);
	if (!rp->stack || ns_stack_add_link(rp->stack, &link, &rp->link_id) ||
	    ns_stack_add_addr(rp->stack, rp->link_id, &own, 24) ||
	    (link.mtu >= 1280 && (ns_stack_add_addr(rp->stack, rp->link_id, &own6, 64) ||
				  ns_stack_add_addr(rp->stack, rp->link_id, &local, 64))))
		abort();
	route.link_id = all.link_id = rp->link_id;
	int r = ns_stack_add_route(rp->stack, &route);

	if ((r && r != -EEXIST) || ns_stack_add_route(rp->stack, &all))
		abort();
	if (!c->has_no_neigh && ns_stack_add_neigh(rp->stack, rp->link_id, &peer, peer_mac))
		abort();
	rp_turn(rp);
	rp_drop_out(rp);
}

void rp_done(struct rawpeer *rp)
{
	rp_drop_out(rp);
	free(rp->last);
	ns_stack_free(rp->stack);
	pcapring_free(rp->ring);
	*rp = (struct rawpeer){ 0 };
}

void rp_turn(struct rawpeer *rp)
{
	struct ns_event e;

	ns_stack_advance(rp->stack, rp->now);
	while (ns_stack_next_event(rp->stack, &e)) {
		if (rp->ev_cnt == sizeof(rp->ev) / sizeof(rp->ev[0])) {
			memmove(rp->ev, rp->ev + 1, sizeof(rp->ev) - sizeof(rp->ev[0]));
			rp->ev_cnt--;
		}
		rp->ev[rp->ev_cnt++] = e;
	}
	ns_stack_output(rp->stack, rp->now);
}

void rp_feed(struct rawpeer *rp, const struct frame *f)
{
	struct pkt *p = ns_stack_rx_alloc(rp->stack);
	uint8_t *to = p ? pkt_put(p, VNET_HDR_LEN + f->len) : NULL;

	pcapring_add(rp->ring, rp->now, f->b, f->len);
	if (!to) {
		pkt_free(p);
		return;
	}
	frame_vnet(&(struct vnet_meta){ f->gso_type, f->csum, f->gso_size, f->csum_start,
					f->csum_off },
		   to);
	memcpy(to + VNET_HDR_LEN, f->b, f->len);
	if (rp->on_rx)
		rp->on_rx(p);
	enum drop d = vnet_pull(p, VNET_LEN);

	if (d == DROP_NONE) {
		(void)ns_stack_input(rp->stack, rp->link_id, p, rp->now);
		return;
	}
	ns_stack_lost(rp->stack, d); /* as the daemon's driver does */
	pkt_free(p);
}

void rp_inject(struct rawpeer *rp, const struct frame *f)
{
	ns_stack_advance(rp->stack, rp->now);
	rp_feed(rp, f);
	rp_turn(rp);
}

void rp_wait(struct rawpeer *rp, uint64_t for_ns)
{
	struct mono until = mono_add(rp->now, for_ns);

	for (uint32_t turns = 0; turns < 1000000; turns++) {
		struct mono next = ns_stack_deadline(rp->stack);

		if (mono_lt(until, next))
			break;
		if (mono_lt(rp->now, next))
			rp->now = next;
		rp_turn(rp);
	}
	rp->now = until;
}

const struct frame *rp_take_raw(struct rawpeer *rp)
{
	struct rp_out *o = rp->out_first;

	if (!o)
		return NULL;
	rp->out_first = o->next;
	if (!rp->out_first)
		rp->out_last = &rp->out_first;
	rp->out_cnt--;
	free(rp->last);
	rp->last = o;
	return &o->f;
}

bool rp_take(struct rawpeer *rp, struct seen *ret_seen)
{
	const struct frame *f = rp_take_raw(rp);

	if (!f)
		return false;
	frame_read(f, ret_seen);
	if (ret_seen->is_bad) {
		fprintf(stderr, "the stack sent a frame with a wrong length or checksum\n");
		abort();
	}
	return true;
}

void rp_drop_out(struct rawpeer *rp)
{
	while (rp_take_raw(rp))
		;
}

bool rp_event(const struct rawpeer *rp, ns_sock sock, uint32_t mask, int *ret_err)
{
	for (uint32_t i = rp->ev_cnt; i-- > 0;) {
		if (rp->ev[i].sock != sock || (rp->ev[i].mask & mask) != mask)
			continue;
		if (ret_err)
			*ret_err = rp->ev[i].err;
		return true;
	}
	return false;
}

ns_sock rp_listen(struct rawpeer *rp, uint16_t port, int backlog)
{
	struct ns_endpoint at = { ns_addr_v4(0), port };
	ns_sock sock;

	if (ns_sock_open(rp->stack, &sock) || ns_sock_setopt(rp->stack, sock, NS_SO_REUSEADDR, 1) ||
	    ns_sock_bind(rp->stack, sock, &at) || ns_sock_listen(rp->stack, sock, backlog))
		abort();
	return sock;
}

static void syn_opts(const struct rp_conn *c, const struct rp_syn *syn, struct opts *o)
{
	if (!syn->has_no_mss)
		opts_mss(o, syn->mss ? syn->mss : 1460);
	if (syn->has_sack)
		opts_sack_ok(o);
	if (syn->has_ts)
		opts_ts(o, c->ts_val, c->ts_recent);
	if (syn->has_wscale)
		opts_wscale(o, syn->wscale);
}

/* The stack's SYN or SYN-ACK settles what the connection has. */
static void learn(struct rp_conn *c, const struct rp_syn *syn, const struct seen *s)
{
	c->irs = s->seq;
	c->rcv = s->seq + 1;
	c->has_ts = syn->has_ts && s->has_ts;
	c->has_sack = syn->has_sack && s->has_sack_ok;
	c->has_wscale = syn->has_wscale && s->has_wscale;
	c->wscale = s->wscale;
	c->ts_recent = s->ts_val;
	c->syn = *s;
	c->syn.data = NULL;
}

static void conn_init(struct rawpeer *rp, const struct rp_syn *syn, struct rp_conn *c)
{
	*c = (struct rp_conn){ .rp = rp, .ts_val = 5000 };
	c->iss = syn->iss ? syn->iss : 1000;
	c->snd = c->iss;
	c->wnd = syn->wnd ? syn->wnd : 65535;
}

bool rp_half_open(struct rawpeer *rp, uint16_t port, const struct rp_syn *syn, struct rp_conn *c)
{
	struct opts o = { 0 };
	struct frame f;
	struct seen s;

	conn_init(rp, syn, c);
	c->way = rp_way(rp->next_port++, port);
	syn_opts(c, syn, &o);
	rp_drop_out(rp);
	frame_tcp(&f, &c->way,
		  &(struct tcp_in){ .flags = (uint8_t)(FL_SYN | syn->flags),
				    .has_ae = syn->has_ae,
				    .seq = c->iss,
				    .wnd = c->wnd,
				    .opts = &o });
	rp_inject(rp, &f);
	if (!rp_take(rp, &s) || s.kind != SEEN_TCP || (s.flags & 0x3f) != (FL_SYN | FL_ACK) ||
	    s.ack != c->iss + 1 || s.way.dport != c->way.sport)
		return false;
	learn(c, syn, &s);
	c->snd++;
	return true;
}

bool rp_accepted(struct rawpeer *rp, ns_sock listener, uint16_t port, const struct rp_syn *syn,
		 struct rp_conn *c)
{
	if (!rp_half_open(rp, port, syn, c))
		return false;
	/* RFC 9768 table 3: the SYN-ACK came without ECT */
	rp_seg(c, &(struct tcp_in){ .flags = (uint8_t)(FL_ACK | (syn->has_ae ? FL_CWR : 0)) });
	rp_drop_out(rp);
	return ns_sock_accept(rp->stack, listener, &c->sock) == 0;
}

bool rp_connect_begin(struct rawpeer *rp, uint16_t peer_port, struct rp_conn *c)
{
	struct ns_endpoint to = { ns_addr_v4(RP_PEER), peer_port };
	struct seen s;

	conn_init(rp, &(struct rp_syn){ 0 }, c);
	rp_drop_out(rp);
	if (ns_sock_open(rp->stack, &c->sock) ||
	    ns_sock_connect(rp->stack, c->sock, &to, rp->now) != -EINPROGRESS)
		return false;
	rp_turn(rp);
	if (!rp_take(rp, &s) || s.kind != SEEN_TCP || (s.flags & 0x3f) != FL_SYN)
		return false;
	c->way = rp_way(peer_port, s.way.sport);
	learn(c, &(struct rp_syn){ .has_ts = true }, &s);
	return true;
}

bool rp_connected(struct rawpeer *rp, uint16_t peer_port, const struct rp_syn *syn,
		  struct rp_conn *c)
{
	struct opts o = { 0 };
	struct frame f;
	struct seen s;

	if (!rp_connect_begin(rp, peer_port, c))
		return false;
	struct seen first = c->syn;

	c->iss = syn->iss ? syn->iss : c->iss;
	c->snd = c->iss;
	c->wnd = syn->wnd ? syn->wnd : 65535;
	learn(c, syn, &first);
	syn_opts(c, syn, &o);
	frame_tcp(&f, &c->way,
		  &(struct tcp_in){ .flags = (uint8_t)(FL_SYN | FL_ACK | syn->flags),
				    .seq = c->iss,
				    .ack = c->rcv,
				    .wnd = c->wnd,
				    .opts = &o });
	rp_inject(rp, &f);
	c->snd++;
	return rp_take(rp, &s) && s.kind == SEEN_TCP && (s.flags & 0x3f) == FL_ACK &&
	       s.seq == c->rcv && s.ack == c->snd && rp_event(rp, c->sock, NS_EV_CONNECTED, NULL);
}

void rp_build(struct rp_conn *c, const struct tcp_in *t, struct frame *ret_f)
{
	struct tcp_in full = *t;
	struct opts o = { 0 };

	full.seq = c->snd + t->seq;
	full.ack = t->flags & FL_ACK ? c->rcv + t->ack : 0;
	if (!full.wnd && !full.is_wnd_zero)
		full.wnd = c->wnd;
	if (c->has_ts && !t->opts) {
		opts_ts(&o, c->ts_val, c->ts_recent);
		full.opts = &o;
	}
	frame_tcp(ret_f, &c->way, &full);
}

void rp_seg(struct rp_conn *c, const struct tcp_in *t)
{
	static struct frame f;

	rp_build(c, t, &f);
	rp_inject(c->rp, &f);
}

void rp_data(struct rp_conn *c, const void *data, uint32_t len)
{
	rp_seg(c, &(struct tcp_in){ .flags = FL_ACK | FL_PSH, .data = data, .data_len = len });
	c->snd += len;
}

void rp_ack(struct rp_conn *c)
{
	rp_seg(c, &(struct tcp_in){ .flags = FL_ACK });
}

bool rp_expect(struct rp_conn *c, struct seen *s)
{
	if (!rp_take(c->rp, s) || s->kind != SEEN_TCP || s->way.sport != c->way.dport ||
	    s->way.dport != c->way.sport)
		return false;
	if (s->has_ts)
		c->ts_recent = s->ts_val;
	if (s->seq == c->rcv && !(s->flags & FL_RST))
		c->rcv += s->data_len + (s->flags & FL_FIN ? 1 : 0);
	return true;
}

uint32_t rp_send(struct rp_conn *c, const void *data, uint32_t len)
{
	const uint8_t *from = data;
	struct ns_iov iov[16];
	uint32_t sent = 0;

	while (sent < len) {
		uint32_t part = 0;
		int n = ns_sock_send_reserve(c->rp->stack, c->sock, len - sent, iov, 16);

		for (int i = 0; i < n && part < len - sent; i++) {
			uint32_t one = (uint32_t)iov[i].len;

			if (one > len - sent - part)
				one = len - sent - part;
			memcpy(iov[i].base, from + sent + part, one);
			part += one;
		}
		if (!part)
			break;
		ns_sock_send_commit(c->rp->stack, c->sock, part, false);
		sent += part;
	}
	rp_turn(c->rp);
	return sent;
}

uint32_t rp_recv(struct rp_conn *c, void *to, uint32_t len)
{
	uint8_t *b = to;
	struct ns_iov iov[16];
	uint32_t got = 0;

	while (got < len) {
		uint32_t part = 0;
		int n = ns_sock_recv_peek(c->rp->stack, c->sock, iov, 16);

		for (int i = 0; i < n && part < len - got; i++) {
			uint32_t one = (uint32_t)iov[i].len;

			if (one > len - got - part)
				one = len - got - part;
			memcpy(b + got + part, iov[i].base, one);
			part += one;
		}
		if (!part)
			break;
		ns_sock_recv_consume(c->rp->stack, c->sock, part);
		got += part;
	}
	rp_turn(c->rp);
	return got;
}
