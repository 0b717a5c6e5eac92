/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs the tests of netstack/sock */
#include "suites.h"

UNIT_MAIN(sock_suite)
