/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_ip4.c - IPv4 in: RFC 791, RFC 1122 3.2, RFC 7126 */
#include "conformance.h"

static struct frame f;

/* A data segment of @other with IPv4 fields of the test's choosing. */
static void segment(const struct ip4_in *ip, const char *data)
{
	rp_build(&other,
		 &(struct tcp_in){ .flags = FL_ACK | FL_PSH,
				   .data = data,
				   .data_len = (uint32_t)strlen(data),
				   .ip = *ip },
		 &f);
}

/* The stack took @data, and nothing else, from the frame. */
static bool delivered(const char *data)
{
	char got[64];
	uint32_t len = (uint32_t)strlen(data);

	rp_inject(&rp, &f);
	other.snd += len;
	return drops() == 0 && rp_recv(&other, got, sizeof(got)) == len && !memcmp(got, data, len);
}

START_TEST(rfc791_s3_1_version_other_than_4_is_dropped)
{
	for (uint8_t version = 0; version < 16; version++) {
		if (version == 4)
			continue;
		segment(&(struct ip4_in){ .version = 5 }, "x");
		f.b[ETH_LEN] = (uint8_t)(version << 4 | 5);
		expect(dropped_silently(&f, "IP4_BAD_HEADER"));
	}
}
END_TEST

START_TEST(rfc791_s3_1_header_length_below_5_is_dropped)
{
	for (uint8_t ihl = 0; ihl < 5; ihl++) {
		segment(&(struct ip4_in){ 0 }, "x");
		f.b[ETH_LEN] = (uint8_t)(0x40 | ihl);
		expect(dropped_silently(&f, "IP4_BAD_HEADER"));
	}
}
END_TEST

START_TEST(rfc791_s3_1_header_length_beyond_total_length_is_dropped)
{
	segment(&(struct ip4_in){ .ihl = 15, .total_len = 56 }, "x");
	expect(dropped_silently(&f, "IP4_BAD_HEADER"));
}
END_TEST

START_TEST(rfc791_s3_1_header_length_beyond_frame_is_dropped)
{
	uint64_t sum = drops();

	segment(&(struct ip4_in){ .ihl = 15, .total_len = 60 }, "");
	f.len = ETH_LEN + 40;
	rp_inject(&rp, &f);
	expect(drops() == sum + 1 && moved("IP4_BAD_HEADER") + moved("TOO_SHORT") == 1);
	expect_silence();
}
END_TEST

START_TEST(rfc791_s3_1_total_length_below_header_is_dropped)
{
	static const uint16_t lens[] = { 1, 10, 19 };

	segment(&(struct ip4_in){ .is_len_zero = true }, "x");
	expect(dropped_silently(&f, "IP4_BAD_HEADER"));
	for (size_t i = 0; i < 3; i++) {
		segment(&(struct ip4_in){ .total_len = lens[i] }, "x");
		expect(dropped_silently(&f, "IP4_BAD_HEADER"));
	}
}
END_TEST

START_TEST(rfc791_s3_1_total_length_beyond_frame_is_dropped)
{
	static const uint16_t lens[] = { 54, 1500, 65535 };

	for (size_t i = 0; i < 3; i++) {
		segment(&(struct ip4_in){ .total_len = lens[i] }, "x");
		f.len = ETH_LEN + 53;
		expect(dropped_silently(&f, "IP4_BAD_HEADER"));
	}
}
END_TEST

START_TEST(rfc894_ethernet_padding_is_cut)
{
	segment(&(struct ip4_in){ 0 }, "padded");
	memset(f.b + f.len, 0xee, 40);
	f.len += 40;
	expect(delivered("padded"));
}
END_TEST

START_TEST(rfc1122_s3_2_1_2_bad_header_checksum_is_dropped)
{
	segment(&(struct ip4_in){ .is_bad_csum = true }, "x");
	expect(dropped_silently(&f, "IP4_CSUM"));
}
END_TEST

START_TEST(ip4_header_shorter_than_20_octets_is_dropped)
{
	for (uint32_t len = 0; len < IP4_LEN; len++) {
		segment(&(struct ip4_in){ 0 }, "x");
		f.len = ETH_LEN + len;
		expect(dropped_silently(&f, "TOO_SHORT"));
	}
}
END_TEST

START_TEST(rfc1122_s3_2_1_7_ttl_below_2_is_accepted)
{
	segment(&(struct ip4_in){ .ttl = 1 }, "one");
	expect(delivered("one"));
	segment(&(struct ip4_in){ .is_ttl_zero = true }, "zero");
	expect(delivered("zero"));
}
END_TEST

START_TEST(rfc791_s3_1_options_are_skipped)
{
	static const uint8_t nops[40] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
					  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
					  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	static const uint8_t record[] = { 7, 7, 4, 0, 0, 0, 0, 0 };
	static const uint8_t record_full[] = { 7, 7, 8, 10, 0, 0, 9, 0 };
	static const uint8_t unknown[] = { 0xff, 4, 1, 2 };
	static const uint8_t after_end[] = { 0, 0xff, 0, 0 };
	static const uint8_t alert[] = { 148, 4, 0, 0 };

	segment(&(struct ip4_in){ .opt = nops, .opt_len = 40 }, "nops");
	expect(delivered("nops"));
	segment(&(struct ip4_in){ .opt = record, .opt_len = 8 }, "rr");
	expect(delivered("rr"));
	segment(&(struct ip4_in){ .opt = record_full, .opt_len = 8 }, "full");
	expect(delivered("full"));
	segment(&(struct ip4_in){ .opt = unknown, .opt_len = 4 }, "unknown");
	expect(delivered("unknown"));
	segment(&(struct ip4_in){ .opt = after_end, .opt_len = 4 }, "end");
	expect(delivered("end"));
	segment(&(struct ip4_in){ .opt = alert, .opt_len = 4 }, "alert");
	expect(delivered("alert"));
}
END_TEST

START_TEST(rfc7126_s4_3_source_routes_are_refused)
{
	static const uint8_t rows[][8] = {
		{ 131, 7, 4, 10, 0, 0, 9, 0 },   /* loose, first hop next */
		{ 137, 7, 4, 10, 0, 0, 9, 0 },   /* strict */
		{ 131, 7, 8, 10, 0, 0, 9, 0 },   /* loose, used up */
		{ 137, 7, 200, 10, 0, 0, 9, 0 }, /* pointer out of range */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		segment(&(struct ip4_in){ .opt = rows[i], .opt_len = 8 }, "x");
		expect(dropped_silently(&f, "IP4_OPTIONS"));
	}
}
END_TEST

START_TEST(rfc791_s3_1_malformed_options_are_dropped)
{
	static const uint8_t rows[][4] = {
		{ 7, 0, 4, 0 },                      /* length 0: the endless loop */
		{ 7, 1, 4, 0 },                      /* shorter than itself */
		{ 7, 5, 4, 0 },                      /* one beyond the header */
		{ 0xff, 255, 0, 0 }, { 1, 1, 1, 7 }, /* no room for the length */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		segment(&(struct ip4_in){ .opt = rows[i], .opt_len = 4 }, "x");
		expect(dropped_silently(&f, "IP4_OPTIONS"));
	}
}
END_TEST

START_TEST(rfc1122_s3_2_2_1_unknown_protocol_gets_unreachable_at_a_limited_rate)
{
	static const uint8_t protos[] = { 4, 41, 47, 50, 51, 132, 255, 254 };
	uint8_t inner[64] = { 0x45, 0, 0, 64 };
	struct way w = rp_way(1, PORT);
	uint32_t answers = 0;
	struct seen s;

	for (uint32_t i = 0; i < 400; i++) {
		frame_ip4(&f, &w, &(struct ip4_in){ .proto = protos[i % 8] }, inner, sizeof(inner));
		rp_inject(&rp, &f);
		while (rp_take(&rp, &s)) {
			expect(s.kind == SEEN_ICMP && s.icmp_type == 3 && s.icmp_code == 2);
			expect(s.way.dst == RP_PEER && s.data_len >= 28);
			expect(!memcmp(s.data, f.b + ETH_LEN, 28)); /* header and 8 octets quoted */
			answers++;
		}
	}
	expect(moved("IP_PROTO") == 400);
	expect(answers < 200);
}
END_TEST

START_TEST(rfc1122_s3_2_1_3_sources_that_cannot_be_are_dropped)
{
	static const uint32_t sources[] = {
		0x00000000, 0x00000001, /* this network: RFC 1122 3.2.1.3 (a), (b) */
		0x7f000001, 0x7fffffff, /* loopback from the wire */
		0xe0000001, 0xefffffff, /* multicast */
		0xffffffff, 0x0a0000ff, /* broadcast, of the net and of ours */
		RP_STACK,               /* land */
	};

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct way w = rp_way(1000, PORT);

		w.src = sources[i];
		frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_SYN, .seq = 9, .wnd = 1000 });
		expect(dropped_silently(&f, "IP4_BAD_SRC"));
	}
}
END_TEST

START_TEST(rfc1122_s3_2_1_3_destination_of_another_is_dropped)
{
	static const uint32_t dests[] = { RP_PEER, 0x0a000063, 0x08080808, 0x7f000001, 0x00000000 };

	for (size_t i = 0; i < sizeof(dests) / sizeof(dests[0]); i++) {
		struct way w = rp_way(1000, PORT);

		w.dst = dests[i];
		frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_SYN, .seq = 9, .wnd = 1000 });
		expect(dropped_silently(&f, "IP4_NOT_US"));
	}
}
END_TEST

START_TEST(rfc9293_must_57_tcp_to_broadcast_or_multicast_is_dropped)
{
	static const uint32_t dests[] = { 0xffffffff, 0x0a0000ff, 0xe0000001 };

	for (size_t i = 0; i < sizeof(dests) / sizeof(dests[0]); i++) {
		struct way w = rp_way(1000, PORT);
		uint64_t sum = drops();

		w.dst = dests[i];
		memset(w.dst_mac, 0xff, 6);
		frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_SYN, .seq = 9, .wnd = 1000 });
		rp_inject(&rp, &f);
		expect(drops() == sum + 1);
		expect_silence();
	}
	/* a group that was never joined is somebody else's; that the two broadcasts are seen is ours to know */
	expect(moved("TCP_BCAST") >= 2 && moved("TCP_BCAST") + moved("IP4_NOT_US") == 3);
}
END_TEST

START_TEST(rfc1122_s3_3_6_unicast_packet_in_a_broadcast_frame_opens_nothing)
{
	struct way w = rp_way(1000, PORT);

	memset(w.dst_mac, 0xff, 6);
	frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_SYN, .seq = 9, .wnd = 1000 });
	uint64_t sum = drops();

	rp_inject(&rp, &f);
	expect(drops() == sum + 1);
	expect_silence();
}
END_TEST

START_TEST(rfc6864_s4_ids_of_packets_without_df_differ)
{
	struct seen s;
	uint16_t ids[64];
	uint32_t cnt = 0;

	rp_send(&other, "lost", 4);
	for (int i = 0; i < 40 && cnt < 8; i++) {
		while (cnt < 8 && rp_take(&rp, &s)) {
			if (s.frag & 0x4000)
				return; /* DF: atomic, any ID will do */
			for (uint32_t j = 0; j < cnt; j++)
				expect(ids[j] != s.id);
			ids[cnt++] = s.id;
		}
		rp_wait(&rp, 500 * NS_PER_MS);
	}
	expect(cnt >= 3);
}
END_TEST

/* gVisor's case: a stream that leaves DF out; IP_MTU_DISCOVER of Linux. */
START_TEST(rfc6864_s4_2_a_retransmission_without_df_has_an_id_of_its_own)
{
	static const struct {
		int how;
		uint16_t frag;
	} rows[] = { { 0, 0 }, { 1, 0x4000 }, { 2, 0x4000 }, { 3, 0 }, { 4, 0 }, { 5, 0 } };

	expect(ns_sock_setopt(rp.stack, other.sock, NS_IP_MTU_DISCOVER, 6) == -EINVAL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rp_conn c = accepted();
		uint16_t ids[4];
		struct seen s;

		expect(ns_sock_setopt(rp.stack, c.sock, NS_IP_MTU_DISCOVER, rows[i].how) == 0);
		rp_send(&c, "lost", 4);
		for (uint32_t k = 0; k < 4; k++) {
			expect(rp_take(&rp, &s) && s.data_len == 4 && s.frag == rows[i].frag);
			ids[k] = s.id;
			for (uint32_t j = 0; j < k && !rows[i].frag; j++)
				expect(ids[j] != ids[k]);
			for (uint32_t ms = 0; ms < 5000 && !rp.out_cnt; ms += 10)
				rp_wait(&rp, 10 * NS_PER_MS);
		}
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

static void teardown_after_silence(void)
{
	rp_done(&rp);
}

int main(void)
{
	Suite *s = suite_create("ip4");
	TCase *tc = conf_case(s, "ip4");

	tcase_add_test(tc, rfc791_s3_1_version_other_than_4_is_dropped);
	tcase_add_test(tc, rfc791_s3_1_header_length_below_5_is_dropped);
	tcase_add_test(tc, rfc791_s3_1_header_length_beyond_total_length_is_dropped);
	tcase_add_test(tc, rfc791_s3_1_header_length_beyond_frame_is_dropped);
	tcase_add_test(tc, rfc791_s3_1_total_length_below_header_is_dropped);
	tcase_add_test(tc, rfc791_s3_1_total_length_beyond_frame_is_dropped);
	tcase_add_test(tc, rfc894_ethernet_padding_is_cut);
	tcase_add_test(tc, rfc1122_s3_2_1_2_bad_header_checksum_is_dropped);
	tcase_add_test(tc, ip4_header_shorter_than_20_octets_is_dropped);
	tcase_add_test(tc, rfc1122_s3_2_1_7_ttl_below_2_is_accepted);
	tcase_add_test(tc, rfc791_s3_1_options_are_skipped);
	tcase_add_test(tc, rfc7126_s4_3_source_routes_are_refused);
	tcase_add_test(tc, rfc791_s3_1_malformed_options_are_dropped);
	tcase_add_test(tc, rfc1122_s3_2_2_1_unknown_protocol_gets_unreachable_at_a_limited_rate);
	tcase_add_test(tc, rfc1122_s3_2_1_3_sources_that_cannot_be_are_dropped);
	tcase_add_test(tc, rfc1122_s3_2_1_3_destination_of_another_is_dropped);
	tcase_add_test(tc, rfc9293_must_57_tcp_to_broadcast_or_multicast_is_dropped);
	tcase_add_test(tc, rfc1122_s3_3_6_unicast_packet_in_a_broadcast_frame_opens_nothing);

	tc = tcase_create("ids");
	tcase_add_checked_fixture(tc, conf_setup, teardown_after_silence);
	suite_add_tcase(s, tc);
	tcase_add_test(tc, rfc6864_s4_ids_of_packets_without_df_differ);
	tcase_add_test(tc, rfc6864_s4_2_a_retransmission_without_df_has_an_id_of_its_own);
	return conf_run(s);
}
