/* SPDX-License-Identifier: Apache-2.0 */
/* congestion.c - see congestion.h */
#include "daemon/common/congestion.h"

#include <errno.h>
#include <string.h>

#include "ns/sock.h"

static const char *const names[NS_CC_COUNT] = {
	[NS_CC_CUBIC] = "cubic",
	[NS_CC_RENO] = "reno",
	[NS_CC_BBR] = "bbr",
};

const char *congestion_name(int algorithm)
{
	return names[algorithm];
}

int congestion_find(const char *name)
{
	for (int i = 0; i < NS_CC_COUNT; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -ENOENT;
}
