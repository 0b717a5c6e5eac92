/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take - take a namespace's links away from the kernel (giving back: take_back.c)
 *
 * Theory of operation: the order is fixed. Everything is read; the journal is written; the sockets
 * are opened with all options; only then is the first thing changed. Each change is a step with a
 * name, which is noted in the journal after it was done, and at which the tests can make it fail.
 *
 * Moving: the link goes to a namespace of the daemon's own ("keep"), made quiet beforehand: no
 * forwarding, no ARP answers, IPv6 off, no address anywhere, and on the link an ingress filter that
 * drops every frame behind the packet tap, where the kernel has cls_bpf. What stays is a decoy of the
 * same name, index, MAC, MTU, addresses, routes and neighbours: one end of a veth whose other end
 * lies in keep, up, so that the decoy has a carrier and its routes are usable. Nothing listens there
 * and nothing is sent from there.
 *
 * Stripping: routes, then addresses go; IPv6 and ARP are switched off on the link; it stays.
 *
 * Invariants: keep is pinned by a bind mount in the state directory before a link goes there; no
 * moved link is lost with the monitor. Loopback is never touched.
 *
 * Limits, what is not given back: qdiscs, filters and XDP programs of a moved link, its multicast
 * groups, neighbours that were learned. The kernel drops them when a link changes its namespace.
 *
 * Syscalls: #syscalls monitor: kill getpid
 *
 * References: linux net/core/dev.c __dev_change_net_namespace(), net/packet/af_packet.c
 * packet_notifier(), net/sched/cls_bpf.c
 */
#include "daemon/netconf/take.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netlink/addr.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/netconf/linkopen.h"
#include "daemon/netconf/netns.h"
#include "daemon/netconf/reconf.h"
#include "daemon/netconf/rtlink.h"
#include "daemon/netconf/take_int.h"

void takeover_init(struct takeover *t, struct journal *j, const struct take_options *opt)
{
	memset(t, 0, sizeof(*t));
	t->journal = j;
	t->opt = *opt;
	plan_init(&t->settling);
	t->ctr_fd = t->keep_fd = t->tap_fd = -1;
	for (size_t i = 0; i < PLAN_LINKS_MAX; i++)
		t->link_fds[i] = (struct linkopen_fds)LINKOPEN_NO_FDS;
}

void take_fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void take_link_fds_close(struct takeover *t)
{
	for (size_t i = 0; i < PLAN_LINKS_MAX; i++)
		linkopen_close(&t->link_fds[i]);
}

void takeover_done(struct takeover *t)
{
	take_link_fds_close(t);
	nlraw_close(&t->ctr);
	nlraw_close(&t->keep);
	free(t->seen_sysctls);
	t->seen_sysctls = NULL;
	plan_done(&t->settling);
	take_fd_close(&t->tap_fd);
	take_fd_close(&t->ctr_fd);
	take_fd_close(&t->keep_fd);
	journal_record_done(&t->rec);
}
/* ---- steps ---- */

/* Where the tests step in. Called before the deed of a step. */
int take_step_may_begin(const struct takeover *t, const char *step)
{
	const char *at = t->opt.fail_at;

	if (!at)
		return 0;
	if (strcmp(at, step) == 0) {
		log_errx("failing at step %s as asked", step);
		return -ECANCELED;
	}
	if (strncmp(at, "kill-", 5) == 0 && strcmp(at + 5, step) == 0)
		(void)kill(getpid(), SIGKILL);
	if (strncmp(at, "stop-", 5) == 0 && strcmp(at + 5, step) == 0)
		(void)kill(getpid(), SIGSTOP);
	return 0;
}

int take_step_done(struct takeover *t, const char *step, const char *link_name)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "%s%s%s", step, link_name ? " " : "",
		       link_name ? link_name : "");
	return journal_step(t->journal, text);
}

/* A step about every link in turn of which @how says so. */
int take_step_each(struct takeover *t, const char *step, enum take_how how,
		   int (*fn)(struct takeover *t, size_t i))
{
	for (size_t i = 0; i < take_link_cnt(t); i++) {
		int r;

		if (t->rec.how[i] != how || !t->is_wanted[i])
			continue;
		r = take_step_may_begin(t, step);
		if (r == 0)
			r = fn(t, i);
		if (r == 0)
			r = take_step_done(t, step, take_link_at(t, i)->name);
		if (r < 0)
			return r;
	}
	return 0;
}
struct reconf take_reconf(struct takeover *t)
{
	struct reconf rc = {
		.nl = &t->ctr,
		.netns_fd = t->ctr_fd,
		.snap = &t->rec.snap,
		.is_wanted = t->is_wanted,
		.ifindex = t->now_ifindex,
	};

	for (size_t i = 0; i < take_link_cnt(t); i++)
		rc.has_gone |= t->rec.how[i] != TAKE_LEAVE && !t->is_wanted[i];
	return rc;
}
void take_decoy_peer_name(const struct plan_link *l, char *buf, size_t len)
{
	(void)snprintf(buf, len, "sluice%u", l->ifindex);
}
/* ---- who is taken, and how ---- */

static const struct nlmsghdr *raw_link(const struct takeover *t, size_t i)
{
	nlset_for_each(nlh, &t->rec.snap.raw[RAW_LINKS])
	{
		const struct ifinfomsg *ifi = nlmsg_data(nlh);

		if ((uint32_t)ifi->ifi_index == t->rec.snap.plan.links[i].ifindex)
			return nlh;
	}
	return NULL;
}

static uint32_t raw_link_u32(const struct takeover *t, size_t i, int type)
{
	const struct nlmsghdr *nlh = raw_link(t, i);
	const struct nlattr *a = nlh ? nlmsg_find_attr((struct nlmsghdr *)(uintptr_t)nlh,
						       sizeof(struct ifinfomsg), type)
				     : NULL;

	return a && nla_len(a) == 4 ? nla_get_u32(a) : 0;
}

/* Whether another link of this namespace (a VLAN, a macvlan) sits on top of this one. */
static bool has_upper(const struct takeover *t, size_t i)
{
	for (size_t k = 0; k < take_link_cnt(t); k++) {
		const struct nlmsghdr *nlh = raw_link(t, k);

		if (k != i && nlh &&
		    raw_link_u32(t, k, IFLA_LINK) == t->rec.snap.plan.links[i].ifindex &&
		    !nlmsg_find_attr((struct nlmsghdr *)(uintptr_t)nlh, sizeof(struct ifinfomsg),
				     IFLA_LINK_NETNSID))
			return true;
	}
	return false;
}

static enum take_how choose_how(struct takeover *t, size_t i)
{
	const struct plan_link *l = take_link_at(t, i);

	if (l->flags & IFF_LOOPBACK)
		return TAKE_LEAVE;
	if (raw_link_u32(t, i, IFLA_MASTER)) {
		log_notice("link %s is a port of another link and is left as it is", l->name);
		return TAKE_LEAVE;
	}
	if (l->type != ARPHRD_ETHER) {
		log_warnx(
			"link %s is no Ethernet and cannot be carried yet; its addresses are taken "
			"away all the same",
			l->name);
		return TAKE_STRIP;
	}
	return t->opt.is_strip ? TAKE_STRIP : TAKE_MOVE;
}

static void choose_driver(struct takeover *t, struct plan_link *l, bool is_tap)
{
	l->driver = is_tap ? PLAN_DRIVER_TAP : PLAN_DRIVER_PACKET;
	l->vnet_hdr_len = LINKOPEN_VNET_HDR_LEN;
	l->has_software_gso = t->opt.has_software_gso;
	l->gso = t->opt.has_gso            ? PLAN_GSO_HW
		 : t->opt.has_software_gso ? PLAN_GSO_SW
					   : PLAN_GSO_NONE;
}

void take_choose_link(struct takeover *t, size_t i)
{
	struct plan_link *l = take_link_at(t, i);

	t->rec.how[i] = (uint8_t)choose_how(t, i);
	t->is_wanted[i] = t->rec.how[i] != TAKE_LEAVE;
	t->now_ifindex[i] = l->ifindex;
	if (!t->is_wanted[i] || l->type != ARPHRD_ETHER || t->opt.is_network_none)
		return;
	if (t->opt.tap && plan_carried_cnt(&t->rec.snap.plan))
		log_notice("link %s is taken but not carried: the TAP device carries the first "
			   "link",
			   l->name);
	else
		choose_driver(t, l, t->opt.tap != NULL);
}

static int choose(struct takeover *t)
{
	struct plan_options *o = &t->rec.snap.plan.options;

	(void)snprintf(o->id, sizeof(o->id), "%s", t->opt.id ? t->opt.id : "");
	o->has_log_packets = t->opt.has_log_packets;
	o->has_pcap = t->opt.has_pcap;
	for (size_t i = 0; i < take_link_cnt(t); i++)
		take_choose_link(t, i);
	if (t->opt.tap && plan_carried_cnt(&t->rec.snap.plan) == 0) {
		log_errx("the container has no link whose addresses the TAP device %s could carry; "
			 "give it one, such as one end of a veth",
			 t->opt.tap);
		return -ENODEV;
	}
	if (plan_carried_cnt(&t->rec.snap.plan) == 0 && !t->opt.is_network_none)
		log_notice("the container has no link to carry; only its loopback will work");
	return 0;
}
/* Notes where an ingress qdisc of someone else's is: ours does not fit beside it. */
static int ingress_look(struct takeover *t)
{
	struct tcmsg hdr = { 0 };
	struct nlset set = { 0 };
	int r = nlraw_dump(&t->ctr, RTM_GETQDISC, &hdr, sizeof(hdr), &set);

	if (r < 0)
		return log_err(r, "cannot read the qdiscs of the container's links");
	nlset_for_each(nlh, &set)
	{
		const struct tcmsg *tc = nlmsg_data(nlh);
		uint32_t row = plan_find_ifindex(&t->rec.snap.plan, (uint32_t)tc->tcm_ifindex);

		if (row != PLAN_NO_LINK &&
		    tc->tcm_parent == TC_H_INGRESS) /* TC_H_CLSACT is it, too */
			t->rec.has_ingress[row] = 1;
	}
	nlset_done(&set);
	return 0;
}
/* ---- taking: our namespace ---- */

static int keep_quiet(struct takeover *t)
{
	static const struct {
		const char *path, *value;
		bool is_vital;
	} rows[] = {
		{ "ipv4/ip_forward", "0", true },
		{ "ipv4/conf/all/forwarding", "0", true },
		{ "ipv4/conf/default/forwarding", "0", true },
		{ "ipv4/conf/all/arp_ignore", "8", true }, /* answer for no address */
		{ "ipv4/conf/default/arp_ignore", "8", true },
		{ "ipv4/icmp_echo_ignore_all", "1", true },
		{ "ipv6/conf/all/disable_ipv6", "1", false }, /* missing in a kernel without IPv6 */
		{ "ipv6/conf/default/disable_ipv6", "1", false },
		{ "ipv6/conf/default/accept_ra", "0", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int r = reconf_sysctl_write(t->keep_fd, rows[i].path, rows[i].value);

		if (r < 0 && (rows[i].is_vital || r != -ENOENT))
			return log_err(r, "cannot silence the daemon's namespace: net/%s=%s",
				       rows[i].path, rows[i].value);
	}
	return 0;
}

static int keep_make(struct takeover *t)
{
	char path[JOURNAL_PATH_MAX];
	int r;

	r = take_step_may_begin(t, "netns");
	if (r < 0)
		return r;
	t->keep_fd = netns_new();
	if (t->keep_fd < 0)
		return log_err(t->keep_fd, "cannot make a network namespace for the links");
	r = keep_quiet(t);
	if (r < 0)
		return r;
	journal_path(t->journal, TAKE_KEEP_FILE, path, sizeof(path));
	(void)netns_unpin(path); /* of a predecessor that had nothing in it: its journal is gone */
	r = netns_pin(t->keep_fd, path);
	if (r < 0)
		return log_err(r, "cannot keep the links' namespace at %s", path);
	r = nlraw_open(&t->keep, t->keep_fd);
	if (r < 0)
		return log_err(r, "cannot open a netlink socket in the links' namespace");
	return take_step_done(t, "netns", NULL);
}

/* ---- taking: the steps of a link ---- */

static bool is_packet(struct takeover *t, size_t i)
{
	return take_link_at(t, i)->driver == PLAN_DRIVER_PACKET;
}

/* All options of all sockets, before anything is changed. */
static int step_open(struct takeover *t, size_t i)
{
	struct plan_link *l = take_link_at(t, i);
	int fd;

	if (is_packet(t, i)) {
		int r = linkopen_packet(t->rec.how[i] == TAKE_MOVE ? t->keep_fd : t->ctr_fd,
					&t->link_fds[i]);

		/* A link that stays is bound while it still works: the last chance to fail harmlessly. */
		if (r == 0 && t->rec.how[i] == TAKE_STRIP)
			r = linkopen_packet_bind(&t->link_fds[i], l->ifindex, l->name);
		return r;
	}
	if (l->driver == PLAN_DRIVER_TAP) {
		struct linkopen_tap tap;

		t->tap_fd = linkopen_tap(t->opt.tap, l->mtu, &tap);
		fd = t->tap_fd < 0 ? t->tap_fd : dup(t->tap_fd);
		if (fd >= 0) {
			l->tun_offload = tap.tun_offload;
			l->has_uso = l->gso == PLAN_GSO_HW && tap.has_uso;
		}
		t->link_fds[i].fd[LINKOPEN_FRAMES] = fd;
		return fd < 0 ? fd : 0;
	}
	return 0;
}

static int step_move(struct takeover *t, size_t i)
{
	const struct plan_link *l = take_link_at(t, i);
	int r;

	r = rtlink_send_to(&t->ctr, l->ifindex, t->keep_fd, 0);
	if (r < 0)
		return log_err(r,
			       "cannot move link %s to the daemon's namespace (%s); --take=strip "
			       "works for links that cannot move",
			       l->name, t->ctr.text);
	r = rtlink_find(&t->keep, l->name, &t->kept_ifindex[i]);
	return r < 0 ? log_err(r, "cannot find link %s where it was moved to", l->name) : 0;
}

/* The kernel shall answer nothing that comes in here, whatever else there is in the namespace. */
static int step_quiet(struct takeover *t, size_t i)
{
	const struct plan_link *l = take_link_at(t, i);
	bool is_moved = t->rec.how[i] == TAKE_MOVE;
	struct nlraw *nl = is_moved ? &t->keep : &t->ctr;
	int fd = is_moved ? t->keep_fd : t->ctr_fd;
	char path[64];
	int r;

	(void)snprintf(path, sizeof(path), "ipv4/conf/%s/arp_ignore", l->name);
	r = reconf_sysctl_write(fd, path, "8");
	if (r < 0)
		return log_err(r, "cannot switch off ARP answers of link %s", l->name);
	(void)snprintf(path, sizeof(path), "ipv6/conf/%s/disable_ipv6", l->name);
	r = reconf_sysctl_write(fd, path, "1");
	if (r < 0 && r != -ENOENT)
		return log_err(r, "cannot switch off IPv6 on link %s", l->name);
	if (has_upper(t, i)) /* the kernel still has to untag for the links on top */
		return 0;
	if (!is_moved && t->rec.has_ingress[i]) /* a moved link lost it on its way */
		return 0;
	r = rtlink_ingress_drop(nl, is_moved ? t->kept_ifindex[i] : l->ifindex);
	if (r < 0) /* without it the kernel looks at each frame and drops it later */
		log_debug("no ingress filter on link %s: %s (%s)", l->name, strerror(-r), nl->text);
	return 0;
}

/* The wire: as up as it was, unless a TAP device carries the frames and it must stay silent. */
static int step_up(struct takeover *t, size_t i)
{
	const struct plan_link *l = take_link_at(t, i);
	int r;

	if (!(l->flags & IFF_UP) || l->driver != PLAN_DRIVER_PACKET)
		return 0;
	r = nlraw_send(&t->keep, rtlink_request(t->kept_ifindex[i], IFF_UP, IFF_UP));
	return r < 0 ? log_err(r, "cannot bring up link %s (%s)", l->name, t->keep.text) : 0;
}

static int step_bind(struct takeover *t, size_t i)
{
	if (!is_packet(t, i))
		return 0;
	return linkopen_packet_bind(&t->link_fds[i], t->kept_ifindex[i], take_link_at(t, i)->name);
}
static int decoy_message(struct takeover *t, size_t i, struct nl_msg **ret_msg)
{
	const struct plan_link *l = take_link_at(t, i);
	struct rtnl_link *link = rtnl_link_veth_alloc();
	struct rtnl_link *peer = link ? rtnl_link_veth_get_peer(link) : NULL;
	struct nl_addr *mac = nl_addr_build(AF_LLC, (void *)(uintptr_t)l->mac, sizeof(l->mac));
	char peer_name[IFNAMSIZ];
	int r = -ENOMEM;

	if (peer && mac) {
		rtnl_link_set_name(link, l->name);
		rtnl_link_set_ifindex(link, (int)l->ifindex);
		rtnl_link_set_mtu(link, l->mtu);
		rtnl_link_set_addr(link, mac);
		rtnl_link_set_txqlen(link, raw_link_u32(t, i, IFLA_TXQLEN));
		rtnl_link_set_group(link, raw_link_u32(t, i, IFLA_GROUP));
		take_decoy_peer_name(l, peer_name, sizeof(peer_name));
		rtnl_link_set_name(peer, peer_name);
		rtnl_link_set_mtu(peer, l->mtu);
		rtnl_link_set_ns_fd(peer, t->keep_fd);
		r = rtnl_link_build_add_request(link, NLM_F_CREATE | NLM_F_EXCL, ret_msg) < 0
			    ? -ENOMEM
			    : 0;
	}
	nl_addr_put(mac);
	rtnl_link_put(peer);
	rtnl_link_put(link);
	return r;
}

static int step_decoy(struct takeover *t, size_t i)
{
	const struct plan_link *l = take_link_at(t, i);
	char peer_name[IFNAMSIZ];
	struct nl_msg *msg = NULL;
	uint32_t peer;
	int r;

	r = decoy_message(t, i, &msg);
	if (r == 0)
		r = nlraw_send(&t->ctr, msg);
	if (r < 0)
		return log_err(r, "cannot make a decoy for link %s (%s)", l->name, t->ctr.text);
	r = rtlink_find(&t->ctr, l->name, &t->now_ifindex[i]);
	take_decoy_peer_name(l, peer_name, sizeof(peer_name));
	if (r == 0)
		r = rtlink_find(&t->keep, peer_name, &peer);
	if (r == 0)
		r = nlraw_send(&t->keep, rtlink_request(peer, IFF_UP, IFF_UP));
	return r < 0 ? log_err(r, "cannot bring up the decoy of link %s", l->name) : 0;
}

static int step_strip(struct takeover *t, size_t i)
{
	bool only[PLAN_LINKS_MAX] = { false };
	struct reconf rc = take_reconf(t);
	int r;

	only[i] = true;
	rc.is_wanted = only;
	r = reconf_clear(&rc);
	return r < 0 ? log_err(r, "cannot take the addresses of link %s", take_link_at(t, i)->name)
		     : 0;
}

/* ---- taking: the configuration of the decoys ---- */

static bool has_how(const struct takeover *t, enum take_how how)
{
	for (size_t i = 0; i < take_link_cnt(t); i++)
		if (t->is_wanted[i] && t->rec.how[i] == how)
			return true;
	return false;
}

/* A decoy that lacks a route is still a decoy: failures are warnings, but for a test's. */
static int decoys_configure(struct takeover *t, const bool *is_meant)
{
	static const struct {
		const char *step;
		int (*fn)(const struct reconf *rc);
	} rows[] = {
		{ "sysctls", reconf_sysctls }, { "addrs", reconf_addrs },
		{ "routes", reconf_routes },   { "neighs", reconf_neighs },
		{ "finish", reconf_finish },
	};
	bool moved[PLAN_LINKS_MAX] = { false };
	struct reconf rc = take_reconf(t);
	int r = 0;

	for (size_t i = 0; i < take_link_cnt(t); i++)
		moved[i] = is_meant[i] && t->rec.how[i] == TAKE_MOVE;
	rc.is_wanted = moved;
	for (size_t i = 0; r == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = take_step_may_begin(t, rows[i].step);
		if (r == 0 && rows[i].fn(&rc) < 0)
			log_warnx("the decoys lack some of their %s", rows[i].step);
		if (r == 0)
			r = take_step_done(t, rows[i].step, NULL);
	}
	return r;
}

/* ---- taking: the whole ---- */

static int self_test(struct takeover *t)
{
	int fd = t->keep_fd >= 0 ? t->keep_fd : netns_new();
	bool works = fd >= 0 && linkopen_packet_takes_gso(fd, false);
	bool has_uso = works && linkopen_packet_takes_gso(fd, true);

	if (fd != t->keep_fd)
		take_fd_close(&fd);
	for (size_t i = 0; i < take_link_cnt(t); i++) {
		struct plan_link *l = take_link_at(t, i);

		if (l->driver != PLAN_DRIVER_PACKET || l->gso != PLAN_GSO_HW)
			continue;
		l->has_uso = has_uso;
		if (works)
			continue;
		l->gso = l->has_software_gso ? PLAN_GSO_SW : PLAN_GSO_NONE;
		log_notice("the kernel refuses super-frames; link %s goes on without hardware "
			   "segmentation",
			   l->name);
	}
	return 0;
}

static int take_steps(struct takeover *t)
{
	bool is_moving = has_how(t, TAKE_MOVE);
	int r = 0;

	if (is_moving)
		r = keep_make(t);
	if (r == 0 && !t->opt.tap && t->opt.has_gso)
		r = self_test(t);
	if (r == 0)
		r = take_step_each(t, "open", TAKE_MOVE, step_open);
	if (r == 0)
		r = take_step_each(t, "open", TAKE_STRIP, step_open);
	if (r == 0)
		r = take_step_each(t, "move", TAKE_MOVE, step_move);
	if (r == 0)
		r = take_step_each(t, "quiet", TAKE_MOVE, step_quiet);
	if (r == 0)
		r = take_step_each(t, "up", TAKE_MOVE, step_up);
	if (r == 0)
		r = take_step_each(t, "bind", TAKE_MOVE, step_bind);
	if (r == 0)
		r = take_step_each(t, "decoy", TAKE_MOVE, step_decoy);
	if (r == 0 && is_moving)
		r = decoys_configure(t, t->is_wanted);
	if (r == 0)
		r = take_step_each(t, "strip", TAKE_STRIP, step_strip);
	if (r == 0)
		r = take_step_each(t, "quiet", TAKE_STRIP, step_quiet);
	return r;
}

static int step_do(struct takeover *t, const char *step, size_t i,
		   int (*fn)(struct takeover *t, size_t i))
{
	int r = take_step_may_begin(t, step);

	if (r == 0)
		r = fn(t, i);
	return r < 0 ? r : take_step_done(t, step, take_link_at(t, i)->name);
}

int take_link(struct takeover *t, size_t i)
{
	static const struct {
		const char *step;
		int (*fn)(struct takeover *t, size_t i);
		bool is_for[TAKE_HOW_COUNT];
	} rows[] = {
		{ "open", step_open, { [TAKE_MOVE] = true, [TAKE_STRIP] = true } },
		{ "move", step_move, { [TAKE_MOVE] = true } },
		{ "strip", step_strip, { [TAKE_STRIP] = true } },
		{ "quiet", step_quiet, { [TAKE_MOVE] = true, [TAKE_STRIP] = true } },
		{ "up", step_up, { [TAKE_MOVE] = true } },
		{ "bind", step_bind, { [TAKE_MOVE] = true } },
		{ "decoy", step_decoy, { [TAKE_MOVE] = true } },
	};
	bool only[PLAN_LINKS_MAX] = { false };
	int r = 0;

	only[i] = true;
	if (t->rec.how[i] == TAKE_MOVE && t->keep_fd < 0)
		r = keep_make(t);
	if (r == 0 && !t->opt.tap && t->opt.has_gso)
		r = self_test(t);
	for (size_t k = 0; r == 0 && k < sizeof(rows) / sizeof(rows[0]); k++)
		if (rows[k].is_for[t->rec.how[i]])
			r = step_do(t, rows[k].step, i, rows[k].fn);
	if (r == 0 && t->rec.how[i] == TAKE_MOVE)
		r = decoys_configure(t, only);
	return r;
}

int takeover_take(struct takeover *t, int ctr_fd)
{
	int r;

	t->ctr_fd = ctr_fd;
	r = scrape(ctr_fd, &t->rec.snap);
	if (r == 0)
		r = choose(t);
	if (r < 0)
		return r;
	(void)snprintf(t->rec.netns_path, sizeof(t->rec.netns_path), "%s",
		       t->opt.netns_path ? t->opt.netns_path : "");
	t->rec.pid = t->opt.pid;
	r = nlraw_open(&t->ctr, ctr_fd);
	if (r < 0)
		return log_err(r, "cannot open a netlink socket in the container's namespace");
	r = ingress_look(t);
	if (r == 0)
		r = take_step_may_begin(t, "journal");
	if (r == 0)
		r = journal_begin(t->journal, &t->rec);
	if (r < 0)
		return r;
	r = take_steps(t);
	if (r == 0) {
		t->is_taken = true;
		return 0;
	}
	log_notice("giving the namespace back as it was");
	t->opt.fail_at = NULL;
	take_link_fds_close(t);
	(void)takeover_restore(t);
	return r;
}

static int link_reopen(struct takeover *t, size_t i)
{
	const struct plan_link *l = take_link_at(t, i);
	struct linkopen_fds *fds = &t->link_fds[i];
	bool is_moved = t->rec.how[i] == TAKE_MOVE;
	int r;

	if (l->driver == PLAN_DRIVER_TAP) {
		fds->fd[LINKOPEN_FRAMES] = dup(t->tap_fd);
		return fds->fd[LINKOPEN_FRAMES] < 0
			       ? log_err(-errno, "cannot give TAP device %s to a new worker",
					 t->opt.tap)
			       : 0;
	}
	r = linkopen_packet(is_moved ? t->keep_fd : t->ctr_fd, fds);
	if (r == 0)
		r = linkopen_packet_bind(fds, is_moved ? t->kept_ifindex[i] : l->ifindex, l->name);
	if (r < 0)
		linkopen_close(fds);
	return r;
}

/** fds_give() - a carried link's descriptors become the caller's. Return: how many */
static size_t fds_give(struct takeover *t, size_t i, int *ret_fds)
{
	size_t cnt = plan_link_fd_cnt(take_link_at(t, i));

	for (size_t k = 0; k < cnt; k++)
		ret_fds[k] = t->link_fds[i].fd[k];
	t->link_fds[i] = (struct linkopen_fds)LINKOPEN_NO_FDS;
	return cnt;
}

int takeover_link_fds(struct takeover *t, int *ret_fds, size_t *ret_cnt)
{
	size_t cnt = 0;

	for (size_t i = 0; i < take_link_cnt(t); i++) {
		int r = 0;

		if (take_link_at(t, i)->driver == PLAN_DRIVER_NONE)
			continue;
		if (t->link_fds[i].fd[LINKOPEN_FRAMES] < 0)
			r = link_reopen(t, i);
		if (r < 0) {
			while (cnt)
				close(ret_fds[--cnt]);
			return r;
		}
		cnt += fds_give(t, i, ret_fds + cnt);
	}
	*ret_cnt = cnt;
	return 0;
}

size_t takeover_new_fds(struct takeover *t, int *ret_fds)
{
	size_t cnt = 0;

	for (size_t i = 0; i < take_link_cnt(t); i++)
		if (t->link_fds[i].fd[LINKOPEN_FRAMES] >= 0)
			cnt += fds_give(t, i, ret_fds + cnt);
	return cnt;
}
