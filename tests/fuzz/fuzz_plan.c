/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_plan.c - the plan's parser; what it accepts, it writes and reads again as the same */
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/common/plan_diff.h"
#include "fuzz/fuzz.h"

/* Steps from @a to @b: rows that go and come add up. */
static void diff_holds(const struct plan *a, const struct plan *b, bool is_equal)
{
	size_t cnt[] = { a->link_cnt, a->addr_cnt, a->route_cnt, a->rule_cnt, a->neigh_cnt };
	const size_t want[] = { b->link_cnt, b->addr_cnt, b->route_cnt, b->rule_cnt, b->neigh_cnt };
	struct plan_diff d;

	must_hold(plan_diff(a, b, &d) == 0);
	must_hold(!is_equal || d.cnt == 0);
	for (size_t i = 0; i < d.cnt; i++) {
		const struct plan_change *c = &d.rows[i];

		must_hold(c->table < PLAN_TABLE_COUNT && c->op < PLAN_OP_COUNT && c->cnt);
		if (c->op == PLAN_DEL)
			cnt[c->table] -= c->cnt;
		else if (c->op == PLAN_ADD)
			cnt[c->table] += c->cnt;
	}
	for (int t = 0; t < PLAN_TABLE_COUNT; t++)
		must_hold(cnt[t] == want[t]);
	plan_diff_done(&d);
}

/* Less of everything but links, to which rows refer. */
static void plan_cut(struct plan *p, uint8_t how)
{
	p->addr_cnt = how & 1 ? p->addr_cnt / 2 : p->addr_cnt;
	p->route_cnt = how & 2 ? p->route_cnt / 2 : p->route_cnt;
	p->rule_cnt = how & 4 ? p->rule_cnt / 2 : p->rule_cnt;
	p->neigh_cnt = how & 8 ? p->neigh_cnt / 2 : p->neigh_cnt;
	if (how & 16 && p->link_cnt)
		p->links[0].driver ^= 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char err[256], *text = NULL, *text2 = NULL;
	size_t len = 0, len2 = 0;
	struct plan p, again;

	plan_init(&p);
	plan_init(&again);
	if (plan_parse((const char *)data, size, &p, err, sizeof(err)) == 0) {
		must_hold(plan_check(&p, err, sizeof(err)) == 0);
		must_hold(plan_to_string(&p, &text, &len) == 0);
		must_hold(plan_parse(text, len, &again, err, sizeof(err)) == 0);
		must_hold(plan_to_string(&again, &text2, &len2) == 0);
		must_hold(len == len2 && !memcmp(text, text2, len));
		must_hold(plan_carried_cnt(&p) <= p.link_cnt);
		diff_holds(&p, &again, true);
		plan_cut(&again, data[size - 1]);
		diff_holds(&p, &again, false);
		diff_holds(&again, &p, false);
	} else {
		must_hold(strnlen(err, sizeof(err)) < sizeof(err) && err[0]);
		must_hold(!p.link_cnt && !p.route_cnt && !p.addr_cnt);
	}
	free(text);
	free(text2);
	plan_done(&p);
	plan_done(&again);
	return 0;
}
