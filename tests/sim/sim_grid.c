/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_grid.c - goodput and fairness over grids of paths, against a golden table and against theory
 *
 * Theory of operation
 *
 * Two tables, both in goodput.golden. The first is one CUBIC flow with several socket buffers over a wire of 100
 * Mbit/s, the first ten seconds. The second is one and eight equal flows of each congestion control over a bottleneck
 * of 20 Mbit/s: round trip x random loss x late segments x the bottleneck's queue, which is in bandwidth-delay products and
 * QUEUE_LEAST at the least, as tests/bench/goodput has it of kernel and daemon in real time. A late segment
 * arrives an eighth of the round trip behind its turn.
 *
 * How long it takes until equal flows have equal shares. Each time a window falls, windows that differ come nearer to
 * each other by the factor they fall by, if all fall at the same time (Chiu and Jain 1989); when some do and others do
 * not it takes more such turns, and the index is noise around something below 1. So a cell is measured by
 * turns and not by seconds: TURNS_RENO to settle and as many that count, twice as many with CUBIC, whose factor is 0.7 and
 * not 0.5 (0.7^2 = 0.49). A turn is the time from one fall to the next of a flow that has
 * its share of path and queue, or the window that the random losses leave it, if that is less (at the top of a
 * sawtooth; Mathis 1997): half of it back, a segment a round trip, with Reno, K with CUBIC (theory.h). BBR has no falls: its
 * turn is the ten seconds from one probe of the round trip, at which all give way, to the next, and it gets TURNS_BBR;
 * one where no flow has a share, since the four segments that version 1 always has out are more than the path holds, and
 * whoever is locked out by the others' (Floyd and Jacobson) stays so the longer.
 *
 * Every row has the goodput of all flows, what that is of theory's (the bottleneck, or as many windows a round trip as
 * there are flows), and Jain's index: (sum x)^2 / (n sum x^2). Rows have to have JAIN_LEAST, except where
 * is_index_due() says why not. Else golden values are what a row is compared with.
 *
 * Equal flows over a queue that drops its tail would run in lockstep without noise, some losing all and others nothing
 * for ever (Floyd and Jacobson 1991, "phase effects"); the remedy is theirs: up to a segment's time at the bottleneck at random.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "theory.h"

/* --- the second table ------------------------------------------------------------------------ */

enum {
	RATE_Bps = 2500000,
	FRAME = 1514,
	MSS = 1448,
	FLOWS_MAX = 8,
	QUEUE_LEAST = 32768, /* octets */
	TURNS_RENO = 8,
	TURNS_CUBIC = 16,
	TURNS_BBR = 6,
	BBR_SECS = 10,  /* RTpropFilterLen */
	SECS_LEAST = 4, /* of each half of a run */
	SECS_MOST = 64,
	SECS_ALONE = 5, /* of a flow that has nobody to be equal to */
	JAIN_LEAST = 900,
	SHARE_LEAST = 4, /* segments: below, losses show no three behind them and timeouts decide */
};

static const struct control {
	const char *name;
	enum ns_congestion congestion;
	bool is_paced;
} controls[] = {
	{ "cubic", NS_CC_CUBIC, false },
	{ "cubic-paced", NS_CC_CUBIC, true },
	{ "reno", NS_CC_RENO, false },
	{ "bbr", NS_CC_BBR, false },
};

/* A cell of the grid: a path, and who is on it. */
struct path {
	const struct control *control;
	uint32_t flow_cnt;
	uint32_t rtt_us, loss_ppm, late_ppm;
	uint32_t buffer_permille; /* of the bandwidth-delay product */
};

struct shares {
	uint32_t goodput;  /* KB/s of all of them */
	uint32_t permille; /* of theory */
	uint32_t jain;     /* permille */
	uint32_t secs;     /* that counted */
};

/* What the path holds, and what its queue does, in segments. */
static double path_segs(const struct path *p)
{
	return (double)RATE_Bps * p->rtt_us / 1e6 / FRAME;
}

static double queue_segs(const struct path *p)
{
	double least = (double)QUEUE_LEAST / FRAME;
	double segs = path_segs(p) * p->buffer_permille / 1e3;

	return segs < least ? least : segs;
}

/* The share of a flow, in segments, where nothing but the path is its limit */
static double share_segs(const struct path *p)
{
	return (path_segs(p) + queue_segs(p)) / p->flow_cnt;
}

/* Seconds until equal flows should be equal: see above. */
static double settling_secs(const struct path *p)
{
	double rtt = p->rtt_us / 1e6, window = share_segs(p);
	double trip = rtt + queue_segs(p) * FRAME / RATE_Bps / 2;
	double lossy = p->loss_ppm ? sqrt(8 / 3.0 / (p->loss_ppm / 1e6)) : HUGE_VAL;

	if (lossy < window) {
		window = lossy;
		trip = rtt;
	}
	switch (p->control->congestion) {
	case NS_CC_CUBIC:
		return TURNS_CUBIC * theory_cubic_turn(window, trip);
	case NS_CC_RENO:
		return TURNS_RENO * theory_reno_turn(window, trip);
	case NS_CC_BBR:
	case NS_CC_COUNT:
		break;
	}
	return share_segs(p) < SHARE_LEAST ? BBR_SECS : TURNS_BBR * BBR_SECS;
}

/* KB/s by theory */
static double goodput_due(const struct path *p)
{
	double all = (double)RATE_Bps * MSS / FRAME / 1e3, loss = p->loss_ppm / 1e6;
	double trip = p->rtt_us / 1e6, window = HUGE_VAL;

	if (loss > 0 && p->control->congestion == NS_CC_RENO)
		window = theory_reno(loss);
	else if (loss > 0 && p->control->congestion == NS_CC_CUBIC)
		window = theory_cubic(loss, trip);
	return fmin(all * (1 - loss), window * MSS / trip / 1e3 * p->flow_cnt);
}

/* Seconds of each half of the cell's run */
static uint32_t half_secs(const struct path *p)
{
	if (p->flow_cnt == 1)
		return SECS_ALONE;
	return (uint32_t)fmin(fmax(settling_secs(p) + 1, SECS_LEAST), SECS_MOST);
}

/* Octets the server's end of the client's @port had received by the moment noted; 0: it was not there. */
static uint64_t octets_before(const struct vend *noted, uint32_t cnt, uint16_t port)
{
	for (uint32_t i = 0; i < cnt; i++)
		if (noted[i].port == port)
			return noted[i].rx_off;
	return 0;
}

/* What the servers' ends received since then: an index of 1000 is fair, 1000/n is one flow alone. */
static struct shares shares_since(const struct sim *s, const struct vend *noted, uint32_t cnt,
				  const struct path *p, uint32_t secs)
{
	double sum = 0, squares = 0;
	struct shares is = { .secs = secs };
	uint32_t n = 0;

	for (const struct vend *e = s->server.ends; e; e = e->next, n++) {
		double x = (double)(e->rx_off - octets_before(noted, cnt, e->port));

		sum += x;
		squares += x * x;
	}
	if (squares <= 0)
		return is;
	is.goodput = (uint32_t)(sum / secs / 1000);
	is.permille = (uint32_t)(sum / secs / goodput_due(p));
	is.jain = (uint32_t)(sum * sum * 1000 / (n * squares));
	return is;
}

static struct shares path_cell(const struct path *p, uint64_t seed)
{
	const uint64_t delay_ns = p->rtt_us * NS_PER_US / 2;
	struct sim_config c = {
		.up = { .delay_ns = delay_ns,
			.jitter_ns = FRAME * SEC / RATE_Bps,
			.late_ns = delay_ns / 4,
			.loss_ppm = p->loss_ppm,
			.reorder_ppm = p->late_ppm,
			.rate_Bps = RATE_Bps,
			.queue_cnt = (uint32_t)queue_segs(p) },
		.down = { .delay_ns = delay_ns },
		.client = { .send_total = UINT64_MAX,
			    .congestion = (uint8_t)p->control->congestion },
	};
	uint32_t secs = half_secs(p);
	struct shares is = { 0 };
	struct vend noted[FLOWS_MAX];
	uint32_t n = 0;
	struct sim s;

	sim_init(&s, "grid", seed, &c);
	if (ns_stack_set_knob(s.h[0].stack, NS_KNOB_tcp_pacing, p->control->is_paced))
		sim_fail(&s, "no such knob");
	for (uint32_t i = 0; i < p->flow_cnt; i++)
		sim_connect(&s);
	vnet_run(&s.v, secs * SEC, NULL, NULL);
	for (const struct vend *e = s.server.ends; e && n < FLOWS_MAX; e = e->next)
		noted[n++] = *e;
	vnet_run(&s.v, secs * SEC, NULL, NULL);
	is = shares_since(&s, noted, n, p, secs);
	sim_stop_sending(&s);
	return sim_finish(&s, 600 * SEC) ? is : (struct shares){ 0 };
}

/* Queues that are the least there is are alike, so one stands for them; what costs time and shows nothing new is left out. */
static bool is_in_grid(const struct path *p)
{
	if (p->control->is_paced && (p->flow_cnt == 1 || p->late_ppm || p->loss_ppm == 1000))
		return false; /* who shares a queue is what pacing is about */
	if (p->late_ppm && p->loss_ppm == 1000)
		return false; /* late segments alone, and where losses are many */
	return path_segs(p) * p->buffer_permille / 1e3 * FRAME > QUEUE_LEAST ||
	       p->buffer_permille == 1000;
}

/* Where theory does not promise what the row is asked for. */
static bool is_index_due(const struct path *p)
{
	if (share_segs(p) < SHARE_LEAST) /* RFC 5681 3.2, RFC 8985 3.3.1 */
		return false;
	/* BBR: where the queue is neither short nor long enough for two windows of each, it is chance whose are dropped */
	if (p->control->congestion == NS_CC_BBR)
		return queue_segs(p) < path_segs(p) / 2 || queue_segs(p) > 2 * path_segs(p);
	/* a run that was too long to be simulated whole: windows have not fallen as often as it takes */
	return settling_secs(p) <= SECS_MOST;
}

static void path_name(const struct path *p, char *to, size_t len)
{
	snprintf(to, len, "%-11s %u %6u %5u %5u %4u", p->control->name, p->flow_cnt, p->rtt_us,
		 p->loss_ppm, p->late_ppm, p->buffer_permille);
}

/* The row of the second golden table, zero when there is none. */
static struct shares golden_shares(const char *text, const char *name)
{
	struct shares was = { 0 };
	const char *at = strstr(text, name);

	if (at && sscanf(at + strlen(name), "%u %u %u %u", &was.goodput, &was.permille, &was.jain,
			 &was.secs) != 4)
		return (struct shares){ 0 };
	return was;
}

/* One row of the second table. */
static bool path_row(const char *golden, FILE *out, const struct path *p)
{
	char name[64];
	struct shares was, is = path_cell(p, 1);
	bool is_worse, is_unfair = is.jain < JAIN_LEAST && is_index_due(p);

	path_name(p, name, sizeof(name));
	was = golden_shares(golden, name);
	is_worse = is.goodput * 100 < was.goodput * 80 || is.jain * 100 < was.jain * 80;
	printf("%c %s %6u %5u %5u %3u", is_worse || is_unfair ? '-' : ' ', name, is.goodput,
	       is.permille, is.jain, is.secs);
	printf(is_worse ? "   golden %u %u\n" : "\n", was.goodput, was.jain);
	if (out)
		fprintf(out, "%s %6u %5u %5u %3u\n", name, is.goodput, is.permille, is.jain,
			is.secs);
	return is.goodput && !is_worse && !is_unfair && (was.goodput || out);
}

static bool paths_table(const char *golden, FILE *out)
{
	static const uint32_t flow_cnt[] = { 1, 8 }, rtt_us[] = { 100, 10000, 50000, 200000 };
	static const uint32_t late_ppm[] = { 0, 10000 }, loss_ppm[] = { 0, 1000, 10000 };
	static const uint32_t buffer[] = { 200, 1000, 4000 };
	bool ok = true;

	if (out)
		fputs("# equal flows over 2.5 MB/s: see sim_grid.c\n"
		      "# control flows rtt_us loss_ppm late_ppm queue_permille KB_per_s(all) permille_of_theory Jain_permille secs\n",
		      out);
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		for (size_t cell = 0; cell < 2 * 4 * 2 * 3 * 3; cell++) {
			struct path p = { &controls[i],           flow_cnt[cell / 72],
					  rtt_us[cell / 18 % 4],  loss_ppm[cell % 3],
					  late_ppm[cell / 9 % 2], buffer[cell / 3 % 3] };

			if (is_in_grid(&p))
				ok &= path_row(golden, out, &p);
		}
	return ok;
}

/* --- the first ------------------------------------------------------------------------------- */

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
	uint64_t seeds = !loss_ppm ? 1 : rtt_ms >= 50 ? 16 : 4, total = 0;
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
bool run_grid(const struct args *a, uint64_t seed)
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
	ok &= paths_table(golden, out);
	if (out && fclose(out))
		ok = false;
	return a->is_update ? true : ok;
}
