/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_link.c - the links of the plan in the stack, frames between drivers and the stack
 *
 * Theory of operation: a link has a slot with its driver and its events for as long as it is carried. The
 * loop says when its descriptor is readable or writable again; frames go from there into the stack and,
 * at the end of a turn, back.
 *
 * Requests to connect come by a queue of their own (linkopen.h) and are read last in a turn. While other
 * frames come, they are taken at SYN_RATE, so that a flood costs the connections that are there a bounded part
 * of the worker's time; what does not fit into the queue the kernel drops before it costs a copy, and who
 * meant it asks again in a second. Without other frames there is no such limit. A TAP device has one queue:
 * there a flood stands in everybody's way.
 *
 * Limits: PLAN_LINKS_MAX links; RX_BUDGET frames of one in one turn.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/worker/worker_int.h"

/* Frames of one link in one turn, so that no link starves the others or the programs. */
#define RX_BUDGET 128u
/* Requests to connect of all links: in one turn, and in a second while other frames come. */
#define SYN_BUDGET 64u
#define SYN_RATE   UINT64_C(30000)
#define SYN_NS     (NS_PER_SEC / SYN_RATE)
/* Without a frame for so long there are no others. */
#define SYN_ALONE_NS (5 * NS_PER_MS)
/* When the stack holds all its frames: look again after this. */
#define RETRY_US 1000

/* ---- events ---- */

/** rx_failed() - a queue stays readable, or has an error that comes again: neither may spin the loop */
static void rx_failed(struct wlink *l, struct event *ev, int r)
{
	const struct timeval tv = { 0, RETRY_US };

	if (r != -ENOBUFS && r != -ENETDOWN)
		log_warn(r, "cannot receive from link %s", l->name);
	event_del(ev);
	evtimer_add(&l->retry, &tv);
}

static void on_link_readable(evutil_socket_t fd, short what, void *arg)
{
	struct wlink *l = arg;
	int r;

	(void)fd;
	(void)what;
	worker_begin_turn(l->worker);
	r = l->kind->rx(&l->drv, l->worker->now, RX_BUDGET);
	if (r > 0)
		l->worker->rx_at = l->worker->now;
	if (r < 0)
		rx_failed(l, &l->rd, r);
}

static void on_link_retry(evutil_socket_t fd, short what, void *arg)
{
	struct wlink *l = arg;

	(void)fd;
	(void)what;
	event_add(&l->rd, NULL);
	if (l->drv.syn_fd >= 0)
		event_add(&l->syns, NULL);
}

static void on_link_syns(evutil_socket_t fd, short what, void *arg)
{
	struct wlink *l = arg;

	(void)fd;
	(void)what;
	worker_begin_turn(l->worker);
	l->has_syns = true;
}

/** syn_budget() - how many requests this turn takes; 0: look again after RETRY_US */
static uint32_t syn_budget(struct worker *w)
{
	uint64_t cnt = mono_since(w->now, w->syn_at) / SYN_NS;

	if (cnt >= SYN_BUDGET || mono_since(w->now, w->rx_at) >= SYN_ALONE_NS) {
		w->syn_at = w->now;
		return SYN_BUDGET;
	}
	w->syn_at = mono_add(w->syn_at, cnt * SYN_NS);
	return (uint32_t)cnt;
}

void worker_links_syns(struct worker *w)
{
	const struct timeval tv = { 0, RETRY_US };
	uint32_t budget = 0;
	bool has_asked = false;

	for (uint32_t i = 0; i < w->link_cnt; i++) {
		struct wlink *l = &w->links[i];
		int n;

		if (!l->is_used || !l->has_syns)
			continue;
		l->has_syns = false;
		if (!has_asked)
			budget = syn_budget(w);
		has_asked = true;
		n = l->kind->rx_syns(&l->drv, w->now, budget);
		if (n < 0) {
			rx_failed(l, &l->syns, n);
			continue;
		}
		budget -= (uint32_t)n;
		/* the queue stays readable, and the loop must not spin on it until it is due */
		if (budget == 0 && mono_since(w->now, w->rx_at) < SYN_ALONE_NS) {
			event_del(&l->syns);
			evtimer_add(&l->retry, &tv);
		}
	}
}

static void on_link_writable(evutil_socket_t fd, short what, void *arg)
{
	struct wlink *l = arg;

	(void)fd;
	(void)what;
	l->is_wr_added = false;
	worker_begin_turn(l->worker);
	ns_link_writable(l->worker->stack, l->drv.link_id);
}

static void on_link_blocked(void *ctx)
{
	struct wlink *l = ctx;

	if (!l->is_wr_added && event_add(&l->wr, NULL) == 0)
		l->is_wr_added = true;
}

/* ---- the plan ---- */

static enum ns_gso_mode gso_mode(const struct plan_link *pl)
{
	switch ((enum plan_gso)pl->gso) {
	case PLAN_GSO_HW:
		return pl->vnet_hdr_len ? NS_GSO_HW : NS_GSO_SW;
	case PLAN_GSO_SW:
		return NS_GSO_SW;
	case PLAN_GSO_NONE:
	case PLAN_GSO_COUNT:
		break;
	}
	return NS_GSO_NONE;
}

/** link_add() - one carried link; takes @fd */
static struct ns_link_config link_config(const struct plan_link *pl)
{
	struct ns_link_config c = { .ifindex = pl->ifindex,
				    .mtu = pl->mtu,
				    .group = pl->group,
				    .is_up = pl->flags & IFF_UP,
				    .is_noarp = pl->flags & IFF_NOARP,
				    .is_multicast = pl->flags & IFF_MULTICAST,
				    .rp_filter = pl->rp_filter,
				    .gso = gso_mode(pl),
				    .has_uso = pl->has_uso,
				    .is_sw_gso_off = !pl->has_software_gso,
				    .gso_max_size = pl->gso_ipv4_max_size,
				    .gso_max_segs = pl->gso_max_segs };

	memcpy(c.name, pl->name, sizeof(c.name));
	memcpy(c.mac, pl->mac, sizeof(c.mac));
	return c;
}

struct wlink *worker_link_find(struct worker *w, uint32_t ifindex)
{
	for (uint32_t i = 0; i < w->link_cnt; i++)
		if (w->links[i].is_used && w->links[i].ifindex == ifindex)
			return &w->links[i];
	return NULL;
}

/* Links keep their place: the stack has pointers to their drivers. */
static struct wlink *link_slot(struct worker *w)
{
	for (uint32_t i = 0; i < w->link_cnt; i++)
		if (!w->links[i].is_used)
			return &w->links[i];
	return w->link_cnt < PLAN_LINKS_MAX ? &w->links[w->link_cnt++] : NULL;
}

static void link_close(struct wlink *l)
{
	if (event_initialized(&l->rd)) {
		event_del(&l->rd);
		event_del(&l->wr);
		event_del(&l->syns);
		event_del(&l->retry);
	}
	drv_done(&l->drv);
	l->is_used = false;
}

int worker_link_add(struct worker *w, const struct plan_link *pl, const int *fds)
{
	struct ns_link_config c = link_config(pl);
	struct wlink *l = link_slot(w);
	int r;

	if (!l) {
		for (uint32_t i = 0; i < plan_link_fd_cnt(pl); i++)
			close(fds[i]);
		return log_err(-ENOSPC, "cannot add link %s to the stack", pl->name);
	}
	memset(l, 0, sizeof(*l));
	l->worker = w;
	l->is_used = true;
	l->ifindex = pl->ifindex;
	l->kind = pl->driver == PLAN_DRIVER_TAP ? &drv_tap : &drv_packet;
	l->drv = (struct drv){ .fd = fds[0],
			       .syn_fd = l->kind->rx_syns ? fds[1] : -1,
			       .vnet_len = pl->vnet_hdr_len,
			       .stack = w->stack,
			       .on_blocked = on_link_blocked,
			       .ctx = l };
	memcpy(l->name, pl->name, sizeof(l->name));
	l->mode = c.gso;
	c.ops = &l->kind->ops;
	c.drv = &l->drv;
	worker_observe_link(l);
	r = ns_stack_add_link(w->stack, &c, &l->drv.link_id);
	if (r < 0) {
		link_close(l);
		return log_err(r, "cannot add link %s to the stack", pl->name);
	}
	event_assign(&l->rd, w->base, fds[0], EV_READ | EV_PERSIST, on_link_readable, l);
	event_assign(&l->wr, w->base, fds[0], EV_WRITE, on_link_writable, l);
	event_assign(&l->syns, w->base, l->drv.syn_fd, EV_READ | EV_PERSIST, on_link_syns, l);
	evtimer_assign(&l->retry, w->base, on_link_retry, l);
	if (l->drv.syn_fd >= 0 && event_add(&l->syns, NULL) < 0)
		return log_err(-ENOMEM, "cannot watch link %s", pl->name);
	return event_add(&l->rd, NULL) < 0 ? log_err(-ENOMEM, "cannot watch link %s", pl->name) : 0;
}

int worker_link_set(struct worker *w, const struct plan_link *pl)
{
	struct wlink *l = worker_link_find(w, pl->ifindex);
	struct ns_link_config c;
	int r;

	if (!l)
		return -ENODEV;
	c = link_config(pl);
	c.ops = &l->kind->ops;
	c.drv = &l->drv;
	r = ns_stack_set_link(w->stack, l->drv.link_id, &c);
	if (r == 0) {
		memcpy(l->name, pl->name, sizeof(l->name));
		r = ns_stack_set_link_up(w->stack, l->drv.link_id, c.is_up);
	}
	return r;
}

int worker_link_del(struct worker *w, uint32_t ifindex)
{
	struct wlink *l = worker_link_find(w, ifindex);
	int r;

	if (!l)
		return -ENODEV;
	r = ns_stack_del_link(w->stack, l->drv.link_id);
	link_close(l);
	return r;
}

void worker_links_modes(struct worker *w)
{
	static const char *const how[] = { [NS_GSO_NONE] = "one frame a call",
					   [NS_GSO_SW] = "software segmentation",
					   [NS_GSO_HW] = "hardware segmentation" };

	for (uint32_t i = 0; i < w->link_cnt; i++) {
		struct wlink *l = &w->links[i];
		enum ns_gso_mode mode;

		if (!l->is_used)
			continue;
		mode = ns_stack_link_mode(w->stack, l->drv.link_id);
		if (mode == l->mode)
			continue;
		l->mode = mode;
		if (l->said & 1u << mode)
			continue;
		l->said |= (uint8_t)(1u << mode);
		log_notice("the device of link %s refuses super-frames or takes them again: %s",
			   l->name, how[mode]);
	}
}

void worker_links_done(struct worker *w)
{
	for (uint32_t i = 0; i < w->link_cnt; i++)
		if (w->links[i].is_used)
			link_close(&w->links[i]);
}
