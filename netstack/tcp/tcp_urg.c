/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_urg.c - urgent data: one octet of the stream that is marked
 *
 * Theory of operation
 *
 * As Linux and everyone else has it: the urgent pointer points behind the urgent data (RFC 6093 2.1 tells how that
 * came), only its last octet is urgent, and of several the newest. The octet stays where it is in the
 * stream (RFC 6093 3.1); the embedder is told how far it is from the next octet to read and does with it
 * what SO_OOBINLINE asks for.
 *
 * In. RCV.UP is the sequence number of the urgent octet. A pointer at what was read or received
 * before is no news, nor is one that goes back. Beyond that it may point anywhere: it is only compared
 * with, never used as a length (CVE-2019-12255 and its like).
 *
 * Out. SND.UP is behind the urgent octet. Every segment that starts before it says so, even one without octets
 * and one that the peer's window has no room for, until it is acknowledged. Such a segment is a single one:
 * a device that cuts a super-segment would repeat the pointer.
 *
 * References: RFC 9293 3.8.5, 3.10.7.4 sixth; RFC 6093 2, 3; linux v6.1 net/ipv4/tcp_input.c tcp_check_urg(),
 * tcp_output.c __tcp_transmit_skb().
 */
#include "tcp/tcp_int.h"

/* The next octet that the program will read. */
static struct seq rcv_head(const struct tcp_conn *c)
{
	uint32_t queued = (uint32_t)bytes_len(&c->rcvq) + tcp_has(c, TCP_F_FIN_RCVD);

	return seq_add(c->rcv_nxt, -queued);
}

/**
 * tcp_urg_in() - RFC 9293 3.10.7.4 sixth: the URG bit
 * @a:		Arrival; acceptable
 *
 * Return: STEP_NEXT
 */
enum step tcp_urg_in(struct tcp_arrival *a)
{
	struct tcp_conn *c = a->c;
	struct seq at = a->s->urg;

	if (!(a->s->flags & TCP_URG) || !TCP_IN(c->state, TCPF_CAN_RECV))
		return STEP_NEXT;
	if (seq_lt(at, c->rcv_nxt))
		return STEP_NEXT;
	/* "RCV.UP <- max(RCV.UP, SEG.UP)", as long as the old one means something */
	if (c->urg.has_rcv && seq_le(rcv_head(c), c->urg.rcv) && seq_le(at, c->urg.rcv))
		return STEP_NEXT;
	c->urg.has_rcv = true;
	c->urg.is_told = false;
	c->urg.rcv = at;
	stat_inc(tcp_stats(c->t), STAT_TCP_URGENT_IN);
	return STEP_NEXT;
}

/** tcp_urg_news() - octets have arrived in order: is the urgent one among them? enum ns_event_mask for the program */
uint32_t tcp_urg_news(struct tcp_conn *c)
{
	if (!c->urg.has_rcv || c->urg.is_told || !seq_lt(c->urg.rcv, c->rcv_nxt))
		return 0;
	c->urg.is_told = true;
	return NS_EV_URG;
}

/**
 * tcp_urg_off() - transport_ops.recv_urgent
 *
 * Return: octets of the receive queue before the urgent one; NS_NO_URGENT when it has not come or is read
 */
uint32_t tcp_urg_off(void *conn)
{
	struct tcp_conn *c = conn;
	int32_t off;

	if (!c->urg.has_rcv)
		return NS_NO_URGENT;
	off = seq_diff(c->urg.rcv, rcv_head(c));
	if (off < 0) {
		c->urg.has_rcv = false;
		return NS_NO_URGENT;
	}
	return seq_lt(c->urg.rcv, c->rcv_nxt) ? (uint32_t)off : NS_NO_URGENT;
}

/** tcp_urg_mark() - transport_ops.send_urgent: the last octet of the send queue is urgent */
void tcp_urg_mark(void *conn)
{
	struct tcp_conn *c = conn;

	if (!TCP_IN(c->state, TCPF_CAN_SEND) || bytes_len(&c->sndq) == 0)
		return;
	c->urg.snd = seq_add(c->snd_una, (uint32_t)bytes_len(&c->sndq));
	c->urg.has_snd = true;
	stat_inc(tcp_stats(c->t), STAT_TCP_URGENT_OUT);
	tcp_conn_dirty(c);
}

/** tcp_urg_acked() - SND.UNA moved */
void tcp_urg_acked(struct tcp_conn *c)
{
	if (c->urg.has_snd && seq_le(c->urg.snd, c->snd_una))
		c->urg.has_snd = false;
}

/**
 * tcp_urg_out() - URG and the urgent pointer of a segment
 * @c:		Connection
 * @e:		Header; neither SYN nor RST
 *
 * A pointer too far for 16 bits is said to be as far as they go, unless octets from there on are outstanding.
 */
void tcp_urg_out(const struct tcp_conn *c, struct tcp_emit *e)
{
	uint32_t ahead = (uint32_t)seq_diff(c->urg.snd, e->seq);

	if (!c->urg.has_snd || !seq_lt(e->seq, c->urg.snd))
		return;
	if (ahead > UINT16_MAX && !seq_lt(c->snd_nxt, seq_add(e->seq, UINT16_MAX)))
		return;
	e->urg = (uint16_t)ns_min_u(ahead, UINT16_MAX);
	e->flags |= TCP_URG;
}
