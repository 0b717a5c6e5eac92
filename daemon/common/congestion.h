/* SPDX-License-Identifier: Apache-2.0 */
/* congestion.h - the names that Linux gives the algorithms of the stack: TCP_CONGESTION and its sysctl */
#pragma once

#include "base/attr.h"

/** congestion_name() - the name of an enum ns_cc, which is in range */
const char *congestion_name(int algorithm);

/** congestion_find() - Return: the enum ns_cc of a name, or -ENOENT */
ns_must_check int congestion_find(const char *name);
