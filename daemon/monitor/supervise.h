/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise - start, watch and stop the monitor's children
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "daemon/common/ipc.h"

struct event;
struct event_base;

/** A child that dies more often than this in CHILD_RESTART_WINDOW_S seconds is given up. */
#define CHILD_RESTARTS_MAX     5
#define CHILD_RESTART_WINDOW_S 10

/** struct child - one of the two; embedded by the monitor */
struct child {
	enum ipc_role role; /* IPC_AGENT or IPC_WORKER */
	const char *name;   /* for the log */
	struct event_base *base;
	/** on_exit() - the process is gone and reaped; the child may be started again from here */
	void (*on_exit)(struct child *c, void *ctx);
	/** on_broken() - a message was malformed: the child, or the monitor, is not to be trusted */
	void (*on_broken)(struct child *c, void *ctx);
	const ipc_handler_fn *handlers; /* IPC_TYPE_COUNT entries, called with this child as ctx */
	void *ctx;

	pid_t pid; /* 0 when not running */
	int pid_fd;
	struct ipc ipc;
	struct event *ev_exit, *ev_read, *ev_write, *ev_kill;
	bool is_ready;    /* said READY */
	bool is_stopping; /* was told to go */
	bool is_guest;    /* lives in a pid namespace that may end and kill it */
	uint32_t start_cnt;
	struct timespec deaths[CHILD_RESTARTS_MAX]; /* a ring, by death_cnt */
	uint32_t death_cnt;
};

/** struct child_place - the pid namespace a child is started in */
struct child_place {
	int pid_fd;  /* that of this process, -1 for none */
	bool is_new; /* a new one, of which the child is the first process */
};

/**
 * child_init_idle() - not running
 * @c:		Not initialised before
 * @role:	IPC_AGENT or IPC_WORKER
 * @base:	Loop of the monitor, borrowed for the child's life
 */
void child_init_idle(struct child *c, enum ipc_role role, struct event_base *base);

/**
 * child_start_process() - execute this binary anew in another role
 * @c:		Not running
 * @exe_fd:	This binary, borrowed
 * @place:	Pid namespace
 *
 * Return: 0 or negative errno; a sentence was logged. -ESRCH: the namespace of @place ended
 */
int child_start_process(struct child *c, int exe_fd, const struct child_place *place);

/**
 * child_is_running() - between child_start_process() and on_exit()
 * @c:		Child
 */
static inline bool child_is_running(const struct child *c)
{
	return c->pid != 0;
}

/**
 * child_stop() - ask it to go, end it after @grace_ms
 * @c:		Child; nothing happens when it does not run
 * @grace_ms:	0: end it at once
 *
 * on_exit() is called when it is gone.
 */
void child_stop(struct child *c, unsigned int grace_ms);

/**
 * child_has_restarts_left() - note a death and say whether it may be started again
 * @c:		Child, not running
 *
 * Return: false when it died CHILD_RESTARTS_MAX times in CHILD_RESTART_WINDOW_S seconds
 */
bool child_has_restarts_left(struct child *c);

/**
 * child_abandon() - end the process without a word and wait for it (when the monitor gives up)
 * @c:		Child; nothing happens when it does not run
 */
void child_abandon(struct child *c);
