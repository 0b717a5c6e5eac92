/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sluicectl.h - the commands of sluicectl
 *
 * Each takes its own words (argv[0] is the command) and returns the exit status: 0 done, 1 failed,
 * 2 wrong usage. Errors are one sentence on standard error.
 */
#pragma once

struct json_object;

enum {
	CTL_OK = 0,
	CTL_FAILED = 1,
	CTL_USAGE = 2,
};

/**
 * ctl_profile() - print the seccomp profile of a container
 * @argc:	number of words
 * @argv:	"profile", then --listener, --metadata, --format
 *
 * Return: exit status
 */
int ctl_profile(int argc, char **argv);

/**
 * ctl_list() - one line for each sandbox of this host
 * @state_dir:	where their directories are
 * @argc:	number of words
 * @argv:	"list"
 *
 * Return: exit status
 */
int ctl_list(const char *state_dir, int argc, char **argv);

/**
 * ctl_ask() - send a request to one sandbox or to all and print the answers as JSON
 * @state_dir:	where their directories are
 * @argc:	number of words
 * @argv:	"state", "stats", "links", "sockets" or "sysctl", which is also the request, then perhaps the
 *		id, then for "sysctl" perhaps NAME=VALUE
 *
 * Return: exit status
 */
int ctl_ask(const char *state_dir, int argc, char **argv);

/**
 * ctl_route_get() - ask stacks where a packet would go, and say it in the words of ip route get
 * @state_dir:	Where sandboxes have their directories
 * @argc:	Words
 * @argv:	"routes", perhaps an id, "get", an address, perhaps pairs of words and "-json"
 *
 * Return: exit status; CTL_FAILED when the answer is an error
 */
int ctl_route_get(const char *state_dir, int argc, char **argv);

/**
 * ctl_request() - ask one sandbox
 * @state_dir:	As above
 * @id:		Sandbox, a safe name
 * @word:	Request, one line
 * @ret_answer:	Set on success; the caller puts it
 *
 * Return: 0 or negative errno
 */
int ctl_request(const char *state_dir, const char *id, const char *word,
		struct json_object **ret_answer);

/** ctl_for_each_id() - call @one for each sandbox in order of their names. Return: exit status */
int ctl_for_each_id(const char *state_dir, const char *word,
		    int (*one)(const char *state_dir, const char *id, const char *word));

/** ctl_request_error() - what went wrong, for people */
const char *ctl_request_error(int r);

/**
 * ctl_ignored() - one line for each sysctl that a running sandbox was asked for and has not
 * @state_dir:	where their directories are
 */
void ctl_ignored(const char *state_dir);

/**
 * ctl_doctor() - check whether this host can run sluice, and list sysctls that have no effect
 * @state_dir:	where the sandboxes' directories are
 * @argc:	number of words
 * @argv:	"doctor"
 *
 * Return: exit status, CTL_FAILED if something needed is missing
 */
int ctl_doctor(const char *state_dir, int argc, char **argv);

/**
 * ctl_option() - read "--name value" or "--name=value"
 * @argc:	number of words
 * @argv:	words
 * @i:		index of the word to look at; moved past the option on success
 * @name:	with its two dashes
 *
 * Return: the value, borrowed from @argv, or NULL if this is another word or the value is missing
 */
const char *ctl_option(int argc, char **argv, int *i, const char *name);
