/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drv.h - what the worker knows of a driver: read frames into the stack, send frames for it
 *
 * A driver is a descriptor that the monitor opened and set up. It makes no other system call than
 * the one to receive and the one to send; everything about a frame but its octets is the business of
 * wire/vnet.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/mono.h"
#include "ns/link.h"
#include "ns/stack.h"

enum {
	DRV_TX_BATCH = 64, /* frames handed to one sendmmsg() */
	DRV_RX_BATCH = 16, /* frames asked of one recvmmsg(): 1 MiB when all are super-frames */
};

/** struct drv_stats - what only a driver can count */
struct drv_stats {
	uint64_t rx_calls, rx_frames;
	uint64_t rx_truncated; /* frames longer than any buffer: dropped */
	uint64_t rx_bad_vnet;  /* virtio-net header that contradicts its frame: dropped */
	uint64_t rx_no_memory; /* turns in which the stack had no frame to read into */
	uint64_t rx_errors;    /* receive calls that failed for another reason than EAGAIN */
	uint64_t tx_calls, tx_frames;
	uint64_t tx_errors; /* send calls that failed for another reason than EAGAIN */
};

/** struct drv - one descriptor; made by drv_packet_new() or drv_tap_new() */
struct drv {
	const struct ns_link_ops *link_ops; /* for ns_link_config, with the drv itself as its drv */
	/**
	 * rx() - read what is there, at most one batch, and give it to the stack
	 *
	 * Return: frames read, 0 when there was none, -EAGAIN likewise; other negative errno: the link
	 * is in trouble (-ENETDOWN), nothing was read, try again when it is readable
	 */
	int (*rx)(struct drv *d, struct ns_stack *s, uint32_t link_id, struct mono now);
	void (*free)(struct drv *d);
	/** NULL, or called with every frame received and every frame sent, from the Ethernet header on */
	void (*observe)(void *ctx, const struct pkt *p, bool is_tx);
	void *observe_ctx;
	int fd;
	uint32_t vnet_len; /* octets of virtio-net header in front of each frame */
	bool is_tap;       /* sends with writev(), which the sandbox must be told */
	struct drv_stats stats;
};

/** drv_packet_new() - over an AF_PACKET socket with PACKET_VNET_HDR; @fd is owned from here on; NULL without memory (@fd stays open) */
ns_must_check struct drv *drv_packet_new(int fd, uint32_t vnet_len);
/** drv_tap_new() - over a TAP descriptor with IFF_VNET_HDR; as drv_packet_new() */
ns_must_check struct drv *drv_tap_new(int fd, uint32_t vnet_len);
/** drv_free() - close the descriptor, drop frames held for reading; NULL is fine */
void drv_free(struct drv *d);
