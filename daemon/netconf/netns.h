/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netns - network namespaces: open, compare, visit, make, keep alive
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** struct netns_id - tells namespaces apart; the cookie is never given twice, an inode may be */
struct netns_id {
	uint64_t dev;
	uint64_t ino;
	uint64_t cookie; /* SO_NETNS_COOKIE, linux 5.14 */
};

/**
 * netns_open_path() - a descriptor of the namespace at a path
 * @path:	/run/netns/NAME, /proc/PID/ns/net
 *
 * Return: descriptor (the caller closes it) or negative errno; -EINVAL when it is no network
 * namespace
 */
int netns_open_path(const char *path);

/**
 * netns_open_pid() - a descriptor of the namespace a process is in
 * @pid:	Process
 *
 * Return: descriptor (the caller closes it) or negative errno
 */
int netns_open_pid(pid_t pid);

/**
 * netns_identify() - what tells a namespace from all others
 * @fd:		Descriptor of the namespace, borrowed
 * @ret_id:	Set on success
 *
 * Return: 0 or negative errno
 */
int netns_identify(int fd, struct netns_id *ret_id);

/** netns_id_eq() - Return: true when both name one namespace */
bool netns_id_eq(const struct netns_id *a, const struct netns_id *b);

/**
 * netns_is_ours() - whether a namespace is the host's
 * @id:		Namespace
 *
 * Return: 1 for the daemon's own namespace and that of process 1, else 0; negative errno
 */
int netns_is_ours(const struct netns_id *id);

/**
 * netns_call() - run a function inside a namespace
 * @fd:		Namespace, borrowed
 * @fn:		Called there; sockets it opens stay there, /proc/sys/net is that of the namespace
 * @ctx:	Handed to @fn
 *
 * The process must be single-threaded. It aborts when the way back is barred: nothing that follows
 * could be trusted to happen in the right place.
 *
 * Return: what @fn returned, or negative errno when the namespace could not be entered
 */
int netns_call(int fd, int (*fn)(void *ctx), void *ctx);

/**
 * netns_socket() - socket(2) inside a namespace
 * @fd:		Namespace, borrowed
 * @domain:	As in socket(2), as are @type and @protocol
 *
 * Return: descriptor (the caller closes it) or negative errno
 */
int netns_socket(int fd, int domain, int type, int protocol);

/**
 * netns_new() - make an empty namespace
 *
 * Return: descriptor (the caller closes it) or negative errno
 */
int netns_new(void);

/**
 * netns_pin() - keep a namespace alive beyond the processes in it
 * @fd:		Namespace, borrowed
 * @path:	File to make and to mount the namespace on
 *
 * Return: 0 or negative errno; nothing is left behind on failure
 */
int netns_pin(int fd, const char *path);

/**
 * netns_unpin() - undo netns_pin()
 * @path:	As there; no file there is fine
 *
 * Return: 0 or negative errno
 */
int netns_unpin(const char *path);

/**
 * netns_find() - look for a namespace among those of all processes
 * @id:		The one wanted
 *
 * Return: descriptor (the caller closes it), -ENOENT when no process lives in it
 */
int netns_find(const struct netns_id *id);
