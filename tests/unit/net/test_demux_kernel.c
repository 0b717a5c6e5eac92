/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_demux_kernel.c - net/demux.c beside the kernel: bind() and listen() get the same answers
 *
 * Theory of operation
 *
 * Every step is done twice, with sockets of the kernel on loopback addresses and with the
 * demultiplexer, and the answers are compared. The port is one the kernel gave out for the test, so
 * nobody else's socket has a say. First every pair of sockets, then a few at random that come and go.
 *
 * Of the second sort one answer may differ. Once a port has been shared by reuseaddr or reuseport the kernel
 * remembers that, for as long as the port is in use at all, and lets the next socket with the option in
 * without a look at the others (linux net/ipv4/inet_connection_sock.c sk_reuseport_match(), tb->fastreuse),
 * whatever came in between. We always look. What the kernel refuses we refuse.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/proto.h"
#include "suites.h"

enum {
	SOCKS = 5,
};

/* A socket of both worlds. */
struct twin {
	int fd; /* -1: none */
	struct demux_bind bind;
};

static struct demux *d;
static struct twin twins[SOCKS];
static uint16_t port;
static int holder = -1; /* keeps the port from being given to others */

static const uint32_t addrs[] = { INADDR_ANY, 0x7f000001, 0x7f000002 };

static struct sockaddr_in sin_of(uint32_t addr, uint16_t p)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(p),
				     .sin_addr = { htonl(addr) } };
}

/* A port free of everything: the kernel gives one out for an address that no case uses. */
static void setup(void)
{
	static const struct hash_key key = { { 3, 4 } };
	struct sockaddr_in sin = sin_of(0x7f000003, 0);
	socklen_t len = sizeof(sin);

	d = demux_new(&key, 16, 16);
	ck_assert_ptr_nonnull(d);
	for (int i = 0; i < SOCKS; i++)
		twins[i].fd = -1;
	holder = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(holder, 0);
	ck_assert_int_eq(bind(holder, (struct sockaddr *)&sin, sizeof(sin)), 0);
	ck_assert_int_eq(getsockname(holder, (struct sockaddr *)&sin, &len), 0);
	port = ntohs(sin.sin_port);
	close(holder);
}

static void twin_close(struct twin *t)
{
	if (t->fd < 0)
		return;
	demux_unbind(d, &t->bind);
	close(t->fd);
	t->fd = -1;
}

static void teardown(void)
{
	for (int i = 0; i < SOCKS; i++)
		twin_close(&twins[i]);
	demux_free(d);
}

static void twin_open(struct twin *t, bool reuseaddr, bool reuseport)
{
	int addr = reuseaddr, p = reuseport;

	t->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(t->fd, 0);
	ck_assert_int_eq(setsockopt(t->fd, SOL_SOCKET, SO_REUSEADDR, &addr, sizeof(addr)), 0);
	ck_assert_int_eq(setsockopt(t->fd, SOL_SOCKET, SO_REUSEPORT, &p, sizeof(p)), 0);
	t->bind = (struct demux_bind){ .reuseaddr = reuseaddr, .reuseport = reuseport };
}

/* The first socket whose answers differed, and all that were there. */
static void disagree(const char *verb, const struct twin *t, int kernel, int ours)
{
	char text[512] = "";
	size_t len = 0;

	for (const struct twin *o = twins; o < twins + SOCKS; o++)
		if (o->fd >= 0 && (o == t || o->bind.is_bound))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "\n  %s%#x%s%s%s",
						o == t ? verb : "beside ",
						ns_addr_to_v4(&o->bind.local.addr),
						o->bind.reuseaddr ? " reuseaddr" : "",
						o->bind.reuseport ? " reuseport" : "",
						o->bind.is_listening ? " listening" : "");
	ck_abort_msg("the kernel says %s, we say %s:%s", strerror(-kernel), strerror(-ours), text);
}

/* bind() in both worlds; 0 when both let it. */
static int twin_bind(struct twin *t, uint32_t addr, bool is_lenient)
{
	struct sockaddr_in sin = sin_of(addr, port);
	struct ns_endpoint at = { .addr = ns_addr_v4(addr), .port = port };
	int kernel = bind(t->fd, (struct sockaddr *)&sin, sizeof(sin)) < 0 ? -errno : 0;
	int ours = demux_bind_port(d, &t->bind, &at, 0);

	t->bind.local = at;
	if (kernel != ours &&
	    !(is_lenient && kernel == 0 && (t->bind.reuseaddr || t->bind.reuseport)))
		disagree("bind ", t, kernel, ours);
	return kernel < 0 ? kernel : ours;
}

static int twin_listen(struct twin *t)
{
	int kernel = listen(t->fd, 1) < 0 ? -errno : 0;
	int ours = demux_listen(d, &t->bind);

	if (kernel != ours)
		disagree("listen ", t, kernel, ours);
	return kernel;
}

START_TEST(pairs_bind_and_listen_as_the_kernels_do)
{
	struct twin *a = &twins[0], *b = &twins[1];

	for (uint32_t bits = 0; bits < 32; bits++)
		for (size_t i = 0; i < NS_ARRAY_LEN(addrs); i++)
			for (size_t k = 0; k < NS_ARRAY_LEN(addrs); k++) {
				twin_open(a, bits & 1, bits & 2);
				twin_open(b, bits & 4, bits & 8);
				ck_assert_int_eq(twin_bind(a, addrs[i], false), 0);
				if (bits & 16)
					ck_assert_int_eq(twin_listen(a), 0);
				if (twin_bind(b, addrs[k], false) == 0) {
					(void)twin_listen(b);
					(void)twin_listen(a);
				}
				twin_close(a);
				twin_close(b);
			}
}
END_TEST

START_TEST(sockets_that_come_and_go_are_refused_what_the_kernel_refuses)
{
	struct prng rnd = { 4000 + (uint64_t)_i };

	for (int step = 0; step < 4000; step++) {
		struct twin *t = &twins[prng_below(&rnd, SOCKS)];

		if (t->fd < 0) {
			/* mostly the flags of servers, so that sharing happens */
			uint64_t flags = prng_below(&rnd, 8);

			twin_open(t, flags & 1, flags >= 4);
		} else if (!t->bind.is_bound) {
			if (twin_bind(t, addrs[prng_below(&rnd, NS_ARRAY_LEN(addrs))], true) < 0)
				twin_close(t); /* bound in one world only, perhaps */
		} else if (!t->bind.is_listening && prng_hit(&rnd, 400000)) {
			if (twin_listen(t) < 0)
				twin_close(
					t); /* listen() that failed leaves the kernel's unbound */
		} else {
			twin_close(t);
		}
	}
}
END_TEST

Suite *demux_kernel_suite(void)
{
	Suite *s;
	TCase *t = unit_suite("net/demux beside the kernel", setup, teardown, &s);

	tcase_add_test(t, pairs_bind_and_listen_as_the_kernels_do);
	tcase_add_loop_test(t, sockets_that_come_and_go_are_refused_what_the_kernel_refuses, 0, 8);
	return s;
}
