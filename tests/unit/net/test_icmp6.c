/* SPDX-License-Identifier: Apache-2.0 */
/* test_icmp6.c - net/icmp6.c: echo, errors in (RFC 4443, RFC 8201) */
#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "rig6.h"
#include "suites.h"

static struct rig rig;
static uint8_t f[2048];

static void setup(void)
{
	r6_init(&rig);
	r6_peer_known(&rig);
}

static void teardown(void)
{
	rig_done(&rig);
}

static void dies(uint32_t len, enum drop why)
{
	uint64_t before = rig_drops(&rig, why);

	r6_in(&rig, f, len);
	ck_assert_msg(rig_drops(&rig, why) == before + 1, "%s did not count", drop_name(why));
}

START_TEST(rfc4443_s4_2_an_echo_is_answered_with_its_own_data)
{
	uint32_t len = r6_icmp(f, r6_peer, r6_us, 128, 0, 0x12340007, "abcdefghi", 9);
	const uint8_t *e = rig.sent[0].data;

	r6_in(&rig, f, len);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert(r6_is_good(&rig, 0));
	ck_assert_mem_eq(e + 22, r6_us.b, 16);
	ck_assert_mem_eq(e + 38, r6_peer.b, 16);
	ck_assert_uint_eq(e[R6_BODY], 129);
	ck_assert_mem_eq(e + R6_BODY + 4, f + R6_BODY + 4, 13);
	ck_assert_uint_eq(rig.stats.stat[STAT_ICMP_ECHO_REPLIES], 1);
}
END_TEST

START_TEST(rfc4443_s4_2_an_echo_to_a_group_is_answered_from_an_address_of_ours)
{
	r6_in(&rig, f, r6_icmp(f, r6_peer, r6_all_nodes, 128, 0, 1, "a", 1));
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert(r6_is_good(&rig, 0));
	ck_assert_mem_eq(rig.sent[0].data + 22, r6_us.b, 16);
	for (uint32_t i = 0; i < 20; i++)
		r6_in(&rig, f, r6_icmp(f, r6_peer, r6_all_nodes, 128, 0, 1, "a", 1));
	ck_assert_uint_eq(rig.sent_cnt, 6); /* within the limit for errors */
}
END_TEST

START_TEST(rfc4443_s2_3_a_wrong_checksum_is_never_answered)
{
	for (uint32_t bit = 0; bit < 16; bit++) {
		uint32_t len = r6_icmp(f, r6_peer, r6_us, 128, 0, 1, "abc", 3);

		f[R6_BODY + 2 + bit / 8] ^= (uint8_t)(1u << bit % 8);
		dies(len, DROP_ICMP_BAD);
	}
	for (uint32_t len = 0; len < 8; len++) { /* shorter than its header */
		r6_frame(f, r6_peer, r6_us, R6_ICMP, "\200\0\0\0\0\0\0\0", len);
		if (len >= 4)
			r6_fix(f, R6_BODY + len, R6_BODY);
		dies(R6_BODY + len, DROP_ICMP_BAD);
	}
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

/* A packet of ours as an error quotes it, @len octets; the whole has 48 or, with @has_ext, 56. */
static uint32_t quote(uint8_t *q, bool has_ext)
{
	static const uint8_t ext[8] = { RIG_PROTO, 0, 1, 4 };
	static const uint8_t l4[8] = { 0x12, 0x34, 0x56, 0x78, 0xde, 0xad, 0xbe, 0xef };
	uint32_t at = 40;

	memset(q, 0, 40);
	q[0] = 0x60;
	q[5] = has_ext ? 16 : 8;
	q[6] = has_ext ? 60 : RIG_PROTO;
	q[7] = 64;
	memcpy(q + 8, r6_us.b, 16);
	memcpy(q + 24, r6_peer.b, 16);
	if (has_ext) {
		memcpy(q + at, ext, 8);
		at += 8;
	}
	memcpy(q + at, l4, 8);
	return at + 8;
}

static void hear_error(uint8_t type, uint8_t code, uint32_t arg)
{
	uint8_t q[64];
	uint32_t len = quote(q, code & 1);

	r6_in(&rig, f, r6_icmp(f, r6_peer, r6_us, type, code, arg, q, len));
}

START_TEST(rfc4443_s3_errors_are_told_to_the_transport_with_linux_errnos)
{
	static const struct {
		uint8_t type, code;
		int err;
	} rows[] = {
		{ 1, 0, -ENETUNREACH },  { 1, 1, -EACCES },       { 1, 2, -EHOSTUNREACH },
		{ 1, 3, -EHOSTUNREACH }, { 1, 4, -ECONNREFUSED }, { 1, 5, -EACCES },
		{ 1, 6, -EACCES },       { 1, 7, -EPROTO },       { 3, 0, -EHOSTUNREACH },
		{ 3, 1, -EHOSTUNREACH }, { 4, 0, -EPROTO },       { 4, 1, -EPROTO },
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		hear_error(rows[i].type, rows[i].code, 0);
		ck_assert_uint_eq(rig.error_cnt, i + 1);
		ck_assert_int_eq(rig.last_err.err, rows[i].err);
		ck_assert(rig.last_err.is_hard && !rig.last_err.is_frag_needed);
		ck_assert(ns_addr_eq(&rig.last_err.local.addr, &r6_us));
		ck_assert(ns_addr_eq(&rig.last_err.remote.addr, &r6_peer));
		ck_assert_uint_eq(rig.last_err.local.port, 0x1234);
		ck_assert_uint_eq(rig.last_err.remote.port, 0x5678);
		ck_assert(rig.last_err.has_seq);
		ck_assert_uint_eq(rig.last_err.seq, 0xdeadbeef);
	}
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(rfc8201_s4_too_big_tells_the_mtu_down_to_1280)
{
	static const uint32_t small[] = { 0, 1, 68, 1279 };

	hear_error(2, 0, 1400);
	ck_assert_uint_eq(rig.error_cnt, 1);
	ck_assert(rig.last_err.is_frag_needed && !rig.last_err.is_hard);
	ck_assert_uint_eq(rig.last_err.mtu, 1400);
	hear_error(2, 0, 1280);
	ck_assert_uint_eq(rig.last_err.mtu, 1280);
	for (size_t i = 0; i < NS_ARRAY_LEN(small); i++)
		hear_error(2, 0, small[i]);
	ck_assert_uint_eq(rig.error_cnt, 2);
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP6_TOO_BIG), NS_ARRAY_LEN(small));
}
END_TEST

START_TEST(quotes_that_are_cut_or_not_ours_are_told_to_nobody)
{
	uint8_t q[64];
	uint32_t whole = quote(q, true);

	for (uint32_t len = 0; len < whole; len++)
		dies(r6_icmp(f, r6_peer, r6_us, 1, 4, 0, q, len), DROP_ICMP_BAD);
	q[0] = 0x40;
	dies(r6_icmp(f, r6_peer, r6_us, 1, 4, 0, q, whole), DROP_ICMP_BAD);
	quote(q, true);
	q[41] = 255; /* an extension header that leads out of the quote */
	dies(r6_icmp(f, r6_peer, r6_us, 1, 4, 0, q, whole), DROP_ICMP_BAD);
	quote(q, false);
	q[23] = 7; /* another's */
	dies(r6_icmp(f, r6_peer, r6_us, 1, 4, 0, q, 48), DROP_ICMP_NO_MATCH);
	quote(q, false);
	q[6] = 17; /* of a transport that is not there */
	dies(r6_icmp(f, r6_peer, r6_us, 1, 4, 0, q, 48), DROP_ICMP_NO_MATCH);
	quote(q, false);
	memset(q + 24, 0, 16); /* would be IPv4 inside */
	q[34] = q[35] = 0xff;
	dies(r6_icmp(f, r6_peer, r6_us, 1, 4, 0, q, 48), DROP_ICMP_BAD);
	ck_assert_uint_eq(rig.error_cnt, 0);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(errors_to_a_group_and_other_types_are_ignored)
{
	static const uint8_t others[] = { 0, 5, 100, 127, 129, 138, 139, 144, 160, 200, 255 };
	uint8_t q[64];
	uint32_t len = quote(q, false);

	dies(r6_icmp(f, r6_peer, r6_all_nodes, 1, 4, 0, q, len), DROP_ICMP_IGNORED);
	for (size_t i = 0; i < sizeof(others); i++)
		dies(r6_icmp(f, r6_peer, r6_us, others[i], 0, 0, q, len), DROP_ICMP_IGNORED);
	ck_assert_uint_eq(rig.error_cnt, 0);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(rfc4443_s2_4_c_an_error_quotes_no_more_than_the_least_mtu_takes)
{
	static uint8_t big[1400];

	r6_in(&rig, f, r6_frame(f, r6_peer, r6_us, 254, big, sizeof(big)));
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].len, 14 + 1280);
	ck_assert(r6_is_good(&rig, 0));
}
END_TEST

Suite *icmp6_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/icmp6", setup, teardown, &s);

	tcase_add_test(c, rfc4443_s4_2_an_echo_is_answered_with_its_own_data);
	tcase_add_test(c, rfc4443_s4_2_an_echo_to_a_group_is_answered_from_an_address_of_ours);
	tcase_add_test(c, rfc4443_s2_3_a_wrong_checksum_is_never_answered);
	tcase_add_test(c, rfc4443_s3_errors_are_told_to_the_transport_with_linux_errnos);
	tcase_add_test(c, rfc8201_s4_too_big_tells_the_mtu_down_to_1280);
	tcase_add_test(c, quotes_that_are_cut_or_not_ours_are_told_to_nobody);
	tcase_add_test(c, errors_to_a_group_and_other_types_are_ignored);
	tcase_add_test(c, rfc4443_s2_4_c_an_error_quotes_no_more_than_the_least_mtu_takes);
	return s;
}
