/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconf - give links the configuration a snapshot holds
 *
 * Theory of operation: the messages of the dumps are sent again, as `ip route restore` does, with
 * what only a dump may carry taken out: flags the kernel sets (dead, linkdown, offloaded), cache
 * information, the resolved next hop beside a next hop object. What exists already (EEXIST) is fine,
 * so everything may be repeated after a crash half way.
 *
 * Order matters and is found rather than computed. Routes are tried in the order of the dump; those
 * refused because their gateway is not reachable yet or their source address not there yet are tried
 * again, as long as a pass brings progress. IPv6 addresses are added from the last to the first,
 * because the kernel puts a new one in front of its equals.
 *
 * No duplicate address detection: the addresses were in use a moment ago. An IPv6 address is added
 * with IFA_F_NODAD, which makes it valid at once, and then replaced without it, so that it looks as
 * before.
 *
 * The kernel adds routes and link-local addresses by itself. reconf_finish() reads both tables again
 * and removes what was not there before.
 *
 * Invariants: all functions may run twice.
 *
 * Limits: routes that refer to nothing of ours are not sent again, they never went away.
 *
 * Syscalls: #syscalls monitor: openat read write close setns
 */
#include "daemon/netconf/reconf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/netconf/rtlink.h"

/* What a link brings with it by itself; the rest of IFF_* is the kernel's to say. */
#define LINK_FLAGS_SETTABLE                                                                        \
	(IFF_UP | IFF_NOARP | IFF_MULTICAST | IFF_PROMISC | IFF_ALLMULTI | IFF_DYNAMIC)

/* Of a route's flags, what a request may hold. */
#define ROUTE_FLAGS_SETTABLE (RTNH_F_ONLINK | RTNH_F_PERVASIVE)

/* ---- which rows ---- */

/* The row of a link that is to be configured, or PLAN_NO_LINK. */
static uint32_t wanted_row(const struct reconf *rc, uint32_t old_ifindex)
{
	uint32_t row = plan_find_ifindex(&rc->snap->plan, old_ifindex);

	return row != PLAN_NO_LINK && rc->is_wanted[row] ? row : PLAN_NO_LINK;
}

/* An old index as it is now; links that are not ours kept theirs. */
static uint32_t map_ifindex(const struct reconf *rc, uint32_t old_ifindex)
{
	uint32_t row = wanted_row(rc, old_ifindex);

	return row == PLAN_NO_LINK ? old_ifindex : rc->ifindex[row];
}

static bool is_wanted_now(const struct reconf *rc, uint32_t ifindex)
{
	for (size_t i = 0; i < rc->snap->plan.link_cnt; i++)
		if (rc->is_wanted[i] && rc->ifindex[i] == ifindex)
			return true;
	return false;
}

static const struct nlattr *attr_find(const struct nlmsghdr *nlh, size_t hdr_len, int type)
{
	return nlmsg_find_attr((struct nlmsghdr *)(uintptr_t)nlh, (int)hdr_len, type);
}

static uint32_t attr_u32(const struct nlmsghdr *nlh, size_t hdr_len, int type)
{
	const struct nlattr *a = attr_find(nlh, hdr_len, type);

	return a && nla_len(a) == 4 ? nla_get_u32(a) : 0;
}

/* Keeps the first failure of several. */
static void note(int *first, int r)
{
	if (*first == 0)
		*first = r;
}

/* ---- sysctls ---- */

struct sysctl_job {
	const struct reconf *rc;
	const char *path, *value; /* for a single one */
};

static int sysctl_write_if_differs(const char *path, const char *value)
{
	char file[160], now[64] = "";
	ssize_t len;
	int fd, r = 0;

	(void)snprintf(file, sizeof(file), "/proc/sys/net/%s", path);
	fd = open(file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, now, sizeof(now) - 1);
	now[len > 0 ? len : 0] = '\0';
	now[strcspn(now, "\n")] = '\0';
	if (strcmp(now, value) != 0 && pwrite(fd, value, strlen(value), 0) < 0)
		r = -errno;
	close(fd);
	return r;
}

static int sysctl_one_in(void *ctx)
{
	const struct sysctl_job *job = ctx;

	return sysctl_write_if_differs(job->path, job->value);
}

int reconf_sysctl_write(int netns_fd, const char *path, const char *value)
{
	struct sysctl_job job = { .path = path, .value = value };

	return netns_call(netns_fd, sysctl_one_in, &job);
}

/* The third and fourth part of "ipv4/conf/eth0/rp_filter". */
static bool sysctl_is_of(const struct sysctl_value *v, const char *link_name)
{
	const char *at = strchr(v->path, '/');
	size_t len = strlen(link_name);

	at = at ? strchr(at + 1, '/') : NULL;
	return at && strncmp(at + 1, link_name, len) == 0 && at[1 + len] == '/';
}

/* Of no link: the daemon wrote it. */
static bool sysctl_is_global(const struct sysctl_value *v)
{
	return !strstr(v->path, "/conf/") && !strstr(v->path, "/neigh/");
}

static bool sysctl_is_ours(const struct reconf *rc, const struct sysctl_value *v)
{
	if (sysctl_is_global(v))
		return true;
	for (size_t i = 0; i < rc->snap->plan.link_cnt; i++)
		if (rc->is_wanted[i] && sysctl_is_of(v, rc->snap->plan.links[i].name))
			return true;
	return false;
}

static int sysctls_in(void *ctx)
{
	const struct sysctl_job *job = ctx;
	const struct snapshot *s = job->rc->snap;

	for (size_t i = 0; i < s->sysctl_cnt; i++) {
		const struct sysctl_value *v = &s->sysctls[i];
		const char *leaf = strrchr(v->path, '/');
		int r;

		/* The mode of address generation goes by netlink, where it has no side effects. */
		if (!sysctl_is_ours(job->rc, v) || strcmp(leaf, "/addr_gen_mode") == 0)
			continue;
		r = sysctl_write_if_differs(v->path, v->value);
		/* Some are only there to be read, and a decoy's limits may be others. */
		if (r < 0 && r != -EACCES && r != -EPERM && r != -ENOENT)
			log_debug("net/%s stays as it is: %s", v->path, strerror(-r));
	}
	return 0;
}

/* ---- link requests ---- */

static int link_set_addr_gen_mode(struct nlraw *nl, uint32_t ifindex, uint8_t mode)
{
	struct nl_msg *msg = rtlink_request(ifindex, 0, 0);
	struct nlattr *spec, *inet6;
	int r;

	if (!msg)
		return -ENOMEM;
	spec = nla_nest_start(msg, IFLA_AF_SPEC);
	inet6 = spec ? nla_nest_start(msg, AF_INET6) : NULL;
	if (!inet6 || nla_put_u8(msg, IFLA_INET6_ADDR_GEN_MODE, mode) < 0) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	nla_nest_end(msg, inet6);
	nla_nest_end(msg, spec);
	r = nlraw_send(nl, msg);
	return r == -EAFNOSUPPORT || r == -EOPNOTSUPP ? 0 : r; /* no IPv6 there: nothing to set */
}

/* The saved mode of a link, or -1 when it had no IPv6. */
static int saved_addr_gen_mode(const struct snapshot *s, const char *link_name)
{
	for (size_t i = 0; i < s->sysctl_cnt; i++)
		if (sysctl_is_of(&s->sysctls[i], link_name) &&
		    strcmp(strrchr(s->sysctls[i].path, '/'), "/addr_gen_mode") == 0)
			return (int)strtol(s->sysctls[i].value, NULL, 10);
	return -1;
}

int reconf_sysctls(const struct reconf *rc)
{
	struct sysctl_job job = { .rc = rc };

	for (size_t i = 0; i < rc->snap->plan.link_cnt; i++) {
		const char *name = rc->snap->plan.links[i].name;
		int r = 0;

		if (rc->is_wanted[i] && saved_addr_gen_mode(rc->snap, name) >= 0)
			r = link_set_addr_gen_mode(rc->nl, rc->ifindex[i], IN6_ADDR_GEN_MODE_NONE);
		if (r < 0)
			return log_err(r, "cannot switch off address generation of link %s", name);
	}
	return netns_call(rc->netns_fd, sysctls_in, &job);
}

/* ---- addresses ---- */

/* Copies an address with another index and other flags in both places they are in. */
static struct nl_msg *addr_msg(const struct reconf *rc, const struct nlmsghdr *nlh, uint32_t set,
			       int nl_flags)
{
	struct ifaddrmsg ifa = *(const struct ifaddrmsg *)nlmsg_data(nlh);
	uint32_t flags = attr_u32(nlh, sizeof(ifa), IFA_FLAGS) | ifa.ifa_flags;
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWADDR, NLM_F_REQUEST | nl_flags);
	struct nlattr *a;
	int rem, r;

	/* What the kernel sets: it would be ignored, or taken for an order. */
	flags &= ~(uint32_t)(IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED |
			     IFA_F_SECONDARY | IFA_F_PERMANENT);
	flags |= set;
	ifa.ifa_index = map_ifindex(rc, ifa.ifa_index);
	ifa.ifa_flags = (uint8_t)flags;
	r = msg ? nlmsg_append(msg, &ifa, sizeof(ifa), NLMSG_ALIGNTO) : -1;
	nlmsg_for_each_attr(a, (struct nlmsghdr *)(uintptr_t)nlh, sizeof(ifa), rem)
	{
		if (r >= 0 && nla_type(a) != IFA_FLAGS)
			r = nla_put(msg, nla_type(a), nla_len(a), nla_data(a));
	}
	if (r >= 0)
		r = nla_put_u32(msg, IFA_FLAGS, flags);
	if (r < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int addr_add(const struct reconf *rc, const struct nlmsghdr *nlh)
{
	const struct ifaddrmsg *ifa = nlmsg_data(nlh);
	uint32_t flags = attr_u32(nlh, sizeof(*ifa), IFA_FLAGS) | ifa->ifa_flags;
	bool is_v6 = ifa->ifa_family == AF_INET6;
	int r;

	r = nlraw_send(rc->nl,
		       addr_msg(rc, nlh, is_v6 ? IFA_F_NODAD : 0, NLM_F_CREATE | NLM_F_EXCL));
	if (r == -EEXIST)
		r = 0;
	if (r == 0 && is_v6 && !(flags & IFA_F_NODAD))
		r = nlraw_send(rc->nl, addr_msg(rc, nlh, 0, NLM_F_REPLACE));
	if (r == -EACCES &&
	    is_v6) /* IPv6 is disabled on the link, as it was with the address gone */
		r = 0;
	return r;
}

static int addrs_of_family(const struct reconf *rc, uint8_t family, bool backwards)
{
	const struct nlset *set = &rc->snap->raw[RAW_ADDRS];
	const struct nlmsghdr **rows = calloc(set->cnt + 1, sizeof(const struct nlmsghdr *));
	size_t cnt = 0;
	int first = 0;

	if (!rows)
		return -ENOMEM;
	nlset_for_each(nlh, set)
	{
		const struct ifaddrmsg *ifa = nlmsg_data(nlh);

		if (ifa->ifa_family == family && wanted_row(rc, ifa->ifa_index) != PLAN_NO_LINK)
			rows[cnt++] = nlh;
	}
	for (size_t i = 0; i < cnt; i++) {
		int r = addr_add(rc, rows[backwards ? cnt - 1 - i : i]);

		if (r < 0)
			note(&first, log_warn(r, "cannot add an address (%s)", rc->nl->text));
	}
	free(rows);
	return first;
}

int reconf_addrs(const struct reconf *rc)
{
	int first = 0;

	for (size_t i = 0; i < rc->snap->plan.link_cnt; i++) {
		const struct plan_link *l = &rc->snap->plan.links[i];
		int r;

		if (!rc->is_wanted[i])
			continue;
		r = nlraw_send(rc->nl,
			       rtlink_request(rc->ifindex[i], l->flags & LINK_FLAGS_SETTABLE,
					      LINK_FLAGS_SETTABLE));
		if (r < 0)
			return log_err(r, "cannot bring link %s to its state", l->name);
	}
	note(&first, addrs_of_family(rc, AF_INET, false));
	note(&first, addrs_of_family(rc, AF_INET6, true));
	return first;
}

/* ---- next hops and routes ---- */

/* A multipath attribute with the indexes of now and without the kernel's flags. */
static int put_multipath(struct nl_msg *msg, const struct reconf *rc, const struct nlattr *a)
{
	struct nlattr *copy = nla_reserve(msg, RTA_MULTIPATH, nla_len(a));
	struct rtnexthop *nh;
	int len = nla_len(a);

	if (!copy)
		return -ENOMEM;
	memcpy(nla_data(copy), nla_data(a), (size_t)len);
	for (nh = nla_data(copy); RTNH_OK(nh, len); nh = RTNH_NEXT(nh)) {
		nh->rtnh_ifindex = (int)map_ifindex(rc, (uint32_t)nh->rtnh_ifindex);
		nh->rtnh_flags &= ROUTE_FLAGS_SETTABLE;
		len -= (int)RTNH_ALIGN(nh->rtnh_len);
	}
	return 0;
}

/* An attribute a request must not hold. */
static bool route_attr_is_dropped(int type, bool has_nh_id)
{
	switch (type) {
	case RTA_CACHEINFO:
		return true;
	case RTA_OIF:
	case RTA_GATEWAY:
	case RTA_VIA:
	case RTA_MULTIPATH:
	case RTA_ENCAP:
	case RTA_ENCAP_TYPE:
		return has_nh_id; /* said by the object */
	default:
		return false;
	}
}

/* A route as a request: the form in which two of them can be compared, too. */
static struct nl_msg *route_msg(const struct reconf *rc, const struct nlmsghdr *nlh)
{
	struct rtmsg rt = *(const struct rtmsg *)nlmsg_data(nlh);
	bool has_nh_id = attr_find(nlh, sizeof(rt), RTA_NH_ID) != NULL;
	struct nl_msg *msg = nlmsg_alloc_size(nlh->nlmsg_len + 64u);
	struct nlattr *a;
	int rem, r = -1;

	rt.rtm_flags &= has_nh_id ? 0 : ROUTE_FLAGS_SETTABLE;
	if (msg) {
		nlmsg_hdr(msg)->nlmsg_len = NLMSG_HDRLEN;
		r = nlmsg_append(msg, &rt, sizeof(rt), NLMSG_ALIGNTO);
	}
	nlmsg_for_each_attr(a, (struct nlmsghdr *)(uintptr_t)nlh, sizeof(rt), rem)
	{
		if (r < 0 || route_attr_is_dropped(nla_type(a), has_nh_id))
			continue;
		if (nla_type(a) == RTA_OIF && nla_len(a) == 4)
			r = nla_put_u32(msg, RTA_OIF, map_ifindex(rc, nla_get_u32(a)));
		else if (nla_type(a) == RTA_MULTIPATH)
			r = put_multipath(msg, rc, a);
		else
			r = nla_put(msg, nla_type(a), nla_len(a), nla_data(a));
	}
	if (r < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static bool multipath_has(const struct nlattr *a, bool (*test)(const struct reconf *, uint32_t),
			  const struct reconf *rc)
{
	struct rtnexthop *nh;
	int len = a ? nla_len(a) : 0;

	for (nh = a ? nla_data(a) : NULL; nh && RTNH_OK(nh, len); nh = RTNH_NEXT(nh)) {
		if (test(rc, (uint32_t)nh->rtnh_ifindex))
			return true;
		len -= (int)RTNH_ALIGN(nh->rtnh_len);
	}
	return false;
}

static bool is_wanted_before(const struct reconf *rc, uint32_t old_ifindex)
{
	return wanted_row(rc, old_ifindex) != PLAN_NO_LINK;
}

/* Whether a route of the snapshot may have gone with the links or their addresses. */
static bool route_is_concerned(const struct reconf *rc, const struct nlmsghdr *nlh)
{
	size_t hdr_len = sizeof(struct rtmsg);

	return is_wanted_before(rc, attr_u32(nlh, hdr_len, RTA_OIF)) ||
	       attr_find(nlh, hdr_len, RTA_PREFSRC) || attr_find(nlh, hdr_len, RTA_NH_ID) ||
	       multipath_has(attr_find(nlh, hdr_len, RTA_MULTIPATH), is_wanted_before, rc);
}

/* The concerned routes of a dump as requests, one behind the other. */
static int routes_canonical(const struct reconf *rc, const struct nlset *set, bool is_snapshot,
			    struct nlset *ret)
{
	static const bool none[PLAN_LINKS_MAX];
	struct reconf unmapped = *rc; /* routes of now have the indexes of now */

	unmapped.is_wanted = none;
	nlset_for_each(nlh, set)
	{
		bool is_concerned =
			is_snapshot
				? route_is_concerned(rc, nlh)
				: is_wanted_now(rc, attr_u32(nlh, sizeof(struct rtmsg), RTA_OIF));
		struct nl_msg *msg;
		int r;

		if (!is_concerned)
			continue;
		msg = route_msg(is_snapshot ? rc : &unmapped, nlh);
		r = msg ? nlset_append(ret, nlmsg_hdr(msg)) : -ENOMEM;
		nlmsg_free(msg);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Whether the route may find what it lacks when others are there. */
static bool may_work_later(int r)
{
	return r == -ENETUNREACH || r == -EHOSTUNREACH || r == -EINVAL || r == -ENODEV;
}

static int route_add(struct nlraw *nl, const struct nlmsghdr *nlh)
{
	const struct rtmsg *rt = nlmsg_data(nlh);
	/* IPv4 keeps routes of one key in the order they are appended; IPv6 does so anyway. */
	int flags = NLM_F_CREATE | (rt->rtm_family == AF_INET ? NLM_F_APPEND : 0);
	int r = nlraw_replay(nl, nlh, RTM_NEWROUTE, flags);

	return r == -EEXIST ? 0 : r;
}

static int routes_add(const struct reconf *rc, const struct nlset *set)
{
	const struct nlmsghdr **todo = calloc(set->cnt + 1, sizeof(const struct nlmsghdr *));
	size_t cnt = 0, before;
	int first = 0;

	if (!todo)
		return -ENOMEM;
	nlset_for_each(nlh, set)
	{
		todo[cnt++] = nlh;
	}
	do {
		size_t left = 0;

		before = cnt;
		first = 0;
		for (size_t i = 0; i < cnt; i++) {
			int r = route_add(rc->nl, todo[i]);

			if (r < 0)
				note(&first, r);
			if (may_work_later(r))
				todo[left++] = todo[i];
			else if (r < 0)
				log_warn(r, "cannot add a route (%s)", rc->nl->text);
		}
		cnt = left;
	} while (cnt && cnt < before);
	if (first < 0 && rc->has_gone) {
		log_info("%zu routes went with a link that is gone", cnt);
		first = 0;
	} else if (cnt) {
		log_warnx("%zu routes could not be added, the first because: %s", cnt,
			  strerror(-first));
	}
	free(todo);
	return first;
}

static bool nexthop_is_concerned(const struct reconf *rc, const struct nlmsghdr *nlh)
{
	/* A group names no link; it may have lost its members with ours. */
	return attr_find(nlh, sizeof(struct nhmsg), NHA_GROUP) ||
	       is_wanted_before(rc, attr_u32(nlh, sizeof(struct nhmsg), NHA_OIF));
}

/* What a request may hold; dumps of linux 6.9 and later say more. */
static bool nexthop_attr_is_kept(int type)
{
	return (type >= NHA_ID && type <= NHA_ENCAP) || type == NHA_FDB || type == NHA_RES_GROUP;
}

static struct nl_msg *nexthop_msg(const struct reconf *rc, const struct nlmsghdr *nlh)
{
	struct nhmsg nh = *(const struct nhmsg *)nlmsg_data(nlh);
	struct nl_msg *msg =
		nlmsg_alloc_simple(RTM_NEWNEXTHOP, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE);
	struct nlattr *a;
	int rem, r;

	nh.nh_flags &= ROUTE_FLAGS_SETTABLE;
	nh.nh_scope = 0; /* computed, refused in a request */
	r = msg ? nlmsg_append(msg, &nh, sizeof(nh), NLMSG_ALIGNTO) : -1;
	nlmsg_for_each_attr(a, (struct nlmsghdr *)(uintptr_t)nlh, sizeof(nh), rem)
	{
		if (r < 0 || !nexthop_attr_is_kept(nla_type(a)))
			continue;
		if (nla_type(a) == NHA_OIF && nla_len(a) == 4)
			r = nla_put_u32(msg, NHA_OIF, map_ifindex(rc, nla_get_u32(a)));
		else
			r = nla_put(msg, nla_type(a), nla_len(a), nla_data(a));
	}
	if (r < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* Single next hops first: a group refers to them. Those behind gateways wait for their routes. */
static int nexthops_add(const struct reconf *rc, bool is_last_try)
{
	int first = 0;

	for (int groups = 0; groups < 2; groups++) {
		nlset_for_each(nlh, &rc->snap->raw[RAW_NEXTHOPS])
		{
			bool is_group = attr_find(nlh, sizeof(struct nhmsg), NHA_GROUP) != NULL;
			int r;

			if (is_group != (groups == 1) || !nexthop_is_concerned(rc, nlh))
				continue;
			r = nlraw_send(rc->nl, nexthop_msg(rc, nlh));
			if (r < 0 && is_last_try && !rc->has_gone)
				note(&first, log_warn(r, "cannot add a next hop object (%s)",
						      rc->nl->text));
		}
	}
	return first;
}

int reconf_routes(const struct reconf *rc)
{
	bool has_nexthops = rc->snap->raw[RAW_NEXTHOPS].cnt > 0;
	struct nlset canon = { 0 };
	int r;

	r = routes_canonical(rc, &rc->snap->raw[RAW_ROUTES], true, &canon);
	if (r == 0 && has_nexthops) {
		(void)nexthops_add(rc, false);
		(void)routes_add(rc, &canon);
		r = nexthops_add(rc, true);
	}
	if (r == 0)
		r = routes_add(rc, &canon);
	nlset_done(&canon);
	return r;
}

/* ---- neighbours ---- */

int reconf_neighs(const struct reconf *rc)
{
	int first = 0;

	nlset_for_each(nlh, &rc->snap->raw[RAW_NEIGHS])
	{
		struct ndmsg *nd = nlmsg_data(nlh);
		uint32_t old_ifindex = (uint32_t)nd->ndm_ifindex;
		int r;

		if (!is_wanted_before(rc, old_ifindex))
			continue;
		nd->ndm_ifindex = (int)map_ifindex(rc, old_ifindex);
		r = nlraw_replay(rc->nl, nlh, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
		nd->ndm_ifindex = (int)old_ifindex; /* the snapshot stays what it was */
		if (r < 0)
			note(&first, log_warn(r, "cannot add a neighbour (%s)", rc->nl->text));
	}
	return first;
}

/* ---- what came by itself ---- */

static bool addr_eq(const struct nlmsghdr *a, const struct nlmsghdr *b)
{
	const struct ifaddrmsg *ia = nlmsg_data(a), *ib = nlmsg_data(b);
	const struct nlattr *la = attr_find(a, sizeof(*ia), IFA_LOCAL);
	const struct nlattr *lb = attr_find(b, sizeof(*ib), IFA_LOCAL);

	if (!la)
		la = attr_find(a, sizeof(*ia), IFA_ADDRESS);
	if (!lb)
		lb = attr_find(b, sizeof(*ib), IFA_ADDRESS);
	return ia->ifa_family == ib->ifa_family && ia->ifa_prefixlen == ib->ifa_prefixlen && la &&
	       lb && nla_len(la) == nla_len(lb) &&
	       memcmp(nla_data(la), nla_data(lb), (size_t)nla_len(la)) == 0;
}

static int addrs_prune(const struct reconf *rc, bool all)
{
	struct ifaddrmsg hdr = { 0 };
	struct nlset now = { 0 };
	int r;

	r = nlraw_dump(rc->nl, RTM_GETADDR, &hdr, sizeof(hdr), &now);
	if (r < 0)
		return r;
	nlset_for_each(nlh, &now)
	{
		const struct ifaddrmsg *ifa = nlmsg_data(nlh);
		bool is_old = false;
		int e;

		if (!is_wanted_now(rc, ifa->ifa_index))
			continue;
		nlset_for_each(old, &rc->snap->raw[RAW_ADDRS])
		{
			const struct ifaddrmsg *was = nlmsg_data(old);

			is_old = is_old || (map_ifindex(rc, was->ifa_index) == ifa->ifa_index &&
					    addr_eq(nlh, old));
		}
		if (is_old && !all)
			continue;
		e = nlraw_replay(rc->nl, nlh, RTM_DELADDR, 0);
		/* The secondaries of an address go with it. */
		if (e < 0 && e != -EADDRNOTAVAIL && e != -ENODEV)
			note(&r, log_err(e, "cannot delete an address (%s)", rc->nl->text));
	}
	nlset_done(&now);
	return r;
}

static bool msg_eq(const struct nlmsghdr *a, const struct nlmsghdr *b)
{
	return a->nlmsg_len == b->nlmsg_len &&
	       memcmp(nlmsg_data(a), nlmsg_data(b), a->nlmsg_len - NLMSG_HDRLEN) == 0;
}

/* Looks for @nlh from @hint on, once around: two dumps mostly have one order. */
static const struct nlmsghdr *find_from(const struct nlset *set, const struct nlmsghdr *hint,
					const struct nlmsghdr *nlh)
{
	const struct nlmsghdr *at = hint;

	for (size_t i = 0; i < set->cnt; i++) {
		if (!at)
			at = nlset_next(set, NULL);
		if (msg_eq(at, nlh))
			return at;
		at = nlset_next(set, at);
	}
	return NULL;
}

static int routes_prune(const struct reconf *rc, bool all)
{
	struct nlset now = { 0 }, now_canon = { 0 }, canon = { 0 };
	const struct nlmsghdr *hint = NULL;
	struct rtmsg hdr = { 0 };
	int r;

	r = nlraw_dump(rc->nl, RTM_GETROUTE, &hdr, sizeof(hdr), &now);
	if (r == 0)
		r = routes_canonical(rc, &now, false, &now_canon);
	if (r == 0 && !all)
		r = routes_canonical(rc, &rc->snap->raw[RAW_ROUTES], true, &canon);
	if (r == 0) {
		nlset_for_each(nlh, &now_canon)
		{
			const struct nlmsghdr *old = find_from(&canon, hint, nlh);
			int e = 0;

			if (old)
				hint = nlset_next(&canon, old);
			else
				e = nlraw_replay(rc->nl, nlh, RTM_DELROUTE, 0);
			/* Already gone with another, or the kernel holds on to it. */
			if (e < 0 && e != -ESRCH)
				log_debug("a route stays: %s (%s)", strerror(-e), rc->nl->text);
		}
	}
	nlset_done(&canon);
	nlset_done(&now_canon);
	nlset_done(&now);
	return r;
}

int reconf_finish(const struct reconf *rc)
{
	int r;

	for (size_t i = 0; i < rc->snap->plan.link_cnt; i++) {
		const char *name = rc->snap->plan.links[i].name;
		int mode = rc->is_wanted[i] ? saved_addr_gen_mode(rc->snap, name) : -1;

		r = mode >= 0 ? link_set_addr_gen_mode(rc->nl, rc->ifindex[i], (uint8_t)mode) : 0;
		if (r < 0)
			return log_err(r, "cannot set address generation of link %s", name);
	}
	r = addrs_prune(rc, false);
	if (r == 0)
		r = routes_prune(rc, false);
	return r;
}

int reconf_clear(const struct reconf *rc)
{
	int r = routes_prune(rc, true);

	return r < 0 ? r : addrs_prune(rc, true);
}
