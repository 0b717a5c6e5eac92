/* SPDX-License-Identifier: Apache-2.0 */
/* ecn_rig.h - what tests of congestion marks begin with; see rig.h */
#pragma once

#include <errno.h>

#include "rig.h"

enum {
	ASK = 7, /* AE, CWR, ECE of a SYN that asks for the accurate kind */

	/* RFC 3168 5 */
	NOT_ECT = 0,
	ECT1 = 1,
	ECT0 = 2,
	CE = 3,
};

#define ORDER0(...) ((struct tcp_accecn_opt){ .has = true, .cnt = 3, .v = { __VA_ARGS__ } })

struct rig *ecn_listening(int knob);
struct rig *ecn_connecting(int knob);
struct rig *ecn_server(void);
uint8_t ecn_syn(struct rig *t, uint8_t ace, uint8_t ecn);
void ecn_take_conn(struct rig *t);
void ecn_synack(struct rig *t, uint8_t ace, uint8_t ecn);
void ecn_cross(struct rig *t, uint8_t ace, uint8_t ecn);
struct sent *ecn_data_in(struct rig *t, uint32_t seq, uint8_t ecn);
void ecn_send_segs(struct rig *t, uint32_t n);
