/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scrape - read a namespace's network configuration
 *
 * Theory of operation: one dump a table, kept as messages (nlraw), then translated into the plan by
 * libnl-route's parsers. A second socket subscribes to changes before the first dump; if anything
 * arrived there until the last one, the tables may not fit each other (an address of a link that was
 * renamed meanwhile) and all is read again, SCRAPE_TRIES times. What the plan cannot express stays
 * in the messages, so that giving back is exact even then, and is logged.
 *
 * libnl 3.7 is older than IFLA_TSO_MAX_SIZE and IFLA_GSO_IPV4_MAX_SIZE: those are taken from the
 * message by number.
 *
 * Syscalls: #syscalls monitor: openat read close getdents64
 *
 * References: rtnetlink(7); linux include/uapi/linux/if_link.h for the two numbers
 */
#include "daemon/netconf/scrape.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netlink/addr.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/neighbour.h>
#include <netlink/route/nexthop.h>
#include <netlink/route/route.h>
#include <netlink/route/rule.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/log.h"

#define SCRAPE_TRIES 8

#define ATTR_TSO_MAX_SIZE      59 /* IFLA_TSO_MAX_SIZE, linux 6.0 */
#define ATTR_GSO_IPV4_MAX_SIZE 63 /* IFLA_GSO_IPV4_MAX_SIZE, linux 6.3 */
#define ATTR_SPORT_MASK        28 /* FRA_SPORT_MASK, linux 6.15 */
#define ATTR_DPORT_MASK        29
#define ATTR_DSCP              25 /* FRA_DSCP, linux 6.13 */
#define ATTR_DSCP_MASK         30 /* linux 6.15 */
#define DSCP_MAX               63

/* Without the kernel's word: what every device took before these attributes existed. */
#define LEGACY_GSO_MAX_SIZE 65536u
#define LEGACY_GSO_MAX_SEGS 65535u

#define SYSCTLS_MAX 16384u

const char *raw_table_name(enum raw_table t)
{
	static const char *const names[RAW_TABLE_COUNT] = {
		[RAW_LINKS] = "links",   [RAW_ADDRS] = "addrs", [RAW_NEXTHOPS] = "nexthops",
		[RAW_ROUTES] = "routes", [RAW_RULES] = "rules", [RAW_NEIGHS] = "neighs",
	};

	return names[t];
}

size_t raw_table_hdr_len(enum raw_table t)
{
	static const size_t lens[RAW_TABLE_COUNT] = {
		[RAW_LINKS] = sizeof(struct ifinfomsg),    [RAW_ADDRS] = sizeof(struct ifaddrmsg),
		[RAW_NEXTHOPS] = sizeof(struct nhmsg),     [RAW_ROUTES] = sizeof(struct rtmsg),
		[RAW_RULES] = sizeof(struct fib_rule_hdr), [RAW_NEIGHS] = sizeof(struct ndmsg),
	};

	return lens[t];
}

void snapshot_done(struct snapshot *s)
{
	plan_done(&s->plan);
	for (int t = 0; t < RAW_TABLE_COUNT; t++)
		nlset_done(&s->raw[t]);
	free(s->sysctls);
	s->sysctls = NULL;
	s->sysctl_cnt = 0;
}

struct sysctl_value *snapshot_add_sysctl(struct snapshot *s)
{
	struct sysctl_value *v;

	if (s->sysctl_cnt >= SYSCTLS_MAX)
		return NULL;
	if (s->sysctl_cnt % 64 == 0) {
		void *grown = reallocarray(s->sysctls, s->sysctl_cnt + 64, sizeof(*v));

		if (!grown)
			return NULL;
		s->sysctls = grown;
	}
	v = &s->sysctls[s->sysctl_cnt++];
	memset(v, 0, sizeof(*v));
	return v;
}

/* ---- reading ---- */

/*
 * Whether an operator set the entry. The kernel makes NOARP entries by itself for multicast,
 * broadcast and links without addresses; those have no or a group MAC.
 */
static bool neigh_is_static(const struct nlmsghdr *nlh)
{
	const struct ndmsg *nd = nlmsg_data(nlh);
	const struct nlattr *mac =
		nlmsg_find_attr((struct nlmsghdr *)(uintptr_t)nlh, sizeof(*nd), NDA_LLADDR);
	static const uint8_t zero[6];

	if ((nd->ndm_flags & NTF_PROXY) || (nd->ndm_state & NUD_PERMANENT))
		return true;
	if (!(nd->ndm_state & NUD_NOARP) || !mac || nla_len(mac) != 6)
		return false;
	return memcmp(nla_data(mac), zero, 6) != 0 && !(*(const uint8_t *)nla_data(mac) & 1);
}

/* Keeps of @all what an operator set and the kernel would not learn again by itself. */
static int keep_static_neighs(const struct nlset *all, struct nlset *keep)
{
	nlset_for_each(nlh, all)
	{
		const struct ndmsg *nd = nlmsg_data(nlh);
		int r;

		if (nd->ndm_family != AF_INET && nd->ndm_family != AF_INET6)
			continue;
		if (!neigh_is_static(nlh))
			continue;
		r = nlset_append(keep, nlh);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_neighs(struct nlraw *nl, struct nlset *keep)
{
	struct nlset all = { 0 };
	int r = 0;

	nlset_done(keep);
	/* Proxies are another table behind the same request. */
	for (int proxies = 0; r == 0 && proxies < 2; proxies++) {
		struct ndmsg nd = { .ndm_flags = proxies ? NTF_PROXY : 0 };

		r = nlraw_dump(nl, RTM_GETNEIGH, &nd, sizeof(nd), &all);
		if (r == 0)
			r = keep_static_neighs(&all, keep);
	}
	nlset_done(&all);
	return r;
}

/* Cached clones are no configuration: path MTUs and redirects the kernel learned. */
static int read_routes(struct nlraw *nl, struct nlset *keep)
{
	struct rtmsg rt = { 0 };
	struct nlset all = { 0 };
	int r;

	nlset_done(keep);
	r = nlraw_dump(nl, RTM_GETROUTE, &rt, sizeof(rt), &all);
	if (r == 0) {
		nlset_for_each(nlh, &all)
		{
			const struct rtmsg *m = nlmsg_data(nlh);

			if (m->rtm_flags & RTM_F_CLONED)
				continue;
			if (m->rtm_family != AF_INET && m->rtm_family != AF_INET6)
				continue;
			r = nlset_append(keep, nlh);
			if (r < 0)
				break;
		}
	}
	nlset_done(&all);
	return r;
}

static int read_tables(struct nlraw *nl, struct nlset raw[RAW_TABLE_COUNT])
{
	struct ifinfomsg ifi = { 0 };
	struct ifaddrmsg ifa = { 0 };
	struct fib_rule_hdr frh = { 0 };
	struct nhmsg nh = { 0 };
	enum raw_table t = RAW_LINKS;
	int r;

	r = nlraw_dump(nl, RTM_GETLINK, &ifi, sizeof(ifi), &raw[t]);
	if (r == 0)
		r = nlraw_dump(nl, RTM_GETADDR, &ifa, sizeof(ifa), &raw[t = RAW_ADDRS]);
	if (r == 0) {
		r = nlraw_dump(nl, RTM_GETNEXTHOP, &nh, sizeof(nh), &raw[t = RAW_NEXTHOPS]);
		if (r == -EOPNOTSUPP || r == -EINVAL) /* before linux 5.3 there are none */
			r = 0;
	}
	if (r == 0)
		r = read_routes(nl, &raw[t = RAW_ROUTES]);
	if (r == 0)
		r = nlraw_dump(nl, RTM_GETRULE, &frh, sizeof(frh), &raw[t = RAW_RULES]);
	if (r == 0)
		r = read_neighs(nl, &raw[t = RAW_NEIGHS]);
	if (r < 0)
		return log_err(r, "cannot read the %s of the container's network namespace",
			       raw_table_name(t));
	return 0;
}

int scrape_watch_open(struct nlraw *watch, int netns_fd, bool has_neighs)
{
	static const int groups[] = { RTNLGRP_LINK,       RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
				      RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,  RTNLGRP_IPV4_RULE,
				      RTNLGRP_IPV6_RULE,  RTNLGRP_IPV4_NETCONF /* rp_filter */ };
	int r = nlraw_open(watch, netns_fd);

	for (size_t i = 0; r == 0 && i < sizeof(groups) / sizeof(groups[0]); i++)
		if (nl_socket_add_membership(watch->sk, groups[i]) < 0)
			r = -EIO;
	if (r == 0 && has_neighs &&
	    nl_socket_add_memberships(watch->sk, RTNLGRP_NEIGH, RTNLGRP_NEXTHOP, 0) < 0)
		r = -EIO;
	return r;
}

bool scrape_watch_saw_change(struct nlraw *watch)
{
	char octet;
	bool saw = false;

	while (recv(nl_socket_get_fd(watch->sk), &octet, 1, MSG_DONTWAIT | MSG_TRUNC) >= 0 ||
	       errno == ENOBUFS || errno == EINTR)
		saw = saw || errno != EINTR;
	return saw;
}

/* ---- translation ---- */

static void ip_from_nl(struct plan_ip *ip, const struct nl_addr *a)
{
	unsigned int len = a ? nl_addr_get_len(a) : 0;
	int family = a ? nl_addr_get_family(a) : 0;

	memset(ip, 0, sizeof(*ip));
	if ((family == AF_INET && len == 4) || (family == AF_INET6 && len == 16)) {
		ip->family = (uint8_t)family;
		memcpy(ip->b, nl_addr_get_binary_addr(a), len);
	}
}

/* A parse callback's argument: where it writes, and the message its object came from. */
struct parse {
	struct plan *plan;
	const struct nlmsghdr *nlh;
	int err;
};

static void link_to_plan(struct nl_object *obj, void *arg)
{
	struct rtnl_link *link = (struct rtnl_link *)obj;
	struct parse *ps = arg;
	struct plan_link *l = plan_add_link(ps->plan);
	const struct nl_addr *mac = rtnl_link_get_addr(link);
	uint32_t num;

	if (!l) {
		ps->err = -E2BIG;
		return;
	}
	(void)snprintf(l->name, sizeof(l->name), "%s", rtnl_link_get_name(link));
	(void)snprintf(l->kind, sizeof(l->kind), "%s",
		       rtnl_link_get_type(link) ? rtnl_link_get_type(link) : "");
	l->ifindex = (uint32_t)rtnl_link_get_ifindex(link);
	l->flags = rtnl_link_get_flags(link);
	l->type = rtnl_link_get_arptype(link);
	l->mtu = rtnl_link_get_mtu(link);
	l->group = rtnl_link_get_group(link);
	if (mac && nl_addr_get_len(mac) == 6)
		memcpy(l->mac, nl_addr_get_binary_addr(mac), 6);
	l->gso_max_size = rtnl_link_get_gso_max_size(link, &num) == 0 ? num : LEGACY_GSO_MAX_SIZE;
	l->gso_max_segs = rtnl_link_get_gso_max_segs(link, &num) == 0 ? num : LEGACY_GSO_MAX_SEGS;
	/* Before 6.3 one limit served both families, and IPv4's length field bounds it. */
	l->gso_ipv4_max_size = nlraw_attr_u32(
		ps->nlh, sizeof(struct ifinfomsg), ATTR_GSO_IPV4_MAX_SIZE,
		l->gso_max_size < LEGACY_GSO_MAX_SIZE ? l->gso_max_size : LEGACY_GSO_MAX_SIZE);
	l->tso_max_size = nlraw_attr_u32(ps->nlh, sizeof(struct ifinfomsg), ATTR_TSO_MAX_SIZE,
					 LEGACY_GSO_MAX_SIZE);
}

static void addr_to_plan(struct nl_object *obj, void *arg)
{
	struct rtnl_addr *addr = (struct rtnl_addr *)obj;
	struct parse *ps = arg;
	uint32_t link_idx = plan_find_ifindex(ps->plan, (uint32_t)rtnl_addr_get_ifindex(addr));
	struct plan_addr *a;

	if (link_idx == PLAN_NO_LINK)
		return;
	a = plan_add_addr(ps->plan);
	if (!a) {
		ps->err = -E2BIG;
		return;
	}
	a->link_idx = link_idx;
	ip_from_nl(&a->local, rtnl_addr_get_local(addr));
	ip_from_nl(&a->peer, rtnl_addr_get_peer(addr));
	ip_from_nl(&a->broadcast, rtnl_addr_get_broadcast(addr));
	a->prefix_len = (uint8_t)rtnl_addr_get_prefixlen(addr);
	a->scope = (uint8_t)rtnl_addr_get_scope(addr);
	a->flags = rtnl_addr_get_flags(addr);
}

/* The fields that all next hops of a route share. */
static void route_common(struct rtnl_route *route, struct plan_route *r)
{
	const struct nl_addr *from = rtnl_route_get_src(route);

	r->family = rtnl_route_get_family(route);
	r->type = rtnl_route_get_type(route);
	r->scope = rtnl_route_get_scope(route);
	r->protocol = rtnl_route_get_protocol(route);
	r->tos = rtnl_route_get_tos(route);
	r->table = rtnl_route_get_table(route);
	r->metric = rtnl_route_get_priority(route);
	r->link_idx = PLAN_NO_LINK;
	if (rtnl_route_get_metric(route, RTAX_MTU, &r->mtu) < 0)
		r->mtu = 0;
	r->dst_len = (uint8_t)nl_addr_get_prefixlen(rtnl_route_get_dst(route));
	if (r->dst_len)
		ip_from_nl(&r->dst, rtnl_route_get_dst(route));
	if (from && nl_addr_get_prefixlen(from)) {
		r->from_len = (uint8_t)nl_addr_get_prefixlen(from);
		ip_from_nl(&r->from, from);
	}
	ip_from_nl(&r->prefsrc, rtnl_route_get_pref_src(route));
}

static void route_nexthop(struct rtnl_nexthop *nh, const struct plan *p, bool is_multipath,
			  struct plan_route *r)
{
	int ifindex = rtnl_route_nh_get_ifindex(nh);

	if (ifindex > 0)
		r->link_idx = plan_find_ifindex(p, (uint32_t)ifindex);
	ip_from_nl(&r->gateway, rtnl_route_nh_get_gateway(nh));
	if (r->gateway.family == 0)
		ip_from_nl(&r->gateway, rtnl_route_nh_get_via(nh));
	r->is_onlink = (rtnl_route_nh_get_flags(nh) & RTNH_F_ONLINK) != 0;
	r->is_dead = (rtnl_route_nh_get_flags(nh) & RTNH_F_DEAD) != 0;
	r->weight = is_multipath ? (uint32_t)rtnl_route_nh_get_weight(nh) + 1 : 0;
}

static void route_to_plan(struct nl_object *obj, void *arg)
{
	struct rtnl_route *route = (struct rtnl_route *)obj;
	struct parse *ps = arg;
	int nexthops = rtnl_route_get_nnexthops(route);

	for (int i = 0; i == 0 || i < nexthops; i++) {
		struct plan_route *r = plan_add_route(ps->plan);

		if (!r) {
			ps->err = -E2BIG;
			return;
		}
		route_common(route, r);
		if (nexthops > 0)
			route_nexthop(rtnl_route_nexthop_n(route, i), ps->plan, nexthops > 1, r);
	}
}

/* Does a mask of ports leave bits out? The kernel dumps one with every range: all bits, or none at all. */
static bool is_mask_partial(const struct nlattr *mask)
{
	uint16_t bits = nla_len(mask) == sizeof(bits) ? nla_get_u16(mask) : 1;

	return bits != 0 && bits != UINT16_MAX;
}

/* Selectors that the plan has no field for. */
static bool rule_is_partial(const struct nlmsghdr *nlh)
{
	const struct nlattr *a;
	int rest;

	nlmsg_for_each_attr(a, (struct nlmsghdr *)(uintptr_t)nlh, sizeof(struct fib_rule_hdr), rest)
	{
		int type = nla_type(a);

		if (type == FRA_TUN_ID || type == FRA_L3MDEV)
			return true;
		if (type == ATTR_SPORT_MASK || type == ATTR_DPORT_MASK) {
			if (is_mask_partial(a))
				return true;
		} else if (type > FRA_DPORT_RANGE && type != ATTR_DSCP && type != ATTR_DSCP_MASK) {
			return true; /* flow label, what is to come */
		}
	}
	return false;
}

/* What libnl does not know of a rule. */
static void rule_more(const struct nlmsghdr *nlh, struct plan_rule *r)
{
	const int hdr_len = sizeof(struct fib_rule_hdr);
	struct fib_rule_uid_range uid;
	const struct nlattr *a = nlraw_attr(nlh, hdr_len, FRA_UID_RANGE, sizeof(uid));

	if (a) {
		memcpy(&uid, nla_data(a), sizeof(uid));
		r->has_uid = true;
		r->uid_min = uid.start;
		r->uid_max = uid.end;
	}
	a = nlraw_attr(nlh, hdr_len, ATTR_DSCP, sizeof(uint8_t));
	if (a) {
		r->has_dscp = true;
		r->dscp = nla_get_u8(a) & DSCP_MAX;
		a = nlraw_attr(nlh, hdr_len, ATTR_DSCP_MASK, sizeof(uint8_t)); /* linux 6.15 */
		r->dscp_mask = a ? nla_get_u8(a) & DSCP_MAX : DSCP_MAX;
	}
	r->suppress_group = nlraw_attr_u32(nlh, hdr_len, FRA_SUPPRESS_IFGROUP, UINT32_MAX);
	r->has_suppress_group = r->suppress_group != UINT32_MAX;
	if (!r->has_suppress_group)
		r->suppress_group = 0;
}

static void rule_extras(struct rtnl_rule *rule, const struct nlmsghdr *nlh, struct plan_rule *r)
{
	uint32_t suppress = nlraw_attr_u32(nlh, sizeof(struct fib_rule_hdr), FRA_SUPPRESS_PREFIXLEN,
					   UINT32_MAX);
	uint16_t min, max;

	r->is_partial = rule_is_partial(nlh);
	rule_more(nlh, r);
	r->has_suppress_len = suppress <= 128;
	r->suppress_len = r->has_suppress_len ? (uint8_t)suppress : 0;
	r->target = r->action == FR_ACT_GOTO ? rtnl_rule_get_goto(rule) : 0;
	if (rtnl_rule_get_ipproto(rule, &r->ip_proto) < 0)
		r->ip_proto = 0;
	if (rtnl_rule_get_sport(rule, &min, &max) == 0) {
		r->sport_min = min;
		r->sport_max = max;
	}
	if (rtnl_rule_get_dport(rule, &min, &max) == 0) {
		r->dport_min = min;
		r->dport_max = max;
	}
}

static void rule_to_plan(struct nl_object *obj, void *arg)
{
	struct rtnl_rule *rule = (struct rtnl_rule *)obj;
	struct parse *ps = arg;
	const struct fib_rule_hdr *frh = nlmsg_data(ps->nlh);
	struct plan_rule *r;

	if (frh->family != AF_INET && frh->family != AF_INET6)
		return; /* multicast routing has rules of its own */
	r = plan_add_rule(ps->plan);
	if (!r) {
		ps->err = -E2BIG;
		return;
	}
	r->family = frh->family;
	r->action = frh->action;
	r->tos = frh->tos;
	r->is_inverted = (frh->flags & FIB_RULE_INVERT) != 0;
	r->priority = rtnl_rule_get_prio(rule);
	r->table = rtnl_rule_get_table(rule);
	r->fwmark = rtnl_rule_get_mark(rule);
	r->fwmask = rtnl_rule_get_mask(rule);
	if (frh->dst_len) {
		r->dst_len = frh->dst_len;
		ip_from_nl(&r->dst, rtnl_rule_get_dst(rule));
	}
	if (frh->src_len) {
		r->src_len = frh->src_len;
		ip_from_nl(&r->src, rtnl_rule_get_src(rule));
	}
	if (rtnl_rule_get_iif(rule))
		(void)snprintf(r->iif, sizeof(r->iif), "%s", rtnl_rule_get_iif(rule));
	if (rtnl_rule_get_oif(rule))
		(void)snprintf(r->oif, sizeof(r->oif), "%s", rtnl_rule_get_oif(rule));
	rule_extras(rule, ps->nlh, r);
}

static void neigh_to_plan(struct nl_object *obj, void *arg)
{
	struct rtnl_neigh *neigh = (struct rtnl_neigh *)obj;
	struct parse *ps = arg;
	uint32_t link_idx = plan_find_ifindex(ps->plan, (uint32_t)rtnl_neigh_get_ifindex(neigh));
	const struct nl_addr *mac = rtnl_neigh_get_lladdr(neigh);
	struct plan_neigh *n;

	if (link_idx == PLAN_NO_LINK)
		return;
	n = plan_add_neigh(ps->plan);
	if (!n) {
		ps->err = -E2BIG;
		return;
	}
	n->link_idx = link_idx;
	n->state = (uint16_t)rtnl_neigh_get_state(neigh);
	n->is_proxy = (rtnl_neigh_get_flags(neigh) & NTF_PROXY) != 0;
	ip_from_nl(&n->addr, rtnl_neigh_get_dst(neigh));
	if (mac && nl_addr_get_len(mac) == 6)
		memcpy(n->mac, nl_addr_get_binary_addr(mac), 6);
}

static int table_to_plan(const struct nlset *set, struct plan *plan, const char *what,
			 void (*fn)(struct nl_object *, void *))
{
	struct parse ps = { .plan = plan };
	size_t skipped = 0;

	nlset_for_each(nlh, set)
	{
		struct nl_msg *msg = nlmsg_convert(nlh);
		int r;

		if (!msg)
			return log_err(-ENOMEM, "cannot read the namespace's %s", what);
		nlmsg_set_proto(msg, NETLINK_ROUTE);
		ps.nlh = nlh;
		r = nl_msg_parse(msg, fn, &ps);
		nlmsg_free(msg);
		skipped += r < 0;
		if (ps.err < 0)
			return log_err(ps.err, "the namespace has too many %s", what);
	}
	if (skipped)
		log_notice("%zu %s are of a sort the stack does not know; they stay in the journal",
			   skipped, what);
	return 0;
}

static int snapshot_to_plan(struct snapshot *s)
{
	char why[128];
	int r;

	plan_done(&s->plan);
	s->plan.options.channel_cnt = 1;
	r = table_to_plan(&s->raw[RAW_LINKS], &s->plan, "links", link_to_plan);
	if (r == 0)
		r = table_to_plan(&s->raw[RAW_ADDRS], &s->plan, "addresses", addr_to_plan);
	if (r == 0)
		r = table_to_plan(&s->raw[RAW_ROUTES], &s->plan, "routes", route_to_plan);
	if (r == 0)
		r = table_to_plan(&s->raw[RAW_RULES], &s->plan, "rules", rule_to_plan);
	if (r == 0)
		r = table_to_plan(&s->raw[RAW_NEIGHS], &s->plan, "neighbours", neigh_to_plan);
	if (r == 0 && plan_check(&s->plan, why, sizeof(why)) < 0) {
		log_errx("the namespace's configuration makes no sense: %s", why);
		r = -EINVAL;
	}
	return r;
}

/* ---- sysctls ---- */

static int sysctl_read(struct snapshot *s, const char *dir, const char *name)
{
	static const char root[] = "/proc/sys/net/";
	struct sysctl_value *v;
	char path[sizeof(root) + sizeof(v->path)], value[64];
	ssize_t len;
	int fd;

	if (snprintf(path, sizeof(path), "%s%s/%s", root, dir, name) >= (int)sizeof(path))
		return 0; /* longer than any the kernel has */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0; /* write-only, or gone with its link */
	len = read(fd, value, sizeof(value) - 1);
	close(fd);
	if (len <= 0) /* stable_secret says EIO until it is set */
		return 0;
	value[len] = '\0';
	value[strcspn(value, "\n")] = '\0';
	v = snapshot_add_sysctl(s);
	if (!v)
		return -ENOMEM;
	memcpy(v->path, path + sizeof(root) - 1, strlen(path) - (sizeof(root) - 1) + 1);
	memcpy(v->value, value, (size_t)len + 1);
	return 0;
}

/* What the stack is told of a link's sysctls. */
static void link_of_sysctls(struct plan_link *l, const struct snapshot *s, size_t from)
{
	char path[sizeof(s->sysctls->path)];

	(void)snprintf(path, sizeof(path), "ipv4/conf/%s/rp_filter", l->name);
	for (size_t i = from; i < s->sysctl_cnt; i++)
		if (strcmp(s->sysctls[i].path, path) == 0 && s->sysctls[i].value[0] >= '0' &&
		    s->sysctls[i].value[0] <= '2')
			l->rp_filter = (uint8_t)(s->sysctls[i].value[0] - '0');
}

static int sysctls_of_dir(struct snapshot *s, const char *dir)
{
	const struct dirent *d;
	char path[128];
	DIR *dp;
	int r = 0;

	(void)snprintf(path, sizeof(path), "/proc/sys/net/%s", dir);
	dp = opendir(path);
	if (!dp)
		return 0; /* no IPv6 in this kernel, or the link has none */
	while (r == 0 && (d = readdir(dp)))
		if (d->d_type == DT_REG || d->d_type == DT_UNKNOWN)
			r = sysctl_read(s, dir, d->d_name);
	closedir(dp);
	return r;
}

static int sysctls_read(void *ctx)
{
	static const char *const trees[] = { "ipv4/conf", "ipv6/conf", "ipv4/neigh", "ipv6/neigh" };
	struct snapshot *s = ctx;
	int r = 0;

	for (size_t i = 0; i < s->plan.link_cnt; i++) {
		struct plan_link *l = &s->plan.links[i];
		size_t from = s->sysctl_cnt;

		/* "/" cannot be in a name; a link called ".." cannot exist either. */
		if (l->flags & IFF_LOOPBACK)
			continue;
		for (size_t t = 0; r == 0 && t < sizeof(trees) / sizeof(trees[0]); t++) {
			char dir[64];

			(void)snprintf(dir, sizeof(dir), "%s/%s", trees[t], l->name);
			r = sysctls_of_dir(s, dir);
		}
		link_of_sysctls(l, s, from);
	}
	return r;
}

/* ---- the whole ---- */

static int scrape_stable(int netns_fd, struct snapshot *s)
{
	struct nlraw nl = { 0 }, watch = { 0 };
	int r;

	r = nlraw_open(&nl, netns_fd);
	if (r == 0)
		r = scrape_watch_open(&watch, netns_fd, false);
	if (r < 0)
		log_err(r, "cannot open a netlink socket in the container's network namespace");
	for (int i = 0; r == 0 && i < SCRAPE_TRIES; i++) {
		r = read_tables(&nl, s->raw);
		if (r == 0 && !scrape_watch_saw_change(&watch))
			break;
		if (i == SCRAPE_TRIES - 1)
			log_warnx("the namespace's configuration keeps changing; "
				  "going on with what was read last");
	}
	nlraw_close(&watch);
	nlraw_close(&nl);
	return r;
}

int scrape_links(struct nlraw *nl, struct plan *p)
{
	struct ifinfomsg ifi = { 0 };
	struct nlset set = { 0 };
	int r;

	plan_init(p);
	r = nlraw_dump(nl, RTM_GETLINK, &ifi, sizeof(ifi), &set);
	if (r == 0)
		r = table_to_plan(&set, p, "links", link_to_plan);
	nlset_done(&set);
	if (r < 0)
		plan_done(p);
	return r;
}

int scrape(int netns_fd, struct snapshot *s)
{
	int r;

	memset(s, 0, sizeof(*s));
	r = netns_identify(netns_fd, &s->id);
	if (r < 0)
		return log_err(r, "cannot look at the container's network namespace");
	r = netns_is_ours(&s->id);
	if (r < 0)
		return log_err(r,
			       "cannot compare the container's network namespace with the host's");
	if (r > 0) {
		log_errx("the network namespace given is the host's own; give the container a "
			 "network namespace of its own and name that one");
		return -EINVAL;
	}
	r = scrape_stable(netns_fd, s);
	if (r == 0)
		r = snapshot_to_plan(s);
	if (r == 0) {
		r = netns_call(netns_fd, sysctls_read, s);
		if (r < 0)
			log_err(r, "cannot read the sysctls of the container's links");
	}
	if (r < 0)
		snapshot_done(s);
	return r;
}
