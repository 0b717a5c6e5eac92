/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_inq.c - how much there is to read: FIONREAD, TCP_INQ
 *
 * Theory of operation
 *
 * What a program can read now is in its pair; behind a full one more is in the stack, which Linux counts, too.
 * FIONREAD asks the worker, who first moves what the pair takes, and adds what is in the pair. Of datagrams it
 * is the length of the next one.
 *
 * With TCP_INQ a recvmsg() that finds octets is carried out here, since the kernel's own on an AF_UNIX socket
 * has no TCP_CM_INQ to tell. The number is that of the pair: what is still in the stack comes with an edge of
 * its own. The octets are taken out when they are in the program's memory and it still waits.
 *
 * Deviations: a recvmsg() that has to wait, or that has MSG_WAITALL, is the kernel's and comes without
 * TCP_CM_INQ. A signal in the moment of the answer may lose its octets (agent_notify.c), which is why nothing
 * is carried out here unless the program asked for TCP_INQ.
 *
 * References: linux v6.1 net/ipv4/tcp.c tcp_ioctl(), tcp_inq_hint(); net/ipv4/udp.c first_packet_length()
 */
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/sockios.h>

#include <linux/tcp.h>

#include "daemon/agent/agent_int.h"

/* Octets that one recvmsg() gets at most. */
#define RECV_MAX 65536u

int inq_of_pair(int fd)
{
	int n = 0;

	return ioctl(fd, FIONREAD, &n) < 0 ? 0 : n;
}

static int64_t put_int(struct call *c, int32_t value)
{
	struct args_mem mem = call_mem(c);

	return mem.write(mem.ctx, c->args[2], &value, sizeof(value)) < 0 ? -EFAULT : 0;
}

int64_t inq_ioctl(struct agent *a, struct call *c, struct asock *s, int fd)
{
	int request = call_arg_int(c, 1);

	(void)fd;
	if (s->state == ASOCK_LISTEN)
		return -EINVAL;
	if (s->state == ASOCK_DEAD && request == FIONREAD)
		return CALL_CONTINUE;
	if (s->state != ASOCK_ESTABLISHED || !a->is_worker_up)
		return put_int(c, 0);
	return ask_worker(a, c, s, IPC_GETOPT,
			  request == FIONREAD   ? NS_TCP_INQ
			  : request == SIOCOUTQ ? NS_TCP_OUTQ
						: NS_TCP_OUTQNSD);
}

int64_t inq_ioctl_dgram(struct call *c, int fd)
{
	ssize_t n;

	if (call_arg_int(c, 1) != FIONREAD)
		return CALL_CONTINUE; /* memory of the pair, as Linux counts memory of the socket */
	n = recv(fd, NULL, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
	return put_int(c, n < 0 ? 0 : (int32_t)n);
}

/** inq_hint() - octets left in the pair; at its end there is always something to read */
static int inq_hint(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };
	int n = inq_of_pair(fd);

	return n == 0 && poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP) ? 1 : n;
}

/** wants_inq() - is this a recvmsg() to carry out here? */
static bool wants_inq(const struct call *c, const struct asock *s)
{
	return c->nr == SYS_recvmsg && aopt_value(&s->opts, IPPROTO_TCP, TCP_INQ) &&
	       !(call_arg_int(c, 2) & (MSG_OOB | MSG_ERRQUEUE | MSG_WAITALL));
}

/** put_hint() - TCP_CM_INQ into the control data of @msg. Return: octets of them, or -EFAULT; flags MSG_CTRUNC */
static int64_t put_hint(const struct args_mem *mem, const struct args_msg *msg, int value,
			uint32_t *flags)
{
	union {
		struct cmsghdr h;
		uint8_t buf[CMSG_SPACE(sizeof(int))];
	} cmsg = { .h = { .cmsg_len = CMSG_LEN(sizeof(int)),
			  .cmsg_level = IPPROTO_TCP,
			  .cmsg_type = TCP_CM_INQ } };
	size_t len = msg->control_len < sizeof(cmsg) ? (size_t)msg->control_len : sizeof(cmsg);

	if (!msg->control || len < CMSG_LEN(sizeof(int))) {
		*flags |= MSG_CTRUNC;
		return 0;
	}
	memcpy(CMSG_DATA(&cmsg.h), &value, sizeof(value));
	return mem->write(mem->ctx, msg->control, &cmsg, len) < 0 ? -EFAULT : (int64_t)len;
}

/** take() - @len octets that the program has a copy of; unless it only peeked */
static void take(int fd, uint8_t *buf, int len, int flags)
{
	if (!(flags & MSG_PEEK) && len > 0)
		(void)recv(fd, buf, (size_t)len, MSG_DONTWAIT);
}

int64_t inq_recvmsg(struct call *c, struct asock *s, int fd)
{
	static uint8_t buf[RECV_MAX];
	struct args_mem mem = call_mem(c);
	int flags = call_arg_int(c, 2), done;
	uint32_t out_flags = 0;
	struct args_msg msg;
	int64_t control_len;
	ssize_t n;

	if (!wants_inq(c, s))
		return CALL_CONTINUE;
	n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_PEEK);
	if (n < 0)
		return CALL_CONTINUE; /* nothing there, or an error: both are the kernel's to say */
	done = args_msg_in(&mem, c->args[1], &msg);
	if (done == 0)
		done = args_scatter(&mem, msg.iov, msg.iov_cnt, buf, (size_t)n);
	if (done < 0)
		return done;
	if (!call_is_waiting(c))
		return CALL_LATER;
	take(fd, buf, done, flags);
	control_len = put_hint(&mem, &msg, inq_hint(fd), &out_flags);
	if (control_len < 0 ||
	    args_msg_out(&mem, c->args[1], 0, (uint64_t)control_len, out_flags) < 0)
		return -EFAULT;
	return done;
}
