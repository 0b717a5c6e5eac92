/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_plugin.c - the plugin's table driven as packetdrill drives it, without packetdrill
 *
 * The peer is frames by hand, without the Ethernet header that the interface does not have. Times are
 * virtual: a test that "waits" a second takes none.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/tcp.h>

#include "base/attr.h"
#include "pdif.h"
#include "support/frame.h"
#include "unit/unit.h"

#define LOCAL UINT32_C(0xc0a80001) /* 192.168.0.1 */
#define PEER  UINT32_C(0xc0000201) /* 192.0.2.1 */

enum {
	PORT = 8080,
	PEER_PORT = 40000,
	ISS = 1000, /* the peer's */
	INFO_LEN = 280,
};

static struct packetdrill_interface pd;
static int listener;
static uint32_t irs; /* the stack's ISS */

static int64_t now_us(void)
{
	struct timeval tv;

	ck_assert_int_eq(pd.gettimeofday(pd.userdata, &tv, NULL), 0);
	return (int64_t)tv.tv_sec * 1000000 + tv.tv_usec;
}

static struct sockaddr_in address(uint32_t host, uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(host),
				     .sin_port = htons(port) };
}

static void inject(uint16_t stack_port, const struct tcp_in *t)
{
	static struct frame f;
	const struct way w = { .src = PEER, .dst = LOCAL, .sport = PEER_PORT, .dport = stack_port };

	frame_tcp(&f, &w, t);
	ck_assert_int_eq(pd.netdev_send(pd.userdata, f.b + ETH_LEN, f.len - ETH_LEN), 0);
}

/* The next packet as a frame read; false when none came in time */
static bool sniff(struct seen *ret_seen, int64_t *ret_us)
{
	static struct frame f;
	size_t len = sizeof(f.b) - ETH_LEN;
	long long us = 0;

	memset(f.b, 0, ETH_LEN);
	f.b[12] = 0x08;
	f.csum = f.gso_type = 0;
	ck_assert_int_eq(pd.netdev_receive(pd.userdata, f.b + ETH_LEN, &len, &us), 0);
	if (len == 0)
		return false;
	f.len = (uint32_t)len + ETH_LEN;
	frame_read(&f, ret_seen);
	ck_assert(ret_seen->kind == SEEN_TCP && !ret_seen->is_bad);
	if (ret_us)
		*ret_us = us;
	return true;
}

static void expect_flags(uint8_t flags, struct seen *ret_seen)
{
	ck_assert(sniff(ret_seen, NULL));
	ck_assert_uint_eq(ret_seen->flags & ~FL_PSH, flags);
}

static void setup(void)
{
	struct sockaddr_in any = address(INADDR_ANY, PORT);

	memset(&pd, 0, sizeof(pd));
	packetdrill_interface_init("local=192.168.0.1,mtu=1500", &pd);
	listener = pd.socket(pd.userdata, AF_INET, SOCK_STREAM, IPPROTO_TCP);
	ck_assert_int_ge(listener, 0);
	ck_assert_int_eq(pd.bind(pd.userdata, listener, (struct sockaddr *)&any, sizeof(any)), 0);
	ck_assert_int_eq(pd.listen(pd.userdata, listener, 5), 0);
}

static void teardown(void)
{
	pd.free(pd.userdata);
}

static void handshake(void)
{
	struct seen s;

	inject(PORT, &(struct tcp_in){ .flags = FL_SYN, .seq = ISS, .wnd = 65535 });
	expect_flags(FL_SYN | FL_ACK, &s);
	irs = s.seq;
	inject(PORT,
	       &(struct tcp_in){ .flags = FL_ACK, .seq = ISS + 1, .ack = irs + 1, .wnd = 65535 });
}

static int accepted(void)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	int fd;

	handshake();
	fd = pd.accept(pd.userdata, listener, (struct sockaddr *)&from, &len);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(ntohl(from.sin_addr.s_addr), PEER);
	ck_assert_uint_eq(ntohs(from.sin_port), PEER_PORT);
	return fd;
}

START_TEST(octets_go_both_ways_and_close_is_orderly)
{
	int fd = accepted(), n = -1;
	char buf[16] = { 0 };
	struct seen s;

	inject(PORT, &(struct tcp_in){ .flags = FL_ACK,
				       .seq = ISS + 1,
				       .ack = irs + 1,
				       .wnd = 65535,
				       .data = "hello",
				       .data_len = 5 });
	ck_assert_int_eq(pd.ioctl(pd.userdata, fd, FIONREAD, &n), 0);
	ck_assert_int_eq(n, 5);
	ck_assert_int_eq(pd.read(pd.userdata, fd, buf, sizeof(buf)), 5);
	ck_assert_str_eq(buf, "hello");
	expect_flags(FL_ACK, &s);
	ck_assert_uint_eq(s.ack, ISS + 6);
	ck_assert_int_eq(pd.write(pd.userdata, fd, "world", 5), 5);
	expect_flags(FL_ACK, &s);
	ck_assert_uint_eq(s.data_len, 5);
	ck_assert_mem_eq(s.data, "world", 5);
	ck_assert_int_eq(pd.close(pd.userdata, fd), 0);
	expect_flags(FL_ACK | FL_FIN, &s);
	ck_assert_int_eq(pd.close(pd.userdata, fd), -1);
	ck_assert_int_eq(errno, EBADF);
}
END_TEST

START_TEST(time_jumps_to_the_next_timer_and_packets_carry_it)
{
	struct sockaddr_in to = address(PEER, PORT);
	int fd = pd.socket(pd.userdata, AF_INET, SOCK_STREAM, 0);
	int64_t start, first, again;
	struct seen s;

	ck_assert_int_eq(pd.fcntl(pd.userdata, fd, F_SETFL, O_NONBLOCK), 0);
	start = now_us();
	ck_assert_int_eq(pd.connect(pd.userdata, fd, (struct sockaddr *)&to, sizeof(to)), -1);
	ck_assert_int_eq(errno, EINPROGRESS);
	ck_assert(sniff(&s, &first) && s.flags == FL_SYN);
	ck_assert(sniff(&s, &again) && s.flags == FL_SYN);
	ck_assert_int_le(first - start, 10);
	ck_assert_int_eq(again - first, 1000000); /* RFC 6298 2.1 */
	ck_assert_int_ge(now_us(), again);
}
END_TEST

START_TEST(missing_packet_ends_the_wait)
{
	int64_t start = now_us();
	struct seen s;

	ck_assert(!sniff(&s, NULL));
	ck_assert_int_le(now_us() - start, 5000000);
}
END_TEST

START_TEST(clock_moves_while_it_is_watched_and_while_asleep)
{
	int64_t a = now_us(), b = now_us();

	ck_assert_int_gt(b, a);
	ck_assert_int_eq(pd.usleep(pd.userdata, 250000), 0);
	ck_assert_int_ge(now_us() - b, 250000);
	ck_assert_int_le(now_us() - b, 250010);
}
END_TEST

struct blocked {
	pthread_t thread;
	int64_t done_us;
	int fd;
};

static void *blocked_accept(void *arg)
{
	struct blocked *b = arg;

	b->fd = pd.accept(pd.userdata, listener, NULL, NULL);
	b->done_us = now_us();
	return NULL;
}

START_TEST(blocked_call_of_a_second_thread_ends_when_its_event_comes)
{
	struct blocked b = { .fd = -1 };
	int64_t injected;

	ck_assert_int_eq(pthread_create(&b.thread, NULL, blocked_accept, &b), 0);
	usleep(50000); /* packetdrill looks at the thread's state; asleep by then, or it accepts at once below */
	pd.usleep(pd.userdata, 100000);
	handshake();
	injected = now_us();
	pd.usleep(pd.userdata, 100000);
	pd.usleep(pd.userdata, 1000000);
	ck_assert_int_eq(pthread_join(b.thread, NULL), 0);
	ck_assert_int_ge(b.fd, 0);
	ck_assert_int_le(b.done_us - injected, 10000);
}
END_TEST

START_TEST(blocking_call_of_the_first_thread_moves_time_itself)
{
	int fd = accepted();
	int64_t start = now_us();
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	ck_assert_int_eq(pd.poll(pd.userdata, &pfd, 1, 300), 0);
	ck_assert_int_ge(now_us() - start, 300000);
	pfd.events = POLLOUT;
	ck_assert_int_eq(pd.poll(pd.userdata, &pfd, 1, 300), 1);
	ck_assert_int_eq(pfd.revents, POLLOUT);
}
END_TEST

START_TEST(epoll_edge_is_told_once)
{
	int fd = accepted(), ep = pd.epoll_create(pd.userdata, 1);
	struct epoll_event want = { .events = EPOLLIN | EPOLLET, .data.fd = fd }, got;

	ck_assert_int_ge(ep, 0);
	ck_assert_int_eq(pd.epoll_ctl(pd.userdata, ep, EPOLL_CTL_ADD, fd, &want), 0);
	ck_assert_int_eq(pd.epoll_wait(pd.userdata, ep, &got, 1, 0), 0);
	inject(PORT, &(struct tcp_in){ .flags = FL_ACK,
				       .seq = ISS + 1,
				       .ack = irs + 1,
				       .wnd = 65535,
				       .data = "x",
				       .data_len = 1 });
	ck_assert_int_eq(pd.epoll_wait(pd.userdata, ep, &got, 1, 0), 1);
	ck_assert_int_eq(got.data.fd, fd);
	ck_assert_uint_eq(got.events, EPOLLIN);
	ck_assert_int_eq(pd.epoll_wait(pd.userdata, ep, &got, 1, 0), 0);
}
END_TEST

START_TEST(tcp_info_is_as_long_as_asked_for)
{
	uint8_t buf[INFO_LEN];
	struct tcp_info info;
	socklen_t len = sizeof(buf);
	int fd = accepted();

	ck_assert_int_eq(pd.getsockopt(pd.userdata, fd, IPPROTO_TCP, TCP_INFO, buf, &len), 0);
	ck_assert_uint_eq(len, INFO_LEN);
	memcpy(&info, buf, sizeof(info));
	ck_assert_uint_eq(info.tcpi_snd_cwnd, 10); /* RFC 6928 */
	ck_assert_uint_eq(info.tcpi_snd_mss, 536);
}
END_TEST

START_TEST(unread_octets_reset_on_close)
{
	int fd = accepted();
	struct seen s;

	inject(PORT, &(struct tcp_in){ .flags = FL_ACK,
				       .seq = ISS + 1,
				       .ack = irs + 1,
				       .wnd = 65535,
				       .data = "x",
				       .data_len = 1 });
	expect_flags(FL_ACK, &s);
	ck_assert_int_eq(pd.close(pd.userdata, fd), 0);
	expect_flags(FL_RST | FL_ACK, &s);
}
END_TEST

START_TEST(reset_is_told_once)
{
	int fd = accepted();
	char buf[4];

	inject(PORT, &(struct tcp_in){ .flags = FL_RST | FL_ACK, .seq = ISS + 1, .ack = irs + 1 });
	ck_assert_int_eq(pd.read(pd.userdata, fd, buf, sizeof(buf)), -1);
	ck_assert_int_eq(errno, ECONNRESET);
	ck_assert_int_eq(pd.write(pd.userdata, fd, buf, sizeof(buf)), -1);
	ck_assert_int_eq(errno, EPIPE);
}
END_TEST

/* What leaves is IPv6 from the address of local=, with the MSS of mtu= and the window scale of rcvbuf= */
START_TEST(flags_choose_family_mtu_and_window_scale)
{
	static const struct in6_addr own = { .s6_addr = { 0xfd, 0x3d, [15] = 1 } };
	struct sockaddr_in6 to = { .sin6_family = AF_INET6,
				   .sin6_port = htons(PORT),
				   .sin6_addr.s6_addr = { 0xfd, 0x3d, 0xfa, [15] = 1 } };
	struct packetdrill_interface v6 = { 0 };
	uint8_t b[128], *tcp = b + IP6_LEN;
	size_t len = sizeof(b);
	long long us;
	int fd;

	packetdrill_interface_init("local=fd3d::1,mtu=1520,rcvbuf=6291456", &v6);
	fd = v6.socket(v6.userdata, AF_INET6, SOCK_STREAM, IPPROTO_TCP);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(v6.fcntl(v6.userdata, fd, F_SETFL, O_RDWR | O_NONBLOCK), 0);
	ck_assert_int_eq(v6.connect(v6.userdata, fd, (struct sockaddr *)&to, sizeof(to)), -1);
	ck_assert_int_eq(errno, EINPROGRESS);
	ck_assert_int_eq(v6.netdev_receive(v6.userdata, b, &len, &us), 0);
	ck_assert_uint_eq(len,
			  IP6_LEN + 40); /* MSS, SACK permitted, timestamps, NOP, window scale */
	ck_assert_uint_eq(b[0] >> 4, 6);
	ck_assert_int_eq(memcmp(b + 8, &own, sizeof(own)), 0);
	ck_assert_uint_eq(tcp[13], FL_SYN);
	ck_assert_uint_eq(tcp[22] << 8 | tcp[23], 1520 - IP6_LEN - TCP_LEN);
	ck_assert_uint_eq(tcp[39], 7);
	v6.free(v6.userdata);
}
END_TEST

START_TEST(what_is_not_there_says_so)
{
	int fds[2];

	ck_assert_int_eq(pd.pipe(pd.userdata, fds), -1);
	ck_assert_int_eq(errno, ENOSYS);
	ck_assert_int_eq(pd.socket(pd.userdata, AF_UNIX, SOCK_STREAM, 0), -1);
	ck_assert_int_eq(errno, EAFNOSUPPORT);
	ck_assert_int_eq(pd.close(pd.userdata, 200), -1);
	ck_assert_int_eq(errno, EBADF);
}
END_TEST

static Suite *plugin_suite(void)
{
	Suite *suite;
	TCase *t = unit_suite("packetdrill plugin", setup, teardown, &suite);

	tcase_add_test(t, octets_go_both_ways_and_close_is_orderly);
	tcase_add_test(t, time_jumps_to_the_next_timer_and_packets_carry_it);
	tcase_add_test(t, missing_packet_ends_the_wait);
	tcase_add_test(t, clock_moves_while_it_is_watched_and_while_asleep);
	tcase_add_test(t, blocked_call_of_a_second_thread_ends_when_its_event_comes);
	tcase_add_test(t, blocking_call_of_the_first_thread_moves_time_itself);
	tcase_add_test(t, epoll_edge_is_told_once);
	tcase_add_test(t, tcp_info_is_as_long_as_asked_for);
	tcase_add_test(t, unread_octets_reset_on_close);
	tcase_add_test(t, reset_is_told_once);
	tcase_add_test(t, flags_choose_family_mtu_and_window_scale);
	tcase_add_test(t, what_is_not_there_says_so);
	return suite;
}

UNIT_MAIN(plugin_suite)
