/* SPDX-License-Identifier: Apache-2.0 */
/* frame_calls.c - fuzz_frame: calls of the program, and what the operator and netlink change */
#include "buf/pkt.h"
#include "fuzz/frame_fuzz.h"

static uint8_t octets[65536]; /* what is sent, and where what is read goes */

/* --- streams ---------------------------------------------------------------------------------- */

static void set_and_get(ns_sock s, struct input *in)
{
	int opt = input_u8(in) % NS_SOCKOPT_COUNT;
	int value = (int)input_number(in);

	(void)!ns_sock_setopt(board.rp.stack, s, (enum ns_sockopt)opt, value);
	(void)!ns_sock_getopt(board.rp.stack, s, (enum ns_sockopt)opt, &value);
}

static void call_connect(struct input *in, struct rp_conn *c)
{
	struct ns_stack *s = board.rp.stack;
	struct ns_endpoint to = { ns_addr_v4(RP_PEER), input_u16(in) };

	if (to.port & 0x8000) /* ourselves, or IPv6 */
		to.addr = to.port & 0x4000 ? ns_addr_v4(RP_STACK) : to.port & 0x2000 ? own6 : peer6;
	if (ns_sock_open(s, &c->sock))
		return;
	if (to.port & 0x8000 && !(to.port & 0x4000))
		(void)!ns_sock_setopt(s, c->sock, NS_SO_V6ONLY, 0);
	to.port = to.port & 0x8000 ? (to.port & 0x3f) + PORT : to.port;
	(void)!ns_sock_connect(s, c->sock, &to, board.rp.now);
}

/* connect() with what programs do around it. */
static void call_open(struct input *in, struct rp_conn *c)
{
	struct ns_stack *s = board.rp.stack;
	uint8_t how = input_u8(in), low = input_u8(in);
	bool is_v6 = how & 1, is_self = how & 4;
	struct ns_endpoint to = { is_v6 ? (is_self ? own6 : peer6)
					: ns_addr_v4(is_self ? RP_STACK : RP_PEER),
				  (uint16_t)(is_self ? PORT + is_v6 : 4000 + low) };
	struct ns_endpoint from = { is_v6 ? own6 : ns_addr_v4(0), (uint16_t)(3000 + low) };

	if (ns_sock_open(s, &c->sock))
		return;
	if (is_v6)
		(void)!ns_sock_setopt(s, c->sock, NS_SO_V6ONLY, 0);
	if (how & 2)
		(void)!ns_sock_setopt(s, c->sock, NS_TCP_FASTOPEN_CONNECT, 1);
	(void)!ns_sock_setopt(s, c->sock, NS_TCP_CONGESTION, how >> 3 & 3);
	if (how & 0x40)
		(void)!ns_sock_bind(s, c->sock, &from);
	if (how & 0x80)
		(void)!ns_sock_setopt(s, c->sock, NS_SO_BINDTOIFINDEX, 2);
	(void)!ns_sock_connect(s, c->sock, &to, board.rp.now);
	if (how & 0x20)
		rp_send(c, octets, low * 16u);
}

static void send_marked(struct input *in, ns_sock sock)
{
	struct ns_stack *s = board.rp.stack;
	uint8_t how = input_u8(in);
	struct ns_iov iov[16];
	uint32_t want = input_u16(in), len = 0;
	int n = ns_sock_send_reserve(s, sock, want, iov, 16);

	for (int i = 0; i < n; i++)
		len += (uint32_t)iov[i].len;
	if (n <= 0)
		return;
	len = len < want ? len : want;
	for (uint32_t i = 0, left = len, one; left; i++, left -= one) {
		one = left < iov[i].len ? left : (uint32_t)iov[i].len;
		memset(iov[i].base, 'x', one);
	}
	ns_sock_send_commit(s, sock, len, how & 1);
	if (how & 2)
		ns_sock_send_eor(s, sock);
	if (how & 4)
		ns_sock_send_urgent(s, sock);
}

static void count_row(void *ctx, const struct ns_sock_row *row)
{
	uint32_t *cnt = ctx;

	*cnt += row->state != NULL;
}

static void ask(ns_sock sock)
{
	struct ns_stack *s = board.rp.stack;
	struct ns_endpoint at;
	uint32_t cnt = 0, urgent = ns_sock_recv_urgent(s, sock);

	(void)!ns_sock_local(s, sock, &at);
	(void)!ns_sock_remote(s, sock, &at);
	(void)ns_sock_send_room(s, sock);
	(void)ns_sock_is_eof(s, sock);
	ns_stack_sockets(s, count_row, &cnt);
	must_hold(urgent == NS_NO_URGENT || urgent < UINT32_C(1) << 31);
	must_hold(cnt < 4096);
}

static void call_more(struct input *in, struct rp_conn *c)
{
	struct ns_stack *s = board.rp.stack;
	uint8_t how = input_u8(in);
	ns_sock *l = &board.listener[how >> 7];
	struct ns_endpoint at = { how & 0x40 ? own6 : ns_addr_v4(0),
				  (uint16_t)(PORT + (how >> 7)) };

	switch ((how & 0x3f) % 6) {
	case 0:
		send_marked(in, c->sock);
		break;
	case 1:
		ask(c->sock);
		break;
	case 2: /* TCP_FASTOPEN, TCP_DEFER_ACCEPT and what accepted ones inherit */
		set_and_get(*l, in);
		break;
	case 3:
		if (ns_sock_accept(s, *l, &c->sock))
			c->sock = 0;
		break;
	case 4: /* what is half open or not accepted goes with the listener */
		ns_sock_close(s, *l);
		if (ns_sock_open(s, l))
			break;
		(void)!ns_sock_setopt(s, *l, NS_SO_V6ONLY, how & 0x40 ? 1 : -1);
		if (!ns_sock_bind(s, *l, &at))
			(void)!ns_sock_listen(s, *l, input_u8(in) % 8);
		break;
	default:
		(void)!ns_sock_listen(s, *l, input_u8(in) % 8);
		break;
	}
}

/* --- datagrams -------------------------------------------------------------------------------- */

static void take_all(ns_sock sock)
{
	struct ns_iov iov[NS_DGRAM_IOVS];
	struct ns_dgram_rx rx;

	while (ns_dgram_peek(board.rp.stack, sock, 0, &rx, iov) >= 0)
		ns_dgram_consume(board.rp.stack, sock, 1);
}

static void take_errors(ns_sock sock)
{
	struct ns_dgram_err e;

	while (ns_dgram_take_error(board.rp.stack, sock, &e))
		must_hold(e.err < 0 && e.err > -4096);
}

static void call_dgram(struct input *in)
{
	struct ns_stack *s = board.rp.stack;
	uint8_t how = input_u8(in);
	ns_sock sock = board.dgram[how & 1];
	struct ns_dgram_tx tx = { .has_to = how & 16, .ttl = -1, .tos = -1 };
	struct ns_endpoint to = { how & 1 ? peer6 : ns_addr_v4(RP_PEER), 4000 };
	struct ns_iov iov = { octets, 0 };
	struct ns_addr group = ns_addr_v4(0xe0000001 + (how >> 3 & 1));

	switch (how >> 5) {
	case 0:
		(void)!ns_dgram_connect(s, sock, how & 2 ? NULL : &to);
		break;
	case 1:
		(void)!ns_dgram_group(s, sock, how & 2 ? NS_GROUP_JOIN : NS_GROUP_LEAVE,
				      &(struct ns_group_req){ .group = group });
		break;
	case 2:
		take_errors(sock);
		break;
	case 3:
		take_all(sock);
		break;
	default:
		iov.len = input_u16(in) % 16384;
		tx.to = to;
		if (how & 8)
			tx.to.addr = ns_addr_v4(how & 2 ? 0xe0000001 : RP_STACK);
		if (how & 4)
			tx.to.port = DNS;
		(void)!ns_dgram_send(s, sock, &tx, &iov, 1, board.rp.now);
	}
}

static struct ns_endpoint someone(uint8_t which)
{
	static const struct ns_addr any6 = { { 0 } };
	struct ns_endpoint e = { .port = (uint16_t)(which & 16   ? 4000
						    : which & 32 ? DNS
								 : DNS + 1) };

	switch (which & 7) {
	case 0:
		e.addr = ns_addr_v4(RP_PEER);
		break;
	case 1:
		e.addr = peer6;
		break;
	case 2:
		e.addr = ns_addr_v4(RP_STACK);
		break;
	case 3:
		e.addr = own6;
		break;
	case 4:
		e.addr = ns_addr_v4(0xe0000001);
		break;
	case 5:
		e.addr = group6;
		break;
	case 6:
		e.addr = ns_addr_v4(which & 8 ? 0xffffffff : 0x0a0000ff);
		break;
	default:
		e.addr = which & 8 ? any6 : ns_addr_v4(0x0b000001);
		break;
	}
	return e;
}

static void talk_send(struct input *in, ns_sock sock, bool is_check)
{
	struct ns_stack *s = board.rp.stack;
	uint8_t to = input_u8(in), how = input_u8(in);
	struct ns_dgram_tx tx = { .has_to = !(to & 0x80),
				  .to = someone(to),
				  .ttl = -1,
				  .tos = how & 32 ? input_u8(in) : -1,
				  .more = how & 1,
				  .has_gso = how & 2 };
	struct ns_iov iov[2] = { { octets, 0 }, { octets, how & 64 ? 100 : 0 } };

	if (how & 2)
		tx.gso_size = input_u16(in);
	if (how & 4)
		tx.from = someone(to ^ 2).addr;
	if (how & 8)
		tx.ifindex = to & 0x40 ? 2 : 1;
	if (how & 16)
		tx.dontfrag = to & 0x40 ? 1 : -1;
	if (how & 128)
		tx.ttl = 1;
	iov[0].len = input_u16(in);
	octets[0] = tx.to.addr.b[0] ? 128 : 8; /* of an echo socket: a request */
	octets[1] = 0;
	if (is_check)
		(void)!ns_dgram_check(s, sock, &tx, (uint32_t)iov[0].len, board.rp.now);
	else
		(void)!ns_dgram_send(s, sock, &tx, iov, how & 64 ? 2 : 1, board.rp.now);
}

static void talk_group(struct input *in, ns_sock sock, bool is_interface)
{
	static const uint32_t links[] = { 0, 1, 2, 9 };
	struct ns_stack *s = board.rp.stack;
	uint8_t how = input_u8(in);
	struct ns_addr group = someone(how).addr, local = { { 0 } };
	uint32_t ifindex = links[how >> 4 & 3];

	if (how & 0x40)
		local = how & 1 ? own6 : ns_addr_v4(RP_STACK);
	if (is_interface)
		(void)!ns_dgram_multicast_if(s, sock, &local, ifindex);
	else
		(void)!ns_dgram_group(s, sock, how & 0x80 ? NS_GROUP_LEAVE : NS_GROUP_JOIN,
				      &(struct ns_group_req){
					      .group = group, .local = local, .ifindex = ifindex });
}

/* Source filters; what is told of them is bounded by what was set. */
static void talk_filter(struct input *in, ns_sock sock)
{
	static struct ns_filter f;
	struct ns_stack *s = board.rp.stack;
	uint8_t how = input_u8(in), which = input_u8(in);
	struct ns_group_req q = { .group = someone(how).addr,
				  .source = someone(which).addr,
				  .ifindex = how & 0x20 ? 2 : 0,
				  .is_exact = how & 0x40 };

	if (ns_addr_is_v4(&q.group) && ns_addr_is_multicast(&q.group))
		q.group.b[15] = 2; /* of what everybody is in nothing is told */
	if (which & 0x40)
		q.source.b[15] = input_u8(in);
	if (which & 0x80) {
		(void)!ns_dgram_group(
			s, sock, (enum ns_group_what)(which >> 3 & 7) % NS_GROUP_WHAT_COUNT, &q);
		return;
	}
	f.is_exclude = how & 0x80;
	f.cnt = input_u8(in) % (NS_FILTER_MAX + 1);
	for (uint32_t i = 0; i < f.cnt; i++) {
		f.source[i] = q.source;
		f.source[i].b[15] = (uint8_t)(i & which);
	}
	(void)!ns_dgram_set_filter(s, sock, &q, &f);
	if (ns_dgram_get_filter(s, sock, &q, &f) == 0)
		must_hold(f.cnt <= NS_FILTER_MAX);
}

void frame_open_dgram(uint32_t i)
{
	static const struct ns_endpoint at[DGRAMS] = { { { { [10] = 0xff, 0xff } }, DNS },
						       { { { 0 } }, DNS + 1 },
						       { { { [10] = 0xff, 0xff } }, ECHO_ID },
						       { { { 0 } }, ECHO_ID } };
	struct ns_stack *s = board.rp.stack;
	int r = i < 2 ? ns_dgram_open(s, &board.dgram[i])
		      : ns_ping_open(s, i == 3, &board.dgram[i]);

	if (r) {
		board.dgram[i] = 0;
		return;
	}
	if (i == 1) /* of both families */
		must_hold(ns_sock_setopt(s, board.dgram[i], NS_SO_V6ONLY, 0) == 0);
	(void)!ns_sock_bind(s, board.dgram[i], &at[i]);
}

static void call_talk(struct input *in)
{
	struct ns_stack *s = board.rp.stack;
	uint8_t how = input_u8(in);
	ns_sock sock = board.dgram[how & 3];
	struct ns_endpoint to;

	if (how >> 2 >= 61) {
		talk_filter(in, sock);
		return;
	}
	switch ((how >> 2) % 10) {
	case 0:
		set_and_get(sock, in);
		break;
	case 1:
	case 2:
		talk_group(in, sock, (how >> 2) % 10 == 2);
		break;
	case 3:
	case 4:
		talk_send(in, sock, (how >> 2) % 10 == 4);
		break;
	case 5:
		ns_dgram_flush(s, sock, board.rp.now);
		break;
	case 6:
		take_all(sock);
		take_errors(sock);
		must_hold(ns_dgram_dropped(s, sock) < 1000000);
		break;
	case 7:
		ns_sock_close(s, sock);
		frame_open_dgram(how & 3);
		break;
	case 8:
		to = someone(input_u8(in));
		(void)!ns_dgram_connect(s, sock, &to);
		break;
	default:
		ask(sock);
		break;
	}
}

/* --- the operator ----------------------------------------------------------------------------- */

static void set_link(struct input *in)
{
	struct ns_link_config c = { .name = "eth0",
				    .ifindex = 2,
				    .mtu = 68u + input_u16(in) % 9000u,
				    .mac = RP_STACK_MAC,
				    .is_up = true,
				    .gso_max_size = 65536,
				    .gso_max_segs = 65535 };

	(void)!ns_stack_set_link(board.rp.stack, board.rp.link_id, &c);
}

static void del_or_rule(struct input *in, uint8_t how, const struct ns_addr *a,
			const struct ns_route *r)
{
	struct ns_stack *s = board.rp.stack;
	struct ns_rule rule = { .priority = how,
				.action = input_u8(in) % NS_RULE_ACTION_COUNT,
				.is_v6 = r->is_v6,
				.table = how & 0x40 ? 7 : NS_TABLE_MAIN,
				.target = how + 5u };

	switch (how & 7) {
	case 0:
		(void)!ns_stack_del_addr(s, board.rp.link_id, a);
		break;
	case 1:
		(void)!ns_stack_del_neigh(s, board.rp.link_id, a);
		break;
	case 2:
		(void)!ns_stack_del_route(s, r);
		break;
	case 3:
		(void)!ns_stack_replace_route(s, r);
		break;
	case 4:
	case 5:
		(void)!ns_stack_add_rule(s, &rule);
		break;
	case 6:
		(void)!ns_stack_del_rule(s, &rule);
		break;
	default:
		ns_stack_flush_rules(s, r->is_v6);
		break;
	}
}

/* What netlink and the operator change while connections live. */
static void call_config(struct input *in)
{
	struct rawpeer *rp = &board.rp;
	uint8_t how = input_u8(in), low = input_u8(in);
	bool is_v6 = how & 16;
	struct ns_addr a = is_v6 ? own6 : ns_addr_v4(0x0a000000);
	struct ns_route r = { .link_id = rp->link_id, .metric = how >> 5, .is_v6 = is_v6 };
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 9 };

	a.b[15] = low;
	switch (how & 7) {
	case 0:
		(void)!ns_stack_add_addr(rp->stack, rp->link_id, &a, is_v6 ? 64 : 24);
		break;
	case 1:
		(void)!ns_stack_add_neigh(rp->stack, rp->link_id, &a, mac);
		break;
	case 2:
		r.dst = a;
		r.prefix_len = (uint8_t)(low % (is_v6 ? 129 : 33));
		r.type = input_u8(in) % (NS_ROUTE_PROHIBIT + 1);
		r.mtu = input_u16(in);
		(void)!ns_stack_add_route(rp->stack, &r);
		break;
	case 3:
		(void)!ns_stack_deprecate_addr(rp->stack, rp->link_id, &own6, low & 1);
		break;
	case 4:
		(void)!ns_stack_set_link_up(rp->stack, rp->link_id, low & 1);
		break;
	case 5:
		set_link(in);
		break;
	default:
		r.dst = a;
		r.prefix_len = (uint8_t)(low % (is_v6 ? 129 : 33));
		del_or_rule(in, input_u8(in), &a, &r);
		break;
	}
}

static void call_xmit_err(struct input *in)
{
	static const int errs[] = { 0, -11, -22, -90, -100, -105 };

	board.rp.xmit_err = errs[input_u8(in) % 6];
	if (!board.rp.xmit_err)
		ns_link_writable(board.rp.stack, board.rp.link_id);
}

void frame_call_step(enum step_op op, struct input *in, uint32_t n)
{
	struct ns_stack *s = board.rp.stack;
	struct rp_conn *c = &board.conn[n];
	struct ns_tcp_info info;
	int value;

	switch ((int)op) {
	case OP_SEND:
		rp_send(c, octets, input_u16(in));
		break;
	case OP_READ:
		rp_recv(c, octets, input_u16(in));
		break;
	case OP_CLOSE:
		ns_sock_close(s, c->sock);
		break;
	case OP_SHUTDOWN:
		ns_sock_shutdown_send(s, c->sock);
		break;
	case OP_ABORT:
		ns_sock_abort(s, c->sock);
		break;
	case OP_ACCEPT:
		if (ns_sock_accept(s, board.listener[0], &c->sock))
			c->sock = 0;
		break;
	case OP_SETOPT:
		set_and_get(c->sock, in);
		break;
	case OP_CONNECT:
		call_connect(in, c);
		break;
	case OP_OPEN:
		call_open(in, c);
		break;
	case OP_CALL:
		call_more(in, c);
		break;
	case OP_INFO:
		(void)!ns_sock_tcp_info(s, c->sock, board.rp.now, &info);
		break;
	case OP_XMIT_ERR:
		call_xmit_err(in);
		break;
	case OP_DGRAM:
		call_dgram(in);
		break;
	case OP_TALK:
		call_talk(in);
		break;
	case OP_KNOB:
		value = input_u8(in) % NS_KNOB_COUNT;
		(void)!ns_stack_set_knob(s, (enum ns_knob)value, (int)input_number(in));
		break;
	case OP_CONFIG:
		call_config(in);
		break;
	default:
		break;
	}
	rp_turn(&board.rp);
}
