/* SPDX-License-Identifier: Apache-2.0 */
/* agent_args.c - see agent_args.h */
#include "daemon/agent/agent_args.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <linux/net_tstamp.h>

#include "daemon/common/ipc_messages.h"

/* UIO_MAXIOV of linux/uio.h */
#define IOV_CNT_MAX 1024u

/** addr_in4() - the checks that follow once octets are here; AF_UNSPEC in bind() is an old habit */
static int addr_in4(const uint8_t *raw, int len, enum args_use use, struct args_addr *ret_addr)
{
	struct sockaddr_in in;

	if (len < (int)sizeof(in))
		return -EINVAL;
	memcpy(&in, raw, sizeof(in));
	if (in.sin_family != AF_INET &&
	    !(use == ARGS_BIND && in.sin_family == AF_UNSPEC && in.sin_addr.s_addr == 0) &&
	    !(use == ARGS_SEND && in.sin_family == AF_UNSPEC))
		return -EAFNOSUPPORT;
	ret_addr->ep = (struct ns_endpoint){ .addr = ns_addr_v4(ntohl(in.sin_addr.s_addr)),
					     .port = ntohs(in.sin_port) };
	return 0;
}

/** needs_scope() - linux __ipv6_addr_needs_scope_id(): link-local, or a group that stays on the link or the host */
static bool needs_scope(const struct ns_addr *a)
{
	if (ns_addr_is_link_local(a))
		return true;
	return !ns_addr_is_v4(a) && ns_addr_is_multicast(a) && (a->b[1] & 0x0f) <= 2 &&
	       (a->b[1] & 0x0f) > 0;
}

static int addr_in6(const uint8_t *raw, int len, enum args_use use, struct args_addr *ret_addr)
{
	struct sockaddr_in6 in6;
	uint16_t family;

	memcpy(&family, raw, sizeof(family));
	if (family == AF_INET && (use == ARGS_CONNECT_DGRAM || use == ARGS_SEND)) {
		/* linux v6.1 __ip6_datagram_connect(), udpv6_sendmsg(); glibc sorts what a name has with it */
		ret_addr->is_in4 = true;
		return addr_in4(raw, len, use, ret_addr);
	}
	/* SIN6_LEN_RFC2133: without the scope, which RFC 2133 did not know */
	if (len < (int)offsetof(struct sockaddr_in6, sin6_scope_id))
		return -EINVAL;
	memset(&in6, 0, sizeof(in6));
	memcpy(&in6, raw, len < (int)sizeof(in6) ? (size_t)len : sizeof(in6));
	if (in6.sin6_family != AF_INET6)
		return use == ARGS_SEND ? -EINVAL : -EAFNOSUPPORT;
	memcpy(ret_addr->ep.addr.b, &in6.sin6_addr, sizeof(ret_addr->ep.addr.b));
	ret_addr->ep.port = ntohs(in6.sin6_port);
	ret_addr->needs_scope = needs_scope(&ret_addr->ep.addr);
	if (!ret_addr->needs_scope)
		return 0;
	/* linux v6.1 __inet6_bind(), tcp_v6_connect(): of which link? Ours have 16 bits for it */
	if (ns_addr_zone(&ret_addr->ep.addr) != 0)
		return -EINVAL;
	if (in6.sin6_scope_id == 0)
		return use == ARGS_SEND || ns_addr_is_multicast(&ret_addr->ep.addr) ? 0 : -EINVAL;
	if (in6.sin6_scope_id > UINT16_MAX)
		return -ENODEV;
	ret_addr->scope = in6.sin6_scope_id;
	ret_addr->ep.addr = ns_addr_zoned(ret_addr->ep.addr, (uint16_t)in6.sin6_scope_id);
	return 0;
}

int args_addr_in(const struct args_mem *mem, int family, enum args_use use, uint64_t addr,
		 uint64_t len, struct args_addr *ret_addr)
{
	uint8_t raw[ARGS_SOCKADDR_MAX] = { 0 };
	int ulen = (int)(uint32_t)len;
	uint16_t fam;

	memset(ret_addr, 0, sizeof(*ret_addr));
	if (ulen < 0 || ulen > (int)sizeof(raw))
		return -EINVAL;
	if (ulen > 0 && mem->read(mem->ctx, addr, raw, (size_t)ulen) < 0)
		return -EFAULT;
	memcpy(&fam, raw, sizeof(fam));
	if (use == ARGS_CONNECT || use == ARGS_CONNECT_DGRAM ||
	    (use == ARGS_SEND && family == AF_INET6)) {
		if (ulen < (int)sizeof(fam))
			return -EINVAL;
		if (fam == AF_UNSPEC) {
			ret_addr->is_unspec = true;
			return 0;
		}
	}
	return family == AF_INET6 ? addr_in6(raw, ulen, use, ret_addr)
				  : addr_in4(raw, ulen, use, ret_addr);
}

/** union sockaddr_any - an address as the program has it */
union sockaddr_any {
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/** sockaddr_from() - Return: octets of it */
static int32_t sockaddr_from(int family, const struct ns_endpoint *ep, union sockaddr_any *sa)
{
	struct ns_addr wire = ns_addr_zoned(ep->addr, 0);

	memset(sa, 0, sizeof(*sa));
	if (family == AF_INET6) {
		sa->in6.sin6_family = AF_INET6;
		sa->in6.sin6_port = htons(ep->port);
		memcpy(&sa->in6.sin6_addr, wire.b, sizeof(sa->in6.sin6_addr));
		sa->in6.sin6_scope_id = ns_addr_zone(&ep->addr);
		return sizeof(sa->in6);
	}
	sa->in.sin_family = AF_INET;
	sa->in.sin_port = htons(ep->port);
	sa->in.sin_addr.s_addr = htonl(ns_addr_to_v4(&ep->addr));
	return sizeof(sa->in);
}

int args_addr_out(const struct args_mem *mem, int family, const struct ns_endpoint *ep,
		  uint64_t addr, uint64_t len_ptr)
{
	union sockaddr_any sa;
	int32_t room, true_len = sockaddr_from(family, ep, &sa);

	if (mem->read(mem->ctx, len_ptr, &room, sizeof(room)) < 0)
		return -EFAULT;
	if (room > true_len)
		room = true_len;
	if (room < 0)
		return -EINVAL;
	if (room > 0 && mem->write(mem->ctx, addr, &sa, (size_t)room) < 0)
		return -EFAULT;
	return mem->write(mem->ctx, len_ptr, &true_len, sizeof(true_len)) < 0 ? -EFAULT : 0;
}

int args_name_out(const struct args_mem *mem, int family, const struct ns_endpoint *ep,
		  uint64_t addr, uint32_t room)
{
	union sockaddr_any sa;
	int32_t true_len = sockaddr_from(family, ep, &sa);

	if ((int32_t)room < 0)
		return -EINVAL;
	if (room > (uint32_t)true_len)
		room = (uint32_t)true_len;
	return room > 0 && mem->write(mem->ctx, addr, &sa, room) < 0 ? -EFAULT : true_len;
}

int args_opt_in(const struct args_mem *mem, uint64_t addr, uint64_t len, void *buf, size_t cap)
{
	int ulen = (int)(uint32_t)len;
	size_t n;

	memset(buf, 0, cap);
	if (ulen < 0)
		return -EINVAL;
	n = (size_t)ulen < cap ? (size_t)ulen : cap;
	if (n > 0 && mem->read(mem->ctx, addr, buf, n) < 0)
		return -EFAULT;
	return ulen;
}

int args_opt_len_in(const struct args_mem *mem, uint64_t len_ptr)
{
	int32_t room;

	if (mem->read(mem->ctx, len_ptr, &room, sizeof(room)) < 0)
		return -EFAULT;
	return room < 0 ? -EINVAL : room;
}

int args_opt_out(const struct args_mem *mem, uint64_t addr, uint64_t len_ptr, int room,
		 const void *val, size_t val_len)
{
	int32_t n = room < (int)val_len ? room : (int)val_len;

	if (mem->write(mem->ctx, len_ptr, &n, sizeof(n)) < 0)
		return -EFAULT;
	return n > 0 && mem->write(mem->ctx, addr, val, (size_t)n) < 0 ? -EFAULT : 0;
}

int args_msg_in(const struct args_mem *mem, uint64_t addr, struct args_msg *ret_msg)
{
	struct msghdr m;

	if (mem->read(mem->ctx, addr, &m, sizeof(m)) < 0)
		return -EFAULT;
	*ret_msg = (struct args_msg){ .name = (uint64_t)(uintptr_t)m.msg_name,
				      .iov = (uint64_t)(uintptr_t)m.msg_iov,
				      .iov_cnt = m.msg_iovlen,
				      .control = (uint64_t)(uintptr_t)m.msg_control,
				      .control_len = m.msg_controllen,
				      .name_len = m.msg_namelen };
	return ret_msg->iov_cnt > IOV_CNT_MAX ? -EMSGSIZE : 0;
}

int args_gather(const struct args_mem *mem, uint64_t iov_ptr, uint64_t iov_cnt, void *buf,
		size_t cap)
{
	size_t done = 0;
	uint64_t total = 0;

	if (iov_cnt > IOV_CNT_MAX || cap > INT_MAX)
		return -EINVAL;
	for (uint64_t i = 0; i < iov_cnt; i++) {
		struct iovec v;
		size_t n;

		if (mem->read(mem->ctx, iov_ptr + i * sizeof(v), &v, sizeof(v)) < 0)
			return done ? (int)done : -EFAULT;
		total += v.iov_len > INT_MAX ? INT_MAX : v.iov_len;
		if (v.iov_len > (size_t)SSIZE_MAX || total > INT_MAX)
			return done ? (int)done : -EINVAL;
		n = v.iov_len < cap - done ? v.iov_len : cap - done;
		if (n > 0 && mem->read(mem->ctx, (uint64_t)(uintptr_t)v.iov_base,
				       (uint8_t *)buf + done, n) < 0)
			return done ? (int)done : -EFAULT;
		done += n;
	}
	return (int)done;
}

int args_msg_out(const struct args_mem *mem, uint64_t addr, uint32_t name_len, uint64_t control_len,
		 uint32_t flags)
{
	size_t control_off = offsetof(struct msghdr, msg_controllen);

	if (mem->write(mem->ctx, addr + offsetof(struct msghdr, msg_namelen), &name_len,
		       sizeof(name_len)) < 0 ||
	    mem->write(mem->ctx, addr + control_off, &control_len, sizeof(control_len)) < 0 ||
	    mem->write(mem->ctx, addr + offsetof(struct msghdr, msg_flags), &flags, sizeof(flags)) <
		    0)
		return -EFAULT;
	return 0;
}

/** control_int() - a value of four octets, or one */
static int control_int(const uint8_t *data, size_t len, int max, int16_t *ret_val)
{
	int32_t v;

	if (len >= sizeof(v))
		memcpy(&v, data, sizeof(v));
	else if (len == 1)
		v = *data;
	else
		return -EINVAL;
	if (v < 0 || v > max)
		return -EINVAL;
	*ret_val = (int16_t)v;
	return 0;
}

/** control_pktinfo6() - struct in6_pktinfo; a mapped source where the datagram is of IPv4 */
static int control_pktinfo6(const uint8_t *data, size_t len, bool is_mapped, struct args_tx *tx)
{
	struct in6_pktinfo info;

	if (len < sizeof(info))
		return -EINVAL;
	memcpy(&info, data, sizeof(info));
	memcpy(tx->from.b, &info.ipi6_addr, sizeof(tx->from.b));
	if (is_mapped && !ns_addr_is_v4(&tx->from))
		return -EINVAL;
	tx->ifindex = info.ipi6_ifindex;
	if (!ns_addr_is_link_local(&tx->from))
		return 0;
	if (tx->ifindex == 0 || ns_addr_zone(&tx->from) != 0)
		return -EINVAL;
	tx->from = ns_addr_zoned(tx->from, (uint16_t)tx->ifindex);
	return 0;
}

/** control_v6() - of level IPv6. Return: 0 or -EINVAL */
static int control_v6(int type, const uint8_t *data, size_t len, struct args_tx *tx)
{
	int32_t v;

	if (type == IPV6_PKTINFO || type == IPV6_2292PKTINFO)
		return control_pktinfo6(data, len, false, tx);
	if (len != sizeof(v))
		return -EINVAL;
	memcpy(&v, data, sizeof(v));
	switch (type) {
	case IPV6_HOPLIMIT:
	case IPV6_2292HOPLIMIT:
		tx->ttl = (int16_t)v;
		return v >= -1 && v <= 255 ? 0 : -EINVAL;
	case IPV6_TCLASS:
		tx->tos = (int16_t)v;
		return v >= -1 && v <= 255 ? 0 : -EINVAL;
	case IPV6_DONTFRAG:
		tx->dontfrag = v ? 1 : -1;
		return v == 0 || v == 1 ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

/** control_v4() - of level IP. Return: 0 or -EINVAL */
static int control_v4(int type, const uint8_t *data, size_t len, struct args_tx *tx)
{
	struct in_pktinfo info;
	int16_t ttl;

	switch (type) {
	case IP_PKTINFO:
		if (len != sizeof(info))
			return -EINVAL;
		memcpy(&info, data, sizeof(info));
		tx->from = ns_addr_v4(ntohl(info.ipi_spec_dst.s_addr));
		tx->ifindex = (uint32_t)info.ipi_ifindex;
		return 0;
	case IP_TTL:
		if (control_int(data, len, 255, &ttl) < 0 || ttl < 1)
			return -EINVAL;
		tx->ttl = ttl;
		return 0;
	case IP_TOS:
		return control_int(data, len, 255, &tx->tos);
	default:
		return -EINVAL;
	}
}

/** control_socket() - linux __sock_cmsg_send(); what else it knows has no effect. Return: 0 or -EINVAL */
static int control_socket(int type, const uint8_t *data, size_t len, struct args_tx *tx)
{
	const uint32_t when = SOF_TIMESTAMPING_TX_RECORD_MASK;
	uint32_t flags;

	switch (type) {
	case SO_TIMESTAMPING_OLD:
	case SO_TIMESTAMPING_NEW:
		if (len != sizeof(flags))
			return -EINVAL;
		memcpy(&flags, data, sizeof(flags));
		tx->stamp = (uint16_t)(flags | IPC_STAMP_SAID);
		return flags & ~when ? -EINVAL : 0;
	case SO_MARK:
	case SO_PRIORITY:
	case SCM_RIGHTS:
	case SCM_CREDENTIALS:
		return 0;
	default:
		return -EINVAL;
	}
}

/** control_one() - what other levels mean is theirs: linux skips it, too. Return: 0 or -EINVAL */
static int control_one(const struct cmsghdr *h, const uint8_t *data, enum args_rules rules,
		       struct args_tx *tx)
{
	size_t len = h->cmsg_len - CMSG_LEN(0);

	if (h->cmsg_level == SOL_SOCKET)
		return control_socket(h->cmsg_type, data, len, tx);
	if (h->cmsg_level == IPPROTO_UDP) { /* linux udp_cmsg_send() */
		if (h->cmsg_type != UDP_SEGMENT || len != sizeof(tx->gso_size))
			return -EINVAL;
		memcpy(&tx->gso_size, data, sizeof(tx->gso_size));
		tx->has_gso = true;
		return 0;
	}
	if (h->cmsg_level == IPPROTO_IPV6 && rules == ARGS_RULES_V6)
		return control_v6(h->cmsg_type, data, len, tx);
	if (h->cmsg_level == IPPROTO_IPV6 && h->cmsg_type == IPV6_PKTINFO &&
	    rules == ARGS_RULES_MAPPED)
		return control_pktinfo6(data, len, true, tx);
	return h->cmsg_level == IPPROTO_IP && rules != ARGS_RULES_V6
		       ? control_v4(h->cmsg_type, data, len, tx)
		       : 0;
}

int args_control_in(const void *control, size_t len, enum args_rules rules, struct args_tx *ret_tx)
{
	const uint8_t *b = control;

	*ret_tx = (struct args_tx){ .ttl = -1, .tos = -1 };
	for (size_t at = 0; len - at >= sizeof(struct cmsghdr);) {
		struct cmsghdr h;
		size_t head = CMSG_LEN(0), step;

		memcpy(&h, b + at, sizeof(h));
		if (h.cmsg_len < head || h.cmsg_len > len - at)
			return -EINVAL;
		if (control_one(&h, b + at + head, rules, ret_tx) < 0)
			return -EINVAL;
		step = CMSG_ALIGN(h.cmsg_len);
		if (step > len - at)
			break;
		at += step;
	}
	return 0;
}

int args_scatter(const struct args_mem *mem, uint64_t iov_ptr, uint64_t iov_cnt, const void *buf,
		 size_t len)
{
	size_t done = 0;

	if (iov_cnt > IOV_CNT_MAX || len > INT_MAX)
		return -EINVAL;
	for (uint64_t i = 0; i < iov_cnt && done < len; i++) {
		struct iovec v;
		size_t n;

		if (mem->read(mem->ctx, iov_ptr + i * sizeof(v), &v, sizeof(v)) < 0)
			return -EFAULT;
		if (v.iov_len > (size_t)SSIZE_MAX)
			return -EINVAL;
		n = v.iov_len < len - done ? v.iov_len : len - done;
		if (n > 0 && mem->write(mem->ctx, (uint64_t)(uintptr_t)v.iov_base,
					(const uint8_t *)buf + done, n) < 0)
			return -EFAULT;
		done += n;
	}
	return (int)done;
}
