/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.c - packetdrill's socket calls over the stack
 *
 * Theory of operation
 *
 * Every call takes the world's lock, does what the C library's call of that name does, ends with a turn of the
 * stack so that what it caused leaves at this very time, and lets go of the lock. A call that cannot go on
 * waits in world_wait() unless the descriptor is non-blocking.
 *
 * Level-triggered facts (octets to read, room to write) are asked of the stack when they matter. What the
 * stack tells once (connected, failed) is kept in struct psock by on_event().
 *
 * Not there: ancillary data, pipe and splice.
 */
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

enum {
	IOV_MAX_USED = 64,
	RECEIVE_WAIT_SEC =
		4, /* of virtual time: then the packet a script waits for is called missing */
};

int plugin_fail(int err)
{
	errno = -err;
	return -1;
}

/* --- descriptors ----------------------------------------------------------------------------- */

struct psock *plugin_sock(struct plugin *p, int fd)
{
	if (fd >= 0 && fd < PLUGIN_FD_MAX && p->socks[fd])
		return p->socks[fd];
	errno = EBADF;
	return NULL;
}

struct psock *plugin_new_sock(struct plugin *p, int family)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	struct psock *s = NULL;

	if (fd >= 0 && fd < PLUGIN_FD_MAX)
		s = calloc(1, sizeof(*s));
	if (!s) {
		if (fd >= 0)
			close(fd);
		errno = EMFILE;
		return NULL;
	}
	s->plugin = p;
	s->fd = fd;
	s->family = family;
	aopt_init(&s->opts);
	p->socks[fd] = s;
	return s;
}

static void sock_free(struct psock *s)
{
	s->plugin->socks[s->fd] = NULL;
	close(s->fd);
	free(s);
}

static void on_event(void *ctx, const struct ns_event *e)
{
	struct psock *s = e->user;

	(void)ctx;
	if (!s)
		return;
	s->news_cnt++;
	if (e->mask & NS_EV_CONNECTED) {
		s->is_connecting = false;
		s->is_connected = true;
	}
	if (e->mask & NS_EV_ERR) {
		s->is_connecting = false;
		s->err = e->err;
	}
}

/* --- readiness ------------------------------------------------------------------------------- */

static uint32_t queued(const struct psock *s)
{
	struct ns_iov iov[IOV_MAX_USED];
	int cnt = ns_sock_recv_peek(s->plugin->w.stack, s->h, iov, IOV_MAX_USED);
	size_t len = 0;

	for (int i = 0; i < cnt; i++)
		len += iov[i].len;
	return (uint32_t)len;
}

static bool is_acceptable(struct psock *s)
{
	return s->next || ns_sock_accept(s->plugin->w.stack, s->h, &s->next) == 0;
}

static bool can_read(void *ctx)
{
	struct psock *s = ctx;

	if (s->is_listener)
		return is_acceptable(s);
	return s->err || s->is_recv_shut || queued(s) || ns_sock_is_eof(s->plugin->w.stack, s->h);
}

static bool can_write(void *ctx)
{
	struct psock *s = ctx;

	return s->err || s->is_send_shut ||
	       (s->is_connected && ns_sock_send_room(s->plugin->w.stack, s->h));
}

static bool is_settled(void *ctx)
{
	const struct psock *s = ctx;

	return !s->is_connecting;
}

uint32_t psock_ready(struct psock *s)
{
	bool is_eof = !s->is_listener && ns_sock_is_eof(s->plugin->w.stack, s->h);
	uint32_t ready = 0;

	if (can_read(s))
		ready |= POLLIN | POLLRDNORM;
	if (!s->is_listener && can_write(s))
		ready |= POLLOUT | POLLWRNORM;
	if (s->err)
		ready |= POLLERR | POLLHUP;
	if (is_eof || s->is_recv_shut)
		ready |= POLLRDHUP;
	if ((is_eof || s->is_recv_shut) && s->is_send_shut)
		ready |= POLLHUP;
	return ready;
}

/* --- addresses ------------------------------------------------------------------------------- */

static int addr_in(const struct sockaddr *a, socklen_t len, struct ns_endpoint *ret_e)
{
	if (a->sa_family == AF_INET && len >= sizeof(struct sockaddr_in)) {
		struct sockaddr_in in;

		memcpy(&in, a, sizeof(in));
		ret_e->addr = ns_addr_v4(ntohl(in.sin_addr.s_addr));
		ret_e->port = ntohs(in.sin_port);
		return 0;
	}
	if (a->sa_family == AF_INET6 && len >= sizeof(struct sockaddr_in6)) {
		struct sockaddr_in6 in;

		memcpy(&in, a, sizeof(in));
		memcpy(ret_e->addr.b, &in.sin6_addr, sizeof(ret_e->addr.b));
		ret_e->port = ntohs(in.sin6_port);
		return 0;
	}
	return -EAFNOSUPPORT;
}

static void addr_out(int family, const struct ns_endpoint *e, struct sockaddr *a, socklen_t *len)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(e->port) };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(e->port) };
	socklen_t full = family == AF_INET6 ? sizeof(in6) : sizeof(in);

	if (!a || !len)
		return;
	memcpy(&in6.sin6_addr, e->addr.b, sizeof(in6.sin6_addr));
	in.sin_addr.s_addr = htonl(ns_addr_to_v4(&e->addr));
	memcpy(a, family == AF_INET6 ? (const void *)&in6 : (const void *)&in,
	       *len < full ? *len : full);
	*len = full;
}

/* --- life of a socket ------------------------------------------------------------------------ */

/* Begin of a call: the socket of @fd, the lock held; NULL with errno and the lock not held */
static struct psock *enter(void *self, int fd)
{
	struct plugin *p = self;
	struct psock *s;

	pthread_mutex_lock(&p->w.lock);
	s = plugin_sock(p, fd);
	if (s && !s->is_epoll)
		return s;
	pthread_mutex_unlock(&p->w.lock);
	errno = s ? ENOTSOCK : EBADF;
	return NULL;
}

/* End of a call that returns @r, a negative errno or its result */
static ssize_t leave(void *self, ssize_t r)
{
	struct plugin *p = self;

	world_turn(&p->w);
	pthread_mutex_unlock(&p->w.lock);
	return r < 0 ? plugin_fail((int)r) : r;
}

static int pd_socket(void *self, int domain, int type, int protocol)
{
	struct plugin *p = self;
	struct psock *s;
	int r;

	if (domain != AF_INET && domain != AF_INET6)
		return plugin_fail(-EAFNOSUPPORT);
	if ((type & 0xf) != SOCK_STREAM || (protocol && protocol != IPPROTO_TCP))
		return plugin_fail(-EPROTONOSUPPORT);
	pthread_mutex_lock(&p->w.lock);
	world_read_knobs(&p->w);
	s = plugin_new_sock(p, domain);
	r = s ? ns_sock_open(p->w.stack, &s->h) : -errno;
	if (s && r == 0) {
		s->is_nonblocking = (type & SOCK_NONBLOCK) != 0;
		ns_sock_set_user(p->w.stack, s->h, s);
		r = s->fd;
	} else if (s) {
		sock_free(s);
	}
	return (int)leave(self, r);
}

static int pd_bind(void *self, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct psock *s = enter(self, fd);
	struct ns_endpoint e;
	int r;

	if (!s)
		return -1;
	r = addr_in(addr, len, &e);
	if (r == 0)
		r = ns_sock_bind(s->plugin->w.stack, s->h, &e);
	return (int)leave(self, r);
}

static int pd_listen(void *self, int fd, int backlog)
{
	struct psock *s = enter(self, fd);
	int r;

	if (!s)
		return -1;
	r = ns_sock_listen(s->plugin->w.stack, s->h, backlog);
	if (r == 0)
		s->is_listener = true;
	return (int)leave(self, r);
}

static int accept_locked(struct psock *s, struct sockaddr *addr, socklen_t *len)
{
	struct plugin *p = s->plugin;
	struct ns_endpoint peer;
	struct psock *n;

	if (!s->is_listener)
		return -EINVAL;
	if (!is_acceptable(s) && (s->is_nonblocking || !world_wait(&p->w, can_read, s, UINT64_MAX)))
		return -EAGAIN;
	n = plugin_new_sock(p, s->family);
	if (!n)
		return -errno;
	n->h = s->next;
	s->next = 0;
	n->is_connected = true;
	aopt_inherit(&n->opts, &s->opts);
	ns_sock_set_user(p->w.stack, n->h, n);
	if (ns_sock_remote(p->w.stack, n->h, &peer) == 0)
		addr_out(n->family, &peer, addr, len);
	return n->fd;
}

static int pd_accept(void *self, int fd, struct sockaddr *addr, socklen_t *len)
{
	struct psock *s = enter(self, fd);

	return s ? (int)leave(self, accept_locked(s, addr, len)) : -1;
}

/* The error of a failed attempt is told once (linux sock_error()). */
static int take_err(struct psock *s)
{
	int r = s->err;

	s->err = 0;
	return r;
}

static int connect_locked(struct psock *s, const struct sockaddr *addr, socklen_t len)
{
	struct world *w = &s->plugin->w;
	struct ns_endpoint e;
	int r = addr_in(addr, len, &e);

	if (r < 0)
		return r;
	if (s->err)
		return take_err(s);
	r = ns_sock_connect(w->stack, s->h, &e, w->now);
	if (r != -EINPROGRESS)
		return r;
	s->is_connecting = true;
	world_turn(w);
	if (s->is_nonblocking)
		return r;
	world_wait(w, is_settled, s, UINT64_MAX);
	return take_err(s);
}

static int pd_connect(void *self, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct psock *s = enter(self, fd);

	return s ? (int)leave(self, connect_locked(s, addr, len)) : -1;
}

static int pd_close(void *self, int fd)
{
	struct plugin *p = self;
	struct psock *s;

	pthread_mutex_lock(&p->w.lock);
	s = plugin_sock(p, fd);
	if (!s)
		return (int)leave(self, -EBADF);
	if (!s->is_epoll)
		ns_sock_close(p->w.stack, s->h);
	sock_free(s);
	return (int)leave(self, 0);
}

static int pd_shutdown(void *self, int fd, int how)
{
	struct psock *s = enter(self, fd);

	if (!s)
		return -1;
	if (!s->is_connected && !s->is_connecting)
		return (int)leave(self, -ENOTCONN);
	if (how == SHUT_RD || how == SHUT_RDWR)
		s->is_recv_shut = true;
	if (how == SHUT_WR || how == SHUT_RDWR) {
		s->is_send_shut = true;
		ns_sock_shutdown_send(s->plugin->w.stack, s->h);
	}
	return (int)leave(self, 0);
}

/* --- octets ---------------------------------------------------------------------------------- */

/* Octets of @iov[*at] from @off on into the send queue, as many as it takes. */
static int send_some(struct psock *s, const uint8_t *from, size_t len, bool more)
{
	struct ns_iov room[IOV_MAX_USED];
	struct ns_stack *st = s->plugin->w.stack;
	uint32_t want = len > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)len, done = 0;
	int cnt = ns_sock_send_reserve(st, s->h, want, room, IOV_MAX_USED);

	for (int i = 0; i < cnt && done < len; i++) {
		size_t n = len - done < room[i].len ? len - done : room[i].len;

		memcpy(room[i].base, from + done, n);
		done += (uint32_t)n;
	}
	if (cnt < 0)
		return cnt;
	ns_sock_send_commit(st, s->h, done, more || done < len);
	return (int)done;
}

static ssize_t send_locked(struct psock *s, const struct iovec *iov, size_t iov_cnt, int flags)
{
	bool is_waiting = !s->is_nonblocking && !(flags & MSG_DONTWAIT);
	ssize_t total = 0;

	if (s->err)
		return take_err(s);
	for (size_t i = 0; i < iov_cnt; i++) {
		for (size_t off = 0; off < iov[i].iov_len;) {
			int r = send_some(s, (const uint8_t *)iov[i].iov_base + off,
					  iov[i].iov_len - off,
					  flags & MSG_MORE || i + 1 < iov_cnt);

			if (r > 0) {
				off += (size_t)r;
				total += r;
				continue;
			}
			if (r != -EAGAIN || !is_waiting)
				return total ? total : r;
			world_turn(&s->plugin->w);
			if (!world_wait(&s->plugin->w, can_write, s, UINT64_MAX) || s->err)
				return total ? total : s->err ? take_err(s) : -EAGAIN;
		}
	}
	if (flags & MSG_EOR)
		ns_sock_send_eor(s->plugin->w.stack, s->h);
	return total;
}

static ssize_t send_call(void *self, int fd, const struct iovec *iov, size_t cnt, int flags)
{
	struct psock *s = enter(self, fd);

	return s ? leave(self, send_locked(s, iov, cnt, flags)) : -1;
}

static ssize_t pd_send(void *self, int fd, const void *buf, size_t len, int flags)
{
	union {
		const void *in;
		void *out;
	} octets = { .in = buf }; /* struct iovec knows no const */

	return send_call(self, fd, &(struct iovec){ octets.out, len }, 1, flags);
}

static ssize_t pd_write(void *self, int fd, const void *buf, size_t len)
{
	return pd_send(self, fd, buf, len, 0);
}

static ssize_t pd_writev(void *self, int fd, const struct iovec *iov, int cnt)
{
	return send_call(self, fd, iov, (size_t)cnt, 0);
}

static ssize_t pd_sendto(void *self, int fd, const void *buf, size_t len, int flags,
			 const struct sockaddr *addr, socklen_t addr_len)
{
	(void)addr; /* linux: ignored by a connected stream */
	(void)addr_len;
	return pd_send(self, fd, buf, len, flags);
}

static ssize_t pd_sendmsg(void *self, int fd, const struct msghdr *msg, int flags)
{
	return send_call(self, fd, msg->msg_iov, msg->msg_iovlen, flags);
}

static ssize_t recv_locked(struct psock *s, const struct iovec *iov, size_t iov_cnt, int flags)
{
	struct ns_stack *st = s->plugin->w.stack;
	struct ns_iov have[IOV_MAX_USED];
	size_t total = 0, i = 0, off = 0;
	int cnt;

	if (s->is_listener || (!s->is_connected && !s->is_connecting && !s->err))
		return -ENOTCONN;
	if (!can_read(s)) {
		if (s->is_nonblocking || flags & MSG_DONTWAIT)
			return -EAGAIN;
		if (!world_wait(&s->plugin->w, can_read, s, UINT64_MAX))
			return -EAGAIN;
	}
	cnt = ns_sock_recv_peek(st, s->h, have, IOV_MAX_USED);
	if (cnt <= 0)
		return s->err ? take_err(s) : 0;
	for (int k = 0; k < cnt && i < iov_cnt;) {
		size_t n = iov[i].iov_len - off < have[k].len ? iov[i].iov_len - off : have[k].len;

		memcpy((uint8_t *)iov[i].iov_base + off, have[k].base, n);
		have[k].base = (uint8_t *)have[k].base + n;
		have[k].len -= n;
		off += n;
		total += n;
		k += have[k].len == 0;
		if (off == iov[i].iov_len) {
			i++;
			off = 0;
		}
	}
	if (!(flags & MSG_PEEK))
		ns_sock_recv_consume(st, s->h, (uint32_t)total);
	return (ssize_t)total;
}

static ssize_t recv_call(void *self, int fd, const struct iovec *iov, size_t cnt, int flags)
{
	struct psock *s = enter(self, fd);

	return s ? leave(self, recv_locked(s, iov, cnt, flags)) : -1;
}

static ssize_t pd_recv(void *self, int fd, void *buf, size_t len, int flags)
{
	return recv_call(self, fd, &(struct iovec){ buf, len }, 1, flags);
}

static ssize_t pd_read(void *self, int fd, void *buf, size_t len)
{
	return pd_recv(self, fd, buf, len, 0);
}

static ssize_t pd_readv(void *self, int fd, const struct iovec *iov, int cnt)
{
	return recv_call(self, fd, iov, (size_t)cnt, 0);
}

static ssize_t pd_recvfrom(void *self, int fd, void *buf, size_t len, int flags,
			   struct sockaddr *addr, socklen_t *addr_len)
{
	(void)addr; /* linux: a stream leaves both alone */
	(void)addr_len;
	return pd_recv(self, fd, buf, len, flags);
}

static ssize_t pd_recvmsg(void *self, int fd, struct msghdr *msg, int flags)
{
	msg->msg_controllen = 0;
	msg->msg_flags = 0;
	return recv_call(self, fd, msg->msg_iov, msg->msg_iovlen, flags);
}

/* --- descriptor flags ------------------------------------------------------------------------ */

static int pd_fcntl(void *self, int fd, int cmd, ...)
{
	struct psock *s = enter(self, fd);
	va_list ap;
	int r = -EINVAL;

	if (!s)
		return -1;
	va_start(ap, cmd);
	if (cmd == F_GETFL) {
		r = O_RDWR | (s->is_nonblocking ? O_NONBLOCK : 0);
	} else if (cmd == F_SETFL) {
		s->is_nonblocking = (va_arg(ap, int) & O_NONBLOCK) != 0;
		r = 0;
	}
	va_end(ap);
	return (int)leave(self, r);
}

static int pd_ioctl(void *self, int fd, unsigned long request, ...)
{
	struct psock *s = enter(self, fd);
	va_list ap;
	int r = 0;

	if (!s)
		return -1;
	va_start(ap, request);
	if (request == FIONREAD)
		*va_arg(ap, int *) = (int)queued(s);
	else if (request == FIONBIO)
		s->is_nonblocking = *va_arg(ap, int *) != 0;
	else
		r = -ENOTTY;
	va_end(ap);
	return (int)leave(self, r);
}

static int pd_pipe(void *self, int fds[2])
{
	(void)self;
	(void)fds;
	return plugin_fail(-ENOSYS);
}

static int pd_splice(void *self, int in, off64_t *in_off, int out, off64_t *out_off, size_t len,
		     unsigned int flags)
{
	(void)self;
	(void)in;
	(void)in_off;
	(void)out;
	(void)out_off;
	(void)len;
	(void)flags;
	return plugin_fail(-ENOSYS);
}

/* --- wire and clock -------------------------------------------------------------------------- */

static int pd_netdev_send(void *self, const void *packet, size_t len)
{
	struct plugin *p = self;
	int r;

	pthread_mutex_lock(&p->w.lock);
	r = world_inject(&p->w, packet, len);
	pthread_mutex_unlock(&p->w.lock);
	return r < 0 ? plugin_fail(r) : 0;
}

static int pd_netdev_receive(void *self, void *packet, size_t *len, long long *time_us)
{
	struct plugin *p = self;
	struct world_out *o;
	struct mono at;

	pthread_mutex_lock(&p->w.lock);
	world_run(&p->w, mono_add(p->w.now, RECEIVE_WAIT_SEC * NS_PER_SEC), true);
	o = world_pop(&p->w);
	at = o ? o->at : p->w.now;
	*len = o && o->len <= *len ? o->len : 0;
	if (*len)
		memcpy(packet, o->b, *len);
	*time_us = (long long)(at.ns / NS_PER_US);
	pthread_mutex_unlock(&p->w.lock);
	free(o);
	return 0;
}

static int pd_usleep(void *self, useconds_t us)
{
	struct plugin *p = self;

	pthread_mutex_lock(&p->w.lock);
	world_run(&p->w, mono_add(p->w.now, us * NS_PER_US), false);
	pthread_mutex_unlock(&p->w.lock);
	return 0;
}

static int pd_gettimeofday(void *self, struct timeval *tv, struct timezone *tz)
{
	struct plugin *p = self;
	uint64_t us;

	(void)tz;
	pthread_mutex_lock(&p->w.lock);
	world_run(&p->w, mono_add(p->w.now, NS_PER_US), false);
	us = p->w.now.ns / NS_PER_US;
	pthread_mutex_unlock(&p->w.lock);
	tv->tv_sec = (time_t)(us / 1000000);
	tv->tv_usec = (suseconds_t)(us % 1000000);
	return 0;
}

/* --- begin and end --------------------------------------------------------------------------- */

static void pd_free(void *self)
{
	struct plugin *p = self;

	for (int fd = 0; fd < PLUGIN_FD_MAX; fd++)
		if (p->socks[fd])
			sock_free(p->socks[fd]);
	world_done(&p->w);
	free(p);
}

void packetdrill_interface_init(const char *flags, struct packetdrill_interface *ifc)
{
	struct plugin *p = calloc(1, sizeof(*p));

	/* the interface has no way to refuse */
	if (!p || world_init(&p->w, flags)) {
		fprintf(stderr, "sluice plugin: no stack, or flags not understood: %s\n",
			flags ? flags : "(none)");
		exit(EXIT_FAILURE);
	}
	p->w.on_event = on_event;
	*ifc = (struct packetdrill_interface){
		.userdata = p,
		.free = pd_free,
		.socket = pd_socket,
		.bind = pd_bind,
		.listen = pd_listen,
		.accept = pd_accept,
		.connect = pd_connect,
		.read = pd_read,
		.readv = pd_readv,
		.recv = pd_recv,
		.recvfrom = pd_recvfrom,
		.recvmsg = pd_recvmsg,
		.write = pd_write,
		.writev = pd_writev,
		.send = pd_send,
		.sendto = pd_sendto,
		.sendmsg = pd_sendmsg,
		.fcntl = pd_fcntl,
		.ioctl = pd_ioctl,
		.close = pd_close,
		.shutdown = pd_shutdown,
		.getsockopt = plugin_getsockopt,
		.setsockopt = plugin_setsockopt,
		.poll = plugin_poll,
		.netdev_send = pd_netdev_send,
		.netdev_receive = pd_netdev_receive,
		.usleep = pd_usleep,
		.gettimeofday = pd_gettimeofday,
		.epoll_create = plugin_epoll_create,
		.epoll_ctl = plugin_epoll_ctl,
		.epoll_wait = plugin_epoll_wait,
		.pipe = pd_pipe,
		.splice = pd_splice,
	};
}
