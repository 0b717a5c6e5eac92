/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs the tests of netstack/tcp */
#include "suites.h"

UNIT_MAIN(accecn_suite, accecn_opt_suite, bbr_suite, cc_suite, cubic_suite, fastopen_suite,
	  fsm_suite, in_suite, info_suite, isn_suite, listen_suite, mtup_suite, out_suite,
	  pace_suite, rack_suite, rate_suite, rcv_suite, reasm_suite, recovery_suite, rtt_suite,
	  rtx_suite, seg_suite, timer_suite, undo_suite, urg_suite, user_suite)
