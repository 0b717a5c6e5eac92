/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knobs - sysctls as text on one side, the stack's knobs on the other
 *
 * Pure: no file is read here, so that it can be tested without a namespace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ns/sock.h"

#define KNOBS_NAME_MAX  64u  /* octets of "net.ipv4.tcp_rmem" with its NUL */
#define KNOBS_VALUE_MAX 128u /* octets of a value with its NUL */

/** KNOBS_FASTOPEN_KEY - the row of net.ipv4.tcp_fastopen_key, which is no number and no row of ns/knobs.def */
#define KNOBS_FASTOPEN_KEY NS_KNOB_COUNT
#define KNOBS_ROWS         (NS_KNOB_COUNT + 1)

/** struct knobs - a value for each row of ns/knobs.def, and the keys of RFC 7413's cookies */
struct knobs {
	int32_t value[NS_KNOB_COUNT];
	uint32_t fastopen_keys_len; /* octets; 0: none were set, which reads as zeros */
	uint8_t fastopen_keys[NS_FASTOPEN_KEYS_LEN];
};

/**
 * knobs_init() - the stack's own defaults
 * @k:		Not initialised before
 */
void knobs_init(struct knobs *k);

/** knobs_sysctl() - the name of row @i, below KNOBS_ROWS */
const char *knobs_sysctl(int i);

/**
 * knobs_first_row() - the first row of the sysctl that row @i belongs to
 * @i:		Row, below KNOBS_ROWS
 *
 * Return: @i itself when it is the first: so a walk over all rows finds each sysctl once
 */
int knobs_first_row(int i);

/**
 * knobs_set() - a sysctl as the kernel shows it or an operator writes it
 * @k:		Initialised; unchanged on failure
 * @sysctl:	"net.ipv4.tcp_rmem"
 * @value:	Words with blanks between; not trusted
 *
 * All words that have a row must be there and in range: half of a value is none.
 *
 * Return: 0; -ENOENT when no row is about it; -EINVAL when it is not what the sysctl holds; -ERANGE
 * when the stack does not go as far
 */
int knobs_set(struct knobs *k, const char *sysctl, const char *value);

/**
 * knobs_text() - the value of a sysctl as text
 * @k:		Initialised
 * @i:		Its first row
 * @buf:	Set; "-" stands for a word without a row
 * @len:	Octets at @buf
 */
void knobs_text(const struct knobs *k, int i, char *buf, size_t len);

/**
 * knobs_path() - the file of a sysctl
 * @sysctl:	"net.ipv4.tcp_rmem"
 * @buf:	Set to the path below /proc/sys/net, "ipv4/tcp_rmem"
 * @len:	Octets at @buf
 *
 * Return: 0 or -EINVAL when it is no name of that form; "a/../b" is none
 */
int knobs_path(const char *sysctl, char *buf, size_t len);
