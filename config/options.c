/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - flags, configuration file and help of sluiced
 *
 * Theory of operation
 *   options.def is compiled into an array of rows, each with the offset of its field. Setting an
 *   option is the same act whether the words come from a flag or from a line of the file: find the
 *   row, convert the text by the row's kind, check it, store it. Flags are walked twice: once for
 *   those that decide whether and which file is read, then, over the file's values, for all.
 *
 * Invariants
 *   Every value that was accepted is printed by config_print_flags() in a form that is accepted
 *   again and gives the same value; strings hold no control characters, so a line is a flag.
 *
 * Limits
 *   A configuration file has at most FILE_MAX_LEN octets; more is refused, not cut.
 */
#include "config/options.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/options_int.h"

#define FILE_MAX_LEN 65536

/* IFNAMSIZ of linux/if.h with its NUL. */
#define IFNAME_MAX 15

/* Where the error sentence goes, and how the option was written, for its beginning. */
struct parse {
	struct sluice_config *cfg;
	char *errbuf;
	size_t errlen;
	const char *file; /* NULL for flags */
	unsigned int line;
};

static const struct word network_words[] = {
	{ "sandbox", CONFIG_NETWORK_SANDBOX },
	{ "none", CONFIG_NETWORK_NONE },
	{ "plugin", CONFIG_NETWORK_PLUGIN },
	{ NULL, 0 },
};

static const struct word take_words[] = {
	{ "move", CONFIG_TAKE_MOVE },
	{ "strip", CONFIG_TAKE_STRIP },
	{ NULL, 0 },
};

static const struct word log_level_words[] = {
	{ "err", CONFIG_LOG_ERR },       { "warning", CONFIG_LOG_WARNING },
	{ "notice", CONFIG_LOG_NOTICE }, { "info", CONFIG_LOG_INFO },
	{ "debug", CONFIG_LOG_DEBUG },   { NULL, 0 },
};

static const struct word role_words[] = {
	{ "monitor", CONFIG_ROLE_MONITOR },
	{ "agent", CONFIG_ROLE_AGENT },
	{ "worker", CONFIG_ROLE_WORKER },
	{ NULL, 0 },
};

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '-' || c == ':';
}

bool config_id_is_safe(const char *id)
{
	size_t len = strlen(id);

	if (len == 0 || len > CONFIG_ID_MAX || id[0] == '.' || id[0] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_word_char(id[i]))
			return false;
	return true;
}

static const char *check_id(const char *v)
{
	return config_id_is_safe(v) ? NULL
				    : "1 to 64 of letters, digits, '_', '.', '-', ':', not "
				      "beginning with '.' or '-'";
}

static const char *check_word(const char *v)
{
	for (; *v; v++)
		if (!is_word_char(*v))
			return "one word of letters, digits, '_', '.', '-', ':'";
	return NULL;
}

static const char *check_path(const char *v)
{
	return strlen(v) < PATH_MAX ? NULL : "a path of less than 4096 octets";
}

static const char *check_socket_path(const char *v)
{
	return strlen(v) < sizeof(((struct sockaddr_un *)NULL)->sun_path)
		       ? NULL
		       : "a path of less than 108 octets, the limit of a socket's address";
}

static const char *check_ifname(const char *v)
{
	if (strlen(v) > IFNAME_MAX || !strcmp(v, ".") || !strcmp(v, ".."))
		return "an interface name of at most 15 octets";
	for (; *v; v++)
		if (*v == '/' || *v == ':' || *v == ' ')
			return "an interface name without '/', ':' and blanks";
	return NULL;
}

static const char *check_sysctl(const char *v)
{
	size_t len = strcspn(v, "=");

	if (strncmp(v, "net.", 4) != 0 || len >= 64 || !v[len] || !v[len + 1] || strlen(v) >= 128 ||
	    strspn(v, "abcdefghijklmnopqrstuvwxyz0123456789_.") != len)
		return "net.NAME=VALUE";
	return NULL;
}

static_assert(sizeof(enum config_network) == sizeof(unsigned int), "enum fields are set as uint");

/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are whole initialisers */
const struct option_row config_rows[] = {
#define OPT_BOOL(field, name_, dflt_, flags_, help_, reason_)                                      \
	{ .name = name_,                                                                           \
	  .kind = OPTION_BOOL,                                                                     \
	  .off = offsetof(struct sluice_config, field),                                            \
	  .dflt = dflt_,                                                                           \
	  .max = 1,                                                                                \
	  .flags = flags_,                                                                         \
	  .help = help_,                                                                           \
	  .reason = reason_ },
#define OPT_UINT(field, name_, dflt_, min_, max_, arg_, flags_, help_, reason_)                    \
	{ .name = name_,                                                                           \
	  .kind = OPTION_UINT,                                                                     \
	  .off = offsetof(struct sluice_config, field),                                            \
	  .arg = arg_,                                                                             \
	  .dflt = dflt_,                                                                           \
	  .min = min_,                                                                             \
	  .max = max_,                                                                             \
	  .flags = flags_,                                                                         \
	  .help = help_,                                                                           \
	  .reason = reason_ },
#define OPT_ENUM(field, name_, dflt_, type, words_, flags_, help_, reason_)                        \
	{ .name = name_,                                                                           \
	  .kind = OPTION_ENUM,                                                                     \
	  .off = offsetof(struct sluice_config, field),                                            \
	  .dflt = dflt_,                                                                           \
	  .words = words_,                                                                         \
	  .flags = flags_,                                                                         \
	  .help = help_,                                                                           \
	  .reason = reason_ },
#define OPT_STR(field, name_, dflt_, arg_, check_, flags_, help_, reason_)                         \
	{ .name = name_,                                                                           \
	  .kind = OPTION_STR,                                                                      \
	  .off = offsetof(struct sluice_config, field),                                            \
	  .arg = arg_,                                                                             \
	  .dflt_str = dflt_,                                                                       \
	  .check = check_,                                                                         \
	  .flags = flags_,                                                                         \
	  .help = help_,                                                                           \
	  .reason = reason_ },
#include "config/options.def"
};
/* NOLINTEND(bugprone-macro-parentheses) */

const size_t config_row_cnt = sizeof(config_rows) / sizeof(config_rows[0]);

/* One bit for each row in the set of options given as flags. */
static_assert(sizeof(config_rows) / sizeof(config_rows[0]) <= 64, "more options than bits");

static void *field_of(struct sluice_config *cfg, const struct option_row *o)
{
	return (unsigned char *)cfg + o->off;
}

static bool get_bool(const struct sluice_config *cfg, const struct option_row *o)
{
	bool v;

	memcpy(&v, (const unsigned char *)cfg + o->off, sizeof(v));
	return v;
}

static unsigned int get_uint(const struct sluice_config *cfg, const struct option_row *o)
{
	unsigned int v;

	memcpy(&v, (const unsigned char *)cfg + o->off, sizeof(v));
	return v;
}

static char *get_str(const struct sluice_config *cfg, const struct option_row *o)
{
	char *v;

	memcpy(&v, (const unsigned char *)cfg + o->off, sizeof(v));
	return v;
}

/* Replaces the owned string of the row; NULL means not given. */
static int put_str(struct sluice_config *cfg, const struct option_row *o, const char *value)
{
	char *copy = NULL;

	if (value) {
		copy = strdup(value);
		if (!copy)
			return -ENOMEM;
	}
	free(get_str(cfg, o));
	memcpy(field_of(cfg, o), &copy, sizeof(copy));
	return 0;
}

/* The values of an option that may be given again, a line each. */
static int add_line(struct sluice_config *cfg, const struct option_row *o, const char *value)
{
	const char *old = get_str(cfg, o);
	size_t size = (old ? strlen(old) + 1 : 0) + strlen(value) + 1;
	char *both;
	int r;

	if (!old)
		return put_str(cfg, o, value);
	both = malloc(size);
	if (!both)
		return -ENOMEM;
	(void)snprintf(both, size, "%s\n%s", old, value);
	r = put_str(cfg, o, both);
	free(both);
	return r;
}

static void put_uint(struct sluice_config *cfg, const struct option_row *o, unsigned int value)
{
	memcpy(field_of(cfg, o), &value, sizeof(value));
}

static void put_bool(struct sluice_config *cfg, const struct option_row *o, bool value)
{
	memcpy(field_of(cfg, o), &value, sizeof(value));
}

/**
 * config_word_of() - the word of a value
 * @o:		row of kind OPTION_ENUM
 * @value:	one of its values
 *
 * Return: static text
 */
const char *config_word_of(const struct option_row *o, unsigned int value)
{
	for (const struct word *w = o->words; w->text; w++)
		if ((unsigned int)w->value == value)
			return w->text;
	return "?";
}

static const struct option_row *row_find(const char *name, size_t len)
{
	for (size_t i = 0; i < config_row_cnt; i++)
		if (strlen(config_rows[i].name) == len && !memcmp(config_rows[i].name, name, len))
			return &config_rows[i];
	return NULL;
}

/* Puts "option X of FILE, line N" or "option --X" before the rest of the sentence. */
__attribute__((format(printf, 3, 4))) static int refuse(const struct parse *p, const char *name,
							const char *fmt, ...)
{
	char rest[CONFIG_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(rest, sizeof(rest), fmt, ap);
	va_end(ap);
	if (p->file)
		(void)snprintf(p->errbuf, p->errlen, "%.200s line %u: option %.40s %s", p->file,
			       p->line, name, rest);
	else
		(void)snprintf(p->errbuf, p->errlen, "option --%.40s %s", name, rest);
	return -EINVAL;
}

static int put_default(struct sluice_config *cfg, const struct option_row *o)
{
	switch (o->kind) {
	case OPTION_BOOL:
		put_bool(cfg, o, o->dflt);
		return 0;
	case OPTION_UINT:
	case OPTION_ENUM:
		put_uint(cfg, o, o->dflt);
		return 0;
	case OPTION_STR:
		return put_str(cfg, o, o->dflt_str);
	}
	return -EINVAL;
}

int config_init(struct sluice_config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	for (size_t i = 0; i < config_row_cnt; i++) {
		int r = put_default(cfg, &config_rows[i]);

		if (r) {
			config_done(cfg);
			return r;
		}
	}
	return 0;
}

void config_done(struct sluice_config *cfg)
{
	for (size_t i = 0; i < config_row_cnt; i++)
		if (config_rows[i].kind == OPTION_STR)
			(void)put_str(cfg, &config_rows[i], NULL);
}

static int set_bool(const struct parse *p, const struct option_row *o, const char *value)
{
	if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
		return refuse(p, o->name, "is '%.60s', but must be true or false", value);
	put_bool(p->cfg, o, !value || !strcmp(value, "true"));
	return 0;
}

static int set_uint(const struct parse *p, const struct option_row *o, const char *value)
{
	unsigned long v = 0;
	size_t len = strlen(value);

	/* strtoul() takes signs, blanks and 0x; a pid has none of them. */
	if (len == 0 || len > 9 || strspn(value, "0123456789") != len)
		return refuse(p, o->name, "is '%.60s', but must be a number", value);
	v = strtoul(value, NULL, 10);
	/* "from 1 to 1" would not say why. */
	if (v > o->max && o->max == 1)
		return refuse(p, o->name,
			      "is %lu, but this version has only one channel for each "
			      "container; use 1 or leave it out",
			      v);
	if (v < o->min || v > o->max)
		return refuse(p, o->name, "is %lu, but must be from %u to %u", v, o->min, o->max);
	put_uint(p->cfg, o, (unsigned int)v);
	return 0;
}

/**
 * config_words_join() - the words of an enum option as a text
 * @o:		row of kind OPTION_ENUM
 * @between:	put between two words
 * @last:	put before the last one instead
 * @buf:	gets the text, cut where it does not fit
 * @len:	octets in @buf, at least 1
 */
void config_words_join(const struct option_row *o, const char *between, const char *last, char *buf,
		       size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (const struct word *w = o->words; w->text && at < len; w++) {
		const char *sep = w == o->words ? "" : w[1].text ? between : last;
		int n = snprintf(buf + at, len - at, "%s%s", sep, w->text);

		at += n > 0 ? (size_t)n : 0;
	}
}

static int set_enum(const struct parse *p, const struct option_row *o, const char *value)
{
	char all[120];

	for (const struct word *w = o->words; w->text; w++) {
		if (strcmp(w->text, value) != 0)
			continue;
		put_uint(p->cfg, o, (unsigned int)w->value);
		return 0;
	}
	config_words_join(o, ", ", " or ", all, sizeof(all));
	return refuse(p, o->name, "is '%.60s', but must be %s", value, all);
}

static int set_str(const struct parse *p, const struct option_row *o, const char *value)
{
	const char *must;
	int r;

	if (!*value)
		return refuse(p, o->name, "is empty; leave it out to have none");
	for (const char *s = value; *s; s++)
		if ((unsigned char)*s < 0x20 || (unsigned char)*s == 0x7f)
			return refuse(p, o->name, "has a control character in its value");
	must = o->check(value);
	if (must)
		return refuse(p, o->name, "is '%.60s', but must be %s", value, must);
	r = o->flags & OPT_F_MANY ? add_line(p->cfg, o, value) : put_str(p->cfg, o, value);
	if (r)
		(void)snprintf(p->errbuf, p->errlen, "no memory for option --%s", o->name);
	return r;
}

/* @value: NULL for a bool that stands alone. */
static int option_set(const struct parse *p, const struct option_row *o, const char *value)
{
	if (!value && o->kind != OPTION_BOOL)
		return refuse(p, o->name, "needs a value");
	switch (o->kind) {
	case OPTION_BOOL:
		return set_bool(p, o, value);
	case OPTION_UINT:
		return set_uint(p, o, value);
	case OPTION_ENUM:
		return set_enum(p, o, value);
	case OPTION_STR:
		return set_str(p, o, value);
	}
	return -EINVAL;
}

/* One flag of the command line, taken apart. */
struct flag {
	const struct option_row *row;
	const char *value; /* NULL for a bool that stands alone */
	int words;         /* of argv that it takes */
};

/* argv[i] and perhaps argv[i + 1]; the forms are --name, --name=value and --name value. */
static int flag_split(const struct parse *p, int argc, char **argv, int i, struct flag *ret_flag)
{
	const char *word = argv[i];
	const char *eq;
	const char *name;
	size_t len;

	if (strncmp(word, "--", 2) != 0 || !word[2]) {
		(void)snprintf(p->errbuf, p->errlen,
			       "'%.100s' is not an option; they begin with --, see --help", word);
		return -EINVAL;
	}
	name = word + 2;
	eq = strchr(name, '=');
	len = eq ? (size_t)(eq - name) : strlen(name);
	*ret_flag = (struct flag){ .row = row_find(name, len), .words = 1 };
	if (!ret_flag->row) {
		(void)snprintf(p->errbuf, p->errlen,
			       "option --%.*s is not known; see --help for those that are",
			       len > 100 ? 100 : (int)len, name);
		return -EINVAL;
	}
	if (eq) {
		ret_flag->value = eq + 1;
	} else if (ret_flag->row->kind != OPTION_BOOL) {
		if (i + 1 >= argc)
			return refuse(p, ret_flag->row->name, "needs a value: --%s=%s",
				      ret_flag->row->name,
				      ret_flag->row->arg ? ret_flag->row->arg : "WORD");
		ret_flag->value = argv[i + 1];
		ret_flag->words = 2;
	}
	return 0;
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '\t' || *s == '\r'))
		s++;
	return s;
}

static const char *trim_end(const char *s, const char *end)
{
	while (end > s && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	return end;
}

/* One line without its newline, first visible character at @s. */
static int parse_line(const struct parse *p, const char *s, const char *end)
{
	const char *eq = memchr(s, '=', (size_t)(end - s));
	const char *name_end = trim_end(s, eq ? eq : end);
	const struct option_row *o = row_find(s, (size_t)(name_end - s));
	char name[48];
	char *value;
	int r;

	(void)snprintf(name, sizeof(name), "%.*s", name_end - s > 40 ? 40 : (int)(name_end - s), s);
	if (!o)
		return refuse(p, name, "is not known; sluiced --help lists those that are");
	if (o->flags & OPT_F_FLAG_ONLY)
		return refuse(p, name, "is for the command line only; remove the line");
	if (!eq)
		return option_set(p, o, NULL);
	s = skip_blanks(eq + 1, end);
	value = strndup(s, (size_t)(end - s));
	if (!value) {
		(void)snprintf(p->errbuf, p->errlen, "no memory to read %.200s", p->file);
		return -ENOMEM;
	}
	if (strlen(value) != (size_t)(end - s))
		r = refuse(p, name, "has a zero octet in its value");
	else
		r = option_set(p, o, value);
	free(value);
	return r;
}

int config_parse_file(struct sluice_config *cfg, const char *text, size_t len, const char *file,
		      char *errbuf, size_t errlen)
{
	struct parse p = { .cfg = cfg, .errbuf = errbuf, .errlen = errlen, .file = file };
	const char *end = text + len;

	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = eol ? eol : end;
		const char *s = skip_blanks(text, line_end);
		int r;

		p.line++;
		if (s < line_end && *s != '#') {
			r = parse_line(&p, s, trim_end(s, line_end));
			if (r)
				return r;
		}
		text = eol ? eol + 1 : end;
	}
	return 0;
}

/* Reads the whole file; the caller frees *ret_text. */
static int file_read(const char *path, char **ret_text, size_t *ret_len)
{
	size_t len = 0;
	char *text;
	int r = 0;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	text = malloc(FILE_MAX_LEN + 1);
	if (!text)
		r = -ENOMEM;
	while (!r && len <= FILE_MAX_LEN) {
		ssize_t n = read(fd, text + len, FILE_MAX_LEN + 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			r = -errno;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	(void)close(fd);
	if (!r && len > FILE_MAX_LEN)
		r = -EFBIG;
	if (r) {
		free(text);
		return r;
	}
	*ret_text = text;
	*ret_len = len;
	return 0;
}

static int load_file(const struct parse *p, bool is_named)
{
	const char *file = p->cfg->config;
	char *path;
	char *text = NULL;
	size_t len = 0;
	int r;

	r = file_read(file, &text, &len);
	if (r == -ENOENT && !is_named)
		return 0;
	if (r) {
		(void)snprintf(p->errbuf, p->errlen,
			       "cannot read the configuration file %.200s: %s; correct --config or "
			       "the file",
			       file, strerror(-r));
		return r;
	}
	/* The file cannot change --config, but the sentence must not depend on that. */
	path = strdup(file);
	if (!path)
		r = -ENOMEM;
	else
		r = config_parse_file(p->cfg, text, len, path, p->errbuf, p->errlen);
	free(path);
	free(text);
	return r;
}

/* --restore needs only to know where the journal is; the file's other values do not matter. */
static int restore_only(const struct parse *p, uint64_t given)
{
	int r;

	for (size_t i = 0; i < config_row_cnt; i++) {
		if (config_rows[i].flags & OPT_F_RESTORE)
			continue;
		if (given & (UINT64_C(1) << i))
			return refuse(p, config_rows[i].name,
				      "does not go with --restore, which does what the journal "
				      "of --id says; leave it out");
		r = put_default(p->cfg, &config_rows[i]);
		if (r)
			return r;
	}
	return 0;
}

/* The last part of --netns, when it is a name that somebody chose. */
static int id_from_netns(const struct parse *p)
{
	const struct option_row *o = row_find("id", 2);
	const char *netns = p->cfg->netns;
	const char *base = netns ? strrchr(netns, '/') : NULL;
	char name[32];

	if (p->cfg->pid) {
		(void)snprintf(name, sizeof(name), "pid-%u", p->cfg->pid);
		return put_str(p->cfg, o, name);
	}
	base = base ? base + 1 : netns;
	if (!netns || !strncmp(netns, "/proc/", 6) || !config_id_is_safe(base)) {
		(void)snprintf(p->errbuf, p->errlen,
			       "there is no name for this sandbox; give one with --id NAME");
		return -EINVAL;
	}
	return put_str(p->cfg, o, base);
}

static int check_combination(const struct parse *p, uint64_t given)
{
	struct sluice_config *cfg = p->cfg;
	const char *why = NULL;
	int r;

	if (cfg->restore) {
		r = restore_only(p, given);
		if (r)
			return r;
		if (!cfg->id)
			why = "--restore needs --id NAME to know whose journal to read";
	} else if (cfg->netns && cfg->pid) {
		why = "--netns and --pid both name a network namespace; give only one of them";
	} else if (!cfg->netns && !cfg->pid && !cfg->seccomp_listener) {
		why = "there is nothing to take; give --netns PATH, --pid PID or "
		      "--seccomp-listener PATH";
	} else if (cfg->network == CONFIG_NETWORK_PLUGIN) {
		why = "--network=plugin is not available yet; use --network=sandbox";
	}
	if (why) {
		(void)snprintf(p->errbuf, p->errlen, "%s", why);
		return -EINVAL;
	}
	if (!cfg->id) {
		r = id_from_netns(p);
		if (r)
			return r;
	}
	if (strlen(cfg->state_dir) + 1 + strlen(cfg->id) + sizeof("/ctl.sock") >
	    sizeof(((struct sockaddr_un *)NULL)->sun_path)) {
		(void)snprintf(p->errbuf, p->errlen,
			       "--state-dir and --id are too long together for the control "
			       "socket's address; shorten one of them");
		return -EINVAL;
	}
	return 0;
}

/* Applies the flags; @file_only: nothing but those that decide about the file. */
static int parse_flags(const struct parse *p, int argc, char **argv, bool file_only,
		       uint64_t *ret_given)
{
	uint64_t given = 0;

	for (int i = 1; i < argc;) {
		struct flag f;
		int r;

		r = flag_split(p, argc, argv, i, &f);
		if (r)
			return r;
		i += f.words;
		given |= UINT64_C(1) << (f.row - config_rows);
		if (file_only && !(f.row->flags & OPT_F_FLAG_ONLY))
			continue;
		r = option_set(p, f.row, f.value);
		if (r)
			return r;
	}
	*ret_given = given;
	return 0;
}

int config_parse_args(struct sluice_config *cfg, int argc, char **argv, char *errbuf, size_t errlen)
{
	struct parse p = { .cfg = cfg, .errbuf = errbuf, .errlen = errlen };
	uint64_t given;
	bool is_plain;
	int r;

	if (errlen)
		errbuf[0] = '\0';
	r = config_init(cfg);
	if (!r)
		r = parse_flags(&p, argc, argv, true, &given);
	is_plain = !r && !cfg->help && !cfg->version && cfg->role == CONFIG_ROLE_MONITOR;
	if (is_plain)
		r = load_file(&p, given & (UINT64_C(1) << (row_find("config", 6) - config_rows)));
	for (size_t i = 0; !r && i < config_row_cnt; i++)
		if (config_rows[i].flags & OPT_F_MANY && given & UINT64_C(1) << i)
			(void)put_str(cfg, &config_rows[i], NULL); /* flags override the file */
	if (!r)
		r = parse_flags(&p, argc, argv, false, &given);
	if (!r && is_plain)
		r = check_combination(&p, given);
	if (r) {
		if (errlen && !errbuf[0])
			(void)snprintf(errbuf, errlen, "cannot read the options: %s", strerror(-r));
		config_done(cfg);
	}
	return r;
}

/* @value: NULL when it was not given; a flag for each of its lines */
static void print_str(const struct option_row *o, const char *value, FILE *out)
{
	while (value && *value) {
		int len = (int)strcspn(value, "\n");

		(void)fprintf(out, "--%s=%.*s\n", o->name, len, value);
		value += len + (value[len] == '\n');
	}
}

void config_print_flags(const struct sluice_config *cfg, FILE *out)
{
	for (size_t i = 0; i < config_row_cnt; i++) {
		const struct option_row *o = &config_rows[i];

		if (o->flags & OPT_F_ACTION || (cfg->restore && !(o->flags & OPT_F_RESTORE)))
			continue;
		switch (o->kind) {
		case OPTION_BOOL:
			/* --restore=false would only puzzle the reader. */
			if (get_bool(cfg, o) || !(o->flags & OPT_F_FLAG_ONLY))
				(void)fprintf(out, "--%s=%s\n", o->name,
					      get_bool(cfg, o) ? "true" : "false");
			break;
		case OPTION_UINT:
			if (get_uint(cfg, o) >= o->min)
				(void)fprintf(out, "--%s=%u\n", o->name, get_uint(cfg, o));
			break;
		case OPTION_ENUM:
			if (!(o->flags & OPT_F_HIDDEN) || get_uint(cfg, o) != o->dflt)
				(void)fprintf(out, "--%s=%s\n", o->name,
					      config_word_of(o, get_uint(cfg, o)));
			break;
		case OPTION_STR:
			print_str(o, get_str(cfg, o), out);
			break;
		}
	}
}
