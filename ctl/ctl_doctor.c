/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl_doctor.c - `sluicectl doctor`: can this host run sluice?
 *
 * Theory of operation
 *   Each check does for real the smallest thing sluiced will do (traps a call of a child and answers
 *   it with a descriptor, makes a user namespace in a child, asks the TAP driver for its features)
 *   instead of comparing version numbers, and prints one line: ok, slow (works, but with less) or
 *   missing, what it is, and what to do about it. Nothing of the host is changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/sluicectl.h"
#include "seccomp/uapi.h"

enum verdict { OK, SLOW, MISSING };

/* The descriptor number under which the child leaves its notify descriptor for us. */
#define CHILD_NOTIFY_FD 60

static const char *const verdict_names[] = { "ok", "slow", "missing" };

static enum verdict worst;

/* @todo: what to do, only said when the verdict is not OK. */
static void report(enum verdict v, const char *what, const char *todo)
{
	if (v > worst)
		worst = v;
	(void)printf("%-8s %s", verdict_names[v], what);
	if (v != OK)
		(void)printf(": %s", todo);
	(void)putchar('\n');
}

static void check_kernel(void)
{
	struct utsname u;
	unsigned long major, minor;
	char *end;
	char what[128];

	(void)uname(&u);
	major = strtoul(u.release, &end, 10);
	minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	(void)snprintf(what, sizeof(what), "kernel %.80s", u.release);
	report(major > 5 || (major == 5 && minor >= 14) ? OK : MISSING, what,
	       "install 5.14 or later, better 6.6");
}

static void check_root(void)
{
	report(geteuid() == 0 ? OK : MISSING, "running as root",
	       "run sluicectl doctor as root; what follows is not certain");
}

/* Traps getppid() of itself and leaves the notify descriptor where the parent takes it. */
static void trapped_child(int go)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };
	char c = 'x';
	long fd;

	(void)alarm(5);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(1);
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
	if (fd < 0 || dup2((int)fd, CHILD_NOTIFY_FD) < 0 || send(go, &c, 1, MSG_NOSIGNAL) != 1 ||
	    recv(go, &c, 1, 0) != 1)
		_exit(1);
	/* The answer is the number of a descriptor that the parent put into us. */
	fd = syscall(SYS_getppid);
	_exit(fd >= 0 && fcntl((int)fd, F_GETFD) >= 0 ? 0 : 1);
}

/* Return: the notify descriptor of the child or a negative number, reported. */
static int notify_take(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int fd = -1;

	if (pidfd >= 0)
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, CHILD_NOTIFY_FD, 0);
	report(fd >= 0 ? OK : MISSING, "pidfd_getfd: descriptors of a container's process",
	       "needs kernel 5.6, CAP_SYS_PTRACE and kernel.yama.ptrace_scope below 3");
	if (pidfd >= 0)
		(void)close(pidfd);
	return fd;
}

/* Answers the child's trapped call; it says by its exit status whether that arrived. */
static int notify_answer(int notify_fd)
{
	struct seccomp_notif req;
	struct seccomp_notif_addfd add = { .flags = SECCOMP_ADDFD_FLAG_SEND };

	report(ioctl(notify_fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
		       ? SLOW
		       : OK,
	       "seccomp notify with SYNC_WAKE_UP",
	       "a trapped call costs three times as much; install kernel 6.6 or later");
	memset(&req, 0, sizeof(req));
	if (ioctl(notify_fd, SECCOMP_IOCTL_NOTIF_RECV, &req))
		return -errno;
	add.id = req.id;
	add.srcfd = (__u32)notify_fd;
	return ioctl(notify_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0 ? -errno : 0;
}

/* The way of every socket() of a container, once around. */
static void check_notify(void)
{
	int status = 1;
	int go[2];
	int fd = -1;
	int r = -1;
	char c;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, go))
		return;
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		(void)close(go[0]);
		trapped_child(go[1]);
	}
	(void)close(go[1]);
	if (pid > 0 && recv(go[0], &c, 1, 0) == 1) {
		fd = notify_take(pid);
		if (fd >= 0 && send(go[0], &c, 1, MSG_NOSIGNAL) == 1)
			r = notify_answer(fd);
	}
	(void)close(go[0]);
	if (fd >= 0)
		(void)close(fd);
	if (pid > 0) {
		if (r)
			(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, 0);
	}
	report(!r && !status ? OK : MISSING, "seccomp notify with ADDFD and SEND in one step",
	       "install kernel 5.14 or later with CONFIG_SECCOMP_FILTER");
}

static void check_pidfd_thread(void)
{
	int fd = (int)syscall(SYS_pidfd_open, syscall(SYS_gettid), PIDFD_THREAD);

	report(fd >= 0 ? OK : SLOW, "pidfd_open of a thread (PIDFD_THREAD)",
	       "calls of threads other than the first need a detour; install kernel 6.9 or later");
	if (fd >= 0)
		(void)close(fd);
}

static void check_passrights(void)
{
	int off = 0;
	int pair[2];
	int r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return;
	r = setsockopt(pair[0], SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
	report(r ? SLOW : OK, "refusing descriptors on a pair (SO_PASSRIGHTS)",
	       "descriptors that a program sends into a socket are dropped on reading only; "
	       "install kernel 6.16 or later");
	(void)close(pair[0]);
	(void)close(pair[1]);
}

static void check_packet(void)
{
	int on = 1;
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int r = fd < 0 ? -1 : setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on));

	report(r ? MISSING : OK, "AF_PACKET with virtio-net headers",
	       "needs CONFIG_PACKET and CAP_NET_RAW");
	if (fd >= 0)
		(void)close(fd);
}

static void check_tap(void)
{
	unsigned int features = 0;
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	int r = fd < 0 ? -1 : ioctl(fd, TUNGETFEATURES, &features);

	report(!r && (features & IFF_VNET_HDR) ? OK : SLOW, "TAP with virtio-net headers",
	       "--tap cannot be used; load the module tun (modprobe tun)");
	if (fd >= 0)
		(void)close(fd);
}

static void check_userns(void)
{
	int status = 1;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID) ? 1 : 0);
	if (pid > 0)
		(void)waitpid(pid, &status, 0);
	report(status ? MISSING : OK, "user, network, mount and pid namespaces",
	       "raise user.max_user_namespaces and its kin with sysctl");
}

static void check_libseccomp(void)
{
	const struct scmp_version *v = seccomp_version();
	char what[64];

	if (!v)
		return;
	(void)snprintf(what, sizeof(what), "libseccomp %u.%u.%u, level %u", v->major, v->minor,
		       v->micro, seccomp_api_get());
	report(v->major > 2 || (v->major == 2 && v->minor >= 5) ? OK : MISSING, what,
	       "install 2.5 or later, and a kernel with SECCOMP_RET_USER_NOTIF");
}

/* @command: prints the version in the first line of its output. */
static void check_runtime(const char *command, const char *todo)
{
	char line[100] = "";
	FILE *f;
	int status;

	(void)fflush(stdout);
	f = popen(command,
		  "re"); /* NOLINT(cert-env33-c): a constant, found by the operator's PATH */
	if (!f)
		return;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	status = pclose(f);
	report(status || !line[0] ? SLOW : OK, status || !line[0] ? command : line, todo);
}

int ctl_doctor(const char *state_dir, int argc, char **argv)
{
	if (argc > 1) {
		(void)fprintf(stderr, "sluicectl: %s takes no words\n", argv[0]);
		return CTL_USAGE;
	}
	check_root();
	check_kernel();
	check_notify();
	check_pidfd_thread();
	check_passrights();
	check_packet();
	check_tap();
	check_userns();
	check_libseccomp();
	check_runtime("runc --version 2>/dev/null",
		      "not found; install runc 1.1 or later, or use another runtime");
	check_runtime("crun --version 2>/dev/null",
		      "not found; install crun 1.6 or later, or use another runtime");
	ctl_ignored(state_dir);
	(void)puts(worst == MISSING ? "sluice cannot run here before the missing things are there."
		   : worst == SLOW  ? "sluice can run here."
				    : "sluice can run here, with everything.");
	return worst == MISSING ? CTL_FAILED : CTL_OK;
}
