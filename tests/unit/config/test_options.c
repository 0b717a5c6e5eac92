/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_options.c - flags, file and print-config of sluiced
 *
 * Theory of operation
 *   The property that matters is a round trip: random valid words for each option make a
 *   configuration, its printed flags are parsed again and printed again, and both texts must be the
 *   same; likewise when the words come from a file. The rest are single sentences: what is accepted,
 *   what is refused, and that the refusal names the option.
 */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/options.h"
#include "config/options_int.h"

#define ROUND_CNT 2000
#define WORDS_MAX 64
#define FILE_MAX  8192

static uint64_t seed;

/* splitmix64, Steele, Lea and Flood 2014: the same words on every machine. */
static uint64_t rnd(uint64_t below)
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % below;
}

/* ---- helpers ---- */

struct words {
	int cnt;
	char *v[WORDS_MAX + 1];
};

__attribute__((format(printf, 2, 3))) static void words_add(struct words *w, const char *fmt, ...)
{
	va_list ap;

	ck_assert_int_lt(w->cnt, WORDS_MAX);
	va_start(ap, fmt);
	ck_assert_int_ge(vasprintf(&w->v[w->cnt], fmt, ap), 0);
	va_end(ap);
	w->cnt++;
	w->v[w->cnt] = NULL;
}

static void words_free(struct words *w)
{
	for (int i = 0; i < w->cnt; i++)
		free(w->v[i]);
	*w = (struct words){ 0 };
}

/* A line of flags, cut at blanks; --config=/dev/null keeps the host's file out. */
static int parse_line(const char *line, struct sluice_config *cfg, char err[CONFIG_ERR_MAX])
{
	struct words w = { 0 };
	char *copy = strdup(line);
	char *save = NULL;
	int r;

	words_add(&w, "sluiced");
	if (!strstr(line, "--config"))
		words_add(&w, "--config=/dev/null");
	for (char *s = strtok_r(copy, " ", &save); s; s = strtok_r(NULL, " ", &save))
		words_add(&w, "%s", s);
	r = config_parse_args(cfg, w.cnt, w.v, err, CONFIG_ERR_MAX);
	words_free(&w);
	free(copy);
	return r;
}

static void expect_refused(const char *line, const char *part)
{
	struct sluice_config cfg;
	char err[CONFIG_ERR_MAX];
	int r = parse_line(line, &cfg, err);

	ck_assert_msg(r == -EINVAL, "'%s' gave %d", line, r);
	ck_assert_msg(strstr(err, part), "'%s' says '%s' without '%s'", line, err, part);
	ck_assert_msg(!strchr(err, '\n'), "'%s' says more than one line", line);
}

static void expect_accepted(const char *line, struct sluice_config *cfg)
{
	char err[CONFIG_ERR_MAX];
	int r = parse_line(line, cfg, err);

	ck_assert_msg(!r, "'%s' gave %d: %s", line, r, err);
}

static void flags_print(const struct sluice_config *cfg, char **ret_text, size_t *ret_len)
{
	FILE *f = open_memstream(ret_text, ret_len);

	ck_assert_ptr_nonnull(f);
	config_print_flags(cfg, f);
	(void)fclose(f);
}

/* Lines to words, as `xargs -d '\n'` does it. */
static void words_from_lines(struct words *w, char *text)
{
	char *save = NULL;

	words_add(w, "sluiced");
	for (char *s = strtok_r(text, "\n", &save); s; s = strtok_r(NULL, "\n", &save))
		words_add(w, "%s", s);
}

/* ---- random configurations ---- */

static const char *random_text(const char *chars, size_t max, char *buf)
{
	size_t len = 1 + rnd(max);

	for (size_t i = 0; i < len; i++)
		buf[i] = chars[rnd(strlen(chars))];
	buf[len] = '\0';
	return buf;
}

/* A valid value for the row; NULL for a bool that stands alone. */
static const char *random_value(const struct option_row *o, char *buf)
{
	static const char id_chars[] = "abcXYZ019_.-:";
	const char *word;
	size_t cnt = 0;

	switch (o->kind) {
	case OPTION_BOOL:
		return rnd(3) == 0 ? NULL : rnd(2) ? "true" : "false";
	case OPTION_UINT:
		(void)sprintf(buf, "%u", o->min + (unsigned int)rnd(o->max - o->min + 1u));
		return buf;
	case OPTION_ENUM:
		while (o->words[cnt].text)
			cnt++;
		/* The plugin is refused by a rule of its own. */
		do
			word = o->words[rnd(cnt)].text;
		while (!strcmp(word, "plugin"));
		return word;
	case OPTION_STR:
		break;
	}
	if (!strcmp(o->name, "id")) {
		buf[0] = 'a';
		(void)random_text(id_chars, CONFIG_ID_MAX - 1, buf + 1);
	} else if (o->flags & OPT_F_MANY) {
		(void)sprintf(buf, "net.ipv4.tcp_%c=%zu %zu", (char)('a' + rnd(26)), rnd(100),
			      rnd(100));
	} else if (!strcmp(o->name, "tap")) {
		(void)random_text("abc019-_.=#", 13, buf + 1);
		buf[0] = 't';
	} else {
		/* Blanks, signs of the file's syntax and octets above 127 are fine in a path. */
		(void)random_text("ab/ #='\"\\\xc3\xa4", strcmp(o->name, "state-dir") ? 80 : 20,
				  buf + 2);
		/* A blank at the end of a line is not part of the value. */
		buf[0] = '/';
		buf[1] = 'z';
		if (buf[strlen(buf) - 1] == ' ')
			buf[strlen(buf) - 1] = 'z';
	}
	return buf;
}

static bool is_left_out(const struct option_row *o, bool with_pid)
{
	if (o->flags & OPT_F_FLAG_ONLY || !strcmp(o->name, with_pid ? "netns" : "pid"))
		return true;
	if (!strcmp(o->name, "id") || !strcmp(o->name, "pid") || !strcmp(o->name, "netns"))
		return false;
	return rnd(2) == 0;
}

/* Parses @w, prints, parses that and prints again: the texts are the same. */
static void expect_identity(const struct words *w, char **ret_text)
{
	struct sluice_config cfg, again;
	char err[CONFIG_ERR_MAX];
	struct words w2 = { 0 };
	char *first, *copy, *second;
	size_t first_len, second_len;
	int r;

	r = config_parse_args(&cfg, w->cnt, (char **)(uintptr_t)w->v, err, sizeof(err));
	ck_assert_msg(!r, "seed %#jx: %s", (uintmax_t)seed, err);
	flags_print(&cfg, &first, &first_len);
	copy = strdup(first);
	words_from_lines(&w2, copy);
	r = config_parse_args(&again, w2.cnt, w2.v, err, sizeof(err));
	ck_assert_msg(!r, "seed %#jx: %s in\n%s", (uintmax_t)seed, err, first);
	flags_print(&again, &second, &second_len);
	ck_assert_str_eq(first, second);
	config_done(&cfg);
	config_done(&again);
	words_free(&w2);
	free(copy);
	free(second);
	*ret_text = first;
}

START_TEST(flags_to_configuration_to_flags_is_the_identity)
{
	char value[256];
	char *text;

	seed = 1;
	for (int round = 0; round < ROUND_CNT; round++) {
		bool with_pid = rnd(2);
		struct words w = { 0 };

		words_add(&w, "sluiced");
		words_add(&w, "--config=/dev/null");
		for (size_t i = 0; i < config_row_cnt; i++) {
			const struct option_row *o = &config_rows[i];
			const char *v;

			if (is_left_out(o, with_pid))
				continue;
			v = random_value(o, value);
			if (!v) {
				words_add(&w, "--%s", o->name);
			} else if (o->kind != OPTION_BOOL && rnd(2)) {
				words_add(&w, "--%s", o->name);
				words_add(&w, "%s", v);
			} else {
				words_add(&w, "--%s=%s", o->name, v);
			}
		}
		expect_identity(&w, &text);
		free(text);
		words_free(&w);
	}
}
END_TEST

/* The same values once as flags and once as a file give the same configuration. */
START_TEST(file_and_flags_give_the_same_configuration)
{
	char path[] = "/tmp/test_options.XXXXXX";
	int fd = mkstemp(path);
	char value[256];

	ck_assert_int_ge(fd, 0);
	seed = 2;
	for (int round = 0; round < ROUND_CNT / 4; round++) {
		bool with_pid = rnd(2);
		struct words flags = { 0 }, file = { 0 };
		char *by_flags, *by_file;
		FILE *f = fopen(path, "we");

		ck_assert_ptr_nonnull(f);
		(void)fprintf(f, "# round %d\n\n", round);
		words_add(&flags, "sluiced");
		words_add(&flags, "--config=%s", path);
		words_add(&file, "sluiced");
		words_add(&file, "--config=%s", path);
		for (size_t i = 0; i < config_row_cnt; i++) {
			const struct option_row *o = &config_rows[i];
			const char *v;

			if (is_left_out(o, with_pid))
				continue;
			v = random_value(o, value);
			(void)fprintf(f, v ? " %s =\t%s \r\n" : "%s%s\n", o->name, v ? v : "");
			words_add(&flags, "--%s%s%s", o->name, v ? "=" : "", v ? v : "");
		}
		(void)fclose(f);
		expect_identity(&file, &by_file);
		ck_assert_int_eq(truncate(path, 0), 0);
		expect_identity(&flags, &by_flags);
		ck_assert_str_eq(by_flags, by_file);
		free(by_flags);
		free(by_file);
		words_free(&flags);
		words_free(&file);
	}
	(void)close(fd);
	(void)unlink(path);
}
END_TEST

START_TEST(flags_override_the_file)
{
	char path[] = "/tmp/test_options.XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = "gso = false\nlog-level = debug\nnetns = /run/netns/a\n";
	struct sluice_config cfg;
	char line[256];

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, sizeof(text) - 1), (int)sizeof(text) - 1);
	(void)snprintf(line, sizeof(line), "--log-level=info --config=%s", path);
	expect_accepted(line, &cfg);
	ck_assert(!cfg.gso);
	ck_assert_int_eq(cfg.log_level, CONFIG_LOG_INFO);
	ck_assert_str_eq(cfg.netns, "/run/netns/a");
	config_done(&cfg);
	(void)close(fd);
	(void)unlink(path);
}
END_TEST

START_TEST(an_option_that_may_be_given_again_keeps_all_values)
{
	char path[] = "/tmp/test_options.XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = "sysctl = net.ipv4.tcp_rmem=1 2 \nsysctl=net.core.x=3\n";
	struct sluice_config cfg;
	char line[256], *printed;
	size_t len;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, sizeof(text) - 1), (int)sizeof(text) - 1);
	(void)snprintf(line, sizeof(line), "--netns /run/netns/a --config=%s", path);
	expect_accepted(line, &cfg);
	ck_assert_str_eq(cfg.sysctl, "net.ipv4.tcp_rmem=1 2\nnet.core.x=3");
	flags_print(&cfg, &printed, &len);
	ck_assert_ptr_nonnull(
		strstr(printed, "--sysctl=net.ipv4.tcp_rmem=1 2\n--sysctl=net.core.x=3\n"));
	free(printed);
	config_done(&cfg);
	(void)snprintf(line, sizeof(line),
		       "--netns /run/netns/a --config=%s --sysctl net.a=4 --sysctl net.b=5", path);
	expect_accepted(line, &cfg);
	ck_assert_str_eq(cfg.sysctl, "net.a=4\nnet.b=5");
	config_done(&cfg);
	(void)close(fd);
	(void)unlink(path);
	expect_refused("--netns /run/netns/a --sysctl kernel.x=1", "net.NAME=VALUE");
	expect_refused("--netns /run/netns/a --sysctl net.ipv4.x", "net.NAME=VALUE");
}
END_TEST

START_TEST(defaults_are_those_of_the_design)
{
	struct sluice_config cfg;

	expect_accepted("--netns /run/netns/web", &cfg);
	ck_assert(cfg.gso && cfg.software_gso && !cfg.log_packets && !cfg.restore);
	ck_assert_int_eq(cfg.network, CONFIG_NETWORK_SANDBOX);
	ck_assert_uint_eq(cfg.num_network_channels, 1);
	ck_assert_int_eq(cfg.take, CONFIG_TAKE_MOVE);
	ck_assert_int_eq(cfg.role, CONFIG_ROLE_MONITOR);
	ck_assert_str_eq(cfg.state_dir, "/run/sluice");
	ck_assert_str_eq(cfg.id, "web");
	ck_assert_ptr_null(cfg.tap);
	config_done(&cfg);
}
END_TEST

START_TEST(booleans_stand_alone_or_take_true_or_false)
{
	struct sluice_config cfg;

	expect_accepted("--pid 7 --gso=false --gso", &cfg);
	ck_assert(cfg.gso);
	ck_assert_str_eq(cfg.id, "pid-7");
	config_done(&cfg);
	expect_accepted("--pid 7 --gso=false --log-packets=true", &cfg);
	ck_assert(!cfg.gso && cfg.log_packets);
	config_done(&cfg);
	expect_refused("--pid 7 --gso=yes", "--gso");
	expect_refused("--pid 7 --gso=", "--gso");
	/* A following word is not the value of a boolean. */
	expect_refused("--pid 7 --gso false", "'false' is not an option");
}
END_TEST

START_TEST(bad_values_are_refused_in_one_sentence)
{
	static const struct {
		const char *line, *part;
	} cases[] = {
		{ "--frob", "--frob is not known" },
		{ "--gs=true --pid 1", "--gs is not known" },
		{ "web", "'web' is not an option" },
		{ "-h", "'-h' is not an option" },
		{ "--", "'--' is not an option" },
		{ "--netns", "--netns=PATH" },
		{ "--netns=", "is empty" },
		{ "--pid=0", "from 1 to 4194304" },
		{ "--pid=4194305", "from 1 to 4194304" },
		{ "--pid=-1", "must be a number" },
		{ "--pid=1x", "must be a number" },
		{ "--pid=99999999999999999999", "must be a number" },
		{ "--pid=1 --num-network-channels=2", "only one channel" },
		{ "--pid=1 --num-network-channels=0", "from 1 to 1" },
		{ "--pid=1 --take=steal", "move or strip" },
		{ "--pid=1 --log-level=loud", "err, warning, notice, info or debug" },
		{ "--pid=1 --tap=a/b", "interface name" },
		{ "--pid=1 --tap=0123456789abcdef", "15 octets" },
		{ "--pid=1 --id=../x", "--id" },
		{ "--pid=1 --id=.x", "--id" },
		{ "--pid=1 --id=-x", "--id" },
		{ "--pid=1 --id=a/b", "--id" },
		{ "--pid=1 --pcap=/a\nb", "control character" },
	};

	expect_refused(cases[_i].line, cases[_i].part);
	ck_assert_uint_eq(sizeof(cases) / sizeof(cases[0]), 23);
}
END_TEST

START_TEST(bad_combinations_are_refused_in_one_sentence)
{
	static const struct {
		const char *line, *part;
	} cases[] = {
		{ "", "nothing to take" },
		{ "--gso", "nothing to take" },
		{ "--netns /run/netns/a --pid 1", "only one of them" },
		{ "--pid 1 --network=plugin", "not available yet" },
		{ "--restore", "--id" },
		{ "--restore --id a --netns /run/netns/a", "--netns does not go with --restore" },
		{ "--restore --id a --gso=false", "--gso does not go with --restore" },
		{ "--seccomp-listener /run/x.sock", "--id NAME" },
		{ "--netns /proc/17/ns/net", "--id NAME" },
	};

	expect_refused(cases[_i].line, cases[_i].part);
	ck_assert_uint_eq(sizeof(cases) / sizeof(cases[0]), 9);
}
END_TEST

START_TEST(good_combinations_are_accepted)
{
	static const char *const lines[] = {
		"--netns /run/netns/a --seccomp-listener /run/x.sock",
		"--pid 1 --seccomp-listener /run/x.sock",
		"--id a --seccomp-listener /run/x.sock",
		"--restore --id a --state-dir /tmp/x --log-level=debug",
		"--role=worker",
		"--role agent --log-level debug",
		"--help --netns a --pid 1",
		"--version",
		"--print-config --pid 1",
	};
	struct sluice_config cfg;

	expect_accepted(lines[_i], &cfg);
	config_done(&cfg);
	ck_assert_uint_eq(sizeof(lines) / sizeof(lines[0]), 9);
}
END_TEST

START_TEST(actions_are_not_printed)
{
	struct sluice_config cfg;
	char *text;
	size_t len;

	expect_accepted("--print-config --pid 1 --fail-at=x", &cfg);
	flags_print(&cfg, &text, &len);
	ck_assert_ptr_null(strstr(text, "print-config"));
	ck_assert_ptr_null(strstr(text, "help"));
	ck_assert_ptr_null(strstr(text, "role"));
	ck_assert_ptr_nonnull(strstr(text, "--fail-at=x\n"));
	free(text);
	config_done(&cfg);
}
END_TEST

START_TEST(restore_round_trip_is_the_identity)
{
	struct words w = { 0 };
	char *text;

	words_add(&w, "sluiced");
	words_add(&w, "--config=/dev/null");
	words_add(&w, "--restore");
	words_add(&w, "--id=a");
	words_add(&w, "--state-dir=/tmp/x");
	expect_identity(&w, &text);
	ck_assert_str_eq(text, "--id=a\n--state-dir=/tmp/x\n--log-level=notice\n"
			       "--config=/dev/null\n--restore=true\n");
	free(text);
	words_free(&w);
}
END_TEST

START_TEST(bad_files_are_refused_with_their_line)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "gso = true\nfrob = 1\n", "f line 2: option frob is not known" },
		{ "gso = maybe", "f line 1: option gso is 'maybe'" },
		{ "\n\n netns\n", "f line 3: option netns needs a value" },
		{ "role = worker\n", "command line only" },
		{ "config = /x\n", "command line only" },
		{ "= 3\n", "f line 1" },
		{ "gso = true # no comment here\n", "must be true or false" },
		{ "id = a b\n", "option id" },
	};
	struct sluice_config cfg;
	char err[CONFIG_ERR_MAX];
	int r;

	ck_assert_int_eq(config_init(&cfg), 0);
	r = config_parse_file(&cfg, cases[_i].text, strlen(cases[_i].text), "f", err, sizeof(err));
	ck_assert_int_eq(r, -EINVAL);
	ck_assert_msg(strstr(err, cases[_i].part), "%s", err);
	config_done(&cfg);
	ck_assert_uint_eq(sizeof(cases) / sizeof(cases[0]), 8);
}
END_TEST

START_TEST(a_named_file_must_exist)
{
	struct sluice_config cfg;
	char err[CONFIG_ERR_MAX];

	ck_assert_int_eq(parse_line("--pid 1 --config=/nonexistent/f", &cfg, err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err, "/nonexistent/f"));
}
END_TEST

/* Any octets at all: the parser says no or yes, and nothing else happens (the san build looks). */
START_TEST(random_files_do_no_harm)
{
	static const char alphabet[] = "gso=true\n pid#id-state\0dir/\t\r\x80\xff"
				       "netns1";
	char text[200];
	char err[CONFIG_ERR_MAX];

	seed = 3;
	for (int round = 0; round < ROUND_CNT; round++) {
		size_t len = rnd(sizeof(text));
		struct sluice_config cfg;
		int r;

		for (size_t i = 0; i < len; i++)
			text[i] = alphabet[rnd(sizeof(alphabet))];
		ck_assert_int_eq(config_init(&cfg), 0);
		r = config_parse_file(&cfg, text, len, "f", err, sizeof(err));
		ck_assert(r == 0 || r == -EINVAL);
		config_done(&cfg);
	}
}
END_TEST

START_TEST(help_names_every_option_that_is_not_hidden)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	config_print_help(f);
	(void)fclose(f);
	for (size_t i = 0; i < config_row_cnt; i++) {
		char name[64];
		bool is_hidden = config_rows[i].flags & OPT_F_HIDDEN;

		(void)snprintf(name, sizeof(name), "  --%s", config_rows[i].name);
		ck_assert_msg(!strstr(text, name) == is_hidden, "%s", name);
	}
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert_msg(strlen(line) <= 80, "too long: %s", line);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("options");
	TCase *tc = tcase_create("options");
	SRunner *runner = srunner_create(s);
	int failed_cnt;

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, flags_to_configuration_to_flags_is_the_identity);
	tcase_add_test(tc, file_and_flags_give_the_same_configuration);
	tcase_add_test(tc, flags_override_the_file);
	tcase_add_test(tc, an_option_that_may_be_given_again_keeps_all_values);
	tcase_add_test(tc, defaults_are_those_of_the_design);
	tcase_add_test(tc, booleans_stand_alone_or_take_true_or_false);
	tcase_add_loop_test(tc, bad_values_are_refused_in_one_sentence, 0, 23);
	tcase_add_loop_test(tc, bad_combinations_are_refused_in_one_sentence, 0, 9);
	tcase_add_loop_test(tc, good_combinations_are_accepted, 0, 9);
	tcase_add_loop_test(tc, bad_files_are_refused_with_their_line, 0, 8);
	tcase_add_test(tc, actions_are_not_printed);
	tcase_add_test(tc, restore_round_trip_is_the_identity);
	tcase_add_test(tc, a_named_file_must_exist);
	tcase_add_test(tc, random_files_do_no_harm);
	tcase_add_test(tc, help_names_every_option_that_is_not_hidden);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed_cnt = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed_cnt ? 1 : 0;
}
