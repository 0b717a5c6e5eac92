/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_filter.c - source filters: net/group.c, net/report_group.c and what they make report.c say
 *
 * Reports are compared octet by octet from the number of records on; what is before it is for test_report.c.
 */
#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "rig6.h"
#include "slowsum.h"
#include "suites.h"

enum {
	RECORDS4 =
		44, /* where the records of a report begin: two octets behind the number of them */
	RECORDS6 = 68,
	ALL_HOSTS = 0xe0000001,
	SRC = 0x0a010000, /* the sources are 10.1.0.n, and 2001:db8:1::n */
};

#define GROUP4 "\xef\1\2\3"
#define S(n_)  "\x0a\1\0" n_
/* ff05::709 */
#define GROUP6 "\xff\5\0\0\0\0\0\0\0\0\0\0\0\0\7\x9"
#define S6(n_) "\x20\1\xd\xb8\0\1\0\0\0\0\0\0\0\0\0" n_

static struct rig rig;
static uint8_t f[4096];
static struct ns_addr group;

/* struct filter - as a socket has it */
struct filter {
	struct net_filter f;
	struct ns_addr v[512];
};

static struct link *l1(void)
{
	return net_link(rig.net, 1);
}

static void setup(void)
{
	rig_init(&rig);
	l1()->config.is_multicast = true;
	group = ns_addr_v4(0xef010203);
}

static void setup6(void)
{
	r6_init(&rig);
	l1()->config.is_multicast = true;
	group = (struct ns_addr){ { 0xff, 5, [14] = 7, [15] = 9 } };
	rig_pass(&rig, 20 * NS_PER_SEC); /* of the groups of our addresses all is told */
	rig.sent_cnt = 0;
}

static void teardown(void)
{
	rig_done(&rig);
}

static void pass_ms(uint64_t ms)
{
	rig_pass(&rig, ms * NS_PER_MS);
}

static struct ns_addr source(uint32_t n)
{
	struct ns_addr a = { { 0x20, 1, 0xd, 0xb8, 0, 1 } };

	if (ns_addr_is_v4(&group))
		return ns_addr_v4(SRC + n);
	a.b[14] = (uint8_t)(n >> 8);
	a.b[15] = (uint8_t)n;
	return a;
}

/* Those whose digit is in @names. */
static const struct net_filter *of(struct filter *x, bool is_exclude, const char *names)
{
	x->f = (struct net_filter){ is_exclude, 0, x->v };
	for (const char *s = names; *s; s++)
		x->v[x->f.cnt++] = source((uint32_t)(*s - '0'));
	return &x->f;
}

#define IN(names_) of(&(struct filter){ { 0 }, { { { 0 } } } }, false, names_)
#define EX(names_) of(&(struct filter){ { 0 }, { { { 0 } } } }, true, names_)

static void set(const struct net_filter *was, const struct net_filter *is)
{
	ck_assert_int_eq(net_group_set(rig.net, &group, RIG_ZONE, was, is), 0);
	pass_ms(0);
}

/* Which of 1 to 6 the link hears. */
static const char *heard(void)
{
	static char names[8];
	uint32_t cnt = 0;

	for (uint32_t i = 1; i <= 6; i++) {
		struct ns_addr a = source(i);

		if (net_group_hears(rig.net, &group, &a, RIG_ZONE))
			names[cnt++] = (char)('0' + i);
	}
	names[cnt] = '\0';
	return names;
}

/* Report number @i has exactly these records; @len octets. */
static void report_is(uint32_t i, const char *records, uint32_t len)
{
	uint32_t at = ns_addr_is_v4(&group) ? RECORDS4 : RECORDS6;

	ck_assert_uint_lt(i, rig.sent_cnt);
	ck_assert_uint_eq(rig.sent[i].len, at + len);
	ck_assert_mem_eq(rig.sent[i].data + at, records, len);
	ck_assert_uint_eq(rig.sent[i].data[at - 6], ns_addr_is_v4(&group) ? 0x22 : 143);
}

#define REPORT(i_, records_) report_is(i_, records_, sizeof(records_) - 1)

static void nothing_more(uint32_t sent)
{
	pass_ms(60000);
	ck_assert_uint_eq(rig.sent_cnt, sent);
	rig.sent_cnt = 0;
}

/* A query; what follows the group is given. @src_cnt sources from number @first on come behind that. */
static void query4(uint8_t code, uint32_t g, const char *tail, uint32_t tail_len, uint32_t first,
		   uint32_t src_cnt)
{
	uint8_t m[2048] = { 0x11, code };
	struct be32 at = be32(g);
	uint32_t len = 8 + tail_len, off;
	uint16_t sum;

	memcpy(m + 4, &at, 4);
	memcpy(m + 8, tail, tail_len);
	for (uint32_t i = 0; i < src_cnt; i++, len += 4)
		memcpy(m + len, source(first + i).b + 12, 4);
	sum = (uint16_t)~slowsum(0, m, len);
	m[2] = (uint8_t)(sum >> 8);
	m[3] = (uint8_t)sum;
	off = rig_ip4(f, RIG_PEER, g ? g : ALL_HOSTS, 2, len);
	f[22] = 1;
	rig_ip4_fix(f);
	memcpy(f, "\x01\x00\x5e\x00\x00\x01", 6);
	memcpy(f + off, m, len);
	rig_in(&rig, f, off + len);
}

static void query6(uint16_t delay, struct ns_addr g, const char *tail, uint32_t tail_len,
		   uint32_t first, uint32_t src_cnt)
{
	uint8_t b[2048] = { 58, 0, 5, 2, 0, 0, 1, 0, 130 };
	uint32_t len = 32 + tail_len;

	b[12] = (uint8_t)(delay >> 8);
	b[13] = (uint8_t)delay;
	memcpy(b + 16, g.b, 16);
	memcpy(b + 32, tail, tail_len);
	for (uint32_t i = 0; i < src_cnt; i++, len += 16)
		memcpy(b + len, source(first + i).b, 16);
	len = r6_frame(f, r6_peer_ll, ns_addr_is_any(&g) ? r6_all_nodes : g, 0, b, len);
	f[R6_HOPS] = 1;
	r6_fix(f, len, 62);
	r6_in(&rig, f, len);
}

/* Of this group, @src_cnt (below 256) sources of it, to be answered in a second. */
static void query(uint32_t first, uint32_t src_cnt)
{
	char tail[4] = { 2, 125, 0, (char)src_cnt };

	if (ns_addr_is_v4(&group))
		query4(10, ns_addr_to_v4(&group), tail, 4, first, src_cnt);
	else
		query6(1000, group, tail, 4, first, src_cnt);
}

static void query_all(void)
{
	if (ns_addr_is_v4(&group))
		query4(10, 0, "\2\175\0\0", 4, 0, 0);
	else
		query6(1000, r6_any, "\2\175\0\0", 4, 0, 0);
}

/* ---- RFC 9776 3.2 ---- */

START_TEST(rfc9776_s3_2_state_of_a_link_is_the_sum_of_filters)
{
	/* the RFC's own example */
	set(NULL, EX("123"));
	set(NULL, EX("234"));
	set(NULL, IN("45"));
	ck_assert_str_eq(heard(), "1456"); /* EXCLUDE {2, 3} */
	set(EX("234"), NULL);
	set(EX("123"), NULL);
	ck_assert_str_eq(heard(), "45");
	set(NULL, IN("56"));
	ck_assert_str_eq(heard(), "456");
	set(IN("45"), NULL);
	ck_assert_str_eq(heard(), "56");
	set(IN("56"), IN(""));
	ck_assert_str_eq(heard(), "");
	ck_assert(net_group_has(rig.net, &group, RIG_ZONE));
	set(IN(""), NULL);
	ck_assert(!net_group_has(rig.net, &group, RIG_ZONE));
	/* a filter that names one twice means it once */
	set(NULL, EX("33"));
	set(NULL, EX("3"));
	ck_assert_str_eq(heard(), "12456");
	set(EX("33"), EX(""));
	ck_assert_str_eq(heard(), "123456");
	ck_assert_uint_eq(rig.net->groups.source_cnt, 1);
}
END_TEST

START_TEST(what_a_link_hears_is_what_any_filter_lets_in)
{
	enum { SOCKS = 5, TURNS = 3000 };
	static struct filter socks[SOCKS];
	bool is_member[SOCKS] = { false };

	for (uint32_t turn = 0; turn < TURNS; turn++) {
		uint32_t i = (uint32_t)prng_below(&rig.prng, SOCKS), cnt = 0;
		struct filter old = socks[i];
		char names[8], want[8];
		bool was = is_member[i];

		old.f.sources = old.v;
		for (char c = '1'; c <= '6'; c++)
			if (prng_below(&rig.prng, 3) == 0)
				names[cnt++] = c;
		names[cnt] = '\0';
		is_member[i] = prng_below(&rig.prng, 4) != 0;
		of(&socks[i], prng_below(&rig.prng, 2), names);
		set(was ? &old.f : NULL, is_member[i] ? &socks[i].f : NULL);
		cnt = 0;
		for (uint32_t n = 1; n <= 6; n++) {
			struct ns_addr a = source(n);
			bool hears = false;

			for (uint32_t k = 0; k < SOCKS; k++) {
				bool is_named = false;

				for (uint32_t j = 0; j < socks[k].f.cnt; j++)
					is_named |= ns_addr_eq(&socks[k].v[j], &a);
				hears |= is_member[k] && is_named != socks[k].f.is_exclude;
			}
			if (hears)
				want[cnt++] = (char)('0' + n);
		}
		want[cnt] = '\0';
		ck_assert_str_eq(heard(), want);
		rig.sent_cnt = 0;
	}
	for (uint32_t i = 0; i < SOCKS; i++)
		if (is_member[i])
			set(&socks[i].f, NULL);
	ck_assert_uint_eq(rig.net->groups.source_cnt, 0);
	ck_assert_uint_eq(rig.net->groups.cnt, 0);
	pass_ms(60000);
	ck_assert_uint_eq(rig.net->reports.group_cnt, 0);
	ck_assert_uint_eq(rig.net->reports.source_cnt, 0);
}
END_TEST

/* ---- RFC 9776 5.1 ---- */

START_TEST(rfc9776_s5_1_lists_that_change_are_told_as_differences)
{
	/* not existing is INCLUDE {} */
	set(NULL, IN("12"));
	REPORT(0, "\0\1\5\0\0\2" GROUP4 S("\1") S("\2"));
	pass_ms(1000);
	REPORT(1, "\0\1\5\0\0\2" GROUP4 S("\1") S("\2"));
	nothing_more(2);
	/* INCLUDE (A) to INCLUDE (B) */
	set(IN("12"), IN("23"));
	REPORT(0, "\0\2\5\0\0\1" GROUP4 S("\3") "\6\0\0\1" GROUP4 S("\1"));
	pass_ms(1000);
	REPORT(1, "\0\2\5\0\0\1" GROUP4 S("\3") "\6\0\0\1" GROUP4 S("\1"));
	nothing_more(2);
	/* the last one is left */
	set(IN("23"), NULL);
	REPORT(0, "\0\1\6\0\0\2" GROUP4 S("\2") S("\3"));
	nothing_more(2);
	ck_assert_uint_eq(rig.net->reports.group_cnt, 0);
	/* EXCLUDE (A) to EXCLUDE (B) */
	set(NULL, EX("12"));
	REPORT(0, "\0\1\4\0\0\2" GROUP4 S("\1") S("\2"));
	nothing_more(2);
	set(EX("12"), EX("23"));
	REPORT(0, "\0\2\5\0\0\1" GROUP4 S("\1") "\6\0\0\1" GROUP4 S("\3"));
	nothing_more(2);
}
END_TEST

START_TEST(rfc9776_s5_1_a_mode_that_changes_is_told_with_its_list)
{
	set(NULL, IN("12"));
	nothing_more(2);
	set(IN("12"), EX("23"));
	REPORT(0, "\0\1\4\0\0\2" GROUP4 S("\2") S("\3"));
	pass_ms(1000);
	REPORT(1, "\0\1\4\0\0\2" GROUP4 S("\2") S("\3"));
	nothing_more(2);
	set(EX("23"), IN("1"));
	REPORT(0, "\0\1\3\0\0\1" GROUP4 S("\1"));
	nothing_more(2);
	/* another socket excludes one: its filter is the sum's, but for who is included */
	set(NULL, EX("16"));
	REPORT(0, "\0\1\4\0\0\1" GROUP4 S("\6"));
	nothing_more(2);
	/* what does not change the sum is no news */
	set(IN("1"), IN("123"));
	set(IN("123"), IN("1"));
	nothing_more(0);
	set(EX("16"), NULL);
	REPORT(0, "\0\1\3\0\0\1" GROUP4 S("\1"));
}
END_TEST

START_TEST(rfc9776_s5_1_changes_meet_on_their_way)
{
	/* each source is told robustness times, whatever else changes meanwhile */
	set(NULL, IN("1"));
	REPORT(0, "\0\1\5\0\0\1" GROUP4 S("\1"));
	set(IN("1"), IN("12"));
	REPORT(1, "\0\1\5\0\0\2" GROUP4 S("\1") S("\2"));
	pass_ms(1000);
	REPORT(2, "\0\1\5\0\0\1" GROUP4 S("\2"));
	nothing_more(3);
	/* one that goes again before it was told twice: its last change counts */
	set(IN("12"), IN("123"));
	set(IN("123"), IN("12"));
	REPORT(0, "\0\1\5\0\0\1" GROUP4 S("\3"));
	REPORT(1, "\0\1\6\0\0\1" GROUP4 S("\3"));
	pass_ms(1000);
	REPORT(2, "\0\1\6\0\0\1" GROUP4 S("\3"));
	nothing_more(3);
	/* while the mode is told the list is in it; then come sources that changed later */
	set(IN("12"), EX(""));
	REPORT(0, "\0\1\4\0\0\0" GROUP4);
	set(EX(""), EX("4"));
	REPORT(1, "\0\1\4\0\0\1" GROUP4 S("\4"));
	pass_ms(1000);
	REPORT(2, "\0\1\6\0\0\1" GROUP4 S("\4"));
	nothing_more(3);
	/* a mode that changes back within a turn is none, lists are compared with what was told */
	ck_assert_int_eq(net_group_set(rig.net, &group, RIG_ZONE, EX("4"), IN("4")), 0);
	ck_assert_int_eq(net_group_set(rig.net, &group, RIG_ZONE, IN("4"), EX("4")), 0);
	pass_ms(0);
	REPORT(0, "\0\1\4\0\0\1" GROUP4 S("\4"));
	nothing_more(2);
}
END_TEST

/* ---- RFC 9776 5.2 ---- */

START_TEST(rfc9776_s5_2_states_are_told_with_their_lists)
{
	set(NULL, IN("12"));
	nothing_more(2);
	query_all();
	pass_ms(1000);
	REPORT(0, "\0\1\1\0\0\2" GROUP4 S("\1") S("\2"));
	query(0, 0);
	pass_ms(1000);
	REPORT(1, "\0\1\1\0\0\2" GROUP4 S("\1") S("\2"));
	nothing_more(2);
	set(IN("12"), EX("3"));
	nothing_more(2);
	query_all();
	pass_ms(1000);
	REPORT(0, "\0\1\2\0\0\1" GROUP4 S("\3"));
	query(0, 0);
	pass_ms(1000);
	REPORT(1, "\0\1\2\0\0\1" GROUP4 S("\3"));
	nothing_more(2);
	/* a member that hears nobody is none */
	set(EX("3"), IN(""));
	nothing_more(2);
	query_all();
	query(0, 0);
	nothing_more(0);
}
END_TEST

START_TEST(rfc9776_s5_2_of_sources_those_are_told_that_are_wanted)
{
	/* INCLUDE (A), asked for B: A * B */
	set(NULL, IN("124"));
	nothing_more(2);
	query(2, 3);
	pass_ms(1000);
	REPORT(0, "\0\1\1\0\0\2" GROUP4 S("\2") S("\4"));
	nothing_more(1);
	query(5, 2);
	nothing_more(0);
	/* EXCLUDE (A): B - A */
	set(IN("124"), EX("3"));
	nothing_more(2);
	query(2, 3);
	pass_ms(1000);
	REPORT(0, "\0\1\1\0\0\2" GROUP4 S("\2") S("\4"));
	nothing_more(1);
	query(3, 1);
	nothing_more(0);
	/* what is wanted when the answer is due is what counts */
	query(3, 1);
	set(EX("3"), EX(""));
	nothing_more(3);
	query(3, 1);
	pass_ms(1000);
	REPORT(0, "\0\1\1\0\0\1" GROUP4 S("\3"));
}
END_TEST

START_TEST(rfc9776_s5_2_queries_that_wait_are_answered_together)
{
	set(NULL, EX(""));
	nothing_more(2);
	/* sources add up, and none twice */
	query(1, 2);
	query(2, 2);
	pass_ms(1000);
	REPORT(0, "\0\1\1\0\0\3" GROUP4 S("\1") S("\2") S("\3"));
	nothing_more(1);
	/* the group is more than sources of it, in either order */
	query(1, 2);
	query(0, 0);
	pass_ms(1000);
	REPORT(0, "\0\1\2\0\0\0" GROUP4);
	nothing_more(1);
	query(0, 0);
	query(1, 2);
	pass_ms(1000);
	REPORT(0, "\0\1\2\0\0\0" GROUP4);
	nothing_more(1);
	/* all groups in less time than can be chosen for one: that one need not be told by itself */
	query4(0, 0, "\2\175\0\0", 4, 0, 0);
	query(0, 0);
	query(1, 2);
	pass_ms(1000);
	REPORT(0, "\0\1\2\0\0\0" GROUP4);
	nothing_more(1);
}
END_TEST

START_TEST(a_query_of_more_sources_than_are_kept_is_one_of_the_group)
{
	set(NULL, EX(""));
	nothing_more(2);
	for (uint32_t i = 0; i < 4; i++)
		query4(10, 0xef010203, "\2\175\1\54", 4, i * 300, 300);
	pass_ms(1000);
	REPORT(0, "\0\1\2\0\0\0" GROUP4);
	nothing_more(1);
	ck_assert_uint_eq(rig.net->reports.source_cnt, 0);
}
END_TEST

/* ---- RFC 9776 4.2.16 ---- */

static void set_many(const struct net_filter *was, struct filter *x, bool is_exclude, uint32_t cnt)
{
	x->f = (struct net_filter){ is_exclude, cnt, x->v };
	for (uint32_t i = 0; i < cnt; i++)
		x->v[i] = source(i);
	set(was, &x->f);
}

START_TEST(rfc9776_s4_2_16_long_lists_are_cut_to_what_the_link_takes)
{
	static struct filter x, y;
	uint32_t told = 0;

	/* 1500 octets: 24 of IP, 8 of the report, 8 of the record, and 365 sources */
	set_many(NULL, &x, false, 500);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const uint8_t *r = rig.sent[i].data + RECORDS4;

		ck_assert_mem_eq(r, "\0\1\5\0", 4);
		ck_assert_uint_eq((uint32_t)r[4] << 8 | r[5], i ? 135 : 365);
		ck_assert_uint_eq(rig.sent[i].len, RECORDS4 + 2 + 8 + 4 * (i ? 135 : 365));
		ck_assert_mem_eq(r + 6, GROUP4, 4);
		for (uint32_t k = 0; k < (i ? 135u : 365u); k++)
			ck_assert_mem_eq(r + 10 + 4 * k, source(told++).b + 12, 4);
	}
	nothing_more(4);
	/* EXCLUDE is one record with as many as fit */
	set_many(&x.f, &y, true, 500);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].len, 14 + 1500);
	ck_assert_mem_eq(rig.sent[0].data + RECORDS4, "\0\1\4\0\1\x6d" GROUP4, 10);
	nothing_more(2);
	/* a record that does not fit behind another begins in the next report */
	{
		struct ns_addr other = ns_addr_v4(0xef010204);

		ck_assert_int_eq(net_group_set(rig.net, &other, RIG_ZONE, NULL, &y.f), 0);
		nothing_more(2);
		query_all();
		pass_ms(1000);
		ck_assert_uint_eq(rig.sent_cnt, 2);
		ck_assert_uint_eq(rig.sent[0].len, 14 + 1500);
		ck_assert_uint_eq(rig.sent[1].len, 14 + 1500);
	}
}
END_TEST

/* ---- RFC 9776 7.2.1, 8.12 ---- */

START_TEST(rfc9776_s7_2_1_old_routers_hear_of_no_sources)
{
	query4(100, 0, "", 0, 0, 0);
	set(NULL, IN("1"));
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_mem_eq(rig.sent[0].data + 38, "\x16\0", 2);
	nothing_more(2);
	set(IN("1"), IN("23"));
	set(IN("23"), EX("5"));
	set(EX("5"), IN("1"));
	nothing_more(0);
	/* a query of sources is one of the group */
	query(4, 1);
	pass_ms(1000);
	ck_assert_mem_eq(rig.sent[0].data + 38, "\x16\0", 2);
	nothing_more(1);
	query4(100, 0, "", 0, 0, 0);
	nothing_more(1);
	set(IN("1"), NULL);
	ck_assert_mem_eq(rig.sent[0].data + 38, "\x17\0", 2);
	nothing_more(1);
}
END_TEST

/* How long after an old query version 3 is spoken again, in ms. */
static uint64_t old_for_ms(uint8_t code)
{
	uint64_t ms = 0;

	query4(code, 0, "", 0, 0, 0);
	pass_ms(12000);
	for (ms = 12000; ms < 1000000; ms += 500) {
		bool is_old;

		set(NULL, EX(""));
		is_old = rig.sent[rig.sent_cnt - 1].data[38] != 0x22;
		set(EX(""), NULL);
		rig.sent_cnt = 0;
		if (!is_old)
			break;
		pass_ms(500);
	}
	return ms;
}

START_TEST(rfc9776_s8_12_an_old_router_counts_for_the_intervals_that_were_told)
{
	/* defaults: 2 * 125 s, and what this query leaves to answer in */
	ck_assert_uint_eq(old_for_ms(100), 260000);
	ck_assert_uint_eq(old_for_ms(50), 255000);
	/* robustness 3, 20 s */
	query4(10, 0, "\3\24\0\0", 4, 0, 0);
	pass_ms(2000);
	rig.sent_cnt = 0;
	ck_assert_uint_eq(old_for_ms(50), 65000);
	/* version 1 has ten seconds */
	ck_assert_uint_eq(old_for_ms(0), 70000);
	/* an interval as mantissa and exponent: 0x8f is 31 << 3 seconds; robustness 1 */
	query4(10, 0, "\1\x8f\0\0", 4, 0, 0);
	pass_ms(2000);
	rig.sent_cnt = 0;
	ck_assert_uint_eq(old_for_ms(100), 258000);
	/* zeros: the defaults again */
	query4(10, 0, "\0\0\0\0", 4, 0, 0);
	pass_ms(2000);
	rig.sent_cnt = 0;
	ck_assert_uint_eq(old_for_ms(100), 260000);
}
END_TEST

/* ---- knobs ---- */

START_TEST(linux_knobs_of_reports)
{
	rig.core.knobs[NS_KNOB_igmp_qrv] = 4;
	set(NULL, IN("1"));
	nothing_more(4);
	set(IN("1"), NULL);
	nothing_more(4);
	/* always version 1, and version 2 */
	rig.core.knobs[NS_KNOB_force_igmp_version] = 1;
	set(NULL, IN("1"));
	ck_assert_uint_eq(rig.sent[0].data[38], 0x12);
	nothing_more(4);
	rig.core.knobs[NS_KNOB_force_igmp_version] = 2;
	query(0, 0);
	nothing_more(1);
	set(IN("1"), NULL);
	ck_assert_uint_eq(rig.sent[0].data[38], 0x17);
	nothing_more(1);
	rig.core.knobs[NS_KNOB_force_igmp_version] = 0;
	/* groups of 224.0.0.0/24 are told, as often as the query said; and not */
	group = ns_addr_v4(0xe00000fb);
	set(NULL, EX(""));
	nothing_more(2);
	set(EX(""), NULL);
	nothing_more(2);
	rig.core.knobs[NS_KNOB_igmp_link_local_mcast_reports] = 0;
	set(NULL, EX(""));
	nothing_more(0);
}
END_TEST

START_TEST(a_membership_outlasts_its_link)
{
	struct ns_link_config c = l1()->config;
	uint32_t id;

	set(NULL, IN("1"));
	nothing_more(2);
	ck_assert_int_eq(net_del_link(rig.net, 1), 0);
	ck_assert_uint_eq(rig.net->reports.group_cnt, 0);
	ck_assert_str_eq(heard(), "");
	ck_assert_int_eq(net_group_set(rig.net, &group, RIG_ZONE, NULL, IN("2")), -ENODEV);
	ck_assert_int_eq(net_add_link(rig.net, &c, &id), 0);
	ck_assert_str_eq(heard(), "1");
	ck_assert_int_eq(net_set_link_up(rig.net, id, true), 0);
	pass_ms(0);
	ck_assert_uint_gt(rig.sent_cnt, 0);
	REPORT(0, "\0\1\5\0\0\1" GROUP4 S("\1"));
	ck_assert_int_eq(net_del_link(rig.net, id), 0);
	ck_assert_int_eq(net_group_set(rig.net, &group, RIG_ZONE, IN("1"), NULL), 0);
	ck_assert_uint_eq(rig.net->groups.cnt, 0);
}
END_TEST

/* ---- MLD ---- */

START_TEST(rfc9777_s6_1_lists_and_modes_that_change_are_told)
{
	set(NULL, IN("12"));
	REPORT(0, "\0\1\5\0\0\2" GROUP6 S6("\1") S6("\2"));
	pass_ms(1000);
	REPORT(1, "\0\1\5\0\0\2" GROUP6 S6("\1") S6("\2"));
	nothing_more(2);
	set(IN("12"), IN("23"));
	REPORT(0, "\0\2\5\0\0\1" GROUP6 S6("\3") "\6\0\0\1" GROUP6 S6("\1"));
	nothing_more(2);
	set(IN("23"), EX("3"));
	REPORT(0, "\0\1\4\0\0\1" GROUP6 S6("\3"));
	nothing_more(2);
	set(EX("3"), NULL);
	REPORT(0, "\0\1\3\0\0\0" GROUP6);
	nothing_more(2);
}
END_TEST

START_TEST(rfc9777_s6_2_of_sources_those_are_told_that_are_wanted)
{
	set(NULL, IN("124"));
	nothing_more(2);
	query(2, 3);
	pass_ms(1000);
	REPORT(0, "\0\1\1\0\0\2" GROUP6 S6("\2") S6("\4"));
	query(5, 1);
	nothing_more(1);
	set(IN("124"), EX("3"));
	nothing_more(2);
	query(2, 3);
	query(3, 3);
	pass_ms(1000);
	REPORT(0, "\0\1\1\0\0\3" GROUP6 S6("\2") S6("\4") S6("\5"));
	nothing_more(1);
	query(0, 0);
	pass_ms(1000);
	REPORT(0, "\0\1\2\0\0\1" GROUP6 S6("\3"));
}
END_TEST

START_TEST(rfc9777_s5_2_15_long_lists_are_cut_to_what_the_link_takes)
{
	static struct filter x, y;

	/* 1500 octets: 48 of IP, 8 of the report, 20 of the record, and 89 sources */
	set_many(NULL, &x, false, 100);
	ck_assert_uint_eq(rig.sent_cnt, 2);
	ck_assert_uint_eq(rig.sent[0].len, 14 + 1500);
	ck_assert_mem_eq(rig.sent[0].data + RECORDS6, "\0\1\5\0\0\x59" GROUP6, 22);
	ck_assert_mem_eq(rig.sent[1].data + RECORDS6, "\0\1\5\0\0\xb" GROUP6, 22);
	nothing_more(4);
	set_many(&x.f, &y, true, 100);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_mem_eq(rig.sent[0].data + RECORDS6, "\0\1\4\0\0\x59" GROUP6, 22);
}
END_TEST

/* A link-local source has a zone inside, and none on the wire. */
START_TEST(mld_link_local_sources_are_those_of_the_link)
{
	struct ns_addr near = ns_addr_zoned(r6_peer_ll, RIG_ZONE);
	const struct net_filter is = { false, 1, &near };
	char record[] = "\0\1\5\0\0\1" GROUP6 "0123456789abcdef";
	uint8_t q[64] = { 58, 0, 5, 2, 0, 0, 1, 0, 130 };
	uint32_t len;

	set(NULL, &is);
	memcpy(record + 22, ns_addr_zoned(r6_peer_ll, 0).b, 16);
	report_is(0, record, 38);
	nothing_more(2);
	memcpy(q + 16, group.b, 16);
	memcpy(q + 32, "\2\175\0\1", 4);
	memcpy(q + 36, ns_addr_zoned(r6_peer_ll, 0).b, 16);
	len = r6_frame(f, r6_peer_ll, group, 0, q, 52);
	f[R6_HOPS] = 1;
	r6_fix(f, len, 62);
	r6_in(&rig, f, len);
	pass_ms(0);
	record[2] = 1;
	report_is(0, record, 38);
}
END_TEST

/* The group that an address of ours is asked in excludes nobody, whatever sockets want of it. */
START_TEST(rfc9777_s4_2_groups_of_our_addresses_are_heard_from_all)
{
	group = r6_group(r6_us);
	set(NULL, IN("1"));
	REPORT(0, "\0\1\4\0\0\0"
		  "\xff\2\0\0\0\0\0\0\0\0\0\1\xff\0\0\2");
	nothing_more(2);
	set(IN("1"), EX("2"));
	set(EX("2"), NULL);
	nothing_more(0);
	query(2, 1);
	pass_ms(1000);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].data[RECORDS6 + 2], 1);
	ck_assert_uint_eq(rig.sent[0].data[RECORDS6 + 5], 1);
}
END_TEST

START_TEST(rfc9777_s9_12_an_old_router_counts_for_the_intervals_that_were_told)
{
	query6(1000, r6_any, "\3\24\0\0", 4, 0, 0); /* robustness 3, 20 s */
	nothing_more(0);
	query6(5000, r6_any, "", 0, 0, 0);
	pass_ms(64000);
	rig.sent_cnt = 0;
	set(NULL, EX(""));
	ck_assert_uint_eq(rig.sent[0].data[62], 131);
	set(EX(""), NULL);
	pass_ms(1000);
	rig.sent_cnt = 0;
	set(NULL, EX(""));
	REPORT(0, "\0\1\4\0\0\0" GROUP6);
	/* by knob: always version 1, and version 2 whoever asks */
	nothing_more(3);
	rig.core.knobs[NS_KNOB_force_mld_version] = 1;
	set(EX(""), NULL);
	ck_assert_uint_eq(rig.sent[0].data[62], 132);
	nothing_more(1);
	rig.core.knobs[NS_KNOB_force_mld_version] = 2;
	query6(5000, r6_any, "", 0, 0, 0);
	pass_ms(5000);
	rig.sent_cnt = 0;
	set(NULL, EX(""));
	REPORT(0, "\0\1\4\0\0\0" GROUP6);
}
END_TEST

Suite *filter_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/filter", setup, teardown, &s), *c6 = tcase_create("mld");

	tcase_add_test(c, rfc9776_s3_2_state_of_a_link_is_the_sum_of_filters);
	tcase_add_test(c, what_a_link_hears_is_what_any_filter_lets_in);
	tcase_add_test(c, rfc9776_s5_1_lists_that_change_are_told_as_differences);
	tcase_add_test(c, rfc9776_s5_1_a_mode_that_changes_is_told_with_its_list);
	tcase_add_test(c, rfc9776_s5_1_changes_meet_on_their_way);
	tcase_add_test(c, rfc9776_s5_2_states_are_told_with_their_lists);
	tcase_add_test(c, rfc9776_s5_2_of_sources_those_are_told_that_are_wanted);
	tcase_add_test(c, rfc9776_s5_2_queries_that_wait_are_answered_together);
	tcase_add_test(c, a_query_of_more_sources_than_are_kept_is_one_of_the_group);
	tcase_add_test(c, rfc9776_s4_2_16_long_lists_are_cut_to_what_the_link_takes);
	tcase_add_test(c, rfc9776_s7_2_1_old_routers_hear_of_no_sources);
	tcase_add_test(c, rfc9776_s8_12_an_old_router_counts_for_the_intervals_that_were_told);
	tcase_add_test(c, linux_knobs_of_reports);
	tcase_add_test(c, a_membership_outlasts_its_link);
	tcase_add_checked_fixture(c6, setup6, teardown);
	suite_add_tcase(s, c6);
	tcase_add_test(c6, rfc9777_s6_1_lists_and_modes_that_change_are_told);
	tcase_add_test(c6, rfc9777_s6_2_of_sources_those_are_told_that_are_wanted);
	tcase_add_test(c6, rfc9777_s5_2_15_long_lists_are_cut_to_what_the_link_takes);
	tcase_add_test(c6, mld_link_local_sources_are_those_of_the_link);
	tcase_add_test(c6, rfc9777_s4_2_groups_of_our_addresses_are_heard_from_all);
	tcase_add_test(c6, rfc9777_s9_12_an_old_router_counts_for_the_intervals_that_were_told);
	return s;
}
