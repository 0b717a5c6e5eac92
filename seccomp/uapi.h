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

/* linux v6.11, v6.13 include/uapi/linux/pidfd.h */
#ifndef PIDFD_GET_USER_NAMESPACE
#define PIDFD_GET_USER_NAMESPACE _IO(0xff, 9)
#endif
#ifndef PIDFD_INFO_CREDS
#define PIDFD_INFO_CREDS (1UL << 1)
#endif

/** struct cred_info - struct pidfd_info as it was first: 64 octets */
struct cred_info {
	__u64 mask, cgroupid;
	__u32 pid, tgid, ppid;
	__u32 ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	__s32 exit_code;
};

#ifndef PIDFD_GET_INFO
#define PIDFD_GET_INFO _IOWR(0xff, 11, struct cred_info)
#endif
