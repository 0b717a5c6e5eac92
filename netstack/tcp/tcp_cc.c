/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_cc.c - what all congestion control algorithms share (RFC 5681 3.1, 4.1) */
#include "tcp/tcp_cc.h"

#include "base/attr.h"
#include "ns/sock.h"

static const struct tcp_cc_ops *const algorithms[NS_CC_COUNT] = {
	[NS_CC_CUBIC] = &tcp_cc_cubic,
	[NS_CC_RENO] = &tcp_cc_reno,
	[NS_CC_BBR] = &tcp_cc_bbr,
};

/** tcp_cc_initial_window() - RFC 6928 2: octets a new connection may send at once */
uint32_t tcp_cc_initial_window(uint32_t mss)
{
	return ns_min_u(TCP_IW_SEGS * mss, ns_max_u(2 * mss, TCP_IW_OCTETS));
}

/**
 * tcp_cc_init() - start of a connection
 * @cc:		State
 * @ops:	Algorithm
 * @mss:	Payload octets of a full segment
 */
void tcp_cc_init(struct tcp_cc *cc, const struct tcp_cc_ops *ops, uint32_t mss)
{
	*cc = (struct tcp_cc){
		.ops = ops,
		.mss = mss,
		.cwnd = tcp_cc_initial_window(mss),
		.ssthresh = TCP_SSTHRESH_INFINITE,
	};
	ops->init(cc);
}

/**
 * tcp_cc_set_mss() - segments became smaller or larger
 *
 * Smaller ones are no more of them at once than there were (RFC 5681 3.1, RFC 4821 4), larger ones no more
 * octets (RFC 4821 4). The window never falls under one.
 */
void tcp_cc_set_mss(struct tcp_cc *cc, uint32_t mss)
{
	if (mss < cc->mss)
		cc->cwnd = (uint32_t)((uint64_t)cc->cwnd * mss / cc->mss);
	cc->mss = mss;
	cc->cwnd = ns_max_u(cc->cwnd, mss);
}

/**
 * tcp_cc_undo() - RFC 4015 3.2: the loss was none
 * @cc:		State
 * @was:	As it was before the algorithm was told of the loss
 *
 * The algorithm's memory comes back whole, unless it is another algorithm's by now or the window has grown beyond
 * what it was: then what it has learned since is newer (RFC 9438 4.9.2).
 */
void tcp_cc_undo(struct tcp_cc *cc, const struct tcp_cc *was)
{
	uint32_t cwnd = ns_max_u(cc->cwnd, was->cwnd);
	uint32_t ssthresh = ns_max_u(cc->ssthresh, was->ssthresh);
	uint32_t mss = cc->mss;

	if (cc->ops->on_undo) {
		cc->ops->on_undo(cc);
		return;
	}
	if (cc->ops == was->ops && cc->cwnd < was->cwnd)
		*cc = *was;
	cc->mss = mss;
	cc->cwnd = cwnd;
	cc->ssthresh = ssthresh;
}

/**
 * tcp_cc_restart() - RFC 5681 4.1 after an idle time, in Linux's gentler form
 * @cc:		State
 * @idle_ns:	Time since something was sent last
 * @rto_ns:	The retransmission timeout
 *
 * Halves the window for every timeout of idleness (RFC 2861) down to the restart window; remembers
 * where it was in ssthresh.
 */
void tcp_cc_restart(struct tcp_cc *cc, uint64_t idle_ns, uint64_t rto_ns)
{
	uint32_t restart = ns_min_u(tcp_cc_initial_window(cc->mss), cc->cwnd);

	cc->ssthresh = ns_max_u(cc->ssthresh, cc->cwnd / 4 * 3);
	for (; idle_ns > rto_ns && cc->cwnd > restart; idle_ns -= rto_ns)
		cc->cwnd /= 2;
	cc->cwnd = ns_max_u(cc->cwnd, restart);
}

/**
 * tcp_cc_slow_start() - RFC 5681 3.1 with octet counting (RFC 3465), stretch ACKs in full
 * @cc:		State, below ssthresh
 * @acked:	Octets acknowledged
 *
 * Return: octets left over when ssthresh was reached
 */
uint32_t tcp_cc_slow_start(struct tcp_cc *cc, uint32_t acked)
{
	uint32_t room = ns_min_u(cc->ssthresh, TCP_CWND_MAX) - cc->cwnd;
	uint32_t used = ns_min_u(acked, room);

	cc->cwnd += used;
	return acked - used;
}

/** tcp_cc_get() - an algorithm by its number, or NULL */
const struct tcp_cc_ops *tcp_cc_get(int algorithm)
{
	return algorithm >= 0 && algorithm < NS_CC_COUNT ? algorithms[algorithm] : NULL;
}

/**
 * tcp_cc_switch() - another algorithm for a connection that lives, as Linux's TCP_CONGESTION
 *
 * Window and threshold stay; what the new one learns it learns from here on.
 */
void tcp_cc_switch(struct tcp_cc *cc, const struct tcp_cc_ops *ops)
{
	if (cc->ops == ops)
		return;
	cc->ops = ops;
	cc->pacing_rate = 0;
	ops->init(cc);
}
