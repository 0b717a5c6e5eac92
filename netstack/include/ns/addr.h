/* SPDX-License-Identifier: Apache-2.0 */
/* addr.h - addresses and endpoints of both families in one type */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/**
 * struct ns_addr - network byte order; IPv4 a.b.c.d is ::ffff:a.b.c.d (RFC 4291 2.5.5.2); all zero: unspecified of either family
 *
 * A link-local address of IPv6 means nothing without its link (RFC 4007 6): it carries the link's
 * zone, the low 16 bits of ns_link_config.ifindex, in octets 2 and 3, which are zero on any wire.
 */
struct ns_addr {
	uint8_t b[16];
};

/** struct ns_endpoint - address and port; @port in host byte order */
struct ns_endpoint {
	struct ns_addr addr;
	uint16_t port;
};

/** ns_addr_v4() - from a host-order 32-bit address */
static inline struct ns_addr ns_addr_v4(uint32_t host)
{
	return (struct ns_addr){ { [10] = 0xff,
				   [11] = 0xff,
				   [12] = (uint8_t)(host >> 24),
				   [13] = (uint8_t)(host >> 16),
				   [14] = (uint8_t)(host >> 8),
				   [15] = (uint8_t)host } };
}

static inline bool ns_addr_is_v4(const struct ns_addr *a)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(a->b, prefix, sizeof(prefix)) == 0;
}

/** ns_addr_to_v4() - host-order value of an IPv4 address; the low 32 bits of any other */
static inline uint32_t ns_addr_to_v4(const struct ns_addr *a)
{
	return (uint32_t)a->b[12] << 24 | (uint32_t)a->b[13] << 16 | (uint32_t)a->b[14] << 8 |
	       a->b[15];
}

static inline bool ns_addr_eq(const struct ns_addr *a, const struct ns_addr *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/** ns_addr_is_any() - :: or 0.0.0.0 */
static inline bool ns_addr_is_any(const struct ns_addr *a)
{
	static const struct ns_addr zero;

	return ns_addr_eq(a, &zero) || (ns_addr_is_v4(a) && ns_addr_to_v4(a) == 0);
}

/** ns_addr_is_loopback() - 127.0.0.0/8 or ::1 */
static inline bool ns_addr_is_loopback(const struct ns_addr *a)
{
	static const struct ns_addr one = { { [15] = 1 } };

	return ns_addr_is_v4(a) ? a->b[12] == 127 : ns_addr_eq(a, &one);
}

/** ns_addr_is_multicast() - 224.0.0.0/4 or ff00::/8 */
static inline bool ns_addr_is_multicast(const struct ns_addr *a)
{
	return ns_addr_is_v4(a) ? (a->b[12] & 0xf0) == 0xe0 : a->b[0] == 0xff;
}

/** ns_addr_is_link_local() - fe80::/10; never true of IPv4 */
static inline bool ns_addr_is_link_local(const struct ns_addr *a)
{
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

/** ns_addr_zone() - of a link-local address; 0 of any other */
static inline uint16_t ns_addr_zone(const struct ns_addr *a)
{
	return ns_addr_is_link_local(a) ? (uint16_t)(a->b[2] << 8 | a->b[3]) : 0;
}

/** ns_addr_zoned() - @a with @zone when it is link-local, as it is otherwise; zone 0: as on the wire */
static inline struct ns_addr ns_addr_zoned(struct ns_addr a, uint16_t zone)
{
	if (ns_addr_is_link_local(&a)) {
		a.b[2] = (uint8_t)(zone >> 8);
		a.b[3] = (uint8_t)zone;
	}
	return a;
}
