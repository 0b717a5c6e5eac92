/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take_missed - what others set on a link that came, between the look at it and its decoy
 *
 * Theory of operation: a link is read, moved and stands there as a decoy a few milliseconds later. What an
 * operator or a CNI plugin sets in between goes away with the link, or with what the decoy is cleared of. So a socket
 * that was opened before the look hears the kernel's announcements, and what others asked for is asked for again once
 * the decoy is there, in the order in which it happened: what was in the look already changes nothing.
 *
 * Others are recognised by the port in the announcement: ours is left out, and 0, which is the kernel itself
 * (connected routes, the loss of addresses that move away). Of IPv6 addresses the kernel never says who asked: all
 * that come are asked for again, but for link-local ones of the decoy, which it makes by itself.
 *
 * Limits: a request that comes while there is neither link nor decoy fails with ENODEV, which who asked hears.
 *
 * References: linux net/ipv4/devinet.c rtmsg_ifa(), net/ipv6/addrconf.c inet6_ifa_notify()
 */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/common/log.h"
#include "daemon/netconf/scrape.h"
#include "daemon/netconf/take_int.h"

/* One message of the kernel is never longer. */
#define MESSAGE_MAX (32 << 10)

void take_missed_open(struct takeover *t, struct take_missed *m)
{
	memset(m, 0, sizeof(*m));
	m->is_open = scrape_watch_open(&m->watch, t->ctr_fd, true) == 0;
}

void take_missed_close(struct take_missed *m)
{
	if (m->is_open)
		nlraw_close(&m->watch);
	nlset_done(&m->heard);
	m->is_open = false;
}

/* The link an announcement is about; 0: none, or it is not about what is asked for again. */
static uint32_t link_of(const struct nlmsghdr *nlh)
{
	switch (nlh->nlmsg_type) {
	case RTM_NEWADDR:
	case RTM_DELADDR:
		return ((const struct ifaddrmsg *)nlmsg_data(nlh))->ifa_index;
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		return nlraw_attr_u32(nlh, sizeof(struct rtmsg), RTA_OIF, 0);
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		return (uint32_t)((const struct ndmsg *)nlmsg_data(nlh))->ndm_ifindex;
	default:
		return 0;
	}
}

static bool is_del(const struct nlmsghdr *nlh)
{
	return nlh->nlmsg_type == RTM_DELADDR || nlh->nlmsg_type == RTM_DELROUTE ||
	       nlh->nlmsg_type == RTM_DELNEIGH;
}

static bool is_others(const struct takeover *t, const struct nlmsghdr *nlh, bool has_left)
{
	const struct ifaddrmsg *ifa = nlmsg_data(nlh);

	if (nlh->nlmsg_pid)
		return nlh->nlmsg_pid != nl_socket_get_local_port(t->ctr.sk);
	return nlh->nlmsg_type == RTM_NEWADDR && ifa->ifa_family == AF_INET6 &&
	       (!has_left || ifa->ifa_scope != RT_SCOPE_LINK);
}

static void one(struct takeover *t, uint32_t ifindex, const struct nlmsghdr *nlh, bool *has_left)
{
	if (nlh->nlmsg_type == RTM_DELLINK &&
	    (uint32_t)((const struct ifinfomsg *)nlmsg_data(nlh))->ifi_index == ifindex)
		*has_left = true;
	if (link_of(nlh) != ifindex || !is_others(t, nlh, *has_left))
		return;
	/* what is there already, or gone already, is as it shall be */
	if (nlraw_replay(&t->ctr, nlh, nlh->nlmsg_type,
			 is_del(nlh) ? 0 : NLM_F_CREATE | NLM_F_REPLACE) == 0)
		log_debug("what was set on a link while it was taken is set again");
}

void take_missed_replay(struct takeover *t, struct take_missed *m, size_t i)
{
	static union {
		struct nlmsghdr hdr;
		uint8_t octets[MESSAGE_MAX];
	} buf;
	uint32_t ifindex = take_link_at(t, i)->ifindex;
	bool has_left = false;
	ssize_t n;

	if (!m->is_open || t->now_ifindex[i] != ifindex)
		return;
	/* first all of them: what is asked for again is announced as well */
	while ((n = recv(nl_socket_get_fd(m->watch.sk), &buf, sizeof(buf), MSG_DONTWAIT)) > 0 ||
	       (n < 0 && (errno == EINTR || errno == ENOBUFS))) {
		const struct nlmsghdr *nlh = &buf.hdr;

		for (int left = (int)n; left > 0 && nlmsg_ok(nlh, left);
		     nlh = nlmsg_next((struct nlmsghdr *)(uintptr_t)nlh, &left))
			(void)nlset_append(&m->heard, nlh);
	}
	nlset_for_each(nlh, &m->heard)
	{
		one(t, ifindex, nlh, &has_left);
	}
}
