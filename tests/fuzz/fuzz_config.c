/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_config.c - configuration files and flags; what is accepted prints as flags that mean the same */
#include <stdio.h>
#include <stdlib.h>

#include "config/options.h"
#include "fuzz/fuzz.h"

enum {
	WORDS_MAX = 64,
};

static char *printed(const struct sluice_config *c)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		abort();
	config_print_flags(c, out);
	fclose(out);
	return text;
}

/* Words between separators, in place; never one that names a file to read. */
static int split(char *text, char sep, char **argv)
{
	static char name[] = "sluiced", none[] = "--config=/nonexistent/fuzz";
	int argc = 0;

	(void)none;
	argv[argc++] = name;
	for (char *word = text, *next; word && *word && argc < WORDS_MAX; word = next) {
		next = strchr(word, sep);
		if (next)
			*next++ = 0;
		if (*word && !strstr(word, "config"))
			argv[argc++] = word;
	}
	argv[argc] = NULL;
	return argc;
}

static void one_file(const char *text, size_t len)
{
	char err[CONFIG_ERR_MAX] = "";
	struct sluice_config c;

	if (config_init(&c))
		return;
	if (config_parse_file(&c, text, len, "fuzz.conf", err, sizeof(err)) == 0) {
		char *flags = printed(&c);

		free(flags);
	} else {
		must_hold(err[0] && strnlen(err, sizeof(err)) < sizeof(err));
	}
	config_done(&c);
}

static void one_argv(char *text)
{
	char err[CONFIG_ERR_MAX] = "", *argv[WORDS_MAX + 1], *argv2[WORDS_MAX + 1];
	struct sluice_config c, again;
	int argc = split(text, '\n', argv);

	if (config_parse_args(&c, argc, argv, err, sizeof(err)) != 0) {
		must_hold(err[0] && !strchr(err, '\n'));
		return;
	}
	char *flags = printed(&c), *copy = strdup(flags);

	argc = split(copy, '\n', argv2);
	if (config_parse_args(&again, argc, argv2, err, sizeof(err)) == 0) {
		char *flags2 = printed(&again);

		must_hold(!strcmp(flags, flags2));
		free(flags2);
		config_done(&again);
	}
	free(copy);
	free(flags);
	config_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	if (data[0] & 1)
		one_file(text, size - 1);
	else
		one_argv(text);
	free(text);
	return 0;
}
