/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demux.c - ports and four-tuples
 *
 * Theory of operation
 *
 * Three hash tables:
 *   conns      by four-tuple, SipHash: an outsider chooses half of the key
 *   binds      by local port: everything that claims a port, connections that were given one too
 *   listeners  by local port: the few of @binds that listen, so that a SYN never walks past the
 *              thousands of connections that share the listener's port
 * The first doubles with its load, up to the connection cap; the others have the size that the cap on
 * sockets gives them, there are only so many ports. A bind that listens is in both of the last two (by @hash and by @conn_hash).
 *
 * Ownership: members are embedded in the transport's objects, which take them out before they go.
 *
 * Limits: the caller's cap on connections. Choosing a port looks at each port of the range once at
 * most.
 *
 * References: RFC 6056 3.3.3 (algorithm 3); linux v6.1 net/ipv4/inet_connection_sock.c
 * inet_csk_bind_conflict(), inet_hashtables.c __inet_hash_connect().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/proto.h"

enum {
	CONN_BUCKETS_MIN = 256,
	BIND_BUCKETS_MAX = 4096,
	LISTENER_BUCKETS_MAX = 256,
	EPHEMERAL_MIN = 32768, /* without knobs; linux: net.ipv4.ip_local_port_range */
	EPHEMERAL_MAX = 60999,
};

struct demux {
	struct hash_key key;
	const struct ns_core *core; /* NULL: without knobs */
	struct list *conns;
	uint32_t bucket_cnt; /* a power of two */
	uint32_t bucket_max;
	uint32_t conn_cnt;
	uint32_t next_ephemeral; /* RFC 6056 3.3.3 */
	uint32_t bind_mask, listener_mask;
	struct list *binds, *listeners;
};

static uint8_t *put(uint8_t *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	return to + len;
}

/* Addresses of one family hash by what differs: four octets each for IPv4. */
static uint64_t tuple_hash(const struct demux *d, const struct ns_addr *local, uint16_t local_port,
			   const struct ns_addr *remote, uint16_t remote_port)
{
	uint8_t buf[2 * sizeof(struct ns_addr) + 4];
	size_t skip = ns_addr_is_v4(local) && ns_addr_is_v4(remote) ? 12 : 0;
	uint8_t *at = buf;

	at = put(at, local->b + skip, sizeof(*local) - skip);
	at = put(at, remote->b + skip, sizeof(*remote) - skip);
	at = put(at, &local_port, sizeof(local_port));
	at = put(at, &remote_port, sizeof(remote_port));
	return hash_sip(&d->key, buf, (size_t)(at - buf));
}

static struct list *conn_bucket(const struct demux *d, const struct demux_key *k)
{
	uint64_t h = tuple_hash(d, &k->local.addr, k->local.port, &k->remote.addr, k->remote.port);

	return &d->conns[h & (d->bucket_cnt - 1)];
}

static struct list *buckets_new(uint32_t cnt)
{
	struct list *l = malloc(cnt * sizeof(*l));

	for (uint32_t i = 0; l && i < cnt; i++)
		list_init(&l[i]);
	return l;
}

/**
 * demux_new() - empty tables
 * @key:	Secret of the stack; copied
 * @conn_cap:	Connections at most: bounds the table, not the count, which the transport keeps
 * @sock_cap:	Sockets with a port of their own at most, in the same way
 *
 * Return: the demultiplexer, or NULL without memory
 */
struct demux *demux_new(const struct hash_key *key, uint32_t conn_cap, uint32_t sock_cap)
{
	struct demux *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->key = *key;
	d->bucket_cnt = d->bucket_max = CONN_BUCKETS_MIN;
	while (d->bucket_max < conn_cap && d->bucket_max < UINT32_MAX / 2 + 1)
		d->bucket_max *= 2;
	d->bind_mask = hash_bucket_cnt(sock_cap, BIND_BUCKETS_MAX) - 1;
	d->listener_mask = hash_bucket_cnt(sock_cap, LISTENER_BUCKETS_MAX) - 1;
	d->conns = buckets_new(d->bucket_cnt);
	d->binds = buckets_new(d->bind_mask + 1);
	d->listeners = buckets_new(d->listener_mask + 1);
	if (d->conns && d->binds && d->listeners)
		return d;
	demux_free(d);
	return NULL;
}

/** demux_follow_knobs() - from now on the ports that are chosen are those of net.ipv4.ip_local_port_range */
void demux_follow_knobs(struct demux *d, const struct ns_core *core)
{
	d->core = core;
}

/** demux_free() - traps when a connection is still in it; NULL is fine */
void demux_free(struct demux *d)
{
	if (!d)
		return;
	NS_BUG_ON(d->conn_cnt != 0);
	free(d->conns);
	free(d->binds);
	free(d->listeners);
	free(d);
}

static bool key_eq(const struct demux_key *a, const struct demux_key *b)
{
	return a->remote.port == b->remote.port && a->local.port == b->local.port &&
	       ns_addr_eq(&a->remote.addr, &b->remote.addr) &&
	       ns_addr_eq(&a->local.addr, &b->local.addr);
}

static struct demux_conn *find_in(struct list *bucket, const struct demux_key *k)
{
	list_for_each (n, bucket) {
		struct demux_conn *c = list_entry(n, struct demux_conn, hash);

		if (key_eq(&c->key, k))
			return c;
	}
	return NULL;
}

/** demux_find_conn() - borrowed until it is deleted, or NULL */
struct demux_conn *demux_find_conn(struct demux *d, const struct demux_key *k)
{
	return find_in(conn_bucket(d, k), k);
}

/* Twice the buckets; without memory the table stays as it is, only slower. */
static void conns_grow(struct demux *d)
{
	struct list *old = d->conns;
	uint32_t old_cnt = d->bucket_cnt;
	struct list *conns = buckets_new(old_cnt * 2);

	if (!conns)
		return;
	d->conns = conns;
	d->bucket_cnt = old_cnt * 2;
	for (uint32_t i = 0; i < old_cnt; i++) {
		struct list *n;

		while ((n = list_pop(&old[i])) != NULL) {
			struct demux_conn *c = list_entry(n, struct demux_conn, hash);

			list_push(conn_bucket(d, &c->key), n);
		}
	}
	free(old);
}

int demux_add_conn(struct demux *d, struct demux_conn *c)
{
	struct list *bucket = conn_bucket(d, &c->key);

	if (find_in(bucket, &c->key))
		return -EEXIST;
	list_push_front(bucket, &c->hash);
	if (++d->conn_cnt > d->bucket_cnt && d->bucket_cnt < d->bucket_max)
		conns_grow(d);
	return 0;
}

/** demux_del_conn() - @c was added before */
void demux_del_conn(struct demux *d, struct demux_conn *c)
{
	NS_BUG_ON(d->conn_cnt == 0 || list_is_empty(&c->hash));
	list_del(&c->hash);
	d->conn_cnt--;
}

/* How well a listener's address fits: 3 the exact one, 2 any of the family, 1 any of both for IPv4, 0 not. */
static int address_score(const struct demux_bind *b, const struct ns_endpoint *local)
{
	if (b->local.port != local->port)
		return 0;
	if (ns_addr_eq(&b->local.addr, &local->addr))
		return 3;
	if (!ns_addr_is_any(&b->local.addr))
		return 0;
	if (ns_addr_is_v4(&b->local.addr) == ns_addr_is_v4(&local->addr))
		return 2;
	/* :: hears IPv4 too, 0.0.0.0 no IPv6 */
	return !ns_addr_is_v4(&b->local.addr) && !b->is_v6only ? 1 : 0;
}

/* linux inet_hashtables.c compute_score(): one of that link goes before those of any. 0: it does not hear. */
static int listener_score(const struct demux_bind *b, const struct ns_endpoint *local,
			  uint32_t ifindex)
{
	int score = address_score(b, local) * 2;

	if (b->ifindex && ifindex && b->ifindex != ifindex)
		return 0;
	return score && b->ifindex ? score + 1 : score;
}

struct demux_bind *demux_find_listener(struct demux *d, const struct demux_key *k, uint32_t ifindex)
{
	struct list *bucket = &d->listeners[k->local.port & d->listener_mask];
	struct demux_bind *best = NULL;
	int best_score = 0;
	uint32_t same_cnt = 0;
	uint64_t pick;

	list_for_each (n, bucket) {
		struct demux_bind *b = list_entry(n, struct demux_bind, conn_hash);
		int score = listener_score(b, &k->local, ifindex);

		if (score > best_score) {
			best = b;
			best_score = score;
			same_cnt = 0;
		}
		same_cnt += score > 0 && score == best_score;
	}
	if (same_cnt < 2)
		return best;
	pick = tuple_hash(d, &k->local.addr, k->local.port, &k->remote.addr, k->remote.port) %
	       same_cnt;
	list_for_each (n, bucket) {
		struct demux_bind *b = list_entry(n, struct demux_bind, conn_hash);

		if (listener_score(b, &k->local, ifindex) == best_score && pick-- == 0)
			return b;
	}
	return best;
}

/* Does @b's address take @addr? */
static bool takes(const struct demux_bind *b, const struct ns_addr *addr)
{
	const struct ns_addr *own = &b->local.addr;

	if (!ns_addr_is_any(own))
		return ns_addr_eq(own, addr);
	if (ns_addr_is_v4(own))
		return ns_addr_is_v4(addr);
	return !b->is_v6only || !ns_addr_is_v4(addr);
}

/* linux inet_rcv_saddr_equal(): is there an address that both would have? */
static bool overlaps(const struct demux_bind *a, const struct demux_bind *b)
{
	return takes(a, &b->local.addr) || takes(b, &a->local.addr);
}

/* Sockets of different links never meet. */
static bool are_of_other_links(const struct demux_bind *a, const struct demux_bind *b)
{
	return a->ifindex && b->ifindex && a->ifindex != b->ifindex;
}

/* linux inet_csk_bind_conflict(): may @b have @local beside @other? */
static bool is_conflict(const struct demux_bind *b, const struct ns_endpoint *local,
			const struct demux_bind *other)
{
	struct demux_bind wish = { .local = *local, .is_v6only = b->is_v6only };

	if (other == b || other->local.port != local->port || !overlaps(other, &wish))
		return false;
	if (are_of_other_links(b, other))
		return false;
	if (b->reuseaddr && other->reuseaddr && !other->is_listening && !b->is_listening)
		return false;
	return !(b->reuseport && other->reuseport);
}

static bool has_conflict(const struct demux *d, const struct demux_bind *b,
			 const struct ns_endpoint *local)
{
	list_for_each (n, &d->binds[local->port & d->bind_mask])
		if (is_conflict(b, local, list_entry(n, struct demux_bind, hash)))
			return true;
	return false;
}

static void bind_add(struct demux *d, struct demux_bind *b, const struct ns_endpoint *local)
{
	b->local = *local;
	b->is_bound = true;
	b->is_listening = false;
	list_init(&b->conn_hash);
	list_push(&d->binds[local->port & d->bind_mask], &b->hash);
}

/* RFC 6056 3.3.3: a start that depends on the endpoints and a secret, and a counter that moves on. */
static uint32_t ephemeral_start(struct demux *d, const struct ns_addr *local,
				const struct ns_endpoint *remote, uint32_t rnd)
{
	static const struct ns_endpoint none;
	const struct ns_endpoint *r = remote ? remote : &none;

	/* the low bits of @rnd: how far the counter goes on, so that it tells no rate of connections */
	d->next_ephemeral += 1 + (rnd & 7);
	return (uint32_t)tuple_hash(d, local, 0, &r->addr, r->port) + d->next_ephemeral;
}

/** struct port_range - the ports that are chosen; at least one */
struct port_range {
	uint32_t first, cnt;
};

static struct port_range port_range(const struct demux *d)
{
	uint32_t first = EPHEMERAL_MIN, last = EPHEMERAL_MAX;

	if (d->core) {
		first = (uint32_t)core_knob(d->core, NS_KNOB_port_first);
		last = (uint32_t)core_knob(d->core, NS_KNOB_port_last);
	}
	return (struct port_range){ first, last > first ? last - first + 1 : 1 };
}

static uint16_t ephemeral_port(struct port_range range, uint32_t start, uint32_t i)
{
	return (uint16_t)(range.first + (start % range.cnt + i) % range.cnt);
}

int demux_bind_port(struct demux *d, struct demux_bind *b, const struct ns_endpoint *local,
		    uint32_t rnd)
{
	struct port_range range = port_range(d);
	struct ns_endpoint try = *local;
	uint32_t start;

	if (local->port != 0) {
		if (has_conflict(d, b, local))
			return -EADDRINUSE;
		b->is_ephemeral = false;
		bind_add(d, b, local);
		return 0;
	}
	start = ephemeral_start(d, &local->addr, NULL, rnd);
	for (uint32_t i = 0; i < range.cnt; i++) {
		try.port = ephemeral_port(range, start, i);
		if (has_conflict(d, b, &try))
			continue;
		b->is_ephemeral = false;
		bind_add(d, b, &try);
		return 0;
	}
	return -EADDRINUSE;
}

/* A port that a program bound by name is left alone; one that connects gave out may serve another remote. */
static bool has_named_bind(const struct demux *d, const struct ns_endpoint *local)
{
	const struct demux_bind wish = { .local = *local };

	list_for_each (n, &d->binds[local->port & d->bind_mask]) {
		const struct demux_bind *b = list_entry(n, struct demux_bind, hash);

		if (!b->is_ephemeral && b->local.port == local->port && overlaps(b, &wish))
			return true;
	}
	return false;
}

int demux_bind_ephemeral(struct demux *d, struct demux_bind *b, const struct ns_addr *local,
			 const struct ns_endpoint *remote, uint32_t rnd)
{
	struct demux_key k = { .local = { .addr = *local }, .remote = *remote };
	uint32_t start = ephemeral_start(d, local, remote, rnd);
	struct port_range range = port_range(d);

	for (uint32_t i = 0; i < range.cnt; i++) {
		k.local.port = ephemeral_port(range, start, i);
		if (demux_find_conn(d, &k) || has_named_bind(d, &k.local))
			continue;
		b->is_ephemeral = true;
		bind_add(d, b, &k.local);
		return 0;
	}
	return -EADDRNOTAVAIL;
}

int demux_listen(struct demux *d, struct demux_bind *b)
{
	NS_BUG_ON(!b->is_bound);
	if (b->is_listening)
		return 0;
	list_for_each (n, &d->listeners[b->local.port & d->listener_mask]) {
		const struct demux_bind *other = list_entry(n, struct demux_bind, conn_hash);

		if (other->local.port == b->local.port && overlaps(other, b) &&
		    !are_of_other_links(other, b) && !(b->reuseport && other->reuseport))
			return -EADDRINUSE;
	}
	b->is_listening = true;
	list_push(&d->listeners[b->local.port & d->listener_mask], &b->conn_hash);
	return 0;
}

/**
 * demux_share_port() - an accepted connection holds its listener's port, too; TIME-WAIT the port of its connection
 * @d:		Demultiplexer
 * @b:		Of the one that comes, not bound
 * @from:	Whose port and ways of sharing it has
 * @local:	The own end of the one that comes
 *
 * linux __inet_inherit_port(): nobody binds to the port without SO_REUSEADDR while it is there.
 */
void demux_share_port(struct demux *d, struct demux_bind *b, const struct demux_bind *from,
		      const struct ns_endpoint *local)
{
	b->reuseaddr = from->reuseaddr;
	b->reuseport = from->reuseport;
	b->is_v6 = from->is_v6;
	b->is_v6only = from->is_v6only;
	b->ifindex = from->ifindex;
	b->is_ephemeral = from->is_ephemeral;
	bind_add(d, b, local);
}

/** demux_unbind() - give the port back and stop listening; harmless on one that is not bound */
void demux_unbind(struct demux *d, struct demux_bind *b)
{
	(void)d;
	if (!b->is_bound)
		return;
	if (b->is_listening)
		list_del(&b->conn_hash);
	list_del(&b->hash);
	b->is_bound = b->is_listening = false;
}
