/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - the link to ourselves */
#include "link/loop.h"

#include "link/link.h"

/** loop_new() - the loop link, up; NULL without memory */
struct link *loop_new(struct pool *pkts, struct ns_stats *stats)
{
	static const struct ns_link_config config = {
		.name = "lo",
		.ifindex = 1, /* linux LOOPBACK_IFINDEX */
		.mtu = LINK_LOOP_MTU,
		.is_up = true,
		.is_noarp = true,
		.gso = NS_GSO_NONE,
	};

	return link_new(LINK_LOOP_ID, &config, pkts, stats);
}

/** loop_take() - the oldest packet on its way to ourselves, from the IP header on, now the caller's; or NULL */
struct pkt *loop_take(struct link *l, struct mono now)
{
	struct pkt *p = pktq_pop(&l->txq);

	if (!p)
		return NULL;
	l->txq_len -= pkt_len(p);
	p->l2_off = p->l3_off = (uint16_t)p->head;
	if (p->csum == PKT_CSUM_PARTIAL)
		p->csum_start = (uint16_t)(p->l4_off - p->l2_off);
	p->rx_time = now;
	return p;
}
