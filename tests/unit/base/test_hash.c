/* SPDX-License-Identifier: Apache-2.0 */
/* test_hash.c - base/hash.c against the vectors of the SipHash reference code */
#include <string.h>

#include "base/hash.h"
#include "suites.h"

/* Key 00 01 .. 0f, input 00 01 .. n-1: vectors.h of the reference, vectors_sip64, as little-endian values. */
static const uint64_t sip64[] = {
	UINT64_C(0x726fdb47dd0e0e31), UINT64_C(0x74f839c593dc67fd), UINT64_C(0x0d6c8009d9a94f5a),
	UINT64_C(0x85676696d7fb7e2d), UINT64_C(0xcf2794e0277187b7), UINT64_C(0x18765564cd99a68d),
	UINT64_C(0xcbc9466e58fee3ce), UINT64_C(0xab0200f58b01d137), UINT64_C(0x93f5f5799a932462),
	UINT64_C(0x9e0082df0ba9e4b0), UINT64_C(0x7a5dbbc594ddb9f3), UINT64_C(0xf4b32f46226bada7),
	UINT64_C(0x751e8fbc860ee5fb), UINT64_C(0x14ea5627c0843d90), UINT64_C(0xf723ca908e7af2ee),
	UINT64_C(0xa129ca6149be45e5), UINT64_C(0x3f2acc7f57c29bdb), UINT64_C(0x699ae9f52cbe4794),
	UINT64_C(0x4bc1b3f0968dd39c), UINT64_C(0xbb6dc91da77961bd), UINT64_C(0xbed65cf21aa2ee98),
	UINT64_C(0xd0f2cbb02e3b67c7), UINT64_C(0x93536795e3a33e88), UINT64_C(0xa80c038ccd5ccec8),
};

static const struct hash_key reference_key = { { UINT64_C(0x0706050403020100),
						 UINT64_C(0x0f0e0d0c0b0a0908) } };

START_TEST(hash_of_reference_vector_is_the_references)
{
	uint8_t in[NS_ARRAY_LEN(sip64)];

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)i;
	ck_assert_uint_eq(hash_sip(&reference_key, in, (size_t)_i), sip64[_i]);
}
END_TEST

START_TEST(hash_does_not_depend_on_alignment)
{
	uint8_t in[64 + 8], at_zero[64];

	for (size_t i = 0; i < sizeof(at_zero); i++)
		at_zero[i] = (uint8_t)(i * 7);
	for (size_t shift = 0; shift < 8; shift++) {
		memcpy(in + shift, at_zero, sizeof(at_zero));
		for (size_t len = 0; len <= sizeof(at_zero); len++)
			ck_assert_uint_eq(hash_sip(&reference_key, in + shift, len),
					  hash_sip(&reference_key, at_zero, len));
	}
}
END_TEST

/* A table's bucket is taken from the low bits: one bit of key or input must move about half of them. */
START_TEST(hash_flips_half_of_its_bits)
{
	uint8_t in[13] = { 0 };
	uint64_t base = hash_sip(&reference_key, in, sizeof(in));
	unsigned flipped = 0, cnt = 0;

	for (size_t bit = 0; bit < sizeof(in) * 8; bit++, cnt++) {
		in[bit / 8] ^= (uint8_t)(1u << bit % 8);
		flipped += (unsigned)__builtin_popcountll(base ^
							  hash_sip(&reference_key, in, sizeof(in)));
		in[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	for (unsigned bit = 0; bit < 128; bit++, cnt++) {
		struct hash_key k = reference_key;

		k.k[bit / 64] ^= UINT64_C(1) << bit % 64;
		flipped += (unsigned)__builtin_popcountll(base ^ hash_sip(&k, in, sizeof(in)));
	}
	ck_assert_uint_gt(flipped, cnt * 30);
	ck_assert_uint_lt(flipped, cnt * 34);
}
END_TEST

Suite *hash_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("hash", NULL, NULL, &s);

	tcase_add_loop_test(t, hash_of_reference_vector_is_the_references, 0,
			    (int)NS_ARRAY_LEN(sip64));
	tcase_add_test(t, hash_does_not_depend_on_alignment);
	tcase_add_test(t, hash_flips_half_of_its_bits);
	return s;
}
