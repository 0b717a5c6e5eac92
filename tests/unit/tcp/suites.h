/* SPDX-License-Identifier: Apache-2.0 */
/* suites.h - the suites of this folder */
#pragma once

#include "unit.h"

Suite *accecn_suite(void);
Suite *accecn_opt_suite(void);
Suite *bbr_suite(void);
Suite *cc_suite(void);
Suite *cubic_suite(void);
Suite *fastopen_suite(void);
Suite *fsm_suite(void);
Suite *in_suite(void);
Suite *info_suite(void);
Suite *isn_suite(void);
Suite *listen_suite(void);
Suite *mtup_suite(void);
Suite *out_suite(void);
Suite *pace_suite(void);
Suite *rack_suite(void);
Suite *rate_suite(void);
Suite *rcv_suite(void);
Suite *reasm_suite(void);
Suite *recovery_suite(void);
Suite *rtt_suite(void);
Suite *rtx_suite(void);
Suite *seg_suite(void);
Suite *timer_suite(void);
Suite *undo_suite(void);
Suite *urg_suite(void);
Suite *user_suite(void);
