/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - routers and switches are told which groups we hear: RFC 9776, RFC 9777
 *
 * Theory of operation
 *
 * IGMP and MLD are one protocol with addresses of two lengths. A host's part is small:
 *
 *   report.c        when something is said: timers, queries, the versions that routers speak
 *   report_group.c  what is said of a group: its state, what changed, which sources were asked for
 *   report_wire.c   the messages
 *
 *   a state changed              a report at once, and again robustness - 1 times at random within CHANGE_NS,
 *                                because nobody acknowledges it
 *   a router asks for all        one report of all groups, after a random time within what it allows
 *   it asks for one, or for      the same for that one; what already waits to be said does for both
 *   sources of it
 *
 * What is heard is known by group.c, and by addr6.c of the groups that addresses of ours are asked in, which
 * exclude nobody. Either says report_change(), and what that comes to is found here by looking.
 *
 * Old routers: a query of IGMP version 1 or 2, or of MLD version 1, makes a link speak that version for a
 * while (RFC 9776 7.2.1, 8.12; RFC 9777 8.2.1, 9.12): robustness intervals between queries, as a newer router
 * said them last, and the time to answer. A report for each group then goes to the group, which
 * other members hear and then keep theirs to themselves; a message to the routers when it is left. Sources are not
 * spoken of. Which version it is is remembered of a link on which nothing was joined yet, too.
 *
 * Nothing is said on links that are not multicast (Linux' IFF_MULTICAST), and of the groups that every
 * host is in. Where changes come from there is no time: what is due at once has a timer of the past.
 *
 * Limits: GROUPS_MAX groups, left ones until that is told; more are heard, but not told.
 *
 * Deviates from RFC 4604 2.2: groups of the ranges for one source (RFC 4607) are no different, as in Linux.
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
};

#define INTERVAL_NS (125 * NS_PER_SEC) /* RFC 9776 8.2, RFC 9777 9.2 */
#define CHANGE_NS   NS_PER_SEC         /* RFC 9776 8.11, RFC 9777 9.11 */
#define CHANGE2_NS  (10 * NS_PER_SEC)  /* RFC 2236 8.10, RFC 2710 7.10 */

void reports_init(struct reports *r)
{
	*r = (struct reports){ .group_cnt = 0 };
	list_init(&r->links);
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
	report_group_free(g);
}

/* Nobody waits for an answer about it any more. */
static void answer_cancel(struct report_group *g)
{
	timer_cancel(timers_of(g->rl), &g->answer);
	report_group_ask_all(g);
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

/* RFC 9776 7.2.1, RFC 9777 8.2.1: the version that the oldest router on the link speaks, unless a knob says. */
static enum report_version version_of(const struct report_link *rl, struct mono now)
{
	const struct ns_core *core = rl->net->core;
	int forced = rl->is_v6 ? core_knob(core, NS_KNOB_force_mld_version)
			       : core_knob(core, NS_KNOB_force_igmp_version);

	if (rl->is_v6 && forced)
		return forced == 1 ? REPORT_V2 : REPORT_V3;
	if (forced == 1 || mono_lt(now, rl->until[REPORT_V1]))
		return REPORT_V1;
	return forced == 2 || mono_lt(now, rl->until[REPORT_V2]) ? REPORT_V2 : REPORT_V3;
}

/* RFC 9776 8.1, RFC 9777 9.1: how often a change is told. */
static uint8_t robustness_of(const struct report_link *rl)
{
	const struct ns_core *core = rl->net->core;

	if (rl->robustness)
		return rl->robustness;
	return (uint8_t)core_knob(core, rl->is_v6 ? NS_KNOB_mld_qrv : NS_KNOB_igmp_qrv);
}

/* ---- timers: something is to be said ---- */

/* A query about all groups is answered. */
static void on_all(struct timer *t, struct mono now)
{
	struct report_link *rl = container_of(t, struct report_link, all);
	struct report_batch b = { .rl = rl };

	list_for_each (it, &rl->groups) {
		struct report_group *g = list_entry(it, struct report_group, node);

		if (report_group_is_heard(g))
			report_group_add_current(&b, g, now);
	}
	report_flush(&b, now);
}

static void on_answer(struct timer *t, struct mono now)
{
	struct report_group *g = container_of(t, struct report_group, answer);
	struct report_batch b = { .rl = g->rl };
	enum report_version v = version_of(g->rl, now);

	if (v != REPORT_V3) {
		report_group_ask_all(g);
		report_old(g->rl, v, &g->addr, true, now);
		return;
	}
	report_group_add_asked(&b, g, now);
	report_flush(&b, now);
}

/* RFC 2236 3, RFC 2710 4: that it is left is said once. Return: is it to be said again? */
static bool tell_old(struct report_group *g, enum report_version v, struct mono now)
{
	bool is_heard = report_group_is_heard(g);
	uint8_t left = g->old_left;

	if (left)
		report_old(g->rl, v, &g->addr, is_heard, now);
	report_group_settle(g);
	if (is_heard && left > 1)
		g->old_left = left - 1;
	return g->old_left > 0;
}

/* RFC 9776 5.1, RFC 9777 6.1 */
static void on_change(struct timer *t, struct mono now)
{
	struct report_group *g = container_of(t, struct report_group, change);
	struct report_link *rl = g->rl;
	struct report_batch b = { .rl = rl };
	enum report_version v = version_of(rl, now);
	bool is_more;

	if (v == REPORT_V3) {
		is_more = report_group_add_change(&b, g, now);
		report_flush(&b, now);
	} else {
		is_more = tell_old(g, v, now);
	}
	if (is_more)
		arm(rl, t, random_time(rl, v == REPORT_V3 ? CHANGE_NS : CHANGE2_NS, now));
	else if (!report_group_is_heard(g))
		group_free(g);
}

/* ---- states change ---- */

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
static bool is_told(const struct net *n, const struct link *l, const struct ns_addr *a)
{
	static const struct ns_addr all_nodes = { { 0xff, 2, [15] = 1 } };
	enum { ALL_SYSTEMS = 0xe0000001, SCOPE_LINK = 2 };

	if (l->is_loop || !l->config.is_multicast)
		return false;
	if (!ns_addr_is_v4(a))
		return (a->b[1] & 0x0f) >= SCOPE_LINK && !ns_addr_eq(a, &all_nodes);
	if (ns_addr_to_v4(a) >> 8 == ALL_SYSTEMS >> 8 &&
	    !core_knob(n->core, NS_KNOB_igmp_link_local_mcast_reports))
		return false;
	return ns_addr_to_v4(a) != ALL_SYSTEMS;
}

static struct report_group *get_group(struct net *n, struct link *l, const struct ns_addr *group)
{
	struct report_link *rl = get_link(n, l, !ns_addr_is_v4(group));
	struct report_group *g = NULL;

	if (rl && n->reports.group_cnt < GROUPS_MAX)
		g = report_group_new(rl, group);
	if (!g) {
		drop_count(n->core->stats, DROP_NO_MEMORY);
		return NULL;
	}
	timer_init(&g->answer, on_answer);
	timer_init(&g->change, on_change);
	return g;
}

/** report_change() - what is heard of a group on a link may be another thing now; harmless when it is not */
void report_change(struct net *n, struct link *l, const struct ns_addr *group)
{
	struct report_link *rl = find_link(n, l, !ns_addr_is_v4(group));
	struct report_group *g = rl ? find_group(rl, group) : NULL;

	if (!g && is_told(n, l, group))
		g = get_group(n, l, group);
	if (!g)
		return;
	if (report_group_take(g, robustness_of(g->rl)))
		arm(g->rl, &g->change, (struct mono){ 0 });
	if (report_group_is_heard(g))
		return;
	answer_cancel(g);
	if (!timer_is_armed(&g->change))
		group_free(g);
}

/** report_link_up() - what is at the other end of @l may be another switch now: all is told again */
void report_link_up(struct net *n, const struct link *l)
{
	list_for_each (it, &n->reports.links) {
		struct report_link *rl = list_entry(it, struct report_link, node);

		if (rl->link != l)
			continue;
		list_for_each (node, &rl->groups) {
			struct report_group *g = list_entry(node, struct report_group, node);

			if (!report_group_is_heard(g))
				continue;
			report_group_renew(g, robustness_of(rl));
			arm(rl, &g->change, (struct mono){ 0 });
		}
	}
}

/* ---- queries ---- */

/* RFC 9776 7.2.1: another version is spoken from now on, what waits is of the old one. */
static void version_changed(struct report_link *rl)
{
	timer_cancel(timers_of(rl), &rl->all);
	list_for_each_safe (it, &rl->groups) {
		struct report_group *g = list_entry(it, struct report_group, node);

		answer_cancel(g);
		timer_cancel(timers_of(rl), &g->change);
		report_group_settle(g);
		if (!report_group_is_heard(g))
			group_free(g);
	}
}

/* What a query says about those to come, and how long one of an old version counts: RFC 9776 8.12, RFC 9777 9.12. */
static void note_query(struct report_link *rl, const struct report_query *q, struct mono now)
{
	enum report_version before = version_of(rl, now);
	uint64_t interval_ns = rl->interval_ns ? rl->interval_ns : INTERVAL_NS;

	if (q->version == REPORT_V3) {
		rl->robustness = q->robustness;
		rl->interval_ns = q->interval_ns;
		return;
	}
	rl->until[q->version] = mono_add(now, robustness_of(rl) * interval_ns + q->max_ns);
	if (version_of(rl, now) != before)
		version_changed(rl);
}

/* RFC 9776 5.2, RFC 9777 6.2: unless it is due sooner. */
static void arm_all(struct report_link *rl, const struct report_query *q, struct mono now)
{
	struct mono when = random_time(rl, q->max_ns, now);

	if (!timer_is_armed(&rl->all) || mono_lt(when, rl->all.when))
		arm(rl, &rl->all, when);
}

/* Likewise: unless all is due sooner, and what waits already is said as soon as either asks for. */
static void arm_group(struct report_group *g, const struct report_query *q, struct mono now)
{
	struct mono when = random_time(g->rl, q->max_ns, now);
	bool is_waiting = timer_is_armed(&g->answer);

	if (timer_is_armed(&g->rl->all) && !mono_lt(when, g->rl->all.when))
		return;
	if (q->source_cnt == 0)
		report_group_ask_all(g);
	else if (!is_waiting || g->asked_cnt)
		report_group_ask(g, q);
	if (!is_waiting || mono_lt(when, g->answer.when))
		arm(g->rl, &g->answer, when);
}

/** report_query() - a router asks (report_wire.c); @q is well formed and came from the link */
void report_query(struct net *n, struct link *l, const struct report_query *q, struct mono now)
{
	bool is_spoken = !l->is_loop && l->config.is_multicast;
	struct report_link *rl = is_spoken ? get_link(n, l, q->is_v6) : NULL;
	struct report_group *g;

	if (!rl)
		return;
	note_query(rl, q, now);
	if (ns_addr_is_any(&q->group) && version_of(rl, now) == REPORT_V3) {
		arm_all(rl, q, now);
		return;
	}
	list_for_each (it, &rl->groups) {
		g = list_entry(it, struct report_group, node);
		if (report_group_is_heard(g) &&
		    (ns_addr_is_any(&q->group) || ns_addr_eq(&g->addr, &q->group)))
			arm_group(g, q, now);
	}
}

/** report_heard() - another member of @group has answered an old router: we need not */
void report_heard(struct net *n, const struct link *l, const struct ns_addr *group, struct mono now)
{
	struct report_link *rl = find_link(n, l, !ns_addr_is_v4(group));
	struct report_group *g = rl ? find_group(rl, group) : NULL;

	if (g && version_of(rl, now) != REPORT_V3)
		answer_cancel(g);
}
