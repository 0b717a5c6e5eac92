/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto.h - the ops tables at which IP, the transports and the socket layer meet
 *
 * Theory of operation
 *
 *   sock/  --transport_ops-->  tcp/ udp/  --net_*()-->  net/
 *   sock/  <---user_ops------  tcp/ udp/  <--proto_ops- net/
 *
 * net/ knows no transport, sock/ knows no transport, a transport knows neither of their structs but
 * what is here. stack.c introduces them to each other. Every call down passes the time; nobody
 * stores it as "now".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/hash.h"
#include "base/mono.h"
#include "base/stats.h"
#include "base/timer.h"
#include "buf/bytes.h"
#include "buf/pkt.h"
#include "ns/addr.h"
#include "ns/env.h"
#include "ns/iov.h"
#include "ns/route.h"
#include "ns/sock.h"

struct net;
struct link;
struct neigh;

/* --- what all layers of one stack share ---------------------------------------------------- */

/** struct ns_core - the narrow thing lower layers get instead of the stack */
struct ns_core {
	const struct ns_env *env;
	struct ns_limits limits; /* all set */
	int knobs[NS_KNOB_COUNT];
	struct timers timers;
	struct pool pkts;
	struct pool slices;
	struct chunk_pools chunks;
	struct hash_key key; /* from env->random at start */
	struct ns_stats *stats;
};

void core_knobs_init(struct ns_core *c);

/** core_knob() - a value of knobs.def */
static inline int core_knob(const struct ns_core *c, enum ns_knob knob)
{
	return c->knobs[knob];
}

/* --- IP towards transports ------------------------------------------------------------------ */

/** struct ip_rx - what IP knows of a received packet; @p's linear area starts at the transport header */
struct ip_rx {
	struct ns_addr src, dst;
	struct link *link;
	uint8_t proto;
	uint8_t ttl;
	uint8_t tos;       /* DSCP and ECN */
	uint16_t frag_len; /* octets of the largest IP packet that it came in; 0: it came whole */
	bool csum_ok;      /* the transport checksum need not be verified */
	bool is_router_alert; /* IPv6: it had that option */
	bool is_dst_foreign;  /* @dst is not ours: nothing is sent from it */
	bool is_bcast;        /* link or IP broadcast or multicast: TCP drops (RFC 9293 MUST-57) */
};

/** struct icmp_err - an ICMP error about one of ours, quoted header already parsed and bounded */
struct icmp_err {
	struct ns_endpoint local, remote; /* of the quoted packet: local was its source */
	struct ns_addr from;              /* who sent the error */
	uint32_t seq;                     /* quoted TCP sequence number, valid when has_seq */
	uint32_t mtu;                     /* next-hop MTU, octets, when is_frag_needed */
	int err;                          /* negative errno the error stands for */
	uint8_t type, code; /* of the ICMP message; of "host unreachable" for our own */
	bool has_seq;
	bool is_frag_needed;
	bool is_hard;            /* aborts a connection in SYN-SENT (RFC 1122 4.2.3.9, RFC 5461) */
	const struct ip_rx *ip;  /* of the message itself; NULL: our own */
	const struct pkt *quote; /* the quoted packet, from @quote_off on its transport header */
	uint32_t quote_off;
	uint16_t quoted_len; /* RFC 4884: octets of @quote before the extensions; 0: not said */
};

struct proto_ops {
	/** one packet up; Consumes @p; DROP_NONE: accepted */
	enum drop (*input)(void *self, struct pkt *p, const struct ip_rx *ip, struct mono now);
	void (*error)(void *self, const struct icmp_err *e, struct mono now);
};

/** struct dst - a resolved path, kept by a connection; net_dst_check() before use */
struct dst {
	struct link *link;
	struct ns_addr src; /* source address the route prefers */
	struct ns_addr nexthop;
	uint32_t
		mtu; /* octets of IP packet that link and route take; net_pmtu() knows of the path */
	uint32_t generation; /* of the routing table */
};

/** enum pmtudisc - IP_PMTUDISC_* and IPV6_PMTUDISC_* of Linux, which are the same */
enum pmtudisc {
	PMTUDISC_DONT = 0, /* never asks routers not to fragment */
	PMTUDISC_WANT = 1,
	PMTUDISC_DO = 2,        /* what is longer than the path is refused */
	PMTUDISC_PROBE = 3,     /* likewise, and the path is the link alone */
	PMTUDISC_INTERFACE = 4, /* as DONT, and the path is the link alone */
	PMTUDISC_OMIT = 5,
};

struct ip_tx {
	struct ns_addr src, dst;
	uint8_t proto;
	uint8_t ttl; /* 0: net.ipv4.ip_default_ttl, 64 for IPv6 */
	uint8_t tos;
	bool dont_fragment;
	bool is_router_alert; /* RFC 2113, RFC 2711: routers on the way shall look */
};

/**
 * net_route() - path to @dst, optionally from @src (any: choose)
 * 0.0.0.0 is this host. Broadcast and multicast are -ENETUNREACH, as TCP wants it.
 *
 * :: is this host too. Link-local addresses are zoned (ns/addr.h).
 *
 * Return: 0, or -ENETUNREACH -EHOSTUNREACH -EACCES -EINVAL as Linux answers for the route's type,
 * -EADDRNOTAVAIL without an IPv6 address to send from, -EINVAL or -EAFNOSUPPORT when @src is of the
 * other family
 */
ns_must_check int net_route(struct net *n, const struct ns_addr *dst, const struct ns_addr *src,
			    struct dst *ret_dst);
/** net_route_flow() - net_route() with all that rules may look at; -ENODEV for an oif that is not there */
ns_must_check int net_route_flow(struct net *n, const struct ns_flow *flow, struct dst *ret_dst);
/**
 * net_route_dgram() - net_route_flow() that also knows broadcast and multicast
 * @ret_is_group:	Broadcast or multicast: several may hear it, and members of it on this host
 * @ret_is_bcast:	Broadcast: needs SO_BROADCAST
 */
ns_must_check int net_route_dgram(struct net *n, const struct ns_flow *flow, struct dst *ret_dst,
				  bool *ret_is_group, bool *ret_is_bcast);
/** net_ifindex_of() - the link that has address @a, or that a route to @a leaves by; 0: none */
uint32_t net_ifindex_of(const struct net *n, const struct ns_addr *a);
/**
 * net_zone() - give a link-local address that has no zone that of a link
 * @ifindex:	The link, 0: the first that has an IPv6 address (linux: the first with a route to fe80::/64)
 */
struct ns_addr net_zone(const struct net *n, struct ns_addr a, uint32_t ifindex);
/** struct net_filter - from whom a socket hears a group: from those alone, or from all but those */
struct net_filter {
	bool is_exclude;
	uint32_t cnt;
	const struct ns_addr *sources;
};

/**
 * net_group_set() - a socket's filter for @group on that link is another one: nothing, or all of it, happens
 * @was:	As it was given before; NULL: it is a member only now
 * @is:		NULL: it is a member no more
 *
 * Return: 0, -ENODEV, -ENOBUFS
 */
ns_must_check int net_group_set(struct net *n, const struct ns_addr *group, uint32_t ifindex,
				const struct net_filter *was, const struct net_filter *is);
/** net_group_has() - does any socket hear @group on that link; by the loop link: on any */
bool net_group_has(const struct net *n, const struct ns_addr *group, uint32_t ifindex);
/** net_group_hears() - do the filters of its members there let @src through? */
bool net_group_hears(const struct net *n, const struct ns_addr *group, const struct ns_addr *src,
		     uint32_t ifindex);
/** net_has_link() - is there a link of that number? */
bool net_has_link(const struct net *n, uint32_t ifindex);
/**
 * net_rx_ifindex() - the link that a program is told of, and that a socket may be bound to
 *
 * What we send to an address of ours comes by that address' link over IPv6 (linux ip6_rcv_core():
 * IP6CB(skb)->iif), by the loop over IPv4.
 */
uint32_t net_rx_ifindex(const struct net *n, const struct ip_rx *ip);
/** net_link_ifindex() - the container's number of a link */
uint32_t net_link_ifindex(const struct link *l);
/** net_loop_dst() - the path to ourselves, for a copy of what goes to a group */
void net_loop_dst(const struct net *n, const struct ns_addr *dst, struct dst *ret_dst);
/** net_pmtu() - octets of IP packet that the path @d takes to @to: what a router said (net/pmtu.c), at most the link's and the route's */
uint32_t net_pmtu(struct net *n, const struct dst *d, const struct ns_addr *to, struct mono now);
/** net_pmtu_learn() - a router said @mtu about a packet to @to, and the transport that sent it believes it */
void net_pmtu_learn(struct net *n, const struct ns_addr *to, uint32_t mtu, struct mono now);
/** net_dst_is_loop() - it stays on this host */
bool net_dst_is_loop(const struct dst *d);
/** net_dst_is_current() - false: routes changed since, look up again */
bool net_dst_is_current(const struct net *n, const struct dst *d);
/** net_dst_room() - packets this path's link takes now without queueing beyond its limit; 0: come back, the transport is woken by its writable hook */
uint32_t net_dst_room(const struct net *n, const struct dst *d);
/** net_dst_gso() - octets of TCP payload one super-segment may carry on this path, a multiple of @mss, at least @mss; @hdr_len octets of IP and TCP headers */
uint32_t net_dst_gso(const struct net *n, const struct dst *d, uint32_t mss, uint32_t hdr_len);
/** net_dst_takes_uso() - may @segs datagrams leave as one IP packet of @len octets on this path? */
bool net_dst_takes_uso(const struct net *n, const struct dst *d, uint32_t len, uint32_t segs);
/** net_is_local() - is @a one of ours (bindable)? */
bool net_is_local(const struct net *n, const struct ns_addr *a);

/**
 * net_output() - send one transport packet: @p's linear area starts at the transport header
 *
 * Prepends IP and link headers, resolves the neighbour (queueing while that lasts), queues on the
 * link; frames leave at the end of the turn. p->l4_off, gso_size, gso_segs, gso_type are set by the
 * transport (gso_segs > 1: super-frame). The checksum field holds the pseudo-header sum
 * (p->csum = PKT_CSUM_PARTIAL, csum_off set by the transport, csum_start by us); whoever must, completes it.
 * Consumes @p on every path.
 *
 * Return: 0, or negative errno when it could not even be queued
 */
int net_output(struct net *n, const struct dst *d, const struct ip_tx *ip, struct pkt *p,
	       struct mono now);
/** net_port_unreachable() - answer @p, as proto_ops.input was given it, with "port unreachable"; rate limited; borrowed */
void net_port_unreachable(struct net *n, const struct pkt *p, const struct ip_rx *ip,
			  struct mono now);
/** net_confirm() - forward progress on this path: its neighbour is reachable (RFC 4861 7.3.1) */
void net_confirm(struct net *n, const struct dst *d, struct mono now);

/* --- ports and demultiplexing (net/demux.c), shared by TCP and UDP --------------------------- */

struct demux;

/** struct demux_key - one connection; host byte order ports */
struct demux_key {
	struct ns_endpoint local, remote;
};

/** struct demux_conn - embedded in what is found by four-tuple */
struct demux_conn {
	struct list hash;
	struct demux_key key;
	uint8_t kind; /* of the transport's own choosing: connection, TIME-WAIT entry, half-open */
};

/** struct demux_bind - embedded in what owns or shares a local port */
struct demux_bind {
	struct list hash;
	struct list conn_hash;    /* while listening: in the listeners' table */
	struct ns_endpoint local; /* addr any: every address */
	uint32_t ifindex;         /* hears by this link alone; 0: by any */
	bool is_bound, is_listening;
	bool reuseaddr, reuseport;
	bool is_v6;     /* of a socket of IPv6: where none is named, it is bound to :: */
	bool is_v6only; /* @local any (::) is of IPv6 alone; set before it is bound */
	bool is_ephemeral; /* given by demux_bind_ephemeral(): others may share the port for other remotes */
};

ns_must_check struct demux *demux_new(const struct hash_key *key, uint32_t conn_cap,
				      uint32_t sock_cap);
void demux_follow_knobs(struct demux *d, const struct ns_core *core);
void demux_free(struct demux *d);
struct demux_conn *demux_find_conn(struct demux *d, const struct demux_key *k);
/** demux_add_conn() - -EEXIST when the four-tuple is taken */
ns_must_check int demux_add_conn(struct demux *d, struct demux_conn *c);
void demux_del_conn(struct demux *d, struct demux_conn *c);
/** demux_find_listener() - for what came by link @ifindex (0: any): exact address first, then any; with several reuseport listeners by hash of @k */
struct demux_bind *demux_find_listener(struct demux *d, const struct demux_key *k,
				       uint32_t ifindex);
/**
 * demux_bind_port() - claim @local for @b (port 0: RFC 6056 algorithm 3 with @d's key and a random offset)
 * Linux rules: a conflict unless both have reuseaddr and neither listens, or both have reuseport.
 * Return: 0, -EADDRINUSE
 */
ns_must_check int demux_bind_port(struct demux *d, struct demux_bind *b,
				  const struct ns_endpoint *local, uint32_t rnd);
/** demux_bind_ephemeral() - a local port such that (local addr, port, remote) is free; RFC 6056 3.3.3; -EADDRNOTAVAIL when none is */
ns_must_check int demux_bind_ephemeral(struct demux *d, struct demux_bind *b,
				       const struct ns_addr *local,
				       const struct ns_endpoint *remote, uint32_t rnd);
/** demux_listen() - mark as listening; -EADDRINUSE when another listens there without shared reuseport */
ns_must_check int demux_listen(struct demux *d, struct demux_bind *b);
void demux_share_port(struct demux *d, struct demux_bind *b, const struct demux_bind *from,
		      const struct ns_endpoint *local);
void demux_unbind(struct demux *d, struct demux_bind *b);

/* --- transports towards sockets -------------------------------------------------------------- */

/** struct user_ops - the transport tells its user; called from input, timers and output, never re-enters the transport */
struct user_ops {
	/** @mask of enum ns_event_mask; @err negative errno with NS_EV_ERR */
	void (*event)(void *user, uint32_t mask, int err);
	/** the handle @user is known by, for ns_sock_row.sock; @user is not NULL */
	ns_sock (*handle)(const void *user);
};

/** struct dgram_ops - what a transport of datagrams has besides; as ns_dgram_* in ns/sock.h */
struct dgram_ops {
	int (*connect)(void *c, const struct ns_endpoint *remote); /* NULL: undo */
	int (*send)(void *c, const struct ns_dgram_tx *tx, const struct ns_iov *iov,
		    uint32_t iov_cnt, struct mono now);
	int (*check)(void *c, const struct ns_dgram_tx *tx, uint32_t len, struct mono now);
	void (*flush)(void *c, struct mono now);
	int (*peek)(void *c, uint32_t idx, struct ns_dgram_rx *ret_rx, struct ns_iov *iov);
	void (*consume)(void *c, uint32_t cnt);
	bool (*take_error)(void *c, struct ns_dgram_err *ret_err);
	int (*group)(void *c, enum ns_group_what what, const struct ns_group_req *q);
	int (*set_filter)(void *c, const struct ns_group_req *q, const struct ns_filter *f);
	int (*get_filter)(void *c, const struct ns_group_req *q, struct ns_filter *ret_filter);
	int (*multicast_if)(void *c, const struct ns_addr *local, uint32_t ifindex);
	uint64_t (*dropped)(void *c);
};

/**
 * struct transport_ops - what the socket layer calls; @c is the transport's own connection object
 *
 * Semantics, errors and units are those of the ns_sock_* function of the same name in ns/sock.h.
 * The transport keeps a connection alive after close/abort as long as the protocol needs; the
 * pointer is dead for the caller from then on. user == NULL: nobody to tell.
 */
struct transport_ops {
	const struct dgram_ops *dgram; /* NULL: a stream */
	int (*open)(void *self, void *user, void **ret_c);
	void (*set_user)(void *c, void *user);
	int (*bind)(void *c, const struct ns_endpoint *local);
	int (*listen)(void *c, int backlog);
	int (*connect)(void *c, const struct ns_endpoint *remote, struct mono now);
	int (*accept)(void *c, void **ret_c);
	int (*local)(void *c, struct ns_endpoint *ret_local);
	int (*remote)(void *c, struct ns_endpoint *ret_remote);
	uint32_t (*send_room)(void *c);
	int (*send_reserve)(void *c, uint32_t want, struct ns_iov *iov, uint32_t iov_cnt);
	void (*send_commit)(void *c, uint32_t len, bool more);
	void (*send_eor)(void *c);    /* NULL: records are kept apart anyway */
	void (*send_urgent)(void *c); /* NULL, as the next: it has none */
	uint32_t (*recv_urgent)(void *c);
	int (*recv_peek)(void *c, struct ns_iov *iov, uint32_t iov_cnt);
	void (*recv_consume)(void *c, uint32_t len);
	bool (*is_eof)(void *c);
	void (*shutdown_send)(void *c);
	void (*close)(void *c);
	void (*abort)(void *c);
	int (*setopt)(void *c, enum ns_sockopt opt, int value);
	int (*getopt)(void *c, enum ns_sockopt opt, int *ret_value);
	int (*set_fastopen_keys)(void *c, const uint8_t *keys, uint32_t len); /* NULL: no stream */
	uint32_t (*fastopen_keys)(const void *c, uint8_t keys[NS_FASTOPEN_KEYS_LEN]);
	int (*info)(void *c, struct mono now, struct ns_tcp_info *ret_info);
	/** build and hand down what is due; called once a turn and when a link became writable */
	void (*output)(void *self, struct mono now);
	void (*rows)(void *self, void (*fn)(void *ctx, const struct ns_sock_row *row), void *ctx);
};
