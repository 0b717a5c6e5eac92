/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promises.c - promises.def as an array
 */
#include "tests/seccomp/promises.h"

#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "seccomp/profile.h"
#include "seccomp/uapi.h"

#define W         (1u << PROFILE_WORKER)
#define A         (1u << PROFILE_AGENT)
#define M         (1u << PROFILE_MONITOR)
#define ALL       UINT64_MAX
#define BAD_FD    UINT64_C(0xffffffff)
#define AT_FDCWD_ ((uint64_t)(int64_t)AT_FDCWD)
#define BIT32     (UINT64_C(1) << 32)
#define BIT63     (UINT64_C(1) << 63)

#define PASSES(roles_, call_, what_, ...)                                                          \
	{ .profiles = (roles_),                                                                    \
	  .is_allowed = true,                                                                      \
	  .what = #call_ ": " what_,                                                               \
	  .nr = SYS_##call_,                                                                       \
	  .args = { __VA_ARGS__ } },
#define DIES(roles_, call_, what_, ...)                                                            \
	{ .profiles = (roles_),                                                                    \
	  .what = #call_ ": " what_,                                                               \
	  .nr = SYS_##call_,                                                                       \
	  .args = { __VA_ARGS__ } },
#define PASSES_TAP(roles_, call_, what_, ...)                                                      \
	{ .profiles = (roles_),                                                                    \
	  .needs_tap = true,                                                                       \
	  .is_allowed = true,                                                                      \
	  .what = #call_ ": " what_,                                                               \
	  .nr = SYS_##call_,                                                                       \
	  .args = { __VA_ARGS__ } },
#define DIES_TAP(roles_, call_, what_, ...)                                                        \
	{ .profiles = (roles_),                                                                    \
	  .needs_tap = true,                                                                       \
	  .what = #call_ ": " what_,                                                               \
	  .nr = SYS_##call_,                                                                       \
	  .args = { __VA_ARGS__ } },

const struct promise promises[] = {
#include "tests/seccomp/promises.def"
};

const size_t promise_cnt = sizeof(promises) / sizeof(promises[0]);
