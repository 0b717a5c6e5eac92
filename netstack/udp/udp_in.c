/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_in.c - datagrams from IP
 *
 * Theory of operation
 *
 * The header is checked against what IP delivered: a length below 8 or beyond the packet ends it, what
 * is behind the length is padding (RFC 768). A checksum of zero says that there is none, which IPv4
 * allows and IPv6 does not (RFC 8200 8.1; the exception of RFC 6935 is for tunnels). Unicast has one hearer (udp_find()), or "port unreachable" goes back (RFC 1122 4.1.3.1);
 * broadcast and multicast have all that match, each with a copy of its own, and no answer.
 *
 * A super-frame of datagrams (PKT_GSO_UDP_L4: a peer on the same host whose segmentation nobody had to
 * do, or a socket of this one with UDP_SEGMENT) is what its segments would be: datagrams of gso_size octets
 * and a rest. Who asked for it (UDP_GRO) gets it in one piece, and is told the size.
 */
#include <errno.h>
#include <string.h>

#include "udp/udp_int.h"
#include "wire/csum.h"
#include "wire/ip4.h"

void udp_dgram_free(struct udp *u, struct udp_dgram *d)
{
	for (uint32_t i = 0; i < d->chunk_cnt; i++)
		chunk_unref(d->chunks[i]);
	u->chunk_cnt -= d->chunk_cnt;
	pool_put(&u->dgrams, d);
}

/* ---- who hears it ---- */

/* Does the address that bind() named, or did not, take what comes to @a? */
static bool is_bound_to(const struct udp_sock *s, const struct ns_addr *a)
{
	const struct ns_addr *own = &s->bind.local.addr;

	if (!ns_addr_is_any(own))
		return ns_addr_eq(own, a);
	if (!s->bind.is_v6)
		return ns_addr_is_v4(a);
	return !ns_addr_is_v4(a) || !s->bind.is_v6only;
}

static bool is_connected_to(const struct udp_sock *s, const struct ns_endpoint *remote)
{
	/* an answer to an echo request has no port of its own */
	return (s->remote.port == remote->port || s->udp->is_ping) &&
	       ns_addr_eq(&s->remote.addr, &remote->addr);
}

static bool is_bound_by(const struct udp_sock *s, uint32_t ifindex)
{
	return s->bind.ifindex == 0 || ifindex == 0 || s->bind.ifindex == ifindex;
}

/*
 * linux v6.1 net/ipv4/udp.c, net/ipv6/udp.c compute_score(); 0: not this one. Those bound to the very
 * address, as every connected one is, come before all others: udp4_lib_lookup2() looks for them first.
 */
static uint32_t score(const struct udp_sock *s, const struct ns_endpoint *local,
		      const struct ns_endpoint *remote, uint32_t ifindex)
{
	uint32_t points = 1;

	if (s->bind.local.port != local->port || !is_bound_to(s, &local->addr) ||
	    !is_bound_by(s, ifindex))
		return 0;
	if (!ns_addr_is_any(&s->bind.local.addr) || s->is_connected)
		points += 32;
	if (s->is_connected) {
		if (!is_connected_to(s, remote))
			return 0;
		if (!s->has_user_addr && !ns_addr_is_multicast(&s->remote.addr) &&
		    !ns_addr_eq(&s->src, &local->addr))
			return 0;
		points += 8;
	}
	if (s->bind.ifindex)
		points += 4;
	return points + (ns_addr_is_v4(&local->addr) && !s->bind.is_v6);
}

static uint64_t pair_hash(const struct udp *u, const struct ns_endpoint *local,
			  const struct ns_endpoint *remote)
{
	uint8_t key[2 * sizeof(struct ns_addr) + 4];

	memcpy(key, &local->addr, sizeof(struct ns_addr));
	memcpy(key + 16, &remote->addr, sizeof(struct ns_addr));
	memcpy(key + 32, &local->port, sizeof(local->port));
	memcpy(key + 34, &remote->port, sizeof(remote->port));
	return hash_sip(&u->core->key, key, sizeof(key));
}

struct udp_sock *udp_find(struct udp *u, const struct ns_endpoint *local,
			  const struct ns_endpoint *remote, uint32_t ifindex)
{
	struct list *bucket = udp_bucket(u, local->port);
	struct udp_sock *best = NULL;
	uint32_t most = 0, same = 0;
	uint64_t pick;

	list_for_each (it, bucket) {
		struct udp_sock *s = list_entry(it, struct udp_sock, hash);
		uint32_t points = score(s, local, remote, ifindex);

		if (points > most) {
			most = points;
			best = s;
			same = s->bind.reuseport;
		} else if (points > 0 && points == most && s->bind.reuseport) {
			same++;
		}
	}
	if (same < 2 || !best->bind.reuseport)
		return best;
	pick = pair_hash(u, local, remote) % same;
	list_for_each (it, bucket) {
		struct udp_sock *s = list_entry(it, struct udp_sock, hash);

		if (s->bind.reuseport && score(s, local, remote, ifindex) == most && pick-- == 0)
			return s;
	}
	return best;
}

/* ---- queues ---- */

static bool copy_in(struct udp *u, struct udp_dgram *d, const struct pkt *p, uint32_t off,
		    uint32_t len)
{
	for (uint32_t done = 0; done < len;) {
		uint32_t n = ns_min_u(len - done, CHUNK_SMALL);
		struct chunk *c = u->chunk_cnt < u->chunk_cap
					  ? chunk_new(&u->core->chunks, CHUNK_SMALL)
					  : NULL;

		if (!c)
			return false;
		u->chunk_cnt++;
		d->chunks[d->chunk_cnt++] = c;
		if (!pkt_copy_out(p, off + done, c->data, n))
			return false;
		done += n;
	}
	return true;
}

enum drop udp_queue_push(struct udp_sock *s, const struct pkt *p, const struct udp_in *in,
			 const struct ip_rx *ip, struct mono now)
{
	struct udp *u = s->udp;
	struct udp_dgram *d;

	/* one datagram always fits: linux __udp_enqueue_schedule_skb() looks at what is there */
	if (s->charge >= s->rcvbuf || !(d = pool_get(&u->dgrams))) {
		s->dropped++;
		return DROP_UDP_QUEUE;
	}
	d->chunk_cnt = 0;
	if (!copy_in(u, d, p, in->off, in->len)) {
		udp_dgram_free(u, d);
		s->dropped++;
		return DROP_NO_MEMORY;
	}
	d->rx = (struct ns_dgram_rx){ .from = in->remote,
				      .to = in->local,
				      .ifindex = in->ifindex,
				      .len = in->len,
				      .ttl = ip->ttl,
				      .tos = ip->tos,
				      .gso_size = s->is_gro ? in->gso_size : 0,
				      .frag_len = ip->frag_len,
				      .time = now };
	list_push(&s->queue, &d->node);
	s->queue_cnt++;
	s->charge += in->len + UDP_CHARGE;
	stat_inc(u->core->stats, STAT_UDP_IN);
	stat_add(u->core->stats, STAT_UDP_OCTETS_IN, in->len);
	udp_tell(s, NS_EV_IN, 0);
	return DROP_NONE;
}

int udp_peek(void *c, uint32_t idx, struct ns_dgram_rx *ret_rx, struct ns_iov *iov)
{
	const struct udp_sock *s = c;
	const struct udp_dgram *d = NULL;
	uint32_t i = 0;

	list_for_each (it, &s->queue) {
		if (i++ == idx) {
			d = list_entry(it, struct udp_dgram, node);
			break;
		}
	}
	if (!d)
		return -EAGAIN;
	*ret_rx = d->rx;
	for (i = 0; i < d->chunk_cnt; i++) {
		uint32_t left = d->rx.len - i * CHUNK_SMALL;

		iov[i] = (struct ns_iov){ d->chunks[i]->data, ns_min_u(left, CHUNK_SMALL) };
	}
	return (int)d->chunk_cnt;
}

void udp_consume(void *c, uint32_t cnt)
{
	struct udp_sock *s = c;

	for (struct list *n; cnt > 0 && (n = list_pop(&s->queue)) != NULL; cnt--) {
		struct udp_dgram *d = list_entry(n, struct udp_dgram, node);

		s->queue_cnt--;
		s->charge -= d->rx.len + UDP_CHARGE;
		udp_dgram_free(s->udp, d);
	}
}

/* All of a frame to one socket that agrees to how it came, in one piece or as the datagrams it is. */
static enum drop hand_over(struct udp_sock *s, const struct pkt *p, const struct udp_in *in,
			   const struct ip_rx *ip, struct mono now)
{
	enum drop why = DROP_NONE;
	struct udp_in part = *in;

	if (in->has_no_csum && !s->is_no_check6_rx)
		return DROP_UDP_ZERO_CSUM;
	if (in->gso_size == 0 || s->is_gro)
		return udp_queue_push(s, p, in, ip, now);
	for (uint32_t done = 0; done < in->len; done += part.len) {
		enum drop r;

		part.off = in->off + done;
		part.len = ns_min_u(in->len - done, in->gso_size);
		r = udp_queue_push(s, p, &part, ip, now);
		if (r != DROP_NONE)
			why = r;
	}
	return why;
}

/* ---- from IP ---- */

/* linux v6.1 __udp4_lib_mcast_deliver() */
static enum drop deliver_group(struct udp *u, const struct pkt *p, const struct udp_in *in,
			       const struct ip_rx *ip, struct mono now)
{
	bool is_mcast = ns_addr_is_multicast(&in->local.addr);
	enum drop why = DROP_NONE;

	if (is_mcast)
		why = udp_hears(u, &in->local.addr, &in->remote.addr, in->ifindex);
	if (why != DROP_NONE)
		return why;
	why = DROP_UDP_NO_PORT;
	list_for_each (it, udp_bucket(u, in->local.port)) {
		struct udp_sock *s = list_entry(it, struct udp_sock, hash);
		enum drop r;

		if (s->bind.local.port != in->local.port || !is_bound_to(s, &in->local.addr) ||
		    !is_bound_by(s, in->ifindex) ||
		    (s->is_connected && !is_connected_to(s, &in->remote)))
			continue;
		r = DROP_UDP_FILTERED;
		if (!is_mcast || udp_sock_hears(s, &in->local.addr, &in->remote.addr, in->ifindex))
			r = hand_over(s, p, in, ip, now);
		if (why != DROP_NONE)
			why = r;
	}
	return why;
}

static enum drop deliver(struct udp *u, const struct pkt *p, const struct udp_in *in,
			 const struct ip_rx *ip, struct mono now)
{
	struct udp_sock *s;

	if (ip->is_bcast)
		return deliver_group(u, p, in, ip, now);
	s = udp_find(u, &in->local, &in->remote, in->ifindex);
	if (s)
		return hand_over(s, p, in, ip, now);
	if (in->has_no_csum)
		return DROP_UDP_ZERO_CSUM;
	net_port_unreachable(u->net, p, ip, now);
	return DROP_UDP_NO_PORT;
}

static enum drop parse(const struct udp *u, struct pkt *p, const struct ip_rx *ip,
		       struct udp_in *ret_in)
{
	struct udp_hdr h;
	uint32_t len;

	if (!pkt_copy_out(p, 0, &h, sizeof(h)))
		return DROP_UDP_BAD_HEADER;
	len = be16_get(h.len);
	if (p->gso_size) /* the length is that of one of its segments, or of all, or 0 */
		len = pkt_len(p);
	if (len < sizeof(h) || len > pkt_len(p))
		return DROP_UDP_BAD_HEADER;
	pkt_trim(p, len);
	if (be16_get(h.csum) != 0 && !ip->csum_ok) {
		uint32_t sum = csum_pseudo(&ip->src, &ip->dst, IP_PROTO_UDP, len);

		if (csum_fold(csum_pkt(sum, p, 0, len)) != UINT16_MAX)
			return DROP_UDP_CSUM;
	}
	*ret_in = (struct udp_in){ .local = { ip->dst, be16_get(h.dport) },
				   .remote = { ip->src, be16_get(h.sport) },
				   .gso_size = p->gso_size,
				   .has_no_csum = be16_get(h.csum) == 0 && !ns_addr_is_v4(&ip->src),
				   .ifindex = p->loop_ifindex ? p->loop_ifindex
							      : net_rx_ifindex(u->net, ip),
				   .off = sizeof(h),
				   .len = len - (uint32_t)sizeof(h) };
	return DROP_NONE;
}

/** udp_input() - proto_ops.input */
enum drop udp_input(void *self, struct pkt *p, const struct ip_rx *ip, struct mono now)
{
	auto_free(pkt) mine = p;
	struct udp *u = self;
	struct udp_in in;
	enum drop why = parse(u, mine, ip, &in);

	if (why != DROP_NONE)
		return why;
	if (in.len > NS_DGRAM_MAX ||
	    (in.gso_size && in.len > UDP_SEGMENTS_MAX * (uint32_t)in.gso_size))
		return DROP_UDP_BAD_HEADER;
	return deliver(u, mine, &in, ip, now);
}
