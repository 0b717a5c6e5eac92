/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_link.c - the links of the plan in the stack, frames between drivers and the stack
 *
 * Theory of operation: a link has a slot with its driver and its events for as long as it is carried. The
 * loop says when its descriptor is readable or writable again; frames go from there into the stack and,
 * at the end of a turn, back.
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
/* When the stack holds all its frames: look again after this. */
#define RETRY_US 1000

/* ---- events ---- */

static void on_link_readable(evutil_socket_t fd, short what, void *arg)
{
	struct wlink *l = arg;
	struct timeval tv = { 0, RETRY_US };
	int r;

	(void)fd;
	(void)what;
	worker_begin_turn(l->worker);
	r = l->kind->rx(&l->drv, l->worker->now, RX_BUDGET);
	if (r >= 0)
		return;
	/* the descriptor stays readable, or has an error that comes again: neither may spin the loop */
	if (r != -ENOBUFS && r != -ENETDOWN)
		log_warn(r, "cannot receive from link %s", l->name);
	event_del(&l->rd);
	evtimer_add(&l->retry, &tv);
}

static void on_link_retry(evutil_socket_t fd, short what, void *arg)
{
	struct wlink *l = arg;

	(void)fd;
	(void)what;
	event_add(&l->rd, NULL);
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
		event_del(&l->retry);
	}
	drv_done(&l->drv);
	l->is_used = false;
}

int worker_link_add(struct worker *w, const struct plan_link *pl, int fd)
{
	struct ns_link_config c = link_config(pl);
	struct wlink *l = link_slot(w);
	int r;

	if (!l) {
		close(fd);
		return log_err(-ENOSPC, "cannot add link %s to the stack", pl->name);
	}
	memset(l, 0, sizeof(*l));
	l->worker = w;
	l->is_used = true;
	l->ifindex = pl->ifindex;
	l->kind = pl->driver == PLAN_DRIVER_TAP ? &drv_tap : &drv_packet;
	l->drv = (struct drv){ .fd = fd,
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
	event_assign(&l->rd, w->base, fd, EV_READ | EV_PERSIST, on_link_readable, l);
	event_assign(&l->wr, w->base, fd, EV_WRITE, on_link_writable, l);
	evtimer_assign(&l->retry, w->base, on_link_retry, l);
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
