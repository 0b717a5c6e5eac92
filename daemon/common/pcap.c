/* SPDX-License-Identifier: Apache-2.0 */
/* pcap.c - see pcap.h */
#include "daemon/common/pcap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buf/pkt.h"

/** struct pcap_shared - what both map; @data is a ring of records, each aligned to 8 octets */
struct pcap_shared {
	_Atomic uint64_t head; /* octets ever written; the worker's */
	_Atomic uint64_t tail; /* octets ever read; the monitor's */
	_Atomic uint64_t lost; /* frames that found no room; the worker's */
	uint8_t data[PCAP_RING_SIZE];
};

/** struct pcap_record - in front of each frame; only ever copied in and out */
struct pcap_record {
	uint32_t len;      /* octets that follow */
	uint32_t orig_len; /* octets of the frame */
	uint64_t when_ns;
	uint32_t link_idx;
	uint32_t is_tx;
	uint32_t why; /* enum drop */
	uint32_t unused;
};

enum {
	COMMENT_MAX = 256, /* octets, the end of the string too */
};

/* Block types and options of pcapng. */
enum {
	PCAPNG_SHB = 0x0a0d0d0a,
	PCAPNG_BYTE_ORDER = 0x1a2b3c4d,
	PCAPNG_IDB = 1,
	PCAPNG_EPB = 6,
	PCAPNG_LINKTYPE_ETHERNET = 1,
	PCAPNG_OPT_END = 0,
	PCAPNG_OPT_COMMENT = 1,
	PCAPNG_IF_NAME = 2,
	PCAPNG_IF_TSRESOL = 9,
	PCAPNG_EPB_FLAGS = 2,
	PCAPNG_NANOSECONDS = 9, /* 10^-9 */
	PCAPNG_INBOUND = 1,
	PCAPNG_OUTBOUND = 2,
};

static uint64_t align8(uint64_t len)
{
	return (len + 7) & ~UINT64_C(7);
}

static uint32_t align4(uint32_t len)
{
	return (len + 3) & ~3u;
}

int pcap_memfd(void)
{
	int fd = memfd_create("sluice-pcap", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, sizeof(struct pcap_shared)) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	return fd;
}

int pcap_ring_map(struct pcap_ring *r, int fd)
{
	void *m = mmap(NULL, sizeof(struct pcap_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (m == MAP_FAILED)
		return -errno;
	*r = (struct pcap_ring){ .shared = m };
	return 0;
}

void pcap_ring_unmap(struct pcap_ring *r)
{
	if (r->shared)
		(void)munmap(r->shared, sizeof(*r->shared));
	r->shared = NULL;
}

static void ring_write(struct pcap_shared *s, uint64_t pos, const void *from, uint32_t len)
{
	uint32_t at = (uint32_t)(pos % PCAP_RING_SIZE);
	uint32_t first = ns_min_u(len, PCAP_RING_SIZE - at);

	memcpy(s->data + at, from, first);
	memcpy(s->data, (const uint8_t *)from + first, len - first);
}

static void ring_read(const struct pcap_shared *s, uint64_t pos, void *to, uint32_t len)
{
	uint32_t at = (uint32_t)(pos % PCAP_RING_SIZE);
	uint32_t first = ns_min_u(len, PCAP_RING_SIZE - at);

	memcpy(to, s->data + at, first);
	memcpy((uint8_t *)to + first, s->data, len - first);
}

void pcap_ring_put(struct pcap_ring *r, uint32_t link_idx, bool is_tx, uint64_t when_ns,
		   const struct pkt *p, enum drop why)
{
	struct pcap_shared *s = r->shared;
	struct pcap_record rec = {
		.len = ns_min_u(pkt_len(p), PCAP_SNAP_LEN),
		.orig_len = pkt_len(p),
		.when_ns = when_ns,
		.link_idx = link_idx,
		.is_tx = is_tx,
		.why = why,
	};
	if (!is_tx)
		pcap_ring_judge(r, DROP_NONE); /* one that nobody judged */
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_acquire);
	uint64_t used = r->pos - tail;
	uint64_t pos = r->pos + sizeof(rec);
	uint32_t left = rec.len;

	if (used + align8(sizeof(rec) + rec.len) > PCAP_RING_SIZE) {
		atomic_fetch_add_explicit(&s->lost, 1, memory_order_relaxed);
		return;
	}
	ring_write(s, r->pos, &rec, sizeof(rec));

	uint32_t len = ns_min_u(left, p->len);

	ring_write(s, pos, pkt_data(p), len);
	pos += len;
	left -= len;
	for (uint32_t i = 0; i < p->frag_cnt && left > 0; i++) {
		len = ns_min_u(left, p->frag[i].len);
		ring_write(s, pos, p->frag[i].chunk->data + p->frag[i].off, len);
		pos += len;
		left -= len;
	}
	if (!is_tx) {
		r->last_pos = r->pos;
		r->has_last = true;
	}
	r->pos += align8(sizeof(rec) + rec.len);
	if (!r->has_last)
		atomic_store_explicit(&s->head, r->pos, memory_order_release);
}

void pcap_ring_judge(struct pcap_ring *r, enum drop why)
{
	uint32_t v = why;

	if (!r->has_last)
		return;
	if (why != DROP_NONE)
		ring_write(r->shared, r->last_pos + offsetof(struct pcap_record, why), &v,
			   sizeof(v));
	r->has_last = false;
	atomic_store_explicit(&r->shared->head, r->pos, memory_order_release);
}

/* --- the file ---------------------------------------------------------------------------------- */

static bool put(FILE *f, const void *data, size_t len)
{
	return fwrite(data, 1, len, f) == len;
}

static bool put_u32(FILE *f, uint32_t v)
{
	return put(f, &v, sizeof(v));
}

/** put_padded() - @len octets and zeroes up to the next multiple of 4 */
static bool put_padded(FILE *f, const void *data, uint32_t len)
{
	static const uint8_t zero[4];

	return put(f, data, len) && put(f, zero, align4(len) - len);
}

static bool put_option(FILE *f, uint16_t code, const void *data, uint16_t len)
{
	return put_u32(f, (uint32_t)len << 16 | code) && put_padded(f, data, len);
}

static bool put_section(FILE *f)
{
	const uint32_t block[] = { PCAPNG_SHB,  28,         PCAPNG_BYTE_ORDER,
				   1 /* 1.0 */, UINT32_MAX, UINT32_MAX /* length not known */,
				   28 };

	return put(f, block, sizeof(block));
}

static bool put_interface(FILE *f, const char *name)
{
	const uint8_t resolution = PCAPNG_NANOSECONDS;
	uint32_t name_len = (uint32_t)strlen(name);
	uint32_t len = 20 + 4 + align4(name_len) + 4 + 4 + 4;

	return put_u32(f, PCAPNG_IDB) && put_u32(f, len) && put_u32(f, PCAPNG_LINKTYPE_ETHERNET) &&
	       put_u32(f, PCAP_SNAP_LEN) &&
	       put_option(f, PCAPNG_IF_NAME, name, (uint16_t)name_len) &&
	       put_option(f, PCAPNG_IF_TSRESOL, &resolution, 1) && put_u32(f, PCAPNG_OPT_END) &&
	       put_u32(f, len);
}

/* Why the stack dropped the frame, for a human; empty: it did not. Octets. */
static uint32_t comment_of(const struct pcap_record *rec, char *to, size_t size)
{
	enum drop why = (enum drop)rec->why;
	int n;

	if (rec->why == DROP_NONE)
		return 0;
	n = snprintf(to, size, "dropped: %s: %s (%s)", drop_name(why), drop_text(why),
		     drop_clause(why));
	return n < 0 ? 0 : ns_min_u((uint32_t)n, (uint32_t)size - 1);
}

static bool put_packet(FILE *f, const struct pcap_record *rec, const uint8_t *frame)
{
	uint32_t flags = rec->is_tx ? PCAPNG_OUTBOUND : PCAPNG_INBOUND;
	char comment[COMMENT_MAX];
	uint32_t comment_len = comment_of(rec, comment, sizeof(comment));
	uint32_t len = 32 + align4(rec->len) + 8 + 4 + (comment_len ? 4 + align4(comment_len) : 0);

	return put_u32(f, PCAPNG_EPB) && put_u32(f, len) && put_u32(f, rec->link_idx) &&
	       put_u32(f, (uint32_t)(rec->when_ns >> 32)) && put_u32(f, (uint32_t)rec->when_ns) &&
	       put_u32(f, rec->len) && put_u32(f, rec->orig_len) &&
	       put_padded(f, frame, rec->len) &&
	       put_option(f, PCAPNG_EPB_FLAGS, &flags, sizeof(flags)) &&
	       (!comment_len ||
		put_option(f, PCAPNG_OPT_COMMENT, comment, (uint16_t)comment_len)) &&
	       put_u32(f, PCAPNG_OPT_END) && put_u32(f, len);
}

bool pcap_file_begin(FILE *f, const char *const *link_names, size_t link_cnt)
{
	if (!put_section(f))
		return false;
	for (size_t i = 0; i < link_cnt; i++)
		if (!put_interface(f, link_names[i]))
			return false;
	return fflush(f) == 0;
}

int pcap_file_drain(struct pcap_ring *r, FILE *f, size_t link_cnt, uint64_t *ret_lost)
{
	static uint8_t frame[PCAP_SNAP_LEN];
	struct pcap_shared *s = r->shared;
	uint64_t head = atomic_load_explicit(&s->head, memory_order_acquire);
	int cnt = 0;

	if (head - r->pos > PCAP_RING_SIZE)
		return -EPROTO;
	while (r->pos != head) {
		struct pcap_record rec;

		if (head - r->pos < sizeof(rec))
			return -EPROTO;
		ring_read(s, r->pos, &rec, sizeof(rec));
		if (rec.why >= DROP_COUNT || rec.len > PCAP_SNAP_LEN ||
		    align8(sizeof(rec) + rec.len) > head - r->pos)
			return -EPROTO;
		ring_read(s, r->pos + sizeof(rec), frame, rec.len);
		r->pos += align8(sizeof(rec) + rec.len);
		atomic_store_explicit(&s->tail, r->pos, memory_order_release);
		if (rec.link_idx >= link_cnt)
			continue;
		if (!put_packet(f, &rec, frame))
			return -EIO;
		cnt++;
	}
	*ret_lost = atomic_load_explicit(&s->lost, memory_order_relaxed);
	return fflush(f) == 0 ? cnt : -EIO;
}
