/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_ctl.c - what agent and monitor ask of the worker
 *
 * Theory of operation
 *
 * One handler per message. The agent has checked the container's arguments and decides what is
 * allowed when; the worker asks the stack and says what came of it. A message about a socket that is
 * gone is no error: it crossed the word that it is gone. A handler that returns a negative errno ends
 * the role, which is what a peer that breaks the protocol gets.
 *
 * Statistics leave as whole lines of text, as many messages as they need.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/worker_int.h"

void worker_tell_agent(struct worker *w, enum ipc_type type, const void *body)
{
	int r = ipc_send(&w->agent, type, body, NULL, 0);

	if (r < 0 && !w->is_stopping) {
		log_err(r, "cannot tell the agent %s: it does not read", ipc_type_name(type));
		worker_fail(w);
	}
}

/* --- agent: sockets --------------------------------------------------------------------------- */

/** socket_for() - the socket of a message, made when the message is the first about it */
static int socket_for(struct worker *w, uint32_t sock, const struct ipc_opts *opts,
		      struct wsock **ret_sock)
{
	int r = 0;

	*ret_sock = wsock_find(w, sock);
	if (!*ret_sock)
		r = wsock_new(w, sock, ret_sock);
	/* An option that the stack does not take must not fail bind(): the agent has answered for it. */
	if (r == 0)
		(void)!wsock_opts(*ret_sock, opts);
	return r;
}

static void tell_result(struct worker *w, enum ipc_type type, uint32_t sock, int err)
{
	struct ipc_sock_result body = { .sock = sock, .err = err };
	struct wsock *k = wsock_find(w, sock);
	struct ns_endpoint local = { 0 };

	if (k && ns_sock_local(w->stack, k->h, &local) == 0)
		body.local = ipc_endpoint_from(&local);
	worker_tell_agent(w, type, &body);
}

static int on_bind(void *ctx, struct ipc_msg *m)
{
	const struct ipc_bind *b = IPC_BODY(m, ipc_bind);
	struct worker *w = ctx;
	struct wsock *k;
	struct ns_endpoint local = ipc_endpoint_to(&b->local);
	int r = socket_for(w, b->sock, &b->opts, &k);

	if (r == 0) {
		r = ns_sock_bind(w->stack, k->h, &local);
		if (r < 0 && k->state == WSOCK_BOUND && r != -EINVAL)
			wsock_free(k, true); /* the next attempt starts afresh */
	}
	tell_result(w, IPC_BIND_R, b->sock, r);
	return 0;
}

static int on_listen(void *ctx, struct ipc_msg *m)
{
	const struct ipc_listen *b = IPC_BODY(m, ipc_listen);
	struct worker *w = ctx;
	struct wsock *k;
	int r = socket_for(w, b->sock, &b->opts, &k);

	if (r == 0) {
		r = ns_sock_listen(w->stack, k->h, b->backlog);
		if (r == 0)
			k->state = WSOCK_LISTEN;
	}
	tell_result(w, IPC_LISTEN_R, b->sock, r);
	return 0;
}

static int on_connect(void *ctx, struct ipc_msg *m)
{
	const struct ipc_connect *b = IPC_BODY(m, ipc_connect);
	struct worker *w = ctx;
	struct wsock *k;
	struct ns_endpoint remote = ipc_endpoint_to(&b->remote);
	int r = socket_for(w, b->sock, &b->opts, &k);

	if (r == 0) {
		r = ns_sock_connect(w->stack, k->h, &remote, worker_now());
		if (r == -EINPROGRESS || r == 0)
			k->state = WSOCK_CONNECTING;
	}
	tell_result(w, IPC_CONNECT_R, b->sock, r == 0 ? -EINPROGRESS : r);
	return 0;
}

static int on_attach(void *ctx, struct ipc_msg *m)
{
	const struct ipc_attach *b = IPC_BODY(m, ipc_attach);
	struct worker *w = ctx;
	struct wsock *k = b->conn ? wsock_find_pending(w, b->conn) : wsock_find(w, b->sock);

	if (!k) {
		/* The connection ended while the agent gave it a pair; its descriptor closes with the message. */
		struct ipc_sock_err body = { .sock = b->sock, .err = -ECONNRESET };

		worker_tell_agent(w, IPC_DETACHED, &body);
		return 0;
	}
	if (b->conn) {
		int r = wsock_adopt(k, b->sock);

		if (r < 0)
			return log_err(
				r, "the agent named a connection %#x that has that name already",
				b->sock);
	} else if (k->state != WSOCK_CONNECTED) {
		log_errx("the agent sent a pair for socket %#x, which has not connected", b->sock);
		return -EPROTO;
	}
	(void)!wsock_opts(k, &b->opts);
	wsock_attach(k, ipc_take_fd(m, 0));
	return 0;
}

static int on_setopt(void *ctx, struct ipc_msg *m)
{
	const struct ipc_sockopt_set *b = IPC_BODY(m, ipc_sockopt_set);
	struct worker *w = ctx;
	struct wsock *k = wsock_find(w, b->sock);

	if (k)
		(void)!ns_sock_setopt(w->stack, k->h, (enum ns_sockopt)b->option, b->value);
	return 0;
}

static int on_getopt(void *ctx, struct ipc_msg *m)
{
	const struct ipc_getopt *b = IPC_BODY(m, ipc_getopt);
	struct worker *w = ctx;
	struct wsock *k = wsock_find(w, b->sock);
	struct ipc_getopt_result body = { .token = b->token, .err = -ENOTCONN };

	if (k)
		body.err = ns_sock_getopt(w->stack, k->h, (enum ns_sockopt)b->option, &body.value);
	worker_tell_agent(w, IPC_GETOPT_R, &body);
	return 0;
}

static int on_getinfo(void *ctx, struct ipc_msg *m)
{
	const struct ipc_getopt *b = IPC_BODY(m, ipc_getopt);
	struct worker *w = ctx;
	struct wsock *k = wsock_find(w, b->sock);
	struct ipc_getinfo_result body = { .token = b->token, .err = -ENOTCONN };

	if (k)
		body.err = ns_sock_tcp_info(w->stack, k->h, worker_now(), &body.info);
	worker_tell_agent(w, IPC_GETINFO_R, &body);
	return 0;
}

static int on_close(void *ctx, struct ipc_msg *m)
{
	const struct ipc_close *b = IPC_BODY(m, ipc_close);
	struct wsock *k = wsock_find(ctx, b->sock);

	if (k)
		wsock_free(k, b->how == IPC_CLOSE_RESET);
	return 0;
}

const ipc_handler_fn *worker_ctl_agent(void)
{
	static const ipc_handler_fn handlers[IPC_TYPE_COUNT] = {
		[IPC_BIND] = on_bind,       [IPC_LISTEN] = on_listen, [IPC_CONNECT] = on_connect,
		[IPC_ATTACH] = on_attach,   [IPC_SETOPT] = on_setopt, [IPC_GETOPT] = on_getopt,
		[IPC_GETINFO] = on_getinfo, [IPC_CLOSE] = on_close,
	};

	return handlers;
}

/* --- monitor: statistics, links, the end ------------------------------------------------------ */

/** struct report - text on its way to the monitor, cut into messages at line ends */
struct report {
	struct worker *worker;
	struct ipc_stats body;
};

static void report_send(struct report *r, bool is_last)
{
	r->body.is_last = is_last;
	if (r->body.len == 0 && !is_last)
		return;
	if (ipc_send(&r->worker->monitor, IPC_STATS, &r->body, NULL, 0) < 0)
		worker_fail(r->worker);
	r->body.len = 0;
	memset(r->body.text, 0, sizeof(r->body.text));
}

/** report_line() - add one line; what does not fit into a message is cut */
static void ns_printf(2, 3) report_line(struct report *r, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	len = (int)ns_min_u((unsigned)len, sizeof(line) - 1);
	if (r->body.len + (unsigned)len > sizeof(r->body.text))
		report_send(r, false);
	memcpy(r->body.text + r->body.len, line, (size_t)len);
	r->body.len += (uint32_t)len;
}

static void report_counters(struct report *r)
{
	const struct worker *w = r->worker;

	for (uint32_t i = 0; i < ns_stack_stat_cnt(); i++)
		report_line(r, "%s %" PRIu64 "\n", ns_stack_stat_name(i),
			    ns_stack_stat(w->stack, i));
	report_line(r, "WORKER_SOCKETS %" PRIu64 "\n", w->sock_cnt);
	report_line(r, "WORKER_TURNS %" PRIu64 "\n", w->turn_cnt);
	report_line(r, "WORKER_OCTETS_FROM_PROGRAMS %" PRIu64 "\n", w->bytes_from_program);
	report_line(r, "WORKER_OCTETS_TO_PROGRAMS %" PRIu64 "\n", w->bytes_to_program);
}

static void report_links(struct report *r)
{
	static const char *const mode[] = {
		[NS_GSO_NONE] = "none",
		[NS_GSO_SW] = "software-gso",
		[NS_GSO_HW] = "gso",
	};
	const struct worker *w = r->worker;

	for (uint32_t i = 0; i < w->link_cnt; i++) {
		const struct worker_link *l = &w->links[i];
		const struct drv_stats *s = &l->drv->stats;

		report_line(r,
			    "%s mode=%s rx_frames=%" PRIu64 " rx_calls=%" PRIu64
			    " rx_truncated=%" PRIu64 " rx_bad_vnet=%" PRIu64
			    " rx_no_memory=%" PRIu64 " rx_errors=%" PRIu64 "\n",
			    l->name, mode[ns_stack_link_mode(w->stack, l->link_id)], s->rx_frames,
			    s->rx_calls, s->rx_truncated, s->rx_bad_vnet, s->rx_no_memory,
			    s->rx_errors);
		report_line(r,
			    "%s tx_frames=%" PRIu64 " tx_calls=%" PRIu64 " tx_errors=%" PRIu64 "\n",
			    l->name, s->tx_frames, s->tx_calls, s->tx_errors);
	}
}

static void endpoint_text(const struct ns_endpoint *e, char *buf, size_t len)
{
	char addr[INET6_ADDRSTRLEN] = "";

	if (ns_addr_is_v4(&e->addr) || ns_addr_is_any(&e->addr))
		(void)inet_ntop(AF_INET, e->addr.b + 12, addr, sizeof(addr));
	else
		(void)inet_ntop(AF_INET6, e->addr.b, addr, sizeof(addr));
	(void)snprintf(buf, len, "%s:%u", addr, e->port);
}

static void report_socket(void *ctx, const struct ns_sock_row *row)
{
	char local[64], remote[64];

	endpoint_text(&row->local, local, sizeof(local));
	endpoint_text(&row->remote, remote, sizeof(remote));
	report_line(ctx, "%s %s %s %" PRIu64 " %" PRIu64 "\n", row->state, local, remote,
		    row->sndq_len, row->rcvq_len);
}

static int on_stats_req(void *ctx, struct ipc_msg *m)
{
	const struct ipc_stats_req *b = IPC_BODY(m, ipc_stats_req);
	struct report r = { .worker = ctx, .body = { .token = b->token } };

	switch ((enum ipc_stats_kind)b->kind) {
	case IPC_STATS_COUNTERS:
		report_counters(&r);
		break;
	case IPC_STATS_SOCKETS:
		ns_stack_sockets(r.worker->stack, report_socket, &r);
		break;
	case IPC_STATS_LINKS:
		report_links(&r);
		break;
	case IPC_STATS_KIND_COUNT:
		break;
	}
	report_send(&r, true);
	return 0;
}

static int on_link_state(void *ctx, struct ipc_msg *m)
{
	const struct ipc_link_state *b = IPC_BODY(m, ipc_link_state);
	struct worker *w = ctx;

	if (b->link_idx >= w->link_cnt)
		return -EPROTO;
	return ns_stack_set_link_up(w->stack, w->links[b->link_idx].link_id, b->is_up);
}

static int on_stop(void *ctx, struct ipc_msg *m)
{
	struct worker *w = ctx;

	(void)m;
	w->is_stopping = true;
	return 0;
}

const ipc_handler_fn *worker_ctl_monitor(void)
{
	static const ipc_handler_fn handlers[IPC_TYPE_COUNT] = {
		[IPC_STOP] = on_stop,
		[IPC_LINK_STATE] = on_link_state,
		[IPC_STATS_REQ] = on_stats_req,
	};

	return handlers;
}
