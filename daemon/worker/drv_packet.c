/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drv_packet.c - frames through an AF_PACKET socket with virtio-net headers
 *
 * Theory of operation
 *
 *   receive  recvmmsg() straight into frames of the stack, DRV_BATCH a call; a frame that stays
 *            empty is a spare one for the next call. The frame's payload goes on to the program from there.
 *            Requests to connect come by a second socket (linkopen.h) and are read when the loop says so.
 *   send     all frames of a turn as one sendmmsg(MSG_DONTWAIT): for each one iovec for the headers
 *            that were built in front of each other, and one for each piece of payload, which lies
 *            in the send queue of its connection until it is acknowledged.
 *
 * The socket says what it could not do about the first frame it did not take: a short count now, the
 * reason by the next call. What -ENOBUFS means, a full queue or a refusal, is for the stack to find out
 * (link/trust.h).
 *
 * Syscalls: #syscalls worker: recvmmsg sendmmsg getsockopt
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "buf/pkt.h"
#include "daemon/worker/drv.h"

/* Iovecs of one call (UIO_MAXIOV counts per message; this is what is worth preparing at once). */
#define TX_IOVS  1024u
#define TX_BATCH 256u

/** pending_error() - take the error off the socket: -ENETDOWN stays until it is read */
static int pending_error(const struct drv *d)
{
	int err = 0;
	socklen_t len = sizeof(err);

	return getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &err, &len) == 0 ? -err : 0;
}

/** rx_batch() - one recvmmsg() of @fd. Return: frames received (less than asked: no more are there), or negative errno */
static int rx_batch(struct drv *d, int fd, struct mono now, uint32_t want)
{
	struct pkt *frames[DRV_BATCH];
	struct mmsghdr v[DRV_BATCH];
	struct iovec iov[DRV_BATCH];
	uint32_t cnt = drv_spare(d, want);
	int n;

	/* all frames are held by connections that wait for their programs: the device's own queue
	 * holds the rest, and drops when that is full */
	if (cnt == 0)
		return -ENOBUFS;
	for (uint32_t i = 0; i < cnt; i++) {
		struct pkt *p = d->spare[d->spare_cnt - 1 - i];

		frames[i] = p;
		iov[i] = (struct iovec){ pkt_data(p), p->cap - p->head };
		v[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
	}
	n = recvmmsg(fd, v, cnt, MSG_DONTWAIT, NULL);
	if (n < 0)
		return -errno;
	d->cnt.rx_calls++;
	d->spare_cnt -= (uint32_t)n;
	for (uint32_t i = 0; i < (uint32_t)n && i < cnt; i++)
		drv_deliver(d, frames[i], v[i].msg_len, v[i].msg_hdr.msg_flags & MSG_TRUNC, now);
	return n;
}

static int rx_from(struct drv *d, int fd, struct mono now, uint32_t budget)
{
	uint32_t done = 0;

	while (done < budget) {
		uint32_t want = budget - done < DRV_BATCH ? budget - done : DRV_BATCH;
		int n = rx_batch(d, fd, now, want);

		if (n == -EAGAIN || n == -EINTR)
			break;
		if (n == -ENOBUFS)
			return done > 0 ? (int)done : n;
		if (n < 0) {
			d->cnt.rx_errors++;
			return n;
		}
		done += (uint32_t)n;
		if ((uint32_t)n < want)
			break;
	}
	return (int)done;
}

static int packet_rx(struct drv *d, struct mono now, uint32_t budget)
{
	return rx_from(d, d->fd, now, budget);
}

static int packet_rx_syns(struct drv *d, struct mono now, uint32_t budget)
{
	int n = rx_from(d, d->syn_fd, now, budget);

	d->cnt.rx_syns += n > 0 ? (uint32_t)n : 0;
	return n;
}

/** queue_lost() - frames that a socket's full queue has cost since the last question: asking clears it */
static uint32_t queue_lost(int fd)
{
	struct tpacket_stats st;
	socklen_t len = sizeof(st);

	if (fd < 0 || getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &st, &len) < 0)
		return 0;
	return st.tp_drops;
}

static void packet_count(struct drv *d)
{
	d->cnt.rx_lost += queue_lost(d->fd);
	d->cnt.rx_syns_lost += queue_lost(d->syn_fd);
}

/** tx_error() - what a failed sendmmsg() means for its first frame; as ns_link_ops.xmit() */
static int tx_error(struct drv *d, const struct pkt *p, int err)
{
	switch (err) {
	case -EAGAIN:
		d->cnt.tx_blocked++;
		d->on_blocked(d->ctx);
		return err;
	case -ENOBUFS:
		d->cnt.tx_dropped += p->gso_type == PKT_GSO_NONE;
		return err;
	case -EINTR:
		return -EAGAIN;
	default:
		d->cnt.tx_errors++;
		(void)pending_error(d);
		return err;
	}
}

static int packet_xmit(void *drv, struct pkt *const *pkts, uint32_t cnt)
{
	struct drv *d = drv;
	static struct mmsghdr v[TX_BATCH];
	static struct iovec iov[TX_IOVS];
	uint32_t iov_cnt = 0, i;
	int n;

	for (i = 0; i < cnt && i < TX_BATCH && iov_cnt + PKT_FRAG_MAX + 1 <= TX_IOVS; i++) {
		uint32_t k = drv_iov(d, pkts[i], &iov[iov_cnt]);

		v[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[iov_cnt], .msg_iovlen = k };
		iov_cnt += k;
	}
	cnt = i;
	n = sendmmsg(d->fd, v, cnt, MSG_DONTWAIT);
	if (n < 0)
		n = -errno;
	d->cnt.tx_calls++;
	for (i = 0; i < cnt; i++)
		drv_unpush(d, pkts[i]);
	if (n < 0)
		return tx_error(d, pkts[0], n);
	d->cnt.tx_frames += (uint32_t)n;
	for (i = 0; i < (uint32_t)n; i++) {
		d->cnt.tx_octets += pkt_len(pkts[i]);
		d->cnt.tx_super += pkts[i]->gso_type != PKT_GSO_NONE;
		if (d->observe)
			d->observe(d->ctx, pkts[i], true, DROP_NONE);
	}
	return n;
}

const struct drv_kind drv_packet = {
	.name = "packet",
	.ops = { .xmit = packet_xmit, .lost = drv_lost },
	.rx = packet_rx,
	.rx_syns = packet_rx_syns,
	.count = packet_count,
};
