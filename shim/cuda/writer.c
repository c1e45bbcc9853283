/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/writer.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/sys.h"
#include "cuda/activity.h"
#include "cuda/buffers.h"
#include "cuda/coverage.h"
#include "cuda/cupti_clock.h"
#include "cuda/manners.h"
#include "cuda/reader.h"
#include "cuda/state.h"
#include "slots/lookup.h"

#define MS         UINT64_C(1000000)
#define NS         UINT64_C(1000000000)
#define FINISH_NS  (2 * NS)
#define YIELDED_NS (20 * MS) /* pause between two checks whether another user of CUPTI is gone */

static _Atomic uint32_t finish;
static _Atomic uint32_t finished;

static void wait_until(_Atomic uint32_t *futex, uint32_t seen, uint64_t when_ns)
{
	uint64_t now_ns = clock_now_ns();
	struct timespec time;

	if (when_ns <= now_ns)
		return;
	time.tv_sec = (time_t)((when_ns - now_ns) / NS);
	time.tv_nsec = (long)((when_ns - now_ns) % NS);
	sys_call4(SYS_futex, futex, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen, &time);
}

static void take_back(void)
{
	activity_mute(true);
	reader_resume(clock_now_ns());
	if (activity_arm() == 0) {
		state_arm();
		/* Another user of CUPTI came meanwhile: repeat the settings that ours replaced. */
		if (!manners_is_free(clock_now_ns())) {
			activity_yield(UINT64_MAX);
			manners_restore();
			buffers_share_out();
		}
	}
	activity_mute(false);
	if (state_is_armed())
		cupti_clock_look(true);
}

static void look_after_others(uint64_t now_ns)
{
	if (manners_take_clock_change())
		cupti_clock_look(true);
	manners_stand_in();
	if (state_is_yielded()) {
		coverage_yielded(state_yielded_ns());
		if (manners_is_free(now_ns))
			take_back();
	}
}

/* If another user is gone and has no buffers left, returns when that user took CUPTI; else 0. */
static uint64_t find_regained(void)
{
	const uint64_t yielded_ns = state_yielded_ns();

	return state_is_armed() && !manners_buffers_out() && !activity_forced_ns ? yielded_ns : 0;
}

static void do_period(void)
{
	cupti_clock_look(false);
	if (!state_is_armed())
		return;
	activity_flush(false);
	reader_read(false);
	coverage_look();
}

static void write_last(void)
{
	uint64_t forced_ns;

	if (state_is_armed()) {
		cupti_clock_look(false);
		activity_flush(false);
		reader_read(false);
	}
	forced_ns = clock_now_ns();
	if (state_is_armed())
		activity_flush(true);
	reader_read(true);
	coverage_end(forced_ns);
}

static void *write_records(void *unused)
{
	/* Do not call CUPTI yet: cuInit() still runs on the thread that made this thread. */
	uint64_t next_ns = clock_now_ns() + ACTIVITY_PERIOD_MS * MS;

	cupti_clock_look(true);
	while (!finish) {
		const uint32_t seen = state_wakes;
		const uint64_t now_ns = clock_now_ns();
		uint64_t yielded_ns;

		if (now_ns >= next_ns) {
			next_ns = now_ns + ACTIVITY_PERIOD_MS * MS;
			do_period();
		}
		look_after_others(now_ns);
		/* Ask before reading the records: all records up to then will have been read. */
		yielded_ns = find_regained();
		reader_read(false);
		coverage_tell();
		if (yielded_ns && state_forget_yield(yielded_ns))
			coverage_regained();
		wait_until(&state_wakes, seen, state_is_yielded() ? now_ns + YIELDED_NS : next_ns);
	}
	write_last();
	finished = 1;
	sys_call3(SYS_futex, &finished, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
	/* The thread must not end: CUPTI may call our callbacks until the process is gone. */
	for (;;)
		sys_call4(SYS_ppoll, NULL, 0, NULL, NULL);
	return unused;
}

void writer_finish(void)
{
	uint64_t limit_ns = clock_now_ns() + FINISH_NS;

	if (state_mode() != STATE_CUPTI || atomic_exchange(&finish, 1))
		return;
	state_wake();
	while (!finished && clock_now_ns() < limit_ns)
		wait_until(&finished, 0, limit_ns);
	if (!finished)
		note_add('w',
			 "CUPTI did not give back its last records: the end of the run lacks the "
			 "GPU's side");
}

static void finish_at_exit(void *unused)
{
	writer_finish();
}

/* Registers our exit handler after CUDA's, so that the process calls ours first. */
static void call_at_exit(void)
{
	int (*at_exit)(void (*)(void *), void *, void *) =
		(int (*)(void (*)(void *), void *, void *))lookup_real(RTLD_DEFAULT,
								       "__cxa_atexit");

	if (at_exit)
		at_exit(finish_at_exit, NULL, NULL);
}

/* Starts the writing thread. Looks its functions up here, as programs without CUDA need none. */
int writer_start(void)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
			 void *))lookup_real(RTLD_DEFAULT, "pthread_create");
	uint64_t all = ~UINT64_C(0), before;
	pthread_t thread;
	int r;

	if (!create)
		return -1;
	/* Signals are blocked, so that no signal handler of the host runs in our thread. */
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	r = create(&thread, NULL, write_records, NULL);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	if (r == 0)
		call_at_exit();
	return r;
}
