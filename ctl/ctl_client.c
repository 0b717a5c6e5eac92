/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl_client.c - `sluicectl list`, `state`, `stats`, `links` and `sockets`: questions to running monitors
 *
 * Theory of operation: each sandbox has a directory of its own under the state directory, named by its id, and its monitor
 * listens there on ctl.sock: one word and a newline go in, one line of JSON comes out. A directory
 * whose socket nobody answers belongs to a monitor that was killed; its journal waits for
 * `sluiced --restore`.
 */
#include <dirent.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/options.h"
#include "ctl/sluicectl.h"

/* Longest answer that is read; counters of thousands of links would fit. */
#define ANSWER_MAX (4u << 20)

/* A monitor answers from memory; one that does not in this time hangs. */
#define ANSWER_MAX_S 5

/* Return: a connected socket or a negative errno. */
static int ctl_connect(const char *state_dir, const char *id)
{
	const struct timeval limit = { .tv_sec = ANSWER_MAX_S };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int n = snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s/ctl.sock", state_dir, id);
	int fd;
	int r;

	if (n < 0 || (size_t)n >= sizeof(sun.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) ||
	    connect(fd, (const struct sockaddr *)&sun, sizeof(sun))) {
		r = -errno;
		(void)close(fd);
		return r;
	}
	return fd;
}

/* Reads up to the newline; the caller frees *ret_line. */
static int line_read(int fd, char **ret_line)
{
	size_t cap = 4096;
	size_t len = 0;
	char *buf = malloc(cap);

	while (buf) {
		ssize_t n = recv(fd, buf + len, cap - len - 1, 0);
		char *bigger;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int r = n < 0 ? -errno : -ECONNRESET;

			free(buf);
			return r;
		}
		len += (size_t)n;
		buf[len] = '\0';
		if (memchr(buf, '\n', len)) {
			*ret_line = buf;
			return 0;
		}
		if (len + 1 < cap)
			continue;
		bigger = cap < ANSWER_MAX ? realloc(buf, cap * 2) : NULL;
		if (!bigger) {
			free(buf);
			return -EMSGSIZE;
		}
		buf = bigger;
		cap *= 2;
	}
	return -ENOMEM;
}

/* Asks one monitor; the caller puts *ret_answer. */
int ctl_request(const char *state_dir, const char *id, const char *word,
		struct json_object **ret_answer)
{
	char request[256];
	char *line = NULL;
	int len = snprintf(request, sizeof(request), "%s\n", word);
	int fd;
	int r = 0;

	fd = ctl_connect(state_dir, id);
	if (fd < 0)
		return fd;
	if (send(fd, request, (size_t)len, MSG_NOSIGNAL) != len)
		r = -errno;
	if (!r)
		r = line_read(fd, &line);
	(void)close(fd);
	if (r)
		return r;
	*ret_answer = json_tokener_parse(line);
	free(line);
	return *ret_answer ? 0 : -EBADMSG;
}

const char *ctl_request_error(int r)
{
	switch (r) {
	case -ENOENT:
	case -ECONNREFUSED:
		return "its monitor does not run; if it was killed, run sluiced --restore --id";
	case -EAGAIN:
		return "its monitor does not answer in 5 s";
	case -EBADMSG:
		return "its answer is not JSON";
	default:
		return strerror(-r);
	}
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_id(const struct dirent *e)
{
	return e->d_type == DT_DIR && config_id_is_safe(e->d_name);
}

/* Calls @one for each sandbox in order of their names. Return: exit status. */
int ctl_for_each_id(const char *state_dir, const char *word,
		    int (*one)(const char *state_dir, const char *id, const char *word))
{
	struct dirent **entries;
	int status = CTL_OK;
	int cnt = scandir(state_dir, &entries, is_id, by_name);

	if (cnt < 0 && errno == ENOENT)
		return CTL_OK; /* no sluiced has run since the host started */
	if (cnt < 0) {
		(void)fprintf(stderr, "sluicectl: cannot read %s: %s\n", state_dir,
			      strerror(errno));
		return CTL_FAILED;
	}
	for (int i = 0; i < cnt; i++) {
		if (one(state_dir, entries[i]->d_name, word) != CTL_OK)
			status = CTL_FAILED;
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* false where the key is missing. */
static bool bool_of(struct json_object *answer, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(answer, key, &value) && json_object_get_boolean(value);
}

/* Is this child, an object of the answer, ready? */
static bool is_child_ready(struct json_object *answer, const char *role)
{
	struct json_object *child;

	return json_object_object_get_ex(answer, role, &child) && bool_of(child, "ready");
}

/* One word for what monitor_ctl.c says in several. */
static const char *state_word(struct json_object *answer)
{
	if (bool_of(answer, "stopping"))
		return "stopping";
	if (!bool_of(answer, "taken"))
		return "waiting";
	if (is_child_ready(answer, "worker") && is_child_ready(answer, "agent"))
		return "ready";
	return "starting";
}

/* The names of the links that are carried, separated by blanks. */
static void links_print(struct json_object *answer)
{
	struct json_object *links;
	const char *sep = "";
	size_t cnt = 0;

	if (json_object_object_get_ex(answer, "links", &links) &&
	    json_object_is_type(links, json_type_array))
		cnt = json_object_array_length(links);
	for (size_t i = 0; i < cnt; i++) {
		struct json_object *link = json_object_array_get_idx(links, i);
		struct json_object *name, *driver;

		if (!json_object_object_get_ex(link, "name", &name) ||
		    !json_object_object_get_ex(link, "driver", &driver) ||
		    !strcmp(json_object_get_string(driver), "none"))
			continue;
		(void)printf("%s%s", sep, json_object_get_string(name));
		sep = " ";
	}
	(void)putchar('\n');
}

/* A sandbox that does not answer is a line of the list, not a failure of it. */
static int list_one(const char *state_dir, const char *id, const char *word)
{
	struct json_object *answer = NULL;
	int r = ctl_request(state_dir, id, word, &answer);

	if (r)
		(void)printf("%-32s %-10s %s\n", id, "silent", ctl_request_error(r));
	else
		(void)printf("%-32s %-10s ", id, state_word(answer));
	if (!r)
		links_print(answer);
	json_object_put(answer);
	return CTL_OK;
}

int ctl_list(const char *state_dir, int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		(void)fputs("sluicectl: list takes no words\n", stderr);
		return CTL_USAGE;
	}
	(void)printf("%-32s %-10s %s\n", "ID", "STATE", "LINKS");
	return ctl_for_each_id(state_dir, "state", list_one);
}

static int ask_one(const char *state_dir, const char *id, const char *word)
{
	struct json_object *answer = NULL;
	int r = ctl_request(state_dir, id, word, &answer);

	if (r) {
		(void)fprintf(stderr, "sluicectl: cannot ask %s for its %s: %s\n", id, word,
			      ctl_request_error(r));
		return CTL_FAILED;
	}
	(void)puts(json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PRETTY |
								  JSON_C_TO_STRING_SPACED |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	/* Part of an answer comes with the reason why it is not all. */
	r = json_object_object_get_ex(answer, "error", NULL) ? CTL_FAILED : CTL_OK;
	json_object_put(answer);
	return r;
}

int ctl_ask(const char *state_dir, int argc, char **argv)
{
	bool has_value = argc == 3 && !strcmp(argv[0], "sysctl");
	char word[200];

	if (argc > 2 && !has_value) {
		(void)fprintf(stderr, "sluicectl: %s takes one id at most\n", argv[0]);
		return CTL_USAGE;
	}
	if (argc == 1)
		return ctl_for_each_id(state_dir, argv[0], ask_one);
	if (!config_id_is_safe(argv[1])) {
		(void)fprintf(stderr, "sluicectl: %.60s cannot be the id of a sandbox\n", argv[1]);
		return CTL_USAGE;
	}
	if (!has_value)
		return ask_one(state_dir, argv[1], argv[0]);
	if (snprintf(word, sizeof(word), "sysctl %s", argv[2]) >= (int)sizeof(word)) {
		(void)fprintf(stderr, "sluicectl: %.60s... is too long\n", argv[2]);
		return CTL_USAGE;
	}
	return ask_one(state_dir, argv[1], word);
}

/* A sandbox that does not answer has its line in the list. */
static int ignored_one(const char *state_dir, const char *id, const char *word)
{
	struct json_object *answer = NULL, *ignored;

	if (ctl_request(state_dir, id, word, &answer) == 0 &&
	    json_object_object_get_ex(answer, "ignored", &ignored) &&
	    json_object_is_type(ignored, json_type_array))
		for (size_t i = 0; i < json_object_array_length(ignored); i++)
			(void)printf("note     %s has no effect in sandbox %s\n",
				     json_object_get_string(json_object_array_get_idx(ignored, i)),
				     id);
	json_object_put(answer);
	return CTL_OK;
}

void ctl_ignored(const char *state_dir)
{
	(void)ctl_for_each_id(state_dir, "sysctl", ignored_one);
}
