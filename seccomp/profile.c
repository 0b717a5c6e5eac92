/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c - tables of system calls into seccomp filters
 *
 * Theory of operation
 *   monitor.def, agent.def and worker.def are compiled into arrays of rows. Building a filter is one
 *   loop over them: a libseccomp rule for each row, default KILL_PROCESS, native architecture only.
 *   libseccomp compares all 64 bits of an argument (two 32-bit loads on 64-bit machines), so a
 *   value whose upper half the kernel would cut off does not pass for the value it becomes.
 *
 * Invariants
 *   A filter has no rule that is not a row, and rows of one call have the same action, so that their
 *   order cannot matter.
 *
 * Limits
 *   A pointer argument can be tested for its value only, never for what it points to: where that
 *   matters (execve of the monitor) a namespace or a capability must be the lock.
 */
#include "seccomp/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "seccomp/uapi.h"
#include "seccomp/words.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are whole initialisers */
#define RULE(call_, action_, args_, reason_)                                                       \
	{ .name = #call_, .nr = SCMP_SYS(call_), .action = action_, args_, .reason = reason_ },
#define RULE_PER_TAP(call_, reason_)                                                               \
	{ .name = #call_,                                                                          \
	  .nr = SCMP_SYS(call_),                                                                   \
	  .action = SCMP_ACT_ALLOW,                                                                \
	  .is_per_tap = true,                                                                      \
	  .reason = reason_ },
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct profile_row monitor_rows[] = {
#include "seccomp/monitor.def"
};

static const struct profile_row agent_rows[] = {
#include "seccomp/agent.def"
};

static const struct profile_row worker_rows[] = {
#include "seccomp/worker.def"
};

/*
 * @hot: calls that are compared first. The kernel remembers which calls a filter always allows and
 * does not run it for them; for a call whose arguments are tested it runs this filter and every
 * inherited one, so the monitor's knows the hot calls of its children.
 */
static const struct {
	const char *name;
	const struct profile_row *rows;
	size_t row_cnt;
	int hot[2];
} profiles[PROFILE_COUNT] = {
	[PROFILE_MONITOR] = { "monitor",
			      monitor_rows,
			      sizeof(monitor_rows) / sizeof(monitor_rows[0]),
			      { SCMP_SYS(sendmmsg), SCMP_SYS(ioctl) } },
	[PROFILE_AGENT] = { "agent",
			    agent_rows,
			    sizeof(agent_rows) / sizeof(agent_rows[0]),
			    { SCMP_SYS(ioctl), SCMP_SYS(sendto) } },
	[PROFILE_WORKER] = { "worker",
			     worker_rows,
			     sizeof(worker_rows) / sizeof(worker_rows[0]),
			     { SCMP_SYS(sendmmsg), SCMP_SYS(writev) } },
};

const struct profile_row *profile_rows(enum profile which, size_t *ret_cnt)
{
	*ret_cnt = profiles[which].row_cnt;
	return profiles[which].rows;
}

const char *profile_name(enum profile which)
{
	return profiles[which].name;
}

static int rule_add_per_tap(scmp_filter_ctx ctx, const struct profile_row *row,
			    const struct profile_params *p)
{
	for (size_t i = 0; p && i < p->tap_cnt; i++) {
		struct scmp_arg_cmp is_tap = EQ(0, p->tap_fds[i]);
		int r;

		/* Descriptors are non-negative, and a number may come twice. */
		if (p->tap_fds[i] < 0)
			return -EINVAL;
		r = seccomp_rule_add_array(ctx, row->action, row->nr, 1, &is_tap);
		if (r < 0 && r != -EEXIST)
			return r;
	}
	return 0;
}

static int rules_add(scmp_filter_ctx ctx, enum profile which, const struct profile_params *p)
{
	for (size_t i = 0; i < profiles[which].row_cnt; i++) {
		const struct profile_row *row = &profiles[which].rows[i];
		int r;

		/* Pseudo numbers stand for calls that this architecture does not have. */
		if (row->nr < 0)
			continue;
		if (row->is_per_tap)
			r = rule_add_per_tap(ctx, row, p);
		else
			r = seccomp_rule_add_array(ctx, row->action, row->nr, row->arg_cnt,
						   row->args);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The caller releases *ret_ctx. */
static int filter_build(enum profile which, const struct profile_params *p,
			scmp_filter_ctx *ret_ctx)
{
	scmp_filter_ctx ctx;
	int r;

	if (p && p->tap_cnt > PROFILE_TAP_MAX)
		return -EINVAL;
	ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!ctx)
		return -ENOMEM;
	/* A call by another ABI (int 0x80) has other numbers; by default only the thread would go. */
	r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!r)
		r = rules_add(ctx, which, p);
	for (size_t i = 0; !r && i < sizeof(profiles[which].hot) / sizeof(int); i++)
		r = seccomp_syscall_priority(ctx, profiles[which].hot[i], (uint8_t)(UINT8_MAX - i));
	if (r) {
		seccomp_release(ctx);
		return r;
	}
	*ret_ctx = ctx;
	return 0;
}

int profile_load(enum profile which, const struct profile_params *p)
{
	scmp_filter_ctx ctx;
	int r;

	r = filter_build(which, p, &ctx);
	if (r)
		return r;
	/* libseccomp hides the kernel's errno as -ECANCELED unless asked not to. */
	r = seccomp_attr_set(ctx, SCMP_FLTATR_API_SYSRAWRC, 1);
	if (!r)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r;
}

int profile_export_bpf(enum profile which, const struct profile_params *p, int fd)
{
	scmp_filter_ctx ctx;
	int r;

	r = filter_build(which, p, &ctx);
	if (r)
		return r;
	r = seccomp_export_bpf(ctx, fd);
	seccomp_release(ctx);
	return r;
}

int profile_export_pfc(enum profile which, const struct profile_params *p, int fd)
{
	scmp_filter_ctx ctx;
	int r;

	r = filter_build(which, p, &ctx);
	if (r)
		return r;
	r = seccomp_export_pfc(ctx, fd);
	seccomp_release(ctx);
	return r;
}
