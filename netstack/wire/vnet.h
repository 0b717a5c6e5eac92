/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vnet.h - virtio_net_hdr in front of a frame, virtio 1.2 5.1.6: the only place that reads or writes it
 *
 * Integers are in the machine's own order: what AF_PACKET with PACKET_VNET_HDR and TAP with
 * IFF_VNET_HDR use unless told otherwise (linux include/linux/virtio_byteorder.h, legacy).
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "buf/pkt.h"

enum {
	VNET_LEN = 10,     /* octets: AF_PACKET, TAP's default */
	VNET_MRG_LEN = 12, /* octets: with num_buffers */
};

/**
 * vnet_pull() - take the header off a received frame and obey it
 * @p:		Frame, its head at the vnet header; afterwards at the Ethernet header, l2_off set
 * @vnet_len:	VNET_LEN or VNET_MRG_LEN
 *
 * The header is checked against the frame: checksum places inside of it, segmentation type that its
 * ethertype and protocol have. hdr_len is a hint of no use here and never believed.
 * Sets csum, csum_start, csum_off, gso_type, gso_size, gso_segs, ecn.
 *
 * Return: DROP_NONE, DROP_TOO_SHORT or DROP_VNET_BAD; @p stays the caller's
 */
ns_must_check enum drop vnet_pull(struct pkt *p, uint32_t vnet_len);

/**
 * vnet_push() - put the header for @p's metadata in front of its Ethernet header
 * @p:		Frame to send; @vnet_len octets of headroom
 * @vnet_len:	VNET_LEN or VNET_MRG_LEN
 */
void vnet_push(struct pkt *p, uint32_t vnet_len);
