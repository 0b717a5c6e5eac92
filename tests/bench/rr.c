/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rr.c - one request and one answer at a time over one connection
 *
 *   bench-rr server PORT                   answers every byte with itself, one connection after another
 *   bench-rr client HOST PORT COUNT BYTES  prints the median and the 99th percentile in microseconds
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static char buf[65536];

static noreturn void serve(long port)
{
	int listener = bench_listen(port, 16);

	for (;;) {
		int fd = bench_accept(listener);
		ssize_t n;

		bench_nodelay(fd);
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			bench_write_all(fd, buf, (size_t)n);
		close(fd);
	}
}

static int ask(const char *host, long port, size_t count, size_t len)
{
	double *us = calloc(count, sizeof(*us));
	int fd = bench_connect(host, port);

	if (!us)
		bench_die("no memory");
	bench_nodelay(fd);
	for (size_t i = 0; i < count; i++) {
		double start = bench_now();
		size_t got = 0;

		bench_write_all(fd, buf, len);
		while (got < len) {
			ssize_t n = read(fd, buf + got, len - got);

			if (n <= 0)
				bench_die("no answer to request %zu", i);
			got += (size_t)n;
		}
		us[i] = (bench_now() - start) * 1e6;
	}
	printf("%.2f %.2f\n", bench_quantile(us, count, 0.5), bench_quantile(us, count, 0.99));
	free(us);
	return close(fd) < 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "server") == 0)
		serve(bench_number("port", argv[2], 65535));
	if (argc == 6 && strcmp(argv[1], "client") == 0)
		return ask(argv[2], bench_number("port", argv[3], 65535),
			   (size_t)bench_number("count", argv[4], 10000000),
			   (size_t)bench_number("bytes", argv[5], (long)sizeof(buf)));
	fprintf(stderr, "usage: bench-rr server PORT | client HOST PORT COUNT BYTES\n");
	return 2;
}
