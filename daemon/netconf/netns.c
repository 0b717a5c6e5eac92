/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netns - network namespaces: open, compare, visit, make, keep alive
 *
 * Theory of operation: a socket belongs for its whole life to the namespace it was made in, so the
 * monitor enters a namespace only for the moment in which it opens a socket or touches /proc/sys/net
 * (which shows the namespace of the task that opens it), and comes back. It is single-threaded; no
 * one else can be surprised by the excursion.
 *
 * Syscalls: #syscalls monitor: openat close fstat setns unshare socket getsockopt mount umount2
 * Syscalls: #syscalls monitor: unlink getdents64
 */
#include "daemon/netconf/netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/common/log.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

#define NS_GET_NSTYPE _IO(0xb7, 0x3) /* <linux/nsfs.h> */

int netns_open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	/* A plain file, a device or another kind of namespace: setns() would say so too late. */
	if (ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

int netns_open_pid(pid_t pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return netns_open_path(path);
}

int netns_call(int fd, int (*fn)(void *ctx), void *ctx)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int r;

	if (home < 0)
		return -errno;
	if (setns(fd, CLONE_NEWNET) < 0) {
		r = -errno;
		close(home);
		return r;
	}
	r = fn(ctx);
	if (setns(home, CLONE_NEWNET) < 0) {
		log_err(-errno, "cannot return to the daemon's own network namespace, giving up");
		abort();
	}
	close(home);
	return r;
}

struct socket_args {
	int domain, type, protocol;
};

static int socket_in(void *ctx)
{
	const struct socket_args *a = ctx;
	int fd = socket(a->domain, a->type, a->protocol);

	return fd < 0 ? -errno : fd;
}

int netns_socket(int fd, int domain, int type, int protocol)
{
	struct socket_args a = { domain, type, protocol };

	return netns_call(fd, socket_in, &a);
}

int netns_identify(int fd, struct netns_id *ret_id)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);
	struct stat st;
	int sock, r = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	sock = netns_socket(fd, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return sock;
	if (getsockopt(sock, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) < 0)
		r = -errno;
	close(sock);
	if (r < 0)
		return r;
	ret_id->dev = st.st_dev;
	ret_id->ino = st.st_ino;
	ret_id->cookie = cookie;
	return 0;
}

bool netns_id_eq(const struct netns_id *a, const struct netns_id *b)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) - netns_identify() sets all or fails */
	return a->dev == b->dev && a->ino == b->ino && a->cookie == b->cookie;
}

int netns_is_ours(const struct netns_id *id)
{
	struct stat st;

	if (stat("/proc/self/ns/net", &st) < 0)
		return -errno;
	if (st.st_dev == id->dev && st.st_ino == id->ino)
		return 1;
	/* Process 1 may be out of reach (EACCES under a security module, ENOENT with hidepid). */
	return stat("/proc/1/ns/net", &st) == 0 && st.st_dev == id->dev && st.st_ino == id->ino;
}

int netns_new(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd, r = 0;

	if (home < 0)
		return -errno;
	if (unshare(CLONE_NEWNET) < 0) {
		r = -errno;
		close(home);
		return r;
	}
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		r = -errno;
	if (setns(home, CLONE_NEWNET) < 0) {
		log_err(-errno, "cannot return to the daemon's own network namespace, giving up");
		abort();
	}
	close(home);
	return r < 0 ? r : fd;
}

int netns_pin(int fd, const char *path)
{
	char src[64];
	int file, r;

	file = open(path, O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0400);
	if (file < 0)
		return -errno;
	close(file);
	(void)snprintf(src, sizeof(src), "/proc/self/fd/%d", fd);
	if (mount(src, path, NULL, MS_BIND, NULL) < 0) {
		r = -errno;
		unlink(path);
		return r;
	}
	return 0;
}

int netns_unpin(const char *path)
{
	if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL && errno != ENOENT)
		return -errno;
	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int netns_find(const struct netns_id *id)
{
	DIR *dir = opendir("/proc");
	const struct dirent *d;
	int found = -ENOENT;

	if (!dir)
		return -errno;
	while (found < 0 && (d = readdir(dir))) {
		struct netns_id other;
		struct stat st;
		char path[300];
		int fd;

		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%s/ns/net", d->d_name);
		if (stat(path, &st) < 0 || st.st_dev != id->dev || st.st_ino != id->ino)
			continue;
		fd = netns_open_path(path);
		if (fd < 0)
			continue;
		if (netns_identify(fd, &other) == 0 && netns_id_eq(id, &other))
			found = fd;
		else
			close(fd);
	}
	closedir(dir);
	return found;
}
