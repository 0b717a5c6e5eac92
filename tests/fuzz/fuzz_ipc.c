/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ipc.c - the table that every message between the roles is held against */
#include <stdlib.h>

#include "daemon/common/ipc.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	enum ipc_role from = (enum ipc_role)(input_u8(&in) % IPC_ROLE_COUNT);
	enum ipc_role to = (enum ipc_role)(input_u8(&in) % IPC_ROLE_COUNT);
	uint32_t fd_cnt = input_u8(&in);
	size_t len;
	const uint8_t *octets = input_take(&in, in.left, &len);
	uint8_t *exact = aligned_alloc(8, (len + 8) & ~(size_t)7);

	if (!exact)
		return 0;
	memcpy(exact, octets, len);
	int r = ipc_check(exact, len, fd_cnt, from, to);

	must_hold(r == 0 || r == -71 /* -EPROTO */);
	if (r == 0) {
		const struct ipc_header *h = (const void *)exact;

		must_hold(from != to && h->version == IPC_VERSION && h->type < IPC_TYPE_COUNT);
		must_hold(len == sizeof(*h) + h->len && h->len == ipc_body_len(h->type));
		must_hold(fd_cnt <= IPC_FDS_MAX && strcmp(ipc_type_name(h->type), "?") != 0);
	}
	free(exact);
	return 0;
}
