/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scrape - read a namespace's network configuration
 */
#pragma once

#include "daemon/common/plan.h"
#include "daemon/netconf/netns.h"
#include "daemon/netconf/nlraw.h"

/** enum raw_table - the dumps that are kept as they came, in the order they are given back */
enum raw_table {
	RAW_LINKS,
	RAW_ADDRS,
	RAW_NEXTHOPS,
	RAW_ROUTES,
	RAW_RULES,
	RAW_NEIGHS, /* permanent and NOARP ones, and proxies */
	RAW_TABLE_COUNT,
};

/** struct sysctl_value - one file below /proc/sys/net that belongs to a link */
struct sysctl_value {
	char path[96];  /* below /proc/sys/net, such as "ipv4/conf/eth0/rp_filter" */
	char value[80]; /* the longest is net.ipv4.tcp_fastopen_key with a backup */
};

/** struct snapshot - a namespace as it was; release with snapshot_done() */
struct snapshot {
	struct netns_id id;
	struct plan plan;                  /* what it means */
	struct nlset raw[RAW_TABLE_COUNT]; /* the same as messages, to give it back */
	struct sysctl_value *sysctls;      /* of every link but loopback */
	size_t sysctl_cnt;
};

/**
 * raw_table_name() - key of a table in the journal
 * @t:		Table
 *
 * Return: static text
 */
const char *raw_table_name(enum raw_table t);

/**
 * raw_table_hdr_len() - octets of the family header of a table's messages
 * @t:		Table
 */
size_t raw_table_hdr_len(enum raw_table t);

/**
 * snapshot_done() - release and empty
 * @s:		Snapshot, or zeroed
 */
void snapshot_done(struct snapshot *s);

/**
 * snapshot_add_sysctl() - append a row
 * @s:		Snapshot
 *
 * Return: zeroed row, borrowed until the next call; NULL when out of memory or too many
 */
struct sysctl_value *snapshot_add_sysctl(struct snapshot *s);

/**
 * scrape_links() - read the links alone
 * @nl:		Socket in the namespace
 * @p:		Not initialised before; set on success, the caller releases it
 *
 * Return: 0 or negative errno
 */
int scrape_links(struct nlraw *nl, struct plan *p);

/**
 * scrape_watch_open() - a socket that hears of changes of what scrape() reads
 * @watch:	Not initialised before; the caller closes it
 * @netns_fd:	Namespace, borrowed
 * @has_neighs:	Neighbours, too, and next hop objects
 *
 * Return: 0 or negative errno
 */
int scrape_watch_open(struct nlraw *watch, int netns_fd, bool has_neighs);

/**
 * scrape_watch_saw_change() - whether a change was announced since the last call
 * @watch:	Opened; a full socket buffer counts as a change
 */
bool scrape_watch_saw_change(struct nlraw *watch);

/**
 * scrape() - read everything
 * @netns_fd:	Namespace, borrowed
 * @s:		Not initialised before; set on success, the caller releases it
 *
 * The host's own namespace is refused. The plan's links have driver PLAN_DRIVER_NONE: who carries
 * what is decided when it is taken. When the configuration changes while it is read, it is read
 * again.
 *
 * Return: 0 or negative errno; a sentence was logged on failure
 */
int scrape(int netns_fd, struct snapshot *s);
