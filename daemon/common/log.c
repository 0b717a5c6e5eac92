/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log - one logger for the three roles
 *
 * Theory of operation: a line is formatted into one buffer on the stack, control octets are escaped
 * (a container chooses interface names and paths that end up here), and the line is given to the
 * sink. The default sink writes it with one write(2) to stderr; under systemd, which sets
 * JOURNAL_STREAM, it carries the "<N>" prefix of sd-daemon(3) that becomes the journal's priority.
 *
 * Limits: LOG_TEXT_MAX octets a line; LOG_BURST lines in LOG_INTERVAL_S seconds for each level, so
 * that one container cannot fill the host's journal. What was left out is counted and told when the
 * interval is over.
 *
 * Syscalls: #syscalls monitor: write clock_gettime
 */
#include "daemon/common/log.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOG_BURST      200u
#define LOG_INTERVAL_S 5

static struct {
	const char *role;
	int level;
	bool journal; /* stderr is the journal: prefix lines with their priority */
	log_sink_fn sink;
	void *ctx;
	struct {
		time_t since;
		unsigned int cnt;
		unsigned int dropped;
	} rate[LOG_LEVEL_TRACE + 1];
} lg = { .role = "sluiced", .level = LOG_LEVEL_INFO };

void log_init(const char *role, int level)
{
	lg.role = role;
	lg.level = level;
	lg.journal = getenv("JOURNAL_STREAM") != NULL;
	lg.sink = NULL;
	lg.ctx = NULL;
}

void log_set_level(int level)
{
	lg.level = level;
}

bool log_is_on(int level)
{
	return level <= lg.level;
}

void log_set_sink(log_sink_fn sink, void *ctx)
{
	lg.sink = sink;
	lg.ctx = ctx;
}

static void stderr_line(const char *role, int level, const char *text)
{
	char line[LOG_TEXT_MAX + 64];
	int len;

	if (lg.journal)
		len = snprintf(line, sizeof(line), "<%d>%s: %s\n",
			       level > LOG_LEVEL_DEBUG ? LOG_LEVEL_DEBUG : level, role, text);
	else
		len = snprintf(line, sizeof(line), "sluiced[%s]: %s\n", role, text);
	if (len < 0)
		return;
	if ((size_t)len >= sizeof(line))
		len = (int)sizeof(line) - 1;
	/* Nobody is left to tell when stderr is gone. */
	if (write(STDERR_FILENO, line, (size_t)len) < 0)
		return;
}

/* Copies @src to @dst; what is no printable ASCII or UTF-8 lead/continuation becomes \xNN. */
static void escape(char *dst, size_t dst_size, const char *src, size_t src_len)
{
	static const char hex[] = "0123456789abcdef";
	size_t off = 0;

	for (size_t i = 0; i < src_len && src[i] != '\0'; i++) {
		unsigned char c = (unsigned char)src[i];

		if (off + 8 > dst_size) {
			memcpy(dst + off, "...", 3);
			off += 3;
			break;
		}
		if (c >= 0x20 && c != 0x7f) {
			dst[off++] = (char)c;
			continue;
		}
		dst[off++] = '\\';
		dst[off++] = 'x';
		dst[off++] = hex[c >> 4];
		dst[off++] = hex[c & 15];
	}
	dst[off] = '\0';
}

static void emit(const char *role, int level, const char *text)
{
	if (lg.sink)
		lg.sink(lg.ctx, level, text);
	else
		stderr_line(role, level, text);
}

static bool rate_admits(const char *role, int level)
{
	struct timespec now;
	char text[96];

	if (level > LOG_LEVEL_INFO) /* whoever turned debug on wants all of it */
		return true;
	if (clock_gettime(CLOCK_MONOTONIC, &now) < 0)
		return true;
	if (now.tv_sec - lg.rate[level].since >= LOG_INTERVAL_S) {
		unsigned int dropped = lg.rate[level].dropped;

		lg.rate[level].since = now.tv_sec;
		lg.rate[level].cnt = 0;
		lg.rate[level].dropped = 0;
		if (dropped) {
			(void)snprintf(text, sizeof(text), "%u lines of this level were left out",
				       dropped);
			emit(role, level, text);
		}
	}
	if (lg.rate[level].cnt >= LOG_BURST) {
		lg.rate[level].dropped++;
		return false;
	}
	lg.rate[level].cnt++;
	return true;
}

void log_relay(const char *role, int level, const char *text, size_t len)
{
	char clean[LOG_TEXT_MAX];

	if (level < LOG_LEVEL_ERR || level > LOG_LEVEL_TRACE)
		level = LOG_LEVEL_NOTICE;
	if (!log_is_on(level) || !rate_admits(role, level))
		return;
	escape(clean, sizeof(clean), text, len);
	emit(role, level, clean);
}

void log_vwrite(int level, int r, const char *fmt, va_list ap)
{
	char raw[LOG_TEXT_MAX], clean[LOG_TEXT_MAX];
	int saved = errno;
	size_t len;
	int n;

	if (!log_is_on(level) || !rate_admits(lg.role, level))
		return;
	n = vsnprintf(raw, sizeof(raw), fmt, ap);
	if (n < 0)
		return;
	len = (size_t)n < sizeof(raw) ? (size_t)n : sizeof(raw) - 1;
	if (r && len < sizeof(raw) - 1)
		(void)snprintf(raw + len, sizeof(raw) - len, ": %s", strerror(r < 0 ? -r : r));
	escape(clean, sizeof(clean), raw, sizeof(raw));
	emit(lg.role, level, clean);
	errno = saved;
}

#define LOG_BODY(level, r)                                                                         \
	do {                                                                                       \
		va_list ap_;                                                                       \
		va_start(ap_, fmt);                                                                \
		log_vwrite((level), (r), fmt, ap_);                                                \
		va_end(ap_);                                                                       \
	} while (0)

int log_err(int r, const char *fmt, ...)
{
	LOG_BODY(LOG_LEVEL_ERR, r);
	return r > 0 ? -r : r;
}

void log_errx(const char *fmt, ...)
{
	LOG_BODY(LOG_LEVEL_ERR, 0);
}

int log_warn(int r, const char *fmt, ...)
{
	LOG_BODY(LOG_LEVEL_WARNING, r);
	return r > 0 ? -r : r;
}

void log_warnx(const char *fmt, ...)
{
	LOG_BODY(LOG_LEVEL_WARNING, 0);
}

void log_notice(const char *fmt, ...)
{
	LOG_BODY(LOG_LEVEL_NOTICE, 0);
}

void log_info(const char *fmt, ...)
{
	LOG_BODY(LOG_LEVEL_INFO, 0);
}

void log_debug(const char *fmt, ...)
{
	LOG_BODY(LOG_LEVEL_DEBUG, 0);
}

void log_trace(const char *fmt, ...)
{
	LOG_BODY(LOG_LEVEL_TRACE, 0);
}

int log_level_from_name(const char *name)
{
	static const char *const names[] = {
		[LOG_LEVEL_ERR] = "err",       [LOG_LEVEL_WARNING] = "warning",
		[LOG_LEVEL_NOTICE] = "notice", [LOG_LEVEL_INFO] = "info",
		[LOG_LEVEL_DEBUG] = "debug",   [LOG_LEVEL_TRACE] = "trace",
	};

	for (int i = LOG_LEVEL_ERR; i <= LOG_LEVEL_TRACE; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -EINVAL;
}
