/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_pcap - the file of --pcap, filled from the worker's ring
 *
 * The file is opened before the namespace is taken, while a wrong path is a harmless error. Each
 * worker gets a ring of its own: what a dead one left half written cannot confuse the next. The ring
 * is emptied DRAIN_MS apart and once more when its worker is gone.
 *
 * Syscalls: #syscalls monitor: openat write mmap munmap memfd_create
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/common/pcap.h"
#include "daemon/monitor/monitor_int.h"

#define DRAIN_MS 50

/** struct monitor_pcap - the capture */
struct monitor_pcap {
	FILE *file;
	struct pcap_ring ring; /* shared is NULL without a worker */
	size_t link_cnt;
	bool has_begun; /* the file's header is written */
	uint64_t lost_cnt;
	struct event *ev;
};

void monitor_pcap_drain(struct monitor *m)
{
	struct monitor_pcap *p = m->pcap;
	int r;

	if (!p || !p->ring.shared)
		return;
	r = pcap_file_drain(&p->ring, p->file, p->link_cnt, &p->lost_cnt);
	if (r >= 0)
		return;
	log_err(r, "the capture to %s ends", m->cfg->pcap);
	pcap_ring_unmap(&p->ring);
	p->ring.shared = NULL;
}

static void on_drain(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	monitor_pcap_drain(arg);
}

int monitor_pcap_open(struct monitor *m)
{
	const struct timeval period = { .tv_usec = DRAIN_MS * 1000L };
	struct monitor_pcap *p;
	int fd;

	if (!m->cfg->pcap)
		return 0;
	p = calloc(1, sizeof(*p));
	fd = open(m->cfg->pcap, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (!p || fd < 0) {
		int r = p ? -errno : -ENOMEM;

		free(p);
		return log_err(r, "cannot write the capture file %s", m->cfg->pcap);
	}
	m->pcap = p;
	p->file = fdopen(fd, "w");
	p->ev = event_new(m->base, -1, EV_PERSIST, on_drain, m);
	if (!p->file || !p->ev || event_add(p->ev, &period) < 0)
		return log_err(-ENOMEM, "cannot write the capture file %s", m->cfg->pcap);
	return 0;
}

/* The links' names are known when the first worker starts. */
static int file_begin(struct monitor *m, struct monitor_pcap *p)
{
	const struct plan *plan = &m->take.rec.snap.plan;
	const char *names[PLAN_LINKS_MAX];

	if (p->has_begun)
		return 0;
	for (size_t i = 0; i < plan->link_cnt; i++)
		if (plan->links[i].driver != PLAN_DRIVER_NONE)
			names[p->link_cnt++] = plan->links[i].name;
	p->has_begun = true;
	return pcap_file_begin(p->file, names, p->link_cnt) ? 0 : -errno;
}

int monitor_pcap_ring(struct monitor *m, int *ret_fd)
{
	struct monitor_pcap *p = m->pcap;
	int fd, r;

	*ret_fd = -1;
	if (!p)
		return 0;
	monitor_pcap_drain(m);
	if (p->ring.shared)
		pcap_ring_unmap(&p->ring);
	p->ring = (struct pcap_ring){ 0 };
	r = file_begin(m, p);
	fd = r == 0 ? pcap_memfd() : r;
	if (fd < 0)
		return log_err(fd, "cannot start the capture to %s", m->cfg->pcap);
	r = pcap_ring_map(&p->ring, fd);
	if (r < 0) {
		close(fd);
		return log_err(r, "cannot start the capture to %s", m->cfg->pcap);
	}
	*ret_fd = fd;
	return 0;
}

void monitor_pcap_close(struct monitor *m)
{
	struct monitor_pcap *p = m->pcap;

	if (!p)
		return;
	monitor_pcap_drain(m);
	if (p->ring.shared)
		pcap_ring_unmap(&p->ring);
	if (p->lost_cnt)
		log_notice("%" PRIu64 " frames are missing from %s: they came faster than they "
			   "could be written",
			   p->lost_cnt, m->cfg->pcap);
	if (p->ev)
		event_free(p->ev);
	if (p->file && fclose(p->file) != 0)
		log_err(-errno, "the capture file %s is not complete", m->cfg->pcap);
	free(p);
	m->pcap = NULL;
}
