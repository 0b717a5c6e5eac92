/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_int.h - who does what with the objects of TCP (tcp_obj.h); this folder only
 *
 * Theory of operation
 *
 * Nothing sends but tcp_output(), once a turn, over the connections that were marked dirty: arriving
 * segments, timers and the program only change state and mark. So an acknowledgement leaves once a
 * turn, with the window the program's reads have opened meanwhile, and octets leave in as large
 * super-segments as the turn allows. The exceptions send at once because nothing is gained by waiting:
 * resets, handshakes of half-open objects, TIME-WAIT answers, duplicate acknowledgements.
 *
 *   tcp.c          the instance: made, freed, told of ICMP, listed
 *   tcp_conn.c     the object: made, failed, freed, marked dirty
 *   tcp_user.c     what the program calls: transport_ops
 *   tcp_opt_user.c its options                      tcp_info.c     TCP_INFO
 *   tcp_in.c       arrival, RFC 9293 3.10.7        tcp_out.c      what to send now
 *   tcp_listen.c   half-open objects, accept queue  tcp_xmit.c     building a segment
 *   tcp_cookie.c   SYN cookies
 *   tcp_timewait.c compact TIME-WAIT                tcp_timer.c    one function a timer
 *   tcp_ack.c      fifth check                      tcp_recovery.c open, disorder, recovery, loss
 *   tcp_rtx.c      transmission records             tcp_sack.c     scoreboard
 *   tcp_rack.c     what is lost, by time; tail loss probes
 *   tcp_undo.c     recovery that was in vain
 *   tcp_rate.c     delivery rate                    tcp_pace.c     not faster than at a rate
 *   tcp_rcv.c      text, window, when to ACK        tcp_reasm.c    out-of-order islands
 *   tcp_ecn.c tcp_accecn.c  congestion told by routers
 *   tcp_urg.c      urgent data                      tcp_mtup.c     what the path takes
 *   tcp_fastopen.c octets in the SYN
 *   tcp_rtt.c tcp_isn.c tcp_seg.c tcp_fsm.c tcp_cc.c cc_*.c
 *
 * Time
 *
 * Eight timers a connection, see tcp_timer.c. Half-open objects have one each, TIME-WAIT entries share one.
 */
#pragma once

#include "tcp/tcp_obj.h"

/** struct tcp_arrival - one segment on its way through the checks of RFC 9293 3.10.7.4 */
struct tcp_arrival {
	struct tcp_conn *c;
	struct tcp_seg *s;
	struct mono now;
	enum drop drop;  /* set by the step that stops */
	uint32_t len;    /* octets, before any were trimmed */
	bool is_ts_news; /* its timestamp becomes TS.Recent if the fifth check lets it pass */
	bool was_synack; /* of a simultaneous open: the SYN was known and is trimmed */
};

enum step {
	STEP_NEXT,
	STEP_STOP,
};

typedef enum step (*step_fn)(struct tcp_arrival *a);

/* --- small readings ------------------------------------------------------------------------ */

/** tcp_knob() - a value of knobs.def */
static inline int tcp_knob(const struct tcp *t, enum ns_knob knob)
{
	return core_knob(t->core, knob);
}

/** tcp_knob_u() - one that is never negative */
static inline uint32_t tcp_knob_u(const struct tcp *t, enum ns_knob knob)
{
	return (uint32_t)core_knob(t->core, knob);
}

/** tcp_knob_seconds() - a value in seconds as a duration */
static inline uint64_t tcp_knob_seconds(const struct tcp *t, enum ns_knob knob)
{
	return tcp_knob_u(t, knob) * NS_PER_SEC;
}

/** tcp_window_max() - octets of window a receive buffer grows to by itself: half of the buffer */
static inline uint32_t tcp_window_max(const struct tcp *t)
{
	return tcp_knob_u(t, NS_KNOB_tcp_rmem_max) / 2;
}

static inline const struct ns_endpoint *tcp_local(const struct tcp_conn *c)
{
	return &c->dc.key.local;
}

static inline const struct ns_endpoint *tcp_remote(const struct tcp_conn *c)
{
	return &c->dc.key.remote;
}

/** tcp_ip_opts_of() - those that count for segments to @remote */
static inline const struct tcp_ip_opts *tcp_ip_opts_of(const struct tcp_conn *c,
						       const struct ns_addr *remote)
{
	return &c->ip_opts[!ns_addr_is_v4(remote)];
}

static inline bool tcp_has(const struct tcp_conn *c, uint32_t flag)
{
	return (c->flags & flag) != 0;
}

/** tcp_flight() - sequence numbers sent and not acknowledged (FlightSize) */
static inline uint32_t tcp_flight(const struct tcp_conn *c)
{
	return (uint32_t)seq_diff(c->snd_nxt, c->snd_una);
}

/** tcp_pipe() - RFC 6675 4: octets believed to be in the network */
static inline uint32_t tcp_pipe(const struct tcp_conn *c)
{
	return tcp_flight(c) + c->retrans_len - c->sacked_len - c->lost_len;
}

/** tcp_is_sent_after() - RFC 8985 6.2 RACK_sent_after(): the order of sending; within one moment that of the octets */
static inline bool tcp_is_sent_after(struct mono tx1, struct seq end1, struct mono tx2,
				     struct seq end2)
{
	return mono_lt(tx2, tx1) || (tx1.ns == tx2.ns && seq_lt(end2, end1));
}

/** tcp_fin_acked() - our FIN was sent and acknowledged */
static inline bool tcp_fin_acked(const struct tcp_conn *c)
{
	return tcp_has(c, TCP_F_FIN_SENT) && seq_lt(c->snd_fin, c->snd_una);
}

/** tcp_unsent() - octets of the send queue that were never sent */
static inline uint32_t tcp_unsent(const struct tcp_conn *c)
{
	uint32_t sent = tcp_flight(c);

	if (tcp_has(c, TCP_F_FIN_SENT))
		return 0;
	return (uint32_t)bytes_len(&c->sndq) - sent;
}

/** tcp_rcv_wnd() - octets of the window we offered that are still open */
static inline uint32_t tcp_rcv_wnd(const struct tcp_conn *c)
{
	int32_t n = seq_diff(c->rcv_adv, c->rcv_nxt);

	return n > 0 ? (uint32_t)n : 0;
}

/** tcp_ts_now() - our timestamp clock, 1 ms ticks from a random offset (RFC 7323 5.4) */
static inline uint32_t tcp_ts_now(uint32_t ts_off, struct mono now)
{
	return (uint32_t)(now.ns / NS_PER_MS) + ts_off;
}

static inline struct ns_stats *tcp_stats(const struct tcp *t)
{
	return t->core->stats;
}

/* --- tcp_conn.c ---------------------------------------------------------------------------- */

ns_must_check struct tcp_conn *tcp_conn_new(struct tcp *t);
void tcp_conn_free(struct tcp_conn *c);
void tcp_conn_detach(struct tcp_conn *c);
void tcp_conn_reap(struct tcp_conn *c);
void tcp_conn_dirty(struct tcp_conn *c);
void tcp_conn_tell(struct tcp_conn *c, uint32_t mask, int err);
void tcp_conn_fail(struct tcp_conn *c, int err, const char *why);
void tcp_conn_reset(struct tcp_conn *c, int err, const char *why, struct mono now);
ns_must_check int tcp_conn_hash(struct tcp_conn *c);
void tcp_conn_orphan(struct tcp_conn *c, struct mono now);
void tcp_conn_start(struct tcp_conn *c, struct mono now);
void tcp_conn_established(struct tcp_conn *c, struct mono now);

/* --- tcp_in.c ------------------------------------------------------------------------------ */

enum drop tcp_input(void *self, struct pkt *p, const struct ip_rx *ip, struct mono now);
enum drop tcp_conn_input(struct tcp_conn *c, struct tcp_seg *s, struct mono now);
void tcp_challenge_ack(struct tcp_conn *c, struct mono now);
bool tcp_oow_allows(const struct tcp *t, struct mono *at, const struct tcp_seg *s, struct mono now);

/* --- tcp_listen.c -------------------------------------------------------------------------- */

enum drop tcp_listen_input(struct tcp_conn *lc, struct tcp_seg *s, const struct seq *iss,
			   struct mono now);
enum drop tcp_halfopen_input(struct tcp *t, struct demux_conn *dc, struct tcp_seg *s,
			     struct mono now);
void tcp_halfopen_error(struct tcp *t, struct demux_conn *dc, const struct icmp_err *e);
ns_must_check int tcp_listen_start(struct tcp_conn *c, int backlog);
void tcp_listen_stop(struct tcp_conn *c, struct mono now, bool is_quiet);
struct tcp_conn *tcp_listen_take(struct tcp_conn *c);
void tcp_listen_ready(struct tcp_conn *c);

/* --- tcp_cookie.c -------------------------------------------------------------------------- */

void tcp_cookie_init(struct tcp *t);
struct seq tcp_cookie_make(const struct tcp *t, const struct demux_key *k, struct seq irs,
			   uint16_t mss, struct mono now);
uint16_t tcp_cookie_check(const struct tcp *t, const struct demux_key *k, struct seq irs,
			  struct seq cookie, struct mono now);
uint32_t tcp_cookie_ts(const struct tcp_opts *o, uint32_t ts_off, struct mono now);
void tcp_cookie_ts_read(const struct tcp_seg *s, uint32_t ts_off, struct tcp_opts *ret_o);

/* --- tcp_timewait.c ------------------------------------------------------------------------ */

void tcp_timewait_enter(struct tcp_conn *c, struct mono now);
enum drop tcp_timewait_input(struct tcp *t, struct demux_conn *dc, struct tcp_seg *s,
			     struct mono now);
void tcp_timewait_clear(struct tcp *t);
void tcp_timewait_init(struct tcp *t);

/* --- tcp_ack.c ----------------------------------------------------------------------------- */

enum step tcp_ack_in(struct tcp_arrival *a);
void tcp_wake_writer(struct tcp_conn *c);
void tcp_window_in(struct tcp_conn *c, const struct tcp_seg *s);

/* --- tcp_rtx.c ----------------------------------------------------------------------------- */

/** struct tcp_delivered - what one acknowledgement took out of the network */
struct tcp_delivered {
	uint32_t acked;  /* octets, cumulative, that were not SACKed before */
	uint32_t sacked; /* octets newly SACKed */
	uint64_t rtt_ns; /* a valid sample, 0: none */
	bool is_una_moved;
	bool has_retrans; /* some of it was sent more than once: no sample */
	bool is_ece;      /* it tells of congestion (RFC 3168 6.1.2) */
	/* of the segment that brought it */
	bool has_ecr, has_sack, has_dsack, is_dup;
	bool has_orig; /* some of it was outstanding at the last timeout and sent once only */
	bool has_reord;
	struct seq reord; /* first octet of it that came later than others sent after it */
	struct tcp_rate_sample rate;
	uint32_t ts_ecr;
	struct seq fack; /* highest octet delivered before */
	struct tcp_sack_block dsack;
};

bool tcp_rtx_can_add(struct tcp_conn *c, struct mono now);
void tcp_rtx_add(struct tcp_conn *c, struct seq seq, uint32_t len, struct mono now);
void tcp_rtx_ack(struct tcp_conn *c, struct seq ack, struct tcp_delivered *d, struct mono now);
bool tcp_rtx_split(struct tcp_conn *c, struct tcp_rec *r, uint32_t len);
void tcp_rtx_merge_prev(struct tcp_conn *c, struct tcp_rec *r);
struct tcp_rec *tcp_rtx_next(struct tcp_conn *c);
void tcp_rtx_sent(struct tcp_conn *c, struct tcp_rec *r, struct mono now);
void tcp_rtx_mark_sacked(struct tcp_conn *c, struct tcp_rec *r);
void tcp_rtx_mark_lost(struct tcp_conn *c, struct tcp_rec *r);
void tcp_rtx_probed(struct tcp_conn *c, struct tcp_rec *r, struct mono now);
void tcp_rtx_lose_all(struct tcp_conn *c, bool is_timeout, struct mono since);
void tcp_rtx_lose_head(struct tcp_conn *c);
void tcp_rtx_unmark_lost(struct tcp_conn *c);
void tcp_rtx_clear(struct tcp_conn *c);
struct tcp_rec *tcp_rec_next(const struct tcp_conn *c, const struct tcp_rec *r);
struct tcp_rec *tcp_rec_prev(const struct tcp_conn *c, const struct tcp_rec *r);
struct tcp_rec *tcp_rec_first(const struct tcp_conn *c);
struct tcp_rec *tcp_rec_last(const struct tcp_conn *c);

/* --- tcp_sack.c ---------------------------------------------------------------------------- */

void tcp_sack_in(struct tcp_conn *c, const struct tcp_seg *s, struct tcp_delivered *d,
		 struct mono now);
void tcp_sack_reordered(struct tcp_conn *c, const struct tcp_delivered *d);

/* --- tcp_rack.c ---------------------------------------------------------------------------- */

void tcp_rack_start(struct tcp_conn *c);
void tcp_rack_delivered(struct tcp_conn *c, const struct tcp_rec *r, struct seq end,
			struct tcp_delivered *d, struct mono now);
void tcp_rack_dsack(struct tcp_conn *c);
void tcp_rack_recovered(struct tcp_conn *c);
ns_must_check bool tcp_rack_detect(struct tcp_conn *c, struct mono now);
struct mono tcp_rack_timeout_since(const struct tcp_conn *c, struct mono now);
void tcp_tlp_schedule(struct tcp_conn *c, struct mono now);
void tcp_tlp_sent(struct tcp_conn *c, bool is_again);
void tcp_tlp_on_ack(struct tcp_conn *c, struct tcp_delivered *d, uint32_t flight, struct mono now);

/* --- tcp_rate.c ---------------------------------------------------------------------------- */

void tcp_rate_start(struct tcp_conn *c);
void tcp_rate_sent(struct tcp_conn *c, struct tcp_rec *r);
void tcp_rate_delivered(struct tcp_conn *c, const struct tcp_rec *r, struct seq end,
			struct tcp_delivered *d, struct mono now);
void tcp_rate_sample(struct tcp_conn *c, struct tcp_rate_sample *s, uint32_t delivered,
		     struct mono now);
void tcp_rate_mark_app_limited(struct tcp_conn *c);
void tcp_rate_check_app_limited(struct tcp_conn *c);

/* --- tcp_pace.c ---------------------------------------------------------------------------- */

void tcp_pace_start(struct tcp_conn *c);
void tcp_pace_update(struct tcp_conn *c);
void tcp_pace_set_max(struct tcp_conn *c, uint64_t rate);
uint64_t tcp_pace_delay_ns(const struct tcp_conn *c, struct mono now);
bool tcp_pace_holds(struct tcp_conn *c, struct mono now);
uint32_t tcp_pace_quantum(const struct tcp_conn *c, uint32_t gso);
void tcp_pace_sent(struct tcp_conn *c, uint32_t len, struct mono now);

/* --- tcp_undo.c ---------------------------------------------------------------------------- */

void tcp_undo_begin(struct tcp_conn *c);
void tcp_undo_sent_again(struct tcp_conn *c, uint32_t len, struct mono now);
ns_must_check bool tcp_undo_on_ack(struct tcp_conn *c, const struct tcp_delivered *d);

/* --- tcp_recovery.c ------------------------------------------------------------------------ */

void tcp_recovery_on_ack(struct tcp_conn *c, struct tcp_delivered *d, uint32_t flight,
			 struct mono now);
void tcp_recovery_on_reo(struct tcp_conn *c, struct mono now);
void tcp_recovery_on_rto(struct tcp_conn *c, struct mono now);
void tcp_recovery_on_mtu(struct tcp_conn *c);
void tcp_recovery_sent(struct tcp_conn *c, bool is_limited);

/* --- tcp_rtt.c ----------------------------------------------------------------------------- */

void tcp_rtt_init(struct tcp_conn *c);
void tcp_rtt_sample(struct tcp_conn *c, uint64_t rtt_ns);
void tcp_rtt_forget(struct tcp_conn *c);
uint64_t tcp_rto_ns(const struct tcp_conn *c);

/* --- tcp_rcv.c ----------------------------------------------------------------------------- */

enum step tcp_text_in(struct tcp_arrival *a);
enum step tcp_fin_in(struct tcp_arrival *a);
void tcp_rcv_start(struct tcp_conn *c);
void tcp_rcv_syn_text(struct tcp_conn *c, const struct tcp_seg *syn, struct mono now);
uint8_t tcp_rcv_wscale_for(uint32_t max_len);
uint16_t tcp_rcv_offer(struct tcp_conn *c, bool is_syn);
bool tcp_rcv_update_due(const struct tcp_conn *c);
void tcp_rcv_acked(struct tcp_conn *c);
void tcp_rcv_quickack(struct tcp_conn *c);

/* --- tcp_reasm.c --------------------------------------------------------------------------- */

enum drop tcp_reasm_add(struct tcp_conn *c, struct tcp_seg *s);
void tcp_reasm_pull(struct tcp_conn *c);
void tcp_reasm_clear(struct tcp_conn *c);
void tcp_reasm_blocks(struct tcp_conn *c, struct tcp_opts *o);
void tcp_reasm_dsack(struct tcp_conn *c, struct seq start, struct seq end);

/* --- tcp_timer.c --------------------------------------------------------------------------- */

void tcp_timers_init(struct tcp_conn *c);
void tcp_timers_cancel(struct tcp_conn *c);
void tcp_timer_set(struct tcp_conn *c, struct timer *t, struct mono when);
void tcp_timer_stop(struct tcp_conn *c, struct timer *t);
void tcp_rto_arm(struct tcp_conn *c, struct mono now);
void tcp_rto_series_end(struct tcp_conn *c, struct mono now);
void tcp_persist_arm(struct tcp_conn *c, uint64_t delay_ns, struct mono now);
void tcp_keep_restart(struct tcp_conn *c, struct mono now);

/* --- tcp_out.c, tcp_xmit.c ------------------------------------------------------------------ */

void tcp_output(void *self, struct mono now);
void tcp_pmtu_sync(struct tcp_conn *c, struct mono now);
ns_must_check int tcp_route(struct tcp_conn *c);
struct ns_flow tcp_flow(const struct tcp_conn *c, const struct ns_addr *src, uint16_t sport,
			const struct ns_endpoint *remote);
ns_must_check int tcp_route_from(struct tcp_conn *c, const struct ns_addr *src);
void tcp_mss_sync(struct tcp_conn *c);
ns_must_check int tcp_xmit(struct tcp_conn *c, struct seq seq, uint32_t len, uint8_t flags,
			   struct mono now);
int tcp_send_ack(struct tcp_conn *c, struct mono now);
void tcp_send_rst(struct tcp_conn *c, struct mono now);
uint16_t tcp_mss_for(const struct dst *d, const struct ns_addr *remote, uint16_t user_mss);
void tcp_reply(struct tcp *t, struct tcp_emit *e, uint8_t tos, struct mono now);
void tcp_reply_rst(struct tcp *t, const struct tcp_conn *of, const struct tcp_seg *s,
		   struct mono now);

/* --- tcp.c --------------------------------------------------------------------------------- */

void tcp_rows(void *self, void (*fn)(void *ctx, const struct ns_sock_row *row), void *ctx);

/* --- tcp_info.c ---------------------------------------------------------------------------- */

int tcp_info(void *conn, struct mono now, struct ns_tcp_info *ret_info);
void tcp_chrono_update(struct tcp_conn *c, struct mono now);

/* --- tcp_opt_user.c ------------------------------------------------------------------------ */

ns_must_check int tcp_setopt(void *conn, enum ns_sockopt opt, int value);
ns_must_check int tcp_getopt(void *conn, enum ns_sockopt opt, int *ret_value);

/* --- tcp_user.c ---------------------------------------------------------------------------- */

void tcp_user_flush(struct tcp_conn *c, struct mono now);
uint32_t tcp_send_space(const struct tcp_conn *c);

/* --- tcp_ecn.c ----------------------------------------------------------------------------- */

enum tcp_ecn_mode tcp_ecn_agree(const struct tcp *t, uint8_t ace);
bool tcp_ecn_syn_in(const struct tcp *t, const struct tcp_seg *s, struct tcp_ecn_hs *hs);
void tcp_ecn_synack_out(const struct tcp *t, enum tcp_ecn_mode mode, uint32_t retries,
			struct tcp_ecn_hs *hs, struct tcp_emit *e);
void tcp_ecn_enter(struct tcp_conn *c, enum tcp_ecn_mode mode, const struct tcp_ecn_hs *hs);
void tcp_ecn_crossed(struct tcp_conn *c, const struct tcp_seg *s);
bool tcp_ecn_syn_again(struct tcp_conn *c, const struct tcp_seg *s);
void tcp_ecn_answered(struct tcp_conn *c, const struct tcp_seg *s);
void tcp_ecn_out(struct tcp_conn *c, bool is_new, uint32_t len, struct tcp_emit *e, uint8_t *tos);
void tcp_ecn_text(struct tcp_conn *c, const struct tcp_seg *s);
bool tcp_ecn_is_echo(const struct tcp_conn *c, const struct tcp_seg *s);

/* --- tcp_fastopen.c ------------------------------------------------------------------------- */

/** enum tcp_tfo_knob - bits of the knob tcp_fastopen, those of Linux */
enum tcp_tfo_knob {
	TCP_TFO_CLIENT = 1,
	TCP_TFO_SERVER = 2,
	TCP_TFO_CLIENT_NO_COOKIE = 4,
	TCP_TFO_SERVER_NO_COOKIE = 0x200,
	TCP_TFO_ALL_LISTENERS = 0x400,
};

void tcp_fastopen_init(struct tcp *t);
int tcp_fastopen_set_keys(void *conn, const uint8_t *keys, uint32_t len);
uint32_t tcp_fastopen_keys(const void *conn, uint8_t keys[NS_FASTOPEN_KEYS_LEN]);
void tcp_fastopen_grant(const struct tcp_conn *lc, const struct tcp_seg *s,
			struct tcp_tfo_opt *ret_o);
enum tcp_tfo_verdict tcp_fastopen_judge(struct tcp_conn *lc, const struct tcp_seg *s,
					struct mono now);
void tcp_fastopen_begin(struct tcp_conn *c, struct tcp_listener *l);
void tcp_fastopen_end(struct tcp_conn *c);
void tcp_fastopen_reset(struct tcp_conn *c, struct mono now);
void tcp_fastopen_forget(struct tcp_listener *l);
void tcp_fastopen_acked(struct tcp_conn *c, const struct tcp_seg *s, struct mono now);

/* --- tcp_fastopen_client.c ------------------------------------------------------------------ */

void tcp_fastopen_over(struct tcp_conn *c);
void tcp_fastopen_timeout(struct tcp_conn *c, uint32_t before, bool is_last, struct mono now);
void tcp_fastopen_connect(struct tcp_conn *c, struct mono now);
uint32_t tcp_fastopen_len(const struct tcp_conn *c);
void tcp_fastopen_sent(struct tcp_conn *c, uint32_t len);
void tcp_fastopen_lost(struct tcp_conn *c, struct mono now);
void tcp_fastopen_answered(struct tcp_conn *c, const struct tcp_seg *s);

/* --- tcp_accecn.c -------------------------------------------------------------------------- */

uint8_t tcp_accecn_code(uint8_t ecn);
bool tcp_accecn_is_yes(uint8_t ace);
void tcp_accecn_start(struct tcp_conn *c);
void tcp_accecn_synack(struct tcp_conn *c, const struct tcp_seg *s);
void tcp_accecn_synack_again(struct tcp_conn *c, const struct tcp_seg *s);
void tcp_accecn_crossed(struct tcp_conn *c, const struct tcp_seg *s);
void tcp_accecn_third(struct tcp_conn *c, const struct tcp_seg *s);
void tcp_accecn_packet(struct tcp_conn *c, const struct tcp_seg *s, uint32_t len);
void tcp_accecn_duplicate(struct tcp_conn *c);
uint32_t tcp_accecn_ack(struct tcp_conn *c, const struct tcp_seg *s, uint32_t segs, bool is_later);
void tcp_accecn_syn_option(const struct tcp *t, struct tcp_emit *e);
void tcp_accecn_out(struct tcp_conn *c, bool is_new, uint32_t len, struct tcp_emit *e);
uint32_t tcp_accecn_room(const struct tcp_conn *c);
bool tcp_accecn_wants_ack(const struct tcp_conn *c);
bool tcp_accecn_is_single(const struct tcp_conn *c);
void tcp_accecn_info(const struct tcp_conn *c, struct ns_tcp_info *info);

/* --- tcp_mtup.c ---------------------------------------------------------------------------- */

void tcp_mtup_start(struct tcp_conn *c, struct mono now);
uint32_t tcp_mtup_limit(const struct tcp_conn *c, uint32_t mtu);
void tcp_mtup_black_hole(struct tcp_conn *c, struct mono now);
uint32_t tcp_mtup_len(struct tcp_conn *c, uint32_t wnd, uint32_t cwnd, struct mono now);
void tcp_mtup_sent(struct tcp_conn *c, struct seq seq, uint32_t len);
void tcp_mtup_on_ack(struct tcp_conn *c, struct mono now);
ns_must_check bool tcp_mtup_on_loss(struct tcp_conn *c, struct mono now);
void tcp_mtup_on_rto(struct tcp_conn *c, struct mono now);

/* --- tcp_urg.c ----------------------------------------------------------------------------- */

enum step tcp_urg_in(struct tcp_arrival *a);
uint32_t tcp_urg_news(struct tcp_conn *c);
uint32_t tcp_urg_off(void *conn);
void tcp_urg_mark(void *conn);
void tcp_urg_acked(struct tcp_conn *c);
void tcp_urg_out(const struct tcp_conn *c, struct tcp_emit *e);

/* --- tcp_isn.c ----------------------------------------------------------------------------- */

void tcp_isn_init(struct tcp *t);
uint64_t tcp_tuple_hash(const struct hash_key *key, const struct demux_key *k, const void *more,
			size_t len);
struct seq tcp_isn(const struct tcp *t, const struct demux_key *k, struct mono now);
uint32_t tcp_ts_offset(const struct tcp *t, const struct demux_key *k);
