/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate.c - how many connections a second can be made, or taken
 *
 *   bench-rate server PORT                accepts and closes
 *   bench-rate client HOST PORT SECONDS   socket, connect, read the end, close; prints connections/s
 *
 * The server ends each connection first, so that its side keeps the TIME-WAIT; the client stops
 * after COUNT_MAX of them, before its ports come round again.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define COUNT_MAX 20000

static noreturn void serve(long port)
{
	int listener = bench_listen(port, 1024);

	for (;;)
		close(bench_accept(listener));
}

static int dial(const char *host, long port, double seconds)
{
	double start = bench_now();
	long count = 0;

	do {
		int fd = bench_connect(host, port);
		char c;
		ssize_t n = read(fd, &c, 1);

		if (n < 0 && errno != ECONNRESET)
			bench_die("connection %ld: cannot read its end", count);
		close(fd);
		count++;
	} while (count < COUNT_MAX && bench_now() - start < seconds);
	printf("%.0f\n", (double)count / (bench_now() - start));
	return 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "server") == 0)
		serve(bench_number("port", argv[2], 65535));
	if (argc == 5 && strcmp(argv[1], "client") == 0)
		return dial(argv[2], bench_number("port", argv[3], 65535),
			    (double)bench_number("seconds", argv[4], 3600));
	fprintf(stderr, "usage: bench-rate server PORT | client HOST PORT SECONDS\n");
	return 2;
}
