/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sock.c - sock/sock.c: handles that go stale, news told once, calls passed on
 *
 * The transport is a toy: a connection is an object that writes down what was asked of it.
 */
#include <errno.h>
#include <string.h>

#include "sock/sock.h"
#include "suites.h"

enum {
	CAP = 100,
	CONNS = 256,
};

struct conn {
	void *user;
	uint32_t closed, aborted;
	bool is_eof;
	const char *last; /* the call that was made last */
	int value;
};

static struct ns_core core;
static struct ns_stats stats;
static struct socks *table;
static struct conn conns[CONNS];
static uint32_t conn_cnt;
static int open_err, accept_err;
/* sock.c only ever hands it to ns_stack_socks() */
static struct ns_stack *const stack = (struct ns_stack *)(void *)&stats;

struct socks *ns_stack_socks(struct ns_stack *s)
{
	ck_assert_ptr_eq(s, stack);
	return table;
}

static struct conn *conn_new(void *user)
{
	struct conn *c = &conns[conn_cnt++ % CONNS];

	*c = (struct conn){ .user = user };
	return c;
}

static int t_open(void *self, void *user, void **ret_c)
{
	ck_assert_ptr_eq(self, &core);
	if (open_err)
		return open_err;
	*ret_c = conn_new(user);
	return 0;
}

static void t_set_user(void *c, void *user)
{
	((struct conn *)c)->user = user;
}

static int t_accept(void *c, void **ret_c)
{
	((struct conn *)c)->last = "accept";
	if (accept_err)
		return accept_err;
	*ret_c = conn_new(NULL);
	return 0;
}

static bool t_is_eof(void *c)
{
	return ((struct conn *)c)->is_eof;
}

static void t_close(void *c)
{
	((struct conn *)c)->closed++;
}

static void t_abort(void *c)
{
	((struct conn *)c)->aborted++;
}

static int t_bind(void *c, const struct ns_endpoint *local)
{
	((struct conn *)c)->last = "bind";
	return -(int)local->port;
}

static int t_listen(void *c, int backlog)
{
	((struct conn *)c)->last = "listen";
	return -backlog;
}

static int t_connect(void *c, const struct ns_endpoint *remote, struct mono now)
{
	((struct conn *)c)->last = "connect";
	return -(int)(remote->port + now.ns);
}

static int t_endpoint(void *c, struct ns_endpoint *ret)
{
	((struct conn *)c)->last = "endpoint";
	ret->port = 77;
	return 0;
}

static uint32_t t_send_room(void *c)
{
	((struct conn *)c)->last = "send_room";
	return 1234;
}

static int t_send_reserve(void *c, uint32_t want, struct ns_iov *iov, uint32_t iov_cnt)
{
	((struct conn *)c)->last = "send_reserve";
	iov[0].len = want;
	return (int)iov_cnt;
}

static void t_send_commit(void *c, uint32_t len, bool more)
{
	((struct conn *)c)->last = "send_commit";
	((struct conn *)c)->value = (int)len * 2 + more;
}

static int t_recv_peek(void *c, struct ns_iov *iov, uint32_t iov_cnt)
{
	((struct conn *)c)->last = "recv_peek";
	iov[0].len = 5;
	return (int)iov_cnt;
}

static void t_recv_consume(void *c, uint32_t len)
{
	((struct conn *)c)->last = "recv_consume";
	((struct conn *)c)->value = (int)len;
}

static void t_shutdown(void *c)
{
	((struct conn *)c)->last = "shutdown";
}

static int t_setopt(void *c, enum ns_sockopt opt, int value)
{
	((struct conn *)c)->last = "setopt";
	return (int)opt * 100 + value;
}

static int t_getopt(void *c, enum ns_sockopt opt, int *ret_value)
{
	((struct conn *)c)->last = "getopt";
	*ret_value = (int)opt;
	return 0;
}

static int t_info(void *c, struct mono now, struct ns_tcp_info *ret_info)
{
	((struct conn *)c)->last = "info";
	ret_info->rto_us = (uint32_t)now.ns;
	return 0;
}

static void t_rows(void *self, void (*fn)(void *ctx, const struct ns_sock_row *row), void *ctx)
{
	(void)self;
	for (uint32_t i = 0; i < conn_cnt; i++) {
		struct ns_sock_row row = { .state = "TOY" };

		if (conns[i].user)
			row.sock = sock_user_ops.handle(conns[i].user);
		fn(ctx, &row);
	}
}

static const struct transport_ops toy = {
	.open = t_open,
	.set_user = t_set_user,
	.bind = t_bind,
	.listen = t_listen,
	.connect = t_connect,
	.accept = t_accept,
	.local = t_endpoint,
	.remote = t_endpoint,
	.send_room = t_send_room,
	.send_reserve = t_send_reserve,
	.send_commit = t_send_commit,
	.recv_peek = t_recv_peek,
	.recv_consume = t_recv_consume,
	.is_eof = t_is_eof,
	.shutdown_send = t_shutdown,
	.close = t_close,
	.abort = t_abort,
	.setopt = t_setopt,
	.getopt = t_getopt,
	.info = t_info,
	.rows = t_rows,
};

static void setup(void)
{
	memset(&stats, 0, sizeof(stats));
	core = (struct ns_core){ .stats = &stats, .limits = { .sockets = CAP } };
	table = socks_new(&core);
	ck_assert_ptr_nonnull(table);
	socks_set_transport(table, &toy, &core);
	conn_cnt = 0;
	open_err = accept_err = 0;
}

static void teardown(void)
{
	socks_free(table);
}

static ns_sock open_one(void)
{
	ns_sock h = 0;

	ck_assert_int_eq(ns_sock_open(stack, &h), 0);
	ck_assert_uint_ne(h, 0);
	return h;
}

static void tell(const struct conn *c, uint32_t mask, int err)
{
	sock_user_ops.event(c->user, mask, err);
}

/* No call takes @h any more. */
static void expect_stale(ns_sock h)
{
	struct ns_endpoint e = { .port = 1 };
	struct ns_iov iov;
	struct ns_tcp_info info;
	ns_sock child;
	int value;

	ck_assert_int_eq(ns_sock_bind(stack, h, &e), -EBADF);
	ck_assert_int_eq(ns_sock_listen(stack, h, 1), -EBADF);
	ck_assert_int_eq(ns_sock_connect(stack, h, &e, (struct mono){ 0 }), -EBADF);
	ck_assert_int_eq(ns_sock_accept(stack, h, &child), -EBADF);
	ck_assert_int_eq(ns_sock_local(stack, h, &e), -EBADF);
	ck_assert_int_eq(ns_sock_remote(stack, h, &e), -EBADF);
	ck_assert_uint_eq(ns_sock_send_room(stack, h), 0);
	ck_assert_int_eq(ns_sock_send_reserve(stack, h, 1, &iov, 1), -EBADF);
	ns_sock_send_commit(stack, h, 1, false);
	ck_assert_int_eq(ns_sock_recv_peek(stack, h, &iov, 1), -EBADF);
	ns_sock_recv_consume(stack, h, 1);
	ck_assert(!ns_sock_is_eof(stack, h));
	ns_sock_shutdown_send(stack, h);
	ck_assert_int_eq(ns_sock_setopt(stack, h, NS_TCP_NODELAY, 1), -EBADF);
	ck_assert_int_eq(ns_sock_getopt(stack, h, NS_TCP_NODELAY, &value), -EBADF);
	ck_assert_int_eq(ns_sock_tcp_info(stack, h, (struct mono){ 0 }, &info), -EBADF);
	ns_sock_set_user(stack, h, &value);
	ck_assert_ptr_null(ns_sock_user(stack, h));
	ns_sock_close(stack, h);
	ns_sock_abort(stack, h);
}

START_TEST(handles_that_never_were_are_refused)
{
	static const ns_sock bad[] = { 0, 1, 63, 64, 1u << 20, (1u << 20) - 1, UINT32_MAX };

	for (size_t i = 0; i < NS_ARRAY_LEN(bad); i++)
		expect_stale(bad[i]);
	open_one();
	expect_stale(0);
	expect_stale(UINT32_MAX);
	ck_assert_uint_eq(conns[0].closed + conns[0].aborted, 0);
}
END_TEST

START_TEST(a_closed_handle_is_stale_also_when_its_slot_lives_again)
{
	ns_sock first = open_one(), all[CAP];

	ns_sock_close(stack, first);
	ck_assert_uint_eq(conns[0].closed, 1);
	ck_assert_ptr_null(conns[0].user);
	expect_stale(first);
	for (uint32_t i = 0; i < CAP; i++)
		all[i] = open_one();
	expect_stale(first);
	for (uint32_t i = 1; i <= CAP; i++)
		ck_assert_uint_eq(conns[i].closed + conns[i].aborted, 0);
	for (uint32_t i = 0; i < CAP; i++)
		ns_sock_abort(stack, all[i]);
	for (uint32_t i = 1; i <= CAP; i++)
		ck_assert_uint_eq(conns[i].aborted, 1);
}
END_TEST

START_TEST(a_slot_is_not_the_same_handle_again_for_a_long_time)
{
	ns_sock first = open_one(), h = 0;

	ns_sock_close(stack, first);
	for (uint32_t i = 0; i < 50000; i++) {
		h = open_one();
		ck_assert_uint_ne(h, first);
		ns_sock_close(stack, h);
	}
}
END_TEST

START_TEST(at_the_cap_open_and_accept_are_refused_and_counted)
{
	ns_sock h = 0, child = 0, all[CAP];

	for (uint32_t i = 0; i < CAP; i++)
		all[i] = open_one();
	ck_assert_int_eq(ns_sock_open(stack, &h), -ENFILE);
	conns[0].last = NULL;
	ck_assert_int_eq(ns_sock_accept(stack, all[0], &child), -ENFILE);
	ck_assert_ptr_null(conns[0].last); /* the connection stays in its queue */
	ck_assert_uint_eq(stats.stat[STAT_SOCK_REFUSED], 2);
	ck_assert_uint_eq(stats.stat[STAT_SOCK_OPEN], CAP);
	ns_sock_close(stack, all[7]);
	ck_assert_int_eq(ns_sock_open(stack, &h), 0);
}
END_TEST

START_TEST(a_transport_that_refuses_leaves_no_socket)
{
	ns_sock l = open_one(), h = 0;

	open_err = -ENOBUFS;
	accept_err = -EAGAIN;
	for (uint32_t i = 0; i < 3 * CAP; i++) {
		ck_assert_int_eq(ns_sock_open(stack, &h), -ENOBUFS);
		ck_assert_int_eq(ns_sock_accept(stack, l, &h), -EAGAIN);
	}
	ck_assert_uint_eq(h, 0);
	open_err = 0;
	for (uint32_t i = 1; i < CAP; i++)
		open_one();
}
END_TEST

START_TEST(news_are_told_once_and_all_together_in_order_of_arrival)
{
	ns_sock a = open_one(), b = open_one();
	struct ns_event e;
	int word;

	ns_sock_set_user(stack, b, &word);
	ck_assert_ptr_eq(ns_sock_user(stack, b), &word);
	ck_assert(!socks_have_events(table));
	tell(&conns[1], NS_EV_CONNECTED, 0);
	tell(&conns[0], NS_EV_IN, 0);
	tell(&conns[1], NS_EV_OUT, 0);
	tell(&conns[1], NS_EV_IN, 0);
	ck_assert(socks_have_events(table));
	ck_assert(ns_stack_next_event(stack, &e));
	ck_assert_uint_eq(e.sock, b);
	ck_assert_uint_eq(e.mask, NS_EV_CONNECTED | NS_EV_OUT | NS_EV_IN);
	ck_assert_ptr_eq(e.user, &word);
	ck_assert_int_eq(e.err, 0);
	ck_assert(ns_stack_next_event(stack, &e));
	ck_assert_uint_eq(e.sock, a);
	ck_assert_uint_eq(e.mask, NS_EV_IN);
	ck_assert_ptr_null(e.user);
	ck_assert(!ns_stack_next_event(stack, &e));
	ck_assert(!socks_have_events(table));
	tell(&conns[0], NS_EV_IN, 0);
	ck_assert(ns_stack_next_event(stack, &e));
	ck_assert_uint_eq(e.sock, a);
}
END_TEST

START_TEST(the_first_error_is_told_with_what_came_before_it)
{
	struct ns_event e;

	open_one();
	tell(&conns[0], NS_EV_IN, 0);
	tell(&conns[0], NS_EV_ERR, -ECONNRESET);
	tell(&conns[0], NS_EV_ERR, -ETIMEDOUT);
	ck_assert(ns_stack_next_event(stack, &e));
	ck_assert_uint_eq(e.mask, NS_EV_IN | NS_EV_ERR);
	ck_assert_int_eq(e.err, -ECONNRESET);
}
END_TEST

START_TEST(a_closed_socket_has_no_news)
{
	ns_sock a = open_one();
	struct ns_event e;

	tell(&conns[0], NS_EV_IN, 0);
	ns_sock_close(stack, a);
	ck_assert(!ns_stack_next_event(stack, &e));
	sock_user_ops.event(NULL, NS_EV_IN, 0); /* nobody to tell */
	ck_assert(!ns_stack_next_event(stack, &e));
}
END_TEST

START_TEST(an_accepted_socket_looks_once_at_what_came_before_it)
{
	ns_sock l = open_one(), child = 0;
	struct ns_event e;

	ck_assert_int_eq(ns_sock_accept(stack, l, &child), 0);
	ck_assert_uint_ne(child, l);
	ck_assert_ptr_nonnull(conns[1].user);
	ns_sock_set_user(stack, child, &child);
	ck_assert(ns_stack_next_event(stack, &e));
	ck_assert_uint_eq(e.sock, child);
	ck_assert_ptr_eq(e.user, &child);
	ck_assert_uint_eq(e.mask & (NS_EV_IN | NS_EV_OUT), NS_EV_IN | NS_EV_OUT);
}
END_TEST

START_TEST(calls_are_passed_on_with_their_arguments_and_answers)
{
	ns_sock h = open_one();
	struct ns_endpoint e = { .port = 5 };
	struct ns_iov iov[2];
	struct ns_tcp_info info;
	int value = 0;

	ck_assert_int_eq(ns_sock_bind(stack, h, &e), -5);
	ck_assert_int_eq(ns_sock_listen(stack, h, 9), -9);
	ck_assert_int_eq(ns_sock_connect(stack, h, &e, (struct mono){ 6 }), -11);
	ck_assert_int_eq(ns_sock_local(stack, h, &e), 0);
	ck_assert_uint_eq(e.port, 77);
	ck_assert_int_eq(ns_sock_remote(stack, h, &e), 0);
	ck_assert_uint_eq(ns_sock_send_room(stack, h), 1234);
	ck_assert_int_eq(ns_sock_send_reserve(stack, h, 10, iov, 2), 2);
	ck_assert_uint_eq(iov[0].len, 10);
	ns_sock_send_commit(stack, h, 10, true);
	ck_assert_int_eq(conns[0].value, 21);
	ck_assert_int_eq(ns_sock_recv_peek(stack, h, iov, 2), 2);
	ck_assert_uint_eq(iov[0].len, 5);
	ns_sock_recv_consume(stack, h, 3);
	ck_assert_int_eq(conns[0].value, 3);
	conns[0].is_eof = true;
	ck_assert(ns_sock_is_eof(stack, h));
	ns_sock_shutdown_send(stack, h);
	ck_assert_str_eq(conns[0].last, "shutdown");
	ck_assert_int_eq(ns_sock_setopt(stack, h, NS_SO_KEEPALIVE, 4), NS_SO_KEEPALIVE * 100 + 4);
	ck_assert_int_eq(ns_sock_getopt(stack, h, NS_TCP_CORK, &value), 0);
	ck_assert_int_eq(value, NS_TCP_CORK);
	ck_assert_int_eq(ns_sock_tcp_info(stack, h, (struct mono){ 8 }, &info), 0);
	ck_assert_uint_eq(info.rto_us, 8);
}
END_TEST

START_TEST(options_that_do_not_exist_never_reach_the_transport)
{
	ns_sock h = open_one();
	int value = 0;

	conns[0].last = NULL;
	ck_assert_int_eq(ns_sock_setopt(stack, h, NS_SOCKOPT_COUNT, 1), -ENOPROTOOPT);
	ck_assert_int_eq(ns_sock_getopt(stack, h, NS_SOCKOPT_COUNT, &value), -ENOPROTOOPT);
	ck_assert_ptr_null(conns[0].last);
}
END_TEST

static void count_row(void *ctx, const struct ns_sock_row *row)
{
	ns_sock *got = ctx;

	got[got[0]++] = row->sock;
}

START_TEST(rows_carry_the_handle_where_there_is_one)
{
	ns_sock a = open_one(), b = open_one(), got[4] = { 1 };

	ns_sock_close(stack, a);
	ns_stack_sockets(stack, count_row, got);
	ck_assert_uint_eq(got[0], 3);
	ck_assert_uint_eq(got[1], 0);
	ck_assert_uint_eq(got[2], b);
}
END_TEST

Suite *sock_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("sock/sock", setup, teardown, &s);

	tcase_add_test(c, handles_that_never_were_are_refused);
	tcase_add_test(c, a_closed_handle_is_stale_also_when_its_slot_lives_again);
	tcase_add_test(c, a_slot_is_not_the_same_handle_again_for_a_long_time);
	tcase_add_test(c, at_the_cap_open_and_accept_are_refused_and_counted);
	tcase_add_test(c, a_transport_that_refuses_leaves_no_socket);
	tcase_add_test(c, news_are_told_once_and_all_together_in_order_of_arrival);
	tcase_add_test(c, the_first_error_is_told_with_what_came_before_it);
	tcase_add_test(c, a_closed_socket_has_no_news);
	tcase_add_test(c, an_accepted_socket_looks_once_at_what_came_before_it);
	tcase_add_test(c, calls_are_passed_on_with_their_arguments_and_answers);
	tcase_add_test(c, options_that_do_not_exist_never_reach_the_transport);
	tcase_add_test(c, rows_carry_the_handle_where_there_is_one);
	return s;
}
