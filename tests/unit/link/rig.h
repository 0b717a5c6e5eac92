/* SPDX-License-Identifier: Apache-2.0 */
/* rig.h - a link over a driver that obeys the test, frames to send through it */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/stats.h"
#include "buf/pkt.h"
#include "link/link.h"

enum {
	RIG_FRAMES = 1024,
	RIG_FRAME_MAX = 70000, /* octets */
	RIG_CALLS = 1024,
	RIG_MSS = 1448,
	RIG_TCP_OPTS = 12, /* octets: timestamps */
	RIG_HDR_LEN = 14 + 20 + 20 + RIG_TCP_OPTS,
};

/** struct rig_frame - what the driver took */
struct rig_frame {
	uint8_t *data; /* copied, frags and all */
	uint32_t len;
	uint16_t gso_segs;
	uint8_t csum;
};

struct rig {
	struct pool pkts;
	struct chunk_pools chunks;
	struct ns_stats stats;
	struct link *link;
	struct rig_frame frames[RIG_FRAMES];
	uint32_t frame_cnt;
	uint32_t lost[DROP_COUNT];    /* told by ns_link_ops.lost */
	uint32_t call_len[RIG_CALLS]; /* frames offered to each call */
	uint32_t call_cnt;
	/* what the driver says: errno for the next call, once; or for every super-frame */
	int next_err;
	int super_err;
	uint32_t take_max; /* frames taken a call at most, 0: all */
};

void rig_init(struct rig *r, enum ns_gso_mode mode);
void rig_done(struct rig *r);
/** rig_super() - a TCP super-frame with @len octets of payload that count up, over several chunks, checksum partial */
struct pkt *rig_super(struct rig *r, uint32_t len, uint8_t flags);
/** rig_super_udp() - likewise of datagrams of RIG_MSS octets each */
struct pkt *rig_super_udp(struct rig *r, uint32_t len, bool is_v6);
uint64_t rig_stat(const struct rig *r, enum stat s);
