/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_urgent.c - MSG_OOB on a stream, both ways
 *
 * Out. The pair could carry the octet by itself, but whoever reads its other end cannot tell which one it was without
 * an ioctl() that the worker must not make. So the call traps; all octets but the last go into the pair on
 * the program's behalf, the last one goes to the worker in a message and is behind them in the stream when
 * the answer comes, before the program can write more. sendmmsg() with MSG_OOB is not looked into: its octets stay in
 * line, unmarked (SO_OOBINLINE of our end, agent.c).
 *
 * In. The worker may send in one manner alone, which is not MSG_OOB. It asks us, and waits for the answer
 * before it puts more into the pair.
 */
#include <errno.h>
#include <sys/socket.h>

#include "daemon/agent/agent_int.h"

#define RETRY_NS (5 * NS_PER_MS)

static bool may_wait(int fd, int flags)
{
	return !(flags & MSG_DONTWAIT) && !is_nonblocking(fd);
}

int64_t urgent_send(struct agent *a, struct call *c, struct asock *s, int fd, const uint8_t *buf,
		    int len, int flags)
{
	struct ipc_urgent q = { .sock = s->handle };
	struct held *h;
	ssize_t n = 0;

	if (len <= 0)
		return len;
	if (len > 1) {
		n = send(fd, buf, (size_t)len - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN && may_wait(fd, flags))
			return call_hold(a, s, c, HELD_RETRY, RETRY_NS) ? CALL_LATER : -ENOBUFS;
		if (n < len - 1)
			return n < 0 ? -errno
				     : n; /* the urgent one is in the rest, which comes again */
	}
	if (!a->is_worker_up)
		return n > 0 ? n : -EPIPE;
	h = call_hold(a, s, c, HELD_QUERY, 0);
	if (!h)
		return n > 0 ? n : -ENOBUFS;
	h->token = q.token = ++a->next_token;
	h->is_urgent = true;
	h->can_wait = len == 1 && may_wait(fd, flags);
	h->sent_len = (uint32_t)len;
	q.octet = buf[len - 1];
	agent_send(a, IPC_URGENT, &q);
	return CALL_LATER;
}

void urgent_answer(struct agent *a, struct asock *s, struct held *h, int err)
{
	struct call *c = &h->call;

	if (err == 0)
		call_answer(a, c, h->sent_len);
	else if (h->sent_len > 1)
		call_answer(a, c, h->sent_len - 1); /* what went before it is on its way */
	else if (err != -EAGAIN || !h->can_wait || !s || !call_hold(a, s, c, HELD_RETRY, RETRY_NS))
		call_answer(a, c, err);
}

int urgent_on_in(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_urgent *b = IPC_BODY(m, ipc_urgent);
	struct asock *s = asock_find_handle(&a->socks, b->sock);
	struct ipc_urgent_done done = { .sock = b->sock, .err = -EPIPE };
	uint8_t octet = (uint8_t)b->octet;
	ssize_t n = -1;

	if (s && s->state == ASOCK_ESTABLISHED && s->fd >= 0) {
		n = send(s->fd, &octet, 1, MSG_OOB | MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EOPNOTSUPP) /* a kernel without CONFIG_AF_UNIX_OOB: in line */
			n = send(s->fd, &octet, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		done.err = n == 1 ? 0 : -errno;
	}
	agent_send(a, IPC_URGENT_DONE, &done);
	return 0;
}
