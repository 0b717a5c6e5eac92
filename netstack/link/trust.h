/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - does a device that would not take a super-frame refuse all of them, or is its queue full?
 *
 * Theory of operation
 *
 * -EINVAL is about the frame: the kernel will refuse the next one, too. -ENOBUFS is said by drivers that
 * refuse, and by a qdisc that dropped the frame for want of room. What is sure is only that the frame is not
 * out. So it is cut, and its pieces go where it did not: if they are dropped as well, the queue is full. When
 * TRUST_FULL_MAX super-frames in a row were not taken while their pieces were, and none was taken between,
 * the link asks no more for a while. The pause is counted in frames, since the link has no clock, and
 * doubles each time the first try after it fails.
 *
 * Invariants: pure; zero is the state of a link that is trusted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	TRUST_FULL_MAX = 8, /* refusals in a row that are forgiven */
	TRUST_PAUSE_MIN =
		4096, /* frames: some milliseconds at 10 Gbit/s, some seconds at 20 Mbit/s */
	TRUST_PAUSE_MAX = 1 << 22,
};

/** struct gso_trust - what a link knows of its device */
struct gso_trust {
	uint32_t full_cnt; /* super-frames in a row that were not taken */
	uint32_t pause;    /* frames, of the last pause; 0: there was none */
	uint32_t left;     /* frames until the device is asked again */
};

/** enum trust_verdict - what to do about a frame that asks something of the device and was not taken */
enum trust_verdict {
	TRUST_CUT_IT,   /* do it in software for this one */
	TRUST_PAUSE,    /* for all, until trust_is_over() */
	TRUST_FOR_GOOD, /* for all, from now on */
};

enum trust_verdict trust_refused(struct gso_trust *t, int err);
void trust_accepted(struct gso_trust *t);
void trust_overload(struct gso_trust *t);
bool trust_is_over(struct gso_trust *t, uint32_t sent_cnt);
