/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_sock.c - daemon/agent/agent_sock.c: the table of the container's sockets */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "daemon/agent/agent_sock.h"

static struct asock_table table;
static uint32_t freed;

static void on_free(void *ctx, struct asock *s)
{
	ck_assert_ptr_eq(ctx, &freed);
	ck_assert_ptr_null(asock_find(&table, s->ino));
	freed++;
}

static void setup_cap(uint32_t cap)
{
	freed = 0;
	ck_assert_int_eq(asock_table_init(&table, cap, on_free, &freed), 0);
}

static void setup(void)
{
	setup_cap(8192);
}

static void teardown(void)
{
	asock_table_done(&table);
}

static struct asock *new_sock(uint64_t ino)
{
	return asock_new(&table, ino, -1, AF_INET);
}

static struct asock *new_dead(uint64_t ino)
{
	struct asock *s = new_sock(ino);

	asock_set_state(&table, s, ASOCK_CONNECTING);
	asock_set_state(&table, s, ASOCK_DEAD);
	return s;
}

START_TEST(socket_is_found_by_inode_and_by_handle)
{
	struct asock *a = new_sock(100), *b = new_sock(100 + 8192), *c = new_sock(5000000000ull);

	ck_assert_ptr_eq(asock_find(&table, 100), a);
	ck_assert_ptr_eq(asock_find(&table, 100 + 8192), b); /* the same bucket */
	ck_assert_ptr_eq(asock_find(&table, 5000000000ull), c);
	ck_assert_ptr_null(asock_find(&table, 101));
	ck_assert_ptr_eq(asock_find_handle(&table, b->handle), b);
	asock_free(&table, a);
	ck_assert_ptr_eq(asock_find(&table, 100 + 8192), b);
	ck_assert_uint_eq(freed, 1);
	ck_assert_uint_eq(table.cnt, 2);
}
END_TEST

START_TEST(handle_of_a_freed_socket_meets_nobody)
{
	uint32_t old = new_sock(1)->handle;

	for (uint32_t i = 0; i < 70000; i++) {
		struct asock *s = asock_find(&table, 1);

		asock_free(&table, s);
		s = new_sock(1);
		ck_assert_uint_ne(s->handle, 0);
		if (i < 60000)
			ck_assert_ptr_null(asock_find_handle(&table, old));
	}
	ck_assert_ptr_null(asock_find_handle(&table, 0));
	ck_assert_ptr_null(asock_find_handle(&table, 0xffffffff));
}
END_TEST

START_TEST(inode_seen_again_replaces_the_tombstone)
{
	uint32_t old = new_dead(7)->handle;
	struct asock *s = new_sock(7);

	ck_assert_uint_eq(freed, 1);
	ck_assert_ptr_eq(asock_find(&table, 7), s);
	ck_assert_ptr_null(asock_find_handle(&table, old));
	ck_assert_uint_eq(table.dead_cnt, 0);
}
END_TEST

START_TEST(tombstones_are_bounded_and_the_oldest_goes)
{
	for (uint64_t i = 0; i < ASOCK_DEAD_MAX + 10; i++)
		new_dead(1000 + i);
	ck_assert_uint_eq(table.dead_cnt, ASOCK_DEAD_MAX);
	ck_assert_uint_eq(freed, 10);
	ck_assert_ptr_null(asock_find(&table, 1009));
	ck_assert_ptr_nonnull(asock_find(&table, 1010));
}
END_TEST

START_TEST(full_table_gives_up_tombstones_before_it_refuses)
{
	teardown();
	setup_cap(4);
	new_sock(1);
	new_sock(2);
	new_sock(3);
	new_dead(4);
	ck_assert_ptr_nonnull(new_sock(5));
	ck_assert_ptr_null(asock_find(&table, 4));
	ck_assert_ptr_null(new_sock(6));
	asock_free(&table, asock_find(&table, 1));
	ck_assert_ptr_nonnull(new_sock(6));
}
END_TEST

START_TEST(illegal_move_traps)
{
	static const struct {
		enum asock_state path[3];
	} bad[] = {
		{ { ASOCK_LISTEN, ASOCK_ESTABLISHED } },
		{ { ASOCK_ESTABLISHED, ASOCK_LISTEN } },
		{ { ASOCK_LISTEN, ASOCK_IDLE } },
		{ { ASOCK_DEAD } },
	};
	struct asock *s = new_sock(1);

	for (int i = 0; i < 3 && bad[_i].path[i] != ASOCK_IDLE; i++)
		asock_set_state(&table, s, bad[_i].path[i]);
	asock_set_state(&table, s, ASOCK_IDLE);
}
END_TEST

START_TEST(accept_queue_keeps_order_and_is_bounded)
{
	struct asock *s = new_sock(1);
	struct ns_endpoint ep = { .port = 1 };
	uint32_t i;

	ck_assert_ptr_null(asock_queue_first(s));
	asock_queue_pop(s);
	for (i = 1; i <= ASOCK_BACKLOG_MAX; i++)
		ck_assert_int_eq(asock_queue_push(s, i, &ep, &ep), 0);
	ck_assert_int_eq(asock_queue_push(s, i, &ep, &ep), -ENOSPC);
	for (i = 1; i <= 10; i++) {
		ck_assert_uint_eq(asock_queue_first(s)->conn, i);
		asock_queue_pop(s);
	}
	ck_assert_uint_eq(s->accept_cnt, ASOCK_BACKLOG_MAX - 10);
	asock_queue_clear(s);
	ck_assert_uint_eq(s->accept_cnt, 0);
}
END_TEST

START_TEST(memo_matches_only_the_same_call_at_once)
{
	struct asock *s = new_sock(1);
	const uint64_t args[] = { 3, 0x1000, 16, 0 }, other[] = { 3, 0x1000, 16, 1 };
	struct mono t0 = { NS_PER_SEC }, late = mono_add(t0, ASOCK_MEMO_NS + 1);
	int64_t answer = 1;

	ck_assert(!asock_memo_match(s, 10, 49, 0x400000, args, t0, &answer));
	asock_memo_set(s, 10, 49, 0x400000, args, -EINPROGRESS, t0);
	ck_assert(asock_memo_match(s, 10, 49, 0x400000, args, t0, &answer));
	ck_assert_int_eq(answer, -EINPROGRESS);
	ck_assert(!asock_memo_match(s, 11, 49, 0x400000, args, t0, &answer));
	ck_assert(!asock_memo_match(s, 10, 50, 0x400000, args, t0, &answer));
	ck_assert(!asock_memo_match(s, 10, 49, 0x400002, args, t0, &answer));
	ck_assert(!asock_memo_match(s, 10, 49, 0x400000, other, t0, &answer));
	ck_assert(!asock_memo_match(s, 10, 49, 0x400000, args, late, &answer));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent_sock");
	TCase *t = tcase_create("agent_sock");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, socket_is_found_by_inode_and_by_handle);
	tcase_add_test(t, handle_of_a_freed_socket_meets_nobody);
	tcase_add_test(t, inode_seen_again_replaces_the_tombstone);
	tcase_add_test(t, tombstones_are_bounded_and_the_oldest_goes);
	tcase_add_test(t, full_table_gives_up_tombstones_before_it_refuses);
	tcase_add_loop_test_raise_signal(t, illegal_move_traps, SIGILL, 0, 4);
	tcase_add_test(t, accept_queue_keeps_order_and_is_bounded);
	tcase_add_test(t, memo_matches_only_the_same_call_at_once);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
