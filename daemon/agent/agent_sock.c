/* SPDX-License-Identifier: Apache-2.0 */
/* agent_sock.c - see agent_sock.h */
#include "daemon/agent/agent_sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_BITS 16
#define INDEX_MASK 0xffffu

static uint32_t handle_index(uint32_t handle)
{
	return handle & INDEX_MASK;
}

/* Inodes of sockfs count up: their low bits spread by themselves. */
static struct asock **bucket(struct asock_table *t, uint64_t ino)
{
	return &t->buckets[ino & t->bucket_mask];
}

int asock_table_init(struct asock_table *t, uint32_t cap,
		     void (*on_free)(void *ctx, struct asock *s), void *ctx)
{
	uint32_t buckets = 256;

	NS_BUG_ON(cap == 0 || cap > ASOCK_CAP_MAX);
	while (buckets < cap)
		buckets *= 2;
	memset(t, 0, sizeof(*t));
	t->slots = calloc(cap + 1, sizeof(struct asock *));
	t->generations = calloc(cap + 1, sizeof(uint16_t));
	t->free_ring = calloc(cap, sizeof(uint32_t));
	t->buckets = calloc(buckets, sizeof(struct asock *));
	if (!t->slots || !t->generations || !t->free_ring || !t->buckets) {
		free(t->slots);
		free(t->generations);
		free(t->free_ring);
		free(t->buckets);
		memset(t, 0, sizeof(*t));
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < cap; i++)
		t->free_ring[i] = i + 1;
	t->free_cnt = cap;
	t->bucket_mask = buckets - 1;
	t->cap = cap;
	list_init(&t->dead);
	t->on_free = on_free;
	t->ctx = ctx;
	return 0;
}

void asock_table_done(struct asock_table *t)
{
	for (uint32_t i = 1; t->slots && i <= t->cap; i++) {
		if (t->slots[i])
			asock_free(t, t->slots[i]);
	}
	free(t->slots);
	free(t->generations);
	free(t->free_ring);
	free(t->buckets);
	memset(t, 0, sizeof(*t));
}

struct asock *asock_new(struct asock_table *t, uint64_t ino, int fd, int family)
{
	struct asock *s = asock_find(t, ino);
	uint32_t index;

	if (s)
		asock_free(t, s);
	if (t->free_cnt == 0) {
		/* a tombstone is worth less than a socket */
		if (list_is_empty(&t->dead))
			return NULL;
		asock_free(t, list_entry(t->dead.next, struct asock, dead_node));
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	index = t->free_ring[t->free_head];
	t->free_head = (t->free_head + 1) % t->cap;
	t->free_cnt--;
	if (++t->generations[index] == 0)
		t->generations[index] = 1;
	s->handle = (uint32_t)t->generations[index] << INDEX_BITS | index;
	s->ino = ino;
	s->fd = fd;
	s->family = family;
	s->program_fd = -1;
	s->local.addr = s->remote.addr = ns_addr_v4(0);
	list_init(&s->dead_node);
	list_init(&s->accept_queue);
	list_init(&s->held);
	list_init(&s->deferred);
	aopt_init(&s->opts);
	s->opts.congestion = t->congestion;
	s->hash_next = *bucket(t, ino);
	*bucket(t, ino) = s;
	t->slots[index] = s;
	t->cnt++;
	return s;
}

void asock_free(struct asock_table *t, struct asock *s)
{
	uint32_t index = handle_index(s->handle);
	struct asock **p = bucket(t, s->ino);

	NS_BUG_ON(t->slots[index] != s);
	while (*p != s)
		p = &(*p)->hash_next;
	*p = s->hash_next;
	t->slots[index] = NULL;
	t->free_ring[(t->free_head + t->free_cnt) % t->cap] = index;
	t->free_cnt++;
	t->cnt--;
	if (s->state == ASOCK_DEAD) {
		list_del(&s->dead_node);
		t->dead_cnt--;
	}
	asock_queue_clear(s);
	t->on_free(t->ctx, s);
	free(s);
}

struct asock *asock_find(struct asock_table *t, uint64_t ino)
{
	struct asock *s = *bucket(t, ino);

	while (s && s->ino != ino)
		s = s->hash_next;
	return s;
}

struct asock *asock_find_handle(struct asock_table *t, uint32_t handle)
{
	uint32_t index = handle_index(handle);
	struct asock *s = index <= t->cap ? t->slots[index] : NULL;

	return s && s->handle == handle ? s : NULL;
}

static const struct {
	const char *name;
	uint32_t next; /* bit set of enum asock_state */
} states[ASOCK_STATE_COUNT] = {
#define TO(state_) (1u << ASOCK_##state_)
	[ASOCK_IDLE] = { "idle", TO(BOUND) | TO(LISTEN) | TO(CONNECTING) | TO(ESTABLISHED) },
	[ASOCK_BOUND] = { "bound",
			  TO(IDLE) | TO(LISTEN) | TO(CONNECTING) | TO(ESTABLISHED) | TO(DEAD) },
	[ASOCK_LISTEN] = { "listen", TO(DEAD) },
	[ASOCK_CONNECTING] = { "connecting", TO(IDLE) | TO(BOUND) | TO(ESTABLISHED) | TO(DEAD) },
	[ASOCK_ESTABLISHED] = { "established", TO(DEAD) },
	[ASOCK_DEAD] = { "dead", TO(IDLE) },
#undef TO
};

void asock_set_state(struct asock_table *t, struct asock *s, enum asock_state state)
{
	NS_BUG_ON(state >= ASOCK_STATE_COUNT || !(states[s->state].next & 1u << state));
	s->state = state;
	if (state != ASOCK_DEAD)
		return;
	list_push(&t->dead, &s->dead_node);
	if (++t->dead_cnt > ASOCK_DEAD_MAX)
		asock_free(t, list_entry(t->dead.next, struct asock, dead_node));
}

void asock_revive(struct asock_table *t, struct asock *s, uint64_t ino, int fd)
{
	struct asock *other = asock_find(t, ino);
	struct asock **p = bucket(t, s->ino);

	if (other)
		asock_free(t, other);
	while (*p != s)
		p = &(*p)->hash_next;
	*p = s->hash_next;
	s->ino = ino;
	s->fd = fd;
	s->hash_next = *bucket(t, ino);
	*bucket(t, ino) = s;
	list_del(&s->dead_node);
	t->dead_cnt--;
	s->is_connect_reported = s->is_free = false;
	asock_set_state(t, s, ASOCK_IDLE);
}

const char *asock_state_name(enum asock_state state)
{
	return state < ASOCK_STATE_COUNT ? states[state].name : "?";
}

int asock_queue_push(struct asock *s, uint32_t conn, const struct ns_endpoint *local,
		     const struct ns_endpoint *remote)
{
	struct asock_conn *c;

	if (s->accept_cnt >= ASOCK_BACKLOG_MAX)
		return -ENOSPC;
	c = malloc(sizeof(*c));
	if (!c)
		return -ENOMEM;
	*c = (struct asock_conn){ .conn = conn, .local = *local, .remote = *remote };
	list_push(&s->accept_queue, &c->node);
	s->accept_cnt++;
	return 0;
}

struct asock_conn *asock_queue_first(struct asock *s)
{
	return list_is_empty(&s->accept_queue)
		       ? NULL
		       : list_entry(s->accept_queue.next, struct asock_conn, node);
}

void asock_queue_pop(struct asock *s)
{
	struct list *n = list_pop(&s->accept_queue);

	if (!n)
		return;
	s->accept_cnt--;
	free(list_entry(n, struct asock_conn, node));
}

void asock_queue_clear(struct asock *s)
{
	while (!list_is_empty(&s->accept_queue))
		asock_queue_pop(s);
}

void asock_memo_set(struct asock *s, uint32_t tid, int nr, uint64_t ip, const uint64_t *args,
		    int64_t answer, struct mono now)
{
	s->memo = (struct asock_memo){
		.is_set = true, .nr = nr, .tid = tid, .answer = answer, .ip = ip, .when = now
	};
	memcpy(s->memo.args, args, sizeof(s->memo.args));
}

bool asock_memo_match(const struct asock *s, uint32_t tid, int nr, uint64_t ip,
		      const uint64_t *args, struct mono now, int64_t *ret_answer)
{
	const struct asock_memo *m = &s->memo;

	if (!m->is_set || m->tid != tid || m->nr != nr || m->ip != ip ||
	    memcmp(m->args, args, sizeof(m->args)) != 0 || mono_since(now, m->when) > ASOCK_MEMO_NS)
		return false;
	*ret_answer = m->answer;
	return true;
}
