/* SPDX-License-Identifier: Apache-2.0 */
/* drv.c - see drv.h */
#include "daemon/worker/drv.h"

#include <sys/uio.h>
#include <unistd.h>

#include "buf/pkt.h"
#include "wire/vnet.h"

uint32_t drv_spare(struct drv *d, uint32_t want)
{
	while (d->spare_cnt < want) {
		struct pkt *p = ns_stack_rx_alloc(d->stack);

		if (!p)
			break;
		d->spare[d->spare_cnt++] = p;
	}
	if (d->spare_cnt == 0)
		d->cnt.rx_no_room++;
	return d->spare_cnt < want ? d->spare_cnt : want;
}

void drv_done(struct drv *d)
{
	while (d->spare_cnt > 0)
		pkt_free(d->spare[--d->spare_cnt]);
	if (d->fd >= 0)
		close(d->fd);
	if (d->syn_fd >= 0)
		close(d->syn_fd);
	d->fd = d->syn_fd = -1;
}

void drv_lost(void *drv, const struct pkt *p, enum drop why)
{
	struct drv *d = drv;

	if (d->observe)
		d->observe(d->ctx, p, true, why);
}

void drv_deliver(struct drv *d, struct pkt *p, uint32_t len, bool is_cut, struct mono now)
{
	enum drop why = DROP_NONE;

	if (is_cut) {
		d->cnt.rx_cut++;
		pkt_free(p);
		return;
	}
	p->len = len;
	if (d->vnet_len)
		why = vnet_pull(p, d->vnet_len);
	if (d->observe)
		d->observe(d->ctx, p, false, DROP_NONE);
	if (why != DROP_NONE) {
		d->cnt.rx_short++;
		pkt_free(p);
		ns_stack_lost(d->stack, why);
		if (d->judge)
			d->judge(d->ctx, why);
		return;
	}
	d->cnt.rx_frames++;
	d->cnt.rx_octets += len - d->vnet_len;
	why = ns_stack_input(d->stack, d->link_id, p, now);
	if (d->judge)
		d->judge(d->ctx, why);
}

uint32_t drv_iov(const struct drv *d, struct pkt *p, struct iovec *iov)
{
	if (d->vnet_len)
		vnet_push(p, d->vnet_len);
	iov[0] = (struct iovec){ pkt_data(p), p->len };
	for (uint32_t i = 0; i < p->frag_cnt; i++) {
		const struct pkt_frag *f = &p->frag[i];

		iov[i + 1] = (struct iovec){ f->chunk->data + f->off, f->len };
	}
	return p->frag_cnt + 1u;
}

void drv_unpush(const struct drv *d, struct pkt *p)
{
	if (d->vnet_len)
		NS_BUG_ON(!pkt_pull(p, d->vnet_len));
}
