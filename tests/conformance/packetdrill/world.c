/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - see world.h */
#include "world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf/pkt.h"
#include "support/frame.h"
#include "wire/vnet.h"

enum {
	LOCAL_V4 = 0xc0a80001, /* 192.168.0.1, what packetdrill's own runner uses */
	LOCAL_BITS = 16,
	MTU = 1500,
	RCVBUF_MAX =
		15 << 20, /* octets: a window scale of 8, which packetdrill's own scripts expect */
	LOCAL6_BITS = 48,
	SNDBUF_MAX = 4 << 20,
};

static const uint8_t own_mac[6] = { 2, 0, 0, 0, 0, 1 };

static int world_xmit(void *drv, struct pkt *const *pkts, uint32_t cnt)
{
	struct world *w = drv;

	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t len = pkt_len(pkts[i]) - ETH_LEN;
		struct world_out *o = malloc(sizeof(*o) + len);

		if (!o || !pkt_copy_out(pkts[i], ETH_LEN, o->b, len))
			abort();
		o->next = NULL;
		o->at = w->now;
		o->len = len;
		*w->out_last = o;
		w->out_last = &o->next;
	}
	return (int)cnt;
}

static const struct ns_link_ops world_ops = { .xmit = world_xmit };

static void world_random(void *ctx, void *buf, size_t len)
{
	prng_fill(&((struct world *)ctx)->random, buf, len);
}

/* --- flags ----------------------------------------------------------------------------------- */

static int parse_one(struct world_config *c, const char *key, const char *value)
{
	struct in_addr a4;

	if (!strcmp(key, "mtu")) {
		c->mtu = (uint32_t)strtoul(value, NULL, 10);
		return c->mtu >= 576 && c->mtu <= 65535 ? 0 : -EINVAL;
	}
	if (!strcmp(key, "rcvbuf")) {
		c->rcvbuf_max = (uint32_t)strtoul(value, NULL, 10);
		return c->rcvbuf_max >= UINT16_MAX && c->rcvbuf_max <= 1 << 30 ? 0 : -EINVAL;
	}
	if (!strcmp(key, "local")) {
		if (inet_pton(AF_INET, value, &a4) == 1)
			c->local.addr = ns_addr_v4(ntohl(a4.s_addr));
		else if (inet_pton(AF_INET6, value, c->local.addr.b) != 1)
			return -EINVAL;
		return 0;
	}
	if (!strcmp(key, "knobs") && strlen(value) < sizeof(c->knobs)) {
		memcpy(c->knobs, value, strlen(value) + 1);
		return 0;
	}
	return -EINVAL;
}

/* "key=value,key=value" */
static int parse_flags(struct world_config *c, const char *flags)
{
	char text[1024], *save = NULL;

	*c = (struct world_config){ .mtu = MTU,
				    .rcvbuf_max = RCVBUF_MAX,
				    .local.addr = ns_addr_v4(LOCAL_V4) };
	if (!flags)
		return 0;
	if (strlen(flags) >= sizeof(text))
		return -EINVAL;
	memcpy(text, flags, strlen(flags) + 1);
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		char *eq = strchr(word, '=');

		if (!eq)
			return -EINVAL;
		*eq = '\0';
		if (parse_one(c, word, eq + 1))
			return -EINVAL;
	}
	return 0;
}

void world_read_knobs(struct world *w)
{
	FILE *f = w->config.knobs[0] ? fopen(w->config.knobs, "re") : NULL;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		char *eq = strchr(line, '=');
		enum ns_knob knob;

		if (!eq)
			continue;
		*eq = '\0';
		if (ns_knob_find(line, &knob) == 0 &&
		    ns_stack_set_knob(w->stack, knob, (int)strtol(eq + 1, NULL, 10)))
			fprintf(stderr, "sluice plugin: %s cannot be %s", line, eq + 1);
	}
	if (f)
		fclose(f);
}

/* --- life ------------------------------------------------------------------------------------ */

/* One link without neighbours (a TUN device in all but name) and everything reached over it. */
static int world_link(struct world *w)
{
	struct ns_link_config link = {
		.name = "tun0",
		.ifindex = 2,
		.mtu = w->config.mtu,
		.is_up = true,
		.is_noarp = true,
		.gso = NS_GSO_NONE,
		.ops = &world_ops,
		.drv = w,
	};
	bool is_v4 = ns_addr_is_v4(&w->config.local.addr);
	struct ns_route all = { .is_onlink = true, .is_v6 = !is_v4 };
	int r;

	memcpy(link.mac, own_mac, sizeof(own_mac));
	r = ns_stack_add_link(w->stack, &link, &w->link_id);
	if (r == 0)
		r = ns_stack_add_addr(w->stack, w->link_id, &w->config.local.addr,
				      is_v4 ? LOCAL_BITS : LOCAL6_BITS);
	if (is_v4)
		all.dst = all.gateway = ns_addr_v4(0);
	all.link_id = w->link_id;
	return r ? r : ns_stack_add_route(w->stack, &all);
}

int world_init(struct world *w, const char *flags)
{
	struct ns_limits limits = { .sockets = 1024, .sndbuf_max = SNDBUF_MAX };
	int r;

	*w = (struct world){ .now = { 1000 * NS_PER_SEC }, .first = pthread_self() };
	w->out_last = &w->out_first;
	w->random.state = prng_mix(1);
	w->env = (struct ns_env){ .ctx = w, .random = world_random };
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->news, NULL);
	pthread_cond_init(&w->seen, NULL);
	r = parse_flags(&w->config, flags);
	if (r)
		return r;
	limits.rcvbuf_max = w->config.rcvbuf_max;
	w->stack = ns_stack_new(&w->env, &limits);
	return w->stack ? world_link(w) : -ENOMEM;
}

void world_done(struct world *w)
{
	for (struct world_out *o; (o = world_pop(w));)
		free(o);
	ns_stack_free(w->stack);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->news);
	pthread_cond_destroy(&w->seen);
}

/* --- time ------------------------------------------------------------------------------------ */

void world_turn(struct world *w)
{
	struct ns_event e;

	ns_stack_advance(w->stack, w->now);
	while (ns_stack_next_event(w->stack, &e))
		if (w->on_event)
			w->on_event(w->ctx, &e);
	ns_stack_output(w->stack, w->now);
	w->turn_cnt++;
	if (!w->is_sleeper)
		return;
	pthread_cond_broadcast(&w->news);
	while (w->is_sleeper && w->seen_cnt != w->turn_cnt)
		pthread_cond_wait(&w->seen, &w->lock);
}

/* A released sleeper notes the time outside of our lock: give it the processor before time moves on. */
static void let_released_go(struct world *w)
{
	const struct timespec pause = { .tv_nsec = 3000000 };

	if (!w->is_released || !pthread_equal(w->first, pthread_self()))
		return;
	w->is_released = false;
	pthread_mutex_unlock(&w->lock);
	nanosleep(&pause, NULL);
	pthread_mutex_lock(&w->lock);
}

void world_run(struct world *w, struct mono until, bool to_packet)
{
	for (;;) {
		struct mono next = ns_stack_deadline(w->stack);

		let_released_go(w);
		if (to_packet && w->out_first)
			return;
		if (mono_lt(until, next))
			break;
		if (mono_lt(w->now, next))
			w->now = next;
		world_turn(w);
	}
	if (mono_lt(w->now, until))
		w->now = until;
}

bool world_wait(struct world *w, bool (*is_ready)(void *ctx), void *ctx, uint64_t timeout_ns)
{
	struct mono until = timeout_ns == UINT64_MAX ? MONO_NEVER : mono_add(w->now, timeout_ns);

	if (is_ready(ctx))
		return true;
	if (pthread_equal(w->first, pthread_self())) {
		while (!is_ready(ctx) && mono_lt(w->now, until)) {
			struct mono next = ns_stack_deadline(w->stack);

			if (mono_le(MONO_NEVER, next) && mono_le(MONO_NEVER, until))
				return false; /* nothing will ever happen */
			world_run(w, mono_min(next, until), false);
		}
		return is_ready(ctx);
	}
	w->is_sleeper = true;
	w->seen_cnt = w->turn_cnt;
	while (!is_ready(ctx) && mono_lt(w->now, until)) {
		w->seen_cnt = w->turn_cnt;
		pthread_cond_signal(&w->seen);
		pthread_cond_wait(&w->news, &w->lock);
	}
	w->is_sleeper = false;
	w->is_released = true;
	pthread_cond_signal(&w->seen);
	return is_ready(ctx);
}

/* --- the wire -------------------------------------------------------------------------------- */

int world_inject(struct world *w, const void *packet, size_t len)
{
	struct pkt *p;
	uint8_t *to;

	if (len == 0 || len > UINT16_MAX)
		return -EMSGSIZE;
	p = ns_stack_rx_alloc(w->stack);
	to = p ? pkt_put(p, VNET_LEN + ETH_LEN + (uint32_t)len) : NULL;
	if (!to) {
		pkt_free(p);
		return -ENOBUFS;
	}
	memset(to, 0, VNET_LEN);
	memcpy(to + VNET_LEN, own_mac, 6);
	memcpy(to + VNET_LEN + 6, own_mac, 6);
	to[VNET_LEN + 12] = *(const uint8_t *)packet >> 4 == 6 ? 0x86 : 0x08;
	to[VNET_LEN + 13] = *(const uint8_t *)packet >> 4 == 6 ? 0xdd : 0x00;
	memcpy(to + VNET_LEN + ETH_LEN, packet, len);
	if (vnet_pull(p, VNET_LEN) != DROP_NONE) {
		pkt_free(p);
		return -EINVAL;
	}
	ns_stack_advance(w->stack, w->now);
	(void)ns_stack_input(w->stack, w->link_id, p, w->now);
	world_turn(w);
	return 0;
}

struct world_out *world_pop(struct world *w)
{
	struct world_out *o = w->out_first;

	if (o) {
		w->out_first = o->next;
		if (!w->out_first)
			w->out_last = &w->out_first;
	}
	return o;
}
