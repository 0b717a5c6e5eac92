/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_opt.c - options of sockets, through the table that programs under sluice get */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <linux/inet_diag.h>
#include <linux/tcp.h>

#include "plugin.h"

enum {
	TCP_INFO_MAX =
		512, /* octets: newer programs know a longer struct; what we have no value for is 0 */
	MEMINFO_LEN = 9 * sizeof(uint32_t),
};

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

/* A refusal by the stack of what is only remembered (no connection yet) does not reach the program. */
static int set_locked(struct psock *s, int level, int name, const void *val, socklen_t len)
{
	uint8_t buf[AOPT_VALUE_MAX] = { 0 };
	struct aopt_result res;
	int r;

	memcpy(buf, val, len < sizeof(buf) ? len : sizeof(buf));
	r = aopt_set(&s->opts, s->family, level, name, buf, (int)len, &res);
	if (r < 0 || res.todo != AOPT_TO_STACK)
		return r;
	r = ns_sock_setopt(s->plugin->w.stack, s->h, res.option, res.value);
	world_turn(&s->plugin->w);
	return r;
}

int plugin_setsockopt(void *self, int fd, int level, int name, const void *val, socklen_t len)
{
	struct plugin *p = self;
	struct psock *s;
	int r = -EBADF;

	pthread_mutex_lock(&p->w.lock);
	s = plugin_sock(p, fd);
	if (s)
		r = set_locked(s, level, name, val, len);
	pthread_mutex_unlock(&p->w.lock);
	return r < 0 ? plugin_fail(r) : 0;
}

static int get_info(struct psock *s, void *val, socklen_t *len)
{
	uint8_t buf[TCP_INFO_MAX] = { 0 };
	struct ns_tcp_info info;
	int r = ns_sock_tcp_info(s->plugin->w.stack, s->h, s->plugin->w.now, &info);

	if (r < 0)
		return r;
	aopt_tcp_info(&info, buf);
	if (*len > sizeof(buf))
		*len = sizeof(buf);
	memcpy(val, buf, *len);
	return 0;
}

static int get_state(struct psock *s, const struct aopt_result *res, void *val, socklen_t *len)
{
	int v = 0;

	if (res->level == IPPROTO_TCP && res->name == TCP_INFO)
		return get_info(s, val, len);
	if (res->level == SOL_SOCKET && res->name == SO_ERROR) {
		v = -s->err;
		s->err = 0;
	} else if (res->level == SOL_SOCKET && res->name == SO_ACCEPTCONN) {
		v = s->is_listener;
	} else if (res->level == SOL_SOCKET && res->name == SO_DOMAIN) {
		v = s->family;
	}
	if (*len > sizeof(v))
		*len = sizeof(v);
	memcpy(val, &v, *len);
	return 0;
}

static int get_locked(struct psock *s, int level, int name, void *val, socklen_t *len)
{
	struct aopt_result res;
	int r;

	/* packetdrill asks for these with every check of TCP_INFO; no script of ours looks at them */
	if (level == SOL_SOCKET && name == SO_MEMINFO && *len >= MEMINFO_LEN) {
		memset(val, 0, MEMINFO_LEN);
		*len = MEMINFO_LEN;
		return 0;
	}
	if (level == IPPROTO_TCP && name == TCP_CC_INFO) {
		*len = 0;
		return 0;
	}
	r = aopt_get(&s->opts, s->family, level, name, (int)*len, s->is_connected, &res);
	if (r < 0)
		return r;
	if (res.todo == AOPT_TO_STATE)
		return get_state(s, &res, val, len);
	if (res.todo == AOPT_TO_STACK) {
		int v;

		r = ns_sock_getopt(s->plugin->w.stack, s->h, res.option, &v);
		if (r < 0)
			return r;
		memcpy(res.buf, &v, sizeof(v));
		res.len = sizeof(v);
	}
	if (res.todo == AOPT_TO_KERNEL)
		return -ENOPROTOOPT;
	if (*len > res.len)
		*len = (socklen_t)res.len;
	memcpy(val, res.buf, *len);
	return 0;
}

int plugin_getsockopt(void *self, int fd, int level, int name, void *val, socklen_t *len)
{
	struct plugin *p = self;
	struct psock *s;
	int r = -EBADF;

	pthread_mutex_lock(&p->w.lock);
	s = plugin_sock(p, fd);
	if (s)
		r = get_locked(s, level, name, val, len);
	pthread_mutex_unlock(&p->w.lock);
	return r < 0 ? plugin_fail(r) : 0;
}
