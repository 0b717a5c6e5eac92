/* SPDX-License-Identifier: Apache-2.0 */
/* dgram.h - datagram sockets in sentences, for the conformance tests of UDP */
#pragma once

#include "conformance.h"

/** dgram_opened() - a socket of IPv4; dgram_opened6(): of both families */
ns_sock dgram_opened(void);
ns_sock dgram_opened6(void);
/** dgram_bound() - opened by the family of @local, and bound to it */
ns_sock dgram_bound(const struct ns_endpoint *local);
/** dgram_got() - the oldest datagram of @s is @text; taken out. @ret_rx may be NULL */
bool dgram_got(ns_sock s, const char *text, struct ns_dgram_rx *ret_rx);
/** dgram_send() - to @to (NULL: the connected peer), and one turn; what ns_dgram_send() says */
int dgram_send(ns_sock s, const struct ns_endpoint *to, const void *data, size_t len);
/** dgram_error() - the oldest error; false: there is none */
bool dgram_error(ns_sock s, struct ns_dgram_err *ret_err);
