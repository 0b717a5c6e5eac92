/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - the TCP/IP stack as a library: frames and time in, frames and events out
 *
 * Theory of operation
 *
 * The embedder's loop turn is always the same:
 *
 *   1 ns_stack_advance(now)                  timers that are due
 *   2 ns_stack_input(link, frame, now) ...   all frames that are there
 *   3 ns_stack_next_event() ...              readable, writable, connected, accepted, failed
 *     with ns_sock_* calls in answer
 *   4 ns_stack_output(now)                   builds and sends what all of that made due: one
 *                                            acknowledgement a connection a turn, super-segments,
 *                                            all frames of a link in as few xmit() calls as possible
 *   5 sleep until ns_stack_deadline() or a descriptor is ready
 *
 * The stack makes no system call, reads no clock, logs nothing and has no global state. It is
 * single-threaded: one instance, one caller at a time. Nothing here calls back into the embedder
 * but link->xmit (from 4 only) and env->random.
 *
 * Errors are negative errno values of Linux.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/mono.h"
#include "ns/addr.h"
#include "ns/env.h"
#include "ns/link.h"
#include "ns/route.h"

struct ns_stack;
struct pkt;

/** struct ns_limits - caps; zero means the default of limits.def */
struct ns_limits {
	uint32_t sockets;      /* sockets and connections together */
	uint32_t timewait;     /* compact TIME-WAIT entries */
	uint32_t chunks_large; /* 64 KiB pieces of payload memory */
	uint32_t chunks_small; /* 4 KiB pieces */
	uint32_t rx_frames;    /* received frames held at once */
	uint32_t neighbours;   /* dynamic neighbour entries */
	uint32_t
		sndbuf_max; /* octets: send buffer autotuned up to this (6 MiB), until a knob says else */
	uint32_t rcvbuf_max; /* octets: receive window autotuned up to this (4 MiB), likewise */
};

/** enum ns_knob - NS_KNOB_tcp_timestamps ...: the rows of knobs.def */
enum ns_knob {
#define KNOB_AT(name_, sysctl_, word_, least_, most_, default_, text_) NS_KNOB_##name_,
#include "ns/knobs.def"
	NS_KNOB_COUNT
};

/** struct ns_knob_info - a row of knobs.def */
struct ns_knob_info {
	const char *name;
	const char *sysctl; /* "net.ipv4.tcp_rmem" */
	uint8_t word;       /* which word of its value, from 0 on */
	int least, most, initial;
	const char *text;
};

ns_must_check struct ns_stack *ns_stack_new(const struct ns_env *env,
					    const struct ns_limits *limits);
/** ns_stack_free() - all connections vanish without a word on the wire; NULL is fine */
void ns_stack_free(struct ns_stack *s);

/** ns_stack_set_knob() - turn a knob; -EINVAL for a value out of its range */
ns_must_check int ns_stack_set_knob(struct ns_stack *s, enum ns_knob knob, int value);
/** ns_stack_set_fastopen_keys() - of all listeners that have none of their own, as ns_sock_set_fastopen_keys(); drawn by chance until then */
ns_must_check int ns_stack_set_fastopen_keys(struct ns_stack *s, const uint8_t *keys, uint32_t len);
/** ns_stack_knob() - its value */
int ns_stack_knob(const struct ns_stack *s, enum ns_knob knob);
/** ns_knob_find() - by the name of its row, which is mostly that after net.ipv4.; -ENOENT */
ns_must_check int ns_knob_find(const char *name, enum ns_knob *ret_knob);
/** ns_knob_info() - its row, static; NULL for one that is not there */
const struct ns_knob_info *ns_knob_info(enum ns_knob knob);

/** ns_stack_add_link() - a link (id from 1 on; 0 is the loop link, always there); @c is copied */
ns_must_check int ns_stack_add_link(struct ns_stack *s, const struct ns_link_config *c,
				    uint32_t *ret_link_id);
/** ns_stack_set_link() - name, MTU, MAC, is_noarp and GSO limits become those of @c; 0, -ENODEV, -EINVAL */
ns_must_check int ns_stack_set_link(struct ns_stack *s, uint32_t link_id,
				    const struct ns_link_config *c);
/**
 * ns_stack_del_link() - with its addresses, neighbours and the routes that have no other way
 * Its driver is not called any more. The number may be given to another link later. 0, -ENODEV
 */
ns_must_check int ns_stack_del_link(struct ns_stack *s, uint32_t link_id);
/** ns_stack_add_addr() - ns_stack_set_addr() of an address with its subnet, and nothing special */
ns_must_check int ns_stack_add_addr(struct ns_stack *s, uint32_t link_id, const struct ns_addr *a,
				    uint8_t prefix_len);
/** ns_stack_deprecate_addr() - an IPv6 address that is not to be chosen if there is another (RFC 6724 5 rule 3), or is again */
ns_must_check int ns_stack_deprecate_addr(struct ns_stack *s, uint32_t link_id,
					  const struct ns_addr *a, bool is_deprecated);
/** ns_stack_add_neigh() - a permanent neighbour (or one that is never asked, NOARP); again: its new MAC */
ns_must_check int ns_stack_add_neigh(struct ns_stack *s, uint32_t link_id, const struct ns_addr *a,
				     const uint8_t mac[6]);
/** ns_stack_del_neigh() - permanent or learned; 0, -ENODEV, -ENOENT */
ns_must_check int ns_stack_del_neigh(struct ns_stack *s, uint32_t link_id, const struct ns_addr *a);
ns_must_check int ns_stack_set_link_up(struct ns_stack *s, uint32_t link_id, bool is_up);

/** ns_stack_rx_alloc() - an empty frame for the driver to read into (16 octets of headroom), NULL at the cap */
ns_must_check struct pkt *ns_stack_rx_alloc(struct ns_stack *s);
/**
 * ns_stack_input() - one received frame, from the Ethernet header on, vnet metadata already in @p; Consumes @p
 * Return: DROP_NONE, or why it died, for who watches: it is counted
 */
enum drop ns_stack_input(struct ns_stack *s, uint32_t link_id, struct pkt *p, struct mono now);
/** ns_stack_lost() - count a frame that died before it got here: vnet_pull() refused it, say */
void ns_stack_lost(struct ns_stack *s, enum drop why);
void ns_stack_advance(struct ns_stack *s, struct mono now);
void ns_stack_output(struct ns_stack *s, struct mono now);
/** ns_stack_deadline() - call ns_stack_advance() at this time; MONO_NEVER: only when something arrives */
struct mono ns_stack_deadline(struct ns_stack *s);
/** ns_stack_link_mode() - how frames of this link leave now; NS_GSO_NONE for a link that is not there */
enum ns_gso_mode ns_stack_link_mode(const struct ns_stack *s, uint32_t link_id);
/** ns_stack_link_is_blocked() - the driver said -EAGAIN and ns_link_writable() was not called since */
bool ns_stack_link_is_blocked(const struct ns_stack *s, uint32_t link_id);
/** ns_link_writable() - a driver that said -EAGAIN has room again */
void ns_link_writable(struct ns_stack *s, uint32_t link_id);

/** ns_stack_trim() - give memory kept for reuse back to the heap; done by itself after a pause of a second */
void ns_stack_trim(struct ns_stack *s);

/** enum ns_drop, stats: names and values of every counter, for the embedder to show */
uint32_t ns_stack_stat_cnt(void);
const char *ns_stack_stat_name(uint32_t i);
const char *ns_stack_stat_text(uint32_t i);
uint64_t ns_stack_stat(const struct ns_stack *s, uint32_t i);
