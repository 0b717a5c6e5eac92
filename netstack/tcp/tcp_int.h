/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_int.h - the objects of TCP and who does what with them; this folder only
 *
 * Theory of operation
 *
 * Four kinds of object are found by four-tuple or port: a connection (struct tcp_conn), the handshake
 * of one that a peer opens (struct tcp_halfopen, small, because a flood makes many), what is left of one
 * after both FINs (struct tcp_tw, small, because a busy server has many), and the listener, which is a
 * connection object in LISTEN with a struct tcp_listener.
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
 * Ownership
 *
 * A connection belongs to the program that opened or accepted it (TCP_F_OWNED), to the accept queue of its
 * listener (@parent), or, after close, to the protocol. tcp_conn_reap() frees it when it is CLOSED and
 * nobody's; every entry point ends with it and touches the object no more.
 *
 * Time
 *
 * Eight timers a connection, see tcp_timer.c. Half-open objects have one each, TIME-WAIT entries share one.
 *
 * Limits: the enums below; sockets and TIME-WAIT entries by ns_limits.
 */
#pragma once

#include "base/list.h"
#include "base/mono.h"
#include "base/seq.h"
#include "net/proto.h"
#include "tcp/tcp.h"
#include "tcp/tcp_cc.h"
#include "tcp/tcp_fsm.h"
#include "tcp/tcp_seg.h"

/* Sizes: octets. */
enum {
	TCP_MSS_DEFAULT4 = 536,  /* RFC 9293 3.7.1 */
	TCP_MSS_DEFAULT6 = 1220, /* RFC 9293 3.7.1 */
	TCP_MSS_MIN =
		88, /* a peer's smaller wish is not obeyed: its price is ours (CVE-2019-11479) */
	TCP_SACK_HEAD = 4,   /* octets of a SACK option before its blocks, padding too */
	TCP_MTU_MIN4 = 68,   /* octets; RFC 791 3.2: the least that a link carries whole */
	TCP_MTU_MIN6 = 1280, /* octets; RFC 8200 5 */
	TCP_SNDBUF_START = 256 << 10,
	TCP_BUF_MIN = 4096,        /* linux SOCK_MIN_*BUF in spirit */
	TCP_OOO_SLACK = 256 << 10, /* memory the islands may hold beyond twice the receive buffer */
	TCP_EOR_MAX = 16,          /* ends of records among what was not sent yet */
	TCP_REF_MIN = 16384,       /* an island takes larger payload by reference, copies smaller */
	TCP_SUPER_MAX = 65536,     /* octets one transmission record grows to */
};

/* Counts. */
enum {
	TCP_DUPTHRESH = 3,        /* RFC 5681 3.2, RFC 6675 2 */
	TCP_REORDERING_MAX = 300, /* segments: linux net.ipv4.tcp_max_reordering */
	TCP_REC_MAX = 4096, /* transmission records of one connection: bounds the work of an ACK */
	TCP_REC_POOL = 1 << 18,   /* of one stack */
	TCP_OOO_MAX = 512,        /* islands of one connection */
	TCP_OOO_POOL = 1 << 16,   /* of one stack */
	TCP_HALFOPEN_POOL = 8192, /* of one stack */
	TCP_TFO_SERVERS = 256,    /* of one stack, whose cookies are remembered */
	TCP_SYNQ_MIN = 128,       /* half-open of one listener, however small its backlog */
	TCP_ORPHAN_RETRIES = 8,   /* linux tcp_orphan_retries() */
	TCP_QUICK_ACKS = 16,      /* linux TCP_MAX_QUICKACKS */
	TCP_OUT_BUDGET = 4, /* super-segments a connection sends before the next has its turn */
};

/* Durations: nanoseconds. */
#define TCP_RTO_INITIAL_NS   (1 * NS_PER_SEC)  /* RFC 6298 2.1 */
#define TCP_RTO_AFTER_SYN_NS (3 * NS_PER_SEC)  /* RFC 6298 5.7 */
#define TCP_RTO_MIN_NS       (200 * NS_PER_MS) /* linux TCP_RTO_MIN; deviates from RFC 6298 2.4 */
#define TCP_PTO_INITIAL_NS   (1 * NS_PER_SEC)  /* RFC 8985 7.2: no round trip was measured */
#define TCP_TIMEOUT_MIN_NS   (2 * NS_PER_MS)   /* linux TCP_TIMEOUT_MIN: what a timer is late by */
#define TCP_PTO_DELACK_NS    (200 * NS_PER_MS) /* RFC 8985 7.2 TLP.max_ack_delay; linux TCP_RTO_MIN */
#define TCP_RTO_MAX_NS       (120 * NS_PER_SEC) /* linux TCP_RTO_MAX */
#define TCP_DELACK_NS        (40 * NS_PER_MS) /* linux TCP_DELACK_MIN; RFC 9293 MUST-58 asks < 500 ms */
#define TCP_CORK_NS          (200 * NS_PER_MS)  /* tcp(7): ceiling of TCP_CORK */
#define TCP_2MSL_NS          (60 * NS_PER_SEC)  /* linux TCP_TIMEWAIT_LEN */
#define TCP_COOKIE_NS        (120 * NS_PER_SEC) /* linux TCP_SYNCOOKIE_VALID: two cookie minutes */
#define TCP_PAWS_IDLE_NS     (UINT64_C(24) * 86400 * NS_PER_SEC) /* RFC 7323 5.5 */

#define TCP_PACE_UNLIMITED UINT64_MAX /* octets a second */

enum tcp_kind {
	TCP_KIND_CONN,
	TCP_KIND_HALFOPEN,
	TCP_KIND_TIMEWAIT,
};

/** enum tcp_rec_flag - RFC 6675 in a record's words */
enum tcp_rec_flag {
	TCP_REC_SACKED = 1u << 0,      /* the peer has it */
	TCP_REC_LOST = 1u << 1,        /* believed lost */
	TCP_REC_RETRANS = 1u << 2,     /* sent again, this copy is counted in the pipe */
	TCP_REC_EVER = 1u << 3,        /* was ever sent again: no round-trip sample (Karn) */
	TCP_REC_APP_LIMITED = 1u << 4, /* sent while the program was the limit, see tcp_rate.c */
};

/** struct tcp_rec - octets [seq, seq + len) that were sent together; FIN counts as an octet */
struct tcp_rec {
	struct list node;
	struct list tx_node; /* in struct tcp_conn.by_tx while it is in the network, else in none */
	struct seq seq;
	uint32_t len;
	uint16_t mss;   /* payload octets of its wire segments */
	uint8_t flags;  /* enum tcp_rec_flag */
	uint32_t segs;  /* of a SACKed one: wire segments it was, kept when runs merge */
	struct mono tx; /* sent last */
	/* when it was sent last, see tcp_rate.c */
	uint64_t delivered; /* struct tcp_rate.delivered */
	struct mono delivered_at, first_tx;
};

/** struct tcp_rate - what is known of the delivery rate; octets */
struct tcp_rate {
	uint64_t delivered; /* in all, cumulative and SACKed */
	uint64_t lost;      /* marked lost, in all */
	uint64_t
		app_limited; /* until so many are delivered the program was the limit; 0: it is not */
	struct mono delivered_at;       /* @delivered moved last */
	struct mono first_tx;           /* what was delivered last was sent then */
	struct seq end;                 /* and ends here */
	uint64_t sample_len, sample_ns; /* for TCP_INFO: octets in a time */
	bool is_sample_app_limited;
};

/** struct tcp_rate_sample - of one acknowledgement */
struct tcp_rate_sample {
	uint64_t prior;       /* struct tcp_rate.delivered when it was sent */
	struct mono prior_at; /* and when that moved last */
	uint64_t len, ns;     /* octets in a time; @ns 0: no sample */
	uint64_t rtt_ns;      /* of what was sent last, 0: it was sent more than once */
	bool has_prior, is_app_limited;
};

/** struct tcp_pace - when octets may leave, see tcp_pace.c; octets a second */
struct tcp_pace {
	uint64_t rate, max_rate; /* TCP_PACE_UNLIMITED: none */
	struct mono next;        /* not before */
};

/** struct tcp_rack - RFC 8985 5.2, 5.3 in its words */
struct tcp_rack {
	struct mono xmit;       /* the latest sent segment that was delivered; 0: none yet */
	struct seq end;         /* where it ends */
	struct seq fack;        /* highest octet delivered */
	struct seq dsack_round; /* a D-SACK counts once until this is acknowledged */
	uint64_t rtt_ns;        /* of what was delivered last */
	uint16_t wnd_mult;      /* reordering window in quarters of the least round trip */
	uint8_t wnd_persist;    /* recoveries until it is one quarter again */
	bool has_dsack_round, is_reordered;
};

/** struct tcp_undo - what a cut of the window may have been in vain for; see tcp_undo.c */
struct tcp_undo {
	struct tcp_cc cc;   /* before the cut */
	struct seq una;     /* SND.UNA then */
	uint32_t first_ts;  /* our timestamp clock at the first retransmission */
	uint32_t again_len; /* octets sent again that no D-SACK has reported yet */
	bool is_open;       /* the rest is valid */
	bool has_again;     /* something was sent again */
	bool is_frto;       /* RFC 5682: a timeout that may be spurious */
	bool is_testing;    /* RFC 5682 2.1 step 2b: new octets go out instead of lost ones */
};

/** struct tcp_tlp - RFC 8985 7.1: the tail loss probe */
struct tcp_tlp {
	struct seq end; /* SND.NXT when it was sent */
	bool is_out;    /* a probe waits for its answer */
	bool is_again;  /* it repeated octets: its answer may hide a loss */
	bool is_due;    /* to be sent at the end of this turn */
};

/** enum tcp_ecn_mode - what the handshake agreed on, see tcp_ecn.c */
enum tcp_ecn_mode {
	TCP_ECN_OFF,
	TCP_ECN_CLASSIC,  /* RFC 3168 */
	TCP_ECN_ACCURATE, /* RFC 9768 */
};

/** struct tcp_accecn_octets - payload octets by the code point they came with */
struct tcp_accecn_octets {
	uint32_t e0, ce, e1;
};

/** struct tcp_accecn - RFC 9768 3.2 in its words; see tcp_accecn.c */
struct tcp_accecn {
	uint32_t r_cep, s_cep;               /* packets marked CE: we got, the peer got */
	struct tcp_accecn_octets r, s, told; /* we got, the peer got; what we told of ours */
	uint32_t acked_ewma;                 /* segments an acknowledgement, 1/64; 0: none yet */
	uint8_t syn_ecn;                     /* code point of the SYN or SYN-ACK that came last */
	uint8_t last_ecn;                    /* of the packet that came last */
	uint32_t ce_new;                     /* packets marked CE since the last acknowledgement */
	uint8_t lost_cnt;                    /* duplicates of what the option acknowledged */
	bool is_answer_due;                  /* the next bare ACK tells the SYN-ACK's code point */
	bool is_code;                        /* so does the segment that is looked at */
	bool is_option_due, is_data_option_due;
	bool has_told;       /* the last segment of ours carried the option */
	bool no_ect;         /* nothing is sent as ECN-capable: marks do not survive */
	bool no_response;    /* what the peer tells is not believed */
	bool no_option;      /* segments with our option seem to get lost */
	bool ignores_option; /* the peer's is cleared on its way */
};

/** struct tcp_ecn - congestion told by routers */
struct tcp_ecn {
	enum tcp_ecn_mode mode;
	enum tcp_ecn_mode asked; /* by our SYN */
	bool is_echoing;         /* classic: CE came, the peer has not said CWR: ECE on every ACK */
	bool is_cwr_due;         /* classic: the window fell: say CWR with the next new octets */
	struct tcp_accecn acc;
};

/** struct tcp_mtup - the search for what the path takes, see tcp_mtup.c; octets from the IP header on */
struct tcp_mtup {
	uint32_t low, high;    /* passes; may pass */
	uint32_t probe;        /* outstanding, 0: none */
	struct seq start, end; /* its octets */
	struct mono since;     /* the search began */
	bool is_on;            /* the rest is valid */
	bool is_sending;       /* what leaves now is the probe: whole, in a record of its own */
};

/** enum tcp_tfo_verdict - what a SYN is worth, see tcp_fastopen.c */
enum tcp_tfo_verdict {
	TCP_TFO_NONE,  /* an ordinary one */
	TCP_TFO_GRANT, /* an ordinary one that gets a cookie */
	TCP_TFO_OPEN,  /* its octets are taken */
};

/** struct tcp_tfo - octets in the SYN of a connection (RFC 7413) */
struct tcp_tfo {
	struct list node;       /* in tcp_listener.tfo_q while @l */
	struct tcp_listener *l; /* server: is one of those it counts */
	uint32_t queue_max;     /* of a listener: TCP_FASTOPEN */
	uint32_t sent_len;      /* client: octets that left with the SYN */
	struct tcp_tfo_opt opt; /* client: what the SYN says */
	bool is_asked_for;      /* client: TCP_FASTOPEN_CONNECT */
	bool may_ask;           /* client: a cookie of the SYN-ACK is remembered */
	bool is_early;          /* client: the program was told before anything was sent */
	bool is_deferred;       /* client: the SYN waits for octets */
	bool is_pending;        /* server: open, the SYN-ACK is not acknowledged */
	bool is_data_acked;     /* octets of the SYN were taken */
};

/** struct tcp_tfo_server - what a client remembers of a server */
struct tcp_tfo_server {
	struct ns_addr addr; /* any: empty */
	uint8_t cookie[TCP_TFO_MAX];
	uint8_t cookie_len;
	uint8_t loss_cnt; /* SYNs with octets in a row that were not answered */
	uint16_t mss;     /* of its SYN-ACK */
	struct mono lost_at;
};

/** struct tcp_ooo - an island of octets [start, end) beyond a hole */
struct tcp_ooo {
	struct list node;
	struct seq start, end;
	struct bytes b;
};

/** struct tcp_listener - what a connection object in LISTEN has besides */
struct tcp_listener {
	struct tcp_conn *c;
	struct list accept_q; /* struct tcp_conn.accept_node, oldest first */
	struct list syn_q;    /* struct tcp_halfopen.node, oldest first */
	uint32_t accept_cnt, syn_cnt;
	struct list tfo_q; /* struct tcp_conn.tfo.node */
	uint32_t tfo_cnt;
	struct mono cookies_until; /* acknowledgements of cookies are looked for; 0: never */
	uint32_t backlog;
};

/** struct tcp_halfopen - SYN-RECEIVED of a passive open */
struct tcp_halfopen {
	struct demux_conn dc;
	struct list node;
	struct tcp_listener *l;
	struct timer timer;
	struct seq irs, iss;
	uint32_t ts_recent, ts_off;
	uint32_t wnd_edge; /* octets offered beyond irs + 1 */
	uint16_t peer_wnd; /* of the SYN, not scaled */
	uint16_t peer_mss;
	uint16_t adv_mss;
	uint8_t snd_wscale, rcv_wscale;
	bool has_ts, has_sack, has_wscale;
	bool no_ect;            /* accurate ECN: a SYN or SYN-ACK went without */
	uint8_t ecn_mode;       /* enum tcp_ecn_mode */
	uint8_t syn_ecn;        /* code point of the last SYN */
	struct tcp_tfo_opt tfo; /* cookie that the SYN-ACK brings */
	bool no_accecn_option;
	bool is_acked; /* the ACK came, TCP_DEFER_ACCEPT still waits for octets */
	uint8_t retries;
	struct mono sent_at, since, oow_at;
};

/** struct tcp_tw - TIME-WAIT */
struct tcp_tw {
	struct demux_conn dc;
	struct list node; /* in order of @expires */
	struct mono expires;
	struct seq snd_nxt, rcv_nxt;
	uint32_t rcv_wnd; /* octets */
	uint32_t ts_recent, ts_off;
	struct mono ts_recent_at, oow_at;
	uint8_t rcv_wscale, tos;
	bool has_ts;
};

enum tcp_conn_flag {
	TCP_F_OWNED = 1u << 0,       /* the program holds the pointer */
	TCP_F_DIRTY = 1u << 1,       /* in the list of tcp_output() */
	TCP_F_HASHED = 1u << 2,      /* found by four-tuple */
	TCP_F_ACTIVE = 1u << 3,      /* opened by connect() */
	TCP_F_SYN_DUE = 1u << 4,     /* SYN or SYN-ACK to send (again) */
	TCP_F_ACK_NOW = 1u << 5,     /* acknowledge at the end of this turn */
	TCP_F_PROBE_DUE = 1u << 6,   /* window or keepalive probe to send */
	TCP_F_PUSH = 1u << 7,        /* send what there is once, however little */
	TCP_F_TS = 1u << 8,          /* RFC 7323 timestamps negotiated */
	TCP_F_SACK = 1u << 9,        /* RFC 2018 negotiated */
	TCP_F_WSCALE = 1u << 10,     /* RFC 7323 window scale negotiated */
	TCP_F_FIN_QUEUED = 1u << 11, /* the program is done sending */
	TCP_F_FIN_SENT = 1u << 12,   /* snd_fin is valid */
	TCP_F_FIN_KNOWN = 1u << 13,  /* rcv_fin is valid, perhaps beyond a hole */
	TCP_F_FIN_RCVD = 1u << 14,   /* everything up to it is in */
	TCP_F_NOSPACE =
		1u << 15, /* the program met a full send queue: tell it when there is room */
	TCP_F_NODELAY = 1u << 16,
	TCP_F_CORK = 1u << 17,
	TCP_F_MORE = 1u << 18, /* the last commit announced more */
	TCP_F_KEEPALIVE = 1u << 19,
	TCP_F_SNDBUF_FIXED = 1u << 20,
	TCP_F_RCVBUF_FIXED = 1u << 21,
	TCP_F_NO_QUICKACK = 1u << 22, /* TCP_QUICKACK off */
	TCP_F_PINGPONG = 1u << 23,    /* requests and answers: acknowledgements ride on data */
	TCP_F_DSACK = 1u << 24,       /* dsack is to be reported */
	TCP_F_CWND_LIMITED = 1u << 25,
	TCP_F_LINGER0 = 1u << 26,
	TCP_F_ORPHAN = 1u << 27,
	TCP_F_RTT_SEEN = 1u << 28,  /* srtt is valid */
	TCP_F_HAD_LOSS = 1u << 29,  /* recover is valid (RFC 6582 3.2 step 2) */
	TCP_F_SHUT_RECV = 1u << 30, /* the program is gone: arriving text is answered with RST */
};

/** enum tcp_chrono - what a connection is limited by; of several the last (linux enum tcp_chrono) */
enum tcp_chrono {
	TCP_CHRONO_IDLE,   /* all that was written is acknowledged */
	TCP_CHRONO_BUSY,   /* there is something to send or outstanding */
	TCP_CHRONO_RWND,   /* and the peer's window is what holds it back */
	TCP_CHRONO_SNDBUF, /* or the send buffer: the program would write more and may not */
	TCP_CHRONO_COUNT,
};

/** struct tcp_meter - counted and timed for TCP_INFO alone */
struct tcp_meter {
	uint32_t segs_in, segs_out, data_segs_in, data_segs_out, total_retrans;
	uint64_t bytes_acked, bytes_received, bytes_sent, bytes_retrans;
	uint32_t delivered, delivered_ce; /* segments, the handshake's and duplicates included */
	uint32_t dsack_dups;              /* segments the peer reported as duplicates */
	uint32_t ooo_segs;                /* segments that came out of order */
	uint32_t reord_seen;              /* times reordering was seen */
	uint16_t rto_cnt,
		rto_recoveries; /* timeouts; series of them that an acknowledgement ended or will */
	uint64_t rto_ns;        /* in all such series */
	struct mono rto_at;     /* the one under way began; 0: none */
	enum tcp_chrono chrono; /* what the connection is limited by */
	struct mono chrono_at;  /* since when */
	uint64_t chrono_ns[TCP_CHRONO_COUNT];
	bool has_ect; /* something came that could have told of congestion */
};

/** enum tcp_pend - program's wishes that wait for a time argument */
enum tcp_pend {
	TCP_PEND_SHUT = 1u << 0,
	TCP_PEND_CLOSE = 1u << 1,
	TCP_PEND_ABORT = 1u << 2,
};

/** struct tcp_ip_opts - IP_TOS and IP_TTL, IPV6_TCLASS and IPV6_UNICAST_HOPS */
struct tcp_ip_opts {
	uint8_t tos; /* DSCP: the ECN bits are TCP's (RFC 3168 6.1) */
	uint8_t ttl; /* 0: default */
};

/*
 * struct tcp_conn - RFC 9293 3.3.1, in its words where it has some
 *
 * Grouped by what the members are about; the few octets of padding that costs are worth it.
 */
struct tcp_conn { /* NOLINT(clang-analyzer-optin.performance.Padding) */
	struct tcp *t;
	struct demux_conn dc; /* key: who talks with whom */
	struct demux_bind bind;
	struct list all_node;   /* struct tcp.conns */
	struct list dirty_node; /* struct tcp.dirty */
	void *user;
	uint32_t id; /* for the trace */
	enum tcp_state state;
	uint32_t flags;                /* enum tcp_conn_flag */
	uint8_t pend;                  /* enum tcp_pend */
	bool is_flushing;              /* TCP_NODELAY was set: what is queued leaves, cork or not */
	int err;                       /* negative errno that ended it */
	int soft_err;                  /* negative errno of the last ICMP error (RFC 5461) */
	struct tcp_listener *listener; /* in LISTEN */
	struct tcp_listener *parent;   /* waits in its accept queue */
	struct list accept_node;

	/* path */
	struct dst dst;
	uint32_t pmtu; /* octets of IP packet the path takes; net_pmtu() at the last look */
	uint16_t peer_mss, adv_mss, user_mss;
	uint32_t mss; /* payload octets of a full segment now */
	struct tcp_mtup mtup;
	struct tcp_ip_opts ip_opts[2]; /* of IPv4 and IPv6: tcp_ip_opts_of() */
	uint32_t mark;                 /* SO_MARK: routing rules look at it */

	/* sending */
	struct seq iss, snd_una, snd_nxt, snd_wl1, snd_wl2, snd_fin;
	struct seq snd_sml; /* end of the last segment below mss (Minshall's Nagle) */
	uint32_t snd_wnd, snd_wnd_max;
	uint8_t snd_wscale;
	struct bytes sndq;           /* its head is the octet of snd_una */
	struct seq eor[TCP_EOR_MAX]; /* where records end (MSG_EOR), not sent yet, in order */
	uint8_t eor_cnt;
	uint32_t sndbuf;
	uint32_t notsent_lowat;

	/* transmission records, see tcp_rtx.c */
	struct list recs;
	uint32_t rec_cnt;
	struct list by_tx; /* what is in the network, in order of tx: neither SACKed nor waiting */
	struct tcp_rec *rtx_next, *sack_hint;
	uint32_t sacked_len, lost_len, retrans_len; /* without SACK, sacked_len is an estimate */
	uint32_t sacked_segs;
	struct tcp_rack rack;
	struct tcp_tlp tlp;
	struct tcp_undo undo;
	struct tcp_rate rate;
	struct tcp_pace pace;
	struct tcp_sack_block sack_seen[TCP_SACK_MAX];

	/* recovery, see tcp_recovery.c */
	struct tcp_cc cc;
	uint8_t congestion; /* enum ns_congestion, for tcp_cc_init() */
	enum tcp_ca ca;
	struct seq recover;
	struct seq limited_from; /* SND.NXT when disorder began (RFC 3042) */
	uint32_t dupack_cnt;
	uint32_t
		reordering; /* segments: how far out of order what was sent has arrived (linux tp->reordering) */
	uint32_t recover_fs, prr_delivered, prr_out;
	struct seq cwnd_seq;
	struct tcp_ecn ecn;
	struct tcp_tfo tfo;
	uint32_t flight_max;

	/* round trip, see tcp_rtt.c */
	uint64_t srtt_ns, rttvar_ns, rto_ns, min_rtt_ns;
	uint8_t backoff;       /* doublings of rto_ns */
	uint8_t probe_backoff; /* doublings of the window probe's interval */
	uint16_t retries;      /* timeouts in a row */
	uint16_t probe_cnt;    /* probes in a row without an answer */
	uint16_t syn_retries;
	struct mono syn_at;   /* the SYN or SYN-ACK was sent */
	struct mono progress; /* snd_una moved, or the first octet was sent after silence */
	struct mono probe_since;

	/* receiving, see tcp_rcv.c */
	struct seq irs, rcv_nxt, rcv_fin;
	struct seq rcv_adv;   /* right edge we offered */
	struct seq rcv_acked; /* ACK field sent last (Last.ACK.sent) */
	uint8_t rcv_wscale;
	uint8_t quick_cnt;
	uint16_t rcv_mss; /* payload octets of the peer's full segments, estimated */
	struct bytes rcvq;
	uint32_t rcvbuf, wnd_clamp;
	struct seq round_edge; /* autotuning: the window's edge when the round began */
	struct mono round_start;
	uint64_t rcv_rtt_ns;
	uint32_t ts_recent, ts_off;
	struct mono ts_recent_at;
	struct list islands;
	uint32_t island_cnt;
	uint64_t island_charge;
	struct tcp_ooo *recent[TCP_SACK_MAX]; /* islands that grew last, newest first */
	struct tcp_sack_block dsack;
	uint8_t sack_news; /* changes of the islands since the last ACK */
	struct mono oow_at;

	struct {
		struct seq rcv; /* RCV.UP: the urgent octet */
		struct seq snd; /* SND.UP: behind the urgent octet */
		bool has_rcv, has_snd;
		bool is_told; /* the program knows of @rcv */
	} urg;                /* see tcp_urg.c */

	/* timers, see tcp_timer.c */
	struct timer rto_timer, persist_timer, delack_timer, keep_timer, life_timer;
	struct timer reo_timer, pto_timer, pace_timer;
	uint64_t keepidle_ns, keepintvl_ns, user_timeout_ns, linger2_ns, defer_ns;
	uint16_t keepcnt, keep_cnt;
	uint8_t syncnt;

	/* for TCP_INFO */
	struct mono rx_at, data_rx_at, ack_rx_at, data_tx_at;
	struct tcp_meter meter;
};

/** struct tcp - one stack's TCP */
struct tcp {
	struct ns_core *core;
	struct net *net;
	struct user_ops users;
	struct demux *demux;
	struct pool conn_pool, halfopen_pool, tw_pool, rec_pool, ooo_pool, listener_pool;
	struct list conns, dirty;
	struct list tws;
	struct timer tw_timer;
	struct hash_key isn_key, ts_key, cookie_key[2], tfo_key[2];
	struct tcp_tfo_server tfo_servers[TCP_TFO_SERVERS];
	uint32_t next_id;
	uint32_t orphan_cnt, orphan_max;
	struct mono challenge_second;
	uint32_t challenge_left;
	bool drop_missing_ts; /* RFC 7323 3.2 SHOULD; off: as Linux, some middleboxes strip them */
};

/** struct tcp_arrival - one segment on its way through the checks of RFC 9293 3.10.7.4 */
struct tcp_arrival {
	struct tcp_conn *c;
	struct tcp_seg *s;
	struct mono now;
	enum drop drop;  /* set by the step that stops */
	bool is_ts_news; /* its timestamp becomes TS.Recent if the fifth check lets it pass */
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
ns_must_check int tcp_route_from(struct tcp_conn *c, const struct ns_addr *src);
void tcp_mss_sync(struct tcp_conn *c);
ns_must_check int tcp_xmit(struct tcp_conn *c, struct seq seq, uint32_t len, uint8_t flags,
			   struct mono now);
int tcp_send_ack(struct tcp_conn *c, struct mono now);
void tcp_send_rst(struct tcp_conn *c, struct mono now);
uint16_t tcp_mss_for(const struct dst *d, const struct ns_addr *remote, uint16_t user_mss);
void tcp_reply(struct tcp *t, struct tcp_emit *e, uint8_t tos, struct mono now);
void tcp_reply_rst(struct tcp *t, const struct tcp_seg *s, struct mono now);

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
uint8_t tcp_ecn_answer(enum tcp_ecn_mode mode, uint8_t syn_ecn);
void tcp_ecn_enter(struct tcp_conn *c, enum tcp_ecn_mode mode, uint8_t syn_ecn);
void tcp_ecn_answered(struct tcp_conn *c, const struct tcp_seg *s);
void tcp_ecn_out(struct tcp_conn *c, bool is_new, uint32_t len, struct tcp_emit *e, uint8_t *tos);
void tcp_ecn_text(struct tcp_conn *c, const struct tcp_seg *s);
bool tcp_ecn_is_echo(const struct tcp_conn *c, const struct tcp_seg *s);

/* --- tcp_fastopen.c ------------------------------------------------------------------------- */

void tcp_fastopen_init(struct tcp *t);
void tcp_fastopen_grant(const struct tcp *t, const struct tcp_seg *s, struct tcp_tfo_opt *ret_o);
enum tcp_tfo_verdict tcp_fastopen_judge(const struct tcp_conn *lc, const struct tcp_seg *s);
void tcp_fastopen_begin(struct tcp_conn *c, struct tcp_listener *l);
void tcp_fastopen_end(struct tcp_conn *c);
void tcp_fastopen_acked(struct tcp_conn *c, const struct tcp_seg *s, struct mono now);
void tcp_fastopen_connect(struct tcp_conn *c, struct mono now);
uint32_t tcp_fastopen_len(const struct tcp_conn *c);
void tcp_fastopen_sent(struct tcp_conn *c, uint32_t len);
void tcp_fastopen_lost(struct tcp_conn *c, struct mono now);
void tcp_fastopen_answered(struct tcp_conn *c, const struct tcp_seg *s);

/* --- tcp_accecn.c -------------------------------------------------------------------------- */

uint8_t tcp_accecn_code(uint8_t ecn);
void tcp_accecn_start(struct tcp_conn *c, uint8_t syn_ecn);
void tcp_accecn_synack(struct tcp_conn *c, const struct tcp_seg *s, bool is_first);
void tcp_accecn_third(struct tcp_conn *c, const struct tcp_seg *s);
void tcp_accecn_packet(struct tcp_conn *c, const struct tcp_seg *s, uint32_t len);
void tcp_accecn_duplicate(struct tcp_conn *c);
uint32_t tcp_accecn_ack(struct tcp_conn *c, const struct tcp_seg *s, uint32_t segs, bool is_later);
void tcp_accecn_syn_option(const struct tcp *t, struct tcp_emit *e);
void tcp_accecn_out(struct tcp_conn *c, struct tcp_emit *e, uint32_t len);
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

/* --- tcp_urg.c ----------------------------------------------------------------------------- */

enum step tcp_urg_in(struct tcp_arrival *a);
uint32_t tcp_urg_news(struct tcp_conn *c);
uint32_t tcp_urg_off(void *conn);
void tcp_urg_mark(void *conn);
void tcp_urg_acked(struct tcp_conn *c);
void tcp_urg_out(const struct tcp_conn *c, struct tcp_emit *e);

/* --- tcp_isn.c ----------------------------------------------------------------------------- */

void tcp_isn_init(struct tcp *t);
struct seq tcp_isn(const struct tcp *t, const struct demux_key *k, struct mono now);
uint32_t tcp_ts_offset(const struct tcp *t, const struct demux_key *k);
