/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap.h - frames from the worker, which may write to no file, into a capture file of the monitor
 *
 * Theory of operation
 *
 * A memfd of PCAP_RING_SIZE octets is mapped by both. The worker appends records and moves head, the
 * monitor reads them and moves tail; each only writes its own. When the ring is full the worker
 * counts and goes on: a capture must not slow down what it watches.
 *
 * The monitor believes nothing in the ring: head is bounded against its own tail, a record's length
 * against what head says is there, and both are read once.
 *
 * The file is pcapng (draft-ietf-opsawg-pcapng): one interface description for each link, one
 * enhanced packet block a frame, with its direction in epb_flags. Super-frames are written as they
 * crossed the link, checksums as they were in memory: a partial one looks wrong to a reader, and is not.
 * A frame that the stack dropped, on its way in or out, has a comment (opt_comment) with the reason: its
 * name, text and clause.
 *
 * Limits: frames are cut to PCAP_SNAP_LEN octets.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/drop.h"

struct pkt;

enum {
	PCAP_RING_SIZE = 8 << 20,
	PCAP_SNAP_LEN = 65535 + 64, /* octets: a super-frame with its Ethernet header */
};

/** struct pcap_ring - one side's view of the shared memory */
struct pcap_ring {
	struct pcap_shared *shared;
	uint64_t pos;      /* this side's own counter: what it trusts */
	uint64_t last_pos; /* worker: where the last record is, if it is in the ring */
	bool has_last;     /* and it was received and is not judged yet */
};

/** pcap_memfd() - the memory, sealed against resizing. Return: descriptor (the caller's) or negative errno */
ns_must_check int pcap_memfd(void);
/** pcap_ring_map() - map it; @fd stays the caller's. Return: 0 or negative errno */
ns_must_check int pcap_ring_map(struct pcap_ring *r, int fd);
void pcap_ring_unmap(struct pcap_ring *r);

/**
 * pcap_ring_put() - worker: append @p from its Ethernet header on; no system call
 * @when_ns:	Nanoseconds since 1970
 * @why:	Of one of ours: why it did not leave, or DROP_NONE
 *
 * A sent frame is there for the monitor at once, a received one, and what was sent or lost in answer, when
 * pcap_ring_judge() or the next received frame comes.
 */
void pcap_ring_put(struct pcap_ring *r, uint32_t link_idx, bool is_tx, uint64_t when_ns,
		   const struct pkt *p, enum drop why);

/** pcap_ring_judge() - worker: the frame received last died for this reason, or lives (DROP_NONE) */
void pcap_ring_judge(struct pcap_ring *r, enum drop why);

/** pcap_file_begin() - monitor: section header and one interface a link; false: see errno */
ns_must_check bool pcap_file_begin(FILE *f, const char *const *link_names, size_t link_cnt);
/**
 * pcap_file_drain() - monitor: write all that is in the ring
 * @link_cnt:	Interfaces described; records of others are skipped
 * @ret_lost:	Frames that found the ring full since it was made
 *
 * Return: frames written, or -EIO when the file did not take them, -EPROTO when the ring makes no sense (the worker lies)
 */
ns_must_check int pcap_file_drain(struct pcap_ring *r, FILE *f, size_t link_cnt,
				  uint64_t *ret_lost);
