/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_select.c - which route, and which of its next hops, a packet takes
 *
 * Theory of operation
 *
 *   rules, by priority          rule.c says which match
 *     -> one table              the longest prefix that has an answer (route_table.c walks)
 *          -> one route         by TOS or source prefix, metric, links that are up
 *               -> one hop      by a hash of the flow, in proportion to the weights
 *
 * Throw and "nothing found" send the flow on to the next rule; blackhole and its like end it.
 *
 * Where the families differ, they differ as in Linux. IPv4 takes the first route in order whose next
 * hop can be used. IPv6 looks at all of the lowest metric and takes the best: one over the link that
 * was asked for, none whose router is known to be gone; only when that finds nothing, down to the
 * shortest prefix, are dead routers taken.
 *
 * The hash is of the addresses, or of the ports and protocol too (fib_multipath_hash_policy), keyed
 * by the stack: an answer is the same for a flow for as long as the next hops that can be used are.
 *
 * Time: a look-up costs rules x prefix lengths of a table. Connections keep the answer and compare
 * generations.
 *
 * References: linux v6.1 net/ipv4/fib_trie.c fib_table_lookup(), fib_semantics.c fib_props[],
 * fib_select_path(), fib_select_default(); net/ipv6/route.c fib6_table_lookup(), rt6_score_route(),
 * find_rr_leaf(), fib6_select_path(); RFC 2992 (hash-threshold).
 */
#include "net/route_select.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "link/link.h"
#include "net/net_int.h"

enum { TOS_MASK = 0x1c /* linux IPTOS_RT_MASK */ };

static int type_error(const struct ns_route *r)
{
	switch ((enum ns_route_type)r->type) {
	case NS_ROUTE_BLACKHOLE:
		return -EINVAL;
	case NS_ROUTE_UNREACHABLE:
		return -EHOSTUNREACH;
	case NS_ROUTE_PROHIBIT:
		return -EACCES;
	case NS_ROUTE_THROW:
		return -EAGAIN;
	case NS_ROUTE_UNICAST:
	case NS_ROUTE_LOCAL:
	case NS_ROUTE_BROADCAST:
	case NS_ROUTE_ANYCAST:
	case NS_ROUTE_MULTICAST:
	case NS_ROUTE_TYPE_COUNT:
		break;
	}
	return 0;
}

/* Of a link that is down Linux forgets the routes, but not that its addresses are ours. */
static bool is_hop_up(const struct route_table *t, const struct route *r,
		      const struct ns_nexthop *h)
{
	if (!route_needs_link(&r->r) || r->r.type == NS_ROUTE_LOCAL)
		return true;
	return !h->is_dead && t->is_link_up[h->link_id];
}

/* A neighbour of this name did not answer when it was last asked. */
static bool is_router_gone(const struct net *n, const struct ns_nexthop *h)
{
	struct neigh_table *neighs = ns_addr_is_v4(&h->gateway) ? n->neighs : n->neighs6;
	const struct neigh *ne;

	if (ns_addr_is_any(&h->gateway))
		return false;
	ne = neigh_find(neighs, n->links[h->link_id], &h->gateway);
	return ne && ne->state == NEIGH_FAILED;
}

/* ---- IPv4 ---- */

static const struct ns_nexthop *hop4(const struct net *n, const struct route *r,
				     const struct route_flow *f)
{
	for (uint32_t i = 0; i < r->r.nexthop_cnt; i++)
		if (is_hop_up(&n->routes, r, &r->hops[i]) &&
		    (f->oif == RULE_NO_LINK || f->oif == r->hops[i].link_id))
			return &r->hops[i];
	return NULL;
}

static bool is_tos_fit(const struct route *r, const struct route_flow *f)
{
	return !r->r.tos || r->r.tos == (f->tos & TOS_MASK);
}

/* Several defaults that are alike: not one whose router is gone while another's is not. */
static void default4(const struct net *n, const struct route_walk *w, const struct route_flow *f,
		     struct route_hit *hit)
{
	const struct route *first = hit->route;

	for (const struct route *r = first; r; r = route_walk_same(w, r)) {
		const struct ns_nexthop *h = hop4(n, r, f);

		if (r->r.metric != first->r.metric || r->r.tos != first->r.tos)
			return;
		if (r->r.type != NS_ROUTE_UNICAST || !h || ns_addr_is_any(&h->gateway) ||
		    is_router_gone(n, h))
			continue;
		*hit = (struct route_hit){ .route = r, .hop = h };
		return;
	}
}

static int table_find4(const struct net *n, const struct route_flow *f, uint32_t table,
		       struct route_hit *ret_hit)
{
	struct route_walk w;

	if (!route_walk_begin(&w, &n->routes, &f->dst, table))
		return -EAGAIN;
	for (const struct route *p = route_walk_prefix(&w); p; p = route_walk_prefix(&w)) {
		for (const struct route *r = p; r; r = route_walk_same(&w, r)) {
			int err = type_error(&r->r);

			if (!is_tos_fit(r, f))
				continue;
			if (err < 0)
				return err;
			*ret_hit = (struct route_hit){ .route = r, .hop = hop4(n, r, f) };
			if (!ret_hit->hop)
				continue;
			if (r->r.prefix_len == 0 && r->r.type == NS_ROUTE_UNICAST &&
			    r->r.nexthop_cnt == 1 && f->oif == RULE_NO_LINK)
				default4(n, &w, f, ret_hit);
			return 0;
		}
	}
	return -EAGAIN;
}

/* ---- IPv6 ---- */

enum {
	SCORE_NO = -1,   /* not to be taken */
	SCORE_OTHER = 0, /* over another link than was asked for */
	SCORE_RIGHT = 2,
};

struct pick6 {
	const struct net *n;
	const struct route_flow *f;
	bool is_gone_skipped; /* routers that do not answer are not taken */
	int score;
	struct route_hit hit;
};

static int score6(const struct pick6 *p, const struct route *r, const struct ns_nexthop *h)
{
	uint32_t oif =
		p->f->oif == RULE_NO_LINK && p->f->iif != LINK_LOOP_ID ? p->f->iif : p->f->oif;
	int score = oif == RULE_NO_LINK || oif == h->link_id ? SCORE_RIGHT : SCORE_OTHER;

	if (!is_hop_up(&p->n->routes, r, h) || (score == SCORE_OTHER && p->f->is_oif_strict))
		return SCORE_NO;
	if (p->is_gone_skipped && is_router_gone(p->n, h))
		return SCORE_NO;
	return score;
}

static bool is_source_fit(const struct route *r, const struct route_flow *f)
{
	struct ns_addr diff = { { 0 } };
	uint32_t len = r->r.from_len;

	if (len == 0)
		return true;
	for (size_t i = 0; i < sizeof(diff.b); i++)
		diff.b[i] = r->r.from.b[i] ^ f->src.b[i];
	for (uint32_t i = 0; i < len; i++)
		if (diff.b[i / 8] & 0x80 >> i % 8)
			return false;
	return true;
}

/* The next hops of a route are to Linux routes of one metric each. */
static void pick_hops6(struct pick6 *p, const struct route *r)
{
	for (uint32_t i = 0; i < r->r.nexthop_cnt; i++) {
		int score = score6(p, r, &r->hops[i]);

		if (score <= p->score)
			continue;
		p->score = score;
		p->hit = (struct route_hit){ .route = r, .hop = &r->hops[i] };
	}
}

/* Of one prefix and source prefix: the best of the lowest metric, else the best of all others. */
static const struct route *pick_group6(struct pick6 *p, const struct route_walk *w,
				       const struct route *first)
{
	const struct route *r = first;
	bool is_found;

	for (; r && r->r.from_len == first->r.from_len && r->r.metric == first->r.metric;
	     r = route_walk_same(w, r))
		if (is_source_fit(r, p->f))
			pick_hops6(p, r);
	is_found = p->score > SCORE_NO;
	for (; r && r->r.from_len == first->r.from_len; r = route_walk_same(w, r))
		if (!is_found && is_source_fit(r, p->f))
			pick_hops6(p, r);
	return r;
}

static bool pick_all6(struct pick6 *p, uint32_t table)
{
	struct route_walk w;

	p->score = SCORE_NO;
	if (!route_walk_begin(&w, &p->n->routes, &p->f->dst, table))
		return false;
	for (const struct route *r = route_walk_prefix(&w); r; r = route_walk_prefix(&w)) {
		while (r && p->score == SCORE_NO)
			r = pick_group6(p, &w, r);
		if (p->score > SCORE_NO)
			return true;
	}
	return false;
}

static int table_find6(const struct net *n, const struct route_flow *f, uint32_t table,
		       struct route_hit *ret_hit)
{
	struct pick6 p = { .n = n, .f = f, .is_gone_skipped = true };

	if (!pick_all6(&p, table)) {
		p.is_gone_skipped = false;
		if (!pick_all6(&p, table))
			return -EAGAIN;
	}
	*ret_hit = p.hit;
	return type_error(&p.hit.route->r);
}

/* ---- next hops ---- */

static uint32_t flow_hash(const struct net *n, const struct route_flow *f)
{
	struct {
		struct ns_addr src, dst;
		uint16_t sport, dport;
		uint8_t proto, zero[3];
	} k = { .src = f->src, .dst = f->dst };

	if (n->core->knobs[NS_KNOB_fib_multipath_hash_policy]) {
		k.sport = f->sport;
		k.dport = f->dport;
		k.proto = f->proto;
	}
	return (uint32_t)hash_sip(&n->core->key, &k, sizeof(k));
}

/* A hop whose link has @src is preferred to one the hash says (linux fib_select_multipath()). */
static bool is_src_of(const struct net *n, const struct route *r, const struct ns_nexthop *h,
		      const struct ns_addr *src)
{
	struct ns_addr mine;

	if (!ns_addr_is_v4(src) || ns_addr_is_any(src))
		return false;
	return addr4_select(n, n->links[h->link_id], &h->gateway, r->r.scope, &mine) &&
	       ns_addr_eq(&mine, src);
}

static bool can_take(const struct net *n, const struct route_hit *hit, const struct ns_nexthop *h,
		     const struct route_flow *f, bool is_src_wanted)
{
	return is_hop_up(&n->routes, hit->route, h) &&
	       (!is_src_wanted || is_src_of(n, hit->route, h, &f->src));
}

/* RFC 2992: each hop has a stretch of the hash's range as long as its weight. */
static const struct ns_nexthop *hop_by_hash(const struct net *n, const struct route_hit *hit,
					    const struct route_flow *f, bool is_src_wanted)
{
	const struct route *r = hit->route;
	uint64_t total = 0, point;

	for (uint32_t i = 0; i < r->r.nexthop_cnt; i++)
		if (can_take(n, hit, &r->hops[i], f, is_src_wanted))
			total += r->hops[i].weight;
	if (total == 0)
		return NULL;
	point = flow_hash(n, f) * total >> 32;
	for (uint32_t i = 0; i < r->r.nexthop_cnt; i++) {
		if (!can_take(n, hit, &r->hops[i], f, is_src_wanted))
			continue;
		if (point < r->hops[i].weight)
			return &r->hops[i];
		point -= r->hops[i].weight;
	}
	return NULL;
}

static void choose_hop(const struct net *n, const struct route_flow *f, struct route_hit *hit)
{
	const struct ns_nexthop *h;

	if (hit->route->r.nexthop_cnt < 2 || f->oif != RULE_NO_LINK)
		return;
	h = hop_by_hash(n, hit, f, true);
	if (!h)
		h = hop_by_hash(n, hit, f, false);
	if (h)
		hit->hop = h;
}

/* ---- rules ---- */

static int rule_error(const struct ns_rule *r)
{
	switch ((enum ns_rule_action)r->action) {
	case NS_RULE_UNREACHABLE:
		return -ENETUNREACH;
	case NS_RULE_PROHIBIT:
		return -EACCES;
	case NS_RULE_BLACKHOLE:
	case NS_RULE_LOOKUP:
	case NS_RULE_GOTO:
	case NS_RULE_NOP:
	case NS_RULE_ACTION_COUNT:
		break;
	}
	return -EINVAL;
}

/* linux fib4_rule_suppress(), fib6_rule_suppress(): as if the table had no answer */
static bool is_suppressed(const struct net *n, const struct ns_rule *r, const struct route_hit *hit)
{
	const struct ns_nexthop *h = r->is_v6 ? hit->hop : &hit->route->r.nexthops[0];

	if (r->has_suppress_len && hit->route->r.prefix_len <= r->suppress_len)
		return true;
	return r->has_suppress_group && n->links[h->link_id]->config.group == r->suppress_group;
}

static int ask_table(const struct net *n, const struct route_flow *f, const struct ns_rule *r,
		     struct route_hit *ret_hit)
{
	int err = ns_addr_is_v4(&f->dst) ? table_find4(n, f, r->table, ret_hit)
					 : table_find6(n, f, r->table, ret_hit);

	return err == 0 && is_suppressed(n, r, ret_hit) ? -EAGAIN : err;
}

/**
 * route_select() - the route and next hop of a flow
 * @n:		IP layer
 * @f:		Packet
 * @ret_hit:	Of a type that leads somewhere; borrowed until routes change
 *
 * Return: 0; -ENETUNREACH without a route or when a rule says so; -EINVAL (blackhole), -EACCES
 * (prohibit) of a route or a rule, -EHOSTUNREACH (unreachable) of a route
 */
int route_select(const struct net *n, const struct route_flow *f, struct route_hit *ret_hit)
{
	const struct rule *rule = NULL;

	while ((rule = rule_next(&n->rules, rule, f)) != NULL) {
		struct route_hit hit = { 0 };
		int err = rule->r.action == NS_RULE_LOOKUP ? ask_table(n, f, &rule->r, &hit)
							   : rule_error(&rule->r);

		if (err == -EAGAIN)
			continue;
		if (err < 0)
			return err;
		choose_hop(n, f, &hit);
		*ret_hit = hit;
		return 0;
	}
	return -ENETUNREACH;
}
