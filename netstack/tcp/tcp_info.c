/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_info.c - what TCP_INFO tells of a connection; the embedder lays it out */
#include "tcp/tcp_int.h"

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

	*ret_info = (struct ns_tcp_info){
		.state = tcp_state_linux(c->state),
		.ca_state = (uint8_t)c->ca,
		.retransmits = (uint8_t)ns_min_u(c->retries + c->syn_retries, UINT8_MAX),
		.probes = (uint8_t)ns_min_u(c->probe_cnt, UINT8_MAX),
		.backoff = c->backoff,
		.has_ts = tcp_has(c, TCP_F_TS),
		.has_sack = tcp_has(c, TCP_F_SACK),
		.has_wscale = tcp_has(c, TCP_F_WSCALE),
		.has_ecn = c->ecn.is_on,
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
		.pmtu = c->pmtu && c->pmtu < c->dst.mtu ? c->pmtu : c->dst.mtu,
		.rcv_ssthresh = c->rcvbuf,
		.rtt_us = us_of(c->srtt_ns),
		.rttvar_us = us_of(c->rttvar_ns),
		.snd_ssthresh = c->cc.ssthresh == TCP_SSTHRESH_INFINITE
					? TCP_SSTHRESH_INFINITE
					: segs_of(c, c->cc.ssthresh),
		.snd_cwnd = c->mss ? c->cc.cwnd / c->mss : 0,
		.advmss = c->adv_mss,
		.reordering = TCP_DUPTHRESH,
		.rcv_rtt_us = us_of(c->rcv_rtt_ns),
		.rcv_space = c->rcvbuf,
		.total_retrans = c->total_retrans,
		.snd_wnd = c->snd_wnd,
		.rcv_wnd = tcp_rcv_wnd(c),
		.min_rtt_us = us_of(c->min_rtt_ns),
		.notsent_bytes = TCP_IN(c->state, TCPF_SYNCHRONISED) ? tcp_unsent(c) : 0,
		.bytes_acked = c->bytes_acked,
		.bytes_received = c->bytes_received,
		.bytes_sent = c->bytes_sent,
		.bytes_retrans = c->bytes_retrans,
		.segs_out = c->segs_out,
		.segs_in = c->segs_in,
		.data_segs_in = c->data_segs_in,
		.data_segs_out = c->data_segs_out,
	};
	return 0;
}
