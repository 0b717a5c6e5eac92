/* SPDX-License-Identifier: Apache-2.0 */
/* test_report.c - net/report.c, net/report_wire.c: IGMP and MLD of a host, RFC 9776, RFC 9777 */
#include <string.h>

#include "net/net_int.h"
#include "rig6.h"
#include "slowsum.h"
#include "suites.h"

enum {
	MSG4 = 38, /* offset of the IGMP message: an IPv4 header of 24 octets */
	MSG6 = 62, /* of the MLD message: behind a hop-by-hop header */
	GROUP = 0xe8010203,
	ALL_HOSTS = 0xe0000001,
};

static struct rig rig;
static uint8_t f[2048];
static const struct ns_addr group6 = { { 0xff, 5, [14] = 7, [15] = 9 } };
static const struct ns_addr other6 = { { 0xff, 2, [14] = 7, [15] = 8 } };

static struct link *l1(void)
{
	return net_link(rig.net, 1);
}

static void setup(void)
{
	rig_init(&rig);
	l1()->config.is_multicast = true;
}

static void setup6(void)
{
	r6_init(&rig);
	l1()->config.is_multicast = true;
}

static void teardown(void)
{
	rig_done(&rig);
}

static void pass_ms(uint64_t ms)
{
	rig_pass(&rig, ms * NS_PER_MS);
}

static const struct net_filter everybody = { .is_exclude = true };

/* A socket's filter: it was @was, it is @is. */
static void set(struct ns_addr a, const struct net_filter *was, const struct net_filter *is)
{
	ck_assert_int_eq(net_group_set(rig.net, &a, RIG_ZONE, was, is), 0);
	pass_ms(0);
}

static void join(struct ns_addr a)
{
	set(a, NULL, &everybody);
}

static void leave(struct ns_addr a)
{
	set(a, &everybody, NULL);
}

/* Frame @i is an IGMP message of @len octets to @dst; where it begins. */
static const uint8_t *igmp(uint32_t i, uint32_t dst, uint8_t type, uint32_t len)
{
	const uint8_t *s = rig.sent[i].data;
	struct be32 to = be32(dst);

	ck_assert_uint_lt(i, rig.sent_cnt);
	ck_assert_uint_eq(rig.sent[i].len, MSG4 + len);
	ck_assert_mem_eq(
		s, ((const uint8_t[]){ 1, 0, 0x5e, dst >> 16 & 0x7f, dst >> 8 & 0xff, dst & 0xff }),
		6);
	ck_assert_uint_eq(s[14], 0x46);
	ck_assert_uint_eq(s[15], 0xc0);
	ck_assert_uint_eq((uint32_t)s[16] << 8 | s[17], 24 + len);
	ck_assert_uint_eq(s[22], 1); /* TTL */
	ck_assert_uint_eq(s[23], 2);
	ck_assert_uint_eq(slowsum(0, s + 14, 24), 0xffff);
	ck_assert_mem_eq(s + 26, "\x0a\x09\x00\x02", 4);
	ck_assert_mem_eq(s + 30, &to, 4);
	ck_assert_mem_eq(s + 34, "\x94\x04\x00\x00", 4); /* router alert */
	ck_assert_uint_eq(s[MSG4], type);
	ck_assert_uint_eq(slowsum(0, s + MSG4, len), 0xffff);
	return s + MSG4;
}

/* Frame @i is a report of version 3 with these records of @group. */
static void igmp_v3(uint32_t i, uint8_t record, uint32_t group)
{
	const uint8_t *m = igmp(i, 0xe0000016, 0x22, 16);
	struct be32 g = be32(group);

	ck_assert_mem_eq(m + 4, "\0\0\0\1", 4);
	ck_assert_mem_eq(m + 8, ((const uint8_t[]){ record, 0, 0, 0 }), 4);
	ck_assert_mem_eq(m + 12, &g, 4);
}

/* A query of @len octets; what follows the group is given. */
static void query4(uint8_t ttl, uint8_t code, uint32_t group, const char *tail, uint32_t tail_len)
{
	uint8_t m[64] = { 0x11, code };
	struct be32 g = be32(group);
	uint32_t len = 8 + tail_len, at;
	uint16_t sum;

	memcpy(m + 4, &g, 4);
	memcpy(m + 8, tail, tail_len);
	sum = (uint16_t)~slowsum(0, m, len);
	m[2] = (uint8_t)(sum >> 8);
	m[3] = (uint8_t)sum;
	at = rig_ip4(f, RIG_PEER, group ? group : ALL_HOSTS, 2, len);
	f[22] = ttl;
	rig_ip4_fix(f);
	memcpy(f, "\x01\x00\x5e\x00\x00\x01", 6);
	memcpy(f + at, m, len);
	rig_in(&rig, f, at + len);
}

static void query_v3(uint8_t code, uint32_t group)
{
	query4(1, code, group, "\2\175\0\0", 4);
}

START_TEST(rfc9776_s5_1_a_join_is_told_at_once_and_once_more)
{
	join(ns_addr_v4(GROUP));
	ck_assert_uint_eq(rig.sent_cnt, 1);
	igmp_v3(0, 4, GROUP); /* to EXCLUDE {} */
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	igmp_v3(1, 4, GROUP);
	pass_ms(600000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	/* a second member is no news, nor is it when one of them goes */
	join(ns_addr_v4(GROUP));
	leave(ns_addr_v4(GROUP));
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	ck_assert_uint_eq(rig.stats.stat[STAT_GROUP_REPORTS], 2);
}
END_TEST

START_TEST(rfc9776_s5_1_a_leave_is_told_as_often)
{
	join(ns_addr_v4(GROUP));
	pass_ms(1000);
	rig.sent_cnt = 0;
	leave(ns_addr_v4(GROUP));
	igmp_v3(0, 3, GROUP); /* to INCLUDE {} */
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	igmp_v3(1, 3, GROUP);
	pass_ms(10000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	ck_assert_uint_eq(rig.net->reports.group_cnt, 0);
	leave(ns_addr_v4(GROUP)); /* nobody is in it: nothing is said */
	ck_assert_uint_eq(rig.sent_cnt, 2);
	/* joined again before the leave is told to the end: the join is what counts */
	join(ns_addr_v4(GROUP));
	leave(ns_addr_v4(GROUP));
	join(ns_addr_v4(GROUP));
	rig.sent_cnt = 0;
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	igmp_v3(0, 4, GROUP);
}
END_TEST

START_TEST(rfc9776_s5_2_a_general_query_is_answered_in_time_with_all_groups)
{
	const uint8_t *m;

	join(ns_addr_v4(GROUP));
	join(ns_addr_v4(GROUP + 1));
	leave(ns_addr_v4(GROUP + 1));
	join(ns_addr_v4(GROUP + 2));
	pass_ms(5000);
	rig.sent_cnt = 0;
	query_v3(100, 0);
	ck_assert_uint_eq(rig.sent_cnt, 0);
	pass_ms(10000);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	m = igmp(0, 0xe0000016, 0x22, 24);
	ck_assert_mem_eq(m + 4, "\0\0\0\2\2\0\0\0\xe8\1\2\3\2\0\0\0\xe8\1\2\5", 20);
	/* to a second query while the first waits there is one answer */
	query_v3(100, 0);
	query_v3(100, 0);
	pass_ms(10000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	/* mantissa and exponent: 0x8f is 31 << 3 tenths of a second */
	rig.sent_cnt = 0;
	query_v3(0x8f, 0);
	pass_ms(24800);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	/* a time of zero is now */
	query_v3(0, 0);
	pass_ms(0);
	ck_assert_uint_eq(rig.sent_cnt, 2);
}
END_TEST

START_TEST(rfc9776_s5_2_a_query_of_a_group_is_answered_for_that)
{
	join(ns_addr_v4(GROUP));
	join(ns_addr_v4(GROUP + 1));
	pass_ms(5000);
	rig.sent_cnt = 0;
	query_v3(10, GROUP);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	igmp_v3(0, 2, GROUP);
	/* with sources: we hear all of them, and say so (test_filter.c has the rest) */
	query4(1, 10, GROUP, "\2\175\0\2\1\2\3\4\5\6\7\10", 12);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	ck_assert_mem_eq(igmp(1, 0xe0000016, 0x22, 24) + 8, "\1\0\0\2\xe8\1\2\3\1\2\3\4\5\6\7\10",
			 16);
	query_v3(10, GROUP + 9); /* not joined */
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
}
END_TEST

START_TEST(rfc9776_s4_1_malformed_queries_and_those_of_others_are_dropped)
{
	join(ns_addr_v4(GROUP));
	pass_ms(5000);
	rig.sent_cnt = 0;
	query4(2, 10, 0, "\2\175\0\0", 4);                   /* crossed a router */
	query4(1, 10, 0, "\2\175\0\3\1\2\3\4\5\6\7\10", 12); /* more sources than octets */
	query4(1, 10, 0, "\2\175\xff\xff", 4);
	query4(1, 10, 0, "\2\175\0", 3);            /* neither length */
	query4(1, 10, 0x0a090002, "\2\175\0\0", 4); /* of no group */
	ck_assert_uint_eq(rig_drops(&rig, DROP_GROUP_BAD), 5);
	query4(1, 10, GROUP, "\2\175\0\0", 4);
	f[36] ^= 1; /* checksum */
	rig_in(&rig, f, 46);
	ck_assert_uint_eq(rig_drops(&rig, DROP_GROUP_BAD), 6);
	for (uint32_t cut = 34; cut < 42; cut++) {
		uint32_t at = rig_ip4(f, RIG_PEER, ALL_HOSTS, 2, cut - 34);

		f[22] = 1;
		rig_ip4_fix(f);
		f[at] = 0x11;
		rig_in(&rig, f, cut);
	}
	ck_assert_uint_eq(rig_drops(&rig, DROP_GROUP_BAD), 14);
	pass_ms(20000);
	ck_assert_uint_eq(rig.sent_cnt, 1); /* to the one that was right */
}
END_TEST

START_TEST(rfc9776_s7_2_1_old_routers_are_spoken_to_as_they_speak)
{
	const uint8_t *m;

	join(ns_addr_v4(GROUP));
	pass_ms(5000);
	rig.sent_cnt = 0;
	query4(1, 100, 0, "", 0); /* version 2 */
	pass_ms(10000);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	m = igmp(0, GROUP, 0x16, 8);
	ck_assert_mem_eq(m + 4, "\xe8\1\2\3", 4);
	/* a query of version 3 changes nothing while that one is remembered */
	query_v3(10, 0);
	pass_ms(1000);
	igmp(1, GROUP, 0x16, 8);
	/* another member answers first: we need not */
	query4(1, 100, 0, "", 0);
	m = rig.sent[1].data;
	memcpy(f, m, 46);
	memcpy(f + 6, rig_peer_mac, 6);
	f[29] = 1; /* from the peer */
	f[24] = f[25] = 0;
	m = f + 14;
	{
		uint16_t sum = (uint16_t)~slowsum(0, m, 24);

		f[24] = (uint8_t)(sum >> 8);
		f[25] = (uint8_t)sum;
	}
	rig_in(&rig, f, 46);
	pass_ms(10000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	leave(ns_addr_v4(GROUP));
	ck_assert_uint_eq(rig.sent_cnt, 3);
	igmp(2, 0xe0000002, 0x17, 8);
	pass_ms(20000);
	ck_assert_uint_eq(rig.sent_cnt, 3);
	/* version 1 has ten seconds and no leave */
	join(ns_addr_v4(GROUP));
	pass_ms(20000);
	rig.sent_cnt = 0;
	query4(1, 0, 0, "", 0);
	pass_ms(10000);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	igmp(0, GROUP, 0x12, 8);
	leave(ns_addr_v4(GROUP));
	ck_assert_uint_eq(rig.sent_cnt, 1);
	/* 260 s later it is version 3 again */
	pass_ms(260000);
	rig.sent_cnt = 0;
	join(ns_addr_v4(GROUP));
	igmp_v3(0, 4, GROUP);
}
END_TEST

/* RFC 9776 7.2.1: "MUST keep state per local interface": of one where nobody was a member of anything, too. */
START_TEST(rfc9776_s7_2_1_an_old_router_is_remembered_before_the_first_join)
{
	query4(1, 100, 0, "", 0);
	join(ns_addr_v4(GROUP));
	igmp(0, GROUP, 0x16, 8);
	/* what versions 1 and 2 have is a number, not mantissa and exponent: 14.3 s, 0x8f would be 24.8 */
	pass_ms(20000);
	for (uint32_t i = 0; i < 20; i++) {
		rig.sent_cnt = 0;
		query4(1, 0x8f, 0, "", 0);
		pass_ms(14300);
		ck_assert_uint_eq(rig.sent_cnt, 1);
	}
}
END_TEST

/* RFC 9776 4.1.10, 4.1.12: octets behind what is known are summed and ignored; a query to our own address is one. */
START_TEST(rfc9776_s4_1_longer_queries_and_those_to_us_alone_are_answered)
{
	join(ns_addr_v4(GROUP));
	pass_ms(5000);
	rig.sent_cnt = 0;
	query4(1, 10, 0, "\2\175\0\0and more of a later version", 31);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	igmp_v3(0, 2, GROUP);
	query4(1, 10, 0, "\2\175\0\1\1\2\3\4and more", 16);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	/* the frame to our MAC, the packet to our address */
	rig_ip4(f, RIG_PEER, 0x0a090002, 2, 12);
	f[22] = 1;
	rig_ip4_fix(f);
	memcpy(f + 34, "\x11\x0a\xec\x78\0\0\0\0\2\175\0\0", 12);
	{
		uint16_t sum;

		f[36] = f[37] = 0;
		sum = (uint16_t)~slowsum(0, f + 34, 12);
		f[36] = (uint8_t)(sum >> 8);
		f[37] = (uint8_t)sum;
	}
	rig_in(&rig, f, 46);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 3);
	ck_assert_uint_eq(rig_drops(&rig, DROP_GROUP_BAD), 0);
}
END_TEST

START_TEST(rfc9776_s8_1_robustness_is_what_the_router_says)
{
	join(ns_addr_v4(GROUP));
	pass_ms(5000);
	query4(1, 0, 0, "\5\175\0\0", 4);
	pass_ms(5000);
	rig.sent_cnt = 0;
	leave(ns_addr_v4(GROUP));
	pass_ms(10000);
	ck_assert_uint_eq(rig.sent_cnt, 5);
	/* zero: the default */
	query4(1, 0, 0, "\0\175\0\0", 4);
	pass_ms(0);
	rig.sent_cnt = 0;
	join(ns_addr_v4(GROUP));
	pass_ms(10000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
}
END_TEST

START_TEST(rfc9776_s6_the_group_of_all_hosts_is_never_told)
{
	join(ns_addr_v4(ALL_HOSTS));
	l1()->config.is_multicast = false;
	join(ns_addr_v4(GROUP));
	ck_assert_int_eq(net_group_set(rig.net, &group6, 1, NULL, &everybody), 0);
	pass_ms(10000);
	ck_assert_uint_eq(rig.sent_cnt, 0);
	ck_assert_uint_eq(rig.net->reports.group_cnt, 0);
}
END_TEST

START_TEST(many_groups_take_several_reports)
{
	uint32_t records = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		struct ns_addr a = ns_addr_v4(0xe8000000 + i);

		ck_assert_int_eq(net_group_set(rig.net, &a, RIG_ZONE, NULL, &everybody), 0);
	}
	pass_ms(10000);
	rig.sent_cnt = 0;
	query_v3(10, 0);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 6);
	for (uint32_t i = 0; i < rig.sent_cnt; i++) {
		ck_assert_uint_le(rig.sent[i].len, 14 + 1500);
		records += (uint32_t)rig.sent[i].data[MSG4 + 6] << 8 | rig.sent[i].data[MSG4 + 7];
	}
	ck_assert_uint_eq(records, 1000);
}
END_TEST

START_TEST(a_link_that_comes_up_hears_of_all_groups)
{
	join(ns_addr_v4(GROUP));
	pass_ms(5000);
	rig.sent_cnt = 0;
	ck_assert_int_eq(net_set_link_up(rig.net, 1, false), 0);
	ck_assert_int_eq(net_set_link_up(rig.net, 1, true), 0);
	pass_ms(5000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	igmp_v3(0, 4, GROUP);
	ck_assert_int_eq(net_del_link(rig.net, 1), 0);
	ck_assert_uint_eq(rig.net->reports.group_cnt, 0);
}
END_TEST

/* ---- MLD ---- */

/* Frame @i is an MLD message of @len octets to @dst. */
static const uint8_t *mld(uint32_t i, struct ns_addr dst, uint8_t type, uint32_t len)
{
	const uint8_t *s = rig.sent[i].data;
	uint16_t sum;

	ck_assert_uint_lt(i, rig.sent_cnt);
	ck_assert_uint_eq(rig.sent[i].len, MSG6 + len);
	ck_assert_mem_eq(
		s, ((const uint8_t[]){ 0x33, 0x33, dst.b[12], dst.b[13], dst.b[14], dst.b[15] }),
		6);
	ck_assert_uint_eq(s[R6_NEXT], 0);
	ck_assert_uint_eq(s[R6_HOPS], 1);
	ck_assert_mem_eq(s + 22, r6_us_ll.b, 16);
	ck_assert_mem_eq(s + 38, dst.b, 16);
	ck_assert_mem_eq(s + R6_BODY, "\x3a\0\5\2\0\0\1\0", 8); /* router alert, PadN */
	ck_assert_uint_eq(s[MSG6], type);
	sum = slowsum((uint16_t)(R6_ICMP + len), s + 22, 32);
	ck_assert_uint_eq(slowsum(sum, s + MSG6, len), 0xffff);
	return s + MSG6;
}

static void mld_v2(uint32_t i, uint8_t record, struct ns_addr group)
{
	static const struct ns_addr routers = { { 0xff, 2, [15] = 0x16 } };
	const uint8_t *m = mld(i, routers, 143, 28);

	ck_assert_mem_eq(m + 4, "\0\0\0\1", 4);
	ck_assert_mem_eq(m + 8, ((const uint8_t[]){ record, 0, 0, 0 }), 4);
	ck_assert_mem_eq(m + 12, group.b, 16);
}

/* A query from @src in @f; its length. */
static uint32_t query6_from(struct ns_addr src, uint16_t delay, struct ns_addr group,
			    const char *tail, uint32_t tail_len)
{
	uint8_t b[128] = { 58, 0, 5, 2, 0, 0, 1, 0, 130 };
	uint32_t len;

	b[12] = (uint8_t)(delay >> 8);
	b[13] = (uint8_t)delay;
	memcpy(b + 16, group.b, 16);
	memcpy(b + 32, tail, tail_len);
	len = r6_frame(f, src, ns_addr_is_any(&group) ? r6_all_nodes : group, 0, b, 32 + tail_len);
	f[R6_HOPS] = 1;
	r6_fix(f, len, MSG6);
	return len;
}

static void query6(uint16_t delay, struct ns_addr group)
{
	r6_in(&rig, f, query6_from(r6_peer_ll, delay, group, "\2\175\0\0", 4));
}

START_TEST(rfc9777_s6_1_solicited_node_groups_are_told)
{
	struct ns_addr more = r6_us;

	more.b[15] = 0x77;
	more.b[8] = 1;
	ck_assert_int_eq(net_add_addr(rig.net, 1, &more, 64), 0);
	pass_ms(0);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	mld_v2(0, 4, r6_group(more));
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	/* a second address in the same group is no news, and the group stays while one is left */
	more.b[8] = 2;
	ck_assert_int_eq(net_add_addr(rig.net, 1, &more, 64), 0);
	ck_assert_int_eq(net_del_addr(rig.net, 1, &more), 0);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	more.b[8] = 1;
	ck_assert_int_eq(net_del_addr(rig.net, 1, &more), 0);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 4);
	mld_v2(2, 3, r6_group(more));
}
END_TEST

START_TEST(rfc9777_s6_2_queries_are_answered_in_time)
{
	join(group6);
	join(other6);
	pass_ms(2000);
	rig.sent_cnt = 0;
	query6(1000, r6_any);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].data[MSG6 + 7], 2);
	query6(0, other6);
	pass_ms(0);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	mld_v2(1, 2, other6);
	leave(group6);
	mld_v2(2, 3, group6);
}
END_TEST

START_TEST(rfc9777_s6_2_queries_from_elsewhere_are_dropped)
{
	uint32_t len;

	join(group6);
	pass_ms(2000);
	rig.sent_cnt = 0;
	len = query6_from(r6_peer, 0, r6_any, "\2\175\0\0", 4); /* not link-local */
	r6_in(&rig, f, len);
	len = query6_from(r6_peer_ll, 0, r6_any, "\2\175\0\0", 4);
	f[R6_HOPS] = 2;
	r6_in(&rig, f, len);
	f[R6_HOPS] = 1;
	f[R6_BODY + 2] = 0x1e; /* another option */
	r6_in(&rig, f, len);
	len = query6_from(r6_peer_ll, 0, r6_any, "\2\175\0\1", 4); /* more sources than octets */
	r6_in(&rig, f, len);
	len = query6_from(r6_peer_ll, 0, r6_any, "\2", 1);
	r6_in(&rig, f, len);
	ck_assert_uint_eq(rig_drops(&rig, DROP_GROUP_BAD), 5);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(rfc9777_s8_2_1_routers_of_version_1_are_spoken_to_as_they_speak)
{
	static const struct ns_addr routers = { { 0xff, 2, [15] = 2 } };

	join(group6);
	pass_ms(2000);
	rig.sent_cnt = 0;
	r6_in(&rig, f, query6_from(r6_peer_ll, 1000, r6_any, "", 0));
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_mem_eq(mld(0, group6, 131, 24) + 8, group6.b, 16);
	/* 33 s: version 1 has no mantissa and exponent, in which that would be 32.8 s and more */
	for (uint32_t i = 0; i < 3; i++) {
		rig.sent_cnt = 0;
		r6_in(&rig, f, query6_from(r6_peer_ll, 0x80e8, r6_any, "", 0));
		pass_ms(33000);
		ck_assert_uint_eq(rig.sent_cnt, 1);
	}
	rig.sent_cnt = 1;
	leave(group6);
	ck_assert_mem_eq(mld(1, routers, 132, 24) + 8, group6.b, 16);
	pass_ms(260000);
	rig.sent_cnt = 0;
	join(group6);
	mld_v2(0, 4, group6);
}
END_TEST

START_TEST(mld_in_fragments_is_refused)
{
	uint8_t b[64] = { 44, 0, 5, 2, 0, 0, 1, 0, 58, 0, 0, 0, 0, 0, 0, 5, 130 };
	uint32_t len;

	join(group6);
	pass_ms(2000);
	rig.sent_cnt = 0;
	memcpy(b + 40, "\2\175\0\0", 4);
	len = r6_frame(f, r6_peer_ll, r6_all_nodes, 0, b, 44);
	f[R6_HOPS] = 1;
	r6_fix(f, len, MSG6 + 8);
	r6_in(&rig, f, len);
	ck_assert_uint_eq(rig_drops(&rig, DROP_GROUP_BAD), 1);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

Suite *report_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/report", setup, teardown, &s), *c6 = tcase_create("mld");

	tcase_add_test(c, rfc9776_s5_1_a_join_is_told_at_once_and_once_more);
	tcase_add_test(c, rfc9776_s5_1_a_leave_is_told_as_often);
	tcase_add_test(c, rfc9776_s5_2_a_general_query_is_answered_in_time_with_all_groups);
	tcase_add_test(c, rfc9776_s5_2_a_query_of_a_group_is_answered_for_that);
	tcase_add_test(c, rfc9776_s4_1_malformed_queries_and_those_of_others_are_dropped);
	tcase_add_test(c, rfc9776_s7_2_1_old_routers_are_spoken_to_as_they_speak);
	tcase_add_test(c, rfc9776_s7_2_1_an_old_router_is_remembered_before_the_first_join);
	tcase_add_test(c, rfc9776_s4_1_longer_queries_and_those_to_us_alone_are_answered);
	tcase_add_test(c, rfc9776_s8_1_robustness_is_what_the_router_says);
	tcase_add_test(c, rfc9776_s6_the_group_of_all_hosts_is_never_told);
	tcase_add_test(c, many_groups_take_several_reports);
	tcase_add_test(c, a_link_that_comes_up_hears_of_all_groups);
	tcase_add_checked_fixture(c6, setup6, teardown);
	suite_add_tcase(s, c6);
	tcase_add_test(c6, rfc9777_s6_1_solicited_node_groups_are_told);
	tcase_add_test(c6, rfc9777_s6_2_queries_are_answered_in_time);
	tcase_add_test(c6, rfc9777_s6_2_queries_from_elsewhere_are_dropped);
	tcase_add_test(c6, rfc9777_s8_2_1_routers_of_version_1_are_spoken_to_as_they_speak);
	tcase_add_test(c6, mld_in_fragments_is_refused);
	return s;
}
