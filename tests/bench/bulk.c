/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bulk.c - one TCP connection as fast as it goes, for a fixed time
 *
 *   bench-bulk recv PORT [verify]                   prints Gbit/s of what arrived
 *   bench-bulk send HOST PORT SECONDS [WRITE_BYTES] [verify]
 *
 * The receiver's figure counts: from the first byte to the end of the stream. The sender's would
 * count what still lies in buffers. With "verify" the stream is a pattern that depends on the place,
 * and the receiver ends with status 1 at the first byte that is lost, doubled or changed. A
 * connection that brings nothing was a look whether the receiver is there: it takes the next.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define BUF_BYTES   ((size_t)1 << 20)
#define WRITE_BYTES 131072

static uint64_t buf[BUF_BYTES / sizeof(uint64_t)];

/* Knuth's multiplier: neighbouring words differ in all their bytes, and word 0 is not 0. */
static uint64_t pattern_word(uint64_t index)
{
	return (index + 1) * 6364136223846793005ULL;
}

static void pattern_fill(uint64_t offset, size_t len)
{
	for (size_t i = 0; i < len / sizeof(uint64_t); i++)
		buf[i] = pattern_word(offset / sizeof(uint64_t) + i);
}

static void pattern_check(const uint8_t *data, size_t len, uint64_t offset)
{
	for (size_t i = 0; i < len; i++) {
		uint64_t word = pattern_word((offset + i) / sizeof(uint64_t));
		uint8_t want;

		memcpy(&want, (const uint8_t *)&word + (offset + i) % sizeof(uint64_t), 1);
		if (data[i] != want) {
			errno = 0;
			bench_die("byte %llu is %u and should be %u",
				  (unsigned long long)(offset + i), data[i], want);
		}
	}
}

static int receive(long port, bool verify)
{
	int listener = bench_listen(port, 4), fd = bench_accept(listener);
	double start = 0;
	uint64_t total = 0;

	for (;;) {
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			bench_die("cannot read after %llu bytes", (unsigned long long)total);
		if (n == 0 && total > 0)
			break;
		if (n == 0) {
			close(fd);
			fd = bench_accept(listener);
			continue;
		}
		if (total == 0)
			start = bench_now();
		if (verify)
			pattern_check((const uint8_t *)buf, (size_t)n, total);
		total += (uint64_t)n;
	}
	printf("%.3f\n", (double)total * 8 / (bench_now() - start) / 1e9);
	return 0;
}

static int transmit(const char *host, long port, double seconds, size_t len, bool verify)
{
	int fd = bench_connect(host, port);
	double end = bench_now() + seconds;
	uint64_t total = 0;

	pattern_fill(0, len);
	do {
		bench_write_all(fd, buf, len);
		total += len;
		if (verify)
			pattern_fill(total, len);
	} while (bench_now() < end);
	printf("%llu bytes\n", (unsigned long long)total);
	return close(fd) < 0;
}

int main(int argc, char **argv)
{
	bool verify = argc > 1 && strcmp(argv[argc - 1], "verify") == 0;

	signal(SIGPIPE, SIG_IGN);
	argc -= verify;
	if (argc == 3 && strcmp(argv[1], "recv") == 0)
		return receive(bench_number("port", argv[2], 65535), verify);
	if ((argc == 5 || argc == 6) && strcmp(argv[1], "send") == 0) {
		long len = argc == 6 ? bench_number("write size", argv[5], (long)BUF_BYTES)
				     : WRITE_BYTES;

		return transmit(argv[2], bench_number("port", argv[3], 65535),
				(double)bench_number("seconds", argv[4], 3600),
				(size_t)(len + 7) & ~(size_t)7, verify);
	}
	fprintf(stderr, "usage: bench-bulk recv PORT [verify]\n"
			"       bench-bulk send HOST PORT SECONDS [WRITE_BYTES] [verify]\n");
	return 2;
}
