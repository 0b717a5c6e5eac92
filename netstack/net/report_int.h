/* SPDX-License-Identifier: Apache-2.0 */
/* report_int.h - what report.c, report_group.c and report_wire.c share */
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
	uint8_t robustness;   /* what the last query of V3 said, 0: nothing */
	uint64_t interval_ns; /* likewise, between queries */
	struct list groups;   /* struct report_group */
	struct timer all;     /* a query about all groups waits */
	struct mono until[2]; /* REPORT_V1, V2: a router that speaks no more was heard until then */
};

/** struct report_source - a source that is in the list of a group's state, or was and that is to be told */
struct report_source {
	struct ns_addr addr;
	bool is_listed;
	uint8_t left; /* how often it is to be told that it came into the list, or left it */
};

/** struct report_group - a group that is heard on a link, or was and that is not told to the end */
struct report_group {
	struct list node; /* in report_link.groups */
	struct report_link *rl;
	struct ns_addr addr;
	struct timer answer; /* a query about it waits */
	struct timer change; /* its state is another one, and that is to be told (again) */
	uint8_t mode_left;   /* how often it is to be told that its mode is another */
	uint8_t old_left;    /* likewise, to old routers, that it is heard or not */
	bool is_exclude;     /* false with an empty list: it is not heard */
	struct report_source *sources; /* by address */
	uint32_t source_cnt, source_cap;
	struct ns_addr
		*asked; /* the query that waits is about those alone; none: about the group */
	uint32_t asked_cnt, asked_cap;
};

/** struct report_query - a query, read */
struct report_query {
	bool is_v6;
	enum report_version version;
	uint8_t robustness;   /* 0: not told */
	uint64_t interval_ns; /* between queries, 0: not told */
	struct ns_addr group; /* any: all */
	uint64_t max_ns;      /* to answer in */
	const struct pkt *pkt;
	uint32_t source_off, source_cnt; /* where in @pkt its sources are, and how many */
};

/** struct report_batch - records on their way into one report; begins with @rl alone */
struct report_batch {
	struct report_link *rl;
	struct chunk *chunk;
	uint32_t len; /* octets in @chunk */
	uint32_t cnt;
	uint32_t record_off; /* of the record that grows */
	uint32_t source_cnt; /* in it */
};

/* ---- report_group.c ---- */

struct report_group *report_group_new(struct report_link *rl, const struct ns_addr *addr);
/** report_group_free() - its timers are the caller's to cancel */
void report_group_free(struct report_group *g);
/** report_group_take() - its state is what sockets and addresses of ours make it now. Return: is there something to tell? */
bool report_group_take(struct report_group *g, uint8_t robustness);
/** report_group_is_heard() - it has a state: any but INCLUDE {} */
bool report_group_is_heard(const struct report_group *g);
/** report_group_renew() - all of its state is to be told as if it were new */
void report_group_renew(struct report_group *g, uint8_t robustness);
/** report_group_settle() - nothing is left to be told */
void report_group_settle(struct report_group *g);
/** report_group_add_change() - RFC 9776 5.1: the records of one State-Change Report. Return: are more to follow? */
bool report_group_add_change(struct report_batch *b, struct report_group *g, struct mono now);
/** report_group_add_current() - RFC 9776 5.2: all of its state */
void report_group_add_current(struct report_batch *b, struct report_group *g, struct mono now);
/** report_group_add_asked() - likewise, or of the sources that were asked for; those are forgotten */
void report_group_add_asked(struct report_batch *b, struct report_group *g, struct mono now);
/** report_group_ask() - a query names sources; what cannot be remembered makes it one about the group */
void report_group_ask(struct report_group *g, const struct report_query *q);
void report_group_ask_all(struct report_group *g);

/* ---- report_wire.c ---- */

/** report_begin() - one more record, of @source_cnt sources; where it does not fit, a report leaves before it */
void report_begin(struct report_batch *b, enum report_record type, const struct ns_addr *group,
		  uint32_t source_cnt, struct mono now);
/** report_source() - a source of the record that was begun; RFC 9776 4.2.16: in the next report, or left out */
void report_source(struct report_batch *b, const struct ns_addr *source, struct mono now);
/** report_flush() - the rest leaves */
void report_flush(struct report_batch *b, struct mono now);
/** report_asked() - source number @i of a query */
struct ns_addr report_asked(const struct report_link *rl, const struct report_query *q, uint32_t i);
/** report_old() - a report or a leave of an old version */
void report_old(struct report_link *rl, enum report_version v, const struct ns_addr *group,
		bool is_joined, struct mono now);

/* ---- report.c ---- */

void report_query(struct net *n, struct link *l, const struct report_query *q, struct mono now);
void report_heard(struct net *n, const struct link *l, const struct ns_addr *group,
		  struct mono now);
