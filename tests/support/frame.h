/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - frames by hand: build any, right or wrong, and read what a stack sent
 *
 * Theory of operation
 *
 * The judges share no code with what they judge: headers, options and checksums are written and read
 * here a second time, on plain octets. A builder fills what a segment of a correct host would have
 * and then lets the test damage single fields; the reader accepts anything and says what it saw.
 *
 * References: RFC 826, RFC 791 3.1, RFC 792, RFC 9293 3.1, RFC 7323, RFC 2018.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	FRAME_MAX = 70000, /* octets: Ethernet, a 64 KiB packet and room to be wrong */
	ETH_LEN = 14,
	IP4_LEN = 20,
	IP6_LEN = 40,
	TCP_LEN = 20,
	ARP_LEN = 28,
};

/** enum fl - TCP control bits as they are on the wire */
enum fl {
	FL_FIN = 1,
	FL_SYN = 2,
	FL_RST = 4,
	FL_PSH = 8,
	FL_ACK = 16,
	FL_URG = 32,
	FL_ECE = 64,
	FL_CWR = 128,
};

/** struct frame - octets from the Ethernet header on, and what a vnet header would say of them */
struct frame {
	uint32_t len;
	uint8_t gso_type;  /* enum pkt_gso */
	uint8_t csum;      /* enum pkt_csum */
	uint16_t gso_size; /* octets */
	uint16_t csum_start, csum_off;
	uint8_t b[FRAME_MAX];
};

/** struct way - the two ends of a frame; IPv4 addresses in host byte order, of IPv6 the last 32 bits */
struct way {
	uint8_t src_mac[6], dst_mac[6];
	uint32_t src, dst;
	uint16_t sport, dport;
};

/** struct opts - TCP options in the making; opts_*() append, the builder pads with NOP or END */
struct opts {
	uint8_t len; /* octets */
	uint8_t b[60];
};

void opts_mss(struct opts *o, uint16_t mss);
void opts_wscale(struct opts *o, uint8_t shift);
void opts_sack_ok(struct opts *o);
void opts_ts(struct opts *o, uint32_t val, uint32_t ecr);
/** opts_sack() - @cnt blocks of left and right edge */
void opts_sack(struct opts *o, const uint32_t (*blocks)[2], uint32_t cnt);
/** opts_raw() - @len octets as they are, right or wrong */
void opts_raw(struct opts *o, const void *octets, uint8_t len);

/** struct ip4_in - an IPv4 header to build; zero fields become what a correct host sends */
struct ip4_in {
	uint8_t proto;    /* 0: TCP */
	uint8_t ttl;      /* 0: 64 */
	bool is_ttl_zero; /* TTL 0 on the wire */
	uint8_t tos;
	uint16_t id;
	uint16_t frag;      /* flags and fragment offset field; 0: DF */
	bool is_fragment;   /* @frag is meant, even 0 */
	uint8_t ihl;        /* 32-bit words; 0: right */
	uint8_t version;    /* 0: 4 */
	uint16_t total_len; /* octets; 0: right */
	bool is_len_zero;   /* total length 0 on the wire */
	bool is_bad_csum;
	const uint8_t *opt;
	uint8_t opt_len; /* octets, a multiple of 4 */
};

/** struct tcp_in - a TCP segment to build */
struct tcp_in {
	uint8_t flags; /* enum fl */
	uint32_t seq, ack;
	uint16_t wnd;     /* as on the wire, unscaled */
	bool is_wnd_zero; /* rp_build(): window 0 is meant */
	uint16_t urg;
	const struct opts *opts;
	const void *data;
	uint32_t data_len;
	bool has_ae;       /* the flag next to the data offset (RFC 9768 3.1) */
	uint8_t doff;      /* 32-bit words; 0: right */
	bool is_doff_zero; /* data offset 0 on the wire */
	bool is_bad_csum;
	struct ip4_in ip;
};

/** frame_eth() - header for @type in front of @len octets of @payload */
void frame_eth(struct frame *f, const struct way *w, uint16_t type, const void *payload,
	       uint32_t len);
/** frame_ip4() - an IPv4 packet with @len octets of @payload */
void frame_ip4(struct frame *f, const struct way *w, const struct ip4_in *ip, const void *payload,
	       uint32_t len);
/** struct ip6_in - an IPv6 header to build; zero fields become what a correct host sends */
struct ip6_in {
	uint8_t src[16], dst[16];
	uint8_t next;      /* 0: UDP */
	uint8_t hop_limit; /* 0: 64 */
	uint8_t tclass;
	uint16_t payload_len; /* octets; 0: right */
};
/** frame_ip6() - an IPv6 packet with @len octets of @payload; of @w only the MACs count */
void frame_ip6(struct frame *f, const struct way *w, const struct ip6_in *ip, const void *payload,
	       uint32_t len);
/** frame_udp6() - a UDP datagram over IPv6: the ports of @w; @csum -1: right */
void frame_udp6(struct frame *f, const struct way *w, const struct ip6_in *ip, const void *data,
		uint32_t len, int csum);
/** frame_icmp6() - an ICMPv6 message: @type, @code, @rest, @len octets behind them; checksummed */
void frame_icmp6(struct frame *f, const struct way *w, const struct ip6_in *ip, uint8_t type,
		 uint8_t code, uint32_t rest, const void *data, uint32_t len);
/** frame_tcp() - a TCP segment, checksummed */
void frame_tcp(struct frame *f, const struct way *w, const struct tcp_in *t);
/** frame_icmp() - an ICMP message: @type, @code, @rest (32 bits, host order), @len octets behind them */
void frame_icmp(struct frame *f, const struct way *w, uint8_t type, uint8_t code, uint32_t rest,
		const void *data, uint32_t len);
/** frame_arp() - opcode @op from (src_mac, src) asking or telling about dst; the frame goes to dst_mac */
void frame_arp(struct frame *f, const struct way *w, uint16_t op, const uint8_t target_mac[6]);

/** VNET_HDR_LEN - octets of a virtio-net header without num_buffers */
#define VNET_HDR_LEN 10
/** struct vnet_meta - what the header says */
struct vnet_meta {
	uint8_t gso_type, csum;
	uint16_t gso_size, csum_start, csum_off;
};
/** frame_vnet() - the virtio-net header that a kernel would write (virtio 1.2 5.1.6, host order) */
void frame_vnet(const struct vnet_meta *m, uint8_t hdr[VNET_HDR_LEN]);

/** frame_sum() - RFC 1071 sum of @len octets, folded, added to @sum; not complemented */
uint32_t frame_sum(const void *octets, uint32_t len, uint32_t sum);
/** frame_pseudo() - the pseudo-header's part of a TCP, UDP checksum */
uint32_t frame_pseudo(uint32_t src, uint32_t dst, uint8_t proto, uint32_t len);
/** frame_fix_tcp_csum() - set the right TCP checksum, as offload hardware would; IPv6 without extension headers */
void frame_fix_tcp_csum(struct frame *f);
/**
 * frame_cut() - cut super-frame @f into @i-th frame of gso_size payload octets, as a device does
 * (IP length, ID, checksums; FIN and PSH on the last only, CWR on the first only)
 *
 * Return: false when there is no @i-th
 */
bool frame_cut(const struct frame *f, uint32_t i, struct frame *ret_part);

/** enum seen_kind - what a frame turned out to be */
enum seen_kind {
	SEEN_OTHER,
	SEEN_ARP,
	SEEN_TCP,
	SEEN_ICMP,
	SEEN_IP4, /* IPv4, of a protocol not known here or a fragment */
	SEEN_IP6, /* IPv6, of a next header not known here */
};

/** struct seen - a frame read; fields of other kinds are zero */
struct seen {
	enum seen_kind kind;
	struct way way;
	bool is_bad; /* a checksum or length in it is wrong: a correct host never sends it */
	/* ARP */
	uint16_t arp_op;
	uint8_t arp_sha[6], arp_tha[6];
	/* IPv4 */
	uint8_t ttl, tos, proto;
	bool is_v6;
	uint8_t src6[16], dst6[16];
	uint32_t flow; /* IPv6: flow label */
	uint16_t id, frag;
	/* ICMP */
	uint8_t icmp_type, icmp_code;
	uint32_t icmp_rest;
	/* TCP */
	uint8_t flags;
	uint32_t seq, ack;
	uint16_t wnd, urg;
	bool has_mss, has_wscale, has_sack_ok, has_ts;
	uint16_t mss;
	uint8_t wscale;
	uint32_t ts_val, ts_ecr;
	uint32_t sack_cnt;
	uint32_t sack[4][2];
	/* payload of whatever it is, inside the frame that was read */
	const uint8_t *data;
	uint32_t data_len;
	uint16_t gso_size;
};

/** frame_read() - never fails; @ret_seen->data points into @f */
void frame_read(const struct frame *f, struct seen *ret_seen);
