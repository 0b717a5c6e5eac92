/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what every fuzz target has: one entry, and a reader of its input
 *
 * A target is a plain program of libFuzzer's interface. Built with SLUICE_FUZZ=ON it is linked with
 * libFuzzer; otherwise with driver.c, which runs the corpus and a fixed number of seeded mutations.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "buf/pkt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** struct input - octets left of an input; reading beyond the end gives zeros */
struct input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t input_u8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static inline uint16_t input_u16(struct input *in)
{
	uint16_t hi = input_u8(in);

	return (uint16_t)(hi << 8 | input_u8(in));
}

static inline uint32_t input_u32(struct input *in)
{
	uint32_t hi = input_u16(in);

	return hi << 16 | input_u16(in);
}

/** input_number() - a number near zero, or any */
static inline uint32_t input_number(struct input *in)
{
	uint8_t how = input_u8(in);

	switch (how & 3) {
	case 0:
		return how >> 2;
	case 1:
		return (uint32_t) - (how >> 2);
	case 2:
		return (uint32_t)(int32_t)(int16_t)input_u16(in);
	default:
		return input_u32(in);
	}
}

/** input_take() - up to @len octets, as many as there are; borrowed from the input */
static inline const uint8_t *input_take(struct input *in, size_t len, size_t *ret_len)
{
	const uint8_t *at = in->at;

	*ret_len = len < in->left ? len : in->left;
	in->at += *ret_len;
	in->left -= *ret_len;
	return at;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define FUZZ_HAS_ASAN 1
#endif
#endif

/** fuzz_fence() - what lies behind the octets of a received frame is nobody's: reading it is a finding */
static inline void fuzz_fence(struct pkt *p)
{
#ifdef FUZZ_HAS_ASAN
	__asan_poison_memory_region(p->buf + p->head + p->len, p->cap - p->head - p->len);
#else
	(void)p;
#endif
}

/** must_hold() - an invariant of the code under test; the fuzzer keeps the input that breaks it */
#define must_hold(cond_)                                                                           \
	do {                                                                                       \
		if (!(cond_))                                                                      \
			__builtin_trap();                                                          \
	} while (0)
