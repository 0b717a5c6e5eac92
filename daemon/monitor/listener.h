/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener - the socket on which an OCI runtime hands over a container (listenerPath)
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct event_base;

#define LISTENER_STATE_MAX (1u << 20) /* octets of state JSON */
#define LISTENER_CONNS_MAX 16u        /* connections at a time */
#define LISTENER_FDS_MAX   8u         /* descriptors of one connection */
#define LISTENER_ID_MAX    64u /* octets of a container id with its NUL; longer ones are cut */
#define LISTENER_BUNDLE_MAX                                                                        \
	1024u             /* octets of its bundle's path with its NUL; a longer one is left out */
#define LISTENER_WAIT_S 5 /* for the whole of the JSON */

/** struct listener_state - what the runtime said; valid during the callback */
struct listener_state {
	char id[LISTENER_ID_MAX];
	pid_t pid;     /* first process of the container, in our pid namespace; 0: not told */
	int notify_fd; /* owned by the callback */
	char bundle[LISTENER_BUNDLE_MAX]; /* empty: not told */
};

struct listener;

/**
 * listener_new() - bind and listen
 * @base:	Loop, borrowed for the listener's life
 * @path:	Where; a stale socket there is replaced, a living one is not
 * @on_state:	Called for each container or exec session; owns @state->notify_fd
 * @ctx:	Handed to @on_state
 * @ret:	Set on success
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int listener_new(struct event_base *base, const char *path,
		 void (*on_state)(void *ctx, const struct listener_state *state), void *ctx,
		 struct listener **ret);

/**
 * listener_free() - close, remove the socket
 * @l:		Listener, or NULL
 */
void listener_free(struct listener *l);

/**
 * listener_refused_cnt() - connections that were closed because of what they said
 * @l:		Listener, or NULL
 */
uint64_t listener_refused_cnt(const struct listener *l);

/**
 * listener_state_parse() - the runtime's JSON
 * @text:	One JSON value, not trusted
 * @len:	Octets at @text
 * @fd_cnt:	Descriptors that came with it
 * @ret:	id and pid are set on success
 * @ret_fd_idx:	Which of the descriptors is the notify descriptor
 *
 * Pure, so that it can be fuzzed.
 *
 * Return: 0; -EAGAIN when the value is not complete; -EINVAL
 */
int listener_state_parse(const char *text, size_t len, size_t fd_cnt, struct listener_state *ret,
			 size_t *ret_fd_idx);
