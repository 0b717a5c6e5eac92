/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promises.h - calls that must pass or die, whatever the tables say
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct promise {
	unsigned int profiles; /* bits of enum profile */
	bool needs_tap;        /* only with TAP descriptors 7 and 9 */
	bool is_allowed;
	const char *what;
	long nr;
	uint64_t args[6];
};

extern const struct promise promises[];
extern const size_t promise_cnt;
