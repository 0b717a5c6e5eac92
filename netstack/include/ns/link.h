/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - what a driver gives the stack and what it may call */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/drop.h"

struct pkt;
struct ns_stack;

/** enum ns_gso_mode - the three ways to leave */
enum ns_gso_mode {
	NS_GSO_NONE, /* a frame a call */
	NS_GSO_SW,   /* super-segments cut in user space, all frames in one call */
	NS_GSO_HW,   /* super-frames; the device cuts them and completes checksums */
};

/** struct ns_link_ops - filled by a driver */
struct ns_link_ops {
	/**
	 * xmit() - send frames in order
	 * @pkts:	@cnt frames from the Ethernet header on, borrowed until return; at least 16 octets of headroom each
	 *
	 * Return: frames taken (1..@cnt), or a negative errno about pkts[0], nothing sent:
	 * -EAGAIN/-EWOULDBLOCK no room now (the driver calls ns_link_writable() later), -EINVAL or -ENOBUFS the
	 * device refuses this super-frame, -EMSGSIZE too long, -ENETDOWN/-ENXIO link is down
	 */
	int (*xmit)(void *drv, struct pkt *const *pkts, uint32_t cnt);
	/**
	 * lost() - NULL, or told of each frame of ours that xmit() never sees, or refused for good: counted already
	 * @p:		From the Ethernet header on, borrowed until return; the destination is 0 where nobody knew it
	 */
	void (*lost)(void *drv, const struct pkt *p, enum drop why);
};

/** struct ns_link_config - one link as the plan has it */
struct ns_link_config {
	char name[16];
	uint32_t ifindex; /* the container's number for it */
	uint32_t mtu;     /* octets of IP packet */
	uint32_t group;   /* linux IFLA_GROUP: rules suppress routes by it */
	uint8_t mac[6];
	bool is_up;
	bool is_noarp;
	uint8_t rp_filter; /* net.ipv4.conf.*.rp_filter of it alone: 0 off, 1 strict, 2 loose (RFC 3704) */
	bool is_multicast; /* IFF_MULTICAST: others are told which groups are heard (IGMP, MLD) */
	enum ns_gso_mode gso;
	bool has_uso;       /* with NS_GSO_HW: the device cuts datagrams of UDP_SEGMENT, too */
	bool is_sw_gso_off; /* a link that refuses hardware GSO goes on with NS_GSO_NONE, not NS_GSO_SW */
	uint32_t
		gso_max_size; /* octets of an IP packet handed to the device at once; clamped to 65535 for IPv4 */
	uint32_t gso_max_segs;
	uint32_t tx_batch; /* frames given to one xmit() call at most, 0: default */
	const struct ns_link_ops *ops;
	void *drv;
};
