/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_options.h - setsockopt() and getsockopt() by a table, and one more for datagrams
 *
 * No system call and no memory of the program: values come and go in buffers, so that the table can
 * be held against a real socket in a test and fuzzed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "daemon/common/ipc_messages.h"

/* The highest row count of both tables together; asserted there. */
#define AOPT_ROWS_MAX 160

/** AOPT_VALUE_MAX - octets of the longest value that is looked at */
#define AOPT_VALUE_MAX 320

/** struct aopt_values - the options of one socket */
struct aopt_values {
	int32_t v[AOPT_ROWS_MAX]; /* by row */
	uint64_t rcv_timeout_ns;  /* 0: none */
	uint64_t snd_timeout_ns;
	uint32_t uid;                                /* whose socket it is */
	uint32_t fastopen_keys_len;                  /* octets; 0: TCP_FASTOPEN_KEY was not set */
	uint8_t fastopen_keys[NS_FASTOPEN_KEYS_LEN]; /* as the program gave them */
	bool is_dgram;
	bool is_tstamping_new; /* it is told as SCM_TIMESTAMPING_NEW */
	uint8_t congestion;    /* enum ns_cc while the program has named none */
};

/** enum aopt_todo - what remains to be done after the table has spoken */
enum aopt_todo {
	AOPT_DONE,      /* nothing: answer 0 (set), or with the value (get) */
	AOPT_TO_STACK,  /* set: tell the stack aopt_result.option and value; get: ask it */
	AOPT_TO_KERNEL, /* let the kernel carry the call out on the pair */
	AOPT_TO_STATE,  /* get: depends on the socket's state, aopt_result.name says which */
};

/** struct aopt_result - of aopt_set() and aopt_get() */
struct aopt_result {
	enum aopt_todo todo;
	int level, name;
	bool is_for_stack; /* set: the stack is to be told of @option and @value, whatever else is to do */
	enum ns_sockopt option; /* likewise, and AOPT_TO_STACK of get */
	int32_t value;
	size_t len; /* AOPT_DONE, get: octets in @buf */
	uint8_t buf[AOPT_VALUE_MAX];
};

/** aopt_init() - all options of a stream socket at their defaults */
void aopt_init(struct aopt_values *v);
/** aopt_init_dgram() - likewise of a datagram socket, after aopt_init(); the user stays */
void aopt_init_dgram(struct aopt_values *v, int protocol);

/**
 * aopt_inherit() - options of an accepted connection: those of its listener, as Linux copies them
 * (SO_REUSEADDR, keepalive, buffers ...)
 */
void aopt_inherit(struct aopt_values *v, const struct aopt_values *listener);

/**
 * aopt_set() - setsockopt()
 * @family:	AF_INET or AF_INET6
 * @val:	AOPT_VALUE_MAX octets, zeroed behind @len
 * @len:	Octets the program offered, may exceed AOPT_VALUE_MAX
 *
 * Return: 0 and @ret_result, or the negative errno for the program
 */
ns_must_check int aopt_set(struct aopt_values *v, int family, int level, int name, const void *val,
			   int len, struct aopt_result *ret_result);

/**
 * aopt_get() - getsockopt()
 * @room:	Octets the program offers; the caller cuts the value to it (args_opt_out())
 * @is_connected:	The stack has a connection: what it knows better is asked there
 *
 * Return: 0 and @ret_result, or the negative errno for the program
 */
ns_must_check int aopt_get(const struct aopt_values *v, int family, int level, int name, int room,
			   bool is_connected, struct aopt_result *ret_result);

/** aopt_opts() - the options that the stack must be told: those that differ from its defaults */
void aopt_opts(const struct aopt_values *v, struct ipc_opts *ret_opts);

/** aopt_value() - a remembered value; trap when the table has no such row */
int32_t aopt_value(const struct aopt_values *v, int level, int name);

/** aopt_row_cnt() - rows of both tables */
size_t aopt_row_cnt(void);
/** aopt_row() - one of them, for tests and documentation; false: it is not one of such a socket */
bool aopt_row(bool is_dgram, size_t i, int *ret_level, int *ret_name, const char **ret_text,
	      const char **ret_map);

/** aopt_tcp_info() - lay out what the stack told as Linux's struct tcp_info. Return: octets at @buf */
size_t aopt_tcp_info(const struct ns_tcp_info *info, uint8_t buf[AOPT_VALUE_MAX]);

/** aopt_cc_info() - likewise TCP_CC_INFO: struct tcp_bbr_info, nothing for who has no model. Return: octets at @buf */
size_t aopt_cc_info(const struct ns_tcp_info *info, uint8_t buf[AOPT_VALUE_MAX]);
