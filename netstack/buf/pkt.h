/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pkt.h - one frame, in or out: a linear area for headers, references to payload
 *
 * Theory of operation
 *
 *   received:  the linear area is a whole CHUNK_RX; the driver reads the vnet header and the frame
 *              into it. Payload leaves by reference: a slice of that chunk goes to the socket.
 *   to send:   the linear area is the small array inside the packet, filled backwards (payload by
 *              reference to the send queue's chunks, then TCP, IP, Ethernet, vnet headers pushed
 *              in front).
 *
 *     buf                head          head+len            cap
 *      | <- headroom ->   | <- linear -> | <- tailroom ->   |  + frag[0..frag_cnt)
 *
 * Only the verbs here touch bounds. Offsets are from @buf, never pointers, so that they survive.
 *
 * Ownership: one owner; functions that "Consume" free on every path.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "base/mono.h"
#include "base/own.h"
#include "base/pool.h"
#include "buf/chunk.h"

enum {
	PKT_FRAG_MAX = 18, /* payload references of one frame: 64 KiB over 4 KiB pieces + 2 */
	PKT_INLINE_SIZE =
		192, /* octets: vnet 12 + Ethernet 18 + IP 60 + TCP 60 and room to spare */
};

/** enum pkt_gso - mirrors virtio_net_hdr.gso_type */
enum pkt_gso {
	PKT_GSO_NONE,
	PKT_GSO_TCP4,
	PKT_GSO_TCP6,
	PKT_GSO_UDP_L4,
};

/** enum pkt_csum - who vouches for the transport checksum */
enum pkt_csum {
	PKT_CSUM_UNKNOWN, /* received without word of it: verify */
	PKT_CSUM_VALID,   /* received DATA_VALID: trusted */
	PKT_CSUM_PARTIAL, /* pseudo-header sum in the field, to be completed from csum_start on (NEEDS_CSUM); trusted on receive */
	PKT_CSUM_FULL,    /* to send: complete */
};

struct pkt_frag {
	struct chunk *chunk; /* one reference held */
	uint32_t off;        /* octets from chunk->data */
	uint32_t len;        /* octets */
};

struct pkt {
	struct list node;
	struct pool *pool;
	struct chunk *lin; /* holds the linear area; NULL: it is @inl */
	uint8_t *buf;
	uint32_t cap, head, len; /* octets: linear area, see the picture */
	uint32_t frag_len;       /* octets in all frags */
	uint16_t l2_off, l3_off, l4_off;
	uint16_t csum_start; /* octets from l2_off, as virtio counts from the frame's start */
	uint16_t csum_off;   /* octets from csum_start to the field */
	uint16_t gso_size;   /* payload octets of each segment on the wire */
	uint16_t gso_segs;   /* segments, 0: not a super-frame */
	uint8_t frag_cnt;
	uint8_t gso_type; /* enum pkt_gso */
	uint8_t csum;     /* enum pkt_csum */
	uint32_t
		loop_ifindex; /* on the loop link: a copy of what went to a group by this link; 0: none */
	bool ecn;             /* VIRTIO_NET_HDR_GSO_ECN: CWR on the first segment only */
	struct mono rx_time;
	struct pkt_frag frag[PKT_FRAG_MAX];
	uint8_t inl[PKT_INLINE_SIZE];
};

/** pkt_new_tx() - an empty frame with all of its inline area as headroom, or NULL at the cap */
ns_must_check struct pkt *pkt_new_tx(struct pool *pkts);
/** pkt_new_rx() - a frame over a fresh CHUNK_RX with @headroom octets in front, len 0, or NULL */
ns_must_check struct pkt *pkt_new_rx(struct pool *pkts, struct chunk_pools *cp, uint32_t headroom);
/** pkt_free() - drop all references and the packet; NULL is fine */
void pkt_free(struct pkt *p);
DEFINE_AUTO_FREE(pkt);

/** pkt_data() - start of the linear octets */
static inline uint8_t *pkt_data(const struct pkt *p)
{
	return p->buf + p->head;
}

/** pkt_len() - octets of the frame from head on, frags included */
static inline uint32_t pkt_len(const struct pkt *p)
{
	return p->len + p->frag_len;
}

/** pkt_push() - @len octets more in front; traps when the headroom does not have them (our bug) */
void *pkt_push(struct pkt *p, uint32_t len);
/** pkt_pull() - take @len octets off the front of the linear area: where they were, or NULL when it has fewer */
ns_must_check void *pkt_pull(struct pkt *p, uint32_t len);
/** pkt_put() - @len octets more at the end of the linear area, or NULL without tailroom */
ns_must_check void *pkt_put(struct pkt *p, uint32_t len);
/** pkt_trim() - cut the frame to @len octets in all, from the end; no-op when it is shorter */
void pkt_trim(struct pkt *p, uint32_t len);
/** pkt_trim_front() - drop @len octets from the front, linear area first, then fragments; all of them when it is shorter */
void pkt_trim_front(struct pkt *p, uint32_t len);
/** pkt_add_frag() - append payload; takes a reference on @c; -ENOSPC at PKT_FRAG_MAX */
ns_must_check int pkt_add_frag(struct pkt *p, struct chunk *c, uint32_t off, uint32_t len);
/** pkt_copy_out() - copy @len octets from @off (octets from head) to @to; false when the frame is shorter */
ns_must_check bool pkt_copy_out(const struct pkt *p, uint32_t off, void *to, uint32_t len);

#define PKT_PULL(p_, type_) ((type_ *)pkt_pull((p_), sizeof(type_)))
#define PKT_PUSH(p_, type_) ((type_ *)pkt_push((p_), sizeof(type_)))

/** struct pktq - packets in order */
struct pktq {
	struct list head;
	uint32_t cnt;
};

void pktq_init(struct pktq *q);
/** pktq_push() - Consumes @p */
void pktq_push(struct pktq *q, struct pkt *p);
struct pkt *pktq_pop(struct pktq *q);
void pktq_clear(struct pktq *q);
