/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_state.c - the JSON with which an OCI runtime hands over a container: whoever may connect can send anything */
#include <errno.h>
#include <stdlib.h>

#include "daemon/monitor/listener.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	size_t fd_cnt = input_u8(&in) % (LISTENER_FDS_MAX + 1), idx = SIZE_MAX, idx2 = SIZE_MAX;
	struct listener_state s = { .notify_fd = -1 }, again = { .notify_fd = -1 };
	char *exact = malloc(in.left ? in.left : 1); /* not ended by NUL: nobody may look for one */

	if (!exact)
		return 0;
	memcpy(exact, in.at, in.left);
	int r = listener_state_parse(exact, in.left, fd_cnt, &s, &idx);

	must_hold(r == 0 || r == -EAGAIN || r == -EINVAL);
	must_hold(listener_state_parse(exact, in.left, fd_cnt, &again, &idx2) == r);
	if (r == 0) {
		must_hold(idx < fd_cnt && idx == idx2);
		must_hold(memchr(s.id, 0, sizeof(s.id)) && memchr(s.bundle, 0, sizeof(s.bundle)));
		must_hold(s.pid >= 0 && !strcmp(s.id, again.id));
	}
	free(exact);
	return 0;
}
