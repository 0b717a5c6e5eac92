/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - the link to ourselves, id 0
 *
 * Packets to our own addresses are queued here like on any link, without an Ethernet header, and come
 * back in by reference when the stack asks: nothing recurses, payload is never copied, and the
 * partial checksum stays partial, which the input side trusts.
 */
#pragma once

#include "base/attr.h"
#include "base/mono.h"

struct link;
struct ns_stats;
struct pkt;
struct pool;

ns_must_check struct link *loop_new(struct pool *pkts, struct ns_stats *stats);
struct pkt *loop_take(struct link *l, struct mono now);
