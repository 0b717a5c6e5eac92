/* SPDX-License-Identifier: Apache-2.0 */
/* pcapfile.h - the last frames of a test in a ring, written as a pcap when the test fails; a reader of pcapng */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/mono.h"

struct pcapring;

/**
 * pcapring_new() - a ring of the @cap last frames, each cut to @snap octets
 *
 * Return: the ring, or NULL without memory
 */
ns_must_check struct pcapring *pcapring_new(uint32_t cap, uint32_t snap);
/** pcapring_free() - NULL is fine */
void pcapring_free(struct pcapring *r);
/** pcapring_add() - @len octets from the Ethernet header on; NULL ring is fine */
void pcapring_add(struct pcapring *r, struct mono at, const void *frame, uint32_t len);
/**
 * pcapring_write() - the ring's frames, oldest first
 * @path:	Replaced when there; its folders are not made
 *
 * Return: 0 or a negative errno
 */
int pcapring_write(const struct pcapring *r, const char *path);

/** struct pcapng_frame - an enhanced packet block as a reader sees it */
struct pcapng_frame {
	uint32_t link_idx;
	bool is_rx, is_tx; /* epb_flags; neither: it does not say */
	uint32_t len;      /* octets kept */
	const uint8_t *octets;
	char comment[256]; /* opt_comment, empty: none */
};
/** pcapng_read() - frame number @idx of a pcapng file in memory (host byte order); false: there is none, or the file is broken before it */
bool pcapng_read(const void *file, size_t len, uint32_t idx, struct pcapng_frame *ret_frame);
