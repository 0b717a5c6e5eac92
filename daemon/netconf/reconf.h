/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconf - give links the configuration a snapshot holds
 *
 * Used twice: for the decoy that stands in for a link, and for the link itself when it comes back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/netconf/scrape.h"

/** struct reconf - a job; all borrowed */
struct reconf {
	struct nlraw *nl; /* socket in the links' namespace */
	int netns_fd;     /* that namespace */
	const struct snapshot *snap;
	const bool *is_wanted;   /* by row of the plan's links: those to configure */
	const uint32_t *ifindex; /* by row: what the link's index is now */
	bool has_gone; /* a link of the snapshot is gone: what led through it cannot come */
};

/**
 * reconf_sysctls() - write the files of /proc/sys/net that differ
 * @rc:		Job
 *
 * Called while the links are down. IPv6 address generation is switched off, so that nothing appears
 * by itself when they come up; reconf_finish() sets it as it was.
 *
 * Return: 0 or negative errno; files that refuse are logged and skipped
 */
int reconf_sysctls(const struct reconf *rc);

/**
 * reconf_addrs() - bring the links up if they were, then their addresses, in the order of old
 * @rc:		Job
 *
 * Return: 0 or negative errno of the first that failed; the others were done
 */
int reconf_addrs(const struct reconf *rc);

/**
 * reconf_routes() - next hop objects and routes that lead through the links or need their addresses
 * @rc:		Job
 *
 * Return: 0 or negative errno of the first that failed; the others were done
 */
int reconf_routes(const struct reconf *rc);

/**
 * reconf_neighs() - permanent neighbours and proxies
 * @rc:		Job
 *
 * Return: 0 or negative errno of the first that failed; the others were done
 */
int reconf_neighs(const struct reconf *rc);

/**
 * reconf_finish() - set address generation as it was, remove addresses and routes that came by
 * themselves and were not there before
 * @rc:		Job
 *
 * Return: 0 or negative errno
 */
int reconf_finish(const struct reconf *rc);

/**
 * reconf_clear() - remove the links' routes and addresses, as far as the kernel lets them go
 * @rc:		Job
 *
 * Return: 0 or negative errno
 */
int reconf_clear(const struct reconf *rc);

/**
 * reconf_sysctl_write() - write one file below /proc/sys/net of a namespace
 * @netns_fd:	Namespace, borrowed
 * @path:	Below /proc/sys/net
 * @value:	Text
 *
 * Return: 0 or negative errno
 */
int reconf_sysctl_write(int netns_fd, const char *path, const char *value);
