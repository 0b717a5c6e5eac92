/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener - the socket on which an OCI runtime hands over a container (listenerPath)
 *
 * Theory of operation: a runtime connects, sends one JSON value (OCI runtime specification,
 * ContainerProcessState) with the descriptors its "fds" array names beside it, and closes. The value
 * may come in pieces; the descriptors come with the first. It is complete when the parser says so.
 *
 * Who connects is not a container: the socket is the host's, mode 0600, and the peer must be root or
 * who runs the daemon. What it says is held against the descriptors all the same: as many as the
 * array has names, one of them "seccompFd". Everything else is closed and counted.
 *
 * Limits: LISTENER_STATE_MAX octets, LISTENER_FDS_MAX descriptors, LISTENER_CONNS_MAX connections
 * (more wait in the backlog), LISTENER_WAIT_S seconds.
 *
 * Syscalls: #syscalls monitor: socket bind listen accept4 recvmsg getsockopt chmod connect unlink
 *
 * References: OCI runtime-spec config-linux.md "The Container Process State"
 */
#include "daemon/monitor/listener.h"

#include <errno.h>
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

#define NOTIFY_FD_NAME "seccompFd"
#define JSON_DEPTH     32
#define READ_SIZE      16384

struct conn {
	struct listener *l; /* NULL: free */
	int fd;
	struct event *ev, *ev_deadline;
	char *text;
	size_t len;
	int fds[LISTENER_FDS_MAX];
	size_t fd_cnt;
};

struct listener {
	struct event_base *base;
	void (*on_state)(void *ctx, const struct listener_state *state);
	void *ctx;
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	int fd;
	struct event *ev;
	uint64_t refused_cnt;
	struct conn conns[LISTENER_CONNS_MAX];
};

/* ---- the value ---- */

static struct json_object *member(struct json_object *obj, const char *key, enum json_type type)
{
	struct json_object *val;

	if (!json_object_is_type(obj, json_type_object) ||
	    !json_object_object_get_ex(obj, key, &val) || !json_object_is_type(val, type))
		return NULL;
	return val;
}

static int state_read(struct json_object *obj, size_t fd_cnt, struct listener_state *ret,
		      size_t *ret_fd_idx)
{
	struct json_object *fds = member(obj, "fds", json_type_array);
	struct json_object *state = member(obj, "state", json_type_object);
	struct json_object *pid = state ? member(state, "pid", json_type_int) : NULL;
	struct json_object *id = state ? member(state, "id", json_type_string) : NULL;
	struct json_object *bundle = state ? member(state, "bundle", json_type_string) : NULL;
	size_t found = 0;
	int64_t num;

	if (!fds || !pid || !id || json_object_array_length(fds) != fd_cnt)
		return -EINVAL;
	for (size_t i = 0; i < fd_cnt; i++) {
		struct json_object *name = json_object_array_get_idx(fds, i);

		if (!json_object_is_type(name, json_type_string))
			return -EINVAL;
		if (strcmp(json_object_get_string(name), NOTIFY_FD_NAME) == 0) {
			*ret_fd_idx = i;
			found++;
		}
	}
	num = json_object_get_int64(pid);
	if (found != 1 || num < 0 || num > INT32_MAX)
		return -EINVAL;
	ret->pid = (pid_t)num;
	(void)snprintf(ret->id, sizeof(ret->id), "%s", json_object_get_string(id));
	ret->bundle[0] = '\0';
	if (bundle && json_object_get_string_len(bundle) < (int)sizeof(ret->bundle))
		(void)snprintf(ret->bundle, sizeof(ret->bundle), "%s",
			       json_object_get_string(bundle));
	return 0;
}

static bool is_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(" \t\r\n", text[i]) || text[i] == '\0')
			return false;
	return true;
}

int listener_state_parse(const char *text, size_t len, size_t fd_cnt, struct listener_state *ret,
			 size_t *ret_fd_idx)
{
	struct json_tokener *tok = json_tokener_new_ex(JSON_DEPTH);
	struct json_object *obj;
	enum json_tokener_error err;
	size_t end;
	int r;

	if (!tok)
		return -EINVAL;
	obj = json_tokener_parse_ex(tok, text, (int)len);
	err = json_tokener_get_error(tok);
	end = json_tokener_get_parse_end(tok);
	json_tokener_free(tok);
	if (err == json_tokener_continue)
		r = -EAGAIN;
	else if (err != json_tokener_success || !is_blank(text + end, len - end))
		r = -EINVAL;
	else
		r = state_read(obj, fd_cnt, ret, ret_fd_idx);
	json_object_put(obj);
	return r;
}

/* ---- a connection ---- */

static void conn_close(struct conn *c)
{
	for (size_t i = 0; i < c->fd_cnt; i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	if (c->ev)
		event_free(c->ev);
	if (c->ev_deadline)
		event_free(c->ev_deadline);
	close(c->fd);
	free(c->text);
	memset(c, 0, sizeof(*c));
}

static void conn_refuse(struct conn *c, const char *why)
{
	c->l->refused_cnt++;
	log_warnx("a connection to %s was closed: %s", c->l->path, why);
	conn_close(c);
}

/* Takes over what came beside the octets. Return: false when there were too many. */
static bool conn_take_fds(struct conn *c, struct msghdr *mh)
{
	bool ok = !(mh->msg_flags & MSG_CTRUNC);

	for (struct cmsghdr *cm = CMSG_FIRSTHDR(mh); cm; cm = CMSG_NXTHDR(mh, cm)) {
		size_t cnt = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < cnt; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(cm) + i * sizeof(int), sizeof(fd));
			if (c->fd_cnt < LISTENER_FDS_MAX)
				c->fds[c->fd_cnt++] = fd;
			else {
				close(fd);
				ok = false;
			}
		}
	}
	return ok;
}

static ssize_t conn_recv(struct conn *c, bool *ret_ok)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * (LISTENER_FDS_MAX + 1))];
	} control;
	struct iovec iov = { .iov_base = c->text + c->len, .iov_len = READ_SIZE };
	struct msghdr mh = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(c->fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*ret_ok = n < 0 || conn_take_fds(c, &mh);
	return n;
}

/*
 * One more piece, parsed from the start again: runtimes send one. Afterwards the connection waits for
 * more or is gone.
 */
static void conn_step(struct conn *c)
{
	struct listener_state state = { .notify_fd = -1 };
	size_t fd_idx = 0;
	char *grown = c->len < LISTENER_STATE_MAX ? realloc(c->text, c->len + READ_SIZE) : NULL;
	bool fds_ok;
	ssize_t n;
	int r;

	if (!grown) {
		conn_refuse(c, "its state is longer than 1 MiB");
		return;
	}
	c->text = grown;
	n = conn_recv(c, &fds_ok);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || !fds_ok) {
		conn_refuse(c, !fds_ok ? "it sent too many descriptors"
				       : "it ended before its state was complete");
		return;
	}
	c->len += (size_t)n;
	r = listener_state_parse(c->text, c->len, c->fd_cnt, &state, &fd_idx);
	if (r == -EAGAIN)
		return;
	if (r < 0) {
		conn_refuse(c, "what it sent is no container state with its seccomp descriptor");
		return;
	}
	state.notify_fd = c->fds[fd_idx];
	c->fds[fd_idx] = -1;
	c->l->on_state(c->l->ctx, &state);
	conn_close(c);
}

static void on_conn(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	conn_step(arg);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	conn_refuse(arg, "its state did not come in time");
}

/* ---- accepting ---- */

static bool peer_is_trusted(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
	       (cred.uid == 0 || cred.uid == geteuid());
}

static struct conn *conn_slot(struct listener *l)
{
	for (size_t i = 0; i < LISTENER_CONNS_MAX; i++)
		if (!l->conns[i].l)
			return &l->conns[i];
	return NULL;
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval wait = { .tv_sec = LISTENER_WAIT_S };
	struct listener *l = arg;
	struct conn *c = conn_slot(l);
	int conn_fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)what;
	if (conn_fd < 0)
		return;
	if (!c || !peer_is_trusted(conn_fd)) {
		l->refused_cnt++;
		log_warnx("a connection to %s was closed: %s", l->path,
			  c ? "only root may hand over containers" : "too many at a time");
		close(conn_fd);
		return;
	}
	c->l = l;
	c->fd = conn_fd;
	c->ev = event_new(l->base, conn_fd, EV_READ | EV_PERSIST, on_conn, c);
	c->ev_deadline = evtimer_new(l->base, on_deadline, c);
	if (!c->ev || !c->ev_deadline || event_add(c->ev, NULL) < 0 ||
	    event_add(c->ev_deadline, &wait) < 0)
		conn_refuse(c, "out of memory");
}

/* A socket file whose owner is dead refuses connections; one that does not is another's. */
static bool is_alive(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool alive;

	if (fd < 0)
		return false;
	alive = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0 || errno == EAGAIN;
	close(fd);
	return alive;
}

static int listener_bind(struct listener *l)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	memcpy(addr.sun_path, l->path, sizeof(addr.sun_path));
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return -errno;
	if (is_alive(&addr))
		return -EADDRINUSE;
	if (unlink(l->path) < 0 && errno != ENOENT)
		return -errno;
	if (bind(l->fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    chmod(l->path, 0600) < 0 || listen(l->fd, 64) < 0)
		return -errno;
	return 0;
}

int listener_new(struct event_base *base, const char *path,
		 void (*on_state)(void *ctx, const struct listener_state *state), void *ctx,
		 struct listener **ret)
{
	struct listener *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return log_err(-ENOMEM, "cannot listen on %s", path);
	l->base = base;
	l->on_state = on_state;
	l->ctx = ctx;
	l->fd = -1;
	(void)snprintf(l->path, sizeof(l->path), "%s", path);
	r = listener_bind(l);
	if (r == 0) {
		l->ev = event_new(base, l->fd, EV_READ | EV_PERSIST, on_accept, l);
		r = l->ev && event_add(l->ev, NULL) == 0 ? 0 : -ENOMEM;
	}
	if (r < 0) {
		log_err(r, "cannot listen on %s for the OCI runtime", path);
		l->path[0] = '\0'; /* not ours to remove */
		listener_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

void listener_free(struct listener *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < LISTENER_CONNS_MAX; i++)
		if (l->conns[i].l)
			conn_close(&l->conns[i]);
	if (l->ev)
		event_free(l->ev);
	if (l->fd >= 0)
		close(l->fd);
	if (l->path[0])
		(void)unlink(l->path);
	free(l);
}

uint64_t listener_refused_cnt(const struct listener *l)
{
	return l ? l->refused_cnt : 0;
}
