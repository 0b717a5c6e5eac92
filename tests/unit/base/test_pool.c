/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool.c - base/pool.c: the cap, what is kept, what is a leak */
#include <string.h>

#include "base/pool.h"
#include "suites.h"

enum {
	CAP = 5,
	KEEP = 2,
	SIZE = 48,
};

static struct pool pool;

static void setup(void)
{
	pool_init(&pool, "test", SIZE, CAP, KEEP);
}

static void teardown(void)
{
	pool_done(&pool);
}

START_TEST(get_beyond_the_cap_is_refused_and_counted)
{
	void *obj[CAP];

	for (int i = 0; i < CAP; i++) {
		obj[i] = pool_get(&pool);
		ck_assert_ptr_nonnull(obj[i]);
		memset(obj[i], i, SIZE);
	}
	ck_assert_ptr_null(pool_get(&pool));
	ck_assert_ptr_null(pool_get(&pool));
	ck_assert_uint_eq(pool.refused, 2);
	ck_assert_uint_eq(pool.out_cnt, CAP);
	for (int i = 0; i < CAP; i++)
		for (int k = 0; k < SIZE; k++)
			ck_assert_uint_eq(((const uint8_t *)obj[i])[k], i);
	pool_put(&pool, obj[0]);
	obj[0] = pool_get(&pool);
	ck_assert_ptr_nonnull(obj[0]);
	for (int i = 0; i < CAP; i++)
		pool_put(&pool, obj[i]);
	ck_assert_uint_eq(pool.out_cnt, 0);
	ck_assert_uint_eq(pool.peak_cnt, CAP);
}
END_TEST

START_TEST(freed_objects_are_kept_up_to_keep_cnt_and_reused)
{
	void *obj[CAP];

	for (int i = 0; i < CAP; i++)
		obj[i] = pool_get(&pool);
	for (int i = 0; i < CAP; i++)
		pool_put(&pool, obj[i]);
	/* a build with AddressSanitizer keeps none, so that it sees a use after pool_put() */
	ck_assert_uint_eq(pool.free_cnt, pool.keep_cnt);
	ck_assert(pool.keep_cnt == KEEP || pool.keep_cnt == 0);
	if (pool.keep_cnt == KEEP) {
		void *again = pool_get(&pool);

		ck_assert_ptr_eq(again, obj[KEEP - 1]);
		ck_assert_uint_eq(pool.free_cnt, KEEP - 1);
		pool_put(&pool, again);
	}
}
END_TEST

START_TEST(object_smaller_than_a_pointer_is_made_to_hold_one)
{
	struct pool tiny;
	void *a, *b;

	pool_init(&tiny, "tiny", 1, 2, 2);
	ck_assert_uint_ge(tiny.size, sizeof(void *));
	a = pool_get(&tiny);
	b = pool_get(&tiny);
	pool_put(&tiny, a);
	pool_put(&tiny, b);
	a = pool_get(&tiny);
	b = pool_get(&tiny);
	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_nonnull(b);
	ck_assert_ptr_ne(a, b);
	pool_put(&tiny, a);
	pool_put(&tiny, b);
	pool_done(&tiny);
}
END_TEST

START_TEST(put_of_null_is_fine)
{
	pool_put(&pool, NULL);
	ck_assert_uint_eq(pool.out_cnt, 0);
}
END_TEST

START_TEST(done_with_an_object_out_traps)
{
	ck_assert_ptr_nonnull(pool_get(&pool));
	pool_done(&pool);
}
END_TEST

START_TEST(put_of_more_than_was_got_traps)
{
	void *obj = pool_get(&pool);
	uint8_t stranger[SIZE];

	pool_put(&pool, obj);
	pool_put(&pool, stranger);
}
END_TEST

START_TEST(trim_gives_back_what_is_kept_and_nothing_that_is_out)
{
	void *a = pool_get(&pool), *b = pool_get(&pool), *c = pool_get(&pool);

	memset(a, 1, SIZE);
	pool_put(&pool, b);
	pool_put(&pool, c);
	pool_trim(&pool, 1);
	ck_assert_uint_le(pool.free_cnt, 1);
	pool_trim(&pool, 0);
	ck_assert_uint_eq(pool.free_cnt, 0);
	ck_assert_uint_eq(pool.out_cnt, 1);
	b = pool_get(&pool);
	ck_assert_ptr_nonnull(b);
	ck_assert_uint_eq(((const uint8_t *)a)[SIZE - 1], 1);
	pool_put(&pool, b);
	pool_put(&pool, a);
}
END_TEST

Suite *pool_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("pool", setup, teardown, &s);

	tcase_add_test(t, get_beyond_the_cap_is_refused_and_counted);
	tcase_add_test(t, freed_objects_are_kept_up_to_keep_cnt_and_reused);
	tcase_add_test(t, object_smaller_than_a_pointer_is_made_to_hold_one);
	tcase_add_test(t, put_of_null_is_fine);
	tcase_add_test_raise_signal(t, done_with_an_object_out_traps, UNIT_TRAP);
	tcase_add_test_raise_signal(t, put_of_more_than_was_got_traps, UNIT_TRAP);
	tcase_add_test(t, trim_gives_back_what_is_kept_and_nothing_that_is_out);
	return s;
}
