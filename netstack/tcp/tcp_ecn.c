/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ecn.c - explicit congestion notification (RFC 3168)
 *
 * Theory of operation
 *
 * Asked for with ECE and CWR in a SYN, agreed to with ECE in the SYN-ACK. From then on segments with
 * octets that were never sent before say ECT(0) in the IP header; what is sent again, bare acknowledgements and
 * probes do not (RFC 3168 6.1.4 to 6.1.6: nobody would notice if one of these were lost or forged).
 *
 *   receiver  a segment marked CE: every acknowledgement has ECE until the peer says CWR
 *   sender    an acknowledgement with ECE: the window falls as after a loss, but nothing is sent again;
 *             the next segment of new octets says CWR. Once for what was outstanding: CA_CWR lasts until that
 *             is acknowledged, and PRR spreads the fall over it (as linux tcp_enter_cwr()).
 *
 * Knob tcp_ecn as Linux's: 0 off, 1 ask and agree, 2 agree only. A SYN that has to be repeated does not ask any
 * more, since some paths drop those (RFC 3168 6.1.1.1).
 *
 * Deviates from RFC 3168 6.1.2: no wait for a timeout when the window is a single segment already.
 *
 * References: RFC 3168 5, 6.1; linux v6.1 net/ipv4/tcp_input.c, tcp_output.c tcp_ecn_*().
 */
#include "tcp/tcp_int.h"

enum {
	ECN_ASK = 1,  /* value of the knob */
	ECN_ECT0 = 2, /* RFC 3168 5 */
	ECN_CE = 3,   /* RFC 3168 5 */
	ECN_SYN_BITS = TCP_ECE | TCP_CWR,
};

/** tcp_ecn_syn() - bits of our SYN, or of our SYN-ACK when the opens crossed */
uint8_t tcp_ecn_syn(struct tcp_conn *c)
{
	if (c->state == TCP_SYN_RCVD)
		return c->ecn.is_on ? TCP_ECE : 0;
	c->ecn.is_asked = tcp_knob(c->t, NS_KNOB_tcp_ecn) == ECN_ASK && c->syn_retries == 0;
	return c->ecn.is_asked ? ECN_SYN_BITS : 0;
}

/** tcp_ecn_agrees() - does the SYN @s ask, and do we want it? */
bool tcp_ecn_agrees(const struct tcp *t, const struct tcp_seg *s)
{
	return (s->flags & ECN_SYN_BITS) == ECN_SYN_BITS && tcp_knob(t, NS_KNOB_tcp_ecn);
}

/** tcp_ecn_answered() - the SYN-ACK for our SYN; both bits are a mirror, not a yes (RFC 3168 6.1.1) */
void tcp_ecn_answered(struct tcp_conn *c, const struct tcp_seg *s)
{
	c->ecn.is_on = c->ecn.is_asked && (s->flags & ECN_SYN_BITS) == TCP_ECE;
}

/**
 * tcp_ecn_out() - what a segment says of congestion
 * @c:		Connection
 * @is_new:	It has octets that were never sent
 * @flags:	Its control bits; ECE and CWR are added
 * @tos:	Its DSCP octet; the code point is added
 */
void tcp_ecn_out(struct tcp_conn *c, bool is_new, uint8_t *flags, uint8_t *tos)
{
	if (!c->ecn.is_on || (*flags & (TCP_SYN | TCP_RST)))
		return;
	if (c->ecn.is_echoing && (*flags & TCP_ACK))
		*flags |= TCP_ECE;
	if (!is_new)
		return;
	*tos |= ECN_ECT0;
	if (c->ecn.is_cwr_due)
		*flags |= TCP_CWR;
	c->ecn.is_cwr_due = false;
}

/** tcp_ecn_text() - RFC 3168 6.1.3: an acceptable segment with octets, @s->ecn from its IP header */
void tcp_ecn_text(struct tcp_conn *c, const struct tcp_seg *s)
{
	if (!c->ecn.is_on)
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
	return c->ecn.is_on && (s->flags & (TCP_ECE | TCP_SYN)) == TCP_ECE;
}
