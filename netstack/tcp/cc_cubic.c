/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_cubic.c - CUBIC (RFC 9438) with HyStart++ (RFC 9406)
 *
 * Theory of operation
 *
 * After a loss the window is remembered (w_max) and cut to seven tenths. From there it follows
 *
 *   W_cubic(t) = C * (t - K)^3 + w_max		C = 0.4 segments/s^3, K: when it is back at w_max
 *
 * fast at first, flat around w_max, then probing beyond it. Where that is slower than what Reno would do
 * with the same loss rate (short round trips, small windows), the window follows Reno's estimate
 * instead. All of it depends on time since the loss and not on the round trip, so that flows of
 * different length share fairly.
 *
 * What the window was before a timeout tells little of the path after it: the curve begins at its flat part
 * where slow start ends.
 *
 * The first slow start ends before a loss when round trips grow (HyStart++), later ones know where: the least round trip of
 * eight samples of this round is compared with that of the last one. A growth of an eighth (4 to 16 ms)
 * goes over to conservative slow start, a quarter as fast; if the growth was noise the round trip
 * falls again and slow start goes on, after five rounds of it the window is where it should stay.
 *
 * A round is "what was outstanding when it began has been acknowledged", counted in octets, since an
 * algorithm sees a window and no sequence numbers.
 *
 * Arithmetic is in octets and milliseconds, 64 bits, without floating point. t - K is clamped to
 * DELTA_MAX_MS, beyond which the window is at any cap anyway.
 *
 * Deviates from RFC 9406 4.2: no limit L on the growth by one acknowledgement. Receivers with GRO
 * acknowledge tens of segments at once, and the sender's frames leave as super-frames all the same.
 *
 * References: RFC 9438 4, RFC 9406 4.
 */
#include "base/attr.h"
#include "tcp/tcp_cc.h"

enum {
	BETA_NUM = 7, /* RFC 9438 4.6: multiplicative decrease 0.7 */
	BETA_DEN = 10,
	DELTA_MAX_MS = 100000,
	/* C = 0.4 segments/s^3 = 4 segments / 10^10 ms^3 */
	C_NUM = 4,
	ALPHA_NUM = 9, /* RFC 9438 4.3: 3 * (1 - beta) / (1 + beta) = 9/17 */
	ALPHA_DEN = 17,

	/* RFC 9406 4.3 */
	HYSTART_SAMPLES = 8,
	HYSTART_CSS_DIVISOR = 4,
	HYSTART_CSS_ROUNDS = 5,
	HYSTART_RTT_DIVISOR = 8,
};

#define C_DEN                 UINT64_C(10000000000)
#define HYSTART_MIN_THRESH_NS (4 * NS_PER_MS)
#define HYSTART_MAX_THRESH_NS (16 * NS_PER_MS)
#define NO_RTT                UINT64_MAX

/** cube_root() - largest r with r^3 <= @x, bit by bit */
static uint32_t cube_root(uint64_t x)
{
	uint64_t r = 0;

	for (int bit = 20; bit >= 0; bit--) {
		uint64_t next = r | UINT64_C(1) << bit;

		if (next * next * next <= x)
			r = next;
	}
	return (uint32_t)r;
}

static void round_begin(struct tcp_cc *cc, uint32_t flight)
{
	struct tcp_cc_cubic *q = &cc->cubic;

	q->round_left = flight;
	q->last_min_rtt_ns = q->min_rtt_ns;
	q->min_rtt_ns = NO_RTT;
	q->sample_cnt = 0;
}

static void hystart_init(struct tcp_cc *cc)
{
	cc->cubic.min_rtt_ns = NO_RTT;
	round_begin(cc, 0);
}

static void cubic_init(struct tcp_cc *cc)
{
	cc->cubic = (struct tcp_cc_cubic){ .w_max = 0 };
	hystart_init(cc);
}

/* RFC 9406 4.2: has the round trip grown by the threshold since the last round? */
static bool rtt_has_grown(const struct tcp_cc_cubic *q)
{
	uint64_t thresh = q->last_min_rtt_ns / HYSTART_RTT_DIVISOR;

	if (q->sample_cnt < HYSTART_SAMPLES || q->last_min_rtt_ns == NO_RTT ||
	    q->min_rtt_ns == NO_RTT)
		return false;
	if (thresh < HYSTART_MIN_THRESH_NS)
		thresh = HYSTART_MIN_THRESH_NS;
	if (thresh > HYSTART_MAX_THRESH_NS)
		thresh = HYSTART_MAX_THRESH_NS;
	return q->min_rtt_ns >= q->last_min_rtt_ns + thresh;
}

/* One acknowledgement's worth of RFC 9406 4.2. Sets ssthresh when slow start is over. */
static void hystart(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_cc_cubic *q = &cc->cubic;

	if (a->rtt_ns) {
		if (q->sample_cnt < UINT8_MAX)
			q->sample_cnt++;
		if (a->rtt_ns < q->min_rtt_ns)
			q->min_rtt_ns = a->rtt_ns;
	}
	if (!q->is_css && rtt_has_grown(q)) {
		q->is_css = true;
		q->css_base_rtt_ns = q->min_rtt_ns;
		q->css_rounds = 0;
	} else if (q->is_css && q->sample_cnt >= HYSTART_SAMPLES &&
		   q->min_rtt_ns < q->css_base_rtt_ns) {
		q->is_css = false; /* it was noise */
	}
	if (q->round_left > a->acked) {
		q->round_left -= a->acked;
		return;
	}
	if (q->is_css && ++q->css_rounds >= HYSTART_CSS_ROUNDS) {
		cc->ssthresh = cc->cwnd;
		q->cwnd_prior = cc->cwnd; /* RFC 9438 4.10 */
	}
	round_begin(cc, a->flight > a->acked ? a->flight - a->acked : 0);
}

/* Octets of the acknowledgement that are left for congestion avoidance. */
static uint32_t slow_start(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	if (cc->ssthresh == TCP_SSTHRESH_INFINITE) /* RFC 9406 4.3: the first one only */
		hystart(cc, a);
	if (!tcp_cc_in_slow_start(cc))
		return a->acked;
	return tcp_cc_slow_start(cc, cc->cubic.is_css ? a->acked / HYSTART_CSS_DIVISOR : a->acked);
}

/* RFC 9438 4.2, 4.8, 4.10: congestion avoidance begins, after a loss or at the end of slow start */
static void epoch_begin(struct tcp_cc *cc, struct mono now)
{
	struct tcp_cc_cubic *q = &cc->cubic;

	q->epoch = now;
	q->has_epoch = true;
	q->is_paused = false;
	q->w_est = cc->cwnd;
	q->est_acked = 0;
	q->grow_acked = 0;
	if (q->w_max <= cc->cwnd) {
		q->w_max = cc->cwnd;
		q->k_ms = 0;
		return;
	}
	/* K^3 = (w_max - cwnd) / C */
	q->k_ms = cube_root((uint64_t)(q->w_max - cc->cwnd) * (C_DEN / C_NUM) / cc->mss);
}

/* RFC 9438 equation 1, octets */
static uint64_t w_cubic(const struct tcp_cc *cc, uint64_t t_ms)
{
	const struct tcp_cc_cubic *q = &cc->cubic;
	bool is_before = t_ms < q->k_ms;
	uint64_t delta = is_before ? q->k_ms - t_ms : t_ms - q->k_ms;

	if (delta > DELTA_MAX_MS)
		delta = DELTA_MAX_MS;

	uint64_t growth = delta * delta * delta / (C_DEN / C_NUM / 1000) * cc->mss / 1000;

	if (!is_before)
		return q->w_max + growth;
	return q->w_max > growth ? q->w_max - growth : 0;
}

/* RFC 9438 4.3, equation 4: where Reno would be; alpha is 9/17 until the window of before the loss, then 1 */
static void reno_estimate(struct tcp_cc *cc, uint32_t acked)
{
	struct tcp_cc_cubic *q = &cc->cubic;
	uint64_t step = cc->mss;

	if (q->w_est < q->cwnd_prior)
		step = step * ALPHA_NUM / ALPHA_DEN;
	q->est_acked += acked;
	while (q->est_acked >= cc->cwnd && q->w_est < TCP_CWND_MAX) {
		q->est_acked -= cc->cwnd;
		q->w_est += (uint32_t)step;
	}
}

static void avoid(struct tcp_cc *cc, const struct tcp_cc_ack *a, uint32_t acked, struct mono now)
{
	struct tcp_cc_cubic *q = &cc->cubic;

	if (!q->has_epoch)
		epoch_begin(cc, now);
	reno_estimate(cc, acked);

	uint64_t t_ms = mono_since(now, q->epoch) / NS_PER_MS;
	uint64_t target = w_cubic(cc, t_ms + a->srtt_ns / NS_PER_MS);
	uint64_t most = (uint64_t)cc->cwnd + cc->cwnd / 2;

	if (w_cubic(cc, t_ms) < q->w_est) { /* Reno-friendly region */
		cc->cwnd = ns_min_u(ns_max_u(cc->cwnd, q->w_est), TCP_CWND_MAX);
		return;
	}
	if (target > most)
		target = most;
	if (target <= cc->cwnd)
		return;
	/* (target - cwnd) / cwnd segments for every segment acknowledged; the rest of the division is kept */
	q->grow_acked += (uint64_t)acked * (target - cc->cwnd);

	uint64_t octets = q->grow_acked / cc->cwnd;

	q->grow_acked -= octets * cc->cwnd;
	cc->cwnd = ns_min_u(cc->cwnd + (uint32_t)(octets < TCP_CWND_MAX ? octets : TCP_CWND_MAX),
			    TCP_CWND_MAX);
}

/* RFC 9438 5.8: time during which the program was the limit does not count as time since the loss. */
static void pause(struct tcp_cc *cc, struct mono now)
{
	if (!cc->cubic.is_paused)
		cc->cubic.paused_at = now;
	cc->cubic.is_paused = true;
}

static void resume(struct tcp_cc *cc, struct mono now)
{
	struct tcp_cc_cubic *q = &cc->cubic;

	if (q->is_paused)
		q->epoch = mono_add(q->epoch, mono_since(now, q->paused_at));
	q->is_paused = false;
}

static void cubic_on_ack(struct tcp_cc *cc, const struct tcp_cc_ack *a, struct mono now)
{
	uint32_t acked = a->acked;

	if (!a->is_cwnd_limited) {
		pause(cc, now);
		return;
	}
	resume(cc, now);
	if (tcp_cc_in_slow_start(cc))
		acked = slow_start(cc, a);
	if (acked && !tcp_cc_in_slow_start(cc))
		avoid(cc, a, acked, now);
}

/* RFC 9438 4.6, 4.7 */
static void cubic_on_loss(struct tcp_cc *cc, uint32_t flight, struct mono now)
{
	struct tcp_cc_cubic *q = &cc->cubic;
	uint32_t cwnd = cc->cwnd;

	(void)now;
	(void)flight;
	/* fast convergence: a flow that lost below its last maximum makes room for another */
	if (cwnd < q->w_max)
		q->w_max = cwnd / (2 * BETA_DEN) * (BETA_DEN + BETA_NUM);
	else
		q->w_max = cwnd;
	q->cwnd_prior = cwnd;
	q->has_epoch = false;
	q->is_css = false;
	cc->ssthresh = ns_max_u((uint32_t)((uint64_t)cwnd * BETA_NUM / BETA_DEN), 2 * cc->mss);
	hystart_init(cc);
}

/* RFC 9438 4.8: the curve has no maximum to return to */
static void cubic_on_rto(struct tcp_cc *cc, uint32_t flight, struct mono now)
{
	cubic_on_loss(cc, flight, now);
	cc->cubic.w_max = 0;
}

static void cubic_on_recovered(struct tcp_cc *cc, struct mono now)
{
	epoch_begin(cc, now);
}

const struct tcp_cc_ops tcp_cc_cubic = {
	.name = "cubic",
	.init = cubic_init,
	.on_ack = cubic_on_ack,
	.on_loss = cubic_on_loss,
	.on_rto = cubic_on_rto,
	.on_recovered = cubic_on_recovered,
};
