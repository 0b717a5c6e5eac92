/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_udp.c - UDP on the wire and at its sockets: RFC 768, RFC 1122 4.1, RFC 1112, Linux's rules of bind() */
#include "dgram.h"

#include "buf/pkt.h"

enum {
	DNS = 53,
	CLIENT = 4000, /* the peer's port */
};

static struct frame f;
static uint8_t big[65536];

static struct ns_endpoint at(uint32_t addr, uint16_t port)
{
	return (struct ns_endpoint){ ns_addr_v4(addr), port };
}

/* A UDP packet from the peer; @len_field 0: right, @csum -1: right. */
static void dgram(const struct way *w, const void *data, uint32_t len, uint32_t len_field, int csum)
{
	static uint8_t b[65536];
	uint32_t total = len + 8, field = len_field ? len_field - 1 : total;
	uint32_t sum;

	b[0] = (uint8_t)(w->sport >> 8);
	b[1] = (uint8_t)w->sport;
	b[2] = (uint8_t)(w->dport >> 8);
	b[3] = (uint8_t)w->dport;
	b[4] = (uint8_t)(field >> 8);
	b[5] = (uint8_t)field;
	b[6] = b[7] = 0;
	memcpy(b + 8, data, len);
	sum = (uint16_t)~frame_sum(b, total, frame_pseudo(w->src, w->dst, 17, total));
	if (csum >= 0)
		sum = (uint32_t)csum;
	else if (sum == 0)
		sum = 0xffff;
	b[6] = (uint8_t)(sum >> 8);
	b[7] = (uint8_t)sum;
	frame_ip4(&f, w, &(struct ip4_in){ .proto = 17 }, b, total);
}

static void from_peer(uint16_t sport, uint16_t dport, const char *text)
{
	struct way w = rp_way(sport, dport);

	dgram(&w, text, (uint32_t)strlen(text), 0, -1);
	rp_inject(&rp, &f);
}

static ns_sock bound(uint32_t addr, uint16_t port)
{
	struct ns_endpoint local = at(addr, port);

	return dgram_bound(&local);
}

/* Take the next frame: a whole UDP packet with a right checksum. */
static bool took(struct seen *s, uint16_t *ret_sport, uint16_t *ret_dport)
{
	if (!rp_take(&rp, s) || s->kind != SEEN_IP4 || s->proto != 17 || s->data_len < 8)
		return false;
	*ret_sport = (uint16_t)(s->data[0] << 8 | s->data[1]);
	*ret_dport = (uint16_t)(s->data[2] << 8 | s->data[3]);
	if ((uint32_t)(s->data[4] << 8 | s->data[5]) != s->data_len)
		return false;
	return (uint16_t)frame_sum(s->data, s->data_len,
				   frame_pseudo(s->way.src, s->way.dst, 17, s->data_len)) == 0xffff;
}

START_TEST(rfc768_a_datagram_goes_in_and_its_answer_out)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT);
	struct ns_dgram_rx rx;
	struct seen seen;
	uint16_t sport, dport;

	from_peer(CLIENT, DNS, "question");
	expect(rp_event(&rp, s, NS_EV_IN, NULL));
	expect(dgram_got(s, "question", &rx));
	expect(ns_addr_to_v4(&rx.from.addr) == RP_PEER && rx.from.port == CLIENT);
	expect(ns_addr_to_v4(&rx.to.addr) == RP_STACK && rx.to.port == DNS && rx.ttl == 64);
	expect(dgram_send(s, &peer, "answer", 6) == 0);
	expect(took(&seen, &sport, &dport) && sport == DNS && dport == CLIENT);
	expect(seen.way.src == RP_STACK && memcmp(seen.data + 8, "answer", 6) == 0);
	expect(seen.frag == 0x4000); /* fits the path: may not be cut on it */
	expect(moved("UDP_IN") == 1 && moved("UDP_OUT") == 1 && drops() == 0);
}
END_TEST

START_TEST(rfc768_an_empty_datagram_is_a_datagram)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT);
	struct seen seen;
	uint16_t sport, dport;

	from_peer(CLIENT, DNS, "");
	expect(dgram_got(s, "", NULL));
	expect(dgram_send(s, &peer, NULL, 0) == 0);
	expect(took(&seen, &sport, &dport) && seen.data_len == 8);
}
END_TEST

START_TEST(rfc768_lengths_that_lie_are_dropped_and_padding_cut)
{
	ns_sock s = bound(0, DNS);
	struct way w = rp_way(CLIENT, DNS);

	for (uint32_t field = 0; field < 8; field++) {
		dgram(&w, "text", 4, field + 1, 0);
		expect(dropped_silently(&f, "UDP_BAD_HEADER"));
	}
	dgram(&w, "text", 4, 13 + 1, 0); /* one beyond the packet */
	expect(dropped_silently(&f, "UDP_BAD_HEADER"));
	dgram(&w, "text", 4, 65535 + 1, 0);
	expect(dropped_silently(&f, "UDP_BAD_HEADER"));
	for (uint32_t len = 0; len < 8; len++) { /* not even a header */
		frame_ip4(&f, &w, &(struct ip4_in){ .proto = 17 }, big, len);
		expect(dropped_silently(&f, "UDP_BAD_HEADER"));
	}
	dgram(&w, "text and more", 13, 12 + 1, 0);
	rp_inject(&rp, &f);
	expect(dgram_got(s, "text", NULL));
}
END_TEST

START_TEST(rfc1122_s4_1_3_4_checksum_is_verified_and_zero_is_none)
{
	ns_sock s = bound(0, DNS);
	struct way w = rp_way(CLIENT, DNS);

	dgram(&w, "text", 4, 0, 0x1234);
	expect(dropped_silently(&f, "UDP_CSUM"));
	dgram(&w, "text", 4, 0, -1);
	f.b[f.len - 1] ^= 1;
	expect(dropped_silently(&f, "UDP_CSUM"));
	dgram(&w, "text", 4, 0, 0);
	rp_inject(&rp, &f);
	expect(dgram_got(s, "text", NULL));
	dgram(&w, "odd", 3, 0, -1);
	rp_inject(&rp, &f);
	expect(dgram_got(s, "odd", NULL));
}
END_TEST

START_TEST(rfc768_a_sum_of_zero_is_sent_as_all_ones)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT);
	uint8_t b[2] = { 0, 0 };
	struct seen seen;
	uint16_t sport, dport;
	uint32_t sum;

	/* payload that makes the sum all ones: found from the sum of a datagram with zeros */
	expect(dgram_send(s, &peer, b, 2) == 0 && took(&seen, &sport, &dport));
	sum = (uint32_t)(seen.data[6] << 8 | seen.data[7]);
	b[0] = (uint8_t)(sum >> 8);
	b[1] = (uint8_t)sum;
	expect(dgram_send(s, &peer, b, 2) == 0 && took(&seen, &sport, &dport));
	expect(seen.data[6] == 0xff && seen.data[7] == 0xff);
}
END_TEST

START_TEST(so_no_check_sends_no_checksum)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT);
	struct seen seen;

	expect(ns_sock_setopt(rp.stack, s, NS_SO_NO_CHECK, 1) == 0);
	expect(dgram_send(s, &peer, "x", 1) == 0);
	expect(rp_take(&rp, &seen) && seen.data[6] == 0 && seen.data[7] == 0);
}
END_TEST

START_TEST(rfc1122_s4_1_3_1_a_closed_port_is_answered_at_a_limited_rate)
{
	struct seen s;
	uint32_t answers = 0;

	for (uint32_t i = 0; i < 300; i++) {
		from_peer(CLIENT, 9999, "anybody?");
		while (rp_take(&rp, &s)) {
			expect(s.kind == SEEN_ICMP && s.icmp_type == 3 && s.icmp_code == 3);
			expect(s.data_len == 20 + 8 + 8 && s.data[9] == 17);
			answers++;
		}
	}
	expect(moved("UDP_NO_PORT") == 300 && answers >= 1 && answers <= 50);
}
END_TEST

START_TEST(rfc1122_s4_1_3_5_the_source_is_the_address_that_was_asked)
{
	struct ns_addr second = ns_addr_v4(0x0a000063);
	ns_sock any, one;
	struct ns_endpoint peer = at(RP_PEER, CLIENT);
	struct ns_dgram_tx tx = {
		.has_to = true, .to = peer, .from = second, .ttl = 9, .tos = 0x2e
	};
	struct way w = rp_way(CLIENT, DNS);
	struct ns_dgram_rx rx;
	struct seen seen;
	uint16_t sport, dport;

	expect(ns_stack_add_addr(rp.stack, rp.link_id, &second, 24) == 0);
	any = bound(0, DNS);
	w.dst = 0x0a000063;
	dgram(&w, "q", 1, 0, -1);
	rp_inject(&rp, &f);
	expect(dgram_got(any, "q", &rx) && ns_addr_to_v4(&rx.to.addr) == 0x0a000063);
	/* IP_PKTINFO: the program says which */
	expect(ns_dgram_send(rp.stack, any, &tx, NULL, 0, rp.now) == 0);
	rp_turn(&rp);
	expect(took(&seen, &sport, &dport) && seen.way.src == 0x0a000063);
	expect(seen.ttl == 9 && seen.tos == 0x2e);
	tx.from = ns_addr_v4(0x01020304);
	expect(ns_dgram_send(rp.stack, any, &tx, NULL, 0, rp.now) == -EINVAL);
	/* bound to one address: that one */
	one = bound(0x0a000063, 54);
	expect(dgram_send(one, &peer, "a", 1) == 0);
	expect(took(&seen, &sport, &dport) && seen.way.src == 0x0a000063 && sport == 54);
}
END_TEST

START_TEST(the_closest_socket_hears)
{
	ns_sock any = dgram_opened(), addr = dgram_opened(), conn = dgram_opened();
	ns_sock all[] = { any, addr, conn };
	struct ns_endpoint a = at(0, DNS), b = at(RP_STACK, DNS), peer = at(RP_PEER, CLIENT);

	for (uint32_t i = 0; i < 3; i++)
		expect(ns_sock_setopt(rp.stack, all[i], NS_SO_REUSEADDR, 1) == 0);
	expect(ns_sock_bind(rp.stack, any, &a) == 0);
	expect(ns_sock_bind(rp.stack, addr, &b) == 0);
	expect(ns_sock_bind(rp.stack, conn, &a) == 0);
	expect(ns_dgram_connect(rp.stack, conn, &peer) == 0);
	from_peer(CLIENT, DNS, "to the connected one");
	expect(dgram_got(conn, "to the connected one", NULL));
	from_peer(CLIENT + 1, DNS, "to the address");
	expect(dgram_got(addr, "to the address", NULL));
	ns_sock_close(rp.stack, addr);
	from_peer(CLIENT + 1, DNS, "to any");
	expect(dgram_got(any, "to any", NULL));
	expect(ns_dgram_connect(rp.stack, conn, NULL) == 0);
	from_peer(CLIENT, DNS, "last bound");
	expect(dgram_got(conn, "last bound", NULL) && !dgram_got(any, "", NULL));
}
END_TEST

START_TEST(bind_conflicts_as_linux)
{
	struct ns_endpoint a = at(0, DNS), b = at(RP_STACK, DNS), bad = at(0x01020304, DNS);
	ns_sock first = bound(0, DNS), s = dgram_opened(), t = dgram_opened();

	expect(ns_sock_bind(rp.stack, s, &a) == -EADDRINUSE);
	expect(ns_sock_bind(rp.stack, s, &b) == -EADDRINUSE);
	expect(ns_sock_bind(rp.stack, s, &bad) == -EADDRNOTAVAIL);
	expect(ns_sock_setopt(rp.stack, s, NS_SO_REUSEADDR, 1) == 0);
	expect(ns_sock_bind(rp.stack, s, &b) == -EADDRINUSE); /* both must have it */
	expect(ns_sock_setopt(rp.stack, first, NS_SO_REUSEADDR, 1) == 0);
	expect(ns_sock_bind(rp.stack, s, &b) == 0);
	expect(ns_sock_bind(rp.stack, s, &b) == -EINVAL);
	expect(ns_sock_setopt(rp.stack, t, NS_SO_REUSEPORT, 1) == 0);
	expect(ns_sock_bind(rp.stack, t, &a) == -EADDRINUSE);
	/* TCP's ports are others */
	a.port = PORT;
	expect(ns_sock_bind(rp.stack, t, &a) == 0);
}
END_TEST

START_TEST(reuseport_spreads_senders_and_keeps_each)
{
	ns_sock s[4];
	struct ns_endpoint a = at(0, DNS);
	uint32_t cnt[4] = { 0 };

	for (uint32_t i = 0; i < 4; i++) {
		s[i] = dgram_opened();
		expect(ns_sock_setopt(rp.stack, s[i], NS_SO_REUSEPORT, 1) == 0);
		expect(ns_sock_bind(rp.stack, s[i], &a) == 0);
	}
	for (uint16_t port = 1; port <= 200; port++) {
		uint32_t hit = 4;

		for (uint32_t k = 0; k < 2; k++) {
			from_peer(port, DNS, "x");
			for (uint32_t i = 0; i < 4; i++) {
				if (!dgram_got(s[i], "x", NULL))
					continue;
				expect(k == 0 || hit == i);
				hit = i;
				cnt[i]++;
			}
		}
	}
	for (uint32_t i = 0; i < 4; i++)
		expect(cnt[i] > 20);
}
END_TEST

START_TEST(connect_chooses_an_address_and_undoes_it)
{
	ns_sock s = dgram_opened();
	struct ns_endpoint peer = at(RP_PEER, DNS), local, remote, v6 = { { { 0x20, 1 } }, DNS };

	expect(ns_dgram_connect(rp.stack, s, &peer) == 0);
	expect(ns_sock_local(rp.stack, s, &local) == 0);
	expect(ns_addr_to_v4(&local.addr) == RP_STACK && local.port >= 32768);
	expect(ns_sock_remote(rp.stack, s, &remote) == 0 && remote.port == DNS);
	from_peer(DNS + 1, local.port, "a stranger's");
	expect(!dgram_got(s, "a stranger's", NULL) && moved("UDP_NO_PORT") == 1);
	from_peer(DNS, local.port, "the peer's");
	expect(dgram_got(s, "the peer's", NULL));
	expect(ns_dgram_connect(rp.stack, s, NULL) == 0);
	expect(ns_sock_local(rp.stack, s, &local) == 0 && local.port == 0);
	expect(ns_sock_remote(rp.stack, s, &remote) == -ENOTCONN);
	expect(dgram_send(s, NULL, "x", 1) == -EDESTADDRREQ);
	expect(ns_dgram_connect(rp.stack, s, &v6) == -EAFNOSUPPORT);
	/* what bind() named stays */
	s = bound(0, 5353);
	expect(ns_dgram_connect(rp.stack, s, &peer) == 0 &&
	       ns_dgram_connect(rp.stack, s, NULL) == 0);
	expect(ns_sock_local(rp.stack, s, &local) == 0 && local.port == 5353);
}
END_TEST

/* "port unreachable" or another error about a datagram from @sport to the peer's @dport. */
static void error_about(uint16_t sport, uint16_t dport, uint8_t type, uint8_t code, uint32_t rest)
{
	struct way w = rp_way(0, 0), back = rp_way(dport, sport);
	static struct frame quoted;

	back.src = RP_STACK;
	back.dst = RP_PEER;
	back.sport = sport;
	back.dport = dport;
	dgram(&back, "sent", 4, 0, -1);
	quoted = f;
	frame_icmp(&f, &w, type, code, rest, quoted.b + ETH_LEN, 28);
	rp_inject(&rp, &f);
}

START_TEST(rfc1122_s4_1_3_3_errors_reach_the_connected_socket)
{
	ns_sock s = bound(0, 7000), plain = bound(0, 7001);
	struct ns_endpoint peer = at(RP_PEER, DNS);
	struct ns_dgram_err e;

	expect(ns_dgram_connect(rp.stack, s, &peer) == 0);
	error_about(7000, DNS, 3, 3, 0);
	expect(rp_event(&rp, s, NS_EV_ERR, NULL));
	expect(ns_dgram_take_error(rp.stack, s, &e) && e.err == -ECONNREFUSED && e.is_fatal);
	expect(e.type == 3 && e.code == 3 && ns_addr_to_v4(&e.offender) == RP_PEER);
	expect(e.to.port == DNS && !ns_dgram_take_error(rp.stack, s, &e));
	expect(e.quote_len == 0); /* nobody asked for it */
	/* soft ones, another peer's, and those about an unconnected socket are not told */
	error_about(7000, DNS, 3, 1, 0);
	error_about(7000, DNS, 11, 0, 0);
	error_about(7000, DNS + 1, 3, 3, 0);
	error_about(7001, DNS, 3, 3, 0);
	expect(!ns_dgram_take_error(rp.stack, s, &e) && !ns_dgram_take_error(rp.stack, plain, &e));
	/* unless they are asked for */
	expect(ns_sock_setopt(rp.stack, plain, NS_IP_RECVERR, 1) == 0);
	error_about(7001, DNS, 3, 1, 0);
	expect(ns_dgram_take_error(rp.stack, plain, &e) && e.err == -EHOSTUNREACH);
	expect(e.quote_len == 0 && e.ttl == 64 && ns_addr_to_v4(&e.local) == RP_STACK);
	for (uint32_t i = 0; i < 100; i++)
		error_about(7001, DNS, 3, 3, 0);
	for (uint32_t i = 0; i < 32; i++)
		expect(ns_dgram_take_error(rp.stack, plain, &e));
	expect(!ns_dgram_take_error(rp.stack, plain, &e));
}
END_TEST

/* A "time exceeded" that says it quotes @words words of a datagram of ours, with @len octets in all behind its header. */
static void exceeded(uint16_t sport, uint8_t words, const uint8_t *behind, uint32_t len)
{
	struct way w = rp_way(0, 0), back = rp_way(DNS, sport);
	static struct frame quoted;
	uint8_t body[400] = { 0 };

	back.src = RP_STACK;
	back.dst = RP_PEER;
	back.sport = sport;
	back.dport = DNS;
	dgram(&back, "0123456789", 10, 0, -1);
	quoted = f;
	memcpy(body, quoted.b + ETH_LEN, 38);
	memcpy(body + 128, behind, len);
	frame_icmp(&f, &w, 11, 0, (uint32_t)words << 16, body, 128 + len);
	rp_inject(&rp, &f);
}

START_TEST(rfc4884_extensions_behind_a_quote_are_pointed_at)
{
	/* version 2, checksum, an MPLS object (RFC 4950) of 8 octets */
	static const uint8_t good[] = { 0x20, 0, 0x78, 0xe3, 0, 8, 1, 1, 0x26, 0x13, 0x40, 0x00 };
	static const uint8_t bad[] = { 0x20, 0, 0x78, 0xe3, 0, 8, 1, 1, 0x26, 0x13, 0x40, 0x01 };
	static const uint8_t cut[] = { 0x20, 0, 0, 0, 0, 12, 1, 1, 0, 0, 0, 0 };
	static const uint8_t none[] = { 0x20, 0, 0 };
	ns_sock s = bound(0, 7000);
	struct ns_dgram_err e;

	expect(ns_sock_setopt(rp.stack, s, NS_IP_RECVERR, 1) == 0);
	exceeded(7000, 32, good, sizeof(good));
	expect(ns_dgram_take_error(rp.stack, s, &e) && e.err == -EHOSTUNREACH && e.type == 11);
	expect(e.quote_len == 128 - 28 + sizeof(good) && memcmp(e.quote, "0123456789", 10) == 0);
	expect(e.ext_off == 100 && !e.is_ext_bad);
	exceeded(7000, 32, bad, sizeof(bad));
	expect(ns_dgram_take_error(rp.stack, s, &e) && e.ext_off == 100 && e.is_ext_bad);
	exceeded(7000, 32, cut, sizeof(cut));
	expect(ns_dgram_take_error(rp.stack, s, &e) && e.ext_off == 100 && e.is_ext_bad);
	/* no room for the header of extensions; a length that is none; none said */
	exceeded(7000, 32, none, sizeof(none));
	expect(ns_dgram_take_error(rp.stack, s, &e) && e.ext_off == 0);
	exceeded(7000, 31, good, sizeof(good));
	expect(ns_dgram_take_error(rp.stack, s, &e) && e.ext_off == 0);
	exceeded(7000, 0, good, sizeof(good));
	expect(ns_dgram_take_error(rp.stack, s, &e) && e.ext_off == 0 && e.quote_len == 112);
}
END_TEST

START_TEST(rfc1191_a_smaller_path_is_remembered_and_expires)
{
	ns_sock s = bound(0, 7000);
	struct ns_endpoint peer = at(RP_PEER, DNS);
	struct seen seen;

	expect(ns_sock_setopt(rp.stack, s, NS_IP_MTU_DISCOVER, 2) == 0); /* DO */
	expect(dgram_send(s, &peer, big, 1472) == 0 &&
	       dgram_send(s, &peer, big, 1473) == -EMSGSIZE);
	expect(rp_take(&rp, &seen) && seen.frag == 0x4000);
	error_about(7000, DNS, 3, 4, 1000);
	expect(dgram_send(s, &peer, big, 1472) == -EMSGSIZE && dgram_send(s, &peer, big, 972) == 0);
	expect(rp_take(&rp, &seen));
	error_about(7000, DNS, 3, 4, 68); /* a forged one goes no lower than this */
	expect(dgram_send(s, &peer, big, 552 - 28) == 0);
	expect(rp_take(&rp, &seen));
	expect(ns_sock_setopt(rp.stack, s, NS_IP_MTU_DISCOVER, 1) ==
	       0); /* WANT: cut it ourselves */
	expect(dgram_send(s, &peer, big, 1472) == 0);
	expect(rp_take(&rp, &seen) && seen.frag == 0x2000);
	rp_drop_out(&rp);
	rp_wait(&rp, 601 * NS_PER_SEC);
	expect(dgram_send(s, &peer, big, 1472) == 0);
	expect(rp_take(&rp, &seen) && seen.frag == 0x4000);
}
END_TEST

/* "a mechanism that permits an application to send datagrams that are larger than eff_pmtu ... without being fragmented" */
START_TEST(rfc4821_s9_a_program_may_probe_for_itself)
{
	ns_sock s = bound(0, 7000);
	struct ns_endpoint peer = at(RP_PEER, DNS);
	struct seen seen;

	error_about(7000, DNS, 3, 4, 1000);
	expect(ns_sock_setopt(rp.stack, s, NS_IP_MTU_DISCOVER, 2) == 0); /* DO */
	expect(dgram_send(s, &peer, big, 1472) == -EMSGSIZE);
	expect(ns_sock_setopt(rp.stack, s, NS_IP_MTU_DISCOVER, 3) == 0); /* PROBE */
	expect(dgram_send(s, &peer, big, 1472) == 0);
	expect(rp_take(&rp, &seen) && seen.frag == 0x4000 && seen.data_len == 1480);
	expect(dgram_send(s, &peer, big, 1473) == -EMSGSIZE); /* the link itself takes no more */
	expect_silence();
}
END_TEST

START_TEST(rfc791_s3_2_a_long_datagram_is_cut_and_put_together)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT);
	static uint8_t whole[65536];
	uint32_t got_len = 0, frames = 0;
	struct ns_dgram_rx rx;
	struct ns_iov iov[NS_DGRAM_IOVS];
	struct seen seen;

	for (uint32_t i = 0; i < sizeof(big); i++)
		big[i] = (uint8_t)(i * 13 + i / 256);
	expect(dgram_send(s, &peer, big, NS_DGRAM_MAX4 + 1) == -EMSGSIZE);
	expect(dgram_send(s, &peer, big, NS_DGRAM_MAX4) == 0);
	while (rp_take(&rp, &seen)) {
		struct way w = rp_way(0, 0);
		uint32_t off = (seen.frag & 0x1fffu) * 8;

		memcpy(whole + off, seen.data, seen.data_len);
		got_len += seen.data_len;
		/* and straight back: ports exchanged in the first */
		if (off == 0) {
			whole[0] = (uint8_t)(CLIENT >> 8);
			whole[1] = (uint8_t)CLIENT;
			whole[2] = 0;
			whole[3] = DNS;
		}
		frame_ip4(&f, &w,
			  &(struct ip4_in){
				  .proto = 17, .id = 99, .frag = seen.frag, .is_fragment = true },
			  whole + off, seen.data_len);
		rp_feed(&rp, &f);
		frames++;
	}
	expect(got_len == NS_DGRAM_MAX4 + 8 && frames == (NS_DGRAM_MAX4 + 8 + 1479) / 1480);
	expect(memcmp(whole + 8, big, NS_DGRAM_MAX4) == 0);
	expect((uint16_t)frame_sum(whole, got_len, frame_pseudo(RP_STACK, RP_PEER, 17, got_len)) ==
	       0xffff);
	rp_turn(&rp);
	expect(ns_dgram_peek(rp.stack, s, 0, &rx, iov) == 17 && rx.len == NS_DGRAM_MAX4);
	expect(rx.frag_len == 1500);
	for (uint32_t i = 0, off = 0; i < 17; off += (uint32_t)iov[i++].len)
		expect(memcmp(iov[i].base, big + off, iov[i].len) == 0);
}
END_TEST

START_TEST(who_asked_is_told_when_it_was_sent)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT);
	const int flags = NS_STAMP_TX_SOFTWARE | NS_STAMP_TX_SCHED | NS_STAMP_OPT_ID;
	struct ns_dgram_err e;

	expect(dgram_send(s, &peer, "silent", 6) == 0 && !ns_dgram_take_error(rp.stack, s, &e));
	expect(ns_sock_setopt(rp.stack, s, NS_SO_TIMESTAMPING, flags) == 0);
	for (uint32_t i = 0; i < 2; i++) {
		expect(dgram_send(s, &peer, "told", 4) == 0);
		for (uint32_t k = 2; k-- > 0;) {
			expect(ns_dgram_take_error(rp.stack, s, &e) && e.err == -ENOMSG);
			expect(e.origin == NS_ERR_TIMESTAMPING && e.info == k && e.data == i);
			expect(e.is_queued && !e.is_fatal && e.quote_len == 14 + 28 + 4);
			expect(memcmp(e.quote + 42, "told", 4) == 0);
		}
	}
	expect(ns_sock_setopt(rp.stack, s, NS_SO_TIMESTAMPING,
			      NS_STAMP_TX_SOFTWARE | NS_STAMP_OPT_TSONLY) == 0);
	expect(dgram_send(s, &peer, "told", 4) == 0 && ns_dgram_take_error(rp.stack, s, &e));
	expect(e.quote_len == 0 && e.data == 0 && !ns_dgram_take_error(rp.stack, s, &e));
}
END_TEST

START_TEST(a_full_queue_drops_and_counts)
{
	ns_sock s = bound(0, DNS);
	uint32_t cnt = 0;

	expect(ns_sock_setopt(rp.stack, s, NS_SO_RCVBUF, 10000) == 0);
	for (uint32_t i = 0; i < 100; i++)
		from_peer(CLIENT, DNS, "0123456789");
	while (dgram_got(s, "0123456789", NULL))
		cnt++;
	expect(cnt == (10000 + 521) / 522 && moved("UDP_QUEUE") == 100 - cnt);
	expect(ns_dgram_dropped(rp.stack, s) == 100 - cnt);
	from_peer(CLIENT, DNS, "again");
	expect(dgram_got(s, "again", NULL));
}
END_TEST

START_TEST(broadcast_needs_permission_and_is_heard_by_all)
{
	ns_sock s = bound(0, DNS), t;
	struct ns_endpoint all = at(0x0a0000ff, DNS), limited = at(0xffffffff, DNS), a = at(0, DNS);
	static const uint8_t bcast_mac[6] = { 255, 255, 255, 255, 255, 255 };
	struct way w = rp_way(CLIENT, DNS);
	struct seen seen;

	expect(ns_sock_setopt(rp.stack, s, NS_SO_REUSEADDR, 1) == 0);
	t = dgram_opened();
	expect(ns_sock_setopt(rp.stack, t, NS_SO_REUSEADDR, 1) == 0);
	expect(ns_sock_bind(rp.stack, t, &a) == 0);
	expect(dgram_send(s, &all, "x", 1) == -EACCES &&
	       ns_dgram_connect(rp.stack, s, &all) == -EACCES);
	expect(ns_sock_setopt(rp.stack, s, NS_SO_BROADCAST, 1) == 0);
	expect(dgram_send(s, &all, "subnet", 6) == 0);
	expect(rp_take(&rp, &seen) && memcmp(seen.way.dst_mac, bcast_mac, 6) == 0);
	expect(seen.way.dst == 0x0a0000ff && dgram_got(s, "subnet", NULL) &&
	       dgram_got(t, "subnet", NULL));
	expect(dgram_send(s, &limited, "all", 3) == 0); /* by the default route's link */
	expect(rp_take(&rp, &seen) && seen.way.dst == 0xffffffff);
	expect(memcmp(seen.way.dst_mac, bcast_mac, 6) == 0);
	expect(dgram_got(s, "all", NULL) && dgram_got(t, "all", NULL));
	w.dst = 0xffffffff;
	memset(w.dst_mac, 255, 6);
	dgram(&w, "for all", 7, 0, -1);
	rp_inject(&rp, &f);
	expect(dgram_got(s, "for all", NULL) && dgram_got(t, "for all", NULL));
	w.dport = 9999; /* nobody there: no answer to a broadcast */
	dgram(&w, "nobody", 6, 0, -1);
	expect(dropped_silently(&f, "UDP_NO_PORT"));
}
END_TEST

START_TEST(rfc1112_groups_are_joined_sent_to_and_left)
{
	ns_sock s = bound(0, 5353), deaf;
	struct ns_endpoint to = at(0xe00000fb, 5353);
	struct ns_addr us = ns_addr_v4(RP_STACK);
	struct way w = rp_way(5353, 5353);
	static const uint8_t mac[6] = { 1, 0, 0x5e, 0, 0, 0xfb };
	struct seen seen;

	w.dst = 0xe00000fb;
	memcpy(w.dst_mac, mac, 6);
	dgram(&w, "hello", 5, 0, -1);
	expect(dropped_silently(&f, "UDP_NO_MEMBER"));
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = us, .local = us }) == -EINVAL);
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = to.addr, .ifindex = 77 }) ==
	       -ENODEV);
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_LEAVE,
			      &(struct ns_group_req){ .group = to.addr, .local = us }) ==
	       -EADDRNOTAVAIL);
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = to.addr, .local = us }) == 0);
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = to.addr, .local = us }) ==
	       -EADDRINUSE);
	rp_inject(&rp, &f);
	expect(dgram_got(s, "hello", NULL));
	/* another socket hears it, too, unless it says that it does not want to */
	deaf = bound(0xe00000fb, 6000);
	expect(ns_sock_setopt(rp.stack, deaf, NS_IP_MULTICAST_ALL, 0) == 0);
	w.dport = 6000;
	dgram(&w, "hello", 5, 0, -1);
	expect(dropped_silently(&f, "UDP_FILTERED"));
	expect(ns_sock_setopt(rp.stack, deaf, NS_IP_MULTICAST_ALL, 1) == 0);
	rp_inject(&rp, &f);
	expect(dgram_got(deaf, "hello", NULL));
	/* sent with TTL 1 to the group's MAC, by the link that was named, and heard here */
	expect(ns_dgram_multicast_if(rp.stack, s, &us, 0) == 0);
	expect(dgram_send(s, &to, "answer", 6) == 0);
	expect(rp_take(&rp, &seen) && memcmp(seen.way.dst_mac, mac, 6) == 0 && seen.ttl == 1);
	expect(dgram_got(s, "answer", NULL));
	expect(ns_sock_setopt(rp.stack, s, NS_IP_MULTICAST_LOOP, 0) == 0);
	expect(ns_sock_setopt(rp.stack, s, NS_IP_MULTICAST_TTL, 7) == 0);
	expect(dgram_send(s, &to, "quiet", 5) == 0);
	expect(rp_take(&rp, &seen) && seen.ttl == 7 && !dgram_got(s, "quiet", NULL));
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_LEAVE,
			      &(struct ns_group_req){ .group = to.addr, .local = us }) == 0);
	w.dport = 5353;
	dgram(&w, "gone", 4, 0, -1);
	expect(dropped_silently(&f, "UDP_NO_MEMBER"));
}
END_TEST

START_TEST(to_ourselves_by_the_loop)
{
	ns_sock s = bound(0x7f000001, DNS), c = dgram_opened();
	struct ns_endpoint to = at(0x7f000001, DNS), closed = at(0x7f000001, 9999);
	struct ns_dgram_rx rx;
	struct ns_dgram_err e;

	expect(dgram_send(c, &to, "inside", 6) == 0);
	expect(dgram_got(s, "inside", &rx) && ns_addr_to_v4(&rx.from.addr) == 0x7f000001);
	expect(rx.ifindex == 1);
	expect(ns_dgram_connect(rp.stack, c, &closed) == 0);
	expect(dgram_send(c, NULL, "anybody?", 8) == 0);
	rp_turn(&rp);
	expect(ns_dgram_take_error(rp.stack, c, &e) && e.err == -ECONNREFUSED);
	expect_silence();
}
END_TEST

START_TEST(a_super_frame_of_datagrams_is_what_its_segments_are)
{
	ns_sock s = bound(0, DNS);
	struct way w = rp_way(CLIENT, DNS);

	dgram(&w, "aaaabbbbcc", 10, 0, -1);
	f.gso_type = PKT_GSO_UDP_L4;
	f.gso_size = 4;
	f.csum = PKT_CSUM_PARTIAL;
	f.csum_start = ETH_LEN + IP4_LEN;
	f.csum_off = 6;
	rp_inject(&rp, &f);
	if (moved("VNET_BAD") == 0) {
		expect(dgram_got(s, "aaaa", NULL) && dgram_got(s, "bbbb", NULL) &&
		       dgram_got(s, "cc", NULL));
	}
	expect(!dgram_got(s, "", NULL));
}
END_TEST

/* @s sends @len octets of @big to @to as datagrams of @size, by the call's own word; what it says. */
static int send_segments(ns_sock s, const struct ns_endpoint *to, uint16_t size, size_t len)
{
	struct ns_dgram_tx tx = {
		.has_to = true, .to = *to, .ttl = -1, .tos = -1, .has_gso = true, .gso_size = size
	};
	/* in pieces that end where no datagram does */
	struct ns_iov iov[3] = { { big, len / 3 },
				 { big + len / 3, 0 },
				 { big + len / 3, len - len / 3 } };
	int r = ns_dgram_send(rp.stack, s, &tx, iov, 3, rp.now);

	rp_turn(&rp);
	return r;
}

START_TEST(udp_segment_cuts_one_call_into_datagrams)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT);
	struct seen seen;
	uint16_t sport, dport;
	int value;

	for (uint32_t i = 0; i < 13000; i++)
		big[i] = (uint8_t)(i * 7 + i / 256);
	expect(send_segments(s, &peer, 1200, 12001) == 0);
	for (uint32_t off = 0; off < 12001; off += 1200) {
		uint32_t len = off < 12000 ? 1200 : 1;

		expect(took(&seen, &sport, &dport) && sport == DNS && dport == CLIENT);
		expect(seen.data_len == 8 + len && memcmp(seen.data + 8, big + off, len) == 0);
	}
	expect_silence();
	expect(moved("UDP_OUT") == 11 && moved("UDP_OCTETS_OUT") == 12001);
	/* no longer than one: a plain datagram */
	expect(send_segments(s, &peer, 1200, 1200) == 0 && took(&seen, &sport, &dport));
	expect(seen.data_len == 1208);
	/* the socket's option does the same, a call may say no */
	expect(ns_sock_setopt(rp.stack, s, NS_UDP_SEGMENT, -1) == -EINVAL);
	expect(ns_sock_setopt(rp.stack, s, NS_UDP_SEGMENT, 65536) == -EINVAL);
	expect(ns_sock_setopt(rp.stack, s, NS_UDP_SEGMENT, 500) == 0);
	expect(ns_sock_getopt(rp.stack, s, NS_UDP_SEGMENT, &value) == 0 && value == 500);
	expect(dgram_send(s, &peer, big, 1001) == 0);
	for (uint32_t i = 0; i < 3; i++)
		expect(took(&seen, &sport, &dport) && seen.data_len == (i < 2 ? 508 : 9));
	expect(send_segments(s, &peer, 0, 1001) == 0 && took(&seen, &sport, &dport));
	expect(seen.data_len == 1009);
	expect_silence();
}
END_TEST

START_TEST(udp_segment_sizes_are_refused_as_linux)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT);
	struct seen seen;

	expect(send_segments(s, &peer, 1, 129) == -EINVAL); /* UDP_MAX_SEGMENTS */
	expect(send_segments(s, &peer, 1, 128) == 0);
	for (uint32_t i = 0; i < 128; i++)
		expect(rp_take(&rp, &seen) && seen.data_len == 9);
	expect(send_segments(s, &peer, 1473, 3000) == -EMSGSIZE); /* none of them is cut */
	expect(send_segments(s, &peer, 65535, 1473) == -EMSGSIZE);
	expect(send_segments(s, &peer, 65535, 1472) == 0 && rp_take(&rp, &seen));
	expect(send_segments(s, &peer, 1472, NS_DGRAM_MAX4 + 1) == -EMSGSIZE);
	expect(ns_sock_setopt(rp.stack, s, NS_SO_NO_CHECK, 1) == 0);
	expect(send_segments(s, &peer, 100, 200) == -EINVAL);
	expect_silence();
	/* one that was refused harms none that follows */
	expect(ns_sock_setopt(rp.stack, s, NS_SO_NO_CHECK, 0) == 0);
	expect(send_segments(s, &peer, 1472, 1473) == 0);
	expect(rp_take(&rp, &seen) && seen.data_len == 1480 && rp_take(&rp, &seen) &&
	       seen.data_len == 9);
}
END_TEST

START_TEST(udp_gro_hands_over_in_one_piece_who_asks)
{
	ns_sock s = bound(0, DNS), c = dgram_opened();
	struct ns_endpoint to = at(0x7f000001, DNS);
	struct ns_dgram_rx rx;
	struct ns_iov iov[NS_DGRAM_IOVS];

	for (uint32_t i = 0; i < 13000; i++)
		big[i] = (uint8_t)(i * 7 + i / 256);
	expect(send_segments(c, &to, 1000, 2500) == 0);
	for (uint32_t i = 0; i < 3; i++) {
		expect(ns_dgram_peek(rp.stack, s, 0, &rx, iov) == 1 && rx.gso_size == 0);
		expect(rx.len == (i < 2 ? 1000 : 500));
		expect(memcmp(iov[0].base, big + i * 1000, rx.len) == 0);
		ns_dgram_consume(rp.stack, s, 1);
	}
	expect(ns_sock_setopt(rp.stack, s, NS_UDP_GRO, 1) == 0);
	expect(send_segments(c, &to, 1000, 2500) == 0);
	expect(ns_dgram_peek(rp.stack, s, 0, &rx, iov) == 1 && rx.gso_size == 1000 &&
	       rx.len == 2500);
	expect(memcmp(iov[0].base, big, 2500) == 0);
	ns_dgram_consume(rp.stack, s, 1);
	expect(dgram_send(c, &to, "alone", 5) == 0 && dgram_got(s, "alone", &rx) &&
	       rx.gso_size == 0);
}
END_TEST

START_TEST(a_super_frame_of_more_than_128_datagrams_is_none)
{
	ns_sock s = bound(0, DNS);
	struct way w = rp_way(CLIENT, DNS);

	dgram(&w, big, 129, 0, -1);
	f.gso_type = PKT_GSO_UDP_L4;
	f.gso_size = 1;
	f.csum = PKT_CSUM_PARTIAL;
	f.csum_start = ETH_LEN + IP4_LEN;
	f.csum_off = 6;
	expect(dropped_silently(&f, "UDP_BAD_HEADER"));
	expect(!dgram_got(s, "", NULL));
}
END_TEST

/* @s sends with MSG_MORE and a TTL of 9, and a turn; what it says. */
static int send_more(ns_sock s, const struct ns_endpoint *to, const void *data, size_t len)
{
	struct ns_dgram_tx tx = { .has_to = to != NULL, .ttl = 9, .tos = -1, .more = true };
	struct ns_iov iov = { (void *)(uintptr_t)data, len };
	int r;

	if (to)
		tx.to = *to;
	r = ns_dgram_send(rp.stack, s, &tx, &iov, len ? 1 : 0, rp.now);
	rp_turn(&rp);
	return r;
}

START_TEST(sends_with_more_to_come_gather_in_one_datagram)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT), third = at(RP_PEER, 9);
	struct ns_iov iov[NS_DGRAM_IOVS];
	struct ns_dgram_rx rx;
	struct seen seen;
	uint16_t sport, dport;

	for (uint32_t i = 0; i < sizeof(big); i++)
		big[i] = (uint8_t)(i * 7 + i / 256);
	expect(send_more(s, &peer, big, 600) == 0);
	expect(send_more(s, &third, big + 600, 0) == 0); /* the first one alone says where to */
	expect(send_more(s, NULL, big + 600, 300) == 0);
	expect_silence();
	expect(dgram_send(s, &third, big + 900, 100) == 0);
	expect(took(&seen, &sport, &dport) && sport == DNS && dport == CLIENT && seen.ttl == 9);
	expect(seen.data_len == 1008 && memcmp(seen.data + 8, big, 1000) == 0);
	expect(moved("UDP_OUT") == 1 && moved("UDP_OCTETS_OUT") == 1000);
	/* and then it is as ever */
	expect(dgram_send(s, &third, "x", 1) == 0 && took(&seen, &sport, &dport) && dport == 9);
	expect(dgram_send(s, NULL, "x", 1) == -EDESTADDRREQ);
	/* over the edges of its pieces, on this host */
	peer = at(0x7f000001, DNS);
	for (uint32_t off = 0; off < 9000; off += 3000)
		expect(send_more(s, &peer, big + off, 3000) == 0);
	expect(dgram_send(s, NULL, NULL, 0) == 0);
	expect(ns_dgram_peek(rp.stack, s, 0, &rx, iov) == 3 && rx.len == 9000);
	for (uint32_t i = 0, off = 0; i < 3; off += (uint32_t)iov[i++].len)
		expect(memcmp(iov[i].base, big + off, iov[i].len) == 0);
}
END_TEST

START_TEST(a_corked_socket_gathers_until_it_is_flushed)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT), third = at(RP_PEER, 9);
	struct seen seen;
	uint16_t sport, dport;

	expect(ns_dgram_connect(rp.stack, s, &peer) == 0);
	expect(ns_sock_setopt(rp.stack, s, NS_UDP_CORK, 1) == 0);
	ns_dgram_flush(rp.stack, s, rp.now); /* nothing there, nothing goes */
	expect(dgram_send(s, NULL, "one ", 4) == 0 && dgram_send(s, NULL, "datagram", 8) == 0);
	/* the peer is that of the first octet */
	expect(ns_dgram_connect(rp.stack, s, &third) == 0);
	expect_silence();
	expect(ns_sock_setopt(rp.stack, s, NS_UDP_CORK, 0) == 0);
	ns_dgram_flush(rp.stack, s, rp.now);
	rp_turn(&rp);
	expect(took(&seen, &sport, &dport) && dport == CLIENT && seen.data_len == 20);
	expect(memcmp(seen.data + 8, "one datagram", 12) == 0);
	/* one without octets is one, too */
	expect(ns_sock_setopt(rp.stack, s, NS_UDP_CORK, 1) == 0);
	expect(dgram_send(s, NULL, NULL, 0) == 0);
	ns_dgram_flush(rp.stack, s, rp.now);
	rp_turn(&rp);
	expect(took(&seen, &sport, &dport) && dport == 9 && seen.data_len == 8);
	/* what waits when the socket is closed is lost */
	expect(dgram_send(s, NULL, "lost", 4) == 0);
	ns_sock_close(rp.stack, s);
	rp_turn(&rp);
	expect_silence();
}
END_TEST

START_TEST(what_gathers_too_much_is_refused_and_lost)
{
	ns_sock s = bound(0, DNS);
	struct ns_endpoint peer = at(RP_PEER, CLIENT);
	struct ns_dgram_tx more = { .ttl = -1, .tos = -1, .more = true };
	struct seen seen;

	expect(send_more(s, &peer, big, 65000) == 0);
	expect(dgram_send(s, &peer, big, 65536) == -EMSGSIZE); /* before anybody looks what waits */
	expect(ns_dgram_check(rp.stack, s, &more, 507, rp.now) == 0);
	expect(dgram_send(s, &peer, big, 508) == -EMSGSIZE);
	expect(dgram_send(s, NULL, "x", 1) == -EDESTADDRREQ);
	/* what may not be cut is measured as it grows */
	expect(ns_sock_setopt(rp.stack, s, NS_IP_MTU_DISCOVER, 2) == 0);
	expect(send_more(s, &peer, big, 1472) == 0);
	expect(ns_dgram_check(rp.stack, s, &more, 1, rp.now) == -EMSGSIZE);
	expect(dgram_send(s, &peer, "x", 1) == 0 && rp_take(&rp, &seen) && seen.data_len == 9);
	expect_silence();
}
END_TEST

START_TEST(a_stream_call_on_a_datagram_socket_is_refused)
{
	ns_sock s = bound(0, DNS), other_sock;
	struct ns_iov iov;
	struct ns_dgram_tx tx = { 0 };

	expect(ns_sock_listen(rp.stack, s, 1) == -EOPNOTSUPP);
	expect(ns_sock_accept(rp.stack, s, &other_sock) == -EOPNOTSUPP);
	expect(ns_sock_send_room(rp.stack, s) == 0);
	expect(ns_sock_send_reserve(rp.stack, s, 1, &iov, 1) == -EOPNOTSUPP);
	expect(ns_dgram_send(rp.stack, listener, &tx, NULL, 0, rp.now) == -EBADF);
	expect(ns_dgram_connect(rp.stack, listener, NULL) == -EBADF);
	ns_sock_close(rp.stack, s);
	expect(ns_dgram_send(rp.stack, s, &tx, NULL, 0, rp.now) == -EBADF);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("conformance.udp");
	TCase *tc = conf_case(s, "udp");

	tcase_add_test(tc, rfc768_a_datagram_goes_in_and_its_answer_out);
	tcase_add_test(tc, rfc768_an_empty_datagram_is_a_datagram);
	tcase_add_test(tc, rfc768_lengths_that_lie_are_dropped_and_padding_cut);
	tcase_add_test(tc, rfc1122_s4_1_3_4_checksum_is_verified_and_zero_is_none);
	tcase_add_test(tc, rfc768_a_sum_of_zero_is_sent_as_all_ones);
	tcase_add_test(tc, so_no_check_sends_no_checksum);
	tcase_add_test(tc, rfc1122_s4_1_3_1_a_closed_port_is_answered_at_a_limited_rate);
	tcase_add_test(tc, rfc1122_s4_1_3_5_the_source_is_the_address_that_was_asked);
	tcase_add_test(tc, the_closest_socket_hears);
	tcase_add_test(tc, bind_conflicts_as_linux);
	tcase_add_test(tc, reuseport_spreads_senders_and_keeps_each);
	tcase_add_test(tc, connect_chooses_an_address_and_undoes_it);
	tcase_add_test(tc, rfc1122_s4_1_3_3_errors_reach_the_connected_socket);
	tcase_add_test(tc, rfc4884_extensions_behind_a_quote_are_pointed_at);
	tcase_add_test(tc, rfc1191_a_smaller_path_is_remembered_and_expires);
	tcase_add_test(tc, rfc4821_s9_a_program_may_probe_for_itself);
	tcase_add_test(tc, rfc791_s3_2_a_long_datagram_is_cut_and_put_together);
	tcase_add_test(tc, who_asked_is_told_when_it_was_sent);
	tcase_add_test(tc, a_full_queue_drops_and_counts);
	tcase_add_test(tc, broadcast_needs_permission_and_is_heard_by_all);
	tcase_add_test(tc, rfc1112_groups_are_joined_sent_to_and_left);
	tcase_add_test(tc, to_ourselves_by_the_loop);
	tcase_add_test(tc, a_super_frame_of_datagrams_is_what_its_segments_are);
	tcase_add_test(tc, udp_segment_cuts_one_call_into_datagrams);
	tcase_add_test(tc, udp_segment_sizes_are_refused_as_linux);
	tcase_add_test(tc, udp_gro_hands_over_in_one_piece_who_asks);
	tcase_add_test(tc, a_super_frame_of_more_than_128_datagrams_is_none);
	tcase_add_test(tc, sends_with_more_to_come_gather_in_one_datagram);
	tcase_add_test(tc, a_corked_socket_gathers_until_it_is_flushed);
	tcase_add_test(tc, what_gathers_too_much_is_refused_and_lost);
	tcase_add_test(tc, a_stream_call_on_a_datagram_socket_is_refused);
	return conf_run(s);
}
