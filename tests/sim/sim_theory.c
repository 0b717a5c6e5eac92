/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_theory.c - goodput under random loss against what the literature says of the congestion control
 *
 * Theory of operation
 *
 * Over a wire without a bottleneck that loses each segment with probability p the mean window is that of theory.h
 * segments, and goodput is that many a round trip. Both formulas are of a world with a loss every 1/p segments exactly, without
 * timeouts and without delayed acknowledgements: a real sender is near the formula, not on it. Goodput is
 * measured after a warm-up, so that slow start is not in it, over as long as CYCLES losses take, the mean of some
 * seeds; it has to lie between LEAST and MOST of the formula. Above by more would be a sender that does not
 * give way, below by more one that recovers badly.
 *
 * BBR has no such formula: it is to fill a bottleneck, whatever is lost up to some percent, and to keep no more than twice
 * what the path holds under way, so that a deep queue does not fill (draft-cardwell-iccrg-bbr-congestion-control-00
 * 4.2.3.2, cwnd_gain). So its cells have a bottleneck with a queue of QUEUE_BDPS bandwidth-delay products; goodput has to
 * be BBR_LEAST of it, and no smoothed round trip longer than BBR_QUEUE times that of the wire.
 *
 * The golden table of sim_transfer grid says that goodput is what it was; this says that it is what it should be.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/vapp.h"
#include "support/vwire.h"
#include "theory.h"

enum {
	PORT = 80,
	PAYLOAD = 1448, /* octets of a segment with timestamps */
	WARM_UP_CYCLES = 20,
	CYCLES = 60, /* losses a measurement is long */
	SEEDS = 3,
	FRAME = PAYLOAD + 66,
	RATE_Bps = 6250000, /* of BBR's bottleneck */
	QUEUE_BDPS = 4,
	BBR_WARM_UP_SECS = 10, /* startup and drain, at the longest round trip */
	BBR_SECS = 20,         /* two turns of PROBE_RTT */
};

#define SEC   (UINT64_C(1000) * NS_PER_MS)
#define LEAST 0.8
#define MOST  1.3

#define BBR_LEAST 0.9
#define BBR_QUEUE 2.1

struct cell {
	enum ns_congestion cc;
	uint64_t rtt_ms;
	uint32_t loss_ppm;
};

/* Octets a second by the formula. */
static double by_formula(const struct cell *c)
{
	double p = c->loss_ppm / 1e6, rtt = (double)c->rtt_ms / 1e3;

	return (c->cc == NS_CC_RENO ? theory_reno(p) : theory_cubic(p, rtt)) * PAYLOAD / rtt;
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

struct bbr_result {
	double goodput; /* octets a second */
	double rtt_max; /* the longest smoothed round trip of those seen, of the wire's */
};

static struct bbr_result bbr_measured(const struct cell *c)
{
	const struct vhost_config host = { 0 };
	const uint64_t delay_ns = c->rtt_ms * NS_PER_MS / 2;
	const struct vwire_dir up = { .delay_ns = delay_ns,
				      .loss_ppm = c->loss_ppm,
				      .rate_Bps = RATE_Bps,
				      .queue_cnt = (uint32_t)(QUEUE_BDPS * c->rtt_ms *
							      (RATE_Bps / 1000) / FRAME) };
	const struct vwire_dir down = { .delay_ns = delay_ns };
	const struct vprofile sender = { .send_total = UINT64_MAX, .congestion = NS_CC_BBR };
	const struct vprofile receiver = { 0 };
	struct bbr_result result = { 0 };
	struct vapp client, server;
	struct ns_tcp_info info;
	struct vend *end;
	struct vhost *h;
	struct vnet v;
	uint64_t before;
	int r;

	vnet_init(&v, 1, (struct mono){ 1000 * SEC });
	h = vnet_add_pair(&v, &host, &host, &up, &down);
	vapp_init(&client, &h[0], &sender);
	vapp_init(&server, &h[1], &receiver);
	vapp_listen(&server, PORT, 16);
	end = vapp_connect(&client, h[1].addr, PORT, &r);
	vnet_run(&v, BBR_WARM_UP_SECS * SEC, NULL, NULL);
	before = server.rx_octets;
	for (uint32_t i = 0; end && i < BBR_SECS * 10; i++) {
		vnet_run(&v, SEC / 10, NULL, NULL);
		if (ns_sock_tcp_info(h[0].stack, end->sock, v.now, &info) == 0)
			result.rtt_max =
				fmax(result.rtt_max, info.rtt_us / 1e3 / (double)c->rtt_ms);
	}
	result.goodput = (double)(server.rx_octets - before) / BBR_SECS;
	vapp_done(&client);
	vapp_done(&server);
	vnet_done(&v);
	return result;
}

static bool bbr_is_as_it_should_be(const struct cell *c)
{
	double want = (double)RATE_Bps * PAYLOAD / FRAME * (1 - c->loss_ppm / 1e6);
	struct bbr_result is = bbr_measured(c);
	bool ok = is.goodput >= BBR_LEAST * want && is.rtt_max <= BBR_QUEUE;

	printf("%c bbr   rtt %3u ms loss %6.3f %%: %8.0f KB/s, bottleneck %5.0f, ratio %.2f, round trip at most %.2f\n",
	       ok ? ' ' : '!', (unsigned)c->rtt_ms, c->loss_ppm / 1e4, is.goodput / 1e3, want / 1e3,
	       is.goodput / want, is.rtt_max);
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
	for (size_t j = 0; j < sizeof(rtt_ms) / sizeof(rtt_ms[0]); j++) {
		bad += !bbr_is_as_it_should_be(&(struct cell){ NS_CC_BBR, rtt_ms[j], 0 });
		for (size_t k = 0; k < sizeof(loss_ppm) / sizeof(loss_ppm[0]); k++)
			bad += !bbr_is_as_it_should_be(
				&(struct cell){ NS_CC_BBR, rtt_ms[j], loss_ppm[k] });
	}
	printf("%u cells outside of %.2f to %.2f of the formula, or of BBR's bounds\n", bad, LEAST,
	       MOST);
	return bad != 0;
}
