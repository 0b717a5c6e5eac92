/* SPDX-License-Identifier: Apache-2.0 */
/* worker_observe.c - for a human: every frame to the capture ring (--pcap) or to the log (--log-packets) */
#include <arpa/inet.h>
#include <stdio.h>
#include <time.h>

#include "buf/pkt.h"
#include "daemon/common/log.h"
#include "daemon/worker/worker_int.h"
#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/tcp.h"

static uint64_t realtime_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

/** log_ip4() - one line for an IPv4 packet; @off octets from the frame's start to its header */
static void log_ip4(const struct wlink *l, const struct pkt *p, const char *dir, uint32_t off)
{
	struct ip4_hdr ip;
	struct tcp_hdr tcp;
	char src[INET_ADDRSTRLEN] = "?", dst[INET_ADDRSTRLEN] = "?";

	if (!pkt_copy_out(p, off, &ip, sizeof(ip)))
		return;
	(void)inet_ntop(AF_INET, &ip.src, src, sizeof(src));
	(void)inet_ntop(AF_INET, &ip.dst, dst, sizeof(dst));
	off += ip4_hdr_len(&ip);
	if (ip.proto != IP_PROTO_TCP || !pkt_copy_out(p, off, &tcp, sizeof(tcp))) {
		log_notice("%s %s %u octets %s > %s protocol %u", l->name, dir, pkt_len(p), src,
			   dst, ip.proto);
		return;
	}
	log_notice("%s %s %u octets %s:%u > %s:%u flags %#x seq %u ack %u window %u segment %u",
		   l->name, dir, pkt_len(p), src, be16_get(tcp.sport), dst, be16_get(tcp.dport),
		   tcp.flags, be32_get(tcp.seq), be32_get(tcp.ack), be16_get(tcp.wnd), p->gso_size);
}

/** log_ip6() - the same for IPv6; extension headers are not gone over */
static void log_ip6(const struct wlink *l, const struct pkt *p, const char *dir, uint32_t off)
{
	struct ip6_hdr ip;
	struct tcp_hdr tcp;
	char src[INET6_ADDRSTRLEN] = "?", dst[INET6_ADDRSTRLEN] = "?";

	if (!pkt_copy_out(p, off, &ip, sizeof(ip)))
		return;
	(void)inet_ntop(AF_INET6, &ip.src, src, sizeof(src));
	(void)inet_ntop(AF_INET6, &ip.dst, dst, sizeof(dst));
	if (ip.next != IP_PROTO_TCP || !pkt_copy_out(p, off + sizeof(ip), &tcp, sizeof(tcp))) {
		log_notice("%s %s %u octets %s > %s next header %u", l->name, dir, pkt_len(p), src,
			   dst, ip.next);
		return;
	}
	log_notice("%s %s %u octets [%s]:%u > [%s]:%u flags %#x seq %u ack %u window %u segment %u",
		   l->name, dir, pkt_len(p), src, be16_get(tcp.sport), dst, be16_get(tcp.dport),
		   tcp.flags, be32_get(tcp.seq), be32_get(tcp.ack), be16_get(tcp.wnd), p->gso_size);
}

static void log_why(const struct wlink *l, enum drop why)
{
	if (why != DROP_NONE)
		log_notice("%s dropped it: %s (%s)", l->name, drop_text(why), drop_name(why));
}

/* Asked for by --log-packets, so at the level that is shown by default. */
static void log_frame(const struct wlink *l, const struct pkt *p, bool is_tx, enum drop why)
{
	const char *dir = !is_tx ? "received" : why == DROP_NONE ? "sent" : "lost";
	struct eth_hdr eth;

	if (!pkt_copy_out(p, 0, &eth, sizeof(eth)))
		return;
	if (be16_get(eth.type) == ETH_TYPE_IP4)
		log_ip4(l, p, dir, sizeof(eth));
	else if (be16_get(eth.type) == ETH_TYPE_IP6)
		log_ip6(l, p, dir, sizeof(eth));
	else
		log_notice("%s %s %u octets ethertype %#06x", l->name, dir, pkt_len(p),
			   be16_get(eth.type));
	log_why(l, why);
}

static void observe(void *ctx, const struct pkt *p, bool is_tx, enum drop why)
{
	const struct wlink *l = ctx;
	struct worker *w = l->worker;

	if (w->pcap.shared)
		pcap_ring_put(&w->pcap, (uint32_t)(l - w->links), is_tx, realtime_ns(), p, why);
	if (w->has_log_packets)
		log_frame(l, p, is_tx, why);
}

static void judge(void *ctx, enum drop why)
{
	const struct wlink *l = ctx;
	struct worker *w = l->worker;

	if (w->pcap.shared)
		pcap_ring_judge(&w->pcap, why);
	if (w->has_log_packets)
		log_why(l, why);
}

int worker_observe(struct worker *w, int pcap_fd, bool has_log_packets)
{
	if (pcap_fd >= 0) {
		int r = pcap_ring_map(&w->pcap, pcap_fd);

		if (r < 0)
			return log_err(r, "cannot map the capture ring");
	}
	w->has_log_packets = has_log_packets;
	for (uint32_t i = 0; i < w->link_cnt; i++)
		worker_observe_link(&w->links[i]);
	return 0;
}

void worker_observe_link(struct wlink *l)
{
	if (!l->worker->pcap.shared && !l->worker->has_log_packets)
		return;
	l->drv.observe = observe;
	l->drv.judge = judge;
}
