/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - names of counters */
#include "base/stats.h"

struct stat_row {
	const char *name, *text;
};

static const struct stat_row rows[STAT_COUNT] = {
#define STAT(name_, text_) [STAT_##name_] = { #name_, text_ },
#include "base/stats.def"
#undef STAT
};

const char *stat_name(enum stat i)
{
	return rows[i].name;
}

const char *stat_text(enum stat i)
{
	return rows[i].text;
}
