/* SPDX-License-Identifier: Apache-2.0 */
/* iov.h - scatter/gather element, laid out as POSIX struct iovec (asserted by the daemon) */
#pragma once

#include <stddef.h>

struct ns_iov {
	void *base;
	size_t len; /* octets */
};
