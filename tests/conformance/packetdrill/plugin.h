/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.h - sockets of a script: descriptors, what the stack told about them, epoll sets */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/agent/agent_options.h"
#include "pdif.h"
#include "world.h"

enum {
	PLUGIN_FD_MAX = 256,
	PLUGIN_WATCH_MAX = 16, /* sockets of one epoll set */
};

/** struct watch - one socket in an epoll set */
struct watch {
	int fd; /* -1: free */
	struct epoll_event want;
	uint32_t seen_news;
};

/**
 * struct psock - a descriptor of the script's
 *
 * @fd is a descriptor of the kernel's, too (an eventfd): packetdrill closes what a script left open itself.
 */
struct psock {
	struct plugin *plugin;
	int fd;
	int family;
	ns_sock h, next; /* @next: accepted from the stack, not by the script yet */
	bool is_epoll, is_listener, is_connecting, is_connected, is_nonblocking;
	bool is_recv_shut, is_send_shut;
	int err;           /* negative errno the program has not seen */
	uint32_t news_cnt; /* events of the stack: edges for epoll */
	struct aopt_values opts;
	struct watch watches[PLUGIN_WATCH_MAX];
};

struct plugin {
	struct world w;
	struct psock *socks[PLUGIN_FD_MAX];
};

/** psock_ready() - what poll(2) would say now: POLLIN POLLOUT POLLERR POLLHUP POLLRDHUP */
uint32_t psock_ready(struct psock *s);
/** plugin_sock() - by descriptor; NULL with errno EBADF */
struct psock *plugin_sock(struct plugin *p, int fd);
/** plugin_new_sock() - a descriptor without anything behind it; NULL with errno */
struct psock *plugin_new_sock(struct plugin *p, int family);

/* plugin_poll.c; @self is a struct plugin */
int plugin_poll(void *self, struct pollfd *fds, nfds_t cnt, int timeout_ms);
int plugin_epoll_create(void *self, int size);
int plugin_epoll_ctl(void *self, int epfd, int op, int fd, struct epoll_event *event);
int plugin_epoll_wait(void *self, int epfd, struct epoll_event *events, int max, int timeout_ms);

/* plugin_opt.c */
int plugin_setsockopt(void *self, int fd, int level, int name, const void *val, socklen_t len);
int plugin_getsockopt(void *self, int fd, int level, int name, void *val, socklen_t *len);

/** plugin_fail() - errno from a negative errno */
int plugin_fail(int err);
