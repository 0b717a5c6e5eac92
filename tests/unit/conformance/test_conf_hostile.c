/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_conf_hostile.c - attacks that take more than one frame, and secrets that an outsider would like to guess
 *
 * docs/hostile.md has the whole list of attacks; most of its tests are with the protocol they are about.
 */
#include "conformance.h"

#include <math.h>

static struct frame f;
static uint8_t data[65536];

enum {
	MF = 0x2000,
	SAMPLES = 4096,
};

static void fragment(uint32_t off, uint32_t len, bool has_more, uint16_t id)
{
	struct way w = rp_way(0, 0);

	frame_ip4(&f, &w,
		  &(struct ip4_in){ .proto = 1,
				    .frag = (uint16_t)((has_more ? MF : 0) | off / 8),
				    .id = id,
				    .is_fragment = true },
		  data + off, len);
	rp_inject(&rp, &f);
}

static uint32_t answers(void)
{
	struct seen s;
	uint32_t cnt = 0;

	while (rp_take(&rp, &s))
		cnt += s.kind == SEEN_ICMP && s.icmp_type == 0;
	return cnt;
}

/* The first fragment last, and the last ones again: what is complete is gone, what comes after is another packet. */
START_TEST(a_packet_that_is_completed_twice_is_one_packet_and_a_beginning)
{
	uint32_t sum;

	memset(data, 'x', 1200);
	data[0] = 8; /* echo request */
	data[1] = data[2] = data[3] = 0;
	sum = ~frame_sum(data, 1200, 0) & 0xffff;
	data[2] = (uint8_t)(sum >> 8);
	data[3] = (uint8_t)sum;
	for (uint16_t id = 1; id <= 3; id++) {
		fragment(800, 400, false, id);
		fragment(400, 400, true, id);
		expect(answers() == 0);
		fragment(0, 400, true, id);
		expect(answers() == 1);
		fragment(800, 400, false, id);
		fragment(400, 400, true, id);
		expect(answers() == 0);
	}
	expect(moved("FRAG_DUPLICATE") == 0 && moved("FRAG_OVERLAP") == 0);
	rp_wait(&rp, 60 * NS_PER_SEC);
	expect(moved("FRAG_TIMEOUT") == 3);
	rp_drop_out(&rp);
}
END_TEST

/* IP in IP, ten deep, whole and in fragments, with an echo request inside: nobody looks in. */
START_TEST(nested_tunnels_are_not_opened)
{
	uint8_t b[512] = { 8 };
	struct way w = rp_way(0, 0);
	uint32_t len = 8, cnt = 0;
	struct seen s;

	for (int depth = 0; depth < 10; depth++) {
		frame_ip4(&f, &w, &(struct ip4_in){ .proto = depth ? 4 : 1 }, b, len);
		len = f.len - ETH_LEN;
		memcpy(b, f.b + ETH_LEN, len);
	}
	for (int i = 0; i < 50; i++) {
		frame_ip4(&f, &w, &(struct ip4_in){ .proto = i & 1 ? 4 : 41 }, b, len);
		rp_inject(&rp, &f);
	}
	frame_ip4(&f, &w, &(struct ip4_in){ .proto = 4, .frag = MF, .id = 9 }, b, 104);
	rp_inject(&rp, &f);
	frame_ip4(&f, &w, &(struct ip4_in){ .proto = 4, .frag = 13, .id = 9 }, b + 104, len - 104);
	rp_inject(&rp, &f);
	expect(moved("IP_PROTO") == 51);
	while (rp_take(&rp, &s)) {
		expect(s.kind == SEEN_ICMP && s.icmp_type == 3 && s.icmp_code == 2);
		cnt++;
	}
	expect(cnt <= 10); /* the ration */
}
END_TEST

/* A neighbour that only asked for us is spoken to: its entry was made by its question, not by ours. */
START_TEST(rfc4861_s7_2_3_who_asked_can_be_sent_to_at_once)
{
	static const struct ns_addr us = { { 0x20, 1, 0x0d, 0xb8, [15] = 2 } };
	uint8_t b[14 + 40 + 32] = { 0x33, 0x33, 0xff, 0, 0, 2, 2, 0, 0, 0, 0, 9, 0x86, 0xdd, 0x60 };
	struct ns_endpoint to = { { { 0x20, 1, 0x0d, 0xb8, [15] = 9 } }, 7 };
	struct seen s;
	ns_sock sock;
	uint32_t sum;

	b[19] = 32;
	b[20] = 58;
	b[21] = 255;
	memcpy(b + 22, to.addr.b, 16);
	memcpy(b + 38, (const uint8_t[16]){ 0xff, 2, [11] = 1, [12] = 0xff, [15] = 2 }, 16);
	b[54] = 135;
	memcpy(b + 62, us.b, 16);
	memcpy(b + 78, (const uint8_t[8]){ 1, 1, 2, 0, 0, 0, 0, 9 }, 8);
	sum = ~frame_sum(b + 54, 32, frame_sum(b + 22, 32, 32 + 58)) & 0xffff;
	b[56] = (uint8_t)(sum >> 8);
	b[57] = (uint8_t)sum;
	memcpy(f.b, b, sizeof(b));
	f.len = sizeof(b);
	rp_inject(&rp, &f);
	rp_drop_out(&rp);
	expect(ns_sock_open(rp.stack, &sock) == 0);
	expect(ns_sock_setopt(rp.stack, sock, NS_SO_V6ONLY, 0) == 0);
	expect(ns_sock_connect(rp.stack, sock, &to, rp.now) == -EINPROGRESS);
	rp_turn(&rp);
	expect(rp_take(&rp, &s) && s.kind == SEEN_TCP && s.is_v6 && s.flags == FL_SYN);
	ns_sock_abort(rp.stack, sock);
}
END_TEST

/* --- guessing ----------------------------------------------------------------------------------- */

/* Each bit of @v is one in half of the samples, and no two neighbours agree more often than by chance: four sigmas. */
static void expect_random(const uint32_t *v, uint32_t cnt, uint32_t bits)
{
	double four_sigma = 4 * sqrt(cnt) / 2;

	for (uint32_t b = 0; b < bits; b++) {
		uint32_t ones = 0, same = 0;

		for (uint32_t i = 0; i < cnt; i++) {
			ones += v[i] >> b & 1;
			same += i && !((v[i] ^ v[i - 1]) >> b & 1);
		}
		expect(fabs(ones - cnt / 2.0) < four_sigma);
		expect(fabs(same - cnt / 2.0) < four_sigma);
	}
}

/* SYNs of the stack to @cnt ports of the peer, in one moment: what an outsider sees of its secrets. */
static void sample(uint32_t *isn, uint32_t *port, uint32_t *ts)
{
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct rp_conn c;

		expect(rp_connect_begin(&rp, (uint16_t)(1000 + i), &c));
		isn[i] = c.syn.seq;
		port[i] = c.syn.way.sport;
		ts[i] = c.syn.ts_val;
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
	}
	rp_drop_out(&rp);
}

START_TEST(rfc6528_s3_numbers_of_a_moment_tell_nothing_of_each_other)
{
	static uint32_t isn[SAMPLES], port[SAMPLES], ts[SAMPLES], again[SAMPLES], bins[16];

	sample(isn, port, ts);
	expect_random(isn, SAMPLES, 32);
	expect_random(ts, SAMPLES, 31); /* RFC 7323 5.4: an offset for each pair */
	for (uint32_t i = 0; i < SAMPLES; i++) {
		expect(port[i] >= 32768 && port[i] <= 60999);
		bins[(port[i] - 32768) * 16 / 28232]++;
		again[i] = i ? isn[i] - isn[i - 1] : 0;
	}
	expect_random(again, SAMPLES, 32); /* nor do their differences */
	double chi = 0;

	for (uint32_t i = 0; i < 16; i++)
		chi += (bins[i] - SAMPLES / 16.0) * (bins[i] - SAMPLES / 16.0) / (SAMPLES / 16.0);
	expect(chi < 44.3); /* 15 degrees of freedom: one in ten thousand */

	/* another stack with other secrets, at the same time: nothing carries over */
	conf_teardown_bare();
	conf_config.seed = 77;
	conf_setup();
	sample(again, port, ts);
	for (uint32_t i = 0; i < SAMPLES; i++)
		again[i] ^= isn[i];
	expect_random(again, SAMPLES, 32);
}
END_TEST

/* IDs of packets to one destination say nothing of those to another, and never how many there were. */
START_TEST(rfc7739_s5_ids_of_one_destination_tell_nothing_of_another)
{
	static uint32_t ids[256], firsts[256];
	struct way w = rp_way(1, 9);

	for (uint32_t i = 0; i < 256; i++) {
		struct ns_addr host;
		struct seen s;

		w.src = 0x0a000014 + i % 200;
		host = ns_addr_v4(w.src);
		expect(i >= 200 || ns_stack_add_neigh(rp.stack, rp.link_id, &host, w.src_mac) == 0);
		for (uint32_t n = 0; n < 2;
		     n++) { /* an echo of 8 octets: small, DF clear as asked */
			frame_icmp(&f, &w, 8, 0, i, "x", 1);
			rp_inject(&rp, &f);
			while (rp_take(&rp, &s) && s.kind != SEEN_ICMP)
				;
			if (s.kind == SEEN_ICMP)
				(n ? ids : firsts)[i] = s.id;
		}
	}
	/* of 200 hosts as many first IDs as chance gives: no counter that all share */
	uint32_t steps = 0;

	for (uint32_t i = 1; i < 200; i++)
		steps += firsts[i] - firsts[i - 1] <= 2;
	expect(steps < 10);
}
END_TEST

/* --- floods ------------------------------------------------------------------------------------- */

/*
 * 100 000 SYNs a second from anywhere, with cookies and without: a flow that was there keeps its rate in virtual
 * time, in which the wire and the stack's own waiting are all that takes time. What a SYN costs is in unit.cost.
 */
static uint64_t rate_of(struct rp_conn *c, uint32_t syns_per_ms, uint32_t *seed)
{
	uint64_t octets = 0;
	struct way w = rp_way(1, PORT);

	for (uint32_t ms = 0; ms < 1000; ms++) {
		struct seen s;

		for (uint32_t i = 0; i < syns_per_ms; i++) {
			uint32_t x = (*seed)++ * 2654435761u;

			w.src = 0x0b000000 + (x >> 8);
			w.sport = (uint16_t)(1024 + (x & 0x7fff));
			frame_tcp(&f, &w,
				  &(struct tcp_in){ .flags = FL_SYN, .seq = x, .wnd = 1000 });
			rp_feed(&rp, &f);
		}
		rp_send(c, data, sizeof(data)); /* a turn: SYN-ACKs and octets leave */
		while (rp_take(&rp, &s))
			if (s.kind == SEEN_TCP && s.way.dport == c->way.sport && s.seq == c->rcv) {
				c->rcv += s.data_len;
				octets += s.data_len;
			}
		rp_ack(c);
		rp_wait(&rp, NS_PER_MS);
	}
	return octets;
}

START_TEST(rfc4987_s3_6_a_flow_keeps_its_rate_through_a_flood)
{
	for (int cookies = 0; cookies < 2; cookies++) {
		struct rp_conn c =
			accepted_with(&(struct rp_syn){ .has_wscale = true, .wscale = 7 });
		uint64_t alone, flooded;
		uint32_t seed = 1;

		expect(ns_stack_set_knob(rp.stack, NS_KNOB_tcp_syncookies, cookies) == 0);
		rate_of(&c, 0, &seed); /* slow start is over */
		alone = rate_of(&c, 0, &seed);
		flooded = rate_of(&c, 100, &seed);
		expect(alone > 1000000 && flooded >= alone / 10 * 8);
		expect(moved("NO_MEMORY") == 0);
		expect(cookies ? moved("TCP_COOKIES_SENT") > 90000
			       : moved("TCP_SYN_QUEUE") > 90000);
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
		if (!cookies)
			rp_wait(&rp, 200 * NS_PER_SEC); /* half-open ones are given up */
		rp_drop_out(&rp);
		struct rp_conn late = accepted();

		expect(is_flow_alive(&late));
		ns_sock_abort(rp.stack, late.sock);
		rp_turn(&rp);
	}
}
END_TEST

/* Connections that are opened and left: what they may take has a cap, and the next after them gets in. */
START_TEST(connections_left_alone_stop_at_the_cap_of_sockets)
{
	uint32_t cnt = 0;
	struct rp_conn c, last = { 0 };

	conf_teardown_bare();
	conf_config.limits.sockets = 2000;
	conf_setup();
	while (cnt < 3000 && rp_accepted(&rp, listener, PORT, &(struct rp_syn){ 0 }, &c)) {
		last = c;
		cnt++;
	}
	expect(cnt >= 1900 && cnt < 2000);
	rp_drop_out(&rp);
	expect(is_flow_alive(&other));
	ns_sock_abort(rp.stack, last.sock);
	rp_turn(&rp);
	rp_drop_out(&rp);
	expect(rp_accepted(&rp, listener, PORT, &(struct rp_syn){ 0 }, &c));
	expect(is_flow_alive(&c));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("conformance.hostile");
	TCase *tc = conf_case(s, "hostile");

	tcase_add_test(tc, a_packet_that_is_completed_twice_is_one_packet_and_a_beginning);
	tcase_add_test(tc, nested_tunnels_are_not_opened);
	tcase_add_test(tc, rfc4861_s7_2_3_who_asked_can_be_sent_to_at_once);
	tcase_add_test(tc, rfc6528_s3_numbers_of_a_moment_tell_nothing_of_each_other);
	tcase_add_test(tc, rfc7739_s5_ids_of_one_destination_tell_nothing_of_another);
	tcase_add_test(tc, rfc4987_s3_6_a_flow_keeps_its_rate_through_a_flood);
	tcase_add_test(tc, connections_left_alone_stop_at_the_cap_of_sockets);
	return conf_run(s);
}
