/* SPDX-License-Identifier: Apache-2.0 */
/* rig6.c - the rig for IPv6 */
#include "rig6.h"

#include <check.h>
#include <string.h>

#include "slowsum.h"

const struct ns_addr r6_us = { { 0x20, 1, 0x0d, 0xb8, 0, 9, [15] = 2 } };
const struct ns_addr r6_us_ll = { { 0xfe, 0x80, [15] = 2 } };
const struct ns_addr r6_peer = { { 0x20, 1, 0x0d, 0xb8, 0, 9, [15] = 1 } };
const struct ns_addr r6_peer_ll = { { 0xfe, 0x80, [15] = 1 } };
const struct ns_addr r6_other = { { 0x20, 1, 0x0d, 0xb8, 0, 8, [15] = 2 } };
const struct ns_addr r6_all_nodes = { { 0xff, 2, [15] = 1 } };
const struct ns_addr r6_any;
const uint8_t r6_group_mac[6] = { 0x33, 0x33, 0xff, 0, 0, 2 };

void r6_init(struct rig *r)
{
	struct ns_addr ll2 = r6_us_ll;

	ll2.b[15] = 3;
	rig_init(r);
	ck_assert_int_eq(net_add_addr(r->net, 1, &r6_us, 64), 0);
	ck_assert_int_eq(net_add_addr(r->net, 1, &r6_us_ll, 64), 0);
	ck_assert_int_eq(net_add_addr(r->net, 2, &r6_other, 64), 0);
	ck_assert_int_eq(net_add_addr(r->net, 2, &ll2, 64), 0);
}

struct ns_addr r6_zoned(struct ns_addr a)
{
	a.b[2] = RIG_ZONE >> 8;
	a.b[3] = RIG_ZONE & 0xff;
	return a;
}

struct ns_addr r6_group(struct ns_addr a)
{
	struct ns_addr g = { { 0xff, 2, [11] = 1, [12] = 0xff, a.b[13], a.b[14], a.b[15] } };

	return g;
}

uint32_t r6_frame(uint8_t *f, struct ns_addr src, struct ns_addr dst, uint8_t next,
		  const void *body, uint32_t len)
{
	memcpy(f, rig_mac[1], 6);
	if (dst.b[0] == 0xff) {
		f[0] = f[1] = 0x33;
		memcpy(f + 2, dst.b + 12, 4);
	}
	memcpy(f + 6, rig_peer_mac, 6);
	f[12] = 0x86;
	f[13] = 0xdd;
	memset(f + 14, 0, 8);
	f[14] = 0x60;
	f[18] = (uint8_t)(len >> 8);
	f[19] = (uint8_t)len;
	f[R6_NEXT] = next;
	f[R6_HOPS] = 255;
	memcpy(f + 22, src.b, 16);
	memcpy(f + 38, dst.b, 16);
	if (len)
		memmove(f + R6_BODY, body, len);
	return R6_BODY + len;
}

static uint16_t sum_of(const uint8_t *f, uint32_t len, uint32_t at)
{
	uint16_t pseudo = slowsum((uint16_t)(R6_ICMP + (len - at)), f + 22, 32);

	return slowsum(pseudo, f + at, len - at);
}

void r6_fix(uint8_t *f, uint32_t len, uint32_t at)
{
	uint16_t sum;

	f[at + 2] = f[at + 3] = 0;
	sum = (uint16_t)~sum_of(f, len, at);
	f[at + 2] = (uint8_t)(sum >> 8);
	f[at + 3] = (uint8_t)sum;
}

uint32_t r6_icmp(uint8_t *f, struct ns_addr src, struct ns_addr dst, uint8_t type, uint8_t code,
		 uint32_t arg, const void *data, uint32_t len)
{
	uint8_t m[1600] = { type,
			    code,
			    0,
			    0,
			    (uint8_t)(arg >> 24),
			    (uint8_t)(arg >> 16),
			    (uint8_t)(arg >> 8),
			    (uint8_t)arg };

	if (len)
		memcpy(m + 8, data, len);
	len = r6_frame(f, src, dst, R6_ICMP, m, 8 + len);
	r6_fix(f, len, R6_BODY);
	return len;
}

uint32_t r6_nd(uint8_t *f, struct ns_addr src, struct ns_addr dst, uint8_t type, uint32_t flags,
	       struct ns_addr target, uint8_t opt, const uint8_t mac[6])
{
	uint8_t body[24] = { 0 };

	memcpy(body, target.b, 16);
	body[16] = opt;
	body[17] = 1;
	if (opt)
		memcpy(body + 18, mac, 6);
	return r6_icmp(f, src, dst, type, 0, flags, body, opt ? 24 : 16);
}

void r6_in(struct rig *r, const uint8_t *f, uint32_t len)
{
	rig_in(r, f, len);
}

int r6_send_as(struct rig *r, struct ns_addr dst, uint32_t len, bool dont_fragment)
{
	struct pkt *p = pkt_new_tx(&r->core.pkts);
	struct ip_tx ip = { .dst = dst, .proto = RIG_PROTO, .dont_fragment = dont_fragment };
	struct chunk *c = chunk_new(&r->core.chunks, CHUNK_LARGE);
	struct dst d;
	int err = net_route(r->net, &dst, NULL, &d);

	ck_assert_int_eq(err, 0);
	ck_assert_ptr_nonnull(c);
	ck_assert_ptr_nonnull(p);
	for (uint32_t i = 0; i < len; i++)
		c->data[i] = r6_octet(i + 8);
	ck_assert_int_eq(pkt_add_frag(p, c, 0, len), 0);
	chunk_unref(c);
	memcpy(pkt_push(p, 8), "\x12\x34\x56\x78\xde\xad\xbe\xef", 8); /* ports, sequence */
	ip.src = d.src;
	err = net_output(r->net, &d, &ip, p, r->now);
	net_flush(r->net);
	return err;
}

int r6_send(struct rig *r, struct ns_addr dst, uint32_t len)
{
	return r6_send_as(r, dst, len, true);
}

void r6_peer_known(struct rig *r)
{
	ck_assert_int_eq(net_add_neigh(r->net, 1, &r6_peer, rig_peer_mac), 0);
}

bool r6_is_good(const struct rig *r, uint32_t i)
{
	const struct rig_frame *f = &r->sent[i];
	uint32_t len = (uint32_t)f->data[18] << 8 | f->data[19];

	if (f->data[12] != 0x86 || f->data[13] != 0xdd || f->data[14] >> 4 != 6 ||
	    f->len != R6_BODY + len)
		return false;
	return f->data[R6_NEXT] != R6_ICMP || sum_of(f->data, f->len, R6_BODY) == 0xffff;
}
