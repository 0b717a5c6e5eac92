/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_again.c - a TCP socket begins anew: connect() after a failure, connect() to nobody, shutdown()
 *
 * Theory of operation
 *
 * Linux has a second state beside TCP's, struct socket.state: what failed is "connecting" still until a call has
 * been told, and what is "unconnected" may connect. Here a DEAD socket is in the first until @is_free.
 *
 *   connect() failed by itself, nobody waited   next connect(): SO_ERROR or -ECONNABORTED, and is_free
 *   a blocking connect() was told               is_free at once
 *   connect() to AF_UNSPEC                      is_free, whatever was before
 *   connect() once said 0, or accept() made it  -EISCONN until AF_UNSPEC
 *
 * A pair that has shown an end cannot come back, so who is free and connects gets a new one at the same number
 * (SECCOMP_ADDFD_FLAG_SETFD), with the options that live in the pair. An attempt that is given up before it
 * ended, by shutdown() or AF_UNSPEC, has its pair still: the stuffing is taken out and it is as new.
 *
 * Deviations: epoll entries and duplicates of the descriptor stay with the old pair. FD_CLOEXEC is as at
 * socket(), whatever fcntl() said since. What was shut, poll() shows as a fresh socket is shown.
 *
 * References: linux v6.1 net/ipv4/af_inet.c __inet_stream_connect(), inet_shutdown()
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/seccomp.h>

#include "daemon/agent/agent_int.h"

static void set_timeout(int fd, int name, uint64_t ns)
{
	struct timeval tv = { .tv_sec = (time_t)(ns / NS_PER_SEC),
			      .tv_usec = (suseconds_t)(ns % NS_PER_SEC / NS_PER_US) };

	if (ns)
		(void)setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv));
}

/** put_in_place() - the new pair's end at the number that the call names. Return: 0 or negative errno */
static int put_in_place(const struct call *c, int fd, bool is_cloexec)
{
	struct seccomp_notif_addfd add = { .id = c->id,
					   .flags = SECCOMP_ADDFD_FLAG_SETFD,
					   .srcfd = (uint32_t)fd,
					   .newfd = (uint32_t)c->args[0],
					   .newfd_flags = is_cloexec ? O_CLOEXEC : 0 };

	return ioctl(c->from->fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0 ? -errno : 0;
}

int again_revive(struct agent *a, struct call *c, struct asock *s, int fd)
{
	struct pair p;
	int r = agent_pair_take(a, &p);

	if (r < 0)
		return -ENFILE;
	if (!is_nonblocking(fd))
		(void)fcntl(p.program, F_SETFL, 0);
	pair_inherit(p.program, &s->opts);
	set_timeout(p.program, SO_RCVTIMEO, s->opts.rcv_timeout_ns);
	set_timeout(p.program, SO_SNDTIMEO, s->opts.snd_timeout_ns);
	r = put_in_place(c, p.program, s->is_cloexec);
	close(p.program);
	if (r < 0) {
		close(p.ours);
		return r;
	}
	asock_revive(&a->socks, s, p.ino, p.ours);
	s->is_kernel_err = false;
	s->program_fd = (int)(uint32_t)c->args[0];
	again_unbind(a, s);
	return agent_watch(a, s);
}

void again_unbind(struct agent *a, struct asock *s)
{
	s->remote = (struct ns_endpoint){ .addr = sock_any(s) };
	if (!s->is_user_bound) {
		if (s->state != ASOCK_IDLE)
			asock_set_state(&a->socks, s, ASOCK_IDLE);
		sock_unname(s);
		return;
	}
	asock_set_state(&a->socks, s, ASOCK_BOUND);
	sock_rebind(a, s);
}

void again_cancel(struct agent *a, struct asock *s, int err)
{
	agent_send(a, IPC_CLOSE, &(struct ipc_close){ s->handle, IPC_CLOSE_RESET });
	held_answer_all(a, s, HELD_CONNECT, err);
	unstuff(a, s);
	s->so_error = err;
	again_unbind(a, s);
}

int64_t again_disconnect(struct agent *a, struct asock *s)
{
	switch (s->state) {
	case ASOCK_LISTEN:
		return -EINVAL;
	case ASOCK_CONNECTING:
		again_cancel(a, s, -ECONNRESET);
		return 0;
	case ASOCK_ESTABLISHED:
		agent_send(a, IPC_CLOSE, &(struct ipc_close){ s->handle, IPC_CLOSE_RESET });
		sock_tombstone(a, s, 0, false);
		break;
	case ASOCK_IDLE:
	case ASOCK_BOUND:
	case ASOCK_DEAD:
	case ASOCK_STATE_COUNT:
		break;
	}
	s->is_free = true;
	return 0;
}

int64_t again_shutdown(struct agent *a, struct call *c, struct asock *s, int fd)
{
	int how = call_arg_int(c, 1);

	(void)fd;
	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	switch (s->state) {
	case ASOCK_ESTABLISHED:
		return CALL_CONTINUE;
	case ASOCK_LISTEN:
		return how == SHUT_WR ? 0 : CALL_CONTINUE;
	case ASOCK_CONNECTING:
		again_cancel(a, s, -ECONNRESET);
		return 0;
	case ASOCK_IDLE:
	case ASOCK_BOUND:
	case ASOCK_DEAD:
	case ASOCK_STATE_COUNT:
		break;
	}
	return -ENOTCONN;
}
