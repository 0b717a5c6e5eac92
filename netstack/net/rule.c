/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.c - policy rules: which table is asked for which packet
 *
 * Theory of operation
 *
 * Each family has a list of rules by priority. rule_next() gives the next one that matches; GOTO and
 * NOP are dealt with inside, so the caller sees only rules that say something. A jump goes forward
 * only, so a walk ends. Links are named: what a name means is found again whenever links change
 * (rules_resolve()), and a rule that names a link that is not there matches nothing.
 *
 * Limits: RULES_MAX rules, then -ENOSPC.
 *
 * References: linux v6.1 net/core/fib_rules.c fib_rules_lookup(), fib_rule_match(); net/ipv4/fib_rules.c
 * fib4_rule_match(); net/ipv6/fib6_rules.c fib6_rule_match().
 */
#include "net/rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TOS_MASK_V4 = 0x1c, /* linux IPTOS_RT_MASK */
	TOS_MASK_V6 = 0xfc,
	DSCP_SHIFT = 2,
	DSCP_MAX = 63,
};

static struct list *list_of(struct rules *rs, bool is_v6)
{
	return is_v6 ? &rs->v6 : &rs->v4;
}

static const struct ns_rule defaults[] = {
	{ .priority = 0, .table = NS_TABLE_LOCAL },
	{ .priority = 32766, .table = NS_TABLE_MAIN },
	{ .priority = 32767, .table = NS_TABLE_DEFAULT },
	{ .priority = 0, .table = NS_TABLE_LOCAL, .is_v6 = true },
	{ .priority = 32766, .table = NS_TABLE_MAIN, .is_v6 = true },
};

static int add_defaults(struct rules *rs)
{
	for (size_t i = 0; i < NS_ARRAY_LEN(defaults); i++) {
		int err = rule_add(rs, &defaults[i]);

		if (err < 0)
			return err;
	}
	return 0;
}

/** rules_init() - those that Linux begins with; 0 or -ENOMEM */
int rules_init(struct rules *rs)
{
	rs->cnt = 0;
	rs->asks_transport = rs->is_custom[0] = rs->is_custom[1] = false;
	list_init(&rs->v4);
	list_init(&rs->v6);
	return add_defaults(rs);
}

/** rules_flush() - forget those of a family */
void rules_flush(struct rules *rs, bool is_v6)
{
	struct list *n;

	while ((n = list_pop(list_of(rs, is_v6))) != NULL) {
		free(list_entry(n, struct rule, node));
		rs->cnt--;
	}
}

/** rules_done() - forget all */
void rules_done(struct rules *rs)
{
	rules_flush(rs, false);
	rules_flush(rs, true);
}

static bool is_sane(const struct ns_rule *r)
{
	uint32_t bits = r->is_v6 ? 128 : 32;

	if (r->to_len > bits || r->from_len > bits || r->action >= NS_RULE_ACTION_COUNT)
		return false;
	if (!memchr(r->iif, '\0', sizeof(r->iif)) || !memchr(r->oif, '\0', sizeof(r->oif)))
		return false;
	if (r->sport_min > r->sport_max || r->dport_min > r->dport_max ||
	    (r->has_uid && r->uid_min > r->uid_max) || r->dscp > DSCP_MAX ||
	    r->dscp_mask > DSCP_MAX)
		return false;
	return r->action != NS_RULE_GOTO || r->target > r->priority;
}

/** rule_clean_name() - octets behind the end of a name are zero, so that names can be compared as memory */
void rule_clean_name(char name[NS_LINK_NAME_LEN])
{
	char *end = memchr(name, '\0', NS_LINK_NAME_LEN - 1);

	if (!end)
		end = name + NS_LINK_NAME_LEN - 1;
	memset(end, 0, (size_t)(name + NS_LINK_NAME_LEN - end));
}

static struct ns_rule cleaned(const struct ns_rule *r)
{
	struct ns_rule c = *r;

	rule_clean_name(c.iif);
	rule_clean_name(c.oif);
	return c;
}

/**
 * rule_add() - ns_stack_add_rule()
 * @rs:	Rules
 * @r:	Copied; the names of its links mean nothing until rules_resolve()
 *
 * Return: 0, -EINVAL, -ENOSPC, -ENOMEM
 */
int rule_add(struct rules *rs, const struct ns_rule *r)
{
	struct list *behind = list_of(rs, r->is_v6);
	struct rule *n;

	if (!is_sane(r))
		return -EINVAL;
	if (rs->cnt >= RULES_MAX)
		return -ENOSPC;
	n = malloc(sizeof(*n));
	if (!n)
		return -ENOMEM;
	*n = (struct rule){ .r = cleaned(r), .iif_id = RULE_NO_LINK, .oif_id = RULE_NO_LINK };
	list_for_each (it, list_of(rs, r->is_v6)) {
		if (list_entry(it, const struct rule, node)->r.priority > r->priority) {
			behind = it;
			break;
		}
	}
	list_push(behind, &n->node);
	rs->cnt++;
	return 0;
}

static bool is_same(const struct ns_rule *a, const struct ns_rule *b)
{
	return a->priority == b->priority && a->action == b->action &&
	       a->is_inverted == b->is_inverted && a->table == b->table && a->target == b->target &&
	       ns_addr_eq(&a->to, &b->to) && ns_addr_eq(&a->from, &b->from) &&
	       a->to_len == b->to_len && a->from_len == b->from_len && a->tos == b->tos &&
	       a->proto == b->proto && memcmp(a->iif, b->iif, NS_LINK_NAME_LEN) == 0 &&
	       memcmp(a->oif, b->oif, NS_LINK_NAME_LEN) == 0 && a->fwmark == b->fwmark &&
	       a->fwmask == b->fwmask && a->sport_min == b->sport_min &&
	       a->sport_max == b->sport_max && a->dport_min == b->dport_min &&
	       a->dport_max == b->dport_max && a->has_suppress_len == b->has_suppress_len &&
	       a->suppress_len == b->suppress_len && a->has_dscp == b->has_dscp &&
	       a->dscp == b->dscp && a->dscp_mask == b->dscp_mask && a->has_uid == b->has_uid &&
	       a->uid_min == b->uid_min && a->uid_max == b->uid_max &&
	       a->has_suppress_group == b->has_suppress_group &&
	       a->suppress_group == b->suppress_group;
}

/** rule_del() - ns_stack_del_rule(): 0, -ENOENT */
int rule_del(struct rules *rs, const struct ns_rule *r)
{
	struct ns_rule key = cleaned(r);

	list_for_each (n, list_of(rs, r->is_v6)) {
		struct rule *o = list_entry(n, struct rule, node);

		if (is_same(&o->r, &key)) {
			list_del(n);
			free(o);
			rs->cnt--;
			return 0;
		}
	}
	return -ENOENT;
}

/** rules_each() - IPv4's, then IPv6's, in order */
void rules_each(const struct rules *rs, void (*fn)(void *ctx, const struct ns_rule *r), void *ctx)
{
	list_for_each (n, &rs->v4)
		fn(ctx, &list_entry(n, const struct rule, node)->r);
	list_for_each (n, &rs->v6)
		fn(ctx, &list_entry(n, const struct rule, node)->r);
}

static bool asks_transport(const struct ns_rule *r)
{
	return r->proto || r->sport_max || r->dport_max;
}

/* Are the rules of a family still those of a new stack? */
static bool are_default(const struct rules *rs, bool is_v6)
{
	size_t i = 0;

	list_for_each (n, is_v6 ? &rs->v6 : &rs->v4) {
		while (i < NS_ARRAY_LEN(defaults) && defaults[i].is_v6 != is_v6)
			i++;
		if (i == NS_ARRAY_LEN(defaults) ||
		    !is_same(&list_entry(n, const struct rule, node)->r, &defaults[i++]))
			return false;
	}
	return i > 0 && (i == NS_ARRAY_LEN(defaults) || defaults[i].is_v6 != is_v6);
}

/** rules_resolve() - rules or links changed: which links do the names mean now, and what is asked in all? */
void rules_resolve(struct rules *rs, uint32_t (*link_id)(const void *ctx, const char *name),
		   const void *ctx)
{
	rs->asks_transport = false;
	for (int is_v6 = 0; is_v6 < 2; is_v6++) {
		rs->is_custom[is_v6] = !are_default(rs, is_v6);
		list_for_each (n, list_of(rs, is_v6)) {
			struct rule *r = list_entry(n, struct rule, node);

			rs->asks_transport |= asks_transport(&r->r);
			r->iif_id = r->r.iif[0] ? link_id(ctx, r->r.iif) : RULE_NO_LINK;
			r->oif_id = r->r.oif[0] ? link_id(ctx, r->r.oif) : RULE_NO_LINK;
		}
	}
}

static bool is_in(const struct ns_addr *a, const struct ns_addr *prefix, uint32_t bits, bool is_v6)
{
	uint32_t all = bits + (is_v6 ? 0 : 96);
	uint32_t rest = all % 8;

	if (memcmp(a->b, prefix->b, all / 8) != 0)
		return false;
	return rest == 0 || (a->b[all / 8] ^ prefix->b[all / 8]) >> (8 - rest) == 0;
}

static bool is_port_in(uint16_t port, uint16_t min, uint16_t max)
{
	return max == 0 || (port >= min && port <= max);
}

static bool do_links_match(const struct rule *r, const struct route_flow *f)
{
	/* RULE_NO_LINK on both sides is a link that is gone and a packet that names none */
	if (r->r.iif[0] && (r->iif_id != f->iif || r->iif_id == RULE_NO_LINK))
		return false;
	return !r->r.oif[0] || (r->oif_id == f->oif && r->oif_id != RULE_NO_LINK);
}

static bool does_match(const struct rule *rule, const struct route_flow *f)
{
	const struct ns_rule *r = &rule->r;

	if (!do_links_match(rule, f) || ((r->fwmark ^ f->mark) & r->fwmask))
		return false;
	if (r->from_len &&
	    (ns_addr_is_any(&f->src) || !is_in(&f->src, &r->from, r->from_len, r->is_v6)))
		return false;
	if (r->to_len && !is_in(&f->dst, &r->to, r->to_len, r->is_v6))
		return false;
	if (r->tos && r->tos != (f->tos & (r->is_v6 ? TOS_MASK_V6 : TOS_MASK_V4)))
		return false;
	if (r->has_dscp && ((f->tos >> DSCP_SHIFT ^ r->dscp) & r->dscp_mask))
		return false;
	if (r->has_uid && (f->uid < r->uid_min || f->uid > r->uid_max))
		return false;
	if (r->proto && r->proto != f->proto)
		return false;
	return is_port_in(f->sport, r->sport_min, r->sport_max) &&
	       is_port_in(f->dport, r->dport_min, r->dport_max);
}

static const struct rule *first_at(const struct list *head, uint32_t priority)
{
	list_for_each (n, head) {
		const struct rule *r = list_entry(n, const struct rule, node);

		if (r->r.priority == priority)
			return r;
	}
	return NULL;
}

/**
 * rule_next() - the next rule that has a say in where a packet goes
 * @rs:		Rules
 * @after:	The one before, of the same flow; NULL: from the beginning
 * @f:		Packet
 *
 * Return: a rule that matches, neither GOTO nor NOP; NULL when there is none left
 */
const struct rule *rule_next(const struct rules *rs, const struct rule *after,
			     const struct route_flow *f)
{
	const struct list *head = ns_addr_is_v4(&f->dst) ? &rs->v4 : &rs->v6;
	struct list *n = after ? after->node.next : head->next;

	while (n != head) {
		const struct rule *r = list_entry(n, const struct rule, node);

		n = n->next;
		if (does_match(r, f) == r->r.is_inverted || r->r.action == NS_RULE_NOP)
			continue;
		if (r->r.action != NS_RULE_GOTO)
			return r;
		r = first_at(head, r->r.target);
		if (r)
			n = r->node.prev->next; /* itself */
	}
	return NULL;
}
