/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drv_tap.c - frames over a TAP descriptor with virtio-net headers
 *
 * Theory of operation
 *
 * A TAP device is a file, not a socket: one frame a call, readv() and writev(). It is the one
 * exception to "nothing but sendmmsg() sends", and the worker's filter names the descriptor numbers
 * it holds for. The device takes super-frames as AF_PACKET does, so bulk transfers need no batch of
 * calls.
 *
 * Syscalls: #syscalls worker: readv writev close
 */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "daemon/drv_frame.h"

struct drv_tap {
	struct drv drv;
	struct pkt *rx; /* frame to read into */
};

static int tap_rx(struct drv *drv, struct ns_stack *s, uint32_t link_id, struct mono now)
{
	struct drv_tap *d = container_of(drv, struct drv_tap, drv);
	int cnt;

	for (cnt = 0; cnt < DRV_RX_BATCH; cnt++) {
		if (!d->rx)
			d->rx = ns_stack_rx_alloc(s);
		if (!d->rx) {
			drv->stats.rx_no_memory++;
			break;
		}

		struct iovec iov = drv_frame_room(d->rx);
		ssize_t len = readv(drv->fd, &iov, 1);

		drv->stats.rx_calls++;
		if (len < 0) {
			if (errno != EAGAIN && errno != EINTR)
				drv->stats.rx_errors++;
			return cnt ? cnt : -errno;
		}
		drv_frame_input(drv, s, link_id, take(d->rx), (uint32_t)len, now);
	}
	return cnt;
}

static int tap_xmit(void *ctx, struct pkt *const *pkts, uint32_t cnt)
{
	struct drv *drv = ctx;
	uint32_t sent;

	for (sent = 0; sent < cnt; sent++) {
		struct iovec iov[DRV_IOV_MAX];
		uint32_t iov_cnt = drv_frame_open(drv, pkts[sent], iov);
		ssize_t r = writev(drv->fd, iov, (int)iov_cnt);
		int err = errno;

		drv->stats.tx_calls++;
		drv_frame_close(drv, pkts[sent]);
		if (r < 0) {
			if (sent > 0)
				break; /* the next call meets the same error, alone */
			if (err != EAGAIN)
				drv->stats.tx_errors++;
			return -err;
		}
		if (drv->observe)
			drv->observe(drv->observe_ctx, pkts[sent], true);
	}
	drv->stats.tx_frames += sent;
	return (int)sent;
}

static void tap_free(struct drv *drv)
{
	struct drv_tap *d = container_of(drv, struct drv_tap, drv);

	pkt_free(d->rx);
	free(d);
}

struct drv *drv_tap_new(int fd, uint32_t vnet_len)
{
	static const struct ns_link_ops link_ops = { .xmit = tap_xmit };
	struct drv_tap *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	static_assert(offsetof(struct drv_tap, drv) == 0, "link_ops casts");
	d->drv = (struct drv){
		.link_ops = &link_ops,
		.rx = tap_rx,
		.free = tap_free,
		.fd = fd,
		.vnet_len = vnet_len,
		.is_tap = true,
	};
	return &d->drv;
}
