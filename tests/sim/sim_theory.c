/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_theory.c - goodput under random loss against what the literature says of the congestion control
 *
 * Theory of operation
 *
 * Over a wire without a bottleneck that loses each segment with probability p, the mean window is
 *
 *	Reno	sqrt(3 / (2 p))					Mathis et al. 1997; RFC 9438 4.3 with beta 0.5
 *	CUBIC	(C (3 + beta) / (4 (1 - beta)))^(1/4) RTT^(3/4) / p^(3/4)		RFC 9438 5.1
 *		with C = 0.4, beta = 0.7, and never less than Reno's (the Reno-friendly region)
 *
 * segments, and goodput is that many a round trip. Both are of a world with a loss every 1/p segments exactly, without
 * timeouts and without delayed acknowledgements: a real sender is near the formula, not on it. Goodput is
 * measured after a warm-up, so that slow start is not in it, over as long as CYCLES losses take, the mean of some
 * seeds; it has to lie between LEAST and MOST of the formula. Above by more would be a sender that does not
 * give way, below by more one that recovers badly.
 *
 * The golden table of sim_transfer grid says that goodput is what it was; this says that it is what it should be.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/vapp.h"
#include "support/vwire.h"

enum {
	PORT = 80,
	PAYLOAD = 1448, /* octets of a segment with timestamps */
	WARM_UP_CYCLES = 20,
	CYCLES = 60, /* losses a measurement is long */
	SEEDS = 3,
};

#define SEC   (UINT64_C(1000) * NS_PER_MS)
#define LEAST 0.8
#define MOST  1.3

struct cell {
	enum ns_congestion cc;
	uint64_t rtt_ms;
	uint32_t loss_ppm;
};

static double window_reno(double p)
{
	return sqrt(1.5 / p);
}

static double window_cubic(double p, double rtt)
{
	const double c = 0.4, beta = 0.7;
	double w = pow(c * (3 + beta) / (4 * (1 - beta)), 0.25) * pow(rtt, 0.75) / pow(p, 0.75);

	return fmax(w, window_reno(p));
}

/* Octets a second by the formula. */
static double by_formula(const struct cell *c)
{
	double p = c->loss_ppm / 1e6, rtt = (double)c->rtt_ms / 1e3;

	return (c->cc == NS_CC_RENO ? window_reno(p) : window_cubic(p, rtt)) * PAYLOAD / rtt;
}

/* Octets a second that arrive at the peer's program. */
static double measured(const struct cell *c, uint64_t seed, uint64_t cycle_ns)
{
	const struct vhost_config host = { 0 };
	const struct vwire_dir up = { .delay_ns = c->rtt_ms * NS_PER_MS / 2,
				      .loss_ppm = c->loss_ppm,
				      .queue_cnt = 1 << 20 };
	const struct vwire_dir down = { .delay_ns = c->rtt_ms * NS_PER_MS / 2 };
	const struct vprofile sender = { .send_total = UINT64_MAX }, receiver = { 0 };
	struct vapp client, server;
	struct vend *end;
	struct vhost *h;
	struct vnet v;
	uint64_t before;
	int r;

	vnet_init(&v, seed, (struct mono){ 1000 * SEC });
	h = vnet_add_pair(&v, &host, &host, &up, &down);
	vapp_init(&client, &h[0], &sender);
	vapp_init(&server, &h[1], &receiver);
	vapp_listen(&server, PORT, 16);
	end = vapp_connect(&client, h[1].addr, PORT, &r);
	if (!end || ns_sock_setopt(h[0].stack, end->sock, NS_TCP_CONGESTION, (int)c->cc) < 0)
		return 0;
	vnet_run(&v, WARM_UP_CYCLES * cycle_ns, NULL, NULL);
	before = server.rx_octets;
	vnet_run(&v, CYCLES * cycle_ns, NULL, NULL);
	before = server.rx_octets - before;
	vapp_done(&client);
	vapp_done(&server);
	vnet_done(&v);
	return (double)before / ((double)(CYCLES * cycle_ns) / 1e9);
}

static bool is_as_it_should_be(const struct cell *c)
{
	double want = by_formula(c), is = 0;
	uint64_t cycle_ns = (uint64_t)(1e6 / c->loss_ppm * PAYLOAD / want * 1e9);
	bool ok;

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		is += measured(c, seed, cycle_ns) / SEEDS;
	ok = is >= LEAST * want && is <= MOST * want;
	printf("%c %-5s rtt %3u ms loss %6.3f %%: %8.0f KB/s, formula %8.0f, ratio %.2f\n",
	       ok ? ' ' : '!', c->cc == NS_CC_RENO ? "reno" : "cubic", (unsigned)c->rtt_ms,
	       c->loss_ppm / 1e4, is / 1e3, want / 1e3, is / want);
	return ok;
}

int main(void)
{
	static const uint64_t rtt_ms[] = { 10, 50, 200 };
	static const uint32_t loss_ppm[] = { 500, 2000, 10000 };
	static const enum ns_congestion cc[] = { NS_CC_RENO, NS_CC_CUBIC };
	uint32_t bad = 0;

	for (size_t i = 0; i < sizeof(cc) / sizeof(cc[0]); i++)
		for (size_t j = 0; j < sizeof(rtt_ms) / sizeof(rtt_ms[0]); j++)
			for (size_t k = 0; k < sizeof(loss_ppm) / sizeof(loss_ppm[0]); k++)
				bad += !is_as_it_should_be(
					&(struct cell){ cc[i], rtt_ms[j], loss_ppm[k] });
	printf("%u cells outside of %.2f to %.2f of the formula\n", bad, LEAST, MOST);
	return bad != 0;
}
