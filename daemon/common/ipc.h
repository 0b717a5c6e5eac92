/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc.h - messages between the roles: framed, typed, checked by a table, with descriptors
 *
 * Theory of operation
 *
 * A channel is one end of a SOCK_SEQPACKET pair. messages.def has one row per message: the struct
 * that is its body, who may send it to whom, and how many descriptors it carries; ipc_check() holds
 * every received message against its row and against the range of its fields before a handler sees
 * it. A receiver does not repair: what fails is -EPROTO, and each role decides what that means (the
 * monitor and the worker die, the agent drops the worker).
 *
 * Sending never blocks: sendmmsg(MSG_DONTWAIT), the one sending call that the worker's filter
 * allows, and a bounded queue for what the socket has no room for. ipc_cork()/ipc_uncork() around a
 * loop turn put all its messages into one call.
 *
 * Ownership
 *
 * Descriptors given to ipc_send() are consumed: closed when they are on their way, and on failure.
 * Descriptors that arrive belong to the message; a handler takes those it wants by ipc_take_fd(),
 * ipc_msg_done() closes the rest.
 *
 * Limits
 *
 * IPC_QUEUE_MAX octets wait for a peer that does not read; more is -ENOBUFS.
 *
 * Syscalls: #syscalls monitor agent worker: recvmsg sendmmsg close
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "daemon/common/ipc_messages.h"

#define IPC_QUEUE_MAX (8u << 20) /* octets waiting to be sent, with their bookkeeping */

/** enum ipc_role - who is at an end of a channel */
enum ipc_role { IPC_MONITOR, IPC_AGENT, IPC_WORKER, IPC_ROLE_COUNT };

/** enum ipc_type - from messages.def; 0 is no message */
enum ipc_type {
	IPC_NONE,
#define IPC_MESSAGE(name_, body_, dir_, fd_min_, fd_max_, check_) IPC_##name_,
#include "daemon/common/messages.def"
#undef IPC_MESSAGE
	IPC_TYPE_COUNT
};

/** struct ipc - one end of a channel; embedded by its owner */
struct ipc {
	int fd; /* non-blocking by MSG_DONTWAIT; -1 when closed */
	enum ipc_role self, peer;
	bool is_corked;
	bool is_write_wanted; /* as last told to want_write() */
	struct list queue;    /* struct ipc_out, oldest first */
	uint32_t queue_len;   /* octets */
	/** want_write() - NULL, or called when the queue starts to wait (true) and is empty again */
	void (*want_write)(void *ctx, bool is_wanted);
	void *ctx;
};

/** struct ipc_msg - a received message that passed its row */
struct ipc_msg {
	enum ipc_type type;
	uint32_t fd_cnt;
	int fds[IPC_FDS_MAX]; /* -1 once taken */
	struct {
		struct ipc_header header;
		uint8_t body[IPC_BODY_MAX] __attribute__((aligned(8)));
	} raw;
};

/** IPC_BODY() - the body as what messages.def says it is */
#define IPC_BODY(msg_, type_) ((const struct type_ *)(const void *)(msg_)->raw.body)

/**
 * ipc_handler_fn - acts on one message
 * @ctx:	As given to ipc_dispatch()
 * @m:		Borrowed for the call
 *
 * Return: 0, or a negative errno that ends ipc_dispatch()
 */
typedef int (*ipc_handler_fn)(void *ctx, struct ipc_msg *m);

/** ipc_init() - @fd is owned from here on; no message is queued */
void ipc_init(struct ipc *c, int fd, enum ipc_role self, enum ipc_role peer);
/** ipc_done() - close the channel and all that waits in it; harmless when done before */
void ipc_done(struct ipc *c);

/**
 * ipc_check() - is this a message that @from may send to @to?
 * @buf:	The octets, header first, aligned to 8; not trusted
 * @len:	Octets at @buf
 * @fd_cnt:	Descriptors that came with it
 *
 * Pure: no descriptor is touched, so that it can be fuzzed.
 *
 * Return: 0 or -EPROTO
 */
ns_must_check int ipc_check(const void *buf, size_t len, uint32_t fd_cnt, enum ipc_role from,
			    enum ipc_role to);

/** ipc_dgram_frame_check() - the same for what is in front of a datagram in the channel */
ns_must_check bool ipc_dgram_frame_check(const struct ipc_dgram_frame *f);

/** ipc_type_name() - as in messages.def, "?" for no such type */
const char *ipc_type_name(enum ipc_type type);
/** ipc_body_len() - octets of the body of @type */
uint32_t ipc_body_len(enum ipc_type type);

/**
 * ipc_send() - send or queue a message
 * @type:	Its direction must be self -> peer (a bug of ours otherwise)
 * @body:	ipc_body_len(@type) octets, borrowed
 * @fds:	Descriptors; consumed on every path, or NULL
 * @fd_cnt:	Descriptors at @fds
 *
 * Return: 0, -ENOBUFS (the queue is full), -ENOMEM, -EPIPE (the peer is gone)
 */
ns_must_check int ipc_send(struct ipc *c, enum ipc_type type, const void *body, const int *fds,
			   uint32_t fd_cnt);
/** ipc_flush() - send what waits, as far as there is room. Return: 0 (look at ipc_is_waiting()) or -EPIPE */
ns_must_check int ipc_flush(struct ipc *c);
/** ipc_cork() - queue only, until ipc_uncork() */
void ipc_cork(struct ipc *c);
/** ipc_uncork() - as ipc_flush() */
ns_must_check int ipc_uncork(struct ipc *c);

static inline bool ipc_is_waiting(const struct ipc *c)
{
	return !list_is_empty(&c->queue);
}

/**
 * ipc_recv() - one message, if one is there
 * @m:		Set on success; the caller calls ipc_msg_done()
 *
 * Return: 0, -EAGAIN, -EPIPE (the peer closed), -EPROTO (malformed; its descriptors are closed), or
 * what recvmsg() said
 */
ns_must_check int ipc_recv(struct ipc *c, struct ipc_msg *m);
/** ipc_recv_wait() - as ipc_recv(), waits up to @timeout_ms; -ETIMEDOUT. For the time before a loop runs */
ns_must_check int ipc_recv_wait(struct ipc *c, struct ipc_msg *m, int timeout_ms);
/** ipc_take_fd() - descriptor @i of the message, owned by the caller from here on; -1 when there is none */
ns_must_check int ipc_take_fd(struct ipc_msg *m, uint32_t i);
/** ipc_msg_done() - close the descriptors that nobody took */
void ipc_msg_done(struct ipc_msg *m);

/**
 * ipc_dispatch() - receive and handle what is there
 * @handlers:	IPC_TYPE_COUNT entries by type; a message without handler is -EPROTO
 * @ctx:	Handed to the handlers
 * @budget:	Messages at most, so that no peer starves the loop
 *
 * Return: 0 (nothing more is there, or the budget is used up), -EPIPE, -EPROTO, or what a handler
 * returned
 */
ns_must_check int ipc_dispatch(struct ipc *c, const ipc_handler_fn *handlers, void *ctx,
			       uint32_t budget);

/** ipc_pair() - a channel's two ends, close-on-exec. Return: 0 or negative errno */
ns_must_check int ipc_pair(int ret_fds[2]);

/** ipc_endpoint_from() - for a body */
static inline struct ipc_endpoint ipc_endpoint_from(const struct ns_endpoint *e)
{
	return (struct ipc_endpoint){ .addr = e->addr, .port = e->port };
}

/** ipc_endpoint_to() - from a body */
static inline struct ns_endpoint ipc_endpoint_to(const struct ipc_endpoint *e)
{
	return (struct ns_endpoint){ .addr = e->addr, .port = e->port };
}
