/* SPDX-License-Identifier: Apache-2.0 */
/* suites.h - the suites of this folder */
#pragma once

#include "unit.h"

Suite *addr6_suite(void);
Suite *arp_suite(void);
Suite *demux_suite(void);
Suite *demux_kernel_suite(void);
Suite *filter_suite(void);
Suite *frag6_suite(void);
Suite *icmp_suite(void);
Suite *icmp6_suite(void);
Suite *ip4_suite(void);
Suite *ip6_suite(void);
Suite *ndp_suite(void);
Suite *neigh_suite(void);
Suite *net_suite(void);
Suite *pmtu_suite(void);
Suite *report_suite(void);
Suite *route_in_suite(void);
Suite *route_select_suite(void);
Suite *route_table_suite(void);
