/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nlraw - rtnetlink dumps and requests as messages, on top of libnl
 *
 * Theory of operation: libnl does the transport (sequence numbers, multipart, acknowledgements,
 * interrupted dumps); a callback keeps each message as it came. libnl folds errnos into its own
 * shorter list of codes, which would lose the difference between, say, ENETUNREACH and EHOSTUNREACH
 * that decides whether a route is tried again later; so the error callback keeps the errno, and the
 * extended acknowledgement's text for the log.
 *
 * Limits: NLRAW_RCVBUF octets of socket buffer (5000 routes are about 600 KiB); DUMP_TRIES
 * repetitions of an interrupted dump.
 *
 * Syscalls: #syscalls monitor: socket bind getsockname setsockopt sendmsg recvmsg poll
 */
#include "daemon/netconf/nlraw.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/netconf/netns.h"

#define NLRAW_RCVBUF (4 << 20)
#define NLRAW_MSGBUF                                                                               \
	(256u << 10) /* one recvmsg(); the kernel fills up to 32 KiB of a dump at once */
#define DUMP_TRIES 20

struct nlmsghdr *nlset_next(const struct nlset *set, const struct nlmsghdr *at)
{
	size_t off = 0;

	if (at)
		off = (size_t)((const uint8_t *)at - set->buf) + NLMSG_ALIGN(at->nlmsg_len);
	return off < set->len ? (struct nlmsghdr *)(void *)(set->buf + off) : NULL;
}

const struct nlattr *nlraw_attr(const struct nlmsghdr *nlh, int hdr_len, int type, int len)
{
	const struct nlattr *a = nlmsg_find_attr((struct nlmsghdr *)(uintptr_t)nlh, hdr_len, type);

	return a && nla_len(a) == len ? a : NULL;
}

uint32_t nlraw_attr_u32(const struct nlmsghdr *nlh, int hdr_len, int type, uint32_t dflt)
{
	const struct nlattr *a = nlraw_attr(nlh, hdr_len, type, sizeof(uint32_t));

	return a ? nla_get_u32(a) : dflt;
}

int nlset_append(struct nlset *set, const struct nlmsghdr *nlh)
{
	size_t len = NLMSG_ALIGN(nlh->nlmsg_len);

	if (set->cap - set->len < len) {
		size_t cap = (set->cap ? set->cap * 2 : 8192) + len;
		uint8_t *buf = realloc(set->buf, cap);

		if (!buf)
			return -ENOMEM;
		set->buf = buf;
		set->cap = cap;
	}
	memset(set->buf + set->len, 0, len);
	memcpy(set->buf + set->len, nlh, nlh->nlmsg_len);
	set->len += len;
	set->cnt++;
	return 0;
}

int nlset_load(struct nlset *set, uint8_t *buf, size_t len, size_t hdr_len)
{
	size_t off = 0, cnt = 0;

	while (off < len) {
		struct nlmsghdr nlh;

		if (len - off < sizeof(nlh))
			break;
		memcpy(&nlh, buf + off, sizeof(nlh));
		if (nlh.nlmsg_len < NLMSG_HDRLEN + hdr_len || nlh.nlmsg_len > len - off ||
		    NLMSG_ALIGN(nlh.nlmsg_len) > len - off)
			break;
		off += NLMSG_ALIGN(nlh.nlmsg_len);
		cnt++;
	}
	if (off != len) {
		free(buf);
		return -EINVAL;
	}
	*set = (struct nlset){ .buf = buf, .len = len, .cap = len, .cnt = cnt };
	return 0;
}

void nlset_done(struct nlset *set)
{
	free(set->buf);
	*set = (struct nlset){ 0 };
}

static int keep_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nlraw *nl = arg;
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)(void *)((char *)e - NLMSG_HDRLEN);
	size_t skip = sizeof(*e);

	(void)from;
	nl->err = e->error;
	nl->text[0] = '\0';
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS) {
		const struct nlattr *a;

		/* The request is echoed whole unless the socket asked for the header alone. */
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
			skip += e->msg.nlmsg_len - NLMSG_HDRLEN;
		a = nlmsg_find_attr((struct nlmsghdr *)(void *)((char *)e - NLMSG_HDRLEN),
				    (int)skip, NLMSGERR_ATTR_MSG);
		if (a)
			(void)nla_strlcpy(nl->text, a, sizeof(nl->text));
	}
	return NL_STOP;
}

static int connect_in(void *ctx)
{
	struct nlraw *nl = ctx;
	int r = nl_connect(nl->sk, NETLINK_ROUTE);

	return r < 0 ? (errno ? -errno : -EIO) : 0;
}

int nlraw_open(struct nlraw *nl, int netns_fd)
{
	int one = 1, buf = NLRAW_RCVBUF;
	int r;

	memset(nl, 0, sizeof(*nl));
	nl->sk = nl_socket_alloc();
	if (!nl->sk)
		return -ENOMEM;
	errno = 0;
	r = netns_call(netns_fd, connect_in, nl);
	if (r < 0) {
		nlraw_close(nl);
		return r;
	}
	if (setsockopt(nl_socket_get_fd(nl->sk), SOL_SOCKET, SO_RCVBUFFORCE, &buf, sizeof(buf)) < 0)
		(void)setsockopt(nl_socket_get_fd(nl->sk), SOL_SOCKET, SO_RCVBUF, &buf,
				 sizeof(buf));
	/* Explanations and short acknowledgements: comfort, so an old kernel may refuse. */
	(void)setsockopt(nl_socket_get_fd(nl->sk), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	(void)setsockopt(nl_socket_get_fd(nl->sk), SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	(void)nl_socket_set_msg_buf_size(nl->sk, NLRAW_MSGBUF);
	(void)nl_socket_modify_err_cb(nl->sk, NL_CB_CUSTOM, keep_error, nl);
	return 0;
}

void nlraw_close(struct nlraw *nl)
{
	nl_socket_free(nl->sk);
	nl->sk = NULL;
}

static int keep_message(struct nl_msg *msg, void *arg)
{
	return nlset_append(arg, nlmsg_hdr(msg)) < 0 ? -NLE_NOMEM : NL_OK;
}

static int dump_once(struct nlraw *nl, int type, const void *hdr, size_t hdr_len, struct nlset *set)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | NLM_F_DUMP);
	struct nl_cb *shared, *cb;
	int r;

	if (!msg || nlmsg_append(msg, (void *)(uintptr_t)hdr, hdr_len, NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return -NLE_NOMEM;
	}
	r = nl_send_auto(nl->sk, msg);
	nlmsg_free(msg);
	if (r < 0)
		return r;
	shared = nl_socket_get_cb(nl->sk); /* a reference of ours */
	cb = nl_cb_clone(shared);
	nl_cb_put(shared);
	if (!cb)
		return -NLE_NOMEM;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, keep_message, set);
	r = nl_recvmsgs(nl->sk, cb);
	nl_cb_put(cb);
	return r;
}

/* What libnl says when no errno came from the kernel. */
static int from_nle(int r)
{
	switch (-r) {
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_DUMP_INTR:
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_MSG_TRUNC:
	case NLE_MSG_OVERFLOW:
		return -EMSGSIZE;
	case NLE_PERM:
		return -EPERM;
	default:
		return -EIO;
	}
}

int nlraw_dump(struct nlraw *nl, int type, const void *hdr, size_t hdr_len, struct nlset *ret_set)
{
	int r = -NLE_DUMP_INTR;

	for (int i = 0; i < DUMP_TRIES && r == -NLE_DUMP_INTR; i++) {
		nlset_done(ret_set);
		nl->err = 0;
		r = dump_once(nl, type, hdr, hdr_len, ret_set);
	}
	if (r < 0) {
		nlset_done(ret_set);
		return nl->err ? nl->err : from_nle(r);
	}
	return 0;
}

int nlraw_send(struct nlraw *nl, struct nl_msg *msg)
{
	int r;

	if (!msg)
		return -ENOMEM;
	nl->err = 0;
	nl->text[0] = '\0';
	r = nl_send_auto(nl->sk, msg);
	nlmsg_free(msg);
	if (r >= 0)
		r = nl_wait_for_ack(nl->sk);
	if (r >= 0)
		return 0;
	return nl->err ? nl->err : from_nle(r);
}

int nlraw_replay(struct nlraw *nl, const struct nlmsghdr *nlh, int type, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(nlh->nlmsg_len + NLMSG_ALIGNTO);

	if (msg) {
		struct nlmsghdr *out = nlmsg_hdr(msg);

		/* nlmsg_convert() would do, but its room is one page and multipath may be longer. */
		memcpy(out, nlh, nlh->nlmsg_len);
		out->nlmsg_type = (uint16_t)type;
		out->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
		out->nlmsg_seq = NL_AUTO_SEQ;
		out->nlmsg_pid = NL_AUTO_PORT;
	}
	return nlraw_send(nl, msg);
}
