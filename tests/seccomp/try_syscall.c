/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try_syscall.c - makes one system call under a role's filter, or all that matter
 *
 * Theory of operation
 *   A child loads the filter, makes one call with raw arguments and exits. If it died of SIGSYS the
 *   filter stopped the call; if it exited (the call may have failed, with whatever errno) or died
 *   otherwise (rt_sigreturn without a frame), the call had passed.
 *
 *   With `all` three lists are run. First every number from 0 to NR_MAX with arguments of all ones,
 *   which no call does harm with: what no row speaks of must die, so that nothing is forgotten.
 *   Then, for each row that tests arguments, a call that fulfils it and each call that differs from
 *   that in one of the 64 bits of one tested argument; what is right follows from evaluating the
 *   rows. Last the promises of the project, written by hand and not derived from any table.
 *
 *   usage: try_syscall PROFILE all
 *          try_syscall PROFILE NAME|NUMBER [ARGUMENT]...
 *   PROFILE is monitor, agent, worker or worker+N,N... with the numbers of TAP descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seccomp/profile.h"
#include "seccomp/uapi.h"
#include "tests/seccomp/promises.h"

/* Beyond the newest call of linux v6.16. */
#define NR_MAX 470

/* A call that blocks is an error of the test; it must not hang it. */
#define CALL_MAX_S 5

#define ALL_ONES UINT64_MAX

struct target {
	enum profile profile;
	struct profile_params params;
	int tap_fds[PROFILE_TAP_MAX];
	struct sock_fprog prog;
};

enum outcome { PASSED, KILLED, HUNG };

static const char *const outcome_names[] = { "passed", "killed", "HUNG" };

static unsigned int tried_cnt, wrong_cnt;

static noreturn void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Inline where known: after vfork the child must not return through a stack it shares. */
static inline long call_raw(long nr, const uint64_t a[6])
{
#if defined(__x86_64__)
	register uint64_t r10 __asm__("r10") = a[3];
	register uint64_t r8 __asm__("r8") = a[4];
	register uint64_t r9 __asm__("r9") = a[5];
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
#else
	return syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
#endif
}

static noreturn void child(const struct target *t, long nr, const uint64_t args[6])
{
	static const uint64_t zeros[6];
	static const struct rlimit no_core = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)alarm(CALL_MAX_S);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &t->prog))
		_exit(99);
	(void)call_raw(nr, args);
	for (;;)
		(void)call_raw(SYS_exit_group, zeros);
}

static enum outcome outcome_of(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 99) {
		(void)fputs("the filter could not be loaded\n", stderr);
		exit(2);
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return KILLED;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return HUNG;
	return PASSED;
}

static enum outcome call_try(const struct target *t, long nr, const uint64_t args[6])
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (pid == 0)
		child(t, nr, args);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	return outcome_of(status);
}

static bool arg_holds(const struct scmp_arg_cmp *c, const uint64_t args[6])
{
	if (c->op == SCMP_CMP_EQ)
		return args[c->arg] == c->datum_a;
	if (c->op == SCMP_CMP_MASKED_EQ)
		return (args[c->arg] & c->datum_a) == c->datum_b;
	(void)fprintf(stderr, "try_syscall does not know operator %d yet\n", (int)c->op);
	exit(2);
}

static bool row_holds(const struct target *t, const struct profile_row *row, long nr,
		      const uint64_t args[6])
{
	if (row->nr != nr)
		return false;
	if (row->is_per_tap) {
		for (size_t i = 0; i < t->params.tap_cnt; i++)
			if (args[0] == (uint64_t)t->params.tap_fds[i])
				return true;
		return false;
	}
	for (unsigned int i = 0; i < row->arg_cnt; i++)
		if (!arg_holds(&row->args[i], args))
			return false;
	return true;
}

static enum outcome expected(const struct target *t, long nr, const uint64_t args[6])
{
	size_t cnt;
	const struct profile_row *rows = profile_rows(t->profile, &cnt);

	for (size_t i = 0; i < cnt; i++)
		if (row_holds(t, &rows[i], nr, args))
			return PASSED;
	return KILLED;
}

static void call_check(const struct target *t, const char *what, long nr, const uint64_t args[6],
		       enum outcome want)
{
	enum outcome got = call_try(t, nr, args);

	tried_cnt++;
	if (got == want)
		return;
	wrong_cnt++;
	(void)printf("%s: %s, call %ld(%#lx, %#lx, %#lx, %#lx, %#lx, %#lx): %s, should be %s\n",
		     profile_name(t->profile), what, nr, (unsigned long)args[0],
		     (unsigned long)args[1], (unsigned long)args[2], (unsigned long)args[3],
		     (unsigned long)args[4], (unsigned long)args[5], outcome_names[got],
		     outcome_names[want]);
}

static void args_fill(uint64_t args[6])
{
	for (int i = 0; i < 6; i++)
		args[i] = ALL_ONES;
}

/*
 * The kernel lets two calls pass every filter, since they are planted into programs by uprobes
 * (linux v6.14 kernel/seccomp.c __secure_computing()). Made from anywhere but the
 * kernel's own trampoline they do nothing but fail or raise SIGILL.
 */
static bool is_beyond_filters(long nr)
{
#if defined(__x86_64__)
	return nr == 335 || nr == 336; /* uretprobe, uprobe */
#else
	(void)nr;
	return false;
#endif
}

static void numbers_check(const struct target *t)
{
	uint64_t args[6];

	args_fill(args);
	for (long nr = 0; nr <= NR_MAX; nr++)
		if (!is_beyond_filters(nr))
			call_check(t, "every number", nr, args, expected(t, nr, args));
}

/* From a call that fulfils the row to each that differs in one bit of a tested argument. */
static void row_check(const struct target *t, const struct profile_row *row)
{
	uint64_t args[6];

	args_fill(args);
	for (unsigned int i = 0; i < row->arg_cnt; i++)
		args[row->args[i].arg] = row->args[i].op == SCMP_CMP_EQ ? row->args[i].datum_a
									: row->args[i].datum_b;
	call_check(t, row->name, row->nr, args, PASSED);
	for (unsigned int i = 0; i < row->arg_cnt; i++) {
		for (unsigned int bit = 0; bit < 64; bit++) {
			uint64_t *arg = &args[row->args[i].arg];

			*arg ^= UINT64_C(1) << bit;
			call_check(t, row->name, row->nr, args, expected(t, row->nr, args));
			*arg ^= UINT64_C(1) << bit;
		}
	}
}

/* The same for each TAP number; its neighbours differ in more than one bit. */
static void tap_check(const struct target *t, const struct profile_row *row)
{
	uint64_t args[6];

	args_fill(args);
	for (size_t i = 0; i < t->params.tap_cnt; i++) {
		uint64_t fd = (uint64_t)t->params.tap_fds[i];

		for (args[0] = fd - 1; args[0] != fd + 2; args[0]++)
			call_check(t, row->name, row->nr, args, expected(t, row->nr, args));
		for (unsigned int bit = 0; bit < 64; bit++) {
			args[0] = fd ^ (UINT64_C(1) << bit);
			call_check(t, row->name, row->nr, args, expected(t, row->nr, args));
		}
	}
}

static void rows_check(const struct target *t)
{
	size_t cnt;
	const struct profile_row *rows = profile_rows(t->profile, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		if (rows[i].nr < 0)
			continue;
		if (rows[i].is_per_tap)
			tap_check(t, &rows[i]);
		else if (rows[i].arg_cnt)
			row_check(t, &rows[i]);
	}
}

static void promises_check(const struct target *t)
{
	for (size_t i = 0; i < promise_cnt; i++) {
		const struct promise *p = &promises[i];

		if (!(p->profiles & (1u << t->profile)) || (p->needs_tap && !t->params.tap_cnt))
			continue;
		call_check(t, p->what, p->nr, p->args, p->is_allowed ? PASSED : KILLED);
	}
}

/* Calls by another ABI have other numbers: all of them die. */
static void foreign_abi_check(const struct target *t)
{
#if defined(__x86_64__)
	static const long x32_bit = 0x40000000;
	uint64_t args[6];

	args_fill(args);
	call_check(t, "x32 getpid", x32_bit | SYS_getpid, args, KILLED);
	call_check(t, "x32 read", x32_bit | SYS_read, args, KILLED);
	args[3] = MSG_DONTWAIT;
	call_check(t, "x32 sendmmsg", x32_bit | 538, args, KILLED);
#else
	(void)t;
#endif
}

static void target_parse(struct target *t, const char *text)
{
	size_t len = strcspn(text, "+");
	int which = 0;

	while (which < PROFILE_COUNT && (strlen(profile_name((enum profile)which)) != len ||
					 memcmp(profile_name((enum profile)which), text, len) != 0))
		which++;
	if (which == PROFILE_COUNT) {
		(void)fprintf(stderr, "there is no profile %s\n", text);
		exit(2);
	}
	t->profile = (enum profile)which;
	t->params.tap_fds = t->tap_fds;
	for (text += len; *text && t->params.tap_cnt < PROFILE_TAP_MAX;) {
		char *end;

		t->tap_fds[t->params.tap_cnt++] = (int)strtol(text + 1, &end, 10);
		text = end;
	}
}

/* Built once, loaded by each child. */
static void target_build(struct target *t)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	struct stat st;
	void *code;
	int r;

	if (fd < 0)
		die("memfd_create");
	r = profile_export_bpf(t->profile, &t->params, fd);
	if (r) {
		errno = -r;
		die("profile_export_bpf");
	}
	if (fstat(fd, &st))
		die("fstat");
	code = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED)
		die("mmap");
	(void)close(fd);
	t->prog.len = (unsigned short)((size_t)st.st_size / sizeof(struct sock_filter));
	t->prog.filter = code;
}

static int one(const struct target *t, int argc, char **argv)
{
	uint64_t args[6] = { 0 };
	char *end;
	long nr = strtol(argv[2], &end, 0);
	enum outcome got;

	if (*end)
		nr = seccomp_syscall_resolve_name(argv[2]);
	if (nr < 0) {
		(void)fprintf(stderr, "there is no call %s\n", argv[2]);
		return 2;
	}
	for (int i = 3; i < argc && i < 9; i++)
		args[i - 3] = strtoull(argv[i], NULL, 0);
	got = call_try(t, nr, args);
	(void)printf("%s\n", outcome_names[got]);
	return got == PASSED ? 0 : 1;
}

int main(int argc, char **argv)
{
	static struct target t;

	if (argc < 3) {
		(void)fprintf(stderr, "usage: %s PROFILE all | PROFILE CALL [ARGUMENT]...\n",
			      argv[0]);
		return 2;
	}
	target_parse(&t, argv[1]);
	target_build(&t);
	if (strcmp(argv[2], "all") != 0)
		return one(&t, argc, argv);
	numbers_check(&t);
	rows_check(&t);
	promises_check(&t);
	foreign_abi_check(&t);
	(void)printf("%s: %u calls tried, %u went wrong, filter of %u instructions\n", argv[1],
		     tried_cnt, wrong_cnt, t.prog.len);
	return wrong_cnt ? 1 : 0;
}
