/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_tcp_info.c - what the stack tells of a connection, laid out as Linux's struct tcp_info
 *
 * The layout is that of linux 6.18 include/uapi/linux/tcp.h, written down here because the headers that this is
 * built with are older. Members were only ever added at the end; a program that knows fewer asks for fewer
 * octets (args_opt_out() cuts).
 */
#include <string.h>

#include <linux/inet_diag.h>
#include <linux/tcp.h>

#include "daemon/agent/agent_options.h"

/* enum tcpi_option bits that older headers lack */
#define OPT_ECN_SEEN  16u
#define OPT_TFO_CHILD 128u

/** struct info618 - struct tcp_info of linux 6.18; names without their "tcpi_" */
struct info618 {
	uint8_t state, ca_state, retransmits, probes, backoff, options;
	uint8_t wscales;   /* snd_wscale in the low four bits, rcv_wscale in the high */
	uint8_t app_flags; /* delivery_rate_app_limited:1, fastopen_client_fail:2 */
	uint32_t rto, ato, snd_mss, rcv_mss;
	uint32_t unacked, sacked, lost, retrans, fackets;
	uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
	uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering;
	uint32_t rcv_rtt, rcv_space, total_retrans;
	uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
	uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
	uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
	uint32_t delivered, delivered_ce;
	uint64_t bytes_sent, bytes_retrans;
	uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd, rcv_wnd, rehash;
	uint16_t total_rto, total_rto_recoveries;
	uint32_t total_rto_time, received_ce;
	uint32_t delivered_e1_bytes, delivered_e0_bytes, delivered_ce_bytes;
	uint32_t received_e1_bytes, received_e0_bytes, received_ce_bytes;
	uint16_t accecn_fail_mode, accecn_opt_seen;
};

_Static_assert(sizeof(struct info618) == 280, "linux 6.18 sizeof(struct tcp_info)");
_Static_assert(sizeof(struct info618) <= AOPT_VALUE_MAX, "struct tcp_info has grown");
_Static_assert(offsetof(struct info618, rto) == offsetof(struct tcp_info, tcpi_rto) &&
		       offsetof(struct info618, pacing_rate) ==
			       offsetof(struct tcp_info, tcpi_pacing_rate) &&
		       offsetof(struct info618, delivery_rate) ==
			       offsetof(struct tcp_info, tcpi_delivery_rate) &&
		       offsetof(struct info618, snd_wnd) == offsetof(struct tcp_info, tcpi_snd_wnd),
	       "as the older header, as far as that goes");

static uint8_t options_of(const struct ns_tcp_info *in)
{
	return (uint8_t)((in->has_ts ? TCPI_OPT_TIMESTAMPS : 0) |
			 (in->has_sack ? TCPI_OPT_SACK : 0) |
			 (in->has_wscale ? TCPI_OPT_WSCALE : 0) | (in->has_ecn ? TCPI_OPT_ECN : 0) |
			 (in->has_ecn && in->has_ecn_seen ? OPT_ECN_SEEN : 0) |
			 (in->has_syn_data ? TCPI_OPT_SYN_DATA : 0) |
			 (in->is_tfo_child ? OPT_TFO_CHILD : 0));
}

size_t aopt_tcp_info(const struct ns_tcp_info *in, uint8_t buf[AOPT_VALUE_MAX])
{
	struct info618 t = {
		.state = in->state,
		.ca_state = in->ca_state,
		.retransmits = in->retransmits,
		.probes = in->probes,
		.backoff = in->backoff,
		.options = options_of(in),
		.wscales = (uint8_t)((in->snd_wscale & 0xfu) | (in->rcv_wscale & 0xfu) << 4),
		.app_flags = (uint8_t)((in->is_delivery_app_limited ? 1u : 0u) |
				       (in->fastopen_client_fail & 3u) << 1),
		.rto = in->rto_us,
		.ato = in->ato_us,
		.snd_mss = in->snd_mss,
		.rcv_mss = in->rcv_mss,
		.unacked = in->unacked,
		.sacked = in->sacked,
		.lost = in->lost,
		.retrans = in->retrans,
		.fackets = in->fackets,
		.last_data_sent = in->last_data_sent_ms,
		.last_data_recv = in->last_data_recv_ms,
		.last_ack_recv = in->last_ack_recv_ms,
		.pmtu = in->pmtu,
		.rcv_ssthresh = in->rcv_ssthresh,
		.rtt = in->rtt_us,
		.rttvar = in->rttvar_us,
		.snd_ssthresh = in->snd_ssthresh,
		.snd_cwnd = in->snd_cwnd,
		.advmss = in->advmss,
		.reordering = in->reordering,
		.rcv_rtt = in->rcv_rtt_us,
		.rcv_space = in->rcv_space,
		.total_retrans = in->total_retrans,
		.pacing_rate = in->pacing_rate,
		.max_pacing_rate = in->max_pacing_rate,
		.bytes_acked = in->bytes_acked,
		.bytes_received = in->bytes_received,
		.segs_out = in->segs_out,
		.segs_in = in->segs_in,
		.notsent_bytes = in->notsent_bytes,
		.min_rtt = in->min_rtt_us,
		.data_segs_in = in->data_segs_in,
		.data_segs_out = in->data_segs_out,
		.delivery_rate = in->delivery_rate,
		.busy_time = in->busy_us,
		.rwnd_limited = in->rwnd_limited_us,
		.sndbuf_limited = in->sndbuf_limited_us,
		.delivered = in->delivered,
		.delivered_ce = in->delivered_ce,
		.bytes_sent = in->bytes_sent,
		.bytes_retrans = in->bytes_retrans,
		.dsack_dups = in->dsack_dups,
		.reord_seen = in->reord_seen,
		.rcv_ooopack = in->rcv_ooopack,
		.snd_wnd = in->snd_wnd,
		.rcv_wnd = in->rcv_wnd,
		.total_rto = in->total_rto,
		.total_rto_recoveries = in->total_rto_recoveries,
		.total_rto_time = in->total_rto_ms,
		.received_ce = in->received_ce,
		.delivered_e1_bytes = in->delivered_e1_bytes,
		.delivered_e0_bytes = in->delivered_e0_bytes,
		.delivered_ce_bytes = in->delivered_ce_bytes,
		.received_e1_bytes = in->received_e1_bytes,
		.received_e0_bytes = in->received_e0_bytes,
		.received_ce_bytes = in->received_ce_bytes,
	};

	memcpy(buf, &t, sizeof(t));
	return sizeof(t);
}

size_t aopt_cc_info(const struct ns_tcp_info *in, uint8_t buf[AOPT_VALUE_MAX])
{
	struct tcp_bbr_info b = {
		.bbr_bw_lo = (uint32_t)in->bbr.bw,
		.bbr_bw_hi = (uint32_t)(in->bbr.bw >> 32),
		.bbr_min_rtt = in->bbr.min_rtt_us,
		.bbr_pacing_gain = in->bbr.pacing_gain,
		.bbr_cwnd_gain = in->bbr.cwnd_gain,
	};

	if (!in->has_bbr)
		return 0;
	memcpy(buf, &b, sizeof(b));
	return sizeof(b);
}
