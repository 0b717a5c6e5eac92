/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_link - tell the worker when a carried link goes down, comes up, or is deleted
 *
 * Theory of operation: a netlink socket in the namespace of the carried links subscribes to changes.
 * What counts is whether the link is administratively up and exists. The carrier does not: a veth that
 * was just moved has none for up to a second (linkwatch), while frames pass already.
 *
 * A full socket buffer loses changes; then the links are read again. A new worker starts from the
 * plan, which tells how the links were when they were taken, so it is told all that changed since.
 *
 * Syscalls: #syscalls monitor: recvmsg socket bind setsockopt
 */
#include <errno.h>
#include <event2/event.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/monitor_int.h"
#include "daemon/nlraw.h"

/** struct monitor_links - what is known of the carried links, by row of the plan */
struct monitor_links {
	struct nlraw watch, read;
	struct event *ev;
	bool is_up[PLAN_LINKS_MAX];
};

static const struct plan *plan_of(const struct monitor *m)
{
	return &m->take.rec.snap.plan;
}

/* The carried link with this index where it is now, or PLAN_NO_LINK. */
static uint32_t row_of(const struct monitor *m, uint32_t ifindex)
{
	for (uint32_t i = 0; i < plan_of(m)->link_cnt; i++) {
		uint32_t now = m->take.rec.how[i] == TAKE_MOVE ? m->take.kept_ifindex[i]
							       : plan_of(m)->links[i].ifindex;

		if (now == ifindex && plan_of(m)->links[i].driver == PLAN_DRIVER_PACKET)
			return i;
	}
	return PLAN_NO_LINK;
}

static void link_tell(struct monitor *m, uint32_t row)
{
	struct ipc_link_state body = { .is_up = m->links->is_up[row] };

	for (uint32_t i = 0; i < row; i++)
		body.link_idx += plan_of(m)->links[i].driver != PLAN_DRIVER_NONE;
	if (child_is_running(&m->worker) && !m->worker.is_stopping)
		(void)!ipc_send(&m->worker.ipc, IPC_LINK_STATE, &body, NULL, 0);
}

static void link_set(struct monitor *m, uint32_t row, bool is_up)
{
	if (m->links->is_up[row] == is_up)
		return;
	m->links->is_up[row] = is_up;
	log_notice("link %s is %s", plan_of(m)->links[row].name, is_up ? "up" : "down");
	link_tell(m, row);
}

static int on_message(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	const struct ifinfomsg *ifi = nlmsg_data(nlh);
	struct monitor *m = arg;
	uint32_t row;

	if ((nlh->nlmsg_type != RTM_NEWLINK && nlh->nlmsg_type != RTM_DELLINK) ||
	    nlmsg_datalen(nlh) < (int)sizeof(*ifi) || ifi->ifi_family != AF_UNSPEC)
		return NL_OK;
	row = row_of(m, (uint32_t)ifi->ifi_index);
	if (row != PLAN_NO_LINK)
		link_set(m, row, nlh->nlmsg_type == RTM_NEWLINK && (ifi->ifi_flags & IFF_UP));
	return NL_OK;
}

/* All links anew: what is not there any more is down. */
static void links_read(struct monitor *m)
{
	bool seen[PLAN_LINKS_MAX] = { false };
	struct ifinfomsg hdr = { 0 };
	struct nlset set = { 0 };

	if (nlraw_dump(&m->links->read, RTM_GETLINK, &hdr, sizeof(hdr), &set) < 0)
		return;
	nlset_for_each(nlh, &set)
	{
		const struct ifinfomsg *ifi = nlmsg_data(nlh);
		uint32_t row = row_of(m, (uint32_t)ifi->ifi_index);

		if (row == PLAN_NO_LINK)
			continue;
		seen[row] = true;
		link_set(m, row, ifi->ifi_flags & IFF_UP);
	}
	for (uint32_t i = 0; i < plan_of(m)->link_cnt; i++)
		if (!seen[i])
			link_set(m, i, false);
	nlset_done(&set);
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *m = arg;
	int r;

	(void)fd;
	(void)what;
	if (m->is_stopping)
		return;
	do {
		r = nl_recvmsgs_default(m->links->watch.sk);
	} while (r >= 0);
	if (r != -NLE_AGAIN)
		links_read(m);
}

int monitor_links_watch(struct monitor *m)
{
	bool is_moved = m->take.keep_fd >= 0;
	struct monitor_links *l = calloc(1, sizeof(*l));
	int fd = is_moved ? m->take.keep_fd : m->take.ctr_fd, r;

	if (!l)
		return log_err(-ENOMEM, "cannot watch the links");
	m->links = l;
	for (uint32_t i = 0; i < plan_of(m)->link_cnt; i++)
		l->is_up[i] = plan_of(m)->links[i].flags & IFF_UP;
	r = nlraw_open(&l->watch, fd);
	if (r == 0)
		r = nlraw_open(&l->read, fd);
	if (r == 0) {
		nl_socket_disable_seq_check(l->watch.sk);
		(void)nl_socket_modify_cb(l->watch.sk, NL_CB_VALID, NL_CB_CUSTOM, on_message, m);
		r = nl_socket_add_membership(l->watch.sk, RTNLGRP_LINK) < 0 ||
				    nl_socket_set_nonblocking(l->watch.sk) < 0
			    ? -EIO
			    : 0;
	}
	if (r == 0) {
		l->ev = event_new(m->base, nl_socket_get_fd(l->watch.sk), EV_READ | EV_PERSIST,
				  on_watch, m);
		r = l->ev && event_add(l->ev, NULL) == 0 ? 0 : -ENOMEM;
	}
	return r < 0 ? log_err(r, "cannot watch the links") : 0;
}

void monitor_links_tell(struct monitor *m)
{
	for (uint32_t i = 0; m->links && i < plan_of(m)->link_cnt; i++) {
		const struct plan_link *l = &plan_of(m)->links[i];

		if (l->driver == PLAN_DRIVER_PACKET && m->links->is_up[i] != !!(l->flags & IFF_UP))
			link_tell(m, i);
	}
}

void monitor_links_done(struct monitor *m)
{
	if (!m->links)
		return;
	if (m->links->ev)
		event_free(m->links->ev);
	nlraw_close(&m->links->watch);
	nlraw_close(&m->links->read);
	free(m->links);
	m->links = NULL;
}
