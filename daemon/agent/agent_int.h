/* SPDX-License-Identifier: Apache-2.0 */
/* agent_int.h - what the files agent*.c share; nobody else includes this */
#pragma once

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "base/mono.h"
#include "daemon/agent/agent_args.h"
#include "daemon/agent/agent_sock.h"
#include "daemon/common/ipc.h"
#include "daemon/common/plan.h"

struct event;
struct event_base;

#define AGENT_PAIRS 64u /* pairs made ahead */
#define AGENT_HELD_MAX                                                                             \
	8192u /* calls that wait at once: threads of the container inside accept() and such */
#define AGENT_STUFFED_MAX                                                                          \
	2048u /* sockets with stuffing, AGENT_STUFFING octets of kernel memory each */
#define AGENT_USERNS_MAX 33u  /* linux: user namespaces nest 32 deep */
#define AGENT_PIDFDS     256u /* threads whose pidfd is kept, a power of two */

/*
 * Program's end until the connection is there: SO_SNDBUF, and how much queued data makes poll() say
 * "not writable" (a quarter). Small, so that stuffing is.
 */
#define AGENT_SNDBUF   65536
#define AGENT_STUFFING 36864u
/* While it connects: stuffing fills it, so that send() says -EAGAIN, or waits, and not only poll() */
#define AGENT_SNDBUF_CONNECTING 16384
/*
 * Both ends from then on: each time the buffer fills or empties one side sleeps and the other is woken,
 * which is what bulk data costs most beside its copies. The kernel caps it at net.core.wmem_max.
 */
#define AGENT_SNDBUF_OPEN 262144
/* The least that TCP_NOTSENT_LOWAT makes of it: about a super-segment, since the kernel doubles it */
#define AGENT_SNDBUF_LEAST 32768

struct agent;

/** struct notify_fd - one seccomp notify descriptor: the container's, or that of an exec session */
struct notify_fd {
	struct list node;
	struct agent *agent;
	int fd;
	struct event *ev;
	char container_id[64];
};

/** struct call - one trapped call */
struct call {
	struct notify_fd *from;
	uint64_t id;
	uint64_t ip;
	uint64_t args[6];
	uint32_t tid;
	int32_t nr;
};

/** enum held_kind - what a held call waits for */
enum held_kind {
	HELD_OP,       /* the answer to the socket's op: it began it */
	HELD_DEFERRED, /* that the socket's op is done: it is tried anew then */
	HELD_ACCEPT,   /* a connection, or its timeout */
	HELD_CONNECT,  /* the end of the handshake, or its timeout */
	HELD_QUERY,    /* GETOPT_R, GETINFO_R */
	HELD_RETRY,    /* room in the program's pair, looked at again by a timer */
	HELD_RECV,     /* a datagram, or its timeout */
};

/** struct held - a call that is not answered yet */
struct held {
	struct list node;     /* in asock.held or asock.deferred */
	struct list all_node; /* in agent.held */
	struct agent *agent;
	struct call call;
	enum held_kind kind;
	uint32_t sock;               /* handle */
	uint32_t token;              /* HELD_QUERY */
	bool is_check;               /* HELD_QUERY of a send: try again when the answer is 0 */
	bool is_urgent;              /* HELD_QUERY of a send with MSG_OOB */
	bool can_wait;               /* with @is_urgent: try again when there is no room */
	uint32_t sent_len;           /* with @is_urgent: the answer when it is sent */
	struct ns_endpoint asked_to; /* with @is_check */
	uint32_t asked_len;          /* likewise, octets */
	uint16_t asked_gso;          /* likewise, UDP_SEGMENT */
	int level, name;             /* HELD_QUERY: option asked for */
	struct event *timer;
};

/** struct pair - a pair made ahead */
struct pair {
	int program, ours;
	uint64_t ino; /* of the program's end */
};

/** struct agent_link - a link as the program names it */
struct agent_link {
	char name[PLAN_NAME_MAX];
	uint32_t ifindex;
};

/** struct agent_userns - a user namespace, and who made it */
struct agent_userns {
	uint64_t dev, ino;
	uint32_t owner;
};

/** struct agent - the role's state */
struct agent {
	struct event_base *base;
	struct ipc monitor, worker;
	struct event *monitor_rd, *monitor_wr, *worker_rd, *worker_wr;
	struct event *refill; /* makes pairs when the loop has nothing better to do */
	struct asock_table socks;
	struct list notify_fds;
	struct list held; /* all, by all_node */
	uint32_t held_cnt;
	uint32_t stuffed_cnt;
	uint32_t next_token;
	struct pair pairs[AGENT_PAIRS];
	uint32_t pair_cnt;
	struct {
		uint32_t tid;
		int fd;
	} pidfds[AGENT_PIDFDS];
	uint64_t call_cnt, held_total_cnt, lost_answer_cnt, reset_cnt, reset_unseen_cnt;
	uint64_t nameless_cnt;
	uint32_t quotes_len; /* octets in quotes of errors that wait */
	struct agent_link links[PLAN_LINKS_MAX];
	uint32_t link_cnt;
	struct agent_userns
		userns[AGENT_USERNS_MAX]; /* the network namespace's owner, and those above */
	uint32_t userns_cnt;              /* 0: not known */
	uint32_t igmp_max_msf;            /* net.ipv4.igmp_max_msf */
	uint32_t mld_max_msf;             /* net.ipv6.mld_max_msf */
	int32_t port_start;               /* net.ipv4.ip_unprivileged_port_start */
	int32_t fastopen;                 /* net.ipv4.tcp_fastopen */
	int dgram_fd; /* channel of datagrams to the worker; -1 while it is down */
	bool is_worker_up;
	int exit_status;
};

/* A handler of a trapped call returns its value, a negative errno, or one of these. */
#define CALL_LATER    INT64_MIN       /* held, or answered already */
#define CALL_CONTINUE (INT64_MIN + 1) /* the kernel carries it out */

/* ---- agent.c ---- */

struct mono agent_now(void);
/**
 * pair_set() - what becomes of the two descriptors of a new socketpair
 * @fds:	The program's end and ours; closed on failure
 * @err:	0, or the negative errno of what was to be done to them before
 *
 * Return: 0, then they are in @ret_pair, or negative errno
 */
ns_must_check int pair_set(struct pair *ret_pair, const int fds[2], int err);
/** agent_pair_take() - a pair; both descriptors are the caller's. Return: 0 or negative errno */
ns_must_check int agent_pair_take(struct agent *a, struct pair *ret_pair);
/** agent_watch() - learn when the program closes the socket. Return: 0 or -ENOMEM */
ns_must_check int agent_watch(struct agent *a, struct asock *s);
/** agent_unwatch() - not any more */
void agent_unwatch(struct asock *s);
/** agent_send() - to the worker; nothing while it is down: what counts is said again to the next one */
void agent_send(struct agent *a, enum ipc_type type, const void *body);
/** agent_attach() - give the worker its descriptor of the pair */
void agent_attach(struct agent *a, struct asock *s, uint32_t conn);
/** agent_worker_lost() - the worker is gone or not to be trusted */
void agent_worker_lost(struct agent *a, int r);
/** agent_worker_new() - a new worker is at @fd: tell it of ports and listeners; consumes @fd */
void agent_worker_new(struct agent *a, int fd);

/* ---- agent_notify.c ---- */

/** notify_fd_add() - serve a notify descriptor; consumes @fd. Return: 0 or negative errno */
ns_must_check int notify_fd_add(struct agent *a, int fd, const char *container_id);
void notify_fd_free(struct notify_fd *n);
/** call_mem() - the memory of the calling thread */
struct args_mem call_mem(struct call *c);
/** call_is_waiting() - false when the thread was killed or interrupted since */
bool call_is_waiting(const struct call *c);
/** call_answer() - value or negative errno */
void call_answer(struct agent *a, const struct call *c, int64_t answer);
/** call_add_fd() - answer with a new descriptor in the thread, a copy of @fd. Return: its number or negative errno; then the call is still open but for -ENOENT */
ns_must_check int call_add_fd(struct agent *a, const struct call *c, int fd, bool is_cloexec);
/** call_is_v6only() - it carries no mapped IPv4 */
bool call_is_v6only(const struct asock *s);
/** call_program_fd() - our copy of the descriptor the call is about, checked to be @s; or negative errno */
ns_must_check int call_program_fd(struct agent *a, const struct call *c, const struct asock *s);
/** thread_ioctl() - of the thread's pidfd. Return: what it says, or negative errno */
ns_must_check int thread_ioctl(struct agent *a, uint32_t tid, unsigned long request, void *arg);
/** call_run() - carry out a call (again, when it was deferred) and answer it */
void call_run(struct agent *a, struct call *c);
/**
 * call_hold() - keep a call for later
 * @timeout_ns:	0: none. When it is over, held_timeout() decides
 *
 * Return: NULL at the cap
 */
struct held *call_hold(struct agent *a, struct asock *s, const struct call *c, enum held_kind kind,
		       uint64_t timeout_ns);
void held_free(struct held *h);
/** held_answer_all() - answer all calls of @kind that wait for @s. Return: whether there was one still waiting */
bool held_answer_all(struct agent *a, struct asock *s, enum held_kind kind, int64_t answer);
/** program_end_is_at() - the thread that called last still has @s at that number */
bool program_end_is_at(struct agent *a, const struct asock *s);
/** program_end_find() - our copy of the program's end of @s, wherever it is by now; or -ENOENT */
ns_must_check int program_end_find(struct agent *a, const struct asock *s);

/* ---- agent_calls.c ---- */

/** call_socket() - socket() */
int64_t call_socket(struct agent *a, struct call *c);
/** call_handle() - any other call on a socket of ours; @fd is our copy of the program's descriptor */
int64_t call_handle(struct agent *a, struct call *c, struct asock *s, int fd);
/** pair_widen() - @fd is an end of a connection's pair: let it hold bulk data, or little with TCP_NOTSENT_LOWAT (0: not set) */
void pair_widen(int fd, int32_t notsent_lowat);
/** accept_deliver() - the oldest connection to an accept(). Return: as a handler */
int64_t accept_deliver(struct agent *a, struct asock *s, struct call *c, int fd);
/** tokens_fill() - one octet in the listener's pair for each waiting connection, as far as there is room */
void tokens_fill(struct asock *s);
/** held_timeout() - SO_RCVTIMEO or SO_SNDTIMEO of a held call is over */
void held_timeout(struct held *h);
/** stuff() - make the program's end look "not writable"; without success it looks so too early, no more */
void stuff(struct agent *a, struct asock *s, int program_fd);
/** stuff_full() - likewise, and no octet goes in: while it connects; pair_widen() undoes it */
void stuff_full(struct agent *a, struct asock *s, int program_fd);
/** unstuff() - and writable again */
void unstuff(struct agent *a, struct asock *s);

/** call_arg_int() - an argument as the kernel sees an int */
static inline int call_arg_int(const struct call *c, int i)
{
	return (int)(uint32_t)c->args[i];
}
/** call_setsockopt(), call_getsockopt() - by the table */
int64_t call_setsockopt(struct agent *a, struct call *c, struct asock *s, int fd);
int64_t call_getsockopt(struct agent *a, struct call *c, struct asock *s, int fd);
/** call_getsockname() - as it says */
int64_t call_getsockname(struct agent *a, struct call *c, struct asock *s, int fd);
/** hold() - keep the call, or refuse it when there are too many. Return: as a handler */
int64_t hold(struct agent *a, struct asock *s, const struct call *c, enum held_kind kind,
	     uint64_t timeout_ns);
/** op_begin() - ask the worker for @op and hold the call until it answers. Return: as a handler */
int64_t op_begin(struct agent *a, struct call *c, struct asock *s, enum asock_op op,
		 enum held_kind kind);

/** struct call_row - who answers a trapped call on a socket */
struct call_row {
	int32_t nr;
	bool waits_for_op; /* must not run while bind(), listen() or connect() is on its way */
	int64_t (*fn)(struct agent *a, struct call *c, struct asock *s, int fd);
};

/** call_dispatch() - by a table of @cnt rows; what is in none is -ENOSYS. Return: as a handler */
int64_t call_dispatch(const struct call_row *rows, size_t cnt, struct agent *a, struct call *c,
		      struct asock *s, int fd);
/** is_nonblocking() - O_NONBLOCK of a descriptor */
bool is_nonblocking(int fd);

/** pair_inherit() - options of the pair itself, which the kernel does not inherit for us */
void pair_inherit(int fd, const struct aopt_values *opts);
/** ask_worker() - a question that only the stack can answer; as a handler */
int64_t ask_worker(struct agent *a, struct call *c, struct asock *s, enum ipc_type type,
		   enum ns_sockopt option);

/* ---- agent_again.c ---- */

/** again_revive() - a new pair for a DEAD socket that is free, in place of @fd. Return: 0 or negative errno */
ns_must_check int again_revive(struct agent *a, struct call *c, struct asock *s, int fd);
/** again_unbind() - what connect() gave is gone, what bind() gave is the program's still */
void again_unbind(struct agent *a, struct asock *s);
/** again_cancel() - give up an attempt to connect; @err: negative errno for SO_ERROR and who waits */
void again_cancel(struct agent *a, struct asock *s, int err);
/** again_disconnect() - connect() to AF_UNSPEC; again_shutdown() - shutdown(). As handlers */
int64_t again_disconnect(struct agent *a, struct asock *s);
int64_t again_shutdown(struct agent *a, struct call *c, struct asock *s, int fd);

/* ---- agent_inq.c ---- */

/** inq_of_pair() - octets that are in a program's pair */
int inq_of_pair(int fd);
/** inq_ioctl() - FIONREAD, SIOCOUTQ, SIOCOUTQNSD of a stream; inq_ioctl_dgram() - of datagrams. As handlers */
int64_t inq_ioctl(struct agent *a, struct call *c, struct asock *s, int fd);
int64_t inq_ioctl_dgram(struct call *c, int fd);
/** inq_recvmsg() - recvmsg() of a connected stream, with TCP_CM_INQ when that was asked for; as a handler */
int64_t inq_recvmsg(struct call *c, struct asock *s, int fd);

/* ---- agent_cred.c ---- */

#define CRED_NO_UID UINT32_MAX /* linux INVALID_UID */

/** cred_init() - before the sandbox: who owns the network namespace @netns_fd (-1: not known) */
void cred_init(struct agent *a, int netns_fd);
/** cred_may_rebind() - from one link to another: CAP_NET_RAW */
bool cred_may_rebind(struct agent *a, const struct call *c);
/** cred_may_take_port() - bind to it; false: -EACCES */
bool cred_may_take_port(struct agent *a, const struct call *c, uint16_t port);
/** cred_may_set() - is the value free for all, or is the caller capable? false: -EPERM */
bool cred_may_set(struct agent *a, const struct call *c, int level, int name, const uint8_t *val,
		  int len);
/** cred_uid() - whose socket it is that the caller makes, in the daemon's user namespace; CRED_NO_UID: not known */
uint32_t cred_uid(struct agent *a, const struct call *c);

/* ---- agent_fastopen.c ---- */

/** fastopen_is_client() - net.ipv4.tcp_fastopen lets sockets send octets with the SYN */
bool fastopen_is_client(const struct agent *a);
/** fastopen_may_set() - options of level TCP: is it a time for it? Return: 0, -EINVAL, -EOPNOTSUPP */
ns_must_check int fastopen_may_set(const struct agent *a, const struct asock *s, int name,
				   const uint8_t *val, int len);
/** fastopen_tell_keys() - the worker, who knows the socket already, learns its TCP_FASTOPEN_KEY */
void fastopen_tell_keys(struct agent *a, const struct asock *s);
/** fastopen_is_dontwait() - a sendto() or sendmsg() with MSG_DONTWAIT */
bool fastopen_is_dontwait(const struct call *c);

/* ---- agent_device.c ---- */

/** device_init() - the links that programs may name */
void device_init(struct agent *a, const struct plan *plan);
/** device_is_there() - is there a link of that number? */
bool device_is_there(const struct agent *a, uint32_t ifindex);
/** device_bind() - @s hears and speaks by that link alone; 0: by any */
void device_bind(struct agent *a, struct asock *s, uint32_t ifindex);
/** device_set_name(), device_set_ifindex() - SO_BINDTODEVICE, SO_BINDTOIFINDEX. Return: 0 or negative errno */
ns_must_check int device_set_name(struct agent *a, const struct call *c, struct asock *s,
				  const uint8_t *val, int len);
ns_must_check int device_set_ifindex(struct agent *a, const struct call *c, struct asock *s,
				     const uint8_t *val, int len);
/** device_may_set_pktinfo() - linux sk_dev_equal_l3scope(): IPV6_PKTINFO of a socket of one link is of that link. 0, -EINVAL */
ns_must_check int device_may_set_pktinfo(const struct asock *s, const uint8_t *val, int len);
/** device_get_name() - getsockopt(SO_BINDTODEVICE); as a handler */
int64_t device_get_name(const struct agent *a, const struct asock *s, const struct args_mem *mem,
			uint64_t val, uint64_t len_ptr);

/* ---- agent_dgram*.c: datagram sockets ---- */

/** dgram_channel() - make the channel of datagrams to a new worker. Return: 0 or negative errno */
ns_must_check int dgram_channel(struct agent *a);
/** dgram_pair() - a pair of datagrams. Return: 0 or negative errno */
ns_must_check int dgram_pair(struct pair *ret_pair);
/** dgram_new() - make @s a datagram socket and tell the worker. Return: 0 or negative errno */
ns_must_check int dgram_new(struct agent *a, struct asock *s, bool is_ping);
/** dgram_free() - what @s has as a datagram socket; harmless on a stream */
void dgram_free(struct asock *s);
/** dgram_handle() - any call on a datagram socket; as a handler */
int64_t dgram_handle(struct agent *a, struct call *c, struct asock *s, int fd);
/** dgram_closed() - the worker has none of it any more */
void dgram_closed(struct agent *a, struct asock *s);
/** dgram_replay() - what a new worker must know of it */
void dgram_replay(struct agent *a, struct asock *s);
/** dgram_bound(), dgram_connected() - the worker's answers */
void dgram_bound(struct asock *s);
void dgram_connected(struct agent *a, struct asock *s, int err);
/** dgram_recv() - recvfrom(), recvmsg(), recvmmsg() */
int64_t dgram_recv(struct agent *a, struct call *c, struct asock *s, int fd);
/** dgram_checked() - where the held send goes was found to be reachable */
void dgram_checked(struct asock *s, const struct held *h);
/** dgram_take_error() - the pending error, given once; 0: none */
int dgram_take_error(struct asock *s);
/** dgram_is_connected() - to a peer; false of a stream */
bool dgram_is_connected(const struct asock *s);
/** dgram_is_unconnect() - CONNECT asked to undo: which message that is */
bool dgram_is_unconnect(const struct asock *s);
/** dgram_worker_handlers: DGRAM_INFO, DGRAM_ERR */
int dgram_on_info(void *ctx, struct ipc_msg *m);
int dgram_on_err(void *ctx, struct ipc_msg *m);
/** dgram_on_filter() - DGRAM_FILTER_R */
int dgram_on_filter(void *ctx, struct ipc_msg *m);
/** query_take() - the call that asked with @token, which is the caller's to answer */
bool query_take(struct agent *a, uint32_t token, struct held *ret_held);

/* ---- agent_urgent.c ---- */

/** urgent_send() - @len octets of which the last one is urgent; as a handler of calls */
int64_t urgent_send(struct agent *a, struct call *c, struct asock *s, int fd, const uint8_t *buf,
		    int len, int flags);
/** urgent_answer() - the worker has sent it (0), or not; @s NULL: the socket is gone */
void urgent_answer(struct agent *a, struct asock *s, struct held *h, int err);
/** urgent_on_in() - URGENT_IN */
int urgent_on_in(void *ctx, struct ipc_msg *m);

/* ---- agent_events.c ---- */

extern const ipc_handler_fn agent_worker_handlers[IPC_TYPE_COUNT];
/** sock_tombstone() - end a socket so that the program sees @err; @is_reset: inject a reset */
void sock_tombstone(struct agent *a, struct asock *s, int err, bool is_reset);
/** sock_program_closed() - the program closed (or shut down) its end while we had the socket */
void sock_program_closed(struct agent *a, struct asock *s);
/** sock_any() - the address of a socket that has none */
struct ns_addr sock_any(const struct asock *s);
/** sock_unname() - no address, as a fresh socket says it */
void sock_unname(struct asock *s);
/** sock_rebind() - the stack's socket is gone; the port stays the program's */
void sock_rebind(struct agent *a, struct asock *s);
/** sock_opts() - all that the stack must be told of a socket before it is bound */
void sock_opts(const struct asock *s, struct ipc_opts *ret_opts);
/** op_send() - the question of @s->op, to a worker that may be a new one */
void op_send(struct agent *a, struct asock *s);
/** op_done() - the answer is here: run what was deferred meanwhile */
void op_done(struct agent *a, struct asock *s);
