/* SPDX-License-Identifier: Apache-2.0 */
/* igmp.h - IGMP (RFC 9776 4, RFC 2236 2) and the messages of MLD (RFC 9777 5, RFC 2710 3) */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "base/byteorder.h"

enum igmp_type {
	IGMP_QUERY = 0x11,
	IGMP_REPORT_V1 = 0x12,
	IGMP_REPORT_V2 = 0x16,
	IGMP_LEAVE_V2 = 0x17,
	IGMP_REPORT_V3 = 0x22,
};

/** enum mld_type - of ICMPv6 */
enum mld_type {
	MLD_QUERY = 130,
	MLD_REPORT_V1 = 131,
	MLD_DONE_V1 = 132,
	MLD_REPORT_V2 = 143,
};

/** enum report_record - of version 3 of IGMP and version 2 of MLD, RFC 9776 4.2.13, RFC 9777 5.2.12 */
enum report_record {
	RECORD_IS_IN = 1, /* current state: only the sources of the list */
	RECORD_IS_EX = 2, /* all but those of the list */
	RECORD_TO_IN = 3, /* changed to: only those of the list */
	RECORD_TO_EX = 4,
	RECORD_ALLOW = 5, /* those of the list are wanted now */
	RECORD_BLOCK = 6, /* and those not any more */
};

/** struct igmp_hdr - all of a message of versions 1 and 2, the beginning of a query of version 3 */
struct igmp_hdr {
	uint8_t type;
	uint8_t code; /* query: time to answer in, 0: version 1 */
	struct be16 csum;
	struct be32 group;
};
static_assert(sizeof(struct igmp_hdr) == 8 && _Alignof(struct igmp_hdr) == 1, "RFC 2236 2");

/** struct mld_hdr - all of a message of version 1, the beginning of a query of version 2 */
struct mld_hdr {
	uint8_t type, code;
	struct be16 csum;
	struct be16 delay; /* query: time to answer in */
	struct be16 reserved;
	uint8_t group[16];
};
static_assert(sizeof(struct mld_hdr) == 24 && _Alignof(struct mld_hdr) == 1, "RFC 2710 3");

/** struct query_tail - what follows in a query of IGMP version 3 and MLD version 2 */
struct query_tail {
	uint8_t qrv; /* low three bits: robustness, 0: not told */
	uint8_t qqic;
	struct be16 source_cnt;
};
static_assert(sizeof(struct query_tail) == 4 && _Alignof(struct query_tail) == 1, "RFC 9776 4.1");

/** struct report_hdr - of IGMP version 3 and MLD version 2; records follow */
struct report_hdr {
	uint8_t type, reserved;
	struct be16 csum;
	struct be16 reserved2;
	struct be16 record_cnt;
};
static_assert(sizeof(struct report_hdr) == 8 && _Alignof(struct report_hdr) == 1, "RFC 9776 4.2");

/** struct report_record_hdr - of one group, whose address follows, then its sources */
struct report_record_hdr {
	uint8_t type; /* enum report_record */
	uint8_t aux_len;
	struct be16 source_cnt;
};
static_assert(sizeof(struct report_record_hdr) == 4 && _Alignof(struct report_record_hdr) == 1,
	      "RFC 9776 4.2");
