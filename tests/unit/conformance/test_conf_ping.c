/* SPDX-License-Identifier: Apache-2.0 */
/* test_conf_ping.c - echo sockets, as linux v6.1 net/ipv4/ping.c: RFC 792, RFC 4443 4 */
#include "dgram.h"

#include "support/frame.h"

enum {
	IFINDEX = 2,
	ID = 0x1234, /* what programs write, and nobody sends */
};

static struct frame f;

static const struct ns_addr us6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 2 } };
static const struct ns_addr peer6 = { { 0x20, 1, 0x0d, 0xb8, [15] = 1 } };

static void setup(void)
{
	const uint8_t mac[6] = RP_PEER_MAC;

	conf_setup();
	expect(ns_stack_add_neigh(rp.stack, rp.link_id, &peer6, mac) == 0);
}

static ns_sock opened(bool is_v6)
{
	ns_sock s;

	expect(ns_ping_open(rp.stack, is_v6, &s) == 0);
	return s;
}

static uint16_t id_of(ns_sock s)
{
	struct ns_endpoint local;

	expect(ns_sock_local(rp.stack, s, &local) == 0);
	return local.port;
}

static struct ns_endpoint at(struct ns_addr a, uint16_t port)
{
	return (struct ns_endpoint){ a, port };
}

static struct ns_endpoint peer(void)
{
	return at(ns_addr_v4(RP_PEER), 0);
}

/* An echo request with sequence number 7, checksum and identifier wrong, and @text. */
static int ask(ns_sock s, const struct ns_endpoint *to, uint8_t type, uint8_t code,
	       const char *text)
{
	uint8_t m[64] = { type, code, 0xbe, 0xef, ID >> 8, ID & 0xff, 0, 7 };

	memcpy(m + 8, text, strlen(text));
	return dgram_send(s, to, m, 8 + strlen(text));
}

/* The request that left; its identifier. */
static uint16_t asked(uint8_t type, const char *text)
{
	struct seen s;

	expect(rp_take(&rp, &s) && !s.is_bad && s.icmp_type == type && s.icmp_code == 0);
	expect((s.icmp_rest & 0xffff) == 7);
	expect(s.data_len == strlen(text) && memcmp(s.data, text, s.data_len) == 0);
	return (uint16_t)(s.icmp_rest >> 16);
}

static void answer(uint16_t id, const char *text)
{
	struct way w = rp_way(0, 0);

	frame_icmp(&f, &w, 0, 0, (uint32_t)id << 16 | 7, text, (uint32_t)strlen(text));
	rp_inject(&rp, &f);
}

static void answer6(uint16_t id, const char *text)
{
	struct way w = rp_way(0, 0);
	struct ip6_in ip = { .next = 58 };

	memcpy(ip.src, peer6.b, 16);
	memcpy(ip.dst, us6.b, 16);
	frame_icmp6(&f, &w, &ip, 129, 0, (uint32_t)id << 16 | 7, text, (uint32_t)strlen(text));
	rp_inject(&rp, &f);
}

/* The oldest message of @s is a reply with @text, whole. */
static bool heard(ns_sock s, uint8_t type, const char *text, struct ns_dgram_rx *ret_rx)
{
	struct ns_iov iov[NS_DGRAM_IOVS];
	const uint8_t *m;
	bool is_right;

	if (ns_dgram_peek(rp.stack, s, 0, ret_rx, iov) != 1)
		return false;
	m = iov[0].base;
	is_right = ret_rx->len == 8 + strlen(text) && m[0] == type && m[1] == 0 &&
		   ((uint32_t)m[4] << 8 | m[5]) == id_of(s) && m[7] == 7 &&
		   memcmp(m + 8, text, strlen(text)) == 0;
	ns_dgram_consume(rp.stack, s, 1);
	return is_right;
}

START_TEST(rfc792_echo_sockets_ask_and_hear_the_answer)
{
	ns_sock s = opened(false), other_sock = opened(false);
	struct ns_endpoint to = peer();
	struct ns_dgram_rx rx;
	uint16_t id;

	expect(ask(s, &to, 8, 0, "are you there") == 0);
	id = asked(8, "are you there");
	expect(id != 0 && id == id_of(s));
	answer(id, "are you there");
	expect(heard(s, 0, "are you there", &rx));
	expect(ns_addr_to_v4(&rx.from.addr) == RP_PEER && rx.from.port == 0);
	expect(rx.ifindex == IFINDEX && rx.ttl == 64);
	/* nobody else hears it, and an answer for nobody is nobody's */
	expect(ns_dgram_peek(rp.stack, other_sock, 0, &rx, (struct ns_iov[NS_DGRAM_IOVS]){ 0 }) ==
	       -EAGAIN);
	answer((uint16_t)(id + 1), "x");
	expect(moved("ICMP_IGNORED") == 1);
	expect(ns_dgram_peek(rp.stack, s, 0, &rx, (struct ns_iov[NS_DGRAM_IOVS]){ 0 }) == -EAGAIN);
}
END_TEST

START_TEST(rfc4443_s4_echo_sockets_of_icmpv6)
{
	ns_sock s = opened(true);
	struct ns_endpoint to = at(peer6, 0), v4 = peer();
	struct ns_dgram_rx rx;
	uint16_t id;

	expect(ask(s, &to, 128, 0, "six") == 0);
	id = asked(128, "six");
	expect(id == id_of(s));
	answer6(id, "six");
	expect(heard(s, 129, "six", &rx) && ns_addr_eq(&rx.from.addr, &peer6));
	/* of one family only, and so is what they ask */
	expect(ask(s, &v4, 8, 0, "x") < 0);
	expect(ask(s, &to, 8, 0, "x") == -EINVAL);
	answer(id, "four");
	expect(ns_dgram_peek(rp.stack, s, 0, &rx, (struct ns_iov[NS_DGRAM_IOVS]){ 0 }) == -EAGAIN);
}
END_TEST

START_TEST(echo_requests_are_all_that_is_sent)
{
	static const uint8_t types[] = { 0, 3, 5, 11, 13, 42, 128 };
	ns_sock s = opened(false);
	struct ns_endpoint to = peer(), six = at(peer6, 0);

	for (size_t i = 0; i < sizeof(types); i++)
		expect(ask(s, &to, types[i], 0, "x") == -EINVAL);
	expect(ask(s, &to, 8, 1, "x") == -EINVAL);
	expect(dgram_send(s, &to, "\10\0\0\0\0\0\0", 7) == -EINVAL);
	expect(dgram_send(s, &to, "", 0) == -EINVAL);
	expect(ask(s, NULL, 8, 0, "x") == -EDESTADDRREQ);
	expect(ask(s, &six, 128, 0, "x") == -EAFNOSUPPORT);
	expect_silence();
}
END_TEST

START_TEST(the_identifier_is_the_port)
{
	ns_sock s = opened(false), t = opened(false);
	struct ns_endpoint any = at(ns_addr_v4(0), 77), to = peer(), local;
	struct ns_dgram_rx rx;

	expect(ns_sock_bind(rp.stack, s, &any) == 0 && id_of(s) == 77);
	expect(ns_sock_bind(rp.stack, t, &any) == -EADDRINUSE);
	expect(ask(s, &to, 8, 0, "x") == 0 && asked(8, "x") == 77);
	/* connected: the port that was named counts for nothing but getpeername() */
	to.port = 1025;
	expect(ns_dgram_connect(rp.stack, s, &to) == 0);
	expect(ns_sock_local(rp.stack, s, &local) == 0 && ns_addr_to_v4(&local.addr) == RP_STACK);
	expect(ask(s, NULL, 8, 0, "y") == 0 && asked(8, "y") == 77);
	answer(77, "y");
	expect(heard(s, 0, "y", &rx));
	ns_sock_close(rp.stack, s);
	expect(ns_sock_bind(rp.stack, t, &any) == 0);
}
END_TEST

START_TEST(rfc1122_s3_2_2_errors_about_echo_requests_are_told)
{
	ns_sock s = opened(false), quiet = opened(false);
	struct ns_endpoint to = peer();
	struct way w = rp_way(0, 0), back = rp_way(0, 0);
	static struct frame quoted;
	struct ns_dgram_err e;

	expect(ns_sock_setopt(rp.stack, s, NS_IP_RECVERR, 1) == 0);
	expect(ask(s, &to, 8, 0, "x") == 0 && ask(quiet, &to, 8, 0, "x") == 0);
	asked(8, "x");
	asked(8, "x");
	for (uint32_t i = 0; i < 2; i++) {
		back.src = RP_STACK;
		back.dst = RP_PEER;
		frame_icmp(&quoted, &back, 8, 0, (uint32_t)id_of(i ? quiet : s) << 16 | 7, "x", 1);
		frame_icmp(&f, &w, 11, 0, 0, quoted.b + ETH_LEN, 28);
		rp_inject(&rp, &f);
	}
	expect(rp_event(&rp, s, NS_EV_ERR, NULL));
	expect(dgram_error(s, &e) && e.err == -EHOSTUNREACH && e.type == 11 && e.code == 0);
	expect(e.to.port == 7); /* the sequence number */
	expect(!dgram_error(quiet, &e));
	/* about an answer of ours: nobody's */
	frame_icmp(&quoted, &back, 0, 0, (uint32_t)id_of(s) << 16 | 7, "x", 1);
	frame_icmp(&f, &w, 3, 1, 0, quoted.b + ETH_LEN, 28);
	rp_inject(&rp, &f);
	expect(!dgram_error(s, &e) && moved("ICMP_NO_MATCH") == 1);
}
END_TEST

START_TEST(we_answer_ourselves)
{
	ns_sock s = opened(false), six = opened(true);
	struct ns_endpoint self = at(ns_addr_v4(0x7f000001), 0), self6 = at(us6, 0);
	struct ns_dgram_rx rx;

	expect(ask(s, &self, 8, 0, "me") == 0);
	expect(heard(s, 0, "me", &rx));
	expect(ask(six, &self6, 128, 0, "me") == 0);
	expect(heard(six, 129, "me", &rx));
	expect_silence();
}
END_TEST

START_TEST(long_echo_requests_are_cut_and_the_longest_is_65507)
{
	static uint8_t m[65536] = { 8 };
	ns_sock s = opened(false);
	struct ns_endpoint to = peer(), self = at(ns_addr_v4(0x7f000001), 0);
	struct ns_dgram_rx rx;
	struct ns_iov iov[NS_DGRAM_IOVS];
	struct seen seen;

	expect(ns_sock_setopt(rp.stack, s, NS_SO_RCVBUF, 1 << 20) == 0);
	expect(dgram_send(s, &to, m, 3000) == 0);
	for (uint32_t i = 0; i < 3; i++)
		expect(rp_take(&rp, &seen) && seen.kind == SEEN_IP4 && seen.proto == 1);
	expect(dgram_send(s, &self, m, 65516) == -EMSGSIZE);
	expect(dgram_send(s, &self, m, 65515) == 0);
	expect(ns_dgram_peek(rp.stack, s, 0, &rx, iov) > 1 && rx.len == 65515);
	ns_dgram_consume(rp.stack, s, 1);
	expect_silence();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("conformance.ping");
	TCase *tc = tcase_create("ping");

	tcase_add_checked_fixture(tc, setup, conf_teardown);
	suite_add_tcase(s, tc);
	tcase_add_test(tc, rfc792_echo_sockets_ask_and_hear_the_answer);
	tcase_add_test(tc, rfc4443_s4_echo_sockets_of_icmpv6);
	tcase_add_test(tc, echo_requests_are_all_that_is_sent);
	tcase_add_test(tc, the_identifier_is_the_port);
	tcase_add_test(tc, rfc1122_s3_2_2_errors_about_echo_requests_are_told);
	tcase_add_test(tc, we_answer_ourselves);
	tcase_add_test(tc, long_echo_requests_are_cut_and_the_longest_is_65507);
	return conf_run(s);
}
