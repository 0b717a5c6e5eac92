/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor - the role with rights over the host's network: takes, starts, watches, gives back
 *
 * Theory of operation: the monitor never looks at a packet or into a container's memory. What comes
 * to it from outside is the configuration, netlink, the runtime's JSON, the operator's words, and
 * the children's messages; each has one place where it is checked.
 *
 * When the namespace is taken depends on what names it. --netns and --pid name it at once: it is
 * taken before the loop, and systemd is told READY when the stack is up. With --seccomp-listener
 * alone it is that of the first container a runtime hands over: READY means that the socket is there,
 * and the container's first socket call waits until its stack is up.
 *
 * The worker runs from the moment of taking. The agent must be in the container's pid namespace, so it
 * starts when a process of the container is known. Both are restarted when they die (monitor_child.c).
 *
 * The end: SIGTERM, a container that is gone, or a child that cannot be kept alive. The children stop,
 * then the namespace is given back, then the loop ends. With --netns the namespace outlives its
 * containers, and so does the daemon: it waits for the next one until the path is gone.
 *
 * Invariants: whatever way the loop is left, takeover_restore() was tried. A monitor that is killed
 * leaves the journal, and its successor of the same id begins by giving back.
 *
 * Time: ev_tick looks every TICK_MS whether container and namespace are still there, and at what changes
 * without a word: sysctls and GSO limits.
 *
 * Syscalls: #syscalls monitor: epoll_wait epoll_ctl rt_sigaction stat poll pidfd_open
 */
#include "daemon/monitor/monitor.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/common/sandbox.h"
#include "daemon/monitor/monitor_int.h"
#include "daemon/monitor/notify.h"
#include "daemon/netconf/netns.h"

#define STOP_GRACE_MS 1500
#define TICK_MS       800 /* what it finds shall be in force within a second */

/* ---- the container ---- */

bool monitor_container_is_alive(const struct monitor *m)
{
	struct pollfd p = { .fd = m->ctr_pid_fd, .events = POLLIN };

	return m->ctr_pid_fd >= 0 && poll(&p, 1, 0) == 0;
}

static void container_forget(struct monitor *m)
{
	if (m->ev_ctr)
		event_free(m->ev_ctr);
	m->ev_ctr = NULL;
	if (m->ctr_pid_fd >= 0)
		close(m->ctr_pid_fd);
	m->ctr_pid_fd = -1;
	m->ctr_pid = 0;
	m->ctr_pidns = 0;
}

void monitor_container_ended(struct monitor *m)
{
	container_forget(m);
	(void)monitor_notify_prune(m);
	if (m->is_stopping)
		return;
	child_stop(&m->agent,
		   STOP_GRACE_MS); /* the kernel ended it with its pid namespace, mostly */
	if (m->cfg->netns) {
		log_info("the container ended; waiting for the next one in %s", m->cfg->netns);
		notify_status("Waiting for a container");
		return;
	}
	log_notice("the container ended");
	monitor_stop(m, EXIT_SUCCESS);
}

static void on_container_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	monitor_container_ended(arg);
}

static uint64_t pidns_of(pid_t pid)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* From now on @pid is the container's first process, in whose pid namespace the agent lives. */
static int container_set(struct monitor *m, pid_t pid)
{
	int pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pid_fd < 0)
		return log_err(-errno, "cannot watch process %d of the container", (int)pid);
	m->ctr_pid = pid;
	m->ctr_pid_fd = pid_fd;
	m->ctr_pidns = pidns_of(pid);
	m->ev_ctr = event_new(m->base, pid_fd, EV_READ, on_container_event, m);
	if (!m->ev_ctr || event_add(m->ev_ctr, NULL) < 0) {
		container_forget(m);
		return log_err(-ENOMEM, "cannot watch process %d of the container", (int)pid);
	}
	return 0;
}

/* ---- taking ---- */

/* Consumes @ctr_fd. */
static int monitor_take(struct monitor *m, int ctr_fd, pid_t pid)
{
	int r;

	m->take.opt.pid = pid;
	r = takeover_take(&m->take, ctr_fd);
	if (r == 0)
		r = monitor_plan_seal(m);
	if (r == 0)
		r = monitor_follow_start(m);
	if (r == 0)
		r = monitor_knobs_take(m);
	if (r == 0)
		log_notice("took the network of %s: %zu of %zu links are carried", m->cfg->id,
			   plan_carried_cnt(&m->take.rec.snap.plan),
			   m->take.rec.snap.plan.link_cnt);
	return r;
}

/* Whether a process is in the namespace that was taken. Consumes @ctr_fd. */
static int check_same_netns(const struct monitor *m, int ctr_fd, const char *id)
{
	struct netns_id is;
	int r = netns_identify(ctr_fd, &is);

	close(ctr_fd);
	if (r < 0)
		return log_err(r, "cannot look at the network namespace of container %s", id);
	if (!netns_id_eq(&is, &m->take.rec.snap.id)) {
		log_errx("container %s is in another network namespace than sandbox %s; give it a "
			 "listener of its own",
			 id, m->cfg->id);
		return -EXDEV;
	}
	return 0;
}

/* The runtime is trusted, but a mix-up there shall not reach the agent, whose filter is narrow. */
static bool is_notify_fd(int fd)
{
	static const char want[] = "anon_inode:seccomp notify";
	char path[64], target[sizeof(want)];
	ssize_t len;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, target, sizeof(target));
	return len == (ssize_t)sizeof(want) - 1 && memcmp(target, want, sizeof(want) - 1) == 0;
}

/*
 * crun exec (1.8.1) says pid 0 in its session's state. The session joins the namespaces of the
 * container of that name, so it is as good as one that is here already.
 */
static int session_admit(const struct monitor *m, const struct listener_state *state)
{
	for (size_t i = 0; i < m->notify_cnt; i++)
		if (strcmp(m->notifies[i].id, state->id) == 0 && monitor_container_is_alive(m))
			return 0;
	log_errx("a session of container %s names no process, and that container is not here",
		 state->id);
	return -ESRCH;
}

static int container_admit(struct monitor *m, const struct listener_state *state)
{
	int ctr_fd, r;

	if (state->pid == 0)
		return session_admit(m, state);
	ctr_fd = netns_open_pid(state->pid);
	if (ctr_fd < 0)
		return log_err(ctr_fd,
			       "cannot open the network namespace of process %d, container %s",
			       (int)state->pid, state->id);
	r = m->take.is_taken ? check_same_netns(m, ctr_fd, state->id)
			     : monitor_take(m, ctr_fd, state->pid);
	if (r < 0)
		return r;
	if (!monitor_container_is_alive(m)) {
		container_forget(m);
		r = container_set(m, state->pid);
	} else if (m->ctr_pidns != pidns_of(state->pid)) {
		log_errx(
			"container %s shares the network namespace but not the pid namespace of the "
			"first; that does not work yet",
			state->id);
		r = -EXDEV;
	}
	return r;
}

static void on_state(void *ctx, const struct listener_state *state)
{
	struct monitor *m = ctx;
	int r;

	if (m->is_stopping || !is_notify_fd(state->notify_fd)) {
		log_errx("what came for container %s is no seccomp notify descriptor, or too late",
			 state->id);
		close(state->notify_fd);
		return;
	}
	r = container_admit(m, state);
	if (r < 0) {
		/* Without a holder every trapped call fails with ENOSYS: the container sees no network. */
		close(state->notify_fd);
		if (!m->take.is_taken)
			monitor_stop(m, EXIT_FAILURE);
		return;
	}
	monitor_knobs_bundle(m, state->bundle);
	if (state->pid)
		log_info("container %s, process %d, was handed over", state->id, (int)state->pid);
	else
		log_info("a session of container %s was handed over", state->id);
	if (monitor_notify_add(m, state->notify_fd, state->id) == 0)
		monitor_converge(m);
}

/* ---- looking after the namespace ---- */

/* With --netns: someone removed the path, or mounted another namespace there. */
static bool netns_path_is_gone(const struct monitor *m)
{
	struct stat st;

	return stat(m->cfg->netns, &st) < 0 || st.st_ino != m->take.rec.snap.id.ino ||
	       st.st_dev != m->take.rec.snap.id.dev;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *m = arg;
	size_t before = m->notify_cnt;

	(void)fd;
	(void)what;
	if (m->is_stopping)
		return;
	if (monitor_notify_prune(m) == 0 && before != 0 && m->cfg->pid == 0 &&
	    !monitor_container_is_alive(m))
		monitor_container_ended(m);
	if (!m->is_stopping) {
		monitor_knobs_tick(m);
		monitor_follow_tick(m);
	}
	if (!m->is_stopping && m->cfg->netns && m->take.is_taken && netns_path_is_gone(m)) {
		log_notice("%s is gone", m->cfg->netns);
		monitor_stop(m, EXIT_SUCCESS);
	}
}

/* ---- the end ---- */

void monitor_children_gone(struct monitor *m)
{
	if (child_is_running(&m->worker) || child_is_running(&m->agent))
		return;
	(void)event_base_loopbreak(m->base);
}

void monitor_stop(struct monitor *m, int status)
{
	unsigned int grace_ms = m->is_stopping ? 0 : STOP_GRACE_MS; /* asked twice: at once */

	if (m->exit_status == EXIT_SUCCESS)
		m->exit_status = status;
	if (!m->is_stopping)
		notify_stopping();
	m->is_stopping = true;
	child_stop(&m->agent, grace_ms);
	child_stop(&m->worker, grace_ms);
	monitor_children_gone(m);
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	(void)what;
	log_notice("stopping on signal %d (%s)", (int)sig, strsignal((int)sig));
	monitor_stop(arg, EXIT_SUCCESS);
}

/* ---- start ---- */

/* Signals that come before the loop wait for it: no step of taking is cut in two by SIGTERM. */
static int signals_catch(struct monitor *m)
{
	static const int sigs[] = { SIGTERM, SIGINT, SIGHUP };

	(void)signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < 3; i++) {
		m->ev_signals[i] = evsignal_new(m->base, sigs[i], on_signal, m);
		if (!m->ev_signals[i] || event_add(m->ev_signals[i], NULL) < 0)
			return log_err(-ENOMEM, "cannot wait for signals");
	}
	return 0;
}

static struct take_options take_options_of(const struct sluice_config *cfg)
{
	return (struct take_options){
		.id = cfg->id,
		.netns_path = cfg->netns,
		.pid = (pid_t)cfg->pid,
		.tap = cfg->tap,
		.fail_at = cfg->fail_at,
		.is_strip = cfg->take == CONFIG_TAKE_STRIP,
		.has_gso = cfg->gso,
		.has_software_gso = cfg->software_gso,
		.has_log_packets = cfg->log_packets,
		.has_pcap = cfg->pcap != NULL,
		.is_network_none = cfg->network == CONFIG_NETWORK_NONE,
	};
}

/* What a killed predecessor of the same id took is given back before anything else. */
static int predecessor_restore(struct journal *j, const struct take_options *opt)
{
	struct takeover t;
	int r;

	if (!journal_exists(j))
		return 0;
	takeover_init(&t, j, opt);
	r = takeover_load(&t);
	if (r == 0) {
		log_notice("giving back what an earlier sluiced took");
		r = takeover_restore(&t);
	}
	takeover_done(&t);
	return r;
}

static int take_at_start(struct monitor *m)
{
	const struct sluice_config *cfg = m->cfg;
	int fd, r;

	if (!cfg->netns && !cfg->pid)
		return 0;
	fd = cfg->netns ? netns_open_path(cfg->netns) : netns_open_pid((pid_t)cfg->pid);
	if (fd < 0 && cfg->netns)
		return log_err(fd, "cannot open %s as a network namespace", cfg->netns);
	if (fd < 0)
		return log_err(fd, "cannot open the network namespace of process %u", cfg->pid);
	r = monitor_take(m, fd, (pid_t)cfg->pid);
	if (r == 0 && cfg->pid)
		r = container_set(m, (pid_t)cfg->pid);
	return r;
}

static int sockets_open(struct monitor *m)
{
	char path[JOURNAL_PATH_MAX];
	int r;

	journal_path(&m->journal, "ctl.sock", path, sizeof(path));
	r = ctl_server_new(m->base, path, monitor_ctl_request, m, &m->ctl);
	if (r == 0 && m->cfg->seccomp_listener)
		r = listener_new(m->base, m->cfg->seccomp_listener, on_state, m, &m->listener);
	return r;
}

static int timers_start(struct monitor *m)
{
	const struct timeval tick = { .tv_usec = TICK_MS * 1000L };

	m->ev_tick = event_new(m->base, -1, EV_PERSIST, on_tick, m);
	if (!m->ev_tick || event_add(m->ev_tick, &tick) < 0)
		return log_err(-ENOMEM, "cannot make a timer");
	return 0;
}

static int monitor_start(struct monitor *m)
{
	int r;

	m->exe_fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	if (m->exe_fd < 0)
		return log_err(-errno, "cannot open this program to start its other roles");
	notify_init();
	r = signals_catch(m);
	if (r == 0)
		r = predecessor_restore(&m->journal, &m->take.opt);
	if (r == 0)
		r = monitor_pcap_open(m);
	if (r == 0)
		r = sockets_open(m);
	if (r == 0)
		r = take_at_start(m);
	if (r == 0)
		r = timers_start(m);
	if (r == 0)
		r = sandbox_enter(ROLE_MONITOR, NULL);
	return r;
}

static void monitor_run(struct monitor *m)
{
	if (m->take.is_taken) {
		monitor_converge(m);
	} else {
		m->was_ready = true;
		notify_ready("Waiting for a container");
		log_notice("%s waits for a container on %s", m->cfg->id, m->cfg->seccomp_listener);
	}
	/* Stopped before the loop began: nothing runs any more that an event could come from. */
	if (!m->is_stopping || child_is_running(&m->worker) || child_is_running(&m->agent))
		(void)event_base_dispatch(m->base);
}

static void monitor_done(struct monitor *m)
{
	child_abandon(&m->agent);
	child_abandon(&m->worker);
	monitor_follow_done(m);
	monitor_knobs_done(m);
	if (m->take.is_taken && takeover_restore(&m->take) < 0)
		m->exit_status = EXIT_FAILURE;
	monitor_pcap_close(m);
	listener_free(m->listener);
	ctl_server_free(m->ctl);
	for (size_t i = 0; i < m->notify_cnt; i++)
		close(m->notifies[i].fd);
	container_forget(m);
	takeover_done(&m->take);
	journal_close(&m->journal);
	for (size_t i = 0; i < 3; i++)
		if (m->ev_signals[i])
			event_free(m->ev_signals[i]);
	if (m->ev_tick)
		event_free(m->ev_tick);
	if (m->ev_settle)
		event_free(m->ev_settle);
	if (m->plan_fd >= 0)
		close(m->plan_fd);
	if (m->agent_channel_fd >= 0)
		close(m->agent_channel_fd);
	if (m->exe_fd >= 0)
		close(m->exe_fd);
	event_base_free(m->base);
}

int monitor_main(const struct sluice_config *cfg)
{
	const struct take_options opt = take_options_of(cfg);
	struct monitor *m = calloc(1, sizeof(*m));
	int status;

	if (!m)
		return EXIT_FAILURE;
	m->cfg = cfg;
	m->exe_fd = m->plan_fd = m->ctr_pid_fd = m->agent_channel_fd = -1;
	if (journal_open(&m->journal, cfg->state_dir, cfg->id) < 0) {
		free(m);
		return EXIT_FAILURE;
	}
	takeover_init(&m->take, &m->journal, &opt);
	m->base = event_base_new();
	if (!m->base) {
		log_errx("cannot make an event loop");
		takeover_done(&m->take);
		journal_close(&m->journal);
		free(m);
		return EXIT_FAILURE;
	}
	monitor_children_init(m);
	if (monitor_start(m) < 0)
		m->exit_status = EXIT_FAILURE;
	else
		monitor_run(m);
	monitor_done(m);
	status = m->exit_status;
	free(m);
	return status;
}

int monitor_restore(const struct sluice_config *cfg)
{
	const struct take_options opt = take_options_of(cfg);
	struct journal j;
	int r;

	if (journal_open(&j, cfg->state_dir, cfg->id) < 0)
		return EXIT_FAILURE;
	if (!journal_exists(&j))
		log_notice("nothing is to be given back for %s", cfg->id);
	r = predecessor_restore(&j, &opt);
	journal_close(&j);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
