/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl_route.c - `sluicectl routes [ID] get ADDR ...`: where would this packet go?
 *
 * The worker answers with a line in the words of ip(8) (worker_route.c), which is printed, or taken apart for
 * -json: perhaps a type, the destination, then pairs of words.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/options.h"
#include "ctl/sluicectl.h"

static void put(struct json_object *obj, const char *key, const char *value)
{
	if (json_object_object_add(obj, key, json_object_new_string(value)) != 0)
		(void)fputs("sluicectl: out of memory\n", stderr);
}

static const char *json_key(const char *word)
{
	return !strcmp(word, "via") ? "gateway" : !strcmp(word, "src") ? "prefsrc" : word;
}

static void print_json(char *line)
{
	static const char *const types[] = { "local", "broadcast", "anycast", "multicast" };
	struct json_object *all = json_object_new_array(), *obj = json_object_new_object();
	char *save = NULL, *word = strtok_r(line, " ", &save), *value;

	for (size_t i = 0; word && i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(word, types[i]) != 0)
			continue;
		put(obj, "type", word);
		word = strtok_r(NULL, " ", &save);
		break;
	}
	if (word)
		put(obj, "dst", word);
	while ((word = strtok_r(NULL, " ", &save)) && (value = strtok_r(NULL, " ", &save))) {
		if (!strcmp(value, "inet6")) /* via inet6 ADDR */
			value = strtok_r(NULL, " ", &save);
		if (value)
			put(obj, json_key(word), value);
	}
	(void)json_object_array_add(all, obj);
	(void)puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN |
							       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(all);
}

/* The line of the answer, or NULL: the worker said none. */
static const char *line_of(struct json_object *answer)
{
	struct json_object *lines, *line;

	if (!json_object_object_get_ex(answer, "worker", &lines) ||
	    !json_object_is_type(lines, json_type_array))
		return NULL;
	line = json_object_array_get_idx(lines, 0);
	return line ? json_object_get_string(line) : NULL;
}

static int answer_print(const char *id, struct json_object *answer, bool is_json)
{
	const char *line = line_of(answer);
	char *copy;

	if (!line) {
		(void)fprintf(stderr, "sluicectl: the worker of %s does not answer\n", id);
		return CTL_FAILED;
	}
	if (!strncmp(line, "error ", 6)) {
		(void)fprintf(stderr, "sluicectl: %s\n", strerror(atoi(line + 6)));
		return CTL_FAILED;
	}
	copy = is_json ? strdup(line) : NULL;
	if (copy)
		print_json(copy);
	else
		(void)puts(line);
	free(copy);
	return CTL_OK;
}

/* The last word of @word may be "-json": it is for here. */
static int get_one(const char *state_dir, const char *id, const char *word)
{
	static const char json[] = " -json";
	size_t len = strlen(word);
	bool is_json = len >= sizeof(json) && !strcmp(word + len - (sizeof(json) - 1), json);
	struct json_object *answer = NULL;
	char request[200];
	int r;

	(void)snprintf(request, sizeof(request), "%.*s",
		       (int)(is_json ? len - (sizeof(json) - 1) : len), word);
	r = ctl_request(state_dir, id, request, &answer);
	if (r) {
		(void)fprintf(stderr, "sluicectl: cannot ask %s for its routes: %s\n", id,
			      ctl_request_error(r));
		return CTL_FAILED;
	}
	r = answer_print(id, answer, is_json);
	json_object_put(answer);
	return r;
}

int ctl_route_get(const char *state_dir, int argc, char **argv)
{
	int at = strcmp(argv[1], "get") == 0 ? 1 : 2;
	char word[200] = "routes get";
	size_t len = strlen(word);
	bool is_json = false;

	if (at + 1 >= argc || strcmp(argv[at], "get") != 0) {
		(void)fputs("sluicectl: routes takes an id, then perhaps get and an address\n",
			    stderr);
		return CTL_USAGE;
	}
	for (int i = at + 1; i < argc; i++) {
		if (!strcmp(argv[i], "-json") || !strcmp(argv[i], "--json")) {
			is_json = true;
			continue;
		}
		len += (size_t)snprintf(word + len, sizeof(word) - len, " %s", argv[i]);
		if (len >= sizeof(word) - sizeof(" -json")) {
			(void)fputs("sluicectl: that is too long a question\n", stderr);
			return CTL_USAGE;
		}
	}
	if (is_json)
		(void)snprintf(word + len, sizeof(word) - len, " -json");
	if (at == 1)
		return ctl_for_each_id(state_dir, word, get_one);
	if (!config_id_is_safe(argv[1])) {
		(void)fprintf(stderr, "sluicectl: %.60s cannot be the id of a sandbox\n", argv[1]);
		return CTL_USAGE;
	}
	return get_one(state_dir, argv[1], word);
}
