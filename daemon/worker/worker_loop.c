/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_loop.c - one turn after the other: everything that came in, then everything that goes out
 *
 * Theory of operation
 *
 *   wake            a link, a pair, a channel or the timer is ready
 *   worker_begin_turn()   the time is read once, the stack's due timers run
 *   callbacks       links: frames into the stack; pairs: marked ready; channels: messages handled
 *   requests        those to connect, by their own queues: as many as there is time for (worker_link.c)
 *   end of turn     pairs are pumped both ways and the stack's events are acted on until both are
 *                   quiet, then one ns_stack_output(): one acknowledgement a connection, all frames
 *                   of a link in one sendmmsg(); then the messages for the agent in one sendmmsg()
 *
 * Time: the stack's deadline is kept by one timerfd (nanoseconds), armed only when the deadline moves
 * to before what is armed: a deadline that moves away costs a wake-up later instead of a call now,
 * and retransmission timers move away with every acknowledgement.
 *
 * Syscalls: #syscalls worker: epoll_wait timerfd_settime read clock_gettime
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/common/log.h"
#include "daemon/worker/worker_int.h"

/* Rounds of pumping and events in one turn; what is left begins the next one at once. */
#define ROUNDS 4

static struct mono clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (struct mono){ (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec };
}

void worker_begin_turn(struct worker *w)
{
	if (w->is_in_turn)
		return;
	w->is_in_turn = true;
	w->turn_cnt++;
	w->now = clock_now();
	ns_stack_advance(w->stack, w->now);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	uint64_t expirations;

	(void)what;
	(void)!read(fd, &expirations, sizeof(expirations));
	w->armed = MONO_NEVER;
	w->timer_cnt++;
	worker_begin_turn(w);
}

/** arm_timer() - wake up at @deadline, or a little before when that is armed already */
static void arm_timer(struct worker *w, struct mono deadline)
{
	struct itimerspec its = { 0 };

	if (!mono_lt(deadline, w->armed))
		return;
	w->armed = deadline;
	its.it_value.tv_sec = (time_t)(deadline.ns / NS_PER_SEC);
	its.it_value.tv_nsec = (long)(deadline.ns % NS_PER_SEC);
	if (timerfd_settime(w->timer_fd, TFD_TIMER_ABSTIME, &its, NULL) < 0) {
		log_err(-errno, "cannot set the stack's timer");
		worker_stop(w, EXIT_FAILURE);
	}
}

/** end_turn() - Return: whether the next turn must begin at once */
static bool end_turn(struct worker *w)
{
	bool is_more = true;
	struct mono deadline;

	worker_begin_turn(w);
	worker_links_syns(w);
	for (int i = 0; i < ROUNDS && is_more; i++) {
		is_more = wsock_events(w);
		is_more |= wsock_pump_all(w);
	}
	ns_stack_output(w->stack, w->now);
	worker_links_modes(w);
	/* packets to ourselves were delivered by the output */
	is_more |= wsock_events(w);
	if (ipc_uncork(&w->agent) < 0)
		worker_stop(w, EXIT_FAILURE);
	ipc_cork(&w->agent);
	is_more |= !list_is_empty(&w->ready);
	deadline = ns_stack_deadline(w->stack);
	if (mono_le(deadline, w->now))
		is_more = true;
	else if (!is_more)
		arm_timer(w, deadline);
	w->is_in_turn = false;
	return is_more;
}

void worker_loop(struct worker *w)
{
	bool is_more = true;

	ipc_cork(&w->agent);
	while (!w->is_stopping) {
		/* NONBLOCK alone would go on as long as a pair stays readable, which it does until
		 * the end of the turn */
		int flags = is_more ? EVLOOP_ONCE | EVLOOP_NONBLOCK : EVLOOP_ONCE;

		if (event_base_loop(w->base, flags) < 0)
			worker_stop(w, EXIT_FAILURE);
		is_more = end_turn(w);
	}
}

int worker_loop_init(struct worker *w)
{
	w->armed = MONO_NEVER;
	w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (w->timer_fd < 0)
		return log_err(-errno, "cannot make the stack's timer");
	event_assign(&w->timer_ev, w->base, w->timer_fd, EV_READ | EV_PERSIST, on_timer, w);
	return event_add(&w->timer_ev, NULL) < 0 ? log_err(-ENOMEM, "cannot watch the timer") : 0;
}

void worker_stop(struct worker *w, int exit_status)
{
	if (!w->is_stopping)
		w->exit_status = exit_status;
	w->is_stopping = true;
}
