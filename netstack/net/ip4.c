/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip4.c - IPv4 in and out, RFC 791, RFC 1122 3.2
 *
 * Theory of operation
 *
 * Input is a row of checks, each with its own drop reason: header, checksum, source, destination,
 * options, fragment; what survives goes to the transport with its addresses in an ip_rx. Where it may
 * come from and whether it is ours: route_in.c.
 *
 * Fragments go through frag.c, and what it puts together goes on as if it had come in one piece.
 *
 * A super-frame is one packet whose total length covers all of its segments; longer than 65535 it
 * carries 0 there (linux v6.3 iph_totlen()) and is as long as the frame.
 *
 * Output puts the header in front, with the identification of RFC 6864 4: a counter for each hash of
 * (source, destination, protocol) that starts at random, goes on by one for every segment, so that
 * the segments cut from a super-frame have numbers of their own, and is of no use to predict the
 * numbers that another destination sees.
 */
#include "net/ip4.h"

#include <errno.h>
#include <string.h>

#include "link/ether.h"
#include "net/frag_out.h"
#include "net/net_int.h"
#include "net/route_in.h"
#include "wire/csum.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"

/** ip4_ids_init() - all counters at random */
void ip4_ids_init(struct ip4_ids *ids, const struct ns_env *env)
{
	*ids = (struct ip4_ids){ .last_idx = 0 };
	env->random(env->ctx, ids->next, sizeof(ids->next));
}

static uint16_t id_take(struct net *n, const struct ip_tx *ip, uint16_t segs)
{
	struct ip4_ids *ids = &n->ids;
	uint16_t id;

	if (ip->proto != ids->last_proto || !ns_addr_eq(&ip->dst, &ids->last_dst) ||
	    !ns_addr_eq(&ip->src, &ids->last_src)) {
		uint8_t key[9];

		memcpy(key, ip->src.b + 12, 4);
		memcpy(key + 4, ip->dst.b + 12, 4);
		key[8] = ip->proto;
		ids->last_src = ip->src;
		ids->last_dst = ip->dst;
		ids->last_proto = ip->proto;
		ids->last_idx = (uint32_t)hash_sip(&n->core->key, key, sizeof(key)) % IP4_IDS;
	}
	id = ids->next[ids->last_idx];
	ids->next[ids->last_idx] = (uint16_t)(id + (segs ? segs : 1));
	return id;
}

/* RFC 791 3.1, RFC 7126: options are walked for their lengths and refused when they route. */
static bool are_options_ok(const uint8_t *opt, uint32_t len)
{
	for (uint32_t i = 0; i < len;) {
		uint32_t opt_len;

		if (opt[i] == IP4_OPT_END)
			return true;
		if (opt[i] == IP4_OPT_NOP) {
			i++;
			continue;
		}
		if (opt[i] == IP4_OPT_LSRR || opt[i] == IP4_OPT_SSRR || len - i < 2)
			return false;
		opt_len = opt[i + 1];
		if (opt_len < 2 || opt_len > len - i)
			return false;
		i += opt_len;
	}
	return true;
}

/* Lengths and checksum; @p is cut to the packet. */
static enum drop check_header(struct pkt *p)
{
	const struct ip4_hdr *h = (const struct ip4_hdr *)(const void *)pkt_data(p);
	uint32_t hdr_len, len;

	if (p->len < sizeof(*h))
		return DROP_TOO_SHORT;
	hdr_len = ip4_hdr_len(h);
	len = be16_get(h->len);
	if (len == 0 && p->gso_size)
		len = pkt_len(p);
	if (ip4_version(h) != 4 || hdr_len < sizeof(*h) || hdr_len > p->len || len < hdr_len ||
	    len > pkt_len(p))
		return DROP_IP4_BAD_HEADER;
	if (csum_fold(csum_add(0, h, hdr_len)) != UINT16_MAX)
		return DROP_IP4_CSUM;
	pkt_trim(p, len);
	return DROP_NONE;
}

static enum drop deliver(struct net *n, struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	const struct net_proto *proto = &n->protos[ip->proto];

	if (ip->proto == IP_PROTO_ICMP)
		return icmp_input(n, p, ip, now);
	if (proto->ops)
		return proto->ops->input(proto->self, p, ip, now);
	if (ip->proto == IP_PROTO_IGMP)
		return report_input4(n, p, ip, now);
	/* where no UDP is registered, no port is open */
	icmp_unreachable(n, p, ip,
			 ip->proto == IP_PROTO_UDP ? ICMP4_UNREACH_PORT : ICMP4_UNREACH_PROTO, now);
	pkt_free(p);
	return DROP_IP_PROTO;
}

static enum drop check_packet(const struct net *n, const struct pkt *p, const struct ip4_hdr *h,
			      struct ip_rx *ip)
{
	enum drop why = route_input4(n, p, ip);

	if (why != DROP_NONE)
		return why;
	if (ip4_hdr_len(h) > sizeof(*h) &&
	    !are_options_ok((const uint8_t *)(h + 1), ip4_hdr_len(h) - (uint32_t)sizeof(*h)))
		return DROP_IP4_OPTIONS;
	return DROP_NONE;
}

/**
 * ip4_input() - one received packet
 * @n:		IP layer
 * @l:		Link it came by
 * @p:		Packet, its head at the IP header, l3_off set; Consumes @p
 * @is_bcast:	It came to a group address of the link
 * @now:	Time
 *
 * Return: DROP_NONE when it was accepted, or why not
 */
enum drop ip4_input(struct net *n, struct link *l, struct pkt *p, bool is_bcast, struct mono now)
{
	auto_free(pkt) mine = p;
	enum drop why = check_header(p);
	const struct ip4_hdr *h;
	struct ip_rx ip;

	if (why != DROP_NONE)
		return why;
	h = (const struct ip4_hdr *)(const void *)pkt_data(p);
	ip = (struct ip_rx){
		.src = ns_addr_v4(be32_get(h->src)),
		.dst = ns_addr_v4(be32_get(h->dst)),
		.link = l,
		.proto = h->proto,
		.ttl = h->ttl,
		.tos = h->tos,
		.is_bcast = is_bcast,
	};
	why = check_packet(n, p, h, &ip);
	if (why != DROP_NONE)
		return why;
	if (ns_unlikely(be16_get(h->frag) & (IP4_MF | IP4_OFF_MASK))) {
		struct pkt *whole;

		why = frag4_input(n, take(mine), &ip, now, &whole);
		if (!whole)
			return why;
		mine = p = whole;
		h = (const struct ip4_hdr *)(const void *)pkt_data(p);
	}
	NS_BUG_ON(!pkt_pull(p, ip4_hdr_len(h)));
	p->l4_off = (uint16_t)p->head;
	ip.csum_ok = net_is_csum_trusted(p);
	return deliver(n, take(mine), &ip, now);
}

/* RFC 1112 6.4: the low 23 bits of the group. */
static void group_mac(uint32_t group, uint8_t mac[ETH_ADDR_LEN])
{
	mac[0] = 0x01;
	mac[1] = 0x00;
	mac[2] = 0x5e;
	mac[3] = (uint8_t)(group >> 16 & 0x7f);
	mac[4] = (uint8_t)(group >> 8);
	mac[5] = (uint8_t)group;
}

static int xmit(struct net *n, const struct dst *d, struct pkt *p, struct mono now)
{
	uint32_t v4 = ns_addr_to_v4(&d->nexthop);
	struct link *l = d->link;
	uint8_t mac[ETH_ADDR_LEN];

	if (l->is_loop)
		return link_output(l, p);
	if (ns_unlikely(ns_addr_is_multicast(&d->nexthop) || v4 == UINT32_MAX))
		group_mac(v4, mac);
	else if (l->config.is_noarp)
		memcpy(mac, l->config.mac, sizeof(mac)); /* linux arp_constructor() */
	else
		return neigh_output(ns_addr_is_v4(&d->nexthop) ? n->neighs : n->neighs6, l,
				    &d->nexthop, p, now);
	ether_push(l, p, v4 == UINT32_MAX ? ether_broadcast : mac, ETH_TYPE_IP4);
	return link_output(l, p);
}

/* Put the header in front: @len octets in all, @frag the flags and the offset. */
static void header_push(struct pkt *p, const struct ip_tx *ip, uint32_t len, uint32_t id,
			uint32_t frag)
{
	static const uint8_t alert[4] = { IP4_OPT_ROUTER_ALERT, sizeof(alert) };
	uint32_t src = ns_addr_to_v4(&ip->src), dst = ns_addr_to_v4(&ip->dst);
	uint32_t hdr_len = IP4_HDR_LEN;
	struct ip4_hdr *h;
	uint32_t sum = 0;

	p->l4_off = (uint16_t)p->head;
	if (ns_unlikely(ip->is_router_alert)) {
		memcpy(pkt_push(p, sizeof(alert)), alert, sizeof(alert));
		hdr_len += (uint32_t)sizeof(alert);
		len += (uint32_t)sizeof(alert);
		sum = csum_add(0, alert, sizeof(alert));
	}
	h = PKT_PUSH(p, struct ip4_hdr);
	p->l3_off = (uint16_t)p->head;
	*h = (struct ip4_hdr){
		.vhl = (uint8_t)(4 << 4 | hdr_len / 4),
		.tos = ip->tos,
		.len = be16((uint16_t)len),
		.id = be16((uint16_t)id),
		.frag = be16((uint16_t)frag),
		.ttl = ip->ttl,
		.proto = ip->proto,
		.src = be32(src),
		.dst = be32(dst),
	};
	sum += ((uint32_t)h->vhl << 8) + h->tos + len + id + frag + ((uint32_t)h->ttl << 8) +
	       h->proto + (src >> 16) + (src & 0xffff) + (dst >> 16) + (dst & 0xffff);
	h->csum = be16(csum_finish(sum));
}

static void push_piece(struct pkt *q, const struct frag_job *j, uint32_t off, bool is_last)
{
	header_push(q, j->ip, pkt_len(q) + IP4_HDR_LEN, j->id, off / 8 | (is_last ? 0u : IP4_MF));
}

static const struct frag_out_ops frag_ops = { .hdr_len = IP4_HDR_LEN,
					      .push_header = push_piece,
					      .xmit = xmit };

/**
 * ip4_output() - net_output() for IPv4
 * @n:		IP layer
 * @d:		Path
 * @given:	What goes into the header
 * @p:		Packet, its head at the transport header; Consumes @p
 * @now:	Time
 *
 * A packet that is longer than the path takes is sent in fragments, unless that is forbidden.
 *
 * Return: 0, -EMSGSIZE when it fits neither the path nor the length field, or what the neighbour
 * table or the link say
 */
int ip4_output(struct net *n, const struct dst *d, const struct ip_tx *given, struct pkt *p,
	       struct mono now)
{
	uint32_t len = pkt_len(p) + IP4_HDR_LEN;
	struct ip_tx whole = *given;
	const struct ip_tx *ip = &whole;

	if (whole.ttl == 0)
		whole.ttl = (uint8_t)core_knob(n->core, NS_KNOB_ip_default_ttl);
	if (ns_unlikely(len > IP4_LEN_MAX || (p->gso_segs <= 1 && len > d->mtu))) {
		if (len <= IP4_LEN_MAX && !ip->dont_fragment && p->csum != PKT_CSUM_PARTIAL) {
			const struct frag_job j = { .d = d, .ip = ip, .id = id_take(n, ip, 1) };

			return frag_output(n, &frag_ops, &j, p, now);
		}
		drop_count(n->core->stats, DROP_LINK_TOO_LONG);
		pkt_free(p);
		return -EMSGSIZE;
	}
	header_push(p, ip, len, id_take(n, ip, p->gso_segs), ip->dont_fragment ? IP4_DF : 0);
	return xmit(n, d, p, now);
}
