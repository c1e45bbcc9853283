/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/rows.h"

OFTEN void rows_begin(struct thread *thread, const struct thread_image *image)
{
	if (unlikely(thread->rows.passing))
		rows_drop(thread);
	thread->rows = (struct thread_rows){
		.image = image,
		.tally = image ? image->tally : NULL,
		.frame = thread->frame,
		.address = thread->frame->address,
		.bounded = thread->frame->address == thread->boundary_address,
		.probe_count = ROWS_PROBE_COUNT,
	};
}

static uint64_t ticks_since(const struct thread *thread, uint64_t now_ticks)
{
	return now_ticks - thread->rows.end_ticks -
	       (thread->frame->inner_ticks - thread->rows.inner_ticks);
}

OFTEN void rows_measure(struct thread *thread, uint64_t now_ticks)
{
	struct thread_rows *rows = &thread->rows;
	uint64_t ticks = ticks_since(thread, now_ticks);

	if (!rows->probe_count)
		return;
	rows->gap_ticks += ticks;
	if (ticks > rows->gap_most_ticks)
		rows->gap_most_ticks = ticks;
	if (--rows->probe_count)
		return;
	/* Longer than all others together: the processor was taken away in it. */
	if (rows->gap_most_ticks > rows->gap_ticks / 2)
		rows->gap_ticks -= rows->gap_most_ticks;
	rows->gap_ticks /= ROWS_PROBE_COUNT;
}

OFTEN void rows_settle(struct thread *thread, uint64_t gap_count)
{
	int64_t ticks = (int64_t)(ticks_since(thread, clock_counter()) -
				  thread->rows.gap_ticks * gap_count);
	uint64_t ns = clock_length_ns((uint64_t)ticks);

	if (ticks > 0)
		thread->frame->inner_ticks += (uint64_t)ticks;
	thread->slot->counters[DLPROF_CLASS_DECODE].ns += ns;
	thread->rows.tally->ns += ns;
	rows_drop(thread);
}

void rows_drop(struct thread *thread)
{
	struct thread_rows *rows = &thread->rows;

	thread->slot->counters[DLPROF_CLASS_DECODE].bytes += rows->passed_bytes;
	rows->tally->bytes += rows->passed_bytes;
	rows->passing = NULL;
	rows->passed_count = 0;
	rows->passed_bytes = 0;
	rows->end_ticks = 0;
}
