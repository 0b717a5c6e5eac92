/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal - the state file: how a namespace was, and what has been done to it
 *
 * `<state-dir>/<id>/journal.json`, written before the first change and after each step, each time
 * by a rename over the old one. Whoever comes after a killed monitor finds in it all that is needed
 * to give the namespace back.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/netconf/scrape.h"

#define JOURNAL_VERSION   1
#define JOURNAL_STEPS_MAX 1024u
#define JOURNAL_PATH_MAX  512u

/** enum take_how - what is done to a link */
enum take_how {
	TAKE_LEAVE, /* loopback, a port of a bridge: not touched */
	TAKE_MOVE,  /* moved to the daemon's namespace, a decoy stays */
	TAKE_STRIP, /* stays without addresses and routes */
	TAKE_HOW_COUNT,
};

/** struct journal_record - content of the file; release with journal_record_done() */
struct journal_record {
	char netns_path[JOURNAL_PATH_MAX]; /* as given, may be empty */
	pid_t pid;                         /* a process of the container, 0 if unknown */
	struct snapshot snap;
	uint8_t how[PLAN_LINKS_MAX];         /* enum take_how, by row of snap.plan.links */
	uint8_t has_ingress[PLAN_LINKS_MAX]; /* 1: an ingress qdisc of someone else's was there */
};

/** struct journal - the directory of one sandbox; release with journal_close() */
struct journal {
	char dir[JOURNAL_PATH_MAX];
	int dir_fd;
	int lock_fd;
	char *head; /* the file up to the list of steps: that alone changes from write to write */
	size_t head_len;
	char *steps; /* JSON strings with commas between */
	size_t steps_len;
	size_t step_cnt;
};

/**
 * journal_open() - make or open the directory of a sandbox and lock it
 * @j:		Not initialised before
 * @state_dir:	Made if missing
 * @id:		Name of the directory below, checked by the configuration
 *
 * Return: 0; -EBUSY when another monitor holds the lock; negative errno. A sentence was logged
 */
int journal_open(struct journal *j, const char *state_dir, const char *id);

/**
 * journal_close() - release the lock; the file stays if it is there
 * @j:		Opened, or zeroed with both descriptors -1
 */
void journal_close(struct journal *j);

/**
 * journal_path() - a file in the sandbox's directory
 * @j:		Opened
 * @name:	File name
 * @buf:	Set to the path
 * @len:	Octets at @buf
 *
 * Return: @buf
 */
char *journal_path(const struct journal *j, const char *name, char *buf, size_t len);

/**
 * journal_exists() - whether a predecessor left a journal
 * @j:		Opened
 */
bool journal_exists(const struct journal *j);

/**
 * journal_begin() - write the file, no step done yet
 * @j:		Opened
 * @rec:	Borrowed for the call
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int journal_begin(struct journal *j, const struct journal_record *rec);

/**
 * journal_update() - the record changed; the steps that were done stay
 * @j:		Begun or loaded
 * @rec:	Borrowed for the call
 *
 * Return: 0 or negative errno, then the file is as before; a sentence was logged
 */
int journal_update(struct journal *j, const struct journal_record *rec);

/**
 * journal_step() - note that a step was done
 * @j:		Begun or loaded
 * @step:	Name, then the link if it is about one: "move eth0"
 *
 * Return: 0 or negative errno; a sentence was logged
 */
int journal_step(struct journal *j, const char *step);

/**
 * journal_load() - read the file of a predecessor
 * @j:		Opened; can be written on with journal_step()
 * @rec:	Not initialised before; set on success, the caller releases it
 *
 * Return: 0, -ENOENT, -EINVAL when it is not what journal_begin() writes, or negative errno. A
 * sentence was logged unless -ENOENT
 */
int journal_load(struct journal *j, struct journal_record *rec);

/**
 * journal_remove() - the namespace is as it was: nothing is left to do for a successor
 * @j:		Opened
 *
 * Return: 0 or negative errno
 */
int journal_remove(struct journal *j);

/**
 * journal_record_done() - release and empty
 * @rec:	Record, or zeroed
 */
void journal_record_done(struct journal_record *rec);

/**
 * journal_record_parse() - the text of the file as a record
 * @text:	Not trusted, @len octets
 * @len:	Octets at @text
 * @rec:	Not initialised before; set on success
 * @errbuf:	Receives one sentence on failure
 * @errlen:	Octets at @errbuf
 *
 * Return: 0, -EINVAL, -E2BIG, -EPROTONOSUPPORT or -ENOMEM
 */
int journal_record_parse(const char *text, size_t len, struct journal_record *rec, char *errbuf,
			 size_t errlen);
