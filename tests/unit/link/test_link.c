/* SPDX-License-Identifier: Apache-2.0 */
/* test_link.c - link/link.c: batches, a driver without room, devices that refuse, links that go down */
#include <errno.h>
#include <string.h>

#include "link/loop.h"
#include "rig.h"
#include "suites.h"
#include "wire/tcp.h"

static struct rig rig;

static void setup_hw(void)
{
	rig_init(&rig, NS_GSO_HW);
}

static void teardown(void)
{
	rig_done(&rig);
}

static void use_mode(enum ns_gso_mode mode)
{
	rig_done(&rig);
	rig_init(&rig, mode);
}

static void queue(uint32_t cnt, uint32_t len)
{
	while (cnt-- > 0)
		ck_assert_int_eq(link_output(rig.link, rig_super(&rig, len, TCP_ACK)), 0);
}

START_TEST(hardware_mode_sends_super_frames_as_they_are_in_one_call)
{
	queue(10, 20 * RIG_MSS);
	link_flush(rig.link);
	ck_assert_uint_eq(rig.call_cnt, 1);
	ck_assert_uint_eq(rig.frame_cnt, 10);
	ck_assert_uint_eq(rig.frames[0].gso_segs, 20);
	ck_assert_uint_eq(rig.frames[0].csum, PKT_CSUM_PARTIAL);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_TX_GSO), 10);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_TX_CALLS), 1);
	ck_assert_uint_eq(rig.pkts.out_cnt, 0);
}
END_TEST

START_TEST(software_mode_cuts_and_batches)
{
	use_mode(NS_GSO_SW);
	queue(2, 40 * RIG_MSS);
	queue(1, 100);
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 81);
	ck_assert_uint_eq(rig.call_cnt, 2); /* 64 and the rest */
	ck_assert_uint_eq(rig.call_len[0], 64);
	for (uint32_t i = 0; i < rig.frame_cnt; i++) {
		ck_assert_uint_eq(rig.frames[i].csum, PKT_CSUM_FULL);
		ck_assert_uint_le(rig.frames[i].len, RIG_HDR_LEN + RIG_MSS);
	}
	ck_assert_uint_eq(rig.frames[80].len, RIG_HDR_LEN + 100);
}
END_TEST

START_TEST(plain_mode_sends_a_frame_a_call)
{
	use_mode(NS_GSO_NONE);
	queue(5, RIG_MSS);
	link_flush(rig.link);
	ck_assert_uint_eq(rig.call_cnt, 5);
	for (uint32_t i = 0; i < 5; i++)
		ck_assert_uint_eq(rig.call_len[i], 1);
	ck_assert_uint_eq(rig.frames[4].csum, PKT_CSUM_FULL);
}
END_TEST

START_TEST(a_driver_without_room_keeps_frames_until_writable)
{
	queue(3, 100);
	rig.next_err = -EAGAIN;
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 0);
	ck_assert(!link_has_work(rig.link));
	link_flush(rig.link); /* blocked: no call */
	ck_assert_uint_eq(rig.call_cnt, 1);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_TX_BLOCKED), 1);
	link_writable(rig.link);
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 3);
}
END_TEST

START_TEST(a_short_count_goes_on_with_the_next_frame_in_order)
{
	rig.take_max = 2;
	for (uint32_t i = 1; i <= 7; i++)
		queue(1, i);
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 7);
	for (uint32_t i = 0; i < 7; i++)
		ck_assert_uint_eq(rig.frames[i].len, RIG_HDR_LEN + i + 1);
}
END_TEST

static void refuse_with(int err)
{
	use_mode(NS_GSO_HW);
	queue(1, 100);
	queue(2, 10 * RIG_MSS);
	queue(1, 200);
	rig.super_err = err;
	link_flush(rig.link);
	/* nothing lost, nothing twice, order kept */
	ck_assert_uint_eq(rig.frame_cnt, 22);
	ck_assert_uint_eq(rig.frames[0].len, RIG_HDR_LEN + 100);
	for (uint32_t i = 1; i < 21; i++) {
		ck_assert_uint_eq(rig.frames[i].len, RIG_HDR_LEN + RIG_MSS);
		ck_assert_uint_eq(rig.frames[i].csum, PKT_CSUM_FULL);
	}
	ck_assert_uint_eq(rig.frames[21].len, RIG_HDR_LEN + 200);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_GSO_FALLBACK), 1);
	ck_assert_int_eq(rig.link->mode, NS_GSO_SW);
	ck_assert_uint_eq(rig.link->txq_len, 0);
	/* and it never asks again */
	rig.frame_cnt = 0;
	for (uint32_t i = 0; i < 22; i++)
		free(rig.frames[i].data);
	queue(1, 2 * RIG_MSS);
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 2);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_GSO_FALLBACK), 1);
}

START_TEST(a_refused_super_frame_is_cut_and_the_link_falls_back)
{
	refuse_with(-EINVAL);
}
END_TEST

static void queue_udp(uint32_t cnt, uint32_t len)
{
	while (cnt-- > 0)
		ck_assert_int_eq(link_output(rig.link, rig_super_udp(&rig, len, cnt & 1)), 0);
}

START_TEST(datagrams_leave_as_one_frame_where_the_device_cuts_them)
{
	rig.link->has_uso = true;
	ck_assert(link_takes_uso(rig.link, 65536 - 14 - 1, 128));
	queue_udp(2, 10 * RIG_MSS);
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 2);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(rig.frames[i].gso_segs, 10);
		ck_assert_uint_eq(rig.frames[i].csum, PKT_CSUM_PARTIAL);
	}
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_TX_GSO), 2);
	rig.link->config.gso_max_segs = 9;
	ck_assert(!link_takes_uso(rig.link, 10 * RIG_MSS + 28, 10));
	ck_assert(link_takes_uso(rig.link, 9 * RIG_MSS + 28, 9));
	rig.link->config.gso_max_size = 9 * RIG_MSS + 28 + 14; /* must not be reached */
	ck_assert(!link_takes_uso(rig.link, 9 * RIG_MSS + 28, 9));
	rig.link->config.gso_max_size++;
	ck_assert(link_takes_uso(rig.link, 9 * RIG_MSS + 28, 9));
	rig.link->mode = NS_GSO_SW;
	ck_assert(!link_takes_uso(rig.link, 9 * RIG_MSS + 28, 9));
}
END_TEST

START_TEST(datagrams_that_are_refused_are_cut_from_then_on_and_tcp_is_not)
{
	rig.link->has_uso = true;
	queue(1, 100);
	queue_udp(3, 10 * RIG_MSS);
	queue(1, 200);
	rig.super_err = -EINVAL;
	link_flush(rig.link);
	/* nothing lost, nothing twice, order kept */
	ck_assert_uint_eq(rig.frame_cnt, 32);
	ck_assert_uint_eq(rig.frames[0].len, RIG_HDR_LEN + 100);
	for (uint32_t i = 1; i < 31; i++) {
		ck_assert_uint_eq(rig.frames[i].gso_segs, 0);
		ck_assert_uint_eq(rig.frames[i].csum, PKT_CSUM_FULL);
	}
	ck_assert_uint_eq(rig.frames[31].len, RIG_HDR_LEN + 200);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_USO_FALLBACK), 1);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_GSO_FALLBACK), 0);
	ck_assert_int_eq(rig.link->mode, NS_GSO_HW);
	ck_assert(!link_takes_uso(rig.link, 3000, 2));
	ck_assert_uint_eq(rig.link->txq_len, 0);
	rig.super_err = 0;
	queue(1, 10 * RIG_MSS);
	queue_udp(1, 2 * RIG_MSS);
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 35);
	ck_assert_uint_eq(rig.frames[32].gso_segs, 10);
}
END_TEST

/* Device at the limit of its queue: super-frames do not fit, their pieces do. */
static void send_supers(uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		queue(1, 2 * RIG_MSS);
		link_flush(rig.link);
		for (uint32_t k = 0; k < rig.frame_cnt; k++)
			free(rig.frames[k].data);
		rig.frame_cnt = rig.call_cnt = 0;
	}
}

START_TEST(a_full_queue_costs_one_cut_and_no_mode)
{
	use_mode(NS_GSO_HW);
	queue(1, 100);
	queue(1, 10 * RIG_MSS);
	queue(1, 200);
	rig.super_err = -ENOBUFS;
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 12); /* nothing lost, order kept */
	ck_assert_uint_eq(rig.frames[0].len, RIG_HDR_LEN + 100);
	ck_assert_uint_eq(rig.frames[10].len, RIG_HDR_LEN + RIG_MSS);
	ck_assert_uint_eq(rig.frames[11].len, RIG_HDR_LEN + 200);
	ck_assert_int_eq(rig.link->mode, NS_GSO_HW);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_GSO_FALLBACK), 0);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_GSO_FULL), 1);
	rig.super_err = 0;
	send_supers(1);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_TX_GSO), 1);
}
END_TEST

START_TEST(refusals_in_a_row_make_a_pause_after_which_the_device_is_asked_again)
{
	use_mode(NS_GSO_HW);
	rig.super_err = -ENOBUFS;
	send_supers(TRUST_FULL_MAX - 1);
	ck_assert_int_eq(rig.link->mode, NS_GSO_HW);
	send_supers(1);
	ck_assert_int_eq(rig.link->mode, NS_GSO_SW);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_GSO_FALLBACK), 1);
	send_supers(TRUST_PAUSE_MIN / 2 - 2); /* two frames each, and two are out already */
	ck_assert_int_eq(rig.link->mode, NS_GSO_SW);
	rig.super_err = 0;
	send_supers(2);
	ck_assert_int_eq(rig.link->mode, NS_GSO_HW);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_GSO_AGAIN), 1);
	ck_assert_uint_eq(rig.link->trust.full_cnt, 0);
}
END_TEST

/* ---- the decision alone ---- */

START_TEST(trust_is_lost_by_refusals_in_a_row_only)
{
	struct gso_trust t = { 0 };

	for (int round = 0; round < 3; round++) {
		for (int i = 1; i < TRUST_FULL_MAX; i++)
			ck_assert_int_eq(trust_refused(&t, -ENOBUFS), TRUST_CUT_IT);
		if (round == 0)
			trust_accepted(&t);
		else
			trust_overload(&t);
	}
	ck_assert_int_eq(trust_refused(&t, -EINVAL), TRUST_FOR_GOOD);
	ck_assert_uint_eq(t.left, 0);
	ck_assert(!trust_is_over(&t, UINT32_MAX)); /* for good */
}
END_TEST

START_TEST(pauses_double_until_the_device_takes_one)
{
	struct gso_trust t = { 0 };
	uint32_t pause = TRUST_PAUSE_MIN;

	for (int i = 1; i < TRUST_FULL_MAX; i++)
		(void)trust_refused(&t, -ENOBUFS);
	for (int round = 0; round < 20; round++) {
		ck_assert_int_eq(trust_refused(&t, -ENOBUFS), TRUST_PAUSE);
		ck_assert(!trust_is_over(&t, pause - 1));
		ck_assert(trust_is_over(&t, 1));
		ck_assert(!trust_is_over(&t, 1)); /* once */
		pause = ns_min_u(pause * 2, TRUST_PAUSE_MAX);
	}
	trust_accepted(&t);
	for (int i = 1; i < TRUST_FULL_MAX; i++)
		ck_assert_int_eq(trust_refused(&t, -ENOBUFS), TRUST_CUT_IT);
	ck_assert_int_eq(trust_refused(&t, -ENOBUFS), TRUST_PAUSE);
	ck_assert_uint_eq(t.left, TRUST_PAUSE_MIN);
}
END_TEST

START_TEST(a_refused_partial_checksum_is_completed_in_software)
{
	queue(1, 100);
	rig.next_err = -EINVAL;
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 1);
	ck_assert_uint_eq(rig.frames[0].csum, PKT_CSUM_FULL);
	ck_assert_uint_eq(rig_stat(&rig, STAT_LINK_GSO_FALLBACK), 1);
}
END_TEST

START_TEST(a_plain_frame_that_is_refused_is_lost_alone_and_counted)
{
	static const struct {
		int err;
		enum drop why;
	} rows[] = {
		{ -EINVAL, DROP_LINK_REFUSED },
		{ -ENOBUFS, DROP_LINK_REFUSED },
		{ -EPERM, DROP_LINK_REFUSED },
		{ -EMSGSIZE, DROP_LINK_TOO_LONG },
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		use_mode(NS_GSO_SW);
		queue(3, 100);
		rig.next_err = rows[i].err;
		link_flush(rig.link);
		ck_assert_uint_eq(rig.frame_cnt, 2);
		ck_assert_uint_eq(rig.stats.drop[rows[i].why], 1);
		ck_assert_uint_eq(rig.lost[rows[i].why], 1);
	}
}
END_TEST

START_TEST(a_device_that_is_down_loses_what_waits_and_lives_on)
{
	use_mode(NS_GSO_SW);
	queue(3, 100);
	rig.next_err = -ENETDOWN;
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 0);
	ck_assert_uint_eq(rig.stats.drop[DROP_LINK_DOWN], 3);
	ck_assert_uint_eq(rig.lost[DROP_LINK_DOWN], 3);
	queue(1, 100);
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 1);
}
END_TEST

START_TEST(a_link_set_down_takes_no_frames_and_comes_back)
{
	queue(2, 100);
	link_set_up(rig.link, false);
	ck_assert_uint_eq(rig.stats.drop[DROP_LINK_DOWN], 2);
	ck_assert_int_eq(link_output(rig.link, rig_super(&rig, 1, TCP_ACK)), -ENETDOWN);
	ck_assert_uint_eq(rig.stats.drop[DROP_LINK_DOWN], 3);
	ck_assert_uint_eq(rig.lost[DROP_LINK_DOWN], 3);
	link_set_up(rig.link, true);
	queue(1, 100);
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 1);
}
END_TEST

START_TEST(room_is_bounded_by_frames_and_by_octets_and_waiters_are_remembered)
{
	uint32_t cnt = 0;

	for (; link_room(rig.link) > 0; cnt++)
		queue(1, 10);
	ck_assert_uint_eq(cnt, 256);
	ck_assert(rig.link->is_starved);
	/* control frames still get in, but not for ever */
	for (cnt = 0; link_output(rig.link, rig_super(&rig, 1, TCP_ACK)) == 0;)
		cnt++;
	ck_assert_uint_eq(cnt, 256);
	ck_assert_uint_eq(rig.stats.drop[DROP_LINK_QUEUE], 1);
	link_flush(rig.link);
	ck_assert_uint_eq(link_room(rig.link), 64); /* by octets: as if each were a super-frame */
}
END_TEST

START_TEST(super_segments_keep_the_limits_of_device_and_protocol)
{
	struct link *l = rig.link;

	ck_assert_uint_eq(link_gso_max(l, 1448, 52), 45u * 1448);
	l->config.gso_max_size = 16384;
	ck_assert_uint_eq(link_gso_max(l, 1448, 52), 11u * 1448);
	l->config.gso_max_size = 1; /* smaller than a frame: one segment a time */
	ck_assert_uint_eq(link_gso_max(l, 1448, 52), 1448);
	l->config.gso_max_size = 200000; /* IPv4 has 16 bits */
	ck_assert_uint_le(link_gso_max(l, 1448, 52) + 52, 65535);
	l->config.gso_max_segs = 4;
	ck_assert_uint_eq(link_gso_max(l, 1448, 52), 4u * 1448);
	l->mode = NS_GSO_NONE;
	ck_assert_uint_eq(link_gso_max(l, 1448, 52), 1448);
}
END_TEST

START_TEST(out_of_packets_a_super_frame_is_lost_and_the_rest_goes_on)
{
	use_mode(NS_GSO_SW);
	queue(1, 10 * RIG_MSS);
	queue(1, 100);
	rig.pkts.cap = rig.pkts.out_cnt + 3;
	link_flush(rig.link);
	ck_assert_uint_eq(rig.frame_cnt, 1);
	ck_assert_uint_eq(rig.stats.drop[DROP_NO_MEMORY], 1);
	ck_assert_uint_eq(rig.link->txq_len, 0);
}
END_TEST

START_TEST(the_loop_gives_packets_back_in_order)
{
	struct link *l = loop_new(&rig.pkts, &rig.stats);
	const struct mono now = { 5 };

	ck_assert_ptr_nonnull(l);
	for (uint32_t i = 1; i <= 3; i++) {
		struct pkt *p = rig_super(&rig, i, TCP_ACK);

		ck_assert_ptr_nonnull(pkt_pull(p, 14));
		ck_assert_int_eq(link_output(l, p), 0);
	}
	for (uint32_t i = 1; i <= 3; i++) {
		auto_free(pkt) p = loop_take(l, now);

		ck_assert_uint_eq(pkt_len(p), RIG_HDR_LEN - 14 + i);
		ck_assert_uint_eq(p->csum, PKT_CSUM_PARTIAL);
		ck_assert_uint_eq(p->csum_start, 20);
		ck_assert_uint_eq(p->rx_time.ns, 5);
	}
	ck_assert_ptr_null(loop_take(l, now));
	link_free(l);
}
END_TEST

Suite *link_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("link/link", setup_hw, teardown, &s);

	tcase_add_test(t, hardware_mode_sends_super_frames_as_they_are_in_one_call);
	tcase_add_test(t, software_mode_cuts_and_batches);
	tcase_add_test(t, plain_mode_sends_a_frame_a_call);
	tcase_add_test(t, a_driver_without_room_keeps_frames_until_writable);
	tcase_add_test(t, a_short_count_goes_on_with_the_next_frame_in_order);
	tcase_add_test(t, a_refused_super_frame_is_cut_and_the_link_falls_back);
	tcase_add_test(t, datagrams_leave_as_one_frame_where_the_device_cuts_them);
	tcase_add_test(t, datagrams_that_are_refused_are_cut_from_then_on_and_tcp_is_not);
	tcase_add_test(t, a_full_queue_costs_one_cut_and_no_mode);
	tcase_add_test(t, refusals_in_a_row_make_a_pause_after_which_the_device_is_asked_again);
	tcase_add_test(t, trust_is_lost_by_refusals_in_a_row_only);
	tcase_add_test(t, pauses_double_until_the_device_takes_one);
	tcase_add_test(t, a_refused_partial_checksum_is_completed_in_software);
	tcase_add_test(t, a_plain_frame_that_is_refused_is_lost_alone_and_counted);
	tcase_add_test(t, a_device_that_is_down_loses_what_waits_and_lives_on);
	tcase_add_test(t, a_link_set_down_takes_no_frames_and_comes_back);
	tcase_add_test(t, room_is_bounded_by_frames_and_by_octets_and_waiters_are_remembered);
	tcase_add_test(t, super_segments_keep_the_limits_of_device_and_protocol);
	tcase_add_test(t, out_of_packets_a_super_frame_is_lost_and_the_rest_goes_on);
	tcase_add_test(t, the_loop_gives_packets_back_in_order);
	return s;
}
