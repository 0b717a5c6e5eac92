/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_ext.c - extension headers of a received packet
 *
 * Theory of operation
 *
 * ip6_ext_walk() goes from header to header and obeys each: options by the action bits of their
 * type, routing headers only with nothing left to route. It ends at the fragment header of a piece of
 * a packet, which is for frag6.c; of a packet that is whole it is gone over. Where RFC 8200 wants the sender to be told, it leaves code and pointer of the parameter
 * problem in the walk; whether one may be sent is for the caller.
 *
 * ip6_ext_find_l4() only skips: for packets quoted in errors, and to learn what a bad packet carried.
 *
 * Limits: EXT_MAX headers a packet, OPTS_MAX options a header that are not padding, PAD_MAX octets of
 * padding in a row (RFC 8504 5.3 lets a host have such limits; OPTS_MAX and PAD_MAX are Linux').
 *
 * References: RFC 8200 4; RFC 5095; RFC 6946; RFC 8504 5.3; linux v6.1 net/ipv6/exthdrs.c.
 */
#include "net/ip6_ext.h"

#include <string.h>

#include "buf/pkt.h"
#include "wire/icmp6.h"

enum {
	EXT_MAX = 8,
	OPTS_MAX = 8, /* linux max_dst_opts_number */
	PAD_MAX = 7,  /* octets: alignment never needs more; linux ip6_parse_tlv() */
	UNIT = 8,     /* octets: every extension header is a multiple */
};

static enum drop tell(struct ip6_walk *w, uint8_t code, uint32_t pointer, enum drop why)
{
	w->is_told = true;
	w->code = code;
	w->pointer = pointer;
	return why;
}

/* RFC 8200 4.2: what the type says of a host that does not know it; @at octets from the IPv6 header. */
static enum drop unknown_option(struct ip6_walk *w, uint8_t type, uint32_t at)
{
	switch ((enum ip6_opt_action)(type >> 6)) {
	case IP6_OPT_SKIP:
		return DROP_NONE;
	case IP6_OPT_DISCARD:
		return DROP_IP6_OPTION;
	case IP6_OPT_TELL:
		w->is_told_to_groups = true;
		break;
	case IP6_OPT_TELL_UNICAST:
		break;
	}
	return tell(w, ICMP6_PARAM_OPTION, at, DROP_IP6_OPTION);
}

static bool is_zero(const uint8_t *octets, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (octets[i])
			return false;
	return true;
}

/* The options of the hop-by-hop or destination header @h of @len octets. */
static enum drop options(struct ip6_walk *w, const uint8_t *h, uint32_t len)
{
	uint32_t pad_len = 0, cnt = 0, opt_len;

	for (uint32_t i = sizeof(uint16_t); i < len; i += opt_len) {
		enum drop why = DROP_NONE;

		if (h[i] == IP6_OPT_PAD1) {
			opt_len = 1;
		} else {
			if (len - i < 2 || h[i + 1] > len - i - 2)
				return DROP_IP6_OPTION;
			opt_len = h[i + 1] + 2u;
		}
		if (h[i] == IP6_OPT_PAD1 || h[i] == IP6_OPT_PADN) {
			pad_len += opt_len;
			if (pad_len > PAD_MAX || (opt_len > 2 && !is_zero(h + i + 2, opt_len - 2)))
				return DROP_IP6_OPTION;
			continue;
		}
		pad_len = 0;
		if (++cnt > OPTS_MAX)
			return DROP_IP6_EXT_LIMIT;
		if (h[i] == IP6_OPT_ROUTER_ALERT && w->next == IP6_NEXT_HOP)
			w->has_router_alert = true;
		why = unknown_option(w, h[i], w->off + i);
		if (why != DROP_NONE)
			return why;
	}
	return DROP_NONE;
}

/* RFC 8200 4.5: a piece ends the walk, its lengths checked. */
static enum drop fragment(struct ip6_walk *w, const struct pkt *p, const struct ip6_frag *f)
{
	uint32_t off = be16_get(f->off), len = pkt_len(p) - w->off - (uint32_t)sizeof(*f);
	uint32_t before = w->off - IP6_HDR_LEN; /* octets of the headers that stay in front */

	if (!(off & (IP6_FRAG_OFF_MASK | IP6_FRAG_MORE))) {
		w->is_fragment = true; /* RFC 6946 4: as if the header were not there */
		return DROP_NONE;
	}
	if ((off & IP6_FRAG_MORE) && len % UNIT)
		return tell(w, ICMP6_PARAM_FIELD, IP6_LEN_OFF, DROP_IP6_FRAGMENT);
	if (before + (off & IP6_FRAG_OFF_MASK) + len > IP6_LEN_MAX)
		return tell(w, ICMP6_PARAM_FIELD, w->off + (uint32_t)offsetof(struct ip6_frag, off),
			    DROP_IP6_FRAGMENT);
	w->is_piece = true;
	return DROP_NONE;
}

/* One header, @len octets of it there. */
static enum drop step(struct ip6_walk *w, const struct pkt *p, const uint8_t *h, uint32_t len)
{
	struct ip6_frag frag;
	struct ip6_ext ext;

	switch (w->next) {
	case IP6_NEXT_HOP:
		if (w->off != IP6_HDR_LEN) /* RFC 8200 4.1: as an unknown header */
			return tell(w, ICMP6_PARAM_NEXT, w->next_at, DROP_IP6_EXT);
		return options(w, h, len);
	case IP6_NEXT_ROUTING:
		memcpy(&ext, h, sizeof(ext));
		if (ext.segments_left == 0)
			return DROP_NONE;
		return tell(w, ICMP6_PARAM_FIELD, w->off + IP6_SEGMENT_OFF, DROP_IP6_ROUTING);
	case IP6_NEXT_FRAGMENT:
		memcpy(&frag, h, sizeof(frag));
		return fragment(w, p, &frag);
	default:
		return options(w, h, len);
	}
}

/**
 * ip6_ext_walk() - go over the extension headers of a packet
 * @p:	Packet, its head at the IPv6 header, cut to its payload length
 * @w:	next, next_at and off of the first one; afterwards of the transport header, or of the
 *	fragment header when @w->is_piece
 *
 * Return: DROP_NONE, or why the packet ends here; then @w->is_told says if the sender wants to know
 */
enum drop ip6_ext_walk(const struct pkt *p, struct ip6_walk *w)
{
	const uint8_t *data = pkt_data(p);

	for (uint32_t cnt = 0; ip6_is_ext(w->next); cnt++) {
		enum drop why;
		uint32_t len;

		if (cnt == EXT_MAX)
			return DROP_IP6_EXT_LIMIT;
		if (w->off > p->len || p->len - w->off < UNIT)
			return DROP_IP6_EXT;
		/* the octet that is a length elsewhere is reserved in a fragment header */
		len = w->next == IP6_NEXT_FRAGMENT ? UNIT : (data[w->off + 1] + 1u) * UNIT;
		if (len > p->len - w->off)
			return DROP_IP6_EXT;
		why = step(w, p, data + w->off, len);
		if (why != DROP_NONE || w->is_piece)
			return why;
		w->next = data[w->off];
		w->next_at = w->off;
		w->off += len;
	}
	return DROP_NONE;
}

/**
 * ip6_ext_find_l4() - where the transport header of a packet is that nobody will process
 * @p:		Its head at an IPv6 header, which is there
 * @ret_off:	Octets from the IPv6 header
 * @ret_proto:	Next header value
 *
 * Return: false when there is none in what is there, or in a later fragment only
 */
bool ip6_ext_find_l4(const struct pkt *p, uint32_t *ret_off, uint8_t *ret_proto)
{
	uint32_t off = IP6_HDR_LEN;
	uint8_t next;

	if (!pkt_copy_out(p, IP6_NEXT_OFF, &next, sizeof(next)))
		return false;
	for (uint32_t cnt = 0; ip6_is_ext(next); cnt++) {
		struct ip6_frag h;

		if (cnt == EXT_MAX || !pkt_copy_out(p, off, &h, sizeof(h)))
			return false;
		if (next == IP6_NEXT_FRAGMENT && (be16_get(h.off) & IP6_FRAG_OFF_MASK))
			return false;
		off += next == IP6_NEXT_FRAGMENT ? UNIT : (h.reserved + 1u) * UNIT;
		next = h.next;
	}
	*ret_off = off;
	*ret_proto = next;
	return true;
}
