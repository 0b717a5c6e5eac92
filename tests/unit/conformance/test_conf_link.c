/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_link.c - what comes from the wire below IP: Ethernet, the virtio-net header, ARP (RFC 826, RFC 5227, RFC 1122 2.3) */
#include "conformance.h"

static struct frame f;

/* A correct data segment of @other, to be damaged. */
static void good_segment(void)
{
	rp_build(&other, &(struct tcp_in){ .flags = FL_ACK | FL_PSH, .data = "x", .data_len = 1 },
		 &f);
}

START_TEST(eth_shorter_than_its_header_is_dropped)
{
	for (uint32_t len = 0; len < ETH_LEN; len++) {
		good_segment();
		f.len = len;
		expect(dropped_silently(&f, "TOO_SHORT"));
	}
}
END_TEST

START_TEST(eth_header_alone_is_dropped)
{
	good_segment();
	f.len = ETH_LEN;
	expect(dropped_silently(&f, "TOO_SHORT"));
}
END_TEST

START_TEST(eth_802_3_length_is_dropped)
{
	static const uint16_t lens[] = { 0, 38, 1500, 1535 };

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		good_segment();
		f.b[12] = (uint8_t)(lens[i] >> 8);
		f.b[13] = (uint8_t)lens[i];
		expect(dropped_silently(&f, "ETH_TYPE"));
	}
}
END_TEST

START_TEST(eth_vlan_tags_nested_and_truncated_are_dropped)
{
	struct way w = rp_way(1, 2);
	uint8_t tags[32];

	for (uint32_t i = 0; i < 8; i++)
		memcpy(tags + 4 * i, (uint8_t[]){ 0, 1, 0x81, 0 }, 4);
	for (uint32_t len = 0; len <= sizeof(tags); len++) {
		uint64_t sum = drops();

		frame_eth(&f, &w, 0x8100, tags, len);
		rp_inject(&rp, &f);
		expect(drops() == sum + 1);
		expect_silence();
	}
	expect(moved("ETH_TYPE") + moved("TOO_SHORT") == sizeof(tags) + 1);
}
END_TEST

START_TEST(eth_source_multicast_is_dropped)
{
	good_segment();
	f.b[6] |= 1;
	expect(dropped_silently(&f, "ETH_SRC_MCAST"));
}
END_TEST

START_TEST(eth_destination_of_another_is_dropped)
{
	good_segment();
	f.b[5] ^= 0x40;
	expect(dropped_silently(&f, "ETH_NOT_US"));
}
END_TEST

START_TEST(vnet_csum_start_beyond_frame_is_dropped)
{
	static const struct {
		uint32_t beyond; /* octets from the frame's end */
		uint16_t off;
	} rows[] = { { 0, 16 }, { 1, 0 }, { 200, 16 }, { 60000, 16 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		good_segment();
		f.csum = 2; /* PKT_CSUM_PARTIAL */
		f.csum_start = (uint16_t)(f.len + rows[i].beyond);
		f.csum_off = rows[i].off;
		expect(dropped_silently(&f, "VNET_BAD"));
	}
}
END_TEST

START_TEST(vnet_csum_field_beyond_frame_is_dropped)
{
	static const uint16_t offs[] = { 0xffff, 0x8000, 60 };

	for (size_t i = 0; i < sizeof(offs) / sizeof(offs[0]); i++) {
		good_segment();
		f.csum = 2;
		f.csum_start = ETH_LEN + IP4_LEN;
		f.csum_off = offs[i];
		expect(dropped_silently(&f, "VNET_BAD"));
	}
	good_segment();
	f.csum = 2;
	f.csum_start = (uint16_t)(f.len - 2);
	f.csum_off = 1; /* the second octet of the field is outside */
	expect(dropped_silently(&f, "VNET_BAD"));
}
END_TEST

START_TEST(vnet_needs_csum_is_trusted)
{
	char got;

	good_segment();
	f.csum = 2;
	f.csum_start = ETH_LEN + IP4_LEN;
	f.csum_off = 16;
	f.b[ETH_LEN + IP4_LEN + 16] ^= 0x77; /* only the pseudo-header's sum would be there */
	rp_inject(&rp, &f);
	expect(drops() == 0);
	expect(rp_recv(&other, &got, 1) == 1 && got == 'x');
	other.snd++;
}
END_TEST

START_TEST(vnet_gso_type_that_contradicts_the_frame_is_dropped)
{
	static const uint8_t types[] = { 1, 2, 3, 0x7f };
	struct way w = rp_way(1, 2);
	uint8_t udp[8] = { 0, 1, 0, 2, 0, 8, 0, 0 };

	for (size_t i = 0; i < sizeof(types); i++) {
		uint64_t sum = drops();

		frame_arp(&f, &w, 1, w.dst_mac);
		f.b[ETH_LEN + 27] = 99; /* not for our address: no reply whatever happens */
		f.gso_type = types[i];
		f.gso_size = 1000;
		rp_inject(&rp, &f);
		expect_silence();
		frame_ip4(&f, &w, &(struct ip4_in){ .proto = 17 }, udp, sizeof(udp));
		f.gso_type = types[i];
		f.gso_size = 1000;
		rp_inject(&rp, &f);
		rp_drop_out(&rp); /* a protocol unreachable would be allowed */
		expect(drops() > sum);
	}
}
END_TEST

START_TEST(vnet_gso_size_zero_is_dropped_or_plain)
{
	char got = 0;

	good_segment();
	f.gso_type = 1;
	rp_inject(&rp, &f);
	rp_drop_out(&rp);
	uint32_t taken = rp_recv(&other, &got, 1);

	other.snd += taken;
	expect(taken ? drops() == 0 && got == 'x' : moved("VNET_BAD") == 1);
}
END_TEST

START_TEST(vnet_super_frame_is_judged_by_gso_size)
{
	static uint8_t data[60000], got[60000];
	struct seen s;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	rp_build(&other,
		 &(struct tcp_in){ .flags = FL_ACK | FL_PSH, .data = data, .data_len = 60000 }, &f);
	f.gso_type = 1;
	f.gso_size = 1448;
	f.csum = 2;
	f.csum_start = ETH_LEN + IP4_LEN;
	f.csum_off = 16;
	rp_inject(&rp, &f);
	expect(drops() == 0);
	expect(rp_take(&rp, &s) && s.ack == other.snd + 60000);
	other.snd += 60000;
	expect(rp_recv(&other, got, sizeof(got)) == 60000 && !memcmp(got, data, sizeof(data)));
}
END_TEST

/* --- ARP -------------------------------------------------------------------------------------- */

static const uint8_t nobody[6];
static const uint8_t stranger_mac[6] = { 2, 0, 0, 0, 0, 9 };

static struct way stranger(void)
{
	struct way w = rp_way(7, PORT);

	w.src = RP_PEER + 7; /* 10.0.0.9 */
	memcpy(w.src_mac, stranger_mac, 6);
	return w;
}

START_TEST(rfc826_request_for_our_address_is_answered)
{
	struct way w = rp_way(0, 0);
	struct seen s;

	memset(w.dst_mac, 0xff, 6);
	frame_arp(&f, &w, 1, nobody);
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && s.kind == SEEN_ARP && s.arp_op == 2);
	expect(s.way.src == RP_STACK && s.way.dst == RP_PEER);
	expect(!memcmp(s.arp_sha, other.way.dst_mac, 6) && !memcmp(s.arp_tha, w.src_mac, 6));
	expect(!memcmp(s.way.dst_mac, w.src_mac, 6) &&
	       !memcmp(s.way.src_mac, other.way.dst_mac, 6));
	expect_silence();
}
END_TEST

START_TEST(rfc826_request_for_another_address_is_not_answered)
{
	struct way w = rp_way(0, 0);

	memset(w.dst_mac, 0xff, 6);
	w.dst = RP_PEER + 50;
	frame_arp(&f, &w, 1, nobody);
	rp_inject(&rp, &f);
	expect_silence();
}
END_TEST

START_TEST(arp_shorter_than_28_octets_is_dropped)
{
	for (uint32_t len = 0; len < ARP_LEN; len++) {
		struct way w = rp_way(0, 0);
		uint64_t sum = drops();

		frame_arp(&f, &w, 1, nobody);
		f.len = ETH_LEN + len;
		rp_inject(&rp, &f);
		expect(drops() == sum + 1);
		expect_silence();
	}
	expect(moved("TOO_SHORT") + moved("ARP_BAD") == ARP_LEN);
}
END_TEST

START_TEST(arp_of_another_kind_is_dropped)
{
	/* octet of the packet and the value there: hardware, protocol, lengths, opcodes */
	static const uint8_t rows[][2] = { { 1, 6 },   { 1, 0 },  { 2, 0x86 }, { 4, 5 },   { 4, 0 },
					   { 4, 255 }, { 5, 16 }, { 5, 0 },    { 5, 255 }, { 7, 0 },
					   { 7, 3 },   { 7, 4 },  { 7, 8 },    { 7, 255 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct way w = rp_way(0, 0);

		frame_arp(&f, &w, 1, nobody);
		f.b[ETH_LEN + rows[i][0]] = rows[i][1];
		expect(dropped_silently(&f, "ARP_BAD"));
	}
}
END_TEST

/* An announcement of our address by us to all. */
static bool is_defended(void)
{
	struct seen s;

	return rp_take(&rp, &s) && s.kind == SEEN_ARP && s.arp_op == 1 && s.way.src == RP_STACK &&
	       s.way.dst == RP_STACK && !memcmp(s.arp_sha, other.way.dst_mac, 6) &&
	       s.way.dst_mac[0] == 0xff;
}

START_TEST(rfc5227_s2_4_an_address_is_defended_once_in_ten_seconds)
{
	struct way w = stranger();

	w.src = w.dst = RP_STACK;
	memset(w.dst_mac, 0xff, 6);
	frame_arp(&f, &w, 1, nobody);
	rp_inject(&rp, &f);
	expect(is_defended());
	for (uint32_t i = 0; i < 9; i++) {
		rp_wait(&rp, NS_PER_SEC);
		rp_inject(&rp, &f);
	}
	expect_silence();
	rp_wait(&rp, NS_PER_SEC);
	rp_inject(&rp, &f);
	expect(is_defended());
	/* what a switch sends back to us is no claim of another's */
	rp_wait(&rp, 20 * NS_PER_SEC);
	memcpy(w.src_mac, other.way.dst_mac, 6);
	frame_arp(&f, &w, 1, nobody);
	rp_inject(&rp, &f);
	expect_silence();
	expect(moved("ARP_DEFENCES") == 2 && moved("ARP_OURS") == 12);
}
END_TEST

START_TEST(rfc5227_s2_4_claim_of_our_address_changes_nothing)
{
	struct way w = stranger();
	struct seen s;

	w.src = w.dst = RP_STACK;
	memset(w.dst_mac, 0xff, 6);
	frame_arp(&f, &w, 1, nobody);
	rp_inject(&rp, &f);
	expect(moved("ARP_OURS") == 1);
	rp_drop_out(&rp); /* one announcement */
	frame_arp(&f, &w, 2, stranger_mac);
	rp_inject(&rp, &f);
	expect(moved("ARP_OURS") == 2);
	rp_drop_out(&rp);
	/* our own packets to the peer carry our own MAC still */
	rp_data(&other, "y", 1);
	rp_wait(&rp, NS_PER_SEC);
	expect(rp_take(&rp, &s) && !memcmp(s.way.src_mac, other.way.dst_mac, 6));
	expect(rp_recv(&other, &w, 1) == 1);
}
END_TEST

START_TEST(arp_does_not_override_a_permanent_neighbour)
{
	struct way w = rp_way(0, 0);
	struct seen s;

	memcpy(w.src_mac, stranger_mac, 6);
	frame_arp(&f, &w, 2, w.dst_mac); /* "10.0.0.2 is at 02:..:09" */
	rp_inject(&rp, &f);
	frame_arp(&f, &w, 1, nobody);
	rp_inject(&rp, &f);
	rp_drop_out(&rp);
	rp_data(&other, "y", 1);
	rp_wait(&rp, NS_PER_SEC);
	expect(rp_take(&rp, &s) && !memcmp(s.way.dst_mac, other.way.src_mac, 6));
	expect(rp_recv(&other, &w, 1) == 1);
}
END_TEST

START_TEST(arp_flood_leaves_the_table_bounded_and_permanent_entries_alone)
{
	struct way w = stranger();

	for (uint32_t i = 0; i < 100000; i++) {
		w.src = 0x0a000100 + i;
		memcpy(w.src_mac + 2, &i, 4);
		frame_arp(&f, &w, 1, nobody);
		rp_inject(&rp, &f);
		rp_drop_out(&rp);
		if (i % 1000 == 0)
			rp_wait(&rp, 10 * NS_PER_MS);
	}
	/* the table was not filled with them: a new neighbour can still be resolved (teardown uses @other) */
	struct ns_endpoint to = { ns_addr_v4(RP_PEER + 7), 7 };
	struct seen s;
	ns_sock sock;

	expect(ns_sock_open(rp.stack, &sock) == 0);
	expect(ns_sock_connect(rp.stack, sock, &to, rp.now) == -EINPROGRESS);
	rp_turn(&rp);
	expect(rp_take(&rp, &s) && s.kind == SEEN_ARP && s.arp_op == 1);
}
END_TEST

static ns_sock connect_to_stranger(void)
{
	struct ns_endpoint to = { ns_addr_v4(RP_PEER + 7), 7 };
	ns_sock sock;

	expect(ns_sock_open(rp.stack, &sock) == 0);
	expect(ns_sock_connect(rp.stack, sock, &to, rp.now) == -EINPROGRESS);
	rp_turn(&rp);
	return sock;
}

START_TEST(rfc1122_s2_3_2_2_packet_waits_for_the_neighbour)
{
	struct way w = stranger();
	struct seen s;

	connect_to_stranger();
	expect(rp_take(&rp, &s) && s.kind == SEEN_ARP && s.arp_op == 1);
	expect(s.way.src == RP_STACK && s.way.dst == w.src);
	expect(s.way.dst_mac[0] == 0xff);
	expect_silence();
	frame_arp(&f, &w, 2, w.dst_mac);
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && s.kind == SEEN_TCP && (s.flags & 0x3f) == FL_SYN);
	expect(!memcmp(s.way.dst_mac, stranger_mac, 6));
	expect_silence();
}
END_TEST

START_TEST(rfc1122_s2_3_2_1_requests_at_most_once_a_second_then_unreachable)
{
	struct mono last = { 0 };
	int err = 0, cnt = 0;
	struct seen s;
	ns_sock sock = connect_to_stranger();

	for (int i = 0; i < 300; i++) {
		while (rp_take(&rp, &s)) {
			expect(s.kind == SEEN_ARP && s.arp_op == 1);
			expect(!last.ns || mono_since(rp.now, last) >= 900 * NS_PER_MS);
			last = rp.now;
			cnt++;
		}
		rp_wait(&rp, 100 * NS_PER_MS);
	}
	expect(cnt >= 3);
	expect(rp_event(&rp, sock, NS_EV_ERR, &err));
	expect(err == -EHOSTUNREACH);
}
END_TEST

START_TEST(rfc826_unsolicited_reply_creates_no_entry)
{
	struct way w = stranger();
	struct seen s;

	frame_arp(&f, &w, 2, w.dst_mac);
	rp_inject(&rp, &f);
	connect_to_stranger();
	expect(rp_take(&rp, &s) && s.kind == SEEN_ARP);
}
END_TEST

START_TEST(rfc5227_s2_1_1_probe_of_our_address_is_answered)
{
	struct way w = stranger();
	struct seen s;

	w.src = 0;
	memset(w.dst_mac, 0xff, 6);
	frame_arp(&f, &w, 1, nobody);
	rp_inject(&rp, &f);
	expect(rp_take(&rp, &s) && s.kind == SEEN_ARP && s.arp_op == 2 && s.way.src == RP_STACK);
}
END_TEST

START_TEST(arp_sender_address_that_cannot_be_a_source_is_not_learned)
{
	static const uint32_t senders[] = { 0xffffffff, 0xe0000001, 0x7f000001, 0x0a0000ff };
	struct way w = stranger();
	struct seen s;

	for (size_t i = 0; i < sizeof(senders) / sizeof(senders[0]); i++) {
		w.src = senders[i];
		frame_arp(&f, &w, 1, nobody);
		rp_inject(&rp, &f);
		rp_drop_out(&rp);
	}
	/* a sender MAC of all ones, for an address we are resolving, is no answer */
	connect_to_stranger();
	expect(rp_take(&rp, &s) && s.kind == SEEN_ARP);
	w = stranger();
	frame_arp(&f, &w, 2, w.dst_mac);
	memset(f.b + ETH_LEN + 8, 0xff, 6);
	rp_inject(&rp, &f);
	while (rp_take(&rp, &s))
		expect(s.kind == SEEN_ARP);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("link");
	TCase *tc = conf_case(s, "ethernet and vnet");

	tcase_add_test(tc, eth_shorter_than_its_header_is_dropped);
	tcase_add_test(tc, eth_header_alone_is_dropped);
	tcase_add_test(tc, eth_802_3_length_is_dropped);
	tcase_add_test(tc, eth_vlan_tags_nested_and_truncated_are_dropped);
	tcase_add_test(tc, eth_source_multicast_is_dropped);
	tcase_add_test(tc, eth_destination_of_another_is_dropped);
	tcase_add_test(tc, vnet_csum_start_beyond_frame_is_dropped);
	tcase_add_test(tc, vnet_csum_field_beyond_frame_is_dropped);
	tcase_add_test(tc, vnet_needs_csum_is_trusted);
	tcase_add_test(tc, vnet_gso_type_that_contradicts_the_frame_is_dropped);
	tcase_add_test(tc, vnet_gso_size_zero_is_dropped_or_plain);
	tcase_add_test(tc, vnet_super_frame_is_judged_by_gso_size);

	tc = conf_case(s, "arp");
	tcase_add_test(tc, rfc826_request_for_our_address_is_answered);
	tcase_add_test(tc, rfc826_request_for_another_address_is_not_answered);
	tcase_add_test(tc, arp_shorter_than_28_octets_is_dropped);
	tcase_add_test(tc, arp_of_another_kind_is_dropped);
	tcase_add_test(tc, rfc5227_s2_4_claim_of_our_address_changes_nothing);
	tcase_add_test(tc, rfc5227_s2_4_an_address_is_defended_once_in_ten_seconds);
	tcase_add_test(tc, arp_does_not_override_a_permanent_neighbour);
	tcase_add_test(tc, arp_flood_leaves_the_table_bounded_and_permanent_entries_alone);

	tc = tcase_create("resolution");
	tcase_add_checked_fixture(tc, conf_setup_arp, conf_teardown_bare);
	suite_add_tcase(s, tc);
	tcase_add_test(tc, rfc1122_s2_3_2_2_packet_waits_for_the_neighbour);
	tcase_add_test(tc, rfc1122_s2_3_2_1_requests_at_most_once_a_second_then_unreachable);
	tcase_add_test(tc, rfc826_unsolicited_reply_creates_no_entry);
	tcase_add_test(tc, rfc5227_s2_1_1_probe_of_our_address_is_answered);
	tcase_add_test(tc, arp_sender_address_that_cannot_be_a_source_is_not_learned);
	return conf_run(s);
}
