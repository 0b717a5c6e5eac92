/* SPDX-License-Identifier: Apache-2.0 */
/* ecn_rig.c - what tests of congestion marks begin with */
#include "ecn_rig.h"

static const struct transport_ops *ops = &tcp_transport_ops;

/** ecn_listening() - a listener; @knob is tcp_ecn's value */
struct rig *ecn_listening(int knob)
{
	struct rig *t = rig_listening(8);

	t->core.knobs[NS_KNOB_tcp_ecn] = knob;
	return t;
}

/** ecn_syn() - a SYN with the bits @ace and the code point @ecn; the SYN-ACK's bits */
uint8_t ecn_syn(struct rig *t, uint8_t ace, uint8_t ecn)
{
	const struct sent *o;

	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = RIG_MSS,
			 .sack_ok = true, .ace = ace, .ecn = ecn));
	o = take_out(t);
	ck_assert_ptr_nonnull(o);
	ck_assert_uint_eq(o->flags & (TCP_SYN | TCP_ACK), TCP_SYN | TCP_ACK);
	ck_assert_uint_eq(o->tos & 3, NOT_ECT);
	return o->ace;
}

/** ecn_take_conn() - the listener's connection is the rig's */
void ecn_take_conn(struct rig *t)
{
	ck_assert_int_eq(ops->accept(t->lc, &t->c), 0);
	ops->set_user(t->c, t);
	ck_assert_int_eq(state_of(t), TCP_ESTABLISHED);
}

/** ecn_server() - a server's connection in the accurate mode, nothing unusual on the way */
struct rig *ecn_server(void)
{
	struct rig *t = ecn_listening(3);

	ck_assert_uint_eq(ecn_syn(t, ASK, NOT_ECT), 2);
	seg_in_turn(t, S(.seq = 1, .ack = 1, .ace = 2, .accecn = ORDER0(1, 0, 1)));
	ecn_take_conn(t);
	forget_out(t);
	conn(t)->quick_cnt = 0;
	return t;
}

/** ecn_connecting() - the SYN has left; @knob is tcp_ecn's value */
struct rig *ecn_connecting(int knob)
{
	struct ns_endpoint local = { ns_addr_v4(RIG_LOCAL), RIG_PORT };
	struct ns_endpoint remote = { ns_addr_v4(RIG_PEER), RIG_PEER_PORT };
	struct rig *t = rig_new();

	t->core.knobs[NS_KNOB_tcp_ecn] = knob;
	ck_assert_int_eq(ops->open(t->tcp, t, &t->c), 0);
	ck_assert_int_eq(ops->bind(t->c, &local), 0);
	ck_assert_int_eq(ops->connect(t->c, &remote, t->now), -EINPROGRESS);
	turn(t);
	return t;
}

/** ecn_synack() - the SYN-ACK with the bits @ace and code point @ecn */
void ecn_synack(struct rig *t, uint8_t ace, uint8_t ecn)
{
	seg_in_turn(t, S(.ack = 1, .flags = TCP_SYN, .is_syn_opts = true, .mss = RIG_MSS,
			 .sack_ok = true, .ace = ace, .ecn = ecn, .accecn = ORDER0(1, 0, 1)));
}

/** ecn_cross() - the peer's SYN with the bits @ace and code point @ecn, while ours is under way */
void ecn_cross(struct rig *t, uint8_t ace, uint8_t ecn)
{
	seg_in_turn(t, S(.flags = TCP_SYN, .no_ack = true, .is_syn_opts = true, .mss = RIG_MSS,
			 .ace = ace, .ecn = ecn));
}

/** ecn_data_in() - 1000 octets from the peer; the answer at once, or NULL */
struct sent *ecn_data_in(struct rig *t, uint32_t seq, uint8_t ecn)
{
	seg_in_turn(t, S(.seq = seq, .ack = 1, .len = 1000, .ecn = ecn, .ace = 5));
	return take_out(t);
}

/** ecn_send_segs() - @n full segments leave, whatever the window was */
void ecn_send_segs(struct rig *t, uint32_t n)
{
	conn(t)->cc.cwnd = 1 << 20;
	conn(t)->snd_wnd = 1 << 20;
	rig_write(t, n * RIG_MSS, false);
	turn(t);
	forget_out(t);
}
