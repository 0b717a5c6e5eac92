/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_child - which children run, what they are given, what their deaths mean
 *
 * Theory of operation: monitor_converge() compares what should run with what does, and is called
 * after every change. The worker should run while a namespace is taken. The agent should run while a
 * container lives, and needs the other end of the worker's channel; until there is an agent the
 * monitor keeps that end.
 *
 *   worker dies      a new one with fresh links and a fresh channel, whose other end goes to the
 *                    agent (WORKER_CHANNEL); established connections are lost, listeners are not
 *   agent dies       the sockets' table is lost: the worker is replaced, too, and the new agent is
 *                    given the notify descriptors the monitor kept; the container's connections end
 *   container ends   the kernel ends the agent with the pid namespace; that is no fault. Whether the
 *                    container is alive is looked at SETTLE_MS later: its first process is the last
 *                    of its namespace to go
 *
 * Limits: CHILD_RESTARTS_MAX deaths in CHILD_RESTART_WINDOW_S seconds, then everything is given back.
 *
 * Syscalls: #syscalls monitor: memfd_create write fcntl dup poll
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/common/plan.h"
#include "daemon/monitor/monitor_int.h"
#include "daemon/monitor/notify.h"

#define SETTLE_MS 100

/* ---- messages ---- */

static int on_ready(void *ctx, struct ipc_msg *msg)
{
	struct child *c = ctx;
	struct monitor *m = c->ctx;

	(void)msg;
	c->is_ready = true;
	log_debug("the %s is ready", c->name);
	if (!m->worker.is_ready || (m->ctr_pid_fd >= 0 && !m->agent.is_ready))
		return 0;
	if (!m->was_ready)
		notify_ready("The container's network is carried");
	else
		notify_status("The container's network is carried");
	if (c == &m->agent)
		log_notice("a container uses the network of %s", m->cfg->id);
	else
		log_notice("the stack of %s is up", m->cfg->id);
	m->was_ready = true;
	return 0;
}

static int on_log(void *ctx, struct ipc_msg *msg)
{
	const struct ipc_log *body = IPC_BODY(msg, ipc_log);
	const struct child *c = ctx;

	log_relay(c->name, (int)body->level, body->text, body->len);
	return 0;
}

static int on_worker_bad(void *ctx, struct ipc_msg *msg)
{
	struct child *agent = ctx;
	struct monitor *m = agent->ctx;

	log_warn(IPC_BODY(msg, ipc_worker_bad)->err,
		 "the worker broke the protocol and is replaced");
	child_stop(&m->worker, 0);
	m->worker.is_stopping = false; /* a death like any other: it counts */
	return 0;
}

static const ipc_handler_fn handlers[IPC_TYPE_COUNT] = {
	[IPC_READY] = on_ready,
	[IPC_LOG] = on_log,
	[IPC_WORKER_BAD] = on_worker_bad,
	[IPC_STATS] = monitor_ctl_stats,
};

/* ---- what they are given ---- */

static int write_whole(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int monitor_plan_seal(struct monitor *m)
{
	char *text = NULL;
	size_t len = 0;
	int fd = -1, r;

	r = plan_to_string(&m->take.rec.snap.plan, &text, &len);
	if (r == 0) {
		fd = memfd_create("sluice-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		r = fd < 0 ? -errno : write_whole(fd, text, len);
	}
	free(text);
	if (r == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		r = -errno;
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		return log_err(r, "cannot pass the plan to the other roles");
	}
	if (m->plan_fd >= 0)
		close(m->plan_fd);
	m->plan_fd = fd;
	m->plan_len = (uint32_t)len;
	return 0;
}

/* Not a duplicate: those share their offset, and more than one child reads. */
int monitor_plan_open(struct monitor *m)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", m->plan_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? log_err(-errno, "cannot pass the plan on") : fd;
}

static int dup_cloexec(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* INIT. Consumes @fds from the second on; the first is set here. */
static int init_send(struct monitor *m, struct child *c, uint32_t flags, uint32_t link_fd_cnt,
		     int *fds, uint32_t fd_cnt)
{
	const struct ipc_init body = {
		.plan_len = m->plan_len,
		.link_fd_cnt = link_fd_cnt,
		.flags = flags,
		.log_level = (uint32_t)m->cfg->log_level,
	};
	int r;

	fds[0] = monitor_plan_open(m);
	for (uint32_t i = 0; i < fd_cnt; i++) {
		if (fds[i] >= 0)
			continue;
		for (uint32_t k = 0; k < fd_cnt; k++)
			if (fds[k] >= 0)
				close(fds[k]);
		return log_err(-EMFILE, "cannot duplicate descriptors for the %s", c->name);
	}
	r = ipc_send(&c->ipc, IPC_INIT, &body, fds, fd_cnt);
	return r < 0 ? log_err(r, "cannot send the %s its first message", c->name) : 0;
}

static int worker_start(struct monitor *m)
{
	const struct child_place place = { .pid_fd = -1, .is_new = true };
	int fds[3 + PLAN_LINK_FDS_MAX], ends[2], pcap_fd = -1, r;
	size_t cnt = 0;

	r = ipc_pair(ends);
	if (r < 0)
		return log_err(r, "cannot make a channel between worker and agent");
	r = takeover_link_fds(&m->take, fds + 2, &cnt);
	if (r == 0) {
		fds[1] = ends[0];
		r = child_start_process(&m->worker, m->exe_fd, &place);
		if (r < 0)
			while (cnt)
				close(fds[2 + --cnt]);
	}
	if (r < 0) {
		close(ends[0]);
		close(ends[1]);
		return r;
	}
	if (m->agent_channel_fd >= 0)
		close(m->agent_channel_fd);
	m->agent_channel_fd = ends[1];
	m->worker_generation++;
	(void)monitor_pcap_ring(m, &pcap_fd); /* a capture that fails costs the capture alone */
	fds[2 + cnt] = pcap_fd;
	r = init_send(m, &m->worker, pcap_fd >= 0 ? IPC_INIT_PCAP : 0, (uint32_t)cnt, fds,
		      2 + (uint32_t)cnt + (pcap_fd >= 0));
	if (r == 0)
		monitor_knobs_tell(m);
	return r;
}

static int notify_send(struct monitor *m, const struct notify_fd *n)
{
	struct ipc_notify_fd body = { 0 };
	int fd = dup_cloexec(n->fd), r;

	if (fd < 0)
		return log_err(-errno, "cannot pass the notify descriptor of container %s on",
			       n->id);
	(void)snprintf(body.container_id, sizeof(body.container_id), "%s", n->id);
	r = ipc_send(&m->agent.ipc, IPC_NOTIFY_FD, &body, &fd, 1);
	return r < 0 ? log_err(r, "cannot pass the notify descriptor of container %s on", n->id)
		     : 0;
}

static int agent_start(struct monitor *m)
{
	const struct child_place place = { .pid_fd = m->ctr_pid_fd };
	int fds[4], r;

	r = child_start_process(&m->agent, m->exe_fd, &place);
	if (r < 0)
		return r;
	fds[1] = m->agent_channel_fd;
	m->agent_channel_fd = -1;
	fds[2] = dup_cloexec(m->take.ctr_fd);
	fds[3] = dup_cloexec(m->ctr_pid_fd);
	r = init_send(m, &m->agent, IPC_INIT_NETNS | IPC_INIT_PIDFD, 0, fds, 4);
	if (r == 0)
		monitor_knobs_tell(m);
	for (size_t i = 0; r == 0 && i < m->notify_cnt; i++)
		r = notify_send(m, &m->notifies[i]);
	return r;
}

/* A new worker for an agent that lives. */
static int agent_rewire(struct monitor *m)
{
	const struct ipc_worker_channel body = { .generation = m->worker_generation };
	int fd = m->agent_channel_fd, r;

	m->agent_channel_fd = -1;
	r = ipc_send(&m->agent.ipc, IPC_WORKER_CHANNEL, &body, &fd, 1);
	return r < 0 ? log_err(r, "cannot tell the agent of its new worker") : 0;
}

void monitor_converge(struct monitor *m)
{
	int r = 0;

	if (m->is_stopping || !m->take.is_taken)
		return;
	if (!child_is_running(&m->worker))
		r = worker_start(m);
	if (r == 0 && m->agent_channel_fd >= 0) {
		if (child_is_running(&m->agent) && !m->agent.is_stopping)
			r = agent_rewire(m);
		else if (!child_is_running(&m->agent) && monitor_container_is_alive(m))
			r = agent_start(m);
	}
	if (r == -ESRCH) /* the container ended between our look and the start: its event follows */
		return;
	if (r < 0)
		monitor_stop(m, EXIT_FAILURE);
}

/* ---- deaths ---- */

static void on_settled(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *m = arg;

	(void)fd;
	(void)what;
	if (m->is_stopping)
		return;
	if (!child_is_running(&m->agent) && monitor_container_is_alive(m)) {
		log_warnx("the agent is gone while the container lives; its connections end");
		if (!child_has_restarts_left(&m->agent)) {
			log_errx("the agent died too often; the network is given back");
			monitor_stop(m, EXIT_FAILURE);
			return;
		}
	}
	monitor_converge(m);
}

static void settle(struct monitor *m)
{
	const struct timeval wait = { .tv_usec = SETTLE_MS * 1000L };

	if (!m->ev_settle)
		m->ev_settle = evtimer_new(m->base, on_settled, m);
	if (!m->ev_settle || event_add(m->ev_settle, &wait) < 0)
		monitor_stop(m, EXIT_FAILURE);
}

static bool has_ended(const struct child *c)
{
	struct pollfd p = { .fd = c->pid_fd, .events = POLLIN };

	return !child_is_running(c) || poll(&p, 1, 0) != 0;
}

static void on_worker_exit(struct child *c, void *ctx)
{
	struct monitor *m = ctx;

	monitor_ctl_child_gone(m, c->role);
	monitor_pcap_drain(m);
	if (m->is_stopping) {
		monitor_children_gone(m);
		return;
	}
	/* A worker follows its agent into the grave by itself; that is no fault of its own. */
	if (m->agent.start_cnt && has_ended(&m->agent)) {
		settle(m);
		return;
	}
	if (!child_has_restarts_left(c)) {
		log_errx("the worker died %d times in %d s; the network is given back",
			 CHILD_RESTARTS_MAX + 1, CHILD_RESTART_WINDOW_S);
		monitor_stop(m, EXIT_FAILURE);
		return;
	}
	monitor_converge(m);
}

static void on_agent_exit(struct child *c, void *ctx)
{
	struct monitor *m = ctx;

	monitor_ctl_child_gone(m, c->role);
	if (m->is_stopping) {
		monitor_children_gone(m);
		return;
	}
	child_stop(&m->worker, 0); /* its sockets' other halves are lost, and so is its channel */
	settle(m);
}

/* The monitor dies of a malformed message: whoever sent it is not what we started. */
static void on_broken(struct child *c, void *ctx)
{
	log_errx("the %s sent a malformed message; the network is given back", c->name);
	child_stop(c, 0);
	monitor_stop(ctx, EXIT_FAILURE);
}

void monitor_children_init(struct monitor *m)
{
	child_init_idle(&m->worker, IPC_WORKER, m->base);
	child_init_idle(&m->agent, IPC_AGENT, m->base);
	m->worker.on_exit = on_worker_exit;
	m->agent.on_exit = on_agent_exit;
	m->worker.on_broken = m->agent.on_broken = on_broken;
	m->worker.handlers = m->agent.handlers = handlers;
	m->worker.ctx = m->agent.ctx = m;
}

/* ---- notify descriptors ---- */

int monitor_notify_add(struct monitor *m, int fd, const char *id)
{
	struct notify_fd *n;

	if (m->notify_cnt >= MONITOR_NOTIFY_MAX)
		(void)monitor_notify_prune(m);
	if (m->notify_cnt >= MONITOR_NOTIFY_MAX) {
		close(fd);
		log_errx("container %s has %u sessions already; this one gets no network", id,
			 MONITOR_NOTIFY_MAX);
		return -EMFILE;
	}
	n = &m->notifies[m->notify_cnt++];
	n->fd = fd;
	(void)snprintf(n->id, sizeof(n->id), "%s", id);
	if (child_is_running(&m->agent) && !m->agent.is_stopping)
		return notify_send(m, n);
	return 0;
}

size_t monitor_notify_prune(struct monitor *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->notify_cnt; i++) {
		struct pollfd p = { .fd = m->notifies[i].fd };

		if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL)))
			close(m->notifies[i].fd);
		else
			m->notifies[kept++] = m->notifies[i];
	}
	m->notify_cnt = kept;
	return kept;
}
