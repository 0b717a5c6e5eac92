/* SPDX-License-Identifier: Apache-2.0 */
/* test_listen.c - tcp_listen.c, tcp_timewait.c: queues, caps, reuse */
#include <errno.h>

#include "rig.h"
#include "suites.h"

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;

static void teardown(void)
{
	rig_free(t);
}

static enum drop syn(uint16_t port)
{
	return seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = 1460,
				.peer_port = port));
}

/* The whole handshake of the peer at @port; false: the SYN or its ACK was dropped. */
static bool handshake(uint16_t port)
{
	struct sent *o;

	t->iss = 0;
	if (syn(port) != DROP_NONE)
		return false;
	o = take_out(t);
	ck_assert_ptr_nonnull(o);
	return seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = port)) == DROP_NONE;
}

START_TEST(linux_accept_queue_holds_one_more_than_the_backlog)
{
	void *c;

	t = rig_listening(2);
	for (uint16_t port = 1; port <= 3; port++)
		ck_assert(handshake(port));
	ck_assert_int_eq(syn(4), DROP_TCP_ACCEPT_QUEUE);
	expect_nothing(t);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(ops->accept(t->lc, &c), 0);
		ops->abort(c);
	}
	ck_assert_int_eq(ops->accept(t->lc, &c), -EAGAIN);
	turn(t);
	forget_out(t);
	ck_assert(handshake(4));
}
END_TEST

static void ck_asked(uint16_t peer_port, uint32_t mark, uint32_t ifindex, uint32_t uid)
{
	ck_assert_uint_eq(t->asked.uid, uid);
	ck_assert_uint_eq(t->asked.mark, mark);
	ck_assert_uint_eq(t->asked.oif, ifindex);
	ck_assert_uint_eq(t->asked.sport, RIG_PORT);
	ck_assert_uint_eq(t->asked.dport, peer_port);
	ck_assert_uint_eq(t->asked.proto, 6);
	t->asked = (struct ns_flow){ 0 };
}

/* A table that only the listener's mark leads to has the way of its SYN-ACKs and of its connections. */
START_TEST(linux_mark_and_link_of_a_listener_choose_the_way)
{
	struct tcp_conn *lc;

	t = rig_listening(1);
	lc = t->lc;
	lc->bind.ifindex = 2;
	ck_assert_int_eq(ops->setopt(lc, NS_SO_MARK, 7), 0);
	ck_assert_int_eq(ops->setopt(lc, NS_SO_UID, 1000), 0);
	t->iss = 0;
	ck_assert_int_eq(syn(1), DROP_NONE);
	ck_asked(1, 7, 2, 1000);
	forget_out(t);
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = 1)), DROP_NONE);
	ck_asked(1, 7, 2, 1000);
}
END_TEST

/* linux tcp_v4_send_reset(), tcp_v4_timewait_ack(): what answers for a socket goes its way, too */
START_TEST(linux_mark_and_link_choose_the_way_of_resets_and_of_time_wait)
{
	struct tcp_conn *lc;

	t = rig_established(&(struct rig_opts){ 0 });
	lc = t->lc;
	lc->bind.ifindex = 2;
	ck_assert_int_eq(ops->setopt(lc, NS_SO_MARK, 7), 0);
	ck_assert_int_eq(ops->setopt(lc, NS_SO_UID, 1000), 0);
	/* an acknowledgement of nothing, for the listener */
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = 1)), DROP_TCP_NO_CONN);
	ck_asked(1, 7, 2, 1000);
	forget_out(t);
	ck_assert_int_eq(ops->setopt(t->c, NS_SO_MARK, 8), 0);
	ck_assert_int_eq(ops->setopt(t->c, NS_SO_UID, 1001), 0);
	ops->shutdown_send(t->c);
	turn(t);
	seg_in_turn(t, S(.seq = 1, .ack = 2, .flags = TCP_FIN | TCP_ACK));
	forget_out(t);
	t->asked = (struct ns_flow){ 0 };
	seg_in_turn(t, S(.seq = 1, .ack = 2, .flags = TCP_FIN | TCP_ACK));
	ck_asked(RIG_PEER_PORT, 8, 0, 1001);
	/* nobody's: the routes alone choose */
	ops->set_user(lc, NULL);
	ops->close(lc);
	turn(t);
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = 1)), DROP_TCP_NO_CONN);
	ck_asked(1, 0, 0, 0);
	t->lc = NULL;
}
END_TEST

/* The four-tuple is taken: a listener that took the segment for a cookie's answer would make it a second time. */
START_TEST(tcp_segment_for_a_connection_of_another_link_is_not_the_listeners)
{
	struct tcp_conn *lc;

	t = rig_established(&(struct rig_opts){ 0 });
	lc = t->lc;
	lc->listener->cookies_until = mono_add(t->now, 60 * NS_PER_SEC);
	conn(t)->bind.ifindex = RIG_IFINDEX + 1;
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1)), DROP_TCP_OTHER_LINK);
	ck_assert_int_eq(seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true)), DROP_TCP_OTHER_LINK);
	expect_nothing(t);
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	conn(t)->bind.ifindex = RIG_IFINDEX;
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 3)), DROP_NONE);
}
END_TEST

START_TEST(linux_ack_that_finds_the_queue_full_waits)
{
	uint32_t iss[3];
	void *c;

	t = rig_listening(0);
	for (uint16_t port = 1; port <= 2; port++) {
		t->iss = 0;
		ck_assert_int_eq(syn(port), DROP_NONE);
		take_out(t);
		iss[port] = t->iss;
	}
	t->iss = iss[1];
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = 1)), DROP_NONE);
	t->iss = iss[2];
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 5, .peer_port = 2)),
			 DROP_TCP_ACCEPT_QUEUE);
	expect_nothing(t);
	ck_assert_int_eq(ops->accept(t->lc, &c), 0);
	at_ms(t, 1000); /* the SYN-ACK comes again, the peer answers again */
	expect_out(t, S(.ack = 1, .flags = TCP_SYN));
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 5, .peer_port = 2)),
			 DROP_NONE);
	ck_assert_int_eq(ops->accept(t->lc, &t->c), 0);
	ck_assert_uint_eq(rig_read(t, 10), 5);
}
END_TEST

START_TEST(linux_abort_on_overflow_resets_who_finds_the_queue_full)
{
	uint32_t iss[3];

	t = rig_listening(0);
	t->core.knobs[NS_KNOB_tcp_abort_on_overflow] = 1;
	for (uint16_t port = 1; port <= 2; port++) {
		t->iss = 0;
		ck_assert_int_eq(syn(port), DROP_NONE);
		take_out(t);
		iss[port] = t->iss;
	}
	t->iss = iss[1];
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = 1)), DROP_NONE);
	t->iss = iss[2];
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 5, .peer_port = 2)),
			 DROP_TCP_ACCEPT_QUEUE);
	expect_out(t, S(.seq = 1, .flags = TCP_RST, .no_ack = true));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_OVERFLOW_RESETS), 1);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 0);
	at_ms(t, 5000); /* it does not try again */
	expect_nothing(t);
}
END_TEST

START_TEST(rfc4987_s3_1_half_open_objects_are_bounded)
{
	uint32_t taken = 0;

	t = rig_listening(8);
	t->core.knobs[NS_KNOB_tcp_syncookies] = 0;
	for (uint16_t port = 1; port <= 1000; port++)
		taken += syn(port) == DROP_NONE;
	ck_assert_uint_eq(taken, TCP_SYNQ_MIN);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, TCP_SYNQ_MIN);
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 1);
	forget_out(t);
	at_ms(t, 200 * 1000); /* all given up */
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 0);
	forget_out(t);
	ck_assert(handshake(2000));
}
END_TEST

/* Full: the next SYN gets a cookie and leaves nothing behind. */
static void overrun(void)
{
	t = rig_listening(8);
	for (uint16_t port = 1; port <= TCP_SYNQ_MIN; port++)
		ck_assert_int_eq(syn(port), DROP_NONE);
	forget_out(t);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, TCP_SYNQ_MIN);
}

START_TEST(rfc4987_s3_6_cookie_is_good_for_two_minutes_at_most)
{
	static const uint32_t after[] = { 0, 59, 125 };

	for (size_t i = 0; i < NS_ARRAY_LEN(after); i++) {
		bool is_good = after[i] < 60;

		overrun();
		t->iss = 0;
		ck_assert_int_eq(syn(2000), DROP_NONE);
		expect_out(t, S(.ack = 1, .flags = TCP_SYN));
		ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, TCP_SYNQ_MIN);
		after_ms(t, after[i] * 1000);
		t->core.knobs[NS_KNOB_tcp_syncookies] = 0; /* what is out stays good */
		forget_out(t);
		ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = 2000)),
				 is_good ? DROP_NONE : DROP_TCP_NO_CONN);
		ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, is_good ? 2 : 1);
		if (i + 1 < NS_ARRAY_LEN(after))
			rig_free(t);
	}
}
END_TEST

START_TEST(rfc4987_s3_6_wrong_numbers_and_other_tuples_are_no_cookie)
{
	overrun();
	t->iss = 0;
	ck_assert_int_eq(syn(2000), DROP_NONE);
	expect_out(t, S(.ack = 1, .flags = TCP_SYN));
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 2, .peer_port = 2000)), DROP_TCP_NO_CONN);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 0, .peer_port = 2000)), DROP_TCP_NO_CONN);
	ck_assert_int_eq(seg_in(t, S(.seq = 2, .ack = 1, .peer_port = 2000)), DROP_TCP_NO_CONN);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 1, .peer_port = 2001)), DROP_TCP_NO_CONN);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_COOKIES_BAD), 4);
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = 2000)), DROP_NONE);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_COOKIES_OK), 1);
	forget_out(t);
}
END_TEST

/* linux tcp_synq_no_recent_overflow(): nobody guesses cookies at a listener that sends none. */
START_TEST(rfc4987_s3_6_no_cookie_is_looked_for_without_a_flood)
{
	struct demux_key k = { { ns_addr_v4(RIG_LOCAL), RIG_PORT },
			       { ns_addr_v4(RIG_PEER), RIG_PEER_PORT } };

	t = rig_listening(8);
	t->iss = tcp_cookie_make(t->tcp, &k, seq(RIG_ISN), 1460, t->now).v;
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 1)), DROP_TCP_NO_CONN);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_COOKIES_BAD), 0);
	forget_out(t);
}
END_TEST

START_TEST(rfc4987_s3_6_cookie_keeps_the_mss_rounded_down)
{
	static const uint16_t rows[][2] = { { 88, 536 },    { 536, 536 },   { 1219, 536 },
					    { 1220, 1220 }, { 1459, 1452 }, { 1460, 1460 },
					    { 8960, 8940 }, { 65535, 8940 } };
	struct demux_key k = { { ns_addr_v4(RIG_LOCAL), 80 }, { ns_addr_v4(RIG_PEER), 5 } };

	t = rig_listening(8);
	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		struct seq irs = seq((uint32_t)i * 0x31415926);
		struct seq c = tcp_cookie_make(t->tcp, &k, irs, rows[i][0], t->now);

		ck_assert_uint_eq(tcp_cookie_check(t->tcp, &k, irs, c, t->now), rows[i][1]);
	}
}
END_TEST

/* 16 of 2^24 are good: in a million tries at random about one. */
START_TEST(rfc4987_s3_6_cookies_are_not_guessed)
{
	struct demux_key k = { { ns_addr_v4(RIG_LOCAL), 80 }, { ns_addr_v4(RIG_PEER), 5 } };
	uint32_t hits = 0;

	t = rig_listening(8);
	for (uint32_t i = 0; i < 1000000; i++)
		hits += tcp_cookie_check(t->tcp, &k, seq(7), seq(i * 2654435761u), t->now) != 0;
	ck_assert_uint_le(hits, 3);
}
END_TEST

START_TEST(linux_cookie_options_ride_in_the_timestamp)
{
	for (uint32_t i = 0; i < 64; i++) {
		struct tcp_opts offer = { .has_ts = true,
					  .sack_ok = i & 1,
					  .has_wscale = i % 32 < 30,
					  .wscale = (uint8_t)(i % 32 / 2) };
		struct tcp_seg s = { .opt = { .has_ts = true, .ts_val = 9 } };
		struct mono now = { UINT64_C(0xfffffff0) * NS_PER_MS + i * 7 * NS_PER_MS };
		struct tcp_opts got;

		s.opt.ts_ecr = tcp_cookie_ts(&offer, 12345, now);
		ck_assert_int_ge((int32_t)(tcp_ts_now(12345, now) - s.opt.ts_ecr), 0);
		ck_assert_int_lt((int32_t)(tcp_ts_now(12345, now) - s.opt.ts_ecr), 128);
		tcp_cookie_ts_read(&s, 12345, &got);
		ck_assert_int_eq(got.sack_ok, offer.sack_ok);
		ck_assert_int_eq(got.has_wscale, offer.has_wscale);
		ck_assert(!offer.has_wscale || got.wscale == offer.wscale);
	}
	t = rig_new();
}
END_TEST

START_TEST(tcp_accept_queue_full_holds_back_the_answer_to_a_cookie)
{
	void *c;

	overrun();
	((struct tcp_conn *)t->lc)->listener->backlog = 0;
	t->iss = 0;
	ck_assert_int_eq(syn(2000), DROP_NONE);
	take_out(t);
	uint32_t iss = t->iss;

	t->iss = 0;
	ck_assert_int_eq(syn(2001), DROP_NONE);
	take_out(t);
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = 2001)), DROP_NONE);
	t->iss = iss;
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .peer_port = 2000)),
			 DROP_TCP_ACCEPT_QUEUE);
	expect_nothing(t); /* not reset: its octets will ask again */
	ck_assert_int_eq(ops->accept(t->lc, &c), 0);
	ck_assert_int_eq(seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 7, .peer_port = 2000)),
			 DROP_NONE);
	ck_assert_int_eq(ops->accept(t->lc, &t->c), 0);
	ck_assert_uint_eq(rig_read(t, 10), 7);
	forget_out(t);
}
END_TEST

START_TEST(rfc9293_s3_8_1_syn_ack_is_repeated_with_backoff_and_given_up)
{
	static const uint32_t at[] = { 1000, 3000, 7000, 15000, 31000 };

	t = rig_listening(8);
	syn(0);
	expect_out(t, S(.ack = 1, .flags = TCP_SYN));
	for (size_t i = 0; i < NS_ARRAY_LEN(at); i++) {
		at_ms(t, at[i] - 1);
		expect_nothing(t);
		at_ms(t, at[i]);
		expect_out(t, S(.ack = 1, .flags = TCP_SYN));
	}
	at_ms(t, 200 * 1000);
	expect_nothing(t);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 0);
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_half_open_checks)
{
	t = rig_listening(8);
	syn(0);
	expect_out(t, S(.ack = 1, .flags = TCP_SYN));
	for (uint32_t ack = 0; ack <= 2; ack += 2) { /* ISS and ISS + 2 */
		ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = ack)), DROP_TCP_ACK);
		expect_out(t, S(.seq = ack, .flags = TCP_RST, .no_ack = true));
	}
	ck_assert_int_eq(seg_in(t, S(.seq = 1 + 70000, .ack = 1)), DROP_TCP_SEQ);
	expect_out(t, S(.seq = 1, .ack = 1));
	ck_assert_int_eq(seg_in(t, S(.seq = 5, .flags = TCP_RST, .no_ack = true)), DROP_TCP_RST);
	ck_assert_int_eq(seg_in(t, S(.seq = 1 + 65535, .flags = TCP_RST, .no_ack = true)),
			 DROP_TCP_SEQ); /* RCV.NXT + RCV.WND is outside */
	expect_nothing(t);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .no_ack = true)), DROP_TCP_NO_ACK);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 1);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .flags = TCP_RST, .no_ack = true)), DROP_NONE);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 0);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 1)), DROP_TCP_NO_CONN);
	expect_out(t, S(.seq = 1, .flags = TCP_RST, .no_ack = true));
}
END_TEST

START_TEST(rfc9293_s3_10_7_4_ack_with_data_and_fin_completes)
{
	t = rig_listening(8);
	syn(0);
	expect_out(t, S(.ack = 1, .flags = TCP_SYN));
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 20, .flags = TCP_FIN));
	expect_out(t, S(.seq = 1, .ack = 22));
	ck_assert_int_eq(ops->accept(t->lc, &t->c), 0);
	ops->set_user(t->c, t);
	ck_assert((t->told & (NS_EV_IN | NS_EV_EOF)) == (NS_EV_IN | NS_EV_EOF));
	ck_assert_int_eq(state_of(t), TCP_CLOSE_WAIT);
	ck_assert_uint_eq(rig_read(t, 100), 20);
}
END_TEST

START_TEST(tcp_connection_reset_in_the_accept_queue_is_still_accepted)
{
	t = rig_listening(8);
	ck_assert(handshake(0));
	seg_in_turn(t, S(.seq = 1, .flags = TCP_RST, .no_ack = true));
	ck_assert_int_eq(ops->accept(t->lc, &t->c), 0);
	ops->set_user(t->c, t);
	ck_assert_int_eq(t->told_err, -ECONNRESET);
	ops->close(t->c);
}
END_TEST

START_TEST(linux_defer_accept_waits_for_octets)
{
	void *c;

	t = rig_listening(8);
	ops->setopt(t->lc, NS_TCP_DEFER_ACCEPT, 30);
	ck_assert(handshake(0));
	ck_assert_int_eq(ops->accept(t->lc, &c), -EAGAIN);
	at_ms(t, 2000);
	expect_nothing(t); /* acknowledged: no SYN-ACK is repeated */
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 3));
	ck_assert_int_eq(ops->accept(t->lc, &c), 0);
}
END_TEST

START_TEST(tcp_closing_a_listener_resets_and_frees_its_queue)
{
	t = rig_listening(8);
	ck_assert(handshake(1));
	ck_assert(handshake(2));
	t->iss = 0;
	syn(3);
	forget_out(t);
	ops->close(t->lc);
	turn(t);
	for (int i = 0; i < 2; i++)
		ck_assert_uint_eq(take_out(t)->flags, TCP_RST | TCP_ACK);
	expect_nothing(t);
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 0);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 0);
}
END_TEST

START_TEST(rfc9293_s3_10_7_2_listener_wants_a_syn)
{
	t = rig_listening(8);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .flags = TCP_RST, .no_ack = true)), DROP_TCP_RST);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .flags = TCP_SYN | TCP_FIN, .no_ack = true)),
			 DROP_TCP_BAD_FLAGS);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .no_ack = true)), DROP_TCP_BAD_FLAGS);
	expect_nothing(t);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 77, .flags = TCP_SYN)), DROP_TCP_NO_CONN);
	expect_out(t, S(.seq = 77, .flags = TCP_RST, .no_ack = true));
}
END_TEST

/* --- TIME-WAIT --------------------------------------------------------------------------------- */

static void into_time_wait(bool has_ts)
{
	t = rig_established(&(struct rig_opts){ .has_ts = has_ts });
	ops->close(t->c);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 1, .flags = TCP_FIN));
	seg_in_turn(t, S(.seq = 1, .ack = 2, .flags = TCP_FIN, .has_ts = has_ts, .ts_val = 10));
	expect_out(t, S(.seq = 2, .ack = 2));
	ck_assert_uint_eq(t->tcp->tw_pool.out_cnt, 1);
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 1); /* the listener: the connection is gone */
}

START_TEST(rfc9293_must_13_time_wait_is_2_msl_and_restarts)
{
	into_time_wait(false);
	at_ms(t, 59000);
	seg_in(t, S(.seq = 1, .ack = 2, .flags = TCP_FIN));
	expect_out(t, S(.seq = 2, .ack = 2));
	at_ms(t, 118000);
	ck_assert_uint_eq(t->tcp->tw_pool.out_cnt, 1);
	at_ms(t, 119000);
	ck_assert_uint_eq(t->tcp->tw_pool.out_cnt, 0);
}
END_TEST

START_TEST(rfc6191_s2_newer_syn_reopens_beyond_the_old_sequence)
{
	into_time_wait(true);
	ck_assert_int_eq(
		seg_in(t, S(.seq = 1u - 5000, .flags = TCP_SYN, .no_ack = true, .is_syn_opts = true,
			    .mss = 1460, .has_ts = true, .ts_val = 9)),
		DROP_TCP_PAWS);
	forget_out(t);
	ck_assert_int_eq(
		seg_in(t, S(.seq = 1u - 5000, .flags = TCP_SYN, .no_ack = true, .is_syn_opts = true,
			    .mss = 1460, .has_ts = true, .ts_val = 11)),
		DROP_NONE);
	expect_out(t, S(.seq = 2 + 65537, .ack = 1u - 5000 + 1, .flags = TCP_SYN));
	ck_assert_uint_eq(t->tcp->tw_pool.out_cnt, 0);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TIMEWAIT_REUSED), 1);
}
END_TEST

START_TEST(rfc6191_s2_without_timestamps_the_sequence_decides)
{
	into_time_wait(false);
	ck_assert_int_eq(seg_in(t, S(.seq = 2, .flags = TCP_SYN, .no_ack = true)), DROP_TCP_SEQ);
	expect_out(t, S(.seq = 2, .ack = 2));
	ck_assert_int_eq(seg_in(t, S(.seq = 3, .flags = TCP_SYN, .no_ack = true)), DROP_NONE);
	ck_assert_uint_eq(t->tcp->halfopen_pool.out_cnt, 1);
}
END_TEST

START_TEST(rfc1337_knob)
{
	into_time_wait(false);
	t->core.knobs[NS_KNOB_tcp_rfc1337] = 1;
	ck_assert_int_eq(seg_in(t, S(.seq = 2, .flags = TCP_RST, .no_ack = true)), DROP_TCP_RST);
	t->core.knobs[NS_KNOB_tcp_rfc1337] = 0;
	ck_assert_int_eq(seg_in(t, S(.seq = 3, .flags = TCP_RST, .no_ack = true)), DROP_TCP_RST);
	ck_assert_int_eq(seg_in(t, S(.seq = 2, .flags = TCP_RST, .no_ack = true)), DROP_NONE);
	ck_assert_uint_eq(t->tcp->tw_pool.out_cnt, 0);
}
END_TEST

START_TEST(tcp_time_wait_at_the_cap_the_oldest_goes)
{
	t = rig_listening(8);
	for (uint16_t port = 1; port <= 40; port++) {
		void *c;

		ck_assert(handshake(port));
		ck_assert_int_eq(ops->accept(t->lc, &c), 0);
		ops->close(c);
		turn(t);
		seg_in_turn(t, S(.seq = 1, .ack = 2, .flags = TCP_FIN, .peer_port = port));
		forget_out(t);
	}
	ck_assert_uint_eq(t->tcp->tw_pool.out_cnt, 16);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TIMEWAIT_EVICTED), 24);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 2, .flags = TCP_FIN, .peer_port = 40)),
			 DROP_NONE);
	ck_assert_int_eq(seg_in(t, S(.seq = 1, .ack = 2, .flags = TCP_FIN, .peer_port = 1)),
			 DROP_TCP_NO_CONN);
}
END_TEST

Suite *listen_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("listen", NULL, NULL, &s);

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, linux_accept_queue_holds_one_more_than_the_backlog);
	tcase_add_test(tc, linux_mark_and_link_of_a_listener_choose_the_way);
	tcase_add_test(tc, linux_mark_and_link_choose_the_way_of_resets_and_of_time_wait);
	tcase_add_test(tc, linux_ack_that_finds_the_queue_full_waits);
	tcase_add_test(tc, linux_abort_on_overflow_resets_who_finds_the_queue_full);
	tcase_add_test(tc, rfc4987_s3_1_half_open_objects_are_bounded);
	tcase_add_test(tc, rfc4987_s3_6_cookie_is_good_for_two_minutes_at_most);
	tcase_add_test(tc, rfc4987_s3_6_wrong_numbers_and_other_tuples_are_no_cookie);
	tcase_add_test(tc, rfc4987_s3_6_no_cookie_is_looked_for_without_a_flood);
	tcase_add_test(tc, rfc4987_s3_6_cookie_keeps_the_mss_rounded_down);
	tcase_add_test(tc, rfc4987_s3_6_cookies_are_not_guessed);
	tcase_add_test(tc, linux_cookie_options_ride_in_the_timestamp);
	tcase_add_test(tc, tcp_accept_queue_full_holds_back_the_answer_to_a_cookie);
	tcase_add_test(tc, rfc9293_s3_8_1_syn_ack_is_repeated_with_backoff_and_given_up);
	tcase_add_test(tc, rfc9293_s3_10_7_4_half_open_checks);
	tcase_add_test(tc, rfc9293_s3_10_7_4_ack_with_data_and_fin_completes);
	tcase_add_test(tc, tcp_connection_reset_in_the_accept_queue_is_still_accepted);
	tcase_add_test(tc, linux_defer_accept_waits_for_octets);
	tcase_add_test(tc, tcp_closing_a_listener_resets_and_frees_its_queue);
	tcase_add_test(tc, rfc9293_s3_10_7_2_listener_wants_a_syn);
	tcase_add_test(tc, rfc9293_must_13_time_wait_is_2_msl_and_restarts);
	tcase_add_test(tc, rfc6191_s2_newer_syn_reopens_beyond_the_old_sequence);
	tcase_add_test(tc, rfc6191_s2_without_timestamps_the_sequence_decides);
	tcase_add_test(tc, rfc1337_knob);
	tcase_add_test(tc, tcp_segment_for_a_connection_of_another_link_is_not_the_listeners);
	tcase_add_test(tc, tcp_time_wait_at_the_cap_the_oldest_goes);
	return s;
}
