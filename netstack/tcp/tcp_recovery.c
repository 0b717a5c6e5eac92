/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_recovery.c - from one acknowledgement to the next: open, disorder, recovery, loss
 *
 * Theory of operation
 *
 *   open      nothing unusual
 *   disorder  duplicate acknowledgements or SACKs, too few to call it a loss: new octets go out for them
 *             (limited transmit, RFC 3042) because what was SACKed has left the pipe
 *   recovery  a loss was found by acknowledgements: what is lost is sent again, new octets after that,
 *             both under PRR's window, until everything sent before is acknowledged (@recover)
 *   cwr       a router told of congestion (RFC 3168): the window falls as in recovery, nothing is lost
 *   loss      the timer ran out: one segment, then slow start, the same @recover
 *
 * With SACK, RACK says what is lost (tcp_rack.c). Without it, three duplicate acknowledgements lose the first
 * segment and each partial acknowledgement the next (NewReno, RFC 6582); each duplicate counts as
 * one segment that left the network, so that the same pipe works for both.
 *
 * PRR (RFC 6937, RFC 9937): while the pipe is above ssthresh it shrinks in proportion to what is delivered,
 * below it grows by what is delivered, a segment more when the acknowledgement moved SND.UNA.
 *
 * All of that decides what is lost and when it is sent again. How much leaves is the congestion control's to
 * say where it has a model of the path (tcp_cc_ops.on_sample): PRR, growth and the return to ssthresh are
 * then left out, it is told afterwards what happened.
 *
 * References: RFC 5681 3; RFC 6582 3.2; RFC 6675 5; RFC 6937 3; linux v6.1 net/ipv4/tcp_input.c
 * tcp_fastretrans_alert(), tcp_cwnd_reduction().
 */
#include "tcp/tcp_int.h"

/* The window for this acknowledgement; @is_forced: at least one segment, whatever the proportion says. */
static void prr(struct tcp_conn *c, uint32_t delivered, bool is_safe, bool is_forced)
{
	uint32_t pipe = tcp_pipe(c);
	uint32_t ssthresh = c->cc.ssthresh;
	int64_t cnt;

	if (c->cc.ops->on_sample)
		return;
	if (!tcp_has(
		    c,
		    TCP_F_SACK)) /* RFC 9937 6.2: duplicates may be made up, there were no more octets than these */
		delivered = ns_min_u(delivered,
				     c->recover_fs - ns_min_u(c->recover_fs, c->prr_delivered));
	if (delivered == 0 && !is_forced)
		return;
	c->prr_delivered += delivered;
	if (pipe > ssthresh) {
		uint64_t share = (uint64_t)c->prr_delivered * ssthresh;

		cnt = (int64_t)((share + c->recover_fs - 1) / c->recover_fs) - c->prr_out;
	} else {
		int64_t limit = (int64_t)c->prr_delivered - c->prr_out;

		limit = limit > delivered ? limit : delivered;
		if (is_safe)
			limit += c->cc.mss;
		cnt = (int64_t)ssthresh - pipe;
		cnt = cnt < limit ? cnt : limit;
	}
	if (c->ca != TCP_CA_CWR && (c->prr_out == 0 || is_forced) && cnt < c->cc.mss)
		cnt = c->cc.mss; /* the fast retransmission itself */
	if (cnt < 0)
		cnt = 0;
	/* less than a segment would end all: with nothing outstanding no acknowledgement opens it again */
	c->cc.cwnd = ns_max_u(pipe + (uint32_t)cnt, c->cc.mss);
}

/* The window falls until what is outstanding now is acknowledged; what was SACKed before will not be delivered again (RFC 9937 6). */
static void begin_fall(struct tcp_conn *c, const struct tcp_delivered *d, enum tcp_ca ca)
{
	c->ca = ca;
	c->recover = c->snd_nxt;
	c->recover_fs = tcp_flight(c) + d->acked;
	if (tcp_has(c, TCP_F_SACK))
		c->recover_fs -= c->sacked_len - ns_min_u(c->sacked_len, d->sacked);
	c->recover_fs = ns_max_u(c->recover_fs, 1);
	c->prr_delivered = c->prr_out = 0;
}

/*
 * RFC 5681 equation 4 halves FlightSize. The acknowledgements of one turn are answered at its end only, so until then
 * less is outstanding than what met the loss: when the window was full, it counts.
 */
static uint32_t fall_from(const struct tcp_conn *c, uint32_t flight)
{
	return tcp_has(c, TCP_F_CWND_LIMITED) ? ns_max_u(flight, c->cc.cwnd) : flight;
}

/* RFC 3168 6.1.2: as a loss, once for what is outstanding; a fall under way is answer enough. */
static void on_echo(struct tcp_conn *c, const struct tcp_delivered *d, uint32_t flight,
		    struct mono now)
{
	c->ecn.is_cwr_due = true;
	if (!TCP_IN(c->ca, 1u << TCP_CA_OPEN | 1u << TCP_CA_DISORDER))
		return;
	c->cc.ops->on_loss(&c->cc, fall_from(c, flight), now);
	begin_fall(c, d, TCP_CA_CWR);
}

/*
 * RFC 5681 3.2 step 2, RFC 6675 5 (4). What limited transmit added is not part of the flight that is
 * halved: as much as was SACKed at the most, disorder may last for many round trips.
 */
static void enter_recovery(struct tcp_conn *c, const struct tcp_delivered *d, uint32_t flight,
			   struct mono now)
{
	uint32_t extra = 0;

	stat_inc(tcp_stats(c->t), STAT_TCP_FAST_RECOVERIES);
	if (c->ca == TCP_CA_DISORDER && seq_lt(c->limited_from, c->snd_nxt))
		extra = ns_min_u((uint32_t)seq_diff(c->snd_nxt, c->limited_from), c->sacked_len);
	tcp_undo_begin(c);
	if (c->ca != TCP_CA_CWR) /* it fell for this window already */
		c->cc.ops->on_loss(&c->cc, fall_from(c, flight - ns_min_u(extra, flight)), now);
	begin_fall(c, d, TCP_CA_RECOVERY);
	c->flags |= TCP_F_HAD_LOSS;
	c->tlp.is_out = false; /* RACK has found what the probe would show */
}

static void leave(struct tcp_conn *c)
{
	c->ca = TCP_CA_OPEN;
	c->dupack_cnt = 0;
	if (!tcp_has(c, TCP_F_SACK))
		c->sacked_len = 0;
}

/* Without SACK the first segment is lost; what is thought to have arrived is among the others. */
static bool reno_lose_head(struct tcp_conn *c)
{
	uint32_t lost = c->lost_len;

	tcp_rtx_lose_head(c);
	c->sacked_len = ns_min_u(c->sacked_len, tcp_flight(c) - c->lost_len);
	return c->lost_len > lost;
}

/*
 * Without SACK: how much left the network, from duplicates alone (linux tcp_add_reno_sack(),
 * tcp_remove_reno_sacks()). Returns the octets delivered by this acknowledgement.
 */
static uint32_t reno_delivered(struct tcp_conn *c, const struct tcp_delivered *d)
{
	uint32_t room = tcp_flight(c) - c->lost_len;
	uint32_t delivered = d->acked;

	if (d->is_dup) {
		c->dupack_cnt++;
		delivered = ns_min_u(c->mss, room - ns_min_u(room, c->sacked_len));
		c->sacked_len += delivered;
	} else if (d->is_una_moved) {
		/* one segment filled the hole, the others were counted when their duplicates came */
		uint32_t known = d->acked > c->mss ? d->acked - c->mss : 0;

		known = ns_min_u(known, c->sacked_len);
		c->sacked_len -= known;
		delivered -= known;
		if (TCP_IN(c->ca, 1u << TCP_CA_OPEN | 1u << TCP_CA_DISORDER))
			c->dupack_cnt = c->sacked_len = 0;
	}
	c->sacked_len = ns_min_u(c->sacked_len, tcp_flight(c) - c->lost_len);
	return delivered;
}

/* RFC 6582 3.2 step 2: duplicates of what the last loss sent again are no new loss */
static bool is_new_episode(const struct tcp_conn *c)
{
	return !tcp_has(c, TCP_F_HAD_LOSS) || seq_lt(c->recover, c->snd_una);
}

static bool found_loss(struct tcp_conn *c)
{
	if (tcp_has(c, TCP_F_SACK))
		return c->lost_len > 0;
	if (c->dupack_cnt < TCP_DUPTHRESH || !is_new_episode(c))
		return false;
	return reno_lose_head(c);
}

static bool is_cwnd_limited(const struct tcp_conn *c)
{
	/* slow start may run ahead of the program by twice what was ever outstanding (linux tcp_is_cwnd_limited()) */
	if (tcp_cc_in_slow_start(&c->cc))
		return c->cc.cwnd < 2 * c->flight_max;
	return tcp_has(c, TCP_F_CWND_LIMITED);
}

/*
 * RFC 5681 3.1 counts what arrives in order. On a path that reorders, little does: what is delivered counts there
 * (linux tcp_may_raise_cwnd()), or the window would grow the slower the farther segments overtake each other.
 */
static bool may_grow(const struct tcp_conn *c, const struct tcp_delivered *d, uint32_t delivered)
{
	return d->is_una_moved || (c->reordering > TCP_DUPTHRESH && delivered);
}

static void grow(struct tcp_conn *c, const struct tcp_delivered *d, uint32_t delivered,
		 uint32_t flight, struct mono now)
{
	struct tcp_cc_ack a = {
		.acked = delivered,
		.flight = flight,
		.rtt_ns = d->rtt_ns,
		.srtt_ns = c->srtt_ns,
		.is_cwnd_limited = is_cwnd_limited(c),
	};

	if (may_grow(c, d, delivered) && !c->cc.ops->on_sample)
		c->cc.ops->on_ack(&c->cc, &a, now);
}

/* Something is to be sent again for a reason that is no congestion: the window stays (linux tcp_simple_retransmit()). */
static void enter_blameless(struct tcp_conn *c)
{
	if (c->ca == TCP_CA_LOSS)
		return;
	c->cc.ssthresh = ns_max_u(c->cc.ssthresh, c->cc.cwnd / 4 * 3);
	c->recover = c->snd_nxt;
	c->flags |= TCP_F_HAD_LOSS;
	c->ca = TCP_CA_LOSS;
	c->undo.is_open = c->undo.is_frto = c->undo.is_testing = false;
}

/* The state machine; @delivered octets as the pipe counts them. */
static void on_ack(struct tcp_conn *c, const struct tcp_delivered *d, uint32_t delivered,
		   uint32_t flight, struct mono now)
{
	uint32_t lost = c->lost_len;
	bool is_forced = false, is_found = false, is_over = false;
	bool was_timeout = c->ca == TCP_CA_LOSS;

	if (tcp_has(c, TCP_F_SACK) && d->has_dsack)
		tcp_rack_dsack(c);
	if (tcp_undo_on_ack(c, d)) {
		tcp_rtx_unmark_lost(c);
		leave(c);
		tcp_rack_recovered(c);
	}
	if (TCP_IN(c->ca, 1u << TCP_CA_CWR | 1u << TCP_CA_RECOVERY | 1u << TCP_CA_LOSS) &&
	    seq_le(c->recover, c->snd_una)) {
		if (c->ca != TCP_CA_LOSS) {
			if (!c->cc.ops->on_sample)
				c->cc.cwnd = ns_max_u(c->cc.ssthresh, c->cc.mss);
			c->cc.ops->on_recovered(&c->cc, now);
		}
		leave(c);
		tcp_rack_recovered(c);
		is_over = true;
	}
	if (tcp_has(c, TCP_F_SACK))
		is_found = tcp_rack_detect(c, now);
	if (is_over && c->lost_len == 0) {
		if (was_timeout) /* RFC 5681 3.1: slow start counts this acknowledgement, too */
			grow(c, d, delivered, flight, now);
		return;
	}
	if (d->is_ece)
		on_echo(c, d, flight, now);
	switch (c->ca) {
	case TCP_CA_RECOVERY:
		/* RFC 6582 3.2 step 3: a partial acknowledgement sends the next hole, at once */
		if (!tcp_has(c, TCP_F_SACK) && d->is_una_moved)
			is_forced = reno_lose_head(c);
		prr(c, delivered, d->is_una_moved && !is_found && c->lost_len <= lost, is_forced);
		return;
	case TCP_CA_LOSS:
		grow(c, d, delivered, flight, now);
		if (c->undo.is_testing) /* RFC 5682 2.1 step 2b: two new segments */
			c->cc.cwnd = tcp_pipe(c) + 2 * c->cc.mss;
		return;
	case TCP_CA_OPEN:
	case TCP_CA_DISORDER:
	case TCP_CA_CWR:
		break;
	}
	if (found_loss(c)) {
		if (tcp_mtup_on_loss(c, now)) {
			enter_blameless(c);
			return;
		}
		enter_recovery(c, d, flight, now);
		prr(c, delivered, false, true);
		return;
	}
	if (c->ca == TCP_CA_CWR) {
		/* an echo says that the path is full: no reason to send more than arrived */
		prr(c, delivered, d->is_una_moved && !d->is_ece, false);
		return;
	}
	if (c->ca != TCP_CA_DISORDER)
		c->limited_from = c->snd_nxt;
	c->ca = c->sacked_len ? TCP_CA_DISORDER : TCP_CA_OPEN;
	if (tcp_has(c, TCP_F_HAD_LOSS) && seq_lt(c->recover, c->snd_una))
		c->flags &= ~TCP_F_HAD_LOSS; /* before sequence numbers come round to it again */
	grow(c, d, delivered, flight, now);
}

/* What the acknowledgement tells of the path, for who models it. */
static void tell_model(struct tcp_conn *c, const struct tcp_rate_sample *r, uint32_t acked,
		       uint32_t lost, uint32_t prior_flight, struct mono now)
{
	struct tcp_cc_sample s = {
		.delivered = c->rate.delivered,
		.prior_delivered = r->prior,
		.len = r->len,
		.ns = r->ns,
		.rtt_ns = r->rtt_ns,
		.srtt_ns = c->srtt_ns,
		.acked = acked,
		.lost = lost,
		.flight = tcp_pipe(c),
		.prior_flight = prior_flight,
		.ca = c->ca,
		.is_app_limited = r->is_app_limited,
	};

	if (c->cc.ops->on_sample && c->cc.ops->on_sample(&c->cc, &s, now))
		tcp_rate_mark_app_limited(c);
}

/**
 * tcp_recovery_on_ack() - once for each acceptable acknowledgement: state machine, delivery rate, model, pacing
 * @c:		Connection, scoreboard and SND.UNA up to date
 * @d:		What it delivered
 * @flight:	FlightSize before it
 * @now:	Time of arrival
 */
void tcp_recovery_on_ack(struct tcp_conn *c, struct tcp_delivered *d, uint32_t flight,
			 struct mono now)
{
	uint64_t lost = c->rate.lost;
	uint32_t delivered = d->acked + d->sacked;
	uint32_t prior_flight;

	if (!tcp_has(c, TCP_F_SACK))
		delivered = reno_delivered(c, d);
	prior_flight = tcp_pipe(c) + delivered;
	on_ack(c, d, delivered, flight, now);
	tcp_rate_sample(c, &d->rate, delivered, now);
	tell_model(c, &d->rate, delivered, (uint32_t)(c->rate.lost - lost), prior_flight, now);
	tcp_pace_update(c);
}

/** tcp_recovery_on_reo() - RFC 8985 6.2 step 5: the reordering window has passed, what was waited for is lost */
void tcp_recovery_on_reo(struct tcp_conn *c, struct mono now)
{
	static const struct tcp_delivered nothing;

	if (!tcp_rack_detect(c, now) || TCP_IN(c->ca, 1u << TCP_CA_RECOVERY | 1u << TCP_CA_LOSS))
		return;
	if (tcp_mtup_on_loss(c, now)) {
		enter_blameless(c);
		return;
	}
	enter_recovery(c, &nothing, tcp_flight(c), now);
	prr(c, 0, false, true);
}

/**
 * tcp_recovery_on_rto() - RFC 5681 3.1, RFC 6675 5.1: the retransmission timer ran out
 *
 * ssthresh falls once for a series of timeouts without progress. Everything that is neither SACKed nor
 * was sent within the last round trip is sent again, in slow start.
 */
void tcp_recovery_on_rto(struct tcp_conn *c, struct mono now)
{
	/* what was SACKed let others go: with them it would be more than the window that met the loss (RFC 5681 3.1: "no more than") */
	uint32_t flight = tcp_flight(c) - c->sacked_len;

	if (!TCP_IN(c->ca, 1u << TCP_CA_RECOVERY | 1u << TCP_CA_LOSS)) {
		tcp_undo_begin(c);
		c->undo.is_frto = true;
	} else {
		c->undo.is_frto = c->undo.is_open && c->ca == TCP_CA_LOSS && c->retries > 0;
	}
	c->undo.is_testing = false;
	if (c->ca != TCP_CA_LOSS || c->retries == 0)
		c->cc.ops->on_rto(&c->cc, flight, now);
	c->ca = TCP_CA_LOSS;
	c->recover = c->snd_nxt;
	c->flags |= TCP_F_HAD_LOSS;
	c->dupack_cnt = 0;
	c->tlp.is_out = false;
	tcp_mtup_on_rto(c, now);
	tcp_rtx_lose_all(c, true, tcp_rack_timeout_since(c, now));
	c->cc.cwnd = tcp_pipe(c) + c->cc.mss;
}

/** tcp_recovery_on_mtu() - the path takes less than was sent: send it again smaller, without blame (linux tcp_simple_retransmit()) */
void tcp_recovery_on_mtu(struct tcp_conn *c)
{
	if (tcp_flight(c) == 0)
		return;
	enter_blameless(c);
	c->mtup.probe = 0;
	tcp_rtx_lose_all(c, false, MONO_NEVER);
}

/**
 * tcp_recovery_sent() - RFC 7661 in short: what held the sender back in this turn
 * @c:		Connection, after sending
 * @is_limited:	There was more to send than cwnd allowed
 *
 * One answer a round trip: as linux tcp_cwnd_validate().
 */
void tcp_recovery_sent(struct tcp_conn *c, bool is_limited)
{
	uint32_t pipe = tcp_pipe(c);

	if (!seq_lt(c->snd_una, c->cwnd_seq) || is_limited ||
	    (!tcp_has(c, TCP_F_CWND_LIMITED) && pipe > c->flight_max)) {
		c->flags &= ~TCP_F_CWND_LIMITED;
		if (is_limited)
			c->flags |= TCP_F_CWND_LIMITED;
		c->flight_max = pipe;
		c->cwnd_seq = c->snd_nxt;
	}
}
