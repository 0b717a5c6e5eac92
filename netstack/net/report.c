/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - routers and switches are told which groups we hear: RFC 9776, RFC 9777
 *
 * Theory of operation
 *
 * IGMP and MLD are one protocol with addresses of two lengths; this is it, and report_wire.c writes
 * and reads the messages. A host's part is small:
 *
 *   a group is joined or left   a report at once, and again robustness - 1 times at random within
 *                               change_max_ns, because nobody acknowledges it
 *   a router asks for all       one report of all groups, after a random time within what it allows
 *   it asks for one group       the same for that one
 *
 * Sockets have no source filters, so a group is heard from everybody or not at all: state EXCLUDE {}.
 * A query that names sources is answered like one that names none, which says more than was asked.
 *
 * Old routers: a query of IGMP version 1 or 2, or of MLD version 1, makes a link speak that version until
 * OLD_NS after the last one (RFC 9776 7.2.1, RFC 9777 8.2.1): a report for each group, to the group, which
 * other members hear and then keep theirs to themselves; a message to the routers when it is left. That is
 * remembered of a link on which nothing was joined yet, too. OLD_NS is of the default intervals.
 *
 * Nothing is said on links that are not multicast (Linux' IFF_MULTICAST), and of the groups that every
 * host is in. Where joins come from there is no time: what is due at once has a timer of the past.
 *
 * Limits: GROUPS_MAX groups, left ones until that is told; more are heard, but not told.
 *
 * References: linux v6.1 net/ipv4/igmp.c, net/ipv6/mcast.c.
 */
#include "net/report.h"

#include <stdlib.h>
#include <string.h>

#include "net/net_int.h"
#include "net/report_int.h"

enum {
	GROUPS_MAX = 8192,
	ROBUSTNESS = 2, /* RFC 9776 8.1, RFC 9777 9.1 */
};

#define OLD_NS     ((2 * 125 + 10) * NS_PER_SEC) /* RFC 9776 8.12, RFC 9777 9.12, with their defaults */
#define CHANGE_NS  NS_PER_SEC                    /* RFC 9776 8.11, RFC 9777 9.11 */
#define CHANGE2_NS (10 * NS_PER_SEC)             /* RFC 2236 8.10, RFC 2710 7.10 */

/** struct report_group - a group that is heard on a link, or was and that is not told to the end */
struct report_group {
	struct list node; /* in report_link.groups */
	struct report_link *rl;
	struct ns_addr addr;
	struct timer answer; /* a query about it waits */
	struct timer change; /* it was joined or left, and that is to be told (again) */
	uint32_t changes_left;
	bool is_joined;
};

void reports_init(struct reports *r)
{
	list_init(&r->links);
	r->group_cnt = 0;
}

static struct timers *timers_of(const struct report_link *rl)
{
	return &rl->net->core->timers;
}

/* Without memory for the timer it is not told: another query comes. */
static void arm(struct report_link *rl, struct timer *t, struct mono when)
{
	(void)!timer_arm(timers_of(rl), t, when);
}

static void group_free(struct report_group *g)
{
	timer_cancel(timers_of(g->rl), &g->answer);
	timer_cancel(timers_of(g->rl), &g->change);
	list_del(&g->node);
	g->rl->net->reports.group_cnt--;
	free(g);
}

static void link_del(struct report_link *rl)
{
	list_for_each_safe (it, &rl->groups)
		group_free(list_entry(it, struct report_group, node));
	timer_cancel(timers_of(rl), &rl->all);
	list_del(&rl->node);
	free(rl);
}

/** reports_done() - say nothing any more */
void reports_done(struct net *n)
{
	list_for_each_safe (it, &n->reports.links)
		link_del(list_entry(it, struct report_link, node));
}

/** report_del_link() - @l is gone */
void report_del_link(struct net *n, const struct link *l)
{
	list_for_each_safe (it, &n->reports.links)
		if (list_entry(it, struct report_link, node)->link == l)
			link_del(list_entry(it, struct report_link, node));
}

/* 0 to @max_ns from now. */
static struct mono random_time(struct report_link *rl, uint64_t max_ns, struct mono now)
{
	const struct ns_env *env = rl->net->core->env;
	uint64_t rnd;

	env->random(env->ctx, &rnd, sizeof(rnd));
	return mono_add(now, rnd % (max_ns + 1));
}

/* RFC 9776 7.2.1, RFC 9777 8.2.1: the version that the oldest router on the link speaks. */
static enum report_version version_of(const struct report_link *rl, struct mono now)
{
	if (mono_lt(now, rl->until[REPORT_V1]))
		return REPORT_V1;
	return mono_lt(now, rl->until[REPORT_V2]) ? REPORT_V2 : REPORT_V3;
}

/* ---- timers: something is to be said ---- */

/* A query about all groups is answered. */
static void on_all(struct timer *t, struct mono now)
{
	struct report_link *rl = container_of(t, struct report_link, all);
	struct report_batch b = { .rl = rl };

	list_for_each (it, &rl->groups) {
		struct report_group *g = list_entry(it, struct report_group, node);

		if (g->is_joined)
			report_add(&b, RECORD_IS_EX, &g->addr, now);
	}
	report_flush(&b, now);
}

static void on_answer(struct timer *t, struct mono now)
{
	struct report_group *g = container_of(t, struct report_group, answer);
	struct report_batch b = { .rl = g->rl };
	enum report_version v = version_of(g->rl, now);

	if (v != REPORT_V3) {
		report_old(g->rl, v, &g->addr, true, now);
		return;
	}
	report_add(&b, RECORD_IS_EX, &g->addr, now);
	report_flush(&b, now);
}

/* RFC 9776 5.1, RFC 9777 6.1 */
static void on_change(struct timer *t, struct mono now)
{
	struct report_group *g = container_of(t, struct report_group, change);
	struct report_link *rl = g->rl;
	struct report_batch b = { .rl = rl };
	enum report_version v = version_of(rl, now);

	if (v == REPORT_V3) {
		report_add(&b, g->is_joined ? RECORD_TO_EX : RECORD_TO_IN, &g->addr, now);
		report_flush(&b, now);
	} else {
		report_old(rl, v, &g->addr, g->is_joined, now);
		if (!g->is_joined)
			g->changes_left = 1; /* RFC 2236 3: said once */
	}
	if (--g->changes_left > 0)
		arm(rl, t, random_time(rl, v == REPORT_V3 ? CHANGE_NS : CHANGE2_NS, now));
	else if (!g->is_joined)
		group_free(g);
}

/* ---- joined and left ---- */

static struct report_link *find_link(struct net *n, const struct link *l, bool is_v6)
{
	list_for_each (it, &n->reports.links) {
		struct report_link *rl = list_entry(it, struct report_link, node);

		if (rl->link == l && rl->is_v6 == is_v6)
			return rl;
	}
	return NULL;
}

static struct report_link *get_link(struct net *n, struct link *l, bool is_v6)
{
	struct report_link *rl = find_link(n, l, is_v6);

	if (rl)
		return rl;
	rl = calloc(1, sizeof(*rl));
	if (!rl)
		return NULL;
	rl->net = n;
	rl->link = l;
	rl->is_v6 = is_v6;
	rl->robustness = ROBUSTNESS;
	list_init(&rl->groups);
	timer_init(&rl->all, on_all);
	list_push(&n->reports.links, &rl->node);
	return rl;
}

static struct report_group *find_group(struct report_link *rl, const struct ns_addr *a)
{
	list_for_each (it, &rl->groups)
		if (ns_addr_eq(&list_entry(it, struct report_group, node)->addr, a))
			return list_entry(it, struct report_group, node);
	return NULL;
}

/* Those that every host is in, and those that stay in the host: RFC 9776 6, RFC 9777 6. */
static bool is_told(const struct link *l, const struct ns_addr *a)
{
	static const struct ns_addr all_nodes = { { 0xff, 2, [15] = 1 } };
	enum { ALL_SYSTEMS = 0xe0000001, SCOPE_LINK = 2 };

	if (l->is_loop || !l->config.is_multicast)
		return false;
	if (ns_addr_is_v4(a))
		return ns_addr_to_v4(a) != ALL_SYSTEMS;
	return (a->b[1] & 0x0f) >= SCOPE_LINK && !ns_addr_eq(a, &all_nodes);
}

static void tell_change(struct report_group *g, bool is_joined)
{
	g->is_joined = is_joined;
	g->changes_left = g->rl->robustness;
	arm(g->rl, &g->change, (struct mono){ 0 });
}

/** report_join() - a group is heard on a link from now on; harmless when it was */
void report_join(struct net *n, struct link *l, const struct ns_addr *group)
{
	struct report_link *rl;
	struct report_group *g;

	if (!is_told(l, group))
		return;
	rl = get_link(n, l, !ns_addr_is_v4(group));
	g = rl ? find_group(rl, group) : NULL;
	if (g && g->is_joined)
		return;
	if (rl && !g && n->reports.group_cnt < GROUPS_MAX)
		g = calloc(1, sizeof(*g));
	if (!g) {
		drop_count(n->core->stats, DROP_NO_MEMORY);
		return;
	}
	if (!g->rl) {
		g->rl = rl;
		g->addr = *group;
		timer_init(&g->answer, on_answer);
		timer_init(&g->change, on_change);
		list_push(&rl->groups, &g->node);
		n->reports.group_cnt++;
	}
	tell_change(g, true);
}

/** report_leave() - a group is not heard any more; harmless when it was not */
void report_leave(struct net *n, struct link *l, const struct ns_addr *group)
{
	struct report_link *rl = find_link(n, l, !ns_addr_is_v4(group));
	struct report_group *g = rl ? find_group(rl, group) : NULL;

	if (!g || !g->is_joined)
		return;
	timer_cancel(timers_of(rl), &g->answer);
	tell_change(g, false);
}

/** report_link_up() - what is at the other end of @l may be another switch now: all is told again */
void report_link_up(struct net *n, const struct link *l)
{
	list_for_each (it, &n->reports.links) {
		struct report_link *rl = list_entry(it, struct report_link, node);

		if (rl->link != l)
			continue;
		list_for_each (g, &rl->groups)
			if (list_entry(g, struct report_group, node)->is_joined)
				tell_change(list_entry(g, struct report_group, node), true);
	}
}

/* ---- queries ---- */

/* RFC 9776 7.2.1: another version is spoken from now on, what waits is of the old one. */
static void version_changed(struct report_link *rl)
{
	timer_cancel(timers_of(rl), &rl->all);
	list_for_each_safe (it, &rl->groups) {
		struct report_group *g = list_entry(it, struct report_group, node);

		timer_cancel(timers_of(rl), &g->answer);
		timer_cancel(timers_of(rl), &g->change);
		if (!g->is_joined)
			group_free(g);
	}
}

/* Unless it is due sooner. */
static void arm_within(struct report_link *rl, struct timer *t, uint64_t max_ns, struct mono now)
{
	struct mono when = random_time(rl, max_ns, now);

	if (!timer_is_armed(t) || mono_lt(when, t->when))
		arm(rl, t, when);
}

/** report_query() - a router asks (report_wire.c); @q is well formed and came from the link */
void report_query(struct net *n, struct link *l, const struct report_query *q, struct mono now)
{
	bool is_spoken = !l->is_loop && l->config.is_multicast;
	struct report_link *rl = is_spoken ? get_link(n, l, q->is_v6) : NULL;
	enum report_version before;
	struct report_group *g;

	if (!rl)
		return;
	before = version_of(rl, now);
	if (q->version != REPORT_V3)
		rl->until[q->version] = mono_add(now, OLD_NS);
	else
		rl->robustness = q->robustness ? q->robustness : ROBUSTNESS;
	if (version_of(rl, now) != before)
		version_changed(rl);
	if (ns_addr_is_any(&q->group) && version_of(rl, now) == REPORT_V3) {
		arm_within(rl, &rl->all, q->max_ns, now);
		return;
	}
	list_for_each (it, &rl->groups) {
		g = list_entry(it, struct report_group, node);
		if (g->is_joined && (ns_addr_is_any(&q->group) || ns_addr_eq(&g->addr, &q->group)))
			arm_within(rl, &g->answer, q->max_ns, now);
	}
}

/** report_heard() - another member of @group has answered an old router: we need not */
void report_heard(struct net *n, const struct link *l, const struct ns_addr *group, struct mono now)
{
	struct report_link *rl = find_link(n, l, !ns_addr_is_v4(group));
	struct report_group *g = rl ? find_group(rl, group) : NULL;

	if (g && version_of(rl, now) != REPORT_V3)
		timer_cancel(timers_of(rl), &g->answer);
}
