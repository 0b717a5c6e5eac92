/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_poll.c - poll and epoll over sockets of the stack */
#include <errno.h>

#include "plugin.h"

/* Events below which both calls agree; EPOLL* and POLL* have the same values on Linux. */
enum { ALWAYS = POLLERR | POLLHUP };

static uint64_t timeout_ns(int timeout_ms)
{
	return timeout_ms < 0 ? UINT64_MAX : (uint64_t)timeout_ms * NS_PER_MS;
}

/* --- poll ------------------------------------------------------------------------------------ */

struct poll_call {
	struct plugin *p;
	struct pollfd *fds;
	nfds_t cnt;
	int ready_cnt;
};

static bool poll_ready(void *ctx)
{
	struct poll_call *c = ctx;

	c->ready_cnt = 0;
	for (nfds_t i = 0; i < c->cnt; i++) {
		struct pollfd *f = &c->fds[i];
		struct psock *s = f->fd < 0 ? NULL : plugin_sock(c->p, f->fd);

		f->revents = 0;
		if (f->fd < 0)
			continue;
		if (!s)
			f->revents = POLLNVAL;
		else
			f->revents = (short)(psock_ready(s) & ((uint32_t)f->events | ALWAYS));
		c->ready_cnt += f->revents != 0;
	}
	return c->ready_cnt > 0;
}

int plugin_poll(void *self, struct pollfd *fds, nfds_t cnt, int timeout_ms)
{
	struct poll_call c = { .p = self, .fds = fds, .cnt = cnt };

	pthread_mutex_lock(&c.p->w.lock);
	world_wait(&c.p->w, poll_ready, &c, timeout_ns(timeout_ms));
	pthread_mutex_unlock(&c.p->w.lock);
	return c.ready_cnt;
}

/* --- epoll ----------------------------------------------------------------------------------- */

struct epoll_call {
	struct psock *ep;
	struct epoll_event *events;
	int max, cnt;
};

int plugin_epoll_create(void *self, int size)
{
	struct plugin *p = self;
	struct psock *s;

	if (size <= 0)
		return plugin_fail(-EINVAL);
	pthread_mutex_lock(&p->w.lock);
	s = plugin_new_sock(p, 0);
	if (s) {
		s->is_epoll = true;
		for (int i = 0; i < PLUGIN_WATCH_MAX; i++)
			s->watches[i].fd = -1;
	}
	pthread_mutex_unlock(&p->w.lock);
	return s ? s->fd : -1;
}

static struct watch *watch_find(struct psock *ep, int fd)
{
	for (int i = 0; i < PLUGIN_WATCH_MAX; i++)
		if (ep->watches[i].fd == fd)
			return &ep->watches[i];
	return NULL;
}

static int ctl_locked(struct psock *ep, int op, const struct psock *s,
		      const struct epoll_event *event)
{
	struct watch *w = watch_find(ep, s->fd);

	if (!ep->is_epoll)
		return -EINVAL;
	if (op == EPOLL_CTL_ADD && w)
		return -EEXIST;
	if (op != EPOLL_CTL_ADD && !w)
		return -ENOENT;
	if (op == EPOLL_CTL_ADD)
		w = watch_find(ep, -1);
	if (!w)
		return -ENOSPC;
	if (op == EPOLL_CTL_DEL) {
		w->fd = -1;
		return 0;
	}
	/* what is ready now counts as news once (linux ep_insert(), ep_modify()) */
	*w = (struct watch){ .fd = s->fd, .want = *event, .seen_news = s->news_cnt - 1 };
	return 0;
}

int plugin_epoll_ctl(void *self, int epfd, int op, int fd, struct epoll_event *event)
{
	struct plugin *p = self;
	struct psock *ep, *s;
	int r = -EBADF;

	pthread_mutex_lock(&p->w.lock);
	ep = plugin_sock(p, epfd);
	s = plugin_sock(p, fd);
	if (ep && s)
		r = ctl_locked(ep, op, s, event);
	pthread_mutex_unlock(&p->w.lock);
	return r < 0 ? plugin_fail(r) : 0;
}

/* The set's socket has something to report: level, or an edge not seen yet. */
static bool epoll_one(struct psock *ep, struct watch *w, struct epoll_event *ret_event)
{
	struct psock *s = plugin_sock(ep->plugin, w->fd);
	uint32_t now;

	if (!s)
		return false;
	now = psock_ready(s) & (w->want.events | ALWAYS);
	if (!now || (w->want.events & EPOLLET && w->seen_news == s->news_cnt))
		return false;
	w->seen_news = s->news_cnt;
	ret_event->events = now;
	ret_event->data = w->want.data;
	if (w->want.events & EPOLLONESHOT)
		w->want.events = 0;
	return true;
}

static bool epoll_ready(void *ctx)
{
	struct epoll_call *c = ctx;

	for (int i = 0; i < PLUGIN_WATCH_MAX && c->cnt < c->max; i++)
		if (c->ep->watches[i].fd >= 0 &&
		    epoll_one(c->ep, &c->ep->watches[i], &c->events[c->cnt]))
			c->cnt++;
	return c->cnt > 0;
}

int plugin_epoll_wait(void *self, int epfd, struct epoll_event *events, int max, int timeout_ms)
{
	struct plugin *p = self;
	struct epoll_call c = { .events = events, .max = max };

	pthread_mutex_lock(&p->w.lock);
	c.ep = plugin_sock(p, epfd);
	if (c.ep && c.ep->is_epoll)
		world_wait(&p->w, epoll_ready, &c, timeout_ns(timeout_ms));
	pthread_mutex_unlock(&p->w.lock);
	return c.ep ? c.cnt : plugin_fail(-EBADF);
}
