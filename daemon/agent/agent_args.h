/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_args.h - arguments of trapped calls: copied once, checked as Linux checks them
 *
 * Theory of operation
 *
 * A trapped call's pointers lead into memory that another thread of the container may change at any
 * time, and that may not be there. So every value is copied exactly once, every decision is made on
 * the copy, and a failed copy is -EFAULT for the program, nothing else.
 *
 * Memory is reached through struct args_mem, by process_vm_readv() in the agent and by an array in
 * tests and fuzzers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "ns/addr.h"

/** ARGS_SOCKADDR_MAX - octets of the longest address Linux takes (struct sockaddr_storage) */
#define ARGS_SOCKADDR_MAX 128

/** struct args_mem - the memory of the calling thread */
struct args_mem {
	void *ctx;
	/** copy @len octets; 0 or -EFAULT */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
	int (*write)(void *ctx, uint64_t addr, const void *buf, size_t len);
};

/** enum args_use - what an address is for: they check it differently */
enum args_use {
	ARGS_BIND,
	ARGS_CONNECT,       /* of a stream or an echo socket */
	ARGS_CONNECT_DGRAM, /* of a datagram socket, which on IPv6 takes a sockaddr_in, too */
	ARGS_SEND,          /* likewise */
};

/** enum args_rules - by whose rules control data are read */
enum args_rules {
	ARGS_RULES_V4,     /* a socket of IPv4: ip_cmsg_send() */
	ARGS_RULES_MAPPED, /* IPv4 on a socket of IPv6: likewise, and IPV6_PKTINFO */
	ARGS_RULES_V6,     /* ip6_datagram_send_ctl() */
};

/** struct args_addr - a decoded address */
struct args_addr {
	bool is_unspec; /* AF_UNSPEC in connect(): undo the connection; in sendto() on IPv6: no address */
	bool is_in4;      /* a sockaddr_in on a socket of IPv6 */
	bool needs_scope; /* link-local, or a group of that scope or less */
	uint32_t scope;   /* sin6_scope_id, of those */
	struct ns_endpoint ep;
};

/**
 * args_addr_in() - the address of bind() or connect()
 * @family:	Of the socket: AF_INET or AF_INET6
 * @addr:	Pointer argument
 * @len:	Length argument, of which Linux looks at the low 32 bits as int
 *
 * linux v6.1 net/socket.c move_addr_to_kernel(), net/ipv4/af_inet.c __inet_bind(), inet_stream_connect(),
 * net/ipv6/af_inet6.c inet6_bind_sk()
 *
 * A link-local address of IPv6 gets its scope as zone (ns/addr.h), and needs one but to be sent to.
 *
 * Return: 0, -EFAULT, -EINVAL, -EAFNOSUPPORT, -ENODEV
 */
ns_must_check int args_addr_in(const struct args_mem *mem, int family, enum args_use use,
			       uint64_t addr, uint64_t len, struct args_addr *ret_addr);

/**
 * args_addr_out() - an address into the program's buffer, cut to its length
 * @family:	AF_INET or AF_INET6, how @ep is laid out
 * @len_ptr:	Points at the length of the buffer, set to the true length
 *
 * linux v6.1 net/socket.c move_addr_to_user()
 *
 * Return: 0, -EFAULT, -EINVAL (negative length)
 */
ns_must_check int args_addr_out(const struct args_mem *mem, int family,
				const struct ns_endpoint *ep, uint64_t addr, uint64_t len_ptr);

/**
 * args_opt_in() - the value of setsockopt()
 * @len:	Length argument
 * @buf:	Set to the value, zeroed behind it
 * @cap:	Octets at @buf; a longer value is cut, as Linux does with values of known size
 *
 * Return: octets the program offered (may exceed @cap), -EFAULT, -EINVAL (negative)
 */
ns_must_check int args_opt_in(const struct args_mem *mem, uint64_t addr, uint64_t len, void *buf,
			      size_t cap);

/**
 * args_opt_len_in() - the length that getsockopt() points at
 *
 * Return: octets, -EFAULT, -EINVAL (negative)
 */
ns_must_check int args_opt_len_in(const struct args_mem *mem, uint64_t len_ptr);

/**
 * args_opt_out() - the result of getsockopt(), cut to what args_opt_len_in() gave
 * @room:	Octets the program offers
 * @val:	@val_len octets
 *
 * Return: 0 or -EFAULT
 */
ns_must_check int args_opt_out(const struct args_mem *mem, uint64_t addr, uint64_t len_ptr,
			       int room, const void *val, size_t val_len);

/** struct args_msg - what of a struct msghdr the agent looks at */
struct args_msg {
	uint64_t name, iov, iov_cnt, control, control_len;
	uint32_t name_len;
};

/** args_msg_in() - a struct msghdr. Return: 0, -EFAULT, -EMSGSIZE (more than 1024 iovecs) */
ns_must_check int args_msg_in(const struct args_mem *mem, uint64_t addr, struct args_msg *ret_msg);

/**
 * args_msg_out() - what recvmsg() writes back into a struct msghdr
 * @name_len:	Octets of the address that was written, or is there to be had
 *
 * Return: 0 or -EFAULT
 */
ns_must_check int args_msg_out(const struct args_mem *mem, uint64_t addr, uint32_t name_len,
			       uint64_t control_len, uint32_t flags);

/** args_name_out() - an address for recvmsg(), cut to @room. Return: its true length, or -EFAULT -EINVAL */
ns_must_check int args_name_out(const struct args_mem *mem, int family,
				const struct ns_endpoint *ep, uint64_t addr, uint32_t room);

/** ARGS_CONTROL_MAX - octets of control data that are looked at; a program that has more is refused */
#define ARGS_CONTROL_MAX 512

/** struct args_tx - what control data of sendmsg() ask for */
struct args_tx {
	struct ns_addr from; /* IP_PKTINFO ipi_spec_dst; all zero: not given */
	uint32_t ifindex;    /* 0: not given */
	int16_t ttl, tos;    /* -1: not given */
	int8_t dontfrag;     /* IPV6_DONTFRAG: 1, -1 no; 0: not given */
	uint16_t stamp;      /* SO_TIMESTAMPING, IPC_STAMP_SAID with it; 0: not given */
	bool has_gso;        /* UDP_SEGMENT was given */
	uint16_t gso_size;
};

/**
 * args_control_in() - the control data of sendmsg() on a datagram socket
 * @control:	@len octets, a copy
 *
 * linux v6.1 net/ipv4/ip_sockglue.c ip_cmsg_send(), net/ipv6/datagram.c ip6_datagram_send_ctl()
 *
 * Return: 0 or -EINVAL
 */
ns_must_check int args_control_in(const void *control, size_t len, enum args_rules rules,
				  struct args_tx *ret_tx);

/** args_scatter() - octets into iovecs of the program. Return: octets copied, -EFAULT, -EINVAL */
ns_must_check int args_scatter(const struct args_mem *mem, uint64_t iov_ptr, uint64_t iov_cnt,
			       const void *buf, size_t len);

/**
 * args_gather() - octets that iovecs of the program point at
 * @iov_ptr:	Array of struct iovec
 * @iov_cnt:	At most 1024
 * @cap:	Octets at @buf: no more are copied, which is a short write
 *
 * Return: octets copied, -EFAULT (nothing could be copied), -EINVAL (a length or their sum is over INT_MAX)
 */
ns_must_check int args_gather(const struct args_mem *mem, uint64_t iov_ptr, uint64_t iov_cnt,
			      void *buf, size_t cap);
