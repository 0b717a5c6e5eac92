/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drv_tap.c - frames through a TAP device with virtio-net headers
 *
 * A TAP descriptor is no socket: one readv() or writev() a frame, whatever the batch. The seccomp
 * filter allows writev() on exactly the numbers of such descriptors.
 *
 * Syscalls: #syscalls worker: read writev
 */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "buf/pkt.h"
#include "daemon/worker/drv.h"

static int tap_rx(struct drv *d, struct mono now, uint32_t budget)
{
	uint32_t done = 0;

	while (done < budget) {
		struct pkt *p;
		ssize_t n;

		if (drv_spare(d, 1) == 0)
			return done > 0 ? (int)done : -ENOBUFS;
		p = d->spare[d->spare_cnt - 1];
		n = read(d->fd, pkt_data(p), p->cap - p->head);
		d->cnt.rx_calls++;
		if (n < 0) {
			int err = -errno;

			if (err == -EAGAIN || err == -EINTR)
				break;
			d->cnt.rx_errors++;
			return err;
		}
		d->spare_cnt--;
		/* a frame longer than the room is cut without a word: it fills the room exactly */
		drv_deliver(d, p, (uint32_t)n, (uint32_t)n == p->cap - p->head, now);
		done++;
	}
	return (int)done;
}

/** tx_error() - as ns_link_ops.xmit() about one frame */
static int tx_error(struct drv *d, const struct pkt *p, int err)
{
	if (err == -EAGAIN) {
		d->cnt.tx_blocked++;
		d->on_blocked(d->ctx);
		return err;
	}
	if (err == -ENOBUFS && p->gso_type == PKT_GSO_NONE) {
		d->cnt.tx_dropped++;
		return 1;
	}
	d->cnt.tx_errors++;
	/* linux v6.1 drivers/net/tun.c: a device that is down says -EIO */
	return err == -EIO ? -ENETDOWN : err;
}

static int tap_xmit(void *drv, struct pkt *const *pkts, uint32_t cnt)
{
	struct drv *d = drv;
	struct iovec iov[PKT_FRAG_MAX + 1];
	uint32_t i;

	for (i = 0; i < cnt; i++) {
		uint32_t k = drv_iov(d, pkts[i], iov);
		ssize_t n = writev(d->fd, iov, (int)k);
		int err = n < 0 ? -errno : 0;

		drv_unpush(d, pkts[i]);
		d->cnt.tx_calls++;
		if (err < 0)
			return i > 0 ? (int)i : tx_error(d, pkts[0], err);
		d->cnt.tx_frames++;
		d->cnt.tx_octets += pkt_len(pkts[i]);
		d->cnt.tx_super += pkts[i]->gso_type != PKT_GSO_NONE;
		if (d->observe)
			d->observe(d->ctx, pkts[i], true, DROP_NONE);
	}
	return (int)i;
}

const struct drv_kind drv_tap = {
	.name = "tap",
	.ops = { .xmit = tap_xmit, .lost = drv_lost },
	.rx = tap_rx,
};
