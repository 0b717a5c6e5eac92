/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile.c - what a container tries against the sockets it is given, one process a try
 *
 *   hostile PEER        every try; status 1 when one of them ends otherwise than it should
 *
 * Each try runs in a child of its own under an alarm, so that a call that never returns shows as
 * SIGALRM. Its result is an errno name, "ok", or the signal that ended it; the table says which
 * results are allowed. Nothing here needs more rights than docker gives. Without a seccomp filter
 * the program refuses to run: on the host the tries would succeed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRY_SECONDS 30
#define HIGH_BIT    (UINT64_C(1) << 32)
#define X32_BIT     0x40000000
/* No call fails with this one: our own sign for a socket that the filter let through. */
#define ESCAPE_ERRNO EXFULL
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static struct sockaddr_in peer; /* port 9: refused */
static struct sockaddr_in local = { .sin_family = AF_INET };

static int tcp(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* --- around the filter ----------------------------------------------------------------------- */

static int socket_by_int80(void)
{
#ifdef __x86_64__
	int r;

	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(359), "b"(AF_INET), "c"(SOCK_STREAM), "d"(0)
			 : "memory");
	if (r < 0) {
		errno = -r;
		return -1;
	}
	return r;
#else
	errno = ENOSYS;
	return -1;
#endif
}

static int socket_by_x32(void)
{
	return (int)syscall(X32_BIT | SYS_socket, AF_INET, SOCK_STREAM, 0);
}

static int io_uring(void)
{
	uint8_t params[256] = { 0 };

	return (int)syscall(SYS_io_uring_setup, 8, params);
}

/* Is this descriptor one end of a pair, as it must be? A kernel TCP socket would not be listed. */
static bool is_pair(int fd)
{
	unsigned long inode;
	char line[512], want[64];
	bool found = false;
	struct stat st;
	FILE *f;

	if (fstat(fd, &st) < 0)
		return false;
	inode = st.st_ino;
	snprintf(want, sizeof(want), " %lu", inode);
	f = fopen("/proc/net/unix", "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, want) != NULL;
	fclose(f);
	return found;
}

/* The kernel takes 32 bits of these arguments; a filter that compares 64 lets the call through. */
static int socket_with_high_bits(void)
{
	int fd = (int)syscall(SYS_socket, HIGH_BIT | AF_INET, HIGH_BIT | SOCK_STREAM, HIGH_BIT);

	if (fd >= 0 && !is_pair(fd)) {
		errno = ESCAPE_ERRNO;
		return -1;
	}
	return fd;
}

static int option_with_high_bits(void)
{
	int fd = tcp(), on = 1;

	return (int)syscall(SYS_setsockopt, HIGH_BIT | (unsigned int)fd, HIGH_BIT | IPPROTO_TCP,
			    HIGH_BIT | TCP_NODELAY, &on, HIGH_BIT | sizeof(on));
}

static int family_packet(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0);
}

static int family_vsock(void)
{
	return socket(AF_VSOCK, SOCK_STREAM, 0);
}

static int family_alg(void)
{
	return socket(AF_ALG, SOCK_SEQPACKET, 0);
}

static int family_xdp(void)
{
	return socket(AF_XDP, SOCK_RAW, 0);
}

static int family_kcm(void)
{
	return socket(AF_KCM, SOCK_SEQPACKET, 0);
}

static int family_with_high_bits(void)
{
	return (int)syscall(SYS_socket, HIGH_BIT | AF_PACKET, SOCK_RAW, 0);
}

static int type_raw(void)
{
	return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static int protocol_mptcp(void)
{
	return socket(AF_INET, SOCK_STREAM, 262);
}

static int protocol_sctp(void)
{
	return socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP);
}

static int nested_listener(void)
{
	struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog prog = { .len = 1, .filter = allow };

	/* crun exec leaves it off, and the answer would be EACCES whatever the filter */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &prog);
}

static int own_namespaces(void)
{
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return -1;
	fd = tcp();
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&peer, sizeof(peer));
}

/* --- against the agent ------------------------------------------------------------------------ */

static int peer_credentials(void)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return getsockopt(tcp(), SOL_SOCKET, SO_PEERCRED, &cred, &len);
}

static int peer_pidfd(void)
{
	int fd;
	socklen_t len = sizeof(fd);

	return getsockopt(tcp(), SOL_SOCKET, SO_PEERPIDFD, &fd, &len);
}

static int descriptors_into_the_pair(void)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { .iov_base = control, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int fd = STDERR_FILENO;

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return (int)sendmsg(tcp(), &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/*
 * The flags are written as they were read: the right to write them is what is asked, and wherever
 * the right is there after all, nothing happens to the interface.
 */
static int write_link_flags(void)
{
	struct ifreq ifr = { .ifr_name = "eth0" };
	int fd = tcp();

	return ioctl(fd, SIOCGIFFLAGS, &ifr) < 0 ? -1 : ioctl(fd, SIOCSIFFLAGS, &ifr);
}

static int bad_pointer(void)
{
	return (int)syscall(SYS_connect, tcp(), 8, 16);
}

static int huge_length(void)
{
	return (int)syscall(SYS_bind, tcp(), &local, 0x7fffffff);
}

static int negative_length(void)
{
	struct sockaddr_in addr;
	socklen_t len = (socklen_t)-1;

	return getsockname(tcp(), (struct sockaddr *)&addr, &len);
}

static int read_only_result(void)
{
	static const struct sockaddr_in addr;
	socklen_t len = sizeof(addr);

	return (int)syscall(SYS_getsockname, tcp(), &addr, &len);
}

static int huge_vector(void)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)4096, .msg_iovlen = (size_t)1 << 40 };

	return (int)sendmsg(tcp(), &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int closed_descriptor(void)
{
	return connect(999, (struct sockaddr *)&peer, sizeof(peer));
}

static int foreign_descriptor(void)
{
	int fds[2];

	return pipe2(fds, O_CLOEXEC) < 0 ? -1 : listen(fds[0], 1);
}

static int no_descriptors_left(void)
{
	struct rlimit limit = { .rlim_cur = 16, .rlim_max = 16 };

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -1;
	for (int i = 0; i < 64; i++)
		if (tcp() < 0)
			return -1;
	return 0;
}

/* --- races ------------------------------------------------------------------------------------ */

static volatile bool racing = true;

static void *replace_descriptor(void *unused)
{
	while (racing) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		dup2(fd, 50);
		close(fd);
	}
	return unused;
}

/* The descriptor changes between the trap and the look at it: every answer is right, none hangs. */
static int descriptor_race(void)
{
	pthread_t thread;

	dup2(tcp(), 50);
	if (pthread_create(&thread, NULL, replace_descriptor, NULL) != 0)
		return -1;
	for (int i = 0; i < 1000; i++) {
		int fd = tcp();

		bind(50, (struct sockaddr *)&local, sizeof(local));
		dup2(fd, 50);
		close(fd);
	}
	racing = false;
	return pthread_join(thread, NULL);
}

static void on_signal(int sig)
{
	(void)sig;
}

/* A restarted call is answered once: no bind() may fail because it was already done. */
static int signal_storm(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pid_t self = getpid(), storm;
	int failed = 0;

	sigaction(SIGURG, &sa, NULL);
	storm = fork();
	if (storm == 0) {
		for (int i = 0; i < 50000; i++)
			kill(self, SIGURG);
		_exit(0);
	}
	while (waitpid(storm, NULL, WNOHANG) != storm) {
		struct sockaddr_in addr = local;
		socklen_t len = sizeof(addr);
		int fd = tcp();

		if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
		    listen(fd, 1) < 0 || getsockname(fd, (struct sockaddr *)&addr, &len) < 0) {
			failed = errno;
			close(fd);
			break;
		}
		close(fd);
	}
	kill(storm, SIGKILL);
	waitpid(storm, NULL, 0);
	errno = failed;
	return failed ? -1 : 0;
}

static int killed_while_connecting(void)
{
	for (int i = 0; i < 100; i++) {
		struct timespec ts = { .tv_nsec = 10000L * (i % 70 + 1) };
		pid_t pid = fork();

		if (pid == 0) {
			for (;;) {
				int fd = tcp();

				connect(fd, (struct sockaddr *)&peer, sizeof(peer));
				close(fd);
			}
		}
		nanosleep(&ts, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return tcp();
}

static int killed_while_accepting(void)
{
	int fd = tcp(), status;
	struct timespec ts = { .tv_nsec = 50000000 };
	pid_t pid;

	bind(fd, (struct sockaddr *)&local, sizeof(local));
	listen(fd, 1);
	pid = fork();
	if (pid == 0) {
		accept(fd, NULL, NULL);
		_exit(0);
	}
	nanosleep(&ts, NULL);
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 0 : -1;
}

static int many_left_open(void)
{
	for (int i = 0; i < 400; i++) {
		int fd = tcp();

		if (fd < 0 || bind(fd, (struct sockaddr *)&local, sizeof(local)) < 0 ||
		    (i % 2 && listen(fd, 8) < 0))
			return -1;
	}
	return 0;
}

/* --- datagrams -------------------------------------------------------------------------------- */

static int udp(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* A datagram socket bound to a port of its own, whose address goes to @ret_addr. */
static int udp_bound(struct sockaddr_in *ret_addr)
{
	socklen_t len = sizeof(*ret_addr);
	int fd = udp();

	*ret_addr = (struct sockaddr_in){ .sin_family = AF_INET };
	ret_addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)ret_addr, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)ret_addr, &len) < 0)
		return -1;
	return fd;
}

static int dgram_control_length(void)
{
	struct msghdr msg = { .msg_name = &peer,
			      .msg_namelen = sizeof(peer),
			      .msg_control = &msg,
			      .msg_controllen = (size_t)1 << 40 };

	return (int)sendmsg(udp(), &msg, MSG_DONTWAIT);
}

static int dgram_control_lies(void)
{
	struct cmsghdr cmsg = { .cmsg_len = 4096,
				.cmsg_level = IPPROTO_IP,
				.cmsg_type = IP_PKTINFO };
	struct msghdr msg = { .msg_name = &peer,
			      .msg_namelen = sizeof(peer),
			      .msg_control = &cmsg,
			      .msg_controllen = sizeof(cmsg) };

	return (int)sendmsg(udp(), &msg, MSG_DONTWAIT);
}

static int dgram_vector_nowhere(void)
{
	struct iovec iov = { (void *)8, 100 };
	struct msghdr msg = {
		.msg_name = &peer, .msg_namelen = sizeof(peer), .msg_iov = &iov, .msg_iovlen = 1
	};

	return (int)sendmsg(udp(), &msg, MSG_DONTWAIT);
}

static int dgram_name_length(void)
{
	return (int)syscall(SYS_sendto, udp(), "x", 1, 0, &peer, -1);
}

static int dgram_receive_nowhere(void)
{
	struct sockaddr_in self;
	int fd = udp_bound(&self);

	if (sendto(fd, "x", 1, 0, (struct sockaddr *)&self, sizeof(self)) != 1)
		return -1;
	return (int)syscall(SYS_recvfrom, fd, 8, 100, 0, &self, 8);
}

static int dgram_many_at_once(void)
{
	return (int)syscall(SYS_sendmmsg, udp(), 8, UINT32_MAX, 0);
}

/* Its port is free again, though the agent held the call and looked at its descriptor. */
static int killed_while_receiving(void)
{
	struct timespec ts = { .tv_nsec = 50000000 };
	struct sockaddr_in self, sender;
	socklen_t len = sizeof(sender);
	int first = udp_bound(&self), r = -1;
	pid_t pid;
	char c;

	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (pid == 0) {
			recvfrom(first, &c, 1, 0, (struct sockaddr *)&sender, &len);
			_exit(0);
		}
		nanosleep(&ts, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(first);
	for (int i = 0; r < 0 && i < 100; i++) {
		r = bind(udp(), (struct sockaddr *)&self, sizeof(self));
		nanosleep(&ts, NULL);
	}
	return r;
}

static int datagrams_left_unread(void)
{
	struct sockaddr_in self;
	int fd = udp_bound(&self), sender = udp();

	for (int i = 0; i < 5000; i++)
		(void)!sendto(sender, &self, sizeof(self), MSG_DONTWAIT, (struct sockaddr *)&self,
			      sizeof(self));
	return fd;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Results allowed, separated by blanks; an empty string allows all that is no hang. */
static const struct {
	const char *name;
	int (*func)(void);
	const char *allowed;
} tries[] = {
	{ "socket by int 0x80", socket_by_int80, "SIGSYS SIGSEGV ENOSYS" },
	{ "socket by the x32 ABI", socket_by_x32, "SIGSYS ENOSYS" },
	{ "io_uring", io_uring, "ENOSYS" },
	{ "socket, high bits set", socket_with_high_bits, "ok" },
	{ "setsockopt, high bits set", option_with_high_bits, "ok" },
	{ "AF_PACKET", family_packet, "EAFNOSUPPORT" },
	{ "AF_PACKET, high bit set", family_with_high_bits, "EAFNOSUPPORT" },
	{ "AF_VSOCK", family_vsock, "EAFNOSUPPORT" },
	{ "AF_ALG", family_alg, "EAFNOSUPPORT" },
	{ "AF_XDP", family_xdp, "EAFNOSUPPORT" },
	{ "AF_KCM", family_kcm, "EAFNOSUPPORT" },
	{ "SOCK_RAW", type_raw, "EPERM EPROTONOSUPPORT ESOCKTNOSUPPORT EAFNOSUPPORT" },
	{ "MPTCP", protocol_mptcp, "EPROTONOSUPPORT" },
	{ "SCTP", protocol_sctp, "EPROTONOSUPPORT ESOCKTNOSUPPORT" },
	{ "a notify listener of its own", nested_listener, "EBUSY" },
	{ "own user and network namespace", own_namespaces, "" },
	{ "SO_PEERCRED", peer_credentials, "ENOPROTOOPT" },
	{ "SO_PEERPIDFD", peer_pidfd, "ENOPROTOOPT" },
	{ "descriptors into the pair", descriptors_into_the_pair, "" },
	{ "write the flags of eth0", write_link_flags, "EPERM" },
	{ "connect, bad pointer", bad_pointer, "EFAULT" },
	{ "bind, length 2^31-1", huge_length, "EINVAL" },
	{ "getsockname, length -1", negative_length, "EINVAL" },
	{ "getsockname into read-only memory", read_only_result, "EFAULT" },
	{ "sendmsg, 2^40 vectors", huge_vector, "EMSGSIZE EFAULT ENOTCONN EPIPE" },
	{ "connect, closed descriptor", closed_descriptor, "EBADF" },
	{ "listen on a pipe", foreign_descriptor, "ENOTSOCK" },
	{ "no descriptors left", no_descriptors_left, "EMFILE" },
	{ "descriptor race", descriptor_race, "ok" },
	{ "signal storm", signal_storm, "ok" },
	{ "killed while connecting", killed_while_connecting, "ok" },
	{ "killed while accepting", killed_while_accepting, "ok" },
	{ "400 sockets left open", many_left_open, "ok" },
	{ "sendmsg of a datagram, 2^40 octets of control data", dgram_control_length, "ENOBUFS" },
	{ "sendmsg of a datagram, a control length that lies", dgram_control_lies, "EINVAL" },
	{ "sendmsg of a datagram from nowhere", dgram_vector_nowhere, "EFAULT" },
	{ "sendto, address length -1", dgram_name_length, "EINVAL" },
	{ "recvfrom to nowhere", dgram_receive_nowhere, "EFAULT" },
	{ "sendmmsg, 2^32-1 datagrams at nowhere", dgram_many_at_once, "EFAULT" },
	{ "killed while receiving a datagram", killed_while_receiving, "ok" },
	{ "5000 datagrams left unread", datagrams_left_unread, "ok" },
};

static bool allowed(const char *list, const char *word)
{
	size_t len = strlen(word);

	if (!*list)
		return strcmp(word, "SIGALRM") != 0;
	for (const char *p = strstr(list, word); p; p = strstr(p + 1, word))
		if ((p == list || p[-1] == ' ') && (p[len] == ' ' || !p[len]))
			return true;
	return false;
}

static void child(int (*func)(void), int out)
{
	const char *word = "ok";

	alarm(TRY_SECONDS);
	if (func() < 0)
		word = errno == ESCAPE_ERRNO ? "ESCAPED" : strerrorname_np(errno);
	if (!word)
		word = "?";
	_exit(write(out, word, strlen(word)) < 0);
}

static bool try_one(size_t i)
{
	char word[64] = "";
	int fds[2], status;
	bool good;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		child(tries[i].func, fds[1]);
	}
	close(fds[1]);
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		snprintf(word, sizeof(word), "SIG%s", sigabbrev_np(WTERMSIG(status)));
	else if (read(fds[0], word, sizeof(word) - 1) < 0)
		word[0] = '\0';
	close(fds[0]);
	good = allowed(tries[i].allowed, word);
	printf("%-36s %-16s%s%s\n", tries[i].name, word,
	       good ? "" : "WRONG, allowed: ", good ? "" : tries[i].allowed);
	fflush(stdout);
	return good;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc != 2 || inet_pton(AF_INET, argv[1], &peer.sin_addr) != 1) {
		fprintf(stderr, "usage: hostile PEER\n");
		return 2;
	}
	if (prctl(PR_GET_SECCOMP) != SECCOMP_MODE_FILTER) {
		fprintf(stderr,
			"hostile: there is no filter to attack: it runs in a container only\n");
		return 2;
	}
	peer.sin_family = AF_INET;
	peer.sin_port = htons(9);
	local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		failed += !try_one(i);
	return failed > 0;
}
