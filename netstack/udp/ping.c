/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ping.c - echo sockets: SOCK_DGRAM of IPPROTO_ICMP and IPPROTO_ICMPV6
 *
 * Theory of operation
 *
 * An echo socket is a datagram socket whose port is the identifier of its echo requests. So it is a
 * second struct udp with is_ping: sockets, binding, paths, queues and errors are the same, and here is
 * what is not.
 *
 * The program writes a whole ICMP message, of which only an echo request is sent; the identifier and the
 * checksum become ours. It reads the whole message of each answer that has its identifier and came to
 * its address; of everything else of ICMP it hears nothing. An error counts for the socket when the
 * message it quotes was an echo request with its identifier.
 *
 * References: RFC 792, RFC 4443 4; linux v6.1 net/ipv4/ping.c.
 */
#include <errno.h>
#include <string.h>

#include "udp/udp_int.h"
#include "wire/csum.h"
#include "wire/icmp4.h"
#include "wire/icmp6.h"
#include "wire/ip4.h"

/* The first octets of @iov, all of which are there. */
static void gather(uint8_t *to, uint32_t len, const struct ns_iov *iov)
{
	while (len > 0) {
		uint32_t n = iov->len < len ? (uint32_t)iov->len : len;

		memcpy(to, iov->base, n);
		to += n;
		len -= n;
		iov++;
	}
}

/** ping_check() - linux ping_common_sendmsg(): is this an echo request? Return: 0 or -EINVAL */
int ping_check(const struct ns_addr *to, const struct ns_iov *iov, size_t len)
{
	uint8_t h[PING_HDR_LEN];

	if (len < sizeof(h))
		return -EINVAL;
	gather(h, sizeof(h), iov);
	return h[0] == (ns_addr_is_v4(to) ? (uint8_t)ICMP4_ECHO : (uint8_t)ICMP6_ECHO) && h[1] == 0
		       ? 0
		       : -EINVAL;
}

/** ping_header_push() - the first PING_HDR_LEN octets of the message, whose rest @p has, with our identifier */
void ping_header_push(struct pkt *p, const struct ns_iov *iov, const struct ns_addr *src,
		      const struct ns_addr *dst, uint16_t id)
{
	struct icmp4_hdr *h =
		PKT_PUSH(p, struct icmp4_hdr); /* ICMPv6 has its fields where this has */
	uint32_t len = pkt_len(p), sum = 0;

	gather((uint8_t *)h, PING_HDR_LEN, iov);
	h->unused = be16(id);
	h->csum = be16(0);
	if (!ns_addr_is_v4(dst))
		sum = csum_pseudo(src, dst, IP_PROTO_ICMP6, len);
	h->csum = be16(csum_finish(csum_pkt(sum, p, 0, len)));
	p->csum = PKT_CSUM_FULL;
}

/* An answer, checksum verified, its head at the ICMP header; proto_ops.input */
static enum drop ping_input(void *self, struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	auto_free(pkt) mine = p;
	struct udp *u = self;
	struct udp_in in = { .local.addr = ip->dst,
			     .remote.addr = ip->src,
			     .ifindex = net_link_ifindex(ip->link),
			     .len = pkt_len(p) };
	struct icmp4_hdr h;
	struct udp_sock *s;

	if (!pkt_copy_out(p, 0, &h, sizeof(h)) || in.len > NS_DGRAM_MAX)
		return DROP_ICMP_BAD;
	in.local.port = be16_get(h.unused);
	s = udp_find(u, &in.local, &in.remote, in.ifindex);
	return s ? udp_queue_push(s, mine, &in, ip, now) : DROP_ICMP_IGNORED;
}

const struct proto_ops ping_proto_ops = { .input = ping_input, .error = udp_error };
