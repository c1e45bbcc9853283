/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a run, its loaders and the sums of their loads: answers to the questions of query.h. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/series.h"
#include "store/columns.h"
#include "store/db.h"

#define QUERY_UNKNOWN SERIES_UNKNOWN

/* For what is reckoned with: NAN instead. */
static inline double query_known(int64_t value)
{
	return value == QUERY_UNKNOWN ? NAN : (double)value;
}

/* Strings are NULL and numbers QUERY_UNKNOWN where the run does not tell. */
struct run_info {
	char *id;
	char *version;
	char *command;
	char *host;
	char *kernel;
	char *frameworks;
	char *clock;			/* "host" or "gpu" */
	char *gpu;			/* its model */
	char *gpu_place;		/* the same of the first device, and where it is */
	char *patch_missing;		/* comma-separated, "" if all were found */
	char *decoders_seen;		/* comma-separated: their calls were observed */
	char *decoders_hidden;		/* "LIBRARY in MODULE,...": copies that could not be */
	char *nvtx;			/* "recorded", or why its ranges are not though asked for */
	int64_t start_unix_ns;
	int64_t start_ns;
	int64_t end_ns;			/* QUERY_UNKNOWN while it records */
	int64_t cpus;
	int64_t cpu_limit_milli;	/* thousandths of a core: a limit that is below `cpus` */
	int64_t main_cpu_ns;		/* of the main process, in so much time: */
	int64_t main_cpu_of_ns;
	int64_t other_cpu_ns;		/* of these cores, of other programs, likewise */
	int64_t other_cpu_of_ns;
	int64_t affinity;		/* cores that it may run on, where a limit is below that */
	int64_t ran_ns[2];		/* first threads of main process and workers had a core */
	int64_t waited_ns[2];		/* ... could have run and had none */
	char *neighbours;		/* as drain/neighbours.h has it */
	int64_t synchronous;		/* the consumer waits for its steps to end; -1: unknown */
	char *job_id;
	char *cluster, *owner, *revision, *dataset, *storage;
	int64_t attempt;
	int64_t world_size;
	int64_t rank;
	int64_t lost_count;		/* events that were dropped, all kinds */
	int64_t process_count;
	int64_t doubt_count;		/* notes by which the verdict may be another's */
};

struct loader_info {
	int64_t loader_id;
	char kind[48];
	int64_t workers;		/* QUERY_UNKNOWN where not observed, as below */
	int64_t prefetch_factor;
	int64_t in_order;
	int64_t persistent;
	int64_t batch_size;
	int64_t batch_count;		/* delivered */
	int64_t epoch_count;
	int64_t time_ns;		/* sum of wait and compute */
	int64_t pid, tid;		/* who asked for its batches */
	bool nested;			/* within another wait: no time of the thread's own */
	char place[96];			/* where it is made, "train.py:41 in main"; "": not known */
};

/* What a caller wants of a loader's delivered batches; -1: no limit. */
struct batch_filter {
	int64_t loader_id;
	int64_t epoch;
	int64_t first;			/* position among those of loader and epoch, from 0 */
	int64_t last;			/* inclusive */
};

/* All of a loader's. */
static inline struct batch_filter batch_filter_all(int64_t loader_id)
{
	return (struct batch_filter){.loader_id = loader_id, .epoch = -1, .first = -1, .last = -1};
}

/* Sums over delivered batches; QUERY_UNKNOWN where none of them has the column. */
struct load_totals {
	int64_t load_count;		/* batches whose load was observed */
	int64_t decode_seen_count;	/* loads in which decoding was observed */
#define X(name, sql) int64_t name;
	LOAD_SUMS(X)
#undef X
};
