/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_diff - what has to be done to come from one plan to another
 *
 * Pure. The monitor looks at it to know whether anything changed at all, the worker does what it says.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/common/plan.h"

/** enum plan_table - what a change is about */
enum plan_table {
	PLAN_LINK,
	PLAN_ADDR,
	PLAN_ROUTE,
	PLAN_RULE,
	PLAN_NEIGH,
	PLAN_TABLE_COUNT,
};

/** enum plan_op - what is to be done */
enum plan_op {
	PLAN_DEL, /* row of the old plan */
	PLAN_ADD, /* row of the new plan */
	PLAN_SET, /* row of the new plan; a link or an address that is there, with other values */
	PLAN_OP_COUNT,
};

/** struct plan_change - one step */
struct plan_change {
	uint8_t table; /* enum plan_table */
	uint8_t op;    /* enum plan_op */
	uint32_t idx;  /* row */
	uint32_t cnt;  /* rows from there on: the next hops of one route; else 1 */
};

/** struct plan_diff - the steps in order; release with plan_diff_done() */
struct plan_diff {
	struct plan_change *rows;
	size_t cnt;
};

/**
 * plan_diff() - the steps from one plan to another
 * @old:	Checked
 * @new:	Checked
 * @ret:	Not initialised before; set on success, the caller releases it
 *
 * Links are the same when they have one ifindex, whatever their row; a link that is carried in another
 * way than before is another one. Everything else is the same when all of it is, so a row that changed is
 * deleted and added, but for addresses, which carry routes. What refers to others goes before them and
 * comes after them. Options are not looked at: they do not change.
 *
 * Return: 0 or -ENOMEM
 */
int plan_diff(const struct plan *old, const struct plan *new, struct plan_diff *ret);

/**
 * plan_diff_done() - release and empty
 * @d:		Set by plan_diff(), or zeroed
 */
void plan_diff_done(struct plan_diff *d);
