/* SPDX-License-Identifier: Apache-2.0 */
/* frag.h - packets put together from fragments */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/list.h"
#include "base/mono.h"

struct ip4_hdr;
struct ip_rx;
struct net;
struct pkt;

/** struct frags - incomplete packets of a stack */
struct frags {
	struct list sets; /* oldest first */
	uint32_t cnt;
};

void frags_init(struct frags *f);
void frags_done(struct net *n);
ns_must_check enum drop frag_input(struct net *n, struct pkt *p, const struct ip_rx *ip,
				   struct mono now, struct pkt **ret_whole);
