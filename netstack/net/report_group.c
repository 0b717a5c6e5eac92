/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_group.c - what routers and switches are told of a group: RFC 9776 5, RFC 9777 6
 *
 * Theory of operation
 *
 * group.c knows what is heard, this is what has been said about it. report_group_take() compares the two and
 * marks what differs, each mark a number of reports that are to say it:
 *
 *   the mode is another         the group: TO_IN or TO_EX with the list as it is when the report leaves
 *   a source came or went       the source: ALLOW or BLOCK, by what the mode makes of that
 *
 * While the first is told the second is in it. A source whose list it left stays here until that has been
 * told to the end. A later change marks what it changes anew, and the others go on where they were, which is
 * the merging of reports that the RFC asks for. A group that nobody hears is INCLUDE {}.
 *
 * A query of some sources is answered for those alone. They are kept, all of them, because the state may be
 * another one when the answer is due.
 *
 * Limits: ASKED_MAX sources of queries for one group, SOURCES_MAX of everything together. Beyond it a source
 * that came is not told, and a query is one of the whole group.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "net/net_int.h"
#include "net/report_int.h"

enum {
	ASKED_MAX = 1024,
	SOURCES_MAX = 131072,
};

struct report_group *report_group_new(struct report_link *rl, const struct ns_addr *addr)
{
	struct report_group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->rl = rl;
	g->addr = *addr;
	list_push(&rl->groups, &g->node);
	rl->net->reports.group_cnt++;
	return g;
}

void report_group_free(struct report_group *g)
{
	struct reports *r = &g->rl->net->reports;

	r->group_cnt--;
	r->source_cnt -= g->source_cnt + g->asked_cnt;
	list_del(&g->node);
	free(g->sources);
	free(g->asked);
	free(g);
}

bool report_group_is_heard(const struct report_group *g)
{
	for (uint32_t i = 0; i < g->source_cnt; i++)
		if (g->sources[i].is_listed)
			return true;
	return g->is_exclude;
}

/* ---- what changed ---- */

/* A source came into the list that was not here, or has come back. */
static bool list_source(struct report_group *g, uint32_t place, const struct ns_addr *a)
{
	const struct report_source fresh = { .addr = *a };
	struct reports *r = &g->rl->net->reports;
	void *v = NULL;

	if (r->source_cnt < SOURCES_MAX)
		v = vec_insert(g->sources, &g->source_cnt, &g->source_cap, sizeof(fresh), place,
			       &fresh);
	if (!v) {
		drop_count(g->rl->net->core->stats, DROP_NO_MEMORY);
		return false;
	}
	g->sources = v;
	r->source_cnt++;
	return true;
}

static bool set_listed(struct report_source *s, bool is_listed, uint8_t robustness)
{
	if (s->is_listed == is_listed)
		return false;
	s->is_listed = is_listed;
	s->left = robustness;
	return true;
}

/* Both lists are in order. @now NULL: its list is empty. */
static bool take_list(struct report_group *g, const struct group *now, uint8_t robustness)
{
	uint32_t cnt = now ? now->source_cnt : 0, at = 0;
	bool is_news = false;

	for (uint32_t i = 0; i < cnt; i++) {
		const struct group_source *s = &now->sources[i];
		int order = -1;

		while (at < g->source_cnt &&
		       (order = memcmp(&g->sources[at].addr, &s->addr, sizeof(s->addr))) < 0)
			is_news |= set_listed(&g->sources[at++], false, robustness);
		if (order != 0 && (!group_lists(now, s) || !list_source(g, at, &s->addr)))
			continue;
		is_news |= set_listed(&g->sources[at++], group_lists(now, s), robustness);
	}
	while (at < g->source_cnt)
		is_news |= set_listed(&g->sources[at++], false, robustness);
	return is_news;
}

bool report_group_take(struct report_group *g, uint8_t robustness)
{
	const struct net *n = g->rl->net;
	bool is_solicited = g->rl->is_v6 && addr6_solicits(n, g->rl->link, &g->addr);
	const struct group *now = is_solicited ? NULL : group_find(n, g->rl->link, &g->addr);
	bool is_exclude = is_solicited || (now && now->cnt[1]), was_heard;
	bool is_news = g->is_exclude != is_exclude;

	was_heard = report_group_is_heard(g);
	g->is_exclude = is_exclude;
	if (is_news)
		g->mode_left = robustness;
	is_news |= take_list(g, now, robustness);
	if (was_heard != report_group_is_heard(g))
		g->old_left = robustness;
	return is_news;
}

void report_group_renew(struct report_group *g, uint8_t robustness)
{
	g->mode_left = g->is_exclude ? robustness : 0;
	g->old_left = robustness;
	for (uint32_t i = 0; i < g->source_cnt; i++)
		g->sources[i].left = g->sources[i].is_listed ? robustness : 0;
}

/* What is neither listed nor to be told is not needed any more. */
static void forget_told(struct report_group *g)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->source_cnt; i++)
		if (g->sources[i].is_listed || g->sources[i].left)
			g->sources[kept++] = g->sources[i];
	g->rl->net->reports.source_cnt -= g->source_cnt - kept;
	g->source_cnt = kept;
}

void report_group_settle(struct report_group *g)
{
	g->mode_left = g->old_left = 0;
	for (uint32_t i = 0; i < g->source_cnt; i++)
		g->sources[i].left = 0;
	forget_told(g);
}

/* ---- records ---- */

typedef bool (*pick_fn)(const struct report_group *g, const struct report_source *s);

static bool is_listed(const struct report_group *g, const struct report_source *s)
{
	(void)g;
	return s->is_listed;
}

static bool is_allowed(const struct report_group *g, const struct report_source *s)
{
	return s->left && s->is_listed != g->is_exclude;
}

static bool is_blocked(const struct report_group *g, const struct report_source *s)
{
	return s->left && s->is_listed == g->is_exclude;
}

/* A record of the sources that @pick picks. */
static void add_record(struct report_batch *b, enum report_record type,
		       const struct report_group *g, pick_fn pick, struct mono now)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < g->source_cnt; i++)
		cnt += pick(g, &g->sources[i]);
	if (cnt == 0 && (type == RECORD_ALLOW || type == RECORD_BLOCK))
		return;
	report_begin(b, type, &g->addr, cnt, now);
	for (uint32_t i = 0; i < g->source_cnt; i++)
		if (pick(g, &g->sources[i]))
			report_source(b, &g->sources[i].addr, now);
}

bool report_group_add_change(struct report_batch *b, struct report_group *g, struct mono now)
{
	uint8_t left = 0;

	if (g->mode_left) {
		add_record(b, g->is_exclude ? RECORD_TO_EX : RECORD_TO_IN, g, is_listed, now);
		left = --g->mode_left;
	} else {
		add_record(b, RECORD_ALLOW, g, is_allowed, now);
		add_record(b, RECORD_BLOCK, g, is_blocked, now);
	}
	if (g->old_left)
		g->old_left--;
	for (uint32_t i = 0; i < g->source_cnt; i++) {
		struct report_source *s = &g->sources[i];

		if (s->left)
			s->left--;
		left |= s->left;
	}
	forget_told(g);
	return left > 0;
}

void report_group_add_current(struct report_batch *b, struct report_group *g, struct mono now)
{
	add_record(b, g->is_exclude ? RECORD_IS_EX : RECORD_IS_IN, g, is_listed, now);
}

/* ---- queries of sources ---- */

void report_group_ask_all(struct report_group *g)
{
	g->rl->net->reports.source_cnt -= g->asked_cnt;
	g->asked_cnt = 0;
}

void report_group_ask(struct report_group *g, const struct report_query *q)
{
	struct reports *r = &g->rl->net->reports;

	for (uint32_t i = 0; i < q->source_cnt; i++) {
		struct ns_addr a = report_asked(g->rl, q, i);
		uint32_t at = vec_place(g->asked, g->asked_cnt, sizeof(a), &a, sizeof(a));
		void *v = NULL;

		if (at < g->asked_cnt && ns_addr_eq(&g->asked[at], &a))
			continue;
		if (g->asked_cnt < ASKED_MAX && r->source_cnt < SOURCES_MAX)
			v = vec_insert(g->asked, &g->asked_cnt, &g->asked_cap, sizeof(a), at, &a);
		if (!v) {
			report_group_ask_all(g);
			return;
		}
		g->asked = v;
		r->source_cnt++;
	}
}

/* Do we want what that one sends? */
static bool is_wanted(const struct report_group *g, const struct ns_addr *a)
{
	uint32_t at = vec_place(g->sources, g->source_cnt, sizeof(g->sources[0]), a, sizeof(*a));

	if (at < g->source_cnt && ns_addr_eq(&g->sources[at].addr, a) && g->sources[at].is_listed)
		return !g->is_exclude;
	return g->is_exclude;
}

void report_group_add_asked(struct report_batch *b, struct report_group *g, struct mono now)
{
	uint32_t kept = 0, cnt = g->asked_cnt;

	if (cnt == 0) {
		report_group_add_current(b, g, now);
		return;
	}
	for (uint32_t i = 0; i < cnt; i++)
		kept += is_wanted(g, &g->asked[i]);
	if (kept)
		report_begin(b, RECORD_IS_IN, &g->addr, kept, now);
	for (uint32_t i = 0; i < cnt && kept; i++)
		if (is_wanted(g, &g->asked[i]))
			report_source(b, &g->asked[i], now);
	report_group_ask_all(g);
}
