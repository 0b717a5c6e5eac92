/* SPDX-License-Identifier: Apache-2.0 */
/* test_knobs.c - sysctls as text and back */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/monitor/knobs.h"

static struct knobs k;

static void setup(void)
{
	knobs_init(&k);
}

static const char *text_of(enum ns_knob row)
{
	static char buf[KNOBS_VALUE_MAX];

	knobs_text(&k, knobs_first_row((int)row), buf, sizeof(buf));
	return buf;
}

START_TEST(values_are_what_the_stack_begins_with)
{
	ck_assert_int_eq(k.value[NS_KNOB_tcp_sack], 1);
	ck_assert_str_eq(text_of(NS_KNOB_tcp_fin_timeout), "60");
	ck_assert_str_eq(text_of(NS_KNOB_port_last), "32768 60999");
	ck_assert_str_eq(text_of(NS_KNOB_tcp_rmem_max), "- 131072 8388608");
	ck_assert_str_eq(text_of(NS_KNOB_tcp_congestion_control), "cubic");
}
END_TEST

START_TEST(words_go_to_their_rows)
{
	ck_assert_int_eq(knobs_set(&k, "net.ipv4.tcp_rmem", "4096\t200000\t33554432"), 0);
	ck_assert_int_eq(k.value[NS_KNOB_tcp_rmem_default], 200000);
	ck_assert_int_eq(k.value[NS_KNOB_tcp_rmem_max], 33554432);
	ck_assert_int_eq(knobs_set(&k, "net.ipv4.ip_local_port_range", " 40000  40010 \n"), 0);
	ck_assert_str_eq(text_of(NS_KNOB_port_first), "40000 40010");
	ck_assert_int_eq(knobs_set(&k, "net.core.somaxconn", "17"), 0);
	ck_assert_int_eq(k.value[NS_KNOB_somaxconn], 17);
	ck_assert_int_eq(knobs_set(&k, "net.ipv4.tcp_congestion_control", "reno"), 0);
	ck_assert_int_eq(k.value[NS_KNOB_tcp_congestion_control], NS_CC_RENO);
}
END_TEST

static const struct {
	const char *sysctl, *value;
	int err;
} bad[] = {
	{ "net.ipv4.tcp_no_such", "1", -ENOENT },
	{ "net.ipv4.port_first", "1", -ENOENT }, /* a row's name is no sysctl */
	{ "tcp_sack", "1", -ENOENT },
	{ "net.ipv4.tcp_sack", "", -EINVAL },
	{ "net.ipv4.tcp_sack", "  ", -EINVAL },
	{ "net.ipv4.tcp_sack", "yes", -EINVAL },
	{ "net.ipv4.tcp_sack", "1x", -EINVAL },
	{ "net.ipv4.tcp_sack", "2", -ERANGE },
	{ "net.ipv4.tcp_sack", "-1", -ERANGE },
	{ "net.ipv4.tcp_sack", "99999999999999999999999", -EINVAL },
	{ "net.ipv4.tcp_rmem", "4096 131072", -EINVAL },       /* a word is missing */
	{ "net.ipv4.tcp_rmem", "4096 131072 1", -ERANGE },     /* the last is too small */
	{ "net.ipv4.tcp_rmem", "1 2 3 4 5 6 7 8 9", -EINVAL }, /* more words than any has */
	{ "net.ipv4.tcp_congestion_control", "vegas", -ERANGE },
	{ "net.ipv4.tcp_congestion_control", "0", -ERANGE },
	{ "net.ipv4.tcp_fastopen_key", "00000001-00000002-00000003", -EINVAL },
	{ "net.ipv4.tcp_fastopen_key", "00000001-00000002-00000003-00000004-5", -EINVAL },
	{ "net.ipv4.tcp_fastopen_key", "00000001-00000002-00000003-00000004,", -EINVAL },
	{ "net.ipv4.tcp_fastopen_key", "1-2-3-4,1-2-3-x", -EINVAL },
	{ "net.ipv4.tcp_fastopen_key", "1-2-3-4,1-2-3-4,1-2-3-4", -EINVAL },
	{ "net.ipv4.tcp_fastopen_key", "1-2-3-0x4", -EINVAL },
	{ "net.ipv4.tcp_fastopen_key", "1-2-3-123456789", -EINVAL },
	{ "net.ipv4.tcp_fastopen_key", "1-2-3- 4", -EINVAL },
};

START_TEST(bad_values_change_nothing)
{
	struct knobs before = k;

	ck_assert_int_eq(knobs_set(&k, bad[_i].sysctl, bad[_i].value), bad[_i].err);
	ck_assert_int_eq(memcmp(&before, &k, sizeof(k)), 0);
}
END_TEST

/* linux proc_tcp_fastopen_key(): zeros when there is none, numbers that are little-endian in memory */
START_TEST(fastopen_keys_are_read_and_shown_as_linux_does)
{
	static const uint8_t octets[] = { 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12 };
	static const char both[] = "00010203-04050607-08090a0b-0c0d0e0f,00000001-00000002-00000003-"
				   "00000004";
	static const char none[] = "00000000-00000000-00000000-00000000";
	const char *name = knobs_sysctl(KNOBS_FASTOPEN_KEY);
	char text[KNOBS_VALUE_MAX];

	knobs_text(&k, KNOBS_FASTOPEN_KEY, text, sizeof(text));
	ck_assert_str_eq(text, none);
	ck_assert_int_eq(knobs_set(&k, name, none), 0);
	ck_assert_uint_eq(k.fastopen_keys_len, 0);
	ck_assert_int_eq(knobs_set(&k, name, "00010203-4050607-8090A0B-0c0d0e0f\n"), 0);
	ck_assert_uint_eq(k.fastopen_keys_len, 16);
	ck_assert_mem_eq(k.fastopen_keys, octets, 16);
	ck_assert_int_eq(knobs_set(&k, name, both), 0);
	ck_assert_uint_eq(k.fastopen_keys_len, 32);
	ck_assert_mem_eq(k.fastopen_keys, octets, 16);
	ck_assert_uint_eq(k.fastopen_keys[16], 1);
	knobs_text(&k, KNOBS_FASTOPEN_KEY, text, sizeof(text));
	ck_assert_str_eq(text, both);
	ck_assert_int_eq(knobs_first_row(KNOBS_FASTOPEN_KEY), KNOBS_FASTOPEN_KEY);
}
END_TEST

START_TEST(a_value_longer_than_any_is_refused)
{
	char value[4 * KNOBS_VALUE_MAX];

	memset(value, '1', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	ck_assert_int_eq(knobs_set(&k, "net.ipv4.tcp_sack", value), -EINVAL);
}
END_TEST

START_TEST(a_sysctl_is_found_once_among_the_rows)
{
	int cnt = 0;

	for (int i = 0; i < NS_KNOB_COUNT; i++) {
		cnt += knobs_first_row(i) == i;
		ck_assert_int_le(knobs_first_row(i), i);
	}
	ck_assert_int_lt(cnt, NS_KNOB_COUNT);
	ck_assert_int_eq(knobs_first_row(NS_KNOB_tcp_rmem_max), NS_KNOB_tcp_rmem_default);
}
END_TEST

START_TEST(text_reads_back_as_what_it_was)
{
	char text[KNOBS_VALUE_MAX];
	struct knobs other;

	knobs_init(&other);
	ck_assert_int_eq(knobs_set(&k, "net.ipv4.tcp_wmem", "4096 16384 5000000"), 0);
	ck_assert_int_eq(knobs_set(&k, "net.ipv4.tcp_congestion_control", "reno"), 0);
	for (int i = 0; i < NS_KNOB_COUNT; i++) {
		if (knobs_first_row(i) != i)
			continue;
		knobs_text(&k, i, text, sizeof(text));
		ck_assert_int_eq(knobs_set(&other, ns_knob_info((enum ns_knob)i)->sysctl, text), 0);
	}
	ck_assert_int_eq(memcmp(&other, &k, sizeof(k)), 0);
}
END_TEST

START_TEST(paths_stay_below_net)
{
	static const char *const names[] = {
		"kernel.core_pattern", "net.",         "net", "net..ipv4.x",
		"net.ipv4/../x",       "net.ipv4.a b", ""
	};
	char buf[KNOBS_NAME_MAX];

	ck_assert_int_eq(knobs_path("net.ipv4.route.min_pmtu", buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, "ipv4/route/min_pmtu");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_int_eq(knobs_path(names[i], buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(knobs_path("net.ipv4.tcp_sack", buf, 8), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("knobs");
	TCase *tc = tcase_create("knobs");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, values_are_what_the_stack_begins_with);
	tcase_add_test(tc, words_go_to_their_rows);
	tcase_add_loop_test(tc, bad_values_change_nothing, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, fastopen_keys_are_read_and_shown_as_linux_does);
	tcase_add_test(tc, a_value_longer_than_any_is_refused);
	tcase_add_test(tc, a_sysctl_is_found_once_among_the_rows);
	tcase_add_test(tc, text_reads_back_as_what_it_was);
	tcase_add_test(tc, paths_stay_below_net);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
