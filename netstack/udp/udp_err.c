/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_err.c - ICMP errors about datagrams we sent, RFC 1122 4.1.3.3, RFC 4443 2.4 (d)
 *
 * Theory of operation
 *
 * An error names the socket by the ports and addresses of the packet it quotes. Datagrams have no
 * sequence number that would tell a guess from the truth, so an error counts for the socket that
 * could have sent that packet, and ends nothing: the next call fails once.
 *
 * Who hears of it, as linux v6.1 __udp4_lib_err() and __udp6_lib_err(): a connected socket of an error that
 * is fatal; with IP_RECVERR (IPV6_RECVERR) every socket of every error. "Fragmentation needed" and "packet
 * too big" are believed (net/pmtu.c) when the socket that is quoted exists.
 */
#include <errno.h>

#include "udp/udp_int.h"
#include "wire/csum.h"

enum {
	EXT_HDR_LEN = 4, /* RFC 4884 7 */
	EXT_OBJ_LEN = 4, /* RFC 4884 8 */
	EXT_VERSION = 2,
	EXT_BEHIND = 128, /* octets of packet before extensions, at least: RFC 4884 4.6 */
	OWN_QUOTE = 548, /* octets of packet in a message of our own over IPv4 (RFC 1812 4.3.2.3) */
	OWN_TTL = 64,
	OWN_TOS = 0xc0, /* RFC 1812 4.3.2.5 */
};

/* linux icmp_err_convert[].fatal, icmpv6_err_convert() tab_unreach[]: by code of "unreachable" */
static const struct {
	uint8_t unreach, param_problem;
	uint32_t fatal;  /* bit n: code n */
	uint32_t others; /* codes from here on are, too */
	uint8_t origin;  /* enum ns_err_origin */
} families[2] = {
	{ 3, 12, 0xe7cc, 16, NS_ERR_ICMP },
	{ 1, 4, 0x72, 7, NS_ERR_ICMP6 },
};

static bool is_fatal(const struct icmp_err *e)
{
	bool is_v6 = !ns_addr_is_v4(&e->remote.addr);

	if (e->type == families[is_v6].param_problem)
		return true;
	if (e->type != families[is_v6].unreach)
		return false;
	return e->code >= families[is_v6].others ? is_v6 : families[is_v6].fatal >> e->code & 1;
}

/* A full list keeps the oldest: they are read first, and one cause brings many of the same. */
void udp_error_push(struct udp_sock *s, const struct ns_dgram_err *e)
{
	struct udp_error *x = s->error_cnt < UDP_ERRORS_MAX ? pool_get(&s->udp->errors) : NULL;

	if (x) {
		x->e = *e;
		list_push(&s->errors, &x->node);
		s->error_cnt++;
	}
	udp_tell(s, NS_EV_ERR, e->err);
}

/* Are the @len octets at @ext extensions in order? linux ip_icmp_error_rfc4884_validate() */
static bool is_ext_good(const uint8_t *ext, uint32_t len)
{
	if (ext[0] >> 4 != EXT_VERSION)
		return true; /* nobody knows */
	if ((ext[2] | ext[3]) && csum_fold(csum_add(0, ext, len)) != UINT16_MAX)
		return false;
	for (uint32_t off = EXT_HDR_LEN; off < len;) {
		uint32_t left = len - off,
			 obj = left < EXT_OBJ_LEN ? 0 : (uint32_t)ext[off] << 8 | ext[off + 1];

		if (obj < EXT_OBJ_LEN || obj > left)
			return false;
		off += obj;
	}
	return true;
}

/* What the message quotes, from our payload on. */
static void quote(const struct udp_sock *s, const struct icmp_err *e, struct ns_dgram_err *x)
{
	uint32_t off = e->quote_off + (s->udp->is_ping ? 0 : UDP_HDR_LEN), max = NS_DGRAM_QUOTE_MAX;
	uint32_t len = e->quote ? pkt_len(e->quote) : 0;

	if (!e->ip && ns_addr_is_v4(&e->remote.addr))
		len = ns_min_u(len, OWN_QUOTE);
	if (len <= off)
		return;
	len = ns_min_u(len - off, max);
	if (!pkt_copy_out(e->quote, off, x->quote, len))
		return;
	x->quote_len = (uint16_t)len;
	if (e->quoted_len < EXT_BEHIND || e->quoted_len < off ||
	    e->quoted_len - off + EXT_HDR_LEN > len)
		return;
	x->ext_off = (uint16_t)(e->quoted_len - off);
	x->is_ext_bad = !is_ext_good(x->quote + x->ext_off, len - x->ext_off);
}

int udp_refused(struct udp_sock *s, const struct ns_endpoint *to, uint32_t mtu)
{
	struct ns_dgram_err e = {
		.err = -EMSGSIZE, .origin = NS_ERR_LOCAL, .info = mtu, .to = *to, .is_queued = true
	};

	/* linux ip_local_error() knows the port of a connected socket alone, ipv6_local_error() any */
	if (ns_addr_is_v4(&to->addr))
		e.to.port = s->is_connected ? s->remote.port : 0;
	if (udp_family_of(s, &to->addr)->is_recverr)
		udp_error_push(s, &e);
	return -EMSGSIZE;
}

/* linux ipv6_local_rxpmtu() */
void udp_tell_path_mtu(struct udp_sock *s, const struct ns_addr *to, uint32_t ifindex, uint32_t mtu)
{
	const struct ns_dgram_err e = { .err = -EMSGSIZE,
					.origin = NS_ERR_LOCAL,
					.info = mtu,
					.to = { .addr = *to },
					.ifindex = ifindex,
					.is_path_mtu = true };

	udp_error_push(s, &e);
}

bool udp_take_error(void *c, struct ns_dgram_err *ret_err)
{
	struct udp_sock *s = c;
	struct list *n = list_pop(&s->errors);

	if (!n)
		return false;
	*ret_err = list_entry(n, struct udp_error, node)->e;
	s->error_cnt--;
	pool_put(&s->udp->errors, list_entry(n, struct udp_error, node));
	return true;
}

/** udp_error() - proto_ops.error */
void udp_error(void *self, const struct icmp_err *e, struct mono now)
{
	struct udp *u = self;
	struct udp_sock *s = udp_find(u, &e->local, &e->remote, 0);
	const struct udp_family *f;
	struct ns_dgram_err x;
	bool fatal = is_fatal(e);

	if (!s) {
		drop_count(u->core->stats, DROP_ICMP_NO_MATCH);
		return;
	}
	f = udp_family_of(s, &e->remote.addr);
	if (e->is_frag_needed) {
		net_pmtu_learn(u->net, &e->remote.addr, e->mtu, now);
		if (f->mtu_discover == PMTUDISC_DONT && ns_addr_is_v4(&e->remote.addr))
			return;
		fatal = f->mtu_discover != PMTUDISC_DONT;
	}
	if (!f->is_recverr && !(fatal && s->is_connected))
		return;
	stat_inc(u->core->stats, STAT_UDP_ERRORS_IN);
	x = (struct ns_dgram_err){
		.err = e->err,
		.origin = (uint8_t)families[!ns_addr_is_v4(&e->remote.addr)].origin,
		.type = e->type,
		.code = e->code,
		.info = e->is_frag_needed ? e->mtu : 0,
		.offender = e->from,
		.to = e->remote,
		.local = e->local.addr,
		.ifindex = e->ip ? net_rx_ifindex(u->net, e->ip) : 1,
		.ttl = e->ip ? e->ip->ttl : OWN_TTL,
		.tos = e->ip ? e->ip->tos : OWN_TOS,
		.time = now,
		.is_fatal = true,
		.is_queued = f->is_recverr
	};
	if (f->is_recverr)
		quote(s, e, &x);
	udp_error_push(s, &x);
}
