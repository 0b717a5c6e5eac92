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
	UDP_ERRORS_MAX = 32,    /* errors of one socket that wait to be read */
	UDP_CHARGE = 512,       /* octets a queued datagram counts besides its payload */
	UDP_RCVBUF = 212992,    /* octets; linux net.core.rmem_default */
	UDP_SEGMENTS_MAX = 128, /* datagrams of one UDP_SEGMENT; linux UDP_MAX_SEGMENTS */
	UDP_CHUNKS = 17,        /* CHUNK_SMALL pieces of the longest datagram */
	UDP_RCVBUF_MIN = 2304,  /* octets */
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
	struct ns_addr local; /* that it was joined by; any: by none */
	uint32_t ifindex;
	bool is_exclude; /* hears all but the sources; false: those alone */
	bool has_list;   /* sources were named, of which none may be left */
	uint32_t source_cnt, source_cap;
	struct ns_addr *sources; /* as they were named */
};

/** struct udp_family - what a socket keeps twice: a socket of IPv6 speaks IPv4 with its options of IPv4 */
struct udp_family {
	struct ns_addr mcast_src;              /* IP_MULTICAST_IF; any: chosen */
	uint32_t mcast_ifindex, ucast_ifindex; /* 0: by route */
	uint32_t frag_mtu; /* IPV6_MTU: octets of IP packet at most, 0: the path's */
	uint8_t ttl, tos, mcast_ttl;
	uint8_t mtu_discover; /* enum pmtudisc */
	bool is_recverr, has_mcast_loop, hears_all_groups;
	bool is_dontfrag;      /* IPV6_DONTFRAG */
	bool is_recv_path_mtu; /* IPV6_RECVPATHMTU */
};

/** struct udp_gathered - a datagram that waits for more octets: UDP_CORK, MSG_MORE */
struct udp_gathered {
	bool is_pending;       /* it may be empty all the same */
	struct ns_dgram_tx tx; /* of the first send */
	uint32_t len, chunk_cnt;
	struct chunk *chunks[UDP_CHUNKS]; /* full, but for the last */
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
	bool has_user_src; /* that one is a source, too: no group, no broadcast (linux inet_saddr) */

	struct list queue; /* struct udp_dgram, oldest first */
	uint32_t queue_cnt, charge;
	uint64_t dropped;
	struct list errors; /* struct udp_error, oldest first */
	uint32_t error_cnt;

	struct udp_group *groups;
	uint32_t group_cnt, group_cap;
	struct udp_family fam[2]; /* IPv4, IPv6: udp_family_of() */
	uint16_t gso_size;        /* UDP_SEGMENT: octets; 0: off */
	uint32_t rcvbuf;          /* octets of charge */
	uint32_t sticky_ifindex6; /* IPV6_PKTINFO; 0: none */
	uint32_t mark;            /* SO_MARK */
	uint32_t uid;             /* NS_SO_UID */
	uint32_t stamp_flags;     /* enum ns_stamp */
	uint32_t stamp_key;       /* number of the next send that is told of */
	int sndbuf;
	bool is_broadcast, has_info, is_gro;
	bool is_no_check, is_no_check6_tx, is_no_check6_rx;
	bool is_corked; /* UDP_CORK */
	struct udp_gathered gathered;
};

/** udp_family_of() - the options for datagrams to and from @a */
static inline struct udp_family *udp_family_of(struct udp_sock *s, const struct ns_addr *a)
{
	return &s->fam[!ns_addr_is_v4(a)];
}

/** struct udp - the transport */
struct udp {
	struct ns_core *core;
	struct net *net;
	struct user_ops users;
	struct demux *demux; /* ports only */
	struct pool socks_pool, dgrams, errors;
	struct list socks;
	struct list starved;
	uint32_t chunk_cnt, chunk_cap; /* pieces in all receive queues, and gathered */
	bool is_ping;                  /* ping.c: ports are identifiers of echo requests */
	uint32_t bucket_cnt;
	struct list buckets[];
};

/* ---- udp.c ---- */

struct list *udp_bucket(struct udp *u, uint16_t port);
/** udp_autobind() - a port chosen by the stack, unless there is one. Return: 0 or -EADDRINUSE */
ns_must_check int udp_autobind(struct udp_sock *s);
/**
 * udp_peer() - an address to send or connect to, as the socket means it
 * @ifindex:	Link it is to leave by, 0: not said
 * @ret_to:	:: as the loopback address of the socket's family; link-local with a zone where one can be told
 *
 * Return: 0, -EAFNOSUPPORT, -ENETUNREACH (mapped, and the socket is of IPv6 alone)
 */
ns_must_check int udp_peer(const struct udp_sock *s, const struct ns_addr *to, uint32_t ifindex,
			   struct ns_addr *ret_to);
/** udp_pick_ifindex() - the link for @to: what a call @said, or the socket's options; 0: by route */
uint32_t udp_pick_ifindex(struct udp_sock *s, uint32_t said, const struct ns_addr *to);
/**
 * udp_route() - the way from @src to @to, by the link that the call or the socket's options say
 * @said:	The call's link, 0: none
 *
 * Return: 0, -EACCES (broadcast without SO_BROADCAST), or as net_route_dgram(); a link of the socket's that is not there
 * is -ENETUNREACH over IPv6
 */
ns_must_check int udp_route(struct udp_sock *s, const struct ns_endpoint *to,
			    const struct ns_addr *src, uint32_t said, uint8_t tos,
			    struct dst *ret_dst, bool *ret_is_group);
/** udp_any() - the address of a socket that has none: :: for one of IPv6 */
struct ns_addr udp_any(const struct udp_sock *s);
/** udp_tell() - news for the user */
void udp_tell(const struct udp_sock *s, uint32_t mask, int err);

/* ---- ping.c ---- */

enum { PING_HDR_LEN = 8 }; /* octets */

ns_must_check int ping_check(const struct ns_addr *to, const struct ns_iov *iov, size_t len);
void ping_header_push(struct pkt *p, const struct ns_iov *iov, const struct ns_addr *src,
		      const struct ns_addr *dst, uint16_t id);

/* ---- udp_opt.c ---- */

void udp_opt_init(struct udp_sock *s);
int udp_setopt(void *c, enum ns_sockopt opt, int value);
int udp_getopt(void *c, enum ns_sockopt opt, int *ret_value);

/* ---- udp_in.c ---- */

/** struct udp_in - a parsed datagram: @off octets from the packet's head on, @len octets */
struct udp_in {
	struct ns_endpoint local, remote;
	uint32_t off, len;
	uint32_t ifindex;  /* of the link it came by, or that a copy's original left by */
	uint16_t gso_size; /* octets of each datagram of a super-frame, 0: it is none */
	bool has_no_csum;  /* over IPv6, where it takes a socket that agreed to it (RFC 6935 5) */
};

/** udp_queue_push() - a copy of it for this socket */
enum drop udp_queue_push(struct udp_sock *s, const struct pkt *p, const struct udp_in *in,
			 const struct ip_rx *ip, struct mono now);

enum drop udp_input(void *self, struct pkt *p, const struct ip_rx *ip, struct mono now);
void udp_dgram_free(struct udp *u, struct udp_dgram *d);
int udp_peek(void *c, uint32_t idx, struct ns_dgram_rx *ret_rx, struct ns_iov *iov);
void udp_consume(void *c, uint32_t cnt);
/** udp_find() - the socket that hears @remote at @local by that link best; NULL: none. @ifindex 0: by any */
struct udp_sock *udp_find(struct udp *u, const struct ns_endpoint *local,
			  const struct ns_endpoint *remote, uint32_t ifindex);

/* ---- udp_out.c ---- */

/** udp_send_one() - udp_send() of a whole datagram; udp_check_one(): would it go? */
int udp_send_one(struct udp_sock *s, const struct ns_dgram_tx *tx, const struct ns_iov *iov,
		 uint32_t iov_cnt, struct mono now);
int udp_check_one(struct udp_sock *s, const struct ns_dgram_tx *tx, uint32_t len, struct mono now);
void udp_output(void *self, struct mono now);
/** udp_path_mtu() - octets of IP packet of the path there, or negative errno */
int udp_path_mtu(struct udp_sock *s, const struct ns_dgram_tx *tx, struct mono now);

/* ---- udp_cork.c ---- */

int udp_send(void *c, const struct ns_dgram_tx *tx, const struct ns_iov *iov, uint32_t iov_cnt,
	     struct mono now);
int udp_check(void *c, const struct ns_dgram_tx *tx, uint32_t len, struct mono now);
void udp_flush(void *c, struct mono now);
void udp_gathered_drop(struct udp_sock *s);

/* ---- udp_err.c ---- */

void udp_error(void *self, const struct icmp_err *e, struct mono now);
/** udp_refused() - a datagram was longer than its path: told to who asked for it (IP_RECVERR). Return: -EMSGSIZE */
int udp_refused(struct udp_sock *s, const struct ns_endpoint *to, uint32_t mtu);
/** udp_tell_path_mtu() - of the path to @to, by the link that was named or 0 (RFC 3542 11.3) */
void udp_tell_path_mtu(struct udp_sock *s, const struct ns_addr *to, uint32_t ifindex,
		       uint32_t mtu);
/** udp_error_push() - one more for the socket to read, unless there are too many */
void udp_error_push(struct udp_sock *s, const struct ns_dgram_err *e);
bool udp_take_error(void *c, struct ns_dgram_err *ret_err);

/* ---- udp_stamp.c ---- */

/** udp_stamp_set() - NS_SO_TIMESTAMPING */
void udp_stamp_set(struct udp_sock *s, uint32_t flags);
/** udp_stamp_wanted() - of this send. Return: enum ns_stamp, 0: nothing is to be told */
uint32_t udp_stamp_wanted(const struct udp_sock *s, const struct ns_dgram_tx *tx);
/** udp_stamp_begin() - a report of @p, its head at the transport header, as IP will have it by @ip */
void udp_stamp_begin(uint32_t flags, const struct ip_tx *ip, const struct pkt *p, uint32_t ifindex,
		     struct ns_dgram_err *ret_e);
/** udp_stamp_push() - it has left: told as @flags say */
void udp_stamp_push(struct udp_sock *s, uint32_t flags, struct ns_dgram_err *e, struct mono now);

/* ---- udp_group.c ---- */

int udp_group(void *c, enum ns_group_what what, const struct ns_group_req *q);
int udp_set_filter(void *c, const struct ns_group_req *q, const struct ns_filter *f);
int udp_get_filter(void *c, const struct ns_group_req *q, struct ns_filter *ret_filter);
int udp_multicast_if(void *c, const struct ns_addr *local, uint32_t ifindex);
/** udp_hears() - does that link hear what @src sends to @group? DROP_NONE, or why not */
enum drop udp_hears(const struct udp *u, const struct ns_addr *group, const struct ns_addr *src,
		    uint32_t ifindex);
/** udp_sock_hears() - does this socket? */
bool udp_sock_hears(const struct udp_sock *s, const struct ns_addr *group,
		    const struct ns_addr *src, uint32_t ifindex);
/** udp_groups_leave() - all of them */
void udp_groups_leave(struct udp_sock *s);
