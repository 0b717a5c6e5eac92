/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - what the bench programs share */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

void bench_die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (err)
		fprintf(stderr, ": %s", strerror(err));
	fputc('\n', stderr);
	exit(1);
}

double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

long bench_number(const char *what, const char *text, long max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n <= 0 || n > max) {
		fprintf(stderr, "%s is '%s': it must be a number from 1 to %ld\n", what, text, max);
		exit(2);
	}
	return n;
}

int bench_connect(const char *host, long port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd;

	if (inet_pton(AF_INET, host, &addr.sin_addr) != 1) {
		fprintf(stderr, "host is '%s': it must be an IPv4 address\n", host);
		exit(2);
	}
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		bench_die("cannot make a socket");
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		bench_die("cannot connect to %s port %ld", host, port);
	return fd;
}

int bench_listen(long port, int backlog)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		bench_die("cannot make a listener");
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		bench_die("cannot bind port %ld", port);
	if (listen(fd, backlog) < 0)
		bench_die("cannot listen on port %ld", port);
	return fd;
}

int bench_accept(int fd)
{
	int conn;

	do
		conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	while (conn < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (conn < 0)
		bench_die("cannot accept");
	return conn;
}

void bench_nodelay(int fd)
{
	int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		bench_die("cannot set TCP_NODELAY");
}

void bench_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			bench_die("cannot write");
		p += n;
		len -= (size_t)n;
	}
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double bench_quantile(double *values, size_t n, double q)
{
	qsort(values, n, sizeof(*values), compare);
	return values[(size_t)((double)n * q)];
}
