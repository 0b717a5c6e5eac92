/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_undo.c - recovery that was in vain is taken back
 *
 * Theory of operation
 *
 * When the window is about to be cut, what it was is remembered, with SND.UNA and, later, the time of the first
 * retransmission and how many octets were sent again. Three proofs say that nothing was lost:
 *
 *   D-SACK     the peer has reported every octet that was sent again as a duplicate (RFC 2883, RFC 3708); that
 *              may come after the recovery is over
 *   timestamp  the acknowledgement that moves SND.UNA echoes a time before the first retransmission (Eifel,
 *              RFC 3522): it answers the original
 *   F-RTO      after a timeout nothing but the first segment is sent again: the first acknowledgement
 *              that moves SND.UNA releases two new segments, and when the second one again acknowledges
 *              what was sent once only, the peer has it from before the timeout (RFC 5682)
 *
 * Then window, threshold and the algorithm's memory are as before (RFC 4015 in Linux's form), and what was
 * marked lost is only late again.
 *
 * Deviates from RFC 4015 3.2 (STO.4): the round-trip estimator is not set anew, the late acknowledgement is a
 * sample by its echo; after several timeouts not even that, as the echo may be of any age (tcp_ack.c). RFC 5682 3:
 * a second timeout in a row may be tested as well, as Linux does.
 *
 * References: RFC 2883 4; RFC 3522 3.2; RFC 3708 2; RFC 4015 3; RFC 5682 2.1, 3.1; linux v6.1
 * net/ipv4/tcp_input.c tcp_try_undo_recovery(), tcp_try_undo_partial(), tcp_process_loss().
 */
#include "tcp/tcp_int.h"

enum {
	UNDO_SPAN =
		1
		<< 30, /* octets after which a proof can no longer be told from a wrapped number */
};

/**
 * tcp_undo_begin() - the window is about to be cut
 * @c:		Connection, congestion control as it was
 */
void tcp_undo_begin(struct tcp_conn *c)
{
	c->undo = (struct tcp_undo){ .una = c->snd_una, .cc = c->cc, .is_open = true };
}

/** tcp_undo_sent_again() - @len octets of what is believed lost were just sent again */
void tcp_undo_sent_again(struct tcp_conn *c, uint32_t len, struct mono now)
{
	struct tcp_undo *u = &c->undo;

	if (!u->is_open)
		return;
	if (!u->has_again)
		u->first_ts = tcp_ts_now(c->ts_off, now);
	u->has_again = true;
	u->again_len += len;
}

static void restore(struct tcp_conn *c, enum stat why)
{
	stat_inc(tcp_stats(c->t), why);
	tcp_cc_undo(&c->cc, &c->undo.cc);
	c->undo.is_open = c->undo.is_frto = c->undo.is_testing = false;
}

/* RFC 2883 4.1: the duplicate, as far as it is of what was sent again since */
static void dsack_in(struct tcp_conn *c, const struct tcp_sack_block *b)
{
	struct tcp_undo *u = &c->undo;
	uint32_t len;

	if (!seq_lt(b->start, b->end) || !seq_lt(u->una, b->end) || seq_lt(c->snd_nxt, b->end))
		return;
	len = (uint32_t)seq_diff(b->end, seq_max(b->start, u->una));
	u->again_len -= ns_min_u(len, u->again_len);
}

static bool is_all_duplicate(const struct tcp_undo *u)
{
	return u->has_again && u->again_len == 0;
}

/* RFC 3522 3.2 step 4 */
static bool is_answer_to_original(const struct tcp_undo *u, const struct tcp_delivered *d)
{
	return u->has_again && d->is_una_moved && d->has_ecr && d->ts_ecr != 0 &&
	       (int32_t)(d->ts_ecr - u->first_ts) < 0;
}

/* The fast recovery: at its end by either proof, before it by the timestamp alone. */
static bool undo_recovery(struct tcp_conn *c, const struct tcp_delivered *d)
{
	bool is_over = seq_le(c->recover, c->snd_una);
	bool is_late = is_answer_to_original(&c->undo, d);

	if (!is_late && !(is_over && is_all_duplicate(&c->undo)))
		return false;
	if (!is_over && c->retrans_len) /* other copies are under way: what they tell comes first */
		return false;
	restore(c, is_late ? STAT_TCP_UNDO_TS : STAT_TCP_UNDO_DSACK);
	if (is_late)
		c->rack.is_reordered = true;
	return true;
}

/* RFC 5682 2.1 steps 2 and 3, 3.1: one acknowledgement after a timeout. True: the timeout was spurious. */
static bool frto(struct tcp_conn *c, const struct tcp_delivered *d)
{
	struct tcp_undo *u = &c->undo;
	bool was_testing = u->is_testing;

	u->is_testing = false;
	if (seq_le(c->recover,
		   c->snd_una)) { /* everything: it may be that only the first was lost */
		u->is_frto = false;
		return false;
	}
	if (was_testing) {
		u->is_frto = false;
		return d->has_orig;
	}
	if (!d->is_una_moved)
		return false; /* wait for the answer to what was sent again */
	if (tcp_unsent(c) == 0 || c->snd_wnd <= tcp_flight(c)) {
		u->is_frto = false; /* nothing to test with */
		return false;
	}
	u->is_testing = true;
	return false;
}

static bool undo_loss(struct tcp_conn *c, const struct tcp_delivered *d)
{
	struct tcp_undo *u = &c->undo;

	if (is_answer_to_original(u, d)) {
		restore(c, STAT_TCP_UNDO_TS);
		return true;
	}
	if (d->is_una_moved && is_all_duplicate(u)) {
		restore(c, STAT_TCP_UNDO_DSACK);
		return true;
	}
	if (u->is_frto && frto(c, d)) {
		restore(c, STAT_TCP_UNDO_FRTO);
		return true;
	}
	return false;
}

/**
 * tcp_undo_on_ack() - does this acknowledgement prove that nothing was lost?
 * @c:		Connection; scoreboard and SND.UNA are up to date
 * @d:		The acknowledgement
 *
 * Return: true when the window was restored; a recovery under way is then over
 */
bool tcp_undo_on_ack(struct tcp_conn *c, const struct tcp_delivered *d)
{
	struct tcp_undo *u = &c->undo;

	if (d->is_ece) /* RFC 3168 6.1.2: the fall was due, whatever it was taken for */
		u->is_open = u->is_frto = u->is_testing = false;
	if (!u->is_open)
		return false;
	if (d->has_dsack)
		dsack_in(c, &d->dsack);
	switch (c->ca) {
	case TCP_CA_RECOVERY:
		return undo_recovery(c, d);
	case TCP_CA_LOSS:
		return undo_loss(c, d);
	case TCP_CA_CWR:
		return false;
	case TCP_CA_OPEN:
	case TCP_CA_DISORDER:
		break;
	}
	if (seq_diff(c->snd_una, u->una) > UNDO_SPAN)
		u->is_open = false;
	else if (d->has_dsack && is_all_duplicate(u))
		restore(c, STAT_TCP_UNDO_DSACK);
	return false;
}
