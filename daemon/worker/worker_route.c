/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_route.c - rules, routes and single answers of the stack as lines in the words of ip(8)
 *
 * Theory of operation: `sluicectl routes` comes here as a question without text, `routes get ADDR ...` with
 * the words behind "get". The stack is asked, not the plan: what is said is what a packet would meet now.
 * An answer that is an error is the line "error NUMBER".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/worker/worker_int.h"

#define LINE_MAX_LEN 480

struct line {
	char buf[LINE_MAX_LEN];
	size_t len;
};

/* struct lines - where whole lines go */
struct lines {
	struct worker *w;
	worker_line_fn fn;
	void *ctx;
};

/* What does not fit is left out. */
__attribute__((format(printf, 2, 3))) static void say(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->buf + l->len, sizeof(l->buf) - l->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->len += (size_t)n < sizeof(l->buf) - l->len ? (size_t)n : 0;
	l->buf[l->len] = '\0';
}

static void say_addr(struct line *l, const char *word, const struct ns_addr *a)
{
	struct ns_addr wire = ns_addr_zoned(*a, 0);
	bool is_v4 = ns_addr_is_v4(a);
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(is_v4 ? AF_INET : AF_INET6, wire.b + (is_v4 ? 12 : 0), text, sizeof(text)))
		say(l, "%s%s", word, text);
}

static void say_via(struct line *l, const struct ns_addr *gateway, bool is_v6)
{
	if (!ns_addr_is_any(gateway))
		say_addr(l, ns_addr_is_v4(gateway) || is_v6 ? " via " : " via inet6 ", gateway);
}

static void say_dev(struct line *l, const struct worker *w, uint32_t link_id)
{
	for (uint32_t i = 0; i < w->link_cnt; i++) {
		if (w->links[i].is_used && w->links[i].drv.link_id == link_id) {
			say(l, " dev %s", w->links[i].name);
			return;
		}
	}
	say(l, " dev lo");
}

static void say_table(struct line *l, const char *word, uint32_t table)
{
	if (table == NS_TABLE_LOCAL)
		say(l, "%slocal", word);
	else if (table == NS_TABLE_MAIN)
		say(l, "%smain", word);
	else if (table == NS_TABLE_DEFAULT)
		say(l, "%sdefault", word);
	else
		say(l, "%s%u", word, table);
}

static void say_prefix(struct line *l, const char *word, const struct ns_addr *a, uint32_t len,
		       bool is_v6)
{
	if (len == 0) {
		say(l, "%s%s", word, *word == ' ' ? "all" : "default");
		return;
	}
	say_addr(l, word, a);
	if (len != (is_v6 ? 128 : 32))
		say(l, "/%u", len);
}

static const char *type_word(uint8_t type)
{
	static const char *const words[NS_ROUTE_TYPE_COUNT] = {
		"",           "local ",       "broadcast ", "anycast ", "multicast ",
		"blackhole ", "unreachable ", "prohibit ",  "throw ",
	};

	return type < NS_ROUTE_TYPE_COUNT ? words[type] : "";
}

/* ---- all ---- */

static void route_line(void *ctx, const struct ns_route *r)
{
	const struct lines *to = ctx;
	struct line l = { .len = 0 };

	say(&l, "%s route %s", r->is_v6 ? "inet6" : "inet", type_word(r->type));
	say_prefix(&l, "", &r->dst, r->prefix_len, r->is_v6);
	if (r->from_len)
		say_prefix(&l, " from ", &r->from, r->from_len, r->is_v6);
	if (r->tos)
		say(&l, " tos 0x%02x", r->tos);
	for (uint32_t i = 0; r->type <= NS_ROUTE_MULTICAST && i < r->nexthop_cnt; i++) {
		if (r->nexthop_cnt > 1)
			say(&l, " nexthop");
		say_via(&l, &r->nexthops[i].gateway, r->is_v6);
		say_dev(&l, to->w, r->nexthops[i].link_id);
		if (r->nexthop_cnt > 1)
			say(&l, " weight %u", r->nexthops[i].weight);
	}
	say_table(&l, " table ", r->table);
	if (!ns_addr_is_any(&r->prefsrc))
		say_addr(&l, " src ", &r->prefsrc);
	if (r->metric)
		say(&l, " metric %u", r->metric);
	if (r->mtu)
		say(&l, " mtu %u", r->mtu);
	to->fn(to->ctx, l.buf);
}

static void say_selectors(struct line *l, const struct ns_rule *r)
{
	say_prefix(l, " from ", &r->from, r->from_len, r->is_v6);
	if (r->to_len)
		say_prefix(l, " to ", &r->to, r->to_len, r->is_v6);
	if (r->tos)
		say(l, " tos 0x%02x", r->tos);
	if (r->fwmark || r->fwmask)
		say(l, " fwmark 0x%x/0x%x", r->fwmark, r->fwmask);
	if (r->has_dscp)
		say(l, r->dscp_mask == 63 ? " dscp %u" : " dscp 0x%02x/0x%02x", r->dscp,
		    r->dscp_mask);
	if (r->has_uid)
		say(l, " uidrange %u-%u", r->uid_min, r->uid_max);
	if (r->iif[0])
		say(l, " iif %s", r->iif);
	if (r->oif[0])
		say(l, " oif %s", r->oif);
	if (r->proto)
		say(l, " ipproto %u", r->proto);
	if (r->sport_max)
		say(l, " sport %u-%u", r->sport_min, r->sport_max);
	if (r->dport_max)
		say(l, " dport %u-%u", r->dport_min, r->dport_max);
}

static void rule_line(void *ctx, const struct ns_rule *r)
{
	static const char *const actions[NS_RULE_ACTION_COUNT] = {
		[NS_RULE_NOP] = " nop",
		[NS_RULE_BLACKHOLE] = " blackhole",
		[NS_RULE_UNREACHABLE] = " unreachable",
		[NS_RULE_PROHIBIT] = " prohibit",
	};
	const struct lines *to = ctx;
	struct line l = { .len = 0 };

	say(&l, "%s rule %u:%s", r->is_v6 ? "inet6" : "inet", r->priority,
	    r->is_inverted ? " not" : "");
	say_selectors(&l, r);
	if (r->action == NS_RULE_LOOKUP)
		say_table(&l, " lookup ", r->table);
	else if (r->action == NS_RULE_GOTO)
		say(&l, " goto %u", r->target);
	else if (r->action < NS_RULE_ACTION_COUNT)
		say(&l, "%s", actions[r->action]);
	if (r->has_suppress_len)
		say(&l, " suppress_prefixlength %u", r->suppress_len);
	if (r->has_suppress_group)
		say(&l, " suppress_ifgroup %u", r->suppress_group);
	to->fn(to->ctx, l.buf);
}

/* ---- one ---- */

static int addr_parse(const char *text, struct ns_addr *ret)
{
	uint8_t v4[4];

	if (inet_pton(AF_INET, text, v4) == 1)
		*ret = ns_addr_v4((uint32_t)v4[0] << 24 | (uint32_t)v4[1] << 16 |
				  (uint32_t)v4[2] << 8 | v4[3]);
	else if (inet_pton(AF_INET6, text, ret->b) != 1)
		return -EINVAL;
	return 0;
}

static int dev_parse(const struct worker *w, const char *name, uint32_t *ret_ifindex)
{
	if (strcmp(name, "lo") == 0) {
		*ret_ifindex = 1; /* linux LOOPBACK_IFINDEX */
		return 0;
	}
	for (uint32_t i = 0; i < w->link_cnt; i++) {
		if (w->links[i].is_used && strcmp(w->links[i].name, name) == 0) {
			*ret_ifindex = w->links[i].ifindex;
			return 0;
		}
	}
	return -ENODEV;
}

static int number_parse(const char *text, unsigned long most, unsigned long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoul(text, &end, 0);
	return errno || *end || end == text || *ret > most ? -EINVAL : 0;
}

static int proto_parse(const char *text, uint8_t *ret)
{
	unsigned long num;
	int r = 0;

	if (strcmp(text, "tcp") == 0)
		*ret = IPPROTO_TCP;
	else if (strcmp(text, "udp") == 0)
		*ret = IPPROTO_UDP;
	else if ((r = number_parse(text, UINT8_MAX, &num)) == 0)
		*ret = (uint8_t)num;
	return r;
}

/* One pair of words. */
static int word_parse(const struct worker *w, const char *key, const char *value, struct ns_flow *f)
{
	unsigned long num;
	int r;

	if (strcmp(key, "from") == 0)
		return addr_parse(value, &f->src);
	if (strcmp(key, "iif") == 0)
		return dev_parse(w, value, &f->iif);
	if (strcmp(key, "oif") == 0)
		return dev_parse(w, value, &f->oif);
	if (strcmp(key, "mark") == 0) {
		r = number_parse(value, UINT32_MAX, &num);
		f->mark = (uint32_t)num;
		return r;
	}
	if (strcmp(key, "uid") == 0) {
		r = number_parse(value, UINT32_MAX, &num);
		f->uid = (uint32_t)num;
		return r;
	}
	if (strcmp(key, "ipproto") == 0)
		return proto_parse(value, &f->proto);
	if (strcmp(key, "sport") == 0 || strcmp(key, "dport") == 0) {
		r = number_parse(value, UINT16_MAX, &num);
		*(*key == 's' ? &f->sport : &f->dport) = (uint16_t)num;
		return r;
	}
	if (strcmp(key, "tos") == 0) {
		r = number_parse(value, UINT8_MAX, &num);
		f->tos = (uint8_t)num;
		return r;
	}
	return -EINVAL;
}

static int question_parse(const struct worker *w, char *text, struct ns_flow *f)
{
	char *save = NULL, *key = strtok_r(text, " ", &save), *value;
	int r = key ? addr_parse(key, &f->dst) : -EINVAL;

	while (r == 0 && (key = strtok_r(NULL, " ", &save)) != NULL) {
		value = strtok_r(NULL, " ", &save);
		r = value ? word_parse(w, key, value, f) : -EINVAL;
	}
	return r;
}

static void answer_line(const struct lines *to, const struct ns_flow *f)
{
	struct ns_route_answer a;
	struct line l = { .len = 0 };
	bool is_v6 = !ns_addr_is_v4(&f->dst);
	int r = ns_stack_find_route(to->w->stack, f, &a);

	if (r < 0) {
		say(&l, "error %d", -r);
		to->fn(to->ctx, l.buf);
		return;
	}
	say(&l, "%s", type_word(a.type));
	say_addr(&l, "", &f->dst);
	if (!ns_addr_is_any(&f->src))
		say_addr(&l, " from ", &f->src);
	if (a.has_gateway)
		say_via(&l, &a.gateway, is_v6);
	say_dev(&l, to->w, a.link_id);
	if (a.table && a.table != NS_TABLE_MAIN)
		say_table(&l, " table ", a.table);
	if (a.has_src && (is_v6 || ns_addr_is_any(&f->src)))
		say_addr(&l, " src ", &a.src);
	if (f->mark)
		say(&l, f->mark < 16 ? " mark %u" : " mark 0x%x", f->mark); /* as ip(8) */
	if (is_v6 && a.metric)
		say(&l, " metric %u", a.metric);
	to->fn(to->ctx, l.buf);
}

void worker_routes(struct worker *w, const char *question, worker_line_fn fn, void *ctx)
{
	struct lines to = { .w = w, .fn = fn, .ctx = ctx };
	struct ns_flow f = { .mark = 0 };
	char text[IPC_STATS_TEXT_MAX];
	int r;

	if (!question[0]) {
		ns_stack_each_rule(w->stack, rule_line, &to);
		ns_stack_each_route(w->stack, route_line, &to);
		return;
	}
	(void)snprintf(text, sizeof(text), "%s", question);
	r = question_parse(w, text, &f);
	if (r == 0) {
		answer_line(&to, &f);
	} else {
		(void)snprintf(text, sizeof(text), "error %d", -r);
		fn(ctx, text);
	}
}
