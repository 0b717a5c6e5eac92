/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_compare.c - the kernel's routing and ours, asked the same questions
 *
 * Theory of operation
 *
 * A configuration is drawn from a seed: links up and down, addresses, several tables, rules, metrics,
 * next hops, types, of both families. iproute2 puts it into a network namespace of its own; what the
 * kernel refuses is left out. The namespace is then read exactly as the daemon reads a container's
 * (scrape), and the plan is told to a stack exactly as the worker tells it (plan_diff, plan_feed). Then both are
 * asked where packets would go, the kernel by RTM_GETROUTE: error, type, table, link, gateway and source must
 * be the same. Of a route with several next hops the kernel may take any: there the kernel's choice
 * must be one of ours.
 *
 *   route-compare [configurations [first seed [probes]]]
 *
 * No packet is sent; nothing is touched but the namespaces made here, which end with the program.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/netconf/nlraw.h"
#include "daemon/netconf/scrape.h"
#include "daemon/worker/plan_feed.h"
#include "support/prng.h"

enum {
	LINKS = 4,
	SKIP = 77,
	TEXT_MAX = 32768,
	SHOWN_MAX = 40, /* differences printed */
	SETTLE_TRIES = 1000,
	SETTLE_US = 2000,
};

struct text {
	char buf[TEXT_MAX];
	size_t len;
};

struct probe {
	struct ns_flow flow;
	bool is_v6;
};

struct answer {
	int err;
	uint8_t type; /* RTN_* */
	uint32_t table;
	uint32_t ifindex;
	struct ns_addr gateway, src; /* zero: none */
};

static struct prng rng;
static int host_ns, shown;

static uint32_t below(uint32_t n)
{
	return (uint32_t)prng_below(&rng, n);
}

static bool one_in(uint32_t n)
{
	return below(n) == 0;
}

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->len, sizeof(t->buf) - t->len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(t->buf) - t->len)
		abort();
	t->len += (size_t)n;
}

/* ---- drawing ---- */

/* From few networks, so that addresses, prefixes and probes meet. */
static struct ns_addr draw4(void)
{
	static const uint32_t nets[] = { 0x0a010000, 0x0a010100, 0x0a020000,
					 0xc0a80700, 0xac100000, 0x08080800 };

	return ns_addr_v4(nets[below(NS_ARRAY_LEN(nets))] + below(8) + (one_in(3) ? 128 : 0));
}

static struct ns_addr draw6(void)
{
	static const uint8_t nets[][6] = {
		{ 0x20, 1, 0x0d, 0xb8, 0, 1 }, { 0x20, 1, 0x0d, 0xb8, 0, 2 },
		{ 0x20, 1, 0x0d, 0xb8, 1, 0 }, { 0xfd, 1, 0, 0, 0, 1 },
		{ 0x20, 2, 1, 1, 0, 0 },       { 0x24, 0, 1, 1, 0, 0 }
	};
	struct ns_addr a = { { 0 } };

	memcpy(a.b, nets[below(NS_ARRAY_LEN(nets))], 6);
	a.b[7] = (uint8_t)below(2);
	a.b[15] = (uint8_t)(1 + below(8));
	return a;
}

static struct ns_addr draw(bool is_v6)
{
	return is_v6 ? draw6() : draw4();
}

static const char *addr_text(const struct ns_addr *a)
{
	static char bufs[8][INET6_ADDRSTRLEN];
	static unsigned next;
	char *buf = bufs[next++ % 8];
	bool is_v4 = ns_addr_is_v4(a);
	struct ns_addr wire = ns_addr_zoned(*a, 0);

	return inet_ntop(is_v4 ? AF_INET : AF_INET6, wire.b + (is_v4 ? 12 : 0), buf,
			 INET6_ADDRSTRLEN);
}

static uint32_t draw_len(bool is_v6)
{
	static const uint8_t len4[] = { 8, 16, 22, 24, 25, 30, 31, 32 };
	static const uint8_t len6[] = { 16, 32, 48, 64, 64, 96, 127, 128 };

	return is_v6 ? len6[below(sizeof(len6))] : len4[below(sizeof(len4))];
}

/* The prefix of @a, as iproute2 wants it: without host bits. */
static const char *prefix_text(struct ns_addr a, uint32_t len, bool is_v6)
{
	static char bufs[4][INET6_ADDRSTRLEN + 4];
	static unsigned next;
	char *buf = bufs[next++ % 4];
	uint32_t bits = len + (is_v6 ? 0 : 96);

	for (uint32_t i = 0; i < 16; i++)
		a.b[i] &= (uint8_t)(i * 8 >= bits       ? 0
				    : bits >= i * 8 + 8 ? 0xff
							: 0xff00 >> (bits - i * 8));
	(void)snprintf(buf, sizeof(bufs[0]), "%s/%u", addr_text(&a), len);
	return buf;
}

static uint32_t draw_table(void)
{
	static const uint32_t tables[] = { 254, 254, 254, 100, 100, 101, 253, 255, 70000 };

	return tables[below(NS_ARRAY_LEN(tables))];
}

static void draw_addrs(struct text *t, bool is_v6)
{
	for (uint32_t i = 0; i < LINKS; i++) {
		for (uint32_t k = below(4); k > 0; k--) {
			struct ns_addr a = draw(is_v6);
			struct ns_addr peer = draw(is_v6);

			say(t, "addr add %s", addr_text(&a));
			if (one_in(6))
				say(t, " peer %s", addr_text(&peer));
			say(t, "/%u dev v%u", draw_len(is_v6), i);
			if (!is_v6 && one_in(6))
				say(t, " scope %s", one_in(2) ? "link" : "host");
			if (is_v6 && one_in(5))
				say(t, " preferred_lft 0");
			if (one_in(8))
				say(t, " noprefixroute");
			say(t, "\n");
		}
	}
	if (one_in(4)) {
		struct ns_addr a = draw(is_v6);

		say(t, "addr add %s/%u dev lo\n", addr_text(&a), is_v6 ? 128u : 32u);
	}
}

static void draw_hop(struct text *t, bool is_v6, bool is_several)
{
	struct ns_addr gw = draw(is_v6);

	if (!is_v6 && one_in(6))
		say(t, " via inet6 fe80::%x", 1 + below(5));
	else if (!one_in(3))
		say(t, " via %s", addr_text(&gw));
	say(t, " dev v%u", below(LINKS));
	if (is_several && one_in(2))
		say(t, " weight %u", 1 + below(4));
	if (!one_in(4))
		say(t, " onlink");
}

static void draw_route(struct text *t, bool is_v6)
{
	static const char *const types[] = { "blackhole", "unreachable", "prohibit", "throw" };
	struct ns_addr dst = draw(is_v6), src = draw(is_v6);
	bool is_default = one_in(4), is_typed = one_in(5), is_local = !is_typed && one_in(10);

	say(t, "route %s ", one_in(6) ? "append" : "add");
	if (is_typed)
		say(t, "%s ", types[below(NS_ARRAY_LEN(types))]);
	if (is_local)
		say(t, "local ");
	say(t, "%s", is_default ? "default" : prefix_text(dst, draw_len(is_v6), is_v6));
	if (is_local)
		say(t, " dev lo");
	else if (!is_typed && !one_in(5))
		draw_hop(t, is_v6, false);
	else if (!is_typed)
		for (uint32_t i = 2 + below(3); i > 0; i--) {
			say(t, " nexthop");
			draw_hop(t, is_v6, true);
		}
	if (one_in(3))
		say(t, " src %s", addr_text(&src));
	if (!is_v6 && one_in(8))
		say(t, " tos 0x%x", 4u << below(3));
	say(t, " table %u", is_local && one_in(2) ? 255 : draw_table());
	if (one_in(2))
		say(t, " metric %u", 10 * (1 + below(3)));
	say(t, "\n");
}

static void draw_rule_selectors(struct text *t, bool is_v6)
{
	struct ns_addr a = draw(is_v6), b = draw(is_v6);

	if (one_in(3))
		say(t, " from %s", prefix_text(a, draw_len(is_v6), is_v6));
	if (one_in(3))
		say(t, " to %s", prefix_text(b, draw_len(is_v6), is_v6));
	if (one_in(6))
		say(t, " iif %s", one_in(2) ? "lo" : "v1");
	if (one_in(6))
		say(t, " oif v%u", below(LINKS + 1)); /* one that is not there, too */
	if (one_in(3))
		say(t, " fwmark 0x%x%s", below(4), one_in(2) ? "/0x3" : "");
	if (one_in(8))
		say(t, " tos 0x%x", 4u << below(3));
	if (one_in(8))
		say(t, " ipproto %s", one_in(2) ? "tcp" : "udp");
	if (one_in(8))
		say(t, " dport %u-%u", 80 * below(2), 80 + 10 * below(3));
	if (one_in(10))
		say(t, " sport %u", 1000 + below(2));
	if (one_in(8))
		say(t, " uidrange %u-%u", below(2), 1 + below(3));
}

static void draw_rule(struct text *t, bool is_v6)
{
	static const uint32_t priorities[] = { 5, 10, 10, 100, 200, 32765, 32766, 40000 };
	uint32_t priority = priorities[below(NS_ARRAY_LEN(priorities))];

	say(t, "rule add %spriority %u", one_in(8) ? "not " : "", priority);
	draw_rule_selectors(t, is_v6);
	switch (below(10)) {
	case 0:
		say(t, " prohibit\n");
		break;
	case 1:
		say(t, " blackhole\n");
		break;
	case 2:
		say(t, " unreachable\n");
		break;
	case 3:
		say(t, " goto %u\n", priority + 95);
		break;
	case 4:
		say(t, " table %u suppress_%s %u\n", draw_table(),
		    one_in(3) ? "ifgroup" : "prefixlength", below(3) * 12);
		break;
	default:
		say(t, " table %u\n", draw_table());
		break;
	}
}

static void draw_family(struct text *t, bool is_v6)
{
	/*
	 * Until a first rule is added the kernel looks at none: IPv4 searches local and main as one
	 * table, IPv6 goes on with main when its rule was deleted. We always go by the rules.
	 */
	say(t, "rule add priority 9 table 999\nrule del priority 9\n");
	draw_addrs(t, is_v6);
	for (uint32_t i = 4 + below(14); i > 0; i--)
		draw_route(t, is_v6);
	for (uint32_t i = below(6); i > 0; i--)
		draw_rule(t, is_v6);
	if (one_in(10))
		say(t, "rule del priority 32766\n");
}

static void draw_links(struct text *t)
{
	say(t, "link set lo up\n");
	for (uint32_t i = 0; i < LINKS; i += 2)
		say(t,
		    "link add v%u address 02:00:00:00:00:0%u type veth peer name v%u address 02:00:00:00:00:0%u\n",
		    i, i + 1, i + 1, i + 2);
	for (uint32_t i = 0; i < LINKS; i++)
		if (!one_in(8))
			say(t, "link set v%u up%s\n", i, one_in(3) ? " group 12" : "");
}

/* ---- the namespace ---- */

static void run_ip(const char *family, const struct text *t)
{
	char path[] = "/tmp/route-compare.XXXXXX";
	int fd = mkstemp(path), status;
	pid_t pid;

	if (fd < 0 || write(fd, t->buf, t->len) != (ssize_t)t->len)
		abort();
	close(fd);
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (!getenv("ROUTE_COMPARE_LOUD")) {
			(void)dup2(null, 1);
			(void)dup2(null, 2); /* what the kernel refuses is left out */
		}
		execlp("ip", "ip", family, "-force", "-batch", path, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == 127)
		abort();
	(void)unlink(path);
}

static int write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, value, strlen(value));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -errno : 0;
}

/* A fresh namespace with the configuration of the generator's state. Return: its descriptor */
static int namespace_make(void)
{
	static struct text links, v4, v6;
	int fd;

	links.len = v4.len = v6.len = 0;
	draw_links(&links);
	draw_family(&v4, false);
	draw_family(&v6, true);
	for (uint32_t i = 0; i < LINKS; i++)
		if (one_in(8))
			say(&v6, "link set v%u down\n", i);
	if (unshare(CLONE_NEWNET) < 0) {
		perror("cannot make a network namespace");
		exit(SKIP);
	}
	/* duplicate address detection would make the answers depend on time */
	(void)write_file("/proc/sys/net/ipv6/conf/default/accept_dad", "0");
	(void)write_file("/proc/sys/net/ipv6/conf/all/accept_dad", "0");
	run_ip("-4", &links);
	run_ip("-4", &v4);
	run_ip("-6", &v6);
	if (getenv("ROUTE_COMPARE_SHOW"))
		(void)fprintf(stderr, "%.*s%.*s%.*s", (int)links.len, links.buf, (int)v4.len,
			      v4.buf, (int)v6.len, v6.buf);
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(host_ns, CLONE_NEWNET) < 0)
		abort();
	return fd;
}

/* ---- our side ---- */

static int no_xmit(void *drv, struct pkt *const *pkts, uint32_t cnt)
{
	(void)drv;
	(void)pkts;
	return (int)cnt;
}

static void no_random(void *ctx, void *buf, size_t len)
{
	(void)ctx;
	memset(buf, 7, len);
}

/* Links are told to the stack in the plan's order, which is that of their numbers. */
static uint32_t link_id(void *ctx, const struct plan_link *wanted)
{
	const struct plan *p = ctx;
	uint32_t id = 1;

	for (const struct plan_link *l = p->links; l < wanted; l++)
		id += !(l->flags & IFF_LOOPBACK);
	return id;
}

static void add_links(struct ns_stack *s, const struct plan *p)
{
	static const struct ns_link_ops ops = { .xmit = no_xmit };

	for (size_t i = 0; i < p->link_cnt; i++) {
		const struct plan_link *l = &p->links[i];
		struct ns_link_config c = { .ifindex = l->ifindex,
					    .mtu = l->mtu,
					    .group = l->group,
					    .is_up = l->flags & IFF_UP,
					    .ops = &ops };
		uint32_t id;

		memcpy(c.name, l->name, sizeof(c.name));
		memcpy(c.mac, l->mac, sizeof(c.mac));
		if (!(l->flags & IFF_LOOPBACK) &&
		    (ns_stack_add_link(s, &c, &id) < 0 || id != link_id((void *)(uintptr_t)p, l)))
			abort();
	}
}

/* As the worker starts: the difference to nothing. */
static struct ns_stack *stack_of(struct plan *p)
{
	static const struct ns_env env = { .random = no_random };
	const struct plan nothing = { 0 };
	struct plan_feed f = { .stack = ns_stack_new(&env, NULL), .link_id = link_id, .ctx = p };
	struct plan_diff d;

	if (!f.stack || plan_diff(&nothing, p, &d) < 0)
		abort();
	add_links(f.stack, p);
	ns_stack_flush_rules(f.stack, false);
	ns_stack_flush_rules(f.stack, true);
	for (size_t i = 0; i < d.cnt; i++) {
		if (d.rows[i].table == PLAN_LINK || plan_feed_change(&f, p, &d.rows[i]) == 0)
			continue;
		/* nothing that is drawn is beyond the stack */
		(void)printf("row %u of table %u of the plan is refused\n", d.rows[i].idx,
			     d.rows[i].table);
		exit(EXIT_FAILURE);
	}
	plan_diff_done(&d);
	return f.stack;
}

static uint8_t rtn_of(uint8_t type)
{
	static const uint8_t map[] = {
		[NS_ROUTE_UNICAST] = RTN_UNICAST,     [NS_ROUTE_LOCAL] = RTN_LOCAL,
		[NS_ROUTE_BROADCAST] = RTN_BROADCAST, [NS_ROUTE_ANYCAST] = RTN_ANYCAST,
		[NS_ROUTE_MULTICAST] = RTN_MULTICAST,
	};

	return type < NS_ARRAY_LEN(map) ? map[type] : RTN_UNSPEC;
}

static uint32_t ifindex_of(const struct plan *p, uint32_t link_id)
{
	for (size_t i = 0, id = 1; i < p->link_cnt; i++) {
		bool is_loop = p->links[i].flags & IFF_LOOPBACK;

		if (is_loop ? link_id == 0 : id++ == link_id)
			return p->links[i].ifindex;
	}
	return 0;
}

static bool ask_ours(const struct ns_stack *s, const struct probe *q, struct answer *ret)
{
	struct ns_route_answer a = { 0 };

	*ret = (struct answer){ .err = ns_stack_find_route(s, &q->flow, &a) };
	if (ret->err < 0)
		return false;
	ret->type = rtn_of(a.type);
	ret->table = a.table;
	ret->ifindex = a.ifindex;
	if (a.has_gateway)
		ret->gateway = ns_addr_zoned(a.gateway, 0);
	/* the kernel repeats no source of IPv4 that it was given */
	if (a.has_src && (q->is_v6 || ns_addr_is_any(&q->flow.src)))
		ret->src = ns_addr_zoned(a.src, 0);
	return a.nexthop_cnt > 1;
}

/* ---- the kernel's side ---- */

static struct ns_addr addr_attr(const struct nlattr *a)
{
	struct ns_addr r = { { 0 } };
	const uint8_t *b = a ? nla_data(a) : NULL;

	if (a && nla_len(a) == 4)
		r = ns_addr_v4((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 |
			       b[3]);
	else if (a && nla_len(a) == 16)
		memcpy(r.b, b, 16);
	return r;
}

/* struct rtvia: a family in front of the address */
static struct ns_addr via_attr(const struct nlattr *a)
{
	struct ns_addr r = { { 0 } };

	if (a && nla_len(a) == 2 + 16)
		memcpy(r.b, (const uint8_t *)nla_data(a) + 2, 16);
	return r;
}

static void put_addr(struct nl_msg *m, int type, const struct ns_addr *a, bool is_v6)
{
	if (nla_put(m, type, is_v6 ? 16 : 4, is_v6 ? a->b : a->b + 12) < 0)
		abort();
}

static struct nl_msg *question(const struct probe *q)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETROUTE, NLM_F_REQUEST);
	struct rtmsg rt = { .rtm_family = q->is_v6 ? AF_INET6 : AF_INET,
			    .rtm_dst_len = q->is_v6 ? 128 : 32,
			    .rtm_src_len = ns_addr_is_any(&q->flow.src) ? 0
					   : q->is_v6                   ? 128
									: 32,
			    .rtm_tos = q->flow.tos,
			    .rtm_flags = RTM_F_LOOKUP_TABLE };

	if (!m || nlmsg_append(m, &rt, sizeof(rt), NLMSG_ALIGNTO) < 0)
		abort();
	put_addr(m, RTA_DST, &q->flow.dst, q->is_v6);
	if (rt.rtm_src_len)
		put_addr(m, RTA_SRC, &q->flow.src, q->is_v6);
	if (q->flow.oif)
		(void)nla_put_u32(m, RTA_OIF, q->flow.oif);
	if (q->flow.iif)
		(void)nla_put_u32(m, RTA_IIF, q->flow.iif);
	if (q->flow.uid)
		(void)nla_put_u32(m, RTA_UID, q->flow.uid);
	if (q->flow.mark)
		(void)nla_put_u32(m, RTA_MARK, q->flow.mark);
	if (q->flow.proto) {
		(void)nla_put_u8(m, RTA_IP_PROTO, q->flow.proto);
		(void)nla_put_u16(m, RTA_SPORT, htons(q->flow.sport));
		(void)nla_put_u16(m, RTA_DPORT, htons(q->flow.dport));
	}
	return m;
}

static void read_answer(const struct nlmsghdr *nlh, struct answer *ret)
{
	const struct rtmsg *rt = nlmsg_data(nlh);
	struct nlattr *tb[RTA_MAX + 1];

	if (nlh->nlmsg_type == NLMSG_ERROR) {
		ret->err = ((const struct nlmsgerr *)nlmsg_data(nlh))->error;
		return;
	}
	if (nlmsg_parse((struct nlmsghdr *)(uintptr_t)nlh, sizeof(*rt), tb, RTA_MAX, NULL) < 0)
		abort();
	ret->type = rt->rtm_type;
	ret->table = tb[RTA_TABLE] ? nla_get_u32(tb[RTA_TABLE]) : rt->rtm_table;
	ret->ifindex = tb[RTA_OIF] ? nla_get_u32(tb[RTA_OIF]) : 0;
	ret->gateway = tb[RTA_VIA] ? via_attr(tb[RTA_VIA]) : addr_attr(tb[RTA_GATEWAY]);
	ret->src = addr_attr(tb[RTA_PREFSRC]);
}

static void ask_kernel(struct nlraw *nl, const struct probe *q, struct answer *ret)
{
	struct nl_msg *m = question(q);
	struct sockaddr_nl from;
	unsigned char *buf = NULL;
	int n;

	*ret = (struct answer){ 0 };
	if (nl_send_auto(nl->sk, m) < 0)
		abort();
	nlmsg_free(m);
	n = nl_recv(nl->sk, &from, &buf, NULL);
	if (n < (int)sizeof(struct nlmsghdr))
		abort();
	read_answer((const struct nlmsghdr *)(const void *)buf, ret);
	free(buf);
}

/* ---- comparing ---- */

struct hop_search {
	const struct answer *wanted;
	const struct plan *plan;
	bool is_found;
};

static void look_at_route(void *ctx, const struct ns_route *r)
{
	struct hop_search *h = ctx;

	for (uint32_t i = 0; i < r->nexthop_cnt && r->table == h->wanted->table; i++) {
		struct ns_addr gw = ns_addr_zoned(r->nexthops[i].gateway, 0);

		if (ifindex_of(h->plan, r->nexthops[i].link_id) == h->wanted->ifindex &&
		    ns_addr_eq(&gw, &h->wanted->gateway))
			h->is_found = true;
	}
}

static bool is_same(const struct ns_stack *s, const struct plan *p, const struct answer *theirs,
		    const struct answer *ours, bool is_several)
{
	struct hop_search h = { .wanted = theirs, .plan = p };

	if (theirs->err != ours->err || theirs->type != ours->type || theirs->table != ours->table)
		return false;
	if (!is_several)
		return theirs->ifindex == ours->ifindex &&
		       ns_addr_eq(&theirs->gateway, &ours->gateway) &&
		       ns_addr_eq(&theirs->src, &ours->src);
	ns_stack_each_route(s, look_at_route, &h);
	return h.is_found;
}

static void show_answer(const char *who, const struct answer *a)
{
	static const struct ns_addr zero;

	(void)printf("    %s: ", who);
	if (a->err)
		(void)printf("%s\n", strerror(-a->err));
	else
		(void)printf("type %u table %u link %u via %s src %s\n", a->type, a->table,
			     a->ifindex,
			     ns_addr_eq(&a->gateway, &zero) ? "-" : addr_text(&a->gateway),
			     ns_addr_eq(&a->src, &zero) ? "-" : addr_text(&a->src));
}

static void show(uint64_t seed, const struct probe *q, const struct answer *theirs,
		 const struct answer *ours)
{
	if (shown++ >= SHOWN_MAX)
		return;
	(void)printf("seed %llu: get %s", (unsigned long long)seed, addr_text(&q->flow.dst));
	if (!ns_addr_is_any(&q->flow.src))
		(void)printf(" from %s", addr_text(&q->flow.src));
	(void)printf(" oif %u iif %u mark %u uid %u tos 0x%x proto %u sport %u dport %u\n",
		     q->flow.oif, q->flow.iif, q->flow.mark, q->flow.uid, q->flow.tos,
		     q->flow.proto, q->flow.sport, q->flow.dport);
	show_answer("kernel", theirs);
	show_answer("ours  ", ours);
}

static struct probe draw_probe(const struct plan *p)
{
	struct probe q = { .is_v6 = one_in(2) };

	q.flow.dst = draw(q.is_v6);
	if (p->addr_cnt && one_in(4)) {
		const struct plan_addr *a = &p->addrs[below((uint32_t)p->addr_cnt)];

		q.is_v6 = a->local.family == AF_INET6;
		q.flow.dst = draw(q.is_v6);
		*(one_in(4) ? &q.flow.dst : &q.flow.src) = plan_feed_ip(&a->local);
		if (ns_addr_is_link_local(&q.flow.dst) || ns_addr_is_link_local(&q.flow.src))
			q.flow.src = q.flow.dst = draw6();
	}
	if (one_in(4)) {
		q.flow.iif = 1 + below(LINKS);
		for (size_t i = 0; i < p->link_cnt; i++)
			if (p->links[i].name[0] == 'v' &&
			    p->links[i].name[1] == (char)('0' + q.flow.iif - 1))
				q.flow.oif = p->links[i].ifindex;
		q.flow.iif = q.flow.oif;
		q.flow.oif = 0;
		if (ns_addr_is_any(&q.flow.src) && !one_in(4))
			q.flow.src = draw(q.is_v6);
	} else if (one_in(5))
		q.flow.oif = p->links[below((uint32_t)p->link_cnt)].ifindex;
	if (one_in(3))
		q.flow.mark = below(4);
	if (one_in(3) && !q.flow.iif)
		q.flow.uid = below(5);
	if (one_in(8))
		q.flow.tos = (uint8_t)(4u << below(3));
	if (one_in(4)) {
		q.flow.proto = one_in(2) ? IPPROTO_TCP : IPPROTO_UDP;
		q.flow.sport = (uint16_t)(1000 + below(2));
		q.flow.dport = (uint16_t)(80 + 5 * below(5));
	}
	return q;
}

/* The kernel goes through its addresses in its own time, and has no local route for one before. */
static bool is_settled(const struct plan *p)
{
	for (size_t i = 0; i < p->addr_cnt; i++)
		if (p->addrs[i].local.family == AF_INET6 && (p->addrs[i].flags & IFA_F_TENTATIVE))
			return false;
	return true;
}

static void read_namespace(int ns, struct snapshot *snap)
{
	for (uint32_t i = 0; i < SETTLE_TRIES; i++) {
		if (scrape(ns, snap) < 0)
			abort();
		if (is_settled(&snap->plan))
			return;
		snapshot_done(snap);
		(void)usleep(SETTLE_US);
	}
	(void)puts("the kernel does not come to an end with its addresses");
	exit(EXIT_FAILURE);
}

static uint32_t compare(uint64_t seed, uint32_t probes)
{
	struct snapshot snap;
	struct nlraw nl = { 0 };
	struct ns_stack *s;
	uint32_t different = 0;
	int ns;

	rng.state = seed;
	ns = namespace_make();
	read_namespace(ns, &snap);
	if (nlraw_open(&nl, ns) < 0)
		abort();
	close(ns);
	nl_socket_disable_auto_ack(nl.sk); /* an answer is all */
	s = stack_of(&snap.plan);
	for (uint32_t i = 0; i < probes; i++) {
		struct probe q = draw_probe(&snap.plan);
		struct answer theirs, ours;
		bool is_several = ask_ours(s, &q, &ours);

		ask_kernel(&nl, &q, &theirs);
		if (is_same(s, &snap.plan, &theirs, &ours, is_several))
			continue;
		show(seed, &q, &theirs, &ours);
		different++;
	}
	ns_stack_free(s);
	nlraw_close(&nl);
	snapshot_done(&snap);
	return different;
}

int main(int argc, char **argv)
{
	uint32_t cnt = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	uint32_t probes = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 50;
	uint32_t different = 0;

	if (geteuid() != 0) {
		(void)fputs("skipped: needs root to make network namespaces\n", stderr);
		return SKIP;
	}
	host_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (host_ns < 0)
		abort();
	for (uint32_t i = 0; i < cnt; i++)
		different += compare(seed + i, probes);
	(void)printf("%u configurations, %u probes each: %u different\n", cnt, probes, different);
	return different ? EXIT_FAILURE : EXIT_SUCCESS;
}
