/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp.c - UDP: sockets, ports, options
 *
 * Theory of operation
 *
 *   udp.c        open, bind, connect, close
 *   udp_opt.c    options
 *   udp_in.c     from IP: which sockets hear a datagram, their queues
 *   udp_out.c    to IP: path, source, fragmentation or not
 *   udp_err.c    ICMP errors, path MTU
 *   udp_group.c  multicast memberships and source filters
 *   ping.c       what is different in echo sockets
 *
 * A bound socket is in the bucket of its port. Who hears a unicast datagram is decided by points, as in
 * Linux (compute_score()): the socket connected to its sender, then the one bound to the address it
 * came to, then one bound to any; equal ones by hash when all have SO_REUSEPORT, else the last bound.
 * A socket of IPv6 is as one of IPv4 but for what its addresses mean: bound to :: it hears IPv4, too, unless
 * it is of IPv6 alone, and it speaks IPv4 to mapped addresses (RFC 3493 3.7) with its options of IPv4.
 *
 * Ports are given out by net/demux.c with the rules of bind(); its rules for addresses and
 * SO_REUSEADDR are those of UDP as long as nobody listens, and here nobody does.
 *
 * connect() on a datagram socket sends nothing: it fixes the other end, and with it our address.
 *
 * Received payload is copied, once, into small pieces: a frame's own buffer is a whole super-frame long,
 * and a queue of small datagrams would keep a thousand times its size from the links.
 *
 * Limits: limits.sockets sockets; NS_SO_RCVBUF octets in a queue, each datagram counting UDP_CHARGE
 * besides its payload; a quarter of limits.chunks_small in all queues; what comes then is dropped and
 * counted. UDP_ERRORS_MAX errors a socket; groups and sources: udp_group.c.
 *
 * References: RFC 768, RFC 1122 4.1, RFC 8200 8.1, RFC 3493 3.7; linux v6.1 net/ipv4/udp.c,
 * net/ipv4/datagram.c, net/ipv6/udp.c, net/ipv6/datagram.c
 */
#include "udp/udp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "udp/udp_int.h"

enum {
	KEEP_DGRAMS = 1024,
	KEEP_SOCKS = 256,
};

struct udp *udp_new(struct ns_core *core, struct net *net, const struct user_ops *users,
		    bool is_ping)
{
	uint32_t bucket_cnt = hash_bucket_cnt(core->limits.sockets, UDP_BUCKETS_MAX);
	struct udp *u = calloc(1, sizeof(*u) + bucket_cnt * sizeof(u->buckets[0]));

	if (!u)
		return NULL;
	u->bucket_cnt = bucket_cnt;
	u->is_ping = is_ping;
	u->core = core;
	u->net = net;
	u->users = *users;
	u->demux = demux_new(&core->key, 1, core->limits.sockets);
	if (!u->demux) {
		free(u);
		return NULL;
	}
	demux_follow_knobs(u->demux, core);
	u->chunk_cap = core->limits.chunks_small / 4;
	pool_init(&u->socks_pool, "udp_sock", sizeof(struct udp_sock), core->limits.sockets,
		  KEEP_SOCKS);
	pool_init(&u->dgrams, "udp_dgram", sizeof(struct udp_dgram), core->limits.chunks_small,
		  KEEP_DGRAMS);
	pool_init(&u->errors, "udp_error", sizeof(struct udp_error), core->limits.sockets,
		  KEEP_SOCKS);
	list_init(&u->socks);
	list_init(&u->starved);
	for (uint32_t i = 0; i < u->bucket_cnt; i++)
		list_init(&u->buckets[i]);
	return u;
}

static void sock_close(void *c)
{
	struct udp_sock *s = c;
	struct udp *u = s->udp;
	struct ns_dgram_err e;

	udp_consume(s, s->queue_cnt);
	udp_gathered_drop(s);
	udp_groups_leave(s);
	while (udp_take_error(s, &e))
		;
	list_del(&s->starved);
	list_del(&s->hash);
	list_del(&s->all);
	demux_unbind(u->demux, &s->bind);
	pool_put(&u->socks_pool, s);
}

/** udp_free() - with all sockets; NULL is fine */
void udp_free(struct udp *u)
{
	if (!u)
		return;
	list_for_each_safe (it, &u->socks)
		sock_close(list_entry(it, struct udp_sock, all));
	demux_free(u->demux);
	pool_done(&u->socks_pool);
	pool_done(&u->dgrams);
	pool_done(&u->errors);
	free(u);
}

struct list *udp_bucket(struct udp *u, uint16_t port)
{
	return &u->buckets[port % u->bucket_cnt];
}

void udp_tell(const struct udp_sock *s, uint32_t mask, int err)
{
	if (s->user)
		s->udp->users.event(s->user, mask, err);
}

static int sock_open(void *self, void *user, void **ret_c)
{
	struct udp *u = self;
	struct udp_sock *s = pool_get(&u->socks_pool);

	if (!s)
		return -ENOMEM;
	memset(s, 0, sizeof(*s));
	s->udp = u;
	s->user = user;
	udp_opt_init(s);
	list_init(&s->hash);
	list_init(&s->starved);
	list_init(&s->queue);
	list_init(&s->errors);
	list_push(&u->socks, &s->all);
	*ret_c = s;
	return 0;
}

static void sock_set_user(void *c, void *user)
{
	((struct udp_sock *)c)->user = user;
}

static uint32_t rnd(const struct udp *u)
{
	uint32_t v;

	u->core->env->random(u->core->env->ctx, &v, sizeof(v));
	return v;
}

static int claim(struct udp_sock *s, const struct ns_endpoint *local)
{
	int r = demux_bind_port(s->udp->demux, &s->bind, local, rnd(s->udp));

	if (r == 0)
		list_push_front(udp_bucket(s->udp, s->bind.local.port), &s->hash);
	return r;
}

struct ns_addr udp_any(const struct udp_sock *s)
{
	return s->bind.is_v6 ? (struct ns_addr){ { 0 } } : ns_addr_v4(0);
}

int udp_peer(const struct udp_sock *s, const struct ns_addr *to, uint32_t ifindex,
	     struct ns_addr *ret_to)
{
	*ret_to = *to;
	if (!s->bind.is_v6) {
		if (ns_addr_is_any(to))
			*ret_to = ns_addr_v4(0);
		return ns_addr_is_v4(ret_to) ? 0 : -EAFNOSUPPORT;
	}
	if (!ns_addr_is_v4(to) &&
	    ns_addr_is_any(to)) /* linux udpv6_sendmsg(), __ip6_datagram_connect() */
		*ret_to = s->has_user_addr && ns_addr_is_v4(&s->bind.local.addr)
				  ? ns_addr_v4(0x7f000001)
				  : (struct ns_addr){ { [15] = 1 } };
	if (ns_addr_is_v4(ret_to))
		return s->bind.is_v6only ? -ENETUNREACH : 0;
	*ret_to = net_zone(s->udp->net, *ret_to, ifindex);
	return 0;
}

/* linux v6.1 inet_bind_sk(), inet6_bind_sk(): is @a of a family that the socket speaks? */
static int check_family(const struct udp_sock *s, const struct ns_addr *a)
{
	if (!s->bind.is_v6)
		return ns_addr_is_v4(a) || ns_addr_is_any(a) ? 0 : -EAFNOSUPPORT;
	return ns_addr_is_v4(a) && s->bind.is_v6only ? -EINVAL : 0;
}

/* May a socket have this address? Groups and broadcast: to hear them alone, which no echo is sent to. */
static int check_bindable(const struct udp *u, const struct ns_addr *a)
{
	const struct ns_flow f = { .dst = *a };
	struct dst d;
	bool is_group, is_bcast;

	if (ns_addr_is_any(a) || net_is_local(u->net, a))
		return 0;
	if (u->is_ping) /* linux ping_check_bind_addr() */
		return ns_addr_is_multicast(a) && !ns_addr_is_v4(a) ? -EINVAL : -EADDRNOTAVAIL;
	if (ns_addr_is_multicast(a))
		return 0;
	return net_route_dgram(u->net, &f, &d, &is_group, &is_bcast) == 0 && is_bcast
		       ? 0
		       : -EADDRNOTAVAIL;
}

static int sock_bind(void *c, const struct ns_endpoint *local)
{
	struct udp_sock *s = c;
	struct ns_endpoint own = *local;
	int r;

	if (s->bind.is_bound)
		return -EINVAL;
	r = check_family(s, &local->addr);
	if (r < 0)
		return r;
	r = check_bindable(s->udp, &local->addr);
	if (r < 0)
		return r;
	if (!s->bind.is_v6 && ns_addr_is_any(&own.addr))
		own.addr = ns_addr_v4(0);
	r = claim(s, &own);
	if (r == 0) {
		s->has_user_port = local->port != 0;
		s->has_user_addr = !ns_addr_is_any(&local->addr);
		s->has_user_src = s->has_user_addr && net_is_local(s->udp->net, &local->addr);
	}
	return r;
}

int udp_autobind(struct udp_sock *s)
{
	const struct ns_endpoint any = { .addr = udp_any(s) };

	return s->bind.is_bound ? 0 : claim(s, &any);
}

/* linux v6.1 __udp_disconnect(): what connect() chose is gone, what bind() named stays. */
static int disconnect(struct udp_sock *s)
{
	s->is_connected = false;
	memset(&s->remote, 0, sizeof(s->remote));
	memset(&s->src, 0, sizeof(s->src));
	s->bind.ifindex = 0;
	if (s->bind.is_bound && !s->has_user_port && !s->has_user_addr) {
		list_del(&s->hash);
		demux_unbind(s->udp->demux, &s->bind);
	}
	return 0;
}

/* linux udp_sendmsg(), udpv6_sendmsg() */
uint32_t udp_pick_ifindex(struct udp_sock *s, uint32_t said, const struct ns_addr *to)
{
	const struct udp_family *f = udp_family_of(s, to);

	if (said)
		return said;
	if (s->bind.ifindex)
		return s->bind.ifindex;
	if (!ns_addr_is_v4(to) && s->sticky_ifindex6)
		return s->sticky_ifindex6;
	return ns_addr_is_multicast(to) ? f->mcast_ifindex : f->ucast_ifindex;
}

int udp_route(struct udp_sock *s, const struct ns_endpoint *to, const struct ns_addr *src,
	      uint32_t said, uint8_t tos, struct dst *ret_dst, bool *ret_is_group)
{
	const struct ns_flow flow = { .dst = to->addr,
				      .src = *src,
				      .oif = udp_pick_ifindex(s, said, &to->addr),
				      .mark = s->mark,
				      .uid = s->uid,
				      .sport = s->bind.local.port,
				      .dport = to->port,
				      .tos = tos,
				      .proto = 17 };
	bool is_bcast = false;
	int r = net_route_dgram(s->udp->net, &flow, ret_dst, ret_is_group, &is_bcast);

	/* linux: over IPv6 a call's own link is looked for, while by a socket's that is not there no route goes */
	if (r == -ENODEV && !ns_addr_is_v4(&to->addr) && !said)
		return -ENETUNREACH;
	return r == 0 && is_bcast && !s->is_broadcast ? -EACCES : r;
}

/* linux v6.1 __ip4_datagram_connect(), __ip6_datagram_connect() */
static int sock_connect(void *c, const struct ns_endpoint *remote)
{
	struct udp_sock *s = c;
	const struct udp_family *f;
	struct ns_endpoint to;
	struct dst d;
	struct ns_addr src = s->has_user_src ? s->bind.local.addr : (struct ns_addr){ { 0 } };
	bool is_group = false;
	int r;

	if (!remote)
		return disconnect(s);
	r = udp_peer(s, &remote->addr, s->bind.ifindex, &to.addr);
	if (r < 0)
		return r;
	f = udp_family_of(s, &to.addr);
	if (ns_addr_is_multicast(&to.addr) && ns_addr_is_any(&src))
		src = f->mcast_src;
	if (ns_addr_is_any(&src) && s->is_connected &&
	    ns_addr_is_v4(&s->src) == ns_addr_is_v4(&to.addr))
		src = s->src; /* linux keeps inet_saddr of the last connect() */
	if (ns_addr_is_any(&src) && s->is_connected && ns_addr_is_v4(&s->src))
		return -EAFNOSUPPORT; /* linux ip6_dst_lookup_tail(): IPv4 before, IPv6 now, nothing undone */
	r = udp_route(s, &to, &src, 0, f->tos, &d, &is_group);
	if (r == 0)
		r = udp_autobind(s);
	if (r < 0)
		return r;
	s->is_connected = true;
	s->remote = (struct ns_endpoint){ .addr = to.addr, .port = remote->port };
	if (ns_addr_is_any(&to.addr))
		s->remote.addr = d.nexthop;
	s->src = d.src;
	return 0;
}

static int sock_local(void *c, struct ns_endpoint *ret_local)
{
	const struct udp_sock *s = c;

	*ret_local = s->bind.is_bound ? s->bind.local : (struct ns_endpoint){ .addr = udp_any(s) };
	if (!s->has_user_addr && s->is_connected)
		ret_local->addr = s->src;
	return 0;
}

static int sock_remote(void *c, struct ns_endpoint *ret_remote)
{
	const struct udp_sock *s = c;

	if (!s->is_connected)
		return -ENOTCONN;
	*ret_remote = s->remote;
	return 0;
}

/* ---- what a stream has and a datagram socket has not ---- */

static int no_listen(void *c, int backlog)
{
	(void)c;
	(void)backlog;
	return -EOPNOTSUPP;
}

static int stream_connect(void *c, const struct ns_endpoint *remote, struct mono now)
{
	(void)now;
	return sock_connect(c, remote);
}

static int no_accept(void *c, void **ret_c)
{
	(void)c;
	(void)ret_c;
	return -EOPNOTSUPP;
}

static uint32_t no_room(void *c)
{
	(void)c;
	return 0;
}

static int no_reserve(void *c, uint32_t want, struct ns_iov *iov, uint32_t iov_cnt)
{
	(void)c;
	(void)want;
	(void)iov;
	(void)iov_cnt;
	return -EOPNOTSUPP;
}

static void no_commit(void *c, uint32_t len, bool more)
{
	(void)c;
	(void)len;
	(void)more;
}

static int no_peek(void *c, struct ns_iov *iov, uint32_t iov_cnt)
{
	(void)c;
	(void)iov;
	(void)iov_cnt;
	return 0;
}

static void no_consume(void *c, uint32_t len)
{
	(void)c;
	(void)len;
}

static bool no_eof(void *c)
{
	(void)c;
	return false;
}

static void no_shutdown(void *c)
{
	(void)c;
}

static int no_info(void *c, struct mono now, struct ns_tcp_info *ret_info)
{
	(void)c;
	(void)now;
	(void)ret_info;
	return -EOPNOTSUPP;
}

static void rows(void *self, void (*fn)(void *ctx, const struct ns_sock_row *row), void *ctx)
{
	struct udp *u = self;

	list_for_each (it, &u->socks) {
		struct udp_sock *s = list_entry(it, struct udp_sock, all);
		struct ns_sock_row r = {
			.state = u->is_ping        ? "PING"
				 : s->is_connected ? "UDP-CONNECTED"
						   : "UDP",
			.remote = s->remote,
			.rcvq_len = s->charge,
			.sock = s->user ? u->users.handle(s->user) : 0,
		};

		if (!s->bind.is_bound)
			continue;
		if (!s->is_connected)
			r.remote.addr = udp_any(s);
		(void)!sock_local(s, &r.local);
		fn(ctx, &r);
	}
}

static uint64_t dropped(void *c)
{
	return ((const struct udp_sock *)c)->dropped;
}

static const struct dgram_ops udp_dgram_ops = {
	.connect = sock_connect,
	.send = udp_send,
	.check = udp_check,
	.flush = udp_flush,
	.peek = udp_peek,
	.consume = udp_consume,
	.take_error = udp_take_error,
	.group = udp_group,
	.set_filter = udp_set_filter,
	.get_filter = udp_get_filter,
	.multicast_if = udp_multicast_if,
	.dropped = dropped,
};

const struct transport_ops udp_transport_ops = {
	.dgram = &udp_dgram_ops,
	.open = sock_open,
	.set_user = sock_set_user,
	.bind = sock_bind,
	.listen = no_listen,
	.connect = stream_connect,
	.accept = no_accept,
	.local = sock_local,
	.remote = sock_remote,
	.send_room = no_room,
	.send_reserve = no_reserve,
	.send_commit = no_commit,
	.recv_peek = no_peek,
	.recv_consume = no_consume,
	.is_eof = no_eof,
	.shutdown_send = no_shutdown,
	.close = sock_close,
	.abort = sock_close,
	.setopt = udp_setopt,
	.getopt = udp_getopt,
	.info = no_info,
	.output = udp_output,
	.rows = rows,
};

const struct proto_ops udp_proto_ops = { .input = udp_input, .error = udp_error };
