/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_stamp.c - when a datagram left, for who asked by SO_TIMESTAMPING
 *
 * A report lies among the errors of the socket, as in Linux: when IP had the datagram (TX_SCHED), and when the link
 * had it (TX_SOFTWARE), which is the same moment here. Unless the time alone is wanted (OPT_TSONLY) it quotes the
 * frame: an Ethernet header without addresses, IP's header without ID and flow label, and the datagram.
 *
 * Deviations: what waits for the link's or the neighbour's address counts as sent; a frame is quoted up to
 * NS_DGRAM_QUOTE_MAX octets.
 *
 * References: linux v6.1 net/core/skbuff.c __skb_tstamp_tx(), net/core/sock.c sock_set_timestamping()
 */
#include <errno.h>
#include <string.h>

#include "udp/udp_int.h"
#include "wire/csum.h"
#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

void udp_stamp_set(struct udp_sock *s, uint32_t flags)
{
	if (flags & NS_STAMP_OPT_ID & ~s->stamp_flags)
		s->stamp_key = 0;
	s->stamp_flags = flags;
}

uint32_t udp_stamp_wanted(const struct udp_sock *s, const struct ns_dgram_tx *tx)
{
	const uint32_t when = NS_STAMP_TX_SOFTWARE | NS_STAMP_TX_SCHED;
	uint32_t flags = s->stamp_flags;

	if (tx->has_stamp)
		flags = (flags & ~when) | (tx->stamp & when);
	return flags & when ? flags : 0;
}

static uint32_t put_ip4(uint8_t *to, const struct ip_tx *ip, uint32_t len)
{
	struct ip4_hdr h = { .vhl = 0x45,
			     .tos = ip->tos,
			     .len = be16((uint16_t)(sizeof(h) + len)),
			     .frag = be16(ip->dont_fragment ? IP4_DF : 0),
			     .ttl = ip->ttl,
			     .proto = ip->proto,
			     .src = be32(ns_addr_to_v4(&ip->src)),
			     .dst = be32(ns_addr_to_v4(&ip->dst)) };

	h.csum = be16(csum_finish(csum_add(0, &h, sizeof(h))));
	memcpy(to, &h, sizeof(h));
	return sizeof(h);
}

static uint32_t put_ip6(uint8_t *to, const struct ip_tx *ip, uint32_t len)
{
	struct ns_addr src = ns_addr_zoned(ip->src, 0), dst = ns_addr_zoned(ip->dst, 0);
	struct ip6_hdr h = { .vtf = be32(6u << 28 | (uint32_t)ip->tos << 20),
			     .payload_len = be16((uint16_t)len),
			     .next = ip->proto,
			     .hop_limit = ip->ttl };

	memcpy(h.src, src.b, sizeof(h.src));
	memcpy(h.dst, dst.b, sizeof(h.dst));
	memcpy(to, &h, sizeof(h));
	return sizeof(h);
}

void udp_stamp_begin(uint32_t flags, const struct ip_tx *ip, const struct pkt *p, uint32_t ifindex,
		     struct ns_dgram_err *ret_e)
{
	bool is_v4 = ns_addr_is_v4(&ip->dst);
	uint32_t len = pkt_len(p), off = sizeof(struct eth_hdr), room;
	struct eth_hdr eth = { .type = be16(is_v4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6) };

	*ret_e = (struct ns_dgram_err){ .err = -ENOMSG,
					.origin = NS_ERR_TIMESTAMPING,
					.to = { .addr = ip->dst },
					.local = ip->src,
					.ifindex = ifindex,
					.ttl = ip->ttl,
					.tos = ip->tos,
					.is_queued = true };
	if (flags & NS_STAMP_OPT_TSONLY)
		return;
	memcpy(ret_e->quote, &eth, sizeof(eth));
	off += is_v4 ? put_ip4(ret_e->quote + off, ip, len) : put_ip6(ret_e->quote + off, ip, len);
	room = NS_DGRAM_QUOTE_MAX - off;
	len = ns_min_u(len, room);
	if (pkt_copy_out(p, 0, ret_e->quote + off, len))
		ret_e->quote_len = (uint16_t)(off + len);
}

void udp_stamp_push(struct udp_sock *s, uint32_t flags, struct ns_dgram_err *e, struct mono now)
{
	e->time = now;
	e->data = flags & NS_STAMP_OPT_ID ? s->stamp_key++ : 0;
	if (flags & NS_STAMP_TX_SCHED) {
		e->info = NS_STAMP_SCHED;
		udp_error_push(s, e);
	}
	e->info = NS_STAMP_SND;
	if (flags & NS_STAMP_TX_SOFTWARE)
		udp_error_push(s, e);
}
