/* SPDX-License-Identifier: Apache-2.0 */
/* own.h - ownership that can be seen in the syntax: auto_free() and take() */
#pragma once

/** auto_free() - a local that frees itself with <type>_free() unless it was taken */
#define auto_free(type_) __attribute__((cleanup(type_##_freep))) struct type_ *
#define DEFINE_AUTO_FREE(type_)                                                                    \
	static inline void type_##_freep(struct type_ **pp)                                        \
	{                                                                                          \
		type_##_free(*pp);                                                                 \
	}                                                                                          \
	struct type_

/** take() - yield the pointer and leave NULL: the callee owns it from here on */
#define take(p_)                                                                                   \
	__extension__({                                                                            \
		__typeof__(p_) taken = (p_);                                                       \
		(p_) = NULL;                                                                       \
		taken;                                                                             \
	})
