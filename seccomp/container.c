/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container.c - container.def as rules without overlap
 *
 * Theory of operation
 *   "Every family but these four" cannot be said in one rule of a seccomp profile, and a list of the
 *   families known today would let the next one through. It is said as the fewest blocks of values
 *   that share a prefix of bits: the tree of all 32-bit values is walked from the top bit down, a
 *   subtree without an exception becomes one MASKED_EQ rule, others are split. Four small exceptions
 *   give 37 rules, which are disjoint by construction.
 */
#include "seccomp/container.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/sockios.h>

#include "seccomp/words.h"

#define EXCEPT_MAX 4

struct table_row {
	struct container_rule rule;
	uint32_t except[EXCEPT_MAX];
	size_t except_cnt; /* 0 for a plain rule */
};

#define LIST(...)                                                                                  \
	.except = { __VA_ARGS__ },                                                                 \
	.except_cnt = sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)
/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are whole initialisers */
#define RULE(call_, action_, args_, reason_)                                                       \
	{ .rule = { .name = #call_, .action = action_, args_, .reason = reason_ } },
#define REST(call_, action_, except_, reason_)                                                     \
	{ .rule = { .name = #call_, .action = action_, .reason = reason_ }, except_ },
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct table_row table[] = {
#include "seccomp/container.def"
};

struct rule_list {
	struct container_rule *rules; /* NULL while only counting */
	size_t cnt;
};

static void list_add(struct rule_list *l, const struct container_rule *rule)
{
	if (l->rules)
		l->rules[l->cnt] = *rule;
	l->cnt++;
}

/* Adds rules for all values that begin as @prefix does, in all bits but the lowest @free_bits. */
static void rest_add(struct rule_list *l, const struct table_row *row, uint64_t prefix,
		     unsigned int free_bits)
{
	uint64_t mask = UINT64_C(0xffffffff) & ~((UINT64_C(1) << free_bits) - 1);
	struct container_rule rule = row->rule;
	bool is_free = true;

	for (size_t i = 0; i < row->except_cnt; i++)
		if ((row->except[i] & mask) == prefix)
			is_free = false;
	if (is_free) {
		rule.args[0] = (struct scmp_arg_cmp)MASKED(0, mask, prefix);
		rule.arg_cnt = 1;
		list_add(l, &rule);
	} else if (free_bits) {
		rest_add(l, row, prefix, free_bits - 1);
		rest_add(l, row, prefix | UINT64_C(1) << (free_bits - 1), free_bits - 1);
	}
}

static void list_fill(struct rule_list *l)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].except_cnt)
			rest_add(l, &table[i], 0, 32);
		else
			list_add(l, &table[i].rule);
	}
}

int container_rules_new(struct container_rule **ret_rules, size_t *ret_cnt)
{
	struct rule_list counted = { 0 };
	struct rule_list filled = { 0 };

	list_fill(&counted);
	filled.rules = calloc(counted.cnt, sizeof(*filled.rules));
	if (!filled.rules)
		return -ENOMEM;
	list_fill(&filled);
	*ret_rules = filled.rules;
	*ret_cnt = filled.cnt;
	return 0;
}

const char *container_arch_name(void)
{
	switch (seccomp_arch_native()) {
	case SCMP_ARCH_X86_64:
		return "SCMP_ARCH_X86_64";
	case SCMP_ARCH_AARCH64:
		return "SCMP_ARCH_AARCH64";
	case SCMP_ARCH_RISCV64:
		return "SCMP_ARCH_RISCV64";
	case SCMP_ARCH_PPC64LE:
		return "SCMP_ARCH_PPC64LE";
	default:
		return NULL;
	}
}
