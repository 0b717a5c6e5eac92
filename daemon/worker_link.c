/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_link.c - links and routes of the plan in the stack, frames between drivers and the stack
 *
 * What the stack cannot use yet (policy rules, groups, routes over links that are not carried) is left
 * out, counted and said once: the plan keeps it for the container's namespace.
 */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/log.h"
#include "daemon/worker_int.h"

/* Frames of one link in one turn, so that no link starves the others or the programs. */
#define RX_BUDGET 128u
/* When the stack holds all its frames: look again after this. */
#define RETRY_US 1000

#define NO_LINK UINT32_MAX

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
static int link_add(struct worker *w, const struct plan_link *pl, int fd)
{
	struct wlink *l = &w->links[w->link_cnt];
	struct ns_link_config c = { .ifindex = pl->ifindex,
				    .mtu = pl->mtu,
				    .is_up = pl->flags & IFF_UP,
				    .is_noarp = pl->flags & IFF_NOARP,
				    .is_multicast = pl->flags & IFF_MULTICAST,
				    .gso = gso_mode(pl),
				    .gso_max_size = pl->gso_ipv4_max_size,
				    .gso_max_segs = pl->gso_max_segs };
	int r;

	l->worker = w;
	l->kind = pl->driver == PLAN_DRIVER_TAP ? &drv_tap : &drv_packet;
	l->drv = (struct drv){ .fd = fd,
			       .vnet_len = pl->vnet_hdr_len,
			       .stack = w->stack,
			       .on_blocked = on_link_blocked,
			       .ctx = l };
	memcpy(l->name, pl->name, sizeof(l->name));
	memcpy(c.name, pl->name, sizeof(c.name));
	memcpy(c.mac, pl->mac, sizeof(c.mac));
	c.ops = &l->kind->ops;
	c.drv = &l->drv;
	w->link_cnt++;
	r = ns_stack_add_link(w->stack, &c, &l->drv.link_id);
	if (r < 0)
		return log_err(r, "cannot add link %s to the stack", pl->name);
	event_assign(&l->rd, w->base, fd, EV_READ | EV_PERSIST, on_link_readable, l);
	event_assign(&l->wr, w->base, fd, EV_WRITE, on_link_writable, l);
	evtimer_assign(&l->retry, w->base, on_link_retry, l);
	return event_add(&l->rd, NULL) < 0 ? log_err(-ENOMEM, "cannot watch link %s", pl->name) : 0;
}

static struct ns_addr addr_of(const struct plan_ip *ip)
{
	struct ns_addr a = { { 0 } };

	if (ip->family == AF_INET)
		return ns_addr_v4((uint32_t)ip->b[0] << 24 | (uint32_t)ip->b[1] << 16 |
				  (uint32_t)ip->b[2] << 8 | ip->b[3]);
	memcpy(a.b, ip->b, sizeof(a.b));
	return a;
}

/** struct link_ids - the stack's link of each link of the plan */
struct link_ids {
	uint32_t id[PLAN_LINKS_MAX];
	uint32_t left_out; /* rows the stack cannot use */
};

static uint32_t id_of(const struct link_ids *ids, const struct plan *p, uint32_t link_idx)
{
	return link_idx < p->link_cnt && link_idx < PLAN_LINKS_MAX ? ids->id[link_idx] : NO_LINK;
}

static void add_addrs(struct worker *w, const struct plan *p, struct link_ids *ids)
{
	for (size_t i = 0; i < p->addr_cnt; i++) {
		const struct plan_addr *pa = &p->addrs[i];
		struct ns_addr a = addr_of(&pa->local);
		uint32_t id = id_of(ids, p, pa->link_idx);
		uint8_t whole = pa->local.family == AF_INET ? 32 : 128;
		int r = -EADDRNOTAVAIL;

		/* one that another host has, too, was never the container's to use */
		if (id != NO_LINK && !(pa->flags & IFA_F_DADFAILED))
			r = ns_stack_add_addr(w->stack, id, &a,
					      pa->flags & IFA_F_NOPREFIXROUTE ? whole
									      : pa->prefix_len);
		if (r == 0 && whole == 128 && (pa->flags & IFA_F_DEPRECATED))
			r = ns_stack_deprecate_addr(w->stack, id, &a, true);
		if (r < 0)
			ids->left_out++;
	}
}

/** route_type() - Return: false for types the stack does not have */
static bool route_type(uint8_t rtn, uint8_t *ret_type)
{
	static const struct {
		uint8_t rtn, type;
	} map[] = {
		{ RTN_UNICAST, NS_ROUTE_UNICAST },
		{ RTN_LOCAL, NS_ROUTE_LOCAL },
		{ RTN_BROADCAST, NS_ROUTE_BROADCAST },
		{ RTN_BLACKHOLE, NS_ROUTE_BLACKHOLE },
		{ RTN_UNREACHABLE, NS_ROUTE_UNREACHABLE },
		{ RTN_PROHIBIT, NS_ROUTE_PROHIBIT },
		{ RTN_THROW, NS_ROUTE_THROW },
	};

	for (size_t i = 0; i < NS_ARRAY_LEN(map); i++) {
		if (map[i].rtn == rtn) {
			*ret_type = map[i].type;
			return true;
		}
	}
	return false;
}

/** route_add() - Return: 0 or negative errno */
static int route_add(struct worker *w, const struct plan *p, const struct link_ids *ids,
		     const struct plan_route *pr)
{
	struct ns_route r = { .dst = addr_of(&pr->dst),
			      .prefix_len = pr->dst_len,
			      .gateway = addr_of(&pr->gateway),
			      .prefsrc = addr_of(&pr->prefsrc),
			      .metric = pr->metric,
			      .mtu = pr->mtu,
			      .table = pr->table,
			      .is_onlink = pr->is_onlink,
			      .is_v6 = pr->family == AF_INET6 };

	if (pr->gateway.family && pr->gateway.family != pr->family)
		return -EAFNOSUPPORT;
	if (!route_type(pr->type, &r.type))
		return -EOPNOTSUPP;
	if (pr->dst.family == 0 && !r.is_v6)
		r.dst = ns_addr_v4(0);
	if (pr->link_idx != PLAN_NO_LINK) {
		r.link_id = id_of(ids, p, pr->link_idx);
		if (r.link_id == NO_LINK)
			return -ENODEV;
	}
	return ns_stack_add_route(w->stack, &r);
}

static void add_neighs(struct worker *w, const struct plan *p, struct link_ids *ids)
{
	for (size_t i = 0; i < p->neigh_cnt; i++) {
		const struct plan_neigh *pn = &p->neighs[i];
		struct ns_addr a = addr_of(&pn->addr);
		uint32_t id = id_of(ids, p, pn->link_idx);
		int r = -EOPNOTSUPP;

		if (id != NO_LINK && !pn->is_proxy)
			r = ns_stack_add_neigh(w->stack, id, &a, pn->mac);
		if (r < 0)
			ids->left_out++;
	}
}

int worker_links_init(struct worker *w, const struct plan *plan, int *fds, uint32_t fd_cnt)
{
	struct link_ids ids = { .left_out = 0 };
	uint32_t next_fd = 0;

	for (size_t i = 0; i < plan->link_cnt && i < PLAN_LINKS_MAX; i++) {
		const struct plan_link *pl = &plan->links[i];
		int r;

		ids.id[i] = pl->flags & IFF_LOOPBACK ? 0 : NO_LINK;
		if (pl->driver == PLAN_DRIVER_NONE)
			continue;
		if (next_fd >= fd_cnt)
			return log_err(-EPROTO, "the monitor sent no descriptor for link %s",
				       pl->name);
		r = link_add(w, pl, fds[next_fd]);
		fds[next_fd++] = -1;
		if (r < 0)
			return r;
		ids.id[i] = w->links[w->link_cnt - 1].drv.link_id;
	}
	add_addrs(w, plan, &ids);
	for (size_t i = 0; i < plan->route_cnt; i++) {
		if (route_add(w, plan, &ids, &plan->routes[i]) < 0)
			ids.left_out++;
	}
	add_neighs(w, plan, &ids);
	if (ids.left_out)
		log_info(
			"%u addresses, routes and neighbours of the namespace are kept but not used by the stack (multicast, next hops of another family, links that are not carried)",
			ids.left_out);
	return 0;
}

void worker_links_done(struct worker *w)
{
	for (uint32_t i = 0; i < w->link_cnt; i++) {
		struct wlink *l = &w->links[i];

		if (event_initialized(&l->rd)) {
			event_del(&l->rd);
			event_del(&l->wr);
			event_del(&l->retry);
		}
		drv_done(&l->drv);
	}
}
