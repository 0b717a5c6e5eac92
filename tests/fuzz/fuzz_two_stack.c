/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_two_stack.c - two stacks talk over a wire that does what the input says
 *
 * Each frame takes one octet of the input: pass, lose, change an octet, cut short, double, hold back. In fair
 * mode (first octet even) what was changed keeps its old checksum, so the streams must arrive intact or not at
 * all; in foul mode checksums are made right again and only crashes, leaks and livelocks count.
 *
 * The top bit of the first octet says that more follow, which choose the family, MTU, how the neighbour
 * is found, how the programs behave, knobs of either side, and a datagram each way; behind the knobs is room for
 * still more (enum extra): ECN and a path that marks, bleaches and strips, Fast Open, congestion control, options.
 */
#include <stdlib.h>

#include "buf/pkt.h"
#include "fuzz/fuzz.h"
#include "support/vapp.h"

enum {
	PORT = 80,
	SEND_TOTAL = 4500, /* some segments each way; more only repeat what these did */
	SEND_LONG = 30000,
	PIECES_MAX = 12,  /* segments each way, fragments: a small MTU makes more, not others */
	PIECES_LONG = 24, /* from an MTU of 172 on they fill the window of a slow program */
	KNOBS_MAX = 4,    /* turned by one input */
};

enum how {
	HOW_FOUL = 1,
	HOW_LONG = 0x70, /* all of these bits */
	HOW_MORE = 0x80,
};

enum more {
	MORE_V6 = 1,
	MORE_NO_NEIGH = 2,
	MORE_MTU = 4,
	MORE_SLOW = 8,
	MORE_ABORT = 16,
	MORE_LATE = 32,
	MORE_DGRAM = 64,
	MORE_KNOBS = 128,
};

/* With the top bit of the number of knobs. */
enum extra {
	EXTRA_ECN =
		3, /* 1: RFC 9768, 2: RFC 3168, 3: the client asks for RFC 9768, the server has RFC 3168 */
	EXTRA_PATH = 4, /* some of the octets that let a frame pass change what ECN has in it */
	EXTRA_FASTOPEN = 8,
	EXTRA_STYLE = 0x10, /* congestion control, how octets are committed */
	EXTRA_OPTS = 0x20,  /* options of either end */
	EXTRA_TALK =
		0x40, /* a super-frame, an echo request, a gathered datagram instead of a plain one */
	EXTRA_TWICE = 0x80, /* a second connection when the first has got somewhere */
};

struct ctx {
	struct input in;
	bool is_foul;
	bool has_path; /* EXTRA_PATH */
};

/* The octet that has the code point of ECN, and where it lies in it. */
static uint8_t *ecn_of(struct vframe *vf, uint32_t *ret_shift)
{
	bool is_v6 = vf->b[12] == 0x86;

	*ret_shift = is_v6 ? 4 : 0;
	return vf->b + 15;
}

static void set_ecn(struct vframe *vf, uint8_t ecn)
{
	uint32_t shift, sum;
	uint8_t *at = ecn_of(vf, &shift), old = *at >> shift & 3;

	*at = (uint8_t)((*at & ~(3u << shift)) | (uint32_t)ecn << shift);
	if (shift)
		return;
	/* RFC 1624 3: the header's checksum with what was added and taken away */
	sum = (~((uint32_t)vf->b[24] << 8 | vf->b[25]) & 0xffff) + (~(uint32_t)old & 0xffff) + ecn;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
	vf->b[24] = (uint8_t)(sum >> 8);
	vf->b[25] = (uint8_t)sum;
}

/* The checksums of a frame that was changed are made right again. */
static void make_right(struct vframe *vf)
{
	static struct frame f;
	uint32_t ihl, sum;

	if (vf->len < 54)
		return;
	f.len = vf->len;
	memcpy(f.b, vf->b, vf->len);
	ihl = (f.b[14] & 15u) * 4;
	if (f.b[12] == 8) {
		f.b[24] = f.b[25] = 0;
		if (ihl >= 20 && ihl <= f.len - 14) {
			sum = ~frame_sum(f.b + 14, ihl, 0) & 0xffff;
			f.b[24] = (uint8_t)(sum >> 8);
			f.b[25] = (uint8_t)sum;
		}
	}
	frame_fix_tcp_csum(&f);
	memcpy(vf->b, f.b, vf->len);
}

/* The options of RFC 9768 become others that nobody knows. */
static void strip_accecn(struct vframe *vf)
{
	uint32_t at = ETH_LEN + (vf->b[12] == 0x86 ? IP6_LEN : (vf->b[14] & 15u) * 4), end;
	uint8_t proto = vf->b[12] == 0x86 ? vf->b[20] : vf->b[23];

	if (proto != 6 || at + TCP_LEN > vf->len)
		return;
	end = at + (vf->b[at + 12] >> 4) * 4u;
	if (end > vf->len)
		return;
	for (at += TCP_LEN; at + 1 < end && vf->b[at];) {
		if (vf->b[at] == 172 || vf->b[at] == 174)
			vf->b[at] = 99;
		at += vf->b[at] == 1 ? 1u : vf->b[at + 1] ? vf->b[at + 1] : end;
	}
	if (vf->csum != PKT_CSUM_PARTIAL)
		make_right(vf);
}

/* What routers and middleboxes do to ECN; the stream is none the worse. @op: below 96 */
static void meddle(struct vframe *vf, uint8_t op)
{
	uint32_t shift;
	uint8_t ecn;

	if (vf->len < ETH_LEN + IP6_LEN || (vf->b[12] != 8 && vf->b[12] != 0x86) || vf->b[13] == 6)
		return;
	ecn = *ecn_of(vf, &shift) >> shift & 3;
	if (op >= 88)
		strip_accecn(vf);
	else if (op >= 80 && ecn)
		set_ecn(vf, ecn ^ 3);
	else if (op >= 64 && op < 80)
		set_ecn(vf, 0);
	else if (op >= 32 && ecn)
		set_ecn(vf, 3);
}

static bool mangle(struct vhost *from, struct vframe *vf)
{
	struct ctx *c = from->net->hook_ctx;
	uint8_t op = c->in.left ? input_u8(&c->in) : 0;

	from->tx.reorder_ppm = from->tx.dup_ppm = 0;
	if (op < 96) {
		if (c->has_path)
			meddle(vf, op);
		return true;
	}
	if (op < 112) {
		from->tx.dup_ppm = 1000000;
		return true;
	}
	if (op < 128) {
		from->tx.reorder_ppm = 1000000;
		return true;
	}
	if (op < 160)
		return false;
	if (op < 232) {
		uint16_t at = input_u16(&c->in);

		vf->b[14 + at % (vf->len - 14)] ^= input_u8(&c->in);
	} else {
		vf->len = 1 + input_u8(&c->in) % vf->len;
	}
	if (c->is_foul)
		make_right(vf);
	return true;
}

static bool is_used_up(void *ctx)
{
	const struct ctx *c = ctx;

	return !c->in.left;
}

/* Return: the octet behind, when the number says that there is one */
static uint8_t turn_knobs(struct input *in, struct vhost *h)
{
	uint8_t cnt = input_u8(in);

	for (uint32_t n = (cnt & 0x7fu) % (KNOBS_MAX + 1); n; n--) {
		uint8_t which = input_u8(in);

		(void)!ns_stack_set_knob(h[which >> 7].stack,
					 (enum ns_knob)((which & 127) % NS_KNOB_COUNT),
					 (int8_t)input_u8(in));
	}
	return cnt & 0x80 ? input_u8(in) : 0;
}

static void choose_ecn(struct vhost *h, uint32_t how)
{
	static const int ways[][2] = { { 2, 2 }, { 3, 3 }, { 1, 1 }, { 3, 1 } };

	for (int i = 0; i < 2; i++)
		must_hold(!ns_stack_set_knob(h[i].stack, NS_KNOB_tcp_ecn, ways[how][i]));
}

static void choose_style(struct input *in, struct vprofile *client, struct vprofile *server)
{
	uint8_t how = input_u8(in);

	client->congestion = (how & 3) % NS_CC_COUNT;
	server->congestion = (how >> 2 & 3) % NS_CC_COUNT;
	client->has_urgent = how & 0x10;
	client->has_eor = how & 0x20;
	client->has_more = server->has_more = how & 0x40;
	client->is_nodelay = how & 0x80;
}

static void set_opts(struct input *in, struct vend *client, struct vapp *server)
{
	struct ns_stack *s[2] = { server->host->stack, server->host->peer->stack };
	ns_sock sock[2] = { server->listener, client ? client->sock : 0 };

	for (uint8_t cnt = input_u8(in) % (KNOBS_MAX + 1); cnt; cnt--) {
		uint8_t which = input_u8(in), end = which >> 7;

		(void)!ns_sock_setopt(s[end], sock[end],
				      (enum ns_sockopt)((which & 127) % NS_SOCKOPT_COUNT),
				      (int)input_number(in));
	}
}

/* How a datagram is sent, and by what kind of socket. */
static ns_sock open_talker(struct input *in, struct vhost *h, struct ns_dgram_tx *tx)
{
	uint8_t how = input_u8(in);
	ns_sock s;

	if (how & 1 ? ns_ping_open(h->stack, h->is_v6, &s) : ns_dgram_open(h->stack, &s))
		return 0;
	tx->has_gso = how & 2;
	tx->gso_size = how & 2 ? input_u16(in) : 0;
	tx->more = how & 4;
	tx->dontfrag = how & 8 ? 1 : 0;
	(void)!ns_sock_setopt(h->stack, s, h->is_v6 ? NS_IPV6_RECVERR : NS_IP_RECVERR,
			      !!(how & 16));
	(void)!ns_sock_setopt(h->stack, s, NS_UDP_GRO, !!(how & 32));
	return s;
}

/*
 * One datagram of a length that the input says, in fragments when it is long.
 * @mtu: 0 for the usual one. @has_more: EXTRA_TALK
 */
static ns_sock speak(struct input *in, struct vhost *h, uint32_t mtu, bool has_more)
{
	static uint8_t octets[8192];
	struct ns_dgram_tx tx = { .has_to = true, .ttl = -1, .tos = -1 };
	struct ns_iov iov = { octets, input_u16(in) % sizeof(octets) };
	ns_sock s = 0;

	if (mtu)
		iov.len %= (size_t)PIECES_MAX * mtu;
	octets[0] = h->is_v6 ? 128 : 8; /* of an echo socket: a request */
	tx.to.port = 53;
	tx.to.addr = h->is_v6 ? h->peer->addr6 : ns_addr_v4(h->peer->addr);
	if (has_more)
		s = open_talker(in, h, &tx);
	else if (ns_dgram_open(h->stack, &s))
		return 0;
	(void)!ns_sock_setopt(h->stack, s, NS_SO_V6ONLY, h->is_v6 ? 0 : -1);
	(void)!ns_sock_bind(
		h->stack, s,
		&(struct ns_endpoint){ h->is_v6 ? (struct ns_addr){ { 0 } } : ns_addr_v4(0), 53 });
	(void)!ns_dgram_send(h->stack, s, &tx, &iov, 1, h->net->now);
	vhost_kick(h);
	return s;
}

static void hear(struct vhost *h, ns_sock s)
{
	struct ns_dgram_rx rx;
	struct ns_dgram_err e;
	struct ns_iov iov[NS_DGRAM_IOVS];

	while (s && ns_dgram_take_error(h->stack, s, &e))
		must_hold(e.err < 0);
	while (s && ns_dgram_peek(h->stack, s, 0, &rx, iov) >= 0)
		ns_dgram_consume(h->stack, s, 1);
}

/** struct play - what the first octets of the input choose */
struct play {
	struct vhost_config host;
	struct vwire_dir dir;
	struct vprofile client, server;
	uint8_t more;
};

/* What one side has to say, when it is said in segments of about @seg octets. */
static void say_less(struct vprofile *p, uint32_t seg, bool is_long)
{
	uint64_t most = (uint64_t)(is_long ? PIECES_LONG : PIECES_MAX) * seg;

	if (p->send_total > most)
		p->send_total = most;
}

static void choose(struct input *in, uint8_t how, struct play *p)
{
	bool is_long = (how & HOW_LONG) == HOW_LONG;

	*p = (struct play){
		.host = { .gso = (enum ns_gso_mode)(((how >> 1) & 7) % 3),
			  .limits = { .sockets = 16,
				      .timewait = 16,
				      .rx_frames = 256,
				      .chunks_large = is_long ? 64 : 2,
				      .chunks_small = 256,
				      .neighbours = 16 } },
		.dir = { .delay_ns = 5 * NS_PER_MS, .reorder_ns = 40 * NS_PER_MS, .is_cut = true }
	};
	p->client.send_total = p->server.send_total = is_long ? SEND_LONG : SEND_TOTAL;
	if (!(how & HOW_MORE))
		return;
	p->more = input_u8(in);
	p->host.is_v6 = p->more & MORE_V6;
	p->host.has_no_neigh = p->more & MORE_NO_NEIGH;
	if (p->more & MORE_MTU) {
		p->host.mtu = (p->more & MORE_V6 ? 1280 : 68) + input_u8(in) * 8;
		say_less(&p->client, p->host.mtu, is_long);
		say_less(&p->server, p->host.mtu, is_long);
	}
	if (p->more & MORE_SLOW) {
		uint8_t pace = input_u8(in);

		p->client.send_max = (1 + (pace & 15)) * 90u;
		say_less(&p->client, p->client.send_max, is_long);
		p->server.read_max = 1000;
		p->server.read_gap_ns = (1 + (pace >> 4) * 20u) * NS_PER_MS;
		p->server.rcvbuf = 4096;
	}
	p->client.aborts = p->more & MORE_ABORT;
	p->server.sends_after_eof = p->more & MORE_LATE;
}

static bool has_timed_out(const struct vhost *h)
{
	return vhost_stat(&h[0], "TCP_CONN_TIMEOUTS") || vhost_stat(&h[1], "TCP_CONN_TIMEOUTS");
}

/* What must be true of the streams when the wire changed none of them. @is_clean: all of the input was used up */
static void check_streams(const struct vapp *client, const struct vapp *server, bool is_clean)
{
	must_hold(!client->bad_cnt && !server->bad_cnt);
	/* the wire was clean since the input was used up: all has arrived by now, unless a closed end gave up before */
	if (client->failed_cnt || server->failed_cnt || !is_clean || client->profile.aborts ||
	    client->end_cnt != server->end_cnt || has_timed_out(client->host->net->host))
		return;
	must_hold(server->rx_octets == client->tx_octets && client->rx_octets == server->tx_octets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx c = { .in = { data, size } };
	uint8_t how = input_u8(&c.in), extra = 0;
	struct vapp client, server;
	ns_sock socks[2] = { 0 };
	struct vnet v;
	struct play p;
	int r;

	choose(&c.in, how, &p);
	c.is_foul = how & HOW_FOUL;
	vnet_init_no_pcap(&v, how, (struct mono){ 1000 * NS_PER_SEC });
	struct vhost *h = vnet_add_pair(&v, &p.host, &p.host, &p.dir, &p.dir);

	if (p.more & MORE_KNOBS)
		extra = turn_knobs(&c.in, h);
	if (extra & EXTRA_ECN)
		choose_ecn(h, extra & EXTRA_ECN);
	if (extra & EXTRA_STYLE)
		choose_style(&c.in, &p.client, &p.server);
	for (int i = 0; i < 2 && extra & EXTRA_FASTOPEN; i++)
		must_hold(!ns_stack_set_knob(h[i].stack, NS_KNOB_tcp_fastopen, 0x403));
	p.client.has_fastopen = extra & EXTRA_FASTOPEN;
	c.has_path = extra & EXTRA_PATH;
	v.mangle = mangle;
	v.on_rx = fuzz_fence;
	v.hook_ctx = &c;
	vapp_init(&client, &h[0], &p.client);
	vapp_init(&server, &h[1], &p.server);
	vapp_listen(&server, PORT, 4);
	for (int i = 0; i < 2 && p.more & MORE_DGRAM; i++)
		socks[i] = speak(&c.in, &h[i], p.host.mtu, extra & EXTRA_TALK);
	struct vend *first = vapp_connect(&client, h[1].addr, PORT, &r);

	if (extra & EXTRA_OPTS)
		set_opts(&c.in, first, &server);
	if (extra & EXTRA_TWICE) {
		vnet_run(&v, NS_PER_SEC, NULL, NULL);
		vapp_connect(&client, h[1].addr, PORT, &r);
	}
	bool is_clean = vnet_run(&v, 600 * NS_PER_SEC, is_used_up, &c);

	/* timeouts at their longest, 120 s: a probe of the tail, the hole it shows, and more holes */
	vnet_run(&v, 1200 * NS_PER_SEC, NULL, NULL);
	must_hold(!v.is_livelock);
	if (!c.is_foul) /* options may end a connection early, or take octets away */
		check_streams(&client, &server, is_clean && !(extra & EXTRA_OPTS));
	for (int i = 0; i < 2; i++)
		hear(&h[i], socks[i]);
	vapp_done(&client);
	vapp_done(&server);
	vnet_done(&v);
	return 0;
}
