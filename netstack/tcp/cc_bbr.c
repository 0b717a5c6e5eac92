/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_bbr.c - BBR, version 1: a model of the path instead of an answer to loss
 *
 * Theory of operation
 *
 * The model has two numbers: the highest delivery rate of the last ten round trips (the bottleneck's, "bw")
 * and the least round trip of the last ten seconds ("rtprop"). Their product is what the path holds. The
 * rate at which octets leave is gain * bw, the window a multiple of the product, large enough not to be
 * the limit. Since both numbers cannot be seen at once (a full pipe has a queue, an empty one has no
 * rate), four states take turns:
 *
 *   startup    gain 2/ln 2: the rate doubles each round trip, until three rounds have brought less than a quarter
 *   drain      the inverse: the queue startup made goes away
 *   probe_bw   eight phases of an rtprop each: 5/4 to see if there is more, 3/4 to take the queue back, six of 1
 *   probe_rtt  after ten seconds without a lower round trip: four segments for 200 ms and a round
 *
 * A loss is no sign of congestion here. It costs one round in which as much leaves as arrives (packet
 * conservation); then the window is what it was before. Explicit marks are ignored, as in Linux.
 *
 * A round is over when something is acknowledged that was sent after the last round's end; told by how many
 * octets were delivered when it was sent (tcp_rate.c).
 *
 * One kind of loss is answered all the same. Where the queue is short, flows of version 1 together ask for more than there
 * is, lose a tenth of it for good, and their shares wander: a quarter more and a quarter less favours neither the
 * large flow nor the small one. So a round that lost more than a fiftieth while a short queue stood from its beginning to
 * its end (its least round trip is above rtprop, by less than half) puts a ceiling on the window, below what was in the
 * network. Each clean round lifts it, by a segment first, then by half as much again each time, until the model asks for
 * less and it is gone. What is taken is a part of the share and what is added is not, so shares meet, as with RFC
 * 5681. What a probe itself loses is its price, a wire that loses without a queue puts no ceiling on anything, and a long
 * queue is filled by the windows alone, which are equal already: there a ceiling would single out whom the loss met.
 *
 * The rest is version 1, because that is what "bbr" means to a program on Linux and what can be held against it; what
 * versions 2 and 3 add besides (lower bounds between probes, ECN, time in the probe by bandwidth-delay product) is not
 * here. Nor is Linux's long-term sampling for token bucket policers. Its allowance for acknowledgements that come in
 * bunches is: as much as they brought beyond the bandwidth lately may be outstanding besides, or a receiver that is
 * scheduled once in a while would starve a path whose round trip is next to nothing.
 *
 * Gains are in 1/256, rates in octets a second.
 *
 * References: draft-cardwell-iccrg-bbr-congestion-control-00 (sections cited below);
 * linux v6.1 net/ipv4/tcp_bbr.c.
 */
#include <string.h>

#include "base/attr.h"
#include "ns/sock.h"
#include "tcp/tcp_cc.h"

enum {
	GAIN_1 = 256,
	GAIN_HIGH = 739,     /* 2/ln 2, rounded up: 4.3.2.1 */
	GAIN_DRAIN = 88,     /* ln 2/2: 4.3.3 */
	GAIN_CWND = 512,     /* 4.3.4.1 */
	CYCLE_LEN = 8,       /* 4.3.4.1 */
	CYCLE_RANDOM = 7,    /* 4.3.4.2: all but the phase of 3/4 */
	MIN_SEGS = 4,        /* BBRMinPipeCwnd, 4.2.3.3 */
	FULL_ROUNDS = 3,     /* 4.3.2.2 */
	QUANTA = 3,          /* 4.2.3.2 */
	QUANTUM_SHIFT = 10,  /* 4.2.2: about a millisecond's worth of the rate */
	QUANTUM_MAX = 65536, /* 4.2.2, octets */
	SLOW_Bps = 150000,   /* 4.2.2: 1.2 Mbit/s; below it segments leave one by one */
	PROBE_SEGS = 2,      /* linux bbr_quantization_budget() */
	EXTRA_ROUNDS = 5,    /* linux bbr_extra_acked_win_rtts */
	MARGIN_PERCENT = 99, /* linux: a little below bw, so that no queue stays */
	LOSS_PERMILLE = 20,  /* of a round, and LOSS_SEGS: more is no accident */
	LOSS_SEGS = 3,
	QUEUE_PART = 20,      /* of rtprop: a round trip that is longer by it has met a queue */
	QUEUE_LONG = 2,       /* likewise: here windows of two products fit and make shares equal */
	CEILING_PERCENT = 90, /* of what was in the network in a round that lost too much */
	CRUISE = 3,           /* phase from which on what the probe lost has been heard of */
	CLEAN_ROUNDS = 2,     /* before the ceiling rises faster each time */
};

#define EXTRA_NS      (100 * NS_PER_MS) /* linux bbr_extra_acked_max_us: of the bandwidth, at most */
#define EPOCH_NS      (10 * NS_PER_SEC) /* beyond which it does not matter how long it was */
#define RTPROP_NS     (10 * NS_PER_SEC) /* RTpropFilterLen and ProbeRTTInterval, 4.3.5 */
#define PROBE_RTT_NS  (200 * NS_PER_MS) /* ProbeRTTDuration, 4.3.5 */
#define NO_RTPROP     UINT64_MAX
#define TICKS_PER_SEC UINT64_C(15625000) /* 64 ns: a product of rate and time fits 64 bits */

enum bbr_state { STARTUP, DRAIN, PROBE_BW, PROBE_RTT };

static const uint16_t cycle_gains[CYCLE_LEN] = {
	320, 192, GAIN_1, GAIN_1, GAIN_1, GAIN_1, GAIN_1, GAIN_1,
};

static void bbr_init(struct tcp_cc *cc)
{
	memset(&cc->bbr, 0, sizeof(cc->bbr));
	cc->bbr.rtprop_ns = NO_RTPROP;
	cc->pacing_rate = 0;
	cc->ssthresh = TCP_SSTHRESH_INFINITE;
}

static uint64_t max_bw(const struct tcp_cc_bbr *b)
{
	uint64_t bw = 0;

	for (uint32_t i = 0; i < TCP_BBR_ROUNDS; i++)
		bw = b->bw[i] > bw ? b->bw[i] : bw;
	return bw;
}

/* 4.1.1.5: samples that are let in push out what is ten rounds old; without any the maximum stays. */
static void bw_add(struct tcp_cc_bbr *b, uint64_t rate)
{
	uint32_t passed = ns_min_u(b->round_cnt - b->bw_round, TCP_BBR_ROUNDS);
	uint64_t *slot = &b->bw[b->round_cnt % TCP_BBR_ROUNDS];

	for (uint32_t i = 0; i < passed; i++)
		b->bw[(b->round_cnt - i) % TCP_BBR_ROUNDS] = 0;
	b->bw_round = b->round_cnt;
	*slot = rate > *slot ? rate : *slot;
}

/* 4.2.2, in segments as Linux counts it */
static uint32_t send_quantum(const struct tcp_cc *cc)
{
	uint64_t octets = cc->pacing_rate >> QUANTUM_SHIFT;
	uint32_t segs = (uint32_t)(octets < QUANTUM_MAX ? octets : QUANTUM_MAX) / cc->mss;

	return ns_max_u(segs, cc->pacing_rate < SLOW_Bps ? 1 : 2);
}

/* Octets that @rate brings in a time. */
static uint64_t product(uint64_t rate, uint64_t ns)
{
	return rate * (ns / 64) / TICKS_PER_SEC;
}

/*
 * BBRInflight(), 4.2.3.2: @gain times what the path holds, @extra octets, and what is being put together at both ends.
 * In whole segments, rounded up, and an even number of them, since a receiver acknowledges every other one: what is
 * rounded down makes the next rate that is seen lower, and so on. The phase that asks for more gets two segments above
 * the rest, or on a path that holds next to nothing 5/4 of it would be no more than it (linux bbr_quantization_budget()).
 */
static uint32_t inflight(const struct tcp_cc *cc, uint32_t gain, uint32_t extra)
{
	const struct tcp_cc_bbr *b = &cc->bbr;
	uint64_t segs;

	if (b->rtprop_ns == NO_RTPROP)
		return tcp_cc_initial_window(cc->mss) + extra;
	segs = (product(max_bw(b), b->rtprop_ns) * gain / GAIN_1 + extra + cc->mss - 1) / cc->mss;
	segs += QUANTA * send_quantum(cc);
	segs += segs & 1;
	if (b->state == PROBE_BW && b->cycle_idx == 0)
		segs += PROBE_SEGS;
	return segs < TCP_CWND_MAX / cc->mss ? (uint32_t)segs * cc->mss : TCP_CWND_MAX;
}

/* 4.2.1: until the pipe was full once the rate only rises */
static void set_pacing_rate(struct tcp_cc *cc, uint32_t gain)
{
	uint64_t rate = max_bw(&cc->bbr) * gain / GAIN_1 * MARGIN_PERCENT / 100;

	if (cc->bbr.is_filled || rate > cc->pacing_rate)
		cc->pacing_rate = rate ? rate : 1;
}

static void enter(struct tcp_cc_bbr *b, enum bbr_state state, uint16_t pacing_gain,
		  uint16_t cwnd_gain)
{
	b->state = (uint8_t)state;
	b->pacing_gain = pacing_gain;
	b->cwnd_gain = cwnd_gain;
}

/* BBRAdvanceCyclePhase() */
static void next_phase(struct tcp_cc_bbr *b, struct mono now)
{
	b->cycle_at = now;
	b->cycle_idx = (uint8_t)((b->cycle_idx + 1) % CYCLE_LEN);
	b->pacing_gain = cycle_gains[b->cycle_idx];
	b->has_probed |= b->cycle_idx == 0;
}

/* 4.3.4.3 BBREnterProbeBW(); the randomness is the connection's number, moved on each time */
static void enter_probe_bw(struct tcp_cc *cc, struct mono now)
{
	struct tcp_cc_bbr *b = &cc->bbr;

	enter(b, PROBE_BW, GAIN_1, GAIN_CWND);
	b->has_probed = false;
	cc->random = cc->random * 1664525 + 1013904223;
	b->cycle_idx = (uint8_t)(CYCLE_LEN - 1 - (cc->random >> 16) % CYCLE_RANDOM);
	next_phase(b, now);
}

/* 4.3.1, with the first acknowledgement: a switch of algorithms begins here as well */
static void start(struct tcp_cc *cc, const struct tcp_cc_sample *s, struct mono now)
{
	struct tcp_cc_bbr *b = &cc->bbr;
	uint64_t srtt_ns = s->srtt_ns ? s->srtt_ns : NS_PER_MS;

	b->is_started = true;
	b->rtprop_at = now;
	b->rtprop_ns = s->srtt_ns ? s->srtt_ns : NO_RTPROP;
	b->next_round = s->prior_delivered;
	b->prior_ca = TCP_CA_OPEN;
	enter(b, STARTUP, GAIN_HIGH, GAIN_HIGH);
	cc->pacing_rate = cc->cwnd * NS_PER_SEC / srtt_ns * GAIN_HIGH / GAIN_1;
}

/* 4.1.1.3 BBRUpdateRound(), 4.1.1.5 BBRUpdateBtlBw() */
static void update_bw(struct tcp_cc_bbr *b, const struct tcp_cc_sample *s)
{
	uint64_t rate;

	b->is_round_start = false;
	if (s->ns == 0)
		return;
	if (s->prior_delivered >= b->next_round) {
		b->next_round = s->delivered;
		b->round_cnt++;
		b->is_round_start = true;
		b->is_conserving = false; /* 4.2.3.4: after one round trip in fast recovery */
	}
	rate = s->len * NS_PER_SEC / s->ns;
	if (!s->is_app_limited || rate >= max_bw(b))
		bw_add(b, rate);
}

/* linux bbr_update_ack_aggregation(): how much acknowledgements have brought beyond what the bandwidth would */
static void update_extra(struct tcp_cc *cc, const struct tcp_cc_sample *s, struct mono now)
{
	struct tcp_cc_bbr *b = &cc->bbr;
	uint64_t ns = mono_since(now, b->epoch_at);
	uint64_t expected = product(max_bw(b), ns < EPOCH_NS ? ns : EPOCH_NS);
	uint64_t extra;

	if (s->acked == 0 || s->ns == 0)
		return;
	if (b->is_round_start && ++b->extra_rounds >= EXTRA_ROUNDS) {
		b->extra_rounds = 0;
		b->extra_idx ^= 1;
		b->extra[b->extra_idx] = 0;
	}
	if (b->epoch_acked <= expected) {
		b->epoch_acked = 0;
		b->epoch_at = now;
		expected = 0;
	}
	b->epoch_acked += s->acked;
	extra = b->epoch_acked - expected;
	if (extra > cc->cwnd)
		extra = cc->cwnd;
	b->extra[b->extra_idx] = ns_max_u(b->extra[b->extra_idx], (uint32_t)extra);
}

/* What may be outstanding for it. */
static uint32_t extra_window(const struct tcp_cc_bbr *b)
{
	uint64_t most = product(max_bw(b), EXTRA_NS);
	uint32_t extra = ns_max_u(b->extra[0], b->extra[1]);

	if (!b->is_filled)
		return 0;
	return extra < most ? extra : (uint32_t)most;
}

/*
 * Has this round lost what a queue of our own making had no room for? Before the first probe the queue may be what startup
 * left, and a round brings as little as draining it or looking for rtprop let out.
 */
static bool is_overfull(const struct tcp_cc *cc)
{
	const struct tcp_cc_bbr *b = &cc->bbr;
	uint64_t sent = (uint64_t)b->round_lost + b->round_acked;

	return b->state == PROBE_BW && b->has_probed && b->cycle_idx >= CRUISE &&
	       b->round_lost >= LOSS_SEGS * cc->mss &&
	       b->round_lost * UINT64_C(1000) > sent * LOSS_PERMILLE &&
	       b->round_rtt_ns > b->rtprop_ns + b->rtprop_ns / QUEUE_PART &&
	       b->round_rtt_ns < b->rtprop_ns + b->rtprop_ns / QUEUE_LONG;
}

/*
 * The ceiling of the window, once a round; the theory of operation says why. A round is over with whatever was sent after
 * it began, which in a recovery may be a few segments: such rounds count as one, until they have brought half of what was
 * in the network.
 */
static void update_ceiling(struct tcp_cc *cc, const struct tcp_cc_sample *s)
{
	struct tcp_cc_bbr *b = &cc->bbr;
	uint64_t held;

	b->round_lost += s->lost;
	b->round_acked += s->acked;
	if (s->rtt_ns && (b->round_rtt_ns == 0 || s->rtt_ns < b->round_rtt_ns))
		b->round_rtt_ns = s->rtt_ns;
	if (!b->is_round_start)
		return;
	held = product(b->bw[(b->round_cnt - 1) % TCP_BBR_ROUNDS], b->round_rtt_ns);
	if ((uint64_t)b->round_lost + b->round_acked < held / 2)
		return;
	if (held && is_overfull(cc)) {
		held = held * CEILING_PERCENT / 100;
		b->ceiling = held < TCP_CWND_MAX ? (uint32_t)held : TCP_CWND_MAX;
		b->ceiling_step = cc->mss;
		b->clean_cnt = 0;
	} else if (b->ceiling) {
		b->ceiling += b->ceiling_step;
		if (++b->clean_cnt >= CLEAN_ROUNDS)
			b->ceiling_step += b->ceiling_step / 2;
		if (b->ceiling >= inflight(cc, GAIN_CWND, 0))
			b->ceiling = 0;
	}
	b->round_lost = 0;
	b->round_acked = 0;
	b->round_rtt_ns = 0;
}

/* 4.3.4.3 BBRCheckCyclePhase() */
static void check_cycle_phase(struct tcp_cc *cc, const struct tcp_cc_sample *s, struct mono now)
{
	struct tcp_cc_bbr *b = &cc->bbr;
	bool is_over = mono_since(now, b->cycle_at) > b->rtprop_ns;

	if (b->state != PROBE_BW)
		return;
	if (b->pacing_gain > GAIN_1)
		is_over =
			is_over && (s->lost || s->prior_flight >= inflight(cc, b->pacing_gain, 0));
	else if (b->pacing_gain < GAIN_1)
		is_over = is_over || s->prior_flight <= inflight(cc, GAIN_1, 0);
	if (is_over)
		next_phase(b, now);
}

/* 4.3.2.2 BBRCheckFullPipe() */
static void check_full_pipe(struct tcp_cc_bbr *b, const struct tcp_cc_sample *s)
{
	uint64_t bw = max_bw(b);

	if (b->is_filled || !b->is_round_start || s->is_app_limited)
		return;
	if (bw >= b->full_bw + b->full_bw / 4) {
		b->full_bw = bw;
		b->full_cnt = 0;
		return;
	}
	if (++b->full_cnt >= FULL_ROUNDS)
		b->is_filled = true;
}

/* 4.3.3 BBRCheckDrain() */
static void check_drain(struct tcp_cc *cc, const struct tcp_cc_sample *s, struct mono now)
{
	struct tcp_cc_bbr *b = &cc->bbr;

	if (b->state == STARTUP && b->is_filled)
		enter(b, DRAIN, GAIN_DRAIN, GAIN_HIGH);
	if (b->state == DRAIN && s->flight <= inflight(cc, GAIN_1, 0))
		enter_probe_bw(cc, now);
}

/* 4.1.2.3. Returns whether what was known is too old. */
static bool update_rtprop(struct tcp_cc_bbr *b, const struct tcp_cc_sample *s, struct mono now)
{
	bool is_expired = mono_since(now, b->rtprop_at) > RTPROP_NS;

	if (s->rtt_ns && (s->rtt_ns <= b->rtprop_ns || is_expired)) {
		b->rtprop_ns = s->rtt_ns;
		b->rtprop_at = now;
	}
	return is_expired;
}

/* 4.2.3.4 BBRSaveCwnd(): the last window that neither a recovery nor a probe has made small */
static void save_cwnd(struct tcp_cc *cc)
{
	struct tcp_cc_bbr *b = &cc->bbr;

	if (b->prior_ca < TCP_CA_RECOVERY && b->state != PROBE_RTT)
		b->prior_cwnd = cc->cwnd;
	else
		b->prior_cwnd = ns_max_u(b->prior_cwnd, cc->cwnd);
}

/* 4.3.5 BBRExitProbeRTT(), when its time is over */
static void check_probe_rtt_done(struct tcp_cc *cc, struct mono now)
{
	struct tcp_cc_bbr *b = &cc->bbr;

	if (b->probe_end.ns == 0 || !mono_lt(b->probe_end, now))
		return;
	b->rtprop_at = now;
	cc->cwnd = ns_max_u(cc->cwnd, b->prior_cwnd);
	if (b->is_filled)
		enter_probe_bw(cc, now);
	else
		enter(b, STARTUP, GAIN_HIGH, GAIN_HIGH);
}

/* 4.3.5 BBRCheckProbeRTT(). True while it lasts: low rates then tell nothing. */
static bool check_probe_rtt(struct tcp_cc *cc, const struct tcp_cc_sample *s, bool is_expired,
			    struct mono now)
{
	struct tcp_cc_bbr *b = &cc->bbr;
	bool is_probing;

	if (b->state != PROBE_RTT && is_expired && !b->is_idle_restart) {
		save_cwnd(cc);
		enter(b, PROBE_RTT, GAIN_1, GAIN_1);
		b->probe_end = (struct mono){ 0 };
	}
	is_probing = b->state == PROBE_RTT;
	if (is_probing && b->probe_end.ns == 0 && s->flight <= MIN_SEGS * cc->mss) {
		b->probe_end = mono_add(now, PROBE_RTT_NS);
		b->is_probe_round = false;
		b->next_round = s->delivered;
	} else if (is_probing && b->probe_end.ns) {
		if (b->is_round_start)
			b->is_probe_round = true;
		if (b->is_probe_round)
			check_probe_rtt_done(cc, now);
	}
	if (s->acked)
		b->is_idle_restart = false;
	return is_probing;
}

/* 4.2.3.4 BBRModulateCwndForRecovery(), and its beginning and end */
static void modulate_for_recovery(struct tcp_cc *cc, const struct tcp_cc_sample *s)
{
	struct tcp_cc_bbr *b = &cc->bbr;

	if (s->lost)
		cc->cwnd = cc->cwnd > s->lost + cc->mss ? cc->cwnd - s->lost : cc->mss;
	if (s->ca == TCP_CA_RECOVERY && b->prior_ca != TCP_CA_RECOVERY) {
		b->is_conserving = true;
		b->next_round = s->delivered;
		cc->cwnd = s->flight + ns_max_u(s->acked, cc->mss);
	} else if (b->prior_ca >= TCP_CA_RECOVERY && s->ca < TCP_CA_RECOVERY) {
		cc->cwnd = ns_max_u(cc->cwnd, b->prior_cwnd);
		b->is_conserving = false;
	}
	b->prior_ca = (uint8_t)s->ca;
	if (b->is_conserving)
		cc->cwnd = ns_max_u(cc->cwnd, s->flight + s->acked);
}

/* 4.2.3.6 BBRSetCwnd(), 4.2.3.3, 4.2.3.5 */
static void set_cwnd(struct tcp_cc *cc, const struct tcp_cc_sample *s)
{
	struct tcp_cc_bbr *b = &cc->bbr;
	uint32_t target = inflight(cc, b->cwnd_gain, extra_window(b));

	if (s->acked) {
		modulate_for_recovery(cc, s);
		if (!b->is_conserving) {
			if (b->is_filled)
				cc->cwnd = ns_min_u(cc->cwnd + s->acked, target);
			else if (cc->cwnd < target || s->delivered < tcp_cc_initial_window(cc->mss))
				cc->cwnd = ns_min_u(cc->cwnd + s->acked, TCP_CWND_MAX);
			cc->cwnd = ns_max_u(cc->cwnd, MIN_SEGS * cc->mss);
		}
	}
	if (b->ceiling)
		cc->cwnd = ns_min_u(cc->cwnd, ns_max_u(b->ceiling, MIN_SEGS * cc->mss));
	if (b->state == PROBE_RTT)
		cc->cwnd = ns_min_u(cc->cwnd, MIN_SEGS * cc->mss);
}

/* 3.5.2 BBRUpdateOnACK() */
static bool bbr_on_sample(struct tcp_cc *cc, const struct tcp_cc_sample *s, struct mono now)
{
	struct tcp_cc_bbr *b = &cc->bbr;
	bool is_expired, is_probing;

	if (!b->is_started)
		start(cc, s, now);
	update_bw(b, s);
	update_extra(cc, s, now);
	update_ceiling(cc, s);
	check_cycle_phase(cc, s, now);
	check_full_pipe(b, s);
	check_drain(cc, s, now);
	is_expired = update_rtprop(b, s, now);
	is_probing = check_probe_rtt(cc, s, is_expired, now);
	set_pacing_rate(cc, b->pacing_gain);
	set_cwnd(cc, s);
	return is_probing;
}

/* 4.3.4.4 BBRHandleRestartFromIdle() */
static void bbr_on_restart(struct tcp_cc *cc, bool is_app_limited, struct mono now)
{
	struct tcp_cc_bbr *b = &cc->bbr;

	if (!is_app_limited || !b->is_started)
		return;
	b->is_idle_restart = true;
	if (b->state == PROBE_BW)
		set_pacing_rate(cc, GAIN_1);
	else if (b->state == PROBE_RTT)
		check_probe_rtt_done(cc, now);
}

static void bbr_on_loss(struct tcp_cc *cc, uint32_t flight, struct mono now)
{
	(void)flight;
	(void)now;
	save_cwnd(cc);
}

/* 4.2.3.4: the caller leaves one segment of the window; what the pipe holds has to be found out anew */
static void bbr_on_rto(struct tcp_cc *cc, uint32_t flight, struct mono now)
{
	bbr_on_loss(cc, flight, now);
	cc->bbr.prior_ca = TCP_CA_LOSS;
	cc->bbr.full_bw = 0;
	cc->bbr.full_cnt = 0;
}

static void bbr_on_undo(struct tcp_cc *cc)
{
	cc->bbr.full_bw = 0; /* a rate that stood still for a loss that was none is no full pipe */
	cc->bbr.full_cnt = 0;
}

static void bbr_nothing(struct tcp_cc *cc, struct mono now)
{
	(void)cc;
	(void)now;
}

const struct tcp_cc_ops tcp_cc_bbr = {
	.name = "bbr",
	.init = bbr_init,
	.on_loss = bbr_on_loss,
	.on_rto = bbr_on_rto,
	.on_recovered = bbr_nothing,
	.on_sample = bbr_on_sample,
	.on_restart = bbr_on_restart,
	.on_undo = bbr_on_undo,
};

/** tcp_cc_bbr_info() - what TCP_CC_INFO tells: octets a second, microseconds, gains in 1/256; false: not BBR */
bool tcp_cc_bbr_info(const struct tcp_cc *cc, struct ns_bbr_info *ret_info)
{
	const struct tcp_cc_bbr *b = &cc->bbr;

	if (cc->ops != &tcp_cc_bbr)
		return false;
	*ret_info = (struct ns_bbr_info){
		.bw = max_bw(b),
		.min_rtt_us = b->rtprop_ns == NO_RTPROP ? UINT32_MAX
							: (uint32_t)(b->rtprop_ns / NS_PER_US),
		.pacing_gain = b->pacing_gain,
		.cwnd_gain = b->cwnd_gain,
	};
	return true;
}
