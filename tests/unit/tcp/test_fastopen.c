/* SPDX-License-Identifier: Apache-2.0 */
/* test_fastopen.c - tcp_fastopen.c: RFC 7413, both ends */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "suites.h"

static struct rig *t;
static const struct transport_ops *ops = &tcp_transport_ops;
static struct tcp_tfo_opt cookie; /* of the rig's peer, from our server */

static const struct tcp_tfo_opt wish = { .has = true };

static void teardown(void)
{
	rig_free(t);
}

/* A SYN with octets and an option; our answer. */
static struct sent *syn(uint32_t len, const struct tcp_tfo_opt *o)
{
	struct say s = { .flags = TCP_SYN,
			 .no_ack = true,
			 .is_syn_opts = true,
			 .mss = RIG_MSS,
			 .sack_ok = true,
			 .len = len,
			 .tfo = *o };

	seg_in_turn(t, &s);
	return take_out(t);
}

/* A server with a queue of @max that takes octets; the peer's cookie is known. */
static void serving(int knob, int max)
{
	t = rig_listening(8);
	t->core.knobs[NS_KNOB_tcp_fastopen] = knob | 2;
	ck_assert_int_eq(ops->setopt(t->lc, NS_TCP_FASTOPEN, max ? max : 1), 0);
	ops->set_user(t->lc, t);
	cookie = syn(0, &wish)->opt.tfo;
	seg_in_turn(t, S(.seq = 1, .ack = 1, .flags = TCP_RST)); /* only asked */
	forget_out(t);
	t->core.knobs[NS_KNOB_tcp_fastopen] = knob;
	ck_assert_int_eq(ops->setopt(t->lc, NS_TCP_FASTOPEN, max), 0);
	t->iss = 0;
	t->told = 0;
}

static void take_conn(void)
{
	ck_assert_int_eq(ops->accept(t->lc, &t->c), 0);
	ops->set_user(t->c, t);
}

/* The program is gone. */
static void ended_of(void *c)
{
	ops->set_user(c, NULL);
	ops->abort(c);
	turn(t);
	forget_out(t);
}

static bool is_pending(void)
{
	struct ns_tcp_info info;

	ck_assert_int_eq(tcp_info(t->c, t->now, &info), 0);
	ck_assert(info.state == 1 || info.state == 3);
	return info.state == 3; /* SYN_RECV, as Linux */
}

START_TEST(rfc7413_s4_1_2_wish_for_a_cookie_is_granted)
{
	struct tcp_tfo_opt again;

	serving(3, 4);
	ck_assert(cookie.has);
	ck_assert_uint_eq(cookie.len, 8);
	again = syn(0, &wish)->opt.tfo;
	ck_assert_mem_eq(again.v, cookie.v, 8);
	ck_assert_uint_eq(t->told & NS_EV_ACCEPT, 0);
}
END_TEST

START_TEST(rfc7413_s4_2_2_octets_of_the_syn_are_read_before_the_handshake_is_over)
{
	struct sent *o;
	struct ns_tcp_info info;

	serving(3, 4);
	o = syn(100, &cookie);
	ck_assert_uint_eq(o->flags, TCP_SYN | TCP_ACK);
	ck_assert_uint_eq(o->ack, 101);
	ck_assert(!o->opt.tfo.has);
	ck_assert_uint_eq(t->told & NS_EV_ACCEPT, NS_EV_ACCEPT);
	take_conn();
	ck_assert(is_pending());
	ck_assert_uint_eq(rig_read(t, 1000), 100);
	after_ms(t, 50);
	seg_in_turn(t, S(.seq = 101, .ack = 1));
	ck_assert(!is_pending());
	expect_nothing(t);
	ck_assert_uint_eq(rig_read(t, 1000), 0);
	ck_assert_int_eq(tcp_info(t->c, t->now, &info), 0);
	ck_assert(info.has_syn_data);
	ck_assert_uint_ge(info.rtt_us, 50000);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_PASSIVE), 1);
}
END_TEST

START_TEST(rfc7413_s4_2_2_server_answers_before_the_handshake_is_over)
{
	serving(3, 4);
	seg_in(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = RIG_MSS,
		    .len = 100, .tfo = cookie));
	take_conn();
	rig_write(t, 50, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->flags, TCP_SYN | TCP_ACK);
	expect_out(t, S(.seq = 1, .ack = 101, .len = 50));
	seg_in_turn(t, S(.seq = 101, .ack = 51));
	ck_assert_uint_eq(tcp_flight(conn(t)), 0);
	ck_assert(!timer_is_armed(&conn(t)->rto_timer));
}
END_TEST

START_TEST(rfc7413_s4_2_2_wrong_cookie_is_an_ordinary_syn_that_gets_the_right_one)
{
	struct tcp_tfo_opt bad;
	struct sent *o;

	serving(3, 4);
	bad = cookie;
	bad.v[3] ^= 1;
	o = syn(100, &bad);
	ck_assert_uint_eq(o->ack, 1);
	ck_assert_mem_eq(o->opt.tfo.v, cookie.v, 8);
	ck_assert_uint_eq(t->told & NS_EV_ACCEPT, 0);
	/* the peer sends the octets again, behind its acknowledgement: they are there once */
	seg_in_turn(t, S(.seq = 1, .ack = 1));
	seg_in_turn(t, S(.seq = 1, .ack = 1, .len = 100));
	take_conn();
	ck_assert_uint_eq(rig_read(t, 1000), 100);
}
END_TEST

START_TEST(rfc7413_s4_1_2_cookie_of_another_length_is_none_of_ours)
{
	struct tcp_tfo_opt longer;

	serving(3, 4);
	longer = cookie;
	longer.len = 16;
	ck_assert_uint_eq(syn(100, &longer)->ack, 1);
}
END_TEST

START_TEST(rfc7413_s5_1_queue_is_limited)
{
	serving(3, 1);
	ck_assert_uint_eq(syn(100, &cookie)->ack, 101);
	/* another connection, the same address */
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .len = 100,
			 .tfo = cookie, .peer_port = 40001));
	ck_assert_uint_eq(take_out(t)->ack, 1);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_OVERFLOWS), 1);
	take_conn();
	seg_in_turn(t, S(.seq = 101, .ack = 1)); /* over: there is room again */
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .len = 100,
			 .tfo = cookie, .peer_port = 40002));
	ck_assert_uint_eq(take_out(t)->ack, 101);
}
END_TEST

START_TEST(rfc7413_s4_2_2_lost_synack_is_repeated_and_nothing_else)
{
	serving(3, 4);
	(void)syn(100, &cookie);
	take_conn();
	rig_write(t, 50, false);
	turn(t);
	expect_out(t, S(.seq = 1, .ack = 101, .len = 50));
	at_ms(t, 1100);
	ck_assert_uint_eq(take_out(t)->flags, TCP_SYN | TCP_ACK);
	expect_nothing(t);
	/* the peer repeats its SYN, plain */
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true));
	ck_assert_uint_eq(take_out(t)->flags, TCP_SYN | TCP_ACK);
	expect_nothing(t);
	ck_assert_uint_eq(rig_read(t, 1000), 100);
	/* the octets have a timer of their own from the acknowledgement on */
	seg_in_turn(t, S(.seq = 101, .ack = 1));
	after_ms(t, 1500);
	expect_out(t, S(.seq = 1, .ack = 101, .len = 50));
}
END_TEST

START_TEST(rfc7413_s4_2_2_handshake_that_never_ends_is_given_up)
{
	serving(3, 1);
	(void)syn(100, &cookie);
	take_conn();
	at_ms(t, 200000);
	ck_assert_int_eq(t->told_err, -ETIMEDOUT);
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
	forget_out(t);
	t->iss = 0;
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .len = 100,
			 .tfo = cookie, .peer_port = 40001));
	ck_assert_uint_eq(take_out(t)->ack, 101); /* its place is free */
}
END_TEST

START_TEST(rfc7413_reset_before_the_handshake_is_over)
{
	serving(3, 1);
	(void)syn(100, &cookie);
	seg_in_turn(t, S(.seq = 101, .ack = 1, .flags = TCP_RST));
	take_conn();
	ck_assert_int_eq(t->told_err, -ECONNRESET);
}
END_TEST

START_TEST(rfc7413_knob_and_option_decide)
{
	/* off by default */
	serving(1, 4);
	ck_assert_uint_eq(syn(100, &cookie)->ack, 1);
	rig_free(t);
	/* not without TCP_FASTOPEN */
	serving(3, 0);
	ck_assert_uint_eq(syn(100, &cookie)->ack, 1);
	rig_free(t);
	/* unless all listeners are */
	serving(3 | 0x400, 0);
	ck_assert_uint_eq(syn(100, &cookie)->ack, 101);
	rig_free(t);
	/* without cookies, if the operator wants that */
	serving(3 | 0x200, 4);
	ck_assert_uint_eq(syn(100, &(struct tcp_tfo_opt){ 0 })->ack, 101);
}
END_TEST

/* --- keys ------------------------------------------------------------------------------------- */

static uint8_t keys[NS_FASTOPEN_KEYS_LEN] = { 1, 2, 3, 4, [16] = 5, 6, 7, 8 };

/* linux 6.18: the SYN-ACKs of a listener with net.ipv4.tcp_fastopen_key = 00010203-04050607-08090a0b-0c0d0e0f */
START_TEST(rfc7413_s4_1_2_cookies_are_those_linux_makes_with_the_same_key)
{
	static const uint8_t key[NS_FASTOPEN_KEY_LEN] = { 3,  2,  1, 0, 7,  6,  5,  4,
							  11, 10, 9, 8, 15, 14, 13, 12 };
	static const uint8_t of_v4[8] = { 0x7f, 0x93, 0x60, 0x8e, 0xa0, 0x64, 0xac, 0xfa };
	static const uint8_t of_v6[8] = { 0x5b, 0xa4, 0xfb, 0xf0, 0x84, 0x15, 0x9e, 0x10 };
	struct tcp_seg s = { .remote.addr = ns_addr_v4(0x0a000001),
			     .local.addr = ns_addr_v4(0x0a000002) };
	struct tcp_tfo_opt o;

	t = rig_listening(8);
	ck_assert_int_eq(tcp_set_fastopen_keys(t->tcp, key, sizeof(key)), 0);
	tcp_fastopen_grant(t->lc, &s, &o);
	ck_assert_uint_eq(o.len, 8);
	ck_assert_mem_eq(o.v, of_v4, 8);
	s.remote.addr = (struct ns_addr){ { 0xfd, [15] = 1 } };
	s.local.addr = (struct ns_addr){ { 0xfd, [15] = 2 } };
	tcp_fastopen_grant(t->lc, &s, &o);
	ck_assert_mem_eq(o.v, of_v6, 8);
	/* as on the wire: the link's zone in a link-local address is ours alone */
	s.remote.addr = (struct ns_addr){ { 0xfe, 0x80, [15] = 1 } };
	tcp_fastopen_grant(t->lc, &s, &o);
	s.remote.addr = ns_addr_zoned(s.remote.addr, 7);
	ck_assert_mem_ne(o.v, of_v6, 8);
	memcpy(cookie.v, o.v, sizeof(cookie.v));
	tcp_fastopen_grant(t->lc, &s, &o);
	ck_assert_mem_eq(o.v, cookie.v, 8);
}
END_TEST

START_TEST(rfc7413_s4_1_2_cookie_of_the_backup_key_is_taken_and_renewed)
{
	struct sent *o;
	uint8_t old[8];

	serving(3, 4);
	ck_assert_int_eq(tcp_set_fastopen_keys(t->tcp, keys, 16), 0);
	cookie = syn(0, &wish)->opt.tfo;
	seg_in_turn(t, S(.seq = 1, .ack = 1, .flags = TCP_RST));
	memcpy(old, cookie.v, 8);
	/* the key becomes the backup of another */
	memcpy(keys + 16, keys, 16);
	keys[0]++;
	ck_assert_int_eq(tcp_set_fastopen_keys(t->tcp, keys, 32), 0);
	t->iss = 0;
	o = syn(100, &cookie);
	ck_assert_uint_eq(o->ack, 101);
	ck_assert(o->opt.tfo.has);
	ck_assert_uint_eq(o->opt.tfo.len, 8);
	ck_assert_mem_ne(o->opt.tfo.v, old, 8);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_PASSIVE_OLD), 1);
	cookie = o->opt.tfo;
	take_conn();
	seg_in_turn(t, S(.seq = 101, .ack = 1));
	/* the new one is the primary key's: there is nothing to renew */
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .len = 100,
			 .tfo = cookie, .peer_port = 40001));
	o = take_out(t);
	ck_assert_uint_eq(o->ack, 101);
	ck_assert(!o->opt.tfo.has);
	/* the old key is gone, and its cookies with it */
	ck_assert_int_eq(tcp_set_fastopen_keys(t->tcp, keys, 16), 0);
	memcpy(cookie.v, old, 8);
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .len = 100,
			 .tfo = cookie, .peer_port = 40002));
	o = take_out(t);
	ck_assert_uint_eq(o->ack, 1);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_PASSIVE_FAILS), 1);
	ck_assert(o->opt.tfo.has);
}
END_TEST

START_TEST(rfc7413_s4_1_2_listener_may_have_keys_of_its_own)
{
	uint8_t got[NS_FASTOPEN_KEYS_LEN];
	struct tcp_tfo_opt of_stack;

	serving(3, 4);
	of_stack = cookie;
	ck_assert_int_eq(ops->set_fastopen_keys(t->lc, keys, 15), -EINVAL);
	ck_assert_int_eq(ops->set_fastopen_keys(t->lc, keys, 0), -EINVAL);
	ck_assert_uint_eq(ops->fastopen_keys(t->lc, got), 16); /* the stack's */
	ck_assert_int_eq(ops->set_fastopen_keys(t->lc, keys, 32), 0);
	ck_assert_uint_eq(ops->fastopen_keys(t->lc, got), 32);
	ck_assert_mem_eq(got, keys, 32);
	ck_assert_uint_eq(syn(100, &of_stack)->ack, 1);
}
END_TEST

/* RFC 7413 4.1.1: "... an experimental option"; RFC 6994 3 with 0xF989 */
START_TEST(rfc7413_experimental_option_is_answered_by_its_kind)
{
	static const struct tcp_tfo_opt exp_wish = { .has = true, .is_exp = true };
	struct sent *o;

	serving(3, 4);
	o = syn(0, &exp_wish);
	ck_assert(o->opt.tfo.has && o->opt.tfo.is_exp);
	ck_assert_mem_eq(o->opt.tfo.v, cookie.v, 8);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .flags = TCP_RST));
	t->iss = 0;
	cookie.is_exp = true;
	ck_assert_uint_eq(syn(100, &cookie)->ack, 101);
}
END_TEST

START_TEST(rfc7413_no_cookie_is_asked_for_by_the_listener_too)
{
	static const struct tcp_tfo_opt no_opt;
	struct sent *o;

	serving(3, 4);
	ck_assert_uint_eq(syn(100, &no_opt)->ack, 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .flags = TCP_RST));
	ck_assert_int_eq(ops->setopt(t->lc, NS_TCP_FASTOPEN_NO_COOKIE, 1), 0);
	t->iss = 0;
	o = syn(100, &no_opt);
	ck_assert_uint_eq(o->ack, 101);
	ck_assert(!o->opt.tfo.has);
	take_conn();
	seg_in_turn(t, S(.seq = 101, .ack = 1));
	/* and who asks for a cookie is in without (linux tcp_try_fastopen()) */
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .tfo = wish,
			 .peer_port = 40001));
	o = take_out(t);
	ck_assert(!o->opt.tfo.has);
	take_conn();
	ck_assert(is_pending());
}
END_TEST

START_TEST(rfc7413_s5_1_reset_before_the_handshake_is_over_counts_for_a_minute)
{
	serving(3, 1);
	(void)syn(100, &cookie);
	take_conn();
	seg_in_turn(t, S(.seq = 101, .ack = 1, .flags = TCP_RST));
	ck_assert_int_eq(t->told_err, -ECONNRESET);
	ended_of(t->c);
	after_ms(t, 59900);
	t->iss = 0;
	ck_assert_uint_eq(syn(100, &cookie)->ack, 1);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .flags = TCP_RST));
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_OVERFLOWS), 1);
	after_ms(t, 200);
	t->iss = 0;
	ck_assert_uint_eq(syn(100, &cookie)->ack, 101);
}
END_TEST

/* --- client ---------------------------------------------------------------------------------- */

/* connect() with TCP_FASTOPEN_CONNECT. */
static void connecting_with(enum ns_sockopt opt, int expected)
{
	struct ns_endpoint local = { ns_addr_v4(RIG_LOCAL), RIG_PORT };
	struct ns_endpoint remote = { ns_addr_v4(RIG_PEER), RIG_PEER_PORT };

	t->iss = 0;
	t->told = 0;
	ck_assert_int_eq(ops->open(t->tcp, t, &t->c), 0);
	ck_assert_int_eq(ops->bind(t->c, &local), 0);
	ck_assert_int_eq(ops->setopt(t->c, NS_TCP_FASTOPEN_CONNECT, 1), 0);
	ck_assert_int_eq(ops->setopt(t->c, opt, 1), 0);
	ck_assert_int_eq(ops->connect(t->c, &remote, t->now), expected);
	turn(t);
}

/* The SYN leaves at once. */
static void connecting(void)
{
	connecting_with(NS_TCP_FASTOPEN_CONNECT, -EINPROGRESS);
}

/* The program may send at once, and nothing leaves before it does. */
static void connecting_early(void)
{
	connecting_with(NS_TCP_FASTOPEN_CONNECT, 0);
}

static void ended(void)
{
	ended_of(t->c);
}

/* The SYN-ACK, of @ack, with a cookie when @o says so. */
static void synack(uint32_t ack, const struct tcp_tfo_opt *o)
{
	seg_in_turn(t, S(.ack = ack, .flags = TCP_SYN, .is_syn_opts = true, .mss = RIG_MSS,
			 .sack_ok = true, .tfo = *o));
}

/* A cookie is known. */
static void with_cookie(void)
{
	static const struct tcp_tfo_opt o = { .has = true, .len = 8, .v = "\1\2\3\4\5\6\7" };
	struct sent *s;

	t = rig_new();
	connecting();
	s = take_out(t);
	ck_assert(s->opt.tfo.has); /* asks */
	ck_assert_uint_eq(s->opt.tfo.len, 0);
	synack(1, &o);
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
	ended();
}

static const struct tcp_tfo_opt none;

START_TEST(rfc7413_s4_2_1_syn_waits_for_octets_and_takes_them)
{
	struct ns_tcp_info info;
	struct sent *o;

	with_cookie();
	connecting_early();
	expect_nothing(t);
	ck_assert_uint_eq(t->told, NS_EV_CONNECTED | NS_EV_OUT);
	rig_write(t, 100, false);
	turn(t);
	o = take_out(t);
	ck_assert_uint_eq(o->flags, TCP_SYN);
	ck_assert_uint_eq(o->len, 100);
	ck_assert_uint_eq(o->data[99], rig_octet(99));
	ck_assert_uint_eq(o->opt.tfo.len, 8);
	ck_assert_uint_eq(o->opt.tfo.v[6], 7);
	synack(101, &none);
	expect_out(t, S(.seq = 101, .ack = 1));
	expect_nothing(t);
	ck_assert_int_eq(tcp_info(t->c, t->now, &info), 0);
	ck_assert(info.has_syn_data);
	ck_assert_uint_eq(info.bytes_acked, 100);
	ck_assert_uint_eq(bytes_len(&conn(t)->sndq), 0);
	ended();
}
END_TEST

START_TEST(rfc7413_s4_2_1_octets_that_were_not_taken_are_sent_again)
{
	with_cookie();
	connecting_early();
	rig_write(t, 100, false);
	turn(t);
	forget_out(t);
	synack(1, &none);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 100));
	ended();
}
END_TEST

START_TEST(rfc7413_s4_2_1_some_octets_were_taken)
{
	with_cookie();
	connecting_early();
	rig_write(t, 100, false);
	turn(t);
	forget_out(t);
	synack(41, &none);
	expect_out(t, S(.seq = 41, .ack = 1, .len = 60));
	ended();
}
END_TEST

START_TEST(rfc7413_s4_2_1_one_segment_leaves_with_the_syn_the_rest_later)
{
	with_cookie();
	connecting_early();
	rig_write(t, 3000, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->len, RIG_MSS - TCP_OPT_MAX);
	ck_assert_int_eq(ops->send_reserve(t->c, 1, &(struct ns_iov){ 0 }, 1), -EAGAIN);
	synack(1 + RIG_MSS - TCP_OPT_MAX, &none);
	expect_out(t, S(.seq = 1 + RIG_MSS - TCP_OPT_MAX, .ack = 1, .len = RIG_MSS));
	ended();
}
END_TEST

START_TEST(rfc7413_s4_1_3_repeated_syn_is_plain_and_the_server_is_avoided)
{
	struct sent *o;

	with_cookie();
	connecting_early();
	rig_write(t, 100, false);
	turn(t);
	forget_out(t);
	after_ms(t, 1000);
	o = take_out(t);
	ck_assert_uint_eq(o->len, 0);
	ck_assert(!o->opt.tfo.has);
	synack(1, &none);
	expect_out(t, S(.seq = 1, .ack = 1, .len = 100));
	ended();
	connecting();
	o = take_out(t); /* an ordinary SYN at once */
	ck_assert_uint_eq(o->flags, TCP_SYN);
	ck_assert(!o->opt.tfo.has);
	ended();
	after_ms(t, 61000);
	connecting_early();
	expect_nothing(t);
	ended();
}
END_TEST

START_TEST(rfc7413_s4_1_3_late_answer_to_the_first_syn_counts)
{
	with_cookie();
	connecting_early();
	rig_write(t, 100, false);
	turn(t);
	after_ms(t, 1000);
	forget_out(t);
	synack(101, &none);
	expect_out(t, S(.seq = 101, .ack = 1));
	ended();
}
END_TEST

START_TEST(rfc7413_refused_after_the_program_was_told)
{
	with_cookie();
	connecting_early();
	rig_write(t, 100, false);
	turn(t);
	forget_out(t);
	seg_in_turn(t, S(.ack = 101, .flags = TCP_RST));
	ck_assert_int_eq(t->told_err, -ECONNREFUSED);
	ended();
}
END_TEST

START_TEST(rfc7413_octets_and_fin_of_a_program_that_is_gone)
{
	with_cookie();
	connecting_early();
	rig_write(t, 100, false);
	ops->set_user(t->c, NULL);
	ops->close(t->c);
	turn(t);
	ck_assert_uint_eq(take_out(t)->len, 100);
	synack(101, &none);
	expect_out(t, S(.seq = 101, .ack = 1, .flags = TCP_FIN));
}
END_TEST

START_TEST(rfc7413_connect_that_never_sends_leaves_nothing)
{
	with_cookie();
	connecting_early();
	ops->set_user(t->c, NULL);
	ops->close(t->c);
	turn(t);
	expect_nothing(t);
	ck_assert_uint_eq(t->tcp->conn_pool.out_cnt, 0);
}
END_TEST

/* What the program writes leaves with the SYN, without a cookie. */
static void octets_go_without_a_cookie(void)
{
	struct sent *o;

	rig_write(t, 100, false);
	turn(t);
	o = take_out(t);
	ck_assert_uint_eq(o->len, 100);
	ck_assert(!o->opt.tfo.has);
	ended();
}

START_TEST(rfc7413_client_knob)
{
	struct sent *o;

	with_cookie();
	t->core.knobs[NS_KNOB_tcp_fastopen] = 2;
	connecting();
	o = take_out(t);
	ck_assert_uint_eq(o->flags, TCP_SYN);
	ck_assert(!o->opt.tfo.has);
	ended();
	rig_free(t);
	t = rig_new(); /* without a cookie, if the operator wants that */
	t->core.knobs[NS_KNOB_tcp_fastopen] = 5;
	connecting_early();
	octets_go_without_a_cookie();
}
END_TEST

START_TEST(rfc7413_no_cookie_is_asked_for_by_the_client_too)
{
	with_cookie();
	connecting_with(NS_TCP_FASTOPEN_NO_COOKIE, 0);
	octets_go_without_a_cookie();
}
END_TEST

/* linux tcp_rcv_fastopen_synack(): try_exp */
START_TEST(rfc7413_server_without_a_cookie_is_asked_by_the_experimental_option)
{
	static const bool kinds[] = { false, true, false, false };

	t = rig_new();
	for (size_t i = 0; i < NS_ARRAY_LEN(kinds); i++) {
		struct sent *o;

		connecting();
		o = take_out(t);
		ck_assert(o->opt.tfo.has);
		ck_assert_int_eq(o->opt.tfo.is_exp, kinds[i]);
		synack(1, &none);
		ended();
	}
	/* a cookie comes in the kind that was asked, and goes in it */
	connecting();
	forget_out(t);
	synack(1, &(struct tcp_tfo_opt){ .has = true, .is_exp = true, .len = 8 });
	ended();
	connecting_early();
	rig_write(t, 1, false);
	turn(t);
	ck_assert(take_out(t)->opt.tfo.is_exp);
	ended();
}
END_TEST

static uint8_t fail_of(void)
{
	struct ns_tcp_info info;

	ck_assert_int_eq(tcp_info(t->c, t->now, &info), 0);
	return info.fastopen_client_fail;
}

START_TEST(rfc7413_tcp_info_says_why_the_octets_did_not_go_with_the_syn)
{
	t = rig_new();
	connecting();
	ck_assert_uint_eq(fail_of(), 1); /* no cookie */
	ended();
	rig_free(t);
	with_cookie();
	connecting_early();
	rig_write(t, 100, false);
	turn(t);
	forget_out(t);
	ck_assert_uint_eq(fail_of(), 0);
	synack(1, &none);
	ck_assert_uint_eq(fail_of(), 2); /* not acknowledged */
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_ACTIVE_FAILS), 1);
	ended();
	connecting_early();
	rig_write(t, 100, false);
	turn(t);
	after_ms(t, 1000);
	forget_out(t);
	synack(1, &none);
	ck_assert_uint_eq(fail_of(), 3); /* and sent again */
	ended();
}
END_TEST

/* A connection that began fast, and whose octets nobody acknowledges any more for @ms. */
static void swallowed(uint32_t ms)
{
	connecting_early();
	rig_write(t, 100, false);
	turn(t);
	forget_out(t);
	synack(101, &none);
	rig_write(t, 100, false);
	turn(t);
	after_ms(t, ms);
	forget_out(t);
}

START_TEST(rfc7413_s4_1_3_1_third_timeout_stops_the_client_for_a_while)
{
	with_cookie();
	t->core.knobs[NS_KNOB_tcp_fastopen_blackhole_timeout_sec] = 100;
	swallowed(1000); /* two timeouts */
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_PAUSES), 0);
	after_ms(t, 2000); /* three */
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_PAUSES), 1);
	ended();
	after_ms(t, 90000);
	connecting();
	ck_assert(!take_out(t)->opt.tfo.has);
	ended();
	/* over; it happens again: twice as long */
	after_ms(t, 10000);
	swallowed(3000);
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_PAUSES), 2);
	ended();
	after_ms(t, 190000);
	connecting();
	ck_assert(!take_out(t)->opt.tfo.has);
	ended();
	after_ms(t, 10000);
	/* one that hears octets ends the series */
	connecting_early();
	rig_write(t, 100, false);
	turn(t);
	forget_out(t);
	synack(101, &none);
	seg_in_turn(t, S(.seq = 1, .ack = 101, .len = 10));
	ended();
	swallowed(3000);
	ended();
	after_ms(t, 100000);
	connecting_early();
	ended();
}
END_TEST

START_TEST(rfc7413_s4_1_3_1_fin_whose_octets_never_came_stops_the_client)
{
	with_cookie();
	t->core.knobs[NS_KNOB_tcp_fastopen_blackhole_timeout_sec] = 100;
	connecting_early();
	rig_write(t, 100, false);
	turn(t);
	forget_out(t);
	synack(101, &none);
	seg_in_turn(t, S(.seq = 11, .ack = 101, .flags = TCP_FIN));
	ended();
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_PAUSES), 1);
	connecting();
	ck_assert(!take_out(t)->opt.tfo.has);
	ended();
}
END_TEST

START_TEST(rfc7413_s4_1_3_1_without_the_knob_nothing_stops_the_client)
{
	with_cookie();
	swallowed(3000);
	ended();
	ck_assert_uint_eq(stat_of(t, STAT_TCP_TFO_PAUSES), 0);
	connecting_early();
	ended();
}
END_TEST

START_TEST(rfc7413_s4_1_1_lengths_of_cookies)
{
	for (uint32_t len = 0; len <= 18; len++) {
		uint8_t opt[40] = { 34, (uint8_t)(2 + len) };
		bool is_right = len == 0 || (len >= 4 && len <= 16 && len % 2 == 0);
		struct tcp_opts o;

		ck_assert(tcp_opts_parse(opt, 2 + len, &o));
		ck_assert_int_eq(o.tfo.has, is_right);
		ck_assert_uint_eq(o.tfo.len, is_right ? len : 0);
	}
	t = rig_new();
}
END_TEST

/* Before its SYN-ACK is acknowledged the peer's SYN comes again, plain, then with the other kind of ECN. */
START_TEST(rfc9768_s3_1_5_syn_of_fast_open_that_comes_again)
{
	struct say s = { .flags = TCP_SYN,
			 .no_ack = true,
			 .is_syn_opts = true,
			 .mss = RIG_MSS,
			 .len = 100,
			 .ace = 7 };
	const struct sent *o;

	serving(3, 4);
	t->core.knobs[NS_KNOB_tcp_ecn] = 3;
	s.tfo = cookie;
	seg_in_turn(t, &s);
	take_conn();
	o = take_out(t);
	ck_assert_uint_eq(o->ace, 2);
	ck_assert(o->opt.accecn.has);
	s = (struct say){ .flags = TCP_SYN, .no_ack = true, .ecn = 3 };
	seg_in_turn(t, &s);
	o = take_out(t);
	ck_assert_uint_eq(o->ace, 6); /* the latest is told */
	ck_assert(!o->opt.accecn.has);
	rig_write(t, 100, false);
	turn(t);
	ck_assert_uint_eq(take_out(t)->tos & 3, 0);
	s.ace = 3;
	ck_assert_int_eq(seg_in_turn(t, &s), DROP_TCP_SYN);
	ck_assert_uint_eq(take_out(t)->flags & TCP_RST, TCP_RST);
	ck_assert_int_eq(state_of(t), TCP_CLOSED);
}
END_TEST

START_TEST(rfc9768_s3_2_3_option_of_a_syn_ack_is_cut_to_what_fits)
{
	const struct sent *o;

	serving(3, 4);
	t->core.knobs[NS_KNOB_tcp_ecn] = 3;
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = RIG_MSS,
			 .sack_ok = true, .has_ts = true, .wscale = 7, .ace = 7, .tfo = wish));
	o = take_out(t);
	ck_assert_uint_eq(o->opt.tfo.len, 8);
	ck_assert(o->opt.has_ts && o->opt.has_wscale);
	ck_assert(o->opt.accecn.has);
	ck_assert_uint_eq(o->opt.accecn.cnt, 2);
}
END_TEST

/* Our octets are under way when the peer says that the SYN-ACK met congestion. */
START_TEST(rfc9768_s3_2_2_2_marked_synack_of_fast_open_is_answered)
{
	struct say s = { .flags = TCP_SYN,
			 .no_ack = true,
			 .is_syn_opts = true,
			 .mss = RIG_MSS,
			 .len = 100,
			 .ace = 7 };

	serving(3, 4);
	t->core.knobs[NS_KNOB_tcp_ecn] = 3;
	s.tfo = cookie;
	seg_in_turn(t, &s);
	take_conn();
	rig_write(t, 4 * RIG_MSS, false);
	turn(t);
	forget_out(t);
	seg_in_turn(t, S(.seq = 101, .ack = 1, .ace = 6));
	ck_assert_int_eq(conn(t)->ca, TCP_CA_CWR);
}
END_TEST

Suite *fastopen_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("fastopen", NULL, teardown, &s);

	tcase_add_test(tc, rfc7413_s4_1_2_wish_for_a_cookie_is_granted);
	tcase_add_test(tc, rfc7413_s4_2_2_octets_of_the_syn_are_read_before_the_handshake_is_over);
	tcase_add_test(tc, rfc7413_s4_2_2_server_answers_before_the_handshake_is_over);
	tcase_add_test(tc, rfc7413_s4_2_2_wrong_cookie_is_an_ordinary_syn_that_gets_the_right_one);
	tcase_add_test(tc, rfc7413_s4_1_2_cookie_of_another_length_is_none_of_ours);
	tcase_add_test(tc, rfc7413_s5_1_queue_is_limited);
	tcase_add_test(tc, rfc7413_s4_2_2_lost_synack_is_repeated_and_nothing_else);
	tcase_add_test(tc, rfc7413_s4_2_2_handshake_that_never_ends_is_given_up);
	tcase_add_test(tc, rfc7413_reset_before_the_handshake_is_over);
	tcase_add_test(tc, rfc7413_knob_and_option_decide);
	tcase_add_test(tc, rfc7413_s4_2_1_syn_waits_for_octets_and_takes_them);
	tcase_add_test(tc, rfc7413_s4_2_1_octets_that_were_not_taken_are_sent_again);
	tcase_add_test(tc, rfc7413_s4_2_1_some_octets_were_taken);
	tcase_add_test(tc, rfc7413_s4_2_1_one_segment_leaves_with_the_syn_the_rest_later);
	tcase_add_test(tc, rfc7413_s4_1_3_repeated_syn_is_plain_and_the_server_is_avoided);
	tcase_add_test(tc, rfc7413_s4_1_3_late_answer_to_the_first_syn_counts);
	tcase_add_test(tc, rfc7413_refused_after_the_program_was_told);
	tcase_add_test(tc, rfc7413_octets_and_fin_of_a_program_that_is_gone);
	tcase_add_test(tc, rfc7413_connect_that_never_sends_leaves_nothing);
	tcase_add_test(tc, rfc7413_client_knob);
	tcase_add_test(tc, rfc7413_s4_1_2_cookies_are_those_linux_makes_with_the_same_key);
	tcase_add_test(tc, rfc7413_s4_1_2_cookie_of_the_backup_key_is_taken_and_renewed);
	tcase_add_test(tc, rfc7413_s4_1_2_listener_may_have_keys_of_its_own);
	tcase_add_test(tc, rfc7413_experimental_option_is_answered_by_its_kind);
	tcase_add_test(tc, rfc7413_no_cookie_is_asked_for_by_the_listener_too);
	tcase_add_test(tc, rfc7413_s5_1_reset_before_the_handshake_is_over_counts_for_a_minute);
	tcase_add_test(tc, rfc7413_no_cookie_is_asked_for_by_the_client_too);
	tcase_add_test(tc, rfc7413_server_without_a_cookie_is_asked_by_the_experimental_option);
	tcase_add_test(tc, rfc7413_tcp_info_says_why_the_octets_did_not_go_with_the_syn);
	tcase_add_test(tc, rfc7413_s4_1_3_1_third_timeout_stops_the_client_for_a_while);
	tcase_add_test(tc, rfc7413_s4_1_3_1_fin_whose_octets_never_came_stops_the_client);
	tcase_add_test(tc, rfc7413_s4_1_3_1_without_the_knob_nothing_stops_the_client);
	tcase_add_test(tc, rfc7413_s4_1_1_lengths_of_cookies);
	tcase_add_test(tc, rfc9768_s3_1_5_syn_of_fast_open_that_comes_again);
	tcase_add_test(tc, rfc9768_s3_2_2_2_marked_synack_of_fast_open_is_answered);
	tcase_add_test(tc, rfc9768_s3_2_3_option_of_a_syn_ack_is_cut_to_what_fits);
	return s;
}
