/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - the role that holds the stack: start, loop, turn
 *
 * Theory of operation
 *
 * Everything hostile meets here, frames from the wire and octets from the program, and there is nothing here
 * to take: no file system, no capability, no network of its own, and one call to send with. The start
 * is the same for every role: first message, what it needs of memory and descriptors, the sandbox, READY,
 * the loop.
 *
 * The loop is libevent's, one iteration at a time, and a turn after each:
 *
 *   callbacks    read frames of a link into the stack; mark sockets whose pair is ready
 *   turn   1     timers of the stack that are due
 *          2     news of the stack: accepted, connected, readable, ended
 *          3     octets between pairs and stack, on every socket that is marked
 *          4     what all of this made due leaves, in as few calls as possible
 *          5     messages to the agent, in one call
 *          6     when to come back
 *
 * So one acknowledgement covers all that a turn read, and one sendmmsg() has the frames of all
 * connections.
 *
 * Time: the clock is read at each callback and each turn; the stack is told.
 *
 * Syscalls: see seccomp/worker.def
 */
#include "daemon/worker.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "daemon/child.h"
#include "daemon/log.h"
#include "daemon/sandbox.h"
#include "daemon/worker_int.h"
#include "daemon/worker_plan.h"
#include "seccomp/profile.h"

enum {
	RX_BATCHES = 4,       /* batches read of one link before the loop looks at anything else */
	CHANNEL_BUDGET = 256, /* messages likewise */
	DEADLINE_MIN_US = 1000, /* the loop's clock has milliseconds */
};

struct mono worker_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (struct mono){ (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec };
}

void worker_fail(struct worker *w)
{
	w->is_stopping = true;
	w->exit_status = EXIT_FAILURE;
}

static void env_random(void *ctx, void *buf, size_t len)
{
	(void)ctx;
	for (uint8_t *at = buf; len > 0;) {
		ssize_t n = getrandom(at, len, 0);

		/* Up to 256 octets cannot fail once the pool is ready, and it blocks until then. */
		NS_BUG_ON(n < 0 && errno != EINTR);
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
}

/* --- callbacks of the loop ------------------------------------------------------------------- */

static void on_frames(evutil_socket_t fd, short what, void *arg)
{
	struct worker_link *l = arg;
	struct mono now = worker_now();

	(void)fd;
	(void)what;
	for (unsigned i = 0; i < RX_BATCHES; i++) {
		int cnt = l->drv->rx(l->drv, l->worker->stack, l->link_id, now);

		if (cnt < DRV_RX_BATCH)
			return;
	}
}

static void on_link_writable(evutil_socket_t fd, short what, void *arg)
{
	struct worker_link *l = arg;

	(void)fd;
	(void)what;
	ns_link_writable(l->worker->stack, l->link_id);
}

static void on_channel(struct worker *w, struct ipc *c, const ipc_handler_fn *handlers)
{
	int r = ipc_dispatch(c, handlers, w, CHANNEL_BUDGET);

	if (r == 0)
		return;
	if (r == -EPIPE && c == &w->monitor) {
		w->is_stopping = true; /* the monitor is gone, and it holds everything else */
	} else if (r == -EPIPE) {
		log_notice("the agent is gone: the container's sockets end");
		w->is_stopping = true;
	} else {
		log_err(r, "a message from the %s broke the protocol",
			c == &w->monitor ? "monitor" : "agent");
		worker_fail(w);
	}
}

static void on_monitor(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd;
	(void)what;
	on_channel(w, &w->monitor, worker_ctl_monitor());
}

static void on_agent(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd;
	(void)what;
	on_channel(w, &w->agent, worker_ctl_agent());
}

static void on_channel_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)!ipc_flush(arg); /* a peer that is gone is seen by reading */
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd;
	(void)what;
	w->deadline_at = MONO_NEVER; /* the turn does the rest */
}

static void want_monitor_write(void *ctx, bool is_wanted)
{
	struct worker *w = ctx;

	(void)(is_wanted ? event_add(w->monitor_wr, NULL) : event_del(w->monitor_wr));
}

static void want_agent_write(void *ctx, bool is_wanted)
{
	struct worker *w = ctx;

	(void)(is_wanted ? event_add(w->agent_wr, NULL) : event_del(w->agent_wr));
}

/* --- the turn --------------------------------------------------------------------------------- */

/** set_deadline() - come back when the stack's next timer is due; rearmed only when that is sooner or long later */
static void set_deadline(struct worker *w, struct mono now)
{
	struct mono at = ns_stack_deadline(w->stack);

	if (!list_is_empty(&w->dirty))
		at = (struct mono){ 0 };
	if (at.ns == w->deadline_at.ns)
		return;
	/* Early is harmless, a turn finds nothing due: leave the loop's timer alone when it fires before. */
	if (w->deadline_at.ns != UINT64_MAX && mono_le(w->deadline_at, at) &&
	    mono_lt(now, w->deadline_at))
		return;
	w->deadline_at = at;
	if (at.ns == UINT64_MAX) {
		(void)event_del(w->deadline);
		return;
	}

	uint64_t delay_us = mono_since(at, now) / NS_PER_US;

	if (at.ns > now.ns && delay_us < DEADLINE_MIN_US)
		delay_us = DEADLINE_MIN_US;

	struct timeval tv = { .tv_sec = (time_t)(delay_us / 1000000),
			      .tv_usec = (suseconds_t)(delay_us % 1000000) };

	(void)event_add(w->deadline, &tv);
}

/** watch_blocked_links() - a link that said EAGAIN is watched for room */
static void watch_blocked_links(struct worker *w)
{
	for (uint32_t i = 0; i < w->link_cnt; i++) {
		struct worker_link *l = &w->links[i];

		if (ns_stack_link_is_blocked(w->stack, l->link_id))
			(void)event_add(l->wr, NULL);
	}
}

static void turn(struct worker *w)
{
	struct mono now = worker_now();
	struct ns_event ev;

	w->turn_cnt++;
	ns_stack_advance(w->stack, now);
	while (ns_stack_next_event(w->stack, &ev))
		wsock_event(w, &ev);
	wsock_pump_dirty(w);
	ns_stack_output(w->stack, now);
	watch_blocked_links(w);
	if (ipc_uncork(&w->agent) < 0 && !w->is_stopping)
		log_debug("the agent is gone"); /* seen by reading */
	ipc_cork(&w->agent);
	set_deadline(w, now);
}

/* --- start ------------------------------------------------------------------------------------ */

static void set_link_id(void *ctx, uint32_t link_id)
{
	struct worker_link *l = ctx;

	l->link_id = link_id;
}

static int watch(struct worker *w, struct event **ret_ev, int fd, short what, event_callback_fn fn,
		 void *arg)
{
	*ret_ev = event_new(w->base, fd, what, fn, arg);
	if (!*ret_ev)
		return -ENOMEM;
	return what & EV_READ ? event_add(*ret_ev, NULL) : 0;
}

/** start_links() - a driver for each descriptor; the monitor opened and set them up */
static int start_links(struct worker *w, struct child_init *init)
{
	uint32_t carried = 0;

	for (size_t i = 0; i < init->plan.link_cnt && carried < init->link_cnt; i++) {
		const struct plan_link *p = &init->plan.links[i];
		struct worker_link *l = &w->links[carried];

		if (p->driver == PLAN_DRIVER_NONE)
			continue;
		l->worker = w;
		memcpy(l->name, p->name, sizeof(l->name));

		int fd = init->link_fds[carried];

		l->drv = p->driver == PLAN_DRIVER_TAP ? drv_tap_new(fd, p->vnet_hdr_len)
						      : drv_packet_new(fd, p->vnet_hdr_len);
		if (!l->drv)
			return log_err(-ENOMEM, "cannot drive link %s", l->name);
		init->link_fds[carried] = -1;
		w->link_cnt = ++carried;
		if (watch(w, &l->rd, fd, EV_READ | EV_PERSIST, on_frames, l) < 0 ||
		    watch(w, &l->wr, fd, EV_WRITE, on_link_writable, l) < 0)
			return log_err(-ENOMEM, "cannot watch link %s", l->name);
	}
	if (carried != plan_carried_cnt(&init->plan))
		return log_err(-EPROTO, "the monitor sent %u link descriptors for %zu links",
			       carried, plan_carried_cnt(&init->plan));
	return 0;
}

static int start_stack(struct worker *w, const struct plan *plan)
{
	static const struct ns_env env = { .random = env_random };
	static const struct ns_limits limits = { 0 };
	struct worker_plan_link links[PLAN_LINKS_MAX];

	w->stack = ns_stack_new(&env, &limits);
	if (!w->stack)
		return log_err(-ENOMEM, "cannot make the stack");
	for (uint32_t i = 0; i < w->link_cnt; i++)
		links[i] = (struct worker_plan_link){
			.ops = w->links[i].drv->link_ops,
			.drv = w->links[i].drv,
			.set_id = set_link_id,
			.ctx = &w->links[i],
		};
	return worker_plan_apply(plan, w->stack, links);
}

static int start_channels(struct worker *w, struct child_init *init)
{
	int monitor_fd = w->monitor.fd, agent_fd = init->channel_fd;

	ipc_init(&w->agent, agent_fd, IPC_WORKER, IPC_AGENT);
	init->channel_fd = -1;
	w->monitor.ctx = w->agent.ctx = w;
	w->monitor.want_write = want_monitor_write;
	w->agent.want_write = want_agent_write;
	w->deadline = evtimer_new(w->base, on_deadline, w);
	if (!w->deadline ||
	    watch(w, &w->monitor_rd, monitor_fd, EV_READ | EV_PERSIST, on_monitor, w) < 0 ||
	    watch(w, &w->agent_rd, agent_fd, EV_READ | EV_PERSIST, on_agent, w) < 0 ||
	    watch(w, &w->monitor_wr, monitor_fd, EV_WRITE | EV_PERSIST, on_channel_writable,
		  &w->monitor) < 0 ||
	    watch(w, &w->agent_wr, agent_fd, EV_WRITE | EV_PERSIST, on_channel_writable,
		  &w->agent) < 0)
		return log_err(-ENOMEM, "cannot watch the channels");
	return 0;
}

/** lock_in() - the last step: from here on only what seccomp/worker.def allows */
static int lock_in(struct worker *w)
{
	int tap_fds[PROFILE_TAP_MAX];
	struct sandbox_params p = { .netns_fd = -1, .tap_fds = tap_fds };

	for (uint32_t i = 0; i < w->link_cnt; i++) {
		const struct drv *d = w->links[i].drv;

		if (!d->is_tap)
			continue;
		if (p.tap_cnt == PROFILE_TAP_MAX)
			return log_err(-E2BIG, "more than %d TAP links", PROFILE_TAP_MAX);
		tap_fds[p.tap_cnt++] = d->fd;
	}
	return sandbox_enter(ROLE_WORKER, &p);
}

static int start(struct worker *w)
{
	struct child_init init;
	int r = child_start(&w->monitor, IPC_WORKER, &init);

	if (r < 0)
		return r;
	w->base = child_base_new();
	w->socks = calloc(WORKER_SOCKS_MAX, sizeof(struct wsock *));
	if (!w->base || !w->socks)
		r = -ENOMEM;
	if (r == 0)
		r = start_links(w, &init);
	if (r == 0)
		r = start_stack(w, &init.plan);
	if (r == 0)
		r = start_channels(w, &init);
	if (r == 0)
		r = worker_observe(w, init.pcap_fd, init.plan.options.has_log_packets);
	child_init_done(&init);
	return r < 0 ? r : lock_in(w);
}

int worker_main(void)
{
	static struct worker w = { .deadline_at = { UINT64_MAX } };
	struct ipc_ready ready = { .socket_cap = WORKER_SOCKS_MAX };

	list_init(&w.dirty);
	if (start(&w) < 0)
		return EXIT_FAILURE;
	if (ipc_send(&w.monitor, IPC_READY, &ready, NULL, 0) < 0)
		return EXIT_FAILURE;
	ipc_cork(&w.agent);
	while (!w.is_stopping) {
		turn(&w);
		if (w.is_stopping || event_base_loop(w.base, EVLOOP_ONCE) < 0)
			break;
	}
	/* Memory and descriptors end with the process; connections end without a word, as on a crash. */
	(void)!ipc_flush(&w.monitor);
	return w.exit_status;
}
