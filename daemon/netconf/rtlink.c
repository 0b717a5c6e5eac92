/* SPDX-License-Identifier: Apache-2.0 */
/* rtlink.c - rtnetlink requests about one link: find, change, move, delete, silence */
#include "daemon/netconf/rtlink.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "daemon/netconf/nlraw.h"

struct nl_msg *rtlink_request(uint32_t ifindex, uint32_t flags, uint32_t change)
{
	struct ifinfomsg ifi = {
		.ifi_index = (int)ifindex,
		.ifi_flags = flags,
		.ifi_change = change,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_REQUEST);

	if (msg && nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

int rtlink_find(struct nlraw *nl, const char *name, uint32_t *ret_ifindex)
{
	struct ifinfomsg hdr = { 0 };
	struct nlset set = { 0 };
	int r;

	r = nlraw_dump(nl, RTM_GETLINK, &hdr, sizeof(hdr), &set);
	if (r < 0)
		return r;
	r = -ENODEV;
	nlset_for_each(nlh, &set)
	{
		const struct nlattr *a = nlmsg_find_attr(nlh, sizeof(hdr), IFLA_IFNAME);

		if (a && nla_len(a) > 0 && nla_strcmp(a, name) == 0) {
			const struct ifinfomsg *ifi = nlmsg_data(nlh);

			*ret_ifindex = (uint32_t)ifi->ifi_index;
			r = 0;
		}
	}
	nlset_done(&set);
	return r;
}

int rtlink_delete(struct nlraw *nl, uint32_t ifindex)
{
	struct ifinfomsg ifi = { .ifi_index = (int)ifindex };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_DELLINK, NLM_F_REQUEST);

	if (msg && nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return nlraw_send(nl, msg);
}

/* To the namespace @netns_fd, there with index @new_ifindex if that is not 0. */
int rtlink_send_to(struct nlraw *nl, uint32_t ifindex, int netns_fd, uint32_t new_ifindex)
{
	struct nl_msg *msg = rtlink_request(ifindex, 0, 0);

	if (msg && (nla_put_u32(msg, IFLA_NET_NS_FD, (uint32_t)netns_fd) < 0 ||
		    (new_ifindex && nla_put_s32(msg, IFLA_NEW_IFINDEX, (int)new_ifindex) < 0))) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return nlraw_send(nl, msg);
}

/* The number of NLM_F_EXCL means NLM_F_BULK in a deletion, so that has no flags. */
static struct nl_msg *tc_request(int type, uint32_t ifindex, uint32_t parent, uint32_t handle,
				 uint32_t info, const char *kind)
{
	int flags = type == RTM_DELQDISC ? 0 : NLM_F_CREATE | NLM_F_EXCL;
	struct tcmsg tc = {
		.tcm_ifindex = (int)ifindex,
		.tcm_parent = parent,
		.tcm_handle = handle,
		.tcm_info = info,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);

	if (msg && (nlmsg_append(msg, &tc, sizeof(tc), NLMSG_ALIGNTO) < 0 ||
		    nla_put_string(msg, TCA_KIND, kind) < 0)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/*
 * An ingress filter "return TC_ACT_SHOT". It runs behind the packet tap, so that the worker gets the
 * frame and the kernel's protocols do not. libnl 3.7 has no object for cls_bpf.
 */
int rtlink_ingress_drop(struct nlraw *nl, uint32_t ifindex)
{
	static const struct sock_filter shot = { .code = BPF_RET | BPF_K, .k = TC_ACT_SHOT };
	struct nl_msg *msg;
	struct nlattr *opts;
	int r;

	r = nlraw_send(nl, tc_request(RTM_NEWQDISC, ifindex, TC_H_CLSACT, TC_H_MAKE(TC_H_CLSACT, 0),
				      0, "clsact"));
	if (r < 0)
		return r;
	msg = tc_request(RTM_NEWTFILTER, ifindex, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), 0,
			 TC_H_MAKE(1u << 16, htons(ETH_P_ALL)), "bpf");
	opts = msg ? nla_nest_start(msg, TCA_OPTIONS) : NULL;
	if (!opts || nla_put_u16(msg, TCA_BPF_OPS_LEN, 1) < 0 ||
	    nla_put(msg, TCA_BPF_OPS, sizeof(shot), &shot) < 0 ||
	    nla_put_u32(msg, TCA_BPF_FLAGS, TCA_BPF_FLAG_ACT_DIRECT) < 0) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	nla_nest_end(msg, opts);
	return nlraw_send(nl, msg);
}

int rtlink_ingress_undrop(struct nlraw *nl, uint32_t ifindex)
{
	int r = nlraw_send(nl, tc_request(RTM_DELQDISC, ifindex, TC_H_CLSACT,
					  TC_H_MAKE(TC_H_CLSACT, 0), 0, "clsact"));

	return r == -ENOENT || r == -EINVAL ? 0 : r;
}
