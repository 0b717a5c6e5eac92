/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_conf.c - the plan as the stack's configuration, at the start and whenever it changes
 *
 * Theory of operation: the worker keeps the plan that is in force. A new one comes whole, from the start's
 * memfd or by PLAN; plan_diff() says what to do, and the start is the difference to an empty plan. All
 * steps are done within one turn, so no frame sees half of them.
 *
 * What the stack cannot use (plan_feed.c refuses it) is left out, counted and said once: the plan keeps it for the container's namespace. A step that fails because an
 * earlier one has done it as well (a route goes with its address) is no failure.
 *
 * Ownership: descriptors of new links come in the order of the plan and are taken over.
 */
#include <errno.h>

#include "daemon/common/log.h"
#include "daemon/common/plan_diff.h"
#include "daemon/worker/plan_feed.h"
#include "daemon/worker/worker_int.h"

/** struct conf - one change of the configuration */
struct conf {
	struct worker *w;
	int *fds;
	uint32_t fd_cnt, fd_next;
	uint32_t left_out; /* rows the stack cannot use */
};

static uint32_t link_id(void *ctx, const struct plan_link *pl)
{
	const struct wlink *l = worker_link_find(ctx, pl->ifindex);

	return l ? l->drv.link_id : PLAN_FEED_NO_LINK;
}

static int link_do(struct conf *c, const struct plan *p, uint32_t idx, enum plan_op op)
{
	const struct plan_link *pl = &p->links[idx];
	uint32_t cnt = plan_link_fd_cnt(pl);
	const int *fds;
	int r;

	if (pl->driver == PLAN_DRIVER_NONE)
		return 0;
	if (op == PLAN_DEL)
		return worker_link_del(c->w, pl->ifindex);
	if (op == PLAN_SET)
		return worker_link_set(c->w, pl);
	if (cnt > c->fd_cnt - c->fd_next)
		return log_err(-EPROTO, "the monitor sent no descriptor for link %s", pl->name);
	fds = &c->fds[c->fd_next];
	c->fd_next += cnt;
	r = worker_link_add(c->w, pl, fds);
	for (uint32_t i = 1; i <= cnt; i++)
		c->fds[c->fd_next - i] = -1;
	return r;
}

/* ---- the whole ---- */

static int change_do(struct conf *c, const struct plan *new, const struct plan_change *ch)
{
	enum plan_op op = (enum plan_op)ch->op;
	const struct plan *p = op == PLAN_DEL ? &c->w->plan : new;
	const struct plan_feed feed = { .stack = c->w->stack, .link_id = link_id, .ctx = c->w };

	if (ch->table == PLAN_LINK)
		return link_do(c, p, ch->idx, op);
	return plan_feed_change(&feed, p, ch);
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
