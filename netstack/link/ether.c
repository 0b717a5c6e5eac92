/* SPDX-License-Identifier: Apache-2.0 */
/* ether.c - the Ethernet header on and off, IEEE 802.3 3 */
#include "link/ether.h"

#include <string.h>

#include "link/link.h"

const uint8_t ether_broadcast[ETH_ADDR_LEN] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

/**
 * ether_push() - put the header in front; l2_off is set and csum_start counted from it
 * @l:		Link it leaves by: its MAC is the source
 * @p:		Packet from the network header on, l4_off set when it has a partial checksum
 * @dst:	MAC of the neighbour
 * @type:	Ethertype
 */
void ether_push(const struct link *l, struct pkt *p, const uint8_t dst[ETH_ADDR_LEN], uint16_t type)
{
	struct eth_hdr *h = PKT_PUSH(p, struct eth_hdr);

	memcpy(h->dst, dst, ETH_ADDR_LEN);
	memcpy(h->src, l->config.mac, ETH_ADDR_LEN);
	h->type = be16(type);
	p->l2_off = (uint16_t)p->head;
	if (p->csum == PKT_CSUM_PARTIAL)
		p->csum_start = (uint16_t)(p->l4_off - p->l2_off);
}

/** ether_is_ip6() - of which version is the packet of IP at @p's head? */
bool ether_is_ip6(const struct pkt *p)
{
	return *pkt_data(p) >> 4 == 6;
}

/** ether_push_ip() - likewise in front of IP: what version the packet is, whatever the neighbour's is (RFC 8950 3) */
void ether_push_ip(const struct link *l, struct pkt *p, const uint8_t dst[ETH_ADDR_LEN])
{
	ether_push(l, p, dst, ether_is_ip6(p) ? ETH_TYPE_IP6 : ETH_TYPE_IP4);
}

/* RFC 2464 7: a group of IPv6 that nobody here listens to; a hash lets some of them through. */
static bool is_other_group6(const struct link *l, const uint8_t mac[ETH_ADDR_LEN])
{
	return mac[0] == 0x33 && mac[1] == 0x33 && !(l->groups6 >> (mac[5] & 63) & 1);
}

/**
 * ether_pull() - check and take off the header of a received frame
 * @l:			Link it came by
 * @p:			Frame; afterwards its head is the network header, l2_off and l3_off set
 * @ret_type:		Ethertype
 * @ret_is_bcast:	Sent to a group address
 *
 * Return: DROP_NONE or why not; @p stays the caller's
 */
enum drop ether_pull(const struct link *l, struct pkt *p, uint16_t *ret_type, bool *ret_is_bcast)
{
	uint16_t l2_off = (uint16_t)p->head;
	const struct eth_hdr *h = PKT_PULL(p, struct eth_hdr);

	if (!h)
		return DROP_TOO_SHORT;
	if (eth_is_multicast(h->src))
		return DROP_ETH_SRC_MCAST;
	*ret_is_bcast = eth_is_multicast(h->dst);
	if (!*ret_is_bcast ? !eth_addr_eq(h->dst, l->config.mac) : is_other_group6(l, h->dst))
		return DROP_ETH_NOT_US;
	*ret_type = be16_get(h->type);
	p->l2_off = l2_off;
	p->l3_off = (uint16_t)p->head;
	return DROP_NONE;
}
