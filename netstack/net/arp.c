/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arp.c - ARP messages, RFC 826
 *
 * Theory of operation
 *
 * A request for one of our addresses is answered on whatever link it comes by (as linux' arp_ignore
 * 0) and makes an entry for the asker, who will talk to us next. Any other message only refreshes
 * an entry that exists: an announcement nobody asked for creates nothing. Claims of our own
 * addresses are counted and change nothing; the address is defended by an announcement, once in
 * DEFEND_NS whatever comes (RFC 5227 2.4 (c): a host whose address others rely on keeps it).
 * A sender address of 0 asks whether an address is free (RFC 5227 2.1.1): answered, not learned.
 */
#include "net/arp.h"

#include <string.h>

#include "link/ether.h"
#include "net/net_int.h"
#include "wire/arp.h"
#include "wire/ip4.h"

#define DEFEND_NS (10 * NS_PER_SEC) /* RFC 5227 1.1 DEFEND_INTERVAL */

static void send_arp(struct net *n, struct link *l, const struct arp_hdr *arp,
		     const uint8_t dst[ETH_ADDR_LEN])
{
	struct pkt *p = pkt_new_tx(&n->core->pkts);

	if (!p) {
		drop_count(n->core->stats, DROP_NO_MEMORY);
		return;
	}
	memcpy(pkt_push(p, sizeof(*arp)), arp, sizeof(*arp));
	p->csum = PKT_CSUM_FULL;
	ether_push(l, p, dst, ETH_TYPE_ARP);
	link_output(l, p); /* a full or lost link counts it */
}

static struct arp_hdr arp_new(const struct link *l, uint16_t op, uint32_t spa, uint32_t tpa)
{
	struct arp_hdr h = {
		.hrd = be16(ARP_HRD_ETHER),
		.pro = be16(ETH_TYPE_IP4),
		.hln = ETH_ADDR_LEN,
		.pln = 4,
		.op = be16(op),
		.spa = be32(spa),
		.tpa = be32(tpa),
	};

	memcpy(h.sha, l->config.mac, sizeof(h.sha));
	return h;
}

/** arp_solicit() - ask for @ne's MAC, everybody or itself only (neigh_ops.solicit) */
void arp_solicit(struct net *n, const struct neigh *ne, bool is_unicast)
{
	struct ns_addr src = ns_addr_v4(0);
	struct arp_hdr h;

	/* none: a probe, which is answered too */
	(void)!addr4_select(n, ne->link, &ne->addr, NS_SCOPE_LINK, &src);
	h = arp_new(ne->link, ARP_OP_REQUEST, ns_addr_to_v4(&src), ns_addr_to_v4(&ne->addr));
	send_arp(n, ne->link, &h, is_unicast ? ne->mac : ether_broadcast);
	stat_inc(n->core->stats, STAT_ARP_REQUESTS);
}

static void answer(struct net *n, struct link *l, const struct arp_hdr *req)
{
	struct arp_hdr h = arp_new(l, ARP_OP_REPLY, be32_get(req->tpa), be32_get(req->spa));

	memcpy(h.tha, req->sha, sizeof(h.tha));
	send_arp(n, l, &h, req->sha);
	stat_inc(n->core->stats, STAT_ARP_REPLIES);
}

/* RFC 5227 2.4 */
static void defend(struct net *n, struct link *l, uint32_t v4, struct mono now)
{
	struct arp_hdr h = arp_new(l, ARP_OP_REQUEST, v4, v4);

	if (n->arp_defended.ns && mono_since(now, n->arp_defended) < DEFEND_NS)
		return;
	n->arp_defended = now;
	send_arp(n, l, &h, ether_broadcast);
	stat_inc(n->core->stats, STAT_ARP_DEFENCES);
}

static bool is_ours(const struct net *n, uint32_t v4)
{
	struct ns_addr a = ns_addr_v4(v4);

	return v4 >> 24 != 127 && net_is_local(n, &a);
}

static bool is_well_formed(const struct arp_hdr *h)
{
	uint32_t op = be16_get(h->op), spa = be32_get(h->spa);

	return be16_get(h->hrd) == ARP_HRD_ETHER && be16_get(h->pro) == ETH_TYPE_IP4 &&
	       h->hln == ETH_ADDR_LEN && h->pln == 4 &&
	       (op == ARP_OP_REQUEST || op == ARP_OP_REPLY) && !eth_is_multicast(h->sha) &&
	       spa >> 24 != 127 && spa >> 28 != 0xe && spa != UINT32_MAX;
}

/**
 * arp_input() - one ARP message
 * @n:		IP layer
 * @l:		Link it came by
 * @p:		Packet, its head at the ARP header; Consumes @p
 * @now:	Time
 *
 * Return: DROP_NONE, DROP_ARP_BAD or DROP_ARP_OURS
 */
enum drop arp_input(struct net *n, struct link *l, struct pkt *p, struct mono now)
{
	auto_free(pkt) mine = p;
	const struct arp_hdr *h = PKT_PULL(mine, struct arp_hdr);
	bool is_request, is_for_us;
	struct ns_addr sender;
	uint32_t flags = 0;

	if (!h || !is_well_formed(h) || l->config.is_noarp)
		return DROP_ARP_BAD;
	is_request = be16_get(h->op) == ARP_OP_REQUEST;
	is_for_us = is_ours(n, be32_get(h->tpa));
	if (is_ours(n, be32_get(h->spa))) {
		if (!eth_addr_eq(h->sha, l->config.mac)) /* else it is an echo of ours */
			defend(n, l, be32_get(h->spa), now);
		return DROP_ARP_OURS;
	}
	if (be32_get(h->spa) != 0) {
		sender = ns_addr_v4(be32_get(h->spa));
		if (is_request && is_for_us)
			flags = NEIGH_UPD_CREATE;
		else if (!is_request && eth_addr_eq(h->tha, l->config.mac))
			flags = NEIGH_UPD_SOLICITED;
		neigh_update(n->neighs, l, &sender, h->sha, flags, now);
	}
	if (is_request && is_for_us)
		answer(n, l, h);
	return DROP_NONE;
}
