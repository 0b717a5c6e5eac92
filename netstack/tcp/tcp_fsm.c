/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_fsm.c - RFC 9293 3.3.2: names, legal moves, and the one function that moves */
#include "tcp/tcp_fsm.h"

#include "tcp/tcp_int.h"

static const char *const names[TCP_STATE_COUNT] = {
#define TCP_STATE(name_, text_, linux_, next_) [TCP_##name_] = (text_),
#include "tcp/tcp_states.def"
#undef TCP_STATE
};

static const uint8_t linux_numbers[TCP_STATE_COUNT] = {
#define TCP_STATE(name_, text_, linux_, next_) [TCP_##name_] = (linux_),
#include "tcp/tcp_states.def"
#undef TCP_STATE
};

static const uint16_t legal_next[TCP_STATE_COUNT] = {
#define F(name_)                               TCPF(name_)
#define TCP_STATE(name_, text_, linux_, next_) [TCP_##name_] = (next_),
#include "tcp/tcp_states.def"
#undef TCP_STATE
#undef F
};

const char *tcp_state_name(enum tcp_state s)
{
	return names[s];
}

uint8_t tcp_state_linux(enum tcp_state s)
{
	return linux_numbers[s];
}

bool tcp_state_is_legal(enum tcp_state from, enum tcp_state to)
{
	return TCP_IN(to, legal_next[from]);
}

/**
 * tcp_set_state() - move @c, the only place that does
 * @c:		Connection
 * @to:		A legal successor of the state it is in; anything else is our bug and traps
 * @why:	Static string for the trace
 *
 * A connection that falls to CLOSED leaves the wire here: its timers stop, its four-tuple is free
 * for the next, what it still wanted to send is dropped. What was received stays readable.
 */
void tcp_set_state(struct tcp_conn *c, enum tcp_state to, const char *why)
{
	enum tcp_state from = c->state;
	const struct ns_env *env = c->t->core->env;

	NS_BUG_ON(!tcp_state_is_legal(from, to));
	c->state = to;
	if (env->trace)
		env->trace(env->ctx, why, (uint64_t)from << 8 | to, c->id);
	if (to == TCP_CLOSED)
		tcp_conn_detach(c);
}
