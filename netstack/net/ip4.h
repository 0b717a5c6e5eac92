/* SPDX-License-Identifier: Apache-2.0 */
/* ip4.h - IPv4 in and out */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/drop.h"
#include "base/mono.h"
#include "ns/addr.h"

struct dst;
struct ip_tx;
struct link;
struct net;
struct ns_env;
struct pkt;

enum {
	IP4_IDS = 1024,
};

/** struct ip4_ids - counters of the identification field, one for a hash of the path */
struct ip4_ids {
	uint16_t next[IP4_IDS];
	struct ns_addr last_src,
		last_dst; /* the path of the last packet: no hash for a train of them */
	uint32_t last_idx;
	uint8_t last_proto;
};

void ip4_ids_init(struct ip4_ids *ids, const struct ns_env *env);
ns_must_check enum drop ip4_input(struct net *n, struct link *l, struct pkt *p, bool is_bcast,
				  struct mono now);
int ip4_output(struct net *n, const struct dst *d, const struct ip_tx *ip, struct pkt *p,
	       struct mono now);
