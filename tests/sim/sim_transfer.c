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

#include "sim.h"

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
		if (!vapp_connect(&s.client, s.h[1].addr, SIM_PORT, &r) && r != -EADDRNOTAVAIL &&
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
	sim_variant.is_v6 = strstr(sc->name, "_v6") != NULL;
	if (strstr(sc->name, "_accecn")) {
		sim_variant.knob = NS_KNOB_tcp_ecn;
		sim_variant.value = 3;
	} else if (strstr(sc->name, "_bbr")) {
		sim_variant.knob = NS_KNOB_tcp_congestion_control;
		sim_variant.value = NS_CC_BBR;
	}
	clock_t start = clock();

	for (uint32_t i = 0; i < a.seeds; i++)
		failed += !sc->run(&a, a.first + i);
	printf("%s: %u of %u seeds from %llu on failed, %.1f s of processor time\n", sc->name,
	       failed, a.seeds, (unsigned long long)a.first,
	       (double)(clock() - start) / CLOCKS_PER_SEC);
	return failed != 0;
}
