/* SPDX-License-Identifier: Apache-2.0 */
/* agent_dgram.h - what agent_dgram.c and agent_dgram_recv.c share */
#pragma once

#include "daemon/agent/agent_int.h"

/* Rows of datagrams that are in a pair, and errors that wait for MSG_ERRQUEUE, of one socket. */
#define DGRAM_NAMES_MAX  1024u
#define DGRAM_ERRORS_MAX 32u
/* Octets of quoted datagrams in all errors that wait; an error beyond it comes without its quote. */
#define DGRAM_QUOTES_MAX (4u << 20)

/** struct dgram_name - who sent a datagram that is or was in the pair */
struct dgram_name {
	struct list node;
	struct ipc_dgram_row row;
};

/** struct dgram_error - an error that waits for MSG_ERRQUEUE */
struct dgram_error {
	struct list node;
	struct ipc_dgram_err e;
	uint8_t quote[]; /* @e.quote_len octets */
};

/** struct adgram - a socket of datagrams, besides its asock */
struct adgram {
	struct list names; /* in the order of the pair */
	uint32_t name_cnt;
	struct list errors; /* oldest first; with IP_RECVERR */
	uint32_t error_cnt;
	uint32_t token_cnt; /* empty datagrams in the pair that stand for an error */
	bool is_ping; /* an echo socket: its port is the identifier, what it sends whole ICMP messages */
	bool is_bound, is_connected;
	bool is_mute;         /* shut for writing */
	bool is_deaf;         /* shut for reading: nobody waits for a datagram */
	bool is_unconnecting; /* @op CONNECT is DGRAM_UNCONNECT */
	bool gathers;  /* UDP_CORK or MSG_MORE was used: each send is asked about, in order */
	bool is_asked; /* and it was, about the call that is tried again now */
	bool has_info; /* the worker tells of datagrams of a connected socket, too */
	struct ns_endpoint
		ok_to;   /* the last destination that was found reachable, or that sent to us */
	uint16_t ok_gso; /* likewise cut into such datagrams */
	uint32_t ok_len; /* octets: as long as this they may be, where the length matters */
	struct ns_addr mcast_if; /* IP_MULTICAST_IF */
	uint32_t mcast_ifindex6; /* IPV6_MULTICAST_IF */
	struct ns_addr path_to;  /* IPV6_RECVPATHMTU: what the path to it takes was not told yet */
	uint32_t path_mtu;       /* octets, 0: there is nothing to tell */
	uint32_t path_ifindex;   /* of the link that was named, 0: none */
	int watch_fd; /* copy of the program's end while a call waits for a datagram; -1: none */
	struct event *watch;
};

/* ---- agent_dgram.c ---- */

/** dgram_error_pop() - the oldest error, which is the caller's; NULL: none */
struct dgram_error *dgram_error_pop(struct agent *a, struct adgram *d);

/** dgram_any_is_here() - 0.0.0.0 and :: as a destination are this host */
void dgram_any_is_here(const struct asock *s, struct ns_addr *addr);

/* ---- agent_dgram_opt.c ---- */

/** dgram_setsockopt(), dgram_getsockopt() - as handlers */
int64_t dgram_setsockopt(struct agent *a, struct call *c, struct asock *s, int fd);
int64_t dgram_getsockopt(struct agent *a, struct call *c, struct asock *s, int fd);

/* ---- agent_dgram_send.c ---- */

/** dgram_ask() - hold the call for an answer of the worker. Return: NULL at the cap, or without worker */
struct held *dgram_ask(struct agent *a, struct call *c, struct asock *s);
/** dgram_sendto(), dgram_sendmsg(), dgram_sendmmsg() - as handlers */
int64_t dgram_sendto(struct agent *a, struct call *c, struct asock *s, int fd);
int64_t dgram_sendmsg(struct agent *a, struct call *c, struct asock *s, int fd);
int64_t dgram_sendmmsg(struct agent *a, struct call *c, struct asock *s, int fd);
