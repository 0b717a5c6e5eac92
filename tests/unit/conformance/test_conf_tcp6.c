/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_conf_tcp6.c - TCP over IPv6, where it is another than over IPv4
 *
 * Segment sizes (RFC 9293 3.7.1, RFC 8200 8.3), errors of ICMPv6 (RFC 4443, RFC 5461), paths (RFC 8201).
 */
#include "conformance.h"

static struct frame f;
static uint8_t data[20000];

static const struct ns_addr us = { { 0x20, 1, 0x0d, 0xb8, [15] = 2 } };
static const struct ns_addr peer = { { 0x20, 1, 0x0d, 0xb8, [15] = 1 } };

enum {
	MTU = 1500,
	HDRS = 60, /* octets of IPv6 and TCP */
};

/* The peer's half of a connection; no options but those of the SYN. */
struct conn6 {
	ns_sock sock;
	uint16_t peer_port, port;
	uint32_t snd, rcv;
	struct seen syn;
};

static void setup(void)
{
	const uint8_t mac[6] = RP_PEER_MAC;

	conf_setup();
	expect(ns_stack_add_neigh(rp.stack, rp.link_id, &peer, mac) == 0);
}

static void segment(struct frame *to, struct conn6 *c, uint8_t flags, const struct opts *o)
{
	struct way w = rp_way(c->peer_port, c->port);
	struct ip6_in ip = { .next = 6 };
	uint8_t b[80] = { 0 };
	uint32_t len = 20 + (o ? (o->len + 3u) & ~3u : 0);

	memcpy(ip.src, peer.b, 16);
	memcpy(ip.dst, us.b, 16);
	b[0] = (uint8_t)(w.sport >> 8);
	b[1] = (uint8_t)w.sport;
	b[2] = (uint8_t)(w.dport >> 8);
	b[3] = (uint8_t)w.dport;
	for (uint32_t i = 0; i < 4; i++) {
		b[4 + i] = (uint8_t)(c->snd >> (24 - 8 * i));
		b[8 + i] = (uint8_t)(c->rcv >> (24 - 8 * i));
	}
	b[12] = (uint8_t)(len / 4 << 4);
	b[13] = flags;
	b[14] = b[15] = 0xff;
	if (o)
		memcpy(b + 20, o->b, o->len);
	frame_ip6(to, &w, &ip, b, len);
	frame_fix_tcp_csum(to);
}

static void put(struct conn6 *c, uint8_t flags, const struct opts *o)
{
	segment(&f, c, flags, o);
	rp_inject(&rp, &f);
}

/* The next segment of @c; over its octets, SYN and FIN rcv moves. */
static bool took(struct conn6 *c, struct seen *s)
{
	if (!rp_take(&rp, s) || s->kind != SEEN_TCP || !s->is_v6 || s->is_bad ||
	    s->way.dport != c->peer_port)
		return false;
	if (s->seq == c->rcv)
		c->rcv += s->data_len + ((s->flags & (FL_SYN | FL_FIN)) != 0);
	return true;
}

static struct conn6 connecting(uint16_t peer_port)
{
	struct ns_endpoint to = { peer, peer_port };
	struct conn6 c = { .peer_port = peer_port, .snd = 5000 };

	expect(ns_sock_open(rp.stack, &c.sock) == 0);
	expect(ns_sock_setopt(rp.stack, c.sock, NS_SO_V6ONLY, 0) == 0);
	expect(ns_sock_connect(rp.stack, c.sock, &to, rp.now) == -EINPROGRESS);
	rp_turn(&rp);
	expect(took(&c, &c.syn) && c.syn.flags == FL_SYN);
	c.port = c.syn.way.sport;
	c.rcv = c.syn.seq + 1;
	return c;
}

/* Established; @mss 0: the peer's SYN-ACK has no option. */
static struct conn6 connected(uint16_t peer_port, uint16_t mss)
{
	struct conn6 c = connecting(peer_port);
	struct opts o = { 0 };

	if (mss)
		opts_mss(&o, mss);
	put(&c, FL_SYN | FL_ACK, mss ? &o : NULL);
	c.snd++;
	expect(rp_event(&rp, c.sock, NS_EV_CONNECTED, NULL));
	rp_drop_out(&rp);
	return c;
}

/* An error of ICMPv6 that quotes a segment of @c with sequence number @seq. */
static void error_about(const struct conn6 *c, uint8_t type, uint8_t code, uint32_t rest,
			uint32_t seq)
{
	struct way w = rp_way(0, 0);
	struct ip6_in ip = { .next = 58 };
	uint8_t q[60] = { 0x60, [5] = 20, [6] = 6, [7] = 64 };

	memcpy(ip.src, peer.b, 16);
	memcpy(ip.dst, us.b, 16);
	memcpy(q + 8, us.b, 16);
	memcpy(q + 24, peer.b, 16);
	q[40] = (uint8_t)(c->port >> 8);
	q[41] = (uint8_t)c->port;
	q[42] = (uint8_t)(c->peer_port >> 8);
	q[43] = (uint8_t)c->peer_port;
	for (uint32_t i = 0; i < 4; i++)
		q[44 + i] = (uint8_t)(seq >> (24 - 8 * i));
	q[52] = 0x50;
	frame_icmp6(&f, &w, &ip, type, code, rest, q, sizeof(q));
	rp_inject(&rp, &f);
}

static int mss_of(ns_sock s)
{
	int mss = 0;

	expect(ns_sock_getopt(rp.stack, s, NS_TCP_MAXSEG, &mss) == 0);
	return mss;
}

START_TEST(rfc9293_must_14_syn_over_ipv6_carries_an_mss_of_mtu_less_60)
{
	struct conn6 c = connecting(2000), p = { .peer_port = 4000, .port = PORT, .snd = 9 };
	struct ns_endpoint any = { { { 0 } }, 8080 };
	struct opts o = { 0 };
	struct seen s;
	ns_sock l;

	/* options take nothing from it (RFC 6691 2) */
	expect(c.syn.has_mss && c.syn.mss == MTU - HDRS && c.syn.has_ts && c.syn.has_sack_ok);
	ns_sock_abort(rp.stack, c.sock);
	rp_turn(&rp);
	expect(ns_sock_open(rp.stack, &l) == 0 &&
	       ns_sock_setopt(rp.stack, l, NS_SO_V6ONLY, 0) == 0);
	expect(ns_sock_bind(rp.stack, l, &any) == 0 && ns_sock_listen(rp.stack, l, 4) == 0);
	p.port = 8080;
	opts_mss(&o, 1000);
	opts_ts(&o, 1, 0);
	put(&p, FL_SYN, &o);
	expect(took(&p, &s) && s.flags == (FL_SYN | FL_ACK));
	expect(s.has_mss && s.mss == MTU - HDRS && s.has_ts);
	ns_sock_close(rp.stack, l);
}
END_TEST

START_TEST(rfc9293_must_15_no_mss_option_over_ipv6_means_1220)
{
	struct conn6 c = connected(2000, 0);
	struct seen s;

	expect(ns_sock_send_room(rp.stack, c.sock) > 3000);
	struct rp_conn io = { .rp = &rp, .sock = c.sock };

	rp_send(&io, data, 3000);
	for (uint32_t left = 3000; left;) {
		expect(took(&c, &s) && s.data_len == (left < 1220 ? left : 1220));
		left -= s.data_len;
	}
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

static const struct {
	uint8_t type, code;
	int err; /* linux icmpv6_err_convert() */
} errors[] = {
	{ 1, 0, -ENETUNREACH },  { 1, 1, -EACCES },       { 1, 2, -EHOSTUNREACH },
	{ 1, 3, -EHOSTUNREACH }, { 1, 4, -ECONNREFUSED }, { 1, 5, -EACCES },
	{ 1, 6, -EACCES },       { 1, 7, -EPROTO },       { 3, 0, -EHOSTUNREACH },
	{ 4, 1, -EPROTO },
};

START_TEST(rfc5461_s4_1_icmpv6_ends_syn_sent_with_its_errno)
{
	struct conn6 c = connecting(2000);
	struct seen s;
	int err = 0;

	/* about another number: nobody's (RFC 5927 4.1) */
	error_about(&c, errors[_i].type, errors[_i].code, 0, c.rcv + 777);
	expect(!rp_event(&rp, c.sock, NS_EV_ERR, NULL));
	error_about(&c, errors[_i].type, errors[_i].code, 0, c.rcv - 1);
	expect(rp_event(&rp, c.sock, NS_EV_ERR, &err) && err == errors[_i].err);
	put(&c, FL_ACK, NULL);
	expect(took(&c, &s) && s.flags == FL_RST && s.seq == c.rcv);
	ns_sock_close(rp.stack, c.sock);
}
END_TEST

START_TEST(rfc5461_s4_2_icmpv6_does_not_end_an_established_connection)
{
	struct conn6 c = connected(2000, 1440);
	struct rp_conn io = { .rp = &rp, .sock = c.sock };
	struct seen s;

	rp_send(&io, data, 100);
	rp_drop_out(&rp);
	error_about(&c, errors[_i].type, errors[_i].code, 0, c.rcv);
	expect(!rp_event(&rp, c.sock, NS_EV_ERR, NULL));
	c.rcv += 100;
	put(&c, FL_ACK, NULL);
	rp_send(&io, data, 50);
	expect(took(&c, &s) && s.data_len == 50);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

/* RFC 8201 4: down to 1280, never below, never up; what was too big goes again at once; only for what is in flight. */
START_TEST(rfc8201_s4_too_big_lowers_the_segment_size_to_1220_at_least)
{
	struct conn6 c = connected(2000, 1440);
	struct rp_conn io = { .rp = &rp, .sock = c.sock };
	uint32_t una = c.rcv;
	struct seen s;

	rp_send(&io, data, 1440);
	expect(took(&c, &s) && s.data_len == 1440);
	error_about(&c, 2, 0, 1400, una + 5000000); /* forged */
	error_about(&c, 2, 0, 1400, una - 70000);
	error_about(&c, 2, 0, 9000, una);
	error_about(&c, 2, 0, 1279, una);
	expect(mss_of(c.sock) == 1440);
	expect_silence();
	error_about(&c, 2, 0, 1400, una);
	expect(mss_of(c.sock) == 1400 - HDRS);
	expect(took(&c, &s) && s.seq == una && s.data_len == 1340);
	expect(took(&c, &s) && s.seq == una + 1340 && s.data_len == 100);
	expect_silence();
	error_about(&c, 2, 0, 1280, una);
	expect(mss_of(c.sock) == 1220);
	expect(took(&c, &s) && s.seq == una && s.data_len == 1220);
	expect(moved("TCP_RTOS") == 0);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp6");
	TCase *tc = tcase_create("tcp6");

	tcase_add_checked_fixture(tc, setup, conf_teardown);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	tcase_add_test(tc, rfc9293_must_14_syn_over_ipv6_carries_an_mss_of_mtu_less_60);
	tcase_add_test(tc, rfc9293_must_15_no_mss_option_over_ipv6_means_1220);
	tcase_add_loop_test(tc, rfc5461_s4_1_icmpv6_ends_syn_sent_with_its_errno, 0,
			    NS_ARRAY_LEN(errors));
	tcase_add_loop_test(tc, rfc5461_s4_2_icmpv6_does_not_end_an_established_connection, 0,
			    NS_ARRAY_LEN(errors));
	tcase_add_test(tc, rfc8201_s4_too_big_lowers_the_segment_size_to_1220_at_least);
	return conf_run(s);
}
