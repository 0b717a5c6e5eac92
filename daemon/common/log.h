/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log - one logger for the three roles
 *
 * A line is a sentence: what was tried, on what, why not, and what to do. log_err() and log_warn()
 * take a negative errno (or its positive twin) whose text is appended; the forms with a final x do
 * not.
 *
 * Where a line goes is the sink. The monitor prints to stderr; a child, which after its sandbox may
 * not write to anything, sets a sink that sends the line to the monitor (MSG_LOG).
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/** LOG_TEXT_MAX - octets of a line with its NUL; what is longer is cut and ends in "..." */
#define LOG_TEXT_MAX 1024

/** enum log_level - the numbers are those of syslog(3) and sd-daemon(3), LOG_TRACE is one below */
enum log_level {
	LOG_LEVEL_ERR = 3,     /* the operator must act */
	LOG_LEVEL_WARNING = 4, /* degraded */
	LOG_LEVEL_NOTICE = 5,  /* start, stop, attach, detach */
	LOG_LEVEL_INFO = 6,    /* per container */
	LOG_LEVEL_DEBUG = 7,   /* per connection */
	LOG_LEVEL_TRACE = 8,   /* per packet */
};

/**
 * log_sink_fn - receives each line that passes level and rate
 * @ctx:	What log_set_sink() was given
 * @level:	An enum log_level
 * @text:	Escaped, NUL-terminated, no newline, at most LOG_TEXT_MAX octets; borrowed for the call
 */
typedef void (*log_sink_fn)(void *ctx, int level, const char *text);

/**
 * log_init() - name the role and pick the default sink (stderr)
 * @role:	Shown in front of each line, such as "monitor"; must outlive the process
 * @level:	Least urgent level that is still written, an enum log_level
 */
void log_init(const char *role, int level);

/**
 * log_set_level() - change the least urgent level that is written
 * @level:	An enum log_level
 */
void log_set_level(int level);

/**
 * log_is_on() - whether a line of this level would be written
 * @level:	An enum log_level
 *
 * Return: true when it is worth building an expensive argument
 */
bool log_is_on(int level);

/**
 * log_set_sink() - send the lines elsewhere
 * @sink:	Receives each line; NULL returns to stderr
 * @ctx:	Handed to @sink
 */
void log_set_sink(log_sink_fn sink, void *ctx);

/**
 * log_relay() - print a line that another role wrote
 * @role:	The role the line came from
 * @level:	Its level; out of range counts as LOG_LEVEL_NOTICE
 * @text:	Its text, not trusted: escaped and cut again
 * @len:	Octets at @text
 */
void log_relay(const char *role, int level, const char *text, size_t len);

/**
 * log_vwrite() - the function below all others
 * @level:	An enum log_level
 * @r:		Errno to append, negative or positive; 0 for none
 * @fmt:	printf format
 * @ap:		Its arguments
 */
__attribute__((format(printf, 3, 0))) void log_vwrite(int level, int r, const char *fmt,
						      va_list ap);

/**
 * log_err() - an operation failed and the operator must act
 * @r:		Negative errno
 * @fmt:	Sentence without the reason
 *
 * Return: @r made negative, so that a failing function can end in `return log_err(r, ...)`
 */
__attribute__((format(printf, 2, 3))) int log_err(int r, const char *fmt, ...);

/** log_errx() - as log_err(), for failures that have no errno */
__attribute__((format(printf, 1, 2))) void log_errx(const char *fmt, ...);

/** log_warn() - degraded, goes on. Return: @r made negative */
__attribute__((format(printf, 2, 3))) int log_warn(int r, const char *fmt, ...);

/** log_warnx() - as log_warn(), without errno */
__attribute__((format(printf, 1, 2))) void log_warnx(const char *fmt, ...);

/** log_notice() - start, stop, attach, detach */
__attribute__((format(printf, 1, 2))) void log_notice(const char *fmt, ...);

/** log_info() - per container */
__attribute__((format(printf, 1, 2))) void log_info(const char *fmt, ...);

/** log_debug() - per connection */
__attribute__((format(printf, 1, 2))) void log_debug(const char *fmt, ...);

/** log_trace() - per packet */
__attribute__((format(printf, 1, 2))) void log_trace(const char *fmt, ...);

/**
 * log_level_from_name() - "err", "warning", "notice", "info", "debug", "trace"
 * @name:	NUL-terminated
 *
 * Return: the level, or -EINVAL
 */
int log_level_from_name(const char *name);
