/* SPDX-License-Identifier: Apache-2.0 */
/* report_int.h - what report.c and report_wire.c share */
#pragma once

#include "base/timer.h"
#include "net/report.h"
#include "wire/igmp.h"

/** enum report_version - IGMP's; MLD version 1 is V2 here, as it says, and version 2 is V3 */
enum report_version {
	REPORT_V1,
	REPORT_V2,
	REPORT_V3,
};

/** struct report_link - a link, as one family sees it */
struct report_link {
	struct list node; /* in reports.links */
	struct net *net;
	struct link *link;
	bool is_v6;
	uint8_t robustness;   /* how often a change is told */
	struct list groups;   /* struct report_group */
	struct timer all;     /* a query about all groups waits */
	struct mono until[2]; /* REPORT_V1, V2: a router that speaks no more was heard until then */
};

/** struct report_query - a query, read */
struct report_query {
	bool is_v6;
	enum report_version version;
	uint8_t robustness;   /* 0: not told */
	struct ns_addr group; /* any: all */
	uint64_t max_ns;      /* to answer in */
};

/** struct report_batch - records on their way into one report; begins with @rl alone */
struct report_batch {
	struct report_link *rl;
	struct chunk *chunk;
	uint32_t len; /* octets in @chunk */
	uint32_t cnt;
};

/** report_add() - one more record; a report that is full leaves */
void report_add(struct report_batch *b, enum report_record type, const struct ns_addr *group,
		struct mono now);
/** report_flush() - the rest leaves */
void report_flush(struct report_batch *b, struct mono now);
/** report_old() - a report or a leave of an old version */
void report_old(struct report_link *rl, enum report_version v, const struct ns_addr *group,
		bool is_joined, struct mono now);
void report_query(struct net *n, struct link *l, const struct report_query *q, struct mono now);
void report_heard(struct net *n, const struct link *l, const struct ns_addr *group,
		  struct mono now);
