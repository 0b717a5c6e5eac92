/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_seg.c - the wire form of a segment
 *
 * Theory of operation
 *
 * In: the header is checked for length and checksum, its options are decoded into a host-order
 * struct, the packet is left with nothing but payload. Whatever the options say about lengths stays
 * inside the header: one loop, one bound. An option with a bad length ends the parsing and voids the
 * rest, as Linux does; the segment itself is still used (RFC 9293 MUST-7 wants unknown options skipped
 * and no crash; a sender whose options are garbage loses their benefit and nothing else).
 *
 * Out: the header is pushed in front of what the packet has. The checksum field gets the sum of
 * the pseudo header; the link or the device completes it.
 *
 * References: RFC 9293 3.1, 3.2; RFC 7323 2, 3; RFC 2018 2, 3; linux v6.1 net/ipv4/tcp_input.c
 * tcp_parse_options().
 */
#include "tcp/tcp_seg.h"

#include <string.h>

#include "net/proto.h"
#include "wire/csum.h"
#include "wire/ip4.h"

enum {
	OPT_END = 0,
	OPT_NOP = 1,
	OPT_MSS = 2,
	OPT_WSCALE = 3,
	OPT_SACK_OK = 4,
	OPT_SACK = 5,
	OPT_TS = 8,
	OPT_TFO = 34,      /* RFC 7413 4.1.1 */
	OPT_EXP = 254,     /* RFC 4727 4; with OPT_TFO_EXP_ID the same */
	OPT_ACCECN0 = 172, /* RFC 9768 3.2.3 */
	OPT_ACCECN1 = 174,

	OPT_MSS_LEN = 4,
	OPT_WSCALE_LEN = 3,
	OPT_SACK_OK_LEN = 2,
	OPT_TS_LEN = 10,
	OPT_SACK_BLOCK_LEN = 8,
	OPT_TFO_LEN = 2,
	OPT_TFO_EXP_LEN = 4,
	OPT_TFO_EXP_ID = 0xf989,
	OPT_TFO_MIN = 4,
	OPT_ACCECN_LEN = 2,
	OPT_ACCECN_FIELD_LEN = 3,
	OPT_ACCECN_FIELDS = 3,
};

static uint32_t get32(const uint8_t *at)
{
	return be32_get((struct be32){ { at[0], at[1], at[2], at[3] } });
}

static void sack_parse(const uint8_t *at, uint32_t len, struct tcp_opts *o)
{
	if (len == 0 || len % OPT_SACK_BLOCK_LEN != 0 || o->sack_cnt)
		return;
	for (; len > 0 && o->sack_cnt < TCP_SACK_MAX; len -= OPT_SACK_BLOCK_LEN) {
		o->sack[o->sack_cnt++] =
			(struct tcp_sack_block){ seq(get32(at)), seq(get32(at + 4)) };
		at += OPT_SACK_BLOCK_LEN;
	}
}

/* RFC 7413 4.1.1: 4 to 16 octets, an even number; others are no cookie. @head_len: octets before it */
static void tfo_parse(const uint8_t *at, uint32_t len, uint32_t head_len, struct tcp_tfo_opt *o)
{
	len -= head_len;
	if (o->has || (len && (len < OPT_TFO_MIN || len > TCP_TFO_MAX || len % 2)))
		return;
	o->has = true;
	o->is_exp = head_len == OPT_TFO_EXP_LEN;
	o->len = (uint8_t)len;
	memcpy(o->v, at + head_len, len);
}

/* RFC 6994 3: the experiment of Fast Open is told from others by two octets */
static bool is_tfo_exp(const uint8_t *at, uint32_t len)
{
	return len >= OPT_TFO_EXP_LEN && (at[2] << 8 | at[3]) == OPT_TFO_EXP_ID;
}

/* RFC 9768 3.2.3: as many whole counters as there are, what is beyond them is padding */
static void accecn_parse(const uint8_t *at, uint32_t len, struct tcp_accecn_opt *o)
{
	if (o->has)
		return;
	o->has = true;
	o->is_order1 = at[0] == OPT_ACCECN1;
	o->cnt =
		(uint8_t)ns_min_u((len - OPT_ACCECN_LEN) / OPT_ACCECN_FIELD_LEN, OPT_ACCECN_FIELDS);
	at += OPT_ACCECN_LEN;
	for (uint32_t i = 0; i < o->cnt; i++, at += OPT_ACCECN_FIELD_LEN)
		o->v[i] = (uint32_t)(at[0] << 16 | at[1] << 8 | at[2]);
}

/* One option of @len octets at @at, kind and length included; of duplicates the first counts. */
static void opt_parse(const uint8_t *at, uint32_t len, struct tcp_opts *o)
{
	switch (at[0]) {
	case OPT_MSS:
		if (len == OPT_MSS_LEN && o->mss == 0)
			o->mss = (uint16_t)(at[2] << 8 | at[3]);
		break;
	case OPT_WSCALE:
		if (len == OPT_WSCALE_LEN && !o->has_wscale) {
			o->has_wscale = true;
			o->wscale = (uint8_t)ns_min_u(at[2], TCP_WSCALE_MAX);
		}
		break;
	case OPT_SACK_OK:
		if (len == OPT_SACK_OK_LEN)
			o->sack_ok = true;
		break;
	case OPT_SACK:
		sack_parse(at + 2, len - 2, o);
		break;
	case OPT_TS:
		if (len == OPT_TS_LEN && !o->has_ts) {
			o->has_ts = true;
			o->ts_val = get32(at + 2);
			o->ts_ecr = get32(at + 6);
		}
		break;
	case OPT_TFO:
		tfo_parse(at, len, OPT_TFO_LEN, &o->tfo);
		break;
	case OPT_EXP:
		if (is_tfo_exp(at, len))
			tfo_parse(at, len, OPT_TFO_EXP_LEN, &o->tfo);
		break;
	case OPT_ACCECN0:
	case OPT_ACCECN1:
		accecn_parse(at, len, &o->accecn);
		break;
	default: /* RFC 9293 MUST-6, MUST-7 */
		break;
	}
}

/**
 * tcp_opts_parse() - decode options
 * @at:		First octet behind the fixed header
 * @len:	Octets of options, 0 to 40
 * @ret_o:	Set on every path, at least to what came before the damage
 *
 * Return: false when an option's length is impossible
 */
bool tcp_opts_parse(const uint8_t *at, uint32_t len, struct tcp_opts *ret_o)
{
	memset(ret_o, 0, sizeof(*ret_o));
	while (len > 0) {
		uint32_t opt_len;

		if (at[0] == OPT_END)
			return true;
		if (at[0] == OPT_NOP) {
			at++;
			len--;
			continue;
		}
		if (len < 2 || at[1] < 2 || at[1] > len)
			return false;
		opt_len = at[1];
		opt_parse(at, opt_len, ret_o);
		at += opt_len;
		len -= opt_len;
	}
	return true;
}

static bool csum_is_good(const struct pkt *p, const struct ip_rx *ip)
{
	uint32_t sum = csum_pseudo(&ip->src, &ip->dst, IP_PROTO_TCP, pkt_len(p));

	return csum_fold(csum_pkt(sum, p, 0, pkt_len(p))) == 0xffff;
}

/**
 * tcp_seg_parse() - take the header off a received packet
 * @p:		Packet from the TCP header on; afterwards from the payload on. Borrowed.
 * @ip:		What IP knows of it
 * @ret_s:	The segment, set when DROP_NONE
 *
 * RFC 9293 MUST-57: nothing sent to a broadcast or multicast address is looked at.
 *
 * Return: DROP_NONE, or why the packet is no segment
 */
enum drop tcp_seg_parse(struct pkt *p, const struct ip_rx *ip, struct tcp_seg *ret_s)
{
	const struct tcp_hdr *h;
	const uint8_t *opts;
	uint32_t hdr_len;

	if (ip->is_bcast || ns_addr_is_multicast(&ip->src) || ns_addr_is_any(&ip->src))
		return DROP_TCP_BCAST;
	if (p->len < sizeof(*h))
		return DROP_TOO_SHORT;
	h = (const struct tcp_hdr *)pkt_data(p);
	hdr_len = tcp_hdr_len(h);
	if (hdr_len < sizeof(*h) || hdr_len > p->len)
		return DROP_TCP_BAD_HEADER;
	if (!ip->csum_ok && !csum_is_good(p, ip))
		return DROP_TCP_CSUM;
	opts = pkt_pull(p, hdr_len);
	if (!opts)
		return DROP_TCP_BAD_HEADER;
	*ret_s = (struct tcp_seg){
		.local = { ip->dst, be16_get(h->dport) },
		.remote = { ip->src, be16_get(h->sport) },
		.seq = seq(be32_get(h->seq)),
		.ack = seq(be32_get(h->ack)),
		.len = pkt_len(p),
		.wnd = be16_get(h->wnd),
		.flags = h->flags,
		.ae = h->off & TCP_OFF_AE,
		.ecn = ip->tos & 3,
		.p = p,
	};
	/* RFC 6093 2.1; a pointer of 0 is the first octet's, as for Linux */
	ret_s->urg = seq_add(ret_s->seq, be16_get(h->urg) ? be16_get(h->urg) - 1u : 0);
	ret_s->seg_cnt = p->gso_segs > 1 ? p->gso_segs : 1;
	ret_s->mss_seen = ret_s->seg_cnt > 1 ? p->gso_size : (uint16_t)ns_min_u(ret_s->len, 65535);
	(void)tcp_opts_parse(opts + TCP_HDR_LEN, hdr_len - TCP_HDR_LEN, &ret_s->opt);
	return DROP_NONE;
}

/**
 * tcp_seg_trim_front() - forget the first @len sequence numbers: SYN first, then payload
 * @s:		Segment
 * @len:	At most tcp_seg_span(@s)
 */
void tcp_seg_trim_front(struct tcp_seg *s, uint32_t len)
{
	NS_BUG_ON(len > tcp_seg_span(s));
	s->seq = seq_add(s->seq, len);
	if (len && (s->flags & TCP_SYN)) {
		s->flags &= (uint8_t)~TCP_SYN;
		len--;
	}
	if (len > s->len) {
		s->flags &= (uint8_t)~TCP_FIN;
		len = s->len;
	}
	s->len -= len;
	pkt_trim_front(s->p, len);
}

/** tcp_seg_trim_back() - forget the last @len sequence numbers: FIN first, then payload */
void tcp_seg_trim_back(struct tcp_seg *s, uint32_t len)
{
	if (len && (s->flags & TCP_FIN)) {
		s->flags &= (uint8_t)~TCP_FIN;
		len--;
	}
	NS_BUG_ON(len > s->len);
	s->len -= len;
	pkt_trim(s->p, s->len);
}

static uint8_t *put8(uint8_t *at, uint8_t v)
{
	*at = v;
	return at + 1;
}

static uint8_t *put32(uint8_t *at, uint32_t v)
{
	struct be32 be = be32(v);

	memcpy(at, &be, sizeof(be));
	return at + sizeof(be);
}

static uint8_t *put_kind(uint8_t *at, uint8_t kind, uint32_t len)
{
	at = put8(at, kind);
	return put8(at, (uint8_t)len);
}

static uint32_t tfo_len(const struct tcp_tfo_opt *o)
{
	if (!o->has)
		return 0;
	return (o->is_exp ? (uint32_t)OPT_TFO_EXP_LEN : (uint32_t)OPT_TFO_LEN) + o->len;
}

/* With its padding in front. */
static uint8_t *put_tfo(uint8_t *at, const struct tcp_tfo_opt *o)
{
	if (!o->has)
		return at;
	for (uint32_t len = tfo_len(o); len % 4; len++)
		at = put8(at, OPT_NOP);
	at = put_kind(at, o->is_exp ? OPT_EXP : OPT_TFO, tfo_len(o));
	if (o->is_exp) {
		at = put8(at, OPT_TFO_EXP_ID >> 8);
		at = put8(at, OPT_TFO_EXP_ID & 0xff);
	}
	memcpy(at, o->v, o->len);
	return at + o->len;
}

static uint32_t accecn_len(const struct tcp_accecn_opt *o)
{
	return o->has ? (uint32_t)OPT_ACCECN_LEN + o->cnt * (uint32_t)OPT_ACCECN_FIELD_LEN : 0;
}

/* With its padding behind. */
static uint8_t *put_accecn(uint8_t *at, const struct tcp_accecn_opt *o)
{
	uint32_t len = accecn_len(o);

	if (!o->has)
		return at;
	at = put_kind(at, o->is_order1 ? OPT_ACCECN1 : OPT_ACCECN0, len);
	for (uint32_t i = 0; i < o->cnt; i++)
		at = put8(put8(put8(at, (uint8_t)(o->v[i] >> 16)), (uint8_t)(o->v[i] >> 8)),
			  (uint8_t)o->v[i]);
	for (; len % 4; len++)
		at = put8(at, OPT_NOP);
	return at;
}

/* In Linux's order, which middleboxes have seen most: MSS, SACK permitted, timestamps, window scale. */
static uint8_t *put_syn_opts(uint8_t *at, const struct tcp_opts *o)
{
	at = put_kind(at, OPT_MSS, OPT_MSS_LEN);
	at = put8(at, (uint8_t)(o->mss >> 8));
	at = put8(at, (uint8_t)o->mss);
	if (o->sack_ok && !o->has_ts)
		at = put8(put8(at, OPT_NOP), OPT_NOP);
	if (o->sack_ok)
		at = put_kind(at, OPT_SACK_OK, OPT_SACK_OK_LEN);
	else if (o->has_ts)
		at = put8(put8(at, OPT_NOP), OPT_NOP);
	if (o->has_ts) {
		at = put_kind(at, OPT_TS, OPT_TS_LEN);
		at = put32(put32(at, o->ts_val), o->ts_ecr);
	}
	if (o->has_wscale) {
		at = put_kind(put8(at, OPT_NOP), OPT_WSCALE, OPT_WSCALE_LEN);
		at = put8(at, o->wscale);
	}
	return put_accecn(put_tfo(at, &o->tfo), &o->accecn);
}

static uint8_t *put_opts(uint8_t *at, const struct tcp_opts *o)
{
	if (o->has_ts) {
		at = put_kind(put8(put8(at, OPT_NOP), OPT_NOP), OPT_TS, OPT_TS_LEN);
		at = put32(put32(at, o->ts_val), o->ts_ecr);
	}
	at = put_accecn(at, &o->accecn);
	if (o->sack_cnt) {
		at = put_kind(put8(put8(at, OPT_NOP), OPT_NOP), OPT_SACK,
			      2u + o->sack_cnt * (uint32_t)OPT_SACK_BLOCK_LEN);
		for (uint32_t i = 0; i < o->sack_cnt; i++)
			at = put32(put32(at, o->sack[i].start.v), o->sack[i].end.v);
	}
	return at;
}

/** tcp_opts_len() - octets the options of @e take, a multiple of four */
uint32_t tcp_opts_len(const struct tcp_emit *e)
{
	const struct tcp_opts *o = &e->opt;
	uint32_t accecn = (accecn_len(&o->accecn) + 3) / 4 * 4;

	if (e->is_syn_opts)
		return OPT_MSS_LEN + accecn + (tfo_len(&o->tfo) + 3) / 4 * 4 +
		       (o->has_ts    ? TCP_TS_LEN
			: o->sack_ok ? 4u
				     : 0u) +
		       (o->has_wscale ? 4u : 0u);
	return (o->has_ts ? TCP_TS_LEN : 0u) + accecn +
	       (o->sack_cnt ? 4u + o->sack_cnt * (uint32_t)OPT_SACK_BLOCK_LEN : 0u);
}

/**
 * tcp_hdr_emit() - push the header of a segment in front of its payload
 * @p:		Packet to send, payload in its frags
 * @e:		What to say
 */
void tcp_hdr_emit(struct pkt *p, const struct tcp_emit *e)
{
	uint32_t hdr_len = TCP_HDR_LEN + tcp_opts_len(e);
	uint8_t *at = pkt_push(p, hdr_len);
	struct tcp_hdr *h = (struct tcp_hdr *)at;
	uint8_t *end;

	*h = (struct tcp_hdr){
		.sport = be16(e->local.port),
		.dport = be16(e->remote.port),
		.seq = be32(e->seq.v),
		.ack = be32(e->flags & TCP_ACK ? e->ack.v : 0),
		.off = (uint8_t)(hdr_len / 4 << 4 | (e->ae ? TCP_OFF_AE : 0u)),
		.flags = e->flags,
		.wnd = be16(e->wnd),
		.urg = be16(e->urg),
	};
	at += sizeof(*h);
	end = e->is_syn_opts ? put_syn_opts(at, &e->opt) : put_opts(at, &e->opt);
	NS_BUG_ON(end != (uint8_t *)h + hdr_len);
	p->l4_off = (uint16_t)p->head;
	p->csum_off = TCP_CSUM_OFF;
	p->csum = PKT_CSUM_PARTIAL;
	h->csum = be16(
		csum_fold(csum_pseudo(&e->local.addr, &e->remote.addr, IP_PROTO_TCP, pkt_len(p))));
}
