/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frag.c - reassembly of IPv4, RFC 791 3.2, RFC 815, RFC 1122 3.3.2
 *
 * Theory of operation
 *
 * Each incomplete packet is a set: one buffer as long as the longest packet, into which fragments are
 * copied at their place, and one bit for every 8 octets that are there. So memory is the number of
 * sets, whatever an attacker puts into them, and a fragment costs its own length.
 *
 *      buf        HEADROOM          + IP4_HDR_MAX
 *       | link's  | header of the first | payload, total length - header  |
 *
 * A fragment that was there already is ignored. One that overlaps otherwise, contradicts the packet's
 * end, or goes beyond 65535 octets kills its set (RFC 5722 4 asks it for IPv6; Linux does the same
 * here): the set stays as a tombstone, without buffer, until it is too old, so that what comes later
 * does not begin anew. The transport header must be in the first fragment (RFC 1858 3, RFC 3128).
 *
 * Time: a timer for each set, TIMEOUT_NS after its first fragment; "time exceeded" is sent then when the
 * first fragment is there to be quoted.
 *
 * Limits: SETS_MAX sets, SETS_PER_SRC of one source. At the cap the oldest goes, of that source or of
 * all: a flood of beginnings does not keep a packet out whose fragments come one after the other.
 */
#include "net/frag.h"

#include <stdlib.h>
#include <string.h>

#include "net/net_int.h"
#include "wire/csum.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"

enum {
	SETS_MAX = 64,
	SETS_PER_SRC = 16,
	HEADROOM = 16,                     /* octets, as every received frame has */
	DATA_OFF = HEADROOM + IP4_HDR_MAX, /* octets from the buffer's start to the payload */
	UNIT = 8,                          /* octets */
	UNITS_MAX = (IP4_LEN_MAX + 1) / UNIT,
	TCP_HDR_MIN = 20, /* octets, RFC 3128 */
	L4_HDR_MIN = 8,   /* octets of any other header that a transport reads */
};

#define TIMEOUT_NS (30 * NS_PER_SEC) /* linux net.ipv4.ipfrag_time */

static_assert(DATA_OFF + IP4_LEN_MAX - IP4_HDR_LEN <= CHUNK_RX, "a whole packet fits");

struct frag_set {
	struct list node; /* in frags.sets */
	struct timer timer;
	struct net *net;
	struct pkt *p; /* NULL: killed */
	struct ip_rx
		ip; /* of the first fragment when it is there, else of the one that came first */
	uint32_t src, dst;
	uint16_t id;
	uint8_t proto;
	bool has_first;
	uint32_t hdr_len;   /* octets, of the first fragment's header */
	uint32_t first_len; /* octets of the first fragment's payload */
	uint32_t end;       /* octets: payload seen so far ends here */
	uint32_t total;     /* octets of payload, 0: not known yet */
	uint32_t got;       /* octets */
	uint64_t have[UNITS_MAX / 64];
};

/* A fragment, parsed. */
struct frag {
	uint32_t off, len; /* octets */
	uint32_t hdr_len;
	bool is_last;
	struct ip4_hdr h;
};

void frags_init(struct frags *f)
{
	list_init(&f->sets);
	f->cnt = 0;
}

static void set_free(struct frag_set *s)
{
	timer_cancel(&s->net->core->timers, &s->timer);
	list_del(&s->node);
	s->net->frags.cnt--;
	pkt_free(s->p);
	free(s);
}

/** frags_done() - drop all sets of @n */
void frags_done(struct net *n)
{
	list_for_each_safe (it, &n->frags.sets)
		set_free(list_entry(it, struct frag_set, node));
}

/* The buffer as the packet it will be, for the transport or for a quotation: header and @len octets. */
static struct pkt *set_take(struct frag_set *s, uint32_t len)
{
	struct pkt *p = take(s->p);
	struct ip4_hdr *h;

	p->head = DATA_OFF - s->hdr_len;
	p->len = s->hdr_len + len;
	h = (struct ip4_hdr *)(void *)pkt_data(p);
	h->len = be16((uint16_t)p->len);
	h->frag = be16(0);
	h->csum = be16(0);
	h->csum = be16(csum_finish(csum_add(0, h, s->hdr_len)));
	p->l2_off = p->l3_off = (uint16_t)p->head;
	NS_BUG_ON(!pkt_pull(p, s->hdr_len));
	p->l4_off = (uint16_t)p->head;
	return p;
}

static void on_timeout(struct timer *t, struct mono now)
{
	struct frag_set *s = container_of(t, struct frag_set, timer);
	struct net *n = s->net;

	if (s->p) {
		drop_count(n->core->stats, DROP_FRAG_TIMEOUT);
		if (s->has_first) {
			auto_free(pkt) p = set_take(s, s->first_len);

			icmp_error(n, p, &s->ip, ICMP4_TIME_EXCEEDED, 1, now);
		}
	}
	set_free(s);
}

static struct frag_set *set_find(struct net *n, const struct frag *f, uint32_t src, uint32_t dst)
{
	list_for_each (it, &n->frags.sets) {
		struct frag_set *s = list_entry(it, struct frag_set, node);

		if (s->id == be16_get(f->h.id) && s->src == src && s->dst == dst &&
		    s->proto == f->h.proto)
			return s;
	}
	return NULL;
}

/* Make room for one more set of @src. */
static void sets_limit(struct net *n, uint32_t src)
{
	struct frag_set *of_src = NULL, *oldest = NULL;
	uint32_t src_cnt = 0;

	list_for_each (it, &n->frags.sets) {
		struct frag_set *s = list_entry(it, struct frag_set, node);

		if (!oldest)
			oldest = s;
		if (s->src != src)
			continue;
		if (!of_src)
			of_src = s;
		src_cnt++;
	}
	if (src_cnt >= SETS_PER_SRC)
		oldest = of_src;
	else if (n->frags.cnt < SETS_MAX)
		return;
	if (!oldest)
		return;
	if (oldest->p)
		drop_count(n->core->stats, DROP_FRAG_LIMIT);
	set_free(oldest);
}

static struct frag_set *set_new(struct net *n, const struct frag *f, const struct ip_rx *ip,
				uint32_t src, uint32_t dst, struct mono now)
{
	struct frag_set *s;

	sets_limit(n, src);
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->p = pkt_new_rx(&n->core->pkts, &n->core->chunks, HEADROOM);
	timer_init(&s->timer, on_timeout);
	if (!s->p || timer_arm(&n->core->timers, &s->timer, mono_add(now, TIMEOUT_NS)) < 0) {
		pkt_free(s->p);
		free(s);
		return NULL;
	}
	s->net = n;
	s->ip = *ip;
	s->src = src;
	s->dst = dst;
	s->id = be16_get(f->h.id);
	s->proto = f->h.proto;
	list_push(&n->frags.sets, &s->node);
	n->frags.cnt++;
	return s;
}

static enum drop set_kill(struct frag_set *s, enum drop why)
{
	pkt_free(take(s->p));
	return why;
}

/* How many of the units of @f are there. */
static uint32_t units_there(const struct frag_set *s, const struct frag *f)
{
	uint32_t cnt = 0;

	for (uint32_t u = f->off / UNIT; u < (f->off + f->len + UNIT - 1) / UNIT; u++)
		cnt += s->have[u / 64] >> (u % 64) & 1;
	return cnt;
}

static bool is_same(const struct frag_set *s, const struct frag *f, const struct pkt *p)
{
	const uint8_t *at = s->p->buf + DATA_OFF + f->off;
	uint8_t buf[256];

	for (uint32_t i = 0; i < f->len; i += sizeof(buf)) {
		uint32_t n = ns_min_u(sizeof(buf), f->len - i);

		if (!pkt_copy_out(p, f->hdr_len + i, buf, n) || memcmp(buf, at + i, n) != 0)
			return false;
	}
	return true;
}

/* What contradicts what is there; DROP_NONE: it may be put in. */
static enum drop set_check(const struct frag_set *s, const struct frag *f, const struct pkt *p)
{
	uint32_t end = f->off + f->len, there;

	if (end > IP4_LEN_MAX - ns_max_u(f->hdr_len, IP4_HDR_LEN))
		return DROP_IP4_FRAGMENT;
	if (f->off == 0 && !f->is_last &&
	    f->len < (s->proto == IP_PROTO_TCP ? TCP_HDR_MIN : L4_HDR_MIN))
		return DROP_IP4_FRAGMENT;
	if (f->off == UNIT && s->proto == IP_PROTO_TCP)
		return DROP_IP4_FRAGMENT;
	there = units_there(s, f);
	if (there == (f->len + UNIT - 1) / UNIT && is_same(s, f, p) &&
	    (!f->is_last || s->total == end))
		return DROP_FRAG_DUPLICATE;
	if (there > 0)
		return DROP_FRAG_OVERLAP;
	if (f->is_last ? s->end > end || (s->total && s->total != end) : s->total && end > s->total)
		return DROP_IP4_FRAGMENT;
	return DROP_NONE;
}

static void set_put(struct frag_set *s, const struct frag *f, const struct pkt *p,
		    const struct ip_rx *ip)
{
	uint8_t *data = s->p->buf + DATA_OFF;

	NS_BUG_ON(!pkt_copy_out(p, f->hdr_len, data + f->off, f->len));
	for (uint32_t u = f->off / UNIT; u < (f->off + f->len + UNIT - 1) / UNIT; u++)
		s->have[u / 64] |= UINT64_C(1) << (u % 64);
	s->got += f->len;
	s->end = ns_max_u(s->end, f->off + f->len);
	if (f->is_last)
		s->total = f->off + f->len;
	if (f->off == 0) {
		s->has_first = true;
		s->first_len = f->len;
		s->hdr_len = f->hdr_len;
		s->ip = *ip;
		NS_BUG_ON(!pkt_copy_out(p, 0, data - f->hdr_len, f->hdr_len));
	}
}

/**
 * frag_input() - one fragment
 * @n:		IP layer
 * @p:		Packet, its head at the IP header, header checked; Consumes @p
 * @ip:		What IP knows of it
 * @now:	Time
 * @ret_whole:	The whole packet when this was its last piece, its head at the transport header
 *		and l3_off at its IP header, now the caller's; NULL: not yet
 *
 * Return: DROP_NONE when it was kept, or why not
 */
enum drop frag_input(struct net *n, struct pkt *p, const struct ip_rx *ip, struct mono now,
		     struct pkt **ret_whole)
{
	auto_free(pkt) mine = p;
	uint32_t src = ns_addr_to_v4(&ip->src), dst = ns_addr_to_v4(&ip->dst);
	struct frag_set *s;
	struct frag f;
	enum drop why;

	*ret_whole = NULL;
	NS_BUG_ON(!pkt_copy_out(mine, 0, &f.h, sizeof(f.h)));
	f.hdr_len = ip4_hdr_len(&f.h);
	f.off = (be16_get(f.h.frag) & IP4_OFF_MASK) * UNIT;
	f.len = pkt_len(mine) - f.hdr_len;
	f.is_last = !(be16_get(f.h.frag) & IP4_MF);
	if (f.len == 0 || (!f.is_last && f.len % UNIT != 0) || mine->gso_size)
		return DROP_IP4_FRAGMENT;
	s = set_find(n, &f, src, dst);
	if (!s)
		s = set_new(n, &f, ip, src, dst, now);
	if (!s)
		return DROP_NO_MEMORY;
	if (!s->p)
		return DROP_FRAG_OVERLAP;
	why = set_check(s, &f, mine);
	if (why != DROP_NONE)
		return why == DROP_FRAG_DUPLICATE ? why : set_kill(s, why);
	set_put(s, &f, mine, ip);
	if (s->total == 0 || s->got < s->total || !s->has_first)
		return DROP_NONE;
	/* options of the first fragment may make it longer than the others' headers allowed */
	if (s->hdr_len + s->total > IP4_LEN_MAX)
		return set_kill(s, DROP_IP4_FRAGMENT);
	*ret_whole = set_take(s, s->total);
	(*ret_whole)->rx_time = now;
	stat_inc(n->core->stats, STAT_IP_REASSEMBLED);
	set_free(s);
	return DROP_NONE;
}
