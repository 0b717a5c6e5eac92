/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_agent_options.c - daemon/agent/agent_options.c against a TCP socket of the running kernel
 *
 * The kernel is the judge: for each row of the table the same setsockopt() and getsockopt() are made on a
 * native socket and on the table, and errno, length and value must be the same. Where the table means
 * to differ, the exception is written down here with its reason.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/tcp.h>

#include "daemon/agent/agent_options.h"

static struct aopt_values values;
static int native;

static void setup(void)
{
	aopt_init(&values);
	native = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_ge(native, 0);
}

static void setup_dgram(void)
{
	aopt_init_dgram(&values, IPPROTO_UDP);
	native = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_ge(native, 0);
}

static void teardown(void)
{
	close(native);
}

/** is_judged() - rows where the kernel's answer is the one wanted */
static bool is_judged(int level, int name, const char *map, bool is_get)
{
	if (strcmp(map, "REFUSED") == 0 || strcmp(map, "STATE") == 0 || strcmp(map, "NATIVE") == 0)
		return false;
	if (level == IPPROTO_IPV6)
		return false; /* this socket is of IPv4: see ipv6_options_are_not_there_for_ipv4 */
	if (level == IPPROTO_TCP && name == TCP_CONGESTION)
		return false; /* the stack's own list */
	if (level == IPPROTO_TCP && (name == TCP_WINDOW_CLAMP || name == TCP_USER_TIMEOUT) &&
	    is_get)
		return false; /* newer kernels fill in a value of the connection, of sysctl */
	if (level == SOL_SOCKET && name == SO_BINDTODEVICE)
		return false; /* names of links are the agent's: agent_device.c */
	if (level == IPPROTO_IP && name == IP_UNICAST_IF)
		return is_get; /* likewise their numbers */
	if (level == SOL_SOCKET && (name == SO_BINDTOIFINDEX || name == SO_INCOMING_NAPI_ID))
		return is_get;
	if (level == IPPROTO_IP && name == IP_OPTIONS)
		return is_get;
	return true;
}

static int native_get(int level, int name, uint8_t *buf, int *len)
{
	socklen_t n = (socklen_t)*len;
	int r = getsockopt(native, level, name, buf, &n);

	*len = (int)n;
	return r < 0 ? -errno : 0;
}

/** compare_get() - the same length and octets at this room */
static void compare_get(const char *text, int level, int name, int room)
{
	uint8_t want[AOPT_VALUE_MAX] = { 0 };
	struct aopt_result res;
	int want_len = room, r, want_r;
	size_t len;

	want_r = native_get(level, name, want, &want_len);
	r = aopt_get(&values, AF_INET, level, name, room, false, &res);
	ck_assert_msg(r == want_r, "%s room %d: %s, the kernel says %s", text, room, strerror(-r),
		      strerror(-want_r));
	if (r < 0)
		return;
	ck_assert_msg(res.todo == AOPT_DONE, "%s: not answered", text);
	len = res.len < (size_t)room ? res.len : (size_t)room;
	ck_assert_msg((int)len == want_len, "%s room %d: %zu octets, the kernel gives %d", text,
		      room, len, want_len);
	ck_assert_msg(memcmp(res.buf, want, len) == 0, "%s room %d: %08x, the kernel says %08x",
		      text, room, *(const unsigned int *)(const void *)res.buf,
		      *(const unsigned int *)(const void *)want);
}

START_TEST(defaults_and_lengths_are_the_kernels)
{
	static const int rooms[] = { 4, 8, 64, 256, 1, 0, 2, 3 };

	for (size_t i = 0; i < aopt_row_cnt(); i++) {
		const char *text, *map;
		int level, name;

		if (!aopt_row(values.is_dgram, i, &level, &name, &text, &map))
			continue;
		for (size_t k = 0; k < NS_ARRAY_LEN(rooms); k++) {
			if (is_judged(level, name, map, true))
				compare_get(text, level, name, rooms[k]);
		}
	}
}
END_TEST

/** set_both() - the same value on both, compare errors and what is read afterwards */
static void set_both(const char *text, int level, int name, int val, int len)
{
	uint8_t buf[AOPT_VALUE_MAX] = { 0 };
	struct aopt_result res;
	int want = 0, r;

	memcpy(buf, &val, len < 4 ? (size_t)len : 4);
	if (setsockopt(native, level, name, buf, (socklen_t)len) < 0)
		want = -errno;
	r = aopt_set(&values, AF_INET, level, name, buf, len, &res);
	ck_assert_msg(r == want, "%s = %d (%d octets): %s, the kernel says %s", text, val, len,
		      strerror(-r), strerror(-want));
}

/* Ranges, negative values, and what is read back after each. */
START_TEST(values_are_taken_and_refused_as_by_the_kernel)
{
	static const int vals[] = { 0,     1,     2,      3,      4,      5,       6,
				    7,     8,     16,     64,     87,     88,      127,
				    128,   255,   256,    1000,   -1,     -2,      32767,
				    32768, 65536, 100000, 212992, 300000, INT_MAX, INT_MIN };

	for (size_t i = 0; i < aopt_row_cnt(); i++) {
		const char *text, *map;
		int level, name;

		if (!aopt_row(values.is_dgram, i, &level, &name, &text, &map))
			continue;
		if (!is_judged(level, name, map, false))
			continue;
		if (level == SOL_SOCKET && name == SO_LINGER)
			continue; /* a struct: linger_is_a_struct */
		for (size_t k = 0; k < NS_ARRAY_LEN(vals); k++) {
			/* beyond 0..6 it takes CAP_NET_ADMIN, which a container has not and root has */
			if (level == SOL_SOCKET && name == SO_PRIORITY &&
			    (vals[k] < 0 || vals[k] > 6))
				continue;
			set_both(text, level, name, vals[k], 4);
			/* rmem_max and wmem_max are the host's: what is clamped by them differs */
			if (level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF) &&
			    (vals[k] < 0 || vals[k] > 212992))
				continue;
			if (is_judged(level, name, map, true))
				compare_get(text, level, name, 4);
		}
	}
}
END_TEST

START_TEST(short_values_are_refused_as_by_the_kernel)
{
	for (size_t i = 0; i < aopt_row_cnt(); i++) {
		const char *text, *map;
		int level, name;

		if (!aopt_row(values.is_dgram, i, &level, &name, &text, &map))
			continue;
		if (!is_judged(level, name, map, false))
			continue;
		for (int len = 0; len < 4; len++)
			set_both(text, level, name, 1, len);
	}
}
END_TEST

/* hostile-inputs 79: every level and name with lengths that make no sense; nothing may be harmed. */
START_TEST(unknown_options_are_refused_as_by_the_kernel)
{
	static const int levels[] = { SOL_SOCKET, IPPROTO_TCP, -1, 12345, 255 };
	uint8_t buf[AOPT_VALUE_MAX] = { 0 };
	struct aopt_result res;

	for (size_t l = 0; l < NS_ARRAY_LEN(levels); l++) {
		for (int name = 200; name < 260; name++) {
			int want = setsockopt(native, levels[l], name, buf, 4) < 0 ? -errno : 0;

			ck_assert_int_eq(aopt_set(&values, AF_INET, levels[l], name, buf, 4, &res),
					 want);
		}
	}
	for (int level = 0; level < 64; level++) {
		for (int name = -1; name < 128; name++) {
			for (int len = 0; len <= 512; len += 37) {
				int r = aopt_set(&values, AF_INET, level, name, buf, len, &res);

				ck_assert_int_le(r, 0);
				r = aopt_get(&values, AF_INET6, level, name, len, true, &res);
				ck_assert_int_le(r, 0);
				ck_assert_uint_le(res.len, sizeof(res.buf));
			}
		}
	}
}
END_TEST

START_TEST(linger_is_a_struct)
{
	static const struct linger cases[] = { { 1, 0 }, { 1, 5 }, { 0, 7 }, { 2, 1 } };

	for (size_t i = 0; i < NS_ARRAY_LEN(cases); i++) {
		uint8_t buf[AOPT_VALUE_MAX] = { 0 };
		struct aopt_result res;
		struct linger got;
		socklen_t len = sizeof(got);

		memcpy(buf, &cases[i], sizeof(cases[i]));
		ck_assert_int_eq(setsockopt(native, SOL_SOCKET, SO_LINGER, buf, sizeof(got)), 0);
		ck_assert_int_eq(
			aopt_set(&values, AF_INET, SOL_SOCKET, SO_LINGER, buf, sizeof(got), &res),
			0);
		ck_assert_int_eq(res.todo, AOPT_TO_STACK);
		ck_assert_int_eq(res.value, cases[i].l_onoff ? cases[i].l_linger : -1);
		ck_assert_int_eq(getsockopt(native, SOL_SOCKET, SO_LINGER, &got, &len), 0);
		ck_assert_int_eq(aopt_get(&values, AF_INET, SOL_SOCKET, SO_LINGER, 8, false, &res),
				 0);
		ck_assert_uint_eq(res.len, len);
		/* of a lingering that is off, Linux keeps the time; nothing reads it */
		if (got.l_onoff)
			ck_assert_int_eq(memcmp(res.buf, &got, len), 0);
		else
			ck_assert_int_eq(((const struct linger *)(const void *)res.buf)->l_onoff,
					 0);
	}
}
END_TEST

START_TEST(timeouts_are_the_kernels_and_noted)
{
	int64_t tv[2] = { 2, 500000 };
	struct aopt_result res;
	uint8_t buf[AOPT_VALUE_MAX] = { 0 };

	memcpy(buf, tv, sizeof(tv));
	ck_assert_int_eq(aopt_set(&values, AF_INET, SOL_SOCKET, SO_RCVTIMEO, buf, 16, &res), 0);
	ck_assert_int_eq(res.todo, AOPT_TO_KERNEL);
	ck_assert_uint_eq(values.rcv_timeout_ns, 2500000000u);
	ck_assert_int_eq(aopt_set(&values, AF_INET, SOL_SOCKET, SO_SNDTIMEO, buf, 15, &res),
			 -EINVAL);
	tv[1] = 1000000;
	memcpy(buf, tv, sizeof(tv));
	ck_assert_int_eq(aopt_set(&values, AF_INET, SOL_SOCKET, SO_SNDTIMEO, buf, 16, &res), -EDOM);
	ck_assert_uint_eq(values.snd_timeout_ns, 0);
}
END_TEST

START_TEST(ipv6_options_are_not_there_for_ipv4)
{
	uint8_t buf[AOPT_VALUE_MAX] = { 1 };
	struct aopt_result res;
	int want = setsockopt(native, IPPROTO_IPV6, IPV6_V6ONLY, buf, 4) < 0 ? -errno : 0;

	ck_assert_int_eq(aopt_set(&values, AF_INET, IPPROTO_IPV6, IPV6_V6ONLY, buf, 4, &res), want);
	ck_assert_int_eq(aopt_set(&values, AF_INET6, IPPROTO_IPV6, IPV6_V6ONLY, buf, 4, &res), 0);
	ck_assert_int_eq(aopt_value(&values, IPPROTO_IPV6, IPV6_V6ONLY), 1);
}
END_TEST

/* What would show the agent to the program, or let the program steer it. */
START_TEST(options_of_the_pair_are_refused)
{
	static const int names[] = {
		SO_PEERCRED, 59 /* SO_PEERGROUPS */, 76 /* SO_PASSPIDFD */, 77 /* SO_PEERPIDFD */,
		SO_PEERSEC,  83 /* SO_PASSRIGHTS */, SO_ATTACH_FILTER,      SO_ZEROCOPY
	};
	uint8_t buf[AOPT_VALUE_MAX] = { 1 };
	struct aopt_result res;

	for (size_t i = 0; i < NS_ARRAY_LEN(names); i++) {
		ck_assert_int_lt(aopt_set(&values, AF_INET, SOL_SOCKET, names[i], buf, 16, &res),
				 0);
		if (names[i] != SO_ZEROCOPY)
			ck_assert_int_eq(
				aopt_get(&values, AF_INET, SOL_SOCKET, names[i], 16, false, &res),
				-ENOPROTOOPT);
	}
}
END_TEST

/* Offsets of linux 6.18 include/uapi/linux/tcp.h; the kernel under test says how long it is. */
START_TEST(tcp_info_is_laid_out_as_linux_6_18)
{
	struct ns_tcp_info in = {
		.state = 1,
		.snd_wscale = 7,
		.rcv_wscale = 8,
		.rto_us = 0x11111111,
		.reordering = 0x22222222,
		.busy_us = 0x3333333333333333,
		.delivered = 0x44444444,
		.pacing_rate = 0x0909090909090909,
		.max_pacing_rate = 0x0a0a0a0a0a0a0a0a,
		.delivery_rate = 0x0b0b0b0b0b0b0b0b,
		.is_delivery_app_limited = true,
		.reord_seen = 0x55555555,
		.rcv_wnd = 0x66666666,
		.total_rto = 0x7777,
		.total_rto_ms = 0x08080808,
	};
	uint8_t buf[AOPT_VALUE_MAX], kernel[AOPT_VALUE_MAX] = { 0 };
	socklen_t len = sizeof(kernel);
	uint32_t v;
	uint64_t q;
	uint16_t h;

	ck_assert_uint_eq(aopt_tcp_info(&in, buf), 280);
	ck_assert_uint_eq(buf[0], 1);
	ck_assert_uint_eq(buf[6], 0x87);
#define AT(off_, var_, val_)                                                                       \
	do {                                                                                       \
		memcpy(&(var_), buf + (off_), sizeof(var_));                                       \
		ck_assert_uint_eq(var_, val_);                                                     \
	} while (0)
	AT(8, v, 0x11111111);
	ck_assert_uint_eq(buf[7], 1);
	AT(104, q, 0x0909090909090909);
	AT(112, q, 0x0a0a0a0a0a0a0a0a);
	AT(160, q, 0x0b0b0b0b0b0b0b0b);
	AT(88, v, 0x22222222);
	AT(168, q, 0x3333333333333333);
	AT(192, v, 0x44444444);
	AT(220, v, 0x55555555);
	AT(232, v, 0x66666666);
	AT(240, h, 0x7777);
	AT(244, v, 0x08080808);
#undef AT
	ck_assert_int_eq(getsockopt(native, IPPROTO_TCP, TCP_INFO, kernel, &len), 0);
	ck_assert_uint_le(len, 280); /* an older kernel's is shorter */
}
END_TEST

/* linux net/ipv4/tcp.c TCP_CC_INFO: nothing from an algorithm that has no model */
START_TEST(cc_info_is_that_of_bbr)
{
	struct ns_tcp_info in = { .has_bbr = true,
				  .bbr = { .bw = UINT64_C(0x0000000212345678),
					   .min_rtt_us = 1000,
					   .pacing_gain = 739,
					   .cwnd_gain = 512 } };
	const uint32_t want[] = { 0x12345678, 2, 1000, 739, 512 };
	uint8_t buf[AOPT_VALUE_MAX];

	ck_assert_uint_eq(aopt_cc_info(&in, buf), sizeof(want));
	ck_assert_mem_eq(buf, want, sizeof(want));
	in.has_bbr = false;
	ck_assert_uint_eq(aopt_cc_info(&in, buf), 0);
}
END_TEST

START_TEST(pacing_rate_goes_to_the_stack_in_32_bits_or_64)
{
	struct aopt_result res;
	uint64_t rate = 1000000, all = UINT64_MAX, large = UINT64_C(10000000000);
	uint32_t small = 3000000000u;

	ck_assert_int_eq(aopt_set(&values, AF_INET, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, 8, &res),
			 0);
	ck_assert_int_eq(res.todo, AOPT_TO_STACK);
	ck_assert_int_eq(res.option, NS_SO_MAX_PACING_RATE);
	ck_assert_int_eq(res.value, 1000000);
	ck_assert_int_eq(
		aopt_set(&values, AF_INET, SOL_SOCKET, SO_MAX_PACING_RATE, &small, 4, &res), 0);
	ck_assert_uint_eq((uint32_t)res.value, small);
	ck_assert_int_eq(
		aopt_set(&values, AF_INET, SOL_SOCKET, SO_MAX_PACING_RATE, &large, 8, &res), 0);
	ck_assert_int_eq(res.value, -1);
	ck_assert_int_eq(aopt_set(&values, AF_INET, SOL_SOCKET, SO_MAX_PACING_RATE, &all, 8, &res),
			 0);
	ck_assert_int_eq(res.value, -1);
}
END_TEST

START_TEST(congestion_names_are_those_of_the_stack)
{
	static const char *const names[NS_CC_COUNT] = { "cubic", "reno", "bbr" };
	struct aopt_result res;
	char buf[AOPT_VALUE_MAX] = { 0 };

	for (int i = 0; i < NS_CC_COUNT; i++) {
		memset(buf, 0, sizeof(buf));
		memcpy(buf, names[i], strlen(names[i]));
		ck_assert_int_eq(aopt_set(&values, AF_INET, IPPROTO_TCP, TCP_CONGESTION, buf,
					  (int)strlen(names[i]), &res),
				 0);
		ck_assert_int_eq(res.value, i);
		ck_assert_int_eq(
			aopt_get(&values, AF_INET, IPPROTO_TCP, TCP_CONGESTION, 16, true, &res), 0);
		ck_assert_str_eq((const char *)res.buf, names[i]);
	}
	ck_assert_int_eq(aopt_set(&values, AF_INET, IPPROTO_TCP, TCP_CONGESTION, "vegas", 5, &res),
			 -ENOENT);
}
END_TEST

START_TEST(congestion_control_is_the_sandboxs_until_it_is_named)
{
	struct aopt_result res;
	struct ipc_opts opts;

	values.congestion = NS_CC_RENO;
	ck_assert_int_eq(aopt_get(&values, AF_INET, IPPROTO_TCP, TCP_CONGESTION, 16, true, &res),
			 0);
	ck_assert_str_eq((const char *)res.buf, "reno");
	aopt_opts(&values, &opts);
	ck_assert(!ipc_opts_has(&opts, NS_TCP_CONGESTION));
	/* what is the stack's first choice is still a choice */
	ck_assert_int_eq(aopt_set(&values, AF_INET, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5, &res),
			 0);
	aopt_opts(&values, &opts);
	ck_assert(ipc_opts_has(&opts, NS_TCP_CONGESTION));
	ck_assert_int_eq(opts.value[NS_TCP_CONGESTION], NS_CC_CUBIC);
}
END_TEST

START_TEST(stack_is_told_what_differs_from_its_defaults)
{
	uint8_t buf[AOPT_VALUE_MAX] = { 0 };
	struct aopt_result res;
	struct ipc_opts opts;
	int val = 30;

	aopt_opts(&values, &opts);
	for (uint32_t i = 0; i < NS_SOCKOPT_COUNT; i++)
		ck_assert(!ipc_opts_has(&opts, (enum ns_sockopt)i));
	memcpy(buf, &val, sizeof(val));
	ck_assert_int_eq(aopt_set(&values, AF_INET, IPPROTO_TCP, TCP_KEEPIDLE, buf, 4, &res), 0);
	ck_assert_int_eq(res.todo, AOPT_TO_STACK);
	ck_assert_int_eq(res.option, NS_TCP_KEEPIDLE);
	ck_assert_int_eq(res.value, 30);
	ck_assert_int_eq(aopt_set(&values, AF_INET, SOL_SOCKET, SO_REUSEADDR, buf, 4, &res), 0);
	ck_assert_int_eq(res.value, 1);
	aopt_opts(&values, &opts);
	for (uint32_t i = 0; i < NS_SOCKOPT_COUNT; i++)
		ck_assert_int_eq(ipc_opts_has(&opts, (enum ns_sockopt)i),
				 i == NS_TCP_KEEPIDLE || i == NS_SO_REUSEADDR);
	ck_assert_int_eq(opts.value[NS_TCP_KEEPIDLE], 30);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent_options");
	TCase *t = tcase_create("agent_options");
	TCase *d = tcase_create("datagrams");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, defaults_and_lengths_are_the_kernels);
	tcase_add_test(t, values_are_taken_and_refused_as_by_the_kernel);
	tcase_add_test(t, short_values_are_refused_as_by_the_kernel);
	tcase_add_test(t, unknown_options_are_refused_as_by_the_kernel);
	tcase_add_test(t, linger_is_a_struct);
	tcase_add_test(t, timeouts_are_the_kernels_and_noted);
	tcase_add_test(t, ipv6_options_are_not_there_for_ipv4);
	tcase_add_test(t, options_of_the_pair_are_refused);
	tcase_add_test(t, tcp_info_is_laid_out_as_linux_6_18);
	tcase_add_test(t, cc_info_is_that_of_bbr);
	tcase_add_test(t, pacing_rate_goes_to_the_stack_in_32_bits_or_64);
	tcase_add_test(t, congestion_names_are_those_of_the_stack);
	tcase_add_test(t, congestion_control_is_the_sandboxs_until_it_is_named);
	tcase_add_test(t, stack_is_told_what_differs_from_its_defaults);
	tcase_add_checked_fixture(d, setup_dgram, teardown);
	tcase_add_test(d, defaults_and_lengths_are_the_kernels);
	tcase_add_test(d, values_are_taken_and_refused_as_by_the_kernel);
	tcase_add_test(d, short_values_are_refused_as_by_the_kernel);
	suite_add_tcase(s, d);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
