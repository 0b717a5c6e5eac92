/* SPDX-License-Identifier: Apache-2.0 */
/* drop.c - names of drop reasons */
#include "base/drop.h"

struct drop_row {
	const char *name, *text, *clause;
};

static const struct drop_row rows[DROP_COUNT] = {
#define DROP(name_, text_, clause_) [DROP_##name_] = { #name_, text_, clause_ },
#include "base/drop.def"
#undef DROP
};

const char *drop_name(enum drop d)
{
	return rows[d].name;
}

const char *drop_text(enum drop d)
{
	return rows[d].text;
}

const char *drop_clause(enum drop d)
{
	return rows[d].clause;
}
