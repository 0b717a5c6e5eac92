/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vwire.h - stacks in virtual time, joined by wires that lose, delay, double and damage
 *
 * Theory of operation
 *
 * A vnet holds hosts (a stack, one link, an application) and one clock. vnet_step() moves the clock
 * to the next thing that can happen (a frame arrives, a stack's deadline, a link has room again, an
 * application wakes) and gives every host concerned one turn of the loop that ns/stack.h describes:
 * advance, input, events, output. Nothing else makes time pass, so 10 000 s cost what their frames
 * cost, and a seed gives the same run every time.
 *
 * A wire joins two hosts; each direction has its own faults. Super-frames travel whole, as over a
 * veth, or are cut as by TSO hardware. Octets are damaged only on frames whose checksum is complete,
 * as on a real wire.
 *
 * Limits
 *
 * A stack that asks to be called again at once, LIVELOCK_STEPS times without time passing, is a
 * failure: vnet_step() says so and the run ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ns/sock.h"
#include "ns/stack.h"
#include "support/frame.h"
#include "support/pcapfile.h"
#include "support/prng.h"

enum {
	VNET_HOSTS = 8,
	VNET_LIVELOCK_STEPS = 100000,
};

struct pkt;
struct vnet;
struct vhost;

/** struct vwire_dir - what one direction does to frames; zero: nothing */
struct vwire_dir {
	uint64_t delay_ns;   /* propagation */
	uint64_t jitter_ns;  /* up to so much more for each frame, order kept */
	uint64_t reorder_ns; /* a reordered frame is late by up to this */
	uint64_t late_ns;    /* and by this at the least */
	uint32_t hole_len; /* octets of frame; longer ones vanish, and nobody says so; 0: none do */
	uint32_t loss_ppm, reorder_ppm, dup_ppm, corrupt_ppm; /* of a million frames */
	uint32_t eagain_ppm; /* of a million xmit() calls answered -EAGAIN, others cut short */
	uint64_t rate_Bps;   /* octets a second, 0: no limit */
	uint32_t queue_cnt;  /* frames waiting for @rate_Bps, more are lost; 0: 1000 */
	bool is_cut;         /* super-frames are cut as by TSO hardware */
	bool refuses_gso;    /* -EINVAL to every super-frame */
	bool is_down;        /* -ENETDOWN to everything */
};

/** struct vframe - a frame under way */
struct vframe {
	struct mono at;
	uint64_t order; /* equal times: first sent, first there */
	struct vframe *next;
	struct vhost *to;
	uint32_t cap; /* octets in @f.b; the struct is cut there */
	uint32_t len;
	uint8_t gso_type, csum;
	uint16_t gso_size, csum_start, csum_off;
	uint8_t b[];
};

/** struct vapp_ops - the application of a host, called within its turn */
struct vapp_ops {
	void (*event)(struct vhost *h, const struct ns_event *e);
	/** h->app_wake is due; set it again or to MONO_NEVER */
	void (*wake)(struct vhost *h);
};

struct vhost {
	struct vnet *net;
	struct ns_stack *stack;
	struct vhost *peer;
	uint32_t link_id;
	uint32_t addr; /* IPv4, host byte order */
	struct ns_addr addr6;
	bool is_v6; /* the application talks IPv6 */
	uint8_t mac[6];
	struct ns_env env;
	struct prng random; /* behind env.random */
	struct vwire_dir tx;
	struct mono tx_free; /* the rate limit lets the next frame go */
	struct mono last_arrival;
	struct mono blocked_until; /* the driver said -EAGAIN; MONO_NEVER: it did not */
	struct mono app_wake;
	const struct vapp_ops *app;
	void *app_ctx;
	struct vframe *rx_first, **rx_last; /* due now */
	bool is_due;
	uint64_t tx_frames, tx_v6, tx_gso, lost, eagain, refused, damaged;
};

struct vnet {
	struct mono now;
	struct prng random;
	uint64_t seed;
	struct vhost host[VNET_HOSTS];
	uint32_t host_cnt;
	struct vframe **heap;
	uint32_t heap_cnt, heap_cap;
	uint64_t order;
	struct vframe *spare; /* small frames for reuse */
	struct pcapring *ring;
	uint32_t still_cnt; /* steps without time passing */
	bool is_livelock;
	uint64_t step_cnt;
	/* every frame that is sent, before the wire; NULL: nobody looks */
	void (*tap)(struct vhost *from, const struct vframe *f);
	/* may change or shorten what enters the wire; false: it is lost. NULL: nobody does */
	bool (*mangle)(struct vhost *from, struct vframe *f);
	/* sees each frame right before the stack does; NULL: nobody does */
	void (*on_rx)(struct pkt *p);
	void *hook_ctx;
};

/** struct vhost_config - zero: 1500 octets, no GSO, defaults of the stack */
struct vhost_config {
	uint32_t mtu;
	enum ns_gso_mode gso;
	uint32_t gso_max_size;
	struct ns_limits limits;
	bool has_no_neigh;    /* the peer's MAC is found by ARP, or neighbour discovery */
	bool is_v6;           /* the application talks IPv6 */
	uint64_t random_seed; /* 0: from the net's seed */
};

/** vnet_init() - an empty net at @start */
void vnet_init(struct vnet *v, uint64_t seed, struct mono start);
/** vnet_init_no_pcap() - likewise, and no frames are kept for a pcap: its ring costs more than a short run (fuzzers) */
void vnet_init_no_pcap(struct vnet *v, uint64_t seed, struct mono start);
/** vnet_done() - free all hosts (their pools trap when something is still out) and frames */
void vnet_done(struct vnet *v);
/**
 * vnet_add_pair() - two hosts 10.0.n.1, 2001:db8:n::1 and 10.0.n.2, 2001:db8:n::2, and the wire between them
 * @a_dir, @b_dir:	What a (b) sends meets
 *
 * Return: the first of two hosts that follow each other; aborts without memory
 */
struct vhost *vnet_add_pair(struct vnet *v, const struct vhost_config *a,
			    const struct vhost_config *b, const struct vwire_dir *a_dir,
			    const struct vwire_dir *b_dir);
/** vhost_kick() - give @h a turn at once (the application called its stack from outside) */
void vhost_kick(struct vhost *h);
/** vnet_next() - when the next thing happens */
struct mono vnet_next(struct vnet *v);
/** vnet_step() - one step, not beyond @until; false: nothing is left before it, the clock is there */
bool vnet_step(struct vnet *v, struct mono until);
/** vnet_run() - steps for @for_ns of virtual time, or until @done says so (NULL: never); true: it did */
bool vnet_run(struct vnet *v, uint64_t for_ns, bool (*done)(void *ctx), void *ctx);
/** vnet_write_pcap() - the last frames, as NAME.pcap in $SLUICE_TEST_OUT or the current folder */
void vnet_write_pcap(const struct vnet *v, const char *name);

/** vhost_stat() - a counter of the stack by its name, e.g. "TCP_RTOS" or "TCP_PAWS"; aborts on unknown names */
uint64_t vhost_stat(const struct vhost *h, const char *name);
/** stat_find() - which counter that is, drop reasons also without their prefix; false: there is none */
bool stat_find(const char *name, uint32_t *ret_i);
/** stack_stat() - the same for any stack */
uint64_t stack_stat(const struct ns_stack *s, const char *name);
