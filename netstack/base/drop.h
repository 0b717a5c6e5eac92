/* SPDX-License-Identifier: Apache-2.0 */
/* drop.h - enum drop: why a packet died. DROP_NONE means it was accepted. */
#pragma once

enum drop {
#define DROP(name_, text_, clause_) DROP_##name_,
#include "base/drop.def"
#undef DROP
	DROP_COUNT
};

/** drop_name() - the reason's name, e.g. "TCP_PAWS" */
const char *drop_name(enum drop d);
/** drop_text() - one phrase for the operator */
const char *drop_text(enum drop d);
/** drop_clause() - the RFC clause behind it, or "" */
const char *drop_clause(enum drop d);
