/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_diff - what has to be done to come from one plan to another
 *
 * Theory of operation: rows refer to links by their place in the plan, which a link that comes or goes
 * changes for all behind it. So the tables are copied with the ifindex in that field; then equal rows
 * have equal octets. Both copies are sorted and merged: what only the old one has is deleted, what only
 * the new one has is added. The rows of a multipath route follow each other and are one item.
 *
 * The sort is a heap sort: qsort() of glibc asks the kernel how much memory there is, which the worker
 * may not.
 *
 * Invariants: neither plan is changed; equal plans give no step, in whatever order their rows are.
 *
 * Limits: n log n of the longer plan, and the memory of both beside it.
 */
#include "daemon/common/plan_diff.h"

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Of a link's flags, what the stack is told. */
#define LINK_FLAGS (IFF_UP | IFF_NOARP)

#define NO_FIELD SIZE_MAX

/* Beside an ifindex, which is at most INT32_MAX. */
#define LINK_IS_OTHER (UINT32_C(1) << 31)

/* How a table looks from here. */
struct shape {
	size_t row_size;
	size_t link_off; /* of the field that names a link by its row, or NO_FIELD */
};

static const struct shape shapes[PLAN_TABLE_COUNT] = {
	[PLAN_LINK] = { sizeof(struct plan_link), NO_FIELD },
	[PLAN_ADDR] = { sizeof(struct plan_addr), offsetof(struct plan_addr, link_idx) },
	[PLAN_ROUTE] = { sizeof(struct plan_route), offsetof(struct plan_route, link_idx) },
	[PLAN_RULE] = { sizeof(struct plan_rule), NO_FIELD },
	[PLAN_NEIGH] = { sizeof(struct plan_neigh), offsetof(struct plan_neigh, link_idx) },
};

static const void *rows_of(const struct plan *p, enum plan_table t, size_t *ret_cnt)
{
	switch (t) {
	case PLAN_LINK:
		*ret_cnt = p->link_cnt;
		return p->links;
	case PLAN_ADDR:
		*ret_cnt = p->addr_cnt;
		return p->addrs;
	case PLAN_ROUTE:
		*ret_cnt = p->route_cnt;
		return p->routes;
	case PLAN_RULE:
		*ret_cnt = p->rule_cnt;
		return p->rules;
	case PLAN_NEIGH:
		*ret_cnt = p->neigh_cnt;
		return p->neighs;
	case PLAN_TABLE_COUNT:
		break;
	}
	*ret_cnt = 0;
	return NULL;
}

/* Rows that stand or fall together. */
struct item {
	const char *octets;
	size_t len;
	uint32_t idx, cnt;
};

/* A table of a plan, sorted. */
struct sorted {
	char *copy;
	struct item *items;
	size_t cnt;
};

static void sorted_done(struct sorted *s)
{
	free(s->copy);
	free(s->items);
	memset(s, 0, sizeof(*s));
}

static int item_cmp(const struct item *a, const struct item *b)
{
	int r = memcmp(a->octets, b->octets, a->len < b->len ? a->len : b->len);

	return r ? r : (a->len > b->len) - (a->len < b->len);
}

static void sift_down(struct item *v, size_t at, size_t cnt)
{
	for (;;) {
		size_t big = at, left = 2 * at + 1;
		struct item held = v[at];

		if (left < cnt && item_cmp(&v[left], &v[big]) > 0)
			big = left;
		if (left + 1 < cnt && item_cmp(&v[left + 1], &v[big]) > 0)
			big = left + 1;
		if (big == at)
			return;
		v[at] = v[big];
		v[big] = held;
		at = big;
	}
}

static void heap_sort(struct item *v, size_t cnt)
{
	for (size_t i = cnt / 2; i > 0; i--)
		sift_down(v, i - 1, cnt);
	for (size_t end = cnt; end > 1; end--) {
		struct item last = v[end - 1];

		v[end - 1] = v[0];
		v[0] = last;
		sift_down(v, 0, end - 1);
	}
}

/* Whether @b is a further next hop of the route @a. */
static bool is_same_route(const struct plan_route *a, const struct plan_route *b)
{
	struct plan_route x, y;

	if (a->weight == 0 || b->weight == 0)
		return false;
	memcpy(&x, a, sizeof(x)); /* padding and all */
	memcpy(&y, b, sizeof(y));
	x.weight = y.weight = x.link_idx = y.link_idx = 0;
	x.is_onlink = y.is_onlink = false;
	x.is_dead = y.is_dead = false;
	memset(&x.gateway, 0, sizeof(x.gateway));
	memset(&y.gateway, 0, sizeof(y.gateway));
	return memcmp(&x, &y, sizeof(x)) == 0;
}

static bool link_is_other(const struct plan_link *a, const struct plan_link *b)
{
	return a->driver != b->driver || a->type != b->type || a->vnet_hdr_len != b->vnet_hdr_len;
}

/* The ifindex of a link; another one than that of @before if that is another link. */
static uint32_t link_name(const struct plan *p, uint32_t idx, const struct plan *before)
{
	const struct plan_link *l = &p->links[idx];
	uint32_t was = before ? plan_find_ifindex(before, l->ifindex) : PLAN_NO_LINK;

	if (was != PLAN_NO_LINK && link_is_other(&before->links[was], l))
		return l->ifindex | LINK_IS_OTHER;
	return l->ifindex;
}

static void copy_name_links(char *copy, size_t cnt, const struct shape *sh, const struct plan *p,
			    const struct plan *before)
{
	for (size_t i = 0; sh->link_off != NO_FIELD && i < cnt; i++) {
		char *at = copy + i * sh->row_size + sh->link_off;
		uint32_t idx;

		memcpy(&idx, at, sizeof(idx));
		if (idx < p->link_cnt) {
			idx = link_name(p, idx, before);
			memcpy(at, &idx, sizeof(idx));
		}
	}
}

/* @before: the plan that this one follows, NULL for none. */
static int sorted_make(const struct plan *p, enum plan_table t, const struct plan *before,
		       struct sorted *ret)
{
	const struct shape *sh = &shapes[t];
	size_t cnt;
	const void *rows = rows_of(p, t, &cnt);

	memset(ret, 0, sizeof(*ret));
	if (!cnt)
		return 0;
	ret->copy = calloc(cnt, sh->row_size);
	ret->items = calloc(cnt, sizeof(*ret->items));
	if (!ret->copy || !ret->items) {
		sorted_done(ret);
		return -ENOMEM;
	}
	memcpy(ret->copy, rows, cnt * sh->row_size);
	copy_name_links(ret->copy, cnt, sh, p, before);
	for (size_t i = 0; i < cnt; i++) {
		struct item *last = ret->cnt ? &ret->items[ret->cnt - 1] : NULL;

		if (t == PLAN_ROUTE && last && last->idx + last->cnt == i &&
		    is_same_route(&p->routes[i - 1], &p->routes[i])) {
			last->cnt++;
			last->len += sh->row_size;
			continue;
		}
		ret->items[ret->cnt++] = (struct item){ .octets = ret->copy + i * sh->row_size,
							.len = sh->row_size,
							.idx = (uint32_t)i,
							.cnt = 1 };
	}
	heap_sort(ret->items, ret->cnt);
	return 0;
}

static int change_add(struct plan_diff *d, enum plan_table t, enum plan_op op, uint32_t idx,
		      uint32_t cnt)
{
	if ((d->cnt & (d->cnt - 1)) == 0) { /* as the rows of a plan */
		void *grown = reallocarray(d->rows, d->cnt ? d->cnt * 2 : 1, sizeof(*d->rows));

		if (!grown)
			return -ENOMEM;
		d->rows = grown;
	}
	d->rows[d->cnt++] = (struct plan_change){
		.table = (uint8_t)t, .op = (uint8_t)op, .idx = idx, .cnt = cnt
	};
	return 0;
}

/* Newer IPv6 addresses stand in front in the kernel, so the last of the plan is the first that came. */
static bool is_told_backwards(const struct plan *p, enum plan_table t, enum plan_op op, size_t i)
{
	return t == PLAN_ADDR && op == PLAN_ADD && p->addrs[i].local.family == AF_INET6;
}

/* In the plan's order, which is the kernel's and decides between equals; @cnts: rows of the item that begins there. */
static int changes_add(const struct plan *p, enum plan_table t, enum plan_op op,
		       const uint32_t *cnts, size_t row_cnt, struct plan_diff *d)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < row_cnt; i++)
		if (cnts[i] && !is_told_backwards(p, t, op, i))
			r = change_add(d, t, op, (uint32_t)i, cnts[i]);
	for (size_t i = row_cnt; r == 0 && i-- > 0;)
		if (cnts[i] && is_told_backwards(p, t, op, i))
			r = change_add(d, t, op, (uint32_t)i, cnts[i]);
	return r;
}

/* What only one of the two has, of the plan @p; @op says which one and what follows from it. */
static int only_one_has(const struct sorted *old, const struct sorted *new, const struct plan *p,
			enum plan_table t, enum plan_op op, struct plan_diff *d)
{
	size_t o = 0, n = 0, row_cnt;
	uint32_t *cnts;
	int r;

	(void)rows_of(p, t, &row_cnt);
	cnts = calloc(row_cnt + 1, sizeof(*cnts));
	if (!cnts)
		return -ENOMEM;
	while (o < old->cnt || n < new->cnt) {
		int cmp = o == old->cnt   ? 1
			  : n == new->cnt ? -1
					  : item_cmp(&old->items[o], &new->items[n]);
		const struct item *one = cmp < 0 ? &old->items[o] : &new->items[n];

		if (cmp != 0 && (cmp < 0) == (op == PLAN_DEL))
			cnts[one->idx] = one->cnt;
		o += cmp <= 0;
		n += cmp >= 0;
	}
	r = changes_add(p, t, op, cnts, row_cnt, d);
	free(cnts);
	return r;
}

/* ---- links: by ifindex ---- */

static bool link_differs(const struct plan_link *a, const struct plan_link *b)
{
	return strcmp(a->name, b->name) != 0 || a->mtu != b->mtu ||
	       memcmp(a->mac, b->mac, sizeof(a->mac)) != 0 ||
	       (a->flags & LINK_FLAGS) != (b->flags & LINK_FLAGS) ||
	       a->gso_max_size != b->gso_max_size || a->gso_ipv4_max_size != b->gso_ipv4_max_size ||
	       a->gso_max_segs != b->gso_max_segs || a->rp_filter != b->rp_filter ||
	       a->group != b->group;
}

static int links_gone(const struct plan *old, const struct plan *new, struct plan_diff *d)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < old->link_cnt; i++) {
		uint32_t k = plan_find_ifindex(new, old->links[i].ifindex);

		if (k == PLAN_NO_LINK || link_is_other(&old->links[i], &new->links[k]))
			r = change_add(d, PLAN_LINK, PLAN_DEL, i, 1);
	}
	return r;
}

static int links_come(const struct plan *old, const struct plan *new, struct plan_diff *d)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < new->link_cnt; i++) {
		uint32_t k = plan_find_ifindex(old, new->links[i].ifindex);

		if (k == PLAN_NO_LINK || link_is_other(&old->links[k], &new->links[i]))
			r = change_add(d, PLAN_LINK, PLAN_ADD, i, 1);
		else if (link_differs(&old->links[k], &new->links[i]))
			r = change_add(d, PLAN_LINK, PLAN_SET, i, 1);
	}
	return r;
}

/* ---- addresses: one that is there with other values keeps its routes ---- */

static bool addr_is_same(const struct plan *old, const struct plan_addr *a, const struct plan *new,
			 const struct plan_addr *b)
{
	return memcmp(&a->local, &b->local, sizeof(a->local)) == 0 &&
	       a->prefix_len == b->prefix_len &&
	       old->links[a->link_idx].ifindex == new->links[b->link_idx].ifindex &&
	       !link_is_other(&old->links[a->link_idx], &new->links[b->link_idx]);
}

/* The changes of one table and operation, which follow each other. */
static struct plan_change *run_of(struct plan_diff *d, enum plan_table t, enum plan_op op,
				  size_t *ret_cnt)
{
	struct plan_change *first = NULL;

	*ret_cnt = 0;
	for (size_t i = 0; i < d->cnt; i++) {
		if (d->rows[i].table != t || d->rows[i].op != op)
			continue;
		first = first ? first : &d->rows[i];
		(*ret_cnt)++;
	}
	return first;
}

static void addrs_pair(const struct plan *old, const struct plan *new, struct plan_diff *d)
{
	size_t del_cnt, add_cnt, kept = 0;
	struct plan_change *del = run_of(d, PLAN_ADDR, PLAN_DEL, &del_cnt);
	struct plan_change *add = run_of(d, PLAN_ADDR, PLAN_ADD, &add_cnt);

	for (size_t i = 0; i < add_cnt; i++) {
		for (size_t k = 0; k < del_cnt; k++) {
			if (del[k].cnt == 0 || !addr_is_same(old, &old->addrs[del[k].idx], new,
							     &new->addrs[add[i].idx]))
				continue;
			add[i].op = PLAN_SET;
			del[k].cnt = 0;
			break;
		}
	}
	for (size_t i = 0; i < d->cnt; i++)
		if (d->rows[i].cnt)
			d->rows[kept++] = d->rows[i];
	d->cnt = kept;
}

/* ---- the whole ---- */

int plan_diff(const struct plan *old, const struct plan *new, struct plan_diff *ret)
{
	/* routes last to go and first to come: one that an address brings, too, has the kernel's place */
	static const enum plan_table down[] = { PLAN_RULE, PLAN_ADDR, PLAN_NEIGH, PLAN_ROUTE };
	struct sorted was[PLAN_TABLE_COUNT] = { 0 }, is[PLAN_TABLE_COUNT] = { 0 };
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t t = PLAN_ADDR; r == 0 && t < PLAN_TABLE_COUNT; t++) {
		r = sorted_make(old, (enum plan_table)t, NULL, &was[t]);
		if (r == 0)
			r = sorted_make(new, (enum plan_table)t, old, &is[t]);
	}
	for (size_t i = 0; r == 0 && i < 4; i++)
		r = only_one_has(&was[down[i]], &is[down[i]], old, down[i], PLAN_DEL, ret);
	if (r == 0)
		r = links_gone(old, new, ret);
	if (r == 0)
		r = links_come(old, new, ret);
	for (size_t i = 4; r == 0 && i > 0; i--)
		r = only_one_has(&was[down[i - 1]], &is[down[i - 1]], new, down[i - 1], PLAN_ADD,
				 ret);
	for (size_t t = 0; t < PLAN_TABLE_COUNT; t++) {
		sorted_done(&was[t]);
		sorted_done(&is[t]);
	}
	if (r < 0) {
		plan_diff_done(ret);
		return r;
	}
	addrs_pair(old, new, ret);
	return 0;
}

void plan_diff_done(struct plan_diff *d)
{
	free(d->rows);
	memset(d, 0, sizeof(*d));
}
