/* SPDX-License-Identifier: Apache-2.0 */
/* monitor_int.h - the monitor's state; shouldn't be included outside monitor*.c */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/options.h"
#include "daemon/monitor/ctl_server.h"
#include "daemon/monitor/listener.h"
#include "daemon/monitor/supervise.h"
#include "daemon/netconf/journal.h"
#include "daemon/netconf/take.h"

struct event;
struct event_base;

#define MONITOR_NOTIFY_MAX 64u /* seccomp notify descriptors: containers and exec sessions */
#define MONITOR_ASKS_MAX   8u  /* requests of the operator that wait for a child */

/** struct notify_fd - what a runtime handed over; kept so that a new agent can be given it */
struct notify_fd {
	int fd;
	char id[LISTENER_ID_MAX];
};

/** struct ask - a request of the operator that waits for the children's lines */
struct ask {
	bool is_used;
	uint32_t ctl_token;
	uint32_t kind; /* enum ipc_stats_kind */
	char question[IPC_STATS_TEXT_MAX];
	uint32_t waiting; /* bit of each child that has not answered: 1 << enum ipc_role */
	struct event *ev_late;
	struct monitor *m;
	struct json_object *answer;
	char *text; /* lines of the child that is answering */
	size_t len;
};

/** struct monitor - one sandbox */
struct monitor {
	const struct sluice_config *cfg;
	struct event_base *base;
	int exe_fd; /* this binary */
	int exit_status;
	bool is_stopping;
	bool was_ready; /* systemd was told */

	struct journal journal;
	struct takeover take;
	int plan_fd; /* sealed memfd, -1 until taken */
	uint32_t plan_len;

	struct child worker, agent;
	int agent_channel_fd; /* the agent's end of the channel to the worker until there is an agent */
	uint32_t worker_generation;

	/* The container: its first process, and what the runtime sent for it. */
	pid_t ctr_pid;
	int ctr_pid_fd;     /* -1: none known */
	uint64_t ctr_pidns; /* inode of its pid namespace */
	struct notify_fd notifies[MONITOR_NOTIFY_MAX];
	size_t notify_cnt;

	struct monitor_follow *follow; /* NULL until taken */
	struct monitor_knobs *knobs;   /* NULL until taken */
	struct monitor_pcap *pcap;     /* NULL without --pcap */
	struct listener *listener;
	struct ctl_server *ctl;
	struct ask asks[MONITOR_ASKS_MAX];
	uint32_t ask_generation;

	struct event *ev_signals[3];
	struct event *ev_tick;   /* is the container still there? */
	struct event *ev_ctr;    /* its first process ended */
	struct event *ev_settle; /* a child ended: look again when the dust has settled */
};

/* monitor.c */

/**
 * monitor_stop() - begin to end: children first, then the links are given back
 * @m:		Monitor
 * @status:	Exit status; the first one that is not 0 stays
 */
void monitor_stop(struct monitor *m, int status);

/**
 * monitor_children_gone() - called when a child ended while stopping; gives back when it was the last
 * @m:		Monitor
 */
void monitor_children_gone(struct monitor *m);

/**
 * monitor_container_is_alive() - whether the first process of the container still lives
 * @m:		Monitor
 */
bool monitor_container_is_alive(const struct monitor *m);

/**
 * monitor_container_ended() - forget the container; ends the daemon unless it was given a namespace
 * @m:		Monitor
 */
void monitor_container_ended(struct monitor *m);

/* monitor_child.c */

/**
 * monitor_children_init() - both idle
 * @m:		Monitor
 */
void monitor_children_init(struct monitor *m);

/**
 * monitor_plan_seal() - put the plan's text where the children can read and nobody can change it
 * @m:		Monitor with a taken namespace; sets plan_fd
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int monitor_plan_seal(struct monitor *m);

/**
 * monitor_plan_open() - the plan's text to be read from its beginning
 * @m:		Monitor; monitor_plan_seal() was called
 *
 * Return: descriptor, the caller's to close; negative errno, then a sentence was logged
 */
int monitor_plan_open(struct monitor *m);

/**
 * monitor_converge() - start what should run and does not
 * @m:		Monitor
 */
void monitor_converge(struct monitor *m);

/**
 * monitor_notify_add() - a notify descriptor came: remember it and tell the agent
 * @m:		Monitor
 * @fd:		Consumes @fd
 * @id:		Of the container
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int monitor_notify_add(struct monitor *m, int fd, const char *id);

/**
 * monitor_notify_prune() - forget notify descriptors whose processes are all gone
 * @m:		Monitor
 *
 * Return: number of those that are left
 */
size_t monitor_notify_prune(struct monitor *m);

/* monitor_follow.c */

/**
 * monitor_follow_start() - from now on changes of the container's network are followed
 * @m:		Monitor with a taken namespace
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int monitor_follow_start(struct monitor *m);

/**
 * monitor_follow_tick() - look for what is not announced
 * @m:		Monitor
 */
void monitor_follow_tick(struct monitor *m);

/**
 * monitor_follow_done() - stop watching
 * @m:		Monitor
 */
void monitor_follow_done(struct monitor *m);

/* monitor_knobs.c */

/**
 * monitor_knobs_take() - read the container's sysctls, write those of --sysctl
 * @m:		Monitor with a taken namespace
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int monitor_knobs_take(struct monitor *m);

/**
 * monitor_knobs_tick() - tell the worker of sysctls that changed
 * @m:		Monitor
 */
void monitor_knobs_tick(struct monitor *m);

/**
 * monitor_knobs_tell() - a new worker only has the stack's defaults
 * @m:		Monitor
 */
void monitor_knobs_tell(struct monitor *m);

/**
 * monitor_knobs_set() - the operator turns one
 * @m:		Monitor with a taken namespace
 * @sysctl:	"net.ipv4.tcp_rmem"
 * @value:	Its words; "-" for one that stays
 *
 * Return: 0 or what knobs_set() says; a sentence was logged
 */
int monitor_knobs_set(struct monitor *m, const char *sysctl, const char *value);

/**
 * monitor_knobs_bundle() - warn of what a container asks for and the stack has not
 * @m:		Monitor
 * @bundle:	Its OCI bundle, may be empty
 */
void monitor_knobs_bundle(struct monitor *m, const char *bundle);

/**
 * monitor_knobs_json() - {"sysctls": {name: value}, "ignored": [name]}
 * @m:		Monitor
 *
 * Return: a new reference
 */
struct json_object *monitor_knobs_json(const struct monitor *m);

/**
 * monitor_knobs_done() - before the restore: what somebody wrote after us is not given back
 * @m:		Monitor
 */
void monitor_knobs_done(struct monitor *m);

/* monitor_pcap.c */

/**
 * monitor_pcap_open() - open the file of --pcap; nothing happens without it
 * @m:		Monitor
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int monitor_pcap_open(struct monitor *m);

/**
 * monitor_pcap_ring() - a ring for a new worker
 * @m:		Monitor
 * @ret_fd:	Set to the memfd, the caller's to close; -1 without --pcap
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int monitor_pcap_ring(struct monitor *m, int *ret_fd);

/**
 * monitor_pcap_drain() - write what is in the ring
 * @m:		Monitor
 */
void monitor_pcap_drain(struct monitor *m);

/**
 * monitor_pcap_close() - write the rest and close the file
 * @m:		Monitor
 */
void monitor_pcap_close(struct monitor *m);

/* monitor_ctl.c */

/**
 * monitor_ctl_request() - a word from the operator
 * @ctx:	Monitor
 * @token:	For the answer
 * @word:	"state", "stats", "links", "sockets"
 */
void monitor_ctl_request(void *ctx, uint32_t token, const char *word);

/**
 * monitor_ctl_stats() - handler of IPC_STATS
 * @ctx:	Child
 * @msg:	Message
 *
 * Return: 0, or -EPROTO when nobody asked
 */
int monitor_ctl_stats(void *ctx, struct ipc_msg *msg);

/**
 * monitor_ctl_child_gone() - a child will not answer any more
 * @m:		Monitor
 * @role:	Which
 */
void monitor_ctl_child_gone(struct monitor *m, enum ipc_role role);
