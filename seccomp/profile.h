/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - the system calls each role of sluiced may make, from tables to a loaded filter
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seccomp.h>

enum profile {
	PROFILE_MONITOR,
	PROFILE_AGENT,
	PROFILE_WORKER,
	PROFILE_COUNT,
};

/* Most TAP descriptors of one worker. */
#define PROFILE_TAP_MAX 64

/* Most arguments one row tests. */
#define PROFILE_ARG_MAX 3

/**
 * struct profile_params - what a table cannot know in advance
 * @tap_fds:	descriptor numbers of TAP devices, the only ones the worker may writev() to
 * @tap_cnt:	number of them, at most PROFILE_TAP_MAX
 */
struct profile_params {
	const int *tap_fds;
	size_t tap_cnt;
};

/**
 * struct profile_row - one row of a table
 * @name:	of the system call
 * @nr:		its number on this machine, negative where the architecture does not have it
 * @action:	SCMP_ACT_ALLOW or SCMP_ACT_ERRNO(x)
 * @args:	tests that must all hold, each on all 64 bits of an argument
 * @arg_cnt:	number of tests, 0 for any arguments
 * @is_per_tap:	one rule for each TAP descriptor, which must be argument 0; none without TAP
 * @reason:	why the role needs it, and where
 *
 * A call is let through if any of its rows holds; what no row speaks of kills the process.
 */
struct profile_row {
	const char *name;
	int nr;
	uint32_t action;
	struct scmp_arg_cmp args[PROFILE_ARG_MAX];
	unsigned int arg_cnt;
	bool is_per_tap;
	const char *reason;
};

/**
 * profile_rows() - the table of a profile
 * @which:	one of the profiles
 * @ret_cnt:	gets the number of rows
 *
 * Return: static array
 */
const struct profile_row *profile_rows(enum profile which, size_t *ret_cnt);

/**
 * profile_name() - the name of a profile
 * @which:	one of the profiles
 *
 * Return: static text
 */
const char *profile_name(enum profile which);

/**
 * profile_load() - put this process under a profile, for good
 * @which:	one of the profiles
 * @p:		parameters; only the worker's table has any, NULL for none
 *
 * Sets no_new_privs. Afterwards any call that the table does not allow ends the process with
 * SIGSYS. Only the calling thread is meant to exist.
 *
 * Return: 0; -EINVAL for bad parameters, -ENOMEM, or what the kernel answered
 */
int profile_load(enum profile which, const struct profile_params *p);

/**
 * profile_export_bpf() - write the filter as the kernel would get it
 * @which:	one of the profiles
 * @p:		as in profile_load()
 * @fd:		gets an array of struct sock_filter
 *
 * Return: 0 or negative errno
 */
int profile_export_bpf(enum profile which, const struct profile_params *p, int fd);

/**
 * profile_export_pfc() - write the filter as libseccomp's pseudo code, for people and diffs
 * @which:	one of the profiles
 * @p:		as in profile_load()
 * @fd:		gets text
 *
 * Return: 0 or negative errno
 */
int profile_export_pfc(enum profile which, const struct profile_params *p, int fd);
