/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vnet.c - virtio_net_hdr, virtio 1.2 5.1.6
 *
 * Theory of operation
 *
 * The header says of a frame who vouches for its checksum and whether it is many segments in one.
 * A peer of the link may have written it (TAP), so nothing in it is believed without a look at the
 * frame: a super-frame must be what its type says down to a whole TCP header, and a partial
 * checksum must lie within. Of flags and checksum states:
 *
 *   NEEDS_CSUM   PKT_CSUM_PARTIAL  the sender left it to us and no wire was crossed: trusted
 *   DATA_VALID   PKT_CSUM_VALID    the device or kernel verified it: trusted
 *   neither      PKT_CSUM_UNKNOWN  the transport verifies
 */
#include "wire/vnet.h"

#include <assert.h>
#include <string.h>

#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/tcp.h"
#include "wire/udp.h"

enum {
	F_NEEDS_CSUM = 1u << 0,
	F_DATA_VALID = 1u << 1,
	GSO_NONE = 0,
	GSO_TCPV4 = 1,
	GSO_TCPV6 = 4,
	GSO_UDP_L4 = 5,
	GSO_ECN = 0x80,
};

/* 16 bits in the machine's order at any address. */
struct ne16 {
	uint8_t b[2];
};

struct vnet_hdr {
	uint8_t flags;
	uint8_t gso_type;
	struct ne16 hdr_len;
	struct ne16 gso_size;
	struct ne16 csum_start;
	struct ne16 csum_off;
	struct ne16 num_buffers; /* VNET_MRG_LEN only */
};
static_assert(sizeof(struct vnet_hdr) == VNET_MRG_LEN && _Alignof(struct vnet_hdr) == 1,
	      "virtio 1.2 5.1.6");

static uint16_t ne16_get(struct ne16 v)
{
	uint16_t x;

	memcpy(&x, &v, sizeof(x));
	return x;
}

static struct ne16 ne16(uint16_t x)
{
	struct ne16 v;

	memcpy(&v, &x, sizeof(v));
	return v;
}

/* Where the transport header of @p is and its protocol; 0: not IPv4 or IPv6, or cut short. */
static uint32_t l4_find(const struct pkt *p, uint16_t *ret_type, uint8_t *ret_proto)
{
	const uint8_t *data = pkt_data(p);
	struct eth_hdr eth;
	struct ip4_hdr ip;

	if (p->len < sizeof(eth))
		return 0;
	memcpy(&eth, data, sizeof(eth));
	*ret_type = be16_get(eth.type);
	if (*ret_type == ETH_TYPE_IP6) {
		if (p->len < ETH_HDR_LEN + IP6_HDR_LEN)
			return 0;
		*ret_proto = data[ETH_HDR_LEN + IP6_NEXT_OFF];
		return ETH_HDR_LEN + IP6_HDR_LEN;
	}
	if (*ret_type != ETH_TYPE_IP4 || p->len < ETH_HDR_LEN + sizeof(ip))
		return 0;
	memcpy(&ip, data + ETH_HDR_LEN, sizeof(ip));
	*ret_proto = ip.proto;
	if (ip4_version(&ip) != 4 || ip4_hdr_len(&ip) < sizeof(ip) ||
	    (be16_get(ip.frag) & (IP4_MF | IP4_OFF_MASK)))
		return 0;
	return ETH_HDR_LEN + ip4_hdr_len(&ip);
}

/* What a segment's type asks of the frame. */
static const struct gso_row {
	uint8_t virtio, gso, proto;
	uint16_t eth_type;
	uint16_t l4_len; /* octets: the shortest transport header */
} gso_rows[] = {
	{ GSO_TCPV4, PKT_GSO_TCP4, IP_PROTO_TCP, ETH_TYPE_IP4, TCP_HDR_LEN },
	{ GSO_TCPV6, PKT_GSO_TCP6, IP_PROTO_TCP, ETH_TYPE_IP6, TCP_HDR_LEN },
	{ GSO_UDP_L4, PKT_GSO_UDP_L4, IP_PROTO_UDP, ETH_TYPE_IP4, UDP_HDR_LEN },
	{ GSO_UDP_L4, PKT_GSO_UDP_L4, IP_PROTO_UDP, ETH_TYPE_IP6, UDP_HDR_LEN },
};

/* Octets of transport header at @l4, or 0 when it is not whole. */
static uint32_t l4_hdr_len(const struct pkt *p, uint32_t l4, const struct gso_row *row)
{
	uint32_t len = row->l4_len;
	struct tcp_hdr tcp;

	if (l4 + len > p->len)
		return 0;
	if (row->proto == IP_PROTO_TCP) {
		memcpy(&tcp, pkt_data(p) + l4, sizeof(tcp));
		len = tcp_hdr_len(&tcp);
		if (len < sizeof(tcp) || l4 + len > p->len)
			return 0;
	}
	return len;
}

static enum drop gso_parse(struct pkt *p, const struct vnet_hdr *h)
{
	uint8_t type = (uint8_t)(h->gso_type & ~GSO_ECN), proto = 0;
	uint32_t size = ne16_get(h->gso_size), l4, hdr_len, payload;
	const struct gso_row *row = NULL;
	uint16_t eth_type = 0;

	if (type == GSO_NONE)
		return h->gso_type & GSO_ECN ? DROP_VNET_BAD : DROP_NONE;
	l4 = l4_find(p, &eth_type, &proto);
	if (l4 == 0 || size == 0)
		return DROP_VNET_BAD;
	for (size_t i = 0; i < NS_ARRAY_LEN(gso_rows) && !row; i++)
		if (gso_rows[i].virtio == type && gso_rows[i].eth_type == eth_type &&
		    gso_rows[i].proto == proto)
			row = &gso_rows[i];
	if (!row || (hdr_len = l4_hdr_len(p, l4, row)) == 0)
		return DROP_VNET_BAD;
	payload = pkt_len(p) - l4 - hdr_len;
	p->gso_type = row->gso;
	p->gso_size = (uint16_t)size;
	/* TAP takes a frame of more octets than 16 bits count: no wrap into "not a super-frame" */
	p->gso_segs = (uint16_t)ns_min_u((payload + size - 1) / size, UINT16_MAX);
	p->ecn = h->gso_type & GSO_ECN;
	return DROP_NONE;
}

static enum drop csum_parse(struct pkt *p, const struct vnet_hdr *h)
{
	uint32_t start = ne16_get(h->csum_start), off = ne16_get(h->csum_off);

	if (h->flags & F_NEEDS_CSUM) {
		if (start + off + 2 > pkt_len(p) || start < ETH_HDR_LEN)
			return DROP_VNET_BAD;
		p->csum = PKT_CSUM_PARTIAL;
		p->csum_start = (uint16_t)start;
		p->csum_off = (uint16_t)off;
	} else {
		p->csum = h->flags & F_DATA_VALID ? PKT_CSUM_VALID : PKT_CSUM_UNKNOWN;
	}
	return DROP_NONE;
}

enum drop vnet_pull(struct pkt *p, uint32_t vnet_len)
{
	struct vnet_hdr h = { 0 };
	const void *at = pkt_pull(p, vnet_len);
	enum drop why;

	NS_BUG_ON(vnet_len != VNET_LEN && vnet_len != VNET_MRG_LEN);
	if (!at)
		return DROP_TOO_SHORT;
	memcpy(&h, at, vnet_len);
	p->l2_off = (uint16_t)p->head;
	p->gso_type = PKT_GSO_NONE;
	p->gso_size = p->gso_segs = 0;
	p->ecn = false;
	if (p->len < ETH_HDR_LEN)
		return DROP_TOO_SHORT;
	why = csum_parse(p, &h);
	return why != DROP_NONE ? why : gso_parse(p, &h);
}

void vnet_push(struct pkt *p, uint32_t vnet_len)
{
	static const uint8_t virtio_of[] = {
		[PKT_GSO_NONE] = GSO_NONE,
		[PKT_GSO_TCP4] = GSO_TCPV4,
		[PKT_GSO_TCP6] = GSO_TCPV6,
		[PKT_GSO_UDP_L4] = GSO_UDP_L4,
	};
	struct vnet_hdr h = { 0 };

	NS_BUG_ON(vnet_len != VNET_LEN && vnet_len != VNET_MRG_LEN);
	if (p->csum == PKT_CSUM_PARTIAL) {
		h.flags = F_NEEDS_CSUM;
		h.csum_start = ne16(p->csum_start);
		h.csum_off = ne16(p->csum_off);
	}
	if (p->gso_segs > 1) {
		h.gso_type = virtio_of[p->gso_type];
		if (p->ecn)
			h.gso_type |= GSO_ECN;
		h.gso_size = ne16(p->gso_size);
		h.hdr_len = ne16((uint16_t)p->len); /* all headers are linear, all payload is not */
	}
	memcpy(pkt_push(p, vnet_len), &h, vnet_len);
}
