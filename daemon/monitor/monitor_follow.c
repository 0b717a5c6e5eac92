/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_follow - when the configuration of a taken namespace changes, the stack's does
 *
 * Theory of operation: one netlink socket in the container's namespace hears of links, addresses, routes,
 * rules, neighbours and next hops, another one in the daemon's own of the links that were moved there.
 * What they say is not looked at: after any of it, or when a full socket buffer lost some, everything is
 * read again (take_follow.c) and the worker is given the new plan.
 *
 * Changes come in bursts: a CNI plugin moves a link, names it, gives it addresses. So the look waits until
 * it was quiet for QUIET_MS, but never longer than PATIENCE_MS after the first word. The daemon's own changes
 * are heard, too; the look they cause finds nothing.
 *
 * Time: ev_soon, armed by the first word. GSO limits change without a word (linux net/core/rtnetlink.c
 * do_setlink()) and are looked at by the monitor's tick.
 *
 * Syscalls: #syscalls monitor: recvfrom recvmsg socket bind setsockopt lseek
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/monitor/monitor_int.h"
#include "daemon/netconf/nlraw.h"

#define QUIET_MS    60
#define PATIENCE_MS 300

/** struct monitor_follow - the sockets and the clock */
struct monitor_follow {
	struct nlraw ctr, keep;
	struct event *ev_ctr, *ev_keep, *ev_soon;
	bool has_keep;
	uint64_t first_ms; /* when the first word of this burst came; 0: none */
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void look_soon(struct monitor *m)
{
	struct monitor_follow *f = m->follow;
	uint64_t now = now_ms(), wait_ms = QUIET_MS;
	struct timeval tv = { 0 };

	if (!f->first_ms)
		f->first_ms = now;
	if (now + wait_ms > f->first_ms + PATIENCE_MS)
		wait_ms = now < f->first_ms + PATIENCE_MS ? f->first_ms + PATIENCE_MS - now : 0;
	tv.tv_usec = (suseconds_t)wait_ms * 1000;
	(void)event_add(f->ev_soon, &tv);
}

static void on_word(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *m = arg;
	struct monitor_follow *f = m->follow;
	bool saw;

	(void)what;
	saw = scrape_watch_saw_change(fd == nl_socket_get_fd(f->ctr.sk) ? &f->ctr : &f->keep);
	if (saw && !m->is_stopping)
		look_soon(m);
}

/* The worker that runs is told; one that starts later gets the new plan with INIT. */
static int plan_send(struct monitor *m)
{
	struct ipc_plan body = { 0 };
	int fds[1 + PLAN_LINK_FDS_MAX];
	int r = monitor_plan_seal(m);

	if (r < 0 || !child_is_running(&m->worker) || m->worker.is_stopping)
		return r;
	fds[0] = monitor_plan_open(m);
	if (fds[0] < 0)
		return fds[0];
	body.plan_len = m->plan_len;
	body.link_fd_cnt = (uint32_t)takeover_new_fds(&m->take, fds + 1);
	r = ipc_send(&m->worker.ipc, IPC_PLAN, &body, fds, 1 + body.link_fd_cnt);
	return r < 0 ? log_err(r, "cannot tell the worker of the new configuration") : 0;
}

static int watch_add(struct monitor *m, struct nlraw *nl, int netns_fd, struct event **ret_ev)
{
	int r = scrape_watch_open(nl, netns_fd, true);

	if (r == 0 && nl_socket_set_nonblocking(nl->sk) < 0)
		r = -EIO;
	if (r == 0) {
		*ret_ev = event_new(m->base, nl_socket_get_fd(nl->sk), EV_READ | EV_PERSIST,
				    on_word, m);
		r = *ret_ev && event_add(*ret_ev, NULL) == 0 ? 0 : -ENOMEM;
	}
	return r < 0 ? log_err(r, "cannot watch the container's network") : 0;
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *m = arg;
	struct monitor_follow *f = m->follow;
	bool is_new = false;
	int r;

	(void)fd;
	(void)what;
	f->first_ms = 0;
	if (m->is_stopping || !m->take.is_taken)
		return;
	r = takeover_follow(&m->take, &is_new);
	if (r < 0)
		log_warnx("the container's network changed, but the stack goes on as before");
	if (r > 0)
		look_soon(m);
	if (r != 0)
		return;
	if (m->take.keep_fd >= 0 && !f->has_keep) /* made for a link that came */
		f->has_keep = watch_add(m, &f->keep, m->take.keep_fd, &f->ev_keep) == 0;
	if (is_new)
		(void)plan_send(m);
}

int monitor_follow_start(struct monitor *m)
{
	struct monitor_follow *f = calloc(1, sizeof(*f));
	bool is_new;
	int r;

	if (!f)
		return log_err(-ENOMEM, "cannot watch the container's network");
	m->follow = f;
	f->ev_soon = evtimer_new(m->base, on_soon, m);
	if (!f->ev_soon)
		return log_err(-ENOMEM, "cannot watch the container's network");
	r = watch_add(m, &f->ctr, m->take.ctr_fd, &f->ev_ctr);
	f->has_keep = r == 0 && m->take.keep_fd >= 0;
	if (f->has_keep)
		r = watch_add(m, &f->keep, m->take.keep_fd, &f->ev_keep);
	if (r == 0)
		r = takeover_follow(&m->take, &is_new);
	return r;
}

void monitor_follow_tick(struct monitor *m)
{
	if (m->follow && takeover_gso_differs(&m->take))
		look_soon(m);
}

void monitor_follow_done(struct monitor *m)
{
	struct monitor_follow *f = m->follow;

	if (!f)
		return;
	if (f->ev_ctr)
		event_free(f->ev_ctr);
	if (f->ev_keep)
		event_free(f->ev_keep);
	if (f->ev_soon)
		event_free(f->ev_soon);
	nlraw_close(&f->ctr);
	nlraw_close(&f->keep);
	free(f);
	m->follow = NULL;
}
