/* SPDX-License-Identifier: Apache-2.0 */
/* child.c - see child.h */
#include "daemon/common/child.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/log.h"

/* The monitor sends INIT before anything else; a monitor that does not is gone. */
#define INIT_TIMEOUT_MS 30000

/** log_to_monitor() - a log_sink_fn; a line that does not fit into the channel's queue is lost */
static void log_to_monitor(void *ctx, int level, const char *text)
{
	struct ipc_log body = { .level = (uint32_t)level };
	size_t len = strnlen(text, sizeof(body.text));

	body.len = (uint32_t)len;
	memcpy(body.text, text, len);
	(void)!ipc_send(ctx, IPC_LOG, &body, NULL, 0);
}

int child_plan_read(int fd, uint32_t len, struct plan *ret_plan)
{
	char err[256] = "";
	char *text;
	uint32_t done = 0;
	int r;

	if (len > PLAN_TEXT_MAX)
		return log_err(-E2BIG, "cannot take a plan of %u octets from the monitor", len);
	text = malloc(len);
	if (!text)
		return log_err(-ENOMEM, "cannot read the plan");
	while (done < len) {
		ssize_t n = read(fd, text + done, len - done); /* the worker may no pread() */

		if (n <= 0) {
			r = n < 0 ? -errno : -EIO;
			free(text);
			return log_err(r, "cannot read the plan from the monitor");
		}
		done += (uint32_t)n;
	}
	r = plan_parse(text, len, ret_plan, err, sizeof(err));
	free(text);
	return r < 0 ? log_err(r, "cannot use the monitor's plan: %s", err) : 0;
}

/** descriptors() - give each of INIT's descriptors its place; the rest is closed with the message */
static int descriptors(struct ipc_msg *m, enum ipc_role self, struct child_init *init)
{
	const struct ipc_init *b = IPC_BODY(m, ipc_init);
	uint32_t i = 1;

	init->channel_fd = ipc_take_fd(m, i++);
	if (b->link_fd_cnt > PLAN_LINK_FDS_MAX || (self == IPC_AGENT && b->link_fd_cnt))
		return -EPROTO;
	while (init->link_fd_cnt < b->link_fd_cnt)
		init->link_fds[init->link_fd_cnt++] = ipc_take_fd(m, i++);
	if (b->flags & IPC_INIT_NETNS)
		init->netns_fd = ipc_take_fd(m, i++);
	if (b->flags & IPC_INIT_PIDFD)
		init->pid_fd = ipc_take_fd(m, i++);
	if (b->flags & IPC_INIT_PCAP)
		init->pcap_fd = ipc_take_fd(m, i++);
	return i == m->fd_cnt ? 0 : -EPROTO;
}

int child_start(struct ipc *monitor, enum ipc_role self, struct child_init *ret_init)
{
	struct ipc_msg m;
	int r;

	signal(SIGPIPE, SIG_IGN);
	*ret_init = (struct child_init){
		.channel_fd = -1, .netns_fd = -1, .pid_fd = -1, .pcap_fd = -1
	};
	plan_init(&ret_init->plan);
	ipc_init(monitor, CHILD_MONITOR_FD, self, IPC_MONITOR);
	r = ipc_recv_wait(monitor, &m, INIT_TIMEOUT_MS);
	if (r < 0)
		return log_err(r, "cannot receive the first message from the monitor");
	if (m.type != IPC_INIT) {
		ipc_msg_done(&m);
		return log_err(-EPROTO, "the monitor began with %s", ipc_type_name(m.type));
	}
	log_init(self == IPC_AGENT ? "agent" : "worker", (int)IPC_BODY(&m, ipc_init)->log_level);
	log_set_sink(log_to_monitor, monitor);
	r = child_plan_read(m.fds[0], IPC_BODY(&m, ipc_init)->plan_len, &ret_init->plan);
	if (r == 0) {
		r = descriptors(&m, self, ret_init);
		if (r < 0)
			log_err(r, "cannot use the monitor's first message: descriptors");
	}
	ipc_msg_done(&m);
	return r;
}

void child_init_done(struct child_init *init)
{
	plan_done(&init->plan);
}

struct event_base *child_base_new(void)
{
	struct event_config *c = event_config_new();
	struct event_base *base = NULL;

	if (c && event_config_require_features(c, EV_FEATURE_ET | EV_FEATURE_EARLY_CLOSE) == 0)
		base = event_base_new_with_config(c);
	if (c)
		event_config_free(c);
	if (!base)
		log_errx("cannot make an event loop on epoll");
	return base;
}
