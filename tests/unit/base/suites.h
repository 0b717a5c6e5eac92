/* SPDX-License-Identifier: Apache-2.0 */
/* suites.h - the suites of this folder */
#pragma once

#include "unit.h"

Suite *hash_suite(void);
Suite *pool_suite(void);
Suite *tables_suite(void);
Suite *timer_suite(void);
Suite *types_suite(void);
Suite *vec_suite(void);
