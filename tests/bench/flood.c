/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flood.c - SYNs from anywhere to a listener, so many a second, by AF_PACKET
 *
 *   bench-flood INTERFACE MAC ADDRESS PORT SECONDS RATE   prints SYNs sent a second
 *
 * Every SYN has a source of 11.0.0.0/8, a port and a number of its own, a right checksum, and the options of
 * Linux. They leave a millisecond's share at a time.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define BATCH_MAX 1024

struct syn {
	struct ether_header eth;
	struct iphdr ip;
	struct tcphdr tcp;
	uint8_t options[20];
} __attribute__((packed));

static struct syn syns[BATCH_MAX];
static struct mmsghdr msgs[BATCH_MAX];
static struct iovec iov[BATCH_MAX];
static uint64_t state = 1;

static uint32_t any(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

static uint32_t sum_of(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	return sum;
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void make(struct syn *s, const uint8_t *mac, const char *address, long port)
{
	static const uint8_t options[] = { 2, 4, 5, 180, 4, 2, 8, 10, 0, 0,
					   9, 9, 0, 0,   0, 0, 1, 3,  3, 7 };

	memset(s, 0, sizeof(*s));
	memcpy(s->eth.ether_dhost, mac, ETH_ALEN);
	memcpy(s->eth.ether_shost, "\2\0\0\0\0\x77", ETH_ALEN);
	s->eth.ether_type = htons(ETHERTYPE_IP);
	s->ip.version = 4;
	s->ip.ihl = 5;
	s->ip.ttl = 64;
	s->ip.protocol = IPPROTO_TCP;
	s->ip.frag_off = htons(IP_DF);
	s->ip.tot_len = htons(sizeof(s->ip) + sizeof(s->tcp) + sizeof(s->options));
	s->ip.daddr = inet_addr(address);
	s->tcp.dest = htons((uint16_t)port);
	s->tcp.doff = 10;
	s->tcp.syn = 1;
	s->tcp.window = htons(64240);
	memcpy(s->options, options, sizeof(options));
}

static void renew(struct syn *s)
{
	uint32_t sum;

	s->ip.saddr = htonl(11u << 24 | any() >> 8);
	s->ip.check = 0;
	s->ip.check = folded(sum_of(&s->ip, sizeof(s->ip)));
	s->tcp.source = htons((uint16_t)(1024 + any() % 60000));
	s->tcp.seq = any();
	s->tcp.check = 0;
	sum = sum_of(&s->tcp, sizeof(s->tcp) + sizeof(s->options));
	sum += sum_of(&s->ip.saddr, 8) + IPPROTO_TCP +
	       (uint32_t)(sizeof(s->tcp) + sizeof(s->options));
	s->tcp.check = folded(sum);
}

static int open_link(const char *name)
{
	struct sockaddr_ll addr = { .sll_family = AF_PACKET };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	addr.sll_ifindex = (int)if_nametoindex(name);
	if (fd < 0 || addr.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		bench_die("cannot send by %s", name);
	return fd;
}

int main(int argc, char **argv)
{
	uint8_t mac[ETH_ALEN];
	double start, end, now;
	long sent = 0, rate;
	int fd;

	if (argc != 7 || sscanf(argv[2], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1], &mac[2],
				&mac[3], &mac[4], &mac[5]) != ETH_ALEN) {
		fprintf(stderr, "usage: bench-flood INTERFACE MAC ADDRESS PORT SECONDS RATE\n");
		return 2;
	}
	for (int i = 0; i < BATCH_MAX; i++) {
		make(&syns[i], mac, argv[3], bench_number("port", argv[4], 65535));
		iov[i] = (struct iovec){ &syns[i], sizeof(syns[i]) };
		msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
	}
	rate = bench_number("rate", argv[6], 10000000);
	fd = open_link(argv[1]);
	start = bench_now();
	end = start + (double)bench_number("seconds", argv[5], 3600);
	while ((now = bench_now()) < end) {
		long due = (long)((now - start) * (double)rate) - sent;
		unsigned int cnt = due > BATCH_MAX ? BATCH_MAX : due > 0 ? (unsigned int)due : 0;
		int n = 0;

		for (unsigned int i = 0; i < cnt; i++)
			renew(&syns[i]);
		if (cnt)
			n = sendmmsg(fd, msgs, cnt, 0);
		sent += n > 0 ? n : 0;
		if (cnt < BATCH_MAX)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	printf("%.0f\n", (double)sent / (bench_now() - start));
	return 0;
}
