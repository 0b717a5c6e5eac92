/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.c - namespaces, empty root, user, capabilities and seccomp of each role, in that order
 *
 * Theory of operation
 *   A role is narrowed as its last act before its loop, when all it needs is open. Each step needs
 *   rights that a later step takes away, hence the order; seccomp comes last since it would forbid
 *   the rest.
 *
 *            namespaces made here      root    user    capabilities    filter
 *   monitor  none                      kept    kept    a short list    seccomp/monitor.def
 *   agent    mount ipc uts, enters     empty   65534   CAP_SYS_PTRACE  seccomp/agent.def
 *            the container's net
 *   worker   mount ipc uts net user    empty   65534   none            seccomp/worker.def
 *
 *   The pid namespace cannot be made here: unshare() would put the children into it, not the
 *   process. The monitor clones the worker with CLONE_NEWPID and the agent into the container's.
 *
 *   The empty root is a read-only tmpfs of one inode: nothing can be opened, made or executed, even
 *   if the filter had a hole. The worker's user namespace is made last and maps only its own user
 *   onto itself: whatever capability it might get one day counts inside that namespace only, which
 *   owns nothing. (While its map is written, the worker is dumpable, and another process of user
 *   65534 could attach to it; it has seen no hostile octet by then.)
 *
 * Invariants
 *   After sandbox_enter() agent and worker have no capability in bounding, ambient and inheritable
 *   set, so that nothing can be won by execve, which the filter forbids besides. The monitor's
 *   bounding set is what its children need to narrow themselves: it starts them anew after a crash.
 *
 * Limits
 *   In a build with sanitizers the filter is left out, loudly: their run time needs more calls.
 *
 * References
 *   capabilities(7), user_namespaces(7), pivot_root(2), passt isolation.c for the same in stages
 */
#include "daemon/common/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "seccomp/profile.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

/* A directory that is there wherever we were started: the roles are executed from /proc/self/exe. */
#define ROOT_MOUNT_POINT "/proc"

/* No gain by being root, no change by setuid, no ambient set, no KEEPCAPS; all of it locked. */
#define LOCKED_SECBITS ((SECURE_ALL_BITS & ~SECBIT_KEEP_CAPS) | SECURE_ALL_LOCKS)

struct kept_cap {
	cap_value_t cap;
	bool is_must; /* fail without it, else do without */
	const char *reason;
};

static const struct kept_cap monitor_caps[] = {
	{ CAP_SYS_ADMIN, true, "setns, bind mounts of namespaces; children: their namespaces" },
	{ CAP_NET_ADMIN, true, "addresses, routes, moving links, forced buffers, TAP" },
	{ CAP_NET_RAW, true, "AF_PACKET" },
	{ CAP_SYS_PTRACE, true, "/proc/PID/ns/net of the container; the agent keeps it" },
	{ CAP_SETUID, true, "children become user 65534" },
	{ CAP_SETGID, true, "children become group 65534" },
	{ CAP_SETPCAP, true, "children empty their bounding set and lock their securebits" },
	{ CAP_KILL, false, "children have another user" },
	{ CAP_DAC_OVERRIDE, false, "namespace files, sockets and --pcap in directories of others" },
	{ CAP_DAC_READ_SEARCH, false, "as above, where only reading is granted" },
};

static const struct kept_cap agent_caps[] = {
	{ CAP_SYS_PTRACE, true, "pidfd_getfd and process_vm_readv/writev on the container" },
};

/* What the roles differ in. */
static const struct {
	enum profile profile;
	int unshare_flags;
	bool has_empty_root; /* and another user */
	const struct kept_cap *caps;
	size_t cap_cnt;
} roles[ROLE_COUNT] = {
	[ROLE_MONITOR] = { .profile = PROFILE_MONITOR,
			   .caps = monitor_caps,
			   .cap_cnt = sizeof(monitor_caps) / sizeof(monitor_caps[0]) },
	[ROLE_AGENT] = { .profile = PROFILE_AGENT,
			 .unshare_flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS,
			 .has_empty_root = true,
			 .caps = agent_caps,
			 .cap_cnt = sizeof(agent_caps) / sizeof(agent_caps[0]) },
	[ROLE_WORKER] = { .profile = PROFILE_WORKER,
			  .unshare_flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET,
			  .has_empty_root = true },
};

/* Logs what was tried and returns the errno, negative. */
static int fail(const char *what)
{
	return log_err(-errno, "cannot enter the sandbox: %s", what);
}

static int no_core_dump(void)
{
	static const struct rlimit none = { 0, 0 };

	/* A core would hold the container's data and keys. */
	if (setrlimit(RLIMIT_CORE, &none))
		return fail("setting RLIMIT_CORE to 0");
	return 0;
}

static int namespaces_enter(enum role role, const struct sandbox_params *p)
{
	if (role == ROLE_AGENT && p && p->netns_fd >= 0 && setns(p->netns_fd, CLONE_NEWNET))
		return fail("setns to the network namespace of the container (has it gone?)");
	if (unshare(roles[role].unshare_flags))
		return fail("making namespaces of our own, which needs CAP_SYS_ADMIN");
	return 0;
}

static int root_empty(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return fail("making the mounts private");
	/* One inode is the root itself, so that nothing can be made even if it became writable. */
	if (mount("none", ROOT_MOUNT_POINT, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "size=4k,nr_inodes=1,mode=0555"))
		return fail("mounting an empty tmpfs on " ROOT_MOUNT_POINT);
	if (chdir(ROOT_MOUNT_POINT))
		return fail("chdir to the empty root");
	/* pivot_root(2) "." ".": the old root ends up on top of the new one and is taken off. */
	if (syscall(SYS_pivot_root, ".", "."))
		return fail("pivot_root to the empty root");
	if (umount2(".", MNT_DETACH))
		return fail("detaching the old root");
	if (chdir("/"))
		return fail("chdir to the new root");
	return 0;
}

/* All permitted capabilities become effective again, after setresuid() took them. */
static int caps_raise(void)
{
	cap_t caps = cap_get_proc();
	int r = -1;

	if (caps && !cap_fill(caps, CAP_EFFECTIVE, CAP_PERMITTED))
		r = cap_set_proc(caps);
	if (r)
		r = fail("raising capabilities");
	if (caps)
		(void)cap_free(caps);
	return r;
}

static int user_change(void)
{
	if (setgroups(0, NULL))
		return fail("dropping supplementary groups");
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return fail("PR_SET_KEEPCAPS");
	if (setresgid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID))
		return fail("setresgid to 65534");
	if (setresuid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID))
		return fail("setresuid to 65534");
	return caps_raise();
}

static int proc_write(int proc_fd, const char *file, const char *text)
{
	size_t len = strlen(text);
	int fd = openat(proc_fd, file, O_WRONLY | O_CLOEXEC);
	ssize_t n;
	int r = 0;

	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	if (n < 0)
		r = -errno;
	else if ((size_t)n != len)
		r = -EIO;
	(void)close(fd);
	return r;
}

/* @proc_fd: /proc/self, opened before the root went away. */
static int userns_enter(int proc_fd)
{
	static const struct {
		const char *file, *text;
	} maps[] = {
		{ "setgroups", "deny" },
		{ "uid_map", "65534 65534 1" },
		{ "gid_map", "65534 65534 1" },
	};

	if (unshare(CLONE_NEWUSER))
		return fail("making a user namespace (is user.max_user_namespaces 0?)");
	/* A process that is not dumpable does not own its files in /proc. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		return fail("PR_SET_DUMPABLE");
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		int r = proc_write(proc_fd, maps[i].file, maps[i].text);

		if (r)
			return log_err(r, "cannot enter the sandbox: writing /proc/self/%s",
				       maps[i].file);
	}
	return 0;
}

/* Fills @caps with those of the role's list that this process has. */
static int caps_pick(enum role role, cap_t now, cap_t caps)
{
	for (size_t i = 0; i < roles[role].cap_cnt; i++) {
		const struct kept_cap *k = &roles[role].caps[i];
		cap_flag_value_t is_set = CAP_CLEAR;

		if (cap_get_flag(now, k->cap, CAP_PERMITTED, &is_set))
			return -errno;
		if (is_set != CAP_SET && k->is_must)
			return log_err(-EPERM,
				       "cannot enter the sandbox: capability %d is missing (%s); "
				       "start sluiced as root",
				       k->cap, k->reason);
		if (is_set != CAP_SET)
			continue;
		if (cap_set_flag(caps, CAP_PERMITTED, 1, &k->cap, CAP_SET) ||
		    cap_set_flag(caps, CAP_EFFECTIVE, 1, &k->cap, CAP_SET))
			return -errno;
	}
	return 0;
}

/* Every capability that is not in @kept (NULL: every one) leaves the bounding set. */
static int bounding_drop(cap_t kept)
{
	for (cap_value_t c = 0; cap_get_bound(c) >= 0; c++) {
		cap_flag_value_t is_kept = CAP_CLEAR;

		if (kept && cap_get_flag(kept, c, CAP_PERMITTED, &is_kept))
			return fail("reading capabilities");
		if (is_kept != CAP_SET && cap_drop_bound(c))
			return fail("emptying the bounding set, which needs CAP_SETPCAP");
	}
	return 0;
}

/* Monitor and agent: exactly the role's list. */
static int caps_reduce(enum role role)
{
	cap_t now = cap_get_proc();
	cap_t kept = cap_init();
	int r = now && kept ? 0 : -ENOMEM;

	if (!r)
		r = caps_pick(role, now, kept);
	if (!r && cap_reset_ambient())
		r = fail("emptying the ambient set");
	/* The monitor's children need its bounding set and what root gains at execve. */
	if (!r)
		r = bounding_drop(role == ROLE_MONITOR ? kept : NULL);
	if (!r && role != ROLE_MONITOR && cap_set_secbits(LOCKED_SECBITS))
		r = fail("locking the securebits");
	if (!r && cap_set_proc(kept))
		r = fail("reducing capabilities");
	if (now)
		(void)cap_free(now);
	if (kept)
		(void)cap_free(kept);
	return r;
}

/* Worker: none in any set, securebits locked, no_new_privs; libcap does it and can tell. */
static int caps_none(void)
{
	if (cap_set_mode(CAP_MODE_NOPRIV))
		return fail("giving up all capabilities");
	if (cap_get_mode() != CAP_MODE_NOPRIV) {
		errno = EPERM;
		return fail("giving up all capabilities, some are left");
	}
	return 0;
}

static int filter_load(enum role role, const struct sandbox_params *p)
{
	const struct profile_params params = {
		.tap_fds = role == ROLE_WORKER && p ? p->tap_fds : NULL,
		.tap_cnt = role == ROLE_WORKER && p ? p->tap_cnt : 0,
	};
	int r;

	if (HAS_SANITIZER) {
		log_warnx("this build has sanitizers and NO seccomp filter; do not use it");
		return 0;
	}
	r = profile_load(roles[role].profile, &params);
	if (r)
		return log_err(r, "cannot enter the sandbox: loading the seccomp filter of the %s",
			       profile_name(roles[role].profile));
	return 0;
}

/* Everything but capabilities and filter, for the roles with an empty root. */
static int isolate(enum role role, const struct sandbox_params *p)
{
	int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (proc_fd < 0)
		return fail("opening /proc/self");
	r = namespaces_enter(role, p);
	if (!r)
		r = root_empty();
	if (!r)
		r = user_change();
	if (!r && role == ROLE_WORKER)
		r = userns_enter(proc_fd);
	(void)close(proc_fd);
	return r;
}

int sandbox_enter(enum role role, const struct sandbox_params *p)
{
	int death_sig = 0;
	int r;

	if (prctl(PR_GET_PDEATHSIG, &death_sig, 0, 0, 0))
		return fail("PR_GET_PDEATHSIG");
	r = no_core_dump();
	if (!r && roles[role].has_empty_root)
		r = isolate(role, p);
	if (!r)
		r = roles[role].cap_cnt ? caps_reduce(role) : caps_none();
	if (r)
		return r;
	/* The kernel forgets the signal whenever user or capabilities change. */
	if (prctl(PR_SET_PDEATHSIG, death_sig, 0, 0, 0))
		return fail("PR_SET_PDEATHSIG");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return fail("PR_SET_DUMPABLE");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return fail("PR_SET_NO_NEW_PRIVS");
	return filter_load(role, p);
}
