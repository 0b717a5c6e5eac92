/* SPDX-License-Identifier: Apache-2.0 */
/* test_pcap.c - the capture ring: what goes in comes out, and a lying worker gets nowhere */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buf/pkt.h"
#include "daemon/pcap.h"

static struct pool pkts;
static struct chunk_pools chunks;
static struct pcap_ring worker, monitor;

static void setup(void)
{
	int fd = pcap_memfd();

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pcap_ring_map(&worker, fd), 0);
	ck_assert_int_eq(pcap_ring_map(&monitor, fd), 0);
	ck_assert_int_eq(close(fd), 0);
	pool_init(&pkts, "pkt", sizeof(struct pkt), 16, 16);
	chunk_pools_init(&chunks, 16, 16, 16);
}

static void teardown(void)
{
	pcap_ring_unmap(&worker);
	pcap_ring_unmap(&monitor);
	pool_done(&pkts);
	chunk_pools_done(&chunks);
}

/** frame() - a frame of @lin_len octets of headers and @frag_len of payload, all of value @fill */
static struct pkt *frame(uint32_t lin_len, uint32_t frag_len, uint8_t fill)
{
	struct pkt *p = pkt_new_tx(&pkts);

	ck_assert_ptr_nonnull(p);
	memset(pkt_push(p, lin_len), fill, lin_len);
	if (frag_len) {
		struct chunk *c = chunk_new(&chunks, CHUNK_LARGE);

		ck_assert_ptr_nonnull(c);
		memset(c->data, fill, frag_len);
		ck_assert_int_eq(pkt_add_frag(p, c, 0, frag_len), 0);
		chunk_unref(c);
	}
	return p;
}

static uint32_t u32_at(const char *file, size_t off)
{
	uint32_t v;

	memcpy(&v, file + off, sizeof(v));
	return v;
}

START_TEST(frames_come_out_as_pcapng_blocks_in_order)
{
	const char *names[] = { "eth0", "wg1" };
	char *file = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&file, &len);
	uint64_t lost = 99;
	struct pkt *a = frame(54, 1000, 0xaa), *b = frame(61, 0, 0xbb);

	pcap_ring_put(&worker, 0, false, UINT64_C(0x1122334455667788), a);
	pcap_ring_put(&worker, 1, true, 7, b);
	ck_assert(pcap_file_begin(f, names, 2));

	size_t at = len;

	ck_assert_int_eq(pcap_file_drain(&monitor, f, 2, &lost), 2);
	ck_assert_uint_eq(lost, 0);
	ck_assert_uint_eq(u32_at(file, 0), 0x0a0d0d0a);
	ck_assert_uint_eq(u32_at(file, 28), 1); /* first interface */

	ck_assert_uint_eq(u32_at(file, at), 6);
	ck_assert_uint_eq(u32_at(file, at + 8), 0);
	ck_assert_uint_eq(u32_at(file, at + 12), 0x11223344);
	ck_assert_uint_eq(u32_at(file, at + 16), 0x55667788);
	ck_assert_uint_eq(u32_at(file, at + 20), 1054);
	for (size_t i = 0; i < 1054; i++)
		ck_assert_uint_eq((uint8_t)file[at + 28 + i], 0xaa);
	ck_assert_uint_eq(u32_at(file, at + 28 + 1056 + 4), 1); /* inbound */

	uint32_t block = u32_at(file, at + 4);

	ck_assert_uint_eq(u32_at(file, at + block - 4), block);
	at += block;
	ck_assert_uint_eq(u32_at(file, at + 8), 1);
	ck_assert_uint_eq(u32_at(file, at + 20), 61);
	ck_assert_uint_eq(u32_at(file, at + 28 + 64 + 4), 2); /* outbound */
	ck_assert_uint_eq(at + u32_at(file, at + 4), len);
	(void)fclose(f);
	free(file);
	pkt_free(a);
	pkt_free(b);
}
END_TEST

START_TEST(full_ring_counts_and_goes_on)
{
	const char *names[] = { "eth0" };
	FILE *f = fopen("/dev/null", "w");
	struct pkt *p = frame(54, 60000, 1);
	uint64_t lost = 0;
	int put = 0, got = 0;

	ck_assert_ptr_nonnull(f);
	ck_assert(pcap_file_begin(f, names, 1));
	/* Three times around, so that records cross the ring's end at many offsets. */
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 200; i++, put++)
			pcap_ring_put(&worker, 0, true, 1, p);

		int r = pcap_file_drain(&monitor, f, 1, &lost);

		ck_assert_int_gt(r, 0);
		got += r;
	}
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_eq((uint64_t)got + lost, (uint64_t)put);
	(void)fclose(f);
	pkt_free(p);
}
END_TEST

/* The layout the two sides share: head, tail, lost, then records. */
enum { HEAD = 0, DATA = 3 };

START_TEST(worker_that_lies_is_refused)
{
	FILE *f = fopen("/dev/null", "w");
	uint64_t *raw = (uint64_t *)(void *)worker.shared;
	uint64_t lost;

	ck_assert_ptr_nonnull(f);
	raw[HEAD] = UINT64_C(1) << 40; /* more than a ring */
	ck_assert_int_eq(pcap_file_drain(&monitor, f, 1, &lost), -EPROTO);
	raw[HEAD] = 8; /* less than a record */
	ck_assert_int_eq(pcap_file_drain(&monitor, f, 1, &lost), -EPROTO);
	raw[HEAD] = 32; /* a record whose frame is not there */
	raw[DATA] = 1000;
	ck_assert_int_eq(pcap_file_drain(&monitor, f, 1, &lost), -EPROTO);
	raw[DATA] = UINT32_MAX; /* and one longer than any frame */
	ck_assert_int_eq(pcap_file_drain(&monitor, f, 1, &lost), -EPROTO);
	(void)fclose(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pcap");
	TCase *tc = tcase_create("ring");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, frames_come_out_as_pcapng_blocks_in_order);
	tcase_add_test(tc, full_ring_counts_and_goes_on);
	tcase_add_test(tc, worker_that_lies_is_refused);
	suite_add_tcase(s, tc);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
