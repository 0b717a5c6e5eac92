/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - the role that carries the stack: start and end
 *
 * Start: INIT with the plan and the links' descriptors, the stack, the loop's events, then the sandbox,
 * READY, and turns (worker_loop.c) until somebody we cannot do without is gone. From the sandbox on
 * nothing can be opened, and no descriptor can be made but by receiving it from the agent.
 *
 * A broken invariant of the stack traps; the monitor starts another worker, and the agent tells that one
 * the container's ports and listeners.
 */
#include "daemon/worker/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/common/child.h"
#include "daemon/common/log.h"
#include "daemon/common/sandbox.h"
#include "daemon/worker/worker_int.h"

/* Messages handled before the loop looks at other events. */
#define CHANNEL_BUDGET 256u

/** env_random() - ns_env.random: cannot fail */
static void env_random(void *ctx, void *buf, size_t len)
{
	uint8_t *p = buf;

	(void)ctx;
	while (len > 0) {
		size_t want =
			len < 256 ? len : 256; /* never interrupted, never short: getrandom(2) */
		ssize_t n = getrandom(p, want, 0);

		NS_BUG_ON(n < 0 && errno != EINTR);
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
}

/* ---- channels ---- */

static void channel_failed(struct worker *w, const char *who, int r)
{
	if (r != -EPIPE)
		log_err(r, "cannot go on: the channel to the %s is broken", who);
	worker_stop(w, EXIT_FAILURE);
}

static void on_agent_readable(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	int r = ipc_dispatch(&w->agent, worker_agent_handlers, w, CHANNEL_BUDGET);

	(void)fd;
	(void)what;
	if (r < 0)
		channel_failed(w, "agent", r);
}

static void on_agent_writable(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	int r = ipc_flush(&w->agent);

	(void)fd;
	(void)what;
	if (r < 0)
		channel_failed(w, "agent", r);
	else if (!ipc_is_waiting(&w->agent))
		wdgram_channel_writable(w);
}

static void on_monitor_readable(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	int r = ipc_dispatch(&w->monitor, worker_monitor_handlers, w, CHANNEL_BUDGET);

	(void)fd;
	(void)what;
	if (r < 0)
		channel_failed(w, "monitor", r);
}

static void on_monitor_writable(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	int r = ipc_flush(&w->monitor);

	(void)fd;
	(void)what;
	if (r < 0)
		channel_failed(w, "monitor", r);
}

/** want_write() - ipc.want_write: its ctx is the channel's write event */
static void want_write(void *ctx, bool is_wanted)
{
	if (is_wanted)
		event_add(ctx, NULL);
	else
		event_del(ctx);
}

static int channels_init(struct worker *w, int agent_fd)
{
	short read_always = EV_READ | EV_PERSIST, write_always = EV_WRITE | EV_PERSIST;

	ipc_init(&w->agent, agent_fd, IPC_WORKER, IPC_AGENT);
	w->agent_rd = event_new(w->base, agent_fd, read_always, on_agent_readable, w);
	w->agent_wr = event_new(w->base, agent_fd, write_always, on_agent_writable, w);
	w->monitor_rd = event_new(w->base, w->monitor.fd, read_always, on_monitor_readable, w);
	w->monitor_wr = event_new(w->base, w->monitor.fd, write_always, on_monitor_writable, w);
	if (!w->agent_rd || !w->agent_wr || !w->monitor_rd || !w->monitor_wr)
		return log_err(-ENOMEM, "cannot make the worker's events");
	w->agent.want_write = w->monitor.want_write = want_write;
	w->agent.ctx = w->agent_wr;
	w->monitor.ctx = w->monitor_wr;
	if (event_add(w->agent_rd, NULL) < 0 || event_add(w->monitor_rd, NULL) < 0)
		return log_err(-ENOMEM, "cannot watch the worker's channels");
	return 0;
}

/* ---- start and end ---- */

/** raise_nofile() - one descriptor a connection */
static void raise_nofile(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
}

static int worker_init(struct worker *w, struct child_init *init)
{
	int r;

	list_init(&w->socks);
	list_init(&w->ready);
	list_init(&w->untold);
	w->dgram_fd = -1;
	raise_nofile();
	w->env.random = env_random;
	w->base = child_base_new();
	if (!w->base)
		return -ENOMEM;
	w->stack = ns_stack_new(&w->env, NULL);
	if (!w->stack)
		return log_err(-ENOMEM, "cannot make the stack");
	r = worker_conf(w, &init->plan, init->link_fds, init->link_fd_cnt);
	if (r == 0)
		r = worker_loop_init(w);
	if (r == 0)
		r = channels_init(w, init->channel_fd);
	return r;
}

static void worker_done(struct worker *w)
{
	/* connections vanish without a word: this is a stop, not a close */
	list_for_each (it, &w->socks) {
		struct wsock *s = list_entry(it, struct wsock, node);

		s->sock = 0;
		s->pending_cnt = 0;
		s->listener = NULL;
		list_del(&s->pending_node);
	}
	list_for_each_safe (it, &w->socks)
		wsock_free(list_entry(it, struct wsock, node));
	worker_links_done(w);
	plan_done(&w->plan);
	ns_stack_free(w->stack);
	if (w->is_dgram_rd_added)
		event_del(&w->dgram_rd);
	if (w->dgram_fd >= 0)
		close(w->dgram_fd);
	event_del(&w->timer_ev);
	close(w->timer_fd);
	event_free(w->agent_rd);
	event_free(w->agent_wr);
	event_free(w->monitor_rd);
	event_free(w->monitor_wr);
	ipc_done(&w->agent);
	log_set_sink(NULL, NULL);
	ipc_done(&w->monitor);
	event_base_free(w->base);
}

int worker_main(void)
{
	static struct worker w; /* large, and there is one */
	struct child_init init;
	bool has_log_packets;
	struct sandbox_params params = { .netns_fd = -1 };
	struct ipc_ready ready = { .socket_cap = WORKER_SOCKS - 1 };
	int tap_fds[PLAN_LINKS_MAX];

	w.exit_status = EXIT_FAILURE;
	if (child_start(&w.monitor, IPC_WORKER, &init) < 0)
		return EXIT_FAILURE;
	has_log_packets = init.plan.options.has_log_packets;
	if (worker_init(&w, &init) < 0)
		return EXIT_FAILURE;
	for (uint32_t i = 0; i < w.link_cnt; i++) {
		if (w.links[i].kind == &drv_tap)
			tap_fds[params.tap_cnt++] = w.links[i].drv.fd;
	}
	params.tap_fds = tap_fds;
	if (worker_observe(&w, init.pcap_fd, has_log_packets) < 0)
		return EXIT_FAILURE;
	if (init.pcap_fd >= 0)
		close(init.pcap_fd);
	child_init_done(&init);
	if (sandbox_enter(ROLE_WORKER, &params) < 0)
		return EXIT_FAILURE;
	if (ipc_send(&w.monitor, IPC_READY, &ready, NULL, 0) < 0)
		return EXIT_FAILURE;
	worker_loop(&w);
	worker_done(&w);
	return w.exit_status;
}
