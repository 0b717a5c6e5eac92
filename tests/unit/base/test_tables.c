/* SPDX-License-Identifier: Apache-2.0 */
/* test_tables.c - base/drop.def and base/stats.def: every row has a name of its own and a text */
#include <ctype.h>
#include <string.h>

#include "base/drop.h"
#include "base/stats.h"
#include "suites.h"

static void assert_name(const char *name, const char *text)
{
	ck_assert_ptr_nonnull(name);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_gt(strlen(text), 0);
	for (const char *c = name; *c; c++)
		ck_assert(isupper((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_');
}

START_TEST(every_drop_has_a_name_a_text_and_a_clause)
{
	ck_assert_int_eq(DROP_NONE, 0);
	for (int i = 0; i < DROP_COUNT; i++) {
		assert_name(drop_name((enum drop)i), drop_text((enum drop)i));
		ck_assert_ptr_nonnull(drop_clause((enum drop)i));
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(drop_name((enum drop)i), drop_name((enum drop)k));
	}
	ck_assert_str_eq(drop_name(DROP_TCP_PAWS), "TCP_PAWS");
	ck_assert_str_eq(drop_clause(DROP_TCP_PAWS), "RFC 7323 5.3 R1");
}
END_TEST

START_TEST(every_counter_has_a_name_and_a_text)
{
	for (int i = 0; i < STAT_COUNT; i++) {
		assert_name(stat_name((enum stat)i), stat_text((enum stat)i));
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(stat_name((enum stat)i), stat_name((enum stat)k));
	}
	ck_assert_str_eq(stat_name(STAT_TCP_RTOS), "TCP_RTOS");
}
END_TEST

START_TEST(counting_moves_the_counter_and_no_other)
{
	struct ns_stats s = { 0 };
	uint64_t sum = 0;

	stat_inc(&s, STAT_TCP_RTOS);
	stat_add(&s, STAT_TCP_RTOS, 4);
	drop_count(&s, DROP_TCP_PAWS);
	ck_assert_uint_eq(s.stat[STAT_TCP_RTOS], 5);
	ck_assert_uint_eq(s.drop[DROP_TCP_PAWS], 1);
	for (int i = 0; i < STAT_COUNT; i++)
		sum += s.stat[i];
	for (int i = 0; i < DROP_COUNT; i++)
		sum += s.drop[i];
	ck_assert_uint_eq(sum, 6);
}
END_TEST

Suite *tables_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("tables", NULL, NULL, &s);

	tcase_add_test(t, every_drop_has_a_name_a_text_and_a_clause);
	tcase_add_test(t, every_counter_has_a_name_and_a_text);
	tcase_add_test(t, counting_moves_the_counter_and_no_other);
	return s;
}
