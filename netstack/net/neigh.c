/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neigh.c - the neighbour table
 *
 * Theory of operation
 *
 *            first packet                     answer
 *   (none) ----------------> INCOMPLETE ------------------> REACHABLE <-----------+
 *              ^                |  3 requests                 | reachable time    | answer, or a
 *              |                v  unanswered                 v over, then used   | transport's
 *            packet <------- FAILED <--- PROBE <--- DELAY <- STALE                | progress
 *                                3 unicast     5 s    |  packet |                 |
 *                                unanswered           +---------+-----------------+
 *
 * REACHABLE costs no timer: an entry's age is looked at when it is used. An unsolicited claim (a
 * request of the neighbour's to us, a gratuitous announcement) only ever gives STALE, so it is
 * checked by unicast when it is used; and it does not change a MAC that is younger than LOCK_NS, so
 * of two answers to one request the first wins, as in Linux. PERMANENT entries change by nothing.
 *
 * While INCOMPLETE, packets wait in the entry, the oldest giving way at QUEUE_FRAMES or QUEUE_LEN.
 * When resolution fails each of them is told to its transport and counted.
 *
 * Invariants
 *
 * Only neigh_set_state() writes the state. Only INCOMPLETE entries have a queue. Dynamic entries
 * are in the LRU list, permanent ones are not.
 *
 * Time: one timer an entry: INCOMPLETE and PROBE every RETRANS_NS, DELAY once.
 *
 * Limits: limits.neighbours dynamic entries. A new one takes the place of the one that was used
 * least recently; those that a stranger's ARP made come in at the cold end, so a flood of claims
 * only ever displaces its own.
 *
 * References: RFC 826; RFC 4861 7.3.3; RFC 1122 2.3.2; linux v6.1 net/core/neighbour.c.
 */
#include "net/neigh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link/ether.h"
#include "link/link.h"
#include "net/proto.h"

enum {
	BUCKETS_MAX = 1024,
	PROBES_MAX = 3,     /* linux mcast_solicit, ucast_solicit */
	QUEUE_FRAMES = 64,  /* the longest datagram in fragments, as linux unres_qlen_bytes lets */
	QUEUE_LEN = 131072, /* octets */
};

#define RETRANS_NS   NS_PER_SEC
#define DELAY_NS     (5 * NS_PER_SEC)
#define REACHABLE_NS (30 * NS_PER_SEC) /* base; randomised once a table, RFC 4861 6.3.2 */
#define LOCK_NS      NS_PER_SEC

struct neigh_table {
	struct ns_core *core;
	struct neigh_ops ops;
	void *ctx;
	struct pool pool;
	uint32_t dynamic_cnt;
	uint64_t reachable_ns;
	struct neigh *last; /* the last one used: a bulk transfer never hashes */
	struct list lru;
	uint32_t bucket_cnt;
	struct list buckets[];
};

#define S(name_) (1u << NEIGH_##name_)
static const uint8_t legal_next[NEIGH_STATE_COUNT] = {
	[NEIGH_INCOMPLETE] = S(REACHABLE) | S(STALE) | S(FAILED) | S(PERMANENT),
	[NEIGH_REACHABLE] = S(REACHABLE) | S(STALE) | S(PERMANENT),
	[NEIGH_STALE] = S(REACHABLE) | S(STALE) | S(DELAY) | S(PERMANENT),
	[NEIGH_DELAY] = S(REACHABLE) | S(STALE) | S(PROBE) | S(PERMANENT),
	[NEIGH_PROBE] = S(REACHABLE) | S(STALE) | S(FAILED) | S(PERMANENT),
	[NEIGH_FAILED] = S(INCOMPLETE) | S(REACHABLE) | S(STALE) | S(PERMANENT),
	[NEIGH_PERMANENT] = S(PERMANENT),
};
#undef S

/** neigh_state_name() - for people */
const char *neigh_state_name(enum neigh_state s)
{
	static const char *const names[NEIGH_STATE_COUNT] = {
		"incomplete", "reachable", "stale", "delay", "probe", "failed", "permanent",
	};

	return names[s];
}

static void arm(struct neigh *n, struct mono when)
{
	/* the slot was there before, or memory is out: the entry then waits for the next packet */
	if (timer_arm(&n->table->core->timers, &n->timer, when) < 0)
		timer_cancel(&n->table->core->timers, &n->timer);
}

/* The one writer of the state; the timer follows it. */
static void neigh_set_state(struct neigh *n, enum neigh_state to, struct mono now)
{
	const struct ns_env *env = n->table->core->env;

	NS_BUG_ON(!(legal_next[n->state] & 1u << to));
	if (env->trace)
		env->trace(env->ctx, "neigh.state", n->state, to);
	n->state = (uint8_t)to;
	n->probes = 0;
	switch (to) {
	case NEIGH_INCOMPLETE:
	case NEIGH_PROBE:
		arm(n, mono_add(now, RETRANS_NS));
		break;
	case NEIGH_DELAY:
		arm(n, mono_add(now, DELAY_NS));
		break;
	case NEIGH_REACHABLE:
		n->confirmed = now;
		timer_cancel(&n->table->core->timers, &n->timer);
		break;
	case NEIGH_STALE:
	case NEIGH_FAILED:
	case NEIGH_PERMANENT:
		timer_cancel(&n->table->core->timers, &n->timer);
		break;
	case NEIGH_STATE_COUNT:
		NS_BUG_ON(true);
	}
}

static void solicit(struct neigh *n, bool is_unicast, struct mono now)
{
	n->probes++;
	n->table->ops.solicit(n->table->ctx, n, is_unicast, now);
}

static struct list *bucket_of(struct neigh_table *t, const struct link *l,
			      const struct ns_addr *addr)
{
	uint8_t buf[sizeof(addr->b) + sizeof(l->id)];

	memcpy(buf, addr->b, sizeof(addr->b));
	memcpy(buf + sizeof(addr->b), &l->id, sizeof(l->id));
	return &t->buckets[hash_sip(&t->core->key, buf, sizeof(buf)) % t->bucket_cnt];
}

static bool is_neigh(const struct neigh *n, const struct link *l, const struct ns_addr *addr)
{
	return n->link == l && ns_addr_eq(&n->addr, addr);
}

static struct neigh *find(struct neigh_table *t, const struct link *l, const struct ns_addr *addr)
{
	if (t->last && is_neigh(t->last, l, addr))
		return t->last;
	list_for_each (it, bucket_of(t, l, addr)) {
		struct neigh *n = list_entry(it, struct neigh, hash);

		if (is_neigh(n, l, addr)) {
			t->last = n;
			return n;
		}
	}
	return NULL;
}

/** neigh_find() - the entry, borrowed until the next call on the table, or NULL */
const struct neigh *neigh_find(struct neigh_table *t, const struct link *l,
			       const struct ns_addr *addr)
{
	return find(t, l, addr);
}

/* A packet that waited, or would have, does not leave. Consumes @p. */
static void lose(struct link *l, struct pkt *p, enum drop why)
{
	static const uint8_t nobody[ETH_ADDR_LEN];

	ether_push_ip(l, p, nobody);
	link_lose(l, p, why);
}

/* Each waiting packet is told to its transport and lost. */
static void fail_queue(struct neigh *n, struct mono now)
{
	struct neigh_table *t = n->table;
	struct link *l = n->link;
	struct pktq q;
	struct pkt *p;

	/* a transport may send in answer, which may even evict @n: not touched from here on */
	pktq_init(&q);
	list_splice(&q.head, &n->queue.head);
	n->queue.cnt = n->queue_len = 0;
	while ((p = pktq_pop(&q)) != NULL) {
		t->ops.failed(t->ctx, l, p, now);
		lose(l, p, DROP_NEIGH_FAILED);
	}
}

static void neigh_del(struct neigh *n)
{
	struct neigh_table *t = n->table;
	struct pkt *p;

	if (t->last == n)
		t->last = NULL;
	timer_cancel(&t->core->timers, &n->timer);
	list_del(&n->hash);
	if (!list_is_empty(&n->lru)) {
		list_del(&n->lru);
		t->dynamic_cnt--;
	}
	while ((p = pktq_pop(&n->queue)) != NULL)
		lose(n->link, p, DROP_NEIGH_QUEUE);
	pool_put(&t->pool, n);
}

static void on_timer(struct timer *timer, struct mono now)
{
	struct neigh *n = container_of(timer, struct neigh, timer);

	switch ((enum neigh_state)n->state) {
	case NEIGH_INCOMPLETE:
	case NEIGH_PROBE:
		if (n->probes < PROBES_MAX) {
			arm(n, mono_add(now, RETRANS_NS));
			solicit(n, n->state == NEIGH_PROBE, now);
			return;
		}
		neigh_set_state(n, NEIGH_FAILED, now);
		fail_queue(n, now);
		return;
	case NEIGH_DELAY:
		neigh_set_state(n, NEIGH_PROBE, now);
		solicit(n, true, now);
		return;
	case NEIGH_REACHABLE:
	case NEIGH_STALE:
	case NEIGH_FAILED:
	case NEIGH_PERMANENT:
	case NEIGH_STATE_COUNT:
		return;
	}
}

/* @is_cold: made by a stranger's packet, the first to be given up. */
static struct neigh *neigh_new(struct neigh_table *t, struct link *l, const struct ns_addr *addr,
			       enum neigh_state state, bool is_cold)
{
	struct neigh *n;

	if (state != NEIGH_PERMANENT && t->dynamic_cnt >= t->core->limits.neighbours &&
	    !list_is_empty(&t->lru))
		neigh_del(list_entry(t->lru.prev, struct neigh, lru));
	n = pool_get(&t->pool);
	if (!n)
		return NULL;
	*n = (struct neigh){ .table = t, .link = l, .addr = *addr, .state = (uint8_t)state };
	timer_init(&n->timer, on_timer);
	pktq_init(&n->queue);
	list_init(&n->lru);
	list_push_front(bucket_of(t, l, addr), &n->hash);
	if (state == NEIGH_PERMANENT)
		return n;
	if (is_cold)
		list_push(&t->lru, &n->lru);
	else
		list_push_front(&t->lru, &n->lru);
	t->dynamic_cnt++;
	return n;
}

static void touch(struct neigh *n)
{
	struct neigh_table *t = n->table;

	if (t->lru.next == &n->lru || list_is_empty(&n->lru))
		return;
	list_del(&n->lru);
	list_push_front(&t->lru, &n->lru);
}

/**
 * neigh_table_new() - an empty table
 * @core:	Of the stack; outlives the table. limits.neighbours is the cap on dynamic entries
 * @ops:	Copied
 * @ctx:	First argument of @ops
 *
 * Return: the table, or NULL without memory
 */
struct neigh_table *neigh_table_new(struct ns_core *core, const struct neigh_ops *ops, void *ctx)
{
	uint32_t bucket_cnt = hash_bucket_cnt(core->limits.neighbours, BUCKETS_MAX);
	struct neigh_table *t = calloc(1, sizeof(*t) + bucket_cnt * sizeof(t->buckets[0]));
	uint16_t rnd;

	if (!t)
		return NULL;
	t->bucket_cnt = bucket_cnt;
	t->core = core;
	t->ops = *ops;
	t->ctx = ctx;
	core->env->random(core->env->ctx, &rnd, sizeof(rnd));
	t->reachable_ns = REACHABLE_NS / 2 + REACHABLE_NS * rnd / UINT16_MAX;
	/* permanent entries come from the configuration and have no cap of their own */
	pool_init(&t->pool, "neigh", sizeof(struct neigh), UINT32_MAX, core->limits.neighbours);
	list_init(&t->lru);
	for (uint32_t i = 0; i < t->bucket_cnt; i++)
		list_init(&t->buckets[i]);
	return t;
}

/* Every entry over @l, or over any link when it is NULL. */
static void flush(struct neigh_table *t, const struct link *l, bool has_permanent)
{
	for (uint32_t i = 0; i < t->bucket_cnt; i++) {
		list_for_each_safe (it, &t->buckets[i]) {
			struct neigh *n = list_entry(it, struct neigh, hash);

			if ((!l || n->link == l) && (has_permanent || n->state != NEIGH_PERMANENT))
				neigh_del(n);
		}
	}
}

/** neigh_flush_link() - the link went down: what was learned over it is not true any more; @has_permanent: it is gone */
void neigh_flush_link(struct neigh_table *t, const struct link *l, bool has_permanent)
{
	flush(t, l, has_permanent);
}

/** neigh_forget() - an entry that was configured or learned; what waits in it is lost. 0 or -ENOENT */
int neigh_forget(struct neigh_table *t, const struct link *l, const struct ns_addr *addr)
{
	struct neigh *n = find(t, l, addr);

	if (!n)
		return -ENOENT;
	neigh_del(n);
	return 0;
}

/** neigh_table_free() - with all entries and what waits in them; NULL is fine */
void neigh_table_free(struct neigh_table *t)
{
	if (!t)
		return;
	flush(t, NULL, true);
	pool_done(&t->pool);
	free(t);
}

static void enqueue(struct neigh *n, struct pkt *p)
{
	n->queue_len += pkt_len(p);
	pktq_push(&n->queue, p);
	while (n->queue.cnt > 1 && (n->queue.cnt > QUEUE_FRAMES || n->queue_len > QUEUE_LEN)) {
		struct pkt *oldest = pktq_pop(&n->queue);

		n->queue_len -= pkt_len(oldest);
		lose(n->link, oldest, DROP_NEIGH_QUEUE);
	}
}

static int send_now(struct neigh *n, struct pkt *p)
{
	return n->table->ops.xmit(n->table->ctx, n->link, n->mac, p);
}

/* The entry has no MAC: ask, unless asked already, and let @p wait. */
static int resolve(struct neigh *n, struct pkt *p, struct mono now)
{
	enqueue(n, p);
	if (n->state == NEIGH_FAILED)
		neigh_set_state(n, NEIGH_INCOMPLETE, now);
	if (n->probes == 0) {
		arm(n, mono_add(now, RETRANS_NS));
		solicit(n, false, now);
	}
	return 0;
}

/**
 * neigh_output() - send to a neighbour, resolving it first if need be
 * @t:		Table
 * @l:		Link the neighbour is on
 * @addr:	Its address: the route's next hop
 * @p:		Packet from the network header on; Consumes @p
 * @now:	Time
 *
 * Return: 0 when sent or queued, -ENOMEM, or what ops.xmit returns
 */
int neigh_output(struct neigh_table *t, struct link *l, const struct ns_addr *addr, struct pkt *p,
		 struct mono now)
{
	struct neigh *n = find(t, l, addr);

	if (!n)
		n = neigh_new(t, l, addr, NEIGH_INCOMPLETE, false);
	if (ns_unlikely(!n)) {
		lose(l, p, DROP_NO_MEMORY);
		return -ENOMEM;
	}
	touch(n);
	switch ((enum neigh_state)n->state) {
	case NEIGH_REACHABLE:
		if (mono_since(now, n->confirmed) <= t->reachable_ns)
			return send_now(n, p);
		neigh_set_state(n, NEIGH_STALE, now);
		neigh_set_state(n, NEIGH_DELAY, now);
		return send_now(n, p);
	case NEIGH_STALE:
		neigh_set_state(n, NEIGH_DELAY, now);
		return send_now(n, p);
	case NEIGH_DELAY:
	case NEIGH_PROBE:
	case NEIGH_PERMANENT:
		return send_now(n, p);
	case NEIGH_INCOMPLETE:
	case NEIGH_FAILED:
	case NEIGH_STATE_COUNT:
		break;
	}
	return resolve(n, p, now);
}

/** neigh_confirm() - a transport made progress by it, RFC 4861 7.3.1 */
void neigh_confirm(struct neigh_table *t, const struct link *l, const struct ns_addr *addr,
		   struct mono now)
{
	struct neigh *n = find(t, l, addr);

	if (!n)
		return;
	if (n->state == NEIGH_REACHABLE)
		n->confirmed = now;
	else if (n->state == NEIGH_STALE || n->state == NEIGH_DELAY || n->state == NEIGH_PROBE)
		neigh_set_state(n, NEIGH_REACHABLE, now);
}

static void send_queue(struct neigh *n)
{
	struct pkt *p;

	n->queue_len = 0;
	while ((p = pktq_pop(&n->queue)) != NULL)
		send_now(n, p); /* a full link counts it; the transport repeats it */
}

/**
 * neigh_update() - a neighbour told us its MAC
 * @t:		Table
 * @l:		Link it was heard on
 * @addr:	Address it claims
 * @mac:	MAC it claims, no group address
 * @flags:	enum neigh_update_flag
 * @now:	Time
 */
void neigh_update(struct neigh_table *t, struct link *l, const struct ns_addr *addr,
		  const uint8_t mac[ETH_ADDR_LEN], uint32_t flags, struct mono now)
{
	struct neigh *n = find(t, l, addr);
	bool is_new_mac, has_mac;

	if (!n && (flags & NEIGH_UPD_CREATE))
		n = neigh_new(t, l, addr, NEIGH_FAILED, true);
	if (!n || n->state == NEIGH_PERMANENT)
		return;
	has_mac = n->state != NEIGH_INCOMPLETE && n->state != NEIGH_FAILED;
	is_new_mac = !has_mac || !eth_addr_eq(n->mac, mac);
	if (has_mac && is_new_mac && !(flags & NEIGH_UPD_OVERRIDE) &&
	    mono_since(now, n->updated) < LOCK_NS)
		return;
	if (is_new_mac) {
		memcpy(n->mac, mac, ETH_ADDR_LEN);
		n->updated = now;
	}
	if (flags & NEIGH_UPD_SOLICITED)
		neigh_set_state(n, NEIGH_REACHABLE, now);
	else if (is_new_mac)
		neigh_set_state(n, NEIGH_STALE, now);
	send_queue(n);
}

static void set_mac(struct neigh *n, const uint8_t *mac, struct mono now)
{
	memcpy(n->mac, mac, ETH_ADDR_LEN);
	n->updated = now;
}

/**
 * neigh_advertise() - a neighbour advertisement, RFC 4861 7.2.5
 * @t:		Table
 * @l:		Link it was heard on
 * @addr:	Its target
 * @mac:	Of its target link-layer address option, no group address; NULL: there was none
 * @flags:	NEIGH_UPD_SOLICITED and NEIGH_UPD_OVERRIDE as the message has them
 * @now:	Time
 *
 * Return: false when there is no entry to change
 */
bool neigh_advertise(struct neigh_table *t, struct link *l, const struct ns_addr *addr,
		     const uint8_t *mac, uint32_t flags, struct mono now)
{
	struct neigh *n = find(t, l, addr);
	bool is_new_mac;

	if (!n || n->state == NEIGH_FAILED) /* RFC 4861 has no entry then */
		return false;
	if (n->state == NEIGH_PERMANENT)
		return true;
	if (n->state == NEIGH_INCOMPLETE) {
		if (!mac)
			return true;
		set_mac(n, mac, now);
		neigh_set_state(n, flags & NEIGH_UPD_SOLICITED ? NEIGH_REACHABLE : NEIGH_STALE,
				now);
		send_queue(n);
		return true;
	}
	is_new_mac = mac && !eth_addr_eq(n->mac, mac);
	if (is_new_mac && !(flags & NEIGH_UPD_OVERRIDE)) {
		if (n->state == NEIGH_REACHABLE)
			neigh_set_state(n, NEIGH_STALE, now);
		return true;
	}
	if (is_new_mac)
		set_mac(n, mac, now);
	if (flags & NEIGH_UPD_SOLICITED)
		neigh_set_state(n, NEIGH_REACHABLE, now);
	else if (is_new_mac)
		neigh_set_state(n, NEIGH_STALE, now);
	return true;
}

/** neigh_add_permanent() - an entry that nothing on the wire changes; replaces any other; 0 or -ENOMEM */
int neigh_add_permanent(struct neigh_table *t, struct link *l, const struct ns_addr *addr,
			const uint8_t mac[ETH_ADDR_LEN])
{
	struct neigh *n = find(t, l, addr);

	if (!n)
		n = neigh_new(t, l, addr, NEIGH_PERMANENT, false);
	if (!n)
		return -ENOMEM;
	memcpy(n->mac, mac, ETH_ADDR_LEN);
	neigh_set_state(n, NEIGH_PERMANENT, (struct mono){ 0 });
	if (!list_is_empty(&n->lru)) {
		list_del(&n->lru);
		t->dynamic_cnt--;
	}
	send_queue(n);
	return 0;
}
