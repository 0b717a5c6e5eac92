/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sluicectl.c - the operator's program: words of the command line to commands
 */
#include "ctl/sluicectl.h"

#include <stdio.h>
#include <string.h>

#ifndef SLUICE_VERSION
#define SLUICE_VERSION "0.1.0"
#endif

#define DEFAULT_STATE_DIR "/run/sluice"

static const char usage[] =
	"Usage: sluicectl [--state-dir=DIR] COMMAND\n"
	"Look at the sandboxes of this host.\n\n"
	"  list          one line for each sandbox\n"
	"  state [ID]    what a sandbox is doing, as JSON\n"
	"  stats [ID]    its counters, as JSON\n"
	"  links [ID]    its links, as JSON\n"
	"  sockets [ID]  its sockets, as JSON\n"
	"  routes [ID]   its rules and routes, as JSON\n"
	"  routes [ID] get ADDR [from ADDR] [iif DEV] [oif DEV] [mark N] [tos N] [-json]\n"
	"                where a packet would go, as ip route get says it\n"
	"  sysctl [ID [NAME=VALUE]]\n"
	"                its knobs, as JSON; turn one of them\n"
	"  profile [--listener=PATH] [--metadata=TEXT] [--format=oci|docker]\n"
	"                the seccomp profile of a container\n"
	"  doctor        can this host run sluice?\n\n"
	"  --help, --version\n";

const char *ctl_option(int argc, char **argv, int *i, const char *name)
{
	size_t len = strlen(name);
	const char *word = argv[*i];

	if (strncmp(word, name, len) != 0)
		return NULL;
	if (word[len] == '=') {
		(*i)++;
		return word + len + 1;
	}
	if (word[len] || *i + 1 >= argc)
		return NULL;
	*i += 2;
	return argv[*i - 1];
}

static int command_run(const char *state_dir, int argc, char **argv)
{
	/* Words that the monitor answers: monitor_ctl.c. */
	static const char *const requests[] = { "state",   "stats",  "links",
						"sockets", "routes", "sysctl" };

	if (!strcmp(argv[0], "list"))
		return ctl_list(state_dir, argc, argv);
	if (!strcmp(argv[0], "routes") && argc > 2)
		return ctl_route_get(state_dir, argc, argv);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (!strcmp(argv[0], requests[i]))
			return ctl_ask(state_dir, argc, argv);
	if (!strcmp(argv[0], "profile"))
		return ctl_profile(argc, argv);
	if (!strcmp(argv[0], "doctor"))
		return ctl_doctor(state_dir, argc, argv);
	(void)fprintf(stderr, "sluicectl: %.60s is not a command; see sluicectl --help\n", argv[0]);
	return CTL_USAGE;
}

int main(int argc, char **argv)
{
	const char *state_dir = DEFAULT_STATE_DIR;
	int i = 1;

	while (i < argc && argv[i][0] == '-') {
		const char *value = ctl_option(argc, argv, &i, "--state-dir");

		if (value) {
			state_dir = value;
		} else if (!strcmp(argv[i], "--help")) {
			(void)fputs(usage, stdout);
			return CTL_OK;
		} else if (!strcmp(argv[i], "--version")) {
			(void)puts("sluicectl " SLUICE_VERSION);
			return CTL_OK;
		} else {
			(void)fprintf(stderr,
				      "sluicectl: option %.60s is not known or has no value; see "
				      "sluicectl --help\n",
				      argv[i]);
			return CTL_USAGE;
		}
	}
	if (i >= argc) {
		(void)fputs(usage, stderr);
		return CTL_USAGE;
	}
	return command_run(state_dir, argc - i, argv + i);
}
