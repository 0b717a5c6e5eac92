/* SPDX-License-Identifier: Apache-2.0 */
/* frame.c - frames by hand; see frame.h */
#include "support/frame.h"

#include <string.h>

#include "base/attr.h"
#include "buf/pkt.h"

static void put16(uint8_t *to, uint32_t v)
{
	to[0] = (uint8_t)(v >> 8);
	to[1] = (uint8_t)v;
}

static void put32(uint8_t *to, uint32_t v)
{
	put16(to, v >> 16);
	put16(to + 2, v & 0xffff);
}

static uint16_t get16(const uint8_t *from)
{
	return (uint16_t)(from[0] << 8 | from[1]);
}

static uint32_t get32(const uint8_t *from)
{
	return (uint32_t)get16(from) << 16 | get16(from + 2);
}

uint32_t frame_sum(const void *octets, uint32_t len, uint32_t sum)
{
	const uint8_t *b = octets;
	uint64_t acc = sum;

	for (; len > 1; len -= 2, b += 2)
		acc += get16(b);
	if (len)
		acc += (uint32_t)*b << 8;
	while (acc >> 16)
		acc = (acc & 0xffff) + (acc >> 16);
	return (uint32_t)acc;
}

uint32_t frame_pseudo(uint32_t src, uint32_t dst, uint8_t proto, uint32_t len)
{
	uint8_t head[12] = { [9] = proto };

	put32(head, src);
	put32(head + 4, dst);
	put16(head + 10, len);
	return frame_sum(head, sizeof(head), 0);
}

void opts_raw(struct opts *o, const void *octets, uint8_t len)
{
	if (o->len + len <= (int)sizeof(o->b)) {
		memcpy(o->b + o->len, octets, len);
		o->len = (uint8_t)(o->len + len);
	}
}

void opts_mss(struct opts *o, uint16_t mss)
{
	opts_raw(o, (uint8_t[]){ 2, 4, (uint8_t)(mss >> 8), (uint8_t)mss }, 4);
}

void opts_wscale(struct opts *o, uint8_t shift)
{
	opts_raw(o, (uint8_t[]){ 3, 3, shift, 1 }, 4);
}

void opts_sack_ok(struct opts *o)
{
	opts_raw(o, (uint8_t[]){ 1, 1, 4, 2 }, 4);
}

void opts_ts(struct opts *o, uint32_t val, uint32_t ecr)
{
	uint8_t b[12] = { 1, 1, 8, 10 };

	put32(b + 4, val);
	put32(b + 8, ecr);
	opts_raw(o, b, sizeof(b));
}

void opts_sack(struct opts *o, const uint32_t (*blocks)[2], uint32_t cnt)
{
	uint8_t b[4 + 32] = { 1, 1, 5, (uint8_t)(2 + 8 * cnt) };

	for (uint32_t i = 0; i < cnt && i < 4; i++) {
		put32(b + 4 + 8 * i, blocks[i][0]);
		put32(b + 8 + 8 * i, blocks[i][1]);
	}
	opts_raw(o, b, (uint8_t)(4 + 8 * cnt));
}

void frame_eth(struct frame *f, const struct way *w, uint16_t type, const void *payload,
	       uint32_t len)
{
	memcpy(f->b, w->dst_mac, 6);
	memcpy(f->b + 6, w->src_mac, 6);
	put16(f->b + 12, type);
	if (len)
		memmove(f->b + ETH_LEN, payload, len);
	f->len = ETH_LEN + len;
	f->gso_type = PKT_GSO_NONE;
	f->csum = PKT_CSUM_UNKNOWN;
	f->gso_size = f->csum_start = f->csum_off = 0;
}

void frame_ip4(struct frame *f, const struct way *w, const struct ip4_in *ip, const void *payload,
	       uint32_t len)
{
	uint8_t b[FRAME_MAX - ETH_LEN];
	uint32_t head_len = IP4_LEN + ip->opt_len;
	uint32_t ihl = ip->ihl ? ip->ihl : head_len / 4;
	uint32_t total = ip->total_len ? ip->total_len : head_len + len;

	memset(b, 0, IP4_LEN);
	b[0] = (uint8_t)((ip->version ? ip->version : 4) << 4 | (ihl & 15));
	b[1] = ip->tos;
	put16(b + 2, ip->is_len_zero ? 0 : total);
	put16(b + 4, ip->id);
	put16(b + 6, ip->frag || ip->is_fragment ? ip->frag : 0x4000);
	b[8] = ip->is_ttl_zero ? 0 : ip->ttl ? ip->ttl : 64;
	b[9] = ip->proto ? ip->proto : 6;
	put32(b + 12, w->src);
	put32(b + 16, w->dst);
	if (ip->opt_len)
		memcpy(b + IP4_LEN, ip->opt, ip->opt_len);
	uint32_t sum_len = ihl * 4 < head_len ? head_len : ihl * 4;

	if (len)
		memcpy(b + head_len, payload, len);
	if (sum_len > head_len + len)
		sum_len = head_len + len;
	put16(b + 10, ~frame_sum(b, sum_len, 0) & 0xffff);
	if (ip->is_bad_csum)
		b[10] ^= 0x55;
	frame_eth(f, w, 0x0800, b, head_len + len);
}

void frame_tcp(struct frame *f, const struct way *w, const struct tcp_in *t)
{
	uint8_t b[FRAME_MAX - ETH_LEN - 60];
	uint32_t opt_len = t->opts ? (t->opts->len + 3u) & ~3u : 0;
	uint32_t head_len = TCP_LEN + opt_len, len = head_len + t->data_len;
	uint32_t doff = t->doff ? t->doff : head_len / 4;

	memset(b, 0, head_len);
	put16(b, w->sport);
	put16(b + 2, w->dport);
	put32(b + 4, t->seq);
	put32(b + 8, t->ack);
	b[12] = (uint8_t)((t->is_doff_zero ? 0 : doff << 4) | t->has_ae);
	b[13] = t->flags;
	put16(b + 14, t->wnd);
	put16(b + 18, t->urg);
	if (t->opts)
		memcpy(b + TCP_LEN, t->opts->b, t->opts->len);
	if (t->data_len)
		memcpy(b + head_len, t->data, t->data_len);
	put16(b + 16, ~frame_sum(b, len, frame_pseudo(w->src, w->dst, 6, len)) & 0xffff);
	if (t->is_bad_csum)
		b[16] ^= 0x55;
	frame_ip4(f, w, &t->ip, b, len);
}

void frame_icmp(struct frame *f, const struct way *w, uint8_t type, uint8_t code, uint32_t rest,
		const void *data, uint32_t len)
{
	static const struct ip4_in ip = { .proto = 1 };
	uint8_t b[FRAME_MAX - ETH_LEN - 60] = { type, code };

	put32(b + 4, rest);
	if (len)
		memcpy(b + 8, data, len);
	put16(b + 2, ~frame_sum(b, 8 + len, 0) & 0xffff);
	frame_ip4(f, w, &ip, b, 8 + len);
}

void frame_arp(struct frame *f, const struct way *w, uint16_t op, const uint8_t target_mac[6])
{
	uint8_t b[ARP_LEN] = { 0, 1, 8, 0, 6, 4 };

	put16(b + 6, op);
	memcpy(b + 8, w->src_mac, 6);
	put32(b + 14, w->src);
	memcpy(b + 18, target_mac, 6);
	put32(b + 24, w->dst);
	frame_eth(f, w, 0x0806, b, sizeof(b));
}

void frame_vnet(const struct vnet_meta *f, uint8_t hdr[VNET_HDR_LEN])
{
	/* VIRTIO_NET_HDR_GSO_TCPV4 1, _TCPV6 4, _UDP_L4 5; what is none of ours goes as it is */
	static const uint8_t types[] = { 0, 1, 4, 5 };
	const uint16_t rest[4] = { 54, f->gso_size, f->csum_start, f->csum_off };

	hdr[0] = f->csum == PKT_CSUM_PARTIAL ? 1 : f->csum == PKT_CSUM_VALID ? 2 : 0;
	hdr[1] = f->gso_type < sizeof(types) ? types[f->gso_type] : f->gso_type;
	memcpy(hdr + 2, rest, sizeof(rest));
}

static bool is_ip6(const struct frame *f)
{
	return f->len >= ETH_LEN + IP6_LEN && get16(f->b + 12) == 0x86dd && f->b[ETH_LEN] >> 4 == 6;
}

/* RFC 8200 8.1 */
static uint32_t pseudo6(const struct frame *f, uint8_t proto, uint32_t len)
{
	return frame_sum(f->b + ETH_LEN + 8, 32, proto + len);
}

void frame_ip6(struct frame *f, const struct way *w, const struct ip6_in *ip, const void *payload,
	       uint32_t len)
{
	static uint8_t b[FRAME_MAX];

	memset(b, 0, IP6_LEN);
	put32(b, UINT32_C(6) << 28 | (uint32_t)ip->tclass << 20);
	put16(b + 4, ip->payload_len ? ip->payload_len : len);
	b[6] = ip->next ? ip->next : 17;
	b[7] = ip->hop_limit ? ip->hop_limit : 64;
	memcpy(b + 8, ip->src, 16);
	memcpy(b + 24, ip->dst, 16);
	if (len)
		memcpy(b + IP6_LEN, payload, len);
	frame_eth(f, w, 0x86dd, b, IP6_LEN + len);
}

void frame_udp6(struct frame *f, const struct way *w, const struct ip6_in *ip, const void *data,
		uint32_t len, int csum)
{
	static uint8_t b[FRAME_MAX];
	uint32_t sum;

	put16(b, w->sport);
	put16(b + 2, w->dport);
	put16(b + 4, len + 8);
	put16(b + 6, 0);
	if (len)
		memcpy(b + 8, data, len);
	frame_ip6(f, w, ip, b, len + 8);
	sum = ~frame_sum(f->b + ETH_LEN + IP6_LEN, len + 8, pseudo6(f, 17, len + 8)) & 0xffff;
	put16(f->b + ETH_LEN + IP6_LEN + 6, csum >= 0 ? (uint32_t)csum : sum ? sum : 0xffff);
}

void frame_icmp6(struct frame *f, const struct way *w, const struct ip6_in *ip, uint8_t type,
		 uint8_t code, uint32_t rest, const void *data, uint32_t len)
{
	static uint8_t b[FRAME_MAX];
	struct ip6_in icmp = *ip;

	b[0] = type;
	b[1] = code;
	put16(b + 2, 0);
	put32(b + 4, rest);
	if (len)
		memcpy(b + 8, data, len);
	icmp.next = 58;
	frame_ip6(f, w, &icmp, b, len + 8);
	put16(f->b + ETH_LEN + IP6_LEN + 2,
	      ~frame_sum(f->b + ETH_LEN + IP6_LEN, len + 8, pseudo6(f, 58, len + 8)) & 0xffff);
}

/* The same for IPv6 without extension headers. */
static uint32_t tcp6_at(const struct frame *f, uint32_t *ret_len)
{
	uint32_t len = get16(f->b + ETH_LEN + 4);

	if (f->b[ETH_LEN + 6] != 6 || len < TCP_LEN || len > f->len - ETH_LEN - IP6_LEN)
		return 0;
	*ret_len = len;
	return ETH_LEN + IP6_LEN;
}

/* Where the TCP header of a well-formed frame is and how long the segment; 0: no such frame. */
static uint32_t tcp_at(const struct frame *f, uint32_t *ret_len)
{
	const uint8_t *ip = f->b + ETH_LEN;

	if (is_ip6(f))
		return tcp6_at(f, ret_len);
	if (f->len < ETH_LEN + IP4_LEN + TCP_LEN || get16(f->b + 12) != 0x0800 || ip[0] >> 4 != 4 ||
	    ip[9] != 6)
		return 0;
	uint32_t ihl = (ip[0] & 15u) * 4, total = get16(ip + 2);

	if (!total)
		total = f->len - ETH_LEN;
	if (ihl < IP4_LEN || total < ihl + TCP_LEN || total > f->len - ETH_LEN)
		return 0;
	*ret_len = total - ihl;
	return ETH_LEN + ihl;
}

void frame_fix_tcp_csum(struct frame *f)
{
	uint32_t len = 0, at = tcp_at(f, &len);

	if (!at)
		return;
	uint32_t pseudo = is_ip6(f) ? pseudo6(f, 6, len)
				    : frame_pseudo(get32(f->b + ETH_LEN + 12),
						   get32(f->b + ETH_LEN + 16), 6, len);

	put16(f->b + at + 16, 0);
	put16(f->b + at + 16, ~frame_sum(f->b + at, len, pseudo) & 0xffff);
	f->csum = PKT_CSUM_UNKNOWN;
	f->csum_start = f->csum_off = 0;
}

bool frame_cut(const struct frame *f, uint32_t i, struct frame *ret_part)
{
	uint32_t len = 0, at = tcp_at(f, &len), head_len, data_len, off, part_len;

	if (!at || !f->gso_size)
		return false;
	head_len = at + (f->b[at + 12] >> 4) * 4u;
	data_len = at + len > head_len ? at + len - head_len : 0;
	off = i * f->gso_size;
	if (off >= data_len)
		return false;
	part_len = data_len - off < f->gso_size ? data_len - off : f->gso_size;
	memcpy(ret_part->b, f->b, head_len);
	memcpy(ret_part->b + head_len, f->b + head_len + off, part_len);
	ret_part->len = head_len + part_len;
	ret_part->gso_type = PKT_GSO_NONE;
	ret_part->gso_size = 0;
	uint8_t *ip = ret_part->b + ETH_LEN, *tcp = ret_part->b + at;

	if (is_ip6(ret_part)) {
		put16(ip + 4, ret_part->len - ETH_LEN - IP6_LEN);
	} else {
		put16(ip + 2, ret_part->len - ETH_LEN);
		put16(ip + 4, (get16(ip + 4) + i) & 0xffff);
		put16(ip + 10, 0);
		put16(ip + 10, ~frame_sum(ip, at - ETH_LEN, 0) & 0xffff);
	}
	put32(tcp + 4, get32(tcp + 4) + off);
	if (off + part_len < data_len)
		tcp[13] &= (uint8_t) ~(FL_FIN | FL_PSH);
	if (i)
		tcp[13] &= (uint8_t)~FL_CWR;
	frame_fix_tcp_csum(ret_part);
	return true;
}

static void read_sack(const uint8_t *opt, uint32_t len, struct seen *s)
{
	for (uint32_t i = 0; i < 4 && 2 + 8 * (i + 1) <= len; i++) {
		s->sack[i][0] = get32(opt + 2 + 8 * i);
		s->sack[i][1] = get32(opt + 6 + 8 * i);
		s->sack_cnt = i + 1;
	}
}

static void read_opts(const uint8_t *opt, uint32_t len, struct seen *s)
{
	for (uint32_t at = 0, one; at < len && opt[at]; at += one) {
		const uint8_t *o = opt + at;

		one = *o == 1 ? 1 : at + 1 < len ? o[1] : 0;
		if (!one || (*o != 1 && one < 2) || at + one > len) {
			s->is_bad = true;
			return;
		}
		if (*o == 2 && one == 4) {
			s->has_mss = true;
			s->mss = get16(o + 2);
		} else if (*o == 3 && one == 3) {
			s->has_wscale = true;
			s->wscale = o[2];
		} else if (*o == 4) {
			s->has_sack_ok = true;
		} else if (*o == 8 && one == 10) {
			s->has_ts = true;
			s->ts_val = get32(o + 2);
			s->ts_ecr = get32(o + 6);
		} else if (*o == 5) {
			read_sack(o, one, s);
		}
	}
}

static void read_tcp(const struct frame *f, uint32_t at, uint32_t len, struct seen *s)
{
	const uint8_t *t = f->b + at;
	uint32_t head_len = (t[12] >> 4) * 4u;
	uint32_t pseudo =
		s->is_v6 ? pseudo6(f, 6, len) : frame_pseudo(s->way.src, s->way.dst, 6, len);

	if (head_len < TCP_LEN || head_len > len) {
		s->is_bad = true;
		return;
	}
	s->kind = SEEN_TCP;
	s->way.sport = get16(t);
	s->way.dport = get16(t + 2);
	s->seq = get32(t + 4);
	s->ack = get32(t + 8);
	s->flags = t[13];
	s->wnd = get16(t + 14);
	s->urg = get16(t + 18);
	s->data = t + head_len;
	s->data_len = len - head_len;
	read_opts(t + TCP_LEN, head_len - TCP_LEN, s);
	if (t[12] & 14) /* the lowest is AE (RFC 9768) */
		s->is_bad = true;
	if (f->csum == PKT_CSUM_PARTIAL) /* the field holds the pseudo-header's sum alone */
		s->is_bad |= get16(t + 16) != pseudo || f->csum_off != 16 || f->csum_start != at;
	else
		s->is_bad |= frame_sum(t, len, pseudo) != 0xffff;
}

static void read_ip4(const struct frame *f, struct seen *s)
{
	const uint8_t *ip = f->b + ETH_LEN;
	uint32_t ihl = (ip[0] & 15u) * 4, total = get16(ip + 2);

	if (!total && f->gso_size) /* IPv4 BIG TCP */
		total = f->len - ETH_LEN;
	if (ip[0] >> 4 != 4 || ihl < IP4_LEN || total < ihl || total > f->len - ETH_LEN ||
	    frame_sum(ip, ihl, 0) != 0xffff) {
		s->is_bad = true;
		return;
	}
	s->kind = SEEN_IP4;
	s->tos = ip[1];
	s->id = get16(ip + 4);
	s->frag = get16(ip + 6);
	s->ttl = ip[8];
	s->proto = ip[9];
	s->way.src = get32(ip + 12);
	s->way.dst = get32(ip + 16);
	s->data = ip + ihl;
	s->data_len = total - ihl;
	if (s->frag & 0x3fff)
		return;
	if (s->proto == 6 && s->data_len >= TCP_LEN) {
		read_tcp(f, ETH_LEN + ihl, total - ihl, s);
	} else if (s->proto == 1 && s->data_len >= 8) {
		s->kind = SEEN_ICMP;
		s->is_bad |= frame_sum(s->data, s->data_len, 0) != 0xffff;
		s->icmp_type = s->data[0];
		s->icmp_code = s->data[1];
		s->icmp_rest = get32(s->data + 4);
		s->data += 8;
		s->data_len -= 8;
	}
}

static void read_ip6(const struct frame *f, struct seen *s)
{
	const uint8_t *ip = f->b + ETH_LEN;

	s->data_len = get16(ip + 4);
	if (ip[0] >> 4 != 6 || s->data_len > f->len - ETH_LEN - IP6_LEN || !ip[7]) {
		s->is_bad = true;
		s->data_len = 0;
		return;
	}
	s->kind = SEEN_IP6;
	s->is_v6 = true;
	s->tos = (uint8_t)(get16(ip) >> 4);
	s->flow = get32(ip) & 0xfffff;
	s->proto = ip[6];
	s->ttl = ip[7];
	s->way.src = get32(ip + 20);
	s->way.dst = get32(ip + 36);
	memcpy(s->src6, ip + 8, 16);
	memcpy(s->dst6, ip + 24, 16);
	s->data = ip + IP6_LEN;
	if (s->proto == 6 && s->data_len >= TCP_LEN) {
		read_tcp(f, ETH_LEN + IP6_LEN, s->data_len, s);
	} else if (s->proto == 58 && s->data_len >= 8) {
		s->kind = SEEN_ICMP;
		s->is_bad |= frame_sum(s->data, s->data_len, pseudo6(f, 58, s->data_len)) != 0xffff;
		s->icmp_type = s->data[0];
		s->icmp_code = s->data[1];
		s->icmp_rest = get32(s->data + 4);
		s->data += 8;
		s->data_len -= 8;
	}
}

void frame_read(const struct frame *f, struct seen *s)
{
	*s = (struct seen){ .gso_size = f->gso_size };
	if (f->len < ETH_LEN) {
		s->is_bad = true;
		return;
	}
	memcpy(s->way.dst_mac, f->b, 6);
	memcpy(s->way.src_mac, f->b + 6, 6);
	uint16_t type = get16(f->b + 12);

	if (type == 0x0806 && f->len >= ETH_LEN + ARP_LEN) {
		const uint8_t *a = f->b + ETH_LEN;

		s->kind = SEEN_ARP;
		s->arp_op = get16(a + 6);
		memcpy(s->arp_sha, a + 8, 6);
		s->way.src = get32(a + 14);
		memcpy(s->arp_tha, a + 18, 6);
		s->way.dst = get32(a + 24);
	} else if (type == 0x0800 && f->len >= ETH_LEN + IP4_LEN) {
		read_ip4(f, s);
	} else if (type == 0x86dd && f->len >= ETH_LEN + IP6_LEN) {
		read_ip6(f, s);
	}
}
