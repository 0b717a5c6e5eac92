/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_fastopen.c - octets in the SYN (RFC 7413): the server, its cookies and what it takes
 *
 * Theory of operation
 *
 * A client that has spoken with a server before has a cookie from it, and sends its first octets with the SYN. The
 * cookie proves that its address is its own; so the server may give the octets to its program at once.
 *
 * The cookie is a keyed hash of both addresses, the one Linux makes with the same key, so that servers which share
 * an address can share their clients. A SYN that asks for one, or has a wrong one, is an ordinary one whose SYN-ACK
 * brings the right one. A right one makes a connection at once (tcp_listen.c), in the accept queue, its octets in
 * the receive queue. It is in ESTABLISHED although its SYN-ACK is not acknowledged (tfo.is_pending): program and
 * sending octets know no difference, but the retransmission timer repeats the SYN-ACK and nothing else, and so does
 * the peer's SYN when it comes again.
 *
 * Keys are changed without a client noticing: the old one becomes the backup, whose cookies are taken for as long
 * as it is there and answered with a new one. They are a listener's own (TCP_FASTOPEN_KEY), or else the stack's
 * (net.ipv4.tcp_fastopen_key), or else drawn by chance.
 *
 * The knob tcp_fastopen has Linux's bits: 1 client, 2 server, 4 the client sends octets without a cookie, 0x200
 * the server takes them without one, 0x400 every listener is one without TCP_FASTOPEN. TCP_FASTOPEN_NO_COOKIE
 * is 4 and 0x200 for one socket.
 *
 * Limits: at most TCP_FASTOPEN connections of a listener wait for the end of their handshake; beyond it SYNs are
 * ordinary. One that is reset after accept() goes on counting for a minute (5.1): who knows the cookie of an address
 * could otherwise have its owner reset as many answers as it likes. TCP_TFO_RESETS of those a stack, more are not
 * counted.
 *
 * References: RFC 7413 4.1.2, 4.2.2, 5.1; linux v6.1 net/ipv4/tcp_fastopen.c, net/core/request_sock.c.
 */
#include <errno.h>
#include <string.h>

#include "tcp/tcp_int.h"

enum {
	COOKIE_LEN = 8, /* octets of ours */
	NO_KEY = -1,
};

#define RESET_NS (60 * NS_PER_SEC)

/** tcp_fastopen_init() - draw the keys; once for a stack */
void tcp_fastopen_init(struct tcp *t)
{
	const struct ns_env *env = t->core->env;

	env->random(env->ctx, &t->tfo_keys.key[0], sizeof(t->tfo_keys.key[0]));
	env->random(env->ctx, &t->tfo_table_key, sizeof(t->tfo_table_key));
	t->tfo_keys.cnt = 1;
}

/* --- keys ------------------------------------------------------------------------------------- */

static uint64_t le64_get(const uint8_t *at)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < sizeof(v); i++)
		v |= (uint64_t)at[i] << (8 * i);
	return v;
}

static void le64_put(uint8_t *at, uint64_t v)
{
	for (uint32_t i = 0; i < sizeof(v); i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

static int keys_set(struct tcp_tfo_keys *k, const uint8_t *keys, uint32_t len)
{
	if (len != NS_FASTOPEN_KEY_LEN && len != NS_FASTOPEN_KEYS_LEN)
		return -EINVAL;
	k->cnt = len / NS_FASTOPEN_KEY_LEN;
	for (uint32_t i = 0; i < k->cnt; i++, keys += NS_FASTOPEN_KEY_LEN)
		k->key[i] = (struct hash_key){ { le64_get(keys), le64_get(keys + 8) } };
	return 0;
}

int tcp_set_fastopen_keys(struct tcp *t, const uint8_t *keys, uint32_t len)
{
	return keys_set(&t->tfo_keys, keys, len);
}

/** tcp_fastopen_set_keys() - transport_ops.set_fastopen_keys. Return: 0 or -EINVAL */
int tcp_fastopen_set_keys(void *conn, const uint8_t *keys, uint32_t len)
{
	struct tcp_conn *c = conn;

	return keys_set(&c->tfo.keys, keys, len);
}

static const struct tcp_tfo_keys *keys_of(const struct tcp_conn *lc)
{
	return lc->tfo.keys.cnt ? &lc->tfo.keys : &lc->t->tfo_keys;
}

/** tcp_fastopen_keys() - transport_ops.fastopen_keys. Return: octets at @keys */
uint32_t tcp_fastopen_keys(const void *conn, uint8_t keys[NS_FASTOPEN_KEYS_LEN])
{
	const struct tcp_tfo_keys *k = keys_of(conn);

	for (uint32_t i = 0; i < k->cnt; i++, keys += NS_FASTOPEN_KEY_LEN) {
		le64_put(keys, k->key[i].k[0]);
		le64_put(keys + 8, k->key[i].k[1]);
	}
	return k->cnt * NS_FASTOPEN_KEY_LEN;
}

/* --- cookies ---------------------------------------------------------------------------------- */

/* RFC 7413 4.1.2: of addresses, not of ports; linux __tcp_fastopen_cookie_gen_cipher() */
static void make_cookie(const struct hash_key *key, const struct tcp_seg *s,
			uint8_t cookie[COOKIE_LEN])
{
	const uint8_t *from = s->remote.addr.b, *to = s->local.addr.b;
	uint32_t len = sizeof(s->remote.addr.b);
	uint8_t pair[2 * sizeof(s->remote.addr.b)];
	struct ns_addr a, b;

	if (ns_addr_is_v4(&s->remote.addr)) {
		from += 12;
		to += 12;
		len = 4;
	} else { /* as on the wire */
		a = ns_addr_zoned(s->remote.addr, 0);
		b = ns_addr_zoned(s->local.addr, 0);
		from = a.b;
		to = b.b;
	}
	memcpy(pair, from, len);
	memcpy(pair + len, to, len);
	le64_put(cookie, hash_sip(key, pair, 2 * (size_t)len));
}

/** tcp_fastopen_grant() - the cookie that @lc gives to who sent @s, for the SYN-ACK, in the option that asked */
void tcp_fastopen_grant(const struct tcp_conn *lc, const struct tcp_seg *s,
			struct tcp_tfo_opt *ret_o)
{
	*ret_o =
		(struct tcp_tfo_opt){ .has = true, .is_exp = s->opt.tfo.is_exp, .len = COOKIE_LEN };
	make_cookie(&keys_of(lc)->key[0], s, ret_o->v);
}

/* RFC 7413 4.2.2 step 1: which key the cookie is of, or NO_KEY */
static int key_of(const struct tcp_tfo_keys *k, const struct tcp_seg *s)
{
	const struct tcp_tfo_opt *o = &s->opt.tfo;
	uint8_t cookie[COOKIE_LEN];

	for (uint32_t i = 0; o->len == COOKIE_LEN && i < k->cnt; i++) {
		uint8_t diff = 0;

		make_cookie(&k->key[i], s, cookie);
		for (uint32_t n = 0; n < COOKIE_LEN; n++)
			diff |= cookie[n] ^ o->v[n];
		if (diff == 0)
			return (int)i;
	}
	return NO_KEY;
}

/* --- what is taken ---------------------------------------------------------------------------- */

static uint32_t queue_max(const struct tcp_conn *lc)
{
	if (lc->tfo.queue_max)
		return lc->tfo.queue_max;
	return tcp_knob(lc->t, NS_KNOB_tcp_fastopen) & TCP_TFO_ALL_LISTENERS ? lc->listener->backlog
									     : 0;
}

/* A reset that counts no longer makes room, one for each SYN (linux tcp_fastopen_queue_check()). */
static bool has_room(struct tcp_listener *l, uint32_t max, struct mono now)
{
	struct tcp_tfo_reset *r;

	if (l->tfo_cnt < max)
		return true;
	r = list_is_empty(&l->tfo_resets)
		    ? NULL
		    : list_entry(l->tfo_resets.next, struct tcp_tfo_reset, node);
	if (!r || mono_lt(now, r->until)) {
		stat_inc(tcp_stats(l->c->t), STAT_TCP_TFO_OVERFLOWS);
		return false;
	}
	list_del(&r->node);
	pool_put(&l->c->t->tfo_reset_pool, r);
	l->tfo_cnt--;
	return true;
}

/** tcp_fastopen_judge() - what a SYN for the listener @lc is worth (RFC 7413 4.2.2; linux tcp_try_fastopen()) */
enum tcp_tfo_verdict tcp_fastopen_judge(struct tcp_conn *lc, const struct tcp_seg *s,
					struct mono now)
{
	const struct tcp_tfo_opt *o = &s->opt.tfo;
	struct ns_stats *stats = tcp_stats(lc->t);
	int knob = tcp_knob(lc->t, NS_KNOB_tcp_fastopen);
	uint32_t max = queue_max(lc);
	int key;

	if (o->has && o->len == 0)
		stat_inc(stats, STAT_TCP_TFO_COOKIE_REQS);
	if (!(knob & TCP_TFO_SERVER) || max == 0 || (!o->has && s->len == 0) ||
	    !has_room(lc->listener, max, now))
		return TCP_TFO_NONE;
	if (knob & TCP_TFO_SERVER_NO_COOKIE || lc->tfo.no_cookie)
		return TCP_TFO_OPEN;
	if (!o->has)
		return TCP_TFO_NONE;
	if (o->len == 0)
		return TCP_TFO_GRANT;
	key = key_of(keys_of(lc), s);
	if (key == NO_KEY) {
		stat_inc(stats, STAT_TCP_TFO_PASSIVE_FAILS);
		return TCP_TFO_GRANT;
	}
	if (key == 0)
		return TCP_TFO_OPEN;
	stat_inc(stats, STAT_TCP_TFO_PASSIVE_OLD);
	return TCP_TFO_RENEW;
}

/** tcp_fastopen_begin() - @c, of the listener @l, is open before its handshake is over */
void tcp_fastopen_begin(struct tcp_conn *c, struct tcp_listener *l)
{
	c->tfo.is_pending = c->tfo.is_child = true;
	c->tfo.l = l;
	list_push(&l->tfo_q, &c->tfo.node);
	l->tfo_cnt++;
	stat_inc(tcp_stats(c->t), STAT_TCP_TFO_PASSIVE);
}

/** tcp_fastopen_end() - its handshake is over, or it is */
void tcp_fastopen_end(struct tcp_conn *c)
{
	c->tfo.is_pending = false;
	if (!c->tfo.l)
		return;
	list_del(&c->tfo.node);
	c->tfo.l->tfo_cnt--;
	c->tfo.l = NULL;
}

/** tcp_fastopen_reset() - RFC 7413 5.1: the peer resets @c; before the handshake is over that goes on counting */
void tcp_fastopen_reset(struct tcp_conn *c, struct mono now)
{
	struct tcp_listener *l = c->tfo.l;
	struct tcp_tfo_reset *r;

	if (!l || c->parent) /* in the accept queue it takes a place of the backlog */
		return;
	r = pool_get(&c->t->tfo_reset_pool);
	if (!r)
		return;
	r->until = mono_add(now, RESET_NS);
	list_init(&r->node);
	list_push(&l->tfo_resets, &r->node);
	l->tfo_cnt++;
}

/** tcp_fastopen_forget() - the listener goes; connections that it counts go on */
void tcp_fastopen_forget(struct tcp_listener *l)
{
	struct list *n;

	while ((n = list_pop(&l->tfo_q)) != NULL)
		list_entry(n, struct tcp_conn, tfo.node)->tfo.l = NULL;
	while ((n = list_pop(&l->tfo_resets)) != NULL)
		pool_put(&l->c->t->tfo_reset_pool, list_entry(n, struct tcp_tfo_reset, node));
}

/** tcp_fastopen_acked() - an acknowledgement that is believed: our SYN-ACK has arrived */
void tcp_fastopen_acked(struct tcp_conn *c, const struct tcp_seg *s, struct mono now)
{
	tcp_fastopen_end(c);
	c->flags &= ~TCP_F_SYN_DUE;
	if (c->syn_retries == 0)
		tcp_rtt_sample(c, mono_since(now, c->syn_at));
	tcp_accecn_third(c, s);
	c->backoff = 0;
	c->retries = 0;
	tcp_timer_stop(c, &c->rto_timer);
	if (tcp_flight(c))
		tcp_rto_arm(c, now);
}
