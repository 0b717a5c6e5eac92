/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - the send side of a link
 *
 * Theory of operation
 *
 * Frames collect in @txq during a turn and leave in link_flush() at its end, as many to one xmit()
 * as the driver's batch allows. On their way they pass through prepare(), which brings them into
 * the form the link's mode asks for:
 *
 *   NS_GSO_HW     as they are: super-frames, pseudo-header sums for the device to complete
 *   NS_GSO_SW     super-frames cut into segments, checksums complete, all in one call
 *   NS_GSO_NONE   no super-frames are made (link_gso_max()); one frame a call
 *
 * A frame the driver did not take stays at the front of @ready: order on the wire is the order of
 * link_output(). Errors of the driver are about the first frame:
 *
 *   -EAGAIN            keep everything until link_writable()
 *   -EINVAL -ENOBUFS   about a frame that asks something of the device (segments, a checksum): it is
 *                      done in software, for this frame, for a while, or for good; trust.h decides.
 *                      What is refused for good of datagrams is refused of datagrams only.
 *                      Some kernels refuse valid super-frames, some only later than the first, and a
 *                      qdisc says -ENOBUFS of any frame that finds it full
 *   -EMSGSIZE          this frame is lost and counted
 *   -ENETDOWN -ENXIO   all that waits is lost and counted
 *   anything else      this frame is lost and counted
 *
 * Limits: link_room() tells the transports TXQ_FRAMES and TXQ_LEN; control packets (ARP, ICMP) may
 * exceed it, up to twice as many frames.
 *
 * Ownership: queued packets belong to the link; the driver borrows them during xmit().
 */
#include "link/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link/offload.h"
#include "wire/eth.h"
#include "wire/ip4.h"

enum {
	TXQ_FRAMES = 256,
	TXQ_LEN = 4 * 1024 * 1024, /* octets */
	SUPER_LEN = 65536,         /* octets: what one frame may have at most */
	BATCH_DEFAULT = 64,        /* frames a call */
	BATCH_MAX = 256,
	GSO_MAX_DEFAULT = 65536, /* octets; linux GSO_LEGACY_MAX_SIZE */
};

static void set_limits(struct link *l, uint32_t gso_max_size, uint32_t gso_max_segs)
{
	l->config.gso_max_size = gso_max_size ? gso_max_size : GSO_MAX_DEFAULT;
	l->config.gso_max_segs = gso_max_segs ? gso_max_segs : UINT16_MAX;
}

/**
 * link_renew() - a link as link_new() makes it, in the place of one that was retired
 * @l:		Its queues are empty
 * @id:		Its number; LINK_LOOP_ID makes the loop link, whose queue loop_take() reads
 * @config:	Copied; gso limits of 0 mean Linux' defaults
 */
void link_renew(struct link *l, uint32_t id, const struct ns_link_config *config)
{
	*l = (struct link){ .id = id,
			    .config = *config,
			    .is_loop = id == LINK_LOOP_ID,
			    .mode = config->gso,
			    .has_uso = config->has_uso,
			    .pkts = l->pkts,
			    .stats = l->stats };
	link_hear6(l, (const uint8_t[]){ 0x33, 0x33, 0, 0, 0, 1 }); /* all nodes */
	pktq_init(&l->txq);
	pktq_init(&l->ready);
	set_limits(l, config->gso_max_size, config->gso_max_segs);
	if (l->config.tx_batch == 0)
		l->config.tx_batch = BATCH_DEFAULT;
	l->config.tx_batch = ns_min_u(l->config.tx_batch, BATCH_MAX);
}

/**
 * link_new() - a link with empty queues
 * @id:		As link_renew()
 * @config:	As link_renew()
 * @pkts:	Packets of the stack, for cut segments; outlives the link
 * @stats:	Counters of the stack; outlives the link
 *
 * Return: the link, or NULL without memory
 */
struct link *link_new(uint32_t id, const struct ns_link_config *config, struct pool *pkts,
		      struct ns_stats *stats)
{
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->pkts = pkts;
	l->stats = stats;
	link_renew(l, id, config);
	return l;
}

/** link_free() - with all that waits in its queues; NULL is fine */
void link_free(struct link *l)
{
	if (!l)
		return;
	pktq_clear(&l->txq);
	pktq_clear(&l->ready);
	free(l);
}

/**
 * link_lose() - a frame of ours does not leave: count it and tell who watches
 * @l:		Link it was for
 * @p:		From the Ethernet header on; Consumes @p
 * @why:	Reason
 */
void link_lose(struct link *l, struct pkt *p, enum drop why)
{
	drop_count(l->stats, why);
	if (l->config.ops && l->config.ops->lost)
		l->config.ops->lost(l->config.drv, p, why);
	pkt_free(p);
}

/**
 * link_output() - queue a frame
 * @l:	Link
 * @p:	Frame from the Ethernet header on (loop: from the IP header on); Consumes @p
 *
 * Return: 0, -ENETDOWN, -ENOBUFS when the queue is full
 */
int link_output(struct link *l, struct pkt *p)
{
	if (ns_unlikely(!l->config.is_up)) {
		link_lose(l, p, DROP_LINK_DOWN);
		return -ENETDOWN;
	}
	if (ns_unlikely(l->txq.cnt >= 2 * TXQ_FRAMES)) {
		link_lose(l, p, DROP_LINK_QUEUE);
		return -ENOBUFS;
	}
	l->txq_len += pkt_len(p);
	pktq_push(&l->txq, p);
	return 0;
}

/** link_room() - frames the transports may queue now; 0 is remembered, they are woken when there is room */
uint32_t link_room(struct link *l)
{
	uint32_t by_len;

	if (l->txq.cnt >= TXQ_FRAMES || l->txq_len >= TXQ_LEN) {
		l->is_starved = true;
		return 0;
	}
	by_len = (uint32_t)(TXQ_LEN - l->txq_len + SUPER_LEN - 1) / SUPER_LEN;
	return ns_min_u(TXQ_FRAMES - l->txq.cnt, by_len);
}

/**
 * link_gso_max() - TCP payload of one super-segment
 * @l:		Link
 * @mss:	Payload octets of a segment, not 0
 * @hdr_len:	Octets of IP and TCP headers
 *
 * The device's limit counts the Ethernet header and must not be reached (linux v6.1 net/core/dev.c
 * gso_features_check()); the total length of IPv4 is the other bound.
 *
 * Return: octets, a multiple of @mss, at least @mss
 */
uint32_t link_gso_max(const struct link *l, uint32_t mss, uint32_t hdr_len)
{
	uint32_t max = IP4_LEN_MAX, segs;

	if (l->mode == NS_GSO_NONE || l->is_loop)
		return mss;
	if (l->mode == NS_GSO_HW && l->config.gso_max_size <= max + ETH_HDR_LEN)
		max = l->config.gso_max_size > ETH_HDR_LEN
			      ? l->config.gso_max_size - ETH_HDR_LEN - 1
			      : 0;
	segs = max > hdr_len ? (max - hdr_len) / mss : 0;
	segs = ns_min_u(segs, l->config.gso_max_segs);
	return segs > 1 ? segs * mss : mss;
}

/**
 * link_takes_uso() - may datagrams be queued as one super-frame?
 * @l:		Link
 * @len:	Octets of IP packet, all datagrams and one set of headers
 * @segs:	Datagrams
 *
 * False of a link that would cut them in software: who has the payload cuts it for less. Limits as
 * link_gso_max().
 */
bool link_takes_uso(const struct link *l, uint32_t len, uint32_t segs)
{
	return l->mode == NS_GSO_HW && l->has_uso && segs <= l->config.gso_max_segs &&
	       len + ETH_HDR_LEN < l->config.gso_max_size;
}

static void lose_first(struct link *l, enum drop why)
{
	link_lose(l, pktq_pop(&l->ready), why);
}

/* The device is down. */
static void lose_all(struct link *l)
{
	struct pkt *p;

	while ((p = pktq_pop(&l->ready)) != NULL || (p = pktq_pop(&l->txq)) != NULL)
		link_lose(l, p, DROP_LINK_DOWN);
	l->txq_len = 0;
}

static bool is_uso(const struct pkt *p)
{
	return p->gso_segs > 1 && p->gso_type == PKT_GSO_UDP_L4;
}

/* From @txq to @ready, one frame or all segments of one. False: no memory now, the frame stays. */
static bool prepare(struct link *l)
{
	struct pkt *p = list_entry(l->txq.head.next, struct pkt, node);
	uint32_t len = pkt_len(p);

	if (p->gso_segs > 1 && (l->mode != NS_GSO_HW || (is_uso(p) && !l->has_uso))) {
		if (offload_cut(p, l->pkts, &l->ready) < 0)
			return false;
		pkt_free(pktq_pop(&l->txq));
	} else {
		p = pktq_pop(&l->txq);
		if (l->mode != NS_GSO_HW && p->csum == PKT_CSUM_PARTIAL)
			offload_fill_csum(p);
		pktq_push(&l->ready, p);
	}
	l->txq_len -= len;
	return true;
}

static void fill_ready(struct link *l, uint32_t want)
{
	while (l->ready.cnt < want && l->txq.cnt > 0) {
		if (prepare(l))
			continue;
		if (l->ready.cnt > 0)
			return; /* sending these gives packets back */
		l->txq_len -= pkt_len(list_entry(l->txq.head.next, struct pkt, node));
		link_lose(l, pktq_pop(&l->txq), DROP_NO_MEMORY);
	}
}

/* In software what the first frame asks of the device; its pieces take its place. */
static void cut_first(struct link *l)
{
	struct pkt *p = pktq_pop(&l->ready);
	struct pktq pieces;

	stat_inc(l->stats, STAT_LINK_GSO_FULL);
	pktq_init(&pieces);
	if (p->gso_segs <= 1) {
		offload_fill_csum(p);
		pktq_push(&pieces, p);
	} else {
		if (offload_cut(p, l->pkts, &pieces) < 0)
			link_lose(l, p, DROP_NO_MEMORY);
		else
			pkt_free(p);
	}
	list_splice(&pieces.head, &l->ready.head);
	list_splice(&l->ready.head, &pieces.head);
	l->ready.cnt += pieces.cnt;
}

/* The device does not do what it said: cut and sum in software from here on, or only cut datagrams. */
static void fall_back(struct link *l, bool is_uso_alone)
{
	if (is_uso_alone) {
		stat_inc(l->stats, STAT_LINK_USO_FALLBACK);
		l->has_uso = false;
	} else {
		stat_inc(l->stats, STAT_LINK_GSO_FALLBACK);
		l->mode = l->config.is_sw_gso_off ? NS_GSO_NONE : NS_GSO_SW;
	}
	list_for_each (n, &l->ready.head)
		l->txq_len += pkt_len(list_entry(n, struct pkt, node));
	list_splice(&l->ready.head, &l->txq.head);
	list_splice(&l->txq.head, &l->ready.head);
	l->txq.cnt += l->ready.cnt;
	l->ready.cnt = 0;
}

static void on_error(struct link *l, int err)
{
	const struct pkt *first = list_entry(l->ready.head.next, struct pkt, node);
	bool asks_device = first->gso_segs > 1 || first->csum == PKT_CSUM_PARTIAL;

	switch (-err) {
	case EAGAIN:
		stat_inc(l->stats, STAT_LINK_TX_BLOCKED);
		l->is_blocked = true;
		break;
	case EINVAL:
	case ENOBUFS:
		if (asks_device && l->mode == NS_GSO_HW) {
			enum trust_verdict v = trust_refused(&l->trust, err);

			if (v == TRUST_CUT_IT)
				cut_first(l);
			else
				fall_back(l, v == TRUST_FOR_GOOD && is_uso(first));
			break;
		}
		if (err == -ENOBUFS)
			trust_overload(&l->trust);
		lose_first(l, DROP_LINK_REFUSED);
		break;
	case EMSGSIZE:
		lose_first(l, DROP_LINK_TOO_LONG);
		break;
	case ENETDOWN:
	case ENXIO:
		lose_all(l);
		break;
	default:
		lose_first(l, DROP_LINK_REFUSED);
		break;
	}
}

static void on_sent(struct link *l, uint32_t cnt)
{
	NS_BUG_ON(cnt > l->ready.cnt);
	if (trust_is_over(&l->trust, cnt)) {
		stat_inc(l->stats, STAT_LINK_GSO_AGAIN);
		l->mode = l->config.gso;
	}
	while (cnt-- > 0) {
		struct pkt *p = pktq_pop(&l->ready);

		stat_inc(l->stats, STAT_LINK_TX_FRAMES);
		stat_add(l->stats, STAT_LINK_TX_OCTETS, pkt_len(p));
		if (p->gso_segs > 1) {
			stat_inc(l->stats, STAT_LINK_TX_GSO);
			trust_accepted(&l->trust);
		}
		pkt_free(p);
	}
}

/** link_flush() - send what waits until the queue is empty or the driver has no room */
void link_flush(struct link *l)
{
	struct pkt *batch[BATCH_MAX];

	while (link_has_work(l)) {
		uint32_t cnt = l->mode == NS_GSO_NONE ? 1 : l->config.tx_batch;
		uint32_t n = 0;
		int r;

		fill_ready(l, cnt);
		list_for_each (it, &l->ready.head) {
			if (n == cnt)
				break;
			batch[n++] = list_entry(it, struct pkt, node);
		}
		if (n == 0)
			break;
		stat_inc(l->stats, STAT_LINK_TX_CALLS);
		r = l->config.ops->xmit(l->config.drv, batch, n);
		if (r > 0)
			on_sent(l, (uint32_t)r);
		else
			on_error(l, r ? r : -EAGAIN);
	}
}

/** link_writable() - the driver has room again */
void link_writable(struct link *l)
{
	l->is_blocked = false;
}

/** link_set_up() - up or down; what waits on a link that goes down is lost and counted */
void link_set_up(struct link *l, bool is_up)
{
	if (l->config.is_up && !is_up)
		lose_all(l);
	l->config.is_up = is_up;
	l->is_blocked = false;
}

/** link_hear6() - frames to this group of IPv6 (33:33:...) are let in from now on; what it is exactly is for IP to look at */
void link_hear6(struct link *l, const uint8_t mac[6])
{
	l->groups6 |= UINT64_C(1) << (mac[5] & 63);
}

/** link_set_config() - name, MTU, MAC, is_noarp and GSO limits; how frames leave stays */
void link_set_config(struct link *l, const struct ns_link_config *config)
{
	memcpy(l->config.name, config->name, sizeof(l->config.name));
	memcpy(l->config.mac, config->mac, sizeof(l->config.mac));
	l->config.mtu = config->mtu;
	l->config.is_noarp = config->is_noarp;
	l->config.is_multicast = config->is_multicast;
	l->config.rp_filter = config->rp_filter;
	l->config.group = config->group;
	set_limits(l, config->gso_max_size, config->gso_max_segs);
}

/** link_retire() - its device is gone: nothing reaches the driver any more */
void link_retire(struct link *l)
{
	link_set_up(l, false);
	l->is_gone = true;
	l->config.ifindex = 0;
	l->config.name[0] = '\0';
}
