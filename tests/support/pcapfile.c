/* SPDX-License-Identifier: Apache-2.0 */
/* pcapfile.c - classic pcap with nanosecond time stamps (magic a1b23c4d), host byte order; see pcapfile.h */
#include "support/pcapfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot {
	struct mono at;
	uint32_t len; /* octets of the frame; min(len, snap) are kept */
};

struct pcapring {
	uint32_t cap, snap;
	uint64_t added;
	struct slot *slots;
	uint8_t *octets;
};

struct pcapring *pcapring_new(uint32_t cap, uint32_t snap)
{
	struct pcapring *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->cap = cap;
	r->snap = snap;
	r->slots = calloc(cap, sizeof(*r->slots));
	r->octets = calloc(cap, snap);
	if (r->slots && r->octets)
		return r;
	pcapring_free(r);
	return NULL;
}

void pcapring_free(struct pcapring *r)
{
	if (!r)
		return;
	free(r->slots);
	free(r->octets);
	free(r);
}

void pcapring_add(struct pcapring *r, struct mono at, const void *frame, uint32_t len)
{
	if (!r)
		return;
	size_t i = r->added++ % r->cap;

	r->slots[i] = (struct slot){ at, len };
	memcpy(r->octets + i * r->snap, frame, len < r->snap ? len : r->snap);
}

int pcapring_write(const struct pcapring *r, const char *path)
{
	const uint32_t head[6] = { 0xa1b23c4d, 2 | 4 << 16, 0, 0, r->snap, 1 };
	uint64_t i = r->added > r->cap ? r->added - r->cap : 0;
	FILE *f = fopen(path, "wb");

	if (!f)
		return -errno;
	bool ok = fwrite(head, sizeof(head), 1, f) == 1;

	for (; ok && i < r->added; i++) {
		const struct slot *s = &r->slots[i % r->cap];
		uint32_t kept = s->len < r->snap ? s->len : r->snap;
		uint32_t rec[4] = { (uint32_t)(s->at.ns / NS_PER_SEC),
				    (uint32_t)(s->at.ns % NS_PER_SEC), kept, s->len };

		ok = fwrite(rec, sizeof(rec), 1, f) == 1 &&
		     (!kept || fwrite(r->octets + (size_t)(i % r->cap) * r->snap, kept, 1, f) == 1);
	}
	return fclose(f) == 0 && ok ? 0 : -EIO;
}

/* --- pcapng ----------------------------------------------------------------------------------- */

static uint32_t u32_at(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static uint32_t padded(uint32_t len)
{
	return (len + 3) & ~3u;
}

/* Options from @at to @end: flags 2, comment 1, end 0. */
static bool read_options(const uint8_t *at, const uint8_t *end, struct pcapng_frame *f)
{
	while (end - at >= 4) {
		uint32_t code = u32_at(at) & 0xffff, len = u32_at(at) >> 16;

		at += 4;
		if (code == 0)
			return true;
		if (padded(len) > (size_t)(end - at))
			return false;
		if (code == 1 && len < sizeof(f->comment))
			memcpy(f->comment, at, len);
		if (code == 2 && len == 4) {
			f->is_rx = (u32_at(at) & 3) == 1;
			f->is_tx = (u32_at(at) & 3) == 2;
		}
		at += padded(len);
	}
	return at == end;
}

bool pcapng_read(const void *file, size_t len, uint32_t idx, struct pcapng_frame *f)
{
	const uint8_t *at = file, *end = at + len;

	while (end - at >= 12) {
		uint32_t type = u32_at(at), block = u32_at(at + 4), kept;

		if (block < 12 || block % 4 || block > (size_t)(end - at) ||
		    u32_at(at + block - 4) != block)
			return false;
		if (type != 6 || idx-- > 0) {
			at += block;
			continue;
		}
		kept = block >= 32 ? u32_at(at + 20) : UINT32_MAX;
		if (block < 32 || kept > block - 32 || padded(kept) > block - 32)
			return false;
		*f = (struct pcapng_frame){ .link_idx = u32_at(at + 8),
					    .len = kept,
					    .octets = at + 28 };
		return read_options(at + 28 + padded(kept), at + block - 4, f);
	}
	return false;
}
