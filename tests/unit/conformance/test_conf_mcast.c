/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_conf_mcast.c - source filters as a program and its peers see them: RFC 3678, RFC 9776 2, RFC 9777 3
 *
 * integration.mcast holds the calls against the kernel's; here is what they let in, which drop counts what they
 * do not, and what a stack says that an agent never asks.
 */
#include "dgram.h"

#include "support/frame.h"

enum {
	DNS = 53,
	IFINDEX = 2, /* of the wire; 1 is the loop */
};

static const struct ns_addr group = { { [10] = 0xff, 0xff, 232, 1, 2, 3 } };

static int call(ns_sock s, enum ns_group_what what, uint32_t source)
{
	return ns_dgram_group(rp.stack, s, what,
			      &(struct ns_group_req){ .group = group,
						      .source = ns_addr_v4(source),
						      .ifindex = IFINDEX });
}

static void from(uint32_t src, const char *text)
{
	static struct frame f;
	struct way w = rp_way(4000, DNS);
	uint8_t b[64] = { 4000 >> 8, 4000 & 0xff, 0, DNS };
	uint32_t len = 8 + (uint32_t)strlen(text);

	w.src = src;
	w.dst = ns_addr_to_v4(&group);
	b[5] = (uint8_t)len;
	memcpy(b + 8, text, len - 8);
	frame_ip4(&f, &w, &(struct ip4_in){ .proto = 17 }, b, len);
	rp_inject(&rp, &f);
}

static ns_sock bound(uint32_t addr, uint16_t port)
{
	const struct ns_endpoint local = { ns_addr_v4(addr), port };

	return dgram_bound(&local);
}

START_TEST(rfc3678_sources_are_heard_by_the_filter_of_each_socket)
{
	ns_sock sock = bound(0, DNS), second;

	snap();
	from(RP_PEER, "nobody is in");
	expect(moved("UDP_NO_MEMBER") == 1);
	expect(call(sock, NS_GROUP_JOIN_SOURCE, RP_PEER) == 0);
	from(RP_PEER, "wanted");
	expect(dgram_got(sock, "wanted", NULL));
	/* the link lets nobody else in */
	from(RP_PEER + 5, "not wanted");
	expect(moved("GROUP_FILTERED") == 1);
	/* another socket wants that one: the link hears both, each socket its own */
	second = bound(0xe8010203, DNS + 1);
	expect(ns_sock_setopt(rp.stack, second, NS_IP_MULTICAST_ALL, 0) == 0);
	expect(call(second, NS_GROUP_JOIN_SOURCE, RP_PEER + 5) == 0);
	from(RP_PEER + 5, "for the other");
	expect(moved("UDP_FILTERED") == 1 && !dgram_got(sock, "", NULL));
	from(RP_PEER, "for this one");
	expect(dgram_got(sock, "for this one", NULL));
	expect(call(sock, NS_GROUP_LEAVE_SOURCE, RP_PEER) == 0);
	/* it is in no more, and hears what others are in for */
	from(RP_PEER + 5, "for all");
	expect(dgram_got(sock, "for all", NULL));
	ns_sock_close(rp.stack, second);
	from(RP_PEER + 5, "nobody is in");
	expect(moved("UDP_NO_MEMBER") == 2);
}
END_TEST

START_TEST(rfc3678_s4_limits_are_knobs)
{
	static struct ns_filter f = { .cnt = NS_FILTER_MAX };
	const struct ns_group_req q = { .group = group, .ifindex = IFINDEX };
	ns_sock sock = bound(0, DNS);

	expect(ns_stack_set_knob(rp.stack, NS_KNOB_igmp_max_msf, 2) == 0);
	expect(call(sock, NS_GROUP_JOIN_SOURCE, 1) == 0);
	expect(call(sock, NS_GROUP_JOIN_SOURCE, 2) == 0);
	expect(call(sock, NS_GROUP_JOIN_SOURCE, 3) == -ENOBUFS);
	expect(ns_dgram_set_filter(rp.stack, sock, &q, &f) == -ENOBUFS);
	expect(ns_stack_set_knob(rp.stack, NS_KNOB_igmp_max_msf, 1000) == 0);
	for (uint32_t i = 0; i < f.cnt; i++)
		f.source[i] = ns_addr_v4(100 + i);
	expect(ns_dgram_set_filter(rp.stack, sock, &q, &f) == 0);
	expect(call(sock, NS_GROUP_JOIN_SOURCE, 3) == -ENOBUFS);
	f.cnt = 0;
	expect(ns_dgram_get_filter(rp.stack, sock, &q, &f) == 0);
	expect(f.cnt == NS_FILTER_MAX && !f.is_exclude && ns_addr_to_v4(&f.source[7]) == 107);
	expect(ns_stack_set_knob(rp.stack, NS_KNOB_igmp_max_memberships, 1) == 0);
	expect(ns_dgram_group(rp.stack, sock, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = ns_addr_v4(0xe8010204),
						      .ifindex = IFINDEX }) == -ENOBUFS);
	/* IPv6 has no such limit, but memory: 131072 octets, 56 a group */
	{
		ns_sock six = dgram_opened();
		struct ns_group_req g = { .group = { { 0xff, 5 } }, .ifindex = IFINDEX };
		uint32_t i;

		expect(ns_sock_setopt(rp.stack, six, NS_SO_V6ONLY, 0) == 0);
		for (i = 0; i < 3000; i++) {
			g.group.b[14] = (uint8_t)(i >> 8);
			g.group.b[15] = (uint8_t)i;
			if (ns_dgram_group(rp.stack, six, NS_GROUP_JOIN, &g) != 0)
				break;
		}
		expect(i == 2340);
		expect(ns_dgram_group(rp.stack, six, NS_GROUP_JOIN, &g) == -ENOMEM);
		ns_sock_close(rp.stack, six);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mcast");
	TCase *tc = conf_case(s, "filters");

	tcase_add_test(tc, rfc3678_sources_are_heard_by_the_filter_of_each_socket);
	tcase_add_test(tc, rfc3678_s4_limits_are_knobs);
	return conf_run(s);
}
