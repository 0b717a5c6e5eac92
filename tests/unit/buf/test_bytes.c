/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bytes.c - buf/bytes.c: a stream against a plain array of octets
 *
 * Theory of operation
 *
 * Octet n of every stream here is pattern(n), so that the stream itself needs no copy to be
 * compared with: what comes out at an offset is either the pattern's octets for it or wrong. The
 * property test does everything there is in random order, with packets in flight that hold on to
 * ranges of the stream and must still hold the same octets when everything has moved on; it runs
 * with plenty of memory and with pools so small that most calls fail.
 */
#include <errno.h>
#include <string.h>

#include "buf/bytes.h"
#include "suites.h"

enum {
	IN_FLIGHT_CNT = 8,
	LEN_MAX = 400000, /* octets a stream grows to here */
};

static struct chunk_pools chunks;
static struct pool pkts, slices;
static struct bytes b;
static uint8_t scratch[LEN_MAX + 200000];

static void start(uint32_t chunk_cap, uint32_t slice_cap)
{
	chunk_pools_init(&chunks, chunk_cap, chunk_cap, 64);
	pool_init(&pkts, "pkt", sizeof(struct pkt), 64, 64);
	pool_init(&slices, "slice", sizeof(struct bytes_slice), slice_cap, 64);
	bytes_init(&b, &chunks, &slices);
}

static void setup(void)
{
	start(256, 4096);
}

static void teardown(void)
{
	bytes_clear(&b);
	ck_assert_uint_eq(b.charge, 0);
	ck_assert_uint_eq(bytes_len(&b), 0);
	pool_done(&slices);
	pool_done(&pkts);
	chunk_pools_done(&chunks);
}

static uint8_t pattern(uint64_t off)
{
	return (uint8_t)(off ^ off >> 8 ^ off >> 16);
}

static void fill(void *to, uint64_t off, size_t len)
{
	uint8_t *at = to;

	for (size_t i = 0; i < len; i++)
		at[i] = pattern(off + i);
}

static void assert_pattern(const void *from, uint64_t off, size_t len)
{
	const uint8_t *at = from;

	for (size_t i = 0; i < len; i++)
		if (at[i] != pattern(off + i))
			ck_abort_msg("octet %zu of %zu at stream offset %ju is %u, not %u", i, len,
				     (uintmax_t)(off + i), at[i], pattern(off + i));
}

/* Chunks the slices hold, each once a slice: what charge must say. */
static uint64_t true_charge(void)
{
	uint64_t sum = 0;

	list_for_each (n, &b.slices)
		sum += list_entry(n, struct bytes_slice, node)->chunk->size;
	return sum;
}

/* Head to tail without gaps, every octet right. */
static void assert_stream(uint64_t head, uint64_t tail)
{
	struct ns_iov iov[4096];
	uint32_t cnt = bytes_peek(&b, iov, NS_ARRAY_LEN(iov));
	uint64_t off = head;

	ck_assert_uint_eq(b.head, head);
	ck_assert_uint_eq(b.tail, tail);
	for (uint32_t i = 0; i < cnt; i++) {
		ck_assert_uint_gt(iov[i].len, 0);
		assert_pattern(iov[i].base, off, iov[i].len);
		off += iov[i].len;
	}
	ck_assert_uint_eq(off, tail);
	ck_assert_uint_eq(b.charge, true_charge());
}

/* reserve and commit: @commit octets of @want asked for. */
static uint32_t write_some(uint32_t want, uint32_t commit, uint32_t iov_cnt)
{
	struct ns_iov iov[64];
	uint32_t cnt = bytes_reserve(&b, want, iov, iov_cnt);
	uint64_t off = b.tail;
	uint32_t room = 0;

	for (uint32_t i = 0; i < cnt; i++) {
		ck_assert_uint_gt(iov[i].len, 0);
		fill(iov[i].base, off + room, iov[i].len);
		room += (uint32_t)iov[i].len;
	}
	ck_assert_uint_le(room, want);
	commit = commit < room ? commit : room;
	bytes_commit(&b, commit);
	return commit;
}

static int append(uint32_t len)
{
	fill(scratch, b.tail, len);
	return bytes_append(&b, scratch, len);
}

static int append_ref(uint32_t off, uint32_t len)
{
	struct chunk *c = chunk_new(&chunks, CHUNK_RX);
	int r;

	if (!c)
		return -ENOMEM;
	fill(c->data + off, b.tail, len);
	r = bytes_append_ref(&b, c, off, len);
	chunk_unref(c);
	return r;
}

START_TEST(empty_stream_has_nothing_to_give)
{
	struct ns_iov iov[2];

	assert_stream(0, 0);
	ck_assert_uint_eq(bytes_peek(&b, iov, 2), 0);
	bytes_consume(&b, 100);
	assert_stream(0, 0);
	bytes_compact(&b);
	bytes_clear(&b);
	ck_assert_uint_eq(bytes_reserve(&b, 0, iov, 2), 0);
	ck_assert_uint_eq(bytes_reserve(&b, 10, iov, 0), 0);
	bytes_commit(&b, 0);
	assert_stream(0, 0);
}
END_TEST

START_TEST(reservation_is_in_the_stream_only_when_committed)
{
	struct ns_iov iov[4];

	ck_assert_uint_eq(bytes_reserve(&b, 100000, iov, 4), 3); /* small first, then large */
	assert_stream(0, 0);
	bytes_commit(&b, 0);
	assert_stream(0, 0);
	ck_assert_uint_eq(b.charge, 0); /* the rest was given back */
	ck_assert_uint_eq(write_some(100000, 70, 4), 70);
	assert_stream(0, 70);
	ck_assert_uint_eq(b.charge, CHUNK_SMALL);
	ck_assert_uint_eq(write_some(100000, 100000, 4), 100000);
	assert_stream(0, 100070);
}
END_TEST

START_TEST(octets_go_on_in_the_room_behind_the_last)
{
	for (int i = 0; i < CHUNK_SMALL / 16; i++)
		ck_assert_uint_eq(write_some(16, 16, 1), 16);
	ck_assert_uint_eq(slices.out_cnt, 1);
	assert_stream(0, CHUNK_SMALL);
	ck_assert_uint_eq(write_some(16, 16, 1), 16);
	ck_assert_uint_eq(slices.out_cnt, 2);
	assert_stream(0, CHUNK_SMALL + 16);
}
END_TEST

START_TEST(commit_beyond_the_reservation_traps)
{
	struct ns_iov iov[1];

	ck_assert_uint_eq(bytes_reserve(&b, 10, iov, 1), 1);
	bytes_commit(&b, CHUNK_SMALL + 1);
}
END_TEST

START_TEST(append_without_memory_leaves_the_stream_as_it_was)
{
	teardown();
	start(1, 2);
	ck_assert_int_eq(append(100), 0);
	ck_assert_int_eq(append(200000), -ENOMEM);
	assert_stream(0, 100);
	ck_assert_int_eq(append(CHUNK_SMALL - 100), 0);
	assert_stream(0, CHUNK_SMALL);
	bytes_consume(&b, 10);
	assert_stream(10, CHUNK_SMALL);
}
END_TEST

START_TEST(append_ref_without_a_slice_takes_no_reference)
{
	struct chunk *c;

	teardown();
	start(4, 1);
	c = chunk_new(&chunks, CHUNK_RX);
	ck_assert_int_eq(append(10), 0);
	ck_assert_int_eq(bytes_append_ref(&b, c, 0, 10), -ENOMEM);
	ck_assert_uint_eq(c->ref, 1);
	assert_stream(0, 10);
	chunk_unref(c);
}
END_TEST

START_TEST(neighbouring_references_are_one_slice)
{
	struct chunk *c = chunk_new(&chunks, CHUNK_RX);

	fill(c->data + 50, 0, 300);
	ck_assert_int_eq(bytes_append_ref(&b, c, 50, 100), 0);
	ck_assert_int_eq(bytes_append_ref(&b, c, 150, 150), 0);
	ck_assert_int_eq(bytes_append_ref(&b, c, 300, 50), 0);
	ck_assert_int_eq(bytes_append_ref(&b, c, 350, 0), 0);
	ck_assert_uint_eq(slices.out_cnt, 1);
	ck_assert_uint_eq(c->ref, 2);
	assert_stream(0, 300);
	ck_assert_int_eq(append(10), 0); /* never into a chunk that is not ours */
	ck_assert_uint_eq(slices.out_cnt, 2);
	assert_stream(0, 310);
	chunk_unref(c);
}
END_TEST

START_TEST(consume_gives_memory_back_as_it_goes)
{
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(append_ref(7, 1000), 0);
	ck_assert_uint_eq(chunks.rx.out_cnt, 10);
	for (uint64_t head = 0; head < 10000; head += 250) {
		assert_stream(head, 10000);
		ck_assert_uint_eq(chunks.rx.out_cnt, 10 - head / 1000);
		bytes_consume(&b, 250);
	}
	assert_stream(10000, 10000);
	ck_assert_uint_eq(b.charge, 0);
	ck_assert_int_eq(append(5), 0);
	assert_stream(10000, 10005); /* offsets never repeat */
}
END_TEST

START_TEST(received_frame_is_kept_by_reference_or_copied_by_size)
{
	struct pkt *p = pkt_new_rx(&pkts, &chunks, 0);
	struct chunk *more = chunk_new(&chunks, CHUNK_SMALL);

	fill(pkt_put(p, 1000), 0, 1000);
	fill(more->data, 1000, 500);
	ck_assert_int_eq(pkt_add_frag(p, more, 0, 500), 0);
	chunk_unref(more);
	ck_assert_int_eq(bytes_append_pkt(&b, p), 0);
	ck_assert_uint_eq(p->lin->ref, 2);
	assert_stream(0, 1500);
	pkt_free(p);
	assert_stream(0, 1500);

	p = pkt_new_rx(&pkts, &chunks, 0);
	fill(pkt_put(p, 60), 1500, 60);
	ck_assert_int_eq(bytes_append_pkt(&b, p), 0);
	ck_assert_uint_eq(p->lin->ref, 1); /* few octets behind others: a copy */
	pkt_free(p);
	assert_stream(0, 1560);
}
END_TEST

/* What was built in the packet itself goes with it: a copy, be the stream empty or not. */
START_TEST(octets_inside_the_packet_are_copied)
{
	for (uint32_t round = 0; round < 2; round++) {
		struct pkt *p = pkt_new_tx(&pkts);
		struct chunk *c = chunk_new(&chunks, CHUNK_SMALL);

		fill(pkt_push(p, 100), b.tail, 100);
		fill(c->data, b.tail + 100, 600); /* too much to be copied as a whole */
		ck_assert_int_eq(pkt_add_frag(p, c, 0, 600), 0);
		chunk_unref(c);
		ck_assert_int_eq(bytes_append_pkt(&b, p), 0);
		pkt_free(p);
		assert_stream(0, (round + 1) * 700);
	}
}
END_TEST

START_TEST(frame_that_fits_only_in_part_leaves_the_stream_as_it_was)
{
	struct pkt *p;
	struct chunk *more;

	teardown();
	start(8, 2);
	ck_assert_int_eq(append(100), 0);
	p = pkt_new_rx(&pkts, &chunks, 0);
	more = chunk_new(&chunks, CHUNK_SMALL);
	memset(pkt_put(p, 1000), 0, 1000);
	ck_assert_int_eq(pkt_add_frag(p, more, 0, 500), 0);
	ck_assert_int_eq(bytes_append_pkt(&b, p), -ENOMEM);
	ck_assert_uint_eq(p->lin->ref, 1);
	ck_assert_uint_eq(more->ref, 2);
	assert_stream(0, 100);
	chunk_unref(more);
	pkt_free(p);
}
END_TEST

START_TEST(frags_of_any_range_hold_its_octets)
{
	struct prng rnd = { 3 };

	for (int i = 0; i < 40; i++)
		ck_assert_int_eq(append_ref((uint32_t)i, 500 + (uint32_t)i), 0);
	for (int round = 0; round < 2000; round++) {
		uint64_t off = prng_below(&rnd, b.tail + 1);
		uint32_t len = (uint32_t)prng_below(&rnd, b.tail - off + 1), done;
		struct pkt *p = pkt_new_tx(&pkts);

		done = bytes_to_pkt(&b, off, len, p);
		ck_assert_uint_eq(done, pkt_len(p));
		ck_assert(done == len || p->frag_cnt == PKT_FRAG_MAX);
		ck_assert(pkt_copy_out(p, 0, scratch, done));
		assert_pattern(scratch, off, done);
		pkt_free(p);
	}
}
END_TEST

START_TEST(range_beyond_the_stream_traps)
{
	ck_assert_int_eq(append(10), 0);
	ck_assert_uint_eq(bytes_to_pkt(&b, 5, 6, pkt_new_tx(&pkts)), 0); /* not reached */
}
END_TEST

START_TEST(peek_gives_no_more_than_it_has_room_for)
{
	struct ns_iov iov[3];

	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(append_ref(0, 100), 0);
	ck_assert_uint_eq(bytes_peek(&b, iov, 3), 3);
	for (int i = 0; i < 3; i++)
		assert_pattern(iov[i].base, (uint64_t)i * 100, 100);
	ck_assert_uint_eq(bytes_peek(&b, iov, 0), 0);
}
END_TEST

/* A flood of segments of an octet: each holds a whole frame's memory until they are compacted. */
START_TEST(compacting_a_flood_of_small_references_gives_the_memory_back)
{
	for (int i = 0; i < 60; i++)
		ck_assert_int_eq(append_ref(100, 1), 0);
	ck_assert_uint_eq(b.charge, 60 * CHUNK_RX);
	bytes_compact(&b);
	assert_stream(0, 60);
	ck_assert_uint_le(b.charge, 2 * CHUNK_RX);
	ck_assert_uint_le(chunks.rx.out_cnt, 1);
	for (int i = 0; i < 60; i++)
		ck_assert_int_eq(append_ref(100, 1), 0);
	bytes_compact(&b);
	assert_stream(0, 120);
	ck_assert_uint_le(b.charge, 3 * CHUNK_RX);
}
END_TEST

START_TEST(compacting_dense_chunks_moves_nothing)
{
	const uint8_t *first;
	struct ns_iov iov[8];

	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(append_ref(0, 60000), 0);
	ck_assert_uint_eq(bytes_peek(&b, iov, 8), 8);
	first = iov[0].base;
	bytes_compact(&b);
	ck_assert_uint_eq(bytes_peek(&b, iov, 8), 8);
	ck_assert_ptr_eq(iov[0].base, first);
	assert_stream(0, 8 * 60000);
}
END_TEST

/* --- everything at random -------------------------------------------------------------------- */

struct flight {
	struct pkt *p;
	uint64_t off;
};

static struct flight flights[IN_FLIGHT_CNT];

static void flight_land(struct flight *f)
{
	if (!f->p)
		return;
	ck_assert(pkt_copy_out(f->p, 0, scratch, pkt_len(f->p)));
	assert_pattern(scratch, f->off, pkt_len(f->p));
	pkt_free(f->p);
	f->p = NULL;
}

static void flight_start(struct flight *f, struct prng *rnd)
{
	uint64_t len = bytes_len(&b);

	flight_land(f);
	f->off = b.head + prng_below(rnd, len + 1);
	len = prng_below(rnd, b.tail - f->off + 1);
	f->p = pkt_new_tx(&pkts);
	if (len)
		ck_assert_uint_gt(bytes_to_pkt(&b, f->off, (uint32_t)len, f->p), 0);
}

static uint32_t random_len(struct prng *rnd)
{
	static const uint32_t most[] = { 3, 600, 5000, 70000 };

	return (uint32_t)prng_below(rnd, most[prng_below(rnd, NS_ARRAY_LEN(most))]);
}

/* One of the ways in; the model is b.tail itself: how far it moved must be what was said. */
static void random_write(struct prng *rnd)
{
	uint32_t len = random_len(rnd), done = 0;
	uint64_t tail = b.tail;
	struct pkt *p;
	uint8_t *at;

	switch (prng_below(rnd, 4)) {
	case 0:
		done = write_some(len, (uint32_t)prng_below(rnd, len + 1),
				  (uint32_t)prng_below(rnd, 8));
		break;
	case 1:
		done = append(len) == 0 ? len : 0;
		break;
	case 2:
		len = len < CHUNK_RX ? len : CHUNK_RX;
		done = append_ref((uint32_t)prng_below(rnd, CHUNK_RX - len + 1), len) == 0 ? len
											   : 0;
		break;
	default:
		p = pkt_new_rx(&pkts, &chunks, 20);
		if (!p)
			break;
		at = pkt_put(p, len = len < 65536 ? len : 65536);
		fill(at, tail, len);
		done = bytes_append_pkt(&b, p) == 0 ? len : 0;
		pkt_free(p);
		break;
	}
	ck_assert_uint_eq(b.tail, tail + done);
}

static void random_steps(struct prng *rnd, int cnt)
{
	struct ns_iov iov[4];

	for (int i = 0; i < cnt; i++) {
		uint64_t head = b.head, len = bytes_len(&b), n;

		switch (prng_below(rnd, 8)) {
		case 0:
			n = prng_hit(rnd, 200000) ? len + 5 : prng_below(rnd, len + 1);
			bytes_consume(&b, n);
			ck_assert_uint_eq(b.head, head + (n < len ? n : len));
			break;
		case 1:
			bytes_compact(&b);
			ck_assert_uint_eq(bytes_len(&b), len);
			break;
		case 2:
		case 3:
			flight_start(&flights[prng_below(rnd, IN_FLIGHT_CNT)], rnd);
			break;
		case 4: /* a reservation nobody fills */
			(void)!bytes_reserve(&b, random_len(rnd), iov, 4);
			ck_assert_uint_eq(bytes_len(&b), len);
			break;
		default:
			random_write(rnd);
			break;
		}
		if (bytes_len(&b) > LEN_MAX)
			bytes_consume(&b, bytes_len(&b) - LEN_MAX / 4);
		if (prng_hit(rnd, 2000))
			bytes_clear(&b);
		if (i % 16 == 0 || bytes_len(&b) < 5000)
			assert_stream(b.head, b.tail);
	}
}

START_TEST(random_calls_keep_every_octet_at_its_offset)
{
	static const struct {
		uint32_t chunk_cap, slice_cap;
	} memory[] = { { 256, 4096 }, { 6, 12 }, { 2, 4096 }, { 256, 3 } };
	struct prng rnd = { 77 + (uint64_t)_i };

	teardown();
	start(memory[_i % 4].chunk_cap, memory[_i % 4].slice_cap);
	random_steps(&rnd, 1500);
	for (int i = 0; i < IN_FLIGHT_CNT; i++)
		flight_land(&flights[i]);
	assert_stream(b.head, b.tail);
	bytes_consume(&b, UINT64_MAX);
	ck_assert_uint_eq(b.charge, 0);
	ck_assert_uint_eq(slices.out_cnt, 0);
}
END_TEST

Suite *bytes_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("bytes", setup, teardown, &s);

	tcase_add_test(t, empty_stream_has_nothing_to_give);
	tcase_add_test(t, reservation_is_in_the_stream_only_when_committed);
	tcase_add_test(t, octets_go_on_in_the_room_behind_the_last);
	tcase_add_test_raise_signal(t, commit_beyond_the_reservation_traps, UNIT_TRAP);
	tcase_add_test(t, append_without_memory_leaves_the_stream_as_it_was);
	tcase_add_test(t, append_ref_without_a_slice_takes_no_reference);
	tcase_add_test(t, neighbouring_references_are_one_slice);
	tcase_add_test(t, consume_gives_memory_back_as_it_goes);
	tcase_add_test(t, received_frame_is_kept_by_reference_or_copied_by_size);
	tcase_add_test(t, octets_inside_the_packet_are_copied);
	tcase_add_test(t, frame_that_fits_only_in_part_leaves_the_stream_as_it_was);
	tcase_add_test(t, frags_of_any_range_hold_its_octets);
	tcase_add_test_raise_signal(t, range_beyond_the_stream_traps, UNIT_TRAP);
	tcase_add_test(t, peek_gives_no_more_than_it_has_room_for);
	tcase_add_test(t, compacting_a_flood_of_small_references_gives_the_memory_back);
	tcase_add_test(t, compacting_dense_chunks_moves_nothing);
	tcase_add_loop_test(t, random_calls_keep_every_octet_at_its_offset, 0, 16);
	return s;
}
