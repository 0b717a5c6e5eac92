/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conformance.h - the fixture of the raw-packet tests: one stack, one peer, one innocent flow
 *
 * Every test starts with a stack that listens on port 80 and has one established connection,
 * @other, that the test does not touch. The teardown uses that connection in both directions: what a
 * test did to the stack must not have harmed it. check runs each test in a process of its own, so a
 * trap is the failure of one test.
 */
#pragma once

#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/drop.h"
#include "support/rawpeer.h"

enum {
	PORT = 80, /* the listener's */
};

extern struct rawpeer rp;
extern ns_sock listener;
extern struct rp_conn other;
extern struct rp_config conf_config; /* set before conf_setup() */

/** conf_setup(), conf_teardown() - a checked fixture */
void conf_setup(void);
void conf_setup_arp(void); /* the peer's MAC is not configured; no @other */
void conf_teardown(void);
void conf_teardown_bare(void); /* without a look at @other */

/** conf_fail() - leave a pcap and end the test */
void conf_fail(const char *file, int line, const char *what) __attribute__((noreturn));

/** expect() - ends the test with a pcap when @cond_ is false */
#define expect(cond_)                                                                              \
	do {                                                                                       \
		if (!(cond_))                                                                      \
			conf_fail(__FILE__, __LINE__, #cond_);                                     \
	} while (0)

/** snap() - counters from here on are counted from now */
void snap(void);
/** moved() - how far counter @name went since the fixture's start or snap() */
uint64_t moved(const char *name);
/** drops() - how many packets died since then, for any reason */
uint64_t drops(void);
/** expect_nothing() - no frame came out; the test ends otherwise */
void expect_nothing(const char *file, int line);
#define expect_silence() expect_nothing(__FILE__, __LINE__)

/** dropped_silently() - inject @f: exactly one packet dies, for reason @name, and nothing is sent */
bool dropped_silently(const struct frame *f, const char *name);

/** expect_tcp() - take the next frame: a segment of @c with exactly these flags (PSH aside) */
bool expect_tcp(struct rp_conn *c, uint8_t flags, struct seen *ret_seen);
/** accepted_on() - a fresh connection to the listener, no options but MSS; ends the test when it fails */
struct rp_conn accepted(void);
/** accepted_with() - the same with what @syn offers */
struct rp_conn accepted_with(const struct rp_syn *syn);
/** state_of() - the state's name of a connection by the peer's port, "CLOSED" when there is none */
const char *state_of(const struct rp_conn *c);
/** EACH() - every index of an array */
#define EACH(i_, a_) for (size_t i_ = 0; i_ < sizeof(a_) / sizeof((a_)[0]); i_++)
/** conf_in_state() - a connection brought into @state, by its text in tcp_states.def; rcv counts our FIN once it left */
struct rp_conn conf_in_state(const char *state);
/** conf_acked() - what the peer has acknowledged so far in @state, relative to rcv */
uint32_t conf_acked(const char *state);
/** is_flow_alive() - data in and out of @c still work */
bool is_flow_alive(struct rp_conn *c);

/** conf_run() - main() of a suite; returns the exit status */
int conf_run(Suite *s);
/** conf_case() - a case with the usual fixture */
TCase *conf_case(Suite *s, const char *name);
