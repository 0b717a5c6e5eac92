/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_args.c - daemon/agent/agent_args.c: arguments of trapped calls, as Linux checks them */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "daemon/agent/agent_args.h"

/* The program's memory: readable and writable in [BASE, BASE + sizeof(ram)), nothing else is. */
#define BASE 0x7f0000001000ull

static uint8_t ram[4096];

static bool is_mapped(uint64_t addr, size_t len)
{
	return addr >= BASE && len <= sizeof(ram) && addr - BASE <= sizeof(ram) - len;
}

static int ram_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	(void)ctx;
	if (!is_mapped(addr, len))
		return -EFAULT;
	memcpy(buf, ram + (addr - BASE), len);
	return 0;
}

static int ram_write(void *ctx, uint64_t addr, const void *buf, size_t len)
{
	(void)ctx;
	if (!is_mapped(addr, len))
		return -EFAULT;
	memcpy(ram + (addr - BASE), buf, len);
	return 0;
}

static const struct args_mem mem = { .read = ram_read, .write = ram_write };

static void setup(void)
{
	memset(ram, 0xee, sizeof(ram));
}

static void put_in4(uint64_t addr, uint16_t family, uint32_t ip, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = family,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(ip) };

	memcpy(ram + (addr - BASE), &in, sizeof(in));
}

/* ---- addresses in ---- */

static const struct {
	const char *what;
	uint16_t family; /* in the address */
	uint32_t ip;
	uint64_t len;
	enum args_use use;
	int want;
} in4[] = {
	{ "plain", AF_INET, 0x0a000001, 16, ARGS_BIND, 0 },
	{ "longer is fine", AF_INET, 0x0a000001, 128, ARGS_BIND, 0 },
	{ "too long", AF_INET, 0x0a000001, 129, ARGS_BIND, -EINVAL },
	{ "length 2^31 - 1", AF_INET, 0x0a000001, 0x7fffffff, ARGS_BIND, -EINVAL },
	{ "negative length", AF_INET, 0x0a000001, 0xffffffff, ARGS_BIND, -EINVAL },
	{ "only the low half of the length counts", AF_INET, 1, 0x100000010ull, ARGS_BIND, 0 },
	{ "too short", AF_INET, 0x0a000001, 15, ARGS_BIND, -EINVAL },
	{ "length 0", AF_INET, 0x0a000001, 0, ARGS_BIND, -EINVAL },
	{ "bind: unspec and any is an old habit", AF_UNSPEC, 0, 16, ARGS_BIND, 0 },
	{ "bind: unspec with an address", AF_UNSPEC, 1, 16, ARGS_BIND, -EAFNOSUPPORT },
	{ "bind: another family", AF_UNIX, 1, 16, ARGS_BIND, -EAFNOSUPPORT },
	{ "connect: plain", AF_INET, 1, 16, ARGS_CONNECT, 0 },
	{ "connect: shorter than a family", AF_INET, 1, 1, ARGS_CONNECT, -EINVAL },
	{ "connect: shorter than an address", AF_INET, 1, 8, ARGS_CONNECT, -EINVAL },
	{ "connect: another family", AF_INET6, 1, 28, ARGS_CONNECT, -EAFNOSUPPORT },
	{ "connect: unspec, short", AF_UNSPEC, 1, 2, ARGS_CONNECT, 0 },
};

START_TEST(address_is_checked_as_linux_does)
{
	struct args_addr addr;

	put_in4(BASE, in4[_i].family, in4[_i].ip, 80);
	ck_assert_msg(args_addr_in(&mem, AF_INET, in4[_i].use, BASE, in4[_i].len, &addr) ==
			      in4[_i].want,
		      "%s", in4[_i].what);
	if (in4[_i].want != 0)
		return;
	ck_assert_int_eq(addr.is_unspec,
			 in4[_i].use == ARGS_CONNECT && in4[_i].family == AF_UNSPEC);
	if (!addr.is_unspec) {
		ck_assert_uint_eq(ns_addr_to_v4(&addr.ep.addr), in4[_i].ip);
		ck_assert_uint_eq(addr.ep.port, 80);
	}
}
END_TEST

START_TEST(address_that_is_not_there_is_efault)
{
	struct args_addr addr;
	const uint64_t bad[] = { 0, 8, BASE - 1, BASE + sizeof(ram) - 15, UINT64_MAX };

	for (size_t i = 0; i < NS_ARRAY_LEN(bad); i++)
		ck_assert_int_eq(args_addr_in(&mem, AF_INET, ARGS_BIND, bad[i], 16, &addr),
				 -EFAULT);
}
END_TEST

START_TEST(ipv6_address_mapped_and_short_forms)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(443) };
	struct args_addr addr;

	in6.sin6_addr.s6_addr[10] = in6.sin6_addr.s6_addr[11] = 0xff;
	in6.sin6_addr.s6_addr[12] = 10;
	in6.sin6_addr.s6_addr[15] = 1;
	memcpy(ram, &in6, sizeof(in6));
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_CONNECT, BASE, 28, &addr), 0);
	ck_assert_uint_eq(ns_addr_to_v4(&addr.ep.addr), 0x0a000001);
	ck_assert_uint_eq(addr.ep.port, 443);
	/* without scope (RFC 2133), and shorter than that */
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_CONNECT, BASE, 24, &addr), 0);
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_CONNECT, BASE, 23, &addr), -EINVAL);
	/* an address of IPv4 on a socket of IPv6 */
	put_in4(BASE, AF_INET, 0x0a000001, 80);
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_BIND, BASE, 28, &addr), -EAFNOSUPPORT);
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_CONNECT, BASE, 28, &addr),
			 -EAFNOSUPPORT);
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_CONNECT, BASE, 16, &addr), -EINVAL);
	for (int use = ARGS_CONNECT_DGRAM; use <= ARGS_SEND; use++) {
		ck_assert_int_eq(args_addr_in(&mem, AF_INET6, (enum args_use)use, BASE, 16, &addr),
				 0);
		ck_assert(addr.is_in4);
		ck_assert_uint_eq(ns_addr_to_v4(&addr.ep.addr), 0x0a000001);
		ck_assert_uint_eq(addr.ep.port, 80);
		ck_assert_int_eq(args_addr_in(&mem, AF_INET6, (enum args_use)use, BASE, 15, &addr),
				 -EINVAL);
	}
}
END_TEST

START_TEST(ipv6_link_local_needs_its_scope_and_gives_it_back)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(443) }, got;
	const uint64_t at = BASE + 64, len_at = BASE + 128;
	const int32_t len = sizeof(got);
	struct args_addr addr;

	in6.sin6_addr.s6_addr[0] = 0xfe;
	in6.sin6_addr.s6_addr[1] = 0x80;
	in6.sin6_addr.s6_addr[15] = 7;
	memcpy(ram, &in6, sizeof(in6));
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_CONNECT, BASE, 28, &addr), -EINVAL);
	in6.sin6_scope_id = 0x10000;
	memcpy(ram, &in6, sizeof(in6));
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_BIND, BASE, 28, &addr), -ENODEV);
	in6.sin6_scope_id = 0x1234;
	memcpy(ram, &in6, sizeof(in6));
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_BIND, BASE, 24, &addr), -EINVAL);
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_BIND, BASE, 28, &addr), 0);
	ck_assert_uint_eq(ns_addr_zone(&addr.ep.addr), 0x1234);
	memcpy(ram + 128, &len, sizeof(len));
	ck_assert_int_eq(args_addr_out(&mem, AF_INET6, &addr.ep, at, len_at), 0);
	memcpy(&got, ram + 64, sizeof(got));
	ck_assert_mem_eq(&got, &in6, sizeof(got));
	/* octets that would be another's zone */
	in6.sin6_addr.s6_addr[3] = 2;
	memcpy(ram, &in6, sizeof(in6));
	ck_assert_int_eq(args_addr_in(&mem, AF_INET6, ARGS_BIND, BASE, 28, &addr), -EINVAL);
}
END_TEST

/* ---- addresses out ---- */

START_TEST(address_is_cut_to_the_room_and_its_length_told)
{
	struct ns_endpoint ep = { .addr = ns_addr_v4(0x0a000002), .port = 0x1234 };
	struct sockaddr_in want = { .sin_family = AF_INET,
				    .sin_port = htons(0x1234),
				    .sin_addr.s_addr = htonl(0x0a000002) };
	const int rooms[] = { 0, 1, 7, 15, 16, 17, 128, INT_MAX };

	for (size_t i = 0; i < NS_ARRAY_LEN(rooms); i++) {
		size_t n = rooms[i] > 16 ? 16 : (size_t)rooms[i];
		int32_t len = rooms[i];

		setup();
		memcpy(ram + 256, &len, sizeof(len));
		ck_assert_int_eq(args_addr_out(&mem, AF_INET, &ep, BASE, BASE + 256), 0);
		ck_assert_int_eq(memcmp(ram, &want, n), 0);
		ck_assert_uint_eq(ram[n], 0xee);
		memcpy(&len, ram + 256, sizeof(len));
		ck_assert_int_eq(len, 16);
	}
}
END_TEST

START_TEST(address_out_refuses_what_linux_refuses)
{
	struct ns_endpoint ep = { .addr = ns_addr_v4(1), .port = 1 };
	int32_t len = -1;

	memcpy(ram + 256, &len, sizeof(len));
	ck_assert_int_eq(args_addr_out(&mem, AF_INET, &ep, BASE, BASE + 256), -EINVAL);
	ck_assert_int_eq(args_addr_out(&mem, AF_INET, &ep, BASE, 0), -EFAULT);
	len = 16;
	memcpy(ram + 256, &len, sizeof(len));
	ck_assert_int_eq(args_addr_out(&mem, AF_INET, &ep, 0, BASE + 256), -EFAULT);
	len = 0; /* nothing to write, so nothing to fault on */
	memcpy(ram + 256, &len, sizeof(len));
	ck_assert_int_eq(args_addr_out(&mem, AF_INET, &ep, 0, BASE + 256), 0);
}
END_TEST

START_TEST(ipv6_address_out_is_28_octets)
{
	struct ns_endpoint ep = { .addr = ns_addr_v4(0x0a000002), .port = 80 };
	struct sockaddr_in6 got;
	int32_t len = 100;

	memcpy(ram + 256, &len, sizeof(len));
	ck_assert_int_eq(args_addr_out(&mem, AF_INET6, &ep, BASE, BASE + 256), 0);
	memcpy(&len, ram + 256, sizeof(len));
	memcpy(&got, ram, sizeof(got));
	ck_assert_int_eq(len, sizeof(got));
	ck_assert(IN6_IS_ADDR_V4MAPPED(&got.sin6_addr));
	ck_assert_uint_eq(got.sin6_port, htons(80));
	ck_assert_uint_eq(got.sin6_scope_id, 0);
}
END_TEST

/* ---- options ---- */

START_TEST(option_value_is_cut_and_zeroed_behind)
{
	uint8_t buf[16];

	ck_assert_int_eq(args_opt_in(&mem, BASE, 4, buf, sizeof(buf)), 4);
	ck_assert_uint_eq(buf[3], 0xee);
	ck_assert_uint_eq(buf[4], 0);
	ck_assert_int_eq(args_opt_in(&mem, BASE, 1000, buf, sizeof(buf)), 1000);
	ck_assert_int_eq(args_opt_in(&mem, BASE, 0, buf, sizeof(buf)), 0);
	ck_assert_int_eq(args_opt_in(&mem, 0, 0, buf, sizeof(buf)), 0);
	ck_assert_int_eq(args_opt_in(&mem, 0, 4, buf, sizeof(buf)), -EFAULT);
	ck_assert_int_eq(args_opt_in(&mem, BASE, 0xffffffff, buf, sizeof(buf)), -EINVAL);
}
END_TEST

START_TEST(option_result_is_cut_to_the_room)
{
	uint32_t val = 0x11223344;
	int32_t len = 2;

	memcpy(ram + 256, &len, sizeof(len));
	ck_assert_int_eq(args_opt_len_in(&mem, BASE + 256), 2);
	ck_assert_int_eq(args_opt_out(&mem, BASE, BASE + 256, 2, &val, sizeof(val)), 0);
	ck_assert_int_eq(memcmp(ram, &val, 2), 0);
	ck_assert_uint_eq(ram[2], 0xee);
	memcpy(&len, ram + 256, sizeof(len));
	ck_assert_int_eq(len, 2);
	ck_assert_int_eq(args_opt_out(&mem, BASE, BASE + 256, 100, &val, sizeof(val)), 0);
	memcpy(&len, ram + 256, sizeof(len));
	ck_assert_int_eq(len, 4);
	ck_assert_int_eq(args_opt_out(&mem, 0, BASE + 256, 4, &val, sizeof(val)), -EFAULT);
	ck_assert_int_eq(args_opt_out(&mem, BASE, 0, 4, &val, sizeof(val)), -EFAULT);
	len = -5;
	memcpy(ram + 256, &len, sizeof(len));
	ck_assert_int_eq(args_opt_len_in(&mem, BASE + 256), -EINVAL);
	ck_assert_int_eq(args_opt_len_in(&mem, 8), -EFAULT);
}
END_TEST

/* ---- messages ---- */

static void put_iov(size_t i, uint64_t base, uint64_t len)
{
	struct iovec v = { (void *)(uintptr_t)base, len };

	memcpy(ram + 1024 + i * sizeof(v), &v, sizeof(v));
}

START_TEST(iovecs_are_gathered_up_to_the_first_that_is_not_there)
{
	uint8_t buf[64];

	memcpy(ram, "abcdef", 6);
	put_iov(0, BASE, 3);
	put_iov(1, 0, 0); /* length 0: its address does not matter */
	put_iov(2, BASE + 3, 3);
	put_iov(3, 8, 5);
	ck_assert_int_eq(args_gather(&mem, BASE + 1024, 3, buf, sizeof(buf)), 6);
	ck_assert_int_eq(memcmp(buf, "abcdef", 6), 0);
	ck_assert_int_eq(args_gather(&mem, BASE + 1024, 4, buf, sizeof(buf)), 6);
	ck_assert_int_eq(args_gather(&mem, BASE + 1024 + 3 * sizeof(struct iovec), 1, buf, 64),
			 -EFAULT);
	ck_assert_int_eq(args_gather(&mem, BASE + 1024, 3, buf, 4), 4);
	ck_assert_int_eq(args_gather(&mem, 0, 1, buf, sizeof(buf)), -EFAULT);
	ck_assert_int_eq(args_gather(&mem, BASE + 1024, 1025, buf, sizeof(buf)), -EINVAL);
	put_iov(0, BASE, UINT64_MAX);
	ck_assert_int_eq(args_gather(&mem, BASE + 1024, 1, buf, sizeof(buf)), -EINVAL);
	put_iov(0, BASE, INT_MAX);
	put_iov(1, BASE, INT_MAX);
	/* each is possible, their sum is not; the first is not there as a whole either */
	ck_assert_int_lt(args_gather(&mem, BASE + 1024, 2, NULL, 0), 0);
}
END_TEST

START_TEST(message_header_is_read_once_and_bounded)
{
	struct msghdr m = { .msg_iovlen = 1024, .msg_namelen = 16 };
	struct args_msg msg;

	memcpy(ram, &m, sizeof(m));
	ck_assert_int_eq(args_msg_in(&mem, BASE, &msg), 0);
	ck_assert_uint_eq(msg.iov_cnt, 1024);
	ck_assert_uint_eq(msg.name_len, 16);
	m.msg_iovlen = 1025;
	memcpy(ram, &m, sizeof(m));
	ck_assert_int_eq(args_msg_in(&mem, BASE, &msg), -EMSGSIZE);
	m.msg_iovlen = (size_t)1 << 40;
	memcpy(ram, &m, sizeof(m));
	ck_assert_int_eq(args_msg_in(&mem, BASE, &msg), -EMSGSIZE);
	ck_assert_int_eq(args_msg_in(&mem, BASE + sizeof(ram) - 8, &msg), -EFAULT);
}
END_TEST

START_TEST(octets_are_scattered_and_cut)
{
	put_iov(0, BASE, 2);
	put_iov(1, BASE + 100, 0);
	put_iov(2, BASE + 200, 10);
	put_iov(3, 8, 10);
	ck_assert_int_eq(args_scatter(&mem, BASE + 1024, 3, "abcdef", 6), 6);
	ck_assert_int_eq(memcmp(ram, "ab\xee", 3), 0);
	ck_assert_int_eq(memcmp(ram + 200, "cdef\xee", 5), 0);
	ck_assert_int_eq(args_scatter(&mem, BASE + 1024, 1, "abcdef", 6), 2);
	ck_assert_int_eq(args_scatter(&mem, BASE + 1024, 4, "0123456789abcdef", 16), -EFAULT);
	ck_assert_int_eq(args_scatter(&mem, 0, 1, "a", 1), -EFAULT);
	ck_assert_int_eq(args_scatter(&mem, 0, 1, "a", 0), 0);
	ck_assert_int_eq(args_scatter(&mem, BASE, 1025, "a", 1), -EINVAL);
	put_iov(0, BASE, UINT64_MAX);
	ck_assert_int_eq(args_scatter(&mem, BASE + 1024, 1, "a", 1), -EINVAL);
}
END_TEST

START_TEST(message_header_is_written_back)
{
	struct msghdr m;
	struct ns_endpoint ep = { ns_addr_v4(0x0a000001), 53 };

	ck_assert_int_eq(args_msg_out(&mem, BASE, 16, 24, MSG_TRUNC), 0);
	memcpy(&m, ram, sizeof(m));
	ck_assert_uint_eq(m.msg_namelen, 16);
	ck_assert_uint_eq(m.msg_controllen, 24);
	ck_assert_int_eq(m.msg_flags, MSG_TRUNC);
	ck_assert_uint_eq((uint64_t)(uintptr_t)m.msg_iov, 0xeeeeeeeeeeeeeeee);
	ck_assert_int_eq(args_msg_out(&mem, BASE + sizeof(ram) - 20, 16, 24, 0), -EFAULT);
	ck_assert_int_eq(args_name_out(&mem, AF_INET, &ep, BASE, 4), 16);
	ck_assert_int_eq(args_name_out(&mem, AF_INET6, &ep, BASE, 128), 28);
	ck_assert_int_eq(args_name_out(&mem, AF_INET, &ep, 8, 16), -EFAULT);
	ck_assert_int_eq(args_name_out(&mem, AF_INET, &ep, 8, 0x80000000), -EINVAL);
}
END_TEST

static size_t control_put(uint8_t *buf, size_t at, int level, int type, const void *val, size_t len)
{
	struct cmsghdr h = { .cmsg_len = CMSG_LEN(len), .cmsg_level = level, .cmsg_type = type };

	memcpy(buf + at, &h, sizeof(h));
	memcpy(buf + at + CMSG_LEN(0), val, len);
	return at + CMSG_SPACE(len);
}

START_TEST(control_data_is_decoded_as_linux_does)
{
	uint8_t buf[256] = { 0 }, tos = 9;
	struct in_pktinfo info = { .ipi_ifindex = 3, .ipi_spec_dst.s_addr = htonl(0x0a000063) };
	int ttl = 7, big = 256;
	struct args_tx tx;
	size_t len = control_put(buf, 0, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));

	len = control_put(buf, len, IPPROTO_IP, IP_TTL, &ttl, sizeof(ttl));
	len = control_put(buf, len, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	len = control_put(buf, len, 77, 77, &ttl, sizeof(ttl));
	ck_assert_int_eq(args_control_in(buf, len, ARGS_RULES_V4, &tx), 0);
	ck_assert_uint_eq(ns_addr_to_v4(&tx.from), 0x0a000063);
	ck_assert_uint_eq(tx.ifindex, 3);
	ck_assert_int_eq(tx.ttl, 7);
	ck_assert_int_eq(tx.tos, 9);
	ck_assert_int_eq(args_control_in(buf, 0, ARGS_RULES_V4, &tx), 0);
	ck_assert_int_eq(tx.ttl, -1);
	/* a rest that is no header is ignored, one that lies is not */
	ck_assert_int_eq(args_control_in(buf, sizeof(struct cmsghdr) - 1, ARGS_RULES_V4, &tx), 0);
	ck_assert_int_eq(args_control_in(buf, sizeof(struct cmsghdr), ARGS_RULES_V4, &tx), -EINVAL);
	(void)control_put(buf, 0, IPPROTO_IP, IP_PKTINFO, &info, 4);
	ck_assert_int_eq(args_control_in(buf, CMSG_LEN(4), ARGS_RULES_V4, &tx), -EINVAL);
	(void)control_put(buf, 0, IPPROTO_IP, IP_TTL, &big, sizeof(big));
	ck_assert_int_eq(args_control_in(buf, CMSG_LEN(4), ARGS_RULES_V4, &tx), -EINVAL);
	(void)control_put(buf, 0, IPPROTO_IP, 99, &ttl, sizeof(ttl));
	ck_assert_int_eq(args_control_in(buf, CMSG_LEN(4), ARGS_RULES_V4, &tx), -EINVAL);
}
END_TEST

START_TEST(control_data_of_ipv6_by_its_rules)
{
	uint8_t buf[256] = { 0 };
	struct in6_pktinfo info = { .ipi6_ifindex = 3,
				    .ipi6_addr.s6_addr = { 0xfe, 0x80, [15] = 1 } };
	int hops = 7, tclass = -1, one = 1, big = 256;
	struct args_tx tx;
	size_t len = control_put(buf, 0, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));

	len = control_put(buf, len, IPPROTO_IPV6, IPV6_HOPLIMIT, &hops, sizeof(hops));
	len = control_put(buf, len, IPPROTO_IPV6, IPV6_TCLASS, &tclass, sizeof(tclass));
	len = control_put(buf, len, IPPROTO_IPV6, IPV6_DONTFRAG, &one, sizeof(one));
	len = control_put(buf, len, IPPROTO_IP, IP_TTL, &big, sizeof(big)); /* not of this level */
	ck_assert_int_eq(args_control_in(buf, len, ARGS_RULES_V6, &tx), 0);
	ck_assert_uint_eq(ns_addr_zone(&tx.from), 3);
	ck_assert_uint_eq(tx.ifindex, 3);
	ck_assert(tx.ttl == 7 && tx.tos == -1 && tx.dontfrag == 1);
	/* IPv4 by a socket of IPv6: the source may be a mapped one, the rest is of the other level */
	ck_assert_int_eq(args_control_in(buf, CMSG_SPACE(sizeof(info)), ARGS_RULES_MAPPED, &tx),
			 -EINVAL);
	memset(&info.ipi6_addr, 0, sizeof(info.ipi6_addr));
	memset(info.ipi6_addr.s6_addr + 10, 0xff, 3);
	(void)control_put(buf, 0, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	ck_assert_int_eq(args_control_in(buf, CMSG_SPACE(sizeof(info)), ARGS_RULES_MAPPED, &tx), 0);
	ck_assert_uint_eq(ns_addr_to_v4(&tx.from), 0xff000000);
	/* link-local without a link, and values out of range */
	info = (struct in6_pktinfo){ .ipi6_addr.s6_addr = { 0xfe, 0x80, [15] = 1 } };
	(void)control_put(buf, 0, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	ck_assert_int_eq(args_control_in(buf, CMSG_SPACE(sizeof(info)), ARGS_RULES_V6, &tx),
			 -EINVAL);
	(void)control_put(buf, 0, IPPROTO_IPV6, IPV6_HOPLIMIT, &big, sizeof(big));
	ck_assert_int_eq(args_control_in(buf, CMSG_LEN(4), ARGS_RULES_V6, &tx), -EINVAL);
	(void)control_put(buf, 0, IPPROTO_IPV6, 4711, &one, sizeof(one));
	ck_assert_int_eq(args_control_in(buf, CMSG_LEN(4), ARGS_RULES_V6, &tx), -EINVAL);
}
END_TEST

/* hostile-inputs 69: what the size may be is for the stack; here it must be one of 16 bits */
START_TEST(segment_size_is_two_octets_at_its_level)
{
	static const uint16_t sizes[] = { 0, 1, 1200, 65535 };
	uint8_t buf[64] = { 0 };
	uint32_t four = 1200;
	struct args_tx tx;

	for (size_t i = 0; i < NS_ARRAY_LEN(sizes); i++) {
		(void)control_put(buf, 0, IPPROTO_UDP, UDP_SEGMENT, &sizes[i], sizeof(sizes[i]));
		ck_assert_int_eq(args_control_in(buf, CMSG_LEN(2), ARGS_RULES_V6, &tx), 0);
		ck_assert(tx.has_gso && tx.gso_size == sizes[i]);
	}
	(void)control_put(buf, 0, IPPROTO_UDP, UDP_SEGMENT, &four, sizeof(four));
	ck_assert_int_eq(args_control_in(buf, CMSG_LEN(4), ARGS_RULES_V4, &tx), -EINVAL);
	(void)control_put(buf, 0, IPPROTO_UDP, UDP_GRO, &four, 2);
	ck_assert_int_eq(args_control_in(buf, CMSG_LEN(2), ARGS_RULES_V4, &tx), -EINVAL);
}
END_TEST

/* hostile-inputs 71: control lengths that lie, at every length of the buffer. */
START_TEST(control_lengths_that_lie_are_refused)
{
	static const uint64_t lies[] = {
		0, 1, 15, 17, 4096, UINT64_MAX, UINT64_MAX - 7, 1ull << 63
	};
	struct args_tx tx;

	for (size_t i = 0; i < NS_ARRAY_LEN(lies); i++) {
		for (size_t len = 16; len <= 64; len++) {
			uint8_t *exact = calloc(1, len);

			memcpy(exact, &lies[i], sizeof(lies[i]));
			(void)!args_control_in(exact, len, ARGS_RULES_V4, &tx);
			if (lies[i] < 16 || lies[i] > 64)
				ck_assert_int_eq(args_control_in(exact, len, ARGS_RULES_V4, &tx),
						 -EINVAL);
			free(exact);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent_args");
	TCase *t = tcase_create("agent_args");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_loop_test(t, address_is_checked_as_linux_does, 0, NS_ARRAY_LEN(in4));
	tcase_add_test(t, address_that_is_not_there_is_efault);
	tcase_add_test(t, ipv6_address_mapped_and_short_forms);
	tcase_add_test(t, ipv6_link_local_needs_its_scope_and_gives_it_back);
	tcase_add_test(t, address_is_cut_to_the_room_and_its_length_told);
	tcase_add_test(t, address_out_refuses_what_linux_refuses);
	tcase_add_test(t, ipv6_address_out_is_28_octets);
	tcase_add_test(t, option_value_is_cut_and_zeroed_behind);
	tcase_add_test(t, option_result_is_cut_to_the_room);
	tcase_add_test(t, iovecs_are_gathered_up_to_the_first_that_is_not_there);
	tcase_add_test(t, message_header_is_read_once_and_bounded);
	tcase_add_test(t, octets_are_scattered_and_cut);
	tcase_add_test(t, message_header_is_written_back);
	tcase_add_test(t, control_data_is_decoded_as_linux_does);
	tcase_add_test(t, control_data_of_ipv6_by_its_rules);
	tcase_add_test(t, segment_size_is_two_octets_at_its_level);
	tcase_add_test(t, control_lengths_that_lie_are_refused);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
