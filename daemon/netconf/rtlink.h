/* SPDX-License-Identifier: Apache-2.0 */
/* rtlink.h - rtnetlink requests about one link: find, change, move, delete, silence */
#pragma once

#include <stdint.h>

struct nl_msg;
struct nlraw;

/**
 * rtlink_request() - begin a request that changes a link
 * @ifindex:	Which
 * @flags:	IFF_* to set among @change
 * @change:	IFF_* that are to change
 *
 * Return: message for nlraw_send(), NULL when out of memory
 */
struct nl_msg *rtlink_request(uint32_t ifindex, uint32_t flags, uint32_t change);

/**
 * rtlink_find() - index of a link by its name
 * @nl:		Socket in the namespace
 * @name:	Name
 * @ret_ifindex: Set on success
 *
 * Return: 0, -ENODEV or negative errno
 */
int rtlink_find(struct nlraw *nl, const char *name, uint32_t *ret_ifindex);

/**
 * rtlink_delete() - delete a link (and the other end of a veth)
 * @nl:		Socket in the namespace
 * @ifindex:	Which
 *
 * Return: 0 or negative errno
 */
int rtlink_delete(struct nlraw *nl, uint32_t ifindex);

/**
 * rtlink_send_to() - move a link to another namespace
 * @nl:		Socket in the namespace it is in
 * @ifindex:	Which
 * @netns_fd:	Where to, borrowed
 * @new_ifindex: Index it shall have there (linux 5.12); 0: the same if free
 *
 * Return: 0 or negative errno
 */
int rtlink_send_to(struct nlraw *nl, uint32_t ifindex, int netns_fd, uint32_t new_ifindex);

/**
 * rtlink_ingress_drop() - the kernel's protocols shall not see what comes in here
 * @nl:		Socket in the namespace
 * @ifindex:	Which
 *
 * Packet sockets go on seeing it: the filter runs behind them. Needs cls_bpf.
 *
 * Return: 0 or negative errno
 */
int rtlink_ingress_drop(struct nlraw *nl, uint32_t ifindex);

/**
 * rtlink_ingress_undrop() - undo rtlink_ingress_drop()
 * @nl:		Socket in the namespace
 * @ifindex:	Which; one without the filter is fine
 *
 * Return: 0 or negative errno
 */
int rtlink_ingress_undrop(struct nlraw *nl, uint32_t ifindex);
