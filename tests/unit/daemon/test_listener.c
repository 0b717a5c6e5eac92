/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_listener - the runtime's JSON: what runc and crun send is read, everything else refused
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/monitor/listener.h"

/* As runc 1.1 sends it, shortened. */
static const char runc[] =
	"{\"ociVersion\":\"1.0.2\",\"fds\":[\"seccompFd\"],\"pid\":4711,\"metadata\":\"\","
	"\"state\":{\"ociVersion\":\"1.0.2\",\"id\":\"web\",\"status\":\"creating\",\"pid\":4712,"
	"\"bundle\":\"/run/web\"}}";

static int parse(const char *text, size_t fd_cnt, struct listener_state *ret, size_t *ret_fd_idx)
{
	return listener_state_parse(text, strlen(text), fd_cnt, ret, ret_fd_idx);
}

START_TEST(state_of_runc_is_read)
{
	struct listener_state s = { 0 };
	size_t idx = 9;

	ck_assert_int_eq(parse(runc, 1, &s, &idx), 0);
	ck_assert_str_eq(s.id, "web");
	ck_assert_int_eq(s.pid, 4712); /* of the container, not of the process that was started */
	ck_assert_uint_eq(idx, 0);
}
END_TEST

START_TEST(state_in_pieces_is_waited_for)
{
	struct listener_state s = { 0 };
	size_t idx;

	for (size_t len = 0; len < strlen(runc); len++)
		ck_assert_int_eq(listener_state_parse(runc, len, 1, &s, &idx), -EAGAIN);
}
END_TEST

START_TEST(notify_descriptor_is_found_by_name)
{
	struct listener_state s = { 0 };
	size_t idx = 9;

	ck_assert_int_eq(
		parse("{\"fds\":[\"other\",\"seccompFd\"],\"state\":{\"pid\":1,\"id\":\"x\"}}\n", 2,
		      &s, &idx),
		0);
	ck_assert_uint_eq(idx, 1);
}
END_TEST

START_TEST(long_id_is_cut)
{
	struct listener_state s = { 0 };
	char text[400], id[200];
	size_t idx;

	memset(id, 'a', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	(void)snprintf(text, sizeof(text),
		       "{\"fds\":[\"seccompFd\"],\"state\":{\"pid\":1,\"id\":\"%s\"}}", id);
	ck_assert_int_eq(parse(text, 1, &s, &idx), 0);
	ck_assert_uint_eq(strlen(s.id), LISTENER_ID_MAX - 1);
}
END_TEST

/* As crun 1.8.1 sends it for "crun exec": there is no process in it. */
START_TEST(state_of_crun_exec_names_no_process)
{
	struct listener_state s = { .pid = 77 };
	size_t idx = 9;

	ck_assert_int_eq(parse("{\n    \"ociVersion\": \"0.2.0\",\n    \"fds\": [\n        "
			       "\"seccompFd\"\n    ],\n    \"pid\": 0,\n    \"metadata\": "
			       "\"sluice\",\n    \"state\": {\n        \"id\": \"box\",\n        "
			       "\"status\": \"running\",\n        \"pid\": 0,\n        "
			       "\"bundle\": \".\"\n    }\n}\n",
			       1, &s, &idx),
			 0);
	ck_assert_int_eq(s.pid, 0);
	ck_assert_str_eq(s.id, "box");
	ck_assert_uint_eq(idx, 0);
}
END_TEST

static const struct {
	const char *text;
	size_t fd_cnt;
} bad[] = {
	{ "{\"fds\":[\"seccompFd\"],\"state\":{\"pid\":1,\"id\":\"x\"}}", 0 },
	{ "{\"fds\":[\"seccompFd\"],\"state\":{\"pid\":1,\"id\":\"x\"}}", 2 },
	{ "{\"fds\":[\"seccompFd\",\"seccompFd\"],\"state\":{\"pid\":1,\"id\":\"x\"}}", 2 },
	{ "{\"fds\":[\"other\"],\"state\":{\"pid\":1,\"id\":\"x\"}}", 1 },
	{ "{\"fds\":[1],\"state\":{\"pid\":1,\"id\":\"x\"}}", 1 },
	{ "{\"fds\":\"seccompFd\",\"state\":{\"pid\":1,\"id\":\"x\"}}", 1 },
	{ "{\"state\":{\"pid\":1,\"id\":\"x\"}}", 1 },
	{ "{\"fds\":[\"seccompFd\"],\"state\":{\"pid\":-1,\"id\":\"x\"}}", 1 },
	{ "{\"fds\":[\"seccompFd\"],\"state\":{\"pid\":4294967297,\"id\":\"x\"}}", 1 },
	{ "{\"fds\":[\"seccompFd\"],\"state\":{\"pid\":\"1\",\"id\":\"x\"}}", 1 },
	{ "{\"fds\":[\"seccompFd\"],\"state\":{\"pid\":1}}", 1 },
	{ "{\"fds\":[\"seccompFd\"],\"state\":[]}", 1 },
	{ "{\"fds\":[\"seccompFd\"],\"state\":{\"pid\":1,\"id\":\"x\"}}{}", 1 },
	{ "[]", 1 },
	{ "null ", 1 },
	{ "GET / HTTP/1.1\r\n\r\n", 0 },
	{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 0 },
};

START_TEST(malformed_state_is_refused)
{
	struct listener_state s = { 0 };
	size_t idx;

	ck_assert_msg(parse(bad[_i].text, bad[_i].fd_cnt, &s, &idx) == -EINVAL, "%s", bad[_i].text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("listener");
	TCase *state = tcase_create("state");
	int failed;

	tcase_add_test(state, state_of_runc_is_read);
	tcase_add_test(state, state_of_crun_exec_names_no_process);
	tcase_add_test(state, state_in_pieces_is_waited_for);
	tcase_add_test(state, notify_descriptor_is_found_by_name);
	tcase_add_test(state, long_id_is_cut);
	tcase_add_loop_test(state, malformed_state_is_refused, 0,
			    (int)(sizeof(bad) / sizeof(bad[0])));
	suite_add_tcase(suite, state);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
