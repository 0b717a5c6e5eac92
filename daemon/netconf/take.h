/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take - take a namespace's links away from the kernel, and give them back exactly
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/netconf/journal.h"
#include "daemon/netconf/linkopen.h"
#include "daemon/netconf/nlraw.h"

/** struct take_options - what the configuration says about taking; strings are borrowed */
struct take_options {
	const char *id;         /* for the plan */
	const char *netns_path; /* for the journal, NULL if not given */
	pid_t pid;              /* for the journal, 0 if not known */
	const char *tap;        /* carry frames over this TAP device, NULL for the link itself */
	const char *
		fail_at; /* tests: fail at this step; "kill-STEP" dies there, "stop-STEP" waits for SIGCONT */
	bool is_strip; /* --take=strip */
	bool has_gso;
	bool has_software_gso;
	bool has_log_packets; /* for the plan, as is has_pcap */
	bool has_pcap;
	bool is_network_none; /* take the links but carry none */
};

/** struct takeover - a namespace that is, or is to be, taken; release with takeover_done() */
struct takeover {
	struct journal *journal; /* borrowed */
	struct take_options opt;
	struct journal_record rec; /* rec.snap.plan is what the children get */
	int ctr_fd;                /* the container's namespace, -1 when it is gone */
	int keep_fd;               /* ours, in which moved links are, -1 without one */
	int tap_fd;                /* kept: a TAP that nobody holds is gone; -1 without one */
	struct nlraw ctr, keep;
	uint32_t kept_ifindex[PLAN_LINKS_MAX]; /* of moved links, in our namespace */
	uint32_t now_ifindex[PLAN_LINKS_MAX];  /* of links and decoys, in the container's */
	struct linkopen_fds
		link_fds[PLAN_LINKS_MAX]; /* of carried links until the worker has them */
	bool is_wanted[PLAN_LINKS_MAX];   /* links that are taken and still exist */
	/* How links and decoys looked in the container at the last look; ifindex 0: not looked yet */
	struct plan_link seen[PLAN_LINKS_MAX];
	struct sysctl_value *seen_sysctls; /* likewise */
	size_t seen_sysctl_cnt;
	struct plan settling; /* the last look, when it saw a link that had come */
	uint32_t settling_looks;
	bool has_looked; /* takeover_follow() was called */
	bool is_taken;
};

/**
 * takeover_init() - nothing taken
 * @t:		Not initialised before
 * @j:		Opened; borrowed until takeover_done()
 * @opt:	Copied, its strings borrowed until takeover_done()
 */
void takeover_init(struct takeover *t, struct journal *j, const struct take_options *opt);

/**
 * takeover_done() - release memory and descriptors; gives nothing back
 * @t:		Initialised
 */
void takeover_done(struct takeover *t);

/**
 * takeover_take() - read, write the journal, open, take away
 * @t:		Initialised
 * @ctr_fd:	The container's namespace. Consumes @ctr_fd
 *
 * On failure the namespace is as it was before.
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int takeover_take(struct takeover *t, int ctr_fd);

/**
 * takeover_link_fds() - descriptors of the carried links, in the order of the plan
 * @t:		Taken
 * @ret_fds:	Room for PLAN_LINK_FDS_MAX; the caller owns what is set
 * @ret_cnt:	Number of descriptors
 *
 * The first call hands over what taking opened; later ones, for a new worker, open afresh, so that
 * nothing of the dead one's queue is left.
 *
 * Return: 0 or negative errno, then nothing is set; a sentence was logged
 */
int takeover_link_fds(struct takeover *t, int *ret_fds, size_t *ret_cnt);

/**
 * takeover_follow() - look at the namespaces again, and follow what was changed there
 * @t:		Taken
 * @ret_is_new:	Set to whether rec.snap.plan is another one now
 *
 * The first call only remembers how the decoys look. Descriptors of links that came are in link_fds of their
 * rows. The journal is written before anything is done.
 *
 * Return: 0; 1 when a link has come that may not be configured yet, then nothing was done: look again soon; or
 * negative errno, then the plan is as before; a sentence was logged
 */
int takeover_follow(struct takeover *t, bool *ret_is_new);

/**
 * takeover_gso_differs() - whether GSO limits changed since the last look: the kernel announces no such change
 * @t:		Taken
 */
bool takeover_gso_differs(struct takeover *t);

/**
 * takeover_new_fds() - descriptors of the links that came and that no worker has
 * @t:		Taken
 * @ret_fds:	Room for PLAN_LINK_FDS_MAX; the caller owns what is set
 *
 * Return: how many, in the order of the plan
 */
size_t takeover_new_fds(struct takeover *t, int *ret_fds);

/**
 * takeover_load() - continue where a dead monitor's journal ends
 * @t:		Initialised; afterwards takeover_restore() may be called
 *
 * Return: 0, -ENOENT without a journal, negative errno; a sentence was logged unless -ENOENT
 */
int takeover_load(struct takeover *t);

/**
 * takeover_restore() - give the namespace back as it was
 * @t:		Taken, half taken or loaded
 *
 * May be repeated after a failure. Links that no longer exist are left out; with the container's
 * namespace gone, the daemon's is dropped.
 *
 * Return: 0 or negative errno, then the journal is still there; a sentence was logged
 */
int takeover_restore(struct takeover *t);
