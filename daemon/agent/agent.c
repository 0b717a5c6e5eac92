/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.c - the role that answers the container's trapped socket calls: start, loop, pairs, channels
 *
 * Theory of operation
 *
 * Three things wake the agent: a notify descriptor (agent_notify.c takes the call, agent_calls.c
 * decides), the worker (agent_events.c), and a program that closed a socket of which the agent
 * still has the only other end. Each is answered at once; whatever cannot be answered yet is a held
 * call, of which the container has as many as it has threads inside such a call.
 *
 *        program                      agent                           worker
 *   socket() ..... trap ......> pair, asock IDLE
 *   connect() .... trap ......> CONNECT --------------------------> SYN
 *                               stuffing into the pair  <--------- CONNECT_R, CONNECTED
 *                               stuffing out, ATTACH + fd -------> pumps pair <-> stack
 *   read(), write(), poll() ........ the pair, nobody traps ........
 *
 * Pairs are made ahead, in the container's network namespace (ioctl() on the program's end acts on
 * the namespace the pair was made in), when the loop has nothing else to do.
 *
 * What closes wins over what opens: the program's hang-ups have the higher priority, so that a port
 * is free again when the same program binds it anew in its next call.
 *
 * Ownership
 *
 * The agent keeps its descriptor of a pair's end also while the worker has one: so it can show the
 * program a reset after the worker died. The watch is the worker's meanwhile (CLOSED).
 *
 * Limits
 *
 * Sockets: what RLIMIT_NOFILE leaves, at most ASOCK_CAP_MAX; more is -ENFILE for the program. Held
 * calls: AGENT_HELD_MAX, more is -ENOBUFS. Stuffed sockets: AGENT_STUFFED_MAX; more look writable
 * while they connect.
 *
 * Syscalls: see seccomp/agent.def
 */
#include "daemon/agent/agent.h"

#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/agent/agent_int.h"
#include "daemon/common/child.h"
#include "daemon/common/log.h"
#include "daemon/common/sandbox.h"
#include "seccomp/uapi.h"

/* Messages handled before the loop looks at other events. */
#define CHANNEL_BUDGET 64u
/* Pairs made in one go, and how few there may be before some are made. */
#define REFILL_STEP 16u
#define REFILL_LOW  32u
/* Descriptors that are neither a socket's nor a pair's: channels, loop, a call's. */
#define FDS_SPARE 64u

enum priority {
	PRIORITY_CLOSED,
	PRIORITY_NORMAL,
	PRIORITY_IDLE,
	PRIORITY_COUNT,
};

struct mono agent_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (struct mono){ (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec };
}

/* ---- pairs ---- */

void pair_widen(int fd, int32_t notsent_lowat)
{
	int sndbuf = AGENT_SNDBUF_OPEN;

	if (notsent_lowat > 0 && notsent_lowat < sndbuf)
		sndbuf = notsent_lowat < AGENT_SNDBUF_LEAST ? AGENT_SNDBUF_LEAST : notsent_lowat;

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
}

int pair_set(struct pair *ret_pair, const int fds[2], int err)
{
	struct stat st;

	if (err == 0 && fstat(fds[0], &st) < 0)
		err = -errno;
	if (err < 0) {
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	*ret_pair = (struct pair){ .program = fds[0], .ours = fds[1], .ino = st.st_ino };
	return 0;
}

/** pair_make() - a fresh pair, both ends non-blocking and close-on-exec */
static int pair_make(struct pair *ret_pair)
{
	int fds[2], off = 0, on = 1, sndbuf = AGENT_SNDBUF;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	/* what a program may not do to us: leave descriptors in our queue (linux 6.16, else they
	 * are dropped by a read without control buffer) */
	(void)setsockopt(fds[1], SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
	/* an urgent octet that came past us stays in its place */
	(void)setsockopt(fds[1], SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
	(void)setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
	pair_widen(fds[1], 0);
	return pair_set(ret_pair, fds, 0);
}

static void on_refill(evutil_socket_t fd, short what, void *arg)
{
	struct agent *a = arg;

	(void)fd;
	(void)what;
	for (uint32_t i = 0; i < REFILL_STEP && a->pair_cnt < AGENT_PAIRS; i++) {
		if (pair_make(&a->pairs[a->pair_cnt]) < 0)
			return;
		a->pair_cnt++;
	}
	if (a->pair_cnt < AGENT_PAIRS)
		event_active(a->refill, EV_TIMEOUT, 0);
}

int agent_pair_take(struct agent *a, struct pair *ret_pair)
{
	if (a->pair_cnt < REFILL_LOW)
		event_active(a->refill, EV_TIMEOUT, 0);
	if (a->pair_cnt == 0)
		return pair_make(ret_pair);
	*ret_pair = a->pairs[--a->pair_cnt];
	return 0;
}

/* ---- has the program closed? ---- */

static void on_pair(evutil_socket_t fd, short what, void *arg)
{
	struct asock *s = arg;
	struct pollfd p = { .fd = fd };

	(void)what;
	if (poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR))
		sock_program_closed(s->agent, s);
}

int agent_watch(struct agent *a, struct asock *s)
{
	s->agent = a;
	/* EV_READ only since libevent reports EPOLLERR as readable and writable, never as closed */
	s->ev = event_new(a->base, s->fd, EV_READ | EV_CLOSED | EV_ET | EV_PERSIST, on_pair, s);
	if (!s->ev)
		return -ENOMEM;
	event_priority_set(s->ev, PRIORITY_CLOSED);
	if (event_add(s->ev, NULL) < 0) {
		agent_unwatch(s);
		return -ENOMEM;
	}
	return 0;
}

void agent_unwatch(struct asock *s)
{
	if (s->ev)
		event_free(s->ev);
	s->ev = NULL;
}

/** on_sock_free() - asock_table.on_free */
static void on_sock_free(void *ctx, struct asock *s)
{
	struct agent *a = ctx;

	/* a call on a socket that is gone: as on a listener that was shut down */
	held_answer_all(a, s, HELD_ACCEPT, -EINVAL);
	held_answer_all(a, s, HELD_CONNECT, -ECONNABORTED);
	while (!list_is_empty(&s->held) || !list_is_empty(&s->deferred)) {
		struct list *head = list_is_empty(&s->held) ? &s->deferred : &s->held;
		struct held *h = list_entry(head->next, struct held, node);

		call_answer(a, &h->call, -EINVAL);
		held_free(h);
	}
	if (s->stuffed_len)
		a->stuffed_cnt--;
	dgram_free(s);
	agent_unwatch(s);
	if (s->fd >= 0)
		close(s->fd);
}

/* ---- the worker ---- */

static void on_worker_readable(evutil_socket_t fd, short what, void *arg)
{
	struct agent *a = arg;
	int r;

	(void)fd;
	(void)what;
	r = ipc_dispatch(&a->worker, agent_worker_handlers, a, CHANNEL_BUDGET);
	if (r < 0)
		agent_worker_lost(a, r);
}

static void on_worker_writable(evutil_socket_t fd, short what, void *arg)
{
	struct agent *a = arg;
	int r = ipc_flush(&a->worker);

	(void)fd;
	(void)what;
	if (r < 0)
		agent_worker_lost(a, r);
}

static void want_write_worker(void *ctx, bool is_wanted)
{
	struct agent *a = ctx;

	if (is_wanted)
		event_add(a->worker_wr, NULL);
	else
		event_del(a->worker_wr);
}

static void worker_events_free(struct agent *a)
{
	if (a->worker_rd)
		event_free(a->worker_rd);
	if (a->worker_wr)
		event_free(a->worker_wr);
	a->worker_rd = a->worker_wr = NULL;
}

/** worker_channel() - serve the channel @fd; consumes it */
static int worker_channel(struct agent *a, int fd)
{
	ipc_init(&a->worker, fd, IPC_AGENT, IPC_WORKER);
	a->worker.want_write = want_write_worker;
	a->worker.ctx = a;
	a->worker_rd = event_new(a->base, fd, EV_READ | EV_PERSIST, on_worker_readable, a);
	a->worker_wr = event_new(a->base, fd, EV_WRITE | EV_PERSIST, on_worker_writable, a);
	if (!a->worker_rd || !a->worker_wr || event_add(a->worker_rd, NULL) < 0) {
		worker_events_free(a);
		ipc_done(&a->worker);
		return log_err(-ENOMEM, "cannot serve the worker's channel");
	}
	a->is_worker_up = true;
	return dgram_channel(a);
}

void agent_send(struct agent *a, enum ipc_type type, const void *body)
{
	int r = a->is_worker_up ? ipc_send(&a->worker, type, body, NULL, 0) : 0;

	if (r < 0)
		agent_worker_lost(a, r);
}

void agent_attach(struct agent *a, struct asock *s, uint32_t conn)
{
	struct ipc_attach body = { .sock = s->handle, .conn = conn };
	int fd, r;

	aopt_opts(&s->opts, &body.opts);
	fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		log_warn(-errno, "cannot give the worker a socket, it is reset");
		agent_send(a, IPC_CLOSE, &(struct ipc_close){ s->handle, IPC_CLOSE_RESET });
		sock_tombstone(a, s, -ECONNRESET, true);
		return;
	}
	if (!a->is_worker_up) {
		close(fd);
		sock_tombstone(a, s, -ECONNRESET, true);
		return;
	}
	r = ipc_send(&a->worker, IPC_ATTACH, &body, &fd, 1);
	if (r < 0)
		agent_worker_lost(a, r);
}

/** for_each_sock() - @fn may free the socket it is given */
static void for_each_sock(struct agent *a, void (*fn)(struct agent *a, struct asock *s))
{
	for (uint32_t i = 1; i <= a->socks.cap; i++) {
		if (a->socks.slots[i])
			fn(a, a->socks.slots[i]);
	}
}

/** sock_worker_lost() - connections die with the worker, all else waits for the next one */
static void sock_worker_lost(struct agent *a, struct asock *s)
{
	switch (s->state) {
	case ASOCK_ESTABLISHED:
		sock_tombstone(a, s, -ECONNRESET, true);
		break;
	case ASOCK_CONNECTING:
		sock_tombstone(a, s, -ECONNRESET, s->stuffed_len == 0);
		break;
	case ASOCK_LISTEN:
		asock_queue_clear(s);
		break;
	case ASOCK_IDLE:
	case ASOCK_BOUND:
	case ASOCK_DEAD:
	case ASOCK_STATE_COUNT:
		break;
	}
}

void agent_worker_lost(struct agent *a, int r)
{
	struct ipc_worker_bad body = { .err = r };

	if (!a->is_worker_up)
		return;
	a->is_worker_up = false;
	log_warn(r, "the worker is gone, its connections are reset");
	worker_events_free(a);
	ipc_done(&a->worker);
	if (a->dgram_fd >= 0)
		close(a->dgram_fd);
	a->dgram_fd = -1;
	if (r == -EPROTO)
		(void)!ipc_send(&a->monitor, IPC_WORKER_BAD, &body, NULL, 0);
	for_each_sock(a, sock_worker_lost);
	while (!list_is_empty(&a->held)) {
		bool is_found = false;

		/* questions about one socket are not asked again: the socket has just changed */
		list_for_each (it, &a->held) {
			struct held *h = list_entry(it, struct held, all_node);

			if (h->kind != HELD_QUERY)
				continue;
			call_answer(a, &h->call, -ENOTCONN);
			held_free(h);
			is_found = true;
			break;
		}
		if (!is_found)
			break;
	}
}

/** sock_replay() - what a new worker must know of a socket */
static void sock_replay(struct agent *a, struct asock *s)
{
	struct ipc_bind b = { .sock = s->handle, .local = ipc_endpoint_from(&s->local) };
	struct ipc_listen l = { .sock = s->handle, .backlog = s->backlog };

	if (s->dg) {
		dgram_replay(a, s);
		return;
	}
	sock_opts(s, &b.opts);
	l.opts = b.opts;
	if (s->state == ASOCK_BOUND || s->state == ASOCK_LISTEN)
		agent_send(a, IPC_BIND, &b);
	if (s->state == ASOCK_LISTEN) {
		int fd = program_end_find(a, s);

		/* nobody waits any more, so nothing may say so */
		for (; fd >= 0 && s->token_cnt > 0; s->token_cnt--) {
			char token;

			if (recv(fd, &token, 1, MSG_DONTWAIT) != 1)
				break;
		}
		s->token_cnt = 0;
		if (fd >= 0)
			close(fd);
		agent_send(a, IPC_LISTEN, &l);
	}
	if (s->op != ASOCK_OP_NONE)
		op_send(a, s);
}

void agent_worker_new(struct agent *a, int fd)
{
	agent_worker_lost(a, -EPIPE);
	if (worker_channel(a, fd) < 0)
		return;
	for_each_sock(a, sock_replay);
	log_notice("a new worker carries the container's ports");
}

/* ---- the monitor ---- */

static int on_stop(void *ctx, struct ipc_msg *m)
{
	(void)ctx;
	(void)m;
	return -ESHUTDOWN;
}

static int on_notify_fd(void *ctx, struct ipc_msg *m)
{
	const char *id = IPC_BODY(m, ipc_notify_fd)->container_id;
	int r = notify_fd_add(ctx, ipc_take_fd(m, 0), id);

	if (r < 0)
		log_err(r, "cannot serve the seccomp notify descriptor of container %s", id);
	return 0;
}

static int on_worker_channel(void *ctx, struct ipc_msg *m)
{
	agent_worker_new(ctx, ipc_take_fd(m, 0));
	return 0;
}

/** stats_line() - append a line, sending what is full */
static void stats_line(struct agent *a, struct ipc_stats *out, const char *text, size_t len)
{
	if (out->len + len > sizeof(out->text)) {
		(void)!ipc_send(&a->monitor, IPC_STATS, out, NULL, 0);
		out->len = 0;
	}
	memcpy(out->text + out->len, text, len);
	out->len += (uint32_t)len;
}

static int on_stats_req(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	const struct ipc_stats_req *req = IPC_BODY(m, ipc_stats_req);
	struct ipc_stats out = { .token = req->token };
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "agent_calls", a->call_cnt },
		{ "agent_calls_held", a->held_total_cnt },
		{ "agent_calls_waiting", a->held_cnt },
		{ "agent_answers_lost", a->lost_answer_cnt },
		{ "agent_sockets", a->socks.cnt },
		{ "agent_sockets_dead", a->socks.dead_cnt },
		{ "agent_sockets_stuffed", a->stuffed_cnt },
		{ "agent_datagrams_nameless", a->nameless_cnt },
		{ "agent_resets_shown", a->reset_cnt },
		{ "agent_resets_unseen", a->reset_unseen_cnt },
	};
	char line[128];

	for (size_t i = 0; req->kind == IPC_STATS_COUNTERS && i < NS_ARRAY_LEN(rows); i++) {
		int n = snprintf(line, sizeof(line), "%s %" PRIu64 "\n", rows[i].name,
				 rows[i].value);

		stats_line(a, &out, line, (size_t)n);
	}
	out.is_last = 1;
	(void)!ipc_send(&a->monitor, IPC_STATS, &out, NULL, 0);
	return 0;
}

static int on_knobs(void *ctx, struct ipc_msg *m)
{
	struct agent *a = ctx;
	int32_t congestion = IPC_BODY(m, ipc_knobs)->value[NS_KNOB_tcp_congestion_control];

	if (congestion < 0 || congestion >= NS_CC_COUNT)
		return -EPROTO;
	a->socks.congestion = (uint8_t)congestion;
	a->port_start = IPC_BODY(m, ipc_knobs)->value[NS_KNOB_port_start];
	a->fastopen = IPC_BODY(m, ipc_knobs)->value[NS_KNOB_tcp_fastopen];
	a->igmp_max_msf = (uint32_t)IPC_BODY(m, ipc_knobs)->value[NS_KNOB_igmp_max_msf];
	a->mld_max_msf = (uint32_t)IPC_BODY(m, ipc_knobs)->value[NS_KNOB_mld_max_msf];
	return 0;
}

static const ipc_handler_fn monitor_handlers[IPC_TYPE_COUNT] = {
	[IPC_STOP] = on_stop,
	[IPC_NOTIFY_FD] = on_notify_fd,
	[IPC_WORKER_CHANNEL] = on_worker_channel,
	[IPC_KNOBS] = on_knobs,
	[IPC_STATS_REQ] = on_stats_req,
};

/** monitor_gone() - without the monitor nobody restores anything that depends on us */
static void monitor_gone(struct agent *a, int r)
{
	a->exit_status = r == -ESHUTDOWN ? EXIT_SUCCESS : EXIT_FAILURE;
	event_base_loopbreak(a->base);
}

static void on_monitor_readable(evutil_socket_t fd, short what, void *arg)
{
	struct agent *a = arg;
	int r = ipc_dispatch(&a->monitor, monitor_handlers, a, CHANNEL_BUDGET);

	(void)fd;
	(void)what;
	if (r < 0)
		monitor_gone(a, r);
}

static void on_monitor_writable(evutil_socket_t fd, short what, void *arg)
{
	struct agent *a = arg;
	int r = ipc_flush(&a->monitor);

	(void)fd;
	(void)what;
	if (r < 0)
		monitor_gone(a, r);
}

static void want_write_monitor(void *ctx, bool is_wanted)
{
	struct agent *a = ctx;

	if (is_wanted)
		event_add(a->monitor_wr, NULL);
	else
		event_del(a->monitor_wr);
}

/* ---- start and loop ---- */

/** socket_cap() - sockets that RLIMIT_NOFILE, raised as far as it goes, leaves room for */
static uint32_t socket_cap(void)
{
	struct rlimit rl = { 1024, 1024 };
	rlim_t spare = AGENT_PAIRS * 2 + AGENT_PIDFDS + FDS_SPARE;

	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	if (rl.rlim_cur < 2 * spare)
		return (uint32_t)(rl.rlim_cur / 2);
	return rl.rlim_cur - spare > ASOCK_CAP_MAX ? ASOCK_CAP_MAX
						   : (uint32_t)(rl.rlim_cur - spare);
}

static int agent_init(struct agent *a, struct child_init *init)
{
	int r;

	a->dgram_fd = -1;
	device_init(a, &init->plan);
	list_init(&a->notify_fds);
	list_init(&a->held);
	for (uint32_t i = 0; i < AGENT_PIDFDS; i++)
		a->pidfds[i].fd = -1;
	r = asock_table_init(&a->socks, socket_cap(), on_sock_free, a);
	if (r < 0)
		return log_err(r, "cannot make the socket table");
	a->base = child_base_new();
	if (!a->base || event_base_priority_init(a->base, PRIORITY_COUNT) < 0)
		return -ENOMEM;
	a->refill = event_new(a->base, -1, EV_PERSIST, on_refill, a);
	a->monitor_rd =
		event_new(a->base, a->monitor.fd, EV_READ | EV_PERSIST, on_monitor_readable, a);
	a->monitor_wr =
		event_new(a->base, a->monitor.fd, EV_WRITE | EV_PERSIST, on_monitor_writable, a);
	if (!a->refill || !a->monitor_rd || !a->monitor_wr)
		return log_err(-ENOMEM, "cannot make the agent's events");
	event_priority_set(a->refill, PRIORITY_IDLE);
	a->monitor.want_write = want_write_monitor;
	a->monitor.ctx = a;
	event_add(a->monitor_rd, NULL);
	r = worker_channel(a, init->channel_fd);
	init->channel_fd = -1;
	return r;
}

static void agent_done(struct agent *a)
{
	list_for_each_safe (it, &a->notify_fds)
		notify_fd_free(list_entry(it, struct notify_fd, node));
	asock_table_done(&a->socks);
	while (a->pair_cnt > 0) {
		a->pair_cnt--;
		close(a->pairs[a->pair_cnt].program);
		close(a->pairs[a->pair_cnt].ours);
	}
	for (uint32_t i = 0; i < AGENT_PIDFDS; i++) {
		if (a->pidfds[i].fd >= 0)
			close(a->pidfds[i].fd);
	}
	worker_events_free(a);
	if (a->dgram_fd >= 0)
		close(a->dgram_fd);
	if (a->is_worker_up)
		ipc_done(&a->worker);
	if (a->refill)
		event_free(a->refill);
	if (a->monitor_rd)
		event_free(a->monitor_rd);
	if (a->monitor_wr)
		event_free(a->monitor_wr);
	log_set_sink(NULL, NULL);
	ipc_done(&a->monitor);
	if (a->base)
		event_base_free(a->base);
}

int agent_main(void)
{
	static struct agent a; /* large, and there is one */
	struct child_init init;
	struct sandbox_params params = { .netns_fd = -1 };
	struct ipc_ready ready;

	a.exit_status = EXIT_FAILURE;
	if (child_start(&a.monitor, IPC_AGENT, &init) < 0)
		return EXIT_FAILURE;
	params.netns_fd = init.netns_fd;
	a.fastopen = 1; /* as net.ipv4.tcp_fastopen begins; KNOBS tells what it is */
	cred_init(&a, init.netns_fd);
	if (agent_init(&a, &init) < 0 || sandbox_enter(ROLE_AGENT, &params) < 0)
		return EXIT_FAILURE;
	if (init.netns_fd >= 0)
		close(init.netns_fd);
	if (init.pid_fd >= 0)
		close(init.pid_fd);
	child_init_done(&init);
	ready.socket_cap = a.socks.cap;
	if (ipc_send(&a.monitor, IPC_READY, &ready, NULL, 0) < 0)
		return EXIT_FAILURE;
	event_active(a.refill, EV_TIMEOUT, 0);
	event_base_dispatch(a.base);
	agent_done(&a);
	return a.exit_status;
}
