/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - one stack, its wire and its clock, for the plugin
 *
 * Theory of operation
 *
 * Time is virtual: it stands still while packetdrill thinks and jumps from timer to timer while it waits.
 * A look at the clock costs a microsecond, because packetdrill spins on it. Packets that leave the stack queue
 * with the time they left at.
 *
 * packetdrill runs a script in one thread, and calls the script marks as blocking in a second one. A blocked
 * call sleeps in world_wait() while the first thread moves time; after every turn of the stack the first
 * thread waits until the sleeper has looked at the news, so that a run is the same each time. A call
 * that the script does not mark but that has to wait anyway moves time by itself.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "ns/sock.h"
#include "ns/stack.h"
#include "support/prng.h"

struct world_out {
	struct world_out *next;
	struct mono at;
	uint32_t len;
	uint8_t b[];
};

/** struct world_config - what --so_flags may say; zero means the default */
struct world_config {
	uint32_t mtu;             /* octets, 1500 */
	uint32_t rcvbuf_max;      /* octets, 15 MiB: decides the window scale */
	struct ns_endpoint local; /* 192.168.0.1 */
	char knobs[256];          /* path of a file with "sysctl=value" lines */
};

struct world {
	pthread_mutex_t lock;
	pthread_cond_t news; /* a turn passed */
	pthread_cond_t seen; /* the sleeper has looked */
	pthread_t first;     /* the thread that moves time */
	bool is_sleeper, is_released;
	uint64_t turn_cnt, seen_cnt;
	struct world_config config;
	struct ns_env env;
	struct prng random;
	struct ns_stack *stack;
	uint32_t link_id;
	struct mono now;
	struct world_out *out_first, **out_last;
	/** called for each event of the stack, in a turn */
	void (*on_event)(void *ctx, const struct ns_event *e);
	void *ctx;
};

/** world_init() - a stack with one link; -EINVAL for flags that say nothing known */
int world_init(struct world *w, const char *flags);
void world_done(struct world *w);

/* All of the following: with @lock held. */

/** world_turn() - timers that are due, events, output */
void world_turn(struct world *w);
/** world_run() - turns until @until, which becomes the present; stops early when a packet is out if @to_packet */
void world_run(struct world *w, struct mono until, bool to_packet);
/** world_read_knobs() - turn the knobs that the file of --so_flags names; unknown ones are skipped */
void world_read_knobs(struct world *w);
/** world_inject() - one IP packet of the peer's and a turn; -EMSGSIZE */
int world_inject(struct world *w, const void *packet, size_t len);
/** world_pop() - the oldest packet of the stack's, the caller's to free(), or NULL */
struct world_out *world_pop(struct world *w);
/** world_wait() - until is_ready(ctx); false when @timeout_ns of virtual time passed first */
bool world_wait(struct world *w, bool (*is_ready)(void *ctx), void *ctx, uint64_t timeout_ns);
