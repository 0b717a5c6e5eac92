/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_accecn.c - accurate feedback of congestion marks (RFC 9768)
 *
 * Theory of operation
 *
 * Where both ends agree (tcp_ecn.c), the three bits AE, CWR and ECE of every segment without SYN are one number:
 * the low three bits of how many packets marked CE have arrived (r_cep here, followed by s_cep there). Octets by
 * code point are told besides, in an option of three 24-bit counters, as far as they have changed.
 *
 *   receiver  counts every acceptable packet, says the number in each acknowledgement, and acknowledges at once
 *             when octets marked CE follow something that was not, or marks gather
 *   sender    each acknowledgement that is not overtaken says how many more; more than seven segments at
 *             once may hide a round of the counter, which the option or, without it, the usual size of
 *             acknowledgements decides. What that does to the window is as with one echo a round trip.
 *
 * The first numbers are not zero (5, and 1 for the octets), so that a middlebox that clears them shows. The bare
 * acknowledgement of a SYN-ACK says the code point of that instead. Where the handshake shows that the IP header's
 * bits were changed on the way nothing is sent as ECN-capable any more; where it or the first number shows that the
 * TCP header's were, or everything is marked for four round trips, feedback is not believed either. What arrives is
 * told all the same.
 *
 * The option leaves with acknowledgements when a counter has changed since the last (knob tcp_ecn_option: 0 never,
 * 1 for CE and at least every 4 MiB, 2 always), in the order that is shorter, as long as two SACK blocks still fit; on
 * new octets only where their segment has room, which a client's first segment leaves. When what it acknowledged comes
 * again twice in a row, it is blamed and stops.
 *
 * Deviates from RFC 9768 3.2.3.3: full segments of data do not carry it, so that segments of one super-segment stay
 * alike; news of CE, and of much else, goes before them in a bare acknowledgement. While the number's middle bit
 * is set, which software that cuts super-segments clears as CWR, octets leave in single segments.
 *
 * References: RFC 9768 3; linux v6.18 net/ipv4/tcp_input.c tcp_accecn_process(), include/net/tcp_ecn.h.
 */
#include "tcp/tcp_int.h"

enum {
	ACE_MASK = 7,
	OCTETS_INIT = 1,
	FIELD_MASK = 0xffffff,
	OPTION_FULL = 3,
	OPTION_LEN = 12,       /* octets, padded */
	OPTION_EACH = 1 << 22, /* 3.2.3.3: octets between two options at most */
	CE_OF_DATA = 2,        /* 3.2.2.5.1: marks until an acknowledgement */
	CE_OF_ACKS = 3,
	LOST_MAX = 2,
	MARKED_ROUNDS =
		4, /* 3.2.2.3: all of so many are marked, and of so many segments: no router does that */
	MARKED_MIN = 10,
	EWMA_SHIFT = 6,
	EWMA_LARGE = 4 << EWMA_SHIFT, /* linux ACK_COMP_THRESH: so many segments an ACK are usual */

	/* RFC 3168 5 */
	NOT_ECT = 0,
	ECT1 = 1,
	ECT0 = 2,
	CE = 3,

	/* table 3 */
	ACE_NOT_ECT = 2,
	ACE_ECT1 = 3,
	ACE_ECT0 = 4,
	ACE_RESERVED = 5, /* 3.1.3 */
	ACE_CE = 6,
};

/** tcp_accecn_code() - 3.1.1 table 2, 3.2.2.1 table 3: a code point of IP as three bits of TCP */
uint8_t tcp_accecn_code(uint8_t ecn)
{
	static const uint8_t codes[] = {
		[NOT_ECT] = ACE_NOT_ECT,
		[ECT1] = ACE_ECT1,
		[ECT0] = ACE_ECT0,
		[CE] = ACE_CE,
	};

	return codes[ecn & CE];
}

/** tcp_accecn_is_yes() - 3.1.2, 3.1.3: do the bits of a SYN-ACK agree? Also the combination that is reserved */
bool tcp_accecn_is_yes(uint8_t ace)
{
	return ace >= ACE_NOT_ECT && ace <= ACE_CE;
}

/** tcp_accecn_start() - 3.2.1: both directions; c->ecn.hs is what led to it */
void tcp_accecn_start(struct tcp_conn *c)
{
	const struct tcp_accecn_octets octets = { .e0 = OCTETS_INIT, .e1 = OCTETS_INIT };

	c->ecn.acc = (struct tcp_accecn){ .r_cep = TCP_CEP_INIT,
					  .s_cep = TCP_CEP_INIT,
					  .r = octets,
					  .s = octets,
					  .told = octets,
					  .is_data_option_due = true };
}

/* 3.2.3.2.4: the first counters of the peer; cleared ones are ignored from here on */
static void first_option(struct tcp_accecn *a, const struct tcp_accecn_opt *o)
{
	if (!o->has)
		return;
	if ((o->cnt > 0 && o->v[0] == 0) || (o->cnt > 2 && o->v[2] == 0))
		a->ignores_option = true;
}

/* 3.2.2.3: our SYN was not ECN-capable, what else a SYN-ACK says of it was made on the way; 3.2.2.2: a mark counts */
static void syn_told(struct tcp_conn *c, uint8_t ace)
{
	if (ace != ACE_NOT_ECT && ace != ACE_RESERVED)
		c->ecn.no_ect = true;
	if (ace == ACE_CE)
		c->ecn.hs.is_marked = true;
}

/* 3.2.2.1, 3.2.2.2: of SYN-ACKs the last is answered; one mark counts, however many have it */
static void answer_synack(struct tcp_conn *c, const struct tcp_seg *s)
{
	struct tcp_accecn *a = &c->ecn.acc;

	c->ecn.hs.code = s->ecn;
	a->is_answer_due = a->is_option_due = true;
	if (s->ecn == CE && a->r_cep == TCP_CEP_INIT)
		a->r_cep++;
}

/** tcp_accecn_synack() - client: the SYN-ACK agreed (3.2.2.1, 3.2.2.2, 3.2.2.3) */
void tcp_accecn_synack(struct tcp_conn *c, const struct tcp_seg *s)
{
	tcp_accecn_start(c);
	first_option(&c->ecn.acc, &s->opt.accecn);
	syn_told(c, tcp_seg_ace(s));
	answer_synack(c, s);
}

/**
 * tcp_accecn_synack_again() - client: something with SYN and ACK came later
 *
 * If it is the SYN-ACK once more and says so, its code point is told; its bits are looked at no more (3.1.5).
 */
void tcp_accecn_synack_again(struct tcp_conn *c, const struct tcp_seg *s)
{
	if (c->ecn.mode == TCP_ECN_ACCURATE && tcp_has(c, TCP_F_ACTIVE) && seq_eq(s->seq, c->irs) &&
	    seq_lt(c->iss, s->ack) && seq_le(s->ack, c->snd_nxt) &&
	    tcp_accecn_is_yes(tcp_seg_ace(s)))
		answer_synack(c, s);
}

/** tcp_accecn_crossed() - the peer's SYN-ACK of a simultaneous open: what it says is of our SYN, and no number (3.2.2) */
void tcp_accecn_crossed(struct tcp_conn *c, const struct tcp_seg *s)
{
	if (c->ecn.mode != TCP_ECN_ACCURATE)
		return;
	first_option(&c->ecn.acc, &s->opt.accecn);
	syn_told(c, tcp_seg_ace(s));
	c->ecn.acc.is_code = true;
}

/* 3.2.2.1 table 4 */
static void third_told(struct tcp_conn *c, uint8_t ace)
{
	struct tcp_accecn *a = &c->ecn.acc;

	if (ace == 0)
		c->ecn.no_ect = a->no_response = true;
	if (ace == ACE_CE) {
		a->s_cep = TCP_CEP_INIT + 1;
		c->ecn.hs.is_marked = true;
	}
	if (ace == ACE_ECT1 || ace == ACE_ECT0 || ace == ACE_CE)
		c->ecn.no_ect = true; /* 3.2.2.3: our SYN-ACK was not ECN-capable */
}

/** tcp_accecn_third() - server in SYN-RECEIVED: the acknowledgement of our SYN-ACK (3.2.2.1 table 4) */
void tcp_accecn_third(struct tcp_conn *c, const struct tcp_seg *s)
{
	struct tcp_accecn *a = &c->ecn.acc;

	if (c->ecn.mode != TCP_ECN_ACCURATE)
		return;
	first_option(a, &s->opt.accecn);
	if (c->ecn.hs.has_ace)
		third_told(c, c->ecn.hs.ace);
	if (s->len || s->opt.sack_cnt)
		return; /* the bare one was lost, or came before: this is the number */
	a->is_code = true;
	third_told(c, tcp_seg_ace(s));
}

/** tcp_accecn_packet() - 3.2: a packet that all checks let through; @len octets as it came, before any were trimmed */
void tcp_accecn_packet(struct tcp_conn *c, const struct tcp_seg *s, uint32_t len)
{
	struct tcp_accecn *a = &c->ecn.acc;
	uint32_t *octets[] = {
		[NOT_ECT] = NULL, [ECT1] = &a->r.e1, [ECT0] = &a->r.e0, [CE] = &a->r.ce
	};
	bool is_owing = len || !seq_eq(c->rcv_acked, c->rcv_nxt);
	uint8_t before = a->last_ecn;

	if (c->ecn.mode != TCP_ECN_ACCURATE)
		return;
	if (len)
		a->is_ack_of_acks = false;
	if (s->len) /* new ones: the peer hears us */
		a->lost_cnt = 0;
	a->last_ecn = s->ecn;
	if (octets[s->ecn])
		*octets[s->ecn] += len;
	if (s->ecn != NOT_ECT)
		c->meter.has_ect = true;
	if (s->ecn != CE)
		return;
	a->r_cep += s->seg_cnt;
	a->ce_new += s->seg_cnt;
	if ((len && before != CE) || a->ce_new >= (is_owing ? CE_OF_DATA : CE_OF_ACKS)) {
		a->is_ack_of_acks = !is_owing && !tcp_has(c, TCP_F_ACK_NOW);
		c->flags |= TCP_F_ACK_NOW;
		tcp_conn_dirty(c);
	}
}

/**
 * tcp_accecn_duplicate() - 3.2.3.2.2: octets that were acknowledged came again; was it the option that got lost?
 *
 * Twice without anything new in between: then it seems to get lost always.
 */
void tcp_accecn_duplicate(struct tcp_conn *c)
{
	struct tcp_accecn *a = &c->ecn.acc;

	if (a->has_told && ++a->lost_cnt >= LOST_MAX)
		a->no_option = true;
}

/* --- sender: what an acknowledgement tells -------------------------------------------------- */

static uint32_t advance(uint32_t *cnt, uint32_t field)
{
	uint32_t delta = (field - *cnt) & FIELD_MASK;

	*cnt += delta;
	return delta;
}

/* 3.2.3.1. Returns how many octets more were marked CE; what the option leaves out has not changed (3.2.3.3). */
static uint32_t option_in(struct tcp_accecn *a, const struct tcp_accecn_opt *o)
{
	uint32_t *first = o->is_order1 ? &a->s.e1 : &a->s.e0;
	uint32_t *last = o->is_order1 ? &a->s.e0 : &a->s.e1;
	uint32_t ce = 0;

	if (o->cnt > 0)
		(void)advance(first, o->v[0]);
	if (o->cnt > 1)
		ce = advance(&a->s.ce, o->v[1]);
	if (o->cnt > 2)
		(void)advance(last, o->v[2]);
	a->has_option = true;
	a->has_option_ce = ce > 0;
	return ce;
}

/*
 * A.2: the number says @delta more, or eight, sixteen ... more than that; @segs were acknowledged. With @is_known
 * an option says how many octets were marked.
 */
static uint32_t how_many(const struct tcp_conn *c, uint32_t delta, uint32_t segs, bool is_known,
			 uint32_t ce_octets)
{
	uint32_t safe;

	if (segs <= ACE_MASK)
		return delta;
	safe = segs - ((segs - delta) & ACE_MASK);
	if (!is_known) /* who acknowledges much at once has lost no acknowledgements */
		return c->ecn.acc.acked_ewma > EWMA_LARGE ? delta : safe;
	if (ce_octets == 0)
		return delta;
	if (ce_octets > delta * c->mss)
		return safe;
	return ce_octets < (uint64_t)safe * c->mss / 2 ? delta : safe;
}

/* 3.2.2.4: the first number starts at 5, and this cannot have made it zero: the field is cleared on its way */
static void first_number(struct tcp_conn *c, uint8_t ace, uint32_t segs)
{
	struct tcp_accecn *a = &c->ecn.acc;

	if (!a->had_first && ace == 0 && segs < ACE_MASK + 1 - TCP_CEP_INIT)
		c->ecn.no_ect = a->no_response = true;
	a->had_first = true;
}

/*
 * 3.2.2.3: a path that marks everything tells nothing. A round ends when what was out at its first acknowledgement is
 * acknowledged; the first one with a segment that was not marked ends the search.
 */
static void watch_marks(struct tcp_conn *c, uint32_t segs, uint32_t ce)
{
	struct tcp_accecn_watch *w = &c->ecn.acc.watch;

	if (w->is_over || segs == 0)
		return;
	if (w->acked == 0)
		w->end = c->snd_nxt;
	w->acked += segs;
	w->marked += ce;
	w->total += segs;
	if (seq_lt(c->snd_una, w->end))
		return;
	w->is_over = w->marked < w->acked;
	if (!w->is_over && ++w->rounds >= MARKED_ROUNDS && w->total >= MARKED_MIN) {
		c->ecn.no_ect = c->ecn.acc.no_response = true;
		w->is_over = true;
	}
	w->acked = w->marked = 0;
}

/* 3.2.3.2.5: octets were marked and no packet, now or since the last option, and the number cannot have gone round */
static void reconcile(struct tcp_conn *c, uint32_t ce_octets, uint32_t ce, uint32_t segs)
{
	struct tcp_accecn *a = &c->ecn.acc;

	if (ce_octets && !ce && !a->ce_early && segs <= ACE_MASK)
		c->ecn.no_ect = true;
	a->ce_early = 0;
}

/**
 * tcp_accecn_ack() - 3.2.2.2: what an acknowledgement tells of marks
 * @c:		Connection; the scoreboard is up to date
 * @s:		Segment
 * @segs:	Segments it newly acknowledged, SACKed ones included
 * @is_later:	Its timestamp is later than any before
 *
 * One that acknowledges nothing and is not later has been overtaken, and is not looked at.
 *
 * Return: packets newly marked CE that the window has to answer for
 */
uint32_t tcp_accecn_ack(struct tcp_conn *c, const struct tcp_seg *s, uint32_t segs, bool is_later)
{
	struct tcp_accecn *a = &c->ecn.acc;
	bool has_option = s->opt.accecn.has && s->opt.accecn.cnt && !a->ignores_option;
	uint32_t delta, ce, ce_octets = 0;
	bool is_known;

	if (c->ecn.mode != TCP_ECN_ACCURATE)
		return 0;
	if (a->is_code) { /* a code point, no number: tcp_accecn_third() */
		a->is_code = false;
		return c->ecn.hs.is_marked && tcp_flight(c) ? 1 : 0; /* octets of Fast Open */
	}
	first_number(c, tcp_seg_ace(s), segs);
	if (segs == 0 && !is_later)
		return 0;
	if (segs)
		a->acked_ewma = a->acked_ewma ? a->acked_ewma - (a->acked_ewma >> EWMA_SHIFT) + segs
					      : segs << EWMA_SHIFT;
	if (has_option)
		ce_octets = option_in(a, &s->opt.accecn);
	/* who told of none and now tells nothing has nothing to tell */
	is_known = has_option || (a->has_option && !a->has_option_ce);
	delta = (tcp_seg_ace(s) - a->s_cep) & ACE_MASK;
	ce = how_many(c, delta, segs, is_known, ce_octets);
	if (has_option)
		reconcile(c, ce_octets, ce, segs);
	else
		a->ce_early += ce;
	watch_marks(c, segs, ce);
	if (a->no_response)
		return 0;
	a->s_cep += ce;
	return ce;
}

/* --- receiver: what we tell ------------------------------------------------------------------ */

/* 3.2.3.3: what every scheme tells of */
static bool is_overdue(const struct tcp_accecn *a)
{
	return a->r.ce != a->told.ce || a->r.e0 - a->told.e0 >= OPTION_EACH ||
	       a->r.e1 - a->told.e1 >= OPTION_EACH;
}

static bool has_changed(const struct tcp_conn *c)
{
	const struct tcp_accecn *a = &c->ecn.acc;

	return is_overdue(a) || (tcp_knob(c->t, NS_KNOB_tcp_ecn_option) > 1 &&
				 (a->r.e0 != a->told.e0 || a->r.e1 != a->told.e1));
}

/* 3.2.3.3: the shorter order, without what has never changed; @is_full: all, so that cleared ones show */
static struct tcp_accecn_opt option_of(const struct tcp_accecn *a, bool is_full)
{
	bool is_order1 = a->r.e0 == OCTETS_INIT && a->r.e1 != OCTETS_INIT;
	uint32_t first = is_order1 ? a->r.e1 : a->r.e0, last = is_order1 ? a->r.e0 : a->r.e1;
	uint8_t cnt = is_full || last != OCTETS_INIT ? OPTION_FULL : a->r.ce ? 2 : 1;

	return (struct tcp_accecn_opt){
		.has = true,
		.is_order1 = is_order1,
		.cnt = cnt,
		.v = { first & FIELD_MASK, a->r.ce & FIELD_MASK, last & FIELD_MASK },
	};
}

/* 3.2.3.3: the least that may be said, what changed since the last one; perhaps it is empty */
static struct tcp_accecn_opt least_option_of(const struct tcp_accecn *a)
{
	bool has_e0 = a->r.e0 != a->told.e0, has_e1 = a->r.e1 != a->told.e1;
	bool is_order1 = has_e1 && !has_e0;

	return (struct tcp_accecn_opt){
		.has = true,
		.is_order1 = is_order1,
		.cnt = has_e0 && has_e1        ? OPTION_FULL
		       : a->r.ce != a->told.ce ? 2
					       : has_e0 || has_e1,
		.v = { (is_order1 ? a->r.e1 : a->r.e0) & FIELD_MASK, a->r.ce & FIELD_MASK,
		       a->r.e1 & FIELD_MASK },
	};
}

/** tcp_accecn_syn_option() - 3.2.3.2.1: of a SYN-ACK, behind what is in @e already; as much of it as fits */
void tcp_accecn_syn_option(const struct tcp *t, struct tcp_emit *e)
{
	struct tcp_accecn_opt *o = &e->opt.accecn;

	if (!tcp_knob(t, NS_KNOB_tcp_ecn_option))
		return;
	*o = (struct tcp_accecn_opt){ .has = true,
				      .cnt = OPTION_FULL,
				      .v = { OCTETS_INIT, 0, OCTETS_INIT } };
	while (tcp_opts_len(e) > TCP_OPT_MAX && o->cnt)
		o->cnt--;
	o->has = tcp_opts_len(e) <= TCP_OPT_MAX;
}

/* 3.2.3.3: as many SACK blocks as there are, two at least, come before the option. Did it fit? */
static bool fit_option(struct tcp_emit *e, const struct tcp_accecn_opt *o)
{
	struct tcp_opts was = e->opt;

	e->opt.accecn = *o;
	while (tcp_opts_len(e) > TCP_OPT_MAX && e->opt.sack_cnt > 2)
		e->opt.sack_cnt--;
	if (tcp_opts_len(e) <= TCP_OPT_MAX)
		return true;
	e->opt = was;
	return false;
}

/* 3.2.3.2.2: what is sent again goes without, it may have been the option that somebody drops */
static void option_out(struct tcp_conn *c, bool is_new, uint32_t len, struct tcp_emit *e)
{
	struct tcp_accecn *a = &c->ecn.acc;
	bool is_first_data = len && a->is_data_option_due;
	bool is_full = a->is_option_due || is_first_data;
	struct tcp_accecn_opt o = option_of(a, is_full), least = least_option_of(a);

	if (len)
		a->is_data_option_due = false;
	a->has_told = false;
	if (tcp_knob(c->t, NS_KNOB_tcp_ecn_option) == 0 || a->no_option ||
	    (!is_full && !has_changed(c)) || (len && (!is_new || len + OPTION_LEN > c->mss)) ||
	    (!fit_option(e, &o) && !fit_option(e, &least)))
		return;
	a->is_option_due = false;
	a->told = a->r;
	a->has_told = true;
}

/**
 * tcp_accecn_out() - what a segment without SYN and RST says
 * @c:		Connection in accurate mode
 * @is_new:	It has octets that were never sent
 * @len:	Octets of payload
 * @e:		Its header, SACK blocks in it; the number and perhaps the option are added
 */
void tcp_accecn_out(struct tcp_conn *c, bool is_new, uint32_t len, struct tcp_emit *e)
{
	struct tcp_accecn *a = &c->ecn.acc;

	/* behind anything else a code would be taken for a number: the server knows that we are here */
	tcp_emit_ace(e, a->is_answer_due && len == 0 ? tcp_accecn_code(c->ecn.hs.code)
						     : a->r_cep & ACE_MASK);
	a->is_answer_due = a->is_ack_of_acks = false;
	a->ce_new = 0;
	option_out(c, is_new, len, e);
}

/** tcp_accecn_room() - 3.2.3.2.1: a client's first octets leave room for the option; octets that may leave at once */
uint32_t tcp_accecn_room(const struct tcp_conn *c)
{
	const struct tcp_accecn *a = &c->ecn.acc;
	bool is_due = c->ecn.mode == TCP_ECN_ACCURATE && a->is_data_option_due && !a->no_option &&
		      tcp_has(c, TCP_F_ACTIVE) && tcp_knob(c->t, NS_KNOB_tcp_ecn_option);

	return is_due ? c->mss - OPTION_LEN : UINT32_MAX;
}

/**
 * tcp_accecn_wants_ack() - is a bare acknowledgement worth it, before full segments that have no room for the option?
 *
 * It is when octets came marked, and often enough for the counters not to wrap (3.2.3.3); what it acknowledges makes
 * it none of the duplicates that RFC 5681 counts.
 */
bool tcp_accecn_wants_ack(const struct tcp_conn *c)
{
	const struct tcp_accecn *a = &c->ecn.acc;

	return c->ecn.mode == TCP_ECN_ACCURATE && !a->no_option &&
	       tcp_knob(c->t, NS_KNOB_tcp_ecn_option) && !seq_eq(c->rcv_acked, c->rcv_nxt) &&
	       tcp_unsent(c) >= c->mss && is_overdue(a);
}

/** tcp_accecn_is_single() - octets leave in single segments: the number's middle bit would be lost in a super-segment */
bool tcp_accecn_is_single(const struct tcp_conn *c)
{
	return c->ecn.mode == TCP_ECN_ACCURATE && (c->ecn.acc.r_cep & 2);
}

/** tcp_accecn_info() - its part of TCP_INFO: counters from 0 on, as Linux tells them */
void tcp_accecn_info(const struct tcp_conn *c, struct ns_tcp_info *info)
{
	const struct tcp_accecn *a = &c->ecn.acc;

	info->received_ce = a->r_cep - TCP_CEP_INIT;
	info->delivered_e1_bytes = a->s.e1 - OCTETS_INIT;
	info->delivered_e0_bytes = a->s.e0 - OCTETS_INIT;
	info->delivered_ce_bytes = a->s.ce;
	info->received_e1_bytes = a->r.e1 - OCTETS_INIT;
	info->received_e0_bytes = a->r.e0 - OCTETS_INIT;
	info->received_ce_bytes = a->r.ce;
}
