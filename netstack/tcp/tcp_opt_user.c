/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_opt_user.c - options of a socket: transport_ops.setopt and .getopt
 *
 * Theory of operation
 *
 * A value is checked against Linux's bounds, kept in the connection and, when something that waits may
 * leave because of it, the connection is marked: tcp_output() does the rest at the end of the turn. An option
 * of a listener is copied to what it accepts (tcp_listen.c).
 *
 * References: tcp(7), socket(7), ip(7); linux v6.1 net/ipv4/tcp.c do_tcp_setsockopt(), do_tcp_getsockopt().
 */
#include <errno.h>

#include "tcp/tcp_int.h"

static void set_flag(struct tcp_conn *c, uint32_t flag, bool on)
{
	c->flags = on ? c->flags | flag : c->flags & ~flag;
}

/* SO_SNDBUF, SO_RCVBUF: fixed from now on; bounded by net.core.rmem_max, wmem_max. */
static uint32_t buf_size(int value, uint32_t max)
{
	return ns_min_u(ns_max_u(value < 0 ? 0 : (unsigned)value, TCP_BUF_MIN), max);
}

static int set_seconds(uint64_t *to, int value)
{
	if (value < 1 || value > 32767) /* linux MAX_TCP_KEEPIDLE, MAX_TCP_KEEPINTVL */
		return -EINVAL;
	*to = (uint64_t)value * NS_PER_SEC;
	return 0;
}

static int set_count(uint16_t *to, int value)
{
	if (value < 1 || value > 127) /* linux MAX_TCP_KEEPCNT, MAX_TCP_SYNCNT */
		return -EINVAL;
	*to = (uint16_t)value;
	return 0;
}

static int set_keepalive(struct tcp_conn *c, bool on)
{
	set_flag(c, TCP_F_KEEPALIVE, on);
	/* the time of the last segment is known; the timer looks at it when it fires */
	if (on && TCP_IN(c->state, TCPF_SYNCHRONISED))
		tcp_keep_restart(c, c->rx_at);
	else
		tcp_timer_stop(c, &c->keep_timer);
	return 0;
}

static int set_v6only(struct tcp_conn *c, int value)
{
	bool is_v6 = value >= 0, is_v6only = value > 0;

	if (c->bind.is_bound && (is_v6 != c->bind.is_v6 || is_v6only != c->bind.is_v6only))
		return -EINVAL;
	c->bind.is_v6 = is_v6;
	c->bind.is_v6only = is_v6only;
	return 0;
}

/* linux sock_bindtoindex_locked(): the path is looked up again */
static int set_ifindex(struct tcp_conn *c, int value)
{
	if (value < 0 || (value > 0 && !net_has_link(c->t->net, (uint32_t)value)))
		return -ENODEV;
	c->bind.ifindex = (uint32_t)value;
	c->dst.generation = 0;
	return 0;
}

static int set_maxseg(struct tcp_conn *c, int value)
{
	if (value && (value < TCP_MSS_MIN || value > 32767)) /* linux TCP_MIN_MSS, MAX_TCP_WINDOW */
		return -EINVAL;
	c->user_mss = (uint16_t)value;
	if (TCP_IN(c->state, TCPF_SYNCHRONISED))
		tcp_mss_sync(c);
	return 0;
}

static int set_keepidle(struct tcp_conn *c, int value)
{
	int r = set_seconds(&c->keepidle_ns, value);

	if (r == 0 && tcp_has(c, TCP_F_KEEPALIVE))
		r = set_keepalive(c, true);
	return r;
}

static int set_linger2(struct tcp_conn *c, int value)
{
	if (value > 120) /* linux TCP_FIN_TIMEOUT_MAX */
		value = 120;
	c->linger2_ns = value < 0    ? 0
			: value == 0 ? tcp_knob_seconds(c->t, NS_KNOB_tcp_fin_timeout)
				     : value * NS_PER_SEC;
	return 0;
}

static int set_synced_count(struct tcp_conn *c, int value)
{
	uint16_t n = 0;
	int r = set_count(&n, value);

	if (r == 0)
		c->syncnt = (uint8_t)n;
	return r;
}

static int set_buf(struct tcp_conn *c, enum ns_sockopt opt, int value)
{
	if (opt == NS_SO_SNDBUF) {
		c->sndbuf = buf_size(value, tcp_knob_u(c->t, NS_KNOB_wmem_max));
		c->flags |= TCP_F_SNDBUF_FIXED;
	} else {
		c->rcvbuf = buf_size(value, tcp_knob_u(c->t, NS_KNOB_rmem_max));
		c->flags |= TCP_F_RCVBUF_FIXED;
	}
	return 0;
}

/* Options that only move a flag, and what becomes sendable by it. */
static int set_hold(struct tcp_conn *c, uint32_t flag, bool on)
{
	set_flag(c, flag, on);
	tcp_conn_dirty(c);
	return 0;
}

static int set_congestion(struct tcp_conn *c, int value)
{
	const struct tcp_cc_ops *ops = tcp_cc_get(value);

	if (!ops)
		return -ENOENT;
	c->congestion = (uint8_t)value;
	if (c->cc.ops) /* else the handshake's end begins with it */
		tcp_cc_switch(&c->cc, ops);
	return 0;
}

/* SOL_SOCKET, IPPROTO_IP and IPPROTO_IPV6. Return: as tcp_setopt() */
static int set_sock(struct tcp_conn *c, enum ns_sockopt opt, int value)
{
	switch ((int)opt) {
	case NS_SO_V6ONLY:
		return set_v6only(c, value);
	case NS_SO_BINDTOIFINDEX:
		return set_ifindex(c, value);
	case NS_SO_REUSEADDR:
		c->bind.reuseaddr = value != 0;
		return 0;
	case NS_SO_REUSEPORT:
		c->bind.reuseport = value != 0;
		return 0;
	case NS_SO_KEEPALIVE:
		return set_keepalive(c, value != 0);
	case NS_SO_LINGER:
		set_flag(c, TCP_F_LINGER0, value == 0);
		return 0;
	case NS_SO_SNDBUF:
	case NS_SO_RCVBUF:
		return set_buf(c, opt, value);
	case NS_SO_PRIORITY_TOS:
	case NS_IPV6_TCLASS:
		c->ip_opts[opt == NS_IPV6_TCLASS].tos = (uint8_t)(value & 0xfc);
		return 0;
	case NS_SO_UID:
		c->uid = (uint32_t)value;
		c->dst.generation--;
		return 0;
	case NS_SO_MARK:
		c->mark = (uint32_t)value;
		c->dst.generation--; /* rules may send it elsewhere */
		return 0;
	case NS_SO_TTL:
	case NS_IPV6_UNICAST_HOPS:
		if (value != -1 && (value < 1 || value > 255))
			return -EINVAL;
		c->ip_opts[opt == NS_IPV6_UNICAST_HOPS].ttl = value == -1 ? 0 : (uint8_t)value;
		return 0;
	case NS_SO_RCVLOWAT:
		c->rcvlowat = value > 0 ? (uint32_t)value : 0;
		return 0;
	case NS_IP_MTU_DISCOVER:
		if (value < 0 || value > PMTUDISC_OMIT)
			return -EINVAL;
		c->ip_opts[0].mtu_discover = (uint8_t)value;
		return 0;
	case NS_SO_MAX_PACING_RATE:
		tcp_pace_set_max(c, value == -1 ? TCP_PACE_UNLIMITED : (uint32_t)value);
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

/* IPPROTO_TCP. Return: as tcp_setopt() */
static int set_tcp(struct tcp_conn *c, enum ns_sockopt opt, int value)
{
	switch ((int)opt) {
	case NS_TCP_NODELAY: /* tcp(7): an explicit flush of pending output, even with TCP_CORK */
		c->is_flushing = value != 0;
		return set_hold(c, TCP_F_NODELAY, value != 0);
	case NS_TCP_CORK:
		return set_hold(c, TCP_F_CORK, value != 0);
	case NS_TCP_QUICKACK:
		set_flag(c, TCP_F_NO_QUICKACK, value == 0);
		if (value) {
			tcp_rcv_quickack(c);
			if (!seq_eq(c->rcv_acked, c->rcv_nxt))
				return set_hold(c, TCP_F_ACK_NOW, true);
		}
		return 0;
	case NS_TCP_MAXSEG:
		return set_maxseg(c, value);
	case NS_TCP_KEEPIDLE:
		return set_keepidle(c, value);
	case NS_TCP_KEEPINTVL:
		return set_seconds(&c->keepintvl_ns, value);
	case NS_TCP_KEEPCNT:
		return set_count(&c->keepcnt, value);
	case NS_TCP_USER_TIMEOUT:
		if (value < 0)
			return -EINVAL;
		c->user_timeout_ns = (uint64_t)value * NS_PER_MS;
		return 0;
	case NS_TCP_SYNCNT:
		return set_synced_count(c, value);
	case NS_TCP_LINGER2:
		return set_linger2(c, value);
	case NS_TCP_DEFER_ACCEPT:
		c->defer_ns = value > 0 ? (uint64_t)value * NS_PER_SEC : 0;
		return 0;
	case NS_TCP_WINDOW_CLAMP:
		c->wnd_clamp = value > 0 ? ns_max_u((unsigned)value, TCP_BUF_MIN) : UINT32_MAX;
		return 0;
	case NS_TCP_NOTSENT_LOWAT:
		c->notsent_lowat = value > 0 ? (uint32_t)value : UINT32_MAX;
		return 0;
	case NS_TCP_CONGESTION:
		return set_congestion(c, value);
	case NS_TCP_FASTOPEN:
		c->tfo.queue_max = ns_min_u(value < 0 ? 0 : (unsigned)value,
					    tcp_knob_u(c->t, NS_KNOB_somaxconn));
		return 0;
	case NS_TCP_FASTOPEN_CONNECT:
		c->tfo.is_asked_for = value != 0;
		return 0;
	case NS_TCP_FASTOPEN_NO_COOKIE:
		c->tfo.no_cookie = value != 0;
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

/**
 * tcp_setopt() - transport_ops.setopt
 * @conn:	Connection in any state
 * @opt:	Option; those of datagrams are refused
 * @value:	In the units of enum ns_sockopt
 *
 * Return: 0, -EINVAL (out of range, or too late), -ENODEV, -ENOENT (no such algorithm), -ENOPROTOOPT
 */
int tcp_setopt(void *conn, enum ns_sockopt opt, int value)
{
	int r = set_sock(conn, opt, value);

	return r == -ENOPROTOOPT ? set_tcp(conn, opt, value) : r;
}

static int seconds_of(uint64_t ns)
{
	return (int)(ns / NS_PER_SEC);
}

/* linux do_tcp_getsockopt() TCP_MAXSEG: the program's wish before, the truth after */
static int maxseg_of(const struct tcp_conn *c)
{
	if (TCP_IN(c->state, TCPF_SYNCHRONISED))
		return (int)c->mss;
	return c->user_mss ? c->user_mss : TCP_MSS_DEFAULT4;
}

static int linger2_of(const struct tcp_conn *c)
{
	return c->linger2_ns ? seconds_of(c->linger2_ns) : -1;
}

/** outq_of() - linux tcp_ioctl(): write_seq - snd_una; the FIN has a number, too */
static int outq_of(const struct tcp_conn *c)
{
	return (int)bytes_len(&c->sndq) + (tcp_has(c, TCP_F_FIN_QUEUED) && !tcp_fin_acked(c));
}

static int ttl_of(const struct tcp_conn *c, bool is_v6)
{
	int ttl = c->ip_opts[is_v6].ttl;

	return ttl ? ttl : tcp_knob(c->t, NS_KNOB_ip_default_ttl);
}

/* linux tcp_epollin_ready(): what is asked for is there, or the peer can or will send no more. */
static bool is_readable(const struct tcp_conn *c)
{
	return bytes_len(&c->rcvq) >= c->rcvlowat || tcp_has(c, TCP_F_FIN_RCVD) ||
	       !TCP_IN(c->state, TCPF_CAN_RECV) || tcp_rcv_wnd(c) <= c->rcv_mss;
}

/* SOL_SOCKET, IPPROTO_IP and IPPROTO_IPV6. Return: as tcp_getopt() */
static int get_sock(const struct tcp_conn *c, enum ns_sockopt opt, int *ret_value)
{
	switch ((int)opt) {
	case NS_SO_BINDTOIFINDEX:
		*ret_value = (int)c->bind.ifindex;
		return 0;
	case NS_SO_V6ONLY:
		*ret_value = c->bind.is_v6 ? c->bind.is_v6only : -1;
		return 0;
	case NS_SO_REUSEADDR:
		*ret_value = c->bind.reuseaddr;
		return 0;
	case NS_SO_REUSEPORT:
		*ret_value = c->bind.reuseport;
		return 0;
	case NS_SO_KEEPALIVE:
		*ret_value = tcp_has(c, TCP_F_KEEPALIVE);
		return 0;
	case NS_SO_LINGER:
		*ret_value = tcp_has(c, TCP_F_LINGER0) ? 0 : -1;
		return 0;
	case NS_SO_SNDBUF:
		*ret_value = (int)c->sndbuf;
		return 0;
	case NS_SO_RCVBUF:
		*ret_value = (int)c->rcvbuf;
		return 0;
	case NS_SO_PRIORITY_TOS:
	case NS_IPV6_TCLASS:
		*ret_value = c->ip_opts[opt == NS_IPV6_TCLASS].tos;
		return 0;
	case NS_SO_UID:
		*ret_value = (int)c->uid;
		return 0;
	case NS_SO_MARK:
		*ret_value = (int)c->mark;
		return 0;
	case NS_SO_TTL:
	case NS_IPV6_UNICAST_HOPS:
		*ret_value = ttl_of(c, opt == NS_IPV6_UNICAST_HOPS);
		return 0;
	case NS_SO_RCVLOWAT:
		*ret_value = is_readable(c);
		return 0;
	case NS_IP_MTU_DISCOVER:
		*ret_value = c->ip_opts[0].mtu_discover;
		return 0;
	case NS_IP_MTU:
	case NS_IPV6_MTU:
		if (!TCP_IN(c->state, TCPF_SYNCHRONISED | TCPF_OPENING)) /* there is a path */
			return -ENOTCONN;
		*ret_value = (int)(c->pmtu ? c->pmtu : c->dst.mtu);
		return 0;
	case NS_SO_MAX_PACING_RATE:
		*ret_value = c->pace.max_rate > UINT32_MAX ? -1 : (int)(uint32_t)c->pace.max_rate;
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

/* IPPROTO_TCP. Return: as tcp_getopt() */
static int get_tcp(const struct tcp_conn *c, enum ns_sockopt opt, int *ret_value)
{
	switch ((int)opt) {
	case NS_TCP_NODELAY:
		*ret_value = tcp_has(c, TCP_F_NODELAY);
		return 0;
	case NS_TCP_CORK:
		*ret_value = tcp_has(c, TCP_F_CORK);
		return 0;
	case NS_TCP_QUICKACK:
		*ret_value = !tcp_has(c, TCP_F_PINGPONG | TCP_F_NO_QUICKACK);
		return 0;
	case NS_TCP_MAXSEG:
		*ret_value = maxseg_of(c);
		return 0;
	case NS_TCP_KEEPIDLE:
		*ret_value = seconds_of(c->keepidle_ns);
		return 0;
	case NS_TCP_KEEPINTVL:
		*ret_value = seconds_of(c->keepintvl_ns);
		return 0;
	case NS_TCP_KEEPCNT:
		*ret_value = c->keepcnt;
		return 0;
	case NS_TCP_USER_TIMEOUT:
		*ret_value = (int)(c->user_timeout_ns / NS_PER_MS);
		return 0;
	case NS_TCP_SYNCNT:
		*ret_value = c->syncnt;
		return 0;
	case NS_TCP_LINGER2:
		*ret_value = linger2_of(c);
		return 0;
	case NS_TCP_DEFER_ACCEPT:
		*ret_value = seconds_of(c->defer_ns);
		return 0;
	case NS_TCP_WINDOW_CLAMP:
		*ret_value = c->wnd_clamp == UINT32_MAX ? 0 : (int)c->wnd_clamp;
		return 0;
	case NS_TCP_NOTSENT_LOWAT:
		*ret_value = (int)c->notsent_lowat; /* linux: -1 when not set */
		return 0;
	case NS_TCP_CONGESTION:
		*ret_value = c->congestion;
		return 0;
	case NS_TCP_FASTOPEN:
		*ret_value = (int)c->tfo.queue_max;
		return 0;
	case NS_TCP_FASTOPEN_CONNECT:
		*ret_value = c->tfo.is_asked_for;
		return 0;
	case NS_TCP_FASTOPEN_NO_COOKIE:
		*ret_value = c->tfo.no_cookie;
		return 0;
	case NS_TCP_OUTQ:
		*ret_value = outq_of(c);
		return 0;
	case NS_TCP_INQ:
		*ret_value = (int)bytes_len(&c->rcvq);
		return 0;
	case NS_TCP_OUTQNSD:
		*ret_value = (int)tcp_unsent(c) +
			     (tcp_has(c, TCP_F_FIN_QUEUED) && !tcp_has(c, TCP_F_FIN_SENT));
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

/** tcp_getopt() - transport_ops.getopt; as tcp_setopt() took it, or what is true by now. Return: 0, -ENOTCONN, -ENOPROTOOPT */
int tcp_getopt(void *conn, enum ns_sockopt opt, int *ret_value)
{
	int r = get_sock(conn, opt, ret_value);

	return r == -ENOPROTOOPT ? get_tcp(conn, opt, ret_value) : r;
}
