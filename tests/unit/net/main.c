/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs the tests of netstack/net */
#include "suites.h"

UNIT_MAIN(addr6_suite, arp_suite, demux_suite, demux_kernel_suite, filter_suite, frag6_suite,
	  icmp_suite, icmp6_suite, ip4_suite, ip6_suite, ndp_suite, neigh_suite, net_suite,
	  pmtu_suite, report_suite, route_in_suite, route_select_suite, route_table_suite)
