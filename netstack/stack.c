/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.c - the layers put together: the only file that knows all of them
 *
 * Theory of operation
 *
 *   ns_stack_input()   net -> tcp or udp -> sock's list of events
 *   ns_stack_advance() timers of tcp and net
 *   ns_stack_output()  rounds of: tcp builds what is due -> loop packets are delivered -> links send
 *
 * A round is repeated while it may have made more work: packets to ourselves were delivered, or a
 * link that had no room has some again. The rounds are bounded, so that the frames that came in
 * meanwhile are not left waiting; what is left makes ns_stack_deadline() say "now".
 *
 * Ownership: the stack owns everything below it; drivers and the environment are the embedder's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link/link.h"
#include "net/net.h"
#include "net/proto.h"
#include "ns/sock.h"
#include "ns/stack.h"
#include "sock/sock.h"
#include "tcp/tcp.h"
#include "udp/udp.h"
#include "wire/ip4.h"

enum {
	ROUNDS = 4,
	LOOP_BUDGET = 256, /* packets to ourselves a round */
	RX_HEADROOM = 16,  /* octets in front of a received frame */
	TX_PKTS = 16384,   /* frames on their way out */
	KEEP_PKTS = 1024,
	KEEP_SLICES = 4096,
	SLICES_PER_CHUNK = 4,
};

#define IDLE_NS NS_PER_SEC /* a pause after which kept memory is given back */

struct ns_stack {
	struct ns_core core;
	struct ns_stats stats;
	struct net *net;
	struct tcp *tcp;
	struct udp *udp;
	struct udp *ping;
	struct socks *socks;
	struct mono last_turn;
	bool is_pending; /* ns_stack_output() had more to do than its rounds allowed */
};

static struct ns_limits limits_or_defaults(const struct ns_limits *given)
{
	struct ns_limits l = { 0 };

	if (given)
		l = *given;
#define LIMIT(field_, default_, text_) l.field_ = l.field_ ? l.field_ : (default_);
#include "limits.def"
#undef LIMIT
	return l;
}

static uint32_t capped_sum(uint64_t a, uint64_t b)
{
	return a + b > UINT32_MAX ? UINT32_MAX : (uint32_t)(a + b);
}

static void core_init(struct ns_stack *s, const struct ns_env *env, const struct ns_limits *limits)
{
	struct ns_core *c = &s->core;
	struct ns_limits l = limits_or_defaults(limits);
	uint64_t chunks = (uint64_t)l.chunks_large + l.chunks_small + l.rx_frames;

	c->env = env;
	c->limits = l;
	core_knobs_init(c);
	c->stats = &s->stats;
	timers_init(&c->timers);
	pool_init(&c->pkts, "pkt", sizeof(struct pkt), capped_sum(l.rx_frames, TX_PKTS), KEEP_PKTS);
	pool_init(&c->slices, "slice", sizeof(struct bytes_slice),
		  capped_sum(chunks * SLICES_PER_CHUNK, 0), KEEP_SLICES);
	chunk_pools_init(&c->chunks, l.chunks_small, l.chunks_large, l.rx_frames);
	env->random(env->ctx, &c->key, sizeof(c->key));
}

static void core_done(struct ns_core *c)
{
	timers_done(&c->timers);
	pool_done(&c->slices);
	pool_done(&c->pkts);
	chunk_pools_done(&c->chunks);
}

struct ns_stack *ns_stack_new(const struct ns_env *env, const struct ns_limits *limits)
{
	struct ns_stack *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	core_init(s, env, limits);
	s->net = net_new(&s->core);
	s->socks = s->net ? socks_new(&s->core) : NULL;
	s->tcp = s->socks ? tcp_new(&s->core, s->net, &sock_user_ops) : NULL;
	s->udp = s->tcp ? udp_new(&s->core, s->net, &sock_user_ops, false) : NULL;
	s->ping = s->udp ? udp_new(&s->core, s->net, &sock_user_ops, true) : NULL;
	if (!s->ping) {
		ns_stack_free(s);
		return NULL;
	}
	net_register(s->net, IP_PROTO_TCP, &tcp_proto_ops, s->tcp);
	net_register(s->net, IP_PROTO_UDP, &udp_proto_ops, s->udp);
	net_register(s->net, IP_PROTO_ICMP, &ping_proto_ops, s->ping);
	net_register(s->net, IP_PROTO_ICMP6, &ping_proto_ops, s->ping);
	socks_set_transport(s->socks, &tcp_transport_ops, s->tcp);
	socks_set_dgram(s->socks, &udp_transport_ops, s->udp, s->ping);
	return s;
}

void ns_stack_free(struct ns_stack *s)
{
	if (!s)
		return;
	udp_free(s->ping);
	udp_free(s->udp);
	tcp_free(s->tcp);
	socks_free(s->socks);
	net_free(s->net);
	core_done(&s->core);
	free(s);
}

int ns_stack_set_knob(struct ns_stack *s, enum ns_knob knob, int value)
{
	const struct ns_knob_info *k = ns_knob_info(knob);

	if (!k || value < k->least || value > k->most)
		return -EINVAL;
	s->core.knobs[knob] = value;
	return 0;
}

int ns_stack_knob(const struct ns_stack *s, enum ns_knob knob)
{
	return knob < NS_KNOB_COUNT ? s->core.knobs[knob] : 0;
}

int ns_stack_set_fastopen_keys(struct ns_stack *s, const uint8_t *keys, uint32_t len)
{
	return tcp_set_fastopen_keys(s->tcp, keys, len);
}

struct socks *ns_stack_socks(struct ns_stack *s)
{
	return s->socks;
}

int ns_stack_add_link(struct ns_stack *s, const struct ns_link_config *c, uint32_t *ret_link_id)
{
	return net_add_link(s->net, c, ret_link_id);
}

/* After a change of configuration transports find their paths changed. */
static int changed(struct ns_stack *s, int err)
{
	s->is_pending = true;
	return err;
}

int ns_stack_set_link(struct ns_stack *s, uint32_t link_id, const struct ns_link_config *c)
{
	return changed(s, net_set_link(s->net, link_id, c));
}

int ns_stack_set_link_up(struct ns_stack *s, uint32_t link_id, bool is_up)
{
	return changed(s, net_set_link_up(s->net, link_id, is_up));
}

int ns_stack_del_link(struct ns_stack *s, uint32_t link_id)
{
	return changed(s, net_del_link(s->net, link_id));
}

int ns_stack_add_addr(struct ns_stack *s, uint32_t link_id, const struct ns_addr *a,
		      uint8_t prefix_len)
{
	return changed(s, net_add_addr(s->net, link_id, a, prefix_len));
}

int ns_stack_set_addr(struct ns_stack *s, uint32_t link_id, const struct ns_ifaddr *a)
{
	return changed(s, net_set_addr(s->net, link_id, a));
}

int ns_stack_del_addr(struct ns_stack *s, uint32_t link_id, const struct ns_addr *a)
{
	return changed(s, net_del_addr(s->net, link_id, a));
}

int ns_stack_deprecate_addr(struct ns_stack *s, uint32_t link_id, const struct ns_addr *a,
			    bool is_deprecated)
{
	return net_deprecate_addr(s->net, link_id, a, is_deprecated);
}

int ns_stack_add_route(struct ns_stack *s, const struct ns_route *r)
{
	return changed(s, net_add_route(s->net, r));
}

int ns_stack_replace_route(struct ns_stack *s, const struct ns_route *r)
{
	return changed(s, net_replace_route(s->net, r));
}

int ns_stack_del_route(struct ns_stack *s, const struct ns_route *r)
{
	return changed(s, net_del_route(s->net, r));
}

int ns_stack_add_rule(struct ns_stack *s, const struct ns_rule *r)
{
	return changed(s, net_add_rule(s->net, r));
}

int ns_stack_del_rule(struct ns_stack *s, const struct ns_rule *r)
{
	return changed(s, net_del_rule(s->net, r));
}

void ns_stack_flush_rules(struct ns_stack *s, bool is_v6)
{
	net_flush_rules(s->net, is_v6);
	(void)changed(s, 0);
}

int ns_stack_add_neigh(struct ns_stack *s, uint32_t link_id, const struct ns_addr *a,
		       const uint8_t mac[6])
{
	return net_add_neigh(s->net, link_id, a, mac);
}

int ns_stack_del_neigh(struct ns_stack *s, uint32_t link_id, const struct ns_addr *a)
{
	return net_del_neigh(s->net, link_id, a);
}

int ns_stack_find_route(const struct ns_stack *s, const struct ns_flow *flow,
			struct ns_route_answer *ret_answer)
{
	return net_find_route(s->net, flow, ret_answer);
}

void ns_stack_each_route(const struct ns_stack *s, void (*fn)(void *ctx, const struct ns_route *r),
			 void *ctx)
{
	net_each_route(s->net, fn, ctx);
}

void ns_stack_each_rule(const struct ns_stack *s, void (*fn)(void *ctx, const struct ns_rule *r),
			void *ctx)
{
	net_each_rule(s->net, fn, ctx);
}

struct pkt *ns_stack_rx_alloc(struct ns_stack *s)
{
	return pkt_new_rx(&s->core.pkts, &s->core.chunks, RX_HEADROOM);
}

enum drop ns_stack_input(struct ns_stack *s, uint32_t link_id, struct pkt *p, struct mono now)
{
	return net_input(s->net, link_id, p, now);
}

void ns_stack_lost(struct ns_stack *s, enum drop why)
{
	drop_count(&s->stats, why);
}

void ns_stack_trim(struct ns_stack *s)
{
	chunk_pools_trim(&s->core.chunks);
}

void ns_stack_advance(struct ns_stack *s, struct mono now)
{
	if (mono_since(now, s->last_turn) > IDLE_NS)
		ns_stack_trim(s);
	s->last_turn = now;
	timers_run(&s->core.timers, now);
}

void ns_stack_output(struct ns_stack *s, struct mono now)
{
	s->is_pending = true;
	for (uint32_t i = 0; i < ROUNDS && s->is_pending; i++) {
		uint32_t looped;

		tcp_transport_ops.output(s->tcp, now);
		udp_transport_ops.output(s->udp, now);
		udp_transport_ops.output(s->ping, now);
		looped = net_run_loop(s->net, LOOP_BUDGET, now);
		net_flush(s->net);
		s->is_pending = net_take_starved(s->net) || looped > 0;
	}
}

struct mono ns_stack_deadline(struct ns_stack *s)
{
	if (s->is_pending || socks_have_events(s->socks) || net_has_work(s->net))
		return (struct mono){ 0 };
	return timers_next(&s->core.timers);
}

enum ns_gso_mode ns_stack_link_mode(const struct ns_stack *s, uint32_t link_id)
{
	const struct link *l = net_link(s->net, link_id);

	return l ? l->mode : NS_GSO_NONE;
}

bool ns_stack_link_is_blocked(const struct ns_stack *s, uint32_t link_id)
{
	const struct link *l = net_link(s->net, link_id);

	return l && l->is_blocked;
}

void ns_link_writable(struct ns_stack *s, uint32_t link_id)
{
	if (net_link_writable(s->net, link_id))
		s->is_pending = true;
}

/* Counters first, then the drop reasons (DROP_NONE is among them and never counts). */
static const struct {
	const char *name, *text;
} stat_rows[] = {
#define STAT(name_, text_) { #name_, text_ },
#include "base/stats.def"
#undef STAT
#define DROP(name_, text_, clause_) { "DROP_" #name_, text_ },
#include "base/drop.def"
#undef DROP
};

uint32_t ns_stack_stat_cnt(void)
{
	return NS_ARRAY_LEN(stat_rows);
}

const char *ns_stack_stat_name(uint32_t i)
{
	return i < NS_ARRAY_LEN(stat_rows) ? stat_rows[i].name : NULL;
}

const char *ns_stack_stat_text(uint32_t i)
{
	return i < NS_ARRAY_LEN(stat_rows) ? stat_rows[i].text : NULL;
}

uint64_t ns_stack_stat(const struct ns_stack *s, uint32_t i)
{
	if (i < STAT_COUNT)
		return s->stats.stat[i];
	return i < NS_ARRAY_LEN(stat_rows) ? s->stats.drop[i - STAT_COUNT] : 0;
}
