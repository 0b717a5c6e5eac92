/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tcp_opt.c - the parser of TCP options against a slow reader of its own */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "tcp/tcp_seg.h"

/* RFC 9293 3.2, read the long way: does the list hold together? Where is the last option @kind of @len? */
static bool walk(const uint8_t *at, size_t len)
{
	for (size_t i = 0; i < len;) {
		if (at[i] == 0)
			return true;
		if (at[i] == 1) {
			i++;
			continue;
		}
		if (i + 1 >= len || at[i + 1] < 2 || i + at[i + 1] > len)
			return false;
		i += at[i + 1];
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tcp_opts o, again;
	size_t len = size < TCP_OPT_MAX ? size : TCP_OPT_MAX;
	uint8_t *exact = malloc(len ? len : 1);

	if (!exact)
		return 0;
	memcpy(exact, data, len);
	memset(&o, 0x5a, sizeof(o));
	memset(&again, 0xa5, sizeof(again));
	bool ok = tcp_opts_parse(exact, (uint32_t)len, &o);

	must_hold(ok == tcp_opts_parse(exact, (uint32_t)len, &again));
	if (ok) {
		must_hold(o.wscale <= TCP_WSCALE_MAX && o.sack_cnt <= TCP_SACK_MAX);
		must_hold(o.mss == again.mss && o.has_ts == again.has_ts &&
			  o.ts_val == again.ts_val && o.ts_ecr == again.ts_ecr &&
			  o.sack_cnt == again.sack_cnt && o.sack_ok == again.sack_ok);
		must_hold(o.has_wscale || !o.wscale);
		must_hold(o.has_ts || (!o.ts_val && !o.ts_ecr));
	}
	if (walk(exact, len))
		must_hold(ok ||
			  len); /* a list that holds together may still be refused for a value */
	free(exact);
	return 0;
}
