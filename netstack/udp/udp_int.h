/* SPDX-License-Identifier: Apache-2.0 */
/* udp_int.h - what the files of udp/ share */
#pragma once

#include "base/list.h"
#include "base/pool.h"
#include "net/proto.h"
#include "udp/udp.h"
#include "wire/udp.h"

enum {
	UDP_BUCKETS_MAX = 1024,
	UDP_GROUPS_MAX = 20, /* groups of one socket; linux net.ipv4.igmp_max_memberships */
	UDP_ERRORS_MAX = 16, /* errors of one socket that wait to be read */
	UDP_PMTU_SLOTS = 64,
	UDP_CHARGE = 512,      /* octets a queued datagram counts besides its payload */
	UDP_RCVBUF = 212992,   /* octets; linux net.core.rmem_default */
	UDP_CHUNKS = 17,       /* CHUNK_SMALL pieces of the longest datagram */
	UDP_RCVBUF_MIN = 2304, /* octets */
	UDP_PMTU_MIN = 552,    /* octets; linux net.ipv4.route.min_pmtu */
};

static_assert(UDP_CHUNKS * CHUNK_SMALL >= NS_DGRAM_MAX, "all of a datagram");
static_assert(NS_DGRAM_IOVS >= UDP_CHUNKS, "an iovec for each piece");

/** struct udp_dgram - a received datagram in the queue of one socket */
struct udp_dgram {
	struct list node;
	struct ns_dgram_rx rx;
	uint32_t chunk_cnt;
	struct chunk *chunks[UDP_CHUNKS];
};

/** struct udp_error - an ICMP error that waits to be read */
struct udp_error {
	struct list node;
	struct ns_dgram_err e;
};

/** struct udp_group - a membership; ifindex is always set */
struct udp_group {
	struct ns_addr addr;
	uint32_t ifindex;
};

/** struct udp_sock - one socket */
struct udp_sock {
	struct list all;     /* in udp.socks */
	struct list hash;    /* in udp.buckets, while bound */
	struct list starved; /* in udp.starved: told -EAGAIN, wants NS_EV_OUT */
	struct udp *udp;
	void *user;
	struct demux_bind bind; /* the port, and the address that bind() named */
	struct ns_endpoint remote;
	struct ns_addr src; /* connected without bound address: our address on that path */
	bool is_connected;
	bool has_user_port; /* bind() named it: connect(NULL) keeps it */
	bool has_user_addr;

	struct list queue; /* struct udp_dgram, oldest first */
	uint32_t queue_cnt, charge;
	uint64_t dropped;
	struct list errors; /* struct udp_error, oldest first */
	uint32_t error_cnt;

	struct udp_group groups[UDP_GROUPS_MAX];
	uint32_t group_cnt;
	struct ns_addr mcast_src; /* IP_MULTICAST_IF; any: chosen */
	uint32_t mcast_ifindex;
	uint32_t rcvbuf; /* octets of charge */
	int sndbuf;
	uint8_t ttl, tos, mcast_ttl, mtu_discover;
	bool is_broadcast, is_no_check, is_recverr, has_mcast_loop, hears_all_groups, has_info;
};

/** struct udp_pmtu - what a router said about a path */
struct udp_pmtu {
	struct ns_addr dst;
	uint32_t mtu; /* octets, 0: free */
	struct mono expires;
};

/** struct udp - the transport */
struct udp {
	struct ns_core *core;
	struct net *net;
	struct user_ops users;
	struct demux *demux; /* ports only */
	struct pool socks_pool, dgrams, errors;
	struct list socks;
	struct list starved;
	uint32_t chunk_cnt, chunk_cap; /* pieces in all receive queues */
	struct udp_pmtu pmtu[UDP_PMTU_SLOTS];
	uint32_t bucket_cnt;
	struct list buckets[];
};

/* ---- udp.c ---- */

struct list *udp_bucket(struct udp *u, uint16_t port);
/** udp_autobind() - a port chosen by the stack, unless there is one. Return: 0 or -EADDRINUSE */
ns_must_check int udp_autobind(struct udp_sock *s);
/** udp_tell() - news for the user */
void udp_tell(const struct udp_sock *s, uint32_t mask, int err);

/* ---- udp_in.c ---- */

enum drop udp_input(void *self, struct pkt *p, const struct ip_rx *ip, struct mono now);
void udp_dgram_free(struct udp *u, struct udp_dgram *d);
int udp_peek(void *c, uint32_t idx, struct ns_dgram_rx *ret_rx, struct ns_iov *iov);
void udp_consume(void *c, uint32_t cnt);
/** udp_find() - the socket that hears @remote at @local best; NULL: none */
struct udp_sock *udp_find(struct udp *u, const struct ns_endpoint *local,
			  const struct ns_endpoint *remote);

/* ---- udp_out.c ---- */

int udp_send(void *c, const struct ns_dgram_tx *tx, const struct ns_iov *iov, uint32_t iov_cnt,
	     struct mono now);
int udp_check(void *c, const struct ns_dgram_tx *tx, uint32_t len, struct mono now);
void udp_output(void *self, struct mono now);

/* ---- udp_err.c ---- */

void udp_error(void *self, const struct icmp_err *e, struct mono now);
bool udp_take_error(void *c, struct ns_dgram_err *ret_err);
/** udp_pmtu_get() - octets of IP packet that @dst takes, at most @mtu */
uint32_t udp_pmtu_get(struct udp *u, const struct ns_addr *dst, uint32_t mtu, struct mono now);

/* ---- udp_group.c ---- */

int udp_group(void *c, const struct ns_addr *group, const struct ns_addr *local, uint32_t ifindex,
	      bool is_join);
int udp_multicast_if(void *c, const struct ns_addr *local, uint32_t ifindex);
/** udp_hears() - does a member of this host hear @group on that link; any link for packets of ours (ifindex 1) */
bool udp_hears(const struct udp *u, const struct ns_addr *group, uint32_t ifindex);
/** udp_sock_hears() - does this socket? */
bool udp_sock_hears(const struct udp_sock *s, const struct ns_addr *group, uint32_t ifindex);
