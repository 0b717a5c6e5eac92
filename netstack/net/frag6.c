/* SPDX-License-Identifier: Apache-2.0 */
/* frag6.c - fragments of IPv6 read, whole packets given one header chain: RFC 8200 4.5, RFC 7112 */
#include <string.h>

#include "net/icmp6.h"
#include "net/ip6_ext.h"
#include "net/net_int.h"
#include "wire/icmp6.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

/* The fragment header goes, and what it names is named by the field that named it. */
static void finish(struct pkt *p, const struct frag_piece *first)
{
	uint8_t *h = pkt_data(p);
	uint32_t len = first->hdr_len - (uint32_t)sizeof(struct ip6_frag);
	struct be16 payload_len;

	h[first->next_at] = h[len];
	memmove(h + sizeof(struct ip6_frag), h, len);
	NS_BUG_ON(!pkt_pull(p, sizeof(struct ip6_frag)));
	payload_len = be16((uint16_t)(p->len - IP6_HDR_LEN));
	memcpy(pkt_data(p) + IP6_LEN_OFF, &payload_len, sizeof(payload_len));
}

static void expired(struct net *n, struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	static const struct icmp6_say say = { .type = ICMP6_TIME_EXCEEDED,
					      .code = ICMP6_EXCEEDED_REASSEMBLY };

	if (!icmp6_is_error_inside(p))
		icmp6_error(n, p, ip, &say, now);
}

static const struct frag_family family = {
	.timeout_ns = 60 * NS_PER_SEC, /* RFC 8200 4.5 */
	.hdr_free = IP6_HDR_LEN + sizeof(struct ip6_frag),
	.bad = DROP_IP6_FRAGMENT,
	.finish = finish,
	.expired = expired,
};

/* RFC 7112 5: does a first fragment have all headers up to the transport's, and that one too? */
static bool is_chain_whole(const struct pkt *p)
{
	enum { TCP_HDR_MIN = 20, L4_HDR_MIN = 8 }; /* octets */
	uint32_t off, min;
	uint8_t proto;

	if (!ip6_ext_find_l4(p, &off, &proto))
		return false;
	switch (proto) {
	case IP_PROTO_TCP:
		min = TCP_HDR_MIN;
		break;
	case IP_PROTO_UDP:
	case IP_PROTO_ICMP6:
		min = L4_HDR_MIN;
		break;
	case IP6_NEXT_NONE:
		min = 0;
		break;
	default:
		min = 1; /* what it would need, its own protocol knows */
		break;
	}
	return off + min <= pkt_len(p);
}

/**
 * frag6_input() - frag_input() for IPv6
 * @n:		IP layer
 * @p:		Packet, its head at the IPv6 header; Consumes @p
 * @w:		The walk that ended at its fragment header
 * @ip:		What IP knows of it; with @ret_whole, of the whole packet
 * @now:	Time
 * @ret_whole:	As frag_input() has it
 *
 * A first fragment without all of the headers is refused and its sender told (RFC 7112 5).
 *
 * Return: DROP_NONE when it was kept, or why not
 */
enum drop frag6_input(struct net *n, struct pkt *p, const struct ip6_walk *w, struct ip_rx *ip,
		      struct mono now, struct pkt **ret_whole)
{
	static const struct icmp6_say say = { .type = ICMP6_PARAM_PROBLEM,
					      .code = ICMP6_PARAM_CHAIN };
	auto_free(pkt) mine = p;
	struct frag_piece f = { .hdr_len = w->off + (uint32_t)sizeof(struct ip6_frag),
				.next_at = w->next_at };
	struct ip6_frag h;

	*ret_whole = NULL;
	NS_BUG_ON(!pkt_copy_out(p, w->off, &h, sizeof(h)));
	f.id = be32_get(h.id);
	f.off = be16_get(h.off) & IP6_FRAG_OFF_MASK;
	f.is_last = !(be16_get(h.off) & IP6_FRAG_MORE);
	f.len = pkt_len(p) - f.hdr_len;
	if (f.hdr_len > FRAG_HDR_MAX)
		return DROP_IP6_EXT_LIMIT;
	if (f.off == 0 && !is_chain_whole(p)) {
		if (!icmp6_is_error_inside(p))
			icmp6_error(n, p, ip, &say, now);
		return DROP_IP6_FRAG_CHAIN;
	}
	return frag_input(n, &family, take(mine), &f, ip, now, ret_whole);
}
