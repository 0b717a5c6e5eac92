/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal - the state file: how a namespace was, and what has been done to it
 *
 * Theory of operation: the file is one JSON object. "plan" is the plan's text; "raw" holds the
 * netlink messages it came from, in hexadecimal, because giving back must be exact where the plan is
 * only good enough to run a stack; "sysctls" the files of /proc/sys/net that a link loses when it
 * changes its namespace; "how" what is done to each link; "steps" what has been done already.
 *
 * All but the steps is fixed once taking begins, so it is put into text once and each step only
 * appends. A write goes to a new file, is flushed, and renamed over the old one: a reader finds the
 * state before or after a step, never half of one. What a step did between its deed and its note is
 * found by looking at the namespaces (take.c), not by trusting the list.
 *
 * Invariants: a journal exists exactly while a namespace differs, or may differ, from what it was.
 *
 * Limits: JOURNAL_STEPS_MAX steps, JOURNAL_TEXT_MAX octets.
 *
 * Syscalls: #syscalls monitor: mkdir openat close flock read write fsync renameat unlinkat fstat
 */
#include "daemon/netconf/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/common/log.h"

#define JOURNAL_FILE     "journal.json"
#define JOURNAL_NEW      "journal.json.new"
#define JOURNAL_LOCK     "lock"
#define JOURNAL_TEXT_MAX (128u << 20)

char *journal_path(const struct journal *j, const char *name, char *buf, size_t len)
{
	(void)snprintf(buf, len, "%s/%s", j->dir, name);
	return buf;
}

int journal_open(struct journal *j, const char *state_dir, const char *id)
{
	int r = 0;

	memset(j, 0, sizeof(*j));
	j->dir_fd = -1;
	j->lock_fd = -1;
	if (snprintf(j->dir, sizeof(j->dir) - 32, "%s/%s", state_dir, id) >=
	    (int)sizeof(j->dir) - 32)
		return log_err(-ENAMETOOLONG, "cannot use the state directory %s", state_dir);
	if ((mkdir(state_dir, 0711) < 0 && errno != EEXIST) ||
	    (mkdir(j->dir, 0700) < 0 && errno != EEXIST))
		return log_err(-errno, "cannot make the state directory %s", j->dir);
	j->dir_fd = open(j->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (j->dir_fd >= 0)
		j->lock_fd = openat(j->dir_fd, JOURNAL_LOCK,
				    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->lock_fd < 0)
		r = log_err(-errno, "cannot open the state directory %s", j->dir);
	else if (flock(j->lock_fd, LOCK_EX | LOCK_NB) < 0)
		r = errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (r == -EBUSY)
		log_errx("the sandbox %s is already run by another sluiced; stop that one first",
			 id);
	else if (r < 0)
		log_err(r, "cannot lock the state directory %s", j->dir);
	if (r < 0)
		journal_close(j);
	return r;
}

void journal_close(struct journal *j)
{
	if (j->lock_fd >= 0)
		close(j->lock_fd);
	if (j->dir_fd >= 0)
		close(j->dir_fd);
	j->lock_fd = j->dir_fd = -1;
	free(j->head);
	free(j->steps);
	j->head = j->steps = NULL;
	j->head_len = j->steps_len = j->step_cnt = 0;
}

bool journal_exists(const struct journal *j)
{
	return faccessat(j->dir_fd, JOURNAL_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void journal_record_done(struct journal_record *rec)
{
	snapshot_done(&rec->snap);
	memset(rec, 0, sizeof(*rec));
}

/* ---- writing ---- */

static struct json_object *hex_new(const uint8_t *buf, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	struct json_object *obj = NULL;
	char *text = malloc(2 * len + 1);

	if (!text)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		text[2 * i] = digits[buf[i] >> 4];
		text[2 * i + 1] = digits[buf[i] & 15];
	}
	if (2 * len <= INT32_MAX)
		obj = json_object_new_string_len(text, (int)(2 * len));
	free(text);
	return obj;
}

/* Consumes @val; remembers the first failure in @r. */
static void put(struct json_object *obj, const char *key, struct json_object *val, int *r)
{
	if (*r == 0 && val && json_object_object_add(obj, key, val) == 0)
		return;
	json_object_put(val);
	if (*r == 0)
		*r = -ENOMEM;
}

static struct json_object *netns_to_json(const struct journal_record *rec, int *r)
{
	struct json_object *obj = json_object_new_object();
	const struct netns_id *id = &rec->snap.id;

	if (!obj)
		return NULL;
	put(obj, "path", json_object_new_string(rec->netns_path), r);
	put(obj, "pid", json_object_new_int(rec->pid), r);
	put(obj, "dev", json_object_new_uint64(id->dev), r);
	put(obj, "ino", json_object_new_uint64(id->ino), r);
	put(obj, "cookie", json_object_new_uint64(id->cookie), r);
	return obj;
}

static struct json_object *sysctls_to_json(const struct snapshot *s, int *r)
{
	struct json_object *obj = json_object_new_object();

	for (size_t i = 0; obj && i < s->sysctl_cnt; i++)
		put(obj, s->sysctls[i].path, json_object_new_string(s->sysctls[i].value), r);
	return obj;
}

/* One small number for each link. */
static struct json_object *links_to_json(const uint8_t *nums, size_t cnt, int *r)
{
	struct json_object *arr = json_object_new_array();

	for (size_t i = 0; arr && i < cnt; i++) {
		struct json_object *row = json_object_new_int(nums[i]);

		if (!row || json_object_array_add(arr, row) != 0) {
			json_object_put(row);
			*r = -ENOMEM;
		}
	}
	return arr;
}

static struct json_object *record_to_json(const struct journal_record *rec, int *r)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *raw = json_object_new_object();

	if (!obj || !raw) {
		json_object_put(obj);
		json_object_put(raw);
		*r = -ENOMEM;
		return NULL;
	}
	put(obj, "version", json_object_new_int(JOURNAL_VERSION), r);
	put(obj, "netns", netns_to_json(rec, r), r);
	put(obj, "how", links_to_json(rec->how, rec->snap.plan.link_cnt, r), r);
	put(obj, "ingress", links_to_json(rec->has_ingress, rec->snap.plan.link_cnt, r), r);
	put(obj, "plan", plan_to_json(&rec->snap.plan), r);
	put(obj, "sysctls", sysctls_to_json(&rec->snap, r), r);
	for (int t = 0; t < RAW_TABLE_COUNT; t++)
		put(raw, raw_table_name(t), hex_new(rec->snap.raw[t].buf, rec->snap.raw[t].len), r);
	put(obj, "raw", raw, r);
	return obj;
}

static int write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * The file as it is to be: the fixed part, the steps, the closing brace. Steps need not reach the
 * disk: a machine that loses power loses its namespaces, too, and a killed monitor loses no write.
 */
static int journal_write(struct journal *j, bool to_disk)
{
	static const char open_steps[] = ",\"steps\":[", close_steps[] = "]}\n";
	int fd, r;

	fd = openat(j->dir_fd, JOURNAL_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	if (fd < 0)
		return log_err(-errno, "cannot write the journal in %s", j->dir);
	r = write_all(fd, j->head, j->head_len);
	if (r == 0)
		r = write_all(fd, open_steps, sizeof(open_steps) - 1);
	if (r == 0)
		r = write_all(fd, j->steps ? j->steps : "", j->steps_len);
	if (r == 0)
		r = write_all(fd, close_steps, sizeof(close_steps) - 1);
	if (r == 0 && to_disk && fsync(fd) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && renameat(j->dir_fd, JOURNAL_NEW, j->dir_fd, JOURNAL_FILE) < 0)
		r = -errno;
	if (r == 0 && to_disk && fsync(j->dir_fd) < 0)
		r = -errno;
	return r < 0 ? log_err(r, "cannot write the journal in %s", j->dir) : 0;
}

static int head_set(struct journal *j, struct json_object *obj)
{
	const char *text;
	size_t len = 0;

	text = json_object_to_json_string_length(
		obj, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	free(j->head);
	j->head = text && len > 2 ? strndup(text, len - 1) : NULL; /* without the closing brace */
	j->head_len = j->head ? len - 1 : 0;
	return j->head ? 0 : -ENOMEM;
}

int journal_update(struct journal *j, const struct journal_record *rec)
{
	struct json_object *obj;
	int r = 0;

	obj = record_to_json(rec, &r);
	if (r == 0)
		r = head_set(j, obj);
	json_object_put(obj);
	if (r < 0)
		return log_err(r, "cannot write the journal in %s", j->dir);
	return journal_write(j, true);
}

int journal_begin(struct journal *j, const struct journal_record *rec)
{
	j->steps_len = j->step_cnt = 0;
	return journal_update(j, rec);
}

static int steps_append(struct journal *j, const char *step)
{
	struct json_object *str = json_object_new_string(step);
	const char *text = str ? json_object_to_json_string(str) : NULL;
	size_t len = text ? strlen(text) : 0;
	char *grown = text ? realloc(j->steps, j->steps_len + len + 2) : NULL;

	if (grown) {
		j->steps = grown;
		if (j->step_cnt)
			j->steps[j->steps_len++] = ',';
		memcpy(j->steps + j->steps_len, text, len);
		j->steps_len += len;
		j->step_cnt++;
	}
	json_object_put(str);
	return grown ? 0 : -ENOMEM;
}

int journal_step(struct journal *j, const char *step)
{
	int r = j->step_cnt < JOURNAL_STEPS_MAX ? steps_append(j, step) : -E2BIG;

	if (r < 0)
		return log_err(r, "cannot note the step \"%s\" in the journal", step);
	return journal_write(j, false);
}

int journal_remove(struct journal *j)
{
	if (unlinkat(j->dir_fd, JOURNAL_FILE, 0) < 0 && errno != ENOENT)
		return log_err(-errno, "cannot remove the journal in %s", j->dir);
	(void)unlinkat(j->dir_fd, JOURNAL_NEW, 0);
	return 0;
}

/* ---- reading ---- */

struct reader {
	char *buf;
	size_t len;
};

static int refuse(const struct reader *rd, int r, const char *what)
{
	if (rd->buf && rd->len)
		(void)snprintf(rd->buf, rd->len, "%s", what);
	return r;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int hex_read(struct json_object *val, uint8_t **ret_buf, size_t *ret_len)
{
	const char *text = json_object_get_string(val);
	size_t len = (size_t)json_object_get_string_len(val);
	uint8_t *buf;

	if (!json_object_is_type(val, json_type_string) || len % 2 != 0)
		return -EINVAL;
	buf = malloc(len / 2 + 1);
	if (!buf)
		return -ENOMEM;
	for (size_t i = 0; i < len / 2; i++) {
		int hi = hex_value(text[2 * i]), lo = hex_value(text[2 * i + 1]);

		if (hi < 0 || lo < 0) {
			free(buf);
			return -EINVAL;
		}
		buf[i] = (uint8_t)(hi << 4 | lo);
	}
	*ret_buf = buf;
	*ret_len = len / 2;
	return 0;
}

static int raw_read(struct json_object *obj, struct nlset raw[RAW_TABLE_COUNT])
{
	for (int t = 0; t < RAW_TABLE_COUNT; t++) {
		struct json_object *val;
		uint8_t *buf = NULL;
		size_t len = 0;
		int r;

		if (!json_object_object_get_ex(obj, raw_table_name(t), &val))
			return -EINVAL;
		r = hex_read(val, &buf, &len);
		if (r == 0)
			r = nlset_load(&raw[t], buf, len, raw_table_hdr_len(t));
		if (r < 0)
			return r;
	}
	return 0;
}

static int netns_read(struct json_object *obj, struct journal_record *rec)
{
	struct json_object *path, *pid, *dev, *ino, *cookie;

	if (!json_object_object_get_ex(obj, "path", &path) ||
	    !json_object_object_get_ex(obj, "pid", &pid) ||
	    !json_object_object_get_ex(obj, "dev", &dev) ||
	    !json_object_object_get_ex(obj, "ino", &ino) ||
	    !json_object_object_get_ex(obj, "cookie", &cookie))
		return -EINVAL;
	if (!json_object_is_type(path, json_type_string) ||
	    (size_t)json_object_get_string_len(path) >= sizeof(rec->netns_path))
		return -EINVAL;
	(void)snprintf(rec->netns_path, sizeof(rec->netns_path), "%s",
		       json_object_get_string(path));
	rec->pid = json_object_get_int(pid);
	rec->snap.id.dev = json_object_get_uint64(dev);
	rec->snap.id.ino = json_object_get_uint64(ino);
	rec->snap.id.cookie = json_object_get_uint64(cookie);
	return rec->pid < 0 ? -EINVAL : 0;
}

static int links_read(struct json_object *arr, size_t cnt, int end, uint8_t *nums)
{
	if (!json_object_is_type(arr, json_type_array) || json_object_array_length(arr) != cnt)
		return -EINVAL;
	for (size_t i = 0; i < cnt; i++) {
		int num = json_object_get_int(json_object_array_get_idx(arr, i));

		if (num < 0 || num >= end)
			return -EINVAL;
		nums[i] = (uint8_t)num;
	}
	return 0;
}

/* A path from the file is appended to /proc/sys/net/ and written to: it must stay below. */
static bool sysctl_path_is_safe(const char *path)
{
	static const char *const trees[] = { "ipv4/conf/", "ipv6/conf/", "ipv4/neigh/",
					     "ipv6/neigh/" };
	static const char *const globals[] = { "ipv4/", "core/" };

	if (strstr(path, "/../") || strstr(path, "/./"))
		return false;
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		if (strncmp(path, trees[i], strlen(trees[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++) {
		size_t len = strlen(globals[i]);

		if (strncmp(path, globals[i], len) == 0 && path[len] &&
		    !path[len + strspn(path + len, "abcdefghijklmnopqrstuvwxyz0123456789_")])
			return true;
	}
	return false;
}

static int sysctls_read_json(struct json_object *obj, struct snapshot *s)
{
	if (!json_object_is_type(obj, json_type_object))
		return -EINVAL;
	json_object_object_foreach(obj, key, val)
	{
		struct sysctl_value *v;

		if (strlen(key) >= sizeof(v->path) || !sysctl_path_is_safe(key) ||
		    !json_object_is_type(val, json_type_string) ||
		    (size_t)json_object_get_string_len(val) >= sizeof(v->value))
			return -EINVAL;
		v = snapshot_add_sysctl(s);
		if (!v)
			return -ENOMEM;
		(void)snprintf(v->path, sizeof(v->path), "%s", key);
		(void)snprintf(v->value, sizeof(v->value), "%s", json_object_get_string(val));
	}
	return 0;
}

static int record_from_json(struct json_object *obj, struct journal_record *rec,
			    const struct reader *rd)
{
	struct json_object *val;
	size_t cnt;
	int r;

	if (!json_object_is_type(obj, json_type_object) ||
	    !json_object_object_get_ex(obj, "version", &val) ||
	    !json_object_is_type(val, json_type_int))
		return refuse(rd, -EINVAL, "it is no object with a version");
	if (json_object_get_int(val) != JOURNAL_VERSION)
		return refuse(rd, -EPROTONOSUPPORT, "another version of sluiced wrote it");
	if (!json_object_object_get_ex(obj, "plan", &val))
		return refuse(rd, -EINVAL, "it has no plan");
	r = plan_from_json(val, &rec->snap.plan, rd->buf, rd->len);
	if (r < 0)
		return r;
	if (!json_object_object_get_ex(obj, "netns", &val) || netns_read(val, rec) < 0)
		return refuse(rd, -EINVAL, "it does not say which namespace it is about");
	cnt = rec->snap.plan.link_cnt;
	if (!json_object_object_get_ex(obj, "how", &val) ||
	    links_read(val, cnt, TAKE_HOW_COUNT, rec->how) < 0 ||
	    !json_object_object_get_ex(obj, "ingress", &val) ||
	    links_read(val, cnt, 2, rec->has_ingress) < 0)
		return refuse(rd, -EINVAL, "it does not say what was done to the links");
	if (!json_object_object_get_ex(obj, "sysctls", &val) ||
	    sysctls_read_json(val, &rec->snap) < 0)
		return refuse(rd, -EINVAL, "its sysctls are malformed");
	if (!json_object_object_get_ex(obj, "raw", &val) || raw_read(val, rec->snap.raw) < 0)
		return refuse(rd, -EINVAL, "its netlink messages are malformed");
	return 0;
}

static int text_to_json(const char *text, size_t len, struct json_object **ret_obj)
{
	struct json_tokener *tok = json_tokener_new_ex(8);

	if (!tok)
		return -ENOMEM;
	*ret_obj = len <= JOURNAL_TEXT_MAX ? json_tokener_parse_ex(tok, text, (int)len) : NULL;
	json_tokener_free(tok);
	return *ret_obj ? 0 : -EINVAL;
}

int journal_record_parse(const char *text, size_t len, struct journal_record *rec, char *errbuf,
			 size_t errlen)
{
	struct reader rd = { errbuf, errlen };
	struct json_object *obj = NULL;
	int r;

	memset(rec, 0, sizeof(*rec));
	r = text_to_json(text, len, &obj);
	if (r < 0)
		return refuse(&rd, r, "it is no JSON text");
	r = record_from_json(obj, rec, &rd);
	json_object_put(obj);
	if (r < 0)
		journal_record_done(rec);
	return r;
}

static int read_file(int dir_fd, char **ret_text, size_t *ret_len)
{
	int fd = openat(dir_fd, JOURNAL_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	char *text;
	size_t len = 0;
	int r = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_size > JOURNAL_TEXT_MAX) {
		close(fd);
		return -EFBIG;
	}
	text = malloc((size_t)st.st_size + 1);
	while (text && len < (size_t)st.st_size) {
		ssize_t n = read(fd, text + len, (size_t)st.st_size - len);

		if (n <= 0) {
			r = n < 0 ? -errno : -EIO;
			break;
		}
		len += (size_t)n;
	}
	close(fd);
	if (!text || r < 0) {
		free(text);
		return text ? r : -ENOMEM;
	}
	*ret_text = text;
	*ret_len = len;
	return 0;
}

int journal_load(struct journal *j, struct journal_record *rec)
{
	char why[160] = "";
	char *text = NULL;
	size_t len = 0;
	int r;

	r = read_file(j->dir_fd, &text, &len);
	if (r == -ENOENT)
		return r;
	if (r < 0)
		return log_err(r, "cannot read the journal in %s", j->dir);
	r = journal_record_parse(text, len, rec, why, sizeof(why));
	free(text);
	if (r < 0) {
		log_errx(
			"cannot use the journal in %s: %s; remove it by hand once the namespace is "
			"as it should be",
			j->dir, why);
		return r;
	}
	/* Written on with an empty list: steps of the dead are history, the namespaces decide. */
	return journal_begin(j, rec);
}
