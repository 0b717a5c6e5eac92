/* SPDX-License-Identifier: Apache-2.0 */
/* test_icmp.c - net/icmp.c: echo, errors out and their limits, errors in (RFC 792, RFC 1122 3.2.2) */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "slowsum.h"
#include "suites.h"

static struct rig rig;
static uint8_t f[2048];

static void setup(void)
{
	rig_init(&rig);
	rig_peer_known(&rig);
	memset(f, 0, sizeof(f));
}

static void teardown(void)
{
	rig_done(&rig);
}

static void fix_icmp(uint32_t len)
{
	uint16_t sum;

	f[36] = f[37] = 0;
	sum = (uint16_t)~slowsum(0, f + 34, len);
	f[36] = (uint8_t)(sum >> 8);
	f[37] = (uint8_t)sum;
}

/* An ICMP message of @len octets in all, to @dst. */
static uint32_t icmp(uint8_t type, uint8_t code, uint32_t dst, uint32_t len)
{
	rig_ip4(f, RIG_PEER, dst, 1, len);
	f[34] = type;
	f[35] = code;
	fix_icmp(len);
	return 34 + len;
}

START_TEST(an_echo_request_comes_back_as_it_is)
{
	uint8_t want[100];
	const uint8_t *sent = rig.sent[0].data;

	for (uint32_t i = 0; i < 100; i++)
		f[34 + i] = (uint8_t)(i * 3);
	rig_in(&rig, f, icmp(8, 0, RIG_US, 100));
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].len, 134);
	ck_assert_uint_eq(sent[34], 0);
	ck_assert_uint_eq(slowsum(0, sent + 34, 100), 0xffff);
	memcpy(want, f + 34, 100);
	ck_assert_mem_eq(sent + 38, want + 4, 96);
	ck_assert_mem_eq(sent + 26, "\x0a\x09\x00\x02\x0a\x09\x00\x01", 8);
	ck_assert_uint_eq(rig.stats.stat[STAT_ICMP_ECHO_REPLIES], 1);
}
END_TEST

START_TEST(echo_of_every_size_up_to_the_mtu)
{
	for (uint32_t len = 8; len <= 1480; len += 23) {
		rig.sent_cnt = 0;
		rig_in(&rig, f, icmp(8, 0, RIG_US, len));
		ck_assert_uint_eq(rig.sent_cnt, 1);
		ck_assert_uint_eq(rig.sent[0].len, 34 + len);
		ck_assert_uint_eq(slowsum(0, rig.sent[0].data + 34, len), 0xffff);
	}
}
END_TEST

START_TEST(options_of_a_request_are_not_reflected)
{
	icmp(8, 0, RIG_US, 48);
	memmove(f + 42, f + 34, 48);
	f[14] = 0x47;
	f[17] = 20 + 8 + 48;
	memset(f + 34, 1, 8);
	rig_ip4_fix(f);
	rig_in(&rig, f, 34 + 8 + 48);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].data[14], 0x45);
	ck_assert_uint_eq(rig.sent[0].len, 34 + 48);
}
END_TEST

START_TEST(echo_to_a_group_is_ignored)
{
	rig_in(&rig, f, icmp(8, 0, 0x0a0900ff, 64));
	rig_in(&rig, f, icmp(8, 0, 0xffffffff, 64));
	rig_in(&rig, f, icmp(8, 0, 0xe0000001, 64));
	ck_assert_uint_eq(rig.sent_cnt, 0);
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP_IGNORED), 3);
}
END_TEST

START_TEST(short_messages_and_bad_checksums_are_dropped)
{
	uint32_t len;

	for (uint32_t i = 0; i < 8; i++) {
		icmp(8, 0, RIG_US, 8);
		f[17] = (uint8_t)(20 + i);
		rig_ip4_fix(f);
		fix_icmp(i);
		rig_in(&rig, f, 34 + i);
	}
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP_BAD), 8);
	len = icmp(8, 0, RIG_US, 64);
	f[50] ^= 1;
	rig_in(&rig, f, len);
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP_BAD), 9);
	ck_assert_uint_eq(rig.sent_cnt, 0);
	rig_in_meta(&rig, f, len, PKT_CSUM_VALID, 0, 0); /* the kernel has looked at it */
	ck_assert_uint_eq(rig.sent_cnt, 1);
}
END_TEST

START_TEST(redirects_timestamps_masks_and_the_unknown_are_ignored)
{
	static const uint8_t types[] = { 0,  1,  2,  4,  5,  6,  7,  9,  10,
					 13, 14, 15, 16, 17, 18, 19, 30, 255 };

	for (size_t i = 0; i < NS_ARRAY_LEN(types); i++)
		rig_in(&rig, f, icmp(types[i], 0, RIG_US, 64));
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP_IGNORED), NS_ARRAY_LEN(types));
	ck_assert_uint_eq(rig.sent_cnt, 0);
	ck_assert_uint_eq(rig.error_cnt, 0);
}
END_TEST

/* A packet for a transport that is not there. */
static void to_nobody(uint8_t proto, uint32_t dst, uint32_t len)
{
	rig_ip4(f, RIG_PEER, dst, proto, len);
	rig_in(&rig, f, 34 + len);
}

START_TEST(no_such_protocol_and_no_such_port_are_told)
{
	const uint8_t *sent = rig.sent[0].data;

	for (uint32_t i = 0; i < 100; i++)
		f[34 + i] = (uint8_t)i;
	to_nobody(47, RIG_US, 100);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].len, 14 + 20 + 8 + 120);
	ck_assert_uint_eq(sent[34], 3);
	ck_assert_uint_eq(sent[35], 2);
	ck_assert_mem_eq(sent + 42, f + 14, 120); /* the packet, its header too */
	ck_assert_uint_eq(slowsum(0, sent + 34, 128), 0xffff);
	rig.sent_cnt = 0;
	to_nobody(17, RIG_US, 100);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(sent[35], 3);
}
END_TEST

START_TEST(an_error_quotes_no_more_than_576_octets_hold)
{
	to_nobody(47, RIG_US, 1400);
	ck_assert_uint_eq(rig.sent[0].len, 14 + 576);
}
END_TEST

START_TEST(nobody_is_told_about_groups)
{
	to_nobody(47, 0x0a0900ff, 40);
	to_nobody(17, 0xffffffff, 40);
	to_nobody(17, 0xe0000001, 40);
	/* our address, but a frame for everybody */
	rig_ip4(f, RIG_PEER, RIG_US, 47, 40);
	memset(f, 0xff, 6);
	rig_in(&rig, f, 74);
	ck_assert_uint_eq(rig.sent_cnt, 0);
	ck_assert_uint_eq(rig_drops(&rig, DROP_IP_PROTO), 4);
}
END_TEST

START_TEST(errors_to_one_host_are_six_then_one_a_second)
{
	for (int i = 0; i < 20; i++)
		to_nobody(47, RIG_US, 40);
	ck_assert_uint_eq(rig.sent_cnt, 6);
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP_RATE), 14);
	rig_pass(&rig, NS_PER_SEC);
	for (int i = 0; i < 20; i++)
		to_nobody(47, RIG_US, 40);
	ck_assert_uint_eq(rig.sent_cnt, 7);
	rig_pass(&rig, 3600 * NS_PER_SEC);
	for (int i = 0; i < 20; i++)
		to_nobody(47, RIG_US, 40);
	/* the peer went stale meanwhile; what counts is what was made */
	ck_assert_uint_eq(rig.stats.stat[STAT_ICMP_ERRORS], 13);
}
END_TEST

START_TEST(errors_to_all_hosts_are_fifty_then_one_a_millisecond)
{
	for (uint32_t i = 0; i < 300; i++) {
		rig_ip4(f, 0x0a090010 + i % 200, RIG_US, 47, 40);
		rig_in(&rig, f, 74);
	}
	ck_assert_uint_eq(rig.stats.stat[STAT_ICMP_ERRORS], 50);
	rig_pass(&rig, 10 * NS_PER_MS);
	for (uint32_t i = 0; i < 300; i++) {
		rig_ip4(f, 0x0a090010 + i % 200, RIG_US, 47, 40);
		rig_in(&rig, f, 74);
	}
	ck_assert_uint_ge(rig.stats.stat[STAT_ICMP_ERRORS], 55);
	ck_assert_uint_le(rig.stats.stat[STAT_ICMP_ERRORS], 60);
}
END_TEST

/* An error about a packet of our transport's, 28 octets of it quoted. */
static uint32_t error_about(uint8_t type, uint8_t code, uint32_t src, uint32_t dst)
{
	static uint8_t inner[64];

	rig_ip4(inner, src, dst, RIG_PROTO, 40);
	memcpy(f + 42, inner + 14, 20);
	memcpy(f + 62, "\x12\x34\x56\x78\xde\xad\xbe\xef", 8);
	return icmp(type, code, RIG_US, 8 + 28);
}

static const struct error_row {
	uint8_t type, code;
	int err;
	bool is_hard;
} error_rows[] = {
	{ 3, 0, -ENETUNREACH, true },   { 3, 1, -EHOSTUNREACH, true },
	{ 3, 2, -ENOPROTOOPT, true },   { 3, 3, -ECONNREFUSED, true },
	{ 3, 4, -EMSGSIZE, false },     { 3, 5, -EOPNOTSUPP, true },
	{ 3, 6, -ENETUNREACH, true },   { 3, 7, -EHOSTDOWN, true },
	{ 3, 8, -ENONET, true },        { 3, 9, -ENETUNREACH, true },
	{ 3, 10, -EHOSTUNREACH, true }, { 3, 11, -ENETUNREACH, true },
	{ 3, 12, -EHOSTUNREACH, true }, { 3, 13, -EHOSTUNREACH, true },
	{ 3, 15, -EHOSTUNREACH, true }, { 11, 0, -EHOSTUNREACH, true },
	{ 12, 0, -EPROTO, true },
};

START_TEST(an_error_about_ours_reaches_the_transport)
{
	const struct error_row *r = &error_rows[_i];

	rig_in(&rig, f, error_about(r->type, r->code, RIG_US, 0x08080808));
	ck_assert_uint_eq(rig.error_cnt, 1);
	ck_assert_int_eq(rig.last_err.err, r->err);
	ck_assert_int_eq(rig.last_err.is_hard, r->is_hard);
	ck_assert_uint_eq(ns_addr_to_v4(&rig.last_err.from), RIG_PEER);
	ck_assert_uint_eq(ns_addr_to_v4(&rig.last_err.local.addr), RIG_US);
	ck_assert_uint_eq(ns_addr_to_v4(&rig.last_err.remote.addr), 0x08080808);
	ck_assert_uint_eq(rig.last_err.local.port, 0x1234);
	ck_assert_uint_eq(rig.last_err.remote.port, 0x5678);
	ck_assert_uint_eq(rig.last_err.seq, 0xdeadbeef);
	ck_assert_int_eq(rig.last_err.is_frag_needed, r->type == 3 && r->code == 4);
}
END_TEST

START_TEST(the_next_hops_mtu_is_passed_on_or_guessed)
{
	uint32_t len = error_about(3, 4, RIG_US, 0x08080808);

	rig_in(&rig, f, len); /* 0: a router from before RFC 1191 */
	ck_assert_uint_eq(rig.last_err.mtu, 68);
	f[44] = 1500 >> 8; /* the quoted packet was 1500 long */
	f[45] = 1500 & 0xff;
	fix_icmp(36);
	rig_in(&rig, f, len);
	ck_assert_uint_eq(rig.last_err.mtu, 1492);
	f[40] = 1400 >> 8;
	f[41] = 1400 & 0xff;
	fix_icmp(36);
	rig_in(&rig, f, len);
	ck_assert_uint_eq(rig.last_err.mtu, 1400);
	f[40] = 0;
	f[41] = 1;
	fix_icmp(36);
	rig_in(&rig, f, len);
	ck_assert_uint_eq(rig.last_err.mtu, 68);
}
END_TEST

START_TEST(errors_about_packets_we_did_not_send_match_nothing)
{
	rig_in(&rig, f, error_about(3, 3, 0x08080808, 0x08080404));
	rig_in(&rig, f, error_about(3, 3, RIG_PEER, RIG_US));
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP_NO_MATCH), 2);
	error_about(3, 3, RIG_US, RIG_PEER);
	f[42 + 9] = 99; /* a transport we do not have */
	fix_icmp(36);
	rig_in(&rig, f, 70);
	error_about(3, 3, RIG_US, RIG_PEER);
	f[42 + 7] = 9; /* a later fragment has no ports */
	fix_icmp(36);
	rig_in(&rig, f, 70);
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP_NO_MATCH), 4);
	ck_assert_uint_eq(rig.error_cnt, 0);
}
END_TEST

START_TEST(quotes_that_lie_are_dropped)
{
	/* octet of the quoted packet and its value */
	static const uint8_t bad[][2] = { { 0, 0x44 }, { 0, 0x40 }, { 0, 0x65 }, { 0, 0x46 },
					  { 0, 0x4f }, { 3, 27 },   { 3, 19 },   { 3, 0 } };
	uint64_t cnt = 0;

	for (uint32_t len = 8; len < 36; len++, cnt++) {
		error_about(3, 3, RIG_US, RIG_PEER);
		rig_in(&rig, f, icmp(3, 3, RIG_US, len));
	}
	for (size_t i = 0; i < NS_ARRAY_LEN(bad); i++, cnt++) {
		error_about(3, 3, RIG_US, RIG_PEER);
		f[42 + bad[i][0]] = bad[i][1];
		fix_icmp(36);
		rig_in(&rig, f, 70);
	}
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP_BAD), cnt);
	rig_in(&rig, f, error_about(3, 16, RIG_US, RIG_PEER)); /* no such code */
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP_IGNORED), 1);
	ck_assert_uint_eq(rig.error_cnt, 0);
}
END_TEST

START_TEST(an_error_is_never_answered)
{
	/* about an error of ours, about nothing, to everybody */
	error_about(3, 3, RIG_US, RIG_PEER);
	f[42 + 9] = 1;
	f[62] = 3;
	fix_icmp(36);
	rig_in(&rig, f, 70);
	rig_in(&rig, f, icmp(3, 3, RIG_US, 8));
	rig_in(&rig, f, icmp(3, 3, 0xffffffff, 64));
	rig_in(&rig, f, icmp(200, 3, RIG_US, 64));
	ck_assert_uint_eq(rig.sent_cnt, 0);
	ck_assert_uint_eq(rig.stats.stat[STAT_ICMP_ERRORS], 0);
}
END_TEST

Suite *icmp_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/icmp", setup, teardown, &s);

	tcase_add_test(c, an_echo_request_comes_back_as_it_is);
	tcase_add_test(c, echo_of_every_size_up_to_the_mtu);
	tcase_add_test(c, options_of_a_request_are_not_reflected);
	tcase_add_test(c, echo_to_a_group_is_ignored);
	tcase_add_test(c, short_messages_and_bad_checksums_are_dropped);
	tcase_add_test(c, redirects_timestamps_masks_and_the_unknown_are_ignored);
	tcase_add_test(c, no_such_protocol_and_no_such_port_are_told);
	tcase_add_test(c, an_error_quotes_no_more_than_576_octets_hold);
	tcase_add_test(c, nobody_is_told_about_groups);
	tcase_add_test(c, errors_to_one_host_are_six_then_one_a_second);
	tcase_add_test(c, errors_to_all_hosts_are_fifty_then_one_a_millisecond);
	tcase_add_loop_test(c, an_error_about_ours_reaches_the_transport, 0,
			    NS_ARRAY_LEN(error_rows));
	tcase_add_test(c, the_next_hops_mtu_is_passed_on_or_guessed);
	tcase_add_test(c, errors_about_packets_we_did_not_send_match_nothing);
	tcase_add_test(c, quotes_that_lie_are_dropped);
	tcase_add_test(c, an_error_is_never_answered);
	return s;
}
