/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_info.c - what TCP_INFO tells of a connection; the embedder lays it out
 *
 * Counters are struct tcp_meter's, kept where things happen. What a connection is limited by is looked at
 * after each visit of tcp_output() and each acknowledgement (linux tcp_chrono_start() and its callers).
 */
#include "tcp/tcp_int.h"

static enum tcp_chrono chrono_of(const struct tcp_conn *c)
{
	uint32_t unsent = tcp_unsent(c), wnd = tcp_flight(c) + ns_min_u(unsent, c->mss);

	if (wnd == 0)
		return TCP_CHRONO_IDLE;
	if (unsent && c->snd_wnd < wnd)
		return TCP_CHRONO_RWND;
	/* everything is sent, the congestion window would take more, and the program has been told to wait */
	if (unsent == 0 && tcp_has(c, TCP_F_NOSPACE) && !tcp_has(c, TCP_F_CWND_LIMITED))
		return TCP_CHRONO_SNDBUF;
	return TCP_CHRONO_BUSY;
}

/** tcp_chrono_update() - what is the connection limited by from here on? */
void tcp_chrono_update(struct tcp_conn *c, struct mono now)
{
	struct tcp_meter *m = &c->meter;
	enum tcp_chrono what = chrono_of(c);

	if (what == m->chrono)
		return;
	m->chrono_ns[m->chrono] += mono_since(now, m->chrono_at);
	m->chrono = what;
	m->chrono_at = now;
}

/* Nanoseconds of @what so far. */
static uint64_t chrono_ns(const struct tcp_conn *c, enum tcp_chrono what, struct mono now)
{
	const struct tcp_meter *m = &c->meter;

	return m->chrono_ns[what] + (m->chrono == what ? mono_since(now, m->chrono_at) : 0);
}

static uint64_t rto_ns(const struct tcp_meter *m, struct mono now)
{
	return m->rto_ns + (m->rto_at.ns ? mono_since(now, m->rto_at) : 0);
}

static uint32_t us_of(uint64_t ns)
{
	uint64_t us = ns / NS_PER_US;

	return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

static uint32_t ms_since(struct mono now, struct mono then)
{
	return us_of(mono_since(now, then)) / 1000;
}

static uint32_t segs_of(const struct tcp_conn *c, uint32_t octets)
{
	return c->mss ? (octets + c->mss - 1) / c->mss : 0;
}

/** tcp_info() - transport_ops.info: windows in segments, as Linux counts them */
int tcp_info(void *conn, struct mono now, struct ns_tcp_info *ret_info)
{
	const struct tcp_conn *c = conn;
	const struct tcp_meter *m = &c->meter;
	uint64_t rwnd_ns = chrono_ns(c, TCP_CHRONO_RWND, now);
	uint64_t sndbuf_ns = chrono_ns(c, TCP_CHRONO_SNDBUF, now);

	*ret_info = (struct ns_tcp_info){
		.state = tcp_state_linux(c->tfo.is_pending ? TCP_SYN_RCVD : c->state),
		.has_syn_data = c->tfo.is_data_acked,
		.is_tfo_child = c->tfo.is_child,
		.fastopen_client_fail = c->tfo.fail,
		.ca_state = (uint8_t)c->ca,
		.retransmits = (uint8_t)ns_min_u(c->retries + c->syn_retries, UINT8_MAX),
		.probes = (uint8_t)ns_min_u(c->probe_cnt, UINT8_MAX),
		.backoff = c->backoff,
		.has_ts = tcp_has(c, TCP_F_TS),
		.has_sack = tcp_has(c, TCP_F_SACK),
		.has_wscale = tcp_has(c, TCP_F_WSCALE),
		.has_ecn = c->ecn.mode != TCP_ECN_OFF,
		.has_ecn_seen = m->has_ect,
		.snd_wscale = c->snd_wscale,
		.rcv_wscale = c->rcv_wscale,
		.rto_us = us_of(tcp_rto_ns(c)),
		.ato_us = us_of(TCP_DELACK_NS),
		.snd_mss = c->mss,
		.rcv_mss = c->rcv_mss,
		.unacked = segs_of(c, tcp_flight(c)),
		.sacked = segs_of(c, c->sacked_len),
		.lost = segs_of(c, c->lost_len),
		.retrans = segs_of(c, c->retrans_len),
		.last_data_sent_ms = ms_since(now, c->data_tx_at),
		.last_data_recv_ms = ms_since(now, c->data_rx_at),
		.last_ack_recv_ms = ms_since(now, c->ack_rx_at),
		.pmtu = c->pmtu ? c->pmtu : c->dst.mtu,
		.rcv_ssthresh = ns_min_u(c->rcvbuf, c->wnd_clamp),
		.rtt_us = us_of(c->srtt_ns),
		.rttvar_us = us_of(c->rttvar_ns),
		.snd_ssthresh = c->cc.ssthresh == TCP_SSTHRESH_INFINITE
					? TCP_SSTHRESH_INFINITE
					: segs_of(c, c->cc.ssthresh),
		.snd_cwnd = c->mss ? c->cc.cwnd / c->mss : 0,
		.advmss = c->adv_mss,
		.reordering = c->reordering,
		.rcv_rtt_us = us_of(c->rcv_rtt_ns),
		.rcv_space = c->took_max,
		.total_retrans = m->total_retrans,
		.snd_wnd = c->snd_wnd,
		.rcv_wnd = (uint32_t)seq_diff(c->rcv_adv, c->rcv_acked),
		.min_rtt_us = us_of(c->min_rtt_ns),
		.notsent_bytes = TCP_IN(c->state, TCPF_SYNCHRONISED) ? tcp_unsent(c) : 0,
		.bytes_acked = m->bytes_acked,
		.bytes_received = m->bytes_received,
		.bytes_sent = m->bytes_sent,
		.bytes_retrans = m->bytes_retrans,
		.segs_out = m->segs_out,
		.segs_in = m->segs_in,
		.data_segs_in = m->data_segs_in,
		.data_segs_out = m->data_segs_out,
		.busy_us = (chrono_ns(c, TCP_CHRONO_BUSY, now) + rwnd_ns + sndbuf_ns) / NS_PER_US,
		.rwnd_limited_us = rwnd_ns / NS_PER_US,
		.sndbuf_limited_us = sndbuf_ns / NS_PER_US,
		.delivered = m->delivered,
		.delivered_ce = m->delivered_ce,
		.dsack_dups = m->dsack_dups,
		.reord_seen = m->reord_seen,
		.rcv_ooopack = m->ooo_segs,
		.total_rto = m->rto_cnt,
		.total_rto_recoveries = m->rto_recoveries,
		.total_rto_ms = (uint32_t)(rto_ns(m, now) / NS_PER_MS),
		.pacing_rate = c->pace.rate,
		.max_pacing_rate = c->pace.max_rate,
		.delivery_rate =
			c->rate.sample_ns ? c->rate.sample_len * NS_PER_SEC / c->rate.sample_ns : 0,
		.is_delivery_app_limited = c->rate.is_sample_app_limited,
	};
	if (c->ecn.mode == TCP_ECN_ACCURATE)
		tcp_accecn_info(c, ret_info);
	ret_info->has_bbr = c->cc.ops && tcp_cc_bbr_info(&c->cc, &ret_info->bbr);
	return 0;
}
