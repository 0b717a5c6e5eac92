/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ndp.c - neighbour discovery of a configured host, RFC 4861
 *
 * Theory of operation
 *
 * arp.c's sibling. A solicitation for one of the link's addresses is answered and makes an entry for
 * the asker; an advertisement only ever changes an entry that exists (neigh_advertise()). Everything
 * is refused that a router could have passed on: the hop limit must still be 255 (RFC 4861 7.1).
 *
 * Addresses and routes are the configuration's: router advertisements and redirects are counted and
 * change nothing, so that no neighbour can route or renumber us, and no router is solicited.
 * The answer goes to the MAC that asked, past the table: a flood of askers neither ages our own
 * neighbours nor has us probe it.
 *
 * Duplicate address detection is answered, not done: the addresses were in use before they came here.
 * Claims of our own addresses are counted and change nothing.
 *
 * References: RFC 4861 4, 7; RFC 4862 5.4; RFC 6980 5; linux v6.1 net/ipv6/ndisc.c.
 */
#include "net/ndp.h"

#include <string.h>

#include "link/link.h"
#include "net/net_int.h"
#include "wire/csum.h"
#include "wire/icmp6.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

enum {
	OPT_UNIT = 8, /* octets */
};

static const struct ns_addr all_nodes = { { 0xff, 2, [15] = 1 } };

/** struct opts - what the options of a message say; NULL: nothing */
struct opts {
	const uint8_t *src_mac, *dst_mac;
};

/* RFC 4861 4.6: in bounds, none of length 0; those we do not know are skipped. */
static bool opts_parse(const uint8_t *at, uint32_t len, struct opts *ret_o)
{
	*ret_o = (struct opts){ 0 };
	while (len > 0) {
		uint32_t opt_len = len < 2 ? 0 : at[1] * (uint32_t)OPT_UNIT;

		if (opt_len == 0 || opt_len > len)
			return false;
		if (at[0] == ND_OPT_SRC_LLA && opt_len == sizeof(struct nd_opt_lla))
			ret_o->src_mac = at + 2;
		else if (at[0] == ND_OPT_DST_LLA && opt_len == sizeof(struct nd_opt_lla))
			ret_o->dst_mac = at + 2;
		at += opt_len;
		len -= opt_len;
	}
	return (!ret_o->src_mac || !eth_is_multicast(ret_o->src_mac)) &&
	       (!ret_o->dst_mac || !eth_is_multicast(ret_o->dst_mac));
}

/** struct nd_tx - a message to send */
struct nd_tx {
	uint8_t type;
	uint8_t opt; /* enum nd_opt_type of our MAC */
	uint32_t flags;
	struct ns_addr src, dst, target; /* zoned */
	const uint8_t *mac;              /* NULL: the group's, or as the table says */
};

static void send_nd(struct net *n, struct link *l, const struct nd_tx *tx, struct mono now)
{
	const struct dst d = { .link = l, .src = tx->src, .nexthop = tx->dst, .mtu = IP6_MTU_MIN };
	const struct ip_tx ip = {
		.src = tx->src, .dst = tx->dst, .proto = IP_PROTO_ICMP6, .ttl = ND_HOP_LIMIT
	};
	struct ns_addr target = ns_addr_zoned(tx->target, 0);
	struct pkt *p = pkt_new_tx(&n->core->pkts);
	struct nd_opt_lla *opt;
	struct nd_msg *m;
	uint32_t sum;

	if (!p) {
		drop_count(n->core->stats, DROP_NO_MEMORY);
		return;
	}
	opt = PKT_PUSH(p, struct nd_opt_lla);
	*opt = (struct nd_opt_lla){ .type = tx->opt, .len = sizeof(*opt) / OPT_UNIT };
	memcpy(opt->mac, l->config.mac, sizeof(opt->mac));
	m = PKT_PUSH(p, struct nd_msg);
	*m = (struct nd_msg){ .icmp = { .type = tx->type, .arg = be32(tx->flags) } };
	memcpy(m->target, target.b, sizeof(m->target));
	sum = csum_pseudo(&tx->src, &tx->dst, IP_PROTO_ICMP6, pkt_len(p));
	m->icmp.csum = be16(csum_finish(csum_pkt(sum, p, 0, pkt_len(p))));
	p->csum = PKT_CSUM_FULL;
	if (tx->mac) /* a full or lost link counts it */
		ip6_output_to(n, &d, &ip, p, tx->mac);
	else
		ip6_output(n, &d, &ip, p, now);
}

/** ndp_solicit() - ask for @ne's MAC, its group or itself only (neigh_ops.solicit), RFC 4861 7.2.2 */
void ndp_solicit(struct net *n, const struct neigh *ne, bool is_unicast, struct mono now)
{
	struct nd_tx tx = { .type = ICMP6_ND_NS, .opt = ND_OPT_SRC_LLA, .target = ne->addr };

	if (!addr6_src_for(n, ne->link, &ne->addr, &tx.src))
		return; /* without an address there is nobody to answer to */
	tx.dst = is_unicast ? ne->addr : addr6_solicited_node(&ne->addr);
	send_nd(n, ne->link, &tx, now);
	stat_inc(n->core->stats, STAT_ND_SOLICITATIONS);
}

/* RFC 4861 7.2.4; to a duplicate address detection: everybody hears it, RFC 4862 5.4.3 */
static void advertise(struct net *n, const struct ip_rx *ip, const struct ns_addr *target,
		      const uint8_t *mac, struct mono now)
{
	bool is_dad = ns_addr_is_any(&ip->src);
	struct nd_tx tx = { .type = ICMP6_ND_NA,
			    .opt = ND_OPT_DST_LLA,
			    .flags = ND_NA_OVERRIDE | (is_dad ? 0 : (uint32_t)ND_NA_SOLICITED),
			    .src = *target,
			    .dst = is_dad ? all_nodes : ip->src,
			    .target = *target,
			    .mac = is_dad ? NULL : mac };

	send_nd(n, ip->link, &tx, now);
	stat_inc(n->core->stats, STAT_ND_ADVERTISEMENTS);
}

/* RFC 4861 7.1.1, 7.2.3 */
static enum drop solicitation(struct net *n, const struct ns_addr *target, const struct opts *o,
			      const struct ip_rx *ip, struct mono now)
{
	struct ns_addr group = addr6_solicited_node(target);
	bool is_dad = ns_addr_is_any(&ip->src);

	if (is_dad && (o->src_mac || !ns_addr_eq(&ip->dst, &group)))
		return DROP_ND_BAD;
	if (!is_dad && !o->src_mac && ns_addr_is_multicast(&ip->dst))
		return DROP_ND_BAD; /* RFC 4861 4.3: it must be there */
	if (!addr6_find(n, ip->link, target))
		return DROP_ND_NOT_US;
	if (!is_dad && o->src_mac)
		neigh_update(n->neighs6, ip->link, &ip->src, o->src_mac,
			     NEIGH_UPD_CREATE | NEIGH_UPD_OVERRIDE, now);
	advertise(n, ip, target, o->src_mac, now);
	return DROP_NONE;
}

/* RFC 4861 7.1.2, 7.2.5 */
static enum drop advertisement(struct net *n, const struct ns_addr *target, const struct opts *o,
			       uint32_t flags, const struct ip_rx *ip, struct mono now)
{
	uint32_t upd = 0;

	if (ns_addr_is_any(&ip->src) ||
	    ((flags & ND_NA_SOLICITED) && ns_addr_is_multicast(&ip->dst)))
		return DROP_ND_BAD;
	if (net_is_local(n, target))
		return DROP_ND_OURS;
	if (flags & ND_NA_SOLICITED)
		upd |= NEIGH_UPD_SOLICITED;
	if (flags & ND_NA_OVERRIDE)
		upd |= NEIGH_UPD_OVERRIDE;
	return neigh_advertise(n->neighs6, ip->link, target, o->dst_mac, upd, now)
		       ? DROP_NONE
		       : DROP_ND_NO_ENTRY;
}

/**
 * ndp_input() - one message of neighbour discovery, checksum verified
 * @n:		IP layer
 * @p:		Packet behind the ICMPv6 header; borrowed
 * @h:		That header
 * @ip:		What IP knows of it
 * @now:	Time
 *
 * Return: DROP_NONE or why it was dropped
 */
enum drop ndp_input(struct net *n, const struct pkt *p, const struct icmp6_hdr *h,
		    const struct ip_rx *ip, struct mono now)
{
	const uint8_t *body = pkt_data(p);
	struct ns_addr target;
	struct opts o;

	if (ip->ttl != ND_HOP_LIMIT || h->code != 0 || ip->link->is_loop)
		return DROP_ND_BAD;
	if (h->type != ICMP6_ND_NS && h->type != ICMP6_ND_NA)
		return DROP_ND_IGNORED;
	if (p->len < ND_ADDR_LEN || ip->link->config.is_noarp)
		return DROP_ND_BAD;
	memcpy(target.b, body, sizeof(target.b));
	if (ns_addr_is_multicast(&target) || ns_addr_is_any(&target) || ns_addr_is_v4(&target) ||
	    ns_addr_zone(&target) || !opts_parse(body + ND_ADDR_LEN, p->len - ND_ADDR_LEN, &o))
		return DROP_ND_BAD;
	target = ns_addr_zoned(target, link_zone(ip->link));
	if (h->type == ICMP6_ND_NS)
		return solicitation(n, &target, &o, ip, now);
	return advertisement(n, &target, &o, be32_get(h->arg), ip, now);
}
