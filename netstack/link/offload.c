/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload.c - software segmentation and checksums
 *
 * Theory of operation
 *
 * A super-frame is one set of headers (linear) and payload by reference (frags). offload_cut() makes
 * of it the frames a device would: the headers copied in front of each piece of gso_size octets, the
 * payload referenced again, never copied, and per frame
 *
 *   IPv4   total length, identification + i, header checksum
 *   IPv6   payload length
 *   TCP    sequence + i * gso_size; FIN and PSH on the last only; CWR on the first only (RFC 3168
 *          6.1.2 would see more than one answer otherwise); full checksum
 *   UDP    length; full checksum (RFC 768: never zero)
 *
 * The sums of what does not differ between the frames are taken once.
 *
 * References: virtio 1.2 5.1.6.2; linux v6.1 net/ipv4/tcp_offload.c tcp_gso_segment(),
 * net/ipv4/udp_offload.c __udp_gso_segment().
 */
#include "link/offload.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "wire/csum.h"
#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/tcp.h"
#include "wire/udp.h"

/* Where in the super-frame's payload the next frame begins. */
struct cursor {
	uint32_t frag_idx;
	uint32_t frag_off;
};

/* What all frames of one super-frame share. */
struct plan {
	const struct pkt *super;
	uint32_t l3_off, l4_off; /* octets from the Ethernet header */
	uint32_t hdr_len;        /* octets of all headers */
	uint32_t ip_sum;         /* IPv4: header, without total length and identification */
	uint32_t
		l4_sum; /* pseudo-header without length, header without what put_tcp() or put_udp() sets */
	uint32_t seq;
	uint16_t id;
	uint8_t flags;
	bool is_v6, is_udp;
};

/* The IPv4 header at @at: what of it differs between the frames is zeroed and summed apart. */
static void plan_ip4(struct plan *pl, uint8_t *at, struct ns_addr *src, struct ns_addr *dst)
{
	struct ip4_hdr ip;

	memcpy(&ip, at, sizeof(ip));
	pl->id = be16_get(ip.id);
	*src = ns_addr_v4(be32_get(ip.src));
	*dst = ns_addr_v4(be32_get(ip.dst));
	ip.len = ip.id = ip.csum = be16(0);
	memcpy(at, &ip, sizeof(ip));
	pl->ip_sum = csum_add(0, at, pl->l4_off - pl->l3_off);
}

static void plan_ip6(struct plan *pl, const uint8_t *at, struct ns_addr *src, struct ns_addr *dst)
{
	struct ip6_hdr ip;

	memcpy(&ip, at, sizeof(ip));
	memcpy(src->b, ip.src, sizeof(src->b));
	memcpy(dst->b, ip.dst, sizeof(dst->b));
	pl->is_v6 = true;
}

/* The transport header at @at, likewise. */
static void plan_l4(struct plan *pl, uint8_t *at)
{
	struct tcp_hdr tcp;
	struct udp_hdr udp;

	if (pl->is_udp) {
		memcpy(&udp, at, sizeof(udp));
		udp.len = udp.csum = be16(0);
		memcpy(at, &udp, sizeof(udp));
		return;
	}
	memcpy(&tcp, at, sizeof(tcp));
	pl->seq = be32_get(tcp.seq);
	pl->flags = tcp.flags;
	tcp.seq = be32(0);
	tcp.flags = 0;
	tcp.csum = be16(0);
	memcpy(at, &tcp, sizeof(tcp));
}

static int plan_init(struct plan *pl, const struct pkt *super)
{
	uint8_t hdr[ETH_HDR_LEN + IP4_HDR_MAX + TCP_HDR_MAX];
	struct ns_addr src, dst;

	*pl = (struct plan){ .super = super, .l3_off = ETH_HDR_LEN };
	pl->l4_off = (uint32_t)super->l4_off - super->l2_off;
	pl->hdr_len = super->len;
	pl->is_udp = super->gso_type == PKT_GSO_UDP_L4;
	if (super->gso_type == PKT_GSO_NONE || super->gso_size == 0)
		return -EOPNOTSUPP;
	NS_BUG_ON(pl->hdr_len > sizeof(hdr) ||
		  pl->l4_off + (pl->is_udp ? UDP_HDR_LEN : TCP_HDR_LEN) > pl->hdr_len);
	memcpy(hdr, pkt_data(super), pl->hdr_len);
	if (hdr[pl->l3_off] >> 4 == 4)
		plan_ip4(pl, hdr + pl->l3_off, &src, &dst);
	else
		plan_ip6(pl, hdr + pl->l3_off, &src, &dst);
	plan_l4(pl, hdr + pl->l4_off);
	pl->l4_sum = csum_add(csum_pseudo(&src, &dst, pl->is_udp ? IP_PROTO_UDP : IP_PROTO_TCP, 0),
			      hdr + pl->l4_off, pl->hdr_len - pl->l4_off);
	return 0;
}

/* Reference the next @len octets of payload from @p and add their sum to @sum. */
static int take_payload(const struct plan *pl, struct cursor *at, struct pkt *p, uint32_t len,
			uint32_t *sum)
{
	bool is_odd = false;

	while (len > 0) {
		const struct pkt_frag *f = &pl->super->frag[at->frag_idx];
		uint32_t n = ns_min_u(len, f->len - at->frag_off);
		uint32_t off = f->off + at->frag_off;
		const uint8_t *data = f->chunk->data + off;

		if (n > 0 && pkt_add_frag(p, f->chunk, off, n) < 0)
			return -ENOSPC;
		*sum = is_odd ? csum_add_odd(*sum, data, n) : csum_add(*sum, data, n);
		is_odd ^= n & 1;
		len -= n;
		at->frag_off += n;
		if (at->frag_off == f->len) {
			at->frag_idx++;
			at->frag_off = 0;
		}
	}
	return 0;
}

/* What of the IP header at @at is of frame @i alone, @l4_len octets behind it. */
static void put_ip(const struct plan *pl, uint8_t *at, uint32_t i, uint32_t l4_len)
{
	uint32_t len = pl->l4_off - pl->l3_off + l4_len;
	uint16_t id = (uint16_t)(pl->id + i);
	struct ip4_hdr *ip = (struct ip4_hdr *)(void *)at;

	if (pl->is_v6) {
		((struct ip6_hdr *)(void *)at)->payload_len = be16((uint16_t)(len - IP6_HDR_LEN));
		return;
	}
	ip->len = be16((uint16_t)len);
	ip->id = be16(id);
	ip->csum = be16(csum_finish(pl->ip_sum + len + id));
}

/* What of the TCP header at @at is of frame @i alone; @sum: payload and all that the frames share. */
static void put_tcp(const struct plan *pl, uint8_t *at, uint32_t i, uint32_t sum, bool is_last)
{
	uint32_t seq = pl->seq + i * pl->super->gso_size;
	struct tcp_hdr *tcp = (struct tcp_hdr *)(void *)at;
	uint8_t flags = pl->flags;

	if (i > 0)
		flags &= (uint8_t)~TCP_CWR;
	if (!is_last)
		flags &= (uint8_t) ~(TCP_FIN | TCP_PSH);
	tcp->seq = be32(seq);
	tcp->flags = flags;
	tcp->csum = be16(csum_finish(sum + (seq >> 16) + (seq & 0xffff) + flags));
}

/* Likewise of the UDP header, whose datagram has @len octets. */
static void put_udp(uint8_t *at, uint32_t len, uint32_t sum)
{
	struct udp_hdr *udp = (struct udp_hdr *)(void *)at;
	uint16_t csum = csum_finish(sum + len);

	udp->len = be16((uint16_t)len);
	udp->csum = be16(csum ? csum : UINT16_MAX); /* RFC 768: zero says that there is none */
}

/* Headers of frame @i in front of its payload of @len octets, whose sum is @sum. */
static void put_headers(const struct plan *pl, struct pkt *p, uint32_t i, uint32_t len,
			uint32_t sum, bool is_last)
{
	uint8_t *hdr = pkt_push(p, pl->hdr_len);
	uint32_t l4_len = pl->hdr_len - pl->l4_off + len;

	memcpy(hdr, pkt_data(pl->super), pl->hdr_len);
	put_ip(pl, hdr + pl->l3_off, i, l4_len);
	sum += pl->l4_sum + l4_len;
	if (pl->is_udp)
		put_udp(hdr + pl->l4_off, l4_len, sum);
	else
		put_tcp(pl, hdr + pl->l4_off, i, sum, is_last);
	p->l2_off = (uint16_t)p->head;
	p->l3_off = (uint16_t)(p->l2_off + pl->l3_off);
	p->l4_off = (uint16_t)(p->l2_off + pl->l4_off);
	p->csum = PKT_CSUM_FULL;
}

static struct pkt *cut_one(const struct plan *pl, struct cursor *at, struct pool *pkts, uint32_t i,
			   uint32_t len, bool is_last)
{
	auto_free(pkt) p = pkt_new_tx(pkts);
	uint32_t sum = 0;

	if (!p || take_payload(pl, at, p, len, &sum) < 0)
		return NULL;
	put_headers(pl, p, i, len, sum, is_last);
	return take(p);
}

/**
 * offload_cut() - a super-frame as the frames a device would make of it
 * @super:	TCP or UDP over IPv4 or IPv6, all headers linear and all payload in frags; borrowed, not changed
 * @pkts:	Where the frames come from
 * @out:	They are appended here, in order
 *
 * Return: 0, or -ENOMEM or -EOPNOTSUPP with @out as it was
 */
int offload_cut(const struct pkt *super, struct pool *pkts, struct pktq *out)
{
	uint32_t left = super->frag_len;
	struct cursor at = { 0 };
	struct plan pl;
	struct pktq q;
	int r = plan_init(&pl, super);

	if (r < 0)
		return r;
	pktq_init(&q);
	for (uint32_t i = 0; left > 0; i++) {
		uint32_t len = ns_min_u(left, super->gso_size);
		struct pkt *p = cut_one(&pl, &at, pkts, i, len, len == left);

		if (!p) {
			pktq_clear(&q);
			return -ENOMEM;
		}
		pktq_push(&q, p);
		left -= len;
	}
	list_splice(&out->head, &q.head);
	out->cnt += q.cnt;
	return 0;
}

/**
 * offload_fill_csum() - complete a partial checksum
 * @p:	Frame from the Ethernet header on, PKT_CSUM_PARTIAL; afterwards PKT_CSUM_FULL
 *
 * The field holds the pseudo-header's sum, so summing the field along gives the whole.
 */
void offload_fill_csum(struct pkt *p)
{
	uint32_t field = (uint32_t)p->csum_start + p->csum_off;
	uint16_t sum;
	struct be16 wire;

	NS_BUG_ON(field + sizeof(wire) > p->len);
	sum = csum_finish(csum_pkt(0, p, p->csum_start, pkt_len(p) - p->csum_start));
	if (sum == 0 && p->csum_off == UDP_CSUM_OFF)
		sum = UINT16_MAX; /* RFC 768: zero would mean that there is none */
	wire = be16(sum);
	memcpy(pkt_data(p) + field, &wire, sizeof(wire));
	p->csum = PKT_CSUM_FULL;
}
