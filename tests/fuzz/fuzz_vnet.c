/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_vnet.c - the virtio-net header in front of a frame: what is taken is whole, and comes back as it was */
#include <stdlib.h>

#include "buf/pkt.h"
#include "fuzz/fuzz.h"
#include "wire/vnet.h"

static struct pool pkts;
static struct chunk_pools chunks;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t vnet_len = size && data[0] & 1 ? VNET_MRG_LEN : VNET_LEN;
	size_t len = size ? size - 1 : 0;
	struct pkt *p;
	void *to;

	pool_init(&pkts, "pkt", sizeof(struct pkt), 4, 4);
	chunk_pools_init(&chunks, 4, 4, 4);
	p = pkt_new_rx(&pkts, &chunks, 16);
	to = pkt_put(p, (uint32_t)(len < 65536 ? len : 65536));
	if (to && len)
		memcpy(to, data + 1, len < 65536 ? len : 65536);
	fuzz_fence(p);
	if (vnet_pull(p, vnet_len) == DROP_NONE) {
		must_hold(p->len >= 14);
		if (p->csum == PKT_CSUM_PARTIAL)
			must_hold(p->csum_start + p->csum_off + 2u <= p->len);
		if (p->gso_type != PKT_GSO_NONE) {
			must_hold(p->gso_size); /* of no payload there are no segments */
			must_hold((uint64_t)p->gso_segs * p->gso_size + 14 + 40 + 60 + 60 >=
				  p->len);
		}
		vnet_push(p, vnet_len);
		must_hold(vnet_pull(p, vnet_len) == DROP_NONE);
	}
	pkt_free(p);
	pool_done(&pkts);
	chunk_pools_done(&chunks);
	return 0;
}
