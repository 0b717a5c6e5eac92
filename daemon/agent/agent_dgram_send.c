/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_dgram_send.c - sendto(), sendmsg() and sendmmsg() on datagram sockets
 *
 * Theory of operation
 *
 * sendto() with an address and sendmsg() with an address or control data go through the channel of
 * datagrams, one for the container, as {where to} + payload. The program has its answer before the stack
 * has the datagram, so that it can say "unreachable" and not merely lose it, the first datagram to each
 * destination is preceded by a question (DGRAM_CHECK). Answers to who spoke last need none.
 *
 * A send without address on a connected socket is the kernel's own on the pair (send(), write(), and
 * sendmsg(), which traps and is continued).
 *
 * Deviations: errors of untrapped sends fail the next trapped call; a send on an unconnected socket by
 * write() or send() says -EDESTADDRREQ only then.
 */
#include "daemon/agent/agent_dgram.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Between two looks at a full channel. */
#define RETRY_NS (5 * NS_PER_MS)

struct held *dgram_ask(struct agent *a, struct call *c, struct asock *s)
{
	struct held *h = a->is_worker_up ? call_hold(a, s, c, HELD_QUERY, 0) : NULL;

	if (h)
		h->token = ++a->next_token;
	return h;
}

/** struct dgram_out - a datagram of a trapped send */
struct dgram_out {
	struct ipc_dgram_frame frame;
	bool has_name;
	size_t len;
	uint8_t data[NS_DGRAM_MAX + 1];
};

/** gso_of() - octets of the datagrams that it is cut into; 0: it is not */
static uint16_t gso_of(const struct asock *s, const struct dgram_out *o)
{
	return o->frame.to.has_gso ? o->frame.to.gso_size
				   : (uint16_t)aopt_value(&s->opts, IPPROTO_UDP, UDP_SEGMENT);
}

static bool is_to_v6(const struct asock *s, const struct dgram_out *o)
{
	struct ns_endpoint to = ipc_endpoint_to(&o->frame.to.to);

	return s->family == AF_INET6 && !ns_addr_is_v4(o->has_name ? &to.addr : &s->remote.addr);
}

/** needs_check() - is it not known that datagrams can go there? */
static bool needs_check(const struct asock *s, const struct dgram_out *o)
{
	struct ns_endpoint to = ipc_endpoint_to(&o->frame.to.to);
	bool is_v6 = is_to_v6(s, o);
	int mtu_discover = is_v6 ? aopt_value(&s->opts, IPPROTO_IPV6, IPV6_MTU_DISCOVER)
				 : aopt_value(&s->opts, IPPROTO_IP, IP_MTU_DISCOVER);

	if (s->dg->gathers)
		return !s->dg->is_asked;
	/* UDP_SEGMENT has limits of its own, which are errors of the call, too */
	if (gso_of(s, o) && (gso_of(s, o) != s->dg->ok_gso || o->len > s->dg->ok_len))
		return true;
	/* IP_PMTUDISC_DO, PROBE and such: longer than the path takes is an error of the call */
	if ((mtu_discover >= 2 && mtu_discover <= 4) || o->frame.to.dontfrag > 0 ||
	    (is_v6 && aopt_value(&s->opts, IPPROTO_IPV6, IPV6_DONTFRAG))) {
		if (o->len > s->dg->ok_len)
			return true;
	}
	return o->has_name &&
	       (!ns_addr_eq(&to.addr, &s->dg->ok_to.addr) || to.port != s->dg->ok_to.port);
}

/** len_max() - octets of the longest payload to @to; of an echo socket it has the ICMP header, too */
static size_t len_max(const struct asock *s, const struct ns_addr *to)
{
	if (!ns_addr_is_v4(to))
		return NS_DGRAM_MAX;
	return NS_DGRAM_MAX4 + (s->dg->is_ping ? sizeof(struct icmphdr) : 0);
}

static bool is_too_long(const struct asock *s, const struct dgram_out *o)
{
	struct ns_endpoint to = ipc_endpoint_to(&o->frame.to.to);

	return o->len > len_max(s, o->has_name ? &to.addr : &s->remote.addr);
}

/** is_told_of_errors() - will MSG_ERRQUEUE, or IPV6_PATHMTU, say how long it may have been? */
static bool is_told_of_errors(const struct asock *s, const struct dgram_out *o)
{
	return is_to_v6(s, o)
		       ? aopt_value(&s->opts, IPPROTO_IPV6, IPV6_RECVERR) ||
				 aopt_value(&s->opts, IPPROTO_IPV6, IPV6_RECVPATHMTU)
		       : o->len <= UINT16_MAX && aopt_value(&s->opts, IPPROTO_IP, IP_RECVERR);
}

/** is_echo() - linux ping_supported(): all that an echo socket sends */
static bool is_echo(const struct asock *s, const struct dgram_out *o)
{
	return o->len >= sizeof(struct icmphdr) && o->data[1] == 0 &&
	       o->data[0] == (s->family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST);
}

/** out_check() - may it be sent there? Return: 0, CALL_LATER (asked), or negative errno */
static int64_t out_check(struct agent *a, struct call *c, struct asock *s,
			 const struct dgram_out *o)
{
	struct ipc_dgram_check q = { .sock = s->handle,
				     .len = (uint32_t)o->len,
				     .to = o->frame.to };
	struct held *h;
	struct ns_endpoint to = ipc_endpoint_to(&o->frame.to.to);

	if (!o->has_name && !s->dg->is_connected && !s->dg->gathers)
		return -EDESTADDRREQ;
	if (s->dg->is_ping ? !is_echo(s, o) : o->has_name && to.port == 0)
		return -EINVAL;
	if (is_too_long(s, o) && !is_told_of_errors(s, o))
		return -EMSGSIZE;
	if (s->dg->is_mute)
		return -EPIPE;
	if (!s->dg->is_bound && s->so_error) /* the port that was asked for below */
		return dgram_take_error(s);
	if (!s->dg->is_bound) {
		/* a port, by which getsockname() and the other end know us; the call is tried again */
		s->op_ep = (struct ns_endpoint){ .addr = sock_any(s) };
		return op_begin(a, c, s, ASOCK_OP_BIND, HELD_DEFERRED);
	}
	if (!is_too_long(s, o) && !needs_check(s, o)) {
		s->dg->is_asked = false;
		return 0;
	}
	h = dgram_ask(a, c, s);
	if (!h)
		return -ENOBUFS;
	h->is_check = true;
	h->asked_to = to;
	h->asked_len = q.len;
	h->asked_gso = gso_of(s, o);
	q.token = h->token;
	agent_send(a, IPC_DGRAM_CHECK, &q);
	return CALL_LATER;
}

void dgram_checked(struct asock *s, const struct held *h)
{
	if (!s->dg)
		return;
	s->dg->is_asked = s->dg->gathers;
	s->dg->ok_to = h->asked_to;
	s->dg->ok_len = h->asked_len;
	s->dg->ok_gso = h->asked_gso;
}

/** out_send() - into the channel. Return: octets, CALL_LATER, or negative errno */
static int64_t out_send(struct agent *a, struct call *c, struct asock *s, int fd,
			struct dgram_out *o, int flags)
{
	struct iovec iov[2] = { { &o->frame, sizeof(o->frame) }, { o->data, o->len } };
	struct mmsghdr v = { .msg_hdr = { .msg_iov = iov, .msg_iovlen = 2 } };
	int64_t r = out_check(a, c, s, o);
	int err;

	if (r != 0)
		return r;
	if (o->len > sizeof(o->data))
		return -EMSGSIZE;
	err = dgram_take_error(s);
	if (err)
		return err;
	if (a->dgram_fd < 0)
		return -ENETDOWN;
	if (sendmmsg(a->dgram_fd, &v, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		return (int64_t)o->len;
	if (errno != EAGAIN)
		return -ENOBUFS;
	return flags & MSG_DONTWAIT || is_nonblocking(fd) ? -EAGAIN
							  : hold(a, s, c, HELD_RETRY, RETRY_NS);
}

/** out_name() - the destination. Return: 0 or negative errno */
static int out_name(struct asock *s, const struct args_mem *mem, uint64_t name, uint64_t name_len,
		    struct dgram_out *o)
{
	struct args_addr addr;
	int r = args_addr_in(mem, s->family, ARGS_SEND, name, name_len, &addr);

	if (r < 0)
		return r;
	if (addr.is_unspec) /* as without a name: linux udpv6_sendmsg() */
		return 0;
	dgram_any_is_here(s, &addr.ep.addr);
	if (addr.needs_scope)
		o->frame.to.ifindex = addr.scope;
	o->has_name = true;
	o->frame.to.has_to = 1;
	o->frame.to.to = ipc_endpoint_from(&addr.ep);
	return 0;
}

static void out_init(struct asock *s, int flags, struct dgram_out *o)
{
	o->frame = (struct ipc_dgram_frame){ .sock = s->handle, .to = { .ttl = -1, .tos = -1 } };
	o->has_name = false;
	o->len = 0;
	if (flags & MSG_MORE && !s->dg->is_ping) {
		o->frame.to.more = 1;
		s->dg->gathers = true;
	}
}

/* One at a time: the agent has one thread, and nothing of it outlives the call. */
static struct dgram_out out;

int64_t dgram_sendto(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	int flags = call_arg_int(c, 3), r;

	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	out_init(s, flags, &out);
	if (c->args[4] == 0 && !s->dg->gathers)
		return !s->dg->is_connected ? -EDESTADDRREQ
		       : s->dg->is_mute     ? -EPIPE
					    : CALL_CONTINUE;
	if (c->args[2] > INT_MAX)
		return -EMSGSIZE;
	r = c->args[4] ? out_name(s, &mem, c->args[4], c->args[5], &out) : 0;
	if (r < 0)
		return r;
	out.len = (size_t)c->args[2];
	if (out.len && out.len <= sizeof(out.data) &&
	    mem.read(mem.ctx, c->args[1], out.data, out.len) < 0)
		return -EFAULT;
	return out_send(a, c, s, fd, &out, flags);
}

/** control_rules() - whose control data they are: those of the family that the datagram is of */
static enum args_rules control_rules(const struct asock *s, const struct dgram_out *o)
{
	struct ns_endpoint to = o->has_name ? ipc_endpoint_to(&o->frame.to.to) : s->remote;

	if (s->family == AF_INET)
		return ARGS_RULES_V4;
	return ns_addr_is_v4(&to.addr) ? ARGS_RULES_MAPPED : ARGS_RULES_V6;
}

/** msg_gather() - the message at @addr into @out. Return: 0, CALL_CONTINUE (the kernel can do it), or negative errno */
static int64_t msg_gather(struct asock *s, const struct args_mem *mem, uint64_t addr, int flags)
{
	uint8_t control[ARGS_CONTROL_MAX];
	struct args_msg msg;
	struct args_tx tx;
	int r = args_msg_in(mem, addr, &msg);

	if (r < 0)
		return r;
	out_init(s, flags, &out);
	if (msg.name && msg.name_len) {
		r = out_name(s, mem, msg.name, msg.name_len, &out);
		if (r < 0)
			return r;
	}
	if (!out.has_name && msg.control_len == 0 && !s->dg->gathers)
		return s->dg->is_connected ? CALL_CONTINUE : -EDESTADDRREQ;
	if (msg.control_len > sizeof(control))
		return -ENOBUFS;
	if (msg.control_len && mem->read(mem->ctx, msg.control, control, msg.control_len) < 0)
		return -EFAULT;
	r = args_control_in(control, msg.control_len, control_rules(s, &out), &tx);
	if (r < 0)
		return r;
	out.frame.to.from = tx.from;
	if (tx.ifindex)
		out.frame.to.ifindex = tx.ifindex;
	out.frame.to.ttl = tx.ttl;
	out.frame.to.tos = tx.tos;
	out.frame.to.dontfrag = tx.dontfrag;
	out.frame.to.has_gso = tx.has_gso;
	out.frame.to.gso_size = tx.gso_size;
	out.frame.to.stamp = tx.stamp;
	r = args_gather(mem, msg.iov, msg.iov_cnt, out.data, sizeof(out.data));
	if (r < 0)
		return r;
	out.len = (size_t)r;
	return 0;
}

/** native_or_error() - a send that the kernel carries out fails with what is pending */
static int64_t native_or_error(struct asock *s)
{
	int err = dgram_take_error(s);

	return err ? err : CALL_CONTINUE;
}

int64_t dgram_sendmsg(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	int flags = call_arg_int(c, 2);
	int64_t r = msg_gather(s, &mem, c->args[1], flags);

	if (r == CALL_CONTINUE)
		return native_or_error(s);
	return r != 0 ? r : out_send(a, c, s, fd, &out, flags);
}

/** dgram_sendmmsg() - as many as go at once; one that must wait ends the call unless it is the first */
int64_t dgram_sendmmsg(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct args_mem mem = call_mem(c);
	uint32_t cnt = (uint32_t)c->args[2], done = 0;
	int flags = call_arg_int(c, 3);

	if (cnt > 1024)
		cnt = 1024;
	for (; done < cnt; done++) {
		uint64_t addr = c->args[1] + done * sizeof(struct mmsghdr);
		int64_t r = msg_gather(s, &mem, addr, flags);
		uint32_t len;

		if (r == CALL_CONTINUE && done == 0)
			return native_or_error(s); /* the resolver's two questions */
		if (done > 0 && (r != 0 || needs_check(s, &out)))
			return done; /* the program comes back with the rest */
		if (r == 0)
			r = out_send(a, c, s, fd, &out, done ? flags | MSG_DONTWAIT : flags);
		if (r < 0)
			return done ? (int64_t)done : r;
		len = (uint32_t)r;
		if (mem.write(mem.ctx, addr + offsetof(struct mmsghdr, msg_len), &len,
			      sizeof(len)) < 0)
			return done ? (int64_t)done : -EFAULT;
	}
	return done;
}
