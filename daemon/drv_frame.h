/* SPDX-License-Identifier: Apache-2.0 */
/* drv_frame.h - what both drivers do with one frame; shouldn't be included but by drv_*.c */
#pragma once

#include <stdint.h>
#include <sys/uio.h>

#include "buf/pkt.h"
#include "daemon/drv.h"

enum {
	/* The headers are one piece, each payload reference another. */
	DRV_IOV_MAX = 1 + PKT_FRAG_MAX,
};

/**
 * drv_frame_room() - where the next frame may be read to, as one iovec
 * @p:	An empty frame of ns_stack_rx_alloc(); borrowed
 */
struct iovec drv_frame_room(const struct pkt *p);

/**
 * drv_frame_input() - a frame of @len octets is in @p, virtio-net header first: on to the stack
 *
 * Consumes @p.
 */
void drv_frame_input(struct drv *d, struct ns_stack *s, uint32_t link_id, struct pkt *p,
		     uint32_t len, struct mono now);

/**
 * drv_frame_open() - put the virtio-net header in front of @p and describe it all
 * @iov:	DRV_IOV_MAX elements
 *
 * Return: elements set. drv_frame_close() must follow.
 */
uint32_t drv_frame_open(const struct drv *d, struct pkt *p, struct iovec *iov);

/** drv_frame_close() - take the virtio-net header off again, so that the frame can be sent anew */
void drv_frame_close(const struct drv *d, struct pkt *p);
