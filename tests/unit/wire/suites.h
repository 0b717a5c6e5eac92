/* SPDX-License-Identifier: Apache-2.0 */
/* suites.h - the suites of this folder */
#pragma once

#include "unit.h"

Suite *csum_suite(void);
Suite *vnet_suite(void);
