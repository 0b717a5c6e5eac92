/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_two_stack.c - two stacks talk over a wire that does what the input says
 *
 * Each frame takes one octet of the input: pass, lose, change an octet, cut short. In fair mode (first
 * octet even) what was changed keeps its old checksum, so the streams must arrive intact or not at all;
 * in foul mode checksums are made right again and only crashes, leaks and livelocks count.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "support/vapp.h"

enum {
	PORT = 80,
	SEND_TOTAL = 40000,
};

struct ctx {
	struct input in;
	bool is_foul;
};

static bool mangle(struct vhost *from, struct vframe *vf)
{
	struct ctx *c = from->net->hook_ctx;
	uint8_t op = c->in.left ? input_u8(&c->in) : 0;
	static struct frame f;

	if (op < 128)
		return true;
	if (op < 160)
		return false;
	if (op < 232) {
		uint16_t at = input_u16(&c->in);

		vf->b[14 + at % (vf->len - 14)] ^= input_u8(&c->in);
	} else {
		vf->len = 1 + input_u8(&c->in) % vf->len;
	}
	if (c->is_foul && vf->len >= 54) {
		f.len = vf->len;
		memcpy(f.b, vf->b, vf->len);
		uint32_t ihl = (f.b[14] & 15u) * 4;

		f.b[24] = f.b[25] = 0;
		if (ihl >= 20 && ihl <= f.len - 14) {
			uint32_t sum = ~frame_sum(f.b + 14, ihl, 0) & 0xffff;

			f.b[24] = (uint8_t)(sum >> 8);
			f.b[25] = (uint8_t)sum;
		}
		frame_fix_tcp_csum(&f);
		memcpy(vf->b, f.b, vf->len);
	}
	return true;
}

static bool is_used_up(void *ctx)
{
	const struct ctx *c = ctx;

	return !c->in.left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx c = { .in = { data, size } };
	uint8_t how = input_u8(&c.in);
	struct vhost_config host = { .gso = (enum ns_gso_mode)((how >> 1) % 3),
				     .limits = { .sockets = 16,
						 .timewait = 16,
						 .rx_frames = 256,
						 .chunks_large = 64,
						 .chunks_small = 256,
						 .neighbours = 16 } };
	struct vwire_dir dir = { .delay_ns = 5 * NS_PER_MS, .is_cut = true };
	static const struct vprofile both = { .send_total = SEND_TOTAL };
	struct vapp client, server;
	struct vnet v;
	int r;

	c.is_foul = how & 1;
	vnet_init(&v, how, (struct mono){ 1000 * NS_PER_SEC });
	vnet_no_pcap(&v);
	struct vhost *h = vnet_add_pair(&v, &host, &host, &dir, &dir);

	v.mangle = mangle;
	v.hook_ctx = &c;
	vapp_init(&client, &h[0], &both);
	vapp_init(&server, &h[1], &both);
	vapp_listen(&server, PORT, 4);
	vapp_connect(&client, h[1].addr, PORT, &r);
	bool is_clean = vnet_run(&v, 600 * NS_PER_SEC, is_used_up, &c);

	vnet_run(&v, 300 * NS_PER_SEC, NULL, NULL); /* two timeouts at their longest */
	must_hold(!v.is_livelock);
	if (!c.is_foul) {
		must_hold(!client.bad_cnt && !server.bad_cnt);
		/* the wire was clean since the input was used up: all has arrived by now, unless a closed end gave up before */
		if (!client.failed_cnt && !server.failed_cnt && is_clean &&
		    !vhost_stat(&h[0], "TCP_CONN_TIMEOUTS") &&
		    !vhost_stat(&h[1], "TCP_CONN_TIMEOUTS"))
			must_hold(server.rx_octets == client.tx_octets &&
				  client.rx_octets == server.tx_octets);
	}
	vapp_done(&client);
	vapp_done(&server);
	vnet_done(&v);
	return 0;
}
