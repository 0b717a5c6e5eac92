/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs the tests of netstack/link */
#include "suites.h"

UNIT_MAIN(ether_suite, link_suite, offload_suite, random_suite)
