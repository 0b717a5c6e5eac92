/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linkopen - descriptors through which the worker reaches a wire
 *
 * Theory of operation, AF_PACKET: the socket is made with protocol 0, which receives nothing, in the
 * namespace the link will be in; every option is set; bind() with ETH_P_ALL and the ifindex is the
 * last step. A frame of another link, or one that came before the virtio header was switched on and
 * would be read with a wrong length, can therefore never be in the queue. Binding comes after a link
 * was moved, because moving ends every packet socket on it (packet_notifier, NETDEV_UNREGISTER).
 *
 * A link has two of them. Requests to connect come by a socket of their own with a queue of their own,
 * which is short: a flood of them fills that one alone, what it cannot hold the kernel drops before it is
 * copied to anybody, and the frames of connections never wait behind it. A filter on each socket
 * (synfilter.h) gives every frame to exactly one of the two. A TAP device has one queue.
 *
 * TAP: TUNSETIFF attaches, TUNSETVNETHDRSZ fixes the header's length, TUNSETOFFLOAD walks a ladder
 * from all we handle down to nothing. Without TUN_F_TSO4 the host cuts what it sends us.
 * A kernel that knows TUN_F_USO4 and TUN_F_USO6 takes super-frames of datagrams from us as well.
 *
 * PROMISC is not asked for: the stack uses the link's own MAC, so that the device's filter lets pass
 * what is meant for it. ALLMULTI is, since the stack joins no group in the kernel.
 *
 * Syscalls: #syscalls monitor: socket setsockopt getsockopt bind ioctl openat sendto close
 *
 * References: packet(7); linux Documentation/networking/tuntap.rst; linux/virtio_net.h
 */
#include "daemon/netconf/linkopen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/netconf/netns.h"
#include "daemon/netconf/synfilter.h"

#define SOCK_BUF (4 << 20)   /* octets; a burst of 64 frames of 64 KiB */
#define SYN_BUF  (512 << 10) /* octets, which the kernel doubles: about 1300 requests */

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#ifndef TUN_F_USO4 /* linux 6.2 */
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4 /* linux 6.2 */
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

/* The forced form passes the administrator's rmem_max; without the capability take what is given. */
static void buffer_set(int fd, int want, int force, int plain, const char *what)
{
	int got = 0;
	socklen_t len = sizeof(got);

	if (setsockopt(fd, SOL_SOCKET, force, &want, sizeof(want)) == 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, plain, &want, sizeof(want));
	(void)getsockopt(fd, SOL_SOCKET, plain, &got, &len);
	if (got < want)
		log_notice("the %s buffer of a link is %d octets, less than %d; bulk transfers may "
			   "lose frames",
			   what, got, want);
}

static int vnet_hdr_set(int fd)
{
	int one = 1, got = 0;
	socklen_t len = sizeof(got);

	if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)) < 0 ||
	    getsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &got, &len) < 0)
		return log_err(-errno, "cannot switch on virtio headers on a packet socket");
	if (got != 1) {
		log_errx("the kernel did not switch on virtio headers on a packet socket");
		return -EOPNOTSUPP;
	}
	return 0;
}

void linkopen_close(struct linkopen_fds *fds)
{
	for (int i = 0; i < LINKOPEN_QUEUES; i++) {
		if (fds->fd[i] >= 0)
			close(fds->fd[i]);
		fds->fd[i] = -1;
	}
}

/** packet_open() - one of a link's sockets. Return: descriptor or negative errno, logged */
static int packet_open(int netns_fd, enum linkopen_queue queue)
{
	int fd = netns_socket(netns_fd, AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int one = 1, r;

	if (fd < 0)
		return log_err(fd, "cannot open a packet socket; sluiced needs CAP_NET_RAW");
	r = vnet_hdr_set(fd);
	if (r == 0) {
		r = synfilter_attach(fd, queue == LINKOPEN_SYNS);
		if (r < 0)
			log_err(r, "cannot put a filter on a packet socket");
	}
	if (r == 0 && setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) < 0)
		r = log_err(-errno, "cannot keep a packet socket from seeing its own frames; "
				    "linux 4.20 or later is needed");
	if (r < 0) {
		close(fd);
		return r;
	}
	buffer_set(fd, queue == LINKOPEN_SYNS ? SYN_BUF : SOCK_BUF, SO_RCVBUFFORCE, SO_RCVBUF,
		   "receive");
	if (queue == LINKOPEN_FRAMES)
		buffer_set(fd, SOCK_BUF, SO_SNDBUFFORCE, SO_SNDBUF, "send");
	return fd;
}

int linkopen_packet(int netns_fd, struct linkopen_fds *ret)
{
	*ret = (struct linkopen_fds)LINKOPEN_NO_FDS;
	for (int i = 0; i < LINKOPEN_QUEUES; i++) {
		int fd = packet_open(netns_fd, (enum linkopen_queue)i);

		if (fd < 0) {
			linkopen_close(ret);
			return fd;
		}
		ret->fd[i] = fd;
	}
	return 0;
}

int linkopen_packet_bind(const struct linkopen_fds *fds, uint32_t ifindex, const char *name)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)ifindex,
	};
	struct packet_mreq mreq = { .mr_ifindex = (int)ifindex, .mr_type = PACKET_MR_ALLMULTI };

	if (setsockopt(fds->fd[LINKOPEN_FRAMES], SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mreq,
		       sizeof(mreq)) < 0)
		return log_err(-errno, "cannot receive multicast frames of link %s", name);
	for (int i = 0; i < LINKOPEN_QUEUES; i++)
		if (bind(fds->fd[i], (const struct sockaddr *)(const void *)&addr, sizeof(addr)) <
		    0)
			return log_err(-errno, "cannot bind a packet socket to link %s", name);
	return 0;
}

/* ---- self-test ---- */

struct loopback_args {
	bool is_up;
	int ifindex;
};

static int loopback_set_in(void *ctx)
{
	struct loopback_args *a = ctx;
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r = 0;

	if (fd < 0)
		return -errno;
	ifr.ifr_flags = a->is_up ? IFF_UP : 0;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		r = -errno;
	if (r == 0 && ioctl(fd, SIOCGIFINDEX, &ifr) < 0)
		r = -errno;
	a->ifindex = ifr.ifr_ifindex;
	close(fd);
	return r;
}

/* A virtio header and a super-frame of two segments and a bit, from nowhere to nowhere. */
struct test_frame {
	struct virtio_net_hdr vnet;
	uint8_t eth[14], ip[20], l4[20];
	uint8_t payload[3000];
} __attribute__((packed));

static const struct test_frame tcp_frame = {
	.vnet = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		  .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		  .hdr_len = 54,
		  .gso_size = 1448,
		  .csum_start = 34,
		  .csum_offset = 16 },
	.eth = { [12] = 0x08, [13] = 0x00 },
	.ip = { 0x45, 0, 0x0b, 0xe0, 0, 0, 0x40, 0, 1, 6 },
	.l4 = { [12] = 0x50, [13] = 0x10 },
};

static const struct test_frame udp_frame = {
	.vnet = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		  .gso_type = VIRTIO_NET_HDR_GSO_UDP_L4,
		  .hdr_len = 42,
		  .gso_size = 1448,
		  .csum_start = 34,
		  .csum_offset = 6 },
	.eth = { [12] = 0x08, [13] = 0x00 },
	.ip = { 0x45, 0, 0x0b, 0xe0, 0, 0, 0x40, 0, 1, 17 },
	.l4 = { [4] = 0x0b, [5] = 0xcc },
};

bool linkopen_packet_takes_gso(int netns_fd, bool is_udp)
{
	const struct test_frame *frame = is_udp ? &udp_frame : &tcp_frame;
	struct sockaddr_ll addr = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	struct loopback_args lo = { .is_up = true };
	ssize_t n;
	int fd;

	if (netns_call(netns_fd, loopback_set_in, &lo) < 0)
		return false;
	fd = netns_socket(netns_fd, AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	addr.sll_ifindex = lo.ifindex;
	n = vnet_hdr_set(fd) < 0
		    ? -1
		    : sendto(fd, frame, sizeof(*frame), MSG_DONTWAIT,
			     (const struct sockaddr *)(const void *)&addr, sizeof(addr));
	close(fd);
	/* Down it has no address, and the namespace nothing it could answer for. */
	lo.is_up = false;
	if (netns_call(netns_fd, loopback_set_in, &lo) < 0)
		return false;
	return n == (ssize_t)sizeof(*frame);
}

/* ---- TAP ---- */

static int tap_set_offload(int fd, uint32_t *ret_offload)
{
	static const unsigned int ladder[] = {
		TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN | TUN_F_USO4 | TUN_F_USO6,
		TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN,
		TUN_F_CSUM | TUN_F_TSO4,
		TUN_F_CSUM,
		0,
	};

	for (size_t i = 0; i < sizeof(ladder) / sizeof(ladder[0]); i++) {
		if (ioctl(fd, TUNSETOFFLOAD, (unsigned long)ladder[i]) == 0) {
			*ret_offload = ladder[i];
			return 0;
		}
	}
	return -errno;
}

static int tap_up(const char *name, uint32_t mtu)
{
	struct ifreq ifr = { 0 };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r = 0;

	if (fd < 0)
		return -errno;
	(void)snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ifr.ifr_mtu = (int)mtu;
	if (ioctl(fd, SIOCSIFMTU, &ifr) < 0)
		r = -errno;
	if (r == 0 && ioctl(fd, SIOCGIFFLAGS, &ifr) < 0)
		r = -errno;
	ifr.ifr_flags |= IFF_UP;
	if (r == 0 && ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		r = -errno;
	close(fd);
	return r;
}

int linkopen_tap(const char *name, uint32_t mtu, struct linkopen_tap *ret)
{
	struct ifreq ifr = { 0 };
	int hdr_len = LINKOPEN_VNET_HDR_LEN, got = 0, r = 0;
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return log_err(-errno, "cannot open /dev/net/tun for the TAP device %s", name);
	(void)snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ifr.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
	if (ioctl(fd, TUNSETIFF, &ifr) < 0)
		r = log_err(-errno, "cannot make or attach to the TAP device %s", name);
	if (r == 0 && (ioctl(fd, TUNSETVNETHDRSZ, &hdr_len) < 0 ||
		       ioctl(fd, TUNGETVNETHDRSZ, &got) < 0 || got != hdr_len))
		r = log_err(-errno, "cannot set a virtio header of %d octets on TAP device %s",
			    hdr_len, name);
	if (r == 0) {
		r = tap_set_offload(fd, &ret->tun_offload);
		if (r < 0)
			log_err(r, "cannot set the offloads of TAP device %s", name);
		ret->has_uso = r == 0 && (ret->tun_offload & TUN_F_USO4) &&
			       (ret->tun_offload & TUN_F_USO6);
	}
	if (r == 0) {
		(void)snprintf(ret->name, sizeof(ret->name), "%s", ifr.ifr_name);
		r = tap_up(ret->name, mtu);
		if (r < 0)
			log_err(r, "cannot bring up TAP device %s with an MTU of %u", name, mtu);
	}
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}
