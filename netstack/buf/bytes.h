/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - a stream of octets as slices of chunks: send queue and receive queue
 *
 * Theory of operation
 *
 * Octets have stream offsets that never repeat (64 bits, counted from 0), so a TCP maps a sequence
 * number to an offset once and never meets a wrap here. The send queue is filled by reserve/commit:
 * the caller reads from the program straight into the tail chunk's free room. The receive queue is
 * filled by reference to received frames. Reading out is by reference too: frags for the wire, iov
 * for the program.
 *
 * Memory: @charge counts the true size held (whole chunks, each once per slice), so a flood of
 * 1-octet segments is accounted for what it costs; bytes_compact() copies badly used chunks into
 * well used ones. Small pieces that arrive while others wait are copied behind them at once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "base/pool.h"
#include "buf/chunk.h"
#include "buf/pkt.h"
#include "ns/iov.h"

struct bytes_slice {
	struct list node;
	struct chunk *chunk;
	uint32_t off, len;
	uint64_t start; /* stream offset of the first octet */
	bool is_own;    /* this stream allocated the chunk: only it appends to it */
};

struct bytes {
	struct list slices;
	struct chunk_pools *chunks;
	struct pool *slice_pool;
	struct bytes_slice *cursor; /* last slice looked up by offset: sequential access is O(1) */
	uint64_t head, tail;        /* stream offsets: first octet held, one past the last */
	uint64_t charge;            /* octets of memory held */
	uint64_t dense_until;       /* stream offset: slices before it were found well used */
};

void bytes_init(struct bytes *b, struct chunk_pools *chunks, struct pool *slice_pool);
void bytes_clear(struct bytes *b);

static inline uint64_t bytes_len(const struct bytes *b)
{
	return b->tail - b->head;
}

/**
 * bytes_reserve() - room for up to @want octets behind the tail, as writable iovecs
 * Return: number of iovecs set (0: no memory). Nothing is in the stream until bytes_commit().
 */
ns_must_check uint32_t bytes_reserve(struct bytes *b, uint32_t want, struct ns_iov *iov,
				     uint32_t iov_cnt);
/** bytes_commit() - the first @len octets of the last reservation are filled; the rest of it is given back */
void bytes_commit(struct bytes *b, uint32_t len);
/** bytes_append() - copy @len octets behind the tail; -ENOMEM: nothing was appended */
ns_must_check int bytes_append(struct bytes *b, const void *data, uint32_t len);
/** bytes_append_ref() - a slice of @c behind the tail, without a copy; takes a reference; -ENOMEM */
ns_must_check int bytes_append_ref(struct bytes *b, struct chunk *c, uint32_t off, uint32_t len);
/** bytes_append_pkt() - all octets of @p from its head on (linear, then frags), by reference when the linear area is a chunk; borrowed @p */
ns_must_check int bytes_append_pkt(struct bytes *b, const struct pkt *p);
/**
 * bytes_to_pkt() - add [@off, @off + @len) as frags to @p; stops early when @p has no room for more frags
 * Return: octets added (may be less than @len)
 */
ns_must_check uint32_t bytes_to_pkt(struct bytes *b, uint64_t off, uint32_t len, struct pkt *p);
/** bytes_peek() - the first octets as readable iovecs, valid until the next call on @b; number of iovecs set */
ns_must_check uint32_t bytes_peek(const struct bytes *b, struct ns_iov *iov, uint32_t iov_cnt);
/** bytes_consume() - drop @len octets from the head, at most what is there */
void bytes_consume(struct bytes *b, uint64_t len);
/** bytes_compact() - copy slices that use less than half of their chunk into dense chunks; best effort */
void bytes_compact(struct bytes *b);
