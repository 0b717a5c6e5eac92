/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - what the unit tests of one folder share: one binary, a suite a file */
#pragma once

#include <check.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/attr.h"
#include "support/prng.h"

/** UNIT_TRAP - the signal of NS_BUG_ON(), for tcase_add_test_raise_signal() */
#define UNIT_TRAP SIGILL

typedef Suite *(*unit_suite_fn)(void);

/** unit_run() - every test of every suite; the exit status of the binary */
static inline int unit_run(const unit_suite_fn *suites, size_t cnt)
{
	SRunner *r = srunner_create(suites[0]());
	int failed;

	for (size_t i = 1; i < cnt; i++)
		srunner_add_suite(r, suites[i]());
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/** unit_suite() - a suite of one case with its fixture */
static inline TCase *unit_suite(const char *name, SFun setup, SFun teardown, Suite **ret_suite)
{
	TCase *t = tcase_create(name);

	*ret_suite = suite_create(name);
	tcase_set_timeout(t, 60);
	if (setup)
		tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(*ret_suite, t);
	return t;
}

/** UNIT_MAIN() - main() of a binary with these suites */
#define UNIT_MAIN(...)                                                                             \
	int main(void)                                                                             \
	{                                                                                          \
		static const unit_suite_fn suites[] = { __VA_ARGS__ };                             \
                                                                                                   \
		return unit_run(suites, NS_ARRAY_LEN(suites));                                     \
	}
