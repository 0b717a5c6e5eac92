/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cc.h - congestion control: an algorithm sees a window, never a connection
 *
 * Theory of operation
 *
 * The recovery code (tcp_recovery.c) decides when something happened: octets were acknowledged, a loss
 * was found, the timer ran out, a recovery ended. The algorithm decides what that means for cwnd
 * and ssthresh. Everything is counted in octets. During fast recovery the window is PRR's and no
 * algorithm is asked.
 *
 * An algorithm with on_sample has a model of the path instead: it learns the delivery rate of every
 * acknowledgement, sets window and pacing rate itself, at all times, and is paced.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

enum {
	TCP_IW_SEGS = 10,                   /* RFC 6928 */
	TCP_IW_OCTETS = 14600,              /* RFC 6928 2 */
	TCP_SSTHRESH_INFINITE = 0x7fffffff, /* RFC 5681 3.1: arbitrarily high */
	TCP_CWND_MAX = 1 << 30,
	TCP_BBR_ROUNDS =
		10, /* BtlBwFilterLen, draft-cardwell-iccrg-bbr-congestion-control-00 4.1.1.2 */
};

struct ns_bbr_info;
struct tcp_cc_ops;

/** enum tcp_ca - what the recovery code is in the middle of, as Linux numbers it in TCP_INFO */
enum tcp_ca {
	TCP_CA_OPEN = 0,
	TCP_CA_DISORDER = 1,
	TCP_CA_CWR = 2,
	TCP_CA_RECOVERY = 3,
	TCP_CA_LOSS = 4,
};

/** struct tcp_cc_cubic - state of cc_cubic.c; octets unless named otherwise */
struct tcp_cc_cubic {
	struct mono paused_at;    /* since when the program is the limit */
	struct mono epoch;        /* when congestion avoidance began */
	uint64_t grow_acked;      /* remainder of the window's growth, octets squared */
	uint64_t min_rtt_ns;      /* of this round; UINT64_MAX: none */
	uint64_t last_min_rtt_ns; /* of the round before */
	uint64_t css_base_rtt_ns; /* when conservative slow start began */
	uint32_t w_max;           /* where the curve is flat; 0: not known */
	uint32_t cwnd_prior;      /* window when ssthresh was set last */
	uint32_t w_est;           /* where Reno would be */
	uint32_t est_acked;       /* since w_est grew last */
	uint32_t k_ms;            /* from epoch to w_max */
	uint32_t round_left;      /* to be acknowledged until the round is over */
	uint8_t sample_cnt;       /* round trips of this round, stops at 255 */
	uint8_t css_rounds;
	bool has_epoch;
	bool is_paused;
	bool is_css; /* in conservative slow start */
};

/** struct tcp_cc_bbr - state of cc_bbr.c; rates in octets a second */
struct tcp_cc_bbr {
	uint64_t bw[TCP_BBR_ROUNDS]; /* highest of a round, by its number */
	uint64_t rtprop_ns;          /* UINT64_MAX: none */
	uint64_t next_round;         /* octets delivered when this round began */
	uint64_t full_bw;            /* to be exceeded by a quarter */
	struct mono rtprop_at, cycle_at;
	struct mono probe_end; /* of PROBE_RTT; 0: the window has not got there */
	struct mono epoch_at;  /* acknowledgements have come faster than @bw since */
	uint64_t epoch_acked;  /* and brought so much */
	uint32_t extra[2];     /* the most that was beyond @bw: these five rounds, those before */
	uint8_t extra_idx, extra_rounds;
	uint32_t round_cnt, bw_round, prior_cwnd;
	uint64_t round_rtt_ns;            /* least of this round; 0: no sample yet */
	uint32_t round_lost, round_acked; /* octets of this round */
	uint32_t ceiling;                 /* octets of cwnd at most, 0: as many as you like */
	uint32_t ceiling_step;            /* octets that a clean round adds to it */
	uint8_t clean_cnt;                /* rounds since the ceiling came down */
	uint16_t pacing_gain, cwnd_gain;  /* 1/256 */
	uint8_t state, cycle_idx, full_cnt;
	uint8_t prior_ca; /* enum tcp_ca */
	bool is_started, is_round_start, is_filled, is_conserving;
	bool is_idle_restart, is_probe_round;
	bool has_probed; /* for bandwidth, since PROBE_BW began */
};

/** struct tcp_cc - the view an algorithm has; octets */
struct tcp_cc {
	const struct tcp_cc_ops *ops;
	uint32_t cwnd, ssthresh;
	uint32_t mss;         /* payload octets of a full segment now */
	uint64_t pacing_rate; /* octets a second; 0: the algorithm has none, the window gives one */
	uint32_t random;      /* a number of the connection's own */
	union {
		struct {
			uint32_t acked; /* octets since cwnd grew last (RFC 3465 2.1) */
		} reno;
		struct tcp_cc_cubic cubic;
		struct tcp_cc_bbr bbr;
	};
};

/** struct tcp_cc_ack - what an acknowledgement brought */
struct tcp_cc_ack {
	uint32_t acked;       /* octets newly acknowledged, cumulative and selective */
	uint32_t flight;      /* octets outstanding before it */
	uint64_t rtt_ns;      /* newest sample, 0: none */
	uint64_t srtt_ns;     /* smoothed, 0: none yet */
	bool is_cwnd_limited; /* the window was what held the sender back */
};

/** struct tcp_cc_sample - what an algorithm with a model of the path learns from an acknowledgement; octets */
struct tcp_cc_sample {
	uint64_t delivered;       /* so far, in all */
	uint64_t prior_delivered; /* when the newest of what it acknowledged was sent */
	uint64_t len, ns;         /* delivered in a time; @ns 0: no sample of the rate */
	uint64_t rtt_ns;          /* of the newest, 0: none */
	uint64_t srtt_ns;         /* smoothed, 0: none yet */
	uint32_t acked;           /* newly delivered */
	uint32_t lost;            /* newly found lost */
	uint32_t flight;          /* in the network now */
	uint32_t prior_flight;    /* before this acknowledgement */
	enum tcp_ca ca;
	bool is_app_limited; /* the program set the rate */
};

/** struct tcp_cc_ops - one algorithm */
struct tcp_cc_ops {
	const char *name;
	void (*init)(struct tcp_cc *cc);
	/** the window may grow; called in open, disorder and loss state */
	void (*on_ack)(struct tcp_cc *cc, const struct tcp_cc_ack *a, struct mono now);
	/** a loss was found by acknowledgements: set ssthresh; @flight octets outstanding */
	void (*on_loss)(struct tcp_cc *cc, uint32_t flight, struct mono now);
	/** the retransmission timer ran out: set ssthresh; the caller sets cwnd to one segment */
	void (*on_rto)(struct tcp_cc *cc, uint32_t flight, struct mono now);
	/** all octets of the loss are acknowledged; cwnd is ssthresh */
	void (*on_recovered)(struct tcp_cc *cc, struct mono now);
	/**
	 * after every acknowledgement, instead of on_ack, PRR and everything else that would set cwnd; NULL: the
	 * algorithm has a window and no model. True: what is in the network now tells nothing of the rate
	 */
	bool (*on_sample)(struct tcp_cc *cc, const struct tcp_cc_sample *s, struct mono now);
	/** nothing was in the network, something leaves now; only with on_sample */
	void (*on_restart)(struct tcp_cc *cc, bool is_app_limited, struct mono now);
	/** a loss was none; NULL: everything is as it was before */
	void (*on_undo)(struct tcp_cc *cc);
};

extern const struct tcp_cc_ops tcp_cc_reno;
extern const struct tcp_cc_ops tcp_cc_cubic;
extern const struct tcp_cc_ops tcp_cc_bbr;

bool tcp_cc_bbr_info(const struct tcp_cc *cc, struct ns_bbr_info *ret_info);

void tcp_cc_init(struct tcp_cc *cc, const struct tcp_cc_ops *ops, uint32_t mss);
uint32_t tcp_cc_initial_window(uint32_t mss);
void tcp_cc_set_mss(struct tcp_cc *cc, uint32_t mss);
void tcp_cc_undo(struct tcp_cc *cc, const struct tcp_cc *was);
void tcp_cc_restart(struct tcp_cc *cc, uint64_t idle_ns, uint64_t rto_ns);
uint32_t tcp_cc_slow_start(struct tcp_cc *cc, uint32_t acked);

const struct tcp_cc_ops *tcp_cc_get(int algorithm);
void tcp_cc_switch(struct tcp_cc *cc, const struct tcp_cc_ops *ops);

static inline bool tcp_cc_in_slow_start(const struct tcp_cc *cc)
{
	return cc->cwnd < cc->ssthresh;
}
