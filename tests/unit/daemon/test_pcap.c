/* SPDX-License-Identifier: Apache-2.0 */
/* test_pcap.c - the capture ring: what goes in comes out, and a lying worker gets nowhere */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buf/pkt.h"
#include "daemon/common/pcap.h"
#include "daemon/worker/drv.h"
#include "support/pcapfile.h"
#include "wire/vnet.h"

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

	pcap_ring_put(&worker, 0, false, UINT64_C(0x1122334455667788), a, DROP_NONE);
	pcap_ring_judge(&worker, DROP_NONE);
	pcap_ring_put(&worker, 1, true, 7, b, DROP_NONE);
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

/* All that is in the ring as a file in memory. */
static char *drained(size_t *ret_len)
{
	const char *names[] = { "eth0" };
	char *file = NULL;
	FILE *f = open_memstream(&file, ret_len);
	uint64_t lost;

	ck_assert(pcap_file_begin(f, names, 1));
	ck_assert_int_ge(pcap_file_drain(&monitor, f, 1, &lost), 0);
	(void)fclose(f);
	return file;
}

START_TEST(a_dropped_frame_says_why_and_others_say_nothing)
{
	struct pkt *p = frame(54, 7, 1);
	struct pcapng_frame f;
	size_t len;

	pcap_ring_put(&worker, 0, false, 1, p, DROP_NONE);
	pcap_ring_judge(&worker, DROP_TCP_PAWS);
	pcap_ring_put(&worker, 0, false, 2, p, DROP_NONE);
	pcap_ring_judge(&worker, DROP_NONE);
	pcap_ring_put(&worker, 0, true, 3, p, DROP_NONE);
	pcap_ring_judge(&worker, DROP_TCP_PAWS); /* what was sent is nobody's to judge */
	pcap_ring_put(&worker, 0, false, 4, p, DROP_NONE);

	char *file = drained(&len);

	ck_assert(pcapng_read(file, len, 0, &f));
	ck_assert_str_eq(f.comment,
			 "dropped: TCP_PAWS: TCP timestamp older than the last (RFC 7323 5.3 R1)");
	ck_assert(f.is_rx && !f.is_tx && f.len == 61);
	ck_assert(pcapng_read(file, len, 1, &f) && f.is_rx && !f.comment[0]);
	ck_assert(pcapng_read(file, len, 2, &f) && f.is_tx && !f.comment[0]);
	ck_assert(!pcapng_read(file, len, 3, &f)); /* its verdict is not there yet */
	free(file);
	pkt_free(p);
}
END_TEST

START_TEST(every_reason_has_a_text_a_clause_and_room_in_a_comment)
{
	struct pkt *p = frame(54, 0, 1);
	struct pcapng_frame f;
	size_t len;

	for (int i = DROP_NONE + 1; i < DROP_COUNT; i++) {
		ck_assert_msg(*drop_text((enum drop)i) && *drop_clause((enum drop)i), "%s",
			      drop_name((enum drop)i));
		pcap_ring_put(&worker, 0, false, 1, p, DROP_NONE);
		pcap_ring_judge(&worker, (enum drop)i);
	}

	char *file = drained(&len);

	for (int i = DROP_NONE + 1; i < DROP_COUNT; i++) {
		ck_assert(pcapng_read(file, len, (uint32_t)i - 1, &f));
		ck_assert_ptr_nonnull(strstr(f.comment, drop_name((enum drop)i)));
		ck_assert_int_eq(f.comment[strlen(f.comment) - 1], ')');
	}
	free(file);
	pkt_free(p);
}
END_TEST

START_TEST(a_frame_of_ours_that_does_not_leave_says_why_and_leaves_the_received_one_its_own_reason)
{
	struct pkt *in = frame(54, 7, 1), *out = frame(60, 9, 2);
	struct pcapng_frame f;
	size_t len;

	pcap_ring_put(&worker, 0, true, 1, out, DROP_NEIGH_FAILED);
	pcap_ring_put(&worker, 0, false, 2, in, DROP_NONE);
	pcap_ring_put(&worker, 0, true, 3, out,
		      DROP_LINK_QUEUE); /* what was received is answered */
	pcap_ring_judge(&worker, DROP_TCP_PAWS);

	char *file = drained(&len);

	ck_assert(pcapng_read(file, len, 0, &f) && f.is_tx);
	ck_assert_str_eq(f.comment, "dropped: NEIGH_FAILED: neighbour did not answer (RFC 826)");
	ck_assert(pcapng_read(file, len, 1, &f) && f.is_rx && strstr(f.comment, "TCP_PAWS"));
	ck_assert(pcapng_read(file, len, 2, &f) && f.is_tx && strstr(f.comment, "LINK_QUEUE"));
	free(file);
	pkt_free(in);
	pkt_free(out);
}
END_TEST

static void put_in_ring(void *ctx, const struct pkt *p, bool is_tx, enum drop why)
{
	pcap_ring_put(ctx, 0, is_tx, 1, p, why);
}

static void judge_in_ring(void *ctx, enum drop why)
{
	pcap_ring_judge(ctx, why);
}

static void no_random(void *ctx, void *buf, size_t len)
{
	(void)ctx;
	memset(buf, 7, len);
}

static int no_xmit(void *drv, struct pkt *const *p, uint32_t cnt)
{
	(void)drv;
	(void)p;
	return (int)cnt;
}

/* A frame as the driver has it: vnet header of zeros, then @len octets. */
static void deliver(struct drv *d, const uint8_t *octets, uint32_t len, uint8_t csum_start)
{
	struct pkt *p = ns_stack_rx_alloc(d->stack);
	uint8_t *to = pkt_put(p, VNET_LEN + len);

	memset(to, 0, VNET_LEN);
	if (csum_start) {
		to[0] = 1;
		to[6] = csum_start;
	}
	memcpy(to + VNET_LEN, octets, len);
	p->len = 0;
	drv_deliver(d, p, VNET_LEN + len, false, (struct mono){ NS_PER_SEC });
}

static uint64_t counter(const struct ns_stack *s, const char *name)
{
	for (uint32_t i = 0; i < ns_stack_stat_cnt(); i++)
		if (!strcmp(ns_stack_stat_name(i), name))
			return ns_stack_stat(s, i);
	ck_abort_msg("no counter %s", name);
	return 0;
}

START_TEST(what_the_stack_and_the_driver_drop_is_in_the_capture_with_its_reason)
{
	static const struct ns_env env = { .random = no_random };
	const struct ns_link_ops ops = { .xmit = no_xmit };
	struct ns_link_config link = { .name = "eth0", .mtu = 1500, .is_up = true, .ops = &ops };
	static const uint8_t arp[20] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 6, 0, 1 };
	static const uint8_t alien[60] = { 2, 9, 9, 9, 9, 9, 2, 0, 0, 0, 0, 2, 8, 0 };
	struct drv d = { .fd = -1, .vnet_len = VNET_LEN, .ctx = &worker };
	struct pcapng_frame f;
	size_t len;

	memcpy(link.mac, arp, 6);
	d.observe = put_in_ring;
	d.judge = judge_in_ring;
	d.stack = ns_stack_new(&env, NULL);
	ck_assert_int_eq(ns_stack_add_link(d.stack, &link, &d.link_id), 0);
	deliver(&d, arp, sizeof(arp), 0);
	deliver(&d, alien, sizeof(alien), 0);
	deliver(&d, arp, sizeof(arp), 200);
	ck_assert_uint_eq(counter(d.stack, "DROP_ARP_BAD"), 1);
	ck_assert_uint_eq(counter(d.stack, "DROP_ETH_NOT_US"), 1);
	ck_assert_uint_eq(counter(d.stack, "DROP_VNET_BAD"), 1);

	char *file = drained(&len);

	ck_assert(pcapng_read(file, len, 0, &f));
	ck_assert_str_eq(f.comment, "dropped: ARP_BAD: ARP malformed or of another kind (RFC 826)");
	ck_assert(f.len == sizeof(arp) && !memcmp(f.octets, arp, sizeof(arp)));
	ck_assert(pcapng_read(file, len, 1, &f) && strstr(f.comment, "ETH_NOT_US"));
	ck_assert(pcapng_read(file, len, 2, &f) && strstr(f.comment, "VNET_BAD"));
	free(file);
	ns_stack_free(d.stack);
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
			pcap_ring_put(&worker, 0, true, 1, p, DROP_NONE);

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
	raw[DATA] = 0;
	raw[DATA + 3] = UINT32_MAX; /* a reason that there is not */
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
	tcase_add_test(tc, a_dropped_frame_says_why_and_others_say_nothing);
	tcase_add_test(
		tc,
		a_frame_of_ours_that_does_not_leave_says_why_and_leaves_the_received_one_its_own_reason);
	tcase_add_test(tc, every_reason_has_a_text_a_clause_and_room_in_a_comment);
	tcase_add_test(tc, what_the_stack_and_the_driver_drop_is_in_the_capture_with_its_reason);
	tcase_add_test(tc, full_ring_counts_and_goes_on);
	tcase_add_test(tc, worker_that_lies_is_refused);
	suite_add_tcase(s, tc);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
