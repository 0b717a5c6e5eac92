/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_err.c - ICMP errors about datagrams we sent, RFC 1122 4.1.3.3
 *
 * Theory of operation
 *
 * An error names the socket by the ports and addresses of the packet it quotes. Datagrams have no
 * sequence number that would tell a guess from the truth, so an error counts for the socket that
 * could have sent that packet, and ends nothing: the next call fails once.
 *
 * Who hears of it, as linux v6.1 net/ipv4/udp.c __udp4_lib_err(): a connected socket of an error that
 * is fatal (ns_dgram_err.is_fatal); with IP_RECVERR every socket of every error. "Fragmentation needed"
 * makes the path's MTU smaller for ten minutes (RFC 1191 6.3), never below UDP_PMTU_MIN and only when
 * the socket that is quoted exists.
 */
#include <errno.h>

#include "udp/udp_int.h"

#define PMTU_EXPIRES_NS (600 * NS_PER_SEC) /* linux net.ipv4.route.mtu_expires */

enum {
	UNREACH = 3, /* ICMP types, RFC 792 */
	PARAM_PROBLEM = 12,
	PMTUDISC_DONT = 0,
};

/* linux icmp_err_convert[].fatal */
static bool is_fatal(const struct icmp_err *e)
{
	static const bool fatal[] = {
		[2] = true, [3] = true,  [6] = true,  [7] = true,  [8] = true,
		[9] = true, [10] = true, [13] = true, [14] = true, [15] = true
	};

	if (e->type == PARAM_PROBLEM)
		return true;
	return e->type == UNREACH && e->code < NS_ARRAY_LEN(fatal) && fatal[e->code];
}

static struct udp_pmtu *pmtu_slot(struct udp *u, const struct ns_addr *dst)
{
	return &u->pmtu[hash_sip(&u->core->key, dst, sizeof(*dst)) % UDP_PMTU_SLOTS];
}

uint32_t udp_pmtu_get(struct udp *u, const struct ns_addr *dst, uint32_t mtu, struct mono now)
{
	struct udp_pmtu *m = pmtu_slot(u, dst);

	if (m->mtu == 0 || !ns_addr_eq(&m->dst, dst))
		return mtu;
	if (mono_le(m->expires, now)) {
		m->mtu = 0;
		return mtu;
	}
	return ns_min_u(mtu, m->mtu);
}

static void pmtu_set(struct udp *u, const struct ns_addr *dst, uint32_t mtu, struct mono now)
{
	struct udp_pmtu *m = pmtu_slot(u, dst);

	mtu = ns_max_u(mtu, UDP_PMTU_MIN);
	if (m->mtu && ns_addr_eq(&m->dst, dst) && mono_lt(now, m->expires) && m->mtu <= mtu)
		return;
	*m = (struct udp_pmtu){ .dst = *dst,
				.mtu = mtu,
				.expires = mono_add(now, PMTU_EXPIRES_NS) };
}

/* A full list keeps the oldest: they are read first, and one cause brings many of the same. */
static void error_push(struct udp_sock *s, const struct icmp_err *e, bool fatal)
{
	struct udp *u = s->udp;
	struct udp_error *x = s->error_cnt < UDP_ERRORS_MAX ? pool_get(&u->errors) : NULL;

	if (x) {
		x->e = (struct ns_dgram_err){ .err = e->err,
					      .origin = NS_ERR_ICMP,
					      .type = e->type,
					      .code = e->code,
					      .info = e->is_frag_needed ? e->mtu : 0,
					      .offender = e->from,
					      .to = e->remote,
					      .is_fatal = fatal };
		list_push(&s->errors, &x->node);
		s->error_cnt++;
	}
	stat_inc(u->core->stats, STAT_UDP_ERRORS_IN);
	udp_tell(s, NS_EV_ERR, e->err);
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
	struct udp_sock *s = udp_find(u, &e->local, &e->remote);
	bool fatal = is_fatal(e);

	if (!s) {
		drop_count(u->core->stats, DROP_ICMP_NO_MATCH);
		return;
	}
	if (e->is_frag_needed) {
		pmtu_set(u, &e->remote.addr, e->mtu, now);
		if (s->mtu_discover == PMTUDISC_DONT)
			return;
		fatal = true;
	}
	if (s->is_recverr || (fatal && s->is_connected))
		error_push(s, e, fatal || s->is_recverr);
}
