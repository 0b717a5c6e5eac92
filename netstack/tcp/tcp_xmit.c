/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_xmit.c - building a segment and handing it to IP
 *
 * Theory of operation
 *
 * tcp_xmit() makes any segment of a connection: payload by reference to the send queue, the header in
 * front, the acknowledgement and the window as they are at this moment. A payload above one segment
 * makes a super-segment that the link cuts. tcp_reply() makes those that belong to no connection
 * object: resets, half-open, TIME-WAIT.
 *
 * Both leave everything as it was when the link has no room or a pool is empty: the caller comes back.
 */
#include <errno.h>

#include "tcp/tcp_int.h"

static uint32_t ip_hdr_len(const struct ns_addr *a)
{
	return ns_addr_is_v4(a) ? 20 : 40;
}

/**
 * tcp_mss_for() - the MSS to announce on a path (RFC 9293 3.7.1: as if there were no options)
 * @d:		Path
 * @remote:	Peer's address
 * @user_mss:	TCP_MAXSEG, octets, 0: none
 *
 * Return: octets
 */
uint16_t tcp_mss_for(const struct dst *d, const struct ns_addr *remote, uint16_t user_mss)
{
	uint32_t hdrs = ip_hdr_len(remote) + TCP_HDR_LEN;
	uint32_t mss = ns_max_u(d->mtu, ns_addr_is_v4(remote) ? TCP_MTU_MIN4 : TCP_MTU_MIN6) - hdrs;

	if (user_mss && user_mss < mss)
		mss = user_mss;
	return (uint16_t)ns_min_u(mss, UINT16_MAX);
}

/**
 * tcp_mss_sync() - RFC 9293 3.7.1 Eff.snd.MSS: payload octets of a full segment, from path, peer and options
 *
 * Call when any of these changed.
 */
void tcp_mss_sync(struct tcp_conn *c)
{
	const struct ns_addr *remote = &tcp_remote(c)->addr;
	uint32_t mtu = c->pmtu && c->pmtu < c->dst.mtu ? c->pmtu : c->dst.mtu;
	struct dst d = { .mtu = tcp_mtup_limit(c, mtu) };
	uint32_t mss = ns_min_u(c->peer_mss, tcp_mss_for(&d, remote, c->user_mss));

	if (tcp_has(c, TCP_F_TS))
		mss -= TCP_TS_LEN;
	if (mss == c->mss)
		return;
	c->mss = mss;
	if (c->cc.ops)
		tcp_cc_set_mss(&c->cc, mss);
}

/** tcp_pmtu_sync() - what the path takes may have changed: told by a router, forgotten, another route */
void tcp_pmtu_sync(struct tcp_conn *c, struct mono now)
{
	uint32_t mtu = net_pmtu(c->t->net, &c->dst, &tcp_remote(c)->addr, now);

	if (ns_likely(mtu == c->pmtu))
		return;
	c->pmtu = mtu;
	tcp_mss_sync(c);
}

/**
 * tcp_flow() - what rules and routes look at of what @c sends
 * @c:		Connection, or the listener it is to be of
 * @src:	Our address, any: not chosen yet
 * @sport:	Our port, host byte order
 * @remote:	Peer
 */
struct ns_flow tcp_flow(const struct tcp_conn *c, const struct ns_addr *src, uint16_t sport,
			const struct ns_endpoint *remote)
{
	return (struct ns_flow){ .dst = remote->addr,
				 .src = *src,
				 .oif = c->bind.ifindex,
				 .mark = c->mark,
				 .uid = c->uid,
				 .sport = sport,
				 .dport = remote->port,
				 .tos = tcp_ip_opts_of(c, &remote->addr)->tos,
				 .proto = 6 };
}

/** tcp_route_from() - look the path up, from @src (any: choose); what net_route_flow() says */
int tcp_route_from(struct tcp_conn *c, const struct ns_addr *src)
{
	const struct ns_flow f = tcp_flow(c, src, tcp_local(c)->port, tcp_remote(c));

	return net_route_flow(c->t->net, &f, &c->dst);
}

/**
 * tcp_route() - the path is known and current
 *
 * Return: 0, or negative errno of net_route(); the old path is then still in c->dst and must not be used
 */
int tcp_route(struct tcp_conn *c)
{
	struct net *n = c->t->net;
	int r;

	if (ns_likely(net_dst_is_current(n, &c->dst)))
		return 0;
	r = tcp_route_from(c, &tcp_local(c)->addr);
	if (r < 0)
		return r;
	if (TCP_IN(c->state, TCPF_SYNCHRONISED))
		tcp_mss_sync(c);
	return 0;
}

/* SACK blocks that an acknowledgement has room for on the path: on a link of 68 octets, one. */
static uint32_t sack_fits(const struct tcp_conn *c)
{
	uint32_t hdrs = ip_hdr_len(&tcp_remote(c)->addr) + TCP_HDR_LEN +
			(tcp_has(c, TCP_F_TS) ? TCP_TS_LEN : 0u) + TCP_SACK_HEAD;

	return c->dst.mtu > hdrs ? (c->dst.mtu - hdrs) / sizeof(struct tcp_sack_block) : 0;
}

static void emit_opts(struct tcp_conn *c, struct tcp_emit *e, uint32_t len, struct mono now)
{
	bool is_open = !(e->flags & TCP_SYN);
	bool is_offer = (e->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
	struct tcp_opts *o = &e->opt;

	/* a SYN offers what the knobs allow, a SYN-ACK what the peer offered too */
	o->has_ts = is_offer ? tcp_knob(c->t, NS_KNOB_tcp_timestamps) : tcp_has(c, TCP_F_TS);
	if (o->has_ts) {
		o->ts_val = tcp_ts_now(c->ts_off, now);
		o->ts_ecr = e->flags & TCP_ACK ? c->ts_recent : 0;
	}
	if (is_open) {
		/*
		 * RFC 9768 3.2.2.1: what answers a SYN-ACK is bare, tcp_output() sends another behind it; 3.2.2.5.1: so
		 * is what answers acknowledgements, or it would seem a duplicate.
		 */
		if (len == 0 && tcp_has(c, TCP_F_SACK) && !(e->flags & TCP_RST) &&
		    !c->ecn.acc.is_answer_due && !c->ecn.acc.is_ack_of_acks)
			tcp_reasm_blocks(c, o);
		o->sack_cnt = (uint8_t)ns_min_u(o->sack_cnt, sack_fits(c));
		return;
	}
	e->is_syn_opts = true;
	o->mss = c->adv_mss;
	o->sack_ok = is_offer ? tcp_knob(c->t, NS_KNOB_tcp_sack) : tcp_has(c, TCP_F_SACK);
	o->has_wscale =
		is_offer ? tcp_knob(c->t, NS_KNOB_tcp_window_scaling) : tcp_has(c, TCP_F_WSCALE);
	o->wscale = c->rcv_wscale;
	if (is_offer || c->tfo.is_pending)
		o->tfo = c->tfo.opt;
}

static void set_gso(const struct tcp_conn *c, struct pkt *p, uint32_t len)
{
	if (len <= c->mss || c->mtup.is_sending)
		return;
	p->gso_size = (uint16_t)c->mss;
	p->gso_segs = (uint16_t)((len + c->mss - 1) / c->mss);
	p->gso_type = ns_addr_is_v4(&tcp_remote(c)->addr) ? PKT_GSO_TCP4 : PKT_GSO_TCP6;
}

/* Payload [@seq, @seq + @len) into @p; whole segments when not all of it fits. Octets added. */
static uint32_t add_payload(struct tcp_conn *c, struct pkt *p, struct seq seq, uint32_t len)
{
	uint64_t off = c->sndq.head + (uint32_t)seq_diff(seq, c->snd_una);
	uint32_t n = bytes_to_pkt(&c->sndq, off, len, p);

	if (n < len && n > c->mss) {
		n -= n % c->mss;
		pkt_trim(p, n);
	}
	return n;
}

/* Everything that changes because a segment with our acknowledgement left. */
static void account(struct tcp_conn *c, const struct pkt *p, uint32_t len, uint8_t flags,
		    struct mono now)
{
	uint32_t segs = p->gso_segs > 1 ? p->gso_segs : 1;

	stat_inc(tcp_stats(c->t), STAT_TCP_SEGS_OUT);
	c->meter.segs_out += segs;
	if (len) {
		c->meter.data_segs_out += segs;
		c->meter.bytes_sent += len;
		if (mono_since(now, c->data_rx_at) < TCP_DELACK_NS &&
		    !seq_eq(c->rcv_acked, c->rcv_nxt))
			c->flags |= TCP_F_PINGPONG; /* an answer: its acknowledgement rode on it */
		c->data_tx_at = now;
	}
	if (flags & TCP_ACK)
		tcp_rcv_acked(c);
}

/* linux ip_dont_fragment(): IP_MTU_DISCOVER other than DO and WANT lets routers cut what is too long */
static bool is_whole(const struct tcp_conn *c)
{
	uint8_t how = c->ip_opts[0].mtu_discover;

	return how == PMTUDISC_WANT || how == PMTUDISC_DO || !ns_addr_is_v4(&tcp_remote(c)->addr);
}

/**
 * tcp_xmit() - one (super-)segment of a connection
 * @c:		Connection with a current path
 * @seq:	First sequence number
 * @len:	Octets of payload from @seq on, in the send queue; at most net_dst_gso()
 * @flags:	enum tcp_flag
 * @now:	Time
 *
 * Only sends: SND.NXT, records and timers are the caller's.
 *
 * Return: octets of payload that left, fewer than @len when the packet could not hold more references;
 * -EAGAIN when nothing left because the link or a pool has no room
 */
int tcp_xmit(struct tcp_conn *c, struct seq seq, uint32_t len, uint8_t flags, struct mono now)
{
	struct tcp_emit e = {
		.local = *tcp_local(c),
		.remote = *tcp_remote(c),
		.seq = seq,
		.ack = c->rcv_nxt,
		.flags = flags,
	};
	struct ip_tx ip = {
		.src = e.local.addr,
		.dst = e.remote.addr,
		.proto = 6,
		.ttl = tcp_ip_opts_of(c, &e.remote.addr)->ttl,
		.tos = tcp_ip_opts_of(c, &e.remote.addr)->tos,
		.dont_fragment = is_whole(c),
	};
	struct tcp *t = c->t;
	struct pkt *p;
	uint32_t n = 0;
	int r;

	if (net_dst_room(t->net, &c->dst) == 0)
		return -EAGAIN;
	p = pkt_new_tx(&t->core->pkts);
	if (!p)
		return -EAGAIN;
	if (len)
		n = add_payload(c, p, seq, len);
	if (n < len) {
		if (n == 0) {
			pkt_free(p);
			return -EAGAIN;
		}
		e.flags &= (uint8_t) ~(TCP_FIN |
				       TCP_PSH); /* they belong to the end, which is not in it */
	}
	emit_opts(c, &e, n, now);
	tcp_ecn_out(c, n && seq_eq(seq, c->snd_nxt), n, &e, &ip.tos);
	p->ecn = c->ecn.mode == TCP_ECN_CLASSIC && (e.flags & TCP_CWR);
	if (c->urg.has_snd && !(flags & (TCP_SYN | TCP_RST)))
		tcp_urg_out(c, &e);
	if (!(flags & TCP_RST))
		e.wnd = tcp_rcv_offer(c, (flags & TCP_SYN) != 0);
	tcp_hdr_emit(p, &e);
	set_gso(c, p, n);
	account(c, p, n, e.flags, now);
	r = net_output(t->net, &c->dst, &ip, p, now);
	if (r < 0)
		c->soft_err = r; /* like a loss on the wire: the timers see to it */
	return (int)n;
}

/**
 * tcp_send_ack() - an empty acknowledgement, with SACK blocks when there are any
 *
 * Return: 0, -EAGAIN when there is no room: it stays due, at the end of the turn
 */
int tcp_send_ack(struct tcp_conn *c, struct mono now)
{
	int r = tcp_route(c);

	if (r == 0)
		r = tcp_xmit(c, c->snd_nxt, 0, TCP_ACK, now);
	if (r < 0) {
		c->flags |= TCP_F_ACK_NOW;
		tcp_conn_dirty(c);
	}
	return r < 0 ? r : 0;
}

/** tcp_send_rst() - RFC 9293 3.5.2: we give the connection up; best effort */
void tcp_send_rst(struct tcp_conn *c, struct mono now)
{
	if (tcp_route(c) == 0 && tcp_xmit(c, c->snd_nxt, 0, TCP_RST | TCP_ACK, now) >= 0)
		stat_inc(tcp_stats(c->t), STAT_TCP_RST_OUT);
}

/**
 * tcp_reply() - a segment without payload for which there is no connection object
 * @t:		TCP
 * @e:		Header
 * @tos:	DSCP octet
 * @now:	Time
 *
 * Best effort: without route, room or memory nothing is sent.
 */
void tcp_reply(struct tcp *t, struct tcp_emit *e, uint8_t tos, struct mono now)
{
	struct ip_tx ip = {
		.src = e->local.addr,
		.dst = e->remote.addr,
		.proto = 6,
		.tos = tos,
		.dont_fragment = true,
	};
	const struct ns_flow flow = { .dst = e->remote.addr,
				      .src = e->local.addr,
				      .oif = e->ifindex,
				      .mark = e->mark,
				      .uid = e->uid,
				      .sport = e->local.port,
				      .dport = e->remote.port,
				      .tos = tos,
				      .proto = 6 };
	struct dst d;
	struct pkt *p;

	if (net_route_flow(t->net, &flow, &d) < 0 || net_dst_room(t->net, &d) == 0)
		return;
	p = pkt_new_tx(&t->core->pkts);
	if (!p)
		return;
	tcp_hdr_emit(p, e);
	stat_inc(tcp_stats(t), STAT_TCP_SEGS_OUT);
	(void)net_output(t->net, &d, &ip, p, now);
}

/**
 * tcp_reply_rst() - RFC 9293 3.10.7.1: the answer to a segment nobody wants
 * @t:		TCP
 * @of:		The connection or listener whose mark, link and user choose the way; NULL: there is none, and the
 *		routes alone do (linux tcp_v4_send_reset())
 * @s:		Segment; a reset is never answered
 * @now:	Time
 */
void tcp_reply_rst(struct tcp *t, const struct tcp_conn *of, const struct tcp_seg *s,
		   struct mono now)
{
	struct tcp_emit e = { .local = s->local, .remote = s->remote, .flags = TCP_RST };

	if (s->flags & TCP_RST)
		return;
	if (of) {
		e.mark = of->mark;
		e.ifindex = of->bind.ifindex;
		e.uid = of->uid;
	}
	if (s->flags & TCP_ACK) {
		e.seq = s->ack;
	} else {
		e.ack = tcp_seg_end(s);
		e.flags |= TCP_ACK;
	}
	stat_inc(tcp_stats(t), STAT_TCP_RST_OUT);
	tcp_reply(t, &e, 0, now);
}
