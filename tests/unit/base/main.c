/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs the tests of netstack/base */
#include "suites.h"

UNIT_MAIN(hash_suite, pool_suite, tables_suite, timer_suite, types_suite, vec_suite)
