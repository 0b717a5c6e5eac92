/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frag.c - reassembly of either family: RFC 791 3.2, RFC 815, RFC 8200 4.5
 *
 * Theory of operation
 *
 * Each incomplete packet is a set: one buffer as long as the longest packet, into which fragments are
 * copied at their place, and one bit for every 8 octets that are there. So memory is the number of
 * sets, whatever an attacker puts into them, and a fragment costs its own length.
 *
 *      buf        HEADROOM              + HDR_MAX
 *       | link's  |  headers of the first  | payload, total length - headers  |
 *
 * frag4.c and frag6.c read the headers of a fragment, give the whole packet one header again, and
 * tell the sender of one that never became whole (struct frag_family).
 *
 * A fragment that was there already, with these octets and this length, is ignored: "exact duplicates" of
 * RFC 8200 4.5; a part of one is none (Linux ignores it). One that overlaps otherwise, contradicts the packet's
 * end, or goes beyond 65535 octets kills its set (RFC 5722 4 and RFC 8200 4.5 ask it for IPv6; Linux
 * does the same for IPv4): the set stays as a tombstone, without buffer, until it is too old, so that
 * what comes later does not begin anew. What says of its ECN bits that it was not all one packet's
 * goes the same way (RFC 3168 5.3).
 *
 * Time: a timer for each set, frag_family.timeout_ns after its first fragment; the sender is told then
 * if the first fragment is there to be quoted.
 *
 * Limits: SETS_MAX sets, SETS_PER_SRC of one source, which is an address of IPv4 or a /64 of IPv6: who
 * has one address of it has them all. At the cap the oldest goes, of that source or of all: a flood of
 * beginnings does not keep a packet out whose fragments come one after the other.
 *
 * References: linux v6.1 net/ipv4/inet_fragment.c, ip_frag_ecn_table[].
 */
#include "net/frag.h"

#include <stdlib.h>
#include <string.h>

#include "net/net_int.h"

enum {
	SETS_MAX = 64,
	SETS_PER_SRC = 16,
	HEADROOM = 16,                      /* octets, as every received frame has */
	DATA_OFF = HEADROOM + FRAG_HDR_MAX, /* octets from the buffer's start to the payload */
	UNIT = 8,                           /* octets */
	UNITS_MAX = (FRAG_LEN_MAX + 1) / UNIT,
};

/* The ECN bits of all fragments, each value a bit of a mask. */
enum {
	ECN_NOT_ECT = 1 << 0,
	ECN_CE = 1 << 3,
	ECN_MASK = 3,
};

static_assert(DATA_OFF + FRAG_LEN_MAX <= CHUNK_RX, "a whole packet fits");

struct frag_set {
	struct list node; /* in frags.sets */
	struct timer timer;
	struct net *net;
	const struct frag_family *family;
	struct pkt *p; /* NULL: killed */
	struct ip_rx
		ip; /* of the first fragment when it is there, else of the one that came first */
	struct frag_piece first; /* payload 0: not there yet */
	struct ns_addr src, dst;
	uint32_t id;
	uint8_t proto;
	uint8_t ecn;      /* ECN bits of all fragments, 1 << value each */
	uint32_t end;     /* octets: payload seen so far ends here */
	uint32_t total;   /* octets of payload, 0: not known yet */
	uint32_t got;     /* octets */
	uint32_t longest; /* octets of the largest fragment, with its headers */
	uint64_t have[UNITS_MAX / 64];
	uint64_t starts[UNITS_MAX / 64]; /* where fragments begin */
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

/* The buffer as a packet: the headers of the first fragment as they came and @len octets of payload. */
static struct pkt *set_take(struct frag_set *s, uint32_t len)
{
	struct pkt *p = take(s->p);

	p->head = DATA_OFF - s->first.hdr_len;
	p->len = s->first.hdr_len + len;
	p->l2_off = p->l3_off = (uint16_t)p->head;
	return p;
}

static void on_timeout(struct timer *t, struct mono now)
{
	struct frag_set *s = container_of(t, struct frag_set, timer);
	struct net *n = s->net;

	if (s->p) {
		drop_count(n->core->stats, DROP_FRAG_TIMEOUT);
		if (s->first.len) {
			auto_free(pkt) p = set_take(s, s->first.len);

			s->family->expired(n, p, &s->ip, now);
		}
	}
	set_free(s);
}

static struct frag_set *set_find(struct net *n, const struct frag_piece *f, const struct ip_rx *ip)
{
	list_for_each (it, &n->frags.sets) {
		struct frag_set *s = list_entry(it, struct frag_set, node);

		if (s->id == f->id && s->proto == f->proto && ns_addr_eq(&s->src, &ip->src) &&
		    ns_addr_eq(&s->dst, &ip->dst))
			return s;
	}
	return NULL;
}

static bool is_same_source(const struct ns_addr *a, const struct ns_addr *b)
{
	enum { SUBNET_LEN = 8 }; /* octets: RFC 4291 2.5.1 */

	if (ns_addr_is_v4(a) || ns_addr_is_link_local(a))
		return ns_addr_eq(a, b);
	return memcmp(a->b, b->b, SUBNET_LEN) == 0;
}

/* Make room for one more set of @src. */
static void sets_limit(struct net *n, const struct ns_addr *src)
{
	struct frag_set *of_src = NULL, *oldest = NULL;
	uint32_t src_cnt = 0;

	list_for_each (it, &n->frags.sets) {
		struct frag_set *s = list_entry(it, struct frag_set, node);

		if (!oldest)
			oldest = s;
		if (!is_same_source(&s->src, src))
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

static struct frag_set *set_new(struct net *n, const struct frag_family *family,
				const struct frag_piece *f, const struct ip_rx *ip, struct mono now)
{
	struct frag_set *s;

	sets_limit(n, &ip->src);
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->p = pkt_new_rx(&n->core->pkts, &n->core->chunks, HEADROOM);
	timer_init(&s->timer, on_timeout);
	if (!s->p ||
	    timer_arm(&n->core->timers, &s->timer, mono_add(now, family->timeout_ns)) < 0) {
		pkt_free(s->p);
		free(s);
		return NULL;
	}
	s->net = n;
	s->family = family;
	s->ip = *ip;
	s->src = ip->src;
	s->dst = ip->dst;
	s->id = f->id;
	s->proto = f->proto;
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
static uint32_t units_there(const struct frag_set *s, const struct frag_piece *f)
{
	uint32_t cnt = 0;

	for (uint32_t u = f->off / UNIT; u < (f->off + f->len + UNIT - 1) / UNIT; u++)
		cnt += s->have[u / 64] >> (u % 64) & 1;
	return cnt;
}

static bool has_start(const struct frag_set *s, uint32_t unit)
{
	return s->starts[unit / 64] >> (unit % 64) & 1;
}

/* Is what is there at @f's place one fragment, as long as @f? */
static bool is_one(const struct frag_set *s, const struct frag_piece *f)
{
	uint32_t first = f->off / UNIT, end = (f->off + f->len + UNIT - 1) / UNIT;

	if (!has_start(s, first))
		return false;
	for (uint32_t u = first + 1; u < end; u++)
		if (has_start(s, u))
			return false;
	return end >= UNITS_MAX || has_start(s, end) || !(s->have[end / 64] >> (end % 64) & 1);
}

static bool is_same(const struct frag_set *s, const struct frag_piece *f, const struct pkt *p)
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

/* Octets that count against FRAG_LEN_MAX besides the payload. */
static uint32_t counted_hdr(const struct frag_family *family, const struct frag_piece *f)
{
	return f->hdr_len - family->hdr_free;
}

/* What contradicts what is there; DROP_NONE: it may be put in. */
static enum drop set_check(const struct frag_set *s, const struct frag_piece *f,
			   const struct pkt *p)
{
	uint32_t end = f->off + f->len, there;

	if (f->is_bad || end > FRAG_LEN_MAX - counted_hdr(s->family, f))
		return s->family->bad;
	there = units_there(s, f);
	if (there == (f->len + UNIT - 1) / UNIT && is_one(s, f) && is_same(s, f, p) &&
	    (f->is_last ? s->total == end : !s->total || end <= s->total))
		return DROP_FRAG_DUPLICATE;
	if (there > 0)
		return DROP_FRAG_OVERLAP;
	if (f->is_last ? s->end > end || (s->total && s->total != end) : s->total && end > s->total)
		return s->family->bad;
	return DROP_NONE;
}

static void set_put(struct frag_set *s, const struct frag_piece *f, const struct pkt *p,
		    const struct ip_rx *ip)
{
	uint8_t *data = s->p->buf + DATA_OFF;

	NS_BUG_ON(!pkt_copy_out(p, f->hdr_len, data + f->off, f->len));
	for (uint32_t u = f->off / UNIT; u < (f->off + f->len + UNIT - 1) / UNIT; u++)
		s->have[u / 64] |= UINT64_C(1) << (u % 64);
	s->starts[f->off / UNIT / 64] |= UINT64_C(1) << (f->off / UNIT % 64);
	s->got += f->len;
	s->longest = ns_max_u(s->longest, f->hdr_len + f->len);
	s->ecn |= (uint8_t)(1u << (ip->tos & ECN_MASK));
	s->end = ns_max_u(s->end, f->off + f->len);
	if (f->is_last)
		s->total = f->off + f->len;
	if (f->off == 0) {
		s->first = *f;
		s->ip = *ip;
		NS_BUG_ON(!pkt_copy_out(p, 0, data - f->hdr_len, f->hdr_len));
	}
}

/* All is there: @ip is of the whole packet then. DROP_NONE or why it is none after all. */
static enum drop set_finish(struct frag_set *s, struct ip_rx *ip, struct mono now,
			    struct pkt **ret_whole)
{
	struct pkt *p;

	/* headers of the first fragment may make it longer than the others' allowed */
	if (counted_hdr(s->family, &s->first) + s->total > FRAG_LEN_MAX)
		return set_kill(s, s->family->bad);
	if ((s->ecn & ECN_NOT_ECT) && s->ecn != ECN_NOT_ECT)
		return set_kill(s, DROP_FRAG_ECN);
	*ip = s->ip;
	if (s->ecn & ECN_CE)
		ip->tos |= ECN_MASK;
	ip->frag_len = (uint16_t)ns_min_u(s->longest, UINT16_MAX);
	p = set_take(s, s->total);
	s->family->finish(p, &s->first);
	p->rx_time = now;
	p->l2_off = p->l3_off = (uint16_t)p->head;
	*ret_whole = p;
	stat_inc(s->net->core->stats, STAT_IP_REASSEMBLED);
	set_free(s);
	return DROP_NONE;
}

/**
 * frag_input() - one fragment
 * @n:		IP layer
 * @family:	Of which it is; kept by pointer
 * @p:		Packet, its head at the IP header, header checked; Consumes @p
 * @f:		What its headers say
 * @ip:		What IP knows of it; with @ret_whole, of the whole packet
 * @now:	Time
 * @ret_whole:	The whole packet when this was its last piece, its head and l3_off at its IP header,
 *		now the caller's; NULL: not yet
 *
 * Return: DROP_NONE when it was kept, or why not
 */
enum drop frag_input(struct net *n, const struct frag_family *family, struct pkt *p,
		     const struct frag_piece *f, struct ip_rx *ip, struct mono now,
		     struct pkt **ret_whole)
{
	auto_free(pkt) mine = p;
	struct frag_set *s;
	enum drop why;

	*ret_whole = NULL;
	if (f->len == 0 || (!f->is_last && f->len % UNIT != 0) || f->hdr_len > FRAG_HDR_MAX ||
	    mine->gso_size)
		return family->bad;
	s = set_find(n, f, ip);
	if (!s)
		s = set_new(n, family, f, ip, now);
	if (!s)
		return DROP_NO_MEMORY;
	if (!s->p)
		return DROP_FRAG_OVERLAP;
	why = set_check(s, f, mine);
	if (why != DROP_NONE)
		return why == DROP_FRAG_DUPLICATE ? why : set_kill(s, why);
	set_put(s, f, mine, ip);
	if (s->total == 0 || s->got < s->total || !s->first.len)
		return DROP_NONE;
	return set_finish(s, ip, now, ret_whole);
}
