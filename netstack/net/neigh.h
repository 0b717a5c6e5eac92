/* SPDX-License-Identifier: Apache-2.0 */
/* neigh.h - who has which MAC: the neighbour table, RFC 4861 7.3 for both families */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "base/mono.h"
#include "base/timer.h"
#include "buf/pkt.h"
#include "ns/addr.h"
#include "wire/eth.h"

struct link;
struct neigh_table;
struct ns_core;

/** enum neigh_state - RFC 4861 7.3.2; FAILED and PERMANENT as Linux has them */
enum neigh_state {
	NEIGH_INCOMPLETE, /* asked, no answer yet; packets wait */
	NEIGH_REACHABLE,  /* known to work until reachable time is over */
	NEIGH_STALE,      /* was known; used as it is, then checked */
	NEIGH_DELAY,      /* used while stale: waits for the transports to confirm it */
	NEIGH_PROBE,      /* asked by unicast */
	NEIGH_FAILED,     /* did not answer; the next packet asks again */
	NEIGH_PERMANENT,  /* configured; nothing changes it */
	NEIGH_STATE_COUNT
};

struct neigh {
	struct list hash;
	struct list lru; /* dynamic entries, most recently used first */
	struct timer timer;
	struct neigh_table *table;
	struct link *link;
	struct ns_addr addr;
	uint8_t mac[ETH_ADDR_LEN];
	uint8_t state;         /* enum neigh_state, neigh_set_state() writes it */
	uint8_t probes;        /* requests sent in this state */
	struct mono confirmed; /* last proof that it works */
	struct mono updated;   /* last change of @mac */
	struct pktq queue;     /* INCOMPLETE: what waits, from the network header on */
	uint32_t queue_len;    /* octets in @queue */
};

/** struct neigh_ops - the part that differs by family and the way back to the transports */
struct neigh_ops {
	/** ask for @n->addr; @is_unicast: ask @n->mac only */
	void (*solicit)(void *ctx, const struct neigh *n, bool is_unicast, struct mono now);
	/** @p was queued for a neighbour on @l that does not answer; borrowed. May send in answer */
	void (*failed)(void *ctx, const struct link *l, const struct pkt *p, struct mono now);
	/** @p may leave to @mac; Consumes @p */
	int (*xmit)(void *ctx, struct link *l, const uint8_t mac[ETH_ADDR_LEN], struct pkt *p);
};

enum neigh_update_flag {
	NEIGH_UPD_SOLICITED = 1u << 0, /* answers a request of ours: reachable */
	NEIGH_UPD_CREATE = 1u << 1,    /* make an entry when there is none */
	NEIGH_UPD_OVERRIDE = 1u << 2,  /* a new MAC counts at once */
};

ns_must_check struct neigh_table *neigh_table_new(struct ns_core *core, const struct neigh_ops *ops,
						  void *ctx);
void neigh_table_free(struct neigh_table *t);
int neigh_output(struct neigh_table *t, struct link *l, const struct ns_addr *addr, struct pkt *p,
		 struct mono now);
void neigh_confirm(struct neigh_table *t, const struct link *l, const struct ns_addr *addr,
		   struct mono now);
void neigh_update(struct neigh_table *t, struct link *l, const struct ns_addr *addr,
		  const uint8_t mac[ETH_ADDR_LEN], uint32_t flags, struct mono now);
bool neigh_advertise(struct neigh_table *t, struct link *l, const struct ns_addr *addr,
		     const uint8_t *mac, uint32_t flags, struct mono now);
ns_must_check int neigh_add_permanent(struct neigh_table *t, struct link *l,
				      const struct ns_addr *addr, const uint8_t mac[ETH_ADDR_LEN]);
const struct neigh *neigh_find(struct neigh_table *t, const struct link *l,
			       const struct ns_addr *addr);
void neigh_flush_link(struct neigh_table *t, const struct link *l, bool has_permanent);
ns_must_check int neigh_forget(struct neigh_table *t, const struct link *l,
			       const struct ns_addr *addr);
const char *neigh_state_name(enum neigh_state s);
