/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.c - a wire between two links with a length, a width and faults, the same each time
 *
 *   bench-relay LINK_A LINK_B KEY=VALUE...
 *
 *	rtt=US		round trip in microseconds, half of it each way (0)
 *	rate=MBIT	of the bottleneck in Mbit/s, each way (1000)
 *	buffer=BYTES	the bottleneck queues, more than that is dropped (1048576)
 *	loss=PPM	frames with payload that are lost on the way from A to B, in a million (0)
 *	reorder=PPM	of the others, those that an eighth of the round trip holds up (0)
 *	seed=N		of both patterns (1)
 *	tick=US		between two looks at what has come and what is due (0)
 *
 * Theory of operation
 *
 * Each direction is a bottleneck and then a length of wire. The bottleneck has a time at which it is through with
 * what it accepted; a frame that would wait longer than the buffer is deep is dropped. What gets through leaves half
 * a round trip later. Frames leave in the order they came, so a direction is a queue; those that are held up
 * have one of their own, which is in order too because all are held up by the same.
 *
 * What is lost depends on a frame's number among those of its direction that carry payload, and on the seed: two
 * stacks that send the same get the same losses. Handshakes and acknowledgements are not lost, so that a
 * comparison is about recovery and not about one timeout of a second.
 *
 * A processor that wakes for every frame costs more than all the rest, at both ends besides. With a tick the relay takes
 * what has come meanwhile at once, and delivers likewise: as network cards do that coalesce interrupts. It should
 * be short against the round trip.
 *
 * Frames travel with their virtio-net header, so that checksums that a device was to fill in and super-frames
 * cross as they are. A super-frame takes the time of all its octets and is lost as one: for losses segment by
 * segment switch segmentation off at the sender's link (ethtool -K LINK tso off gso off).
 *
 * It runs with a real-time priority where it may: a late relay is a longer wire. SIGTERM ends it; then it prints
 * one line a direction of what it did.
 */
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "bench.h"
#include "support/prng.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

enum {
	FRAME_MAX =
		10 + 14 + 65536, /* octets: virtio-net header, Ethernet, the largest super-frame */
	WIRE_EXTRA = 24,         /* octets a frame costs on a wire of copper: preamble, FCS, gap */
	VNET_LEN = 10,
	PAYLOAD_FROM = 200, /* a longer frame carries payload */
	BATCH = 64,         /* frames received before some are sent */
	SOCKET_BUF = 16 << 20,
	NS_PER_US = 1000,
	NS_PER_S = 1000000000,
	PPM = 1000000,
};

struct frame {
	struct frame *next;
	uint64_t leaves_ns;
	size_t len;
	uint8_t b[];
};

struct queue {
	struct frame *first, **last;
};

struct direction {
	int in, out;
	uint64_t through_ns; /* the bottleneck is through with all it accepted */
	struct queue on_time, held_up;
	uint32_t loss_ppm, reorder_ppm;
	struct prng random;
	uint64_t forwarded, lost, overflown, reordered;
};

struct wire {
	uint64_t delay_ns, hold_ns;
	double ns_per_octet;
	uint64_t buffer_ns; /* the longest wait at the bottleneck */
	uint64_t tick_ns;
};

static volatile sig_atomic_t is_over;

static void on_signal(int sig)
{
	(void)sig;
	is_over = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static int open_link(const char *name)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1,
	    len = SOCKET_BUF;
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex = (int)if_nametoindex(name) };

	if (fd < 0 || at.sll_ifindex == 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &len, sizeof(len)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)))
		bench_die("cannot attach to link %s", name);
	return fd;
}

static void queue_add(struct queue *q, struct frame *f)
{
	f->next = NULL;
	*q->last = f;
	q->last = &f->next;
}

static bool hits(struct prng *random, uint32_t ppm)
{
	return prng_below(random, PPM) <
	       ppm; /* asked for every frame, so that patterns do not depend on each other */
}

/* One frame has arrived at the bottleneck. */
static void take(const struct wire *w, struct direction *d, const uint8_t *b, size_t len,
		 uint64_t now)
{
	bool has_payload = len - VNET_LEN > PAYLOAD_FROM;
	bool is_lost = has_payload && hits(&d->random, d->loss_ppm);
	bool is_held = has_payload && hits(&d->random, d->reorder_ppm);
	uint64_t from = d->through_ns > now ? d->through_ns : now;
	struct frame *f;

	if (from - now > w->buffer_ns) {
		d->overflown++;
		return;
	}
	d->through_ns = from + (uint64_t)((double)(len - VNET_LEN + WIRE_EXTRA) * w->ns_per_octet);
	if (is_lost) {
		d->lost++;
		return;
	}
	f = malloc(sizeof(*f) + len);
	if (!f)
		bench_die("no memory");
	memcpy(f->b, b, len);
	f->len = len;
	f->leaves_ns = d->through_ns + w->delay_ns + (is_held ? w->hold_ns : 0);
	queue_add(is_held ? &d->held_up : &d->on_time, f);
	d->reordered += is_held;
}

static bool receive(const struct wire *w, struct direction *d)
{
	static uint8_t b[FRAME_MAX];

	for (int i = 0; i < BATCH; i++) {
		ssize_t n = recv(d->in, b, sizeof(b), 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (n < 0)
			bench_die("a link is gone");
		if (n > VNET_LEN)
			take(w, d, b, (size_t)n, now_ns());
	}
	return true;
}

/* Sends what is due; returns when the next is, UINT64_MAX for never. */
static uint64_t deliver(struct direction *d, struct queue *q)
{
	struct frame *f;

	while ((f = q->first) != NULL && f->leaves_ns <= now_ns()) {
		if (send(d->out, f->b, f->len, 0) < 0 && errno != ENOBUFS && errno != EAGAIN)
			bench_die("cannot send %zu octets", f->len);
		d->forwarded++;
		q->first = f->next;
		if (!q->first)
			q->last = &q->first;
		free(f);
	}
	return f ? f->leaves_ns : UINT64_MAX;
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
}

/* Sleeps until @ns on the clock, or until a signal. */
static void sleep_until(uint64_t ns)
{
	struct timespec until = to_timespec(ns);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void carry(const struct wire *w, struct direction d[2])
{
	struct pollfd fds[2] = { { d[0].in, POLLIN, 0 }, { d[1].in, POLLIN, 0 } };
	uint64_t now = now_ns();

	while (!is_over) {
		bool is_more = false;
		uint64_t next = UINT64_MAX, looked = now;
		struct timespec wait;

		for (int i = 0; i < 2; i++)
			is_more |= receive(w, &d[i]);
		for (int i = 0; i < 4; i++) {
			struct direction *one = &d[i / 2];
			uint64_t at = deliver(one, i % 2 ? &one->held_up : &one->on_time);

			next = at < next ? at : next;
		}
		now = now_ns();
		if (is_more)
			continue;
		if (next > now) {
			wait = to_timespec(next == UINT64_MAX ? NS_PER_S : next - now);
			ppoll(fds, 2, &wait, NULL);
			now = now_ns();
		}
		if (now < looked + w->tick_ns) {
			sleep_until(looked + w->tick_ns);
			now = now_ns();
		}
	}
}

struct settings {
	long rtt_us, rate_mbit, buffer, loss_ppm, reorder_ppm, seed, tick_us;
};

static void set(struct settings *s, const char *arg)
{
	const struct {
		const char *key;
		long *value;
		long max;
	} known[] = {
		{ "rtt", &s->rtt_us, 10000000 },     { "rate", &s->rate_mbit, 100000 },
		{ "buffer", &s->buffer, 1L << 30 },  { "loss", &s->loss_ppm, PPM },
		{ "reorder", &s->reorder_ppm, PPM }, { "seed", &s->seed, 1L << 30 },
		{ "tick", &s->tick_us, 100000 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t len = strlen(known[i].key);

		if (strncmp(arg, known[i].key, len) == 0 && arg[len] == '=') {
			*known[i].value =
				strcmp(arg + len, "=0") == 0
					? 0
					: bench_number(known[i].key, arg + len + 1, known[i].max);
			return;
		}
	}
	fprintf(stderr, "bench-relay: no such setting: %s\n", arg);
	exit(2);
}

int main(int argc, char **argv)
{
	struct settings s = { .rate_mbit = 1000, .buffer = 1 << 20, .seed = 1 };
	struct sigaction act = { .sa_handler = on_signal };
	struct sched_param priority = { .sched_priority = 1 };
	struct direction d[2] = { 0 };
	struct wire w;
	int a, b;

	if (argc < 3) {
		fprintf(stderr,
			"usage: bench-relay LINK_A LINK_B [rtt=US] [rate=MBIT] [buffer=BYTES] "
			"[loss=PPM] [reorder=PPM] [seed=N] [tick=US]\n");
		return 2;
	}
	for (int i = 3; i < argc; i++)
		set(&s, argv[i]);
	w.delay_ns = (uint64_t)s.rtt_us * NS_PER_US / 2;
	w.hold_ns = (uint64_t)s.rtt_us * NS_PER_US / 8;
	w.tick_ns = (uint64_t)s.tick_us * NS_PER_US;
	w.ns_per_octet = s.rate_mbit ? 8e3 / (double)s.rate_mbit : 0;
	w.buffer_ns = (uint64_t)((double)s.buffer * w.ns_per_octet);
	a = open_link(argv[1]);
	b = open_link(argv[2]);
	for (int i = 0; i < 2; i++) {
		d[i].in = i ? b : a;
		d[i].out = i ? a : b;
		d[i].on_time.last = &d[i].on_time.first;
		d[i].held_up.last = &d[i].held_up.first;
		d[i].random.state = prng_mix((uint64_t)s.seed);
	}
	d[0].loss_ppm = (uint32_t)s.loss_ppm;
	d[0].reorder_ppm = (uint32_t)s.reorder_ppm;
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	prctl(PR_SET_TIMERSLACK, 1);
	sched_setscheduler(
		0, SCHED_RR,
		&priority); /* not allowed everywhere, and not needed on an idle machine */
	carry(&w, d);
	for (int i = 0; i < 2; i++)
		printf("%s forwarded %llu lost %llu overflown %llu reordered %llu\n",
		       i ? "b-a" : "a-b", (unsigned long long)d[i].forwarded,
		       (unsigned long long)d[i].lost, (unsigned long long)d[i].overflown,
		       (unsigned long long)d[i].reordered);
	return 0;
}
