/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vcheck.h - what must hold of every segment on a wire, whatever the applications do
 *
 * Theory of operation
 *
 * A vcheck sits where frames leave the hosts (vnet.tap), so it sees what each side said, not what
 * arrived. For each connection and direction it remembers the furthest octet sent, the furthest edge
 * offered and the last acknowledgement, and counts what no correct TCP does:
 *
 *   beyond     octets beyond the furthest edge that the other side ever offered (RFC 9293 3.8.6; one octet
 *              is allowed to a window probe)
 *   unsent     an acknowledgement of what the other side never sent (3.10.7.4)
 *   back       an acknowledgement smaller than one before
 *   shrunk     an edge moved left by more than the rounding of its scale (SHLD-14)
 *   clock      a timestamp smaller than one before (RFC 7323 5.4)
 *
 * Limits: connections are told apart by the larger of their ports and must be seen from
 * their SYN on.
 */
#pragma once

#include "support/vwire.h"

enum vcheck_fault {
	VCHECK_BEYOND,
	VCHECK_UNSENT,
	VCHECK_BACK,
	VCHECK_SHRUNK,
	VCHECK_CLOCK,
	VCHECK_FAULTS
};

struct vcheck;

/** vcheck_new() - watch @v from now on; takes its tap and hook_ctx; aborts without memory */
struct vcheck *vcheck_new(struct vnet *v);
/** vcheck_free() - NULL is fine */
void vcheck_free(struct vcheck *k);
/** vcheck_faults() - how many of all kinds; prints the first of each to stderr as it happens */
uint64_t vcheck_faults(const struct vcheck *k);
