/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - reads from a database what the GPU did, summed over batches, and how it was recorded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/gpu/gpu_use.h"
#include "store/database/run.h"
#include "store/run/tally.h"

#define GPU_WHY_BYTES 96

/* FACT(META_ id, type, member), like RUN_FACTS in run.h */
#define GPU_FACTS(FACT)                                                                            \
	FACT(GPU, char *, device)         /* device names */                                       \
	FACT(CUDA_MODE, char *, mode)     /* cupti; cudart: only the host was observed; off */     \
	FACT(CUDA_REASON, char *, reason) /* why the mode is not cupti */                          \
	FACT(CUDA_LEVEL, char *, level)   /* the value of DLPROF_CUDA that was used */             \
	FACT(CUDA_LEVEL_REASON, char *, level_reason) /* why the level is below what was asked */  \
	FACT(CUPTI_VERSION, int64_t, cupti_version)                                                \
	FACT(GPU_SHARED, char *, shared) /* program that shared the GPU most; NULL: none seen */   \
	FACT(CUDA_RECORDS, int64_t, record_count)                                                  \
	FACT(CUDA_MEMSETS, int64_t, memset_count)                                                  \
	FACT(CUDA_PEER_BYTES, int64_t, peer_bytes)                                                 \
	FACT(CUDA_BAD_TS, int64_t, bad_count)               /* records with impossible times */    \
	FACT(CUDA_DROPPED, int64_t, dropped_count)          /* records dropped by CUPTI */         \
	FACT(CUDA_OWN_DROP, int64_t, own_drop_count)        /* records dropped by dlprof */        \
	FACT(GPU_BUSY_IS_UPPER_BOUND, int64_t, upper_bound) /* 1: busy times are upper bounds */

struct gpu_info {
#define X(id, type, member) type member;
	GPU_FACTS(X)
#undef X
	bool is_upper_bound; /* a whole graph is one operation: busy times are upper bounds */
	int64_t gap_count;   /* number of times in which the GPU was not observed */
	double gap_ns;       /* sum of those gaps that have an end */
	char gap_why[GPU_WHY_BYTES]; /* why the longest gap, or one without end, came about */
	struct tally_list kernels;
	char **kernel_names; /* whole names; NULL: the tally has the whole name */
};

/* Reads what was recorded of the GPU, and how. Call gpu_info_done() also after an error. */
int gpu_info_read(struct db *db, size_t most_kernels, struct gpu_info *ret_info);
void gpu_info_done(struct gpu_info *info);
const char *gpu_kernel_name(const struct gpu_info *info, size_t kernel);

/* Sums over the filter's batches. `busy_seen`: the GPU's busy time is known of at least one. */
int gpu_sums_read(struct db *db, const struct batch_filter *filter, bool busy_seen,
		  struct gpu_sums *ret_sums);

/* Like gpu_sums_read(), but does not use a pack: reads all rows. */
int gpu_sums_count(struct db *db, const struct batch_filter *filter, bool busy_seen,
		   struct gpu_sums *ret_sums);

/* Means over a number of steps; NAN: not observed. */
struct gpu_bar {
	size_t count;
	double step_ns, busy_ns, gap_ns[GPU_GAP_MAX];
};

/* Reads means over groups of `each` consecutive batches, for at most `count` groups. */
int gpu_bars_read(struct db *db, const struct batch_filter *filter, size_t each,
		  struct gpu_bar *bars, size_t count);

/* Sums the times of CUDA calls; NAN: no calls were recorded. */
int gpu_calls_read(struct db *db, const struct batch_filter *filter,
		   struct gpu_call_sums *ret_sums);

/* Means of the known values of a loader's first batches. UNKNOWN: none of these is known. */
struct gpu_means {
	int64_t h2d_ns, gpu_busy_ns;
};

int gpu_means_read(struct db *db, int64_t loader_id, int64_t most, struct gpu_means *ret);

#define GPU_DEVICE_MOST  32
#define GPU_DEVICE_BYTES 160

struct gpu_device {
	int64_t number;
	char name[GPU_DEVICE_BYTES]; /* name and place; "": unknown */
	/* The columns of DEVICES_SQL in gpu.c. NAN: unknown, or there is only one device. */
	double batch_count;
	double fed_count; /* steps in which the device got data from the host */
	double step_ns, busy_ns, idle_wait_ns, h2d_bytes, peer_bytes;
};
#define GPU_DEVICE_SUMS 7

struct gpu_device_list {
	struct gpu_device items[GPU_DEVICE_MOST]; /* sorted by number */
	size_t count;
};

int gpu_device_list_read(struct db *db, const struct batch_filter *filter,
			 struct gpu_device_list *ret_list);
