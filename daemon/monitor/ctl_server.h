/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl_server - the operator's socket: one word a line in, one line of JSON out
 */
#pragma once

#include <stdint.h>

struct ctl_server;
struct event_base;
struct json_object;

#define CTL_CONNS_MAX   8u
#define CTL_REQUEST_MAX 256u /* octets of a line */

/**
 * ctl_server_new() - bind and listen
 * @base:	Loop, borrowed for the server's life
 * @path:	Where; what is there already is replaced (the caller holds the directory's lock)
 * @on_request:	Called for each line; @token is for ctl_server_answer(), now or later
 * @ctx:	Handed to @on_request
 * @ret:	Set on success
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int ctl_server_new(struct event_base *base, const char *path,
		   void (*on_request)(void *ctx, uint32_t token, const char *word), void *ctx,
		   struct ctl_server **ret);

/**
 * ctl_server_free() - close, remove the socket
 * @s:		Server, or NULL
 */
void ctl_server_free(struct ctl_server *s);

/**
 * ctl_server_answer() - send the answer to a request
 * @s:		Server
 * @token:	Of the request; one whose connection closed is fine
 * @answer:	Consumes a reference; NULL answers with an error
 */
void ctl_server_answer(struct ctl_server *s, uint32_t token, struct json_object *answer);
