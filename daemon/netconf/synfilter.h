/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synfilter - which frames are requests to connect: classic BPF for the two sockets of a link
 *
 * A request is a TCP segment with SYN and without ACK, RST and FIN, whole, in an IPv4 packet that is no
 * fragment or directly behind the header of IPv6, without VLAN tag. All else is not: what is malformed, too,
 * so that the stack counts it. The two filters are each other's opposite: a frame is in one queue and never in
 * both.
 */
#pragma once

#include <stdbool.h>

/**
 * synfilter_attach() - filter what a socket receives
 * @fd:		Socket whose data begin with the Ethernet header
 * @is_syns:	Requests to connect alone, or all else alone
 *
 * Return: 0 or negative errno
 */
int synfilter_attach(int fd, bool is_syns);
