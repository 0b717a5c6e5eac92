/* SPDX-License-Identifier: Apache-2.0 */
/* agent_fastopen.c - options of TCP Fast Open that depend on the socket's state, and keys, which are no plain values */
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "daemon/agent/agent_int.h"

/* linux TFO_CLIENT_ENABLE of net.ipv4.tcp_fastopen */
#define CLIENT_ENABLE 1

bool fastopen_is_client(const struct agent *a)
{
	return a->fastopen & CLIENT_ENABLE;
}

/* linux do_tcp_setsockopt(); what is wrong with a value the table says. */
int fastopen_may_set(const struct agent *a, const struct asock *s, int name, const uint8_t *val,
		     int len)
{
	bool is_closed =
		s->state == ASOCK_IDLE || s->state == ASOCK_BOUND || s->state == ASOCK_DEAD;
	int32_t n = 0;

	if (len < (int)sizeof(n))
		return 0;
	memcpy(&n, val, sizeof(n));
	switch (name) {
	case TCP_FASTOPEN_CONNECT:
		if (n != 0 && n != 1)
			return 0;
		if (!fastopen_is_client(a))
			return -EOPNOTSUPP;
		return is_closed ? 0 : -EINVAL;
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_NO_COOKIE:
		return is_closed || s->state == ASOCK_LISTEN ? 0 : -EINVAL;
	default:
		return 0;
	}
}

void fastopen_tell_keys(struct agent *a, const struct asock *s)
{
	struct ipc_fastopen_key k = { .sock = s->handle, .len = s->opts.fastopen_keys_len };

	if (k.len == 0)
		return;
	memcpy(k.keys, s->opts.fastopen_keys, sizeof(k.keys));
	agent_send(a, IPC_FASTOPEN_KEY, &k);
}

bool fastopen_is_dontwait(const struct call *c)
{
	switch (c->nr) {
	case SYS_sendto:
		return call_arg_int(c, 3) & MSG_DONTWAIT;
	case SYS_sendmsg:
		return call_arg_int(c, 2) & MSG_DONTWAIT;
	default:
		return false;
	}
}
