/* SPDX-License-Identifier: Apache-2.0 */
/* test_types.c - the struct integers, the lists and ownership: seq, mono, be16/be32, list, take() */
#include <string.h>

#include "base/byteorder.h"
#include "base/list.h"
#include "base/mono.h"
#include "base/own.h"
#include "base/seq.h"
#include "suites.h"

/* RFC 9293 3.4: comparison modulo 2^32, for places all over the circle. */
START_TEST(rfc9293_s3_4_order_holds_across_the_wrap)
{
	static const uint32_t places[] = { 0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	static const uint32_t ahead[] = { 1, 2, 1000, 0x7ffffffe, 0x7fffffff };

	for (size_t i = 0; i < NS_ARRAY_LEN(places); i++)
		for (size_t k = 0; k < NS_ARRAY_LEN(ahead); k++) {
			struct seq a = seq(places[i]), b = seq_add(a, ahead[k]);

			ck_assert(seq_lt(a, b) && seq_le(a, b));
			ck_assert(!seq_lt(b, a) && !seq_le(b, a) && !seq_eq(a, b));
			ck_assert_int_eq(seq_diff(b, a), (int32_t)ahead[k]);
			ck_assert_int_eq(seq_diff(a, b), -(int32_t)ahead[k]);
			ck_assert(seq_eq(seq_max(a, b), b) && seq_eq(seq_min(a, b), a));
			ck_assert(seq_eq(seq_max(b, a), b) && seq_eq(seq_min(b, a), a));
			ck_assert(seq_le(a, a) && !seq_lt(a, a));
		}
}
END_TEST

START_TEST(rfc9293_s3_4_window_holds_its_first_and_last_octet_only)
{
	struct seq start = seq(0xfffffff0);

	ck_assert(seq_in(start, start, 32));
	ck_assert(seq_in(seq(0xffffffff), start, 32));
	ck_assert(seq_in(seq(0), start, 32));
	ck_assert(seq_in(seq(15), start, 32));
	ck_assert(!seq_in(seq(16), start, 32));
	ck_assert(!seq_in(seq(0xffffffef), start, 32));
	ck_assert(!seq_in(start, start, 0));
}
END_TEST

START_TEST(time_saturates_and_never_goes_back)
{
	struct mono t = { 5 };

	ck_assert_uint_eq(mono_add(t, 7).ns, 12);
	ck_assert_uint_eq(mono_add(MONO_NEVER, 1).ns, UINT64_MAX);
	ck_assert_uint_eq(mono_add(t, UINT64_MAX).ns, UINT64_MAX);
	ck_assert_uint_eq(mono_since((struct mono){ 12 }, t), 7);
	ck_assert_uint_eq(mono_since(t, (struct mono){ 12 }), 0);
	ck_assert(mono_lt(t, MONO_NEVER) && !mono_lt(t, t) && mono_le(t, t));
	ck_assert_uint_eq(mono_min(MONO_NEVER, t).ns, 5);
}
END_TEST

START_TEST(wire_integers_are_big_endian_at_any_address)
{
	uint8_t raw[8] = { 0xee, 0x12, 0x34, 0x56, 0x78, 0xee, 0xee, 0xee };
	struct be32 v;
	struct be16 w;

	memcpy(&v, raw + 1, sizeof(v));
	memcpy(&w, raw + 3, sizeof(w));
	ck_assert_uint_eq(be32_get(v), 0x12345678);
	ck_assert_uint_eq(be16_get(w), 0x5678);
	v = be32(0xfedcba98);
	ck_assert(v.b[0] == 0xfe && v.b[1] == 0xdc && v.b[2] == 0xba && v.b[3] == 0x98);
	w = be16(0x8001);
	ck_assert(w.b[0] == 0x80 && w.b[1] == 0x01);
	ck_assert_uint_eq(_Alignof(struct be32), 1);
}
END_TEST

struct item {
	int id;
	struct list node;
};

static void assert_ids(const struct list *head, const char *want)
{
	char got[16] = "";
	size_t n = 0;

	list_for_each (it, head) {
		ck_assert_ptr_eq(it->next->prev, it);
		got[n++] = (char)('0' + list_entry(it, struct item, node)->id);
	}
	ck_assert_str_eq(got, want);
}

START_TEST(list_keeps_order_over_push_del_splice)
{
	struct item it[8];
	struct list a, b;

	list_init(&a);
	list_init(&b);
	ck_assert(list_is_empty(&a));
	ck_assert_ptr_null(list_pop(&a));
	for (int i = 0; i < 8; i++) {
		it[i].id = i;
		list_init(&it[i].node);
	}
	for (int i = 0; i < 4; i++)
		list_push(&a, &it[i].node);
	for (int i = 4; i < 8; i++)
		list_push_front(&b, &it[i].node);
	assert_ids(&a, "0123");
	assert_ids(&b, "7654");
	list_splice(&a, &b);
	assert_ids(&a, "01237654");
	ck_assert(list_is_empty(&b));
	list_splice(&a, &b);
	assert_ids(&a, "01237654");
	list_del(&it[0].node);
	list_del(&it[0].node); /* harmless: it is in none */
	list_del(&it[7].node);
	assert_ids(&a, "123654");
	ck_assert_ptr_eq(list_pop(&a), &it[1].node);
	list_for_each_safe (n, &a)
		if (list_entry(n, struct item, node)->id % 2)
			list_del(n);
	assert_ids(&a, "264");
	list_splice(&b, &a);
	assert_ids(&b, "264");
	ck_assert(list_is_empty(&a));
}
END_TEST

struct owned {
	int *freed_cnt;
};

static void owned_free(struct owned *o)
{
	if (o)
		(*o->freed_cnt)++;
}
DEFINE_AUTO_FREE(owned);

START_TEST(local_frees_itself_unless_it_was_taken)
{
	int freed_cnt = 0;
	struct owned o = { &freed_cnt }, *given;

	{
		auto_free(owned) a = &o;

		ck_assert_ptr_nonnull(a);
	}
	ck_assert_int_eq(freed_cnt, 1);
	{
		auto_free(owned) a = &o;

		given = take(a);
		ck_assert_ptr_null(a);
	}
	ck_assert_int_eq(freed_cnt, 1);
	ck_assert_ptr_eq(given, &o);
}
END_TEST

Suite *types_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("types", NULL, NULL, &s);

	tcase_add_test(t, rfc9293_s3_4_order_holds_across_the_wrap);
	tcase_add_test(t, rfc9293_s3_4_window_holds_its_first_and_last_octet_only);
	tcase_add_test(t, time_saturates_and_never_goes_back);
	tcase_add_test(t, wire_integers_are_big_endian_at_any_address);
	tcase_add_test(t, list_keeps_order_over_push_del_splice);
	tcase_add_test(t, local_frees_itself_unless_it_was_taken);
	return s;
}
