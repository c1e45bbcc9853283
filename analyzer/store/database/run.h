/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - structs that query.h fills: a run, its loaders, and sums over their loads. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/account/series.h"
#include "store/database/columns.h"
#include "store/database/db.h"

/* Returns the value as a double; NAN for UNKNOWN. */
static inline double query_known(int64_t value)
{
	return value == UNKNOWN ? NAN : (double)value;
}

/* FACT(META_ id, type, member). A missing string is NULL, a missing number is UNKNOWN. */
#define RUN_FACTS(FACT)                                                                            \
	FACT(RUN_ID, char *, id)                                                                   \
	FACT(VERSION, char *, version)                                                             \
	FACT(COMMAND, char *, command)                                                             \
	FACT(HOST, char *, host)                                                                   \
	FACT(KERNEL, char *, kernel)                                                               \
	FACT(FRAMEWORKS, char *, frameworks)                                                       \
	FACT(CLOCK, char *, clock)     /* "host" or "gpu" */                                       \
	FACT(GPU, char *, gpu)         /* GPU model */                                             \
	FACT(GPU_0, char *, gpu_place) /* model and place of the first device */                   \
	FACT(PATCH_MISSING, char *, patch_missing)     /* comma-separated; "": all were found */   \
	FACT(DECODERS_PATCHED, char *, decoders_seen)  /* libraries whose calls were seen */       \
	FACT(DECODERS_HIDDEN, char *, decoders_hidden) /* "LIBRARY in MODULE,...": not seen */     \
	FACT(SET, char *, set) /* loaders' settings that DLPROF_SET changed */                     \
	FACT(STOP_AFTER, int64_t, stop_after) /* dlprof ended the run after this many batches */   \
	FACT(NVTX, char *, nvtx) /* "recorded", or why NVTX ranges are not */                      \
	FACT(START_UNIX_NS, int64_t, start_unix_ns)                                                \
	FACT(START_NS, int64_t, start_ns)                                                          \
	FACT(END_NS, int64_t, end_ns) /* UNKNOWN while the run records */                    \
	FACT(CPUS, int64_t, cpus)                                                                  \
	FACT(CPU_LIMIT_MILLI, int64_t, cpu_limit_milli) /* CPU limit, if below `cpus` */           \
	FACT(MAIN_CPU_NS, int64_t, main_cpu_ns)         /* CPU time of the main process */         \
	FACT(MAIN_CPU_OF_NS, int64_t, main_cpu_of_ns)   /* time in which main_cpu_ns was used */   \
	FACT(OTHER_CPU_NS, int64_t, other_cpu_ns)       /* CPU time of other programs */           \
	FACT(OTHER_CPU_OF_NS, int64_t, other_cpu_of_ns)                                            \
	FACT(AFFINITY, int64_t, affinity)       /* cores in the mask, if a CPU limit is lower */   \
	FACT(MAIN_RAN_NS, int64_t, main_ran_ns) /* time for which the main thread ran */           \
	FACT(MAIN_WAITED_NS, int64_t, main_waited_ns) /* main thread's wait for a core */          \
	FACT(WORKERS_RAN_NS, int64_t, workers_ran_ns)                                              \
	FACT(WORKERS_WAITED_NS, int64_t, workers_waited_ns)                                        \
	FACT(NEIGHBOURS, char *, neighbours) /* see drain/machine/neighbours.h */                  \
	FACT(SYNC, int64_t, synchronous) /* 1: waits for the end of each step; -1: unknown */      \
	FACT(JOB_ID, char *, job_id)                                                               \
	FACT(ATTEMPT, int64_t, attempt)                                                            \
	FACT(WORLD_SIZE, int64_t, world_size)                                                      \
	FACT(SCHEMA, int64_t, schema)                   /* version in which it was recorded */     \
	FACT(CORES_AT_START, int64_t, start_cores)                                                 \
	FACT(HELPER_WANTED_NS, int64_t, helper_ns)      /* see store/run/facts.c */                \
	FACT(HELPERS_CPU_NS, int64_t, helpers_cpu_ns)                                              \
	FACT(CHILDREN_CPU_NS, int64_t, children_ns)                                                \
	FACT(CHILDREN_CPU_OF_NS, int64_t, children_of_ns)                                          \
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
	int64_t lost_count;
	int64_t process_count;
	int64_t doubt_count; /* number of notes that put the verdict in doubt */
	int64_t main_end_ns; /* end of the main process; UNKNOWN: not recorded */
	bool is_gone;        /* the main process ended without exit handlers */
	int64_t exit_status;
	int64_t killed_count; /* workers ended by a signal other than HUP, INT, PIPE and TERM */
	/* the killed worker with the lowest number, and its exit status */
	int64_t killed_worker, killed_status;
};

struct loader_info {
	int64_t loader_id;
	char kind[48];
	int64_t workers; /* UNKNOWN: not observed, here and down to `batch_size` */
	int64_t prefetch_factor;
	int64_t in_order;
	int64_t lacks_order; /* 1: the loader has no setting in_order */
	int64_t persistent;
	int64_t batch_size;
	int64_t batch_count;
	int64_t epoch_count;
	int64_t time_ns;
	int64_t pid, tid;
	int64_t life_ns; /* begin of this life of the process `pid` */
	bool nested;     /* the loader's waits are parts of another loader's waits */
	char place[96];  /* "train.py:41 in main"; "": unknown */
};

/* Chooses batches of a loader. A member is -1 if it sets no limit. */
struct batch_filter {
	int64_t loader_id;
	int64_t epoch;
	int64_t first;
	int64_t last;
};

static inline struct batch_filter batch_filter_all(int64_t loader_id)
{
	return (struct batch_filter){.loader_id = loader_id, .epoch = -1, .first = -1, .last = -1};
}

/* Sums over loads; UNKNOWN: no load has a value. */
struct load_totals {
	int64_t load_count;
	int64_t decode_seen_count;
#define X(name, sql) int64_t name;
	LOAD_SUMS(X)
#undef X
};
