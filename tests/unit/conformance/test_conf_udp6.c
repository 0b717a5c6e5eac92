/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_udp6.c - UDP over IPv6 and by sockets of both families: RFC 8200 8.1, RFC 3493, RFC 3542, RFC 4443, RFC 8201 */
#include "dgram.h"

#include "buf/pkt.h"

enum {
	DNS = 53,
	CLIENT = 4000, /* the peer's port */
	IFINDEX = 2,
	MTU = 1500,
	LONGEST_IN_ONE = MTU - 48, /* octets of payload */
};

static struct frame f;
static uint8_t big[65536];

static const struct ns_addr us = { { 0x20, 1, 0x0d, 0xb8, [15] = 2 } };
static const struct ns_addr us_local = { { 0xfe, 0x80, 0, IFINDEX, [15] = 2 } };
static const struct ns_addr peer = { { 0x20, 1, 0x0d, 0xb8, [15] = 1 } };
static const struct ns_addr peer_local = { { 0xfe, 0x80, 0, IFINDEX, [15] = 1 } };
static const struct ns_addr mdns = { { 0xff, 2, [15] = 0xfb } };
static const struct ns_addr any, one = { { [15] = 1 } };

static struct ns_endpoint at(struct ns_addr addr, uint16_t port)
{
	return (struct ns_endpoint){ addr, port };
}

static void setup(void)
{
	const uint8_t mac[6] = RP_PEER_MAC;

	conf_setup();
	expect(ns_stack_add_neigh(rp.stack, rp.link_id, &peer, mac) == 0);
	expect(ns_stack_add_neigh(rp.stack, rp.link_id, &peer_local, mac) == 0);
}

static struct ip6_in from_to(struct ns_addr src, struct ns_addr dst)
{
	struct ip6_in ip = { .next = 17 };

	src = ns_addr_zoned(src, 0);
	dst = ns_addr_zoned(dst, 0);
	memcpy(ip.src, src.b, 16);
	memcpy(ip.dst, dst.b, 16);
	return ip;
}

/* A datagram from @src, port CLIENT, to @dst, port @dport. */
static void arrives(struct ns_addr src, struct ns_addr dst, uint16_t dport, const char *text)
{
	struct way w = rp_way(CLIENT, dport);
	struct ip6_in ip = from_to(src, dst);

	if (ns_addr_is_multicast(&dst))
		memcpy(w.dst_mac,
		       (uint8_t[]){ 0x33, 0x33, dst.b[12], dst.b[13], dst.b[14], dst.b[15] }, 6);
	frame_udp6(&f, &w, &ip, text, (uint32_t)strlen(text), -1);
	rp_inject(&rp, &f);
}

/* Take the next frame: a whole UDP packet over IPv6 with a right checksum and these ends. */
static bool took(struct seen *s, struct ns_addr src, struct ns_addr dst)
{
	struct ip6_in ip = from_to(src, dst);
	uint8_t pseudo[32];

	if (!rp_take(&rp, s) || s->kind != SEEN_IP6 || s->proto != 17 || s->data_len < 8)
		return false;
	memcpy(pseudo, s->src6, 16);
	memcpy(pseudo + 16, s->dst6, 16);
	return (uint16_t)frame_sum(s->data, s->data_len, frame_sum(pseudo, 32, 17 + s->data_len)) ==
		       0xffff &&
	       (s->data[6] || s->data[7]) && memcmp(s->src6, ip.src, 16) == 0 &&
	       memcmp(s->dst6, ip.dst, 16) == 0;
}

static void set(ns_sock s, enum ns_sockopt opt, int value)
{
	expect(ns_sock_setopt(rp.stack, s, opt, value) == 0);
}

START_TEST(rfc8200_s8_1_a_datagram_goes_in_and_its_answer_out)
{
	struct ns_endpoint local = at(any, DNS), to = at(peer, CLIENT);
	ns_sock s = dgram_bound(&local);
	struct ns_dgram_rx rx;
	struct seen seen;

	arrives(peer, us, DNS, "question");
	expect(rp_event(&rp, s, NS_EV_IN, NULL) && dgram_got(s, "question", &rx));
	expect(ns_addr_eq(&rx.from.addr, &peer) && rx.from.port == CLIENT);
	expect(ns_addr_eq(&rx.to.addr, &us) && rx.ifindex == IFINDEX && rx.ttl == 64);
	expect(dgram_send(s, &to, "answer", 6) == 0);
	expect(took(&seen, us, peer) && seen.ttl == 64 && seen.tos == 0 && seen.flow != 0);
	expect(seen.data_len == 14 && memcmp(seen.data + 8, "answer", 6) == 0);
	expect(moved("UDP_IN") == 1 && moved("UDP_OUT") == 1 && drops() == 0);
}
END_TEST

START_TEST(rfc8200_s8_1_no_checksum_is_refused)
{
	struct ns_endpoint local = at(any, DNS);
	ns_sock s = dgram_bound(&local);
	struct way w = rp_way(CLIENT, DNS);
	struct ip6_in ip = from_to(peer, us);

	frame_udp6(&f, &w, &ip, "text", 4, 0);
	expect(dropped_silently(&f, "UDP_ZERO_CSUM"));
	f.csum = PKT_CSUM_VALID; /* whoever vouches for it */
	expect(dropped_silently(&f, "UDP_ZERO_CSUM"));
	frame_udp6(&f, &w, &ip, "text", 4, 0x1234);
	expect(dropped_silently(&f, "UDP_CSUM"));
	frame_udp6(&f, &w, &ip, "text", 4, -1);
	rp_inject(&rp, &f);
	expect(dgram_got(s, "text", NULL));
}
END_TEST

START_TEST(rfc8200_s8_1_so_no_check_is_of_ipv4_alone)
{
	struct ns_endpoint local = at(any, DNS), to = at(peer, CLIENT);
	ns_sock s = dgram_bound(&local);
	struct seen seen;

	set(s, NS_SO_NO_CHECK, 1);
	expect(dgram_send(s, &to, "x", 1) == 0 && took(&seen, us, peer));
}
END_TEST

/* A datagram without checksum to @port is dropped, and nobody is told. */
static bool zero_csum_is_dropped(uint16_t port)
{
	struct way w = rp_way(CLIENT, port);
	struct ip6_in ip = from_to(peer, us);

	frame_udp6(&f, &w, &ip, "text", 4, 0);
	return dropped_silently(&f, "UDP_ZERO_CSUM");
}

/* A socket that agreed takes it; who has a checksum that is wrong is dropped even so. Others do not agree. */
START_TEST(rfc6935_s5_no_checksum_is_taken_by_who_agreed)
{
	struct ns_endpoint local = at(any, DNS), second = at(any, DNS + 1);
	ns_sock s = dgram_bound(&local), t = dgram_bound(&second);
	struct way w = rp_way(CLIENT, DNS);
	struct ip6_in ip = from_to(peer, us);

	set(s, NS_UDP_NO_CHECK6_RX, 1);
	frame_udp6(&f, &w, &ip, "text", 4, 0);
	rp_inject(&rp, &f);
	expect(dgram_got(s, "text", NULL));
	frame_udp6(&f, &w, &ip, "text", 4, 0x1234);
	expect(dropped_silently(&f, "UDP_CSUM"));
	expect(zero_csum_is_dropped(DNS + 1));
	expect(zero_csum_is_dropped(DNS + 2)); /* nobody's */
	ns_sock_close(rp.stack, t);
	set(s, NS_UDP_NO_CHECK6_RX, 0);
	expect(zero_csum_is_dropped(DNS));
}
END_TEST

/* linux udpv6_sendmsg(): the sticky option gives a link, groups leave by it as well; one that is not there has no route */
START_TEST(rfc3542_s6_1_link_of_a_socket_is_that_of_what_it_sends)
{
	struct ns_endpoint local = at(any, DNS), to = at(peer, CLIENT);
	ns_sock s = dgram_bound(&local);
	struct seen seen;

	set(s, NS_IPV6_PKTINFO_IF, 4711);
	expect(dgram_send(s, &to, "x", 1) == -ENETUNREACH && !rp_take(&rp, &seen));
	set(s, NS_IPV6_PKTINFO_IF, -1);
	expect(dgram_send(s, &to, "x", 1) == -ENETUNREACH && !rp_take(&rp, &seen));
	set(s, NS_IPV6_PKTINFO_IF, 0);
	expect(dgram_send(s, &to, "x", 1) == 0 && took(&seen, us, peer));
}
END_TEST

START_TEST(rfc6935_s5_who_asked_sends_without_checksum)
{
	static const char octets[300];
	struct ns_endpoint local = at(any, DNS), to = at(peer, CLIENT);
	ns_sock s = dgram_bound(&local);
	struct seen seen;

	set(s, NS_UDP_NO_CHECK6_TX, 1);
	expect(dgram_send(s, &to, "x", 1) == 0);
	expect(rp_take(&rp, &seen) && seen.data_len == 9); /* the header, then the octet */
	expect(seen.data[6] == 0 && seen.data[7] == 0);
	/* linux udp_v6_send_skb(): each of its segments would need one */
	set(s, NS_UDP_SEGMENT, 100);
	expect(dgram_send(s, &to, octets, sizeof(octets)) == -EINVAL);
	set(s, NS_UDP_NO_CHECK6_TX, 0);
	expect(dgram_send(s, &to, "x", 1) == 0 && took(&seen, us, peer));
}
END_TEST

START_TEST(rfc3493_s3_7_any_of_ipv6_hears_ipv4_as_mapped_unless_v6only)
{
	struct ns_endpoint local = at(any, DNS), four = at(ns_addr_v4(0), DNS);
	struct ns_endpoint to = at(ns_addr_v4(RP_PEER), CLIENT);
	ns_sock s = dgram_bound(&local), t;
	struct ns_dgram_rx rx;
	struct seen seen;

	t = dgram_opened();
	expect(ns_sock_bind(rp.stack, t, &four) == -EADDRINUSE);
	/* by a socket of both: from a mapped address, and to one */
	expect(dgram_send(s, &to, "four", 4) == 0);
	expect(rp_take(&rp, &seen) && seen.kind == SEEN_IP4 && seen.way.src == RP_STACK);
	expect(seen.data[0] == 0 && seen.data[1] == DNS);
	ns_sock_close(rp.stack, s);
	s = dgram_opened6();
	set(s, NS_SO_V6ONLY, 1);
	expect(ns_sock_bind(rp.stack, s, &four) == -EINVAL);
	expect(ns_sock_bind(rp.stack, s, &local) == 0 && ns_sock_bind(rp.stack, t, &four) == 0);
	expect(ns_sock_setopt(rp.stack, s, NS_SO_V6ONLY, 0) == -EINVAL);
	expect(dgram_send(s, &to, "x", 1) == -ENETUNREACH);
	expect(ns_dgram_connect(rp.stack, s, &to) == -ENETUNREACH);
	arrives(peer, us, DNS, "six");
	expect(dgram_got(s, "six", &rx) && !dgram_got(t, "six", NULL));
}
END_TEST

START_TEST(rfc3542_s6_source_link_hops_and_class_of_one_datagram)
{
	struct ns_addr second = us;
	struct ns_endpoint local = at(any, DNS);
	ns_sock s = dgram_bound(&local);
	struct ns_dgram_tx tx = { .has_to = true, .to = at(peer, CLIENT), .ttl = 9, .tos = 0x2e };
	struct seen seen;

	second.b[15] = 0x63;
	expect(ns_stack_add_addr(rp.stack, rp.link_id, &second, 64) == 0);
	tx.from = second;
	expect(ns_dgram_send(rp.stack, s, &tx, NULL, 0, rp.now) == 0);
	rp_turn(&rp);
	expect(took(&seen, second, peer) && seen.ttl == 9 && seen.tos == 0x2e);
	tx.from = peer; /* not ours */
	expect(ns_dgram_send(rp.stack, s, &tx, NULL, 0, rp.now) == -EINVAL);
	tx.from = ns_addr_v4(RP_STACK);
	expect(ns_dgram_send(rp.stack, s, &tx, NULL, 0, rp.now) == -EAFNOSUPPORT);
	tx.from = any;
	tx.ifindex = 77;
	expect(ns_dgram_send(rp.stack, s, &tx, NULL, 0, rp.now) < 0);
	/* the socket's own */
	set(s, NS_IPV6_UNICAST_HOPS, 33);
	set(s, NS_IPV6_TCLASS, 0x48);
	set(s, NS_SO_TTL, 44);
	expect(dgram_send(s, &tx.to, "x", 1) == 0);
	/* among equals the last address that was added: linux ipv6_link_dev_addr() */
	expect(took(&seen, second, peer) && seen.ttl == 33 && seen.tos == 0x48);
	tx.to = at(ns_addr_v4(RP_PEER), CLIENT);
	expect(dgram_send(s, &tx.to, "x", 1) == 0);
	expect(rp_take(&rp, &seen) && seen.kind == SEEN_IP4 && seen.ttl == 44 && seen.tos == 0);
}
END_TEST

START_TEST(rfc4007_s9_link_local_ends_have_the_zone_of_their_link)
{
	struct ns_endpoint local = at(us_local, DNS), to = at(peer_local, CLIENT);
	struct ns_addr bare = ns_addr_zoned(peer_local, 0), wrong = ns_addr_zoned(peer_local, 77);
	ns_sock s = dgram_bound(&local);
	struct ns_dgram_rx rx;
	struct seen seen;

	arrives(peer_local, us_local, DNS, "near");
	expect(dgram_got(s, "near", &rx) && ns_addr_eq(&rx.from.addr, &peer_local));
	expect(ns_addr_eq(&rx.to.addr, &us_local));
	expect(dgram_send(s, &to, "x", 1) == 0 && took(&seen, us_local, peer_local));
	to.addr = wrong;
	expect(dgram_send(s, &to, "x", 1) == -ENETUNREACH);
	to.addr = bare; /* by the first link that can be meant */
	expect(dgram_send(s, &to, "x", 1) == 0 && took(&seen, us_local, peer_local));
}
END_TEST

START_TEST(rfc4443_s3_1_a_port_nobody_has_is_told_at_a_limited_rate)
{
	struct seen s;
	uint32_t answers = 0;

	for (uint32_t i = 0; i < 300; i++) {
		arrives(peer, us, 9999, "anybody?");
		while (rp_take(&rp, &s)) {
			expect(s.kind == SEEN_ICMP && s.is_v6 && s.icmp_type == 1 &&
			       s.icmp_code == 4);
			expect(s.data_len == 40 + 8 + 8 && s.data[6] == 17);
			answers++;
		}
	}
	expect(moved("UDP_NO_PORT") == 300 && answers >= 1 && answers <= 50);
}
END_TEST

/* An error about a datagram from our @sport to the peer's DNS. */
static void error_about(uint16_t sport, uint8_t type, uint8_t code, uint32_t rest)
{
	struct way w = rp_way(0, 0), back = { .sport = sport, .dport = DNS };
	struct ip6_in ip = from_to(peer, us), quoted = from_to(us, peer);
	static struct frame q;

	frame_udp6(&q, &back, &quoted, "sent", 4, -1);
	frame_icmp6(&f, &w, &ip, type, code, rest, q.b + ETH_LEN, q.len - ETH_LEN);
	rp_inject(&rp, &f);
}

static const struct {
	uint8_t type, code;
	int err;
	bool is_fatal;
} errors[] = {
	{ 1, 0, -ENETUNREACH, false },  { 1, 1, -EACCES, true },
	{ 1, 2, -EHOSTUNREACH, false }, { 1, 3, -EHOSTUNREACH, false },
	{ 1, 4, -ECONNREFUSED, true },  { 1, 5, -EACCES, true },
	{ 1, 6, -EACCES, true },        { 1, 7, -EPROTO, true },
	{ 3, 0, -EHOSTUNREACH, false }, { 4, 1, -EPROTO, true },
};

START_TEST(rfc4443_s2_4_d_errors_reach_their_socket)
{
	struct ns_endpoint a = at(any, 7000), b = at(any, 7001), to = at(peer, DNS);
	ns_sock s = dgram_bound(&a), plain = dgram_bound(&b);
	struct ns_dgram_err e;

	expect(ns_dgram_connect(rp.stack, s, &to) == 0);
	error_about(7000, errors[_i].type, errors[_i].code, 0);
	expect(dgram_error(s, &e) == errors[_i].is_fatal);
	if (errors[_i].is_fatal)
		expect(e.err == errors[_i].err && e.is_fatal && !e.is_queued);
	error_about(7001, errors[_i].type, errors[_i].code, 0);
	expect(!dgram_error(plain, &e));
	/* whoever asks hears all of them, also without a connection */
	set(plain, NS_IP_RECVERR, 1);
	error_about(7001, errors[_i].type, errors[_i].code, 0);
	expect(!dgram_error(plain, &e)); /* that is about IPv4 */
	set(plain, NS_IPV6_RECVERR, 1);
	error_about(7001, errors[_i].type, errors[_i].code, 0);
	expect(rp_event(&rp, plain, NS_EV_ERR, NULL) && dgram_error(plain, &e));
	expect(e.err == errors[_i].err && e.origin == NS_ERR_ICMP6 && e.is_queued);
	expect(e.type == errors[_i].type && e.code == errors[_i].code);
	expect(ns_addr_eq(&e.offender, &peer) && ns_addr_eq(&e.to.addr, &peer) && e.to.port == DNS);
}
END_TEST

START_TEST(rfc8201_s4_a_smaller_path_refuses_what_may_not_be_cut)
{
	struct ns_endpoint a = at(any, 7000), b = at(any, 7001), to = at(peer, DNS);
	ns_sock s = dgram_bound(&a), unconnected = dgram_bound(&b);
	struct ns_dgram_err e;
	struct seen seen;
	int mtu = 0;

	set(s, NS_IPV6_MTU_DISCOVER, 2); /* DO */
	set(s, NS_IPV6_RECVERR, 1);
	expect(dgram_send(s, &to, big, LONGEST_IN_ONE) == 0 && took(&seen, us, peer));
	expect(dgram_send(s, &to, big, LONGEST_IN_ONE + 1) == -EMSGSIZE);
	expect(dgram_error(s, &e) && e.err == -EMSGSIZE && e.origin == NS_ERR_LOCAL);
	expect(e.info == MTU && e.is_queued && !e.is_fatal && ns_addr_eq(&e.to.addr, &peer));
	error_about(7000, 2, 0, 1279); /* forged: RFC 8201 4 */
	expect(moved("ICMP6_TOO_BIG") == 1 && !dgram_error(s, &e));
	error_about(7000, 2, 0, 1400);
	expect(dgram_error(s, &e) && e.err == -EMSGSIZE && e.info == 1400 &&
	       e.origin == NS_ERR_ICMP6);
	expect(dgram_send(s, &to, big, 1400 - 48 + 1) == -EMSGSIZE && dgram_error(s, &e));
	expect(e.info == 1400);
	expect(dgram_send(s, &to, big, 1400 - 48) == 0 && took(&seen, us, peer));
	expect(ns_dgram_connect(rp.stack, s, &to) == 0);
	expect(ns_sock_getopt(rp.stack, s, NS_IPV6_MTU, &mtu) == 0 && mtu == 1400);
	/* either option tells of the path that there is, and none of one that is not */
	mtu = 0;
	expect(ns_sock_getopt(rp.stack, s, NS_IP_MTU, &mtu) == 0 && mtu == 1400);
	expect(ns_sock_getopt(rp.stack, unconnected, NS_IP_MTU, &mtu) == -ENOTCONN);
	expect(ns_sock_getopt(rp.stack, unconnected, NS_IPV6_MTU, &mtu) == -ENOTCONN);
	/* IPV6_DONTFRAG alone is as good, of the socket and of one datagram */
	set(s, NS_IPV6_MTU_DISCOVER, 1);
	set(s, NS_IPV6_DONTFRAG, 1);
	expect(dgram_send(s, NULL, big, 1400 - 48 + 1) == -EMSGSIZE);
	rp_wait(&rp, 601 * NS_PER_SEC);
	expect(dgram_send(s, NULL, big, LONGEST_IN_ONE) == 0 && took(&seen, us, peer));
	/* IPV6_MTU makes it smaller still */
	expect(ns_sock_setopt(rp.stack, s, NS_IPV6_MTU, 1279) == -EINVAL);
	set(s, NS_IPV6_MTU, 1280);
	expect(dgram_send(s, NULL, big, 1280 - 48 + 1) == -EMSGSIZE);
	expect(dgram_send(s, NULL, big, 1280 - 48) == 0 && took(&seen, us, peer));
}
END_TEST

START_TEST(rfc3542_s11_3_who_asked_is_told_what_the_path_takes)
{
	struct ns_endpoint a = at(any, 7000), to = at(peer, DNS);
	ns_sock s = dgram_bound(&a);
	struct ns_dgram_err e;

	/* as Linux: only of what IPV6_DONTFRAG refused */
	set(s, NS_IPV6_RECVPATHMTU, 1);
	set(s, NS_IPV6_MTU_DISCOVER, 2);
	expect(dgram_send(s, &to, big, LONGEST_IN_ONE + 1) == -EMSGSIZE && !dgram_error(s, &e));
	set(s, NS_IPV6_DONTFRAG, 1);
	expect(dgram_send(s, &to, big, LONGEST_IN_ONE) == 0 && !dgram_error(s, &e));
	expect(dgram_send(s, &to, big, LONGEST_IN_ONE + 1) == -EMSGSIZE);
	expect(dgram_error(s, &e) && e.is_path_mtu && !e.is_fatal && !e.is_queued);
	expect(e.info == MTU && ns_addr_eq(&e.to.addr, &peer) && e.ifindex == 0);
	expect(!dgram_error(s, &e));
	set(s, NS_SO_BINDTOIFINDEX, IFINDEX);
	expect(dgram_send(s, &to, big, LONGEST_IN_ONE + 1) == -EMSGSIZE);
	expect(dgram_error(s, &e) && e.is_path_mtu && e.ifindex == IFINDEX);
	set(s, NS_IPV6_RECVPATHMTU, 0);
	expect(dgram_send(s, &to, big, LONGEST_IN_ONE + 1) == -EMSGSIZE && !dgram_error(s, &e));
}
END_TEST

START_TEST(rfc3493_s5_2_groups_of_ipv6_are_joined_sent_to_and_left)
{
	struct ns_endpoint a = at(any, 5353), to = at(mdns, 5353);
	ns_sock s = dgram_bound(&a);
	static const uint8_t mac[6] = { 0x33, 0x33, 0, 0, 0, 0xfb };
	struct ns_dgram_rx rx;
	struct seen seen;

	arrives(peer_local, mdns, 5353, "hello");
	expect(!dgram_got(s, "hello", NULL) && drops() == 1);
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = us, .ifindex = IFINDEX }) ==
	       -EINVAL);
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = mdns, .ifindex = 77 }) == -ENODEV);
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_LEAVE,
			      &(struct ns_group_req){ .group = mdns }) == -EADDRNOTAVAIL);
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = mdns }) == 0);
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = mdns, .ifindex = IFINDEX }) ==
	       -EADDRINUSE);
	rp_drop_out(&rp);
	arrives(peer_local, mdns, 5353, "hello");
	expect(dgram_got(s, "hello", &rx) && ns_addr_eq(&rx.to.addr, &mdns) &&
	       rx.ifindex == IFINDEX);
	/* sent with one hop to the group's MAC from the address of its scope, and heard here as by that link */
	expect(dgram_send(s, &to, "answer", 6) == 0 && took(&seen, us_local, mdns));
	expect(memcmp(seen.way.dst_mac, mac, 6) == 0 && seen.ttl == 1);
	expect(dgram_got(s, "answer", &rx) && rx.ifindex == IFINDEX);
	expect(ns_addr_eq(&rx.from.addr, &us_local));
	set(s, NS_IPV6_MULTICAST_LOOP, 0);
	set(s, NS_IPV6_MULTICAST_HOPS, 7);
	expect(ns_dgram_multicast_if(rp.stack, s, &any, 77) == -ENODEV);
	expect(ns_dgram_multicast_if(rp.stack, s, &any, IFINDEX) == 0);
	expect(dgram_send(s, &to, "quiet", 5) == 0 && took(&seen, us_local, mdns) && seen.ttl == 7);
	expect(!dgram_got(s, "quiet", NULL));
	/* of the host alone: never on a wire */
	to.addr.b[1] = 1;
	expect(dgram_send(s, &to, "x", 1) == 0);
	expect_silence();
	expect(ns_dgram_group(rp.stack, s, NS_GROUP_LEAVE,
			      &(struct ns_group_req){ .group = mdns, .ifindex = IFINDEX }) == 0);
	rp_drop_out(&rp);
	snap();
	arrives(peer_local, mdns, 5353, "gone");
	expect(!dgram_got(s, "gone", NULL) && drops() == 1);
}
END_TEST

START_TEST(a_group_lasts_as_long_as_its_last_socket)
{
	struct ns_endpoint a = at(any, 5353), b = at(any, 5354);
	ns_sock s = dgram_bound(&a), t = dgram_bound(&b);

	expect(ns_dgram_group(rp.stack, s, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = mdns, .ifindex = IFINDEX }) == 0);
	expect(ns_dgram_group(rp.stack, t, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = mdns, .ifindex = IFINDEX }) == 0);
	ns_sock_close(rp.stack, t);
	arrives(peer_local, mdns, 5353, "still there");
	expect(dgram_got(s, "still there", NULL));
	t = dgram_bound(&b); /* not a member, and hears what others joined unless it says no */
	arrives(peer_local, mdns, 5354, "all");
	expect(dgram_got(t, "all", NULL));
	set(t, NS_IPV6_MULTICAST_ALL, 0);
	arrives(peer_local, mdns, 5354, "none");
	expect(!dgram_got(t, "none", NULL));
	ns_sock_close(rp.stack, s);
	set(t, NS_IPV6_MULTICAST_ALL, 1);
	arrives(peer_local, mdns, 5354, "nobody");
	expect(!dgram_got(t, "nobody", NULL));
}
END_TEST

START_TEST(rfc3493_s3_8_any_and_loopback_are_this_host)
{
	struct ns_endpoint a = at(any, DNS), to = at(any, DNS),
			   mapped = at(ns_addr_v4(0x7f000001), 54);
	struct ns_endpoint closed = at(one, 9999), local;
	ns_sock s = dgram_bound(&a), c = dgram_opened6(), four;
	struct ns_dgram_rx rx;
	struct ns_dgram_err e;

	expect(dgram_send(c, &to, "inside", 6) == 0);
	expect(dgram_got(s, "inside", &rx) && ns_addr_eq(&rx.from.addr, &one));
	expect(ns_addr_eq(&rx.to.addr, &one) && rx.ifindex == 1);
	expect(ns_dgram_connect(rp.stack, c, &closed) == 0);
	expect(ns_sock_local(rp.stack, c, &local) == 0 && ns_addr_eq(&local.addr, &one));
	expect(dgram_send(c, NULL, "anybody?", 8) == 0);
	rp_turn(&rp);
	expect(dgram_error(c, &e) && e.err == -ECONNREFUSED);
	/* bound to a mapped address, :: is 127.0.0.1 */
	four = dgram_opened6();
	expect(ns_sock_bind(rp.stack, four, &mapped) == 0);
	expect(dgram_send(four, &to, "mapped", 6) == 0);
	expect(dgram_got(s, "mapped", &rx) && ns_addr_to_v4(&rx.from.addr) == 0x7f000001);
	expect_silence();
}
END_TEST

START_TEST(who_hears_of_both_families_as_linux)
{
	struct ns_endpoint six = at(any, DNS), four = at(ns_addr_v4(0), DNS), exact = at(us, DNS);
	struct ns_endpoint to4 = at(ns_addr_v4(0x7f000001), DNS), local;
	ns_sock a = dgram_opened6(), b = dgram_opened(), c = dgram_opened6(), from = dgram_opened();

	set(a, NS_SO_REUSEADDR, 1);
	set(b, NS_SO_REUSEADDR, 1);
	set(c, NS_SO_REUSEADDR, 1);
	expect(ns_sock_bind(rp.stack, b, &four) == 0 && ns_sock_bind(rp.stack, c, &exact) == 0);
	expect(ns_sock_bind(rp.stack, a, &six) == 0); /* last */
	expect(dgram_send(from, &to4, "four", 4) == 0 && dgram_got(b, "four", NULL));
	arrives(peer, us, DNS, "exact");
	expect(dgram_got(c, "exact", NULL));
	arrives(peer_local, us_local, DNS, "any");
	expect(dgram_got(a, "any", NULL));
	ns_sock_close(rp.stack, b);
	expect(dgram_send(from, &to4, "mapped", 6) == 0 && dgram_got(a, "mapped", NULL));
	/* a socket of IPv4 has no address of IPv6 */
	expect(ns_sock_bind(rp.stack, dgram_opened(), &exact) == -EAFNOSUPPORT);
	expect(dgram_send(from, &exact, "x", 1) == -EAFNOSUPPORT);
	expect(ns_sock_local(rp.stack, dgram_opened6(), &local) == 0 &&
	       ns_addr_eq(&local.addr, &any));
}
END_TEST

START_TEST(a_socket_of_one_link_hears_and_speaks_by_it_alone)
{
	struct ns_endpoint a = at(any, DNS), to = at(peer, CLIENT);
	ns_sock s = dgram_opened6(), t = dgram_opened6(), from = dgram_opened6();
	struct ns_endpoint inside = at(one, DNS), ours = at(us, DNS);
	struct ns_dgram_rx rx;
	struct seen seen;

	expect(ns_sock_setopt(rp.stack, s, NS_SO_BINDTOIFINDEX, 77) == -ENODEV);
	set(s, NS_SO_BINDTOIFINDEX, IFINDEX);
	set(t, NS_SO_BINDTOIFINDEX, 1);
	/* different links do not collide */
	expect(ns_sock_bind(rp.stack, s, &a) == 0 && ns_sock_bind(rp.stack, t, &a) == 0);
	expect(ns_sock_bind(rp.stack, from, &a) == -EADDRINUSE);
	arrives(peer, us, DNS, "outside");
	expect(dgram_got(s, "outside", NULL) && !dgram_got(t, "outside", NULL));
	expect(dgram_send(from, &inside, "inside", 6) == 0);
	expect(dgram_got(t, "inside", NULL) && !dgram_got(s, "inside", NULL));
	/* to an address of a link is by that link, though it never leaves */
	expect(dgram_send(from, &ours, "ours", 4) == 0);
	expect(dgram_got(s, "ours", &rx) && rx.ifindex == IFINDEX && !dgram_got(t, "ours", NULL));
	expect(dgram_send(s, &to, "x", 1) == 0 && took(&seen, us, peer));
	expect(dgram_send(t, &to, "x", 1) < 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("conformance.udp6");
	TCase *tc = tcase_create("udp6");

	tcase_add_checked_fixture(tc, setup, conf_teardown);
	suite_add_tcase(s, tc);
	tcase_add_test(tc, rfc8200_s8_1_a_datagram_goes_in_and_its_answer_out);
	tcase_add_test(tc, rfc8200_s8_1_no_checksum_is_refused);
	tcase_add_test(tc, rfc8200_s8_1_so_no_check_is_of_ipv4_alone);
	tcase_add_test(tc, rfc6935_s5_no_checksum_is_taken_by_who_agreed);
	tcase_add_test(tc, rfc3542_s6_1_link_of_a_socket_is_that_of_what_it_sends);
	tcase_add_test(tc, rfc6935_s5_who_asked_sends_without_checksum);
	tcase_add_test(tc, rfc3493_s3_7_any_of_ipv6_hears_ipv4_as_mapped_unless_v6only);
	tcase_add_test(tc, rfc3542_s6_source_link_hops_and_class_of_one_datagram);
	tcase_add_test(tc, rfc4007_s9_link_local_ends_have_the_zone_of_their_link);
	tcase_add_test(tc, rfc4443_s3_1_a_port_nobody_has_is_told_at_a_limited_rate);
	tcase_add_loop_test(tc, rfc4443_s2_4_d_errors_reach_their_socket, 0, NS_ARRAY_LEN(errors));
	tcase_add_test(tc, rfc8201_s4_a_smaller_path_refuses_what_may_not_be_cut);
	tcase_add_test(tc, rfc3542_s11_3_who_asked_is_told_what_the_path_takes);
	tcase_add_test(tc, rfc3493_s5_2_groups_of_ipv6_are_joined_sent_to_and_left);
	tcase_add_test(tc, a_group_lasts_as_long_as_its_last_socket);
	tcase_add_test(tc, rfc3493_s3_8_any_and_loopback_are_this_host);
	tcase_add_test(tc, who_hears_of_both_families_as_linux);
	tcase_add_test(tc, a_socket_of_one_link_hears_and_speaks_by_it_alone);
	return conf_run(s);
}
