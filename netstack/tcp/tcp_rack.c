/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rack.c - RACK-TLP: what is lost, by time; probes for a lost tail (RFC 8985)
 *
 * Theory of operation
 *
 * RACK. Of all that was delivered, the segment that was sent last (rack.xmit, rack.end) is the measure: what
 * was sent before it, plus a reordering window, and is not delivered yet is lost. That holds for
 * retransmissions as it does for first transmissions. The window is a quarter of the least round trip. It is
 * zero in recovery, or once three segments are SACKed, as long as no reordering was ever seen; a
 * D-SACK widens it by a quarter, for sixteen recoveries.
 *
 * Records are in a list by the time they were sent last. Deadlines rise along it, so the walk takes what is
 * lost off its head and stops at the first that is not: an acknowledgement costs what it newly marks, and
 * the records that left in the very turn of rack.xmit. What waits for the window to pass has a timer.
 *
 * TLP. When nothing unusual happened and no acknowledgement comes for two round trips, one segment is sent,
 * a new one or the last again, so that its SACK shows RACK what the tail lost. When a repeated segment was
 * acknowledged without a D-SACK, the probe itself has repaired a loss, which is congestion like any other.
 *
 * Deviates from RFC 8985 6.2 step 5: the timer stands for the latest possible deadline, that of rack.xmit,
 * rather than the latest of those that wait: never later by more than the window, and without a walk. It runs
 * two milliseconds over, as Linux' does: the window is a guess at the path's jitter, and the time an
 * acknowledgement waits on its way through two hosts is not in it.
 * A retransmission that is lost again does not reduce the window a second time (as Linux; RFC 5681 4.3
 * would); PRR keeps what is sent within what is delivered.
 *
 * Time: reo_timer, pto_timer; see tcp_timer.c.
 *
 * References: RFC 8985 5, 6, 7; linux v6.1 net/ipv4/tcp_recovery.c, tcp_output.c tcp_schedule_loss_probe(),
 * tcp_input.c tcp_process_tlp_ack().
 */
#include "tcp/tcp_int.h"

enum {
	REO_WND_QUARTERS = 4,
	REO_WND_PERSIST = 16, /* RFC 8985 6.2 step 4 */
};

/** tcp_rack_start() - nothing is known; the initial sequence number is */
void tcp_rack_start(struct tcp_conn *c)
{
	c->rack = (struct tcp_rack){ .end = c->iss, .fack = c->iss, .wnd_mult = 1 };
	c->tlp = (struct tcp_tlp){ .end = c->iss };
}

/* An acknowledgement of something sent twice may be the answer to the first copy: then it measures nothing. */
static bool is_ambiguous(const struct tcp_conn *c, const struct tcp_rec *r,
			 const struct tcp_delivered *d, uint64_t rtt_ns)
{
	if (!(r->flags & TCP_REC_EVER))
		return false;
	if (d->has_ecr && (int32_t)(d->ts_ecr - tcp_ts_now(c->ts_off, r->tx)) < 0)
		return true;
	return rtt_ns < c->min_rtt_ns;
}

/**
 * tcp_rack_delivered() - RFC 8985 6.2 steps 2 and 3: one record, or its beginning, is with the peer
 * @c:		Connection
 * @r:		Record, flags and time as they were while it was outstanding
 * @end:	Where what was delivered of it ends
 * @d:		The acknowledgement that says so; learns whether it was sent once only
 * @now:	Time of arrival
 */
void tcp_rack_delivered(struct tcp_conn *c, const struct tcp_rec *r, struct seq end,
			struct tcp_delivered *d, struct mono now)
{
	struct tcp_rack *k = &c->rack;
	uint64_t rtt_ns = mono_since(now, r->tx);

	/* compared with what was known before: blocks of one acknowledgement come newest first */
	if (seq_lt(end, d->fack) && !(r->flags & TCP_REC_EVER)) {
		d->reord = d->has_reord ? seq_min(d->reord, r->seq) : r->seq;
		d->has_reord = k->is_reordered = true;
	}
	if (!(r->flags & TCP_REC_EVER) && seq_le(end, c->recover))
		d->has_orig = true;
	k->fack = seq_max(k->fack, end);
	if (is_ambiguous(c, r, d, rtt_ns))
		return;
	k->rtt_ns = rtt_ns;
	if (k->xmit.ns == 0 || tcp_is_sent_after(r->tx, end, k->xmit, k->end)) {
		k->xmit = r->tx;
		k->end = end;
	}
}

/** tcp_rack_dsack() - RFC 8985 6.2 step 4: something was sent again in vain; at most once a round trip */
void tcp_rack_dsack(struct tcp_conn *c)
{
	struct tcp_rack *k = &c->rack;

	if (k->has_dsack_round && seq_le(k->dsack_round, c->snd_una))
		k->has_dsack_round = false;
	if (k->has_dsack_round)
		return;
	k->has_dsack_round = true;
	k->dsack_round = c->snd_nxt;
	k->wnd_persist = REO_WND_PERSIST;
	if (k->wnd_mult < UINT8_MAX) /* beyond SRTT it is cut anyway */
		k->wnd_mult++;
}

/** tcp_rack_recovered() - RFC 8985 6.2 step 4: a recovery has ended */
void tcp_rack_recovered(struct tcp_conn *c)
{
	struct tcp_rack *k = &c->rack;

	if (k->has_dsack_round && seq_le(k->dsack_round, c->snd_una))
		k->has_dsack_round = false;
	if (k->wnd_persist && --k->wnd_persist == 0)
		k->wnd_mult = 1;
}

/* RFC 8985 6.2 step 4: the reordering window now */
static uint64_t reo_wnd_ns(const struct tcp_conn *c)
{
	uint64_t wnd = c->min_rtt_ns / REO_WND_QUARTERS * c->rack.wnd_mult;

	if (!c->rack.is_reordered && (TCP_IN(c->ca, 1u << TCP_CA_RECOVERY | 1u << TCP_CA_LOSS) ||
				      c->sacked_segs >= TCP_DUPTHRESH))
		return 0;
	return wnd < c->srtt_ns ? wnd : c->srtt_ns;
}

/**
 * tcp_rack_detect() - RFC 8985 6.2 step 5: mark what is lost, set the timer for what may be
 * @c:		Connection with SACK
 * @now:	Time
 *
 * Return: something was found that was not known to be lost
 */
bool tcp_rack_detect(struct tcp_conn *c, struct mono now)
{
	const struct tcp_rack *k = &c->rack;
	uint64_t wait_ns = k->rtt_ns + reo_wnd_ns(c);
	struct mono when = MONO_NEVER;
	bool is_found = false;

	if (k->xmit.ns == 0)
		return false;
	for (struct list *n = c->by_tx.next, *next; n != &c->by_tx; n = next) {
		struct tcp_rec *r = list_entry(n, struct tcp_rec, tx_node);

		next = n->next;
		if (mono_lt(k->xmit, r->tx))
			break;
		if (!tcp_is_sent_after(k->xmit, k->end, r->tx, seq_add(r->seq, r->len)))
			continue;
		if (mono_lt(now, mono_add(r->tx, wait_ns))) {
			when = mono_add(k->xmit, wait_ns + TCP_TIMEOUT_MIN_NS);
			break;
		}
		tcp_rtx_mark_lost(c, r);
		is_found = true;
	}
	if (when.ns != UINT64_MAX || timer_is_armed(&c->reo_timer))
		tcp_timer_set(c, &c->reo_timer, when);
	return is_found;
}

/**
 * tcp_rack_timeout_since() - RFC 8985 6.3: what the retransmission timer may call lost
 *
 * Return: the moment; what was sent later still has time to be acknowledged
 */
struct mono tcp_rack_timeout_since(const struct tcp_conn *c, struct mono now)
{
	const struct tcp_rack *k = &c->rack;

	if (!tcp_has(c, TCP_F_SACK) || k->xmit.ns == 0)
		return MONO_NEVER;
	return (struct mono){ now.ns > k->rtt_ns ? now.ns - k->rtt_ns : 0 };
}

/**
 * tcp_tlp_schedule() - RFC 8985 7.2: two round trips from now there should be an answer
 * @c:		Connection
 * @now:	New octets were just sent, or SND.UNA has just moved
 *
 * Not later than the retransmission timeout, which the probe then stands in for.
 */
void tcp_tlp_schedule(struct tcp_conn *c, struct mono now)
{
	uint64_t pto_ns = TCP_PTO_INITIAL_NS;
	struct mono rto = c->rto_timer.when;

	if (!tcp_has(c, TCP_F_SACK) || c->tfo.is_pending || c->ca != TCP_CA_OPEN || c->sacked_len ||
	    c->tlp.is_out || tcp_flight(c) == 0) {
		tcp_timer_stop(c, &c->pto_timer);
		return;
	}
	if (tcp_has(c, TCP_F_RTT_SEEN))
		pto_ns = 2 * c->srtt_ns +
			 (tcp_flight(c) <= c->mss ? TCP_PTO_DELACK_NS : TCP_TIMEOUT_MIN_NS);
	pto_ns += tcp_pace_delay_ns(c, now);
	if (!timer_is_armed(&c->rto_timer))
		rto = mono_add(now, tcp_rto_ns(c));
	tcp_timer_set(c, &c->pto_timer, mono_min(mono_add(now, pto_ns), rto));
}

/** tcp_tlp_sent() - the probe has left; @is_again: with octets that were sent before */
void tcp_tlp_sent(struct tcp_conn *c, bool is_again)
{
	c->tlp = (struct tcp_tlp){ .end = c->snd_nxt, .is_out = true, .is_again = is_again };
	stat_inc(tcp_stats(c->t), STAT_TCP_TLPS);
}

/**
 * tcp_tlp_on_ack() - RFC 8985 7.4.2: is the probe answered, and did it repair a loss?
 * @c:		Connection; SND.UNA is up to date
 * @d:		The acknowledgement; a D-SACK of the probe is taken out of it, it tells nothing of reordering
 * @flight:	FlightSize before it
 * @now:	Time of arrival
 */
void tcp_tlp_on_ack(struct tcp_conn *c, struct tcp_delivered *d, uint32_t flight, struct mono now)
{
	struct tcp_tlp *p = &c->tlp;

	if (!p->is_out || seq_lt(c->snd_una, p->end))
		return;
	/* NOLINTNEXTLINE(bugprone-branch-clone) - the cases of RFC 8985 7.4.2 one by one */
	if (!p->is_again) {
		p->is_out = false;
	} else if (d->has_dsack && seq_eq(d->dsack.end, p->end)) {
		p->is_out = false; /* both copies arrived */
		d->has_dsack = false;
	} else if (seq_lt(p->end, c->snd_una)) {
		p->is_out = false;
		stat_inc(tcp_stats(c->t), STAT_TCP_TLP_RECOVERIES);
		c->cc.ops->on_loss(&c->cc, flight, now);
		c->cc.cwnd = ns_min_u(c->cc.cwnd, c->cc.ssthresh);
		c->cc.ops->on_recovered(&c->cc, now);
	} else if (d->is_dup && !d->has_sack) {
		p->is_out = false; /* both copies arrived, and the peer knows no D-SACK */
	}
}
