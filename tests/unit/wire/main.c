/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs the tests of netstack/wire */
#include "suites.h"

UNIT_MAIN(csum_suite, vnet_suite)
