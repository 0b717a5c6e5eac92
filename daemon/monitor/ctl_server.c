/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl_server - the operator's socket: one word a line in, one line of JSON out
 *
 * Theory of operation: `<state-dir>/<id>/ctl.sock`, mode 0600, root only. A connection has one
 * request under way at a time; the next line is looked at when the answer was given. The token of a
 * request is its connection's slot and a count, so that an answer that comes late, from a child, never
 * reaches another connection.
 *
 * Limits: CTL_CONNS_MAX connections, CTL_REQUEST_MAX octets a line, CTL_IDLE_S seconds of silence.
 *
 * Syscalls: #syscalls monitor: socket bind listen accept4 getsockopt chmod unlink readv writev
 */
#include "daemon/monitor/ctl_server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/common/log.h"

#define CTL_IDLE_S 30

struct conn {
	struct ctl_server *s;
	struct bufferevent *bev; /* NULL: free */
	uint32_t count;
	bool is_waiting; /* for an answer */
};

struct ctl_server {
	struct event_base *base;
	void (*on_request)(void *ctx, uint32_t token, const char *word);
	void *ctx;
	struct sockaddr_un addr;
	int fd;
	struct event *ev;
	struct conn conns[CTL_CONNS_MAX];
};

static uint32_t token_of(const struct conn *c)
{
	return (uint32_t)(c - c->s->conns) | c->count << 8;
}

static void conn_close(struct conn *c)
{
	bufferevent_free(c->bev);
	c->bev = NULL;
	c->is_waiting = false;
	c->count++;
}

/* The next line, if there is one and nothing is under way. */
static void conn_step(struct conn *c)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	size_t len;
	char *line;

	if (c->is_waiting)
		return;
	line = evbuffer_readln(in, &len, EVBUFFER_EOL_CRLF);
	if (!line) {
		if (evbuffer_get_length(in) >= CTL_REQUEST_MAX)
			conn_close(c);
		return;
	}
	c->is_waiting = true;
	c->count++;
	c->s->on_request(c->s->ctx, token_of(c), strlen(line) == len ? line : "");
	free(line);
}

static void on_read(struct bufferevent *bev, void *arg)
{
	(void)bev;
	conn_step(arg);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)what;
	conn_close(arg); /* end, error or silence */
}

void ctl_server_answer(struct ctl_server *s, uint32_t token, struct json_object *answer)
{
	struct conn *c = (token & 0xff) < CTL_CONNS_MAX ? &s->conns[token & 0xff] : NULL;
	const char *text;

	if (c && c->bev && c->is_waiting && token_of(c) == token) {
		text = answer ? json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PLAIN)
			      : NULL;
		if (!text)
			text = "{\"error\":\"out of memory\"}";
		(void)evbuffer_add_printf(bufferevent_get_output(c->bev), "%s\n", text);
		c->is_waiting = false;
		conn_step(c);
	}
	json_object_put(answer);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval idle = { .tv_sec = CTL_IDLE_S };
	struct ctl_server *s = arg;
	struct conn *c = NULL;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int conn_fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)what;
	if (conn_fd < 0)
		return;
	for (size_t i = 0; i < CTL_CONNS_MAX && !c; i++)
		if (!s->conns[i].bev)
			c = &s->conns[i];
	if (!c || getsockopt(conn_fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 ||
	    (cred.uid != 0 && cred.uid != geteuid())) {
		close(conn_fd);
		return;
	}
	c->s = s;
	c->bev = bufferevent_socket_new(s->base, conn_fd, BEV_OPT_CLOSE_ON_FREE);
	if (!c->bev) {
		close(conn_fd);
		return;
	}
	bufferevent_setcb(c->bev, on_read, NULL, on_event, c);
	bufferevent_setwatermark(c->bev, EV_READ, 0, CTL_REQUEST_MAX);
	(void)bufferevent_set_timeouts(c->bev, &idle, &idle);
	if (bufferevent_enable(c->bev, EV_READ | EV_WRITE) < 0)
		conn_close(c);
}

static int server_bind(struct ctl_server *s)
{
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return -errno;
	if (unlink(s->addr.sun_path) < 0 && errno != ENOENT)
		return -errno;
	if (bind(s->fd, (const struct sockaddr *)&s->addr, sizeof(s->addr)) < 0 ||
	    chmod(s->addr.sun_path, 0600) < 0 || listen(s->fd, (int)CTL_CONNS_MAX) < 0)
		return -errno;
	s->ev = event_new(s->base, s->fd, EV_READ | EV_PERSIST, on_accept, s);
	return s->ev && event_add(s->ev, NULL) == 0 ? 0 : -ENOMEM;
}

int ctl_server_new(struct event_base *base, const char *path,
		   void (*on_request)(void *ctx, uint32_t token, const char *word), void *ctx,
		   struct ctl_server **ret)
{
	struct ctl_server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return log_err(-ENOMEM, "cannot make the control socket %s", path);
	s->base = base;
	s->on_request = on_request;
	s->ctx = ctx;
	s->fd = -1;
	s->addr.sun_family = AF_UNIX;
	(void)snprintf(s->addr.sun_path, sizeof(s->addr.sun_path), "%s", path);
	r = server_bind(s);
	if (r < 0) {
		log_err(r, "cannot make the control socket %s", path);
		ctl_server_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void ctl_server_free(struct ctl_server *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < CTL_CONNS_MAX; i++)
		if (s->conns[i].bev)
			conn_close(&s->conns[i]);
	if (s->ev)
		event_free(s->ev);
	if (s->fd >= 0)
		close(s->fd);
	(void)unlink(s->addr.sun_path);
	free(s);
}
