/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.c - a fuzz target without libFuzzer: the whole corpus, then seeded mutations of it
 *
 * Usage: fuzz_TARGET CORPUS [--iterations N] [--seconds S] [--seed N]
 *
 * The same arguments give the same inputs, so a failure is found again; the input at hand is written to
 * crash.TARGET before each run is believed (an abort handler does it), small enough for a corpus.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "support/prng.h"

enum {
	SEED_CNT_MAX = 4096,
	INPUT_MAX = 8192, /* octets of a mutated input */
};

static struct seed {
	uint8_t *octets;
	size_t len;
} seeds[SEED_CNT_MAX];
static size_t seed_cnt;
static uint8_t now[INPUT_MAX];
static size_t now_len;
static const char *crash_path;

static void on_crash(int sig)
{
	int fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd >= 0 && write(fd, now, now_len) == (ssize_t)now_len)
		(void)!write(2, "driver: the input is kept beside the binary\n", 44);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void seed_add(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct seed *s = &seeds[seed_cnt];

	if (!f || seed_cnt == SEED_CNT_MAX)
		abort();
	s->octets = malloc(1 << 20);
	if (!s->octets)
		abort();
	s->len = fread(s->octets, 1, 1 << 20, f);
	fclose(f);
	seed_cnt++;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void corpus_read(const char *folder)
{
	static char *names[SEED_CNT_MAX];
	size_t cnt = 0;
	DIR *d = opendir(folder);

	if (!d) {
		fprintf(stderr, "driver: cannot read the corpus %s: %s\n", folder, strerror(errno));
		exit(2);
	}
	for (struct dirent *e; (e = readdir(d)) && cnt < SEED_CNT_MAX;)
		if (e->d_name[0] != '.') {
			char path[4096];

			snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
			names[cnt++] = strdup(path);
		}
	closedir(d);
	qsort(names, cnt, sizeof(names[0]), by_name);
	for (size_t i = 0; i < cnt; i++) {
		seed_add(names[i]);
		free(names[i]);
	}
}

static void run(const uint8_t *data, size_t len)
{
	uint8_t *copy =
		malloc(len ? len : 1); /* exact: a sanitizer sees the first octet too many */

	if (!copy)
		abort();
	memcpy(copy, data, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

/* One small change of now[0, now_len). */
static void mutate(struct prng *r)
{
	static const uint8_t edges[] = { 0, 1, 4, 5, 15, 16, 0x40, 0x45, 0x7f, 0x80, 0xfe, 0xff };
	size_t at = prng_below(r, now_len ? now_len : 1), len = prng_between(r, 1, 16);

	switch (prng_below(r, 7)) {
	case 0:
		now[at] ^= (uint8_t)(1u << prng_below(r, 8));
		break;
	case 1:
		now[at] = (uint8_t)prng_next(r);
		break;
	case 2:
		now[at] = edges[prng_below(r, sizeof(edges))];
		break;
	case 3: /* cut out */
		if (at + len < now_len) {
			memmove(now + at, now + at + len, now_len - at - len);
			now_len -= len;
		}
		break;
	case 4: /* repeat */
		if (at + len < now_len && now_len + len < INPUT_MAX) {
			memmove(now + at + len, now + at, now_len - at);
			now_len += len;
		}
		break;
	case 5: /* shorten */
		if (prng_below(r, 4) == 0)
			now_len = at;
		break;
	default: { /* the tail of another */
		const struct seed *s = &seeds[prng_below(r, seed_cnt)];
		size_t from = prng_below(r, s->len + 1), n = s->len - from;

		if (n > INPUT_MAX - at)
			n = INPUT_MAX - at;
		memcpy(now + at, s->octets + from, n);
		now_len = at + n;
		break;
	}
	}
}

int main(int argc, char **argv)
{
	unsigned long iterations = 20000, seconds = 60;
	struct prng r = { 1 };
	char path[256];

	if (argc < 2)
		return 2;
	for (int i = 2; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--iterations"))
			iterations = strtoul(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = strtoul(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seed"))
			r.state = strtoul(argv[i + 1], NULL, 0);
		else
			return 2;
	}
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];

	snprintf(path, sizeof(path), "crash.%s", name);
	crash_path = path;
	for (int i = 0; i < 4; i++)
		signal((int[]){ SIGSEGV, SIGILL, SIGABRT, SIGTRAP }[i], on_crash);
	corpus_read(argv[1]);
	if (!seed_cnt) {
		fprintf(stderr, "driver: the corpus %s is empty\n", argv[1]);
		return 2;
	}
	for (size_t i = 0; i < seed_cnt; i++) {
		now_len = seeds[i].len < INPUT_MAX ? seeds[i].len : INPUT_MAX;
		memcpy(now, seeds[i].octets, now_len);
		run(seeds[i].octets, seeds[i].len);
	}
	time_t start = time(NULL);
	unsigned long done = 0;

	for (; done < iterations; done++) {
		const struct seed *s = &seeds[prng_below(&r, seed_cnt)];

		if (done % 64 == 0 && time(NULL) - start >= (time_t)seconds)
			break;
		now_len = s->len < INPUT_MAX ? s->len : INPUT_MAX;
		memcpy(now, s->octets, now_len);
		for (uint64_t n = prng_between(&r, 1, 6); n; n--)
			mutate(&r);
		run(now, now_len);
	}
	printf("%s: %zu seeds, %lu mutations, no failure\n", name, seed_cnt, done);
	for (size_t i = 0; i < seed_cnt; i++)
		free(seeds[i].octets);
	return 0;
}
