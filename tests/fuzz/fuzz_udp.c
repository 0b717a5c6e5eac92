/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_udp.c - datagrams, fragments, errors and a program's calls against sockets of UDP, of both families
 *
 * The input is a row of steps. Payload of IP is the input's own; headers in front of it are right,
 * so that what is reached is the reassembly, the parser of UDP, and errors that quote.
 */
#include <errno.h>

#include "buf/pkt.h"
#include "fuzz/fuzz.h"
#include "support/rawpeer.h"

enum {
	SOCKS = 6,
	STEPS_MAX = 64,
	DNS = 53,
};

static struct rawpeer rp;
static ns_sock socks[SOCKS];
static struct frame f;

static void frame(struct input *in, uint8_t proto)
{
	struct way w = rp_way(0, 0);
	uint16_t frag = input_u16(in);
	uint8_t id = input_u8(in), how = input_u8(in);
	size_t len;
	const uint8_t *payload = input_take(in, how & 0x80 ? 1480 : how, &len);

	w.src += id & 7;
	if (how & 0x40)
		w.dst = id & 1 ? 0xe0000001 : 0x0a0000ff;
	frame_ip4(&f, &w,
		  &(struct ip4_in){ .proto = proto, .id = id, .frag = frag, .is_fragment = true },
		  payload, (uint32_t)len);
	if (id & 8) {
		f.gso_type = PKT_GSO_UDP_L4;
		f.gso_size = (uint16_t)(id >> 4);
		f.csum = PKT_CSUM_PARTIAL;
		f.csum_start = ETH_LEN + IP4_LEN;
		f.csum_off = 6;
	}
	rp_inject(&rp, &f);
	memset(&f, 0, offsetof(struct frame, b));
}

static const struct ns_addr us6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 2 } };
static const struct ns_addr peer6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 1 } };
static const struct ns_addr near6 = { { 0xfe, 0x80, [15] = 2 } };
static const struct ns_addr group6 = { { 0xff, 2, [15] = 0xfb } };

/* Likewise over IPv6: UDP, ICMPv6 or a fragment. */
static void frame6(struct input *in)
{
	static const uint8_t nexts[] = { 17, 17, 58, 44 };
	struct way w = rp_way(0, 0);
	uint8_t id = input_u8(in), how = input_u8(in);
	const struct ns_addr *to = how & 0x20 ? &near6 : &us6;
	struct ip6_in ip = { .next = nexts[id & 3] };
	size_t len;
	const uint8_t *payload = input_take(in, how & 0x80 ? 1440 : how, &len);

	memcpy(ip.src, peer6.b, 16);
	memcpy(ip.dst, to->b, 16);
	if (how & 0x40) {
		memcpy(ip.dst, group6.b, 16);
		memcpy(w.dst_mac, (uint8_t[]){ 0x33, 0x33, 0, 0, 0, 0xfb }, 6);
	}
	frame_ip6(&f, &w, &ip, payload, (uint32_t)len);
	f.csum = id & 4 ? PKT_CSUM_VALID : PKT_CSUM_UNKNOWN;
	if (id & 8) {
		f.gso_type = PKT_GSO_UDP_L4;
		f.gso_size = (uint16_t)(id >> 4);
	}
	rp_inject(&rp, &f);
	memset(&f, 0, offsetof(struct frame, b));
}

static void drain(ns_sock s, uint8_t how)
{
	struct ns_dgram_rx rx;
	struct ns_dgram_err e;
	struct ns_iov iov[NS_DGRAM_IOVS];
	int n;

	while (ns_dgram_take_error(rp.stack, s, &e))
		must_hold(e.err < 0 && e.err > -4096);
	while ((n = ns_dgram_peek(rp.stack, s, how & 1, &rx, iov)) >= 0) {
		size_t sum = 0;

		must_hold(n <= (int)NS_DGRAM_IOVS && rx.len <= NS_DGRAM_MAX);
		for (int i = 0; i < n; i++)
			sum += iov[i].len;
		must_hold(sum == rx.len);
		ns_dgram_consume(rp.stack, s, 1 + (how & 1u));
	}
}

static void send_some(struct input *in, ns_sock s)
{
	static uint8_t payload[65536];
	uint16_t len = input_u16(in);
	uint8_t how = input_u8(in);
	struct ns_dgram_tx tx = { .has_to = how & 1,
				  .to = { ns_addr_v4(how & 2   ? 0xe0000001
						     : how & 4 ? 0x7f000001
							       : RP_PEER),
					  (uint16_t)(how & 8 ? DNS : 4000) },
				  .ifindex = how >> 6,
				  .ttl = how & 16 ? 3 : -1,
				  .tos = -1 };
	struct ns_endpoint to6 = { how & 2 ? group6 : how & 4 ? us6 : peer6, tx.to.port };
	struct ns_iov iov[2] = { { payload, len / 3 }, { payload + len / 3, len - len / 3 } };
	int r;

	if (how & 32)
		tx.to = to6;
	r = ns_dgram_send(rp.stack, s, &tx, iov, 2, rp.now);
	must_hold(r <= 0 && r > -4096);
	rp_turn(&rp);
	rp_drop_out(&rp);
}

static void call_group(struct input *in, ns_sock s, uint8_t which, bool is_v6)
{
	struct ns_group_req q = { .group = ns_addr_v4(0xe0000001 + (which & 1u)),
				  .local = ns_addr_v4(RP_STACK),
				  .source = ns_addr_v4(RP_PEER) };

	if (is_v6) {
		q.group = group6;
		q.local = near6;
		q.source = peer6;
	}
	if (which & 0x80)
		(void)!ns_dgram_group(rp.stack, s,
				      (enum ns_group_what)(input_u8(in) % NS_GROUP_WHAT_COUNT), &q);
	else
		(void)!ns_dgram_group(rp.stack, s, which & 2 ? NS_GROUP_JOIN : NS_GROUP_LEAVE, &q);
}

static void step(struct input *in)
{
	uint8_t op = input_u8(in), which = input_u8(in);
	ns_sock s = socks[which % SOCKS];
	struct ns_endpoint ep = { ns_addr_v4(RP_PEER), 4000 };
	bool is_v6 = op & 16;

	switch (op & 15) {
	case 0:
	case 1:
	case 2:
		if (is_v6)
			frame6(in);
		else
			frame(in, 17);
		break;
	case 3:
		frame(in, 1);
		break;
	case 4:
		drain(s, which);
		break;
	case 5:
	case 6:
		send_some(in, s);
		break;
	case 7:
		rp_wait(&rp, (uint64_t)input_u16(in) * NS_PER_MS);
		break;
	case 8:
		if (is_v6)
			ep.addr = peer6;
		(void)!ns_dgram_connect(rp.stack, s, which & 0x80 ? NULL : &ep);
		break;
	case 9:
		call_group(in, s, which, is_v6);
		break;
	case 10:
		(void)!ns_sock_setopt(rp.stack, s,
				      (enum ns_sockopt)(input_u8(in) % NS_SOCKOPT_COUNT),
				      (int)input_u16(in));
		break;
	case 11:
		ns_sock_close(rp.stack, s);
		must_hold(ns_dgram_open(rp.stack, &socks[which % SOCKS]) == 0);
		break;
	case 12:
		ep = (struct ns_endpoint){ ns_addr_v4(which & 1 ? RP_STACK : 0), DNS };
		if (is_v6)
			ep.addr = which & 1 ? us6 : (struct ns_addr){ { 0 } };
		(void)!ns_sock_bind(rp.stack, s, &ep);
		break;
	case 13:
		rp.xmit_err = which & 1 ? -EAGAIN : 0;
		break;
	default:
		rp_turn(&rp);
		break;
	}
	rp_drop_out(&rp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct ns_endpoint any = { ns_addr_v4(0), DNS };

	rp_init(&rp, &(struct rp_config){ .has_no_pcap = true,
					  .limits = { .sockets = 16,
						      .rx_frames = 80,
						      .chunks_large = 16,
						      .chunks_small = 256,
						      .neighbours = 16 } });
	for (int i = 0; i < SOCKS; i++)
		must_hold(ns_dgram_open(rp.stack, &socks[i]) == 0 &&
			  ns_sock_setopt(rp.stack, socks[i], NS_SO_V6ONLY, i & 1 ? 0 : -1) == 0);
	must_hold(ns_sock_bind(rp.stack, socks[0], &any) == 0);
	for (int n = 0; n < STEPS_MAX && in.left; n++)
		step(&in);
	rp.xmit_err = 0;
	rp_done(&rp);
	return 0;
}
