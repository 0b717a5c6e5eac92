/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - what the bench programs share: sockets that work or end the program, time, medians */
#ifndef SLUICE_BENCH_H
#define SLUICE_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

/** bench_die() - print what failed, with errno's text when errno is set, and exit 1. */
noreturn void bench_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** bench_now() - monotonic time in seconds. */
double bench_now(void);

/**
 * bench_number() - a positive decimal argument, or the program ends with status 2
 * @what: the argument's name, for the message
 * @text: the argument
 * @max: the greatest value allowed
 */
long bench_number(const char *what, const char *text, long max);

/** bench_connect() - a blocking TCP connection to IPv4 @host, @port (host order). Caller closes. */
int bench_connect(const char *host, long port);

/** bench_listen() - a TCP listener on every IPv4 address, @port (host order). Caller closes. */
int bench_listen(long port, int backlog);

/** bench_accept() - the next connection of listener @fd. Caller closes. */
int bench_accept(int fd);

/** bench_nodelay() - TCP_NODELAY on. */
void bench_nodelay(int fd);

/** bench_write_all() - all @len bytes of @data, or the program ends. */
void bench_write_all(int fd, const void *data, size_t len);

/** bench_quantile() - sorts the @n values in place and returns the one at @q in [0, 1). */
double bench_quantile(double *values, size_t n, double q);

#endif /* SLUICE_BENCH_H */
