/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.c - TCP connections side by side for a fixed time: what arrives, and how fairly
 *
 *   bench-flows recv PORT FLOWS SECONDS             prints "ready", then Mbit/s of all and Jain's index of them
 *   bench-flows send HOST PORT FLOWS SECONDS CC     CC: name of the congestion control, "-" the default
 *
 * The receiver's figures count: from the first octet of any flow on for SECONDS, slow start included, what
 * the program has read. The sender goes on until the receiver closes. Jain's index is (sum x)^2 / (n sum x^2)
 * of the flows' goodputs: 1 when all are equal, 1/n when one has everything. It is taken of the second half
 * of the time, since what is unfair about slow start is no congestion control's doing.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

enum {
	FLOWS_MAX = 64,
	CHUNK = 65536, /* octets of one read or write */
};

static uint8_t buf[CHUNK];

static void nonblocking(int fd)
{
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		bench_die("cannot make a socket non-blocking");
}

static double jain(const uint64_t *x, long n)
{
	double sum = 0, squares = 0;

	for (long i = 0; i < n; i++) {
		sum += (double)x[i];
		squares += (double)x[i] * (double)x[i];
	}
	return squares > 0 ? sum * sum / ((double)n * squares) : 0;
}

static int receive(long port, long flows, double seconds)
{
	int listener = bench_listen(port, (int)flows);
	struct pollfd fds[FLOWS_MAX];
	uint64_t late[FLOWS_MAX] = { 0 }, total = 0;
	double start = 0;

	puts("ready");
	fflush(stdout);
	for (long i = 0; i < flows; i++) {
		fds[i] = (struct pollfd){ bench_accept(listener), POLLIN, 0 };
		nonblocking(fds[i].fd);
	}
	while (start == 0 || bench_now() < start + seconds) {
		poll(fds, (nfds_t)flows, 100);
		for (long i = 0; i < flows; i++) {
			ssize_t n = fds[i].revents ? read(fds[i].fd, buf, sizeof(buf)) : 0;

			if (n <= 0)
				continue;
			if (start == 0)
				start = bench_now();
			total += (uint64_t)n;
			if (bench_now() > start + seconds / 2)
				late[i] += (uint64_t)n;
		}
	}
	printf("%.3f %.3f\n", (double)total * 8 / seconds / 1e6, jain(late, flows));
	return 0;
}

static int connected(const char *host, long port, const char *cc)
{
	int fd = bench_connect(host, port);

	if (strcmp(cc, "-") != 0 &&
	    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, (socklen_t)strlen(cc)) < 0)
		bench_die("cannot choose congestion control %s", cc);
	nonblocking(fd);
	return fd;
}

static int transmit(const char *host, long port, long flows, double seconds, const char *cc)
{
	struct pollfd fds[FLOWS_MAX];
	double end = bench_now() + seconds + 5;
	long open = flows;

	for (long i = 0; i < flows; i++)
		fds[i] = (struct pollfd){ connected(host, port, cc), POLLOUT, 0 };
	while (open && bench_now() < end) {
		poll(fds, (nfds_t)flows, 100);
		for (long i = 0; i < flows; i++) {
			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			if (write(fds[i].fd, buf, sizeof(buf)) < 0 && errno != EAGAIN) {
				close(fds[i].fd);
				fds[i].fd = -1;
				open--;
			}
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 5 && strcmp(argv[1], "recv") == 0)
		return receive(bench_number("port", argv[2], 65535),
			       bench_number("flows", argv[3], FLOWS_MAX),
			       (double)bench_number("seconds", argv[4], 3600));
	if (argc == 7 && strcmp(argv[1], "send") == 0)
		return transmit(argv[2], bench_number("port", argv[3], 65535),
				bench_number("flows", argv[4], FLOWS_MAX),
				(double)bench_number("seconds", argv[5], 3600), argv[6]);
	fprintf(stderr, "usage: bench-flows recv PORT FLOWS SECONDS\n"
			"       bench-flows send HOST PORT FLOWS SECONDS CC\n");
	return 2;
}
