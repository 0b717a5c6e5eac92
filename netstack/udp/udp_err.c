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
static void error_push(struct udp_sock *s, const struct ns_dgram_err *e)
{
	struct udp_error *x = s->error_cnt < UDP_ERRORS_MAX ? pool_get(&s->udp->errors) : NULL;

	if (x) {
		x->e = *e;
		list_push(&s->errors, &x->node);
		s->error_cnt++;
	}
	udp_tell(s, NS_EV_ERR, e->err);
}

int udp_refused(struct udp_sock *s, const struct ns_endpoint *to, uint32_t mtu)
{
	/* linux ip_local_error(), ipv6_local_error() */
	const struct ns_dgram_err e = {
		.err = -EMSGSIZE, .origin = NS_ERR_LOCAL, .info = mtu, .to = *to, .is_queued = true
	};

	if (udp_family_of(s, &to->addr)->is_recverr)
		error_push(s, &e);
	return -EMSGSIZE;
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
	error_push(s, &(struct ns_dgram_err){
			      .err = e->err,
			      .origin = (uint8_t)families[!ns_addr_is_v4(&e->remote.addr)].origin,
			      .type = e->type,
			      .code = e->code,
			      .info = e->is_frag_needed ? e->mtu : 0,
			      .offender = e->from,
			      .to = e->remote,
			      .is_fatal = true,
			      .is_queued = f->is_recverr });
}
