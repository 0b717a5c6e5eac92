/* SPDX-License-Identifier: Apache-2.0 */
/* trust.c - see trust.h */
#include "link/trust.h"

#include <errno.h>

#include "base/attr.h"

/**
 * trust_refused() - the device did not take a frame that asks for segments or a checksum
 * @t:		State
 * @err:	Negative errno that was said about it
 */
enum trust_verdict trust_refused(struct gso_trust *t, int err)
{
	if (err != -ENOBUFS)
		return TRUST_FOR_GOOD;
	if (++t->full_cnt < TRUST_FULL_MAX)
		return TRUST_CUT_IT;
	t->pause = t->pause ? ns_min_u(t->pause * 2, TRUST_PAUSE_MAX) : TRUST_PAUSE_MIN;
	t->left = t->pause;
	return TRUST_PAUSE;
}

/** trust_accepted() - a super-frame was taken: all is forgiven */
void trust_accepted(struct gso_trust *t)
{
	t->full_cnt = t->pause = 0;
}

/** trust_overload() - a plain frame found no room either: the queue is full, and nobody refuses anything */
void trust_overload(struct gso_trust *t)
{
	t->full_cnt = 0;
}

/**
 * trust_is_over() - in a pause
 * @t:		State
 * @sent_cnt:	Frames that were sent since the last call
 *
 * Return: whether the device is to be asked again; the first refusal then begins the next pause
 */
bool trust_is_over(struct gso_trust *t, uint32_t sent_cnt)
{
	if (t->left == 0)
		return false;
	t->left -= ns_min_u(t->left, sent_cnt);
	if (t->left > 0)
		return false;
	t->full_cnt = TRUST_FULL_MAX - 1;
	return true;
}
