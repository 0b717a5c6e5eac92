/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig.h - an IP layer in virtual time: two links, a transport that writes down what it is given
 *
 * Link 1 is 10.9.0.2/24, MAC 02:00:00:00:00:01, link 2 is 10.8.0.2/24, MAC 02:00:00:00:00:02. The peer
 * on link 1 is 10.9.0.1, MAC 02:00:00:00:00:09.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/net.h"
#include "net/proto.h"
#include "support/prng.h"

#define RIG_US   0x0a090002u
#define RIG_PEER 0x0a090001u

enum {
	RIG_FRAMES = 256,
	RIG_ZONE = 0x1107, /* ifindex of link 1, and with it its zone; link 2 has the next */
	RIG_PROTO = 6, /* the transport's number: TCP's, so that sequence numbers are looked at */
};

struct rig_frame {
	uint8_t data[2048];
	uint32_t len;
	uint32_t link_id;
};

struct rig_port {
	struct rig *rig;
	uint32_t link_id;
};

struct rig {
	struct ns_env env;
	struct prng prng;
	struct ns_core core;
	struct ns_stats stats;
	struct net *net;
	struct mono now;
	struct rig_port ports[3];
	struct rig_frame sent[RIG_FRAMES];
	uint32_t sent_cnt;
	/* what the transport was given */
	uint32_t input_cnt, error_cnt;
	struct ip_rx last_ip;
	uint8_t last_data[2048];
	uint32_t last_len;
	struct icmp_err last_err;
};

extern const uint8_t rig_mac[3][6]; /* by link id */
extern const uint8_t rig_peer_mac[6];

void rig_init(struct rig *r);
void rig_done(struct rig *r);
/** rig_in() - a frame comes in by link 1 */
void rig_in(struct rig *r, const void *frame, uint32_t len);
/** rig_in_meta() - the same with vnet metadata */
void rig_in_meta(struct rig *r, const void *frame, uint32_t len, enum pkt_csum csum,
		 uint16_t csum_start, uint16_t gso_size);
/** rig_ip4() - Ethernet and IPv4 headers, checksum right, for @payload_len octets; their length */
uint32_t rig_ip4(uint8_t *frame, uint32_t src, uint32_t dst, uint8_t proto, uint32_t payload_len);
/** rig_ip4_fix() - the header's checksum for what it is now */
void rig_ip4_fix(uint8_t *frame);
/** rig_arp() - an ARP message of the peer's link; 42 octets */
uint32_t rig_arp(uint8_t *frame, uint16_t op, const uint8_t sha[6], uint32_t spa,
		 const uint8_t tha[6], uint32_t tpa);
/** rig_peer_known() - the peer's address is resolved, nothing is left in @sent */
void rig_peer_known(struct rig *r);
/** rig_send() - @len octets of the transport from us to @dst; what net_output() says */
int rig_send(struct rig *r, uint32_t dst, uint32_t len, uint16_t segs);
/** rig_pass() - time passes, timers run, frames leave */
void rig_pass(struct rig *r, uint64_t ns);
uint64_t rig_drops(const struct rig *r, enum drop d);
