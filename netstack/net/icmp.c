/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icmp.c - ICMP for IPv4, RFC 792, RFC 1122 3.2.2
 *
 * Theory of operation
 *
 * In: echo requests are answered, their payload by reference. An error's quoted packet is parsed
 * here, with every length bounded by what is there, and goes to the transport as an icmp_err when
 * we could have sent it; whether the connection exists and the quoted sequence number is believable
 * is for the transport (RFC 5927 4). Everything else is ignored: redirects would let a neighbour
 * route us, timestamps and masks serve nobody.
 *
 * Out: "unreachable" with as much of the packet as RFC 1812 4.3.2.3 wants, never about another
 * error, a group address or a later fragment (RFC 1122 3.2.2), and limited. What this shares with
 * ICMPv6 is in icmp_common.c.
 *
 * References: linux v6.1 net/ipv4/icmp.c icmp_err_convert[], tcp_ipv4.c tcp_v4_err().
 */
#include "net/icmp.h"

#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "wire/csum.h"
#include "wire/icmp4.h"
#include "wire/icmp6.h"
#include "wire/ip4.h"

enum {
	ERROR_MAX = 576, /* octets of a whole error packet, RFC 1812 4.3.2.3 */
	MTU_MIN = 68,    /* octets, RFC 791 */
};

/* linux icmp_err_convert[]; is_hard: see error_of(). */
static const int unreach_errno[ICMP4_UNREACH_MAX + 1] = {
	[0] = -ENETUNREACH,   [1] = -EHOSTUNREACH,  [2] = -ENOPROTOOPT,   [3] = -ECONNREFUSED,
	[4] = -EMSGSIZE,      [5] = -EOPNOTSUPP,    [6] = -ENETUNREACH,   [7] = -EHOSTDOWN,
	[8] = -ENONET,        [9] = -ENETUNREACH,   [10] = -EHOSTUNREACH, [11] = -ENETUNREACH,
	[12] = -EHOSTUNREACH, [13] = -EHOSTUNREACH, [14] = -EHOSTUNREACH, [15] = -EHOSTUNREACH,
};

/* RFC 1191 7.1: the next plateau below a packet of @len octets, from a router that tells no MTU. */
static uint32_t plateau_below(uint32_t len)
{
	static const uint16_t plateaus[] = { 32000, 17914, 8166, 4352, 2002, 1492, 1006, 508, 296 };

	for (size_t i = 0; i < NS_ARRAY_LEN(plateaus); i++)
		if (plateaus[i] < len)
			return plateaus[i];
	return MTU_MIN;
}

/*
 * What the message means. Linux ends a connection in SYN-SENT by any unreachable or time exceeded
 * (tcp_v4_err()), and so do we: the program asks again or tries another address.
 */
static bool error_of(const struct icmp4_hdr *h, uint32_t quoted_len, struct icmp_err *e)
{
	e->is_hard = true;
	switch (h->type) {
	case ICMP4_UNREACH:
		if (h->code > ICMP4_UNREACH_MAX)
			return false;
		e->err = unreach_errno[h->code];
		if (h->code == ICMP4_UNREACH_FRAG_NEEDED) {
			e->is_frag_needed = true;
			e->is_hard = false;
			e->mtu = be16_get(h->mtu);
			if (e->mtu == 0)
				e->mtu = plateau_below(quoted_len);
			if (e->mtu < MTU_MIN)
				e->mtu = MTU_MIN;
		}
		return true;
	case ICMP4_TIME_EXCEEDED:
		e->err = -EHOSTUNREACH;
		return true;
	case ICMP4_PARAM_PROBLEM:
		e->err = -EPROTO;
		return true;
	default:
		return false;
	}
}

static enum drop error_input(struct net *n, const struct pkt *p, const struct icmp4_hdr *icmp,
			     const struct ip_rx *ip, struct mono now)
{
	struct icmp_err e = { .from = ip->src, .ip = ip, .quote = p };
	const struct net_proto *proto;
	uint8_t l4[ICMP_QUOTE_MIN];
	struct ip4_hdr h;
	uint32_t hdr_len;

	if (!pkt_copy_out(p, 0, &h, sizeof(h)))
		return DROP_ICMP_BAD;
	hdr_len = ip4_hdr_len(&h);
	if (ip4_version(&h) != 4 || hdr_len < sizeof(h) ||
	    be16_get(h.len) < hdr_len + ICMP_QUOTE_MIN || !pkt_copy_out(p, hdr_len, l4, sizeof(l4)))
		return DROP_ICMP_BAD;
	if (be16_get(h.frag) & IP4_OFF_MASK)
		return DROP_ICMP_NO_MATCH;
	if (!error_of(icmp, be16_get(h.len), &e))
		return DROP_ICMP_IGNORED;
	e.type = icmp->type;
	e.code = icmp->code;
	e.quote_off = hdr_len;
	e.quoted_len = (uint16_t)((be16_get(icmp->unused) & UINT8_MAX) * 4); /* RFC 4884 4.1 */
	e.local.addr = ns_addr_v4(be32_get(h.src));
	e.remote.addr = ns_addr_v4(be32_get(h.dst));
	if (!icmp_quote_ports(&e, h.proto, l4))
		return DROP_ICMP_NO_MATCH;
	proto = &n->protos[h.proto];
	if (!net_is_local(n, &e.local.addr) || !proto->ops || !proto->ops->error)
		return DROP_ICMP_NO_MATCH;
	proto->ops->error(proto->self, &e, now);
	return DROP_NONE;
}

/**
 * icmp_input() - one ICMP message
 * @n:		IP layer
 * @p:		Packet, its head at the ICMP header; Consumes @p
 * @ip:		What IP knows of it
 * @now:	Time
 *
 * Return: DROP_NONE when it was answered or told to a transport, or why not
 */
enum drop icmp_input(struct net *n, struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	auto_free(pkt) mine = p;
	const struct icmp4_hdr *h;

	if (!ip->csum_ok && csum_fold(csum_pkt(0, p, 0, pkt_len(p))) != UINT16_MAX)
		return DROP_ICMP_BAD;
	if (p->len < sizeof(*h))
		return DROP_ICMP_BAD;
	if (ip->is_bcast)
		return DROP_ICMP_IGNORED;
	h = (const struct icmp4_hdr *)(const void *)pkt_data(p);
	switch (h->type) {
	case ICMP4_ECHO_REPLY:
		return icmp_heard(n, take(mine), ip, now);
	case ICMP4_ECHO:
		return icmp_echo_reply(n, mine, ICMP4_ECHO_REPLY, ip, now);
	case ICMP4_UNREACH:
	case ICMP4_TIME_EXCEEDED:
	case ICMP4_PARAM_PROBLEM:
		NS_BUG_ON(!pkt_pull(p, sizeof(*h)));
		return error_input(n, p, h, ip, now);
	default:
		return DROP_ICMP_IGNORED;
	}
}

/* RFC 1122 3.2.2: what must never be answered with an error. */
static bool may_answer(const struct pkt *p, const struct ip_rx *ip)
{
	uint8_t type;

	if (ip->is_bcast)
		return false;
	if (ip->proto != IP_PROTO_ICMP)
		return true;
	return pkt_copy_out(p, 0, &type, sizeof(type)) && !icmp4_is_error(type);
}

/**
 * icmp_error() - tell the sender of @p what became of it
 * @n:		IP layer
 * @p:		Packet, its head at the transport header and l3_off at its IP header; borrowed
 * @ip:		What IP knows of it
 * @type:	ICMP4_UNREACH or ICMP4_TIME_EXCEEDED
 * @code:	Of the type
 * @now:	Time
 */
void icmp_error(struct net *n, const struct pkt *p, const struct ip_rx *ip, uint8_t type,
		uint8_t code, struct mono now)
{
	const struct icmp6_hdr h = { .type = type, .code = code };
	uint32_t hdr_len = (uint32_t)p->head - p->l3_off;
	uint32_t max = ERROR_MAX - IP4_HDR_LEN - (uint32_t)sizeof(struct icmp4_hdr);
	uint32_t len = ns_min_u(hdr_len + p->len, max);

	if (may_answer(p, ip))
		icmp_send_error(n, p, len, ip, &h, (uint8_t)(0xc0 | (ip->tos & 0x1e)), now);
}

/** icmp_unreachable() - icmp_error() of type "unreachable"; @code: enum icmp4_unreach */
void icmp_unreachable(struct net *n, const struct pkt *p, const struct ip_rx *ip, uint8_t code,
		      struct mono now)
{
	icmp_error(n, p, ip, ICMP4_UNREACH, code, now);
}

/**
 * icmp_report() - a packet of ours could not leave: tell its transport as an ICMP error would
 * @n:		IP layer
 * @p:		Packet, its head at the IP header; borrowed
 * @err:	Negative errno
 * @now:	Time
 */
void icmp_report(struct net *n, const struct pkt *p, int err, struct mono now)
{
	const struct net_proto *proto;
	uint8_t l4[ICMP_QUOTE_MIN];
	struct icmp_err e = { .err = err,
			      .type = ICMP4_UNREACH,
			      .code = ICMP4_UNREACH_HOST,
			      .is_hard = true,
			      .quote = p };
	struct ip4_hdr h;

	if (!pkt_copy_out(p, 0, &h, sizeof(h)) || !pkt_copy_out(p, ip4_hdr_len(&h), l4, sizeof(l4)))
		return;
	e.local.addr = e.from = ns_addr_v4(be32_get(h.src));
	e.remote.addr = ns_addr_v4(be32_get(h.dst));
	e.quote_off = ip4_hdr_len(&h);
	if (!icmp_quote_ports(&e, h.proto, l4))
		return;
	proto = &n->protos[h.proto];
	if (proto->ops && proto->ops->error)
		proto->ops->error(proto->self, &e, now);
}
