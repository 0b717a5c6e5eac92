/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_cred.c - what a calling thread may do with the container's network, and whose it is
 *
 * Theory of operation
 *
 * Linux lets some options of a socket be set only by who has a capability in the user namespace that owns
 * the network namespace. The agent decides as cap_capable() does, of the thread that waits for its answer:
 *
 *   - its effective set is asked for with capget(2), its user namespace with an ioctl of its pidfd;
 *   - the namespaces that count are the owner of the network namespace and those above it, found once
 *     with ioctls of the namespace's descriptor. In the owner, and in one above, the effective set counts;
 *     who made the owner and is in the namespace right above it has everything.
 *
 * A thread that waits in a trapped call cannot change its credentials, and its number is not given to
 * another while it lives. So what was read is the caller's when the notification is still valid after
 * it was read, which is asked last; a pidfd is of that very thread or says -ESRCH.
 *
 * Limits: the user namespace of a thread can be asked for since linux 6.11, its user since 6.13. On older
 * kernels nobody may set what takes a capability, privileged ports are anybody's, and no rule by users
 * meets a socket.
 *
 * References: linux v6.1 security/commoncap.c cap_capable(), net/core/sock.c sk_setsockopt();
 * linux v6.13 fs/pidfs.c pidfd_ioctl()
 */
#include <linux/nsfs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/agent/agent_int.h"
#include "daemon/common/log.h"
#include "seccomp/uapi.h"

#define USERNS_UNKNOWN UINT32_MAX

/* ---- the network namespace ---- */

static bool userns_add(struct agent *a, int fd)
{
	struct agent_userns *u = &a->userns[a->userns_cnt];
	struct stat st;

	if (a->userns_cnt == AGENT_USERNS_MAX || fstat(fd, &st) < 0)
		return false;
	*u = (struct agent_userns){ .dev = st.st_dev, .ino = st.st_ino };
	if (ioctl(fd, NS_GET_OWNER_UID, &u->owner) < 0)
		return false;
	a->userns_cnt++;
	return true;
}

void cred_init(struct agent *a, int netns_fd)
{
	int fd = netns_fd >= 0 ? ioctl(netns_fd, NS_GET_USERNS) : -1;

	a->port_start = IPPORT_RESERVED;
	while (fd >= 0) {
		int parent = userns_add(a, fd) ? ioctl(fd, NS_GET_PARENT) : -1;

		close(fd);
		fd = parent;
	}
	if (a->userns_cnt == 0)
		log_notice("it is not known who owns the container's network namespace: "
			   "options that take a capability are refused");
}

/* ---- the thread ---- */

/** userns_of() - the place of the thread's among those that count; USERNS_UNKNOWN: none of them. Or negative errno */
static int64_t userns_of(struct agent *a, uint32_t tid)
{
	struct stat st;
	int fd = thread_ioctl(a, tid, PIDFD_GET_USER_NAMESPACE, NULL), r;

	if (fd < 0)
		return fd;
	r = fstat(fd, &st);
	close(fd);
	if (r < 0)
		return -EIO;
	for (uint32_t i = 0; i < a->userns_cnt; i++)
		if (a->userns[i].dev == st.st_dev && a->userns[i].ino == st.st_ino)
			return i;
	return USERNS_UNKNOWN;
}

static bool has_cap(cap_t caps, cap_value_t cap)
{
	cap_flag_value_t is_set = CAP_CLEAR;

	return cap_get_flag(caps, cap, CAP_EFFECTIVE, &is_set) == 0 && is_set == CAP_SET;
}

static bool is_maker(struct agent *a, uint32_t tid, uint32_t made)
{
	struct cred_info info = { .mask = PIDFD_INFO_CREDS };

	return thread_ioctl(a, tid, PIDFD_GET_INFO, &info) >= 0 && (info.mask & PIDFD_INFO_CREDS) &&
	       info.euid == a->userns[made].owner;
}

/** cred_ask() - Return: 1, 0, or negative errno: this kernel does not tell */
static int cred_ask(struct agent *a, const struct call *c, cap_value_t one, cap_value_t other)
{
	int64_t at = a->userns_cnt ? userns_of(a, c->tid) : -ENODATA;
	cap_t caps;
	bool is;

	if (at < 0)
		return (int)at;
	if (at == USERNS_UNKNOWN)
		return 0;
	caps = cap_get_pid((pid_t)c->tid);
	if (!caps)
		return 0;
	is = has_cap(caps, one) || has_cap(caps, other) ||
	     (at > 0 && is_maker(a, c->tid, (uint32_t)at - 1));
	(void)cap_free(caps);
	return is && call_is_waiting(c);
}

bool cred_may_rebind(struct agent *a, const struct call *c)
{
	return cred_ask(a, c, CAP_NET_RAW, CAP_NET_RAW) > 0;
}

bool cred_may_take_port(struct agent *a, const struct call *c, uint16_t port)
{
	return port == 0 || port >= a->port_start ||
	       cred_ask(a, c, CAP_NET_BIND_SERVICE, CAP_NET_BIND_SERVICE) != 0;
}

bool cred_may_set(struct agent *a, const struct call *c, int level, int name, const uint8_t *val,
		  int len)
{
	enum { PRIORITY_FREE = 6 }; /* TC_PRIO_INTERACTIVE */
	int32_t value;

	if (level != SOL_SOCKET || (name != SO_MARK && name != SO_PRIORITY) ||
	    len < (int)sizeof(value))
		return true;
	memcpy(&value, val, sizeof(value));
	if (name == SO_PRIORITY && value >= 0 && value <= PRIORITY_FREE)
		return true;
	return cred_ask(a, c, CAP_NET_ADMIN, CAP_NET_RAW) > 0;
}

uint32_t cred_uid(struct agent *a, const struct call *c)
{
	struct cred_info info = { .mask = PIDFD_INFO_CREDS };

	if (thread_ioctl(a, c->tid, PIDFD_GET_INFO, &info) < 0 || !(info.mask & PIDFD_INFO_CREDS))
		return CRED_NO_UID;
	return info.fsuid;
}
