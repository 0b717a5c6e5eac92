/* SPDX-License-Identifier: Apache-2.0 */
/* test_ip4.c - net/ip4.c: hostile headers, what is ours, what leaves (RFC 791, RFC 1122 3.2, RFC 6864) */
#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "rig.h"
#include "slowsum.h"
#include "suites.h"

static struct rig rig;
static uint8_t f[4096];

static void setup(void)
{
	rig_init(&rig);
	memset(f, 0, sizeof(f));
}

static void teardown(void)
{
	rig_done(&rig);
}

/* A packet of 40 octets of payload for the transport; the frame has @pad more. */
static uint32_t good(uint32_t pad)
{
	rig_ip4(f, RIG_PEER, RIG_US, RIG_PROTO, 40);
	return 14 + 20 + 40 + pad;
}

/* @len octets of the frame must die for @why and nothing else. */
static void dies(uint32_t len, enum drop why)
{
	uint64_t before = rig_drops(&rig, why);
	uint32_t input_cnt = rig.input_cnt;

	rig_in(&rig, f, len);
	ck_assert_msg(rig_drops(&rig, why) == before + 1, "not dropped as %s", drop_name(why));
	ck_assert_uint_eq(rig.input_cnt, input_cnt);
}

START_TEST(a_good_packet_goes_up_with_its_addresses)
{
	uint32_t len = good(0);

	f[15] = 0x2e; /* AF11, ECT(0) */
	rig_ip4_fix(f);
	rig_in(&rig, f, len);
	ck_assert_uint_eq(rig.input_cnt, 1);
	ck_assert_uint_eq(ns_addr_to_v4(&rig.last_ip.src), RIG_PEER);
	ck_assert_uint_eq(ns_addr_to_v4(&rig.last_ip.dst), RIG_US);
	ck_assert_uint_eq(rig.last_ip.ttl, 64);
	ck_assert_uint_eq(rig.last_ip.tos, 0x2e);
	ck_assert_ptr_eq(rig.last_ip.link, net_link(rig.net, 1));
	ck_assert(!rig.last_ip.csum_ok);
	ck_assert(!rig.last_ip.is_bcast);
	ck_assert_uint_eq(rig.last_len, 40);
}
END_TEST

START_TEST(ethernet_padding_is_cut_off)
{
	rig_in(&rig, f, good(6));
	ck_assert_uint_eq(rig.last_len, 40);
}
END_TEST

START_TEST(every_length_of_a_cut_frame_is_survived)
{
	uint32_t len = good(0);

	for (uint32_t i = 0; i < 14 + 20; i++)
		dies(i, DROP_TOO_SHORT);
	for (uint32_t i = 14 + 20; i < len; i++)
		dies(i, DROP_IP4_BAD_HEADER); /* total length beyond the frame */
	ck_assert_uint_eq(rig.input_cnt, 0);
}
END_TEST

START_TEST(header_and_total_length_that_lie_are_refused)
{
	uint32_t len = good(0);

	for (uint8_t ihl = 0; ihl < 16; ihl++) {
		if (ihl == 5)
			continue;
		good(0);
		f[14] = 0x40 | ihl;
		if (ihl < 5) {
			dies(len, DROP_IP4_BAD_HEADER);
			continue;
		}
		rig_ip4_fix(f); /* zeroes are options that end at once */
		rig_in(&rig, f, len);
		ck_assert_uint_eq(rig.last_len, 40 - (ihl - 5u) * 4);
	}
	for (uint32_t total = 0; total < 20; total++) {
		good(0);
		f[17] = (uint8_t)total;
		rig_ip4_fix(f);
		dies(len, DROP_IP4_BAD_HEADER);
	}
	good(0);
	f[17] = 61;
	rig_ip4_fix(f);
	dies(len, DROP_IP4_BAD_HEADER);
	good(0);
	f[14] = 0x4f; /* 60 octets of header in 34 of packet */
	f[17] = 34;
	rig_ip4_fix(f);
	dies(len, DROP_IP4_BAD_HEADER);
	good(0);
	f[14] = 0x65;
	rig_ip4_fix(f);
	dies(len, DROP_IP4_BAD_HEADER);
}
END_TEST

START_TEST(each_bit_of_the_header_is_under_its_checksum)
{
	uint32_t len = good(0);

	for (uint32_t bit = 8; bit < 160; bit++) {
		uint32_t at = 14 + bit / 8;
		uint64_t before = rig_drops(&rig, DROP_IP4_CSUM);

		good(0);
		f[at] ^= (uint8_t)(1u << bit % 8);
		rig_in(&rig, f, len);
		/* a wrong length may be found first */
		if (at != 16 && at != 17)
			ck_assert_uint_eq(rig_drops(&rig, DROP_IP4_CSUM), before + 1);
	}
	ck_assert_uint_eq(rig.input_cnt, 0);
}
END_TEST

START_TEST(a_source_that_cannot_be_one_is_refused)
{
	static const uint32_t bad[] = { 0,          0x00000001, 0x7f000001, 0xe0000001, 0xefffffff,
					0xffffffff, RIG_US,     0x0a080002, 0x0a0900ff };

	for (size_t i = 0; i < NS_ARRAY_LEN(bad); i++) {
		rig_ip4(f, bad[i], RIG_US, RIG_PROTO, 40);
		dies(74, DROP_IP4_BAD_SRC);
	}
}
END_TEST

START_TEST(a_destination_that_is_not_ours_is_refused)
{
	static const uint32_t bad[] = { RIG_PEER, 0x0a090003, 0x08080808, 0x7f000001, 0x0a0900fe };

	for (size_t i = 0; i < NS_ARRAY_LEN(bad); i++) {
		rig_ip4(f, RIG_PEER, bad[i], RIG_PROTO, 40);
		dies(74, DROP_IP4_NOT_US);
	}
	/* the weak host model: an address of another link is ours */
	rig_ip4(f, RIG_PEER, 0x0a080002, RIG_PROTO, 40);
	rig_in(&rig, f, 74);
	ck_assert_uint_eq(rig.input_cnt, 1);
}
END_TEST

START_TEST(broadcast_and_multicast_are_marked)
{
	static const uint32_t group[] = { 0xffffffff, 0x0a0900ff, 0xe0000001 };

	for (size_t i = 0; i < NS_ARRAY_LEN(group); i++) {
		rig.last_ip.is_bcast = false;
		rig_ip4(f, RIG_PEER, group[i], RIG_PROTO, 40);
		rig_in(&rig, f, 74);
		ck_assert_uint_eq(rig.input_cnt, i + 1);
		ck_assert(rig.last_ip.is_bcast);
	}
	/* our address in a frame to everybody */
	good(0);
	memset(f, 0xff, 6);
	rig_in(&rig, f, 74);
	ck_assert(rig.last_ip.is_bcast);
}
END_TEST

START_TEST(fragments_that_fit_no_packet_are_dropped)
{
	/* beyond 65535 octets, in one way or another; TCP whose header lies in two fragments */
	static const uint16_t bad[] = { 0x1fff, 0x3fff, 0x0001 };

	for (size_t i = 0; i < NS_ARRAY_LEN(bad); i++) {
		good(0);
		f[19] = (uint8_t)i; /* identification */
		f[20] = (uint8_t)(bad[i] >> 8);
		f[21] = (uint8_t)bad[i];
		rig_ip4_fix(f);
		dies(74, DROP_IP4_FRAGMENT);
	}
	good(0);
	f[20] = 0x40; /* DF alone is no fragment */
	rig_ip4_fix(f);
	rig_in(&rig, f, 74);
	ck_assert_uint_eq(rig.input_cnt, 1);
}
END_TEST

/* Octets of options (zeroes behind), and whether a packet with them goes up. */
static const struct option_row {
	const char *opt;
	uint32_t len;
	bool is_ok;
} option_rows[] = {
	{ "\1\1\1\1", 4, true },                     /* NOP */
	{ "\0\xff\xff\xff", 4, true },               /* nothing behind the end is looked at */
	{ "\7\4\4\0", 4, true },                     /* record route, full */
	{ "\x94\4\0\0", 4, true },                   /* router alert */
	{ "\xff\4\1\2", 4, true },                   /* unknown */
	{ "\xff\0\0\0", 4, false },                  /* length 0 */
	{ "\xff\1\0\0", 4, false },                  /* length 1 */
	{ "\xff\5\0\0", 4, false },                  /* beyond the header */
	{ "\1\1\1\xff", 4, false },                  /* no room for a length */
	{ "\1\1\xff\2", 4, true },                   /* ends with the header */
	{ "\x83\4\4\0", 4, false },                  /* loose source route */
	{ "\x89\4\4\0", 4, false },                  /* strict source route */
	{ "\x83\xff\xff\xff", 4, false },            /* pointer out of range */
	{ "\1\1\1\1\x83\7\4\1\2\3\4\0", 12, false }, /* behind other options */
};

START_TEST(options_are_bounded_and_source_routes_refused)
{
	const struct option_row *o = &option_rows[_i];
	uint32_t len = 14 + 20 + o->len + 40;

	rig_ip4(f, RIG_PEER, RIG_US, RIG_PROTO, o->len + 40);
	f[14] = (uint8_t)(0x45 + o->len / 4);
	memcpy(f + 34, o->opt, o->len);
	rig_ip4_fix(f);
	if (!o->is_ok) {
		dies(len, DROP_IP4_OPTIONS);
		return;
	}
	rig_in(&rig, f, len);
	ck_assert_uint_eq(rig.input_cnt, 1);
	ck_assert_uint_eq(rig.last_len, 40);
}
END_TEST

START_TEST(forty_octets_of_nop_go_through)
{
	rig_ip4(f, RIG_PEER, RIG_US, RIG_PROTO, 80);
	f[14] = 0x4f;
	memset(f + 34, 1, 40);
	rig_ip4_fix(f);
	rig_in(&rig, f, 14 + 100);
	ck_assert_uint_eq(rig.last_len, 40);
}
END_TEST

START_TEST(a_checksum_is_trusted_when_it_is_about_the_transport)
{
	uint32_t len = good(0);

	rig_in_meta(&rig, f, len, PKT_CSUM_VALID, 0, 0);
	ck_assert(rig.last_ip.csum_ok);
	rig_in_meta(&rig, f, len, PKT_CSUM_PARTIAL, 34, 0);
	ck_assert(rig.last_ip.csum_ok);
	rig_in_meta(&rig, f, len, PKT_CSUM_PARTIAL, 38, 0);
	ck_assert(!rig.last_ip.csum_ok);
	rig_in_meta(&rig, f, len, PKT_CSUM_UNKNOWN, 34, 0);
	ck_assert(!rig.last_ip.csum_ok);
}
END_TEST

START_TEST(a_super_frame_without_total_length_is_as_long_as_its_frame)
{
	uint32_t len = 14 + 20 + 3000;

	rig_ip4(f, RIG_PEER, RIG_US, RIG_PROTO, 3000);
	f[16] = f[17] = 0;
	rig_ip4_fix(f);
	dies(len, DROP_IP4_BAD_HEADER);
	rig_in_meta(&rig, f, len, PKT_CSUM_VALID, 0, 1448);
	ck_assert_uint_eq(rig.input_cnt, 1);
	ck_assert_uint_eq(rig.last_len, 3000);
}
END_TEST

START_TEST(tunnels_and_unknown_protocols_are_answered_and_not_looked_into)
{
	static const uint8_t protos[] = { 4, 41, 47, 50, 136, 255, 0 };

	for (size_t i = 0; i < NS_ARRAY_LEN(protos); i++) {
		rig_ip4(f, RIG_PEER, RIG_US, protos[i], 40);
		dies(74, DROP_IP_PROTO);
	}
}
END_TEST

START_TEST(other_ethertypes_are_dropped)
{
	static const uint16_t types[] = { 0, 1, 0x2e, 0x05dc, 0x8100, 0x88a8, 0x8035, 0xffff };

	for (size_t i = 0; i < NS_ARRAY_LEN(types); i++) {
		good(0);
		f[12] = (uint8_t)(types[i] >> 8);
		f[13] = (uint8_t)types[i];
		dies(74, DROP_ETH_TYPE);
		dies(14, DROP_ETH_TYPE);
	}
}
END_TEST

START_TEST(a_packet_leaves_with_a_right_header)
{
	static const uint8_t want[] = { 0x45, 0, 0,  128, 0, 0, 0x40, 0, 64, RIG_PROTO,
					0,    0, 10, 9,   0, 2, 10,   9, 0,  1 };
	uint8_t got[20];
	const uint8_t *sent = rig.sent[0].data;

	rig_peer_known(&rig);
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 100, 1), 0);
	ck_assert_uint_eq(rig.sent_cnt, 1);
	ck_assert_uint_eq(rig.sent[0].len, 14 + 128);
	ck_assert_mem_eq(sent, rig_peer_mac, 6);
	ck_assert_mem_eq(sent + 6, rig_mac[1], 6);
	ck_assert_uint_eq(slowsum(0, sent + 14, 20), 0xffff);
	memcpy(got, sent + 14, 20);
	got[4] = got[5] = got[10] = got[11] = 0;
	ck_assert_mem_eq(got, want, 20);
}
END_TEST

static uint16_t sent_id(uint32_t i)
{
	return (uint16_t)(rig.sent[i].data[18] << 8 | rig.sent[i].data[19]);
}

START_TEST(identification_goes_on_by_segments_and_differs_by_destination)
{
	struct ns_addr a = ns_addr_v4(0x0a090005);
	uint16_t id;

	rig_peer_known(&rig);
	ck_assert_int_eq(net_add_neigh(rig.net, 1, &a, rig_peer_mac), 0);
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 100, 1), 0);
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 30000, 20), 0);
	ck_assert_int_eq(rig_send(&rig, 0x0a090005, 100, 1), 0);
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 100, 0), 0);
	id = sent_id(0);
	ck_assert_uint_eq(sent_id(1), (uint16_t)(id + 1));
	ck_assert_uint_eq(sent_id(3), (uint16_t)(id + 21));
	/* another destination counts by itself, from another start */
	ck_assert_uint_ne(sent_id(2), (uint16_t)(id + 21));
}
END_TEST

START_TEST(what_fits_no_path_is_refused)
{
	rig_peer_known(&rig);
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 1500 - 28, 1), 0);
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 1500 - 27, 1), -EMSGSIZE);
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 65535 - 28, 45), 0);
	ck_assert_int_eq(rig_send(&rig, RIG_PEER, 65535 - 27, 45), -EMSGSIZE);
	ck_assert_uint_eq(rig.stats.drop[DROP_LINK_TOO_LONG], 2);
}
END_TEST

START_TEST(our_own_addresses_and_loopback_stay_inside)
{
	static const uint32_t own[] = { RIG_US, 0x0a080002, 0x7f000001, 0x7f123456 };

	for (size_t i = 0; i < NS_ARRAY_LEN(own); i++) {
		ck_assert_int_eq(rig_send(&rig, own[i], 3000, 1), 0);
		ck_assert_uint_eq(rig.input_cnt, i); /* not before the turn's end */
		ck_assert_uint_eq(net_run_loop(rig.net, 10, rig.now), 1);
		ck_assert_uint_eq(rig.input_cnt, i + 1);
		ck_assert_uint_eq(rig.last_len, 3008);
		ck_assert_uint_eq(ns_addr_to_v4(&rig.last_ip.dst), own[i]);
		ck_assert_uint_eq(ns_addr_to_v4(&rig.last_ip.src),
				  own[i] == 0x7f123456 ? 0x7f000001 : own[i]);
	}
	ck_assert_uint_eq(rig.sent_cnt, 0);
}
END_TEST

START_TEST(ten_thousand_random_headers_are_survived)
{
	for (uint32_t i = 0; i < 10000; i++) {
		uint32_t len = (uint32_t)prng_between(&rig.prng, 14, 120);

		rig_ip4(f, RIG_PEER, RIG_US, RIG_PROTO, 60);
		for (uint32_t k = 0; k < 4; k++)
			f[12 + prng_below(&rig.prng, 60)] = (uint8_t)prng_next(&rig.prng);
		rig_ip4_fix(f);
		rig_in(&rig, f, len);
	}
	/* and the stack still works */
	rig.input_cnt = 0;
	rig_in(&rig, f, good(0));
	ck_assert_uint_eq(rig.input_cnt, 1);
}
END_TEST

Suite *ip4_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/ip4", setup, teardown, &s);

	tcase_add_test(c, a_good_packet_goes_up_with_its_addresses);
	tcase_add_test(c, ethernet_padding_is_cut_off);
	tcase_add_test(c, every_length_of_a_cut_frame_is_survived);
	tcase_add_test(c, header_and_total_length_that_lie_are_refused);
	tcase_add_test(c, each_bit_of_the_header_is_under_its_checksum);
	tcase_add_test(c, a_source_that_cannot_be_one_is_refused);
	tcase_add_test(c, a_destination_that_is_not_ours_is_refused);
	tcase_add_test(c, broadcast_and_multicast_are_marked);
	tcase_add_test(c, fragments_that_fit_no_packet_are_dropped);
	tcase_add_loop_test(c, options_are_bounded_and_source_routes_refused, 0,
			    NS_ARRAY_LEN(option_rows));
	tcase_add_test(c, forty_octets_of_nop_go_through);
	tcase_add_test(c, a_checksum_is_trusted_when_it_is_about_the_transport);
	tcase_add_test(c, a_super_frame_without_total_length_is_as_long_as_its_frame);
	tcase_add_test(c, tunnels_and_unknown_protocols_are_answered_and_not_looked_into);
	tcase_add_test(c, other_ethertypes_are_dropped);
	tcase_add_test(c, a_packet_leaves_with_a_right_header);
	tcase_add_test(c, identification_goes_on_by_segments_and_differs_by_destination);
	tcase_add_test(c, what_fits_no_path_is_refused);
	tcase_add_test(c, our_own_addresses_and_loopback_stay_inside);
	tcase_add_test(c, ten_thousand_random_headers_are_survived);
	return s;
}
