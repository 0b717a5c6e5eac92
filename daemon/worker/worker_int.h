/* SPDX-License-Identifier: Apache-2.0 */
/* worker_int.h - what the files worker*.c share; nobody else includes this */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "base/attr.h"
#include "base/list.h"
#include "base/mono.h"
#include "daemon/common/ipc.h"
#include "daemon/common/pcap.h"
#include "daemon/common/plan.h"
#include "daemon/worker/drv.h"
#include "ns/sock.h"
#include "ns/stack.h"

#define WORKER_SOCKS (1u << 16) /* an S and a C have an index of 16 bits */

struct worker;

/** enum wsock_kind - what the worker has of a socket */
enum wsock_kind {
	WSOCK_BOUND,
	WSOCK_LISTEN,
	WSOCK_CONNECTING,
	WSOCK_OPEN,  /* a connection; without pair until ATTACH */
	WSOCK_DGRAM, /* of datagrams: always with its pair */
	WSOCK_KIND_COUNT
};

/** struct wsock - a socket of the stack and, once it is a connection, the pair of its program */
struct wsock {
	struct list node;       /* in worker.socks */
	struct list ready_node; /* in worker.ready */
	struct worker *worker;
	struct event rd, wr; /* of @fd */
	ns_sock sock;        /* in the stack; 0: given back */
	uint32_t handle;     /* S; 0: accepted, not yet attached */
	uint32_t conn;       /* C; 0: none */
	int fd;              /* stack's end of the pair, -1: none */
	enum wsock_kind kind;
	int err;              /* the connection's end, told when its octets are delivered */
	bool is_rd_added;     /* in the loop */
	bool is_wr_added;     /* likewise: the pair is full */
	bool is_readable;     /* octets or EOF are there as far as we know */
	bool is_program_done; /* the program sends no more: FIN was queued */
	bool is_peer_done;    /* the peer's FIN was shown to the program */
	bool is_deaf;         /* the program takes no more octets */
	bool has_lowat;  /* SO_RCVLOWAT above 1: octets wait in the stack until there are so many */
	bool has_urgent; /* an urgent octet is in the stack's queue, as far as we know */
	bool is_urgent_asked;   /* it is next, and with the agent */
	struct wsock *listener; /* of an accepted connection that waits for ATTACH */
	struct list pending;    /* LISTEN: connections that wait for ATTACH, by pending_node */
	struct list pending_node;
	uint32_t pending_cnt;
	int backlog;
	/* DGRAM */
	struct list unsent; /* struct wdgram: the link had no room */
	uint32_t unsent_cnt;
	uint32_t told_cnt; /* of the stack's queue: the agent knows their addresses already */
	bool is_connected; /* nobody needs to be told who sends */
	bool gathers; /* UDP_CORK or MSG_MORE was used: the order of what is in both channels counts */
	bool has_info; /* and yet the program wants more than the payload */
};

/** struct wlink - a link with its driver and events */
struct wlink {
	struct worker *worker;
	const struct drv_kind *kind;
	struct drv drv;
	struct event rd, wr, syns;
	uint32_t ifindex; /* the container's */
	bool is_used;
	struct event retry; /* the stack had no frames to receive into: look again */
	char name[PLAN_NAME_MAX];
	bool is_wr_added;
	bool has_syns;         /* requests to connect wait for the end of this turn */
	enum ns_gso_mode mode; /* as it was said last */
	uint8_t said;          /* bit of each mode that was said */
};

/** struct worker - the role's state */
struct worker {
	struct event_base *base;
	struct ipc monitor, agent;
	struct event *monitor_rd, *monitor_wr, *agent_rd, *agent_wr;
	struct ns_env env;
	struct ns_stack *stack;
	struct plan plan;                   /* in force */
	struct wlink links[PLAN_LINKS_MAX]; /* those that is_used says */
	uint32_t link_cnt;                  /* slots that were ever used */

	struct mono now; /* of this turn */
	bool is_in_turn;
	int timer_fd;
	struct event timer_ev;
	struct mono armed; /* when @timer_fd fires */
	uint64_t turn_cnt, timer_cnt;
	struct mono rx_at;  /* a link had a frame that is no request to connect */
	struct mono syn_at; /* requests to connect have had their share up to here */

	struct list socks; /* all, by node */
	struct list ready; /* those with something to pump, by ready_node */
	struct list
		untold; /* sockets of datagrams that wait for room in the agent's channel, by ready_node */
	uint32_t sock_cnt;
	int dgram_fd;          /* the agent's datagrams with an address; -1: none yet */
	struct event dgram_rd; /* of @dgram_fd */
	uint32_t unsent_cnt;   /* datagrams in all wsock.unsent */
	bool is_dgram_rd_added;
	struct wsock *by_handle[WORKER_SOCKS]; /* by index of S */
	struct wsock *by_conn[WORKER_SOCKS];   /* by index of C */
	uint16_t conn_generations[WORKER_SOCKS];
	uint32_t next_conn;

	struct pcap_ring pcap; /* shared NULL: no capture */
	bool has_log_packets;
	bool is_stopping;
	int exit_status;
};

/* ---- worker_loop.c ---- */

/** worker_begin_turn() - first thing of every callback: the time, the stack's timers; once a turn */
void worker_begin_turn(struct worker *w);
/** worker_loop() - turns until worker.is_stopping */
void worker_loop(struct worker *w);
/** worker_loop_init() - the timer. Return: 0 or negative errno, logged */
ns_must_check int worker_loop_init(struct worker *w);
/** worker_stop() - leave the loop after this turn */
void worker_stop(struct worker *w, int exit_status);

/* ---- worker_link.c ---- */

/** worker_link_find() - by the container's number for it; NULL when it is not carried */
struct wlink *worker_link_find(struct worker *w, uint32_t ifindex);
/** worker_link_add() - takes plan_link_fd_cnt() of @fds. Return: 0 or negative errno, logged */
ns_must_check int worker_link_add(struct worker *w, const struct plan_link *pl, const int *fds);
/** worker_link_set() - MTU, MAC, up, GSO limits, name. Return: 0, -ENODEV, -EINVAL */
ns_must_check int worker_link_set(struct worker *w, const struct plan_link *pl);
/** worker_link_del() - with its addresses and routes. Return: 0, -ENODEV */
ns_must_check int worker_link_del(struct worker *w, uint32_t ifindex);
/** worker_links_syns() - the requests to connect that a turn has time for, after all else came in */
void worker_links_syns(struct worker *w);
/** worker_links_modes() - say it when a link began to send in another way; once each way, the counters know how often */
void worker_links_modes(struct worker *w);
void worker_links_done(struct worker *w);

/* ---- worker_route.c ---- */

typedef void (*worker_line_fn)(void *ctx, const char *line);

/** worker_routes() - each rule and route of the stack as a line, or with a @question what ip route get would say */
void worker_routes(struct worker *w, const char *question, worker_line_fn fn, void *ctx);

/* ---- worker_conf.c ---- */

/**
 * worker_conf() - from the plan that is in force to another one
 * @plan:	Checked; taken over, empty afterwards
 * @fds:	Of the carried links that the plan in force has not, in the plan's order; what was taken is -1
 *
 * Return: 0 or negative errno, logged: a link could not be added
 */
ns_must_check int worker_conf(struct worker *w, struct plan *plan, int *fds, uint32_t fd_cnt);

/* ---- worker_sock.c ---- */

/**
 * wsock_unread() - what the program has written and the stack has not taken yet
 *
 * Counted by looking at it (MSG_PEEK), since ioctl() is none of the worker's calls.
 *
 * Return: octets; an end of file with nothing before it counts as one, as the FIN that it becomes
 */
int wsock_unread(const struct wsock *s);
/** wsock_send_urgent() - one octet, urgent, behind all that the program has written. Return: 0, -EAGAIN (no room for all of it), -EPIPE ... */
ns_must_check int wsock_send_urgent(struct wsock *s, uint8_t octet);
/** wsock_lowat() - SO_RCVLOWAT of a connection */
void wsock_lowat(struct wsock *s, int32_t octets);
/** wsock_settle() - what the stack has and the pair takes is in the pair */
void wsock_settle(struct wsock *s);
/** wsock_urgent_done() - the agent has put the urgent octet into the pair (0), or -EAGAIN, or the program takes no more */
void wsock_urgent_done(struct wsock *s, int err);
/** wsock_new() - NULL without memory */
struct wsock *wsock_new(struct worker *w, enum wsock_kind kind);
/** wsock_free() - the stack's socket must have been given back; closes the pair */
void wsock_free(struct wsock *s);
/** wsock_find() - by S; NULL when it is stale */
struct wsock *wsock_find(struct worker *w, uint32_t handle);
/** wsock_find_conn() - by C */
struct wsock *wsock_find_conn(struct worker *w, uint32_t conn);
/** wsock_name() - make it known as @handle */
void wsock_name(struct wsock *s, uint32_t handle);
/** wsock_backlog() - tell the stack its part of a listener's backlog */
void wsock_backlog(struct wsock *l);
/** wsock_attach() - the program's pair is there; takes @fd */
void wsock_attach(struct wsock *s, int fd);
/** wsock_close() - from the agent: the program has no use for it any more */
void wsock_close(struct wsock *s, bool is_reset);
/** wsock_pump_all() - everything in worker.ready once. Return: whether something is left for another turn */
bool wsock_pump_all(struct worker *w);
/** wsock_events() - what the stack has to say. Return: whether there was anything */
bool wsock_events(struct worker *w);

/** wsock_mark_ready() - pump it in this turn */
void wsock_mark_ready(struct wsock *s);
/** wsock_on_readable() - event of a pair, @arg its wsock: octets, datagrams or an end are there; by level, or by edge after the program's EOF */
void wsock_on_readable(evutil_socket_t fd, short what, void *arg);
/** wsock_wait_writable() - pump it when its pair has room again */
void wsock_wait_writable(struct wsock *s);
/** wsock_pair_close() - our descriptor of the pair; the agent has its own */
void wsock_pair_close(struct wsock *s);
/** wsock_watch_hangup() - only edges from here on: once the program's end is shut, EOF would be ready for ever */
void wsock_watch_hangup(struct wsock *s);
/** wsock_rd_wanted() - listen to the pair, or not */
void wsock_rd_wanted(struct wsock *s, bool is_wanted);

/* ---- worker_dgram.c ---- */

/** wdgram_channel() - the agent's datagrams with an address come by @fd; takes it. Return: 0 or -ENOMEM */
ns_must_check int wdgram_channel(struct worker *w, int fd);
/** wdgram_open() - a socket of datagrams of any kind with its pair; takes @fd. The agent hears CLOSED when there is no room */
void wdgram_open(struct worker *w, const struct ipc_dgram_open *b, int fd);
/** wdgram_bind() - ns_sock_bind(), and once more when a socket that was just closed had the port */
ns_must_check int wdgram_bind(struct wsock *s, const struct ns_endpoint *local);
/** wdgram_connect() - @remote NULL: undo */
ns_must_check int wdgram_connect(struct wsock *s, const struct ns_endpoint *remote);
/** wdgram_check() - ns_dgram_check(); the agent hears of the errors that it queued before it hears what is returned */
ns_must_check int wdgram_check(struct wsock *s, const struct ns_dgram_tx *tx, uint32_t len);
/** wdgram_settle() - what the program sent before is in the stack. Return: false when @s is gone */
ns_must_check bool wdgram_settle(struct wsock *s);
/** wdgram_cork() - UDP_CORK: what was sent before goes before, what was gathered goes when it ends */
void wdgram_cork(struct wsock *s, bool is_on);
/** wdgram_tx() - from a message */
struct ns_dgram_tx wdgram_tx(const struct ipc_dgram_to *to);
/** wdgram_pump() - both ways, as far as it goes; may free @s */
void wdgram_pump(struct wsock *s);
/** wdgram_event() - what the stack has to say about @s */
void wdgram_event(struct wsock *s, const struct ns_event *ev);
/** wdgram_channel_writable() - the agent's channel has room again */
void wdgram_channel_writable(struct worker *w);
/** wdgram_free() - what waits to be sent */
void wdgram_free(struct wsock *s);

/* ---- worker_observe.c ---- */

/** worker_observe() - watch every link if asked to; @pcap_fd -1: no capture, it stays the caller's. Return: 0 or negative errno, logged */
ns_must_check int worker_observe(struct worker *w, int pcap_fd, bool has_log_packets);

/** worker_observe_link() - a link that was added later */
void worker_observe_link(struct wlink *l);

/* ---- worker_ctl.c ---- */

extern const ipc_handler_fn worker_agent_handlers[IPC_TYPE_COUNT];
extern const ipc_handler_fn worker_monitor_handlers[IPC_TYPE_COUNT];
/** worker_set_opts() - the agent has checked them */
void worker_set_opts(struct worker *w, ns_sock sock, const struct ipc_opts *opts);
/** worker_tell() - a message to the agent; the worker ends when it cannot be queued */
void worker_tell(struct worker *w, enum ipc_type type, const void *body);
