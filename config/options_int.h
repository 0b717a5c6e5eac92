/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options_int.h - the compiled rows of options.def, for options.c and help.c only
 */
#pragma once

#include <stddef.h>

/* Flags of a row of options.def. */
enum option_flag {
	OPT_F_HIDDEN = 1u << 0,
	OPT_F_FLAG_ONLY = 1u << 1,
	OPT_F_ACTION = 1u << 2,
	OPT_F_RESTORE = 1u << 3,
	OPT_F_MANY =
		1u << 4, /* a string that may be given again; the values are lines of the field */
};

enum option_kind { OPTION_BOOL, OPTION_UINT, OPTION_ENUM, OPTION_STR };

/* A word of an enum option; a table of them ends with a NULL text. */
struct word {
	const char *text;
	int value;
};

/* NULL if the text is fine, or what it must be. */
typedef const char *(*check_fn)(const char *value);

struct option_row {
	const char *name;
	size_t off; /* of the field in struct sluice_config */
	enum option_kind kind;
	unsigned int flags;
	unsigned int dflt, min, max; /* of bool, uint and enum */
	const char *arg;
	const char *dflt_str;
	const struct word *words;
	check_fn check;
	const char *help;
	const char *reason;
};

extern const struct option_row config_rows[];
extern const size_t config_row_cnt;

void config_words_join(const struct option_row *o, const char *between, const char *last, char *buf,
		       size_t len);
const char *config_word_of(const struct option_row *o, unsigned int value);
