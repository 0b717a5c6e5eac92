/* SPDX-License-Identifier: Apache-2.0 */
/* test_vec.c - arrays that grow */
#include <stdlib.h>

#include "base/vec.h"
#include "suites.h"

START_TEST(vec_keeps_what_is_in_it_while_it_grows)
{
	uint32_t *v = NULL, cap = 0, growths = 0;

	for (uint32_t cnt = 0; cnt < 1000; cnt++) {
		uint32_t before = cap;

		v = vec_room(v, cnt, &cap, sizeof(*v));
		ck_assert_ptr_nonnull(v);
		ck_assert_uint_gt(cap, cnt);
		growths += cap != before;
		v[cnt] = cnt * 3;
	}
	for (uint32_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(v[i], i * 3);
	ck_assert_uint_eq(cap, 1024);
	ck_assert_uint_eq(growths, 7); /* 16, 32, ... 1024 */
	free(v);
}
END_TEST

START_TEST(vec_with_room_stays_where_it_is)
{
	uint32_t cap = 0;
	char *v = vec_room(NULL, 0, &cap, 1);

	ck_assert_ptr_nonnull(v);
	ck_assert_ptr_eq(vec_room(v, cap - 1, &cap, 1), v);
	free(v);
}
END_TEST

START_TEST(vec_insert_moves_what_is_behind)
{
	static const uint32_t order[] = { 1, 3, 5 };
	uint32_t *v = NULL, cnt = 0, cap = 0;

	for (uint32_t i = 0; i < 3; i++) {
		v = vec_insert(v, &cnt, &cap, sizeof(*v), cnt, &order[i]);
		ck_assert_ptr_nonnull(v);
	}
	v = vec_insert(v, &cnt, &cap, sizeof(*v), 0, &(uint32_t){ 0 });
	ck_assert_ptr_nonnull(v);
	v = vec_insert(v, &cnt, &cap, sizeof(*v), 2, &(uint32_t){ 2 });
	ck_assert_ptr_nonnull(v);
	ck_assert_uint_eq(cnt, 5);
	ck_assert_mem_eq(v, ((uint32_t[]){ 0, 1, 2, 3, 5 }), 5 * sizeof(*v));
	free(v);
}
END_TEST

Suite *vec_suite(void)
{
	Suite *s = suite_create("vec");
	TCase *tc = tcase_create("grow");

	tcase_add_test(tc, vec_keeps_what_is_in_it_while_it_grows);
	tcase_add_test(tc, vec_with_room_stays_where_it_is);
	tcase_add_test(tc, vec_insert_moves_what_is_behind);
	suite_add_tcase(s, tc);
	return s;
}
