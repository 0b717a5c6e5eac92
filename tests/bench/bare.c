/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare.c - ready-made frames into AF_PACKET as fast as they go: the ceiling of every stack here
 *
 *   bench-bare INTERFACE PEER_MAC SECONDS BATCH   prints Gbit/s of TCP payload
 *
 * The same frame over and over: 1514 bytes, a TCP segment of 1448 bytes to an address that nobody
 * has, so that the other side's IP input drops it. Before each stands a virtio-net header that asks
 * for nothing. BATCH frames go in one sendmmsg; with BATCH 1 each frame is a call of its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define PAYLOAD   1448
#define BATCH_MAX 1024
#define SNDBUF    (4 << 20)

struct frame {
	struct virtio_net_hdr vnet;
	struct ether_header eth;
	struct iphdr ip;
	struct tcphdr tcp;
	uint8_t options[12];
	uint8_t payload[PAYLOAD];
} __attribute__((packed));

static struct frame frame;
static struct mmsghdr msgs[BATCH_MAX];
static struct iovec iov = { &frame, sizeof(frame) };

static int open_link(const char *name)
{
	struct sockaddr_ll addr = { .sll_family = AF_PACKET };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), on = 1, size = SNDBUF;
	struct ifreq ifr = { 0 };

	if (fd < 0)
		bench_die("cannot make a packet socket");
	addr.sll_ifindex = (int)if_nametoindex(name);
	if (addr.sll_ifindex == 0 || strlen(name) >= IFNAMSIZ)
		bench_die("no interface %s", name);
	strcpy(ifr.ifr_name, name);
	if (ioctl(fd, SIOCGIFHWADDR, &ifr) < 0)
		bench_die("cannot read the address of %s", name);
	memcpy(frame.eth.ether_shost, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
	if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) < 0)
		bench_die("the kernel refuses PACKET_VNET_HDR");
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		bench_die("cannot set the send buffer");
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		bench_die("cannot bind to %s", name);
	return fd;
}

static uint16_t checksum(const void *data, size_t len, uint32_t sum)
{
	const uint8_t *p = data;

	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void make_frame(const char *mac)
{
	size_t tcp_len = sizeof(frame.tcp) + sizeof(frame.options) + PAYLOAD;
	uint32_t pseudo;

	if (sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &frame.eth.ether_dhost[0],
		   &frame.eth.ether_dhost[1], &frame.eth.ether_dhost[2], &frame.eth.ether_dhost[3],
		   &frame.eth.ether_dhost[4], &frame.eth.ether_dhost[5]) != ETH_ALEN) {
		fprintf(stderr, "peer address is '%s': it must be six hex bytes\n", mac);
		exit(2);
	}
	frame.eth.ether_type = htons(ETHERTYPE_IP);
	frame.ip = (struct iphdr){
		.version = 4,
		.ihl = 5,
		.ttl = 64,
		.protocol = IPPROTO_TCP,
		.frag_off = htons(IP_DF),
		.tot_len = htons((uint16_t)(sizeof(frame.ip) + tcp_len)),
		.saddr = inet_addr("10.99.0.2"),
		.daddr = inet_addr("10.99.0.200"),
	};
	frame.ip.check = checksum(&frame.ip, sizeof(frame.ip), 0);
	frame.tcp = (struct tcphdr){
		.source = htons(40000), .dest = htons(9), .doff = 8, .ack = 1, .window = htons(1024)
	};
	memcpy(frame.options, "\x01\x01\x08\x0a", 4);
	memset(frame.payload, 'x', sizeof(frame.payload));
	pseudo = (uint32_t)(10 * 256 + 99) + 2 + (10 * 256 + 99) + 200 + IPPROTO_TCP +
		 (uint32_t)tcp_len;
	frame.tcp.check = checksum(&frame.tcp, tcp_len, pseudo);
}

static long send_some(int fd, unsigned int batch)
{
	int n = sendmmsg(fd, msgs, batch, MSG_DONTWAIT);

	if (n >= 0)
		return n;
	if (errno != EAGAIN && errno != ENOBUFS)
		bench_die("cannot send");
	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 100);
	return 0;
}

int main(int argc, char **argv)
{
	double start, seconds;
	long batch, frames = 0;
	int fd;

	if (argc != 5) {
		fprintf(stderr, "usage: bench-bare INTERFACE PEER_MAC SECONDS BATCH\n");
		return 2;
	}
	make_frame(argv[2]);
	seconds = (double)bench_number("seconds", argv[3], 3600);
	batch = bench_number("batch", argv[4], BATCH_MAX);
	fd = open_link(argv[1]);
	for (long i = 0; i < batch; i++)
		msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1 };
	start = bench_now();
	do
		frames += send_some(fd, (unsigned int)batch);
	while (bench_now() - start < seconds);
	printf("%.3f\n", (double)frames * PAYLOAD * 8 / (bench_now() - start) / 1e9);
	return 0;
}
