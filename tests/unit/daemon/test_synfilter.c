/* SPDX-License-Identifier: Apache-2.0 */
/* test_synfilter.c - the kernel runs both filters over frames: each frame comes out of exactly one */
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/netconf/synfilter.h"
#include "unit/unit.h"

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, URG = 32, ECE = 64, CWR = 128 };
enum { V4_LEN = 54, V6_LEN = 74 };

static int others[2], syns[2]; /* sent to [0], filtered before [1] */
static uint8_t frame[200];

static void setup(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, others), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, syns), 0);
	ck_assert_int_eq(synfilter_attach(others[1], false), 0);
	ck_assert_int_eq(synfilter_attach(syns[1], true), 0);
}

static void teardown(void)
{
	for (int i = 0; i < 2; i++) {
		close(others[i]);
		close(syns[i]);
	}
}

static bool passes(const int fds[2], size_t len)
{
	uint8_t got[sizeof(frame) + 1];
	ssize_t n;

	/* AF_UNIX says of what the receiver's filter refuses that it was sent */
	ck_assert_int_eq(send(fds[0], frame, len, 0), (ssize_t)len);
	n = recv(fds[1], got, sizeof(got), MSG_DONTWAIT);
	if (n < 0)
		return false;
	ck_assert_int_eq(n, (ssize_t)len); /* and nothing is cut off */
	return true;
}

/** is_syn() - which of the two the first @len octets of the frame come out of */
static bool is_syn(size_t len)
{
	bool is = passes(syns, len);

	ck_assert_int_eq(passes(others, len), !is);
	return is;
}

static void ip4(uint8_t flags, uint8_t ihl)
{
	memset(frame, 0, sizeof(frame));
	frame[12] = 0x08;
	frame[14] = 0x40 | ihl;
	frame[23] = 6;
	frame[14 + ihl * 4 + 13] = flags;
}

static void ip6(uint8_t flags)
{
	memset(frame, 0, sizeof(frame));
	frame[12] = 0x86;
	frame[13] = 0xdd;
	frame[14] = 0x60;
	frame[20] = 6;
	frame[14 + 40 + 13] = flags;
}

START_TEST(requests_to_connect_are_syn_without_ack_rst_and_fin)
{
	for (int flags = 0; flags < 256; flags++) {
		bool want = (flags & (FIN | SYN | RST | ACK)) == SYN;

		ip4((uint8_t)flags, 5);
		ck_assert_int_eq(is_syn(V4_LEN), want);
		ip4((uint8_t)flags, 15);
		ck_assert_int_eq(is_syn(V4_LEN + 40), want);
		ip6((uint8_t)flags);
		ck_assert_int_eq(is_syn(V6_LEN), want);
	}
	ip4(SYN | ECE | CWR, 5); /* RFC 3168 6.1.1 */
	ck_assert(is_syn(V4_LEN + 100));
}
END_TEST

START_TEST(fragments_other_protocols_and_tags_are_no_requests)
{
	ip4(SYN, 5);
	frame[20] = 0x20; /* more fragments */
	ck_assert(!is_syn(V4_LEN));
	frame[20] = 0;
	frame[21] = 1; /* not the first */
	ck_assert(!is_syn(V4_LEN));
	frame[20] = 0x40; /* but not to be cut, and not the first */
	ck_assert(!is_syn(V4_LEN));
	frame[21] = 0;
	ck_assert(is_syn(V4_LEN));
	frame[23] = 17;
	ck_assert(!is_syn(V4_LEN));
	ip4(SYN, 5);
	frame[12] = 0x81; /* 802.1Q */
	ck_assert(!is_syn(V4_LEN));
	ip6(SYN);
	frame[20] = 44; /* a fragment */
	ck_assert(!is_syn(V6_LEN));
}
END_TEST

/* A load beyond the end ends a filter with "no": no frame may be lost to both. */
START_TEST(frames_that_end_anywhere_come_out_of_one)
{
	for (size_t len = 1; len <= V6_LEN; len++) {
		for (uint8_t ihl = 0; ihl < 16; ihl++) {
			ip4(SYN, ihl);
			if (is_syn(len)) {
				ck_assert_uint_ge(len, V4_LEN);
				ck_assert_uint_ge(len, 14u + ihl * 4u + 20u);
			}
		}
		ip6(SYN);
		ck_assert_int_eq(is_syn(len), len == V6_LEN);
	}
}
END_TEST

static Suite *synfilter_suite(void)
{
	Suite *s;
	TCase *tc = unit_suite("synfilter", setup, teardown, &s);

	tcase_add_test(tc, requests_to_connect_are_syn_without_ack_rst_and_fin);
	tcase_add_test(tc, fragments_other_protocols_and_tags_are_no_requests);
	tcase_add_test(tc, frames_that_end_anywhere_come_out_of_one);
	return s;
}

UNIT_MAIN(synfilter_suite)
