/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drv.h - what the drivers of links have in common: a descriptor, a vnet header, counters
 *
 * A driver moves frames between its descriptors and the stack, and nothing else: it is told when one is readable,
 * and tells by on_blocked() when it wants to know that the first is writable.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/mono.h"
#include "ns/link.h"
#include "ns/stack.h"

/** DRV_BATCH - frames of one receiving call; each has room for 64 KiB, so more costs memory, not calls */
#define DRV_BATCH 32u

struct iovec;
struct pkt;

/** struct drv - one link's driver; embedded, and all there is to the TAP driver */
struct drv {
	int fd;            /* non-blocking; owned */
	int syn_fd;        /* likewise, requests to connect come by it; -1: by @fd as all else */
	uint32_t vnet_len; /* octets of virtio-net header in front of each frame */
	uint32_t link_id;  /* the stack's, set when the link was added */
	struct ns_stack *stack;
	/** on_blocked() - the device has no room: call ns_link_writable() when it is writable */
	void (*on_blocked)(void *ctx);
	/**
	 * observe() - NULL, or told of every frame received, sent, or lost on its way out (@why), from the
	 * Ethernet header on
	 */
	void (*observe)(void *ctx, const struct pkt *p, bool is_tx, enum drop why);
	/** judge() - with observe(): what became of the frame received last; enum drop */
	void (*judge)(void *ctx, enum drop why);
	void *ctx;
	struct pkt *spare[DRV_BATCH]; /* empty frames that wait for the next receiving call */
	uint32_t spare_cnt;
	struct {
		uint64_t rx_frames, rx_octets, rx_calls;
		uint64_t rx_short;   /* shorter than the vnet header, or one that makes no sense */
		uint64_t rx_cut;     /* longer than 64 KiB */
		uint64_t rx_no_room; /* the stack was at its cap of received frames */
		uint64_t rx_errors;
		uint64_t rx_lost;      /* the queue of @fd was full: the kernel dropped it */
		uint64_t rx_syns_lost; /* likewise of @syn_fd */
		uint64_t rx_syns;
		uint64_t tx_frames, tx_octets, tx_calls, tx_super;
		uint64_t tx_blocked;
		uint64_t tx_dropped; /* the device dropped a plain frame */
		uint64_t tx_errors;
	} cnt;
};

/** struct drv_kind - the two drivers */
struct drv_kind {
	const char *name;
	struct ns_link_ops ops;
	/**
	 * rx() - all frames that are there, into the stack
	 * @budget:	Frames at most
	 *
	 * Return: frames (0: none is there), -ENOBUFS (the stack holds all its frames: try later), or
	 * another negative errno
	 */
	int (*rx)(struct drv *d, struct mono now, uint32_t budget);
	/** rx_syns() - as rx(), from syn_fd; NULL without such queues */
	int (*rx_syns)(struct drv *d, struct mono now, uint32_t budget);
	/** count() - bring rx_lost and rx_syns_lost up to date; NULL where nobody counts */
	void (*count)(struct drv *d);
};

extern const struct drv_kind drv_packet;
extern const struct drv_kind drv_tap;

/** drv_spare() - have at least one and at most @want spare frames. Return: how many there are */
uint32_t drv_spare(struct drv *d, uint32_t want);
/** drv_done() - give the spare frames back and close the descriptors */
void drv_done(struct drv *d);

/**
 * drv_deliver() - one received frame to the stack
 * @p:		Its head at the vnet header, @len octets put there by the device; consumed
 * @is_cut:	The device had more
 */
void drv_deliver(struct drv *d, struct pkt *p, uint32_t len, bool is_cut, struct mono now);

/**
 * drv_iov() - a frame to send as iovecs, its vnet header in front
 * @p:		drv_unpush() undoes what is done to it
 * @iov:	PKT_FRAG_MAX + 1 entries
 *
 * Return: iovecs set
 */
uint32_t drv_iov(const struct drv *d, struct pkt *p, struct iovec *iov);
/** drv_lost() - ns_link_ops.lost of both drivers: for who watches */
void drv_lost(void *drv, const struct pkt *p, enum drop why);
/** drv_unpush() - take the vnet header off again: the frame is the stack's */
void drv_unpush(const struct drv *d, struct pkt *p);
