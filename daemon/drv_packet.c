/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drv_packet.c - frames over an AF_PACKET socket with virtio-net headers
 *
 * Theory of operation
 *
 * Receiving: a batch of empty frames of the stack lies ready; recvmmsg() fills as many as there are,
 * each with its virtio-net header in front, and those filled are replaced before the next call. A
 * frame may be a super-frame of 64 KiB: the kernel hands over what GRO or the peer's TSO made, whole.
 *
 * Sending: headers are one iovec, each piece of payload in the send queue another; the kernel copies
 * them together into one buffer. All frames of a batch leave in one sendmmsg() with flags exactly
 * MSG_DONTWAIT, the only call that the worker's filter lets put octets on a socket. The kernel stops at the
 * first frame it does not take and says how many it took; the next call then gives the reason.
 *
 * Limits: DRV_RX_BATCH, DRV_TX_BATCH. The kernel's own limit is 1024 messages a call and 1024
 * iovecs a message, far above.
 *
 * Syscalls: #syscalls worker: recvmmsg sendmmsg close
 */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "daemon/drv_frame.h"

struct drv_packet {
	struct drv drv;
	struct pkt *rx[DRV_RX_BATCH]; /* frames to read into; NULL: to be replaced */
	struct mmsghdr rx_msg[DRV_RX_BATCH];
	struct iovec rx_iov[DRV_RX_BATCH];
	struct mmsghdr tx_msg[DRV_TX_BATCH];
	struct iovec tx_iov[DRV_TX_BATCH * DRV_IOV_MAX];
};

/** rx_refill() - frames to read into, as far as the stack has them; number ready, from the first on */
static unsigned rx_refill(struct drv_packet *d, struct ns_stack *s)
{
	unsigned cnt;

	for (cnt = 0; cnt < DRV_RX_BATCH; cnt++) {
		if (!d->rx[cnt]) {
			d->rx[cnt] = ns_stack_rx_alloc(s);
			if (!d->rx[cnt])
				break;
			d->rx_iov[cnt] = drv_frame_room(d->rx[cnt]);
			d->rx_msg[cnt].msg_hdr =
				(struct msghdr){ .msg_iov = &d->rx_iov[cnt], .msg_iovlen = 1 };
		}
	}
	return cnt;
}

static int packet_rx(struct drv *drv, struct ns_stack *s, uint32_t link_id, struct mono now)
{
	struct drv_packet *d = container_of(drv, struct drv_packet, drv);
	unsigned room = rx_refill(d, s);

	if (room == 0) {
		drv->stats.rx_no_memory++;
		return -EAGAIN;
	}

	int cnt = recvmmsg(drv->fd, d->rx_msg, room, MSG_DONTWAIT, NULL);

	drv->stats.rx_calls++;
	if (cnt < 0) {
		if (errno != EAGAIN && errno != EINTR)
			drv->stats.rx_errors++;
		return -errno;
	}
	for (int i = 0; i < cnt; i++) {
		struct pkt *p = take(d->rx[i]);

		if (d->rx_msg[i].msg_hdr.msg_flags & MSG_TRUNC) {
			drv->stats.rx_truncated++;
			pkt_free(p);
			continue;
		}
		drv_frame_input(drv, s, link_id, p, d->rx_msg[i].msg_len, now);
	}
	return cnt;
}

static int packet_xmit(void *ctx, struct pkt *const *pkts, uint32_t cnt)
{
	struct drv_packet *d = ctx;
	struct iovec *iov = d->tx_iov;

	cnt = ns_min_u(cnt, DRV_TX_BATCH);
	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t iov_cnt = drv_frame_open(&d->drv, pkts[i], iov);

		d->tx_msg[i].msg_hdr.msg_iov = iov;
		d->tx_msg[i].msg_hdr.msg_iovlen = iov_cnt;
		iov += iov_cnt;
	}

	int sent = sendmmsg(d->drv.fd, d->tx_msg, cnt, MSG_DONTWAIT);
	int err = errno;

	d->drv.stats.tx_calls++;
	for (uint32_t i = 0; i < cnt; i++)
		drv_frame_close(&d->drv, pkts[i]);
	if (sent < 0) {
		if (err != EAGAIN)
			d->drv.stats.tx_errors++;
		return -err;
	}
	d->drv.stats.tx_frames += (uint64_t)sent;
	for (int i = 0; d->drv.observe && i < sent; i++)
		d->drv.observe(d->drv.observe_ctx, pkts[i], true);
	return sent;
}

static void packet_free(struct drv *drv)
{
	struct drv_packet *d = container_of(drv, struct drv_packet, drv);

	for (unsigned i = 0; i < DRV_RX_BATCH; i++)
		pkt_free(d->rx[i]);
	free(d);
}

struct drv *drv_packet_new(int fd, uint32_t vnet_len)
{
	static const struct ns_link_ops link_ops = { .xmit = packet_xmit };
	struct drv_packet *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	/* link_ops gets the drv as its word, so it must be the first member. */
	static_assert(offsetof(struct drv_packet, drv) == 0, "link_ops casts");
	d->drv = (struct drv){
		.link_ops = &link_ops,
		.rx = packet_rx,
		.free = packet_free,
		.fd = fd,
		.vnet_len = vnet_len,
	};
	return &d->drv;
}
