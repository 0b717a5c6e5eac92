/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_icmp.c - ICMP in and out, and what errors do to TCP: RFC 792, RFC 1122 3.2.2 and 4.2.3.9, RFC 5927, RFC 1191 */
#include "conformance.h"

static struct frame f;

/* An ICMP error from the peer that quotes @len octets of a segment of @c, with sequence number @seq. */
static void error_about(const struct rp_conn *c, uint8_t type, uint8_t code, uint32_t rest,
			uint32_t seq, uint32_t len)
{
	static struct frame quoted;
	struct way back = c->way, w = c->way;

	back.src = c->way.dst;
	back.dst = c->way.src;
	back.sport = c->way.dport;
	back.dport = c->way.sport;
	frame_tcp(&quoted, &back,
		  &(struct tcp_in){ .flags = FL_ACK,
				    .seq = seq,
				    .ack = c->snd,
				    .wnd = 1000,
				    .data = "quoted data",
				    .data_len = 11 });
	frame_icmp(&f, &w, type, code, rest, quoted.b + ETH_LEN, len);
}

START_TEST(rfc1122_s3_2_2_6_echo_is_answered)
{
	static const uint32_t lens[] = { 0, 1, 56, 1472 };
	struct way w = rp_way(0, 0);
	static uint8_t data[1472];
	struct seen s;

	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i ^ 0x5a);
	for (size_t i = 0; i < 4; i++) {
		frame_icmp(&f, &w, 8, 0, 0x12340000 + (uint32_t)i, data, lens[i]);
		rp_inject(&rp, &f);
		expect(rp_take(&rp, &s) && s.kind == SEEN_ICMP);
		expect(s.icmp_type == 0 && s.icmp_code == 0 &&
		       s.icmp_rest == 0x12340000 + (uint32_t)i);
		expect(s.data_len == lens[i] && !memcmp(s.data, data, lens[i]));
		expect(s.way.src == RP_STACK && s.way.dst == RP_PEER);
		expect_silence();
	}
}
END_TEST

START_TEST(rfc1122_s3_2_2_6_echo_to_broadcast_is_not_answered)
{
	struct way w = rp_way(0, 0);
	static const uint32_t dests[] = { 0xffffffff, 0x0a0000ff, 0xe0000001 };

	memset(w.dst_mac, 0xff, 6);
	for (size_t i = 0; i < 3; i++) {
		w.dst = dests[i];
		frame_icmp(&f, &w, 8, 0, 1, "smurf", 5);
		rp_inject(&rp, &f);
		expect_silence();
	}
}
END_TEST

START_TEST(icmp_with_bad_checksum_is_dropped)
{
	struct way w = rp_way(0, 0);

	frame_icmp(&f, &w, 8, 0, 1, "ping", 4);
	f.b[f.len - 1] ^= 1;
	expect(dropped_silently(&f, "ICMP_BAD"));
}
END_TEST

START_TEST(icmp_shorter_than_8_octets_is_dropped)
{
	struct way w = rp_way(0, 0);
	uint8_t b[8] = { 8, 0, 0xf7, 0xff };

	for (uint32_t len = 0; len < 8; len++) {
		frame_ip4(&f, &w, &(struct ip4_in){ .proto = 1 }, b, len);
		rp_inject(&rp, &f);
		expect_silence();
	}
	expect(moved("ICMP_BAD") + moved("TOO_SHORT") == 8 && drops() == 8);
}
END_TEST

START_TEST(rfc1122_s3_2_2_other_types_are_ignored)
{
	/* source quench (RFC 6633), redirect, router advertisement and solicitation, timestamp, information, mask, traceroute, nonsense */
	static const uint8_t types[] = { 4, 5, 9, 10, 13, 14, 15, 16, 17, 18, 30, 42, 127, 255 };

	for (size_t i = 0; i < sizeof(types); i++) {
		error_about(&other, types[i], 0, 0x0a0000fe, other.rcv, 28);
		rp_inject(&rp, &f);
		expect_silence();
	}
	expect(drops() == sizeof(types));
	expect(moved("ICMP_IGNORED") == sizeof(types));
}
END_TEST

START_TEST(icmp_error_that_quotes_too_little_is_dropped)
{
	for (uint32_t len = 0; len < 28; len++) {
		error_about(&other, 3, 3, 0, other.rcv, len);
		rp_inject(&rp, &f);
		expect_silence();
	}
	expect(drops() == 28);
	expect(moved("ICMP_BAD") + moved("ICMP_NO_MATCH") + moved("TOO_SHORT") == 28);
}
END_TEST

START_TEST(icmp_error_that_quotes_nonsense_is_dropped)
{
	/* octet of the quoted header and its value: version, header length, total length, fragment, protocol */
	static const uint8_t rows[][2] = { { 0, 0x65 }, { 0, 0x40 }, { 0, 0x41 },
					   { 0, 0x4f }, { 6, 0x00 }, { 7, 0x10 },
					   { 9, 50 },   { 9, 17 },   { 9, 1 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct way w = rp_way(0, 0);
		uint8_t quoted[64];

		error_about(&other, 3, 3, 0, other.rcv, 40);
		memcpy(quoted, f.b + ETH_LEN + IP4_LEN + 8, 40);
		if (rows[i][0] == 6)
			continue;
		quoted[rows[i][0]] = rows[i][1];
		frame_icmp(&f, &w, 3, 3, 0, quoted, 40);
		rp_inject(&rp, &f);
		expect_silence();
		expect(!strcmp(state_of(&other), "ESTABLISHED"));
	}
	expect(drops() >= 7);
}
END_TEST

START_TEST(rfc5927_s4_error_about_no_connection_is_dropped)
{
	struct rp_conn ghost = other;

	ghost.way.sport = 9;
	error_about(&ghost, 3, 3, 0, other.rcv, 28);
	expect(dropped_silently(&f, "ICMP_NO_MATCH"));
}
END_TEST

START_TEST(rfc5927_s4_1_error_with_sequence_outside_the_window_is_ignored)
{
	struct rp_conn c = accepted();

	rp_send(&c, "in flight", 9);
	rp_drop_out(&rp);
	error_about(&c, 3, 4, 600, c.rcv + 5000000, 28);
	rp_inject(&rp, &f);
	error_about(&c, 3, 4, 600, c.rcv - 70000, 28);
	rp_inject(&rp, &f);
	int mss = 0;

	expect(ns_sock_getopt(rp.stack, c.sock, NS_TCP_MAXSEG, &mss) == 0);
	expect(mss == 1460);
}
END_TEST

START_TEST(rfc1122_s4_2_3_9_unreachable_is_soft_when_established)
{
	struct rp_conn c = accepted();

	rp_send(&c, "in flight", 9);
	rp_drop_out(&rp);
	for (uint8_t code = 0; code < 16; code++) {
		if (code == 4)
			continue;
		error_about(&c, 3, code, 0, c.rcv, 28);
		rp_inject(&rp, &f);
		expect(!strcmp(state_of(&c), "ESTABLISHED"));
		expect(!rp_event(&rp, c.sock, NS_EV_ERR, NULL));
	}
	error_about(&c, 11, 0, 0, c.rcv, 28);
	rp_inject(&rp, &f);
	error_about(&c, 12, 0, 0, c.rcv, 28);
	rp_inject(&rp, &f);
	expect(!strcmp(state_of(&c), "ESTABLISHED"));
	c.rcv += 9;
	expect(is_flow_alive(&c));
}
END_TEST

START_TEST(rfc1122_s4_2_3_9_unreachable_ends_syn_sent_with_its_errno)
{
	/* linux v6.1 net/ipv4/icmp.c icmp_err_convert[] */
	static const struct {
		uint8_t code;
		int err; /* 0: the connection goes on */
	} rows[] = {
		{ 0, -ENETUNREACH },   { 1, -EHOSTUNREACH },  { 2, -ENOPROTOOPT },
		{ 3, -ECONNREFUSED },  { 5, -EOPNOTSUPP },    { 6, -ENETUNREACH },
		{ 7, -EHOSTDOWN },     { 8, -ENONET },        { 9, -ENETUNREACH },
		{ 10, -EHOSTUNREACH }, { 11, -ENETUNREACH },  { 12, -EHOSTUNREACH },
		{ 13, -EHOSTUNREACH }, { 14, -EHOSTUNREACH }, { 15, -EHOSTUNREACH },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rp_conn c;
		struct seen s;
		int err = 0;

		expect(rp_connect_begin(&rp, (uint16_t)(2000 + i), &c));
		error_about(&c, 3, rows[i].code, 0, c.irs, 28);
		rp_inject(&rp, &f);
		expect(rp_event(&rp, c.sock, NS_EV_ERR, &err));
		expect(err == rows[i].err);
		/* nothing is left: what the peer sends to it now is reset */
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
		expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_RST && s.seq == c.irs + 1);
		expect_silence();
		ns_sock_close(rp.stack, c.sock);
		rp_turn(&rp);
	}
}
END_TEST

START_TEST(rfc5927_s4_1_error_with_wrong_sequence_does_not_end_syn_sent)
{
	struct rp_conn c;

	expect(rp_connect_begin(&rp, 2000, &c));
	error_about(&c, 3, 3, 0, c.irs + 12345, 28);
	rp_inject(&rp, &f);
	expect(!rp_event(&rp, c.sock, NS_EV_ERR, NULL));
	expect(!strcmp(state_of(&c), "SYN-SENT") || !strcmp(state_of(&c), "SYN_SENT"));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc1191_s6_4_fragmentation_needed_lowers_the_segment_size)
{
	struct rp_conn c = accepted();
	static uint8_t data[5000];
	struct seen s;

	rp_send(&c, data, sizeof(data));
	expect(rp_take(&rp, &s) && s.data_len == 1460);
	rp_drop_out(&rp);
	error_about(&c, 3, 4, 1000, c.rcv, 28);
	rp_inject(&rp, &f);
	rp_wait(&rp, 2 * NS_PER_SEC);
	expect(rp_take(&rp, &s) && s.kind == SEEN_TCP);
	expect(s.seq == c.rcv && s.data_len == 960);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc1191_s3_forged_small_mtu_stops_at_a_floor)
{
	static const uint16_t mtus[] = { 0, 1, 28, 67, 68 };
	struct rp_conn c = accepted();
	int mss = 0;

	rp_send(&c, "in flight", 9);
	for (size_t i = 0; i < sizeof(mtus) / sizeof(mtus[0]); i++) {
		error_about(&c, 3, 4, mtus[i], c.rcv, 28);
		rp_inject(&rp, &f);
		expect(ns_sock_getopt(rp.stack, c.sock, NS_TCP_MAXSEG, &mss) == 0);
		expect(mss >= 512); /* min_pmtu 552 of Linux less 40 */
	}
	/* larger than what we use: ignored */
	error_about(&c, 3, 4, 9000, c.rcv, 28);
	rp_inject(&rp, &f);
	int after = 0;

	expect(ns_sock_getopt(rp.stack, c.sock, NS_TCP_MAXSEG, &after) == 0 && after <= mss);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc1122_s3_2_2_no_error_about_an_error_a_broadcast_or_a_fragment)
{
	struct way w = rp_way(1, 2), all = w;
	uint8_t junk[64] = { 3, 3, 0xfc, 0xfc };

	/* an ICMP error of our own kind, about nothing of ours */
	error_about(&other, 3, 2, 0, 1, 28);
	rp_inject(&rp, &f);
	expect_silence();
	frame_ip4(&f, &w, &(struct ip4_in){ .proto = 1 }, junk, 4);
	rp_inject(&rp, &f);
	expect_silence();
	/* unknown transport to a broadcast address, in a broadcast frame, from a source that is none */
	all.dst = 0xffffffff;
	memset(all.dst_mac, 0xff, 6);
	frame_ip4(&f, &all, &(struct ip4_in){ .proto = 200 }, junk, 40);
	rp_inject(&rp, &f);
	expect_silence();
	all.dst = RP_STACK;
	frame_ip4(&f, &all, &(struct ip4_in){ .proto = 200 }, junk, 40);
	rp_inject(&rp, &f);
	expect_silence();
	w.src = 0xe0000001;
	frame_ip4(&f, &w, &(struct ip4_in){ .proto = 200 }, junk, 40);
	rp_inject(&rp, &f);
	expect_silence();
	w.src = RP_PEER;
	frame_ip4(&f, &w, &(struct ip4_in){ .proto = 200, .frag = 0x0010 }, junk, 40);
	rp_inject(&rp, &f);
	expect_silence();
}
END_TEST

START_TEST(icmp_echo_reply_reflects_no_options)
{
	static const uint8_t rr[8] = { 7, 7, 4, 0, 0, 0, 0, 0 };
	struct way w = rp_way(0, 0);
	uint8_t echo[12] = { 8, 0, 0xf7, 0xf5, 0, 1, 0, 9 };
	const struct frame *out;

	uint32_t sum = ~frame_sum((uint8_t[12]){ 8, 0, 0, 0, 0, 1, 0, 9 }, 12, 0) & 0xffff;

	echo[2] = (uint8_t)(sum >> 8);
	echo[3] = (uint8_t)sum;
	frame_ip4(&f, &w, &(struct ip4_in){ .proto = 1, .opt = rr, .opt_len = 8 }, echo, 12);
	rp_inject(&rp, &f);
	out = rp_take_raw(&rp);
	expect(out && (out->b[ETH_LEN] & 15) == 5 && out->b[ETH_LEN + IP4_LEN] == 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("icmp");
	TCase *tc = conf_case(s, "icmp");

	tcase_add_test(tc, rfc1122_s3_2_2_6_echo_is_answered);
	tcase_add_test(tc, rfc1122_s3_2_2_6_echo_to_broadcast_is_not_answered);
	tcase_add_test(tc, icmp_with_bad_checksum_is_dropped);
	tcase_add_test(tc, icmp_shorter_than_8_octets_is_dropped);
	tcase_add_test(tc, rfc1122_s3_2_2_other_types_are_ignored);
	tcase_add_test(tc, icmp_error_that_quotes_too_little_is_dropped);
	tcase_add_test(tc, icmp_error_that_quotes_nonsense_is_dropped);
	tcase_add_test(tc, rfc5927_s4_error_about_no_connection_is_dropped);
	tcase_add_test(tc, rfc5927_s4_1_error_with_sequence_outside_the_window_is_ignored);
	tcase_add_test(tc, rfc1122_s4_2_3_9_unreachable_is_soft_when_established);
	tcase_add_test(tc, rfc1122_s4_2_3_9_unreachable_ends_syn_sent_with_its_errno);
	tcase_add_test(tc, rfc5927_s4_1_error_with_wrong_sequence_does_not_end_syn_sent);
	tcase_add_test(tc, rfc1191_s6_4_fragmentation_needed_lowers_the_segment_size);
	tcase_add_test(tc, rfc1191_s3_forged_small_mtu_stops_at_a_floor);
	tcase_add_test(tc, rfc1122_s3_2_2_no_error_about_an_error_a_broadcast_or_a_fragment);
	tcase_add_test(tc, icmp_echo_reply_reflects_no_options);
	return conf_run(s);
}
