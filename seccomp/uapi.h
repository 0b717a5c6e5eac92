/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uapi.h - numbers of the kernel that Debian 12's headers do not have yet
 */
#pragma once

#include <linux/seccomp.h>

/* linux v6.6 include/uapi/linux/seccomp.h */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* linux v6.9 include/uapi/linux/pidfd.h */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD 0200
#endif

/* linux v6.16 include/uapi/asm-generic/socket.h */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif
