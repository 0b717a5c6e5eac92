/* SPDX-License-Identifier: Apache-2.0 */
/* test_user.c - tcp_user.c: close in every manner, options, what a program is told */
#include <errno.h>

#include "rig.h"
#include "suites.h"

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;

static void setup(void)
{
	t = rig_established(&(struct rig_opts){ 0 });
}

static void teardown(void)
{
	rig_free(t);
}

START_TEST(rfc2525_s2_17_close_with_octets_unread_resets)
{
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10));
	forget_out(t);
	ops->close(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 11, .flags = TCP_RST));
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 1);
}
END_TEST

START_TEST(rfc1122_s4_2_2_13_octets_after_close_reset)
{
	ops->close(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 2, .len = 10)), DROP_TCP_CLOSED_DATA);
	expect_out(t, S(.seq = 2, .flags = TCP_RST, .no_ack = true));
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 1);
}
END_TEST

START_TEST(rfc5961_s3_2_reset_after_close_is_where_the_peer_believes_it)
{
	ops->close(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	/* the FIN is lost: the peer still expects octet 1 */
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10)), DROP_TCP_CLOSED_DATA);
	expect_out(t, S(.seq = 1, .flags = TCP_RST, .no_ack = true));
}
END_TEST

START_TEST(linux_linger_0_resets)
{
	ops->setopt(t->c, NS_SO_LINGER, 0);
	rig_write(t, 10, false);
	ops->close(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_RST));
	expect_nothing(t);
}
END_TEST

START_TEST(tcp_close_takes_effect_before_the_next_segment)
{
	ops->close(t->c);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 1, .len = 10)), DROP_TCP_CLOSED_DATA);
	expect_out(t, S(.seq = 1, .flags = TCP_RST, .no_ack = true));
}
END_TEST

START_TEST(linux_linger2_below_zero_resets_in_fin_wait_2)
{
	ops->setopt(t->c, NS_TCP_LINGER2, -1);
	ops->close(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	seg_in_turn(t, S(.seq = 1, .ack = 2));
	expect_out(t, S(.seq = 2, .ack = 1, .flags = TCP_RST));
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 1);
}
END_TEST

START_TEST(tcp_orphans_are_bounded)
{
	t->core.knobs[NS_KNOB_tcp_max_orphans] = 0;
	ops->close(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_RST));
	ck_assert_uint_eq(t->tcp->orphan_cnt, 0);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_ORPHAN_RESETS), 1);
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 1);
}
END_TEST

START_TEST(rfc9293_s3_10_5_abort_resets_and_frees)
{
	rig_write(t, 5000, false);
	ops->abort(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_RST));
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 1);
}
END_TEST

START_TEST(tcp_reset_leaves_what_was_received_readable)
{
	struct ns_iov iov;

	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10));
	seg_in_turn(t, S(.seq = 11, .flags = TCP_RST, .no_ack = true));
	ck_assert_int_eq(t->told_err, -ECONNRESET);
	ck_assert_uint_eq(rig_read(t, 100), 10);
	ck_assert_int_eq(ops->send_reserve(t->c, 1, &iov, 1), -EPIPE);
	ck_assert_uint_eq(ops->send_room(t->c), 0);
	ops->close(t->c);
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 1);
}
END_TEST

START_TEST(linux_reset_after_a_fin_is_epipe)
{
	seg_in_turn(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	seg_in_turn(t, S(.seq = 2, .flags = TCP_RST, .no_ack = true));
	ck_assert_int_eq(t->told_err, -EPIPE);
}
END_TEST

START_TEST(tcp_eof_comes_after_the_octets)
{
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 10, .flags = TCP_FIN));
	ck_assert((t->told & (NS_EV_IN | NS_EV_EOF)) == (NS_EV_IN | NS_EV_EOF));
	ck_assert(!ops->is_eof(t->c));
	rig_read(t, 100);
	ck_assert(ops->is_eof(t->c));
}
END_TEST

START_TEST(tcp_writer_is_woken_when_a_third_is_free)
{
	ops->setopt(t->c, NS_SO_SNDBUF, 30000);
	while (ops->send_room(t->c))
		rig_write(t, ops->send_room(t->c), false);
	turn(t);
	t->told = 0;
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 1460));
	ck_assert(!(t->told & NS_EV_OUT));
	for (uint32_t i = 2; i <= 9; i++)
		seg_in_turn(t, S(.seq = 1, .ack = 1 + i * 1460));
	ck_assert(t->told & NS_EV_OUT);
	ck_assert_uint_ge(ops->send_room(t->c), 10000);
}
END_TEST

START_TEST(linux_notsent_lowat_bounds_what_waits)
{
	ops->setopt(t->c, NS_TCP_NOTSENT_LOWAT, 5000);
	rig_write(t, 14600 + 6000, false);
	turn(t);
	ck_assert_uint_eq(ops->send_room(t->c), 0);
	seg_in_turn(t, S(.seq = 1, .ack = 1 + 5 * 1460));
	ck_assert_uint_gt(ops->send_room(t->c), 0);
	ck_assert(t->told & NS_EV_OUT);
}
END_TEST

START_TEST(linux_notsent_lowat_bounds_one_write)
{
	ops->setopt(t->c, NS_SO_SNDBUF, 1 << 20);
	rig_write(t, 14600 + 6000, false);
	turn(t);
	ck_assert_uint_eq(ops->send_room(t->c), (1 << 20) - 20600);
	ops->setopt(t->c, NS_TCP_NOTSENT_LOWAT, 100000);
	ck_assert_uint_eq(ops->send_room(t->c), 94000);
	/* the last super-segment may begin below the mark and end beyond it */
	ops->setopt(t->c, NS_TCP_NOTSENT_LOWAT, 6001);
	ck_assert_uint_eq(ops->send_room(t->c), 65536);
	ops->setopt(t->c, NS_TCP_NOTSENT_LOWAT, 6000);
	ck_assert_uint_eq(ops->send_room(t->c), 0);
}
END_TEST

static int get(enum ns_sockopt opt)
{
	int v = -1;

	ck_assert_int_eq(ops->getopt(t->c, opt, &v), 0);
	return v;
}

START_TEST(linux_outq_is_what_is_not_acknowledged_and_outqnsd_what_is_not_sent)
{
	ck_assert_int_eq(get(NS_TCP_OUTQ), 0);
	ck_assert_int_eq(get(NS_TCP_OUTQNSD), 0);
	rig_write(t, 14600 + 6000, false);
	turn(t);
	/* ten segments are the initial window (RFC 6928 2) */
	ck_assert_int_eq(get(NS_TCP_OUTQ), 20600);
	ck_assert_int_eq(get(NS_TCP_OUTQNSD), 6000);
	ops->shutdown_send(t->c);
	turn(t);
	ck_assert_int_eq(get(NS_TCP_OUTQ), 20601);
	ck_assert_int_eq(get(NS_TCP_OUTQNSD), 6001);
	for (uint32_t i = 1; i <= 10; i++)
		seg_in_turn(t, S(.seq = 1, .ack = 1 + i * 1460));
	ck_assert_int_eq(get(NS_TCP_OUTQ), 6001);
	ck_assert_int_eq(get(NS_TCP_OUTQNSD), 0);
	seg_in_turn(t, S(.seq = 1, .ack = 20601));
	ck_assert_int_eq(get(NS_TCP_OUTQ), 1);
	seg_in_turn(t, S(.seq = 1, .ack = 20602));
	ck_assert_int_eq(get(NS_TCP_OUTQ), 0);
}
END_TEST

START_TEST(tcp_options_say_what_was_set)
{
	static const struct {
		enum ns_sockopt opt;
		int set, get;
	} good[] = {
		{ NS_SO_REUSEADDR, 1, 1 },
		{ NS_SO_KEEPALIVE, 1, 1 },
		{ NS_SO_LINGER, 0, 0 },
		{ NS_SO_LINGER, -1, -1 },
		{ NS_SO_SNDBUF, 50000, 50000 },
		{ NS_SO_RCVBUF, 1, TCP_BUF_MIN },
		{ NS_SO_RCVBUF, 1 << 30, 4 << 20 },
		{ NS_SO_PRIORITY_TOS, 0x13, 0x10 },
		{ NS_SO_TTL, 5, 5 },
		{ NS_SO_TTL, -1, 64 },
		{ NS_TCP_NODELAY, 1, 1 },
		{ NS_TCP_CORK, 1, 1 },
		{ NS_TCP_QUICKACK, 0, 0 },
		{ NS_TCP_MAXSEG, 500, 500 },
		{ NS_TCP_KEEPIDLE, 9, 9 },
		{ NS_TCP_KEEPINTVL, 8, 8 },
		{ NS_TCP_KEEPCNT, 7, 7 },
		{ NS_TCP_USER_TIMEOUT, 6000, 6000 },
		{ NS_TCP_SYNCNT, 3, 3 },
		{ NS_TCP_LINGER2, 5, 5 },
		{ NS_TCP_LINGER2, -3, -1 },
		{ NS_TCP_DEFER_ACCEPT, 4, 4 },
		{ NS_TCP_WINDOW_CLAMP, 9000, 9000 },
		{ NS_TCP_NOTSENT_LOWAT, 100, 100 },
	};
	static const struct {
		enum ns_sockopt opt;
		int set;
	} bad[] = {
		{ NS_SO_TTL, 256 },      { NS_SO_TTL, 0 },
		{ NS_TCP_MAXSEG, 5 },    { NS_TCP_MAXSEG, 70000 },
		{ NS_TCP_KEEPIDLE, 0 },  { NS_TCP_KEEPIDLE, 40000 },
		{ NS_TCP_KEEPCNT, 128 }, { NS_TCP_USER_TIMEOUT, -1 },
		{ NS_TCP_SYNCNT, 0 },
	};
	int v;

	for (size_t i = 0; i < NS_ARRAY_LEN(good); i++) {
		ck_assert_int_eq(ops->setopt(t->c, good[i].opt, good[i].set), 0);
		ck_assert_int_eq(ops->getopt(t->c, good[i].opt, &v), 0);
		ck_assert_msg(v == good[i].get, "option %u set %d got %d", good[i].opt, good[i].set,
			      v);
	}
	for (size_t i = 0; i < NS_ARRAY_LEN(bad); i++)
		ck_assert_int_eq(ops->setopt(t->c, bad[i].opt, bad[i].set), -EINVAL);
}
END_TEST

START_TEST(tcp_window_clamp_is_a_ceiling)
{
	teardown();
	t = rig_listening(1);
	ops->setopt(t->lc, NS_TCP_WINDOW_CLAMP, 5000);
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true));
	ck_assert_uint_eq(expect_out(t, S(.ack = 1, .flags = TCP_SYN))->wnd, 5000);
}
END_TEST

START_TEST(tcp_info_says_the_largest_window_that_would_be_offered)
{
	struct ns_tcp_info i;

	ck_assert_int_eq(tcp_info(t->c, t->now, &i), 0);
	ck_assert_uint_eq(i.rcv_ssthresh, conn(t)->rcvbuf);
	ops->setopt(t->c, NS_TCP_WINDOW_CLAMP, 5000);
	ck_assert_int_eq(tcp_info(t->c, t->now, &i), 0);
	ck_assert_uint_eq(i.rcv_ssthresh, 5000);
}
END_TEST

static uint32_t rcv_space(void)
{
	struct ns_tcp_info i;

	ck_assert_int_eq(tcp_info(t->c, t->now, &i), 0);
	return i.rcv_space;
}

/* linux tcp_init_buffer_space(), tcp_rcv_space_adjust() */
START_TEST(tcp_info_says_what_the_program_took_within_a_round_trip)
{
	const uint32_t first = 10 * RIG_MSS;
	uint32_t at = 1;

	ck_assert_uint_eq(rcv_space(), first);
	conn(t)->rcv_rtt_ns = 100 * NS_PER_MS;
	for (int i = 0; i < 20; i++, at += RIG_MSS) { /* nothing is taken */
		after_ms(t, 10);
		seg_in_turn(t, S(.seq = at, .ack = 1, .len = RIG_MSS));
	}
	ck_assert_uint_eq(rcv_space(), first);
	after_ms(t, 100);
	seg_in_turn(t, S(.seq = at, .ack = 1, .len = 100));
	at += 100;
	ck_assert_uint_eq(rig_read(t, 20 * RIG_MSS), 20 * RIG_MSS);
	after_ms(t, 50);
	seg_in_turn(t, S(.seq = at, .ack = 1, .len = 100)); /* half a round trip */
	at += 100;
	ck_assert_uint_eq(rcv_space(), first);
	after_ms(t, 50);
	seg_in_turn(t, S(.seq = at, .ack = 1, .len = 100));
	ck_assert_uint_eq(rcv_space(), 20 * RIG_MSS);
}
END_TEST

START_TEST(tcp_calls_in_the_wrong_state)
{
	struct ns_endpoint ep = { ns_addr_v4(RIG_PEER), 1 };
	struct ns_iov iov;
	void *c, *d;

	ck_assert_int_eq(ops->connect(t->c, &ep, t->now), -EISCONN);
	ck_assert_int_eq(ops->listen(t->c, 1), -EINVAL);
	ck_assert_int_eq(ops->accept(t->c, &d), -EINVAL);
	ck_assert_int_eq(ops->bind(t->c, &ep), -EINVAL);
	ck_assert_int_eq(ops->open(t->tcp, NULL, &c), 0);
	ck_assert_int_eq(ops->bind(c, &ep), -EADDRNOTAVAIL);
	ck_assert_int_eq(ops->remote(c, &ep), -ENOTCONN);
	ck_assert_int_eq(ops->send_reserve(c, 1, &iov, 1), -ENOTCONN);
	ck_assert_int_eq(ops->recv_peek(c, &iov, 1), 0);
	ck_assert_int_eq(ops->local(t->c, &ep), 0);
	ck_assert_uint_eq(ep.port, RIG_PORT);
	ck_assert_int_eq(ops->remote(t->c, &ep), 0);
	ck_assert_uint_eq(ep.port, RIG_PEER_PORT);
	t->route_err = -ENETUNREACH;
	ck_assert_int_eq(ops->connect(c, &ep, t->now), -ENETUNREACH);
	ops->close(c);
}
END_TEST

static uint32_t rows_seen;

static void on_row(void *ctx, const struct ns_sock_row *row)
{
	(void)ctx;
	ck_assert_ptr_nonnull(row->state);
	rows_seen++;
}

START_TEST(tcp_rows_show_every_kind)
{
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .peer_port = 9));
	ops->rows(t->tcp, on_row, NULL);
	ck_assert_uint_eq(rows_seen, 3); /* listener, half-open, connection */
}
END_TEST

START_TEST(tcp_info_is_true)
{
	struct ns_tcp_info i;

	rig_write(t, 2920, false);
	turn(t);
	at_ms(t, 20);
	seg_in_turn(t, S(.seq = 1, .ack = 1461));
	ck_assert_int_eq(ops->info(t->c, t->now, &i), 0);
	ck_assert_uint_eq(i.state, 1);
	ck_assert_uint_eq(i.snd_mss, 1460);
	ck_assert_uint_eq(i.unacked, 1);
	ck_assert_uint_eq(i.bytes_acked, 1460);
	ck_assert_uint_eq(i.bytes_sent, 2920);
	ck_assert_uint_gt(i.rtt_us, 0);
	ck_assert_uint_eq(i.last_data_sent_ms, 20);
}
END_TEST

Suite *user_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("user", setup, teardown, &s);

	tcase_add_test(tc, rfc2525_s2_17_close_with_octets_unread_resets);
	tcase_add_test(tc, rfc1122_s4_2_2_13_octets_after_close_reset);
	tcase_add_test(tc, rfc5961_s3_2_reset_after_close_is_where_the_peer_believes_it);
	tcase_add_test(tc, linux_linger_0_resets);
	tcase_add_test(tc, tcp_close_takes_effect_before_the_next_segment);
	tcase_add_test(tc, linux_linger2_below_zero_resets_in_fin_wait_2);
	tcase_add_test(tc, tcp_orphans_are_bounded);
	tcase_add_test(tc, rfc9293_s3_10_5_abort_resets_and_frees);
	tcase_add_test(tc, tcp_reset_leaves_what_was_received_readable);
	tcase_add_test(tc, linux_reset_after_a_fin_is_epipe);
	tcase_add_test(tc, tcp_eof_comes_after_the_octets);
	tcase_add_test(tc, tcp_writer_is_woken_when_a_third_is_free);
	tcase_add_test(tc, linux_notsent_lowat_bounds_what_waits);
	tcase_add_test(tc, linux_notsent_lowat_bounds_one_write);
	tcase_add_test(tc, linux_outq_is_what_is_not_acknowledged_and_outqnsd_what_is_not_sent);
	tcase_add_test(tc, tcp_options_say_what_was_set);
	tcase_add_test(tc, tcp_window_clamp_is_a_ceiling);
	tcase_add_test(tc, tcp_calls_in_the_wrong_state);
	tcase_add_test(tc, tcp_rows_show_every_kind);
	tcase_add_test(tc, tcp_info_is_true);
	tcase_add_test(tc, tcp_info_says_the_largest_window_that_would_be_offered);
	tcase_add_test(tc, tcp_info_says_what_the_program_took_within_a_round_trip);
	return s;
}
