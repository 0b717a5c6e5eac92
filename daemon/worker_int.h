/* SPDX-License-Identifier: Apache-2.0 */
/* worker_int.h - what the files worker*.c share; nobody else includes this */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "base/mono.h"
#include "daemon/drv.h"
#include "daemon/ipc.h"
#include "daemon/pcap.h"
#include "daemon/plan.h"
#include "ns/sock.h"
#include "ns/stack.h"

struct event;
struct event_base;
struct worker;

enum {
	WORKER_SOCKS_MAX = 65536, /* S has 16 bits of index */
	WORKER_PENDING_MAX =
		128, /* connections a listener has told the agent of and that have no pair yet */
};

/** struct worker_link - one carried link: a driver and its place in the stack */
struct worker_link {
	struct worker *worker;
	struct drv *drv;
	struct event *rd, *wr;
	uint32_t link_id; /* of the stack */
	char name[PLAN_NAME_MAX];
};

/** enum wsock_state - what a socket of the container is to the worker */
enum wsock_state {
	WSOCK_BOUND, /* has a port at most */
	WSOCK_LISTEN,
	WSOCK_CONNECTING,
	WSOCK_CONNECTED, /* the agent was told, its ATTACH is on the way */
	WSOCK_PENDING,   /* accepted from the stack, the agent was told; no S yet */
	WSOCK_ATTACHED,  /* has its pair: octets flow */
};

/**
 * struct wsock - one socket of the container
 *
 * @can_read and @can_write: the pair was not seen empty (full) since the loop last said otherwise, so
 * a pump that stopped for the stack's sake goes on without waiting for the loop.
 */
struct wsock {
	struct list pending_node; /* WSOCK_PENDING: in the listener's list */
	struct list dirty_node;   /* in worker.dirty while there may be octets to move */
	struct worker *worker;
	struct wsock *listener; /* WSOCK_PENDING: whose connection it is */
	struct list pending;    /* WSOCK_LISTEN: connections the agent knows and has not taken */
	uint32_t pending_cnt;
	uint32_t sock; /* S of the agent; 0 while WSOCK_PENDING */
	ns_sock h;     /* of the stack */
	enum wsock_state state;
	int fd; /* stack's end of the pair, -1: none */
	struct event *rd, *wr;
	int err; /* negative errno that came before the pair did */
	bool can_read, can_write;
	bool is_read_watched; /* @rd is in the loop */
	bool is_program_eof;  /* the program will write no more: FIN is queued */
	bool is_peer_eof;     /* the program was told that the peer will write no more */
	bool is_starved;      /* the listener has more in the stack than may be pending */
};

/** struct worker - the role's state */
struct worker {
	struct event_base *base;
	struct ipc monitor, agent;
	struct event *monitor_rd, *monitor_wr, *agent_rd, *agent_wr;
	struct event *deadline;
	struct mono deadline_at; /* what @deadline is set to, MONO_NEVER: not set */
	struct ns_stack *stack;
	struct worker_link links[PLAN_LINKS_MAX];
	uint32_t link_cnt;
	struct wsock **socks; /* by the index part of S */
	struct list dirty;
	uint64_t sock_cnt, turn_cnt;
	uint64_t bytes_from_program, bytes_to_program;
	struct pcap_ring pcap; /* shared NULL: no capture */
	bool has_log_packets;
	bool is_stopping;
	int exit_status;
};

/** worker_now() - the monotonic clock; no system call where the vDSO serves */
struct mono worker_now(void);
/** worker_fail() - a peer broke the protocol: leave the loop with a failure, logged by the caller */
void worker_fail(struct worker *w);

/* worker_sock.c: sockets and their pairs */

/** wsock_find() - by S; NULL when stale or made up */
struct wsock *wsock_find(struct worker *w, uint32_t sock);
/** wsock_new() - make the socket @sock in the stack; 0 or negative errno */
ns_must_check int wsock_new(struct worker *w, uint32_t sock, struct wsock **ret_sock);
/** wsock_attach() - @fd is the stack's end of its pair from here on (consumed); octets flow */
void wsock_attach(struct wsock *k, int fd);
/** wsock_adopt() - a pending connection gets its S and leaves its listener's list; 0, -EEXIST, -ENOMEM */
ns_must_check int wsock_adopt(struct wsock *k, uint32_t sock);
/** wsock_find_pending() - the connection of stack handle @conn that waits for its pair, or NULL */
struct wsock *wsock_find_pending(struct worker *w, uint32_t conn);
/** wsock_free() - gone; its connection ends by FIN, or by RST with @is_reset; pending ones of a listener by RST */
void wsock_free(struct wsock *k, bool is_reset);
/** wsock_event() - news of the stack about a socket */
void wsock_event(struct worker *w, const struct ns_event *ev);
/** wsock_accept() - take what a listener has, as far as it may be pending, and tell the agent */
void wsock_accept(struct wsock *l);
/** wsock_pump_dirty() - move octets on every socket that may have some to move */
void wsock_pump_dirty(struct worker *w);
/** wsock_opts() - set what differs from the stack's defaults; 0 or the first error */
ns_must_check int wsock_opts(struct wsock *k, const struct ipc_opts *o);

/* worker_observe.c: frames for a human */

/** worker_observe() - watch every link if asked to; @pcap_fd -1: no capture; it stays the caller's; 0 or negative errno, logged */
ns_must_check int worker_observe(struct worker *w, int pcap_fd, bool has_log_packets);

/* worker_ctl.c: messages */

/** worker_ctl_agent() - handlers of what the agent says, IPC_TYPE_COUNT entries, for ipc_dispatch() with a struct worker */
const ipc_handler_fn *worker_ctl_agent(void);
/** worker_ctl_monitor() - likewise for the monitor */
const ipc_handler_fn *worker_ctl_monitor(void);
/** worker_tell_agent() - send, or leave the loop when the agent does not read (its queue is full) */
void worker_tell_agent(struct worker *w, enum ipc_type type, const void *body);
