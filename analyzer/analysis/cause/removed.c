/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/removed.h"

#include <math.h>

#include "analysis/cause/grounds.h"
#include "analysis/cause/lines.h"

/*
 * The share of the loads' time that indexing whole arrays saves: usually SINGLE, at least
 * SINGLE_LEAST. Seven datasets of small samples saved 0.76 to 0.99, median 0.95 (PyTorch 2.15).
 */
#define SINGLE       0.9
#define SINGLE_LEAST 0.75

/*
 * Bytes still read for each byte of a batch after ADVICE_READ_LESS, as chunks and rows seldom begin
 * and end with a sample. Re-chunked HDF5 gained 4.5x, for which the value 1 would predict 4.9x.
 */
#define STILL_READ 2.0

double removed_from_cores(const struct remedied *v)
{
	const struct batch_series *s = v->series;
	const struct diagnosis *d = v->diagnosis;
	const bool lack_cores =
		d->cause == CAUSE_CPU_CONTENTION || d->second == CAUSE_CPU_CONTENTION;

	return lack_cores && series_has_others(s)
		       ? fmin(v->diagnosis->grounds.no_core_share, s->other_cores / s->cores)
		       : 0;
}

double removed_working_share(const struct remedied *v)
{
	const struct grounds *r = &v->diagnosis->grounds;
	const double own = r->cpu_share + r->no_core_share, all = v->series->worker_threads;

	return all > own ? fmin(1, all) : own;
}

double removed_at_most(const struct remedied *v, enum advice_id id)
{
	const struct lines *lines = v->input->lines;
	const double read = v->input->loads ? load_read_share(v->input->loads) : 0;
	const struct line_share *leading = lines_leading(lines, LINE_LOADS);
	/* Each epoch has other batches, so what collating computes cannot be kept for the next. */
	const bool with_calls = id == ADVICE_FEWER_OPENS || !(leading && leading->is_collating);
	const double share = lines_function_share(lines, with_calls);
	const double kept = fmax(share, v->diagnosis->grounds.fixed_share);

	if (id == ADVICE_REDUCE_CPU_PER_BATCH && kept >= NEARLY_HALF)
		return fmin(kept, removed_working_share(v));
	/* At least share + read - 1 of the loads' time is reading in the longest function. */
	if (id == ADVICE_FEWER_OPENS && share + read - 1 >= read / 2)
		return share;
	return 0;
}

double removed_reading_share(const struct remedied *v)
{
	const struct grounds *r = &v->diagnosis->grounds;
	const struct load_times *loads = v->input->loads;

	return grounds_is_received(r) ? r->received_share
				      : load_read_share(loads) + load_decode_share(loads);
}

bool removed_are_stalls(const struct diagnosis *d)
{
	return d->cause == CAUSE_ISOLATED_STALL ||
	       (d->cause != CAUSE_LOADER_CAPACITY && d->second == CAUSE_ISOLATED_STALL);
}

bool removed_is_shift(const struct diagnosis *d)
{
	return d->shift.at && d->grounds.asked_share >= GROUNDS_OUTSIDE && !removed_are_stalls(d);
}

struct removed removed_by(const struct remedied *v, enum advice_id id)
{
	const struct grounds *r = &v->diagnosis->grounds;
	const struct load_times *loads = v->input->loads;
	double part, needless;

	switch (id) {
	case ADVICE_READ_LESS:
		part = removed_reading_share(v);
		needless = 1 - 1 / r->read_again;
		return (struct removed){part * needless, needless,
					part * (1 - STILL_READ / r->read_again)};
	case ADVICE_DECODE_FEWER:
		part = load_read_share(loads) + load_decode_share(loads);
		needless = 1 - 1 / r->drawn;
		return (struct removed){part * needless, needless};
	case ADVICE_SPLIT_FIRST:
		part = load_decode_share(loads);
		part += r->is_opened_by_all ? load_read_share(loads) : 0;
		needless = 1 - 1.0 / series_busy_workers(v->series);
		return (struct removed){part * needless, needless};
	case ADVICE_SHRINK_BATCH:
		needless = 1 - 1 / r->blown_up;
		return (struct removed){loads->collate_ns / loads->load_ns * needless, needless};
	case ADVICE_DECODE_BOUND:
		needless = r->decoded_again >= GROUNDS_READ_AGAIN ? 1 - 1 / r->decoded_again : 0;
		return (struct removed){load_decode_share(loads), needless};
	case ADVICE_FAULT_LESS:
		return (struct removed){r->fault_share / 2, r->fault_share};
	case ADVICE_KEEP_OPEN:
		return (struct removed){r->making_share, fmin(1, r->making_share + r->making_error),
					r->making_share - r->making_error};
	case ADVICE_INDEX_AT_ONCE:
		return (struct removed){SINGLE, 1, SINGLE_LEAST};
	case ADVICE_FIND_EVENT:
		part = v->diagnosis->shift.before_ns / v->finding->load_mean_ns;
		return (struct removed){removed_is_shift(v->diagnosis) ? 1 - part : 0};
	case ADVICE_SHARE_WITHOUT_MANAGER:
		return (struct removed){r->asked_share};
	case ADVICE_FIX_SAMPLES:
		return (struct removed){r->samples.share *
					(1 - r->samples.mean_ns / r->samples.each_ns)};
	case ADVICE_SYNC_LESS:
		return (struct removed){r->sync_share};
	case ADVICE_WRITE_LESS:
		return (struct removed){r->write_share};
	case ADVICE_SHORTEN_LOCK:
		return (struct removed){r->lock_share};
	case ADVICE_REDUCE_CPU_PER_BATCH:
		return (struct removed){removed_working_share(v) / 2};
	case ADVICE_OWN_CORES:
		return (struct removed){removed_from_cores(v)};
	case ADVICE_STOP_GROWTH:
		return (struct removed){1 - r->growth.first_ns / v->finding->load_mean_ns};
	case ADVICE_STORAGE_BOUND:
	case ADVICE_SMALL_READS:
	case ADVICE_FEWER_OPENS:
		return (struct removed){load_read_share(loads)};
	default:
		return (struct removed){0};
	}
}
