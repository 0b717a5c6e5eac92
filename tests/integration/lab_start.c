/* SPDX-License-Identifier: Apache-2.0 */
/* lab_start - runs a service as systemd would, and writes how long it took to say READY=1 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Longer than any start may take: the caller's own limit comes first. */
#define READY_TIMEOUT_MS 60000

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static int notify_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(addr.sun_path)) {
		close(fd);
		return -ENAMETOOLONG;
	}
	strcpy(addr.sun_path, path);
	unlink(path);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

/* Written under another name first: who sees the file sees the whole of it. */
static int write_result(const char *path, double ms)
{
	char tmp[256];
	FILE *f;

	snprintf(tmp, sizeof(tmp), "%s.tmp", path);
	f = fopen(tmp, "we");
	if (!f)
		return -errno;
	fprintf(f, "%.2f\n", ms);
	if (fclose(f) != 0 || rename(tmp, path) < 0)
		return -errno;
	return 0;
}

static int watch(int fd, const char *path, double start_ms, pid_t service)
{
	char text[4096];

	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (now_ms() - start_ms > READY_TIMEOUT_MS || kill(service, 0) < 0)
			return 1;
		if (poll(&pfd, 1, 200) <= 0)
			continue;
		n = recv(fd, text, sizeof(text) - 1, 0);
		if (n < 0)
			return 1;
		text[n] = '\0';
		if (strncmp(text, "READY=1", 7) == 0 || strstr(text, "\nREADY=1"))
			return write_result(path, now_ms() - start_ms) < 0;
	}
}

int main(int argc, char **argv)
{
	char socket_path[200];
	pid_t self = getpid(), pid;
	double start_ms;
	int fd;

	if (argc < 3) {
		fprintf(stderr, "usage: lab-start FILE PROGRAM [ARG...]\n");
		return 2;
	}
	snprintf(socket_path, sizeof(socket_path), "%s.notify", argv[1]);
	fd = notify_socket(socket_path);
	if (fd < 0) {
		fprintf(stderr, "lab-start: cannot bind %s: %s\n", socket_path, strerror(-fd));
		return 1;
	}
	/*
	 * The service keeps this process's pid, so that the caller can signal it and wait for it;
	 * the watcher is a grandchild, which is nobody's child of whom the service might wonder.
	 */
	start_ms = now_ms();
	pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			_exit(watch(fd, argv[1], start_ms, self));
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) < 0) {
		perror("lab-start: cannot start the watcher");
		return 1;
	}
	setenv("NOTIFY_SOCKET", socket_path, 1);
	execv(argv[2], argv + 2);
	fprintf(stderr, "lab-start: cannot run %s: %s\n", argv[2], strerror(errno));
	return 127;
}
