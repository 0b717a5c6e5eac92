/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_sock.h - the table of the container's sockets
 *
 * Theory of operation
 *
 * A socket of the container is one AF_UNIX stream pair from socket() to the last close(). Its name is
 * the inode of the program's end: dup, fork, exec and SCM_RIGHTS keep it, so nothing of that is
 * followed. To the worker it is a handle (index | generation), so that a late message about a socket
 * that is gone meets nobody.
 *
 *            bind            listen
 *   IDLE ----------> BOUND ----------> LISTEN      accept() makes a new ESTABLISHED one
 *    |  \______________|                  |
 *    | connect                            | the program closed or shut it: freed
 *    v                                    v
 *   CONNECTING --> ESTABLISHED --> (freed when the program has closed)
 *    |                  | reset, timeout, worker died
 *    '------ failed ----'--> DEAD: our end is closed, the entry says why; a new connect(): IDLE
 *
 * A DEAD entry cannot learn that the program closed its end, so those are kept in order of use and
 * the oldest goes when there are more than ASOCK_DEAD_MAX.
 *
 * Limits
 *
 * asock_table.cap sockets, ASOCK_DEAD_MAX tombstones among them, ASOCK_BACKLOG_MAX connections that
 * wait for accept() at one listener.
 *
 * This file makes no system call; the agent closes what asock_free() tells it to.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "base/mono.h"
#include "daemon/agent/agent_options.h"
#include "ns/addr.h"

#define ASOCK_DEAD_MAX    1024u
#define ASOCK_BACKLOG_MAX 4096u
#define ASOCK_CAP_MAX     65535u /* an index has 16 bits, 0 is no socket */

struct adgram;
struct agent;
struct event;

/** enum asock_state - see the picture */
enum asock_state {
	ASOCK_IDLE,
	ASOCK_BOUND,
	ASOCK_LISTEN,
	ASOCK_CONNECTING,
	ASOCK_ESTABLISHED,
	ASOCK_DEAD,
	ASOCK_STATE_COUNT
};

/** enum asock_op - a question to the worker that a trapped call waits for */
enum asock_op {
	ASOCK_OP_NONE,
	ASOCK_OP_BIND,
	ASOCK_OP_LISTEN,
	ASOCK_OP_CONNECT,
};

/** struct asock_memo - an answer that may be lost to a signal; given again to the same call */
struct asock_memo {
	bool is_set;
	int32_t nr;
	uint32_t tid;
	int64_t answer; /* value or negative errno */
	uint64_t ip;
	uint64_t args[4];
	struct mono when;
};

/** struct asock_conn - a connection that waits for accept() */
struct asock_conn {
	struct list node;
	uint32_t conn; /* C of ipc_messages.h */
	struct ns_endpoint local, remote;
};

/** struct asock - one socket */
struct asock {
	struct list dead_node; /* in asock_table.dead, oldest first */
	struct asock *hash_next;
	uint64_t ino;        /* of the program's end */
	uint32_t handle;     /* S of ipc_messages.h */
	int fd;              /* our end; -1: closed */
	struct event *ev;    /* tells that the program closed; NULL: the worker watches */
	struct agent *agent; /* for @ev's callback */

	enum asock_state state;
	enum asock_op op;
	int family; /* AF_INET, AF_INET6 */
	struct adgram *
		dg; /* of a datagram socket, agent_dgram.c; NULL: a stream. State BOUND all its life */
	bool is_user_bound;
	bool is_connect_reported; /* a connect() has returned 0 */
	bool is_fast;             /* the connect() is part of a send: MSG_FASTOPEN */
	bool is_free;             /* DEAD: connect() may begin anew, agent_again.c */
	bool is_narrow;           /* its pair has the buffer of one that connects still */
	bool is_cloexec;          /* as socket() made it */
	bool is_kernel_err;       /* DEAD: the pair itself carries the error */
	uint32_t bound_ifindex;   /* SO_BINDTODEVICE; 0: to none */
	int32_t so_error;         /* negative errno for SO_ERROR, given once */
	int backlog;
	struct ns_endpoint op_ep; /* what @op asks for */
	uint32_t token_cnt;       /* octets that say "connection waiting" in the pair */
	uint32_t stuffed_len;     /* octets of stuffing in our receive queue */
	uint32_t tid; /* who called last, with which number: where to look for the program's end */
	int program_fd;

	struct ns_endpoint local, remote;
	struct list accept_queue; /* struct asock_conn, oldest first */
	uint32_t accept_cnt;
	struct list held;     /* struct held of agent_int.h: calls that wait for this socket */
	struct list deferred; /* likewise: calls that wait until @op is done */
	struct asock_memo memo;
	struct aopt_values opts;
};

/** struct asock_table - all of them, by inode and by handle */
struct asock_table {
	struct asock **slots;  /* by index; NULL: free */
	uint16_t *generations; /* by index */
	uint32_t *
		free_ring; /* indexes; first in, first out, so that a handle is not soon seen again */
	uint32_t free_head, free_cnt;
	struct asock **buckets;
	uint32_t bucket_mask;
	uint32_t cap, cnt;
	uint8_t congestion; /* enum ns_cc of a socket whose program names none */
	struct list dead;
	uint32_t dead_cnt;
	/** on_free() - close @s->fd and @s->ev, answer its calls; @s is out of the table already */
	void (*on_free)(void *ctx, struct asock *s);
	void *ctx;
};

/** asock_table_init() - @cap sockets, at most ASOCK_CAP_MAX. Return: 0 or -ENOMEM */
ns_must_check int asock_table_init(struct asock_table *t, uint32_t cap,
				   void (*on_free)(void *ctx, struct asock *s), void *ctx);
/** asock_table_done() - free every socket and the table */
void asock_table_done(struct asock_table *t);

/**
 * asock_new() - a socket in state IDLE
 * @ino:	Inode of the program's end. An entry that has it already is a tombstone whose socket is gone: freed
 * @fd:		Our end
 *
 * Return: NULL at the cap or without memory; @fd stays the caller's then
 */
struct asock *asock_new(struct asock_table *t, uint64_t ino, int fd, int family);
/** asock_free() - take @s out of the table and give it back; calls on_free() */
void asock_free(struct asock_table *t, struct asock *s);
/** asock_find() - by inode; borrowed, NULL when there is none */
struct asock *asock_find(struct asock_table *t, uint64_t ino);
/** asock_find_handle() - by handle; borrowed, NULL when it is stale or made up */
struct asock *asock_find_handle(struct asock_table *t, uint32_t handle);

/**
 * asock_set_state() - the one writer of @s->state; traps on a move that the picture does not have
 *
 * A move to DEAD frees the oldest tombstone when there are too many.
 */
void asock_set_state(struct asock_table *t, struct asock *s, enum asock_state state);
/** asock_revive() - a DEAD socket is IDLE, with another pair: @ino of the program's end, @fd ours */
void asock_revive(struct asock_table *t, struct asock *s, uint64_t ino, int fd);
/** asock_state_name() - for the log and the operator */
const char *asock_state_name(enum asock_state state);

/** asock_queue_push() - a connection for accept(). Return: 0, -ENOSPC (queue is full), -ENOMEM */
ns_must_check int asock_queue_push(struct asock *s, uint32_t conn, const struct ns_endpoint *local,
				   const struct ns_endpoint *remote);
/** asock_queue_first() - the oldest one; borrowed, NULL when there is none */
struct asock_conn *asock_queue_first(struct asock *s);
/** asock_queue_pop() - drop the oldest one */
void asock_queue_pop(struct asock *s);
/** asock_queue_clear() - drop all */
void asock_queue_clear(struct asock *s);

/** asock_memo_set() - remember an answer */
void asock_memo_set(struct asock *s, uint32_t tid, int nr, uint64_t ip, const uint64_t *args,
		    int64_t answer, struct mono now);
/**
 * asock_memo_match() - was exactly this call just answered?
 *
 * Only within ASOCK_MEMO_NS: the kernel restarts a call at once after the signal handler, while a
 * program that calls again by its own will meets the socket as it is then.
 *
 * Return: true and @ret_answer
 */
#define ASOCK_MEMO_NS (100 * NS_PER_MS)
bool asock_memo_match(const struct asock *s, uint32_t tid, int nr, uint64_t ip,
		      const uint64_t *args, struct mono now, int64_t *ret_answer);
