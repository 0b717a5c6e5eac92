/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_device.c - SO_BINDTODEVICE and SO_BINDTOIFINDEX: a socket of one link
 *
 * The program's names and numbers of links are those of the plan, whichever namespace the links are in by
 * now. Both options, and the scope of an address (agent_dgram.c), write the one number that Linux calls
 * sk_bound_dev_if; the stack is told as NS_SO_BINDTOIFINDEX. IPV6_PKTINFO of a socket must agree with it.
 *
 * References: linux v6.1 net/core/sock.c sock_setbindtodevice(), sock_bindtoindex_locked()
 */
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/agent/agent_int.h"

/* The loopback interface is no link of the plan's. */
#define LOOPBACK_IFINDEX 1
#define LOOPBACK_NAME    "lo"

void device_init(struct agent *a, const struct plan *plan)
{
	a->link_cnt = 0;
	for (size_t i = 0; i < plan->link_cnt && a->link_cnt < PLAN_LINKS_MAX; i++) {
		struct agent_link *l = &a->links[a->link_cnt++];

		l->ifindex = plan->links[i].ifindex;
		memcpy(l->name, plan->links[i].name, sizeof(l->name));
	}
}

/** name_of() - NULL: no such link */
static const char *name_of(const struct agent *a, uint32_t ifindex)
{
	for (uint32_t i = 0; i < a->link_cnt; i++)
		if (a->links[i].ifindex == ifindex)
			return a->links[i].name;
	return ifindex == LOOPBACK_IFINDEX ? LOOPBACK_NAME : NULL;
}

bool device_is_there(const struct agent *a, uint32_t ifindex)
{
	return name_of(a, ifindex) != NULL;
}

/** ifindex_of() - 0: no such link */
static uint32_t ifindex_of(const struct agent *a, const char *name)
{
	for (uint32_t i = 0; i < a->link_cnt; i++)
		if (strcmp(a->links[i].name, name) == 0)
			return a->links[i].ifindex;
	return strcmp(name, LOOPBACK_NAME) == 0 ? LOOPBACK_IFINDEX : 0;
}

void device_bind(struct agent *a, struct asock *s, uint32_t ifindex)
{
	s->bound_ifindex = ifindex;
	if (s->dg || (s->state != ASOCK_IDLE && s->state != ASOCK_DEAD))
		agent_send(a, IPC_SETOPT,
			   &(struct ipc_sockopt_set){ s->handle, NS_SO_BINDTOIFINDEX,
						      (int32_t)ifindex });
}

/** set() - Return: 0, -ENODEV, -EPERM (bound already: that takes CAP_NET_RAW) */
static int set(struct agent *a, const struct call *c, struct asock *s, uint32_t ifindex,
	       bool is_known)
{
	if (s->bound_ifindex && !cred_may_rebind(a, c))
		return -EPERM;
	if (!is_known)
		return -ENODEV;
	device_bind(a, s, ifindex);
	return 0;
}

int device_set_name(struct agent *a, const struct call *c, struct asock *s, const uint8_t *val,
		    int len)
{
	char name[IFNAMSIZ] = { 0 };
	uint32_t ifindex;

	memcpy(name, val, (size_t)(len < IFNAMSIZ - 1 ? len : IFNAMSIZ - 1));
	ifindex = name[0] ? ifindex_of(a, name) : 0;
	return set(a, c, s, ifindex, ifindex || !name[0]);
}

int device_set_ifindex(struct agent *a, const struct call *c, struct asock *s, const uint8_t *val,
		       int len)
{
	int32_t ifindex;

	if (len < (int)sizeof(ifindex))
		return -EINVAL;
	memcpy(&ifindex, val, sizeof(ifindex));
	if (ifindex < 0)
		return -EINVAL;
	return set(a, c, s, (uint32_t)ifindex,
		   ifindex == 0 || device_is_there(a, (uint32_t)ifindex));
}

int64_t device_get_name(const struct agent *a, const struct asock *s, const struct args_mem *mem,
			uint64_t val, uint64_t len_ptr)
{
	const char *name = s->bound_ifindex ? name_of(a, s->bound_ifindex) : NULL;
	int room = args_opt_len_in(mem, len_ptr);

	if (room < 0)
		return room;
	if (!name)
		return args_opt_out(mem, val, len_ptr, room, "", 0);
	if (room < IFNAMSIZ)
		return -EINVAL;
	return args_opt_out(mem, val, len_ptr, room, name, strlen(name) + 1);
}

int device_may_set_pktinfo(const struct asock *s, const uint8_t *val, int len)
{
	struct in6_pktinfo info;

	if (s->family != AF_INET6 || !s->bound_ifindex || len < (int)sizeof(info))
		return 0;
	memcpy(&info, val, sizeof(info));
	return info.ipi6_ifindex == s->bound_ifindex ? 0 : -EINVAL;
}
