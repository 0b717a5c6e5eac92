/* SPDX-License-Identifier: Apache-2.0 */
/* test_demux.c - net/demux.c: four-tuples, bind rules as Linux has them, ports given out */
#include <errno.h>
#include <string.h>

#include "net/proto.h"
#include "suites.h"

enum {
	CONNS = 5000,
	RANGE_MIN = 32768,
	RANGE_MAX = 60999,
};

static struct demux *d;
static const struct hash_key key = { { 1, 2 } };

static void setup(void)
{
	d = demux_new(&key, 65536, 65536);
	ck_assert_ptr_nonnull(d);
}

static void teardown(void)
{
	demux_free(d);
}

static struct ns_endpoint ep(uint32_t addr, uint16_t port)
{
	return (struct ns_endpoint){ .addr = ns_addr_v4(addr), .port = port };
}

START_TEST(thousands_of_connections_are_each_found_and_no_other)
{
	static struct demux_conn conns[CONNS];
	struct demux_key k;

	for (uint32_t i = 0; i < CONNS; i++) {
		conns[i].key =
			(struct demux_key){ ep(0x0a090002, 80),
					    ep(0x0a000000 + i / 50, (uint16_t)(1000 + i % 50)) };
		ck_assert_int_eq(demux_add_conn(d, &conns[i]), 0);
	}
	for (uint32_t i = 0; i < CONNS; i++)
		ck_assert_ptr_eq(demux_find_conn(d, &conns[i].key), &conns[i]);
	k = conns[7].key;
	k.local.port = 81;
	ck_assert_ptr_null(demux_find_conn(d, &k));
	for (uint32_t i = 0; i < CONNS; i += 2)
		demux_del_conn(d, &conns[i]);
	for (uint32_t i = 0; i < CONNS; i++)
		ck_assert_ptr_eq(demux_find_conn(d, &conns[i].key), i % 2 ? &conns[i] : NULL);
	for (uint32_t i = 1; i < CONNS; i += 2)
		demux_del_conn(d, &conns[i]);
}
END_TEST

START_TEST(a_taken_four_tuple_is_refused)
{
	struct demux_conn a = { .key = { ep(1, 1), ep(2, 2) } }, b = a;

	ck_assert_int_eq(demux_add_conn(d, &a), 0);
	ck_assert_int_eq(demux_add_conn(d, &b), -EEXIST);
	demux_del_conn(d, &a);
	ck_assert_int_eq(demux_add_conn(d, &b), 0);
	demux_del_conn(d, &b);
}
END_TEST

/*
 * What Linux 6.18 answers, each row tried there with two TCP sockets: the first as given, then bind()
 * and listen() of the second.
 */
static const struct bind_row {
	uint32_t addr_a, addr_b;
	bool reuse_a, reuse_b; /* SO_REUSEADDR */
	bool rport_a, rport_b; /* SO_REUSEPORT */
	bool is_listening_a;
	int bind_b, listen_b; /* listen_b: only when bind_b is 0 */
} bind_rows[] = {
	/* same address, no options */
	{ 1, 1, false, false, false, false, false, -EADDRINUSE, 0 },
	{ 1, 1, false, false, false, false, true, -EADDRINUSE, 0 },
	/* two addresses */
	{ 1, 2, false, false, false, false, true, 0, 0 },
	/* any meets every address */
	{ 0, 1, false, false, false, false, false, -EADDRINUSE, 0 },
	{ 1, 0, false, false, false, false, false, -EADDRINUSE, 0 },
	{ 0, 0, false, false, false, false, false, -EADDRINUSE, 0 },
	/* reuseaddr on one side is none */
	{ 1, 1, true, false, false, false, false, -EADDRINUSE, 0 },
	{ 1, 1, false, true, false, false, false, -EADDRINUSE, 0 },
	/* on both: shared until one listens */
	{ 1, 1, true, true, false, false, false, 0, 0 },
	{ 0, 1, true, true, false, false, false, 0, 0 },
	{ 1, 1, true, true, false, false, true, -EADDRINUSE, 0 },
	{ 0, 1, true, true, false, false, true, -EADDRINUSE, 0 },
	/* reuseport on both: shared, listening too */
	{ 1, 1, false, false, true, true, true, 0, 0 },
	{ 0, 0, false, false, true, true, true, 0, 0 },
	{ 1, 1, false, false, true, false, true, -EADDRINUSE, 0 },
	{ 1, 1, true, true, true, false, true, -EADDRINUSE, 0 },
};

START_TEST(bind_and_listen_conflict_as_in_linux)
{
	const struct bind_row *r = &bind_rows[_i];
	struct demux_bind a = { .reuseaddr = r->reuse_a, .reuseport = r->rport_a };
	struct demux_bind b = { .reuseaddr = r->reuse_b, .reuseport = r->rport_b };
	struct ns_endpoint at_a = ep(r->addr_a, 80), at_b = ep(r->addr_b, 80);

	ck_assert_int_eq(demux_bind_port(d, &a, &at_a, 0), 0);
	if (r->is_listening_a)
		ck_assert_int_eq(demux_listen(d, &a), 0);
	ck_assert_int_eq(demux_bind_port(d, &b, &at_b, 0), r->bind_b);
	if (r->bind_b == 0)
		ck_assert_int_eq(demux_listen(d, &b), r->listen_b);
	demux_unbind(d, &b);
	demux_unbind(d, &a);
	/* what is given back is free */
	ck_assert_int_eq(demux_bind_port(d, &b, &at_b, 0), 0);
	demux_unbind(d, &b);
}
END_TEST

START_TEST(of_two_that_share_by_reuseaddr_only_one_may_listen)
{
	struct demux_bind a = { .reuseaddr = true }, b = a;
	struct ns_endpoint at = ep(1, 80);

	ck_assert_int_eq(demux_bind_port(d, &a, &at, 0), 0);
	ck_assert_int_eq(demux_bind_port(d, &b, &at, 0), 0);
	ck_assert_int_eq(demux_listen(d, &a), 0);
	ck_assert_int_eq(demux_listen(d, &a),
			 0); /* again: a new backlog, no conflict with itself */
	ck_assert_int_eq(demux_listen(d, &b), -EADDRINUSE);
	demux_unbind(d, &a);
	ck_assert_int_eq(demux_listen(d, &b), 0);
	demux_unbind(d, &b);
}
END_TEST

static struct demux_bind *listener_for(uint32_t addr, uint16_t port, uint32_t remote)
{
	struct demux_key k = { ep(addr, port), ep(remote, 4000) };

	return demux_find_listener(d, &k, 0);
}

START_TEST(a_listener_of_one_link_hears_by_it_alone_and_first)
{
	struct demux_bind any = { 0 }, two = { .ifindex = 2 }, three = { .ifindex = 3 };
	struct ns_endpoint at = ep(0, 80);
	struct demux_key k = { ep(0x0a000001, 80), ep(0x0a000002, 4000) };

	ck_assert_int_eq(demux_bind_port(d, &two, &at, 0), 0);
	ck_assert_int_eq(demux_bind_port(d, &three, &at, 0), 0);
	ck_assert_int_eq(demux_bind_port(d, &any, &at, 0), -EADDRINUSE);
	ck_assert_int_eq(demux_listen(d, &two), 0);
	ck_assert_int_eq(demux_listen(d, &three), 0);
	ck_assert_ptr_eq(demux_find_listener(d, &k, 2), &two);
	ck_assert_ptr_eq(demux_find_listener(d, &k, 3), &three);
	ck_assert_ptr_null(demux_find_listener(d, &k, 4));
	/* beside one of any link, where both allow it */
	demux_unbind(d, &three);
	two.reuseport = any.reuseport = true;
	ck_assert_int_eq(demux_bind_port(d, &any, &at, 0), 0);
	ck_assert_int_eq(demux_listen(d, &any), 0);
	ck_assert_ptr_eq(demux_find_listener(d, &k, 4), &any);
	ck_assert_ptr_eq(demux_find_listener(d, &k, 2), &two);
	demux_unbind(d, &two);
	demux_unbind(d, &any);
}
END_TEST

START_TEST(a_listener_of_the_exact_address_is_found_before_any)
{
	struct demux_bind any = { .reuseport = true }, one = any, bound = any;
	struct ns_endpoint at_any = ep(0, 80), at_one = ep(1, 80);

	ck_assert_int_eq(demux_bind_port(d, &any, &at_any, 0), 0);
	ck_assert_int_eq(demux_bind_port(d, &one, &at_one, 0), 0);
	ck_assert_int_eq(demux_bind_port(d, &bound, &at_one, 0), 0); /* does not listen */
	ck_assert_ptr_null(listener_for(1, 80, 9));
	ck_assert_int_eq(demux_listen(d, &any), 0);
	ck_assert_ptr_eq(listener_for(1, 80, 9), &any);
	ck_assert_int_eq(demux_listen(d, &one), 0);
	ck_assert_ptr_eq(listener_for(1, 80, 9), &one);
	ck_assert_ptr_eq(listener_for(2, 80, 9), &any);
	ck_assert_ptr_null(listener_for(1, 81, 9));
	demux_unbind(d, &one);
	ck_assert_ptr_eq(listener_for(1, 80, 9), &any);
	demux_unbind(d, &any);
	demux_unbind(d, &bound);
	ck_assert_ptr_null(listener_for(1, 80, 9));
}
END_TEST

START_TEST(reuseport_listeners_share_connections_and_keep_each)
{
	struct demux_bind l[4];
	struct ns_endpoint at = ep(0, 80);
	uint32_t got[4] = { 0 };

	memset(l, 0, sizeof(l));
	for (int i = 0; i < 4; i++) {
		l[i].reuseport = true;
		ck_assert_int_eq(demux_bind_port(d, &l[i], &at, 0), 0);
		ck_assert_int_eq(demux_listen(d, &l[i]), 0);
	}
	for (uint32_t i = 0; i < 4000; i++) {
		const struct demux_bind *b = listener_for(1, 80, i);

		got[b - l]++;
		ck_assert_ptr_eq(listener_for(1, 80, i), b);
	}
	for (int i = 0; i < 4; i++) {
		ck_assert_uint_gt(got[i], 800);
		demux_unbind(d, &l[i]);
	}
}
END_TEST

START_TEST(port_zero_gives_the_free_ports_of_the_range_each_once)
{
	static struct demux_bind b[RANGE_MAX - RANGE_MIN + 2];
	struct ns_endpoint at = ep(1, 0);
	uint32_t total = RANGE_MAX - RANGE_MIN + 1, given = 0;
	static bool is_taken[65536];

	/* all but every hundredth are taken by name: the search must find each of the others */
	for (uint32_t i = 0; i < total; i++) {
		struct ns_endpoint named = ep(1, (uint16_t)(RANGE_MIN + i));

		if (i % 100 == 50)
			continue;
		ck_assert_int_eq(demux_bind_port(d, &b[i], &named, 0), 0);
		is_taken[named.port] = true;
	}
	for (uint32_t i = 50; i < total; i += 100, given++) {
		ck_assert_int_eq(demux_bind_port(d, &b[i], &at, i * 7), 0);
		ck_assert_uint_ge(b[i].local.port, RANGE_MIN);
		ck_assert_uint_le(b[i].local.port, RANGE_MAX);
		ck_assert(!is_taken[b[i].local.port]);
		is_taken[b[i].local.port] = true;
	}
	ck_assert_uint_gt(given, 250);
	ck_assert_int_eq(demux_bind_port(d, &b[total], &at, 0), -EADDRINUSE);
	for (uint32_t i = 0; i < total; i++)
		demux_unbind(d, &b[i]);
}
END_TEST

START_TEST(connections_to_two_remotes_may_share_a_port_but_not_a_tuple)
{
	static struct demux_conn c[RANGE_MAX - RANGE_MIN + 1];
	struct demux_bind b[3] = { { .is_bound = false } }, extra = { .is_bound = false };
	struct ns_addr local = ns_addr_v4(1);
	struct ns_endpoint r1 = ep(2, 80), r2 = ep(3, 80);
	uint32_t total = RANGE_MAX - RANGE_MIN + 1;

	/* every four-tuple to r1 is taken but three */
	for (uint32_t i = 3; i < total; i++) {
		c[i].key = (struct demux_key){ ep(1, (uint16_t)(RANGE_MIN + i)), r1 };
		ck_assert_int_eq(demux_add_conn(d, &c[i]), 0);
	}
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_int_eq(demux_bind_ephemeral(d, &b[i], &local, &r1, i), 0);
		ck_assert_uint_lt(b[i].local.port, RANGE_MIN + 3);
		c[i].key = (struct demux_key){ b[i].local, r1 };
		ck_assert_int_eq(demux_add_conn(d, &c[i]), 0);
	}
	ck_assert_int_eq(demux_bind_ephemeral(d, &extra, &local, &r1, 0), -EADDRNOTAVAIL);
	ck_assert_int_eq(demux_bind_ephemeral(d, &extra, &local, &r2, 0), 0);
	demux_unbind(d, &extra);
	for (uint32_t i = 0; i < total; i++)
		demux_del_conn(d, &c[i]);
	for (uint32_t i = 0; i < 3; i++)
		demux_unbind(d, &b[i]);
}
END_TEST

START_TEST(a_port_that_was_bound_by_name_is_not_given_out)
{
	struct demux_bind named[16], conn = { .is_bound = false };
	struct ns_addr local = ns_addr_v4(1);
	struct ns_endpoint remote = ep(2, 80);
	struct demux *other = demux_new(&key, 1, 1);

	/* two tables with one key give out the same port: what the first one gave is taken in the second */
	ck_assert_ptr_nonnull(other);
	memset(named, 0, sizeof(named));
	for (int i = 0; i < 16; i++) {
		struct ns_endpoint at;

		ck_assert_int_eq(demux_bind_ephemeral(other, &conn, &local, &remote, 0), 0);
		at = ep(i % 2 ? 1 : 0, conn.local.port);
		demux_unbind(other, &conn);
		ck_assert_int_eq(demux_bind_port(d, &named[i], &at, 0), 0);
	}
	demux_free(other);
	ck_assert_int_eq(demux_bind_ephemeral(d, &conn, &local, &remote, 0), 0);
	for (int i = 0; i < 16; i++)
		ck_assert_uint_ne(conn.local.port, named[i].local.port);
	demux_unbind(d, &conn);
	for (int i = 0; i < 16; i++)
		demux_unbind(d, &named[i]);
}
END_TEST

START_TEST(ports_to_one_remote_tell_nothing_of_those_to_another)
{
	struct demux_bind a = { .is_bound = false }, b = a;
	struct ns_addr local = ns_addr_v4(1);
	uint32_t near = 0;

	/* RFC 6056 3.3.3: the offset depends on the remote; only the counter is shared */
	for (uint32_t i = 0; i < 200; i++) {
		struct ns_endpoint r1 = ep(1000 + i, 80), r2 = ep(5000 + i, 80);

		ck_assert_int_eq(demux_bind_ephemeral(d, &a, &local, &r1, i), 0);
		ck_assert_int_eq(demux_bind_ephemeral(d, &b, &local, &r2, i), 0);
		near += (uint16_t)(b.local.port - a.local.port) < 64;
		demux_unbind(d, &a);
		demux_unbind(d, &b);
	}
	ck_assert_uint_lt(near, 8);
}
END_TEST

Suite *demux_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/demux", setup, teardown, &s);

	tcase_add_test(c, thousands_of_connections_are_each_found_and_no_other);
	tcase_add_test(c, a_taken_four_tuple_is_refused);
	tcase_add_loop_test(c, bind_and_listen_conflict_as_in_linux, 0, NS_ARRAY_LEN(bind_rows));
	tcase_add_test(c, of_two_that_share_by_reuseaddr_only_one_may_listen);
	tcase_add_test(c, a_listener_of_the_exact_address_is_found_before_any);
	tcase_add_test(c, a_listener_of_one_link_hears_by_it_alone_and_first);
	tcase_add_test(c, reuseport_listeners_share_connections_and_keep_each);
	tcase_add_test(c, port_zero_gives_the_free_ports_of_the_range_each_once);
	tcase_add_test(c, connections_to_two_remotes_may_share_a_port_but_not_a_tuple);
	tcase_add_test(c, a_port_that_was_bound_by_name_is_not_given_out);
	tcase_add_test(c, ports_to_one_remote_tell_nothing_of_those_to_another);
	return s;
}
