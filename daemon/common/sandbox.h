/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - the last step of each role before its event loop: give up what it does not need
 */
#pragma once

#include <stddef.h>

enum role {
	ROLE_MONITOR,
	ROLE_AGENT,
	ROLE_WORKER,
	ROLE_COUNT,
};

/* User and group of agent and worker. */
#define SANDBOX_UID 65534

/**
 * struct sandbox_params - what differs between two processes of one role
 * @netns_fd:	agent: network namespace of the container, entered; negative: stay where we are
 * @tap_fds:	worker: numbers of the TAP descriptors, the only ones it may writev() to afterwards
 * @tap_cnt:	number of them, at most PROFILE_TAP_MAX
 */
struct sandbox_params {
	int netns_fd;
	const int *tap_fds;
	size_t tap_cnt;
};

/**
 * sandbox_enter() - narrow this process, for good
 * @role:	what it is
 * @p:		parameters, borrowed; NULL for none
 *
 * In this order: namespaces, empty root, user, capabilities, no_new_privs, seccomp. The monitor
 * keeps namespaces, root and user. Descriptors stay open and the event base must have been made
 * before. Afterwards a call that the role's table in seccomp/ does not allow ends the process.
 *
 * The process must have one thread. Its pid namespace is made by whoever clones it.
 *
 * Return: 0, or a negative errno, logged; then the process is half narrowed and must exit
 */
int sandbox_enter(enum role role, const struct sandbox_params *p);
