/* SPDX-License-Identifier: Apache-2.0 */
/* cc_reno.c - RFC 5681: additive increase, halving */
#include "base/attr.h"
#include "tcp/tcp_cc.h"

static void reno_init(struct tcp_cc *cc)
{
	cc->reno.acked = 0;
}

/* RFC 5681 3.1: one segment a round trip, counted in octets; RFC 7661 in short: not while the program is the limit. */
static void reno_on_ack(struct tcp_cc *cc, const struct tcp_cc_ack *a, struct mono now)
{
	uint32_t acked = a->acked;

	(void)now;
	if (!a->is_cwnd_limited)
		return;
	if (tcp_cc_in_slow_start(cc))
		acked = tcp_cc_slow_start(cc, acked);
	cc->reno.acked += acked;
	if (cc->reno.acked < cc->cwnd)
		return;
	cc->reno.acked -= cc->cwnd;
	cc->cwnd = ns_min_u(cc->cwnd + cc->mss, TCP_CWND_MAX);
}

/* RFC 5681 equation 4 */
static void reno_on_loss(struct tcp_cc *cc, uint32_t flight, struct mono now)
{
	(void)now;
	cc->ssthresh = ns_max_u(flight / 2, 2 * cc->mss);
	cc->reno.acked = 0;
}

static void reno_on_recovered(struct tcp_cc *cc, struct mono now)
{
	(void)cc;
	(void)now;
}

const struct tcp_cc_ops tcp_cc_reno = {
	.name = "reno",
	.init = reno_init,
	.on_ack = reno_on_ack,
	.on_loss = reno_on_loss,
	.on_rto = reno_on_loss,
	.on_recovered = reno_on_recovered,
};
