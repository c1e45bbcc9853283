/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/coverage.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/config.h"
#include "cuda/buffers.h"
#include "cuda/cudart.h"
#include "cuda/outbox.h"
#include "cuda/reader.h"
#include "cuda/state.h"
#include "cuda/unfinished.h"

#define MS             UINT64_C(1000000)
#define SILENT_PERIODS 3
#define SILENT_NS      (50 * MS)
#define FRESH_NS       (1000 * MS) /* within this time CUPTI gives a requested buffer to a thread */

static struct {
	uint64_t began_ns;
	bool gap;
	uint64_t gap_ns;
	bool others;
	uint64_t regained_ns;
	bool unfinished;         /* operations that a forced flush cut off may still be running */
	uint64_t unfinished_ns;  /* when all operations that the flush cut off had ended */
	uint64_t launch_ns;
	uint64_t newest_ns;
	uint64_t heard_launches;
	uint32_t silent_periods;
	uint64_t told_ns;
} own;

void coverage_begin(uint64_t when_ns)
{
	own.began_ns = when_ns;
	outbox_state(DLPROF_GPU_ATTACHED, when_ns, NULL);
}

static void begin_gap(uint64_t when_ns, const char *why)
{
	if (own.gap)
		return;
	own.gap = true;
	own.gap_ns = when_ns;
	outbox_state(DLPROF_GPU_GAP_BEGIN, when_ns, why);
}

static void end_gap(uint64_t when_ns)
{
	if (!own.gap)
		return;
	own.gap = false;
	own.silent_periods = 0;
	outbox_state(DLPROF_GPU_GAP_END, when_ns, NULL);
}

static uint64_t later(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns > other_ns ? one_ns : other_ns;
}

void coverage_yielded(uint64_t when_ns)
{
	begin_gap(when_ns, "another user of CUPTI");
	own.others = true;
}

void coverage_regained(void)
{
	own.regained_ns = clock_now_ns();
}

static void look_for_unfinished(void)
{
	uint64_t begin_ns;

	if (unfinished_begins(&begin_ns)) {
		/* The operation began before the open gap, which a new gap replaces. */
		if (own.gap && begin_ns < own.gap_ns)
			end_gap(own.gap_ns);
		begin_gap(begin_ns, "another user flushed CUPTI");
		own.others = own.unfinished = true;
	}
	if (own.unfinished && unfinished_ended(clock_now_ns(), &own.unfinished_ns))
		own.unfinished = false;
}

/* Ends the gap if CUPTI is ours again, cut-off operations are over, and a later one was read. */
static void look_for_end_of_others(void)
{
	look_for_unfinished();
	if (!own.others || own.unfinished || state_yielded_ns() || !reader_times.resumed_ns)
		return;
	own.others = false;
	end_gap(later(own.regained_ns, later(own.unfinished_ns, reader_times.resumed_ns)));
}

/* Returns true if the host has launched work `ns` or more after the last known operation. */
static bool is_behind(uint64_t ns)
{
	return config.cuda != CONFIG_CUDA_MEMCPY &&
	       cudart_last_launch_ns() > reader_times.newest_ns + ns;
}

/*
 * Returns true if the host launched more than CUPTI's buffers hold, and launched it long after the
 * last operation that was read. Buffers come back only when full: after 4 s at 300 kernels a
 * second, after 20 minutes at one a second.
 */
static bool is_silent(void)
{
	const uint64_t launches = cudart_launch_count() - own.heard_launches;

	return is_behind(SILENT_NS) && cudart_last_launch_ns() > own.began_ns + SILENT_NS &&
	       launches > buffers_out() * BUFFER_RECORDS_MOST;
}

/* Begins a gap at the end of the last operation that was read: all until then is known. */
static void begin_silence(void)
{
	const uint64_t newest_ns = reader_times.newest_ns;

	begin_gap(newest_ns > own.began_ns ? newest_ns : own.began_ns, "CUPTI reports nothing");
}

/* Begins or ends a gap of silence, in which another user seems to have CUPTI without our notice. */
static void look_for_silence(void)
{
	const uint64_t launch_ns = cudart_last_launch_ns(), newest_ns = reader_times.newest_ns;
	const bool launched = launch_ns > own.launch_ns + SILENT_NS;
	const bool heard = newest_ns > own.newest_ns;

	own.launch_ns = launch_ns;
	own.newest_ns = newest_ns;
	if (heard) {
		own.heard_launches = cudart_launch_count();
		own.silent_periods = 0;
		/* Operations of the time of silence are in none of our buffers. */
		if (!own.others)
			end_gap(newest_ns);
	} else if (!is_silent()) {
		own.silent_periods = 0;
	} else {
		own.silent_periods += launched;
	}
	if (own.silent_periods >= SILENT_PERIODS)
		begin_silence();
}

static void tell_lost(uint64_t forced_ns)
{
	uint64_t begin_ns, end_ns;

	while (buffers_take_lost(forced_ns, &begin_ns, &end_ns)) {
		if (own.gap && own.gap_ns <= begin_ns)
			continue;
		if (own.gap)
			end_ns = clock_now_ns();
		end_gap(own.gap_ns);
		begin_gap(begin_ns, "CUPTI did not give back a buffer");
		end_gap(end_ns);
	}
}

void coverage_look(void)
{
	look_for_silence();
	if (!own.gap)
		tell_lost(0);
}

static void tell(uint64_t complete_ns)
{
	if (complete_ns <= own.told_ns)
		return;
	own.told_ns = complete_ns;
	outbox_state(DLPROF_GPU_COMPLETE, complete_ns, NULL);
}

void coverage_tell(void)
{
	look_for_end_of_others();
	/* CUPTI has no buffer with the last launch, so nothing proves that all is known. */
	if (!own.gap && !buffers_out() && is_behind(MS))
		return;
	tell(buffers_complete_ns(clock_now_ns()) - reader_times.lag_ns);
}

void coverage_end(uint64_t forced_ns)
{
	const uint64_t unfinished_ns = unfinished_at_end_ns();
	uint64_t complete_ns;

	look_for_end_of_others();
	if (state_is_armed()) {
		look_for_silence();
		if (is_silent())
			begin_silence();
		tell_lost(forced_ns - FRESH_NS);
	}
	complete_ns = buffers_complete_ns(forced_ns);
	if (complete_ns < forced_ns)
		complete_ns -= reader_times.lag_ns;
	tell(unfinished_ns < complete_ns ? unfinished_ns : complete_ns);
}
