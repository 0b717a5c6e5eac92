/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_journal - the state file: written, read again, refused when damaged, locked against a second
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/netconf/journal.h"

static char state_dir[64];

static void dir_make(void)
{
	log_init("test", 0); /* refusals are what is wanted here */
	(void)snprintf(state_dir, sizeof(state_dir), "/tmp/sl-journal-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(state_dir));
}

static void dir_remove(void)
{
	static const char *const files[] = { "journal.json", "journal.json.new", "lock", "" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "%s/x/%s", state_dir, files[i]);
		(void)remove(path);
	}
	(void)rmdir(state_dir);
}

static void raw_add(struct nlset *set, int type, size_t hdr_len)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, 0);
	uint8_t hdr[64] = { 0 };

	ck_assert_int_eq(nlmsg_append(msg, hdr, hdr_len, NLMSG_ALIGNTO), 0);
	ck_assert_int_eq(nlset_append(set, nlmsg_hdr(msg)), 0);
	nlmsg_free(msg);
}

static void record_make(struct journal_record *rec)
{
	struct plan_link *l;
	struct sysctl_value *v;

	memset(rec, 0, sizeof(*rec));
	(void)snprintf(rec->netns_path, sizeof(rec->netns_path), "/run/netns/web");
	rec->pid = 42;
	rec->snap.id = (struct netns_id){ 3, UINT64_MAX, 1ull << 63 };
	rec->snap.plan.options.channel_cnt = 1;
	l = plan_add_link(&rec->snap.plan);
	(void)snprintf(l->name, sizeof(l->name), "eth0");
	l->ifindex = 7;
	rec->how[0] = TAKE_MOVE;
	rec->has_ingress[0] = 1;
	v = snapshot_add_sysctl(&rec->snap);
	(void)snprintf(v->path, sizeof(v->path), "ipv4/conf/eth0/rp_filter");
	(void)snprintf(v->value, sizeof(v->value), "2");
	raw_add(&rec->snap.raw[RAW_LINKS], RTM_NEWLINK, sizeof(struct ifinfomsg));
	raw_add(&rec->snap.raw[RAW_ROUTES], RTM_NEWROUTE, sizeof(struct rtmsg));
	raw_add(&rec->snap.raw[RAW_ROUTES], RTM_NEWROUTE, sizeof(struct rtmsg));
}

START_TEST(record_survives_the_file)
{
	struct journal_record before, after;
	struct journal j;

	ck_assert_int_eq(journal_open(&j, state_dir, "x"), 0);
	ck_assert_int_eq(journal_exists(&j), 0);
	ck_assert_int_eq(journal_load(&j, &after), -ENOENT);
	record_make(&before);
	ck_assert_int_eq(journal_begin(&j, &before), 0);
	ck_assert_int_eq(journal_step(&j, "move eth0"), 0);
	ck_assert_int_eq(journal_step(&j, "a \"quoted\" step"), 0);
	journal_close(&j);

	ck_assert_int_eq(journal_open(&j, state_dir, "x"), 0);
	ck_assert_int_eq(journal_exists(&j), 1);
	ck_assert_int_eq(journal_load(&j, &after), 0);
	ck_assert_str_eq(after.netns_path, before.netns_path);
	ck_assert_int_eq(after.pid, 42);
	ck_assert_uint_eq(after.snap.id.ino, UINT64_MAX);
	ck_assert_uint_eq(after.snap.id.cookie, 1ull << 63);
	ck_assert_int_eq(after.how[0], TAKE_MOVE);
	ck_assert_int_eq(after.has_ingress[0], 1);
	ck_assert_uint_eq(after.snap.sysctl_cnt, 1);
	ck_assert_str_eq(after.snap.sysctls[0].path, "ipv4/conf/eth0/rp_filter");
	for (int t = 0; t < RAW_TABLE_COUNT; t++) {
		ck_assert_uint_eq(after.snap.raw[t].cnt, before.snap.raw[t].cnt);
		ck_assert_uint_eq(after.snap.raw[t].len, before.snap.raw[t].len);
	}
	ck_assert_int_eq(journal_remove(&j), 0);
	ck_assert_int_eq(journal_exists(&j), 0);
	journal_close(&j);
	journal_record_done(&before);
	journal_record_done(&after);
}
END_TEST

START_TEST(second_daemon_is_locked_out)
{
	struct journal a, b;

	ck_assert_int_eq(journal_open(&a, state_dir, "x"), 0);
	ck_assert_int_eq(journal_open(&b, state_dir, "x"), -EBUSY);
	journal_close(&a);
	ck_assert_int_eq(journal_open(&b, state_dir, "x"), 0);
	journal_close(&b);
}
END_TEST

/* The text of a journal with two steps. */
static char *journal_text(size_t *ret_len)
{
	struct journal_record rec;
	struct journal j;
	struct stat st;
	char path[128];
	char *text;
	int fd;

	ck_assert_int_eq(journal_open(&j, state_dir, "x"), 0);
	record_make(&rec);
	ck_assert_int_eq(journal_begin(&j, &rec), 0);
	ck_assert_int_eq(journal_step(&j, "move eth0"), 0);
	journal_record_done(&rec);
	fd = open(journal_path(&j, "journal.json", path, sizeof(path)), O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	text = malloc((size_t)st.st_size + 1);
	ck_assert_int_eq(read(fd, text, (size_t)st.st_size), st.st_size);
	text[st.st_size] = '\0';
	close(fd);
	journal_close(&j);
	*ret_len = (size_t)st.st_size;
	return text;
}

static int parse(const char *text, size_t len)
{
	struct journal_record rec;
	char why[160] = "";
	int r = journal_record_parse(text, len, &rec, why, sizeof(why));

	if (r < 0)
		ck_assert_uint_ne(strlen(why), 0);
	else
		journal_record_done(&rec);
	return r;
}

START_TEST(damaged_journal_is_refused_or_sane)
{
	size_t len;
	char *text = journal_text(&len);

	ck_assert_int_eq(parse(text, len), 0);
	/* The newline at the end is no part of the value, so a journal without it is whole. */
	for (size_t i = 0; i + 1 < len; i++)
		ck_assert_int_lt(parse(text, i), 0);
	for (size_t i = 0; i < len; i++) {
		char was = text[i];

		for (const char *c = "\"{}[]:,0/.-\x01"; *c; c++) {
			text[i] = *c;
			(void)parse(text, len);
		}
		text[i] = was;
	}
	free(text);
}
END_TEST

static const struct {
	const char *from, *to;
} rows[] = {
	{ "\"version\":1,\"netns\"", "\"version\":2,\"netns\"" },
	{ "\"pid\":42", "\"pid\":-1" },
	{ "ipv4/conf/eth0/rp_filter", "ipv4/conf/../../../x/y" },
	{ "ipv4/conf/eth0/rp_filter", "core/../../kernel/core_pattern" },
	{ "ipv4/conf/eth0/rp_filter", "unix/max_dgram_qlen" },
	{ "\"how\":[1]", "\"how\":[3]" },
	{ "\"how\":[1]", "\"how\":[1,1]" },
	{ "\"how\":[1]", "\"how\":[]" },
	{ "\"links\":\"2000", "\"links\":\"ffff" }, /* a message longer than the table */
	{ "\"links\":\"2000", "\"links\":\"0400" }, /* shorter than its own header */
	{ "\"links\":\"20", "\"links\":\"2" },      /* half an octet */
	{ "\"raw\"", "\"roh\"" },
};

START_TEST(each_part_is_held_against_its_bounds)
{
	size_t len;
	char *text = journal_text(&len);
	char *at = strstr(text, rows[_i].from);
	char damaged[16384];
	int n;

	ck_assert_msg(at != NULL, "%s is not in %s", rows[_i].from, text);
	n = snprintf(damaged, sizeof(damaged), "%.*s%s%s", (int)(at - text), text, rows[_i].to,
		     at + strlen(rows[_i].from));
	ck_assert_int_lt(n, (int)sizeof(damaged));
	ck_assert_msg(parse(damaged, (size_t)n) < 0, "%s was accepted", rows[_i].to);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("journal");
	TCase *file = tcase_create("file");
	int failed;

	tcase_set_timeout(file, 60);
	tcase_add_checked_fixture(file, dir_make, dir_remove);
	tcase_add_test(file, record_survives_the_file);
	tcase_add_test(file, second_daemon_is_locked_out);
	tcase_add_test(file, damaged_journal_is_refused_or_sane);
	tcase_add_loop_test(file, each_part_is_held_against_its_bounds, 0,
			    (int)(sizeof(rows) / sizeof(rows[0])));
	suite_add_tcase(suite, file);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
