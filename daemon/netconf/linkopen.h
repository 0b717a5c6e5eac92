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

/** enum linkopen_queue - the sockets of one packet link; each frame is in one queue only */
enum linkopen_queue {
	LINKOPEN_FRAMES, /* everything else, and all that is sent */
	LINKOPEN_SYNS,   /* requests to connect: see synfilter.h */
	LINKOPEN_QUEUES,
};

/** struct linkopen_fds - the descriptors of a link, -1 where there is none; release with linkopen_close() */
struct linkopen_fds {
	int fd[LINKOPEN_QUEUES]; /* a TAP device has LINKOPEN_FRAMES only */
};

/** LINKOPEN_NO_FDS - initialiser of struct linkopen_fds */
#define LINKOPEN_NO_FDS                                                                            \
	{                                                                                          \
		{                                                                                  \
			-1, -1                                                                     \
		}                                                                                  \
	}

/** linkopen_close() - close what is open, set to -1 */
void linkopen_close(struct linkopen_fds *fds);

/** struct linkopen_tap - what a TAP device agreed to */
struct linkopen_tap {
	char name[16];        /* the device's, of which the kernel may have filled in a number */
	uint32_t tun_offload; /* TUN_F_*: what may come to us unfinished */
	bool has_uso;         /* super-frames of datagrams are among it, and may go to it */
};

/**
 * linkopen_packet() - the AF_PACKET sockets of a link with all options set, bound to no link yet
 * @netns_fd:	Namespace the link is or will be in, borrowed
 * @ret:	Set on success, and then the caller's; else closed
 *
 * No frame can come in: the sockets have no protocol before linkopen_packet_bind().
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int linkopen_packet(int netns_fd, struct linkopen_fds *ret);

/**
 * linkopen_packet_bind() - connect the sockets to their wire
 * @fds:	From linkopen_packet()
 * @ifindex:	Link in the sockets' namespace
 * @name:	Its name, for the log
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int linkopen_packet_bind(const struct linkopen_fds *fds, uint32_t ifindex, const char *name);

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
