/* SPDX-License-Identifier: Apache-2.0 */
/* test_ipc.c - daemon/common/ipc.c: framing, table checks, descriptors, the queue */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/common/ipc.h"

static struct ipc a, w; /* agent's and worker's end of one channel */

static void setup(void)
{
	int fds[2];

	ck_assert_int_eq(ipc_pair(fds), 0);
	ipc_init(&a, fds[0], IPC_AGENT, IPC_WORKER);
	ipc_init(&w, fds[1], IPC_WORKER, IPC_AGENT);
}

static void teardown(void)
{
	ipc_done(&a);
	ipc_done(&w);
}

static int open_cnt(void)
{
	int cnt = 0;

	for (int fd = 0; fd < 1024; fd++)
		cnt += fcntl(fd, F_GETFD) >= 0;
	return cnt;
}

static int send_close(uint32_t sock)
{
	return ipc_send(&a, IPC_CLOSE, &(struct ipc_close){ .sock = sock }, NULL, 0);
}

START_TEST(message_arrives_as_it_was_sent)
{
	struct ipc_msg m;
	struct ipc_bind b = { .sock = 7,
			      .local = { .addr = ns_addr_v4(0x0a000001), .port = 80 },
			      .opts = { .mask = { 1u << NS_SO_REUSEADDR }, .value = { 1 } } };

	ck_assert_int_eq(ipc_send(&a, IPC_BIND, &b, NULL, 0), 0);
	ck_assert_int_eq(ipc_recv(&w, &m), 0);
	ck_assert_int_eq(m.type, IPC_BIND);
	ck_assert_int_eq(memcmp(IPC_BODY(&m, ipc_bind), &b, sizeof(b)), 0);
	ck_assert_int_eq(ipc_recv(&w, &m), -EAGAIN);
}
END_TEST

START_TEST(descriptor_is_consumed_and_arrives_close_on_exec)
{
	struct ipc_msg m;
	int p[2], before, fd;

	ck_assert_int_eq(pipe(p), 0);
	before = open_cnt();
	ck_assert_int_eq(ipc_send(&a, IPC_ATTACH, &(struct ipc_attach){ .sock = 1 }, &p[1], 1), 0);
	ck_assert_int_eq(open_cnt(), before - 1);
	ck_assert_int_eq(ipc_recv(&w, &m), 0);
	fd = ipc_take_fd(&m, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ipc_take_fd(&m, 0), -1);
	ck_assert_int_eq(ipc_take_fd(&m, 1), -1);
	ipc_msg_done(&m);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	close(fd);
	close(p[0]);
}
END_TEST

START_TEST(descriptor_nobody_takes_is_closed)
{
	struct ipc_msg m;
	int before = open_cnt(), fd = dup(0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ipc_send(&a, IPC_ATTACH, &(struct ipc_attach){ .sock = 1 }, &fd, 1), 0);
	ck_assert_int_eq(ipc_recv(&w, &m), 0);
	ipc_msg_done(&m);
	ck_assert_int_eq(open_cnt(), before);
}
END_TEST

START_TEST(closed_peer_is_epipe_and_descriptors_do_not_leak)
{
	struct ipc_msg m;
	int before, fd = dup(0);

	before = open_cnt();
	ipc_done(&w);
	ck_assert_int_eq(ipc_recv(&a, &m), -EPIPE);
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(ipc_send(&a, IPC_ATTACH, &(struct ipc_attach){ .sock = 1 }, &fd, 1),
			 -EPIPE);
	ipc_done(&a);
	ck_assert_int_eq(open_cnt(), before - 3);
}
END_TEST

/* Every mutilation of a good message is refused, and what it carried is closed. */
static const struct {
	const char *what;
	uint16_t version, type;
	int len_delta, body_delta;
	uint32_t fd_cnt;
} bad[] = {
	{ "version", IPC_VERSION + 1, IPC_CLOSE, 0, 0, 0 },
	{ "type 0", IPC_VERSION, IPC_NONE, 0, 0, 0 },
	{ "type too high", IPC_VERSION, IPC_TYPE_COUNT, 0, 0, 0 },
	{ "type 65535", IPC_VERSION, 65535, 0, 0, 0 },
	{ "len short", IPC_VERSION, IPC_CLOSE, -1, 0, 0 },
	{ "len long", IPC_VERSION, IPC_CLOSE, 1, 0, 0 },
	{ "len 4 GiB", IPC_VERSION, IPC_CLOSE, -9, 0, 0 },
	{ "body short", IPC_VERSION, IPC_CLOSE, 0, -1, 0 },
	{ "body long", IPC_VERSION, IPC_CLOSE, 0, 1, 0 },
	{ "both long", IPC_VERSION, IPC_CLOSE, 4, 4, 0 },
	{ "unwanted descriptor", IPC_VERSION, IPC_CLOSE, 0, 0, 1 },
	{ "missing descriptor", IPC_VERSION, IPC_ATTACH, 0, 0, 0 },
	{ "two descriptors", IPC_VERSION, IPC_ATTACH, 0, 0, 2 },
	{ "wrong direction", IPC_VERSION, IPC_CLOSED, 0, 0, 0 },
	{ "the monitor's message", IPC_VERSION, IPC_STOP, 0, 0, 0 },
};

static void raw_send(const void *buf, size_t len, uint32_t fd_cnt)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * 2)];
	} control = { .buf = { 0 } };
	int fds[2] = { 0, 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd_cnt) {
		struct cmsghdr *cm;

		mh.msg_control = control.buf;
		mh.msg_controllen = CMSG_SPACE(sizeof(int) * fd_cnt);
		cm = CMSG_FIRSTHDR(&mh);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int) * fd_cnt);
		memcpy(CMSG_DATA(cm), fds, sizeof(int) * fd_cnt);
	}
	ck_assert_int_eq(sendmsg(a.fd, &mh, 0), (ssize_t)len);
}

START_TEST(malformed_message_is_refused)
{
	struct {
		struct ipc_header h;
		uint8_t body[IPC_BODY_MAX];
	} raw = { 0 };
	struct ipc_msg m;
	uint32_t want = ipc_body_len((enum ipc_type)bad[_i].type);
	int before = open_cnt();

	if (!want)
		want = sizeof(struct ipc_close);
	raw.body[0] = 1; /* a socket handle that is not 0 */
	raw.h = (struct ipc_header){ bad[_i].version, bad[_i].type,
				     want + (uint32_t)bad[_i].len_delta };
	raw_send(&raw, sizeof(raw.h) + want + (size_t)bad[_i].body_delta, bad[_i].fd_cnt);
	ck_assert_msg(ipc_recv(&w, &m) == -EPROTO, "%s", bad[_i].what);
	ck_assert_int_eq(open_cnt(), before);
	ck_assert_int_eq(ipc_recv(&w, &m), -EAGAIN);
}
END_TEST

START_TEST(message_shorter_than_a_header_is_refused)
{
	struct ipc_msg m;

	for (size_t len = 1; len < sizeof(struct ipc_header); len++) {
		raw_send("\1\0\1\0\0\0\0", len, 0);
		ck_assert_int_eq(ipc_recv(&w, &m), -EPROTO);
	}
}
END_TEST

START_TEST(message_longer_than_any_is_refused)
{
	static uint8_t big[IPC_BODY_MAX * 2];
	struct ipc_msg m;

	raw_send(big, sizeof(big), 0);
	ck_assert_int_eq(ipc_recv(&w, &m), -EPROTO);
}
END_TEST

/** refuse() - a body whose fields are out of range does not pass */
static void refuse(enum ipc_type type, const void *body, uint32_t fd_cnt, enum ipc_role from,
		   enum ipc_role to)
{
	uint8_t raw[sizeof(struct ipc_header) + IPC_BODY_MAX] __attribute__((aligned(8))) = { 0 };
	struct ipc_header h = { IPC_VERSION, (uint16_t)type, ipc_body_len(type) };

	memcpy(raw, &h, sizeof(h));
	memcpy(raw + sizeof(h), body, h.len);
	ck_assert_msg(ipc_check(raw, sizeof(h) + h.len, fd_cnt, from, to) == -EPROTO, "%s",
		      ipc_type_name(type));
}

START_TEST(fields_out_of_range_are_refused)
{
	refuse(IPC_CLOSE, &(struct ipc_close){ .sock = 0 }, 0, IPC_AGENT, IPC_WORKER);
	refuse(IPC_CLOSE, &(struct ipc_close){ 1, IPC_CLOSE_HOW_COUNT }, 0, IPC_AGENT, IPC_WORKER);
	refuse(IPC_SETOPT, &(struct ipc_sockopt_set){ 1, NS_SOCKOPT_COUNT, 0 }, 0, IPC_AGENT,
	       IPC_WORKER);
	refuse(IPC_LISTEN, &(struct ipc_listen){ .sock = 1, .backlog = -1 }, 0, IPC_AGENT,
	       IPC_WORKER);
	refuse(IPC_BIND,
	       &(struct ipc_bind){
		       .sock = 1,
		       .opts.mask = { [NS_SOCKOPT_COUNT / 32] = 1u << NS_SOCKOPT_COUNT % 32 } },
	       0, IPC_AGENT, IPC_WORKER);
	refuse(IPC_BIND, &(struct ipc_bind){ .sock = 1, .local.reserved = 1 }, 0, IPC_AGENT,
	       IPC_WORKER);
	refuse(IPC_FAILED, &(struct ipc_sock_err){ 1, 0 }, 0, IPC_WORKER, IPC_AGENT);
	refuse(IPC_FAILED, &(struct ipc_sock_err){ 1, 5 }, 0, IPC_WORKER, IPC_AGENT);
	refuse(IPC_FAILED, &(struct ipc_sock_err){ 1, -4096 }, 0, IPC_WORKER, IPC_AGENT);
	refuse(IPC_DGRAM_INFO, &(struct ipc_dgram_info){ .sock = 1, .cnt = 0 }, 0, IPC_WORKER,
	       IPC_AGENT);
	refuse(IPC_DGRAM_INFO, &(struct ipc_dgram_info){ .sock = 1, .cnt = IPC_DGRAM_ROWS + 1 }, 0,
	       IPC_WORKER, IPC_AGENT);
	refuse(IPC_DGRAM_INFO,
	       &(struct ipc_dgram_info){ .sock = 1, .cnt = 1, .row[0].from.reserved = 1 }, 0,
	       IPC_WORKER, IPC_AGENT);
	refuse(IPC_DGRAM_ERR, &(struct ipc_dgram_err_quote){ .e = { .sock = 1, .err = 0 } }, 0,
	       IPC_WORKER, IPC_AGENT);
	refuse(IPC_DGRAM_ERR,
	       &(struct ipc_dgram_err_quote){ .e = { .sock = 1, .err = -1, .has_token = 2 } }, 0,
	       IPC_WORKER, IPC_AGENT);
	refuse(IPC_DGRAM_OPEN, &(struct ipc_dgram_open){ .sock = 1 }, 0, IPC_AGENT, IPC_WORKER);
	refuse(IPC_DGRAM_GROUP,
	       &(struct ipc_dgram_group){ .sock = 1, .what = IPC_GROUP_WHAT_COUNT }, 0, IPC_AGENT,
	       IPC_WORKER);
	refuse(IPC_DGRAM_FILTER, &(struct ipc_dgram_filter){ .sock = 1, .cnt = NS_FILTER_MAX + 1 },
	       0, IPC_AGENT, IPC_WORKER);
	refuse(IPC_DGRAM_FILTER, &(struct ipc_dgram_filter){ .sock = 1, .is_exact = 2 }, 0,
	       IPC_AGENT, IPC_WORKER);
	refuse(IPC_DGRAM_FILTER, &(struct ipc_dgram_filter){ .sock = 0 }, 0, IPC_AGENT, IPC_WORKER);
	refuse(IPC_DGRAM_FILTER_R, &(struct ipc_dgram_filter_r){ .cnt = NS_FILTER_MAX + 1 }, 0,
	       IPC_WORKER, IPC_AGENT);
	refuse(IPC_DGRAM_CHECK, &(struct ipc_dgram_check){ .sock = 1, .to.ttl = 256 }, 0, IPC_AGENT,
	       IPC_WORKER);
	ck_assert(!ipc_dgram_frame_check(&(struct ipc_dgram_frame){ .sock = 1, .to.has_to = 2 }));
	ck_assert(!ipc_dgram_frame_check(&(struct ipc_dgram_frame){ .sock = 0 }));
	ck_assert(ipc_dgram_frame_check(&(struct ipc_dgram_frame){ .sock = 1, .to.has_to = 1 }));
	refuse(IPC_LOG, &(struct ipc_log){ .len = 1025 }, 0, IPC_WORKER, IPC_MONITOR);
	refuse(IPC_LOG, &(struct ipc_log){ .level = 99 }, 0, IPC_WORKER, IPC_MONITOR);
	refuse(IPC_STATS, &(struct ipc_stats){ .len = 3073 }, 0, IPC_WORKER, IPC_MONITOR);
	refuse(IPC_INIT, &(struct ipc_init){ .plan_len = 0 }, 2, IPC_MONITOR, IPC_WORKER);
	refuse(IPC_INIT, &(struct ipc_init){ .plan_len = 1, .flags = 8 }, 2, IPC_MONITOR,
	       IPC_WORKER);
}
END_TEST

/* A peer that reads nothing: the queue takes over, keeps order, and has an end. */
START_TEST(queue_keeps_order_and_is_bounded)
{
	struct ipc_msg m;
	uint32_t sent = 0, got = 0;
	int r;

	while ((r = send_close(sent + 1)) == 0)
		sent++;
	ck_assert_int_eq(r, -ENOBUFS);
	ck_assert(ipc_is_waiting(&a));
	for (;;) {
		r = ipc_recv(&w, &m);
		if (r == -EAGAIN) {
			if (!ipc_is_waiting(&a))
				break;
			ck_assert_int_eq(ipc_flush(&a), 0);
			continue;
		}
		ck_assert_int_eq(r, 0);
		ck_assert_uint_eq(IPC_BODY(&m, ipc_close)->sock, ++got);
		ipc_msg_done(&m);
	}
	ck_assert_uint_eq(got, sent);
	ck_assert_uint_eq(a.queue_len, 0);
}
END_TEST

static int wanted[2];

static void want_write(void *ctx, bool is_wanted)
{
	(void)ctx;
	wanted[is_wanted]++;
}

START_TEST(write_is_wanted_once_and_unwanted_once)
{
	struct ipc_msg m;

	memset(wanted, 0, sizeof(wanted));
	a.want_write = want_write;
	for (uint32_t i = 1; i < 2000; i++)
		ck_assert_int_eq(send_close(i), 0);
	ck_assert_int_eq(wanted[1], 1);
	do {
		while (ipc_recv(&w, &m) == 0)
			ipc_msg_done(&m);
		ck_assert_int_eq(ipc_flush(&a), 0);
	} while (ipc_is_waiting(&a));
	ck_assert_int_eq(wanted[0], 1);
	ck_assert_int_eq(wanted[1], 1);
}
END_TEST

START_TEST(cork_holds_and_uncork_sends_in_order)
{
	struct ipc_msg m;

	ipc_cork(&a);
	for (uint32_t i = 1; i <= 100; i++)
		ck_assert_int_eq(send_close(i), 0);
	ck_assert_int_eq(ipc_recv(&w, &m), -EAGAIN);
	ck_assert_int_eq(ipc_uncork(&a), 0);
	for (uint32_t i = 1; i <= 100; i++) {
		ck_assert_int_eq(ipc_recv(&w, &m), 0);
		ck_assert_uint_eq(IPC_BODY(&m, ipc_close)->sock, i);
	}
}
END_TEST

static uint32_t handled;

static int on_close(void *ctx, struct ipc_msg *m)
{
	ck_assert_ptr_eq(ctx, &handled);
	handled += IPC_BODY(m, ipc_close)->sock;
	return handled > 100 ? -ECANCELED : 0;
}

START_TEST(dispatch_obeys_table_budget_and_result)
{
	ipc_handler_fn table[IPC_TYPE_COUNT] = { [IPC_CLOSE] = on_close };

	handled = 0;
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(send_close(10), 0);
	ck_assert_int_eq(ipc_dispatch(&w, table, &handled, 2), 0);
	ck_assert_uint_eq(handled, 20);
	ck_assert_int_eq(ipc_dispatch(&w, table, &handled, 2), 0);
	ck_assert_uint_eq(handled, 30);
	ck_assert_int_eq(send_close(100), 0);
	ck_assert_int_eq(ipc_dispatch(&w, table, &handled, 2), -ECANCELED);
	ck_assert_int_eq(ipc_send(&a, IPC_SETOPT, &(struct ipc_sockopt_set){ .sock = 1 }, NULL, 0),
			 0);
	ck_assert_int_eq(ipc_dispatch(&w, table, &handled, 2), -EPROTO); /* no handler */
	ipc_done(&a);
	ck_assert_int_eq(ipc_dispatch(&w, table, &handled, 2), -EPIPE);
}
END_TEST

/* Not a fuzzer (tests/fuzz has one): a fixed number of random frames, none may crash or over-read. */
START_TEST(random_bytes_do_no_harm)
{
	uint8_t raw[sizeof(struct ipc_header) + IPC_BODY_MAX] __attribute__((aligned(8))) = { 0 };
	unsigned int seed = 1;
	uint32_t passed = 0;

	for (uint32_t i = 0; i < 20000; i++) {
		enum ipc_role from = (enum ipc_role)(i % IPC_ROLE_COUNT);
		enum ipc_role to = (enum ipc_role)(i / 3 % IPC_ROLE_COUNT);
		struct ipc_header h = { IPC_VERSION, (uint16_t)(i % (IPC_TYPE_COUNT + 2)), 0 };

		for (size_t k = 0; k < sizeof(raw); k += 61)
			raw[k] = (uint8_t)rand_r(&seed);
		h.len = ipc_body_len((enum ipc_type)h.type);
		memcpy(raw, &h, sizeof(h));
		passed += ipc_check(raw, sizeof(h) + h.len, i % 3, from, to) == 0;
	}
	ck_assert_uint_gt(passed, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ipc");
	TCase *t = tcase_create("ipc");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 60); /* under sanitizers on a busy machine */
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, message_arrives_as_it_was_sent);
	tcase_add_test(t, descriptor_is_consumed_and_arrives_close_on_exec);
	tcase_add_test(t, descriptor_nobody_takes_is_closed);
	tcase_add_test(t, closed_peer_is_epipe_and_descriptors_do_not_leak);
	tcase_add_loop_test(t, malformed_message_is_refused, 0, NS_ARRAY_LEN(bad));
	tcase_add_test(t, message_shorter_than_a_header_is_refused);
	tcase_add_test(t, message_longer_than_any_is_refused);
	tcase_add_test(t, fields_out_of_range_are_refused);
	tcase_add_test(t, queue_keeps_order_and_is_bounded);
	tcase_add_test(t, write_is_wanted_once_and_unwanted_once);
	tcase_add_test(t, cork_holds_and_uncork_sends_in_order);
	tcase_add_test(t, dispatch_obeys_table_budget_and_result);
	tcase_add_test(t, random_bytes_do_no_harm);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
