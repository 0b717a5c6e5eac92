/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmtu.c - path MTUs that were discovered, RFC 1191, RFC 8201
 *
 * Theory of operation
 *
 * "Fragmentation needed" and "packet too big" go to the transport that sent the packet they quote; it
 * says whether it believes them (TCP by the sequence number, a datagram socket by existing) and brings
 * the MTU here, where all that goes to that destination finds it, connections that are opened later too.
 *
 * An entry only ever becomes smaller, never less than the least MTU (RFC 1191 7.3 knows of forged ones:
 * net.ipv4.route.min_pmtu; RFC 8200 5), and is forgotten ten minutes after the last message (RFC 1191
 * 6.3, RFC 8201 4: at least five), or when routes change, since the path may be another then. What the
 * link or the route takes is the most in any case.
 *
 * Limits: PMTU_SETS x PMTU_WAYS entries. Which set a destination is in is a keyed hash, so nobody can
 * aim at another's; in a full set the one goes that expires first. A destination whose entry went is
 * learned again by the next message.
 */
#include "net/pmtu.h"

#include "net/net_int.h"
#include "wire/ip6.h"

static struct pmtu *set_of(struct net *n, const struct ns_addr *to)
{
	return n->pmtus.v[hash_sip(&n->core->key, to, sizeof(*to)) % PMTU_SETS];
}

static bool is_valid(const struct net *n, const struct pmtu *m, struct mono now)
{
	return m->mtu && m->generation == n->routes.generation && mono_lt(now, m->expires);
}

/* Valid at @now, or NULL. */
static struct pmtu *find(struct net *n, const struct ns_addr *to, struct mono now)
{
	struct pmtu *set = set_of(n, to);

	for (uint32_t i = 0; i < PMTU_WAYS; i++)
		if (is_valid(n, &set[i], now) && ns_addr_eq(&set[i].dst, to))
			return &set[i];
	return NULL;
}

uint32_t net_pmtu(struct net *n, const struct dst *d, const struct ns_addr *to, struct mono now)
{
	const struct pmtu *m;

	if (ns_likely(mono_le(n->pmtus.until, now)))
		return d->mtu;
	m = find(n, to, now);
	return m && m->mtu < d->mtu ? m->mtu : d->mtu;
}

/* The entry of its set that is of least use. */
static struct pmtu *victim(struct net *n, const struct ns_addr *to, struct mono now)
{
	struct pmtu *set = set_of(n, to), *worst = set;

	for (uint32_t i = 0; i < PMTU_WAYS; i++) {
		if (!is_valid(n, &set[i], now))
			return &set[i];
		if (mono_lt(set[i].expires, worst->expires))
			worst = &set[i];
	}
	return worst;
}

void net_pmtu_learn(struct net *n, const struct ns_addr *to, uint32_t mtu, struct mono now)
{
	const int *knobs = n->core->knobs;
	uint32_t least =
		ns_addr_is_v4(to) ? (uint32_t)knobs[NS_KNOB_route_min_pmtu] : (uint32_t)IP6_MTU_MIN;
	struct pmtu *m = find(n, to, now);

	mtu = ns_max_u(mtu, least);
	if (m && m->mtu < mtu)
		return;
	if (!m)
		m = victim(n, to, now);
	*m = (struct pmtu){ .dst = *to,
			    .mtu = mtu,
			    .generation = n->routes.generation,
			    .expires = mono_add(now, (uint64_t)knobs[NS_KNOB_route_mtu_expires] *
							     NS_PER_SEC) };
	if (mono_lt(n->pmtus.until, m->expires))
		n->pmtus.until = m->expires;
	stat_inc(n->core->stats, STAT_IP_PMTU_LEARNED);
}
