/* SPDX-License-Identifier: Apache-2.0 */
/* test_rcv.c - tcp_rcv.c, tcp_ack.c: what buffers weigh, how they grow, and what window that makes */
#include "rig.h"
#include "suites.h"

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;

static void setup(void)
{
	t = rig_established(&(struct rig_opts){ .wscale = 8 });
}

static void teardown(void)
{
	rig_free(t);
}

/* What is held for the receive queue in all, records of it included. */
static uint64_t held(void)
{
	return conn(t)->rcvq.charge + t->core.slices.out_cnt * (uint64_t)sizeof(struct bytes_slice);
}

/* SegmentSmack's cousin: in order, and the program does not read. */
START_TEST(tcp_one_octet_segments_in_order_cost_what_they_weigh)
{
	uint32_t cnt = 0;

	while (tcp_rcv_wnd(conn(t)) > 0 && cnt < 60000) {
		ck_assert_int_eq(seg_in(t, S(.seq = 1 + cnt, .ack = 1, .len = 1)), DROP_NONE);
		cnt++;
		if (cnt % 64 == 0)
			turn(t);
		ck_assert_uint_le(held(), 2 * (uint64_t)cnt + (128 << 10));
	}
	ck_assert_uint_ge(cnt, 60000);
	forget_out(t);
	ck_assert_uint_eq(rig_read(t, UINT32_MAX), cnt);
}
END_TEST

/* Just over what a chunk's half holds, so that nothing is gained by moving it: at worst twice. */
START_TEST(tcp_memory_of_the_receive_queue_is_bounded_by_its_buffer)
{
	uint32_t at = 1;

	while (tcp_rcv_wnd(conn(t)) >= 600) {
		seg_in_turn(t, S(.seq = at, .ack = 1, .len = 600));
		at += 600;
		ck_assert_uint_le(conn(t)->rcvq.charge, 2 * (uint64_t)conn(t)->rcvbuf + (1 << 20));
	}
	forget_out(t);
	ck_assert_uint_eq(rig_read(t, UINT32_MAX), at - 1);
}
END_TEST

START_TEST(rfc9293_s3_8_6_window_closes_with_the_buffer_and_no_earlier)
{
	uint32_t at = 1, buf;
	struct sent *s, last = { .wnd = 1 };

	ops->setopt(t->c, NS_SO_RCVBUF, 20000);
	buf = conn(t)->rcvbuf;
	/* what was offered before the buffer shrank may come (RFC 9293 SHLD-14) */
	while (tcp_rcv_wnd(conn(t)) > 0) {
		uint32_t len = ns_min_u(RIG_MSS, tcp_rcv_wnd(conn(t)));

		seg_in_turn(t, S(.seq = at, .ack = 1, .len = len));
		at += len;
		while ((s = take_out(t)) != NULL)
			last = *s;
		if (at - 1 < buf - RIG_MSS)
			ck_assert_uint_gt(last.wnd, 0);
	}
	after_ms(t, 100);
	while ((s = take_out(t)) != NULL)
		last = *s;
	ck_assert_uint_eq(last.wnd, 0);
	/* a segment at the shut window is not kept, and answered */
	seg_in_turn(t, S(.seq = at, .ack = 1, .len = 100));
	ck_assert_ptr_nonnull(take_out(t));
	forget_out(t);
	ck_assert_uint_eq(rig_read(t, UINT32_MAX), at - 1);
	turn(t);
	s = take_out(t); /* it opens at once, by much */
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_ge((uint32_t)s->wnd << conn(t)->rcv_wscale, buf / 2);
	forget_out(t);
}
END_TEST

/* A sender that fills each window within a round trip, and a program that reads all of it. */
static uint32_t fill(uint32_t rounds, bool is_read)
{
	uint32_t at = conn(t)->rcv_nxt.v - RIG_ISN;

	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t left = tcp_rcv_wnd(conn(t));

		for (; left >= RIG_MSS; left -= RIG_MSS) {
			seg_in(t, S(.seq = at, .ack = 1, .len = RIG_MSS));
			at += RIG_MSS;
			if (is_read)
				rig_read(t, UINT32_MAX);
		}
		turn(t);
		forget_out(t);
		after_ms(t, 1);
	}
	return conn(t)->rcvbuf;
}

START_TEST(linux_receive_buffer_grows_to_tcp_rmem_and_no_further)
{
	uint32_t was = conn(t)->rcvbuf;

	ck_assert_uint_eq(was, (uint32_t)t->core.knobs[NS_KNOB_tcp_rmem_default] / 2);
	t->core.knobs[NS_KNOB_tcp_rmem_max] = 1 << 20;
	ck_assert_uint_eq(fill(12, true), (1 << 20) / 2);
}
END_TEST

START_TEST(linux_receive_buffer_of_who_does_not_read_stays)
{
	uint32_t was = conn(t)->rcvbuf;

	ck_assert_uint_eq(fill(12, false), was);
	rig_read(t, UINT32_MAX);
}
END_TEST

START_TEST(linux_receive_buffer_that_was_set_stays)
{
	ops->setopt(t->c, NS_SO_RCVBUF, 30000);
	ck_assert_uint_eq(fill(12, true), 30000);
}
END_TEST

START_TEST(linux_send_buffer_grows_to_tcp_wmem_and_no_further)
{
	uint32_t una = 1;

	t->core.knobs[NS_KNOB_tcp_wmem_max] = 400000;
	t->gso = 65535;
	tcp_cc_switch(&conn(t)->cc, &tcp_cc_reno);
	for (uint32_t i = 0; i < 12; i++) {
		if (ops->send_room(t->c))
			rig_write(t, ops->send_room(t->c), false);
		turn(t);
		una = conn(t)->snd_nxt.v - t->iss;
		seg_in_turn(t, S(.seq = 1, .ack = una, .wnd = 65535));
		forget_out(t);
	}
	ck_assert_uint_gt(conn(t)->cc.cwnd, 400000);
	ck_assert_uint_eq(conn(t)->sndbuf, 400000);
}
END_TEST

/* gVisor's question: a window one octet below a segment, exactly it, one above. */
START_TEST(rfc9293_s3_8_6_2_1_window_around_a_segment_splits_or_not)
{
	static const struct {
		int wnd;
		uint32_t first;
	} cases[] = { { RIG_MSS - 1, RIG_MSS - 1 },
		      { RIG_MSS, RIG_MSS },
		      { RIG_MSS + 1, RIG_MSS } };

	for (size_t i = 0; i < NS_ARRAY_LEN(cases); i++) {
		uint32_t una = conn(t)->snd_una.v - t->iss;
		struct sent *s;

		conn(t)->snd_wnd = conn(t)->snd_wnd_max = (uint32_t)cases[i].wnd;
		conn(t)->snd_wscale = 0;
		rig_write(t, RIG_MSS, false);
		/* something to acknowledge rides on what goes out */
		seg_in(t, S(.seq = conn(t)->rcv_nxt.v - RIG_ISN, .ack = una, .len = 10,
			    .wnd = (uint32_t)cases[i].wnd));
		turn(t);
		s = take_out(t);
		ck_assert_ptr_nonnull(s);
		ck_assert_uint_eq(s->len, cases[i].first);
		ck_assert_uint_eq(s->ack, conn(t)->rcv_nxt.v - RIG_ISN);
		forget_out(t);
		seg_in_turn(t, S(.seq = conn(t)->rcv_nxt.v - RIG_ISN, .ack = una + s->len));
		forget_out(t);
		after_ms(t, 50);
		seg_in_turn(t, S(.seq = conn(t)->rcv_nxt.v - RIG_ISN, .ack = una + RIG_MSS));
		forget_out(t);
		rig_read(t, UINT32_MAX);
	}
}
END_TEST

Suite *rcv_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("rcv", NULL, NULL, &s);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, tcp_one_octet_segments_in_order_cost_what_they_weigh);
	tcase_add_test(tc, tcp_memory_of_the_receive_queue_is_bounded_by_its_buffer);
	tcase_add_test(tc, rfc9293_s3_8_6_window_closes_with_the_buffer_and_no_earlier);
	tcase_add_test(tc, linux_receive_buffer_grows_to_tcp_rmem_and_no_further);
	tcase_add_test(tc, linux_receive_buffer_of_who_does_not_read_stays);
	tcase_add_test(tc, linux_receive_buffer_that_was_set_stays);
	tcase_add_test(tc, linux_send_buffer_grows_to_tcp_wmem_and_no_further);
	tcase_add_test(tc, rfc9293_s3_8_6_2_1_window_around_a_segment_splits_or_not);
	return s;
}
