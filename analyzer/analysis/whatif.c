/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/whatif.h"

#include <math.h>

#include "analysis/range.h"

#define DEFAULT_PREFETCH 2
#define PREFETCH_FACTOR  4
#define ENOUGH           0.95 /* of the ceiling */
#define MOST_WORKERS     512

const char *whatif_name(const struct whatif *whatif, int id)
{
	static const char *const names[WHATIF_MAX] = {
		[WHATIF_BASELINE] = "baseline",
		[WHATIF_WORKERS_X2] = "workers_x2",
		[WHATIF_LOAD_HALF] = "load_x0.5",
		[WHATIF_PREFETCH_X4] = "prefetch_x4",
		[WHATIF_IN_ORDER_FALSE] = "in_order_false",
		[WHATIF_FIX_SLOW_WORKER] = "fix_slow_worker",
		[WHATIF_USE_WORKERS] = "use_workers",
		[WHATIF_SYNTHETIC] = "synthetic",
	};

	return id < WHATIF_MAX ? names[id] : whatif->wishes[id - WHATIF_MAX].text;
}

static void predict(const struct trace *trace, struct replay_setup setup, int id,
		    struct whatif *ret)
{
	double floor_per_s = id == WHATIF_BASELINE ? INFINITY : ret->batches_per_s[WHATIF_BASELINE];
	struct replay_result result = replay_run(trace, &setup, floor_per_s);

	ret->setups[id] = setup;
	ret->batches_per_s[id] = result.batches_per_s;
	ret->stall_ratio[id] = result.stall_ratio;
	ret->gain[id] = result.batches_per_s / ret->batches_per_s[WHATIF_BASELINE] - 1;
}

static bool suffices(const struct trace *trace, struct replay_setup setup, int32_t workers,
		     const struct whatif *ret)
{
	setup.workers = workers;
	return replay_run(trace, &setup, NAN).batches_per_s >=
	       ENOUGH * ret->batches_per_s[WHATIF_SYNTHETIC];
}

/* Throughput grows with the workers, so halving finds the first that suffices. */
static int32_t find_needed(const struct trace *trace, struct replay_setup setup,
			   const struct whatif *ret)
{
	int32_t low = 0, high = 1, middle;

	while (high <= MOST_WORKERS && !suffices(trace, setup, high, ret)) {
		low = high;
		high *= 2;
	}
	if (high > MOST_WORKERS)
		return -1;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (suffices(trace, setup, middle, ret))
			high = middle;
		else
			low = middle;
	}
	return high;
}

static bool has_slow_worker(const struct trace *trace)
{
	size_t i;

	for (i = 0; i < trace->factor_count; i++)
		if (trace->factors[i] > 1)
			return true;
	return false;
}

/* All that follows from the trace; the loader's settings are known. */
static void predict_all(const struct trace *trace, struct replay_setup now, struct whatif *ret)
{
	struct replay_setup other = now;

	predict(trace, now, WHATIF_BASELINE, ret);
	other.load_factor = 0;
	if (now.workers == 0)
		other.workers = 1;
	predict(trace, other, WHATIF_SYNTHETIC, ret);
	other = now;
	other.load_factor = 0.5;
	predict(trace, other, WHATIF_LOAD_HALF, ret);

	other = now;
	other.prefetch_factor = now.workers ? now.prefetch_factor : DEFAULT_PREFETCH;
	ret->needed_workers = find_needed(trace, other, ret);
	ret->core_limited = ret->needed_workers < 0 &&
			    replay_most(trace, 1) < ENOUGH * ret->batches_per_s[WHATIF_SYNTHETIC];
	if (now.workers == 0) {
		ret->use_workers = ret->needed_workers > 0 ? ret->needed_workers
				   : trace->cores > 0      ? (int32_t)ceil(trace->cores)
							   : 1;
		other.workers = ret->use_workers;
		predict(trace, other, WHATIF_USE_WORKERS, ret);
		return;
	}
	other = now;
	other.workers = 2 * now.workers;
	predict(trace, other, WHATIF_WORKERS_X2, ret);
	other = now;
	other.prefetch_factor = PREFETCH_FACTOR * now.prefetch_factor;
	predict(trace, other, WHATIF_PREFETCH_X4, ret);
	if (now.in_order) {
		other = now;
		other.in_order = false;
		predict(trace, other, WHATIF_IN_ORDER_FALSE, ret);
	}
	if (has_slow_worker(trace)) {
		other = now;
		other.equal = true;
		predict(trace, other, WHATIF_FIX_SLOW_WORKER, ret);
	}
}

static struct replay_setup setup_of(const struct batch_series *series)
{
	int32_t prefetch = series->prefetch_factor > 0 ? series->prefetch_factor : DEFAULT_PREFETCH;

	return (struct replay_setup){
		.workers = series->workers,
		/* So that four times as much is a number, too; neither is replayed. */
		.prefetch_factor = prefetch <= REPLAY_SLOTS ? prefetch : REPLAY_SLOTS + 1,
		.in_order = series->in_order != 0,
		.load_factor = 1,
	};
}

static bool can_predict(const struct batch_series *series, const struct finding *finding,
			const struct trace *trace)
{
	return finding->gap == STALL_GAP_NONE && trace->count >= STALL_FEWEST &&
	       series->workers >= 0 && series->workers <= REPLAY_WORKERS;
}

int whatif_predict(const struct batch_series *series, const struct finding *finding,
		   const struct trace *trace, struct whatif *ret)
{
	int id;

	*ret = (struct whatif){.needed_workers = -1, .cores = series->cores};
	for (id = 0; id < WHATIF_ROOM; id++) {
		ret->batches_per_s[id] = ret->gain[id] = ret->stall_ratio[id] = NAN;
		ret->low_per_s[id] = ret->high_per_s[id] = NAN;
	}
	if (!can_predict(series, finding, trace))
		return 0;
	predict_all(trace, setup_of(series), ret);
	return range_find(trace, ret, 0, WHATIF_MAX);
}

int whatif_ask(const struct batch_series *series, const struct finding *finding,
	       const struct whatif_wish *wishes, size_t count, struct whatif *whatif)
{
	struct trace trace;
	size_t i;
	int r;

	r = trace_init(series, finding, &trace);
	for (i = 0; r == 0 && i < count && can_predict(series, finding, &trace); i++) {
		const struct whatif_wish *wish = &whatif->wishes[i];
		struct replay_setup setup = setup_of(series);

		whatif->wishes[i] = wishes[i];
		if (wish->workers >= 0)
			setup.workers = wish->workers;
		if (wish->prefetch_factor >= 0)
			setup.prefetch_factor = wish->prefetch_factor;
		if (wish->in_order >= 0)
			setup.in_order = wish->in_order;
		if (!isnan(wish->load_factor))
			setup.load_factor = wish->load_factor;
		predict(&trace, setup, WHATIF_MAX + (int)i, whatif);
		whatif->wish_count = i + 1;
	}
	if (r == 0)
		r = range_find(&trace, whatif, WHATIF_MAX, WHATIF_MAX + (int)whatif->wish_count);
	trace_done(&trace);
	return r;
}
