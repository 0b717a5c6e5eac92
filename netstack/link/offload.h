/* SPDX-License-Identifier: Apache-2.0 */
/* offload.h - in software what the device will not do: cut super-frames, complete checksums */
#pragma once

#include "base/attr.h"
#include "buf/pkt.h"

ns_must_check int offload_cut(const struct pkt *super, struct pool *pkts, struct pktq *out);
void offload_fill_csum(struct pkt *p);
