/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - holds the batches of one loader as plain arrays, the input of every analysis.
 *
 * Batches are sorted by epoch, then by ordinal. A column that is NULL and a time that is NAN were
 * not observed. Ten million batches have to fit into 200 MB.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/load_facts.h"
#include "analysis/account/share.h"
#include "analysis/statistics/stats.h"
#include "dlprof/units.h"

/* A fact is known only if its KNOWN bit is set. */
enum series_state {
	SERIES_READY_KNOWN = 1,
	SERIES_READY = 2, /* the batch was finished before the consumer requested it */
	SERIES_QUEUE_KNOWN = 4,
	SERIES_QUEUE = 8, /* other batches were finished, but not delivered, at the request */
	/* set by stall_judge() */
	SERIES_STEADY = 16,
	SERIES_STARVED = 32,
};

/* Batches of one epoch with consecutive ordinals, from `begin` until the next struct's `begin`. */
struct series_run {
	size_t begin;
	int32_t epoch;
	int32_t batch; /* ordinal of the first batch */
};

/* Times of an epoch that belong to no batch. Unknown: UNKNOWN or NAN. */
struct series_epoch {
	int64_t begin_ns;
	int64_t stop_begin_ns;
	float setup_ns;
	float boot_ns;   /* from the end of setup_ns until each worker had begun a load */
	float stop_ns;   /* time of the call that ended the epoch, in which workers are shut down */
	float sample_ns; /* part of setup_ns in which the training's thread chose samples */
	int32_t epoch;
};

/* The consumer's requests for tensors' file descriptors, except for epochs' first batches. */
struct series_fetches {
	double ns, cpu_ns, count;
	double batches;
};

#define SERIES_TIMES 8

struct batch_series {
	size_t count;
	size_t capacity;
	int32_t workers; /* number of workers as set; -1: unknown, 0: the consumer itself loads */
	int32_t loading; /* workers that loaded batches; -1: unknown */
	int32_t prefetch_factor; /* -1: unknown, as in the seven members below */
	int32_t in_order;
	int32_t is_foreign; /* a loader that has workers, but is not PyTorch's */
	int32_t is_pooled;  /* any free worker takes the next load; 0: each worker in its turn */
	int32_t is_thread;  /* the only worker is a thread of the training's process */
	int32_t persistent;
	int32_t iterable;    /* an iterable dataset: workers begin it anew in each epoch */
	int32_t synchronous; /* the consumer waits until each step has ended on the GPU */
	int64_t lost_count;  /* number of records that were dropped before the drain read them */
	union {
		float *times[SERIES_TIMES];
		struct {
			/* wait_ns and handover_ns include freeing the previous batch */
			float *wait_ns;
			float *compute_ns, *load_ns;
			float *gpu_idle_ns;
			float *gpu_busy_ns;
			float *step_ns; /* wait + compute; set only if one of the two is unknown */
			float *handover_ns;
			float *sample_ns;   /* part of the wait in which the sampler ran */
		};
	};
	int16_t *worker; /* -1: unknown */
	uint8_t *state;
	struct series_run *runs;
	size_t run_count;
	struct series_epoch *epochs; /* sorted by epoch */
	size_t epoch_count;
	bool is_part;          /* the series does not begin with the loader's first batch */
	int64_t first_ns;      /* when the loader handed out its first batch; UNKNOWN: unknown */
	int64_t last_ns;       /* when the last step ended; UNKNOWN: unknown */
	int64_t tail_begin_ns; /* when the last wait began, if no step followed; else UNKNOWN */
	double elsewhere_ns;   /* waits for other loaders, which compute_ns does not include */
	/* for how many steps a second their other loaders can supply batches; NAN: no others */
	double others_per_s;
	double cores;
	double main_cores;
	double other_cores;
	/* share of runnable time in which the training's thread, or a worker, had a core; or NAN */
	double main_share, worker_share;
	double worker_threads; /* a worker's mean number of runnable threads; NAN: not needed */
	double worker_cores;   /* worker_threads + cores of started programs; NAN: not needed */
	struct share share;
	double receive_ns; /* time to receive messages, summed over `receive_count` batches */
	size_t receive_count;
	double load_cpu_ns; /* sum over the `load_cpu_count` batches whose CPU time is known */
	size_t load_cpu_count;
	struct series_fetches fetches;
};

struct batch_row {
	union {
		int64_t times[SERIES_TIMES]; /* UNKNOWN: unknown, also for load_cpu_ns */
		struct {
			int64_t wait_ns, compute_ns, load_ns, gpu_idle_ns, gpu_busy_ns, step_ns,
				handover_ns, sample_ns;
		};
	};
	int64_t load_cpu_ns;
	int32_t epoch;
	int32_t batch;
	int32_t worker;    /* -1: unknown */
	int32_t qdepth;    /* number of finished, undelivered batches at the request; -1: unknown */
	int8_t head_ready; /* 1: this batch was finished before the request; -1: unknown */
};

extern const struct batch_row BATCH_ROW_UNKNOWN;

void series_init(struct batch_series *series);

/* Appends a batch. The series stays valid if this fails with -ENOMEM. */
int series_append(struct batch_series *series, const struct batch_row *row);

/* Adds an epoch; epochs must come in ascending order. */
int series_add_epoch(struct batch_series *series, const struct series_epoch *epoch);

struct series_part {
	size_t count;
	const float *times[SERIES_TIMES]; /* NULL: not observed */
	const int16_t *worker;
	const uint8_t *state;
	const struct series_run *runs; /* each `begin` is an index within this part */
	size_t run_count;              /* at least 1, since the first run begins at 0 */
};

/* Appends the batches of a part. Values that cannot be times become NAN. */
int series_extend(struct batch_series *series, const struct series_part *part);

/* Makes a part of `count` batches from `begin` on. `runs` has room for series->run_count runs. */
void series_cut(const struct batch_series *series, size_t begin, size_t count,
		struct series_run *runs, struct series_part *ret);

/* Returns the mean CPU time of a load, without other threads that work for it; NAN: unknown. */
double series_load_cpu_ns(const struct batch_series *series);

/* Returns how many cores other programs leave to the run; NAN: unknown. */
double series_free_cores(const struct batch_series *series);

/* Returns true if other programs used more of the cores than usual background work does. */
bool series_has_others(const struct batch_series *series);

/* Returns true if other programs used clearly more cores during one run than during the other. */
bool series_others_differ(const struct batch_series *a, const struct batch_series *b);

/*
 * Sets `worker_threads` and `worker_cores` if loads wait for other threads of their worker. If
 * loads start programs, sets `worker_cores` and takes these programs out of other_cores.
 */
void series_add_threads(struct batch_series *series, const struct load_facts *facts,
			double load_mean_ns, double loads_at_once);

/* Frees the arrays. Makes the series empty, as series_init() does. */
void series_done(struct batch_series *series);

/* Returns how long the training waits for other loaders, on average, for each batch. */
static inline double series_elsewhere_mean_ns(const struct batch_series *series)
{
	return series->count ? series->elsewhere_ns / (double)series->count : 0;
}

/* Returns how many workers load more than a few batches in a typical epoch; -1: unknown. */
int32_t series_find_loading(const struct batch_series *series);

static inline int32_t series_busy_workers(const struct batch_series *series)
{
	return series->loading > 0 ? series->loading : series->workers;
}

static inline bool series_has_idle_workers(const struct batch_series *series)
{
	return series->loading > 0 && series->loading < series->workers;
}

#define SERIES_PREFETCH 2 /* default of PyTorch's DataLoader */

static inline int32_t series_prefetch(const struct batch_series *series)
{
	return series->prefetch_factor > 0 ? series->prefetch_factor : SERIES_PREFETCH;
}

/* Returns how many loads a busy worker may have queued: it also gets the places of idle workers. */
static inline int32_t series_ahead(const struct batch_series *series)
{
	int32_t ahead = series_prefetch(series);

	if (!series_has_idle_workers(series) || ahead > INT16_MAX)
		return ahead;
	return ahead + (series->workers - series->loading) / series->loading;
}

struct series_place {
	size_t i;
	size_t run;
	int64_t batch;
	int32_t epoch;
	bool is_new;
};

#define SERIES_BEGIN ((struct series_place){.i = SIZE_MAX, .run = SIZE_MAX})

bool series_next(const struct batch_series *series, struct series_place *place);

/* Returns true if the time was observed. series_time() returns 0 for other times. */
static inline bool series_has(const float *column, size_t i)
{
	return column && column[i] >= 0;
}

static inline double series_time(const float *column, size_t i)
{
	return series_has(column, i) ? (double)column[i] : 0;
}

/* Returns the time, or NAN if it was not observed. */
static inline double series_known(const float *column, size_t i)
{
	return series_has(column, i) ? (double)column[i] : NAN;
}

/* Selects the times of batches with this bit of enum series_state. */
static inline struct stats_column series_column(const struct batch_series *series,
						const float *values, uint8_t bit)
{
	return (struct stats_column){values, series->state, series->count, bit, bit};
}

/* Returns true if the batch is steady, and its time was observed. */
static inline bool series_is_steady(const struct batch_series *series, const float *column,
				    size_t i)
{
	return series->state[i] & SERIES_STEADY && column[i] >= 0;
}

static inline size_t series_run_end(const struct batch_series *series, size_t run)
{
	return run + 1 < series->run_count ? series->runs[run + 1].begin : series->count;
}

/* One epoch: its first run, its batches, the next epoch's first run. {0} is before all epochs. */
struct series_walk {
	size_t run, begin, end, next;
};

/* Walks on to the next epoch. Returns false if there is none. */
static inline bool series_walk_epochs(const struct batch_series *series, struct series_walk *walk)
{
	const struct series_run *runs = series->runs;

	walk->run = walk->next;
	if (walk->run >= series->run_count)
		return false;
	walk->begin = runs[walk->run].begin;
	while (++walk->next < series->run_count && runs[walk->next].epoch == runs[walk->run].epoch)
		;
	walk->end = series_run_end(series, walk->next - 1);
	return true;
}

struct bar {
	double wait_ns, compute_ns, busy_ns; /* means over the bar's batches; NAN: unknown */
	double most_ns;
	size_t begin, end; /* indexes in the series */
};

/* Averages batches `begin` to `end` - 1. If only wait + compute is known, compute_ns is the sum. */
struct bar bar_of(const struct batch_series *series, size_t begin, size_t end);

/* Divides the series into at most `most` bars. The caller frees *ret. */
int bars_of(const struct batch_series *series, size_t most, struct bar **ret, size_t *ret_count);
