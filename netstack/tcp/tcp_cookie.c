/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cookie.c - SYN cookies: a handshake of which nothing is kept (RFC 4987 3.6)
 *
 * Theory of operation
 *
 * When a listener's queue of half-open objects is full its SYN-ACK carries a cookie as initial sequence
 * number, and the acknowledgement of it brings back what the object would have held:
 *
 *   cookie = F(key 1, tuple) + peer's ISN + minute << 24 + (F(key 2, tuple, minute) + index * STEP) mod 2^24
 *
 * index is the peer's MSS, rounded down to one of eight; STEP keeps the eight apart, so that an
 * acknowledgement that is off by one is none. It is believed for the minute it was made in and
 * the next. What the peer offered besides is in the low six bits of our timestamp, which it echoes: four for its
 * window scale (15: none), one for SACK. Without timestamps there is neither. They are no secret and need
 * none: who lies about them lies about himself.
 *
 * A cookie is guessed with 2 * 8 of 2^24 tries, and only while the listener has been overrun in the last two
 * minutes is any looked at.
 *
 * References: RFC 4987 3.6, appendix A; linux v6.1 net/ipv4/syncookies.c.
 */
#include <string.h>

#include "tcp/tcp_int.h"

enum {
	MINUTE_BITS = 24,
	STEP = 0x9e3779,
	TS_WSCALE_MASK = 15,
	TS_WSCALE_NONE = 15,
	TS_SACK = 16,
	TS_MASK = 63, /* linux TSMASK; one bit is free */
};

#define MINUTE_NS (60 * NS_PER_SEC)
#define LOW_MASK  ((1u << MINUTE_BITS) - 1)

/* The usual ones of IPv4 and IPv6, with and without PPPoE, tunnels, jumbo frames. */
static const uint16_t mss_table[] = { 536, 1220, 1300, 1400, 1440, 1452, 1460, 8940 };

/** tcp_cookie_init() - draw the keys; once for a stack */
void tcp_cookie_init(struct tcp *t)
{
	const struct ns_env *env = t->core->env;

	env->random(env->ctx, t->cookie_key, sizeof(t->cookie_key));
}

static uint32_t hash(const struct hash_key *key, const struct demux_key *k, uint32_t minute)
{
	return (uint32_t)tcp_tuple_hash(key, k, &minute, sizeof(minute));
}

static uint32_t minute_of(struct mono now)
{
	return (uint32_t)(now.ns / MINUTE_NS);
}

/**
 * tcp_cookie_make() - the initial sequence number of a SYN-ACK that is not remembered
 * @t:		TCP
 * @k:		Who talks with whom
 * @irs:	Sequence number of the peer's SYN
 * @mss:	What the peer offered, octets
 * @now:	Time
 */
struct seq tcp_cookie_make(const struct tcp *t, const struct demux_key *k, struct seq irs,
			   uint16_t mss, struct mono now)
{
	uint32_t minute = minute_of(now);
	uint32_t idx = 0;

	while (idx + 1 < NS_ARRAY_LEN(mss_table) && mss_table[idx + 1] <= mss)
		idx++;
	return seq(hash(&t->cookie_key[0], k, 0) + irs.v + (minute << MINUTE_BITS) +
		   ((hash(&t->cookie_key[1], k, minute) + idx * STEP) & LOW_MASK));
}

/**
 * tcp_cookie_check() - is it one of ours, and not too old?
 * @t:		TCP
 * @k:		Who talks with whom
 * @irs:	Sequence number the peer's SYN must have had
 * @cookie:	What is acknowledged, less one
 * @now:	Time
 *
 * Return: the peer's MSS, octets; 0: no
 */
uint16_t tcp_cookie_check(const struct tcp *t, const struct demux_key *k, struct seq irs,
			  struct seq cookie, struct mono now)
{
	uint32_t minute = minute_of(now);
	uint32_t x = cookie.v - hash(&t->cookie_key[0], k, 0) - irs.v;
	uint32_t age = (minute - (x >> MINUTE_BITS)) & UINT8_MAX;
	uint32_t rest;

	if (age > 1)
		return 0;
	rest = (x - hash(&t->cookie_key[1], k, minute - age)) & LOW_MASK;
	for (uint32_t idx = 0; idx < NS_ARRAY_LEN(mss_table); idx++)
		if (rest == (idx * STEP & LOW_MASK))
			return mss_table[idx];
	return 0;
}

/**
 * tcp_cookie_ts() - the timestamp that carries what the peer's SYN offered
 * @o:		Options of the SYN
 * @ts_off:	Of the connection, see tcp_ts_offset()
 * @now:	Time
 *
 * At most 127 ticks behind the clock, never ahead of it: later timestamps do not go back.
 */
uint32_t tcp_cookie_ts(const struct tcp_opts *o, uint32_t ts_off, struct mono now)
{
	uint32_t clock = tcp_ts_now(0, now);
	uint32_t bits = o->has_wscale ? o->wscale : (uint32_t)TS_WSCALE_NONE;
	uint32_t ts;

	if (o->sack_ok)
		bits |= TS_SACK;
	ts = (clock & ~(uint32_t)TS_MASK) | bits;
	if ((int32_t)(clock - ts) < 0)
		ts -= TS_MASK + 1;
	return ts + ts_off;
}

/**
 * tcp_cookie_ts_read() - what the peer's SYN had offered, from the echo
 * @s:		The acknowledgement
 * @ts_off:	Of the connection
 * @ret_o:	Options as of the SYN, MSS aside
 */
void tcp_cookie_ts_read(const struct tcp_seg *s, uint32_t ts_off, struct tcp_opts *ret_o)
{
	uint32_t bits = (s->opt.ts_ecr - ts_off) & TS_MASK;

	*ret_o = (struct tcp_opts){ .has_ts = s->opt.has_ts, .ts_val = s->opt.ts_val };
	if (!s->opt.has_ts)
		return;
	ret_o->sack_ok = bits & TS_SACK;
	ret_o->has_wscale = (bits & TS_WSCALE_MASK) != TS_WSCALE_NONE;
	ret_o->wscale = ret_o->has_wscale ? (uint8_t)(bits & TS_WSCALE_MASK) : 0;
}
