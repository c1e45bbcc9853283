/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - the batches of one loader as plain arrays: what every analysis takes.
 *
 * Batches stand in order of (epoch, batch). A column of times that was never observed is NULL,
 * which is not zero; in a column that exists, NAN marks what was not observed.
 *
 * Ten million batches have to fit 200 MB: times are floats (7 digits: 2 us of 20 s; sums are kept
 * in double), what has few values is packed into one byte, and epoch and ordinal, which count up,
 * are kept as runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/share.h"
#include "dlprof/units.h"

/* Bits of `state`; a fact that is known has its KNOWN bit. */
enum series_state {
	SERIES_READY_KNOWN = 1,
	SERIES_READY = 2, /* the batch was finished before it was asked for */
	SERIES_QUEUE_KNOWN = 4,
	SERIES_QUEUE = 8, /* finished batches lay undelivered when it was asked for */
	/* stall_judge() sets these two: */
	SERIES_STEADY = 16,
	SERIES_STARVED = 32,
};

/* A run of batches with consecutive ordinals; it ends where the next run begins. */
struct series_run {
	size_t begin;
	int32_t epoch;
	int32_t batch; /* ordinal of its first batch */
};

/* An epoch's waits outside of its batches. UNKNOWN and NAN: not known. */
struct series_epoch {
	int64_t begin_ns;
	int64_t stop_begin_ns;
	float setup_ns; /* making the iterator */
	float boot_ns;  /* after that, until all workers had begun their first loads */
	float stop_ns;  /* the call that ended the epoch: workers are shut down */
	int32_t epoch;
};

/* Tensors' descriptors fetched from workers, over batches whose wait is not an epoch's start. */
struct series_fetches {
	double ns, cpu_ns, count;
	double batches; /* batches of which this is known; 0: none */
};

#define SERIES_TIMES 8 /* columns of times */

struct batch_series {
	size_t count;
	size_t capacity;
	int32_t workers;         /* setting; -1: unknown, 0: the consumer itself loads */
	int32_t loading;         /* workers that got data: series_find_loading(); -1: unknown */
	int32_t prefetch_factor; /* -1: unknown, also in the fields below */
	int32_t in_order;
	int32_t is_foreign; /* it has workers as PyTorch's, and other settings */
	int32_t persistent;
	int32_t iterable;    /* the dataset is an iterable one, which begins anew in each epoch */
	int32_t synchronous; /* the consumer waits for each of its steps to end */
	int64_t lost_count;  /* records of the run that were dropped before they were read */
	union {
		float *times[SERIES_TIMES];
		struct {
			float *wait_ns; /* includes freeing the batch before, as handover_ns does */
			float *compute_ns, *load_ns;
			float *gpu_idle_ns; /* idle time of the GPU during the wait */
			float *gpu_busy_ns;
			float *step_ns;     /* only of batches whose wait or compute is unknown */
			float *handover_ns; /* part of the wait after the batch was finished */
			float *sample_ns;   /* part of the wait in which the sampler chose */
		};
	};
	int16_t *worker; /* -1: unknown */
	uint8_t *state;  /* bits of enum series_state */
	struct series_run *runs;
	size_t run_count;
	size_t run_capacity;
	struct series_epoch *epochs; /* sorted by epoch */
	size_t epoch_count;
	bool is_part;          /* it does not begin with the loader's first batch */
	int64_t first_ns;      /* when the loader's first batch was handed out; or UNKNOWN */
	int64_t last_ns;       /* when the last step ended; or UNKNOWN */
	int64_t tail_begin_ns; /* when a last wait without a step began; UNKNOWN: none */
	double elsewhere_ns;   /* waits for other loaders within the steps; no column holds them */
	double cores;          /* cores that the run may use, perhaps a fraction; NAN: unknown */
	double main_cores;     /* cores that the consumer's process itself used; NAN: unknown */
	double other_cores;    /* cores that other programs used; NAN: unknown */
	/* Share of a core that the training, and a worker, got while it could run; NAN: unknown. */
	double main_share, worker_share;
	struct share share; /* who else wants the cores, and how many */
	double receive_ns; /* time in waits spent receiving messages, also for later batches */
	size_t receive_count;
	double load_cpu_ns; /* sum over the batches where it is known */
	size_t load_cpu_count;
	struct series_fetches fetches;
};

struct batch_row {
	union {
		int64_t times[SERIES_TIMES]; /* UNKNOWN: not known, also in load_cpu_ns */
		struct {
			int64_t wait_ns, compute_ns, load_ns, gpu_idle_ns, gpu_busy_ns, step_ns,
				handover_ns, sample_ns;
		};
	};
	int64_t load_cpu_ns;
	int32_t epoch;
	int32_t batch;
	int32_t worker;    /* -1: unknown */
	int32_t qdepth;    /* finished, undelivered batches when asked; -1: unknown */
	int8_t head_ready; /* 1: finished before it was asked for, 0: not, -1: unknown */
};

/* A batch of which nothing is known. */
extern const struct batch_row BATCH_ROW_UNKNOWN;

void series_init(struct batch_series *series);

/* Appends one batch. 0 or -ENOMEM; the series stays valid either way. */
int series_append(struct batch_series *series, const struct batch_row *row);

/* Appends one epoch; they come in order. 0 or -ENOMEM. */
int series_add_epoch(struct batch_series *series, const struct series_epoch *epoch);

/* Many batches at once, as arrays. */
struct series_part {
	size_t count;
	const float *times[SERIES_TIMES]; /* NULL: not observed */
	const int16_t *worker;
	const uint8_t *state;
	const struct series_run *runs; /* `begin` counts from the part's first batch */
	size_t run_count;              /* at least 1; the first begins at 0, all stand in order */
};

/* Appends the batches of a part. Values that are no times become NAN. 0 or -ENOMEM. */
int series_extend(struct batch_series *series, const struct series_part *part);

/* Gives `count` batches from `begin` on as a part. `runs` has room for all runs of the series. */
void series_cut(const struct batch_series *series, size_t begin, size_t count,
		struct series_run *runs, struct series_part *ret);

/* Cores that other programs leave to the run; NAN: unknown. */
double series_free_cores(const struct batch_series *series);

/* Whether other programs took more of the cores than the background work of any machine. */
bool series_has_others(const struct batch_series *series);

/* Frees the arrays; the series may be reused after series_init(). */
void series_done(struct batch_series *series);

/*
 * How many workers made the loads of a typical epoch; -1: not known. Workers that got no data are
 * left out, such as those of an iterable dataset with fewer shards: a worker counts if it made at
 * least a twentieth of what the busiest one made.
 */
int32_t series_find_loading(const struct batch_series *series);

/* Number of workers that set the loader's rhythm and rate: those that loaded, else those set. */
static inline int32_t series_busy_workers(const struct batch_series *series)
{
	return series->loading > 0 ? series->loading : series->workers;
}

/* Whether some of the workers got no data. */
static inline bool series_has_idle_workers(const struct batch_series *series)
{
	return series->loading > 0 && series->loading < series->workers;
}

#define SERIES_PREFETCH 2 /* a DataLoader's default */

/* The most batches that each worker has under way, as set. */
static inline int32_t series_prefetch(const struct batch_series *series)
{
	return series->prefetch_factor > 0 ? series->prefetch_factor : SERIES_PREFETCH;
}

/*
 * The most batches that each loading worker has under way. A worker that ends without data leaves
 * one of its places to the others.
 */
static inline int32_t series_ahead(const struct batch_series *series)
{
	int32_t ahead = series_prefetch(series);

	if (!series_has_idle_workers(series) || ahead > INT16_MAX)
		return ahead;
	return ahead + (series->workers - series->loading) / series->loading;
}

/* A place in a series: start with SERIES_BEGIN. */
struct series_place {
	size_t i; /* index of the batch */
	size_t run;
	size_t next;
	int64_t batch; /* ordinal in its epoch */
	int32_t epoch;
	bool is_new; /* the batch before was of another epoch */
};

#define SERIES_BEGIN ((struct series_place){.run = SIZE_MAX})

/* Goes to the next batch; false: there is none. */
bool series_next(const struct batch_series *series, struct series_place *place);

/* Whether element `i` of a column of times was observed, and how long it is: 0 where it was not. */
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
