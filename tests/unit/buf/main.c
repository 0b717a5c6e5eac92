/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs the tests of netstack/buf */
#include "suites.h"

UNIT_MAIN(chunk_suite, pkt_suite, bytes_suite)
