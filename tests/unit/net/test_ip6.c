/* SPDX-License-Identifier: Apache-2.0 */
/* test_ip6.c - net/ip6.c, net/ip6_ext.c: what comes in, what dies and why, what leaves (RFC 8200) */
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
}

static void teardown(void)
{
	rig_done(&rig);
}

/* A packet to us with @len octets of @body behind the header. */
static uint32_t packet(uint8_t next, const void *body, uint32_t len)
{
	return r6_frame(f, r6_peer, r6_us, next, body, len);
}

/* Eight octets of a transport header. */
static const uint8_t l4[8] = { 0x12, 0x34, 0x56, 0x78, 1, 2, 3, 4 };

static void dies(uint32_t len, enum drop why)
{
	uint64_t before = rig_drops(&rig, why);
	uint32_t input = rig.input_cnt;

	r6_in(&rig, f, len);
	ck_assert_msg(rig_drops(&rig, why) == before + 1, "%s did not count", drop_name(why));
	ck_assert_uint_eq(rig.input_cnt, input);
}

static void lives(uint32_t len)
{
	uint32_t before = rig.input_cnt;

	r6_in(&rig, f, len);
	ck_assert_uint_eq(rig.input_cnt, before + 1);
}

/* The only frame that left is an error of this type about what came in, to the peer. */
static void is_told(uint8_t type, uint8_t code, uint32_t arg)
{
	const uint8_t *e = rig.sent[rig.sent_cnt - 1].data;

	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert(r6_is_good(&rig, 0));
	ck_assert_uint_eq(e[R6_NEXT], R6_ICMP);
	ck_assert_mem_eq(e + 22, r6_us.b, 16);
	ck_assert_mem_eq(e + 38, r6_peer.b, 16);
	ck_assert_uint_eq(e[R6_BODY], type);
	ck_assert_uint_eq(e[R6_BODY + 1], code);
	ck_assert_uint_eq(e[R6_BODY + 7], arg);
	ck_assert_uint_eq(e[R6_BODY + 4] | e[R6_BODY + 5] | e[R6_BODY + 6], 0);
	ck_assert_mem_eq(e + R6_BODY + 8, f + 14, 48);
	rig.sent_cnt = 0;
}

START_TEST(a_packet_goes_up_with_its_addresses_and_class)
{
	uint32_t len = packet(RIG_PROTO, l4, 8);

	f[14] = 0x62;
	f[15] = 0xe5;
	lives(len);
	ck_assert(ns_addr_eq(&rig.last_ip.src, &r6_peer));
	ck_assert(ns_addr_eq(&rig.last_ip.dst, &r6_us));
	ck_assert_uint_eq(rig.last_ip.tos, 0x2e);
	ck_assert_uint_eq(rig.last_ip.ttl, 255);
	ck_assert(!rig.last_ip.is_bcast && !rig.last_ip.csum_ok);
	ck_assert_uint_eq(rig.last_len, 8);
	ck_assert_mem_eq(rig.last_data, l4, 8);
}
END_TEST

START_TEST(rfc8200_s3_payload_length_is_held_against_the_frame)
{
	uint32_t len = packet(RIG_PROTO, l4, 8);

	f[19] = 9;
	dies(len, DROP_IP6_BAD_HEADER);
	f[18] = 0xff;
	dies(len, DROP_IP6_BAD_HEADER);
	f[18] = 0;
	f[19] = 4; /* the rest is padding of the link */
	lives(len);
	ck_assert_uint_eq(rig.last_len, 4);
	f[19] = 0; /* no jumbogram: nothing there */
	lives(len);
	ck_assert_uint_eq(rig.last_len, 0);
	len = packet(RIG_PROTO, l4, 8);
	f[14] = 0x40;
	dies(len, DROP_IP6_BAD_HEADER);
	for (uint32_t cut = 14; cut < R6_BODY; cut++) {
		packet(RIG_PROTO, l4, 8);
		dies(cut, DROP_TOO_SHORT);
	}
}
END_TEST

START_TEST(rfc4291_s2_5_sources_that_no_packet_has)
{
	static const struct ns_addr bad[] = {
		{ { 0xff, 2, [15] = 1 } },                     /* multicast */
		{ { [15] = 1 } },                              /* ::1 from the wire */
		{ { [10] = 0xff, [11] = 0xff, 10, 9, 0, 1 } }, /* v4-mapped */
		{ { 0x20, 1, 0x0d, 0xb8, 0, 9, [15] = 2 } },   /* ours */
		{ { 0x20, 1, 0x0d, 0xb8, 0, 8, [15] = 2 } },   /* ours, of another link */
		{ { 0xfe, 0x80, 0x11, 0x07, [15] = 1 } },      /* with our zone in it */
		{ { 0xfe, 0x80, 1, [15] = 1 } },
		{ { 0 } }, /* for a transport */
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(bad); i++) {
		uint32_t len = r6_frame(f, bad[i], r6_us, RIG_PROTO, l4, 8);

		dies(len, DROP_IP6_BAD_SRC);
	}
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(rfc4291_s2_8_destinations_that_are_not_ours)
{
	static const struct {
		struct ns_addr addr;
		enum drop why;
	} bad[] = {
		{ { { 0x20, 1, 0x0d, 0xb8, 0, 9, [15] = 3 } }, DROP_IP6_NOT_US },
		{ { { 0x20, 1, 0x0d, 0xb8, 0, 7, [15] = 3 } }, DROP_IP6_NO_ROUTE },
		{ { { [15] = 1 } }, DROP_IP6_NOT_US },
		{ { { [10] = 0xff, [11] = 0xff, 10, 9, 0, 2 } }, DROP_IP6_NOT_US },
		{ { { 0xfe, 0x80, [15] = 3 } }, DROP_IP6_NOT_US }, /* of link 2 */
		{ { { 0xfe, 0x80, 0x11, 0x07, [15] = 2 } }, DROP_IP6_NOT_US },
		{ { { 0 } }, DROP_IP6_NO_ROUTE },
		{ { { 0xff, 2, [11] = 1, [12] = 0xff, [14] = 7, [15] = 2 } }, DROP_IP6_NOT_US },
		{ { { 0xff, 2, [15] = 2 } }, DROP_IP6_NOT_US }, /* all routers */
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(bad); i++) {
		uint32_t len = r6_frame(f, r6_peer, bad[i].addr, RIG_PROTO, l4, 8);

		memcpy(f, rig_mac[1], 6);
		dies(len, bad[i].why);
	}
}
END_TEST

START_TEST(groups_we_are_in_come_up_as_such)
{
	lives(r6_frame(f, r6_peer, r6_all_nodes, RIG_PROTO, l4, 8));
	ck_assert(rig.last_ip.is_bcast);
	lives(r6_frame(f, r6_peer, r6_group(r6_us), RIG_PROTO, l4, 8));
	ck_assert(rig.last_ip.is_bcast);
	/* a group address of the link for a packet to us alone */
	packet(RIG_PROTO, l4, 8);
	memcpy(f, r6_group_mac, 6);
	lives(R6_BODY + 8);
	ck_assert(rig.last_ip.is_bcast);
}
END_TEST

START_TEST(rfc4007_s6_a_link_local_address_has_the_zone_of_its_link)
{
	struct ns_addr want = r6_zoned(r6_peer_ll), us = r6_zoned(r6_us_ll);

	lives(r6_frame(f, r6_peer_ll, r6_us_ll, RIG_PROTO, l4, 8));
	ck_assert(ns_addr_eq(&rig.last_ip.src, &want));
	ck_assert(ns_addr_eq(&rig.last_ip.dst, &us));
}
END_TEST

START_TEST(rfc8200_s4_headers_are_gone_over_in_any_order)
{
	const uint8_t chain[] = {
		43,        0, 1,    4, 0, 0, 0, 0, /* hop-by-hop: PadN */
		60,        0, 0,    0, 0, 0, 0, 0, /* routing, nothing left */
		44,        0, 0x1e, 4, 0, 0, 0, 0, /* destination: an option to skip */
		RIG_PROTO, 0, 0,    0, 1, 2, 3, 4, /* fragment, whole: RFC 6946 */
		1,         2, 3,    4, 5, 6, 7, 8,
	};
	uint32_t len = packet(0, chain, sizeof(chain));

	lives(len);
	ck_assert_uint_eq(rig.last_ip.proto, RIG_PROTO);
	ck_assert_uint_eq(rig.last_len, 8);
	/* the chain ends with the frame */
	f[19] = 32;
	lives(len - 8);
	ck_assert_uint_eq(rig.last_len, 0);
	for (uint32_t cut = 1; cut < 32; cut++) {
		packet(0, chain, cut);
		dies(R6_BODY + cut, DROP_IP6_EXT);
	}
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(a_chain_of_64_headers_is_not_followed)
{
	uint8_t chain[64 * 8] = { 0 };

	for (uint32_t i = 0; i < sizeof(chain); i += 8) {
		chain[i] = 60;
		chain[i + 2] = 1;
		chain[i + 3] = 4;
	}
	dies(packet(60, chain, sizeof(chain)), DROP_IP6_EXT_LIMIT);
	/* eight are */
	chain[7 * 8] = RIG_PROTO;
	lives(packet(60, chain, 72));
}
END_TEST

START_TEST(a_header_longer_than_the_packet_is_refused)
{
	uint8_t h[16] = { RIG_PROTO, 2, 1, 4 };
	static const uint8_t kinds[] = { 0, 43, 60 };

	for (size_t i = 0; i < sizeof(kinds); i++) {
		h[1] = 2;
		dies(packet(kinds[i], h, sizeof(h)), DROP_IP6_EXT);
		h[1] = 255;
		dies(packet(kinds[i], h, sizeof(h)), DROP_IP6_EXT);
	}
}
END_TEST

START_TEST(rfc8200_s4_1_hop_by_hop_comes_first_or_never)
{
	const uint8_t twice[16] = { 0, 0, 1, 4, 0, 0, 0, 0, RIG_PROTO, 0, 1, 4 };

	r6_peer_known(&rig);
	dies(packet(0, twice, 16), DROP_IP6_EXT);
	is_told(4, 1, 40);
	dies(packet(60, twice, 16), DROP_IP6_EXT);
	is_told(4, 1, 40);
}
END_TEST

/* One option of @type in a header of kind @next, to @dst. */
static void option(uint8_t next, uint8_t type, struct ns_addr dst)
{
	const uint8_t h[16] = { RIG_PROTO, 0, type, 4 };
	uint32_t len = r6_frame(f, r6_peer, dst, next, h, 16);

	r6_in(&rig, f, len);
}

START_TEST(rfc8200_s4_2_unknown_options_by_their_action_bits)
{
	static const uint8_t kinds[] = { 0, 60 };

	r6_peer_known(&rig);
	for (size_t i = 0; i < 2; i++) {
		uint64_t died = rig_drops(&rig, DROP_IP6_OPTION);
		uint32_t up = rig.input_cnt;

		option(kinds[i], 0x1f, r6_us); /* 00: skipped */
		option(kinds[i], 0x3f, r6_all_nodes);
		ck_assert_uint_eq(rig.input_cnt, up + 2);
		option(kinds[i], 0x5f, r6_us); /* 01: dies in silence */
		option(kinds[i], 0x5f, r6_all_nodes);
		ck_assert_uint_eq(rig.sent_cnt, 0);
		option(kinds[i], 0x9f, r6_us); /* 10: told */
		is_told(4, 2, 42);
		option(kinds[i], 0xdf, r6_us); /* 11: told unless to a group */
		is_told(4, 2, 42);
		option(kinds[i], 0xdf, r6_all_nodes);
		ck_assert_uint_eq(rig.sent_cnt, 0);
		ck_assert_uint_eq(rig_drops(&rig, DROP_IP6_OPTION), died + 5);
		ck_assert_uint_eq(rig.input_cnt, up + 2);
		rig_pass(&rig, 10 * NS_PER_SEC); /* the limit for errors recovers */
	}
	for (size_t i = 0; i < 2; i++) {
		option(kinds[i], 0x9f, r6_all_nodes); /* 10: told, from an address of ours */
		is_told(4, 2, 42);
	}
}
END_TEST

START_TEST(rfc4443_s2_4_e_an_error_is_not_answered_whatever_its_headers)
{
	const uint8_t chain[24] = { R6_ICMP, 0, 0x9f, 4, 0, 0, 0, 0, 1, 4 };

	dies(packet(0, chain, 24), DROP_IP6_OPTION);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(options_that_loop_overrun_or_pad_too_much_are_refused)
{
	static const struct {
		uint8_t o[14];
		enum drop why;
	} rows[] = {
		{ { 0x1e, 255 }, DROP_IP6_OPTION },
		{ { 0x1e, 13 }, DROP_IP6_OPTION },
		{ { 1, 13 }, DROP_IP6_OPTION },
		{ { 1, 12 }, DROP_IP6_OPTION }, /* 14 octets of padding */
		{ { 1, 4, 9, 9, 9, 9, 0x1e, 6 },
		  DROP_IP6_OPTION }, /* padding that says something */
		{ { 0, 0, 0, 0, 0, 0, 0, 0, 0x1e, 4 }, DROP_IP6_OPTION }, /* eight times Pad1 */
		{ { 0x1e, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1e },
		  DROP_IP6_OPTION }, /* no length */
	};
	uint8_t many[32] = { RIG_PROTO, 3 };

	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		uint8_t h[24] = { RIG_PROTO, 1 };

		memcpy(h + 2, rows[i].o, 14);
		dies(packet(0, h, 24), rows[i].why);
		dies(packet(60, h, 24), rows[i].why);
	}
	for (uint32_t i = 2; i < 32; i += 2) /* options without a value */
		many[i] = 0x1e;
	dies(packet(60, many, 32), DROP_IP6_EXT_LIMIT);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(rfc5095_s3_routing_headers_with_something_left_are_refused)
{
	static const uint8_t lefts[] = { 1, 7, 255 };
	uint8_t h[32] = { RIG_PROTO, 2, 0, 1 };

	r6_peer_known(&rig);
	for (size_t i = 0; i < sizeof(lefts); i++) {
		h[3] = lefts[i];
		dies(packet(43, h, 32), DROP_IP6_ROUTING);
		is_told(4, 0, 42);
	}
	h[2] = 4; /* any type */
	dies(packet(43, h, 32), DROP_IP6_ROUTING);
	is_told(4, 0, 42);
	h[3] = 0;
	lives(packet(43, h, 32));
}
END_TEST

START_TEST(rfc8200_s4_7_no_next_header_ends_the_packet)
{
	dies(packet(59, l4, 8), DROP_IP6_NO_NEXT);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(rfc8200_s4_unknown_next_headers_are_told_within_the_limit)
{
	static const uint8_t unknown[] = { 1, 2, 50, 51, 135, 254, 255 };
	const uint8_t behind[16] = { 254, 0, 1, 4 };

	r6_peer_known(&rig);
	for (size_t i = 0; i < 5; i++) {
		dies(packet(unknown[i], l4, 8), DROP_IP_PROTO);
		is_told(4, 1, 6);
	}
	dies(packet(60, behind, 16), DROP_IP_PROTO);
	is_told(4, 1, 40);
	for (uint32_t i = 0; i < 20; i++)
		dies(packet(255, l4, 8), DROP_IP_PROTO);
	ck_assert_uint_eq(rig.sent_cnt, 0);
	ck_assert_uint_eq(rig_drops(&rig, DROP_ICMP_RATE), 20);
	/* never about what came to a group */
	rig_pass(&rig, 10 * NS_PER_SEC);
	dies(r6_frame(f, r6_peer, r6_all_nodes, 254, l4, 8), DROP_IP_PROTO);
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(a_port_without_a_transport_is_unreachable)
{
	r6_peer_known(&rig);
	dies(packet(17, l4, 8), DROP_IP_PROTO);
	is_told(1, 4, 0);
}
END_TEST

START_TEST(rfc8200_s3_a_packet_leaves_with_a_right_header)
{
	const uint8_t *sent = rig.sent[0].data;

	r6_peer_known(&rig);
	ck_assert_int_eq(r6_send(&rig, r6_peer, 100), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert(r6_is_good(&rig, 0));
	ck_assert_mem_eq(sent, rig_peer_mac, 6);
	ck_assert_uint_eq(sent[R6_NEXT], RIG_PROTO);
	ck_assert_uint_eq(sent[R6_HOPS], 64);
	ck_assert_mem_eq(sent + 22, r6_us.b, 16);
	ck_assert_mem_eq(sent + 38, r6_peer.b, 16);
	ck_assert_int_eq(r6_send(&rig, r6_peer, 1452), 0);
	ck_assert_int_eq(r6_send(&rig, r6_peer, 1453), -EMSGSIZE);
}
END_TEST

/* Label of frame @i that left. */
static uint32_t label(uint32_t i)
{
	const uint8_t *d = rig.sent[i].data;

	return (d[15] & 15u) << 16 | (uint32_t)d[16] << 8 | d[17];
}

START_TEST(rfc6437_s3_one_label_a_flow_and_never_zero)
{
	struct ns_addr to = r6_peer;

	r6_peer_known(&rig);
	ck_assert_int_eq(r6_send(&rig, to, 10), 0);
	ck_assert_int_eq(r6_send(&rig, to, 20), 0);
	ck_assert_uint_ne(label(0), 0);
	ck_assert_uint_eq(label(0), label(1));
	to.b[15] = 9;
	ck_assert_int_eq(net_add_neigh(rig.net, 1, &to, rig_peer_mac), 0);
	ck_assert_int_eq(r6_send(&rig, to, 10), 0);
	ck_assert_uint_ne(label(2), label(0));
	ck_assert_int_eq(r6_send(&rig, r6_peer, 10), 0);
	ck_assert_uint_eq(label(3), label(0));
}
END_TEST

START_TEST(no_zone_leaves_with_a_packet)
{
	struct ns_addr to = r6_zoned(r6_peer_ll);

	ck_assert_int_eq(net_add_neigh(rig.net, 1, &r6_peer_ll, rig_peer_mac), 0);
	ck_assert_int_eq(r6_send(&rig, to, 10), 0);
	ck_assert_mem_eq(rig.sent[0].data + 22, r6_us_ll.b, 16);
	ck_assert_mem_eq(rig.sent[0].data + 38, r6_peer_ll.b, 16);
}
END_TEST

START_TEST(packets_to_ourselves_come_back_by_the_loop)
{
	static const struct ns_addr one = { { [15] = 1 } };
	struct ns_addr ll = r6_zoned(r6_us_ll);

	ck_assert_int_eq(r6_send(&rig, one, 10), 0);
	ck_assert_int_eq(r6_send(&rig, r6_us, 10), 0);
	ck_assert_int_eq(r6_send(&rig, ll, 10), 0);
	ck_assert_uint_eq(net_run_loop(rig.net, 8, rig.now), 3);
	ck_assert_uint_eq(rig.input_cnt, 3);
	ck_assert_uint_eq(rig.sent_cnt, 0);
	ck_assert(ns_addr_eq(&rig.last_ip.src, &ll));
	ck_assert(ns_addr_eq(&rig.last_ip.dst, &ll));
}
END_TEST

START_TEST(every_single_octet_of_a_chain_may_be_anything)
{
	const uint8_t chain[] = { 43, 0, 1,  4, 0, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0, 0,
				  44, 0, 30, 4, 0, 0, 0, 0, 6,  0, 0, 0, 1, 2, 3, 4 };

	for (uint32_t at = 14; at < R6_BODY + sizeof(chain); at++) {
		for (uint32_t v = 0; v < 256; v++) {
			uint32_t len = packet(0, chain, sizeof(chain));

			f[at] = (uint8_t)v;
			r6_in(&rig, f, len);
		}
	}
	lives(packet(0, chain, sizeof(chain)));
}
END_TEST

Suite *ip6_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/ip6", setup, teardown, &s);

	tcase_add_test(c, a_packet_goes_up_with_its_addresses_and_class);
	tcase_add_test(c, rfc8200_s3_payload_length_is_held_against_the_frame);
	tcase_add_test(c, rfc4291_s2_5_sources_that_no_packet_has);
	tcase_add_test(c, rfc4291_s2_8_destinations_that_are_not_ours);
	tcase_add_test(c, groups_we_are_in_come_up_as_such);
	tcase_add_test(c, rfc4007_s6_a_link_local_address_has_the_zone_of_its_link);
	tcase_add_test(c, rfc8200_s4_headers_are_gone_over_in_any_order);
	tcase_add_test(c, a_chain_of_64_headers_is_not_followed);
	tcase_add_test(c, a_header_longer_than_the_packet_is_refused);
	tcase_add_test(c, rfc8200_s4_1_hop_by_hop_comes_first_or_never);
	tcase_add_test(c, rfc8200_s4_2_unknown_options_by_their_action_bits);
	tcase_add_test(c, rfc4443_s2_4_e_an_error_is_not_answered_whatever_its_headers);
	tcase_add_test(c, options_that_loop_overrun_or_pad_too_much_are_refused);
	tcase_add_test(c, rfc5095_s3_routing_headers_with_something_left_are_refused);
	tcase_add_test(c, rfc8200_s4_7_no_next_header_ends_the_packet);
	tcase_add_test(c, rfc8200_s4_unknown_next_headers_are_told_within_the_limit);
	tcase_add_test(c, a_port_without_a_transport_is_unreachable);
	tcase_add_test(c, rfc8200_s3_a_packet_leaves_with_a_right_header);
	tcase_add_test(c, rfc6437_s3_one_label_a_flow_and_never_zero);
	tcase_add_test(c, no_zone_leaves_with_a_packet);
	tcase_add_test(c, packets_to_ourselves_come_back_by_the_loop);
	tcase_add_test(c, every_single_octet_of_a_chain_may_be_anything);
	return s;
}
