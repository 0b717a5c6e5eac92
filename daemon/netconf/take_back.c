/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take_back - give a namespace's links back as they were
 *
 * Theory of operation: giving back looks at the namespaces and not at the list of steps: a link of that name in keep was
 * moved, a link called sluice<ifindex> there has a decoy at its other end. So it works from any point
 * at which a monitor may have died, and may be repeated.
 *
 * First the decoys go, then the links return with the index they had, then sysctls, addresses, routes
 * and neighbours are given back by reconf.c, to links that returned and to links that were stripped
 * alike. A link whose host's end was removed meanwhile is gone, and left out. The journal goes last.
 *
 * Syscalls: #syscalls monitor: close
 */
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/netconf/netns.h"
#include "daemon/netconf/reconf.h"
#include "daemon/netconf/rtlink.h"
#include "daemon/netconf/take_int.h"

/* Links of keep, wherever the last monitor was interrupted. */
static int restore_undecoy(struct takeover *t, size_t i)
{
	char peer_name[IFNAMSIZ];
	uint32_t peer;
	int r;

	take_decoy_peer_name(take_link_at(t, i), peer_name, sizeof(peer_name));
	r = rtlink_find(&t->keep, peer_name, &peer);
	if (r == -ENODEV)
		return 0;
	if (r == 0)
		r = rtlink_delete(&t->keep, peer); /* and its other end, the decoy */
	return r < 0 ? log_err(r, "cannot remove the decoy of link %s", take_link_at(t, i)->name)
		     : 0;
}

static int link_send_home(struct takeover *t, size_t i, uint32_t kept)
{
	const struct plan_link *l = take_link_at(t, i);
	uint32_t intruder;
	int r = rtlink_send_to(&t->keep, kept, t->ctr_fd, l->ifindex);

	if (r == -EEXIST && rtlink_find(&t->ctr, l->name, &intruder) == 0) {
		log_warnx("a link that was called %s in the container meanwhile is removed",
			  l->name);
		(void)rtlink_delete(&t->ctr, intruder);
		r = rtlink_send_to(&t->keep, kept, t->ctr_fd, l->ifindex);
	}
	/* The index is taken by another link, or the kernel is older than 5.12. */
	if (r == -EBUSY || r == -EEXIST || r == -EINVAL)
		r = rtlink_send_to(&t->keep, kept, t->ctr_fd, 0);
	return r;
}

static int restore_return(struct takeover *t, size_t i)
{
	const struct plan_link *l = take_link_at(t, i);
	uint32_t kept;
	int r;

	r = rtlink_find(&t->keep, l->name, &kept);
	if (r == 0) {
		r = link_send_home(t, i, kept);
		if (r < 0)
			return log_err(r, "cannot move link %s back to the container (%s)", l->name,
				       t->keep.text);
	}
	return 0; /* else it never left, is back already, or its host's end was removed */
}

/* Where each link is now, and which do not exist any more. */
static int restore_locate(struct takeover *t)
{
	for (size_t i = 0; i < take_link_cnt(t); i++) {
		const struct plan_link *l = take_link_at(t, i);
		int r = 0;

		t->now_ifindex[i] = l->ifindex;
		t->is_wanted[i] = t->rec.how[i] != TAKE_LEAVE;
		if (t->is_wanted[i])
			r = rtlink_find(&t->ctr, l->name, &t->now_ifindex[i]);
		if (r == -ENODEV) {
			log_notice("link %s does not exist any more", l->name);
			t->is_wanted[i] = false;
		} else if (r < 0) {
			return log_err(r, "cannot look for link %s in the container", l->name);
		}
	}
	return 0;
}

static int restore_unquiet(struct takeover *t, size_t i)
{
	int r = t->rec.has_ingress[i] ? 0 : rtlink_ingress_undrop(&t->ctr, t->now_ifindex[i]);

	return r < 0 ? log_err(r, "cannot remove the ingress filter of link %s",
			       take_link_at(t, i)->name)
		     : 0;
}

static int restore_configure(struct takeover *t)
{
	static const struct {
		const char *step;
		int (*fn)(const struct reconf *rc);
	} rows[] = {
		{ "re-sysctls", reconf_sysctls }, { "re-addrs", reconf_addrs },
		{ "re-routes", reconf_routes },   { "re-neighs", reconf_neighs },
		{ "re-finish", reconf_finish },
	};
	struct reconf rc = take_reconf(t);
	int first = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int r = take_step_may_begin(t, rows[i].step);

		if (r < 0)
			return r;
		r = rows[i].fn(&rc);
		if (r == 0)
			r = take_step_done(t, rows[i].step, NULL);
		if (r < 0 && first == 0)
			first = r; /* the rest is worth giving back all the same */
	}
	return first;
}

void take_back_link(struct takeover *t, size_t i)
{
	bool all[PLAN_LINKS_MAX];
	struct reconf rc;

	memcpy(all, t->is_wanted, sizeof(all));
	memset(t->is_wanted, 0, sizeof(t->is_wanted));
	t->is_wanted[i] = true;
	if (t->keep_fd >= 0 && restore_undecoy(t, i) == 0)
		(void)restore_return(t, i);
	(void)restore_unquiet(t, i);
	rc = take_reconf(t);
	(void)reconf_addrs(&rc);
	(void)reconf_routes(&rc);
	(void)reconf_neighs(&rc);
	memcpy(t->is_wanted, all, sizeof(all));
	t->is_wanted[i] = false;
	t->rec.how[i] = TAKE_LEAVE;
	take_link_at(t, i)->driver = PLAN_DRIVER_NONE;
	take_link_at(t, i)->vnet_hdr_len = 0;
	take_link_at(t, i)->gso = PLAN_GSO_NONE;
	linkopen_close(&t->link_fds[i]);
}

/* Whether a link that was there a moment ago is gone; it is not wanted from now on. */
static bool has_lost_link(struct takeover *t)
{
	bool was_wanted[PLAN_LINKS_MAX];

	memcpy(was_wanted, t->is_wanted, sizeof(was_wanted));
	return restore_locate(t) == 0 && memcmp(was_wanted, t->is_wanted, sizeof(was_wanted)) != 0;
}

static int restore_steps(struct takeover *t)
{
	int r = 0;

	for (size_t i = 0; i < take_link_cnt(t); i++)
		t->is_wanted[i] = t->rec.how[i] != TAKE_LEAVE;
	if (t->keep_fd >= 0) {
		r = take_step_each(t, "undecoy", TAKE_MOVE, restore_undecoy);
		if (r == 0)
			r = take_step_each(t, "return", TAKE_MOVE, restore_return);
	}
	if (r == 0)
		r = restore_locate(t);
	if (r == 0)
		r = take_step_each(t, "unquiet", TAKE_STRIP, restore_unquiet);
	if (r < 0)
		return r;
	r = restore_configure(t);
	/* A container that ends takes its links with it, perhaps under our hands: only the rest counts. */
	if (r < 0 && has_lost_link(t))
		r = restore_configure(t);
	return r;
}

/* The last of the sandbox: our namespace and the journal. */
static int restore_forget(struct takeover *t)
{
	char path[JOURNAL_PATH_MAX];
	int r = take_step_may_begin(t, "forget");

	if (r < 0)
		return r;
	nlraw_close(&t->keep);
	take_fd_close(&t->keep_fd);
	take_fd_close(&t->tap_fd);
	journal_path(t->journal, TAKE_KEEP_FILE, path, sizeof(path));
	r = netns_unpin(path);
	if (r < 0)
		return log_err(r, "cannot unmount %s", path);
	return journal_remove(t->journal);
}

int takeover_restore(struct takeover *t)
{
	int r = 0;

	take_link_fds_close(t);
	t->is_taken = false;
	if (t->ctr_fd < 0)
		log_notice("the container's namespace is gone and its links with it");
	else
		r = restore_steps(t);
	return r < 0 ? r : restore_forget(t);
}

/* The namespace of the journal, by path, by process, by asking all processes. */
static int ctr_open(const struct journal_record *rec)
{
	int fds[2] = { -1, -1 };
	int fd;

	if (rec->netns_path[0])
		fds[0] = netns_open_path(rec->netns_path);
	if (rec->pid > 0)
		fds[1] = netns_open_pid(rec->pid);
	fd = -1;
	for (int i = 0; i < 2; i++) {
		struct netns_id id;

		if (fd < 0 && fds[i] >= 0 && netns_identify(fds[i], &id) == 0 &&
		    netns_id_eq(&id, &rec->snap.id))
			fd = fds[i];
		else
			take_fd_close(&fds[i]);
	}
	return fd >= 0 ? fd : netns_find(&rec->snap.id);
}

int takeover_load(struct takeover *t)
{
	char path[JOURNAL_PATH_MAX];
	int r;

	r = journal_load(t->journal, &t->rec);
	if (r < 0)
		return r;
	t->ctr_fd = ctr_open(&t->rec);
	t->keep_fd = netns_open_path(journal_path(t->journal, TAKE_KEEP_FILE, path, sizeof(path)));
	if (t->ctr_fd >= 0)
		r = nlraw_open(&t->ctr, t->ctr_fd);
	if (r == 0 && t->keep_fd >= 0)
		r = nlraw_open(&t->keep, t->keep_fd);
	if (r < 0)
		return log_err(r, "cannot open netlink sockets in the namespaces of the journal");
	return 0;
}
