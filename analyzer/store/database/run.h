/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a run, its loaders and sums of their loads: the answers to the questions of query.h. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/series.h"
#include "store/database/columns.h"
#include "store/database/db.h"

/* A number to calculate with: NAN where it is not known. */
static inline double query_known(int64_t value)
{
	return value == UNKNOWN ? NAN : (double)value;
}

/*
 * What meta holds of a run: FACT(META_ id, type, member). Strings are NULL and numbers
 * UNKNOWN where the run does not tell.
 */
#define RUN_FACTS(FACT)                                                                            \
	FACT(RUN_ID, char *, id)                                                                   \
	FACT(VERSION, char *, version)                                                             \
	FACT(COMMAND, char *, command)                                                             \
	FACT(HOST, char *, host)                                                                   \
	FACT(KERNEL, char *, kernel)                                                               \
	FACT(FRAMEWORKS, char *, frameworks)                                                       \
	FACT(CLOCK, char *, clock)     /* "host" or "gpu" */                                       \
	FACT(GPU, char *, gpu)         /* its model */                                             \
	FACT(GPU_0, char *, gpu_place) /* model and place of the first device */                   \
	FACT(PATCH_MISSING, char *, patch_missing)     /* comma-separated; "": all were found */   \
	FACT(DECODERS_PATCHED, char *, decoders_seen)  /* libraries whose calls were observed */   \
	FACT(DECODERS_HIDDEN, char *, decoders_hidden) /* "LIBRARY in MODULE,...": not observed */ \
	FACT(SET, char *, set) /* DLPROF_SET: what loaders were to be made with */                 \
	FACT(STOP_AFTER, int64_t, stop_after) /* batches after which dlprof ended it */            \
	FACT(NVTX, char *, nvtx) /* "recorded", or why its ranges are not though asked for */      \
	FACT(START_UNIX_NS, int64_t, start_unix_ns)                                                \
	FACT(START_NS, int64_t, start_ns)                                                          \
	FACT(END_NS, int64_t, end_ns) /* UNKNOWN while it records */                         \
	FACT(CPUS, int64_t, cpus)                                                                  \
	FACT(CPU_LIMIT_MILLI, int64_t, cpu_limit_milli) /* of a core: a limit below `cpus` */      \
	FACT(MAIN_CPU_NS, int64_t, main_cpu_ns)         /* CPU time of the main process, ... */    \
	FACT(MAIN_CPU_OF_NS, int64_t, main_cpu_of_ns)   /* ... measured over this time */          \
	FACT(OTHER_CPU_NS, int64_t, other_cpu_ns)       /* of other programs, on these cores */    \
	FACT(OTHER_CPU_OF_NS, int64_t, other_cpu_of_ns)                                            \
	FACT(AFFINITY, int64_t, affinity)       /* cores it may run on, where a limit is below */  \
	FACT(MAIN_RAN_NS, int64_t, main_ran_ns) /* its first thread had a core, ... */             \
	FACT(MAIN_WAITED_NS, int64_t, main_waited_ns) /* ... could have run and had none */        \
	FACT(WORKERS_RAN_NS, int64_t, workers_ran_ns)                                              \
	FACT(WORKERS_WAITED_NS, int64_t, workers_waited_ns)                                        \
	FACT(NEIGHBOURS, char *, neighbours) /* text of drain/machine/neighbours.h */              \
	FACT(SYNC, int64_t, synchronous) /* the consumer waits for its steps' ends; -1: unknown */ \
	FACT(JOB_ID, char *, job_id)                                                               \
	FACT(ATTEMPT, int64_t, attempt)                                                            \
	FACT(WORLD_SIZE, int64_t, world_size)                                                      \
	FACT(CLUSTER, char *, cluster)                                                             \
	FACT(OWNER, char *, owner)                                                                 \
	FACT(REVISION, char *, revision)                                                           \
	FACT(DATASET, char *, dataset)                                                             \
	FACT(STORAGE, char *, storage)

struct run_info {
#define X(id, type, member) type member;
	RUN_FACTS(X)
#undef X
	int64_t rank;
	int64_t lost_count;		/* events of all kinds that were dropped */
	int64_t process_count;
	int64_t doubt_count;		/* notes that make the verdict doubtful */
	int64_t main_end_ns;		/* end of the main process; UNKNOWN: not seen */
	bool is_gone;			/* it ended without running exit handlers */
	int64_t exit_status;		/* status of that end, as of waitpid() */
	int64_t killed_count;		/* workers ended by a signal that tidies up nothing */
	int64_t killed_worker, killed_status; /* one of these workers, and its status */
};

struct loader_info {
	int64_t loader_id;
	char kind[48];
	int64_t workers;		/* UNKNOWN: not observed, also below */
	int64_t prefetch_factor;
	int64_t in_order;
	int64_t persistent;
	int64_t batch_size;
	int64_t batch_count;		/* delivered */
	int64_t epoch_count;
	int64_t time_ns;		/* sum of wait and compute */
	int64_t pid, tid;		/* thread that asked for its batches */
	int64_t life_ns;		/* when its process began to be this program */
	bool nested;			/* asked within another wait, whose time already counts */
	char place[96];			/* where it is made: "train.py:41 in main"; "": not known */
};

/* What a caller wants of a loader's delivered batches; -1: no limit. */
struct batch_filter {
	int64_t loader_id;
	int64_t epoch;
	int64_t first;			/* first batch to read, counted from 0 in the loader or
					 * epoch */
	int64_t last;			/* inclusive */
};

/* The filter for all of a loader's batches. */
static inline struct batch_filter batch_filter_all(int64_t loader_id)
{
	return (struct batch_filter){.loader_id = loader_id, .epoch = -1, .first = -1, .last = -1};
}

/* Sums over delivered batches; UNKNOWN where none of them has the column. */
struct load_totals {
	int64_t load_count;		/* batches whose load was observed */
	int64_t decode_seen_count;	/* loads in which decoding was observed */
#define X(name, sql) int64_t name;
	LOAD_SUMS(X)
#undef X
};
