/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sandbox.c - what a process can still do after sandbox_enter(), seen from outside
 *
 * Theory of operation
 *   Each test starts this program anew as a role, in a pid namespace of its own, with one end of a
 *   SOCK_SEQPACKET pair as descriptor 3. The child enters its sandbox, sends one octet and waits. The
 *   test reads the child's files in /proc and judges. The child's own view (can it still reach the
 *   container?) comes as that octet: 'r' for ready, anything else names what failed.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/common/sandbox.h"

#define CHANNEL_FD 3
#define NETNS_FD   4
#define EXIT_SKIP  77

/* CAP_SYS_PTRACE of linux/capability.h as a bit of a CapEff line. */
#define PTRACE_BIT (UINT64_C(1) << 19)

/* What the agent reads in its parent by address and by descriptor; the same number in both. */
static char secret[] = "secret";

static pid_t role_pid;
static int role_fd;

/* ---- in the child ---- */

static void say(char c)
{
	struct iovec iov = { .iov_base = &c, .iov_len = 1 };
	struct mmsghdr m = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } };

	(void)sendmmsg(CHANNEL_FD, &m, 1, MSG_DONTWAIT);
}

/* Under the agent's filter: is the other process still within reach of CAP_SYS_PTRACE? */
static char agent_reach(pid_t pid, uintptr_t address)
{
	char buf[sizeof(secret)] = { 0 };
	struct iovec local = { buf, sizeof(buf) };
	struct iovec remote = { (void *)address, sizeof(buf) };
	int pair[2];
	int pidfd;

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != (ssize_t)sizeof(buf))
		return 'm';
	if (memcmp(buf, secret, sizeof(buf)) != 0)
		return 'c';
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return 'p';
	if (syscall(SYS_pidfd_getfd, pidfd, 0, 0) < 0)
		return 'g';
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 's';
	return 'r';
}

/* --role NAME PID ADDRESS: what a role does after it was started. */
static int child_main(const char *name, pid_t pid, uintptr_t address)
{
	static const int tap_fds[] = { 7 };
	struct sandbox_params p = { .netns_fd = -1, .tap_fds = tap_fds, .tap_cnt = 1 };
	enum role role = ROLE_WORKER;
	char answer = 'r';
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (!strcmp(name, "agent"))
		role = ROLE_AGENT;
	if (!strncmp(name, "monitor", 7))
		role = ROLE_MONITOR;
	if (role == ROLE_AGENT)
		p.netns_fd = NETNS_FD;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (sandbox_enter(role, &p)) {
		say('e');
		return 1;
	}
	if (role == ROLE_AGENT)
		answer = agent_reach(pid, address);
	if (!strcmp(name, "monitor-restart")) {
		/* A restart: the same program as worker, under the monitor's filter and rights. */
		(void)execl("/proc/self/exe", "test_sandbox", "--role", "worker", "0", "0",
			    (char *)NULL);
		answer = 'x';
	}
	say(answer);
	/* A word from the test asks for what must not be; the end of the channel for the end. */
	if (recvmsg(CHANNEL_FD, &m, 0) > 0)
		(void)!write(CHANNEL_FD, "w", 1);
	return 0;
}

/* ---- in the test ---- */

static noreturn void role_exec(const char *name, int channel, int netns, pid_t parent)
{
	static const gid_t group = 4;
	struct rlimit core;
	char pid[32];
	char address[32];

	/* Something to give up, where the test itself has none; without the right it stays as it is. */
	(void)setgroups(1, &group);
	if (!getrlimit(RLIMIT_CORE, &core)) {
		core.rlim_cur = core.rlim_max;
		(void)setrlimit(RLIMIT_CORE, &core);
	}
	(void)snprintf(pid, sizeof(pid), "%d", parent);
	(void)snprintf(address, sizeof(address), "%" PRIuPTR, (uintptr_t)secret);
	if (dup2(channel, CHANNEL_FD) < 0 || dup2(netns, NETNS_FD) < 0)
		_exit(3);
	(void)execl("/proc/self/exe", "test_sandbox", "--role", name, pid, address, (char *)NULL);
	_exit(4);
}

/* The same descriptor with a number above those that a role is given. */
static int moved_up(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, NETNS_FD + 1);

	ck_assert_int_ge(moved, 0);
	(void)close(fd);
	return moved;
}

/* Starts the role and waits until it says that it is in. The agent shares our pid namespace. */
static void role_start(const char *name)
{
	int flags = strcmp(name, "agent") ? CLONE_NEWPID | SIGCHLD : SIGCHLD;
	struct timeval limit = { .tv_sec = 10 };
	pid_t self = getpid();
	int pair[2];
	int netns;
	char c = 0;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	/* The agent's descriptors must not collide while they are put in place. */
	pair[1] = moved_up(pair[1]);
	netns = moved_up(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
	role_pid = (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0);
	ck_assert_int_ge(role_pid, 0);
	if (role_pid == 0)
		role_exec(name, pair[1], netns, self);
	(void)close(pair[1]);
	(void)close(netns);
	role_fd = pair[0];
	ck_assert_int_eq(setsockopt(role_fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	ck_assert_int_eq(recv(role_fd, &c, 1, 0), 1);
	ck_assert_msg(c == 'r', "%s says '%c'", name, c);
}

static void role_stop(void)
{
	int status;

	if (role_pid <= 0)
		return;
	(void)close(role_fd);
	(void)kill(role_pid, SIGKILL);
	(void)waitpid(role_pid, &status, 0);
	role_pid = 0;
}

static void role_path(char *buf, size_t len, const char *file)
{
	(void)snprintf(buf, len, "/proc/%d/%s", role_pid, file);
}

/* The rest of the line "NAME:" of the child's status, in static memory. */
static const char *status_of(const char *name)
{
	static char line[256];
	char path[64];
	FILE *f;

	role_path(path, sizeof(path), "status");
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		size_t len = strlen(name);

		if (strncmp(line, name, len) != 0 || line[len] != ':')
			continue;
		(void)fclose(f);
		line[strcspn(line, "\n")] = '\0';
		return line + len + 1 + strspn(line + len + 1, "\t ");
	}
	(void)fclose(f);
	ck_abort_msg("no %s in %s", name, path);
	return NULL;
}

static uint64_t caps_of(const char *set)
{
	return strtoull(status_of(set), NULL, 16);
}

/* @theirs: of the child, else of the test itself. */
static ino_t ns_of(const char *name, bool theirs)
{
	char path[64];
	struct stat st;

	if (theirs)
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", role_pid, name);
	else
		(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	ck_assert_msg(!stat(path, &st), "stat %s: %s", path, strerror(errno));
	return st.st_ino;
}

static void expect_text(const char *file, const char *want)
{
	char path[64];
	char got[128] = { 0 };
	FILE *f;

	role_path(path, sizeof(path), file);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(got, sizeof(got), f));
	(void)fclose(f);
	ck_assert_str_eq(got, want);
}

static void expect_locked(void)
{
	ck_assert_str_eq(status_of("NoNewPrivs"), "1");
	ck_assert_str_eq(status_of("Seccomp"), "2");
	ck_assert_uint_eq(caps_of("CapInh"), 0);
	ck_assert_uint_eq(caps_of("CapBnd"), 0);
	ck_assert_uint_eq(caps_of("CapAmb"), 0);
	ck_assert_str_eq(status_of("Uid"), "65534\t65534\t65534\t65534");
	ck_assert_str_eq(status_of("Gid"), "65534\t65534\t65534\t65534");
	ck_assert_str_eq(status_of("Groups"), "");
	ck_assert_str_eq(status_of("Threads"), "1");
}

static int line_count(const char *file)
{
	char path[64];
	char line[256];
	int cnt = 0;
	FILE *f;

	role_path(path, sizeof(path), file);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		cnt++;
	(void)fclose(f);
	return cnt;
}

static void expect_empty_root(void)
{
	struct statvfs fs;
	char path[64];
	struct dirent *e;
	DIR *d;

	role_path(path, sizeof(path), "root/");
	d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)))
		ck_assert_msg(!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."),
			      "%s is in the root", e->d_name);
	(void)closedir(d);
	ck_assert_int_eq(statvfs(path, &fs), 0);
	ck_assert_uint_ne(fs.f_flag & ST_RDONLY, 0);
	ck_assert_uint_ne(fs.f_flag & ST_NOEXEC, 0);
	/* Nothing else is mounted either. */
	ck_assert_int_eq(line_count("mounts"), 1);
}

static void expect_no_core(void)
{
	char path[64];
	char line[256];
	bool is_found = false;
	FILE *f;

	role_path(path, sizeof(path), "limits");
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		static const char name[] = "Max core file size";
		const char *soft = line + sizeof(name) - 1;
		char *end;

		if (strncmp(line, name, sizeof(name) - 1) != 0)
			continue;
		is_found = true;
		/* Without a limit the line says "unlimited". */
		ck_assert_uint_eq(strtoul(soft, &end, 10), 0);
		ck_assert_ptr_ne(soft, end);
		ck_assert_msg(end[strspn(end, " ")] == '0', "hard limit: %s", end);
	}
	(void)fclose(f);
	ck_assert(is_found);
}

START_TEST(worker_has_no_rights_and_nothing_around_it)
{
	static const char *const own[] = { "mnt", "net", "ipc", "uts", "pid", "user" };

	role_start("worker");
	expect_locked();
	ck_assert_uint_eq(caps_of("CapPrm"), 0);
	ck_assert_uint_eq(caps_of("CapEff"), 0);
	expect_empty_root();
	expect_no_core();
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		ck_assert_msg(ns_of(own[i], true) != ns_of(own[i], false),
			      "the worker shares the %s namespace", own[i]);
	/* Two lines of heading, then loopback alone. */
	ck_assert_int_eq(line_count("net/dev"), 3);
	expect_text("setgroups", "deny\n");
	expect_text("uid_map", "     65534      65534          1\n");
	expect_text("gid_map", "     65534      65534          1\n");
}
END_TEST

/*
 * The worker is the first process of its pid namespace; such a one ignores signals it has no handler for, a kill() with SIGSYS
 * among them; the kernel's own SIGSYS must not be ignored.
 */
START_TEST(forbidden_call_ends_the_role)
{
	static const char *const names[] = { "worker", "agent" };
	int status;
	char c = 0;

	role_start(names[_i]);
	ck_assert_int_eq(send(role_fd, "x", 1, 0), 1);
	ck_assert_int_eq(recv(role_fd, &c, 1, 0), 0);
	ck_assert_int_eq(c, 0);
	ck_assert_int_eq(waitpid(role_pid, &status, 0), role_pid);
	role_pid = 0;
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "ended with %#x",
		      (unsigned int)status);
}
END_TEST

START_TEST(agent_keeps_only_cap_sys_ptrace_and_can_use_it)
{
	static const char *const own[] = { "mnt", "ipc", "uts" };

	/* A stand-in for the container's. The child finds it by NETNS_FD. */
	ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
	role_start("agent");
	expect_locked();
	ck_assert_uint_eq(caps_of("CapPrm"), PTRACE_BIT);
	ck_assert_uint_eq(caps_of("CapEff"), PTRACE_BIT);
	expect_empty_root();
	expect_no_core();
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		ck_assert_msg(ns_of(own[i], true) != ns_of(own[i], false),
			      "the agent shares the %s namespace", own[i]);
	ck_assert_uint_eq(ns_of("net", true), ns_of("net", false));
}
END_TEST

START_TEST(monitor_keeps_a_short_list_of_rights)
{
	/* admin, net_admin, net_raw, ptrace, setuid, setgid, setpcap, kill, dac_override and _search */
	static const uint64_t most = UINT64_C(1) << 21 | UINT64_C(1) << 12 | UINT64_C(1) << 13 |
				     UINT64_C(1) << 19 | UINT64_C(1) << 7 | UINT64_C(1) << 6 |
				     UINT64_C(1) << 8 | UINT64_C(1) << 5 | UINT64_C(1) << 1 |
				     UINT64_C(1) << 2;

	role_start("monitor");
	ck_assert_str_eq(status_of("NoNewPrivs"), "1");
	ck_assert_str_eq(status_of("Seccomp"), "2");
	ck_assert_uint_ne(caps_of("CapEff"), 0);
	ck_assert_uint_eq(caps_of("CapEff") & ~most, 0);
	ck_assert_uint_eq(caps_of("CapPrm") & ~most, 0);
	ck_assert_uint_eq(caps_of("CapBnd") & ~most, 0);
	ck_assert_uint_eq(caps_of("CapInh"), 0);
	ck_assert_uint_eq(caps_of("CapAmb"), 0);
	expect_no_core();
}
END_TEST

START_TEST(monitor_can_start_a_worker_again)
{
	/* The monitor executes itself as worker, so what is seen from outside is that worker. */
	role_start("monitor-restart");
	expect_locked();
	ck_assert_uint_eq(caps_of("CapPrm"), 0);
	ck_assert_uint_eq(caps_of("CapEff"), 0);
	expect_empty_root();
}
END_TEST

static Suite *sandbox_suite(void)
{
	Suite *s = suite_create("sandbox");
	TCase *tc = tcase_create("sandbox");

	tcase_add_checked_fixture(tc, NULL, role_stop);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, worker_has_no_rights_and_nothing_around_it);
	tcase_add_loop_test(tc, forbidden_call_ends_the_role, 0, 2);
	tcase_add_test(tc, agent_keeps_only_cap_sys_ptrace_and_can_use_it);
	tcase_add_test(tc, monitor_keeps_a_short_list_of_rights);
	tcase_add_test(tc, monitor_can_start_a_worker_again);
	suite_add_tcase(s, tc);
	return s;
}

int main(int argc, char **argv)
{
	SRunner *runner;
	int failed_cnt;

	if (argc == 5 && !strcmp(argv[1], "--role"))
		return child_main(argv[2], (pid_t)strtol(argv[3], NULL, 10),
				  strtoumax(argv[4], NULL, 10));
	if (geteuid() != 0) {
		(void)fputs("needs root to make namespaces; skipped\n", stderr);
		return EXIT_SKIP;
	}
	runner = srunner_create(sandbox_suite());
	srunner_run_all(runner, CK_NORMAL);
	failed_cnt = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed_cnt ? 1 : 0;
}
