/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_tcp_header.c - the TCP header and its options, right and wrong: RFC 9293 3.1 and 3.2, RFC 7323, RFC 2018 */
#include "conformance.h"

static struct frame f;

START_TEST(rfc9293_s3_1_data_offset_below_5_is_dropped)
{
	for (uint8_t doff = 0; doff < 5; doff++) {
		rp_build(&other,
			 &(struct tcp_in){ .flags = FL_ACK,
					   .doff = doff,
					   .is_doff_zero = !doff,
					   .data = "x",
					   .data_len = 1 },
			 &f);
		expect(dropped_silently(&f, "TCP_BAD_HEADER"));
	}
}
END_TEST

START_TEST(rfc9293_s3_1_data_offset_beyond_the_segment_is_dropped)
{
	struct opts none = { 0 };

	for (uint8_t doff = 6; doff < 16; doff++) {
		rp_build(&other, &(struct tcp_in){ .flags = FL_ACK, .doff = doff, .opts = &none },
			 &f);
		expect(dropped_silently(&f, "TCP_BAD_HEADER"));
	}
}
END_TEST

START_TEST(tcp_header_shorter_than_20_octets_is_dropped)
{
	struct way w = other.way;
	uint8_t b[20] = { 0x9c, 0x40, 0, 80, [12] = 0x50 };

	for (uint32_t len = 0; len < 20; len++) {
		frame_ip4(&f, &w, &(struct ip4_in){ 0 }, b, len);
		rp_inject(&rp, &f);
		expect_silence();
	}
	expect(drops() == 20 && moved("TOO_SHORT") + moved("TCP_BAD_HEADER") == 20);
}
END_TEST

START_TEST(rfc9293_must_3_bad_checksum_is_dropped)
{
	rp_build(&other,
		 &(struct tcp_in){
			 .flags = FL_ACK, .data = "x", .data_len = 1, .is_bad_csum = true },
		 &f);
	expect(dropped_silently(&f, "TCP_CSUM"));
	/* every single bit of header and payload counts; so do the addresses of the pseudo-header */
	for (uint32_t bit = 0; bit < 8 * (TCP_LEN + 12 + 1); bit++) {
		rp_build(&other, &(struct tcp_in){ .flags = FL_ACK, .data = "x", .data_len = 1 },
			 &f);
		f.b[ETH_LEN + IP4_LEN + bit / 8] ^= (uint8_t)(1 << bit % 8);
		uint64_t sum = drops();

		rp_inject(&rp, &f);
		expect(drops() == sum + 1);
		expect_silence();
	}
	expect(moved("TCP_CSUM") + moved("TCP_BAD_HEADER") == 1 + 8 * (TCP_LEN + 12 + 1));
}
END_TEST

START_TEST(rfc9293_s3_1_reserved_bits_are_ignored)
{
	char got;

	rp_build(&other, &(struct tcp_in){ .flags = FL_ACK, .data = "x", .data_len = 1 }, &f);
	f.b[ETH_LEN + IP4_LEN + 12] |= 0x0e;
	frame_fix_tcp_csum(&f);
	rp_inject(&rp, &f);
	other.snd++;
	expect(rp_recv(&other, &got, 1) == 1 && got == 'x');
}
END_TEST

/*
 * RFC 9293 3.1, whatever kind of segment: reserved bits "must be zero in generated segments", the urgent pointer says
 * nothing without URG, the MSS option is of SYNs alone (MUST-65), the header ends with an option and no padding (MUST-69).
 */
START_TEST(rfc9293_s3_1_reserved_bits_are_sent_as_zero)
{
	struct rp_conn c = accepted();
	const struct frame *out;
	uint32_t cnt = 0;
	struct seen s;

	rp_send(&c, "abc", 3);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .seq = 10, .data = "x", .data_len = 1 });
	rp_wait(&rp, NS_PER_SEC);
	ns_sock_shutdown_send(rp.stack, c.sock);
	rp_turn(&rp);
	ns_sock_abort(rp.stack, c.sock);
	rp_turn(&rp);
	frame_tcp(&f,
		  &(struct way){ .src_mac = RP_PEER_MAC,
				 .dst_mac = RP_STACK_MAC,
				 .src = RP_PEER,
				 .dst = RP_STACK,
				 .sport = 7,
				 .dport = 9 },
		  &(struct tcp_in){ .flags = FL_SYN, .seq = 1 });
	rp_inject(&rp, &f);
	frame_tcp(&f,
		  &(struct way){ .src_mac = RP_PEER_MAC,
				 .dst_mac = RP_STACK_MAC,
				 .src = RP_PEER,
				 .dst = RP_STACK,
				 .sport = 7,
				 .dport = PORT },
		  &(struct tcp_in){ .flags = FL_SYN, .seq = 1, .wnd = 9 });
	rp_inject(&rp, &f);
	while ((out = rp_take_raw(&rp)) != NULL) {
		const uint8_t *tcp = out->b + ETH_LEN + IP4_LEN;

		expect(!(tcp[12] & 0x0f) && !(tcp[13] & (FL_ECE | FL_CWR)));
		expect(!(tcp[13] & FL_URG) && !tcp[18] && !tcp[19]);
		frame_read(out, &s);
		expect(!s.is_bad && s.has_mss == ((tcp[13] & FL_SYN) != 0));
		for (uint32_t at = 20, len; at < (uint32_t)(tcp[12] >> 4) * 4; at += len) {
			len = tcp[at] == 1 ? 1 : tcp[at + 1];
			expect(tcp[at] != 0 && len >= 1);
		}
		cnt++;
	}
	expect(cnt >= 6);
}
END_TEST

START_TEST(rfc9293_must_6_unknown_options_are_skipped)
{
	/* kinds 253, 254, TCP-AO (29), MD5 (19), MPTCP (30), user timeout (28), Fast Open (34) */
	static const uint8_t rows[][8] = {
		{ 253, 4, 1, 2, 1, 1, 1, 1 }, { 254, 2, 1, 1, 1, 1, 1, 1 },
		{ 29, 8, 1, 1, 5, 5, 5, 5 },  { 30, 4, 0, 0, 1, 1, 1, 1 },
		{ 28, 4, 0, 9, 1, 1, 1, 1 },  { 34, 6, 1, 2, 3, 4, 1, 1 }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opts o = { 0 };
		char got;

		opts_raw(&o, rows[i], 8);
		opts_ts(&o, other.ts_val, other.ts_recent);
		rp_seg(&other,
		       &(struct tcp_in){ .flags = FL_ACK, .opts = &o, .data = "x", .data_len = 1 });
		other.snd++;
		expect(rp_recv(&other, &got, 1) == 1 && got == 'x');
	}
	expect(drops() == 0);
}
END_TEST

/* MPTCP (RFC 8684), ENO (RFC 8547), TCP-AO (RFC 5925), MD5 (RFC 2385), user timeout (RFC 5482): the answer names none. */
START_TEST(tcp_syn_with_options_of_what_we_lack_opens_a_plain_connection)
{
	static const uint8_t mptcp[] = { 30, 4, 0x01, 0x81 }, eno[] = { 69, 3, 0x20 };
	static const uint8_t ao[] = { 29, 16, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9 };
	static const uint8_t md5[18] = { 19, 18, 7, 7 }, uto[] = { 28, 4, 0x80, 0x1e };
	static const struct {
		const uint8_t *b;
		uint8_t len;
	} rows[] = { { mptcp, sizeof(mptcp) },
		     { eno, sizeof(eno) },
		     { ao, sizeof(ao) },
		     { md5, sizeof(md5) },
		     { uto, sizeof(uto) } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct way w = rp_way((uint16_t)(6100 + i), PORT);
		struct opts o = { 0 };
		const struct frame *out;
		struct seen s;

		opts_mss(&o, 1460);
		opts_raw(&o, rows[i].b, rows[i].len);
		frame_tcp(
			&f, &w,
			&(struct tcp_in){ .flags = FL_SYN, .seq = 100, .wnd = 60000, .opts = &o });
		rp_inject(&rp, &f);
		out = rp_take_raw(&rp);
		expect(out != NULL);
		frame_read(out, &s);
		expect((s.flags & 0x3f) == (FL_SYN | FL_ACK) && s.ack == 101 && s.has_mss);
		expect(out->b[14 + 20 + 12] >> 4 == 6); /* 24 octets: MSS alone */
		frame_tcp(&f, &w,
			  &(struct tcp_in){ .flags = FL_ACK,
					    .seq = 101,
					    .ack = s.seq + 1,
					    .wnd = 60000,
					    .data = "x",
					    .data_len = 1 });
		rp_inject(&rp, &f);
		expect(rp_take(&rp, &s) && (s.flags & 0x3f) == FL_ACK && s.ack == 102);
	}
	expect(drops() == 0);
}
END_TEST

START_TEST(rfc9293_must_7_option_lengths_that_lie_are_survived)
{
	static const uint8_t rows[][4] = {
		{ 253, 0, 1, 1 }, { 253, 1, 1, 1 }, { 8, 0, 1, 1 },   { 8, 1, 1, 1 },
		{ 8, 10, 1, 1 },  { 5, 0, 0, 0 },   { 5, 2, 1, 1 },   { 5, 3, 1, 1 },
		{ 5, 255, 1, 1 }, { 2, 0, 1, 1 },   { 2, 3, 1, 1 },   { 3, 2, 1, 1 },
		{ 1, 1, 1, 253 }, { 1, 1, 8, 4 },   { 19, 18, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opts o = { 0 };
		struct rp_conn c;

		/* on an established connection: dropped, or taken without the rest of the options */
		opts_raw(&o, rows[i], 4);
		rp_seg(&other, &(struct tcp_in){ .flags = FL_ACK, .opts = &o });
		rp_drop_out(&rp);
		expect(!strcmp(state_of(&other), "ESTABLISHED"));
		/* on a SYN: nothing but no answer or a SYN-ACK */
		c = other;
		c.way.sport = (uint16_t)(3000 + i);
		frame_tcp(&f, &c.way,
			  &(struct tcp_in){ .flags = FL_SYN, .seq = 77, .wnd = 1000, .opts = &o });
		rp_inject(&rp, &f);
		struct seen s;

		if (rp_take(&rp, &s))
			expect((s.flags & 0x3f) == (FL_SYN | FL_ACK) && s.ack == 78);
		expect_silence();
	}
}
END_TEST

START_TEST(tcp_repeated_options_are_bounded)
{
	struct opts o = { 0 };
	char got;

	opts_ts(&o, other.ts_val, other.ts_recent);
	opts_ts(&o, other.ts_val - 1000000, 0);
	opts_ts(&o, 0, 0);
	o.len = 36;
	rp_seg(&other, &(struct tcp_in){ .flags = FL_ACK, .opts = &o, .data = "x", .data_len = 1 });
	rp_drop_out(&rp);
	if (rp_recv(&other, &got, 1) == 1)
		other.snd++;
}
END_TEST

START_TEST(rfc9293_must_15_no_mss_option_means_536)
{
	static uint8_t data[3000];
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_no_mss = true });
	struct seen s;

	rp_send(&c, data, sizeof(data));
	expect(rp_take(&rp, &s) && s.data_len == 536);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_must_14_syn_carries_an_mss_of_mtu_less_40)
{
	struct rp_conn c;

	expect(rp_connect_begin(&rp, 2000, &c));
	expect(c.syn.has_mss && c.syn.mss == 1460);
	expect(c.syn.has_ts && c.syn.has_sack_ok && c.syn.has_wscale);
	ns_sock_abort(rp.stack, c.sock);
	rp_turn(&rp);
	c = accepted();
	expect(c.syn.has_mss && c.syn.mss == 1460);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* RFC 9293 3.1: "prepared to process options even if they do not begin on a word boundary". */
START_TEST(rfc9293_must_64_options_begin_anywhere)
{
	static const uint8_t nops[3] = { 1, 1, 1 };
	static uint8_t data[3000];

	for (uint8_t shift = 0; shift < 4; shift++) {
		struct opts o = { 0 };
		struct rp_conn c = { .rp = &rp, .wnd = 65535, .snd = 1001 };
		struct seen s;

		c.way = rp_way((uint16_t)(7000 + shift), PORT);
		opts_raw(&o, nops, shift);
		opts_ts(&o, 77, 0);
		opts_mss(&o, 700);
		opts_wscale(&o, 3);
		opts_sack_ok(&o);
		frame_tcp(
			&f, &c.way,
			&(struct tcp_in){ .flags = FL_SYN, .seq = 1000, .wnd = 65535, .opts = &o });
		rp_inject(&rp, &f);
		expect(rp_take(&rp, &s) && s.flags == (FL_SYN | FL_ACK));
		expect(s.has_ts && s.ts_ecr == 77 && s.has_wscale && s.has_sack_ok);
		c.rcv = s.seq + 1;
		c.has_ts = true;
		c.ts_val = 78;
		c.ts_recent = s.ts_val;
		rp_ack(&c);
		expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
		rp_send(&c, data, sizeof(data));
		expect(rp_take(&rp, &s) && s.data_len == 688);
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

/* RFC 9293 3.9.1.9 and 3.9.2: the program's, changed while the connection lives, unchanged on the wire; ECN bits are TCP's. */
START_TEST(rfc9293_must_48_49_diffserv_and_ttl_are_the_programs)
{
	struct rp_conn c = accepted();
	struct seen s;

	rp_send(&c, "a", 1);
	expect(rp_expect(&c, &s) && s.tos == 0 && s.ttl == 64);
	rp_ack(&c);
	expect(ns_sock_setopt(rp.stack, c.sock, NS_SO_PRIORITY_TOS, 0xbb) == 0);
	expect(ns_sock_setopt(rp.stack, c.sock, NS_SO_TTL, 9) == 0);
	rp_send(&c, "b", 1);
	expect(rp_expect(&c, &s) && s.data_len == 1 && s.tos == 0xb8 && s.ttl == 9);
	rp_wait(&rp, NS_PER_SEC);
	expect(rp_take(&rp, &s) && s.tos == 0xb8 && s.ttl == 9); /* again */
	rp_drop_out(&rp);
	rp_ack(&c);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .seq = 50, .data = "x", .data_len = 1 });
	expect(rp_expect(&c, &s) && !s.data_len && s.tos == 0xb8 && s.ttl == 9);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_must_16_segments_respect_the_peers_mss_less_options)
{
	static uint8_t data[5000];
	struct rp_conn c = accepted_with(&(struct rp_syn){ .mss = 1000, .has_ts = true });
	struct seen s;
	uint32_t sum = 0;

	rp_send(&c, data, sizeof(data));
	while (rp_take(&rp, &s)) {
		expect(s.data_len <= 988);
		sum += s.data_len;
	}
	expect(sum == sizeof(data));
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc9293_full_mss_with_timestamps_is_1448)
{
	static uint8_t data[5000];
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_ts = true });
	struct seen s;

	rp_send(&c, data, sizeof(data));
	expect(rp_take(&rp, &s) && s.data_len == 1448);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_tiny_and_huge_mss_make_progress)
{
	static const uint16_t sizes[] = { 1, 10, 48, 65535 };
	static uint8_t data[4000];
	struct rp_conn c;
	struct seen s;
	struct opts zero = { 4, { 2, 4, 0, 0 } };

	for (size_t i = 0; i < 5; i++) {
		uint32_t sum = 0, cnt = 0;

		if (i < 4) {
			c = accepted_with(&(struct rp_syn){ .mss = sizes[i] });
		} else { /* MSS 0 cannot be said by struct rp_syn */
			c = (struct rp_conn){ .rp = &rp, .wnd = 65535, .snd = 1001 };
			c.way = rp_way(3999, PORT);
			frame_tcp(&f, &c.way,
				  &(struct tcp_in){ .flags = FL_SYN,
						    .seq = 1000,
						    .wnd = 65535,
						    .opts = &zero });
			rp_inject(&rp, &f);
			expect(rp_take(&rp, &s) && s.ack == 1001);
			c.rcv = s.seq + 1;
			rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK });
			expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
		}
		expect(rp_send(&c, data, sizeof(data)) == sizeof(data));
		for (uint32_t turn = 0; turn < 500 && sum < sizeof(data); turn++) {
			while (rp_expect(&c, &s)) {
				expect(s.data_len <= 1460);
				sum += s.data_len;
				cnt++;
			}
			rp_ack(&c);
		}
		expect(sum == sizeof(data));
		expect(cnt <= 200); /* a floor of some dozen octets: not a packet an octet */
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
}
END_TEST

/* RFC 791 3.2: every link carries 68 octets, and some carry no more. */
START_TEST(rfc791_s3_2_a_link_of_68_octets_carries_a_connection)
{
	static uint8_t data[800], got[800];
	struct seen s;
	uint32_t sum = 0;

	rp_done(&rp);
	conf_config.mtu = 68;
	conf_setup();
	struct rp_conn c =
		accepted_with(&(struct rp_syn){ .mss = 28, .has_ts = true, .has_sack = true });

	expect(c.syn.mss == 28);
	expect(rp_send(&c, data, sizeof(data)) == sizeof(data));
	rp_expect(&c, &s);
	rp_wait(&rp, 2 * NS_PER_SEC); /* nothing is acknowledged: the timeout sends it again */
	expect(moved("TCP_RTOS") >= 1 && moved("LINK_TOO_LONG") == 0);
	while (sum < sizeof(data)) {
		rp_ack(&c);
		expect(rp_expect(&c, &s));
		expect(s.data_len <= 16); /* 68 less 40, less timestamps */
		sum = c.rcv - c.irs - 1;
	}
	/* three holes: as many SACK blocks as there is room for, one */
	for (uint32_t i = 1; i <= 3; i++)
		rp_seg(&c, &(struct tcp_in){
				   .flags = FL_ACK, .seq = i * 20, .data = data, .data_len = 10 });
	while (rp_expect(&c, &s))
		;
	expect(s.sack_cnt == 1 && moved("LINK_TOO_LONG") == 0);
	rp_data(&c, data, 70);
	expect(rp_recv(&c, got, sizeof(got)) == 70);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc7323_s2_3_window_scale_above_14_is_14)
{
	static const uint8_t shifts[] = { 15, 31, 255 };
	static uint8_t data[70000];
	struct seen s;

	for (size_t i = 0; i < 3; i++) {
		struct rp_conn c = accepted_with(
			&(struct rp_syn){ .has_wscale = true, .wscale = shifts[i], .wnd = 1000 });
		uint32_t sum = 0;

		/* window 1 << 14: a whole initial flight of 10 segments fits, nothing overflows */
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .wnd = 1 });
		rp_send(&c, data, sizeof(data));
		while (rp_take(&rp, &s))
			sum += s.data_len;
		expect(sum > 10000 && sum <= 1 << 14);
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
	}
}
END_TEST

START_TEST(rfc7323_s2_2_scale_on_a_segment_without_syn_is_ignored)
{
	static uint8_t data[20000];
	struct rp_conn c =
		accepted_with(&(struct rp_syn){ .has_wscale = true, .wscale = 0, .wnd = 3000 });
	struct opts o = { 0 };
	struct seen s;
	uint32_t sum = 0;

	opts_wscale(&o, 14);
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .wnd = 3000, .opts = &o });
	rp_send(&c, data, sizeof(data));
	while (rp_take(&rp, &s))
		sum += s.data_len;
	expect(sum > 0 && sum <= 3000);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc7323_s2_2_window_of_a_syn_is_not_scaled)
{
	static uint8_t data[20000];
	struct rp_conn c;
	struct seen s;
	uint32_t sum = 0;

	expect(rp_half_open(&rp, PORT,
			    &(struct rp_syn){ .has_wscale = true, .wscale = 7, .wnd = 3000 }, &c));
	rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK, .wnd = 3000 >> 7 });
	expect(ns_sock_accept(rp.stack, listener, &c.sock) == 0);
	rp_drop_out(&rp);
	rp_send(&c, data, sizeof(data));
	while (rp_take(&rp, &s))
		sum += s.data_len;
	expect(sum > 0 && sum <= 3000);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(tcp_flag_combinations_change_no_state)
{
	/* on an established connection: none, SYN|FIN, SYN|RST, FIN alone, PSH|URG, all */
	static const uint8_t flags[] = {
		0, FL_SYN | FL_FIN, FL_FIN, FL_PSH | FL_URG, FL_FIN | FL_URG, 0x3f & ~FL_RST
	};

	for (size_t i = 0; i < sizeof(flags); i++) {
		rp_seg(&other, &(struct tcp_in){ .flags = flags[i] });
		rp_drop_out(&rp);
		expect(!strcmp(state_of(&other), "ESTABLISHED"));
	}
	expect(drops() == sizeof(flags));
}
END_TEST

START_TEST(tcp_flag_combinations_to_a_listener_open_nothing)
{
	static const uint8_t flags[] = {
		0,    FL_FIN,          FL_SYN | FL_RST, FL_SYN | FL_FIN, FL_RST | FL_ACK,
		0x3f, FL_PSH | FL_URG, FL_RST
	};
	struct seen s;

	for (size_t i = 0; i < sizeof(flags); i++) {
		struct way w = rp_way((uint16_t)(5000 + i), PORT);

		frame_tcp(&f, &w, &(struct tcp_in){ .flags = flags[i], .seq = 9, .wnd = 100 });
		rp_inject(&rp, &f);
		while (rp_take(&rp, &s))
			expect(!(s.flags & FL_SYN));
	}
	ns_sock sock;

	expect(ns_sock_accept(rp.stack, listener, &sock) == -EAGAIN);
}
END_TEST

START_TEST(tcp_urgent_pointers_of_every_kind_lose_no_octet)
{
	/* pointer 0, 1, at the end, beyond, far beyond, backwards */
	static const uint16_t urgs[] = { 0, 1, 4, 5, 65535, 2 };
	char got[64];
	uint32_t sum = 0;

	for (size_t i = 0; i < sizeof(urgs) / sizeof(urgs[0]); i++) {
		rp_seg(&other, &(struct tcp_in){ .flags = FL_ACK | FL_URG,
						 .urg = urgs[i],
						 .data = "urge",
						 .data_len = 4 });
		other.snd += 4;
		rp_drop_out(&rp);
	}
	for (uint32_t n; (n = rp_recv(&other, got, sizeof(got)));)
		sum += n;
	expect(sum == 4 * sizeof(urgs) / sizeof(urgs[0])); /* in line, as with SO_OOBINLINE */
	/* with SYN, and during connect */
	struct way w = rp_way(6000, PORT);
	struct seen s;

	frame_tcp(&f, &w,
		  &(struct tcp_in){ .flags = FL_SYN | FL_URG, .urg = 9, .seq = 9, .wnd = 100 });
	rp_inject(&rp, &f);
	if (rp_take(&rp, &s))
		expect((s.flags & 0x3f) == (FL_SYN | FL_ACK));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_header");
	TCase *tc = conf_case(s, "header and options");

	tcase_add_test(tc, rfc9293_s3_1_data_offset_below_5_is_dropped);
	tcase_add_test(tc, rfc9293_s3_1_data_offset_beyond_the_segment_is_dropped);
	tcase_add_test(tc, tcp_header_shorter_than_20_octets_is_dropped);
	tcase_add_test(tc, rfc9293_must_3_bad_checksum_is_dropped);
	tcase_add_test(tc, rfc9293_s3_1_reserved_bits_are_ignored);
	tcase_add_test(tc, rfc9293_s3_1_reserved_bits_are_sent_as_zero);
	tcase_add_test(tc, rfc9293_must_6_unknown_options_are_skipped);
	tcase_add_test(tc, tcp_syn_with_options_of_what_we_lack_opens_a_plain_connection);
	tcase_add_test(tc, rfc9293_must_7_option_lengths_that_lie_are_survived);
	tcase_add_test(tc, tcp_repeated_options_are_bounded);
	tcase_add_test(tc, rfc9293_must_15_no_mss_option_means_536);
	tcase_add_test(tc, rfc9293_must_14_syn_carries_an_mss_of_mtu_less_40);
	tcase_add_test(tc, rfc9293_must_64_options_begin_anywhere);
	tcase_add_test(tc, rfc9293_must_48_49_diffserv_and_ttl_are_the_programs);
	tcase_add_test(tc, rfc9293_must_16_segments_respect_the_peers_mss_less_options);
	tcase_add_test(tc, rfc9293_full_mss_with_timestamps_is_1448);
	tcase_add_test(tc, tcp_tiny_and_huge_mss_make_progress);
	tcase_add_test(tc, rfc791_s3_2_a_link_of_68_octets_carries_a_connection);
	tcase_add_test(tc, rfc7323_s2_3_window_scale_above_14_is_14);
	tcase_add_test(tc, rfc7323_s2_2_scale_on_a_segment_without_syn_is_ignored);
	tcase_add_test(tc, rfc7323_s2_2_window_of_a_syn_is_not_scaled);
	tcase_add_test(tc, tcp_flag_combinations_change_no_state);
	tcase_add_test(tc, tcp_flag_combinations_to_a_listener_open_nothing);
	tcase_add_test(tc, tcp_urgent_pointers_of_every_kind_lose_no_octet);
	return conf_run(s);
}
