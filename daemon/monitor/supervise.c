/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise - start, watch and stop the monitor's children
 *
 * Theory of operation: a child is this binary executed anew, so that it shares no memory, no address
 * layout and no descriptor with the monitor but its channel, which is descriptor 3. Its pid namespace
 * must be chosen before it is made: the monitor points its own "namespace for children" at the place
 * wanted, forks, and points it back. It never enters that namespace itself.
 *
 * The end of a process is told by its pidfd, which cannot mean another process. A channel that
 * closes is not yet an end; it only stops being read.
 *
 * Invariants: a process that was started is reaped here, at once. The kernel does not end a pid
 * namespace before its processes are reaped, so a container whose first process ended would hang on
 * an agent that nobody collects.
 *
 * Time: ev_kill ends a child that did not go in its grace period.
 *
 * Syscalls: #syscalls monitor: setns unshare clone execveat waitid pidfd_open pidfd_send_signal
 * Syscalls: #syscalls monitor: dup2 close_range prctl setsid clock_gettime
 */
#include "daemon/monitor/supervise.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/common/child.h"
#include "daemon/common/log.h"

/* Messages of one child handled in a row before the other has its turn. */
#define DISPATCH_BUDGET 64

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static int pidfd_of(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static int pidfd_kill(int pid_fd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, pid_fd, sig, NULL, 0);
}

void child_init_idle(struct child *c, enum ipc_role role, struct event_base *base)
{
	memset(c, 0, sizeof(*c));
	c->role = role;
	c->name = role == IPC_AGENT ? "agent" : "worker";
	c->base = base;
	c->pid_fd = -1;
	ipc_init(&c->ipc, -1, IPC_MONITOR, role);
}

/* ---- the new process ---- */

/* Between fork and exec: nothing but system calls. */
__attribute__((noreturn)) static void become(enum ipc_role role, int exe_fd, int channel_fd)
{
	char name[] = "sluiced";
	char agent[] = "--role=agent", worker[] = "--role=worker";
	char *const argv[] = { name, role == IPC_AGENT ? agent : worker, NULL };
	char *const envp[] = { NULL };
	sigset_t none;
	int nowhere;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setsid(); /* ^C on a terminal is for the monitor, which ends its children in order */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (channel_fd == CHILD_MONITOR_FD)
		(void)fcntl(channel_fd, F_SETFD, 0);
	else if (dup2(channel_fd, CHILD_MONITOR_FD) < 0)
		_exit(126);
	/* What a child has to say goes to the monitor: its own descriptors lead nowhere. */
	nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (nowhere < 0 || dup2(nowhere, fd) < 0)
			_exit(126);
	/* All of ours are close-on-exec already; this is for those a library forgot. */
	(void)close_range(CHILD_MONITOR_FD + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	(void)syscall(SYS_execveat, exe_fd, "", argv, envp, AT_EMPTY_PATH);
	_exit(127);
}

/* fork() into the pid namespace of @place. */
static pid_t fork_into(const struct child_place *place, enum ipc_role role, int exe_fd,
		       int channel_fd)
{
	int home = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	sigset_t all, before;
	pid_t pid = -1;
	int r = 0;

	if (home < 0)
		return -errno;
	if (place->is_new)
		r = unshare(CLONE_NEWPID) < 0 ? -errno : 0;
	else if (place->pid_fd >= 0)
		r = setns(place->pid_fd, CLONE_NEWPID) < 0 ? -errno : 0;
	if (r == 0) {
		/* No handler of the monitor's may run in the child, which shares its descriptors. */
		(void)sigfillset(&all);
		(void)sigprocmask(SIG_SETMASK, &all, &before);
		pid = fork();
		if (pid == 0)
			become(role, exe_fd, channel_fd);
		r = pid < 0 ? -errno : 0;
		(void)sigprocmask(SIG_SETMASK, &before, NULL);
	}
	if (setns(home, CLONE_NEWPID) < 0) {
		log_err(-errno, "cannot point new processes back at the monitor's pid namespace");
		abort();
	}
	close(home);
	return r < 0 ? r : pid;
}

/* ---- events ---- */

static void ev_drop(struct event **ev)
{
	if (*ev)
		event_free(*ev);
	*ev = NULL;
}

static void child_forget(struct child *c)
{
	ev_drop(&c->ev_exit);
	ev_drop(&c->ev_read);
	ev_drop(&c->ev_write);
	ev_drop(&c->ev_kill);
	ipc_done(&c->ipc);
	if (c->pid_fd >= 0)
		close(c->pid_fd);
	c->pid_fd = -1;
	c->pid = 0;
	c->is_ready = false;
}

static void log_end(const struct child *c, const siginfo_t *si)
{
	if (c->is_stopping || (si->si_code == CLD_EXITED && si->si_status == 0))
		log_debug("the %s ended", c->name);
	else if (si->si_code == CLD_EXITED)
		log_warnx("the %s ended with status %d", c->name, si->si_status);
	else if (c->is_guest && si->si_status == SIGKILL)
		log_info("the %s ended with the pid namespace of its container", c->name);
	else
		log_warnx("the %s was ended by signal %d (%s)", c->name, si->si_status,
			  strsignal(si->si_status));
}

/* Words it wrote before its end: they often say why. What is malformed does not matter any more. */
static void drain(struct child *c)
{
	(void)!ipc_dispatch(&c->ipc, c->handlers, c, DISPATCH_BUDGET);
}

static void on_exit_event(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;
	siginfo_t si = { 0 };

	(void)fd;
	(void)what;
	if (waitid(P_PIDFD, (id_t)c->pid_fd, &si, WEXITED | WNOHANG) < 0 || si.si_pid == 0)
		return;
	drain(c);
	log_end(c, &si);
	child_forget(c);
	c->on_exit(c, c->ctx);
}

static void on_read_event(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;
	int r;

	(void)fd;
	(void)what;
	r = ipc_dispatch(&c->ipc, c->handlers, c, DISPATCH_BUDGET);
	if (r == -EPIPE) { /* it is ending: ev_exit tells when it has */
		if (c->ev_read)
			(void)event_del(c->ev_read);
	} else if (r < 0) {
		c->on_broken(c, c->ctx);
	}
}

static void on_write_event(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	(void)fd;
	(void)what;
	(void)!ipc_flush(&c->ipc);
}

static void want_write(void *ctx, bool is_wanted)
{
	struct child *c = ctx;

	if (!c->ev_write)
		return;
	if (is_wanted)
		(void)event_add(c->ev_write, NULL);
	else
		(void)event_del(c->ev_write);
}

static void on_kill_event(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	(void)fd;
	(void)what;
	log_warnx("the %s did not stop in time and is ended", c->name);
	(void)pidfd_kill(c->pid_fd, SIGKILL);
}

static int events_make(struct child *c, int channel_fd)
{
	c->ev_exit = event_new(c->base, c->pid_fd, EV_READ | EV_PERSIST, on_exit_event, c);
	c->ev_read = event_new(c->base, channel_fd, EV_READ | EV_PERSIST, on_read_event, c);
	c->ev_write = event_new(c->base, channel_fd, EV_WRITE | EV_PERSIST, on_write_event, c);
	c->ev_kill = evtimer_new(c->base, on_kill_event, c);
	if (!c->ev_exit || !c->ev_read || !c->ev_write || !c->ev_kill ||
	    event_add(c->ev_exit, NULL) < 0 || event_add(c->ev_read, NULL) < 0)
		return -ENOMEM;
	c->ipc.want_write = want_write;
	c->ipc.ctx = c;
	return 0;
}

int child_start_process(struct child *c, int exe_fd, const struct child_place *place)
{
	int fds[2], r;
	pid_t pid;

	r = ipc_pair(fds);
	if (r < 0)
		return log_err(r, "cannot make a channel to the %s", c->name);
	pid = fork_into(place, c->role, exe_fd, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		/* ENOMEM is what fork says of a pid namespace whose first process is dead. */
		if (place->pid_fd >= 0 && (pid == -ENOMEM || pid == -ESRCH))
			return -ESRCH;
		return log_err(pid, "cannot start the %s", c->name);
	}
	c->pid = pid;
	c->is_stopping = false;
	c->is_guest = place->pid_fd >= 0;
	c->start_cnt++;
	ipc_init(&c->ipc, fds[0], IPC_MONITOR, c->role);
	c->pid_fd = pidfd_of(pid);
	r = c->pid_fd < 0 ? -errno : events_make(c, fds[0]);
	if (r < 0) {
		log_err(r, "cannot watch the %s", c->name);
		child_abandon(c);
	}
	return r;
}

void child_stop(struct child *c, unsigned int grace_ms)
{
	const struct timeval grace = { .tv_sec = grace_ms / 1000,
				       .tv_usec = (suseconds_t)(grace_ms % 1000) * 1000 };
	const struct ipc_empty body = { 0 };

	if (!child_is_running(c) || (c->is_stopping && grace_ms))
		return;
	c->is_stopping = true;
	/* Before READY it may not read yet, and has nothing to say farewell to. */
	if (grace_ms == 0 || !c->is_ready || ipc_send(&c->ipc, IPC_STOP, &body, NULL, 0) < 0 ||
	    event_add(c->ev_kill, &grace) < 0)
		(void)pidfd_kill(c->pid_fd, SIGKILL);
}

bool child_has_restarts_left(struct child *c)
{
	struct timespec *slot = &c->deaths[c->death_cnt % CHILD_RESTARTS_MAX];
	struct timespec now;
	bool ok;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	/* The slot holds the death that is CHILD_RESTARTS_MAX deaths ago. */
	ok = c->death_cnt < CHILD_RESTARTS_MAX ||
	     now.tv_sec - slot->tv_sec >= CHILD_RESTART_WINDOW_S;
	*slot = now;
	c->death_cnt++;
	return ok;
}

void child_abandon(struct child *c)
{
	siginfo_t si;

	if (!child_is_running(c))
		return;
	(void)kill(c->pid, SIGKILL);
	while (waitid(P_PID, (id_t)c->pid, &si, WEXITED) < 0 && errno == EINTR)
		;
	child_forget(c);
}
