/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_ctl.c - messages from the agent and the monitor
 *
 * Theory of operation
 *
 * The agent decides what a program may ask; here its questions are carried to the stack and every one is
 * answered. A message about a socket that is gone (its CLOSED is on the way) is answered so or
 * ignored; one that breaks the protocol ends the worker.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/child.h"
#include "daemon/common/log.h"
#include "daemon/worker/worker_int.h"

void worker_tell(struct worker *w, enum ipc_type type, const void *body)
{
	int r = ipc_send(&w->agent, type, body, NULL, 0);

	if (r < 0) {
		log_err(r, "cannot tell the agent %s", ipc_type_name(type));
		worker_stop(w, EXIT_FAILURE);
	}
}

/* ---- sockets ---- */

void worker_set_opts(struct worker *w, ns_sock sock, const struct ipc_opts *opts)
{
	for (uint32_t i = 0; i < NS_SOCKOPT_COUNT; i++) {
		/* the agent has checked them; what the stack does not know changes nothing */
		if (ipc_opts_has(opts, (enum ns_sockopt)i))
			(void)!ns_sock_setopt(w->stack, sock, (enum ns_sockopt)i, opts->value[i]);
	}
}

/** open_sock() - the socket of @handle, made when there is none. Return: 0 or negative errno */
static int open_sock(struct worker *w, uint32_t handle, const struct ipc_opts *opts,
		     struct wsock **ret_sock)
{
	struct wsock *s = wsock_find(w, handle);
	int r;

	if (!s) {
		s = wsock_new(w, WSOCK_BOUND);
		if (!s)
			return -ENOMEM;
		r = ns_sock_open(w->stack, &s->sock);
		if (r < 0) {
			s->sock = 0;
			wsock_free(s);
			return r;
		}
		ns_sock_set_user(w->stack, s->sock, s);
		wsock_name(s, handle);
	}
	worker_set_opts(w, s->sock, opts);
	*ret_sock = s;
	return 0;
}

/** answer() - BIND_R, LISTEN_R, CONNECT_R with the socket's address */
static void answer(struct worker *w, enum ipc_type type, uint32_t handle, int err)
{
	struct ipc_sock_result body = { .sock = handle, .err = err };
	struct wsock *s = wsock_find(w, handle);
	struct ns_endpoint local;

	body.local.addr = ns_addr_v4(0);
	if (s && ns_sock_local(w->stack, s->sock, &local) == 0)
		body.local = ipc_endpoint_from(&local);
	worker_tell(w, type, &body);
}

static int on_bind(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_bind *b = IPC_BODY(m, ipc_bind);
	struct ns_endpoint local = ipc_endpoint_to(&b->local);
	struct wsock *s = NULL;
	int r;

	worker_begin_turn(w);
	r = open_sock(w, b->sock, &b->opts, &s);
	if (r == 0)
		r = s->kind == WSOCK_DGRAM ? wdgram_bind(s, &local)
					   : ns_sock_bind(w->stack, s->sock, &local);
	answer(w, IPC_BIND_R, b->sock, r);
	/* a program may bind again after -EADDRINUSE: its next BIND makes a new one */
	if (r < 0 && s && s->kind == WSOCK_BOUND)
		wsock_close(s, false);
	return 0;
}

static int on_listen(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_listen *b = IPC_BODY(m, ipc_listen);
	struct wsock *s = NULL;
	int r;

	worker_begin_turn(w);
	r = open_sock(w, b->sock, &b->opts, &s);
	if (r == 0 && s->kind != WSOCK_BOUND && s->kind != WSOCK_LISTEN)
		r = -EINVAL;
	if (r == 0)
		r = ns_sock_listen(w->stack, s->sock, b->backlog);
	if (r == 0) {
		s->kind = WSOCK_LISTEN;
		s->backlog = b->backlog;
		wsock_backlog(s);
	}
	answer(w, IPC_LISTEN_R, b->sock, r);
	return 0;
}

static int on_connect(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_connect *b = IPC_BODY(m, ipc_connect);
	struct ns_endpoint remote = ipc_endpoint_to(&b->remote);
	struct wsock *s = NULL;
	int r;

	worker_begin_turn(w);
	r = open_sock(w, b->sock, &b->opts, &s);
	if (r == 0 && s->kind == WSOCK_DGRAM) {
		answer(w, IPC_CONNECT_R, b->sock, wdgram_connect(s, &remote));
		return 0;
	}
	if (r == 0 && s->kind != WSOCK_BOUND)
		r = -EINVAL;
	if (r == 0) {
		r = ns_sock_connect(w->stack, s->sock, &remote, w->now);
		/* 0: RFC 7413, NS_EV_CONNECTED is there already */
		if (r == 0 || r == -EINPROGRESS)
			s->kind = WSOCK_CONNECTING;
	}
	answer(w, IPC_CONNECT_R, b->sock, r);
	return 0;
}

/** set_attached_opts() - what an accepted socket has from its listener, but for what only a listener can use */
static void set_attached_opts(struct worker *w, ns_sock sock, const struct ipc_opts *opts)
{
	static const enum ns_sockopt of_listeners[] = {
		NS_SO_REUSEADDR, NS_SO_REUSEPORT, NS_TCP_DEFER_ACCEPT,
		NS_TCP_SYNCNT,   NS_TCP_FASTOPEN, NS_TCP_FASTOPEN_CONNECT
	};
	struct ipc_opts o = *opts;

	for (size_t i = 0; i < NS_ARRAY_LEN(of_listeners); i++)
		ipc_opts_unset(&o, of_listeners[i]);
	worker_set_opts(w, sock, &o);
}

static int on_attach(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_attach *b = IPC_BODY(m, ipc_attach);
	struct wsock *s = b->conn ? wsock_find_conn(w, b->conn) : wsock_find(w, b->sock);
	struct ipc_sock_err gone = { .sock = b->sock, .err = -ECONNRESET };
	int fd = ipc_take_fd(m, 0);

	worker_begin_turn(w);
	if (!s || s->kind != WSOCK_OPEN || s->fd >= 0) {
		close(fd);
		worker_tell(w, IPC_DETACHED, &gone);
		return 0;
	}
	if (b->conn) {
		wsock_name(s, b->sock);
		set_attached_opts(w, s->sock, &b->opts);
	}
	if (ipc_opts_has(&b->opts, NS_SO_RCVLOWAT))
		wsock_lowat(s, b->opts.value[NS_SO_RCVLOWAT]);
	wsock_attach(s, fd);
	return 0;
}

static int on_setopt(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_sockopt_set *b = IPC_BODY(m, ipc_sockopt_set);
	struct wsock *s = wsock_find(w, b->sock);

	worker_begin_turn(w);
	if (s && b->option == NS_DGRAM_INFO)
		s->has_info = b->value;
	if (s && b->option == NS_SO_RCVLOWAT)
		wsock_lowat(s, b->value);
	if (s && s->kind == WSOCK_DGRAM && s->sock && b->option == NS_UDP_CORK)
		wdgram_cork(s, b->value);
	else if (s && s->sock)
		(void)!ns_sock_setopt(w->stack, s->sock, (enum ns_sockopt)b->option, b->value);
	return 0;
}

static int on_fastopen_key(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_fastopen_key *b = IPC_BODY(m, ipc_fastopen_key);
	struct wsock *s = wsock_find(w, b->sock);

	if (s && s->sock)
		(void)!ns_sock_set_fastopen_keys(w->stack, s->sock, b->keys, b->len);
	return 0;
}

static int on_getopt(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_getopt *b = IPC_BODY(m, ipc_getopt);
	struct ipc_getopt_result res = { .token = b->token, .err = -ENOTCONN };
	struct wsock *s = wsock_find(w, b->sock);
	int value = 0;

	worker_begin_turn(w);
	if (s && s->sock) {
		if (b->option == NS_TCP_INQ)
			wsock_settle(s); /* the agent counts what is in the pair */
		res.err = ns_sock_getopt(w->stack, s->sock, (enum ns_sockopt)b->option, &value);
		res.value = value;
		if (b->option == NS_TCP_OUTQ || b->option == NS_TCP_OUTQNSD)
			res.value += wsock_unread(s);
	}
	worker_tell(w, IPC_GETOPT_R, &res);
	return 0;
}

static int on_getinfo(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_getopt *b = IPC_BODY(m, ipc_getopt);
	struct ipc_getinfo_result res;
	struct wsock *s = wsock_find(w, b->sock);

	worker_begin_turn(w);
	memset(&res, 0, sizeof(res));
	res.token = b->token;
	res.err = -ENOTCONN;
	if (s && s->sock)
		res.err = ns_sock_tcp_info(w->stack, s->sock, w->now, &res.info);
	worker_tell(w, IPC_GETINFO_R, &res);
	return 0;
}

/* ---- datagrams ---- */

static int on_dgram_channel(void *ctx, struct ipc_msg *m)
{
	return wdgram_channel(ctx, ipc_take_fd(m, 0));
}

static int on_dgram_open(void *ctx, struct ipc_msg *m)
{
	const struct ipc_dgram_open *b = IPC_BODY(m, ipc_dgram_open);

	worker_begin_turn(ctx);
	wdgram_open(ctx, b, ipc_take_fd(m, 0));
	return 0;
}

static int on_dgram_unconnect(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_dgram_sock *b = IPC_BODY(m, ipc_dgram_sock);
	struct wsock *s = wsock_find(w, b->sock);

	worker_begin_turn(w);
	answer(w, IPC_CONNECT_R, b->sock,
	       s && s->kind == WSOCK_DGRAM ? wdgram_connect(s, NULL) : -EINVAL);
	return 0;
}

static void answer_token(struct worker *w, uint32_t token, int err)
{
	struct ipc_getopt_result res = { .token = token, .err = err };

	worker_tell(w, IPC_GETOPT_R, &res);
}

static int on_dgram_check(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_dgram_check *b = IPC_BODY(m, ipc_dgram_check);
	struct wsock *s = wsock_find(w, b->sock);
	struct ns_dgram_tx tx = wdgram_tx(&b->to);

	worker_begin_turn(w);
	if (s && s->kind == WSOCK_DGRAM && (s->gathers || b->to.more) && !wdgram_settle(s))
		s = NULL;
	answer_token(w, b->token, s ? wdgram_check(s, &tx, b->len) : -EBADF);
	return 0;
}

static int on_dgram_group(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_dgram_group *b = IPC_BODY(m, ipc_dgram_group);
	const struct ns_group_req q = {
		.group = b->group, .local = b->local, .source = b->source, .ifindex = b->ifindex
	};
	struct wsock *s = wsock_find(w, b->sock);
	int r = -EBADF;

	worker_begin_turn(w);
	if (s && b->what == IPC_GROUP_IF)
		r = ns_dgram_multicast_if(w->stack, s->sock, &b->local, b->ifindex);
	else if (s)
		r = ns_dgram_group(w->stack, s->sock, (enum ns_group_what)b->what, &q);
	answer_token(w, b->token, r);
	return 0;
}

static int on_dgram_filter(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_dgram_filter *b = IPC_BODY(m, ipc_dgram_filter);
	const struct ns_group_req q = {
		.group = b->group, .local = b->local, .ifindex = b->ifindex, .is_exact = b->is_exact
	};
	struct ns_filter f = { .is_exclude = b->is_exclude, .cnt = b->cnt };
	struct ipc_dgram_filter_r res = { .token = b->token, .err = -EBADF };
	struct wsock *s = wsock_find(w, b->sock);

	worker_begin_turn(w);
	if (b->is_set) {
		memcpy(f.source, b->source, b->cnt * sizeof(f.source[0]));
		answer_token(w, b->token,
			     s ? ns_dgram_set_filter(w->stack, s->sock, &q, &f) : -EBADF);
		return 0;
	}
	if (s)
		res.err = ns_dgram_get_filter(w->stack, s->sock, &q, &f);
	if (res.err == 0) {
		res.is_exclude = f.is_exclude;
		res.cnt = f.cnt;
		memcpy(res.source, f.source, f.cnt * sizeof(f.source[0]));
	}
	worker_tell(w, IPC_DGRAM_FILTER_R, &res);
	return 0;
}

static int on_urgent(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_urgent *b = IPC_BODY(m, ipc_urgent);
	struct wsock *s = wsock_find(w, b->sock);

	worker_begin_turn(w);
	answer_token(w, b->token, s ? wsock_send_urgent(s, (uint8_t)b->octet) : -EPIPE);
	return 0;
}

static int on_urgent_done(void *ctx, struct ipc_msg *m)
{
	const struct ipc_urgent_done *b = IPC_BODY(m, ipc_urgent_done);
	struct wsock *s = wsock_find(ctx, b->sock);

	worker_begin_turn(ctx);
	if (s)
		wsock_urgent_done(s, b->err);
	return 0;
}

static int on_close(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_close *b = IPC_BODY(m, ipc_close);
	struct wsock *s = wsock_find(w, b->sock);

	worker_begin_turn(w);
	if (s)
		wsock_close(s, b->how == IPC_CLOSE_RESET);
	return 0;
}

const ipc_handler_fn worker_agent_handlers[IPC_TYPE_COUNT] = {
	[IPC_BIND] = on_bind,
	[IPC_LISTEN] = on_listen,
	[IPC_CONNECT] = on_connect,
	[IPC_ATTACH] = on_attach,
	[IPC_SETOPT] = on_setopt,
	[IPC_FASTOPEN_KEY] = on_fastopen_key,
	[IPC_GETOPT] = on_getopt,
	[IPC_GETINFO] = on_getinfo,
	[IPC_URGENT] = on_urgent,
	[IPC_URGENT_DONE] = on_urgent_done,
	[IPC_CLOSE] = on_close,
	[IPC_DGRAM_CHANNEL] = on_dgram_channel,
	[IPC_DGRAM_OPEN] = on_dgram_open,
	[IPC_DGRAM_UNCONNECT] = on_dgram_unconnect,
	[IPC_DGRAM_CHECK] = on_dgram_check,
	[IPC_DGRAM_GROUP] = on_dgram_group,
	[IPC_DGRAM_FILTER] = on_dgram_filter,
};

/* ---- the monitor ---- */

static int on_stop(void *ctx, struct ipc_msg *m)
{
	(void)m;
	worker_stop(ctx, EXIT_SUCCESS);
	return 0;
}

static int on_plan(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_plan *b = IPC_BODY(m, ipc_plan);
	int fds[PLAN_LINK_FDS_MAX];
	struct plan plan;
	int r;

	worker_begin_turn(w);
	if (m->fd_cnt != 1 + b->link_fd_cnt || b->link_fd_cnt > PLAN_LINK_FDS_MAX)
		return -EPROTO;
	r = child_plan_read(m->fds[0], b->plan_len, &plan);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < b->link_fd_cnt; i++)
		fds[i] = ipc_take_fd(m, i + 1);
	r = worker_conf(w, &plan, fds, b->link_fd_cnt);
	for (uint32_t i = 0; i < b->link_fd_cnt; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r;
}

static int on_knobs(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_knobs *b = IPC_BODY(m, ipc_knobs);

	for (int i = 0; i < NS_KNOB_COUNT; i++)
		if (ns_stack_set_knob(w->stack, (enum ns_knob)i, b->value[i]) < 0)
			return -EPROTO;
	if (b->fastopen_keys_len)
		return ns_stack_set_fastopen_keys(w->stack, b->fastopen_keys, b->fastopen_keys_len);
	return 0;
}

/** struct report - text for the operator, sent in pieces */
struct report {
	struct worker *w;
	struct ipc_stats out;
};

static void report_send(struct report *r, bool is_last)
{
	r->out.is_last = is_last;
	(void)!ipc_send(&r->w->monitor, IPC_STATS, &r->out, NULL, 0);
	memset(r->out.text, 0, sizeof(r->out.text));
	r->out.len = 0;
}

/** report_line() - one whole line */
__attribute__((format(printf, 2, 3))) static void report_line(struct report *r, const char *fmt,
							      ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n <= 0)
		return;
	if ((size_t)n >= sizeof(line))
		n = sizeof(line) - 1;
	if (r->out.len + (uint32_t)n > sizeof(r->out.text))
		report_send(r, false);
	memcpy(r->out.text + r->out.len, line, (size_t)n);
	r->out.len += (uint32_t)n;
}

static void report_text(void *ctx, const char *line)
{
	report_line(ctx, "%s\n", line);
}

static void report_counters(struct report *r)
{
	struct worker *w = r->w;

	for (uint32_t i = 0; i < ns_stack_stat_cnt(); i++)
		report_line(r, "%s %" PRIu64 "\n", ns_stack_stat_name(i),
			    ns_stack_stat(w->stack, i));
	report_line(r, "worker_turns %" PRIu64 "\n", w->turn_cnt);
	report_line(r, "worker_timer_wakeups %" PRIu64 "\n", w->timer_cnt);
	report_line(r, "worker_sockets %" PRIu32 "\n", w->sock_cnt);
}

static void endpoint_text(const struct ns_endpoint *e, char *buf, size_t len)
{
	struct ns_addr wire = ns_addr_zoned(e->addr, 0);
	unsigned zone = ns_addr_zone(&e->addr);
	const uint8_t *b = e->addr.b;
	char text[INET6_ADDRSTRLEN];

	if (ns_addr_is_v4(&e->addr))
		(void)snprintf(buf, len, "%u.%u.%u.%u:%u", b[12], b[13], b[14], b[15], e->port);
	else if (ns_addr_is_any(&e->addr))
		(void)snprintf(buf, len, "*:%u", e->port);
	else if (inet_ntop(AF_INET6, wire.b, text, sizeof(text)) && zone)
		(void)snprintf(buf, len, "[%s%%%u]:%u", text, zone, e->port);
	else
		(void)snprintf(buf, len, "[%s]:%u", text, e->port);
}

static void report_socket(void *ctx, const struct ns_sock_row *row)
{
	char local[64] = "?", remote[64] = "?";

	endpoint_text(&row->local, local, sizeof(local));
	endpoint_text(&row->remote, remote, sizeof(remote));
	report_line(ctx, "%s %s %s %" PRIu64 " %" PRIu64 "\n", row->state, local, remote,
		    row->sndq_len, row->rcvq_len);
}

static void report_link(struct report *r, struct wlink *l)
{
	struct drv *d = &l->drv;

	if (l->kind->count)
		l->kind->count(d);
	report_line(r,
		    "%s %s rx_frames=%" PRIu64 " rx_octets=%" PRIu64 " rx_calls=%" PRIu64
		    " rx_syns=%" PRIu64 " rx_short=%" PRIu64 " rx_cut=%" PRIu64
		    " rx_no_room=%" PRIu64 " rx_lost=%" PRIu64 " rx_syns_lost=%" PRIu64
		    " rx_errors=%" PRIu64 " tx_frames=%" PRIu64 " tx_super=%" PRIu64
		    " tx_octets=%" PRIu64 " tx_calls=%" PRIu64 " tx_blocked=%" PRIu64
		    " tx_dropped=%" PRIu64 " tx_errors=%" PRIu64 "\n",
		    l->name, l->kind->name, d->cnt.rx_frames, d->cnt.rx_octets, d->cnt.rx_calls,
		    d->cnt.rx_syns, d->cnt.rx_short, d->cnt.rx_cut, d->cnt.rx_no_room,
		    d->cnt.rx_lost, d->cnt.rx_syns_lost, d->cnt.rx_errors, d->cnt.tx_frames,
		    d->cnt.tx_super, d->cnt.tx_octets, d->cnt.tx_calls, d->cnt.tx_blocked,
		    d->cnt.tx_dropped, d->cnt.tx_errors);
}

static int on_stats_req(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;
	const struct ipc_stats_req *req = IPC_BODY(m, ipc_stats_req);
	struct report r = { .w = w, .out = { .token = req->token } };

	worker_begin_turn(w);
	switch ((enum ipc_stats_kind)req->kind) {
	case IPC_STATS_COUNTERS:
		report_counters(&r);
		break;
	case IPC_STATS_SOCKETS:
		ns_stack_sockets(w->stack, report_socket, &r);
		break;
	case IPC_STATS_LINKS:
		for (uint32_t i = 0; i < w->link_cnt; i++)
			if (w->links[i].is_used)
				report_link(&r, &w->links[i]);
		break;
	case IPC_STATS_ROUTES:
		worker_routes(w, req->text, report_text, &r);
		break;
	case IPC_STATS_KIND_COUNT:
		break;
	}
	report_send(&r, true);
	return 0;
}

const ipc_handler_fn worker_monitor_handlers[IPC_TYPE_COUNT] = {
	[IPC_STOP] = on_stop,
	[IPC_PLAN] = on_plan,
	[IPC_KNOBS] = on_knobs,
	[IPC_STATS_REQ] = on_stats_req,
};
