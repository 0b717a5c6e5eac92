/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pkt.c - buf/pkt.c: the verbs, their bounds, and what becomes of references
 *
 * Theory of operation
 *
 * The edges of each verb are tests of their own; the last test does them in random order beside a
 * flat array that is shifted about with memmove() and must hold the same octets after each step.
 */
#include <errno.h>
#include <string.h>

#include "buf/chunk.h"
#include "buf/pkt.h"
#include "suites.h"

enum {
	FLAT_MAX = 8192,
	HEADROOM = 64,
};

static struct chunk_pools chunks;
static struct pool pkts;

static void setup(void)
{
	chunk_pools_init(&chunks, 64, 4, 4);
	pool_init(&pkts, "pkt", sizeof(struct pkt), 4, 4);
}

static void teardown(void)
{
	pool_done(&pkts);
	chunk_pools_done(&chunks);
}

/* @len octets of @first, @first + 1 ... as one more frag of @p. */
static void add_frag(struct pkt *p, uint8_t first, uint32_t len)
{
	struct chunk *c = chunk_new(&chunks, CHUNK_SMALL);

	for (uint32_t i = 0; i < len; i++)
		c->data[10 + i] = (uint8_t)(first + i);
	ck_assert_int_eq(pkt_add_frag(p, c, 10, len), 0);
	chunk_unref(c);
}

/* @p holds @first, @first + 1 ... up to @len octets. */
static void assert_counts(const struct pkt *p, uint8_t first, uint32_t len)
{
	uint8_t got[512];

	ck_assert_uint_eq(pkt_len(p), len);
	ck_assert(pkt_copy_out(p, 0, got, len));
	for (uint32_t i = 0; i < len; i++)
		ck_assert_uint_eq(got[i], (uint8_t)(first + i));
}

START_TEST(new_packet_to_send_is_all_headroom)
{
	struct pkt *p = pkt_new_tx(&pkts);

	ck_assert_uint_eq(pkt_len(p), 0);
	ck_assert_ptr_null(pkt_put(p, 1));
	ck_assert_ptr_null(pkt_pull(p, 1));
	ck_assert_ptr_nonnull(pkt_push(p, PKT_INLINE_SIZE));
	ck_assert_uint_eq(pkt_len(p), PKT_INLINE_SIZE);
	memset(pkt_data(p), 1, PKT_INLINE_SIZE);
	pkt_free(p);
}
END_TEST

START_TEST(new_packet_to_receive_has_headroom_and_room_for_a_super_frame)
{
	struct pkt *p = pkt_new_rx(&pkts, &chunks, HEADROOM);

	ck_assert_uint_eq(p->head, HEADROOM);
	ck_assert_uint_eq(pkt_len(p), 0);
	ck_assert_ptr_null(pkt_put(p, CHUNK_RX - HEADROOM + 1));
	ck_assert_ptr_null(pkt_put(p, UINT32_MAX));
	ck_assert_ptr_nonnull(pkt_put(p, CHUNK_RX - HEADROOM));
	memset(pkt_data(p), 1, pkt_len(p));
	ck_assert_ptr_null(pkt_put(p, 1));
	ck_assert_ptr_nonnull(pkt_put(p, 0));
	pkt_free(p);
	pkt_free(NULL);
}
END_TEST

START_TEST(packet_is_refused_at_either_cap_without_a_leak)
{
	struct chunk_pools none;
	struct pkt *p[4];

	for (int i = 0; i < 4; i++) {
		p[i] = pkt_new_rx(&pkts, &chunks, 0);
		ck_assert_ptr_nonnull(p[i]);
	}
	ck_assert_ptr_null(pkt_new_tx(&pkts));
	ck_assert_ptr_null(pkt_new_rx(&pkts, &chunks, 0));
	ck_assert_uint_eq(chunks.rx.out_cnt, 4);
	for (int i = 0; i < 3; i++)
		pkt_free(p[i]);
	chunk_pools_init(&none, 0, 0, 0);
	ck_assert_ptr_null(pkt_new_rx(&pkts, &none, 0));
	ck_assert_uint_eq(pkts.out_cnt, 1); /* the packet went back with the chunk it did not get */
	pkt_free(p[3]);
	chunk_pools_done(&none);
	ck_assert_uint_eq(pkts.out_cnt, 0);
}
END_TEST

START_TEST(pull_gives_what_is_there_and_null_beyond)
{
	struct pkt *p = pkt_new_tx(&pkts);
	uint8_t *at = pkt_push(p, 8);

	for (uint8_t i = 0; i < 8; i++)
		at[i] = i;
	add_frag(p, 8, 8);
	ck_assert_ptr_eq(pkt_pull(p, 3), at);
	assert_counts(p, 3, 13);
	ck_assert_ptr_null(pkt_pull(p, 6)); /* frags are not linear */
	ck_assert_ptr_null(pkt_pull(p, UINT32_MAX));
	assert_counts(p, 3, 13);
	ck_assert_ptr_eq(pkt_pull(p, 5), at + 3);
	ck_assert_ptr_nonnull(pkt_pull(p, 0));
	ck_assert_ptr_null(pkt_pull(p, 1));
	assert_counts(p, 8, 8);
	pkt_free(p);
}
END_TEST

START_TEST(push_beyond_the_headroom_traps)
{
	struct pkt *p = pkt_new_tx(&pkts);

	pkt_push(p, PKT_INLINE_SIZE);
	pkt_push(p, 1);
}
END_TEST

/* Every length, over frags and linear area, from the end. */
START_TEST(trim_cuts_to_any_length_and_gives_chunks_back)
{
	for (uint32_t len = 0; len <= 40; len++) {
		struct pkt *p = pkt_new_tx(&pkts);
		uint8_t *at = pkt_push(p, 10);

		for (uint8_t i = 0; i < 10; i++)
			at[i] = i;
		add_frag(p, 10, 10);
		add_frag(p, 20, 1);
		add_frag(p, 21, 11);
		pkt_trim(p, len);
		assert_counts(p, 0, len < 32 ? len : 32);
		ck_assert_uint_eq(chunks.small.out_cnt, p->frag_cnt);
		ck_assert_uint_eq(p->frag_cnt, len <= 10   ? 0u
					       : len <= 20 ? 1u
					       : len <= 21 ? 2u
							   : 3u);
		pkt_free(p);
	}
}
END_TEST

START_TEST(trim_front_drops_any_length_and_gives_chunks_back)
{
	for (uint32_t len = 0; len <= 40; len++) {
		struct pkt *p = pkt_new_tx(&pkts);
		uint8_t *at = pkt_push(p, 10);
		uint32_t left = len < 32 ? 32 - len : 0;

		for (uint8_t i = 0; i < 10; i++)
			at[i] = i;
		add_frag(p, 10, 10);
		add_frag(p, 20, 1);
		add_frag(p, 21, 11);
		pkt_trim_front(p, len);
		assert_counts(p, (uint8_t)(32 - left), left);
		ck_assert_uint_eq(chunks.small.out_cnt, p->frag_cnt);
		pkt_free(p);
	}
}
END_TEST

START_TEST(frag_beyond_the_most_is_refused_without_a_reference)
{
	struct pkt *p = pkt_new_tx(&pkts);
	struct chunk *c = chunk_new(&chunks, CHUNK_SMALL);

	for (uint32_t i = 0; i < PKT_FRAG_MAX; i++)
		ck_assert_int_eq(pkt_add_frag(p, c, i, 100), 0);
	ck_assert_uint_eq(c->ref, PKT_FRAG_MAX + 1);
	ck_assert_int_eq(pkt_add_frag(p, c, 0, 1), -ENOSPC);
	ck_assert_uint_eq(c->ref, PKT_FRAG_MAX + 1);
	ck_assert_uint_eq(pkt_len(p), PKT_FRAG_MAX * 100);
	pkt_free(p);
	ck_assert_uint_eq(c->ref, 1);
	chunk_unref(c);
}
END_TEST

START_TEST(frag_may_end_with_its_chunk)
{
	struct pkt *p = pkt_new_tx(&pkts);
	struct chunk *c = chunk_new(&chunks, CHUNK_SMALL);

	ck_assert_int_eq(pkt_add_frag(p, c, 0, CHUNK_SMALL), 0);
	ck_assert_int_eq(pkt_add_frag(p, c, CHUNK_SMALL, 0), 0);
	ck_assert_int_eq(pkt_add_frag(p, c, CHUNK_SMALL - 1, 1), 0);
	chunk_unref(c);
	pkt_free(p);
}
END_TEST

START_TEST(frag_beyond_its_chunk_traps)
{
	struct pkt *p = pkt_new_tx(&pkts);
	struct chunk *c = chunk_new(&chunks, CHUNK_SMALL);

	ck_assert_int_ne(pkt_add_frag(p, c, 1, CHUNK_SMALL), 0); /* not reached */
}
END_TEST

START_TEST(copy_out_beyond_the_end_is_refused)
{
	struct pkt *p = pkt_new_tx(&pkts);
	uint8_t got[16];

	memset(pkt_push(p, 4), 0, 4);
	add_frag(p, 0, 4);
	ck_assert(pkt_copy_out(p, 0, got, 8));
	ck_assert(pkt_copy_out(p, 8, got, 0));
	ck_assert(!pkt_copy_out(p, 0, got, 9));
	ck_assert(!pkt_copy_out(p, 8, got, 1));
	ck_assert(!pkt_copy_out(p, 9, got, 0));
	ck_assert(!pkt_copy_out(p, 1, got, UINT32_MAX));
	ck_assert(!pkt_copy_out(p, UINT32_MAX, got, 2));
	pkt_free(p);
}
END_TEST

START_TEST(queue_keeps_order_and_frees_what_is_left)
{
	struct pktq q;
	struct pkt *a, *b, *c;

	pktq_init(&q);
	ck_assert_ptr_null(pktq_pop(&q));
	a = pkt_new_tx(&pkts);
	b = pkt_new_tx(&pkts);
	c = pkt_new_rx(&pkts, &chunks, 0);
	pktq_push(&q, a);
	pktq_push(&q, b);
	pktq_push(&q, c);
	ck_assert_uint_eq(q.cnt, 3);
	ck_assert_ptr_eq(pktq_pop(&q), a);
	pkt_free(a);
	pktq_clear(&q);
	ck_assert_uint_eq(q.cnt, 0);
	ck_assert_ptr_null(pktq_pop(&q));
}
END_TEST

/* --- against a flat array ------------------------------------------------------------------- */

struct model {
	uint8_t octet[FLAT_MAX];
	uint32_t len;
};

static void model_cut_front(struct model *m, uint32_t len)
{
	len = len < m->len ? len : m->len;
	memmove(m->octet, m->octet + len, m->len - len);
	m->len -= len;
}

static void model_add(struct model *m, const uint8_t *data, uint32_t len)
{
	memcpy(m->octet + m->len, data, len);
	m->len += len;
}

static void step(struct pkt *p, struct model *m, struct prng *rnd)
{
	uint32_t n = (uint32_t)prng_below(rnd, 24), linear_len = p->len;
	uint8_t fresh[24], *at;
	struct chunk *c;

	prng_fill(rnd, fresh, sizeof(fresh));
	switch (prng_below(rnd, 6)) {
	case 0:
		if (n > p->head)
			break;
		memcpy(pkt_push(p, n), fresh, n);
		memmove(m->octet + n, m->octet, m->len);
		memcpy(m->octet, fresh, n);
		m->len += n;
		break;
	case 1:
		at = pkt_pull(p, n);
		ck_assert((at == NULL) == (n > linear_len));
		if (at) {
			ck_assert_mem_eq(at, m->octet, n);
			model_cut_front(m, n);
		}
		break;
	case 2:
		if (p->frag_cnt) /* what is put behind the linear area would lie in front of them */
			break;
		at = pkt_put(p, n);
		if (at) {
			memcpy(at, fresh, n);
			model_add(m, fresh, n);
		}
		break;
	case 3:
		n = (uint32_t)prng_below(rnd, m->len + 10);
		pkt_trim(p, n);
		m->len = n < m->len ? n : m->len;
		break;
	case 4:
		pkt_trim_front(p, n);
		model_cut_front(m, n);
		break;
	default:
		c = chunk_new(&chunks, CHUNK_SMALL);
		memcpy(c->data + 100, fresh, n);
		if (pkt_add_frag(p, c, 100, n) == 0)
			model_add(m, fresh, n);
		else
			ck_assert_uint_eq(p->frag_cnt, PKT_FRAG_MAX);
		chunk_unref(c);
		break;
	}
}

START_TEST(random_verbs_leave_what_the_model_holds)
{
	struct prng rnd = { 1000 + (uint64_t)_i };
	struct model m;
	uint8_t got[FLAT_MAX];

	for (int round = 0; round < 100; round++) {
		struct pkt *p =
			round % 2 ? pkt_new_tx(&pkts) : pkt_new_rx(&pkts, &chunks, HEADROOM);

		m.len = 0;
		for (int i = 0; i < 200; i++) {
			uint32_t off, len;

			step(p, &m, &rnd);
			ck_assert_uint_eq(pkt_len(p), m.len);
			off = (uint32_t)prng_below(&rnd, m.len + 1);
			len = (uint32_t)prng_below(&rnd, m.len - off + 1);
			ck_assert(pkt_copy_out(p, off, got, len));
			ck_assert_mem_eq(got, m.octet + off, len);
		}
		pkt_free(p);
		ck_assert_uint_eq(chunks.small.out_cnt, 0);
	}
}
END_TEST

Suite *pkt_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("pkt", setup, teardown, &s);

	tcase_add_test(t, new_packet_to_send_is_all_headroom);
	tcase_add_test(t, new_packet_to_receive_has_headroom_and_room_for_a_super_frame);
	tcase_add_test(t, packet_is_refused_at_either_cap_without_a_leak);
	tcase_add_test(t, pull_gives_what_is_there_and_null_beyond);
	tcase_add_test_raise_signal(t, push_beyond_the_headroom_traps, UNIT_TRAP);
	tcase_add_test(t, trim_cuts_to_any_length_and_gives_chunks_back);
	tcase_add_test(t, trim_front_drops_any_length_and_gives_chunks_back);
	tcase_add_test(t, frag_beyond_the_most_is_refused_without_a_reference);
	tcase_add_test(t, frag_may_end_with_its_chunk);
	tcase_add_test_raise_signal(t, frag_beyond_its_chunk_traps, UNIT_TRAP);
	tcase_add_test(t, copy_out_beyond_the_end_is_refused);
	tcase_add_test(t, queue_keeps_order_and_frees_what_is_left);
	tcase_add_loop_test(t, random_verbs_leave_what_the_model_holds, 0, 6);
	return s;
}
