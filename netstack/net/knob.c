/* SPDX-License-Identifier: Apache-2.0 */
/* knob.c - the rows of ns/knobs.def, and what a stack begins with */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "net/proto.h"

static const struct ns_knob_info knobs[NS_KNOB_COUNT] = {
#define KNOB_AT(name_, sysctl_, word_, least_, most_, default_, text_)                             \
	[NS_KNOB_##name_] = { #name_, sysctl_, word_, least_, most_, default_, text_ },
#include "ns/knobs.def"
};

/** core_knobs_init() - the defaults; those of buffers are the embedder's limits, which are set */
void core_knobs_init(struct ns_core *c)
{
	uint32_t rcvbuf_max = c->limits.rcvbuf_max, sndbuf_max = c->limits.sndbuf_max;

	for (int i = 0; i < NS_KNOB_COUNT; i++)
		c->knobs[i] = knobs[i].initial;
	c->knobs[NS_KNOB_tcp_rmem_max] = (int)ns_min_u(rcvbuf_max, INT_MAX / 2) * 2;
	c->knobs[NS_KNOB_rmem_max] = (int)ns_min_u(rcvbuf_max, INT_MAX);
	c->knobs[NS_KNOB_tcp_wmem_max] = (int)ns_min_u(sndbuf_max, INT_MAX);
	c->knobs[NS_KNOB_wmem_max] = (int)ns_min_u(sndbuf_max, INT_MAX);
}

const struct ns_knob_info *ns_knob_info(enum ns_knob knob)
{
	return knob < NS_KNOB_COUNT ? &knobs[knob] : NULL;
}

int ns_knob_find(const char *name, enum ns_knob *ret_knob)
{
	size_t size = strlen(name) + 1;

	for (int i = 0; i < NS_KNOB_COUNT; i++) {
		if (strlen(knobs[i].name) + 1 == size && memcmp(knobs[i].name, name, size) == 0) {
			*ret_knob = (enum ns_knob)i;
			return 0;
		}
	}
	return -ENOENT;
}
