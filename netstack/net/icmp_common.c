/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icmp_common.c - what ICMP and ICMPv6 share: limits, answers, echo
 *
 * Theory of operation
 *
 * Both begin with a header of eight octets whose type, code and checksum are in the same place, and
 * identifier and sequence number of an echo too. An answer goes back to where the packet came from, from
 * the address it came to (from one of ours when that is a group). Payload is by reference.
 *
 * Errors are limited by one bucket for all and one for each hash of a destination, with the sizes Linux
 * has; both families draw on the same.
 */
#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "wire/csum.h"
#include "wire/eth.h"
#include "wire/icmp4.h"
#include "wire/icmp6.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

enum {
	ALL_PER_SEC = 1000, /* linux icmp_msgs_per_sec */
	ALL_BURST = 50,     /* linux icmp_msgs_burst */
	PEER_BURST = 6,     /* linux XRLIM_BURST_FACTOR */
};

#define ALL_INTERVAL_NS  (NS_PER_SEC / ALL_PER_SEC)
#define PEER_INTERVAL_NS NS_PER_SEC /* linux icmp_ratelimit */

static_assert(sizeof(struct icmp4_hdr) == sizeof(struct icmp6_hdr), "the same layout");

/** icmp_limit_init() - full buckets */
void icmp_limit_init(struct icmp_limit *lim)
{
	*lim = (struct icmp_limit){ .all = { .credit_ns = ALL_BURST * ALL_INTERVAL_NS } };
	for (uint32_t i = 0; i < ICMP_LIMIT_PEERS; i++)
		lim->peer[i].credit_ns = PEER_BURST * PEER_INTERVAL_NS;
}

static bool has_credit(struct icmp_bucket *b, uint64_t interval_ns, uint64_t burst, struct mono now)
{
	uint64_t idle_ns = mono_since(now, b->last), max_ns = interval_ns * burst;

	b->last = now;
	b->credit_ns = idle_ns >= max_ns - b->credit_ns ? max_ns : b->credit_ns + idle_ns;
	return b->credit_ns >= interval_ns;
}

/** may_send() - does the limit let one more message of either family go to @to? It is charged then */
static bool may_send(struct net *n, const struct ns_addr *to, struct mono now)
{
	struct icmp_limit *lim = &n->icmp_limit;
	uint64_t h = hash_sip(&n->core->key, to->b, sizeof(to->b));
	struct icmp_bucket *peer = &lim->peer[h % ICMP_LIMIT_PEERS];

	if (!has_credit(&lim->all, ALL_INTERVAL_NS, ALL_BURST, now) ||
	    !has_credit(peer, PEER_INTERVAL_NS, PEER_BURST, now))
		return false;
	lim->all.credit_ns -= ALL_INTERVAL_NS;
	peer->credit_ns -= PEER_INTERVAL_NS;
	return true;
}

/** add_payload() - append @len octets of @from, @off octets into its buffer, by reference when it has a chunk. 0, -ENOSPC */
static int add_payload(struct pkt *to, const struct pkt *from, uint32_t off, uint32_t len)
{
	if (from->lin)
		return pkt_add_frag(to, from->lin, off, len);
	if (len + ETH_HDR_LEN + IP6_HDR_LEN + sizeof(struct icmp6_hdr) > to->head)
		return -ENOSPC;
	memcpy(pkt_push(to, len), from->buf + off, len);
	return 0;
}

/**
 * send_back() - checksum and out, back to where @ip came from
 * @n:		IP layer
 * @p:		Packet, its head at the ICMP header; Consumes @p
 * @ip:		What IP knows of the packet that is answered
 * @tos:	Of the answer
 * @now:	Time
 *
 * Return: 0, -ENOBUFS when the link has no room, or what the route or the link say
 */
static int send_back(struct net *n, struct pkt *p, const struct ip_rx *ip, uint8_t tos,
		     struct mono now)
{
	static const struct ns_addr any;
	struct icmp4_hdr *h = (struct icmp4_hdr *)(void *)pkt_data(p);
	bool is_v4 = ns_addr_is_v4(&ip->src);
	struct ip_tx out = { .dst = ip->src, .tos = tos };
	struct dst d;
	int r = net_route(n, &ip->src,
			  ns_addr_is_multicast(&ip->dst) || ip->is_dst_foreign ? &any : &ip->dst,
			  &d);
	uint32_t sum = 0;

	if (r == 0 && net_dst_room(n, &d) == 0)
		r = -ENOBUFS;
	if (r < 0) {
		pkt_free(p);
		return r;
	}
	out.proto = is_v4 ? IP_PROTO_ICMP : IP_PROTO_ICMP6;
	out.src = d.src;
	if (!is_v4)
		sum = csum_pseudo(&out.src, &out.dst, IP_PROTO_ICMP6, pkt_len(p));
	h->csum = be16(0);
	h->csum = be16(csum_finish(csum_pkt(sum, p, 0, pkt_len(p))));
	p->csum = PKT_CSUM_FULL;
	return net_output(n, &d, &out, p, now);
}

/**
 * icmp_send_error() - an error of either family, if the limit lets it go
 * @n:		IP layer
 * @p:		Packet it is about, l3_off at its IP header; borrowed
 * @len:	Octets of it to quote
 * @ip:		What IP knows of it
 * @h:		Header of ICMP or ICMPv6; the checksum is set here
 * @tos:	Of the error
 * @now:	Time
 */
void icmp_send_error(struct net *n, const struct pkt *p, uint32_t len, const struct ip_rx *ip,
		     const struct icmp6_hdr *h, uint8_t tos, struct mono now)
{
	auto_free(pkt) out = NULL;

	if (!may_send(n, &ip->src, now)) {
		drop_count(n->core->stats, DROP_ICMP_RATE);
		return;
	}
	out = pkt_new_tx(&n->core->pkts);
	if (!out || add_payload(out, p, p->l3_off, len) < 0)
		return;
	*PKT_PUSH(out, struct icmp6_hdr) = *h;
	if (send_back(n, take(out), ip, tos, now) == 0)
		stat_inc(n->core->stats, STAT_ICMP_ERRORS);
}

/**
 * icmp_echo_reply() - answer an echo request with its own octets
 * @n:		IP layer
 * @p:		Packet, its head at the ICMP header, which is there; borrowed
 * @type:	Of the answer
 * @ip:		What IP knows of it
 * @now:	Time
 *
 * To a group the limit of errors applies: one request has many answers.
 *
 * Return: DROP_NONE, or why not
 */
enum drop icmp_echo_reply(struct net *n, const struct pkt *p, uint8_t type, const struct ip_rx *ip,
			  struct mono now)
{
	const uint32_t hdr_len = sizeof(struct icmp4_hdr);
	auto_free(pkt) out = NULL;
	struct icmp4_hdr *h;
	int r = 0;

	if (ip->is_bcast && !may_send(n, &ip->src, now))
		return DROP_ICMP_RATE;
	out = pkt_new_tx(&n->core->pkts);
	if (!out)
		return DROP_NO_MEMORY;
	if (p->len > hdr_len)
		r = add_payload(out, p, p->head + hdr_len, p->len - hdr_len);
	for (uint32_t i = 0; r == 0 && i < p->frag_cnt; i++)
		r = pkt_add_frag(out, p->frag[i].chunk, p->frag[i].off, p->frag[i].len);
	if (r < 0)
		return DROP_NO_MEMORY;
	h = PKT_PUSH(out, struct icmp4_hdr);
	memcpy(h, pkt_data(p), sizeof(*h));
	h->type = type;
	h->code = 0;
	if (send_back(n, take(out), ip, ip->tos, now) == 0)
		stat_inc(n->core->stats, STAT_ICMP_ECHO_REPLIES);
	return DROP_NONE;
}

/** icmp_heard() - an answer, its head at the ICMP header, for who asked (echo sockets); Consumes @p */
enum drop icmp_heard(struct net *n, struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	const struct net_proto *proto =
		&n->protos[ns_addr_is_v4(&ip->src) ? IP_PROTO_ICMP : IP_PROTO_ICMP6];

	if (proto->ops)
		return proto->ops->input(proto->self, p, ip, now);
	pkt_free(p);
	return DROP_ICMP_IGNORED;
}

/**
 * icmp_quote_ports() - whose a quoted packet was
 * @e:		Its ports are set, and for TCP the sequence number
 * @proto:	Of the packet
 * @l4:		Its first octets
 *
 * The port of an echo request is its identifier, and the other end's is its sequence number, so that who
 * hears of the error can tell which one it was; no other message of ICMP is anybody's.
 *
 * Return: false when it is nobody's
 */
bool icmp_quote_ports(struct icmp_err *e, uint8_t proto, const uint8_t l4[ICMP_QUOTE_MIN])
{
	uint8_t echo = proto == IP_PROTO_ICMP ? (uint8_t)ICMP4_ECHO : (uint8_t)ICMP6_ECHO;

	if (proto == IP_PROTO_ICMP || proto == IP_PROTO_ICMP6) {
		e->local.port = (uint16_t)(l4[4] << 8 | l4[5]);
		e->remote.port = (uint16_t)(l4[6] << 8 | l4[7]);
		return l4[0] == echo;
	}
	e->local.port = (uint16_t)(l4[0] << 8 | l4[1]);
	e->remote.port = (uint16_t)(l4[2] << 8 | l4[3]);
	e->has_seq = proto == IP_PROTO_TCP;
	if (e->has_seq)
		e->seq = (uint32_t)l4[4] << 24 | (uint32_t)l4[5] << 16 | (uint32_t)l4[6] << 8 |
			 l4[7];
	return true;
}
