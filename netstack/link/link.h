/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - a link as the stack sees it: what it can do, what waits to leave */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/pool.h"
#include "base/stats.h"
#include "buf/pkt.h"
#include "link/trust.h"
#include "ns/link.h"

enum {
	LINK_LOOP_ID = 0,
	LINK_LOOP_MTU = 65535, /* octets */
};

/** struct link - one per interface; owned by net, borrowed by everybody else for as long as the stack lives */
struct link {
	uint32_t id;
	struct ns_link_config
		config; /* follows ns_stack_set_link(), is_up ns_stack_set_link_up() */
	enum ns_gso_mode
		mode; /* how frames leave now; weaker than @config asks while the device is not trusted */
	struct gso_trust trust; /* in the device */
	bool has_uso; /* super-frames of datagrams leave as they are, while @mode is NS_GSO_HW */
	bool is_loop;
	bool is_gone;    /* removed: down, without a name, until another takes its place */
	bool is_blocked; /* the driver said -EAGAIN: wait for link_writable() */
	bool is_starved; /* somebody was told there is no room: wake the transports when there is */
	struct pktq txq; /* as the layers above made them */
	struct pktq ready;      /* in the form that leaves, in front of @txq */
	uint64_t txq_len;       /* octets in @txq */
	uint64_t groups6;       /* link_hear6(): bit n: a group whose MAC ends in n, modulo 64 */
	struct pool *pkts;      /* of the stack */
	struct ns_stats *stats; /* of the stack */
};

ns_must_check struct link *link_new(uint32_t id, const struct ns_link_config *config,
				    struct pool *pkts, struct ns_stats *stats);
void link_free(struct link *l);
void link_renew(struct link *l, uint32_t id, const struct ns_link_config *config);
void link_retire(struct link *l);
void link_set_config(struct link *l, const struct ns_link_config *config);

int link_output(struct link *l, struct pkt *p);
void link_lose(struct link *l, struct pkt *p, enum drop why);
uint32_t link_room(struct link *l);
uint32_t link_gso_max(const struct link *l, uint32_t mss, uint32_t hdr_len);
ns_must_check bool link_takes_uso(const struct link *l, uint32_t len, uint32_t segs);
void link_flush(struct link *l);
void link_writable(struct link *l);
void link_set_up(struct link *l, bool is_up);
void link_hear6(struct link *l, const uint8_t mac[6]);
/** link_zone() - what link-local addresses of this link carry inside the stack (ns/addr.h) */
static inline uint16_t link_zone(const struct link *l)
{
	return (uint16_t)l->config.ifindex;
}

/** link_has_work() - frames wait and may leave */
static inline bool link_has_work(const struct link *l)
{
	return !l->is_blocked && (l->txq.cnt > 0 || l->ready.cnt > 0);
}
