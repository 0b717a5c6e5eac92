/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - addresses, routes and rules as the embedder tells them, and may change at run time
 *
 * Theory of operation
 *
 * Everything is named as Linux names it: a route by (table, destination, source prefix, TOS, metric)
 * and its next hops, a rule by all its fields, an address by link and address. Each change moves the
 * generation of the routing table on: paths that connections keep are looked up again before the
 * next packet. A connection whose source address or route is gone is not told: it goes on trying
 * until its own limits, as in Linux, and what arrives for the address is not for us any more.
 *
 * Numbers that Linux names (tables, scopes) keep the kernel's values.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "ns/addr.h"

struct ns_stack;

enum { NS_LINK_NAME_LEN = 16 /* octets, with the NUL; linux IFNAMSIZ */ };

enum {
	NS_TABLE_DEFAULT = 253, /* linux RT_TABLE_* */
	NS_TABLE_MAIN = 254,
	NS_TABLE_LOCAL = 255,
};

enum {
	NS_SCOPE_UNIVERSE = 0, /* linux RT_SCOPE_*: larger is nearer */
	NS_SCOPE_SITE = 200,
	NS_SCOPE_LINK = 253,
	NS_SCOPE_HOST = 254,
	NS_SCOPE_NOWHERE = 255,
};

enum ns_route_type {
	NS_ROUTE_UNICAST,
	NS_ROUTE_LOCAL,
	NS_ROUTE_BROADCAST,
	NS_ROUTE_ANYCAST,
	NS_ROUTE_MULTICAST,
	NS_ROUTE_BLACKHOLE,   /* -EINVAL */
	NS_ROUTE_UNREACHABLE, /* -EHOSTUNREACH */
	NS_ROUTE_PROHIBIT,    /* -EACCES */
	NS_ROUTE_THROW,       /* this table has no answer: on to the next rule */
	NS_ROUTE_TYPE_COUNT
};

/** struct ns_nexthop - one of several ways of a route */
struct ns_nexthop {
	struct ns_addr
		gateway; /* any: the destination is on the link; IPv6 also for IPv4 (RFC 8950) */
	uint32_t link_id;
	uint16_t weight; /* share of the flows, 1..256; 0: 1 */
	bool is_onlink;
	bool is_dead; /* as Linux flags it; the link's own state is looked at besides */
};

/** struct ns_route - one route; of @dst, @from, @prefsrc one family */
struct ns_route {
	struct ns_addr dst;
	uint8_t prefix_len;     /* bits, of 32 for IPv4 (of 128 for IPv6) */
	struct ns_addr gateway; /* any: on-link */
	struct ns_addr prefsrc; /* any: chosen */
	uint32_t link_id;
	uint32_t metric;
	uint32_t mtu;   /* octets, 0: the link's */
	uint32_t table; /* 0: local for what is ours, else main */
	uint8_t type;   /* enum ns_route_type */
	uint8_t tos;    /* IPv4: for this DSCP alone (the two low bits 0); 0: for all */
	uint8_t scope;  /* IPv4: NS_SCOPE_*; the source is no nearer than this */
	bool is_onlink;
	bool is_v6;          /* tells the family of a route whose addresses are all any */
	uint8_t from_len;    /* IPv6: bits of @from */
	struct ns_addr from; /* IPv6: for sources in this prefix alone */
	/* Several ways: instead of @gateway, @link_id and @is_onlink; copied */
	const struct ns_nexthop *nexthops;
	uint32_t nexthop_cnt; /* 0: the one of the fields above */
};

/** enum ns_rule_action - what a rule that matches does */
enum ns_rule_action {
	NS_RULE_LOOKUP,
	NS_RULE_GOTO,
	NS_RULE_NOP,
	NS_RULE_BLACKHOLE,   /* -EINVAL */
	NS_RULE_UNREACHABLE, /* -ENETUNREACH */
	NS_RULE_PROHIBIT,    /* -EACCES */
	NS_RULE_ACTION_COUNT
};

/** struct ns_rule - one policy rule; a field that is zero (or empty) matches everything */
struct ns_rule {
	uint32_t priority; /* lower is asked first */
	uint8_t action;    /* enum ns_rule_action */
	bool is_v6;
	bool is_inverted;
	uint32_t table;  /* LOOKUP */
	uint32_t target; /* GOTO: priority to go on with, higher than this rule's */
	struct ns_addr to, from;
	uint8_t to_len, from_len; /* bits, of 32 for IPv4 */
	uint8_t tos;
	uint8_t proto;
	bool has_dscp;           /* instead of @tos, and 0 is a value, too */
	uint8_t dscp, dscp_mask; /* 6 bits */
	bool has_uid;
	uint32_t uid_min, uid_max;  /* of who made the socket; what belongs to none has 0 */
	char iif[NS_LINK_NAME_LEN]; /* link it came by; "lo": what this host sends itself */
	char oif[NS_LINK_NAME_LEN]; /* link the socket is bound to */
	uint32_t fwmark, fwmask;
	uint16_t sport_min, sport_max, dport_min, dport_max;
	bool has_suppress_len;
	uint8_t suppress_len; /* an answer with a prefix this long or shorter does not count */
	bool has_suppress_group;
	uint32_t suppress_group; /* likewise one over a link of this group */
};

/** struct ns_ifaddr - one address of a link */
struct ns_ifaddr {
	struct ns_addr addr;
	struct ns_addr peer;  /* other end, any: none; the subnet is that of the peer */
	uint8_t prefix_len;   /* bits, of 32 for IPv4 */
	uint8_t scope;        /* IPv4: NS_SCOPE_* */
	bool is_secondary;    /* IPv4: never chosen as source by itself */
	bool is_deprecated;   /* IPv6, RFC 4862 5.5.4 */
	bool is_temporary;    /* IPv6, RFC 8981 */
	bool is_unusable;     /* IPv6: tentative or found to be another's: not chosen as source */
	bool is_routes_given; /* its subnet and broadcast come by ns_stack_add_route(), if at all */
};

/**
 * ns_stack_set_addr() - add an address, or change one that is there
 * Its local route comes with it; that of the subnet and IPv4's broadcasts too unless is_routes_given.
 *
 * Return: 0, -ENODEV, -EINVAL, -ENOSPC, -ENOMEM
 */
ns_must_check int ns_stack_set_addr(struct ns_stack *s, uint32_t link_id,
				    const struct ns_ifaddr *a);
/** ns_stack_del_addr() - with the routes it brought and those that prefer it as source; of several alike one. 0, -ENODEV, -EADDRNOTAVAIL */
ns_must_check int ns_stack_del_addr(struct ns_stack *s, uint32_t link_id, const struct ns_addr *a);

/**
 * ns_stack_add_route() - behind those of the same name; the very same (next hops and source, too) is given the new MTU
 * Return: 0, -ENODEV, -EINVAL, -ENOSPC, -ENOMEM
 */
ns_must_check int ns_stack_add_route(struct ns_stack *s, const struct ns_route *r);
/** ns_stack_replace_route() - instead of the first of the same (table, dst, from, tos, metric), or add */
ns_must_check int ns_stack_replace_route(struct ns_stack *s, const struct ns_route *r);
/**
 * ns_stack_del_route() - the first of (table, dst, from, tos, type) with this metric
 * Without a next hop in @r (all zero) any next hop will do; with one or several they must be the same.
 *
 * Return: 0, -ESRCH
 */
ns_must_check int ns_stack_del_route(struct ns_stack *s, const struct ns_route *r);

/**
 * ns_stack_add_rule() - behind the others of its priority
 * A new stack has Linux's: 0 local, 32766 main, 32767 default (IPv6 has no table default).
 *
 * Return: 0, -EINVAL, -ENOSPC, -ENOMEM
 */
ns_must_check int ns_stack_add_rule(struct ns_stack *s, const struct ns_rule *r);
/** ns_stack_del_rule() - the first that is equal in all; 0, -ENOENT */
ns_must_check int ns_stack_del_rule(struct ns_stack *s, const struct ns_rule *r);
/** ns_stack_flush_rules() - of one family, the three of a new stack too */
void ns_stack_flush_rules(struct ns_stack *s, bool is_v6);

/** struct ns_flow - a packet as routing sees it; zero: not known, or does not matter */
struct ns_flow {
	struct ns_addr dst;
	struct ns_addr src;    /* any: to be chosen */
	uint32_t oif;          /* ns_link_config.ifindex the socket is bound to */
	uint32_t iif;          /* link it came by */
	uint32_t mark;         /* SO_MARK */
	uint32_t uid;          /* of the socket */
	uint16_t sport, dport; /* host byte order */
	uint8_t tos;
	uint8_t proto; /* of the IP header */
};

/** struct ns_route_answer - what was found */
struct ns_route_answer {
	uint8_t type; /* enum ns_route_type */
	bool has_gateway;
	bool has_src;
	struct ns_addr gateway;
	struct ns_addr
		src; /* IPv4: the packet's own, else the one that is chosen; IPv6: the one that would be */
	uint32_t link_id, ifindex; /* it leaves by, LINK 0 being the loop */
	uint32_t table;            /* 0: no table was asked */
	uint32_t mtu;              /* octets */
	uint32_t metric;
	uint32_t nexthop_cnt; /* of the route, of which the flow took one */
};

/**
 * ns_stack_find_route() - as a socket's packet (no iif), or a received one (iif), would be routed
 * Return: 0, or the errno a socket would have: -ENETUNREACH, -EHOSTUNREACH, -EACCES, -EINVAL, -ENODEV ...
 */
ns_must_check int ns_stack_find_route(const struct ns_stack *s, const struct ns_flow *flow,
				      struct ns_route_answer *ret_answer);
/** ns_stack_each_route() - all, tables in the order they were made, no order in a table; borrowed during the call */
void ns_stack_each_route(const struct ns_stack *s, void (*fn)(void *ctx, const struct ns_route *r),
			 void *ctx);
/** ns_stack_each_rule() - all of IPv4, then of IPv6, in the order in which they are asked */
void ns_stack_each_rule(const struct ns_stack *s, void (*fn)(void *ctx, const struct ns_rule *r),
			void *ctx);
