/* SPDX-License-Identifier: Apache-2.0 */
/* take_int.h - what taking and giving back share; shouldn't be included outside take*.c */
#pragma once

#include <stddef.h>

#include "daemon/netconf/reconf.h"
#include "daemon/netconf/take.h"

/** TAKE_KEEP_FILE - in the sandbox's directory: mount of the namespace moved links are in */
#define TAKE_KEEP_FILE "netns"

static inline struct plan_link *take_link_at(struct takeover *t, size_t i)
{
	return &t->rec.snap.plan.links[i];
}

static inline size_t take_link_cnt(const struct takeover *t)
{
	return t->rec.snap.plan.link_cnt;
}

/**
 * take_step_may_begin() - where the tests step in
 * @t:		Takeover
 * @step:	Name of the step that is to begin
 *
 * Return: 0, or -ECANCELED when it shall fail; does not return when the monitor shall die, and late when it shall
 * wait for SIGCONT
 */
int take_step_may_begin(const struct takeover *t, const char *step);

/**
 * take_step_done() - note a step in the journal
 * @t:		Takeover
 * @step:	Its name
 * @link_name:	NULL when it is about no link
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int take_step_done(struct takeover *t, const char *step, const char *link_name);

/**
 * take_step_each() - a step about every wanted link of one kind in turn
 * @t:		Takeover
 * @step:	Its name
 * @how:	The kind
 * @fn:		Does it for row @i of the plan's links; logs a sentence when it fails
 *
 * Return: 0 or negative errno
 */
int take_step_each(struct takeover *t, const char *step, enum take_how how,
		   int (*fn)(struct takeover *t, size_t i));

/**
 * take_reconf() - a job about all wanted links, where they are now
 * @t:		Takeover; borrowed by what is returned
 */
struct reconf take_reconf(struct takeover *t);

/**
 * take_decoy_peer_name() - name of the other end of a link's decoy
 * @l:		The link
 * @buf:	Set to it
 * @len:	Octets at @buf, IFNAMSIZ
 */
void take_decoy_peer_name(const struct plan_link *l, char *buf, size_t len);

/**
 * take_choose_link() - what is done to a link, and by what it is carried
 * @t:		Takeover; how, is_wanted, now_ifindex and the plan's row are set
 * @i:		Row
 */
void take_choose_link(struct takeover *t, size_t i);

/**
 * take_link() - take a link that came later
 * @t:		Taken
 * @i:		Row, chosen and in the journal
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int take_link(struct takeover *t, size_t i);

/**
 * take_back_link() - give one link back
 * @t:		Taken
 * @i:		Row; it may be half taken
 */
void take_back_link(struct takeover *t, size_t i);

/** struct take_missed - hears what is done in the container's namespace; take_missed_open() to _close() */
struct take_missed {
	struct nlraw watch;
	struct nlset heard;
	bool is_open;
};

/** take_missed_open() - hear from now on; without a socket nothing is heard, and nothing else happens */
void take_missed_open(struct takeover *t, struct take_missed *m);

/**
 * take_missed_replay() - ask again for what others asked for about a link since
 * @t:		Taken
 * @m:		Opened before the look
 * @i:		Row of the link, whose decoy is there
 */
void take_missed_replay(struct takeover *t, struct take_missed *m, size_t i);

/** take_missed_close() - release */
void take_missed_close(struct take_missed *m);

/** take_fd_close() - close if open, set to -1 */
void take_fd_close(int *fd);

/** take_link_fds_close() - close what no worker took */
void take_link_fds_close(struct takeover *t);
