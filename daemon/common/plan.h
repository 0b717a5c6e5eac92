/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan - a container's network configuration as a value
 *
 * What the monitor read from the namespace, and the only thing the agent and the worker learn of
 * it. It travels as JSON text in a sealed memfd (the `preinit` string of the plugin interface) with one
 * descriptor per carried link beside it, and lies in the journal under the key "plan".
 *
 * Numbers that Linux names (families, scopes, route types and protocols, neighbour states, link
 * flags) keep the kernel's values: AF_*, RT_SCOPE_*, RTN_*, RTPROT_*, NUD_*, IFF_*, IFA_F_*.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

#define PLAN_VERSION  1
#define PLAN_TEXT_MAX (32u << 20) /* octets of the JSON text */
#define PLAN_NAME_MAX 16          /* IFNAMSIZ, with the NUL */
#define PLAN_ID_MAX   128         /* with the NUL */
#define PLAN_NO_LINK  UINT32_MAX  /* link_idx of a route without device (blackhole ...) */

/* Caps on rows; plan_parse() refuses more, and the scrape says which table is too long. */
#define PLAN_LINKS_MAX  64u
#define PLAN_ADDRS_MAX  4096u
#define PLAN_ROUTES_MAX 65536u
#define PLAN_RULES_MAX  4096u
#define PLAN_NEIGHS_MAX 16384u

#define PLAN_LINK_FDS_MAX (2u * PLAN_LINKS_MAX) /* descriptors that travel with a plan */

/**
 * enum plan_driver - how the worker reaches a link's wire
 * @PLAN_DRIVER_NONE:	not carried (loopback, a link that is no Ethernet): the plan keeps it to give
 *			routes and addresses something to point at; no descriptor travels for it
 * @PLAN_DRIVER_PACKET:	AF_PACKET sockets, SOCK_RAW, bound, virtio-net header of vnet_hdr_len octets: one for
 *			requests to connect (linkopen.h), and before it one for all else
 * @PLAN_DRIVER_TAP:	TAP descriptor, IFF_NO_PI, virtio-net header of vnet_hdr_len octets
 */
enum plan_driver {
	PLAN_DRIVER_NONE,
	PLAN_DRIVER_PACKET,
	PLAN_DRIVER_TAP,
	PLAN_DRIVER_COUNT,
};

/** enum plan_gso - the best way to leave that configuration and self-test allow at start */
enum plan_gso {
	PLAN_GSO_NONE, /* one MSS frame a call */
	PLAN_GSO_SW,   /* cut in user space, many frames a call */
	PLAN_GSO_HW,   /* super-frames with a virtio-net header */
	PLAN_GSO_COUNT,
};

/** struct plan_ip - an address; octets in network order, IPv4 in the first four, the rest zero */
struct plan_ip {
	uint8_t family; /* AF_INET, AF_INET6; 0 when there is none */
	uint8_t b[16];
};

/**
 * struct plan_link - one link of the namespace, in the order of ifindex
 *
 * Descriptors travel for links whose driver is not PLAN_DRIVER_NONE, in the order of this table.
 */
struct plan_link {
	char name[PLAN_NAME_MAX];
	char kind[PLAN_NAME_MAX];   /* rtnl kind, "veth"; empty for a physical device */
	uint32_t ifindex;           /* in the container's namespace */
	uint32_t flags;             /* IFF_* at the time of the scrape */
	uint32_t type;              /* ARPHRD_* */
	uint32_t mtu;               /* octets above the Ethernet header */
	uint8_t mac[6];             /* zero when the link has none of six octets */
	uint32_t gso_max_size;      /* octets of a super-frame, IPv6 and as upper bound for all */
	uint32_t gso_ipv4_max_size; /* octets of an IPv4 super-frame */
	uint32_t gso_max_segs;
	uint32_t tso_max_size; /* the device's own limit; gso_max_size is the configured one */
	uint8_t driver;        /* enum plan_driver */
	uint8_t gso;           /* enum plan_gso */
	uint8_t vnet_hdr_len;  /* 0, 10 or 12 octets in front of every frame */
	bool has_uso;          /* with PLAN_GSO_HW: datagrams of UDP_SEGMENT, too */
	bool has_software_gso; /* what a link falls back to when hardware GSO is refused */
	uint32_t group;        /* IFLA_GROUP */
	uint8_t rp_filter;     /* net.ipv4.conf.NAME.rp_filter: 0, 1 strict, 2 loose */
	uint32_t tun_offload;  /* TUN_F_* the TAP accepted, what the peer may send us */
};

/** struct plan_addr - one address of a link */
struct plan_addr {
	uint32_t link_idx; /* into links */
	struct plan_ip local;
	struct plan_ip peer; /* other end of a point-to-point address, family 0 if none */
	struct plan_ip broadcast;
	uint8_t prefix_len;
	uint8_t scope;  /* RT_SCOPE_* */
	uint32_t flags; /* IFA_F_* */
};

/**
 * struct plan_route - one route, or one next hop of a multipath route
 *
 * Rows of one multipath route follow each other with the same key and a weight each.
 */
struct plan_route {
	uint8_t family;   /* AF_INET, AF_INET6 */
	uint8_t type;     /* RTN_UNICAST, RTN_LOCAL, RTN_BLACKHOLE ... */
	uint8_t scope;    /* RT_SCOPE_* */
	uint8_t protocol; /* RTPROT_* */
	uint8_t tos;
	uint8_t dst_len;        /* prefix length; dst has family 0 when this is 0 */
	uint8_t from_len;       /* IPv6 source routing, prefix length of from */
	bool is_onlink;         /* gateway is on the link though no prefix covers it */
	bool is_dead;           /* next hop of several whose link is down (RTNH_F_DEAD) */
	uint32_t table;         /* RT_TABLE_* or any number */
	uint32_t metric;        /* lower wins */
	uint32_t mtu;           /* octets, 0 for the link's */
	uint32_t weight;        /* 0: single path; else 1..256 */
	uint32_t link_idx;      /* into links, or PLAN_NO_LINK */
	struct plan_ip dst;     /* destination prefix */
	struct plan_ip from;    /* source prefix, IPv6 only */
	struct plan_ip gateway; /* family 0: destinations are on the link; may differ from family */
	struct plan_ip prefsrc;
};

/** struct plan_rule - one policy routing rule */
struct plan_rule {
	uint8_t family;
	uint8_t action; /* FR_ACT_* */
	uint8_t dst_len;
	uint8_t src_len;
	uint8_t tos;
	uint8_t ip_proto;
	bool is_inverted;
	bool is_partial; /* it has selectors that are not here (tunnel, VRF, flow label, masks of ports): not used */
	bool has_dscp;
	uint8_t dscp, dscp_mask; /* 6 bits */
	bool has_uid;
	bool has_suppress_group;
	bool has_suppress_len;
	uint8_t suppress_len; /* answers with a prefix this long or shorter do not count */
	uint32_t priority;    /* lower is looked at first */
	uint32_t target;      /* FR_ACT_GOTO: priority */
	uint32_t sport_min, sport_max, dport_min, dport_max; /* 0: any */
	uint32_t table;
	uint32_t fwmark;
	uint32_t fwmask;
	uint32_t uid_min, uid_max; /* as the daemon's user namespace has them */
	uint32_t suppress_group;   /* answers over a link of this group do not count */
	struct plan_ip dst;
	struct plan_ip src;
	char iif[PLAN_NAME_MAX];
	char oif[PLAN_NAME_MAX];
};

/** struct plan_neigh - a permanent (or NOARP) neighbour */
struct plan_neigh {
	uint32_t link_idx;
	uint32_t state; /* NUD_* */
	uint8_t mac[6];
	bool is_proxy; /* NTF_PROXY: answer for it; mac means nothing */
	struct plan_ip addr;
};

/** struct plan_options - what of the daemon's configuration the children need */
struct plan_options {
	char id[PLAN_ID_MAX];
	bool has_log_packets;
	bool has_pcap;
	uint32_t channel_cnt; /* 1 for now */
};

/** struct plan - the whole; arrays are owned by the plan */
struct plan {
	struct plan_link *links;
	size_t link_cnt;
	struct plan_addr *addrs;
	size_t addr_cnt;
	struct plan_route *routes;
	size_t route_cnt;
	struct plan_rule *rules;
	size_t rule_cnt;
	struct plan_neigh *neighs;
	size_t neigh_cnt;
	struct plan_options options;
};

/**
 * plan_init() - an empty plan
 * @p:		Not initialised before
 */
void plan_init(struct plan *p);

/**
 * plan_done() - give back what a plan owns and make it empty
 * @p:		Initialised
 */
void plan_done(struct plan *p);

/**
 * plan_add_link() - append a zeroed row (the other plan_add_ functions likewise)
 * @p:		Plan
 *
 * Return: the row, borrowed until the next row of its table is added; NULL when out of memory or
 * at the table's cap
 */
struct plan_link *plan_add_link(struct plan *p);
struct plan_addr *plan_add_addr(struct plan *p);
struct plan_route *plan_add_route(struct plan *p);
struct plan_rule *plan_add_rule(struct plan *p);
struct plan_neigh *plan_add_neigh(struct plan *p);

/**
 * plan_find_ifindex() - the row of a link
 * @p:		Plan
 * @ifindex:	In the container's namespace
 *
 * Return: index into links, or PLAN_NO_LINK
 */
uint32_t plan_find_ifindex(const struct plan *p, uint32_t ifindex);

/**
 * plan_carried_cnt() - links that the stack has
 * @p:		Plan
 *
 * Return: links whose driver is not PLAN_DRIVER_NONE
 */
size_t plan_carried_cnt(const struct plan *p);

/** plan_link_fd_cnt() - descriptors that travel with the plan for this link: of packets 2, of a TAP device 1 */
uint32_t plan_link_fd_cnt(const struct plan_link *l);

/**
 * plan_check() - every reference, enumerator, prefix length and family is in range
 * @p:		Plan
 * @errbuf:	Receives one sentence on failure
 * @errlen:	Octets at @errbuf
 *
 * Return: 0 or -EINVAL
 */
int plan_check(const struct plan *p, char *errbuf, size_t errlen);

/**
 * plan_to_string() - the plan as JSON text
 * @p:		Plan, checked
 * @ret_text:	Set to NUL-terminated text, the caller frees it
 * @ret_len:	Octets without the NUL
 *
 * Return: 0, -ENOMEM, -EINVAL when the plan does not pass plan_check(), -E2BIG when the text would
 * exceed PLAN_TEXT_MAX
 */
int plan_to_string(const struct plan *p, char **ret_text, size_t *ret_len);

/**
 * plan_parse() - read what plan_to_string() wrote
 * @text:	Not trusted, need not be NUL-terminated
 * @len:	Octets at @text
 * @p:		Initialised or zero; set on success, empty on failure. The caller calls plan_done()
 * @errbuf:	Receives one sentence on failure
 * @errlen:	Octets at @errbuf
 *
 * Strict: unknown keys, missing keys, wrong types, numbers out of range, a version other than
 * PLAN_VERSION and octets behind the value are refused.
 *
 * Return: 0, -EINVAL, -E2BIG (text or a table is too long), -EPROTONOSUPPORT (version), -ENOMEM
 */
int plan_parse(const char *text, size_t len, struct plan *p, char *errbuf, size_t errlen);

/**
 * plan_to_json() - as plan_to_string(), as a json-c value (for the journal)
 * @p:		Plan, checked
 *
 * Return: a new reference, or NULL when out of memory
 */
struct json_object *plan_to_json(const struct plan *p);

/**
 * plan_from_json() - as plan_parse(), from a json-c value
 * @obj:	Borrowed
 * @p:		As in plan_parse()
 * @errbuf:	Receives one sentence on failure
 * @errlen:	Octets at @errbuf
 *
 * Return: as plan_parse()
 */
int plan_from_json(struct json_object *obj, struct plan *p, char *errbuf, size_t errlen);
