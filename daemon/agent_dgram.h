/* SPDX-License-Identifier: Apache-2.0 */
/* agent_dgram.h - what agent_dgram.c and agent_dgram_recv.c share */
#pragma once

#include "daemon/agent_int.h"

/* Rows of datagrams that are in a pair, and errors that wait for MSG_ERRQUEUE, of one socket. */
#define DGRAM_NAMES_MAX  1024u
#define DGRAM_ERRORS_MAX 16u

/** struct dgram_name - who sent a datagram that is or was in the pair */
struct dgram_name {
	struct list node;
	struct ipc_dgram_row row;
};

/** struct dgram_error - an error that waits for MSG_ERRQUEUE */
struct dgram_error {
	struct list node;
	struct ipc_dgram_err e;
};

/** struct adgram - a socket of datagrams, besides its asock */
struct adgram {
	struct list names; /* in the order of the pair */
	uint32_t name_cnt;
	struct list errors; /* oldest first; with IP_RECVERR */
	uint32_t error_cnt;
	uint32_t token_cnt; /* empty datagrams in the pair that stand for an error */
	bool is_bound, is_connected;
	bool is_unconnecting; /* @op CONNECT is DGRAM_UNCONNECT */
	bool has_info;        /* the worker tells of datagrams of a connected socket, too */
	struct ns_endpoint
		ok_to;   /* the last destination that was found reachable, or that sent to us */
	uint32_t ok_len; /* octets: as long as this they may be, where the length matters */
	struct ns_addr mcast_if;
	int watch_fd; /* copy of the program's end while a call waits for a datagram; -1: none */
	struct event *watch;
};
