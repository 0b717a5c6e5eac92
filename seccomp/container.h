/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container.h - the rules of a container's seccomp profile, as data
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <seccomp.h>

/* Most arguments one rule tests. */
#define CONTAINER_ARG_MAX 3

/**
 * struct container_rule - one rule; rules of one call never overlap
 * @name:	of the system call
 * @action:	SCMP_ACT_NOTIFY or SCMP_ACT_ERRNO(x); what no rule speaks of is allowed
 * @args:	tests that must all hold
 * @arg_cnt:	number of tests, 0 for any arguments
 * @reason:	why
 */
struct container_rule {
	const char *name;
	uint32_t action;
	struct scmp_arg_cmp args[CONTAINER_ARG_MAX];
	unsigned int arg_cnt;
	const char *reason;
};

/**
 * container_rules_new() - the rules of container.def, with "every other value" written out
 * @ret_rules:	gets an array; the caller frees it
 * @ret_cnt:	gets the number of rules
 *
 * Return: 0 or -ENOMEM
 */
int container_rules_new(struct container_rule **ret_rules, size_t *ret_cnt);

/**
 * container_arch_name() - this machine's architecture as OCI and Docker spell it
 *
 * Return: static text such as "SCMP_ARCH_X86_64", NULL on an architecture we do not know
 */
const char *container_arch_name(void);
