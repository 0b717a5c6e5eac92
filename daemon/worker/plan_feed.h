/* SPDX-License-Identifier: Apache-2.0 */
/* plan_feed.h - a step between two plans, told to a stack */
#pragma once

#include <stdint.h>

#include "daemon/common/plan.h"
#include "daemon/common/plan_diff.h"
#include "ns/stack.h"

#define PLAN_FEED_NO_LINK UINT32_MAX

/** struct plan_feed - where the steps go */
struct plan_feed {
	struct ns_stack *stack;
	/** the stack's number of a link that is not loopback; PLAN_FEED_NO_LINK: not carried */
	uint32_t (*link_id)(void *ctx, const struct plan_link *pl);
	void *ctx;
};

/**
 * plan_feed_change() - one step of plan_diff() that is not about a link
 * @f:		Where
 * @p:		The plan whose row it is: the old one for PLAN_DEL, else the new one
 * @ch:		Step
 *
 * Return: 0, -ENODEV for a link that is not carried, -EOPNOTSUPP for what the stack does not have, or
 * what the stack says
 */
int plan_feed_change(const struct plan_feed *f, const struct plan *p, const struct plan_change *ch);

/** plan_feed_ip() - an address of a plan as the stack has it; family 0: any of no family */
struct ns_addr plan_feed_ip(const struct plan_ip *ip);
