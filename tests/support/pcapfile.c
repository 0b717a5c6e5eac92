/* SPDX-License-Identifier: Apache-2.0 */
/* pcapfile.c - classic pcap with nanosecond time stamps (magic a1b23c4d), host byte order */
#include "support/pcapfile.h"

#include <errno.h>
#include <stdbool.h>
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
