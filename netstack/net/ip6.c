/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6.c - IPv6 in and out, RFC 8200
 *
 * Theory of operation
 *
 * Input is ip4.c's row of checks for the sibling: version and length, source, destination, extension
 * headers (net/ip6_ext.c). What survives goes to the transport with its addresses in an ip_rx. Here
 * link-local addresses get their zone, and lose it again on the way out (ns/addr.h); an address from
 * the wire that has those octets set, or that would pass for IPv4 inside the stack (::ffff:0:0/96),
 * is no address.
 *
 * Whether a packet is ours the routes say (route_in.c); link-local ones by their zone only on their link.
 * ::1 is only believed from the loop link. Of groups we hear all-nodes
 * and the solicited-node groups of our addresses on the link.
 *
 * Pieces of a packet go through frag6.c, and what it puts together is gone over again from its start
 * on, as if it had come in one piece; only neighbour discovery is told, which wants none (RFC 6980).
 *
 * A super-frame is one packet whose payload length covers all of its segments.
 *
 * Output puts the header in front, with a flow label by RFC 6437 3: a keyed hash of addresses, ports
 * and protocol, the same for all packets of a connection and of no use to guess another's. What is
 * longer than the path leaves in fragments (frag_out.c), or is refused where that is forbidden.
 */
#include "net/ip6.h"

#include <errno.h>
#include <string.h>

#include "link/ether.h"
#include "net/frag_out.h"
#include "net/icmp6.h"
#include "net/ip6_ext.h"
#include "net/net_int.h"
#include "net/route_in.h"
#include "wire/icmp6.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

enum {
	HOP_LIMIT_DEFAULT = 64,
	FLOW_LABEL_BITS = 20,
};

/* Length; @p is cut to the packet. */
static enum drop check_header(struct pkt *p)
{
	const struct ip6_hdr *h = (const struct ip6_hdr *)(const void *)pkt_data(p);
	uint32_t len;

	if (p->len < sizeof(*h))
		return DROP_TOO_SHORT;
	len = be16_get(h->payload_len) + (uint32_t)sizeof(*h);
	if (len == sizeof(*h) && p->gso_size)
		len = pkt_len(p);
	if (ip6_version(h) != 6 || len > pkt_len(p))
		return DROP_IP6_BAD_HEADER;
	pkt_trim(p, len);
	return DROP_NONE;
}

/* From the wire: @ret_a zoned; false when it is none that a packet may have. */
static bool addr_read(const struct net *n, const struct link *l, const uint8_t wire[16],
		      struct ns_addr *ret_a)
{
	memcpy(ret_a->b, wire, sizeof(ret_a->b));
	if (ns_addr_is_v4(ret_a) || ns_addr_zone(ret_a) != 0)
		return false;
	if (l->is_loop)
		*ret_a = addr6_rezone(n, *ret_a);
	else
		*ret_a = ns_addr_zoned(*ret_a, link_zone(l));
	return l->is_loop || !ns_addr_is_loopback(ret_a);
}

/* RFC 4291 2.5.2, 2.5.3, 2.7: what no packet from a wire comes from */
static bool is_bad_src(const struct net *n, const struct link *l, const struct ns_addr *a)
{
	if (ns_addr_is_multicast(a))
		return true;
	return !l->is_loop && !ns_addr_is_any(a) && route_find_local(&n->routes, a) != NULL;
}

/* Why there is no way for it, told to who sent it (linux ip6_pkt_drop()); @err as route_input6(). */
static void tell_no_route(struct net *n, const struct pkt *p, struct ip_rx *ip, int err,
			  struct mono now)
{
	const struct icmp6_say say = { .type = ICMP6_UNREACH,
				       .code = err == -EACCES ? ICMP6_UNREACH_ADMIN
							      : ICMP6_UNREACH_NOROUTE };

	ip->is_dst_foreign = true;
	if (err != -EINVAL && !icmp6_is_error_inside(p))
		icmp6_error(n, p, ip, &say, now);
}

static enum drop check_addrs(struct net *n, const struct link *l, const struct pkt *p,
			     struct ip_rx *ip, struct mono now)
{
	const struct ip6_hdr *h = (const struct ip6_hdr *)(const void *)pkt_data(p);
	enum drop why;
	int err;

	if (!addr_read(n, l, h->src, &ip->src) || is_bad_src(n, l, &ip->src))
		return DROP_IP6_BAD_SRC;
	if (!addr_read(n, l, h->dst, &ip->dst))
		return DROP_IP6_NOT_US;
	if (ns_addr_is_multicast(&ip->dst)) {
		ip->is_bcast = true;
		return addr6_is_group(n, l, &ip->dst) ? DROP_NONE : DROP_IP6_NOT_US;
	}
	why = route_input6(n, p, ip, &err);
	if (why == DROP_IP6_NO_ROUTE)
		tell_no_route(n, p, ip, err, now);
	return why;
}

/* The walk ended in @why, which the sender may want to know; @p's head is at the IPv6 header. */
static enum drop walk_failed(struct net *n, const struct pkt *p, const struct ip_rx *ip,
			     const struct ip6_walk *w, enum drop why, struct mono now)
{
	struct icmp6_say say = { .type = ICMP6_PARAM_PROBLEM,
				 .code = w->code,
				 .arg = w->pointer,
				 .is_for_groups = w->is_told_to_groups };

	if (w->is_told && !icmp6_is_error_inside(p))
		icmp6_error(n, p, ip, &say, now);
	return why;
}

static enum drop deliver(struct net *n, struct pkt *p, const struct ip_rx *ip,
			 const struct ip6_walk *w, struct mono now)
{
	const struct net_proto *proto = &n->protos[ip->proto];
	struct icmp6_say say = { .type = ICMP6_PARAM_PROBLEM,
				 .code = ICMP6_PARAM_NEXT,
				 .arg = w->next_at };

	if (ip->proto == IP_PROTO_ICMP6)
		return icmp6_input(n, p, ip, w->is_fragment, now);
	if (ns_addr_is_any(&ip->src)) {
		pkt_free(p);
		return DROP_IP6_BAD_SRC;
	}
	if (proto->ops)
		return proto->ops->input(proto->self, p, ip, now);
	if (ip->proto == IP6_NEXT_NONE) {
		pkt_free(p);
		return DROP_IP6_NO_NEXT;
	}
	if (ip->proto == IP_PROTO_UDP) /* where no UDP is registered, no port is open */
		say = (struct icmp6_say){ .type = ICMP6_UNREACH, .code = ICMP6_UNREACH_PORT };
	icmp6_error(n, p, ip, &say, now);
	pkt_free(p);
	return DROP_IP_PROTO;
}

/* Over the extension headers of @p, its head at the IPv6 header; the sender is told what it wants to know. */
static enum drop walk(struct net *n, const struct pkt *p, const struct ip_rx *ip,
		      struct ip6_walk *w, struct mono now)
{
	enum drop why;

	*w = (struct ip6_walk){ .off = IP6_HDR_LEN,
				.next_at = IP6_NEXT_OFF,
				.next = pkt_data(p)[IP6_NEXT_OFF] };
	if (ns_likely(!ip6_is_ext(w->next)))
		return DROP_NONE;
	why = ip6_ext_walk(p, w);
	return why == DROP_NONE ? why : walk_failed(n, p, ip, w, why, now);
}

/**
 * ip6_input() - one received packet
 * @n:		IP layer
 * @l:		Link it came by
 * @p:		Packet, its head at the IPv6 header, l3_off set; Consumes @p
 * @is_mcast:	It came to a group address of the link
 * @now:	Time
 *
 * Return: DROP_NONE when it was accepted, or why not
 */
enum drop ip6_input(struct net *n, struct link *l, struct pkt *p, bool is_mcast, struct mono now)
{
	auto_free(pkt) mine = p;
	enum drop why = check_header(p);
	const struct ip6_hdr *h;
	struct ip6_walk w;
	struct ip_rx ip;

	if (why != DROP_NONE)
		return why;
	h = (const struct ip6_hdr *)(const void *)pkt_data(p);
	ip = (struct ip_rx){
		.link = l,
		.ttl = h->hop_limit,
		.tos = ip6_traffic_class(h),
		.is_bcast = is_mcast,
	};
	why = check_addrs(n, l, p, &ip, now);
	if (why == DROP_NONE)
		why = walk(n, p, &ip, &w, now);
	if (why == DROP_NONE && ns_unlikely(w.is_piece)) {
		why = frag6_input(n, take(mine), &w, &ip, now, &mine);
		if (!mine)
			return why;
		p = mine;
		why = walk(n, p, &ip, &w, now);
		w.is_fragment = true;
		if (w.is_piece) /* of a packet that was a piece itself: nobody sends such */
			return DROP_IP6_FRAGMENT;
	}
	if (why != DROP_NONE)
		return why;
	NS_BUG_ON(!pkt_pull(p, w.off));
	ip.proto = w.next;
	ip.is_router_alert = w.has_router_alert;
	p->l4_off = (uint16_t)p->head;
	ip.csum_ok = net_is_csum_trusted(p);
	return deliver(n, take(mine), &ip, &w, now);
}

/* RFC 6437 3: 20 bits, not zero. */
static uint32_t flow_label(struct net *n, const struct ip_tx *ip, const struct pkt *p)
{
	struct ip6_flow *f = &n->flow6;
	uint8_t key[2 * sizeof(struct ns_addr) + sizeof(f->ports) + 1];
	uint32_t ports = 0;

	if (p->len >= sizeof(ports))
		memcpy(&ports, pkt_data(p), sizeof(ports));
	if (f->label && f->ports == ports && f->proto == ip->proto &&
	    ns_addr_eq(&f->src, &ip->src) && ns_addr_eq(&f->dst, &ip->dst))
		return f->label;
	*f = (struct ip6_flow){
		.src = ip->src, .dst = ip->dst, .ports = ports, .proto = ip->proto
	};
	if (ip->proto != IP_PROTO_TCP && ip->proto != IP_PROTO_UDP)
		ports = 0; /* no ports there */
	memcpy(key, ip->src.b, sizeof(ip->src));
	memcpy(key + sizeof(ip->src), ip->dst.b, sizeof(ip->dst));
	memcpy(key + 2 * sizeof(ip->src), &ports, sizeof(ports));
	key[sizeof(key) - 1] = ip->proto;
	f->label = (uint32_t)hash_sip(&n->core->key, key, sizeof(key)) >> (32 - FLOW_LABEL_BITS);
	if (f->label == 0)
		f->label = 1;
	return f->label;
}

/* RFC 2464 7: the low 32 bits of the group. */
static void group_mac(const struct ns_addr *group, uint8_t mac[ETH_ADDR_LEN])
{
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, group->b + 12, 4);
}

static int xmit(struct net *n, const struct dst *d, struct pkt *p, struct mono now)
{
	struct link *l = d->link;
	uint8_t mac[ETH_ADDR_LEN];

	if (l->is_loop)
		return link_output(l, p);
	if (ns_unlikely(ns_addr_is_multicast(&d->nexthop)))
		group_mac(&d->nexthop, mac);
	else if (l->config.is_noarp)
		memcpy(mac, l->config.mac, sizeof(mac)); /* linux ndisc_constructor() */
	else
		return neigh_output(n->neighs6, l, &d->nexthop, p, now);
	ether_push(l, p, mac, ETH_TYPE_IP6);
	return link_output(l, p);
}

/* The header in front of @p, whose head is at what @next names. */
static void header_push(struct pkt *p, const struct ip_tx *ip, uint8_t next, uint32_t label)
{
	struct ns_addr src = ns_addr_zoned(ip->src, 0), dst = ns_addr_zoned(ip->dst, 0);
	uint32_t len = pkt_len(p);
	struct ip6_hdr *h;

	h = PKT_PUSH(p, struct ip6_hdr);
	p->l3_off = (uint16_t)p->head;
	*h = (struct ip6_hdr){
		.vtf = be32(UINT32_C(6) << 28 | (uint32_t)ip->tos << FLOW_LABEL_BITS | label),
		.payload_len = be16((uint16_t)len),
		.next = next,
		.hop_limit = ip->ttl ? ip->ttl : HOP_LIMIT_DEFAULT,
	};
	memcpy(h->src, src.b, sizeof(h->src));
	memcpy(h->dst, dst.b, sizeof(h->dst));
}

static void push_piece(struct pkt *q, const struct frag_job *j, uint32_t off, bool is_last)
{
	struct ip6_frag *f;

	q->l4_off = (uint16_t)q->head;
	f = PKT_PUSH(q, struct ip6_frag);
	*f = (struct ip6_frag){ .next = j->ip->proto,
				.off = be16((uint16_t)(off | (is_last ? 0u : IP6_FRAG_MORE))),
				.id = be32(j->id) };
	header_push(q, j->ip, IP6_NEXT_FRAGMENT, j->label);
}

static const struct frag_out_ops frag_ops = { .hdr_len = IP6_HDR_LEN + sizeof(struct ip6_frag),
					      .push_header = push_piece,
					      .xmit = xmit };

/* RFC 7739 5.2: at random, 32 bits of it; never 0, as Linux. */
static uint32_t frag_id(const struct net *n)
{
	uint32_t id;

	n->core->env->random(n->core->env->ctx, &id, sizeof(id));
	return id ? id : 1;
}

static bool fits(const struct dst *d, const struct pkt *p)
{
	uint32_t len = pkt_len(p);

	return len <= IP6_LEN_MAX && (p->gso_segs > 1 || len + IP6_HDR_LEN <= d->mtu);
}

static void push_header(struct net *n, const struct ip_tx *ip, struct pkt *p)
{
	uint32_t label = flow_label(n, ip, p);

	p->l4_off = (uint16_t)p->head;
	if (ns_unlikely(ip->is_router_alert)) { /* RFC 2711 2.1, padded */
		const uint8_t hop[8] = {
			ip->proto, 0, IP6_OPT_ROUTER_ALERT, 2, 0, 0, IP6_OPT_PADN
		};

		memcpy(pkt_push(p, sizeof(hop)), hop, sizeof(hop));
	}
	header_push(p, ip, ip->is_router_alert ? (uint8_t)IP6_NEXT_HOP : ip->proto, label);
}

/* It leaves in fragments, or not at all; Consumes @p. */
static int output_long(struct net *n, const struct dst *d, const struct ip_tx *ip, struct pkt *p,
		       struct mono now)
{
	struct frag_job j = { .d = d, .ip = ip };

	if (pkt_len(p) > IP6_LEN_MAX || ip->dont_fragment || p->csum == PKT_CSUM_PARTIAL) {
		drop_count(n->core->stats, DROP_LINK_TOO_LONG);
		pkt_free(p);
		return -EMSGSIZE;
	}
	j.id = frag_id(n);
	j.label = flow_label(n, ip, p);
	return frag_output(n, &frag_ops, &j, p, now);
}

/**
 * ip6_output() - net_output() for IPv6
 * @n:		IP layer
 * @d:		Path
 * @ip:		What goes into the header; addresses zoned
 * @p:		Packet, its head at the transport header; Consumes @p
 * @now:	Time
 *
 * A packet that is longer than the path takes is sent in fragments, unless that is forbidden; one
 * that is not has no fragment header, whatever a router says (RFC 8021).
 *
 * Return: 0, -EMSGSIZE when it fits neither the path nor the length field, or what the neighbour
 * table or the link say
 */
int ip6_output(struct net *n, const struct dst *d, const struct ip_tx *ip, struct pkt *p,
	       struct mono now)
{
	if (ns_unlikely(!fits(d, p)))
		return output_long(n, d, ip, p, now);
	push_header(n, ip, p);
	return xmit(n, d, p, now);
}

/**
 * ip6_output_to() - the same to a MAC that is known, past the neighbour table
 * @d:	Its link is not the loop
 * @p:	Fits @d; Consumes @p
 */
int ip6_output_to(struct net *n, const struct dst *d, const struct ip_tx *ip, struct pkt *p,
		  const uint8_t mac[ETH_ADDR_LEN])
{
	NS_BUG_ON(!fits(d, p));
	push_header(n, ip, p);
	ether_push(d->link, p, mac, ETH_TYPE_IP6);
	return link_output(d->link, p);
}
