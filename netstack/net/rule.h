/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - policy rules: which table is asked for which packet */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "ns/addr.h"
#include "ns/route.h"

enum {
	RULES_MAX = 4096,
	RULE_NO_LINK = UINT32_MAX,
};

/** struct rule - borrowed until the rules change */
struct rule {
	struct list node;
	struct ns_rule r;
	uint32_t iif_id, oif_id; /* links of that name; RULE_NO_LINK: none now */
};

/** struct rules - of both families, each sorted by priority, the older first among equals */
struct rules {
	struct list v4, v6;
	uint32_t cnt;
	bool asks_transport; /* one of them looks at protocol or ports */
	bool is_custom[2];   /* of IPv4, IPv6: they are not those of a new stack */
};

/** struct route_flow - what rules and routes look at */
struct route_flow {
	struct ns_addr dst;
	struct ns_addr src; /* any: not chosen yet */
	uint32_t oif,
		iif; /* link ids; RULE_NO_LINK: any. What we send ourselves comes by LINK_LOOP_ID */
	uint32_t mark, uid;
	uint16_t sport, dport; /* host byte order */
	uint8_t tos, proto;
	bool is_oif_strict; /* IPv6: no other link than @oif will do */
};

void rule_clean_name(char name[NS_LINK_NAME_LEN]);
ns_must_check int rules_init(struct rules *rs);
void rules_done(struct rules *rs);
ns_must_check int rule_add(struct rules *rs, const struct ns_rule *r);
ns_must_check int rule_del(struct rules *rs, const struct ns_rule *r);
void rules_flush(struct rules *rs, bool is_v6);
void rules_each(const struct rules *rs, void (*fn)(void *ctx, const struct ns_rule *r), void *ctx);
void rules_resolve(struct rules *rs, uint32_t (*link_id)(const void *ctx, const char *name),
		   const void *ctx);
const struct rule *rule_next(const struct rules *rs, const struct rule *after,
			     const struct route_flow *f);
