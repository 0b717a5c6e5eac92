/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ecn.c - explicit congestion notification: what the handshake agrees on, and the classic kind (RFC 3168)
 *
 * Theory of operation
 *
 * Classic ECN is asked for with CWR and ECE in a SYN and agreed to with ECE in the SYN-ACK; accurate ECN (RFC 9768,
 * tcp_accecn.c) is asked for with AE, CWR and ECE, and the SYN-ACK tells the code point the SYN came with. Who
 * knows less than he is asked answers what he knows (RFC 9768 3.1.2 table 2). The three bits together are a
 * number here, AE the highest.
 *
 * From then on segments with octets that were never sent before say ECT(0) in the IP header; what is sent again,
 * bare acknowledgements and probes do not (RFC 3168 6.1.4 to 6.1.6: nobody would notice if one of these were lost or
 * forged). In the classic mode
 *
 *   receiver  a segment marked CE: every acknowledgement has ECE until the peer says CWR
 *   sender    an acknowledgement with ECE: the window falls as after a loss, but nothing is sent again;
 *             the next segment of new octets says CWR. Once for what was outstanding: CA_CWR lasts until that
 *             is acknowledged, and PRR spreads the fall over it (as linux tcp_enter_cwr()).
 *
 * Knob tcp_ecn as Linux's: 0 off, 1 ask for and agree to classic, 2 agree to classic only, 3 ask for and agree to
 * accurate, 4 agree to accurate and ask for classic, 5 agree to accurate only. A classic SYN that has to be repeated
 * does not ask any more, since some paths drop those (RFC 3168 6.1.1.1), an accurate one asks once more (RFC 9768
 * 3.1.4.1).
 *
 * Deviates from RFC 3168 6.1.2: no wait for a timeout when the window is a single segment already.
 *
 * References: RFC 3168 5, 6.1; RFC 9768 3.1; linux v6.18 net/ipv4/tcp_input.c, tcp_output.c tcp_ecn_*().
 */
#include "tcp/tcp_int.h"

enum {
	KNOB_CLASSIC = 1,  /* asks for the classic kind */
	KNOB_ACCURATE = 3, /* from here on agrees to the accurate kind; asks for it */
	KNOB_ASK_LESS = 4, /* agrees to the accurate, asks for the classic kind */
	ACC_SYNS = 1,      /* SYNs sent again that still ask */
	ACC_SYNACKS = 1,   /* SYN-ACKs sent again that still agree to the accurate kind */

	ECN_ECT0 = 2, /* RFC 3168 5 */
	ECN_CE = 3,   /* RFC 3168 5 */

	ASK_CLASSIC = 3,
	ASK_ACCURATE = 7,
	YES_CLASSIC = 1,
};

/* The bits of a SYN: what they ask for. The combination is fixed with the first of a connection. */
static uint8_t ask(struct tcp_conn *c)
{
	int knob = tcp_knob(c->t, NS_KNOB_tcp_ecn);

	if (c->syn_retries == 0)
		c->ecn.asked = knob == KNOB_ACCURATE                           ? TCP_ECN_ACCURATE
			       : knob == KNOB_CLASSIC || knob == KNOB_ASK_LESS ? TCP_ECN_CLASSIC
									       : TCP_ECN_OFF;
	if (c->ecn.asked == TCP_ECN_ACCURATE)
		return c->syn_retries <= ACC_SYNS ? ASK_ACCURATE : 0;
	if (c->syn_retries)
		c->ecn.asked = TCP_ECN_OFF;
	return c->ecn.asked == TCP_ECN_CLASSIC ? ASK_CLASSIC : 0;
}

/** tcp_ecn_agree() - what a SYN with the bits @ace asks for, as far as we want it (RFC 9768 3.1.2, 3.1.3) */
enum tcp_ecn_mode tcp_ecn_agree(const struct tcp *t, uint8_t ace)
{
	int knob = tcp_knob(t, NS_KNOB_tcp_ecn);

	if (knob == 0 || ace == 0)
		return TCP_ECN_OFF;
	if (ace != ASK_CLASSIC && knob >= KNOB_ACCURATE)
		return TCP_ECN_ACCURATE; /* unknown combinations, too */
	return (ace & ASK_CLASSIC) == ASK_CLASSIC ? TCP_ECN_CLASSIC : TCP_ECN_OFF;
}

/**
 * tcp_ecn_syn_in() - a SYN of the peer, the first or one of the same number (RFC 9768 3.1.5, RFC 3168 6.1.1)
 * @t:		TCP
 * @s:		The SYN, without ACK
 * @hs:		The handshake; zero before the first
 *
 * The kind of ECN is the first one's. Who then does not ask may not know what is agreed on: nothing is marked.
 *
 * Return: false: both kinds were asked for, which of our answers counts for the peer cannot be known: reset
 */
bool tcp_ecn_syn_in(const struct tcp *t, const struct tcp_seg *s, struct tcp_ecn_hs *hs)
{
	const uint8_t both = 1u << TCP_ECN_CLASSIC | 1u << TCP_ECN_ACCURATE;
	enum tcp_ecn_mode asked = tcp_ecn_agree(t, tcp_seg_ace(s));

	hs->is_again = hs->kinds != 0;
	hs->code = s->ecn;
	hs->kinds |= (uint8_t)(1u << asked);
	hs->no_ect |= asked == TCP_ECN_OFF;
	return (hs->kinds & both) != both;
}

static uint8_t answer(enum tcp_ecn_mode mode, uint8_t syn_ecn)
{
	switch (mode) {
	case TCP_ECN_ACCURATE:
		return tcp_accecn_code(syn_ecn);
	case TCP_ECN_CLASSIC:
		return YES_CLASSIC;
	case TCP_ECN_OFF:
		break;
	}
	return 0;
}

/**
 * tcp_ecn_synack_out() - what a SYN-ACK says
 * @t:		TCP
 * @mode:	What is agreed on
 * @retries:	It was sent so often before
 * @hs:		What the SYNs said; nothing is to be sent as ECN-capable when the bits do not say what is agreed on
 * @e:		Its header, other options are in it
 *
 * RFC 9768 3.2.3.2.2: the second goes without the option, the third without the bits: perhaps somebody drops them.
 */
void tcp_ecn_synack_out(const struct tcp *t, enum tcp_ecn_mode mode, uint32_t retries,
			struct tcp_ecn_hs *hs, struct tcp_emit *e)
{
	if (mode == TCP_ECN_ACCURATE && retries > ACC_SYNACKS) {
		hs->no_ect = true;
		return;
	}
	tcp_emit_ace(e, answer(mode, hs->code));
	if (mode == TCP_ECN_ACCURATE && retries == 0 && !hs->is_again)
		tcp_accecn_syn_option(t, e);
}

/** tcp_ecn_enter() - the mode of a connection, once, and the handshake @hs that led to it */
void tcp_ecn_enter(struct tcp_conn *c, enum tcp_ecn_mode mode, const struct tcp_ecn_hs *hs)
{
	c->ecn.mode = mode;
	c->ecn.hs = *hs;
	c->ecn.no_ect = hs->no_ect;
	if (mode == TCP_ECN_ACCURATE)
		tcp_accecn_start(c);
}

/**
 * tcp_ecn_crossed() - a SYN crossed ours: as if we had only been asked (RFC 9768 3.1.2)
 *
 * But the peer has our SYN, too: what that did not ask for he does not do. Once one of ours asked for nothing it may
 * be the one he saw.
 */
void tcp_ecn_crossed(struct tcp_conn *c, const struct tcp_seg *s)
{
	enum tcp_ecn_mode theirs = tcp_ecn_agree(c->t, tcp_seg_ace(s));
	enum tcp_ecn_mode ours = c->ecn.asked;
	struct tcp_ecn_hs hs = { .retries = (uint8_t)ns_min_u(c->syn_retries, UINT8_MAX) };

	(void)tcp_ecn_syn_in(c->t, s, &hs);
	hs.no_ect |= c->syn_retries > ACC_SYNS;
	tcp_ecn_enter(c, theirs < ours ? theirs : ours, &hs);
}

/** tcp_ecn_syn_again() - the peer's SYN once more, before the handshake is over; tcp_ecn_syn_in() */
bool tcp_ecn_syn_again(struct tcp_conn *c, const struct tcp_seg *s)
{
	bool r = tcp_ecn_syn_in(c->t, s, &c->ecn.hs);

	c->ecn.no_ect |= c->ecn.hs.no_ect;
	return r;
}

/** tcp_ecn_answered() - the SYN-ACK for our SYN; a mirror of what was asked is no yes (RFC 9768 3.1.2, RFC 3168 6.1.1) */
void tcp_ecn_answered(struct tcp_conn *c, const struct tcp_seg *s)
{
	uint8_t ace = tcp_seg_ace(s);

	c->ecn.mode = TCP_ECN_OFF;
	if (c->ecn.asked == TCP_ECN_ACCURATE && tcp_accecn_is_yes(ace)) {
		c->ecn.mode = TCP_ECN_ACCURATE;
		tcp_accecn_synack(c, s);
	} else if ((c->ecn.asked == TCP_ECN_CLASSIC && (ace & ASK_CLASSIC) == YES_CLASSIC) ||
		   (c->ecn.asked == TCP_ECN_ACCURATE && ace == YES_CLASSIC)) {
		c->ecn.mode = TCP_ECN_CLASSIC;
	}
}

/**
 * tcp_ecn_out() - what a segment says of congestion
 * @c:		Connection
 * @is_new:	It has octets that were never sent
 * @len:	Octets of payload
 * @e:		Its header, other options are in it; bits and an option are added
 * @tos:	Its DSCP octet; the code point is added
 */
void tcp_ecn_out(struct tcp_conn *c, bool is_new, uint32_t len, struct tcp_emit *e, uint8_t *tos)
{
	if (e->flags & TCP_SYN && c->state == TCP_SYN_SENT) {
		tcp_emit_ace(e, ask(c));
		return;
	}
	if (e->flags & TCP_SYN) { /* of a simultaneous open, or of Fast Open */
		tcp_ecn_synack_out(c->t, c->ecn.mode, c->syn_retries - c->ecn.hs.retries,
				   &c->ecn.hs, e);
		c->ecn.no_ect |= c->ecn.hs.no_ect;
		return;
	}
	if (c->ecn.mode == TCP_ECN_OFF || (e->flags & TCP_RST))
		return;
	if (c->ecn.mode == TCP_ECN_ACCURATE) {
		tcp_accecn_out(c, is_new, len, e);
	} else if (c->ecn.is_echoing && (e->flags & TCP_ACK)) {
		e->flags |= TCP_ECE;
	}
	if (!is_new)
		return;
	if (!c->ecn.no_ect)
		*tos |= ECN_ECT0;
	if (c->ecn.mode != TCP_ECN_CLASSIC)
		return;
	if (c->ecn.is_cwr_due)
		e->flags |= TCP_CWR;
	c->ecn.is_cwr_due = false;
}

/** tcp_ecn_text() - RFC 3168 6.1.3: an acceptable segment with octets, @s->ecn from its IP header */
void tcp_ecn_text(struct tcp_conn *c, const struct tcp_seg *s)
{
	if (c->ecn.mode != TCP_ECN_CLASSIC)
		return;
	if (s->ecn)
		c->meter.has_ect = true;
	if (s->flags & TCP_CWR) {
		c->ecn.is_echoing = false;
		c->flags |=
			TCP_F_ACK_NOW; /* its window may be one segment now (linux tcp_ecn_accept_cwr()) */
	}
	if (s->ecn != ECN_CE)
		return;
	if (!c->ecn.is_echoing)
		tcp_rcv_quickack(c); /* the news is worth an acknowledgement */
	c->ecn.is_echoing = true;
}

/** tcp_ecn_is_echo() - RFC 3168 6.1.2: does this acknowledgement tell of congestion on the way to the peer? */
bool tcp_ecn_is_echo(const struct tcp_conn *c, const struct tcp_seg *s)
{
	return c->ecn.mode == TCP_ECN_CLASSIC && (s->flags & (TCP_ECE | TCP_SYN)) == TCP_ECE;
}
