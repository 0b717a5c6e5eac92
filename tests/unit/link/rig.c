/* SPDX-License-Identifier: Apache-2.0 */
/* rig.c - a link over a driver that obeys the test */
#include "rig.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/csum.h"
#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/tcp.h"
#include "wire/udp.h"

static int rig_xmit(void *drv, struct pkt *const *pkts, uint32_t cnt)
{
	struct rig *r = drv;
	int err = r->next_err;

	ck_assert_uint_lt(r->call_cnt, RIG_CALLS);
	r->call_len[r->call_cnt++] = cnt;
	r->next_err = 0;
	if (err)
		return err;
	if (r->super_err && pkts[0]->gso_segs > 1)
		return r->super_err;
	if (r->take_max && cnt > r->take_max)
		cnt = r->take_max;
	for (uint32_t i = 0; i < cnt; i++) {
		struct rig_frame *f = &r->frames[r->frame_cnt];

		if (r->super_err && pkts[i]->gso_segs > 1)
			return (int)i;
		ck_assert_uint_lt(++r->frame_cnt, RIG_FRAMES);
		ck_assert_uint_ge(pkts[i]->head, 16); /* the driver's headroom */
		f->len = pkt_len(pkts[i]);
		f->data = malloc(f->len);
		f->gso_segs = pkts[i]->gso_segs;
		f->csum = pkts[i]->csum;
		ck_assert(pkt_copy_out(pkts[i], 0, f->data, f->len));
	}
	return (int)cnt;
}

static void rig_lost(void *drv, const struct pkt *p, enum drop why)
{
	struct rig *r = drv;

	ck_assert_uint_gt(pkt_len(p), ETH_HDR_LEN);
	r->lost[why]++;
}

void rig_init(struct rig *r, enum ns_gso_mode mode)
{
	static const struct ns_link_ops ops = { .xmit = rig_xmit, .lost = rig_lost };
	struct ns_link_config c = {
		.name = "eth0",
		.mtu = 1500,
		.mac = { 2, 0, 0, 0, 0, 1 },
		.is_up = true,
		.gso = mode,
		.ops = &ops,
		.drv = r,
	};

	memset(r, 0, sizeof(*r));
	pool_init(&r->pkts, "pkt", sizeof(struct pkt), 2048, 16);
	chunk_pools_init(&r->chunks, 64, 1024, 64);
	r->link = link_new(1, &c, &r->pkts, &r->stats);
	ck_assert_ptr_nonnull(r->link);
}

void rig_done(struct rig *r)
{
	for (uint32_t i = 0; i < r->frame_cnt; i++)
		free(r->frames[i].data);
	link_free(r->link);
	pool_done(&r->pkts); /* traps on a leak */
	chunk_pools_done(&r->chunks);
}

/* Octet @i of the payload. */
static uint8_t octet(uint32_t i)
{
	return (uint8_t)(i * 7 + (i >> 8));
}

static void add_payload(struct rig *r, struct pkt *p, uint32_t len)
{
	/* odd lengths, so that checksums meet every alignment */
	static const uint32_t pieces[] = { 3, 4001, 1447, 20001, 1 };
	uint32_t done = 0;

	for (uint32_t i = 0; done < len; i++) {
		struct chunk *c = chunk_new(&r->chunks, CHUNK_LARGE);
		uint32_t n = i < NS_ARRAY_LEN(pieces) ? pieces[i] : CHUNK_LARGE - 5;

		ck_assert_ptr_nonnull(c);
		if (n > len - done)
			n = len - done;
		for (uint32_t k = 0; k < n; k++)
			c->data[5 + k] = octet(done + k);
		ck_assert_int_eq(pkt_add_frag(p, c, 5, n), 0);
		chunk_unref(c);
		done += n;
	}
}

struct pkt *rig_super(struct rig *r, uint32_t len, uint8_t flags)
{
	struct pkt *p = pkt_new_tx(&r->pkts);
	struct ns_addr src = ns_addr_v4(0x0a090002), dst = ns_addr_v4(0x0a090001);
	uint32_t l4_len = TCP_HDR_LEN + RIG_TCP_OPTS + len;
	struct tcp_hdr *tcp;
	struct ip4_hdr *ip;
	struct eth_hdr *eth;

	ck_assert_ptr_nonnull(p);
	add_payload(r, p, len);
	memset(pkt_push(p, RIG_TCP_OPTS), 1, RIG_TCP_OPTS);
	tcp = PKT_PUSH(p, struct tcp_hdr);
	*tcp = (struct tcp_hdr){
		.sport = be16(80),
		.dport = be16(50000),
		.seq = be32(0xfffffff0), /* wraps within the super-frame */
		.ack = be32(77),
		.off = (TCP_HDR_LEN + RIG_TCP_OPTS) / 4 << 4,
		.flags = flags,
		.wnd = be16(1000),
		.csum = be16(csum_fold(csum_pseudo(&src, &dst, IP_PROTO_TCP, l4_len))),
	};
	p->l4_off = (uint16_t)p->head;
	ip = PKT_PUSH(p, struct ip4_hdr);
	*ip = (struct ip4_hdr){
		.vhl = 0x45,
		.len = be16((uint16_t)(IP4_HDR_LEN + l4_len)),
		.id = be16(0xfffe),
		.frag = be16(IP4_DF),
		.ttl = 64,
		.proto = IP_PROTO_TCP,
		.src = be32(0x0a090002),
		.dst = be32(0x0a090001),
	};
	ip->csum = be16(csum_finish(csum_add(0, ip, sizeof(*ip))));
	p->l3_off = (uint16_t)p->head;
	eth = PKT_PUSH(p, struct eth_hdr);
	*eth = (struct eth_hdr){ .dst = { 2, 9 }, .src = { 2, 8 }, .type = be16(ETH_TYPE_IP4) };
	p->l2_off = (uint16_t)p->head;
	p->csum = PKT_CSUM_PARTIAL;
	p->csum_start = (uint16_t)(p->l4_off - p->l2_off);
	p->csum_off = TCP_CSUM_OFF;
	p->gso_size = RIG_MSS;
	p->gso_segs = (uint16_t)((len + RIG_MSS - 1) / RIG_MSS);
	p->gso_type = p->gso_segs > 1 ? PKT_GSO_TCP4 : PKT_GSO_NONE;
	return p;
}

struct pkt *rig_super_udp(struct rig *r, uint32_t len, bool is_v6)
{
	struct pkt *p = rig_super(r, len, 0);
	uint32_t ip_len = is_v6 ? IP6_HDR_LEN : IP4_HDR_LEN, l4_len = UDP_HDR_LEN + len;
	struct ns_addr src = ns_addr_v4(0x0a090002), dst = ns_addr_v4(0x0a090001);
	struct eth_hdr eth;
	struct udp_hdr udp;
	struct ip4_hdr ip;
	struct ip6_hdr ip6 = { .vtf = be32(6u << 28),
			       .payload_len = be16((uint16_t)l4_len),
			       .next = IP_PROTO_UDP,
			       .hop_limit = 64,
			       .src = { 0x20, [15] = 1 },
			       .dst = { 0x20, [15] = 2 } };

	memcpy(&eth, pkt_pull(p, sizeof(eth)), sizeof(eth));
	memcpy(&ip, pkt_pull(p, sizeof(ip)), sizeof(ip));
	ck_assert_ptr_nonnull(pkt_pull(p, TCP_HDR_LEN + RIG_TCP_OPTS));
	if (is_v6) {
		memcpy(src.b, ip6.src, 16);
		memcpy(dst.b, ip6.dst, 16);
		eth.type = be16(ETH_TYPE_IP6);
	}
	udp = (struct udp_hdr){
		.sport = be16(4000),
		.dport = be16(4001),
		.len = be16((uint16_t)l4_len),
		.csum = be16(csum_fold(csum_pseudo(&src, &dst, IP_PROTO_UDP, l4_len))),
	};
	ip.proto = IP_PROTO_UDP;
	ip.len = be16((uint16_t)(IP4_HDR_LEN + l4_len));
	ip.csum = be16(0);
	ip.csum = be16(csum_finish(csum_add(0, &ip, sizeof(ip))));
	memcpy(pkt_push(p, sizeof(udp)), &udp, sizeof(udp));
	p->l4_off = (uint16_t)p->head;
	memcpy(pkt_push(p, ip_len), is_v6 ? (void *)&ip6 : (void *)&ip, ip_len);
	p->l3_off = (uint16_t)p->head;
	memcpy(pkt_push(p, sizeof(eth)), &eth, sizeof(eth));
	p->l2_off = (uint16_t)p->head;
	p->csum_start = (uint16_t)(p->l4_off - p->l2_off);
	p->csum_off = UDP_CSUM_OFF;
	p->gso_type = p->gso_segs > 1 ? PKT_GSO_UDP_L4 : PKT_GSO_NONE;
	return p;
}

uint64_t rig_stat(const struct rig *r, enum stat s)
{
	return r->stats.stat[s];
}
