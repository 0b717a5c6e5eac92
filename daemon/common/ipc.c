/* SPDX-License-Identifier: Apache-2.0 */
/* ipc.c - see ipc.h */
#include "daemon/common/ipc.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/common/log.h"

/* Directions as bits, so that a row of messages.def may allow several. */
enum {
	IPC_MA = 1u << 0,
	IPC_MW = 1u << 1,
	IPC_AM = 1u << 2,
	IPC_WM = 1u << 3,
	IPC_AW = 1u << 4,
	IPC_WA = 1u << 5,
};

static const uint8_t directions[IPC_ROLE_COUNT][IPC_ROLE_COUNT] = {
	[IPC_MONITOR] = { [IPC_AGENT] = IPC_MA, [IPC_WORKER] = IPC_MW },
	[IPC_AGENT] = { [IPC_MONITOR] = IPC_AM, [IPC_WORKER] = IPC_AW },
	[IPC_WORKER] = { [IPC_MONITOR] = IPC_WM, [IPC_AGENT] = IPC_WA },
};

/* Messages sent by one sendmmsg(); what a loop turn corks is rarely more. */
#define IPC_SEND_BATCH 32

/** struct ipc_out - a message on its way; @len octets of @raw, owned descriptors */
struct ipc_out {
	struct list node;
	uint32_t len;
	uint32_t fd_cnt;
	int *fds;
	uint8_t raw[] __attribute__((aligned(8)));
};

/* ---- what the fields of a body may hold ---- */

static bool is_err(int32_t err)
{
	return err <= 0 && err >= -4095;
}

static bool is_endpoint(const struct ipc_endpoint *e)
{
	return e->reserved == 0;
}

static bool is_opts(const struct ipc_opts *o)
{
	for (uint32_t i = NS_SOCKOPT_COUNT; i < IPC_OPTS_WORDS * 32; i++)
		if (o->mask[i / 32] >> i % 32 & 1)
			return false;
	return true;
}

static bool is_socket(uint32_t handle)
{
	return handle != 0;
}

static bool check_any(const void *body)
{
	(void)body;
	return true;
}

static bool check_empty(const void *body)
{
	const struct ipc_empty *b = body;

	return b->reserved == 0;
}

static bool check_init(const void *body)
{
	const struct ipc_init *b = body;

	return b->plan_len > 0 && b->link_fd_cnt <= IPC_FDS_MAX &&
	       b->log_level <= LOG_LEVEL_TRACE &&
	       (b->flags & ~(uint32_t)(IPC_INIT_NETNS | IPC_INIT_PIDFD | IPC_INIT_PCAP)) == 0;
}

static bool check_log(const void *body)
{
	const struct ipc_log *b = body;

	return b->len <= sizeof(b->text) && b->level <= LOG_LEVEL_TRACE;
}

static bool check_notify_fd(const void *body)
{
	const struct ipc_notify_fd *b = body;

	return memchr(b->container_id, 0, sizeof(b->container_id)) != NULL;
}

static bool check_plan(const void *body)
{
	const struct ipc_plan *b = body;

	return b->link_fd_cnt < IPC_FDS_MAX;
}

static bool check_stats_req(const void *body)
{
	const struct ipc_stats_req *b = body;

	return b->kind < IPC_STATS_KIND_COUNT && memchr(b->text, '\0', sizeof(b->text));
}

static bool check_stats(const void *body)
{
	const struct ipc_stats *b = body;

	return b->len <= sizeof(b->text) && b->is_last <= 1;
}

static bool check_bind(const void *body)
{
	const struct ipc_bind *b = body;

	return is_socket(b->sock) && is_endpoint(&b->local) && is_opts(&b->opts);
}

static bool check_listen(const void *body)
{
	const struct ipc_listen *b = body;

	return is_socket(b->sock) && b->backlog >= 0 && is_opts(&b->opts);
}

static bool check_connect(const void *body)
{
	const struct ipc_connect *b = body;

	return is_socket(b->sock) && is_endpoint(&b->remote) && is_opts(&b->opts);
}

static bool check_attach(const void *body)
{
	const struct ipc_attach *b = body;

	return is_socket(b->sock) && is_opts(&b->opts);
}

static bool check_setopt(const void *body)
{
	const struct ipc_sockopt_set *b = body;

	return is_socket(b->sock) && b->option < NS_SOCKOPT_COUNT;
}

static bool is_fastopen_len(uint32_t len)
{
	return len == NS_FASTOPEN_KEY_LEN || len == NS_FASTOPEN_KEYS_LEN;
}

static bool check_knobs(const void *body)
{
	const struct ipc_knobs *b = body;

	return b->fastopen_keys_len == 0 || is_fastopen_len(b->fastopen_keys_len);
}

static bool check_fastopen_key(const void *body)
{
	const struct ipc_fastopen_key *b = body;

	return is_socket(b->sock) && is_fastopen_len(b->len);
}

static bool check_getopt(const void *body)
{
	const struct ipc_getopt *b = body;

	return is_socket(b->sock) && b->option < NS_SOCKOPT_COUNT;
}

static bool check_urgent(const void *body)
{
	const struct ipc_urgent *b = body;

	return is_socket(b->sock) && b->octet <= UINT8_MAX;
}

static bool check_urgent_done(const void *body)
{
	const struct ipc_urgent_done *b = body;

	return is_socket(b->sock) && b->err <= 0;
}

static bool check_close(const void *body)
{
	const struct ipc_close *b = body;

	return is_socket(b->sock) && b->how < IPC_CLOSE_HOW_COUNT;
}

static bool check_result(const void *body)
{
	const struct ipc_sock_result *b = body;

	return is_socket(b->sock) && is_err(b->err) && is_endpoint(&b->local);
}

static bool check_connected(const void *body)
{
	const struct ipc_connected *b = body;

	return is_socket(b->sock) && is_endpoint(&b->local) && is_endpoint(&b->remote);
}

static bool check_sock_err(const void *body)
{
	const struct ipc_sock_err *b = body;

	return is_socket(b->sock) && b->err < 0 && is_err(b->err);
}

static bool check_acceptable(const void *body)
{
	const struct ipc_acceptable *b = body;

	return is_socket(b->listener) && is_socket(b->conn) && is_endpoint(&b->local) &&
	       is_endpoint(&b->remote);
}

static bool check_closed(const void *body)
{
	const struct ipc_closed *b = body;

	return is_socket(b->sock) && b->is_shut <= 1;
}

static bool is_dgram_to(const struct ipc_dgram_to *t)
{
	return is_endpoint(&t->to) && t->has_to <= 1 && t->ttl >= -1 && t->ttl <= UINT8_MAX &&
	       t->tos >= -1 && t->tos <= UINT8_MAX && t->dontfrag >= -1 && t->dontfrag <= 1 &&
	       t->has_gso <= 1 && t->more <= 1;
}

static bool check_dgram_open(const void *body)
{
	const struct ipc_dgram_open *b = body;

	return is_socket(b->sock) && b->kind < IPC_DGRAM_KINDS && is_opts(&b->opts);
}

static bool check_dgram_sock(const void *body)
{
	const struct ipc_dgram_sock *b = body;

	return is_socket(b->sock);
}

static bool check_dgram_check(const void *body)
{
	const struct ipc_dgram_check *b = body;

	return is_socket(b->sock) && is_dgram_to(&b->to);
}

static bool check_dgram_group(const void *body)
{
	const struct ipc_dgram_group *b = body;

	return is_socket(b->sock) && b->what < IPC_GROUP_WHAT_COUNT;
}

static bool check_dgram_filter(const void *body)
{
	const struct ipc_dgram_filter *b = body;

	return is_socket(b->sock) && b->cnt <= NS_FILTER_MAX && b->is_set <= 1 &&
	       b->is_exclude <= 1 && b->is_exact <= 1;
}

static bool check_dgram_filter_r(const void *body)
{
	const struct ipc_dgram_filter_r *b = body;

	return b->cnt <= NS_FILTER_MAX && b->is_exclude <= 1;
}

static bool check_dgram_info(const void *body)
{
	const struct ipc_dgram_info *b = body;

	if (!is_socket(b->sock) || b->cnt == 0 || b->cnt > IPC_DGRAM_ROWS)
		return false;
	for (uint32_t i = 0; i < b->cnt; i++)
		if (!is_endpoint(&b->row[i].from) || !is_endpoint(&b->row[i].to))
			return false;
	return true;
}

static bool check_dgram_err(const void *body)
{
	const struct ipc_dgram_err *b = &((const struct ipc_dgram_err_quote *)body)->e;

	return is_socket(b->sock) && b->err < 0 && is_err(b->err) && is_endpoint(&b->to) &&
	       b->is_fatal <= 1 && b->has_token <= 1 && b->is_queued <= 1 && b->is_ext_bad <= 1 &&
	       b->is_path_mtu <= 1 && b->quote_len <= NS_DGRAM_QUOTE_MAX &&
	       b->ext_off <= b->quote_len;
}

/* ---- the table ---- */

static const struct {
	const char *name;
	uint32_t len; /* octets of the body */
	uint8_t directions;
	uint8_t fd_min, fd_max;
	bool (*check)(const void *body);
} rows[IPC_TYPE_COUNT] = {
#define IPC_MESSAGE(name_, body_, dir_, fd_min_, fd_max_, check_)                                  \
	[IPC_##name_] = { #name_, sizeof(struct body_), (dir_), (fd_min_), (fd_max_), (check_) },
#include "daemon/common/messages.def"
#undef IPC_MESSAGE
};

#define IPC_MESSAGE(name_, body_, dir_, fd_min_, fd_max_, check_)                                  \
	_Static_assert(sizeof(struct body_) <= IPC_BODY_MAX && (fd_max_) <= IPC_FDS_MAX, #name_);
#include "daemon/common/messages.def"
#undef IPC_MESSAGE

const char *ipc_type_name(enum ipc_type type)
{
	return type > IPC_NONE && type < IPC_TYPE_COUNT ? rows[type].name : "?";
}

uint32_t ipc_body_len(enum ipc_type type)
{
	return type > IPC_NONE && type < IPC_TYPE_COUNT ? rows[type].len : 0;
}

int ipc_check(const void *buf, size_t len, uint32_t fd_cnt, enum ipc_role from, enum ipc_role to)
{
	struct ipc_header h;

	if (len < sizeof(h))
		return -EPROTO;
	memcpy(&h, buf, sizeof(h));
	if (h.version != IPC_VERSION || h.type == IPC_NONE || h.type >= IPC_TYPE_COUNT)
		return -EPROTO;
	if (h.len != rows[h.type].len || len != sizeof(h) + h.len)
		return -EPROTO;
	if (!(rows[h.type].directions & directions[from][to]))
		return -EPROTO;
	if (fd_cnt < rows[h.type].fd_min || fd_cnt > rows[h.type].fd_max)
		return -EPROTO;
	return rows[h.type].check((const uint8_t *)buf + sizeof(h)) ? 0 : -EPROTO;
}

/* ---- sending ---- */

static void close_all(const int *fds, uint32_t fd_cnt)
{
	for (uint32_t i = 0; i < fd_cnt; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

/** out_free() - out of the queue already */
static void out_free(struct ipc *c, struct ipc_out *o)
{
	c->queue_len -= o->len + (uint32_t)sizeof(*o);
	close_all(o->fds, o->fd_cnt);
	free(o);
}

void ipc_init(struct ipc *c, int fd, enum ipc_role self, enum ipc_role peer)
{
	*c = (struct ipc){ .fd = fd, .self = self, .peer = peer };
	list_init(&c->queue);
}

void ipc_done(struct ipc *c)
{
	struct list *n;

	if (c->fd < 0)
		return;
	while ((n = list_pop(&c->queue)) != NULL)
		out_free(c, list_entry(n, struct ipc_out, node));
	close(c->fd);
	c->fd = -1;
}

/**
 * out_new() - a message ready to be sent
 *
 * Return: NULL without memory, then @fds are still the caller's
 */
static struct ipc_out *out_new(enum ipc_type type, const void *body, const int *fds,
			       uint32_t fd_cnt)
{
	struct ipc_header h = { .version = IPC_VERSION,
				.type = (uint16_t)type,
				.len = rows[type].len };
	size_t len = sizeof(h) + h.len;
	size_t fds_off = (len + 7) & ~(size_t)7;
	struct ipc_out *o = malloc(sizeof(*o) + fds_off + fd_cnt * sizeof(int));

	if (!o)
		return NULL;
	list_init(&o->node);
	o->len = (uint32_t)len;
	o->fd_cnt = fd_cnt;
	o->fds = (int *)(void *)(o->raw + fds_off);
	memcpy(o->raw, &h, sizeof(h));
	memcpy(o->raw + sizeof(h), body, h.len);
	if (fd_cnt)
		memcpy(o->fds, fds, fd_cnt * sizeof(int));
	return o;
}

union ipc_control {
	struct cmsghdr align;
	uint8_t buf[CMSG_SPACE(sizeof(int) * IPC_FDS_MAX)];
};

static void control_put(struct msghdr *m, union ipc_control *control, const struct ipc_out *o)
{
	struct cmsghdr *cm;

	memset(control, 0, sizeof(*control));
	m->msg_control = control->buf;
	m->msg_controllen = CMSG_SPACE(sizeof(int) * o->fd_cnt);
	cm = CMSG_FIRSTHDR(m);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int) * o->fd_cnt);
	memcpy(CMSG_DATA(cm), o->fds, sizeof(int) * o->fd_cnt);
}

/**
 * send_some() - one sendmmsg() from the head of the queue
 *
 * A message with descriptors ends the batch: there is one control buffer, and such messages are rare.
 *
 * Return: messages sent and freed, -EAGAIN, or -EPIPE
 */
static int send_some(struct ipc *c)
{
	struct mmsghdr v[IPC_SEND_BATCH];
	struct iovec iov[IPC_SEND_BATCH];
	union ipc_control control;
	unsigned int cnt = 0;
	struct list *node;
	int n;

	list_for_each (it, &c->queue) {
		struct ipc_out *o = list_entry(it, struct ipc_out, node);

		iov[cnt] = (struct iovec){ o->raw, o->len };
		v[cnt].msg_hdr = (struct msghdr){ .msg_iov = &iov[cnt], .msg_iovlen = 1 };
		if (o->fd_cnt)
			control_put(&v[cnt].msg_hdr, &control, o);
		cnt++;
		if (o->fd_cnt || cnt == IPC_SEND_BATCH)
			break;
	}
	do {
		n = sendmmsg(c->fd, v, cnt, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN || errno == ENOBUFS ? -EAGAIN : -EPIPE;
	for (int i = 0; i < n && (node = list_pop(&c->queue)) != NULL; i++)
		out_free(c, list_entry(node, struct ipc_out, node));
	return n;
}

bool ipc_dgram_frame_check(const struct ipc_dgram_frame *f)
{
	return is_socket(f->sock) && is_dgram_to(&f->to);
}

int ipc_flush(struct ipc *c)
{
	int r = 0;

	if (c->fd < 0)
		return -EPIPE;
	while (ipc_is_waiting(c) && r >= 0)
		r = send_some(c);
	if (r == -EPIPE)
		return r;
	if (c->is_write_wanted != ipc_is_waiting(c) && c->want_write) {
		c->is_write_wanted = ipc_is_waiting(c);
		c->want_write(c->ctx, c->is_write_wanted);
	}
	return 0;
}

int ipc_send(struct ipc *c, enum ipc_type type, const void *body, const int *fds, uint32_t fd_cnt)
{
	struct ipc_out *o;

	NS_BUG_ON(type <= IPC_NONE || type >= IPC_TYPE_COUNT || fd_cnt > IPC_FDS_MAX);
	NS_BUG_ON(!(rows[type].directions & directions[c->self][c->peer]));
	if (c->fd < 0) {
		close_all(fds, fd_cnt);
		return -EPIPE;
	}
	if (c->queue_len + rows[type].len > IPC_QUEUE_MAX) {
		close_all(fds, fd_cnt);
		return -ENOBUFS;
	}
	o = out_new(type, body, fds, fd_cnt);
	if (!o) {
		close_all(fds, fd_cnt);
		return -ENOMEM;
	}
	list_push(&c->queue, &o->node);
	c->queue_len += o->len + (uint32_t)sizeof(*o);
	/* what already waits is sent by the owner's write event; asking again would only cost a call */
	if (c->is_corked || c->queue.next != &o->node)
		return 0;
	return ipc_flush(c);
}

void ipc_cork(struct ipc *c)
{
	c->is_corked = true;
}

int ipc_uncork(struct ipc *c)
{
	c->is_corked = false;
	return ipc_is_waiting(c) ? ipc_flush(c) : 0;
}

/* ---- receiving ---- */

/** fds_collect() - every descriptor that came, also of control messages that nobody asked for */
static uint32_t fds_collect(struct msghdr *mh, int *fds)
{
	uint32_t cnt = 0;

	for (struct cmsghdr *cm = CMSG_FIRSTHDR(mh); cm; cm = CMSG_NXTHDR(mh, cm)) {
		size_t here = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < here; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(cm) + i * sizeof(int), sizeof(fd));
			if (cnt < IPC_FDS_MAX)
				fds[cnt++] = fd;
			else
				close(fd);
		}
	}
	return cnt;
}

int ipc_recv(struct ipc *c, struct ipc_msg *m)
{
	union ipc_control control;
	struct iovec iov = { &m->raw, sizeof(m->raw) };
	struct msghdr mh = { .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.buf,
			     .msg_controllen = sizeof(control.buf) };
	ssize_t n;
	int r;

	m->type = IPC_NONE;
	m->fd_cnt = 0;
	if (c->fd < 0)
		return -EPIPE;
	do {
		n = recvmsg(c->fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	m->fd_cnt = fds_collect(&mh, m->fds);
	if (n == 0 && m->fd_cnt == 0)
		return -EPIPE;
	r = mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC)
		    ? -EPROTO
		    : ipc_check(&m->raw, (size_t)n, m->fd_cnt, c->peer, c->self);
	if (r < 0) {
		ipc_msg_done(m);
		return r;
	}
	m->type = (enum ipc_type)m->raw.header.type;
	return 0;
}

int ipc_recv_wait(struct ipc *c, struct ipc_msg *m, int timeout_ms)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, timeout_ms);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == 0 ? -ETIMEDOUT : ipc_recv(c, m);
}

int ipc_take_fd(struct ipc_msg *m, uint32_t i)
{
	int fd = -1;

	if (i < m->fd_cnt) {
		fd = m->fds[i];
		m->fds[i] = -1;
	}
	return fd;
}

void ipc_msg_done(struct ipc_msg *m)
{
	close_all(m->fds, m->fd_cnt);
	m->fd_cnt = 0;
}

int ipc_dispatch(struct ipc *c, const ipc_handler_fn *handlers, void *ctx, uint32_t budget)
{
	struct ipc_msg m;

	for (uint32_t i = 0; i < budget; i++) {
		int r = ipc_recv(c, &m);

		if (r < 0)
			return r == -EAGAIN ? 0 : r;
		r = handlers[m.type] ? handlers[m.type](ctx, &m) : -EPROTO;
		ipc_msg_done(&m);
		if (r < 0)
			return r;
	}
	return 0;
}

int ipc_pair(int ret_fds[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) < 0 ? -errno : 0;
}
