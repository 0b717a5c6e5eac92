/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_obj.h - the objects of TCP; this folder only
 *
 * Theory of operation
 *
 * Four kinds of object are found by four-tuple or port: a connection (struct tcp_conn), the handshake
 * of one that a peer opens (struct tcp_halfopen, small, because a flood makes many), what is left of one
 * after both FINs (struct tcp_tw, small, because a busy server has many), and the listener, which is a
 * connection object in LISTEN with a struct tcp_listener.
 *
 * Ownership
 *
 * A connection belongs to the program that opened or accepted it (TCP_F_OWNED), to the accept queue of its
 * listener (@parent), or, after close, to the protocol. tcp_conn_reap() frees it when it is CLOSED and
 * nobody's; every entry point ends with it and touches the object no more.
 *
 * Limits: tcp_limits.h; sockets and TIME-WAIT entries by ns_limits.
 */
#pragma once

#include "base/list.h"
#include "base/mono.h"
#include "base/seq.h"
#include "net/proto.h"
#include "tcp/tcp.h"
#include "tcp/tcp_cc.h"
#include "tcp/tcp_fsm.h"
#include "tcp/tcp_limits.h"
#include "tcp/tcp_seg.h"

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

/** struct tcp_ecn_hs - what the SYNs of a handshake said, and what came of ours; see tcp_ecn.c */
struct tcp_ecn_hs {
	uint8_t code;  /* code point of the SYN or SYN-ACK that came last */
	uint8_t kinds; /* 1 << enum tcp_ecn_mode: what the peer's SYNs asked for */
	uint8_t ace; /* accurate: AE, CWR, ECE of the bare acknowledgement that ended it, with @has_ace */
	bool has_ace;   /* it came, and TCP_DEFER_ACCEPT waits for octets */
	bool is_again;  /* the SYN came again: the option of our SYN-ACK may be to blame */
	bool is_marked; /* our SYN or SYN-ACK met congestion */
	bool no_ect;    /* a SYN or SYN-ACK went without the bits: nothing is sent as ECN-capable */
	uint8_t retries; /* of a SYN that another crossed; those of the SYN-ACK count from there */
};

/** struct tcp_accecn_octets - payload octets by the code point they came with */
struct tcp_accecn_octets {
	uint32_t e0, ce, e1;
};

/** struct tcp_accecn_watch - RFC 9768 3.2.2.3: is everything marked, round trip after round trip? */
struct tcp_accecn_watch {
	struct seq end;         /* of the round, when something of it is in @acked */
	uint32_t acked, marked; /* segments of the round */
	uint32_t total;         /* of all rounds */
	uint8_t rounds;         /* full of marks */
	bool is_over;           /* an answer is found */
};

/** struct tcp_accecn - RFC 9768 3.2 in its words; see tcp_accecn.c */
struct tcp_accecn {
	uint32_t r_cep, s_cep;               /* packets marked CE: we got, the peer got */
	struct tcp_accecn_octets r, s, told; /* we got, the peer got; what we told of ours */
	uint32_t acked_ewma;                 /* segments an acknowledgement, 1/64; 0: none yet */
	uint8_t last_ecn;                    /* of the packet that came last */
	uint32_t ce_new;                     /* packets marked CE since the last acknowledgement */
	uint8_t lost_cnt;                    /* duplicates of what the option acknowledged */
	bool is_answer_due;                  /* the next bare ACK tells the SYN-ACK's code point */
	bool is_code;                        /* so does the segment that is looked at */
	bool is_option_due, is_data_option_due;
	bool has_told;       /* the last segment of ours carried the option */
	bool is_ack_of_acks; /* marks of bare acknowledgements are all that the next one is for */
	bool had_first;      /* the peer's first number was looked at */
	bool has_option;     /* counters of the peer came through */
	bool has_option_ce;  /* and the last ones told of more octets marked CE */
	uint32_t ce_early; /* packets marked CE that the number told of, without an option since */
	struct tcp_accecn_watch watch;
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
	bool no_ect;             /* nothing is sent as ECN-capable: marks do not survive */
	struct tcp_ecn_hs hs;
	struct tcp_accecn acc;
};

/** struct tcp_mtup - the search for what the path takes, see tcp_mtup.c; octets from the IP header on */
struct tcp_mtup {
	uint32_t low, high;    /* passes; may pass */
	uint32_t probe;        /* outstanding, 0: none */
	struct seq start, end; /* its octets */
	struct mono since;     /* the search began */
	struct mono rest;      /* no probe until then: one was lost (RFC 4821 7.6.2, 7.6.3) */
	bool is_on;            /* the rest is valid */
	bool is_sending;       /* what leaves now is the probe: whole, in a record of its own */
};

/** enum tcp_tfo_verdict - what a SYN is worth, see tcp_fastopen.c */
enum tcp_tfo_verdict {
	TCP_TFO_NONE,  /* an ordinary one */
	TCP_TFO_GRANT, /* an ordinary one that gets a cookie */
	TCP_TFO_OPEN,  /* its octets are taken */
	TCP_TFO_RENEW, /* likewise, and it gets a new cookie: its own is the backup key's */
};

/** struct tcp_tfo_keys - what cookies are made of; of two the second is only believed */
struct tcp_tfo_keys {
	struct hash_key key[2];
	uint32_t cnt; /* 0: those of the stack */
};

/** enum tcp_tfo_fail - TCP_INFO: why octets did not go with the SYN, or not through (linux enum tcp_fastopen_client_fail) */
enum tcp_tfo_fail {
	TCP_TFO_FAIL_NONE,
	TCP_TFO_FAIL_COOKIE,  /* none was known */
	TCP_TFO_FAIL_DATA,    /* the SYN-ACK did not acknowledge them */
	TCP_TFO_FAIL_RETRANS, /* likewise, and the SYN had been repeated */
};

/** struct tcp_tfo - octets in the SYN of a connection (RFC 7413) */
struct tcp_tfo {
	struct list node;         /* in tcp_listener.tfo_q while @l */
	struct tcp_listener *l;   /* server: is one of those it counts */
	uint32_t queue_max;       /* of a listener: TCP_FASTOPEN */
	struct tcp_tfo_keys keys; /* of a listener: TCP_FASTOPEN_KEY */
	uint32_t sent_len;        /* client: octets that left with the SYN */
	struct tcp_tfo_opt
		opt;        /* what the SYN says; server: the SYN-ACK, when a cookie was renewed */
	uint8_t fail;       /* client: enum tcp_tfo_fail */
	bool no_cookie;     /* TCP_FASTOPEN_NO_COOKIE */
	bool is_asked_for;  /* client: TCP_FASTOPEN_CONNECT */
	bool is_fast;       /* client: the first SYN had the option or octets */
	bool is_trial;      /* client: the first after a pause, see tcp_fastopen_client.c */
	bool is_child;      /* server: began with a SYN whose octets were taken */
	bool may_ask;       /* client: a cookie of the SYN-ACK is remembered */
	bool is_early;      /* client: the program was told before anything was sent */
	bool is_deferred;   /* client: the SYN waits for octets */
	bool is_pending;    /* server: open, the SYN-ACK is not acknowledged */
	bool is_data_acked; /* octets of the SYN were taken */
};

/** struct tcp_tfo_server - what a client remembers of a server */
struct tcp_tfo_server {
	struct ns_addr addr;       /* any: empty */
	struct tcp_tfo_opt cookie; /* @has: there is one */
	uint8_t try_exp;  /* the option of before the RFC: 1 is asked next, 2 was in vain, too */
	uint8_t loss_cnt; /* SYNs with octets in a row that were not answered */
	uint16_t mss;     /* of its SYN-ACK */
	struct mono lost_at;
};

/** struct tcp_tfo_pause - something on the way swallows connections that began fast: none does for a while */
struct tcp_tfo_pause {
	uint32_t cnt; /* times in a row, 0: no pause */
	struct mono at;
};

/** struct tcp_tfo_reset - RFC 7413 5.1: the peer reset before the handshake was over, which goes on counting */
struct tcp_tfo_reset {
	struct list node;
	struct mono until;
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
	struct list tfo_q;         /* struct tcp_conn.tfo.node */
	struct list tfo_resets;    /* struct tcp_tfo_reset.node, oldest first */
	uint32_t tfo_cnt;          /* of both */
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
	uint8_t ecn_mode; /* enum tcp_ecn_mode */
	struct tcp_ecn_hs ecn;
	struct tcp_tfo_opt tfo; /* cookie that the SYN-ACK brings */
	bool is_acked;          /* the ACK came, TCP_DEFER_ACCEPT still waits for octets */
	uint8_t retries;
	struct mono sent_at, since, oow_at;
};

/** struct tcp_tw - TIME-WAIT */
struct tcp_tw {
	struct demux_conn dc;
	struct demux_bind bind; /* the port is held as long as the four-tuple */
	struct list node;       /* in order of @expires */
	struct mono expires;
	struct seq snd_nxt, rcv_nxt;
	uint32_t rcv_wnd; /* octets */
	uint32_t mark, uid;
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

/** struct tcp_ip_opts - IP_TOS, IP_TTL and IP_MTU_DISCOVER, IPV6_TCLASS and IPV6_UNICAST_HOPS */
struct tcp_ip_opts {
	uint8_t mtu_discover; /* IP_PMTUDISC_* of Linux; IPv6 has no DF to leave out */
	uint8_t tos;          /* DSCP: the ECN bits are TCP's (RFC 3168 6.1) */
	uint8_t ttl;          /* 0: default */
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
	uint32_t mark, uid;            /* SO_MARK, NS_SO_UID: routing rules look at them */

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
	uint32_t rcvlowat; /* octets */

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
	uint32_t
		took_max; /* octets that the program took within a round trip, the most so far (linux rcvq_space) */
	struct seq took_seq; /* what it had taken when this round began */
	struct mono took_at;
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
	struct pool tfo_reset_pool;
	struct list conns, dirty;
	struct list tws;
	struct timer tw_timer;
	struct hash_key isn_key, ts_key, cookie_key[2], tfo_table_key;
	struct tcp_tfo_keys tfo_keys;
	struct tcp_tfo_server tfo_servers[TCP_TFO_SERVERS];
	struct tcp_tfo_pause tfo_pause;
	uint32_t next_id;
	uint32_t orphan_cnt, orphan_max;
	struct mono challenge_second;
	uint32_t challenge_left;
	bool drop_missing_ts; /* RFC 7323 3.2 SHOULD; off: as Linux, some middleboxes strip them */
};
