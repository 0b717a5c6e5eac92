/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_knobs - what the container's /proc/sys/net says is what the stack does
 *
 * Theory of operation: the files of the container's namespace are the only place where a knob's value is
 * kept. A runtime writes linux.sysctl there before the program starts; a program or an operator may at
 * any time. The files have no event of change, so they are read once a second, and what changed is sent to
 * the worker. What --sysctl and `sluicectl sysctl` ask for is written there first and comes back by the
 * same way, so what a program reads is true. Values from before are put into the snapshot, and the
 * restore writes them back, unless somebody wrote again after us.
 *
 * Two things are not in the files. A sysctl that this kernel has not, or that cannot be written in a
 * namespace (net.core.rmem_max), is turned in the stack alone. And a congestion control that the namespace
 * only has because it is the host's default is no wish of anybody's for this container: it gets CUBIC,
 * and the file says so.
 *
 * A sysctl the stack does not have is warned of once and listed in `sluicectl doctor`; it is no error of
 * the container, which would run with it on the kernel's stack.
 *
 * Limits: MONITOR_IGNORED_MAX names are remembered.
 *
 * Syscalls: #syscalls monitor: openat read pwrite64 close setns
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/congestion.h"
#include "daemon/common/log.h"
#include "daemon/monitor/knobs.h"
#include "daemon/monitor/monitor_int.h"
#include "daemon/netconf/netns.h"
#include "daemon/netconf/reconf.h"

#define MONITOR_IGNORED_MAX 64u
#define BUNDLE_CONFIG_MAX   (4u << 20) /* octets of a config.json */

/** struct monitor_knobs - what is in force, and what the files said when they were read last */
struct monitor_knobs {
	struct knobs now;
	char seen[KNOBS_ROWS][KNOBS_VALUE_MAX]; /* by first row; empty: no such file */
	/** wrote - what we put into a file, as the kernel shows it; empty: nothing */
	char wrote[KNOBS_ROWS][KNOBS_VALUE_MAX];
	char ignored[MONITOR_IGNORED_MAX][KNOBS_NAME_MAX];
	size_t ignored_cnt;
};

static void ignore(struct monitor *m, const char *sysctl, const char *why)
{
	struct monitor_knobs *k = m->knobs;

	for (size_t i = 0; i < k->ignored_cnt; i++)
		if (strcmp(k->ignored[i], sysctl) == 0)
			return;
	if (k->ignored_cnt == MONITOR_IGNORED_MAX)
		return;
	(void)snprintf(k->ignored[k->ignored_cnt++], KNOBS_NAME_MAX, "%s", sysctl);
	log_warnx("%s has no effect: %s", sysctl, why);
}

/* ---- the files ---- */

static void file_read(const char *sysctl, char text[KNOBS_VALUE_MAX])
{
	char below[KNOBS_NAME_MAX], path[KNOBS_NAME_MAX + 16];
	ssize_t len = -1;
	int fd;

	text[0] = '\0';
	if (knobs_path(sysctl, below, sizeof(below)) < 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/sys/net/%s", below);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, text, KNOBS_VALUE_MAX - 1);
		close(fd);
	}
	text[len > 0 ? len : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

struct read_job {
	char text[KNOBS_ROWS][KNOBS_VALUE_MAX];
};

static int files_read(void *ctx)
{
	struct read_job *job = ctx;

	for (int i = 0; i < KNOBS_ROWS; i++)
		if (knobs_first_row(i) == i)
			file_read(knobs_sysctl(i), job->text[i]);
	return 0;
}

static void knobs_send(struct monitor *m)
{
	struct ipc_knobs body;

	memcpy(body.value, m->knobs->now.value, sizeof(body.value));
	body.fastopen_keys_len = m->knobs->now.fastopen_keys_len;
	memcpy(body.fastopen_keys, m->knobs->now.fastopen_keys, sizeof(body.fastopen_keys));
	if (child_is_running(&m->worker) && !m->worker.is_stopping)
		(void)!ipc_send(&m->worker.ipc, IPC_KNOBS, &body, NULL, 0);
	if (child_is_running(&m->agent) && !m->agent.is_stopping)
		(void)!ipc_send(&m->agent.ipc, IPC_KNOBS, &body, NULL, 0);
}

/* Return: whether a knob turned. */
static bool knobs_read(struct monitor *m)
{
	struct monitor_knobs *k = m->knobs;
	struct knobs before = k->now;
	struct read_job job;

	memset(&job, 0, sizeof(job));
	if (netns_call(m->take.ctr_fd, files_read, &job) < 0)
		return false;
	for (int i = 0; i < KNOBS_ROWS; i++) {
		int r;

		if (knobs_first_row(i) != i || !job.text[i][0] ||
		    strcmp(job.text[i], k->seen[i]) == 0)
			continue;
		memcpy(k->seen[i], job.text[i], KNOBS_VALUE_MAX);
		r = knobs_set(&k->now, knobs_sysctl(i), job.text[i]);
		if (r < 0)
			ignore(m, knobs_sysctl(i), "the stack has no such value");
	}
	return memcmp(&before, &k->now, sizeof(before)) != 0;
}

/* ---- writing ---- */

/* Keeps the value of now for the restore, once. */
static int file_keep(struct monitor *m, const char *below, const char *value)
{
	struct snapshot *s = &m->take.rec.snap;
	struct sysctl_value *v;

	for (size_t i = 0; i < s->sysctl_cnt; i++)
		if (strcmp(s->sysctls[i].path, below) == 0)
			return 0;
	if (strlen(value) >= sizeof(v->value) || strlen(below) >= sizeof(v->path))
		return -E2BIG;
	v = snapshot_add_sysctl(s);
	if (!v)
		return -ENOMEM;
	(void)snprintf(v->path, sizeof(v->path), "%s", below);
	(void)snprintf(v->value, sizeof(v->value), "%s", value);
	return journal_update(&m->journal, &m->take.rec);
}

/* A word without a row ("-") stays what it is in the file. */
static void words_fill(const char *asked, const char *is, char buf[KNOBS_VALUE_MAX])
{
	char a[KNOBS_VALUE_MAX], b[KNOBS_VALUE_MAX], *sa = NULL, *sb = NULL;
	size_t at = 0;

	(void)snprintf(a, sizeof(a), "%s", asked);
	(void)snprintf(b, sizeof(b), "%s", is);
	buf[0] = '\0';
	for (char *wa = strtok_r(a, " \t", &sa), *wb = strtok_r(b, " \t", &sb); wa;
	     wa = strtok_r(NULL, " \t", &sa), wb = wb ? strtok_r(NULL, " \t", &sb) : NULL) {
		int n = snprintf(buf + at, KNOBS_VALUE_MAX - at, "%s%s", at ? " " : "",
				 strcmp(wa, "-") == 0 && wb ? wb : wa);

		at += n > 0 ? (size_t)n : 0;
		if (at >= KNOBS_VALUE_MAX)
			return;
	}
}

/* The first row of a sysctl, or -1. */
static int row_of(const char *sysctl)
{
	for (int i = 0; i < KNOBS_ROWS; i++)
		if (strcmp(knobs_sysctl(i), sysctl) == 0)
			return i;
	return -1;
}

/* A namespace that had no key of RFC 7413 cannot get back there: zeros would be a key that everybody knows. */
static bool is_kept(const struct monitor_knobs *k, int row)
{
	return row != KNOBS_FASTOPEN_KEY || strspn(k->seen[row], "0-") != strlen(k->seen[row]);
}

/* @value is one that the stack takes. */
static int file_write(struct monitor *m, int row, const char *value)
{
	struct monitor_knobs *k = m->knobs;
	char below[KNOBS_NAME_MAX], text[KNOBS_VALUE_MAX];
	int r = knobs_path(knobs_sysctl(row), below, sizeof(below));

	if (r == 0 && !k->seen[row][0])
		r = -ENOENT;
	if (r == 0 && is_kept(k, row))
		r = file_keep(m, below, k->seen[row]);
	if (r < 0)
		return r;
	words_fill(value, k->seen[row], text);
	r = reconf_sysctl_write(m->take.ctr_fd, below, text);
	if (r == 0) {
		(void)knobs_read(m);
		memcpy(k->wrote[row], k->seen[row], KNOBS_VALUE_MAX);
	}
	return r;
}

int monitor_knobs_set(struct monitor *m, const char *sysctl, const char *value)
{
	struct knobs wanted = m->knobs->now;
	int r = knobs_set(&wanted, sysctl, value);

	if (r == -ENOENT)
		ignore(m, sysctl, "the stack has no such knob");
	else if (r < 0)
		ignore(m, sysctl, "the stack has no such value");
	if (r < 0)
		return r;
	r = file_write(m, row_of(sysctl), value);
	if (r < 0)
		log_info("%s is turned in the stack alone: %s", sysctl, strerror(-r));
	return knobs_set(&m->knobs->now, sysctl, value); /* whatever a file that refused says */
}

/* ---- when ---- */

/* What the namespace only has from the host's default. */
static void congestion_default(struct monitor *m, const char *of_host)
{
	static const int row = NS_KNOB_tcp_congestion_control;
	struct monitor_knobs *k = m->knobs;
	int r;

	if (strcmp(k->seen[row], of_host) != 0)
		return;
	k->now.value[row] = ns_knob_info(NS_KNOB_tcp_congestion_control)->initial;
	if (strcmp(of_host, congestion_name(k->now.value[row])) == 0)
		return;
	r = file_write(m, row, congestion_name(k->now.value[row]));
	if (r < 0)
		log_info("%s says %s, but connections use %s: %s", knobs_sysctl(row), of_host,
			 congestion_name(k->now.value[row]), strerror(-r));
	k->now.value[row] = ns_knob_info(NS_KNOB_tcp_congestion_control)->initial;
}

int monitor_knobs_take(struct monitor *m)
{
	const char *line = m->cfg->sysctl;
	char of_host[KNOBS_VALUE_MAX];

	m->knobs = calloc(1, sizeof(*m->knobs));
	if (!m->knobs)
		return log_err(-ENOMEM, "cannot read the sysctls of the container");
	knobs_init(&m->knobs->now);
	/* before it is looked at: a name the stack does not know is no news when it is the host's */
	file_read(knobs_sysctl(NS_KNOB_tcp_congestion_control), of_host);
	if (congestion_find(of_host) < 0)
		(void)snprintf(m->knobs->seen[NS_KNOB_tcp_congestion_control], KNOBS_VALUE_MAX,
			       "%s", of_host);
	(void)knobs_read(m);
	congestion_default(m, of_host);
	while (line && *line) {
		char name[KNOBS_NAME_MAX], value[KNOBS_VALUE_MAX];
		size_t len = strcspn(line, "\n"), eq = strcspn(line, "=");

		(void)snprintf(name, sizeof(name), "%.*s", (int)eq, line);
		(void)snprintf(value, sizeof(value), "%.*s", (int)(len - eq - 1), line + eq + 1);
		(void)monitor_knobs_set(m, name, value);
		line += len + (line[len] == '\n');
	}
	return 0;
}

void monitor_knobs_tick(struct monitor *m)
{
	if (m->knobs && knobs_read(m))
		knobs_send(m);
}

void monitor_knobs_tell(struct monitor *m)
{
	if (m->knobs)
		knobs_send(m);
}

void monitor_knobs_done(struct monitor *m)
{
	struct monitor_knobs *k = m->knobs;
	struct snapshot *s = &m->take.rec.snap;
	char below[KNOBS_NAME_MAX];

	if (!k)
		return;
	(void)knobs_read(m);
	for (int i = 0; i < KNOBS_ROWS; i++) {
		if (!k->wrote[i][0] || strcmp(k->wrote[i], k->seen[i]) == 0)
			continue;
		(void)knobs_path(knobs_sysctl(i), below, sizeof(below));
		for (size_t v = 0; v < s->sysctl_cnt; v++)
			if (strcmp(s->sysctls[v].path, below) == 0)
				s->sysctls[v] = s->sysctls[--s->sysctl_cnt];
	}
	free(k);
	m->knobs = NULL;
}

struct json_object *monitor_knobs_json(const struct monitor *m)
{
	struct json_object *obj = json_object_new_object(), *values = json_object_new_object();
	struct json_object *ignored = json_object_new_array();
	char text[KNOBS_VALUE_MAX];

	for (int i = 0; m->knobs && i < KNOBS_ROWS; i++) {
		if (knobs_first_row(i) != i)
			continue;
		knobs_text(&m->knobs->now, i, text, sizeof(text));
		(void)json_object_object_add(values, knobs_sysctl(i), json_object_new_string(text));
	}
	for (size_t i = 0; m->knobs && i < m->knobs->ignored_cnt; i++)
		(void)json_object_array_add(ignored, json_object_new_string(m->knobs->ignored[i]));
	(void)json_object_object_add(obj, "sysctls", values);
	(void)json_object_object_add(obj, "ignored", ignored);
	return obj;
}

/* ---- what a container asks for and cannot have ---- */

/* The text of a file of at most BUNDLE_CONFIG_MAX octets; NULL when it cannot be had. */
static char *bundle_config_text(const char *bundle)
{
	char path[LISTENER_BUNDLE_MAX + 16];
	size_t len = 0;
	char *text;
	ssize_t n = 1;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/config.json", bundle);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	text = fd < 0 ? NULL : malloc(BUNDLE_CONFIG_MAX + 1);
	while (text && n > 0 && len < BUNDLE_CONFIG_MAX) {
		n = read(fd, text + len, BUNDLE_CONFIG_MAX - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[len] = '\0';
	return text;
}

void monitor_knobs_bundle(struct monitor *m, const char *bundle)
{
	char *text = m->knobs && bundle[0] == '/' ? bundle_config_text(bundle) : NULL;
	struct json_object *config = text ? json_tokener_parse(text) : NULL;
	struct json_object *lin, *sysctl;

	free(text);
	if (json_object_is_type(config, json_type_object) &&
	    json_object_object_get_ex(config, "linux", &lin) &&
	    json_object_is_type(lin, json_type_object) &&
	    json_object_object_get_ex(lin, "sysctl", &sysctl) &&
	    json_object_is_type(sysctl, json_type_object)) {
		json_object_object_foreach(sysctl, name, value)
		{
			(void)value; /* the runtime has written it where knobs_read() reads */
			if (strncmp(name, "net.", 4) == 0 && row_of(name) < 0)
				ignore(m, name, "the stack has no such knob");
		}
	}
	json_object_put(config);
	monitor_knobs_tick(m);
}
