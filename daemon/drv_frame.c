/* SPDX-License-Identifier: Apache-2.0 */
/* drv_frame.c - what both drivers do with one frame */
#include "daemon/drv_frame.h"

#include <unistd.h>

#include "wire/vnet.h"

struct iovec drv_frame_room(const struct pkt *p)
{
	return (struct iovec){ .iov_base = pkt_data(p), .iov_len = p->cap - p->head };
}

void drv_frame_input(struct drv *d, struct ns_stack *s, uint32_t link_id, struct pkt *p,
		     uint32_t len, struct mono now)
{
	auto_free(pkt) own = p;

	d->stats.rx_frames++;
	/* The iovec was the tailroom, so it has what the kernel wrote to it. */
	NS_BUG_ON(!pkt_put(own, len));
	own->rx_time = now;
	if (vnet_pull(own, d->vnet_len) != DROP_NONE) {
		d->stats.rx_bad_vnet++;
		return;
	}
	if (d->observe)
		d->observe(d->observe_ctx, own, false);
	ns_stack_input(s, link_id, take(own), now);
}

uint32_t drv_frame_open(const struct drv *d, struct pkt *p, struct iovec *iov)
{
	vnet_push(p, d->vnet_len);
	iov[0] = (struct iovec){ .iov_base = pkt_data(p), .iov_len = p->len };
	for (uint32_t i = 0; i < p->frag_cnt; i++)
		iov[1 + i] = (struct iovec){ .iov_base = p->frag[i].chunk->data + p->frag[i].off,
					     .iov_len = p->frag[i].len };
	return 1u + p->frag_cnt;
}

void drv_frame_close(const struct drv *d, struct pkt *p)
{
	NS_BUG_ON(!pkt_pull(p, d->vnet_len));
}

void drv_free(struct drv *d)
{
	if (!d)
		return;
	(void)close(d->fd);
	d->free(d);
}
