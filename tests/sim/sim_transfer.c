/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_transfer.c - two stacks, a bad wire, a lot of virtual time: every octet arrives once
 *
 * Theory of operation
 *
 * Each scenario builds a vnet from a seed, lets applications with known streams (support/vapp.h) run
 * over it, and at the end asks the same questions: has every end received exactly what its other
 * end sent; did no connection fail that should not; is every timer gone once TIME-WAIT is over; are
 * all pools empty (ns_stack_free() traps otherwise). A failure prints scenario and seed, which give
 * the same run again, and leaves a pcap.
 *
 * Usage: sim_transfer SCENARIO [--seeds N] [--first SEED] [--golden FILE [--update]]
 *        sim_transfer --list
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/vapp.h"
#include "support/vcheck.h"

enum {
	PORT = 80,
	MIB = 1 << 20,
	MSS = 1448, /* octets: MTU 1500, timestamps */
};

#define MS  NS_PER_MS
#define SEC NS_PER_SEC

struct args {
	uint32_t seeds;
	uint64_t first;
	const char *golden;
	bool is_update;
};

/* One run: a pair of hosts with an application each. */
struct sim {
	struct vnet v;
	struct vhost *h;
	struct vapp client, server;
	struct vcheck *check;
	const char *name;
	uint64_t seed;
	bool ok;
};

/* The scenario runs over IPv6; set before it begins. */
static bool is_v6;

/* Both hosts have this knob at this value instead of its default; likewise. */
static enum ns_knob knob;
static int knob_value = -1;

static void sim_fail(struct sim *s, const char *why)
{
	char file[128];

	fprintf(stderr, "FAIL %s --first %llu --seeds 1: %s (at %.3f s)\n", s->name,
		(unsigned long long)s->seed, why, (double)s->v.now.ns / 1e9);
	if (s->ok) {
		snprintf(file, sizeof(file), "sim_transfer.%s.%llu", s->name,
			 (unsigned long long)s->seed);
		vnet_write_pcap(&s->v, file);
	}
	s->ok = false;
}

struct sim_config {
	struct vhost_config client_host, server_host;
	struct vwire_dir up, down; /* client to server and back */
	struct vprofile client, server;
	struct mono start; /* zero: 1000 s */
};

static void sim_init(struct sim *s, const char *name, uint64_t seed, const struct sim_config *c)
{
	struct vhost_config client = c->client_host, server = c->server_host;

	*s = (struct sim){ .name = name, .seed = seed, .ok = true };
	client.is_v6 = server.is_v6 = is_v6;
	vnet_init(&s->v, seed, c->start.ns ? c->start : (struct mono){ 1000 * SEC });
	s->h = vnet_add_pair(&s->v, &client, &server, &c->up, &c->down);
	for (int i = 0; i < 2; i++)
		if (knob_value >= 0 && ns_stack_set_knob(s->h[i].stack, knob, knob_value))
			sim_fail(s, "no such knob");
	s->check = vcheck_new(&s->v);
	vapp_init(&s->client, &s->h[0], &c->client);
	vapp_init(&s->server, &s->h[1], &c->server);
	vapp_listen(&s->server, PORT, 4096);
}

static struct vend *sim_connect(struct sim *s)
{
	int r;
	struct vend *e = vapp_connect(&s->client, s->h[1].addr, PORT, &r);

	if (!e)
		sim_fail(s, "connect refused by our own stack");
	return e;
}

static bool sim_all_closed(void *ctx)
{
	struct sim *s = ctx;

	return !s->client.open_cnt && !s->server.open_cnt;
}

static void sim_done(struct sim *s)
{
	vapp_done(&s->client);
	vapp_done(&s->server);
	vcheck_free(s->check);
	vnet_done(&s->v);
}

/* Let everything end, ask the questions every scenario asks, take it down. */
static bool sim_finish(struct sim *s, uint64_t within_ns)
{
	if (s->ok && !vnet_run(&s->v, within_ns, sim_all_closed, s))
		sim_fail(s, s->v.is_livelock ? "livelock" : "not all ends closed in time");
	if (s->ok && !vapp_check_pairs(&s->client, &s->server))
		sim_fail(s, "octets lost, doubled or changed");
	if (s->ok && vcheck_faults(s->check))
		sim_fail(s, "segments that no TCP may send");
	if (s->ok && (s->h[0].tx_v6 != 0) != is_v6)
		sim_fail(s, "the wrong family on the wire");
	if (s->ok && s->client.end_cnt != s->server.end_cnt)
		sim_fail(s, "ends without another end");
	if (s->ok) {
		ns_sock_close(s->h[1].stack, s->server.listener);
		vhost_kick(&s->h[1]);
		vnet_run(&s->v, 400 * SEC, NULL, NULL);
		if (vnet_next(&s->v).ns != UINT64_MAX)
			sim_fail(s, "a timer is still armed 400 s after everything was closed");
	}
	bool ok = s->ok;

	sim_done(s);
	return ok;
}

/* Every end looks at its profile again. */
static void sim_pump(struct sim *s)
{
	for (struct vend *e = s->client.ends; e; e = e->next)
		vend_pump(e);
	for (struct vend *e = s->server.ends; e; e = e->next)
		vend_pump(e);
}

/* Applications that send for ever send no more, but what is under way arrives. */
static void sim_stop_sending(struct sim *s)
{
	s->client.profile.send_total = s->server.profile.send_total = 0;
	sim_pump(s);
}

/* --- scenarios ------------------------------------------------------------------------------- */

static const struct vwire_dir bad_wire = {
	.delay_ns = 40 * MS,
	.jitter_ns = 2 * MS,
	.reorder_ns = 20 * MS,
	.loss_ppm = 10000,
	.reorder_ppm = 10000,
	.dup_ppm = 10000,
	.rate_Bps = 12500000,
};

/* The headline: 100 s each, both directions busy, 1 % of everything; 100 seeds are 10 000 s. */
static bool run_lossy(const struct args *a, uint64_t seed)
{
	struct prng r = { prng_mix(seed ^ 0x10553) };
	struct sim_config c = {
		.up = bad_wire,
		.down = bad_wire,
		.client = { .send_total = UINT64_MAX, .send_max = 20000 },
		.server = { .send_total = UINT64_MAX },
	};
	struct sim s;

	(void)a;
	c.up.delay_ns = prng_between(&r, 20, 150) * MS;
	c.down.delay_ns = prng_between(&r, 20, 150) * MS;
	c.client_host.gso = (enum ns_gso_mode)prng_below(&r, 3);
	c.server_host.gso = (enum ns_gso_mode)prng_below(&r, 3);
	c.up.is_cut = c.down.is_cut = true;
	sim_init(&s, "lossy", seed, &c);
	sim_connect(&s);
	vnet_run(&s.v, 100 * SEC, NULL, NULL);
	sim_stop_sending(&s);
	if (s.server.rx_octets < MIB || s.client.rx_octets < MIB)
		sim_fail(&s, "less than 1 MiB in 100 s");
	return sim_finish(&s, 600 * SEC);
}

/* Super-frames carried whole and lost whole: 64 KiB holes. */
static bool run_whole(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.client_host = { .gso = NS_GSO_HW },
		.server_host = { .gso = NS_GSO_HW },
		.up = bad_wire,
		.down = bad_wire,
		.client = { .send_total = 8 * MIB },
		.server = { .send_total = 4 * MIB },
	};
	struct sim s;

	(void)a;
	sim_init(&s, "whole", seed, &c);
	sim_connect(&s);
	vnet_run(&s.v, 600 * SEC, sim_all_closed, &s);
	if (s.ok && !s.h[0].tx_gso)
		sim_fail(&s, "no super-frame was sent");
	return sim_finish(&s, 600 * SEC);
}

/* One octet in a thousand frames is damaged: checksums catch every one. */
static bool run_corrupt(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.client_host = { .gso = NS_GSO_HW },
		.up = bad_wire,
		.down = bad_wire,
		.client = { .send_total = 2 * MIB },
		.server = { .send_total = 2 * MIB },
	};
	struct sim s;

	(void)a;
	c.up.corrupt_ppm = c.down.corrupt_ppm = 20000;
	sim_init(&s, "corrupt", seed, &c);
	sim_connect(&s);
	vnet_run(&s.v, 600 * SEC, sim_all_closed, &s);
	if (s.ok && !vhost_stat(&s.h[1], "TCP_CSUM"))
		sim_fail(&s, "no damaged segment was noticed");
	return sim_finish(&s, 600 * SEC);
}

/* 200 connections at once, random sizes of writes and buffers. */
static bool run_many(const struct args *a, uint64_t seed)
{
	struct prng r = { prng_mix(seed) };
	struct sim_config c = {
		.up = bad_wire,
		.down = bad_wire,
		.client = { .send_total = 50000, .send_max = 3000 },
		.server = { .send_total = 70000 },
	};
	struct sim s;

	(void)a;
	c.up.delay_ns = c.down.delay_ns = 5 * MS;
	sim_init(&s, "many", seed, &c);
	for (int i = 0; i < 200; i++) {
		s.client.profile.sndbuf = (uint32_t)prng_between(&r, 4096, 65536);
		s.client.profile.is_nodelay = prng_below(&r, 2);
		sim_connect(&s);
		vnet_run(&s.v, prng_below(&r, 20 * MS), NULL, NULL);
	}
	return sim_finish(&s, 900 * SEC);
}

/* The client finishes first; the server's data still flows for long. */
static bool run_half_close(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.up = bad_wire,
		.down = bad_wire,
		.client = { .send_total = 100000 },
		.server = { .send_total = 3 * MIB, .sends_after_eof = true },
	};
	struct sim s;

	(void)a;
	sim_init(&s, "half_close", seed, &c);
	for (int i = 0; i < 3; i++)
		sim_connect(&s);
	return sim_finish(&s, 600 * SEC);
}

/* A reader that sleeps first and then takes little: zero windows, probes, no silly windows. */
static bool run_slow_reader(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.up = bad_wire,
		.down = bad_wire,
		.client = { .send_total = 600000 },
		.server = { .read_max = 9000, .read_gap_ns = 400 * MS, .read_wait_ns = 90 * SEC },
	};
	struct sim s;

	(void)a;
	c.server.rcvbuf = (uint32_t)(seed % 2 ? 32768 : 0);
	sim_init(&s, "slow_reader", seed, &c);
	sim_connect(&s);
	vnet_run(&s.v, 80 * SEC, NULL, NULL);
	if (c.server.rcvbuf && !vhost_stat(&s.h[0], "TCP_PROBES"))
		sim_fail(&s, "the window was shut for 80 s and nobody probed it");
	return sim_finish(&s, 1200 * SEC);
}

/* A driver without room at random: pushed back, never dropped; a clean wire shows no retransmission. */
static bool run_eagain(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.up = { .delay_ns = 5 * MS, .eagain_ppm = 100000 },
		.down = { .delay_ns = 5 * MS, .eagain_ppm = 100000 },
		.client = { .send_total = 20 * MIB },
		.server = { .send_total = 5 * MIB },
	};
	struct sim s;

	(void)a;
	c.client_host.gso = c.server_host.gso = (enum ns_gso_mode)(seed % 3);
	sim_init(&s, "eagain", seed, &c);
	sim_connect(&s);
	vnet_run(&s.v, 300 * SEC, sim_all_closed, &s);
	if (s.ok && !s.h[0].eagain)
		sim_fail(&s, "the wire never said -EAGAIN");
	if (s.ok &&
	    (vhost_stat(&s.h[0], "TCP_RETRANS_SEGS") || vhost_stat(&s.h[1], "TCP_RETRANS_SEGS")))
		sim_fail(&s, "retransmissions on a wire that loses nothing");
	return sim_finish(&s, 300 * SEC);
}

/* Super-frames are refused from the middle of a transfer on: cut in software, nothing lost. */
static bool run_gso_refused(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.client_host = { .gso = NS_GSO_HW },
		.up = { .delay_ns = 5 * MS, .rate_Bps = 125000000, .queue_cnt = 100000 },
		.down = { .delay_ns = 5 * MS },
		.client = { .send_total = 30 * MIB },
	};
	struct sim s;

	(void)a;
	sim_init(&s, "gso_refused", seed, &c);
	sim_connect(&s);
	vnet_run(&s.v, 50 * MS + seed % 50 * MS, NULL, NULL);
	uint64_t before = s.h[0].tx_gso;

	s.h[0].tx.refuses_gso = true;
	vnet_run(&s.v, 300 * SEC, sim_all_closed, &s);
	if (s.ok && (!before || s.h[0].tx_gso != before || !s.h[0].refused))
		sim_fail(&s, "super-frames were not sent before or were after the refusal");
	if (s.ok && vhost_stat(&s.h[0], "LINK_GSO_FALLBACK") != 1)
		sim_fail(&s, "the change of mode is not counted once");
	if (s.ok && vhost_stat(&s.h[0], "TCP_RETRANS_SEGS"))
		sim_fail(&s, "refused super-frames were lost and retransmitted");
	return sim_finish(&s, 300 * SEC);
}

/* The device goes down for a while: -ENETDOWN is survived. */
static bool run_link_down(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.up = { .delay_ns = 5 * MS, .rate_Bps = 1250000 },
		.down = { .delay_ns = 5 * MS, .rate_Bps = 1250000 },
		.client = { .send_total = 4 * MIB },
		.server = { .send_total = 4 * MIB },
	};
	struct sim s;

	(void)a;
	sim_init(&s, "link_down", seed, &c);
	sim_connect(&s);
	vnet_run(&s.v, 500 * MS, NULL, NULL);
	s.h[0].tx.is_down = true;
	vnet_run(&s.v, prng_between(&s.v.random, 1, 9) * SEC, NULL, NULL);
	s.h[0].tx.is_down = false;
	ns_link_writable(s.h[0].stack, s.h[0].link_id);
	vhost_kick(&s.h[0]);
	return sim_finish(&s, 600 * SEC);
}

/* ISN within 1 MiB of 2^32 on one side, by search over the seeds behind env.random. */
static uint32_t first_seq;

static bool note_first_syn(struct vhost *from, struct vframe *f)
{
	if (f->len >= ETH_LEN + IP4_LEN + TCP_LEN && f->b[ETH_LEN + 9] == 6 &&
	    (f->b[ETH_LEN + IP4_LEN + 13] & FL_SYN) && from == &from->net->host[0])
		first_seq = (uint32_t)f->b[38] << 24 | (uint32_t)f->b[39] << 16 |
			    (uint32_t)f->b[40] << 8 | f->b[41];
	return true;
}

static bool run_seq_wrap(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.up = bad_wire,
		.down = bad_wire,
		.client = { .send_total = 4 * MIB },
		.server = { .send_total = 1 * MIB },
	};
	const uint32_t near = 2 * MIB;
	struct sim s;

	(void)a;
	for (uint32_t i = 1; i < 100000; i++) {
		c.client_host.random_seed = prng_mix(seed) + i;
		sim_init(&s, "seq_wrap", seed, &c);
		s.v.mangle = note_first_syn;
		first_seq = 0;
		sim_connect(&s);
		vnet_step(&s.v, mono_add(s.v.now, MS));
		if (first_seq > UINT32_MAX - near) {
			s.v.mangle = NULL;
			return sim_finish(&s, 600 * SEC);
		}
		sim_done(&s);
	}
	fprintf(stderr, "FAIL seq_wrap: no ISN near 2^32 in 100000 tries\n");
	return false;
}

/* The clock passes where 32 bits of milli- and microseconds end; connections idle through it. */
static bool run_clock_edges(const struct args *a, uint64_t seed)
{
	static const uint64_t edges_ns[] = {
		UINT64_C(0x100000000) * NS_PER_MS, /* 49.7 days: the timestamp clock */
		UINT64_C(0x80000000) * NS_PER_MS,
		UINT64_C(0x100000000) * NS_PER_US, /* 71 minutes */
		UINT64_C(0x80000000) * NS_PER_US,
		UINT64_C(0x100000000), /* 4.3 s */
	};
	struct sim_config c = {
		.up = bad_wire,
		.down = bad_wire,
		.client = { .send_total = MIB, .keeps_open = true },
		.server = { .send_total = MIB, .keeps_open = true },
	};
	struct sim s;

	(void)a;
	c.start.ns = edges_ns[seed % 5] - 2 * SEC;
	sim_init(&s, "clock_edges", seed, &c);
	sim_connect(&s);
	vnet_run(&s.v, 120 * SEC, NULL, NULL);
	if (s.server.rx_octets != MIB || s.client.rx_octets != MIB)
		sim_fail(&s, "1 MiB did not cross the edge in 120 s");
	/* 30 idle days: RFC 7323 5.5, the last timestamp is no more a reason to drop */
	vnet_run(&s.v, UINT64_C(30) * 86400 * SEC, NULL, NULL);
	s.client.profile.send_total = s.server.profile.send_total = 2 * MIB;
	s.client.profile.keeps_open = s.server.profile.keeps_open = false;
	sim_pump(&s);
	return sim_finish(&s, 600 * SEC);
}

/* Short connections, one after another and at once, some reset: memory stays bounded. */
static bool run_storm(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.up = { .delay_ns = MS, .loss_ppm = 2000 },
		.down = { .delay_ns = MS, .loss_ppm = 2000 },
		.client = { .send_total = 300 },
		.server = { .send_total = 1000 },
	};
	struct sim s;
	size_t at_half = 0;

	(void)a;
	sim_init(&s, "storm", seed, &c);
	for (int i = 0; i < 20000 && s.ok; i++) {
		int r;

		s.client.profile.aborts = prng_below(&s.v.random, 4) == 0;
		if (!vapp_connect(&s.client, s.h[1].addr, PORT, &r) && r != -EADDRNOTAVAIL &&
		    r != -ENOBUFS && r != -ENOMEM && r != -ENFILE && r != -EMFILE)
			sim_fail(&s, "connect failed in an unexpected way");
		vnet_run(&s.v, prng_below(&s.v.random, MS), NULL, NULL);
		if (i == 10000)
			at_half = mallinfo2().uordblks;
	}
	/* the ends of the test itself grow: 20 000 of two */
	size_t own = 2 * 10000 * (sizeof(struct vend) + 64);

	if (s.ok && at_half && mallinfo2().uordblks > at_half + own + 4 * MIB)
		sim_fail(&s, "memory grew with the number of connections ever made");
	for (struct vend *e = s.client.ends; e; e = e->next)
		vend_abort(e);
	vnet_run(&s.v, 30 * SEC, NULL, NULL);
	for (struct vend *e = s.server.ends; e; e = e->next)
		vend_abort(e);
	if (s.ok && s.client.bad_cnt + s.server.bad_cnt)
		sim_fail(&s, "octets changed");
	if (s.ok && s.server.end_cnt < 5000)
		sim_fail(&s, "fewer than 5000 connections came about");
	vapp_done(&s.client);
	vapp_done(&s.server);
	return sim_finish(&s, 600 * SEC);
}

/* MTU of a tunnel, of the least allowed, and jumbo on either side. */
static bool run_mtu(const struct args *a, uint64_t seed)
{
	static const uint32_t mtus[] = { 576, 1280, 1400, 1500, 9000 };
	struct prng r = { prng_mix(seed) };
	struct sim_config c = {
		.up = bad_wire,
		.down = bad_wire,
		.client = { .send_total = MIB },
		.server = { .send_total = MIB },
	};
	struct sim s;

	(void)a;
	c.client_host.mtu = mtus[prng_below(&r, 5)];
	c.server_host.mtu = mtus[prng_below(&r, 5)];
	c.client_host.gso = (enum ns_gso_mode)prng_below(&r, 3);
	c.up.is_cut = c.down.is_cut = prng_below(&r, 2);
	sim_init(&s, "mtu", seed, &c);
	sim_connect(&s);
	return sim_finish(&s, 600 * SEC);
}

/* A tunnel in the middle that swallows what is too long: RFC 4821 finds a way through. */
static bool run_black_hole(const struct args *a, uint64_t seed)
{
	static const uint32_t mtus[] = { 576, 1280, 1400, 1480 };
	struct prng r = { prng_mix(seed) };
	struct sim_config c = {
		.up = { .delay_ns = MS, .is_cut = true },
		.down = { .delay_ns = MS, .is_cut = true },
		.client = { .send_total = MIB },
		.server = { .send_total = MIB },
	};
	struct sim s;

	(void)a;
	c.up.hole_len = mtus[prng_below(&r, 4)] + 14;
	c.down.hole_len = mtus[prng_below(&r, 4)] + 14;
	c.client_host.gso = (enum ns_gso_mode)prng_below(&r, 3);
	sim_init(&s, "black_hole", seed, &c);
	sim_connect(&s);
	return sim_finish(&s, 600 * SEC);
}

/* Neighbours found by ARP over a wire that loses a tenth of everything. */
static bool run_arp(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.client_host = { .has_no_neigh = true },
		.server_host = { .has_no_neigh = true },
		.up = bad_wire,
		.down = bad_wire,
		.client = { .send_total = 20000 },
		.server = { .send_total = 20000 },
	};
	struct sim s;

	(void)a;
	c.up.loss_ppm = c.down.loss_ppm = 100000;
	sim_init(&s, "arp", seed, &c);
	sim_connect(&s);
	bool ok = vnet_run(&s.v, 900 * SEC, sim_all_closed, &s);

	/* three ARP requests can all be lost: then, and only then, is EHOSTUNREACH the right answer */
	if (s.ok && ok && s.client.failed_cnt && s.client.ends->err == -EHOSTUNREACH) {
		sim_done(&s);
		return true;
	}
	if (s.ok && !ok)
		sim_fail(&s, "not all ends closed in time");
	if (s.ok && !vapp_check_pairs(&s.client, &s.server))
		sim_fail(&s, "octets lost, doubled or changed");
	ok = s.ok;
	sim_done(&s);
	return ok;
}

/* Once over all of 2^32 sequence numbers, in each direction of counting. */
static bool run_soak_5gb(const struct args *a, uint64_t seed)
{
	struct sim_config c = {
		.client_host = { .gso = NS_GSO_HW },
		.server_host = { .gso = NS_GSO_HW },
		.up = { .delay_ns = 100 * NS_PER_US, .rate_Bps = 1250000000, .loss_ppm = 10 },
		.down = { .delay_ns = 100 * NS_PER_US },
		.client = { .send_total = UINT64_C(5) << 30 },
	};
	struct sim s;

	(void)a;
	sim_init(&s, "soak_5gb", seed, &c);
	sim_connect(&s);
	return sim_finish(&s, 3600 * SEC);
}

/* --- the grid -------------------------------------------------------------------------------- */

static const uint64_t grid_rtt_ms[] = { 1, 10, 50, 200 };
static const uint32_t grid_loss_ppm[] = { 0, 1000, 10000, 30000 };
static const uint32_t grid_buf[] = { 65536, 1048576, 0 };

/* Goodput in KB/s of 10 s over a 12.5 MB/s bottleneck, the mean of some seeds. */
static uint32_t grid_cell(uint64_t rtt_ms, uint32_t loss_ppm, uint32_t buf)
{
	struct sim_config c = {
		.up = { .delay_ns = rtt_ms * MS / 2,
			.loss_ppm = loss_ppm,
			.rate_Bps = 12500000,
			.queue_cnt = 200 },
		.down = { .delay_ns = rtt_ms * MS / 2 },
		.client = { .send_total = UINT64_MAX, .sndbuf = buf },
		.server = { .rcvbuf = buf },
	};
	/* without loss all seeds are alike; slow cells vary most and cost least */
	uint64_t seeds = !loss_ppm ? 1 : rtt_ms >= 50 ? 40 : 4, total = 0;
	struct sim s;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		sim_init(&s, "grid", seed, &c);
		sim_connect(&s);
		vnet_run(&s.v, 10 * SEC, NULL, NULL);
		total += s.server.rx_octets;
		sim_stop_sending(&s);
		if (!sim_finish(&s, 600 * SEC))
			return 0;
	}
	return (uint32_t)(total / seeds / 10 / 1000);
}

/* How the flows of a cell of the second table are controlled. */
static const struct {
	const char *name;
	enum ns_congestion congestion;
	bool is_paced;
} flow_kinds[] = {
	{ "cubic", NS_CC_CUBIC, false },
	{ "cubic-paced", NS_CC_CUBIC, true },
	{ "reno", NS_CC_RENO, false },
	{ "bbr", NS_CC_BBR, false },
};

static const uint32_t flows_cnt[] = { 1, 8 };
static const uint64_t flows_rtt_ms[] = { 10, 100 };
static const uint32_t flows_loss_ppm[] = { 0, 1000, 10000 };

struct flows {
	uint32_t goodput; /* KB/s of all of them, octets since the 2nd second */
	uint32_t jain;    /* permille */
};

/* Octets the server's end of the client's @port had received by the moment noted; 0: it was not there. */
static uint64_t flows_before(const struct vend *noted, uint32_t cnt, uint16_t port)
{
	for (uint32_t i = 0; i < cnt; i++)
		if (noted[i].port == port)
			return noted[i].rx_off;
	return 0;
}

/* Jain's index of what the servers' ends received since then: 1000 is fair, 1000/n is one flow alone. */
static struct flows flows_measure(const struct sim *s, const struct vend *noted, uint32_t cnt,
				  uint64_t secs)
{
	double sum = 0, squares = 0;
	uint32_t n = 0;

	for (const struct vend *e = s->server.ends; e; e = e->next, n++) {
		double x = (double)(e->rx_off - flows_before(noted, cnt, e->port));

		sum += x;
		squares += x * x;
	}
	return (struct flows){ .goodput = (uint32_t)(sum / (double)secs / 1000),
			       .jain = squares > 0 ? (uint32_t)(sum * sum * 1000 / (n * squares))
						   : 0 };
}

/* @cnt flows over a 12.5 MB/s bottleneck with a queue of a round trip, begun 50 ms after each other. */
static struct flows flows_cell(size_t kind, uint32_t cnt, uint64_t rtt_ms, uint32_t loss_ppm)
{
	struct sim_config c = {
		.up = { .delay_ns = rtt_ms * MS / 2,
			.loss_ppm = loss_ppm,
			.rate_Bps = 12500000,
			.queue_cnt = (uint32_t)(12500 * rtt_ms / 1514) },
		.down = { .delay_ns = rtt_ms * MS / 2 },
		.client = { .send_total = UINT64_MAX,
			    .congestion = (uint8_t)flow_kinds[kind].congestion },
	};
	struct flows f = { 0 };
	struct vend noted[8];
	uint32_t n = 0;
	struct sim s;

	sim_init(&s, "grid", 1, &c);
	if (ns_stack_set_knob(s.h[0].stack, NS_KNOB_tcp_pacing, flow_kinds[kind].is_paced))
		sim_fail(&s, "no such knob");
	for (uint32_t i = 0; i < cnt; i++) {
		sim_connect(&s);
		vnet_run(&s.v, 50 * MS, NULL, NULL);
	}
	vnet_run(&s.v, 2 * SEC, NULL, NULL);
	for (const struct vend *e = s.server.ends; e && n < 8; e = e->next)
		noted[n++] = *e;
	vnet_run(&s.v, 10 * SEC, NULL, NULL);
	f = flows_measure(&s, noted, n, 10);
	sim_stop_sending(&s);
	return sim_finish(&s, 600 * SEC) ? f : (struct flows){ 0 };
}

/* The cell of the second golden table, zero when there is none. */
static struct flows golden_flows(const char *text, size_t kind, uint32_t cnt, uint64_t rtt_ms,
				 uint32_t loss_ppm)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		unsigned flows, rtt, loss, goodput, jain;
		char name[32];

		line += *line == '\n';
		if (sscanf(line, "%31[a-z-] %u %u %u %u %u", name, &flows, &rtt, &loss, &goodput,
			   &jain) == 6 &&
		    !strcmp(name, flow_kinds[kind].name) && flows == cnt && rtt == rtt_ms &&
		    loss == loss_ppm)
			return (struct flows){ goodput, jain };
	}
	return (struct flows){ 0 };
}

/* One row of the second table. */
static bool flows_row(const char *golden, FILE *out, size_t kind, uint32_t cnt, uint64_t rtt_ms,
		      uint32_t loss_ppm)
{
	struct flows was = golden_flows(golden, kind, cnt, rtt_ms, loss_ppm);
	struct flows is = flows_cell(kind, cnt, rtt_ms, loss_ppm);
	bool worse = is.goodput * 100 < was.goodput * 80 || is.jain * 100 < was.jain * 80;
	char row[128];

	snprintf(row, sizeof(row), "%-12s %u %4u %6u %6u %5u", flow_kinds[kind].name, cnt,
		 (unsigned)rtt_ms, loss_ppm, is.goodput, is.jain);
	printf("%c %s", worse ? '-' : ' ', row);
	printf(worse ? "   golden %u %u\n" : "\n", was.goodput, was.jain);
	if (out)
		fprintf(out, "%s\n", row);
	return is.goodput && !worse && (was.goodput || out);
}

static bool flows_table(const char *golden, FILE *out)
{
	bool ok = true;

	if (out)
		fputs("# several flows, queue of a round trip; from the 2nd to the 12th second\n"
		      "# control flows rtt_ms loss_ppm KB_per_s(all) Jain_permille\n",
		      out);
	for (size_t i = 0; i < sizeof(flow_kinds) / sizeof(flow_kinds[0]); i++)
		for (size_t j = 0; j < 2; j++)
			for (size_t k = 0; k < 2; k++)
				for (size_t l = 0; l < 3; l++)
					ok &= flows_row(golden, out, i, flows_cnt[j],
							flows_rtt_ms[k], flows_loss_ppm[l]);
	return ok;
}

/* The cell of the golden table, 0 when the table has none. */
static uint32_t golden_cell(const char *text, uint64_t rtt_ms, uint32_t loss_ppm, uint32_t buf)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		unsigned rtt, loss, size, value;

		line += *line == '\n';
		if (sscanf(line, "%u %u %u %u", &rtt, &loss, &size, &value) == 4 && rtt == rtt_ms &&
		    loss == loss_ppm && size == buf)
			return value;
	}
	return 0;
}

static char *read_text(const char *path)
{
	static char text[65536];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = 0;
	if (f)
		fclose(f);
	return text;
}

/*
 * The table is compared cell by cell: a fifth less than the golden value is a failure, a third more
 * asks for --update. Losses are drawn anew by any change of what is sent when, so a cell is a
 * sample, not a constant.
 */
static bool run_grid(const struct args *a, uint64_t seed)
{
	const char *golden = a->golden ? read_text(a->golden) : "";
	FILE *out = a->is_update && a->golden ? fopen(a->golden, "w") : NULL;
	bool ok = true;

	(void)seed;
	if (out)
		fputs("# goodput over a 12.5 MB/s bottleneck, written by sim_transfer grid --update\n"
		      "# rtt_ms loss_ppm buffer_octets(0:auto) KB_per_s\n",
		      out);
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 4; j++)
			for (size_t k = 0; k < 3; k++) {
				uint32_t was = golden_cell(golden, grid_rtt_ms[i], grid_loss_ppm[j],
							   grid_buf[k]);
				uint32_t is =
					grid_cell(grid_rtt_ms[i], grid_loss_ppm[j], grid_buf[k]);
				bool worse = is * 100 < was * 80, better = is * 100 > was * 130;

				printf("%c %4u %6u %8u %6u",
				       worse    ? '-'
				       : better ? '+'
						: ' ',
				       (unsigned)grid_rtt_ms[i], grid_loss_ppm[j], grid_buf[k], is);
				printf(worse || better ? "   golden %u\n" : "\n", was);
				if (out)
					fprintf(out, "%4u %6u %8u %6u\n", (unsigned)grid_rtt_ms[i],
						grid_loss_ppm[j], grid_buf[k], is);
				ok = ok && is && !worse && (was || a->is_update);
			}
	ok &= flows_table(golden, out);
	if (out && fclose(out))
		ok = false;
	return a->is_update ? true : ok;
}

/* --- the program ----------------------------------------------------------------------------- */

static const struct scenario {
	const char *name;
	bool (*run)(const struct args *a, uint64_t seed);
	uint32_t seeds; /* in a release build */
} scenarios[] = {
	{ "lossy", run_lossy, 100 },
	{ "whole", run_whole, 10 },
	{ "corrupt", run_corrupt, 10 },
	{ "many", run_many, 4 },
	{ "half_close", run_half_close, 10 },
	{ "slow_reader", run_slow_reader, 10 },
	{ "eagain", run_eagain, 9 },
	{ "gso_refused", run_gso_refused, 10 },
	{ "link_down", run_link_down, 10 },
	{ "seq_wrap", run_seq_wrap, 5 },
	{ "clock_edges", run_clock_edges, 10 },
	{ "storm", run_storm, 1 },
	{ "mtu", run_mtu, 20 },
	{ "black_hole", run_black_hole, 8 },
	{ "arp", run_arp, 20 },
	{ "grid", run_grid, 1 },
	{ "soak_5gb", run_soak_5gb, 1 },
	{ "lossy_accecn", run_lossy, 10 },
	{ "many_accecn", run_many, 2 },
	{ "whole_bbr", run_whole, 5 },
	{ "corrupt_bbr", run_corrupt, 5 },
	{ "many_bbr", run_many, 2 },
	{ "link_down_bbr", run_link_down, 5 },
	{ "lossy_v6", run_lossy, 20 },
	{ "whole_v6", run_whole, 10 },
	{ "corrupt_v6", run_corrupt, 10 },
	{ "many_v6", run_many, 4 },
	{ "eagain_v6", run_eagain, 9 },
	{ "gso_refused_v6", run_gso_refused, 10 },
	{ "link_down_v6", run_link_down, 10 },
	{ "neigh_v6", run_arp, 20 },
};

static int usage(void)
{
	fprintf(stderr, "usage: sim_transfer SCENARIO [--seeds N] [--first SEED] [--golden FILE "
			"[--update]]\n       sim_transfer --list\n");
	return 2;
}

static bool args_read(struct args *a, int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--update"))
			a->is_update = true;
		else if (i + 1 == argc)
			return false;
		else if (!strcmp(argv[i], "--seeds"))
			a->seeds = (uint32_t)strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--first"))
			a->first = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--golden"))
			a->golden = argv[++i];
		else
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct args a = { .first = 1 };
	const struct scenario *sc = NULL;
	uint32_t failed = 0;

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], "--list"))
			puts(scenarios[i].name);
		else if (argc > 1 && !strcmp(argv[1], scenarios[i].name))
			sc = &scenarios[i];
	}
	if (argc == 2 && !strcmp(argv[1], "--list"))
		return 0;
	if (!sc || !args_read(&a, argc, argv))
		return usage();
	if (!a.seeds)
		a.seeds = sc->seeds;
	is_v6 = strstr(sc->name, "_v6") != NULL;
	if (strstr(sc->name, "_accecn")) {
		knob = NS_KNOB_tcp_ecn;
		knob_value = 3;
	} else if (strstr(sc->name, "_bbr")) {
		knob = NS_KNOB_tcp_congestion_control;
		knob_value = NS_CC_BBR;
	}
	clock_t start = clock();

	for (uint32_t i = 0; i < a.seeds; i++)
		failed += !sc->run(&a, a.first + i);
	printf("%s: %u of %u seeds from %llu on failed, %.1f s of processor time\n", sc->name,
	       failed, a.seeds, (unsigned long long)a.first,
	       (double)(clock() - start) / CLOCKS_PER_SEC);
	return failed != 0;
}
