/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - the words in which the tables of this folder are written
 */
#pragma once

#include <seccomp.h>

/* What happens to the call. */
#define ALLOW        SCMP_ACT_ALLOW
#define NOTIFY       SCMP_ACT_NOTIFY
#define FAIL(errno_) SCMP_ACT_ERRNO(errno_)

/* Tests of one argument, on all 64 bits. */
#define TEST(arg_, op_, val_)                                                                      \
	{                                                                                          \
		.arg = (arg_), .op = SCMP_CMP_##op_, .datum_a = (scmp_datum_t)(val_)               \
	}
#define EQ(arg_, val_) TEST(arg_, EQ, val_)
#define NE(arg_, val_) TEST(arg_, NE, val_)
#define LT(arg_, val_) TEST(arg_, LT, val_)
#define GT(arg_, val_) TEST(arg_, GT, val_)
/* Bits of @mask_ must be as in @val_, the others do not matter. */
#define MASKED(arg_, mask_, val_)                                                                  \
	{                                                                                          \
		.arg = (arg_), .op = SCMP_CMP_MASKED_EQ, .datum_a = (scmp_datum_t)(mask_),         \
		.datum_b = (scmp_datum_t)(val_)                                                    \
	}
/* No bits but those of @bits_. */
#define ONLY(arg_, bits_) MASKED(arg_, ~(scmp_datum_t)(bits_), 0)
/* The value once the kernel has cut it to an int. */
#define LOW32(arg_, val_) MASKED(arg_, 0xffffffff, val_)

/* The tests of a row, all of which must hold. */
#define ARGS(...)                                                                                  \
	.args = { __VA_ARGS__ },                                                                   \
	.arg_cnt = sizeof((struct scmp_arg_cmp[]){ __VA_ARGS__ }) / sizeof(struct scmp_arg_cmp)
#define ANY .arg_cnt = 0
