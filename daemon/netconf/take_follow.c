/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take_follow - what is changed in a namespace that is taken: the stack, the journal and the links follow
 *
 * Theory of operation: the container's namespace goes on being the place where its network is configured:
 * by the operator, a CNI plugin, the runtime. What it says of addresses, routes, rules and neighbours is
 * the plan, as at the start; the decoys are there to hold it. So the whole is read again and compared; no
 * announcement is trusted to be complete or in order, they only say when to look.
 *
 * A decoy is no link: what it says of itself (MTU, MAC, GSO limits, up) counts where it differs from how it
 * looked before, and is done to the link it stands for. A link nobody knows has come and is taken as at the
 * start; a decoy that is gone takes its link with it, as a veth would go, and a link that the host removed its decoy.
 *
 * A link comes first and is configured then, by several programs one after the other. It is taken when two looks
 * in a row saw the same (is_settled()), though not later than after SETTLING_LOOKS, and what is set on it between
 * the last look and the decoy is set again (take_missed.c).
 *
 * Then the snapshot is the new one, but for the links' own rows: what is given back at the end is what was
 * there last.
 *
 * Invariants: the journal knows a link before it is touched. Rows of links are in the order of the namespace's
 * dump; everything that is kept by row moves with them (rows_move()).
 *
 * Limits: with stripped links (--take=strip) only the links themselves are followed: the namespace does not
 * hold their addresses any more. An address that is set there afterwards is the kernel's.
 *
 * Syscalls: #syscalls monitor: close
 */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/common/plan_diff.h"
#include "daemon/netconf/reconf.h"
#include "daemon/netconf/rtlink.h"
#include "daemon/netconf/take_int.h"

/* What an operator sets on a link and the stack is told. */
#define LINK_FLAGS (IFF_UP | IFF_NOARP)
#define NO_ROW     SIZE_MAX
/* Looks at a link that came, at most: a namespace that never rests must not keep it from the stack. */
#define SETTLING_LOOKS 4

/* Everything that is kept by row. */
struct rows {
	struct plan_link link[PLAN_LINKS_MAX];
	uint32_t kept_ifindex[PLAN_LINKS_MAX], now_ifindex[PLAN_LINKS_MAX];
	struct linkopen_fds link_fds[PLAN_LINKS_MAX];
	bool is_wanted[PLAN_LINKS_MAX];
	uint8_t how[PLAN_LINKS_MAX], has_ingress[PLAN_LINKS_MAX];
	struct plan_link seen[PLAN_LINKS_MAX];
	size_t cnt;
};

static void rows_save(struct takeover *t, struct rows *ret)
{
	ret->cnt = take_link_cnt(t);
	memset(ret->link, 0, sizeof(ret->link));
	memcpy(ret->link, t->rec.snap.plan.links, ret->cnt * sizeof(ret->link[0]));
	memcpy(ret->kept_ifindex, t->kept_ifindex, sizeof(ret->kept_ifindex));
	memcpy(ret->now_ifindex, t->now_ifindex, sizeof(ret->now_ifindex));
	memcpy(ret->link_fds, t->link_fds, sizeof(ret->link_fds));
	memcpy(ret->is_wanted, t->is_wanted, sizeof(ret->is_wanted));
	memcpy(ret->how, t->rec.how, sizeof(ret->how));
	memcpy(ret->has_ingress, t->rec.has_ingress, sizeof(ret->has_ingress));
	memcpy(ret->seen, t->seen, sizeof(ret->seen));
}

static void row_move(struct takeover *t, size_t to, struct rows *was, size_t from)
{
	t->kept_ifindex[to] = was->kept_ifindex[from];
	t->now_ifindex[to] = was->now_ifindex[from];
	t->link_fds[to] = was->link_fds[from];
	t->is_wanted[to] = was->is_wanted[from];
	t->rec.how[to] = was->how[from];
	t->rec.has_ingress[to] = was->has_ingress[from];
	t->seen[to] = was->seen[from];
	was->link_fds[from] = (struct linkopen_fds)LINKOPEN_NO_FDS;
}

static void row_clear(struct takeover *t, size_t to)
{
	t->kept_ifindex[to] = t->now_ifindex[to] = 0;
	t->link_fds[to] = (struct linkopen_fds)LINKOPEN_NO_FDS;
	t->is_wanted[to] = false;
	t->rec.how[to] = TAKE_LEAVE;
	t->rec.has_ingress[to] = 0;
	memset(&t->seen[to], 0, sizeof(t->seen[to]));
}

static size_t row_find(const struct rows *was, uint32_t now_ifindex)
{
	for (size_t i = 0; i < was->cnt; i++)
		if (was->now_ifindex[i] == now_ifindex)
			return i;
	return NO_ROW;
}

/* ---- a link that is there, with other values ---- */

/* Sets one attribute of the link a decoy stands for. */
static int real_set(struct takeover *t, size_t i, int type, const void *val, int len)
{
	struct nl_msg *msg = rtlink_request(t->kept_ifindex[i], 0, 0);

	if (!msg || nla_put(msg, type, len, val) < 0) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return nlraw_send(&t->keep, msg);
}

/* Kernels before 6.2 rename a link only when it is down. */
static int real_rename(struct takeover *t, size_t i, const char *name, bool is_up)
{
	int len = (int)strlen(name) + 1;
	int r = real_set(t, i, IFLA_IFNAME, name, len);

	if (r == -EBUSY) {
		(void)nlraw_send(&t->keep, rtlink_request(t->kept_ifindex[i], 0, IFF_UP));
		r = real_set(t, i, IFLA_IFNAME, name, len);
		if (is_up)
			(void)nlraw_send(&t->keep,
					 rtlink_request(t->kept_ifindex[i], IFF_UP, IFF_UP));
	}
	return r;
}

/* What is new about the decoy @now, done to its link; @l is the link's row. */
static void decoy_follow(struct takeover *t, size_t i, struct plan_link *l,
			 const struct plan_link *now)
{
	const struct plan_link *seen = &t->seen[i];
	bool is_moved = t->rec.how[i] == TAKE_MOVE && t->kept_ifindex[i];
	int r = 0;

	if (strcmp(l->name, now->name) != 0) {
		r = is_moved ? real_rename(t, i, now->name, l->flags & IFF_UP) : 0;
		if (r < 0)
			log_warn(r, "cannot call link %s %s", l->name, now->name);
		else
			log_notice("link %s is called %s", l->name, now->name);
		if (r == 0)
			memcpy(l->name, now->name, sizeof(l->name));
	}
	if (now->mtu != seen->mtu) {
		r = is_moved ? real_set(t, i, IFLA_MTU, &now->mtu, sizeof(now->mtu)) : 0;
		if (r < 0)
			log_warn(r, "cannot set the MTU of link %s to %u", l->name, now->mtu);
		else
			l->mtu = now->mtu;
	}
	if (memcmp(now->mac, seen->mac, sizeof(now->mac)) != 0) {
		r = is_moved ? real_set(t, i, IFLA_ADDRESS, now->mac, sizeof(now->mac)) : 0;
		if (r < 0)
			log_warn(r, "cannot set the MAC of link %s", l->name);
		else
			memcpy(l->mac, now->mac, sizeof(l->mac));
	}
	if (now->gso_max_size != seen->gso_max_size)
		l->gso_max_size = now->gso_max_size;
	if (now->gso_ipv4_max_size != seen->gso_ipv4_max_size)
		l->gso_ipv4_max_size = now->gso_ipv4_max_size;
	if (now->gso_max_segs != seen->gso_max_segs)
		l->gso_max_segs = now->gso_max_segs;
	if (now->rp_filter != seen->rp_filter)
		l->rp_filter = now->rp_filter;
	if (now->group != seen->group) {
		r = is_moved ? real_set(t, i, IFLA_GROUP, &now->group, sizeof(now->group)) : 0;
		if (r < 0)
			log_warn(r, "cannot set the group of link %s", l->name);
		else
			l->group = now->group;
	}
	if (is_moved && l->driver == PLAN_DRIVER_PACKET && ((now->flags ^ seen->flags) & IFF_UP))
		(void)nlraw_send(&t->keep,
				 rtlink_request(t->kept_ifindex[i], now->flags & IFF_UP, IFF_UP));
}

/* Up is a link whose decoy and which itself are; @l is what is known of the one in row @i. */
static uint32_t flags_of(const struct takeover *t, size_t i, const struct plan_link *l,
			 const struct plan_link *now, const struct plan *kept)
{
	uint32_t flags = (l->flags & ~(uint32_t)LINK_FLAGS) | (now->flags & LINK_FLAGS);
	uint32_t k = t->rec.how[i] == TAKE_MOVE ? plan_find_ifindex(kept, t->kept_ifindex[i])
						: PLAN_NO_LINK;

	if (t->rec.how[i] != TAKE_MOVE || l->driver != PLAN_DRIVER_PACKET)
		return flags;
	if (k == PLAN_NO_LINK || !(kept->links[k].flags & IFF_UP))
		flags &= ~(uint32_t)IFF_UP;
	return flags;
}

/* ---- the new snapshot ---- */

/* Messages about links of @now that the snapshot has not yet. */
static int raw_links_add(struct snapshot *s, const struct snapshot *now, uint32_t ifindex)
{
	nlset_for_each(nlh, &now->raw[RAW_LINKS])
	{
		const struct ifinfomsg *ifi = nlmsg_data(nlh);

		if ((uint32_t)ifi->ifi_index == ifindex)
			return nlset_append(&s->raw[RAW_LINKS], nlh);
	}
	return -ENODEV;
}

static const struct sysctl_value *sysctl_find(const struct sysctl_value *v, size_t cnt,
					      const char *path)
{
	for (size_t i = 0; i < cnt; i++)
		if (strcmp(v[i].path, path) == 0)
			return &v[i];
	return NULL;
}

/* Files that changed since the last look, or that came with a link. Return: whether there were any */
static bool sysctls_follow(struct takeover *t, struct snapshot *now)
{
	bool is_new = false;

	for (size_t i = 0; t->has_looked && i < now->sysctl_cnt; i++) {
		const struct sysctl_value *v = &now->sysctls[i];
		const struct sysctl_value *was =
			sysctl_find(t->seen_sysctls, t->seen_sysctl_cnt, v->path);
		struct sysctl_value *row;

		if (was && strcmp(was->value, v->value) == 0)
			continue;
		row = (struct sysctl_value *)(uintptr_t)sysctl_find(
			t->rec.snap.sysctls, t->rec.snap.sysctl_cnt, v->path);
		if (!row)
			row = snapshot_add_sysctl(&t->rec.snap);
		if (row)
			*row = *v;
		is_new = true;
	}
	free(t->seen_sysctls);
	t->seen_sysctls = now->sysctls;
	t->seen_sysctl_cnt = now->sysctl_cnt;
	now->sysctls = NULL;
	now->sysctl_cnt = 0;
	return is_new;
}

/* Everything of @now but the links' rows, which are in @now->plan already. */
static void snapshot_adopt(struct snapshot *s, struct snapshot *now)
{
	for (int k = RAW_ADDRS; k < RAW_TABLE_COUNT; k++) {
		struct nlset old = s->raw[k];

		s->raw[k] = now->raw[k];
		now->raw[k] = old;
	}
	plan_done(&s->plan);
	s->plan = now->plan;
	plan_init(&now->plan);
}

/* ---- the whole ---- */

static bool has_stripped(const struct takeover *t)
{
	for (size_t i = 0; i < t->rec.snap.plan.link_cnt; i++)
		if (t->is_wanted[i] && t->rec.how[i] == TAKE_STRIP)
			return true;
	return false;
}

/* With stripped links: the old tables, about the links that are still there. */
static void tables_keep(struct takeover *t, struct snapshot *now)
{
	struct plan *p = &now->plan;
	const struct plan *old = &t->rec.snap.plan;
	uint32_t map[PLAN_LINKS_MAX];

	for (size_t i = 0; i < old->link_cnt; i++)
		map[i] = plan_find_ifindex(p, t->now_ifindex[i]);
	p->addr_cnt = p->route_cnt = p->neigh_cnt = 0;
	free(p->addrs);
	free(p->routes);
	free(p->neighs);
	p->addrs = NULL;
	p->routes = NULL;
	p->neighs = NULL;
	for (size_t i = 0; i < old->addr_cnt; i++) {
		struct plan_addr *a =
			map[old->addrs[i].link_idx] != PLAN_NO_LINK ? plan_add_addr(p) : NULL;

		if (a) {
			*a = old->addrs[i];
			a->link_idx = map[a->link_idx];
		}
	}
	for (size_t i = 0; i < old->route_cnt; i++) {
		uint32_t idx = old->routes[i].link_idx;
		struct plan_route *r =
			idx == PLAN_NO_LINK || map[idx] != PLAN_NO_LINK ? plan_add_route(p) : NULL;

		if (r) {
			*r = old->routes[i];
			r->link_idx = idx == PLAN_NO_LINK ? idx : map[idx];
		}
	}
	for (size_t i = 0; i < old->neigh_cnt; i++) {
		struct plan_neigh *n =
			map[old->neighs[i].link_idx] != PLAN_NO_LINK ? plan_add_neigh(p) : NULL;

		if (n) {
			*n = old->neighs[i];
			n->link_idx = map[n->link_idx];
		}
	}
	for (int k = RAW_ADDRS; k < RAW_TABLE_COUNT; k++) {
		struct nlset mine = now->raw[k];

		now->raw[k] = t->rec.snap.raw[k]; /* and back by snapshot_adopt() */
		t->rec.snap.raw[k] = mine;
	}
}

/* A decoy that is gone: its link goes, too, unless it is a device of its own, which the kernel keeps. */
static void link_gone(struct takeover *t, struct rows *was, size_t i)
{
	linkopen_close(&was->link_fds[i]);
	if (!was->is_wanted[i])
		return;
	log_notice("link %s was removed from the container", was->link[i].name);
	if (was->how[i] == TAKE_MOVE && was->kept_ifindex[i] && was->link[i].kind[0])
		(void)rtlink_delete(&t->keep, was->kept_ifindex[i]);
}

/* A link whose host's end was removed is gone, and so goes its decoy, which the next look will miss. */
static void link_lost(struct takeover *t, size_t i, const struct plan_link *l)
{
	log_notice("link %s was removed by the host", l->name);
	t->kept_ifindex[i] = 0;
	if (rtlink_delete(&t->ctr, l->ifindex) < 0)
		log_warnx("the decoy of link %s stays", l->name);
}

/* The links of @now get the rows they had. Return: how many are new */
static size_t rows_match(struct takeover *t, struct rows *was, struct snapshot *now,
			 const struct plan *kept)
{
	bool is_there[PLAN_LINKS_MAX] = { false };
	size_t new_cnt = 0;

	for (size_t j = 0; j < now->plan.link_cnt; j++) {
		struct plan_link seen = now->plan.links[j], *l = &now->plan.links[j];
		size_t i = row_find(was, seen.ifindex);

		if (i == NO_ROW) {
			row_clear(t, j);
			new_cnt++;
			continue;
		}
		is_there[i] = true;
		row_move(t, j, was, i);
		*l = was->link[i];
		l->ifindex = seen.ifindex;
		if (t->rec.how[j] == TAKE_LEAVE)
			*l = seen;
		else if (t->seen[j].ifindex)
			decoy_follow(t, j, l, &seen);
		l->flags = flags_of(t, j, l, &seen, kept);
		t->seen[j] = seen;
		if (t->rec.how[j] == TAKE_MOVE && t->kept_ifindex[j] &&
		    plan_find_ifindex(kept, t->kept_ifindex[j]) == PLAN_NO_LINK)
			link_lost(t, j, l);
	}
	for (size_t i = 0; i < was->cnt; i++)
		if (!is_there[i])
			link_gone(t, was, i);
	for (size_t j = now->plan.link_cnt; j < PLAN_LINKS_MAX; j++)
		row_clear(t, j);
	return new_cnt;
}

static void flags_say(const struct plan *before, const struct plan *after)
{
	for (size_t i = 0; i < after->link_cnt; i++) {
		uint32_t k = plan_find_ifindex(before, after->links[i].ifindex);

		if (k != PLAN_NO_LINK &&
		    ((before->links[k].flags ^ after->links[i].flags) & IFF_UP))
			log_notice("link %s is %s", after->links[i].name,
				   after->links[i].flags & IFF_UP ? "up" : "down");
	}
}

/* Links that came. */
static int links_take(struct takeover *t, const struct snapshot *now, struct take_missed *missed)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < take_link_cnt(t); i++) {
		struct plan_link *l = take_link_at(t, i);

		if (t->now_ifindex[i])
			continue;
		r = raw_links_add(&t->rec.snap, now, l->ifindex);
		if (r < 0)
			return r;
		take_choose_link(t, i);
	}
	if (r == 0)
		r = journal_update(t->journal, &t->rec);
	for (size_t i = 0; r == 0 && i < take_link_cnt(t); i++) {
		if (!t->is_wanted[i] || t->seen[i].ifindex ||
		    (t->rec.how[i] == TAKE_MOVE && t->kept_ifindex[i]))
			continue;
		if (take_link(t, i) == 0) {
			log_notice("link %s came and is taken", take_link_at(t, i)->name);
			if (t->rec.how[i] == TAKE_MOVE)
				take_missed_replay(t, missed, i);
			continue;
		}
		take_back_link(t, i);
	}
	return r;
}

static int look(struct takeover *t, struct snapshot *now, struct plan *kept)
{
	int r = scrape(t->ctr_fd, now);

	plan_init(kept);
	if (r == 0 && t->keep_fd >= 0)
		r = scrape_links(&t->keep, kept);
	if (r < 0)
		snapshot_done(now);
	return r;
}

/* The decoys as they were made: what they are from now on is somebody's wish. */
static void first_look(struct takeover *t, struct snapshot *now)
{
	for (size_t i = 0; i < take_link_cnt(t); i++) {
		uint32_t k = plan_find_ifindex(&now->plan, t->now_ifindex[i]);

		if (k != PLAN_NO_LINK)
			t->seen[i] = now->plan.links[k];
	}
	(void)sysctls_follow(t, now);
	t->has_looked = true;
}

static bool has_newcomer(const struct takeover *t, const struct plan *now)
{
	for (size_t j = 0; j < now->link_cnt; j++) {
		size_t i = 0;

		while (i < take_link_cnt(t) && t->now_ifindex[i] != now->links[j].ifindex)
			i++;
		if (i == take_link_cnt(t))
			return true;
	}
	return false;
}

/* Whether what is new may be taken; if not, @now is what the next look is compared with, and empty. */
static bool is_settled(struct takeover *t, struct plan *now)
{
	struct plan_diff d = { 0 };
	bool is_same = false;

	if (has_newcomer(t, now) && t->settling_looks < SETTLING_LOOKS) {
		is_same = t->settling_looks > 0 && plan_diff(&t->settling, now, &d) == 0 &&
			  d.cnt == 0;
		plan_diff_done(&d);
		plan_done(&t->settling);
		plan_init(&t->settling);
		if (!is_same) {
			t->settling = *now;
			plan_init(now);
			t->settling_looks++;
			return false;
		}
	}
	t->settling_looks = 0;
	return true;
}

/** struct follow - what one look at the container's network needs; follow_done() */
struct follow {
	struct rows *was;
	struct snapshot now;
	struct plan kept;
	struct take_missed missed;
};

static void follow_done(struct follow *f)
{
	take_missed_close(&f->missed);
	plan_done(&f->kept);
	snapshot_done(&f->now);
	free(f->was);
}

/* What differs is the truth from now on. As takeover_follow(). */
static int follow(struct takeover *t, struct follow *f, bool *ret_is_new)
{
	struct plan_diff d = { 0 };
	size_t new_cnt;
	int r;

	f->now.plan.options = t->rec.snap.plan.options;
	if (has_stripped(t))
		tables_keep(t, &f->now);
	rows_save(t, f->was);
	new_cnt = rows_match(t, f->was, &f->now, &f->kept);
	*ret_is_new = sysctls_follow(t, &f->now);
	r = plan_diff(&t->rec.snap.plan, &f->now.plan, &d);
	if (r == 0 && (d.cnt || new_cnt)) {
		flags_say(&t->rec.snap.plan, &f->now.plan);
		log_info("the container's network changed in %zu places", d.cnt);
		*ret_is_new = true;
	}
	/* Rows of links may be others even so, and what is kept by row has moved. */
	snapshot_adopt(&t->rec.snap, &f->now);
	if (r == 0 && *ret_is_new)
		r = new_cnt ? links_take(t, &f->now, &f->missed)
			    : journal_update(t->journal, &t->rec);
	plan_diff_done(&d);
	return r;
}

int takeover_follow(struct takeover *t, bool *ret_is_new)
{
	struct follow f = { .was = calloc(1, sizeof(*f.was)) };
	int r;

	*ret_is_new = false;
	if (!f.was)
		return log_err(-ENOMEM, "cannot follow the container's network");
	if (t->settling_looks) /* this look may be the last before a link is taken */
		take_missed_open(t, &f.missed);
	r = look(t, &f.now, &f.kept);
	if (r == 0 && !t->has_looked)
		first_look(t, &f.now);
	else if (r == 0)
		r = is_settled(t, &f.now.plan) ? follow(t, &f, ret_is_new) : 1;
	follow_done(&f);
	return r;
}

bool takeover_gso_differs(struct takeover *t)
{
	struct plan links;
	bool differs = false;

	if (!t->has_looked || scrape_links(&t->ctr, &links) < 0)
		return false;
	for (size_t i = 0; i < take_link_cnt(t); i++) {
		uint32_t k = plan_find_ifindex(&links, t->now_ifindex[i]);
		const struct plan_link *l = k == PLAN_NO_LINK ? &t->seen[i] : &links.links[k];

		differs |= l->gso_max_size != t->seen[i].gso_max_size ||
			   l->gso_ipv4_max_size != t->seen[i].gso_ipv4_max_size ||
			   l->gso_max_segs != t->seen[i].gso_max_segs;
	}
	plan_done(&links);
	return differs;
}
