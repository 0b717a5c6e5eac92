/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig6.h - the rig for IPv6: addresses, and packets by hand on plain octets
 *
 * Link 1 has 2001:db8:9::2/64 and fe80::2/64, link 2 2001:db8:8::2/64 and fe80::3/64. The peer on
 * link 1 is 2001:db8:9::1 and fe80::1, MAC as in rig.h. Addresses here are as on the wire; AT() gives
 * them the zone of link 1.
 */
#pragma once

#include "rig.h"

enum {
	R6_NEXT = 20, /* offsets into a frame */
	R6_HOPS = 21,
	R6_BODY = 54,
	R6_ICMP = 58,
};

extern const struct ns_addr r6_us, r6_us_ll, r6_peer, r6_peer_ll, r6_other, r6_all_nodes, r6_any;
extern const uint8_t r6_group_mac[6]; /* of the solicited-node group of r6_us and r6_us_ll */

/** r6_init() - rig_init() and the addresses */
void r6_init(struct rig *r);
/** r6_zoned() - as the stack has an address of link 1 */
struct ns_addr r6_zoned(struct ns_addr a);
/** r6_group() - the solicited-node group of @a */
struct ns_addr r6_group(struct ns_addr a);
/** r6_frame() - Ethernet to link 1 and IPv6 header, hop limit 255, for @len octets of @body; its length */
uint32_t r6_frame(uint8_t *f, struct ns_addr src, struct ns_addr dst, uint8_t next,
		  const void *body, uint32_t len);
/** r6_fix() - the ICMPv6 checksum of a frame of @len octets whose message begins at @at */
void r6_fix(uint8_t *f, uint32_t len, uint32_t at);
/** r6_icmp() - an ICMPv6 message with @len octets behind its eight; the frame's length */
uint32_t r6_icmp(uint8_t *f, struct ns_addr src, struct ns_addr dst, uint8_t type, uint8_t code,
		 uint32_t arg, const void *data, uint32_t len);
/** r6_nd() - NS or NA about @target, with an option of @opt (0: none) and @mac */
uint32_t r6_nd(uint8_t *f, struct ns_addr src, struct ns_addr dst, uint8_t type, uint32_t flags,
	       struct ns_addr target, uint8_t opt, const uint8_t mac[6]);
/** r6_in() - the frame comes in by link 1 */
void r6_in(struct rig *r, const uint8_t *f, uint32_t len);
/** r6_send() - @len octets of the transport from us to @dst; what net_output() says */
int r6_send(struct rig *r, struct ns_addr dst, uint32_t len);
/** r6_send_as() - the same, in fragments if that is allowed; octet @i of the packet is r6_octet(i) from 8 on */
int r6_send_as(struct rig *r, struct ns_addr dst, uint32_t len, bool dont_fragment);
/** r6_octet() - what is at @at of a packet that fragments make up */
static inline uint8_t r6_octet(uint32_t at)
{
	return (uint8_t)(at * 7 + at / 251);
}
/** r6_peer_known() - r6_peer's MAC is configured */
void r6_peer_known(struct rig *r);
/** r6_is_good() - frame @i that left has right lengths, and a right checksum if it is ICMPv6 */
bool r6_is_good(const struct rig *r, uint32_t i);
