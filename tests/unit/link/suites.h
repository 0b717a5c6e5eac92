/* SPDX-License-Identifier: Apache-2.0 */
/* suites.h - the suites of this folder */
#pragma once

#include "unit.h"

Suite *ether_suite(void);
Suite *link_suite(void);
Suite *offload_suite(void);
Suite *random_suite(void);
