/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_opt.c - options of datagram sockets
 *
 * A row says where an option is kept and what it may be; those that are more than a value have a function.
 * Options that both families have are two rows: level IP's and level IPv6's, each in its udp_family.
 *
 * References: linux v6.1 net/ipv4/udp.c udp_lib_setsockopt(), net/ipv4/ip_sockglue.c do_ip_setsockopt(),
 * net/ipv6/ipv6_sockglue.c do_ipv6_setsockopt()
 */
#include <errno.h>
#include <stddef.h>

#include "udp/udp_int.h"

enum {
	HOPS_DEFAULT = 64,    /* linux net.ipv6.conf.*.hop_limit */
	IP6_MTU_LEAST = 1280, /* RFC 8200 5 */
};

static_assert(sizeof(bool) == sizeof(uint8_t), "both kinds are one octet");

enum opt_kind {
	OPT_NONE,
	OPT_BOOL,
	OPT_OCTET,
};

#define AT(field_)    offsetof(struct udp_sock, field_)
#define OF_V4(field_) (AT(fam) + offsetof(struct udp_family, field_))
#define OF_V6(field_) (OF_V4(field_) + sizeof(struct udp_family))

static const struct opt_row {
	uint8_t kind; /* enum opt_kind */
	uint8_t max;  /* OPT_OCTET */
	uint16_t at;  /* octets into struct udp_sock */
} rows[NS_SOCKOPT_COUNT] = {
	[NS_SO_REUSEADDR] = { OPT_BOOL, 0, AT(bind.reuseaddr) },
	[NS_SO_REUSEPORT] = { OPT_BOOL, 0, AT(bind.reuseport) },
	[NS_SO_BROADCAST] = { OPT_BOOL, 0, AT(is_broadcast) },
	[NS_SO_NO_CHECK] = { OPT_BOOL, 0, AT(is_no_check) },
	[NS_UDP_NO_CHECK6_TX] = { OPT_BOOL, 0, AT(is_no_check6_tx) },
	[NS_UDP_NO_CHECK6_RX] = { OPT_BOOL, 0, AT(is_no_check6_rx) },
	[NS_UDP_GRO] = { OPT_BOOL, 0, AT(is_gro) },
	[NS_UDP_CORK] = { OPT_BOOL, 0, AT(is_corked) },
	[NS_DGRAM_INFO] = { OPT_BOOL, 0, AT(has_info) },
	[NS_SO_PRIORITY_TOS] = { OPT_OCTET, UINT8_MAX, OF_V4(tos) },
	[NS_IPV6_TCLASS] = { OPT_OCTET, UINT8_MAX, OF_V6(tos) },
	[NS_SO_TTL] = { OPT_OCTET, UINT8_MAX, OF_V4(ttl) },
	[NS_IPV6_UNICAST_HOPS] = { OPT_OCTET, UINT8_MAX, OF_V6(ttl) },
	[NS_IP_MULTICAST_TTL] = { OPT_OCTET, UINT8_MAX, OF_V4(mcast_ttl) },
	[NS_IPV6_MULTICAST_HOPS] = { OPT_OCTET, UINT8_MAX, OF_V6(mcast_ttl) },
	[NS_IP_MULTICAST_LOOP] = { OPT_BOOL, 0, OF_V4(has_mcast_loop) },
	[NS_IPV6_MULTICAST_LOOP] = { OPT_BOOL, 0, OF_V6(has_mcast_loop) },
	[NS_IP_MULTICAST_ALL] = { OPT_BOOL, 0, OF_V4(hears_all_groups) },
	[NS_IPV6_MULTICAST_ALL] = { OPT_BOOL, 0, OF_V6(hears_all_groups) },
	[NS_IP_MTU_DISCOVER] = { OPT_OCTET, PMTUDISC_OMIT, OF_V4(mtu_discover) },
	[NS_IPV6_MTU_DISCOVER] = { OPT_OCTET, PMTUDISC_OMIT, OF_V6(mtu_discover) },
	[NS_IP_RECVERR] = { OPT_BOOL, 0, OF_V4(is_recverr) },
	[NS_IPV6_RECVERR] = { OPT_BOOL, 0, OF_V6(is_recverr) },
	[NS_IPV6_RECVPATHMTU] = { OPT_BOOL, 0, OF_V6(is_recv_path_mtu) },
	[NS_IPV6_DONTFRAG] = { OPT_BOOL, 0, OF_V6(is_dontfrag) },
};

/** udp_opt_init() - what a new socket has */
void udp_opt_init(struct udp_sock *s)
{
	const struct ns_core *core = s->udp->core;
	const struct udp_family fresh = { .ttl = HOPS_DEFAULT,
					  .mcast_ttl = 1,
					  .mtu_discover = PMTUDISC_WANT,
					  .has_mcast_loop = true,
					  .hears_all_groups = true };

	s->rcvbuf = (uint32_t)core_knob(core, NS_KNOB_rmem_default);
	s->sndbuf = UDP_RCVBUF;
	s->fam[0] = s->fam[1] = fresh;
	s->fam[0].ttl = (uint8_t)core_knob(core, NS_KNOB_ip_default_ttl);
}

static int set_v6only(struct udp_sock *s, int value)
{
	/* an echo socket has one protocol, and with it one family */
	bool is_v6 = value >= 0, is_v6only = value > 0 || (is_v6 && s->udp->is_ping);

	if (s->bind.is_bound && (is_v6 != s->bind.is_v6 || is_v6only != s->bind.is_v6only))
		return -EINVAL;
	s->bind.is_v6 = is_v6;
	s->bind.is_v6only = is_v6only;
	return 0;
}

/* A link by its number, or 0: none of them. */
static int set_ifindex(struct udp_sock *s, uint32_t *at, int value, int err)
{
	if (value < 0 || (value > 0 && !net_has_link(s->udp->net, (uint32_t)value)))
		return err;
	*at = (uint32_t)value;
	return 0;
}

/* Options that are no row; -ENOPROTOOPT: not one of ours. */
static int set_other(struct udp_sock *s, enum ns_sockopt opt, int value)
{
	if (opt == NS_SO_V6ONLY)
		return set_v6only(s, value);
	if (opt == NS_SO_BINDTOIFINDEX)
		return set_ifindex(s, &s->bind.ifindex, value, -ENODEV);
	if (opt == NS_IP_UNICAST_IF)
		return set_ifindex(s, &s->fam[0].ucast_ifindex, value, -EADDRNOTAVAIL);
	if (opt == NS_IPV6_UNICAST_IF)
		return set_ifindex(s, &s->fam[1].ucast_ifindex, value, -EADDRNOTAVAIL);
	if (opt == NS_IPV6_PKTINFO_IF) {
		s->sticky_ifindex6 = (uint32_t)value;
		return 0;
	}
	if (opt == NS_IPV6_MTU) {
		if (value < 0 || (value > 0 && value < IP6_MTU_LEAST))
			return -EINVAL;
		s->fam[1].frag_mtu = (uint32_t)value;
		return 0;
	}
	if (opt == NS_UDP_SEGMENT) {
		if (value < 0 || value > UINT16_MAX)
			return -EINVAL;
		s->gso_size = (uint16_t)value;
		return 0;
	}
	if (opt == NS_SO_RCVBUF) {
		s->rcvbuf = value < UDP_RCVBUF_MIN ? UDP_RCVBUF_MIN : (uint32_t)value;
		return 0;
	}
	if (opt == NS_SO_TIMESTAMPING) {
		udp_stamp_set(s, (uint32_t)value);
		return 0;
	}
	if (opt == NS_SO_MARK) {
		s->mark = (uint32_t)value;
		return 0;
	}
	if (opt == NS_SO_UID) {
		s->uid = (uint32_t)value;
		return 0;
	}
	if (opt == NS_SO_SNDBUF) {
		s->sndbuf =
			value; /* nothing of ours waits to be sent: the link's queue is the limit */
		return 0;
	}
	return -ENOPROTOOPT;
}

/** udp_setopt() - transport_ops.setopt */
int udp_setopt(void *c, enum ns_sockopt opt, int value)
{
	const struct opt_row *r = &rows[opt];

	if (r->kind == OPT_NONE)
		return set_other(c, opt, value);
	if (r->kind == OPT_OCTET && (value < 0 || value > r->max))
		return -EINVAL;
	*((uint8_t *)c + r->at) = r->kind == OPT_BOOL ? value != 0 : (uint8_t)value;
	return 0;
}

/* linux do_ip_getsockopt(), do_ipv6_getsockopt(): both look at the path, whatever its family */
static int get_mtu(struct udp_sock *s, int *ret_value)
{
	struct ns_dgram_tx tx = { .ttl = -1, .tos = -1 };

	if (!s->is_connected)
		return -ENOTCONN;
	/* without a clock: what a router said long ago counts until the next datagram asks */
	*ret_value = udp_path_mtu(s, &tx, (struct mono){ 0 });
	return *ret_value < 0 ? *ret_value : 0;
}

static int get_other(struct udp_sock *s, enum ns_sockopt opt, int *ret_value)
{
	if (opt == NS_IP_MTU || opt == NS_IPV6_MTU)
		return get_mtu(s, ret_value);
	if (opt == NS_SO_V6ONLY)
		*ret_value = s->bind.is_v6 ? s->bind.is_v6only : -1;
	else if (opt == NS_SO_BINDTOIFINDEX)
		*ret_value = (int)s->bind.ifindex;
	else if (opt == NS_IP_UNICAST_IF)
		*ret_value = (int)s->fam[0].ucast_ifindex;
	else if (opt == NS_IPV6_UNICAST_IF)
		*ret_value = (int)s->fam[1].ucast_ifindex;
	else if (opt == NS_UDP_SEGMENT)
		*ret_value = s->gso_size;
	else if (opt == NS_SO_RCVBUF)
		*ret_value = (int)s->rcvbuf;
	else if (opt == NS_SO_TIMESTAMPING)
		*ret_value = (int)s->stamp_flags;
	else if (opt == NS_SO_MARK)
		*ret_value = (int)s->mark;
	else if (opt == NS_SO_UID)
		*ret_value = (int)s->uid;
	else if (opt == NS_SO_SNDBUF)
		*ret_value = s->sndbuf;
	else
		return -ENOPROTOOPT;
	return 0;
}

/** udp_getopt() - transport_ops.getopt */
int udp_getopt(void *c, enum ns_sockopt opt, int *ret_value)
{
	const struct opt_row *r = &rows[opt];

	if (r->kind == OPT_NONE)
		return get_other(c, opt, ret_value);
	*ret_value = *((const uint8_t *)c + r->at);
	return 0;
}
