/* SPDX-License-Identifier: Apache-2.0 */
/* attr.h - compiler attributes, spelled once */
#pragma once

#include <stddef.h>

#define ns_must_check         __attribute__((warn_unused_result))
#define ns_nonnull            __attribute__((nonnull))
#define ns_cold               __attribute__((cold))
#define ns_printf(fmt_, arg_) __attribute__((format(printf, fmt_, arg_)))
#define ns_likely(x_)         __builtin_expect(!!(x_), 1)
#define ns_unlikely(x_)       __builtin_expect(!!(x_), 0)

/**
 * NS_BUG_ON() - stop at once: an invariant of ours is broken
 * @cond_:	True when broken
 *
 * Never reachable from a packet, a configuration or a peer process: those get an errno or an
 * enum drop. The trap stays in release builds (style: three kinds of errors).
 */
#define NS_BUG_ON(cond_)                                                                           \
	do {                                                                                       \
		if (ns_unlikely(cond_))                                                            \
			__builtin_trap();                                                          \
	} while (0)

#define NS_ARRAY_LEN(a_) (sizeof(a_) / sizeof((a_)[0]))

/** container_of() - the object of type @type_ whose @member_ is at @ptr_ */
#define container_of(ptr_, type_, member_)                                                         \
	((type_ *)(void *)((char *)(ptr_)-offsetof(type_, member_)))

static inline unsigned ns_min_u(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static inline unsigned ns_max_u(unsigned a, unsigned b)
{
	return a > b ? a : b;
}
