/* SPDX-License-Identifier: Apache-2.0 */
/* dgram.c - see dgram.h */
#include "dgram.h"

ns_sock dgram_opened(void)
{
	ns_sock s;

	expect(ns_dgram_open(rp.stack, &s) == 0);
	return s;
}

ns_sock dgram_opened6(void)
{
	ns_sock s = dgram_opened();

	expect(ns_sock_setopt(rp.stack, s, NS_SO_V6ONLY, 0) == 0);
	return s;
}

ns_sock dgram_bound(const struct ns_endpoint *local)
{
	ns_sock s = ns_addr_is_v4(&local->addr) ? dgram_opened() : dgram_opened6();

	expect(ns_sock_bind(rp.stack, s, local) == 0);
	return s;
}

bool dgram_got(ns_sock s, const char *text, struct ns_dgram_rx *ret_rx)
{
	struct ns_dgram_rx rx;
	struct ns_iov iov[NS_DGRAM_IOVS];
	static uint8_t b[65536];
	uint32_t len = 0;
	int n = ns_dgram_peek(rp.stack, s, 0, &rx, iov);

	if (n < 0)
		return false;
	for (int i = 0; i < n; i++) {
		memcpy(b + len, iov[i].base, iov[i].len);
		len += (uint32_t)iov[i].len;
	}
	expect(len == rx.len);
	if (ret_rx)
		*ret_rx = rx;
	ns_dgram_consume(rp.stack, s, 1);
	return len == strlen(text) && memcmp(b, text, len) == 0;
}

int dgram_send(ns_sock s, const struct ns_endpoint *to, const void *data, size_t len)
{
	struct ns_dgram_tx tx = { .has_to = to != NULL, .ttl = -1, .tos = -1 };
	struct ns_iov iov = { (void *)(uintptr_t)data, len };
	int r;

	if (to)
		tx.to = *to;
	r = ns_dgram_send(rp.stack, s, &tx, &iov, len ? 1 : 0, rp.now);
	rp_turn(&rp);
	return r;
}

bool dgram_error(ns_sock s, struct ns_dgram_err *ret_err)
{
	return ns_dgram_take_error(rp.stack, s, ret_err);
}
