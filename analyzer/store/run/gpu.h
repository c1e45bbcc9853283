/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - reads about the GPU from a database: sums over batches, and how the run recorded it.
 *
 * Functions return 0 or a negative errno (db.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/gpu/gpu_use.h"
#include "store/database/run.h"
#include "store/run/tally.h"

#define GPU_WHY_BYTES 96

/* Facts from meta, like RUN_FACTS. */
#define GPU_FACTS(FACT)                                                                            \
	FACT(GPU, char *, device)         /* names, comma-separated */                             \
	FACT(CUDA_MODE, char *, mode)     /* cupti, cudart: only what the host saw, off */         \
	FACT(CUDA_REASON, char *, reason) /* why it is not cupti */                                \
	FACT(CUDA_LEVEL, char *, level)   /* what was recorded: memcpy, default, api, full */      \
	FACT(CUDA_LEVEL_REASON, char *, level_reason) /* why it is not all that was asked for */   \
	FACT(CUPTI_VERSION, int64_t, cupti_version)                                                \
	FACT(CUDA_RECORDS, int64_t, record_count)                                                  \
	FACT(CUDA_BAD_TS, int64_t, bad_count)               /* records with impossible times */    \
	FACT(CUDA_DROPPED, int64_t, dropped_count)          /* records dropped by CUPTI */         \
	FACT(CUDA_OWN_DROP, int64_t, own_drop_count)        /* records dropped by dlprof */        \
	FACT(GPU_BUSY_IS_UPPER_BOUND, int64_t, upper_bound) /* as it is in the database */

struct gpu_info {
#define X(id, type, member) type member;
	GPU_FACTS(X)
#undef X
	bool is_upper_bound;    /* busy times are upper bounds: graphs are recorded as wholes */
	/* Times for which nothing is known about the GPU. */
	int64_t gap_count;
	double gap_ns;               /* sum of those that ended */
	char gap_why[GPU_WHY_BYTES]; /* reason of the longest, or of one that did not end */
	struct tally_list kernels;
	char **kernel_names; /* each kernel's whole name; NULL: as in its tally */
};

/* Reads at most `most_kernels` kernels. Call gpu_info_done() also after an error. */
int gpu_info_read(struct db *db, size_t most_kernels, struct gpu_info *ret_info);
void gpu_info_done(struct gpu_info *info);
const char *gpu_kernel_name(const struct gpu_info *info, size_t kernel);

/* Sums over the filter's batches. `busy_seen`: the series has busy times of some batches. */
int gpu_sums_read(struct db *db, const struct batch_filter *filter, bool busy_seen,
		  struct gpu_sums *ret_sums);

/* The same sums from the rows, even where there is a pack. */
int gpu_sums_count(struct db *db, const struct batch_filter *filter, bool busy_seen,
		   struct gpu_sums *ret_sums);

/* Means over a group of steps; NAN: not observed. */
struct gpu_bar {
	size_t count; /* steps that were seen */
	double step_ns, busy_ns, gap_ns[GPU_GAP_MAX];
};

/* Means over groups of `each` of the filter's batches, `count` groups at most. */
int gpu_bars_read(struct db *db, const struct batch_filter *filter, size_t each,
		  struct gpu_bar *bars, size_t count);

/* Sums over the filter's batches; batch_count is 0 where no calls were recorded. */
int gpu_calls_read(struct db *db, const struct batch_filter *filter,
		   struct gpu_call_sums *ret_sums);

/* Means over a loader's first batches, each over those where it is known; UNKNOWN: none. */
struct gpu_means {
	int64_t h2d_ns, h2d_bytes, gpu_busy_ns, gpu_idle_wait_ns;
};

/* The means over a loader's first `most` rows. */
int gpu_means_read(struct db *db, int64_t loader_id, int64_t most, struct gpu_means *ret);
