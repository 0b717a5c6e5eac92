/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nlraw - rtnetlink dumps and requests as messages, on top of libnl
 *
 * libnl-route's objects are what the plan is built from; for giving a configuration back they are
 * too narrow: libnl 3.7 drops attributes it does not know (next hop objects, address protocols,
 * encapsulations). Therefore the dump's messages themselves are kept and sent again, as
 * `ip route save` and `ip route restore` do.
 */
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nl_msg;
struct nlattr;
struct nl_sock;

/** NLRAW_TEXT_MAX - octets of the kernel's own explanation of an error, with the NUL */
#define NLRAW_TEXT_MAX 128

/** struct nlset - netlink messages one behind the other; owned, release with nlset_done() */
struct nlset {
	uint8_t *buf;
	size_t len;
	size_t cap;
	size_t cnt; /* messages */
};

/** struct nlraw - an rtnetlink socket inside one namespace */
struct nlraw {
	struct nl_sock *sk;
	int err;                   /* errno of the last request, negative */
	char text[NLRAW_TEXT_MAX]; /* NLMSGERR_ATTR_MSG of the last failure, empty without one */
};

/**
 * nlset_for_each() - walk the messages of a set
 * @nlh_:	struct nlmsghdr *, the message
 * @set_:	struct nlset *
 */
/* NOLINTBEGIN(bugprone-macro-parentheses) - @nlh_ is declared here */
#define nlset_for_each(nlh_, set_)                                                                 \
	for (struct nlmsghdr *nlh_ = nlset_next((set_), NULL); nlh_;                               \
	     nlh_ = nlset_next((set_), nlh_))
/* NOLINTEND(bugprone-macro-parentheses) */

/**
 * nlset_next() - the message behind another
 * @set:	Set
 * @at:		A message of @set, NULL for the first
 *
 * Return: borrowed until the set changes; NULL at the end
 */
struct nlmsghdr *nlset_next(const struct nlset *set, const struct nlmsghdr *at);

/**
 * nlset_append() - copy a message to the end
 * @set:	Set
 * @nlh:	Borrowed
 *
 * Return: 0 or -ENOMEM
 */
int nlset_append(struct nlset *set, const struct nlmsghdr *nlh);

/**
 * nlset_load() - take octets that were the buf of a set
 * @set:	Empty; set on success
 * @buf:	malloc()ed, not trusted. Consumes @buf
 * @len:	Octets at @buf
 * @hdr_len:	Least octets of the family's header every message must have
 *
 * Return: 0 or -EINVAL
 */
int nlset_load(struct nlset *set, uint8_t *buf, size_t len, size_t hdr_len);

/**
 * nlset_done() - release and empty
 * @set:	Set
 */
void nlset_done(struct nlset *set);

/** nlraw_attr() - an attribute of a message, borrowed; NULL: none of that length. @hdr_len: octets of the family's header */
const struct nlattr *nlraw_attr(const struct nlmsghdr *nlh, int hdr_len, int type, int len);
/** nlraw_attr_u32() - its value, or @dflt */
uint32_t nlraw_attr_u32(const struct nlmsghdr *nlh, int hdr_len, int type, uint32_t dflt);

/**
 * nlraw_open() - an rtnetlink socket in a namespace
 * @nl:		Not initialised before; release with nlraw_close()
 * @netns_fd:	Namespace, borrowed
 *
 * Return: 0 or negative errno, then there is nothing to release
 */
int nlraw_open(struct nlraw *nl, int netns_fd);

/**
 * nlraw_close() - release
 * @nl:		Opened, or zeroed
 */
void nlraw_close(struct nlraw *nl);

/**
 * nlraw_dump() - read a table to its end
 * @nl:		Socket
 * @type:	RTM_GET...
 * @hdr:	Header of the request (struct ifinfomsg, rtmsg ...)
 * @hdr_len:	Octets at @hdr
 * @ret_set:	Emptied, then filled
 *
 * A dump that the kernel marks as interrupted (NLM_F_DUMP_INTR) is repeated.
 *
 * Return: 0 or negative errno; -EAGAIN when every repetition was interrupted too
 */
int nlraw_dump(struct nlraw *nl, int type, const void *hdr, size_t hdr_len, struct nlset *ret_set);

/**
 * nlraw_send() - send a request and wait for its acknowledgement
 * @nl:		Socket; text holds the kernel's explanation after a failure
 * @msg:	Consumes @msg; NULL (out of memory while building it) gives -ENOMEM
 *
 * Return: 0 or negative errno
 */
int nlraw_send(struct nlraw *nl, struct nl_msg *msg);

/**
 * nlraw_replay() - send a kept message again
 * @nl:		Socket
 * @nlh:	Borrowed
 * @type:	RTM_NEW... or RTM_DEL...
 * @flags:	NLM_F_CREATE and the like, without NLM_F_REQUEST and NLM_F_ACK
 *
 * Return: 0 or negative errno
 */
int nlraw_replay(struct nlraw *nl, const struct nlmsghdr *nlh, int type, int flags);
