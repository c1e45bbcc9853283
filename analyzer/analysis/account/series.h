/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - the batches of one loader as plain arrays: the input of every analysis.
 *
 * Batches stand in order of (epoch, batch). A column of times of which no value was observed is
 * NULL; in any other column, NAN marks the values that were not observed.
 *
 * Ten million batches have to fit into 200 MB: times are floats (7 digits: 2 us of 20 s; sums are
 * kept in double), facts with few values are bits of one byte, and epochs and ordinals, which count
 * up, are stored as runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/share.h"
#include "dlprof/units.h"

/* Bits of `state`; a fact is known only if its KNOWN bit is set. */
enum series_state {
	SERIES_READY_KNOWN = 1,
	SERIES_READY = 2, /* the batch was finished before the consumer requested it */
	SERIES_QUEUE_KNOWN = 4,
	SERIES_QUEUE = 8, /* other finished batches were not delivered at the request */
	/* stall_judge() sets these two bits: */
	SERIES_STEADY = 16,
	SERIES_STARVED = 32,
};

/* A run of batches with consecutive ordinals; it ends where the next run begins. */
struct series_run {
	size_t begin;
	int32_t epoch;
	int32_t batch; /* ordinal of the run's first batch */
};

/* Waits of an epoch that belong to none of its batches. Unknown times are UNKNOWN or NAN. */
struct series_epoch {
	int64_t begin_ns;
	int64_t stop_begin_ns;
	float setup_ns; /* time to make the iterator */
	float boot_ns;  /* from the end of setup until every worker had begun its first load */
	float stop_ns;  /* time of the call that ended the epoch, in which workers are shut down */
	float sample_ns; /* part of setup_ns in which the training's thread chose samples */
	int32_t epoch;
};

/*
 * Requests by which the consumer fetches the file descriptors of a batch's tensors from its worker.
 * Batches of an epoch's start are left out.
 */
struct series_fetches {
	double ns, cpu_ns, count;
	double batches; /* batches whose requests are known; 0: none */
};

#define SERIES_TIMES 8 /* number of columns of times */

struct batch_series {
	size_t count;
	size_t capacity;
	int32_t workers;   /* number of workers as set; -1: unknown, 0: the consumer itself loads */
	int32_t loading;    /* workers that loaded batches, by series_find_loading(); -1: unknown */
	int32_t prefetch_factor; /* -1: unknown, as in the five fields below */
	int32_t in_order;
	int32_t is_foreign; /* not PyTorch's, though it has workers: other settings */
	int32_t persistent;
	int32_t iterable;    /* the dataset is iterable: workers begin it anew in each epoch */
	int32_t synchronous; /* the consumer waits until each step has ended on the GPU */
	int64_t lost_count;  /* records of the run that were dropped before the drain read them */
	union {
		float *times[SERIES_TIMES];
		struct {
			float *wait_ns; /* includes freeing the previous batch, as handover_ns */
			float *compute_ns, *load_ns;
			float *gpu_idle_ns; /* idle time of the GPU during the wait */
			float *gpu_busy_ns;
			float *step_ns;     /* wait + compute, set only if one of the two is
					     * unknown */
			float *handover_ns; /* part of the wait after the batch was finished */
			float *sample_ns;   /* part of the wait in which the sampler ran */
		};
	};
	int16_t *worker; /* worker that made the batch; -1: unknown */
	uint8_t *state;  /* bits of enum series_state */
	struct series_run *runs;
	size_t run_count;
	size_t run_capacity;
	struct series_epoch *epochs; /* sorted by epoch */
	size_t epoch_count;
	bool is_part;          /* the series does not begin with the loader's first batch */
	int64_t first_ns;      /* when the loader handed out its first batch; UNKNOWN: not known */
	int64_t last_ns;       /* when the last step ended; UNKNOWN: not known */
	int64_t tail_begin_ns; /* when the last wait began, if no step followed it; else UNKNOWN */
	double elsewhere_ns;   /* waits for other loaders in between; compute_ns leaves them out */
	double cores;          /* cores that the run may use; fractions by a quota; NAN: unknown */
	double main_cores;     /* cores that the consumer's process used; NAN: unknown */
	double other_cores;    /* cores that other programs used; NAN: unknown */
	/* Of the time that a thread could run, the share for which it had a core: for the
	 * training's thread, and for a worker. NAN: unknown. */
	double main_share, worker_share;
	struct share share; /* other programs, and how many cores they want */
	double receive_ns; /* part of the waits that received messages, also for later batches */
	size_t receive_count;
	double load_cpu_ns; /* sum over `load_cpu_count` batches, those whose CPU time is known */
	size_t load_cpu_count;
	struct series_fetches fetches;
};

struct batch_row {
	union {
		int64_t times[SERIES_TIMES]; /* UNKNOWN: not known; load_cpu_ns likewise */
		struct {
			int64_t wait_ns, compute_ns, load_ns, gpu_idle_ns, gpu_busy_ns, step_ns,
				handover_ns, sample_ns;
		};
	};
	int64_t load_cpu_ns;
	int32_t epoch;
	int32_t batch;
	int32_t worker;    /* worker that made the batch; -1: unknown */
	int32_t qdepth;   /* finished, undelivered batches at the consumer's request; -1: unknown */
	int8_t head_ready; /* 1: finished before the consumer's request, 0: not, -1: unknown */
};

/* A batch of which nothing is known. */
extern const struct batch_row BATCH_ROW_UNKNOWN;

void series_init(struct batch_series *series);

/* Appends one batch. Returns 0 or -ENOMEM; the series stays valid in both cases. */
int series_append(struct batch_series *series, const struct batch_row *row);

/* Appends one epoch; the caller appends epochs in ascending order. Returns 0 or -ENOMEM. */
int series_add_epoch(struct batch_series *series, const struct series_epoch *epoch);

/* Consecutive batches as arrays, which series_extend() appends all at once. */
struct series_part {
	size_t count;
	const float *times[SERIES_TIMES]; /* NULL: the column was not observed */
	const int16_t *worker;
	const uint8_t *state;
	const struct series_run *runs; /* each `begin` counts from the part's first batch */
	size_t run_count;       /* at least 1; the first run begins at 0, and runs stand in order */
};

/* Appends the batches of a part. Values that cannot be times become NAN. Returns 0 or -ENOMEM. */
int series_extend(struct batch_series *series, const struct series_part *part);

/* Makes a part of `count` batches from `begin` on. `runs` needs room for series->run_count runs. */
void series_cut(const struct batch_series *series, size_t begin, size_t count,
		struct series_run *runs, struct series_part *ret);

/* Returns the number of cores that other programs leave to the run, or NAN if it is unknown. */
double series_free_cores(const struct batch_series *series);

/* Returns true if other programs used more of the cores than a machine's usual background work. */
bool series_has_others(const struct batch_series *series);

/* Frees the arrays; call series_init() before the series is used again. */
void series_done(struct batch_series *series);

/*
 * Returns how many workers loaded batches in a typical epoch, or -1 if it is not known. A worker
 * that got hardly any data, such as one without a shard of an iterable dataset, is left out: a
 * worker counts if it loaded at least a twentieth of what the busiest one loaded.
 */
int32_t series_find_loading(const struct batch_series *series);

/* Returns how many workers share the loads: those that loaded any, or all if that is unknown. */
static inline int32_t series_busy_workers(const struct batch_series *series)
{
	return series->loading > 0 ? series->loading : series->workers;
}

/* Returns true if some workers loaded no batches. */
static inline bool series_has_idle_workers(const struct batch_series *series)
{
	return series->loading > 0 && series->loading < series->workers;
}

#define SERIES_PREFETCH 2 /* the default prefetch_factor of PyTorch's DataLoader */

/* Returns how many undelivered batches a worker has at most: prefetch_factor, or its default. */
static inline int32_t series_prefetch(const struct batch_series *series)
{
	return series->prefetch_factor > 0 ? series->prefetch_factor : SERIES_PREFETCH;
}

/*
 * Returns how many undelivered batches a loading worker has at most. A worker that ends because it
 * has no data leaves one of its places to the loading ones.
 */
static inline int32_t series_ahead(const struct batch_series *series)
{
	int32_t ahead = series_prefetch(series);

	if (!series_has_idle_workers(series) || ahead > INT16_MAX)
		return ahead;
	return ahead + (series->workers - series->loading) / series->loading;
}

/* A position in a series while it is read batch by batch, starting with SERIES_BEGIN. */
struct series_place {
	size_t i; /* index of the batch */
	size_t run;
	size_t next;
	int64_t batch; /* ordinal of the batch in its epoch */
	int32_t epoch;
	bool is_new; /* the batch is the first of its epoch in the series */
};

#define SERIES_BEGIN ((struct series_place){.run = SIZE_MAX})

/* Goes to the next batch. Returns false if there is none. */
bool series_next(const struct batch_series *series, struct series_place *place);

/* Returns true if element `i` of a column of times was observed. series_time() gives 0 if not. */
static inline bool series_has(const float *column, size_t i)
{
	return column && column[i] >= 0;
}

static inline double series_time(const float *column, size_t i)
{
	return series_has(column, i) ? (double)column[i] : 0;
}

static inline size_t series_run_end(const struct batch_series *series, size_t run)
{
	return run + 1 < series->run_count ? series->runs[run + 1].begin : series->count;
}

/* Returns the first run after `run` that is of another epoch; run_count if there is none. */
static inline size_t series_next_epoch(const struct batch_series *series, size_t run)
{
	const int32_t epoch = series->runs[run].epoch;

	while (++run < series->run_count && series->runs[run].epoch == epoch)
		;
	return run;
}
