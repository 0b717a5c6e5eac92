/* SPDX-License-Identifier: Apache-2.0 */
/* test_chunk.c - buf/chunk.c: references and caps */
#include "buf/chunk.h"
#include "suites.h"

static struct chunk_pools chunks;

static void setup(void)
{
	chunk_pools_init(&chunks, 2, 1, 1);
}

static void teardown(void)
{
	chunk_pools_done(&chunks);
}

START_TEST(chunk_lives_until_its_last_reference_goes)
{
	struct chunk *c = chunk_new(&chunks, CHUNK_SMALL);

	ck_assert_uint_eq(c->size, CHUNK_SMALL);
	ck_assert_ptr_eq(chunk_ref(c), c);
	ck_assert_ptr_eq(chunk_ref(c), c);
	chunk_unref(c);
	chunk_unref(c);
	ck_assert_uint_eq(chunks.small.out_cnt, 1);
	c->data[CHUNK_SMALL - 1] = 1; /* still ours */
	chunk_unref(c);
	ck_assert_uint_eq(chunks.small.out_cnt, 0);
	chunk_unref(NULL);
}
END_TEST

START_TEST(each_size_has_its_own_cap)
{
	static const uint32_t sizes[] = { CHUNK_SMALL, CHUNK_SMALL, CHUNK_LARGE, CHUNK_RX };
	struct chunk *c[NS_ARRAY_LEN(sizes)];

	for (size_t i = 0; i < NS_ARRAY_LEN(sizes); i++) {
		c[i] = chunk_new(&chunks, sizes[i]);
		ck_assert_ptr_nonnull(c[i]);
		ck_assert_uint_eq(c[i]->size, sizes[i]);
		ck_assert_uint_eq((uintptr_t)c[i]->data % 16, 0);
		c[i]->data[sizes[i] - 1] = 1;
	}
	for (size_t i = 0; i < NS_ARRAY_LEN(sizes); i++)
		ck_assert_ptr_null(chunk_new(&chunks, sizes[i]));
	for (size_t i = 0; i < NS_ARRAY_LEN(sizes); i++)
		chunk_unref(c[i]);
}
END_TEST

START_TEST(chunk_left_out_traps)
{
	ck_assert_ptr_nonnull(chunk_new(&chunks, CHUNK_LARGE));
	chunk_pools_done(&chunks);
}
END_TEST

Suite *chunk_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("chunk", setup, teardown, &s);

	tcase_add_test(t, chunk_lives_until_its_last_reference_goes);
	tcase_add_test(t, each_size_has_its_own_cap);
	tcase_add_test_raise_signal(t, chunk_left_out_traps, UNIT_TRAP);
	return s;
}
