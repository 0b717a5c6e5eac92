/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_wire.c - messages of IGMP and MLD: RFC 9776 4, RFC 9777 5, RFC 2236 2, RFC 2710 3
 *
 * Theory of operation
 *
 * All leave with a TTL of 1 and the router alert option; IPv6 ones from the link-local address. What
 * comes in counts only if it cannot have crossed a router: a TTL of 1, for IPv6 also the option and a
 * link-local source (RFC 9777 6.2), whole, not in fragments. Lengths decide on the version of a query
 * (RFC 9776 7.1, RFC 9777 8.1); one whose sources go beyond its end is refused.
 *
 * A report that grows longer than the link takes leaves, and the next one goes on (RFC 9776 4.2.16, RFC 9777
 * 5.2.15): a record begins in a new one when it does not fit, and is cut into several when it is longer than that;
 * one of EXCLUDE cannot be cut, and what does not fit is left out, which is to hear more than was asked for.
 */
#include <string.h>

#include "net/net_int.h"
#include "net/report_int.h"
#include "wire/csum.h"
#include "wire/icmp6.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

enum { /* octets in front of the records: IP, router alert, report */
       HDRS4_LEN = IP4_HDR_LEN + 4 + (int)sizeof(struct report_hdr),
       HDRS6_LEN = IP6_HDR_LEN + 8 + (int)sizeof(struct report_hdr),
};

static const struct ns_addr all_mld_routers = { { 0xff, 2, [15] = 0x16 } };
static const struct ns_addr all_routers6 = { { 0xff, 2, [15] = 2 } };

#define ALL_IGMP_ROUTERS 0xe0000016 /* 224.0.0.22, RFC 9776 4.2.14 */
#define ALL_ROUTERS      0xe0000002 /* 224.0.0.2, RFC 2236 9 */

/* ---- out ---- */

/* Checksum and out. Consumes @p, whose message begins with the four octets that all have. */
static void send(struct report_link *rl, const struct ns_addr *to, struct pkt *p, struct mono now)
{
	struct net *n = rl->net;
	struct report_hdr *h = (struct report_hdr *)(void *)pkt_data(p);
	struct dst d = { .link = rl->link, .nexthop = *to, .mtu = rl->link->config.mtu };
	struct ip_tx ip = { .dst = *to, .ttl = 1, .is_router_alert = true };
	uint32_t sum = 0;

	if (rl->is_v6) {
		const struct addr6 *ll = addr6_link_local(n, rl->link);

		ip.proto = IP_PROTO_ICMP6;
		if (ll) /* none: the unspecified one, RFC 9777 5.2.13 */
			ip.src = ll->addr;
		sum = csum_pseudo(&ip.src, &ip.dst, IP_PROTO_ICMP6, pkt_len(p));
	} else {
		ip.proto = IP_PROTO_IGMP;
		ip.tos = 0xc0; /* RFC 9776 4: internetwork control */
		if (!addr4_select(n, rl->link, NULL, NS_SCOPE_LINK, &ip.src))
			ip.src = ns_addr_v4(0); /* RFC 9776 4.2.13 */
	}
	h->csum = be16(csum_finish(csum_pkt(sum, p, 0, pkt_len(p))));
	p->csum = PKT_CSUM_FULL;
	d.src = ip.src;
	if (net_output(n, &d, &ip, p, now) == 0)
		stat_inc(n->core->stats, STAT_GROUP_REPORTS);
}

void report_flush(struct report_batch *b, struct mono now)
{
	struct ns_addr to = b->rl->is_v6 ? all_mld_routers : ns_addr_v4(ALL_IGMP_ROUTERS);
	struct pkt *p = b->cnt ? pkt_new_tx(&b->rl->net->core->pkts) : NULL;

	if (p && pkt_add_frag(p, b->chunk, 0, b->len) == 0) {
		struct report_hdr *h = PKT_PUSH(p, struct report_hdr);

		*h = (struct report_hdr){
			.type = b->rl->is_v6 ? MLD_REPORT_V2 : IGMP_REPORT_V3,
			.record_cnt = be16((uint16_t)b->cnt),
		};
		send(b->rl, &to, p, now);
	} else {
		pkt_free(p);
	}
	chunk_unref(b->chunk);
	*b = (struct report_batch){ .rl = b->rl };
}

static uint32_t addr_len(const struct report_link *rl)
{
	return rl->is_v6 ? 16 : 4;
}

/* Octets of records that one report takes. */
static uint32_t room(const struct report_link *rl)
{
	uint32_t mtu = rl->link->config.mtu, hdrs = rl->is_v6 ? HDRS6_LEN : HDRS4_LEN;
	uint32_t least = (uint32_t)sizeof(struct report_record_hdr) + 2 * addr_len(rl);

	return ns_min_u(CHUNK_SMALL, ns_max_u(mtu, hdrs + least) - hdrs);
}

static void put(struct report_batch *b, const void *octets, uint32_t len)
{
	memcpy(b->chunk->data + b->len, octets, len);
	b->len += len;
}

static void put_addr(struct report_batch *b, const struct ns_addr *a)
{
	struct ns_addr bare = ns_addr_zoned(*a, 0);

	put(b, bare.b + 16 - addr_len(b->rl), addr_len(b->rl));
}

void report_begin(struct report_batch *b, enum report_record type, const struct ns_addr *group,
		  uint32_t source_cnt, struct mono now)
{
	struct report_record_hdr h = { .type = (uint8_t)type };
	uint32_t len = (uint32_t)sizeof(h) + (1 + source_cnt) * addr_len(b->rl);

	if (b->cnt && b->len + len > room(b->rl))
		report_flush(b, now);
	if (!b->chunk)
		b->chunk = chunk_new(&b->rl->net->core->chunks, CHUNK_SMALL);
	if (!b->chunk)
		return;
	b->record_off = b->len;
	b->source_cnt = 0;
	put(b, &h, sizeof(h));
	put_addr(b, group);
	b->cnt++;
}

static struct report_record_hdr *record_of(const struct report_batch *b)
{
	return (struct report_record_hdr *)(void *)(b->chunk->data + b->record_off);
}

static struct ns_addr addr_read(const struct report_link *rl, const uint8_t *octets)
{
	struct ns_addr a = { { 0 } };

	if (!rl->is_v6)
		a = ns_addr_v4(0);
	memcpy(a.b + 16 - addr_len(rl), octets, addr_len(rl));
	return a;
}

void report_source(struct report_batch *b, const struct ns_addr *source, struct mono now)
{
	if (b->chunk && b->len + addr_len(b->rl) > room(b->rl)) {
		enum report_record type = record_of(b)->type;
		struct ns_addr group = addr_read(b->rl, (const uint8_t *)(record_of(b) + 1));

		if (type == RECORD_IS_EX || type == RECORD_TO_EX)
			return;
		report_flush(b, now);
		report_begin(b, type, &group, 0, now);
	}
	if (!b->chunk)
		return;
	put_addr(b, source);
	record_of(b)->source_cnt = be16((uint16_t)++b->source_cnt);
}

void report_old(struct report_link *rl, enum report_version v, const struct ns_addr *group,
		bool is_joined, struct mono now)
{
	struct ns_addr to = *group;
	struct pkt *p;

	if (!is_joined && v == REPORT_V1)
		return; /* RFC 1112 has no such message */
	p = pkt_new_tx(&rl->net->core->pkts);
	if (!p)
		return;
	if (!is_joined)
		to = rl->is_v6 ? all_routers6 : ns_addr_v4(ALL_ROUTERS);
	if (rl->is_v6) {
		struct mld_hdr *h = PKT_PUSH(p, struct mld_hdr);

		*h = (struct mld_hdr){ .type = is_joined ? MLD_REPORT_V1 : MLD_DONE_V1 };
		memcpy(h->group, group->b, sizeof(h->group));
	} else {
		struct igmp_hdr *h = PKT_PUSH(p, struct igmp_hdr);

		*h = (struct igmp_hdr){ .type = !is_joined       ? IGMP_LEAVE_V2
						: v == REPORT_V1 ? IGMP_REPORT_V1
								 : IGMP_REPORT_V2,
					.group = be32(ns_addr_to_v4(group)) };
	}
	send(rl, &to, p, now);
}

/* ---- in ---- */

/* RFC 9776 4.1.1, RFC 9777 5.1.3: above half of its range a code is mantissa and exponent. */
static uint64_t code_value(uint32_t code, uint32_t mant_bits)
{
	uint32_t mant = code & ((1u << mant_bits) - 1), exp = code >> mant_bits & 7;

	if (!(code >> (mant_bits + 3)))
		return code;
	return (uint64_t)(mant | 1u << mant_bits) << (exp + 3);
}

struct ns_addr report_asked(const struct report_link *rl, const struct report_query *q, uint32_t i)
{
	uint8_t octets[16] = { 0 };

	NS_BUG_ON(!pkt_copy_out(q->pkt, q->source_off + i * addr_len(rl), octets, addr_len(rl)));
	return ns_addr_zoned(addr_read(rl, octets), link_zone(rl->link));
}

/* Group, tail and sources of a query; @hdr_len octets of it are common to all versions. */
static enum drop query_end(struct net *n, const struct pkt *p, const struct ip_rx *ip,
			   uint32_t hdr_len, struct report_query *q, struct mono now)
{
	uint32_t len = pkt_len(p), addr = q->is_v6 ? 16 : 4;
	struct query_tail t;

	if (!ns_addr_is_any(&q->group) && !ns_addr_is_multicast(&q->group))
		return DROP_GROUP_BAD;
	if (len > hdr_len) {
		if (!pkt_copy_out(p, hdr_len, &t, sizeof(t)) ||
		    (len - hdr_len - sizeof(t)) / addr < be16_get(t.source_cnt))
			return DROP_GROUP_BAD;
		q->version = REPORT_V3;
		q->robustness = t.qrv & 7;
		q->interval_ns = code_value(t.qqic, 4) * NS_PER_SEC;
		q->pkt = p;
		q->source_off = hdr_len + (uint32_t)sizeof(t);
		q->source_cnt = be16_get(t.source_cnt);
	}
	report_query(n, ip->link, q, now);
	return DROP_NONE;
}

/**
 * report_input4() - one message of IGMP
 * @n:		IP layer
 * @p:		Packet, its head at the IGMP header; Consumes @p
 * @ip:		What IP knows of it
 * @now:	Time
 *
 * Return: DROP_NONE or why it was dropped
 */
enum drop report_input4(struct net *n, struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	auto_free(pkt) mine = p;
	(void)mine; /* let go at every return */
	struct report_query q = { .version = REPORT_V2 };
	struct igmp_hdr h;

	if (!pkt_copy_out(p, 0, &h, sizeof(h)) || ip->ttl != 1 || ip->link->is_loop ||
	    csum_fold(csum_pkt(0, p, 0, pkt_len(p))) != UINT16_MAX)
		return DROP_GROUP_BAD;
	q.group = ns_addr_v4(be32_get(h.group));
	if (h.type == IGMP_QUERY) {
		bool is_old =
			pkt_len(p) == sizeof(h); /* RFC 2236 2.2: tenths, whatever the value */

		q.max_ns = (is_old ? h.code : code_value(h.code, 4)) * (NS_PER_SEC / 10);
		if (h.code == 0 && is_old) {
			q.version = REPORT_V1;
			q.max_ns = 10 * NS_PER_SEC; /* RFC 9776 7.2.1 */
		}
		return query_end(n, p, ip, sizeof(h), &q, now);
	}
	if (h.type != IGMP_REPORT_V1 && h.type != IGMP_REPORT_V2)
		return DROP_GROUP_IGNORED;
	report_heard(n, ip->link, &q.group, now);
	return DROP_NONE;
}

/** report_is_mld() - is an ICMPv6 message for report_input6()? */
bool report_is_mld(uint8_t icmp6_type)
{
	return (icmp6_type >= MLD_QUERY && icmp6_type <= MLD_DONE_V1) ||
	       icmp6_type == MLD_REPORT_V2;
}

/**
 * report_input6() - one message of MLD, checksum verified
 * @n:		IP layer
 * @p:		Packet, its head at the ICMPv6 header; borrowed
 * @ip:		What IP knows of it
 * @now:	Time
 *
 * Return: DROP_NONE or why it was dropped
 */
enum drop report_input6(struct net *n, const struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	struct report_query q = { .is_v6 = true, .version = REPORT_V2 };
	struct mld_hdr h;

	if (!pkt_copy_out(p, 0, &h, sizeof(h)) || ip->ttl != 1 || ip->link->is_loop ||
	    !ip->is_router_alert || !ns_addr_is_link_local(&ip->src))
		return DROP_GROUP_BAD;
	memcpy(q.group.b, h.group, sizeof(h.group));
	if (h.type == MLD_QUERY) {
		uint32_t delay = be16_get(h.delay);
		bool is_old = pkt_len(p) ==
			      sizeof(h); /* RFC 2710 3.4: milliseconds, whatever the value */

		q.max_ns = (is_old ? delay : code_value(delay, 12)) * NS_PER_MS;
		return query_end(n, p, ip, sizeof(h), &q, now);
	}
	if (h.type != MLD_REPORT_V1)
		return DROP_GROUP_IGNORED;
	report_heard(n, ip->link, &q.group, now);
	return DROP_NONE;
}
