/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_conf.c - the plan as the stack's configuration, at the start and whenever it changes
 *
 * Theory of operation: the worker keeps the plan that is in force. A new one comes whole, from the start's
 * memfd or by PLAN; plan_diff() says what to do, and the start is the difference to an empty plan. All
 * steps are done within one turn, so no frame sees half of them.
 *
 * What the stack cannot use (proxies, rules by uid, routes over links that are not carried) is left out,
 * counted and said once: the plan keeps it for the container's namespace. A step that fails because an
 * earlier one has done it as well (a route goes with its address) is no failure.
 *
 * Ownership: descriptors of new links come in the order of the plan and are taken over.
 */
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/plan_diff.h"
#include "daemon/worker_int.h"
#include "ns/route.h"

#define NO_LINK       UINT32_MAX
#define NEXTHOPS_MAX  256u
#define LOOPBACK_LINK 0u /* the stack's */

/** struct conf - one change of the configuration */
struct conf {
	struct worker *w;
	int *fds;
	uint32_t fd_cnt, fd_next;
	uint32_t left_out; /* rows the stack cannot use */
};

/* ---- rows ---- */

static struct ns_addr addr_of(const struct plan_ip *ip)
{
	struct ns_addr a = { { 0 } };

	if (ip->family == AF_INET)
		return ns_addr_v4((uint32_t)ip->b[0] << 24 | (uint32_t)ip->b[1] << 16 |
				  (uint32_t)ip->b[2] << 8 | ip->b[3]);
	memcpy(a.b, ip->b, sizeof(a.b));
	return a;
}

/* The stack's number of a link of @p, or NO_LINK. */
static uint32_t id_of(struct worker *w, const struct plan *p, uint32_t link_idx)
{
	const struct wlink *l;

	if (link_idx >= p->link_cnt)
		return NO_LINK;
	if (p->links[link_idx].flags & IFF_LOOPBACK)
		return LOOPBACK_LINK;
	l = worker_link_find(w, p->links[link_idx].ifindex);
	return l ? l->drv.link_id : NO_LINK;
}

static int addr_do(struct conf *c, const struct plan *p, uint32_t idx, enum plan_op op)
{
	const struct plan_addr *pa = &p->addrs[idx];
	uint32_t id = id_of(c->w, p, pa->link_idx);
	struct ns_ifaddr a = { .addr = addr_of(&pa->local),
			       .prefix_len = pa->prefix_len,
			       .scope = pa->scope,
			       .is_routes_given = true };
	bool is_v4 = pa->local.family == AF_INET;

	if (id == NO_LINK)
		return -ENODEV;
	if (op == PLAN_DEL)
		return ns_stack_del_addr(c->w->stack, id, &a.addr);
	if (pa->peer.family && memcmp(&pa->peer, &pa->local, sizeof(pa->peer)) != 0)
		a.peer = addr_of(&pa->peer);
	a.is_secondary = is_v4 && (pa->flags & IFA_F_SECONDARY);
	a.is_temporary = !is_v4 && (pa->flags & IFA_F_TEMPORARY);
	a.is_deprecated = pa->flags & IFA_F_DEPRECATED;
	/* one that another host has, too, was never the container's to use */
	a.is_unusable = pa->flags & IFA_F_DADFAILED;
	return ns_stack_set_addr(c->w->stack, id, &a);
}

/** route_type() - Return: false for types the stack does not have */
static bool route_type(uint8_t rtn, uint8_t *ret_type)
{
	static const struct {
		uint8_t rtn, type;
	} map[] = {
		{ RTN_UNICAST, NS_ROUTE_UNICAST },
		{ RTN_LOCAL, NS_ROUTE_LOCAL },
		{ RTN_BROADCAST, NS_ROUTE_BROADCAST },
		{ RTN_ANYCAST, NS_ROUTE_ANYCAST },
		{ RTN_MULTICAST, NS_ROUTE_MULTICAST },
		{ RTN_BLACKHOLE, NS_ROUTE_BLACKHOLE },
		{ RTN_UNREACHABLE, NS_ROUTE_UNREACHABLE },
		{ RTN_PROHIBIT, NS_ROUTE_PROHIBIT },
		{ RTN_THROW, NS_ROUTE_THROW },
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(map); i++) {
		if (map[i].rtn == rtn) {
			*ret_type = map[i].type;
			return true;
		}
	}
	return false;
}

/* The ways of a multipath route. Return: how many the stack can go */
static uint32_t nexthops_of(struct conf *c, const struct plan *p, const struct plan_route *pr,
			    uint32_t cnt, struct ns_nexthop hops[NEXTHOPS_MAX])
{
	uint32_t got = 0;

	for (uint32_t i = 0; i < cnt && got < NEXTHOPS_MAX; i++) {
		uint32_t id = id_of(c->w, p, pr[i].link_idx);

		if (id != NO_LINK)
			hops[got++] = (struct ns_nexthop){ .gateway = addr_of(&pr[i].gateway),
							   .link_id = id,
							   .weight = (uint16_t)pr[i].weight,
							   .is_onlink = pr[i].is_onlink };
	}
	return got;
}

static int route_do(struct conf *c, const struct plan *p, uint32_t idx, uint32_t cnt,
		    enum plan_op op)
{
	struct ns_nexthop hops[NEXTHOPS_MAX];
	const struct plan_route *pr = &p->routes[idx];
	struct ns_route r = { .dst = addr_of(&pr->dst),
			      .prefix_len = pr->dst_len,
			      .gateway = addr_of(&pr->gateway),
			      .prefsrc = addr_of(&pr->prefsrc),
			      .metric = pr->metric,
			      .mtu = pr->mtu,
			      .table = pr->table,
			      .tos = pr->tos,
			      .scope = pr->scope,
			      .is_onlink = pr->is_onlink,
			      .is_v6 = pr->family == AF_INET6,
			      .from_len = pr->from_len,
			      .from = addr_of(&pr->from) };

	if (!route_type(pr->type, &r.type))
		return -EOPNOTSUPP;
	if (pr->dst.family == 0 && !r.is_v6)
		r.dst = ns_addr_v4(0);
	if (pr->weight) {
		r.gateway = (struct ns_addr){ { 0 } };
		r.is_onlink = false;
		r.nexthop_cnt = nexthops_of(c, p, pr, cnt, hops);
		r.nexthops = hops;
		if (r.nexthop_cnt == 0)
			return -ENODEV;
	} else if (pr->link_idx != PLAN_NO_LINK) {
		r.link_id = id_of(c->w, p, pr->link_idx);
		if (r.link_id == NO_LINK)
			return -ENODEV;
	}
	return op == PLAN_DEL ? ns_stack_del_route(c->w->stack, &r)
			      : ns_stack_add_route(c->w->stack, &r);
}

/** rule_action() - Return: false for actions the stack does not have, or not without more than the plan has */
static bool rule_action(uint8_t fr_act, uint8_t *ret_action)
{
	static const struct {
		uint8_t fr_act, action;
	} map[] = {
		{ FR_ACT_TO_TBL, NS_RULE_LOOKUP },
		{ FR_ACT_NOP, NS_RULE_NOP },
		{ FR_ACT_BLACKHOLE, NS_RULE_BLACKHOLE },
		{ FR_ACT_UNREACHABLE, NS_RULE_UNREACHABLE },
		{ FR_ACT_PROHIBIT, NS_RULE_PROHIBIT },
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(map); i++) {
		if (map[i].fr_act == fr_act) {
			*ret_action = map[i].action;
			return true;
		}
	}
	return false;
}

static int rule_do(struct conf *c, const struct plan *p, uint32_t idx, enum plan_op op)
{
	const struct plan_rule *pr = &p->rules[idx];
	struct ns_rule r = { .priority = pr->priority,
			     .is_v6 = pr->family == AF_INET6,
			     .is_inverted = pr->is_inverted,
			     .table = pr->table,
			     .to = addr_of(&pr->dst),
			     .from = addr_of(&pr->src),
			     .to_len = pr->dst_len,
			     .from_len = pr->src_len,
			     .tos = pr->tos,
			     .fwmark = pr->fwmark,
			     .fwmask = pr->fwmask };

	if (!rule_action(pr->action, &r.action))
		return -EOPNOTSUPP;
	memcpy(r.iif, pr->iif, sizeof(r.iif));
	memcpy(r.oif, pr->oif, sizeof(r.oif));
	return op == PLAN_DEL ? ns_stack_del_rule(c->w->stack, &r)
			      : ns_stack_add_rule(c->w->stack, &r);
}

static int neigh_do(struct conf *c, const struct plan *p, uint32_t idx, enum plan_op op)
{
	const struct plan_neigh *pn = &p->neighs[idx];
	struct ns_addr a = addr_of(&pn->addr);
	uint32_t id = id_of(c->w, p, pn->link_idx);

	if (id == NO_LINK || pn->is_proxy)
		return -EOPNOTSUPP;
	return op == PLAN_DEL ? ns_stack_del_neigh(c->w->stack, id, &a)
			      : ns_stack_add_neigh(c->w->stack, id, &a, pn->mac);
}

static int link_do(struct conf *c, const struct plan *p, uint32_t idx, enum plan_op op)
{
	const struct plan_link *pl = &p->links[idx];
	int fd;

	if (pl->driver == PLAN_DRIVER_NONE)
		return 0;
	if (op == PLAN_DEL)
		return worker_link_del(c->w, pl->ifindex);
	if (op == PLAN_SET)
		return worker_link_set(c->w, pl);
	if (c->fd_next >= c->fd_cnt)
		return log_err(-EPROTO, "the monitor sent no descriptor for link %s", pl->name);
	fd = c->fds[c->fd_next];
	c->fds[c->fd_next++] = -1;
	return worker_link_add(c->w, pl, fd);
}

/* ---- the whole ---- */

static int change_do(struct conf *c, const struct plan *new, const struct plan_change *ch)
{
	enum plan_op op = (enum plan_op)ch->op;
	const struct plan *p = op == PLAN_DEL ? &c->w->plan : new;

	switch ((enum plan_table)ch->table) {
	case PLAN_LINK:
		return link_do(c, p, ch->idx, op);
	case PLAN_ADDR:
		return addr_do(c, p, ch->idx, op);
	case PLAN_ROUTE:
		return route_do(c, p, ch->idx, ch->cnt, op);
	case PLAN_RULE:
		return rule_do(c, p, ch->idx, op);
	case PLAN_NEIGH:
		return neigh_do(c, p, ch->idx, op);
	case PLAN_TABLE_COUNT:
		break;
	}
	return -EINVAL;
}

int worker_conf(struct worker *w, struct plan *plan, int *fds, uint32_t fd_cnt)
{
	struct conf c = { .w = w, .fds = fds, .fd_cnt = fd_cnt };
	struct plan_diff d;
	int r = plan_diff(&w->plan, plan, &d);

	if (r < 0)
		return log_err(r, "cannot compare the configuration with the new one");
	if (w->plan.rule_cnt == 0 && plan->rule_cnt) {
		ns_stack_flush_rules(w->stack, false); /* the plan has the kernel's three, too */
		ns_stack_flush_rules(w->stack, true);
	}
	for (size_t i = 0; r == 0 && i < d.cnt; i++) {
		int e = change_do(&c, plan, &d.rows[i]);

		if (e < 0 && d.rows[i].table == PLAN_LINK && d.rows[i].op == PLAN_ADD)
			r = e;
		else if (e < 0 && d.rows[i].op != PLAN_DEL)
			c.left_out++;
	}
	plan_diff_done(&d);
	if (c.left_out)
		log_info(
			"%u addresses, routes, rules and neighbours of the namespace are kept but not "
			"used by the stack (proxies, links that are not carried)",
			c.left_out);
	plan_done(&w->plan);
	w->plan = *plan;
	plan_init(plan);
	return r;
}
