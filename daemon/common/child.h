/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - what agent and worker do alike at their start: first message, plan, log to the monitor
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "daemon/common/ipc.h"
#include "daemon/common/plan.h"

/** CHILD_MONITOR_FD - the channel to the monitor in a freshly executed child */
#define CHILD_MONITOR_FD 3

struct event_base;

/** struct child_init - what INIT brought; descriptors are -1 when it did not bring them */
struct child_init {
	struct plan plan;
	int channel_fd; /* agent <-> worker */
	int netns_fd;   /* agent */
	int pid_fd;     /* agent */
	int pcap_fd;    /* worker */
	uint32_t link_fd_cnt;
	int link_fds[PLAN_LINK_FDS_MAX]; /* worker, in the order of the plan's carried links */
};

/**
 * child_start() - receive INIT and read the plan
 * @monitor:	Channel to the monitor, initialised here
 * @self:	IPC_AGENT or IPC_WORKER
 *
 * From here on the log goes to the monitor.
 *
 * Return: 0, or a negative errno, logged
 */
ns_must_check int child_start(struct ipc *monitor, enum ipc_role self, struct child_init *ret_init);
/**
 * child_plan_read() - a plan out of a sealed memfd
 * @fd:		Its offset is 0; borrowed
 * @len:	Octets of text
 * @ret_plan:	Not initialised before; set on success
 *
 * Return: 0, or a negative errno, logged
 */
ns_must_check int child_plan_read(int fd, uint32_t len, struct plan *ret_plan);
/** child_init_done() - free the plan; descriptors that were taken must be set to -1 before */
void child_init_done(struct child_init *init);
/** child_base_new() - an event base that uses epoll and nothing a role's filter forbids; NULL, logged */
ns_must_check struct event_base *child_base_new(void);
