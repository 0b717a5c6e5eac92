/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_out.c - datagrams to IP
 *
 * Theory of operation
 *
 * A datagram is sent at once or not at all: nothing of it is kept here. Its payload is copied into
 * small pieces that go with the frame. The path is looked up for each (a table look-up; programs send
 * to changing peers), the source is what the call or bind() named, else what the route prefers.
 *
 * A datagram that fits its path may not be fragmented on the way (IP_PMTUDISC_WANT, the default); one
 * that does not is cut by us, or refused with -EMSGSIZE under IP_PMTUDISC_DO. The checksum is left to
 * the device, unless the datagram is cut.
 *
 * Backpressure: a link without room is -EAGAIN; the socket is told NS_EV_OUT once there is some. A group
 * is sent to whatever the room, since its copy for this host follows.
 */
#include <errno.h>
#include <string.h>

#include "udp/udp_int.h"
#include "wire/csum.h"
#include "wire/ip4.h"

enum {
	PMTUDISC_DONT = 0, /* linux/in.h IP_PMTUDISC_* */
	PMTUDISC_WANT = 1,
	PMTUDISC_DO = 2,
	PMTUDISC_PROBE = 3,
	PMTUDISC_INTERFACE = 4,
	PMTUDISC_OMIT = 5,
};

/* A datagram on its way out. */
struct udp_out {
	struct ns_endpoint to;
	struct ns_addr src;
	struct dst dst;
	bool is_group, is_mcast;
	uint8_t ttl, tos;
};

/* Payload of @iov into pieces of @p. */
static int copy_payload(struct udp *u, struct pkt *p, const struct ns_iov *iov, uint32_t iov_cnt)
{
	struct chunk *c = NULL;
	uint32_t used = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < iov_cnt; i++) {
		const uint8_t *from = iov[i].base;
		size_t left = iov[i].len;

		while (r == 0 && left > 0) {
			uint32_t n;

			if (!c || used == CHUNK_SMALL) {
				if (c && (r = pkt_add_frag(p, c, 0, used)) < 0)
					break;
				chunk_unref(c);
				c = chunk_new(&u->core->chunks, CHUNK_SMALL);
				used = 0;
				if (!c)
					return -ENOBUFS;
			}
			n = ns_min_u(CHUNK_SMALL - used,
				     left > CHUNK_SMALL ? CHUNK_SMALL : (uint32_t)left);
			memcpy(c->data + used, from, n);
			from += n;
			left -= n;
			used += n;
		}
	}
	if (r == 0 && c)
		r = pkt_add_frag(p, c, 0, used);
	chunk_unref(c);
	return r;
}

static void header_push(struct pkt *p, const struct udp_out *o, uint16_t sport, bool has_csum,
			bool is_partial)
{
	struct udp_hdr *h = PKT_PUSH(p, struct udp_hdr);
	uint32_t len = pkt_len(p);
	uint32_t sum = csum_pseudo(&o->src, &o->to.addr, IP_PROTO_UDP, len);
	uint16_t csum;

	*h = (struct udp_hdr){ .sport = be16(sport),
			       .dport = be16(o->to.port),
			       .len = be16((uint16_t)len) };
	p->csum = PKT_CSUM_FULL;
	if (!has_csum)
		return;
	if (is_partial) {
		p->csum = PKT_CSUM_PARTIAL;
		p->csum_off = UDP_CSUM_OFF;
		h->csum = be16(csum_fold(sum));
		return;
	}
	csum = csum_finish(csum_pkt(sum, p, 0, len));
	h->csum = be16(csum ? csum : UINT16_MAX); /* RFC 768: zero says that there is none */
}

/* Where to and from where. */
static int find_path(struct udp_sock *s, const struct ns_dgram_tx *tx, struct udp_out *o)
{
	struct ns_addr src = tx->from;
	uint32_t ifindex = tx->ifindex;
	bool is_bcast = false;
	int r;

	if (!tx->has_to && !s->is_connected)
		return -EDESTADDRREQ;
	o->to = tx->has_to ? tx->to : s->remote;
	if (o->to.port == 0)
		return -EINVAL;
	o->is_mcast = ns_addr_is_multicast(&o->to.addr);
	if (ns_addr_is_any(&src) && s->has_user_addr && !ns_addr_is_multicast(&s->bind.local.addr))
		src = s->bind.local.addr;
	if (ns_addr_is_any(&src) && !tx->has_to)
		src = s->src;
	if (o->is_mcast && ns_addr_is_any(&src))
		src = s->mcast_src;
	if (o->is_mcast && ifindex == 0)
		ifindex = s->mcast_ifindex;
	if (!ns_addr_is_any(&tx->from) && !net_is_local(s->udp->net, &tx->from))
		return -EINVAL; /* linux ip_route_output_key_hash_rcu() */
	r = net_route_dgram(s->udp->net, &o->to.addr, &src, ifindex, &o->dst, &o->is_group,
			    &is_bcast);
	if (r < 0)
		return r;
	if (is_bcast && !s->is_broadcast)
		return -EACCES;
	if (ns_addr_is_any(&o->to.addr))
		o->to.addr = o->dst.nexthop;
	o->src = o->dst.src;
	o->tos = tx->tos >= 0 ? (uint8_t)tx->tos : s->tos;
	o->ttl = tx->ttl >= 0 ? (uint8_t)tx->ttl : o->is_mcast ? s->mcast_ttl : s->ttl;
	return 0;
}

/* Octets of IP packet that the path takes, as far as the socket wants to know; @ret_refuses: more is no use. */
static uint32_t path_mtu(struct udp_sock *s, const struct udp_out *o, struct mono now,
			 bool *ret_refuses)
{
	*ret_refuses = s->mtu_discover == PMTUDISC_DO || s->mtu_discover == PMTUDISC_PROBE;
	return s->mtu_discover < PMTUDISC_PROBE ? udp_pmtu_get(s->udp, &o->to.addr, o->dst.mtu, now)
						: o->dst.mtu;
}

/** udp_check() - dgram_ops.check */
int udp_check(void *c, const struct ns_dgram_tx *tx, uint32_t len, struct mono now)
{
	struct udp_out o;
	bool refuses;
	int r = find_path(c, tx, &o);

	if (r < 0)
		return r;
	return len + UDP_HDR_LEN + IP4_HDR_LEN > path_mtu(c, &o, now, &refuses) && refuses
		       ? -EMSGSIZE
		       : 0;
}

/* One packet by @d; Consumes @p. */
static int emit(struct udp_sock *s, const struct udp_out *o, const struct dst *d, struct pkt *p,
		bool dont_fragment, struct mono now)
{
	struct ip_tx ip = { .src = o->src,
			    .dst = o->to.addr,
			    .proto = IP_PROTO_UDP,
			    .ttl = o->ttl,
			    .tos = o->tos,
			    .dont_fragment = dont_fragment };

	return net_output(s->udp->net, d, &ip, p, now);
}

static struct pkt *build(struct udp_sock *s, const struct udp_out *o, const struct ns_iov *iov,
			 uint32_t iov_cnt, bool is_cut)
{
	struct udp *u = s->udp;
	auto_free(pkt) p = pkt_new_tx(&u->core->pkts);

	if (!p || copy_payload(u, p, iov, iov_cnt) < 0)
		return NULL;
	header_push(p, o, s->bind.local.port, !s->is_no_check, !is_cut);
	return take(p);
}

/* Members on this host hear it, too: linux v6.1 net/ipv4/ip_output.c ip_mc_output() */
static void loop_back(struct udp_sock *s, const struct udp_out *o, const struct ns_iov *iov,
		      uint32_t iov_cnt, struct mono now)
{
	struct dst loop;
	struct pkt *p;

	if (o->is_mcast && (!s->has_mcast_loop || !udp_hears(s->udp, &o->to.addr, 1)))
		return;
	p = build(s, o, iov, iov_cnt, false);
	if (!p)
		return;
	net_loop_dst(s->udp->net, &o->to.addr, &loop);
	(void)emit(s, o, &loop, p, false, now);
}

/** udp_send() - dgram_ops.send */
int udp_send(void *c, const struct ns_dgram_tx *tx, const struct ns_iov *iov, uint32_t iov_cnt,
	     struct mono now)
{
	struct udp_sock *s = c;
	struct udp *u = s->udp;
	struct udp_out o;
	uint32_t mtu, len;
	size_t total = 0;
	struct pkt *p;
	bool is_cut, dont_fragment, refuses;
	int r;

	for (uint32_t i = 0; i < iov_cnt; i++)
		total += iov[i].len;
	if (total > NS_DGRAM_MAX)
		return -EMSGSIZE;
	r = find_path(s, tx, &o);
	if (r == 0)
		r = udp_autobind(s);
	if (r < 0)
		return r;
	len = (uint32_t)total + UDP_HDR_LEN + IP4_HDR_LEN;
	mtu = path_mtu(s, &o, now, &refuses);
	is_cut = len > mtu;
	if (is_cut && refuses)
		return -EMSGSIZE;
	dont_fragment =
		!is_cut && (s->mtu_discover == PMTUDISC_WANT || s->mtu_discover == PMTUDISC_DO ||
			    s->mtu_discover == PMTUDISC_PROBE);
	if (!o.is_group && net_dst_room(u->net, &o.dst) == 0) {
		if (list_is_empty(&s->starved))
			list_push(&u->starved, &s->starved);
		return -EAGAIN;
	}
	p = build(s, &o, iov, iov_cnt, is_cut);
	if (!p)
		return -ENOBUFS;
	if (o.ttl > 0 || !o.is_group) { /* RFC 1112 6.1: a TTL of 0 stays on this host */
		o.dst.mtu = mtu;
		r = emit(s, &o, &o.dst, p, dont_fragment, now);
	} else {
		pkt_free(p);
	}
	if (o.is_group)
		loop_back(s, &o, iov, iov_cnt, now);
	if (r == -ENOBUFS && !s->is_recverr)
		r = 0; /* lost as on any wire: linux udp_send_skb() */
	if (r < 0)
		return r;
	stat_inc(u->core->stats, STAT_UDP_OUT);
	stat_add(u->core->stats, STAT_UDP_OCTETS_OUT, total);
	return 0;
}

/** udp_output() - transport_ops.output: who had no room may try again */
void udp_output(void *self, struct mono now)
{
	struct udp *u = self;
	struct list *n;

	(void)now;
	while ((n = list_pop(&u->starved)) != NULL)
		udp_tell(list_entry(n, struct udp_sock, starved), NS_EV_OUT, 0);
}
