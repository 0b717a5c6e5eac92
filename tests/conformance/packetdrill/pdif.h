/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdif.h - the table of calls that packetdrill expects from a shared object
 *
 * packetdrill loads the file given with --so_filename, looks up packetdrill_interface_init() and hands it the
 * string of --so_flags (NULL when absent) and a zeroed table to fill. From then on every socket call of
 * a script, every packet and every look at the clock goes through the table. The order of the
 * members is the interface; the words here are ours.
 *
 * Calls have the shapes of POSIX and Linux, with @self in front: -1 and errno when they fail.
 */
#pragma once

#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/** struct packetdrill_interface - filled by the plugin; @userdata is the first argument of every call */
struct packetdrill_interface {
	void *userdata;
	/** called after a script that passed; after any other the process just ends */
	void (*free)(void *self);
	int (*socket)(void *self, int domain, int type, int protocol);
	int (*bind)(void *self, int fd, const struct sockaddr *addr, socklen_t len);
	int (*listen)(void *self, int fd, int backlog);
	/** the peer's address must be filled in: a script's connection is found by it */
	int (*accept)(void *self, int fd, struct sockaddr *addr, socklen_t *len);
	int (*connect)(void *self, int fd, const struct sockaddr *addr, socklen_t len);
	ssize_t (*read)(void *self, int fd, void *buf, size_t len);
	ssize_t (*readv)(void *self, int fd, const struct iovec *iov, int cnt);
	ssize_t (*recv)(void *self, int fd, void *buf, size_t len, int flags);
	ssize_t (*recvfrom)(void *self, int fd, void *buf, size_t len, int flags,
			    struct sockaddr *addr, socklen_t *addr_len);
	ssize_t (*recvmsg)(void *self, int fd, struct msghdr *msg, int flags);
	ssize_t (*write)(void *self, int fd, const void *buf, size_t len);
	ssize_t (*writev)(void *self, int fd, const struct iovec *iov, int cnt);
	ssize_t (*send)(void *self, int fd, const void *buf, size_t len, int flags);
	ssize_t (*sendto)(void *self, int fd, const void *buf, size_t len, int flags,
			  const struct sockaddr *addr, socklen_t addr_len);
	ssize_t (*sendmsg)(void *self, int fd, const struct msghdr *msg, int flags);
	int (*fcntl)(void *self, int fd, int cmd, ...);
	int (*ioctl)(void *self, int fd, unsigned long request, ...);
	int (*close)(void *self, int fd);
	int (*shutdown)(void *self, int fd, int how);
	int (*getsockopt)(void *self, int fd, int level, int name, void *val, socklen_t *len);
	int (*setsockopt)(void *self, int fd, int level, int name, const void *val, socklen_t len);
	int (*poll)(void *self, struct pollfd *fds, nfds_t cnt, int timeout_ms);
	/** one IP packet, no link header, for the stack; 0 or -1 */
	int (*netdev_send)(void *self, const void *packet, size_t len);
	/** the next IP packet of the stack: @len is the room, then the octets (0: none came in time) */
	int (*netdev_receive)(void *self, void *packet, size_t *len, long long *time_us);
	int (*usleep)(void *self, useconds_t us);
	/** the only clock of a run */
	int (*gettimeofday)(void *self, struct timeval *tv, struct timezone *tz);
	int (*epoll_create)(void *self, int size);
	int (*epoll_ctl)(void *self, int epfd, int op, int fd, struct epoll_event *event);
	int (*epoll_wait)(void *self, int epfd, struct epoll_event *events, int max,
			  int timeout_ms);
	int (*pipe)(void *self, int fds[2]);
	int (*splice)(void *self, int in, off64_t *in_off, int out, off64_t *out_off, size_t len,
		      unsigned int flags);
};

/** packetdrill_interface_init() - the one symbol that packetdrill looks up */
void packetdrill_interface_init(const char *flags, struct packetdrill_interface *ifc);
