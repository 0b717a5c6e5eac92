/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_isn.c - RFC 6528: initial sequence numbers, and the same for timestamp offsets
 *
 * Both are a keyed hash of the four-tuple, each under a key of its own, so that neither tells
 * anything of the other or of another connection. The sequence number moves with a 4 us clock
 * (RFC 9293 MUST-8); the timestamp offset does not, so that timestamps of a reused four-tuple go on
 * rising and RFC 6191 can tell old from new.
 */
#include <string.h>

#include "tcp/tcp_int.h"

enum {
	ISN_TICK_NS = 4000, /* RFC 6528 3 */
};

/** tcp_isn_init() - draw the keys; once for a stack */
void tcp_isn_init(struct tcp *t)
{
	const struct ns_env *env = t->core->env;

	env->random(env->ctx, &t->isn_key, sizeof(t->isn_key));
	env->random(env->ctx, &t->ts_key, sizeof(t->ts_key));
}

/**
 * tcp_tuple_hash() - a keyed hash of a four-tuple and of what else it is about
 * @key:	Secret
 * @k:		Who talks with whom
 * @more:	Hashed behind them, @len octets, TCP_HASH_MORE at most
 */
uint64_t tcp_tuple_hash(const struct hash_key *key, const struct demux_key *k, const void *more,
			size_t len)
{
	uint8_t buf[2 * sizeof(struct ns_addr) + 2 * sizeof(uint16_t) + TCP_HASH_MORE];
	uint8_t *at = buf;

	NS_BUG_ON(len > TCP_HASH_MORE);
	memcpy(at, &k->local.addr, sizeof(k->local.addr));
	at += sizeof(k->local.addr);
	memcpy(at, &k->remote.addr, sizeof(k->remote.addr));
	at += sizeof(k->remote.addr);
	memcpy(at, &k->local.port, sizeof(k->local.port));
	at += sizeof(k->local.port);
	memcpy(at, &k->remote.port, sizeof(k->remote.port));
	at += sizeof(k->remote.port);
	if (len)
		memcpy(at, more, len);
	return hash_sip(key, buf, (size_t)(at - buf) + len);
}

/** tcp_isn() - RFC 6528 3: ISN = M + F(localip, localport, remoteip, remoteport, secretkey) */
struct seq tcp_isn(const struct tcp *t, const struct demux_key *k, struct mono now)
{
	return seq((uint32_t)(now.ns / ISN_TICK_NS) +
		   (uint32_t)tcp_tuple_hash(&t->isn_key, k, NULL, 0));
}

/** tcp_ts_offset() - RFC 7323 5.4: where the connection's timestamp clock starts */
uint32_t tcp_ts_offset(const struct tcp *t, const struct demux_key *k)
{
	return (uint32_t)tcp_tuple_hash(&t->ts_key, k, NULL, 0);
}
