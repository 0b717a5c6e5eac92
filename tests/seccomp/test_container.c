/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_container.c - what a program in a container gets for each of its calls
 *
 * Theory of operation
 *   A child is put under the rules of container.def, as a runtime does it, and makes calls with raw
 *   64-bit arguments; the test stands in for the agent and answers every trapped call with ANSWER,
 *   so that the child can tell the three fates apart: trapped, refused by the filter, native.
 *   What is right is written here, not derived from the rules.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seccomp/container.h"

/* The agent's answer: no descriptor is that large, and it is no error. */
#define ANSWER 424242

#define BIT32 (UINT64_C(1) << 32)
#define BIT63 (UINT64_C(1) << 63)

#define PATH_FD 5

/* ---- in the child ---- */

/* The filter holds sendmsg(), so the test takes the descriptor out of us, as runc does. */
static void put_under_rules(int channel)
{
	struct container_rule *rules;
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	size_t cnt;
	char c;
	int fd;

	if (!ctx || container_rules_new(&rules, &cnt))
		_exit(2);
	for (size_t i = 0; i < cnt; i++)
		if (seccomp_rule_add_array(ctx, rules[i].action,
					   seccomp_syscall_resolve_name(rules[i].name),
					   rules[i].arg_cnt, rules[i].args))
			_exit(3);
	if (seccomp_load(ctx))
		_exit(4);
	fd = seccomp_notify_fd(ctx);
	if (write(channel, &fd, sizeof(fd)) != (ssize_t)sizeof(fd) || read(channel, &c, 1) != 1)
		_exit(5);
	(void)close(fd);
	seccomp_release(ctx);
	free(rules);
}

static void expect(const char *call, long nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a4,
		   long want)
{
	long r = syscall(nr, a0, a1, a2, UINT64_C(0), a4, UINT64_C(0));

	if (r < 0)
		r = -errno;
	if (r == want)
		return;
	(void)printf("%s(%#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ", 0, %#" PRIx64
		     ", 0) gave %ld, should be %ld\n",
		     call, a0, a1, a2, a4, r, want);
	(void)fflush(stdout);
	_exit(1);
}

#define EXPECT(call, a0, a1, a2, a4, want) expect(#call, SYS_##call, a0, a1, a2, a4, want)

static void families_try(void)
{
	static const uint64_t high[] = { 0, BIT32, BIT63, BIT32 | BIT63 };

	for (uint64_t i = 0; i < 32 + 96; i++) {
		/* 0 to 95, then each single high bit. */
		uint64_t family = i < 96 ? i : UINT64_C(1) << (i - 96);
		bool is_inet = family == AF_INET || family == AF_INET6;

		if (family == AF_UNIX || family == AF_NETLINK)
			continue;
		for (size_t h = 0; h < sizeof(high) / sizeof(high[0]); h++) {
			EXPECT(socket, family | high[h], SOCK_STREAM, 0, 0,
			       is_inet ? ANSWER : -EAFNOSUPPORT);
			EXPECT(socketpair, family | high[h], SOCK_STREAM, 0, 0,
			       is_inet ? -EOPNOTSUPP : -EAFNOSUPPORT);
		}
	}
}

static void natives_try(void)
{
	int pair[2];
	int fd;

	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || fd == ANSWER || close(fd))
		_exit(10);
	fd = socket(AF_NETLINK, SOCK_RAW, 0);
	if (fd < 0 || fd == ANSWER || close(fd))
		_exit(11);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || send(pair[0], "x", 1, 0) != 1)
		_exit(12);
	/* With a NULL address both are native: send() and recv(), but for a recv() of one octet. */
	EXPECT(recvfrom, (uint64_t)pair[1], 0, 0, 0, 0);
	EXPECT(recvfrom, (uint64_t)pair[1], 0, 1, 0, ANSWER);
	EXPECT(recvfrom, (uint64_t)pair[1], 0, 2, 0, -EFAULT);
}

static void options_try(void)
{
	static const uint64_t high[] = { 0, BIT32, BIT63 };

	for (uint64_t level = 0; level < 20; level++)
		for (uint64_t opt = 0; opt < 40; opt++)
			for (size_t h = 0; h < 9; h++) {
				bool is_null = level == IPPROTO_TCP && h == 0 &&
					       (opt == TCP_CORK || opt == TCP_QUICKACK);

				EXPECT(setsockopt, PATH_FD, level | high[h % 3], opt | high[h / 3],
				       0, is_null ? 0 : ANSWER);
			}
}

static void others_try(void)
{
	EXPECT(bind, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(connect, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(listen, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(shutdown, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(accept, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(accept4, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(getsockname, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(getpeername, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(getsockopt, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(sendto, PATH_FD, 0, 0, 8, ANSWER);
	EXPECT(sendto, PATH_FD, 0, 0, BIT32, ANSWER);
	EXPECT(recvfrom, PATH_FD, 0, 0, 8, ANSWER);
	EXPECT(sendmsg, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(recvmsg, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(sendmmsg, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(recvmmsg, PATH_FD, 0, 0, 0, ANSWER);
	EXPECT(io_uring_setup, 8, 0, 0, 0, -ENOSYS);
	EXPECT(io_uring_enter, 0, 0, 0, 0, -ENOSYS);
	EXPECT(io_uring_register, 0, 0, 0, 0, -ENOSYS);
	EXPECT(userfaultfd, 0, 0, 0, 0, -EPERM);
	EXPECT(bpf, 0, 0, 0, 0, -EPERM);
}

/* ---- in the test ---- */

static int notify_receive(int channel, pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), number, fd = -1;

	if (read(channel, &number, sizeof(number)) == (ssize_t)sizeof(number) && pidfd >= 0)
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (write(channel, "k", 1) != 1)
		fd = -1;
	(void)close(pidfd);
	return fd;
}

/* Answers until the last task under the filter is gone. Return: number of trapped calls. */
static unsigned int agent_run(int notify_fd)
{
	unsigned int cnt = 0;

	for (;;) {
		struct seccomp_notif req = { 0 };
		struct seccomp_notif_resp resp = { .val = ANSWER };
		struct pollfd p = { .fd = notify_fd, .events = POLLIN };

		if (poll(&p, 1, 10000) != 1 || !(p.revents & POLLIN))
			return cnt;
		if (ioctl(notify_fd, SECCOMP_IOCTL_NOTIF_RECV, &req)) {
			if (errno == EINTR)
				continue;
			return cnt;
		}
		cnt++;
		resp.id = req.id;
		(void)ioctl(notify_fd, SECCOMP_IOCTL_NOTIF_SEND, &resp);
	}
}

/* @least: how many calls must have been trapped at least. */
static void child_judge(void (*body)(void), unsigned int least)
{
	unsigned int cnt;
	int channel[2];
	int status;
	int fd;
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		put_under_rules(channel[1]);
		body();
		_exit(0);
	}
	(void)close(channel[1]);
	fd = notify_receive(channel[0], pid);
	/* Ends with the child, since a filter without tasks has no calls. */
	cnt = fd >= 0 ? agent_run(fd) : 0;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %#x",
		      (unsigned int)status);
	ck_assert_uint_ge(cnt, least);
	(void)close(fd);
	(void)close(channel[0]);
}

START_TEST(every_family_is_trapped_refused_or_native)
{
	child_judge(families_try, 8);
	child_judge(natives_try, 0);
}
END_TEST

START_TEST(only_cork_and_quickack_are_answered_by_the_filter)
{
	child_judge(options_try, 7000);
}
END_TEST

START_TEST(socket_calls_are_trapped_and_detours_refused)
{
	child_judge(others_try, 11);
}
END_TEST

START_TEST(rules_of_one_call_never_overlap)
{
	struct container_rule *rules;
	size_t cnt;

	ck_assert_int_eq(container_rules_new(&rules, &cnt), 0);
	for (size_t i = 0; i < cnt; i++)
		for (size_t j = 0; j < i; j++) {
			const struct scmp_arg_cmp *a = &rules[i].args[0];
			const struct scmp_arg_cmp *b = &rules[j].args[0];

			if (strcmp(rules[i].name, rules[j].name) != 0)
				continue;
			ck_assert_msg(rules[i].arg_cnt && rules[j].arg_cnt,
				      "%s has an unconditional rule and another", rules[i].name);
			if (a->op != SCMP_CMP_MASKED_EQ || b->op != SCMP_CMP_MASKED_EQ)
				continue;
			/* Two blocks of one prefix tree meet only if one holds the other. */
			ck_assert_msg((a->datum_b & b->datum_a & a->datum_a) !=
					      (b->datum_b & b->datum_a & a->datum_a),
				      "%s: rules %zu and %zu overlap", rules[i].name, j, i);
		}
	free(rules);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("container profile");
	TCase *tc = tcase_create("container profile");
	SRunner *runner = srunner_create(s);
	int failed_cnt;

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, every_family_is_trapped_refused_or_native);
	tcase_add_test(tc, only_cork_and_quickack_are_answered_by_the_filter);
	tcase_add_test(tc, socket_calls_are_trapped_and_detours_refused);
	tcase_add_test(tc, rules_of_one_call_never_overlap);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed_cnt = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed_cnt ? 1 : 0;
}
