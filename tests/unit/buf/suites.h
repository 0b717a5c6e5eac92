/* SPDX-License-Identifier: Apache-2.0 */
/* suites.h - the suites of this folder */
#pragma once

#include "unit.h"

Suite *bytes_suite(void);
Suite *chunk_suite(void);
Suite *pkt_suite(void);
