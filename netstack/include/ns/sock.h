/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sock.h - sockets of the stack, by handle: streams (TCP) and datagrams (UDP, echo requests)
 *
 * Theory of operation
 *
 * A handle is index and generation: a stale one is answered -EBADF, never mistaken for another.
 * Handles of accepted connections come from ns_sock_accept().
 *
 * Readiness is edge-like: ns_stack_next_event() gives each socket with news once, with all its
 * news in one mask; the embedder then acts until it would block.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "ns/addr.h"
#include "ns/iov.h"
#include "ns/stack.h"

typedef uint32_t ns_sock; /* 0: no socket */

enum ns_event_mask {
	NS_EV_CONNECTED = 1u << 0, /* connect() succeeded */
	NS_EV_ACCEPT = 1u << 1,    /* a listener has connections to accept */
	NS_EV_IN = 1u << 2,        /* octets to read */
	NS_EV_OUT = 1u << 3,       /* send room where there was none (or too little) */
	NS_EV_EOF = 1u << 4, /* the peer's FIN is the next thing to read once octets are drained */
	NS_EV_ERR =
		1u
		<< 5, /* connection failed or was reset: ns_event.err; nothing more comes but what is queued */
	NS_EV_URG = 1u << 6, /* among the octets to read is an urgent one: ns_sock_recv_urgent() */
};

struct ns_event {
	ns_sock sock;
	uint32_t mask; /* enum ns_event_mask */
	int err; /* negative errno with NS_EV_ERR: -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EHOSTUNREACH, ... */
	void *user; /* as set by ns_sock_set_user() */
};

enum ns_sockopt {
	NS_SO_REUSEADDR,    /* bool */
	NS_SO_REUSEPORT,    /* bool */
	NS_SO_KEEPALIVE,    /* bool */
	NS_SO_LINGER,       /* seconds, -1: off; 0: ns_sock_close() resets */
	NS_SO_SNDBUF,       /* octets; fixes the size, no autotuning */
	NS_SO_RCVBUF,       /* octets */
	NS_SO_PRIORITY_TOS, /* IP_TOS octet */
	NS_SO_TTL,
	NS_SO_MARK, /* 32 bits: what rules with a fwmark look at */
	NS_SO_UID,  /* 32 bits: who made it, what rules with a range of users look at */
	NS_SO_V6ONLY, /* -1: a socket of IPv4 (as opened); 0: of IPv6, :: hears IPv4 too; 1: IPv6 alone; before bind */
	NS_TCP_NODELAY,   /* bool */
	NS_TCP_CORK,      /* bool */
	NS_TCP_QUICKACK,  /* bool */
	NS_TCP_MAXSEG,    /* octets; get: current MSS */
	NS_TCP_KEEPIDLE,  /* seconds */
	NS_TCP_KEEPINTVL, /* seconds */
	NS_TCP_KEEPCNT,
	NS_TCP_USER_TIMEOUT, /* milliseconds */
	NS_TCP_SYNCNT,
	NS_TCP_LINGER2,       /* seconds */
	NS_TCP_DEFER_ACCEPT,  /* seconds */
	NS_TCP_WINDOW_CLAMP,  /* octets */
	NS_TCP_NOTSENT_LOWAT, /* octets */
	NS_TCP_CONGESTION,    /* enum ns_congestion */
	NS_TCP_FASTOPEN, /* of a listener: connections that are open before their handshake is over, at most */
	NS_TCP_FASTOPEN_CONNECT, /* bool: connect() may wait for octets to send with the SYN */
	NS_TCP_FASTOPEN_NO_COOKIE, /* bool: of a listener: takes octets of SYNs without; else: sends them without */
	NS_SO_MAX_PACING_RATE, /* octets a second as uint32_t, -1: no limit */
	NS_SO_BROADCAST,       /* bool; datagrams only, as all that follow */
	NS_SO_NO_CHECK,        /* bool: send without checksum (RFC 1122 4.1.3.4) */
	NS_IP_MTU_DISCOVER,    /* IP_PMTUDISC_* of Linux: 0 never sets DF .. 5 */
	NS_IP_RECVERR,         /* bool: keep ICMP errors, of unconnected sockets, too */
	NS_IP_MULTICAST_TTL,
	NS_IP_MULTICAST_LOOP, /* bool: members on this host hear what we send */
	NS_IP_MULTICAST_ALL,  /* bool: hear groups that other sockets joined */
	NS_SO_BINDTOIFINDEX,  /* ifindex: hears and speaks by that link alone; 0: by any. -ENODEV */
	NS_IP_UNICAST_IF, /* ifindex of the link that datagrams to one host leave by; 0: by route */
	NS_IP_MTU,        /* get: octets, of a connected socket's path */
	NS_IPV6_TCLASS, /* of datagrams of IPv6, as all NS_IPV6_*: those of IPv4 have NS_SO_PRIORITY_TOS ... */
	NS_IPV6_UNICAST_HOPS,
	NS_IPV6_MULTICAST_HOPS,
	NS_IPV6_MULTICAST_LOOP, /* bool */
	NS_IPV6_MULTICAST_ALL,  /* bool */
	NS_IPV6_MTU_DISCOVER,   /* as NS_IP_MTU_DISCOVER */
	NS_IPV6_RECVERR,        /* bool */
	NS_IPV6_DONTFRAG,       /* bool: what is longer than the path is refused */
	NS_IPV6_RECVPATHMTU, /* bool: ns_dgram_err with @is_path_mtu of what NS_IPV6_DONTFRAG refuses (RFC 3542 11.3) */
	NS_IPV6_MTU, /* octets, from 1280: no longer packet; 0: the path's. get: as NS_IP_MTU */
	NS_IPV6_UNICAST_IF,
	NS_IPV6_PKTINFO_IF, /* ifindex that all leave by, groups as well; 0: none. Whether there is one shows when sending. RFC 3542 6.1 */
	NS_UDP_SEGMENT, /* octets, 0..65535: what is longer leaves as datagrams of that length; 0: off */
	NS_SO_TIMESTAMPING, /* enum ns_stamp: when what is sent has left comes as an error of origin NS_ERR_TIMESTAMPING */
	NS_UDP_GRO, /* bool: datagrams that came in one super-frame are handed over in one piece */
	NS_UDP_NO_CHECK6_TX, /* bool: send over IPv6 without checksum (RFC 6935 5) */
	NS_UDP_NO_CHECK6_RX, /* bool: take datagrams of IPv6 that have none */
	NS_UDP_CORK, /* bool: sends gather in one datagram until ns_dgram_flush(), or the first send after it is off */
	NS_DGRAM_INFO, /* bool; for the embedder, who wants ns_dgram_rx of each datagram: kept, no effect */
	NS_TCP_OUTQ, /* get: octets, a FIN counting as one, that the peer has not acknowledged (SIOCOUTQ of Linux) */
	NS_TCP_OUTQNSD, /* get: those of them that were never sent (SIOCOUTQNSD) */
	NS_TCP_INQ,     /* get: octets to read (SIOCINQ) */
	NS_SO_RCVLOWAT, /* octets; get: bool, are so many there, or will no more come (linux tcp_stream_is_readable()) */
	NS_SOCKOPT_COUNT
};

/** enum ns_congestion - values of NS_TCP_CONGESTION; the first is the default */
enum ns_congestion {
	NS_CC_CUBIC, /* RFC 9438 with RFC 9406 */
	NS_CC_RENO,  /* RFC 5681 */
	NS_CC_BBR,   /* draft-cardwell-iccrg-bbr-congestion-control-00 */
	NS_CC_COUNT
};

ns_must_check int ns_sock_open(struct ns_stack *s, ns_sock *ret_sock);
void ns_sock_set_user(struct ns_stack *s, ns_sock h, void *user);
/** ns_sock_user() - as set; NULL for a handle that is stale or made up */
void *ns_sock_user(struct ns_stack *s, ns_sock h);
/** ns_sock_bind() - 0.0.0.0 is all of IPv4, :: both families unless NS_SO_V6ONLY is 1; port 0: chosen (RFC 6056); -EADDRINUSE, -EADDRNOTAVAIL, -EINVAL already bound */
ns_must_check int ns_sock_bind(struct ns_stack *s, ns_sock h, const struct ns_endpoint *local);
ns_must_check int ns_sock_listen(struct ns_stack *s, ns_sock h, int backlog);
/** ns_sock_connect() - starts; -EINPROGRESS; 0: NS_TCP_FASTOPEN_CONNECT lets the program send at once; or -ENETUNREACH -EADDRNOTAVAIL -EISCONN -EALREADY ...; the result is NS_EV_CONNECTED or NS_EV_ERR */
ns_must_check int ns_sock_connect(struct ns_stack *s, ns_sock h, const struct ns_endpoint *remote,
				  struct mono now);
/** ns_sock_accept() - the oldest completed connection of a listener, -EAGAIN when there is none */
ns_must_check int ns_sock_accept(struct ns_stack *s, ns_sock h, ns_sock *ret_sock);
ns_must_check int ns_sock_local(struct ns_stack *s, ns_sock h, struct ns_endpoint *ret_local);
ns_must_check int ns_sock_remote(struct ns_stack *s, ns_sock h, struct ns_endpoint *ret_remote);

/** ns_sock_send_room() - octets the send queue would take now; 0 also after a FIN was queued or the connection ended */
uint32_t ns_sock_send_room(struct ns_stack *s, ns_sock h);
/**
 * ns_sock_send_reserve() - writable memory of the send queue for up to @want octets (the embedder reads into it)
 * Return: iovecs set, or -ENOTCONN -EPIPE -EAGAIN (no room) -ENOMEM
 */
ns_must_check int ns_sock_send_reserve(struct ns_stack *s, ns_sock h, uint32_t want,
				       struct ns_iov *iov, uint32_t iov_cnt);
/** ns_sock_send_commit() - @len octets of the reservation are there; @more: more follow at once (MSG_MORE) */
void ns_sock_send_commit(struct ns_stack *s, ns_sock h, uint32_t len, bool more);
/**
 * ns_sock_send_eor() - MSG_EOR: what was committed so far and what comes later never share a segment, not
 * even when sent again. The last few marks not sent yet are remembered; of more the newest replace each other.
 */
void ns_sock_send_eor(struct ns_stack *s, ns_sock h);
/** ns_sock_send_urgent() - MSG_OOB: the octet that was committed last is urgent; it replaces one that still waits */
void ns_sock_send_urgent(struct ns_stack *s, ns_sock h);

/** NS_NO_URGENT - there is none */
#define NS_NO_URGENT UINT32_MAX
/** ns_sock_recv_urgent() - how many octets are to be read before the urgent one, which is in the queue; NS_NO_URGENT */
uint32_t ns_sock_recv_urgent(struct ns_stack *s, ns_sock h);

/** ns_sock_recv_peek() - received octets in order, valid until the next call on this stack; iovecs set, 0: none */
ns_must_check int ns_sock_recv_peek(struct ns_stack *s, ns_sock h, struct ns_iov *iov,
				    uint32_t iov_cnt);
/** ns_sock_recv_consume() - the program has @len octets; opens the window */
void ns_sock_recv_consume(struct ns_stack *s, ns_sock h, uint32_t len);
/** ns_sock_is_eof() - the peer's FIN is in and all octets are consumed */
bool ns_sock_is_eof(struct ns_stack *s, ns_sock h);
/** ns_sock_shutdown_send() - FIN after what is queued */
void ns_sock_shutdown_send(struct ns_stack *s, ns_sock h);
/** ns_sock_close() - the handle is gone; the connection finishes by itself (FIN, TIME-WAIT), or by RST when unread octets are queued (RFC 2525 2.17) or LINGER is 0 */
void ns_sock_close(struct ns_stack *s, ns_sock h);
/** ns_sock_abort() - RST (when the state has one to send) and gone */
void ns_sock_abort(struct ns_stack *s, ns_sock h);
ns_must_check int ns_sock_setopt(struct ns_stack *s, ns_sock h, enum ns_sockopt opt, int value);
ns_must_check int ns_sock_getopt(struct ns_stack *s, ns_sock h, enum ns_sockopt opt,
				 int *ret_value);

/** NS_FASTOPEN_KEY_LEN - octets of a key that RFC 7413's cookies are made of; NS_FASTOPEN_KEYS_LEN: with a backup */
#define NS_FASTOPEN_KEY_LEN  16u
#define NS_FASTOPEN_KEYS_LEN (2 * NS_FASTOPEN_KEY_LEN)
/**
 * ns_sock_set_fastopen_keys() - keys of this listener, in place of the stack's (ns_stack_set_fastopen_keys())
 * @keys:	@len octets. Cookies are made of the first; those of the second are taken, and a new one is given
 * @len:	NS_FASTOPEN_KEY_LEN or NS_FASTOPEN_KEYS_LEN
 *
 * Return: 0, -EINVAL (another length), -ENOPROTOOPT (a socket of datagrams), -EBADF
 */
ns_must_check int ns_sock_set_fastopen_keys(struct ns_stack *s, ns_sock h, const uint8_t *keys,
					    uint32_t len);
/** ns_sock_fastopen_keys() - those that hold for this listener. Return: octets at @keys, 0 for a handle that is none */
uint32_t ns_sock_fastopen_keys(struct ns_stack *s, ns_sock h, uint8_t keys[NS_FASTOPEN_KEYS_LEN]);

/** struct ns_bbr_info - TCP_CC_INFO of BBR */
struct ns_bbr_info {
	uint64_t bw; /* octets a second */
	uint32_t min_rtt_us;
	uint32_t pacing_gain, cwnd_gain; /* 1/256 */
};

/** struct ns_tcp_info - what TCP_INFO tells; the embedder lays it out for Linux */
struct ns_tcp_info {
	uint8_t state; /* Linux numbering: 1 ESTABLISHED ... 11 CLOSING */
	uint8_t ca_state, retransmits, probes, backoff;
	bool has_ts, has_sack, has_wscale, has_ecn;
	uint8_t snd_wscale, rcv_wscale;
	uint32_t rto_us, ato_us, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
	bool has_ecn_seen; /* something came that could have told of congestion */
	uint32_t last_data_sent_ms, last_data_recv_ms, last_ack_recv_ms;
	/* rcv_ssthresh: the largest window that would be offered now; rcv_space: octets that the program took within a round trip */
	uint32_t pmtu, rcv_ssthresh, rtt_us, rttvar_us, snd_ssthresh, snd_cwnd, advmss, reordering;
	uint32_t rcv_rtt_us, rcv_space, total_retrans, snd_wnd, rcv_wnd, min_rtt_us, notsent_bytes;
	uint64_t bytes_acked, bytes_received, bytes_sent, bytes_retrans;
	uint32_t segs_out, segs_in, data_segs_in, data_segs_out;
	uint64_t busy_us;           /* something was outstanding or waited */
	uint64_t rwnd_limited_us;   /* of that: the peer's window was shut */
	uint64_t sndbuf_limited_us; /* of that: the send buffer was too small */
	uint32_t delivered, delivered_ce, dsack_dups, reord_seen, rcv_ooopack;
	uint16_t total_rto, total_rto_recoveries;
	uint32_t total_rto_ms;
	uint64_t pacing_rate, max_pacing_rate; /* octets a second, UINT64_MAX: none */
	uint64_t delivery_rate;                /* octets a second, 0: none yet */
	bool is_delivery_app_limited;
	bool has_syn_data; /* RFC 7413: octets of the SYN were taken */
	bool is_tfo_child; /* of an accepted connection: it began with the SYN alone */
	uint8_t fastopen_client_fail; /* why not: 1 no cookie, 2 not acknowledged, 3 the SYN was sent again, too */
	/* RFC 9768; packets, and octets by code point: what we got, what the peer says it got */
	uint32_t received_ce, received_e1_bytes, received_e0_bytes, received_ce_bytes;
	uint32_t delivered_e1_bytes, delivered_e0_bytes, delivered_ce_bytes;
	bool has_bbr;
	struct ns_bbr_info bbr;
};

ns_must_check int ns_sock_tcp_info(struct ns_stack *s, ns_sock h, struct mono now,
				   struct ns_tcp_info *ret_info);

/* ---- datagrams ------------------------------------------------------------------------------- */

/** NS_DGRAM_MAX - octets of the longest UDP payload, which is one over IPv6; NS_DGRAM_MAX4: over IPv4 */
#define NS_DGRAM_MAX  65527u
#define NS_DGRAM_MAX4 65507u
/** NS_DGRAM_IOVS - iovecs that hold any received datagram */
#define NS_DGRAM_IOVS 18u

/** enum ns_stamp - values of NS_SO_TIMESTAMPING, SOF_TIMESTAMPING_* of Linux; others have no effect */
enum ns_stamp {
	NS_STAMP_TX_SOFTWARE = 1u << 1, /* when the link had it */
	NS_STAMP_OPT_ID = 1u << 7,      /* sends are numbered */
	NS_STAMP_TX_SCHED = 1u << 8,    /* when IP had it */
	NS_STAMP_OPT_TSONLY = 1u << 11, /* the frame is not quoted */
};

/** enum ns_stamp_kind - ns_dgram_err.info, SCM_TSTAMP_* of Linux */
enum ns_stamp_kind {
	NS_STAMP_SND = 0,
	NS_STAMP_SCHED = 1,
};

/** struct ns_dgram_tx - where a datagram goes, and how */
struct ns_dgram_tx {
	bool has_to; /* false: to the connected peer */
	struct ns_endpoint to;
	struct ns_addr from; /* IP_PKTINFO: source address; any: the socket's, or chosen */
	uint32_t ifindex;    /* IP_PKTINFO: link to leave by; 0: by route */
	int16_t ttl, tos;    /* -1: the socket's */
	int8_t dontfrag;     /* IPV6_DONTFRAG: 1 yes, -1 no; 0: the socket's */
	bool more;           /* MSG_MORE: the next send adds to this datagram */
	bool has_stamp;      /* false: the socket's NS_SO_TIMESTAMPING says when to tell */
	uint16_t stamp;      /* NS_STAMP_TX_* */
	bool has_gso;        /* false: the socket's NS_UDP_SEGMENT */
	uint16_t gso_size; /* octets of each datagram that the payload is cut into; 0: it is not */
};

/** struct ns_dgram_rx - a received datagram */
struct ns_dgram_rx {
	struct ns_endpoint from, to;
	uint32_t ifindex; /* of the link it came by; 1: loop */
	uint32_t len;     /* octets */
	uint8_t ttl, tos;
	uint16_t
		gso_size; /* NS_UDP_GRO: octets of each datagram in it but the last; 0: it is one */
	uint16_t frag_len; /* octets of the largest IP packet that it came in; 0: it came whole */
	struct mono time;
};

/** enum ns_err_origin - SO_EE_ORIGIN_* of Linux */
enum ns_err_origin {
	NS_ERR_LOCAL = 1,
	NS_ERR_ICMP = 2,
	NS_ERR_ICMP6 = 3,
	NS_ERR_TIMESTAMPING = 4,
};

/** NS_DGRAM_QUOTE_MAX - octets kept of a quoted datagram: all that RFC 4443 2.4 (c) lets an error have */
#define NS_DGRAM_QUOTE_MAX 1232u

/** struct ns_dgram_err - what an ICMP error said about a datagram sent before, or that one was too long to be sent */
struct ns_dgram_err {
	int err;        /* negative errno */
	uint8_t origin; /* enum ns_err_origin */
	uint8_t type, code;
	uint32_t info; /* next-hop MTU with EMSGSIZE; enum ns_stamp_kind */
	uint32_t data; /* number of the send, NS_STAMP_OPT_ID */
	struct ns_addr offender;
	struct ns_endpoint to; /* of the datagram */
	struct ns_addr local;  /* to whom the ICMP message was; from whom what was sent */
	uint32_t ifindex;      /* of the link it came by; 1: our own */
	uint8_t ttl, tos;      /* of the message */
	struct mono time;
	/*
	 * What the message quotes of the datagram: payload of UDP, the whole of an echo request. RFC 4884: behind
	 * @ext_off octets of it are extensions, 0: none; @is_ext_bad: their checksum is wrong.
	 */
	uint16_t quote_len, ext_off;
	bool is_ext_bad;
	uint8_t quote[NS_DGRAM_QUOTE_MAX];
	bool is_path_mtu; /* no error: @info is what the path to @to takes, @ifindex the link that was named or 0 */
	bool is_fatal;  /* the socket's next call fails with it */
	bool is_queued; /* it is to be had by MSG_ERRQUEUE: the socket asked by NS_IP_RECVERR */
};

/** ns_dgram_open() - a UDP socket; bind, setopt, local, remote and close are those of ns_sock_* */
ns_must_check int ns_dgram_open(struct ns_stack *s, ns_sock *ret_sock);
/**
 * ns_ping_open() - an echo socket of ICMP, or of ICMPv6 with @is_v6: a datagram socket whose port is the
 * identifier and whose datagrams are whole ICMP messages, checksum and identifier made right. The port of
 * ns_dgram_err.to is the sequence number
 */
ns_must_check int ns_ping_open(struct ns_stack *s, bool is_v6, ns_sock *ret_sock);
/** ns_dgram_connect() - hear and speak to @remote alone; NULL: undo. -ENETUNREACH -EACCES (broadcast) -EADDRNOTAVAIL ... */
ns_must_check int ns_dgram_connect(struct ns_stack *s, ns_sock h, const struct ns_endpoint *remote);
/**
 * ns_dgram_send() - one datagram
 * @iov:	Payload, copied; @iov_cnt 0: empty
 *
 * Binds to a chosen port when that was not done. With a gso_size it is as many datagrams as that makes, at
 * most 128; -EMSGSIZE when one of them is too long for the path, -EINVAL when they are too many.
 *
 * While a datagram is gathered (@tx->more, NS_UDP_CORK) the call adds to it, and only the first one's @tx counts.
 * What makes it too long is refused with -EMSGSIZE and ends it: all of it is lost.
 *
 * Return: 0, -EAGAIN (the link has no room: NS_EV_OUT tells when), -EDESTADDRREQ -EMSGSIZE -EACCES
 * -EINVAL -ENETUNREACH -EHOSTUNREACH -ENOBUFS
 */
ns_must_check int ns_dgram_send(struct ns_stack *s, ns_sock h, const struct ns_dgram_tx *tx,
				const struct ns_iov *iov, uint32_t iov_cnt, struct mono now);
/** ns_dgram_check() - what ns_dgram_send() would say of @len octets to this destination; 0: it would try. A refusal ends what is gathered, too */
ns_must_check int ns_dgram_check(struct ns_stack *s, ns_sock h, const struct ns_dgram_tx *tx,
				 uint32_t len, struct mono now);
/** ns_dgram_flush() - what is gathered goes now; nothing happens when nothing is */
void ns_dgram_flush(struct ns_stack *s, ns_sock h, struct mono now);
/**
 * ns_dgram_peek() - the received datagram number @idx from the oldest (0) on
 * @iov:	NS_DGRAM_IOVS entries, valid until ns_dgram_consume()
 *
 * Return: iovecs set (0: an empty datagram), -EAGAIN when there are not so many
 */
ns_must_check int ns_dgram_peek(struct ns_stack *s, ns_sock h, uint32_t idx,
				struct ns_dgram_rx *ret_rx, struct ns_iov *iov);
/** ns_dgram_consume() - drop the oldest @cnt datagrams */
void ns_dgram_consume(struct ns_stack *s, ns_sock h, uint32_t cnt);
/** ns_dgram_take_error() - the oldest error; false when there is none. NS_EV_ERR tells that there is one */
bool ns_dgram_take_error(struct ns_stack *s, ns_sock h, struct ns_dgram_err *ret_err);
/** enum ns_group_what - what a socket wants of a multicast group */
enum ns_group_what {
	NS_GROUP_JOIN, /* hear everybody */
	NS_GROUP_LEAVE,
	NS_GROUP_JOIN_SOURCE,  /* hear this one; joins when that was not done */
	NS_GROUP_LEAVE_SOURCE, /* not this one any more; leaves with the last one */
	NS_GROUP_BLOCK_SOURCE, /* hear everybody but this one */
	NS_GROUP_UNBLOCK_SOURCE,
	NS_GROUP_WHAT_COUNT
};

/** struct ns_group_req - a group, and on which link */
struct ns_group_req {
	struct ns_addr group;
	struct ns_addr local;  /* any: see @ifindex */
	struct ns_addr source; /* of NS_GROUP_*_SOURCE */
	uint32_t ifindex;      /* 0: the link of @local, or of the route to @group */
	bool is_exact;         /* of ns_dgram_get_filter(): 0 is no link */
};

/** NS_OPTMEM_MAX - linux net.core.optmem_max: octets that the options of a socket may take */
#define NS_OPTMEM_MAX 131072u
/** NS_FILTER_MAX - sources of a filter, whatever net.ipv4.igmp_max_msf and net.ipv6.mld_max_msf say */
#define NS_FILTER_MAX 240u

/** struct ns_filter - from whom a socket hears a group */
struct ns_filter {
	bool is_exclude; /* from all but those; false: from those alone */
	uint32_t cnt;
	struct ns_addr source[NS_FILTER_MAX];
};

/**
 * ns_dgram_group() - join or leave a multicast group, or hear and not hear a source in it
 *
 * Return: 0, -EINVAL (no group; of a source: not joined, or a filter of the other mode), -ENODEV, -EADDRINUSE
 * (joined), -EADDRNOTAVAIL (not joined; the source is named already, or is not), -ENOBUFS, -ENOMEM (IPv6)
 */
ns_must_check int ns_dgram_group(struct ns_stack *s, ns_sock h, enum ns_group_what what,
				 const struct ns_group_req *q);
/**
 * ns_dgram_set_filter() - another filter for a group that was joined; one that hears nobody leaves it
 *
 * Return: 0, -EINVAL (no group, not joined), -ENODEV, -EADDRNOTAVAIL (nothing to leave), -ENOBUFS
 */
ns_must_check int ns_dgram_set_filter(struct ns_stack *s, ns_sock h, const struct ns_group_req *q,
				      const struct ns_filter *f);
/** ns_dgram_get_filter() - 0, -EINVAL (no group), -ENODEV, -EADDRNOTAVAIL (not joined) */
ns_must_check int ns_dgram_get_filter(struct ns_stack *s, ns_sock h, const struct ns_group_req *q,
				      struct ns_filter *ret_filter);
/** ns_dgram_multicast_if() - the link and source of multicast datagrams; both 0: by route again. -EADDRNOTAVAIL */
ns_must_check int ns_dgram_multicast_if(struct ns_stack *s, ns_sock h, const struct ns_addr *local,
					uint32_t ifindex);
/** ns_dgram_dropped() - datagrams lost because the receive queue was full */
uint64_t ns_dgram_dropped(struct ns_stack *s, ns_sock h);

/** ns_stack_next_event() - the next socket with news; false when there is none */
bool ns_stack_next_event(struct ns_stack *s, struct ns_event *ret_event);

/** ns_stack_sockets() - for the operator: @fn for every connection and listener, also those without a handle */
struct ns_sock_row {
	struct ns_endpoint local, remote;
	const char *state;
	uint64_t sndq_len, rcvq_len; /* octets */
	ns_sock sock;
};
void ns_stack_sockets(struct ns_stack *s, void (*fn)(void *ctx, const struct ns_sock_row *row),
		      void *ctx);
