/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_conf_dgram.c - who may send where, and who hears what: what a socket is bound to against where it goes
 *
 * gVisor's matrix for UDP and echo sockets, both families, with a link and without. What is right is what Linux does
 * (net/ipv4/udp.c __udp_is_mcast_sock(), udp_sendmsg(), af_inet.c inet_bind(), ping.c ping_check_bind_addr()).
 */
#include "dgram.h"

#include "support/frame.h"

enum {
	ECHO = 7,
	CLIENT = 4000, /* the peer's port */
	IFINDEX = 2,   /* of the wire; 1 is the loop */
	LONGEST = 1472,
};

static struct frame f;
static uint8_t big[LONGEST];

/* Of the peer, where a datagram is addressed to; the last byte of IPv6 addresses says which. */
enum where { ANY, UNICAST, SUBNET, LIMITED, ALL_HOSTS, GROUP, WHERES };

static const uint32_t v4[WHERES] = {
	[UNICAST] = RP_STACK,     [SUBNET] = 0x0a0000ff, [LIMITED] = 0xffffffff,
	[ALL_HOSTS] = 0xe0000001, [GROUP] = 0xef010203,
};

static const struct ns_addr v6[WHERES] = {
	[UNICAST] = { { 0x20, 1, 0x0d, 0xb8, [15] = 2 } },
	[ALL_HOSTS] = { { 0xff, 2, [15] = 1 } },
	[GROUP] = { { 0xff, 2, [15] = 0xfb } },
};
static const struct ns_addr peer6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 1 } };

static bool is_in(bool is_v6, enum where w)
{
	return !is_v6 || (w != SUBNET && w != LIMITED);
}

static struct ns_endpoint at(bool is_v6, enum where w, uint16_t port)
{
	return (struct ns_endpoint){ is_v6 ? v6[w] : ns_addr_v4(v4[w]), port };
}

static void mac_of(bool is_v6, enum where w, uint8_t mac[6])
{
	const uint8_t us[6] = RP_STACK_MAC;
	const struct ns_addr *a = &v6[w];

	memcpy(mac, us, 6);
	if (w == SUBNET || w == LIMITED)
		memset(mac, 0xff, 6);
	else if (w >= ALL_HOSTS && is_v6)
		memcpy(mac, (uint8_t[]){ 0x33, 0x33, a->b[12], a->b[13], a->b[14], a->b[15] }, 6);
	else if (w >= ALL_HOSTS)
		memcpy(mac,
		       (uint8_t[]){ 1, 0, 0x5e, v4[w] >> 16 & 127, (uint8_t)(v4[w] >> 8),
				    (uint8_t)v4[w] },
		       6);
}

/* A datagram of the peer to @w, port ECHO. */
static void arrives(bool is_v6, enum where to, const char *text)
{
	struct way w = rp_way(CLIENT, ECHO);
	uint8_t b[64] = { CLIENT >> 8, CLIENT & 255, 0, ECHO, 0, 0, 0, 0 };
	uint32_t len = 8 + (uint32_t)strlen(text), sum;

	mac_of(is_v6, to, w.dst_mac);
	if (is_v6) {
		struct ip6_in ip = { 0 };

		memcpy(ip.src, peer6.b, 16);
		memcpy(ip.dst, v6[to].b, 16);
		frame_udp6(&f, &w, &ip, text, len - 8, -1);
	} else {
		w.dst = v4[to];
		b[5] = (uint8_t)len;
		memcpy(b + 8, text, len - 8);
		sum = ~frame_sum(b, len, frame_pseudo(w.src, w.dst, 17, len)) & 0xffff;
		b[6] = (uint8_t)(sum >> 8);
		b[7] = (uint8_t)sum;
		frame_ip4(&f, &w, &(struct ip4_in){ .proto = 17 }, b, len);
	}
	rp_inject(&rp, &f);
}

static ns_sock opened(bool is_v6, uint32_t ifindex)
{
	ns_sock s = is_v6 ? dgram_opened6() : dgram_opened();

	if (ifindex)
		expect(ns_sock_setopt(rp.stack, s, NS_SO_BINDTOIFINDEX, (int)ifindex) == 0);
	return s;
}

static ns_sock bound_at(bool is_v6, enum where w, uint32_t ifindex)
{
	struct ns_endpoint a = at(is_v6, w, ECHO);
	ns_sock s = opened(is_v6, ifindex);

	if (is_v6 && w >= ALL_HOSTS)
		a.addr = ns_addr_zoned(a.addr, IFINDEX);
	expect(ns_sock_bind(rp.stack, s, &a) == 0);
	return s;
}

static void setup(void)
{
	const uint8_t mac[6] = RP_PEER_MAC;

	conf_setup();
	expect(ns_stack_add_neigh(rp.stack, rp.link_id, &peer6, mac) == 0);
}

/* --- UDP: who hears ----------------------------------------------------------------------------- */

/* Bound to any address: all of it. Bound to one: what goes there. Bound to a link: what comes by it. */
START_TEST(linux_udp_bound_to_what_hears_what)
{
	static const uint32_t links[] = { 0, IFINDEX, 1 };
	bool is_v6 = _i;
	struct ns_endpoint group = at(is_v6, GROUP, 0);
	ns_sock member =
		opened(is_v6, 0); /* of the group; nobody need be of the other one (RFC 1112 7.2) */

	expect(ns_dgram_group(rp.stack, member, NS_GROUP_JOIN,
			      &(struct ns_group_req){ .group = group.addr, .ifindex = IFINDEX }) ==
	       0);
	for (enum where b = ANY; b < WHERES; b++) {
		EACH(l, links)
		{
			ns_sock s;

			if (!is_in(is_v6, b))
				continue;
			s = bound_at(is_v6, b, links[l]);
			for (enum where to = UNICAST; to < WHERES; to++) {
				bool hears = (b == ANY || b == to) && links[l] != 1;

				if (!is_in(is_v6, to))
					continue;
				arrives(is_v6, to, "hear");
				if (dgram_got(s, "hear", NULL) != hears)
					ck_abort_msg("bound to %d, link %u, sent to %d: %s", (int)b,
						     links[l], (int)to,
						     hears ? "not heard" : "heard");
				expect(!dgram_got(s, "hear", NULL)); /* once */
			}
			ns_sock_close(rp.stack, s);
			rp_turn(&rp);
		}
	}
	rp_drop_out(&rp);
}
END_TEST

/* --- UDP: who may send -------------------------------------------------------------------------- */

static void takes_leave(bool is_v6, ns_sock s, enum where b, enum where to, size_t len)
{
	struct ns_endpoint dst = at(is_v6, to, CLIENT);
	uint8_t mac[6];
	struct seen seen;

	if (to == UNICAST)
		dst.addr = is_v6 ? peer6 : ns_addr_v4(RP_PEER);
	int r = dgram_send(s, &dst, big, len);

	if (r < 0)
		ck_abort_msg("bound to %d, sends to %d: %d", (int)b, (int)to, r);
	expect(rp_take(&rp, &seen));
	while (seen.kind != (is_v6 ? SEEN_IP6 : SEEN_IP4) || seen.proto != 17)
		expect(rp_take(&rp, &seen)); /* reports of groups go before */
	expect(seen.data_len == len + 8 && !memcmp(seen.data + 8, big, len));
	if (to == UNICAST)
		memcpy(mac, (uint8_t[])RP_PEER_MAC, 6);
	else
		mac_of(is_v6, to, mac);
	expect(!memcmp(seen.way.dst_mac, mac, 6));
	/* a group or a broadcast address is never a source: what is bound to one sends as the host */
	if (is_v6)
		expect(!memcmp(seen.src6, to == UNICAST || b == UNICAST ? v6[UNICAST].b : seen.src6,
			       16) &&
		       seen.src6[0] != 0xff);
	else
		expect(seen.way.src == RP_STACK && seen.way.dst == ns_addr_to_v4(&dst.addr));
}

START_TEST(linux_udp_bound_to_what_sends_where)
{
	static const size_t lens[] = { 0, 1, 100, LONGEST - 20 };
	bool is_v6 = _i;

	for (enum where b = ANY; b < WHERES; b++) {
		for (uint32_t link = 0; link <= IFINDEX; link += IFINDEX) {
			ns_sock s;

			if (!is_in(is_v6, b))
				continue;
			s = bound_at(is_v6, b, link);
			for (enum where to = UNICAST; to < WHERES; to++) {
				struct ns_endpoint dst = at(is_v6, to, CLIENT);

				if (!is_in(is_v6, to))
					continue;
				if (to == UNICAST)
					dst.addr = is_v6 ? peer6 : ns_addr_v4(RP_PEER);
				if (to == SUBNET || to == LIMITED) {
					expect(dgram_send(s, &dst, big, 1) == -EACCES);
					expect(ns_sock_setopt(rp.stack, s, NS_SO_BROADCAST, 1) ==
					       0);
				}
				EACH(i, lens)
				takes_leave(is_v6, s, b, to, lens[i]);
				rp_drop_out(&rp);
				/* connected, it is the same */
				expect(ns_dgram_connect(rp.stack, s, &dst) == 0);
				expect(ns_dgram_connect(rp.stack, s, NULL) == 0);
				expect(ns_sock_setopt(rp.stack, s, NS_SO_BROADCAST, 0) == 0);
			}
			ns_sock_close(rp.stack, s);
			rp_turn(&rp);
			rp_drop_out(&rp);
		}
	}
}
END_TEST

/* --- echo sockets ------------------------------------------------------------------------------- */

static ns_sock pinger(bool is_v6, uint32_t ifindex)
{
	ns_sock s;

	expect(ns_ping_open(rp.stack, is_v6, &s) == 0);
	if (ifindex)
		expect(ns_sock_setopt(rp.stack, s, NS_SO_BINDTOIFINDEX, (int)ifindex) == 0);
	return s;
}

static void reply(bool is_v6, enum where to, uint16_t id)
{
	struct way w = rp_way(0, 0);

	mac_of(is_v6, to, w.dst_mac);
	if (is_v6) {
		struct ip6_in ip = { .next = 58 };

		memcpy(ip.src, peer6.b, 16);
		memcpy(ip.dst, v6[to].b, 16);
		frame_icmp6(&f, &w, &ip, 129, 0, (uint32_t)id << 16 | 1, "pong", 4);
	} else {
		w.dst = v4[to];
		frame_icmp(&f, &w, 0, 0, (uint32_t)id << 16 | 1, "pong", 4);
	}
	rp_inject(&rp, &f);
}

/* An echo socket is bound to any address or one of ours, never to a group or a broadcast address. */
START_TEST(linux_ping_bound_to_what_asks_and_hears_what)
{
	static const uint32_t links[] = { 0, IFINDEX, 1 };
	bool is_v6 = _i;

	for (enum where b = ANY; b < WHERES; b++) {
		EACH(l, links)
		{
			struct ns_endpoint a = at(is_v6, b, 77), to;
			uint8_t m[12] = { is_v6 ? 128 : 8, [7] = 1, 'p', 'i', 'n', 'g' };
			ns_sock s = pinger(is_v6, links[l]);
			struct ns_iov iov[NS_DGRAM_IOVS];
			struct ns_dgram_rx rx;
			struct seen seen;

			if (!is_in(is_v6, b))
				continue;
			if (b > UNICAST) {
				if (is_v6)
					a.addr = ns_addr_zoned(a.addr, IFINDEX);
				expect(ns_sock_bind(rp.stack, s, &a) ==
				       (is_v6 ? -EINVAL : -EADDRNOTAVAIL));
				ns_sock_close(rp.stack, s);
				continue;
			}
			expect(ns_sock_bind(rp.stack, s, &a) == 0);
			to = (struct ns_endpoint){ is_v6 ? peer6 : ns_addr_v4(RP_PEER), 0 };
			if (links[l] != 1) {
				expect(dgram_send(s, &to, m, sizeof(m)) == 0);
				expect(rp_take(&rp, &seen) && seen.icmp_type == m[0] &&
				       seen.icmp_rest == (77u << 16 | 1));
			}
			reply(is_v6, UNICAST, 77);
			expect((ns_dgram_peek(rp.stack, s, 0, &rx, iov) == 1) == (links[l] != 1));
			ns_sock_close(rp.stack, s);
			rp_turn(&rp);
			rp_drop_out(&rp);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dgram");
	TCase *tc = tcase_create("matrix");

	tcase_add_checked_fixture(tc, setup, conf_teardown);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (uint8_t)(i * 7);
	tcase_add_loop_test(tc, linux_udp_bound_to_what_hears_what, 0, 2);
	tcase_add_loop_test(tc, linux_udp_bound_to_what_sends_where, 0, 2);
	tcase_add_loop_test(tc, linux_ping_bound_to_what_asks_and_hears_what, 0, 2);
	return conf_run(s);
}
