/* SPDX-License-Identifier: Apache-2.0 */
/* worker_plan.h - the plan becomes a stack */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "daemon/plan.h"
#include "ns/stack.h"

/** struct worker_plan_link - driver of one carried link, in the plan's order */
struct worker_plan_link {
	const struct ns_link_ops *ops;
	void *drv;
	/** told the stack's number of the link */
	void (*set_id)(void *ctx, uint32_t link_id);
	void *ctx;
};

/**
 * worker_plan_apply() - links, addresses, routes and neighbours of @p into @s
 * @links:	plan_carried_cnt() elements
 *
 * Return: 0, or negative errno, logged; the stack is of no use then
 */
ns_must_check int worker_plan_apply(const struct plan *p, struct ns_stack *s,
				    const struct worker_plan_link *links);
