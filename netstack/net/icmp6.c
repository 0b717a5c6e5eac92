/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icmp6.c - ICMPv6, RFC 4443
 *
 * Theory of operation
 *
 * In: the checksum is verified first, whatever the type (RFC 4443 2.3). Echo requests are answered,
 * their payload by reference, from the address that was asked; when a group was asked, from one of
 * ours and within the limit for errors. An error's quoted packet is parsed here, over its extension
 * headers, with every length bounded by what is there, and goes to the transport as an icmp_err when
 * we could have sent it; whether it is believable is for the transport (RFC 5927 4). Neighbour
 * discovery is ndp.c's. Everything else is ignored.
 *
 * Out: errors with as much of the packet as the least MTU takes, never about another error, about a
 * group (but for what RFC 4443 2.4 (e.3) names) or to nobody, within the limits that ICMP for IPv4
 * has: both families share the buckets.
 *
 * References: linux v6.1 net/ipv6/icmp.c tab_unreach[], tcp_ipv6.c tcp_v6_err().
 */
#include "net/icmp6.h"

#include <errno.h>
#include <string.h>

#include "net/ip6_ext.h"
#include "net/ndp.h"
#include "net/net_int.h"
#include "wire/csum.h"
#include "wire/icmp6.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

enum {
	QUOTE_MAX =
		IP6_MTU_MIN - IP6_HDR_LEN - (int)sizeof(struct icmp6_hdr), /* RFC 4443 2.4 (c) */
};

/*
 * What the message means. As with IPv4, any of them but "too big" ends a connection in SYN-SENT
 * (linux tcp_v6_err()). A router that tells of less than the least MTU is not heard (RFC 8201 4).
 */
static enum drop error_of(const struct icmp6_hdr *h, struct icmp_err *e)
{
	static const int unreach_errno[ICMP6_UNREACH_MAX + 1] = {
		-ENETUNREACH,  -EACCES, -EHOSTUNREACH, -EHOSTUNREACH,
		-ECONNREFUSED, -EACCES, -EACCES,
	};

	e->is_hard = true;
	switch (h->type) {
	case ICMP6_UNREACH:
		e->err = h->code <= ICMP6_UNREACH_MAX ? unreach_errno[h->code] : -EPROTO;
		return DROP_NONE;
	case ICMP6_TOO_BIG:
		e->err = -EMSGSIZE;
		e->is_frag_needed = true;
		e->is_hard = false;
		e->mtu = be32_get(h->arg);
		return e->mtu < IP6_MTU_MIN ? DROP_ICMP6_TOO_BIG : DROP_NONE;
	case ICMP6_TIME_EXCEEDED:
		e->err = -EHOSTUNREACH;
		return DROP_NONE;
	case ICMP6_PARAM_PROBLEM:
		e->err = -EPROTO;
		return DROP_NONE;
	default:
		return DROP_ICMP_IGNORED;
	}
}

/* Whom a packet of ours, its head at the IPv6 header, was of; false: that cannot be told. */
static bool quote_parse(const struct link *l, const struct pkt *p, struct icmp_err *e,
			uint8_t *ret_proto)
{
	uint8_t l4[ICMP_QUOTE_MIN];
	struct ip6_hdr h;

	if (!pkt_copy_out(p, 0, &h, sizeof(h)) || ip6_version(&h) != 6 ||
	    !ip6_ext_find_l4(p, &e->quote_off, ret_proto) ||
	    !pkt_copy_out(p, e->quote_off, l4, sizeof(l4)))
		return false;
	e->quote = p;
	memcpy(e->local.addr.b, h.src, sizeof(h.src));
	memcpy(e->remote.addr.b, h.dst, sizeof(h.dst));
	if (ns_addr_is_v4(&e->local.addr) || ns_addr_is_v4(&e->remote.addr) ||
	    ns_addr_zone(&e->local.addr) || ns_addr_zone(&e->remote.addr))
		return false;
	e->local.addr = ns_addr_zoned(e->local.addr, link_zone(l));
	e->remote.addr = ns_addr_zoned(e->remote.addr, link_zone(l));
	return icmp_quote_ports(e, *ret_proto, l4);
}

static enum drop error_input(struct net *n, const struct pkt *p, const struct icmp6_hdr *icmp,
			     const struct ip_rx *ip, struct mono now)
{
	struct icmp_err e = { .from = ip->src, .ip = ip };
	const struct net_proto *proto;
	uint8_t nr = 0;
	enum drop why;

	if (!quote_parse(ip->link, p, &e, &nr))
		return DROP_ICMP_BAD;
	why = error_of(icmp, &e);
	if (why != DROP_NONE)
		return why;
	e.type = icmp->type;
	e.code = icmp->code;
	/* RFC 4884 4.4, 4.5 */
	if (icmp->type == ICMP6_UNREACH || icmp->type == ICMP6_TIME_EXCEEDED)
		e.quoted_len = (uint16_t)((be32_get(icmp->arg) >> 24) * 8);
	proto = &n->protos[nr];
	if (!net_is_local(n, &e.local.addr) || !proto->ops || !proto->ops->error)
		return DROP_ICMP_NO_MATCH;
	proto->ops->error(proto->self, &e, now);
	return DROP_NONE;
}

static bool is_csum_good(const struct pkt *p, const struct ip_rx *ip)
{
	uint32_t sum = csum_pseudo(&ip->src, &ip->dst, IP_PROTO_ICMP6, pkt_len(p));

	return csum_fold(csum_pkt(sum, p, 0, pkt_len(p))) == UINT16_MAX;
}

/**
 * icmp6_input() - one ICMPv6 message
 * @n:			IP layer
 * @p:			Packet, its head at the ICMPv6 header; Consumes @p
 * @ip:			What IP knows of it
 * @is_fragment:	It had a fragment header
 * @now:		Time
 *
 * Return: DROP_NONE when it was answered or told to a transport, or why not
 */
enum drop icmp6_input(struct net *n, struct pkt *p, const struct ip_rx *ip, bool is_fragment,
		      struct mono now)
{
	auto_free(pkt) mine = p;
	const struct icmp6_hdr *h;

	if (!ip->csum_ok && !is_csum_good(p, ip))
		return DROP_ICMP_BAD;
	if (p->len && report_is_mld(*pkt_data(p)))
		return is_fragment ? DROP_GROUP_BAD : report_input6(n, mine, ip, now);
	if (p->len < sizeof(*h))
		return DROP_ICMP_BAD;
	if (ip->is_bcast && !addr6_hears(n, ip->link, &ip->dst, &ip->src))
		return DROP_GROUP_FILTERED;
	h = (const struct icmp6_hdr *)(const void *)pkt_data(p);
	if (h->type == ICMP6_ECHO && !ns_addr_is_any(&ip->src))
		return icmp_echo_reply(n, mine, ICMP6_ECHO_REPLY, ip, now);
	if (h->type == ICMP6_ECHO_REPLY && !ip->is_bcast && !ns_addr_is_any(&ip->src))
		return icmp_heard(n, take(mine), ip, now);
	NS_BUG_ON(!pkt_pull(p, sizeof(*h)));
	if (h->type >= ICMP6_ND_RS && h->type <= ICMP6_ND_REDIRECT) {
		if (is_fragment) /* RFC 6980 5 */
			return DROP_ND_BAD;
		return ndp_input(n, mine, h, ip, now);
	}
	if (ns_addr_is_any(&ip->src))
		return DROP_IP6_BAD_SRC;
	if (!icmp6_is_error(h->type) || ip->is_bcast)
		return DROP_ICMP_IGNORED;
	return error_input(n, mine, h, ip, now);
}

/** icmp6_is_error_inside() - is @p, its head at the IPv6 header, an error about something? RFC 4443 2.4 (e.1) */
bool icmp6_is_error_inside(const struct pkt *p)
{
	uint8_t proto, type;
	uint32_t off;

	return ip6_ext_find_l4(p, &off, &proto) && proto == IP_PROTO_ICMP6 &&
	       (!pkt_copy_out(p, off, &type, sizeof(type)) || icmp6_is_error(type));
}

/**
 * icmp6_error() - tell the sender of @p what is wrong with it
 * @n:		IP layer
 * @p:		Packet, no ICMPv6 error itself, l3_off at its IPv6 header, its head there or behind;
 *		borrowed
 * @ip:		What IP knows of it
 * @say:	What to tell
 * @now:	Time
 */
void icmp6_error(struct net *n, const struct pkt *p, const struct ip_rx *ip,
		 const struct icmp6_say *say, struct mono now)
{
	const struct icmp6_hdr h = { .type = say->type, .code = say->code, .arg = be32(say->arg) };
	uint32_t len = ns_min_u((uint32_t)p->head - p->l3_off + p->len, QUOTE_MAX);

	if ((!ip->is_bcast || say->is_for_groups) && !ns_addr_is_any(&ip->src))
		icmp_send_error(n, p, len, ip, &h, 0, now);
}

/**
 * icmp6_report() - a packet of ours could not leave: tell its transport as an ICMPv6 error would
 * @n:		IP layer
 * @l:		Link it was for
 * @p:		Packet, its head at the IPv6 header; borrowed
 * @err:	Negative errno
 * @now:	Time
 */
void icmp6_report(struct net *n, const struct link *l, const struct pkt *p, int err,
		  struct mono now)
{
	struct icmp_err e = {
		.err = err, .type = ICMP6_UNREACH, .code = ICMP6_UNREACH_ADDR, .is_hard = true
	};
	const struct net_proto *proto;
	uint8_t nr = 0;

	if (!quote_parse(l, p, &e, &nr))
		return;
	e.from = e.local.addr;
	proto = &n->protos[nr];
	if (proto->ops && proto->ops->error)
		proto->ops->error(proto->self, &e, now);
}
