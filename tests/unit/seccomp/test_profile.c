/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_profile.c - the tables of seccomp/ and the filters made from them, without loading any
 *
 * The golden files show each filter as libseccomp's pseudo code, so that a changed row is a line of a
 * diff that a reviewer reads. After a change that is meant, SLUICE_UPDATE_GOLDEN=1 test_profile
 * writes them anew.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "seccomp/profile.h"

static const int taps[] = { 7, 9 };

/* What is compared: each profile, the worker with and without TAP descriptors. */
static const struct {
	const char *golden;
	enum profile profile;
	struct profile_params params;
} filters[] = {
	{ "monitor.pfc", PROFILE_MONITOR, { NULL, 0 } },
	{ "agent.pfc", PROFILE_AGENT, { NULL, 0 } },
	{ "worker.pfc", PROFILE_WORKER, { NULL, 0 } },
	{ "worker-tap.pfc", PROFILE_WORKER, { taps, 2 } },
};

#define FILTER_CNT (int)(sizeof(filters) / sizeof(filters[0]))

/* The text of a file from its start, in memory the caller frees. */
static char *text_read(FILE *f)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	char buf[4096];
	size_t n;

	ck_assert_ptr_nonnull(out);
	rewind(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		ck_assert_uint_eq(fwrite(buf, 1, n, out), n);
	(void)fclose(out);
	return text;
}

START_TEST(filter_is_the_one_that_was_reviewed)
{
	char path[512];
	char *got, *want;
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(profile_export_pfc(filters[_i].profile, &filters[_i].params, fileno(f)),
			 0);
	got = text_read(f);
	(void)fclose(f);
	(void)snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, filters[_i].golden);
	if (getenv("SLUICE_UPDATE_GOLDEN")) {
		f = fopen(path, "we");
		ck_assert_ptr_nonnull(f);
		ck_assert_int_ge(fputs(got, f), 0);
		(void)fclose(f);
		free(got);
		return;
	}
	f = fopen(path, "re");
	ck_assert_msg(f, "no %s; SLUICE_UPDATE_GOLDEN=1 makes it", path);
	want = text_read(f);
	(void)fclose(f);
	for (char *g = got, *w = want; *g || *w; g++, w++)
		ck_assert_msg(*g == *w,
			      "%s differs after '%.60s'; git diff after "
			      "SLUICE_UPDATE_GOLDEN=1 shows all",
			      filters[_i].golden, w - (w - want > 60 ? 60 : w - want));
	free(got);
	free(want);
}
END_TEST

START_TEST(every_row_has_a_known_call_and_a_reason)
{
	size_t cnt;
	const struct profile_row *rows = profile_rows((enum profile)_i, &cnt);

	ck_assert_uint_gt(cnt, 20);
	for (size_t i = 0; i < cnt; i++) {
		ck_assert_msg(seccomp_syscall_resolve_name(rows[i].name) == rows[i].nr, "%s",
			      rows[i].name);
		ck_assert_msg(strlen(rows[i].reason) >= 5, "%s has no reason", rows[i].name);
		ck_assert_uint_le(rows[i].arg_cnt, PROFILE_ARG_MAX);
	}
}
END_TEST

/* Two rows that a call fulfils both must say the same; the order of rules is not ours to choose. */
START_TEST(no_call_is_both_allowed_and_refused)
{
	size_t cnt;
	const struct profile_row *rows = profile_rows((enum profile)_i, &cnt);

	for (size_t i = 0; i < cnt; i++)
		for (size_t j = 0; j < i; j++) {
			bool differ = rows[i].action != rows[j].action;

			if (rows[i].nr != rows[j].nr)
				continue;
			ck_assert_msg(rows[i].arg_cnt && rows[j].arg_cnt,
				      "%s: one of the rows has no test and covers the other",
				      rows[i].name);
			ck_assert_msg(!differ ||
					      (rows[i].args[0].arg == rows[j].args[0].arg &&
					       rows[i].args[0].datum_a != rows[j].args[0].datum_a),
				      "%s: rows of different action overlap", rows[i].name);
		}
}
END_TEST

/* By name, whatever their arguments: none of these may ever get a row. */
START_TEST(worker_table_lacks_every_other_way_out)
{
	static const char *const forbidden[] = {
		"sendto",
		"sendmsg",
		"write",
		"pwrite64",
		"pwritev",
		"pwritev2",
		"splice",
		"tee",
		"vmsplice",
		"sendfile",
		"copy_file_range",
		"connect",
		"bind",
		"socket",
		"socketpair",
		"accept",
		"accept4",
		"listen",
		"open",
		"openat",
		"openat2",
		"creat",
		"execve",
		"execveat",
		"ioctl",
		"fcntl",
		"io_uring_setup",
		"io_uring_enter",
		"io_uring_register",
		"io_setup",
		"io_submit",
		"mprotect",
		"pkey_mprotect",
		"shmat",
		"remap_file_pages",
		"memfd_create",
		"clone",
		"clone3",
		"fork",
		"vfork",
		"ptrace",
		"process_vm_readv",
		"process_vm_writev",
		"pidfd_open",
		"pidfd_getfd",
		"kill",
		"tgkill",
		"unshare",
		"setns",
		"mount",
		"prctl",
		"seccomp",
		"bpf",
		"setsockopt",
		"dup",
		"dup2",
		"dup3",
	};
	size_t cnt;
	const struct profile_row *rows = profile_rows(PROFILE_WORKER, &cnt);

	for (size_t i = 0; i < cnt; i++)
		for (size_t j = 0; j < sizeof(forbidden) / sizeof(forbidden[0]); j++)
			ck_assert_str_ne(rows[i].name, forbidden[j]);
}
END_TEST

START_TEST(bad_parameters_are_refused)
{
	static const int negative[] = { 7, -1 };
	static const int many[PROFILE_TAP_MAX + 1];
	static const int same[] = { 7, 7 };
	struct profile_params p = { negative, 2 };
	int fd = memfd_create("filter", MFD_CLOEXEC);

	ck_assert_int_eq(profile_export_bpf(PROFILE_WORKER, &p, fd), -EINVAL);
	p = (struct profile_params){ many, PROFILE_TAP_MAX + 1 };
	ck_assert_int_eq(profile_export_bpf(PROFILE_WORKER, &p, fd), -EINVAL);
	p = (struct profile_params){ same, 2 };
	ck_assert_int_eq(profile_export_bpf(PROFILE_WORKER, &p, fd), 0);
	(void)close(fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("profile");
	TCase *tc = tcase_create("profile");
	SRunner *runner = srunner_create(s);
	int failed_cnt;

#if defined(__x86_64__)
	tcase_add_loop_test(tc, filter_is_the_one_that_was_reviewed, 0, FILTER_CNT);
#endif
	tcase_add_loop_test(tc, every_row_has_a_known_call_and_a_reason, 0, PROFILE_COUNT);
	tcase_add_loop_test(tc, no_call_is_both_allowed_and_refused, 0, PROFILE_COUNT);
	tcase_add_test(tc, worker_table_lacks_every_other_way_out);
	tcase_add_test(tc, bad_parameters_are_refused);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed_cnt = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed_cnt ? 1 : 0;
}
