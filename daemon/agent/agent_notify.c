/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_notify.c - trapped calls: taken, tied to a socket, answered, or kept for later
 *
 * Theory of operation
 *
 * A notification names a thread and the six arguments. Which socket is meant is found out by looking:
 * pidfd_getfd() copies the descriptor out of the thread, fstat() gives its inode, the inode is the key
 * of the table. What is not in the table (a file, a socket of another family) is none of ours and the
 * kernel carries the call out: the container's namespace has no wire, so nothing can be reached that
 * way.
 *
 * The thread may die, be killed or be interrupted by a signal at any time. Then the notification is
 * gone without a word, and its number (tid) may belong to another thread:
 *
 *   - every copy from or to memory is followed, or preceded, by NOTIF_ID_VALID: an octet is used only
 *     when it came from the thread that asked, and written only when that thread still waits. (Run
 *     inside the container's pid namespace, the agent cannot even name a process outside.)
 *   - a kept pidfd answers -ESRCH when its thread is gone and is opened anew.
 *   - an answer that the kernel took can still be lost: a signal at that very moment makes it start
 *     the call again. So answers that change what the same call would say next are remembered per
 *     socket for a moment (asock_memo), and given again to the same thread at the same instruction
 *     with the same arguments. A descriptor that is installed (ADDFD with SEND) is never lost.
 *
 * Held calls are kept in the list of their socket. They are not told when their thread gives up; they
 * are looked at when they could be answered, and when the list is full of them.
 *
 * Limits
 *
 * AGENT_HELD_MAX held calls; AGENT_PIDFDS pidfds kept.
 */
#include <event2/event.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/agent/agent_int.h"
#include "daemon/common/log.h"
#include "seccomp/uapi.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "tell agent_notify.c the audit architecture of this machine"
#endif

#define PRIORITY_NOTIFY 1

/* ---- memory of the thread ---- */

bool call_is_waiting(const struct call *c)
{
	return ioctl(c->from->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &c->id) == 0;
}

static int mem_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const struct call *c = ctx;
	struct iovec local = { buf, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };

	if (process_vm_readv((pid_t)c->tid, &local, 1, &remote, 1, 0) != (ssize_t)len)
		return -EFAULT;
	return call_is_waiting(c) ? 0 : -EFAULT;
}

static int mem_write(void *ctx, uint64_t addr, const void *buf, size_t len)
{
	const struct call *c = ctx;
	struct iovec local = { (void *)(uintptr_t)buf, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };

	if (!call_is_waiting(c))
		return -EFAULT;
	return process_vm_writev((pid_t)c->tid, &local, 1, &remote, 1, 0) == (ssize_t)len ? 0
											  : -EFAULT;
}

struct args_mem call_mem(struct call *c)
{
	return (struct args_mem){ .ctx = c, .read = mem_read, .write = mem_write };
}

/* ---- descriptors of the thread ---- */

/** pidfd_of() - of thread @tid: the one that is kept, unless @is_fresh. Return: it, or negative errno */
static int pidfd_of(struct agent *a, uint32_t tid, bool is_fresh)
{
	uint32_t slot = tid % AGENT_PIDFDS;

	if (!is_fresh && a->pidfds[slot].fd >= 0 && a->pidfds[slot].tid == tid)
		return a->pidfds[slot].fd;
	if (a->pidfds[slot].fd >= 0)
		close(a->pidfds[slot].fd);
	a->pidfds[slot].tid = tid;
	a->pidfds[slot].fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);
	return a->pidfds[slot].fd < 0 ? -errno : a->pidfds[slot].fd;
}

static int do_getfd(int pidfd, unsigned long fd, void *arg)
{
	(void)arg;
	return (int)syscall(SYS_pidfd_getfd, pidfd, (int)fd, 0);
}

static int do_ioctl(int pidfd, unsigned long request, void *arg)
{
	return ioctl(pidfd, request, arg);
}

/* @fn with the thread's pidfd: the kept one, and when its thread is gone another's of the same number. */
static int with_pidfd(struct agent *a, uint32_t tid,
		      int (*fn)(int pidfd, unsigned long what, void *arg), unsigned long what,
		      void *arg)
{
	int r = -ESRCH;

	for (int is_fresh = 0; r == -ESRCH && is_fresh < 2; is_fresh++) {
		int pidfd = pidfd_of(a, tid, is_fresh);

		r = pidfd < 0 ? pidfd : fn(pidfd, what, arg);
		if (pidfd >= 0 && r < 0)
			r = -errno;
	}
	return r;
}

/** thread_fd() - a copy of descriptor @fd of thread @tid. Return: it, or negative errno */
static int thread_fd(struct agent *a, uint32_t tid, int fd)
{
	return with_pidfd(a, tid, do_getfd, (unsigned long)fd, NULL);
}

int thread_ioctl(struct agent *a, uint32_t tid, unsigned long request, void *arg)
{
	return with_pidfd(a, tid, do_ioctl, request, arg);
}

/** socket_inode() - 0 when @fd is no socket */
static uint64_t socket_inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) ? st.st_ino : 0;
}

static bool is_socket_of(int fd, const struct asock *s)
{
	return fd >= 0 && socket_inode(fd) == s->ino;
}

int call_program_fd(struct agent *a, const struct call *c, const struct asock *s)
{
	int fd = thread_fd(a, c->tid, (int)(uint32_t)c->args[0]);

	if (fd < 0)
		return fd;
	if (is_socket_of(fd, s))
		return fd;
	close(fd);
	return -EBADF;
}

/** thread_has() - our copy when @tid has @s at number @fd; -1 else */
static int thread_has(struct agent *a, uint32_t tid, int fd, const struct asock *s)
{
	int copy = thread_fd(a, tid, fd);

	if (copy < 0 || is_socket_of(copy, s))
		return copy;
	close(copy);
	return -1;
}

bool program_end_is_at(struct agent *a, const struct asock *s)
{
	int fd = thread_has(a, s->tid, s->program_fd, s);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * The program's end may have moved: a child inherited it, a shell put it on 0, 1 and 2. There is no
 * /proc here to look it up, so the threads that called lately are asked, at the likely numbers.
 */
int program_end_find(struct agent *a, const struct asock *s)
{
	int fd = thread_has(a, s->tid, s->program_fd, s);

	for (uint32_t i = 0; fd < 0 && i < AGENT_PIDFDS; i++) {
		if (a->pidfds[i].fd < 0 || a->pidfds[i].tid == s->tid)
			continue;
		fd = thread_has(a, a->pidfds[i].tid, s->program_fd, s);
		for (int n = 0; fd < 0 && n < 3; n++)
			fd = thread_has(a, a->pidfds[i].tid, n, s);
	}
	for (int n = 0; fd < 0 && n < 64; n++)
		fd = thread_has(a, s->tid, n, s);
	return fd < 0 ? -ENOENT : fd;
}

/* ---- answers ---- */

static void send_response(struct agent *a, const struct call *c, struct seccomp_notif_resp *resp)
{
	resp->id = c->id;
	if (ioctl(c->from->fd, SECCOMP_IOCTL_NOTIF_SEND, resp) < 0)
		a->lost_answer_cnt++;
}

void call_answer(struct agent *a, const struct call *c, int64_t answer)
{
	struct seccomp_notif_resp resp = { .error = answer < 0 ? (int32_t)answer : 0,
					   .val = answer < 0 ? 0 : answer };

	send_response(a, c, &resp);
}

static void call_continue(struct agent *a, const struct call *c)
{
	struct seccomp_notif_resp resp = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	send_response(a, c, &resp);
}

int call_add_fd(struct agent *a, const struct call *c, int fd, bool is_cloexec)
{
	struct seccomp_notif_addfd add = { .id = c->id,
					   .flags = SECCOMP_ADDFD_FLAG_SEND,
					   .srcfd = (uint32_t)fd,
					   .newfd_flags = is_cloexec ? O_CLOEXEC : 0 };
	int r = ioctl(c->from->fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);

	if (r < 0 && errno == ENOENT)
		a->lost_answer_cnt++;
	return r < 0 ? -errno : r;
}

/* ---- held calls ---- */

void held_free(struct held *h)
{
	list_del(&h->node);
	list_del(&h->all_node);
	if (h->timer)
		event_free(h->timer);
	h->agent->held_cnt--;
	free(h);
}

static void on_held_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	held_timeout(arg);
}

/** held_purge() - drop what nobody waits for any more */
static void held_purge(struct agent *a)
{
	list_for_each_safe (it, &a->held) {
		struct held *h = list_entry(it, struct held, all_node);

		/* an op goes on without the call that began it */
		if (!call_is_waiting(&h->call))
			held_free(h);
	}
}

/** sock_purge() - the same for one socket, whose list would else grow by a call for each signal */
static void sock_purge(struct list *head)
{
	list_for_each_safe (it, head) {
		struct held *h = list_entry(it, struct held, node);

		if (!call_is_waiting(&h->call))
			held_free(h);
	}
}

struct held *call_hold(struct agent *a, struct asock *s, const struct call *c, enum held_kind kind,
		       uint64_t timeout_ns)
{
	struct list *head = kind == HELD_DEFERRED ? &s->deferred : &s->held;
	struct held *h;

	sock_purge(head);
	if (a->held_cnt >= AGENT_HELD_MAX)
		held_purge(a);
	h = a->held_cnt < AGENT_HELD_MAX ? calloc(1, sizeof(*h)) : NULL;
	if (!h)
		return NULL;
	h->agent = a;
	h->call = *c;
	h->kind = kind;
	h->sock = s->handle;
	if (timeout_ns) {
		struct timeval tv = { .tv_sec = (time_t)(timeout_ns / NS_PER_SEC),
				      .tv_usec =
					      (suseconds_t)(timeout_ns % NS_PER_SEC / NS_PER_US) };

		h->timer = evtimer_new(a->base, on_held_timer, h);
		if (!h->timer || evtimer_add(h->timer, &tv) < 0) {
			if (h->timer)
				event_free(h->timer);
			free(h);
			return NULL;
		}
	}
	list_push(head, &h->node);
	list_push(&a->held, &h->all_node);
	a->held_cnt++;
	a->held_total_cnt++;
	return h;
}

bool held_answer_all(struct agent *a, struct asock *s, enum held_kind kind, int64_t answer)
{
	bool is_any = false;

	list_for_each_safe (it, &s->held) {
		struct held *h = list_entry(it, struct held, node);

		if (h->kind != kind)
			continue;
		is_any |= call_is_waiting(&h->call);
		call_answer(a, &h->call, answer);
		held_free(h);
	}
	return is_any;
}

/* ---- taking calls ---- */

/**
 * answer_matters() - would the same call, made again, be told something else now?
 *
 * Failed calls and connect() that finds a connection there may be made again. The price: a program
 * that makes the same successful call twice in a row meets success twice.
 */
static bool answer_matters(const struct call *c, int64_t answer, bool had_error)
{
	switch (c->nr) {
	case SYS_bind:
		return answer == 0;
	case SYS_connect:
		return answer == -EINPROGRESS;
	case SYS_getsockopt:
		return had_error && answer == 0 && (int)(uint32_t)c->args[1] == SOL_SOCKET &&
		       (int)(uint32_t)c->args[2] == SO_ERROR;
	default:
		return false;
	}
}

void call_run(struct agent *a, struct call *c)
{
	struct asock *s = NULL;
	int64_t answer;
	bool had_error;
	uint32_t handle;
	int fd;

	if (c->nr == SYS_socket) {
		answer = call_socket(a, c);
		if (answer == CALL_CONTINUE)
			call_continue(a, c);
		else if (answer != CALL_LATER)
			call_answer(a, c, answer);
		return;
	}
	fd = thread_fd(a, c->tid, (int)(uint32_t)c->args[0]);
	if (fd >= 0)
		s = asock_find(&a->socks, socket_inode(fd));
	if (!s) {
		if (fd >= 0)
			close(fd);
		call_continue(a, c);
		return;
	}
	s->tid = c->tid;
	s->program_fd = (int)(uint32_t)c->args[0];
	handle = s->handle;
	had_error = s->so_error != 0;
	if (asock_memo_match(s, c->tid, c->nr, c->ip, c->args, agent_now(), &answer) &&
	    (answer != -EINPROGRESS || s->state == ASOCK_CONNECTING)) {
		a->lost_answer_cnt++;
		had_error = true; /* it may be lost again */
	} else {
		s->memo.is_set = false;
		answer = call_handle(a, c, s, fd);
	}
	close(fd);
	s = asock_find_handle(&a->socks, handle);
	if (answer == CALL_CONTINUE) {
		call_continue(a, c);
	} else if (answer != CALL_LATER) {
		if (s && answer_matters(c, answer, had_error))
			asock_memo_set(s, c->tid, c->nr, c->ip, c->args, answer, agent_now());
		call_answer(a, c, answer);
	}
}

static void on_notify(evutil_socket_t fd, short what, void *arg)
{
	struct notify_fd *n = arg;
	struct agent *a = n->agent;
	struct seccomp_notif notif;
	struct call c;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	(void)what;
	if (poll(&p, 1, 0) <= 0)
		return;
	if (!(p.revents & POLLIN)) {
		/* hang-up: the last task with this filter is gone */
		log_info("the last process of container %s that had the filter is gone",
			 n->container_id);
		notify_fd_free(n);
		return;
	}
	memset(&notif, 0, sizeof(notif));
	/* -ENOENT: the thread was killed meanwhile; nothing to do (crun issue 526) */
	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &notif) < 0)
		return;
	c = (struct call){ .from = n,
			   .id = notif.id,
			   .ip = notif.data.instruction_pointer,
			   .tid = notif.pid,
			   .nr = notif.data.nr };
	for (int i = 0; i < 6; i++)
		c.args[i] = notif.data.args[i];
	a->call_cnt++;
	if (notif.data.arch != NATIVE_ARCH)
		call_answer(a, &c, -ENOSYS);
	else
		call_run(a, &c);
}

int notify_fd_add(struct agent *a, int fd, const char *container_id)
{
	struct notify_fd *n = calloc(1, sizeof(*n));

	if (!n) {
		close(fd);
		return -ENOMEM;
	}
	n->agent = a;
	n->fd = fd;
	list_push(&a->notify_fds, &n->node);
	strncpy(n->container_id, container_id, sizeof(n->container_id) - 1);
	/* linux 6.6: the answer wakes the thread on this CPU, which halves the price of a trap */
	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) < 0)
		log_debug(
			"this kernel has no synchronous wake-up of trapped calls (linux 6.6 has)");
	n->ev = event_new(a->base, fd, EV_READ | EV_PERSIST, on_notify, n);
	if (!n->ev) {
		notify_fd_free(n);
		return -ENOMEM;
	}
	event_priority_set(n->ev, PRIORITY_NOTIFY);
	if (event_add(n->ev, NULL) < 0) {
		notify_fd_free(n);
		return -ENOMEM;
	}
	log_info("container %s: calls are answered", n->container_id);
	return 0;
}

void notify_fd_free(struct notify_fd *n)
{
	list_for_each_safe (it, &n->agent->held) {
		struct held *h = list_entry(it, struct held, all_node);

		if (h->call.from == n)
			held_free(h);
	}
	list_del(&n->node);
	if (n->ev)
		event_free(n->ev);
	close(n->fd);
	free(n);
}
