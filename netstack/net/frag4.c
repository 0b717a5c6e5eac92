/* SPDX-License-Identifier: Apache-2.0 */
/* frag4.c - fragments of IPv4 read, whole packets given a header: RFC 791 3.2, RFC 1858, RFC 3128 */
#include <string.h>

#include "net/net_int.h"
#include "wire/csum.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"

enum {
	UNIT = 8,         /* octets */
	TCP_HDR_MIN = 20, /* octets, RFC 3128 */
	L4_HDR_MIN = 8,   /* octets of any other header that a transport reads */
};

static void finish(struct pkt *p, const struct frag_piece *first)
{
	struct ip4_hdr *h = (struct ip4_hdr *)(void *)pkt_data(p);

	h->len = be16((uint16_t)p->len);
	h->frag = be16(0);
	h->csum = be16(0);
	h->csum = be16(csum_finish(csum_add(0, h, first->hdr_len)));
}

static void expired(struct net *n, struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	const struct ip4_hdr *h = (const struct ip4_hdr *)(const void *)pkt_data(p);

	NS_BUG_ON(!pkt_pull(p, ip4_hdr_len(h)));
	icmp_error(n, p, ip, ICMP4_TIME_EXCEEDED, ICMP4_EXCEEDED_REASSEMBLY, now);
}

static const struct frag_family family = {
	.timeout_ns = 30 * NS_PER_SEC, /* linux net.ipv4.ipfrag_time */
	.bad = DROP_IP4_FRAGMENT,
	.finish = finish,
	.expired = expired,
};

/* RFC 1858 3, RFC 3128 2: a transport header in two fragments hides something from somebody. */
static bool is_header_split(const struct frag_piece *f)
{
	bool is_tcp = f->proto == IP_PROTO_TCP;

	if (f->off == 0 && !f->is_last)
		return f->len < (is_tcp ? TCP_HDR_MIN : L4_HDR_MIN);
	return is_tcp && f->off == UNIT;
}

/**
 * frag4_input() - frag_input() for IPv4
 * @n:		IP layer
 * @p:		Packet, its head at the IP header, header checked; Consumes @p
 * @ip:		What IP knows of it; with @ret_whole, of the whole packet
 * @now:	Time
 * @ret_whole:	As frag_input() has it
 *
 * Return: DROP_NONE when it was kept, or why not
 */
enum drop frag4_input(struct net *n, struct pkt *p, struct ip_rx *ip, struct mono now,
		      struct pkt **ret_whole)
{
	const struct ip4_hdr *h = (const struct ip4_hdr *)(const void *)pkt_data(p);
	struct frag_piece f = {
		.id = be16_get(h->id),
		.proto = h->proto,
		.off = (be16_get(h->frag) & IP4_OFF_MASK) * (uint32_t)UNIT,
		.len = pkt_len(p) - ip4_hdr_len(h),
		.hdr_len = ip4_hdr_len(h),
		.is_last = !(be16_get(h->frag) & IP4_MF),
	};

	f.is_bad = is_header_split(&f);
	return frag_input(n, &family, p, &f, ip, now, ret_whole);
}
