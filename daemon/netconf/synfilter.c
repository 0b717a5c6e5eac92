/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synfilter.c - see synfilter.h
 *
 * The virtio-net header is none of the filter's business: the kernel puts it in front when the frame is
 * received from the queue. A load beyond the frame's end would reject it by both filters, so the length is
 * asked first.
 *
 * Syscalls: #syscalls monitor: setsockopt
 *
 * References: linux Documentation/networking/filter.rst; net/packet/af_packet.c packet_rcv()
 */
#include "daemon/netconf/synfilter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	ETH_TYPE = 12,
	ETH_LEN = 14,
	IP4_FRAG = 6,
	IP4_PROTO = 9,
	IP4_LEN = 20,
	IP6_NEXT = 6,
	IP6_LEN = 40,
	TCP_FLAGS = 13,
	TCP_LEN = 20,
	FLAG_SYN = 0x02,
	FLAG_MASK = 0x17,   /* FIN SYN RST ACK */
	FRAG_MASK = 0x3fff, /* more fragments, offset */
};

/* Rows that are jumped to. */
enum { V4 = 6, V6 = 16, FLAGS = 22, SYN = 24, OTHER = 25, ROWS };

#define LD(size_, mode_, k_) BPF_STMT(BPF_LD | (size_) | (mode_), (uint32_t)(k_))
#define TO(here_, row_)      ((row_) - (here_)-1)
/* At row @here_: to @yes_ when the test of the accumulator with @k_ holds, else to @no_. */
#define IF(here_, test_, k_, yes_, no_)                                                            \
	BPF_JUMP(BPF_JMP | (test_) | BPF_K, (k_), TO(here_, yes_), TO(here_, no_))

int synfilter_attach(int fd, bool is_syns)
{
	struct sock_filter rows[ROWS] = {
		[0] = LD(BPF_W, BPF_ABS, SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT),
		[1] = IF(1, BPF_JEQ, 0, 2, OTHER),
		[2] = LD(BPF_W, BPF_LEN, 0),
		[3] = IF(3, BPF_JGE, ETH_LEN + IP4_LEN + TCP_LEN, 4, OTHER),
		[4] = LD(BPF_H, BPF_ABS, ETH_TYPE),
		[5] = IF(5, BPF_JEQ, ETH_P_IP, V4, V6),
		[V4] = LD(BPF_B, BPF_ABS, ETH_LEN + IP4_PROTO),
		[7] = IF(7, BPF_JEQ, IPPROTO_TCP, 8, OTHER),
		[8] = LD(BPF_H, BPF_ABS, ETH_LEN + IP4_FRAG),
		[9] = IF(9, BPF_JSET, FRAG_MASK, OTHER, 10),
		[10] = BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, ETH_LEN), /* X: the header's length */
		[11] = LD(BPF_W, BPF_LEN, 0),
		[12] = BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, ETH_LEN + TCP_LEN),
		[13] = BPF_JUMP(BPF_JMP | BPF_JGE | BPF_X, 0, TO(13, 14), TO(13, OTHER)),
		[14] = LD(BPF_B, BPF_IND, ETH_LEN + TCP_FLAGS),
		[15] = BPF_STMT(BPF_JMP | BPF_JA, TO(15, FLAGS)),
		[V6] = IF(V6, BPF_JEQ, ETH_P_IPV6, 17, OTHER),
		[17] = LD(BPF_W, BPF_LEN, 0),
		[18] = IF(18, BPF_JGE, ETH_LEN + IP6_LEN + TCP_LEN, 19, OTHER),
		[19] = LD(BPF_B, BPF_ABS, ETH_LEN + IP6_NEXT),
		[20] = IF(20, BPF_JEQ, IPPROTO_TCP, 21, OTHER),
		[21] = LD(BPF_B, BPF_ABS, ETH_LEN + IP6_LEN + TCP_FLAGS),
		[FLAGS] = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FLAG_MASK),
		[23] = IF(23, BPF_JEQ, FLAG_SYN, SYN, OTHER),
		[SYN] = BPF_STMT(BPF_RET | BPF_K, is_syns ? UINT32_MAX : 0),
		[OTHER] = BPF_STMT(BPF_RET | BPF_K, is_syns ? 0 : UINT32_MAX),
	};
	struct sock_fprog prog = { .len = ROWS, .filter = rows };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) < 0 ? -errno : 0;
}
