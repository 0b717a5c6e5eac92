/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_in.c - is a received packet for this host, and may it come from there?
 *
 * Theory of operation
 *
 * A packet is ours when the rules and tables say so, asked with the link it came by (`iif`): its route is
 * of type local, or broadcast. By the weak model of RFC 1122 3.3.4.2 that may be an address of another link.
 * Since this host passes nothing on, every other answer ends the packet: IPv4 in silence, as Linux does
 * where forwarding is off; IPv6 tells the sender of routes and rules that refuse, and of none at all.
 *
 * Groups and 255.255.255.255 are heard without a route.
 *
 * IPv4 sources are checked: some no host can have, and none is ours. With net.ipv4.conf.*.rp_filter, or
 * with rules of the operator's own, the way back is looked for as well (RFC 3704): 1 (strict, 2.2) it must
 * leave by the link the packet came by, 2 (loose, 2.4) there must be one. The source 0.0.0.0 is that of a
 * host that has no address yet, and counts where nobody answers to it: to 255.255.255.255, to groups of
 * the link, in IGMP (RFC 1122 3.2.1.3, RFC 4541 2.1.1).
 *
 * What comes by the loop left this host as ours a moment ago, and is.
 *
 * With the rules Linux begins with, the local table is asked first, and mostly has the answer. Ports and
 * protocol are read only when a rule wants to know them.
 *
 * References: linux v6.1 net/ipv4/route.c ip_route_input_slow(), ip_mc_validate_source(),
 * net/ipv4/fib_frontend.c __fib_validate_source(), net/ipv6/route.c ip6_route_input(), ip6_pkt_drop().
 */
#include "net/route_in.h"

#include <errno.h>

#include "net/ip6_ext.h"
#include "net/net_int.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

enum { RP_STRICT = 1 };

static bool is_in(uint32_t addr, uint32_t net, uint32_t bits)
{
	return (addr ^ net) >> (32 - bits) == 0;
}

/* ---- what rules may ask ---- */

/* Octets from the head to the transport header; 0: it is not in this piece, or cannot be found. */
static uint32_t find_l4(const struct pkt *p, bool is_v4, uint8_t *ret_proto)
{
	const struct ip4_hdr *h = (const struct ip4_hdr *)(const void *)pkt_data(p);
	uint32_t off = 0;

	if (!is_v4)
		return ip6_ext_find_l4(p, &off, ret_proto) ? off : 0;
	*ret_proto = h->proto;
	return be16_get(h->frag) & (IP4_MF | IP4_OFF_MASK) ? 0 : ip4_hdr_len(h);
}

static bool has_ports(uint8_t proto)
{
	return proto == IP_PROTO_TCP || proto == IP_PROTO_UDP;
}

/* @p's head is at the IP header, which is there. */
static struct route_flow flow_of(const struct net *n, const struct pkt *p, const struct ip_rx *ip)
{
	struct route_flow f = { .dst = ip->dst,
				.src = ip->src,
				.oif = RULE_NO_LINK,
				.iif = ip->link->id,
				.tos = ip->tos };
	struct be16 ports[2];
	uint32_t off;

	if (ns_likely(!n->rules.asks_transport))
		return f;
	off = find_l4(p, ns_addr_is_v4(&ip->dst), &f.proto);
	if (off && has_ports(f.proto) && pkt_copy_out(p, off, ports, sizeof(ports))) {
		f.sport = be16_get(ports[0]);
		f.dport = be16_get(ports[1]);
	}
	return f;
}

/* ---- IPv4: where it comes from ---- */

static bool is_bad_src4(const struct ip_rx *ip)
{
	uint32_t src = ns_addr_to_v4(&ip->src), dst = ns_addr_to_v4(&ip->dst);

	if (is_in(src, 0xe0000000, 4) || src == UINT32_MAX)
		return true;
	if (is_in(src, 0, 8))
		return dst != UINT32_MAX && !is_in(dst, 0xe0000000, 24) &&
		       !(ip->proto == IP_PROTO_IGMP && ns_addr_is_multicast(&ip->dst));
	return !ip->link->is_loop && is_in(src, 0x7f000000, 8);
}

static bool does_use_link(const struct ns_route *r, uint32_t link_id)
{
	for (uint32_t i = 0; i < r->nexthop_cnt; i++)
		if (r->nexthops[i].link_id == link_id)
			return true;
	return false;
}

static bool has_addr4(const struct net *n, uint32_t link_id)
{
	for (uint32_t i = 0; i < n->addrs4.cnt; i++)
		if (n->addrs4.v[i].link_id == link_id)
			return true;
	return false;
}

/* The way back to the source, RFC 3704. */
static enum drop check_way_back(const struct net *n, const struct route_flow *f,
				const struct link *l, uint32_t mode)
{
	const struct route_flow back = { .dst = f->src,
					 .src = ns_addr_is_multicast(&f->dst) ? ns_addr_v4(0)
									      : f->dst,
					 .oif = RULE_NO_LINK,
					 .iif = LINK_LOOP_ID,
					 .sport = f->dport,
					 .dport = f->sport,
					 .tos = f->tos,
					 .proto = f->proto };
	struct route_hit hit;

	if (route_select(n, &back, &hit) < 0)
		return mode ? DROP_IP4_RP_FILTER : DROP_NONE;
	if (hit.route->r.type != NS_ROUTE_UNICAST)
		return DROP_IP4_BAD_SRC;
	if (!mode || does_use_link(&hit.route->r, l->id))
		return DROP_NONE;
	/* a link without addresses has no way of its own that would fit better */
	return mode == RP_STRICT || !has_addr4(n, l->id) ? DROP_IP4_RP_FILTER : DROP_NONE;
}

static enum drop check_source4(const struct net *n, const struct route_flow *f,
			       const struct link *l)
{
	uint32_t mode =
		ns_max_u((uint32_t)core_knob(n->core, NS_KNOB_rp_filter), l->config.rp_filter);
	const struct ns_route *r;

	if (l->is_loop || is_in(ns_addr_to_v4(&f->src), 0, 8))
		return DROP_NONE;
	if (mode || n->rules.is_custom[0] || n->routes.odd_cnt)
		return check_way_back(n, f, l, mode);
	r = route_find_local(&n->routes, &f->src);
	if (!r || !route_needs_link(r) || r->type == NS_ROUTE_UNICAST)
		return DROP_NONE;
	return r->tos ? check_way_back(n, f, l, mode) : DROP_IP4_BAD_SRC;
}

/* ---- is it ours? ---- */

/* Of the route's type, or that there is none: NS_ROUTE_TYPE_COUNT. */
static uint8_t type_of(const struct net *n, const struct route_flow *f, int *ret_err)
{
	bool is_v6 = !ns_addr_is_v4(&f->dst);
	struct route_hit hit;

	*ret_err = 0;
	if (ns_likely(!n->rules.is_custom[is_v6])) {
		const struct ns_route *r = route_find_local(&n->routes, &f->dst);

		if (r && !r->tos && (r->type == NS_ROUTE_LOCAL || r->type == NS_ROUTE_BROADCAST))
			return r->type;
	}
	*ret_err = route_select(n, f, &hit);
	return *ret_err == 0 ? hit.route->r.type : (uint8_t)NS_ROUTE_TYPE_COUNT;
}

/**
 * route_input4() - is a packet for us, and believable?
 * @n:		IP layer
 * @p:		Packet, its head at the IP header, which is checked; borrowed
 * @ip:		src, dst, link, tos and proto set; is_bcast is set here when it is for many
 *
 * Return: DROP_NONE or why it ends here
 */
enum drop route_input4(const struct net *n, const struct pkt *p, struct ip_rx *ip)
{
	struct route_flow f = flow_of(n, p, ip);
	uint32_t dst = ns_addr_to_v4(&ip->dst);
	uint8_t type = NS_ROUTE_BROADCAST;
	int err;

	if (is_bad_src4(ip))
		return DROP_IP4_BAD_SRC;
	if (dst != UINT32_MAX && !ns_addr_is_multicast(&ip->dst)) {
		if (is_in(dst, 0x7f000000, 8) && !ip->link->is_loop)
			return DROP_IP4_NOT_US;
		type = type_of(n, &f, &err);
		if (ip->link->is_loop && type != NS_ROUTE_BROADCAST)
			type = NS_ROUTE_LOCAL;
		if (type != NS_ROUTE_LOCAL && type != NS_ROUTE_BROADCAST)
			return DROP_IP4_NOT_US;
	}
	if (type == NS_ROUTE_BROADCAST)
		ip->is_bcast = true;
	return check_source4(n, &f, ip->link);
}

static int get4(const struct net *n, const struct route_flow *f, struct route_hit *ret_hit)
{
	struct link *l = n->links[f->iif];
	const struct ip_rx ip = { .src = f->src, .dst = f->dst, .link = l, .proto = f->proto };
	uint8_t type;

	if (is_bad_src4(&ip) || is_in(ns_addr_to_v4(&f->dst), 0, 8) ||
	    (ns_addr_is_loopback(&f->dst) && !l->is_loop))
		return -EINVAL;
	if (route_select(n, f, ret_hit) < 0)
		return -EHOSTUNREACH;
	type = ret_hit->route->r.type;
	if (type != NS_ROUTE_LOCAL && type != NS_ROUTE_BROADCAST)
		return -EHOSTUNREACH;
	return check_source4(n, f, l) == DROP_NONE ? 0 : -EINVAL;
}

/**
 * route_input_get() - what `ip route get ... iif` says of a packet
 * @n:		IP layer
 * @f:		iif is not the loop
 * @ret_hit:	Borrowed until routes change
 *
 * Return: 0; IPv4: -EINVAL for addresses that no packet may have, -EHOSTUNREACH for one that is not ours;
 * IPv6: as route_select()
 */
int route_input_get(const struct net *n, const struct route_flow *f, struct route_hit *ret_hit)
{
	struct route_flow strict = *f;

	if (ns_addr_is_v4(&f->dst))
		return get4(n, f, ret_hit);
	strict.is_oif_strict = ns_addr_is_loopback(&f->dst); /* linux rt6_need_strict() */
	return route_select(n, &strict, ret_hit);
}

/**
 * route_input6() - is a packet for us? For one to a group that is not asked here
 * @n:		IP layer
 * @p:		Packet, its head at the IP header, which is checked; borrowed
 * @ip:		src, dst (zoned), link and tos set
 * @ret_err:	Of DROP_IP6_NO_ROUTE: -EINVAL when the sender is not to know, else what to tell it, as
 *		route_select()
 *
 * Return: DROP_NONE or why it ends here
 */
enum drop route_input6(const struct net *n, const struct pkt *p, struct ip_rx *ip, int *ret_err)
{
	struct route_flow f;
	uint8_t type;

	if (ip->link->is_loop)
		return DROP_NONE;
	f = flow_of(n, p, ip);
	type = type_of(n, &f, ret_err);
	if (*ret_err < 0)
		return DROP_IP6_NO_ROUTE;
	return type == NS_ROUTE_LOCAL ? DROP_NONE : DROP_IP6_NOT_US;
}
