/* SPDX-License-Identifier: Apache-2.0 */
/* test_urg.c - tcp_urg.c: which octet is urgent, in and out, whatever the pointer says */
#include "rig.h"
#include "suites.h"

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;

static void setup(void)
{
	t = rig_established(&(struct rig_opts){ 0 });
	t->gso = 65535;
	t->told = 0;
}

static void teardown(void)
{
	rig_free(t);
}

static uint32_t off(void)
{
	return ops->recv_urgent(t->c);
}

START_TEST(rfc6093_s2_1_the_octet_before_the_pointer_is_urgent)
{
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10, .flags = TCP_URG, .urg = 4));
	ck_assert_uint_eq(off(), 3);
	ck_assert(t->told & NS_EV_URG);
	rig_read(t, 2);
	ck_assert_uint_eq(off(), 1);
	rig_read(t, 1);
	ck_assert_uint_eq(off(), 0);
	/* it stays in the stream: rig_read() compares each octet */
	ck_assert_uint_eq(rig_read(t, 100), 7);
	ck_assert_uint_eq(off(), NS_NO_URGENT);
}
END_TEST

START_TEST(rfc9293_s3_8_5_the_announcement_may_come_before_the_octet)
{
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10, .flags = TCP_URG, .urg = 15));
	ck_assert_uint_eq(off(), NS_NO_URGENT);
	ck_assert(!(t->told & NS_EV_URG));
	seg_in_turn(t, S(.seq = 11, .ack = 1, .len = 10));
	ck_assert(t->told & NS_EV_URG);
	ck_assert_uint_eq(off(), 14);
}
END_TEST

/* The hole before it is not filled yet: the octet is there and cannot be told of. */
START_TEST(tcp_urgent_octet_beyond_a_hole_waits)
{
	seg_in_turn(t, S(.seq = 11, .ack = 1, .len = 10, .flags = TCP_URG, .urg = 10));
	ck_assert_uint_eq(off(), NS_NO_URGENT);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10));
	ck_assert_uint_eq(off(), 19);
	ck_assert(t->told & NS_EV_URG);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_sixth_pointer_only_moves_on)
{
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10, .flags = TCP_URG, .urg = 8));
	/* back, and at what was received already: no news */
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10, .flags = TCP_URG, .urg = 3));
	seg_in_turn(t, S(.seq = 11, .ack = 1, .len = 10, .flags = TCP_URG, .urg = 0));
	/* pointer 0 is the first octet, as linux has it: that one is new */
	ck_assert_uint_eq(off(), 10);
	seg_in_turn(t, S(.seq = 21, .ack = 1, .len = 10, .flags = TCP_URG, .urg = 5));
	ck_assert_uint_eq(off(), 24);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_URGENT_IN), 3);
	ck_assert_uint_eq(rig_read(t, 100), 30);
	/* what was read is not urgent again */
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10, .flags = TCP_URG, .urg = 8));
	ck_assert_uint_eq(off(), NS_NO_URGENT);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_URGENT_IN), 3);
}
END_TEST

/* CVE-2019-12255, 12260, 12261, 12263 and their like: a pointer is compared, never used as a length. */
START_TEST(tcp_urgent_pointers_of_every_kind_are_harmless)
{
	static const uint16_t urgs[] = { 0, 1, 2, 9, 10, 11, 12, 1460, 32768, 65534, 65535 };
	uint32_t at = 1;

	for (size_t i = 0; i < NS_ARRAY_LEN(urgs); i++) {
		for (uint32_t len = 0; len <= 10; len += 10) {
			seg_in_turn(t, S(.seq = at, .ack = 1, .len = len, .flags = TCP_URG,
					 .urg = urgs[i]));
			at += len;
			ck_assert(off() == NS_NO_URGENT || off() < bytes_len(&conn(t)->rcvq));
		}
		rig_read(t, 7);
		ck_assert(off() == NS_NO_URGENT || off() < bytes_len(&conn(t)->rcvq));
	}
	rig_read(t, UINT32_MAX);
	ck_assert_uint_eq(off(), NS_NO_URGENT);
	/* with FIN: nothing comes after it */
	seg_in_turn(t, S(.seq = at, .ack = 1, .flags = TCP_URG | TCP_FIN, .urg = 5));
	ck_assert_uint_eq(off(), NS_NO_URGENT);
	seg_in_turn(t, S(.seq = at + 1, .ack = 1, .flags = TCP_URG, .urg = 50));
	ck_assert_uint_eq(off(), NS_NO_URGENT);
}
END_TEST

START_TEST(rfc9293_must_66_urgent_pointer_is_read_at_a_zero_window)
{
	ops->setopt(t->c, NS_SO_RCVBUF, TCP_BUF_MIN);
	conn(t)->rcv_adv = conn(t)->rcv_nxt; /* shut */
	seg_in_turn(t, S(.seq = 1, .ack = 1, .flags = TCP_URG, .urg = 3));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_URGENT_IN), 1);
}
END_TEST

START_TEST(rfc9293_s3_8_5_segments_before_the_urgent_octet_point_behind_it)
{
	struct sent *s;

	rig_write(t, 2 * RIG_MSS + 100, false);
	ops->send_urgent(t->c);
	turn(t);
	for (uint32_t i = 0; i < 3; i++) { /* one by one: a device would repeat the pointer */
		uint32_t len = i < 2 ? RIG_MSS : 100;

		s = expect_out(t,
			       S(.seq = 1 + i * RIG_MSS, .ack = 1, .len = len, .flags = TCP_URG));
		ck_assert_uint_eq(s->urg, 2 * RIG_MSS + 100 - i * RIG_MSS);
	}
	rig_write(t, 50,
		  false); /* no Nagle as long as it is outstanding (linux tcp_nagle_test()) */
	turn(t);
	s = expect_out(t, S(.seq = 1 + 2 * RIG_MSS + 100, .ack = 1, .len = 50));
	ck_assert_uint_eq(s->urg, 0);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 2 * RIG_MSS + 150));
	expect_nothing(t);
}
END_TEST

START_TEST(linux_urgent_octet_is_not_held_back)
{
	rig_write(t, 10, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 10));
	ops->setopt(t->c, NS_TCP_CORK, 1);
	rig_write(t, 1, false);
	ops->send_urgent(t->c);
	turn(t);
	ck_assert_uint_eq(expect_out(t, S(.seq = 11, .ack = 1, .len = 1, .flags = TCP_URG))->urg,
			  1);
}
END_TEST

START_TEST(rfc9293_s3_8_5_retransmission_is_as_urgent)
{
	rig_write(t, 10, false);
	ops->send_urgent(t->c);
	turn(t);
	forget_out(t);
	after_ms(t, 1100);
	ck_assert_uint_eq(expect_out(t, S(.seq = 1, .ack = 1, .len = 10, .flags = TCP_URG))->urg,
			  10);
	seg_in_turn(t, S(.seq = 1, .ack = 11));
	forget_out(t);
}
END_TEST

START_TEST(linux_urgent_pointer_beyond_16_bits_is_the_farthest)
{
	ops->setopt(t->c, NS_SO_SNDBUF, 1 << 20);
	conn(t)->cc.cwnd = 2 * RIG_MSS;
	rig_write(t, 80 * RIG_MSS, false); /* 116800 */
	ops->send_urgent(t->c);
	turn(t);
	ck_assert_uint_eq(
		expect_out(t, S(.seq = 1, .ack = 1, .len = RIG_MSS, .flags = TCP_URG))->urg, 65535);
	forget_out(t);
}
END_TEST

/* The peer has no room for the octet and hears of it all the same: at its window, and by a probe it must answer. */
START_TEST(linux_urgent_is_announced_at_a_zero_window)
{
	struct sent *s;

	seg_in_turn(t, S(.seq = 1, .ack = 1, .is_wnd_0 = true));
	rig_write(t, 10, false);
	ops->send_urgent(t->c);
	turn(t);
	expect_nothing(t);
	after_ms(t, 1100);
	s = expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_URG));
	ck_assert_uint_eq(s->urg, 10);
	expect_out(t, S(.seq = 0, .ack = 1, .flags = TCP_URG));
	forget_out(t);
}
END_TEST

START_TEST(tcp_urgent_of_a_connection_that_ends_is_nothing)
{
	ops->send_urgent(t->c); /* nothing queued */
	ck_assert_uint_eq(stat_of(t, STAT_TCP_URGENT_OUT), 0);
	ops->shutdown_send(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	ops->send_urgent(t->c);
	turn(t);
	expect_nothing(t);
}
END_TEST

Suite *urg_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("urg", NULL, NULL, &s);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rfc6093_s2_1_the_octet_before_the_pointer_is_urgent);
	tcase_add_test(tc, rfc9293_s3_8_5_the_announcement_may_come_before_the_octet);
	tcase_add_test(tc, tcp_urgent_octet_beyond_a_hole_waits);
	tcase_add_test(tc, rfc9293_s3_10_7_4_sixth_pointer_only_moves_on);
	tcase_add_test(tc, tcp_urgent_pointers_of_every_kind_are_harmless);
	tcase_add_test(tc, rfc9293_must_66_urgent_pointer_is_read_at_a_zero_window);
	tcase_add_test(tc, rfc9293_s3_8_5_segments_before_the_urgent_octet_point_behind_it);
	tcase_add_test(tc, linux_urgent_octet_is_not_held_back);
	tcase_add_test(tc, rfc9293_s3_8_5_retransmission_is_as_urgent);
	tcase_add_test(tc, linux_urgent_pointer_beyond_16_bits_is_the_farthest);
	tcase_add_test(tc, linux_urgent_is_announced_at_a_zero_window);
	tcase_add_test(tc, tcp_urgent_of_a_connection_that_ends_is_nothing);
	return s;
}
