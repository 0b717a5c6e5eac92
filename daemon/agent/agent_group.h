/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_group.h - values of the options that name a multicast group: read as Linux reads them
 *
 * Both directions of IP_MSFILTER and MCAST_MSFILTER have one layout of the beginning, with mode and number of
 * sources in a row behind the group, and then the sources.
 */
#pragma once

#include "daemon/common/ipc_messages.h"

/** GROUP_VALUE_MAX - octets of the longest value: MCAST_MSFILTER with as many sources as the stack takes */
#define GROUP_VALUE_MAX (144u + 128u * NS_FILTER_MAX)

/** struct group_opt - an option that names a group or a link */
struct group_opt {
	int level, name;
	uint32_t what; /* enum ns_group_what, IPC_GROUP_IF */
	int (*parse)(const uint8_t *val, size_t len, struct ipc_dgram_group *g);
};

/** group_opt_find() - NULL: it is none; options of IPv4 are there on sockets of IPv6, too */
const struct group_opt *group_opt_find(int family, int level, int name);
/**
 * group_opt_parse() - the value of such an option
 * @val:	Its beginning, AOPT_VALUE_MAX octets, zeroed behind @len
 * @len:	Octets the program offered
 * @g:		Addresses, link and what is wanted are set
 *
 * Return: 0, -EINVAL, -EADDRNOTAVAIL (of another family)
 */
ns_must_check int group_opt_parse(const struct group_opt *o, const uint8_t *val, size_t len,
				  struct ipc_dgram_group *g);

/**
 * group_opt_of_stream() - such an option of a stream, which has no part in groups
 *
 * Return: what linux says, 0: it is none of them. MCAST_JOIN_GROUP and its kin, by which a stream joins there all the
 * same, are none
 */
ns_must_check int group_opt_of_stream(int family, int level, int name, size_t len);

/** struct filter_opt - an option that is a whole filter */
struct filter_opt {
	int level, name;
	uint32_t mode_off; /* octets: where mode and number are */
	uint32_t head_len; /* what is before the sources */
	uint32_t addr_len; /* of a source */
};

const struct filter_opt *filter_opt_find(int family, int level, int name);
/**
 * filter_opt_parse() - the value of setsockopt(), or the beginning of it that getsockopt() reads
 * @val:	@len octets, but GROUP_VALUE_MAX at most
 * @max:	Sources that are allowed; UINT32_MAX for getsockopt(), which reads none
 * @f:		Addresses, link, mode and sources are set
 *
 * Return: 0, -EINVAL, -ENOBUFS, -EADDRNOTAVAIL (of another family)
 */
ns_must_check int filter_opt_parse(const struct filter_opt *o, const uint8_t *val, size_t len,
				   uint32_t max, struct ipc_dgram_filter *f);
/** filter_opt_sources() - @cnt sources as the program sees them into @to. Return: octets */
size_t filter_opt_sources(const struct filter_opt *o, const struct ns_addr *from, uint32_t cnt,
			  uint8_t *to);
