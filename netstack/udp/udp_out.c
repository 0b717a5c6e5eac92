/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_out.c - datagrams to IP
 *
 * Theory of operation
 *
 * A datagram is sent at once or not at all: nothing of it is kept here (udp_cork.c gathers before). Its payload is copied into
 * small pieces that go with the frame. The path is looked up for each (a table look-up; programs send
 * to changing peers), the source is what the call or bind() named, else what the route prefers.
 *
 * A datagram that fits its path may not be fragmented on the way (IP_PMTUDISC_WANT, the default; over IPv6
 * none ever is); one that does not is cut by us, or refused with -EMSGSIZE under IP_PMTUDISC_DO and
 * IPV6_DONTFRAG. The checksum is left to the device, unless the datagram is cut.
 *
 * UDP_SEGMENT cuts the payload of one call into datagrams that differ in nothing but what they carry. On this host
 * they go in one piece: who reads them may want them so (UDP_GRO). So they do to a device that cuts them
 * itself (USO). To a group they go one by one, since a copy of each may follow for this host.
 *
 * Backpressure: a link without room is -EAGAIN; the socket is told NS_EV_OUT once there is some. A group
 * is sent to whatever the room, since its copy for this host follows.
 */
#include <errno.h>
#include <string.h>

#include "udp/udp_int.h"
#include "wire/csum.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

/* A datagram on its way out. */
struct udp_out {
	struct ns_endpoint to;
	struct ns_addr src;
	struct dst dst;
	const struct udp_family *f;
	bool is_group, is_mcast, is_dontfrag;
	uint8_t ttl, tos;
	uint32_t hdr_len;  /* octets of IP and UDP headers */
	uint16_t gso_size; /* octets of each datagram, 0: it is one */
	uint32_t stamp;    /* enum ns_stamp: who sent it wants to know when; 0: does not */
};

/* A part of the program's payload: @len octets from @off on. */
struct udp_part {
	const struct ns_iov *iov;
	uint32_t iov_cnt;
	size_t off, len;
};

/* What of @part begins at its octet @done, as far as it lies in one piece. */
static struct ns_iov part_at(const struct udp_part *part, size_t done)
{
	size_t skip = part->off + done;

	for (uint32_t i = 0; i < part->iov_cnt; i++) {
		const struct ns_iov *v = &part->iov[i];

		if (skip < v->len) {
			size_t len = v->len - skip, left = part->len - done;

			return (struct ns_iov){ (uint8_t *)v->base + skip,
						len < left ? len : left };
		}
		skip -= v->len;
	}
	return (struct ns_iov){ 0 };
}

/* Payload into pieces of @p. */
static int copy_payload(struct udp *u, struct pkt *p, const struct udp_part *part)
{
	struct chunk *c = NULL;
	uint32_t used = 0;
	int r = 0;

	for (size_t done = 0; r == 0 && done < part->len;) {
		struct ns_iov v = part_at(part, done);
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
			     v.len > CHUNK_SMALL ? CHUNK_SMALL : (uint32_t)v.len);
		memcpy(c->data + used, v.base, n);
		done += n;
		used += n;
	}
	if (r == 0 && c)
		r = pkt_add_frag(p, c, 0, used);
	chunk_unref(c);
	return r;
}

static void header_push(struct pkt *p, const struct udp_out *o, uint16_t sport, bool is_summed,
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
	if (!is_summed)
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

/* The source, as far as anybody said: the call, bind(), connect(), IP_MULTICAST_IF. */
static int pick_src(const struct udp_sock *s, const struct ns_dgram_tx *tx, const struct udp_out *o,
		    struct ns_addr *ret_src)
{
	*ret_src = net_zone(s->udp->net, tx->from, tx->ifindex);
	if (!ns_addr_is_any(
		    ret_src)) /* linux ip_route_output_key_hash_rcu(), ip6_datagram_send_ctl() */
		return net_is_local(s->udp->net, ret_src) ? 0 : -EINVAL;
	if (s->has_user_src)
		*ret_src = s->bind.local.addr;
	else if (
		s->is_connected) /* linux keeps inet_saddr and np->saddr whatever the destination */
		*ret_src = s->src;
	if (o->is_mcast && ns_addr_is_any(ret_src))
		*ret_src = o->f->mcast_src;
	return 0;
}

/* Where to: the path's family, its options. */
static int find_peer(struct udp_sock *s, const struct ns_dgram_tx *tx, struct udp_out *o)
{
	int r;

	if (!tx->has_to && !s->is_connected)
		return -EDESTADDRREQ;
	o->to = tx->has_to ? tx->to : s->remote;
	if (o->to.port == 0 && !s->udp->is_ping)
		return -EINVAL;
	r = udp_peer(s, &o->to.addr, tx->ifindex ? tx->ifindex : s->bind.ifindex, &o->to.addr);
	o->f = udp_family_of(s, &o->to.addr);
	o->hdr_len = ns_addr_is_v4(&o->to.addr) ? IP4_HDR_LEN : IP6_HDR_LEN;
	if (!s->udp->is_ping) /* there the header is part of what the program writes */
		o->hdr_len += UDP_HDR_LEN;
	o->is_mcast = ns_addr_is_multicast(&o->to.addr);
	return r;
}

/* Where to and from where. */
static int find_path(struct udp_sock *s, const struct ns_dgram_tx *tx, struct udp_out *o)
{
	struct ns_addr src = { { 0 } };
	int r = find_peer(s, tx, o);

	if (r == 0)
		r = pick_src(s, tx, o, &src);
	if (r < 0)
		return r;
	r = udp_route(s, &o->to, &src, tx->ifindex, tx->tos >= 0 ? (uint8_t)tx->tos : o->f->tos,
		      &o->dst, &o->is_group);
	if (r < 0)
		return r;
	if (ns_addr_is_any(&o->to.addr))
		o->to.addr = o->dst.nexthop;
	o->src = o->dst.src;
	o->tos = tx->tos >= 0 ? (uint8_t)tx->tos : o->f->tos;
	o->ttl = tx->ttl >= 0 ? (uint8_t)tx->ttl : o->is_mcast ? o->f->mcast_ttl : o->f->ttl;
	o->is_dontfrag = tx->dontfrag ? tx->dontfrag > 0 : o->f->is_dontfrag;
	return 0;
}

/* Octets of IP packet that the path takes, as far as the socket wants to know; @ret_refuses: more is no use. */
static uint32_t path_mtu(struct udp_sock *s, const struct udp_out *o, struct mono now,
			 bool *ret_refuses)
{
	uint8_t how = o->f->mtu_discover;
	uint32_t mtu = how < PMTUDISC_PROBE ? net_pmtu(s->udp->net, &o->dst, &o->to.addr, now)
					    : o->dst.mtu;

	/* linux ip_sk_ignore_df(), ip6_sk_ignore_df() */
	*ret_refuses = (how >= PMTUDISC_DO && how <= PMTUDISC_INTERFACE) || o->is_dontfrag;
	return o->f->frag_mtu ? ns_min_u(mtu, o->f->frag_mtu) : mtu;
}

int udp_path_mtu(struct udp_sock *s, const struct ns_dgram_tx *tx, struct mono now)
{
	struct udp_out o;
	int r = find_path(s, tx, &o);

	return r < 0 ? r : (int)net_pmtu(s->udp->net, &o.dst, &o.to.addr, now);
}

/* RFC 8200 8.1: over IPv6 there always is one, but for what RFC 6935 5 lets a program ask for */
static bool has_csum(const struct udp_sock *s, const struct ns_addr *to)
{
	return !(ns_addr_is_v4(to) ? s->is_no_check : s->is_no_check6_tx);
}

/* linux 6.18 udp_send_skb(): sizes of UDP_SEGMENT; @len octets in all. */
static int check_gso(const struct udp_sock *s, const struct udp_out *o, uint32_t gso_size,
		     size_t len, uint32_t mtu)
{
	if (ns_min_u(gso_size, (uint32_t)len) + o->hdr_len > mtu)
		return -EMSGSIZE;
	if (len > (size_t)gso_size * UDP_SEGMENTS_MAX)
		return -EINVAL;
	return has_csum(s, &o->to.addr) ? 0 : -EINVAL;
}

/* May @len octets of payload go by this path? @ret_mtu as path_mtu(). */
static int check_len(struct udp_sock *s, const struct ns_dgram_tx *tx, struct udp_out *o,
		     size_t len, struct mono now, uint32_t *ret_mtu)
{
	uint16_t gso_size = s->udp->is_ping ? 0 : tx->has_gso ? tx->gso_size : s->gso_size;
	uint32_t max = NS_DGRAM_MAX;
	bool refuses;

	if (ns_addr_is_v4(&o->to.addr))
		max = NS_DGRAM_MAX4 + (s->udp->is_ping ? PING_HDR_LEN : 0);
	*ret_mtu = path_mtu(s, o, now, &refuses);
	o->gso_size = len > gso_size ? gso_size : 0;
	if (gso_size)
		return len > max ? -EMSGSIZE : check_gso(s, o, gso_size, len, *ret_mtu);
	if (len <= max && (!refuses || len + o->hdr_len <= *ret_mtu))
		return 0;
	if (o->is_dontfrag && o->f->is_recv_path_mtu)
		udp_tell_path_mtu(s, &o->to.addr, udp_pick_ifindex(s, tx->ifindex, &o->to.addr),
				  *ret_mtu);
	return udp_refused(s, &o->to, *ret_mtu);
}

int udp_check_one(struct udp_sock *s, const struct ns_dgram_tx *tx, uint32_t len, struct mono now)
{
	struct udp_out o;
	uint32_t mtu;
	int r = find_path(s, tx, &o);

	return r < 0 ? r : check_len(s, tx, &o, len, now, &mtu);
}

static uint8_t proto_of(const struct udp *u, const struct ns_addr *to)
{
	if (!u->is_ping)
		return IP_PROTO_UDP;
	return ns_addr_is_v4(to) ? IP_PROTO_ICMP : IP_PROTO_ICMP6;
}

static struct ip_tx ip_of(const struct udp_sock *s, const struct udp_out *o, bool dont_fragment)
{
	return (struct ip_tx){ .src = o->src,
			       .dst = o->to.addr,
			       .proto = proto_of(s->udp, &o->to.addr),
			       .ttl = o->ttl,
			       .tos = o->tos,
			       .dont_fragment = dont_fragment };
}

static uint16_t segs_of(const struct udp_out *o, size_t len)
{
	return (uint16_t)((len + o->gso_size - 1) / o->gso_size);
}

/* Many datagrams in one packet, for who can take it so. */
static void mark_super(struct pkt *p, const struct udp_out *o, size_t len)
{
	p->gso_type = PKT_GSO_UDP_L4;
	p->gso_size = o->gso_size;
	p->gso_segs = segs_of(o, len);
}

static bool goes_as_super(const struct udp *u, const struct udp_out *o, size_t len)
{
	if (o->gso_size == 0)
		return false;
	return net_dst_is_loop(&o->dst) ||
	       (!o->is_group &&
		net_dst_takes_uso(u->net, &o->dst, (uint32_t)len + o->hdr_len, segs_of(o, len)));
}

static struct pkt *build(struct udp_sock *s, const struct udp_out *o, const struct udp_part *part,
			 bool is_cut)
{
	struct udp *u = s->udp;
	auto_free(pkt) p = pkt_new_tx(&u->core->pkts);

	struct udp_part body = *part;

	if (u->is_ping) {
		body.off += PING_HDR_LEN;
		body.len -= PING_HDR_LEN;
	}
	if (!p || copy_payload(u, p, &body) < 0)
		return NULL;
	if (u->is_ping) {
		ping_header_push(p, part->iov, &o->src, &o->to.addr, s->bind.local.port);
		return take(p);
	}
	header_push(p, o, s->bind.local.port, has_csum(s, &o->to.addr), !is_cut);
	return take(p);
}

/* Members on this host hear it, too: linux v6.1 net/ipv4/ip_output.c ip_mc_output() */
static void loop_back(struct udp_sock *s, const struct udp_out *o, const struct udp_part *part,
		      struct mono now)
{
	struct dst loop;
	struct ip_tx ip;
	struct pkt *p;
	uint32_t ifindex = net_link_ifindex(o->dst.link);

	if (net_dst_is_loop(&o->dst) || s->udp->is_ping ||
	    (o->is_mcast && (!o->f->has_mcast_loop ||
			     udp_hears(s->udp, &o->to.addr, &o->src, ifindex) != DROP_NONE)))
		return;
	p = build(s, o, part, false);
	if (!p)
		return;
	p->loop_ifindex = ifindex;
	net_loop_dst(s->udp->net, &o->to.addr, &loop);
	ip = ip_of(s, o, false);
	(void)!net_output(s->udp->net, &loop, &ip, p, now);
}

/* RFC 1112 6.1: a TTL of 0 stays on this host; RFC 4291 2.7: so does a group of node-local scope. */
static bool leaves_host(const struct udp_out *o)
{
	if (!o->is_group)
		return true;
	if (o->is_mcast && !ns_addr_is_v4(&o->to.addr) && (o->to.addr.b[1] & 0x0f) <= 1)
		return false;
	return o->ttl > 0;
}

static bool may_be_cut_on_the_way(const struct udp_out *o, bool is_cut)
{
	return is_cut || o->f->mtu_discover == PMTUDISC_DONT ||
	       o->f->mtu_discover >= PMTUDISC_INTERFACE;
}

/* Consumes @p. */
static int send_stamped(struct udp_sock *s, const struct udp_out *o, const struct ip_tx *ip,
			struct pkt *p, struct mono now)
{
	struct ns_dgram_err e;
	int r;

	udp_stamp_begin(o->stamp, ip, p, net_link_ifindex(o->dst.link), &e);
	r = net_output(s->udp->net, &o->dst, ip, p, now);
	if (r == 0)
		udp_stamp_push(s, o->stamp, &e, now);
	return r;
}

/* One datagram, or all of them in one packet. */
static int send_part(struct udp_sock *s, const struct udp_out *o, const struct udp_part *part,
		     bool is_super, struct mono now)
{
	bool is_cut = !is_super && part->len + o->hdr_len > o->dst.mtu;
	struct ip_tx ip = ip_of(s, o, !may_be_cut_on_the_way(o, is_cut));
	struct pkt *p = build(s, o, part, is_cut);
	int r = 0;

	if (!p)
		return -ENOBUFS;
	if (is_super)
		mark_super(p, o, part->len);
	if (!leaves_host(o))
		pkt_free(p);
	else if (o->stamp && part->off == 0)
		r = send_stamped(s, o, &ip, p, now);
	else
		r = net_output(s->udp->net, &o->dst, &ip, p, now);
	if (o->is_group)
		loop_back(s, o, part, now);
	if (r == -ENOBUFS && !o->f->is_recverr)
		r = 0; /* lost as on any wire: linux udp_send_skb() */
	if (r == 0)
		stat_inc(s->udp->core->stats, STAT_UDP_OUT);
	return r;
}

int udp_send_one(struct udp_sock *s, const struct ns_dgram_tx *tx, const struct ns_iov *iov,
		 uint32_t iov_cnt, struct mono now)
{
	struct udp_part part = { .iov = iov, .iov_cnt = iov_cnt };
	struct udp *u = s->udp;
	struct udp_out o;
	uint32_t mtu;
	size_t total = 0, step;
	bool is_super;
	int r;

	for (uint32_t i = 0; i < iov_cnt; i++)
		total += iov[i].len;
	r = find_path(s, tx, &o);
	if (r == 0 && u->is_ping)
		r = ping_check(&o.to.addr, iov, total);
	if (r == 0)
		r = check_len(s, tx, &o, total, now, &mtu);
	if (r == 0)
		r = udp_autobind(s);
	if (r < 0)
		return r;
	if (!o.is_group && net_dst_room(u->net, &o.dst) == 0) {
		if (list_is_empty(&s->starved))
			list_push(&u->starved, &s->starved);
		return -EAGAIN;
	}
	o.dst.mtu = mtu;
	o.stamp = udp_stamp_wanted(s, tx);
	is_super = goes_as_super(u, &o, total);
	step = o.gso_size && !is_super ? o.gso_size : total;
	do {
		part.len = total - part.off < step ? total - part.off : step;
		r = send_part(s, &o, &part, is_super, now);
		part.off += part.len;
	} while (r == 0 && part.off < total);
	if (r == 0)
		stat_add(u->core->stats, STAT_UDP_OCTETS_OUT, total);
	return r;
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
