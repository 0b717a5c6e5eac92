/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linkopen - descriptors through which the worker reaches a wire
 *
 * Only the monitor may open them; the worker gets them ready and can change nothing about them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** LINKOPEN_VNET_HDR_LEN - octets of struct virtio_net_hdr in front of every frame */
#define LINKOPEN_VNET_HDR_LEN 10

/** struct linkopen_tap - what a TAP device agreed to */
struct linkopen_tap {
	char name[16];        /* the device's, of which the kernel may have filled in a number */
	uint32_t tun_offload; /* TUN_F_*: what may come to us unfinished */
	bool has_uso;         /* super-frames of datagrams are among it, and may go to it */
};

/**
 * linkopen_packet() - an AF_PACKET socket with all options set, bound to no link yet
 * @netns_fd:	Namespace the link is or will be in, borrowed
 *
 * No frame can come in: the socket has no protocol before linkopen_packet_bind().
 *
 * Return: descriptor (the caller closes it) or negative errno; a sentence was logged
 */
int linkopen_packet(int netns_fd);

/**
 * linkopen_packet_bind() - connect the socket to its wire
 * @fd:		From linkopen_packet()
 * @ifindex:	Link in the socket's namespace
 * @name:	Its name, for the log
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int linkopen_packet_bind(int fd, uint32_t ifindex, const char *name);

/**
 * linkopen_packet_takes_gso() - self-test: does this kernel take super-frames from AF_PACKET?
 * @netns_fd:	A namespace of ours, whose loopback the test uses; borrowed
 * @is_udp:	Of datagrams (VIRTIO_NET_HDR_GSO_UDP_L4, linux 6.2), not of TCP segments
 *
 * Return: true when a frame of several segments went through
 */
bool linkopen_packet_takes_gso(int netns_fd, bool is_udp);

/**
 * linkopen_tap() - make or attach to a TAP device of the daemon's own namespace
 * @name:	Device; made if there is none, attached to if it is there and free
 * @mtu:	Set on the device, octets above the Ethernet header
 * @ret:	Set on success
 *
 * The device is brought up. One that was made here lives as long as the descriptor.
 *
 * Return: descriptor (the caller closes it) or negative errno; a sentence was logged
 */
int linkopen_tap(const char *name, uint32_t mtu, struct linkopen_tap *ret);
