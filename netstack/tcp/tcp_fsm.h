/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_fsm.h - the states of a connection and their only writer */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tcp_conn;

enum tcp_state {
#define TCP_STATE(name_, text_, linux_, next_) TCP_##name_,
#include "tcp/tcp_states.def"
#undef TCP_STATE
	TCP_STATE_COUNT
};

/** TCPF() - the set of one state; sets are tested with TCP_IN(), states are never compared with < */
#define TCPF(name_)             (1u << TCP_##name_)
#define TCP_IN(state_, states_) (((1u << (state_)) & (states_)) != 0)

enum {
	/* RFC 9293 3.3.2: both sides know the other's sequence numbers */
	TCPF_SYNCHRONISED = TCPF(ESTABLISHED) | TCPF(FIN_WAIT_1) | TCPF(FIN_WAIT_2) |
			    TCPF(CLOSE_WAIT) | TCPF(CLOSING) | TCPF(LAST_ACK) | TCPF(TIME_WAIT),
	/* the program may still add octets */
	TCPF_CAN_SEND = TCPF(ESTABLISHED) | TCPF(CLOSE_WAIT),
	/* octets of the peer are still taken */
	TCPF_CAN_RECV = TCPF(ESTABLISHED) | TCPF(FIN_WAIT_1) | TCPF(FIN_WAIT_2),
	/* our octets, or our FIN, may still have to be sent again */
	TCPF_CAN_XMIT = TCPF(ESTABLISHED) | TCPF(FIN_WAIT_1) | TCPF(CLOSE_WAIT) | TCPF(CLOSING) |
			TCPF(LAST_ACK),
	TCPF_OPENING = TCPF(SYN_SENT) | TCPF(SYN_RCVD),
};

/** tcp_state_name() - as RFC 9293 spells it */
const char *tcp_state_name(enum tcp_state s);
/** tcp_state_linux() - the number TCP_INFO shows */
uint8_t tcp_state_linux(enum tcp_state s);
/** tcp_state_is_legal() - may a connection go from @from to @to? */
bool tcp_state_is_legal(enum tcp_state from, enum tcp_state to);
void tcp_set_state(struct tcp_conn *c, enum tcp_state to, const char *why);
