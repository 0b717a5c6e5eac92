/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_ctl - the operator's questions
 *
 * Theory of operation: a request is a word, here with who answers it.
 *
 *   state      what runs, which links are taken: answered from memory
 *   stats      counters of worker and agent: {"worker":{name:number},"agent":{...}}
 *   links      lines of the worker about its links: {"worker":[line, ...]}
 *   sockets    lines of the worker about its sockets, likewise
 *   routes     its rules and routes, likewise; "routes get ADDR ...": where a packet would go
 *   sysctl     the stack's knobs, {"sysctls":{name:value},"ignored":[name, ...]}; with name=value behind it,
 *              after turning that one
 *
 * A question to a child carries the number of its slot and a count; its lines are collected until the
 * last. A child that dies or takes longer than ASK_MAX_S leaves its part out, and the answer says so.
 */
#include <errno.h>
#include <event2/event.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/monitor/knobs.h"
#include "daemon/monitor/monitor_int.h"

#define ASK_MAX_S    2
#define ASK_TEXT_MAX (4u << 20) /* octets of lines of one child */

/* ---- state ---- */

static void put(struct json_object *obj, const char *key, struct json_object *val)
{
	if (json_object_object_add(obj, key, val) != 0)
		json_object_put(val);
}

static struct json_object *child_json(const struct child *c)
{
	struct json_object *obj = json_object_new_object();

	put(obj, "pid", json_object_new_int(c->pid));
	put(obj, "ready", json_object_new_boolean(c->is_ready));
	put(obj, "starts", json_object_new_int64(c->start_cnt));
	return obj;
}

static struct json_object *link_json(const struct monitor *m, size_t i)
{
	static const char *const how[TAKE_HOW_COUNT] = {
		[TAKE_LEAVE] = "leave", [TAKE_MOVE] = "move", [TAKE_STRIP] = "strip"
	};
	static const char *const driver[PLAN_DRIVER_COUNT] = {
		[PLAN_DRIVER_NONE] = "none",
		[PLAN_DRIVER_PACKET] = "packet",
		[PLAN_DRIVER_TAP] = "tap",
	};
	static const char *const gso[PLAN_GSO_COUNT] = {
		[PLAN_GSO_NONE] = "none", [PLAN_GSO_SW] = "software", [PLAN_GSO_HW] = "hardware"
	};
	const struct plan_link *l = &m->take.rec.snap.plan.links[i];
	struct json_object *obj = json_object_new_object();

	put(obj, "name", json_object_new_string(l->name));
	put(obj, "mtu", json_object_new_int64(l->mtu));
	put(obj, "how", json_object_new_string(how[m->take.rec.how[i]]));
	put(obj, "driver", json_object_new_string(driver[l->driver]));
	put(obj, "gso", json_object_new_string(gso[l->gso]));
	put(obj, "uso", json_object_new_boolean(l->has_uso));
	put(obj, "gso_max_size", json_object_new_int64(l->gso_max_size));
	return obj;
}

static struct json_object *state_json(const struct monitor *m)
{
	const struct plan *p = &m->take.rec.snap.plan;
	struct json_object *obj = json_object_new_object();
	struct json_object *links = json_object_new_array();
	struct json_object *containers = json_object_new_array();

	for (size_t i = 0; i < p->link_cnt; i++)
		(void)json_object_array_add(links, link_json(m, i));
	for (size_t i = 0; i < m->notify_cnt; i++)
		(void)json_object_array_add(containers, json_object_new_string(m->notifies[i].id));
	put(obj, "id", json_object_new_string(m->cfg->id));
	put(obj, "taken", json_object_new_boolean(m->take.is_taken));
	put(obj, "stopping", json_object_new_boolean(m->is_stopping));
	put(obj, "netns_ino", json_object_new_uint64(m->take.rec.snap.id.ino));
	put(obj, "container_pid", json_object_new_int(m->ctr_pid));
	put(obj, "worker", child_json(&m->worker));
	put(obj, "agent", child_json(&m->agent));
	put(obj, "links", links);
	put(obj, "addresses", json_object_new_int64((int64_t)p->addr_cnt));
	put(obj, "routes", json_object_new_int64((int64_t)p->route_cnt));
	put(obj, "sessions", containers);
	put(obj, "refused_connections", json_object_new_uint64(listener_refused_cnt(m->listener)));
	return obj;
}

/* ---- questions to the children ---- */

static void ask_end(struct ask *a)
{
	struct monitor *m = a->m;
	struct json_object *answer = a->answer;

	if (a->waiting)
		put(answer, "error",
		    json_object_new_string("not all of it: a process did not answer"));
	a->is_used = false;
	a->answer = NULL;
	free(a->text);
	a->text = NULL;
	a->len = 0;
	if (a->ev_late)
		event_free(a->ev_late);
	a->ev_late = NULL;
	ctl_server_answer(m->ctl, a->ctl_token, answer);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	ask_end(arg);
}

static struct child *child_of(struct monitor *m, enum ipc_role role)
{
	return role == IPC_AGENT ? &m->agent : &m->worker;
}

static uint32_t ask_token(const struct ask *a)
{
	return (uint32_t)(a - a->m->asks) | a->m->ask_generation << 8;
}

static void ask_child(struct ask *a, enum ipc_role role, uint32_t token)
{
	struct ipc_stats_req body = { .token = token, .kind = a->kind };
	struct child *c = child_of(a->m, role);

	memcpy(body.text, a->question, sizeof(body.text));
	if (c->is_ready && ipc_send(&c->ipc, IPC_STATS_REQ, &body, NULL, 0) == 0)
		a->waiting |= 1u << role;
}

static int ask_begin(struct monitor *m, uint32_t ctl_token, uint32_t kind, const char *question)
{
	const struct timeval late = { .tv_sec = ASK_MAX_S };
	struct ask *a = NULL;

	for (size_t i = 0; i < MONITOR_ASKS_MAX && !a; i++)
		if (!m->asks[i].is_used)
			a = &m->asks[i];
	if (!a)
		return -EBUSY;
	m->ask_generation++;
	*a = (struct ask){ .is_used = true, .ctl_token = ctl_token, .kind = kind, .m = m };
	(void)snprintf(a->question, sizeof(a->question), "%s", question);
	a->answer = json_object_new_object();
	a->ev_late = evtimer_new(m->base, on_late, a);
	if (!a->answer || !a->ev_late || event_add(a->ev_late, &late) < 0) {
		ask_end(a);
		return 0;
	}
	/* One after the other, so that one buffer serves both: the agent is asked when done. */
	ask_child(a, IPC_WORKER, ask_token(a));
	if (!a->waiting)
		ask_child(a, IPC_AGENT, ask_token(a));
	if (!a->waiting)
		ask_end(a);
	return 0;
}

/* @rest: empty, or a blank and "name=value". */
static struct json_object *sysctl_json(struct monitor *m, const char *rest)
{
	const char *eq = strchr(rest, '=');
	char name[KNOBS_NAME_MAX];
	struct json_object *obj;
	int r = 0;

	if (!m->knobs)
		r = -ENODEV;
	else if (*rest && (!eq || eq - rest - 1 >= (ptrdiff_t)sizeof(name)))
		r = -EINVAL;
	if (r == 0 && *rest) {
		(void)snprintf(name, sizeof(name), "%.*s", (int)(eq - rest - 1), rest + 1);
		r = monitor_knobs_set(m, name, eq + 1);
		monitor_knobs_tell(m);
	}
	obj = monitor_knobs_json(m);
	if (r < 0)
		put(obj, "error",
		    json_object_new_string(r == -ENODEV   ? "no namespace is taken yet"
					   : r == -ENOENT ? "the stack has no such knob"
					   : r == -ERANGE ? "the stack has no such value"
							  : "that is no value of it"));
	return obj;
}

void monitor_ctl_request(void *ctx, uint32_t token, const char *word)
{
	static const struct {
		const char *word;
		uint32_t kind;
	} rows[] = {
		{ "stats", IPC_STATS_COUNTERS },
		{ "sockets", IPC_STATS_SOCKETS },
		{ "links", IPC_STATS_LINKS },
		{ "routes", IPC_STATS_ROUTES },
	};
	static const char get[] = "routes get ";
	struct monitor *m = ctx;
	struct json_object *err;

	if (strcmp(word, "state") == 0) {
		ctl_server_answer(m->ctl, token, state_json(m));
		return;
	}
	if (strncmp(word, "sysctl", 6) == 0 && (!word[6] || word[6] == ' ')) {
		ctl_server_answer(m->ctl, token, sysctl_json(m, word + 6));
		return;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(word, rows[i].word) == 0 && ask_begin(m, token, rows[i].kind, "") == 0)
			return;
	if (strncmp(word, get, sizeof(get) - 1) == 0 &&
	    strlen(word) - (sizeof(get) - 1) < IPC_STATS_TEXT_MAX &&
	    ask_begin(m, token, IPC_STATS_ROUTES, word + sizeof(get) - 1) == 0)
		return;
	err = json_object_new_object();
	put(err, "error",
	    json_object_new_string(
		    "cannot answer that; the requests are state, stats, links, sockets, routes, sysctl"));
	ctl_server_answer(m->ctl, token, err);
}

/* "name value" lines as an object of numbers, others as an array of lines. */
static struct json_object *lines_json(char *text, uint32_t kind)
{
	struct json_object *obj =
		kind == IPC_STATS_COUNTERS ? json_object_new_object() : json_object_new_array();
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value = strrchr(line, ' ');

		if (kind != IPC_STATS_COUNTERS) {
			(void)json_object_array_add(obj, json_object_new_string(line));
		} else if (value) {
			*value = '\0';
			put(obj, line, json_object_new_uint64(strtoull(value + 1, NULL, 10)));
		}
	}
	return obj;
}

static int ask_append(struct ask *a, const char *text, size_t len)
{
	char *grown = len <= ASK_TEXT_MAX - a->len ? realloc(a->text, a->len + len + 1) : NULL;

	if (!grown)
		return -ENOMEM;
	a->text = grown;
	memcpy(a->text + a->len, text, len);
	a->len += len;
	a->text[a->len] = '\0';
	return 0;
}

static void ask_part_done(struct ask *a, const struct child *c, uint32_t token)
{
	a->waiting &= ~(1u << c->role);
	if (a->text)
		put(a->answer, c->name, lines_json(a->text, a->kind));
	free(a->text);
	a->text = NULL;
	a->len = 0;
	if (c->role == IPC_WORKER)
		ask_child(a, IPC_AGENT, token);
	if (!a->waiting)
		ask_end(a);
}

int monitor_ctl_stats(void *ctx, struct ipc_msg *msg)
{
	const struct ipc_stats *body = IPC_BODY(msg, ipc_stats);
	const struct child *c = ctx;
	struct monitor *m = c->ctx;
	uint32_t slot = body->token & 0xff;
	struct ask *a = slot < MONITOR_ASKS_MAX ? &m->asks[slot] : NULL;

	if (body->token >> 8 > m->ask_generation || !a)
		return -EPROTO; /* no question had that number */
	/* An answer that is too late, or to one that was ended, is nobody's. */
	if (!a->is_used || !(a->waiting & 1u << c->role))
		return 0;
	if (ask_append(a, body->text, body->len) < 0)
		return 0; /* the clock ends it */
	if (body->is_last)
		ask_part_done(a, c, body->token);
	return 0;
}

void monitor_ctl_child_gone(struct monitor *m, enum ipc_role role)
{
	for (size_t i = 0; i < MONITOR_ASKS_MAX; i++)
		if (m->asks[i].is_used && (m->asks[i].waiting & 1u << role))
			ask_end(&m->asks[i]);
}
