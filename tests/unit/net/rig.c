/* SPDX-License-Identifier: Apache-2.0 */
/* rig.c - an IP layer in virtual time */
#include "rig.h"

#include <check.h>
#include <string.h>

#include "slowsum.h"
#include "wire/ip4.h"

const uint8_t rig_mac[3][6] = { { 0 }, { 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 0, 2 } };
const uint8_t rig_peer_mac[6] = { 2, 0, 0, 0, 0, 9 };

static void rig_random(void *ctx, void *buf, size_t len)
{
	struct rig *r = ctx;

	prng_fill(&r->prng, buf, len);
}

static int rig_xmit(void *drv, struct pkt *const *pkts, uint32_t cnt)
{
	const struct rig_port *port = drv;
	struct rig *r = port->rig;

	for (uint32_t i = 0; i < cnt; i++) {
		struct rig_frame *f = &r->sent[r->sent_cnt % RIG_FRAMES];

		r->sent_cnt++;
		f->len = pkt_len(pkts[i]);
		f->link_id = port->link_id;
		ck_assert(pkt_copy_out(pkts[i], 0, f->data,
				       f->len < sizeof(f->data) ? f->len : sizeof(f->data)));
	}
	return (int)cnt;
}

static enum drop on_input(void *self, struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	struct rig *r = self;

	(void)now;
	r->input_cnt++;
	r->last_ip = *ip;
	r->last_len = pkt_len(p);
	ck_assert(pkt_copy_out(p, 0, r->last_data,
			       r->last_len < sizeof(r->last_data) ? r->last_len
								  : sizeof(r->last_data)));
	pkt_free(p);
	return DROP_NONE;
}

static void on_error(void *self, const struct icmp_err *e, struct mono now)
{
	struct rig *r = self;

	(void)now;
	r->error_cnt++;
	r->last_err = *e;
}

void rig_init(struct rig *r)
{
	static const struct proto_ops ops = { .input = on_input, .error = on_error };
	static const struct ns_link_ops link_ops = { .xmit = rig_xmit };

	memset(r, 0, sizeof(*r));
	r->prng.state = 42;
	r->env = (struct ns_env){ .ctx = r, .random = rig_random };
	r->core.env = &r->env;
	r->core.stats = &r->stats;
	r->core.limits.neighbours = 64;
	core_knobs_init(&r->core);
	r->now.ns = 1000 * NS_PER_SEC;
	timers_init(&r->core.timers);
	pool_init(&r->core.pkts, "pkt", sizeof(struct pkt), 1024, 16);
	chunk_pools_init(&r->core.chunks, 64, 64, 256);
	r->env.random(r, &r->core.key, sizeof(r->core.key));
	r->net = net_new(&r->core);
	ck_assert_ptr_nonnull(r->net);
	net_register(r->net, RIG_PROTO, &ops, r);
	for (uint32_t i = 1; i <= 2; i++) {
		struct ns_link_config c = { .ifindex = RIG_ZONE + i - 1,
					    .mtu = 1500,
					    .is_up = true,
					    .gso = NS_GSO_HW,
					    .ops = &link_ops };
		struct ns_addr a = ns_addr_v4(i == 1 ? RIG_US : 0x0a080002);
		uint32_t id = 0;

		memcpy(c.mac, rig_mac[i], 6);
		r->ports[i] = (struct rig_port){ .rig = r, .link_id = i };
		c.drv = &r->ports[i];
		ck_assert_int_eq(net_add_link(r->net, &c, &id), 0);
		ck_assert_uint_eq(id, i);
		ck_assert_int_eq(net_add_addr(r->net, i, &a, 24), 0);
	}
}

void rig_done(struct rig *r)
{
	net_free(r->net);
	timers_done(&r->core.timers); /* these trap on anything left over */
	pool_done(&r->core.pkts);
	chunk_pools_done(&r->core.chunks);
}

void rig_in_meta(struct rig *r, const void *frame, uint32_t len, enum pkt_csum csum,
		 uint16_t csum_start, uint16_t gso_size)
{
	struct pkt *p = pkt_new_rx(&r->core.pkts, &r->core.chunks, 16);
	void *at;

	ck_assert_ptr_nonnull(p);
	at = pkt_put(p, len);
	ck_assert_ptr_nonnull(at);
	memcpy(at, frame, len);
	p->l2_off = (uint16_t)p->head;
	p->csum = (uint8_t)csum;
	p->csum_start = csum_start;
	p->gso_size = gso_size;
	(void)net_input(r->net, 1, p, r->now);
	net_flush(r->net);
}

void rig_in(struct rig *r, const void *frame, uint32_t len)
{
	rig_in_meta(r, frame, len, PKT_CSUM_UNKNOWN, 0, 0);
}

void rig_ip4_fix(uint8_t *frame)
{
	uint16_t sum;

	frame[24] = frame[25] = 0;
	sum = (uint16_t)~slowsum(0, frame + 14, (frame[14] & 15u) * 4);
	frame[24] = (uint8_t)(sum >> 8);
	frame[25] = (uint8_t)sum;
}

uint32_t rig_ip4(uint8_t *frame, uint32_t src, uint32_t dst, uint8_t proto, uint32_t payload_len)
{
	struct ip4_hdr h = {
		.vhl = 0x45,
		.len = be16((uint16_t)(20 + payload_len)),
		.ttl = 64,
		.proto = proto,
		.src = be32(src),
		.dst = be32(dst),
	};

	memcpy(frame, rig_mac[1], 6);
	memcpy(frame + 6, rig_peer_mac, 6);
	frame[12] = 8;
	frame[13] = 0;
	memcpy(frame + 14, &h, sizeof(h));
	rig_ip4_fix(frame);
	return 34;
}

uint32_t rig_arp(uint8_t *frame, uint16_t op, const uint8_t sha[6], uint32_t spa,
		 const uint8_t tha[6], uint32_t tpa)
{
	static const uint8_t fixed[] = { 8, 6, 0, 1, 8, 0, 6, 4 };
	struct be32 s = be32(spa), t = be32(tpa);

	memset(frame, 0xff, 6);
	memcpy(frame + 6, sha, 6);
	memcpy(frame + 12, fixed, sizeof(fixed));
	frame[20] = (uint8_t)(op >> 8);
	frame[21] = (uint8_t)op;
	memcpy(frame + 22, sha, 6);
	memcpy(frame + 28, &s, 4);
	memcpy(frame + 32, tha, 6);
	memcpy(frame + 38, &t, 4);
	return 42;
}

void rig_peer_known(struct rig *r)
{
	uint8_t f[64];

	rig_in(r, f, rig_arp(f, 1, rig_peer_mac, RIG_PEER, rig_mac[0], RIG_US));
	ck_assert_uint_eq(r->sent_cnt, 1);
	r->sent_cnt = 0;
}

int rig_send(struct rig *r, uint32_t dst, uint32_t len, uint16_t segs)
{
	struct pkt *p = pkt_new_tx(&r->core.pkts);
	struct ns_addr to = ns_addr_v4(dst);
	struct ip_tx ip = { .dst = to, .proto = RIG_PROTO, .dont_fragment = true };
	struct chunk *c = chunk_new(&r->core.chunks, CHUNK_LARGE);
	struct dst d;
	int err = net_route(r->net, &to, NULL, &d);

	ck_assert_int_eq(err, 0);
	ck_assert_ptr_nonnull(c);
	ck_assert_ptr_nonnull(p);
	memset(c->data, 'd', len);
	ck_assert_int_eq(pkt_add_frag(p, c, 0, len), 0);
	chunk_unref(c);
	memcpy(pkt_push(p, 8), "\x12\x34\x56\x78\xde\xad\xbe\xef", 8); /* ports, sequence */
	ip.src = d.src;
	p->gso_segs = segs;
	err = net_output(r->net, &d, &ip, p, r->now);
	net_flush(r->net);
	return err;
}

void rig_pass(struct rig *r, uint64_t ns)
{
	struct mono end = mono_add(r->now, ns);

	for (;;) {
		struct mono next = timers_next(&r->core.timers);

		if (mono_lt(end, next))
			break;
		if (mono_lt(r->now, next)) /* else it is due at once */
			r->now = next;
		timers_run(&r->core.timers, r->now);
		net_flush(r->net);
	}
	r->now = end;
}

uint64_t rig_drops(const struct rig *r, enum drop d)
{
	return r->stats.drop[d];
}
