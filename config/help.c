/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - the options of sluiced for people: --help and the list in sluiced(8)
 *
 * Both are written from the rows of options.def, so an option that exists is listed and says its default
 * and its range. Lines are broken here, at words: a terminal would break them anywhere.
 */
#include "config/options.h"

#include <stdio.h>
#include <string.h>

#include "config/options_int.h"

/* Octets of a line of --help, for the narrow terminal that everybody has. */
#define HELP_WIDTH  80
#define HELP_INDENT 10

/* Longest line of input that mandoc has no word about, less what escapes may add. */
#define MDOC_WIDTH 70

/* Writes "=true|false", "=PATH", "=move|strip" or nothing. */
static void arg_format(const struct option_row *o, char *buf, size_t len)
{
	char words[100];

	buf[0] = '\0';
	if (o->kind == OPTION_BOOL && !(o->flags & OPT_F_FLAG_ONLY)) {
		(void)snprintf(buf, len, "[=true|false]");
	} else if (o->kind == OPTION_ENUM) {
		config_words_join(o, "|", "|", words, sizeof(words));
		(void)snprintf(buf, len, "=%s", words);
	} else if (o->arg) {
		(void)snprintf(buf, len, "=%s", o->arg);
	}
}

/* The default as a word, empty where there is none or it says nothing. */
static void default_format(const struct option_row *o, char *buf, size_t len)
{
	buf[0] = '\0';
	if (o->kind == OPTION_BOOL && !(o->flags & OPT_F_FLAG_ONLY))
		(void)snprintf(buf, len, "%s", o->dflt ? "true" : "false");
	else if (o->kind == OPTION_UINT && o->dflt >= o->min)
		(void)snprintf(buf, len, "%u", o->dflt);
	else if (o->kind == OPTION_ENUM)
		(void)snprintf(buf, len, "%s", config_word_of(o, o->dflt));
	else if (o->kind == OPTION_STR && o->dflt_str)
		(void)snprintf(buf, len, "%s", o->dflt_str);
}

/* Fills lines with whole words, each line indented. */
static void text_wrap(FILE *out, const char *text)
{
	size_t col = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (col && col + 1 + len > HELP_WIDTH) {
			(void)fputc('\n', out);
			col = 0;
		}
		if (col)
			(void)fputc(' ', out);
		else
			(void)fprintf(out, "%*s", HELP_INDENT, "");
		(void)fprintf(out, "%.*s", (int)len, text);
		col = (col ? col + 1 : HELP_INDENT) + len;
		text += len;
		text += strspn(text, " ");
	}
	(void)fputc('\n', out);
}

void config_print_help(FILE *out)
{
	(void)fputs(
		"Usage: sluiced [OPTION]...\n"
		"Carry the network of one container in a sandboxed TCP/IP stack.\n\n"
		"Options also stand in the configuration file, as lines of 'option = value'.\n\n",
		out);
	for (size_t i = 0; i < config_row_cnt; i++) {
		const struct option_row *o = &config_rows[i];
		char arg[128];
		char dflt[128];
		char text[512];

		if (o->flags & OPT_F_HIDDEN)
			continue;
		arg_format(o, arg, sizeof(arg));
		default_format(o, dflt, sizeof(dflt));
		(void)fprintf(out, "  --%s%s\n", o->name, arg);
		(void)snprintf(text, sizeof(text), "%s%s%s%s", o->help, *dflt ? " (default: " : "",
			       dflt, *dflt ? ")" : "");
		text_wrap(out, text);
	}
}

/* A text for mdoc: without the characters that mean something there. */
static void mdoc_text(FILE *out, const char *s, size_t len)
{
	for (; len; s++, len--) {
		if (*s == '\\')
			(void)fputs("\\e", out);
		else if (*s == '\'')
			(void)fputs("\\(aq", out);
		else
			(void)fputc(*s, out);
	}
}

/* A sentence on lines of its own: capital letter, lines not too long, full stop. */
static void mdoc_sentence(FILE *out, const char *s)
{
	size_t col = 0;

	if (!*s)
		return;
	if (*s >= 'a' && *s <= 'z') {
		(void)fputc(*s++ - 'a' + 'A', out);
		col++;
	}
	while (*s) {
		size_t len = strcspn(s, " ");

		if (col > 1 && col + len > MDOC_WIDTH) {
			(void)fputc('\n', out);
			col = 0;
		} else if (col > 1) {
			(void)fputc(' ', out);
		}
		mdoc_text(out, s, len);
		col += len + 1;
		s += len;
		s += strspn(s, " ");
	}
	(void)fputs(".\n", out);
}

/* The flag line of one option. */
static void mdoc_item(FILE *out, const struct option_row *o)
{
	char words[100];

	(void)fprintf(out, ".It Fl -%s", o->name);
	if (o->kind == OPTION_BOOL && !(o->flags & OPT_F_FLAG_ONLY)) {
		(void)fputs(" Ns Op Ns = Ns Cm true Ns | Ns Cm false", out);
	} else if (o->kind == OPTION_ENUM) {
		config_words_join(o, " Ns | Ns Cm ", " Ns | Ns Cm ", words, sizeof(words));
		(void)fprintf(out, " Ns = Ns Cm %s", words);
	} else if (o->arg) {
		(void)fprintf(out, " Ns = Ns Ar %s", o->arg);
	}
	(void)fputc('\n', out);
}

void config_print_man(FILE *out)
{
	for (size_t i = 0; i < config_row_cnt; i++) {
		const struct option_row *o = &config_rows[i];
		char dflt[128];

		if (o->flags & OPT_F_HIDDEN)
			continue;
		mdoc_item(out, o);
		mdoc_sentence(out, o->help);
		mdoc_sentence(out, o->reason);
		default_format(o, dflt, sizeof(dflt));
		if (*dflt)
			(void)fprintf(out, "The default is\n.Cm %s .\n", dflt);
		if (o->flags & OPT_F_FLAG_ONLY)
			(void)fputs("Not for the configuration file.\n", out);
	}
}
