/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - a run of the simulator: two hosts with an application each, and the questions every run ends with
 *
 * sim_init(), connections, time, sim_finish(). A failure prints scenario and seed, which give the same run again, and
 * leaves a pcap.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "support/vapp.h"
#include "support/vcheck.h"

enum {
	SIM_PORT = 80,
	MIB = 1 << 20,
};

#define MS  NS_PER_MS
#define SEC NS_PER_SEC

/** struct args - of the command line */
struct args {
	uint32_t seeds;
	uint64_t first;
	const char *golden;
	bool is_update;
};

/** struct sim - one run: a pair of hosts with an application each */
struct sim {
	struct vnet v;
	struct vhost *h;
	struct vapp client, server;
	struct vcheck *check;
	const char *name;
	uint64_t seed;
	bool ok;
};

/** struct sim_config - what a run is made of; zero: hosts as they are, a wire without faults, nothing is sent */
struct sim_config {
	struct vhost_config client_host, server_host;
	struct vwire_dir up, down; /* client to server and back */
	struct vprofile client, server;
	struct mono start; /* zero: 1000 s */
};

/** struct sim_variant - how all runs of a scenario differ from the plain one; set before it begins */
struct sim_variant {
	bool is_v6;        /* over IPv6 */
	enum ns_knob knob; /* both hosts have this knob at @value; below zero: at its default */
	int value;
};

extern struct sim_variant sim_variant;

/** sim_init() - @name and @seed are what a failure is reported with; the server listens */
void sim_init(struct sim *s, const char *name, uint64_t seed, const struct sim_config *c);
/** sim_fail() - the run has failed, @why; the first failure leaves a pcap */
void sim_fail(struct sim *s, const char *why);
/** sim_connect() - another connection of the client's; NULL, and the run has failed, when our own stack refuses it */
struct vend *sim_connect(struct sim *s);
/** sim_all_closed() - for vnet_run(): no end of either application is open; @ctx is the run */
bool sim_all_closed(void *ctx);
/** sim_pump() - every end looks at its profile again */
void sim_pump(struct sim *s);
/** sim_stop_sending() - applications that send for ever send no more, but what is under way arrives */
void sim_stop_sending(struct sim *s);
/** sim_done() - take it down, whatever it has come to */
void sim_done(struct sim *s);
/** sim_finish() - let everything end @within_ns, ask the questions every run asks, take it down; true: all is well */
bool sim_finish(struct sim *s, uint64_t within_ns);

/** run_grid() - goodput and fairness against the golden table of @a (sim_grid.c) */
bool run_grid(const struct args *a, uint64_t seed);
